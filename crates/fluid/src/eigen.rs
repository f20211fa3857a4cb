//! Eigenvalues and determinants of dense matrices.

use nalgebra::{Complex as Pair, DMatrix, Schur};

use crate::complex::Complex;

/// Most steps of the QR iteration for each eigenvalue; a matrix that takes more fails.
const STEPS_AN_EIGENVALUE: usize = 100;

/// The eigenvalues of a real matrix; none where the iteration does not end.
pub(crate) fn of_real(matrix: DMatrix<f64>) -> Option<Vec<Complex>> {
    let most = STEPS_AN_EIGENVALUE * matrix.nrows();
    let schur = Schur::try_new(matrix, f64::EPSILON, most)?;
    Some(schur.complex_eigenvalues().iter().map(|z| Complex::new(z.re, z.im)).collect())
}

/// The eigenvalues of a complex matrix; none where the iteration does not end.
pub(crate) fn of_complex(matrix: &[Vec<Complex>]) -> Option<Vec<Complex>> {
    match matrix {
        [] => return Some(Vec::new()),
        [row] => return Some(vec![row[0]]),
        _ => {}
    }
    let n = matrix.len();
    let pairs = DMatrix::from_fn(n, n, |i, j| Pair::new(matrix[i][j].re, matrix[i][j].im));
    if !pairs.iter().all(|z| z.re.is_finite() && z.im.is_finite()) {
        return None;
    }
    let values = Schur::try_new(pairs, f64::EPSILON, STEPS_AN_EIGENVALUE * n)?.eigenvalues()?;
    Some(values.iter().map(|z| Complex::new(z.re, z.im)).collect())
}

/// The least singular value of a complex matrix.
pub(crate) fn least_singular(matrix: &[Vec<Complex>]) -> f64 {
    if let [row] = matrix {
        return row[0].abs();
    }
    let n = matrix.len();
    let pairs = DMatrix::from_fn(n, n, |i, j| Pair::new(matrix[i][j].re, matrix[i][j].im));
    let values = pairs.try_svd(false, false, f64::EPSILON, 1000).map(|svd| svd.singular_values);
    values.map_or(f64::NAN, |values| values.iter().copied().fold(f64::INFINITY, f64::min))
}

/// The determinant, by elimination.
pub(crate) fn determinant(mut a: Vec<Vec<Complex>>) -> Complex {
    let n = a.len();
    let mut product = Complex::ONE;
    for k in 0..n {
        let Some(at) = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())) else { break };
        if a[at][k] == Complex::ZERO {
            return Complex::ZERO;
        }
        if at != k {
            a.swap(at, k);
            product = -product;
        }
        product = product * a[k][k];
        let (above, below) = a.split_at_mut(k + 1);
        let pivot = &above[k];
        for row in below {
            let share = row[k] / pivot[k];
            for (x, y) in row.iter_mut().zip(pivot).skip(k + 1) {
                *x = *x - share * *y;
            }
        }
    }
    product
}

/// The rank of a real matrix: singular values above 1e-9 of the largest.
pub(crate) fn rank(matrix: &[Vec<f64>]) -> usize {
    let (rows, columns) = (matrix.len(), matrix.first().map_or(0, Vec::len));
    let values = DMatrix::from_fn(rows, columns, |i, j| matrix[i][j]).singular_values();
    let largest = values.iter().copied().fold(0.0, f64::max);
    values.iter().filter(|v| **v > 1e-9 * largest).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A companion matrix has the roots of its polynomial: (x - 1)(x - 2)(x - 3j).
    #[test]
    fn eigenvalues_determinant_and_rank() {
        let (one, zero, j) = (Complex::ONE, Complex::ZERO, Complex::axis(1.0));
        // x^3 - (3 + 3j) x^2 + (2 + 9j) x - 6j
        let companion = vec![
            vec![zero, zero, j * 6.0],
            vec![one, zero, -(Complex::real(2.0) + j * 9.0)],
            vec![zero, one, Complex::real(3.0) + j * 3.0],
        ];
        let mut found = of_complex(&companion).unwrap();
        found.sort_by(|a, b| a.re.total_cmp(&b.re));
        for (is, should) in found.iter().zip([j * 3.0, one, Complex::real(2.0)]) {
            assert!((*is - should).abs() < 1e-12, "{found:?}");
        }
        assert!((determinant(companion.clone()) - j * 6.0).abs() < 1e-12);
        // The least singular value, from its definition: no unit vector is made shorter.
        assert!(least_singular(&companion) > 0.0 && least_singular(&companion) < 1.0);
        assert_eq!(rank(&[vec![1.0, 1.0, 0.0], vec![1.0, 1.0, 0.0]]), 1);
        assert_eq!(rank(&[vec![1.0, 1.0, 0.0], vec![0.0, 1.0, 1.0]]), 2);
        assert_eq!(determinant(vec![vec![zero, one], vec![one, zero]]), -one);
    }
}
