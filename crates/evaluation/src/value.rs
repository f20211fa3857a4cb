//! The number and the unit of a measure, read from the cell of a run.

use penstock_papers::Cell;
use penstock_report::number::unit_of;

use crate::criterion::Measure;

/// The seed of a run; 0 if it has none.
pub(crate) fn seed_of(cell: &Cell) -> u64 {
    cell.label("seed").and_then(|seed| seed.parse().ok()).unwrap_or_default()
}

/// The number of a measure in one cell; none where the run has none, or zero would be divided by zero. Infinite beside nothing. With
/// `exponent` it is the slope of the logarithm of a number over that of another.
pub(crate) fn number(measure: &Measure, cell: &Cell) -> Option<f64> {
    let other = |path: &Option<String>, none: f64| path.as_ref().map_or(Some(none), |path| cell.number(path).ok());
    let value = (cell.number(&measure.path).ok()? - other(&measure.minus, 0.0)?) / other(&measure.over, 1.0)?;
    let value = value * measure.times.unwrap_or(1.0);
    let value = match &measure.exponent {
        Some([above, below]) => {
            let ratio = cell.number(above).ok()? / cell.number(below).ok()?;
            libm::log(value) / libm::log(ratio)
        }
        None => value,
    };
    Some(value).filter(|value| !value.is_nan())
}

/// The unit of a measure: that of its path, unless it is divided. Harm is a share, and an exponent a plain
/// number.
pub(crate) fn unit(measure: &Measure) -> String {
    if measure.is_signed() {
        return String::new();
    }
    let of = |path: &str| unit_of(path.rsplit('.').next().unwrap_or(path)).1.to_owned();
    match &measure.over {
        Some(over) if of(over) == of(&measure.path) => String::new(),
        Some(over) => {
            let (unit, over) = (of(&measure.path), of(over));
            let unit = if unit.is_empty() && !over.is_empty() { "1".to_owned() } else { unit };
            format!("{unit}/{over}").trim_end_matches('/').to_owned()
        }
        None => of(&measure.path),
    }
}
