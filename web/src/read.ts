// What a figure has at a place: the values of its lines.

import type { Curve, Figure } from "./data";
import { sampleAt } from "./draw";
import { quantity } from "./number";
import { place } from "./thin";
import { type Choice, isFunction, type Side, type Span } from "./view";

/** The value of one line at the cursor. */
export interface Value {
  readonly line: number;
  readonly name: string;
  readonly words: string;
  /** Where it is, in the units of the data. */
  readonly at: Span;
}

export interface Reading {
  /** x at the cursor. */
  readonly x: number;
  readonly words: string;
  readonly values: readonly Value[];
  /** Which point of its line it is, where a figure is read point by point. */
  readonly point?: number;
}

function nameOf(figure: Figure, line: Curve): string {
  return line.name === "" ? figure.y.label : line.name;
}

/** The values of all lines that are on, at `x`. */
export function readAt(figure: Figure, choice: Choice, x: number): Reading {
  const values = figure.lines.flatMap((line, i): Value[] => {
    if (choice.off.has(i)) return [];
    return line.y.length > 0 ? pointAt(figure, choice, line, i, x) : bandAt(figure, line, i, x);
  });
  const label = figure.x.label === "" ? "x" : figure.x.label;
  return { x, words: `${label} ${quantity(x, figure.x.unit)}`, values };
}

function pointAt(figure: Figure, choice: Choice, line: Curve, number: number, x: number): Value[] {
  const at = sampleAt(line, x);
  const [px, py] = [line.x[at], line.y[at]];
  if (px === undefined || py === undefined || Number.isNaN(py)) return [];
  let words = quantity(py, figure.y.unit);
  const band = choice.ranges && line.range !== null ? line.range : line.band;
  if (band?.x[at] === px) {
    const limits = [band.low[at], band.high[at]].map((v) => quantity(v ?? Number.NaN, figure.y.unit));
    // Limits without room between them say nothing, as in the tables.
    if (!Number.isNaN(band.low[at]) && limits[0] !== limits[1]) words += ` (${limits.join(" to ")})`;
  }
  return [{ line: number, name: nameOf(figure, line), words, at: [px, py] }];
}

/** Of a line that is a band only: its height where bands lie on each other, else its limits. */
function bandAt(figure: Figure, line: Curve, number: number, x: number): Value[] {
  const band = line.band;
  if (band === null) return [];
  const at = sampleAt({ ...line, x: band.x }, x);
  const [px, low, high] = [band.x[at], band.low[at], band.high[at]];
  if (px === undefined || low === undefined || high === undefined || Number.isNaN(low)) return [];
  const unit = figure.y.unit;
  const words = figure.stacked ? quantity(high - low, unit) : `${quantity(low, unit)} to ${quantity(high, unit)}`;
  return [{ line: number, name: nameOf(figure, line), words, at: [px, high] }];
}

/** A point of a figure whose lines have several values at an x. */
export interface Point {
  readonly line: number;
  readonly at: number;
}

/** The points of the lines that are on, in their order. Of an ellipse there is one to read, its mean. */
export function pointsOf(figure: Figure, { off }: Choice): Point[] {
  return figure.lines.flatMap((line, number): Point[] => {
    if (off.has(number)) return [];
    if (line.spread !== null) return [{ line: number, at: 0 }];
    const finite = (i: number) => Number.isFinite(line.x[i]) && Number.isFinite(line.y[i]);
    return Array.from(line.x.keys())
      .filter(finite)
      .map((at) => ({ line: number, at }));
  });
}

/** The values of a point. */
export function readPoint(figure: Figure, { line: number, at }: Point): Reading | null {
  const line = figure.lines[number];
  if (line === undefined) return null;
  const { spread } = line;
  const [x, y]: Span = spread?.mean ?? [line.x[at] as number, line.y[at] as number];
  const deviation = (i: 0 | 1, unit: string) =>
    spread === null ? "" : `, standard deviation ${quantity(spread.deviation[i], unit)}`;
  const label = spread === null ? figure.x.label : `${figure.x.label}, mean`;
  const words = `${label} ${tickOf(figure, x)}${deviation(0, figure.x.unit)}`.trim();
  const said = `${spread === null ? "" : "mean "}${quantity(y, figure.y.unit)}${deviation(1, figure.y.unit)}`;
  return { x, words, values: [{ line: number, name: nameOf(figure, line), words: said, at: [x, y] }], point: at };
}

/** The point nearest to a pixel, of a figure whose lines have several values at an x. */
export function readNear(figure: Figure, choice: Choice, x: Side, y: Side, [px, py]: Span): Reading | null {
  let best: { line: number; at: number; distance: number } | null = null;
  figure.lines.forEach((line, number) => {
    if (choice.off.has(number)) return;
    const look = (at: number, to: Span) => {
      const distance = Math.hypot(place(x.ruler, to[0]) - px, place(y.ruler, to[1]) - py);
      if (distance < (best?.distance ?? 40)) best = { line: number, at, distance };
    };
    for (let i = 0; i < line.x.length; i++) look(i, [line.x[i] as number, line.y[i] as number]);
    if (line.spread !== null) look(0, line.spread.mean);
  });
  return best === null ? null : readPoint(figure, best);
}

/** x in words: the name of its tick where it has one. */
function tickOf(figure: Figure, x: number): string {
  const named = figure.x.ticks.find((tick) => tick.at === x && tick.label !== null);
  return named?.label ?? quantity(x, figure.x.unit);
}

/** The next place to read from `x`, so many steps on: samples where few are in view, else hundredths of the view. */
export function next(figure: Figure, choice: Choice, span: Span, x: number | null, steps: number): number {
  if (x === null) return steps > 0 ? span[0] : span[1];
  const line = figure.lines.find((l, i) => !choice.off.has(i) && (l.x.length > 0 || l.band !== null));
  const places = line === undefined ? undefined : line.x.length > 0 ? line.x : line.band?.x;
  const clamp = (value: number) => Math.min(Math.max(value, span[0]), span[1]);
  if (places !== undefined && isFunction(figure)) {
    const inside = places.filter((value) => value >= span[0] && value <= span[1]);
    const here = inside.findIndex((value) => value >= x);
    if (inside.length <= 100 && inside.length > 0) {
      const now = here < 0 ? inside.length - 1 : here;
      return inside[Math.min(Math.max(now + steps, 0), inside.length - 1)] ?? x;
    }
  }
  if (choice.xLog) return clamp(x * (span[1] / span[0]) ** (steps / 100));
  return clamp(x + ((span[1] - span[0]) * steps) / 100);
}
