import assert from "node:assert/strict";
import { test } from "node:test";

import { extent, place, type Ruler, thin } from "../../src/thin";

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
