//! The score over the decisive number of a finding, beside that of the references.

use penstock_evaluation::statistics::mean;
use serde::Serialize;

use crate::draft::Draft;
use crate::objective::Measure;
use crate::shrink::Spot;
use crate::trial::{Court, Runner};

/// Factors by which the number is changed.
const FACTORS: [f64; 9] = [0.125, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0];
/// Keys that may be decisive, the first that a draft has: what the adversary does, then the path.
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
}

/// Measures a finding over its decisive number; none if it has no number that may be decisive.
///
/// # Errors
/// Those of the runner.
pub(crate) fn margin<R: Runner>(
    court: &Court<'_>,
    draft: &Draft,
    seeds: &[u64],
    runner: &mut R,
) -> Result<Option<Margin>, R::Failure> {
    let Some(spot) = decisive(draft) else { return Ok(None) };
    let Some((now, unit)) = spot.quantity(draft) else { return Ok(None) };
    let varied = FACTORS.iter().filter_map(|factor| spot.with(draft, now * factor, 2));
    let mut drafts: Vec<Draft> = Vec::new();
    for draft in varied {
        if !drafts.contains(&draft) {
            drafts.push(draft);
        }
    }
    let laws = court.contenders(draft);
    let kind = court.bench.kind();
    // One run for each value, law and seed, whatever the limits: the picture may go beyond them.
    let mut scenarios = Vec::new();
    let mut places = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        for (who, law) in laws.iter().enumerate() {
            for seed in seeds {
                if let Ok(scenario) = court.bench.scenario(&court.bench.with(draft, law), *seed) {
                    scenarios.push(scenario);
                    places.push((at, who));
                }
            }
        }
    }
    let measured = runner.measure(kind, &scenarios)?;
    let of = |at: usize, who: usize| -> Vec<f64> {
        let here = places.iter().zip(&measured).filter(|(place, _)| **place == (at, who));
        here.filter_map(|(_, found): (_, &Measure)| found.as_ref().ok().copied()).collect()
    };
    let column = |who: usize| (0..drafts.len()).map(|at| mean(&of(at, who))).collect::<Vec<_>>();
    let score = |at: usize| {
        let theirs: Vec<f64> = (1..laws.len()).filter_map(|who| mean(&of(at, who))).collect();
        mean(&of(at, 0)).map(|measured| kind.score(measured, &theirs))
    };
    Ok(Some(Margin {
        key: spot.key().to_owned(),
        unit,
        values: drafts.iter().filter_map(|draft| spot.amount(draft)).collect(),
        law: column(0),
        references: (1..laws.len()).map(column).collect(),
        scores: (0..drafts.len()).map(score).collect(),
    }))
}

/// The number that a failure most likely depends on.
fn decisive(draft: &Draft) -> Option<Spot> {
    let spots = Spot::all(draft);
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
