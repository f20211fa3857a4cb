//! Numbers of cases and their differences, each with its 95 % confidence interval where seeds give one.

use indexmap::IndexSet;
use penstock_scenario::interval::half_width_95;
use penstock_scenario::student::student_quantile;
use penstock_scenario::summary::Summary;
use serde::Serialize;

use crate::assemble::cases::{Case, Ran};
use crate::assemble::measures::{self, Measure};

/// A mean over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_width_95: Option<f64>,
}

/// One number, of every case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The link or the group of flows; empty for the flows of several groups.
    pub of: String,
    /// The measure, in words.
    pub measure: &'static str,
    /// Its unit, without prefix.
    pub unit: &'static str,
    /// One a case; null where a case has no such number.
    pub values: Vec<Option<Estimate>>,
    /// Each case less the first one. Null for the first, and where one of the two has no such number.
    pub differences: Vec<Option<Estimate>>,
}

/// The headline numbers of all links and groups. Numbers that are zero in every run are left out.
pub fn differences(cases: &[Case], runs: &[Ran<'_>]) -> Vec<Compared> {
    let mut rows = Vec::new();
    let summaries = || cases.iter().flat_map(|case| &case.runs).map(|at| runs[*at].summary);
    let links: IndexSet<&String> = summaries().flat_map(|s| s.whole.links.keys()).collect();
    let groups: IndexSet<&String> = summaries().flat_map(|s| s.whole.groups.keys()).collect();
    let is_back = |name: &str| name.strip_suffix("/back").is_some_and(|forth| links.iter().any(|link| *link == forth));
    for link in links.iter().filter(|name| !is_back(name)) {
        let of = |s: &Summary, m: &Measure<_>| s.whole.links.get(*link).and_then(m.of);
        rows.extend(table(link, cases, runs, measures::LINK, of));
    }
    for group in groups {
        let of = |s: &Summary, m: &Measure<_>| s.whole.groups.get(group).and_then(m.of);
        rows.extend(table(group, cases, runs, measures::GROUP, of));
    }
    let fairness = Measure::fairness();
    let of = |s: &Summary, m: &Measure<Summary>| (m.of)(s);
    rows.extend(table("", cases, runs, std::slice::from_ref(&fairness), of));
    rows
}

/// Seeds and numbers of a case.
type Sample = Vec<(u64, f64)>;

fn table<T>(
    name: &str,
    cases: &[Case],
    runs: &[Ran<'_>],
    measures: &[Measure<T>],
    of: impl Fn(&Summary, &Measure<T>) -> Option<f64>,
) -> Vec<Compared> {
    let row = |measure: &Measure<T>| {
        let sample = |case: &Case| -> Sample {
            let number = |at: &usize| Some((runs[*at].summary.seed, of(runs[*at].summary, measure)?));
            case.runs.iter().filter_map(number).filter(|(_, value)| value.is_finite()).collect()
        };
        let samples: Vec<Sample> = cases.iter().map(sample).collect();
        if samples.iter().flatten().all(|(_, value)| *value == 0.0) {
            return None;
        }
        Some(Compared {
            of: name.to_owned(),
            measure: measure.name,
            unit: measure.unit,
            values: samples.iter().map(Vec::as_slice).map(estimate).collect(),
            differences: samples
                .iter()
                .enumerate()
                .map(|(at, sample)| if at == 0 { None } else { difference(&samples[0], sample) })
                .collect(),
        })
    };
    measures.iter().filter(|measure| measure.headline).filter_map(row).collect()
}

fn estimate(sample: &[(u64, f64)]) -> Option<Estimate> {
    let values: Vec<f64> = sample.iter().map(|(_, value)| *value).collect();
    (!values.is_empty()).then(|| Estimate { mean: mean(&values), half_width_95: half_width_95(&values) })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The second less the first: seed by seed where both have the same seeds, else by Welch's approximation.
fn difference(first: &[(u64, f64)], second: &[(u64, f64)]) -> Option<Estimate> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let paired = first.len() == second.len() && first.iter().zip(second).all(|(a, b)| a.0 == b.0);
    if paired {
        let between: Vec<f64> = first.iter().zip(second).map(|(a, b)| b.1 - a.1).collect();
        return Some(Estimate { mean: mean(&between), half_width_95: half_width_95(&between) });
    }
    let of = |sample: &[(u64, f64)]| {
        let values: Vec<f64> = sample.iter().map(|(_, value)| *value).collect();
        let (n, middle) = (values.len() as f64, mean(&values));
        let variance = values.iter().map(|v| (v - middle) * (v - middle)).sum::<f64>() / (n - 1.0);
        (middle, variance / n, n)
    };
    let ((m1, v1, n1), (m2, v2, n2)) = (of(first), of(second));
    let interval = (n1 > 1.0 && n2 > 1.0).then(|| {
        let both = v1 + v2;
        if both == 0.0 {
            return Some(0.0);
        }
        // Satterthwaite's degrees of freedom.
        let degrees = both * both / (v1 * v1 / (n1 - 1.0) + v2 * v2 / (n2 - 1.0));
        student_quantile(0.95, degrees).map(|t| t * libm::sqrt(both))
    });
    Some(Estimate { mean: m2 - m1, half_width_95: interval.flatten() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seeds: &[u64], values: &[f64]) -> Sample {
        seeds.iter().copied().zip(values.iter().copied()).collect()
    }

    /// The common part of seeds is not in the interval of a paired difference.
    #[test]
    fn equal_seeds_are_paired() {
        let first = sample(&[1, 2, 3], &[10.0, 20.0, 30.0]);
        let found = difference(&first, &sample(&[1, 2, 3], &[11.0, 22.0, 33.0])).unwrap();
        // Differences 1, 2, 3: mean 2, s.d. 1, t(0.975, 2) = 4.302653 over the root of three.
        assert!((found.mean - 2.0).abs() < 1e-12 && (found.half_width_95.unwrap() - 2.484_138).abs() < 1e-5);
    }

    /// Welch's standard error, with Satterthwaite's degrees of freedom.
    #[test]
    fn unequal_seeds_are_by_welch() {
        let found = difference(&sample(&[1, 2, 3, 4], &[1.0, 2.0, 3.0, 4.0]), &sample(&[7, 8, 9], &[2.0, 4.0, 6.0]));
        let found = found.unwrap();
        assert!((found.mean - 1.5).abs() < 1e-12);
        // Standard error: sqrt(5/12 + 4/3); degrees: 1.75^2 / ((5/12)^2/3 + (4/3)^2/2) = 3.2302.
        let degrees = 1.75 * 1.75 / ((5.0 / 12.0) * (5.0 / 12.0) / 3.0 + (4.0 / 3.0) * (4.0 / 3.0) / 2.0);
        let wanted = student_quantile(0.95, degrees).unwrap() * libm::sqrt(1.75);
        assert!((found.half_width_95.unwrap() - wanted).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn single_runs_have_no_interval() {
        let found = difference(&sample(&[1], &[1.0]), &sample(&[1], &[3.0])).unwrap();
        assert_eq!(found, Estimate { mean: 2.0, half_width_95: None });
        assert_eq!(difference(&sample(&[], &[]), &sample(&[1], &[3.0])), None);
    }
}
