//! `penstock analyze`: the equilibrium of a scenario, and whether it stays there.

mod contracts;
mod outer;

use core::cell::Cell as Held;

use penstock_fluid::analysis::NyquistPoint;
use penstock_fluid::complex::unwrapped;
use penstock_fluid::sessions::{Sessions, most_stable};
use penstock_fluid::{Analysis, AnalysisError, Busy, Complex, LoopModel, Margins, Options, Verdict};
use penstock_report::assemble::{AnalysisView, CurveView, EquilibriumRow, MarginRow, NyquistView, of_analysis};
use penstock_report::figure::{Axis, Figure, Line, Mark, Style};
use penstock_report::page::Section;
use penstock_report::palette;
use penstock_scenario::model::Scenario;
use penstock_scenario::quantity;
use penstock_scenario::read::Cell;
use penstock_scenario::write::print;
use serde::Serialize;

use crate::answer::Answer;
use crate::arguments::Analyze;
use crate::failure::{Done, Failure};
use crate::map::{self, Map};
use crate::meter::Meter;
use crate::program;
use crate::study::Study;
use crate::{machine, scenario, terminal};

/// An answer as a page shows it.
fn shown(answer: &Answer, scenario: &Scenario, arguments: &Analyze) -> AnalysisView {
    match answer {
        Answer::Network(analysis) => view(analysis, scenario, arguments),
        Answer::Contracts(answer) => contracts::view(answer, scenario, arguments),
        Answer::Outer(answer) => outer::view(answer, scenario, arguments),
    }
}

/// An analysis of one cell.
#[derive(Debug, Serialize)]
struct Analyzed {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<(String, String)>,
    id: String,
    #[serde(flatten)]
    answer: Answer,
    /// The model that the verdict is of, and what each model counts; absent where there are none.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    models: Option<Models>,
    /// How many sessions would be stable, where those there are are not.
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

    /// What they are, for whoever sees a row for each.
    fn caption() -> String {
        let model = |model: LoopModel| format!("{}: {}", model.name(), model.counts());
        let what = LoopModel::ALL.map(model).join("; ");
        format!("Margins in three loop models. The last model includes most and gives the verdict. {what}.")
    }
}

/// Runs the command.
pub(crate) fn analyze(arguments: &Analyze) -> Result<Done, Failure> {
    let at = arguments.at.as_deref().map(quantity::time).transpose();
    let at = at.map_err(|e| Failure::Input(format!("--at: {e}")))?;
    let document = scenario::document(&arguments.file, None, &arguments.changes)?;
    let cells = scenario::cells(&document)?;
    if let (Some(at), Some(cell)) = (at, cells.iter().find(|cell| at.is_some_and(|at| at > cell.scenario.duration))) {
        let (file, at, end) = (arguments.file.display(), at.seconds(), cell.scenario.duration.seconds());
        return Err(Failure::Input(format!("--at: {file} ends at {end} s, before {at} s")));
    }
    let has = |group: &String| cells.iter().any(|cell| cell.scenario.groups.contains_key(group));
    if let Some((group, _)) = arguments.clocking.iter().find(|(group, _)| !has(group)) {
        return Err(Failure::Input(format!("--clocking: {} has no flows `{group}`", arguments.file.display())));
    }
    let clocking = arguments.clocking.iter().map(|(group, name)| (group.clone(), (*name).into())).collect();
    let options = Options { at, clocking };
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
    for (cell, answer) in all {
        let mut view = shown(&answer, &cell.scenario, arguments);
        let sessions = match &answer {
            Answer::Network(analysis) => most_stable(&cell.scenario, &options, analysis),
            _ => None,
        };
        if let Some(sessions) = &sessions {
            view.verdict = format!("{} {}", view.verdict, sentence(sessions));
        }
        let map = arguments.stability_map.as_deref().map(|axes| map::map(arguments, axes, &options)).transpose()?;
        if let Some(map) = &map {
            view.figures.push(map.figure());
            view.notes
                .extend(map.reasons().into_iter().map(|why| format!("cells of the map without a verdict: {why}")));
        }
        let mut page = of_analysis(&view);
        let tables = match &answer {
            Answer::Network(_) => Vec::new(),
            Answer::Contracts(answer) => contracts::tables(answer),
            Answer::Outer(answer) => outer::tables(answer),
        };
        page.sections[0].tables.extend(tables);
        if let Some(map) = &map {
            let mut section = Section::new("Stability map");
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

/// The longest that nothing is heard of an analysis [s].
const SILENCE_S: f64 = 5.0;

/// A line now and then of what an analysis of thousands of classes is busy with.
fn busy() -> impl Fn(Busy) {
    let (since, said_s) = (Meter::start(), Held::new(0.0));
    move |what| {
        let now = since.wall_s();
        if now - said_s.get() < SILENCE_S {
            return;
        }
        said_s.set(now);
        terminal::note(match what {
            Busy::Equilibrium(asked) => format!("equilibrium: {asked} demands evaluated, {now:.0} s"),
            Busy::Loop(model, taken) => {
                format!("loop, {}: gain at {taken} frequencies, {now:.0} s", model.name())
            }
        });
    }
}

fn refused(arguments: &Analyze, cell: &Cell, error: &AnalysisError) -> Failure {
    let labels = if cell.labels.is_empty() { String::new() } else { format!(" ({})", cell.name()) };
    let what = format!("{}: {error}{labels}", arguments.file.display());
    match error {
        // What the method does not cover; all else is said of the scenario.
        AnalysisError::NotCounted { .. }
        | AnalysisError::NotLinear { .. }
        | AnalysisError::MarksAndDrops { .. }
        | AnalysisError::TwoClocks { .. } => Failure::Machine(what),
        _ => Failure::Input(what),
    }
}

/// What is said of several sessions whose predictors count their own packets.
fn sentence(of: &Sessions) -> String {
    let most = match of.stable_up_to {
        0 => "not even one would be".to_owned(),
        1 => "one alone would be".to_owned(),
        n => format!("{n} would be"),
    };
    format!(
        "{} sessions of `{}` are not stable together, {most}. Each session accounts for its own packets in flight, \
         but not for those of the others, which reach the queue within a round trip.",
        of.count, of.group
    )
}

fn view(analysis: &Analysis, scenario: &Scenario, arguments: &Analyze) -> AnalysisView {
    let limit = analysis.limiting_class.as_ref().map(|class| format!("; `{class}` limits it")).unwrap_or_default();
    let dissent = dissent(analysis);
    let (stable, verdict) = match analysis.verdict {
        Verdict::Stable => (Some(true), format!("The equilibrium is locally stable{limit}.{dissent}")),
        Verdict::Unstable => (Some(false), format!("The equilibrium is unstable{limit}.{dissent}")),
        Verdict::Undecided => (None, "The Nyquist criterion gives no verdict.".to_owned()),
    };
    let decides = |of: LoopModel| of == LoopModel::DECISIVE;
    let margins = analysis.models.iter().map(|r| row(r.model.name().to_owned(), decides(r.model), &r.margins));
    let curves = analysis.models.iter().enumerate().flat_map(|(at, result)| {
        let comparison = at + 1 < analysis.models.len();
        let several = result.nyquist.len() > 1;
        result.nyquist.iter().enumerate().map(move |(locus, points)| CurveView {
            name: if several {
                format!("{} {}", result.model.name(), locus + 1)
            } else {
                result.model.name().to_owned()
            },
            colour: None,
            comparison,
            points: points.iter().map(|p| (p.re, p.im)).collect(),
        })
    });
    let nyquist = NyquistView {
        title: "Loop gain".into(),
        caption: "The three loop models. The loop is stable if its curve passes with -1 on its left.".into(),
        curves: curves.chain([bound()]).collect(),
    };
    let at = analysis.at_s.map(|at| format!(" --at '{at} s'")).unwrap_or_default();
    AnalysisView {
        title: analysis.title.clone(),
        header: machine::facts(),
        stable,
        verdict,
        equilibrium: equilibrium(analysis),
        margins: margins.collect(),
        models: Models::caption(),
        nyquist: vec![nyquist],
        figures: figures(analysis),
        notes: analysis.warnings.iter().chain(&analysis.assumptions).cloned().collect(),
        scenario_text: print(scenario),
        command: format!("{} analyze {}{at}", program::name(), arguments.file.display()),
    }
}

/// Which models contradict the verdict, and why that does not count.
fn dissent(analysis: &Analysis) -> String {
    let (says, other) = match analysis.verdict {
        Verdict::Stable => ("unstable", Verdict::Unstable),
        Verdict::Unstable => ("stable", Verdict::Stable),
        Verdict::Undecided => return String::new(),
    };
    let others = analysis.models.iter().filter(|result| result.margins.verdict == other);
    let names: Vec<&str> = others.map(|result| result.model.name()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(" Simpler models of the loop ({}) are {says}; the effects that they ignore decide here.", names.join(", "))
}

/// Margins as a row of their table.
fn row(model: String, decides: bool, m: &Margins) -> MarginRow {
    MarginRow {
        model,
        decides,
        moment: String::new(),
        stable: m.verdict == Verdict::Stable,
        gain_margin: m.gain_margin,
        phase_margin_deg: m.phase_margin_deg,
        delay_margin_s: m.delay_margin_s,
        crossover_rad_per_s: m.gain_crossover_rad_per_s,
    }
}

/// Gain and phase of the model that counts most, and the roots of each.
fn figures(analysis: &Analysis) -> Vec<Figure> {
    let Some(last) = analysis.models.last() else { return Vec::new() };
    let axis = || Axis::new("Frequency", "rad/s").log();
    let mut gain = Figure::new("Gain of the loop", axis(), Axis::new("Modulus", "").log());
    let mut phase = Figure::new("Phase of the loop", axis(), Axis::new("Phase", "\u{b0}"));
    for (k, locus) in last.nyquist.iter().enumerate() {
        let name = if last.nyquist.len() > 1 { format!("eigenlocus {}", k + 1) } else { last.model.name().to_owned() };
        let at = |p: &NyquistPoint| p.frequency_rad_per_s;
        let modulus = locus.iter().map(|p| (at(p), (p.re * p.re + p.im * p.im).sqrt())).collect();
        let points: Vec<(f64, Complex)> = locus.iter().map(|p| (at(p), Complex::new(p.re, p.im))).collect();
        gain.lines.push(Line::new(name.clone(), modulus));
        phase.lines.push(Line::new(name, unwrapped(&points)));
    }
    gain.marks = vec![Mark::Horizontal { at: 1.0, label: String::new() }];
    phase.marks = vec![Mark::Horizontal { at: -180.0, label: String::new() }];
    if let Some(w) = last.margins.gain_crossover_rad_per_s {
        phase.marks.push(Mark::Vertical { at: w, label: "gain crossover".into() });
    }
    let mut roots = Figure::new("Rightmost roots", Axis::new("Real part", "1/s"), Axis::new("Imaginary part", "rad/s"))
        .captioned("Disturbances decay if every root lies left of zero. The root nearest to zero decays most slowly.");
    for result in &analysis.models {
        let points = result.roots.iter().flat_map(|r| {
            let mirrored = (r.im_rad_per_s != 0.0).then_some((r.re_per_s, -r.im_rad_per_s));
            core::iter::once((r.re_per_s, r.im_rad_per_s)).chain(mirrored)
        });
        roots.lines.push(Line::new(result.model.name(), points.collect()).styled(Style::Points));
    }
    roots.marks = vec![Mark::Vertical { at: 0.0, label: String::new() }];
    let mut figures = vec![gain, phase, roots];
    figures.retain(|f| !f.is_empty());
    for figure in &mut figures {
        let colours = palette::assign(&vec![None; figure.lines.len()]);
        for (line, colour) in figure.lines.iter_mut().zip(colours) {
            line.colour = colour;
        }
    }
    figures
}

/// What Theorem 2 of fast-aqm allows at most: the static law's spiral at its bound, through -1.
fn bound() -> CurveView {
    let spiral = |k: i32| {
        let angle = 0.2 * libm::pow(1.02, f64::from(k));
        let size = core::f64::consts::FRAC_PI_2 / angle;
        (-size * libm::sin(angle), -size * libm::cos(angle))
    };
    CurveView {
        name: "bound of Theorem 2 (alpha = pi/2)".into(),
        colour: Some("#8a8f94".into()),
        comparison: true,
        points: (0..250).map(spiral).collect(),
    }
}

fn equilibrium(analysis: &Analysis) -> Vec<EquilibriumRow> {
    let mut rows = Vec::new();
    let mut add = |entity: &str, quantity: &str, value, unit: &str| {
        rows.push(EquilibriumRow::new(entity, quantity, value, unit));
    };
    for link in &analysis.links {
        add(&link.name, "utilization", link.utilization, "");
        if !link.binding {
            continue;
        }
        add(&link.name, "queue", link.queue_packets, "packets");
        add(&link.name, "queueing delay", link.queueing_delay_s, "s");
        add(&link.name, "mark probability", link.mark_probability, "");
        if let Some(price) = link.price_s {
            add(&link.name, "price", price, "s");
        }
    }
    for class in &analysis.classes {
        add(&class.name, "rate of a flow", class.rate_bit_per_s, "bit/s");
        add(&class.name, "window of a flow", class.window_packets, "packets");
        add(&class.name, "round-trip time", class.rtt_s, "s");
        if let Some(share) = class.share {
            add(&class.name, "share of the link", share, "");
        }
    }
    rows
}
