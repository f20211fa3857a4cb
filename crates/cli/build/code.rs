//! Which code computes results: a hash of the sources of every crate whose code can change one.
//!
//! Every crate counts but those named in [`BESIDE`], so that a new one counts until it is added there. Of a crate
//! count its sources, its manifest and its build script; of the workspace the manifest, whose profiles decide how it is
//! compiled, `Cargo.lock`, which has the checksum of every library, the kernel implementations in `bpf/`, and the compiler's version.
//! Places and times of files do not count: the same sources give the same hash on every machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The crates that compute no result: the command hands a resolved scenario to a world and writes its results; the
/// others read written files.
const BESIDE: [&str; 6] = ["cli", "evaluation", "fuzz", "papers", "report", "surface"];

/// The files and directories below `root`, a workspace, that the hash is of, sorted.
pub(crate) fn counted(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut places: Vec<PathBuf> = ["Cargo.toml", "Cargo.lock", "bpf"].map(PathBuf::from).into();
    for entry in fs::read_dir(root.join("crates"))? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() && !BESIDE.iter().any(|beside| name == *beside) {
            let room = Path::new("crates").join(name);
            places.extend(["Cargo.toml", "build.rs", "src"].map(|part| room.join(part)));
        }
    }
    places.retain(|place| root.join(place).exists());
    places.sort();
    Ok(places)
}

/// The hash, in hexadecimal digits; none where `root` is not the workspace.
pub(crate) fn hash(root: &Path, compiler: &str) -> io::Result<Option<String>> {
    if ["Cargo.lock", "bpf", "crates/law/src", "crates/packets/src"].iter().any(|part| !root.join(part).exists()) {
        return Ok(None);
    }
    let mut files = Vec::new();
    for place in counted(root)? {
        collect(root, &place, &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        // The length in front: no two lists of parts are the same bytes.
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(compiler.as_bytes());
    for (name, path) in files {
        part(name.as_bytes());
        part(&fs::read(path)?);
    }
    Ok(Some(hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))))
}

/// The files at and below `place`, with their names from the root on; hidden ones are an editor's.
fn collect(root: &Path, place: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    let path = root.join(place);
    if !path.is_dir() {
        let parts: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
        files.push((parts.join("/"), path));
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        if !name.to_string_lossy().starts_with('.') {
            collect(root, &place.join(name), files)?;
        }
    }
    Ok(())
}
