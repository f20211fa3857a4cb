//! The command `penstock`, started by Python.

use std::ffi::OsString;

use penstock_law::Registry;
use pyo3::prelude::*;

/// Runs the command with these arguments, the name of the program first, and returns its exit status.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| penstock_cli::run_with(Registry::standard(), arguments))
}
