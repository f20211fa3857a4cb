//! Laws and their parameters, by the registry.

use penstock_law::Registry;
use penstock_law::aqm::Aqm;
use penstock_law::cc::{self, Controller};
use penstock_law::conditioner::Conditioner;
use penstock_law::law::Build;
use penstock_law::parameter::{Default, Parameter, Unit};
use penstock_law::quantity::Time;
use penstock_law::registry::Registered;
use penstock_law::{Role, Values};

use super::error::{Reported, nearest, offer};
use super::schedule::{schedule, steps};
use super::table::{Item, MOST_NAME};
use super::tree::Value;
use crate::format::{AUTOMATIC, SPACING, SPACING_JITTER, STEPS};
use crate::model::Chosen;
use crate::model::Profile;
use crate::quantity;
use crate::visible::cut;

/// Reads `{ law = "...", ... }`.
pub(super) fn law<R: Registered>(item: &Item<'_>) -> Result<Chosen<R>, Reported> {
    parameters(item, |_, _, _| Ok(Apart::No))
}

/// A sender's law, and the keys that only unresponsive laws have.
pub(super) struct SenderLaw<'a> {
    pub(super) chosen: Chosen<Controller>,
    /// Parameters that change with time.
    pub(super) changing: Vec<Changing<'a>>,
    /// Jitter of the gaps, as a share of them.
    pub(super) spacing_jitter: Option<(Item<'a>, f64)>,
}

/// A parameter that changes with time.
pub(super) struct Changing<'a> {
    pub(super) item: Item<'a>,
    pub(super) parameter: &'static Parameter,
    /// Its values after the first, in the order of time.
    pub(super) rest: Vec<(Time, f64)>,
}

/// Reads the law of a group of flows in a run of `duration`, where that could be read, on such a host.
pub(super) fn sender_law<'a>(
    item: &Item<'a>,
    duration: Option<Time>,
    host: Profile,
) -> Result<SenderLaw<'a>, Reported> {
    let (mut changing, mut spacing_jitter) = (Vec::new(), None);
    let mut chosen = parameters::<Controller>(item, |item, (law, key), parameter| {
        let Some(parameter) = parameter else {
            if key != SPACING_JITTER {
                return Ok(Apart::No);
            }
            spacing_jitter = Some((item.clone(), item.within(SPACING, "a share of a gap")?));
            return Ok(Apart::Done);
        };
        if matches!(parameter.unit, Unit::Switch | Unit::Choice(_)) {
            return Ok(Apart::No);
        }
        let value = |item: &Item<'_>| parameter_value(item, law, parameter);
        let (first, rest) = match item.node.value {
            Value::List(_) => schedule(item, value)?,
            Value::Table(_) => steps(item, &STEPS, duration.unwrap_or(Time(1)), value)?,
            _ => return Ok(Apart::No),
        };
        changing.push(Changing { item: item.clone(), parameter, rest });
        Ok(Apart::First(first))
    })?;
    let written = |name: &str| item.node.table().is_some_and(|table| table.contains_key(name));
    host.fill(chosen.law.parameters, &mut chosen.values, written);
    Ok(SenderLaw { chosen, changing, spacing_jitter })
}

/// The outcome of a key that may be read apart from the others.
enum Apart {
    /// It is a parameter like any other, or unknown.
    No,
    /// It is read.
    Done,
    /// This is its value at the start.
    First(f64),
}

fn parameters<'a, R: Registered>(
    item: &Item<'a>,
    mut apart: impl FnMut(&Item<'a>, (&str, &str), Option<&'static Parameter>) -> Result<Apart, Reported>,
) -> Result<Chosen<R>, Reported> {
    let names: Vec<_> = item.registry.laws::<R>().iter().map(|e| e.name).collect();
    let example = names.first().map_or_else(String::new, |n| format!("`{{ law = \"{n}\" }}`"));
    let Some(table) = item.node.table() else {
        let example = match item.as_text().filter(|text| names.contains(text)) {
            Some(name) => format!("`{{ law = \"{name}\" }}`"),
            None => example,
        };
        return Err(item.is_not(&format!("a table that names a law ({})", R::NOUN), format!("write {example}")));
    };
    let Some(named) = table.get("law") else {
        return Err(item.is_not("a table that names a law", format!("add `law`, as in {example}")));
    };
    let named = item.below("law", named);
    let name = named.name(&format!("write the law's name, as in {example}"))?;
    let Some(entry) = item.registry.find::<R>(name) else {
        // The kernel's names of queues have underscores.
        let meant = name.replace('_', "-");
        let remedy = match place_of(item.registry, &meant).filter(|(noun, _)| *noun != R::NOUN) {
            Some((noun, place)) => {
                format!("`{meant}` is {} {noun}, for {place}; {}", article(noun), offer("", &names, R::NOUN))
            }
            None => offer(name, &names, R::NOUN),
        };
        return Err(named.wrong(format!("no {} is named `{name}`", R::NOUN), remedy));
    };

    let mut values = Values::defaults(entry.parameters);
    let known: Vec<_> = entry.parameters.iter().map(|p| p.name).collect();
    let before = item.errors.count();
    let mut read = |key: &str, item: Item<'a>| {
        let parameter = entry.parameters.iter().find(|p| p.name == key);
        let value = match (apart(&item, (name, key), parameter)?, parameter) {
            (Apart::Done, _) => return Ok(()),
            (Apart::First(value), _) => value,
            (Apart::No, Some(parameter)) => {
                if let (Default::Automatic(_), Some(AUTOMATIC)) = (parameter.default, item.as_text()) {
                    return Ok(());
                }
                parameter_value(&item, name, parameter)?
            }
            (Apart::No, None) => {
                let remedy = if known.is_empty() {
                    format!("`{name}` has no parameters")
                } else {
                    offer(key, &known, "parameter")
                };
                return Err(item.at_key(format!("`{name}` has no parameter `{}`", cut(key, MOST_NAME)), remedy));
            }
        };
        match parameter {
            Some(parameter) => values.set(parameter, value).map_err(|_| out_of_range(&item, name, parameter)),
            None => Ok(()),
        }
    };
    let keys = table.iter().filter(|(key, _)| *key != "law");
    let read = keys.map(|(key, node)| read(key, item.below(key, node))).collect::<Vec<_>>();
    let misspelt = |parameter: &Parameter| table.keys().any(|key| nearest(key, &known) == Some(parameter.name));
    for parameter in entry.parameters {
        if matches!(parameter.default, Default::Required)
            && values.optional(parameter.name).is_none()
            && !misspelt(parameter)
        {
            item.wrong(
                // A law of a program's own may have parameters without a description.
                match parameter.description {
                    "" => format!("the law `{name}` needs `{}`, which has no default", parameter.name),
                    what => format!("the law `{name}` needs `{}`, {what}", parameter.name),
                },
                format!("add it: {}", range(parameter)),
            );
        }
    }
    item.errors.each(before, read.into_iter())?;
    Ok(Chosen { law: entry, values })
}

/// The role of the law of that name, and the tables that may have it.
fn place_of(registry: &Registry, name: &str) -> Option<(&'static str, &'static str)> {
    let controller = registry.controller(name).map(|_| (Controller::NOUN, "`cc` of a group of flows"));
    let aqm = || registry.aqm(name).map(|_| (Aqm::NOUN, "`aqm` of a link"));
    let conditioner = || registry.conditioner(name).map(|_| (Conditioner::NOUN, "`conditioner` of a customer"));
    controller.or_else(aqm).or_else(conditioner)
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u', 'A']) { "an" } else { "a" }
}

fn out_of_range(item: &Item<'_>, law: &str, parameter: &Parameter) -> Reported {
    item.wrong(
        format!("`{}` is outside the range of `{}` of the law `{law}`", item.shown(), parameter.name),
        format!("write {}", range(parameter)),
    )
}

/// A parameter's value in its base unit, within its range.
fn parameter_value(item: &Item<'_>, law: &str, parameter: &Parameter) -> Result<f64, Reported> {
    let value = match parameter.unit {
        Unit::One => item.number(),
        Unit::Switch => item.switch().map(|on| if on { 1.0 } else { 0.0 }),
        Unit::Choice(words) => {
            let words: Vec<_> = words.iter().enumerate().map(|(at, word)| (*word, at as f64)).collect();
            item.word(&words)
        }
        // A negative quantity is out of range: the sentence about the range says more than one about the sign.
        unit => match item.as_text().and_then(|text| text.trim().strip_prefix('-')) {
            Some(positive) => quantity::real(positive, unit).map(|x| 0.0 - x).map_err(|e| item.because(&e)),
            None => item.quantity(unit, |text| quantity::real(text, unit)),
        },
    }?;
    // NaN is outside every range.
    if (parameter.least..=parameter.most).contains(&value) {
        Ok(value)
    } else {
        Err(out_of_range(item, law, parameter))
    }
}

/// The range of a parameter, in words.
fn range(parameter: &Parameter) -> String {
    match parameter.unit {
        Unit::Switch => "`true` or `false`".into(),
        Unit::Choice(words) => words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(" or "),
        unit => {
            let print = |x| quantity::print_real(x, unit);
            let (least, most) = (parameter.least, parameter.most);
            match (least.is_finite(), most.is_finite()) {
                (true, true) => format!("`{}` to `{}`", print(least), print(most)),
                (true, false) => format!("`{}` or more", print(least)),
                (false, true) => format!("`{}` or less", print(most)),
                (false, false) => format!("any number, such as `{}`", print(1.0)),
            }
        }
    }
}

/// Compiles the law where it will run, and returns its requirements; a contradiction is an error at `item`.
pub(super) fn compile<R: Role>(
    item: &Item<'_>,
    chosen: &Chosen<R>,
    site: &R::Context,
) -> Result<R::Requirements, Reported> {
    compile_where(item, chosen, site, str::to_owned)
}

/// The same, where `named` puts names into the law's error.
pub(super) fn compile_where<R: Role>(
    item: &Item<'_>,
    chosen: &Chosen<R>,
    site: &R::Context,
    named: impl Fn(&str) -> String,
) -> Result<R::Requirements, Reported> {
    let built = build(chosen.law.real, chosen, site).map_err(|e| contradiction(item, chosen, &named(&e)))?;
    Ok(built.requirements())
}

/// Compiles the law in the kernel's arithmetic, if it has a kernel implementation; none if it has not.
pub(super) fn compile_fixed<R: Role>(item: &Item<'_>, chosen: &Chosen<R>, site: &R::Context) -> Result<bool, Reported> {
    let Some(fixed) = chosen.law.fixed else { return Ok(false) };
    build(fixed, chosen, site).map_err(|e| contradiction(item, chosen, &e))?;
    Ok(true)
}

/// Whether a law spaces packets once it knows the round trip. The error of one that cannot be built is reported elsewhere.
pub(super) fn paces(chosen: &Chosen<Controller>, site: &cc::Context) -> bool {
    let path = cc::Observation { rtt_s: 0.1, base_rtt_s: 0.1, ..cc::Observation::zero() };
    (chosen.law.real)(&chosen.values, site).is_ok_and(|mut law| {
        law.add();
        law.output(0, &path).gap_s > 0.0
    })
}

fn build<N: penstock_law::Number, R: Role>(
    build: Build<N, R>,
    chosen: &Chosen<R>,
    site: &R::Context,
) -> Result<Box<dyn penstock_law::Instances<N, R>>, String> {
    build(&chosen.values, site)
}

fn contradiction<R: Role>(item: &Item<'_>, chosen: &Chosen<R>, why: &str) -> Reported {
    item.wrong(
        format!("the law `{}` cannot run with these parameters", chosen.law.name),
        format!("the parameters contradict each other or the scenario: {why}"),
    )
}
