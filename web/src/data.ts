// The data of a page's figures, as crates/report/src/viewer.rs writes them.

export type Scale = "linear" | "log";
export type Style = "solid" | "dashed" | "points" | "steps";

export interface Axis {
  readonly label: string;
  readonly unit: string;
  readonly scale: Scale;
  readonly range: readonly [number, number] | null;
  readonly ticks: readonly { readonly at: number; readonly label: string | null }[];
}

/** For each x a low and a high value. */
export interface Band {
  readonly x: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Mean and standard deviation of samples along both axes, around which a line is an ellipse. */
export interface Spread {
  readonly mean: readonly [number, number];
  readonly deviation: readonly [number, number];
  readonly correlation: number;
  readonly samples: readonly [number, number];
}

export interface Curve {
  readonly name: string;
  readonly colour: string;
  readonly dark: string;
  readonly style: Style;
  readonly hollow: boolean;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly band: Band | null;
  readonly range: Band | null;
  readonly spread: Spread | null;
  /** Whether x never falls, so that a line has one value at each x. */
  readonly rising: boolean;
}

export type Mark =
  | { readonly kind: "horizontal" | "vertical"; readonly at: number; readonly label: string }
  | { readonly kind: "point"; readonly x: number; readonly y: number; readonly label: string };

export interface Figure {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Curve[];
  readonly marks: readonly Mark[];
  readonly equalAspect: boolean;
  readonly stacked: boolean;
  readonly warmUp: number | null;
}

type Three = readonly [number, number, number];

interface WrittenCurve {
  name: string;
  colour: string;
  dark: string;
  style: Style;
  hollow: boolean;
  x: number;
  y: number;
  band?: Three;
  range?: Three;
  spread?: Spread;
}

interface Written {
  format: number;
  columns: string[];
  packed?: string;
  figures: {
    title: string;
    x: Axis;
    y: Axis;
    lines: WrittenCurve[];
    marks: Record<string, { at?: number; x?: number; y?: number; label: string }>[];
    equalAspect: boolean;
    stacked: boolean;
    warmUp?: number;
  }[];
}

const FORMAT = 2;

/**
 * One column: `u:START,STEP,COUNT`; the bytes of 32-bit (`f:`) or 64-bit (`d:`) numbers in base64; or `p:FROM,COUNT`, numbers of 32
 * bits among the unpacked bytes of the page.
 */
export function column(text: string, unpacked: Uint8Array = new Uint8Array()): Float64Array {
  const body = text.slice(2);
  if (text.startsWith("u:")) {
    const [start = 0, step = 0, count = 0] = body.split(",").map(Number);
    return Float64Array.from({ length: count }, (_, i) => rounded(start + step * i, 12));
  }
  if (text.startsWith("p:")) {
    const [from = 0, count = 0] = body.split(",").map(Number);
    return Float64Array.from(planes(unpacked.subarray(from, from + 4 * count)), (value) => rounded(value, 7));
  }
  const bytes = decoded(body);
  const view = new DataView(bytes.buffer);
  const size = text.startsWith("f:") ? 4 : 8;
  const values = new Float64Array(bytes.length / size);
  for (let i = 0; i < values.length; i++) {
    values[i] = size === 4 ? rounded(view.getFloat32(4 * i, true), 7) : view.getFloat64(8 * i, true);
  }
  return values;
}

/** Numbers from four planes of bytes: those are the second differences of the numbers' bits, the lowest bit the sign. */
function planes(bytes: Uint8Array): Float32Array {
  const count = bytes.length / 4;
  const bits = new Int32Array(count);
  let [last, step] = [0, 0];
  for (let i = 0; i < count; i++) {
    const plane = (at: number) => bytes[at * count + i] ?? 0;
    const coded = plane(0) | (plane(1) << 8) | (plane(2) << 16) | (plane(3) << 24);
    step = (step + ((coded >>> 1) ^ -(coded & 1))) | 0;
    last = (last + step) | 0;
    bits[i] = last;
  }
  return new Float32Array(bits.buffer);
}

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** The figures of a page, whose columns may be packed. */
export async function read(text: string): Promise<Figures> {
  const written = JSON.parse(text) as Written;
  if (written.packed === undefined) return new Figures(written);
  const stream = new Blob([decoded(written.packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Figures(written, new Uint8Array(await new Response(stream).arrayBuffer()));
}

/** The decimal number that is meant: 0.1, not 0.10000000149011612. */
function rounded(value: number, digits: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(digits)) : value;
}

/** The figures of a page. Columns are decoded when a figure is first drawn: a page opens without work for what is not in view. */
export class Figures {
  readonly #written: Written;
  readonly #columns = new Map<number, Float64Array>();
  readonly #unpacked: Uint8Array | undefined;

  /** As JSON, or parsed; `unpacked` are the bytes of packed columns. */
  constructor(written: string | Written, unpacked?: Uint8Array) {
    this.#unpacked = unpacked;
    this.#written = typeof written === "string" ? (JSON.parse(written) as Written) : written;
    if (this.#written.format !== FORMAT) throw new Error(`figures of format ${this.#written.format}, not ${FORMAT}`);
  }

  get count(): number {
    return this.#written.figures.length;
  }

  title(at: number): string {
    return this.#written.figures[at]?.title ?? "";
  }

  figure(at: number): Figure | undefined {
    const figure = this.#written.figures[at];
    if (figure === undefined) return undefined;
    return {
      title: figure.title,
      x: figure.x,
      y: figure.y,
      lines: figure.lines.map((line) => this.#curve(line)),
      marks: figure.marks.flatMap(mark),
      equalAspect: figure.equalAspect,
      stacked: figure.stacked,
      warmUp: figure.warmUp ?? null,
    };
  }

  #curve(line: WrittenCurve): Curve {
    const x = this.#column(line.x);
    return {
      name: line.name,
      colour: line.colour,
      dark: line.dark,
      style: line.style,
      hollow: line.hollow,
      x,
      y: this.#column(line.y),
      band: this.#band(line.band),
      range: this.#band(line.range),
      spread: line.spread ?? null,
      rising: rising(x),
    };
  }

  #band(places: Three | undefined): Band | null {
    if (places === undefined) return null;
    return { x: this.#column(places[0]), low: this.#column(places[1]), high: this.#column(places[2]) };
  }

  #column(place: number): Float64Array {
    let values = this.#columns.get(place);
    if (values === undefined) {
      values = column(this.#written.columns[place] ?? "d:", this.#unpacked);
      this.#columns.set(place, values);
    }
    return values;
  }
}

function mark(written: Record<string, { at?: number; x?: number; y?: number; label: string }>): Mark[] {
  return Object.entries(written).flatMap(([kind, { at = 0, x = 0, y = 0, label }]): Mark[] => {
    if (kind === "point") return [{ kind, x, y, label }];
    return kind === "horizontal" || kind === "vertical" ? [{ kind, at, label }] : [];
  });
}

function rising(x: Float64Array): boolean {
  let before = Number.NEGATIVE_INFINITY;
  for (const value of x) {
    if (value < before) return false;
    if (!Number.isNaN(value)) before = value;
  }
  return true;
}
