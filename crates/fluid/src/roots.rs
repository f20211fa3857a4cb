//! Rightmost roots of `det(I + L(s)) = 0` of any loop, periodic laws, registers and acknowledgement clocks included.
//!
//! Such a loop is no equation of finite order between delays, so there is no generator to discretise as in
//! [`crate::retarded`]. A lightly damped root makes `|1 + lambda(jw)|` small beside it: Newton's method on the exact
//! determinant starts from each local minimum of that along the axis, and from points of the negative real axis for the
//! slow modes. The number of roots in the right half plane is counted by the turns of the determinant, not from these.

use crate::complex::Complex;
use crate::eigen;

/// Roots with a modulus below this share of the slowest round trip's rate are integrators, not modes.
const NOTHING: f64 = 1e-6;

/// The `count` rightmost roots found [1/s], one of each complex pair, the rightmost first. `loci` are the eigenvalues of
/// `gain` along the axis; `slowest_s` is the longest round trip.
pub fn rightmost(
    gain: &dyn Fn(Complex) -> Vec<Vec<Complex>>,
    loci: &[Vec<(f64, Complex)>],
    slowest_s: f64,
    count: usize,
) -> Vec<Complex> {
    let characteristic = |s: Complex| {
        let mut matrix = gain(s);
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] = row[i] + Complex::ONE;
        }
        eigen::determinant(matrix)
    };
    let mut starts: Vec<(f64, Complex)> = Vec::new();
    for locus in loci {
        let distance = |k: usize| (locus[k].1 + Complex::ONE).abs();
        for (k, (w, _)) in locus.iter().enumerate().take(locus.len().max(1) - 1).skip(1) {
            if distance(k) <= distance(k - 1) && distance(k) <= distance(k + 1) {
                starts.push((distance(k), Complex::axis(*w)));
            }
        }
    }
    starts.sort_by(|a, b| a.0.total_cmp(&b.0));
    starts.truncate(8 * count.max(1));
    let slow = (0..24).map(|k| Complex::real(-0.003 / slowest_s * libm::pow(2.0, 0.5 * f64::from(k))));
    let mut roots: Vec<Complex> = Vec::new();
    for start in starts.into_iter().map(|(_, s)| s).chain(slow) {
        let known = |s: Complex| {
            let s = Complex::new(s.re, s.im.abs());
            roots.iter().any(|r| (*r - s).abs() < 1e-4 * f64::max(r.abs(), NOTHING / slowest_s))
        };
        let Some(root) = newton(&characteristic, start, slowest_s, &known) else { continue };
        let root = Complex::new(root.re, root.im.abs());
        let root = if root.im < 1e-9 * root.abs() { Complex::real(root.re) } else { root };
        let unit = f64::max(root.abs(), NOTHING / slowest_s);
        if root.abs() > NOTHING / slowest_s && roots.iter().all(|r| (*r - root).abs() > 1e-6 * unit) {
            roots.push(root);
        }
    }
    roots.sort_by(|a, b| b.re.total_cmp(&a.re));
    roots.truncate(count);
    roots
}

/// Newton's method with a difference for the derivative, which is within 1e-6 of it, so that steps shrink a million times
/// each near a root. None where it does not end, or heads for a root that is `known`.
fn newton(
    f: &dyn Fn(Complex) -> Complex,
    start: Complex,
    slowest_s: f64,
    known: &dyn Fn(Complex) -> bool,
) -> Option<Complex> {
    let mut s = start;
    let mut small = 0;
    for _ in 0..60 {
        let h = 1e-6 * f64::max(s.abs(), 0.01 / slowest_s);
        let value = f(s);
        let step = value * h / (f(s + Complex::real(h)) - value);
        if value == Complex::ZERO {
            return Some(s);
        }
        if !step.is_finite() {
            return None;
        }
        // A long step is a guess: half of where it starts from is far enough.
        let most = 0.5 * f64::max(s.abs(), 0.1 / slowest_s);
        let step = if step.abs() > most { step * (most / step.abs()) } else { step };
        s = s - step;
        // At the bottom of the arithmetic steps no longer shrink.
        small = if step.abs() < 1e-9 * s.abs() { small + 1 } else { 0 };
        if step.abs() < 1e-13 * s.abs() || small > 3 {
            return Some(s);
        }
        if small == 0 && step.abs() < 1e-3 * s.abs() && known(s) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::margin::{Span, matrix_margins};
    use crate::theory::network::{Network, NetworkSource};

    /// Of a network that has a generator, both ways give the same roots.
    #[test]
    fn the_roots_are_those_of_the_delay_equations() {
        // Different poles: equal ones leave a mode that no link sees, which is no zero of the determinant.
        let source = |rtt_s: f64, path: Vec<(usize, f64)>| NetworkSource {
            rate: 100.0 / rtt_s,
            rtt_s,
            alpha: 1.1,
            bottlenecks: path.len() as f64,
            lead_lag: Some((0.4, 4.0 + 3.0 * rtt_s)),
            path,
        };
        let mut network = Network {
            capacities: vec![0.0; 2],
            sources: vec![
                source(0.5, vec![(0, 0.0), (1, 0.2)]),
                source(1.0, vec![(0, 0.1)]),
                source(0.3, vec![(1, 0.0)]),
            ],
        };
        for s in &network.sources {
            for (l, _) in &s.path {
                network.capacities[*l] += s.rate;
            }
        }
        let gain = |s: Complex| network.gain(s);
        let (margins, loci) = matrix_margins(&gain, Span { slowest_s: 1.0, fastest_s: 0.3 });
        assert_eq!(margins.unstable_roots, 0);
        let found = rightmost(&gain, &loci, 1.0, 4);
        let expected = network.equations().rightmost(4).unwrap().roots;
        for (is, should) in found.iter().zip(&expected) {
            assert!((*is - *should).abs() < 1e-6 * should.abs(), "{found:?} {expected:?}");
        }
        assert_eq!(found.len(), 4);
    }
}
