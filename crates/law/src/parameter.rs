//! Parameters of laws: units, ranges, defaults and sources as data, and the values a scenario gave them.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a parameter counts in. The scenario reader parses text accordingly; values are kept in the base unit named here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A plain number.
    One,
    /// Packets; `"50 packets"`.
    Packets,
    /// Seconds; `"10 ms"`.
    Seconds,
    /// Bits per second; `"90 Mbit/s"`.
    BitPerSecond,
    /// Bytes; `"125 kB"`.
    Bytes,
    /// `true` or `false`, kept as 1 and 0.
    Switch,
    /// One of some words, kept as its index.
    Choice(&'static [&'static str]),
}

impl Unit {
    /// The unit as a reader of a table expects it, empty for plain numbers, switches and words.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Seconds => "s",
            Self::BitPerSecond => "bit/s",
            Self::Bytes => "B",
            Self::One | Self::Switch | Self::Choice(_) => "",
        }
    }
}

/// What holds when a scenario is silent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// This value, in the base unit.
    Is(f64),
    /// The law works it out from where it runs; the text says how.
    Automatic(&'static str),
    /// There is no sensible default.
    Required,
}

/// One parameter of a law.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The key in a scenario.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub what: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its value when not given.
    pub default: Default,
    /// The least value allowed, in the base unit.
    pub least: f64,
    /// The largest value allowed, in the base unit.
    pub most: f64,
    /// Where the parameter and its default come from: paper and equation, RFC and section, or the reason for a choice.
    pub source: &'static str,
}

impl Parameter {
    /// A number with a default.
    pub const fn number(
        name: &'static str,
        unit: Unit,
        default: f64,
        range: [f64; 2],
        what: &'static str,
        source: &'static str,
    ) -> Self {
        Self { name, what, unit, default: Default::Is(default), least: range[0], most: range[1], source }
    }

    /// A number that the law works out unless it is given.
    pub const fn automatic(
        name: &'static str,
        unit: Unit,
        how: &'static str,
        range: [f64; 2],
        what: &'static str,
        source: &'static str,
    ) -> Self {
        Self { name, what, unit, default: Default::Automatic(how), least: range[0], most: range[1], source }
    }

    /// A number that must be given.
    pub const fn required(
        name: &'static str,
        unit: Unit,
        range: [f64; 2],
        what: &'static str,
        source: &'static str,
    ) -> Self {
        Self { name, what, unit, default: Default::Required, least: range[0], most: range[1], source }
    }

    /// One of `words`; the first is the default.
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        what: &'static str,
        source: &'static str,
    ) -> Self {
        let most = (words.len() - 1) as f64;
        Self { name, what, unit: Unit::Choice(words), default: Default::Is(0.0), least: 0.0, most, source }
    }

    /// A switch with a default.
    pub const fn switch(name: &'static str, default: bool, what: &'static str, source: &'static str) -> Self {
        let value = if default { 1.0 } else { 0.0 };
        Self { name, what, unit: Unit::Switch, default: Default::Is(value), least: 0.0, most: 1.0, source }
    }
}

/// A complete set of values for a law's parameters, each within its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    names: Vec<&'static str>,
    values: Vec<Option<f64>>,
}

impl Values {
    /// The defaults of `parameters`; what is required or automatic is still open.
    pub fn defaults(parameters: &'static [Parameter]) -> Self {
        let value = |p: &Parameter| if let Default::Is(x) = p.default { Some(x) } else { None };
        Self { names: parameters.iter().map(|p| p.name).collect(), values: parameters.iter().map(value).collect() }
    }

    /// Sets one value.
    ///
    /// # Errors
    /// Says which range was left. NaN is outside every range.
    ///
    /// # Panics
    /// If `parameter` is not one of those the defaults were made from: the caller looked it up there.
    pub fn set(&mut self, parameter: &Parameter, value: f64) -> Result<(), String> {
        if !(parameter.least..=parameter.most).contains(&value) {
            let unit = parameter.unit.symbol();
            return Err(format!(
                "`{}` may be {} to {} {unit}, not {value}",
                parameter.name, parameter.least, parameter.most
            )
            .trim_end()
            .to_owned());
        }
        let at = self.names.iter().position(|n| *n == parameter.name).expect("a parameter of this law");
        self.values[at] = Some(value);
        Ok(())
    }

    /// The value of `name`, or none if the law shall work it out.
    ///
    /// # Panics
    /// If the law has no such parameter: a spelling mistake in the law, which its first use shows.
    pub fn optional(&self, name: &str) -> Option<f64> {
        let at = self.names.iter().position(|n| *n == name);
        self.values[at.unwrap_or_else(|| panic!("no parameter is named `{name}`"))]
    }

    /// The value of `name`, which has a default or is required.
    ///
    /// # Panics
    /// If the value is open: the reader refuses a scenario that leaves out a required parameter.
    pub fn number(&self, name: &str) -> f64 {
        self.optional(name).unwrap_or_else(|| panic!("`{name}` was left open"))
    }

    /// The value of the switch `name`.
    pub fn switch(&self, name: &str) -> bool {
        self.number(name) != 0.0
    }

    /// Names and values in declared order; none where the law works it out.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> {
        self.names.iter().copied().zip(self.values.iter().copied())
    }
}
