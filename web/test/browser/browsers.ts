// The browsers of this machine, and what every test asks of a page.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

import puppeteer, { type Browser, type Page } from "puppeteer-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
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

export function launch(name: Name, scheme: "light" | "dark"): Promise<Browser> {
  const dark = scheme === "dark";
  return puppeteer.launch({
    browser: name,
    executablePath: PATHS[name].find(existsSync) ?? "",
    args:
      name === "chrome"
        ? ["--no-sandbox", "--disable-gpu", ...(dark ? ["--blink-settings=preferredColorScheme=0"] : [])]
        : [],
    extraPrefsFirefox: { "layout.css.prefers-color-scheme.content-override": dark ? 0 : 1 },
  });
}

/** What the console of a page says from now on. */
export function listen(page: Page): string[] {
  const said: string[] = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("dialog", (dialog) => said.push(`dialog ${dialog.message()}`));
  return said;
}

/** What axe finds wrong, as JSON. */
export async function axe(page: Page): Promise<string> {
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
