//! From a candidate to a failure: confirmed on fresh seeds, shrunk, confirmed again, with hints at the mechanism.

use penstock_evaluation::statistics::mean;
use penstock_law::quantity::Time;
use penstock_scenario::model::Scenario;
use penstock_scenario::quantity::print_time;
use penstock_scenario::world::Run;
use toml::Value;

use crate::case::Bench;
use crate::confirm::{Confirmation, Confirmed, FRESH_SEEDS, conclude};
use crate::draft::Draft;
use crate::hint::{Hint, hints};
use crate::hunt::Candidate;
use crate::limits::Limits;
use crate::margin::{Margin, margin};
use crate::objective::{Kind, Role, role};
use crate::shrink::{adversary, shrink};
use crate::trial::{Court, Runner};

/// The first of the fresh seeds of a candidate, and of a failure after shrinking: no search uses them.
const FRESH: [u64; 2] = [1001, 2001];
/// The seeds that shrinking goes by.
const SHRINKING: [u64; 5] = [501, 502, 503, 504, 505];
/// The share of a score that shrinking must keep.
const KEPT: f64 = 0.95;
/// The most candidates that are confirmed, for one that is found.
const TRIED: usize = 4;
/// The most candidates that fail only by the elements of earlier failures, for one that is found.
const EXPLAINED: usize = 100;

/// A scenario in which a law fails.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Its objective.
    pub kind: Kind,
    /// The scenario, without the law under test.
    pub draft: Draft,
    /// The names of the references that were run.
    pub references: Vec<String>,
    /// The results of fresh seeds after shrinking.
    pub confirmed: Confirmed,
    /// The hints at the mechanism.
    pub hints: Vec<Hint>,
    /// The score over the decisive number of the scenario.
    pub margin: Option<Margin>,
    /// The number of candidates that were tried to shrink it.
    pub shrinking: usize,
    /// The run of its first fresh seed.
    pub run: Run,
    /// The scenario of that run.
    pub scenario: Scenario,
}

/// Finds failures among the best candidates: at most `most`, no two alike. Candidates that fresh seeds do not confirm, and those that
/// are effects of phase, are given apart.
///
/// # Errors
/// Those of the runner.
pub fn failures<R: Runner>(
    court: &Court<'_>,
    candidates: &[Candidate],
    most: usize,
    runner: &mut R,
) -> Result<(Vec<Failure>, Vec<Confirmed>), R::Error> {
    let mut found: Vec<Failure> = Vec::new();
    let mut dismissed = Vec::new();
    let promising = candidates.iter().filter(|candidate| candidate.fitness >= 0.8 * court.threshold);
    let (mut tried, mut explained) = (0, 0);
    for candidate in promising {
        if found.len() >= most || tried >= most * TRIED || explained >= most * EXPLAINED {
            break;
        }
        // What an earlier one already shows is not looked at again, and what it is due to is taken away: a failure that is easy to come
        // by would hide all others.
        if found.iter().any(|before| before.draft.elements() == candidate.draft.elements()) {
            continue;
        }
        let (draft, is_less) = unexplained(&candidate.draft, &found);
        if is_less {
            let seed = &SHRINKING[..1];
            let found = court.fitness(std::slice::from_ref(&draft), seed, court.threshold, runner)?;
            if found[0].as_ref().is_none_or(|scores| scores[0] < court.threshold) {
                explained += 1;
                continue;
            }
        }
        tried += 1;
        // A run as long as the second rung's is cheaper, and most failures show there. What needs longer has that.
        let long = candidate.long.as_ref().map(|long| unexplained(long, &found).0);
        let mut examined = examine(court, &draft, runner)?;
        if let (false, Some(long)) = (matches!(examined, Examined::Failure(_)), &long) {
            examined = examine(court, long, runner)?;
        }
        match examined {
            Examined::Failure(failure) if found.iter().any(|before| alike(&before.draft, &failure.draft)) => {}
            Examined::Failure(failure) => found.push(*failure),
            Examined::Dismissed(confirmed) => dismissed.push(confirmed),
            Examined::Nothing => {}
        }
    }
    Ok((found, dismissed))
}

/// The end of a candidate.
enum Examined {
    /// It is a failure, confirmed and shrunk.
    Failure(Box<Failure>),
    /// Fresh seeds do not confirm it or what shrinking left of it, or it is an effect of phase.
    Dismissed(Confirmed),
    /// It was not run.
    Nothing,
}

/// Confirms a draft on fresh seeds, and shrinks it.
fn examine<R: Runner>(court: &Court<'_>, draft: &Draft, runner: &mut R) -> Result<Examined, R::Error> {
    let Some(mut confirmed) = fresh(court, draft, FRESH[0], runner)? else { return Ok(Examined::Nothing) };
    if confirmed.confirmation == Confirmation::Found && is_phase_effect(court, draft, runner)? {
        confirmed.confirmation = Confirmation::PhaseEffect;
    }
    if confirmed.confirmation != Confirmation::Found {
        confirmed.references.retain(|measured| measured.is_finite());
        return Ok(Examined::Dismissed(confirmed));
    }
    let enough = (KEPT * confirmed.score).max(court.threshold);
    shrunk(court, draft, enough, runner)
}

/// A draft without the elements that failures are due to, as far as it has them; and whether that is less than the draft.
fn unexplained(draft: &Draft, found: &[Failure]) -> (Draft, bool) {
    let mut less = draft.clone();
    for before in found {
        let causes = adversary(&before.draft);
        if causes.iter().all(|key| less.get(key).is_some()) {
            for key in causes {
                less.remove(&key);
            }
        }
    }
    let is_less = less != *draft;
    (less, is_less)
}

/// The result of a draft on fresh seeds.
fn fresh<R: Runner>(
    court: &Court<'_>,
    draft: &Draft,
    first: u64,
    runner: &mut R,
) -> Result<Option<Confirmed>, R::Error> {
    let seeds: Vec<u64> = (first..first + FRESH_SEEDS as u64).collect();
    let outcomes = court.judge(std::slice::from_ref(draft), &seeds, runner)?;
    Ok(outcomes.first().and_then(|outcome| conclude(outcome, court.threshold)))
}

/// True if a failure goes away when starts differ by up to a packet time and packets by up to 10 us. Only packets have phases.
fn is_phase_effect<R: Runner>(court: &Court<'_>, draft: &Draft, runner: &mut R) -> Result<bool, R::Error> {
    if !court.bench.has_packets() {
        return Ok(false);
    }
    let limits = Limits { jitter: court.limits.jitter.max(Time(Time::PER_SECOND / 100_000)), ..court.limits.clone() };
    let court = Court { limits: &limits, ..court.clone() };
    let seeds: Vec<u64> = (FRESH[0]..FRESH[0] + FRESH_SEEDS as u64).collect();
    let noisy = unsettled(court.bench, draft);
    let scores = court.fitness(std::slice::from_ref(&noisy), &seeds, f64::NEG_INFINITY, runner)?;
    let Some(scores) = &scores[0] else { return Ok(true) };
    Ok(2 * scores.iter().filter(|score| **score >= court.threshold).count() < scores.len())
}

/// The draft with a little noise: starts, and packets of flows without jitter.
fn unsettled(bench: &Bench, draft: &Draft) -> Draft {
    let mut noisy = draft.clone();
    let packet = bench.read(draft).ok().and_then(|scenario| {
        let link = scenario.links.values().min_by_key(|link| link.rate)?;
        Some(link.rate.time_for(scenario.packet.wire))
    });
    for name in draft.names("flows").into_iter().filter(|name| role(name) != Role::Cross) {
        let start = format!("flows.{name}.start");
        if let (Some(packet), Some(Value::String(at))) = (packet, draft.get(&start))
            && let Ok(at) = penstock_scenario::quantity::time(at)
        {
            let between = [at, at + packet].map(|time| Value::from(print_time(time)));
            noisy.set(
                &start,
                Value::Table([("uniform".to_owned(), Value::Array(between.to_vec()))].into_iter().collect()),
            );
        }
        let jitter = format!("flows.{name}.jitter");
        if draft.get(&jitter).is_none() {
            noisy.set(&format!("{jitter}.uniform"), Value::Array(vec![Value::from("0 us"), Value::from("10 us")]));
        }
    }
    noisy
}

/// Shrinks a candidate to a draft that still scores `enough`, and confirms it.
fn shrunk<R: Runner>(court: &Court<'_>, draft: &Draft, enough: f64, runner: &mut R) -> Result<Examined, R::Error> {
    let wanted = hints_of(court, draft, SHRINKING[0], runner)?.map(|observed| observed.hints).unwrap_or_default();
    let mut tried = 0;
    let mut holds = |drafts: &[Draft]| -> Result<Vec<bool>, R::Error> {
        tried += drafts.len();
        // The first seed sorts most candidates out.
        let first = court.fitness(drafts, &SHRINKING[..1], enough, runner)?;
        let mut held = vec![false; drafts.len()];
        for (at, scores) in first.into_iter().enumerate() {
            if scores.is_none_or(|scores| scores[0] < enough) {
                continue;
            }
            let all = court.fitness(&drafts[at..=at], &SHRINKING, enough, runner)?;
            if all[0].as_ref().and_then(|scores| mean(scores)).is_none_or(|mean| mean < enough) {
                continue;
            }
            // What points to the mechanism stays: otherwise it is another failure.
            let hints =
                hints_of(court, &drafts[at], SHRINKING[0], runner)?.map(|observed| observed.hints).unwrap_or_default();
            held[at] = wanted.first().is_none_or(|hint| hints.contains(hint));
            if held[at] {
                // Those behind it are not asked for.
                break;
            }
        }
        Ok(held)
    };
    let draft = shrink(draft.clone(), &mut holds)?;
    let Some(confirmed) = fresh(court, &draft, FRESH[1], runner)? else { return Ok(Examined::Nothing) };
    if confirmed.confirmation != Confirmation::Found {
        let mut confirmed = Confirmed { confirmation: Confirmation::NotAfterShrinking, ..confirmed };
        confirmed.references.retain(|measured| measured.is_finite());
        return Ok(Examined::Dismissed(confirmed));
    }
    let failure = described(court, draft, confirmed, tried, runner)?;
    Ok(failure.map_or(Examined::Nothing, |failure| Examined::Failure(Box::new(failure))))
}

/// The failure that a scenario is as it stands, by the fresh seeds that a shrunk one has; none if they do not confirm it.
///
/// # Errors
/// Those of the runner.
pub fn as_it_stands<R: Runner>(court: &Court<'_>, draft: &Draft, runner: &mut R) -> Result<Option<Failure>, R::Error> {
    match fresh(court, draft, FRESH[1], runner)? {
        Some(confirmed) if confirmed.confirmation == Confirmation::Found => {
            described(court, draft.clone(), confirmed, 0, runner)
        }
        _ => Ok(None),
    }
}

/// A confirmed failure with its margin and its hints; none if it cannot be observed.
fn described<R: Runner>(
    court: &Court<'_>,
    draft: Draft,
    mut confirmed: Confirmed,
    shrinking: usize,
    runner: &mut R,
) -> Result<Option<Failure>, R::Error> {
    let mut margin = margin(court, &draft, &SHRINKING, runner)?;
    let Some(Observed { hints, scenario, run }) = hints_of(court, &draft, FRESH[1], runner)? else { return Ok(None) };
    let names = court.references(&draft).into_iter().map(|law| law.name).collect();
    let references = that_ran(names, &mut confirmed, margin.as_mut());
    Ok(Some(Failure {
        kind: court.bench.kind(),
        references,
        confirmed,
        hints,
        margin,
        shrinking,
        run,
        scenario,
        draft,
    }))
}

/// The names of the references that were run. Of the others, which a world lacks, no column is left.
fn that_ran(names: Vec<String>, confirmed: &mut Confirmed, margin: Option<&mut Margin>) -> Vec<String> {
    let ran: Vec<bool> = confirmed.references.iter().map(|measured| measured.is_finite()).collect();
    let is_left = |at: usize| ran.get(at).copied().unwrap_or(false);
    confirmed.references.retain(|measured| measured.is_finite());
    if let Some(margin) = margin {
        let columns = std::mem::take(&mut margin.references).into_iter().enumerate();
        margin.references = columns.filter(|(at, _)| is_left(*at)).map(|(_, column)| column).collect();
    }
    names.into_iter().enumerate().filter(|(at, _)| is_left(*at)).map(|(_, name)| name).collect()
}

/// A run with the law under test.
struct Observed {
    /// The hints at the mechanism.
    hints: Vec<Hint>,
    scenario: Scenario,
    run: Run,
}

/// The hints of one run with the law under test, and the run.
fn hints_of<R: Runner>(
    court: &Court<'_>,
    draft: &Draft,
    seed: u64,
    runner: &mut R,
) -> Result<Option<Observed>, R::Error> {
    let Ok(mut scenario) = court.bench.scenario(&court.bench.with(draft, court.law), seed) else { return Ok(None) };
    for group in scenario.groups.values_mut() {
        group.series = true;
    }
    let run = runner.observe(&scenario)?;
    Ok(run.ok().map(|run| Observed { hints: hints(&scenario, &run.summary), scenario, run }))
}

/// True if two drafts have the same elements, and numbers within 10 % of each other.
fn alike(a: &Draft, b: &Draft) -> bool {
    if a.elements() != b.elements() {
        return false;
    }
    let close = |a: &Value, b: &Value| match (crate::space::amount(a), crate::space::amount(b)) {
        (Some((x, unit)), Some((y, other))) => unit == other && (x - y).abs() <= 0.1 * x.abs().max(y.abs()),
        _ => a == b || (a.is_array() && b.is_array()),
    };
    let ignored = |key: &str| matches!(key, "title" | "seed" | "duration" | "warmup");
    let of = |draft: &Draft| draft.leaves().into_iter().filter(|(key, _)| !ignored(key)).collect::<Vec<_>>();
    of(a).iter().zip(&of(b)).all(|((_, x), (_, y))| close(x, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A world may lack a law between two others: the numbers of the later one are not those of the missing one.
    #[test]
    fn references_that_were_not_run_leave_no_column() {
        let mut confirmed = Confirmed {
            confirmation: Confirmation::Found,
            score: 0.9,
            score_at_least: 0.9,
            measured: 30.0,
            range: [30.0, 30.0],
            references: vec![2.0, f64::NAN, 3.0],
            seeds: [20, 20],
        };
        let columns = vec![vec![Some(2.0)], vec![None], vec![Some(3.0)]];
        let mut margin = Margin {
            key: String::new(),
            unit: String::new(),
            values: vec![1.0],
            law: vec![Some(30.0)],
            references: columns,
            scores: vec![Some(0.9)],
            boundary: None,
        };
        let names = ["newreno", "bbr", "cbr"].map(str::to_owned).to_vec();
        assert_eq!(that_ran(names, &mut confirmed, Some(&mut margin)), ["newreno", "cbr"]);
        assert_eq!(confirmed.references, [2.0, 3.0]);
        assert_eq!(margin.references, [[Some(2.0)], [Some(3.0)]]);
    }
}
