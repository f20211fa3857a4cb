//! Network namespaces without names.
//!
//! A name would be a file that stays when the process is killed. These live as long as this process holds them, or as
//! something runs inside.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    held: File,
}

impl Namespace {
    /// An empty one, with nothing in it but a loopback device that is down.
    ///
    /// # Errors
    /// An error of the kernel; `CAP_SYS_ADMIN` is required.
    pub fn new() -> io::Result<Self> {
        // The thread that makes it is in it for good, so it is one that ends.
        let make = || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        };
        Ok(Self { held: aside(make)? })
    }

    /// Puts the calling thread into it, for good.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.held, CloneFlags::CLONE_NEWNET)?)
    }

    /// Does something inside, on a thread that ends then.
    ///
    /// # Errors
    /// Those of `work`, and of getting there.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        aside(|| {
            self.enter()?;
            work()
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }
}

/// Does something on a thread of its own.
///
/// # Errors
/// Those of `work`.
pub fn aside<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
