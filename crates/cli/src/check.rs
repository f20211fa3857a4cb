//! `penstock check`: a scenario with every default and the worlds that run it, or the format of scenario files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use clap::ValueEnum;
use indexmap::{IndexMap, IndexSet};
use penstock_scenario::read::{Cell, ReadError};
use penstock_scenario::summary::Finding;
use penstock_scenario::write::print;
use penstock_scenario::{finding, format};
use serde_json::{Value, json};

use crate::arguments::{Check, Generator, WorldName};
use crate::failure::{Done, Failure};
use crate::named::Shown as _;
use crate::program;
use crate::{of_quic, registry, scenario, terminal};

/// A world's support of a file.
struct Answer {
    world: &'static str,
    /// The program that sends, where it is not the world's own.
    generator: Option<&'static str>,
    /// Features that it lacks; nothing where it runs every cell.
    refusals: IndexSet<String>,
}

/// Runs the command. Its output for a file is a scenario file: of a sweep the first cell, and the others by name.
pub(crate) fn check(arguments: &Check) -> Result<Done, Failure> {
    let Some(file) = &arguments.file else {
        if arguments.schema {
            terminal::say_json(&format::schema(registry::laws()))?;
        } else {
            terminal::say(format::reference().trim_end())?;
        }
        return Ok(Done::Well);
    };
    let cells = scenario::document(file, None, &arguments.changes).and_then(|document| scenario::cells(&document));
    let cells = match cells {
        Ok(cells) => cells,
        Err(failure) => {
            if arguments.json {
                terminal::say_json(&wrong(file, &failure))?;
            }
            return Err(failure);
        }
    };
    let Some(first) = cells.first() else {
        return Err(Failure::Bug("a document without cells".into()));
    };
    let named = if arguments.world.is_empty() { WorldName::value_variants() } else { &arguments.world[..] };
    let mut answers = named.iter().map(|world| answer(*world, &cells)).collect::<Result<Vec<_>, _>>()?;
    if named.contains(&WorldName::Linux) && cells.iter().any(|cell| of_quic::is_meant(&cell.scenario)) {
        answers.push(over_quic(&cells)?);
    }
    if arguments.json {
        terminal::say_json(&read(file, &cells, first, &answers)?)?;
    } else {
        terminal::say(text(&cells, first, &answers).trim_end())?;
    }
    // The same text of many cells is said once.
    let findings: BTreeSet<Finding> = cells.iter().flat_map(|cell| finding::of_scenario(&cell.scenario)).collect();
    for Finding { id, subject, text } in findings {
        terminal::note(format!("{}: note: {subject}: {text} (see docs/findings.md#{id})", program::name()));
    }
    if answers.iter().any(|answer| answer.refusals.is_empty()) {
        return Ok(Done::Well);
    }
    let all = answers.iter().flat_map(|answer| {
        let over = answer.generator.map_or_else(String::new, |generator| format!(" with --generator {generator}"));
        let place = move |what: &String| format!("{}: {what} (in the {} world{over})", file.shown(), answer.world);
        answer.refusals.iter().map(place)
    });
    Err(Failure::Machine(all.collect::<Vec<_>>().join(&format!("\n{}: ", program::name()))))
}

/// Checks every cell against a world; those that differ by their seed alone have the same requirements.
fn answer(name: WorldName, cells: &[Cell]) -> Result<Answer, Failure> {
    let world = scenario::world(name)?;
    let refusals = different(cells).flat_map(|cell| {
        let mut refusals = world.refusals(&of_quic::replaced(&cell.scenario, name));
        let only =
            |(group, law)| format!("flows.{group}.cc: {}: use `--world linux --generator quic`", of_quic::whose(law));
        refusals.extend(of_quic::groups(&cell.scenario).filter(|(_, law)| of_quic::leaves(name, law)).map(only));
        refusals
    });
    Ok(Answer { world: world.name(), generator: None, refusals: refusals.collect() })
}

/// Checks every cell against endpoints of QUIC.
fn over_quic(cells: &[Cell]) -> Result<Answer, Failure> {
    let world = scenario::world_with(WorldName::Linux, Generator::Quic, false)?;
    let refusals = different(cells).flat_map(|cell| world.refusals(&cell.scenario)).collect();
    Ok(Answer { world: world.name(), generator: Some("quic"), refusals })
}

/// One cell of those that differ by their seed alone.
fn different(cells: &[Cell]) -> impl Iterator<Item = &Cell> {
    let mut different = IndexMap::new();
    for cell in cells {
        let labels: Vec<_> = cell.labels.iter().filter(|(key, _)| key != "seed").collect();
        different.entry(labels).or_insert(cell);
    }
    different.into_values()
}

/// The resolved scenario, as a scenario file.
fn text(cells: &[Cell], first: &Cell, answers: &[Answer]) -> String {
    let mut text = String::new();
    let way = |answer: &Answer| match answer.generator {
        Some(generator) => format!("{} --generator {generator}", answer.world),
        None => answer.world.to_owned(),
    };
    let runs: Vec<_> = answers.iter().filter(|answer| answer.refusals.is_empty()).map(way).collect();
    if !runs.is_empty() {
        let _ = writeln!(text, "# Runs with --world {}.", runs.join(" or "));
    }
    for answer in answers.iter().filter(|answer| !answer.refusals.is_empty()) {
        let _ = writeln!(text, "# Does not run with --world {}:", way(answer));
        for what in &answer.refusals {
            let _ = writeln!(text, "#   {what}");
        }
    }
    if cells.len() > 1 || !first.labels.is_empty() {
        let _ = writeln!(text, "# A sweep of {} cells; below is the first.", cells.len());
        for cell in cells {
            let _ = writeln!(text, "#   {}  {}", cell.id, cell.name());
        }
    }
    text + "\n" + &print(&first.scenario)
}

/// The same as JSON.
fn read(file: &Path, cells: &[Cell], first: &Cell, answers: &[Answer]) -> Result<Value, Failure> {
    let scenario: toml::Table =
        toml::from_str(&print(&first.scenario)).map_err(|e| Failure::Bug(format!("the resolved scenario: {e}")))?;
    let cell = |cell: &Cell| {
        let labels: IndexMap<_, _> = cell.labels.iter().cloned().collect();
        json!({ "id": cell.id, "labels": labels })
    };
    let answer = |answer: &Answer| {
        let (runs, refusals) = (answer.refusals.is_empty(), &answer.refusals);
        let mut value = json!({ "world": answer.world, "runs": runs, "refusals": refusals });
        if let Some(generator) = answer.generator {
            value["generator"] = json!(generator);
        }
        value
    };
    Ok(json!({
        "file": file.display().to_string(),
        "errors": [],
        "worlds": answers.iter().map(answer).collect::<Vec<_>>(),
        "cells": cells.iter().map(cell).collect::<Vec<_>>(),
        "scenario": scenario,
    }))
}

/// The errors, as JSON.
fn wrong(file: &Path, failure: &Failure) -> Value {
    let error = |error: &ReadError| {
        json!({
            "file": &*error.file,
            "line": error.line,
            "column": error.column,
            "key": error.key,
            "found": error.found,
            "remedy": error.remedy,
            "context": error.context,
        })
    };
    let errors = match failure {
        Failure::Scenario(errors) => errors.all().iter().map(error).collect(),
        Failure::Input(what) => vec![json!({ "file": file.display().to_string(), "found": what })],
        _ => Vec::new(),
    };
    json!({ "file": file.display().to_string(), "errors": errors })
}
