//! The page of one run.

use std::borrow::Cow;

use indexmap::IndexMap;
use penstock_law::Registry;
use penstock_scenario::summary::{Finding, Summary};
use penstock_scenario::text;
use penstock_scenario::world::{Kind, Table};

use crate::assemble::measures::Measure;
use crate::assemble::series::SeriesLook;
use crate::assemble::{law_colour, measures, overview, path, scenario_code, series, transfers};
use crate::number::{count, quantity, significant, words};
use crate::page::{Callout, Page, Section, Tone};
use crate::palette;

/// One run, as a page shows it.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    /// Its numbers.
    pub summary: &'a Summary,
    /// Its series over time.
    pub series: &'a [Table],
    /// The scenario with all defaults filled in.
    pub scenario_text: &'a str,
    /// Where it comes from: version, seed, machine.
    pub header: &'a [(String, String)],
    /// The controller of each group, for its colour; may be empty.
    pub laws: &'a [(String, String)],
    /// The laws that it may name.
    pub registry: &'a Registry,
}

/// The hosts of the flows, where they are not the default.
fn hosts(scenario: &str) -> String {
    let hosts = text::hosts(scenario);
    if hosts.is_empty() { String::new() } else { format!("; hosts: {}", hosts.join(", ")) }
}

/// Findings first, then tables of links and groups, the error of an emulated path, delay and shares, everything that was
/// recorded over time, and the scenario.
pub fn of_run(run: &RunView<'_>) -> Page {
    let summary = run.summary;
    let mut page = Page {
        title: summary.title.clone(),
        subtitle: format!(
            "One run in the {} world, measured over {}{}",
            summary.world,
            quantity(summary.whole.measured_s, "s", 4),
            hosts(run.scenario_text)
        ),
        facts: run.header.to_vec(),
        sections: Vec::new(),
    };

    let mut numbers = Section::new("Summary");
    numbers.tables = measures::tables(summary);
    if let Some(jain) = (Measure::fairness().of)(summary) {
        let flows = measures::flows_compared(std::iter::once(summary));
        let (the, rest) = if flows.starts_with("all") {
            ("", "")
        } else {
            ("the ", " Groups with arrivals or pages are left out: few of their connections are busy at a time.")
        };
        numbers.prose = format!("Jain\u{2019}s fairness index over {the}{flows}: {}.{rest}", significant(jain, 4));
    }
    page.sections.extend(findings(&summary.findings));
    page.sections.push(numbers);
    page.sections.extend(summary.path.as_ref().map(path::section));

    let colours = colours(run);
    let (warm_up_s, laws) = (text::warm_up_s(run.scenario_text), text::law_names(run.scenario_text));
    let rates: Vec<(String, Vec<(f64, f64)>)> = text::rates(run.scenario_text).into_iter().collect();
    // `flows` rows may be keyed by group and index; their colour is that of the group they start with.
    let colour = |entity: &str| {
        let group = entity.split(' ').next().unwrap_or(entity);
        colours.get(entity).or_else(|| colours.get(group)).cloned()
    };
    let routes = text::routes(run.scenario_text);
    page.sections.extend(overview::section(summary, run.series, &routes, warm_up_s, &colour));
    let delays_shown = overview::shows_queues(summary, run.series);
    for table in run.series {
        if ["transfers", "pages"].contains(&table.name.as_str()) {
            page.sections.extend(transfers::section(table, warm_up_s, &colour));
            continue;
        }
        let over_time = match &table.name[..] {
            "chunks" => Cow::Owned(transfers::over_time(table)),
            "queues" => Cow::Owned(apart(table, run, delays_shown)),
            _ => Cow::Borrowed(table),
        };
        let drawn = series::figures(
            &over_time,
            &SeriesLook { titles: "", colour: &colour, warm_up_s, laws: &laws, registry: run.registry, rates: &rates },
        );
        let mut section = Section::new(format!("{} over time", words(&table.name)));
        if !drawn.zero.is_empty() {
            section.prose = format!("Not drawn, because zero throughout: {}.", drawn.zero.join(", "));
        }
        section.figures = drawn.figures;
        if !section.figures.is_empty() || !section.prose.is_empty() {
            page.sections.push(section);
        }
    }

    if !summary.whole.flows.is_empty() {
        let mut flows = Section::new("Flows");
        flows.tables.push(measures::flow_table("Every flow", &summary.whole.flows));
        page.sections.push(flows);
    }

    let mut source = Section::new("Scenario");
    source.code = scenario_code(run.scenario_text);
    let engine = &summary.engine;
    if engine.packets > 0 {
        source.prose =
            format!("The run processed {} packets and {} events.", count(engine.packets), count(engine.events));
    }
    if !source.code.is_empty() || !source.prose.is_empty() {
        page.sections.push(source);
    }
    page
}

/// Queues without what other figures have: the delay where the overview shows it, and numbers of a link that are all of one queue.
fn apart(queues: &Table, run: &RunView<'_>, delays_shown: bool) -> Table {
    let links = run.series.iter().find(|table| table.name == "links");
    let of_one = |column: &str| {
        let Some(links) = links else { return false };
        let (of_queues, of_links) = (overview::curves(queues, column), overview::curves(links, column));
        let zero = |points: &[(f64, f64)]| points.iter().all(|p| p.1 == 0.0 || !p.1.is_finite());
        // A link's curve is that of the one queue of it that is not zero.
        let again = |(link, curve): &(String, Vec<(f64, f64)>)| {
            let names = run.summary.whole.links.get(link).into_iter().flat_map(|link| link.queues.keys());
            let names: Vec<String> = names.map(|queue| format!("{link}/{queue}")).collect();
            let mut own = of_queues.iter().filter(|(name, points)| names.contains(name) && !zero(points));
            let (first, second) = (own.next(), own.next());
            first.is_none_or(|(_, points)| second.is_none() && points == curve)
        };
        !of_links.is_empty() && of_links.iter().all(again)
    };
    let kept = |name: &str| !(of_one(name) || delays_shown && name == overview::DELAY);
    let columns = queues.columns.iter().filter(|column| column.kind == Kind::Key || kept(&column.name));
    Table { name: queues.name.clone(), columns: columns.cloned().collect() }
}

/// Findings to know before trusting the numbers, in a box.
fn findings(findings: &[Finding]) -> Option<Section> {
    let said = |Finding { id, subject, text }: &Finding| format!("{subject}: {text} (docs/findings.md#{id}).");
    let said: Vec<String> = findings.iter().map(said).collect();
    let callout = Callout { tone: Tone::Neutral, text: said.join(" ") };
    (!said.is_empty()).then(|| Section { callout: Some(callout), ..Section::new("Findings") })
}

/// A colour for each group and each link, no two the same as long as there are enough: a group's is its law's, and what is
/// blue in one figure is the same thing where it is blue in the next.
fn colours(run: &RunView<'_>) -> IndexMap<String, String> {
    let whole = &run.summary.whole;
    let law = |group: &String| {
        run.laws.iter().find(|(name, _)| name == group).and_then(|(_, law)| law_colour(run.registry, law))
    };
    let groups = || whole.groups.keys().chain(run.laws.iter().map(|(group, _)| group));
    let mut things: IndexMap<String, Option<&str>> = groups().map(|group| (group.clone(), law(group))).collect();
    for link in whole.links.keys() {
        things.entry(link.clone()).or_insert(None);
    }
    // A queue of the packets of a group has the colour of the group.
    let of_group = |queue: &String| groups().any(|group| group == queue);
    things.extend(queues(run.summary).filter(|(queue, _)| !of_group(queue)).map(|(_, name)| (name, None)));
    if things.len() > palette::PALETTE.len() {
        // Then colours repeat anyway, and each figure keeps its own lines apart.
        return groups().filter_map(|g| Some((g.clone(), law(g)?.to_owned()))).collect();
    }
    let wanted: Vec<Option<&str>> = things.values().copied().collect();
    let mut colours: IndexMap<String, String> = things.into_keys().zip(palette::assign(&wanted)).collect();
    for (queue, name) in queues(run.summary).filter(|(queue, _)| of_group(queue)) {
        let colour = colours[queue].clone();
        colours.insert(name, colour);
    }
    colours
}

/// The queues of links with several: each name, and that of its series.
fn queues(summary: &Summary) -> impl Iterator<Item = (&String, String)> {
    summary
        .whole
        .links
        .iter()
        .flat_map(|(link, summary)| summary.queues.keys().map(move |queue| (queue, format!("{link}/{queue}"))))
}
