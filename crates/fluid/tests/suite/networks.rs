//! Theorems of fast-aqm on random networks, and the scalar delay loop against the Lambert W function.

use penstock_fluid::dde;
use penstock_fluid::margin::{Span, margins, unstable_roots};
use penstock_fluid::retarded::Retarded;
use penstock_fluid::theory::eta_max;
use penstock_fluid::theory::network::{Network, NetworkSource};
use penstock_fluid::{Complex, Verdict};
use penstock_scenario::seed::{Seed, Stream};

/// `W_k(x)` for `x < 0`, the branch that Newton's method reaches from `start`: `w exp(w) = x`. The branch of the rightmost
/// root of `s = -a exp(-s)` is `k = 0`.
fn lambert_w(x: f64, start: Complex) -> Complex {
    let mut w = start;
    for _ in 0..100 {
        let e = w.exp();
        w = w - (w * e - Complex::real(x)) / (e * (w + Complex::ONE));
    }
    assert!((w * w.exp() - Complex::real(x)).abs() < 1e-13, "{w:?}");
    w
}

/// The rightmost roots of `s T = -a exp(-s T)`: `W_0(-a)`, and those of the next branches.
fn branch(a: f64, k: u32) -> Complex {
    use core::f64::consts::{E, PI, TAU};
    if k == 0 && a < 1.0 / E {
        return lambert_w(-a, Complex::real(-a));
    }
    // Asymptotically ln(-a) + 2 pi j k - ln(ln(-a) + 2 pi j k).
    let first = Complex::new(libm::log(a), PI + TAU * f64::from(k));
    let start =
        if k == 0 { Complex::new(-0.3, 1.3) } else { first - Complex::new(libm::log(first.abs()), first.arg()) };
    lambert_w(-a, start)
}

fn scalar(a: f64, delay_s: f64) -> Retarded {
    let mut system = Retarded::new(1);
    system.add(0, 0, delay_s, -a / delay_s);
    system
}

/// Reference 9.6: `W_0(-1.5)`, `W_0(-1.6)`; and the roots of the solver for gains up to 1.8.
#[test]
fn the_rightmost_roots_of_the_scalar_loop_are_lambert_w() {
    assert!((branch(1.5, 0) - Complex::new(-0.03278, 1.54964)).abs() < 1e-5);
    assert!((branch(1.6, 0) - Complex::new(0.01311, 1.57910)).abs() < 1e-5);
    let mut worst = 0.0_f64;
    for delay_s in [0.001, 0.1, 3.0] {
        for k in 1..=34 {
            let a = 0.05 * f64::from(k) + 0.1;
            let found = scalar(a, delay_s).rightmost(3).unwrap();
            let roots: Vec<Complex> = found.roots.iter().map(|s| *s * delay_s).collect();
            let expected = branch(a, 0);
            assert!((roots[0] - expected).abs() < 1e-6, "{a}: {roots:?} {expected:?}");
            worst = f64::max(worst, (roots[0] - expected).abs());
            // Over-damped, W_0 and W_-1 are both real; else the next pair is branch 1.
            let next = roots.iter().filter(|s| s.im > 3.0).min_by(|a, b| a.im.total_cmp(&b.im));
            assert!((*next.unwrap() - branch(a, 1)).abs() < 1e-6, "{a}: {roots:?} {:?}", branch(a, 1));
            // The Nyquist verdict agrees with the sign of the root.
            let m =
                margins(&|s| (-s * delay_s).exp() / (s * delay_s) * a, Span { slowest_s: delay_s, fastest_s: delay_s });
            assert_eq!(m.verdict == Verdict::Stable, expected.re < 0.0, "{a}");
        }
    }
    println!("largest difference from W_0(-a): {worst:.1e}");
}

/// Where Nyquist's criterion puts the boundary, `gain_margin x a`, is where the root crosses: within 1e-6.
#[test]
fn the_boundary_is_where_the_root_crosses() {
    let a = 1.2;
    let m = margins(&|s| (-s).exp() / s * a, Span { slowest_s: 1.0, fastest_s: 1.0 });
    let critical = a * m.gain_margin.unwrap();
    for (gain, stable) in [(critical * (1.0 - 1e-6), true), (critical * (1.0 + 1e-6), false)] {
        let root = scalar(gain, 1.0).rightmost(1).unwrap().roots[0];
        assert_eq!(root.re < 0.0, stable, "{gain} {root:?}");
    }
}

struct Random(Stream);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        ((self.0.unit() * n as f64) as usize).min(n - 1)
    }
    fn decades(&mut self, from: f64, decades: f64) -> f64 {
        from * libm::pow(10.0, decades * self.0.unit())
    }
}

/// Gives a source of some round trip its alpha and, if it is dynamic, its zero and nu/kappa.
type Lawful<'a> = &'a mut dyn FnMut(&mut Random, f64) -> (f64, Option<(f64, f64)>);

/// Routing of full row rank over 1 to 4 links and 4 to 11 sources; every link is a bottleneck.
fn random(r: &mut Random, decades: f64, law: Lawful<'_>) -> Network {
    let (links, sources) = (1 + r.below(4), 4 + r.below(8));
    loop {
        let routes: Vec<Vec<usize>> = (0..sources)
            .map(|_| {
                let mut path: Vec<usize> = (0..links).filter(|_| r.0.unit() < 0.5).collect();
                if path.is_empty() {
                    path.push(r.below(links));
                }
                path
            })
            .collect();
        let matrix: Vec<Vec<f64>> =
            (0..links).map(|l| routes.iter().map(|path| if path.contains(&l) { 1.0 } else { 0.0 }).collect()).collect();
        if penstock_fluid::theory::network::has_full_row_rank(&matrix) {
            let mut network = Network { capacities: vec![0.0; links], sources: Vec::new() };
            // Rates over four decades are capacities over as many.
            for path in routes {
                let (rate, rtt_s) = (r.decades(10.0, 4.0), r.decades(0.001, decades));
                let (alpha, lead_lag) = law(r, rtt_s);
                let mut forward: Vec<f64> = path.iter().map(|_| r.0.unit() * rtt_s).collect();
                forward.sort_by(f64::total_cmp);
                for l in &path {
                    network.capacities[*l] += rate;
                }
                let bottlenecks = path.len() as f64;
                let path = path.into_iter().zip(forward).collect();
                network.sources.push(NetworkSource { rate, rtt_s, alpha, bottlenecks, lead_lag, path });
            }
            return network;
        }
    }
}

fn slowest(network: &Network) -> f64 {
    network.sources.iter().map(|s| s.rtt_s).fold(0.0, f64::max)
}

fn roots_right(network: &Network) -> u32 {
    unstable_roots(&|s| network.gain(s), slowest(network), network.reach_rad_per_s()).expect("turns add up")
}

/// Theorem 2: a full row rank and every alpha below pi/2, and any delays and capacities are stable. A thousand networks,
/// delays over three decades and capacities over four, by the argument principle.
#[test]
fn theorem_2_on_a_thousand_networks() {
    let mut r = Random(Seed(2).stream("theorem 2"));
    for i in 0..1000 {
        let network = random(&mut r, 3.0, &mut |r, _| (r.0.unit() * 0.999 * core::f64::consts::FRAC_PI_2, None));
        assert_eq!(roots_right(&network), 0, "{i}: {network:?}");
    }
}

/// Theorem 4: the dynamic law with eta at 0.95 of the bound of Proposition 3, nu/kappa over four decades. A thousand.
#[test]
fn theorem_4_on_a_thousand_networks() {
    let mut r = Random(Seed(4).stream("theorem 4"));
    for i in 0..1000 {
        let alpha = 0.05 + r.0.unit() * 1.5;
        let zero = 0.95 * eta_max(alpha) / 1.0;
        // taubar is the upper end of the delays, 1 s; zero = eta / taubar.
        let network = random(&mut r, 3.0, &mut |r, _| (alpha, Some((zero, r.decades(0.1, 4.0)))));
        assert_eq!(roots_right(&network), 0, "{i}: {network:?}");
    }
}

/// The same by the rightmost root, where delays span one decade; the two methods agree beyond the bound too.
#[test]
fn theorems_2_and_4_by_the_rightmost_root() {
    let mut r = Random(Seed(50).stream("roots"));
    let mut rightmost = f64::NEG_INFINITY;
    for i in 0..50 {
        let dynamic = i % 2 == 1;
        let alpha = 0.05 + r.0.unit() * 1.5;
        let zero = 0.95 * eta_max(alpha) / 0.01;
        let law = |r: &mut Random| (alpha, dynamic.then(|| (zero, r.decades(0.1, 4.0))));
        let network = random(&mut r, 1.0, &mut |r, _| law(r));
        let found = network.equations().rightmost(2).expect("nodes suffice");
        let root = found.roots[0];
        assert!(root.re < 0.0, "{i}: {found:?} {network:?}");
        // Each is a zero of det(I + L), the other form of the same loop: Newton's step from there is short.
        let (here, beside) = (network.characteristic(root), network.characteristic(root * (1.0 + 1e-7)));
        let step = here / (beside - here) * 1e-7;
        assert!(step.abs() < 1e-6, "{i}: {step:?} {found:?}");
        rightmost = f64::max(rightmost, root.re * slowest(&network));
    }
    println!("rightmost of 50, times the longest round trip: {rightmost:.4}");
}

/// The bound is sharp on one link: at 1.2 x pi/2 the loop is unstable, and both methods say so.
#[test]
fn beyond_the_bound_a_single_link_is_unstable() {
    for rtt_s in [0.002, 0.05, 0.9] {
        let at = |alpha: f64| Network {
            capacities: vec![1000.0],
            sources: vec![NetworkSource {
                rate: 1000.0,
                rtt_s,
                alpha,
                bottlenecks: 1.0,
                lead_lag: None,
                path: vec![(0, 0.3 * rtt_s)],
            }],
        };
        let bound = core::f64::consts::FRAC_PI_2;
        for (alpha, roots) in [(1.2 * bound, 2), (1.001 * bound, 2), (0.999 * bound, 0)] {
            assert_eq!(roots_right(&at(alpha)), roots, "{alpha}");
            assert_eq!(at(alpha).equations().rightmost(1).unwrap().roots[0].re > 0.0, roots > 0);
        }
    }
}

/// The theorem's condition is necessary: with M below the number of bottlenecks the same alpha is unstable.
#[test]
fn without_the_bound_on_bottlenecks_the_theorem_does_not_hold() {
    let source = |bottlenecks: f64| NetworkSource {
        rate: 1000.0,
        rtt_s: 0.1,
        alpha: 1.5,
        bottlenecks,
        lead_lag: None,
        path: vec![(0, 0.0), (1, 0.05)],
    };
    let short = |link: usize| NetworkSource { rate: 1.0, path: vec![(link, 0.0)], bottlenecks: 1.0, ..source(2.0) };
    for (bottlenecks, stable) in [(2.0, true), (1.0, false)] {
        let network = Network { capacities: vec![1001.0; 2], sources: vec![source(bottlenecks), short(0), short(1)] };
        assert_eq!(roots_right(&network) == 0, stable);
        assert_eq!(network.equations().rightmost(1).unwrap().roots[0].re < 0.0, stable);
    }
}

/// `exp(s h)` of the slowest mode in samples `h` apart, by the linear recurrence of two modes that fits them best.
fn slowest_mode(samples: &[f64], h: f64) -> Complex {
    // x2 = a x1 + b x0 in the least squares, each window weighed alike.
    let (mut m, mut v) = ([[0.0; 2]; 2], [0.0; 2]);
    for w in samples.windows(3) {
        let size = w[0] * w[0] + w[1] * w[1];
        for (i, x) in [w[1], w[0]].into_iter().enumerate() {
            m[i][0] += x * w[1] / size;
            m[i][1] += x * w[0] / size;
            v[i] += x * w[2] / size;
        }
    }
    let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    if det < 1e-9 * m[0][0] * m[1][1] {
        // One mode is left.
        return Complex::real(libm::log(samples[1] / samples[0]) / h);
    }
    let (a, b) = ((v[0] * m[1][1] - v[1] * m[0][1]) / det, (m[0][0] * v[1] - m[1][0] * v[0]) / det);
    let root = 0.25 * a * a + b;
    let z =
        if root < 0.0 { Complex::new(0.5 * a, libm::sqrt(-root)) } else { Complex::real(0.5 * a + libm::sqrt(root)) };
    Complex::new(libm::log(z.abs()), z.arg()) * (1.0 / h)
}

/// The growth that the integrator shows is the real part of the root, and so is the frequency: 1e-3 over gains up to 1.8.
#[test]
fn the_integrated_growth_is_that_of_the_root() {
    let mut worst = 0.0_f64;
    for k in 1..=34 {
        let a = 0.05 * f64::from(k) + 0.1;
        let path = dde::solve(&scalar(a, 1.0), &|_, t| 1.0 + 0.3 * t, 40.0, 0.01);
        let samples: Vec<f64> = (0..60).map(|i| path.at(0, 20.0 + 0.3 * f64::from(i))).collect();
        let (is, should) = (slowest_mode(&samples, 0.3), branch(a, 0));
        assert!((is - should).abs() < 1e-3, "{a}: {is:?} {should:?}");
        worst = f64::max(worst, (is - should).abs());
    }
    println!("largest difference of the integrated mode from W_0(-a): {worst:.1e}");
}

/// (5) and (6) themselves, not linearised, prices held at zero where they arrive there.
struct Nonlinear<'a> {
    network: &'a Network,
    /// The price at which each source has its rate x0 [s].
    equilibria: Vec<f64>,
}

impl dde::Delayed for Nonlinear<'_> {
    fn size(&self) -> usize {
        self.network.capacities.len()
    }
    fn shortest_delay_s(&self) -> f64 {
        self.network.sources.iter().map(|s| s.rtt_s).fold(f64::INFINITY, f64::min)
    }
    fn slope(&self, t: f64, _: &[f64], past: &dde::Past<'_>, slope: &mut [f64]) {
        slope.fill(-1.0);
        for (s, equilibrium) in self.network.sources.iter().zip(&self.equilibria) {
            for &(to, forward_s) in &s.path {
                let price: f64 =
                    s.path.iter().map(|&(l, there_s)| past.at(l, t - forward_s - (s.rtt_s - there_s))).sum();
                let x = s.rate * libm::exp(-s.alpha / (s.bottlenecks * s.rtt_s) * (price - equilibrium));
                slope[to] += x / self.network.capacities[to];
            }
        }
    }
    fn is_bounded(&self, _: usize) -> bool {
        true
    }
}

/// Theorem 2 by integration: from prices 20 % off, back to a thousandth of that.
#[test]
fn theorem_2_by_integration() {
    let mut r = Random(Seed(10).stream("integration"));
    for i in 0..10 {
        let mut network =
            random(&mut r, 1.0, &mut |r, _| ((0.5 + 0.45 * r.0.unit()) * core::f64::consts::FRAC_PI_2, None));
        for s in &mut network.sources {
            // All but one delay: an exit of the step from the shortest one would only cost time.
            s.path.iter_mut().for_each(|hop| hop.1 = 0.0);
        }
        let span = slowest(&network);
        let prices: Vec<f64> = network.capacities.iter().map(|_| (1.0 + r.0.unit()) * span).collect();
        let equilibria = network.sources.iter().map(|s| s.path.iter().map(|(l, _)| prices[*l]).sum()).collect();
        let root = network.equations().rightmost(1).unwrap().roots[0];
        let system = Nonlinear { network: &network, equilibria };
        let end = f64::min(60.0 / -root.re, 4000.0 * span);
        let path = dde::solve(&system, &|l, _| prices[l] * 1.2, end, 0.1 * span);
        let off =
            |step: usize| path.state(step).iter().zip(&prices).map(|(p, q)| (p / q - 1.0).abs()).fold(0.0, f64::max);
        let late = off(path.times().len() - 1);
        assert!(late < 1e-3 * 0.2, "{i}: {late} after {end} s, root {root:?}");
    }
}
