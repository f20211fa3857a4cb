//! `[links.NAME]`: lines and the queues in front of them.

use penstock_law::aqm::{AQMS, Needs, Queue, Serve, Site};
use penstock_law::law::find;
use penstock_law::quantity::{Bytes, Rate, Time};

use super::error::ReadError;
use super::law;
use super::schedule::schedule;
use super::table::{Fields, Item};
use super::trace::{Traces, mean_rate};
use super::tree::Value;
use crate::format::{self, Discipline, LOSS, MOST_QUANTUM, WAY_BACK};
use crate::model::{Arithmetic, Buffer, By, Chosen, Group, Link, LossSpacing, Packet, Scheduler, Service};
use crate::quantity::{self, Products};

/// A link on its way into the scenario: its buffer may depend on the flows that cross it.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) name: String,
    pub(super) item: Item<'a>,
    pub(super) link: Link,
    /// Where the buffer was written, and how many bandwidth-delay products it is, if it is given so.
    bdp: Option<(Item<'a>, Products)>,
    /// Whether the buffer is that of the link before, whose way back this is.
    same_buffer: bool,
    /// Where the scheduler was written, if it was.
    scheduler: Option<Item<'a>>,
}

/// Reads `[links]`.
pub(super) fn links<'a>(item: &Item<'a>, packet: Packet, traces: &Traces<'_>) -> Result<Vec<Line<'a>>, ReadError> {
    let entries = item.entries("write one table a link, as in `[links.bottleneck]`")?;
    let is_duplex = |name: &str| {
        let base = entries.iter().find(|(n, _)| *n == name).and_then(|(_, item)| item.node.table());
        base.and_then(|t| t.get("duplex")).is_some_and(|node| matches!(node.value, Value::Switch(true)))
    };
    let mut lines = Vec::new();
    for (name, item) in &entries {
        if name.strip_suffix("/back").is_some_and(is_duplex) {
            continue;
        }
        let duplex = line(name, item.clone(), packet, traces, &mut lines)?;
        if duplex {
            let back = format!("{name}/back");
            let over = entries.iter().find(|(n, _)| *n == back).map(|(_, item)| item.clone());
            way_back(back, over, packet, traces, &mut lines)?;
        }
    }
    Ok(lines)
}

/// Reads one link and answers whether it is duplex.
fn line<'a>(
    name: &str,
    item: Item<'a>,
    packet: Packet,
    traces: &Traces<'_>,
    lines: &mut Vec<Line<'a>>,
) -> Result<bool, ReadError> {
    let fields = item.clone().fields(&format::LINK, "write a table, as in `[links.bottleneck]`")?;
    let node = "write the name of a node, as in `\"left\"`";
    let from = fields.need("from", node)?.name(node)?.to_owned();
    let to_item = fields.need("to", node)?;
    let to = to_item.name(node)?.to_owned();
    if from == to {
        return Err(to_item.wrong(format!("`{to}` is also where the link begins"), "name another node"));
    }
    let (rate, service) = service(&fields.need("rate", "write a rate, as in `\"10 Mbit/s\"`")?, traces)?;
    let delay = fields.need("delay", "write the propagation delay one way, as in `\"10 ms\"`")?.time()?;
    let written = fields.need("buffer", "write `\"unlimited\"`, packets, bytes or `\"1 bdp\"`")?;
    let (buffer, bdp) = buffer(&written, packet)?;
    let (aqm, needs) = aqm(&fields, None, rate, delay, packet)?;
    let (scheduler, scheduled) = scheduler(&fields, Scheduler::Fifo, &aqm, &needs, packet)?;
    let (loss, loss_spacing) = loss(&fields)?;
    let arithmetic = arithmetic(&fields, Arithmetic::Real, &aqm)?;
    let duplex = fields.or("duplex", false, |item| item.switch())?;
    let link = Link { from, to, rate, service, delay, buffer, aqm, scheduler, loss, loss_spacing, arithmetic };
    let bdp = bdp.map(|n| (written, n));
    lines.push(Line { name: name.to_owned(), item, link, bdp, same_buffer: false, scheduler: scheduled });
    Ok(duplex)
}

/// Adds the way back of the duplex link that was read last, with what `over` changes of it.
fn way_back<'a>(
    name: String,
    over: Option<Item<'a>>,
    packet: Packet,
    traces: &Traces<'_>,
    lines: &mut Vec<Line<'a>>,
) -> Result<(), ReadError> {
    let Some(there) = lines.last() else { return Ok(()) };
    let mut item = there.item.clone();
    let mut link = Link {
        from: there.link.to.clone(),
        to: there.link.from.clone(),
        loss: 0.0,
        loss_spacing: LossSpacing::Random,
        ..there.link.clone()
    };
    let (mut bdp, mut same_buffer, mut scheduled) = (there.bdp.clone(), true, None);
    if let Some(over) = over {
        let remedy = "write a table, as in `[links.\"bottleneck/back\"]`";
        let fields = over.clone().fields_among(&format::LINK, |key| WAY_BACK.contains(&key), remedy)?;
        if let Some(item) = fields.find("rate") {
            (link.rate, link.service) = service(&item, traces)?;
        }
        link.delay = fields.or("delay", link.delay, |item| item.time())?;
        if let Some(written) = fields.find("buffer") {
            let products;
            (link.buffer, products) = buffer(&written, packet)?;
            (bdp, same_buffer) = (products.map(|n| (written, n)), false);
        }
        let needs;
        (link.aqm, needs) = aqm(&fields, Some(link.aqm), link.rate, link.delay, packet)?;
        (link.scheduler, scheduled) = scheduler(&fields, link.scheduler, &link.aqm, &needs, packet)?;
        (link.loss, link.loss_spacing) = loss(&fields)?;
        link.arithmetic = arithmetic(&fields, link.arithmetic, &link.aqm)?;
        item = over;
    }
    lines.push(Line { name, item, link, bdp, same_buffer, scheduler: scheduled });
    Ok(())
}

/// What the AQM computes with.
fn arithmetic(fields: &Fields<'_>, inherited: Arithmetic, aqm: &Chosen<Queue>) -> Result<Arithmetic, ReadError> {
    let arithmetic = fields.or("arithmetic", inherited, |item| item.choice())?;
    if arithmetic == Arithmetic::Real || aqm.law.fixed.is_some() {
        return Ok(arithmetic);
    }
    let place = fields.find("arithmetic").unwrap_or_else(|| fields.item.clone());
    Err(place.wrong(
        format!("the AQM `{}` has no fixed-point build", aqm.law.name),
        "write `\"f64\"`, or choose a law that has a twin for the kernel",
    ))
}

/// What is lost on the line, and how it is spaced.
fn loss(fields: &Fields<'_>) -> Result<(f64, LossSpacing), ReadError> {
    let loss = fields.or("loss", 0.0, |item| item.within(LOSS, "a probability of loss"))?;
    let Some(item) = fields.find("loss_spacing") else { return Ok((loss, LossSpacing::Random)) };
    let spacing = item.choice()?;
    if loss > 0.0 || spacing == LossSpacing::Random {
        return Ok((loss, spacing));
    }
    // Defaults are for those who can use them.
    if item.node.inherited {
        return Ok((loss, LossSpacing::Random));
    }
    Err(item.wrong(
        "nothing is lost on this line, so `loss_spacing` would change nothing",
        "leave it out, or write a `loss` above zero",
    ))
}

/// A rate, a schedule of rates, or a trace: the rate at the start, and how it goes on.
fn service(item: &Item<'_>, traces: &Traces<'_>) -> Result<(Rate, Service), ReadError> {
    match &item.node.value {
        Value::List(_) => {
            let (rate, changes) = schedule(item, rate_or_outage)?;
            // An outage may come later; buffers and laws are sized by the rate at the start.
            if rate.0 == 0 {
                return Err(item.wrong("a link that begins with an outage", "write a first rate above zero"));
            }
            Ok((rate, if changes.is_empty() { Service::Constant } else { Service::Schedule(changes) }))
        }
        Value::Table(_) => {
            let trace = traces.trace(item)?;
            Ok((mean_rate(&trace), Service::Trace(trace)))
        }
        _ => Ok((carrying(item)?, Service::Constant)),
    }
}

fn rate_or_outage(item: &Item<'_>) -> Result<Rate, ReadError> {
    item.rate()
}

/// A rate above zero.
pub(super) fn carrying(item: &Item<'_>) -> Result<Rate, ReadError> {
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
    aqm: &Chosen<Queue>,
    needs: &Needs,
    packet: Packet,
) -> Result<(Scheduler, Option<Item<'a>>), ReadError> {
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
                Discipline::Drr => Scheduler::Drr {
                    by: fields.or("by", By::Flow, |item| item.choice())?,
                    quantum: fields.or("quantum", packet.wire, |item| quantum(&item))?,
                },
            }
        }
    };
    if scheduler != Scheduler::Fifo && needs.serve != Serve::Scheduler {
        let place = item.or_else(|| fields.find("aqm")).unwrap_or_else(|| fields.item.clone());
        return Err(place.wrong(
            format!("the AQM `{}` says itself which packet goes next, and so does a scheduler", aqm.law.name),
            "write `scheduler = { law = \"fifo\" }`, or another AQM",
        ));
    }
    if scheduler != Scheduler::Fifo && needs.classes {
        let place = item.or_else(|| fields.find("aqm")).unwrap_or_else(|| fields.item.clone());
        return Err(place.wrong(
            format!("the AQM `{}` treats classes apart in one queue, and a scheduler has several", aqm.law.name),
            "write `scheduler = { law = \"fifo\" }`, or another AQM",
        ));
    }
    Ok((scheduler, item))
}

fn quantum(item: &Item<'_>) -> Result<Bytes, ReadError> {
    let quantum = item.bytes()?;
    if (1..=MOST_QUANTUM).contains(&quantum.0) {
        return Ok(quantum);
    }
    Err(item.wrong(format!("a quantum of `{}` is out of range", item.shown()), "write `1 B` to `1 GB`"))
}

/// Refuses a scheduler over classes where no flow has one.
pub(super) fn check_schedulers(lines: &[Line<'_>], groups: &[(String, Item<'_>, Group)]) -> Result<(), ReadError> {
    for line in lines {
        let (Some(item), Scheduler::Drr { by: By::Class, .. }) = (&line.scheduler, line.link.scheduler) else {
            continue;
        };
        let crosses = |group: &Group| group.forward.contains(&line.name) || group.backward.contains(&line.name);
        if !groups.iter().any(|(_, _, group)| group.class.is_some() && crosses(group)) {
            return Err(item.wrong(
                format!("no flow that crosses `{}` has a class", line.name),
                "give a group of flows a `class`, or write `by = \"flow\"`",
            ));
        }
    }
    Ok(())
}

/// A buffer, or how many bandwidth-delay products it is.
pub(super) fn buffer(item: &Item<'_>, packet: Packet) -> Result<(Buffer, Option<Products>), ReadError> {
    let remedy =
        "write `unlimited`, or packets, bytes or bandwidth-delay products, as in `100 packets`, `8 MB`, `1 bdp`";
    let text = item.as_text().ok_or_else(|| item.is_not("a buffer", remedy))?;
    if text == "unlimited" {
        return Ok((Buffer::Unlimited, None));
    }
    if let Some(products) = quantity::bdp(text) {
        let products = products.map_err(|e| item.because(e))?;
        if !(products.count > 0.0 && products.count <= 1e6) {
            return Err(item.wrong(format!("`{text}` is out of range"), "write more than 0 bdp, at most 1000000"));
        }
        return Ok((Buffer::Unlimited, Some(products)));
    }
    if quantity::names_packets(text) {
        let packets = quantity::packets(text).map_err(|e| item.because(e))?;
        if packets == 0 {
            return Err(item.wrong(format!("a buffer of `{text}` cannot hold a packet"), "write at least `1 packet`"));
        }
        return Ok((Buffer::Packets(packets), None));
    }
    let bytes = quantity::bytes(text).map_err(|mut e| {
        if e.found.ends_with("is not a size") {
            e.found = format!("`{text}` is not a buffer");
            e.remedy = remedy.into();
        }
        item.because(e)
    })?;
    if bytes < packet.wire {
        return Err(item.wrong(
            format!("a buffer of `{text}` cannot hold a packet"),
            format!("write at least `{}`, one packet on the wire", quantity::print_bytes(packet.wire)),
        ));
    }
    Ok((Buffer::Bytes(bytes), None))
}

/// The law of a queue and what it asks of its host: what is written, what the way there has, or drop-tail.
fn aqm(
    fields: &Fields<'_>,
    inherited: Option<Chosen<Queue>>,
    rate: Rate,
    delay: Time,
    packet: Packet,
) -> Result<(Chosen<Queue>, Needs), ReadError> {
    let item = fields.find("aqm");
    let chosen = match (&item, inherited) {
        (Some(item), _) => law::law(item, AQMS)?,
        (None, Some(inherited)) => inherited,
        (None, None) => {
            let droptail = find(AQMS, "droptail").unwrap_or(&AQMS[0]);
            Chosen { law: droptail, values: penstock_law::Values::defaults(droptail.parameters) }
        }
    };
    let place = item.unwrap_or_else(|| fields.item.clone());
    let needs = law::compile(&place, &chosen, &Site { rate, delay, packet: packet.wire, classes: Vec::new() })?;
    Ok((chosen, needs))
}

/// Turns bandwidth-delay products into packets of full size or into bytes, rounded up. `largest_rtts` are, for each link, those of the
/// flows whose data or acknowledgements cross it.
pub(super) fn settle_buffers(
    lines: &mut [Line<'_>],
    largest_rtts: &[Option<Time>],
    wire: Bytes,
) -> Result<(), ReadError> {
    for (at, line) in lines.iter_mut().enumerate() {
        let Some((item, products)) = line.bdp.take() else { continue };
        // A way back that nothing takes still has the buffer of the way there.
        let there = if line.same_buffer { largest_rtts[at - 1] } else { None };
        let Some(rtt) = largest_rtts[at].or(there) else {
            return Err(item.wrong(
                format!("`{}` has no meaning, for no flow crosses `{}`", item.shown(), line.name),
                "write packets or bytes, as in `100 packets`",
            ));
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
    Ok(())
}
