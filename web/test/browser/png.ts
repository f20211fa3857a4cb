// Reads and writes the PNG files that pictures are (W3C, Portable Network Graphics, third edition).

import { deflateSync, inflateSync } from "node:zlib";

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Bytes of a pixel: red, green and blue, and with four its opacity. */
  readonly bytes: 3 | 4;
  readonly data: Uint8Array;
}

const SIGNATURE = 8;
const HEADER = { width: 16, height: 20, depth: 24, colour: 25, interlace: 28 };
const [GREY, RGB, RGBA] = [0, 2, 6];

/** The pixels of a file as browsers write it: eight bits a colour, and not interlaced. */
export function pixels(file: Buffer): Pixels {
  const [width, height] = [file.readUInt32BE(HEADER.width), file.readUInt32BE(HEADER.height)];
  const [depth, colour, interlace] = [file[HEADER.depth], file[HEADER.colour], file[HEADER.interlace]];
  if (depth !== 8 || interlace !== 0 || (colour !== RGB && colour !== RGBA)) {
    throw new Error(`a PNG of depth ${depth}, colour type ${colour} and interlace ${interlace}`);
  }
  const parts: Buffer[] = [];
  for (let at = SIGNATURE; at < file.length;) {
    const [length, name] = [file.readUInt32BE(at), file.toString("latin1", at + 4, at + 8)];
    if (name === "IDAT") parts.push(file.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const bytes = colour === RGB ? 3 : 4;
  return { width, height, bytes, data: unfiltered(inflateSync(Buffer.concat(parts)), width * bytes, height, bytes) };
}

/** Lines without their filters: each byte was written less a guess from the bytes to the left and above. */
function unfiltered(raw: Uint8Array, line: number, height: number, bytes: number): Uint8Array {
  const out = new Uint8Array(line * height);
  let above: Uint8Array = new Uint8Array(line);
  for (let row = 0; row < height; row++) {
    const from = row * (line + 1);
    const here = out.subarray(row * line, (row + 1) * line);
    here.set(raw.subarray(from + 1, from + 1 + line));
    unfilter(here, above, raw[from] ?? 0, bytes);
    above = here;
  }
  return out;
}

/** One line, given the one above it. */
function unfilter(here: Uint8Array, above: Uint8Array, filter: number, bytes: number): void {
  const add = (i: number, guess: number) => {
    here[i] = (here[i] as number) + guess;
  };
  const left = (i: number) => (i < bytes ? 0 : (here[i - bytes] as number));
  if (filter === 1) for (let i = bytes; i < here.length; i++) add(i, here[i - bytes] as number);
  if (filter === 2) for (let i = 0; i < here.length; i++) add(i, above[i] as number);
  if (filter === 3) for (let i = 0; i < here.length; i++) add(i, (left(i) + (above[i] as number)) >> 1);
  if (filter === 4) {
    for (let i = 0; i < here.length; i++) {
      add(i, paeth(left(i), above[i] as number, i < bytes ? 0 : (above[i - bytes] as number)));
    }
  }
}

/** Of left, above, and above left the one nearest to left plus above less above left. */
function paeth(left: number, above: number, corner: number): number {
  const near = left + above - corner;
  const [a, b, c] = [Math.abs(near - left), Math.abs(near - above), Math.abs(near - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

/** A file of grey pixels. */
export function greyFile(width: number, height: number, grey: (x: number, y: number) => number): Buffer {
  const raw = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) raw[y * (width + 1) + 1 + x] = grey(x, y);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, GREY, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(raw)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const out = Buffer.alloc(8 + named.length);
  out.writeUInt32BE(content.length, 0);
  named.copy(out, 4);
  out.writeUInt32BE(checksum(named), 4 + named.length);
  return out;
}

/** The cyclic redundancy check of ISO 3309. */
function checksum(bytes: Uint8Array): number {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (0xedb88320 & -(rest & 1));
  }
  return ~rest >>> 0;
}
