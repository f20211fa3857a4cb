//! An axis made ready to draw: positions of values between 0 and 1, its ticks and their labels.

use crate::figure::{Axis, Scale};
use crate::number::{self, Prefix};

/// An axis with its limits settled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ruler {
    log: bool,
    low: f64,
    high: f64,
    /// Label and unit.
    pub(crate) title: String,
    /// Ticks from low to high.
    pub(crate) ticks: Vec<Place>,
    /// Grid lines without a label.
    pub(crate) minor: Vec<f64>,
}

/// A tick with its position between 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) at: f64,
    pub(crate) label: String,
    /// Whether the label was given, and so has to be shown.
    pub(crate) given: bool,
}

/// Numbers beyond this are drawn as if they were this, so that no difference of two overflows.
const HUGE: f64 = 1e300;
/// Far outside of the drawing; nearer to it nothing is bent.
const FAR: f64 = 1e6;

/// Choice of limits where the axis has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// From the first to the last value; from zero where that is near.
    Tight,
    /// With space at the ends.
    Airy,
    /// With space at the ends, from zero where the data are not far from it.
    FromZero,
}

impl Ruler {
    /// An axis that shows `values`. Steps are chosen for about `wanted` ticks.
    pub(crate) fn new(axis: &Axis, values: impl Iterator<Item = f64>, fit: Fit, wanted: usize) -> Self {
        let log = axis.scale == Scale::Log;
        let usable = |v: f64| v.is_finite() && (!log || v > 0.0);
        let given = axis.range.filter(|(a, b)| usable(*a) && usable(*b) && a < b);
        let (low, high) = given.unwrap_or_else(|| {
            let ticks = axis.ticks.iter().map(|t| t.at);
            limits(values.chain(ticks).filter(|v| usable(*v)), log, fit)
        });
        let (low, high) = spread(low.clamp(-HUGE, HUGE), high.clamp(-HUGE, HUGE), log);
        let mut ruler = Self { log, low, high, title: String::new(), ticks: Vec::new(), minor: Vec::new() };
        ruler.tick(axis, wanted);
        ruler
    }

    /// Position of `value`: 0 at the low end, 1 at the high end; NaN where it has none.
    pub(crate) fn place(&self, value: f64) -> f64 {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return f64::NAN;
        }
        let at = if self.log {
            (libm::log10(value) - libm::log10(self.low)) / (libm::log10(self.high) - libm::log10(self.low))
        } else {
            (value.clamp(-HUGE, HUGE) - self.low) / (self.high - self.low)
        };
        at.clamp(-FAR, FAR)
    }

    /// Whether zero and less have no position.
    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// Whether zero is outside of the limits.
    pub(crate) fn leaves_out_zero(&self) -> bool {
        !self.log && (self.low > 0.0 || self.high < 0.0)
    }

    /// The length shown.
    pub(crate) fn span(&self) -> f64 {
        self.high - self.low
    }

    /// The same axis showing `span` around the same middle.
    pub(crate) fn widened(&self, axis: &Axis, span: f64, wanted: usize) -> Self {
        let middle = f64::midpoint(self.low, self.high);
        let axis = axis.clone().between(middle - span / 2.0, middle + span / 2.0);
        Self::new(&axis, std::iter::empty(), Fit::Tight, wanted)
    }

    /// Leaves out ticks and their prefix.
    pub(crate) fn forget(&mut self, axis: &Axis) {
        self.ticks.clear();
        self.minor.clear();
        self.title = title(axis, &axis.unit);
    }

    fn tick(&mut self, axis: &Axis, wanted: usize) {
        let inside = |v: &f64| {
            let at = self.place(*v);
            (-1e-9..=1.0 + 1e-9).contains(&at)
        };
        if !axis.ticks.is_empty() {
            let mut values: Vec<f64> = axis.ticks.iter().map(|t| t.at).filter(inside).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            let (title, labels) = labels(axis, &values, None);
            let say = |(value, label): (f64, String)| {
                let given = axis.ticks.iter().find(|t| t.at == value).and_then(|t| t.label.clone());
                Place { at: self.place(value), given: given.is_some(), label: given.unwrap_or(label) }
            };
            self.ticks = values.into_iter().zip(labels).map(say).collect();
            self.title = if axis.ticks.iter().all(|t| t.label.is_some()) { axis.label.clone() } else { title };
            return;
        }
        let (values, minor, step) = if self.log {
            let (major, minor) = decades(self.low, self.high, wanted);
            // Less than a decade may hold no such value; then equal steps are the better ticks.
            if major.iter().filter(|v| inside(v)).count() >= 2 {
                (major, minor, None)
            } else {
                let (values, step) = steps(self.low, self.high, wanted);
                (values, Vec::new(), Some(step))
            }
        } else {
            let (values, step) = steps(self.low, self.high, wanted);
            (values, Vec::new(), Some(step))
        };
        let values: Vec<f64> = values.into_iter().filter(inside).collect();
        let minor: Vec<f64> = minor.into_iter().filter(inside).collect();
        let (title, labels) = labels(axis, &values, step);
        self.ticks = values
            .iter()
            .zip(labels)
            .map(|(v, label)| Place { at: self.place(*v).clamp(0.0, 1.0), label, given: false })
            .collect();
        self.minor = minor.iter().map(|v| self.place(*v).clamp(0.0, 1.0)).collect();
        self.title = title;
    }
}

fn limits(values: impl Iterator<Item = f64>, log: bool, fit: Fit) -> (f64, f64) {
    let mut low = f64::INFINITY;
    let mut high = f64::NEG_INFINITY;
    for v in values {
        low = low.min(v.clamp(-HUGE, HUGE));
        high = high.max(v.clamp(-HUGE, HUGE));
    }
    if low > high {
        return if log { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    if fit == Fit::Tight && !log && low > 0.0 && low < 0.05 * high {
        // Time starts at zero, even if the first sample is a little later.
        return (0.0, high);
    }
    if fit == Fit::Tight || low == high {
        return (low, high);
    }
    if log {
        let room = libm::pow(high / low, 0.04).min(1e9);
        return (low / room, high * room);
    }
    let room = (high - low) * 0.05;
    match fit {
        Fit::FromZero if low >= 0.0 && low < 0.5 * high => (0.0, high + 0.05 * high),
        Fit::FromZero if high <= 0.0 && high > 0.5 * low => (low + 0.05 * low, 0.0),
        _ => (low - room, high + room),
    }
}

/// Limits that differ enough for numbers between them to be distinguished.
fn spread(low: f64, high: f64, log: bool) -> (f64, f64) {
    if log {
        let low = low.max(1e-300);
        return if high > low * (1.0 + 1e-9) { (low, high) } else { (low / 2.0, low * 2.0) };
    }
    let size = low.abs().max(high.abs());
    if high - low > size * 1e-9 && high - low > 1e-300 {
        (low, high)
    } else if size < 1e-290 {
        (0.0, 1.0)
    } else if low > 0.0 && low == high {
        // A constant is shown above the zero it is measured from.
        (0.0, low * 1.2)
    } else {
        (low - size * 0.1, high + size * 0.1)
    }
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten, about `wanted` of them, and their distance.
fn steps(low: f64, high: f64, wanted: usize) -> (Vec<f64>, f64) {
    let raw = (high - low) / wanted.max(2) as f64;
    let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
    // 25 and 250 are round, 2.5 is not.
    let exponent = libm::round(libm::log10(power)) as i64;
    let multiples: &[f64] =
        if exponent.rem_euclid(3) == 0 { &[1.0, 2.0, 5.0, 10.0] } else { &[1.0, 2.0, 2.5, 5.0, 10.0] };
    let step = multiples.iter().map(|m| m * power).find(|s| *s >= raw * 0.7).unwrap_or(raw);
    let first = libm::ceil(low / step - 1e-6);
    let last = libm::floor(high / step + 1e-6);
    let count = (last - first).clamp(0.0, 40.0) as usize;
    ((0..=count).map(|i| (first + i as f64) * step).collect(), step)
}

/// Powers of ten, or their multiples 1, 2 and 5 where there are few decades; and ticks between.
fn decades(low: f64, high: f64, wanted: usize) -> (Vec<f64>, Vec<f64>) {
    let first = libm::floor(libm::log10(low)) as i32;
    let last = libm::ceil(libm::log10(high)) as i32;
    let span = libm::log10(high) - libm::log10(low);
    let ten = |e: i32| libm::pow(10.0, e as f64);
    if span < 2.9 {
        let each = |ms: &[f64]| (first..=last).flat_map(|e| ms.iter().map(move |m| m * ten(e))).collect::<Vec<_>>();
        (each(&[1.0, 2.0, 5.0]), each(&[3.0, 4.0, 6.0, 7.0, 8.0, 9.0]))
    } else {
        let stride = (libm::ceil(span / wanted.max(2) as f64) as i32).max(1);
        let major: Vec<f64> = (first..=last).filter(|e| e.rem_euclid(stride) == 0).map(ten).collect();
        let minor = if stride > 1 {
            (first..=last).filter(|e| e.rem_euclid(stride) != 0).map(ten).collect()
        } else if span <= 6.0 {
            (first..=last).flat_map(|e| (2..10).map(move |m| m as f64 * ten(e))).collect()
        } else {
            Vec::new()
        };
        (major, minor)
    }
}

fn title(axis: &Axis, unit: &str) -> String {
    match (axis.label.is_empty(), unit.is_empty()) {
        (_, true) => axis.label.clone(),
        (true, false) => format!("[{unit}]"),
        (false, false) => format!("{} [{unit}]", axis.label),
    }
}

/// Labels of ticks, and the axis title with the unit that goes with them. `step` is their distance where they are equally far
/// apart. `web/src/number.ts` has the same rule; `tests/labels.json` holds both to it.
fn labels(axis: &Axis, values: &[f64], step: Option<f64>) -> (String, Vec<String>) {
    let (labels, unit) = match step {
        Some(step) => evenly(values, &axis.unit, step),
        None => apart(values, &axis.unit),
    };
    (title(axis, &unit), labels)
}

/// Labels of ticks far apart, and the unit they are in.
fn apart(values: &[f64], unit: &str) -> (Vec<String>, String) {
    let most = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let least = values.iter().filter(|v| **v != 0.0).fold(f64::INFINITY, |m, v| m.min(v.abs()));
    let prefixed = Prefix::of_unit(unit).len() > 1;
    // Each with its own prefix: 155M, 622M, 2.5G [bit/s]. Times would read badly so: one prefix.
    if prefixed && unit != "s" && Prefix::for_value(least, unit) != Prefix::for_value(most, unit) {
        let each = |v: &f64| {
            let p = Prefix::for_value(*v, unit);
            format!("{}{}", number::short(v / p.factor, 4), p.symbol)
        };
        return (values.iter().map(each).collect(), unit.to_owned());
    }
    let prefix = if unit == "s" {
        Prefix::leaving(if least < 1.0 && most <= 10.0 { least } else { most }, unit, 0.1)
    } else {
        Prefix::for_value(least, unit)
    };
    let powers = (most >= 1e5 || least < 1e-3) && values.iter().all(|v| is_power_of_ten(*v)) && !prefixed;
    let each = |v: &f64| {
        if powers {
            format!("10{}", number::superscript(number::decimal_exponent(*v, 1)))
        } else {
            number::short(v / prefix.factor, 5)
        }
    };
    (values.iter().map(each).collect(), format!("{}{unit}", prefix.symbol))
}

/// A label has at most so many digits.
const LONG: usize = 7;
/// Values below this, in steps below that, have a power of ten in their unit.
const SMALL: f64 = 0.01;
const FINE: f64 = 1e-3;

/// Labels of equally spaced ticks, with one prefix, and their unit. Where they would be long, they are differences from a value
/// in the unit.
fn evenly(values: &[f64], unit: &str, step: f64) -> (Vec<String>, String) {
    let most = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let prefix = Prefix::leaving(most, unit, 2.0);
    let (mut factor, mut symbol) = (prefix.factor, prefix.symbol.to_owned());
    let scaled = most / factor;
    // A power of ten helps where no prefix makes the values neither long nor small. The smallness of a step alone is no reason.
    let power = scaled >= 1e5 || (most > 0.0 && scaled < SMALL && step / factor < FINE);
    if power {
        let exponent = number::decimal_exponent(most, 1).div_euclid(3) * 3;
        factor = libm::pow(10.0, exponent as f64);
        symbol = format!("10{} ", number::superscript(exponent));
    }
    let words = format!("{symbol}{unit}").trim().to_owned();
    let decimals = decimals_of(step / factor);
    let digits = format!("{:.0}", libm::trunc(most / factor)).len() + decimals;
    let Some(first) = values.first().filter(|_| values.len() > 1 && digits > LONG) else {
        return (values.iter().map(|v| number::fixed(v / factor, decimals)).collect(), words);
    };
    // Their common part, of as many digits as are shared by all, stands once in the title.
    let room = values.iter().fold(0.0_f64, |m, v| m.max((v - first).abs())) / factor;
    let kept = (-number::decimal_exponent(10.0 * room, 1)).max(0) as usize;
    let from = first / factor;
    let base: f64 = format!("{from:.kept$}").parse().unwrap_or(from);
    let sign = if base < 0.0 { "" } else { "+" };
    let times = if power { "\u{d7} " } else { "" };
    let unit = format!("{sign}{} {times}{words}", number::fixed(base, kept));
    (values.iter().map(|v| number::fixed(v / factor - base, decimals)).collect(), unit.trim().to_owned())
}

/// Digits after the point that a multiple of `step` needs; a step has at most two digits of its own.
fn decimals_of(step: f64) -> usize {
    let exponent = number::decimal_exponent(step, 2);
    let two = !format!("{step:.1e}").contains(".0e");
    (i32::from(two) - exponent).clamp(0, 12) as usize
}

fn is_power_of_ten(value: f64) -> bool {
    format!("{value:.6e}").starts_with("1.000000e")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(axis: &Axis, values: &[f64], fit: Fit) -> (String, String) {
        let r = Ruler::new(axis, values.iter().copied(), fit, 6);
        (r.title.clone(), r.ticks.iter().map(|t| t.label.as_str()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn ticks_are_round_and_carry_one_prefix() {
        let cases: &[(&str, &[f64], &str, &str)] = &[
            ("s", &[0.0, 60.0], "V [s]", "0 10 20 30 40 50 60"),
            ("s", &[0.0, 0.05], "V [ms]", "0 10 20 30 40 50"),
            ("bit/s", &[0.0, 622e6], "V [Mbit/s]", "0 100 200 300 400 500 600"),
            ("bit/s", &[0.0, 1.05e9], "V [Mbit/s]", "0 200 400 600 800 1000"),
            ("packets", &[0.0, 7775.0], "V [packets]", "0 1000 2000 3000 4000 5000 6000 7000"),
            ("packets", &[0.0, 7.7e6], "V [10\u{2076} packets]", "0 1 2 3 4 5 6 7"),
            ("", &[0.0, 1.0], "V", "0.0 0.2 0.4 0.6 0.8 1.0"),
            ("", &[0.0, 1.3e-5], "V [10\u{207b}\u{2076}]", "0 2 4 6 8 10 12"),
            ("", &[-1.5, 1.5], "V", "\u{2212}1.5 \u{2212}1.0 \u{2212}0.5 0.0 0.5 1.0 1.5"),
        ];
        for (unit, values, title, ticks) in cases {
            let (t, l) = ruler(&Axis::new("V", *unit), values, Fit::Tight);
            assert_eq!((t.as_str(), l.as_str()), (*title, *ticks), "{unit} {values:?}");
        }
    }

    #[test]
    fn a_log_axis_shows_what_was_swept() {
        let rates = [155e6, 310e6, 622e6, 1.244e9, 2.488e9, 4.976e9, 10e9];
        let axis = Axis::new("Rate", "bit/s").log().ticks_at(rates);
        let (title, ticks) = ruler(&axis, &rates, Fit::Airy);
        assert_eq!(title, "Rate [bit/s]");
        assert_eq!(ticks, "155M 310M 622M 1.244G 2.488G 4.976G 10G");
        let delays = [0.01, 0.02, 0.05, 0.1, 0.2];
        let (title, ticks) = ruler(&Axis::new("RTT", "s").log().ticks_at(delays), &delays, Fit::Airy);
        assert_eq!((title.as_str(), ticks.as_str()), ("RTT [ms]", "10 20 50 100 200"));
    }

    #[test]
    fn a_log_axis_finds_its_own_ticks() {
        let cases: &[(&str, &[f64], &str, &str)] = &[
            (
                "",
                &[1e-6, 1.0],
                "V",
                "10\u{207b}\u{2076} 10\u{207b}\u{2075} 10\u{207b}\u{2074} 10\u{207b}\u{b3} 10\u{207b}\u{b2} 10\u{207b}\u{b9} 10\u{2070}",
            ),
            ("packets", &[1.0, 1000.0], "V [packets]", "1 10 100 1000"),
            ("packets", &[3.0, 80.0], "V [packets]", "5 10 20 50"),
            ("packets", &[110.0, 150.0], "V [packets]", "110 115 120 125 130 135 140 145 150"),
            ("rad/s", &[0.1, 100.0], "V [rad/s]", "0.1 1 10 100"),
        ];
        for (unit, values, title, ticks) in cases {
            let (t, l) = ruler(&Axis::new("V", *unit).log(), values, Fit::Tight);
            assert_eq!((t.as_str(), l.as_str()), (*title, *ticks), "{unit} {values:?}");
        }
    }

    /// The viewer's tests read the same file.
    #[test]
    fn labels_are_those_of_the_viewer() {
        #[derive(serde::Deserialize)]
        struct Case {
            unit: String,
            ticks: Vec<f64>,
            apart: bool,
            labels: Vec<String>,
            title: String,
        }
        let cases: Vec<Case> = serde_json::from_str(include_str!("../tests/labels.json")).unwrap();
        for Case { unit, ticks, apart, labels, title } in cases {
            let step = (!apart).then(|| ticks[1] - ticks[0]);
            let found = super::labels(&Axis::new("", unit.as_str()), &ticks, step);
            let title = if title.is_empty() { title } else { format!("[{title}]") };
            assert_eq!(found, (title, labels), "{ticks:?} {unit}");
        }
    }

    #[test]
    fn zero_has_no_place_on_a_log_axis() {
        let r = Ruler::new(&Axis::new("", "").log(), [0.0, 1.0, 100.0].into_iter(), Fit::Tight, 5);
        assert!(r.place(0.0).is_nan() && r.place(-1.0).is_nan());
        assert_eq!(r.place(10.0), 0.5);
    }

    #[test]
    fn a_senseless_range_is_passed_over() {
        for range in [(f64::NAN, 1.0), (2.0, 1.0), (1.0, 1.0), (0.0, f64::INFINITY)] {
            let axis = Axis::new("", "").between(range.0, range.1);
            let r = Ruler::new(&axis, [3.0, 4.0].into_iter(), Fit::Tight, 5);
            assert_eq!((r.place(3.0), r.place(4.0)), (0.0, 1.0), "{range:?}");
        }
    }
}
