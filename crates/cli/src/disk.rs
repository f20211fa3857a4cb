//! Files written to disk, so that they are there after a power failure too: everything that this command writes into a
//! directory of results goes through here.
//!
//! Data that a program has written, and changes to a directory, are in memory at first. The disk has them for certain only
//! after `fsync` of the file and of the directory that names it (POSIX; fsync(2)), and a rename may reach the disk before
//! the content of the file. So a draft is synced with all that is in it, then moved, and then the directory that it was moved
//! in is synced.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

#[cfg(test)]
mod journal;
#[cfg(test)]
mod tests;
#[cfg(test)]
use journal::{Step, note};

/// Makes a directory.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    #[cfg(test)]
    note(&Step::MakeDirectory(path.into()));
    Ok(())
}

/// Makes a directory with its parents. They are on disk afterwards.
pub(crate) fn make_directories(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> =
        path.ancestors().take_while(|part| !part.as_os_str().is_empty() && !part.exists()).collect();
    for directory in missing.into_iter().rev() {
        match make_directory(directory) {
            Ok(()) => sync(parent(directory))?,
            Err(e) if e.kind() == ErrorKind::NotFound && parent(directory).is_dir() => return Err(takes_nothing()),
            // Somebody else was faster, or has taken away what it is in.
            Err(e) if matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
            Err(e) => return Err(e),
        }
    }
    fs::create_dir_all(path)
}

/// Why nothing can be made in a directory that is there: /proc is such a one.
pub(crate) fn takes_nothing() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "no files can be made in its file system")
}

/// Makes a file that is not there yet.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let file = File::create_new(path)?;
    #[cfg(test)]
    note(&Step::Create(path.into()));
    Ok(file)
}

/// Writes into the file that is at `path`.
pub(crate) fn fill(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    #[cfg(test)]
    note(&Step::Write(path.into(), bytes.into()));
    #[cfg(not(test))]
    let _ = path;
    Ok(())
}

/// Moves `from`, with its content, to `to` in the same directory. Afterwards the disk has it there, or
/// as it was before, never a part of it.
pub(crate) fn place(from: &Path, to: &Path) -> io::Result<()> {
    settle(from)?;
    rename(from, to)
}

/// Renames a file or directory on disk within its directory.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    #[cfg(test)]
    note(&Step::Rename(from.into(), to.into()));
    sync(parent(to))
}

/// Removes a file, or a directory with all that is in it. It need not be gone after a power failure.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path).or_else(|_| fs::remove_dir_all(path))?;
    #[cfg(test)]
    note(&Step::Remove(path.into()));
    Ok(())
}

/// Removes a directory that nothing is in.
pub(crate) fn remove_directory(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)?;
    #[cfg(test)]
    note(&Step::Remove(path.into()));
    Ok(())
}

/// Syncs a file, or a directory after all that is in it.
fn settle(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            settle(&entry?.path())?;
        }
    }
    sync(path)
}

fn sync(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    match file.sync_all() {
        // File systems that cannot sync a directory say so; there is nothing more to be done there.
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {}
        synced => synced?,
    }
    #[cfg(test)]
    note(&Step::Sync(path.into()));
    Ok(())
}

/// The parent of a path, be it the directory that the command runs in.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
