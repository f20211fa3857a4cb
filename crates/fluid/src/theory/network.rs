//! The linearised network of fast-aqm: equations (7) to (12) and (17), (18), with exact forward and backward delays.

use crate::complex::Complex;
use crate::eigen;
use crate::retarded::Retarded;

/// A network of bottlenecks at an equilibrium: every link carries its (virtual) capacity.
#[derive(Debug, Clone, Default)]
pub struct Network {
    /// Virtual capacity of each link [packets/s].
    pub capacities: Vec<f64>,
    /// The sources.
    pub sources: Vec<NetworkSource>,
}

/// A source of such a network.
#[derive(Debug, Clone)]
pub struct NetworkSource {
    /// Its rate x0 [packets/s].
    pub rate: f64,
    /// Its round trip tau [s].
    pub rtt_s: f64,
    /// Its stability gain alpha.
    pub alpha: f64,
    /// Its bound M on the bottlenecks of its path.
    pub bottlenecks: f64,
    /// Of the dynamic law (15), (16): the zero z of its compensator [1/s] and nu/kappa. None is the static law (6).
    pub lead_lag: Option<(f64, f64)>,
    /// The links of its path and the forward delay to each [s]; back it is the rest of the round trip, (3).
    pub path: Vec<(usize, f64)>,
}

impl NetworkSource {
    /// kappa of (11) [packets/s^2].
    pub fn kappa(&self) -> f64 {
        self.alpha * self.rate / (self.bottlenecks * self.rtt_s)
    }

    /// The factor of the compensator of (13) on a gain at `s`: one for the static law.
    fn compensator(&self, s: Complex) -> Complex {
        self.lead_lag
            .map_or(Complex::ONE, |(z, nu_over_kappa)| (s + Complex::real(z)) / (s + Complex::real(z / nu_over_kappa)))
    }
}

impl Network {
    /// `L(s)` of (12), one row and one column a link.
    pub fn gain(&self, s: Complex) -> Vec<Vec<Complex>> {
        let n = self.capacities.len();
        let mut gain = vec![vec![Complex::ZERO; n]; n];
        for source in &self.sources {
            let k = source.compensator(s) * source.kappa();
            for &(to, forward_s) in &source.path {
                for &(from, there_s) in &source.path {
                    let back_s = source.rtt_s - there_s;
                    let part = k * (-s * (forward_s + back_s)).exp() / s * (1.0 / self.capacities[from]);
                    gain[to][from] = gain[to][from] + part;
                }
            }
        }
        gain
    }

    /// `det(I + L(s))`: zero at the roots of the closed loop.
    pub fn characteristic(&self, s: Complex) -> Complex {
        let mut gain = self.gain(s);
        for (i, row) in gain.iter_mut().enumerate() {
            row[i] = row[i] + Complex::ONE;
        }
        eigen::determinant(gain)
    }

    /// The frequency from which on no eigenvalue of `L(jw)` has a modulus of one [rad/s]: by the row sums of
    /// `M Rf* C Rf X0`, the proof of Theorem 2, every one is at most `max_i |V_i| alpha_i / (w tau_i)`.
    pub fn reach_rad_per_s(&self) -> f64 {
        let reach = |s: &NetworkSource| s.alpha * s.path.len() as f64 / (s.bottlenecks * s.rtt_s);
        let static_reach = self.sources.iter().map(reach).fold(0.0, f64::max);
        // |V(jw)| <= sqrt(1 + (z/w)^2), and w is beyond the static reach.
        let zero = self.sources.iter().filter_map(|s| s.lead_lag).map(|(z, _)| z).fold(0.0, f64::max);
        static_reach + zero
    }

    /// The same as delay differential equations of prices, and of the slow states of dynamic sources, (17) and (18).
    pub fn equations(&self) -> Retarded {
        let links = self.capacities.len();
        let dynamic: Vec<usize> = (0..self.sources.len()).filter(|&i| self.sources[i].lead_lag.is_some()).collect();
        let mut system = Retarded::new(links + dynamic.len());
        for (i, source) in self.sources.iter().enumerate() {
            let kappa = source.kappa();
            let slow = dynamic.iter().position(|d| *d == i).map(|at| links + at);
            for &(to, forward_s) in &source.path {
                let capacity = self.capacities[to];
                for &(from, there_s) in &source.path {
                    system.add(to, from, forward_s + source.rtt_s - there_s, -kappa / capacity);
                }
                if let Some(slow) = slow {
                    system.add(to, slow, forward_s, source.rate / capacity);
                }
            }
            if let (Some(slow), Some((z, nu_over_kappa))) = (slow, source.lead_lag) {
                // (17) with (18) put in, and beta = alpha z / M.
                let (beta, nu) = (source.alpha * z / source.bottlenecks, nu_over_kappa * kappa);
                system.add(slow, slow, 0.0, -beta * source.rate / (nu * source.rtt_s));
                for &(from, there_s) in &source.path {
                    system.add(slow, from, source.rtt_s - there_s, beta / source.rtt_s * (kappa / nu - 1.0));
                }
            }
        }
        system
    }
}

/// Whether a routing matrix, a row a link, has full row rank: the condition of Theorems 2 and 4. Without it prices are
/// not determined by the rates.
pub fn has_full_row_rank(routing: &[Vec<f64>]) -> bool {
    eigen::rank(routing) == routing.len()
}
