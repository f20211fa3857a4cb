//! Whether a claim holds in the cells that were run.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::axis::position;
use crate::cell::{self, Cell, Measure, Sample};
use crate::extent::Extent;
use crate::paper::{Claim, Falls, Item, Order, Other, Reduce, Table, Test, Values};

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The bound is kept.
    #[serde(rename = "holds")]
    Holds,
    /// It is not.
    #[serde(rename = "fails")]
    Fails,
    /// Nobody can tell from what runs here.
    #[serde(rename = "not run here")]
    NotRunHere,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::NotRunHere => "not run here",
        })
    }
}

/// A claim with its verdict and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The claim's id.
    pub id: String,
    /// The figure or table it was measured in.
    pub item: String,
    /// Where it stands in the paper.
    pub place: String,
    /// What the paper states.
    pub statement: String,
    /// Whether the statement is the paper's wording.
    pub quoted: bool,
    /// Whether the test is ours.
    pub ours: bool,
    /// The measure: a path in a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// What must hold, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// Where the bound comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What became of it.
    pub verdict: Verdict,
    /// The numbers that were tested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measured>,
    /// Why it fails or was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A number that was tested.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Where: the cell in words.
    pub at: String,
    /// What was measured there.
    pub value: f64,
    /// What it was compared with, where that is not the bound itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<f64>,
    /// Whether it keeps the bound.
    pub keeps: bool,
}

/// A claim that cannot be tested as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("claim `{claim}`: {what}")]
pub struct JudgeError {
    /// The claim.
    pub claim: String,
    /// What stands in the way, and what would do.
    pub what: String,
}

/// Judges `claim` by the cells of its item, all of them or those of the short run.
///
/// # Errors
/// Says what a cell lacks: the number, a key, or the cell to compare with.
pub fn judge(claim: &Claim, item: &Item, cells: &[Cell], extent: Extent) -> Result<Finding, JudgeError> {
    let mut finding = Finding {
        id: claim.id.get_ref().clone(),
        item: claim.item.get_ref().clone(),
        place: claim.place.clone(),
        statement: claim.statement().to_owned(),
        quoted: claim.quote.is_some(),
        ours: claim.ours,
        measure: claim.measure.as_ref().map(|_| in_words(claim)),
        bound: claim.test.as_ref().map(|t| bound(t.get_ref(), &|x| x.to_string())),
        source: claim.source.clone(),
        verdict: Verdict::NotRunHere,
        measured: Vec::new(),
        why: claim.why_not(item),
    };
    let (None, Some(measure), Some(test)) = (&finding.why, &claim.measure, &claim.test) else {
        return Ok(finding);
    };
    if extent == Extent::Short && !claim.short {
        finding.why = Some("needs the whole sweep".into());
        return Ok(finding);
    }
    let fault = |what| JudgeError { claim: claim.id.get_ref().clone(), what };
    // What stands for one value only needs not be said of each number.
    let given: Vec<&str> = claim.cells.iter().filter(|(_, v)| v.is_one()).map(|(k, _)| k.as_str()).collect();
    let measured = if let Test::Table(table) = test.get_ref() {
        tabled(table, claim, measure.get_ref(), cells, &given).map_err(fault)?
    } else {
        let path = |p: &'_ Option<toml::Spanned<String>>| p.as_ref().map(|p| p.get_ref().clone());
        let (minus, over) = (path(&claim.minus), path(&claim.over));
        let measure = Measure { path: measure.get_ref(), minus: minus.as_deref(), over: over.as_deref() };
        let all = cell::samples(cells, measure, claim.seeds).map_err(fault)?;
        let mut chosen = chosen(&all, claim).map_err(fault)?;
        if !claim.per.is_empty() {
            for sample in &mut chosen {
                sample.value /= counterpart(sample, &claim.per, &all).map_err(fault)?.value;
            }
        }
        if let Some(reduce) = claim.reduce {
            chosen = vec![reduced(&chosen, reduce)];
        }
        test_all(test.get_ref(), &chosen, &all, &given).map_err(fault)?
    };
    finding.verdict = if measured.iter().all(|m| m.keeps) { Verdict::Holds } else { Verdict::Fails };
    finding.measured = measured;
    Ok(finding)
}

/// The samples that a claim is about.
fn chosen(all: &[Sample], claim: &Claim) -> Result<Vec<Sample>, String> {
    let chosen: Vec<Sample> = all.iter().filter(|s| cell::matches(&s.labels, &claim.cells)).cloned().collect();
    if chosen.is_empty() {
        let words: Vec<String> = claim.cells.iter().map(|(k, v)| format!("{k} = {}", v.words())).collect();
        return Err(format!("no cell has {}", words.join(" and ")));
    }
    Ok(chosen)
}

/// What is measured, in words.
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

fn tabled(table: &Table, claim: &Claim, prefix: &str, cells: &[Cell], given: &[&str]) -> Result<Vec<Measured>, String> {
    let mut measured = Vec::new();
    for (rest, wanted) in &table.values {
        let path = format!("{prefix}.{rest}");
        let room = table.absolute.or(table.relative.map(|r| r * wanted.abs())).unwrap_or_default();
        let all = cell::samples(cells, Measure::of(&path), claim.seeds)?;
        for sample in chosen(&all, claim)? {
            let at = cell::words(&sample.labels, given);
            measured.push(Measured {
                at: if at.is_empty() { rest.clone() } else { format!("{at}, {rest}") },
                value: sample.value,
                against: Some(*wanted),
                keeps: (sample.value - wanted).abs() <= room,
            });
        }
    }
    Ok(measured)
}

fn reduced(samples: &[Sample], reduce: Reduce) -> Sample {
    let values: Vec<f64> = samples.iter().map(|s| s.value).collect();
    let (word, value) = match reduce {
        Reduce::Mean => ("mean", cell::mean(&values)),
        Reduce::Min => ("least", cell::least(&values)),
        Reduce::Max => ("largest", cell::largest(&values)),
        Reduce::Ratio => ("largest over least", cell::largest(&values) / cell::least(&values)),
    };
    Sample { labels: vec![("over".into(), format!("{word} of {}", values.len()))], value }
}

fn test_all(test: &Test, chosen: &[Sample], all: &[Sample], given: &[&str]) -> Result<Vec<Measured>, String> {
    let each = |keeps: &dyn Fn(f64) -> bool| {
        let measured = |s: &Sample| Measured {
            at: cell::words(&s.labels, given),
            value: s.value,
            against: None,
            keeps: keeps(s.value),
        };
        chosen.iter().map(measured).collect()
    };
    Ok(match test {
        Test::AtLeast(bound) => each(&|x| x >= *bound),
        Test::AtMost(bound) => each(&|x| x <= *bound),
        Test::Within(b) => {
            let room = b.absolute.or(b.relative.map(|r| r * b.value.abs())).unwrap_or_default();
            each(&|x| (x - b.value).abs() <= room)
        }
        Test::Falls(falls) => falling(falls, chosen, given)?,
        Test::Above(other) => against(other, chosen, all, given, |x, y| x > y && x >= y + other.by)?,
        Test::Below(other) => against(other, chosen, all, given, |x, y| x < y && x <= y - other.by)?,
        Test::Table(_) => Vec::new(),
        Test::Times(times) => against(&Other::of(&times.of), chosen, all, given, |x, y| {
            times.at_least.is_none_or(|n| x >= n * y) && times.at_most.is_none_or(|n| x <= n * y)
        })?,
        Test::Order(order) => rising(order, chosen, given)?,
    })
}

/// A cell's value of a key, and its sample.
type Keyed<'a> = (&'a str, &'a Sample);

/// Samples in groups that differ in `key` only.
fn groups<'a>(samples: &'a [Sample], key: &str) -> Result<Vec<Vec<Keyed<'a>>>, String> {
    let mut groups: IndexMap<_, Vec<Keyed<'a>>> = IndexMap::new();
    for sample in samples {
        let Some((_, value)) = sample.labels.iter().find(|(k, _)| k == key) else {
            let known: Vec<&str> = sample.labels.iter().map(|(k, _)| k.as_str()).collect();
            return Err(format!("the sweep has no key `{key}`; it has {}", known.join(", ")));
        };
        groups.entry(cell::without(&sample.labels, key)).or_default().push((value, sample));
    }
    Ok(groups.into_values().collect())
}

fn falling(falls: &Falls, chosen: &[Sample], given: &[&str]) -> Result<Vec<Measured>, String> {
    let mut measured = Vec::new();
    for mut group in groups(chosen, &falls.along)? {
        if group.len() < 2 {
            return Err(format!("nothing can fall along `{}`: there is one cell only", falls.along));
        }
        // Values that are not numbers keep the order of the sweep.
        if let Some(mut ranked) =
            group.iter().map(|(v, s)| position(v).map(|(x, _)| (x, *v, *s))).collect::<Option<Vec<_>>>()
        {
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
            group = ranked.into_iter().map(|(_, v, s)| (v, s)).collect();
        }
        let first = group[0].1.value;
        let mut before: Option<f64> = None;
        for (n, (_, sample)) in group.iter().enumerate() {
            let step = match (falls.rise_at_most, before) {
                (Some(rise), Some(before)) => sample.value - before <= rise,
                _ => true,
            };
            let total = match falls.drop_at_least {
                Some(drop) if n + 1 == group.len() => first - sample.value >= drop,
                _ => true,
            };
            measured.push(Measured {
                at: cell::words(&sample.labels, given),
                value: sample.value,
                against: None,
                keeps: step && total,
            });
            before = Some(sample.value);
        }
    }
    Ok(measured)
}

/// The sample whose labels differ in `other` only.
fn counterpart<'a>(sample: &Sample, other: &IndexMap<String, String>, all: &'a [Sample]) -> Result<&'a Sample, String> {
    let mut wanted: IndexMap<String, Values> =
        sample.labels.iter().map(|(key, value)| (key.clone(), Values::One(value.clone()))).collect();
    for (key, value) in other {
        wanted.insert(key.clone(), Values::One(value.clone()));
    }
    all.iter().find(|s| cell::matches(&s.labels, &wanted)).ok_or_else(|| {
        let words: Vec<String> = wanted.values().map(Values::words).collect();
        format!("no cell to compare with: {}", words.join(", "))
    })
}

fn against(
    other: &Other,
    chosen: &[Sample],
    all: &[Sample],
    given: &[&str],
    keeps: impl Fn(f64, f64) -> bool,
) -> Result<Vec<Measured>, String> {
    let mut measured = Vec::new();
    for sample in chosen {
        let counterpart = counterpart(sample, &other.cells, all)?;
        measured.push(Measured {
            at: cell::words(&sample.labels, given),
            value: sample.value,
            against: Some(counterpart.value),
            keeps: keeps(sample.value, counterpart.value),
        });
    }
    Ok(measured)
}

fn rising(order: &Order, chosen: &[Sample], given: &[&str]) -> Result<Vec<Measured>, String> {
    let mut measured = Vec::new();
    for group in groups(chosen, &order.of)? {
        let mut before: Option<f64> = None;
        for wanted in &order.rising {
            let (_, sample) = group
                .iter()
                .find(|(value, _)| value == wanted)
                .ok_or_else(|| format!("no cell has {} = {wanted:?}", order.of))?;
            measured.push(Measured {
                at: cell::words(&sample.labels, given),
                value: sample.value,
                against: before,
                keeps: before.is_none_or(|b| sample.value > b),
            });
            before = Some(sample.value);
        }
    }
    Ok(measured)
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
    }
}
