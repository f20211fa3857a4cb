//! Traffic of flows: sizes, arrivals, silence; and delays at the ends.

use penstock_law::cc::{self, Controller};
use penstock_law::quantity::{Bytes, Time};

use super::super::distribution::distribution;
use super::super::error::Reported;
use super::super::links::{Depends, buffer, carrying, in_time};
use super::super::table::{Fields, Item};
use super::super::trace::Traces;
use super::super::tree::Value;
use crate::format::{self, CHANCE, TAIL};
use crate::model::{Access, AckJitter, Buffer, Chosen, Full, Packet, Repeats, Size, Span};
use crate::quantity::{per_second, print_time};

/// The most changes between sending and silence in a run: each is an event.
const MOST_CHANGES: f64 = 1e9;

/// Size of a transfer; none is without end.
pub(super) fn size(fields: &Fields<'_>, traces: &Traces<'_>) -> Result<Option<Size>, Reported> {
    let Some(item) = fields.find("size") else { return Ok(None) };
    if item.as_text() == Some("unlimited") {
        return Ok(None);
    }
    if item.node.table().is_none() {
        return Ok(Some(Size::Each(something(&item)?)));
    }
    let remedy =
        "write a size, `{ pareto = { mean = \"100 kB\", shape = 1.2 } }`, or `{ distribution = \"web-search\" }`";
    let (kind, pareto) = item.one_of(&format::DRAWN_SIZE, "a size", remedy)?;
    if kind == "distribution" {
        return distribution(&pareto, traces).map(Size::Measured).map(Some);
    }
    let fields = pareto.clone().fields(&format::PARETO_SIZE, remedy)?;
    let mean = fields.need("mean", "write the mean size, as in `100 kB`").and_then(|item| something(&item));
    let shape = tail(&fields);
    Ok(Some(Size::Pareto { mean: mean?, shape: shape? }))
}

fn something(item: &Item<'_>) -> Result<Bytes, Reported> {
    let size = item.bytes()?;
    if size.0 == 0 {
        return Err(item.wrong("a transfer of nothing", "write at least `1 B`, or `unlimited`"));
    }
    Ok(size)
}

/// The exponent of a Pareto distribution.
fn tail(fields: &Fields<'_>) -> Result<f64, Reported> {
    let item = fields.need("shape", "write the exponent of the tail, above 1, as in `1.2`")?;
    let shape = item.number()?;
    if shape <= 1.0 {
        return Err(item.wrong(
            format!("a Pareto distribution of the shape `{}` has an infinite mean", item.shown()),
            format!("write {}", TAIL.words()),
        ));
    }
    item.within(TAIL, "the exponent of a tail")
}

/// When transfers after the first begin.
pub(super) fn repeats(
    fields: &Fields<'_>,
    cc: &Chosen<Controller>,
    needs: &cc::Requirements,
    size: Option<&Option<Size>>,
) -> Result<Option<Repeats>, Reported> {
    let (arrivals, idle) = (fields.find("arrivals"), fields.find("idle"));
    let (item, key) = match (&arrivals, &idle) {
        (None, None) => return Ok(None),
        (Some(_), Some(idle)) => {
            return Err(idle.wrong(
                "`arrivals` and `idle` both set when transfers begin",
                "write `arrivals` for the open loop, or `idle` for the closed one",
            ));
        }
        (Some(item), None) => (item, "arrivals"),
        (None, Some(item)) => (item, "idle"),
    };
    if !needs.reliable {
        return Err(item.wrong(
            format!(
                "the packets of the law `{}` are not acknowledged, so the end of a transfer is unknown",
                cc.law.name
            ),
            "write `on_off` for times of sending and silence",
        ));
    }
    if size.is_some_and(Option::is_none) {
        return Err(item.wrong(
            format!("`{key}` begins one transfer after another, and a transfer without `size` has no end"),
            "add a `size`, as in `size = \"100 kB\"`",
        ));
    }
    if key == "idle" {
        return Ok(Some(Repeats::Idle(span(item)?)));
    }
    let remedy = "write `{ poisson = \"20 /s\" }`";
    let (_, often) = item.one_of(&format::ARRIVALS, "a process of arrivals", remedy)?;
    Ok(Some(Repeats::Poisson(often.per_second()?)))
}

/// Transfers that arrive a second, if that can be read; [`repeats`] reports its errors.
pub(super) fn arrivals_per_s(fields: &Fields<'_>) -> Option<f64> {
    let item = fields.find("arrivals")?;
    let often = item.node.table()?.get("poisson")?;
    let Value::Text(text) = &often.value else { return None };
    per_second(text).ok()
}

/// A time, perhaps drawn.
fn span(item: &Item<'_>) -> Result<Span, Reported> {
    if item.node.table().is_none() {
        return Ok(Span::Fixed(item.time()?));
    }
    let remedy =
        "write a time, or one of `fixed`, `uniform`, `exponential` and `pareto`, as in `{ exponential = \"1 s\" }`";
    let (kind, value) = item.one_of(&format::SPAN_TABLE, "a span of time", remedy)?;
    match kind {
        "fixed" => Ok(Span::Fixed(value.time()?)),
        "uniform" => {
            let (a, b) = value.range_of_times()?;
            Ok(if a == b { Span::Fixed(a) } else { Span::Uniform(a, b) })
        }
        "exponential" => Ok(Span::Exponential(lasting(&value)?)),
        _ => {
            let remedy = "write `{ mean = \"1 s\", shape = 1.5 }`";
            let fields = value.clone().fields(&format::PARETO_SPAN, remedy)?;
            let mean = fields.need("mean", "write the mean, as in `1 s`").and_then(|item| lasting(&item));
            let shape = tail(&fields);
            Ok(Span::Pareto { mean: mean?, shape: shape? })
        }
    }
}

/// A mean above zero.
fn lasting(item: &Item<'_>) -> Result<Time, Reported> {
    let mean = item.time()?;
    if mean == Time::ZERO {
        return Err(item.wrong("a mean of nothing", "write a time above zero"));
    }
    Ok(mean)
}

/// The mean of a span [s].
pub(in super::super) fn mean_s(span: Span) -> f64 {
    match span {
        Span::Fixed(time) | Span::Exponential(time) | Span::Pareto { mean: time, .. } => time.seconds(),
        Span::Uniform(a, b) => f64::midpoint(a.seconds(), b.seconds()),
    }
}

/// Times of sending and of silence.
pub(super) fn on_off(
    fields: &Fields<'_>,
    count: Option<u32>,
    duration: Option<Time>,
) -> Result<Option<(Span, Span)>, Reported> {
    let Some(item) = fields.find("on_off") else { return Ok(None) };
    let remedy = "write `{ on = \"1 s\", off = \"1 s\" }`";
    let fields = item.clone().fields(&format::ON_OFF, remedy)?;
    let part = |key: &str, never: &str| {
        let item = fields.need(key, remedy)?;
        let span = span(&item)?;
        if mean_s(span) == 0.0 {
            return Err(item.wrong(format!("a flow that {never}"), "write a time above zero, or leave `on_off` out"));
        }
        Ok(span)
    };
    let (on, off) = (part("on", "never sends"), part("off", "is never silent"));
    let (on, off) = (on?, off?);
    let period_s = mean_s(on) + mean_s(off);
    let flows_s = count.zip(duration).map_or(0.0, |(count, duration)| f64::from(count) * duration.seconds());
    if flows_s / period_s > MOST_CHANGES {
        let least = Time::from_seconds(flows_s / MOST_CHANGES);
        return Err(item.wrong(
            format!(
                "flows that begin and end every {} on average change too often",
                print_time(Time::from_seconds(period_s))
            ),
            format!("write `on` and `off` that together last at least `{}` on average", print_time(least)),
        ));
    }
    Ok(Some((on, off)))
}

/// A flow's own interface.
pub(super) fn access(fields: &Fields<'_>, packet: Option<Packet>) -> Result<Option<Access>, Reported> {
    let Some(item) = fields.find("access") else { return Ok(None) };
    let fields = item.fields(&format::ACCESS, "write `{ rate = \"1 Gbit/s\" }`")?;
    let rate = fields.need("rate", "write its rate, as in `\"1 Gbit/s\"`").and_then(|item| carrying(&item));
    let queue = fields.or("queue", Buffer::Unlimited, |item| match buffer(&item, packet)? {
        (queue, None) => Ok(queue),
        (_, Some(Depends::Time(time))) => match (&rate, packet) {
            (Ok(rate), Some(packet)) => in_time(&item, time, *rate, packet.wire),
            _ => Err(item.errors.already()),
        },
        (_, Some(Depends::Products(_))) => Err(item.wrong(
            format!(
                "`{}` has no meaning for the queue of an interface, which has no bandwidth-delay product",
                item.shown()
            ),
            "write `unlimited`, packets, bytes or a time",
        )),
    });
    let full = fields.or("full", Full::Drop, |item| item.choice());
    let (rate, queue, full) = (rate?, queue?, full?);
    if let Some(item) = fields.find("full").filter(|_| full == Full::Wait && queue == Buffer::Unlimited) {
        return Err(item.wrong("an unlimited queue is never full", "leave `full` out, or give the interface a `queue`"));
    }
    Ok(Some(Access { rate, queue, full }))
}

/// Time that packets spend in the sender.
pub(super) fn jitter(fields: &Fields<'_>) -> Result<Option<(Time, Time)>, Reported> {
    let Some(item) = fields.find("jitter") else { return Ok(None) };
    let (_, pair) = item.one_of(&format::JITTER, "a jitter", "write `{ uniform = [\"0 ms\", \"1 ms\"] }`")?;
    delays(&pair).map(Some)
}

/// Two delays that are not both nothing.
fn delays(pair: &Item<'_>) -> Result<(Time, Time), Reported> {
    let (least, most) = pair.range_of_times()?;
    if most == Time::ZERO {
        return Err(pair.wrong("a delay of nothing", "write times above zero, or leave the jitter out"));
    }
    Ok((least, most))
}

/// Acknowledgements that come late.
pub(super) fn ack_jitter(
    fields: &Fields<'_>,
    cc: &Chosen<Controller>,
    needs: &cc::Requirements,
) -> Result<Option<AckJitter>, Reported> {
    let Some(item) = fields.find("ack_jitter") else { return Ok(None) };
    let remedy = "write `{ probability = 0.001, uniform = [\"0 ms\", \"9 ms\"] }`";
    let inner = item.clone().fields(&format::ACK_JITTER, remedy)?;
    let probability = inner.need("probability", remedy).and_then(|item| item.within(CHANCE, "a probability"));
    let between = inner.need("uniform", remedy).and_then(|item| delays(&item));
    let (probability, between) = (probability?, between?);
    if needs.reliable {
        return Ok(Some(AckJitter { probability, between }));
    }
    // Defaults are for those who can use them.
    if item.node.inherited {
        return Ok(None);
    }
    Err(item.wrong(
        format!("the packets of the law `{}` are not acknowledged, so `ack_jitter` has no effect", cc.law.name),
        "leave it out",
    ))
}
