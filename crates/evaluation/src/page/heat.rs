//! The heat maps of an evaluation: a measure of the law under test over two axes.

use penstock_report::{HeatAxis, HeatMap, Scale as Colours};

use super::pictures::{label, others, values, varied};
use crate::criterion::Scale;
use crate::outcome::{CellOutcome, Evaluation, Measured, Outcome};

/// The heat maps of a criterion, for each of their measures one for each combination of the other axes.
pub(super) fn of_criterion(evaluation: &Evaluation, outcome: &Outcome) -> Vec<HeatMap> {
    let Some((x, y, names)) = &outcome.heat_maps else { return Vec::new() };
    let measures = names.iter().filter_map(|name| outcome.measures.iter().find(|measured| measured.name == *name));
    measures.flat_map(|measured| of_measure(evaluation, outcome, (x, y), measured)).collect()
}

fn of_measure(evaluation: &Evaluation, outcome: &Outcome, (x, y): (&str, &str), measured: &Measured) -> Vec<HeatMap> {
    let cells: Vec<&CellOutcome> = measured.cells.iter().filter(|cell| cell.law.mean.is_finite()).collect();
    let means = || cells.iter().map(|cell| cell.law.mean);
    // All maps of a measure have one key, so that a reader can compare them.
    let Some(range) = means().reduce(f64::min).zip(means().reduce(f64::max)) else { return Vec::new() };
    let keys: Vec<&str> = varied(&cells, x).into_iter().filter(|key| *key != y).collect();
    let mut combinations: Vec<String> = Vec::new();
    for cell in &cells {
        let words = others(cell, &keys);
        if !combinations.contains(&words) {
            combinations.push(words);
        }
    }
    let map = |words: String| {
        let here: Vec<&CellOutcome> = cells.iter().copied().filter(|cell| others(cell, &keys) == words).collect();
        let (columns, rows) = (values(x, &here), values(y, &here));
        let mean = |row: &str, column: &str| {
            let is_there = |cell: &&&CellOutcome| label(cell, x) == Some(column) && label(cell, y) == Some(row);
            here.iter().find(is_there).map(|cell| cell.law.mean)
        };
        let numbers = rows.iter().map(|&row| columns.iter().map(|&column| mean(row, column)).collect()).collect();
        let place = if words.is_empty() { String::new() } else { format!(", {words}") };
        HeatMap {
            title: format!("{}: {}, {}{place}", outcome.id, measured.title, evaluation.law),
            x: axis(x, &columns),
            y: axis(y, &rows),
            unit: measured.unit.clone(),
            rows: numbers,
            range,
            scale: if measured.scale == Scale::Ratio { Colours::Log } else { Colours::Linear },
        }
    };
    combinations.into_iter().map(map).collect()
}

fn axis(key: &str, values: &[&str]) -> HeatAxis {
    HeatAxis {
        label: key.rsplit('.').next().unwrap_or(key).to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::pictures::tests::{cell, outcome};

    /// A map of each path, over buffers and numbers of flows; a cell that did not run has no number. All have the range of all.
    #[test]
    fn a_measure_has_a_map_of_each_path() {
        let of = |path: &str, buffer: &str, count: &str, mean: f64| {
            cell(&[("links.bottleneck.buffer", buffer), ("flows.test.count", count), ("path", path)], mean)
        };
        let cells = vec![
            of("P-dsl", "1 bdp", "1", 0.1),
            of("P-dsl", "1 bdp", "16", 0.2),
            of("P-dsl", "8 bdp", "1", 0.3),
            of("P-dsl", "8 bdp", "16", f64::NAN),
            of("P-bb", "1 bdp", "1", 0.5),
        ];
        let mut evaluation = outcome("EV-17", "queue", "links.bottleneck.buffer", cells);
        assert!(of_criterion(&evaluation, &evaluation.criteria[0]).is_empty(), "none are requested");
        evaluation.criteria[0].heat_maps =
            Some(("links.bottleneck.buffer".into(), "flows.test.count".into(), vec!["queue".into()]));
        let maps = of_criterion(&evaluation, &evaluation.criteria[0]);
        let titles: Vec<&str> = maps.iter().map(|map| map.title.as_str()).collect();
        assert_eq!(titles, ["EV-17: a measure, fast, path P-dsl", "EV-17: a measure, fast, path P-bb"]);
        assert_eq!(
            (maps[0].x.label.as_str(), maps[0].y.label.as_str(), maps[0].unit.as_str()),
            ("buffer", "count", "s")
        );
        assert_eq!(
            (&maps[0].x.values[..], &maps[0].y.values[..]),
            (&["1 bdp", "8 bdp"].map(str::to_owned)[..], &["1", "16"].map(str::to_owned)[..])
        );
        assert_eq!(maps[0].rows, [[Some(0.1), Some(0.3)], [Some(0.2), None]]);
        assert_eq!(maps[1].rows, [[Some(0.5)]]);
        assert!(maps.iter().all(|map| map.range == (0.1, 0.5)), "{maps:?}");
    }
}
