// The playground: a scenario, its run and its theory side by side.

import { element, rich, save } from "../element";
import { Links } from "../link";
import { quantity } from "../number";
import { type Key, type Shown, type World, WORLDS, type Wrong } from "./core";
import { Age } from "./age";
import { Desk, type Told } from "./desk";
import { Editor } from "./editor";
import { elsewhere, opened, sentences } from "./file";
import { type Lesson, showLesson } from "./lesson";
import { Results } from "./results";
import type { Schema } from "./schema";
import { packed, unpacked } from "./share";
import { type Change, Sliders } from "./sliders";
import { showRun, showTheory } from "./strip";
import { Trail } from "./trail";
import type { Moved } from "./values";

interface Ready {
  readonly name: string;
  readonly what: string;
  readonly text: string;
}
interface Read {
  readonly title: string;
  readonly cells: readonly string[];
  readonly keys: readonly Key[];
}

/** Typing pauses so long before a run begins [ms]. */
const PAUSE = 350;
/** Figures on top where no lesson says which. */
const USUAL = ["Queueing delay", "Throughput of links", "Loop gain"];
const LARGEST = 2_000_000;
/** What the last line of a record's header begins with. */
const RECORD = "# SHA-256 of all bytes above this line: ";

/** What the page has of a run, and of the theory. */
const OF_RUN = ["run-facts", "run-bench", "run"];
const OF_THEORY = ["theory-facts", "theory-bench", "theory"];

function get<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** What a ready scenario is saved as: its name has its folder in front. */
const fileOf = ({ name }: Ready) => `${name.slice(name.lastIndexOf("/") + 1)}.toml`;

class Playground {
  readonly #runs: Desk;
  readonly #theories: Desk;
  readonly #texts: Desk;
  readonly #editor: Editor;
  readonly #sliders: Sliders;
  readonly #links = new Links();
  readonly #run = new Results(get("run"), get("run-bench"), this.#links);
  readonly #theory = new Results(get("theory"), get("theory-bench"), this.#links);
  readonly #trail = new Trail(get("trail"));
  readonly #world = get<HTMLSelectElement>("world");
  readonly #cell = get<HTMLSelectElement>("cell");
  readonly #lessons: readonly Lesson[];
  readonly #scenarios: readonly Ready[];
  #name = "scenario.toml";
  #timer = 0;
  readonly #runAge = new Age(() => {
    this.#old(OF_RUN, true);
    this.#say(`Running.${this.#grey()}`);
  });
  readonly #theoryAge = new Age(() => this.#old(OF_THEORY, true));
  #slid: string | null = null;

  constructor(module: WebAssembly.Module, schema: Schema, lessons: readonly Lesson[], scenarios: readonly Ready[]) {
    const bar = get<HTMLProgressElement>("progress");
    this.#runs = new Desk(module, (done) => {
      bar.hidden = done === null;
      get("stop").hidden = done === null;
      bar.value = done ?? 0;
    });
    this.#theories = new Desk(module);
    this.#texts = new Desk(module);
    this.#lessons = lessons;
    this.#scenarios = scenarios;
    this.#editor = new Editor(get("editor"), schema, (moved, before) => this.#typed(moved, before));
    this.#sliders = new Sliders(get("sliders"), get<HTMLSelectElement>("add"), schema, (changes) =>
      this.#slide(changes),
    );
    this.#menus();
    this.#listen();
  }

  /** The scenario of the address, or the first lesson. */
  async start(): Promise<void> {
    const { hash } = window.location;
    let amiss = "";
    try {
      const shared = await unpacked(hash);
      if (shared !== null) {
        this.#world.value = shared.world;
        this.#load("shared.toml", shared.text, null, shared.cell);
        return;
      }
    } catch (error) {
      amiss = `The address has no scenario that can be read: ${error instanceof Error ? error.message : error}.`;
    }
    const lesson = this.#lessons.find(({ id }) => hash === `#${id}`);
    if (lesson === undefined && hash.length > 1 && amiss === "")
      amiss = `The address names ${hash}, which is no lesson.`;
    const first = lesson ?? this.#lessons[0];
    if (first !== undefined) this.#teach(first);
    if (amiss !== "") this.#notice(`${amiss} The first lesson is here instead.`);
  }

  #menus(): void {
    const option = (value: string, words: string) => element("option", { value }, words);
    get("lesson").replaceChildren(
      option("", "none"),
      ...this.#lessons.map(({ id, title }, i) => option(id, `${i + 1}. ${title}`)),
    );
    get("scenario").replaceChildren(option("", "choose one"), ...this.#scenarios.map(({ name }) => option(name, name)));
  }

  #listen(): void {
    get("lesson").addEventListener("change", (event) => {
      const lesson = this.#lessons.find(({ id }) => id === (event.target as HTMLSelectElement).value);
      if (lesson === undefined) showLesson(get("lesson-text"), null);
      else this.#teach(lesson);
    });
    get("scenario").addEventListener("change", (event) => {
      const ready = this.#scenarios.find(({ name }) => name === (event.target as HTMLSelectElement).value);
      if (ready !== undefined) this.#load(fileOf(ready), ready.text, null, 0);
    });
    const file = get<HTMLInputElement>("file");
    get("open").addEventListener("click", () => file.click());
    file.addEventListener("change", () => {
      const chosen = file.files?.[0];
      if (chosen !== undefined) void this.#open(chosen);
      file.value = "";
    });
    get("save").addEventListener("click", () => save(this.#name, this.#editor.text, "application/toml"));
    get("share").addEventListener("click", () => void this.#share());
    get("stop").addEventListener("click", () => {
      this.#runs.stop();
      this.#old(OF_RUN, true);
      this.#say("Stopped.");
    });
    this.#world.addEventListener("change", () => this.#compute());
    this.#cell.addEventListener("change", () => this.#compute());
    for (const [id, by] of [
      ["before", -1],
      ["after", 1],
    ] as const) {
      get(id).addEventListener("click", () => {
        const { options, selectedIndex } = this.#cell;
        this.#cell.selectedIndex = (selectedIndex + by + options.length) % options.length;
        this.#compute();
      });
    }
    window.addEventListener("hashchange", () => void this.start());
    // Text that is dragged within the editor is the editor's. A file is the page's: the editor would take its text for typed.
    document.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    document.addEventListener(
      "drop",
      (event) => {
        document.body.classList.remove("dropping");
        const dropped = event.dataTransfer?.files[0];
        if (dropped === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        void this.#open(dropped);
      },
      { capture: true },
    );
  }

  #teach(lesson: Lesson): void {
    get<HTMLSelectElement>("lesson").value = lesson.id;
    this.#world.value = lesson.world ?? "packets";
    this.#load(`${lesson.id}.toml`, lesson.scenario, lesson, 0);
  }

  #load(name: string, text: string, lesson: Lesson | null, cell: number): void {
    this.#name = name;
    if (lesson === null) get<HTMLSelectElement>("lesson").value = "";
    if (!this.#scenarios.some((each) => fileOf(each) === name)) get<HTMLSelectElement>("scenario").value = "";
    showLesson(get("lesson-text"), lesson);
    const figures = lesson?.figures ?? USUAL;
    for (const results of [this.#run, this.#theory]) {
      results.clear();
      results.pin(figures);
    }
    for (const facts of ["run-facts", "theory-facts"]) get(facts).replaceChildren();
    this.#trail.follow("", "");
    this.#slid = null;
    this.#sliders.choose(lesson?.sliders ?? null);
    this.#editor.text = text;
    this.#cell.replaceChildren(element("option", { value: String(cell) }, String(cell)));
    this.#compute();
  }

  async #open(file: File): Promise<void> {
    const bytes = new Uint8Array(await file.slice(0, LARGEST).arrayBuffer());
    const found = opened(file.name, bytes);
    if ("no" in found) {
      this.#notice(found.no);
      return;
    }
    if (file.size > LARGEST) {
      this.#notice(`${file.name} has ${file.size} bytes, more than a page takes.`);
      return;
    }
    const { text } = found;
    if (!text.includes(RECORD) && file.name !== "record.toml") {
      this.#load(file.name, text, null, 0);
      return;
    }
    const told = await this.#texts.ask<{ scenario: string; world: string }>({ do: "open", text });
    if (told === null) return;
    if ("ok" in told.answer) {
      const { scenario, world } = told.answer.ok;
      const here = WORLDS.find((each) => each === world);
      this.#world.value = here ?? "packets";
      this.#load("record-scenario.toml", scenario, null, 0);
      if (here === undefined) this.#notice(elsewhere(file.name, world));
    } else this.#notice(`${file.name}: ${"refused" in told.answer ? sentences(told.answer.refused) : "no record"}`);
  }

  async #share(): Promise<void> {
    this.#notice("");
    const world = this.#world.value as World;
    const fragment = await packed({ text: this.#editor.text, world, cell: Math.max(Number(this.#cell.value), 0) });
    window.history.replaceState(null, "", `#${fragment}`);
    try {
      await navigator.clipboard.writeText(window.location.href);
      this.#say("The address of this page has the scenario, and is on the clipboard.");
    } catch {
      this.#say("The address of this page has the scenario: copy it.");
    }
  }

  #typed(moved: Moved, before: string): void {
    this.#sliders.follow(moved, before, this.#editor.text);
    this.#trail.forget();
    this.#slid = null;
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#compute(), PAUSE);
  }

  #slide(changes: readonly Change[]): void {
    for (const [name, text] of changes) {
      // The change before has moved what is behind it.
      const key = this.#sliders.find(name);
      if (key === undefined) continue;
      this.#editor.replace(key.from, key.to, text);
      this.#sliders.shift(key, text);
    }
    const slid = this.#sliders.find(changes[0]?.[0] ?? "");
    if (slid === undefined) return;
    this.#slid = slid.key;
    this.#trail.follow(slid.key, slid.unit);
    this.#compute();
  }

  /** Reads the text, runs it, and asks the theory. */
  #compute(): void {
    this.#notice("");
    const text = { name: this.#name, text: this.#editor.text };
    const cell = Math.max(Number(this.#cell.value), 0);
    const value = this.#slid === null ? null : (this.#sliders.find(this.#slid)?.value ?? null);
    void this.#texts.ask<Read>({ do: "read", ...text }).then((told) => {
      if (told !== null) this.#heardText(told, text.text);
    });
    this.#theoryAge.requested();
    void this.#theories.ask<Shown>({ do: "theory", cell, ...text }).then((told) => {
      if (told !== null) this.#heardTheory(told, value);
      this.#theoryAge.answered(told !== null);
    });
    const request = { do: "run", cell, world: this.#world.value as World, ...text } as const;
    this.#runAge.requested();
    void this.#runs.ask<Shown>(request).then((told) => {
      if (told !== null) this.#heardRun(told, value);
      this.#runAge.answered(told !== null);
    });
  }

  #heardText({ answer }: Told<Read>, asked: string): void {
    this.#errors("errors" in answer ? answer.errors : []);
    if (!("ok" in answer)) {
      // The cells are of another text.
      get("cells").hidden = true;
      return;
    }
    const { cells, keys, title } = answer.ok;
    document.title = title === "" ? "Penstock playground" : `${title} \u2013 Penstock playground`;
    // Places in a text that has changed since are wrong; the answer for the text now is on its way.
    if (asked === this.#editor.text) this.#sliders.keys = keys;
    get("cells").hidden = cells.length < 2;
    const now = Math.min(Math.max(Number(this.#cell.value), 0), cells.length - 1);
    const names = cells.map((name, i) => (name === "" ? String(i + 1) : name));
    if (JSON.stringify(names) !== JSON.stringify([...this.#cell.options].map(({ text }) => text))) {
      this.#cell.replaceChildren(...names.map((name, i) => element("option", { value: String(i) }, name)));
      this.#cell.value = String(now);
    }
  }

  #heardRun({ answer, seconds }: Told<Shown>, value: number | null): void {
    const refused = get("refused");
    refused.hidden = !("refused" in answer);
    if ("refused" in answer) refused.replaceChildren(...rich(sentences(answer.refused)));
    if (!("ok" in answer)) {
      this.#old(OF_RUN, true);
      this.#say(`Not run.${this.#grey()}`);
      return;
    }
    this.#old(OF_RUN, false);
    this.#run.show(answer.ok);
    showRun(get("run-facts"), answer.ok);
    if (value !== null) this.#trail.ran(value, answer.ok.summary);
    this.#say(`Ran in ${quantity(seconds, "s", 2)}.`);
    document.body.dataset["ran"] = String(Number(document.body.dataset["ran"] ?? 0) + 1);
  }

  #heardTheory({ answer }: Told<Shown>, value: number | null): void {
    const none = get("no-theory");
    none.hidden = !("refused" in answer);
    if ("refused" in answer) {
      none.replaceChildren(...rich(`No stability analysis of this scenario: ${sentences(answer.refused)}`));
      this.#theory.clear();
      showTheory(get("theory-facts"), undefined);
    }
    this.#old(OF_THEORY, "errors" in answer);
    if (!("ok" in answer)) return;
    this.#theory.show(answer.ok);
    showTheory(get("theory-facts"), answer.ok.margins);
    if (value !== null) this.#trail.analysed(value, answer.ok.margins);
  }

  #errors(errors: readonly Wrong[]): void {
    this.#editor.errors = errors;
    const list = get("errors");
    list.hidden = errors.length === 0;
    list.replaceChildren(
      ...errors.map((wrong) => {
        const place = wrong.line === null ? "" : `line ${wrong.line}: `;
        const key = wrong.key === "" ? "" : `${wrong.key}: `;
        const go = element("button", { type: "button" }, `${place}${key}${wrong.found}: ${wrong.remedy}`);
        go.addEventListener("click", () => this.#editor.show(wrong));
        return element("li", {}, go);
      }),
    );
  }

  /** What the page says of numbers and figures in grey, if there are any. */
  #grey(): string {
    const drawn = get("run-facts").childElementCount + get("run").childElementCount > 0;
    return drawn ? " The numbers and figures in grey are of the last text that ran." : "";
  }

  /** Marks what is on the page of another text than that in the editor. */
  #old(places: readonly string[], old: boolean): void {
    for (const id of places) get(id).classList.toggle("old", old);
  }

  /** Says what stays until the next action: a run that ends says its time elsewhere. */
  #notice(words: string): void {
    const notice = get("notice");
    notice.textContent = words;
    notice.hidden = words === "";
  }

  #say(words: string): void {
    get("status").textContent = words;
  }
}

async function json<T>(name: string): Promise<T> {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return (await answer.json()) as T;
}

async function start(): Promise<void> {
  const [module, schema, lessons, scenarios] = await Promise.all([
    WebAssembly.compileStreaming(fetch("penstock.wasm")),
    json<Schema>("schema.json"),
    json<Lesson[]>("lessons.json"),
    json<Ready[]>("scenarios.json"),
  ]);
  await new Playground(module, schema, lessons, scenarios).start();
}

start().catch((error: unknown) => {
  get("status").textContent = `The playground cannot start: ${error instanceof Error ? error.message : String(error)}`;
});
