// From a number in the text to the range of a slider, and back to text.

import type { Key } from "./core";
import type { End } from "./schema";

/** A range in the unit that is written, and whether equal steps are equal factors. */
export interface Range {
  readonly least: number;
  readonly most: number;
  readonly log: boolean;
}

const STEPS = 200;
/** How far a slider reaches from the value where the key has a wider range, as a factor. */
const REACH = 10;

/** A value as written: the number, and the unit behind it. */
export function written(text: string): { readonly number: number; readonly unit: string } {
  const found = /^\s*([+-]?[\d_.]+(?:[eE][+-]?\d+)?)\s*(.*?)\s*$/.exec(text);
  const number = Number((found?.[1] ?? "").replaceAll("_", ""));
  return { number, unit: found?.[2] ?? "" };
}

/** The range of a slider. `schema` is that of a plain number; a lesson may say its own, in the unit that is written. */
export function rangeFor(key: Key, schema: readonly [End, End], own?: readonly [number, number]): Range {
  const { number } = written(key.text);
  if (own !== undefined) return { least: own[0], most: own[1], log: own[0] > 0 && own[1] / own[0] > 20 };
  // How much the written unit is in the base unit, in which a law has its range.
  const factor = key.value === 0 || number === 0 ? 1 : key.value / number;
  const limit = (value: number | null | undefined) => (value === null || value === undefined ? null : value / factor);
  const ends = [limit(key.least ?? schema[0].at), limit(key.most ?? schema[1].at)] as const;
  // An end that is no value is a step away, or a hundredth: values have three digits.
  const step = ends[0] === null || ends[1] === null ? 0 : (ends[1] - ends[0]) / STEPS;
  const inner = (end: number | null, sign: 1 | -1, open: boolean) =>
    end === null || !open ? end : end + sign * (step || Math.abs(end) / 100);
  const low = inner(ends[0], 1, key.least === undefined && schema[0].open);
  const high = inner(ends[1], -1, key.most === undefined && schema[1].open);
  const [first, last] = ends;
  const narrow = first !== null && last !== null && last - first <= 100 && (first <= 0 || last / first <= 100);
  if (low !== null && high !== null && narrow && !key.whole) {
    return { least: low, most: high, log: false };
  }
  if (number <= 0) return { least: low ?? Math.min(number * REACH, 0), most: Math.min(high ?? 10, 10), log: false };
  const around: Range = { least: number / REACH, most: number * REACH, log: true };
  return {
    least: Math.max(around.least, low ?? 0, key.whole ? 1 : 0),
    most: Math.min(around.most, high ?? Number.POSITIVE_INFINITY),
    log: true,
  };
}

/** Where a value is on a slider of [`STEPS`] steps. */
export function stepOf(value: number, { least, most, log }: Range): number {
  const share = log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
  return Math.round(Math.min(Math.max(share, 0), 1) * STEPS);
}

/** The value at a step, with three digits. */
export function valueAt(step: number, { least, most, log }: Range, whole: boolean): number {
  const share = step / STEPS;
  const exact = log ? least * (most / least) ** share : least + (most - least) * share;
  return whole ? Math.round(exact) : Number(exact.toPrecision(3));
}

/** The value as TOML writes it, with the unit that it had. */
export function spelled(value: number, key: Key): string {
  const { unit } = written(key.text);
  const number = key.whole || unit === "packets" ? String(Math.round(value)) : String(value);
  if (key.quoted) return JSON.stringify(`${number} ${unit}`);
  // TOML tells 2.0 from 2: a number stays a number.
  return key.whole || /[.e]/.test(number) ? number : `${number}.0`;
}

/** Digits of a value that follows another one: the gains of a law may differ in the fourth, and their difference counts. */
const FOLLOWING = 10;

/** The text of a value that is multiplied by the same factor as another one, which is to be `text`. */
export function inProportion(key: Key, other: Key, text: string): string {
  const before = written(other.text).number;
  const factor = before === 0 ? 1 : written(text.replaceAll('"', "")).number / before;
  return spelled(Number((written(key.text).number * factor).toPrecision(FOLLOWING)), key);
}

export { STEPS };
