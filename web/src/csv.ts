// The data behind a figure as CSV (RFC 4180).

import type { Curve, Figure } from "./data";

/** A table where all lines have the same x, else a row for each point; of ellipses what they show, and not their outlines. */
export function csv(figure: Figure): string {
  const spread = figure.lines.length > 0 && figure.lines.every((line) => line.spread !== null);
  const rows = spread ? spreads(figure) : shared(figure.lines) ? wide(figure) : long(figure);
  return `${rows.map((row) => row.map(field).join(",")).join("\r\n")}\r\n`;
}

/** The most characters of a name, as in `crates/report/src/distinct.rs`, which keeps the titles of a page apart by it. */
const MOST = 60;

/** The name of the file; of a long title its start and its end, where titles differ. */
export function fileName(title: string): string {
  const name = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  const short = name.length > MOST ? `${name.slice(0, MOST / 2)}-${name.slice(1 + MOST / 2 - MOST)}` : name;
  return `${short || "figure"}.csv`;
}

type Field = string | number;

function wide(figure: Figure): Field[][] {
  const [first] = figure.lines;
  const x = first === undefined ? new Float64Array() : axisOf(first);
  const heads: Field[] = [named(figure.x)];
  const columns: Float64Array[] = [x];
  for (const line of figure.lines) {
    const name = `${line.name === "" ? figure.y.label : line.name}${unit(figure.y)}`;
    if (line.y.length > 0) {
      heads.push(name);
      columns.push(line.y);
    }
    for (const [what, band] of [
      ["band", line.band],
      ["range", line.range],
    ] as const) {
      if (band === null) continue;
      if (figure.stacked && line.y.length === 0) {
        heads.push(name);
        columns.push(band.high.map((high, i) => high - (band.low[i] ?? 0)));
        continue;
      }
      heads.push(`${name} ${what} low`, `${name} ${what} high`);
      columns.push(band.low, band.high);
    }
  }
  const row = (at: number) => columns.slice(1).map((values) => values[at] ?? Number.NaN);
  return [heads, ...Array.from(x, (value, at) => [across(figure, value), ...row(at)])];
}

function spreads(figure: Figure): Field[][] {
  const axes = [figure.x, figure.y];
  const heads = axes.flatMap((axis) => {
    const of = (what: string) => `${axis.label}, ${what}`;
    return [`${of("mean")}${unit(axis)}`, `${of("standard deviation")}${unit(axis)}`, of("samples")];
  });
  const row = ({ name, spread }: Curve): Field[] => {
    if (spread === null) return [];
    const { mean, deviation, samples, correlation } = spread;
    return [
      name,
      ...[0, 1].flatMap((i) => [mean[i], deviation[i], samples[i]].map((v) => v ?? Number.NaN)),
      correlation,
    ];
  };
  return [["series", ...heads, "correlation"], ...figure.lines.map(row)];
}

function long(figure: Figure): Field[][] {
  const rows: Field[][] = [["series", named(figure.x), named(figure.y), "low", "high"]];
  for (const line of figure.lines) {
    const band = line.band;
    const same = band !== null && equal(band.x, line.x);
    line.x.forEach((x, i) => {
      const [low, high] = same ? [band.low[i], band.high[i]] : [Number.NaN, Number.NaN];
      rows.push([line.name, across(figure, x), line.y[i] ?? Number.NaN, low ?? Number.NaN, high ?? Number.NaN]);
    });
    if (band !== null && !same) {
      band.x.forEach((x, i) => {
        const limits = [band.low[i] ?? Number.NaN, band.high[i] ?? Number.NaN];
        rows.push([line.name, across(figure, x), Number.NaN, ...limits]);
      });
    }
  }
  return rows;
}

/** A place along x: its name where it has one, since the places of names are mere numbers. */
function across(figure: Figure, x: number): Field {
  return figure.x.ticks.find((tick) => tick.at === x && tick.label !== null)?.label ?? x;
}

/** Where the values of a line are: those of its band where it has no points. */
function axisOf(line: Curve): Float64Array {
  return line.x.length > 0 ? line.x : (line.band?.x ?? line.x);
}

function equal(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((value, i) => Object.is(value, b[i]));
}

function shared(lines: readonly Curve[]): boolean {
  const [first] = lines;
  if (first === undefined) return true;
  const x = axisOf(first);
  const same = (other: Float64Array) => equal(other, x);
  const bands = (line: Curve) => [line.band, line.range].every((band) => band === null || same(band.x));
  return lines.every((line) => same(axisOf(line)) && bands(line));
}

function unit(axis: { readonly unit: string }): string {
  return axis.unit === "" ? "" : ` [${axis.unit}]`;
}

function named(axis: { readonly label: string; readonly unit: string }): string {
  return `${axis.label}${unit(axis)}`;
}

function field(value: Field): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  // A spreadsheet takes a name that begins so for a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
