// Pictures of pages as small grids of grey, which are compared with accepted ones.

import { PNG } from "pngjs";
import type { Browser, Page } from "puppeteer-core";

import { BLOCKS, blocks } from "./blocks";
import { differing, type Grid, greyOf, levelOf } from "./grid";

/** Higher than any page here, so that every figure is in view [pixels]. */
const TALL = 15_000;
/** Widths of windows and, of the picture at each, the pixels of a pixel of the page, and the edge of a cell of the grid. */
export const WIDTHS: Readonly<Record<number, { readonly scale: number; readonly edge: number }>> = {
  360: { scale: 1, edge: 30 },
  1280: { scale: 1, edge: 40 },
  // A quarter of the pixels takes a quarter of the time.
  3840: { scale: 0.5, edge: 48 },
};

type Heading = readonly [string, number, number];

export interface Picture {
  readonly png: Buffer;
  readonly grid: Grid;
  /** The headings of the page and of its figures, and where each begins: from the left, and from the top [pixels]. */
  readonly headings: readonly Heading[];
}

/** A page whose words are blocks, and on which nothing moves. */
export async function still(browser: Browser): Promise<Page> {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(
    (name: string, bytes: number[]) => {
      // Neither a constructed sheet nor a font of bytes is asked of the policy of a page.
      const face = new FontFace(name, Uint8Array.from(bytes));
      document.fonts.add(face);
      void face.load();
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`
        *, ::before, ::after {
          font-family: ${name} !important;
          text-rendering: geometricPrecision !important;
          animation: none !important;
          transition: none !important;
          scroll-behavior: auto !important;
          caret-color: transparent !important;
          scrollbar-width: none !important;
        }`);
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      const attach = Element.prototype.attachShadow;
      Element.prototype.attachShadow = function (options) {
        const root = attach.call(this, options);
        root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
        return root;
      };
    },
    BLOCKS,
    [...blocks()],
  );
  return page;
}

/** Puts words that every machine, day and version has in the place of those that differ. */
export async function plain(page: Page, folder: string): Promise<void> {
  await page.evaluate((path) => {
    for (const facts of document.querySelectorAll("dl.facts")) {
      const fact = document.createElement("div");
      const [name, value] = [document.createElement("dt"), document.createElement("dd")];
      name.textContent = "penstock";
      value.textContent = "version, and facts of the machine";
      fact.append(name, value);
      facts.replaceChildren(fact);
    }
    for (const text of document.querySelectorAll("pre code")) {
      text.textContent = (text.textContent ?? "").replaceAll(path, "folder");
    }
    for (const status of document.querySelectorAll("#status")) status.textContent = "Ran.";
    // A menu is as wide as the longest of its choices.
    for (const menu of document.querySelectorAll("select")) {
      for (const option of [...menu.options]) if (!option.selected) option.remove();
    }
  }, folder);
}

/** Waits until every figure is drawn for the width that the page has. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll<HTMLElement>("figure[data-figure]")].every((figure) => {
        const canvas = figure.querySelector<HTMLCanvasElement>(".stage canvas");
        const fits = (pixels: number, shown: number) => Math.abs(pixels - shown * window.devicePixelRatio) <= 1;
        // What is not displayed is not drawn either.
        if (!figure.checkVisibility()) return true;
        return canvas !== null && fits(canvas.width, canvas.clientWidth) && fits(canvas.height, canvas.clientHeight);
      }),
    { timeout: 20_000, polling: 50 },
  );
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))),
  );
}

/** The picture of a page at a width of the window. */
export async function picture(page: Page, width: number): Promise<Picture> {
  const { scale, edge } = WIDTHS[width] ?? { scale: 1, edge: 40 };
  await page.setViewport({ width, height: TALL, deviceScaleFactor: scale });
  await settled(page);
  const { height, headings } = await page.evaluate(() => ({
    height: Math.ceil(document.body.getBoundingClientRect().bottom + window.scrollY),
    headings: [...document.querySelectorAll("h1, h2, h3, .live .name, summary")].map((each): Heading => {
      const { left, top } = each.getBoundingClientRect();
      return [each.textContent ?? "", left + window.scrollX, top + window.scrollY];
    }),
  }));
  const png = Buffer.from(await page.screenshot({ clip: { x: 0, y: 0, width, height } }));
  const levels = Uint8Array.from(greys(PNG.sync.read(png), scale * edge), levelOf);
  return { png, grid: { width, height, edge, levels }, headings };
}

/** Four bytes a pixel: red, green, blue, and its opacity. */
type Pixels = Pick<PNG, "width" | "height" | "data">;

/** The mean grey of each cell of a picture, row by row [0 to 255]. */
export function greys({ width, height, data }: Pixels, edge: number): Float64Array {
  const [across, down] = [Math.ceil(width / edge), Math.ceil(height / edge)];
  const sums = new Float64Array(across * down);
  for (let y = 0, at = 0; y < height; y++) {
    const row = across * Math.floor(y / edge);
    for (let x = 0; x < width; x++, at += 4) {
      // Luma of ITU-R BT.709, in whole numbers.
      const luma = 13933 * (data[at] as number) + 46871 * (data[at + 1] as number) + 4732 * (data[at + 2] as number);
      const cell = row + Math.floor(x / edge);
      sums[cell] = (sums[cell] as number) + luma;
    }
  }
  const length = (cell: number, whole: number) => Math.min(edge, whole - cell * edge);
  return sums.map((sum, i) => sum / 65536 / (length(i % across, width) * length(Math.floor(i / across), height)));
}

/** A grid as a file of the size of its page. */
export function image({ width, height, edge, levels }: Grid): Buffer {
  const across = Math.ceil(width / edge);
  const file = new PNG({ width, height });
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const grey = greyOf(levels[across * Math.floor(y / edge) + Math.floor(x / edge)] ?? 0);
      file.data.set([grey, grey, grey, 255], at);
    }
  }
  return PNG.sync.write(file);
}

/** Where a place on a page is, in words: which heading is the nearest above that does not begin more than a cell to the right. */
function below({ headings, grid }: Picture, [x, y]: readonly [number, number]): string {
  const above = headings.filter(([, left, top]) => top <= y && left <= x + grid.edge);
  const [nearest] = above.sort((a, b) => b[2] - a[2] || b[1] - a[1]);
  return nearest === undefined ? "at the top" : `below “${nearest[0].trim()}”`;
}

/** What differs between a picture and the accepted one; nothing where it is like it. */
export function differences(found: Picture, accepted: Grid): string[] {
  const { height } = found.grid;
  const said: string[] = [];
  const { most, at, cells, beyond, mean, region } = differing(found.grid, accepted);
  if (beyond.height) said.push(`the page is ${height} pixels high, and was ${accepted.height}`);
  if (beyond.mean) said.push(`the mean difference is ${mean.toFixed(2)} of 255`);
  if (cells > 0) {
    const [left, top, right, bottom] = region;
    const where = `x ${left} to ${right}, y ${top} to ${bottom}, from ${below(found, [left, top])} on`;
    said.push(`${cells} cells differ, in the region ${where}`);
    said.push(`the most by ${most.toFixed(0)} of 255, at x ${at[0]}, y ${at[1]}, ${below(found, at)}`);
  }
  return said;
}
