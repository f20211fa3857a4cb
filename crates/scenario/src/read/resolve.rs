//! From a tree to a scenario: the top of the file, and checks of the whole.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use penstock_law::quantity::Time;

use super::contracts;
use super::crossing;
use super::dynamics;
use super::error::Reported;
use super::flows::{self, Around};
use super::law;
use super::links::{self, Line, Links};
use super::needs::affordable;
use super::packet;
use super::table::{Fields, Item, MOST_TITLE};
use super::trace::Traces;
use super::tree::{Node, Value};
use crate::format::{self, MOST_WINDOWS};
use crate::model::{Group, Scenario};
use crate::quantity::print_time;
use crate::seed::Seed;
use crate::visible::acts;

/// The most rows a series may have.
const MOST_ROWS: u64 = 10_000_000;

/// Reads the scenario of the tree under `root`; `[sweep]` is left alone. An error that leaves the others readable is
/// reported, and there is a scenario nevertheless.
pub(super) fn scenario(root: &Item<'_>, traces: &Traces<'_>) -> Result<Scenario, Reported> {
    let fields = root.clone().fields(&format::SCENARIO, "")?;
    // A file of another version has other keys.
    version(&fields)?;
    if let Some(defaults) = fields.find("defaults") {
        // What stands in them was copied to where it belongs, and is read there.
        let _ = defaults.fields(&format::DEFAULTS, "write `[defaults.links]` or `[defaults.flows]`");
    }
    let title = fields.find("title").map_or_else(|| Ok(stem(root.errors.file())), |item| title(&item));
    let duration = fields
        .need("duration", "write how long the run takes, as in `duration = \"60 s\"`")
        .and_then(|item| item.time_above_zero());
    let until = duration.ok();
    let warmup = fields.or("warmup", Time::ZERO, |item| {
        let warmup = item.time()?;
        match until.filter(|duration| warmup >= *duration) {
            Some(duration) => Err(item.wrong(
                format!("a warm-up of {} leaves nothing to measure", print_time(warmup)),
                format!("write less than the duration, {}", print_time(duration)),
            )),
            None => Ok(warmup),
        }
    });
    let seed = fields.or("seed", 1, |item| item.whole(0, i64::MAX as u64)).map(Seed);
    let packet = packet::of_scenario(&fields);
    let sample = fields.or("sample", Time(100_000_000_000), |item| item.time_above_zero());
    let rows = until.zip(sample.ok()).and_then(|(duration, sample)| rows(&fields, duration, sample).ok());

    let links = links(&fields, links::Around { packet: packet.ok(), duration: until, traces });
    let ends = links.as_ref().ok().and_then(|links| links.ends.as_deref());
    let around = Around { links: ends, packet: packet.ok(), duration: until, traces };
    let groups = groups(&fields, around);
    let windows = windows(&fields, until);
    let together = contracts::Together { fields: &fields, groups: groups.as_deref().ok(), packet: packet.ok() };
    let classes = together.classes();
    let customers = together.customers();
    let stop = together.stop();

    let (mut lines, groups, packet, duration) = (links?.lines?, groups?, packet?, duration?);
    let dynamics = dynamics::dynamics(&fields, &groups, packet, duration)?;
    let largest = largest_rtts(&lines, &groups);
    links::settle_buffers(&mut lines, &largest, packet.wire);
    crossing::check_schedulers(&mut lines, &groups);
    crossing::check_lines(&mut lines, &groups, packet);
    if let Some(rows) = rows {
        affordable(&lines, &groups, packet, duration, rows, traces.memory())?;
    }
    if let Some(dynamics) = dynamics {
        dynamics::affordable(&fields, dynamics, (lines.len(), &groups), duration, traces.memory())?;
    }
    let places: Vec<Item<'_>> =
        lines.iter().map(|line| line.item.entry("aqm").unwrap_or_else(|| line.item.clone())).collect();
    let scenario = Scenario {
        title: title?,
        duration,
        warmup: warmup?,
        seed: seed?,
        packet,
        sample: sample?,
        links: lines.into_iter().map(|line| (line.name, line.link)).collect(),
        groups: groups.into_iter().map(|(name, _, group)| (name, group)).collect(),
        windows: windows?,
        classes: classes?,
        customers: customers?,
        stop: stop?,
        dynamics,
    };
    // Once more, now that it is known what classes may ask.
    let names = scenario.class_names();
    for ((name, link), place) in scenario.links.iter().zip(&places) {
        let named = |why: &str| with_class_names(why, &names);
        let _ = law::compile_where(place, &link.aqm, &scenario.site(name), named);
    }
    Ok(scenario)
}

fn title(item: &Item<'_>) -> Result<String, Reported> {
    let remedy = "write one line of text in quotation marks";
    let title = item.text(remedy)?;
    if title.chars().any(acts) {
        return Err(item.is_not("one line of text", remedy));
    }
    item.not_longer(title, "a title", MOST_TITLE)?;
    Ok(title.to_owned())
}

/// The rows of a series.
fn rows(fields: &Fields<'_>, duration: Time, sample: Time) -> Result<u64, Reported> {
    let rows = duration.0 / sample.0;
    if rows <= MOST_ROWS {
        return Ok(rows);
    }
    let item = fields.find("sample").or_else(|| fields.find("duration")).unwrap_or_else(|| fields.item.clone());
    Err(item.wrong(
        format!("a sample every {} makes series of {rows} rows", print_time(sample)),
        format!("write at least `{}`", print_time(Time(duration.0.div_ceil(MOST_ROWS)))),
    ))
}

/// The links.
fn links<'a>(fields: &Fields<'a>, around: links::Around<'_>) -> Result<Links<'a>, Reported> {
    let item = fields.need("links", "add a link, as in `[links.bottleneck]`")?;
    let links = links::links(&item, around)?;
    if links.lines.as_ref().is_ok_and(Vec::is_empty) {
        return Err(item.wrong("no links", "add one, as in `[links.bottleneck]`"));
    }
    Ok(links)
}

/// The groups of flows, if nothing is wrong with any of them.
fn groups<'a>(fields: &Fields<'a>, around: Around<'_>) -> Result<Vec<(String, Item<'a>, Group)>, Reported> {
    let flows = fields.need("flows", "add a group of flows, as in `[flows.ftp]`")?;
    let known = flows.errors.count();
    let entries = flows.entries("write one table a group, as in `[flows.ftp]`")?;
    if entries.is_empty() && flows.errors.count() == known {
        return Err(flows.wrong("no flows", "add a group of flows, as in `[flows.ftp]`"));
    }
    let read = entries.into_iter().map(|(name, item)| {
        let group = flows::group(&item, around)?;
        Ok((name.to_owned(), item, group))
    });
    flows.errors.each(known, read)
}

/// Laws know classes by their index only: `class 2` becomes the third one's name.
fn with_class_names(why: &str, names: &[&str]) -> String {
    let named =
        |why: String, (at, name): (usize, &&str)| why.replace(&format!("class {at} "), &format!("the class `{name}` "));
    names.iter().enumerate().fold(why.to_owned(), named)
}

/// Copies `[defaults.links]` and `[defaults.flows]` into the links and groups that have no value of their own.
pub(super) fn apply_defaults(root: &mut Node) {
    let Some(table) = root.table_mut() else { return };
    for section in ["links", "flows"] {
        let found = table.get("defaults").and_then(|d| d.table()?.get(section)?.table().cloned());
        let (Some(defaults), Some(entries)) = (found, table.get_mut(section).and_then(Node::table_mut)) else {
            continue;
        };
        // A way back takes what it is not told from the way there.
        let duplex = |node: &Node| {
            let own = node.table().and_then(|t| t.get("duplex")).or_else(|| defaults.get("duplex"));
            own.is_some_and(|node| matches!(node.value, Value::Switch(true)))
        };
        let ways_back: Vec<String> =
            entries.iter().filter(|(_, node)| duplex(node)).map(|(name, _)| format!("{name}/back")).collect();
        for (name, entry) in entries {
            if section == "links" && ways_back.contains(name) {
                continue;
            }
            let Some(entry) = entry.table_mut() else { continue };
            for (key, default) in &defaults {
                match (entry.get_mut(key), default.table()) {
                    (None, _) => {
                        entry.insert(key.clone(), default.bequeath());
                    }
                    // Options of a sender are independent of each other; a law and its parameters are not.
                    (Some(own), Some(options)) if key == "sender" => {
                        let Some(own) = own.table_mut() else { continue };
                        for (option, value) in options {
                            own.entry(option.clone()).or_insert_with(|| value.bequeath());
                        }
                    }
                    (Some(_), _) => {}
                }
            }
        }
    }
}

fn version(fields: &Fields<'_>) -> Result<(), Reported> {
    let item = fields.need("format", "write `format = 1` at the top of the file")?;
    match item.node.value {
        Value::Integer(1) => Ok(()),
        _ => Err(item.is_not("a format that this version reads", "write `format = 1`")),
    }
}

/// The file's own name, without folders and ending.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    stem.chars().filter(|c| !acts(*c)).take(MOST_TITLE).collect()
}

fn windows(fields: &Fields<'_>, duration: Option<Time>) -> Result<IndexMap<String, (Time, Time)>, Reported> {
    let Some(section) = fields.find("windows") else { return Ok(IndexMap::new()) };
    let known = section.errors.count();
    let read = |(name, item): (&str, Item<'_>)| {
        let (from, to) = item.times()?;
        if from >= to {
            return Err(item.wrong(format!("the window `{}` is empty", item.shown()), "write the earlier time first"));
        }
        if let Some(duration) = duration.filter(|duration| to > *duration) {
            return Err(item.wrong(
                format!("the window ends at {}, after the run", print_time(to)),
                format!("end it at {} at the latest", print_time(duration)),
            ));
        }
        Ok((name.to_owned(), (from, to)))
    };
    let entries = section.entries("write one span a window, as in `stage1 = [\"20 s\", \"40 s\"]`")?;
    if entries.len() > MOST_WINDOWS {
        let many = format!("{} windows; {MOST_WINDOWS} are the most", entries.len());
        return Err(section.wrong(many, "write fewer, or read other spans of time from the series of the record"));
    }
    let windows = section.errors.each(known, entries.into_iter().map(read))?;
    Ok(windows.into_iter().collect())
}

/// For each link, the largest round-trip time of the flows whose data or acknowledgements cross it.
fn largest_rtts(lines: &[Line<'_>], groups: &[(String, Item<'_>, Group)]) -> Vec<Option<Time>> {
    let places: BTreeMap<&str, usize> = lines.iter().enumerate().map(|(at, line)| (line.name.as_str(), at)).collect();
    let mut largest = vec![None; lines.len()];
    for (_, _, group) in groups {
        let rtt = Some(flows::extremes(&group.rtt).1);
        for at in group.forward.iter().chain(&group.backward).filter_map(|name| places.get(name.as_str())) {
            largest[*at] = largest[*at].max(rtt);
        }
    }
    largest
}
