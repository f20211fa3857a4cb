// Builds the viewer: `target/web/viewer.js` and `viewer.css`. With `play WASM`, also the playground around that module, as the
// folder `target/web/dist`. The licences of the libraries inside stand at the top of each script.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** A script with the licences of what it contains on top. */
async function script(entry, what, format) {
  const { metafile, outputFiles } = await build({
    ...options,
    entryPoints: [entry],
    format,
    metafile: true,
    write: false,
  });
  const used = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => path),
  );
  const packages = used
    .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
    .filter((name) => name !== undefined);
  const inside = notices([...new Set(packages)].sort()).replaceAll("*/", "* /");
  const contains = inside === "" ? "" : ` It contains:\n\n${inside}\n`;
  return `/* ${what} of Penstock, MIT OR Apache-2.0.${contains}*/\n${outputFiles[0].text}`;
}

const text = await script("src/viewer.ts", "The viewer", "iife");
const bytes = Buffer.byteLength(text);
if (bytes > MOST_BYTES) throw new Error(`viewer.js has ${bytes} bytes, more than ${MOST_BYTES}`);

const style = await build({ ...options, entryPoints: ["src/viewer.css"], write: false });

/** A file that has not changed stays as it is: cargo would compile again. */
function put(name, content, folder = out) {
  const path = join(folder, name);
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

/** The playground: a folder that any server can serve. */
async function playground(module) {
  const dist = join(out, "dist");
  mkdirSync(dist, { recursive: true });
  copyFileSync(module, join(dist, "penstock.wasm"));
  put("play.js", await script("src/play/play.ts", "The playground", "esm"), dist);
  put("worker.js", await script("src/play/worker.ts", "The playground", "iife"), dist);
  const style = await build({ ...options, entryPoints: ["src/play/play.css"], write: false });
  put("play.css", style.outputFiles[0].text, dist);
  put("index.html", readFileSync(join(here, "src", "play", "index.html"), "utf8"), dist);

  // The module itself has the schema that its editor completes by.
  const core = await build({ ...options, entryPoints: ["src/play/core.ts"], format: "esm", write: false });
  const { Core } = await import(`data:text/javascript,${encodeURIComponent(core.outputFiles[0].text)}`);
  const about = JSON.parse(new Core(new WebAssembly.Module(readFileSync(module))).ask({ do: "about" }));
  put("schema.json", JSON.stringify(about.ok.schema), dist);

  const lessons = JSON.parse(readFileSync(join(here, "lessons", "lessons.json"), "utf8"));
  const scenario = ({ id }) => readFileSync(join(here, "lessons", `${id}.toml`), "utf8");
  put("lessons.json", JSON.stringify(lessons.map((each) => ({ ...each, scenario: scenario(each) }))), dist);
  const folder = join(here, "..", "scenarios");
  // Those of the folder first, then those of its folders, as the command lists them.
  const deep = (name) => Number(name.includes("/"));
  const scenarios = readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".toml"))
    .sort((a, b) => deep(a) - deep(b) || (a < b ? -1 : 1))
    .map((name) => ({ name: name.replace(/\.toml$/, ""), text: readFileSync(join(folder, name), "utf8") }))
    // A page reads no other files.
    .filter(({ text: each }) => !/^[^#]*\btrace\s*=/m.test(each));
  put("scenarios.json", JSON.stringify(scenarios), dist);
  console.log(`target/web/dist: ${readdirSync(dist).length} files`);
}
if (process.argv[2] === "play") await playground(process.argv[3]);
