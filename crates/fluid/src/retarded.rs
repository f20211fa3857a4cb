//! Linear delay differential equations and the rightmost roots of their characteristic equation.
//!
//! `x'(t) = sum_k A_k x(t - tau_k)`. The solution operator's generator, differentiation of the last `tau` seconds of `x`
//! with this equation at their end, is discretised on Chebyshev nodes (Breda, Maset and Vermiglio, SIAM J. Sci. Comput.
//! 27, 2005): its eigenvalues converge to the rightmost roots faster than any power of the number of nodes. Newton's
//! method on the exact characteristic matrix then takes each to the last digits, so that nodes decide only which roots
//! are found, not how well.

use core::f64::consts::PI;

use nalgebra::DMatrix;

use crate::complex::Complex;
use crate::eigen;
use crate::matrix::solve;

/// A system of linear delay differential equations.
#[derive(Debug, Clone, Default)]
pub struct Retarded {
    size: usize,
    terms: Vec<Term>,
}

#[derive(Debug, Clone, Copy)]
struct Term {
    delay_s: f64,
    row: usize,
    column: usize,
    gain: f64,
}

/// Rightmost roots of the spectrum.
#[derive(Debug, Clone, PartialEq)]
pub struct Rightmost {
    /// Roots [1/s], the rightmost first; each of a complex pair.
    pub roots: Vec<Complex>,
    /// Nodes on the longest delay.
    pub nodes: usize,
    /// Distance of the discretisation from the rightmost root, relative to its modulus or the inverse of the longest
    /// delay, whichever is larger.
    pub error: f64,
}

/// Nodes at first, and the largest matrix that is tried.
const NODES: usize = 16;
const LARGEST: usize = 900;

impl Retarded {
    /// `size` equations, all `x' = 0`.
    pub fn new(size: usize) -> Self {
        Self { size, terms: Vec::new() }
    }

    /// Adds `gain x_column(t - delay_s)` to the derivative of `x_row`; `gain` in 1/s for equal units.
    pub fn add(&mut self, row: usize, column: usize, delay_s: f64, gain: f64) {
        assert!(
            row < self.size && column < self.size && delay_s >= 0.0,
            "equation {row}, unknown {column}, {delay_s} s"
        );
        self.terms.push(Term { delay_s, row, column, gain });
    }

    /// Number of equations.
    pub fn unknowns(&self) -> usize {
        self.size
    }

    /// Row, column, delay [s] and gain of each term.
    pub fn terms(&self) -> impl Iterator<Item = (usize, usize, f64, f64)> + '_ {
        self.terms.iter().map(|t| (t.row, t.column, t.delay_s, t.gain))
    }

    /// The longest delay [s].
    pub fn longest_s(&self) -> f64 {
        self.terms.iter().map(|t| t.delay_s).fold(0.0, f64::max)
    }

    /// The characteristic matrix `s I - sum_k A_k exp(-s tau_k)` and its derivative by `s`.
    fn characteristic(&self, s: Complex) -> (Vec<Vec<Complex>>, Vec<Vec<Complex>>) {
        let mut value = vec![vec![Complex::ZERO; self.size]; self.size];
        let mut slope = value.clone();
        for i in 0..self.size {
            value[i][i] = s;
            slope[i][i] = Complex::ONE;
        }
        for t in &self.terms {
            let back = (-s * t.delay_s).exp() * t.gain;
            let (v, d) = (&mut value[t.row][t.column], &mut slope[t.row][t.column]);
            *v = *v - back;
            *d = *d + back * t.delay_s;
        }
        (value, slope)
    }

    /// The determinant of the characteristic matrix at `s`: zero at the roots.
    pub fn determinant(&self, s: Complex) -> Complex {
        eigen::determinant(self.characteristic(s).0)
    }

    /// Newton's method on the determinant, whose logarithmic derivative is the trace of the inverse times the derivative.
    pub fn polish(&self, start: Complex) -> Option<Complex> {
        let mut s = start;
        for _ in 0..50 {
            let (value, slope) = self.characteristic(s);
            let Some(ratio) = solve(value, slope) else { return Some(s) };
            let trace: Complex = (0..self.size).map(|i| ratio[i][i]).sum();
            if !trace.is_finite() {
                return Some(s);
            }
            let step = Complex::ONE / trace;
            s = s - step;
            if !s.is_finite() {
                return None;
            }
            if step.abs() <= 4.0 * f64::EPSILON * s.abs() {
                return Some(s);
            }
        }
        None
    }

    /// The eigenvalues of the discretised generator.
    fn discretised(&self, nodes: usize) -> Option<Vec<Complex>> {
        let (n, span) = (self.size, self.longest_s());
        if span == 0.0 {
            let mut a = DMatrix::zeros(n, n);
            for t in &self.terms {
                a[(t.row, t.column)] += t.gain;
            }
            return eigen::of_real(a);
        }
        let grid = Chebyshev::new(nodes, span);
        let mut a = DMatrix::zeros((nodes + 1) * n, (nodes + 1) * n);
        for t in &self.terms {
            for (j, share) in grid.weights_at(-t.delay_s).into_iter().enumerate() {
                a[(t.row, j * n + t.column)] += t.gain * share;
            }
        }
        for i in 1..=nodes {
            for (j, slope) in grid.differentiation(i).into_iter().enumerate() {
                for k in 0..n {
                    a[(i * n + k, j * n + k)] = slope;
                }
            }
        }
        eigen::of_real(a)
    }

    /// The rightmost roots, at least `count` where there are so many within reach of the nodes. None where even the
    /// largest matrix does not resolve the rightmost one.
    pub fn rightmost(&self, count: usize) -> Option<Rightmost> {
        let unit = 1.0 / f64::max(self.longest_s(), f64::MIN_POSITIVE);
        let mut nodes = NODES;
        loop {
            let found = self.discretised(nodes).and_then(|mut all| {
                all.sort_by(|a, b| b.re.total_cmp(&a.re));
                all.retain(|s| s.im >= -1e-9 * s.abs());
                let first = *all.first()?;
                let best = self.polish(first)?;
                let scale = if self.longest_s() == 0.0 { best.abs() } else { f64::max(best.abs(), unit) };
                let error = if scale == 0.0 { 0.0 } else { (first - best).abs() / scale };
                Some((all, error))
            });
            if let Some((all, error)) = found
                && error < 1e-3
            {
                let mut roots: Vec<Complex> = Vec::new();
                for start in all.into_iter().take(3 * count.max(1)) {
                    // A start that leads far away is an artefact of too few nodes.
                    let near = |s: &Complex| (*s - start).abs() < 0.1 * f64::max(start.abs(), unit);
                    let Some(root) = self.polish(start).filter(near) else { continue };
                    let root = if root.im.abs() < 1e-9 * root.abs() { Complex::real(root.re) } else { root };
                    if roots.iter().all(|r| (*r - root).abs() > 1e-7 * f64::max(root.abs(), unit)) {
                        roots.push(root);
                    }
                }
                roots.sort_by(|a, b| b.re.total_cmp(&a.re));
                roots.truncate(count.max(1));
                return Some(Rightmost { roots, nodes, error });
            }
            nodes *= 2;
            if (nodes + 1) * self.size > LARGEST {
                return None;
            }
        }
    }
}

/// Chebyshev nodes on `[-span, 0]`, the first at zero.
struct Chebyshev {
    at: Vec<f64>,
    weights: Vec<f64>,
}

impl Chebyshev {
    fn new(nodes: usize, span: f64) -> Self {
        let at = (0..=nodes).map(|j| 0.5 * span * (libm::cos(PI * j as f64 / nodes as f64) - 1.0)).collect();
        // Barycentric weights of these nodes: alternating, half at the ends (Berrut and Trefethen, SIAM Review 46, 2004).
        let weight = |j: usize| {
            let size = if j == 0 || j == nodes { 0.5 } else { 1.0 };
            if j.is_multiple_of(2) { size } else { -size }
        };
        Self { at, weights: (0..=nodes).map(weight).collect() }
    }

    /// Weight of each node's value in the interpolant at `x`.
    fn weights_at(&self, x: f64) -> Vec<f64> {
        if let Some(hit) = self.at.iter().position(|node| *node == x) {
            return (0..self.at.len()).map(|j| if j == hit { 1.0 } else { 0.0 }).collect();
        }
        let parts: Vec<f64> = self.at.iter().zip(&self.weights).map(|(node, w)| w / (x - node)).collect();
        let sum: f64 = parts.iter().sum();
        parts.into_iter().map(|p| p / sum).collect()
    }

    /// Weight of each node's value in the interpolant's derivative at node `i`.
    fn differentiation(&self, i: usize) -> Vec<f64> {
        let off = |j: usize| (self.weights[j] / self.weights[i]) / (self.at[i] - self.at[j]);
        let mut row: Vec<f64> = (0..self.at.len()).map(|j| if i == j { 0.0 } else { off(j) }).collect();
        // The derivative of a constant is zero, to the last digit.
        row[i] = -row.iter().sum::<f64>();
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chebyshev_differentiates_and_interpolates_polynomials_exactly() {
        let grid = Chebyshev::new(6, 2.0);
        let f = |x: f64| 1.0 + x * (2.0 + x * (-1.0 + x * x * 0.5));
        let slope = |x: f64| 2.0 + x * (-2.0 + x * x * 2.0);
        let values: Vec<f64> = grid.at.iter().map(|x| f(*x)).collect();
        let sum = |row: Vec<f64>| row.iter().zip(&values).map(|(r, v)| r * v).sum::<f64>();
        for i in 0..7 {
            assert!((sum(grid.differentiation(i)) - slope(grid.at[i])).abs() < 1e-12);
        }
        for x in [-1.9, -1.0, -0.3, 0.0] {
            assert!((sum(grid.weights_at(x)) - f(x)).abs() < 1e-12);
        }
    }

    /// Without delays: the eigenvalues of a matrix.
    #[test]
    fn without_delays_the_roots_are_eigenvalues() {
        let mut system = Retarded::new(2);
        system.add(0, 1, 0.0, 1.0);
        system.add(1, 0, 0.0, -4.0);
        system.add(1, 1, 0.0, -2.0);
        let found = system.rightmost(1).unwrap();
        assert!((found.roots[0] - Complex::new(-1.0, libm::sqrt(3.0))).abs() < 1e-12, "{found:?}");
    }
}
