//! The numbers of a second world beside those of the first.

use penstock_papers::Cell;

use crate::criterion::{Criterion, Measure, Part, Scale};
use crate::decision::against;
use crate::extent::{self, Scope};
use crate::judge::{Runs, numbers};
use crate::numbers::{Groups, Seeded};
use crate::outcome::{BesideRow, NotRun};
use crate::value::{number, seed_of, unit};

/// Compares the runs of a criterion in the Linux world with those of the same cells and seeds in another. `first` and `second` give the
/// runs of each part. Gives a row for each measure, cell and law that both have, and the parts that the second lacks.
pub fn compare<'a>(
    criterion: &Criterion,
    laws: &[&str],
    scope: Scope,
    first: impl Fn(&Part) -> Runs<'a>,
    second: impl Fn(&Part) -> Runs<'a>,
) -> (Vec<BesideRow>, Vec<NotRun>) {
    let mut rows: Vec<BesideRow> = Vec::new();
    let mut not_run: Vec<NotRun> = Vec::new();
    for measure in &criterion.measures {
        let Some(part) = criterion.part_of(measure) else { continue };
        if !measure.laws.is_empty() && measure.laws.iter().all(|law| !laws.contains(&law.as_str())) {
            continue;
        }
        let here = numbers_of(part, measure, scope, first(part).cells);
        let there = second(part);
        let found = rows_of(criterion, measure, laws, &here, &numbers_of(part, measure, scope, there.cells));
        if found.is_empty() {
            let why = why_not(part, measure, scope, here.is_empty(), &there);
            let name = measure.name.get_ref().clone();
            if let Some(other) = not_run.iter_mut().find(|other| other.why == why) {
                other.measures.push(name);
            } else {
                not_run.push(NotRun { id: criterion.id.get_ref().clone(), measures: vec![name], why });
            }
        }
        rows.extend(found);
    }
    // One reason for everything needs no names.
    if rows.is_empty()
        && let [all] = &mut not_run[..]
    {
        all.measures.clear();
    }
    (rows, not_run)
}

/// The reason why the second world has no number of a measure; `elsewhere` is true if the first has none either in these cells.
fn why_not(part: &Part, measure: &Measure, scope: Scope, elsewhere: bool, there: &Runs<'_>) -> String {
    if part.analysis {
        "it is an analysis, and the same in every world".to_owned()
    } else if !scope.runs(part) {
        Scope::NO_CELLS.to_owned()
    } else if let Some(why) = there.refused {
        why.to_owned()
    } else if elsewhere {
        "it belongs to other cells than those of the Linux world".to_owned()
    } else if measure.paths().any(|(_, path)| path.split('.').any(|name| name == "dynamics")) {
        "the Linux world does not sample each round".to_owned()
    } else {
        "no run of both worlds has it".to_owned()
    }
}

/// The finite numbers of each law in each cell that the Linux world runs.
fn numbers_of(part: &Part, measure: &Measure, scope: Scope, cells: &[Cell]) -> Groups {
    let mut groups = Groups::new();
    for cell in cells {
        let labels: Vec<(String, String)> =
            cell.labels.iter().filter(|(key, _)| key != "law" && key != "seed").cloned().collect();
        if !scope.has(part, &labels) || !extent::has(&measure.cells, &labels) {
            continue;
        }
        if let Some(value) = number(measure, cell).filter(|x| x.is_finite()) {
            let law = cell.label("law").unwrap_or_default().to_owned();
            groups.entry(labels).or_default().entry(law).or_default().insert(seed_of(cell), value);
        }
    }
    match &measure.harm {
        Some(harm) => harm.of(&groups),
        None => groups,
    }
}

fn rows_of(criterion: &Criterion, measure: &Measure, laws: &[&str], first: &Groups, second: &Groups) -> Vec<BesideRow> {
    let mut rows = Vec::new();
    for (labels, by_law) in second {
        for law in laws {
            let both = |groups: &'_ Groups| groups.get(labels).and_then(|laws| laws.get(*law)).cloned();
            let (Some(mut here), Some(mut there)) = (both(first), by_law.get(*law).cloned()) else { continue };
            here.retain(|seed, _| there.contains_key(seed));
            there.retain(|seed, _| here.contains_key(seed));
            if here.is_empty() {
                continue;
            }
            let (difference, interval) = difference(&here, &there);
            rows.push(BesideRow {
                id: criterion.id.get_ref().clone(),
                measure: measure.name.get_ref().clone(),
                title: measure.title.clone(),
                unit: measure.unit.clone().unwrap_or_else(|| unit(measure)),
                labels: labels.clone(),
                law: (*law).to_owned(),
                first: numbers(&here, measure),
                second: numbers(&there, measure),
                difference,
                interval,
            });
        }
    }
    rows
}

/// By which share of the first the second differs, and between which bounds: by the ratios of the runs with the same seed, or else by
/// that of the means.
fn difference(first: &Seeded, second: &Seeded) -> (Option<f64>, Option<(f64, f64)>) {
    if let Some(ratio) = against(Scale::Ratio, false, second, first) {
        return (Some(ratio.mean - 1.0), ratio.interval.map(|(low, high)| (low - 1.0, high - 1.0)));
    }
    let mean = |of: &Seeded| of.values().sum::<f64>() / of.len() as f64;
    (Some(mean(second) / mean(first) - 1.0).filter(|share| share.is_finite()), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Extent;
    use crate::criterion::tests::GOOD;
    use serde_json::json;

    fn cell(law: &str, path: &str, seed: u32, delay: f64) -> Cell {
        let labels = [
            ("law", law.to_owned()),
            ("links.bottleneck.buffer", "8 bdp".to_owned()),
            ("path", path.to_owned()),
            ("seed", seed.to_string()),
        ];
        let labels = labels.map(|(key, value)| (key.to_owned(), value)).to_vec();
        Cell::of_json(labels, json!({ "links": { "bottleneck": { "delay_s": delay } } }))
    }

    /// Cells, laws and seeds that both worlds have are compared, run by run.
    #[test]
    fn runs_of_two_worlds_are_compared_seed_by_seed() {
        let text = GOOD.replace("[cells]", "[cells]\nlinux = { path = \"P-dsl\" }");
        let text = text.replace("dynamics.standing_queue_s", "delay_s");
        let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
        let scope = Scope { extent: Extent::Quick, linux: true };
        let packets = [
            cell("fast", "P-dsl", 1, 0.1),
            cell("fast", "P-dsl", 2, 0.2),
            cell("fast", "P-dsl", 3, 9.0),
            cell("fast", "P-bb", 1, 5.0),
        ];
        let linux = [cell("fast", "P-dsl", 1, 0.11), cell("fast", "P-dsl", 2, 0.22), cell("fast", "P-bb", 1, 5.0)];
        let runs = |cells| move |_: &Part| Runs { cells, refused: None };
        let (rows, not_run) = compare(&criterion, &["fast", "cubic"], scope, runs(&packets[..]), runs(&linux[..]));
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert!(
            (row.difference.unwrap() - 0.1).abs() < 1e-12 && row.first.seeds == [0.1, 0.2] && row.unit == "s",
            "{row:?}"
        );
        assert!(not_run.is_empty());
        let none = Runs { cells: &[], refused: Some("no kernel has it") };
        let (rows, not_run) = compare(&criterion, &["fast"], scope, runs(&packets[..]), |_| none);
        assert!(
            rows.is_empty() && not_run[0].why == "no kernel has it" && not_run[0].measures.is_empty(),
            "{not_run:?}"
        );
    }

    /// A measure of other cells than those that the Linux world runs is named so.
    #[test]
    fn measures_of_other_cells_are_named() {
        let text = GOOD.replace("[cells]", "[cells]\nlinux = { path = \"P-dsl\" }");
        let text = text.replace("dynamics.standing_queue_s\"", "delay_s\"\ncells = { path = \"P-bb\" }");
        let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
        let scope = Scope { extent: Extent::Quick, linux: true };
        let (packets, linux) = ([cell("fast", "P-bb", 1, 0.1)], [cell("fast", "P-dsl", 1, 0.1)]);
        let runs = |cells| move |_: &Part| Runs { cells, refused: None };
        let (rows, not_run) = compare(&criterion, &["fast"], scope, runs(&packets[..]), runs(&linux[..]));
        assert!(rows.is_empty() && not_run[0].why.contains("other cells"), "{not_run:?}");
    }

    /// Beside a number of zero there is no share.
    #[test]
    fn what_is_zero_has_no_difference() {
        let of = |values: [f64; 2]| -> Seeded { (1..).zip(values).collect() };
        assert_eq!(difference(&of([0.0, 0.0]), &of([1.0, 1.0])), (None, None));
        assert_eq!(difference(&of([0.0, 2.0]), &of([1.0, 2.0])), (Some(0.5), None));
    }
}
