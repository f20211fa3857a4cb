//! Provenance of a run: program and machine.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

use indexmap::IndexMap;
use penstock_record::{Origin, Provenance, hexadecimal};
use penstock_scenario::summary::Summary;
use penstock_scenario::world::World;
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::registry;

/// The origin of results of a world here.
pub(crate) fn origin_in(world: &dyn World) -> Result<Origin, Failure> {
    origin(world.name(), world.awake())
}

/// The origin of results of the world with a name: this program, and whether it keeps processors awake.
pub(crate) fn origin(world: &str, awake: bool) -> Result<Origin, Failure> {
    Ok(Origin {
        world: world.to_owned(),
        code: code()?,
        version: env!("CARGO_PKG_VERSION").into(),
        commit: option_env!("PENSTOCK_COMMIT").map(Into::into),
        awake,
    })
}

/// Identity of the code that computes results. Of two builds of the same sources the results are the same, so the
/// hash of the sources that `build.rs` took is the better name: records may be shared between machines, and between
/// builds with and without optimisation. Where it was not built from the workspace, or has laws of its own, the program itself is
/// hashed. Laws that another language added are named besides, with the identity of their code.
fn code() -> Result<String, Failure> {
    let added = registry::code();
    let sources = option_env!("PENSTOCK_CODE").filter(|_| !added.is_empty() || !registry::has_own());
    let code = match sources {
        Some(sources) => format!("sources {sources}"),
        None => format!("program {}", ours()?),
    };
    Ok(if added.is_empty() { code } else { format!("{code} {added}") })
}

/// The SHA-256 of the program that runs, taken once.
fn ours() -> Result<String, Failure> {
    static OURS: OnceLock<Result<String, String>> = OnceLock::new();
    let ours = OURS.get_or_init(|| program().map_err(|e| e.to_string()));
    ours.clone().map_err(|e| {
        Failure::Machine(format!("cannot read the file of this program, whose SHA-256 identifies its results: {e}"))
    })
}

/// The SHA-256 of the program that runs, in hexadecimal digits.
fn program() -> io::Result<String> {
    // What was started, even where another file has taken its place since.
    let ours = PathBuf::from("/proc/self/exe");
    let path = if ours.exists() { ours } else { std::env::current_exe()? };
    let (mut hash, mut file, mut piece) = (Sha256::new(), File::open(path)?, vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            read => hash.update(&piece[..read]),
        }
    }
}

/// The provenance of the record of a run.
pub(crate) fn provenance(
    summary: &Summary,
    changes: &[String],
    labels: &[(String, String)],
) -> Result<Provenance, Failure> {
    let awake = summary.path.as_ref().is_some_and(|path| path.processors_awake.is_some());
    Ok(Provenance {
        origin: origin(&summary.world, awake)?,
        changes: changes.to_vec(),
        labels: labels.iter().cloned().collect(),
        machine: machine(),
    })
}

/// The same for a page.
pub(crate) fn facts() -> Vec<(String, String)> {
    let version = ("penstock".to_owned(), crate::VERSION.to_owned());
    std::iter::once(version).chain(machine()).collect()
}

/// Known facts of this machine, by name: a record that is read back has that order. They are read once, for a sweep has thousands
/// of records.
fn machine() -> IndexMap<String, String> {
    static KNOWN: LazyLock<IndexMap<String, String>> = LazyLock::new(facts_of_machine);
    KNOWN.clone()
}

fn facts_of_machine() -> IndexMap<String, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Never nothing, and never common to two different programs.
    #[test]
    fn there_is_always_a_name_for_the_code() {
        let code = code().unwrap();
        let hash = code.strip_prefix("sources ").or(code.strip_prefix("program ")).unwrap();
        assert!(hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "{code}");
        let tests = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(program().unwrap(), hexadecimal(&Sha256::digest(tests)));
    }
}
