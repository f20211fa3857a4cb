import assert from "node:assert/strict";
import { test } from "node:test";

import { type Column, envelope, extent, place, type Ruler, thin } from "../../src/thin";

/** A linear ruler from 0 to `length` onto so many pixels. */
function ruler(length: number, pixels: number): Ruler {
  return { log: false, offset: 0, factor: pixels / length };
}

/** Numbers that look random and are the same in every run. */
function noise(count: number): Float64Array {
  let state = 12345;
  return Float64Array.from({ length: count }, () => {
    state = (1103515245 * state + 12345) % 2147483648;
    return state / 2147483648;
  });
}

const up: Ruler = { log: false, offset: 0, factor: 1 };

test("each column of pixels keeps its least and greatest value", () => {
  const count = 100_000;
  const x = Float64Array.from({ length: count }, (_, i) => i);
  const y = noise(count);
  const across = ruler(count, 500);
  const thinned = thin(x, y, 0, count, across, up, 500);
  assert.equal(thinned.whole, false);
  assert.ok(thinned.x.length <= 4 * 500 + 4);
  const limits = (xs: ArrayLike<number>, ys: ArrayLike<number>, pixel: (v: number) => number) => {
    const found = new Map<number, [number, number]>();
    for (let i = 0; i < xs.length; i++) {
      const column = Math.floor(pixel(xs[i] as number) + 1e-9);
      const [low, high] = found.get(column) ?? [Infinity, -Infinity];
      found.set(column, [Math.min(low, ys[i] as number), Math.max(high, ys[i] as number)]);
    }
    return found;
  };
  assert.deepEqual(
    limits(thinned.x, thinned.y, (v) => v),
    limits(x, y, (v) => place(across, v)),
  );
});

test("at full zoom every point is there, as it is", () => {
  const count = 1_000_000;
  const x = Float64Array.from({ length: count }, (_, i) => i);
  const y = noise(count);
  const across: Ruler = { log: false, offset: -10 * 500_000, factor: 10 };
  const thinned = thin(x, y, 500_000, 500_060, across, up, 600);
  assert.equal(thinned.whole, true);
  assert.deepEqual(thinned.y, Array.from(y.subarray(500_000, 500_060)));
});

test("a gap stays a gap however many points share a pixel", () => {
  const count = 50_000;
  const x = Float64Array.from({ length: count }, (_, i) => i);
  const y = noise(count);
  y.fill(Number.NaN, 20_000, 30_000);
  const thinned = thin(x, y, 0, count, ruler(count, 500), up, 500);
  assert.equal(thinned.y.filter((v) => Number.isNaN(v)).length, 1);
});

test("zero has no place on a logarithmic axis", () => {
  const log: Ruler = { log: true, offset: 0, factor: 100 };
  assert.ok(Number.isNaN(place(log, 0)) && Number.isNaN(place(log, -1)) && place(log, 1) === 0);
  assert.deepEqual(extent(Float64Array.of(-1, 0, 0.5, 7, Number.NaN), 0, 5, true), [0.5, 7]);
});

test("the surface of a line holds each of its points, and its columns touch", () => {
  const count = 50_000;
  const x = Float64Array.from({ length: count }, (_, i) => i);
  const y = noise(count);
  y.fill(Number.NaN, 20_000, 30_000);
  const across = ruler(count, 500);
  const pieces = envelope(thin(x, y, 0, count, across, up, 500), false);
  assert.equal(pieces.length, 2);
  const columns = new Map(pieces.flat().map((column) => [column[0], column]));
  for (let i = 0; i < count; i++) {
    if (Number.isNaN(y[i])) continue;
    const [, top, bottom] = columns.get(Math.floor(place(across, x[i] as number)) + 0.5) as Column;
    assert.ok(top <= (y[i] as number) && (y[i] as number) <= bottom);
  }
  for (const piece of pieces)
    piece.reduce((before, column) => {
      assert.ok(Math.max(before[1], column[1]) <= Math.min(before[2], column[2]));
      return column;
    });
});

test("where columns have no point the surface is as thin as the line", () => {
  const far = { x: [0.2, 0.8, 100.5], y: [0, 50, 10], whole: true };
  const at = (columns: Column[] | undefined, middle: number) => columns?.find((column) => column[0] === middle);
  const [line] = envelope(far, false);
  assert.deepEqual(at(line, 0.5)?.slice(1, 2), [0]);
  for (const middle of [1.5, 99.5]) {
    const [, top, bottom] = at(line, middle) as Column;
    assert.ok(bottom - top < 1, `${top} to ${bottom}`);
  }
  const [steps] = envelope(far, true);
  assert.deepEqual(at(steps, 1.5), [1.5, 50, 50]);
  assert.deepEqual(at(steps, 99.5), [99.5, 30, 50]);
});
