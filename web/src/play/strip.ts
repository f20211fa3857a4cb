// The numbers on top: what the run measured, and what the theory says of the same scenario.

import { element } from "../element";
import { quantity } from "../number";
import type { Margins, Shown } from "./core";

type Fact = readonly [name: string, value: string, tone?: "good" | "bad"];

function percent(share: number): string {
  return `${(100 * share).toPrecision(3)} %`;
}

/** The link that is used most, and what was measured there. */
function ofRun(shown: Shown): Fact[] {
  const links = Object.entries(shown.summary?.links ?? {});
  const [busiest] = links.sort(([, a], [, b]) => b.utilization - a.utilization);
  const facts: Fact[] = [];
  if (busiest !== undefined) {
    const [, link] = busiest;
    facts.push(["Utilization", percent(link.utilization)]);
    facts.push(["Queueing delay", quantity(link.queueing_delay_mean_s, "s", 3)]);
    facts.push(["99th percentile", quantity(link.queueing_delay_p99_s, "s", 3)]);
    // How much the queue swings, against its mean: a loop that oscillates has much.
    const { queue_sd_packets: deviation, queue_mean_packets: mean } = link;
    if (mean > 0) facts.push(["Queue, deviation over mean", percent(deviation / mean)]);
  }
  const jain = shown.summary?.fairness?.jain;
  if (jain !== undefined) facts.push(["Jain\u2019s index", jain.toPrecision(3)]);
  return facts;
}

function ofTheory(margins: Margins): Fact[] {
  const facts: Fact[] = [];
  if (margins.verdict === "stable") facts.push(["Theory", "stable", "good"]);
  else if (margins.verdict === "unstable") facts.push(["Theory", "unstable", "bad"]);
  else facts.push(["Theory", margins.verdict]);
  if (margins.gain !== null) facts.push(["Gain margin", `\u00d7 ${margins.gain.toPrecision(3)}`]);
  if (margins.phaseDeg !== null) facts.push(["Phase margin", `${margins.phaseDeg.toPrecision(3)}\u00b0`]);
  if (margins.delayS !== null) facts.push(["Delay margin", quantity(margins.delayS, "s", 3)]);
  return facts;
}

function fill(place: HTMLElement, facts: readonly Fact[]): void {
  place.replaceChildren(
    ...facts.map(([name, value, tone]) =>
      element("div", {}, element("dt", {}, name), element("dd", tone === undefined ? {} : { class: tone }, value)),
    ),
  );
}

export function showRun(place: HTMLElement, shown: Shown): void {
  fill(place, ofRun(shown));
}

export function showTheory(place: HTMLElement, margins: Margins | undefined): void {
  fill(place, margins === undefined ? [] : ofTheory(margins));
}
