//! Usual spellings of units, and the same quantity in the units of a scenario.
//!
//! A spelling that has two meanings gives both. One that nobody can be sure of, such as `parsec`, gives none.

use super::{Decimal, Kind, is_exact};

/// A possible meaning of a spelling: `times * 10^power` of a unit that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meaning {
    times: u128,
    power: i32,
    unit: &'static str,
}

const fn just(unit: &'static str) -> Meaning {
    several(1, unit)
}

const fn several(times: u128, unit: &'static str) -> Meaning {
    Meaning { times, power: 0, unit }
}

/// The quantities of `kind` that a text may stand for, as a scenario has them; none where its number or unit is unknown.
pub(super) fn suggested(text: &str, kind: &Kind) -> Vec<String> {
    let Some((decimal, unit)) = Decimal::split(text) else { return Vec::new() };
    if decimal.negative || !is_exact(text) || unit.is_empty() {
        return Vec::new();
    }
    let in_unit = |meaning: Meaning| {
        let decimal = Decimal::of(decimal.digits.checked_mul(meaning.times)?, decimal.exponent + meaning.power);
        Some(format!("{} {}", decimal.plain(), meaning.unit))
    };
    let squeezed: String = unit.split_whitespace().collect();
    (kind.spelled)(&squeezed).into_iter().filter_map(in_unit).filter(|text| text.len() <= 60).collect()
}

pub(super) fn time(unit: &str) -> Vec<Meaning> {
    // SI's megasecond, which nobody means, and a factor of 10^9 from what may be meant.
    if unit == "Ms" {
        return Vec::new();
    }
    let known = match unit.to_lowercase().as_str() {
        // `m` is SI's metre, and stands for either in programs.
        "m" => return vec![just("min"), just("ms")],
        "ps" | "psec" | "psecs" | "picosecond" | "picoseconds" => just("ps"),
        "ns" | "nsec" | "nsecs" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => just("ns"),
        "us" | "usec" | "usecs" | "\u{b5}s" | "\u{3bc}s" | "\u{b5}sec" | "\u{3bc}sec" | "micro" | "micros"
        | "microsecond" | "microseconds" => just("us"),
        "ms" | "msec" | "msecs" | "milli" | "millis" | "millisecond" | "milliseconds" => just("ms"),
        "s" | "sec" | "secs" | "second" | "seconds" => just("s"),
        "min" | "mins" | "minute" | "minutes" => just("min"),
        "h" | "hr" | "hrs" | "hour" | "hours" => just("h"),
        "d" | "day" | "days" => several(24, "h"),
        "w" | "week" | "weeks" => several(168, "h"),
        _ => return Vec::new(),
    };
    vec![known]
}

pub(super) fn packets(unit: &str) -> Vec<Meaning> {
    let known = ["p", "pk", "pkt", "pkts", "packet", "packets", "segment", "segments", "frame", "frames"];
    if known.contains(&unit.to_lowercase().as_str()) { vec![just("packets")] } else { Vec::new() }
}

pub(super) fn products(unit: &str) -> Vec<Meaning> {
    match unit.to_lowercase().as_str() {
        "bdp" | "bdps" | "xbdp" | "*bdp" => vec![just("bdp")],
        "bdpofbytes" | "bdpsofbytes" | "bdpbytes" => vec![just("bdp of bytes")],
        _ => Vec::new(),
    }
}

pub(super) fn per_second(unit: &str) -> Vec<Meaning> {
    let known = match unit.to_lowercase().as_str() {
        "hz" | "hertz" | "/sec" | "/second" | "persec" | "persecond" | "1/s" | "s^-1" | "s-1" => just("/s"),
        "khz" | "/ms" => several(1000, "/s"),
        _ => return Vec::new(),
    };
    vec![known]
}

/// A multiple of a bit or a byte: a power of 1000, or of 1024.
#[derive(Clone, Copy)]
struct Prefix {
    power: usize,
    binary: bool,
}

impl Prefix {
    fn of(text: &str) -> Option<Self> {
        let decimal = |power| Some(Self { power, binary: false });
        let binary = |power| Some(Self { power, binary: true });
        match text.to_lowercase().as_str() {
            "" => decimal(0),
            "k" | "kilo" => decimal(1),
            "m" | "mega" => decimal(2),
            "g" | "giga" => decimal(3),
            "t" | "tera" => decimal(4),
            "ki" | "kibi" => binary(1),
            "mi" | "mebi" => binary(2),
            "gi" | "gibi" => binary(3),
            "ti" | "tebi" => binary(4),
            _ => None,
        }
    }

    /// Number of ones.
    const fn ones(self) -> u128 {
        (if self.binary { 1024u128 } else { 1000 }).pow(self.power as u32)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Bits,
    Bytes,
    /// A single letter `b`, which strictly is the bit.
    Letter,
    /// A prefix alone.
    Nothing,
}

/// Prefix and unit of a spelling.
fn amount(unit: &str) -> Option<(Prefix, Of)> {
    let lower = unit.to_lowercase();
    let words = [("bits", Of::Bits), ("bit", Of::Bits), ("bytes", Of::Bytes), ("byte", Of::Bytes)];
    let more = [("octets", Of::Bytes), ("octet", Of::Bytes)];
    let word = words.into_iter().chain(more).find_map(|(word, of)| Some((lower.strip_suffix(word)?, of)));
    let (prefix, of) = match (word, unit.strip_suffix('b'), unit.strip_suffix('B')) {
        (Some(found), ..) => found,
        (None, Some(prefix), _) => (prefix, Of::Letter),
        (None, None, Some(prefix)) => (prefix, Of::Bytes),
        _ => (unit, Of::Nothing),
    };
    Some((Prefix::of(prefix)?, of))
}

const RATES: [&str; 5] = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
const SIZES: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
const BINARY_SIZES: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

pub(super) fn rate(unit: &str) -> Vec<Meaning> {
    let lower = unit.to_ascii_lowercase();
    let per = ["/seconds", "/second", "/secs", "/sec", "/s", "perseconds", "persecond", "persec", "ps"];
    let per = per.into_iter().find(|per| lower.ends_with(per)).unwrap_or_default();
    let Some((prefix, of)) = amount(&unit[..unit.len() - per.len()]) else { return Vec::new() };
    if of == Of::Nothing && prefix.power == 0 {
        return Vec::new();
    }
    let bits = |times: u128| {
        if prefix.binary { several(times * prefix.ones(), "bit/s") } else { several(times, RATES[prefix.power]) }
    };
    match of {
        // Who writes all in capitals does not tell bits from bytes.
        Of::Bytes if unit.len() > 1 && per == "ps" && unit == unit.to_uppercase() => vec![bits(1), bits(8)],
        Of::Bytes => vec![bits(8)],
        Of::Bits | Of::Letter | Of::Nothing => vec![bits(1)],
    }
}

pub(super) fn size(unit: &str) -> Vec<Meaning> {
    let Some((prefix, of)) = amount(unit) else { return Vec::new() };
    let bytes = if prefix.binary { just(BINARY_SIZES[prefix.power]) } else { just(SIZES[prefix.power]) };
    let bits = if prefix.binary {
        Meaning { times: 125 * prefix.ones(), power: -3, unit: "B" }
    } else {
        Meaning { times: 125, power: -3, unit: SIZES[prefix.power] }
    };
    let binary = just(BINARY_SIZES[prefix.power]);
    match of {
        Of::Bits => vec![bits],
        Of::Letter => vec![bytes, bits],
        // `KB` is 1000 bytes or 1024.
        Of::Bytes if unit == "KB" => vec![bytes, binary],
        Of::Nothing if prefix.power > 0 && !prefix.binary => vec![bytes, binary],
        Of::Nothing if prefix.power == 0 => Vec::new(),
        Of::Bytes | Of::Nothing => vec![bytes],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{BDP, PACKETS, PER_SECOND, RATE, SIZE, TIME, bytes, measure, not_a, rate, time};
    use super::*;

    /// A quantity of `kind` in base units.
    fn exactly(text: &str, kind: &Kind) -> Decimal {
        let (decimal, factor, power) = measure(text, kind).unwrap_or_else(|e| panic!("{e}"));
        Decimal::of(decimal.digits * factor, decimal.exponent + power)
    }

    /// A kind, spellings, and possible values of one of each in base units: digits and a power of ten each.
    type Spelled = (&'static Kind, &'static [&'static str], &'static [(u128, i32)]);

    #[rustfmt::skip] // one kind of spelling a line
    const SPELLINGS: &[Spelled] = &[
        (&TIME, &["psec", "picoseconds"], &[(1, -12)]),
        (&TIME, &["nsec", "NS", "nanosecond"], &[(1, -9)]),
        (&TIME, &["usec", "\u{b5}s", "\u{3bc}s", "microseconds", "US"], &[(1, -6)]),
        (&TIME, &["msec", "msecs", "MS", "mS", "millis", "milliseconds"], &[(1, -3)]),
        (&TIME, &["sec", "secs", "S", "seconds", "second", "Sec"], &[(1, 0)]),
        (&TIME, &["minutes", "mins", "Min"], &[(60, 0)]),
        (&TIME, &["hr", "hrs", "hours", "H"], &[(3600, 0)]),
        (&TIME, &["d", "days", "day"], &[(86_400, 0)]),
        (&TIME, &["weeks"], &[(604_800, 0)]),
        (&TIME, &["m", "M"], &[(60, 0), (1, -3)]),
        (&RATE, &["bps", "b/s", "bits/s", "bit/sec", "bits per second"], &[(1, 0)]),
        (&RATE, &["kbps", "Kbps", "kb/s", "Kbit/s", "kbit", "K", "kilobits/s"], &[(1, 3)]),
        (&RATE, &["Mbps", "mbps", "Mb/s", "mb/s", "Mbit", "mbit", "mbit/s", "MBit/s", "Mbits/sec", "M", "m", "megabit/s"], &[(1, 6)]),
        (&RATE, &["Gbps", "gbps", "Gb/s", "Gbit", "GBit/s", "G", "gbit/s"], &[(1, 9)]),
        (&RATE, &["Tbps", "tbit"], &[(1, 12)]),
        (&RATE, &["B/s", "Bps", "bytes/s", "byte/sec"], &[(8, 0)]),
        (&RATE, &["kB/s", "KB/s", "KBps", "kbytes/s"], &[(8, 3)]),
        (&RATE, &["MB/s", "MBps", "Mbyte/s", "MB"], &[(8, 6)]),
        (&RATE, &["GB/s", "GBps"], &[(8, 9)]),
        (&RATE, &["KiB/s", "kiB/s"], &[(8192, 0)]),
        (&RATE, &["MiB/s"], &[(8_388_608, 0)]),
        (&RATE, &["Kibit/s"], &[(1024, 0)]),
        (&RATE, &["Gibit/s"], &[(1 << 30, 0)]),
        (&RATE, &["MBPS"], &[(1, 6), (8, 6)]),
        (&SIZE, &["bytes", "byte", "octets", "Bytes"], &[(1, 0)]),
        (&SIZE, &["kbytes", "kilobyte"], &[(1, 3)]),
        (&SIZE, &["KB", "k", "K"], &[(1, 3), (1024, 0)]),
        (&SIZE, &["M", "m"], &[(1, 6), (1 << 20, 0)]),
        (&SIZE, &["mB", "megabytes", "Mbyte"], &[(1, 6)]),
        (&SIZE, &["gB", "gigabyte"], &[(1, 9)]),
        (&SIZE, &["kiB", "kibibytes", "Ki"], &[(1024, 0)]),
        (&SIZE, &["miB", "mebi bytes", "mebibyte"], &[(1 << 20, 0)]),
        (&SIZE, &["bits", "bit"], &[(125, -3)]),
        (&SIZE, &["Mbit", "megabits"], &[(125, 3)]),
        (&SIZE, &["b"], &[(1, 0), (125, -3)]),
        (&SIZE, &["Mb", "mb"], &[(1, 6), (125, 3)]),
        (&PACKETS, &["pkt", "pkts", "Packets", "p", "segments"], &[(1, 0)]),
        (&BDP, &["BDP", "bdps", "Bdp"], &[(1, 0)]),
        (&PER_SECOND, &["Hz", "hz", "/sec", "per second", "s^-1"], &[(1, 0)]),
        (&PER_SECOND, &["kHz", "/ms"], &[(1, 3)]),
    ];

    /// The quantities in back-quotes of a remedy.
    fn offered(remedy: &str) -> Vec<&str> {
        remedy.split('`').skip(1).step_by(2).collect()
    }

    proptest! {
        /// Whatever is suggested is the quantity that was written, to the last digit, in each of its meanings.
        #[test]
        fn a_suggestion_is_the_same_quantity(digits in 1..10u64.pow(12), places in 0..9u32, space in any::<bool>()) {
            let number = Decimal::of(u128::from(digits), -(places as i32));
            for (kind, spellings, meanings) in SPELLINGS {
                for spelling in *spellings {
                    let text = format!("{}{}{spelling}", number.plain(), if space { " " } else { "" });
                    let refused = not_a(&text, kind);
                    let offered = offered(&refused.remedy);
                    let found: Vec<_> = offered.iter().map(|text| exactly(text, kind)).collect();
                    let meant = |(times, power): &(u128, i32)| Decimal::of(number.digits * times, number.exponent + power);
                    prop_assert_eq!(found, meanings.iter().map(meant).collect::<Vec<_>>(), "{}: {}", text, refused);
                }
            }
        }

        /// Of a unit that nobody knows, or of none, no quantity is suggested that was not written.
        #[test]
        fn nothing_is_made_up(text in "[0-9]{1,6}(\\.[0-9]{1,3})? ?[a-zA-Z/]{0,5}") {
            for kind in [&TIME, &RATE, &SIZE, &PACKETS, &PER_SECOND] {
                for text in offered(&not_a(&text, kind).remedy) {
                    prop_assert!(measure(text, kind).is_ok(), "{text}");
                }
            }
        }
    }

    #[test]
    fn the_number_is_kept_where_the_unit_has_another_name() {
        let remedy = |text: &str, kind: &Kind| not_a(text, kind).remedy;
        let known = " (known: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)";
        assert_eq!(remedy("0.1 Gbps", &RATE), format!("write `0.1 Gbit/s`{known}"));
        assert_eq!(remedy("10 MB/s", &RATE), format!("write `80 Mbit/s`{known}"));
        assert_eq!(remedy("5 MBPS", &RATE), format!("write `5 Mbit/s` or `40 Mbit/s`, whichever is meant{known}"));
        assert_eq!(remedy("10 parsec/s", &RATE), format!("write a number and one of the known units{known}"));
        let known = " (known: ps, ns, us, ms, s, min, h)";
        assert_eq!(remedy("60 sec", &TIME), format!("write `60 s`{known}"));
        assert_eq!(remedy("1m", &TIME), format!("write `1 min` or `1 ms`, whichever is meant{known}"));
        assert_eq!(remedy("60", &TIME), format!("write its unit too{known}"));
        assert_eq!(remedy("-3 sec", &TIME), format!("write a number and one of the known units{known}"));
        assert_eq!(remedy("soon", &TIME), format!("write a number and a unit, as in `10 ms`{known}"));
        assert!(time("0.1 Gbps").is_err() && rate("1 ms").is_err() && bytes("1 Mbit/s").is_err());
    }
}
