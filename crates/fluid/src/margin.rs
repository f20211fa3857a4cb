//! Margins of a scalar loop, and whether it is stable, by the Nyquist criterion.
//!
//! The open loop may have poles on the imaginary axis: integrators at the origin, and, for ACK-clocked senders, one at
//! every multiple of `2 pi / tau`. So encirclements of -1 are counted along `Re s = sigma` with a sigma a million times
//! slower than the slowest round trip, where the gain is analytic and finite; margins are read on the axis itself.

use core::f64::consts::PI;

use serde::Serialize;

use crate::complex::Complex;

/// Whether disturbances die out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// They do.
    Stable,
    /// They grow.
    Unstable,
    /// The count of encirclements does not say: a law alone runs away, or the gain never falls below one.
    Undecided,
}

/// Margins of a loop. What does not exist is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Margins {
    /// Whether the closed loop is stable.
    pub verdict: Verdict,
    /// Roots of the characteristic equation in the right half plane.
    pub unstable_roots: u32,
    /// What the gain may be multiplied by before the loop is unstable; for an unstable loop, below one, what it must be
    /// multiplied by to become stable. Absent where the gain never crosses the negative real axis inside -1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_margin: Option<f64>,
    /// What the gain of a stable loop must not be multiplied by, below one, where lowering it destabilises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_gain: Option<f64>,
    /// The phase above -180 degrees at the gain crossover nearest to -1, or, of an unstable loop, at the one furthest
    /// behind it [degrees].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_margin_deg: Option<f64>,
    /// What the delay of a stable loop may grow by before it is unstable [s]. Absent with ACK-clocked senders, whose own
    /// response changes with the delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_margin_s: Option<f64>,
    /// Where the gain crosses the negative real axis at the gain margin [rad/s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_crossover_rad_per_s: Option<f64>,
    /// Where the modulus of the gain is one at the phase margin [rad/s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_crossover_rad_per_s: Option<f64>,
    /// The least distance of the gain from -1: `min |1 + L|`, the inverse of the sensitivity's peak.
    pub least_distance: f64,
    /// Where that is [rad/s].
    pub least_distance_rad_per_s: f64,
}

/// What sets the scale of frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The longest round trip [s].
    pub slowest_s: f64,
    /// The shortest round trip [s].
    pub fastest_s: f64,
}

/// A gain along a line: frequency [rad/s] and value.
type Curve = Vec<(f64, Complex)>;

/// The largest turn, seen from 0 and from -1, between neighbours of a curve [rad].
const TURN: f64 = 0.35;

/// A gain beyond this on the axis is near a pole.
const FAR: f64 = 1e3;

/// A curve of more points than that is not followed further.
const POINTS: usize = 2_000_000;

/// Margins and verdict of the loop `gain`, an analytic function of `s` [1/s] in the right half plane.
pub fn margins(gain: &dyn Fn(Complex) -> Complex, span: Span) -> Margins {
    let sigma = 1e-6 / span.slowest_s;
    let on_axis = |w: f64| gain(Complex::axis(w));
    let beside = |w: f64| gain(Complex::new(sigma, w));

    let (verdict, unstable_roots) = count(&follow(&beside, 1e-3 * sigma, span, true));
    let curve = follow(&on_axis, 1e-5 / span.slowest_s, span, false);
    let axis = crossings(&curve, &on_axis, |l| if l.re < 0.0 { Some(l.im) } else { None });
    let sizes: Vec<(f64, f64)> =
        axis.into_iter().filter(|(_, l)| l.im.abs() < 1e-6 * l.re.abs()).map(|(w, l)| (w, -l.re)).collect();
    let inside = sizes.iter().copied().filter(|(_, size)| *size < 1.0).max_by(|a, b| a.1.total_cmp(&b.1));
    let largest = sizes.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let outside = sizes.iter().copied().filter(|(_, size)| *size >= 1.0).min_by(|a, b| a.1.total_cmp(&b.1));
    let at = if verdict == Verdict::Unstable { largest } else { inside };

    let unit = crossings(&curve, &on_axis, |l| Some(l.abs() - 1.0));
    let unit: Vec<(f64, Complex)> = unit.into_iter().filter(|(_, l)| (l.abs() - 1.0).abs() < 1e-6).collect();
    // The angle by which the gain is ahead of -1, within half a turn.
    let lead = |l: Complex| (-l).arg();
    // Of a stable loop the crossover nearest to -1; of an unstable one that which lies behind it furthest.
    let near = |l: Complex| if verdict == Verdict::Unstable { lead(l) } else { lead(l).abs() };
    let phase = unit.iter().copied().min_by(|a, b| near(a.1).total_cmp(&near(b.1)));
    let delay = unit
        .iter()
        .map(|&(w, l)| if lead(l) >= 0.0 { lead(l) / w } else { (lead(l) + 2.0 * PI) / w })
        .min_by(f64::total_cmp)
        .filter(|_| verdict == Verdict::Stable);
    let (least_distance_rad_per_s, least_distance) = nearest(&curve, &on_axis);
    Margins {
        verdict,
        unstable_roots,
        gain_margin: at.map(|(_, size)| 1.0 / size),
        least_gain: outside.filter(|_| verdict == Verdict::Stable).map(|(_, size)| 1.0 / size),
        phase_margin_deg: phase.map(|(_, l)| lead(l) * 180.0 / PI),
        delay_margin_s: delay,
        phase_crossover_rad_per_s: at.map(|(w, _)| w),
        gain_crossover_rad_per_s: phase.map(|(w, _)| w),
        least_distance,
        least_distance_rad_per_s,
    }
}

/// Follows a gain upward from `start` until it stays small, with neighbours close enough that no turn is lost.
fn follow(gain: &dyn Fn(f64) -> Complex, start: f64, span: Span, from_zero: bool) -> Curve {
    let mut curve = Curve::new();
    if from_zero {
        curve.push((0.0, gain(0.0)));
    }
    let (least, most) = (30.0 / span.fastest_s, 300.0 / span.fastest_s);
    let mut w = start;
    let (mut octave, mut largest) = (w, 0.0);
    while curve.len() < POINTS && w < most {
        let l = gain(w);
        if l.is_finite() {
            if let Some(&last) = curve.last() {
                refine(gain, last, (w, l), (from_zero, 48), &mut curve);
            }
            curve.push((w, l));
            largest = f64::max(largest, l.abs());
        }
        if w > 2.0 * octave {
            if w > least && largest < 0.3 {
                break;
            }
            (octave, largest) = (w, 0.0);
        }
        w += f64::min(0.03 * w, 0.3 / span.slowest_s);
    }
    curve
}

/// Adds what is needed between two neighbours, the ends left out.
///
/// On the axis, where a pole may be, what is far from -1 need not be followed.
fn refine(
    gain: &dyn Fn(f64) -> Complex,
    a: (f64, Complex),
    b: (f64, Complex),
    (from_zero, depth): (bool, u32),
    curve: &mut Curve,
) {
    let turn = |x: Complex, y: Complex| (y / x).arg().abs();
    let far = !from_zero && a.1.abs() > FAR && b.1.abs() > FAR;
    if depth == 0 || far || (turn(a.1, b.1) < TURN && turn(a.1 + Complex::ONE, b.1 + Complex::ONE) < TURN) {
        return;
    }
    let w = f64::midpoint(a.0, b.0);
    let l = gain(w);
    if !l.is_finite() {
        return;
    }
    refine(gain, a, (w, l), (from_zero, depth - 1), curve);
    curve.push((w, l));
    refine(gain, (w, l), b, (from_zero, depth - 1), curve);
}

/// The verdict by the number of times the gain, along the line and its mirror image, goes round -1.
fn count(curve: &Curve) -> (Verdict, u32) {
    let ahead = |l: Complex| l + Complex::ONE;
    // Up to where the gain is last seen below one: beyond, it returns to zero without another turn, or, where it never
    // stays small, as between senders clocked by acknowledgements alone, the count is of the roots up to there.
    let Some(top) = curve.last().map(|(w, _)| *w) else { return (Verdict::Undecided, 0) };
    let below = curve.iter().rposition(|(w, l)| l.abs() < 1.0 && *w > 0.5 * top);
    let end = below.unwrap_or(curve.len() - 1);
    let turned: f64 = curve[..=end].windows(2).map(|p| (ahead(p[1].1) / ahead(p[0].1)).arg()).sum();
    let last = curve[end].1;
    let roots = -(turned - ahead(last).arg()) / PI;
    let whole = libm::round(roots);
    let lost = (roots - whole).abs() > 0.05 || whole < 0.0;
    if lost || (below.is_none() && whole == 0.0) {
        return (Verdict::Undecided, 0);
    }
    (if whole == 0.0 { Verdict::Stable } else { Verdict::Unstable }, whole as u32)
}

/// Where `f` of the gain changes its sign, to the last digits.
fn crossings(curve: &Curve, gain: &dyn Fn(f64) -> Complex, f: impl Fn(Complex) -> Option<f64>) -> Vec<(f64, Complex)> {
    let mut found = Vec::new();
    for pair in curve.windows(2) {
        let (Some(a), Some(b)) = (f(pair[0].1), f(pair[1].1)) else { continue };
        if (a > 0.0) == (b > 0.0) {
            continue;
        }
        let (mut low, mut high) = (pair[0].0, pair[1].0);
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            match f(gain(middle)) {
                Some(x) if (x > 0.0) == (a > 0.0) => low = middle,
                _ => high = middle,
            }
        }
        found.push((high, gain(high)));
    }
    found
}

/// Where the gain comes nearest to -1, and how near.
fn nearest(curve: &Curve, gain: &dyn Fn(f64) -> Complex) -> (f64, f64) {
    let distance = |l: Complex| (l + Complex::ONE).abs();
    let Some(at) = (0..curve.len()).min_by(|&a, &b| distance(curve[a].1).total_cmp(&distance(curve[b].1))) else {
        return (0.0, 1.0);
    };
    let (mut low, mut high) = (curve[at.saturating_sub(1)].0, curve[usize::min(at + 1, curve.len() - 1)].0);
    for _ in 0..100 {
        let third = (high - low) / 3.0;
        if distance(gain(low + third)) < distance(gain(high - third)) {
            high -= third;
        } else {
            low += third;
        }
    }
    let w = f64::midpoint(low, high);
    (w, distance(gain(w)))
}
