// Draws a figure on a canvas.

import { bisectLeft } from "d3-array";

import type { Curve, Figure } from "./data";
import { rowsOf } from "./names";
import { envelope, place, thin } from "./thin";
import { bandsOf, type Choice, isSparse, type Side, SPARSE, type Span, within } from "./view";

/** Colours that depend on the theme. */
export interface Theme {
  readonly dark: boolean;
  readonly ink: string;
  readonly soft: string;
  readonly grid: string;
  readonly spine: string;
  readonly ground: string;
  readonly font: string;
}

/** Where the data are, in pixels. */
export interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A figure as it stands on the canvas. */
export interface Scene {
  readonly figure: Figure;
  readonly choice: Choice;
  readonly area: Area;
  readonly x: Side;
  readonly y: Side;
}

type Context = CanvasRenderingContext2D;

export const TICK_SIZE = 12;
/** The height of a line of labels along x. */
export const ROW = 14;
const LABEL_SIZE = 13;
const NOTE_SIZE = 11;
const BAND = 0.2;
const RANGE = 0.12;
const STACK = 0.75;
/** The title of y may be so much longer than its axis [pixels]. */
const BEYOND = 40;
/** Errors of rounding are below this [pixels]. */
const OFF = 0.5;
/** More markers than this are as good as a cloud. */
const MANY = 400;

export function colourOf(line: Curve, theme: Theme): string {
  return theme.dark ? line.dark : line.colour;
}

export function draw(context: Context, scene: Scene, theme: Theme): void {
  const { area, figure } = scene;
  frame(context, scene, theme);
  context.save();
  context.beginPath();
  context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
  context.clip();
  warmUp(context, scene, theme);
  const lines = figure.lines.map((line, i) => ({ line, i })).filter(({ i }) => !scene.choice.off.has(i));
  for (const { line } of lines) bands(context, scene, line, theme);
  for (const { line } of lines) if (line.style !== "points") stroke(context, scene, line, theme);
  for (const { line, i } of lines) if (line.style === "points" || isSparse(line)) dots(context, scene, line, i, theme);
  for (const { line } of lines) if (line.spread !== null) mean(context, scene, line, line.spread.mean, theme);
  context.restore();
  marks(context, scene, theme);
}

/** The middle of an ellipse. */
function mean(context: Context, { x, y }: Scene, line: Curve, at: Span, theme: Theme): void {
  context.fillStyle = colourOf(line, theme);
  marker(context, 0, [place(x.ruler, at[0]), place(y.ruler, at[1])], 4.4);
  context.fill();
}

function warmUp(context: Context, { figure, area, x }: Scene, theme: Theme): void {
  if (figure.warmUp === null) return;
  const end = place(x.ruler, figure.warmUp);
  if (!(end > area.left)) return;
  context.globalAlpha = 0.12;
  context.fillStyle = theme.soft;
  context.fillRect(area.left, area.top, Math.min(end, area.right) - area.left, area.bottom - area.top);
  context.globalAlpha = 1;
}

function frame(context: Context, { area, x, y }: Scene, theme: Theme): void {
  context.lineWidth = 1;
  context.strokeStyle = theme.grid;
  context.beginPath();
  for (const tick of x.ticks)
    line(context, [crisp(place(x.ruler, tick.at)), area.top], [crisp(place(x.ruler, tick.at)), area.bottom]);
  for (const tick of y.ticks)
    line(context, [area.left, crisp(place(y.ruler, tick.at))], [area.right, crisp(place(y.ruler, tick.at))]);
  context.stroke();
  context.strokeStyle = theme.spine;
  context.beginPath();
  line(context, [crisp(area.left), area.top], [crisp(area.left), area.bottom]);
  line(context, [area.left, crisp(area.bottom)], [area.right, crisp(area.bottom)]);
  context.stroke();

  context.fillStyle = theme.ink;
  context.font = `${TICK_SIZE}px ${theme.font}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const tick of y.ticks) context.fillText(tick.label, area.left - 7, place(y.ruler, tick.at));
  context.textAlign = "center";
  labels(context, area, x);
  context.font = `${LABEL_SIZE}px ${theme.font}`;
  context.fillText(x.title, (area.left + area.right) / 2, area.bottom + 34 + ROW * (rowsOf(x) - 1));
  context.save();
  const title = shortened(y, area.bottom - area.top + BEYOND, (text) => context.measureText(text).width);
  // One that is longer than the axis goes on below it: above, the canvas ends.
  const half = context.measureText(title).width / 2;
  context.translate(12, Math.max((area.top + area.bottom) / 2, half + 2));
  context.rotate(-Math.PI / 2);
  context.fillText(title, 0, 0);
  context.restore();
}

/** Labels along x that do not touch each other. */
function labels(context: Context, area: Area, x: Side): void {
  let taken = Number.NEGATIVE_INFINITY;
  for (const tick of x.ticks) {
    const at = place(x.ruler, tick.at);
    const lines = tick.label.split("\n");
    const half = Math.max(...lines.map((each) => context.measureText(each).width)) / 2;
    if (at - half < taken + 6) continue;
    taken = at + half;
    lines.forEach((each, row) => context.fillText(each, at, area.bottom + 14 + ROW * row));
  }
}

/** The title of an axis in so many pixels. Its unit stays, and that it does not start at zero. */
export function shortened({ title, ending }: Side, width: number, measure: (text: string) => number): string {
  if (measure(title) <= width) return title;
  let end = title.length - ending.length;
  const cut = () => `${title.slice(0, end).trimEnd()}\u2026${ending}`;
  while (end > 0 && measure(cut()) > width) end--;
  return cut();
}

function crisp(at: number): number {
  return Math.round(at) + 0.5;
}

function line(context: Context, from: Span, to: Span): void {
  context.moveTo(from[0], from[1]);
  context.lineTo(to[0], to[1]);
}

/** The places of a line's points that are in view. */
function visible(x: Float64Array, rising: boolean, span: Span): [number, number] {
  return rising ? within(x, span) : [0, x.length];
}

function bands(context: Context, scene: Scene, curve: Curve, theme: Theme): void {
  const { area, x, y, choice, figure } = scene;
  const width = area.right - area.left;
  context.fillStyle = context.strokeStyle = colourOf(curve, theme);
  for (const band of bandsOf(curve, choice.ranges)) {
    const span = visible(band.x, true, x.span);
    const alone = curve.y.length === 0;
    context.globalAlpha = figure.stacked && alone ? STACK : band === curve.band ? BAND : RANGE;
    if (curve.style === "points" || band.x.length === 1) {
      bars(context, scene, band, span);
      continue;
    }
    // On a logarithmic axis a band that reaches down to zero reaches the bottom.
    const lows = y.log ? band.low.map((value) => (value <= 0 ? y.span[0] : value)) : band.low;
    const low = thin(band.x, lows, ...span, x.ruler, y.ruler, width);
    const high = thin(band.x, band.high, ...span, x.ruler, y.ruler, width);
    // Pieces between gaps, there along the upper limit and back along the lower one.
    let from = { high: 0, low: 0 };
    const next = (values: number[], start: number) => {
      const end = values.findIndex((v, i) => i >= start && Number.isNaN(v));
      return end < 0 ? values.length : end;
    };
    while (from.high < high.x.length && from.low < low.x.length) {
      const end = { high: next(high.y, from.high), low: next(low.y, from.low) };
      context.beginPath();
      for (let i = from.high; i < end.high; i++) context.lineTo(high.x[i] as number, high.y[i] as number);
      for (let i = end.low - 1; i >= from.low; i--) context.lineTo(low.x[i] as number, low.y[i] as number);
      context.fill();
      from = { high: end.high + 1, low: end.low + 1 };
    }
  }
  context.globalAlpha = 1;
}

/** Intervals of single points. */
function bars(
  context: Context,
  { x, y }: Scene,
  band: { x: Float64Array; low: Float64Array; high: Float64Array },
  [from, to]: Span,
): void {
  context.globalAlpha = Math.min(1, 3 * context.globalAlpha);
  context.lineWidth = 1.5;
  context.beginPath();
  for (let i = from; i < to; i++) {
    const at = place(x.ruler, band.x[i] as number);
    const [low, high] = [place(y.ruler, band.low[i] as number), place(y.ruler, band.high[i] as number)];
    if (Number.isNaN(at) || Number.isNaN(low) || Number.isNaN(high)) continue;
    line(context, [at, low], [at, high]);
    for (const end of [low, high]) line(context, [at - 4, end], [at + 4, end]);
  }
  context.stroke();
}

function stroke(context: Context, { area, x, y, figure }: Scene, curve: Curve, theme: Theme): void {
  const [from, to] = visible(curve.x, curve.rising, x.span);
  // A curve that goes back and forth is drawn point by point.
  const width = curve.rising ? area.right - area.left : Number.POSITIVE_INFINITY;
  const thinned = thin(curve.x, curve.y, from, to, x.ruler, y.ruler, width);
  context.strokeStyle = context.fillStyle = colourOf(curve, theme);
  context.lineWidth = figure.lines.length > 6 ? 1.4 : 1.8;
  // Of more points than pixels a stroke covers a surface, which is filled in a fraction of the time.
  if (thinned.x.length > width && curve.style !== "dashed") {
    for (const piece of envelope(thinned, curve.style === "steps")) {
      context.beginPath();
      for (const [px, top] of piece) context.lineTo(px, top - context.lineWidth / 2);
      for (const [px, , bottom] of piece.reverse()) context.lineTo(px, bottom + context.lineWidth / 2);
      context.fill();
    }
    return;
  }
  context.lineJoin = "round";
  context.setLineDash(curve.style === "dashed" ? [7, 4] : []);
  context.beginPath();
  let [pen, before] = [false, 0];
  for (let i = 0; i < thinned.x.length; i++) {
    const [px, py] = [thinned.x[i] as number, thinned.y[i] as number];
    if (Number.isNaN(px) || Number.isNaN(py)) {
      pen = false;
      continue;
    }
    if (!pen) context.moveTo(px, py);
    else {
      if (curve.style === "steps") context.lineTo(px, before);
      context.lineTo(px, py);
    }
    [pen, before] = [true, py];
  }
  context.stroke();
  context.setLineDash([]);
}

function dots(context: Context, scene: Scene, curve: Curve, number: number, theme: Theme): void {
  const { x, y, area } = scene;
  const [from, to] = visible(curve.x, curve.rising, x.span);
  const count = to - from;
  const size = curve.style === "points" && count <= SPARSE ? 4.4 : count <= MANY ? 3.2 : 1.6;
  context.fillStyle = context.strokeStyle = colourOf(curve, theme);
  context.lineWidth = 1.5;
  context.globalAlpha = count > MANY ? 0.6 : 1;
  const seen = new Set<number>();
  for (let i = from; i < to; i++) {
    const [px, py] = [place(x.ruler, curve.x[i] as number), place(y.ruler, curve.y[i] as number)];
    const outside = px < area.left - 5 || px > area.right + 5 || py < area.top - 5 || py > area.bottom + 5;
    if (Number.isNaN(px) || Number.isNaN(py) || outside) continue;
    // One marker a pixel.
    const cell = Math.round(px) * 65536 + Math.round(py);
    if (seen.has(cell)) continue;
    seen.add(cell);
    marker(context, number, [px, py], size);
    if (curve.hollow) {
      context.save();
      context.fillStyle = theme.ground;
      context.fill();
      context.restore();
      context.stroke();
    } else context.fill();
  }
  context.globalAlpha = 1;
}

/** The outline of a line's marker: lines differ by shape as well as by colour. */
export function marker(context: Context, number: number, [x, y]: Span, size: number): void {
  context.beginPath();
  const corners = [0, 4, 3, 4][number % 4] ?? 0;
  if (corners === 0) {
    context.arc(x, y, size, 0, 2 * Math.PI);
    return;
  }
  const turn = number % 4 === 1 ? Math.PI / 4 : -Math.PI / 2;
  for (let i = 0; i < corners; i++) {
    const angle = turn + (2 * Math.PI * i) / corners;
    context.lineTo(x + 1.25 * size * Math.cos(angle), y + 1.25 * size * Math.sin(angle));
  }
  context.closePath();
}

/** Whether a mark is on the axes. At an end of one its place may be off by an error of rounding. */
export function isInside([x, y]: Span, { left, right, top, bottom }: Area): boolean {
  return x >= left - OFF && x <= right + OFF && y >= top - OFF && y <= bottom + OFF;
}

function marks(context: Context, { figure, area, x, y }: Scene, theme: Theme): void {
  context.font = `${NOTE_SIZE}px ${theme.font}`;
  context.strokeStyle = theme.ink;
  context.lineWidth = 1.2;
  const taken: Box[] = [];
  for (const mark of figure.marks) {
    const at: Span = [
      mark.kind === "horizontal"
        ? (area.left + area.right) / 2
        : place(x.ruler, mark.kind === "point" ? mark.x : mark.at),
      mark.kind === "vertical"
        ? (area.top + area.bottom) / 2
        : place(y.ruler, mark.kind === "point" ? mark.y : mark.at),
    ];
    if (!isInside(at, area)) continue;
    context.beginPath();
    if (mark.kind === "point") {
      context.arc(at[0], at[1], 4, 0, 2 * Math.PI);
      context.fillStyle = theme.ink;
      context.fill();
    } else {
      context.setLineDash(mark.label === "" ? [] : [5, 4]);
      if (mark.kind === "horizontal") line(context, [area.left, at[1]], [area.right, at[1]]);
      else line(context, [at[0], area.top], [at[0], area.bottom]);
      context.stroke();
      context.setLineDash([]);
    }
    label(context, mark.label, mark.kind, at, area, theme, taken);
  }
}

/** Where a label is: its left, its right and its middle. */
type Box = readonly [left: number, right: number, middle: number];

/** Writes a label beside its mark, below those that are there. */
function label(context: Context, text: string, kind: string, at: Span, area: Area, theme: Theme, taken: Box[]): void {
  if (text === "") return;
  const width = context.measureText(text).width;
  const right = kind === "horizontal" || at[0] + width + 8 > area.right;
  context.textAlign = right ? "right" : "left";
  context.textBaseline = "middle";
  const px = kind === "horizontal" ? area.right - 5 : right ? at[0] - 7 : at[0] + 7;
  const above = at[1] - 10 < area.top + 6 ? at[1] + 10 : at[1] - 10;
  let py = kind === "vertical" ? area.top + 9 : above;
  const [left, end] = right ? [px - width, px] : [px, px + width];
  const covers = ([a, b, middle]: Box) => left < b && a < end && Math.abs(middle - py) < NOTE_SIZE + 3;
  while (taken.some(covers) && py < area.bottom) py += NOTE_SIZE + 4;
  taken.push([left, end, py]);
  // A halo keeps the words apart from the lines.
  context.save();
  context.strokeStyle = theme.ground;
  context.lineWidth = 3;
  context.strokeText(text, px, py);
  context.restore();
  context.fillStyle = theme.ink;
  context.fillText(text, px, py);
}

/**
 * The place of the sample of a line at `x`, or nearest to it; for steps the one that holds there. Beyond its ends a line has no
 * value, but that a sample is one of the time before it or after it, as far as to its neighbour; the last step holds.
 */
export function sampleAt(curve: Curve, x: number): number {
  const after = bisectLeft(curve.x, x);
  const last = curve.x.length - 1;
  if (last < 0) return -1;
  const [first, second] = [curve.x[0] as number, curve.x[1] ?? Number.NaN];
  if (curve.style !== "steps") {
    const end = curve.x[last] as number;
    if (x < first && !(first - x <= second - first)) return -1;
    if (x > end && !(x - end <= end - (curve.x[last - 1] ?? Number.NaN))) return -1;
  }
  if (after > last) return last;
  if (curve.x[after] === x || after === 0) return curve.style === "steps" && curve.x[after] !== x ? -1 : after;
  if (curve.style === "steps") return after - 1;
  return x - (curve.x[after - 1] as number) < (curve.x[after] as number) - x ? after - 1 : after;
}
