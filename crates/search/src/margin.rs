//! The score over the decisive number of a failure, beside that of the references.

use penstock_evaluation::statistics::mean;
use serde::Serialize;

use crate::draft::Draft;
use crate::shrink::Spot;
use crate::trial::{Court, Runner};

/// Factors by which the number is changed.
const FACTORS: [f64; 9] = [0.125, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0];
/// The number of bisections of the boundary.
const BISECTIONS: usize = 6;
/// Keys that may be decisive, the first that a draft has: those of the adversary, then the path.
const DECISIVE: [&str; 14] = [
    "jitter",
    "ack_jitter",
    "aggregation",
    "delay",
    "policer",
    "loss",
    "on_off",
    "start",
    "rtt",
    "buffer",
    "aqm",
    "rate",
    "count",
    "cc",
];

/// The measure over one number of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Margin {
    /// The key of the number.
    pub key: String,
    /// Its unit, as the scenario has it.
    pub unit: String,
    /// The values of the number.
    pub values: Vec<f64>,
    /// The mean measure of the law under test for each value; none where the scenario cannot be run.
    pub law: Vec<Option<f64>>,
    /// The mean measures of each reference.
    pub references: Vec<Vec<Option<f64>>>,
    /// The mean score of the law under test beside the references.
    pub scores: Vec<Option<f64>>,
    /// The end of the failure, above or below the value of the scenario: the last value that reaches the threshold, and a value
    /// beyond it that does not. None where all values of the picture reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<[f64; 2]>,
}

/// Measures a failure over its decisive number; none if it has no number that may be decisive.
///
/// # Errors
/// Those of the runner.
pub(crate) fn margin<R: Runner>(
    court: &Court<'_>,
    draft: &Draft,
    seeds: &[u64],
    runner: &mut R,
) -> Result<Option<Margin>, R::Error> {
    let Some(spot) = decisive(draft, court.varied) else { return Ok(None) };
    let Some((now, unit)) = spot.quantity(draft) else { return Ok(None) };
    let varied = FACTORS.iter().filter_map(|factor| spot.with(draft, now * factor, 2));
    let mut drafts: Vec<Draft> = Vec::new();
    for draft in varied {
        if !drafts.contains(&draft) {
            drafts.push(draft);
        }
    }
    let means = means(court, &drafts, seeds, runner)?;
    let laws = means.first().map_or(0, Vec::len);
    let column = |who: usize| means.iter().map(|row| row.get(who).copied().flatten()).collect::<Vec<_>>();
    let mut margin = Margin {
        key: spot.key().to_owned(),
        unit,
        values: drafts.iter().filter_map(|draft| spot.amount(draft)).collect(),
        law: column(0),
        references: (1..laws).map(column).collect(),
        scores: drafts.iter().zip(&means).map(|(draft, row)| score(court, draft, row)).collect(),
        boundary: None,
    };
    if let Some(between) = margin.bracket(now, court.threshold) {
        margin.boundary = Some(bisect(court, draft, &spot, between, seeds, runner)?);
    }
    Ok(Some(margin))
}

impl Margin {
    /// The value next to a failure's that does not reach the threshold, behind the last one that does: below it first, where an
    /// adversary does less.
    fn bracket(&self, now: f64, threshold: f64) -> Option<[f64; 2]> {
        let reaches = |at: usize| self.scores[at].is_some_and(|score| score >= threshold);
        let end = |mut places: Box<dyn Iterator<Item = usize> + '_>| {
            let mut last = now;
            places.find_map(|at| {
                let fails = !reaches(at);
                let pair = fails.then(|| [last, self.values[at]]);
                last = self.values[at];
                pair
            })
        };
        let places = 0..self.values.len();
        let below = end(Box::new(places.clone().rev().filter(|at| self.values[*at] < now)));
        below.or_else(|| end(Box::new(places.filter(|at| self.values[*at] > now))))
    }
}

/// The mean measure of each law for each draft, the law under test first, whatever the limits: the picture may go beyond them.
fn means<R: Runner>(
    court: &Court<'_>,
    drafts: &[Draft],
    seeds: &[u64],
    runner: &mut R,
) -> Result<Vec<Vec<Option<f64>>>, R::Error> {
    let (mut scenarios, mut places) = (Vec::new(), Vec::new());
    let mut found: Vec<Vec<Vec<f64>>> = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        let laws = court.contenders(draft);
        found.push(vec![Vec::new(); laws.len()]);
        for (who, law) in laws.iter().enumerate() {
            let runs = seeds.iter().filter_map(|seed| court.bench.scenario(&court.bench.with(draft, law), *seed).ok());
            for scenario in runs {
                scenarios.push(scenario);
                places.push((at, who));
            }
        }
    }
    for ((at, who), measure) in places.into_iter().zip(runner.measure(court.bench.kind(), &scenarios)?) {
        found[at][who].extend(measure.ok());
    }
    Ok(found.iter().map(|row| row.iter().map(|of| mean(of)).collect()).collect())
}

/// The score of mean measures, the law under test first.
fn score(court: &Court<'_>, draft: &Draft, means: &[Option<f64>]) -> Option<f64> {
    let (measured, references) = means.split_first()?;
    let measured = (*measured)?;
    let references: Vec<f64> = references.iter().map(|mean| mean.unwrap_or(f64::NAN)).collect();
    let laws = court.references(draft);
    court.bench.kind().score(measured, &court.beside(&laws, measured, &references))
}

/// The end of the failure between a value that shows it and one that does not, in two significant digits.
fn bisect<R: Runner>(
    court: &Court<'_>,
    draft: &Draft,
    spot: &Spot,
    between: [f64; 2],
    seeds: &[u64],
    runner: &mut R,
) -> Result<[f64; 2], R::Error> {
    let [mut shows, mut fails] = between;
    for _ in 0..BISECTIONS {
        let Some(middle) = spot.with(draft, libm::sqrt(shows * fails), 2) else { break };
        let Some(value) = spot.amount(&middle).filter(|value| *value != shows && *value != fails) else { break };
        let means = means(court, std::slice::from_ref(&middle), seeds, runner)?;
        if means.first().and_then(|row| score(court, &middle, row)).is_some_and(|score| score >= court.threshold) {
            shows = value;
        } else {
            fails = value;
        }
    }
    Ok([shows, fails])
}

/// The number that a failure most likely depends on: of those that the search changes, if there is one.
fn decisive(draft: &Draft, varied: &[String]) -> Option<Spot> {
    let all = Spot::all(draft);
    let changes = |spot: &Spot| {
        let below = |key: &String| {
            spot.key().strip_prefix(key.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        varied.iter().any(below)
    };
    let changed: Vec<Spot> = all.iter().filter(|spot| changes(spot)).cloned().collect();
    first_decisive(draft, &changed).or_else(|| first_decisive(draft, &all))
}

/// The first of these numbers in the order of [`DECISIVE`].
fn first_decisive(draft: &Draft, spots: &[Spot]) -> Option<Spot> {
    let has = |spot: &Spot, part: &str| {
        penstock_scenario::key::parts(spot.key()).unwrap_or_default().iter().skip(2).any(|key| key == part)
    };
    DECISIVE.iter().find_map(|part| {
        // A delay that does not change is part of the round trip.
        let counts = |spot: &&Spot| *part != "delay" || spot.is_in_list();
        let mut here = spots.iter().rev().filter(|spot| has(spot, part) && spot.is_last()).filter(counts);
        here.find(|spot| spot.amount(draft).is_some_and(|amount| amount > 0.0)).cloned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the numbers that the search changes, the first in the order counts; if it changes none of them, of all numbers.
    #[test]
    fn the_decisive_number_is_one_that_the_search_changes() {
        let flow = "flows.test = { rtt = \"40 ms\", count = 3, jitter = { uniform = [\"0 ms\", \"5 ms\"] } }";
        let draft = Draft::parse(flow).unwrap();
        let of = |varied: &[&str]| {
            let varied: Vec<String> = varied.iter().map(|key| (*key).to_owned()).collect();
            decisive(&draft, &varied).unwrap().key().to_owned()
        };
        assert_eq!(of(&["flows.test.count"]), "flows.test.count");
        assert_eq!(of(&["flows.test.count", "flows.test.rtt"]), "flows.test.rtt");
        assert_eq!(of(&["flows.test.jitter", "flows.test.rtt"]), "flows.test.jitter.uniform");
        assert_eq!(of(&["flows.test.jit", "flows.other"]), "flows.test.jitter.uniform");
    }

    /// The boundary is searched where the failure ends: below the value in its scenario, else above it.
    #[test]
    fn the_boundary_is_behind_the_last_value_that_shows_it() {
        let margin = |scores: [f64; 5]| Margin {
            key: String::new(),
            unit: String::new(),
            values: vec![1.0, 2.0, 4.0, 8.0, 16.0],
            law: Vec::new(),
            references: Vec::new(),
            scores: scores.map(Some).to_vec(),
            boundary: None,
        };
        assert_eq!(margin([0.1, 0.9, 0.9, 0.9, 0.9]).bracket(4.0, 0.5), Some([2.0, 1.0]));
        assert_eq!(margin([0.9, 0.9, 0.9, 0.9, 0.1]).bracket(4.0, 0.5), Some([8.0, 16.0]));
        assert_eq!(margin([0.1, 0.1, 0.9, 0.1, 0.1]).bracket(4.0, 0.5), Some([4.0, 2.0]));
        assert_eq!(margin([0.9; 5]).bracket(4.0, 0.5), None);
    }
}
