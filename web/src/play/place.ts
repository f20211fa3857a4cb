// Where in a scenario's text a cursor stands: found line by line, since a text that is being written is no TOML yet.

import { parts } from "./schema";

export interface Place {
  /** The table, as a path. */
  readonly table: string[];
  /** The key whose value is being written; null where a key is. */
  readonly key: string | null;
  /** The law that the table or the value around names. */
  readonly law: string | null;
  /** Whether a header is being written. */
  readonly header: boolean;
}

/** The place at the end of `before`, the text above the cursor; `after` is the rest of its line. */
export function placeOf(before: string, after: string): Place {
  const lines = before.split("\n");
  const line = lines.pop() ?? "";
  const header = [...lines].reverse().find((each) => /^\s*\[[^[]/.test(each));
  let table = header === undefined ? [] : parts(header.replace(/#.*$/, "").replace(/^\s*\[|\]\s*$/g, ""));
  if (/^\s*\[[^\]]*$/.test(line)) return { table: [], key: null, law: null, header: true };

  // What is open on this line: `key = { a = 1, b = ` leaves `key` open, and `b` is being written.
  const open: string[] = [];
  let key: string | null = null;
  let word = "";
  let quote = "";
  for (const c of line) {
    if (quote !== "") {
      if (c === quote) quote = "";
      word += c;
    } else if (c === '"' || c === "'") {
      quote = c;
      word += c;
    } else if (c === "#") {
      return { table, key: null, law: null, header: false };
    } else if (c === "=") {
      key = word.trim();
      word = "";
    } else if (c === "{") {
      open.push(key ?? "");
      key = null;
      word = "";
    } else if (c === "}") {
      open.pop();
      key = null;
      word = "";
    } else if (c === "," && open.length > 0) {
      key = null;
      word = "";
    } else word += c;
  }
  const around = open.length > 0 ? line + after : [...lines.slice(lines.lastIndexOf(header ?? "")), line].join("\n");
  const law = /\blaw\s*=\s*"([^"]*)"/.exec(around)?.[1] ?? null;
  table = [...table, ...open.flatMap(parts)];
  return { table, key: key === null ? null : (parts(key).at(-1) ?? null), law, header: false };
}
