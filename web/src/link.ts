// Figures over the same x move together: what one shows, and where it is read, the others show and read too.

import type { Figure } from "./data";
import { isFunction, type Span } from "./view";

/** What hears of a change. */
export interface Linked {
  show(span: Span | null): void;
  read(at: number | null): void;
}

export class Link {
  readonly #members = new Set<Linked>();
  #span: Span | null = null;
  #pending = false;
  #cursor: { at: number | null; from: Linked | null } | null = null;
  #moved = false;

  /** A new member shows at once what the others show. */
  join(member: Linked): void {
    this.#members.add(member);
    if (this.#span !== null) member.show(this.#span);
  }

  leave(member: Linked): void {
    this.#members.delete(member);
  }

  /** What is shown, or will be in the next frame; null is everything. */
  get span(): Span | null {
    return this.#span;
  }

  show(span: Span | null): void {
    this.#span = span;
    this.#moved = true;
    this.#soon();
  }

  read(at: number | null, from: Linked): void {
    this.#cursor = { at, from };
    this.#soon();
  }

  /** However many changes there are, a frame has one. */
  #soon(): void {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      if (this.#moved) for (const member of this.#members) member.show(this.#span);
      this.#moved = false;
      if (this.#cursor !== null) {
        for (const member of this.#members) if (member !== this.#cursor.from) member.read(this.#cursor.at);
      }
      this.#cursor = null;
    });
  }
}

/** The links of a page. */
export class Links {
  readonly #links = new Map<string, Link>();

  /** The link of a figure; figures of single points, and of unlike axes, have one each. */
  of(figure: Figure, number: number): Link {
    const { label, unit } = figure.x;
    const key = isFunction(figure) && label !== "" ? JSON.stringify([label, unit]) : String(number);
    let link = this.#links.get(key);
    if (link === undefined) {
      link = new Link();
      this.#links.set(key, link);
    }
    return link;
  }
}
