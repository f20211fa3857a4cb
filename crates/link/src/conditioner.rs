//! The ingress of a customer's aggregate: the law that meters and colours it, and its counters.

use std::fmt;

use penstock_law::conditioner::{self, Colour, Event};
use penstock_law::law::Instances;
use penstock_law::quantity::{Bytes, Time};
use penstock_scenario::model::Scenario;
use penstock_scenario::summary::CustomerSummary;
use penstock_scenario::world::Kind;

/// Counters of a conditioner from the start of the run to a moment. Differences of two are those of the time between.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Passed {
    /// The moment.
    pub at: Time,
    /// Packets, by colour.
    pub packets: [u64; 3],
    /// Bytes on the wire, by colour.
    pub bytes: [u64; 3],
    /// Level of the bucket of the committed rate, integrated over time [B s].
    pub level: f64,
    /// Its square, integrated over time [B^2 s].
    pub level_squared: f64,
    /// Time for which a packet more of tokens would not have fitted.
    pub full: Time,
    /// Time without tokens for a packet.
    pub empty: Time,
}

impl Passed {
    /// Share of the bytes since `before` that were green; none where no packet passed.
    pub fn in_profile_since(&self, before: &Self) -> Option<f64> {
        let bytes = |passed: &Self| passed.bytes.iter().sum::<u64>();
        let all = bytes(self) - bytes(before);
        (all > 0).then(|| (self.bytes[0] - before.bytes[0]) as f64 / all as f64)
    }

    /// A row of the series of customers, as [`CUSTOMER_COLUMNS`] names it: packets since `before`, the level now [B], and
    /// how much of it arrived [bit/s].
    pub fn row(&self, before: &Self, level: f64, throughput_bit_per_s: f64) -> [f64; 4] {
        let mean = (self.level - before.level) / self.at.since(before.at).seconds();
        [throughput_bit_per_s, self.in_profile_since(before).unwrap_or(f64::NAN), level, mean]
    }
}

/// Columns of the series of customers, in this order: [`Passed::row`].
pub const CUSTOMER_COLUMNS: [(&str, Kind); 4] = [
    ("throughput_bit_per_s", Kind::Average),
    ("in_profile_fraction", Kind::Average),
    ("bucket_bytes", Kind::Instant),
    ("bucket_mean_bytes", Kind::Average),
];

/// A conditioner at a customer's entry. It neither delays nor drops.
pub struct Conditioner {
    law: Box<dyn Instances<f64, conditioner::Conditioner>>,
    contract: conditioner::Requirements,
    /// A packet: the unit by which full and empty are measured [B].
    packet: f64,
    passed: Passed,
    /// The level at [`Passed::at`] [B].
    level: f64,
    /// Time of the law's first output that is no number.
    unsound: Option<Time>,
}

impl fmt::Debug for Conditioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conditioner")
            .field("contract", &self.contract)
            .field("passed", &self.passed)
            .finish_non_exhaustive()
    }
}

impl Conditioner {
    /// That of each customer who has a contract, at time zero, with its index among the customers.
    ///
    /// # Errors
    /// Why a law cannot be made.
    pub fn of_customers(scenario: &Scenario) -> Result<Vec<(usize, Self)>, String> {
        let packet = scenario.packet.wire;
        let chosen = scenario.customers.iter().enumerate();
        let chosen = chosen.filter_map(|(at, (name, each))| Some((at, name, each.conditioner.as_ref()?)));
        let made = chosen.map(|(at, name, chosen)| {
            let law = (chosen.law.real)(&chosen.values, &conditioner::Context { packet });
            let law = law.map_err(|e| format!("customers.{name}.conditioner: {e}"))?;
            Ok((at, Self::new(law, packet)))
        });
        made.collect()
    }

    /// At time zero. The law's one instance is not yet added; `packet` is a data packet on the wire.
    pub fn new(mut law: Box<dyn Instances<f64, conditioner::Conditioner>>, packet: Bytes) -> Self {
        law.add();
        let level = law.output(0, &conditioner::Observation { now_s: 0.0 }).level;
        Self {
            contract: law.requirements(),
            law,
            packet: packet.0 as f64,
            passed: Passed::default(),
            level,
            unsound: None,
        }
    }

    /// The contract of the law.
    pub fn contract(&self) -> conditioner::Requirements {
        self.contract
    }

    /// A packet passes and is coloured; `coin` draws uniformly from [0, 1).
    pub fn colour(&mut self, now: Time, bytes: u32, coin: impl FnOnce() -> f64) -> Colour {
        self.integrate(now);
        let seen = conditioner::Observation { now_s: now.seconds() };
        let says = self.law.on_event(0, Event::Arrival { bytes }, &seen);
        if !says.is_sound() {
            self.unsound.get_or_insert(now);
        }
        let colour = if says.red + says.yellow <= 0.0 {
            Colour::Green
        } else {
            let draw = coin();
            if draw < says.red {
                Colour::Red
            } else if draw < says.red + says.yellow {
                Colour::Yellow
            } else {
                Colour::Green
            }
        };
        self.level = self.law.on_event(0, Event::Coloured { bytes, colour }, &seen).level;
        self.passed.packets[colour as usize] += 1;
        self.passed.bytes[colour as usize] += u64::from(bytes);
        colour
    }

    /// When the law first returned an output that is no number, and which, if it did: such a run has no result.
    pub fn unsound(&self) -> Option<(Time, &'static str)> {
        self.unsound.map(|at| (at, "a probability or a level of NaN"))
    }

    /// Counters up to `now`.
    pub fn read(&mut self, now: Time) -> Passed {
        self.integrate(now);
        self.passed
    }

    /// The level of the bucket of the committed rate at `now` [B].
    pub fn level(&self, now: Time) -> f64 {
        self.law.output(0, &conditioner::Observation { now_s: now.seconds() }).level
    }

    /// Names and units of the law's observables, and their values after the last packet.
    pub fn observables(&mut self) -> Vec<(&'static str, &'static str, f64)> {
        let mut values = Vec::new();
        self.law.each(0, &mut |x| values.push(*x));
        self.law.names().iter().zip(values).map(|((name, unit), value)| (*name, *unit, value)).collect()
    }

    /// Summary of the customer between two moments, with its arrivals [bit/s].
    pub fn summary(&self, before: &Passed, after: &Passed, throughput_bit_per_s: f64) -> CustomerSummary {
        let seconds = after.at.since(before.at).seconds();
        let mean = (after.level - before.level) / seconds;
        let square = (after.level_squared - before.level_squared) / seconds;
        let committed = self.contract.committed_bit_per_s;
        CustomerSummary {
            throughput_bit_per_s,
            committed_bit_per_s: Some(committed),
            achieved_fraction: Some(throughput_bit_per_s / committed),
            in_profile_fraction: after.in_profile_since(before),
            bucket_mean_bytes: Some(mean),
            bucket_sd_bytes: Some((square - mean * mean).max(0.0).sqrt()),
            time_full: Some((after.full - before.full).seconds() / seconds),
            time_empty: Some((after.empty - before.empty).seconds() / seconds),
        }
    }

    /// Integrates the level up to `now`: it rises at the committed rate and then stands at the brim.
    fn integrate(&mut self, now: Time) {
        let elapsed = now.since(self.passed.at);
        let span = elapsed.seconds();
        let (rate, brim, start) = (self.contract.committed_bit_per_s / 8.0, self.contract.bucket_bytes, self.level);
        // When the level reaches a mark, within the span.
        let until = |mark: f64| Time::from_seconds((mark - start) / rate).min(elapsed);
        let rising = ((brim - start) / rate).clamp(0.0, span);
        let standing = span - rising;
        let risen = rate * rising;
        let p = &mut self.passed;
        p.level += (start + risen / 2.0) * rising + brim * standing;
        p.level_squared += (start * start + start * risen + risen * risen / 3.0) * rising + brim * brim * standing;
        p.full += elapsed - until(brim - self.packet);
        p.empty += if self.packet > brim { elapsed } else { until(self.packet) };
        p.at = now;
        self.level = (start + rate * span).min(brim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_law::conditioner::{self, CONDITIONERS};
    use penstock_law::{Values, law};

    const MS: u64 = 1_000_000_000;

    fn conditioner(name: &str, settings: &[(&str, f64)]) -> Conditioner {
        let entry = law::find(CONDITIONERS, name).unwrap();
        let mut values = Values::defaults(entry.parameters);
        for (key, value) in settings {
            values.set(entry.parameters.iter().find(|p| p.name == *key).unwrap(), *value).unwrap();
        }
        let packet = Bytes(1000);
        Conditioner::new((entry.real)(&values, &conditioner::Context { packet }).unwrap(), packet)
    }

    /// 8 Mbit/s fill 1000 B a millisecond. Four packets at once take all of four: the level rises for 4 ms and stands for
    /// the next 6; for the last packet's time of the rise and from then on, one more would not fit.
    #[test]
    fn the_level_is_integrated_as_it_rises_and_stands() {
        let mut edge = conditioner("token-bucket", &[("committed_rate", 8e6), ("bucket", 4000.0)]);
        for _ in 0..4 {
            assert_eq!(edge.colour(Time::ZERO, 1000, || unreachable!("the law is certain")), Colour::Green);
        }
        let half = edge.read(Time(2 * MS));
        assert!((half.level - 2.0).abs() < 1e-9 && (half.level_squared - 8000.0 / 3.0).abs() < 1e-6, "{half:?}");
        assert!((edge.level(Time(2 * MS)) - 2000.0).abs() < 1e-6);
        let p = edge.read(Time(10 * MS));
        assert!((p.level - (4.0 * 4.0 / 2.0 + 4.0 * 6.0)).abs() < 1e-9, "{p:?}");
        assert!((p.level_squared - (64e3 / 3.0 + 96e3)).abs() < 1e-6, "{p:?}");
        assert_eq!((p.empty, p.full), (Time(MS), Time(7 * MS)));
        assert_eq!((p.packets, p.bytes), ([4, 0, 0], [4000, 0, 0]));
    }

    /// Reading between packets changes no colour: packets out of profile after ten at once are so however often
    /// the level was read.
    #[test]
    fn looking_changes_nothing() {
        let pass = |looks: u64| {
            let mut edge = conditioner("early-marking", &[("committed_rate", 8e6), ("bucket", 20_000.0)]);
            let mut coin = 0.5;
            let colours: Vec<Colour> = (0..5000u64)
                .map(|n| {
                    for look in 0..looks {
                        edge.read(Time(n * MS / 2 + look));
                    }
                    coin = (coin * 997.0) % 1.0;
                    edge.colour(Time(n * MS / 2 + 5), 1000, || coin)
                })
                .collect();
            colours
        };
        let colours = pass(0);
        assert_eq!(colours, pass(3));
        let red = colours.iter().filter(|colour| **colour == Colour::Red).count();
        assert!((2400..2500).contains(&red), "half is red, but for the first bucket: {red}");
    }

    /// Without a bucket nothing is in profile; a rate that nobody exceeds leaves it full.
    #[test]
    fn a_bucket_of_nothing_and_one_that_nobody_empties() {
        let mut none = conditioner("early-marking", &[("committed_rate", 8e6), ("bucket", 0.0)]);
        let mut ample = conditioner("early-marking", &[("committed_rate", 1e9)]);
        for n in 0..1000 {
            assert_eq!(none.colour(Time(n * MS), 1000, || 0.999), Colour::Red);
            assert_eq!(ample.colour(Time(n * MS), 1000, || 0.0), Colour::Green);
        }
        let (none, ample) = (none.read(Time(1000 * MS)), ample.read(Time(1000 * MS)));
        assert_eq!((none.level, none.empty, none.full), (0.0, Time(1000 * MS), Time(1000 * MS)));
        assert!(
            ample.full > Time(999 * MS) && ample.empty == Time::ZERO && (ample.level / 12.5e6 - 1.0).abs() < 1e-3,
            "{ample:?}"
        );
    }
}
