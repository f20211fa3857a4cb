//! A claim's test, on the numbers of its cells.

use indexmap::IndexMap;

use crate::axis::position;
use crate::cell::{self, Sample};
use crate::numbers::Numbers;
use crate::paper::{Claim, Falls, Order, Other, Reduce, Test, Values};
use crate::verdict::Measured;

/// A change of a number before it is tested: its index among the tested ones, and the number.
pub(crate) type Change<'a> = &'a dyn Fn(usize, f64) -> f64;

/// Every number that the claim is about, and whether it keeps the bound. `drawn` counts the draws of each seed.
///
/// # Errors
/// Names the cell that is missing.
pub(crate) fn tested(
    claim: &Claim,
    test: &Test,
    numbers: &Numbers,
    drawn: Option<&[u32]>,
    change: Change<'_>,
) -> Result<Vec<Measured>, String> {
    // What stands for one value only needs not be said of each number.
    let given: Vec<&str> = claim.cells.iter().filter(|(_, v)| v.is_one()).map(|(k, _)| k.as_str()).collect();
    let mut measured = Vec::new();
    let mut place = 0;
    for set in &numbers.sets {
        let all = set.samples(claim.seeds, drawn);
        let mut chosen = chosen(&all, claim)?;
        for sample in &mut chosen {
            sample.value = change(place, sample.value);
            place += 1;
        }
        if let (Test::Table(table), Some((rest, wanted))) = (test, &set.wanted) {
            let room = table.absolute.or(table.relative.map(|r| r * wanted.abs())).unwrap_or_default();
            measured.extend(chosen.iter().map(|sample| {
                let at = cell::words(&sample.labels, &given);
                Measured {
                    at: if at.is_empty() { rest.clone() } else { format!("{at}, {rest}") },
                    value: sample.value,
                    against: Some(*wanted),
                    keeps: (sample.value - wanted).abs() <= room,
                }
            }));
            continue;
        }
        if !claim.per.is_empty() {
            for sample in &mut chosen {
                sample.value /= counterpart(sample, &claim.per, &all)?.value;
            }
        }
        if let Some(reduce) = claim.reduce {
            chosen = vec![reduced(&chosen, reduce)];
        }
        measured.extend(test_all(test, &chosen, &all, &given)?);
    }
    Ok(measured)
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

fn reduced(samples: &[Sample], reduce: Reduce) -> Sample {
    let values: Vec<f64> = samples.iter().map(|s| s.value).collect();
    let (word, value) = match reduce {
        Reduce::Mean => ("mean", cell::mean(&values)),
        Reduce::Min => ("least", cell::least(&values)),
        Reduce::Max => ("largest", cell::largest(&values)),
        Reduce::Ratio => ("largest over least", cell::largest(&values) / cell::least(&values)),
    };
    Sample { labels: vec![("over".into(), format!("{word} of {}", values.len()))], value, spread: None }
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
        Test::Trial(printed) => chosen
            .iter()
            .map(|s| {
                let spread = s.spread.ok_or("`trial` needs two seeds at least: it goes by how far apart they are")?;
                let at = cell::words(&s.labels, given);
                let keeps = (s.value - printed).abs() <= spread;
                Ok(Measured { at, value: s.value, against: Some(*printed), keeps })
            })
            .collect::<Result<_, String>>()?,
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
            return Err(format!("`falls` needs two values of `{}` at least, and the runs have one", falls.along));
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
