//! `[flows.NAME]`: groups of flows, their routes, delays, starts and laws.

mod sender;
mod traffic;

use penstock_law::Values;
use penstock_law::cc::{Needs, Site};
use penstock_law::quantity::Time;

pub(super) use traffic::mean_s;

use super::error::{ReadError, offer};
use super::law::{self, Changing, SenderLaw};
use super::links::Line;
use super::route::shortest;
use super::table::{Fields, Item};
use super::tree::Value;
use crate::format::{self, MOST_FLOWS};
use crate::model::{Chosen, Group, Packet, Rtt, Start};
use crate::quantity::print_time;

/// What a group is read against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) lines: &'a [Line<'a>],
    pub(super) packet: Packet,
    pub(super) duration: Time,
}

/// Reads one group.
pub(super) fn group(item: &Item<'_>, around: Around<'_>) -> Result<Group, ReadError> {
    let fields = item.clone().fields(&format::FLOWS, "write a table, as in `[flows.ftp]`")?;
    let count = fields.or("count", 1, |item| item.whole(1, MOST_FLOWS))? as u32;
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
    let series = fields.or("series", false, |item| item.switch())?;
    let mut options = sender::options(&fields)?;

    let cc_item = fields.need("cc", "name the law of its senders, as in `{ law = \"newreno\" }`")?;
    let law = law::sender_law(&cc_item, around.duration)?;
    let site = Site {
        packet: around.packet.wire,
        initial_window: options.initial_window,
        initial_ssthresh: options.initial_ssthresh,
    };
    let needs = law::compile(&cc_item, &law.chosen, &site)?;
    let repeats = traffic::repeats(&fields, &law.chosen, &needs)?;
    sender::check(&fields, &mut options, &law.chosen, &needs, &site, repeats.is_some())?;
    let (steps, spacing_jitter) = by_itself(&law, &cc_item, &needs, &site)?;
    let names = |links: Vec<usize>| links.into_iter().map(|at| around.lines[at].name.clone()).collect();
    Ok(Group {
        count,
        from,
        to,
        forward: names(forward),
        backward: names(backward),
        rtt,
        start,
        stop,
        size: traffic::size(&fields)?,
        repeats,
        on_off: traffic::on_off(&fields, count, around.duration)?,
        class: fields
            .find("class")
            .map(|item| item.handle("write the name of a class, as in `\"tcp\"`"))
            .transpose()?
            .map(str::to_owned),
        access: traffic::access(&fields, around.packet)?,
        jitter: traffic::jitter(&fields)?,
        ack_jitter: traffic::ack_jitter(&fields, &law.chosen, &needs)?,
        steps,
        spacing_jitter,
        cc: law.chosen,
        series,
        sender: options,
    })
}

/// What a law has that answers nothing: other parameters from times on, and how far its gaps vary.
fn by_itself(
    law: &SenderLaw<'_>,
    cc_item: &Item<'_>,
    needs: &Needs,
    site: &Site,
) -> Result<(Vec<(Time, Values)>, f64), ReadError> {
    let spacing = law.spacing_jitter.as_ref();
    if needs.reliable {
        let name = law.chosen.law.name;
        if let Some(changing) = law.changing.first() {
            return Err(changing.item.wrong(
                format!("`{}` of the law `{name}` cannot follow a schedule", changing.parameter.name),
                "write one value: only a law that answers nothing, such as `cbr`, is told what to do by the clock",
            ));
        }
        if let Some((item, _)) = spacing {
            return Err(item.wrong(
                format!("the law `{name}` has no parameter `{}`", law::SPACING_JITTER),
                "leave it out: only the gaps of a law that answers nothing, such as `cbr`, are drawn",
            ));
        }
    }
    let steps = steps(&law.chosen.values, &law.changing);
    for (_, values) in &steps {
        law::compile(cc_item, &Chosen { law: law.chosen.law, values: values.clone() }, site)?;
    }
    Ok((steps, spacing.map_or(0.0, |(_, share)| *share)))
}

/// The values of all parameters at each time where one of them changes.
fn steps(start: &Values, changing: &[Changing<'_>]) -> Vec<(Time, Values)> {
    let mut changes: Vec<_> =
        changing.iter().flat_map(|c| c.rest.iter().map(move |(time, value)| (*time, c.parameter, *value))).collect();
    changes.sort_by_key(|(time, _, _)| *time);
    let (mut steps, mut values) = (Vec::new(), start.clone());
    for at_once in changes.chunk_by(|a, b| a.0 == b.0) {
        let before = values.clone();
        for (_, parameter, value) in at_once {
            // The range was seen to when the value was read.
            let _ = values.set(parameter, *value);
        }
        if values != before {
            steps.push((at_once[0].0, values.clone()));
        }
    }
    steps
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
            if list.is_empty() {
                return Err(item.wrong(
                    "a list without round-trip times",
                    format!("write one a flow, {count} of them, or leave `rtt` out"),
                ));
            }
            if list.len() != count as usize {
                return Err(item.wrong(
                    format!("{} round-trip times for {count} flows", list.len()),
                    format!("write one a flow, or `count = {}`", list.len()),
                ));
            }
            Rtt::List(list)
        }
        Value::Table(_) => {
            let (kind, pair) = item.one_of(&format::RTT, "a round-trip time", remedy)?;
            if kind == "spread" {
                let (a, b) = pair.times()?;
                Rtt::Spread(a, b)
            } else {
                let (a, b) = pair.range_of_times()?;
                Rtt::Uniform(a, b)
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

fn start(fields: &Fields<'_>, count: u32, duration: Time) -> Result<Start, ReadError> {
    let first_second = Start::Uniform(Time::ZERO, Time(Time::PER_SECOND).min(duration));
    let Some(item) = fields.find("start") else { return Ok(first_second) };
    let remedy = "write a time, `{ uniform = [\"0 s\", \"1 s\"] }`, or `{ every = \"5 s\" }`";
    let start = if item.node.table().is_some() {
        let fields = item.clone().fields(&format::START, remedy)?;
        match (fields.find("uniform"), fields.find("every"), fields.find("from")) {
            (Some(pair), None, None) => {
                let (a, b) = pair.range_of_times()?;
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
