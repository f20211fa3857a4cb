//! Error of an emulated path against its schedule.

use penstock_scenario::summary::PathSummary;

use crate::number::{ABSENT, count, quantity};
use crate::page::{Callout, Column, Section, TableView, Tone};

/// The error of the path beside its bounds, the sockets at its ends, and further findings.
pub(super) fn section(path: &PathSummary) -> Section {
    let mut section = Section::new("Emulated path");
    section.callout = Some(if path.within_bound {
        Callout { tone: Tone::Good, text: "The run is within its error bounds.".to_owned() }
    } else {
        Callout { tone: Tone::Bad, text: format!("The run exceeds its error bounds: {}.", path.beyond.join("; ")) }
    });
    section.prose =
        path.findings.iter().map(|finding| format!("{}.", sentence(finding))).collect::<Vec<_>>().join("\n\n");
    section.tables = vec![error(path)];
    if !path.sockets.is_empty() {
        let mut sockets =
            TableView::new("Sockets, as reported by the kernel", vec![Column::words("Group"), Column::words("")]);
        sockets.rows = path.sockets.iter().map(|(group, what)| vec![group.clone(), what.clone()]).collect();
        section.tables.push(sockets);
    }
    section
}

fn error(path: &PathSummary) -> TableView {
    let columns = vec![Column::words("Error"), Column::words("Measured"), Column::words("Bound")];
    let mut table = TableView::new("Error of the path", columns);
    let time = |seconds: f64| quantity(seconds, "s", 3);
    let found = |seconds: Option<f64>| seconds.map_or_else(|| ABSENT.to_owned(), time);
    let nothing = String::new;
    for (what, measured, bound) in [
        ("Lateness, median", found(path.lateness_p50_s), nothing()),
        ("Lateness p99", found(path.lateness_p99_s), time(path.lateness_bound_s)),
        ("Lateness p99.9", found(path.lateness_p999_s), nothing()),
        ("Lateness, latest", time(path.lateness_max_s), nothing()),
        ("Longest gap", time(path.gap_max_s), time(path.gap_bound_s)),
        ("Gaps above 0.5 ms", path.gaps_above_500_us.map_or_else(|| ABSENT.to_owned(), count), nothing()),
        ("Gaps above 5 ms", count(path.gaps_above_5_ms), nothing()),
        ("Taken by the hypervisor", found(path.stolen_s), nothing()),
        ("Processors kept awake", path.processors_awake.map_or_else(|| ABSENT.to_owned(), count), nothing()),
        ("Device drops", count(path.device_drops), count(0)),
        ("Packets delivered", count(path.packets), nothing()),
        ("Packets not carried", count(path.not_carried), nothing()),
        ("Scheduling", path.scheduling.clone(), nothing()),
        ("Bottleneck", path.bottleneck.clone().unwrap_or_else(|| ABSENT.to_owned()), nothing()),
    ] {
        table.rows.push(vec![what.to_owned(), measured, bound]);
    }
    table
}

/// With a capital letter, as long as the first word is one of language and not a name.
fn sentence(text: &str) -> String {
    let first = text.split([' ', ',']).next().unwrap_or_default();
    if !first.chars().all(char::is_alphabetic) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
