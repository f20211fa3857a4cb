//! `penstock analyze`: the equilibrium of a scenario, and whether it stays there.

use core::cell::Cell as Held;
use std::collections::BTreeSet;

use penstock_fluid::sessions::{Sessions, most_stable};
use penstock_fluid::{AnalysisError, Answer, Busy, LoopModel, Options};
use penstock_report::assemble::{AnalysisSource, of_analysis, theory_tables, theory_view};
use penstock_report::page::Section;
use penstock_scenario::quantity;
use penstock_scenario::read::Cell;
use penstock_scenario::write::print;
use serde::Serialize;

use crate::arguments::Analyze;
use crate::failure::{Done, Failure};
use crate::map::{self, Map};
use crate::meter::Meter;
use crate::program;
use crate::study::Study;
use crate::{interrupt, machine, scenario, terminal};

/// An analysis of one cell.
#[derive(Debug, Serialize)]
struct Analyzed {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<(String, String)>,
    id: String,
    #[serde(flatten)]
    answer: Answer,
    /// The model that the verdict is of, and the parts that each model counts; absent where there are none.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    models: Option<Models>,
    /// Number of sessions that would be stable, where the scenario's are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<Sessions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability_map: Option<Map>,
}

/// The models that a loop is analysed in.
#[derive(Debug, Serialize)]
struct Models {
    decided_by: LoopModel,
    legend: Vec<Legend>,
}

#[derive(Debug, Serialize)]
struct Legend {
    model: LoopModel,
    name: &'static str,
    counts: &'static str,
}

impl Models {
    fn all() -> Self {
        let model = |model: LoopModel| Legend { model, name: model.name(), counts: model.counts() };
        Self { decided_by: LoopModel::DECISIVE, legend: LoopModel::ALL.map(model).into() }
    }
}

/// Runs the command.
pub(crate) fn analyze(arguments: &Analyze) -> Result<Done, Failure> {
    let at = arguments.at.as_deref().map(quantity::time).transpose();
    let at = at.map_err(|e| Failure::Input(format!("--at: {e}")))?;
    let axes = map::axes(arguments)?;
    let document = scenario::document(&arguments.file, None, &arguments.changes)?;
    let cells = scenario::cells(&document)?;
    if let (Some(at), Some(cell)) = (at, cells.iter().find(|cell| at.is_some_and(|at| at > cell.scenario.duration))) {
        let (file, at, end) = (scenario::called(&arguments.file), at.seconds(), cell.scenario.duration.seconds());
        return Err(Failure::Input(format!("--at: {file} ends at {end} s, before {at} s")));
    }
    let has = |group: &String| cells.iter().any(|cell| cell.scenario.groups.contains_key(group));
    if let Some((group, _)) = arguments.clocking.iter().find(|(group, _)| !has(group)) {
        return Err(Failure::Input(format!(
            "--clocking: {} has no flows `{group}`",
            scenario::called(&arguments.file)
        )));
    }
    let clocking = arguments.clocking.iter().map(|(group, name)| (group.clone(), (*name).into())).collect();
    let options = Options { at, clocking, disturbance: arguments.disturbance };
    // Of the loops beside the scenario's own, only the verdict counts.
    let loop_only = Options { disturbance: false, ..options.clone() };
    let mut study = Study::open(&arguments.file, "analysis", arguments.out.as_deref(), arguments.json)?;
    let (mut all, mut without) = (Vec::new(), Vec::new());
    for cell in cells {
        match Answer::of(&cell.scenario, &options, &busy()).map_err(|e| refused(arguments, &cell, &e)) {
            Ok(answer) => all.push((cell, answer)),
            // A sweep may have cells of which there is no theory beside those of which there is.
            Err(Failure::Machine(why)) => without.push(Failure::Machine(why)),
            Err(wrong) => return Err(wrong),
        }
    }
    if all.is_empty() && !without.is_empty() {
        return Err(without.swap_remove(0));
    }
    without.iter().for_each(terminal::fail);
    // Each once: cells of a sweep, and its seeds, have most of them in common.
    let mut noted = BTreeSet::new();
    let mut note = |text: &str| {
        if noted.insert(text.to_owned()) {
            terminal::note(format!("note: {text}"));
        }
    };
    for (cell, answer) in all {
        for warning in answer.warnings() {
            note(warning);
        }
        let sessions = match &answer {
            Answer::Network(analysis) => most_stable(&cell.scenario, &loop_only, analysis, &busy()),
            _ => None,
        };
        let at = options.at.filter(|_| !matches!(answer, Answer::Outer(_)));
        let at = at.map(|at| format!(" --at '{} s'", at.seconds())).unwrap_or_default();
        let disturbance = if options.disturbance { " --disturbance" } else { "" };
        let mut view = theory_view(
            &answer,
            sessions.as_ref(),
            &AnalysisSource {
                header: &machine::facts(),
                scenario_text: &print(&cell.scenario),
                command: &format!("{} analyze {}{at}{disturbance}", program::name(), arguments.file.display()),
            },
        );
        let map = axes.clone().map(|axes| map::map(arguments, axes, &loop_only)).transpose()?;
        if let Some(map) = &map {
            let reasons: Vec<String> =
                map.reasons().into_iter().map(|why| format!("cells of the map without a verdict: {why}")).collect();
            for reason in &reasons {
                note(reason);
            }
            view.notes.extend(reasons);
        }
        let mut page = of_analysis(&view);
        page.sections[0].tables.extend(theory_tables(&answer));
        if let Some(map) = &map {
            let mut section = Section::new("Stability map");
            section.figures.push(map.figure());
            section.tables.push(map.table());
            page.sections.insert(1, section);
        }
        let models = (!matches!(answer, Answer::Outer(_))).then(Models::all);
        let (labels, id) = (cell.labels.clone(), cell.id.clone());
        let analyzed = Analyzed { labels, id, answer, models, sessions, stability_map: map };
        study.found(&cell, &analyzed, &page)?;
    }
    study.end()?;
    Ok(if without.is_empty() { Done::Well } else { Done::Partly })
}

/// The longest silence of an analysis [s].
const SILENCE_S: f64 = 5.0;

/// A line now and then with the current work of an analysis of thousands of classes.
fn busy() -> impl Fn(Busy) {
    let (since, said_s) = (Meter::start(), Held::new(0.0));
    move |what| {
        interrupt::leave_if_stopped();
        let now = since.wall_s();
        if now - said_s.get() < SILENCE_S {
            return;
        }
        said_s.set(now);
        terminal::note(match what {
            Busy::Equilibrium(asked) => {
                format!("search for the equilibrium: {asked} evaluations of the flows in {now:.0} s")
            }
            Busy::Loop(model, taken) => {
                format!("loop gain, model {}: {taken} frequencies in {now:.0} s", model.name())
            }
            Busy::Disturbance(taken) => format!("response to cross traffic: {taken} frequencies in {now:.0} s"),
        });
    }
}

fn refused(arguments: &Analyze, cell: &Cell, error: &AnalysisError) -> Failure {
    let labels = if cell.labels.is_empty() { String::new() } else { format!(" ({})", cell.name()) };
    let what = format!("{}: {error}{labels}", scenario::called(&arguments.file));
    match error {
        // What the method does not cover; all else is said of the scenario.
        AnalysisError::NotCounted { .. }
        | AnalysisError::NotLinear { .. }
        | AnalysisError::MarksAndDrops { .. }
        | AnalysisError::TwoClocks { .. } => Failure::Machine(what),
        _ => Failure::Input(what),
    }
}
