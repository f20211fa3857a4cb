// Puts a plot in the place of each drawing of a page, when it comes into view.

import { read } from "./data";
import { startFilter } from "./filter";
import { Links } from "./link";
import { Plot } from "./plot";
import { theme } from "./theme";

/** Starts the viewer on this page. */
async function start(): Promise<void> {
  const data = document.getElementById("penstock-figures");
  // A browser that cannot unpack the numbers shows the drawings.
  if (data === null || typeof DecompressionStream === "undefined") return;
  const figures = await read(data.textContent ?? "");
  const links = new Links();
  const plots = new Map<Element, Plot>();
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const hosts = [...document.querySelectorAll<HTMLElement>("figure[data-figure]")];

  const make = (host: HTMLElement): Plot | undefined => {
    const number = Number(host.dataset["figure"]);
    const figure = figures.figure(number);
    // A figure without data stays as it was drawn.
    if (figure === undefined || !figure.lines.some((line) => line.y.length > 0 || line.band !== null)) return undefined;
    return new Plot(host, figure, links.of(figure, number), theme(dark.matches));
  };
  // While a reader zooms, only what is in view is drawn.
  const viewed = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const plot = plots.get(target);
        if (plot !== undefined) plot.visible = isIntersecting;
      }
    },
    { rootMargin: "40px" },
  );
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        const plot = make(target as HTMLElement);
        if (plot === undefined) continue;
        plots.set(target, plot);
        viewed.observe(target);
      }
    },
    { rootMargin: "300px" },
  );
  for (const host of hosts) near.observe(host);
  dark.addEventListener("change", () => {
    for (const plot of plots.values()) plot.theme = theme(dark.matches);
  });
}

void start();
startFilter();
