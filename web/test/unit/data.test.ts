import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { csv, fileName } from "../../src/csv";
import { column, type Curve, type Figure, Figures, read } from "../../src/data";
import { isInside, sampleAt, shortened } from "../../src/draw";
import { broken, rowsOf, withNames } from "../../src/names";
import { fixed, labelled, labelledApart, quantity, short } from "../../src/number";
import { pointsOf, readAt, readPoint } from "../../src/read";
import { isFunction, moved, restacked, side, wholeX, wholeY } from "../../src/view";

/** As the page has it: 32-bit numbers in base64. */
function four(...values: number[]): string {
  return `f:${Buffer.from(Float32Array.from(values).buffer).toString("base64")}`;
}

function page(change: object = {}, line: object = {}): Figures {
  const axis = (label: string, unit: string) => ({ label, unit, scale: "linear", range: null, ticks: [] });
  const one = { name: "a", colour: "#000000", dark: "#ffffff", style: "solid", hollow: false, x: 0, y: 1, ...line };
  const figure = {
    title: "t",
    x: axis("Time", "s"),
    y: axis("Queue", "packets"),
    lines: [one],
    marks: [],
    equalAspect: false,
    stacked: false,
    ...change,
  };
  const columns = ["u:0.1,0.1,4", four(1, Number.NaN, 30, 2.5), four(0, 0, 20, 2), four(2, 2, 40, 3)];
  return new Figures(JSON.stringify({ format: 2, columns, figures: [figure] }));
}

const choice = { x: null, y: null, xLog: false, yLog: false, ranges: false, off: new Set<number>() };

test("columns are the numbers that were written", () => {
  assert.deepEqual([...column("u:0.1,0.09999999999999999,600")].slice(0, 3), [0.1, 0.2, 0.3]);
  assert.deepEqual([...column(four(0.1, -2.5e-9, Number.NaN))], [0.1, -2.5e-9, Number.NaN]);
  const eight = Buffer.from(Float64Array.of(16_777_217, 0.1).buffer).toString("base64");
  assert.deepEqual([...column(`d:${eight}`)], [16_777_217, 0.1]);
});

test("packed columns are the numbers that were written", async () => {
  // 1.5, -2 and 1.5 as second differences of their bits, the lowest bit the sign, a plane of bytes after the other.
  const bits = new Int32Array(Float32Array.of(1.5, -2, 1.5).buffer);
  const second = [...bits].map((each, i) => (each - 2 * (bits[i - 1] ?? 0) + (bits[i - 2] ?? 0)) | 0);
  const coded = second.map((each) => (each << 1) ^ (each >> 31));
  const planes = Uint8Array.from([0, 8, 16, 24].flatMap((shift) => coded.map((each) => (each >>> shift) & 255)));
  const page = {
    format: 2,
    columns: ["u:0,1,3", "p:0,3"],
    figures: [],
    packed: deflateSync(planes).toString("base64"),
  };
  const axis = { label: "", unit: "", scale: "linear", range: null, ticks: [] };
  const line = { name: "a", colour: "", dark: "", style: "solid", hollow: false, x: 0, y: 1 };
  const figure = { title: "t", x: axis, y: axis, lines: [line], marks: [], equalAspect: false, stacked: false };
  const figures = await read(JSON.stringify({ ...page, figures: [figure] }));
  assert.deepEqual([...(figures.figure(0)?.lines[0]?.y ?? [])], [1.5, -2, 1.5]);
});

test("another format is refused", () => {
  assert.throws(() => new Figures('{"format":1,"columns":[],"figures":[]}'), /format 1, not 2/);
});

test("a line knows whether it rises", () => {
  assert.equal(page().figure(0)?.lines[0]?.rising, true);
  assert.equal(page({}, { x: 1 }).figure(0)?.lines[0]?.rising, false, "30 is before 2.5");
  assert.equal(page().figure(1), undefined);
});

test("the data as a table, and lines with unlike places as a list", () => {
  const table = csv(page({}, { name: '=A"1', band: [0, 2, 3] }).figure(0) as never).split("\r\n");
  assert.equal(table[0], `Time [s],"'=A""1 [packets]","'=A""1 [packets] band low","'=A""1 [packets] band high"`);
  assert.deepEqual(table.slice(1, 4), ["0.1,1,0,2", "0.2,,0,2", "0.3,30,20,40"]);
  const list = csv(page({}, { band: [1, 2, 3] }).figure(0) as never).split("\r\n");
  assert.deepEqual(list.slice(0, 2), ["series,Time [s],Queue [packets],low,high", "a,0.1,1,,"]);
});

test("numbers read as the tables beside them", () => {
  assert.deepEqual(
    [
      fixed(-0.001, 1),
      fixed(0.5, 1),
      fixed(12345.6, 1),
      short(2.5, 4),
      short(0, 3),
      short(1e-9, 2),
      quantity(622e6, "bit/s"),
      quantity(0.0123, "s"),
    ],
    ["0.0", "0.5", "12\u202f345.6", "2.5", "0", "1\u00d710\u207b\u2079", "622 Mbit/s", "12.3 ms"],
  );
  assert.deepEqual(labelled([0, 0.01, 0.02], "s"), { labels: ["0", "10", "20"], unit: "ms" });
  assert.deepEqual(labelledApart([155e6, 10e9], "bit/s"), { labels: ["155M", "10G"], unit: "bit/s" });
  assert.deepEqual(labelledApart([1e-6, 1], ""), { labels: ["10\u207b\u2076", "10\u2070"], unit: "" });
});

test("labels are those of the drawings", () => {
  interface Case {
    readonly unit: string;
    readonly ticks: readonly number[];
    readonly apart: boolean;
    readonly labels: readonly string[];
    readonly title: string;
  }
  // The tests run in the folder of the viewer; the tests of the drawings read the same file.
  const cases = JSON.parse(readFileSync("../crates/report/tests/labels.json", "utf8")) as Case[];
  assert.ok(cases.length > 20);
  for (const { unit, ticks, apart, labels, title } of cases) {
    const found = (apart ? labelledApart : labelled)(ticks, unit);
    assert.deepEqual(found, { labels, unit: title }, `${ticks.join(" ")} ${unit}`);
  }
});

test("names along an axis stay whole: in lines, or behind their numbers", () => {
  const measure = (text: string) => 7 * text.length;
  assert.deepEqual(broken("cubic, 10 Mbit/s", 80, measure), ["cubic, 10", "Mbit/s"]);
  assert.equal(broken("initial_window", 80, measure), null, "a word is wider");
  assert.equal(broken("a b c d", 7, measure), null, "four lines");
  const names = ["newreno, 10 Mbit/s", "newreno, 100 Mbit/s", "newreno, 1000 Mbit/s"];
  const ticks = names.map((label, at) => ({ at, label }));
  const axis = { label: "", unit: "", scale: "linear", range: [-0.5, 2.5], ticks } as const;
  const drawn = (width: number, span: readonly [number, number] = [-0.5, 2.5]) => {
    const pixels = [0, width] as const;
    const { side: x, numbered } = withNames(axis, side(axis, span, false, pixels, 5), pixels, measure);
    return { labels: x.ticks.map(({ label }) => label), numbered, rows: rowsOf(x) };
  };
  assert.deepEqual(drawn(1500), { labels: names, numbered: false, rows: 1 });
  assert.deepEqual(drawn(300).labels, ["newreno, 10\nMbit/s", "newreno, 100\nMbit/s", "newreno, 1000\nMbit/s"]);
  assert.equal(drawn(300).rows, 2);
  assert.deepEqual(drawn(100), { labels: ["1", "2", "3"], numbered: true, rows: 1 });
  // Numbers are those of the list, whatever is in view.
  assert.deepEqual(drawn(60, [0.6, 2.4]).labels, ["2", "3"]);
});

test("the data of cases have their names", () => {
  const figure = page().figure(0) as Figure;
  const ticks = [
    { at: 0.1, label: "cubic, 1 Mbit/s" },
    { at: 0.2, label: null },
  ];
  const named = { ...figure, x: { ...figure.x, ticks } };
  assert.deepEqual(csv(named).split("\r\n").slice(1, 3), ['"cubic, 1 Mbit/s",1', "0.2,"]);
});

test("labels of a narrow axis differ, keep the prefix of their unit, and are no longer than their room", () => {
  for (const [low, step, unit, first, words] of [
    [0.9998, 0.00005, "", "0.99980", ""],
    [0.0606124, 2e-7, "s", "60.6124", "ms"],
    [0.06061241, 5e-9, "s", "0.000010", "+60.6124 ms"],
    [-0.0606124, 5e-9, "s", "0.000000", "\u221260.6124 ms"],
    [12345678, 2, "packets", "\u22120.000002", "+12.34568 \u00d7 10\u2076 packets"],
    [0.000001, 0.000002, "", "1", "10\u207b\u2076"],
    [0, 0.01, "s", "0", "ms"],
  ] as const) {
    const ticks = [0, 1, 2, 3].map((i) => low + i * step);
    const { labels, unit: said } = labelled(ticks, unit);
    assert.equal(new Set(labels).size, ticks.length, labels.join(" "));
    assert.deepEqual([labels[0], said], [first, words]);
    // What an axis says: its label, and what is added to it.
    const added =
      said.startsWith("+") || said.startsWith("\u2212") ? Number.parseFloat(said.replace("\u2212", "-")) : 0;
    const factor = said.endsWith("ms") ? 1e-3 : said.includes("10\u2076") ? 1e6 : said.includes("10\u207b") ? 1e-6 : 1;
    labels.forEach((label, i) => {
      const value = (Number(label.replace("\u2212", "-")) + added) * factor;
      assert.ok(Math.abs(value - (ticks[i] as number)) < 1e-3 * step, `${label} ${said}`);
    });
  }
});

test("a value with an error of rounding has an axis as one value has", () => {
  const figure = page().figure(0) as Figure;
  const [line] = figure.lines as [Curve];
  const axis = (values: number[]) => {
    const one = { ...figure, lines: [{ ...line, x: Float64Array.of(0, 0.5, 1), y: Float64Array.from(values) }] };
    return wholeY(one, choice, [0, 1]);
  };
  assert.deepEqual(axis([60.616, 60.616, 60.616]), [0, 1.2 * 60.616]);
  const [low, high] = axis([60.616, 60.616 + 1e-13, 60.616]);
  assert.ok(low === 0 && high > 60.616, `${low} to ${high}`);
  // So has one whose figure gives the limits: those of an ellipse around it.
  const given = { ...figure, x: { ...figure.x, range: [0.060616, 0.060616 + 1e-16] as const } };
  assert.ok(wholeX(given, choice)[1] - wholeX(given, choice)[0] > 1e-3, wholeX(given, choice).join(" to "));
});

test("the warm-up does not set the scale alone", () => {
  const figure = page({ warmUp: 0.35 }).figure(0) as never;
  assert.deepEqual(
    wholeX(figure, choice).map((v) => v.toFixed(3)),
    ["0.085", "0.415"],
    "single points have room",
  );
  // After the warm-up there is 2.5: of 30 before it, what is half as much beyond is shown.
  assert.ok(wholeY(figure, choice, [0.1, 0.4])[1] < 5);
  assert.ok(wholeY(figure, choice, [0.1, 0.34])[1] > 30, "within it there is nothing else");
});

test("an axis says what it is", () => {
  const axis = { label: "Rate", unit: "bit/s", scale: "linear", range: null, ticks: [] } as const;
  assert.equal(side(axis, [1e6, 1e9], true, [0, 100], 5).title, "Rate [bit/s], logarithmic");
  assert.equal(side(axis, [1e6, 4e6], false, [0, 100], 5, true).title, "Rate [Mbit/s], not from 0");
  const { invert, ruler } = side(axis, [1, 100], true, [0, 100], 5);
  assert.ok(Math.abs(invert(50) - 10) < 1e-9 && Math.abs(ruler.offset) < 1e-9);
});

test("a title that is too long keeps its unit and where its axis starts", () => {
  const axis = {
    label: "Queueing delay at the last update",
    unit: "s",
    scale: "linear",
    range: null,
    ticks: [],
  } as const;
  const measure = (text: string) => 6 * text.length;
  const y = side(axis, [0.004, 0.006], false, [0, 100], 5, true);
  const whole = "Queueing delay at the last update [ms], not from 0";
  assert.equal(shortened(y, 6 * whole.length, measure), whole);
  const cut = shortened(y, 6 * whole.length - 1, measure);
  assert.match(cut, /^Queueing delay at the last upd[a-z]*\u2026 \[ms\], not from 0$/);
  assert.ok(measure(cut) < 6 * whole.length);
  assert.equal(shortened(y, 10, measure), "\u2026 [ms], not from 0");
  assert.match(shortened(side(axis, [1e-3, 1], true, [0, 100], 5), 200, measure), /^Q.*\u2026 \[m?s\], logarithmic$/);
});

test("a mark at the very end of an axis is on it, whatever is rounded", () => {
  const area = { left: 56, right: 1262, top: 8, bottom: 254 };
  const off = 1e-10;
  for (const at of [
    [area.right + off, 100],
    [area.left - off, 100],
    [600, area.top - off],
    [600, area.bottom + off],
  ] as const) {
    assert.ok(isInside(at, area), at.join(", "));
  }
  for (const at of [
    [area.right + 1, 100],
    [600, area.top - 1],
    [Number.NaN, 100],
  ] as const) {
    assert.ok(!isInside(at, area), at.join(", "));
  }
});

test("a step holds until the next one", () => {
  const steps = page({}, { style: "steps" }).figure(0)?.lines[0] as never;
  assert.deepEqual(
    [0.05, 0.1, 0.15, 0.39, 9].map((x) => sampleAt(steps, x)),
    [-1, 0, 0, 2, 3],
  );
  const line = page().figure(0)?.lines[0] as never;
  assert.deepEqual(
    [0.05, 0.14, 0.16, 0.42].map((x) => sampleAt(line, x)),
    [0, 0, 1, 3],
  );
});

test("a title is the name of a file, a long one with its end", () => {
  assert.equal(fileName("Throughput of links"), "throughput-of-links.csv");
  assert.equal(fileName("\u03b1 \u2013 "), "figure.csv");
  const long = (end: string) => fileName(`${"y".repeat(300)} ${end}`);
  assert.equal(long("a"), `${"y".repeat(30)}-${"y".repeat(27)}-a.csv`);
  assert.notEqual(long("a"), long("b"));
});

/** A figure of lines with these samples. */
function lines(...all: (readonly [x: readonly number[], y: readonly number[]])[]): Figure {
  const figure = page().figure(0) as Figure;
  const [line] = figure.lines as [Curve];
  const made = all.map(([x, y], i) => ({
    ...line,
    name: "abc"[i] ?? "",
    x: Float64Array.from(x),
    y: Float64Array.from(y),
  }));
  return { ...figure, lines: made };
}

test("between two samples an axis shows what the line has there", () => {
  const figure = lines([
    [0, 10, 20],
    [0, 100, 40],
  ]);
  const near = ([low, high]: readonly [number, number], a: number, b: number) =>
    assert.ok(Math.abs(low - a) < 0.2 * (b - a) && Math.abs(high - b) < 0.2 * (b - a), `${low} to ${high}`);
  near(wholeY(figure, choice, [4, 6]), 38, 62);
  near(wholeY(figure, choice, [12, 14]), 74, 90);
  // With a sample in view, the line still enters and leaves.
  near(wholeY(figure, choice, [9, 11]), 88, 101);
  const log = wholeY(
    lines([
      [1, 10],
      [1, 100],
    ]),
    { ...choice, xLog: true, yLog: true },
    [2, 5],
  );
  near(log, 4, 25);
  // Nothing is drawn over a gap.
  assert.deepEqual(
    wholeY(
      lines([
        [0, 10],
        [5, Number.NaN],
      ]),
      choice,
      [4, 6],
    ),
    [0, 1],
  );
});

test("beyond its ends a line has no value", () => {
  const [line] = lines([
    [1, 2, 3],
    [5, 6, 7],
  ]).lines as [Curve];
  assert.deepEqual(
    [-0.1, 0.1, 3.9, 4.1].map((x) => sampleAt(line, x)),
    [-1, 0, 2, -1],
    "a sample is one of the time up to its neighbour",
  );
  const [one] = lines([[1], [5]]).lines as [Curve];
  assert.deepEqual(
    [0.9, 1, 1.1].map((x) => sampleAt(one, x)),
    [-1, 0, -1],
  );
});

test("a view moves no further than there is anything", () => {
  const axis = { label: "", unit: "", scale: "linear", range: null, ticks: [] } as const;
  const whole = [0, 30] as const;
  const x = side(axis, [10, 20], false, [0, 100], 5);
  assert.deepEqual(moved([10, 20], x, 50, whole), [15, 25]);
  assert.deepEqual(moved([10, 20], x, 5000, whole), [20, 30]);
  assert.deepEqual(moved([10, 20], x, -5000, whole), [0, 10]);
  assert.deepEqual(moved([0, 30], x, 70, whole), [0, 30]);
  const log = side(axis, [1, 10], true, [0, 100], 5);
  assert.deepEqual(
    moved([1, 10], log, -5000, [0.1, 100]).map((v) => v.toFixed(6)),
    ["0.100000", "1.000000"],
  );
});

test("a stack closes where a line is off, and comes back", () => {
  const figure = lines([[], []], [[], []], [[], []]);
  const x = Float64Array.of(1, 2);
  const bands = [
    [0, 0, 3, 4],
    [3, 4, 5, 5],
    [5, 5, 6, 9],
  ].map(([a, b, c, d]) => ({
    x,
    low: Float64Array.of(a as number, b as number),
    high: Float64Array.of(c as number, d as number),
  }));
  const stack = {
    ...figure,
    stacked: true,
    lines: figure.lines.map((line, i) => ({ ...line, band: bands[i] ?? null })),
  };
  const drawn = (off: number[]) =>
    restacked(stack, new Set(off)).lines.map(({ band }) => [...(band?.low ?? []), ...(band?.high ?? [])]);
  assert.deepEqual(drawn([0]).slice(1), [
    [0, 0, 2, 1],
    [2, 1, 3, 5],
  ]);
  assert.deepEqual(drawn([1])[2], [3, 4, 4, 8]);
  assert.deepEqual(drawn([]), drawn([0, 1, 2]));
});

test("limits are read where there is room between them, as tables have intervals", () => {
  const x = Float64Array.of(0, 1);
  const band = { x, low: Float64Array.of(1, 3), high: Float64Array.of(2, 3) };
  const plain = lines([
    [0, 1],
    [1.5, 3],
  ]);
  const figure = { ...plain, lines: plain.lines.map((line) => ({ ...line, band })) };
  const words = (at: number) => readAt(figure, choice, at).values.map((value) => value.words);
  assert.deepEqual([words(0), words(1)], [["1.5 packets (1 packets to 2 packets)"], ["3 packets"]]);
});

test("an ellipse is read, stepped through and saved as its mean and deviations", () => {
  const plain = lines(
    [
      [1, 2, 1, 0, 1],
      [0, 2, 4, 2, 0],
    ],
    [
      [1, 1],
      [2, 2],
    ],
  );
  const spread = { mean: [1, 2], deviation: [1, 0.5], correlation: 0.25, samples: [20, 40] } as const;
  const figure = { ...plain, lines: plain.lines.map((line) => ({ ...line, spread })) };
  assert.equal(isFunction(figure), false, "though the second one has one x");
  assert.deepEqual(pointsOf(figure, choice), [
    { line: 0, at: 0 },
    { line: 1, at: 0 },
  ]);
  const reading = readPoint(figure, { line: 1, at: 0 });
  assert.deepEqual(reading?.values, [
    { line: 1, name: "b", words: "mean 2 packets, standard deviation 0.5 packets", at: [1, 2] },
  ]);
  const [heads, ...rows] = csv(figure).trimEnd().split("\r\n");
  assert.match(heads ?? "", /^series,"Time, mean \[s\]","Time, standard deviation \[s\]","Time, samples",/);
  assert.deepEqual(rows, ["a,1,1,20,2,0.5,40,0.25", "b,1,1,20,2,0.5,40,0.25"]);
});

test("every point of a figure of points is one step", () => {
  const figure = lines(
    [
      [3, 3, 1],
      [1, 1, 2],
    ],
    [
      [2, 5],
      [Number.NaN, 4],
    ],
  );
  const points = pointsOf(figure, choice);
  assert.equal(points.length, 4, "a gap is no point");
  const words = points.map((point) => {
    const reading = readPoint(figure, point);
    return [reading?.x, reading?.values[0]?.name, reading?.point];
  });
  assert.deepEqual(words, [
    [3, "a", 0],
    [3, "a", 1],
    [1, "a", 2],
    [5, "b", 1],
  ]);
});
