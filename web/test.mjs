// Runs the tests: those of functions under node, or with `browser` those of pages in Chromium and Firefox.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
// Below this folder, so that tests find its packages.
const out = join(here, "node_modules", ".tests");
const folder = process.argv[2] === "browser" ? "test/browser" : "test/unit";
const tests = readdirSync(join(here, folder)).filter((name) => name.endsWith(".test.ts"));
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: tests.map((name) => join(folder, name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  target: "node20",
  sourcemap: "inline",
});
const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], { stdio: "inherit", cwd: here });
process.exit(run.status ?? 1);
