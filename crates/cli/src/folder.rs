//! Where records go: each is written beside its place and moved there when complete, and nothing is ever overwritten.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::failure::Failure;

/// A file of a record: its name, which may have folders, and its bytes.
pub(crate) type File = (String, Vec<u8>);

/// A directory that records go to, seen to be writable.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Opens `path`, which is made if it does not exist, and tries whether it can be written to: before anything runs.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|e| unwritable(path, &e))?;
        let folder = Self(path.to_path_buf());
        let probe = Partial::new(&folder, "probe").map_err(|e| unwritable(path, &e))?;
        drop(probe);
        Ok(folder)
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a record under a fresh name: `name`, or else `name-2`, `name-3` and so on.
    pub(crate) fn put(&self, name: &str, files: &[File]) -> Result<PathBuf, Failure> {
        let partial = Partial::new(self, name).map_err(|e| unwritable(&self.0, &e))?;
        for (file, bytes) in files {
            let path = partial.0.join(file);
            let parent = path.parent().unwrap_or(&partial.0);
            fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes)).map_err(|e| unwritable(&path, &e))?;
        }
        for place in self.fresh(name) {
            match fs::rename(&partial.0, &place) {
                Ok(()) => return Ok(place),
                // Somebody else was faster: the next name.
                Err(e) if matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {}
                Err(e) => return Err(unwritable(&place, &e)),
            }
        }
        Err(Failure::Bug(format!("no fresh name for {name}")))
    }

    /// Makes a directory under a fresh name, for the records of a sweep.
    pub(crate) fn inside(&self, name: &str) -> Result<Self, Failure> {
        for place in self.fresh(name) {
            match fs::create_dir(&place) {
                Ok(()) => return Ok(Self(place)),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(unwritable(&place, &e)),
            }
        }
        Err(Failure::Bug(format!("no fresh name for {name}")))
    }

    /// Writes one file, whole or not at all.
    pub(crate) fn put_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let place = self.0.join(name);
        let beside = self.0.join(format!(".{name}.partial-{}", process::id()));
        let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, &place));
        if let Err(e) = written {
            let _ = fs::remove_file(&beside);
            return Err(unwritable(&place, &e));
        }
        Ok(place)
    }

    /// Takes the directory away if nothing was put into it.
    pub(crate) fn remove_if_empty(&self) {
        let _ = fs::remove_dir(&self.0);
    }

    /// Names that nothing has yet, one after the other.
    fn fresh(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let plain = self.0.join(name);
        let others = (2..).map({
            let (folder, name) = (self.0.clone(), name.to_owned());
            move |n: u32| folder.join(format!("{name}-{n}"))
        });
        std::iter::once(plain).chain(others).filter(|place| fs::symlink_metadata(place).is_err())
    }
}

/// A directory that is not complete; it disappears unless it is moved away.
#[derive(Debug)]
struct Partial(PathBuf);

impl Partial {
    fn new(folder: &Folder, name: &str) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // Cells of one sweep may have the same name, and are written at the same time.
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.0.join(format!(".{name}.partial-{}-{count}", process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Input(format!(
        "cannot write to {}: {error}; choose another place with --out DIR, or make room and rights there",
        path.display()
    ))
}

/// A text as part of a file name: letters, digits and dashes.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '.' || c == '_' {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches(['-', '.']).chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_record_gets_a_fresh_name_and_leaves_nothing_beside() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::open(&home.path().join("deep/out")).unwrap();
        let file = |text: &str| vec![("cells/summary.json".to_owned(), text.as_bytes().to_vec())];
        folder.put("fig1", &file("one")).unwrap();
        let second = folder.put("fig1", &file("two")).unwrap();
        assert_eq!(names(folder.path()), ["fig1", "fig1-2"]);
        assert_eq!(fs::read(second.join("cells/summary.json")).unwrap(), b"two");
        folder.inside("fig1").unwrap();
        assert_eq!(names(folder.path()), ["fig1", "fig1-2", "fig1-3"]);
    }

    #[test]
    fn a_record_that_cannot_be_finished_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::open(home.path()).unwrap();
        // A file cannot have a file below it.
        let files = [("a".to_owned(), Vec::new()), ("a/b".to_owned(), Vec::new())];
        assert!(matches!(folder.put("fig1", &files), Err(Failure::Input(_))));
        assert!(names(home.path()).is_empty());
    }

    #[test]
    fn a_place_that_cannot_be_written_to_is_found_at_once() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("file"), "").unwrap();
        let failure = Folder::open(&home.path().join("file")).unwrap_err();
        assert_eq!(failure.status(), 2);
        assert!(failure.to_string().contains("--out DIR"), "{failure}");
    }

    #[test]
    fn slugs_are_fit_for_files() {
        assert_eq!(slug("NewReno/RED, 155 Mbit/s"), "newreno-red-155-mbit-s");
        assert_eq!(slug("../etc"), "etc");
    }
}
