// Makes the pictures of the pages: a report, a comparison, a paper, the atlas and the playground, into docs/images.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import puppeteer from "puppeteer-core";

import { launched, program, serve } from "./machine.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "target", "web", "dist");
const images = join(root, "docs", "images");
const penstock = process.env.PENSTOCK ?? join(root, "target", "debug", "penstock");

if (program("chrome") === undefined) {
  console.error("screenshots: not made: no Chromium on this machine");
  process.exit(0);
}
const out = mkdtempSync(join(tmpdir(), "penstock-pictures-"));
const run = (...words) =>
  execFileSync(penstock, [...words, "--quiet", "--out", out], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
const browser = await puppeteer.launch(launched("chrome"));

/** A picture of a page, from a place on it downwards, with the pointer over its first figure there. */
async function picture(name, address, ready, from = null, height = 860) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height });
  await page.goto(address);
  if (from !== null) await page.$eval(from, (found) => found.scrollIntoView({ behavior: "instant" }));
  await page.waitForFunction(ready, { timeout: 60_000 });
  // A drawing comes with the frame after its data.
  const later = () => page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
  await later();
  const figure = await page.evaluateHandle(() =>
    [...document.querySelectorAll("canvas")].find((each) => each.getBoundingClientRect().top > 0),
  );
  const box = await figure.asElement()?.boundingBox();
  if (box) await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.5 * box.height);
  await later();
  await page.screenshot({ path: join(images, `${name}.png`) });
  console.log(`docs/images/${name}.png`);
  await page.close();
}
/** The first section with figures. */
const ABOVE_FIGURES = "section:has(figure)";
const listed = () => document.querySelectorAll("#figure-index svg, #figure-index canvas").length > 2;
const drawn = () => document.querySelectorAll(".live canvas").length > 2;

run("run", "scenarios/bufferbloat.toml");
await picture("report", pathToFileURL(join(out, "bufferbloat-seed1", "report.html")).href, drawn, ABOVE_FIGURES, 525);
run("run", "scenarios/bufferbloat.toml", "--set", "links.bloated.buffer=1 bdp");
const records = readdirSync(out).filter((name) => existsSync(join(out, name, "record.toml")));
run("show", ...records.map((name) => join(out, name)));
await picture("show", pathToFileURL(join(out, "show", "report.html")).href, drawn, ABOVE_FIGURES, 480);
run("paper", "--short");
await picture("paper", pathToFileURL(join(out, "fast-tcp", "report.html")).href, listed, "#figure-index");
await picture("atlas", pathToFileURL(join(out, "atlas.html")).href, listed, "#figure-index", 720);

if (existsSync(join(dist, "index.html"))) {
  const server = await serve(dist);
  const both = () => document.querySelectorAll(".bench canvas").length > 2;
  await picture("playground", `${server.home}#delay-stability`, both);
  server.close();
} else {
  console.error("screenshots: none of the playground: `make web` builds it");
}
await browser.close();
rmSync(out, { recursive: true });
