//! Outcomes of criteria with invented numbers: units and figures do not depend on them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use penstock_evaluation::{Criterion, Evaluation, Extent, Judging, Measure, Outcome, Part, Runs, Scope, judge, page};
use penstock_papers::Cell;
use penstock_scenario::read::Document;
use serde_json::{Map, Value};

type Labels = Vec<(String, String)>;

const LAWS: [&str; 3] = ["fast", "newreno", "cubic"];

/// The outcome of a criterion with one cell for each measure.
pub(super) fn outcome(criterion: &Criterion) -> Outcome {
    let mut whole: Option<Outcome> = None;
    for measure in &criterion.measures {
        let part = criterion.part_of(measure).unwrap();
        let law = measure.laws.first().map_or(LAWS[0], String::as_str);
        let own = labels(part, measure);
        // Harm is that to others which have another cell alone.
        let alone = measure.harm.as_ref().map(|harm| {
            let of = |(axis, value): &(String, String)| (axis.clone(), harm.alone.get(axis).unwrap_or(value).clone());
            own.iter().map(of).collect::<Labels>()
        });
        let cells = [Some(own), alone].into_iter().flatten();
        let cells: Vec<Cell> = cells.map(|labels| of_law(criterion, part, law, "1", labels)).collect();
        let mut outcome = judged(criterion, law, Extent::Full, |_| Runs { cells: &cells, refused: None });
        outcome.measures.retain(|measured| measured.name == *measure.name.get_ref());
        assert_eq!(outcome.measures.len(), 1, "{}: {}", criterion.id.get_ref(), measure.name.get_ref());
        match &mut whole {
            Some(whole) => whole.measures.append(&mut outcome.measures),
            None => whole = Some(outcome),
        }
    }
    whole.unwrap_or_else(|| judged(criterion, LAWS[0], Extent::Full, |_| Runs { cells: &[], refused: None }))
}

/// Whether the page of an evaluation draws a criterion.
pub(super) fn drawn(criterion: &Criterion, extent: Extent, scenarios: &Path) -> bool {
    let cells: Vec<Vec<Cell>> = criterion.parts.iter().map(|part| all(criterion, part, scenarios)).collect();
    let outcome = judged(criterion, LAWS[0], extent, |part| {
        let at = criterion.parts.iter().position(|own| std::ptr::eq(own, part)).unwrap();
        Runs { cells: &cells[at], refused: None }
    });
    let evaluation = Evaluation {
        law: LAWS[0].into(),
        baselines: LAWS[1..].iter().map(|law| (*law).to_owned()).collect(),
        extent,
        criteria: vec![outcome],
        ..Evaluation::default()
    };
    let page = page::of(&evaluation, "", &[], &BTreeMap::new());
    let section = page.sections.iter().find(|section| section.label == *criterion.id.get_ref()).unwrap();
    !section.figures.is_empty() && section.figures.iter().all(|figure| !figure.is_empty())
}

fn judged<'a>(criterion: &Criterion, law: &str, extent: Extent, runs: impl Fn(&Part) -> Runs<'a>) -> Outcome {
    let baselines: Vec<String> = LAWS[1..].iter().map(|law| (*law).to_owned()).collect();
    judge(criterion, Judging { law, name: law, baselines: &baselines, scope: Scope { extent, linux: false } }, runs)
}

/// Every cell of a part's scenario, with two seeds and each law.
fn all(criterion: &Criterion, part: &Part, scenarios: &Path) -> Vec<Cell> {
    let file = scenarios.join(format!("{}.toml", part.scenario.get_ref()));
    let folder = scenarios.to_owned();
    let load = move |name: &str| fs::read_to_string(folder.join(name)).map_err(|e| e.to_string());
    let document = Document::parse_with(&fs::read_to_string(&file).unwrap(), &file.display().to_string(), load);
    let mut cells = Vec::new();
    for cell in document.unwrap().cells().unwrap() {
        for (law, seed) in LAWS.iter().flat_map(|law| ["1", "2"].map(|seed| (law, seed))) {
            cells.push(of_law(criterion, part, law, seed, cell.labels.clone()));
        }
    }
    cells
}

/// Labels of a cell that a measure has in the full extent.
fn labels(part: &Part, measure: &Measure) -> Labels {
    let full = &part.cells.full;
    let mut labels: Labels = Vec::new();
    for (axis, values) in measure.cells.iter().chain(full) {
        let fits = |value: &&String| full.get(axis).is_none_or(|own| own.has(value));
        if labels.iter().all(|(known, _)| known != axis) {
            let value = values.all().iter().find(fits).unwrap_or_else(|| panic!("no value of `{axis}` runs"));
            labels.push((axis.clone(), value.clone()));
        }
    }
    labels
}

/// A cell in which each number of the criterion's part is one.
fn of_law(criterion: &Criterion, part: &Part, law: &str, seed: &str, labels: Labels) -> Cell {
    let mut summary = Value::Object(Map::new());
    for measure in criterion.measures.iter().filter(|m| criterion.part_of(m).is_some_and(|own| std::ptr::eq(own, part)))
    {
        for (_, path) in measure.paths() {
            let mut here = &mut summary;
            for name in path.split('.') {
                if !here.is_object() {
                    *here = Value::Object(Map::new());
                }
                here = here.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
            }
            *here = 1.into();
        }
        // An exponent needs a ratio other than one.
        if let Some([above, _]) = &measure.exponent {
            *summary.pointer_mut(&format!("/{}", above.replace('.', "/"))).unwrap() = 2.into();
        }
    }
    let own = [("law", law), ("seed", seed)].map(|(key, value)| (key.to_owned(), value.to_owned()));
    Cell::of_json(own.into_iter().chain(labels).collect(), summary)
}
