//! The page of a search.

use penstock_law::Registry;
use penstock_report::assemble::{SeriesLook, series_figures};
use penstock_report::figure::{Axis, Figure, Line, Style};
use penstock_report::number::{quantity, short};
use penstock_report::page::{Callout, Code, Column, Page, Section, TableView, Tone};
use penstock_report::palette;
use penstock_scenario::model::Scenario;

use crate::confirm::{Confirmation, Confirmed};
use crate::failure::Failure;
use crate::hunt::Phase;
use crate::margin::Margin;
use crate::objective::{Kind, Role, role};
use crate::space::Space;

/// The results of one objective.
#[derive(Debug, Clone)]
pub struct Report {
    /// The objective.
    pub kind: Kind,
    /// One line for people, and a sentence.
    pub words: [String; 2],
    /// The phases.
    pub phases: Vec<Phase>,
    /// The evaluations that were spent when the first candidate reached the threshold with three seeds; none if none did.
    pub first_candidate: Option<usize>,
    /// The score from which on the law has failed.
    pub threshold: f64,
    /// The failures.
    pub failures: Vec<Found>,
    /// Candidates that fresh seeds did not confirm.
    pub dismissed: Vec<Confirmed>,
    /// The most failures that were asked for; with none, no candidate runs on fresh seeds.
    pub most: usize,
    /// The reason why nothing could be run, if so.
    pub refused: Option<String>,
}

/// A failure with its file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The failure.
    pub failure: Failure,
    /// The text of the scenario's file.
    pub text: String,
    /// The name of that file.
    pub file: String,
}

impl Report {
    /// The number of evaluations.
    pub fn evaluations(&self) -> usize {
        self.phases.iter().map(|phase| phase.evaluations).sum()
    }

    /// The best fitness of a phase.
    fn best(&self, name: &str) -> Option<f64> {
        self.phases.iter().find(|phase| phase.name == name).map(|phase| phase.best).filter(|best| best.is_finite())
    }

    /// The conclusion in words.
    pub fn conclusion(&self, space: &Space) -> String {
        if let Some(why) = &self.refused {
            return format!("not searched: {why}");
        }
        match self.failures.len() {
            0 if self.has_candidates() => format!("candidates, but no confirmed failure: {}", self.dismissal()),
            0 => format!("nothing found in {} evaluations of the space {}", self.evaluations(), space.name),
            1 => "1 failure".to_owned(),
            many => format!("{many} failures"),
        }
    }

    /// True if a scenario reached the threshold, with whatever seeds.
    fn has_candidates(&self) -> bool {
        let best = self.phases.last().map(|phase| phase.best);
        self.first_candidate.is_some() || best.is_some_and(|best| best >= self.threshold)
    }

    /// Why candidates are no failures, where none of them is.
    fn dismissal(&self) -> String {
        if self.most == 0 {
            return "none ran on fresh seeds, as no failure was asked for".to_owned();
        }
        let count =
            |those: &[Confirmation]| self.dismissed.iter().filter(|one| those.contains(&one.confirmation)).count();
        let reasons = [
            (count(&[Confirmation::Fragile, Confirmation::Dropped]), "not confirmed on fresh seeds"),
            (count(&[Confirmation::PhaseEffect]), "gone with noise of 10 us"),
            (count(&[Confirmation::NotAfterShrinking]), "not confirmed after shrinking"),
        ];
        let reasons: Vec<String> =
            reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
        if reasons.is_empty() { "none could run on fresh seeds".to_owned() } else { reasons.join(", ") }
    }
}

/// A number of an objective with its unit.
pub fn number(kind: Kind, measured: f64) -> String {
    quantity(measured, kind.measure().1, 3)
}

/// The headline of a failure.
pub fn headline(failure: &Failure, law: &str) -> String {
    let (what, _) = failure.kind.measure();
    let theirs: Vec<String> = failure
        .references
        .iter()
        .zip(&failure.confirmed.references)
        .map(|(name, median)| format!("{name}: {}", number(failure.kind, *median)))
        .collect();
    let beside = if theirs.is_empty() { String::new() } else { format!(" ({})", theirs.join(", ")) };
    format!("{law}: {what} {}{beside}", number(failure.kind, failure.confirmed.measured))
}

/// The page, with the command that makes it and the facts of the machine.
pub fn page(
    law: &str,
    space: &Space,
    reports: &[Report],
    command: &str,
    facts: &[(String, String)],
    registry: &Registry,
) -> Page {
    let mut sections = vec![overview(law, space, reports)];
    for report in reports {
        sections.extend(report.failures.iter().map(|found| section(law, report, found, registry)));
    }
    let code = Code { label: "Command".into(), text: command.into(), folded: false };
    sections.push(Section { code: vec![code], ..Section::new("Reproduce") });
    Page {
        title: format!("Search for failures of {law}"),
        subtitle: format!("In the space {}: {}.", space.name, space.title),
        facts: facts.to_vec(),
        sections,
    }
}

fn overview(law: &str, space: &Space, reports: &[Report]) -> Section {
    let columns = vec![
        Column::words("Objective"),
        Column::words("Failure"),
        Column::numbers("Evaluations", ""),
        Column::numbers("Threshold", ""),
        Column::numbers("Best score", ""),
        Column::numbers("Seeds of it", ""),
        Column::numbers("Latin hypercube", ""),
        Column::numbers("Evaluations to the first candidate", ""),
        Column::words("Conclusion"),
    ];
    let mut table = TableView::new("Objectives", columns);
    for report in reports {
        let best = report.phases.last().map(|phase| phase.best).filter(|best| best.is_finite());
        let seeds = report.phases.last().and_then(|phase| phase.best_seeds);
        let text = |score: Option<f64>| score.map(|score| short(score, 2)).unwrap_or_default();
        table.rows.push(vec![
            report.kind.word().to_owned(),
            report.words[0].clone(),
            report.evaluations().to_string(),
            short(report.threshold, 2),
            text(best),
            seeds.map(|seeds| seeds.to_string()).unwrap_or_default(),
            text(report.best("Latin hypercube")),
            report.first_candidate.map(|evaluations| evaluations.to_string()).unwrap_or_default(),
            report.conclusion(space),
        ]);
    }
    let found: usize = reports.iter().map(|report| report.failures.len()).sum();
    let evaluations: usize = reports.iter().map(Report::evaluations).sum();
    let callout = if found == 0 && reports.iter().any(Report::has_candidates) {
        let text = format!(
            "No failure confirmed in {evaluations} evaluations of the space {}. Some candidates reached the threshold.",
            space.name
        );
        Callout { tone: Tone::Neutral, text }
    } else if found == 0 {
        let text = format!(
            "Nothing found in {evaluations} evaluations of the space {}. This is no proof that the law never fails there.",
            space.name
        );
        Callout { tone: Tone::Neutral, text }
    } else {
        Callout {
            tone: Tone::Bad,
            text: format!("Failures confirmed on fresh seeds: {found}, in {evaluations} evaluations."),
        }
    };
    let mut tables = vec![table];
    let phases = TableView {
        rows: reports
            .iter()
            .flat_map(|report| {
                report.phases.iter().map(|phase| {
                    let best = if phase.best.is_finite() { short(phase.best, 3) } else { String::new() };
                    let (spent, refused) = (phase.evaluations.to_string(), phase.refused.to_string());
                    let seeds = phase.best_seeds.map(|seeds| seeds.to_string()).unwrap_or_default();
                    vec![report.kind.word().to_owned(), phase.name.clone(), spent, refused, best, seeds]
                })
            })
            .collect(),
        folded: true,
        ..TableView::new(
            "Phases of the search",
            vec![
                Column::words("Objective"),
                Column::words("Phase"),
                Column::numbers("Evaluations", ""),
                Column::numbers("Not admissible", ""),
                Column::numbers("Best score", ""),
                Column::numbers("Seeds of it", ""),
            ],
        )
    };
    tables.push(phases);
    let dismissed: Vec<Vec<String>> =
        reports.iter().flat_map(|report| report.dismissed.iter().map(|one| dismissed(report, one))).collect();
    if !dismissed.is_empty() {
        let columns = vec![
            Column::words("Objective"),
            Column::words("Why"),
            Column::numbers("Measure", ""),
            Column::words("Seeds that show it"),
        ];
        tables.push(TableView {
            rows: dismissed,
            folded: true,
            ..TableView::new("Candidates that fresh seeds did not confirm", columns)
        });
    }
    Section {
        prose: format!(
            "A score is from 0 to 1; 1 is worst. It counts only where references on the same path and seeds do better. Jitter is at \
             most {} ms, loss at most {}, and rates change at most by a factor of {}.",
            short(space.limits.jitter.seconds() * 1e3, 3),
            short(space.limits.loss, 2),
            short(space.limits.swing, 2)
        ),
        callout: Some(callout),
        tables,
        ..Section::new(format!("Failures of {law}"))
    }
}

fn dismissed(report: &Report, one: &Confirmed) -> Vec<String> {
    let why = match one.confirmation {
        Confirmation::Found => "found",
        Confirmation::Fragile => "fragile: fewer than 90 % of the seeds show it",
        Confirmation::PhaseEffect => "phase effect: 10 us of noise remove it",
        Confirmation::Dropped => "fewer than half of the seeds show it",
        Confirmation::NotAfterShrinking => "not confirmed after shrinking",
    };
    vec![
        report.kind.word().to_owned(),
        why.to_owned(),
        number(report.kind, one.measured),
        format!("{} of {}", one.seeds[0], one.seeds[1]),
    ]
}

fn section(law: &str, report: &Report, found: &Found, registry: &Registry) -> Section {
    let Found { failure, text, file } = found;
    let confirmed = &failure.confirmed;
    let hints: Vec<&str> = failure.hints.iter().map(|hint| hint.words()).collect();
    let hints = if hints.is_empty() {
        "No rule points to a mechanism.".to_owned()
    } else {
        format!("The run points to this: {}.", hints.join("; "))
    };
    let (what, unit) = failure.kind.measure();
    let mut table = TableView::new(
        "Twenty fresh seeds",
        vec![Column::words("Law"), Column::numbers(what, unit), Column::words("Range")],
    );
    let range = format!("{} to {}", short(confirmed.range[0], 3), short(confirmed.range[1], 3));
    table.rows.push(vec![law.to_owned(), short(confirmed.measured, 3), range]);
    for (name, median) in failure.references.iter().zip(&confirmed.references) {
        table.rows.push(vec![name.clone(), short(*median, 3), String::new()]);
    }
    let figures: Vec<Figure> = margin(law, failure).into_iter().chain(over_time(failure, registry)).collect();
    Section {
        label: format!("{}: {}", failure.kind.word(), file),
        prose: format!(
            "{}\n\n{hints} {} of {} fresh seeds show it. The score is {} (median; with a confidence of 95 % at least {}). Shrinking \
             tried {} scenarios.",
            report.words[1],
            confirmed.seeds[0],
            confirmed.seeds[1],
            short(confirmed.score, 3),
            short(confirmed.score_at_least, 3),
            failure.shrinking
        ),
        callout: Some(Callout { tone: Tone::Bad, text: headline(failure, law) }),
        tables: vec![table],
        figures,
        code: vec![Code { label: file.to_owned(), text: text.to_owned(), folded: false }],
        ..Section::new(headline(failure, law))
    }
}

/// The recorded series of flows and links over time.
fn over_time(failure: &Failure, registry: &Registry) -> Vec<Figure> {
    let laws: Vec<String> = failure.scenario.groups.values().map(|group| group.cc.law.name.to_owned()).collect();
    let look = SeriesLook {
        titles: "",
        colour: &|_| None,
        warm_up_s: failure.scenario.warmup.seconds(),
        laws: &laws,
        registry,
        rates: &[],
    };
    let tables = failure.run.series.iter().filter(|table| ["flows", "links"].contains(&table.name.as_str()));
    let mut figures: Vec<Figure> = tables.flat_map(|table| series_figures(table, &look).figures).collect();
    for figure in figures.iter_mut().filter(|figure| figure.title == BASE) {
        figure.lines.extend(paths(&failure.scenario));
    }
    figures
}

/// The figure of what flows take for their round-trip time without queues.
const BASE: &str = "Estimated base RTT";

/// The round-trip times of groups under test without queues, as lines over the run [s]: what estimates are compared with.
fn paths(scenario: &Scenario) -> Vec<Line> {
    let tested = scenario.groups.iter().filter(|(name, _)| role(name) == Role::Test);
    let rtts = tested.filter_map(|(name, group)| Some((name, group.rtts(name, scenario.seed).first()?.seconds())));
    let end = scenario.duration.seconds();
    let line = |(name, rtt): (&String, f64)| {
        Line::new(format!("path of {name}"), vec![(0.0, rtt), (end, rtt)])
            .coloured(palette::PALETTE[6])
            .styled(Style::Dashed)
    };
    rtts.map(line).collect()
}

/// The end of a failure, in words.
pub fn boundary(margin: &Margin) -> Option<String> {
    let [shows, fails] = margin.boundary?;
    let number = |amount: f64| format!("{} {}", short(amount, 2), margin.unit).trim_end().to_owned();
    Some(format!("{} {} shows the failure, {} does not", margin.key, number(shows), number(fails)))
}

/// The measure over the decisive number.
fn margin(law: &str, failure: &Failure) -> Option<Figure> {
    let margin = failure.margin.as_ref()?;
    let name = margin.key.rsplit('.').next().unwrap_or(&margin.key);
    let (_, unit) = failure.kind.measure();
    let mut figure = Figure::new(
        format!("{} over {name}", failure.kind.word()),
        Axis::new(name, &margin.unit),
        Axis::new(failure.kind.word(), unit),
    );
    let laws =
        [(law, &margin.law)].into_iter().chain(failure.references.iter().map(String::as_str).zip(&margin.references));
    let laws: Vec<(&str, &Vec<Option<f64>>)> = laws.collect();
    let colours = palette::assign(&vec![None; laws.len()]);
    for ((name, measures), colour) in laws.into_iter().zip(colours) {
        let points = margin.values.iter().zip(measures).filter_map(|(x, y)| Some((*x, (*y)?))).collect();
        figure.lines.push(Line::new(name, points).coloured(colour));
    }
    let ends = boundary(margin).map(|ends| format!(" {ends}.")).unwrap_or_default();
    Some(figure.captioned(format!("The mean of five seeds.{ends}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Confirmation::{Dropped, Fragile, NotAfterShrinking, PhaseEffect};

    /// A score above the threshold is not "nothing": the conclusion says why it is no failure.
    #[test]
    fn a_candidate_that_is_no_failure_has_a_reason() {
        let space = Space::parse("format = 1\ntitle = \"x\"\nscenario = {}\n", "x.toml").unwrap();
        let conclusion = |best: f64, most: usize, dismissed: &[Confirmation]| {
            let one = |confirmation: &Confirmation| Confirmed {
                confirmation: *confirmation,
                score: 0.0,
                score_at_least: 0.0,
                measured: 1.0,
                range: [1.0, 1.0],
                references: Vec::new(),
                seeds: [0, 20],
            };
            let phase = Phase { name: "last rung".into(), evaluations: 90, refused: 0, best, best_seeds: Some(5) };
            let report = Report {
                kind: Kind::Starve,
                words: [String::new(), String::new()],
                phases: vec![phase],
                first_candidate: None,
                threshold: 0.9,
                failures: Vec::new(),
                dismissed: dismissed.iter().map(one).collect(),
                most,
                refused: None,
            };
            report.conclusion(&space)
        };
        assert!(conclusion(0.89, 3, &[Dropped]).starts_with("nothing found in 90 evaluations"));
        assert_eq!(
            conclusion(0.95, 3, &[Fragile, Dropped, PhaseEffect, NotAfterShrinking]),
            "candidates, but no confirmed failure: 2 not confirmed on fresh seeds, 1 gone with noise of 10 us, 1 not confirmed after \
             shrinking"
        );
        assert!(conclusion(0.95, 0, &[]).ends_with("none ran on fresh seeds, as no failure was asked for"));
        assert!(conclusion(0.95, 3, &[]).ends_with("none could run on fresh seeds"));
    }
}
