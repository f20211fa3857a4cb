//! The default controllers of network namespaces.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use nix::sched::{CloneFlags, setns};
use penstock_machine::{Missing, while_trying};

use super::super::attachment::Scope;
use super::super::error::Error;
use super::stack::LAST;

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// A file that only the first namespace has.
const OF_THE_FIRST: &str = "/proc/sys/net/core/netdev_max_backlog";
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace, and a way into it.
#[derive(Debug)]
pub(super) struct Place {
    /// Its inode.
    pub(super) namespace: u64,
    held: File,
}

/// The result of setting a default.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// The earlier default is back.
    Back,
    /// The kernel has the earlier default no more: it is this one.
    Instead(&'static str),
}

impl Place {
    fn at(path: &Path) -> io::Result<Self> {
        let held = File::open(path)?;
        Ok(Self { namespace: held.metadata()?.ino(), held })
    }

    /// The namespace that is meant.
    pub(super) fn of(scope: Scope) -> Result<Self, Error> {
        let own = Self::at(Path::new(OWN)).map_err(while_trying("see the network namespace"))?;
        if scope == Scope::Namespace || Path::new(OF_THE_FIRST).exists() {
            return Ok(own);
        }
        let first = Self::at(Path::new("/proc/1/ns/net"))
            .ok()
            .filter(|first| first.within(|| Ok(Path::new(OF_THE_FIRST).exists())).unwrap_or(false));
        first.ok_or_else(|| {
            let what =
                "the first process is not in the machine's first network namespace, or its namespace cannot be read";
            Missing::new(what, "run it as root outside of containers, or give `--default namespace`").into()
        })
    }

    /// The namespace with that inode, if some process is in it, or if it has a name.
    pub(super) fn with(namespace: u64) -> Option<Self> {
        let is = |path: &PathBuf| fs::metadata(path).is_ok_and(|about| about.ino() == namespace);
        ways().filter(is).find_map(|path| Self::at(&path).ok()).filter(|place| place.namespace == namespace)
    }

    /// All namespaces that can be found and whose default is that controller.
    pub(super) fn all_with(controller: &str) -> Vec<Self> {
        let mut seen = Vec::new();
        let mut new = |path: &PathBuf| {
            let namespace = fs::metadata(path).ok().map(|about| about.ino());
            let new = namespace.is_some_and(|namespace| !seen.contains(&namespace));
            seen.extend(namespace.filter(|_| new));
            new
        };
        let all = ways().filter(|path| new(path)).filter_map(|path| Self::at(&path).ok());
        all.filter(|place| place.controller().is_ok_and(|now| now == controller)).collect()
    }

    /// The default there.
    pub(super) fn controller(&self) -> io::Result<String> {
        let text = self.within(|| fs::read_to_string(SYSCTL))?;
        Ok(text.trim().to_owned())
    }

    /// Makes a controller the default there.
    pub(super) fn make(&self, controller: &str) -> io::Result<()> {
        self.within(|| fs::write(SYSCTL, controller))
    }

    /// Makes the first of these the default there that the kernel has, and lets the namespace have.
    pub(super) fn make_one_of(&self, controllers: &[String]) -> io::Result<Given> {
        let all = controllers.iter().map(|name| (name.as_str(), Given::Back));
        let mut failed = None;
        for (name, given) in all.chain(LAST.map(|name| (name, Given::Instead(name)))) {
            match self.make(name) {
                Ok(()) => return Ok(given),
                // Not there any more; or restricted, which a namespace other than the first may not have.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
                    failed = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(failed.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    /// Does something there, on a thread that ends then.
    fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let there = || {
            setns(&self.held, CloneFlags::CLONE_NEWNET)?;
            work()
        };
        thread::scope(|scope| scope.spawn(there).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Ways into network namespaces, many of them into the same: this thread's own, those of processes, and those with names.
fn ways() -> impl Iterator<Item = PathBuf> {
    let processes = entries("/proc").map(|process| process.join("ns/net"));
    std::iter::once(PathBuf::from(OWN)).chain(processes).chain(entries("/run/netns"))
}

fn entries(folder: &str) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}
