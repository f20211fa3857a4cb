// What the playground does without a page: places in a text, the schema, sliders, addresses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CompletionContext } from "@codemirror/autocomplete";
import { ChangeSet, EditorState, Text } from "@codemirror/state";

import type { Key, LinkNumbers, Summary } from "../../src/play/core";
import { complete } from "../../src/play/editor";
import { Age } from "../../src/play/age";
import { elsewhere, opened, sentences } from "../../src/play/file";
import { busiest, linkOf, margins, percent, shownLinks } from "../../src/play/measured";
import { placeOf } from "../../src/play/place";
import { at, keysOf, parts, rangeOf, type Schema, wordsOf } from "../../src/play/schema";
import { packed, unpacked } from "../../src/play/share";
import { inProportion, rangeFor, STEPS, spelled, stepOf, valueAt } from "../../src/play/slider";
import { pointsOf } from "../../src/play/trail";
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

test("values that move together keep their ratio, in many small steps too", () => {
  const plain = { unit: "1", quoted: false };
  let a = key({ ...plain, key: "a", text: "1.822e-4", value: 1.822e-4 });
  let b = key({ ...plain, key: "b", text: "1.816e-4", value: 1.816e-4 });
  const range = { least: 2e-5, most: 1e-3, log: true };
  for (let step = 0; step <= STEPS; step++) {
    const text = spelled(valueAt(step, range, false), a);
    const following = inProportion(b, a, text);
    a = { ...a, text, value: Number(text) };
    b = { ...b, text: following, value: Number(following) };
    // The gain of the integral is their difference, a third of a percent of either.
    const ratio = (a.value - b.value) / a.value;
    assert.ok(Math.abs(ratio / (0.006 / 1.822) - 1) < 1e-5, `${a.text} and ${b.text}`);
  }
  // Each keeps the unit in which it is written.
  const delay = key({ text: "10 ms", value: 0.01 });
  assert.equal(inProportion(key({ text: "2 s", value: 2 }), delay, '"5 ms"'), '"1 s"');
});

const numbers = (over: Partial<LinkNumbers>): LinkNumbers => ({
  utilization: 0.5,
  queueing_delay_mean_s: 0,
  queueing_delay_p99_s: 0,
  queue_mean_packets: 0,
  queue_sd_packets: 0,
  ...over,
});
const run = (links: Readonly<Record<string, Partial<LinkNumbers>>>): Summary => ({
  title: "",
  links: Object.fromEntries(Object.entries(links).map(([name, link]) => [name, numbers(link)])),
  groups: {},
});

test("the busiest link and those where packets wait have a row each, in the order of the scenario", () => {
  const waits = (ms: number, utilization = 0.9) => ({ utilization, queueing_delay_mean_s: ms / 1000 });
  const names = (summary: Summary) => {
    const { shown, others } = shownLinks(summary);
    return [...shown.map(([name]) => name), others];
  };
  const two = { bloated: waits(179, 0.9985), managed: waits(5, 0.95), "managed/back": waits(0.0006, 0.05) };
  assert.deepEqual(names(run(two)), ["bloated", "managed", 1]);
  // The same rows while the busiest link changes.
  assert.deepEqual(names(run({ ...two, managed: waits(12, 1) })), ["bloated", "managed", 1]);
  assert.equal(busiest(run({ ...two, managed: waits(12, 1) }))?.[0], "managed");
  const many = run({
    a: waits(1),
    b: waits(5),
    c: waits(2),
    d: waits(4),
    e: waits(3),
    f: waits(0, 1),
    g: waits(0.0004),
  });
  assert.deepEqual(names(many), ["b", "d", "e", "f", 3]);
  // One that is empty for most of the time waits too.
  assert.deepEqual(names(run({ bloated: waits(738, 1), managed: waits(0.33) })), ["bloated", "managed", 0]);
  assert.deepEqual(names(run({})), [0]);
  assert.deepEqual(shownLinks(undefined), { shown: [], others: 0 });
});

test("a key of a link names it", () => {
  const summary = run({ managed: {}, "a.b": {} });
  assert.equal(linkOf("links.managed.aqm.target", summary), "managed");
  assert.equal(linkOf('links."a.b".rate', summary), "a.b");
  for (const other of ["defaults.links.buffer", "links.gone.rate", "flows.managed.rtt"]) {
    assert.equal(linkOf(other, summary), undefined, other);
  }
});

test("shares are written as people read them, however large or small", () => {
  const written = [0, 0.5, 0.98765, 1, 153.4567, 1.37e-8, 0.0000137, -0.25].map(percent);
  assert.deepEqual(written, [
    "0 %",
    "50 %",
    "98.8 %",
    "100 %",
    "15\u202f346 %",
    "below 0.001 %",
    "0.00137 %",
    "\u221225 %",
  ]);
});

test("a loop that is unstable by itself has no margin that says stable", () => {
  const found = (verdict: string, gain: number | null, phaseDeg: number | null) => {
    const of = margins({ verdict, gain, phaseDeg, delayS: null, crossoverRadPerS: null });
    return [of.gain, of.phaseDeg];
  };
  assert.deepEqual(found("stable", 5.88, 119), [5.88, 119]);
  assert.deepEqual(found("unstable", 0.55, -67), [0.55, -67]);
  assert.deepEqual(found("unstable", 6.46, 161), [null, null]);
  assert.deepEqual(found("undecided", 2, 30), [null, null]);
  // Its place on the line is a gap, and the values stand in their order.
  const tried = new Map([
    [3, { margin: 1.5, deviation: 0.2 }],
    [1, { margin: 4, deviation: null }],
    [2, { margin: null, deviation: 0.1 }],
  ]);
  assert.deepEqual(pointsOf(tried, "margin"), [
    [1, 4],
    [2, Number.NaN],
    [3, 1.5],
  ]);
  assert.deepEqual(pointsOf(tried, "deviation"), [
    [1, Number.NaN],
    [2, 0.1],
    [3, 0.2],
  ]);
});

test("a record of a world that no page runs says so", () => {
  assert.match(
    elsewhere("record.toml", "linux"),
    /^record\.toml is of the world linux, which does not run in a page\. /,
  );
  assert.match(elsewhere("record.toml", ""), /does not name its world/);
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
