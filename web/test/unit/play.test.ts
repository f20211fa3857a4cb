// What the playground does without a page: places in a text, the schema, sliders, addresses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CompletionContext } from "@codemirror/autocomplete";
import { ChangeSet, EditorState, Text } from "@codemirror/state";

import type { Key } from "../../src/play/core";
import { complete } from "../../src/play/editor";
import { Age } from "../../src/play/age";
import { opened, sentences } from "../../src/play/file";
import { placeOf } from "../../src/play/place";
import { at, keysOf, parts, rangeOf, type Schema, wordsOf } from "../../src/play/schema";
import { packed, unpacked } from "../../src/play/share";
import { rangeFor, STEPS, spelled, stepOf, valueAt } from "../../src/play/slider";
import { followed, replaced } from "../../src/play/values";

const SCHEMA: Schema = {
  properties: {
    seed: { type: "integer", minimum: 0 },
    links: { type: "object", additionalProperties: { $ref: "#/$defs/links" } },
  },
  $defs: {
    links: {
      properties: {
        rate: { anyOf: [{ type: "string", pattern: "x" }], description: "bits per second" },
        loss: { type: "number", minimum: 0, exclusiveMaximum: 1, description: "share lost" },
        ecn: { enum: ["keep", "bleach"] },
        duplex: { type: "boolean" },
        aqm: { $ref: "#/$defs/aqm" },
      },
    },
    aqm: { properties: { law: { enum: ["red", "pi"] } } },
    "aqm.red": { properties: { law: { const: "red" }, weight: { type: "number", description: "of the average" } } },
  },
};

const key = (over: Partial<Key>): Key => ({
  key: "k",
  from: 0,
  to: 0,
  text: "10 ms",
  value: 0.01,
  unit: "s",
  quoted: true,
  whole: false,
  ...over,
});

test("a cursor stands in a table, at a key, or at the value of one", () => {
  const place = (before: string, after = "") => {
    const { table, key: named, law } = placeOf(before, after);
    return [table.join("/"), named, law];
  };
  assert.deepEqual(place("seed = 1\n"), ["", null, null]);
  assert.deepEqual(place('[links.b]\nrate = "1 Mbit/s"\nlo'), ["links/b", null, null]);
  assert.deepEqual(place("[links.b]\necn = "), ["links/b", "ecn", null]);
  assert.deepEqual(place('[links."b/back"] # way back\n'), ["links/b/back", null, null]);
  assert.deepEqual(place('[links.b]\naqm = { law = "red", we', " }"), ["links/b/aqm", null, "red"]);
  assert.deepEqual(place('[links.b]\naqm = { law = "red" }\n'), ["links/b", null, "red"]);
  assert.deepEqual(place("[links.b]\naqm = { law = "), ["links/b/aqm", "law", null]);
  assert.deepEqual(place('[links.b]\n# a = { "'), ["links/b", null, null]);
  assert.equal(placeOf("[lin", "").header, true);
});

const end = (at: number | null, open = false) => ({ at, open });
const NO_END = [end(null), end(null)] as const;

test("the schema has keys, words and ranges of a place", () => {
  assert.deepEqual(parts('links."a.b".rate'), ["links", "a.b", "rate"]);
  assert.ok(keysOf(SCHEMA, at(SCHEMA, ["links", "b"], null)).get("rate") === "bits per second");
  assert.deepEqual(wordsOf(at(SCHEMA, ["links", "b", "ecn"], null)), ['"keep"', '"bleach"']);
  assert.deepEqual(wordsOf(at(SCHEMA, ["links", "b", "duplex"], null)), ["true", "false"]);
  assert.deepEqual([...keysOf(SCHEMA, at(SCHEMA, ["links", "b", "aqm"], "red")).keys()], ["law", "weight"]);
  assert.deepEqual(rangeOf(at(SCHEMA, ["links", "b", "loss"], null)), [end(0), end(1, true)]);
  const open = { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 } as const;
  assert.deepEqual(rangeOf([open]), [end(0, true), end(1, true)]);
  assert.deepEqual(at(SCHEMA, ["no", "such"], null), []);
});

test("a completed word has one quote at each end, whatever stands around the cursor", () => {
  const taken = (text: string, wanted: string) => {
    const pos = text.indexOf("|");
    const doc = text.replace("|", "");
    const found = complete(SCHEMA, new CompletionContext(EditorState.create({ doc }), pos, true));
    const option = found?.options.find(({ label }) => label.includes(wanted));
    if (found === null || option === undefined) return null;
    return doc.slice(0, found.from) + option.label + doc.slice(found.to ?? pos);
  };
  const all = '[links.b]\naqm = { law = "pi", ecn = "keep" }';
  for (const word of ['"p|"', '"|"', '"p|red"', '"|pi"', '"|', "p|", "|", '"pi"|', '"pi|"']) {
    // A quote that is alone would begin a text that ends at the next one, so nothing with a quote is behind it here.
    const rest = ((word.match(/"/g) ?? []).length === 1 ? ", ecn = true" : ', ecn = "keep"') + " }";
    const wanted = all.replace(', ecn = "keep" }', rest);
    assert.equal(taken(`[links.b]\naqm = { law = ${word}${rest}`, "pi"), wanted, word);
  }
  assert.equal(taken("[links.b]\necn = 'b|'\n", "bleach"), "[links.b]\necn = 'bleach'\n");
  assert.equal(taken('[links.b]\necn = "|\n', "keep"), '[links.b]\necn = "keep"\n');
});

test("a slider covers the range of its key, and gives back what it shows", () => {
  const loss = rangeFor(key({ text: "0.1", value: 0.1, unit: "1", quoted: false }), [end(0), end(1)]);
  assert.deepEqual(loss, { least: 0, most: 1, log: false });
  const time = rangeFor(key({}), NO_END);
  assert.deepEqual(time, { least: 1, most: 100, log: true });
  for (const range of [loss, time]) {
    assert.equal(valueAt(0, range, false), range.least);
    assert.equal(valueAt(STEPS, range, false), range.most);
    for (const step of [1, 57, 199]) assert.equal(stepOf(valueAt(step, range, false), range), step);
  }
  // A law's range is in the base unit: 5 ms to 20 ms.
  const law = rangeFor(key({ least: 0.005, most: 0.02 }), NO_END);
  assert.deepEqual(law, { least: 5, most: 20, log: false });
  assert.equal(spelled(12.5, key({})), '"12.5 ms"');
  assert.equal(spelled(12.5, key({ text: "3 packets" })), '"13 packets"');
  assert.equal(spelled(2, key({ text: "0.5", quoted: false })), "2.0");
  assert.equal(spelled(2.4, key({ text: "1", quoted: false, whole: true })), "2");
});

test("a slider stops before an end that its key does not reach", () => {
  const share = key({ text: "0.3", value: 0.3, unit: "1", quoted: false });
  const range = rangeFor(share, [end(0, true), end(1, true)]);
  assert.deepEqual([valueAt(0, range, false), valueAt(STEPS, range, false)], [0.005, 0.995]);
  const shape = rangeFor(key({ text: "1.2", value: 1.2, unit: "1", quoted: false }), [end(1, true), end(null)]);
  assert.deepEqual([valueAt(0, shape, false), valueAt(STEPS, shape, false)], [1.01, 12]);
});

test("reasons are sentences", () => {
  assert.equal(sentences(["one", "two.", "three"]), "one. two. three.");
});

test("numbers are old where the next ones take long, and not between two answers that come soon", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let old = 0;
  const age = new Age(() => (old += 1));
  // A slider that is dragged: each answer comes soon, and some requests give way to newer ones.
  for (let i = 0; i < 5; i++) {
    age.requested();
    age.requested();
    context.mock.timers.tick(150);
    age.answered(true);
    age.answered(true);
  }
  assert.equal(old, 0);
  age.requested();
  context.mock.timers.tick(150);
  // What is asked next takes the place of the first one, whose numbers are still not there.
  age.requested();
  age.answered(false);
  context.mock.timers.tick(150);
  assert.equal(old, 1);
  age.answered(true);
  context.mock.timers.tick(10_000);
  assert.equal(old, 1, "with the answer they are new");
  age.requested();
  age.answered(false);
  context.mock.timers.tick(10_000);
  assert.equal(old, 1, "stopped");
});

test("a value is found where the text has it now, and not where it was changed", () => {
  const before = 'rate = "10 Mbit/s"\ncount = 4\ndelay = "5 ms"\n';
  const place = (name: string, value: string) => {
    const from = before.indexOf(value, before.indexOf(name));
    return key({ key: name, from, to: from + value.length, text: value.replaceAll('"', ""), quoted: value !== "4" });
  };
  const keys = [place("rate", '"10 Mbit/s"'), place("count", "4"), place("delay", '"5 ms"')];
  const after = (from: number, to: number, insert: string) => {
    const changes = ChangeSet.of({ from, to, insert }, before.length);
    const now = changes.apply(Text.of(before.split("\n"))).toString();
    const found = followed(keys, (at, side) => changes.mapPos(at, side), before, now);
    return Object.fromEntries(found.map((each) => [each.key, now.slice(each.from, each.to)]));
  };
  const all = { rate: '"10 Mbit/s"', count: "4", delay: '"5 ms"' };
  const { count: _, ...others } = all;
  // An error above all values, and one between two of them.
  assert.deepEqual(after(0, 0, "[oops\n"), all);
  const line = before.indexOf("count");
  assert.deepEqual(after(line, line + 5, "c"), all);
  // A digit more, the value gone, and its line gone.
  const four = before.indexOf("4");
  assert.deepEqual(after(four + 1, four + 1, "0"), others);
  assert.deepEqual(after(four, four, "1"), others);
  assert.deepEqual(after(four, four + 1, ""), others);
  assert.deepEqual(after(line, four + 2, ""), others);
  // What a slider writes moves the values behind it.
  const longer = replaced(keys, keys[0] as Key, '"100 Mbit/s"');
  const now = before.replace("10 M", "100 M");
  const written = { ...all, rate: '"100 Mbit/s"' };
  assert.deepEqual(Object.fromEntries(longer.map((each) => [each.key, now.slice(each.from, each.to)])), written);
});

test("an address gives back its scenario, whatever that is", async () => {
  for (const text of ["", "a = 1\n", "\u{1f600} </script> % # ".repeat(500)]) {
    const fragment = await packed({ text, world: "fluid", cell: 3 });
    assert.match(fragment, /^s=[\w-]*$/);
    assert.deepEqual(await unpacked(`#${fragment}`), { text, world: "fluid", cell: 3 });
  }
  assert.equal(await unpacked("#windows"), null);
  const entire = await packed({ text: "a = 1\n", world: "fluid", cell: 3 });
  for (const damaged of ["s=AAAA", "s=%%%", "s=", entire.slice(0, -6)]) {
    await assert.rejects(unpacked(`#${damaged}`), { message: "it is cut or damaged" }, damaged);
  }
  // A small address must not become a large text.
  const bomb = await packed({ text: "a".repeat(3_000_000), world: "packets", cell: 0 });
  await assert.rejects(unpacked(bomb), /longer/);
});

test("a file that is no scenario is refused in one sentence, which leads from a record's file to its record", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const refusal = (name: string, content: Uint8Array) => {
    const found = opened(name, content);
    return "no" in found ? found.no : null;
  };
  for (const name of ["summary.json", "cost.json", "report.html", "links.parquet", "flows.parquet"]) {
    assert.match(refusal(name, bytes("{}")) ?? "", /drop the record's record\.toml/, name);
  }
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0);
  for (const [name, content] of [
    ["a.png", png],
    ["a.toml", png],
    ["a.toml", Uint8Array.of(0x61, 0xff)],
    ["a.json", bytes('{ "format": 1 }')],
  ] as const) {
    assert.match(refusal(name, content) ?? "", /is not a scenario/, name);
  }
  for (const [name, text] of [
    ["a.toml", "fromat = 1 # a reader's mistake is told in its line\n"],
    ["a.txt", "# mail\nformat = 1\n"],
  ] as const) {
    assert.deepEqual(opened(name, bytes(text)), { text });
  }
});
