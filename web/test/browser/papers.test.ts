// The page of a paper in Chromium and in Firefox: its index, its verdicts, and that everything in it stays text.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import type { Browser, Page } from "puppeteer-core";

import { BROWSERS, launch, listen, missing, PENSTOCK, sound } from "./browsers";

const CELLS = `format = 1
title = "<script>alert(1)</script>"
duration = "4 s"
warmup = "1 s"
[links.b]
from = "l"
to = "r"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1 bdp"
[flows.f]
from = "l"
to = "r"
rtt = "40 ms"
cc = { law = "newreno" }
[sweep]
seed = { count = 2 }
"links.b.rate" = ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"]
`;
/** A paper of two figures, one of which has a point of the paper's and a claim that fails. */
const PAPER = `format = 1
title = "<script>alert(1)</script> & \\"quotes\\""
authors = ["<img src=x onerror=alert(1)>"]
published = "2002"
[[item]]
id = "fig1"
title = "<b>Delay</b>"
place = "figure 1"
world = "packets"
scenario = "cells.toml"
x = { key = "links.b.rate", label = "rate <i>", scale = "log" }
y = { path = "links.b.queueing_delay_mean_s", label = "delay <i>", unit = "s" }
columns = [{ path = "links.b.utilization", label = "<i>" }]
[[item.reference]]
label = "paper <i>"
source = "read from <i>"
points = [["5 Mbit/s", 0.02], ["20 Mbit/s", 0.01]]
[[item]]
id = "fig2"
title = "Two"
place = "figure 2"
world = "packets"
scenario = "cells.toml"
x = { key = "links.b.rate", label = "rate" }
y = { path = "links.b.utilization", label = "utilization" }
[[claim]]
id = "tiny/fails"
item = "fig1"
place = "figure 1"
quote = "<img src=x onerror=alert(1)>"
measure = "links.b.queueing_delay_mean_s"
test = { at_most = 0.000001 }
source = "the <i>"
[[claim]]
id = "tiny/holds"
item = "fig2"
place = "figure 2"
quote = "it is used"
measure = "links.b.utilization"
test = { at_least = 0.1 }
source = "its use"
[[reason]]
claims = ["tiny/fails"]
text = "A queue is <script>alert(2)</script> longer."
`;

const folder = mkdtempSync(join(tmpdir(), "penstock-papers-"));
const report = join(folder, "out", "tiny", "report.html");
const atlas = join(folder, "out", "atlas.html");
/** As long as the titles of some papers. */
const LONG = "Analysis and design of controllers that steer queues: with models of windows, rates, delays and losses";

before(() => {
  for (const [key, text] of [
    ["tiny", PAPER],
    ["long", PAPER.replace(/^title = .*$/m, `title = "${LONG}"`)],
  ] as const) {
    const paper = join(folder, "papers", key);
    mkdirSync(paper, { recursive: true });
    writeFileSync(join(paper, "cells.toml"), CELLS);
    writeFileSync(join(paper, "paper.toml"), text);
  }
  const words = ["paper", "--papers", join(folder, "papers"), "--quiet", "--out", join(folder, "out")];
  const { status, stderr } = spawnSync(PENSTOCK, words, { encoding: "utf8" });
  // None of its verdicts is on record.
  assert.equal(status, 1, stderr);
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function open(browser: Browser, width: number, path = report): Promise<[Page, string[]]> {
  const page = await browser.newPage();
  const said = listen(page);
  await page.setViewport({ width, height: 900 });
  await page.goto(pathToFileURL(path).href);
  await page.waitForSelector(".choices select");
  return [page, said];
}
const text = (page: Page, selector: string) => page.$eval(selector, (found) => found.textContent ?? "");

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
          const [page, said] = await open(browser, width);
          await sound(page, said, scheme, `at ${width}`);
          await page.close();
        }
      }
    });

    test("the atlas is as wide as a telephone, whatever its papers are called", async () => {
      const [page, said] = await open(light, 360, atlas);
      const titles = await page.$$eval(".choices option", (all) => all.map((each) => each.textContent ?? ""));
      assert.ok(titles.includes(LONG), titles.join(" | "));
      await sound(page, said, "light", "the atlas");
      await page.close();
    });

    test("a choice of verdicts leaves the figures that have them, in the index and below", async () => {
      const [page] = await open(light, 1280);
      const shown = () =>
        page.$$eval(".thumbs li, main > section[id^=figure]:not(.index)", (all) =>
          all
            .filter((each) => each.checkVisibility())
            .map((each) => each.id || (each as HTMLElement).dataset["section"]),
        );
      const both = ["figure-1-b-delay-b", "figure-2-two"];
      assert.deepEqual(await shown(), [...both, ...both]);
      await page.select(".choices select", "fails");
      assert.deepEqual(await shown(), [both[0], both[0]]);
      assert.equal(await text(page, ".choices [role=status]"), "1 of 2");
      await page.select(".choices select", "");
      assert.deepEqual(await shown(), [...both, ...both]);
      await page.close();
    });

    test("a claim that fails says why, bound and measured have units, and no verdict is green that fails", async () => {
      const [page] = await open(light, 1280);
      const claim = "#claim-tiny-fails";
      assert.match(
        await text(page, `${claim} .reason`),
        /^Why it fails: A queue is <script>alert\(2\)<\/script> longer\.$/,
      );
      assert.equal(await text(page, `${claim} [data-head=Bound]`), "at most 1 \u00b5s");
      assert.match(await text(page, `${claim} [data-head=Measured]`), /^[\d.]+ to [\d.]+ ms; /);
      const colour = (selector: string) => page.$eval(selector, (found) => getComputedStyle(found).backgroundColor);
      const [fails, holds] = [await colour(`${claim} .verdict`), await colour("#claim-tiny-holds .verdict")];
      assert.equal(await colour(".tally .bar .fails"), fails);
      assert.equal(await colour(".tally .bar .holds"), holds);
      assert.notEqual(fails, holds);
      // Nothing is on record, which the page says in a colour of its own.
      const words = (selector: string) => page.$eval(selector, (found) => getComputedStyle(found).color);
      assert.ok(![fails, holds].includes(await words(".tally .record")));
      await page.close();
    });

    test("points of the paper are hollow and ours are filled, in one colour", async () => {
      const [page] = await open(light, 1280);
      await page.$eval("figure[data-figure]", (figure) => figure.scrollIntoView({ behavior: "instant" }));
      await page.waitForSelector(".live .legend .swatch");
      const swatches = await page.$$eval("figure[data-figure='0'] .legend button", (all) =>
        all.map((each) => ({
          name: each.textContent,
          hollow: each.querySelector(".swatch")?.classList.contains("hollow"),
        })),
      );
      assert.deepEqual(
        swatches.map(({ hollow }) => hollow),
        swatches.map(({ name: line }) => line === "paper <i>"),
      );
      assert.equal(swatches.length, 2);
      await page.close();
    });

    test("hostile names stay text", async () => {
      const [page, said] = await open(light, 1280);
      assert.equal(await page.title(), '<script>alert(1)</script> & "quotes"');
      assert.match(await text(page, ".subtitle"), /<img src=x onerror=alert\(1\)>/);
      assert.match(await text(page, "#claim-tiny-fails q"), /<img src=x onerror=alert\(1\)>/);
      assert.equal((await page.$$("img, i, main script")).length, 0);
      assert.deepEqual(said, []);
      await page.close();
    });
  });
}
