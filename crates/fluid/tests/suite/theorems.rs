//! Statements of fast-aqm about its loop, (13) and (14), independent of any scenario; the numbers are the reference's.

use crate::scenarios::{cc, off};
use penstock_fluid::margin::{Span, margins};
use penstock_fluid::source::{Flows, Signal, Source};
use penstock_fluid::theory::{eta_max, lead_lag};
use penstock_fluid::{Complex, LoopModel, Verdict};
use penstock_law::cc;
use penstock_law::quantity::Bytes;

/// The table of section 3.4, and that at the largest eta the rotated spiral passes through -1.
#[test]
fn the_largest_eta_of_proposition_3() {
    for (alpha, eta) in [
        (0.10, 0.642_093),
        (0.37, 0.642_093),
        (0.50, 0.642_093),
        (0.75, 0.642_093),
        (0.841_471, 0.642_093),
        (1.00, 0.491_270),
        (1.20, 0.320_904),
        (1.40, 0.155_254),
        (1.50, 0.067_487),
        (1.55, 0.020_474),
    ] {
        assert!((eta_max(alpha) - eta).abs() < 1e-6, "{alpha}: {}", eta_max(alpha));
    }
    for alpha in [0.9, 1.0, 1.3, 1.55] {
        let eta = eta_max(alpha);
        let crossing = alpha * libm::sqrt(1.0 + eta * eta) / (core::f64::consts::FRAC_PI_2 - libm::atan(eta));
        assert!((crossing - 1.0).abs() < 1e-12, "{alpha}: {crossing}");
    }
    assert_eq!(eta_max(1.6), 0.0);
}

/// Round trip [s], nu/kappa; phase crossover [rad/s], real part there, gain margin; gain crossover [rad/s], phase margin
/// [degrees], least distance.
#[allow(clippy::approx_constant, reason = "printed figures")]
const FIG1: [[f64; 8]; 13] = [
    [0.001, 0.1, 1571.9414, -0.63616, 1.5719, 999.99802, 32.807, 0.32011],
    [0.001, 1000.0, 1570.6691, -0.63667, 1.5707, 1000.00002, 32.693, 0.31950],
    [0.010, 0.1, 158.2172, -0.63199, 1.5823, 99.98020, 33.747, 0.32506],
    [0.010, 1.0, 157.0796, -0.63662, 1.5708, 100.00000, 32.704, 0.31956],
    [0.010, 1000.0, 156.9523, -0.63714, 1.5695, 100.00020, 32.590, 0.31894],
    [0.100, 0.1, 16.7754, -0.59196, 1.6893, 9.80008, 44.215, 0.37252],
    [0.100, 10.0, 15.5925, -0.64138, 1.5591, 10.00198, 31.662, 0.31389],
    [0.100, 1000.0, 15.5797, -0.64191, 1.5578, 10.00200, 31.548, 0.31327],
    [1.000, 0.1, 2.2152, -0.33643, 2.9724, 0.11522, 110.047, 0.65855],
    [1.000, 1.0, 1.5708, -0.63662, 1.5708, 1.00000, 32.704, 0.31956],
    [1.000, 10.0, 1.4473, -0.69744, 1.4338, 1.01889, 21.641, 0.24815],
    [1.000, 100.0, 1.4336, -0.70431, 1.4198, 1.01907, 20.620, 0.24022],
    [1.000, 1000.0, 1.4322, -0.70501, 1.4184, 1.01908, 20.519, 0.23942],
];

/// Reference 9.2, to the digits printed there.
#[test]
fn the_margins_of_fig_1() {
    for [tau, ratio, w_180, re, gain, w_c, phase, distance] in FIG1 {
        let m = margins(&|s| lead_lag(s, tau, ratio, 0.2, 1.0), Span { slowest_s: tau, fastest_s: tau });
        assert_eq!((m.verdict, m.unstable_roots), (Verdict::Stable, 0));
        let (gain_margin, phase_margin) = (m.gain_margin.unwrap(), m.phase_margin_deg.unwrap());
        for (is, should, digit) in [
            (m.phase_crossover_rad_per_s.unwrap(), w_180, 1e-4),
            (-1.0 / gain_margin, re, 1e-5),
            (gain_margin, gain, 1e-4),
            (m.gain_crossover_rad_per_s.unwrap(), w_c, 1e-5),
            (phase_margin, phase, 1e-3),
            (m.least_distance, distance, 1e-5),
        ] {
            assert!((is - should).abs() < 0.51 * digit, "tau {tau}, ratio {ratio}: {is}, not {should}");
        }
        let delay = phase_margin.to_radians() / m.gain_crossover_rad_per_s.unwrap();
        assert!(off(m.delay_margin_s.unwrap(), delay) < 1e-9);
    }
}

/// The delay margin is what it says: a little more delay and the loop is unstable, a little less and it is not.
#[test]
fn the_delay_margin_and_the_gain_margin_are_exact() {
    for [tau, ratio, ..] in FIG1 {
        let span = Span { slowest_s: tau, fastest_s: tau };
        let loop_with = |gain: f64, delay: f64| move |s| lead_lag(s, tau, ratio, 0.2, 1.0) * (-s * delay).exp() * gain;
        let m = margins(&loop_with(1.0, 0.0), span);
        let (gain, delay) = (m.gain_margin.unwrap(), m.delay_margin_s.unwrap());
        for (gain, delay, roots) in
            [(0.999 * gain, 0.0, 0), (1.001 * gain, 0.0, 2), (1.0, 0.999 * delay, 0), (1.0, 1.001 * delay, 2)]
        {
            assert_eq!(margins(&loop_with(gain, delay), span).unstable_roots, roots, "tau {tau}, ratio {ratio}");
        }
    }
}

/// Reference 9.6: the critical gain of the dynamic law at `tau = taubar`.
#[test]
fn the_critical_gain_of_the_dynamic_law() {
    let span = Span { slowest_s: 1.0, fastest_s: 1.0 };
    for (eta, ratio, critical) in [
        (0.05, 0.1, 1.8794),
        (0.05, 1000.0, 1.5375),
        (0.2, 3.0, 1.4698),
        (0.64, 0.1, 6.6655),
        (0.64, 10.0, 0.9556),
        (0.64, 1000.0, 0.8465),
    ] {
        let m = margins(&|s| lead_lag(s, 1.0, ratio, eta, 1.0), span);
        assert!((m.gain_margin.unwrap() - critical).abs() < 6e-5, "{eta} {ratio}: {m:?}");
    }
}

/// Every unstable pair of roots is counted: `s + alpha exp(-s tau) = 0` gains one each time alpha tau passes
/// `pi/2 + 2 pi k`.
#[test]
fn unstable_roots_are_counted() {
    for (alpha, roots) in [(1.5, 0), (1.6, 2), (7.8, 2), (7.9, 4), (14.2, 6)] {
        let m = margins(&|s| (-s).exp() / s * alpha, Span { slowest_s: 1.0, fastest_s: 1.0 });
        assert_eq!(m.unstable_roots, roots, "{alpha}");
        assert_eq!(m.verdict == Verdict::Stable, roots == 0);
        assert!(off(m.gain_margin.unwrap(), core::f64::consts::FRAC_PI_2 / alpha) < 1e-9, "{alpha}: {m:?}");
    }
    // Positive feedback through an integrator: one real root; two integrators without a zero: a pair.
    assert_eq!(margins(&|s| -(Complex::ONE / s), Span { slowest_s: 1.0, fastest_s: 1.0 }).unstable_roots, 1);
    let twice = |s: Complex| (-s).exp() / (s * s);
    assert_eq!(margins(&twice, Span { slowest_s: 1.0, fastest_s: 1.0 }).unstable_roots, 2);
}

fn lead_lag_source(period_s: f64) -> Source {
    let cc = cc("leadlag", &[("period", period_s)]);
    Source::new(&Flows {
        name: "one".into(),
        count: 1,
        base_rtt_s: 0.12,
        cc: &cc,
        site: cc::Context { packet: Bytes(1000), initial_window: 2.0, initial_ssthresh: 1.0 },
        packets_per_ack: 1,
        queue_marks: true,
        loss: 0.0,
        clocking: None,
        queue: None,
    })
    .unwrap()
}

/// Reference 9.1: the linearisation of (20), (21) by duals tends to (13) as the period goes to zero, with x0, nu and
/// kappa as given. The equilibrium is linear in the period, so two periods give the limit.
#[test]
fn the_source_tends_to_equation_13() {
    let (q0, z) = (50.0 * 128.0 / 237_500.0, 0.64);
    let signal = Signal { queueing_delay_s: 0.0, probability: -libm::expm1(-q0 * libm::log(1000.0)) };
    let response = |period_s: f64, w: f64| {
        let mut source = lead_lag_source(period_s);
        let equilibrium = source.equilibrium(signal).unwrap();
        assert!(off(equilibrium.rate, 1855.46875) < 1e-9 && off(equilibrium.price_s, q0) < 1e-12, "{equilibrium:?}");
        source.linearise(&equilibrium, signal).unwrap().of_price(Complex::axis(w), LoopModel::Laws)
    };
    let limit = |w: f64| response(1e-4, w) * 2.0 - response(2e-4, w);
    for (w, re, im) in [(0.05, -39229.77, 31507.28), (0.64, -6153.89, 5209.71), (10.0, -5722.81, 335.71)] {
        let is = limit(w);
        // The reference rounds q0 to 0.026947, which moves the low frequencies by a few units.
        assert!((is - Complex::new(re, im)).abs() < 3e-5 * Complex::new(re, im).abs(), "{w}: {is:?}");
    }
    assert!(off(-limit(1e-6).re, 68_855.1) < 1e-5, "nu: {:?}", limit(1e-6));
    // What remains of (13) without its compensator is kappa.
    let pole = z * 5721.02 / 68_855.1;
    let compensator = |s: Complex| (s + Complex::real(z)) / (s + Complex::real(pole));
    let kappa = -limit(100.0) / compensator(Complex::axis(100.0));
    assert!(off(kappa.re, 5721.02) < 1e-4 && kappa.im.abs() < 1.0, "kappa: {kappa:?}");
    // Not the limit but the law itself: relative difference at 10 ms and 10 rad/s, and not the tenth that (A - I)/T has.
    let real = response(0.01, 10.0);
    let ideal = Complex::new(-5722.81, 335.71);
    let difference = (real - ideal).abs() / ideal.abs();
    assert!((difference - 3.5e-3).abs() < 2e-4, "{difference}");
}

/// Proposition 1 of fast-aqm requires three properties of `L = F/s`; each without one of them fails, though the others hold.
#[test]
fn proposition_1_needs_each_of_its_conditions() {
    let one = Complex::ONE;
    let with = |f: fn(Complex) -> Complex| {
        let found = margins(&|s: Complex| f(s) / s, Span { slowest_s: 1.0, fastest_s: 1.0 });
        (found.verdict, found.unstable_roots)
    };
    // All three: F = 1/(s + 1), whose closed loop is s^2 + s + 1.
    assert_eq!(with(|s| Complex::ONE / (s + Complex::ONE)), (Verdict::Stable, 0));
    // (i) F = (0.2 s + 1)^2/(1 - s)^2 has a double pole at 1, F(0) = 1, and gamma L(jw) is never -1 for gamma up to 1, so
    // that (ii) and (iii) hold. The closed loop is s (1 - s)^2 + (0.2 s + 1)^2: a cubic whose roots have the sum 1.96.
    let unbounded = |s: Complex| {
        let (up, down) = (s * 0.2 + Complex::ONE, Complex::ONE - s);
        up * up / (down * down)
    };
    let mut least = f64::INFINITY;
    for k in 0..4000 {
        let s = Complex::axis(1e-3 * libm::pow(1.005, f64::from(k)));
        let l = unbounded(s) / s;
        if l.re <= -1.0 {
            least = f64::min(least, (l.im / l.re).abs());
        }
    }
    assert!(least > 0.05, "gamma L = -1 somewhere: {least}");
    let cubic = |s: Complex| s * (one - s) * (one - s) + (s * 0.2 + one) * (s * 0.2 + one);
    let mut root = Complex::new(1.2, 0.9);
    for _ in 0..60 {
        let h = Complex::real(1e-6);
        root = root - cubic(root) * h / (cubic(root + h) - cubic(root));
    }
    assert!(cubic(root).abs() < 1e-12 && root.re > 0.0, "{root:?}");
    // (ii) F(0) = -1: s^2 + s - 1 has a root at 0.618; -1/(jw (jw + 1)) lies right of the axis, never at -1.
    assert_eq!(with(|s| -(Complex::ONE / (s + Complex::ONE))), (Verdict::Unstable, 1));
    // (iii) F = 2 exp(-s): gamma L(j pi/2) = -1 at gamma = pi/4.
    assert_eq!(with(|s| (-s).exp() * 2.0), (Verdict::Unstable, 2));
}
