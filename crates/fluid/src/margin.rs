//! Margins of a loop, and whether it is stable, by the Nyquist criterion.
//!
//! Of a loop of several links the gain is a matrix: the verdict comes from `det(I + L)`, margins from the eigenloci, the
//! eigenvalues of `L(jw)` followed along the frequency. Gain margins are those of one factor common to all links.
//!
//! The open loop may have poles on the imaginary axis: integrators at the origin, and, for ACK-clocked senders, one at
//! every multiple of `2 pi / tau`. So encirclements of -1 are counted along `Re s = sigma` with a sigma a million times
//! slower than the slowest round trip, where the gain is analytic and finite; margins are read on the axis itself.

use core::f64::consts::PI;

use serde::Serialize;

use crate::complex::Complex;
use crate::eigen;
use crate::phase::{turn_between, turns_little};

/// The stability of the closed loop: whether disturbances die out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// They do.
    Stable,
    /// They grow.
    Unstable,
    /// The count of encirclements does not decide: a law alone runs away, or the gain never falls below one.
    Undecided,
}

/// Margins of a loop. A margin that does not exist is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Margins {
    /// Whether the closed loop is stable.
    pub verdict: Verdict,
    /// Roots of the characteristic equation in the right half plane.
    pub unstable_roots: u32,
    /// The factor on the gain at which the loop becomes unstable; for an unstable loop, below one, the factor
    /// at which it becomes stable. Absent where the gain never crosses the negative real axis inside -1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_margin: Option<f64>,
    /// The factor on the gain, below one, at which a stable loop becomes unstable, where lowering it destabilises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_gain: Option<f64>,
    /// The phase above -180 degrees at the gain crossover nearest to -1, or, of an unstable loop, at the one furthest
    /// behind it [degrees].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_margin_deg: Option<f64>,
    /// The additional delay at which a stable loop becomes unstable [s]. Absent with ACK-clocked senders, whose own
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
    /// The largest factor by which the loop amplifies a disturbance of any frequency, and of any direction over links:
    /// the peak of the largest singular value of `(I + L)^-1`.
    pub sensitivity_peak: f64,
}

impl Margins {
    /// Those of loops that have nothing in common, as of one: it is unstable if any is, and each margin is that of the
    /// loop which has least of it; of the unstable ones, where there are any.
    pub(crate) fn worst(parts: impl Iterator<Item = Self>) -> Self {
        let parts: Vec<Self> = parts.collect();
        let is = |verdict: Verdict| parts.iter().any(|m| m.verdict == verdict);
        let verdict = [Verdict::Unstable, Verdict::Undecided].into_iter().find(|v| is(*v)).unwrap_or(Verdict::Stable);
        let count: Vec<&Self> = parts.iter().filter(|m| m.verdict == verdict).collect();
        // The part that is worst by what is given of it; parts without it have no such limit.
        let least = |of: &dyn Fn(&Self) -> Option<f64>| {
            let given = count.iter().filter_map(|m| of(m).map(|x| (*m, x)));
            given.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(m, _)| m)
        };
        let by_gain = least(&|m| m.gain_margin);
        let behind = |degrees: f64| if verdict == Verdict::Unstable { degrees } else { degrees.abs() };
        let by_phase = least(&|m| m.phase_margin_deg.map(behind));
        let by_distance = parts.iter().min_by(|a, b| a.least_distance.total_cmp(&b.least_distance));
        Self {
            verdict,
            unstable_roots: parts.iter().map(|m| m.unstable_roots).sum(),
            gain_margin: by_gain.and_then(|m| m.gain_margin),
            least_gain: least(&|m| m.least_gain.map(|x| -x)).and_then(|m| m.least_gain),
            phase_margin_deg: by_phase.and_then(|m| m.phase_margin_deg),
            delay_margin_s: least(&|m| m.delay_margin_s).and_then(|m| m.delay_margin_s),
            phase_crossover_rad_per_s: by_gain.and_then(|m| m.phase_crossover_rad_per_s),
            gain_crossover_rad_per_s: by_phase.and_then(|m| m.gain_crossover_rad_per_s),
            least_distance: by_distance.map_or(1.0, |m| m.least_distance),
            least_distance_rad_per_s: by_distance.map_or(0.0, |m| m.least_distance_rad_per_s),
            sensitivity_peak: parts.iter().map(|m| m.sensitivity_peak).fold(0.0, f64::max),
        }
    }
}

/// Scale of frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The longest round trip [s].
    pub slowest_s: f64,
    /// The shortest round trip [s].
    pub fastest_s: f64,
}

/// A gain along a line: frequency [rad/s] and value.
type Curve = Vec<(f64, Complex)>;

/// A gain below this is so far inside that its turns about zero decide no margin below fifty; only those about -1 are
/// followed. Between senders of hundreds of round trips it turns about zero with each.
const SMALL: f64 = 0.02;

/// A gain beyond this on the axis is near a pole.
const FAR: f64 = 1e3;

/// An entry of a matrix beyond this is so near a pole that rounding hides small eigenvalues and singular values, which go on evenly
/// through the pole.
const BLURRED: f64 = 1e6;

/// The lowest points of the least singular value that are looked at more closely.
const DIPS: usize = 20;

/// A curve of more points than that is not followed further, and one of more than the second not beyond the frequencies
/// that every curve is followed to.
const POINTS: usize = 2_000_000;
const MANY: usize = 20_000;

/// Margins and verdict of the loop `gain`, an analytic function of `s` [1/s] in the right half plane.
pub fn margins(gain: &dyn Fn(Complex) -> Complex, span: Span) -> Margins {
    margins_and_locus(gain, span).0
}

/// The same, with the curve they were read from: frequencies [rad/s] and gains.
pub fn margins_and_locus(gain: &dyn Fn(Complex) -> Complex, span: Span) -> (Margins, Vec<(f64, Complex)>) {
    let sigma = 1e-6 / span.slowest_s;
    let on_axis = |w: f64| gain(Complex::axis(w));
    let beside = |w: f64| gain(Complex::new(sigma, w));
    let across = |top: f64| turn_across(gain, sigma, top, span);
    let (verdict, unstable_roots) = count(&follow(&beside, 1e-3 * sigma, span, true), &across);
    let curve = follow(&on_axis, 1e-5 / span.slowest_s, span, false);
    let loci = [Locus { curve, gain: Box::new(on_axis) }];
    let mut margins = measured(verdict, unstable_roots, &loci);
    margins.sensitivity_peak = 1.0 / margins.least_distance;
    let [Locus { curve, .. }] = loci;
    (margins, curve)
}

/// Margins and verdict of a loop of several links, with the eigenloci they were read from: frequencies [rad/s] and
/// eigenvalues of `gain`, each locus followed by nearness.
pub fn matrix_margins(gain: &dyn Fn(Complex) -> Vec<Vec<Complex>>, span: Span) -> (Margins, Vec<Vec<(f64, Complex)>>) {
    let sigma = 1e-6 / span.slowest_s;
    let ahead = |s: Complex| {
        let mut matrix = gain(s);
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] = row[i] + Complex::ONE;
        }
        matrix
    };
    let excess = |s: Complex| eigen::determinant(ahead(s)) - Complex::ONE;
    let beside = |w: f64| eigen::of_complex(&gain(Complex::new(sigma, w))).filter(|v| v.iter().all(|l| l.is_finite()));
    let turns = follow_all(&beside, 1e-3 * sigma, span, true);
    let (verdict, unstable_roots) = count_all(&turns, &|top| turn_across(&excess, sigma, top, span));
    let on_axis = |w: f64| {
        let matrix = gain(Complex::axis(w));
        eigen::of_complex(&matrix).filter(|_| is_sharp(&matrix))
    };
    let loci = follow_all(&on_axis, 1e-5 / span.slowest_s, span, false);
    let Some(grid) = loci.first().cloned() else {
        return (measured(Verdict::Undecided, 0, &[]), loci);
    };
    let followed: Vec<Locus<'_>> = loci
        .iter()
        .map(|curve| Locus { curve: curve.clone(), gain: Box::new(|w| eigenvalue_near(gain, curve, w)) })
        .collect();
    let mut margins = measured(verdict, unstable_roots, &followed);
    drop(followed);
    margins.sensitivity_peak =
        1.0 / least_singular(&grid, &|w| ahead(Complex::axis(w)), margins.least_distance_rad_per_s);
    (margins, loci)
}

/// Whether the small eigenvalues and singular values of a matrix are more than rounding of large entries.
fn is_sharp(matrix: &[Vec<Complex>]) -> bool {
    matrix.iter().flatten().all(|entry| entry.abs() < BLURRED)
}

/// The least singular value of a matrix over the frequencies of a curve, and about `also` [rad/s].
///
/// No eigenvalue of a matrix is smaller than its least singular value: `also` is where an eigenvalue is smallest.
fn least_singular(curve: &Curve, matrix: &dyn Fn(f64) -> Vec<Vec<Complex>>, also: f64) -> f64 {
    let least = |w: f64| {
        let matrix = matrix(w);
        let value = if is_sharp(&matrix) { eigen::least_singular(&matrix) } else { f64::INFINITY };
        if value.is_nan() { f64::INFINITY } else { value }
    };
    let values: Vec<f64> = curve.iter().map(|(w, _)| least(*w)).collect();
    let neighbours = |at: usize| values[at.saturating_sub(1)].min(values[usize::min(at + 1, values.len() - 1)]);
    let mut dips: Vec<usize> = (0..values.len()).filter(|&at| values[at] <= neighbours(at)).collect();
    dips.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    dips.truncate(DIPS);
    dips.push(curve.partition_point(|(w, _)| *w < also).min(curve.len().max(1) - 1));
    dips.into_iter().map(|at| lowest_between(curve, at, &least).1).fold(least(also), f64::min)
}

/// The number of roots of `det(I + L(s))` in the right half plane, by the turns of the determinant beside the axis up to
/// `top` [rad/s], from where on every eigenvalue of `L` is below one in modulus. None where they do not add up.
pub fn unstable_roots(gain: &dyn Fn(Complex) -> Vec<Vec<Complex>>, slowest_s: f64, top: f64) -> Option<u32> {
    let sigma = 1e-6 / slowest_s;
    let ahead = |w: f64| {
        let mut matrix = gain(Complex::new(sigma, w));
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] = row[i] + Complex::ONE;
        }
        eigen::determinant(matrix)
    };
    let mut turned = 0.0;
    let mut last = (0.0, ahead(0.0));
    let mut w = 0.1 * sigma;
    while last.0 < top {
        let next = (f64::min(w, top), ahead(f64::min(w, top)));
        turned += turn_between(&ahead, last, next, 40);
        last = next;
        w *= 1.05;
    }
    let values = eigen::of_complex(&gain(Complex::new(sigma, top)))?;
    let left: f64 = values.iter().map(|l| (*l + Complex::ONE).arg()).sum();
    let roots = -(turned - left) / PI;
    let whole = libm::round(roots);
    ((roots - whole).abs() < 0.05 && whole >= 0.0).then_some(whole as u32)
}

fn nearest_of(values: &[Complex], to: Complex) -> usize {
    let distance = |i: &usize| (values[*i] - to).abs();
    (0..values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// The eigenvalue at `w` that belongs to the locus `curve`.
fn eigenvalue_near(gain: &dyn Fn(Complex) -> Vec<Vec<Complex>>, curve: &Curve, w: f64) -> Complex {
    let after = curve.partition_point(|(at, _)| *at < w).clamp(1, curve.len().max(2) - 1);
    let ((w0, l0), (w1, l1)) = (curve[after - 1], curve[after]);
    let share = if w1 > w0 { ((w - w0) / (w1 - w0)).clamp(0.0, 1.0) } else { 0.0 };
    let expected = l0 * (1.0 - share) + l1 * share;
    let values = eigen::of_complex(&gain(Complex::axis(w))).unwrap_or_default();
    if values.is_empty() { expected } else { values[nearest_of(&values, expected)] }
}

/// A curve that margins are read from, and its values between its points.
struct Locus<'a> {
    curve: Curve,
    gain: Box<dyn Fn(f64) -> Complex + 'a>,
}

/// Margins from the loci; the sensitivity's peak is left to be filled in.
fn measured(verdict: Verdict, unstable_roots: u32, loci: &[Locus<'_>]) -> Margins {
    let mut sizes: Vec<(f64, f64)> = Vec::new();
    let mut unit: Vec<(f64, Complex)> = Vec::new();
    let mut closest = (0.0, 1.0);
    for Locus { curve, gain } in loci {
        let axis = crossings(curve, gain.as_ref(), |l| if l.re < 0.0 { Some(l.im) } else { None });
        sizes.extend(axis.into_iter().filter(|(_, l)| l.im.abs() < 1e-6 * l.re.abs()).map(|(w, l)| (w, -l.re)));
        let one = crossings(curve, gain.as_ref(), |l| Some(l.abs() - 1.0));
        unit.extend(one.into_iter().filter(|(_, l)| (l.abs() - 1.0).abs() < 1e-6));
        let near = nearest(curve, gain.as_ref());
        if near.1 < closest.1 {
            closest = near;
        }
    }
    let inside = sizes.iter().copied().filter(|(_, size)| *size < 1.0).max_by(|a, b| a.1.total_cmp(&b.1));
    let largest = sizes.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let outside = sizes.iter().copied().filter(|(_, size)| *size >= 1.0).min_by(|a, b| a.1.total_cmp(&b.1));
    let at = if verdict == Verdict::Unstable { largest } else { inside };

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
    let (least_distance_rad_per_s, least_distance) = closest;
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
        sensitivity_peak: f64::NAN,
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
    while curve.len() < POINTS && w < most && (w < least || curve.len() < MANY) {
        let l = gain(w);
        if l.is_finite() {
            if let Some(&last) = curve.last() {
                refine(gain, last, (w, l), (if from_zero { f64::INFINITY } else { FAR }, 48), &mut curve);
            }
            curve.push((w, l));
            largest = f64::max(largest, l.abs());
        }
        if w > 2.0 * octave {
            if w > least && largest < 0.3 || w > 0.1 * least && largest < SMALL {
                break;
            }
            (octave, largest) = (w, 0.0);
        }
        w += f64::min(0.03 * w, 0.3 / span.slowest_s);
    }
    curve
}

/// The same of all eigenvalues, each followed by nearness; neighbours are close enough that no eigenvalue turns unseen.
/// The determinant alone would miss it: two that turn half way round each leave it where it was.
fn follow_all(values: &dyn Fn(f64) -> Option<Vec<Complex>>, start: f64, span: Span, from_zero: bool) -> Vec<Curve> {
    let mut rows: Vec<(f64, Vec<Complex>)> = Vec::new();
    if from_zero {
        rows.extend(values(0.0).map(|v| (0.0, v)));
    }
    let (least, most) = (30.0 / span.fastest_s, 300.0 / span.fastest_s);
    let mut w = start;
    let (mut octave, mut largest) = (w, 0.0_f64);
    while rows.len() < POINTS && w < most {
        if let Some(v) = values(w) {
            largest = v.iter().fold(largest, |m, l| f64::max(m, l.abs()));
            match rows.last().cloned() {
                Some(last) => refine_all(values, &last, (w, v), 40, &mut rows),
                None => rows.push((w, v)),
            }
        }
        if w > 2.0 * octave {
            if w > least && largest < 0.3 {
                break;
            }
            (octave, largest) = (w, 0.0);
        }
        w += f64::min(0.03 * w, 0.3 / span.slowest_s);
    }
    let n = rows.first().map_or(0, |(_, v)| v.len());
    (0..n).map(|k| rows.iter().map(|(w, v)| (*w, v[k])).collect()).collect()
}

/// Adds points between two neighbours where needed, and the second, in the order of the first.
fn refine_all(
    values: &dyn Fn(f64) -> Option<Vec<Complex>>,
    a: &(f64, Vec<Complex>),
    b: (f64, Vec<Complex>),
    depth: u32,
    rows: &mut Vec<(f64, Vec<Complex>)>,
) {
    let matched = in_order_of(&a.1, b.1);
    let ahead = |l: Complex| l + Complex::ONE;
    let near = |(x, y): (&Complex, &Complex)| turns_little(*x, *y) && turns_little(ahead(*x), ahead(*y));
    let w = f64::midpoint(a.0, b.0);
    if depth == 0 || a.1.iter().zip(&matched).all(near) {
        rows.push((b.0, matched));
        return;
    }
    let Some(middle) = values(w) else {
        rows.push((b.0, matched));
        return;
    };
    refine_all(values, a, (w, middle), depth - 1, rows);
    let last = rows[rows.len() - 1].clone();
    refine_all(values, &last, (b.0, matched), depth - 1, rows);
}

/// Values in the order of those that they are nearest to.
fn in_order_of(order: &[Complex], mut values: Vec<Complex>) -> Vec<Complex> {
    order.iter().map(|l| values.swap_remove(nearest_of(&values, *l))).collect()
}

/// [`count`] of all eigenvalues together.
fn count_all(loci: &[Curve], across: &dyn Fn(f64) -> f64) -> (Verdict, u32) {
    let ahead = |l: Complex| l + Complex::ONE;
    let Some((n, top)) = loci.first().and_then(|c| c.last().map(|(w, _)| (c.len(), *w))) else {
        return (Verdict::Undecided, 0);
    };
    let small = |k: &usize| loci.iter().all(|c| c[*k].1.abs() < 1.0);
    let below = (0..n).rev().take_while(|k| loci[0][*k].0 > 0.5 * top).find(small);
    let (end, left) = match below {
        Some(k) => (k, loci.iter().map(|c| ahead(c[k].1).arg()).sum()),
        None => (n - 1, -across(top)),
    };
    let turned: f64 =
        loci.iter().flat_map(|c| c[..=end].windows(2)).map(|p| (ahead(p[1].1) / ahead(p[0].1)).arg()).sum();
    by_turns(turned - left)
}

/// The verdict by the turn of `det(I + L)` from the real axis to the far right.
fn by_turns(turned: f64) -> (Verdict, u32) {
    let roots = -turned / PI;
    let whole = libm::round(roots);
    if (roots - whole).abs() > 0.05 || whole < 0.0 {
        return (Verdict::Undecided, 0);
    }
    (if whole == 0.0 { Verdict::Stable } else { Verdict::Unstable }, whole as u32)
}

/// Adds points between two neighbours where needed, the ends left out.
///
/// On the axis, where a pole may be, points further than `beyond` from -1 need not be followed.
fn refine(
    gain: &dyn Fn(f64) -> Complex,
    a: (f64, Complex),
    b: (f64, Complex),
    (beyond, depth): (f64, u32),
    curve: &mut Curve,
) {
    let (from, to) = (a.1.abs(), b.1.abs());
    let far = from > beyond && to > beyond;
    let about_zero = || (from < SMALL && to < SMALL) || turns_little(a.1, b.1);
    if depth == 0 || far || (turns_little(a.1 + Complex::ONE, b.1 + Complex::ONE) && about_zero()) {
        return;
    }
    let w = f64::midpoint(a.0, b.0);
    let l = gain(w);
    if !l.is_finite() {
        return;
    }
    refine(gain, a, (w, l), (beyond, depth - 1), curve);
    curve.push((w, l));
    refine(gain, (w, l), b, (beyond, depth - 1), curve);
}

/// The verdict by the number of times the gain, along the line and its mirror image, goes round -1.
///
/// The last frequency at which the gain falls below one: beyond, it returns to zero without another turn. Where it never is, as
/// between senders of several round trips that are clocked by acknowledgements alone, the count is of the roots up to the
/// last frequency, and `across` is the turn on the way from there to the right, where every delay has died out.
fn count(curve: &Curve, across: &dyn Fn(f64) -> f64) -> (Verdict, u32) {
    let ahead = |l: Complex| l + Complex::ONE;
    let Some(top) = curve.last().map(|(w, _)| *w) else { return (Verdict::Undecided, 0) };
    let below = curve.iter().rposition(|(w, l)| l.abs() < 1.0 && *w > 0.5 * top);
    let (end, left) = match below {
        Some(k) => (k, ahead(curve[k].1).arg()),
        None => (curve.len() - 1, -across(top)),
    };
    let turned: f64 = curve[..=end].windows(2).map(|p| (ahead(p[1].1) / ahead(p[0].1)).arg()).sum();
    by_turns(turned - left)
}

/// The turn of 1 + L on the way from a frequency straight to the right, until the delays have taken all gain away.
fn turn_across(gain: &dyn Fn(Complex) -> Complex, sigma: f64, top: f64, span: Span) -> f64 {
    let ahead = |u: f64| gain(Complex::new(sigma + u / span.fastest_s, top)) + Complex::ONE;
    let mut turned = 0.0;
    let mut last = (0.0, ahead(0.0));
    for k in 1..=400 {
        let u = 0.1 * f64::from(k);
        let next = (u, ahead(u));
        turned += turn_between(&ahead, last, next, 40);
        last = next;
    }
    // What is left of the way turns by less than its distance from 1.
    turned - last.1.arg()
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
            if middle == low || middle == high {
                break;
            }
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
    lowest_between(curve, at, &|w| distance(gain(w)))
}

/// The lowest value of `f` between the neighbours of a point of the curve, and where it is.
fn lowest_between(curve: &Curve, at: usize, f: &dyn Fn(f64) -> f64) -> (f64, f64) {
    let (mut low, mut high) = (curve[at.saturating_sub(1)].0, curve[usize::min(at + 1, curve.len() - 1)].0);
    for _ in 0..100 {
        let third = (high - low) / 3.0;
        if low + third == low && high - third == high {
            break;
        }
        if f(low + third) < f(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    // With several valleys between the neighbours, the point itself may be the lowest.
    let (inside, there) = (f64::midpoint(low, high), curve[at].0);
    let (inside, there) = ((inside, f(inside)), (there, f(there)));
    if inside.1 < there.1 { inside } else { there }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts that do not meet are stable together at one factor on the gain where each of them is: below the smallest of the
    /// factors that are too large, and above the largest of those that are needed.
    #[test]
    fn parts_are_stable_together_where_each_is() {
        let part = |needed, too_large| Margins {
            least_gain: Some(needed),
            gain_margin: Some(too_large),
            ..Margins::worst(std::iter::empty())
        };
        let whole = Margins::worst([part(0.2, 4.0), part(0.5, 8.0)].into_iter());
        assert_eq!((whole.least_gain, whole.gain_margin), (Some(0.5), Some(4.0)));
    }
}
