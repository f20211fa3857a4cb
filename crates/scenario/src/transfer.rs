//! Complete transfers: the table of a run, and the summary of a group's.
//!
//! Slowdown is the completion time over that of a path without other traffic and without limits of a window, `S/C + R`: `S` is
//! the transfer with the headers of its packets, `C` the rate of the path's slowest link (of one that changes, at the start;
//! of a trace, its mean) or of the flow's interface, and `R` the round-trip time without queues. pFabric (M. Alizadeh et al.,
//! SIGCOMM 2013, section 5) divides by the time in an empty network too. On a path of one link, one packet alone has 1.

use indexmap::IndexMap;
use penstock_law::quantity::{Bytes, Rate, Time};

use crate::model::{Group, Packet, Scenario};
use crate::summary::{SizeClass, Slowdown, Transfers};
use crate::world::{Cells, Column, Kind, Table};

/// Classes of transfers by their user data, and the most that each has: a decade each, as figures of flow completion times
/// have them. A transfer is in the first class that it does not exceed.
pub const SIZE_CLASSES: [(&str, Bytes); 5] = [
    ("up_to_10_kB", Bytes(10_000)),
    ("up_to_100_kB", Bytes(100_000)),
    ("up_to_1_MB", Bytes(1_000_000)),
    ("up_to_10_MB", Bytes(10_000_000)),
    ("above_10_MB", Bytes(u64::MAX)),
];

/// A transfer that was acknowledged to its last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The flow, counted over all groups in the order of the file.
    pub flow: u32,
    /// Transfers of the flow before it.
    pub number: u32,
    /// Time of its request.
    pub arrived: Time,
    /// When a flow took it up.
    pub began: Time,
    /// When its last byte was acknowledged.
    pub ended: Time,
    /// Bytes of user data.
    pub bytes: Bytes,
}

impl Transfer {
    /// Completion time, the wait for a flow included.
    pub fn completion(&self) -> Time {
        self.ended.since(self.arrived)
    }
}

/// Conditions of a transfer without competing traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// The rate of its slowest link, or of its interface.
    pub rate: Rate,
    /// Its round trip without queues.
    pub rtt: Time,
    /// Its packets.
    pub packet: Packet,
}

impl Alone {
    /// For each flow of a scenario, in the order of its groups.
    pub fn of(scenario: &Scenario) -> Vec<Self> {
        let of_group = |(name, group): (&String, &Group)| {
            let rate = group.forward.iter().map(|link| scenario.links[link].rate);
            let rate = rate.chain(group.access.map(|access| access.rate)).min().unwrap_or(Rate(u64::MAX));
            let packet = group.packet(scenario.packet);
            group.rtts(name, scenario.seed).into_iter().map(move |rtt| Self { rate, rtt, packet })
        };
        scenario.groups.iter().flat_map(of_group).collect()
    }

    /// The time that so much user data takes: its transmission and a round trip [s].
    pub fn seconds(&self, bytes: Bytes) -> f64 {
        let headers = self.packet.wire.bits() - self.packet.payload.bits();
        let packets = bytes.0.div_ceil(self.packet.payload.0.max(1)) as f64;
        (bytes.bits() + packets * headers) / self.rate.bit_per_s() + self.rtt.seconds()
    }

    /// Completion time of a transfer over that time.
    pub fn slowdown(&self, transfer: &Transfer) -> f64 {
        transfer.completion().seconds() / self.seconds(transfer.bytes)
    }
}

/// Summary of transfers that were complete in a span. `alone` is by flow. `open` means that they arrive regardless of
/// those before, so that they may have waited for a connection; the caller counts those that wait at the end of the span.
pub fn sum_up<'a>(completed: impl IntoIterator<Item = &'a Transfer>, alone: &[Alone], open: bool) -> Transfers {
    let (mut all, mut waited, mut waits_s) = (Sorted::default(), 0, 0.0);
    let mut classes = [const { Sorted::new() }; SIZE_CLASSES.len()];
    for transfer in completed {
        let (time, slowdown) = (transfer.completion().seconds(), alone[transfer.flow as usize].slowdown(transfer));
        let class = SIZE_CLASSES.iter().position(|(_, most)| transfer.bytes <= *most).expect("the last has no end");
        for of in [&mut all, &mut classes[class]] {
            of.times.push(time);
            of.slowdowns.push(slowdown);
        }
        waited += u64::from(transfer.began > transfer.arrived);
        waits_s += transfer.began.since(transfer.arrived).seconds();
    }
    let n = all.times.len();
    let all = all.class();
    let of = |f: fn(&SizeClass) -> f64| all.as_ref().map(f);
    let named =
        SIZE_CLASSES.iter().zip(classes).filter_map(|((name, _), class)| Some(((*name).to_owned(), class.class()?)));
    Transfers {
        completed: n as u64,
        completion_mean_s: of(|class| class.completion_mean_s),
        completion_p50_s: of(|class| class.completion_p50_s),
        completion_p95_s: of(|class| class.completion_p95_s),
        completion_p99_s: of(|class| class.completion_p99_s),
        by_size: named.collect::<IndexMap<_, _>>(),
        waited: open.then_some(waited),
        wait_mean_s: (open && n > 0).then(|| waits_s / n as f64),
        waiting: None,
        under_way_mean: None,
        slowdown: all.map(|class| class.slowdown),
    }
}

/// Times and slowdowns of transfers, to be sorted.
#[derive(Debug, Default)]
struct Sorted {
    times: Vec<f64>,
    slowdowns: Vec<f64>,
}

impl Sorted {
    const fn new() -> Self {
        Self { times: Vec::new(), slowdowns: Vec::new() }
    }

    /// Their numbers, if there were any.
    fn class(mut self) -> Option<SizeClass> {
        let completed = self.times.len() as u64;
        self.times.sort_unstable_by(f64::total_cmp);
        self.slowdowns.sort_unstable_by(f64::total_cmp);
        let (times, slowdowns) = (&self.times, &self.slowdowns);
        Some(SizeClass {
            completed,
            completion_mean_s: mean(times)?,
            completion_p50_s: quantile(times, 0.50)?,
            completion_p95_s: quantile(times, 0.95)?,
            completion_p99_s: quantile(times, 0.99)?,
            slowdown: Slowdown {
                mean: mean(slowdowns)?,
                p50: quantile(slowdowns, 0.50)?,
                p95: quantile(slowdowns, 0.95)?,
                p99: quantile(slowdowns, 0.99)?,
            },
        })
    }
}

/// The mean of the values.
pub(crate) fn mean(sorted: &[f64]) -> Option<f64> {
    (!sorted.is_empty()).then(|| sorted.iter().sum::<f64>() / sorted.len() as f64)
}

/// The smallest value that the share of the sorted ones does not exceed.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// One row a transfer, in the order in which they ended; `flows` are names, and `alone` is by flow.
pub fn table(rows: &[Transfer], alone: &[Alone], flows: Vec<String>) -> Table {
    let seconds = |f: fn(&Transfer) -> Time| Cells::Number(rows.iter().map(|t| f(t).seconds()).collect());
    let count = |f: fn(&Transfer) -> u64| Cells::Count(rows.iter().map(f).collect());
    let who = Cells::Name { names: flows, rows: rows.iter().map(|t| t.flow).collect() };
    let column = |name: &str, kind, values| Column { name: name.to_owned(), kind, values };
    Table {
        name: "transfers".to_owned(),
        columns: vec![
            column("flow", Kind::Key, who),
            column("number", Kind::Key, count(|t| u64::from(t.number))),
            column("arrived_s", Kind::Instant, seconds(|t| t.arrived)),
            column("began_s", Kind::Instant, seconds(|t| t.began)),
            column("ended_s", Kind::Instant, seconds(|t| t.ended)),
            column("completion_s", Kind::Instant, seconds(Transfer::completion)),
            column("bytes", Kind::Instant, count(|t| t.bytes.0)),
            column(
                "slowdown",
                Kind::Instant,
                Cells::Number(rows.iter().map(|t| alone[t.flow as usize].slowdown(t)).collect()),
            ),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Mbit/s, 40 ms, packets of 1000 B with 960 B of data.
    const ALONE: Alone = Alone {
        rate: Rate(8_000_000),
        rtt: Time(Time::PER_SECOND / 25),
        packet: Packet { wire: Bytes(1000), payload: Bytes(960), ack: Bytes(40) },
    };

    /// A quantile is the least of the times that so many of a hundred do not exceed, of however many transfers.
    #[test]
    fn a_quantile_is_the_least_time_that_enough_do_not_exceed() {
        for n in 1..=250_u64 {
            let second = |n: u64| Time(n * Time::PER_SECOND);
            let ended = |n| Transfer {
                flow: 0,
                number: 0,
                arrived: Time::ZERO,
                began: Time::ZERO,
                ended: second(n),
                bytes: Bytes(1),
            };
            let all: Vec<Transfer> = (1..=n).map(ended).collect();
            let said = sum_up(&all, &[ALONE], false);
            for (of_a_hundred, quantile) in [(50, said.completion_p50_s), (99, said.completion_p99_s)] {
                // The k-th of them took k seconds.
                let k = quantile.map_or(0, |s| s as u64);
                assert!(100 * k >= of_a_hundred * n && 100 * (k - 1) < of_a_hundred * n, "{k} of {n}");
            }
        }
    }

    /// Of 1 s, 2 s, ..., 100 s the half does not exceed 50 s, and 99 of 100 not 99 s; waiting counts.
    #[test]
    fn quantiles_of_a_hundred() {
        let second = |n: u64| Time(n * Time::PER_SECOND);
        let all: Vec<Transfer> = (1..=100)
            .map(|n| Transfer {
                flow: 0,
                number: n as u32 - 1,
                arrived: second(7),
                began: second(8),
                ended: second(7 + n),
                bytes: Bytes(n),
            })
            .collect();
        let said = sum_up(all.iter().rev(), &[ALONE], true);
        assert_eq!((said.completed, said.completion_mean_s), (100, Some(50.5)));
        assert_eq!((said.completion_p50_s, said.completion_p99_s), (Some(50.0), Some(99.0)));
        // Each waited from 7 s to 8 s; in a closed loop nobody waits, whatever the times.
        assert_eq!((said.waited, said.wait_mean_s), (Some(100), Some(1.0)));
        let closed = sum_up(&all, &[ALONE], false);
        assert_eq!((closed.completed, closed.waited, closed.wait_mean_s), (100, None, None));
        let nothing = Transfers {
            completed: 0,
            completion_mean_s: None,
            completion_p50_s: None,
            completion_p95_s: None,
            completion_p99_s: None,
            slowdown: None,
            by_size: IndexMap::new(),
            waited: Some(0),
            wait_mean_s: None,
            waiting: None,
            under_way_mean: None,
        };
        assert_eq!(sum_up(&[], &[], true), nothing);
    }

    /// S/C + R: 1920 B are two packets of a millisecond each, 1921 B have three headers.
    #[test]
    fn a_transfer_alone_takes_its_transmission_and_a_round_trip() {
        for (bytes, seconds) in
            [(960, 0.041), (1920, 0.042), (1921, 0.04 + (1921.0 + 120.0) * 1e-6), (9.6e6 as u64, 10.04)]
        {
            assert!((ALONE.seconds(Bytes(bytes)) - seconds).abs() < 1e-12, "{bytes}");
        }
    }

    /// Each transfer is in one class, a bound belongs to the class that it ends, and each class has its own numbers.
    #[test]
    fn classes_by_size_part_the_transfers() {
        let of = |(bytes, times): (u64, f64)| Transfer {
            flow: 0,
            number: 0,
            arrived: Time::ZERO,
            began: Time::ZERO,
            ended: Time::from_seconds(times * ALONE.seconds(Bytes(bytes))),
            bytes: Bytes(bytes),
        };
        let all: Vec<Transfer> =
            [(1, 1.0), (10_000, 3.0), (10_001, 2.0), (10_000_000, 5.0), (10_000_001, 1.0)].map(of).to_vec();
        let said = sum_up(&all, &[ALONE], false);
        let found: Vec<(&str, u64)> =
            said.by_size.iter().map(|(name, class)| (name.as_str(), class.completed)).collect();
        assert_eq!(found, [("up_to_10_kB", 2), ("up_to_100_kB", 1), ("up_to_10_MB", 1), ("above_10_MB", 1)]);
        let slowdown = said.by_size["up_to_10_kB"].slowdown;
        for (is, should) in [(slowdown.mean, 2.0), (slowdown.p50, 1.0), (slowdown.p95, 3.0), (slowdown.p99, 3.0)] {
            assert!((is - should).abs() < 1e-9, "{slowdown:?}");
        }
        assert!((said.slowdown.unwrap().mean - 2.4).abs() < 1e-9);
        let long = ALONE.seconds(Bytes(10_000_001));
        assert!((said.by_size["above_10_MB"].completion_p95_s - long).abs() < 1e-9);
    }
}
