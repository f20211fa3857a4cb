//! The phase of a gain along the frequency, without jumps by a whole turn.
//!
//! The argument of a complex number is known but for whole turns. Two frequencies of a plot may be many turns apart: at a
//! hundred times the crossover a round trip alone is a dozen. So the gain is followed from one to the next in steps in which
//! its delay turns it by a fraction of a radian.

use core::cell::Cell;
use core::f64::consts::{FRAC_PI_2, PI};

use serde::Serialize;

use crate::complex::Complex;

/// The turn of the longest round trip in one step [rad], and the largest turn of a gain between neighbours of a curve: as fine
/// as the curve whose encirclements decide stability.
const STEP: f64 = 0.3;
const TURN: f64 = 0.35;
/// Its tangent.
const TURN_TANGENT: f64 = 0.365_028_494_830_424_5;

/// A phase is not followed further down [rad]: a hundred turns.
const LOWEST: f64 = -200.0 * PI;

/// Nor by more evaluations of the gain: among hundreds of round trips, each costs as much as there are.
const MANY: usize = 20_000;

/// A point of the loop gain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NyquistPoint {
    /// Frequency [rad/s].
    pub frequency_rad_per_s: f64,
    /// Real part of L.
    pub re: f64,
    /// Imaginary part of L.
    pub im: f64,
    /// Phase of L [degrees], without jumps by a whole turn; that of the lowest frequency is in (-270, 90]. Absent where L
    /// is zero, below a hundred turns, and where the phase would take too long to follow. Among tens of round trips a pole and
    /// a zero may be nearer to each other than the curve's points: there it may be off by whole turns below the fifteenth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_deg: Option<f64>,
}

impl NyquistPoint {
    /// L.
    pub const fn gain(&self) -> Complex {
        Complex::new(self.re, self.im)
    }

    fn new(w: f64, gain: Complex, phase_rad: Option<f64>) -> Self {
        Self { frequency_rad_per_s: w, re: gain.re, im: gain.im, phase_deg: phase_rad.map(f64::to_degrees) }
    }
}

/// Points of a curve, frequency [rad/s] and gain, whose neighbours are less than half a turn apart.
pub fn along(curve: &[(f64, Complex)]) -> Vec<NyquistPoint> {
    let mut last: Option<(Complex, f64)> = None;
    let point = |&(w, gain): &(f64, Complex)| {
        if !has_phase(gain) {
            return NyquistPoint::new(w, gain, None);
        }
        let phase = last.map_or_else(|| first(gain), |(before, phase)| phase + turn(before, gain));
        last = Some((gain, phase));
        NyquistPoint::new(w, gain, Some(phase))
    };
    curve.iter().map(point).collect()
}

/// The gain at growing `frequencies` [rad/s] where it is finite. Its phase is followed from as low as the first of them, or as
/// a tenth of a radian of the longest round trip `slowest_s`.
///
/// Zeros and poles on the axis turn the phase by half a turn, and nothing there says which way. The phase is followed beside
/// them, as the Nyquist criterion counts: to their right, where a zero leads and a pole lags.
pub(crate) fn at(gain: &dyn Fn(Complex) -> Complex, frequencies: &[f64], slowest_s: f64) -> Vec<NyquistPoint> {
    let sigma = 1e-6 / slowest_s;
    let taken = Cell::new(0);
    let beside = |w: f64| {
        taken.set(taken.get() + 1);
        gain(Complex::new(sigma, w))
    };
    let Some(&lowest) = frequencies.first() else { return Vec::new() };
    let start = lowest.min(0.1 / slowest_s);
    let mut last = (start, beside(start));
    let mut phase = Some(first(last.1));
    let mut points = Vec::with_capacity(frequencies.len());
    for &w in frequencies {
        let on_axis = gain(Complex::axis(w));
        if !on_axis.is_finite() {
            continue;
        }
        let next = (w, beside(w));
        if !has_phase(next.1) {
            points.push(NyquistPoint::new(w, on_axis, None));
            continue;
        }
        if !has_phase(last.1) {
            phase = Some(first(next.1));
        } else if let Some(so_far) = phase {
            let steps = ((w - last.0) * slowest_s / STEP).ceil().max(1.0);
            let short = steps < (MANY - taken.get().min(MANY)) as f64;
            phase = (so_far > LOWEST && short).then(|| {
                let mut turned = so_far;
                let mut from = last;
                for k in 1..=steps as u32 {
                    let at = last.0 + (w - last.0) * f64::from(k) / steps;
                    let to = if f64::from(k) < steps { (at, beside(at)) } else { next };
                    if !has_phase(to.1) {
                        continue;
                    }
                    turned += turn_between(&beside, from, to, 40);
                    from = to;
                }
                turned
            });
        }
        let here = phase.filter(|_| has_phase(on_axis)).map(|phase| phase + turn(next.1, on_axis));
        points.push(NyquistPoint::new(w, on_axis, here));
        last = next;
    }
    points
}

/// The phase at the lowest frequency [rad]: integrators lag, so beyond a quarter turn ahead is behind.
fn first(gain: Complex) -> f64 {
    let angle = gain.arg();
    if angle > FRAC_PI_2 { angle - 2.0 * PI } else { angle }
}

fn has_phase(gain: Complex) -> bool {
    gain.is_finite() && gain.abs() > 0.0
}

/// The angle from one number to another, within half a turn [rad].
fn turn(from: Complex, to: Complex) -> f64 {
    (to / from).arg()
}

/// Whether the angle from one number to another is less than [`TURN`].
pub(crate) fn turns_little(from: Complex, to: Complex) -> bool {
    let turned = to / from;
    (turned.re > 0.0 && turned.im.abs() < TURN_TANGENT * turned.re) || turned == Complex::ZERO
}

/// The angle by which `f` turns between two frequencies, halved until both halves agree with the whole, or `depth` times.
pub(crate) fn turn_between(f: &dyn Fn(f64) -> Complex, a: (f64, Complex), b: (f64, Complex), depth: u32) -> f64 {
    let whole = turn(a.1, b.1);
    let w = f64::midpoint(a.0, b.0);
    let middle = (w, f(w));
    if !has_phase(middle.1) {
        return whole;
    }
    let (first, second) = (turn(a.1, middle.1), turn(middle.1, b.1));
    if depth == 0 || (first.abs() < TURN && second.abs() < TURN && (whole - first - second).abs() < 1e-6) {
        return first + second;
    }
    turn_between(f, a, middle, depth - 1) + turn_between(f, middle, b, depth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_turn_is_one_of_a_small_angle() {
        for k in -314..314 {
            let angle = 0.01 * f64::from(k);
            let from = Complex::new(3.0, -4.0);
            let to = from * Complex::axis(angle).exp() * 1e3;
            assert_eq!(turns_little(from, to), turn(from, to).abs() < TURN, "{angle}");
        }
        // Zero has no angle: a way to it is no turn, and a way from it is.
        for (from, to) in [(Complex::ONE, Complex::ZERO), (Complex::ZERO, Complex::ONE), (Complex::ZERO, Complex::ZERO)]
        {
            assert_eq!(turns_little(from, to), turn(from, to).abs() < TURN, "{from:?} {to:?}");
        }
    }

    /// `exp(-s)/s` lags by a quarter turn and by its delay, however many turns that is.
    fn lagging(s: Complex) -> Complex {
        (-s).exp() / s
    }

    fn agrees(points: &[NyquistPoint], lag_deg: impl Fn(f64) -> f64) {
        for p in points {
            let (w, phase) = (p.frequency_rad_per_s, p.phase_deg.expect("followed"));
            assert!((phase + lag_deg(w)).abs() < 1e-9 * lag_deg(w).max(1.0), "{w}: {phase}");
        }
    }

    #[test]
    fn phases_of_a_fine_curve_go_on_beyond_a_turn() {
        let curve: Vec<_> = (1..=200).map(|k| 0.1 * f64::from(k)).map(|w| (w, lagging(Complex::axis(w)))).collect();
        agrees(&along(&curve), |w| 90.0 + w.to_degrees());
    }

    /// Forty frequencies over four decades: the last are seventeen turns apart.
    #[test]
    fn frequencies_of_a_plot_may_be_many_turns_apart() {
        let frequencies: Vec<f64> = (0..40).map(|k| 0.05 * libm::pow(1e4, f64::from(k) / 39.0)).collect();
        let points = at(&lagging, &frequencies, 1.0);
        assert_eq!(points.len(), 40);
        agrees(&points, |w| 90.0 + w.to_degrees());
    }

    /// From the second turn on, if need be: what lies below the first frequency has turned it already.
    #[test]
    fn a_plot_may_begin_after_the_first_turn() {
        agrees(&at(&lagging, &[20.0, 50.0], 1.0), |w| 90.0 + w.to_degrees());
    }

    /// Two integrators lag by half a turn, whatever the sign of the last bit.
    #[test]
    fn integrators_lag() {
        let double = |s: Complex| Complex::ONE / (s * s);
        agrees(&at(&double, &[0.1, 1.0, 10.0], 1.0), |_| 180.0);
    }

    /// An average over two seconds has zeros at multiples of `pi`, each of which leads by half a turn, and lags by one second.
    #[test]
    fn zeros_on_the_axis_lead() {
        let average = |s: Complex| (s * 2.0).hold();
        let frequencies: Vec<f64> = (1..100).map(|k| 0.5 * f64::from(k)).collect();
        let halves = |w: f64| 180.0 * (w / core::f64::consts::PI).floor();
        agrees(&at(&average, &frequencies, 2.0), |w| w.to_degrees() - halves(w));
    }

    /// What would take too long is absent, and the gain stays.
    #[test]
    fn a_curve_is_followed_so_far() {
        for far in [[1.0, 10.0, 1e9], [1.0, 700.0, 701.0]] {
            let points = at(&lagging, &far, 1.0);
            let known: Vec<bool> = points.iter().map(|p| p.phase_deg.is_some()).collect();
            assert_eq!(known, [true, true, false]);
            assert!(points[2].re.is_finite());
        }
    }

    /// Where the gain has no value, or is zero, the phase goes on behind it, and nothing is evaluated for ever.
    #[test]
    fn a_gap_is_passed_over() {
        for hole in [Complex::new(f64::NAN, 0.0), Complex::ZERO] {
            let taken = Cell::new(0);
            let gain = |s: Complex| {
                taken.set(taken.get() + 1);
                if (s.im - 1.5).abs() < 0.2 { hole } else { lagging(s) }
            };
            let points = at(&gain, &[1.0, 1.5, 2.0], 1.0);
            assert!(taken.get() < 1000, "{}", taken.get());
            let last = points.last().expect("a point");
            assert!((last.phase_deg.expect("followed") + 90.0 + 2.0_f64.to_degrees()).abs() < 1e-9, "{last:?}");
        }
    }
}
