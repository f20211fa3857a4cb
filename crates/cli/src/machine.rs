//! Where a run took place.

use std::fs;

use indexmap::IndexMap;
use penstock_scenario::record::{Origin, Provenance};
use penstock_scenario::world::Run;

/// What computes results of a world here: this program.
pub(crate) fn origin(world: &str) -> Origin {
    Origin {
        world: world.to_owned(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: option_env!("PENSTOCK_COMMIT").map(Into::into),
    }
}

/// What a record says of where it comes from.
pub(crate) fn provenance(run: &Run, labels: &[(String, String)]) -> Provenance {
    Provenance {
        origin: origin(&run.summary.world),
        wall_s: run.summary.engine.wall_s,
        labels: labels.iter().cloned().collect(),
        machine: machine(),
    }
}

/// The same for a page.
pub(crate) fn facts() -> Vec<(String, String)> {
    let version = ("penstock".to_owned(), crate::VERSION.to_owned());
    std::iter::once(version).chain(machine()).collect()
}

/// What is known of this machine, by name: a record that is read back has that order.
fn machine() -> IndexMap<String, String> {
    let mut known = IndexMap::new();
    if let Ok(release) = fs::read_to_string("/proc/sys/kernel/osrelease") {
        known.insert("kernel".to_owned(), release.trim().to_owned());
    }
    if let Ok(info) = fs::read_to_string("/proc/cpuinfo")
        && let Some((_, model)) = info.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split_once(':'))
    {
        known.insert("processor".to_owned(), model.trim().to_owned());
    }
    if let Ok(processors) = std::thread::available_parallelism() {
        known.insert("processors".to_owned(), processors.to_string());
    }
    known.insert("system".to_owned(), format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    known
}
