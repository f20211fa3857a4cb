//! The verdict on one cell: the test of a bound there, and the result over the seeds.

use indexmap::IndexMap;
use penstock_scenario::student::student_quantile;

use crate::bound::{Asked, Bound};
use crate::criterion::Scale;
use crate::outcome::Against;
use crate::statistics::{self, Interval, Limit, Looks, Verdict};

/// Labels of a cell.
pub(crate) type Labels = Vec<(String, String)>;
/// A number for each seed.
pub(crate) type Seeded = IndexMap<String, f64>;
/// The numbers of each law in each cell.
pub(crate) type Groups = IndexMap<Labels, IndexMap<String, Seeded>>;

/// By which part of itself a law may differ from a baseline and count as equal to it.
const MARGIN: f64 = 0.05;

/// Numbers of seeds and their limit.
#[derive(Debug)]
pub(crate) struct Tested {
    pub(crate) values: Vec<f64>,
    pub(crate) limit: Limit,
    /// True if the bound is the baseline's number, but for a margin: then the tests are one-sided.
    pub(crate) margin: bool,
}

/// The decision by the seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decision {
    pub(crate) verdict: Verdict,
    /// The probability of such a mean beyond the limit if the true mean were on it; of failures only.
    pub(crate) p: Option<f64>,
    /// The number of seeds that would decide, if mean and variance stayed; for undecided cells only.
    pub(crate) needed: Option<u64>,
}

impl Decision {
    /// A verdict without a test.
    pub(crate) const fn plain(verdict: Verdict) -> Self {
        Self { verdict, p: None, needed: None }
    }
}

/// The verdict on the mean over the seeds. If they do not lie about one value, Student's interval and that of the bootstrap
/// have to agree; `stream` names its draws.
pub(crate) fn decided(tested: &Tested, looks: &Looks, one_mode: bool, stream: &str) -> Decision {
    let Tested { values, limit, margin } = tested;
    let level = |level: f64| if *margin { 2.0 * level - 1.0 } else { level };
    let now = level(looks.level(values.len()));
    let mut verdict = statistics::decide(statistics::interval(values, now).as_ref(), *limit);
    if !(one_mode && statistics::one_mode(values)) {
        let drawn = statistics::bootstrap(values, statistics::mean, now, stream);
        if statistics::decide(drawn.as_ref(), *limit) != verdict {
            verdict = Verdict::Undecided;
        }
    }
    let above = |most: f64| statistics::test(values, most).map(|test| test.p_above);
    let below = |least: f64| statistics::test(values, least).map(|test| test.p_below);
    let p = match *limit {
        Limit::AtMost(most) => above(most),
        Limit::AtLeast(least) => below(least),
        // One of the two ends is beyond reach.
        Limit::Between(least, most) => above(most).zip(below(least)).map(|(above, below)| above.min(below)),
    };
    Decision {
        verdict,
        p: p.filter(|_| verdict == Verdict::Fails),
        needed: needed(values, *limit, level(0.95)).filter(|_| verdict == Verdict::Undecided),
    }
}

/// The number of seeds that put the nearest limit outside of an interval of this level, if their mean and their variance stayed.
fn needed(values: &[f64], limit: Limit, level: f64) -> Option<u64> {
    /// From here on Student's quantile is that of the normal distribution, nearly.
    const MANY: f64 = 1000.0;
    let (mean, sd) = (statistics::mean(values)?, statistics::standard_deviation(values)?);
    let distance = match limit {
        Limit::AtLeast(limit) | Limit::AtMost(limit) => (mean - limit).abs(),
        Limit::Between(least, most) => (mean - least).abs().min((mean - most).abs()),
    };
    let ratio = sd / distance;
    let at_least = student_quantile(level, 1e6)? * ratio;
    let mut seeds = (at_least * at_least).ceil().max(2.0);
    if !seeds.is_finite() || seeds > 1e15 {
        return None;
    }
    while seeds < MANY && student_quantile(level, seeds - 1.0)? * ratio > seeds.sqrt() {
        seeds += 1.0;
    }
    Some(seeds as u64)
}

/// The verdict on a number that is computed, not drawn.
pub(crate) fn exact(tested: &Tested) -> Decision {
    let value = tested.values.first().copied();
    let without_width = |value| Interval { estimate: value, low: value, high: value, n: 1, level: 1.0 };
    Decision::plain(statistics::decide(value.map(without_width).as_ref(), tested.limit))
}

/// The values that a bound tests in a cell, and their limits; none if there is nothing to compare with.
pub(crate) fn tested(bound: &Bound, law: &str, labels: &Labels, groups: &Groups) -> Option<Tested> {
    let own = &groups[labels][law];
    let plain = |limit: Limit| Some(Tested { values: own.values().copied().collect(), limit, margin: false });
    let paired = |times: f64, of: &str, limit: Limit, margin: bool| {
        let baseline = groups[labels].get(of)?;
        let values = own.iter().filter_map(|(seed, value)| Some(value - times * baseline.get(seed)?)).collect();
        Some(Tested { values, limit, margin })
    };
    match bound.asked().ok()? {
        Asked::AtMost(most) => plain(Limit::AtMost(most)),
        Asked::AtLeast(least) => plain(Limit::AtLeast(least)),
        Asked::Between(least, most) => plain(Limit::Between(least, most)),
        Asked::AtMostTimes(times, of) => paired(times, of, Limit::AtMost(0.0), false),
        Asked::AtLeastTimes(times, of) => paired(times, of, Limit::AtLeast(0.0), false),
        Asked::AtMostMore(more, of) => paired(1.0, of, Limit::AtMost(more), true),
        Asked::AtLeastLess(less, of) => paired(1.0, of, Limit::AtLeast(-less), true),
        Asked::OfLargest(share, along) => {
            let values = of_largest(share, along, law, labels, groups)?;
            Some(Tested { values, limit: Limit::AtLeast(0.0), margin: false })
        }
    }
}

/// In the last cell along an axis, by how much each seed's number exceeds a share of the largest along it.
fn of_largest(share: f64, axis: &str, law: &str, labels: &Labels, groups: &Groups) -> Option<Vec<f64>> {
    let without = |labels: &Labels| labels.iter().filter(|(key, _)| key != axis).cloned().collect::<Labels>();
    let wanted = without(labels);
    let along: Vec<&Labels> = groups.keys().filter(|other| without(other) == wanted).collect();
    if along.last() != Some(&labels) || along.len() < 2 {
        return None;
    }
    let value = |(seed, last): (&String, &f64)| {
        let all = along.iter().filter_map(|at| groups[*at].get(law)?.get(seed));
        last - share * all.copied().fold(f64::NEG_INFINITY, f64::max)
    };
    Some(groups[labels][law].iter().map(value).collect())
}

/// The law against a baseline, over the seeds that both have.
pub(crate) fn against(scale: Scale, law: &Seeded, baseline: &Seeded) -> Option<Against> {
    let pairs: Vec<(f64, f64)> = law.iter().filter_map(|(seed, value)| Some((*value, *baseline.get(seed)?))).collect();
    let (ours, theirs): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let (values, margin, back): (Vec<f64>, f64, fn(f64) -> f64) = match scale {
        Scale::Difference => {
            (statistics::differences(&ours, &theirs)?, MARGIN * statistics::mean(&theirs)?.abs(), |x| x)
        }
        Scale::Ratio => (statistics::log_ratios(&ours, &theirs)?, libm::log1p(MARGIN), libm::exp),
    };
    let interval = statistics::interval(&values, 0.95);
    Some(Against {
        scale,
        mean: back(statistics::mean(&values)?),
        interval: interval.map(|interval| (back(interval.low), back(interval.high))),
        equivalent: statistics::equivalence(&values, margin).is_some_and(|tests| tests.equivalent()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(values: &[f64], limit: Limit, margin: bool) -> Decision {
        let tested = Tested { values: values.to_vec(), limit, margin };
        decided(&tested, &Looks::once(values.len()), true, "test")
    }

    /// With ten seeds of standard deviation 1 and a mean 0.5 above the limit, 18 seeds have a half width of 0.4973, and 17 one of
    /// 0.5142: Student's quantiles of 17 and 16 degrees of freedom are 2.110 and 2.120.
    #[test]
    fn the_seeds_that_would_decide_are_counted() {
        let spread = (0.9_f64).sqrt();
        let values: Vec<f64> = (0..10).map(|n| 0.5 + if n % 2 == 0 { spread } else { -spread }).collect();
        let found = needed(&values, Limit::AtLeast(0.0), 0.95);
        assert_eq!(found, Some(18));
        assert_eq!(needed(&values, Limit::Between(0.0, 9.0), 0.95), found);
        assert_eq!(needed(&values, Limit::AtLeast(0.5), 0.95), None);
        // 1.96^2 * 10^6, or a little less.
        let far = needed(&values, Limit::AtLeast(0.499), 0.95).unwrap();
        assert!((3_841_400..3_841_500).contains(&far), "{far}");
        let undecided = one(&values, Limit::AtLeast(0.0), false);
        assert_eq!((undecided.verdict, undecided.needed), (Verdict::Undecided, Some(18)));
        assert_eq!(one(&values, Limit::AtLeast(-5.0), false).needed, None);
    }

    /// Schuirmann: two one-sided tests at 5 % are an interval of 90 %. Student's quantile on nine degrees of freedom is 1.833 there,
    /// and 2.262 at 95 %.
    #[test]
    fn a_margin_is_tested_on_one_side() {
        let spread = (0.9_f64).sqrt();
        let mean = 2.0 / 10.0_f64.sqrt();
        let values: Vec<f64> = (0..10).map(|n| mean + if n % 2 == 0 { spread } else { -spread }).collect();
        assert_eq!(one(&values, Limit::AtLeast(0.0), true).verdict, Verdict::Meets);
        assert_eq!(one(&values, Limit::AtLeast(0.0), false).verdict, Verdict::Undecided);
    }

    /// Nine seeds at 1 and ninety-one at 0: Student's interval of the mean ends at 0.147, and the draws have more above 0.147 than
    /// one in forty, by the binomial distribution of 100 draws of 0.09 (P(X > 14) = 0.026, P(X > 15) = 0.013).
    #[test]
    fn two_modes_are_decided_by_both_intervals() {
        let values: Vec<f64> = (0..100).map(|n| f64::from(u8::from(n < 9))).collect();
        let limit = Limit::AtMost(0.148);
        assert_eq!(statistics::decide(statistics::interval(&values, 0.95).as_ref(), limit), Verdict::Meets);
        let tested = Tested { values, limit, margin: false };
        let looks = Looks::once(100);
        assert_eq!(decided(&tested, &looks, false, "test").verdict, Verdict::Undecided);
    }

    /// Within 5 % of the baseline by both tests, or not shown to be so.
    #[test]
    fn what_is_equal_but_for_a_margin_is_said_to_be() {
        let seeded =
            |values: &[f64]| -> Seeded { values.iter().enumerate().map(|(n, x)| (n.to_string(), *x)).collect() };
        let baseline = seeded(&[1.0, 1.1, 0.9, 1.05]);
        let near = seeded(&[1.01, 1.12, 0.92, 1.05]);
        let far = seeded(&[1.2, 1.0, 0.8, 1.15]);
        for scale in [Scale::Ratio, Scale::Difference] {
            assert!(against(scale, &near, &baseline).unwrap().equivalent);
            assert!(!against(scale, &far, &baseline).unwrap().equivalent);
        }
    }
}
