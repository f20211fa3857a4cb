//! The sweep that a directory is of, so that no other replaces it: `source.json`.
//!
//! A directory is called after the scenario's file, and other folders may have a file of that name. The file itself may
//! change from one run to the next: that is how a sweep grows.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use penstock_record::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::batch::Batch;
use crate::failure::Failure;
use crate::folder::{Folder, unwritable};
use crate::named::Shown as _;
use crate::record;
use crate::{content, disk, scenario};

/// The file's name.
const NAME: &str = "source.json";

/// The name of standard input, which has no path. A scenario from there is known by its text alone.
const PIPE: &str = "/dev/stdin";

/// Which sweep a directory is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Source {
    format: u32,
    /// The scenario's file, relative to the directory: it stays true where both are moved. [`PIPE`] for standard input.
    file: String,
    /// The SHA-256 of its text.
    sha256: String,
    world: String,
}

/// Sees whether `folder`, which is open, is of this sweep or of none yet, and writes down that it is. `shared` tells whether it
/// has results that this sweep would compute again: they say more than names of files.
pub(crate) fn claim(folder: &Folder, batch: &Batch, world: &str, shared: &dyn Fn() -> bool) -> Result<(), Failure> {
    let path = folder.path();
    let piped = scenario::is_stdin(&batch.file);
    let file = if piped { PathBuf::from(PIPE) } else { seen_from(path, &batch.file) };
    let ours = Source {
        format: 1,
        file: file.to_string_lossy().into_owned(),
        sha256: hexadecimal(&Sha256::digest(&batch.text)),
        world: world.to_owned(),
    };
    let theirs = match content::read(&path.join(NAME), content::HEADER) {
        Ok(bytes) => serde_json::from_slice::<Source>(&bytes).ok(),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => return Err(unwritable(&path.join(NAME), &e)),
    };
    let same = match &theirs {
        Some(theirs) if theirs.world != ours.world => false,
        // Two texts from standard input have nothing in common but their way.
        Some(theirs) if theirs.file == PIPE && theirs.sha256 != ours.sha256 => false,
        Some(theirs) if theirs.file == ours.file => true,
        // It was moved or copied, or is seen from another machine.
        Some(theirs) => (theirs.sha256 == ours.sha256 || !path.join(&theirs.file).exists()) && shared(),
        None => shared(),
    };
    if !same && !is_empty(path).map_err(|e| unwritable(path, &e))? {
        let of = theirs.map_or_else(
            || "holds something else".to_owned(),
            |Source { file, world, sha256, .. }| {
                let file = match (file == PIPE, piped && sha256 != ours.sha256) {
                    (true, true) => "another scenario from standard input".to_owned(),
                    (true, false) => "a scenario from standard input".to_owned(),
                    (false, _) => joined(path, &file).shown(),
                };
                format!("has the sweep of {file} in the {world} world")
            },
        );
        let file = if piped { "standard input".to_owned() } else { batch.file.shown() };
        return Err(Failure::Input(format!(
            "{} {of}, and that of {file} in the {world} world would replace its sweep.json; choose another directory \
             with --out DIR",
            path.shown(),
        )));
    }
    if theirs.as_ref() != Some(&ours) {
        let value = serde_json::to_value(&ours).map_err(|e| Failure::Bug(e.to_string()))?;
        folder.put_file(NAME, &record::bytes(&value)?)?;
    }
    Ok(())
}

/// Takes the file away again where there is nothing else.
pub(crate) fn give_up(folder: &Folder) {
    if is_empty(folder.path()).is_ok_and(|empty| empty) {
        let _ = disk::remove(&folder.path().join(NAME));
    }
}

/// Whether a directory has no files of a user.
fn is_empty(path: &Path) -> std::io::Result<bool> {
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        if name != NAME && !name.to_string_lossy().starts_with('.') {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A file as it is named from a directory.
fn seen_from(directory: &Path, file: &Path) -> PathBuf {
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or(path.to_path_buf());
    let (from, to) = (whole(directory), whole(file));
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// That file as somebody reads it: `out/x` and `../../a/x.toml` are `a/x.toml`.
fn joined(directory: &Path, file: &str) -> PathBuf {
    let mut path = directory.to_path_buf();
    for part in Path::new(file).components() {
        let up = part == Component::ParentDir && matches!(path.components().next_back(), Some(Component::Normal(_)));
        if up {
            path.pop();
        } else {
            path.push(part);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_from_the_directory_and_read_from_here() {
        assert_eq!(seen_from(Path::new("/a/out/x"), Path::new("/a/b/x.toml")), Path::new("../../b/x.toml"));
        assert_eq!(seen_from(Path::new("/none/out"), Path::new("/none/out/x.toml")), Path::new("x.toml"));
        assert_eq!(joined(Path::new("out/x"), "../../b/x.toml"), Path::new("b/x.toml"));
        assert_eq!(joined(Path::new("out"), "../../b/x.toml"), Path::new("../b/x.toml"));
    }
}
