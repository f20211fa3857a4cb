//! Numbers as people read them: significant digits, SI prefixes where a unit takes them, no scientific noise.

/// Stands where there is no number.
pub const ABSENT: &str = "\u{2013}";

/// `value` with `digits` significant digits. Whole numbers are printed whole, the integer part is never rounded away, and
/// powers of ten appear only beyond 10^-5 and 10^15.
///
/// ```
/// use penstock_report::number::significant;
/// assert_eq!(significant(0.012_345, 3), "0.0123");
/// assert_eq!(significant(0.95, 3), "0.950");
/// assert_eq!(significant(100.0, 3), "100");
/// assert_eq!(significant(12_345.6, 3), "12\u{202f}346");
/// assert_eq!(significant(1.5e-7, 3), "1.50\u{d7}10\u{207b}\u{2077}");
/// ```
pub fn significant(value: f64, digits: usize) -> String {
    if value.is_finite() && value == value.trunc() && value.abs() < 1e15 {
        return fixed(value, 0);
    }
    self::digits(value, digits)
}

/// [`significant`] with whole numbers printed like the others, for columns in which they stand among such: `880.0`.
pub fn digits(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return ABSENT.to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "\u{221e}" } else { "\u{2212}\u{221e}" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = digits.max(1);
    let exponent = decimal_exponent(value, digits);
    if !(-5..15).contains(&exponent) {
        let text = format!("{value:.*e}", digits - 1);
        let mantissa = text.split('e').next().unwrap_or_default();
        return minus(&format!("{mantissa}\u{d7}10{}", superscript(exponent)));
    }
    fixed(value, (digits as i32 - 1 - exponent).max(0) as usize)
}

/// [`significant`] without trailing zeros: for axes and prose.
pub fn short(value: f64, digits: usize) -> String {
    trimmed(&significant(value, digits)).to_owned()
}

/// A printed number without its trailing zeros.
pub(crate) fn trimmed(text: &str) -> &str {
    if text.contains('.') && !text.contains('\u{d7}') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `value` with so many digits after the point, thousands set apart from 10 000 on, a true minus sign, never `-0`.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (sign, body) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("\u{2212}", rest));
    if !body.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return text;
    }
    let sign = if body.bytes().all(|b| b == b'0' || b == b'.') { "" } else { sign };
    let (integer, fraction) = body.split_once('.').map_or((body, None), |(i, f)| (i, Some(f)));
    let mut out = sign.to_owned();
    if integer.len() > 4 {
        for (i, c) in integer.chars().enumerate() {
            if i > 0 && (integer.len() - i).is_multiple_of(3) {
                out.push('\u{202f}');
            }
            out.push(c);
        }
    } else {
        out.push_str(integer);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A count, thousands set apart.
pub fn count(value: u64) -> String {
    let text = value.to_string();
    if text.len() <= 4 {
        return text;
    }
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if i > 0 && (text.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// `value` in `unit` with the prefix that suits it: `622 Mbit/s`, `12.3 ms`.
///
/// ```
/// use penstock_report::number::quantity;
/// assert_eq!(quantity(622e6, "bit/s", 3), "622 Mbit/s");
/// assert_eq!(quantity(0.0123, "s", 3), "12.3 ms");
/// assert_eq!(quantity(0.5, "", 3), "0.5");
/// ```
pub fn quantity(value: f64, unit: &str, digits: usize) -> String {
    let prefix = if value.is_finite() { Prefix::for_value(value, unit) } else { Prefix::NONE };
    let text = short(value / prefix.factor, digits);
    if unit.is_empty() || text == ABSENT { text } else { format!("{text} {}{unit}", prefix.symbol) }
}

/// A power of a thousand in front of a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prefix {
    /// Its factor.
    pub factor: f64,
    /// Its symbol.
    pub symbol: &'static str,
}

impl Prefix {
    /// No prefix.
    pub const NONE: Self = Self { factor: 1.0, symbol: "" };
    const UP: &'static [Self] = &[
        Self { factor: 1e12, symbol: "T" },
        Self { factor: 1e9, symbol: "G" },
        Self { factor: 1e6, symbol: "M" },
        Self { factor: 1e3, symbol: "k" },
        Self::NONE,
    ];
    const DOWN: &'static [Self] = &[
        Self::NONE,
        Self { factor: 1e-3, symbol: "m" },
        Self { factor: 1e-6, symbol: "\u{b5}" },
        Self { factor: 1e-9, symbol: "n" },
    ];

    /// The prefixes that `unit` takes, largest first: rates and sizes upwards, times downwards, others none.
    pub fn of_unit(unit: &str) -> &'static [Self] {
        match unit {
            "bit/s" | "B" | "bit" | "B/s" => Self::UP,
            "s" => Self::DOWN,
            _ => &[Self::NONE],
        }
    }

    /// The largest prefix that leaves at least 1 before the point.
    pub fn for_value(value: f64, unit: &str) -> Self {
        Self::leaving(value, unit, 1.0)
    }

    /// The largest prefix that leaves at least `least` before the point; the smallest there is where none does.
    pub(crate) fn leaving(value: f64, unit: &str, least: f64) -> Self {
        let list = Self::of_unit(unit);
        if value == 0.0 {
            return Self::NONE;
        }
        // A value that is short of a prefix by rounding only has it.
        let fits = |p: &&Self| value.abs() / p.factor >= least * (1.0 - 1e-9);
        *list.iter().find(fits).or(list.last()).unwrap_or(&Self::NONE)
    }
}

/// Reads a printed quantity back: the number in the base unit, and that unit. `622 Mbit/s` is 622e6 `bit/s`, `100 ms` is
/// 0.1 `s`, `50 packets` is 50 `packets`, a plain number has the unit ``. None for anything else.
///
/// ```
/// use penstock_report::number::parse;
/// assert_eq!(parse("622 Mbit/s"), Some((622e6, "bit/s")));
/// assert_eq!(parse("0.5"), Some((0.5, "")));
/// assert_eq!(parse("FAST"), None);
/// ```
pub fn parse(text: &str) -> Option<(f64, &'static str)> {
    const UNITS: &[(&str, f64, &str)] = &[
        ("", 1.0, ""),
        ("s", 1.0, "s"),
        ("ms", 1e-3, "s"),
        ("us", 1e-6, "s"),
        ("\u{b5}s", 1e-6, "s"),
        ("\u{3bc}s", 1e-6, "s"),
        ("ns", 1e-9, "s"),
        ("ps", 1e-12, "s"),
        ("min", 60.0, "s"),
        ("h", 3600.0, "s"),
        ("bit/s", 1.0, "bit/s"),
        ("kbit/s", 1e3, "bit/s"),
        ("Mbit/s", 1e6, "bit/s"),
        ("Gbit/s", 1e9, "bit/s"),
        ("Tbit/s", 1e12, "bit/s"),
        ("B", 1.0, "B"),
        ("kB", 1e3, "B"),
        ("MB", 1e6, "B"),
        ("GB", 1e9, "B"),
        ("TB", 1e12, "B"),
        ("packet", 1.0, "packets"),
        ("packets", 1.0, "packets"),
        ("packet/s", 1.0, "packets/s"),
        ("packets/s", 1.0, "packets/s"),
        ("/s", 1.0, "1/s"),
        ("1/s", 1.0, "1/s"),
        ("Hz", 1.0, "1/s"),
        ("rad/s", 1.0, "rad/s"),
        ("bdp", 1.0, "bdp"),
        ("%", 0.01, ""),
    ];
    let text = text.trim();
    // The number is the longest start that reads as one; digits, sign, point and exponent only, so `inf` is a name.
    let end = (1..=text.len()).rev().filter(|&end| text.is_char_boundary(end)).find(|&end| {
        let head = text[..end].trim_end();
        head.bytes().any(|b| b.is_ascii_digit())
            && head.bytes().all(|b| b.is_ascii_digit() || b"+-.eE_".contains(&b))
            && head.replace('_', "").parse::<f64>().is_ok_and(f64::is_finite)
    })?;
    let value: f64 = text[..end].trim_end().replace('_', "").parse().ok()?;
    let rest = text[end..].trim();
    UNITS.iter().find(|(unit, _, _)| *unit == rest).map(|(_, factor, base)| (scaled(value, *factor), *base))
}

/// Multiplies by a power of ten; down by dividing, so that `100 ms` is exactly 0.1.
fn scaled(value: f64, factor: f64) -> f64 {
    if factor < 1.0 { value / (1.0 / factor).round() } else { value * factor }
}

/// The unit that a name of this project ends in, and the name without it: `queue_packets` is a `queue` in `packets`.
///
/// ```
/// use penstock_report::number::unit_of;
/// assert_eq!(unit_of("throughput_bit_per_s"), ("throughput", "bit/s"));
/// assert_eq!(unit_of("utilization"), ("utilization", ""));
/// ```
pub fn unit_of(name: &str) -> (&str, &'static str) {
    const SUFFIXES: &[(&str, &str)] = &[
        ("_bit_per_s", "bit/s"),
        ("_bytes_per_s", "B/s"),
        ("_packets_per_s", "packets/s"),
        ("_packets_per_cpu_s", "packets/s"),
        ("_rad_per_s", "rad/s"),
        ("_per_s", "1/s"),
        ("_packets", "packets"),
        ("_bytes", "B"),
        ("_bits", "bit"),
        ("_bit", "bit"),
        ("_deg", "\u{b0}"),
        ("_rad", "rad"),
        ("_s", "s"),
    ];
    let found = SUFFIXES.iter().find_map(|(suffix, unit)| name.strip_suffix(suffix).map(|stem| (stem, *unit)));
    found.filter(|(stem, _)| !stem.is_empty()).unwrap_or((name, ""))
}

/// A name of this project as words: `queue_mean` is `Queue mean`, `rtt` is `RTT`.
pub fn words(name: &str) -> String {
    let mut out = String::new();
    for (i, word) in name.split(['_', ' ']).filter(|w| !w.is_empty()).enumerate() {
        if i > 0 {
            out.push(' ');
        }
        match word {
            "rtt" | "ecn" | "aqm" | "red" | "tcp" | "udp" => out.push_str(&word.to_uppercase()),
            "sd" => out.push_str("s.d."),
            "jain" => out.push_str("Jain\u{2019}s index"),
            _ if i == 0 => {
                let mut chars = word.chars();
                out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
                out.push_str(chars.as_str());
            }
            _ => out.push_str(word),
        }
    }
    out
}

/// The power of ten of the first digit of `value`, after rounding to `digits`.
pub(crate) fn decimal_exponent(value: f64, digits: usize) -> i32 {
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    text.split('e').nth(1).and_then(|e| e.parse().ok()).unwrap_or(0)
}

/// An exponent in raised digits.
pub(crate) fn superscript(exponent: i32) -> String {
    exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '\u{207b}',
            '0' => '\u{2070}',
            '1' => '\u{b9}',
            '2' => '\u{b2}',
            '3' => '\u{b3}',
            c => char::from_u32(0x2070 + c as u32 - '0' as u32).unwrap_or(c),
        })
        .collect()
}

fn minus(text: &str) -> String {
    text.strip_prefix('-').map_or_else(|| text.to_owned(), |rest| format!("\u{2212}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let cases: &[(f64, &str)] = &[
            (0.0, "0"),
            (f64::NAN, ABSENT),
            (f64::INFINITY, "\u{221e}"),
            (-0.5, "\u{2212}0.500"),
            (0.999_96, "1.00"),
            (7775.0, "7775"),
            (1_244_160.0, "1\u{202f}244\u{202f}160"),
            (1e-4, "0.000100"),
            (2e20, "2.00\u{d7}10\u{b2}\u{2070}"),
        ];
        for (value, text) in cases {
            assert_eq!(&significant(*value, 3), text, "{value}");
        }
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!(short(2.5, 4), "2.5");
        assert_eq!(short(1e300, 2), "1.0\u{d7}10\u{b3}\u{2070}\u{2070}");
        assert_eq!(count(1234), "1234");
        assert_eq!(count(12_345), "12\u{202f}345");
    }

    #[test]
    fn quantities_take_the_prefix_of_their_unit_only() {
        assert_eq!(quantity(1e9, "bit/s", 3), "1 Gbit/s");
        assert_eq!(quantity(999.9e6, "bit/s", 4), "999.9 Mbit/s");
        assert_eq!(quantity(12e3, "packets", 3), "12\u{202f}000 packets");
        assert_eq!(quantity(60.0, "s", 3), "60 s");
        assert_eq!(quantity(3e-10, "s", 3), "0.3 ns");
        assert_eq!(quantity(f64::NAN, "s", 3), ABSENT);
    }

    #[test]
    fn printed_quantities_are_read_back() {
        let cases: &[(&str, Option<(f64, &str)>)] = &[
            ("100 ms", Some((0.1, "s"))),
            ("50 packets", Some((50.0, "packets"))),
            ("1 packet", Some((1.0, "packets"))),
            ("2.5 Gbit/s", Some((2.5e9, "bit/s"))),
            ("1e-3", Some((1e-3, ""))),
            ("20 /s", Some((20.0, "1/s"))),
            ("1 bdp", Some((1.0, "bdp"))),
            ("-3", Some((-3.0, ""))),
            ("10GB", Some((10e9, "B"))),
            ("unlimited", None),
            ("inf", None),
            ("nan", None),
            ("4 flows", None),
            ("", None),
            ("\u{b5}s", None),
            ("5 \u{b5}s", Some((5e-6, "s"))),
        ];
        for (text, value) in cases {
            assert_eq!(parse(text), *value, "{text}");
        }
    }

    #[test]
    fn names_become_words_and_units() {
        assert_eq!(unit_of("queueing_delay_mean_s"), ("queueing_delay_mean", "s"));
        assert_eq!(unit_of("_s"), ("_s", ""));
        assert_eq!(unit_of("drops"), ("drops", ""));
        assert_eq!(words("queue_sd"), "Queue s.d.");
        assert_eq!(words("rtt_mean"), "RTT mean");
    }
}
