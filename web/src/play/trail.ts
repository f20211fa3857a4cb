// What a slider has moved, at each value that was tried: the margin of the theory, and the deviation of a queue over its mean.

import type { Curve, Figure } from "../data";
import { element } from "../element";
import { Link } from "../link";
import { Plot } from "../plot";
import { theme } from "../theme";
import type { Margins, Summary } from "./core";
import { busiest, deviation, linkOf, margins as meaningful } from "./measured";

export interface Tried {
  margin: number | null;
  deviation: number | null;
}

/** Values and what there is at each, in their order: a value without it is a gap in the line. */
export function pointsOf(tried: ReadonlyMap<number, Tried>, of: keyof Tried): (readonly [number, number])[] {
  return [...tried].map(([x, at]) => [x, at[of] ?? Number.NaN] as const).sort(([a], [b]) => a - b);
}

/** Fewer values are no line. */
const FEW = 3;
const LIGHT = "#0b6e99";
const DARK = "#5fb4de";

export class Trail {
  readonly #place: HTMLElement;
  #key = "";
  #unit = "";
  /** The link whose queue is drawn: that of the key, or the busiest one at the first value. */
  #queue: string | undefined;
  #link = new Link();
  #tried = new Map<number, Tried>();
  #plots: { readonly host: HTMLElement; readonly plot: Plot; readonly of: keyof Tried }[] = [];

  constructor(place: HTMLElement) {
    this.#place = place;
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => {
      for (const { plot } of this.#plots) plot.theme = theme(dark.matches);
    });
  }

  /** From now on values of this key are tried. */
  follow(key: string, unit: string): void {
    if (key === this.#key) return;
    this.#key = key;
    this.#unit = unit;
    this.forget();
  }

  /** Another number changed: what was tried before is of another scenario. */
  forget(): void {
    this.#tried.clear();
    this.#queue = undefined;
    this.#plots = [];
    this.#link = new Link();
    this.#place.replaceChildren();
    this.#place.hidden = true;
  }

  ran(value: number, summary: Summary | undefined): void {
    this.#queue ??= linkOf(this.#key, summary) ?? busiest(summary)?.[0];
    const link = this.#queue === undefined ? undefined : summary?.links[this.#queue];
    this.#at(value).deviation = link === undefined ? null : deviation(link);
    this.#draw();
  }

  analysed(value: number, margins: Margins | undefined): void {
    this.#at(value).margin = margins === undefined ? null : meaningful(margins).gain;
    this.#draw();
  }

  #at(value: number): Tried {
    let tried = this.#tried.get(value);
    if (tried === undefined) {
      tried = { margin: null, deviation: null };
      this.#tried.set(value, tried);
    }
    return tried;
  }

  #draw(): void {
    for (const [of, title, label] of [
      ["deviation", `Queue, deviation over mean, measured at ${this.#queue}`, "Deviation over mean"],
      ["margin", "Gain margin of the analysis", "Gain margin"],
    ] as const) {
      const points = pointsOf(this.#tried, of);
      if (points.filter(([, y]) => !Number.isNaN(y)).length < FEW) continue;
      const figure = this.#figure(title, label, points, of === "margin");
      const drawn = this.#plots.find((plot) => plot.of === of);
      if (drawn !== undefined) {
        drawn.plot.figure = figure;
        continue;
      }
      const host = element("figure", {});
      const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
      const plot = new Plot(host, figure, this.#link, theme(dark));
      this.#plots.push({ host, plot, of });
      this.#place.append(host);
      this.#place.hidden = false;
      plot.visible = true;
    }
  }

  #figure(title: string, label: string, points: readonly (readonly [number, number])[], margin: boolean): Figure {
    const line: Curve = {
      name: "",
      colour: LIGHT,
      dark: DARK,
      style: "solid",
      hollow: false,
      x: Float64Array.from(points, ([x]) => x),
      y: Float64Array.from(points, ([, y]) => y),
      band: null,
      range: null,
      spread: null,
      rising: true,
    };
    return {
      title,
      x: { label: this.#key, unit: this.#unit === "1" ? "" : this.#unit, scale: "linear", range: null, ticks: [] },
      y: { label, unit: "", scale: "linear", range: null, ticks: [] },
      lines: [line],
      marks: margin ? [{ kind: "horizontal", at: 1, label: "stable above" }] : [],
      equalAspect: false,
      stacked: false,
      warmUp: null,
    };
  }
}
