// The browsers of this machine, and what every test asks of a page.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

import puppeteer, { type Browser, type Page } from "puppeteer-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The command that makes the pages. */
export const PENSTOCK = process.env["PENSTOCK"] ?? "../target/debug/penstock";
const PATHS = {
  chrome: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
} as const;

export type Name = keyof typeof PATHS;
export const BROWSERS = ["chrome", "firefox"] as const;

/** Why tests in this browser do not run; false if they do. */
export function missing(name: Name): string | false {
  return PATHS[name].some(existsSync) ? false : `not run: no ${name} on this machine`;
}

export function launch(name: Name, scheme: "light" | "dark", scripts = true): Promise<Browser> {
  const dark = scheme === "dark";
  return puppeteer.launch({
    browser: name,
    executablePath: PATHS[name].find(existsSync) ?? "",
    args:
      name === "chrome"
        ? ["--no-sandbox", "--disable-gpu", ...(dark ? ["--blink-settings=preferredColorScheme=0"] : [])]
        : [],
    extraPrefsFirefox: {
      "layout.css.prefers-color-scheme.content-override": dark ? 0 : 1,
      "javascript.enabled": scripts,
    },
  });
}

/** A browser whose pages run no scripts, and a page of it. */
export async function withoutScripts(name: Name): Promise<[Browser, Page]> {
  const browser = await launch(name, "light", false);
  const page = await browser.newPage();
  // Firefox has no command for it, and Chromium no preference.
  if (name === "chrome") await page.setJavaScriptEnabled(false);
  return [browser, page];
}

/** What the console of a page says from now on. */
export function listen(page: Page): string[] {
  const said: string[] = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("dialog", (dialog) => said.push(`dialog ${dialog.message()}`));
  return said;
}

const GROUNDS: Readonly<Record<string, string>> = { "rgb(255, 255, 255)": "light", "rgb(16, 20, 23)": "dark" };

/** The theme of a page, by its ground. */
async function ground(page: Page): Promise<string> {
  const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  return GROUNDS[colour] ?? colour;
}

/** Waits until the first figure of a page is drawn: a canvas that was not fitted yet has the height of every new one. */
export async function drawn(page: Page, host: string): Promise<void> {
  await page.waitForFunction(
    (selector) => (document.querySelector<HTMLCanvasElement>(`${selector} .stage canvas`)?.height ?? 150) !== 150,
    {},
    host,
  );
}

/** What axe finds wrong, as JSON. */
async function axe(page: Page): Promise<string> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const axe = (window as never as { axe: { run(): Promise<{ violations: object[] }> } }).axe;
    return JSON.stringify(
      (await axe.run()).violations
        .map((v) => v as { id: string; nodes: { html: string }[] })
        .map((v) => [v.id, v.nodes[0]?.html]),
    );
  });
}

/** That a page has this theme, is no wider than its window, and that neither axe nor its console finds anything. */
export async function sound(page: Page, said: readonly string[], scheme: string, where: string): Promise<void> {
  assert.equal(await ground(page), scheme);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, `${over} pixels too wide: ${where}`);
  assert.equal(await axe(page), "[]", where);
  assert.deepEqual(said, []);
}
