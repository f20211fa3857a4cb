//! The law `fast` without feedback delay: all windows move at once, and the queue follows them.

use penstock_law::cc::{Context, Controller, Event, Observation};
use penstock_law::law::{Entry, Instances};
use penstock_law::quantity::Bytes;
use penstock_law::{Registry, Values};
use penstock_scenario::seed::{Seed, Stream};
use serde_json::json;

use super::{Answer, Formula, Given};

/// From so many random windows, over six decades, to the equilibrium: how many of the `starts` get there, the slowest
/// factor by which the distance falls at each step at the end, and the same a little before. `flows` flows of `alpha`
/// packets share `capacity` [packets/s]; their round trips are even from `from` to `to`.
pub(super) const WITHOUT_DELAY: Formula = Formula {
    name: "FAST without delay",
    keys: &["starts", "flows", "alpha", "gamma", "capacity", "from", "to"],
    compute: without_delay,
};

/// Flows on one queue.
struct Queue {
    capacity: f64,
    alpha: f64,
    gamma: f64,
    base_s: Vec<f64>,
}

impl Queue {
    /// The queueing delay at which the windows fill the line: `sum w/(d + q) = c`, or none.
    fn delay_s(&self, windows: &[f64]) -> f64 {
        let excess = |q: f64| windows.iter().zip(&self.base_s).map(|(w, d)| w / (d + q)).sum::<f64>() - self.capacity;
        if excess(0.0) <= 0.0 {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, windows.iter().sum::<f64>() / self.capacity);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        high
    }

    /// Its equilibrium: `x q = alpha`, so `q = n alpha / c` and `w = alpha (d + q) / q`.
    fn rest(&self) -> Vec<f64> {
        let q = self.base_s.len() as f64 * self.alpha / self.capacity;
        self.base_s.iter().map(|d| self.alpha * (d + q) / q).collect()
    }
}

/// The law `fast` of the registry, a sender for each flow.
struct Senders(Vec<Box<dyn Instances<f64, Controller>>>);

impl Senders {
    /// Senders with these windows; the law's own floor raises those below it.
    fn of(queue: &Queue, windows: impl Iterator<Item = f64>) -> Result<Self, String> {
        let registry = Registry::standard();
        let law: &Entry<Controller> = registry.find("fast").ok_or("the registry has no `fast`")?;
        let mut values = Values::defaults(law.parameters);
        for (name, value) in [("alpha", queue.alpha), ("gamma", queue.gamma)] {
            let parameter = law.parameters.iter().find(|p| p.name == name).ok_or("`fast` has another parameter")?;
            values.set(parameter, value).map_err(|e| format!("`{name}`: {e}"))?;
        }
        let sender = |initial_window| {
            let site = Context { packet: Bytes(1000), initial_window, initial_ssthresh: f64::INFINITY };
            let mut law = (law.real)(&values, &site)?;
            law.add();
            Ok(law)
        };
        windows.map(sender).collect::<Result<_, String>>().map(Self)
    }

    fn windows(&self) -> Vec<f64> {
        self.0.iter().map(|law| law.output(0, &Observation::zero()).window).collect()
    }

    /// A round of every flow at the delay that their windows make.
    fn step(&mut self, queue: &Queue) {
        let q = queue.delay_s(&self.windows());
        for (law, d) in self.0.iter_mut().zip(&queue.base_s) {
            law.on_event(0, Event::Round, &Observation { rtt_s: d + q, base_rtt_s: *d, ..Observation::zero() });
        }
    }
}

/// The largest distance of a window from its equilibrium, as a share.
fn off(windows: &[f64], rest: &[f64]) -> f64 {
    windows.iter().zip(rest).map(|(w, r)| (w / r - 1.0).abs()).fold(0.0, f64::max)
}

fn without_delay(given: &Given<'_>) -> Result<Answer, String> {
    let (starts, flows) = (given.count("starts")?, given.count("flows")?);
    let (from, to) = (given.number("from")?, given.number("to")?);
    let spread = |i: u32| from + (to - from) * f64::from(i) / f64::from(flows.max(2) - 1);
    let queue = Queue {
        capacity: given.number("capacity")?,
        alpha: given.number("alpha")?,
        gamma: given.number("gamma")?,
        base_s: (0..flows).map(spread).collect(),
    };
    let rest = queue.rest();
    let mut stream = Seed(1).stream("papers/fast-tcp/starts");
    let (mut arrived, mut last, mut before, mut longest) = (0, 0.0_f64, 0.0_f64, 0);
    for _ in 0..starts {
        let Some(way) = settle(&queue, &rest, &mut stream)? else { continue };
        arrived += 1;
        longest = longest.max(way.steps);
        (last, before) = (last.max(way.last), before.max(way.before));
    }
    Ok(Answer::of(json!({
        "share": f64::from(arrived) / f64::from(starts.max(1)), "steps": longest,
        "factor": last, "factor_before": before,
    })))
}

/// The convergence from a start to the equilibrium.
struct Way {
    /// Updates until every window was within 1e-9 of its equilibrium.
    steps: u32,
    /// Factor of the distance at each update from 1e-6 to 1e-9 of it, and from 1e-3 to 1e-6.
    last: f64,
    before: f64,
}

fn settle(queue: &Queue, rest: &[f64], stream: &mut Stream) -> Result<Option<Way>, String> {
    let start = |r: &f64| r * libm::pow(10.0, 6.0 * stream.unit() - 3.0);
    let mut senders = Senders::of(queue, rest.iter().map(start))?;
    // When it was within 1e-3, 1e-6 and 1e-9 for the first time, and how near exactly.
    let mut passed: Vec<(u32, f64)> = Vec::new();
    let mut there = f64::INFINITY;
    for step in 0..1_000_000 {
        let here = off(&senders.windows(), rest);
        while passed.len() < 3 && here < libm::pow(1e-3, (passed.len() + 1) as f64) {
            passed.push((step, here));
        }
        if passed.len() == 3 {
            // What passes two of them at one update fell by that update's factor at least.
            let factor = |(a, x): (u32, f64), (b, y): (u32, f64)| {
                if a == b { here / there } else { libm::pow(y / x, 1.0 / f64::from(b - a)) }
            };
            return Ok(Some(Way {
                steps: passed[2].0,
                last: factor(passed[1], passed[2]),
                before: factor(passed[0], passed[1]),
            }));
        }
        there = here;
        senders.step(queue);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One flow: at equilibrium with a full line `w = c (d + q)`, so the queue holds alpha more than the pipe, and the distance
    /// falls by `1 - gamma` at each update.
    #[test]
    fn one_flow_keeps_its_packets_in_the_queue() {
        for (gamma, factor) in [("0.5", 0.5), ("1", 0.0)] {
            let keys = [("starts", "5"), ("flows", "1"), ("alpha", "100"), ("gamma", gamma)];
            let path = [("capacity", "83333"), ("from", "180 ms"), ("to", "180 ms")];
            let labels: Vec<(String, String)> =
                keys.iter().chain(&path).map(|(k, v)| ((*k).into(), (*v).into())).collect();
            let numbers = without_delay(&Given(&labels)).unwrap().numbers;
            assert_eq!(numbers["share"], 1.0);
            assert!((numbers["factor"].as_f64().unwrap() - factor).abs() < 1e-3, "{numbers}");
        }
        let queue = Queue { capacity: 83_333.0, alpha: 100.0, gamma: 0.5, base_s: vec![0.18] };
        let rest = queue.rest();
        assert!((rest[0] - (83_333.0 * 0.18 + 100.0)).abs() < 1e-6);
        let mut senders = Senders::of(&queue, rest.iter().copied()).unwrap();
        senders.step(&queue);
        assert!(off(&senders.windows(), &rest) < 1e-12, "the equilibrium stays");
    }
}
