//! Memory of a scenario, by estimates on the safe side; a scenario beyond the limit is refused.

use std::collections::{BTreeMap, BTreeSet};

use penstock_law::Values;
use penstock_law::cc;
use penstock_law::quantity::{Bytes, Time};

use super::error::Reported;
use super::flows::{self, mean_s};
use super::links::Line;
use super::memory::Memory;
use super::table::Item;
use crate::model::{Buffer, Group, Link, Packet, Repeats, Start};

/// A flow with its ports, timers and estimators [B].
const A_FLOW: f64 = 2048.0;
/// A packet under way, its record at the sender, and slots that rings keep free: they double when they are full. Measured:
/// 30 to 91 [B].
const A_PACKET: f64 = 96.0;
/// A packet that waits in a queue, with the slots that the queue keeps free. Measured: 63 to 81 [B].
const A_WAITING_PACKET: f64 = 96.0;
/// A row of a series: about ten numbers [B].
const A_ROW: f64 = 80.0;
/// A transfer that has arrived: its size and times [B].
const A_TRANSFER: f64 = 48.0;

/// Refuses a scenario beyond the memory limit, with the estimate. `rows` is the length of a series.
pub(super) fn affordable(
    lines: &[Line<'_>],
    groups: &[(String, Item<'_>, Group)],
    packet: Packet,
    duration: Time,
    rows: u64,
    most: &Memory,
) -> Result<(), Reported> {
    flows_and_series(lines, groups, duration, rows, most)?;
    under_way(lines, groups, packet, most)?;
    waiting(lines, groups, packet, duration, most)
}

fn flows_and_series(
    lines: &[Line<'_>],
    groups: &[(String, Item<'_>, Group)],
    duration: Time,
    rows: u64,
    most: &Memory,
) -> Result<(), Reported> {
    let (mut flows, mut memory) = (0.0, 0.0);
    let mut series = rows as f64 * A_ROW * (lines.len() + groups.len()) as f64;
    for (_, item, group) in groups {
        let count = f64::from(group.count);
        flows += count;
        memory += count * A_FLOW;
        if memory > most.bytes() {
            return Err(item.wrong(
                format!("with this group there are {flows} flows, which take {}", most.told(flows * A_FLOW, memory)),
                "write a smaller `count`",
            ));
        }
        let at_once = count * group.sender.initial_window * A_PACKET;
        memory += at_once;
        if memory > most.bytes() {
            return Err(item.wrong(
                format!("the initial windows of {flows} flows take {}", most.told(at_once, memory)),
                "write a smaller `initial_window` or `count`",
            ));
        }
        if let Some(Repeats::Poisson(often)) = group.repeats {
            let transfers = often * duration.seconds() * A_TRANSFER;
            memory += transfers;
            if memory > most.bytes() {
                return Err(item.wrong(
                    format!("{:.0} transfers take {}", transfers / A_TRANSFER, most.told(transfers, memory)),
                    "let fewer arrive, or write a shorter `duration`",
                ));
            }
        }
        if group.series {
            series += count * rows as f64 * A_ROW;
        }
        if series > most.bytes() {
            return Err(item.wrong(
                format!("the series of {rows} rows take {}", most.told(series, series)),
                "write a larger `sample`, or record series of fewer flows",
            ));
        }
    }
    Ok(())
}

/// By how much a packet may be longer on a link's line than its delay at the start.
fn longer(link: &Link) -> Time {
    // What goes at a rate goes in the time in which it was gathered, or nearly.
    let gathered = link.aggregation.map_or(Time::ZERO, |gathers| gathers.time + gathers.time);
    gathered + link.delays.iter().map(|(_, delay)| delay.since(link.delay)).max().unwrap_or_default()
}

/// The packets under way are bounded by each route's slowest link times the longest round trip that starts there.
fn under_way(
    lines: &[Line<'_>],
    groups: &[(String, Item<'_>, Group)],
    packet: Packet,
    most: &Memory,
) -> Result<(), Reported> {
    let mut memory = 0.0;
    let peaks: BTreeMap<&str, u64> = lines.iter().map(|line| (line.name.as_str(), peak(&line.link))).collect();
    let later: BTreeMap<&str, Time> = lines.iter().map(|line| (line.name.as_str(), longer(&line.link))).collect();
    let round_trip = |group: &Group| {
        let late = group.jitter.map_or(Time::ZERO, |(_, most)| most);
        let ways = group.forward.iter().chain(&group.backward);
        let longer = ways.filter_map(|name| later.get(name.as_str())).fold(Time::ZERO, |sum, more| sum + *more);
        flows::extremes(&group.rtt).1 + longer + late + group.ack_jitter.map_or(Time::ZERO, |late| late.between.1)
    };
    // Looked up once a group, since there may be many groups and links: of the groups of which a link is the slowest, the longest
    // round trip and the smallest packet.
    let mut there: BTreeMap<&str, (Time, Bytes)> = BTreeMap::new();
    for (_, _, group) in groups {
        let Some(slowest) = group.forward.iter().min_by_key(|name| peaks.get(name.as_str())) else { continue };
        let (rtt, wire) = (round_trip(group), group.packet(packet).wire);
        let link = there.entry(slowest).or_insert((rtt, wire));
        *link = (link.0.max(rtt), link.1.min(wire));
    }
    for line in lines {
        let (rtt, least) = there.get(line.name.as_str()).copied().unwrap_or((Time::ZERO, packet.wire));
        let packets = peak(&line.link) as f64 / least.bits() * rtt.seconds();
        memory += packets * A_PACKET;
        if memory > most.bytes() {
            return Err(line.item.wrong(
                format!("the packets in flight at the rate of the link take {}", most.told(memory, memory)),
                "write a lower rate or a shorter round trip",
            ));
        }
    }
    Ok(())
}

/// The highest rate of a link [bit/s]; of a trace the mean.
fn peak(link: &Link) -> u64 {
    link.service.changes().iter().map(|(_, rate)| rate.0).fold(link.rate.0, u64::max)
}

/// The backlog in front of links and interfaces where unresponsive flows offer more than these carry.
fn waiting(
    lines: &[Line<'_>],
    groups: &[(String, Item<'_>, Group)],
    packet: Packet,
    duration: Time,
    most: &Memory,
) -> Result<(), Reported> {
    let loads: Vec<Load<'_>> = groups.iter().filter_map(|(_, item, group)| Load::of(item, group, packet)).collect();
    let refuse = |item: &Item<'_>, packets: f64, memory: f64| {
        let takes = most.told(packets * A_WAITING_PACKET, memory);
        Err(item.wrong(
            format!("up to {packets:.0} packets of unresponsive flows wait in the queue and take {takes}"),
            "write a finite buffer, or a lower rate of those flows",
        ))
    };
    let mut memory = 0.0;
    for load in &loads {
        let Some(access) = load.group.access else { continue };
        let carried = vec![(Time::ZERO, access.rate.bit_per_s())];
        let one = 1.0 / f64::from(load.group.count);
        let bits = pile(&carried, &[(load, f64::INFINITY, one)], duration);
        let packets = fits(access.queue, bits, load.group.packet(packet)) * f64::from(load.group.count);
        memory += packets * A_WAITING_PACKET;
        if memory > most.bytes() {
            return refuse(load.item, packets, memory);
        }
    }
    for line in lines {
        let mut offered = Vec::new();
        for load in &loads {
            let Some(place) = load.group.forward.iter().position(|name| *name == line.name) else { continue };
            let before = lines.iter().filter(|line| load.group.forward[..place].contains(&line.name));
            let access = load.group.access.map(|access| access.rate.bit_per_s() * f64::from(load.group.count));
            let limit = before.map(|line| peak(&line.link) as f64).chain(access).fold(f64::INFINITY, f64::min);
            offered.push((load, limit, 1.0));
        }
        let mut carried = vec![(Time::ZERO, line.link.rate.bit_per_s())];
        carried.extend(line.link.service.changes().iter().map(|(time, rate)| (*time, rate.bit_per_s())));
        let smallest = offered.iter().map(|(load, ..)| load.group.packet(packet)).min_by_key(|packet| packet.wire);
        let packets = fits(line.link.buffer, pile(&carried, &offered, duration), smallest.unwrap_or(packet));
        memory += packets * A_WAITING_PACKET;
        if memory > most.bytes() {
            return refuse(&line.item, packets, memory);
        }
    }
    Ok(())
}

/// The packets of a pile that a buffer holds.
fn fits(buffer: Buffer, bits: f64, packet: Packet) -> f64 {
    let packets = bits / packet.wire.bits();
    match buffer {
        Buffer::Unlimited => packets,
        Buffer::Packets(most) => packets.min(most as f64),
        Buffer::Bytes(most) => packets.min(most.bits() / packet.wire.bits()),
    }
}

/// The offered load of a group of unresponsive flows.
struct Load<'a> {
    item: &'a Item<'a>,
    group: &'a Group,
    /// Its mean rate from each time on [bit/s].
    rates: Vec<(Time, f64)>,
}

impl<'a> Load<'a> {
    /// None if the group responds to congestion.
    fn of(item: &'a Item<'a>, group: &'a Group, packet: Packet) -> Option<Self> {
        if group.requirements(packet).ok()?.reliable {
            return None;
        }
        let packet = group.packet(packet);
        let (initial_window, initial_ssthresh) = (group.sender.initial_window, group.sender.initial_ssthresh);
        let site = cc::Context { packet: packet.wire, initial_window, initial_ssthresh };
        let on = group.on_off.map_or(1.0, |(on, off)| mean_s(on) / (mean_s(on) + mean_s(off)));
        let rate = |values: &Values| {
            let mut law = (group.cc.law.real)(values, &site).ok()?;
            let at = law.add();
            let gap_s = law.mean_output(at, &cc::Observation::zero()).gap_s;
            Some(f64::from(group.count) * on * packet.wire.bits() / gap_s)
        };
        let first = match group.start {
            Start::At(time) | Start::Uniform(time, _) | Start::Every(time, _) => time,
        };
        let mut rates = vec![(Time::ZERO, 0.0), (first, rate(&group.cc.values)?)];
        for (time, values) in &group.steps {
            // A step before the start is what the start begins with.
            rates.push(((*time).max(first), rate(values)?));
        }
        if let Some(stop) = group.stop {
            rates.retain(|(time, _)| *time < stop);
            rates.push((stop, 0.0));
        }
        Some(Self { item, group, rates })
    }
}

/// The value in force at a time.
fn in_force(values: &[(Time, f64)], at: Time) -> f64 {
    values[..values.partition_point(|(time, _)| *time <= at)].last().map_or(0.0, |(_, value)| *value)
}

/// The most that ever waits where `carried` leaves what each load offers, up to its limit and times its share [bit].
fn pile(carried: &[(Time, f64)], offered: &[(&Load<'_>, f64, f64)], duration: Time) -> f64 {
    let mut times: BTreeSet<Time> = carried.iter().map(|(time, _)| *time).collect();
    times.extend(offered.iter().flat_map(|(load, _, _)| load.rates.iter().map(|(time, _)| *time)));
    times.retain(|time| *time < duration);
    times.insert(duration);
    let (mut waiting, mut most, mut before) = (0.0f64, 0.0f64, Time::ZERO);
    for time in times {
        let arriving: f64 =
            offered.iter().map(|(load, limit, share)| (in_force(&load.rates, before) * share).min(*limit)).sum();
        waiting = (waiting + (arriving - in_force(carried, before)) * (time - before).seconds()).max(0.0);
        most = most.max(waiting);
        before = time;
    }
    most
}
