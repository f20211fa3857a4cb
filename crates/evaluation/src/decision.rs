//! The verdict on one cell: the test of a bound there, and the result over the seeds.

use penstock_scenario::student::student_quantile;

use crate::bound::{Asked, Bound};
use crate::criterion::{Measure, Scale};
use crate::numbers::{Groups, Labels, Seeded};
use crate::outcome::{Against, CellOutcome};
use crate::statistics::{self, Interval, Limit, Looks, Verdict};

/// By which part of itself a law may differ from a baseline and count as equal to it.
pub(crate) const MARGIN: f64 = 0.05;

/// With fewer seeds Student's interval has the bootstrap's beside it.
const FEW: usize = 10;

/// True if there are few seeds.
pub(crate) const fn few(values: &[f64]) -> bool {
    values.len() < FEW
}

/// The 95 % interval of a mean by the bootstrap, if it has a width.
pub(crate) fn drawn(values: &[f64]) -> Option<Interval> {
    // Equal values have none, and many numbers are equal in all seeds.
    let differ = values.iter().any(|value| values.first() != Some(value));
    if !differ {
        return None;
    }
    statistics::bootstrap(values, statistics::mean, 0.95, "mean").filter(|drawn| drawn.low < drawn.high)
}

/// Numbers of seeds and their limit, on the scale where they are tested.
#[derive(Debug)]
pub(crate) struct Tested {
    pub(crate) values: Vec<f64>,
    pub(crate) limit: Limit,
    /// True if the bound is the baseline's number, but for a margin: then the tests are one-sided.
    pub(crate) margin: bool,
    /// True if some number is infinite, or zero on a scale of ratios: then only their order is tested, for no mean exists.
    pub(crate) ranked: bool,
}

impl Tested {
    /// Numbers beside a limit; positive ones on a scale of ratios by their logarithms.
    pub(crate) fn plain(values: Vec<f64>, limit: Limit, scale: Scale) -> Self {
        let ratio = scale == Scale::Ratio;
        let ranked = values.iter().any(|x| x.is_infinite() || (ratio && *x == 0.0));
        let positive = ratio && !ranked && values.iter().all(|x| *x > 0.0);
        match logarithm(limit).filter(|_| positive) {
            Some(limit) => Self { values: values.into_iter().map(libm::log).collect(), limit, margin: false, ranked },
            None => Self { values, limit, margin: false, ranked },
        }
    }

    /// Numbers beside numbers that limit them, seed by seed. With `quotients` positive ones are compared by their ratio.
    fn paired(pairs: &[(f64, f64)], limit: Limit, scale: Scale, quotients: bool) -> Self {
        let endless = |x: f64| x.is_infinite() || (scale == Scale::Ratio && x == 0.0);
        let ranked = pairs.iter().any(|(own, other)| endless(*own) || endless(*other));
        let logarithms = quotients && !ranked && pairs.iter().all(|(own, other)| *own > 0.0 && *other > 0.0);
        let difference =
            |(own, other): &(f64, f64)| if logarithms { libm::log(*own) - libm::log(*other) } else { own - other };
        Self { values: pairs.iter().map(difference).collect(), limit, margin: false, ranked }
    }
}

/// A limit on the scale of logarithms; none if it has no place there.
fn logarithm(limit: Limit) -> Option<Limit> {
    match limit {
        Limit::AtLeast(least) if least >= 0.0 => Some(Limit::AtLeast(libm::log(least))),
        Limit::AtMost(most) if most > 0.0 => Some(Limit::AtMost(libm::log(most))),
        Limit::Between(least, most) if least >= 0.0 && most > 0.0 => {
            Some(Limit::Between(libm::log(least), libm::log(most)))
        }
        _ => None,
    }
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
    let Tested { values, limit, margin, ranked } = tested;
    let level = |level: f64| if *margin { 2.0 * level - 1.0 } else { level };
    let now = level(looks.level(values.len()));
    if *ranked {
        return by_order(values, *limit, now);
    }
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
        Limit::Between(least, most) => [above(most), below(least)].into_iter().flatten().reduce(f64::min),
    };
    Decision {
        verdict,
        p: p.filter(|_| verdict == Verdict::Fails),
        needed: needed(values, *limit, level(0.95)).filter(|_| verdict == Verdict::Undecided),
    }
}

/// The verdict on the median over the seeds, which needs their order only. It lies between the smallest and the largest of n numbers
/// with the probability 1 - 2^(1 - n): all of them have to be on one side of the limit, and from six seeds on that is enough for 95 %.
/// Numbers that are all the same decide by themselves.
///
/// Source: the sign test; the interval is in David and Nagaraja, "Order Statistics", 2003, section 7.1.
fn by_order(values: &[f64], limit: Limit, level: f64) -> Decision {
    let (least, most) = match limit {
        Limit::AtLeast(least) => (least, f64::INFINITY),
        Limit::AtMost(most) => (f64::NEG_INFINITY, most),
        Limit::Between(least, most) => (least, most),
    };
    let all = |side: &dyn Fn(f64) -> bool| values.iter().all(|x| side(*x));
    let verdict = if all(&|x| least <= x && x <= most) {
        Verdict::Meets
    } else if all(&|x| x > most) || all(&|x| x < least) {
        Verdict::Fails
    } else {
        return Decision::plain(Verdict::Undecided);
    };
    let outside = |seeds: usize| libm::exp2(1.0 - seeds as f64);
    let agree = values.len() > 1 && values.windows(2).all(|pair| pair[0] == pair[1]);
    if agree || 1.0 - outside(values.len()) >= level {
        let p = if agree { 0.0 } else { 0.5 * outside(values.len()) };
        Decision { verdict, p: Some(p).filter(|_| verdict == Verdict::Fails), needed: None }
    } else {
        /// 1 - 2^-5 = 0.97, and of five seeds it is 0.94.
        const ENOUGH: usize = 6;
        Decision { verdict: Verdict::Undecided, p: None, needed: Some(values.len().max(ENOUGH) as u64) }
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

impl CellOutcome {
    /// The verdict of its numbers on a range, at 95 %: undecided if some run lacks the number. `scale` is that of their measure.
    pub fn within(&self, [least, most]: [f64; 2], scale: Scale) -> Verdict {
        if self.absent > 0 {
            return Verdict::Undecided;
        }
        let mut values = self.law.seeds.clone();
        values.resize(values.len() + self.unlimited, f64::INFINITY);
        let looks = Looks::once(values.len());
        let tested = Tested::plain(values, Limit::Between(least, most), scale);
        // A number that is computed is the only one.
        let computed = tested.values.len() == 1;
        if computed { exact(&tested) } else { decided(&tested, &looks, !self.law.bimodal, "gate") }.verdict
    }
}

/// The limit of a bound that compares with nothing.
pub(crate) const fn plain(asked: Asked<'_>) -> Option<Limit> {
    match asked {
        Asked::AtMost(most) => Some(Limit::AtMost(most)),
        Asked::AtLeast(least) => Some(Limit::AtLeast(least)),
        Asked::Between(least, most) => Some(Limit::Between(least, most)),
        _ => None,
    }
}

/// The values that a bound tests in a cell, and their limits; none if there is nothing to compare with.
pub(crate) fn tested(bound: &Bound, measure: &Measure, law: &str, labels: &Labels, groups: &Groups) -> Option<Tested> {
    let own = &groups[labels][law];
    let scale = measure.scale;
    // Of a baseline that lacks the number for some seed nothing is known.
    let pairs = |times: f64, of: &str| -> Option<Vec<(f64, f64)>> {
        let baseline = groups[labels].get(of)?;
        let pair = |(seed, value): (&u64, &f64)| Some((*value, times * baseline.get(seed)?));
        Some(own.iter().map(pair).collect::<Option<_>>().unwrap_or_default())
    };
    let times_of = |times: f64, of: &str, limit| Some(Tested::paired(&pairs(times, of)?, limit, scale, true));
    let more = |of: &str, limit| Some(Tested { margin: true, ..Tested::paired(&pairs(1.0, of)?, limit, scale, false) });
    let asked = bound.asked().ok()?;
    if let Some(limit) = plain(asked) {
        return Some(Tested::plain(own.values().copied().collect(), limit, scale));
    }
    match asked {
        Asked::AtMostTimes(times, of) => times_of(times, of, Limit::AtMost(0.0)),
        Asked::AtLeastTimes(times, of) => times_of(times, of, Limit::AtLeast(0.0)),
        Asked::AtMostMore(most, of) => more(of, Limit::AtMost(most)),
        Asked::AtLeastLess(less, of) => more(of, Limit::AtLeast(-less)),
        Asked::OfLargest(share, along) => {
            let pairs = of_largest(share, along, law, labels, groups)?;
            Some(Tested::paired(&pairs, Limit::AtLeast(0.0), scale, scale == Scale::Ratio))
        }
        Asked::AtMost(_) | Asked::AtLeast(_) | Asked::Between(..) => None,
    }
}

/// In the last cell along an axis each seed's number, and a share of the largest along it; of the seeds that all these cells have.
fn of_largest(share: f64, axis: &str, law: &str, labels: &Labels, groups: &Groups) -> Option<Vec<(f64, f64)>> {
    let wanted = without(axis, labels);
    let along: Vec<&Labels> = groups.keys().filter(|other| without(axis, other) == wanted).collect();
    if along.last() != Some(&labels) || along.len() < 2 {
        return None;
    }
    let pair = |(seed, last): (&u64, &f64)| {
        let all = along.iter().map(|at| groups[*at].get(law)?.get(seed).copied()).collect::<Option<Vec<f64>>>()?;
        Some((*last, share * all.into_iter().fold(f64::NEG_INFINITY, f64::max)))
    };
    Some(groups[labels][law].iter().filter_map(pair).collect())
}

/// Labels of a cell without an axis.
pub(crate) fn without(axis: &str, labels: &[(String, String)]) -> Labels {
    labels.iter().filter(|(key, _)| key != axis).cloned().collect()
}

/// The law against a baseline, over the seeds that both have; `skewed` as of their measure.
pub(crate) fn against(scale: Scale, skewed: bool, law: &Seeded, baseline: &Seeded) -> Option<Against> {
    let pairs: Vec<(f64, f64)> = law.iter().filter_map(|(seed, value)| Some((*value, *baseline.get(seed)?))).collect();
    let (ours, theirs): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let (values, margin, back): (Vec<f64>, f64, fn(f64) -> f64) = match scale {
        Scale::Difference => {
            (statistics::differences(&ours, &theirs)?, MARGIN * statistics::mean(&theirs)?.abs(), |x| x)
        }
        Scale::Ratio => (statistics::log_ratios(&ours, &theirs)?, libm::log1p(MARGIN), libm::exp),
    };
    let interval = statistics::interval(&values, 0.95);
    let between = |interval: Interval| (back(interval.low), back(interval.high));
    Some(Against {
        scale,
        mean: back(statistics::mean(&values)?),
        interval: interval.map(between),
        bootstrap: (skewed || few(&values)).then(|| drawn(&values)).flatten().map(between),
        equivalent: statistics::equivalence(&values, margin).is_some_and(|tests| tests.equivalent()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(values: &[f64], limit: Limit, margin: bool) -> Decision {
        let tested = Tested { values: values.to_vec(), limit, margin, ranked: false };
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
        let tested = Tested { values, limit, margin: false, ranked: false };
        let looks = Looks::once(100);
        assert_eq!(decided(&tested, &looks, false, "test").verdict, Verdict::Undecided);
    }

    /// Within 5 % of the baseline by both tests, or not shown to be so.
    #[test]
    fn what_is_equal_but_for_a_margin_is_said_to_be() {
        let seeded = |values: &[f64]| -> Seeded { (1..).zip(values.iter().copied()).collect() };
        let baseline = seeded(&[1.0, 1.1, 0.9, 1.05]);
        let near = seeded(&[1.01, 1.12, 0.92, 1.05]);
        let far = seeded(&[1.2, 1.0, 0.8, 1.15]);
        for scale in [Scale::Ratio, Scale::Difference] {
            assert!(against(scale, false, &near, &baseline).unwrap().equivalent);
            assert!(!against(scale, false, &far, &baseline).unwrap().equivalent);
        }
    }

    /// One infinite ratio among several decides nothing, nor does one zero. All seeds beyond the bound are worth what the sign test
    /// gives: six are enough for 95 %, and eleven for 99.9 %.
    #[test]
    fn infinite_ratios_and_zeros_are_ranked() {
        let found = |values: &[f64], looks: &Looks| {
            let tested = Tested::plain(values.to_vec(), Limit::Between(0.1, 10.0), Scale::Ratio);
            assert!(tested.ranked, "{values:?}");
            decided(&tested, looks, true, "test")
        };
        let many = |endless: f64, other: f64, n: usize| {
            let mut values = vec![other; n];
            values[0] = endless;
            values
        };
        for (endless, beyond) in [(f64::INFINITY, 20.0), (0.0, 0.05)] {
            let once = |values: &[f64]| found(values, &Looks::once(values.len()));
            assert_eq!(once(&many(endless, 1.0, 3)), Decision::plain(Verdict::Undecided));
            assert_eq!(once(&many(endless, 1.0, 100)), Decision::plain(Verdict::Undecided));
            let few = Decision { verdict: Verdict::Undecided, p: None, needed: Some(6) };
            assert_eq!(once(&many(endless, beyond, 3)), few);
            let fails = |p: f64| Decision { verdict: Verdict::Fails, p: Some(p), needed: None };
            assert_eq!(once(&many(endless, beyond, 6)), fails(1.0 / 64.0));
            assert_eq!(found(&many(endless, beyond, 10), &Looks::default()).verdict, Verdict::Undecided);
            assert_eq!(found(&many(endless, beyond, 11), &Looks::default()).verdict, Verdict::Fails);
            assert_eq!(once(&[endless; 3]), fails(0.0));
        }
        // Either side of the range, in turn.
        assert_eq!(found(&[0.0, f64::INFINITY], &Looks::once(2)), Decision::plain(Verdict::Undecided));
        // A share of nothing keeps an upper bound.
        let nothing = Tested::plain(vec![0.0, 0.1, 0.1, 0.2, 0.1, 0.3], Limit::AtMost(1.0), Scale::Ratio);
        assert_eq!(decided(&nothing, &Looks::once(6), true, "test").verdict, Verdict::Meets);
    }

    /// Ratios 1, 1/8 and 1/64 have the geometric mean 1/8, and logarithms with the standard deviation ln 8: Student's interval
    /// is by e^(4.303 ln 8 / sqrt 3), or 175 times, wide to each side. That of the plain mean, 0.38, would end below zero and above 1.7.
    #[test]
    fn ratios_are_tested_by_their_logarithms() {
        let values = [1.0, 0.125, 1.0 / 64.0];
        let verdict = |limit, scale| {
            let tested = Tested::plain(values.to_vec(), limit, scale);
            decided(&tested, &Looks::once(3), true, "test").verdict
        };
        for (limit, by_ratio, by_difference) in [
            (Limit::AtMost(20.0), Verdict::Undecided, Verdict::Meets),
            (Limit::AtMost(25.0), Verdict::Meets, Verdict::Meets),
            (Limit::AtLeast(0.0), Verdict::Meets, Verdict::Undecided),
            (Limit::AtLeast(0.0005), Verdict::Meets, Verdict::Undecided),
        ] {
            assert_eq!(verdict(limit, Scale::Ratio), by_ratio, "{limit:?}");
            assert_eq!(verdict(limit, Scale::Difference), by_difference, "{limit:?}");
        }
        let pairs = [(2.0, 1.0), (8.0, 4.0), (0.02, 0.01)];
        let equal =
            Tested::paired(&pairs.map(|(own, other)| (own, 2.0 * other)), Limit::AtMost(0.0), Scale::Difference, true);
        assert_eq!(equal.values, [0.0; 3]);
    }

    /// Few differences have the interval of the bootstrap, and so have those of quantiles. Equal differences have none.
    #[test]
    fn few_differences_have_an_interval_of_the_bootstrap() {
        let seeded = |seeds: u64, by: f64| (1..=seeds).map(|seed| (seed, by * seed as f64)).collect::<Seeded>();
        let found = |skewed, seeds, by| {
            against(Scale::Difference, skewed, &seeded(seeds, by), &seeded(seeds, 1.0)).unwrap().bootstrap
        };
        // Differences of 1, 2 and 3.
        assert!(found(false, 3, 2.0).is_some_and(|(low, high)| 1.0 <= low && low < high && high <= 3.0));
        assert!(found(true, 12, 2.0).is_some());
        assert_eq!((found(false, 12, 2.0), found(false, 3, 1.0)), (None, None));
    }
}
