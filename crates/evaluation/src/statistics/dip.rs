//! The dip: how far a sample is from having one mode.

/// The dip of a sample: the largest distance between its distribution function and that of the nearest distribution with
/// one mode, from 1/(2n) for n values to 1/4.
///
/// Source: Hartigan and Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985), section 3.
/// None for no values, and for one that is not finite.
pub fn dip(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let steps = steps(values);
    let (mut low, mut high) = (0, steps.len() - 1);
    // In steps of the distribution function, which is twice the dip; a step of one is nobody's fault.
    let mut most: f64 = 1.0;
    while low < high {
        let part = &steps[low..=high];
        let below = hull(part, |s| s.before, |slope, last| slope <= last);
        let above = hull(part, |s| s.after, |slope, last| slope >= last);
        let gap = |at: usize| above.heights[at] - below.heights[at];
        // Between corners of the two hulls the gap is on a line. Only corners: each makes the part smaller.
        let corners = below.touches.iter().chain(&above.touches);
        let widest = corners.fold(0, |best, at| if gap(*at) > gap(best) { *at } else { best });
        if gap(widest) <= most {
            break;
        }
        let left = below.touches.iter().copied().rfind(|at| *at <= widest).unwrap_or(0);
        let right = above.touches.iter().copied().find(|at| *at >= widest).unwrap_or(part.len() - 1);
        // The mode lies between the two: on the left the nearest distribution is convex, on the right concave.
        let convex = (0..left).map(|at| part[at].after - below.heights[at]);
        let concave = (right + 1..part.len()).map(|at| above.heights[at] - part[at].before);
        most = convex.chain(concave).fold(most, f64::max);
        (low, high) = (low + left, low + right);
    }
    Some(most / (2.0 * values.len() as f64))
}

/// The dip that a sample of `n` uniform values exceeds with a probability of 5 %; none for fewer than ten.
///
/// Among distributions with one mode the uniform one has the largest dips, nearly. Source: percentage points of a million
/// samples each, M. Maechler, table `qDiptab` of the R package `diptest`, which are those of Hartigan and Hartigan (1985)
/// with a corrected program. Between its sizes, `sqrt(n)` times the dip is on a line; it hardly grows beyond the last.
pub fn dip_critical(n: usize) -> Option<f64> {
    const TABLE: [(f64, f64); 11] = [
        (10.0, 0.139_611),
        (15.0, 0.118_761),
        (20.0, 0.105_130),
        (30.0, 0.088_169),
        (50.0, 0.070_274),
        (100.0, 0.051_128),
        (200.0, 0.036_842),
        (500.0, 0.023_729),
        (1000.0, 0.016_934),
        (5000.0, 0.007_651),
        (72_000.0, 0.002_032),
    ];
    let n = n as f64;
    let first = TABLE[0];
    let last = TABLE[TABLE.len() - 1];
    if n < first.0 {
        return None;
    }
    let scaled = |(n, dip): (f64, f64)| n.sqrt() * dip;
    let pair = TABLE.windows(2).find(|pair| n <= pair[1].0);
    let found = pair.map_or(scaled(last), |pair| {
        let part = (n - pair[0].0) / (pair[1].0 - pair[0].0);
        scaled(pair[0]) + part * (scaled(pair[1]) - scaled(pair[0]))
    });
    Some(found / n.sqrt())
}

/// A step of the distribution function: a value, and how many values lie before it, and up to it.
struct Step {
    at: f64,
    before: f64,
    after: f64,
}

fn steps(values: &[f64]) -> Vec<Step> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut steps: Vec<Step> = Vec::new();
    for (n, at) in sorted.into_iter().enumerate() {
        match steps.last_mut().filter(|step| step.at == at) {
            Some(step) => step.after = n as f64 + 1.0,
            None => steps.push(Step { at, before: n as f64, after: n as f64 + 1.0 }),
        }
    }
    steps
}

/// A convex or concave hull over steps.
struct Hull {
    /// The steps that it touches.
    touches: Vec<usize>,
    /// Its height at each step.
    heights: Vec<f64>,
}

/// The hull of the points of `part`; `bends` is true if a point with this `slope` to the next makes the one before
/// it, with the slope `last`, none of the hull's.
fn hull(part: &[Step], of: impl Fn(&Step) -> f64, bends: impl Fn(f64, f64) -> bool) -> Hull {
    let slope = |a: usize, b: usize| (of(&part[b]) - of(&part[a])) / (part[b].at - part[a].at);
    let mut touches: Vec<usize> = Vec::new();
    for at in 0..part.len() {
        while let [.., a, b] = touches[..] {
            if !bends(slope(b, at), slope(a, b)) {
                break;
            }
            touches.pop();
        }
        touches.push(at);
    }
    let mut heights: Vec<f64> = part.iter().map(&of).collect();
    for pair in touches.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        for at in a + 1..b {
            heights[at] = of(&part[a]) + slope(a, b) * (part[at].at - part[a].at);
        }
    }
    Hull { touches, heights }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_scenario::seed::Seed;

    /// Two equal camps are a quarter away from one mode, and evenly spaced values half a step.
    #[test]
    fn known_samples_have_their_dip() {
        assert_eq!(dip(&[0.0, 0.0, 1.0, 1.0]), Some(0.25));
        let even: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(dip(&even), Some(0.5 / 20.0));
        // A mode with many values is no dip.
        assert_eq!(dip(&[1.0, 2.0, 2.0, 2.0, 2.0, 3.0]), Some(0.5 / 6.0));
        assert_eq!(dip(&[7.0; 5]), Some(0.5 / 5.0));
        // The program of P. M. Hartigan, algorithm AS 217 (Applied Statistics 34, 1985), gives these.
        let ages = [
            30.0, 33.0, 35.0, 36.0, 37.0, 37.0, 39.0, 39.0, 40.0, 52.0, 53.0, 53.0, 54.0, 60.0, 61.0, 61.0, 62.0, 63.0,
            66.0, 70.0,
        ];
        for (values, known) in [(&[0.0, 0.1, 9.0, 9.1][..], 0.247_222_222), (&ages, 0.117_391_304)] {
            let found = dip(values).unwrap();
            assert!((found - known).abs() < 1e-9, "{values:?}: {found}");
        }
    }

    /// Neither location nor scale nor direction plays a part.
    #[test]
    fn a_sample_and_its_mirror_have_one_dip() {
        let mut stream = Seed(5).stream("dip");
        for n in 1..60 {
            let values: Vec<f64> = (0..n).map(|_| (stream.unit() * 64.0).floor()).collect();
            let mirrored: Vec<f64> = values.iter().map(|x| 3.0 - 2.0 * x).collect();
            let (a, b) = (dip(&values).unwrap(), dip(&mirrored).unwrap());
            assert!((a - b).abs() < 1e-12 && (0.5 / f64::from(n)..=0.25).contains(&a) || n == 1, "{n}: {a} {b}");
        }
    }

    /// One in twenty uniform samples has a dip above the published number; three standard errors are 1.03 points.
    #[test]
    fn one_uniform_sample_in_twenty_is_above_the_published_dip() {
        let mut stream = Seed(6).stream("dip");
        for n in [10, 15, 30, 70] {
            let trials = 4000;
            let above = (0..trials).filter(|_| {
                let values: Vec<f64> = (0..n).map(|_| stream.unit()).collect();
                dip(&values) > dip_critical(n)
            });
            let share = above.count() as f64 / f64::from(trials);
            assert!((share - 0.05).abs() < 0.0103, "{n}: {share}");
        }
    }

    #[test]
    fn what_is_no_sample_has_no_dip() {
        assert_eq!((dip(&[]), dip(&[f64::NAN, 1.0]), dip(&[f64::INFINITY])), (None, None, None));
        assert_eq!((dip_critical(9), dip_critical(0)), (None, None));
        assert!((dip_critical(10).unwrap() - 0.1396).abs() < 1e-4 && dip_critical(1_000_000).unwrap() < 0.002);
        for extreme in [vec![-f64::MAX, 0.0, f64::MAX], vec![5e-324, 0.0, 1e-323, 2.0]] {
            let found = dip(&extreme).unwrap();
            assert!((0.0..=0.25).contains(&found), "{extreme:?}: {found}");
        }
    }
}
