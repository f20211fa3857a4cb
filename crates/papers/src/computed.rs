//! Results of an analysis or a formula instead of a run.

use penstock_fluid::phase::NyquistPoint;

use crate::cell::Cell;

/// The gain of a loop along the frequency.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Whether it is there to be compared with: dashed.
    pub comparison: bool,
    /// Its points, by frequency.
    pub points: Vec<NyquistPoint>,
}

/// The cells of an item that was analysed or computed, and its loops.
#[derive(Debug, Clone)]
pub struct Computed {
    /// One a combination of values, with the numbers that claims measure.
    pub cells: Vec<Cell>,
    /// Loops, named for their cells.
    pub curves: Vec<Curve>,
}
