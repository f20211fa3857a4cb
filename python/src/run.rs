//! Runs from Python: the interpreter's lock is free meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use penstock_cli::library;
use penstock_scenario::world::{Run, RunError};
use pyo3::prelude::*;

use crate::error;
use crate::law::raised;
use crate::looks::Looks;
use crate::packets::{Packets, Watch};
use crate::record::Record;
use crate::scenario::{Ready, Scenario};

/// Runs a scenario. See `penstock.run`.
#[pyfunction]
#[pyo3(signature = (scenario, world, seed, series, packets, out, progress))]
#[expect(clippy::too_many_arguments, reason = "only `penstock.run` calls it")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    world: &str,
    seed: Option<u64>,
    series: bool,
    packets: bool,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Record> {
    raised::refuse_in_law()?;
    let world = library::world(world).map_err(|e| error::of(py, &e))?;
    if packets && world.name() != "packets" {
        let message = format!(
            "the {} world has no packets to record: leave out packets, or choose the packets world",
            world.name()
        );
        return Err(error::of_class(py, "UnsupportedError", &message));
    }
    let Ready { cell, changes, stem } = scenario.get().ready(py, seed)?;
    let looks = Arc::new(Looks::begin());
    let mut watch = Watch { looks: Arc::clone(&looks), progress, packets: packets.then(Packets::default) };
    // A panic of a run is a bug, and no reason for the interpreter to end.
    let run = || py.detach(|| catch_unwind(AssertUnwindSafe(|| library::run(world.as_ref(), &cell, &mut watch))));
    let (ran, of_law) = raised::here(run);
    let packets = watch.packets.take();
    if let Some(raised) = of_law.or_else(|| looks.raised()) {
        return Err(raised);
    }
    let ran = ran.map_err(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        error::of_class(py, "BugError", what.unwrap_or("panic"))
    })?;
    let (run, cost) = ran.map_err(|e: RunError| error::of_run(py, &e))?;
    let run = if series { run } else { Run { series: Vec::new(), ..run } };
    Record::of(py, (cell, changes, &stem), (run, packets), cost, out)
}
