// A page of the report in Chromium and in Firefox: what a reader can do with it, and that nothing is amiss.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import type { Browser, Page } from "puppeteer-core";

import { BROWSERS, drawn, launch, listen, missing, PENSTOCK, sound, withoutScripts } from "./browsers";

const TITLE = "<script>alert(1)</script> & \"quotes\" 'n' </title>";
const SCENARIO = `format = 1
title = ${JSON.stringify(TITLE)}
duration = "30 s"
warmup = "5 s"
[links.b]
from = "l"
to = "r"
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "2 bdp"
[defaults.flows]
from = "l"
to = "r"
rtt = "40 ms"
[flows.one]
cc = { law = "cubic" }
[flows.two]
cc = { law = "newreno" }
start = "3 s"
`;

const folder = mkdtempSync(join(tmpdir(), "penstock-web-"));
let report = "";
let shown = "";
let many = "";
let cases = "";
/** Names that differ at the end only. */
const NAMES = [..."abcdef"].map((letter) => `Two flows over one line and a buffer of two products, ${letter}`);

before(() => {
  const file = join(folder, "two.toml");
  writeFileSync(file, SCENARIO);
  const run = (...rest: string[]) => execFileSync(PENSTOCK, [...rest, "--quiet", "--out", folder], { stdio: "pipe" });
  for (const seed of ["1", "2"]) run("run", file, "--seed", seed);
  run("run", file, "--set", 'links.b.aqm={law="codel"}');
  const records = readdirSync(folder).filter(
    (name) => name.startsWith("two") && existsSync(join(folder, name, "record.toml")),
  );
  run("show", ...records.map((name) => join(folder, name)));
  const crowd = join(folder, "many.toml");
  writeFileSync(crowd, SCENARIO.replace("[flows.one]", "[flows.one]\ncount = 20\nseries = true"));
  run("run", crowd);
  for (const name of NAMES) run("run", file, "--set", `title=${JSON.stringify(name)}`, "--set", 'duration="6 s"');
  const named = readdirSync(folder).filter((each) => each.startsWith("two-title"));
  run("show", ...named.map((each) => join(folder, each)));
  cases = join(folder, "show-2", "report.html");
  many = join(folder, "many-seed1", "report.html");
  report = join(folder, "two-seed1", "report.html");
  shown = join(folder, "show", "report.html");
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** A page, and what its console said. */
async function open(browser: Browser, path: string, width: number): Promise<[Page, string[]]> {
  const page = await browser.newPage();
  const said = listen(page);
  await page.setViewport({ width, height: 900 });
  await page.goto(pathToFileURL(path).href);
  // Figures begin to live when they come near.
  await page.$eval("figure[data-figure]", (figure) => figure.scrollIntoView({ behavior: "instant" }));
  await drawn(page, "figure");
  return [page, said];
}

/** What the first plot over time shows of x: the label of its axis is on the canvas, so by the values of the readings. */
async function reading(page: Page): Promise<string> {
  return page.$eval("figure .spoken", (spoken) => spoken.textContent ?? "");
}

type Key = "ArrowRight" | "ArrowLeft" | "Home" | "End" | "PageUp" | "PageDown" | "+" | "-" | "0";
async function press(page: Page, ...keys: Key[]): Promise<void> {
  await page.focus("figure .stage");
  for (const key of keys) await page.keyboard.press(key);
  await frames(page);
}

/** Waits until what was asked for is drawn. */
async function frames(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))),
  );
}

for (const name of BROWSERS) {
  describe(name, { skip: missing(name) }, () => {
    let light: Browser;
    let dark: Browser;
    before(async () => {
      [light, dark] = await Promise.all([launch(name, "light"), launch(name, "dark")]);
    });
    after(async () => {
      await Promise.all([light?.close(), dark?.close()]);
    });

    test("nothing overflows, nothing is said, and axe finds nothing, at three widths in both themes", async () => {
      for (const [browser, scheme] of [
        [light, "light"],
        [dark, "dark"],
      ] as const) {
        for (const width of [360, 1280, 3840]) {
          for (const path of width === 1280 ? [report, shown] : [report]) {
            const [page, said] = await open(browser, path, width);
            await sound(page, said, scheme, `${path} at ${width}`);
            await page.close();
          }
        }
      }
    });

    test("a hostile title stays text", async () => {
      const [page, said] = await open(light, report, 1280);
      assert.equal(await page.$eval("h1", (h) => h.textContent), TITLE);
      assert.equal(await page.title(), TITLE);
      assert.deepEqual(said, []);
      await page.close();
    });

    test("keys read, zoom and go back, and figures over the same time move together", async () => {
      const [page] = await open(light, report, 1280);
      await press(page, "Home");
      assert.match(await reading(page), /^Time 0 s/);
      await press(page, "End");
      assert.match(await reading(page), /^Time 30 s: .*ms/);
      const zoomed = () => page.$$eval("figure.zoomed", (all) => all.length);
      assert.equal(await zoomed(), 0);
      await press(page, "+", "+");
      const linked = await zoomed();
      assert.ok(linked >= 2, `${linked} figures moved`);
      // A quarter of 30 s is left, at its end.
      await press(page, "Home");
      assert.match(await reading(page), /^Time 22\.5 s/);
      await press(page, "0");
      assert.equal(await zoomed(), 0);
      await page.close();
    });

    test("a view moves as far as there is anything, and is read up to its end", async () => {
      const [page] = await open(light, report, 1280);
      await press(page, "+", "+", ...Array<Key>(12).fill("PageUp"), "Home");
      assert.match(await reading(page), /^Time 0 s: b [\d.]+ .?s/);
      await press(page, ...Array<Key>(12).fill("PageDown"), "End");
      assert.match(await reading(page), /^Time 30 s: .*ms/);
      const hidden = () => page.$eval("figure .tip", (tip) => (tip as HTMLElement).hidden);
      for (let i = 0; i < 4; i++) {
        await press(page, "+", "ArrowRight");
        assert.equal(await hidden(), false, `${await reading(page)}, zoomed in ${i + 3} times`);
      }
      await page.close();
    });

    test("a figure of points is read point by point, and its ellipses as their means", async () => {
      const [page] = await open(light, report, 1280);
      const host = await page.waitForSelector("::-p-xpath(//figure[.//*[.='Round-trip time against goodput']])");
      await host?.evaluate((found) => found.scrollIntoView({ behavior: "instant" }));
      await page.waitForFunction((found) => (found?.querySelector("canvas")?.height ?? 150) !== 150, {}, host);
      const said = async (key: Key) => {
        await host?.$eval(".stage", (stage) => (stage as HTMLElement).focus());
        await page.keyboard.press(key);
        await frames(page);
        const words = (await host?.$eval(".spoken", (spoken) => spoken.textContent ?? "")) ?? "";
        const found =
          /^Round-trip time, mean [\d.]+ ms, standard deviation [\d.]+ .?s: (one|two) mean [\d.]+ Mbit\/s/.exec(words);
        return found?.[1] ?? words;
      };
      const all: string[] = [];
      for (const key of ["Home", "ArrowRight", "End", "ArrowLeft", "ArrowLeft", "End", "Home"] as const) {
        all.push(await said(key));
      }
      assert.deepEqual(all, ["one", "two", "two", "one", "one", "two", "one"]);
      await (await host?.$(".legend button"))?.click();
      assert.equal(await said("Home"), "two", "the mean goes with its ellipse");
      assert.equal(await host?.$$eval(".legend button", (buttons) => buttons.length), 2);
      await page.close();
    });

    test("a drag zooms, a double click goes back", async () => {
      const [page] = await open(light, report, 1280);
      const stage = await page.$("figure .stage");
      await stage?.scrollIntoView();
      const box = await stage?.boundingBox();
      assert.ok(box);
      await page.mouse.move(box.x + box.width / 2, box.y + 100);
      await page.waitForFunction(() => !document.querySelector<HTMLElement>("figure .tip")?.hidden);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2 + 80, box.y + 120, { steps: 4 });
      await page.mouse.up();
      await page.waitForSelector("figure.zoomed");
      await page.mouse.click(box.x + box.width / 2, box.y + 100, { count: 2 });
      await page.waitForFunction(() => document.querySelector("figure.zoomed") === null);
      await page.close();
    });

    test("a pointer reads every figure over the same time, a wheel zooms with Ctrl and scrolls without, Shift moves", async () => {
      const [page] = await open(light, report, 1280);
      const stage = await page.$("figure .stage");
      await stage?.scrollIntoView();
      const box = await stage?.boundingBox();
      assert.ok(box);
      const [x, y] = [box.x + box.width / 2, box.y + 100];
      const tips = () => page.$$eval("figure .tip", (all) => all.filter((tip) => !(tip as HTMLElement).hidden).length);
      await page.mouse.move(x, y);
      await page.waitForFunction(
        () => [...document.querySelectorAll<HTMLElement>("figure .tip")].filter((tip) => !tip.hidden).length > 1,
      );
      assert.match(await page.$eval("figure .tip", (tip) => tip.textContent ?? ""), /Time 1\d(\.\d+)? s.*ms/);
      await page.mouse.wheel({ deltaY: -100 });
      await frames(page);
      assert.equal(await page.$("figure.zoomed"), null);
      await stage?.scrollIntoView();
      await page.keyboard.down("Control");
      for (let i = 0; i < 4; i++) await page.mouse.wheel({ deltaY: -100 });
      await page.keyboard.up("Control");
      await page.waitForSelector("figure.zoomed");
      assert.equal(await page.evaluate(() => window.visualViewport?.scale), 1, "the page stays as large");
      const first = async () => {
        await press(page, "Home");
        return Number(/^Time ([\d.]+) s/.exec(await reading(page))?.[1]);
      };
      const before = await first();
      await page.mouse.move(x, y);
      await page.keyboard.down("Shift");
      await page.mouse.down();
      await page.mouse.move(x - 100, y, { steps: 4 });
      await page.mouse.up();
      await page.keyboard.up("Shift");
      await frames(page);
      const after = await first();
      assert.ok(after > before, `${after} after ${before}`);
      await page.mouse.move(0, 0);
      await page.waitForFunction(() => document.querySelector<HTMLElement>("figure .tip")?.hidden);
      assert.equal(await tips(), 0);
      await page.close();
    });

    test("many lines are a mean with its interval, and the least and the greatest on demand", async () => {
      const [page] = await open(light, many, 1280);
      const section = await page.$("::-p-xpath(//section[h2='Flows over time'])");
      await section?.evaluate((found) => found.scrollIntoView({ behavior: "instant" }));
      const host = await page.waitForSelector("figure:has(.tools button[aria-label*='least'])");
      const pixels = () => host?.$eval(".stage canvas", (canvas) => (canvas as HTMLCanvasElement).toDataURL());
      await host?.scrollIntoView();
      await page.waitForFunction((found) => (found?.querySelector("canvas")?.height ?? 150) !== 150, {}, host);
      await frames(page);
      const before = await pixels();
      await (await host?.$(".tools button[aria-label*='least']"))?.click();
      await frames(page);
      assert.notEqual(await pixels(), before);
      assert.match((await host?.$eval(".legend", (legend) => legend.textContent)) ?? "", /mean of 20 flows.*95 %/);
      await page.close();
    });

    test("lines go off and on, axes become logarithmic, figures large", async () => {
      const [page] = await open(light, shown, 1280);
      const pixels = () => page.$eval("figure .stage canvas", (c) => (c as HTMLCanvasElement).toDataURL());
      const press = async (selector: string) => {
        const before = await pixels();
        await page.click(`figure ${selector}`);
        await page.evaluate(
          () => new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(null)), 100)),
        );
        assert.notEqual(await pixels(), before, `${selector} changes the drawing`);
        return page.$eval(`figure ${selector}`, (b) => b.getAttribute("aria-pressed"));
      };
      assert.equal(await press(".legend button"), "false");
      assert.equal(await press(".legend button"), "true");
      assert.equal(await press('.tools button[aria-label^="log y"]'), "true");
      assert.equal(await press('.tools button[aria-label^="Large"]'), "true");
      await page.close();
    });

    test("names of cases are whole, along the axis or in a list below the figure", async () => {
      const lists = async (path: string, width: number) => {
        const [page] = await open(light, path, width);
        const last = "figure:has(.key li):last-of-type";
        await page.$$eval("figure[data-figure]", (all) => all.at(-1)?.scrollIntoView({ behavior: "instant" }));
        await page.waitForSelector(last);
        await page.waitForFunction(
          (selector) => (document.querySelector<HTMLCanvasElement>(`${selector} canvas`)?.height ?? 150) !== 150,
          {},
          last,
        );
        const found = await page.$eval(`${last} .key`, (key) => ({
          shown: !(key as HTMLElement).hidden,
          names: [...key.children].map((each) => (each as HTMLElement).innerText.trim()),
          fits: document.documentElement.scrollWidth <= window.innerWidth,
        }));
        await page.close();
        return found;
      };
      for (const width of [360, 900, 1600]) {
        const { shown: listed, names, fits } = await lists(cases, width);
        assert.deepEqual([names, fits], [NAMES, true], `at ${width}`);
        // On a telephone six long names have no room side by side; two short ones have it everywhere.
        assert.ok(listed || width > 360);
        assert.equal((await lists(shown, width)).shown, false, `at ${width}`);
      }
    });

    test("the words of a drawing are 10 pixels and more at 360 pixels", async () => {
      const [scriptless, plain] = await withoutScripts(name);
      for (const width of [360, 1280]) {
        await plain.setViewport({ width, height: 900 });
        await plain.goto(pathToFileURL(cases).href);
        const sizes = await plain.evaluate(() =>
          [...document.querySelectorAll<SVGSVGElement>("figure .plot svg")]
            .filter((svg) => svg.getBoundingClientRect().width > 0)
            .flatMap((svg) => {
              const scale = svg.getBoundingClientRect().width / Number(svg.getAttribute("viewBox")?.split(" ")[2]);
              return [...svg.querySelectorAll("text")].map(
                (text) => scale * Number.parseFloat(getComputedStyle(text).fontSize),
              );
            }),
        );
        assert.ok(
          sizes.length > 20 && Math.min(...sizes) >= (width === 360 ? 10 : 8),
          `${Math.min(...sizes)} at ${width}`,
        );
        assert.ok(await plain.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
      }
      await scriptless.close();
    });

    test("the data of a figure are a file", async () => {
      const [page] = await open(light, report, 1280);
      const text = await page.evaluate(async () => {
        let text = "";
        const create = URL.createObjectURL;
        const made = new Promise<void>((done) => {
          URL.createObjectURL = (blob) => {
            void (blob as Blob).text().then((content) => {
              text = content;
              done();
            });
            return create(blob as Blob);
          };
        });
        document.querySelector<HTMLElement>('figure .tools button[aria-label^="CSV"]')?.click();
        await made;
        return text;
      });
      assert.match(text, /^Time \[s\],b \[s\]\r\n0\.1,/);
      assert.equal(text.trimEnd().split("\r\n").length, 301);
      await page.close();
    });

    test("print has the drawings, and a page without script too", async () => {
      const [page] = await open(light, report, 1280);
      const seen = (of: Page, selector: string) => of.$eval(selector, (e) => getComputedStyle(e).display);
      assert.equal(await seen(page, "figure .plot"), "none");
      if (name === "chrome") {
        await page.emulateMediaType("print");
        assert.notEqual(await seen(page, "figure .plot"), "none");
        assert.equal(await seen(page, "figure .live"), "none");
      }
      // What is drawn on a canvas is an image in print; drawings are none.
      const printed = Buffer.from(await page.pdf()).toString("latin1");
      assert.ok(printed.startsWith("%PDF") && !/\/Subtype\s*\/Image/.test(printed));
      await page.close();
      const [scriptless, plain] = await withoutScripts(name);
      await plain.goto(pathToFileURL(report).href);
      const seenThere = await plain.evaluate(() => {
        const plot = document.querySelector("figure .plot");
        return [plot === null ? "" : getComputedStyle(plot).display, document.querySelectorAll("figure .live").length];
      });
      assert.deepEqual(seenThere, ["block", 0]);
      await scriptless.close();
    });
  });
}
