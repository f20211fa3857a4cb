// A font whose every character is the same block, made here byte by byte. With it a page has the same lines on every machine,
// whatever fonts are there, and words of equal length look the same.

/** The name of the font. */
export const BLOCKS = "penstock-blocks";

/** Units of the em, the width of each character, and the edges of its block. */
const EM = 1000;
const ADVANCE = 520;
const BLOCK = { left: 0, right: ADVANCE, low: 0, high: 640 };
const [ASCENT, DESCENT] = [800, 200];
/** Glyphs: the block, and nothing for spaces. Browsers take a character of glyph 0 for one that the font lacks. */
const [FILLED, EMPTY, GLYPHS] = [1, 2, 3];
const LAST_CHARACTER = 0x10ffff;

type Numbers = readonly number[];
const two = (...values: Numbers): number[] => values.flatMap((v) => [(v >> 8) & 255, v & 255]);
const four = (...values: Numbers): number[] =>
  values.flatMap((v) => [(v >>> 24) & 255, (v >>> 16) & 255, (v >>> 8) & 255, v & 255]);
const letters = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

/** Characters from the first to the second have the third as their glyph (OpenType, `cmap` of format 13). */
const GROUPS: readonly Numbers[] = [
  [0x20, 0x20, EMPTY],
  [0x21, 0x9f, FILLED],
  [0xa0, 0xa0, EMPTY],
  [0xa1, 0x2008, FILLED],
  // Spaces between groups of digits.
  [0x2009, 0x200f, EMPTY],
  [0x2010, 0x202e, FILLED],
  [0x202f, 0x202f, EMPTY],
  [0x2030, LAST_CHARACTER, FILLED],
];

function cmap(): number[] {
  const groups = GROUPS.flatMap((group) => four(...group));
  const [platform, encoding, offset] = [3, 10, 12];
  const head = [...two(0, 1, platform, encoding), ...four(offset)];
  return [...head, ...two(13, 0), ...four(16 + groups.length, 0, GROUPS.length), ...groups];
}

/** One rectangle, clockwise. */
function glyph(): number[] {
  const { left, right, low, high } = BLOCK;
  const onCurve = [1, 1, 1, 1];
  const across = two(left, 0, right - left, 0);
  const up = two(low, high - low, 0, low - high);
  return [...two(1, left, low, right, high), ...two(3, 0), ...onCurve, ...across, ...up];
}

function os2(): number[] {
  const [weight, width] = [400, 5];
  const strikes = two(...Array<number>(11).fill(100));
  const panose = Array<number>(10).fill(0);
  const characters = two(0x20, 0xffff);
  const height = two(ASCENT, -DESCENT, 0, ASCENT, DESCENT);
  const sizes = [...two(BLOCK.high, BLOCK.high), ...two(0, 0x20, 1)];
  const ranges = four(1, 0, 0, 0);
  return [
    ...[...two(4, ADVANCE, weight, width, 0), ...strikes.slice(0, 20), ...two(0), ...panose, ...ranges],
    ...[...letters("none"), ...two(0x40), ...characters, ...height, ...four(1, 0), ...sizes],
  ];
}

function names(): number[] {
  const texts: readonly (readonly [number, string])[] = [
    [1, BLOCKS],
    [2, "Regular"],
    [4, BLOCKS],
    [6, BLOCKS],
  ];
  let stored: number[] = [];
  const records = texts.flatMap(([what, text]) => {
    const bytes = [...text].flatMap((letter) => two(letter.charCodeAt(0)));
    const record = two(3, 1, 0x409, what, bytes.length, stored.length);
    stored = [...stored, ...bytes];
    return record;
  });
  return [...two(0, texts.length, 6 + records.length), ...records, ...stored];
}

const even = (bytes: Numbers): number[] => [...bytes, ...Array<number>((4 - (bytes.length % 4)) % 4).fill(0)];
const sum = (bytes: Numbers): number =>
  even(bytes).reduce((total, byte, i) => (total + byte * 2 ** (24 - 8 * (i % 4))) % 2 ** 32, 0);

/** The bytes of the font (OpenType 1.9 with outlines of TrueType). */
export function blocks(): Uint8Array {
  const outline = even(glyph());
  const { left, right, low, high } = BLOCK;
  const edges = two(left, low, right, high);
  const head = (adjustment: number) => [
    ...[...four(0x00010000, 0x00010000, adjustment, 0x5f0f3cf5), ...two(3, EM), ...four(0, 0, 0, 0), ...edges],
    ...two(0, 8, 2, 1, 0),
  ];
  const tables: [string, number[]][] = [
    ["OS/2", os2()],
    ["cmap", cmap()],
    ["glyf", outline],
    ["head", head(0)],
    ["hhea", [...four(0x00010000), ...two(ASCENT, -DESCENT, 0, ADVANCE, 0, 0, right, 1, 0, 0, 0, 0, 0, 0, 0, GLYPHS)]],
    ["hmtx", two(ADVANCE, 0, ADVANCE, left, ADVANCE, 0)],
    ["loca", four(0, 0, outline.length, outline.length)],
    ["maxp", [...four(0x00010000), ...two(GLYPHS, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)]],
    ["name", names()],
    ["post", [...four(0x00030000, 0), ...two(-100, 50), ...four(1, 0, 0, 0, 0)]],
  ];
  // The adjustment, which is in one table, makes the sum of the file what it is in every font; sums of tables are without it.
  const file = (adjustment: number): number[] => {
    let offset = 12 + 16 * tables.length;
    const directory = tables.flatMap(([tag, bytes]) => {
      const entry = [...letters(tag), ...four(sum(bytes), offset, bytes.length)];
      offset += even(bytes).length;
      return entry;
    });
    // Sixteen times the greatest power of two of at most the count of tables, its exponent, and what is left.
    const count = tables.length;
    const power = 2 ** Math.floor(Math.log2(count));
    const search = two(count, 16 * power, Math.log2(power), 16 * (count - power));
    return [
      ...four(0x00010000),
      ...search,
      ...directory,
      ...tables.flatMap(([tag, bytes]) => even(tag === "head" ? head(adjustment) : bytes)),
    ];
  };
  return Uint8Array.from(file((0xb1b0afba - sum(file(0))) >>> 0));
}
