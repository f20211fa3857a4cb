//! `penstock laws`: the registries, for people and for programs.

use std::fmt::Write;

use penstock_law::Entry;
use penstock_law::aqm::AQMS;
use penstock_law::cc::CONTROLLERS;
use penstock_law::edge::EDGES;
use penstock_law::law::{Linearises, Role};
use penstock_law::parameter::{Default, Parameter, Unit};
use penstock_scenario::quantity::print_real;
use serde::Serialize;

use crate::arguments::Laws;
use crate::failure::{Done, Failure};
use crate::{pages, terminal};

/// A law as the registry has it.
#[derive(Debug, Serialize)]
struct View {
    name: &'static str,
    role: &'static str,
    title: &'static str,
    source: &'static str,
    colour: &'static str,
    linearises: String,
    twin: bool,
    parameters: Vec<ParameterView>,
}

/// A parameter as the registry has it, with its numbers as a scenario would write them.
#[derive(Debug, Serialize)]
struct ParameterView {
    name: &'static str,
    unit: &'static str,
    default: String,
    range: String,
    what: &'static str,
    source: &'static str,
}

/// Runs the command.
pub(crate) fn laws(arguments: &Laws) -> Result<Done, Failure> {
    let queues_and_edges = AQMS.iter().map(view).chain(EDGES.iter().map(view));
    let all: Vec<View> = CONTROLLERS.iter().map(view).chain(queues_and_edges).collect();
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
        return Err(Failure::Input(format!("no law is named `{name}`; there are {}", known.join(", "))));
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
        linearises: match entry.linearises {
            Linearises::ByItself => "by itself".into(),
            Linearises::Declared(what) => format!("with {what}"),
            Linearises::Outer(what) => format!("only {what}"),
            Linearises::No(why) => format!("no: {why}"),
        },
        twin: entry.fixed.is_some(),
        parameters: entry.parameters.iter().map(parameter).collect(),
    }
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
    ParameterView { name: p.name, unit: p.unit.symbol(), default, range, what: p.what, source: p.source }
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
    let heads = ["law", "role", "what it is"].map(|head| (head, false));
    let table = pages::table("", &heads, rows.collect());
    let more =
        terminal::look().paragraph("`penstock laws NAME` has parameters with units, ranges, defaults and sources.");
    format!("{table}\n{more}")
}

fn described(law: &View) -> String {
    let twin = if law.twin { "yes, held equal bit for bit" } else { "none" };
    let mut text = format!(
        "{} ({}): {}\nSource: {}\nLinearises: {}\nKernel twin: {twin}\n",
        law.name, law.role, law.title, law.source, law.linearises
    );
    if law.parameters.is_empty() {
        return text + "\nIt has no parameters.";
    }
    let width = law.parameters.iter().map(|p| p.name.len()).max().unwrap_or_default();
    for p in &law.parameters {
        let _ = writeln!(text, "\n{:width$}  {}", p.name, p.what);
        let _ = writeln!(text, "{:width$}  default {}; {}", "", p.default, p.range);
        let _ = writeln!(text, "{:width$}  source: {}", "", p.source);
    }
    text.truncate(text.trim_end().len());
    text
}
