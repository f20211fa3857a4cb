//! The phase of a gain along the frequency, without jumps by a whole turn.
//!
//! The argument of a complex number is known but for whole turns. Two frequencies of a plot may be many turns apart: at a
//! hundred times the crossover a round trip alone is a dozen. So the gain is followed from one to the next in steps in which
//! its delay turns it by a fraction of a radian.

use core::cell::Cell;
use core::f64::consts::{FRAC_PI_2, PI};

use serde::Serialize;

use crate::complex::Complex;

/// The turn of the longest round trip in one step, and the largest turn of the gain in half of one [rad].
const STEP: f64 = 1.5;
const TURN: f64 = 1.0;

/// A curve is not followed by more evaluations of its gain than that: among hundreds of round trips, each costs as much
/// as there are.
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
    /// is zero and where the phase would take too long to follow.
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
pub(crate) fn at(gain: &dyn Fn(f64) -> Complex, frequencies: &[f64], slowest_s: f64) -> Vec<NyquistPoint> {
    let taken = Cell::new(0);
    let count = |w: f64| {
        taken.set(taken.get() + 1);
        gain(w)
    };
    let Some(&lowest) = frequencies.first() else { return Vec::new() };
    let start = lowest.min(0.1 / slowest_s);
    let mut last = (start, count(start));
    let mut phase = Some(first(last.1));
    let mut points = Vec::with_capacity(frequencies.len());
    for &w in frequencies {
        let next = (w, count(w));
        if !has_phase(next.1) {
            if next.1.is_finite() {
                points.push(NyquistPoint::new(w, next.1, None));
            }
            continue;
        }
        if !has_phase(last.1) {
            phase = Some(first(next.1));
        } else if let Some(so_far) = phase {
            let steps = ((w - last.0) * slowest_s / STEP).ceil().max(1.0);
            phase = (steps < (MANY - taken.get().min(MANY)) as f64).then(|| {
                let mut turned = so_far;
                let mut from = last;
                for k in 1..=steps as u32 {
                    let at = last.0 + (w - last.0) * f64::from(k) / steps;
                    let to = if f64::from(k) < steps { (at, count(at)) } else { next };
                    if !has_phase(to.1) {
                        continue;
                    }
                    turned += turn_between(&count, from, to, (TURN, 40));
                    from = to;
                }
                turned
            });
        }
        points.push(NyquistPoint::new(w, next.1, phase));
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

/// The angle by which `f` turns between two frequencies, halved until both halves are below `most` [rad] and agree with the
/// whole, or `depth` times.
pub(crate) fn turn_between(
    f: &dyn Fn(f64) -> Complex,
    a: (f64, Complex),
    b: (f64, Complex),
    (most, depth): (f64, u32),
) -> f64 {
    let whole = turn(a.1, b.1);
    let w = f64::midpoint(a.0, b.0);
    let middle = (w, f(w));
    if !has_phase(middle.1) {
        return whole;
    }
    let (first, second) = (turn(a.1, middle.1), turn(middle.1, b.1));
    if depth == 0 || (first.abs() < most && second.abs() < most && (whole - first - second).abs() < 1e-6) {
        return first + second;
    }
    turn_between(f, a, middle, (most, depth - 1)) + turn_between(f, middle, b, (most, depth - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `exp(-s)/s` lags by a quarter turn and by its delay, however many turns that is.
    fn lagging(w: f64) -> Complex {
        (-Complex::axis(w)).exp() / Complex::axis(w)
    }

    fn agrees(points: &[NyquistPoint], lag_deg: impl Fn(f64) -> f64) {
        for p in points {
            let (w, phase) = (p.frequency_rad_per_s, p.phase_deg.expect("followed"));
            assert!((phase + lag_deg(w)).abs() < 1e-9 * lag_deg(w).max(1.0), "{w}: {phase}");
        }
    }

    #[test]
    fn phases_of_a_fine_curve_go_on_beyond_a_turn() {
        let curve: Vec<_> = (1..=200).map(|k| 0.1 * f64::from(k)).map(|w| (w, lagging(w))).collect();
        agrees(&along(&curve), |w| 90.0 + w.to_degrees());
    }

    /// A hundred frequencies over four decades: the last are fifteen turns apart.
    #[test]
    fn frequencies_of_a_plot_may_be_many_turns_apart() {
        let frequencies: Vec<f64> = (0..100).map(|k| 0.1 * libm::pow(1e4, f64::from(k) / 99.0)).collect();
        let points = at(&lagging, &frequencies, 1.0);
        assert_eq!(points.len(), 100);
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
        let double = |w: f64| Complex::ONE / (Complex::axis(w) * Complex::axis(w)) * Complex::new(1.0, -1e-9);
        agrees(&at(&double, &[0.1, 1.0, 10.0], 1.0), |_| 180.0);
    }

    /// What would take too long is absent, and the gain stays.
    #[test]
    fn a_curve_is_followed_so_far() {
        let points = at(&lagging, &[1.0, 10.0, 1e9], 1.0);
        let known: Vec<bool> = points.iter().map(|p| p.phase_deg.is_some()).collect();
        assert_eq!(known, [true, true, false]);
        assert!(points[2].re.is_finite());
    }

    /// Where the gain has no value, or is zero, the phase goes on behind it, and nothing is evaluated for ever.
    #[test]
    fn a_gap_is_passed_over() {
        for hole in [Complex::new(f64::NAN, 0.0), Complex::ZERO] {
            let taken = Cell::new(0);
            let gain = |w: f64| {
                taken.set(taken.get() + 1);
                if (w - 1.5).abs() < 0.2 { hole } else { lagging(w) }
            };
            let points = at(&gain, &[1.0, 1.5, 2.0], 1.0);
            assert!(taken.get() < 1000, "{}", taken.get());
            let last = points.last().expect("a point");
            assert!((last.phase_deg.expect("followed") + 90.0 + 2.0_f64.to_degrees()).abs() < 1e-9, "{last:?}");
        }
    }
}
