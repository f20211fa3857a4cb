//! Names of attachments in the BPF file system.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use libbpf_rs::Link;
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MsFlags, mount};
use nix::sys::statfs::statfs;
use penstock_machine::{Missing, while_trying};

use super::error::Error;
use super::object;
use crate::syscall;

/// The mount point that the kernel's own tools use.
const ROOT: &str = "/sys/fs/bpf";
/// Its type by `statfs`: `BPF_FS_MAGIC` of linux/magic.h.
const MAGIC: u32 = 0xcafe_4a11;

/// A directory of pins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pins {
    folder: PathBuf,
}

/// The file system under a directory of pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// A BPF file system.
    Mounted,
    /// A mount point without a file system.
    Bare,
}

/// Keeps others from changing attachments while it lives. Removes the directory in the end if nothing is pinned there.
#[derive(Debug)]
pub struct Held {
    folder: PathBuf,
    _lock: Flock<File>,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Under the lock: whoever waits for it sees then that this is the directory no longer.
        let _ = fs::remove_dir(&self.folder);
    }
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
        let folder = folder.into();
        Self { folder: std::path::absolute(&folder).unwrap_or(folder) }
    }

    /// The path of a pin of that name. The kernel takes no dots in names.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The missing part without which [`Pins::hold`] cannot make the directory here. Nothing is changed: a BPF file
    /// system that would have to be mounted is made, but put nowhere.
    pub fn missing(&self) -> Option<Missing> {
        match self.ground() {
            Ok(Ground::Mounted) => None,
            Ok(Ground::Bare) => syscall::make_bpf_file_system().err().map(|error| not_mounted(&error)),
            Err(missing) => Some(missing),
        }
    }

    /// True if no BPF file system is mounted where this directory belongs, so that it has no pins.
    pub fn is_bare(&self) -> bool {
        self.ground() == Ok(Ground::Bare)
    }

    /// The file system of the directory.
    ///
    /// # Errors
    /// A directory on another file system, or file systems that would end with the process that mounts them.
    fn ground(&self) -> Result<Ground, Missing> {
        if self.folder.starts_with(ROOT) && !is_bpf(Path::new(ROOT)) {
            if !mounts_last() {
                let what =
                    format!("this process has mounts of its own, so a law attached below {ROOT} would not persist");
                let remedy = "enter a network namespace by `nsenter --net=/run/netns/NAME`, not by `ip netns exec`";
                return Err(Missing::new(what, remedy));
            }
            return Ok(Ground::Bare);
        }
        let above = self.folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
        if is_bpf(above) {
            return Ok(Ground::Mounted);
        }
        let what = format!("{} is not on a BPF file system", self.folder.display());
        Err(Missing::new(what, format!("name a directory below {ROOT}")))
    }

    /// Makes the directory, and mounts the BPF file system where it belongs if it is not there, as the kernel's own tools
    /// do. Keeps others from changing attachments while the result lives.
    ///
    /// # Errors
    /// [`Error::Missing`] by [`Pins::missing`], and an error of the kernel.
    pub fn hold(&self) -> Result<Held, Error> {
        if self.ground()? == Ground::Bare {
            mount(Some("bpf"), ROOT, Some("bpf"), MsFlags::empty(), Some("mode=0700"))
                .map_err(|error| not_mounted(&error.into()))?;
        }
        loop {
            // Nobody else can open it, so that nobody else can lock it.
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
            made.map_err(while_trying(format!("make {}", self.folder.display())))?;
            if let Some(held) = self.lock()? {
                return Ok(held);
            }
        }
    }

    /// Keeps others from changing attachments while the result lives; nothing where there is no directory.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn lock(&self) -> Result<Option<Held>, Error> {
        loop {
            let folder = match File::open(&self.folder) {
                Ok(folder) => folder,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(self.unseen(error)),
            };
            let lock = Flock::lock(folder, FlockArg::LockExclusive);
            let lock = lock.map_err(|(_, e)| while_trying(format!("lock {}", self.folder.display()))(e.into()))?;
            // Who had the lock before may have removed the directory, and another may have made it anew.
            let same = lock.metadata().ok().zip(fs::metadata(&self.folder).ok());
            if same.is_some_and(|(locked, there)| (locked.dev(), locked.ino()) == (there.dev(), there.ino())) {
                return Ok(Some(Held { folder: self.folder.clone(), _lock: lock }));
            }
        }
    }

    /// Names of all pins, sorted; none where there is no directory.
    ///
    /// # Errors
    /// [`Error::Missing`] if this process cannot read pins, and an error of the kernel.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            // There are none if that is where they would be.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return self.ground().map(|_| Vec::new()).map_err(Into::into);
            }
            Err(error) => return Err(self.unseen(error)),
        };
        self.ground()?;
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn unseen(&self, error: std::io::Error) -> Error {
        let what = format!("look into {}", self.folder.display());
        if error.kind() == ErrorKind::PermissionDenied {
            return Missing::new(format!("cannot {what} ({error})"), "run it as root").into();
        }
        while_trying(what)(error).into()
    }

    /// The link behind a pin.
    pub(super) fn open(&self, name: &str) -> Result<Link, Error> {
        let path = self.path(name);
        let link = object::quietly(|| Link::open(&path)).map_err(|source| Error::Kernel {
            what: format!("cannot open {}", path.display()),
            source,
            verifier: String::new(),
        })?;
        // The kernel opens whatever is pinned, and tells of a program or a map in the same bytes.
        match fs::read_link(format!("/proc/self/fd/{}", link.as_fd().as_raw_fd())) {
            // Spelled `bpf_link` or `bpf-link`, by version.
            Ok(kind) if !kind.to_string_lossy().replace('-', "_").contains("bpf_link") => {
                Err(Error::Input(format!("{} is not the pin of a link: remove it", path.display())))
            }
            _ => Ok(link),
        }
    }

    /// Removes a pin, and with it the objects that nothing else holds.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name);
        Ok(fs::remove_file(&path).map_err(while_trying(format!("remove {}", path.display())))?)
    }
}

fn not_mounted(error: &std::io::Error) -> Missing {
    Missing::new(
        format!("no BPF file system is mounted at {ROOT}, and this process may not mount one ({error})"),
        format!("run it as root, or mount it as root: `mount -t bpf bpf {ROOT}`"),
    )
}

/// True if a directory is on a BPF file system.
fn is_bpf(folder: &Path) -> bool {
    // Its type is as wide as the C library has it, the magic number 32 bits.
    statfs(folder).is_ok_and(|about| about.filesystem_type().0 as u32 == MAGIC)
}

/// True if file systems that this process mounts stay when it ends, as far as is known: it has those of the first process,
/// or, if that one is not readable, of the first readable one among its own parents.
fn mounts_last() -> bool {
    let mounts = |process: u32| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let parent = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
        (parent != 0).then_some(parent)
    };
    let own = std::process::id();
    let first = mounts(1).or_else(|| std::iter::successors(Some(own), parent).filter_map(mounts).last());
    first.is_none_or(|first| Some(first) == mounts(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_on_a_disk_is_refused() {
        let folder = std::env::temp_dir().join("penstock-no-pins");
        let pins = Pins::at(&folder);
        for said in [
            pins.hold().unwrap_err().to_string(),
            pins.names().unwrap_err().to_string(),
            pins.missing().unwrap().to_string(),
            Pins::at("/etc").names().unwrap_err().to_string(),
        ] {
            assert!(said.contains("is not on a BPF file system: name a directory below /sys/fs/bpf"), "{said}");
        }
        assert!(!folder.exists());
    }

    #[test]
    fn where_nothing_is_there_is_no_name() {
        let pins = Pins::at("/sys/fs/bpf/penstock-never-made");
        match pins.names() {
            Ok(names) => {
                assert_eq!(names, Vec::<String>::new());
                assert!(pins.lock().unwrap().is_none());
            }
            // An ordinary user may not look, and is not told that there is nothing.
            Err(error) => assert!(matches!(error, Error::Missing(_)), "{error}"),
        }
    }
}
