// Which numbers of a run and of an analysis the page shows.

import { short } from "../number";
import type { LinkNumbers, Margins, Summary } from "./core";
import { parts } from "./schema";

/** The most links with a row of numbers. */
const MOST_LINKS = 4;
/** A link whose mean queueing delay is a smaller share of the longest one has no row: acknowledgements hardly wait. */
const LEAST_SHARE = 1e-4;
/** A smaller share than this is written as one below it. */
const LEAST_PERCENT = 0.001;

export type Measured = readonly [name: string, link: LinkNumbers];

/** The link that is used most; of two alike the first. */
export function busiest(summary: Summary | undefined): Measured | undefined {
  return Object.entries(summary?.links ?? {}).sort(([, a], [, b]) => b.utilization - a.utilization)[0];
}

/**
 * The links that have a row: the busiest one, and those where packets wait, the longest mean delays first to get a row. They stand in
 * the order of the scenario, which does not change while a slider moves.
 */
export function shownLinks(summary: Summary | undefined): { readonly shown: Measured[]; readonly others: number } {
  const all = Object.entries(summary?.links ?? {});
  const delay = ([, link]: Measured) => link.queueing_delay_mean_s ?? 0;
  const longest = Math.max(0, ...all.map(delay));
  const first = busiest(summary)?.[0];
  const waiting = all.filter((each) => each[0] !== first && delay(each) > 0 && delay(each) >= LEAST_SHARE * longest);
  const chosen = new Set(
    waiting
      .sort((a, b) => delay(b) - delay(a))
      .slice(0, MOST_LINKS - 1)
      .map(([name]) => name),
  );
  const shown = all.filter(([name]) => name === first || chosen.has(name));
  return { shown, others: all.length - shown.length };
}

/** The link that a key is of, if the run has it. */
export function linkOf(key: string, summary: Summary | undefined): string | undefined {
  const [table, name] = parts(key);
  return table === "links" && name !== undefined && summary?.links[name] !== undefined ? name : undefined;
}

/** The standard deviation of a queue over its mean; null where nothing waited. */
export function deviation({ queue_sd_packets: deviation, queue_mean_packets: mean }: LinkNumbers): number | null {
  return mean > 0 ? deviation / mean : null;
}

/** A share in percent. */
export function percent(share: number): string {
  const size = Math.abs(100 * share);
  return size > 0 && size < LEAST_PERCENT ? `below ${LEAST_PERCENT} %` : `${short(100 * share, 3)} %`;
}

/**
 * The margins that say how far a loop is from the limit of stability. Of a stable loop all do. Of an unstable one the gain below
 * one and the phase below zero do: a loop that is unstable by itself may have others, and these are no margins. An undecided loop
 * has none.
 */
export function margins({ verdict, gain, phaseDeg, delayS }: Margins): Pick<Margins, "gain" | "phaseDeg" | "delayS"> {
  if (verdict === "stable") return { gain, phaseDeg, delayS };
  const unstable = verdict === "unstable";
  return {
    gain: unstable && gain !== null && gain <= 1 ? gain : null,
    phaseDeg: unstable && phaseDeg !== null && phaseDeg <= 0 ? phaseDeg : null,
    delayS: null,
  };
}
