//! Directories of records: each record is written beside its path and moved there when complete, and nothing is ever overwritten.

use std::fs::{self, File as OpenFile, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use penstock_record::hexadecimal;
use sha2::{Digest, Sha256};

use crate::disk;
use crate::draft::{self, Draft};
use crate::failure::Failure;
use crate::named::Shown as _;
use crate::terminal;

/// A file of a record: its name, which may have folders, and its bytes.
pub(crate) type File = (String, Vec<u8>);

/// A directory that records go to.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Which directories were made for it, the innermost first. They go again where nothing was put into them.
    made: Vec<PathBuf>,
    /// Open and locked for as long as nobody else shall write there.
    held: Option<OpenFile>,
}

/// Other processes that may write to the directory of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nobody.
    Wait,
    /// Those who run other shards of it.
    Share,
}

impl Folder {
    /// Opens `path`, which is made if it does not exist, and tries whether it can be written to: before anything runs.
    /// Unfinished files of killed runs are removed.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let missing = path.ancestors().take_while(|part| !part.as_os_str().is_empty() && !part.exists());
        let folder = Self { path: path.to_path_buf(), made: missing.map(Path::to_path_buf).collect(), held: None };
        disk::make_directories(path).map_err(|e| unwritable(path, &e))?;
        draft::clean(path);
        folder.draft("probe").map(drop)?;
        Ok(folder)
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a record.
    pub(crate) fn draft(&self, name: &str) -> Result<Draft, Failure> {
        self.still_here()?;
        let draft = Draft::directory(&self.path, name).or_else(|e| match e.kind() {
            // Whoever made the directory has taken it away, for there was nothing in it yet.
            ErrorKind::NotFound if self.held.is_none() => {
                disk::make_directories(&self.path).and_then(|()| Draft::directory(&self.path, name))
            }
            _ => Err(e),
        });
        draft.map_err(|e| self.failed(&self.path, &e))
    }

    /// Writes a record under a fresh name: `name`, or else `name-2`, `name-3` and so on.
    pub(crate) fn put(&self, name: &str, files: &[File]) -> Result<PathBuf, Failure> {
        self.complete(&self.draft(name)?, name, files)
    }

    /// The same for a record that was begun: with these files it is complete.
    pub(crate) fn complete(&self, draft: &Draft, name: &str, files: &[File]) -> Result<PathBuf, Failure> {
        self.still_here()?;
        for (file, bytes) in files {
            // The draft's hidden name says nothing to people.
            draft.add(file, bytes).map_err(|e| self.failed(&self.path.join(name).join(file), &e))?;
        }
        self.to_fresh(name, |place| draft.place(place))
    }

    /// Opens the directory `name` of a sweep, new or with records from before, and keeps `others` out of it. The lock is
    /// on the directory itself and ends with the process, however that ends.
    pub(crate) fn resume(&self, name: &str, others: Others) -> Result<Self, Failure> {
        let path = self.path.join(name);
        if path.join("record.toml").exists() {
            return Err(Failure::Input(format!(
                "{} is the record of a run; choose another directory for the sweep with --out DIR",
                path.shown()
            )));
        }
        // Who stops before anything is complete takes the directory away, perhaps just now; not time after time.
        for _ in 0..100 {
            disk::make_directories(&path).map_err(|e| unwritable(&path, &e))?;
            let held = match OpenFile::open(&path) {
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                held => held.map_err(|e| unwritable(&path, &e))?,
            };
            let locked = match others {
                Others::Wait => held.try_lock(),
                Others::Share => held.try_lock_shared(),
            };
            match locked {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Failure::Input(format!(
                        "another run writes to {}; wait until it ends, or choose another directory with --out DIR",
                        path.shown()
                    )));
                }
                Err(TryLockError::Error(e)) => terminal::note(format!(
                    "cannot lock {} ({e}): make sure that no other process writes there",
                    path.shown()
                )),
            }
            if is_at(&held, &path) {
                draft::clean(&path);
                return Ok(Self { path, made: Vec::new(), held: Some(held) });
            }
        }
        Err(Failure::Input(format!(
            "{} appears and disappears; check for other processes that write \
                                    there",
            path.shown()
        )))
    }

    /// Fails where the directory of a sweep is no longer the one that was opened. Files written then would stand
    /// beside the cells that are there, and without the lock.
    fn still_here(&self) -> Result<(), Failure> {
        if self.held.as_ref().is_none_or(|held| is_at(held, &self.path)) {
            return Ok(());
        }
        let path = self.path.shown();
        Err(Failure::Input(format!(
            "{path} was moved or removed while cells were written to it; complete ones are where it is now, and the same \
             command goes on there with --out DIR"
        )))
    }

    /// Why something could not be written at `path`: the directory may have gone in the middle of it.
    fn failed(&self, path: &Path, error: &io::Error) -> Failure {
        self.still_here().err().unwrap_or_else(|| unwritable(path, error))
    }

    /// Writes one file, whole or not at all.
    pub(crate) fn put_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        self.put_file_in("", name, bytes)
    }

    /// The same in a folder of the directory, which never has an unfinished file.
    pub(crate) fn put_file_in(&self, below: &str, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        self.still_here()?;
        let place = self.path.join(below).join(name);
        Draft::file(&self.path, name)
            .and_then(|mut draft| draft.fill(bytes).and_then(|()| draft.place(&place)))
            .map_err(|e| self.failed(&place, &e))?;
        terminal::detail(format!("wrote {}", place.shown()));
        Ok(place)
    }

    /// Makes a folder of the directory, if it is not there.
    pub(crate) fn make(&self, below: &str) -> Result<(), Failure> {
        self.still_here()?;
        let place = self.path.join(below);
        disk::make_directories(&place).map_err(|e| self.failed(&place, &e))
    }

    /// Gives a record or file that is not whole another name in the directory: `NAME.damaged`, or `NAME.damaged-2` and so on.
    pub(crate) fn set_aside(&self, record: &Path) -> Result<PathBuf, Failure> {
        let name = record.file_name().unwrap_or_default().to_string_lossy();
        self.to_fresh(&format!("{name}.damaged"), |place| disk::rename(record, place))
    }

    /// Takes the directory away if nothing was put into it.
    pub(crate) fn remove_if_empty(&self) {
        let _ = disk::remove_directory(&self.path);
    }

    /// Calls the maker of `name`, or else of `name-2`, `name-3` and so on, where there is nothing yet.
    fn to_fresh(&self, name: &str, make: impl Fn(&Path) -> io::Result<()>) -> Result<PathBuf, Failure> {
        let others = (2..u32::MAX).map(|n| format!("{name}-{n}"));
        for place in std::iter::once(name.to_owned()).chain(others).map(|name| self.path.join(name)) {
            if fs::symlink_metadata(&place).is_ok() {
                continue;
            }
            match make(&place) {
                Ok(()) => {
                    terminal::detail(format!("wrote {}", place.shown()));
                    return Ok(place);
                }
                // Somebody else was faster: the next name.
                Err(e) if matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {}
                Err(e) => return Err(self.failed(&place, &e)),
            }
        }
        Err(Failure::Bug(format!("no fresh name for {name}")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is not empty stays, and with it all that it is in.
        let _ = self.made.iter().try_for_each(|made| disk::remove_directory(made));
    }
}

/// Whether an open file is the one that a path leads to.
fn is_at(held: &OpenFile, path: &Path) -> bool {
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    fs::metadata(path).is_ok_and(|there| held.metadata().is_ok_and(|ours| same(there, ours)))
}

/// The remedy where nothing can be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let path = path.shown();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Failure::Machine(format!(
            "no room for {path}: {error}; make room there, or choose another directory with --out DIR. Complete records are \
             kept"
        )),
        ErrorKind::IsADirectory => {
            Failure::Input(format!("cannot write {path}: a directory has that name; move it elsewhere, or remove it"))
        }
        _ => Failure::Input(format!(
            "cannot write to {path}: {error}; choose another directory with --out DIR, or check its permissions"
        )),
    }
}

/// The most characters of a text in a file name.
const SLUG: usize = 60;

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
    slug.trim_matches(['-', '.']).chars().take(SLUG).collect()
}

/// The same; a text that is too long ends with a hash of the whole, so that two that differ in their ends stay apart.
pub(crate) fn slug_with_hash(text: &str) -> String {
    let slug = slug(text);
    if slug.len() < SLUG {
        return slug;
    }
    let hash = &hexadecimal(&Sha256::digest(text))[..8];
    format!("{}-{hash}", slug[..SLUG - hash.len() - 1].trim_end_matches(['-', '.']))
}

/// Whether a directory has the name of a record that was set aside, because it was not whole.
pub(crate) fn is_set_aside(name: &str) -> bool {
    let after = name.rsplit_once(".damaged").map(|(_, after)| after);
    after.is_some_and(|after| after.is_empty() || after.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok()))
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
    fn a_sweep_has_its_directory_for_itself_and_shards_share_one() {
        let home = tempfile::tempdir().unwrap();
        let out = Folder::open(home.path()).unwrap();
        let alone = out.resume("fig1", Others::Wait).unwrap();
        for others in [Others::Wait, Others::Share] {
            let refused = out.resume("fig1", others).unwrap_err().to_string();
            assert!(refused.contains("another run writes to"), "{refused}");
        }
        out.resume("fig2", Others::Wait).unwrap();
        drop(alone);
        let first = out.resume("fig1", Others::Share).unwrap();
        let _second = out.resume("fig1", Others::Share).unwrap();
        assert!(out.resume("fig1", Others::Wait).is_err());
        first.put_file("sweep.json", b"{}").unwrap();
        assert_eq!(names(first.path()), ["sweep.json"]);
    }

    #[test]
    fn a_record_is_no_place_for_a_sweep() {
        let home = tempfile::tempdir().unwrap();
        let out = Folder::open(home.path()).unwrap();
        out.put("fig1-seed1", &[("record.toml".to_owned(), Vec::new())]).unwrap();
        assert!(out.resume("fig1-seed1", Others::Wait).unwrap_err().to_string().contains("is the record of a run"));
    }

    /// A process that leaves nothing removes the directories it made, and one that opened the same path later makes them again.
    #[test]
    fn a_place_in_which_nothing_was_put_goes_and_comes_back() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("deep/out");
        let first = Folder::open(&place).unwrap();
        let second = Folder::open(&place).unwrap();
        drop(first);
        assert!(names(home.path()).is_empty());
        second.put("fig1", &[("summary.json".to_owned(), Vec::new())]).unwrap();
        drop(second);
        assert_eq!(names(&place), ["fig1"]);
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
        let (one, two) = (format!("{} seed1", "a ".repeat(40)), format!("{} seed2", "a ".repeat(40)));
        assert_eq!(slug(&one), slug(&two));
        assert_ne!(slug_with_hash(&one), slug_with_hash(&two));
        assert_eq!((slug_with_hash(&one).len(), slug_with_hash("fast seed1").as_str()), (60, "fast-seed1"));
    }
}
