//! The laws that a program knows.
//!
//! [`Registry::standard`] has the laws of this crate. A program adds laws of its own and gives the registry to whatever
//! looks for laws by name: the reader of scenarios, the schema, reports, the command line.
//!
//! ```
//! use penstock_law::Registry;
//!
//! let registry = Registry::standard();
//! assert!(registry.controller("cubic").is_some());
//! assert!(registry.aqm("cubic").is_none());
//! ```

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::aqm::{self, AQMS, Aqm};
use crate::cc::{self, CONTROLLERS, Controller};
use crate::conditioner::{self, CONDITIONERS, Conditioner};
use crate::law::{Build, Entry, Linearisation, Observables, Role};
use crate::number::Number;
use crate::parameter::{Default, Unit, Values};
use crate::quantity::{Bytes, Rate, Time};

/// The laws that a program knows, by role, in the order in which the docs show them.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    controllers: Vec<&'static Entry<Controller>>,
    aqms: Vec<&'static Entry<Aqm>>,
    conditioners: Vec<&'static Entry<Conditioner>>,
    /// The names of those that are not of this crate.
    added: Vec<&'static str>,
}

/// A role that registries have a list of: [`Controller`], [`Aqm`] and [`Conditioner`].
pub trait Registered: list::List {}

/// Out of reach of other crates, so that [`Registry::with`] is the only way into a registry.
mod list {
    use alloc::vec::Vec;

    use super::Registry;
    use crate::law::{Entry, Role};

    pub trait List: Role + Sized {
        /// True if its laws may bring kernel programs.
        const BRINGS_PROGRAMS: bool;
        fn of(registry: &Registry) -> &[&'static Entry<Self>];
        fn of_mut(registry: &mut Registry) -> &mut Vec<&'static Entry<Self>>;
        /// Contexts such as scenarios have. A law may refuse one of them.
        fn places() -> Vec<Self::Context>;
    }
}

macro_rules! registered {
    ($role:ty, $list:ident, $brings_programs:literal, $places:expr) => {
        impl Registered for $role {}
        impl list::List for $role {
            const BRINGS_PROGRAMS: bool = $brings_programs;
            fn of(registry: &Registry) -> &[&'static Entry<Self>] {
                &registry.$list
            }
            fn of_mut(registry: &mut Registry) -> &mut Vec<&'static Entry<Self>> {
                &mut registry.$list
            }
            fn places() -> Vec<Self::Context> {
                $places
            }
        }
    };
}
const PACKET: Bytes = Bytes(1500);
registered!(
    Controller,
    controllers,
    true,
    vec![cc::Context { packet: PACKET, initial_window: 10.0, initial_ssthresh: f64::from(u32::MAX) }]
);
registered!(
    Aqm,
    aqms,
    true,
    [Vec::new(), vec![aqm::Class::FREE; 2]]
        .map(|classes| aqm::Context {
            rate: Rate(100_000_000),
            delay: Time(Time::PER_SECOND / 100),
            packet: PACKET,
            classes
        })
        .into()
);
registered!(Conditioner, conditioners, false, vec![conditioner::Context { packet: PACKET }]);

/// The name, colour and words of a law in tables and figures, whatever its role.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its colour in every figure, `#rrggbb`.
    pub colour: &'static str,
    /// Its state, as series record it.
    pub observables: Observables,
}

/// The reason why a registry does not take a law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The name of the law.
    pub law: String,
    /// The reason, as a sentence without its subject.
    pub why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law `{}`: {}", self.law, self.why)
    }
}

impl core::error::Error for Refused {}

impl Registry {
    /// No laws at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The laws of this crate.
    pub fn standard() -> Self {
        Self {
            controllers: CONTROLLERS.iter().collect(),
            aqms: AQMS.iter().collect(),
            conditioners: CONDITIONERS.iter().collect(),
            added: Vec::new(),
        }
    }

    /// The same laws and one more.
    ///
    /// # Errors
    /// A law of any role has this name already, or the entry contradicts itself: its name or a parameter's is not of lower case letters,
    /// digits, `-` and `_`; its colour is not `#rrggbb`; a default is out of its range; it declares a linearisation and has no builder for
    /// dual numbers; it brings a kernel program and is a conditioner, or has no builder for the kernel's arithmetic; it reads a parameter
    /// that it does not have; it refuses its own defaults, where all parameters have one.
    pub fn with<R: Registered>(mut self, entry: &'static Entry<R>) -> Result<Self, Refused> {
        let refused = |why: String| Refused { law: entry.name.into(), why };
        if let Some(role) = self.role(entry.name) {
            return Err(refused(format!("there is {role} of this name already; choose another name")));
        }
        sound(entry).and_then(|()| compiles(entry)).map_err(refused)?;
        R::of_mut(&mut self).push(entry);
        self.added.push(entry.name);
        Ok(self)
    }

    /// True if it has a law that is not of this crate.
    pub fn has_more_than_standard(&self) -> bool {
        !self.added.is_empty()
    }

    /// True if the law of that name is not of this crate.
    pub fn is_added(&self, name: &str) -> bool {
        self.added.contains(&name)
    }

    /// Every law of a role.
    pub fn laws<R: Registered>(&self) -> &[&'static Entry<R>] {
        R::of(self)
    }

    /// The law of that role and name.
    pub fn find<R: Registered>(&self, name: &str) -> Option<&'static Entry<R>> {
        R::of(self).iter().copied().find(|entry| entry.name == name)
    }

    /// The controller of that name.
    pub fn controller(&self, name: &str) -> Option<&'static Entry<Controller>> {
        self.find(name)
    }

    /// The AQM of that name.
    pub fn aqm(&self, name: &str) -> Option<&'static Entry<Aqm>> {
        self.find(name)
    }

    /// The conditioner of that name.
    pub fn conditioner(&self, name: &str) -> Option<&'static Entry<Conditioner>> {
        self.find(name)
    }

    /// The role of the law of that name, with its article: `a controller`.
    pub fn role(&self, name: &str) -> Option<&'static str> {
        let controller = self.controller(name).map(|_| "a controller");
        let aqm = || self.aqm(name).map(|_| "an AQM");
        controller.or_else(aqm).or_else(|| self.conditioner(name).map(|_| "a conditioner"))
    }

    /// The entries for tables and figures, one a law.
    pub fn shown(&self) -> impl Iterator<Item = Shown> {
        let controllers = self.controllers.iter().map(|entry| shown(entry));
        let aqms = self.aqms.iter().map(|entry| shown(entry));
        controllers.chain(aqms).chain(self.conditioners.iter().map(|entry| shown(entry)))
    }
}

fn shown<R: Role>(entry: &Entry<R>) -> Shown {
    Shown { name: entry.name, colour: entry.colour, observables: entry.observables }
}

fn is_name(name: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'_';
    name.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && name.bytes().all(allowed)
}

fn is_colour(colour: &str) -> bool {
    colour.strip_prefix('#').is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|c| c.is_ascii_hexdigit()))
}

/// Checks an entry against the documentation of [`Registry::with`].
fn sound<R: Registered>(entry: &Entry<R>) -> Result<(), String> {
    const NAMES: &str = "write a lower case letter, then lower case letters, digits, `-` and `_`";
    if !is_name(entry.name) {
        return Err(format!("`{}` is not a name; {NAMES}", entry.name));
    }
    if !is_colour(entry.colour) {
        return Err(format!("`{}` is not a colour; write it as in `#0f8f7f`", entry.colour));
    }
    for (at, parameter) in entry.parameters.iter().enumerate() {
        let name = parameter.name;
        if !is_name(&name.to_ascii_lowercase()) {
            return Err(format!("`{name}` is not a name of a parameter; {NAMES}"));
        }
        if name.len() > Values::LONGEST_NAME {
            return Err(format!("`{name}` is too long; write at most {} letters", Values::LONGEST_NAME));
        }
        if entry.parameters[..at].iter().any(|other| other.name == name) || name == "law" {
            return Err(format!("two parameters are called `{name}`; choose another name"));
        }
        let (least, most) = (parameter.least, parameter.most);
        // NaN is at neither end.
        if !(least <= most && least < f64::INFINITY && most > f64::NEG_INFINITY) {
            return Err(format!("no number is within the range of `{name}`, {least} to {most}"));
        }
        let value = if let Default::Is(value) = parameter.default { Some(value) } else { None };
        if value.is_some_and(|value| !(parameter.least..=parameter.most).contains(&value)) {
            return Err(format!("the default of `{name}` is not within {} to {}", parameter.least, parameter.most));
        }
        if matches!(parameter.unit, Unit::Choice([])) {
            return Err(format!("the parameter `{name}` is a choice without words; list the words that it may have"));
        }
    }
    if entry.dual.is_none() && !matches!(entry.linearisation, Linearisation::Unsupported(_)) {
        return Err("its linearisation is not `Unsupported`; give it `dual: Some(&build::<Dual, ...>)`".into());
    }
    if entry.kernel.is_some() && !R::BRINGS_PROGRAMS {
        return Err("a conditioner cannot bring a kernel program; give it `kernel: None`".into());
    }
    if entry.kernel.is_some() && entry.fixed.is_none() {
        return Err("it brings a kernel program; give it `fixed: Some(&build::<Fix<32>, ...>)`".into());
    }
    Ok(())
}

/// Compiles the law once in each of its arithmetics, so that a mistake in it shows now and not in a run.
fn compiles<R: Registered>(entry: &'static Entry<R>) -> Result<(), String> {
    compiles_in(entry, Some(entry.real))?;
    compiles_in(entry, entry.dual)?;
    compiles_in(entry, entry.fixed)?;
    let Some(program) = entry.kernel else { return Ok(()) };
    let values = Values::some(entry.parameters);
    // `fixed` decides whether these values fit each other.
    let _: Vec<_> = R::places().iter().map(|place| program.parameter_words(&values, place)).collect();
    values.missed().map_or(Ok(()), Err)
}

fn compiles_in<N: Number, R: Registered>(entry: &'static Entry<R>, build: Option<Build<N, R>>) -> Result<(), String> {
    let Some(build) = build else { return Ok(()) };
    let values = Values::some(entry.parameters);
    let built: Vec<_> = R::places().iter().map(|place| build(&values, place)).collect();
    if let Some(mistake) = values.missed() {
        return Err(mistake);
    }
    let any = built.iter().any(Result::is_ok);
    // Of values that a scenario must give, others may be right.
    let has_all = entry.parameters.iter().all(|parameter| parameter.default != Default::Required);
    match built.into_iter().find_map(Result::err) {
        Some(why) if has_all && !any => Err(format!("it refuses the defaults of its own parameters: {why}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::law::KernelProgram;

    #[test]
    fn the_standard_laws_would_all_be_taken() {
        let standard = Registry::standard();
        let mut again = Registry::empty();
        for entry in standard.laws::<Controller>() {
            again = again.with(entry).unwrap();
        }
        for entry in standard.laws::<Aqm>() {
            again = again.with(entry).unwrap();
        }
        for entry in standard.laws::<Conditioner>() {
            again = again.with(entry).unwrap();
        }
        assert_eq!(again.shown().count(), standard.shown().count());
        assert!(again.has_more_than_standard() && !standard.has_more_than_standard());
    }

    /// Series and colours are found by name alone, and so a name is one law's in all roles.
    #[test]
    fn a_name_is_taken_once() {
        static RENAMED: Entry<Controller> = Entry { name: "red", ..CONTROLLERS[0] };
        let again = |registry: Registry| registry.with(&CONTROLLERS[0]).unwrap_err().to_string();
        assert_eq!(
            again(Registry::standard()),
            "law `newreno`: there is a controller of this name already; choose another name"
        );
        let refused = Registry::standard().with(&RENAMED).unwrap_err();
        assert!(refused.why.starts_with("there is an AQM of this name"), "{refused}");
    }

    /// A name that `compile` spells otherwise than the entry, in an arithmetic that a first run may not use, and defaults that
    /// contradict each other.
    #[test]
    fn laws_that_do_not_compile_are_refused() {
        use crate::parameter::Parameter;
        type Built<N> = Result<alloc::boxed::Box<dyn crate::Instances<N, Controller>>, String>;
        fn misspelt<N: Number>(values: &Values, _: &cc::Context) -> Built<N> {
            Err(format!("{}", values.number("gian")))
        }
        fn open<N: Number>(values: &Values, _: &cc::Context) -> Built<N> {
            Err(format!("{}", values.number("gain")))
        }
        fn contradicting(_: &Values, _: &cc::Context) -> Built<f64> {
            Err("a is below b".into())
        }
        const FIRST: Entry<Controller> = CONTROLLERS[0];
        const GAIN: &[Parameter] = &[Parameter::required("gain", Unit::One, [0.0, 1.0], "", "")];
        const AUTOMATIC: &[Parameter] = &[Parameter::automatic("gain", Unit::One, "", [0.0, 1.0], "", "")];
        static REAL: Entry<Controller> = Entry { name: "mine", parameters: GAIN, real: &misspelt::<f64>, ..FIRST };
        static FIXED: Entry<Controller> = Entry { name: "mine", fixed: Some(&misspelt::<crate::Fix<32>>), ..FIRST };
        static OPEN: Entry<Controller> = Entry { name: "mine", parameters: AUTOMATIC, real: &open::<f64>, ..FIRST };
        static AGAINST: Entry<Controller> = Entry { name: "mine", real: &contradicting, ..FIRST };
        static UNKNOWN: Entry<Controller> = Entry {
            name: "mine",
            parameters: GAIN,
            real: &contradicting,
            linearisation: Linearisation::Unsupported("a test"),
            dual: None,
            ..FIRST
        };
        for (entry, why) in [
            (&REAL, "reads a parameter `gian` that the law does not have; its parameters: `gain`"),
            (&FIXED, "reads a parameter `gian`"),
            (&OPEN, "`gain` has no value here; read it with `values.optional"),
            (&AGAINST, "it refuses the defaults of its own parameters: a is below b"),
        ] {
            let refused = Registry::standard().with(entry).unwrap_err();
            assert!(refused.law == "mine" && refused.why.contains(why), "{refused}");
        }
        assert!(Registry::standard().with(&UNKNOWN).is_ok(), "another value of `gain` may be right");
    }

    /// A kernel program must not get a parameter under a wrong name.
    #[test]
    fn words_for_the_kernel_read_the_laws_parameters() {
        static PROGRAM: KernelProgram<Controller> =
            KernelProgram { object: &[], words: |values, _| Ok(vec![values.number("alhpa") as i64]) };
        const IN_KERNEL: Entry<Controller> = {
            let mut at = 0;
            while CONTROLLERS[at].fixed.is_none() {
                at += 1;
            }
            CONTROLLERS[at]
        };
        static MINE: Entry<Controller> = Entry { name: "mine", kernel: Some(&PROGRAM), ..IN_KERNEL };
        let refused = Registry::standard().with(&MINE).unwrap_err();
        assert!(refused.why.contains("reads a parameter `alhpa` that the law does not have"), "{refused}");
    }

    #[test]
    fn entries_that_contradict_themselves_are_refused() {
        const FIRST: Entry<Controller> = CONTROLLERS[0];
        static UPPER: Entry<Controller> = Entry { name: "Mine", ..FIRST };
        use crate::parameter::Parameter;
        const EMPTY: &[Parameter] = &[Parameter::required("gain", Unit::One, [1.0, 0.0], "", "")];
        static RANGE: Entry<Controller> = Entry { name: "mine", parameters: EMPTY, ..FIRST };
        static COLOUR: Entry<Controller> = Entry { name: "mine", colour: "green", ..FIRST };
        static DUAL: Entry<Controller> =
            Entry { name: "mine", linearisation: Linearisation::Automatic, dual: None, ..FIRST };
        static METER: KernelProgram<Conditioner> = KernelProgram { object: &[], words: |_, _| Ok(Vec::new()) };
        static METERED: Entry<Conditioner> = Entry { name: "mine", kernel: Some(&METER), ..CONDITIONERS[0] };
        static QUEUE_PROGRAM: KernelProgram<Aqm> = KernelProgram { object: &[], words: |_, _| Ok(Vec::new()) };
        static QUEUE: Entry<Aqm> = Entry { name: "mine", fixed: None, kernel: Some(&QUEUE_PROGRAM), ..AQMS[0] };
        static PROGRAM: KernelProgram<Controller> = KernelProgram { object: &[], words: |_, _| Ok(Vec::new()) };
        static KERNEL: Entry<Controller> = Entry { name: "mine", fixed: None, kernel: Some(&PROGRAM), ..FIRST };
        for (entry, why) in [
            (&UPPER, "is not a name"),
            (&COLOUR, "is not a colour"),
            (&RANGE, "no number is within the range of `gain`, 1 to 0"),
            (&DUAL, "give it `dual"),
            (&KERNEL, "it brings a kernel program; give it `fixed"),
        ] {
            let refused = Registry::standard().with(entry).unwrap_err();
            assert!(refused.why.contains(why), "{refused}");
        }
        let refused = Registry::standard().with(&QUEUE).unwrap_err();
        assert!(refused.why.contains("it brings a kernel program; give it `fixed"), "{refused}");
        let refused = Registry::standard().with(&METERED).unwrap_err();
        assert!(refused.why.starts_with("a conditioner cannot bring a kernel program"), "{refused}");
    }
}
