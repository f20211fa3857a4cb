// Guided lessons: a scenario, a few sentences, and what to try.

import { element } from "../element";

export interface Slid {
  readonly key: string;
  /** Keys that the slider multiplies by the same factor. */
  readonly with?: readonly string[];
  /** In the unit that the scenario writes. */
  readonly range?: readonly [number, number];
}

export interface Lesson {
  readonly id: string;
  readonly title: string;
  readonly text: readonly string[];
  readonly try: readonly string[];
  readonly sliders: readonly Slid[];
  /** Titles of the figures on top: of the run, then of the theory. */
  readonly figures: readonly string[];
  readonly world?: "packets" | "fluid";
  readonly scenario: string;
}

export function showLesson(place: HTMLElement, lesson: Lesson | null): void {
  place.hidden = lesson === null;
  if (lesson === null) return;
  place.replaceChildren(
    element("h2", {}, lesson.title),
    ...lesson.text.map((paragraph) => element("p", {}, paragraph)),
    element("p", {}, element("b", {}, "Try")),
    element("ul", {}, ...lesson.try.map((each) => element("li", {}, each))),
  );
}
