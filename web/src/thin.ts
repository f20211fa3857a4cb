// What can be seen of a line: for each column of pixels the first, the least, the greatest and the last value.

/** Points in pixels; NaN in `y` breaks the line. */
export interface Thinned {
  readonly x: number[];
  readonly y: number[];
  /** Whether every point is there, none left out. */
  readonly whole: boolean;
}

/** From data to pixels: `offset + factor * value`, of the logarithm of the value if `log`. */
export interface Ruler {
  readonly log: boolean;
  readonly offset: number;
  readonly factor: number;
}

export function place(ruler: Ruler, value: number): number {
  // Zero and less have no place on a logarithmic axis: Math.log gives no finite number.
  const at = ruler.log ? Math.log(value) : value;
  return Number.isFinite(at) ? ruler.offset + ruler.factor * at : Number.NaN;
}

const EACH = 4;

/**
 * The points between `from` and `to` of a line whose x never falls. Few points are all kept. Of more, each column of pixels
 * keeps its first, least, greatest and last one, in their order, so that the drawing has the same pixels.
 */
export function thin(
  x: Float64Array,
  y: Float64Array,
  from: number,
  to: number,
  across: Ruler,
  up: Ruler,
  width: number,
): Thinned {
  const whole = to - from <= EACH * width;
  const out: { x: number[]; y: number[]; whole: boolean } = { x: [], y: [], whole };
  const put = (i: number) => {
    out.x.push(place(across, x[i] as number));
    out.y.push(place(up, y[i] as number));
  };
  if (whole) {
    for (let i = from; i < to; i++) put(i);
    return out;
  }
  const { log, offset, factor } = across;
  let column = Number.NaN;
  let [first, least, most, last] = [-1, -1, -1, -1];
  const flush = () => {
    if (first < 0) return;
    put(first);
    const [a, b] = least < most ? [least, most] : [most, least];
    if (a !== first && a !== last) put(a);
    if (b !== a && b !== first && b !== last) put(b);
    if (last !== first) put(last);
    first = -1;
  };
  for (let i = from; i < to; i++) {
    const value = y[i] as number;
    const raw = x[i] as number;
    if (!Number.isFinite(value) || (up.log && value <= 0) || !Number.isFinite(raw) || (log && raw <= 0)) {
      flush();
      // One gap is enough.
      if (out.y.length > 0 && !Number.isNaN(out.y.at(-1))) {
        out.x.push(out.x.at(-1) as number);
        out.y.push(Number.NaN);
      }
      continue;
    }
    const here = Math.floor(offset + factor * (log ? Math.log(raw) : raw));
    if (here !== column || first < 0) {
      flush();
      column = here;
      first = least = most = last = i;
      continue;
    }
    if (value < (y[least] as number)) least = i;
    if (value > (y[most] as number)) most = i;
    last = i;
  }
  flush();
  return out;
}

/** A column of pixels: its middle, and from where to where a line goes in it. */
export type Column = [x: number, top: number, bottom: number];

/**
 * The surface that a line covers whose x never falls: of each piece between gaps its columns of pixels. Where the line goes from
 * one column to the next, both reach to the middle. Columns without a point have what joins those beside them; `steps` keep their
 * value until the next point.
 */
export function envelope({ x, y }: Thinned, steps: boolean): Column[][] {
  const pieces: Column[][] = [];
  let columns: Column[] = [];
  let last = { middle: Number.NaN, y: Number.NaN };
  const visit = (middle: number, at: number) => {
    let column = columns.at(-1);
    if (column === undefined) pieces.push(columns);
    if (column === undefined || column[0] !== middle) {
      const touches = column !== undefined && column[0] + 1 === middle;
      const half = touches ? (last.y + at) / 2 : at;
      if (column !== undefined && touches) reach(column, half);
      column = [middle, half, half];
      columns.push(column);
    }
    reach(column, at);
    last = { middle, y: at };
  };
  for (let i = 0; i < x.length; i++) {
    const at = y[i] as number;
    if (Number.isNaN(at)) {
      columns = [];
      continue;
    }
    const middle = Math.floor(x[i] as number) + 0.5;
    const before = last;
    const slope = steps ? 0 : (at - before.y) / (middle - before.middle);
    if (columns.length > 0 && middle > before.middle + 1)
      for (const each of [before.middle + 1, middle - 1]) visit(each, before.y + slope * (each - before.middle));
    visit(middle, at);
  }
  return pieces;
}

function reach(column: Column, y: number): void {
  column[1] = Math.min(column[1], y);
  column[2] = Math.max(column[2], y);
}

/** The least and the greatest finite value between two places, of those that a logarithmic axis shows if `log`. */
export function extent(y: Float64Array, from: number, to: number, log: boolean): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = from; i < to; i++) {
    const value = y[i] as number;
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
