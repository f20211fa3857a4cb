// Builds the viewer: `target/web/viewer.js` and `viewer.css`. The licences of the libraries inside stand at the top of the script.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const MOST_BYTES = 120_000;
const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "target", "web");

/** The text of a package's licence, behind its name. */
function notice(name) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no text of its licence`);
  return { head: `${name} ${version}, ${license}`, text: readFileSync(join(folder, file), "utf8").trim() };
}

/** Each different text once, behind the packages that have it. */
function notices(names) {
  const texts = new Map();
  for (const { head, text } of names.map(notice)) texts.set(text, [...(texts.get(text) ?? []), head]);
  return [...texts].map(([text, heads]) => `${heads.join("; ")}\n${text}`).join("\n\n");
}

const options = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: "utf8",
  target: ["es2022"],
  legalComments: "none",
};
const { metafile, outputFiles } = await build({
  ...options,
  entryPoints: ["src/viewer.ts"],
  format: "iife",
  metafile: true,
  write: false,
});
const [script] = outputFiles;
const used = Object.values(metafile.outputs).flatMap((output) =>
  Object.entries(output.inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path),
);
const packages = used
  .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
  .filter((name) => name !== undefined);
const banner = `/* The viewer of Penstock, MIT OR Apache-2.0. It contains:\n\n${notices([...new Set(packages)].sort()).replaceAll("*/", "* /")}\n*/\n`;
const text = banner + script.text;
const bytes = Buffer.byteLength(text);
if (bytes > MOST_BYTES) throw new Error(`viewer.js has ${bytes} bytes, more than ${MOST_BYTES}`);

const style = await build({ ...options, entryPoints: ["src/viewer.css"], write: false });

/** A file that has not changed stays as it is: cargo would compile again. */
function put(name, content) {
  const path = join(out, name);
  let before = null;
  try {
    before = readFileSync(path, "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  if (before !== content) writeFileSync(path, content);
}

mkdirSync(out, { recursive: true });
put("viewer.js", text);
put("viewer.css", style.outputFiles[0].text);
console.log(`target/web/viewer.js: ${bytes} bytes`);
