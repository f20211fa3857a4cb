// Whether what is on the page is of a text that has changed since.

/** An answer that comes sooner replaces the last one without a word: a slider that is dragged would flicker [ms]. */
const SOON = 250;

export class Age {
  readonly #old: () => void;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `old` hears that an answer takes long, so that the one on the page is old. */
  constructor(old: () => void) {
    this.#old = old;
  }

  requested(): void {
    this.#waiting += 1;
    this.#timer ??= setTimeout(this.#old, SOON);
  }

  /** One request is over: with an answer that is on the page now, or because a newer one took its place. */
  answered(shown: boolean): void {
    this.#waiting -= 1;
    if (!shown && this.#waiting > 0) return;
    clearTimeout(this.#timer);
    this.#timer = this.#waiting > 0 ? setTimeout(this.#old, SOON) : undefined;
  }
}
