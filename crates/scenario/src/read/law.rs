//! Laws and their parameters, by the registry.

use penstock_law::law::{Build, find};
use penstock_law::parameter::{Default, Parameter, Unit};
use penstock_law::{Entry, Role, Values};

use super::error::{ReadError, offer};
use super::table::Item;
use crate::model::Chosen;
use crate::quantity;

/// Parameters of laws that belong to the format and are not simulated yet.
const LATER: &[(&str, &str)] = &[("cbr", "spacing_jitter")];

/// What stands for a value that the law works out from where it runs.
pub(crate) const AUTOMATIC: &str = "automatic";

/// Reads `{ law = "...", ... }`.
pub(super) fn law<R: Role>(item: &Item<'_>, registry: &'static [Entry<R>]) -> Result<Chosen<R>, ReadError> {
    let names: Vec<_> = registry.iter().map(|e| e.name).collect();
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
    let Some(entry) = find(registry, name) else {
        return Err(named.wrong(format!("no {} is named `{name}`", R::NOUN), offer(name, &names, R::NOUN)));
    };

    let mut values = Values::defaults(entry.parameters);
    for (key, node) in table.iter().filter(|(key, _)| *key != "law") {
        let item = item.below(key, node);
        let Some(parameter) = entry.parameters.iter().find(|p| p.name == key) else {
            if LATER.contains(&(name, key.as_str())) {
                return Err(item.later(key));
            }
            let known: Vec<_> = entry.parameters.iter().map(|p| p.name).collect();
            let remedy =
                if known.is_empty() { format!("`{name}` has no parameters") } else { offer(key, &known, "parameter") };
            return Err(item.wrong(format!("`{name}` has no parameter `{key}`"), remedy));
        };
        if let (Default::Automatic(_), Some(AUTOMATIC)) = (parameter.default, item.as_text()) {
            continue;
        }
        let value = parameter_value(&item, parameter)?;
        if values.set(parameter, value).is_err() {
            return Err(item.wrong(
                format!("`{}` is outside the range of `{}` of the law `{name}`", item.shown(), parameter.name),
                format!("write {}", range(parameter)),
            ));
        }
    }
    for parameter in entry.parameters {
        if matches!(parameter.default, Default::Required) && values.optional(parameter.name).is_none() {
            return Err(item.wrong(
                format!("the law `{name}` needs `{}`, {}", parameter.name, parameter.what),
                format!("add it: {}", range(parameter)),
            ));
        }
    }
    Ok(Chosen { law: entry, values })
}

/// A parameter's value in its base unit.
fn parameter_value(item: &Item<'_>, parameter: &Parameter) -> Result<f64, ReadError> {
    match parameter.unit {
        Unit::One => item.number(),
        Unit::Switch => item.switch().map(|on| if on { 1.0 } else { 0.0 }),
        Unit::Choice(words) => {
            let words: Vec<_> = words.iter().enumerate().map(|(at, word)| (*word, at as f64)).collect();
            item.word(&words)
        }
        // A negative quantity is out of range: the sentence about the range says more than one about the sign.
        unit => match item.as_text().and_then(|text| text.trim().strip_prefix('-')) {
            Some(positive) => quantity::real(positive, unit).map(|x| 0.0 - x).map_err(|e| item.because(e)),
            None => item.quantity(unit, |text| quantity::real(text, unit)),
        },
    }
}

/// What a parameter may be, in words.
fn range(parameter: &Parameter) -> String {
    match parameter.unit {
        Unit::Switch => "`true` or `false`".into(),
        Unit::Choice(words) => words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(" or "),
        unit => {
            let print = |x| quantity::print_real(x, unit);
            format!("`{}` to `{}`", print(parameter.least), print(parameter.most))
        }
    }
}

/// Compiles the law where it will run, and answers what it asks of its host; a contradiction is an error at `item`.
pub(super) fn compile<R: Role>(item: &Item<'_>, chosen: &Chosen<R>, site: &R::Site) -> Result<R::Needs, ReadError> {
    let built = build(chosen.law.real, chosen, site).map_err(|e| contradiction(item, chosen, &e))?;
    Ok(built.needs())
}

/// Compiles the law in the kernel's arithmetic, if it has a twin; none if it has not.
pub(super) fn compile_fixed<R: Role>(item: &Item<'_>, chosen: &Chosen<R>, site: &R::Site) -> Result<bool, ReadError> {
    let Some(fixed) = chosen.law.fixed else { return Ok(false) };
    build(fixed, chosen, site).map_err(|e| contradiction(item, chosen, &e))?;
    Ok(true)
}

fn build<N: penstock_law::Number, R: Role>(
    build: Build<N, R>,
    chosen: &Chosen<R>,
    site: &R::Site,
) -> Result<Box<dyn penstock_law::Instances<N, R>>, String> {
    build(&chosen.values, site)
}

fn contradiction<R: Role>(item: &Item<'_>, chosen: &Chosen<R>, why: &str) -> ReadError {
    item.wrong(
        format!("the law `{}` cannot run like this", chosen.law.name),
        format!("its parameters contradict each other or the place: {why}"),
    )
}
