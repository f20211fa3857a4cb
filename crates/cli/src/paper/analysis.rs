//! Items of a paper that are analysed, not run: where a scenario rests and its margins, as numbers that claims measure.

use penstock_fluid::{Analysis, Complex, Options, Verdict};
use penstock_papers::{Cell, Item};
use penstock_scenario::quantity;
use serde_json::{Map, Value};

use super::Computed;
use super::loops::{Curve, figures};
use crate::arguments::Changes;
use crate::failure::Failure;
use crate::paper::library::Source;
use crate::scenario;
use penstock_papers::Extent;

/// Analyses the cells of the scenario that `item` names.
pub(super) fn of(source: &Source, item: &Item, extent: Extent) -> Result<Option<Computed>, Failure> {
    let Some(file) = &item.analysis else { return Ok(None) };
    let file = source.folder.join(file);
    let wrong = |what: String| Failure::Input(format!("{}: {}: {what}", source.file(), item.id.get_ref()));
    let document = scenario::document(&file, None, &Changes { set: Vec::new() })?;
    let times: Vec<Option<&String>> =
        if item.at.is_empty() { vec![None] } else { item.at.iter().map(Some).collect() };
    let (mut cells, mut curves) = (Vec::new(), Vec::new());
    for cell in scenario::cells(&document)? {
        for time in &times {
            let at = time.map(|t| quantity::time(t)).transpose().map_err(|e| wrong(format!("`at`: {e}")))?;
            let mut labels = cell.labels.clone();
            labels.extend(time.map(|t| ("at".to_owned(), t.clone())));
            if !item.shows(&labels, extent) {
                continue;
            }
            let said: Vec<&str> = labels.iter().map(|(_, v)| v.as_str()).collect();
            let name = said.join(", ");
            let analysis = penstock_fluid::analyze(&cell.scenario, &Options { at, ..Options::default() });
            let analysis = analysis.map_err(|e| wrong(format!("{name}: {e}")))?;
            curves.extend(loci(item, &analysis, &name).map_err(wrong)?);
            cells.push(Cell::of_json(labels, numbers(&analysis)?));
        }
    }
    if cells.is_empty() {
        return Err(wrong("`cells` and `short` keep no cell".to_owned()));
    }
    Ok(Some(Computed { cells, figures: figures(item, &curves), text: scenario::text(&file)? }))
}

/// An analysis as claims see it: what has a name is found by it, as in `links.bottleneck.price_s`, and readings by
/// theirs, as in `readings.laws.gain_margin`; `stable` is one or zero, and absent where that is undecided.
fn numbers(analysis: &Analysis) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(analysis).map_err(|e| Failure::Bug(e.to_string()))?;
    let verdict = |verdict: Verdict| match verdict {
        Verdict::Stable => Some(1),
        Verdict::Unstable => Some(0),
        Verdict::Undecided => None,
    };
    let Value::Object(fields) = &mut value else { return Ok(value) };
    for field in fields.values_mut() {
        by_name(field);
    }
    for reading in &analysis.readings {
        let name = serde_json::to_value(reading.reading).map_err(|e| Failure::Bug(e.to_string()))?;
        let found = fields.get_mut("readings").and_then(|r| r.get_mut(name.as_str().unwrap_or_default()));
        if let (Some(Value::Object(found)), Some(stable)) = (found, verdict(reading.margins.verdict)) {
            found.insert("stable".into(), stable.into());
        }
    }
    fields.extend(verdict(analysis.verdict).map(|stable| ("stable".to_owned(), stable.into())));
    Ok(value)
}

/// Turns a list of tables that have names into one table by these names.
fn by_name(field: &mut Value) {
    let Value::Array(rows) = field else { return };
    let name = |row: &Value| {
        let name = row.get("name").or_else(|| row.get("reading"))?;
        name.as_str().map(str::to_owned)
    };
    if let Some(names) = rows.iter().map(name).collect::<Option<Vec<String>>>() {
        let named: Map<String, Value> = names.into_iter().zip(core::mem::take(rows)).collect();
        *field = Value::Object(named);
    }
}

/// The loci of the reading that the item draws.
fn loci(item: &Item, analysis: &Analysis, name: &str) -> Result<Vec<Curve>, String> {
    let wanted = item.reading.as_deref().unwrap_or("laws");
    let word = |r: &penstock_fluid::analysis::LoopReading| {
        serde_json::to_value(r.reading).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let Some(reading) = analysis.readings.iter().find(|r| word(r) == wanted) else {
        let known: Vec<String> = analysis.readings.iter().map(word).collect();
        return Err(format!("no reading is named `{wanted}`; there are {}", known.join(", ")));
    };
    let curve = |(k, points): (usize, &Vec<penstock_fluid::analysis::NyquistPoint>)| Curve {
        name: if reading.nyquist.len() > 1 { format!("{name}, eigenlocus {}", k + 1) } else { name.to_owned() },
        comparison: false,
        points: points.iter().map(|p| (p.frequency_rad_per_s, Complex::new(p.re, p.im))).collect(),
    };
    Ok(reading.nyquist.iter().enumerate().map(curve).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_has_a_name_is_found_by_it() {
        let mut links = json!([{ "name": "a", "queue": 1.0 }, { "name": "b", "queue": 2.0 }]);
        by_name(&mut links);
        assert_eq!(links["b"]["queue"], 2.0);
        let mut plain = json!(["a remark"]);
        by_name(&mut plain);
        assert_eq!(plain, json!(["a remark"]), "what has no names stays a list");
    }
}
