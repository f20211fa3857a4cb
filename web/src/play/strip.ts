// The numbers on top: what the run measured at each link, and what the theory says of the same scenario.

import { element } from "../element";
import { quantity, short } from "../number";
import type { Margins, Shown } from "./core";
import { deviation, type Measured, margins as meaningful, percent, shownLinks } from "./measured";

type Fact = readonly [name: string, value: string, tone?: "good" | "bad" | "name"];

function ofLink([name, link]: Measured): Fact[] {
  const facts: Fact[] = [
    ["Link", name, "name"],
    ["Utilization", percent(link.utilization)],
  ];
  const { queueing_delay_mean_s: delay, queueing_delay_p99_s: p99 } = link;
  if (delay !== undefined) facts.push(["Queueing delay", quantity(delay, "s", 3)]);
  if (p99 !== undefined) facts.push(["99th percentile", quantity(p99, "s", 3)]);
  // How much the queue swings, against its mean: a loop that oscillates has much.
  const swing = deviation(link);
  if (swing !== null) facts.push(["Queue, deviation over mean", percent(swing)]);
  return facts;
}

/** A row for each link. What is not of a link follows a single one, and has a row of its own below several. */
function ofRun(shown: Shown): Fact[][] {
  const { shown: links, others } = shownLinks(shown.summary);
  const rest: Fact[] = [];
  if (others > 0) rest.push(["Other links", String(others)]);
  const jain = shown.summary?.fairness?.jain;
  if (jain !== undefined) rest.push(["Jain\u2019s index", jain.toPrecision(3)]);
  const rows = links.map(ofLink);
  return rows.length === 1 ? [[...rows.flat(), ...rest]] : [...rows, rest];
}

function ofTheory(margins: Margins): Fact[] {
  const facts: Fact[] = [];
  if (margins.verdict === "stable") facts.push(["Theory", "stable", "good"]);
  else if (margins.verdict === "unstable") facts.push(["Theory", "unstable", "bad"]);
  else facts.push(["Theory", margins.verdict]);
  const { gain, phaseDeg, delayS } = meaningful(margins);
  if (gain !== null) facts.push(["Gain margin", `\u00d7 ${short(gain, 3)}`]);
  if (phaseDeg !== null) facts.push(["Phase margin", `${short(phaseDeg, 3)}\u00b0`]);
  if (delayS !== null) facts.push(["Delay margin", quantity(delayS, "s", 3)]);
  return facts;
}

function fill(place: HTMLElement, rows: readonly (readonly Fact[])[]): void {
  place.replaceChildren(
    ...rows
      .filter((facts) => facts.length > 0)
      .map((facts) =>
        element(
          "dl",
          {},
          ...facts.map(([name, value, tone]) =>
            element(
              "div",
              {},
              element("dt", {}, name),
              element("dd", tone === undefined ? {} : { class: tone }, value),
            ),
          ),
        ),
      ),
  );
}

export function showRun(place: HTMLElement, shown: Shown): void {
  fill(place, ofRun(shown));
}

export function showTheory(place: HTMLElement, margins: Margins | undefined): void {
  fill(place, margins === undefined ? [] : [ofTheory(margins)]);
}
