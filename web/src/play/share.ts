// A scenario in the address of the page: behind the `#`, which no server sees.

export interface Shared {
  readonly text: string;
  readonly world: "packets" | "fluid";
  readonly cell: number;
}

const PREFIX = "s=";
/** What a text may become when it is unpacked [characters]: an address may come from anybody. */
const LONGEST = 2_000_000;

/** What a reader is told. */
class Wrong extends Error {}

async function through(bytes: Uint8Array<ArrayBuffer>, by: GenericTransformStream): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(by as ReadableWritablePair<Uint8Array, BufferSource>);
  const reader = stream.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > LONGEST) throw new Wrong("it is longer than a scenario may be");
    pieces.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The fragment of an address for a scenario. */
export async function packed(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const small = await through(bytes, new CompressionStream("deflate-raw"));
  const letters = Array.from(small, (byte) => String.fromCharCode(byte)).join("");
  return PREFIX + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The scenario of a fragment; null if the fragment has none. */
export async function unpacked(fragment: string): Promise<Shared | null> {
  const body = fragment.replace(/^#/, "");
  if (!body.startsWith(PREFIX)) return null;
  try {
    return await whole(body);
  } catch (error) {
    if (error instanceof Wrong) throw error;
    // What a browser says of letters and streams is no help to a reader.
    throw new Wrong("it is cut or damaged");
  }
}

async function whole(body: string): Promise<Shared> {
  const letters = atob(body.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const text = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  const { text: scenario, world, cell } = JSON.parse(text) as Partial<Shared>;
  if (typeof scenario !== "string") throw new Wrong("it has no scenario");
  return {
    text: scenario,
    world: world === "fluid" ? "fluid" : "packets",
    cell: typeof cell === "number" && cell >= 0 ? Math.floor(cell) : 0,
  };
}
