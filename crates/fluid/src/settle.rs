//! The state at which a law stands still.
//!
//! Pseudo-transient continuation: implicit Euler along the law's own mean drift, with steps that grow as it calms down
//! and end as Newton's. It follows the law from where it starts, so it finds the equilibrium that the law would find.

use penstock_law::Dual;

use crate::matrix::{Matrix, solve};

/// Where a drift led.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// To this state.
    Still(Vec<f64>),
    /// Out of bounds, for good.
    Escaped,
    /// Nowhere within the steps allowed.
    Lost,
}

/// Values of a vector of duals.
fn values(v: &[Dual]) -> Vec<f64> {
    v.iter().map(|x| x.value).collect()
}

/// The value of `f` at `at` and its matrix of derivatives, one column a variable, by duals.
pub(crate) fn jacobian(at: &[f64], f: &mut dyn FnMut(&[Dual]) -> Vec<Dual>) -> (Vec<f64>, Matrix) {
    let mut duals: Vec<Dual> = at.iter().map(|x| Dual::constant(*x)).collect();
    let value = values(&f(&duals));
    let mut matrix = vec![vec![0.0; at.len()]; value.len()];
    for j in 0..at.len() {
        duals[j] = Dual::seed(at[j]);
        for (row, y) in matrix.iter_mut().zip(f(&duals)) {
            row[j] = y.slope;
        }
        duals[j] = Dual::constant(at[j]);
    }
    (value, matrix)
}

/// A drift that has stayed below its own rounding for so many steps is none, if Newton's step there is below this share of
/// the state.
const QUIET_STEPS: u32 = 12;
const ROUGH: f64 = 1e-3;

/// Follows `drift` [1/s] from `start`, beginning with steps of `step_s`, until it stands still or `escaped` is true.
/// `grain` is the rounding error of each drift at a state [1/s]: below it a drift is like none, and the
/// equilibrium is known to no more digits than that leaves.
pub(crate) fn settle(
    start: &[f64],
    step_s: f64,
    drift: &mut dyn FnMut(&[Dual]) -> Vec<Dual>,
    escaped: &mut dyn FnMut(&[f64]) -> bool,
    grain: &mut dyn FnMut(&[f64]) -> Vec<f64>,
) -> Outcome {
    let mut state = start.to_vec();
    if state.is_empty() {
        return Outcome::Still(state);
    }
    let (mut dt, mut last_left, mut quiet) = (step_s, f64::INFINITY, 0);
    let (mut f, mut j) = jacobian(&state, drift);
    for _ in 0..3000 {
        if escaped(&state) {
            return Outcome::Escaped;
        }
        if f.iter().all(|x| *x == 0.0) {
            return Outcome::Still(state);
        }
        let rounding = grain(&state);
        quiet = if f.iter().zip(&rounding).all(|(f, grain)| f.abs() <= *grain) { quiet + 1 } else { 0 };
        if quiet > QUIET_STEPS && newton(&j, &f, &state).is_some_and(|left| left < ROUGH) {
            return Outcome::Still(state);
        }
        let left: Matrix = j
            .iter()
            .enumerate()
            .map(|(i, r)| r.iter().enumerate().map(|(k, x)| if i == k { 1.0 / dt - x } else { -x }).collect())
            .collect();
        let right: Matrix = f.iter().map(|x| vec![*x]).collect();
        let Some(delta) = solve(left, right) else {
            dt *= 0.3;
            continue;
        };
        let relative = delta.iter().zip(&state).map(|(d, s)| d[0].abs() / (s.abs() + 1e-6)).fold(0.0, f64::max);
        let next: Vec<f64> = state.iter().zip(&delta).map(|(s, d)| s + d[0]).collect();
        // A step that multiplies a number is a guess; so is one after which the drift turned round.
        let leap = delta.iter().zip(&state).any(|(d, s)| d[0].abs() > 2.0 * (s.abs() + 1.0));
        let (g, k) = jacobian(&next, drift);
        // What is below its own rounding has no sign: a number that has settled does not hold up the others.
        let turned = f
            .iter()
            .zip(&g)
            .zip(&rounding)
            .any(|((a, b), grain)| a * b < 0.0 && b.abs() > f64::max(0.5 * a.abs(), *grain));
        let finite = next.iter().chain(&g).chain(k.iter().flatten()).all(|x| x.is_finite());
        if relative < 1e-9 && finite {
            let left = newton(&j, &f, &state).unwrap_or(f64::INFINITY);
            // Still, or as still as the law's own rounding lets it be.
            if left < 1e-14 || (left < 1e-9 && relative > 0.99 * left && left >= 0.5 * last_left) {
                return Outcome::Still(next);
            }
            last_left = left;
        }
        if (leap || turned || !finite) && dt > 1e-9 * step_s && relative > 1e-11 {
            dt *= 0.25;
            continue;
        }
        (state, f, j) = (next, g, k);
        dt = f64::min(dt * 2.0, 1e15 * step_s);
    }
    Outcome::Lost
}

/// Doublings of the rounding error within which both sides of an equilibrium are looked for.
const SIDES: i32 = 8;

/// An equilibrium, freed of rounding. A number that an event moves by less than half of its last digit stands still all
/// around its equilibrium: an average with a weight of 1e-8 does so for 1e-8 of itself. The drift is zero by rounding there, which
/// is alike on both sides, and so the equilibrium is in the middle. The others follow. `grain` as in [`settle`].
pub(crate) fn centred(
    state: &[f64],
    step_s: f64,
    drift: &mut dyn FnMut(&[Dual]) -> Vec<Dual>,
    grain: &mut dyn FnMut(&[f64]) -> Vec<f64>,
) -> Option<Vec<f64>> {
    let (_, slopes) = jacobian(state, drift);
    let mut next = state.to_vec();
    let mut moved = false;
    for i in 0..state.len() {
        let hidden = grain(&next)[i] / -slopes[i][i];
        // What a few digits more would not change is left alone, and so is what nothing draws to an equilibrium.
        if !(hidden > 16.0 * f64::EPSILON * next[i].abs() && hidden.is_finite()) {
            continue;
        }
        let mut at = |x: f64| {
            let mut beside: Vec<Dual> = next.iter().map(|x| Dual::constant(*x)).collect();
            beside[i] = Dual::constant(x);
            drift(&beside)[i].value
        };
        let reach = || (0..SIDES).map(|k| hidden * libm::exp2(f64::from(k)));
        let below = reach().map(|r| next[i] - r).find(|x| at(*x) > 0.0);
        let above = reach().map(|r| next[i] + r).find(|x| at(*x) < 0.0);
        let (Some(below), Some(above)) = (below, above) else { continue };
        // The last number that rises, and the first that falls.
        let mut edge = |inside: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = (below, above);
            loop {
                let middle = f64::midpoint(low, high);
                if middle <= low || middle >= high {
                    return middle;
                }
                if inside(at(middle)) { low = middle } else { high = middle }
            }
        };
        next[i] = f64::midpoint(edge(&|drift| drift > 0.0), edge(&|drift| drift >= 0.0));
        moved = true;
    }
    if !moved {
        return None;
    }
    match settle(&next, step_s, drift, &mut |_| false, grain) {
        Outcome::Still(state) => Some(state),
        _ => None,
    }
}

/// Length of Newton's step, relative to the state: a step that is short because its time is short proves
/// nothing.
fn newton(j: &Matrix, f: &[f64], state: &[f64]) -> Option<f64> {
    let delta = solve(j.clone(), f.iter().map(|x| vec![*x]).collect())?;
    Some(delta.iter().zip(state).map(|(d, s)| d[0].abs() / (s.abs() + 1e-6)).fold(0.0, f64::max))
}

/// Rounding of an equation, relative to its terms: a few dozen of the last bit.
const ROUNDING: f64 = 1e-14;

/// Newton's method with halved steps for `f(x) = 0`, as many equations as unknowns.
pub(crate) fn root(start: &[f64], f: &mut dyn FnMut(&[Dual]) -> Vec<Dual>) -> Option<Vec<f64>> {
    let mut x = start.to_vec();
    let (mut y, mut j) = jacobian(&x, f);
    for _ in 0..200 {
        let delta = solve(j.clone(), y.iter().map(|v| vec![-v]).collect())?;
        let relative = delta.iter().zip(&x).map(|(d, x)| d[0].abs() / (x.abs() + 1e-9)).fold(0.0, f64::max);
        // Residuals in units of what a full step would change them by: each equation has its own scale. One that is at its root
        // up to rounding is in units of that, and holds up no other.
        let scale: Vec<f64> = j
            .iter()
            .map(|r| {
                let changes =
                    r.iter().zip(&delta).zip(&x).map(|((a, d), x)| (a * d[0]).abs() + ROUNDING * (a * x).abs());
                changes.sum::<f64>().max(f64::MIN_POSITIVE)
            })
            .collect();
        let size = |y: &[f64]| y.iter().zip(&scale).map(|(v, s)| (v / s).abs()).fold(0.0, f64::max);
        let mut share = 1.0;
        loop {
            let next: Vec<f64> = x.iter().zip(&delta).map(|(x, d)| x + share * d[0]).collect();
            let (z, k) = jacobian(&next, f);
            // A step into a limit, where a derivative dies, leads no further.
            let alive = z.iter().all(|v| v.is_finite()) && solve(k.clone(), vec![Vec::new(); z.len()]).is_some();
            if relative < 1e-13 || (alive && size(&z) < size(&y)) {
                (x, y, j) = (next, z, k);
                break;
            }
            share *= 0.5;
            if share < 1e-6 {
                // At the bottom of the arithmetic no step improves any more.
                return if relative < 1e-9 { Some(x) } else { None };
            }
        }
        if relative < 1e-13 || y.iter().all(|v| *v == 0.0) {
            return Some(x);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_law::Number;

    /// A window that chases a target by at most one a packet while the target drifts a thousand times slower.
    #[test]
    fn a_stiff_drift_with_a_kink_comes_to_rest() {
        let mut drift = |s: &[Dual]| {
            let one = Dual::of(1.0);
            vec![Dual::of(1000.0) * (s[1] - s[0]).clamp(-one, one), Dual::of(50.0) / s[1] - Dual::of(0.25)]
        };
        let Outcome::Still(state) = settle(&[1.0, 1.0], 0.01, &mut drift, &mut |_| false, &mut |_| vec![0.0; 2]) else {
            panic!("lost")
        };
        assert!((state[0] - 200.0).abs() < 1e-9 && (state[1] - 200.0).abs() < 1e-9, "{state:?}");
    }

    #[test]
    fn a_drift_without_rest_escapes() {
        let mut drift = |s: &[Dual]| vec![Dual::of(3.0) + s[0] * Dual::of(0.0)];
        assert_eq!(settle(&[1.0], 0.01, &mut drift, &mut |s| s[0] > 1e6, &mut |_| vec![0.0]), Outcome::Escaped);
    }

    /// PI2 at the probability that it has already, up to its rounding, at another queue. Rounding of the one equation does
    /// not keep the other from its root.
    #[test]
    fn an_equation_at_its_rounding_holds_up_no_other() {
        let (target, capacity) = (0.015, 1e8 / 12_000.0);
        for step in 1..500 {
            let wanted = 1e-4 * f64::from(step);
            let start = libm::sqrt(wanted);
            let mut drift = |v: &[Dual]| {
                let (base, seen, delay) = (v[0], v[1], v[2] / Dual::of(capacity));
                let after = base + Dual::of(0.16) * (delay - Dual::of(target)) + Dual::of(3.2) * (delay - seen);
                let period = Dual::of(0.016);
                vec![(after - base) / period, (delay - seen) / period, base * base - Dual::of(wanted)]
            };
            let found =
                root(&[start, target, 0.01 * capacity], &mut drift).unwrap_or_else(|| panic!("none at {wanted}"));
            assert!((found[0] - libm::sqrt(wanted)).abs() < 1e-9 && (found[1] - target).abs() < 1e-9, "{found:?}");
        }
    }

    /// Windows that grow by `1/w` a packet and are halved with a probability of 2e-10 and a little more: they settle at 1e5 and
    /// a little less, where the growth is the 33rd bit of the window, and most never see a drift of zero.
    #[test]
    fn a_drift_below_its_own_rounding_is_none() {
        let found = |p: f64, digits: f64| {
            let mut drift = |s: &[Dual]| {
                let (w, p) = (s[0], Dual::of(p));
                let grown = w + Dual::of(1.0) / w;
                let each = (Dual::of(1.0) - p) * (grown - w) + p * (w * Dual::of(0.5) - w);
                vec![Dual::of(1e6) * each]
            };
            let mut grain = |s: &[f64]| vec![1e6 * digits * s[0]];
            settle(&[10.0], 0.1, &mut drift, &mut |_| false, &mut grain)
        };
        let chances = (0..8).map(|k| 2e-10 * (1.0 + 0.01 * f64::from(k)));
        let lost = chances.clone().filter(|p| found(*p, 0.0) == Outcome::Lost);
        assert!(lost.count() > 0, "without a grain some are not found");
        for p in chances {
            let Outcome::Still(state) = found(p, f64::EPSILON) else { panic!("{p}") };
            assert!((state[0] * libm::sqrt(0.5 * p) - 1.0).abs() < 1e-5, "{p}: {state:?}");
        }
    }

    /// An average of weight 1e-8 that follows a queue stands still for 1e-8 to each side of it. Started on either side it is
    /// found in the middle, and a number that follows the average with it.
    #[test]
    fn what_rounding_holds_rests_in_the_middle() {
        let (queue, weight) = (1234.567, 1e-8);
        let mut drift = |s: &[Dual]| {
            let (rate, average) = (Dual::of(1e6), s[0]);
            let after = average + Dual::of(weight) * (Dual::of(queue) - average);
            vec![rate * (after - average), rate * (average - Dual::of(1234.0) - s[1])]
        };
        let mut grain = |s: &[f64]| s.iter().map(|x| 1e6 * f64::EPSILON * x.abs()).collect::<Vec<f64>>();
        for start in [1000.0, 1500.0] {
            let Outcome::Still(still) = settle(&[start, 0.0], 1e-6, &mut drift, &mut |_| false, &mut grain) else {
                panic!("lost")
            };
            assert!((still[0] - queue).abs() > 1e-7, "else there would be nothing to do: {still:?}");
            let state = centred(&still, 1e-6, &mut drift, &mut grain).unwrap();
            assert!((state[0] / queue - 1.0).abs() < 1e-15, "{state:?}");
            assert!((state[1] - (queue - 1234.0)).abs() < 1e-12, "{state:?}");
        }
    }

    #[test]
    fn newton_finds_a_root_across_scales() {
        let mut f = |x: &[Dual]| {
            vec![Dual::of(1.0) - (-(Dual::of(7.0) * x[0])).exp() - Dual::of(0.5), x[1] * Dual::of(1e-6) - x[0]]
        };
        let x = root(&[0.0, 0.0], &mut f).unwrap();
        assert!((x[0] - core::f64::consts::LN_2 / 7.0).abs() < 1e-12 && (x[1] / x[0] - 1e6).abs() < 1e-3);
    }
}
