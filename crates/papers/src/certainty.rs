//! Certainty of a verdict: whether other seeds would have the same, and how little would turn it.

use penstock_scenario::seed::Seed;

use crate::numbers::Numbers;
use crate::paper::{Claim, Seeds, Test};
use crate::tested::{Change, tested};
use crate::verdict::Measured;

/// The share of draws that a verdict needs.
pub(crate) const ENOUGH: f64 = 0.9;

/// Number of draws of the seeds.
const DRAWS: u32 = 1000;

/// The largest change that is tried, and the factor from one to the next.
const LARGEST: f64 = 10.0;
const STEP: f64 = 1.25;
const SMALLEST: f64 = 1e-3;

/// The share of draws in which a claim keeps its bound: as many seeds as there are, drawn from them with repetition
/// (the bootstrap; Efron and Tibshirani, "An Introduction to the Bootstrap", 1993). None where there is nothing to draw:
/// a single seed, a claim about each seed or about the extremes, and the test of a single trial, which goes by the
/// scatter of the seeds itself.
pub(crate) fn chance(claim: &Claim, test: &Test, numbers: &Numbers) -> Result<Option<f64>, String> {
    let drawable = matches!(claim.seeds, Seeds::Mean | Seeds::Sd) && !matches!(test, Test::Trial(_));
    let n = numbers.seeds();
    if n < 2 || !drawable || claim.cells.contains_key("seed") {
        return Ok(None);
    }
    let mut stream = Seed(0).stream(claim.id.get_ref());
    let mut kept = 0;
    for _ in 0..DRAWS {
        let mut drawn = vec![0; n];
        for _ in 0..n {
            drawn[(stream.unit() * n as f64) as usize] += 1;
        }
        kept += u32::from(keeps(&tested(claim, test, numbers, Some(&drawn), &|_, x| x)?));
    }
    Ok(Some(f64::from(kept) / f64::from(DRAWS)))
}

/// The smallest change that turns the verdict; none where none up to [`LARGEST`] does.
pub(crate) fn flips(
    claim: &Claim,
    test: &Test,
    numbers: &Numbers,
    measured: &[Measured],
) -> Result<Option<f64>, String> {
    let before = keeps(measured);
    let bound = match test {
        Test::AtLeast(x) | Test::AtMost(x) | Test::Trial(x) => x.abs(),
        Test::Within(bounds) => bounds.value.abs(),
        _ => measured.iter().filter_map(|m| m.against).fold(0.0, |most: f64, x| most.max(x.abs())),
    };
    // A share of zero is nothing: where number and bound are zero, the change is counted in the measure's own unit. What
    // is divided or joined afterwards has a bound of another unit.
    let bound = if claim.per.is_empty() { bound } else { 0.0 };
    let scale = move |x: f64| match x.abs().max(bound) {
        0.0 => 1.0,
        scale => scale,
    };
    let turned = |change: Change<'_>| -> Result<bool, String> {
        Ok(keeps(&tested(claim, test, numbers, None, change)?) != before)
    };
    let count = numbers.sets.iter().map(|set| set.samples(claim.seeds, None).len()).sum();
    let any = |share: f64| -> Result<bool, String> {
        for share in [share, -share] {
            if turned(&|_, x| x + share * scale(x))? {
                return Ok(true);
            }
            for one in 0..count {
                if turned(&|place, x| if place == one { x + share * scale(x) } else { x })? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    };
    let mut share = SMALLEST;
    while share <= LARGEST {
        if any(share)? {
            return Ok(Some(share));
        }
        share *= STEP;
    }
    Ok(None)
}

fn keeps(measured: &[Measured]) -> bool {
    measured.iter().all(|m| m.keeps)
}
