// What a slider has moved: the margin of the theory and the deviation of the measured queue over its mean, at each value that was tried.

import type { Curve, Figure } from "../data";
import { element } from "../element";
import { Link } from "../link";
import { Plot } from "../plot";
import { theme } from "../theme";
import type { Margins, Summary } from "./core";

interface Tried {
  margin: number | null;
  deviation: number | null;
}

/** Fewer values are no line. */
const FEW = 3;
const LIGHT = "#0b6e99";
const DARK = "#5fb4de";

export class Trail {
  readonly #place: HTMLElement;
  #key = "";
  #unit = "";
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
    this.#plots = [];
    this.#link = new Link();
    this.#place.replaceChildren();
    this.#place.hidden = true;
  }

  ran(value: number, summary: Summary | undefined): void {
    const links = Object.values(summary?.links ?? {}).sort((a, b) => b.utilization - a.utilization);
    const [busiest] = links;
    if (busiest === undefined || !(busiest.queue_mean_packets > 0)) return;
    this.#at(value).deviation = busiest.queue_sd_packets / busiest.queue_mean_packets;
    this.#draw();
  }

  analysed(value: number, margins: Margins | undefined): void {
    this.#at(value).margin = margins?.gain ?? null;
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
      ["deviation", "Queue, deviation over mean, measured", "Deviation over mean"],
      ["margin", "Gain margin of the analysis", "Gain margin"],
    ] as const) {
      const points = [...this.#tried]
        .flatMap(([x, tried]): (readonly [number, number])[] => (tried[of] === null ? [] : [[x, tried[of]]]))
        .sort(([a], [b]) => a - b);
      if (points.length < FEW) continue;
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
