// The built playground, served to the browsers of the tests, and its pages there.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before } from "node:test";

import type { Browser, Page } from "puppeteer-core";

import { packed } from "../../src/play/share";
import { listen } from "./browsers";

export const DIST = "../target/web/dist";
const KINDS: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  json: "application/json",
  wasm: "application/wasm",
};
export const built = existsSync(join(DIST, "penstock.wasm"));
let server: Server;
/** Its address. */
export let home = "";

before(async () => {
  server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    const name = path === "/" ? "index.html" : path.slice(1);
    if (!readdirSync(DIST).includes(name)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": KINDS[name.split(".").at(-1) ?? ""] ?? "text/plain" });
    response.end(readFileSync(join(DIST, name)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  home = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
after(() => {
  server.close();
});

export async function open(browser: Browser, fragment: string, width = 1280): Promise<[Page, string[]]> {
  const page = await browser.newPage();
  const said = listen(page);
  await page.setViewport({ width, height: 900 });
  await page.goto(`${home}${fragment}`);
  await ran(page, 1);
  return [page, said];
}

/** Waits until so many runs are on the page. */
export async function ran(page: Page, count: number): Promise<void> {
  await page.waitForFunction((least) => Number(document.body.dataset["ran"] ?? 0) >= least, { timeout: 60_000 }, count);
}
export const runs = (page: Page) => page.evaluate(() => Number(document.body.dataset["ran"] ?? 0));
/** Waits for the title of a page: another thread reads the text, and may be later than the run. */
export const titled = (page: Page, title: string) =>
  page.waitForFunction((wanted) => document.title === wanted, { timeout: 5000 }, title);
export const text = (page: Page, selector: string) => page.$eval(selector, (found) => found.textContent ?? "");
export const shared = async (scenario: string) => `#${await packed({ text: scenario, world: "packets", cell: 0 })}`;

/** One request to a thread of its own. */
export function ask(page: Page, request: object): Promise<{ answer: string; seconds: number }> {
  return page.evaluate(async (asked) => {
    const module = await WebAssembly.compileStreaming(fetch("penstock.wasm"));
    const worker = new Worker("worker.js");
    worker.postMessage({ module });
    const heard = await new Promise<{ answer: string; seconds: number }>((done, failed) => {
      worker.onmessage = ({ data }) => {
        if ("answer" in data) done(data);
        if ("broke" in data) failed(new Error(data.broke));
      };
      worker.postMessage({ number: 1, request: asked });
    });
    worker.terminate();
    return heard;
  }, request as never);
}
