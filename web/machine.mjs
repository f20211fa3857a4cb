// Browsers of this machine, and a server of pages on the loopback.

import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const BROWSERS = {
  chrome: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
};
const KINDS = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** The program of a browser; undefined where it is missing. */
export function program(name) {
  return BROWSERS[name].find(existsSync);
}

/** What puppeteer starts a browser with. */
export function launched(name) {
  const args = name === "chrome" ? ["--no-sandbox", "--disable-gpu"] : [];
  return { browser: name, executablePath: program(name), args };
}

/** Serves the files of a folder as `penstock play` does; gives the address and the server. */
export async function serve(folder) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const file = join(folder, normalize(path === "/" ? "/index.html" : path));
    const found = existsSync(file);
    response.writeHead(found ? 200 : 404, {
      "Content-Type": KINDS[extname(file)] ?? "application/octet-stream",
      "Cache-Control": "no-cache",
    });
    response.end(found ? readFileSync(file) : "");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { home: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
