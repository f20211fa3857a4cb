//! Drafts: files and directories written beside their final path under a hidden name, and gone unless moved there.
//!
//! A process that writes a draft holds a lock on it, which ends with the process however that ends. A draft without a lock
//! is left behind by a killed run, and is removed by the next that comes by.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use crate::disk;

/// A directory or file that is not complete.
#[derive(Debug)]
pub(crate) struct Draft {
    path: PathBuf,
    /// Open for as long as it is being written, and locked where the file system knows locks.
    held: File,
}

impl Draft {
    /// Begins a directory in `folder`.
    pub(crate) fn directory(folder: &Path, name: &str) -> io::Result<Self> {
        Self::begin(folder, name, |path| disk::make_directory(path).and_then(|()| File::open(path)))
    }

    /// Begins a file in `folder`.
    pub(crate) fn file(folder: &Path, name: &str) -> io::Result<Self> {
        Self::begin(folder, name, disk::create)
    }

    fn begin(folder: &Path, name: &str, create: impl Fn(&Path) -> io::Result<File>) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let mut takes_nothing = true;
        // Who removes what was abandoned may be faster than the lock; not time after time.
        for _ in 0..100 {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".{name}{PARTIAL}{}-{count}", process::id()));
            let held = match create(&path) {
                Ok(held) => held,
                Err(e) if e.kind() == ErrorKind::NotFound && folder.is_dir() => continue,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                    takes_nothing = false;
                    continue;
                }
                Err(e) => return Err(e),
            };
            takes_nothing = false;
            let draft = Self { path, held };
            if !matches!(draft.held.try_lock(), Err(TryLockError::WouldBlock)) && draft.path.symlink_metadata().is_ok()
            {
                return Ok(draft);
            }
        }
        if takes_nothing {
            return Err(disk::takes_nothing());
        }
        Err(io::Error::new(ErrorKind::ResourceBusy, "another process removes the files while they are written"))
    }

    /// Where it is for now.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes into a file.
    pub(crate) fn fill(&mut self, bytes: &[u8]) -> io::Result<()> {
        disk::fill(&mut self.held, &self.path, bytes)
    }

    /// Writes a file into a directory, at a path that may have folders. The directory itself is not made again: where
    /// the draft was moved away meanwhile, a new one under its name would be an empty sweep.
    pub(crate) fn add(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let folders = Path::new(name).parent().into_iter().flat_map(Path::ancestors);
        let mut missing: Vec<PathBuf> = folders
            .filter(|folder| !folder.as_os_str().is_empty())
            .map(|folder| self.path.join(folder))
            .take_while(|folder| !folder.exists())
            .collect();
        while let Some(folder) = missing.pop() {
            disk::make_directory(&folder)?;
        }
        disk::fill(&mut disk::create(&path)?, &path, bytes)
    }

    /// Moves it to its final path, which is free, or for a file that of an older one. Afterwards it is there for good.
    pub(crate) fn place(&self, place: &Path) -> io::Result<()> {
        disk::place(&self.path, place)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Where it was moved to its place there is none.
        let _ = disk::remove(&self.path);
    }
}

const PARTIAL: &str = ".partial-";

/// Whether a draft has such a name: `.NAME.partial-PROCESS-NUMBER`.
fn is_ours(name: &str) -> bool {
    let numbers = name.strip_prefix('.').and_then(|name| name.rsplit_once(PARTIAL)).map(|(_, numbers)| numbers);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    numbers.and_then(|numbers| numbers.split_once('-')).is_some_and(|(a, b)| digits(a) && digits(b))
}

/// Removes the drafts in `folder` that no process is writing. Those that cannot be removed stay, and so does a file that
/// only has the name of a draft: any user who may write there can make a pipe or a link of any name.
pub(crate) fn clean(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_ours)
            && let Ok(file) = OpenOptions::new().read(true).custom_flags(O_NONBLOCK | O_NOFOLLOW).open(entry.path())
            && file.metadata().is_ok_and(|about| about.is_file() || about.is_dir())
            && file.try_lock().is_ok()
        {
            let _ = disk::remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_ours() {
        for name in [".fig1.partial-12-0", ".a.b-1.partial-1-99", "..partial-1-1"] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["fig1.partial-12-0", ".fig1", ".fig1.partial-12", ".fig1.partial--1", ".git", ".x.partial-1-a"] {
            assert!(!is_ours(name), "{name}");
        }
    }

    #[test]
    fn what_somebody_writes_stays_and_what_was_abandoned_goes() {
        let home = tempfile::tempdir().unwrap();
        let abandoned = home.path().join(".old.partial-4000000-7");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join("summary.json"), "{").unwrap();
        fs::write(home.path().join(".old.json.partial-4000000-8"), "{").unwrap();
        fs::write(home.path().join(".mine"), "").unwrap();
        let directory = Draft::directory(home.path(), "new").unwrap();
        let file = Draft::file(home.path(), "new.json").unwrap();
        clean(home.path());
        assert!(directory.path().is_dir() && file.path().is_file());
        drop((directory, file));
        let left: Vec<_> = fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, [".mine"]);
    }

    #[test]
    fn a_draft_that_was_moved_away_is_not_begun_anew() {
        let home = tempfile::tempdir().unwrap();
        let sweep = home.path().join("sweep");
        fs::create_dir(&sweep).unwrap();
        let draft = Draft::directory(&sweep, "cell").unwrap();
        draft.add("a/b/first.json", b"1").unwrap();
        draft.add("a/b/second.json", b"2").unwrap();
        assert_eq!(fs::read(draft.path().join("a/b/second.json")).unwrap(), b"2");
        fs::rename(&sweep, home.path().join("moved")).unwrap();
        for name in ["cells/third.json", "third.json", "a/b/third.json"] {
            assert_eq!(draft.add(name, b"3").unwrap_err().kind(), ErrorKind::NotFound, "{name}");
        }
        assert!(!sweep.exists());
    }

    /// Opening a pipe waits for somebody at its other end, and the name of a draft is one that anybody can give.
    #[test]
    fn what_only_has_the_name_of_a_draft_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join(".x.partial-1-1");
        assert!(process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", home.path().join(".x.partial-1-2")).unwrap();
        clean(home.path());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_system_that_takes_nothing_is_not_somebody_who_removes_it() {
        for draft in [Draft::directory, Draft::file] {
            let refused = draft(Path::new("/proc"), "new").unwrap_err().to_string();
            assert_eq!(refused, "no files can be made in its file system");
        }
    }
}
