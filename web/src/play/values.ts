// Where the values of keys are while the text around them changes.

import type { Key } from "./core";
import { written } from "./slider";

/** From a place in the text before changes to the place after them; text put there is behind it, or before it. */
export type Moved = (at: number, side: -1 | 1) => number;

/** Keys where the text has them after changes. One whose value itself was changed is left out until the text is read again. */
export function followed(keys: readonly Key[], moved: Moved, before: string, now: string): Key[] {
  return keys.flatMap((key) => {
    const [from, to] = [moved(key.from, -1), moved(key.to, 1)];
    return now.slice(from, to) === before.slice(key.from, key.to) ? [{ ...key, from, to }] : [];
  });
}

/** Keys after the value of one of them was replaced. */
export function replaced(keys: readonly Key[], key: Key, text: string): Key[] {
  const by = text.length - (key.to - key.from);
  const value = text.replace(/^"|"$/g, "");
  return keys.map((each) => {
    if (each.key === key.key) {
      const factor = each.value / written(each.text).number;
      return {
        ...each,
        to: each.to + by,
        text: value,
        value: written(value).number * (Number.isFinite(factor) ? factor : 1),
      };
    }
    return each.from > key.from ? { ...each, from: each.from + by, to: each.to + by } : each;
  });
}
