//! Small dense matrices: a law remembers a handful of numbers.

use core::ops::{Add, Div, Mul, Sub};

use crate::complex::Complex;

/// Rows of a matrix.
pub(crate) type Matrix = Vec<Vec<f64>>;

/// A field for elimination.
pub(crate) trait Field:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// Size, for the choice of a pivot.
    fn size(self) -> f64;
}

impl Field for f64 {
    fn size(self) -> f64 {
        self.abs()
    }
}

impl Field for Complex {
    fn size(self) -> f64 {
        self.abs()
    }
}

/// The unit matrix.
pub(crate) fn identity(n: usize) -> Matrix {
    (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect()
}

/// The product.
pub(crate) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let columns = b.first().map_or(0, Vec::len);
    a.iter().map(|row| (0..columns).map(|j| row.iter().zip(b).map(|(x, r)| x * r[j]).sum()).collect()).collect()
}

/// A row times a matrix.
pub(crate) fn row_times(row: &[f64], m: &Matrix) -> Vec<f64> {
    (0..m.first().map_or(0, Vec::len)).map(|j| row.iter().zip(m).map(|(x, r)| x * r[j]).sum()).collect()
}

/// `a` to the power of a number of steps; a fraction of a step is that share of one more.
pub(crate) fn power(a: &Matrix, steps: f64) -> Matrix {
    let whole = libm::floor(steps);
    let mut result = identity(a.len());
    let mut square = a.clone();
    let mut left = whole as u64;
    while left > 0 {
        if left & 1 == 1 {
            result = product(&result, &square);
        }
        square = product(&square, &square);
        left >>= 1;
    }
    let part = steps - whole;
    let mut last = identity(a.len());
    for (row, target) in a.iter().zip(&mut last) {
        for (x, y) in row.iter().zip(target) {
            *y = (1.0 - part) * *y + part * x;
        }
    }
    product(&result, &last)
}

/// Solves `a x = b` for every column of `b`; none where a pivot is lost against its row.
pub(crate) fn solve<T: Field>(mut a: Vec<Vec<T>>, mut b: Vec<Vec<T>>) -> Option<Vec<Vec<T>>> {
    let n = a.len();
    let scale: Vec<f64> = a.iter().map(|r| r.iter().fold(0.0, |m, x| f64::max(m, x.size()))).collect();
    let mut order: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let weigh = |i: &usize| if scale[*i] > 0.0 { a[*i][k].size() / scale[*i] } else { 0.0 };
        let at = (k..n).max_by(|&i, &j| weigh(&order[i]).total_cmp(&weigh(&order[j])))?;
        // A row that lost twelve digits says nothing; NaN is refused too.
        if weigh(&order[at]).partial_cmp(&1e-12) != Some(core::cmp::Ordering::Greater) {
            return None;
        }
        order.swap(k, at);
        let pivot = order[k];
        let (above, right) = (a[pivot].clone(), b[pivot].clone());
        for &i in &order[k + 1..] {
            let f = a[i][k] / above[k];
            for (x, y) in a[i].iter_mut().zip(&above).skip(k) {
                *x = *x - f * *y;
            }
            for (x, y) in b[i].iter_mut().zip(&right) {
                *x = *x - f * *y;
            }
        }
    }
    let mut x: Vec<Vec<T>> = Vec::with_capacity(n);
    for k in (0..n).rev() {
        let i = order[k];
        let mut row = b[i].clone();
        for (j, known) in x.iter().rev().enumerate() {
            for (r, v) in row.iter_mut().zip(known) {
                *r = *r - a[i][k + 1 + j] * *v;
            }
        }
        for r in &mut row {
            *r = *r / a[i][k];
        }
        x.push(row);
    }
    x.reverse();
    Some(x)
}

/// Solves `y a = row` for the leading `m` by `m` block of `a` and leaves `y` in `row`. False where a pivot is nothing.
pub(crate) fn solve_row<const M: usize>(a: &mut [[Complex; M]; M], row: &mut [Complex; M], m: usize) -> bool {
    // Elimination of columns. Sizes are sums of parts: a pivot need only be of the right order.
    let size = |z: Complex| z.re.abs() + z.im.abs();
    for k in 0..m {
        let Some(at) = (k..m).max_by(|&i, &j| size(a[k][i]).total_cmp(&size(a[k][j]))) else { return false };
        if size(a[k][at]).partial_cmp(&0.0) != Some(core::cmp::Ordering::Greater) {
            return false;
        }
        if at != k {
            for line in a.iter_mut().take(m) {
                line.swap(k, at);
            }
            row.swap(k, at);
        }
        let inverse = Complex::ONE / a[k][k];
        for j in k + 1..m {
            let share = a[k][j] * inverse;
            if share == Complex::ZERO {
                continue;
            }
            for line in a.iter_mut().take(m).skip(k) {
                line[j] = line[j] - share * line[k];
            }
            row[j] = row[j] - share * row[k];
        }
    }
    // What is left of `a` is below its diagonal.
    for k in (0..m).rev() {
        for i in k + 1..m {
            row[k] = row[k] - row[i] * a[i][k];
        }
        row[k] = row[k] / a[k][k];
    }
    true
}

/// The largest modulus of an eigenvalue, by squaring forty times.
pub(crate) fn spectral_radius(a: &Matrix) -> f64 {
    let mut square = a.clone();
    let mut log = 0.0;
    let mut weight = 1.0;
    for _ in 0..40 {
        let norm = square.iter().flatten().fold(0.0, |m, x| f64::max(m, x.abs()));
        if norm == 0.0 {
            return 0.0;
        }
        log += weight * libm::log(norm);
        weight *= 0.5;
        for x in square.iter_mut().flatten() {
            *x /= norm;
        }
        square = product(&square, &square);
    }
    libm::exp(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_solves_what_needs_a_pivot() {
        let a = vec![vec![0.0, 2.0, 1.0], vec![1.0, 0.0, 0.0], vec![3.0, 1e6, -1.0]];
        let x = solve(a.clone(), vec![vec![4.0], vec![1.0], vec![2.0]]).unwrap();
        for (row, b) in a.iter().zip([4.0, 1.0, 2.0]) {
            let back: f64 = row.iter().zip(&x).map(|(r, x)| r * x[0]).sum();
            assert!((back - b).abs() < 1e-9, "{x:?}");
        }
        assert!(solve(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![vec![1.0], vec![1.0]]).is_none());
    }

    #[test]
    fn a_row_is_solved_as_a_column_of_the_transpose() {
        let z = |re: f64, im: f64| Complex::new(re, im);
        let a = [
            [z(0.0, 0.0), z(2.0, 1.0), z(1.0, 0.0)],
            [z(1.0, -1.0), z(0.0, 0.0), z(0.5, 0.0)],
            [z(3.0, 0.0), z(1e6, 0.0), z(-1.0, 2.0)],
        ];
        let row = [z(4.0, 0.0), z(1.0, 3.0), z(2.0, 0.0)];
        let (mut left, mut y) = (a, row);
        assert!(solve_row(&mut left, &mut y, 3));
        for j in 0..3 {
            let back: Complex = (0..3).map(|i| y[i] * a[i][j]).sum();
            assert!((back - row[j]).abs() < 1e-9, "{y:?}");
        }
        let mut singular = [[z(1.0, 0.0), z(2.0, 0.0)], [z(2.0, 0.0), z(4.0, 0.0)]];
        assert!(!solve_row(&mut singular, &mut [Complex::ONE; 2], 2));
    }

    #[test]
    fn the_spectral_radius_of_a_rotation_and_of_a_jordan_block() {
        let (sin, cos) = libm::sincos(0.7);
        let turn = vec![vec![0.9 * cos, -0.9 * sin], vec![0.9 * sin, 0.9 * cos]];
        assert!((spectral_radius(&turn) - 0.9).abs() < 1e-9);
        assert!((spectral_radius(&vec![vec![1.0, 1.0], vec![0.0, 1.0]]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_fraction_of_a_step_is_its_share() {
        let a = vec![vec![0.5]];
        assert_eq!(power(&a, 3.0)[0][0], 0.125);
        assert_eq!(power(&a, 2.5)[0][0], 0.25 * 0.75);
        assert_eq!(power(&a, 0.0)[0][0], 1.0);
    }
}
