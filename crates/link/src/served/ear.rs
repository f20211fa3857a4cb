//! Observations of the instances of a law besides their queues.

use penstock_law::aqm::{self, Aqm};
use penstock_law::law::Instances;
use penstock_law::quantity::Time;

/// Observation of an instance of the law besides the queue itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ear {
    /// Bytes that arrived since the last tick.
    pub(super) arrived: u64,
    /// Bytes whose transmission began since the last tick.
    pub(super) departed: u64,
    /// When its last transmission ends.
    pub(super) free: Time,
    pub(super) last_arrival: Time,
}

/// Of all since the last tick [packets]: arrivals, departures, and the mean number let in by the probabilities.
pub(super) fn of_all(ears: &[Ear], law: &dyn Instances<f64, Aqm>, per_byte: f64) -> [f64; 3] {
    let nothing = aqm::Observation::zero();
    let total = |f: fn(&Ear) -> u64| ears.iter().map(f).sum::<u64>() as f64 * per_byte;
    let let_in = |(at, ear): (usize, &Ear)| ear.arrived as f64 * (1.0 - law.output(at, &nothing).probability);
    let let_in: f64 = ears.iter().enumerate().map(let_in).sum();
    [total(|ear| ear.arrived), total(|ear| ear.departed), let_in * per_byte]
}
