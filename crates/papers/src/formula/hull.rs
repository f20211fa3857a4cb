//! Whether -1 lies within the convex hull of loops: of all their points, or of those at one frequency.

use penstock_fluid::Complex;
use penstock_fluid::theory::lead_lag;
use serde_json::json;

use super::{Answer, Formula, Given};

/// The hull of lambda(jw), (14) of fast-aqm, for delays from `from` to `to` and nu/kappa from 0.1 to 1000: of all points
/// together, and for each frequency of its own with zero, as the proof of Theorem 4 takes it.
pub(super) const HULL: Formula =
    Formula { name: "hull of lead-lag loops", keys: &["alpha", "zero", "from", "to"], compute: hull_of_loops };

/// Delays and ratios of each decade.
const A_DECADE: u32 = 8;

fn hull_of_loops(given: &Given<'_>) -> Result<Answer, String> {
    let (alpha, zero) = (given.number("alpha")?, given.number("zero")?);
    let (from, to) = (given.number("from")?, given.number("to")?);
    if !(from > 0.0 && to > from) {
        return Err("`from` and `to` are two delays, the shorter first".into());
    }
    let decades = |low: f64, high: f64| -> Vec<f64> {
        let steps = (libm::log10(high / low) * f64::from(A_DECADE)).ceil().max(1.0) as u32;
        (0..=steps).map(|k| low * libm::pow(high / low, f64::from(k) / f64::from(steps))).collect()
    };
    let family: Vec<(f64, f64)> =
        decades(from, to).iter().flat_map(|tau| decades(0.1, 1000.0).into_iter().map(|r| (*tau, r))).collect();
    // From well below the slowest loop's crossover to where the fastest has become small.
    let frequencies: Vec<f64> = decades(1e-3 / to, 100.0 / from);
    let mut all = Vec::new();
    let mut apart = f64::INFINITY;
    for w in frequencies {
        let gain = |(tau, ratio): &(f64, f64)| lead_lag(Complex::axis(w), *tau, *ratio, zero, alpha);
        let points: Vec<Complex> = family.iter().map(gain).collect();
        all.extend(points.iter().copied());
        let mut here = points;
        here.push(Complex::ZERO);
        apart = apart.min(-depth(&hull(here)));
    }
    let depth = depth(&hull(all));
    Ok(Answer::of(json!({ "all_inside": u8::from(depth > 0.0), "all_depth": depth, "each_distance": apart })))
}

/// Corners of the convex hull, counter-clockwise (Andrew's monotone chain).
fn hull(mut points: Vec<Complex>) -> Vec<Complex> {
    points.sort_by(|a, b| a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im)));
    points.dedup();
    let half = |points: &mut dyn Iterator<Item = Complex>| {
        let mut chain: Vec<Complex> = Vec::new();
        for p in points {
            while chain.len() > 1 && cross(chain[chain.len() - 2], chain[chain.len() - 1], p) <= 0.0 {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut corners = half(&mut points.iter().copied());
    corners.extend(half(&mut points.iter().rev().copied()));
    corners
}

fn cross(a: Complex, b: Complex, c: Complex) -> f64 {
    (b.re - a.re) * (c.im - a.im) - (b.im - a.im) * (c.re - a.re)
}

/// Distance of -1 from the hull's border: positive within it.
fn depth(corners: &[Complex]) -> f64 {
    let critical = -Complex::ONE;
    let edges = || (0..corners.len()).map(|i| (corners[i], corners[(i + 1) % corners.len()]));
    let inside = corners.len() > 2 && edges().all(|(a, b)| cross(a, b, critical) > 0.0);
    let distance = |(a, b): (Complex, Complex)| {
        let (edge, there) = (b - a, critical - a);
        let length = edge.re * edge.re + edge.im * edge.im;
        let share = if length == 0.0 { 0.0 } else { (there.re * edge.re + there.im * edge.im) / length };
        (there - edge * share.clamp(0.0, 1.0)).abs()
    };
    let nearest = edges().map(distance).fold(f64::INFINITY, f64::min);
    if inside { nearest } else { -nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_around_the_critical_point_holds_it() {
        let square = |centre: f64| {
            let corner = |re: f64, im: f64| Complex::new(centre + re, im);
            vec![corner(0.5, 0.5), corner(-0.5, 0.5), corner(0.0, 0.0), corner(-0.5, -0.5), corner(0.5, -0.5)]
        };
        assert_eq!(hull(square(-1.0)).len(), 4, "what is within is no corner");
        assert!((depth(&hull(square(-1.0))) - 0.5).abs() < 1e-12);
        assert!((depth(&hull(square(1.0))) + 1.5).abs() < 1e-12);
    }
}
