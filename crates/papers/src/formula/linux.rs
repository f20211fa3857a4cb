//! An hour of Linux 2.4 as the experiments of fast-tcp ran it, round trip by round trip: thousands of hours, for the
//! quantiles of an average that a handful of losses decides.

use penstock_scenario::seed::{Seed, Stream};
use serde_json::json;

use super::{Answer, Formula, Given};
use crate::axis::position;

/// The averages of so many `hours`: mean, quantiles, and the share of hours below the printed one. A `case` is a row of the
/// paper: senders, packets in the device queue of each, and the printed average, as in `1 flow, 100 packets, 185 Mbit/s`. A
/// sender has a card of `capacity` [packets/s], on a path of `rtt` that loses the share `loss` of all packets; `payload` is the
/// user's part of a packet [B]. The losses are drawn from `seed`.
pub(super) const HOURS: Formula = Formula {
    name: "Linux hours",
    keys: &["case", "hours", "capacity", "rtt", "loss", "payload", "seed"],
    compute: hours,
};

/// Averaging time [s].
const HOUR_S: f64 = 3600.0;

/// A sender's card, and the path behind it.
struct Path {
    capacity: f64,
    queue: f64,
    rtt_s: f64,
    loss: f64,
}

impl Path {
    /// Packets that a sender delivers in an hour. Each acknowledgement covers two packets and counts once, as in Linux 2.4:
    /// slow start makes one and a half windows of one, and congestion avoidance adds half a packet a round trip.
    fn hour(&self, stream: &mut Stream) -> f64 {
        let pipe = self.capacity * self.rtt_s;
        let (mut window, mut slow, mut delivered, mut now_s) = (2.0_f64, true, 0.0, 0.0);
        let mut next = self.until_loss(stream);
        while now_s < HOUR_S {
            // A window that the pipe does not hold waits at the card, and the round trip is longer.
            let round_s = self.rtt_s.max(window / self.capacity);
            let part = ((HOUR_S - now_s) / round_s).min(1.0);
            delivered += window * part;
            now_s += round_s;
            next -= window;
            // In slow start packets come to the card half as fast again as it sends: a third of them waits there.
            let waits = if slow { window / 3.0 } else { 0.0 }.max(window - pipe);
            if next <= 0.0 || waits > self.queue {
                (window, slow) = ((window / 2.0).max(2.0), false);
                next = if next <= 0.0 { self.until_loss(stream) } else { next };
            } else {
                window += if slow { window / 2.0 } else { 0.5 };
            }
        }
        delivered
    }

    /// Packets until the next that the path loses.
    fn until_loss(&self, stream: &mut Stream) -> f64 {
        if self.loss > 0.0 { -libm::log1p(-stream.unit()) / self.loss } else { f64::INFINITY }
    }
}

fn odd(case: &str) -> String {
    format!("case: `{case}` is not like `1 flow, 100 packets, 185 Mbit/s`")
}

fn hours(given: &Given<'_>) -> Result<Answer, String> {
    let case = given.text("case")?;
    let [flows, queue, printed]: [&str; 3] = case.split(", ").collect::<Vec<_>>().try_into().map_err(|_| odd(case))?;
    let flows: u32 = flows.split(' ').next().and_then(|n| n.parse().ok()).ok_or_else(|| odd(case))?;
    let of = |text| position(text).map(|(x, _)| x).ok_or_else(|| odd(case));
    let (queue, printed) = (of(queue)?, of(printed)?);
    let path =
        Path { capacity: given.number("capacity")?, queue, rtt_s: given.number("rtt")?, loss: given.number("loss")? };
    let bits = 8.0 * given.number("payload")?;
    let mut stream = Seed(given.count("seed")?.into()).stream(&format!("papers/fast-tcp/{case}"));
    let mut hour = || (0..flows).map(|_| path.hour(&mut stream)).sum::<f64>() * bits / HOUR_S;
    let hours = given.count("hours")?;
    // Without losses every hour is the same.
    let mut rates: Vec<f64> =
        if path.loss > 0.0 { (0..hours).map(|_| hour()).collect() } else { vec![hour(); hours as usize] };
    rates.sort_unstable_by(f64::total_cmp);
    let n = rates.len() as f64;
    let quantile = |share: f64| rates.get((share * n) as usize).copied();
    Ok(Answer::of(json!({
        "mean_bit_per_s": rates.iter().sum::<f64>() / n,
        "p05_bit_per_s": quantile(0.05), "p50_bit_per_s": quantile(0.5), "p95_bit_per_s": quantile(0.95),
        "below": rates.iter().filter(|rate| **rate < printed).count() as f64 / n,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: Path = Path { capacity: 83_333.0, queue: 100.0, rtt_s: 0.18, loss: 0.0 };

    /// Slow start ends where a third of the window does not fit the queue, at 342 packets; from 171 on an hour of half a packet
    /// a round trip gives 5000 packets in the mean, and a queue that holds the whole overshoot the card's rate.
    #[test]
    fn without_loss_it_is_the_growth_alone() {
        let mut stream = Seed(1).stream("x");
        let rounds = 3600.0 / 0.18;
        let growth = rounds * (171.0 + 0.5 * rounds / 2.0);
        let short = CARD.hour(&mut stream);
        assert!((short / growth - 1.0).abs() < 0.02, "{short} {growth}");
        let long = Path { queue: 10_000.0, ..CARD }.hour(&mut stream);
        assert!((0.97..1.0).contains(&(long / (3600.0 * CARD.capacity))), "{long}");
    }

    /// Losses so often that the start is forgotten: the mean window of a growth of half a packet is sqrt(0.75/p), by half in
    /// the mean over time, as Mathis and others (1997) have it for even losses, and less by a few per cent for random ones.
    #[test]
    fn with_loss_it_is_the_square_root_law() {
        let mut stream = Seed(1).stream("x");
        let path = Path { loss: 1e-5, ..CARD };
        let hours: f64 = (0..50).map(|_| path.hour(&mut stream)).sum::<f64>() / 50.0;
        let law = libm::sqrt(0.75 / 1e-5) / 0.18 * 3600.0;
        assert!((0.9..1.1).contains(&(hours / law)), "{hours} {law}");
    }

    #[test]
    fn a_case_is_a_row_of_the_paper() {
        let case = |text: &str| {
            let labels: Vec<(String, String)> = [
                ("case", text),
                ("hours", "10"),
                ("capacity", "83333"),
                ("rtt", "180 ms"),
                ("loss", "0"),
                ("payload", "1460"),
                ("seed", "1"),
            ]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into();
            hours(&Given(&labels)).map(|answer| answer.numbers)
        };
        let two = case("2 flows, 10000 packets, 931 Mbit/s").unwrap();
        assert_eq!(two["below"], 0.0);
        assert!((two["mean_bit_per_s"].as_f64().unwrap() / 1.92e9 - 1.0).abs() < 0.02, "{two}");
        assert_eq!(case("2 flows, 100 packets, 2 Gbit/s").unwrap()["below"], 1.0);
        assert!(case("two flows").unwrap_err().contains("1 flow, 100 packets"));
    }
}
