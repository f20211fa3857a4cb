//! The default controller of a network namespace, and what it was before.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use nix::sched::{CloneFlags, setns};

use super::super::{Error, Scope, while_trying};
use crate::machine::Missing;

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// What only the first namespace has.
const OF_THE_FIRST: &str = "/proc/sys/net/core/netdev_max_backlog";

/// A default as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Was {
    scope: Scope,
    /// Whose, by its inode.
    pub(super) namespace: u64,
    /// The controller.
    pub(super) controller: String,
}

impl Was {
    /// The default now.
    pub(super) fn now(scope: Scope) -> Result<Self, Error> {
        let reading = || Ok((fs::metadata("/proc/thread-self/ns/net")?.ino(), fs::read_to_string(SYSCTL)?));
        let read = match scope {
            Scope::Namespace => reading(),
            Scope::System => {
                let first = Path::new("/proc/1/ns/net");
                if !within(first, || Ok(Path::new(OF_THE_FIRST).exists())).unwrap_or(false) {
                    let what =
                        "the first process is not in the machine's first network namespace, or may not be looked at";
                    return Err(Missing::new(
                        what,
                        "run it as root outside of containers, or give `--default namespace`",
                    )
                    .into());
                }
                within(first, reading)
            }
        };
        let (namespace, controller) = read.map_err(while_trying("read the default controller"))?;
        Ok(Self { scope, namespace, controller: controller.trim().to_owned() })
    }

    /// From the words of [`Was::word`] and its fields.
    pub(super) fn read(scope: &str, namespace: &str, controller: &str) -> Option<Self> {
        let scope = match scope {
            "namespace" => Scope::Namespace,
            "system" => Scope::System,
            _ => return None,
        };
        Some(Self { scope, namespace: namespace.parse().ok()?, controller: controller.to_owned() })
    }

    pub(super) const fn word(&self) -> &'static str {
        match self.scope {
            Scope::Namespace => "namespace",
            Scope::System => "system",
        }
    }

    /// Whose it is, in words.
    pub(super) fn place(&self) -> String {
        match self.scope {
            Scope::Namespace => format!("network namespace {}", self.namespace),
            Scope::System => "the first network namespace, and of those made later".to_owned(),
        }
    }

    /// Makes a controller the default there.
    pub(super) fn make(&self, controller: &str) -> Result<(), Error> {
        let what = || format!("make `{controller}` the default of {}", self.place());
        let Some(namespace) = self.find() else {
            return Err(while_trying(what())(io::Error::from(io::ErrorKind::NotFound)));
        };
        within(&namespace, || fs::write(SYSCTL, controller)).map_err(while_trying(what()))
    }

    /// The default there now; none where the namespace is gone.
    pub(super) fn controller_now(&self) -> Option<String> {
        let text = within(&self.find()?, || fs::read_to_string(SYSCTL)).ok()?;
        Some(text.trim().to_owned())
    }

    /// Makes the default what it was, unless somebody has made it something else since, or the namespace is gone.
    pub(super) fn restore(&self, controller: &str) -> Result<(), Error> {
        if self.controller_now().as_deref() == Some(controller) { self.make(&self.controller) } else { Ok(()) }
    }

    /// A way into the namespace: some process is in it, or it has a name.
    fn find(&self) -> Option<PathBuf> {
        let is = |path: &PathBuf| fs::metadata(path).is_ok_and(|about| about.ino() == self.namespace);
        let own = PathBuf::from("/proc/thread-self/ns/net");
        let processes = entries("/proc").map(|process| process.join("ns/net"));
        std::iter::once(own).chain(processes).chain(entries("/run/netns")).find(is).map(|path| {
            // What is this thread's is not that of the thread which goes there.
            if path.starts_with("/proc/thread-self") {
                PathBuf::from(format!("/proc/{}/task/{}/ns/net", std::process::id(), nix::unistd::gettid()))
            } else {
                path
            }
        })
    }
}

fn entries(folder: &str) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// Does something in another namespace, on a thread that ends then.
fn within<T: Send>(namespace: &Path, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let namespace = File::open(namespace)?;
    let there = || {
        setns(&namespace, CloneFlags::CLONE_NEWNET)?;
        work()
    };
    thread::scope(|scope| scope.spawn(there).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
