//! Eigenvalues and eigenvectors of a small symmetric matrix, with the same bits on every machine.

/// A square matrix by its rows.
pub(super) type Matrix = Vec<Vec<f64>>;

/// Sweeps over all elements. Convergence is quadratic: at 12 dimensions, fewer than ten make the others zero.
const SWEEPS: usize = 40;

/// The identity of `n` dimensions.
pub(super) fn identity(n: usize) -> Matrix {
    (0..n).map(|row| (0..n).map(|column| f64::from(u8::from(row == column))).collect()).collect()
}

/// Eigenvalues, and a matrix whose columns are the eigenvectors, of length one each: by Jacobi's method with cyclic sweeps
/// (Golub and Van Loan, "Matrix Computations"). It reads the part of the matrix on and above the diagonal.
pub(super) fn eigen(mut a: Matrix) -> (Vec<f64>, Matrix) {
    let n = a.len();
    let mut v = identity(n);
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                // What is this small changes neither of the two eigenvalues.
                if a[p][q].abs() <= f64::EPSILON * 0.01 * libm::sqrt((a[p][p] * a[q][q]).abs()) {
                    continue;
                }
                rotated = true;
                rotate(&mut a, &mut v, p, q);
            }
        }
        if !rotated {
            break;
        }
    }
    ((0..n).map(|at| a[at][at]).collect(), v)
}

/// Makes the element of row `p` and column `q` zero, by a rotation in their plane, and rotates the eigenvectors with it.
fn rotate(a: &mut Matrix, v: &mut Matrix, p: usize, q: usize) {
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    // The tangent of the smaller of the two angles.
    let t = 1.0 / (theta.abs() + libm::sqrt(theta * theta + 1.0));
    let t = if theta < 0.0 { -t } else { t };
    let c = 1.0 / libm::sqrt(t * t + 1.0);
    let s = t * c;
    let by = t * a[p][q];
    a[p][p] -= by;
    a[q][q] += by;
    a[p][q] = 0.0;
    for k in 0..a.len() {
        if k != p && k != q {
            // Above the diagonal.
            let ((i, j), (l, m)) = ((k.min(p), k.max(p)), (k.min(q), k.max(q)));
            let (x, y) = (a[i][j], a[l][m]);
            a[i][j] = c * x - s * y;
            a[l][m] = s * x + c * y;
        }
    }
    for row in v {
        let (x, y) = (row[p], row[q]);
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use penstock_scenario::seed::Seed;

    use super::*;

    /// The definition: `A V = V D`, with columns of `V` of length one at right angles.
    #[test]
    fn random_matrices_are_decomposed() {
        let mut stream = Seed(1).stream("eigen");
        for n in 1..=12 {
            for spread in [1.0, 1e-6] {
                // A = G S G^T is symmetric and positive; S spreads the eigenvalues.
                let g: Matrix = (0..n).map(|_| (0..n).map(|_| stream.unit() - 0.5).collect()).collect();
                let scale = |k: usize| if k.is_multiple_of(2) { 1.0 } else { spread };
                let element = |i: usize, j: usize| (0..n).map(|k| g[i][k] * scale(k) * g[j][k]).sum::<f64>();
                let a: Matrix = (0..n).map(|i| (0..n).map(|j| element(i, j)).collect()).collect();
                let (d, v) = eigen(a.clone());
                for i in 0..n {
                    for j in 0..n {
                        let av: f64 = (0..n).map(|k| a[i][k] * v[k][j]).sum();
                        assert!((av - v[i][j] * d[j]).abs() < 1e-13, "{n} {av} {}", v[i][j] * d[j]);
                        let dot: f64 = (0..n).map(|k| v[k][i] * v[k][j]).sum();
                        assert!((dot - identity(n)[i][j]).abs() < 1e-13, "{n} {dot}");
                    }
                }
            }
        }
    }

    /// The eigenvalues of a chain of `n` equal springs are `2 - 2 cos(k pi / (n + 1))`.
    #[test]
    fn a_chain_has_its_known_eigenvalues() {
        let n = 12;
        let element = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let (mut d, _) = eigen((0..n).map(|i| (0..n).map(|j| element(i, j)).collect()).collect());
        d.sort_unstable_by(f64::total_cmp);
        for (k, value) in d.into_iter().enumerate() {
            let known = 2.0 - 2.0 * libm::cos((k + 1) as f64 * core::f64::consts::PI / 13.0);
            assert!((value - known).abs() < 1e-13, "{value} {known}");
        }
        assert_eq!(eigen(identity(3)), (vec![1.0; 3], identity(3)));
        assert_eq!(eigen(vec![]), (vec![], vec![]));
    }
}
