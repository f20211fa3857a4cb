// What a file is that somebody opens or drops on the page.

/** A record's other files, as docs/record.md lists them. */
const OF_RECORD = /(^|\/)(summary\.json|cost\.json|report\.html|[\w-]+\.parquet)$/;

/** A scenario's or a record's text, or why there is none. */
export type Opened = { readonly text: string } | { readonly no: string };

export function opened(name: string, bytes: Uint8Array): Opened {
  if (OF_RECORD.test(name)) return { no: `${name} is a file of a record: drop the record's record.toml instead.` };
  const text = decoded(bytes);
  // Every scenario says its format; one that lacks it has the name of one.
  if (text === null || !(/\.toml$/i.test(name) || /^\s*format\s*=/m.test(text))) {
    return { no: `${name} is not a scenario: a scenario is a TOML file.` };
  }
  return { text };
}

/** The text of bytes; null where they are none. */
function decoded(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The notice of a record whose world does not run in a page. */
export function elsewhere(name: string, world: string): string {
  const of = world === "" ? "does not name its world" : `is of the world ${world}, which does not run in a page`;
  return `${name} ${of}. Its scenario runs in packets here, and the numbers may differ from the record's.`;
}

/** Reasons as sentences, each with its full stop. */
export function sentences(reasons: readonly string[]): string {
  return reasons.map((reason) => (/[.!?]$/.test(reason) ? reason : `${reason}.`)).join(" ");
}
