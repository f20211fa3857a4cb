//! The numbers of a draft, and where they stand.

use toml::Value;

use crate::draft::Draft;
use crate::space::{amount, written};

/// The position of a number: a key, and an index in each list below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    key: String,
    places: Vec<usize>,
    last: bool,
}

/// A duration as a scenario has it [s].
pub(crate) fn seconds(text: &str) -> Option<f64> {
    penstock_scenario::quantity::time(text).ok().map(penstock_law::quantity::Time::seconds)
}

impl Spot {
    /// Every number of a draft, with or without a unit.
    pub(crate) fn all(draft: &Draft) -> Vec<Self> {
        let mut spots = Vec::new();
        for (key, value) in draft.leaves() {
            visit(&key, &value, &mut Vec::new(), true, &mut spots);
        }
        spots
    }

    /// The key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// True if it is the last value of its list, or the only one.
    pub(crate) const fn is_last(&self) -> bool {
        self.last
    }

    /// True if it is in a list.
    pub(crate) const fn is_in_list(&self) -> bool {
        !self.places.is_empty()
    }

    /// The number, in its own unit.
    pub(crate) fn amount(&self, draft: &Draft) -> Option<f64> {
        self.quantity(draft).map(|(number, _)| number)
    }

    /// The number and its unit.
    pub(crate) fn quantity(&self, draft: &Draft) -> Option<(f64, String)> {
        amount(self.value(draft)?)
    }

    fn value<'a>(&self, draft: &'a Draft) -> Option<&'a Value> {
        self.places.iter().try_fold(draft.get(&self.key)?, |value, at| value.get(at))
    }

    /// The draft with another number here, in so many significant digits.
    pub(crate) fn with(&self, draft: &Draft, number: f64, digits: usize) -> Option<Draft> {
        let before = self.value(draft)?;
        let (_, unit) = amount(before)?;
        self.replaced(draft, written(number, &unit, digits, before))
    }

    fn replaced(&self, draft: &Draft, by: Value) -> Option<Draft> {
        let mut whole = draft.get(&self.key)?.clone();
        let mut here = &mut whole;
        for at in &self.places {
            here = here.get_mut(at)?;
        }
        *here = by;
        Some(draft.with(&self.key, whole))
    }

    /// Drafts with a rounder number here: 1, 2 or 5 as the only digit, one digit, two digits.
    pub(crate) fn rounder(&self, draft: &Draft) -> Vec<Draft> {
        let Some(number) = self.amount(draft).filter(|number| *number > 0.0) else { return Vec::new() };
        let power = libm::pow(10.0, libm::floor(libm::log10(number)));
        let nice = [1.0, 2.0, 5.0, 10.0].into_iter().min_by(|a, b| {
            let far = |nice: f64| libm::log(nice * power / number).abs();
            far(*a).total_cmp(&far(*b))
        });
        let nice = nice.unwrap_or(1.0) * power;
        // What is that round already stays.
        let digits = |number: f64| {
            (1..=6)
                .find(|digits| {
                    let text = format!("{:.*e}", digits - 1, number);
                    text.parse::<f64>().is_ok_and(|rounded| rounded == number)
                })
                .unwrap_or(7)
        };
        let now = digits(number);
        if now == 1 && number == nice {
            return Vec::new();
        }
        let mut candidates = Vec::new();
        if now > 1 {
            candidates.push((nice, 1));
            candidates.push((number, 1));
        }
        if now > 2 {
            candidates.push((number, 2));
        }
        candidates.into_iter().filter_map(|(number, digits)| self.with(draft, number, digits)).collect()
    }
}

fn visit(key: &str, value: &Value, places: &mut Vec<usize>, last: bool, spots: &mut Vec<Spot>) {
    if let Value::Array(list) = value {
        for (at, inner) in list.iter().enumerate() {
            places.push(at);
            visit(key, inner, places, at + 1 == list.len(), spots);
            places.pop();
        }
    } else if amount(value).is_some() {
        spots.push(Spot { key: key.to_owned(), places: places.clone(), last });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_rounder() {
        let draft = Draft::parse("x = [\"0 ms\", \"38.27 ms\"]\ny = 7\nz = \"word\"").unwrap();
        let spots = Spot::all(&draft);
        assert_eq!(spots.len(), 3);
        let texts: Vec<String> = spots[1].rounder(&draft).iter().map(|d| d.get("x").unwrap()[1].to_string()).collect();
        assert_eq!(texts, ["\"50 ms\"", "\"40 ms\"", "\"38 ms\""]);
        assert!(spots[0].rounder(&draft).is_empty() && spots[2].rounder(&draft).is_empty());
        assert_eq!((spots[1].is_last(), spots[0].is_last()), (true, false));
    }
}
