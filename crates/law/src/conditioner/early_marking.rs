//! The early marker: a token bucket that colours some packets red before it is empty, so that its level settles at a
//! reference and TCP flows slow down one by one, not together.
//!
//! Source: Tartarelli and Banchs, "Random Early Marking: Improving TCP Performance in DiffServ Assured Forwarding";
//! Algorithm 1, equations (7) to (12). No relation of random exponential marking, a queue's law of the same initials.
//!
//! A PI controller on the bucket's level gives the probability. Red packets take no tokens, so that a level that settles
//! means an in-profile rate of exactly the committed rate; without tokens for it a packet is red, whatever the
//! probability.
//! Differs: equations (1) and (3) forget that red packets take no tokens, the algorithm does not; (8) has lost the
//! bucket's own integrator, and with it the gain (10) is too weak to act (see `gain_rule`), so that by default the gain
//! is that of the true loop,
//!
//!   L(jw) = e^(-jwR) C^2 K / (2N) (jw/z + 1) / ((jw)^2 (jw + a)),  a = 2N / (R^2 C)
//!
//! The probability is clamped to 0..1 before it is stored, which the paper leaves open: the integral does not wind up.
//! Gains are tiny, and their difference a millionth of them. They are kept times a power of two, which changes nothing
//! where the point floats; in fixed point it lets both be exact, and the probability has 62 binary digits there.
//! Kernel implementation: `bpf/law/early-marking.h`, held equal bit for bit by `vectors/early-marking.txt`.
//!
//! If R C / N, the window of a flow, is sqrt(2) packets or less, (4) has no operating point, and below some 4 timeouts rule;
//! the design is then a gain that is stable, not a prediction. Clamped at zero, the probability rises with any fall of the
//! level, also from above the reference: UDP within its contract is red with `k1 (B - b)` at most.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

use super::bucket::{BUCKET, Bucket, COMMITTED_RATE, contract};
use super::{Colour, Conditioner, Context, Event, Observation, Output, Requirements};
use crate::law::{Entry, Instances, Law, Linearisation, Observables, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Default, Parameter, Unit, Values};

const RULES: &[&str] = &["loop", "paper", "paper-dimension", "given", "paper-bytes"];

pub(super) const ENTRY: Entry<Conditioner> = Entry {
    name: "early-marking",
    title: "Early marker: a PI controller keeps the level of a token bucket at a reference",
    source: "Tartarelli and Banchs, Random Early Marking: Improving TCP Performance in DiffServ Assured Forwarding",
    colour: "#b8327a",
    parameters: &[
        COMMITTED_RATE,
        BUCKET,
        Parameter::number(
            "reference",
            Unit::One,
            0.75,
            [0.0, 1.0],
            "level to hold, as a share of the bucket",
            "the paper, section IV",
        ),
        Parameter {
            name: "gain_rule",
            description: "source of the gains: the exact loop, (10) as printed, (10) with corrected dimension, `k1` and \
                   `k2`, or (10) and (12), which are in packets, on a level in bytes",
            unit: Unit::Choice(RULES),
            default: Default::Is(0.0),
            least: 0.0,
            most: 4.0,
            source: "(10) follows from (8), which lacks an integrator; its gain cannot reach the operating point within \
                     minutes",
        },
        Parameter::number(
            "least_flows",
            Unit::One,
            10.0,
            [1e-3, 1e9],
            "lower bound on the TCP flows in the aggregate, N-",
            "the paper, section III: a lower bound",
        ),
        Parameter::number(
            "largest_rtt",
            Unit::Seconds,
            0.1,
            [1e-6, 1e3],
            "upper bound on the round-trip time, R+",
            "the paper, section III: an upper bound",
        ),
        Parameter::automatic(
            "packet",
            Unit::Bytes,
            "a data packet on the wire",
            [1.0, 65_535.0],
            "packet size of the design, in which rates and levels are in packets",
            "the paper, section III",
        ),
        Parameter::automatic(
            "k1",
            Unit::One,
            "by `gain_rule` and (12)",
            [0.0, 1e6],
            "gain on the present distance of the level from the reference [1/packet]",
            "the paper, Algorithm 1 and (12)",
        ),
        Parameter::automatic(
            "k2",
            Unit::One,
            "by `gain_rule` and (12)",
            [0.0, 1e6],
            "gain on the distance at the previous packet [1/packet]",
            "the paper, Algorithm 1 and (12)",
        ),
    ],
    observables: Observables::of::<EarlyMarking<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &build::<f64, EarlyMarking<f64>>,
    dual: Some(&build::<Dual, EarlyMarking<Dual>>),
    fixed: Some(&held),
    kernel: None,
};

/// The rule that derives the gain from an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GainRule {
    /// The true loop crosses one at min(a/2, 0.25/R).
    Loop,
    /// Equation (10) as printed.
    Paper,
    /// Equation (10) times w_g, which mends its dimension: the true loop has magnitude 0.1 at w_g.
    PaperDimension,
}

/// The aggregate of a design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aggregate {
    /// The committed rate, C [packets/s].
    pub packets_per_s: f64,
    /// Flows of TCP at least, N-.
    pub flows: f64,
    /// Round-trip time at most, R+ [s].
    pub rtt_s: f64,
}

/// A PI controller, C(s) = K (s/z + 1)/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// Its zero, z [rad/s].
    pub zero: f64,
    /// Its gain, K [1/(packet s)].
    pub gain: f64,
    /// Gains of Algorithm 1 [1/packet].
    pub k: [f64; 2],
}

impl Aggregate {
    /// The pole of TCP, a = 2N/(R^2 C) [rad/s].
    pub fn pole(&self) -> f64 {
        2.0 * self.flows / (self.rtt_s * self.rtt_s * self.packets_per_s)
    }

    /// The window of a flow, W0 = R C/N [packets].
    pub fn window(&self) -> f64 {
        self.rtt_s * self.packets_per_s / self.flows
    }

    /// The controller that a rule gives.
    pub fn design(&self, rule: GainRule) -> Design {
        let Self { packets_per_s: c, flows: n, rtt_s: r } = *self;
        let a = self.pole();
        // (9): a tenth of the pole.
        let paper_zero = 0.1 * a;
        let (zero, gain) = match rule {
            GainRule::Loop => {
                let crossover = Number::min(a / 2.0, 0.25 / r);
                let zero = Number::min(paper_zero, crossover / 5.0);
                let plant = c * c / (2.0 * n) / (crossover * crossover * libm::hypot(crossover, a));
                (zero, 1.0 / (plant * libm::hypot(1.0, crossover / zero)))
            }
            GainRule::Paper => (paper_zero, printed_gain(n, r, c)),
            GainRule::PaperDimension => (paper_zero, printed_gain(n, r, c) * paper_zero),
        };
        // (12), with T = 1/C: the bilinear transform.
        let half_step = 0.5 / c;
        Design { zero, gain, k: [gain * (1.0 / zero + half_step), gain * (1.0 / zero - half_step)] }
    }
}

/// (10).
fn printed_gain(n: f64, r: f64, c: f64) -> f64 {
    let (flows, path) = (2.0 * n, r * r * c * c);
    0.007 * flows * flows * flows / (path * path)
}

/// In the kernel's arithmetic, as far as it reaches.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that every entry has")]
fn held(values: &Values, context: &Context) -> Result<Box<dyn Instances<Fix<32>, Conditioner>>, String> {
    let law = EarlyMarking::<f64>::compile(values, context)?;
    law.bucket.fits()?;
    let [now, each] = [law.k1, law.k1 - law.k2].map(|k| libm::ldexp(k, -(law.places as i32)));
    if now >= 2.0 {
        return Err("a gain of 2 a byte or more is beyond the kernel's arithmetic".to_string());
    }
    // Half of the last place, which is 2^-62, is the least that moves the probability.
    if each > 0.0 && each * law.bucket.depth / 100.0 < libm::ldexp(1.0, -63) {
        return Err(
            "the integral is too weak for the kernel's arithmetic: it would not see a level that is a hundredth of \
             the bucket from the reference"
                .to_string(),
        );
    }
    build::<Fix<32>, EarlyMarking<Fix<32>>>(values, context)
}

/// The law's compiled parameters.
#[derive(Debug)]
pub struct EarlyMarking<N> {
    /// The committed bucket of the contract
    pub bucket: Bucket<N>,
    contract: Requirements,
    /// The level to hold [B]
    pub reference: N,
    /// Gain on the distance now, times a power of two [1/B]
    pub k1: N,
    /// Gain on the distance one packet before, times the same [1/B]
    pub k2: N,
    /// The binary digits that this is more than the scale of the stored probability
    pub places: u32,
    /// The scale of the stored probability: 2 to the power of [`Number::SPARE`]
    whole: N,
    /// One over that
    part: N,
    zero: N,
    one: N,
}

numbers! {
    /// The state of the early marker.
    pub struct State {
        /// Tokens left in the bucket after the last packet.
        tokens: "B" as "Tokens",
        /// Probability that a packet is red although there are tokens for it. Fixed point stores it times 2^30.
        probability: "1" as "Early marking probability",
        /// Level of the bucket before the last packet.
        level_before: "B" as "Bucket level before the last packet",
    }
    frozen {
        /// The time of the last packet [s].
        at_s: N,
        /// True if there were tokens for it.
        conforms: bool,
    }
}

impl<N: Number> Law<N> for EarlyMarking<N> {
    type Role = Conditioner;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let packet = values.optional("packet").unwrap_or(context.packet.0 as f64);
        let aggregate = Aggregate {
            packets_per_s: values.number(COMMITTED_RATE.name) / (8.0 * packet),
            flows: values.number("least_flows"),
            rtt_s: values.number("largest_rtt"),
        };
        let rule = match values.number("gain_rule") as usize {
            0 => Some(GainRule::Loop),
            1 | 4 => Some(GainRule::Paper),
            2 => Some(GainRule::PaperDimension),
            _ => None,
        };
        // Gains in packets on a level in bytes are as many times larger as a packet has bytes.
        let unit = if values.number("gain_rule") as usize == 4 { packet } else { 1.0 };
        let [k1, k2] = match (rule, values.optional("k1"), values.optional("k2")) {
            (Some(rule), None, None) => aggregate.design(rule).k.map(|k| k * unit),
            (None, Some(k1), Some(k2)) => [k1, k2],
            (None, ..) => return Err("`gain_rule = \"given\"` needs both `k1` and `k2`".to_string()),
            (Some(_), ..) => return Err("`k1` and `k2` are given with `gain_rule = \"given\"` only".to_string()),
        };
        if k2 > k1 {
            return Err(format!(
                "`k1` ({k1}) must be at least `k2` ({k2}), or the integral runs away from the reference"
            ));
        }
        let bucket: Bucket<N> = Bucket::committed(values);
        // As large as fixed point can hold.
        let least = N::SPARE as i32;
        let scale = (31 - libm::frexp(k1 / packet).1).clamp(least, least + 95);
        Ok(Self {
            bucket,
            contract: contract(values),
            reference: N::of(values.number("reference")) * bucket.depth,
            k1: N::of(libm::ldexp(k1 / packet, scale)),
            k2: N::of(libm::ldexp(k2 / packet, scale)),
            places: scale as u32 - N::SPARE,
            whole: N::of(libm::ldexp(1.0, N::SPARE as i32)),
            part: N::of(libm::ldexp(1.0, -(N::SPARE as i32))),
            zero: N::of(0.0),
            one: N::of(1.0),
        })
    }

    fn initial_state(&self) -> State<N> {
        let full = self.bucket.depth;
        State { tokens: full, probability: self.zero, level_before: full, at_s: self.zero, conforms: true }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Arrival { bytes } => {
                s.tokens = self.bucket.filled(s.tokens, observation.now_s - s.at_s);
                // Algorithm 1.
                let now = [self.k1, self.reference - s.tokens];
                let before = [self.k2, self.reference - s.level_before];
                let change = N::difference(now, before, self.places);
                s.probability = (s.probability + change).clamp(self.zero, self.whole);
                (s.level_before, s.at_s, s.conforms) = (s.tokens, observation.now_s, self.bucket.has(s.tokens, bytes));
            }
            Event::Coloured { bytes, colour: Colour::Green } => s.tokens = self.bucket.without(s.tokens, bytes),
            Event::Coloured { .. } => {}
        }
    }

    fn output(&self, s: &State<N>, observation: &Observation<N>) -> Output<N> {
        let red = if s.conforms { s.probability * self.part } else { self.one };
        Output { yellow: self.zero, red, level: self.bucket.filled(s.tokens, observation.now_s - s.at_s) }
    }

    fn requirements(&self) -> Requirements {
        self.contract
    }
}

#[cfg(test)]
mod tests;
