//! `[flows.NAME]`: groups of flows, their routes, delays, starts and laws.

mod application;
mod sender;
mod traffic;

use penstock_law::Values;
use penstock_law::cc;
use penstock_law::quantity::Time;

pub(super) use traffic::mean_s;

use super::error::{Reported, offer};
use super::law::{self, Changing, SenderLaw};
use super::packet;
use super::route::{Ends, shortest};
use super::table::{Fields, Item};
use super::trace::Traces;
use super::tree::Value;
use crate::format::{self, LOSS, MOST_CONNECTIONS, MOST_FLOWS, SPACING_JITTER};
use crate::model::Profile;
use crate::model::{Application, Chosen, Group, Packet, Rtt, Start};
use crate::quantity::print_time;

/// The tables that a group is read against; none of those that could not be read themselves.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) links: Option<&'a [Ends]>,
    pub(super) packet: Option<Packet>,
    pub(super) duration: Option<Time>,
    pub(super) traces: &'a Traces<'a>,
}

/// Reads one group.
pub(super) fn group(item: &Item<'_>, around: Around<'_>) -> Result<Group, Reported> {
    let fields = item.clone().fields(&format::FLOWS, "write a table, as in `[flows.ftp]`")?;
    let application = application::application(&fields);
    let count = match fields.find("count") {
        Some(item) => item.whole(1, MOST_FLOWS).map(|count| count as u32),
        None => Ok(default_count(&fields, around.duration, application.as_ref().ok())),
    };
    let way = way(&fields, around.links);
    let least = way.as_ref().ok().and_then(|way| way.as_ref().map(|way| way.delay));
    let rtt = rtt(&fields, count.ok(), least);
    // Transfers arrive from the first start on; how many connections there are for them does not matter.
    let starts = if fields.find("arrivals").is_some() { Some(1) } else { count.ok() };
    let start = start(&fields, starts, around.duration);
    let stop = stop(&fields, start.as_ref().ok().zip(starts));
    let series = fields.or("series", false, |item| item.switch());
    let options = sender::options(&fields);
    let size = traffic::size(&fields, around.traces);
    let on_off = traffic::on_off(&fields, count.ok(), around.duration);
    let class = fields.find("class").map(|item| item.handle("write the name of a class, as in `\"tcp\"`"));
    let own_packet = packet::of_group(&fields, around.packet);
    let packet = own_packet.as_ref().ok().and_then(|own| own.or(around.packet));
    let access = traffic::access(&fields, packet);
    let jitter = traffic::jitter(&fields);
    let loss = fields.or("loss", 0.0, |item| item.within(LOSS, "a probability of loss"));
    let host = options.as_ref().map_or(Profile::Ns2, |options| options.profile);
    let law = fields
        .need("cc", "name the law of its senders, as in `{ law = \"newreno\" }`")
        .and_then(|cc| Ok((law::sender_law(&cc, around.duration, host)?, cc)));

    // What the law is asked depends on everything around it.
    let ((law, cc), mut options) = (law?, options?);
    let (own_packet, Some(packet)) = (own_packet?, packet) else { return Err(item.errors.already()) };
    let site = cc::Context {
        packet: packet.wire,
        initial_window: options.initial_window,
        initial_ssthresh: options.initial_ssthresh,
    };
    let needs = law::compile(&cc, &law.chosen, &site)?;
    let repeats = traffic::repeats(&fields, &law.chosen, &needs, size.as_ref().ok());
    if let Ok(Some(application)) = &application {
        application::check(
            &fields,
            application,
            (&law.chosen, &needs),
            (size.as_ref().ok(), count.as_ref().ok().copied()),
        );
    }
    let checked = sender::check(&fields, &mut options, (&law.chosen, &cc), &needs, &site);
    let by_itself = by_itself(&law, &cc, &needs, &site);
    let ack_jitter = traffic::ack_jitter(&fields, &law.chosen, &needs);
    checked?;
    let ((steps, spacing_jitter), Some(way)) = (by_itself?, way?) else { return Err(item.errors.already()) };
    Ok(Group {
        count: count?,
        from: way.from,
        to: way.to,
        forward: way.forward,
        backward: way.backward,
        rtt: rtt?,
        packet: own_packet,
        start: start?,
        stop: stop?,
        size: size?,
        repeats: repeats?,
        application: application?,
        on_off: on_off?,
        class: class.transpose()?.map(str::to_owned),
        access: access?,
        jitter: jitter?,
        ack_jitter: ack_jitter?,
        loss: loss?,
        steps,
        spacing_jitter,
        cc: law.chosen,
        series: series?,
        sender: options,
    })
}

/// The default number of flows. Transfers that arrive shall not wait for each other: each has a
/// connection, or one run in a billion has a transfer too many (a Poisson number exceeds its mean by six standard deviations).
fn default_count(fields: &Fields<'_>, duration: Option<Time>, application: Option<&Option<Application>>) -> u32 {
    if let Some(Some(Application::Page(page))) = application {
        return page.connections;
    }
    let (Some(per_s), Some(duration)) = (traffic::arrivals_per_s(fields), duration) else { return 1 };
    if let Some(Value::List(each)) = fields.find("rtt").as_ref().map(|item| &item.node.value) {
        return u32::try_from(each.len()).unwrap_or(MOST_CONNECTIONS).clamp(1, MOST_CONNECTIONS);
    }
    let mean = per_s * duration.seconds();
    let most = (mean + 6.0 * mean.sqrt()).ceil();
    // `as` saturates.
    (most as u32).clamp(1, MOST_CONNECTIONS)
}

/// Where flows go.
struct Way {
    from: String,
    to: String,
    forward: Vec<String>,
    backward: Vec<String>,
    /// Delay of its links there and back.
    delay: Time,
}

/// Reads where flows go; nothing without links.
fn way(fields: &Fields<'_>, links: Option<&[Ends]>) -> Result<Option<Way>, Reported> {
    let (from, to) = (node(fields, "from", links), node(fields, "to", links));
    let (from, to) = (from?, to?);
    let Some(links) = links else { return Ok(None) };
    let forward = match fields.find("via") {
        Some(via) => along(&via, &from, &to, links)?,
        None => route(fields, &from, &to, links)?,
    };
    let backward = shortest(links, &to, &from).unwrap_or_default();
    let delay = forward.iter().chain(&backward).fold(Time::ZERO, |sum, at| sum + links[*at].delay);
    let names = |way: Vec<usize>| way.into_iter().map(|at| links[at].name.clone()).collect();
    Ok(Some(Way { from, to, forward: names(forward), backward: names(backward), delay }))
}

/// Keys of an unresponsive law: other parameters from times on, and the jitter of its gaps.
fn by_itself(
    law: &SenderLaw<'_>,
    cc_item: &Item<'_>,
    needs: &cc::Requirements,
    site: &cc::Context,
) -> Result<(Vec<(Time, Values)>, f64), Reported> {
    let spacing = law.spacing_jitter.as_ref();
    if needs.reliable {
        let name = law.chosen.law.name;
        for changing in &law.changing {
            changing.item.wrong(
                format!("the parameter `{}` of the law `{name}` cannot change over time", changing.parameter.name),
                "write one value: only the parameters of a law without congestion control, such as `cbr`, change \
                 over time",
            );
        }
        if let Some((item, _)) = spacing {
            item.wrong(
                format!("the law `{name}` has no parameter `{SPACING_JITTER}`"),
                "leave it out: only a law without congestion control, such as `cbr`, has random gaps",
            );
        }
        return Ok((Vec::new(), 0.0));
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
fn node(fields: &Fields<'_>, key: &str, links: Option<&[Ends]>) -> Result<String, Reported> {
    let remedy = "write the name of a node, as in `\"left\"`";
    let item = fields.need(key, remedy)?;
    let name = item.name(remedy)?;
    let Some(links) = links else { return Ok(name.to_owned()) };
    let mut known: Vec<&str> = Vec::new();
    for link in links {
        for end in [link.from.as_str(), link.to.as_str()] {
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
fn route(fields: &Fields<'_>, from: &str, to: &str, links: &[Ends]) -> Result<Vec<usize>, Reported> {
    let item = fields.need("to", "")?;
    if from == to {
        return Err(item.wrong(format!("`{to}` is also where the flow begins"), "name another node"));
    }
    shortest(links, from, to).ok_or_else(|| {
        item.wrong(format!("no route leads from `{from}` to `{to}`"), "add a link, or `duplex = true` to one")
    })
}

/// The way by `via`, checked link by link.
fn along(via: &Item<'_>, from: &str, to: &str, links: &[Ends]) -> Result<Vec<usize>, Reported> {
    let remedy = "write the names of links in order, as in `[\"bottleneck\"]`";
    let (mut at, mut way) = (from, Vec::new());
    for item in via.list(remedy)? {
        let name = item.name(remedy)?;
        let Some(place) = links.iter().position(|link| link.name == name) else {
            let known: Vec<_> = links.iter().map(|link| link.name.as_str()).collect();
            return Err(item.wrong(format!("no link is named `{name}`"), offer(name, &known, "link")));
        };
        let link = &links[place];
        if link.from != at {
            return Err(item.wrong(
                format!("the link `{name}` of `via` begins at `{}`, but the route so far ends at `{at}`", link.from),
                format!("name a link that begins at `{at}`"),
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

fn rtt(fields: &Fields<'_>, count: Option<u32>, least: Option<Time>) -> Result<Rtt, Reported> {
    let least = least.unwrap_or_default();
    let Some(item) = fields.find("rtt") else { return Ok(Rtt::Each(least)) };
    let remedy = "write a duration, `{ spread = [...] }`, `{ uniform = [...] }`, or a list of one a flow";
    let rtt = match &item.node.value {
        Value::List(_) => {
            let before = item.errors.count();
            let list = item.errors.each(before, item.list(remedy)?.iter().map(Item::time))?;
            if list.is_empty() {
                let each = count.map_or_else(String::new, |count| format!(", {count} of them"));
                return Err(item.wrong(
                    "a list without round-trip times",
                    format!("write one round-trip time for each flow{each}, or leave `rtt` out"),
                ));
            }
            if let Some(count) = count.filter(|count| list.len() != *count as usize) {
                return Err(item.wrong(
                    format!("{} round-trip times for {count} flows", list.len()),
                    format!("write one for each flow, or `count = {}`", list.len()),
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

fn start(fields: &Fields<'_>, count: Option<u32>, duration: Option<Time>) -> Result<Start, Reported> {
    let first_second = Start::Uniform(Time::ZERO, Time(Time::PER_SECOND).min(duration.unwrap_or(Time::NEVER)));
    let Some(item) = fields.find("start") else { return Ok(first_second) };
    let remedy = "write a time, `{ uniform = [\"0 s\", \"1 s\"] }`, or `{ every = \"5 s\" }`";
    let start = if item.node.table().is_some() {
        let fields = item.clone().fields(&format::START, remedy)?;
        match (fields.find("uniform"), fields.find("every"), fields.find("from")) {
            (Some(pair), None, None) => {
                let (a, b) = pair.range_of_times()?;
                Start::Uniform(a, b)
            }
            (None, Some(every), from) => {
                let (from, every) = (from.map_or(Ok(Time::ZERO), |from| from.time()), every.time());
                Start::Every(from?, every?)
            }
            _ => return Err(item.is_not("a start", remedy)),
        }
    } else {
        Start::At(item.time()?)
    };
    let (Some(count), Some(duration)) = (count, duration) else { return Ok(start) };
    let last = latest(&start, count);
    // A draw never reaches its upper end, so that may be the end of the run.
    let late = if matches!(start, Start::Uniform(a, b) if a < b) { last > duration } else { last >= duration };
    if late {
        return Err(item.wrong(
            format!("the last flow would start at {}, when the run is over", print_time(last)),
            format!("start all flows before {}, or write a longer `duration`", print_time(duration)),
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

fn stop(fields: &Fields<'_>, start: Option<(&Start, u32)>) -> Result<Option<Time>, Reported> {
    let Some(item) = fields.find("stop") else { return Ok(None) };
    let stop = item.time()?;
    if let Some(last) = start.map(|(start, count)| latest(start, count)).filter(|last| stop <= *last) {
        return Err(item.wrong(
            format!("the flows stop at {}, but the last may start at {}", print_time(stop), print_time(last)),
            format!("stop them after {}", print_time(last)),
        ));
    }
    Ok(Some(stop))
}
