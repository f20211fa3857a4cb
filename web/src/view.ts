// What a figure shows: the limits of its axes, their ticks, and from data to pixels.

import { bisectLeft, bisectRight, ticks } from "d3-array";
import { scaleLinear, scaleLog } from "d3-scale";

import type { Axis, Curve, Figure } from "./data";
import { labelled, labelledApart } from "./number";
import { extent, place, type Ruler } from "./thin";

export type Span = readonly [number, number];

/** What a reader chose. */
export interface Choice {
  /** What is shown of x; null is everything. */
  x: Span | null;
  /** The same of y, for figures without a value for each x; null fits the data. */
  y: Span | null;
  xLog: boolean;
  yLog: boolean;
  /** Whether least and greatest values are shown. */
  ranges: boolean;
  /** Lines that are off. */
  readonly off: Set<number>;
}

export interface Tick {
  readonly at: number;
  /** As it is drawn; a name may have several lines. */
  readonly label: string;
  /** Whether the label is a name. */
  readonly named: boolean;
}

/** An axis as it is drawn. */
export interface Side {
  readonly span: Span;
  readonly log: boolean;
  readonly ruler: Ruler;
  readonly ticks: readonly Tick[];
  readonly title: string;
  /** The part of the title behind the label: the unit, and where the axis starts. */
  readonly ending: string;
  /** The value at a pixel. */
  readonly invert: (pixel: number) => number;
}

/** Lines with at most so many points have a marker at each. */
export const SPARSE = 24;

/** Whether every line has one value at each x. */
export function isFunction(figure: Figure): boolean {
  const one = (line: Curve) => line.rising && line.style !== "points" && line.spread === null;
  return !figure.equalAspect && figure.lines.every(one);
}

/** A stack of the lines that are on: each lies on those below it that are on too. */
export function restacked(figure: Figure, off: ReadonlySet<number>): Figure {
  if (!figure.stacked || off.size === 0) return figure;
  const tops = new Map<number, number>();
  const lines = figure.lines.map((line, i) => {
    const { band } = line;
    if (band === null || off.has(i)) return line;
    const low = band.low.map((_, at) => tops.get(band.x[at] as number) ?? 0);
    const high = low.map((below, at) => below + (band.high[at] as number) - (band.low[at] as number));
    band.x.forEach((x, at) => tops.set(x, high[at] as number));
    return { ...line, band: { x: band.x, low, high } };
  });
  return { ...figure, lines };
}

/** A span moved by so many pixels, as far as there is anything. */
export function moved(span: Span, x: Side, pixels: number, whole: Span): Span {
  const [a, b] = [place(x.ruler, span[0]), place(x.ruler, span[1])];
  const [first, last] = [place(x.ruler, whole[0]), place(x.ruler, whole[1])];
  const by = Math.min(Math.max(pixels, Math.min(first - a, 0)), Math.max(last - b, 0));
  // The ends themselves, without an error of rounding.
  return [by === first - a ? whole[0] : x.invert(a + by), by === last - b ? whole[1] : x.invert(b + by)];
}

export function isSparse(line: Curve): boolean {
  return line.style !== "steps" && line.y.length > 0 && line.y.length <= SPARSE;
}

/** The bands of a line that are shown. */
export function bandsOf(line: Curve, ranges: boolean) {
  return [ranges ? line.range : null, line.band].filter((band) => band !== null);
}

function shown(figure: Figure, choice: Choice): Curve[] {
  const on = figure.lines.filter((_, i) => !choice.off.has(i));
  // With all lines off the axes stay as they are.
  return on.length > 0 ? on : [...figure.lines];
}

/** The places of the points of `x`, which never falls, within a span, and one more on either side. */
export function within(x: Float64Array, [low, high]: Span): [number, number] {
  return [Math.max(bisectLeft(x, low) - 1, 0), Math.min(bisectRight(x, high) + 1, x.length)];
}

/** Everything that x has. */
export function wholeX(figure: Figure, choice: Choice): Span {
  const { range } = figure.x;
  if (range !== null && differ(...range)) return range;
  const lines = shown(figure, choice);
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const take = ([a, b]: Span) => {
    low = Math.min(low, a);
    high = Math.max(high, b);
  };
  for (const line of lines) {
    take(extent(line.x, 0, line.x.length, choice.xLog));
    for (const band of bandsOf(line, choice.ranges)) take(extent(band.x, 0, band.x.length, choice.xLog));
  }
  for (const mark of figure.marks) {
    const at = mark.kind === "vertical" ? mark.at : mark.kind === "point" ? mark.x : Number.NaN;
    if (Number.isFinite(at) && (!choice.xLog || at > 0)) take([at, at]);
  }
  const airy = figure.equalAspect || lines.every((line) => line.y.length <= SPARSE && line.style !== "steps");
  if (airy && lines.some((line) => line.y.length > 0)) return roomy([low, high], choice.xLog, false);
  if (!choice.xLog && low > 0 && low < 0.05 * high) low = 0;
  return apart([low, high], choice.xLog);
}

/** What y has within a span of x. */
export function wholeY(figure: Figure, choice: Choice, x: Span): Span {
  const { range } = figure.y;
  if (range !== null && differ(...range) && choice.yLog === (figure.y.scale === "log")) return range;
  const log = choice.yLog;
  const [before, after] = parts(figure, choice, x);
  const values: Span[] = [];
  const all = (part: Span) => {
    // The end of the warm-up is no end of the view.
    const view = part.filter((end) => x.includes(end));
    for (const line of shown(figure, choice)) values.push(...extents(line, choice, part, log, view));
  };
  all(after);
  let fitted = union(values);
  if (before !== null) {
    // The warm-up does not set the scale alone: what is far beyond the values after it is cut off.
    const room = 0.5 * (Math.max(fitted[1], 0) - Math.min(fitted[0], 0));
    const inside: Span = [fitted[0] - room, fitted[1] + room];
    const known = room > 0 && Number.isFinite(room) && !log;
    values.length = 0;
    all(before);
    const early = union(values);
    fitted = known
      ? union([fitted, [Math.max(early[0], inside[0]), Math.min(early[1], inside[1])]])
      : union([fitted, early]);
  }
  for (const mark of figure.marks) {
    const at = mark.kind === "horizontal" ? mark.at : mark.kind === "point" ? mark.y : Number.NaN;
    if (Number.isFinite(at) && (!log || at > 0)) fitted = union([fitted, [at, at]]);
  }
  return roomy(fitted, log, !figure.equalAspect);
}

/** A span before the end of the warm-up, if some of x is, and what is after it. */
function parts(figure: Figure, choice: Choice, x: Span): [Span | null, Span] {
  const end = figure.warmUp;
  if (end === null || choice.yLog || end <= x[0] || end >= x[1]) return [null, x];
  return [
    [x[0], end],
    [end, x[1]],
  ];
}

/** What a line has in a part of the view. */
function extents(line: Curve, choice: Choice, x: Span, log: boolean, view: readonly number[]): Span[] {
  const inside = (values: Float64Array): [number, number] => {
    // Without neighbours outside, which may be far away.
    return line.rising ? [bisectLeft(values, x[0]), bisectRight(values, x[1])] : [0, values.length];
  };
  const found: Span[] = [extent(line.y, ...inside(line.x), log)];
  // What a line has where it enters and leaves the view: between two samples there is nothing else of it.
  const enters = (places: Float64Array, values: Float64Array) => {
    if (!line.rising || line.style === "points") return;
    for (const end of view) {
      const value = between(places, values, end, choice, line.style === "steps");
      if (Number.isFinite(value) && (!log || value > 0)) found.push([value, value]);
    }
  };
  enters(line.x, line.y);
  for (const band of bandsOf(line, choice.ranges)) {
    found.push(extent(band.low, ...inside(band.x), log), extent(band.high, ...inside(band.x), log));
    enters(band.x, band.low);
    enters(band.x, band.high);
  }
  return found;
}

/** The height of a line between two of its samples as it is drawn there; NaN elsewhere. */
function between(x: Float64Array, y: Float64Array, at: number, { xLog, yLog }: Choice, steps: boolean): number {
  const after = bisectLeft(x, at);
  const [x0, x1, y0, y1] = [x[after - 1], x[after], y[after - 1], y[after]].map((v) => v ?? Number.NaN) as [
    number,
    number,
    number,
    number,
  ];
  if (!(x0 < at && at < x1)) return Number.NaN;
  if (steps) return y0;
  const share = xLog ? Math.log(at / x0) / Math.log(x1 / x0) : (at - x0) / (x1 - x0);
  return yLog ? y0 * (y1 / y0) ** share : y0 + (y1 - y0) * share;
}

function union(spans: readonly Span[]): Span {
  return [Math.min(...spans.map((s) => s[0])), Math.max(...spans.map((s) => s[1]))];
}

/** A span with room at its ends, from zero where the values are not far from it. */
function roomy([low, high]: Span, log: boolean, zero: boolean): Span {
  // Values that differ by rounding alone are one value.
  if (low > high || !differ(low, high)) return apart([low, high], log);
  if (log) {
    const room = Math.min((high / low) ** 0.04, 1e9);
    return [low / room, high * room];
  }
  const room = 0.05 * (high - low);
  if (zero && low >= 0 && low < 0.5 * high) return [0, high + 0.05 * high];
  if (zero && high <= 0 && high > 0.5 * low) return [low + 0.05 * low, 0];
  return [low - room, high + room];
}

function differ(low: number, high: number): boolean {
  return high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high));
}

/** A span that is longer than nothing. */
function apart([low, high]: Span, log: boolean): Span {
  if (low > high) return log ? [1, 10] : [0, 1];
  if (differ(low, high)) return [low, high];
  if (log) return [low / 2, low * 2];
  if (low === 0) return [0, 1];
  return low > 0 ? [0, 1.2 * low] : [1.2 * low, 0];
}

/** An axis from one pixel to another. One that one takes to start at zero says so if it does not. */
export function side(axis: Axis, span: Span, log: boolean, pixels: Span, wanted: number, from0 = false): Side {
  const scale = log ? scaleLog().domain(span).range(pixels) : scaleLinear().domain(span).range(pixels);
  const [a, b] = log ? [Math.log(span[0]), Math.log(span[1])] : span;
  const factor = (pixels[1] - pixels[0]) / (b - a);
  const marks = ticksOf(axis, span, log, wanted);
  const unit = marks.unit === "" ? "" : `${axis.label === "" ? "" : " "}[${marks.unit}]`;
  const ending = unit + (log ? ", logarithmic" : from0 && span[0] > 0 ? ", not from 0" : "");
  return {
    span,
    log,
    ruler: { log, factor, offset: pixels[0] - factor * a },
    ticks: marks.ticks,
    title: axis.label + ending,
    ending,
    invert: (pixel) => scale.invert(pixel),
  };
}

function ticksOf(axis: Axis, [low, high]: Span, log: boolean, wanted: number): { ticks: Tick[]; unit: string } {
  const inside = (at: number) => at >= low - 1e-9 * (high - low) && at <= high + 1e-9 * (high - low);
  const given = axis.ticks.filter((tick) => inside(tick.at));
  if (given.length > 1 || axis.ticks.some((tick) => tick.label !== null)) {
    const { labels, unit } = labelledApart(
      axis.ticks.map((tick) => tick.at),
      axis.unit,
    );
    const named = axis.ticks.every((tick) => tick.label !== null);
    const label = (tick: (typeof given)[number]) => tick.label ?? labels[axis.ticks.indexOf(tick)] ?? "";
    return {
      ticks: given.map((tick) => ({ at: tick.at, label: label(tick), named: tick.label !== null })),
      unit: named ? "" : unit,
    };
  }
  const decades = log ? steps(low, high, wanted).filter(inside) : [];
  const values = decades.length >= 2 ? decades : ticks(low, high, wanted);
  const { labels, unit } = decades.length >= 2 ? labelledApart(values, axis.unit) : labelled(values, axis.unit);
  return { ticks: values.map((at, i) => ({ at, label: labels[i] ?? "", named: false })), unit };
}

/** Powers of ten, or their multiples by 1, 2 and 5 where there are few. */
function steps(low: number, high: number, wanted: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const decades = Math.log10(high / low);
  const stride = Math.max(1, Math.ceil(decades / Math.max(wanted, 2)));
  const multiples = decades < 2.9 ? [1, 2, 5] : [1];
  const found: number[] = [];
  for (let exponent = first; exponent <= last; exponent++) {
    // A power is written, not computed: 10 ** -3 is not 0.001.
    if (exponent % stride === 0) found.push(...multiples.map((multiple) => Number(`${multiple}e${exponent}`)));
  }
  return found;
}

/** Whether an axis can be logarithmic: a value above zero, and no names for ticks. */
export function canBeLog(figure: Figure, axis: "x" | "y"): boolean {
  if (figure.equalAspect || figure.stacked || figure[axis].ticks.some((tick) => tick.label !== null)) return false;
  if (axis === "y") return figure.lines.some((line) => extent(line.y, 0, line.y.length, true)[1] > 0);
  return figure.lines.some((line) => extent(line.x, 0, line.x.length, true)[1] > 0);
}
