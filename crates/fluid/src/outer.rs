//! Loops that a law closes around something else: an integral controller, once a period, of a number that some other law
//! goes by, until a ratio of classes is at its reference.
//!
//! The plant between the number turned and the ratio switches, and has no derivative. It enters as its exponent: the ratio
//! goes as the number to the power of `-gamma`. The step is the law's own update, on dual numbers; so multipliers, and
//! the exponents up to which they stay inside the unit circle, follow from the law as it is simulated. For a law of (6) of
//! "Closed-Loop Congestion Control" they are `1 + beta gamma`, and `z^2 - z - beta gamma = 0` where the ratio follows a
//! period late.

use nalgebra::DMatrix;
use penstock_law::aqm::{self, Aqm, Event};
use penstock_law::law::Linearisation;
use penstock_law::quantity::Time;
use penstock_law::{Dual, Instances, Number};
use penstock_scenario::model::{Chosen, Scenario};
use serde::Serialize;

use crate::complex::Complex;
use crate::eigen;
use crate::error::AnalysisError;
use crate::margin::Verdict;
use crate::settle::jacobian;

/// Exponents are searched up to that.
const MOST_GAMMA: f64 = 1e4;

/// A start is followed for so many periods.
const PERIODS: u32 = 1000;

/// A ratio this near to the reference has arrived.
const ARRIVED: f64 = 0.05;

/// Where the number turned starts, over where it should be.
const STARTS: [f64; 4] = [0.1, 0.5, 2.0, 10.0];

/// Analysis by the fluid world of the loops that laws of a scenario's links close.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OuterLoops {
    /// The scenario's title.
    pub title: String,
    /// The worst verdict of all.
    pub verdict: Verdict,
    /// The loops, a class each.
    pub outer_loops: Vec<OuterLoop>,
    /// Assumptions of the analysis.
    pub assumptions: Vec<String>,
    /// Reasons for a reader to be careful.
    pub warnings: Vec<String>,
}

/// A class whose ratio a law holds to a reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OuterLoop {
    /// The link.
    pub link: String,
    /// Its queue's law.
    pub aqm: &'static str,
    /// The class.
    pub class: String,
    /// The reference of its service over that of all others.
    pub reference_ratio: f64,
    /// Time between two steps [s].
    pub period_s: f64,
    /// The number that is turned.
    pub turns: &'static str,
    /// Its relative change at the next step for a small error, over the error: beta of (6).
    pub gain: f64,
    /// The largest such change for any error.
    pub steepest_gain: f64,
    /// Whether it settles where classes settle by their constants, which is `gamma` = 1.
    pub verdict: Verdict,
    /// The loop for some exponents of the plant.
    pub plants: Vec<Plant>,
    /// The largest exponent for which the loop settles; absent where every one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_gamma: Option<f64>,
    /// The same where the ratio follows one period late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_gamma_late: Option<f64>,
    /// From far, with `gamma` = 1.
    pub arrivals: Vec<Arrival>,
    /// Distance to the nearest kink of the law, in the units of that comparison; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_kink: Option<f64>,
}

/// The plant, between the number turned and the ratio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plant {
    /// The ratio goes as the number to the power of minus this.
    pub gamma: f64,
    /// Why this one.
    pub what: &'static str,
    /// The factor of a small error from one period to the next: the multiplier of the largest modulus.
    pub multiplier: f64,
    /// The same where the ratio follows one period late, as a modulus.
    pub late_modulus: f64,
}

/// From a start far from the reference to its neighbourhood.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Arrival {
    /// The number turned at the start, over its value at equilibrium.
    pub start: f64,
    /// Periods until it stays within a twentieth of it; absent where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub periods: Option<u32>,
}

/// Whether a law of the scenario closes such a loop.
pub fn has_any(scenario: &Scenario) -> bool {
    scenario.links.values().any(|link| matches!(link.aqm.law.linearisation, Linearisation::Outer(_)))
}

/// Analyses the loops that laws of a scenario's links close.
///
/// # Errors
/// A law refuses its parameters.
pub fn analyze(scenario: &Scenario) -> Result<OuterLoops, AnalysisError> {
    let outer_loops = loops(scenario)?;
    let stable = outer_loops.iter().all(|l| l.verdict == Verdict::Stable);
    let warnings = outer_loops.iter().filter_map(|l| {
        let (most, worst) = (l.largest_gamma_late?, 1.0 + l.reference_ratio);
        (most < worst).then(|| {
            format!(
                "`{}`: if the ratio responds one period late, the loop is stable for exponents up to {most:.3}; with \
                 a reference of {:.4} the exponent can reach {worst:.3}",
                l.class, l.reference_ratio
            )
        })
    });
    Ok(OuterLoops {
        title: scenario.title.clone(),
        verdict: if stable { Verdict::Stable } else { Verdict::Unstable },
        warnings: warnings.collect(),
        outer_loops,
        assumptions: vec![
            "the inner law is fast compared with a period: classes have settled when the ratio is measured, and the \
             ratio is proportional to the controlled number to the power of -gamma"
                .to_owned(),
            "the line is full, and neither a bound on the controlled number nor preemption is active".to_owned(),
        ],
    })
}

/// The loops that laws of the scenario's links close, a class each; none where no link has such a law.
///
/// # Errors
/// A law refuses its parameters.
pub fn loops(scenario: &Scenario) -> Result<Vec<OuterLoop>, AnalysisError> {
    let mut found = Vec::new();
    let names = scenario.class_names();
    for (link, line) in &scenario.links {
        let crossed = scenario.groups.values().any(|group| group.forward.contains(link));
        if !crossed || !matches!(line.aqm.law.linearisation, Linearisation::Outer(_)) {
            continue;
        }
        let site = scenario.site(link);
        for (at, name) in names.iter().enumerate() {
            if site.classes.get(at).is_some_and(|class| class.share.is_some()) {
                found.extend(loop_of(link, &line.aqm, &site, (at, name))?);
            }
        }
    }
    Ok(found)
}

/// The loop that a law closes around one class of a link: its index among the site's classes, and its name. None where
/// the law has none, or the class no share.
///
/// # Errors
/// The law refuses its parameters.
pub fn loop_of(
    link: &str,
    aqm: &Chosen<Aqm>,
    site: &aqm::Context,
    (at, name): (usize, &str),
) -> Result<Option<OuterLoop>, AnalysisError> {
    let share = site.classes.get(at).and_then(|class| class.share);
    let (Some(share), Linearisation::Outer(_), Some(build)) = (share, aqm.law.linearisation, aqm.law.dual) else {
        return Ok(None);
    };
    let compile = |message| AnalysisError::Compile { law: aqm.law.name, message };
    let mut law = build(&aqm.values, site).map_err(compile)?;
    for _ in 0..=at {
        law.add();
    }
    let step = Step { at, reference: share / (1.0 - share), capacity: site.packets_per_s(), law };
    Ok(Some(step.analysed(link, aqm.law.name, name)))
}

/// The step map of one class.
struct Step {
    at: usize,
    reference: f64,
    /// [packets/s]
    capacity: f64,
    law: Box<dyn Instances<Dual, Aqm>>,
}

impl Step {
    fn period_s(&self) -> f64 {
        self.law.requirements().tick_s.unwrap_or(Time::NEVER.seconds())
    }

    /// The state after a period that saw a ratio, on a full line, with so much offered that neither a bound nor a
    /// preemption is at work.
    fn after(&mut self, state: &[Dual], ratio: Dual) -> Vec<Dual> {
        let line = Dual::of(self.capacity * self.period_s());
        let seen = aqm::Observation {
            arrived: line,
            all_arrived: line,
            departed: line * ratio / (Dual::of(1.0) + ratio),
            all_departed: line,
            capacity: Dual::of(self.capacity),
            ..aqm::Observation::zero()
        };
        self.law.restart(self.at);
        let mut values = state.iter();
        self.law.each(self.at, &mut |x| *x = *values.next().unwrap_or(x));
        self.law.on_event(self.at, Event::Tick, &seen);
        let mut next = Vec::with_capacity(state.len());
        self.law.each(self.at, &mut |x| next.push(*x));
        next
    }

    fn analysed(mut self, link: &str, aqm: &'static str, class: &str) -> OuterLoop {
        let mut start = Vec::new();
        self.law.restart(self.at);
        self.law.each(self.at, &mut |x| start.push(x.value));
        // At equilibrium the ratio is the reference, and what is remembered of errors is none of them.
        let equilibrium: Vec<f64> =
            self.after(&constants(&start), Dual::of(self.reference)).iter().map(|x| x.value).collect();
        let mut point = equilibrium.clone();
        point.push(self.reference);
        let m = equilibrium.len();
        let mut kink = f64::INFINITY;
        let (_, slopes) = jacobian(&point, &mut |v| {
            let next = self.after(&v[..m], v[m]);
            kink = next.iter().fold(kink, |k, x| f64::min(k, x.kink));
            next
        });
        let map = Map { slopes, turned: equilibrium[0], reference: self.reference }.observed();
        let plant = |gamma: f64, what| Plant {
            gamma,
            what,
            multiplier: map.multiplier(gamma),
            late_modulus: map.modulus(gamma, true),
        };
        let gain = map.gain();
        let steepest_gain = self.steepest_gain(&equilibrium);
        let arrivals = STARTS.map(|start| Arrival { start, periods: self.arrival(&equilibrium, start) });
        let verdict = if map.modulus(1.0, false) < 1.0 { Verdict::Stable } else { Verdict::Unstable };
        OuterLoop {
            link: link.to_owned(),
            aqm,
            class: class.to_owned(),
            reference_ratio: self.reference,
            period_s: self.period_s(),
            turns: self.law.names()[0].0,
            gain,
            steepest_gain,
            verdict,
            plants: vec![
                plant(1.0, "shares follow the constants of the classes, (1)"),
                plant(1.0 + self.reference, "extreme: the other classes take all the remaining bandwidth"),
            ],
            largest_gamma: map.largest_gamma(false),
            largest_gamma_late: map.largest_gamma(true),
            arrivals: arrivals.into(),
            nearest_kink: kink.is_finite().then_some(kink),
        }
    }

    /// The relative change of the number over the error, of the largest modulus for any error.
    fn steepest_gain(&mut self, equilibrium: &[f64]) -> f64 {
        let mut steepest = 0.0_f64;
        for k in -120..=80 {
            // Errors from one, which is no service at all, to a hundred times the reference too much.
            let ratio = self.reference * libm::pow(10.0, f64::from(k) / 40.0);
            let error = (self.reference - ratio) / self.reference;
            let next = self.after(&constants(equilibrium), Dual::of(ratio));
            if error.abs() > 1e-9 {
                let gain = (next[0].value / equilibrium[0] - 1.0) / error;
                steepest = if gain.abs() > steepest.abs() { gain } else { steepest };
            }
        }
        steepest
    }

    /// Periods from a start, in units of where the number should be, until it stays near that.
    fn arrival(&mut self, equilibrium: &[f64], start: f64) -> Option<u32> {
        let mut state = constants(equilibrium);
        let wanted = equilibrium[0];
        state[0] = Dual::of(start * wanted);
        let mut stays_since = None;
        for k in 1..=PERIODS {
            let ratio = Dual::of(self.reference * wanted / state[0].value);
            state = self.after(&state, ratio);
            let near = (state[0].value / wanted - 1.0).abs() < ARRIVED;
            stays_since = if near { stays_since.or(Some(k)) } else { None };
        }
        stays_since
    }
}

fn constants(of: &[f64]) -> Vec<Dual> {
    of.iter().map(|x| Dual::of(*x)).collect()
}

/// The linearised step: a row for each number of the state after, its columns the state before and the ratio.
struct Map {
    slopes: Vec<Vec<f64>>,
    turned: f64,
    reference: f64,
}

impl Map {
    /// Without the numbers that nothing goes by, which would only add multipliers of zero.
    fn observed(mut self) -> Self {
        while let Some(unseen) = (1..self.slopes.len()).find(|j| self.slopes.iter().all(|row| row[*j] == 0.0)) {
            self.slopes.remove(unseen);
            for row in &mut self.slopes {
                row.remove(unseen);
            }
        }
        self
    }

    /// beta: the immediate effect of an error on the number turned, relative to both.
    fn gain(&self) -> f64 {
        let of_ratio = self.slopes[0][self.slopes.len()];
        -of_ratio * self.reference / self.turned
    }

    /// The multipliers with a plant of the power `-gamma`, which follows the number as it is or as it was.
    fn multipliers(&self, gamma: f64, late: bool) -> Option<Vec<Complex>> {
        let m = self.slopes.len();
        let n = m + usize::from(late);
        let plant = -gamma * self.reference / self.turned;
        let closed = DMatrix::from_fn(n, n, |i, j| {
            if i == m {
                return if j == 0 { 1.0 } else { 0.0 };
            }
            let own = if j < m { self.slopes[i][j] } else { 0.0 };
            let answers = if late { j == m } else { j == 0 };
            own + if answers { self.slopes[i][m] * plant } else { 0.0 }
        });
        eigen::of_real(closed)
    }

    fn modulus(&self, gamma: f64, late: bool) -> f64 {
        self.multipliers(gamma, late).map_or(f64::INFINITY, |z| z.iter().map(|z| z.abs()).fold(0.0, f64::max))
    }

    /// The real part of the multiplier of the largest modulus, with its sign, or that modulus where it swings otherwise.
    fn multiplier(&self, gamma: f64) -> f64 {
        let all = self.multipliers(gamma, false).unwrap_or_default();
        let largest = all.iter().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        largest.map_or(f64::NAN, |z| if z.im == 0.0 { z.re } else { z.abs() })
    }

    /// The first exponent, from zero up, at which a multiplier leaves the unit circle.
    fn largest_gamma(&self, late: bool) -> Option<f64> {
        let equilibria = |gamma: f64| self.modulus(gamma, late) <= 1.0;
        let mut low = 1e-3;
        if !equilibria(low) {
            return Some(0.0);
        }
        loop {
            let high = low * 1.02;
            if high > MOST_GAMMA {
                return None;
            }
            if !equilibria(high) {
                let (mut inside, mut outside) = (low, high);
                for _ in 0..60 {
                    let middle = f64::midpoint(inside, outside);
                    (inside, outside) = if equilibria(middle) { (middle, outside) } else { (inside, middle) };
                }
                return Some(inside);
            }
            low = high;
        }
    }
}
