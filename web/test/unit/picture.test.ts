import assert from "node:assert/strict";
import { test } from "node:test";

import { blocks } from "../browser/blocks";
import { CELL, differing, type Grid, greyOf, levelOf, read, stored } from "../browser/grid";
import { greys } from "../browser/picture";

const grid = (levels: number[], width = 40, height = 30): Grid => ({
  ...{ width, height, edge: 10 },
  levels: Uint8Array.from(levels),
});
const FLAT = Array<number>(12).fill(40);

test("a grid that is stored is the same", () => {
  const given = grid(FLAT.map((level, i) => level + i));
  assert.deepEqual(read(stored(given), 40, 10), given);
  assert.deepEqual([levelOf(255), levelOf(0), greyOf(levelOf(128))], [63, 0, 130]);
});

test("cells that differ have a region, and a difference of rounding is none", () => {
  const changed = FLAT.map((level, i) => level + (i === 5 || i === 10 ? 10 : i % 2));
  const found = differing(grid(changed), grid(FLAT));
  // Cells 1 and 2 across in the second and the third row; of equal differences the first.
  assert.deepEqual([found.cells, found.region, found.at], [2, [10, 10, 30, 30], [15, 15]]);
  assert.ok(Math.abs(found.most - (255 * 10) / 63) < 1e-9);
  assert.deepEqual(found.beyond, { height: false, mean: true });
  const rounded = differing(grid(FLAT.map((level, i) => level + Number(i === 3))), grid(FLAT));
  assert.deepEqual([rounded.cells, rounded.beyond.mean], [0, false]);
  assert.ok(rounded.most < CELL);
  assert.ok(differing(grid(FLAT.slice(0, 8), 40, 20), grid(FLAT)).beyond.height);
});

test("cells are means of the luma of a picture", () => {
  const colour = (at: number) => (at * at * 7 + at * 31) % 256;
  const data = Buffer.from(
    Array.from({ length: 280 }, (_, at) => (at % 4 === 3 ? 255 : colour(3 * (at >> 2) + (at % 4)))),
  );
  const found = greys({ width: 7, height: 10, data }, 5);
  // The cell at the lower right: columns 5 and 6 of rows 5 to 9.
  const luma = (x: number, y: number) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => sum + share * colour(3 * (7 * y + x) + i), 0);
  const wanted = [5, 6, 7, 8, 9].flatMap((y) => [luma(5, y), luma(6, y)]).reduce((a, b) => a + b) / 10;
  assert.equal(found.length, 4);
  assert.ok(Math.abs((found[3] as number) - wanted) < 0.01, `${found[3]} of ${wanted}`);
});

/** A sum of 32-bit words that the OpenType specification states for every font. */
test("the font has the checksum of a font", () => {
  const bytes = blocks();
  const view = new DataView(bytes.buffer);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) sum = (sum + view.getUint32(at)) % 2 ** 32;
  assert.equal(sum, 0xb1b0afba);
});
