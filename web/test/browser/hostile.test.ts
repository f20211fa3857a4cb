// Reports and comparisons whose every name is written to break out of a page, in Chromium and in Firefox.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import type { Browser, Page } from "puppeteer-core";

import { BROWSERS, launch, listen, missing, PENSTOCK } from "./browsers";

/** Every character that names allow: all but `.`, `/`, `\` and those that steer a terminal. */
const NAME = "<img src=x onerror=alert(1)><script>\"'&`<!--${{x}}%3Cb&lt;#?;:|=,+*(){}[]~^@ \u00e9\u2603\u{1f600}";
const TITLE = `</title><script>alert(1)</script>\\ ${NAME}`;
const name = JSON.stringify(NAME);
const SCENARIO = `format = 1
title = ${JSON.stringify(TITLE)}
duration = "4 s"
warmup = "1 s"
[links.${name}]
from = ${name}
to = "r"
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "2 bdp"
aqm = { law = "fq-codel" }
[defaults.flows]
from = ${name}
to = "r"
rtt = "40 ms"
[flows.${name}]
cc = { law = "cubic" }
class = ${name}
series = true
[flows.two]
cc = { law = "newreno" }
[classes.${name}]
[customers.${name}]
flows = [${name}]
[windows]
${name} = ["1 s", "2 s"]
`;

const folder = mkdtempSync(join(tmpdir(), "penstock-hostile-"));
const pages = new Map<string, string>();

before(() => {
  const file = join(folder, "a.toml");
  writeFileSync(file, SCENARIO);
  const run = (...words: string[]) => execFileSync(PENSTOCK, [...words, "--quiet", "--out", folder], { stdio: "pipe" });
  run("run", file);
  const other = join(folder, "b.toml");
  writeFileSync(other, SCENARIO.replace("2 bdp", "1 bdp"));
  run("run", other);
  run("show", join(folder, "a-seed1"), join(folder, "b-seed1"));
  pages.set("report", join(folder, "a-seed1", "report.html"));
  pages.set("comparison", join(folder, "show", "report.html"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Opens a page, and makes every figure live. */
async function open(browser: Browser, path: string): Promise<[Page, string[]]> {
  const page = await browser.newPage();
  const said = listen(page);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(pathToFileURL(path).href);
  for (const figure of await page.$$("figure[data-figure]")) {
    await figure.evaluate((found) => found.scrollIntoView({ behavior: "instant" }));
    await page.waitForFunction((found) => (found.querySelector("canvas")?.height ?? 150) !== 150, {}, figure);
  }
  return [page, said];
}

for (const browserName of BROWSERS) {
  describe(browserName, { skip: missing(browserName) }, () => {
    let browser: Browser;
    before(async () => {
      browser = await launch(browserName, "light");
    });
    after(() => browser?.close());

    for (const kind of ["report", "comparison"]) {
      test(`every name of a ${kind} stays text`, async () => {
        const [page, said] = await open(browser, pages.get(kind) ?? "");
        if (kind === "report") assert.equal(await page.title(), TITLE);
        const body = await page.evaluate(() => document.body.textContent ?? "");
        assert.ok(body.split(NAME).length > 10, "the name is on the page, in full");
        // Of scripts the page has the data and the viewer; of elements none that a name brought.
        assert.equal((await page.$$("script")).length, 2);
        assert.deepEqual(
          await page.$$eval("img, iframe, object, base, form", (all) => all.map((each) => each.outerHTML)),
          [],
        );
        const handlers = await page.$$eval("*", (all) =>
          all.flatMap((each) =>
            [...each.attributes].filter(({ name: of }) => of.startsWith("on")).map(({ name: of }) => of),
          ),
        );
        assert.deepEqual(handlers, []);
        assert.deepEqual(said, []);
        await page.close();
      });

      test(`readings, legends and files of a ${kind} have the name as it is`, async () => {
        const [page, said] = await open(browser, pages.get(kind) ?? "");
        const has = (selector: string) =>
          page.$$eval(selector, (all, wanted) => all.some((each) => (each.textContent ?? "").includes(wanted)), NAME);
        assert.ok(await has(kind === "report" ? ".legend" : ".live .name"));
        await page.focus("figure .stage");
        await page.keyboard.press("End");
        await page.waitForFunction(() => (document.querySelector("figure .spoken")?.textContent ?? "") !== "");
        assert.ok(await has(kind === "report" ? "figure .spoken" : "h2, figure .name"));
        assert.deepEqual(said, []);
        await page.close();
      });
    }
  });
}
