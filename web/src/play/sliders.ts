// Sliders for numbers of the scenario.

import { button, element } from "../element";
import type { Key } from "./core";
import { at, parts, rangeOf, type Schema } from "./schema";
import { inProportion, type Range, rangeFor, STEPS, spelled, stepOf, valueAt, written } from "./slider";
import type { Slid } from "./lesson";
import { followed, type Moved, replaced } from "./values";

/** Keys that have a slider where nobody chose any. */
const USUAL = ["rate", "buffer", "delay", "rtt", "count", "alpha"];
const MOST_USUAL = 4;

/** A key and the text that its value shall become. */
export type Change = readonly [key: string, text: string];

interface Made {
  readonly key: string;
  readonly with: readonly string[];
  readonly range: Range;
  readonly input: HTMLInputElement;
  readonly output: HTMLOutputElement;
  readonly item: HTMLElement;
}

export class Sliders {
  readonly #place: HTMLElement;
  readonly #add: HTMLSelectElement;
  readonly #schema: Schema;
  readonly #moved: (changes: readonly Change[]) => void;
  #keys: readonly Key[] = [];
  #made: Made[] = [];
  /** Chosen, with a range of its own if a lesson has one; null until somebody chooses. */
  #chosen: Slid[] | null = null;

  /** `moved` hears which values shall become which texts, that of the slider first. */
  constructor(place: HTMLElement, add: HTMLSelectElement, schema: Schema, moved: (changes: readonly Change[]) => void) {
    this.#place = place;
    this.#add = add;
    this.#schema = schema;
    this.#moved = moved;
    add.addEventListener("change", () => {
      this.#chosen = [...(this.#chosen ?? []), { key: add.value }];
      this.#build();
      this.#made.at(-1)?.input.focus();
    });
  }

  /** These sliders, or the usual ones. */
  choose(chosen: readonly Slid[] | null): void {
    this.#chosen = chosen === null ? null : [...chosen];
    // They are of the text before.
    this.#keys = [];
    for (const { item } of this.#made) item.remove();
    this.#made = [];
  }

  /** The numbers that the text has now. */
  set keys(keys: readonly Key[]) {
    this.#keys = keys;
    if (this.#chosen === null && keys.length > 0) {
      const usual = (key: Key) => USUAL.indexOf(parts(key.key).at(-1) ?? "");
      const found = keys.filter((key) => usual(key) >= 0).sort((a, b) => usual(a) - usual(b));
      this.#chosen = found.slice(0, MOST_USUAL).map(({ key }) => ({ key }));
    }
    this.#build();
  }

  /** Hears that the value of a key was replaced. */
  shift(key: Key, text: string): void {
    this.#keys = replaced(this.#keys, key, text);
  }

  /** Hears of changes of the text that are not a slider's. A slider whose value was changed waits until the text is read. */
  follow(moved: Moved, before: string, now: string): void {
    this.#keys = followed(this.#keys, moved, before, now);
    for (const made of this.#made) made.input.disabled = !this.#has(made);
  }

  /** The number of a key now. */
  find(key: string): Key | undefined {
    return this.#keys.find((each) => each.key === key);
  }

  #has({ key, with: others = [] }: Pick<Slid, "key" | "with">): boolean {
    return [key, ...others].every((each) => this.find(each) !== undefined);
  }

  #build(): void {
    const chosen = (this.#chosen ?? []).filter((slid) => this.#has(slid));
    for (const made of this.#made) if (!chosen.some(({ key }) => key === made.key)) made.item.remove();
    this.#made = chosen.map((slid) => {
      const key = this.find(slid.key) as Key;
      const before = this.#made.find((made) => made.key === slid.key);
      const { number } = written(key.text);
      const fits = before !== undefined && number >= before.range.least && number <= before.range.most;
      if (before !== undefined && (fits || document.activeElement === before.input)) {
        this.#say(before, key);
        return before;
      }
      const made = this.#make(key, slid);
      if (before === undefined) this.#place.append(made.item);
      else before.item.replaceWith(made.item);
      return made;
    });
    const rest = this.#keys.filter(({ key }) => !chosen.some((each) => each.key === key));
    this.#add.replaceChildren(
      element("option", { value: "" }, rest.length === 0 ? "no other number" : "choose a number"),
      ...rest.map(({ key }) => element("option", { value: key }, key)),
    );
  }

  #whole(key: Key): boolean {
    const types = at(this.#schema, parts(key.key), null).flatMap(({ type }) => type ?? []);
    return key.whole && key.least === undefined && !types.includes("number");
  }

  #make(found: Key, slid: Slid): Made {
    const key = { ...found, whole: this.#whole(found) };
    const range = rangeFor(key, rangeOf(at(this.#schema, parts(key.key), null)), slid.range);
    const id = `slide-${key.key.replaceAll(/[^\w]+/g, "-")}`;
    const input = element("input", { type: "range", id, min: "0", max: String(STEPS), step: "1" });
    const output = element("output", { for: id });
    const remove = button("\u00d7", `\u00d7 remove the slider of ${key.key}`, null, () => {
      this.#chosen = (this.#chosen ?? []).filter((each) => each.key !== key.key);
      this.#build();
    });
    const others = slid.with ?? [];
    const words = [key.key, ...others].join(" and ");
    const label = element("label", { for: id, title: key.what ?? "" }, words);
    const item = element("div", { class: "slider" }, label, output, remove, input);
    const made = { key: key.key, with: others, range, input, output, item };
    input.addEventListener("input", () => {
      const now = this.find(key.key);
      if (now === undefined) return;
      const whole = { ...now, whole: key.whole };
      const text = spelled(valueAt(Number(input.value), range, key.whole), whole);
      output.textContent = text.replace(/^"|"$/g, "");
      input.setAttribute("aria-valuetext", output.textContent);
      const following = others.flatMap((other): Change[] => {
        const found = this.find(other);
        return found === undefined ? [] : [[other, inProportion(found, now, text)]];
      });
      this.#moved([[now.key, text], ...following]);
    });
    this.#say(made, key);
    return made;
  }

  #say({ input, output, range }: Made, key: Key): void {
    input.disabled = false;
    if (document.activeElement !== input) input.value = String(stepOf(written(key.text).number, range));
    output.textContent = key.text;
    input.setAttribute("aria-valuetext", key.text);
  }
}
