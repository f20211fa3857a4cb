//! The numbers of runs, by cell, law and seed.

use indexmap::IndexMap;

/// Labels of a cell.
pub(crate) type Labels = Vec<(String, String)>;
/// A number for each seed that has one; infinite beside nothing.
pub(crate) type Seeded = IndexMap<u64, f64>;
/// The numbers of each law in each cell.
pub(crate) type Groups = IndexMap<Labels, IndexMap<String, Seeded>>;
