//! The native half of the Python package `penstock`.
//!
//! It holds what Python cannot do itself: scenarios, runs and tables. Classes that are made of numbers and texts are in
//! `python/penstock/`.

#![allow(clippy::needless_pass_by_value, reason = "arguments that come from Python are values")]

mod arrow;
mod command;
mod error;
mod gym;
mod law;
mod looks;
mod number;
mod packets;
mod plain;
mod record;
mod run;
mod scenario;
mod sweep;
mod theory;

use pyo3::pymodule;

/// The extension module, `penstock._native`.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::arrow::Table;
    #[pymodule_export]
    use crate::command::{answer, command, init};
    #[pymodule_export]
    use crate::gym::Simulations;
    #[pymodule_export]
    use crate::law::{AqmObservation, Laws, SenderObservation, classes, register, unregister};
    #[pymodule_export]
    use crate::number::{PyDual, clamp, exp, log, max, min, pow, sqrt};
    #[pymodule_export]
    use crate::record::Record;
    #[pymodule_export]
    use crate::run::run;
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::sweep::{Cells, Measured, run_cells};
    #[pymodule_export]
    use crate::theory::Loop;

    use pyo3::prelude::*;

    /// Gives the module the version of the package.
    #[pymodule_init]
    fn begin(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// The JSON Schema of a summary, of which `python/penstock/summary.py` is made.
    #[pyfunction]
    fn summary_schema() -> String {
        let schema = schemars::schema_for!(penstock_scenario::summary::Summary);
        schema.to_value().to_string()
    }
}
