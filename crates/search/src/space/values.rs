//! The values of a gene, as a space has them.

use penstock_law::quantity::Time;
use penstock_scenario::quantity::{print_time, time};
use serde::Deserialize;
use toml::Value;

use crate::gene::{Allele, Domain, Gene};

/// The most values that a grid may have.
const MOST_VALUES: usize = 10_000;
/// The most pairs of a time and a value that a list of steps becomes: enough for a cycle or more of a long run.
const MOST_PAIRS: usize = 400;

/// A grid of values in rising order: `from`, `to`, and either `per_decade` or `step`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The first value: a number, or text with a unit.
    pub from: Value,
    /// The last value, with the same unit.
    pub to: Value,
    /// So many values a factor of ten.
    pub per_decade: Option<u32>,
    /// This far apart.
    pub step: Option<Value>,
}

/// The values of a gene. One of: a grid, `one_of`, `present`, or `steps` with a grid of values and `each`, that of lengths.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// As in [`Grid`].
    pub from: Option<Value>,
    /// As in [`Grid`].
    pub to: Option<Value>,
    /// As in [`Grid`].
    pub per_decade: Option<u32>,
    /// As in [`Grid`].
    pub step: Option<Value>,
    /// A list without order.
    pub one_of: Option<Vec<Value>>,
    /// True if a table of the scenario, such as a group of flows, may be there or not.
    #[serde(default)]
    pub present: bool,
    /// The fewest and the most steps, which repeat until the run ends.
    pub steps: Option<[usize; 2]>,
    /// The lengths of steps.
    pub each: Option<Grid>,
    /// True if steps are gone through once, so that the last value stays.
    #[serde(default)]
    pub once: bool,
    /// Values, or lengths of steps, that mean something to a host.
    #[serde(default)]
    pub landmarks: Vec<Value>,
    /// A form around the value, which `$` marks, as in `{ uniform = ["0 ms", $] }`.
    pub form: Option<String>,
    /// True if the setting may be absent.
    #[serde(default)]
    pub optional: bool,
    /// Other keys that have the same value.
    #[serde(default)]
    pub also: Vec<String>,
}

/// The values of a gene, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Values {
    list: Vec<Value>,
    /// Lengths of steps, of a gene that has them.
    lengths: Vec<Value>,
    steps: Option<[usize; 2]>,
    once: bool,
    form: Option<String>,
    /// True if its only value is that a table is there.
    present: bool,
}

impl Variation {
    /// The gene, and its values.
    pub(crate) fn resolve(&self) -> Result<(Gene, Values), String> {
        let grid = self.from.clone().zip(self.to.clone());
        let grid = grid.map(|(from, to)| Grid { from, to, per_decade: self.per_decade, step: self.step.clone() });
        let list = match (grid, &self.one_of, self.present) {
            (Some(grid), None, false) => grid.values()?,
            (None, Some(list), false) if !list.is_empty() => list.clone(),
            (None, None, true) => vec![Value::Boolean(true)],
            _ => return Err("needs `from` and `to`, or `one_of` with a value or more, or `present = true`".to_owned()),
        };
        if let Some(form) = &self.form {
            fill(form, &list[0])?;
        }
        let lengths = self.each.as_ref().map(Grid::values).transpose()?.unwrap_or_default();
        let domain = match (self.steps, &self.each) {
            (Some([fewest, most]), Some(_)) => {
                if fewest == 0 || most < fewest {
                    return Err(format!("steps is [{fewest}, {most}]; write the fewest, above zero, and the most"));
                }
                if let Some(wrong) = lengths.iter().find(|value| span(value).is_none_or(|length| length.0 == 0)) {
                    return Err(format!("each: {wrong} is not a duration above zero"));
                }
                let landmarks = places(&lengths, &self.landmarks);
                Domain::Steps { lengths: lengths.len(), landmarks, values: list.len(), fewest, most }
            }
            (None, None) if self.one_of.is_some() || self.present => Domain::Choice { values: list.len() },
            (None, None) => Domain::Ordered { values: list.len(), landmarks: places(&list, &self.landmarks) },
            _ => return Err("`steps` and `each` go together".to_owned()),
        };
        let gene = Gene { domain, optional: self.optional || self.present };
        Ok((
            gene,
            Values {
                list,
                lengths,
                steps: self.steps,
                once: self.once,
                form: self.form.clone(),
                present: self.present,
            },
        ))
    }
}

impl Values {
    /// True if the only value is that a table is there.
    pub(crate) const fn is_table(&self) -> bool {
        self.present
    }

    /// The first of them.
    pub(crate) fn first(&self) -> Allele {
        match self.steps {
            Some([fewest, _]) => Allele::Steps(vec![(0, 0); fewest]),
            None => Allele::At(0),
        }
    }

    /// The value nearest to this one: of a grid by size, of a list the same one, else the first.
    pub(crate) fn nearest(&self, value: &Value) -> Allele {
        let Some([fewest, most]) = self.steps else {
            return Allele::At(closest(&self.list, value).unwrap_or(0));
        };
        let pair = |pair: &Value| {
            let (length, value) = (pair.get(0)?, pair.get(1)?);
            Some((closest(&self.lengths, length)?, closest(&self.list, value)?))
        };
        let pairs = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let steps: Vec<(usize, usize)> = pairs.iter().filter_map(pair).take(most).collect();
        // One value for ever is so many steps of it.
        let steps = match closest(&self.list, value) {
            Some(at) if steps.is_empty() => vec![(0, at); fewest],
            _ => steps,
        };
        if steps.len() < fewest { self.first() } else { Allele::Steps(steps) }
    }

    /// The value of an allele; none of one that is absent, and of a table that is just there. Steps repeat until `length`.
    pub(crate) fn value(&self, allele: &Allele, length: Time) -> Option<Value> {
        match allele {
            Allele::Absent => None,
            Allele::At(_) if self.present => None,
            Allele::At(at) => self.formed(self.list.get(*at)?),
            Allele::Steps(steps) => {
                let mut pairs = Vec::new();
                let mut now = Time(0);
                let most = if self.once { steps.len() } else { MOST_PAIRS };
                for (each, value) in steps.iter().cycle().take(most) {
                    if now >= length && !pairs.is_empty() {
                        break;
                    }
                    let at = if now.0 == 0 { "0 s".to_owned() } else { print_time(now) };
                    pairs.push(Value::Array(vec![Value::from(at), self.formed(self.list.get(*value)?)?]));
                    now = Time(now.0.saturating_add(span(self.lengths.get(*each)?)?.0));
                }
                Some(Value::Array(pairs))
            }
        }
    }

    fn formed(&self, value: &Value) -> Option<Value> {
        match &self.form {
            Some(form) => fill(form, value).ok(),
            None => Some(value.clone()),
        }
    }
}

/// A form with a value where it has `$`.
fn fill(form: &str, value: &Value) -> Result<Value, String> {
    if !form.contains('$') {
        return Err("form: write `$` where the value goes".to_owned());
    }
    let text = format!("value = {}", form.replace('$', &value.to_string()));
    let table: toml::Table = toml::from_str(&text).map_err(|e| format!("form: {}", e.message()))?;
    table.get("value").cloned().ok_or_else(|| "form: it is not a value".to_owned())
}

/// The indices of the values nearest to the landmarks, in rising order.
fn places(list: &[Value], landmarks: &[Value]) -> Vec<usize> {
    let mut places: Vec<usize> = landmarks.iter().filter_map(|value| closest(list, value)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// The index of the value nearest to this one: the same, or by the ratio of amounts.
fn closest(list: &[Value], value: &Value) -> Option<usize> {
    if let Some(same) = list.iter().position(|other| other == value) {
        return Some(same);
    }
    let (wanted, unit) = base(value)?;
    let distance = |other: &Value| {
        let (amount, other) = base(other)?;
        let both = (amount.max(1e-300), wanted.max(1e-300));
        (unit == other).then(|| (libm::log(both.0) - libm::log(both.1)).abs())
    };
    let with = list.iter().enumerate().filter_map(|(at, other)| Some((at, distance(other)?)));
    with.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}

/// A duration.
fn span(value: &Value) -> Option<Time> {
    time(value.as_str()?).ok()
}

/// An amount in the base unit of its kind, where the kind has several units.
fn base(value: &Value) -> Option<(f64, String)> {
    if let Some((amount, unit)) = value.as_str().and_then(penstock_scenario::quantity::quantity) {
        return Some((amount, unit.to_owned()));
    }
    amount(value)
}

/// A number, and the unit behind it.
pub(crate) fn amount(value: &Value) -> Option<(f64, String)> {
    match value {
        Value::Integer(whole) => Some((*whole as f64, String::new())),
        Value::Float(number) => Some((*number, String::new())),
        Value::String(text) => {
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            let (number, unit) = text.split_at(end);
            Some((number.parse().ok()?, unit.trim().to_owned()))
        }
        _ => None,
    }
}

/// A number with a unit, in so many significant digits.
pub(crate) fn written(number: f64, unit: &str, digits: usize, like: &Value) -> Value {
    let text = format!("{:.*e}", digits.saturating_sub(1), number);
    let number: f64 = text.parse().unwrap_or(number);
    match like {
        Value::Integer(_) => Value::Integer(number.round() as i64),
        Value::Float(_) => Value::Float(number),
        _ => Value::from(format!("{number} {unit}").trim_end().to_owned()),
    }
}

impl Grid {
    /// The values, in order: three significant digits with `per_decade`, six with `step`.
    ///
    /// # Errors
    /// Names the error in the grid.
    pub fn values(&self) -> Result<Vec<Value>, String> {
        let number =
            |value: &Value| amount(value).ok_or_else(|| format!("{value} is not a number, with or without a unit"));
        let ((from, unit), (mut to, mut other)) = (number(&self.from)?, number(&self.to)?);
        // Units of one kind: all values have that of the first.
        if let (true, Some((a, kind)), Some((b, same))) =
            (unit != other && from > 0.0, base(&self.from), base(&self.to))
            && kind == same
        {
            (to, other) = (from * (b / a), unit.clone());
        }
        if unit != other {
            return Err(format!("`from` and `to` have units of one kind; here they have `{unit}` and `{other}`"));
        }
        if !(from.is_finite() && to.is_finite() && from <= to) {
            return Err(format!("`to` must be at least `from`; here `to` is {} and `from` is {}", self.to, self.from));
        }
        let mut values = match (self.per_decade, &self.step) {
            (Some(many @ 1..), None) => {
                if from <= 0.0 {
                    return Err("`from` is above zero with `per_decade`".to_owned());
                }
                let decades = libm::log10(to / from);
                let last = libm::round(decades * f64::from(many)) as usize;
                let at = |k: usize| from * libm::pow(10.0, k as f64 / f64::from(many));
                (0..=last.min(MOST_VALUES)).map(|k| written(at(k).min(to), &unit, 3, &self.from)).collect::<Vec<_>>()
            }
            (None, Some(step)) => {
                let (step, its) = number(step)?;
                if its != unit || step <= 0.0 {
                    return Err(format!("`step` must be above zero and have the unit `{unit}`"));
                }
                let last = libm::floor((to - from) / step + 1e-9) as usize;
                let at = |k: usize| step.mul_add(k as f64, from);
                (0..=last.min(MOST_VALUES)).map(|k| written(at(k), &unit, 6, &self.from)).collect()
            }
            _ => return Err("a grid has either `per_decade`, a whole number above zero, or `step`".to_owned()),
        };
        values.dedup();
        if values.len() > MOST_VALUES {
            return Err(format!("the grid has more than {MOST_VALUES} values; take a wider step"));
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Result<Vec<String>, String> {
        let grid: Grid = toml::from_str(text).unwrap();
        grid.values().map(|values| values.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn grids_are_exact() {
        let decade = grid("from = \"1 ms\"\nto = \"10 ms\"\nper_decade = 3").unwrap();
        assert_eq!(decade, ["\"1 ms\"", "\"2.15 ms\"", "\"4.64 ms\"", "\"10 ms\""]);
        assert_eq!(grid("from = 1\nto = 4\nstep = 1").unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(grid("from = 0.0\nto = 0.3\nstep = 0.1").unwrap(), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(grid("from = 1\nto = 10\nper_decade = 6").unwrap(), ["1", "2", "3", "5", "7", "10"]);
        for wrong in ["per_decade = 0", "step = \"0 ms\"", "step = \"1 s\"", "per_decade = 3\nstep = \"1 ms\"", ""] {
            assert!(grid(&format!("from = \"1 ms\"\nto = \"9 ms\"\n{wrong}")).is_err(), "{wrong}");
        }
        assert!(grid("from = \"9 ms\"\nto = \"1 ms\"\nstep = \"1 ms\"").unwrap_err().contains("at least"));
        assert!(grid("from = true\nto = 1\nstep = 1").unwrap_err().contains("not a number"));
    }

    #[test]
    fn the_nearest_value_is_nearest_by_ratio_whatever_its_unit() {
        let list: Vec<Value> = ["1 ms", "10 ms", "100 ms"].map(Value::from).to_vec();
        assert_eq!(closest(&list, &Value::from("0.02 s")), Some(1));
        assert_eq!(closest(&list, &Value::from("40 ms")), Some(2));
        assert_eq!(closest(&list, &Value::from("4 packets")), None);
    }

    #[test]
    fn landmarks_are_places_of_the_grid() {
        let variation: Variation = toml::from_str(
            "from = \"1 ms\"\nto = \"1000 ms\"\nper_decade = 1\nlandmarks = [\"200 ms\", \"1 s\", \"0.2 s\"]",
        )
        .unwrap();
        let Domain::Ordered { values, landmarks } = variation.resolve().unwrap().0.domain else { panic!() };
        assert_eq!((values, landmarks), (4, vec![2, 3]));
    }
}
