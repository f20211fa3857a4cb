// Numbers as people read them: the rules of crates/report/src/number.rs, and those of labels in crates/report/src/scale.rs.

interface Prefix {
  readonly factor: number;
  readonly symbol: string;
}

const NONE: Prefix = { factor: 1, symbol: "" };
const UP: readonly Prefix[] = [
  { factor: 1e12, symbol: "T" },
  { factor: 1e9, symbol: "G" },
  { factor: 1e6, symbol: "M" },
  { factor: 1e3, symbol: "k" },
  NONE,
];
const DOWN: readonly Prefix[] = [
  NONE,
  { factor: 1e-3, symbol: "m" },
  { factor: 1e-6, symbol: "\u00b5" },
  { factor: 1e-9, symbol: "n" },
];
const UPWARDS = ["bit/s", "B", "bit", "B/s"];

/** The largest prefix of a unit that leaves at least `least` before the point. Rates and sizes go up, times down. */
export function prefix(value: number, unit: string, least = 1): Prefix {
  const list = UPWARDS.includes(unit) ? UP : unit === "s" ? DOWN : [NONE];
  if (value === 0) return NONE;
  const fits = (p: Prefix) => Math.abs(value) / p.factor >= least * (1 - 1e-9);
  return list.find(fits) ?? list.at(-1) ?? NONE;
}

/** `value` with so many digits after the point, thousands set apart from 10 000 on, with a true minus sign. */
export function fixed(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(Math.min(decimals, 20));
  const [whole = "", part] = text.split(".");
  const apart = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  const sign = value < 0 && /[1-9]/.test(text) ? "\u2212" : "";
  return sign + apart + (part === undefined ? "" : `.${part}`);
}

/** `value` with at most so many significant digits, without trailing zeros. */
export function short(value: number, digits: number): string {
  if (Number.isNaN(value)) return "\u2013";
  if (!Number.isFinite(value)) return value > 0 ? "\u221e" : "\u2212\u221e";
  if (value === 0) return "0";
  const exponent = exponentOf(value, digits);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return fixed(value, 0);
  if (exponent < -5 || exponent >= 15) {
    const mantissa = trimmed(value.toExponential(digits - 1).split("e")[0] ?? "").replace("-", "\u2212");
    return `${mantissa}\u00d710${superscript(exponent)}`;
  }
  return trimmed(fixed(value, Math.max(digits - 1 - exponent, 0)));
}

/** `value` in `unit` with the prefix that suits it: `622 Mbit/s`, `12.3 ms`. */
export function quantity(value: number, unit: string, digits = 4): string {
  const { factor, symbol } = Number.isFinite(value) ? prefix(value, unit) : NONE;
  const text = short(value / factor, digits);
  return unit === "" || text === "\u2013" ? text : `${text} ${symbol}${unit}`;
}

function trimmed(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function exponentOf(value: number, digits: number): number {
  return Number(value.toExponential(Math.max(digits - 1, 0)).split("e")[1]);
}

function superscript(exponent: number): string {
  const digits = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  return [...String(exponent)].map((c) => (c === "-" ? "\u207b" : (digits[Number(c)] ?? c))).join("");
}

/** A label has at most so many digits. */
const LONG = 7;
/** Values below this, in steps below that, have a power of ten in their unit. */
const SMALL = 0.01;
const FINE = 1e-3;

/** Ticks and the unit that their labels are in. */
export interface Labelled {
  readonly labels: readonly string[];
  readonly unit: string;
}

/** Labels of equally spaced ticks, with one prefix. Where they would be long, they are differences from a value in the unit. */
export function labelled(ticks: readonly number[], unit: string): Labelled {
  const most = Math.max(0, ...ticks.map(Math.abs));
  const step = ticks.length > 1 ? Math.abs((ticks[1] ?? 0) - (ticks[0] ?? 0)) : most;
  const chosen = prefix(most, unit, 2);
  let { factor, symbol } = chosen;
  // A power of ten helps where no prefix makes the values neither long nor small. The smallness of a step alone is no reason.
  const scaled = most / factor;
  if (scaled >= 1e5 || (most > 0 && scaled < SMALL && step / factor < FINE)) {
    const exponent = Math.floor(exponentOf(most, 1) / 3) * 3;
    factor = 10 ** exponent;
    symbol = `10${superscript(exponent)} `;
  }
  const words = `${symbol}${unit}`.trim();
  const decimals = decimalsOf(step / factor);
  const longest = String(Math.trunc(most / factor)).length + decimals;
  if (longest <= LONG || ticks.length < 2) {
    return { labels: ticks.map((tick) => fixed(tick / factor, decimals)), unit: words };
  }
  // Their common part, of as many digits as are shared by all, stands once in the title.
  const [first = 0] = ticks;
  const room = Math.max(...ticks.map((tick) => Math.abs(tick - first))) / factor;
  const kept = Math.max(-exponentOf(10 * room, 1), 0);
  const base = Number((first / factor).toFixed(kept));
  const from = fixed(base, kept);
  const apart = ticks.map((tick) => fixed(tick / factor - base, decimals));
  return {
    labels: apart,
    unit: `${base < 0 ? "" : "+"}${from} ${symbol.startsWith("10") ? "\u00d7 " : ""}${words}`.trim(),
  };
}

function decimalsOf(distance: number): number {
  // Ticks have rounding errors of their own, and their distance has at most two digits.
  const step = Number(distance.toPrecision(2));
  if (!(step > 0)) return 0;
  for (let decimals = 0; decimals < 12; decimals++) {
    const scaled = step * 10 ** decimals;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled && Math.round(scaled) > 0) return decimals;
  }
  return 12;
}

function isPowerOfTen(value: number): boolean {
  return value.toExponential(6).startsWith("1.000000e");
}

/** Labels of ticks far apart: each with its own prefix, as in 155M; times and plain numbers with one prefix. */
export function labelledApart(ticks: readonly number[], unit: string): Labelled {
  const least = Math.min(...ticks.filter((t) => t !== 0).map(Math.abs));
  const most = Math.max(...ticks.map(Math.abs));
  if (UPWARDS.includes(unit) && prefix(least, unit) !== prefix(most, unit)) {
    const each = (tick: number) => {
      const { factor, symbol } = prefix(tick, unit);
      return short(tick / factor, 4) + symbol;
    };
    return { labels: ticks.map(each), unit };
  }
  // A unit with prefixes keeps them, and a power beside a plain number is hard to compare.
  const prefixed = unit === "s" || UPWARDS.includes(unit);
  if (!prefixed && (most >= 1e5 || least < 1e-3) && ticks.every(isPowerOfTen)) {
    return { labels: ticks.map((tick) => `10${superscript(exponentOf(tick, 1))}`), unit };
  }
  const { factor, symbol } =
    unit === "s" ? prefix(most <= 10 && least < 1 ? least : most, unit, 0.1) : prefix(least, unit);
  return { labels: ticks.map((tick) => short(tick / factor, 5)), unit: `${symbol}${unit}` };
}
