//! Scenarios in, runs out.

// Each test file takes of this what it needs.
#![allow(dead_code)]

use penstock_packets::Packets;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::summary::{FlowSummary, GroupSummary, LinkSummary};
use penstock_scenario::world::{Cells, Content, End, Run, Sighting, Watcher, World};

/// The one scenario of a text.
pub(crate) fn scenario(text: &str) -> Scenario {
    with_files(text, |file| Err(format!("there is no `{file}`")))
}

/// The one scenario of a text that names files.
pub(crate) fn with_files(text: &str, load: fn(&str) -> Result<String, String>) -> Scenario {
    let document = Document::parse_with(text, "test.toml", load);
    let cells = document.and_then(|d| d.cells()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(cells.len(), 1);
    cells.into_iter().next().unwrap().scenario
}

/// The reader's refusal of a text.
pub(crate) fn refusal(text: &str) -> String {
    Document::parse(text, "test.toml").and_then(|d| d.cells()).expect_err("it is refused").to_string()
}

/// Its run.
pub(crate) fn run(text: &str) -> Run {
    run_scenario(&scenario(text))
}

/// The run of a scenario.
pub(crate) fn run_scenario(scenario: &Scenario) -> Run {
    Packets.run(scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

/// A run and every packet seen at the ends of its flows.
pub(crate) fn watch(text: &str) -> (Run, Vec<Sighting>) {
    watch_scenario(&scenario(text))
}

/// The same of a scenario.
pub(crate) fn watch_scenario(scenario: &Scenario) -> (Run, Vec<Sighting>) {
    let mut eye = Eye(Vec::new());
    let run = Packets.run(scenario, &mut eye).unwrap_or_else(|e| panic!("{e}"));
    (run, eye.0)
}

struct Eye(Vec<Sighting>);

impl Watcher for Eye {
    fn progress(&mut self, _: f64) -> bool {
        true
    }
    fn wants_packets(&self) -> bool {
        true
    }
    fn packet(&mut self, seen: &Sighting) {
        self.0.push(*seen);
    }
}

/// When data packets of a flow were seen at an end of it [s].
pub(crate) fn data_at(seen: &[Sighting], end: End, flow: u32) -> Vec<f64> {
    let data = |s: &&Sighting| s.end == end && s.flow == flow && !matches!(s.content, Content::Ack { .. });
    seen.iter().filter(data).map(|s| s.at.seconds()).collect()
}

/// When acknowledgements of a flow were seen at an end of it [s].
pub(crate) fn acks_at(seen: &[Sighting], end: End, flow: u32) -> Vec<f64> {
    let acks = |s: &&Sighting| s.end == end && s.flow == flow && matches!(s.content, Content::Ack { .. });
    seen.iter().filter(acks).map(|s| s.at.seconds()).collect()
}

/// The numbers of a column of one of a run's tables.
pub(crate) fn numbers(run: &Run, table: &str, column: &str) -> Vec<f64> {
    let table = run.series.iter().find(|t| t.name == table).unwrap_or_else(|| panic!("no table `{table}`"));
    let column = table.columns.iter().find(|c| c.name == column).unwrap_or_else(|| panic!("no column `{column}`"));
    match &column.values {
        Cells::Number(values) => values.clone(),
        Cells::Count(values) => values.iter().map(|n| *n as f64).collect(),
        Cells::Name { rows, .. } => rows.iter().map(|n| f64::from(*n)).collect(),
    }
}

/// The summary of a link, and of a group, over the whole measured span.
pub(crate) fn link<'a>(run: &'a Run, name: &str) -> &'a LinkSummary {
    &run.summary.whole.links[name]
}
pub(crate) fn group<'a>(run: &'a Run, name: &str) -> &'a GroupSummary {
    &run.summary.whole.groups[name]
}
/// The flows of a group.
pub(crate) fn flows<'a>(run: &'a Run, name: &str) -> Vec<&'a FlowSummary> {
    run.flows.iter().filter(|f| f.group == name).collect()
}

/// Fails unless `is` is within a share of `should`.
#[track_caller]
pub(crate) fn assert_near(is: f64, should: f64, within: f64, what: &str) {
    assert!((is / should - 1.0).abs() <= within, "{what}: {is}, not {should} within {within}");
}

/// A link `b` from `l` to `r` and back with a group `f` over it, and what else a test says.
pub(crate) struct Dumbbell<'a> {
    /// Keys of the top.
    pub(crate) top: &'a str,
    pub(crate) rate: &'a str,
    pub(crate) buffer: &'a str,
    /// Further keys of the link.
    pub(crate) link: &'a str,
    /// Keys of the group, then further tables.
    pub(crate) flows: &'a str,
}

impl Dumbbell<'_> {
    pub(crate) const PLAIN: Dumbbell<'static> = Dumbbell {
        top: "duration = \"20 s\"",
        rate: "\"10 Mbit/s\"",
        buffer: "\"unlimited\"",
        link: "",
        flows: "cc = { law = \"newreno\" }",
    };

    pub(crate) fn text(&self) -> String {
        let Self { top, rate, buffer, link, flows } = self;
        format!(
            "format = 1\npacket = \"1000 B\"\n{top}\n[links.b]\nfrom = \"l\"\nto = \"r\"\nrate = {rate}\ndelay = \"5 ms\"\n\
             duplex = true\nbuffer = {buffer}\n{link}\n[flows.f]\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\n{flows}\n"
        )
    }
    pub(crate) fn run(&self) -> Run {
        run(&self.text())
    }
    pub(crate) fn watch(&self) -> (Run, Vec<Sighting>) {
        watch(&self.text())
    }
}
