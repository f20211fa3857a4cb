//! Names of attachments in the BPF file system.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MsFlags, mount};
use nix::sys::statfs::statfs;

use super::{Error, while_trying};
use crate::machine::Missing;

/// Where the kernel's own tools look for it.
const ROOT: &str = "/sys/fs/bpf";
/// What `statfs` says of it: `BPF_FS_MAGIC` of linux/magic.h.
const MAGIC: i64 = 0xcafe_4a11;

/// A directory of pins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pins {
    folder: PathBuf,
}

impl Default for Pins {
    fn default() -> Self {
        Self::at(Self::FOLDER)
    }
}

impl Pins {
    /// The directory unless another is given.
    pub const FOLDER: &str = "/sys/fs/bpf/penstock";

    /// That directory.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where a pin of that name is. The kernel takes no dots in names.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Makes the directory, and mounts the BPF file system where it belongs if it is not there, as the kernel's own tools do.
    ///
    /// # Errors
    /// [`Error::Missing`] where the directory is on another file system, or where this process has file systems of its own,
    /// which end with it and take the pins along.
    pub fn prepare(&self) -> Result<(), Error> {
        if self.folder.starts_with(ROOT) && !is_bpf(Path::new(ROOT)) {
            let mounts = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
            if mounts("self") != mounts("1") {
                let what = format!("{ROOT} is not the system's here, and what would be attached would not last");
                let remedy = "enter a network namespace by `nsenter --net=/run/netns/NAME`, not by `ip netns exec`";
                return Err(Missing::new(what, remedy).into());
            }
            mount(Some("bpf"), ROOT, Some("bpf"), MsFlags::empty(), Some("mode=0700")).map_err(|e| {
                Missing::new(
                    format!("no BPF file system is mounted at {ROOT}, and it cannot be ({e})"),
                    "run it as root",
                )
            })?;
        }
        let above = self.folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
        if !is_bpf(above) {
            let what = format!("{} is not on a BPF file system", self.folder.display());
            return Err(Missing::new(what, format!("name a directory below {ROOT}")).into());
        }
        fs::create_dir_all(&self.folder).map_err(while_trying(format!("make {}", self.folder.display())))
    }

    /// Keeps others from changing attachments while the result lives; nothing where there is no directory.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn lock(&self) -> Result<Option<Flock<File>>, Error> {
        let folder = match File::open(&self.folder) {
            Ok(folder) => folder,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(while_trying(format!("open {}", self.folder.display()))(error)),
        };
        let lock = Flock::lock(folder, FlockArg::LockExclusive);
        lock.map(Some).map_err(|(_, e)| while_trying(format!("lock {}", self.folder.display()))(e.into()))
    }

    /// Names of all pins, sorted; none where there is no directory.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(while_trying(format!("read {}", self.folder.display()))(error)),
        };
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Removes a pin, and with it what nothing else holds.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        fs::remove_file(self.path(name)).map_err(while_trying(format!("remove {}", self.path(name).display())))
    }

    /// Removes the directory if nothing is pinned there.
    pub fn tidy(&self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Whether a directory is on a BPF file system.
fn is_bpf(folder: &Path) -> bool {
    statfs(folder).is_ok_and(|about| about.filesystem_type().0 & 0xffff_ffff == MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_on_a_disk_is_refused() {
        let folder = std::env::temp_dir().join("penstock-no-pins");
        let said = Pins::at(&folder).prepare().unwrap_err().to_string();
        assert!(said.contains("is not on a BPF file system: name a directory below /sys/fs/bpf"), "{said}");
        assert!(!folder.exists());
    }

    #[test]
    fn where_nothing_is_there_is_no_name() {
        let pins = Pins::at("/sys/fs/bpf/penstock-never-made");
        assert_eq!(pins.names().unwrap(), Vec::<String>::new());
        assert!(pins.lock().unwrap().is_none());
    }
}
