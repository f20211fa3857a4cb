//! A heat map: numbers over two axes, each with a colour, a pure value.

use serde::{Deserialize, Serialize};

use crate::figure::Scale;

/// A number for each pair of two axes' values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Its title.
    pub title: String,
    /// The columns, from left to right.
    pub x: HeatAxis,
    /// The rows, from top to bottom.
    pub y: HeatAxis,
    /// The unit of the numbers, without prefix; empty for pure numbers.
    #[serde(default)]
    pub unit: String,
    /// The number of each column, row by row; none where there is none.
    pub rows: Vec<Vec<Option<f64>>>,
    /// The numbers with the first and the last colour. Maps that are compared have the same.
    pub range: (f64, f64),
    /// Scale from numbers to colours.
    #[serde(default)]
    pub scale: Scale,
}

/// An axis of a heat map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeatAxis {
    /// Its name.
    pub label: String,
    /// Its values in words.
    pub values: Vec<String>,
}

impl HeatMap {
    /// Which of so many colours a number has, from zero: the first where all numbers are the same.
    pub(crate) fn colour(&self, number: f64, colours: usize) -> usize {
        let (low, high) = self.range;
        let log = self.scale == Scale::Log && low > 0.0 && number > 0.0;
        let place = |x: f64| if log { libm::log(x) } else { x };
        let share = (place(number) - place(low)) / (place(high) - place(low));
        // NaN becomes zero: all numbers are the same then.
        ((share * colours as f64) as usize).min(colours.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(range: (f64, f64), scale: Scale) -> HeatMap {
        let axis = HeatAxis::default();
        HeatMap { title: String::new(), x: axis.clone(), y: axis, unit: String::new(), rows: Vec::new(), range, scale }
    }

    /// Five colours of a fifth each, or of a fifth of the logarithms.
    #[test]
    fn colours_divide_the_range() {
        let linear = map((10.0, 20.0), Scale::Linear);
        let found = [10.0, 11.9, 12.1, 19.9, 20.0].map(|number| linear.colour(number, 5));
        assert_eq!(found, [0, 0, 1, 4, 4]);
        let log = map((1.0, 1e5), Scale::Log);
        assert_eq!([1.0, 9.0, 11.0, 9e4, 1e5].map(|number| log.colour(number, 5)), [0, 0, 1, 4, 4]);
        // Beyond the range, and without one.
        assert_eq!([linear.colour(5.0, 5), linear.colour(50.0, 5)], [0, 4]);
        assert_eq!(map((2.0, 2.0), Scale::Log).colour(2.0, 5), 0);
        assert_eq!(map((0.0, 8.0), Scale::Log).colour(4.5, 4), 2, "zero has no logarithm");
    }
}
