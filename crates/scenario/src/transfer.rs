//! Transfers that were complete: the table of a run, and what a group's amount to.

use penstock_law::quantity::{Bytes, Time};

use crate::summary::Transfers;
use crate::world::{Cells, Column, Kind, Table};

/// A transfer that was acknowledged to its last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The flow, counted over all groups in the order of the file.
    pub flow: u32,
    /// Transfers of the flow before it.
    pub number: u32,
    /// When it was asked for.
    pub arrived: Time,
    /// When a flow took it up.
    pub began: Time,
    /// When its last byte was acknowledged.
    pub ended: Time,
    /// What it carried.
    pub bytes: Bytes,
}

impl Transfer {
    /// How long it took, the time in which it waited for a flow included.
    pub fn completion(&self) -> Time {
        self.ended.since(self.arrived)
    }
}

/// What transfers that were complete in a span amount to. `open` says that they arrive whatever became of those before, so
/// that they may have waited for a connection; how many do at the end of the span is for the caller to say.
pub fn sum_up<'a>(completed: impl IntoIterator<Item = &'a Transfer>, open: bool) -> Transfers {
    let (mut times, mut waited, mut waits_s) = (Vec::new(), 0, 0.0);
    for transfer in completed {
        times.push(transfer.completion().seconds());
        waited += u64::from(transfer.began > transfer.arrived);
        waits_s += transfer.began.since(transfer.arrived).seconds();
    }
    times.sort_by(f64::total_cmp);
    // The smallest time that the share of transfers does not exceed.
    let quantile = |share: f64| {
        let rank = (share * times.len() as f64).ceil() as usize;
        times.get(rank.max(1) - 1).copied()
    };
    Transfers {
        completed: times.len() as u64,
        completion_mean_s: (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64),
        completion_p50_s: quantile(0.50),
        completion_p99_s: quantile(0.99),
        waited: open.then_some(waited),
        wait_mean_s: (open && !times.is_empty()).then(|| waits_s / times.len() as f64),
        waiting: None,
    }
}

/// One row a transfer, in the order in which they ended; `flows` are names.
pub fn table(rows: &[Transfer], flows: Vec<String>) -> Table {
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
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let said = sum_up(&all, false);
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
        let said = sum_up(all.iter().rev(), true);
        assert_eq!((said.completed, said.completion_mean_s), (100, Some(50.5)));
        assert_eq!((said.completion_p50_s, said.completion_p99_s), (Some(50.0), Some(99.0)));
        // Each waited from 7 s to 8 s; in a closed loop nobody waits, whatever the times.
        assert_eq!((said.waited, said.wait_mean_s), (Some(100), Some(1.0)));
        let closed = sum_up(&all, false);
        assert_eq!((closed.completed, closed.waited, closed.wait_mean_s), (100, None, None));
        let nothing = Transfers {
            completed: 0,
            completion_mean_s: None,
            completion_p50_s: None,
            completion_p99_s: None,
            waited: Some(0),
            wait_mean_s: None,
            waiting: None,
        };
        assert_eq!(sum_up(&[], true), nothing);
    }
}
