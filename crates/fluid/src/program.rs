//! The equilibrium once more, as the convex program that the sources solve together.
//!
//! Sources of decreasing demand maximise the sum of utilities `U' = demand^-1` within the links' capacities, and prices are
//! the multipliers (Kelly, Maulloo and Tan, 1998; fast-aqm, section II). Which utility is read off the demand itself: an
//! elasticity that does not change is `U' = k x^-b`, weighted log for `b = 1`. Clarabel solves the program on exponential
//! and power cones; nothing is shared with the search of [`crate::equilibrium`] but the demands at its result.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, PowerConeT, SolverStatus,
    SupportedConeT,
};
use serde::Serialize;

use crate::equilibrium::Equilibrium;
use crate::source::{Demand, Signal, Source};

/// Results of the program beside the equilibrium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Program {
    /// The exponents b of the classes' utilities, `U' = k x^-b`: 1 is proportional fairness.
    pub exponents: Vec<f64>,
    /// The largest difference of a rate, relative to it.
    pub rate_difference: f64,
    /// The largest difference of a link's price, relative to the largest.
    pub price_difference: f64,
}

/// An elasticity may change so much between half and twice a price and still count as one number.
const ONE_NUMBER: f64 = 1e-7;

/// Demand curves `x = (k/q)^(1/b)`, and the paths' prices.
struct Curve {
    weight: f64,
    exponent: f64,
    price: f64,
}

/// Solves the program of `sources`, which settle at `equilibrium`; `wanted` is the rate of each link [packets/s]. None where
/// the program is not known: a demand of changing elasticity or without equilibrium at a neighbouring price, two kinds of
/// price, losses.
pub(crate) fn check(
    sources: &mut [Source],
    routes: &[Vec<usize>],
    equilibrium: &Equilibrium,
    capacities: &[f64],
    wanted: &[f64],
) -> Option<Program> {
    let by_delay = equilibrium.links.iter().all(|l| l.signal.probability == 0.0);
    let by_marks =
        equilibrium.links.iter().all(|l| l.signal.queueing_delay_s == 0.0) && sources.iter().all(Source::is_marked);
    if !by_delay && !by_marks {
        return None;
    }
    let mut curves = Vec::with_capacity(sources.len());
    for (i, source) in sources.iter_mut().enumerate() {
        let at = equilibrium.signals[i];
        let price = if by_delay { at.queueing_delay_s } else { -libm::log1p(-at.probability) };
        let mut demand = |q: f64| -> Option<f64> {
            let signal = if by_delay {
                Signal { queueing_delay_s: q, probability: 0.0 }
            } else {
                Signal { queueing_delay_s: 0.0, probability: -libm::expm1(-q) }
            };
            match source.demand(signal, f64::INFINITY) {
                Ok(Demand::Equilibrium(r)) => Some(r.rate),
                Ok(Demand::Unbounded) | Err(_) => None,
            }
        };
        let (more, here, less) = (demand(0.5 * price)?, demand(price)?, demand(2.0 * price)?);
        let (first, second) = (libm::log2(more / here), libm::log2(here / less));
        if first.partial_cmp(&0.0) != Some(core::cmp::Ordering::Greater) || (first - second).abs() > ONE_NUMBER * first
        {
            return None;
        }
        // Two digits beyond what the elasticity has are noise of the demand's own search.
        let exponent = libm::round(1e6 / (0.5 * (first + second))) / 1e6;
        curves.push(Curve { weight: price * libm::pow(here, exponent), exponent, price });
    }
    let (rates, prices) = solve(&curves, sources, routes, capacities, wanted)?;
    let rate_difference =
        rates.iter().zip(&equilibrium.sources).map(|(x, s)| (x / s.rate - 1.0).abs()).fold(0.0, f64::max);
    let ours = |l: usize| {
        let signal = equilibrium.links[l].signal;
        if by_delay { signal.queueing_delay_s } else { -libm::log1p(-signal.probability) }
    };
    let highest = curves.iter().map(|c| c.price).fold(0.0, f64::max);
    let price_difference = prices.iter().enumerate().map(|(l, p)| (p - ours(l)).abs() / highest).fold(0.0, f64::max);
    Some(Program { exponents: curves.iter().map(|c| c.exponent).collect(), rate_difference, price_difference })
}

/// Rates [packets/s] and prices.
fn solve(
    curves: &[Curve],
    sources: &[Source],
    routes: &[Vec<usize>],
    capacities: &[f64],
    wanted: &[f64],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let (n, links) = (curves.len(), capacities.len());
    let flows: f64 = sources.iter().map(|s| f64::from(s.count)).sum();
    // Rates in units of a fair share of the narrowest link, weights in units of the largest.
    let unit = capacities.iter().copied().fold(f64::INFINITY, f64::min) / flows;
    let weights: Vec<f64> = curves
        .iter()
        .zip(sources)
        .map(|(c, s)| f64::from(s.count) * c.weight * libm::pow(unit, 1.0 - c.exponent))
        .collect();
    let largest = weights.iter().copied().fold(0.0, f64::max);
    // Unknowns x_0 .. x_n, t_0 .. t_n: minimise the sum of c t with A x + s = b, s in the cones.
    let (mut rows, mut columns, mut values, mut right) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut cones: Vec<SupportedConeT<f64>> = vec![NonnegativeConeT(links)];
    let mut put = |row: usize, column: usize, value: f64| {
        rows.push(row);
        columns.push(column);
        values.push(value);
    };
    for (i, route) in routes.iter().enumerate() {
        for l in route {
            put(*l, i, f64::from(sources[i].count) * unit / capacities[*l]);
        }
    }
    right.extend(wanted.iter().zip(capacities).map(|(w, c)| w / c));
    let mut cost = vec![0.0; 2 * n];
    for (i, curve) in curves.iter().enumerate() {
        let (row, b) = (links + 3 * i, curve.exponent);
        let (x, t) = (i, n + i);
        let weight = weights[i] / largest;
        // Each of the cone's three places holds an unknown or a one.
        let mut place = |k: usize, unknown: Option<usize>| match unknown {
            Some(column) => {
                put(row + k, column, -1.0);
                0.0
            }
            None => 1.0,
        };
        let places = if b == 1.0 {
            // (t, 1, x): exp(t) <= x.
            cones.push(ExponentialConeT());
            cost[t] = -weight;
            [place(0, Some(t)), place(1, None), place(2, Some(x))]
        } else if b > 1.0 {
            // (t, x, 1): t >= x^(1 - b).
            cones.push(PowerConeT(1.0 / b));
            cost[t] = weight / (b - 1.0);
            [place(0, Some(t)), place(1, Some(x)), place(2, None)]
        } else {
            // (x, 1, t): t <= x^(1 - b).
            cones.push(PowerConeT(1.0 - b));
            cost[t] = -weight / (1.0 - b);
            [place(0, Some(x)), place(1, None), place(2, Some(t))]
        };
        right.extend(places);
    }
    let a = CscMatrix::new_from_triplets(right.len(), 2 * n, rows, columns, values);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-12)
        .tol_gap_rel(1e-12)
        .tol_feas(1e-12)
        .build()
        .ok()?;
    let mut solver = DefaultSolver::new(&CscMatrix::zeros((2 * n, 2 * n)), &cost, &a, &right, &cones, settings).ok()?;
    solver.solve();
    if !matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
        return None;
    }
    let rates = solver.solution.x[..n].iter().map(|x| x * unit).collect();
    let prices = solver.solution.z[..links].iter().zip(capacities).map(|(z, c)| z * largest / c).collect();
    Some((rates, prices))
}
