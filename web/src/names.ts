// Names along an axis: in lines where each has room, else as numbers, which a list explains.

import type { Axis } from "./data";
import { place } from "./thin";
import type { Side, Span, Tick } from "./view";

/** Names along an axis have at most so many lines. */
const LINES = 3;
/** Between names side by side [pixels]. */
const SPACE = 8;

/** An axis with its names as they are drawn. */
export interface Named {
  readonly side: Side;
  /** Whether numbers stand for the names. */
  readonly numbered: boolean;
}

/** `name` in lines of at most `width`, broken between words; null where a word is wider, or where there are too many lines. */
export function broken(name: string, width: number, measure: (text: string) => number): string[] | null {
  const lines: string[] = [];
  let line = "";
  for (const word of name.split(/(?<=[ /])/)) {
    if (measure(word.trimEnd()) > width) return null;
    if (line !== "" && measure((line + word).trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += word;
  }
  lines.push(line.trimEnd());
  return lines.length > LINES ? null : lines;
}

/** The axis with its names in lines. Where one finds no room all have their numbers: names that are cut may be alike. */
export function withNames(axis: Axis, side: Side, pixels: Span, measure: (text: string) => number): Named {
  if (!side.ticks.some((tick) => tick.named)) return { side, numbered: false };
  const places = axis.ticks.map((tick) => place(side.ruler, tick.at)).sort((a, b) => a - b);
  const apart = places.slice(1).map((at, i) => at - (places[i] ?? at));
  const slot = Math.min(pixels[1] - pixels[0], ...apart) - SPACE;
  const lines = axis.ticks.map((tick) => broken(tick.label ?? "", slot, measure));
  const numbered = lines.includes(null);
  const label = (tick: Tick): string => {
    const at = axis.ticks.findIndex((each) => each.at === tick.at);
    return numbered ? String(at + 1) : (lines[at] ?? []).join("\n");
  };
  const ticks = side.ticks.map((tick) => (tick.named ? { ...tick, label: label(tick) } : tick));
  return { side: { ...side, ticks }, numbered };
}

/** How many lines the labels of an axis have. */
export function rowsOf(side: Side): number {
  return Math.max(1, ...side.ticks.map((tick) => tick.label.split("\n").length));
}
