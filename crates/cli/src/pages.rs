//! Texts about runs and sweeps, as pages: the terminal prints their tables, `report.html` has all of them.

use std::fmt::Write;

use penstock_report::assemble::{self, CellView, RunView, SweepView};
use penstock_report::number::{Prefix, count, quantity, significant};
use penstock_report::page::{Align, Column, Page, TableView};
use penstock_scenario::model::Scenario;
use penstock_scenario::summary::{Cost, Summary};
use penstock_scenario::world::Table;

use crate::record::Kept;
use crate::{registry, terminal};

/// The page of a run, with the text of its scenario and the law of each group's senders.
pub(crate) fn of_run(
    scenario_text: &str,
    laws: &[(String, String)],
    summary: &Summary,
    series: &[Table],
    header: &[(String, String)],
) -> Page {
    assemble::of_run(&RunView { summary, series, scenario_text, header, laws, registry: registry::laws() })
}

/// A title, with the changes to the scenario's file for this run.
pub(crate) fn titled(title: &str, changes: &[String]) -> String {
    if changes.is_empty() { title.to_owned() } else { format!("{title} ({})", changes.join("; ")) }
}

/// The law of each group's senders.
pub(crate) fn laws(scenario: &Scenario) -> Vec<(String, String)> {
    scenario.groups.iter().map(|(name, group)| (name.clone(), group.cc.law.name.to_owned())).collect()
}

/// The terminal's page of a run: its summary, the error of an emulated path, and its cost.
pub(crate) fn printed_run(kept: &Kept, changes: &[String]) -> String {
    let mut page = of_run("", &[], &kept.summary, &[], &[]);
    page.title = titled(&page.title, changes);
    // Notes on standard error have the findings.
    page.sections.retain(|section| section.callout.is_none() || section.heading != "Findings");
    page.sections.truncate(1 + usize::from(kept.summary.path.is_some()));
    terminal::look().page(&page) + "\n" + &terminal::look().paragraph(&cost(std::slice::from_ref(kept)))
}

/// A cell as the page of a sweep shows it: with the colour of its first group's law.
pub(crate) fn cell_view<'a>(
    labels: impl IntoIterator<Item = (String, String)>,
    laws: &[(String, String)],
    summary: &'a Summary,
) -> CellView<'a> {
    let group = summary.whole.groups.keys().next();
    let law = laws.iter().find(|(name, _)| Some(name) == group).map(|(_, law)| law.clone());
    CellView { labels: labels.into_iter().collect(), law, summary }
}

/// The page of a sweep, with the text of its file.
pub(crate) fn of_sweep(
    title: &str,
    cells: &[CellView<'_>],
    scenario_text: &str,
    command: &str,
    header: &[(String, String)],
) -> Page {
    assemble::of_sweep(&SweepView { title, cells, scenario_text, command, header, registry: registry::laws() })
}

/// The cost of runs together, those that were finished before left out; nothing where none ran now.
pub(crate) fn cost(kept: &[Kept]) -> String {
    let mut spent = Spent::default();
    for kept in kept {
        if let Some(cost) = &kept.cost {
            spent.add(&kept.summary, cost);
        }
    }
    spent.text()
}

/// The cost of runs together.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    runs: usize,
    packets: u64,
    cpu_s: f64,
    memory_bytes: Option<u64>,
}

impl Spent {
    /// Adds a run.
    pub(crate) fn add(&mut self, summary: &Summary, cost: &Cost) {
        self.runs += 1;
        self.packets += summary.engine.packets;
        self.cpu_s += cost.cpu_s;
        self.memory_bytes = self.memory_bytes.max(cost.peak_memory_bytes);
    }

    /// In words; nothing without a run.
    pub(crate) fn text(&self) -> String {
        let Self { runs, packets, cpu_s, memory_bytes } = *self;
        if runs == 0 {
            return String::new();
        }
        let mut text = format!("{} packets in {}", count(packets), quantity(cpu_s, "s", 3));
        if cpu_s > 0.0 {
            let _ = write!(text, " of CPU time: {} million a CPU second", significant(packets as f64 / 1e6 / cpu_s, 3));
        }
        if let Some(bytes) = memory_bytes {
            let _ = write!(text, "; at most {} of memory", quantity(bytes as f64, "B", 3));
        }
        text
    }
}

/// A table for the terminal: heads, and whether a column holds numbers.
pub(crate) fn table(caption: &str, columns: &[(&str, bool)], rows: Vec<Vec<String>>) -> String {
    let column = |(name, numbers): &(&str, bool)| Column {
        name: (*name).to_owned(),
        unit: String::new(),
        align: if *numbers { Align::Right } else { Align::Left },
    };
    let mut view = TableView::new(caption, columns.iter().map(column).collect());
    view.rows = rows;
    terminal::look().table(&view)
}

/// Two numbers in one unit, with the prefix that suits the larger: `11.68 to 23.26 Mbit/s`. One where both are printed alike.
pub(crate) fn span(ends: [f64; 2], unit: &str, number: impl Fn(f64) -> String) -> String {
    let prefix = Prefix::for_value(ends[0].abs().max(ends[1].abs()), unit);
    let [least, most] = ends.map(|end| number(end / prefix.factor));
    let numbers = if least == most { most } else { format!("{least} to {most}") };
    format!("{numbers} {}{unit}", prefix.symbol).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use penstock_report::number::short;

    use super::*;

    #[test]
    fn a_span_has_one_prefix_and_its_unit() {
        let span = |least, most, unit| span([least, most], unit, |end| short(end, 4));
        assert_eq!(span(11_683_600.0, 23_264_800.0, "bit/s"), "11.68 to 23.26 Mbit/s");
        assert_eq!(span(0.5, 0.75, ""), "0.5 to 0.75");
        assert_eq!(span(-0.002, 0.012, "s"), "\u{2212}2 to 12 ms");
        assert_eq!(span(0.012, 0.012, "s"), "12 ms");
    }
}
