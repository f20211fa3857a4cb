//! Items of a paper that are computed, not run: formulas of its theory, by name.

mod fast;
mod hull;
mod lead_lag;
mod linux;
mod networks;

use serde_json::Value;

use crate::axis::position;
use crate::cell::Cell;
use crate::computed::{Computed, Curve};
use crate::extent::Extent;
use crate::paper::Item;

/// A formula.
struct Formula {
    name: &'static str,
    /// Its arguments; all must be given.
    keys: &'static [&'static str],
    compute: fn(&Given<'_>) -> Result<Answer, String>,
}

/// Every formula, in the order of the papers.
const FORMULAS: &[Formula] = &[
    lead_lag::LOOP,
    lead_lag::SPIRAL,
    lead_lag::LARGEST_ETA,
    lead_lag::MARKING,
    lead_lag::CRITICAL_WINDOW,
    hull::HULL,
    networks::NETWORKS,
    fast::WITHOUT_DELAY,
    linux::HOURS,
];

/// The values that a cell has.
struct Given<'a>(&'a [(String, String)]);

impl Given<'_> {
    fn text(&self, key: &str) -> Result<&str, String> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str()).ok_or_else(|| format!("`over` lacks `{key}`"))
    }

    /// A number in its base unit.
    fn number(&self, key: &str) -> Result<f64, String> {
        let text = self.text(key)?;
        position(text).map(|(x, _)| x).ok_or_else(|| format!("{key}: `{text}` is not a number or a quantity"))
    }

    /// An argument that is a count.
    fn count(&self, key: &str) -> Result<u32, String> {
        let text = self.text(key)?;
        text.parse().map_err(|_| format!("{key}: `{text}` is not a whole number"))
    }
}

/// The result of a formula.
struct Answer {
    /// Numbers that claims measure and tables print.
    numbers: Value,
    /// Loops; the name of the cell is put before theirs.
    curves: Vec<Curve>,
}

impl Answer {
    const fn of(numbers: Value) -> Self {
        Self { numbers, curves: Vec::new() }
    }
}

/// Computes the cells of the formula that `item` names; nothing where it names none.
///
/// # Errors
/// Names the unknown key of `formula` or `over`, or the missing one.
pub fn compute(item: &Item, extent: Extent) -> Result<Option<Computed>, String> {
    let Some(name) = &item.formula else { return Ok(None) };
    let Some(formula) = FORMULAS.iter().find(|f| f.name == name) else {
        let known: Vec<&str> = FORMULAS.iter().map(|f| f.name).collect();
        return Err(format!("no formula is named `{name}`; there are {}", known.join(", ")));
    };
    if let Some(key) = item.over.keys().find(|key| !formula.keys.contains(&key.as_str())) {
        return Err(format!("`{name}` is no function of `{key}`; it takes {}", formula.keys.join(", ")));
    }
    let (mut cells, mut curves) = (Vec::new(), Vec::new());
    for labels in item.combinations() {
        if !item.shows(&labels, extent) {
            continue;
        }
        let answer = (formula.compute)(&Given(&labels))?;
        // What all cells have in common tells none of them from another.
        let telling: Vec<(String, String)> =
            labels.iter().filter(|(key, _)| !item.over[key].is_one()).cloned().collect();
        let said: Vec<String> = telling.iter().map(|(key, value)| format!("{key} {value}")).collect();
        curves.extend(answer.curves.into_iter().map(|c| {
            let name = [said.join(", "), c.name].into_iter().filter(|n| !n.is_empty()).collect::<Vec<_>>().join(": ");
            Curve { name, ..c }
        }));
        cells.push(Cell::of_json(telling, answer.numbers));
    }
    if cells.is_empty() {
        return Err("`cells` and `short` leave no cell".to_owned());
    }
    Ok(Some(Computed { cells, curves }))
}
