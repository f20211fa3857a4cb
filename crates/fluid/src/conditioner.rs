//! A conditioner: its bucket at equilibrium and near it, by its law's own update.
//!
//! The law acts packet by packet, and so its map from one packet to the next is kept, the mean over the fates of each.
//! The equation (1) of "Random Early Marking", `db/dt = C - r`, which should be `C - (1 - p) r` since only packets in profile
//! take tokens, is not written here: the law takes them.

use penstock_law::conditioner::{self, Colour, Event};
use penstock_law::{Dual, Number};
use penstock_scenario::model::Chosen;

use crate::complex::Complex;
use crate::error::AnalysisError;
use crate::linear::{Jacobians, Linear};
use crate::loop_model::LoopModel;
use crate::machine::{Kink, Machine};
use crate::settle::{jacobian, root};

/// Starts of the search for an equilibrium, as shares of the law's initial state, a full bucket, and of one where that is
/// zero: away from the limits at both ends.
const BEGINNINGS: [f64; 5] = [0.5, 0.25, 0.1, 0.75, 0.9];

/// A conditioner, ready to be evaluated.
pub struct Conditioner {
    law: &'static str,
    machine: Machine<conditioner::Conditioner>,
    needs: conditioner::Requirements,
    bytes: u32,
    last: Option<Vec<f64>>,
}

/// A conditioner at equilibrium under a steady rate.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionerEquilibrium {
    /// The law's state once a packet has passed, in the order of its names.
    pub state: Vec<f64>,
    /// Rate of arrivals [packets/s].
    pub rate: f64,
    /// Probability that a packet is out of profile.
    pub out: f64,
    /// Level of the bucket of the committed rate as a packet arrives [packets].
    pub level: f64,
}

/// A PI controller of a level, `K (s/z + 1)/s`, as the law is one from packet to packet.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Controller {
    /// Gain on the distance from the reference now [1/packet].
    pub k1: f64,
    /// Gain on the distance one packet before [1/packet].
    pub k2: f64,
    /// K, with packets at the committed rate [1/(packet s)].
    pub gain: f64,
    /// z [rad/s].
    pub zero: f64,
}

/// A conditioner near its equilibrium, as a frequency response.
#[derive(Debug, Clone)]
pub struct ConditionerResponse {
    linear: Linear,
    /// [packets/s]
    rate: f64,
    /// Distance to the nearest kink of the law, in the units of that comparison; none where it has none.
    pub nearest_kink: Option<f64>,
    /// Whether the law alone, at a constant rate, would run away.
    pub runs_away: bool,
}

impl Conditioner {
    /// Compiles a conditioner of a scenario.
    ///
    /// # Errors
    /// The law cannot be linearised or refuses its parameters.
    pub fn new(chosen: &Chosen<conditioner::Conditioner>, site: &conditioner::Context) -> Result<Self, AnalysisError> {
        let machine = Machine::new(chosen, site)?;
        Ok(Self {
            law: chosen.law.name,
            needs: machine.requirements(),
            machine,
            bytes: u32::try_from(site.packet.0).unwrap_or(u32::MAX),
            last: None,
        })
    }

    /// The law's name.
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// Names and units of the law's state.
    pub fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.machine.names()
    }

    /// Committed rate of the contract [packets/s].
    pub fn committed_packets_per_s(&self) -> f64 {
        self.needs.committed_bit_per_s / (8.0 * f64::from(self.bytes))
    }

    /// Size of the bucket [packets].
    pub fn bucket_packets(&self) -> f64 {
        self.needs.bucket_bytes / f64::from(self.bytes)
    }

    /// The state after a packet that comes `gap_s` after the one before, on average over its outcomes; the law's
    /// output for that packet, and the state of that output.
    fn packet(&mut self, state: &[Dual], gap_s: Dual) -> (Vec<Dual>, conditioner::Output<Dual>) {
        // The law's clock starts anew with each packet, since the moment of the last one is frozen at zero.
        let bytes = self.bytes;
        let here = self.machine.after(state, Event::Arrival { bytes }, &conditioner::Observation { now_s: gap_s });
        let now = conditioner::Observation { now_s: Dual::of(0.0) };
        let said = self.machine.output(&here, &now);
        let green = Dual::of(1.0) - said.yellow - said.red;
        let mut mean = vec![Dual::of(0.0); here.len()];
        for (chance, colour) in [(green, Colour::Green), (said.yellow, Colour::Yellow), (said.red, Colour::Red)] {
            if chance.value == 0.0 && chance.slope == 0.0 {
                continue;
            }
            for (sum, x) in mean.iter_mut().zip(self.machine.after(&here, Event::Coloured { bytes, colour }, &now)) {
                *sum += chance * x;
            }
        }
        (mean, said)
    }

    /// Where the law settles under a steady rate [packets/s]; none where it does not, because no more arrives than is
    /// committed, or the bucket is empty whatever it does.
    pub fn equilibrium(&mut self, rate: f64) -> Option<ConditionerEquilibrium> {
        let gap = Dual::of(1.0 / rate);
        let full = self.machine.start().to_vec();
        let starts = self.last.clone().into_iter();
        let starts = starts.chain(
            BEGINNINGS.map(|share| full.iter().map(|x| share * if *x == 0.0 { 1.0 } else { *x }).collect::<Vec<f64>>()),
        );
        for start in starts {
            let found = root(&start, &mut |v| {
                self.packet(v, gap).0.into_iter().zip(v).map(|(after, before)| after - *before).collect()
            });
            let Some(state) = found else { continue };
            let duals: Vec<Dual> = state.iter().map(|x| Dual::of(*x)).collect();
            let (_, said) = self.packet(&duals, gap);
            let out = said.yellow.value + said.red.value;
            if !(0.0..=1.0).contains(&out) {
                continue;
            }
            self.last = Some(state.clone());
            return Some(ConditionerEquilibrium { state, rate, out, level: said.level.value / f64::from(self.bytes) });
        }
        None
    }

    /// The controller that the law is near an equilibrium: the decrease, for a level that is a packet higher, of the probability of the
    /// packet that finds it, `k1`, and of each one after, `k1 - k2`; by (12) of "Random Early Marking" the PI controller
    /// whose bilinear transform that is, with packets at the committed rate. None for a law that goes by no level.
    pub fn controller(&mut self, equilibrium: &ConditionerEquilibrium) -> Option<Controller> {
        let state: Vec<Dual> = equilibrium.state.iter().map(|x| Dual::of(*x)).collect();
        let now = conditioner::Observation { now_s: Dual::of(0.0) };
        let (arrival, red) =
            (Event::Arrival { bytes: self.bytes }, Event::Coloured { bytes: self.bytes, colour: Colour::Red });
        let gap = conditioner::Observation { now_s: Dual::seed(1.0 / equilibrium.rate) };
        // No packet takes tokens here, and so what the gap has put in stays.
        let first = self.machine.after(&state, arrival, &gap);
        let (one, said) = (self.machine.output(&first, &now), self.machine.after(&first, red, &now));
        let second = self.machine.after(&said, arrival, &now);
        let two = self.machine.output(&second, &now);
        let packets = one.level.slope / f64::from(self.bytes);
        let k1 = -(one.yellow + one.red).slope / packets;
        let each = -((two.yellow + two.red).slope - (one.yellow + one.red).slope) / packets;
        let (k2, gain) = (k1 - each, each * self.committed_packets_per_s());
        let zero = 2.0 * gain / (k1 + k2);
        (gain.is_finite() && gain > 0.0 && zero.is_finite()).then_some(Controller { k1, k2, gain, zero })
    }

    /// The law near its equilibrium, by duals through its own update.
    pub fn linearise(&mut self, equilibrium: &ConditionerEquilibrium) -> ConditionerResponse {
        let m = equilibrium.state.len();
        let mut kink = Kink::NONE;
        let mut point = equilibrium.state.clone();
        point.push(equilibrium.rate);
        let (_, slopes) = jacobian(&point, &mut |v| {
            let (mut all, _) = self.packet(&v[..m], Dual::of(1.0) / v[m]);
            let said = self.machine.output(&v[..m], &conditioner::Observation { now_s: Dual::of(0.0) });
            all.push(said.yellow + said.red);
            kink.note(&all);
            all
        });
        let block = |columns: core::ops::Range<usize>| -> Vec<Vec<f64>> {
            slopes[..m].iter().map(|row| row[columns.clone()].to_vec()).collect()
        };
        let linear = Linear::new(Jacobians {
            rate: 0.0,
            change: vec![vec![0.0; m]; m],
            drive: vec![vec![0.0]; m],
            step: Some((1.0 / equilibrium.rate, block(0..m), block(m..m + 1))),
            output: slopes[m][..m].to_vec(),
            direct: vec![0.0],
        });
        let (runs_away, nearest_kink) = (linear.runs_away(), kink.nearest());
        ConditionerResponse { linear, rate: equilibrium.rate, nearest_kink, runs_away }
    }
}

impl ConditionerResponse {
    /// The response at `s` of the probability of being out of profile to the arrival rate [1 per packet/s].
    ///
    /// The gap before a packet is the mean of the rate over it, whatever the model; the output for a packet holds
    /// until the next is left to [`LoopModel::Sampled`].
    pub fn at(&self, s: Complex, model: LoopModel) -> Complex {
        self.linear.response(s, model.counts_sampling())[0] * (s * (1.0 / self.rate)).hold()
    }
}
