//! Items of a paper that are analysed, not run: the equilibrium of a scenario and its margins, as numbers that claims measure.
//!
//! Of a scenario whose customers have conditioners the loop of each is analysed, of one whose queue's law closes an outer
//! loop that loop, of any other the loop through the queue.

use penstock_fluid::analysis::LoopResult;
use penstock_fluid::phase::NyquistPoint;
use penstock_fluid::{AnalysisError, Options, contracts, outer};
use penstock_scenario::model::Scenario;
use penstock_scenario::{quantity, read};
use serde_json::{Map, Value, json};

use crate::cell::Cell;
use crate::computed::{Computed, Curve};
use crate::extent::Extent;
use crate::paper::Item;

/// Analyses the cells of the scenario that `item` names as its `analysis`.
///
/// # Errors
/// Names the cell without an analysis and the reason, or reports that no cell is left.
pub fn analyze(item: &Item, scenarios: &[read::Cell], extent: Extent) -> Result<Computed, String> {
    let times: Vec<Option<&String>> = if item.at.is_empty() { vec![None] } else { item.at.iter().map(Some).collect() };
    let (mut cells, mut curves) = (Vec::new(), Vec::new());
    for cell in scenarios {
        for time in &times {
            let at = time.map(|t| quantity::time(t)).transpose().map_err(|e| format!("`at`: {e}"))?;
            let mut labels = cell.labels.clone();
            labels.extend(time.map(|t| ("at".to_owned(), t.clone())));
            if !item.shows(&labels, extent) {
                continue;
            }
            let said: Vec<&str> = labels.iter().map(|(_, v)| v.as_str()).collect();
            let name = said.join(", ");
            let analysed = analysed(&cell.scenario, &Options { at, ..Options::default() });
            let Analysed { mut value, loops } = analysed.map_err(|e| format!("{name}: {e}"))?;
            for (of, models) in loops {
                let name = if of.is_empty() { name.clone() } else { format!("{name}, {of}") };
                curves.extend(loci(item, &models, &name)?);
            }
            as_measured(&mut value);
            cells.push(Cell::of_json(labels, value));
        }
    }
    if cells.is_empty() {
        return Err("`cells` and `short` leave no cell".to_owned());
    }
    Ok(Computed { cells, curves })
}

/// Analyses a scenario; a cell with these labels has the results, under the names that claims use.
///
/// # Errors
/// Names the reason why the scenario has no analysis.
pub fn analyze_scenario(scenario: &Scenario, labels: Vec<(String, String)>) -> Result<Cell, String> {
    let Analysed { mut value, .. } = analysed(scenario, &Options::default()).map_err(|e| e.to_string())?;
    as_measured(&mut value);
    Ok(Cell::of_json(labels, value))
}

/// The results of an analysis, and its loops: the owner of each, and its models.
struct Analysed {
    value: Value,
    loops: Vec<(String, Vec<LoopResult>)>,
}

fn analysed(scenario: &Scenario, options: &Options) -> Result<Analysed, AnalysisError> {
    // Plain data always becomes JSON.
    if contracts::has_any(scenario) {
        let found = contracts::analyze(scenario, options)?;
        let value = json!(found);
        let own = |c: contracts::CustomerLoop| Some((c.name, c.equilibrium?.models));
        return Ok(Analysed { value, loops: found.customers.into_iter().filter_map(own).collect() });
    }
    if outer::has_any(scenario) {
        return Ok(Analysed { value: json!({ "classes": outer::loops(scenario)? }), loops: Vec::new() });
    }
    let found = penstock_fluid::analyze(scenario, options)?;
    Ok(Analysed { value: json!(found), loops: vec![(String::new(), found.models)] })
}

/// An analysis as claims see it. An entry with a name is found by it, as in `links.bottleneck.price_s`, and models by theirs,
/// as in `models.laws.gain_margin`; beside a verdict stands `stable`, one or zero, unless it is undecided.
fn as_measured(value: &mut Value) {
    match value {
        Value::Array(rows) => {
            rows.iter_mut().for_each(as_measured);
            let name = |row: &Value| {
                let name = ["name", "model", "class"].into_iter().find_map(|key| row.get(key));
                name.and_then(Value::as_str).map(str::to_owned)
            };
            if let Some(names) = rows.iter().map(name).collect::<Option<Vec<String>>>() {
                let named: Map<String, Value> = names.into_iter().zip(core::mem::take(rows)).collect();
                *value = Value::Object(named);
            }
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(as_measured);
            match fields.get("verdict").and_then(Value::as_str) {
                Some("stable") => drop(fields.insert("stable".into(), 1.into())),
                Some("unstable") => drop(fields.insert("stable".into(), 0.into())),
                _ => {}
            }
        }
        _ => {}
    }
}

/// The loci of the model that the item draws.
fn loci(item: &Item, models: &[LoopResult], name: &str) -> Result<Vec<Curve>, String> {
    let wanted = item.model.as_deref().unwrap_or("laws");
    let word = |r: &LoopResult| json!(r.model).as_str().unwrap_or_default().to_owned();
    let Some(model) = models.iter().find(|r| word(r) == wanted) else {
        let known: Vec<String> = models.iter().map(word).collect();
        return Err(format!("no model is named `{wanted}`; there are {}", known.join(", ")));
    };
    let several = model.nyquist.len() > 1;
    let curve = |(k, points): (usize, &Vec<NyquistPoint>)| Curve {
        name: if several { format!("{name}, eigenlocus {}", k + 1) } else { name.to_owned() },
        comparison: false,
        points: points.clone(),
    };
    Ok(model.nyquist.iter().enumerate().map(curve).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_name_is_found_by_it() {
        let mut value = json!({
            "links": [{ "name": "a", "queue": 1.0 }, { "name": "b", "queue": 2.0 }],
            "models": [{ "model": "laws", "verdict": "unstable" }],
            "verdict": "undecided",
            "warnings": ["a remark"],
        });
        as_measured(&mut value);
        assert_eq!(value["links"]["b"]["queue"], 2.0);
        assert_eq!(value["models"]["laws"]["stable"], 0);
        assert!(value.get("stable").is_none(), "what is undecided is no number");
        assert_eq!(value["warnings"], json!(["a remark"]), "what has no names stays a list");
    }
}
