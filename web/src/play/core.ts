// The module that computes, in WebAssembly: a request in, an answer out.

/** A number in a scenario's text. */
export interface Key {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly value: number;
  readonly unit: string;
  readonly quoted: boolean;
  readonly whole: boolean;
  /** The range of a law's parameter. */
  readonly least?: number;
  readonly most?: number;
  readonly what?: string;
}

/** An error in the text; columns and lengths in characters. */
export interface Wrong {
  readonly line: number | null;
  readonly column: number | null;
  readonly length: number;
  readonly key: string;
  readonly found: string;
  readonly remedy: string;
}

export interface Margins {
  readonly verdict: string;
  readonly gain: number | null;
  readonly phaseDeg: number | null;
  readonly delayS: number | null;
  readonly crossoverRadPerS: number | null;
}

export interface LinkNumbers {
  readonly utilization: number;
  /** Absent where no packet came. */
  readonly queueing_delay_mean_s?: number;
  readonly queueing_delay_p99_s?: number;
  readonly queue_mean_packets: number;
  readonly queue_sd_packets: number;
}

export interface Summary {
  readonly title: string;
  readonly links: Readonly<Record<string, LinkNumbers>>;
  readonly groups: Readonly<Record<string, { readonly goodput_bit_per_s: number }>>;
  readonly fairness?: { readonly jain: number };
}

/** A page without its frame. */
export interface Shown {
  readonly title: string;
  readonly subtitle: string;
  readonly html: string;
  readonly figures: string;
  readonly summary?: Summary;
  readonly margins?: Margins;
}

export interface Text {
  readonly name: string;
  readonly text: string;
}
/** The worlds that run in a page. */
export const WORLDS = ["packets", "fluid"] as const;
export type World = (typeof WORLDS)[number];
export type Request =
  | { readonly do: "about" }
  | ({ readonly do: "read" } & Text)
  | ({ readonly do: "run" | "record"; readonly cell: number; readonly world: World } & Text)
  | ({ readonly do: "theory"; readonly cell: number } & Text)
  | { readonly do: "open"; readonly text: string };

export type Answer<T> =
  { readonly ok: T } | { readonly errors: readonly Wrong[] } | { readonly refused: readonly string[] };

interface Exports {
  readonly memory: WebAssembly.Memory;
  penstock_allocate(bytes: number): number;
  penstock_answer(at: number, bytes: number): bigint;
  penstock_done(at: number, bytes: number): void;
}

/**
 * What libraries in the module require of a page: the time, by wasm-bindgen. A clock that stands still has no part in results, and no
 * glue has to fit the module.
 */
function still(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, () => number>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    if (from.startsWith("__wbindgen")) (imports[from] ??= {})[name] = () => 0;
  }
  return imports;
}

/** An instance of the module. One that broke gives no more answers. */
export class Core {
  readonly #exports: Exports;
  #lastWords = "";

  constructor(module: WebAssembly.Module, progress: (done: number) => void = () => {}) {
    const page = {
      progress: (done: number) => {
        progress(done);
        return 1;
      },
      broke: (at: number, bytes: number) => {
        this.#lastWords = this.#read(at, bytes);
      },
    };
    this.#exports = new WebAssembly.Instance(module, { ...still(module), page }).exports as unknown as Exports;
  }

  /** What the module takes of the machine's memory [B]. */
  get memory(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** The answer as JSON. */
  ask(request: Request): string {
    const { penstock_allocate, penstock_answer, penstock_done, memory } = this.#exports;
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const block = penstock_allocate(bytes.length);
    new Uint8Array(memory.buffer, block, bytes.length).set(bytes);
    let place: bigint;
    try {
      place = BigInt.asUintN(64, penstock_answer(block, bytes.length));
    } catch (error) {
      throw new Error(this.#lastWords || String(error));
    }
    const [at, length] = [Number(place >> 32n), Number(place & 0xffffffffn)];
    const answer = this.#read(at, length);
    penstock_done(at, length);
    return answer;
  }

  #read(at: number, bytes: number): string {
    return new TextDecoder().decode(new Uint8Array(this.#exports.memory.buffer, at, bytes));
  }
}
