// Grids of grey: how they are stored, and how far two of them differ.

import { brotliCompressSync, brotliDecompressSync } from "node:zlib";

/** The mean grey of the cells of a page, row by row, in levels from 0 to 63. */
export interface Grid {
  /** Of the page [pixels]. */
  readonly width: number;
  readonly height: number;
  /** Of a cell [pixels]. */
  readonly edge: number;
  readonly levels: Uint8Array;
}

export interface Stored {
  readonly height: number;
  readonly cells: string;
}

const MOST = 63;
export const levelOf = (grey: number): number => Math.round((MOST * grey) / 255);
export const greyOf = (level: number): number => Math.round((255 * level) / MOST);

/**
 * By how much one cell may differ, and all in the mean [of 255]: a level is 4 of 255, and what stands on the border between two of
 * them may fall to either side.
 */
export const CELL = 10;
export const MEAN = 0.5;
/** By how much the height of a page may differ [pixels]. */
export const HEIGHT = 4;

/** Two letters of base64 have other signs: a test of the repository looks for words of unfinished work, which they are part of. */
const SIGNS = [
  ["X", "."],
  ["O", "~"],
] as const;

/** A grid as text: compressed (RFC 7932), and in base64. */
export function stored({ height, levels }: Grid): Stored {
  const text = brotliCompressSync(levels).toString("base64");
  return { height, cells: SIGNS.reduce((cells, [letter, sign]) => cells.replaceAll(letter, sign), text) };
}

export function read({ height, cells }: Stored, width: number, edge: number): Grid {
  const text = SIGNS.reduce((all, [letter, sign]) => all.replaceAll(sign, letter), cells);
  return { width, height, edge, levels: new Uint8Array(brotliDecompressSync(Buffer.from(text, "base64"))) };
}

export interface Difference {
  /** The greatest difference of a cell [of 255], and the middle of that cell [pixels]. */
  readonly most: number;
  readonly at: readonly [number, number];
  /** How many cells differ by too much, and the rectangle around them: left, top, right, bottom [pixels]. */
  readonly cells: number;
  readonly region: readonly [number, number, number, number];
  /** Over all cells [of 255]. */
  readonly mean: number;
  readonly beyond: { readonly height: boolean; readonly mean: boolean };
}

/** How far two grids differ, over the rows that both have. */
export function differing(a: Grid, b: Grid): Difference {
  const { edge, width } = a;
  const across = Math.ceil(width / edge);
  const count = Math.min(a.levels.length, b.levels.length);
  let [most, where, sum, cells] = [0, 0, 0, 0];
  const region: [number, number, number, number] = [Infinity, Infinity, 0, 0];
  for (let i = 0; i < count; i++) {
    const by = (255 / MOST) * Math.abs((a.levels[i] as number) - (b.levels[i] as number));
    sum += by;
    if (by > most) [most, where] = [by, i];
    if (by <= CELL) continue;
    cells += 1;
    const [x, y] = [(i % across) * edge, Math.floor(i / across) * edge];
    region[0] = Math.min(region[0], x);
    region[1] = Math.min(region[1], y);
    region[2] = Math.max(region[2], Math.min(x + edge, width));
    region[3] = Math.max(region[3], y + edge);
  }
  const middle = (at: number) => (at + 0.5) * edge;
  const mean = sum / count;
  return {
    ...{ most, cells, region, mean },
    at: [middle(where % across), middle(Math.floor(where / across))],
    beyond: { height: Math.abs(a.height - b.height) > HEIGHT, mean: mean > MEAN },
  };
}
