//! Whether a claim holds in the cells that were run.

use indexmap::IndexMap;

use crate::cell::{Cell, matches};
use crate::certainty;
use crate::extent::Extent;
use crate::numbers::Numbers;
use crate::paper::{Claim, Item, Other, Test, Values};
use crate::tested::tested;
use crate::verdict::{JudgedClaim, Verdict};

/// A claim that cannot be tested as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("claim `{claim}`: {what}")]
pub struct JudgeError {
    /// The claim.
    pub claim: String,
    /// The obstacle, and the remedy.
    pub what: String,
}

/// Judges `claim` by the cells of its item, all of them or those of the short run.
///
/// # Errors
/// Names the value that a cell lacks: the number, a key, or the cell to compare with.
pub fn judge(claim: &Claim, item: &Item, cells: &[Cell], extent: Extent) -> Result<JudgedClaim, JudgeError> {
    let mut judged = JudgedClaim {
        id: claim.id.get_ref().clone(),
        item: claim.item.get_ref().clone(),
        place: claim.place.clone(),
        statement: claim.statement().to_owned(),
        quoted: claim.quote.is_some(),
        ours: claim.ours,
        unstated: claim.unstated,
        measure: claim.measure.as_ref().map(|_| in_words(claim)),
        bound: claim.test.as_ref().map(|t| bound(t.get_ref(), &|x| x.to_string())),
        source: claim.source.clone(),
        verdict: Verdict::NotRunHere,
        measured: Vec::new(),
        seeds: None,
        chance: None,
        flips: None,
        why: claim.why_not(item),
    };
    let (None, Some(measure), Some(test)) = (&judged.why, &claim.measure, &claim.test) else {
        return Ok(judged);
    };
    if extent == Extent::Short && !claim.short {
        judged.why = Some("needs the whole sweep".into());
        return Ok(judged);
    }
    let fault = |what| JudgeError { claim: claim.id.get_ref().clone(), what };
    let (path, test) = (measure.get_ref(), test.get_ref());
    let numbers = Numbers::of(claim, path, cells).map_err(fault)?;
    judged.measured = tested(claim, test, &numbers, None, &|_, x| x).map_err(fault)?;
    let keeps = judged.measured.iter().all(|m| m.keeps);
    judged.chance = certainty::chance(claim, test, &numbers).map_err(fault)?;
    judged.seeds = judged.chance.map(|_| numbers.seeds());
    judged.flips = certainty::flips(claim, test, &numbers, &judged.measured).map_err(fault)?;
    let about: Vec<&Cell> = cells.iter().filter(|cell| is_about(claim, test, cell)).collect();
    let outside = about.iter().filter(|cell| cell.is_outside()).count();
    (judged.verdict, judged.why) = if outside > 0 {
        let runs = match (outside, about.len()) {
            (_, 1) => "run is outside its error bounds",
            (1, _) => "runs is outside its error bounds",
            _ => "runs are outside their error bounds",
        };
        (Verdict::Undecided, Some(format!("{outside} of {} {runs}", about.len())))
    } else {
        match (keeps, judged.chance) {
            (true, None) => (Verdict::Holds, None),
            (false, None) => (Verdict::Fails, None),
            (true, Some(chance)) if chance >= certainty::ENOUGH => (Verdict::Holds, None),
            (false, Some(chance)) if chance <= 1.0 - certainty::ENOUGH => (Verdict::Fails, None),
            (_, Some(chance)) => {
                let share = (100.0 * chance).round();
                let why = format!("{share} % of bootstrap samples of the {} seeds keep the bound", numbers.seeds());
                (Verdict::Undecided, Some(why))
            }
        }
    };
    Ok(judged)
}

/// Whether a claim is about a cell, or compares with it.
fn is_about(claim: &Claim, test: &Test, cell: &Cell) -> bool {
    let other = match test {
        Test::Above(other) | Test::Below(other) => Some(&other.cells),
        Test::Times(times) => Some(&times.of),
        _ => None,
    };
    let with = |other: &IndexMap<String, String>| {
        let mut wanted = claim.cells.clone();
        wanted.extend(other.iter().map(|(key, value)| (key.clone(), Values::One(value.clone()))));
        matches(&cell.labels, &wanted)
    };
    matches(&cell.labels, &claim.cells) || other.into_iter().chain([&claim.per]).any(with)
}

/// The measure, in words.
fn in_words(claim: &Claim) -> String {
    let path = |p: &Option<toml::Spanned<String>>| p.as_ref().map(|p| p.get_ref().clone());
    let measure = path(&claim.measure).unwrap_or_default();
    let difference = path(&claim.minus).map_or(measure.clone(), |minus| format!("{measure} - {minus}"));
    let measured = match path(&claim.over) {
        Some(over) if claim.minus.is_some() => format!("({difference}) / {over}"),
        Some(over) => format!("{difference} / {over}"),
        None => difference,
    };
    if claim.per.is_empty() {
        return measured;
    }
    let others: Vec<&str> = claim.per.values().map(String::as_str).collect();
    format!("{measured} / that of {}", others.join(", "))
}

/// A test in words. `say` prints a number in the measure's own unit.
pub fn bound(test: &Test, say: &dyn Fn(f64) -> String) -> String {
    let named = |other: &Other| {
        let by = if other.by == 0.0 { String::new() } else { format!(" by {} at least", say(other.by)) };
        format!("{}{by}", other.cells.values().cloned().collect::<Vec<_>>().join(", "))
    };
    match test {
        Test::AtLeast(x) => format!("at least {}", say(*x)),
        Test::AtMost(x) => format!("at most {}", say(*x)),
        Test::Within(b) => match (b.relative, b.absolute) {
            (Some(r), _) => format!("{} within {} %", say(b.value), (r * 1e6).round() / 1e4),
            (None, a) => format!("{} within {}", say(b.value), say(a.unwrap_or_default())),
        },
        Test::Falls(f) => {
            let rise = f.rise_at_most.map(|r| format!("rises by at most {} from a point to the next", say(r)));
            let drop = f.drop_at_least.map(|d| format!("the last is below the first by at least {}", say(d)));
            let parts: Vec<String> = rise.into_iter().chain(drop).collect();
            format!("falls along {}: {}", f.along, parts.join("; "))
        }
        Test::Above(other) => format!("above {}", named(other)),
        Test::Below(other) => format!("below {}", named(other)),
        Test::Table(t) => match (t.relative, t.absolute) {
            (Some(r), _) => format!("each of {} within {} % of its value", t.values.len(), (r * 1e6).round() / 1e4),
            (None, a) => format!("each of {} within {} of its value", t.values.len(), say(a.unwrap_or_default())),
        },
        Test::Times(t) => {
            let least = t.at_least.map(|n| format!("at least {n} times"));
            let most = t.at_most.map(|n| format!("at most {n} times"));
            let parts: Vec<String> = least.into_iter().chain(most).collect();
            format!("{} {}", parts.join(" and "), named(&Other::of(&t.of)))
        }
        Test::Order(o) => o.rising.join(" < "),
        Test::Trial(x) => format!("a trial of {} is among ours", say(*x)),
    }
}
