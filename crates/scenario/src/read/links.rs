//! `[links.NAME]`: lines and the queues in front of them.

use penstock_law::aqm::{self, AQMS, Aqm, Serve};
use penstock_law::quantity::{Bytes, Rate, Time};

use super::error::Reported;
use super::law;
use super::line::{OnLine, on_line};
use super::route::Ends;
use super::schedule::{schedule, steps};
use super::table::{Fields, Item};
use super::trace::Traces;
use super::tree::Value;
use crate::format::{self, Discipline, LOSS, MOST_QUANTUM, MOST_WINDOW, WAY_BACK};
use crate::model::{Arithmetic, Buffer, By, Chosen, EcnOnLine, Link, LossSpacing, Packet, Policer, Scheduler, Service};
use crate::quantity::{self, Products};

/// Quantities that the size of a buffer may depend on.
#[derive(Clone, Copy)]
pub(super) enum Depends {
    /// So many bandwidth-delay products: the rate and the round-trip times of the flows.
    Products(Products),
    /// So long at the rate.
    Time(Time),
}

/// The tables that links are read with, as far as they could be read.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) packet: Option<Packet>,
    pub(super) duration: Option<Time>,
    pub(super) traces: &'a Traces<'a>,
}

/// A link on its way into the scenario: its buffer may depend on the flows that cross it.
pub(super) struct Line<'a> {
    pub(super) name: String,
    pub(super) item: Item<'a>,
    pub(super) link: Link,
    /// Where the buffer was written, and the quantity that its size depends on, if it does.
    depends: Option<(Item<'a>, Depends)>,
    /// Whether the buffer is that of the link before, whose way back this is.
    same_buffer: bool,
    /// Where the scheduler was written, if it was.
    pub(super) scheduler: Option<Item<'a>>,
}

impl Line<'_> {
    fn ends(&self) -> Ends {
        let Link { from, to, delay, .. } = &self.link;
        Ends { name: self.name.clone(), from: from.clone(), to: to.clone(), delay: *delay }
    }
}

/// `[links]` as read: the links, if nothing is wrong with any of them, and the ends of all, if each has two.
pub(super) struct Links<'a> {
    pub(super) lines: Result<Vec<Line<'a>>, Reported>,
    pub(super) ends: Option<Vec<Ends>>,
}

/// A link with an error, and its ends and whether it is duplex as far as they are known.
struct Broken {
    reported: Reported,
    ends: Option<(Ends, bool)>,
}

/// Reads `[links]`. Where the size of packets could not be read, values that depend on it are left unread.
pub(super) fn links<'a>(item: &Item<'a>, around: Around<'_>) -> Result<Links<'a>, Reported> {
    let before = item.errors.count();
    let entries = item.entries("write one table a link, as in `[links.bottleneck]`")?;
    let is_duplex = |name: &str| {
        let base = entries.iter().find(|(n, _)| *n == name).and_then(|(_, item)| item.node.table());
        base.and_then(|t| t.get("duplex")).is_some_and(|node| matches!(node.value, Value::Switch(true)))
    };
    let mut read = Vec::new();
    // A table that is no link may be the one that leads where the flows go.
    let mut ends = if item.errors.count() == before { Some(Vec::new()) } else { None };
    for (name, item) in &entries {
        if name.strip_suffix("/back").is_some_and(is_duplex) {
            continue;
        }
        let there = line(name, item.clone(), around);
        let back = format!("{name}/back");
        let over = entries.iter().find(|(n, _)| *n == back).map(|(_, item)| item.clone());
        let known = match &there {
            Ok((line, duplex)) => Some((line.ends(), *duplex)),
            Err(broken) => broken.ends.clone(),
        };
        let returning = match &there {
            Ok((there, true)) => Some(way_back(there, back.clone(), over, around)),
            _ => None,
        };
        match (&mut ends, known) {
            (Some(all), Some((there, duplex))) => {
                let turned = Ends { name: back, from: there.to.clone(), to: there.from.clone(), ..there.clone() };
                all.push(there);
                let returns = returning.as_ref().and_then(|line| line.as_ref().ok()).map(Line::ends);
                all.extend(duplex.then(|| returns.unwrap_or(turned)));
            }
            (all, None) => *all = None,
            (None, _) => {}
        }
        read.push(there.map(|(line, _)| line).map_err(|broken| broken.reported));
        read.extend(returning);
    }
    Ok(Links { lines: item.errors.each(before, read.into_iter()), ends })
}

/// Reads one link and returns whether it is duplex.
fn line<'a>(
    name: &str,
    item: Item<'a>,
    around @ Around { packet, traces, .. }: Around<'_>,
) -> Result<(Line<'a>, bool), Broken> {
    let fields = item.clone().fields(&format::LINK, "write a table, as in `[links.bottleneck]`");
    let fields = fields.map_err(|reported| Broken { reported, ends: None })?;
    let node = "write the name of a node, as in `\"left\"`";
    let end = |key: &str| fields.need(key, node).and_then(|item| Ok((item.name(node)?.to_owned(), item)));
    let (from, to) = (end("from"), end("to"));
    let to = match (&from, to) {
        (Ok((from, _)), Ok((to, item))) if *from == to => {
            Err(item.wrong(format!("`{to}` is also where the link begins"), "name another node"))
        }
        (_, to) => to,
    };
    let rate = fields.need("rate", "write a rate, as in `\"10 Mbit/s\"`").and_then(|item| service(&item, traces));
    let delay = fields
        .need("delay", "write the propagation delay one way, as in `\"10 ms\"`")
        .and_then(|item| delay(&item, around));
    let written = fields.need("buffer", "write `\"unlimited\"`, packets, bytes or `\"1 bdp\"`");
    let buffer = written.and_then(|written| Ok((buffer(&written, packet)?, written)));
    let site = site(rate.as_ref().ok().map(|(rate, _)| *rate), delay.as_ref().ok().map(|(delay, _)| *delay), packet);
    let aqm = aqm(&fields, None, site.as_ref());
    let scheduler = scheduler(&fields, Scheduler::Fifo, aqm.as_ref().ok(), packet);
    let policer = policer(&fields, packet);
    let loss = loss(&fields);
    let lose = lose_transmission(&fields);
    let on_line = on_line(&fields, loss.as_ref().ok().copied(), rate.as_ref().ok().map(highest));
    let arithmetic = arithmetic(&fields, Arithmetic::Real, aqm.as_ref().ok().map(|(aqm, _)| aqm));
    let duplex = fields.or("duplex", false, |item| item.switch());
    let ends = match (&from, &to, &duplex) {
        (Ok((from, _)), Ok((to, _)), Ok(duplex)) => {
            let delay = delay.as_ref().map_or(Time::ZERO, |(delay, _)| *delay);
            Some((Ends { name: name.to_owned(), from: from.clone(), to: to.clone(), delay }, *duplex))
        }
        _ => None,
    };
    let whole = || {
        let ((from, _), (to, _), (rate, service), ((buffer, depends), written)) = (from?, to?, rate?, buffer?);
        let ((aqm, _), (scheduler, scheduled), (loss, loss_spacing)) = (aqm?, scheduler?, loss?);
        let (arithmetic, (delay, delays), lose_transmission) = (arithmetic?, delay?, lose?);
        let policer = policer?;
        let OnLine { loss_burst, reorder, aggregation, duplicate, ecn } = on_line?;
        let link = Link {
            from,
            to,
            rate,
            service,
            delay,
            delays,
            buffer,
            policer,
            aqm,
            scheduler,
            loss,
            loss_spacing,
            lose_transmission,
            loss_burst,
            reorder,
            aggregation,
            duplicate,
            ecn,
            arithmetic,
        };
        let depends = depends.map(|depends| (written, depends));
        let line = Line { name: name.to_owned(), item, link, depends, same_buffer: false, scheduler: scheduled };
        Ok((line, duplex?))
    };
    whole().map_err(|reported| Broken { reported, ends })
}

/// The way back of a duplex link, with the changes of `over`.
fn way_back<'a>(
    there: &Line<'a>,
    name: String,
    over: Option<Item<'a>>,
    around @ Around { packet, traces, .. }: Around<'_>,
) -> Result<Line<'a>, Reported> {
    let mut link = Link {
        from: there.link.to.clone(),
        to: there.link.from.clone(),
        policer: None,
        loss: 0.0,
        loss_spacing: LossSpacing::Random,
        lose_transmission: None,
        loss_burst: None,
        reorder: None,
        aggregation: None,
        duplicate: 0.0,
        ecn: EcnOnLine::Keep,
        ..there.link.clone()
    };
    let Some(over) = over else {
        let (depends, item) = (there.depends.clone(), there.item.clone());
        return Ok(Line { name, item, link, depends, same_buffer: true, scheduler: None });
    };
    let remedy = "write a table, as in `[links.\"bottleneck/back\"]`";
    let fields = over.clone().fields_among(&format::LINK, |key| WAY_BACK.contains(&key), remedy)?;
    let rate = match fields.find("rate") {
        Some(item) => service(&item, traces),
        None => Ok((link.rate, link.service.clone())),
    };
    let delay = match fields.find("delay") {
        Some(item) => delay(&item, around),
        None => Ok((link.delay, link.delays.clone())),
    };
    let buffer = fields.find("buffer").map(|written| Ok((buffer(&written, packet)?, written))).transpose();
    let site = site(rate.as_ref().ok().map(|(rate, _)| *rate), delay.as_ref().ok().map(|(delay, _)| *delay), packet);
    let aqm = aqm(&fields, Some(link.aqm.clone()), site.as_ref());
    let scheduler = scheduler(&fields, link.scheduler, aqm.as_ref().ok(), packet);
    let policer = policer(&fields, packet);
    let loss = loss(&fields);
    let lose = lose_transmission(&fields);
    let on_line = on_line(&fields, loss.as_ref().ok().copied(), rate.as_ref().ok().map(highest));
    let arithmetic = arithmetic(&fields, link.arithmetic, aqm.as_ref().ok().map(|(aqm, _)| aqm));
    (link.rate, link.service) = rate?;
    (link.delay, link.delays) = delay?;
    let (mut depends, mut same_buffer) = (there.depends.clone(), true);
    if let Some(((buffer, on), written)) = buffer? {
        (link.buffer, depends, same_buffer) = (buffer, on.map(|on| (written, on)), false);
    }
    link.policer = policer?;
    let scheduled;
    (link.aqm, (link.scheduler, scheduled), (link.loss, link.loss_spacing)) = (aqm?.0, scheduler?, loss?);
    (link.lose_transmission, link.arithmetic) = (lose?, arithmetic?);
    let OnLine { loss_burst, reorder, aggregation, duplicate, ecn } = on_line?;
    link = Link { loss_burst, reorder, aggregation, duplicate, ecn, ..link };
    Ok(Line { name, item: over, link, depends, same_buffer, scheduler: scheduled })
}

/// Where a law of a queue runs, if all of it could be read.
fn site(rate: Option<Rate>, delay: Option<Time>, packet: Option<Packet>) -> Option<aqm::Context> {
    Some(aqm::Context { rate: rate?, delay: delay?, packet: packet?.wire, classes: Vec::new() })
}

/// The arithmetic of the AQM.
fn arithmetic(fields: &Fields<'_>, inherited: Arithmetic, aqm: Option<&Chosen<Aqm>>) -> Result<Arithmetic, Reported> {
    let arithmetic = fields.or("arithmetic", inherited, |item| item.choice())?;
    let Some(aqm) = aqm.filter(|aqm| arithmetic != Arithmetic::Real && aqm.law.fixed.is_none()) else {
        return Ok(arithmetic);
    };
    let place = fields.find("arithmetic").unwrap_or_else(|| fields.item.clone());
    Err(place.wrong(
        format!("the AQM `{}` has no implementation in fixed-point arithmetic", aqm.law.name),
        "write `\"f64\"`, or choose a law that has a kernel implementation",
    ))
}

/// The largest number of both keys of a policer: those of the contract that it is built of.
const MOST_OF_POLICER: u64 = 1_000_000_000_000;

/// The policer in front of the queue.
fn policer(fields: &Fields<'_>, packet: Option<Packet>) -> Result<Option<Policer>, Reported> {
    let Some(item) = fields.find("policer") else { return Ok(None) };
    let remedy = "write `{ rate = \"5 Mbit/s\", burst = \"30 kB\" }`";
    let inner = item.fields(&format::POLICER, remedy)?;
    let rate = inner.need("rate", remedy).and_then(|item| match item.rate()? {
        Rate(0) => Err(item.wrong("a bucket that never fills lets nothing pass", "write a rate above zero")),
        rate if rate.0 > MOST_OF_POLICER => {
            Err(item.wrong(format!("`{}` is out of range", item.shown()), "write at most `1 Tbit/s`"))
        }
        rate => Ok(rate),
    });
    let burst = inner.need("burst", remedy).and_then(|item| {
        let burst = item.bytes()?;
        if let Some(packet) = packet.filter(|packet| burst < packet.wire) {
            return Err(item.wrong(
                format!("a bucket of `{}` never has tokens for a packet", item.shown()),
                format!("write at least `{}`, one packet on the wire", quantity::print_bytes(packet.wire)),
            ));
        }
        if burst.0 > MOST_OF_POLICER {
            return Err(item.wrong(format!("`{}` is out of range", item.shown()), "write at most `1 TB`"));
        }
        Ok(burst)
    });
    Ok(Some(Policer { rate: rate?, burst: burst? }))
}

/// Losses on the line, and their spacing.
fn loss(fields: &Fields<'_>) -> Result<(f64, LossSpacing), Reported> {
    let loss = fields.or("loss", 0.0, |item| item.within(LOSS, "a probability of loss"));
    let Some(item) = fields.find("loss_spacing") else { return Ok((loss?, LossSpacing::Random)) };
    let (spacing, loss) = (item.choice()?, loss?);
    if loss > 0.0 || spacing == LossSpacing::Random {
        return Ok((loss, spacing));
    }
    // Defaults are for those who can use them.
    if item.node.inherited {
        return Ok((loss, LossSpacing::Random));
    }
    Err(item.wrong("`loss_spacing` has no effect without `loss`", "leave it out, or write a `loss` above zero"))
}

/// The one transmission of each flow that is lost whatever `loss` is: this, or drawn between two.
fn lose_transmission(fields: &Fields<'_>) -> Result<Option<(u32, u32)>, Reported> {
    let Some(item) = fields.find("lose_transmission") else { return Ok(None) };
    let number = |item: &Item<'_>| item.whole(1, MOST_WINDOW).map(|n| n as u32);
    let Value::List(_) = &item.node.value else { return number(&item).map(|n| Some((n, n))) };
    let remedy = "write a whole number, or two, the smaller first";
    match item.list(remedy)?.as_slice() {
        [least, most] => match (number(least)?, number(most)?) {
            (least, most) if least <= most => Ok(Some((least, most))),
            _ => Err(item.wrong("the larger number is first", remedy)),
        },
        _ => Err(item.is_not("a pair of transmissions", remedy)),
    }
}

/// A rate, a schedule of rates, or a trace: the rate at the start, and how it goes on.
fn service(item: &Item<'_>, traces: &Traces<'_>) -> Result<(Rate, Service), Reported> {
    match &item.node.value {
        Value::List(_) => {
            let (rate, changes) = schedule(item, rate_or_outage)?;
            // An outage may come later; buffers and laws are sized by the rate at the start.
            if rate.0 == 0 {
                return Err(item.wrong("a link that begins with an outage", "write a first rate above zero"));
            }
            Ok((rate, if changes.is_empty() { Service::Constant } else { Service::Schedule(changes) }))
        }
        Value::Table(_) => traces.trace(item),
        _ => Ok((carrying(item)?, Service::Constant)),
    }
}

/// A delay, and others from later times on.
fn delay(item: &Item<'_>, around: Around<'_>) -> Result<(Time, Vec<(Time, Time)>), Reported> {
    let (first, mut rest) = match &item.node.value {
        Value::List(_) => schedule(item, one_delay)?,
        Value::Table(_) if item.entry("trace").is_some() => around.traces.delays(item)?,
        Value::Table(_) => steps(item, &format::DELAY, around.duration.unwrap_or(Time(1)), one_delay)?,
        _ => return Ok((item.time()?, Vec::new())),
    };
    let mut before = first;
    rest.retain(|(_, delay)| std::mem::replace(&mut before, *delay) != *delay);
    Ok((first, rest))
}

fn one_delay(item: &Item<'_>) -> Result<Time, Reported> {
    item.time()
}

/// The highest rate of a schedule; the mean of a trace.
fn highest((rate, service): &(Rate, Service)) -> Rate {
    service.changes().iter().map(|(_, rate)| *rate).fold(*rate, Rate::max)
}

fn rate_or_outage(item: &Item<'_>) -> Result<Rate, Reported> {
    item.rate()
}

/// A rate above zero.
pub(super) fn carrying(item: &Item<'_>) -> Result<Rate, Reported> {
    let rate = item.rate()?;
    if rate.0 == 0 {
        return Err(item.wrong(format!("a link at `{}` carries nothing", item.shown()), "write a rate above zero"));
    }
    Ok(rate)
}

/// Which packet goes next, and where that was written: as here, or as `inherited`.
fn scheduler<'a>(
    fields: &Fields<'a>,
    inherited: Scheduler,
    aqm: Option<&(Chosen<Aqm>, Option<aqm::Requirements>)>,
    packet: Option<Packet>,
) -> Result<(Scheduler, Option<Item<'a>>), Reported> {
    let item = fields.find("scheduler");
    let scheduler = match &item {
        None => inherited,
        Some(item) => {
            let remedy = "write `{ law = \"fifo\" }` or `{ law = \"drr\" }`";
            let fields = item.clone().fields(&format::SCHEDULER, remedy)?;
            match fields.need("law", remedy)?.choice()? {
                Discipline::Fifo => {
                    if let Some(item) = ["by", "quantum"].iter().find_map(|key| fields.find(key)) {
                        return Err(item.wrong(
                            "first in, first out has one queue and no turns",
                            "leave it out, or write `law = \"drr\"`",
                        ));
                    }
                    Scheduler::Fifo
                }
                Discipline::Drr => {
                    let by = fields.or("by", By::Flow, |item| item.choice());
                    let whole = packet.map_or(Bytes(1), |packet| packet.wire);
                    let quantum = fields.or("quantum", whole, |item| quantum(&item));
                    Scheduler::Drr { by: by?, quantum: quantum? }
                }
            }
        }
    };
    let Some((aqm, Some(needs))) = aqm else { return Ok((scheduler, item)) };
    if scheduler != Scheduler::Fifo && needs.serve != Serve::Scheduler {
        let place = item.or_else(|| fields.find("aqm")).unwrap_or_else(|| fields.item.clone());
        return Err(place.wrong(
            format!("the AQM `{}` schedules packets itself, so it cannot run under a scheduler", aqm.law.name),
            "write `scheduler = { law = \"fifo\" }`, or another AQM",
        ));
    }
    if scheduler != Scheduler::Fifo && needs.classes {
        let place = item.or_else(|| fields.find("aqm")).unwrap_or_else(|| fields.item.clone());
        return Err(place.wrong(
            format!(
                "the AQM `{}` separates classes in one queue, so it cannot run under a scheduler with several queues",
                aqm.law.name
            ),
            "write `scheduler = { law = \"fifo\" }`, or another AQM",
        ));
    }
    Ok((scheduler, item))
}

fn quantum(item: &Item<'_>) -> Result<Bytes, Reported> {
    let quantum = item.bytes()?;
    if (1..=MOST_QUANTUM).contains(&quantum.0) {
        return Ok(quantum);
    }
    Err(item.wrong(format!("a quantum of `{}` is out of range", item.shown()), "write `1 B` to `1 GB`"))
}

/// A buffer, or the quantity that its size depends on.
pub(super) fn buffer(item: &Item<'_>, packet: Option<Packet>) -> Result<(Buffer, Option<Depends>), Reported> {
    let remedy = "write `unlimited`, or packets, bytes, a time at the rate or bandwidth-delay products, as in `100 packets`, \
                  `8 MB`, `50 ms`, `1 bdp`";
    let text = item.as_text().ok_or_else(|| item.is_not("a buffer", remedy))?;
    if text == "unlimited" {
        return Ok((Buffer::Unlimited, None));
    }
    if let Some(products) = quantity::bdp(text) {
        let products = products.map_err(|e| item.because(&e))?;
        if !(products.count > 0.0 && products.count <= 1e6) {
            return Err(item.wrong(format!("`{text}` is out of range"), "write more than 0 bdp, at most 1000000"));
        }
        return Ok((Buffer::Unlimited, Some(Depends::Products(products))));
    }
    if quantity::names_packets(text) {
        let packets = quantity::packets(text).map_err(|e| item.because(&e))?;
        if packets == 0 {
            return Err(item.wrong(format!("a buffer of `{text}` cannot hold a packet"), "write at least `1 packet`"));
        }
        return Ok((Buffer::Packets(packets), None));
    }
    if quantity::names_time(text) {
        return Ok((Buffer::Unlimited, Some(Depends::Time(item.time()?))));
    }
    let bytes = quantity::bytes(text).map_err(|mut e| {
        if e.found.ends_with("is not a size") {
            e.found = format!("`{text}` is not a buffer");
            let meant =
                quantity::suggestion(text, &[&quantity::PACKETS, &quantity::SIZE, &quantity::TIME, &quantity::BDP]);
            e.remedy = meant.unwrap_or_else(|| remedy.into());
        }
        item.because(&e)
    })?;
    if let Some(packet) = packet.filter(|packet| bytes < packet.wire) {
        return Err(item.wrong(
            format!("a buffer of `{text}` cannot hold a packet"),
            format!("write at least `{}`, one packet on the wire", quantity::print_bytes(packet.wire)),
        ));
    }
    Ok((Buffer::Bytes(bytes), None))
}

/// The law of a queue: that of the file, that of the way there, or drop-tail. Also its requirements on its host at a link, if
/// that is known.
fn aqm(
    fields: &Fields<'_>,
    inherited: Option<Chosen<Aqm>>,
    site: Option<&aqm::Context>,
) -> Result<(Chosen<Aqm>, Option<aqm::Requirements>), Reported> {
    let item = fields.find("aqm");
    let chosen = match (&item, inherited) {
        (Some(item), _) => law::law(item)?,
        (None, Some(inherited)) => inherited,
        (None, None) => {
            let droptail = &AQMS[0];
            Chosen { law: droptail, values: penstock_law::Values::defaults(droptail.parameters) }
        }
    };
    let place = item.unwrap_or_else(|| fields.item.clone());
    let needs = site.map(|site| law::compile(&place, &chosen, site)).transpose()?;
    Ok((chosen, needs))
}

/// The largest size that can be written [B].
const MOST_BYTES: u64 = 1_000_000_000_000_000_000;

/// Bytes that arrive in a time at a rate, rounded up.
pub(super) fn in_time(item: &Item<'_>, time: Time, rate: Rate, wire: Bytes) -> Result<Buffer, Reported> {
    let work = u128::from(rate.0) * u128::from(time.0);
    let bytes =
        Bytes(u64::try_from(work.div_ceil(8 * u128::from(Time::PER_SECOND))).unwrap_or(MOST_BYTES).min(MOST_BYTES));
    if bytes >= wire {
        return Ok(Buffer::Bytes(bytes));
    }
    let (rate, bytes) = (quantity::print_rate(rate), quantity::print_bytes(bytes));
    Err(item.wrong(
        format!("a buffer of `{}` at {rate} holds {bytes}, which is less than a packet", item.shown()),
        format!("a packet has {} on the wire, so write a longer time", quantity::print_bytes(wire)),
    ))
}

/// Turns times at the rate into bytes, and bandwidth-delay products into packets of full size or into bytes, rounded up. The rate
/// is that at the start, or the mean of a trace. `largest_rtts` are, for each link, those of the
/// flows whose data or acknowledgements cross it.
pub(super) fn settle_buffers(lines: &mut [Line<'_>], largest_rtts: &[Option<Time>], wire: Bytes) {
    for (at, line) in lines.iter_mut().enumerate() {
        let Some((item, depends)) = line.depends.take() else { continue };
        let products = match depends {
            Depends::Products(products) => products,
            Depends::Time(time) => {
                // What is wrong has been reported.
                let Ok(buffer) = in_time(&item, time, line.link.rate, wire) else { continue };
                line.link.buffer = buffer;
                continue;
            }
        };
        // A way back that nothing takes still has the buffer of the way there.
        let there = if line.same_buffer { largest_rtts[at - 1] } else { None };
        let Some(rtt) = largest_rtts[at].or(there) else {
            item.wrong(
                format!(
                    "a buffer of `{}` needs the round-trip time of a flow, and no flow crosses the link `{}`",
                    item.shown(),
                    line.name
                ),
                "write packets or bytes, as in `100 packets`",
            );
            continue;
        };
        let bits = products.count * line.link.rate.bit_per_s() * rtt.seconds();
        // What is a whole number but for the rounding of the product is that number.
        let whole = |x: f64| (x * (1.0 - 1e-12)).ceil().clamp(1.0, 1e15) as u64;
        line.link.buffer = if products.of_bytes {
            Buffer::Bytes(Bytes(whole(bits / 8.0).max(wire.0)))
        } else {
            Buffer::Packets(whole(bits / wire.bits()))
        };
    }
}
