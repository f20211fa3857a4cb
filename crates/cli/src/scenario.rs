//! Scenario files as arguments of the command.

use std::fs;
use std::path::{Path, PathBuf};

use penstock_fluid::Fluid;
use penstock_packets::Packets;
use penstock_scenario::read::{Cell, Document};
use penstock_scenario::world::World;

use crate::arguments::{Changes, WorldName};
use crate::failure::Failure;

/// The largest scenario file or trace that is read [B].
const LARGEST: u64 = 64_000_000;

/// Reads a text file that somebody named.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    read(path).map_err(|why| Failure::Input(format!("cannot read {}: {why}", path.display())))
}

fn read(path: &Path) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|e| e.to_string())?;
    if about.is_dir() {
        return Err("it is a directory; name a file in it".into());
    }
    if about.len() > LARGEST {
        return Err(format!("it has {} bytes; {LARGEST} are allowed", about.len()));
    }
    fs::read_to_string(path).map_err(|e| e.to_string())
}

/// The directory `name` that is `wanted`, here or above, by the shortest path from here.
pub(crate) fn above(name: &str, wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().map(|a| a.join(name)).find(|path| wanted(path))?;
    Some(found.strip_prefix(&here).map_or_else(|_| found.clone(), Path::to_path_buf))
}

/// Reads a scenario file with `--seed` and `--set`.
pub(crate) fn document(path: &Path, seed: Option<u64>, changes: &Changes) -> Result<Document, Failure> {
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    // A trace that cannot be read is told at the place that names it.
    let load = move |name: &str| read(&folder.join(name));
    let mut document = Document::parse_with(&text(path)?, &path.display().to_string(), load).map_err(Failure::input)?;
    if let Some(seed) = seed {
        document.set("seed", &seed.to_string()).map_err(Failure::input)?;
    }
    for change in &changes.set {
        let Some((key, value)) = change.split_once('=') else {
            let what = format!("--set {change}: no `=`; write it as in --set links.bottleneck.rate=\"100 Mbit/s\"");
            return Err(Failure::Input(what));
        };
        document.set(key.trim(), value.trim()).map_err(Failure::input)?;
    }
    Ok(document)
}

/// The cells of a document.
pub(crate) fn cells(document: &Document) -> Result<Vec<Cell>, Failure> {
    document.cells().map_err(Failure::input)
}

/// The name of a file without folders and ending.
pub(crate) fn stem(path: &Path) -> String {
    let stem = path.file_stem().map(|s| crate::folder::slug(&s.to_string_lossy())).unwrap_or_default();
    if stem.is_empty() { "scenario".into() } else { stem }
}

/// The world of that name.
pub(crate) fn world(name: WorldName) -> Result<Box<dyn World + Sync>, Failure> {
    match name {
        WorldName::Packets => Ok(Box::new(Packets)),
        WorldName::Fluid => Ok(Box::new(Fluid::default())),
        #[cfg(target_os = "linux")]
        WorldName::Linux => Ok(Box::new(penstock_linux::run::Linux)),
        #[cfg(not(target_os = "linux"))]
        WorldName::Linux => Err(Failure::Machine("this is not Linux: run it on a Linux machine".into())),
    }
}
