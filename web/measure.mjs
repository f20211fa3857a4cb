// Measures the pages and the playground against their targets, and prints a line for each figure:
//
//     node web/measure.mjs [wasm|play|report|zoom|show|atlas|lighthouse]...
//
// The command is that of the variable PENSTOCK, or target/release/penstock. A figure is what this machine did at the time: run it
// on an idle one. The status is 0 whatever the figures are.

import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";

import puppeteer from "puppeteer-core";

import { launched, program, serve } from "./machine.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "target", "web", "dist");
const penstock = process.env.PENSTOCK ?? join(root, "target", "release", "penstock");
const out = mkdtempSync(join(tmpdir(), "penstock-measures-"));
// The last of those that node 20 runs.
const LIGHTHOUSE = "lighthouse@12.8.2";

/** Runs of 60 s whose reports are measured. */
const MINUTES = [
  "newreno-red-622",
  "fast-622",
  "two-way",
  "two-bottlenecks",
  "today/copa",
  "today/prague-beside-cubic",
];
/** Times that a page is opened. */
const OPENED = 9;

function run(...words) {
  return execFileSync(penstock, words, { cwd: root, stdio: ["ignore", "pipe", "pipe"] }).toString();
}
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}
/** One line: what, the figure, the target, and whether it is met. */
function say(what, figure, unit, target, most = true) {
  const met = target === null ? "" : `; target ${most ? "below" : "at least"} ${target} ${unit}: `;
  const word = target === null ? "" : (most ? figure < target : figure >= target) ? "met" : "MISSED";
  console.log(`${what}: ${Number(figure.toPrecision(3))} ${unit}${met}${word}`);
}
const file = (...parts) => pathToFileURL(join(out, ...parts)).href;
/** The report of the only record in a folder. */
function reportIn(folder) {
  const record = readdirSync(folder).find((each) => existsSync(join(folder, each, "record.toml")));
  return join(folder, record, "report.html");
}

/** The speed of the module in a browser over that of the command, in turn. */
async function wasm() {
  const text = readFileSync(join(root, "scenarios", "newreno-red-622.toml"), "utf8");
  const server = await serve(dist);
  for (const name of ["chrome", "firefox"]) {
    if (program(name) === undefined) {
      console.log(`speed of the module: not measured: no ${name} on this machine`);
      continue;
    }
    const browser = await puppeteer.launch({ ...launched(name), protocolTimeout: 600_000 });
    const page = await browser.newPage();
    // Only for its origin: nothing runs there.
    await page.goto(`${server.home}schema.json`);
    const ratios = [];
    for (let turn = 0; turn < 3; turn++) {
      const folder = join(out, `wasm-${name}-${turn}`);
      run("run", "scenarios/newreno-red-622.toml", "--quiet", "--out", folder);
      const { wall_s } = JSON.parse(readFileSync(join(dirname(reportIn(folder)), "cost.json"), "utf8"));
      const seconds = await page.evaluate(async (scenario) => {
        const module = await WebAssembly.compileStreaming(fetch("penstock.wasm"));
        const worker = new Worker("worker.js");
        worker.postMessage({ module });
        const took = await new Promise((done, failed) => {
          worker.onmessage = ({ data }) => {
            if ("answer" in data) done(data.seconds);
            if ("broke" in data) failed(new Error(data.broke));
          };
          const request = { do: "run", name: "a.toml", text: scenario, cell: 0, world: "packets" };
          worker.postMessage({ number: 1, request });
        });
        worker.terminate();
        return took;
      }, text);
      ratios.push((100 * wall_s) / seconds);
      console.log(`  newreno-red-622: ${wall_s.toFixed(2)} s by the command, ${seconds.toFixed(2)} s in ${name}`);
    }
    say(`speed of the module in ${name}, of the command's`, median(ratios), "%", name === "chrome" ? 45 : null, false);
    await browser.close();
  }
  server.close();
}

/** When a first figure stands on a page [ms after the navigation began]: a canvas that was fitted, and the frame after it. */
function watch() {
  // The first figure of a report may be below its tables.
  document.addEventListener("DOMContentLoaded", () =>
    document.querySelector("figure[data-figure]")?.scrollIntoView({ behavior: "instant" }),
  );
  const look = () => {
    const canvas = document.querySelector(".live .stage canvas");
    if (canvas === null || canvas.height === 150) requestAnimationFrame(look);
    else
      requestAnimationFrame(() => {
        window.figureAt = performance.now();
      });
  };
  requestAnimationFrame(look);
}
async function opened(browser, address) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.evaluateOnNewDocument(watch);
  await page.goto(address);
  const drawn = await page
    .waitForFunction(() => window.figureAt, { timeout: 20_000, polling: 20 })
    .then((handle) => handle.jsonValue());
  const paint = await page.evaluate(
    () => performance.getEntriesByType("paint").find(({ name }) => name === "first-contentful-paint")?.startTime ?? NaN,
  );
  await page.close();
  return { drawn, paint };
}
async function openedOften(browser, address) {
  const all = [];
  for (let i = 0; i < OPENED; i++) all.push(await opened(browser, address));
  return { drawn: median(all.map((each) => each.drawn)) / 1000, paint: median(all.map((each) => each.paint)) / 1000 };
}

/** The playground's size, and how long it takes to its first figure. */
async function play() {
  const files = readdirSync(dist).map((name) => readFileSync(join(dist, name)));
  const sum = (sizes) => sizes.reduce((a, b) => a + b, 0) / 1e6;
  say("playground, all files", sum(files.map((each) => each.length)), "MB", null);
  say("playground, all files by gzip", sum(files.map((each) => gzipSync(each, { level: 9 }).length)), "MB", 2.5);
  say("playground, all files by brotli", sum(files.map((each) => brotliCompressSync(each).length)), "MB", null);
  const server = await serve(dist);
  const browser = await puppeteer.launch(launched("chrome"));
  const cold = await opened(browser, `${server.home}#delay-stability`);
  say("first figure of the playground, first visit", cold.drawn / 1000, "s", null);
  const { drawn } = await openedOften(browser, `${server.home}#delay-stability`);
  say(`first figure of the playground, median of ${OPENED} later visits`, drawn, "s", 1.5);
  await browser.close();
  server.close();
}

/** `web.toml` with FQ-CoDel, without its sweep: the largest report of a minute. */
function largest() {
  const file = join(out, "fq-codel.toml");
  const [text] = readFileSync(join(root, "scenarios", "web.toml"), "utf8").split("[sweep]");
  writeFileSync(file, text);
  const folder = join(out, "reports", "fq-codel");
  run("run", file, "--set", 'links.access.aqm={ law = "fq-codel" }', "--quiet", "--out", folder);
  say("report of web with FQ-CoDel", statSync(reportIn(folder)).size / 1000, "kB", 400);
}

/** Reports of runs of 60 s: size, and when the first figure lives. */
async function report() {
  largest();
  const browser = await puppeteer.launch(launched("chrome"));
  for (const name of MINUTES) {
    const folder = join(out, "reports", name.replace("/", "-"));
    run("run", `scenarios/${name}.toml`, "--quiet", "--out", folder);
    const page = reportIn(folder);
    say(`report of ${name}`, statSync(page).size / 1000, "kB", 400);
    const { drawn, paint } = await openedOften(browser, pathToFileURL(page).href);
    say(`report of ${name}, first paint`, paint, "s", null);
    say(`report of ${name}, first figure that can be zoomed, median of ${OPENED}`, drawn, "s", 0.3);
  }
  await browser.close();
}

/** What a browser did while it ran this function of a page: frames shown, script and commit of each [ms], and the time [s]. */
async function traced(page, animate) {
  await page.tracing.start({
    categories: ["-*", "devtools.timeline", "blink.user_timing"],
  });
  const frames = await page.evaluate(animate);
  const trace = JSON.parse(new TextDecoder().decode(await page.tracing.stop())).traceEvents;
  const at = (name) => trace.find((event) => event.name === name)?.ts;
  const inside = trace.filter(({ ts }) => ts >= at("zoom-begins") && ts <= at("zoom-ends"));
  const busy = inside.filter(({ name }) => name === "FireAnimationFrame" || name === "Commit");
  return {
    frames,
    shown: inside.filter(({ name }) => name === "AnimationFrame::Presentation").length,
    ms: busy.reduce((sum, { dur }) => sum + dur / 1000, 0) / frames,
    seconds: (at("zoom-ends") - at("zoom-begins")) / 1e6,
  };
}

/**
 * Frames a second while a figure of 10^5 points is zoomed in and out at every frame, from the trace of the browser. What the
 * machine shows at most is measured in the same browser: a page with nothing but a canvas of that size and one rectangle on it.
 */
async function zoom() {
  const set = ["--set", 'duration="50 s"', "--set", 'sample="1 ms"'];
  run("run", "scenarios/bufferbloat.toml", ...set, "--quiet", "--out", join(out, "zoom"));
  const browser = await puppeteer.launch(launched("chrome"));
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(pathToFileURL(reportIn(join(out, "zoom"))).href);
  await page.$eval("figure[data-figure]", (figure) => figure.scrollIntoView({ behavior: "instant" }));
  await page.waitForFunction(() => (document.querySelector(".live .stage canvas")?.height ?? 150) !== 150);
  const points = await page.evaluate(() => {
    const { figures, columns } = JSON.parse(document.getElementById("penstock-figures").textContent);
    const first = figures[0].lines[0];
    return Number(columns[first.x].split(",")[2]) * figures[0].lines.length;
  });
  const zoomed = await traced(page, async () => {
    const stage = document.querySelector(".live .stage");
    const { left, top, width } = stage.getBoundingClientRect();
    const wheel = (deltaY) =>
      stage.dispatchEvent(
        new WheelEvent("wheel", {
          deltaY,
          ctrlKey: true,
          clientX: left + width / 2,
          clientY: top + 60,
          cancelable: true,
        }),
      );
    performance.mark("zoom-begins");
    for (let i = 0; i < 300; i++) {
      await new Promise(requestAnimationFrame);
      wheel(i % 100 < 50 ? -12 : 12);
    }
    performance.mark("zoom-ends");
    return 300;
  });
  const size = await page.$eval(".live .stage canvas", ({ width, height }) => [width, height]);
  const bare = await browser.newPage();
  await bare.setViewport({ width: 1280, height: 900 });
  await bare.setContent(`<canvas width="${size[0]}" height="${size[1]}"></canvas>`);
  const most = await traced(bare, async () => {
    const canvas = document.querySelector("canvas");
    const context = canvas.getContext("2d");
    performance.mark("zoom-begins");
    for (let i = 0; i < 300; i++) {
      await new Promise(requestAnimationFrame);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.fillRect(i, 20, 40, 40);
    }
    performance.mark("zoom-ends");
    return 300;
  });
  await browser.close();
  console.log(`  zoom: ${points} points in the first figure, ${zoomed.frames} steps in ${zoomed.seconds.toFixed(2)} s`);
  say("zoom, frames drawn", zoomed.shown / zoomed.seconds, "a second", 59, false);
  say("zoom, script and commit of a frame, mean", zoomed.ms, "ms", 16.7);
  say("one rectangle on a canvas of that size, frames drawn", most.shown / most.seconds, "a second", null);
  say("one rectangle, script and commit of a frame, mean", most.ms, "ms", null);
}

/** The time of `penstock show` on 20 records of three worlds. */
async function show() {
  const scenario = join(out, "beside.toml");
  writeFileSync(
    scenario,
    `format = 1
title = "20 Mbit/s, 40 ms"
duration = "10 s"
warmup = "2 s"
[links.b]
from = "l"
to = "r"
rate = "20 Mbit/s"
delay = "20 ms"
buffer = "2 bdp"
aqm = { law = "red" }
[flows.f]
count = 2
from = "l"
to = "r"
rtt = "40 ms"
cc = { law = "newreno" }
`,
  );
  const folder = join(out, "beside");
  for (const [world, count] of [
    ["packets", 14],
    ["fluid", 4],
    ["linux", 2],
  ]) {
    for (let seed = 1; seed <= count; seed++) {
      run(
        "run",
        scenario,
        "--world",
        world,
        "--seed",
        String(seed),
        "--quiet",
        "--out",
        join(folder, `${world}${seed}`),
      );
    }
  }
  const records = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith("record.toml"));
  const paths = records.map((name) => dirname(join(folder, name)));
  const times = [];
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    run("show", ...paths, "--quiet", "--out", join(out, `shown${i}`));
    times.push((performance.now() - start) / 1000);
  }
  say(`penstock show of ${paths.length} records of three worlds, median of 5`, median(times), "s", 2);
}

const papers = () =>
  readdirSync(join(root, "papers")).filter((key) => existsSync(join(root, "papers", key, "paper.toml")));
/** The page of each paper, of short runs. */
async function atlas() {
  const browser = await puppeteer.launch(launched("chrome"));
  for (const key of papers()) {
    try {
      run("paper", key, "--short", "--quiet", "--out", join(out, "atlas"));
    } catch (error) {
      // A verdict that differs from the record is no matter of the page.
      if (error.status !== 1) throw error;
    }
    say(`page of ${key}`, statSync(join(out, "atlas", key, "report.html")).size / 1e6, "MB", 1);
    const paints = [];
    for (let i = 0; i < OPENED; i++) {
      const page = await browser.newPage();
      await page.setViewport({ width: 1280, height: 900 });
      await page.goto(file("atlas", key, "report.html"));
      const paint = () => performance.getEntriesByType("paint").find(({ name }) => name === "first-contentful-paint");
      await page.waitForFunction(paint);
      paints.push(await page.evaluate(`(${paint})().startTime`));
      await page.close();
    }
    say(`page of ${key}, first paint, median of ${OPENED}`, median(paints) / 1000, "s", 1);
  }
  await browser.close();
}

/** Lighthouse on a report, a comparison, a paper and the playground. npx downloads it. */
async function lighthouse() {
  const folder = join(out, "lit");
  run("run", "scenarios/l4s.toml", "--quiet", "--out", folder);
  run("run", "scenarios/l4s.toml", "--seed", "2", "--quiet", "--out", folder);
  const records = readdirSync(folder).filter((name) => existsSync(join(folder, name, "record.toml")));
  run("show", ...records.map((name) => join(folder, name)), "--quiet", "--out", folder);
  try {
    run("paper", "clcc", "--short", "--quiet", "--out", folder);
  } catch (error) {
    if (error.status !== 1) throw error;
  }
  const [pages, playground] = [await serve(folder), await serve(dist)];
  const addresses = {
    report: `${pages.home}${records[0]}/report.html`,
    comparison: `${pages.home}show/report.html`,
    paper: `${pages.home}clcc/report.html`,
    playground: `${playground.home}#delay-stability`,
  };
  for (const [name, address] of Object.entries(addresses)) {
    if (name === "playground" && !existsSync(join(dist, "index.html"))) {
      console.log("lighthouse of the playground: not run: `make web` builds it");
      continue;
    }
    // The server is in this process: it must answer meanwhile.
    const { stdout } = await promisify(execFile)(
      "npx",
      [
        "--yes",
        LIGHTHOUSE,
        address,
        "--quiet",
        "--output=json",
        "--only-categories=accessibility,best-practices",
        "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
      ],
      { cwd: out, env: { ...process.env, CHROME_PATH: program("chrome") }, maxBuffer: 1e8 },
    );
    const { categories, audits } = JSON.parse(stdout);
    for (const { title, score, auditRefs } of Object.values(categories)) {
      say(`lighthouse of the ${name}, ${title.toLowerCase()}`, 100 * score, "of 100", 100, false);
      for (const { id, weight } of auditRefs) {
        const audit = audits[id];
        if (weight > 0 && audit.score !== null && audit.score < 1) console.log(`  ${id}: ${audit.title}`);
      }
    }
  }
  pages.close();
  playground.close();
}

const PARTS = { wasm, play, report, zoom, show, atlas, lighthouse };
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`measure: there is no ${unknown.join(" ")}: ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}
if (program("chrome") === undefined) {
  console.error("measure: not run: no Chromium on this machine; `apt-get install chromium`");
  process.exit(0);
}
try {
  for (const name of asked.length > 0 ? asked : Object.keys(PARTS)) {
    if (["wasm", "play"].includes(name) && !existsSync(join(dist, "penstock.wasm"))) {
      console.log(`${name}: not measured: no playground; \`make web\` builds it`);
    } else await PARTS[name]();
  }
} finally {
  rmSync(out, { recursive: true, force: true });
}
