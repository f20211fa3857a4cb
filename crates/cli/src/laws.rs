//! `penstock laws`: the registries, for people and for programs.

use std::fmt::Write;

use penstock_law::aqm::Aqm;
use penstock_law::cc::Controller;
use penstock_law::conditioner::Conditioner;
use penstock_law::law::{Linearisation, Role};
use penstock_law::parameter::{Default, Parameter, Unit};
use penstock_law::{Entry, Observable};
use penstock_scenario::quantity::print_real;
use penstock_scenario::read::nearest;
use penstock_scenario::visible;
use penstock_scenario::world::column_name;
use serde::Serialize;

use crate::arguments::Laws;
use crate::failure::{Done, Failure};
use crate::{pages, program, registry, terminal};

/// A law as the registry has it.
#[derive(Debug, Serialize)]
struct View {
    name: &'static str,
    role: &'static str,
    title: &'static str,
    source: &'static str,
    colour: &'static str,
    linearisation: String,
    kernel_implementation: bool,
    parameters: Vec<ParameterView>,
    state: Vec<StateView>,
}

/// A number of a law's state, as series have it.
#[derive(Debug, Serialize)]
struct StateView {
    column: String,
    words: &'static str,
    unit: &'static str,
    description: &'static str,
}

/// A parameter as the registry has it, with its numbers as a scenario would write them.
#[derive(Debug, Serialize)]
struct ParameterView {
    name: &'static str,
    unit: &'static str,
    default: String,
    range: String,
    description: &'static str,
    source: &'static str,
}

/// Runs the command.
pub(crate) fn laws(arguments: &Laws) -> Result<Done, Failure> {
    let registry = registry::laws();
    let controllers = registry.laws::<Controller>().iter().map(|entry| view(entry));
    let aqms = registry.laws::<Aqm>().iter().map(|entry| view(entry));
    let conditioners = registry.laws::<Conditioner>().iter().map(|entry| view(entry));
    let all: Vec<View> = controllers.chain(aqms).chain(conditioners).collect();
    let Some(name) = &arguments.name else {
        if arguments.json {
            terminal::say_json(&all)?;
        } else {
            terminal::say(listed(&all))?;
        }
        return Ok(Done::Well);
    };
    let Some(law) = all.iter().find(|law| law.name == name) else {
        let known: Vec<&str> = all.iter().map(|law| law.name).collect();
        let listed = known.join(", ");
        let known = match nearest(name, &known) {
            Some(near) => format!("did you mean `{near}`? Known: {listed}"),
            None => format!("known: {listed}"),
        };
        return Err(Failure::Input(format!("no law is named `{}`: {known}", visible::cut(name, 100))));
    };
    if arguments.json {
        terminal::say_json(law)?;
    } else {
        terminal::say(terminal::look().lines(&described(law)))?;
    }
    Ok(Done::Well)
}

fn view<R: Role>(entry: &'static Entry<R>) -> View {
    View {
        name: entry.name,
        role: R::NOUN,
        title: entry.title,
        source: entry.source,
        colour: entry.colour,
        linearisation: match entry.linearisation {
            Linearisation::Automatic => "yes".into(),
            Linearisation::Declared(what) => format!("yes, with {what}"),
            Linearisation::Mean(what) => format!("yes, by a model of its means, with {what}"),
            Linearisation::Outer(what) => format!("only {what}"),
            Linearisation::Unsupported(why) => format!("no: {why}"),
        },
        kernel_implementation: entry.fixed.is_some(),
        parameters: entry.parameters.iter().map(parameter).collect(),
        state: entry.observables.iter().map(state).collect(),
    }
}

fn state(of: Observable) -> StateView {
    StateView { column: column_name(of.name, of.unit), words: of.words, unit: of.unit, description: of.description }
}

fn parameter(p: &'static Parameter) -> ParameterView {
    let default = match p.default {
        Default::Is(x) => value(x, p.unit),
        Default::Automatic(how) => format!("automatic: {how}"),
        Default::Required => "required".into(),
    };
    let range = match p.unit {
        Unit::Switch => "true or false".into(),
        Unit::Choice(words) => words.join(", "),
        unit => format!("from {} to {}", value(p.least, unit), value(p.most, unit)),
    };
    ParameterView { name: p.name, unit: p.unit.symbol(), default, range, description: p.description, source: p.source }
}

fn value(x: f64, unit: Unit) -> String {
    match unit {
        Unit::Switch => (x != 0.0).to_string(),
        Unit::Choice(words) => words.get(x as usize).copied().unwrap_or("?").to_owned(),
        Unit::One if x != 0.0 && !(1e-4..1e6).contains(&x.abs()) => format!("{x:e}"),
        _ => print_real(x, unit),
    }
}

fn listed(laws: &[View]) -> String {
    let rows = laws.iter().map(|law| vec![law.name.into(), law.role.into(), law.title.into()]);
    let heads = ["law", "role", "title"].map(|head| (head, false));
    let table = pages::table("", &heads, rows.collect());
    let more = format!(
        "`{} laws NAME` prints the parameters of a law with units, ranges, defaults and sources.",
        program::name()
    );
    let more = terminal::look().paragraph(&more);
    format!("{table}\n{more}")
}

fn described(law: &View) -> String {
    let kernel_law = if law.kernel_implementation { "yes, held equal bit for bit" } else { "none" };
    let mut text = format!(
        "{} ({}): {}\nSource: {}\nStability analysis: {}\nKernel implementation: {kernel_law}\n",
        law.name, law.role, law.title, law.source, law.linearisation
    );
    if law.parameters.is_empty() {
        text += "\nIt has no parameters.\n";
    }
    let width = law.parameters.iter().map(|p| p.name.len()).max().unwrap_or_default();
    for p in &law.parameters {
        let _ = writeln!(text, "\n{:width$}  {}", p.name, p.description);
        let _ = writeln!(text, "{:width$}  default {}; {}", "", p.default, p.range);
        let _ = writeln!(text, "{:width$}  source: {}", "", p.source);
    }
    if !law.state.is_empty() {
        let _ = writeln!(text, "\nState, as columns of {}:", series(law.role));
    }
    let width = law.state.iter().map(|s| s.column.len()).max().unwrap_or_default();
    for s in &law.state {
        let unit = if s.unit == "1" { "no unit" } else { s.unit };
        let _ = writeln!(text, "\n{:width$}  {} [{unit}]", s.column, s.words);
        let _ = writeln!(text, "{:width$}  {}", "", s.description);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Where the state of a law of that role is recorded.
fn series(role: &str) -> &'static str {
    match role {
        "controller" => "flows-series.parquet",
        "conditioner" => "customers.parquet",
        _ => "links.parquet, or of link_classes.parquet where the law keeps classes apart",
    }
}
