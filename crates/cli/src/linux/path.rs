//! `penstock linux path`: any program's traffic over emulated links, and a record of their effect on it.

use std::fmt::Write;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use penstock_law::aqm::Aqm;
use penstock_linux::account::Account;
use penstock_linux::tool::{self, Ended, NotRun, Programs, Wishes};
use penstock_path::packet::Direction;
use penstock_record::capture::CAPTURE_FILE;
use penstock_report::html;
use penstock_report::number::{quantity, significant};
use penstock_scenario::model::Scenario;
use penstock_scenario::quantity as written;
use penstock_scenario::read::Document;
use penstock_scenario::summary::Summary;
use penstock_scenario::write::print;

use crate::arguments::{CaptureEnd, LinkOptions, PathOptions};
use crate::draft::Draft;
use crate::failure::{Done, Failure};
use crate::folder::{Folder, unwritable};
use crate::jobs::Made;
use crate::meter::Meter;
use crate::named::Shown as _;
use crate::program;
use crate::record::Subject;
use crate::{machine, pages, record, registry, scenario, terminal};

/// Runs a program's traffic over the links of a scenario, or over those that the options describe.
pub(super) fn path(options: &PathOptions) -> Result<Done, Failure> {
    let (name, scenario) = match &options.file {
        Some(file) => (format!("{}-path", scenario::stem(file)), only_cell(file, options)?),
        None => ("path".to_owned(), described(&options.link, &options.changes.set)?),
    };
    let account = match &options.user {
        Some(name) => Account::named(name).map_err(|e| Failure::Input(format!("--user: {e}")))?,
        None => Account::of_caller().map_err(|e| Failure::Machine(e.to_string()))?,
    };
    // All that can be wrong with the call is told before anything is made.
    if let Some(command) = options.command.first() {
        penstock_machine::program::find(Path::new(command))
            .map_err(|e| Failure::Input(format!("cannot run `{}`: {e}", command.shown())))?;
    }
    let out = Folder::open(&options.out)?;
    let (draft, capture) = options.pcap.map(|end| begin(&out, &name, end)).transpose()?.unzip();
    let programs = Programs { command: &options.command, server: options.server.as_deref(), account: &account };
    let changes = scenario::changed_now(&options.changes);
    let changes =
        options.file.as_ref().map_or_else(|| Ok(changes.clone()), |file| scenario::changes(file, &changes))?;
    let meter = Meter::start();
    let wishes = Wishes { capture, nat: options.nat, awake: options.processors.awake };
    let ended = tool::run(&scenario, &programs, wishes).map_err(|error| match error {
        NotRun::Program { .. } => {
            Failure::Input(format!("{error} (run by the account {}; --user names another account)", account.name))
        }
        NotRun::Report(error) => error.into(),
        NotRun::Path(_) | NotRun::Capture(_) => Failure::Machine(error.to_string()),
    })?;
    let Ended { status, server, run, captured } = ended;
    let of = Subject { scenario: &scenario, changes: &changes, labels: &[] };
    let made = Made { cost: meter.cost(run.summary.engine.packets), run, draft };
    let kept = record::keep(&out, &name, of, made, |run| {
        let (text, laws) = (print(&scenario), pages::laws(&scenario));
        let mut page = pages::of_run(&text, &laws, &run.summary, &run.series, &machine::facts());
        page.title = pages::titled(&page.title, &changes);
        vec![("report.html".to_owned(), html::write(&page).into_bytes())]
    })?;
    // Standard output is the command's.
    terminal::note(table(&kept.summary));
    terminal::note(format!("record  {}", kept.path.shown()));
    if let Some(captured) = captured {
        let missed = if captured.missed > 0 { format!(", {} missed", captured.missed) } else { String::new() };
        let file = record::shown(&kept.path, CAPTURE_FILE);
        terminal::note(format!("packets {file} ({}{missed})", captured.packets));
    }
    if let Some(status) = server {
        terminal::note(format!(
            "{}: the program of --server ended before COMMAND, with status {status}",
            program::name()
        ));
    }
    for what in kept.summary.path.iter().flat_map(|path| &path.beyond) {
        terminal::note(format!("{}: the emulated path exceeded its error bounds: {what}", program::name()));
    }
    // The command may not have noticed that nobody listened.
    if status == 0 && server.is_some_and(|status| status != 0) {
        return Err(Failure::Machine("the server failed, so that the command had no peer".into()));
    }
    Ok(Done::Ended(status))
}

/// The scenario of a file that is no sweep.
fn only_cell(file: &Path, options: &PathOptions) -> Result<Scenario, Failure> {
    let mut cells = scenario::cells(&scenario::document(file, None, &options.changes)?)?;
    if let [_] = cells.as_slice() {
        return Ok(cells.remove(0).scenario);
    }
    let what = format!(
        "{} is a sweep of {} cells, and a path is one cell; give each swept key one value with --set KEY=VALUE",
        file.shown(),
        cells.len()
    );
    Err(Failure::Input(what))
}

/// Begins a record with a capture.
fn begin(out: &Folder, name: &str, end: CaptureEnd) -> Result<(Draft, (Direction, File)), Failure> {
    let draft = out.draft(name)?;
    let file = File::create_new(draft.path().join(CAPTURE_FILE));
    let file = file.map_err(|e| unwritable(&out.path().join(name).join(CAPTURE_FILE), &e))?;
    let way = match end {
        CaptureEnd::Senders => Direction::Forward,
        CaptureEnd::Receivers => Direction::Reverse,
    };
    Ok((draft, (way, file)))
}

/// The scenario before its options: a link each way, and a flow whose round trip is theirs.
const DESCRIBED: &str = r#"
format = 1
title = "The path of the command"
duration = "1 h"
packet = { wire = "1500 B", payload = "1448 B" }
[defaults.links]
rate = "1 Mbit/s"
delay = "0 s"
buffer = "1000 packets"
[links.uplink]
from = "command"
to = "server"
[links.downlink]
from = "server"
to = "command"
[flows.traffic]
from = "command"
to = "server"
start = "0 s"
cc = { law = "cubic" }
"#;

/// The links of that text.
const LINKS: [&str; 2] = ["uplink", "downlink"];

/// The scenario that options describe instead of a file. An error lists all that is wrong with them.
fn described(link: &LinkOptions, changes: &[String]) -> Result<Scenario, Failure> {
    let document = Document::parse(DESCRIBED, "the path").map_err(|e| Failure::Bug(e.to_string()))?;
    let mut document = document.with_laws(Arc::clone(registry::laws()));
    let mut wrong: Vec<String> = Vec::new();
    // Each option is tried alone, so that an error is said of the one that has it.
    let mut set = |option: &str, links: &[&str], key: &str, value: &str| {
        let mut tried = document.clone();
        let set = links.iter().try_for_each(|link| tried.set(&format!("links.{link}.{key}"), value));
        match set.and_then(|()| tried.cells().map(drop)) {
            Ok(()) => document = tried,
            Err(errors) => wrong.extend(errors.all().first().map(|e| format!("{option}: {e}"))),
        }
    };
    let mut unreadable: Vec<String> = Vec::new();
    let rates = [("--rate", &link.rate, &LINKS[..]), ("--downlink-rate", &link.downlink_rate, &LINKS[1..])];
    for (option, rate, links) in rates {
        match rate.as_ref().map(|rate| written::rate(rate).map(|_| rate)) {
            Some(Ok(rate)) => set(option, links, "rate", rate),
            Some(Err(e)) => unreadable.push(format!("{option}: {e}")),
            None => {}
        }
    }
    match link.delay.as_ref().map(|delay| written::time(delay).map(|_| delay)) {
        Some(Ok(delay)) => set("--delay", &LINKS, "delay", delay),
        Some(Err(e)) => unreadable.push(format!("--delay: {e}")),
        None => {}
    }
    let mut complete = true;
    match &link.aqm {
        Some(aqm) if registry::laws().aqm(aqm).is_none() => {
            let known: Vec<&str> = registry::laws().laws::<Aqm>().iter().map(|law| law.name).collect();
            complete = false;
            unreadable.push(format!("--aqm: no AQM is named `{aqm}`; there are {}", known.join(", ")));
        }
        Some(aqm) => set("--aqm", &LINKS, "aqm", &format!("{{ law = \"{aqm}\" }}")),
        None => {}
    }
    for (option, key, value) in [("--queue", "buffer", &link.queue), ("--loss", "loss", &link.loss)] {
        if let Some(value) = value {
            set(option, &LINKS, key, value);
        }
    }
    for change in changes {
        let Some((key, value)) = change.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            unreadable.push(format!("--set {change}: no `=`; write it as in --set aqm.target=\"5 ms\""));
            continue;
        };
        let keys = match key.strip_prefix("aqm.") {
            Some(parameter) => LINKS.map(|link| format!("links.{link}.aqm.{parameter}")).to_vec(),
            None => vec![key.to_owned()],
        };
        for key in keys {
            if let Err(e) = document.set(&key, value) {
                unreadable.push(format!("--set: {e}"));
                break;
            }
        }
    }
    wrong.extend(unreadable);
    if !wrong.is_empty() {
        // What `--set` changes is read with the others, unless the AQM whose parameters it may set is not there.
        if let Some(errors) = document.cells().err().filter(|_| complete) {
            wrong.extend(errors.all().iter().map(ToString::to_string));
        }
        return Err(Failure::Input(wrong.join(&format!("\n{}: ", program::name()))));
    }
    let mut cells = scenario::cells(&document)?;
    if let [_] = cells.as_slice() {
        return Ok(cells.remove(0).scenario);
    }
    let program = program::name();
    Err(Failure::Input(format!(
        "--set: each key of a path takes one value, not a list; `{program} sweep` runs lists of values"
    )))
}

/// Measurements of the links, and the lateness of the path.
fn table(summary: &Summary) -> String {
    let seconds = |value: Option<f64>| value.map(|value| quantity(value, "s", 3)).unwrap_or_default();
    let rows = summary.whole.links.iter().map(|(name, link)| {
        vec![
            name.clone(),
            quantity(link.throughput_bit_per_s, "bit/s", 4),
            link.departures.to_string(),
            link.drops.to_string(),
            link.marks.to_string(),
            significant(link.queue_mean_packets, 3),
            significant(link.queue_max_packets, 3),
            seconds(link.queueing_delay_mean_s),
            seconds(link.queueing_delay_p99_s),
        ]
    });
    let heads = [
        ("link", false),
        ("carried", true),
        ("packets", true),
        ("drops", true),
        ("marks", true),
        ("queue, mean", true),
        ("most", true),
        ("wait, mean", true),
        ("99 %", true),
    ];
    let mut text = pages::table("", &heads, rows.collect()).trim_end().to_owned();
    if let Some(path) = &summary.path {
        let _ = write!(
            text,
            "\nlateness of 99 % of the packets {} (bound {}), longest gap {} (bound {}), {} packets not carried",
            seconds(path.lateness_p99_s),
            seconds(Some(path.lateness_bound_s)),
            seconds(Some(path.gap_max_s)),
            seconds(Some(path.gap_bound_s)),
            path.not_carried,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use penstock_law::quantity::{Rate, Time};
    use penstock_scenario::read::identity;

    use super::*;

    fn link(rate: &str) -> LinkOptions {
        LinkOptions {
            rate: Some(rate.to_owned()),
            downlink_rate: None,
            delay: None,
            queue: None,
            aqm: None,
            loss: None,
        }
    }

    #[test]
    fn options_describe_a_link_each_way() {
        let options = LinkOptions {
            downlink_rate: Some("20 Mbit/s".into()),
            delay: Some("15 ms".into()),
            queue: Some("1 bdp".into()),
            aqm: Some("codel".into()),
            loss: Some("0.01".into()),
            ..link("10 Mbit/s")
        };
        let scenario = described(&options, &["aqm.target=7 ms".to_owned()]).unwrap();
        let rates: Vec<Rate> = scenario.links.values().map(|link| link.rate).collect();
        assert_eq!(rates, [Rate(10_000_000), Rate(20_000_000)]);
        for link in scenario.links.values() {
            assert_eq!((link.delay, link.loss), (Time(Time::PER_SECOND * 15 / 1000), 0.01));
        }
        let group = &scenario.groups["traffic"];
        assert_eq!(group.rtts("traffic", scenario.seed), [Time(Time::PER_SECOND * 30 / 1000)]);
        assert_eq!((group.forward.len(), group.backward.len()), (1, 1), "{group:?}");
        // The scenario is a file like any other: it can be printed, read again, and run.
        let text = print(&scenario);
        assert_eq!(text.matches("target = \"7 ms\"").count(), 2, "{text}");
        assert_eq!(Document::parse(&text, "again").unwrap().cells().unwrap()[0].id, identity(&scenario));
    }

    #[test]
    fn wrong_options_are_named() {
        let said = |options: LinkOptions, changes: &[&str]| {
            let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
            let failure = described(&options, &changes).unwrap_err();
            assert_eq!(failure.status(), 2);
            failure.to_string()
        };
        for (options, named) in [
            (link("10"), "--rate"),
            (link("0 bit/s"), "--rate"),
            (LinkOptions { downlink_rate: Some("fast".into()), ..link("1 Mbit/s") }, "--downlink-rate"),
            (LinkOptions { delay: Some("-1 ms".into()), ..link("1 Mbit/s") }, "--delay"),
            (LinkOptions { queue: Some("some".into()), ..link("1 Mbit/s") }, "--queue"),
            (LinkOptions { aqm: Some("coddle".into()), ..link("1 Mbit/s") }, "--aqm"),
            (LinkOptions { loss: Some("2".into()), ..link("1 Mbit/s") }, "--loss"),
        ] {
            let said = said(options, &[]);
            assert!(said.starts_with(&format!("penstock: {named}: ")), "{said}");
        }
        assert!(said(link("1 Mbit/s"), &["aqm.target"]).contains("--set aqm.target: no `=`"));
        assert!(said(link("1 Mbit/s"), &["aqm.target=5 ms"]).contains("--set"), "drop-tail has no target");
    }
}
