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
use alloc::vec::Vec;
use core::fmt;

use crate::aqm::{AQMS, Aqm};
use crate::cc::{CONTROLLERS, Controller};
use crate::conditioner::{CONDITIONERS, Conditioner};
use crate::law::{Entry, Linearisation, Observables, Role};
use crate::parameter::{Default, Unit};

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
        fn of(registry: &Registry) -> &[&'static Entry<Self>];
        fn of_mut(registry: &mut Registry) -> &mut Vec<&'static Entry<Self>>;
    }
}

macro_rules! registered {
    ($role:ty, $list:ident) => {
        impl Registered for $role {}
        impl list::List for $role {
            fn of(registry: &Registry) -> &[&'static Entry<Self>] {
                &registry.$list
            }
            fn of_mut(registry: &mut Registry) -> &mut Vec<&'static Entry<Self>> {
                &mut registry.$list
            }
        }
    };
}
registered!(Controller, controllers);
registered!(Aqm, aqms);
registered!(Conditioner, conditioners);

/// What tables and figures show of a law, whatever its role.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its colour in every figure, `#rrggbb`.
    pub colour: &'static str,
    /// Its state, as series record it.
    pub observables: Observables,
}

/// Why a registry does not take a law.
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
    /// A law of any role has this name already, or the entry contradicts itself: its name or a parameter's is not of lower
    /// case letters, digits, `-` and `_`; its colour is not `#rrggbb`; a default is out of its range; it says that it can be
    /// linearised and has no builder for dual numbers.
    pub fn with<R: Registered>(mut self, entry: &'static Entry<R>) -> Result<Self, Refused> {
        let refused = |why: String| Refused { law: entry.name.into(), why };
        if let Some(role) = self.role(entry.name) {
            return Err(refused(format!("there is {role} of this name already; choose another name")));
        }
        sound(entry).map_err(refused)?;
        R::of_mut(&mut self).push(entry);
        self.added.push(entry.name);
        Ok(self)
    }

    /// Whether it has a law that is not of this crate.
    pub fn has_more_than_standard(&self) -> bool {
        !self.added.is_empty()
    }

    /// Whether the law of that name is not of this crate.
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

    /// What tables and figures show of each law.
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

/// What the documentation of [`Registry::with`] asks of an entry.
fn sound<R: Role>(entry: &Entry<R>) -> Result<(), String> {
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
        if entry.parameters[..at].iter().any(|other| other.name == name) || name == "law" {
            return Err(format!("two parameters are called `{name}`; choose another name"));
        }
        let value = if let Default::Is(value) = parameter.default { Some(value) } else { None };
        if value.is_some_and(|value| !(parameter.least..=parameter.most).contains(&value)) {
            return Err(format!("the default of `{name}` is not within {} to {}", parameter.least, parameter.most));
        }
        if matches!(parameter.unit, Unit::Choice([])) {
            return Err(format!("`{name}` is a choice of nothing; give it its words"));
        }
    }
    if entry.dual.is_none() && !matches!(entry.linearisation, Linearisation::Unsupported(_)) {
        return Err("it says that it can be linearised; give it `dual: Some(&build::<Dual, ...>)`".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

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

    #[test]
    fn entries_that_contradict_themselves_are_refused() {
        const FIRST: Entry<Controller> = CONTROLLERS[0];
        static UPPER: Entry<Controller> = Entry { name: "Mine", ..FIRST };
        static COLOUR: Entry<Controller> = Entry { name: "mine", colour: "green", ..FIRST };
        static DUAL: Entry<Controller> =
            Entry { name: "mine", linearisation: Linearisation::Automatic, dual: None, ..FIRST };
        for (entry, why) in [(&UPPER, "is not a name"), (&COLOUR, "is not a colour"), (&DUAL, "give it `dual")] {
            let refused = Registry::standard().with(entry).unwrap_err();
            assert!(refused.why.contains(why), "{refused}");
        }
    }
}
