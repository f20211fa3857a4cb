//! Quantities as a person writes them, exact both ways: `0.1 s` is 100,000,000,000 ps, and prints as `100 ms`.
//!
//! A number is kept as decimal digits until its unit is known, so nothing drifts through binary fractions. A fraction smaller
//! than the unit of the stored quantity (a picosecond, a bit per second, a byte) is rounded to the nearest.

mod spelling;

use penstock_law::parameter::Unit;
use penstock_law::quantity::{Bytes, Rate, Time};

/// Why a text is not the quantity it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found}: {remedy}")]
pub struct Unreadable {
    /// The text found.
    pub found: String,
    /// Texts that are valid instead.
    pub remedy: String,
}

/// The longest span a scenario may name: 200 days. 2^64 ps are 213.
pub const LONGEST: Time = Time(200 * 24 * 3600 * Time::PER_SECOND);

/// The fastest line: 100 Tbit/s, at which an acknowledgement still takes some picoseconds.
pub const FASTEST: Rate = Rate(100_000_000_000_000);

/// Units of one kind. A unit is `factor * 10^power` base units.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Name of such a quantity.
    pub(crate) noun: &'static str,
    example: &'static str,
    /// Meanings of a spelling that is none of `units`.
    spelled: fn(&str) -> Vec<spelling::Meaning>,
    pub(crate) units: &'static [(&'static str, u128, i32)],
}

pub(crate) static TIME: Kind = Kind {
    noun: "a duration",
    example: "ms",
    spelled: spelling::time,
    units: &[("ps", 1, -12), ("ns", 1, -9), ("us", 1, -6), ("ms", 1, -3), ("s", 1, 0), ("min", 60, 0), ("h", 3600, 0)],
};

pub(crate) static RATE: Kind = Kind {
    noun: "a rate",
    example: "Mbit/s",
    spelled: spelling::rate,
    units: &[("bit/s", 1, 0), ("kbit/s", 1, 3), ("Mbit/s", 1, 6), ("Gbit/s", 1, 9), ("Tbit/s", 1, 12)],
};

pub(crate) static SIZE: Kind = Kind {
    noun: "a size",
    example: "kB",
    spelled: spelling::size,
    units: &[
        ("B", 1, 0),
        ("kB", 1, 3),
        ("MB", 1, 6),
        ("GB", 1, 9),
        ("TB", 1, 12),
        ("KiB", 1 << 10, 0),
        ("MiB", 1 << 20, 0),
        ("GiB", 1 << 30, 0),
        ("TiB", 1 << 40, 0),
    ],
};

pub(crate) static PACKETS: Kind = Kind {
    noun: "a number of packets",
    example: "packets",
    spelled: spelling::packets,
    units: &[("packets", 1, 0), ("packet", 1, 0)],
};

pub(crate) static PER_SECOND: Kind =
    Kind { noun: "a number per second", example: "/s", spelled: spelling::per_second, units: &[("/s", 1, 0)] };

pub(crate) static BDP: Kind = Kind {
    noun: "a number of bandwidth-delay products",
    example: "bdp",
    spelled: spelling::products,
    units: &[("bdp", 1, 0), (BDP_BYTES, 1, 0)],
};

const BDP_BYTES: &str = "bdp of bytes";

/// Reads a duration, such as `10 ms`.
///
/// # Errors
/// Names the fault of the text and a valid text.
pub fn time(text: &str) -> Result<Time, Unreadable> {
    let ps = whole(text, &TIME, 12)?;
    if ps > u128::from(LONGEST.0) {
        return Err(Unreadable { found: format!("`{text}` is too long"), remedy: "write at most `4800 h`".into() });
    }
    Ok(Time(ps as u64))
}

/// Reads a rate, such as `622 Mbit/s`.
///
/// # Errors
/// Names the fault of the text and a valid text.
pub fn rate(text: &str) -> Result<Rate, Unreadable> {
    let bit_per_s = whole(text, &RATE, 0)?;
    if bit_per_s > u128::from(FASTEST.0) {
        return Err(Unreadable { found: format!("`{text}` is too fast"), remedy: "write at most `100 Tbit/s`".into() });
    }
    Ok(Rate(bit_per_s as u64))
}

/// Reads a size, such as `125 kB`.
///
/// # Errors
/// Names the fault of the text and a valid text.
pub fn bytes(text: &str) -> Result<Bytes, Unreadable> {
    let bytes = whole(text, &SIZE, 0)?;
    if bytes > 1_000_000_000_000_000_000 {
        return Err(Unreadable { found: format!("`{text}` is too much"), remedy: "write at most `1000000 TB`".into() });
    }
    Ok(Bytes(bytes as u64))
}

/// Reads a whole number of packets, such as `50 packets`.
///
/// # Errors
/// Names the fault of the text and a valid text.
pub fn packets(text: &str) -> Result<u64, Unreadable> {
    let (decimal, factor, power) = measure(text, &PACKETS)?;
    let packets = decimal.whole(factor, power).filter(|n| *n <= 1_000_000_000_000_000);
    let Some(packets) = packets else {
        return Err(Unreadable {
            found: format!("`{text}` is too many"),
            remedy: "write at most `1000000000000000 packets`".into(),
        });
    };
    if decimal.exponent < 0 {
        return Err(Unreadable {
            found: format!("`{text}` is not a whole number of packets"),
            remedy: format!("write `{} packets`", packets.max(1)),
        });
    }
    Ok(packets as u64)
}

/// Reads the rate of an event, such as `20 /s`, in times a second: above zero, at most 10^12.
///
/// # Errors
/// Names the fault of the text and a valid text.
pub fn per_second(text: &str) -> Result<f64, Unreadable> {
    let often = real_of(text, &PER_SECOND)?;
    if often > 0.0 && often <= 1e12 {
        return Ok(often);
    }
    let too = if often > 0.0 { "too often" } else { "never" };
    Err(Unreadable { found: format!("`{text}` is {too}"), remedy: "write more than `0 /s`, at most `1e12 /s`".into() })
}

/// A plain number, or a quantity of any kind, with the unit that it is given in: `10 ms` is 0.01 and `s`. None for a multiple
/// of what only a scenario can tell, such as `1 bdp`, and for all that is no quantity.
pub fn quantity(text: &str) -> Option<(f64, &'static str)> {
    const KINDS: [(&Kind, &str); 5] =
        [(&TIME, "s"), (&RATE, "bit/s"), (&SIZE, "B"), (&PACKETS, "packets"), (&PER_SECOND, "1/s")];
    let (decimal, unit) = Decimal::split(text)?;
    let sign = if decimal.negative { -1.0 } else { 1.0 };
    let of = |(kind, base): (&Kind, &'static str)| {
        let (_, factor, power) = kind.units.iter().find(|known| known.0 == unit)?;
        Some((sign * decimal.real(*factor, *power), base))
    };
    let plain = || unit.is_empty().then(|| (sign * decimal.real(1, 0), "1"));
    plain().or_else(|| KINDS.into_iter().find_map(of)).filter(|(value, _)| value.is_finite())
}

/// A multiple of the bandwidth-delay product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Products {
    pub(crate) count: f64,
    /// Whether bytes fill the buffer, and not packets of any size.
    pub(crate) of_bytes: bool,
}

/// Reads a multiple of the bandwidth-delay product, such as `1 bdp` or `1 bdp of bytes`; none if the text has another
/// unit.
pub(crate) fn bdp(text: &str) -> Option<Result<Products, Unreadable>> {
    let of_bytes = text.trim_end().ends_with(BDP_BYTES);
    let named = of_bytes || text.trim_end().ends_with("bdp");
    named.then(|| real_of(text, &BDP).map(|count| Products { count, of_bytes }))
}

/// Whether a text's unit is that of packets.
pub(crate) fn names_packets(text: &str) -> bool {
    names(text, &PACKETS)
}

/// Whether a text's unit is one of time.
pub(crate) fn names_time(text: &str) -> bool {
    names(text, &TIME)
}

fn names(text: &str, kind: &Kind) -> bool {
    Decimal::split(text).is_some_and(|(_, unit)| kind.units.iter().any(|u| u.0 == unit))
}

/// Reads a number in `unit`, as parameters of laws are kept: in the base unit, rounded once.
///
/// # Errors
/// Names the fault of the text and a valid text.
pub fn real(text: &str, unit: Unit) -> Result<f64, Unreadable> {
    kind(unit).map_or_else(
        || Err(Unreadable { found: format!("`{text}` is text"), remedy: "write a number".into() }),
        |k| real_of(text, k),
    )
}

/// The sentence that refuses anything but text where a quantity in `unit` is due; `shown` is the value found.
pub(crate) fn refuse(shown: &str, unit: Unit) -> Unreadable {
    kind(unit).map_or_else(
        || Unreadable { found: format!("`{shown}` is not a number"), remedy: "write a number".into() },
        |k| not_a(shown, k),
    )
}

/// The same of a quantity of `kind`.
pub(crate) fn refuse_kind(shown: &str, kind: &Kind) -> Unreadable {
    not_a(shown, kind)
}

/// The kind of a unit; plain numbers, switches and words have none.
pub(crate) fn kind(unit: Unit) -> Option<&'static Kind> {
    match unit {
        Unit::Packets => Some(&PACKETS),
        Unit::Seconds => Some(&TIME),
        Unit::BitPerSecond => Some(&RATE),
        Unit::Bytes => Some(&SIZE),
        Unit::One | Unit::Switch | Unit::Choice(_) => None,
    }
}

fn real_of(text: &str, kind: &Kind) -> Result<f64, Unreadable> {
    let (decimal, factor, power) = measure(text, kind)?;
    Ok(decimal.real(factor, power))
}

/// Prints a span exactly, such as `10 ms`.
pub fn print_time(time: Time) -> String {
    print(Decimal::of(u128::from(time.0), -12), &TIME)
}

/// Prints a rate exactly, such as `2.488 Gbit/s`.
pub fn print_rate(rate: Rate) -> String {
    print(Decimal::of(u128::from(rate.0), 0), &RATE)
}

/// Prints a size exactly, such as `1000 B` or `8 MB`.
pub fn print_bytes(bytes: Bytes) -> String {
    if bytes.0 < 10_000 {
        return format!("{} B", bytes.0);
    }
    print(Decimal::of(u128::from(bytes.0), 0), &SIZE)
}

/// Prints a number of times a second so that [`per_second`] reads the same bits.
pub fn print_per_second(often: f64) -> String {
    print(Decimal::nearest(often), &PER_SECOND)
}

/// Prints a number of packets, such as `1 packet`.
pub(crate) fn print_packets(packets: u64) -> String {
    format!("{packets} packet{}", if packets == 1 { "" } else { "s" })
}

/// Prints a number in `unit` so that [`real`] reads the same bits; plain numbers print as themselves.
pub fn print_real(x: f64, unit: Unit) -> String {
    match kind(unit) {
        None => print_number(x),
        Some(_) if !x.is_finite() || x < 0.0 => format!("{x} {}", unit.symbol()),
        Some(kind) => print(Decimal::nearest(x), kind),
    }
}

/// Prints a plain number as TOML reads it.
pub(crate) fn print_number(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Prints in the largest decimal unit of which there is at least one.
fn print(decimal: Decimal, kind: &Kind) -> String {
    let decades = kind.units.iter().filter(|u| u.1 == 1 && u.0 != "packet");
    let decimal = Decimal::of(decimal.digits, decimal.exponent);
    let magnitude = decimal.digits.checked_ilog10().map_or(0, |m| m as i32) + decimal.exponent;
    let base = kind.units.iter().find(|u| u.1 == 1 && u.2 == 0).unwrap_or(&kind.units[0]);
    let unit = match decimal.digits {
        0 => base,
        _ => decades.rev().find(|u| u.2 <= magnitude).unwrap_or(&kind.units[0]),
    };
    format!("{} {}", Decimal { exponent: decimal.exponent - unit.2, ..decimal }.plain(), unit.0)
}

fn whole(text: &str, kind: &Kind, shift: i32) -> Result<u128, Unreadable> {
    let (decimal, factor, power) = measure(text, kind)?;
    let too = |word: &str, remedy: &str| Unreadable { found: format!("`{text}` is {word}"), remedy: remedy.into() };
    let whole = decimal.whole(factor, power + shift).ok_or_else(|| too("too large", "write a smaller number"))?;
    if whole == 0 && decimal.digits != 0 {
        return Err(too("too small to tell from nothing", "write a larger number, or 0 with its unit"));
    }
    Ok(whole)
}

/// The number, and how many base units its unit is.
fn measure(text: &str, kind: &Kind) -> Result<(Decimal, u128, i32), Unreadable> {
    let Some((decimal, unit)) = Decimal::split(text) else { return Err(not_a(text, kind)) };
    let Some((_, factor, power)) = kind.units.iter().find(|u| u.0 == unit) else { return Err(not_a(text, kind)) };
    if decimal.negative && decimal.digits != 0 {
        return Err(Unreadable {
            found: format!("`{text}` is negative"),
            remedy: format!("write {} that is not negative", kind.noun),
        });
    }
    Ok((decimal, *factor, *power))
}

fn not_a(text: &str, kind: &Kind) -> Unreadable {
    let units: Vec<_> = kind.units.iter().map(|u| u.0).filter(|u| *u != "packet").collect();
    let known = if units.len() > 1 { format!(" (known: {})", units.join(", ")) } else { String::new() };
    let remedy = match (suggestion(text, &[kind]), Decimal::split(text)) {
        (Some(suggestion), _) => suggestion,
        (None, None) => format!("write a number and a unit, as in `10 {}`", kind.example),
        (None, Some((number, ""))) if units.len() == 1 && is_exact(text) => {
            format!("write `{} {}`", number.plain(), units[0])
        }
        (None, Some(_)) if units.len() == 1 => format!("write a number in {}", units[0]),
        (None, Some((_, ""))) => "write its unit too".into(),
        (None, Some(_)) => "write a number and one of the known units".into(),
    };
    Unreadable { found: format!("`{text}` is not {}", kind.noun), remedy: remedy + &known }
}

/// Whether [`Decimal`] has the number at the start of `text` as it stands: digits beyond the 24th and enormous exponents are
/// not kept, and a suggestion with another number would be another quantity.
fn is_exact(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits <= 24 && Decimal::split(text).is_some_and(|(decimal, _)| decimal.exponent.abs() <= 1000)
}

/// The same quantity as `text`, in units of these kinds, if its own unit has a name that is common elsewhere.
pub(crate) fn suggestion(text: &str, kinds: &[&Kind]) -> Option<String> {
    let meant: Vec<_> = kinds.iter().flat_map(|kind| spelling::suggested(text, kind)).collect();
    match meant.as_slice() {
        [] => None,
        [one] => Some(format!("write `{one}`")),
        several => Some(format!("write `{}`, whichever is meant", several.join("` or `"))),
    }
}

/// `digits * 10^exponent`, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Without trailing zeros.
    fn of(mut digits: u128, mut exponent: i32) -> Self {
        while digits != 0 && digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        Self { negative: false, digits, exponent: if digits == 0 { 0 } else { exponent } }
    }

    /// The shortest decimal that reads back as `x`.
    fn nearest(x: f64) -> Self {
        Self::split(&format!("{x:e}")).map_or(Self::of(0, 0), |(d, _)| d)
    }

    /// A number at the start of `text`, and the text after it.
    fn split(text: &str) -> Option<(Self, &str)> {
        let text = text.trim();
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mut digits, mut exponent, mut any, mut point) = (0u128, 0i32, false, false);
        let mut end = 0;
        for (at, c) in unsigned.char_indices() {
            match c.to_digit(10) {
                Some(d) => {
                    any = true;
                    // Digits past the 26th are below any unit; they count only as places.
                    if digits < 10u128.pow(25) {
                        digits = digits * 10 + u128::from(d);
                        exponent -= i32::from(point);
                    } else if !point {
                        exponent = exponent.saturating_add(1);
                    }
                }
                None if c == '.' && !point => point = true,
                None if c == '_' && any => {}
                None => break,
            }
            end = at + c.len_utf8();
        }
        if !any {
            return None;
        }
        let mut rest = &unsigned[end..];
        if let Some(power) = rest.strip_prefix(['e', 'E']) {
            let digits_from = usize::from(power.starts_with(['+', '-']));
            let length = power[digits_from..].bytes().take_while(u8::is_ascii_digit).count();
            if length > 0 {
                let magnitude = power[digits_from..digits_from + length].parse().unwrap_or(9_999).min(9_999);
                exponent = exponent.saturating_add(if power.starts_with('-') { -magnitude } else { magnitude });
                rest = &power[digits_from + length..];
            }
        }
        Some((Self { negative, ..Self::of(digits, exponent) }, rest.trim()))
    }

    /// The whole number nearest to `self * factor * 10^power`; none if it does not fit.
    fn whole(self, factor: u128, power: i32) -> Option<u128> {
        let digits = self.digits.checked_mul(factor)?;
        let places = self.exponent.saturating_add(power);
        if digits == 0 {
            return Some(0);
        }
        let scale = 10u128.checked_pow(places.unsigned_abs());
        if places >= 0 {
            return digits.checked_mul(scale?);
        }
        Some(scale.map_or(0, |scale| digits / scale + u128::from(digits % scale >= scale.div_ceil(2))))
    }

    /// The `f64` nearest to `self * factor * 10^power`.
    fn real(self, factor: u128, power: i32) -> f64 {
        let places = self.exponent.saturating_add(power);
        // The standard library rounds decimals correctly; a product of two floats would not.
        format!("{}e{places}", self.digits.saturating_mul(factor)).parse().unwrap_or(f64::INFINITY)
    }

    /// Without an exponent where that is not absurdly long.
    fn plain(self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let digits = self.digits.to_string();
        let point = digits.len() as i32 + self.exponent;
        if !(-10..=24).contains(&point) || self.exponent > 20 {
            return format!("{sign}{digits}e{}", self.exponent);
        }
        if self.exponent >= 0 {
            format!("{sign}{digits}{}", "0".repeat(self.exponent as usize))
        } else if point > 0 {
            let (whole, part) = digits.split_at(point as usize);
            format!("{sign}{whole}.{part}")
        } else {
            format!("{sign}0.{}{digits}", "0".repeat(-point as usize))
        }
    }
}

#[cfg(test)]
mod tests {
    /// Exactly, so that cells of `10 ms` and of `0.01 s` have one position.
    #[test]
    fn a_quantity_of_any_kind_is_a_number_of_the_si() {
        for (text, value, unit) in [
            ("10 ms", 0.01, "s"),
            ("0.3 ms", 0.0003, "s"),
            ("2 min", 120.0, "s"),
            ("622 Mbit/s", 622e6, "bit/s"),
            ("8 KiB", 8192.0, "B"),
            ("1 packet", 1.0, "packets"),
            ("20 /s", 20.0, "1/s"),
            ("-0.5", -0.5, "1"),
            ("1_000", 1000.0, "1"),
            ("1e-3", 0.001, "1"),
        ] {
            assert_eq!(super::quantity(text), Some((value, unit)), "{text}");
        }
        for text in ["cubic", "1 bdp", "unlimited", "true", "", "nan", "inf", "[1, 2]", "10 Mbps", "1e999"] {
            assert_eq!(super::quantity(text), None, "{text}");
        }
    }

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimal_text_is_converted_exactly() {
        assert_eq!(time("0.1 s"), Ok(Time(100_000_000_000)));
        assert_eq!(time("10ms"), Ok(Time(10_000_000_000)));
        assert_eq!(time("1e-3 s"), Ok(Time(1_000_000_000)));
        assert_eq!(time("1.5 min"), Ok(Time(90 * Time::PER_SECOND)));
        assert_eq!(time("4800 h"), Ok(LONGEST));
        assert_eq!(time("0.000000000001 s"), Ok(Time(1)));
        assert_eq!(time("33.3333333333333333333 ms"), Ok(Time(33_333_333_333)));
        assert_eq!(rate("2.488 Gbit/s"), Ok(Rate(2_488_000_000)));
        assert_eq!(bytes("1.5 KiB"), Ok(Bytes(1536)));
        assert_eq!(packets("1 packet"), Ok(1));
        assert_eq!(real("5 ms", Unit::Seconds), Ok(0.005));
        assert_eq!(real("90 Mbit/s", Unit::BitPerSecond), Ok(9e7));
        assert_eq!(real("2.5 packets", Unit::Packets), Ok(2.5));
        assert_eq!(per_second("0.5 /s"), Ok(0.5));
        assert_eq!(per_second("20/s"), Ok(20.0));
    }

    #[test]
    fn what_is_not_a_quantity_is_told_what_would_do() {
        let say = |e: Unreadable| e.to_string();
        assert_eq!(
            time("10").map_err(say),
            Err("`10` is not a duration: write its unit too (known: ps, ns, us, ms, s, min, h)".into())
        );
        assert_eq!(
            rate("10 Mbps").map_err(say),
            Err("`10 Mbps` is not a rate: write `10 Mbit/s` (known: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)".into())
        );
        for text in
            ["", "ms", "-1 s", "1e30 s", "1e999999999999 s", "1e-30 s", "nan s", "inf s", "1 s s", ".", "\u{663} s"]
        {
            assert!(time(text).is_err(), "{text}");
        }
        for text in ["0 /s", "-1 /s", "20", "20 /min", "1e13 /s", "1e-999 /s", "inf /s"] {
            assert!(per_second(text).is_err(), "{text}");
        }
        assert!(packets("1.5 packets").is_err());
        assert!(packets("1e30 packets").is_err());
    }

    #[test]
    fn quantities_print_as_a_person_would_write_them() {
        assert_eq!(print_time(Time(50_000_000_000)), "50 ms");
        assert_eq!(print_time(Time(60 * Time::PER_SECOND)), "60 s");
        assert_eq!(print_time(Time(0)), "0 s");
        assert_eq!(print_rate(Rate(2_488_000_000)), "2.488 Gbit/s");
        assert_eq!(print_bytes(Bytes(1000)), "1000 B");
        assert_eq!(print_bytes(Bytes(8_000_000)), "8 MB");
        assert_eq!(print_real(50.0, Unit::Packets), "50 packets");
        assert_eq!(print_real(0.01, Unit::Seconds), "10 ms");
        assert_eq!(print_real(1e-12, Unit::One), "1e-12");
        assert_eq!(print_real(1000.0, Unit::One), "1000");
    }

    proptest! {
        #[test]
        fn times_survive_printing(ps in 0..=LONGEST.0) {
            prop_assert_eq!(time(&print_time(Time(ps))), Ok(Time(ps)));
        }

        #[test]
        fn rates_survive_printing(bit_per_s in 0..=FASTEST.0) {
            prop_assert_eq!(rate(&print_rate(Rate(bit_per_s))), Ok(Rate(bit_per_s)));
        }

        #[test]
        fn sizes_survive_printing(n in 0..=1_000_000_000_000_000_000u64) {
            prop_assert_eq!(bytes(&print_bytes(Bytes(n))), Ok(Bytes(n)));
        }

        #[test]
        fn parameters_survive_printing(x in proptest::num::f64::POSITIVE | proptest::num::f64::ZERO) {
            for unit in [Unit::Seconds, Unit::Packets, Unit::BitPerSecond, Unit::Bytes] {
                let text = print_real(x, unit);
                prop_assert_eq!(real(&text, unit).map(f64::to_bits), Ok(x.abs().to_bits()), "{}", text);
            }
            prop_assert_eq!(print_number(x).parse(), Ok(x));
            if x > 0.0 && x <= 1e12 {
                prop_assert_eq!(per_second(&print_per_second(x)).map(f64::to_bits), Ok(x.to_bits()));
            }
        }

        #[test]
        fn no_text_stops_the_program(text in "\\PC*") {
            let _ = (time(&text), rate(&text), bytes(&text), packets(&text), real(&text, Unit::Seconds));
        }

        #[test]
        fn no_number_stops_the_program(text in "[-+0-9_.eE]{0,60} ?(s|ms|h|GiB|bdp|packets)?") {
            let _ = (time(&text), rate(&text), bytes(&text), packets(&text), real(&text, Unit::Seconds), bdp(&text));
        }
    }
}
