//! `[flows.NAME]`: groups of flows, their routes, delays, starts and laws.

use penstock_law::cc::{CONTROLLERS, Marks, Site};
use penstock_law::quantity::Time;

use super::error::{ReadError, offer};
use super::law;
use super::links::Line;
use super::route::shortest;
use super::table::{Fields, Item};
use super::tree::Value;
use crate::model::{Arithmetic, EcnEcho, Group, Pacing, Packet, Recovery, Rtt, SenderOptions, Size, Start};
use crate::quantity::print_time;

const KNOWN: &[&str] = &["count", "from", "to", "via", "rtt", "cc", "start", "stop", "size", "series", "sender"];
const LATER: &[&str] = &["arrivals", "idle", "class", "access", "jitter", "ack_jitter", "on_off"];
/// The most packets a flow may start with: they are sent, and held in memory, at once.
const MOST_AT_ONCE: f64 = 1e6;
const SENDER: &[&str] = &[
    "initial_window",
    "ssthresh",
    "receive_window",
    "min_rto",
    "recovery",
    "delayed_ack",
    "ecn_echo",
    "pacing",
    "arithmetic",
];
const SENDER_LATER: &[&str] = &["burst"];

/// The most flows a group may have.
const MOST: u64 = 10_000_000;

/// What a group is read against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) lines: &'a [Line<'a>],
    pub(super) packet: Packet,
    pub(super) duration: Time,
}

/// Reads one group.
pub(super) fn group(item: &Item<'_>, around: Around<'_>) -> Result<Group, ReadError> {
    let fields = item.clone().fields(KNOWN, LATER, "write a table, as in `[flows.ftp]`")?;
    let count = fields.or("count", 1, |item| item.whole(1, MOST))? as u32;
    let (from, to) = (node(&fields, "from", around.lines)?, node(&fields, "to", around.lines)?);
    let forward = match fields.find("via") {
        Some(via) => along(&via, &from, &to, around.lines)?,
        None => route(&fields, &from, &to, around.lines)?,
    };
    let backward = shortest(around.lines, &to, &from).unwrap_or_default();
    let delay = |links: &[usize]| links.iter().fold(Time::ZERO, |sum, at| sum + around.lines[*at].link.delay);
    let rtt = rtt(&fields, count, delay(&forward) + delay(&backward))?;
    let start = start(&fields, count, around.duration)?;
    let stop = stop(&fields, &start, count)?;
    let size = size(&fields)?;
    let series = fields.or("series", false, |item| item.switch())?;
    let options = sender(&fields)?;

    let cc_item = fields.need("cc", "name the law of its senders, as in `{ law = \"newreno\" }`")?;
    let cc = law::law(&cc_item, CONTROLLERS)?;
    let site = Site {
        packet: around.packet.wire,
        initial_window: options.initial_window,
        initial_ssthresh: options.initial_ssthresh,
    };
    let needs = law::compile(&cc_item, &cc, &site)?;
    let sender_item = |key: &str| {
        let sender = fields.find("sender");
        let found = sender.as_ref().and_then(|s| Some(s.below(key, s.node.table()?.get(key)?)));
        found.unwrap_or_else(|| cc_item.clone())
    };
    if options.arithmetic == Arithmetic::Fixed && !law::compile_fixed(&cc_item, &cc, &site)? {
        return Err(sender_item("arithmetic").wrong(
            format!("the law `{}` has no fixed-point build", cc.law.name),
            "write `\"f64\"`, or choose a law that has a twin for the kernel",
        ));
    }
    if options.ecn_echo == EcnEcho::Classic && matches!(needs.marks, Marks::Price(_)) {
        return Err(sender_item("ecn_echo").wrong(
            format!(
                "`classic` does not go with the law `{}`, which reads a price from the share of marked packets, and a \
                 latched echo hides that share",
                cc.law.name
            ),
            "write `\"per-packet\"`",
        ));
    }
    let names = |links: Vec<usize>| links.into_iter().map(|at| around.lines[at].name.clone()).collect();
    Ok(Group {
        count,
        from,
        to,
        forward: names(forward),
        backward: names(backward),
        rtt,
        cc,
        start,
        steps: Vec::new(),
        spacing_jitter: 0.0,
        stop,
        size,
        repeats: None,
        on_off: None,
        class: None,
        access: None,
        jitter: None,
        ack_jitter: None,
        series,
        sender: options,
    })
}

/// A node that some link touches.
fn node(fields: &Fields<'_>, key: &str, lines: &[Line<'_>]) -> Result<String, ReadError> {
    let remedy = "write the name of a node, as in `\"left\"`";
    let item = fields.need(key, remedy)?;
    let name = item.name(remedy)?;
    let mut known: Vec<&str> = Vec::new();
    for line in lines {
        for end in [line.link.from.as_str(), line.link.to.as_str()] {
            if !known.contains(&end) {
                known.push(end);
            }
        }
    }
    if known.contains(&name) {
        Ok(name.to_owned())
    } else {
        Err(item.wrong(format!("no link touches a node named `{name}`"), offer(name, &known, "node")))
    }
}

/// The shortest way.
fn route(fields: &Fields<'_>, from: &str, to: &str, lines: &[Line<'_>]) -> Result<Vec<usize>, ReadError> {
    let item = fields.need("to", "")?;
    if from == to {
        return Err(item.wrong(format!("`{to}` is also where the flow begins"), "name another node"));
    }
    shortest(lines, from, to).ok_or_else(|| {
        item.wrong(format!("no route leads from `{from}` to `{to}`"), "add a link, or `duplex = true` to one")
    })
}

/// The way by `via`, checked link by link.
fn along(via: &Item<'_>, from: &str, to: &str, lines: &[Line<'_>]) -> Result<Vec<usize>, ReadError> {
    let remedy = "write the names of links in order, as in `[\"bottleneck\"]`";
    let (mut at, mut way) = (from, Vec::new());
    for item in via.list(remedy)? {
        let name = item.name(remedy)?;
        let Some(place) = lines.iter().position(|line| line.name == name) else {
            let known: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
            return Err(item.wrong(format!("no link is named `{name}`"), offer(name, &known, "link")));
        };
        let link = &lines[place].link;
        if link.from != at {
            return Err(item.wrong(
                format!("the link `{name}` leaves `{}`, but the route stands at `{at}`", link.from),
                format!("name a link that leaves `{at}`"),
            ));
        }
        if way.contains(&place) {
            return Err(item.wrong(format!("the route takes `{name}` twice"), "name each link once"));
        }
        way.push(place);
        at = &link.to;
    }
    if way.is_empty() {
        return Err(via.wrong("the route has no links", "name at least one, or leave `via` out"));
    }
    if at != to {
        return Err(
            via.wrong(format!("the route ends at `{at}`, not at `{to}`"), format!("add links that lead to `{to}`"))
        );
    }
    Ok(way)
}

fn rtt(fields: &Fields<'_>, count: u32, least: Time) -> Result<Rtt, ReadError> {
    let Some(item) = fields.find("rtt") else { return Ok(Rtt::Each(least)) };
    let remedy = "write a duration, `{ spread = [...] }`, `{ uniform = [...] }`, or a list of one a flow";
    let rtt = match &item.node.value {
        Value::List(_) => {
            let list = item.list(remedy)?.iter().map(Item::time).collect::<Result<Vec<_>, _>>()?;
            if list.len() != count as usize {
                return Err(item.wrong(
                    format!("{} round-trip times for {count} flows", list.len()),
                    format!("write one a flow, or `count = {}`", list.len()),
                ));
            }
            Rtt::List(list)
        }
        Value::Table(_) => {
            let fields = item.clone().fields(&["spread", "uniform"], &[], remedy)?;
            match (fields.find("spread"), fields.find("uniform")) {
                (Some(pair), None) => {
                    let (a, b) = pair.times()?;
                    Rtt::Spread(a, b)
                }
                (None, Some(pair)) => {
                    let (a, b) = ordered(&pair)?;
                    Rtt::Uniform(a, b)
                }
                _ => return Err(item.is_not("a round-trip time", remedy)),
            }
        }
        _ => Rtt::Each(item.time()?),
    };
    let smallest = extremes(&rtt).0;
    if smallest < least {
        return Err(item.wrong(
            format!(
                "`{}` is less than the {} that the links on the way there and back take",
                print_time(smallest),
                print_time(least)
            ),
            format!("write at least `{}`, or shorten the links", print_time(least)),
        ));
    }
    Ok(rtt)
}

/// The smallest and the largest round-trip time that a flow may have.
pub(super) fn extremes(rtt: &Rtt) -> (Time, Time) {
    match rtt {
        Rtt::Each(t) => (*t, *t),
        Rtt::Spread(a, b) | Rtt::Uniform(a, b) => (*a.min(b), *a.max(b)),
        Rtt::List(list) => {
            (list.iter().copied().min().unwrap_or_default(), list.iter().copied().max().unwrap_or_default())
        }
    }
}

/// A pair of durations of which the second is not the smaller.
fn ordered(item: &Item<'_>) -> Result<(Time, Time), ReadError> {
    let (a, b) = item.times()?;
    if a <= b {
        Ok((a, b))
    } else {
        Err(item.wrong(format!("`{}` ends before it begins", item.shown()), "write the smaller one first"))
    }
}

fn start(fields: &Fields<'_>, count: u32, duration: Time) -> Result<Start, ReadError> {
    let first_second = Start::Uniform(Time::ZERO, Time(Time::PER_SECOND).min(duration));
    let Some(item) = fields.find("start") else { return Ok(first_second) };
    let remedy = "write a time, `{ uniform = [\"0 s\", \"1 s\"] }`, or `{ every = \"5 s\" }`";
    let start = if item.node.table().is_some() {
        let fields = item.clone().fields(&["uniform", "every", "from"], &[], remedy)?;
        match (fields.find("uniform"), fields.find("every"), fields.find("from")) {
            (Some(pair), None, None) => {
                let (a, b) = ordered(&pair)?;
                Start::Uniform(a, b)
            }
            (None, Some(every), from) => Start::Every(from.map_or(Ok(Time::ZERO), |from| from.time())?, every.time()?),
            _ => return Err(item.is_not("a start", remedy)),
        }
    } else {
        Start::At(item.time()?)
    };
    let last = latest(&start, count);
    // A draw never reaches its upper end, so that may be the end of the run.
    let late = if matches!(start, Start::Uniform(a, b) if a < b) { last > duration } else { last >= duration };
    if late {
        return Err(item.wrong(
            format!("the last flow would start at {}, when the run is over", print_time(last)),
            format!("start all of them before {}, or run longer", print_time(duration)),
        ));
    }
    Ok(start)
}

/// The latest time at which a flow may start.
fn latest(start: &Start, count: u32) -> Time {
    match start {
        Start::At(t) | Start::Uniform(_, t) => *t,
        Start::Every(first, gap) => *first + Time(gap.0.saturating_mul(u64::from(count) - 1)),
    }
}

fn stop(fields: &Fields<'_>, start: &Start, count: u32) -> Result<Option<Time>, ReadError> {
    let Some(item) = fields.find("stop") else { return Ok(None) };
    let stop = item.time()?;
    let last = latest(start, count);
    if stop <= last {
        return Err(item.wrong(
            format!("the flows stop at {}, but the last may start at {}", print_time(stop), print_time(last)),
            format!("stop them after {}", print_time(last)),
        ));
    }
    Ok(Some(stop))
}

fn size(fields: &Fields<'_>) -> Result<Option<Size>, ReadError> {
    let Some(item) = fields.find("size") else { return Ok(None) };
    if item.as_text() == Some("unlimited") {
        return Ok(None);
    }
    if item.node.table().is_some_and(|t| t.contains_key("pareto")) {
        return Err(item.later("size = { pareto = ... }"));
    }
    let size = item.bytes()?;
    if size.0 == 0 {
        return Err(item.wrong("a transfer of nothing", "write at least `1 B`, or `unlimited`"));
    }
    Ok(Some(Size::Each(size)))
}

fn sender(fields: &Fields<'_>) -> Result<SenderOptions, ReadError> {
    let mut options = SenderOptions::default();
    let Some(item) = fields.find("sender") else { return Ok(options) };
    let fields = item.fields(SENDER, SENDER_LATER, "write a table, as in `{ initial_window = 2 }`")?;
    options.initial_window = fields.or("initial_window", 2.0, |item| {
        let window = item.window(1.0, false)?;
        if window > MOST_AT_ONCE {
            return Err(item.wrong(
                format!("{window} packets at once are too many"),
                format!("write a window of at most {MOST_AT_ONCE} packets"),
            ));
        }
        Ok(window)
    })?;
    options.initial_ssthresh = fields.or("ssthresh", f64::INFINITY, |item| item.window(1.0, true))?;
    options.receive_window = fields.or("receive_window", f64::INFINITY, |item| item.window(1.0, true))?;
    if let Some(item) = fields.find("min_rto") {
        options.min_rto = item.time()?;
        if options.min_rto == Time::ZERO {
            return Err(item.wrong("a timeout of nothing", "write a duration above zero, as in `200 ms`"));
        }
    }
    if let Some(item) = fields.find("recovery") {
        if item.as_text() == Some("reno") {
            return Err(item.later("recovery = \"reno\""));
        }
        options.recovery = item.word(&[("sack", Recovery::Sack), ("newreno", Recovery::NewReno)])?;
    }
    options.delayed_ack = fields.or("delayed_ack", 1, |item| item.whole(1, 2))? as u32;
    let echoes = [("per-packet", EcnEcho::PerPacket), ("classic", EcnEcho::Classic)];
    options.ecn_echo = fields.or("ecn_echo", EcnEcho::PerPacket, |item| item.word(&echoes))?;
    let pacings = [("law", Pacing::Law), ("off", Pacing::Off)];
    options.pacing = fields.or("pacing", Pacing::Law, |item| item.word(&pacings))?;
    let arithmetics = [("f64", Arithmetic::Real), ("fixed", Arithmetic::Fixed)];
    options.arithmetic = fields.or("arithmetic", Arithmetic::Real, |item| item.word(&arithmetics))?;
    Ok(options)
}
