//! Where a customer's aggregate enters: its conditioner, which colours fluid.
//!
//! The aggregate's packets come evenly spaced, and each is coloured by its mean: of a packet that is red with a
//! probability, the others take tokens. So a bucket that runs dry lets through its own inflow, as it does with packets, and
//! the law's own clock is the clock.

use penstock_law::Instances;
use penstock_law::conditioner::{self, Colour, Event};
use penstock_law::quantity::Bytes;
use penstock_scenario::model::Chosen;

use super::state::{State, put, state_of};

/// Shares of green, yellow and red.
pub(super) type Shares = [f64; 3];

/// Traffic without a conditioner.
pub(super) const GREEN: Shares = [1.0, 0.0, 0.0];

/// A customer's entry.
pub(super) struct Conditioner {
    /// Its index among the customers.
    pub(super) customer: usize,
    law: Box<dyn Instances<f64, penstock_law::conditioner::Conditioner>>,
    /// The contract of the law.
    pub(super) contract: conditioner::Requirements,
    /// The names of the law's state.
    pub(super) names: &'static [(&'static str, &'static str)],
    bytes: u32,
    step: f64,
    /// The part of the next packet that has arrived.
    begun: f64,
    /// The shares of the arrivals of each step; the newest at the end.
    shares: Vec<Shares>,
    /// Arrivals of this step [packets].
    pub(super) incoming: f64,
    /// The level at `counted_s` [B].
    level: f64,
    counted_s: f64,
    /// Counted since the start.
    pub(super) total: Counted,
    /// Time of the law's first output that is no number [s].
    pub(super) unsound_s: Option<f64>,
}

/// Counters of an entry: packets, and integrals over time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) arrived: f64,
    /// In profile.
    pub(super) green: f64,
    /// Integral of the level [B s], and of its square [B^2 s].
    pub(super) level: f64,
    pub(super) level_squared: f64,
    /// Time for which a packet more of tokens would not have fitted, and time without tokens for a packet [s].
    pub(super) full: f64,
    pub(super) empty: f64,
}

impl Conditioner {
    pub(super) fn new(
        customer: usize,
        chosen: &Chosen<penstock_law::conditioner::Conditioner>,
        packet: Bytes,
    ) -> Result<Self, String> {
        let mut law = (chosen.law.real)(&chosen.values, &conditioner::Context { packet })?;
        law.add();
        let level = law.output(0, &conditioner::Observation { now_s: 0.0 }).level;
        Ok(Self {
            customer,
            contract: law.requirements(),
            names: law.names(),
            law,
            bytes: u32::try_from(packet.0).unwrap_or(u32::MAX),
            step: 0.0,
            begun: 0.0,
            shares: Vec::new(),
            incoming: 0.0,
            level,
            counted_s: 0.0,
            total: Counted::default(),
            unsound_s: None,
        })
    }

    pub(super) fn begin(&mut self, steps: usize, step: f64) {
        self.step = step;
        self.shares.reserve(steps + 1);
        self.shares.push(GREEN);
    }

    /// The shares of the arrivals at `t`.
    pub(super) fn shares_at(&self, t: f64) -> Shares {
        let step = libm::ceil(t / self.step - 1e-9).max(0.0) as usize;
        self.shares[step.min(self.shares.len() - 1)]
    }

    /// Numbers of the law's state.
    pub(super) fn state(&mut self) -> State {
        state_of(self.law.as_mut(), 0)
    }

    /// Level of the bucket of the committed rate [B].
    pub(super) fn level_bytes(&self) -> f64 {
        self.level
    }

    /// One step, with its arrivals.
    pub(super) fn advance(&mut self, from: f64, to: f64) {
        let rate = self.incoming / (to - from);
        let (mut sum, mut packets) = ([0.0; 3], 0.0);
        let mut until = 1.0 - self.begun;
        while until <= self.incoming {
            let coloured = self.packet(from + until / rate);
            for (sum, share) in sum.iter_mut().zip(coloured) {
                *sum += share;
            }
            packets += 1.0;
            until += 1.0;
        }
        self.begun += self.incoming - packets;
        self.count(to);
        // Less than a packet a step becomes what the last one became.
        let last = self.shares[self.shares.len() - 1];
        let shares = if packets > 0.0 { sum.map(|sum| sum / packets) } else { last };
        self.shares.push(shares);
        self.total.arrived += self.incoming;
        self.total.green += self.incoming * shares[0];
        self.incoming = 0.0;
    }

    /// A packet arrives, and is coloured by its mean.
    fn packet(&mut self, now_s: f64) -> Shares {
        self.count(now_s);
        let (bytes, now) = (self.bytes, conditioner::Observation { now_s });
        let said = self.law.on_event(0, Event::Arrival { bytes }, &now);
        if !said.is_sound() {
            self.unsound_s.get_or_insert(now_s);
        }
        let shares = [1.0 - said.yellow - said.red, said.yellow, said.red];
        let before = self.state();
        let mut mean = State::zeros(before.len());
        for (share, colour) in shares.into_iter().zip(Colour::ALL) {
            if share == 0.0 {
                continue;
            }
            put(self.law.as_mut(), 0, &before);
            self.law.on_event(0, Event::Coloured { bytes, colour }, &now);
            for (sum, x) in mean.iter_mut().zip(self.state().iter()) {
                *sum += share * x;
            }
        }
        put(self.law.as_mut(), 0, &mean);
        self.level = self.law.output(0, &now).level;
        shares
    }

    /// Integrates the level up to `now`: it rises at the committed rate, and then stands at the brim.
    fn count(&mut self, now_s: f64) {
        // The sum of steps may be a rounding short of the moment before.
        let span = f64::max(now_s - self.counted_s, 0.0);
        let (rate, brim, start) = (self.contract.committed_bit_per_s / 8.0, self.contract.bucket_bytes, self.level);
        let packet = f64::from(self.bytes);
        let until = |mark: f64| ((mark - start) / rate).clamp(0.0, span);
        let (rising, total) = (until(brim), &mut self.total);
        let (risen, standing) = (rate * rising, span - rising);
        total.level += (start + 0.5 * risen) * rising + brim * standing;
        total.level_squared += (start * start + start * risen + risen * risen / 3.0) * rising + brim * brim * standing;
        total.full += span - until(brim - packet);
        total.empty += if packet > brim { span } else { until(packet) };
        self.level = f64::min(start + rate * span, brim);
        self.counted_s = now_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_law::Values;
    use penstock_law::conditioner::CONDITIONERS;
    use penstock_law::law::find;

    fn conditioner(name: &str, set: &[(&str, f64)]) -> Conditioner {
        let law = find(CONDITIONERS, name).unwrap();
        let mut values = Values::defaults(law.parameters);
        for (name, value) in set {
            values.set(law.parameters.iter().find(|p| p.name == *name).unwrap(), *value).unwrap();
        }
        let mut gate = Conditioner::new(0, &Chosen { law, values }, Bytes(1000)).unwrap();
        gate.begin(1000, 0.01);
        gate
    }

    /// 8 Mbit/s fill 1000 packets a second. At twice that, a full bucket of a hundred packets lasts for 100 ms, and then
    /// every other packet is in profile; at half of it, it fills again, and stays full.
    #[test]
    fn a_bucket_drains_runs_dry_and_fills() {
        let mut gate = conditioner("token-bucket", &[("committed_rate", 8e6), ("bucket", 100e3)]);
        let run = |gate: &mut Conditioner, from: u32, to: u32, rate: f64| {
            for k in from..to {
                gate.incoming = 0.01 * rate;
                gate.advance(0.01 * f64::from(k), 0.01 * f64::from(k + 1));
            }
        };
        run(&mut gate, 0, 9, 2000.0);
        assert!((gate.level_bytes() - 10e3).abs() < 1e3 && gate.total.green == gate.total.arrived);
        run(&mut gate, 9, 109, 2000.0);
        let green = gate.total.green;
        // What was in it and what came in since.
        assert!((green - 100.0 - 1090.0).abs() <= 1.0, "{green}");
        assert!((gate.total.empty - 0.99).abs() < 0.02, "{}", gate.total.empty);
        assert!((gate.shares_at(1.0)[2] - 0.5).abs() < 0.051);
        run(&mut gate, 109, 119, 500.0);
        assert!((gate.level_bytes() - 50e3).abs() < 2e3, "{}", gate.level_bytes());
        run(&mut gate, 119, 409, 500.0);
        assert!(gate.level_bytes() >= 99e3 && gate.total.arrived - gate.total.green - (2180.0 - green) < 1.5);
        // From 1.29 s on.
        assert!((gate.total.full - 2.8).abs() < 0.05, "{}", gate.total.full);
    }

    /// A steady rate that the early marker's reference is the equilibrium of: half is red, and the level stays.
    #[test]
    fn an_early_marker_settles() {
        let set = [("committed_rate", 8e6), ("bucket", 100e3), ("gain_rule", 3.0), ("k1", 0.01), ("k2", 0.0099)];
        let mut gate = conditioner("early-marking", &set);
        for k in 0..4000 {
            gate.incoming = 20.0;
            gate.advance(0.01 * f64::from(k), 0.01 * f64::from(k + 1));
        }
        assert!((gate.shares_at(39.0)[2] - 0.5).abs() < 1e-3, "{:?}", gate.shares_at(39.0));
        assert!((gate.level_bytes() - 75e3).abs() < 1e3, "{}", gate.level_bytes());
    }

    /// Less than a packet a step.
    #[test]
    fn rare_packets_are_coloured_when_they_come() {
        let mut gate = conditioner("token-bucket", &[("committed_rate", 8e3), ("bucket", 1e3)]);
        for k in 0..1000 {
            gate.incoming = 0.02;
            gate.advance(0.01 * f64::from(k), 0.01 * f64::from(k + 1));
        }
        // Two packets a second, one of them in profile.
        assert!((gate.total.arrived - 20.0).abs() < 1e-9 && (gate.total.green - 10.0).abs() < 1.1, "{:?}", gate.total);
    }
}
