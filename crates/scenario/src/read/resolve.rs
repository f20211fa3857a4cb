//! From a tree to a scenario: the top of the file, and what must hold of the whole.

use indexmap::IndexMap;
use penstock_law::quantity::{Bytes, Time};

use super::contracts;
use super::error::ReadError;
use super::flows::{self, Around};
use super::law;
use super::links::{self, Line};
use super::memory::affordable;
use super::table::{Fields, Item};
use super::trace::Traces;
use super::tree::{Node, Value};
use crate::format;
use crate::model::{Group, Packet, Scenario};
use crate::quantity::{print_bytes, print_time};
use crate::seed::Seed;

/// The most rows a series may have.
const MOST_ROWS: u64 = 10_000_000;

/// Reads the scenario that the tree under `root` says; `[sweep]` is left alone.
pub(super) fn scenario(root: &Item<'_>, traces: &Traces<'_>) -> Result<Scenario, ReadError> {
    let fields = root.clone().fields(&format::SCENARIO, "")?;
    version(&fields)?;
    if let Some(defaults) = fields.find("defaults") {
        // What stands in them was copied to where it belongs, and is read there.
        defaults.fields(&format::DEFAULTS, "write `[defaults.links]` or `[defaults.flows]`")?;
    }
    let title = match fields.find("title") {
        Some(item) => {
            let remedy = "write one line of text in quotation marks";
            let title = item.text(remedy)?;
            if title.chars().any(char::is_control) {
                return Err(item.is_not("one line of text", remedy));
            }
            title.to_owned()
        }
        None => stem(root.file),
    };
    let duration = fields.need("duration", "write how long the run takes, as in `duration = \"60 s\"`")?;
    let duration = above_zero(&duration)?;
    let warmup = fields.or("warmup", Time::ZERO, |item| {
        let warmup = item.time()?;
        if warmup >= duration {
            return Err(item.wrong(
                format!("a warm-up of {} leaves nothing to measure", print_time(warmup)),
                format!("write less than the duration, {}", print_time(duration)),
            ));
        }
        Ok(warmup)
    })?;
    let seed = Seed(fields.or("seed", 1, |item| item.whole(0, i64::MAX as u64))?);
    let packet = packet(&fields)?;
    let sample = fields.or("sample", Time(100_000_000_000), |item| above_zero(&item))?;
    let rows = duration.0 / sample.0;
    if rows > MOST_ROWS {
        let item = fields.find("sample").unwrap_or_else(|| root.clone());
        return Err(item.wrong(
            format!("a sample every {} makes series of {rows} rows", print_time(sample)),
            format!("write at least `{}`", print_time(Time(duration.0.div_ceil(MOST_ROWS)))),
        ));
    }
    let links = fields.need("links", "add a link, as in `[links.bottleneck]`")?;
    let mut lines = links::links(&links, packet, traces)?;
    if lines.is_empty() {
        return Err(links.wrong("no links", "add one, as in `[links.bottleneck]`"));
    }
    let flows = fields.need("flows", "add a group of flows, as in `[flows.ftp]`")?;
    let around = Around { lines: &lines, packet, duration };
    let mut groups = Vec::new();
    for (name, item) in flows.entries("write one table a group, as in `[flows.ftp]`")? {
        let group = flows::group(&item, around)?;
        groups.push((name.to_owned(), item, group));
    }
    if groups.is_empty() {
        return Err(flows.wrong("no flows", "add a group of flows, as in `[flows.ftp]`"));
    }
    let largest = largest_rtts(&lines, &groups);
    links::settle_buffers(&mut lines, &largest, packet.wire)?;
    links::check_schedulers(&lines, &groups)?;
    affordable(&lines, &groups, packet, duration, rows, traces.memory())?;
    let windows = windows(&fields, duration)?;
    let classes = contracts::classes(&fields, &groups)?;
    let customers = contracts::customers(&fields, &groups, packet)?;
    let stop = contracts::stop(&fields, &groups, packet)?;
    let places: Vec<Item<'_>> =
        lines.iter().map(|line| line.item.entry("aqm").unwrap_or_else(|| line.item.clone())).collect();
    let scenario = Scenario {
        title,
        duration,
        warmup,
        seed,
        packet,
        sample,
        links: lines.into_iter().map(|line| (line.name, line.link)).collect(),
        groups: groups.into_iter().map(|(name, _, group)| (name, group)).collect(),
        windows,
        classes,
        customers,
        stop,
    };
    // Once more, now that it is known what classes may ask.
    for ((name, link), place) in scenario.links.iter().zip(&places) {
        law::compile(place, &link.aqm, &scenario.site(name)).map_err(|error| {
            let remedy = with_class_names(&error.remedy, &scenario.class_names());
            ReadError { remedy, ..error }
        })?;
    }
    Ok(scenario)
}

/// Laws know classes by their place only: `class 2` becomes the third one's name.
fn with_class_names(why: &str, names: &[&str]) -> String {
    let named =
        |why: String, (at, name): (usize, &&str)| why.replace(&format!("class {at} "), &format!("the class `{name}` "));
    names.iter().enumerate().fold(why.to_owned(), named)
}

/// Copies `[defaults.links]` and `[defaults.flows]` into the links and groups that do not say otherwise.
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

fn version(fields: &Fields<'_>) -> Result<(), ReadError> {
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
    stem.chars().filter(|c| !c.is_control()).collect()
}

fn above_zero(item: &Item<'_>) -> Result<Time, ReadError> {
    let time = item.time()?;
    if time == Time::ZERO {
        return Err(item.wrong(format!("`{}` is no time at all", item.shown()), "write a duration above zero"));
    }
    Ok(time)
}

fn packet(fields: &Fields<'_>) -> Result<Packet, ReadError> {
    const ACK: Bytes = Bytes(40);
    let default = Packet { wire: Bytes(1500), payload: Bytes(1460), ack: ACK };
    let Some(item) = fields.find("packet") else { return Ok(default) };
    let remedy = "write its size on the wire, as in `1000 B`, or `{ wire = \"1000 B\", payload = \"960 B\" }`";
    let (wire, payload) = if item.node.table().is_some() {
        let fields = item.clone().fields(&format::PACKET, remedy)?;
        let wire = fields.need("wire", "write the size on the wire, as in `1000 B`")?.bytes()?;
        let payload = fields.need("payload", "write the user's share of it, as in `960 B`")?;
        let bytes = payload.bytes()?;
        if bytes >= wire || bytes.0 == 0 {
            return Err(payload.wrong(
                format!("a payload of `{}` in a packet of {}", payload.shown(), print_bytes(wire)),
                "write at least `1 B`, and less than the size on the wire",
            ));
        }
        (wire, bytes)
    } else {
        let wire = item.bytes()?;
        if wire <= ACK {
            return Err(item.wrong(
                format!("a packet of `{}` has no room for data behind 40 B of header", item.shown()),
                "write at least `41 B`",
            ));
        }
        (wire, Bytes(wire.0 - ACK.0))
    };
    if wire.0 > 65_535 {
        return Err(item.wrong(format!("a packet of {}", print_bytes(wire)), "write at most `65535 B`, as IP allows"));
    }
    Ok(Packet { wire, payload, ack: ACK })
}

fn windows(fields: &Fields<'_>, duration: Time) -> Result<IndexMap<String, (Time, Time)>, ReadError> {
    let Some(item) = fields.find("windows") else { return Ok(IndexMap::new()) };
    let mut windows = IndexMap::new();
    for (name, item) in item.entries("write one span a window, as in `stage1 = [\"20 s\", \"40 s\"]`")? {
        let (from, to) = item.times()?;
        if from >= to {
            return Err(item.wrong(format!("the window `{}` is empty", item.shown()), "write the earlier time first"));
        }
        if to > duration {
            return Err(item.wrong(
                format!("the window ends at {}, after the run", print_time(to)),
                format!("end it at {} at the latest", print_time(duration)),
            ));
        }
        windows.insert(name.to_owned(), (from, to));
    }
    Ok(windows)
}

/// For each link, the largest round-trip time of the flows whose data or acknowledgements cross it.
fn largest_rtts(lines: &[Line<'_>], groups: &[(String, Item<'_>, Group)]) -> Vec<Option<Time>> {
    let crossing = |line: &Line<'_>| {
        let crosses = |group: &Group| group.forward.contains(&line.name) || group.backward.contains(&line.name);
        groups.iter().filter(|(_, _, g)| crosses(g)).map(|(_, _, g)| flows::extremes(&g.rtt).1).max()
    };
    lines.iter().map(crossing).collect()
}
