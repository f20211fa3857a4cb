// Sections of an answer on the page. A figure that was there before stays, with other data.

import { Figures } from "../data";
import { Links } from "../link";
import { Plot } from "../plot";
import { theme } from "../theme";
import type { Shown } from "./core";

interface Drawn {
  readonly host: HTMLElement;
  readonly plot: Plot;
}

/** The part of the page that one kind of answer fills. */
export class Results {
  readonly #place: HTMLElement;
  readonly #bench: HTMLElement;
  readonly #links: Links;
  readonly #drawn = new Map<string, Drawn>();
  readonly #dark = window.matchMedia("(prefers-color-scheme: dark)");
  readonly #watcher: IntersectionObserver;
  /** Titles of figures that stand on top. */
  #pinned: readonly string[] = [];

  /** Sections go to `place`, figures that are pinned to `bench`. */
  constructor(place: HTMLElement, bench: HTMLElement, links: Links) {
    this.#place = place;
    this.#bench = bench;
    this.#links = links;
    this.#watcher = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          for (const { host, plot } of this.#drawn.values()) if (host === target) plot.visible = isIntersecting;
        }
      },
      { rootMargin: "200px" },
    );
    this.#dark.addEventListener("change", () => {
      for (const { plot } of this.#drawn.values()) plot.theme = theme(this.#dark.matches);
    });
  }

  pin(titles: readonly string[]): void {
    this.#pinned = titles;
  }

  clear(): void {
    for (const key of [...this.#drawn.keys()]) this.#forget(key);
    this.#place.replaceChildren();
    this.#bench.replaceChildren();
  }

  show(shown: Shown): void {
    const figures = new Figures(shown.figures);
    // Text of a scenario was escaped where the sections were written, and the policy of the page allows no script in them.
    const content = new DOMParser().parseFromString(shown.html, "text/html").body;
    const seen = new Set<string>();
    const pinned: [number, HTMLElement][] = [];
    for (const written of content.querySelectorAll<HTMLElement>("figure[data-figure]")) {
      const number = Number(written.dataset["figure"]);
      const figure = figures.figure(number);
      if (figure === undefined) continue;
      let key = figure.title;
      for (let n = 2; seen.has(key); n++) key = `${figure.title} ${n}`;
      seen.add(key);
      const drawn = this.#drawn.get(key);
      let host = written;
      if (drawn === undefined) {
        const plot = new Plot(written, figure, this.#links.of(figure, number), theme(this.#dark.matches));
        this.#drawn.set(key, { host: written, plot });
        this.#watcher.observe(written);
      } else {
        drawn.plot.figure = figure;
        host = drawn.host;
        host.querySelector("figcaption")?.remove();
        const caption = written.querySelector("figcaption");
        if (caption !== null) host.append(caption);
        written.replaceWith(host);
      }
      const place = this.#pinned.indexOf(figure.title);
      if (place >= 0 && key === figure.title) pinned.push([place, host]);
    }
    for (const key of [...this.#drawn.keys()]) if (!seen.has(key)) this.#forget(key);

    const top = pinned.sort(([a], [b]) => a - b).map(([, host]) => host);
    for (const host of top) host.remove();
    const changed =
      top.length !== this.#bench.children.length || top.some((host, i) => host !== this.#bench.children[i]);
    if (changed) this.#bench.replaceChildren(...top);
    // A section whose figures are all on top has nothing to say.
    for (const row of content.querySelectorAll(".figures")) if (row.childElementCount === 0) row.remove();
    this.#fill(content);
  }

  #fill(content: HTMLElement): void {
    const open = new Set(
      [...this.#place.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent ?? ""),
    );
    for (const details of content.querySelectorAll("details")) {
      details.open = open.has(details.querySelector("summary")?.textContent ?? "");
    }
    // Run and theory may have sections of one name; nothing on this page leads to them.
    for (const named of content.querySelectorAll("[id]")) named.removeAttribute("id");
    const sections = [...content.children].filter((each) => each.children.length > 1);
    this.#place.replaceChildren(...sections);
  }

  #forget(key: string): void {
    const drawn = this.#drawn.get(key);
    if (drawn === undefined) return;
    this.#watcher.unobserve(drawn.host);
    drawn.plot.leave();
    this.#drawn.delete(key);
  }
}
