//! Parameters of laws: units, ranges, defaults and sources as data, and the values a scenario gave them.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, Ordering};

/// The unit of a parameter. The scenario reader parses text accordingly; values are kept in the base unit named here.
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

/// The value of a parameter that a scenario leaves out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// This value, in the base unit.
    Is(f64),
    /// The law computes it from its context; the text explains how.
    Automatic(&'static str),
    /// There is no sensible default.
    Required,
}

/// One parameter of a law.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The key in a scenario.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub description: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its value when not given.
    pub default: Default,
    /// The least value allowed, in the base unit.
    pub least: f64,
    /// The largest value allowed, in the base unit.
    pub most: f64,
    /// The source of the parameter and its default: paper and equation, RFC and section, or the reason for a choice.
    pub source: &'static str,
}

impl Parameter {
    /// A number with a default.
    pub const fn number(
        name: &'static str,
        unit: Unit,
        default: f64,
        range: [f64; 2],
        description: &'static str,
        source: &'static str,
    ) -> Self {
        Self { name, description, unit, default: Default::Is(default), least: range[0], most: range[1], source }
    }

    /// A number that the law works out unless it is given.
    pub const fn automatic(
        name: &'static str,
        unit: Unit,
        how: &'static str,
        range: [f64; 2],
        description: &'static str,
        source: &'static str,
    ) -> Self {
        Self { name, description, unit, default: Default::Automatic(how), least: range[0], most: range[1], source }
    }

    /// A number that must be given.
    pub const fn required(
        name: &'static str,
        unit: Unit,
        range: [f64; 2],
        description: &'static str,
        source: &'static str,
    ) -> Self {
        Self { name, description, unit, default: Default::Required, least: range[0], most: range[1], source }
    }

    /// One of `words`; the first is the default.
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        description: &'static str,
        source: &'static str,
    ) -> Self {
        let most = (words.len() - 1) as f64;
        Self { name, description, unit: Unit::Choice(words), default: Default::Is(0.0), least: 0.0, most, source }
    }

    /// A switch with a default.
    pub const fn switch(name: &'static str, default: bool, description: &'static str, source: &'static str) -> Self {
        let value = if default { 1.0 } else { 0.0 };
        Self { name, description, unit: Unit::Switch, default: Default::Is(value), least: 0.0, most: 1.0, source }
    }
}

/// A complete set of values for a law's parameters, each within its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    names: Vec<&'static str>,
    numbers: Vec<Option<f64>>,
    missed: Missed,
}

/// The first name that a law read in vain, as far as it fits. Values are shared between threads, and a crate without
/// `std` has no lock; laws that read at the same moment are the same law and read the same name.
#[derive(Debug, Default)]
struct Missed([AtomicU8; Values::LONGEST_NAME]);

impl Missed {
    fn note(&self, name: &str) {
        if self.0[0].load(Ordering::Relaxed) == 0 {
            for (place, byte) in self.0.iter().zip(name.bytes()) {
                place.store(byte, Ordering::Relaxed);
            }
        }
    }

    fn name(&self) -> Option<String> {
        let bytes = self.0.iter().map(|place| place.load(Ordering::Relaxed)).take_while(|byte| *byte != 0);
        let bytes: Vec<u8> = bytes.collect();
        (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A copy starts without a missed name.
impl Clone for Missed {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Values are equal whatever was read from them.
impl PartialEq for Missed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Values {
    /// The longest name of a parameter [bytes].
    pub(crate) const LONGEST_NAME: usize = 32;

    /// The defaults of `parameters`; required and automatic ones are still open.
    pub fn defaults(parameters: &'static [Parameter]) -> Self {
        let value = |p: &Parameter| if let Default::Is(x) = p.default { Some(x) } else { None };
        Self {
            names: parameters.iter().map(|p| p.name).collect(),
            numbers: parameters.iter().map(value).collect(),
            missed: Missed::default(),
        }
    }

    /// The defaults of `parameters`, and these values by name: for tests of laws.
    #[cfg(test)]
    pub(crate) fn of(parameters: &'static [Parameter], set: &[(&str, f64)]) -> Self {
        let mut values = Self::defaults(parameters);
        for (name, value) in set {
            values.set(parameters.iter().find(|p| p.name == *name).unwrap(), *value).unwrap();
        }
        values
    }

    /// Sets one value.
    ///
    /// # Errors
    /// Names the range that was left. NaN is outside every range.
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
        self.numbers[at] = Some(value);
        Ok(())
    }

    /// The defaults, and some value within its range for each parameter that has none and is required.
    pub(crate) fn some(parameters: &'static [Parameter]) -> Self {
        let mut some = Self::defaults(parameters);
        for (value, parameter) in some.numbers.iter_mut().zip(parameters) {
            if parameter.default == Default::Required {
                *value = Some(1.0_f64.max(parameter.least).min(parameter.most));
            }
        }
        some
    }

    /// The value of `name`, or none if the law shall work it out. None also if the law has no such parameter, which
    /// [`build`](crate::law::build) then refuses.
    pub fn optional(&self, name: &str) -> Option<f64> {
        let value = self.names.iter().position(|n| *n == name).map(|at| self.numbers[at]);
        if value.is_none() {
            self.missed.note(name);
        }
        value.flatten()
    }

    /// The value of `name`, which has a default or is required. NaN if it has neither, or if the law has no such parameter:
    /// [`build`](crate::law::build) then refuses the law.
    pub fn number(&self, name: &str) -> f64 {
        self.optional(name).unwrap_or_else(|| {
            self.missed.note(name);
            f64::NAN
        })
    }

    /// The name that a law read in vain, if any: a mistake in the law, in words.
    pub(crate) fn missed(&self) -> Option<String> {
        let name = self.missed.name()?;
        Some(if self.names.contains(&name.as_str()) {
            format!("`{name}` has no value here; read it with `values.optional(\"{name}\")`, or give it a default")
        } else {
            let known: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
            let known = if known.is_empty() { "it has none".to_owned() } else { known.join(", ") };
            format!("`compile` reads a parameter `{name}` that the law does not have; its parameters: {known}")
        })
    }

    /// The value of the switch `name`.
    pub fn switch(&self, name: &str) -> bool {
        self.number(name) != 0.0
    }

    /// Names and values in declared order; none where the law works it out.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> {
        self.names.iter().copied().zip(self.numbers.iter().copied())
    }
}
