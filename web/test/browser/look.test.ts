// How the pages look: pictures of them in both themes and at three widths, beside accepted ones. PENSTOCK_BLESS=1 accepts
// all as they are.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import type { Browser, Page } from "puppeteer-core";

import { BROWSERS, launch, missing, PENSTOCK } from "./browsers";
import { read, type Stored, stored } from "./grid";
import { differences, image, type Picture, picture, plain, still, WIDTHS } from "./picture";
import { built, home, ran, shared } from "./playground";

const ACCEPTED = "test/browser/pictures.json";
/** Where pictures go that are not like the accepted ones. */
const OUT = "../target/pictures";
const SCENARIO = `format = 1
title = "Two flows over one line"
duration = "10 s"
warmup = "2 s"
[links.line]
from = "left"
to = "right"
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "2 bdp"
aqm = { law = "red" }
[flows.reno]
from = "left"
to = "right"
rtt = "40 ms"
cc = { law = "newreno" }
`;
const LATE = `[flows.late]
from = "left"
to = "right"
rtt = "60 ms"
start = "3 s"
cc = { law = "newreno" }
`;
const CELLS = `${SCENARIO}${LATE}[sweep]\n"links.line.rate" = ["10 Mbit/s", "20 Mbit/s", "40 Mbit/s"]\n`;
const PAPER = `format = 1
title = "A paper about rates"
authors = ["Nobody"]
published = "2002"
[[item]]
id = "delay"
title = "Delay over the rate"
place = "figure 1"
world = "packets"
scenario = "cells.toml"
x = { key = "links.line.rate", label = "rate", scale = "log" }
y = { path = "links.line.queueing_delay_mean_s", label = "delay", unit = "s" }
[[item]]
id = "use"
title = "Utilization over the rate"
place = "figure 2"
world = "packets"
scenario = "cells.toml"
x = { key = "links.line.rate", label = "rate" }
y = { path = "links.line.utilization", label = "utilization" }
[[claim]]
id = "rates/holds"
item = "use"
place = "figure 2"
quote = "The line is used."
measure = "links.line.utilization"
test = { at_least = 0.1 }
source = "its use"
[[claim]]
id = "rates/fails"
item = "delay"
place = "figure 1"
quote = "Nothing waits."
measure = "links.line.queueing_delay_mean_s"
test = { at_most = 0.000001 }
source = "its delay"
`;

const folder = mkdtempSync(join(tmpdir(), "penstock-look-"));
const blessing = process.env["PENSTOCK_BLESS"] !== undefined;
const accepted: Record<string, Stored> = existsSync(ACCEPTED)
  ? (JSON.parse(readFileSync(ACCEPTED, "utf8")) as Record<string, Stored>)
  : {};
/** Where each page is; the playground has an address of its own. */
const files: Record<string, string> = {
  report: join(folder, "look-seed1", "report.html"),
  comparison: join(folder, "show", "report.html"),
  atlas: join(folder, "papers", "atlas.html"),
};
const PAGES = ["report", "comparison", "atlas", "playground"];

before(() => {
  assert.ok(!(blessing && process.env["CI"] !== undefined), "PENSTOCK_BLESS accepts everything, and CI is set");
  const [file, one] = [join(folder, "look.toml"), join(folder, "one.toml")];
  writeFileSync(file, SCENARIO + LATE);
  writeFileSync(one, SCENARIO);
  const run = (...rest: string[]) => execFileSync(PENSTOCK, [...rest, "--quiet", "--out", folder], { stdio: "pipe" });
  run("run", file);
  run("run", one);
  run("run", one, "--set", 'links.line.aqm={law="codel"}');
  const isOne = (name: string) => name.startsWith("one") && existsSync(join(folder, name, "record.toml"));
  const records = readdirSync(folder).filter(isOne);
  run("show", ...records.map((name) => join(folder, name)));
  const paper = join(folder, "of", "rates");
  mkdirSync(paper, { recursive: true });
  writeFileSync(join(paper, "cells.toml"), CELLS);
  writeFileSync(join(paper, "paper.toml"), PAPER);
  const words = ["paper", "--papers", join(folder, "of"), "--quiet", "--out", join(folder, "papers")];
  const { status, stderr } = spawnSync(PENSTOCK, words, { encoding: "utf8" });
  // None of its verdicts is on record.
  assert.equal(status, 1, stderr);
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function open(browser: Browser, what: string, change: () => void = () => undefined): Promise<Page> {
  const page = await still(browser);
  const path = files[what];
  if (path !== undefined) await page.goto(pathToFileURL(path).href);
  else {
    await page.goto(`${home}${await shared(SCENARIO)}`);
    await ran(page, 1);
    await page.waitForSelector("#theory-facts dd");
  }
  await page.evaluate(change);
  await plain(page, folder);
  return page;
}

/** What an action gives while a page has one more rule of style. */
async function withRule<T>(page: Page, rule: string, action: () => Promise<T>): Promise<T> {
  await page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }, rule);
  const done = await action();
  await page.evaluate(() => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.slice(0, -1);
  });
  return done;
}

/** What differs between a picture and the accepted one of that name. Both are files where anything does. */
function against(found: Picture, key: string): string[] {
  const before = accepted[key];
  if (before === undefined) return [`${key}: no picture of it is accepted; PENSTOCK_BLESS=1 accepts this one`];
  const { width, edge } = found.grid;
  const grid = read(before, width, edge);
  const said = differences(found, grid);
  if (said.length === 0) return [];
  mkdirSync(OUT, { recursive: true });
  const stem = join(OUT, key.replaceAll(" ", "-"));
  writeFileSync(`${stem}.png`, found.png);
  writeFileSync(`${stem}-accepted.png`, image(grid));
  return [`${key}: ${said.join("; ")}. The pictures: ${stem}.png and ${stem}-accepted.png`];
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

    for (const what of PAGES) {
      const skip = what === "playground" && !built ? "not run: no playground; `make web` builds it" : false;
      test(`${what}: as accepted, in both themes at three widths`, { skip }, async () => {
        const said: string[] = [];
        for (const [browser, scheme] of [
          [light, "light"],
          [dark, "dark"],
        ] as const) {
          const page = await open(browser, what);
          for (const width of Object.keys(WIDTHS).map(Number)) {
            const found = await picture(page, width);
            const key = `${what} ${scheme} ${width} ${name}`;
            if (blessing) accepted[key] = stored(found.grid);
            said.push(...against(found, key));
          }
          await page.close();
        }
        if (blessing) writeFileSync(ACCEPTED, `${JSON.stringify(accepted, null, 2)}\n`);
        assert.deepEqual(said, []);
      });
    }

    test("pictures tell a lost panel, another theme, hidden legends, and a plot that is 30 pixels away", async () => {
      // Where a change takes the least of a picture, and a picture the least time.
      const width = 3840;
      const page = await open(light, "report");
      const before = accepted[`report light ${width} ${name}`];
      const other = accepted[`report dark ${width} ${name}`];
      assert.ok(before !== undefined && other !== undefined);
      const found = await picture(page, width);
      const grid = (of: Stored) => read(of, found.grid.width, found.grid.edge);
      assert.deepEqual(differences(found, grid(before)), []);
      assert.match(differences(found, grid(other)).join("; "), /mean difference is \d{3}\.\d+ of 255/);
      for (const [rule, where] of [
        ["figure[data-figure='1'] { visibility: hidden }", /the most by .* below “Distribution of the queueing delay”/],
        [".legend { visibility: hidden }", /cells differ/],
        [
          "figure[data-figure='1'] .stage { transform: translateX(30px) }",
          /the most by .* below “Distribution of the queueing delay”/,
        ],
      ] as const) {
        const said = differences(await withRule(page, rule, () => picture(page, width)), grid(before));
        assert.match(said.join("; "), where, rule);
      }
      await page.close();
    });

    test("neither a version nor the facts of a machine change a picture", async () => {
      const before = accepted[`report light 3840 ${name}`];
      assert.ok(before !== undefined);
      const page = await open(light, "report", () => {
        for (const fact of document.querySelectorAll("dl.facts dd")) fact.textContent = "12.34.56 of 1 January 2099";
        document.querySelector("dl.facts div")?.remove();
      });
      const found = await picture(page, 3840);
      assert.deepEqual(differences(found, read(before, found.grid.width, found.grid.edge)), []);
      await page.close();
    });
  });
}
