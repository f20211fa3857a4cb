//! Capabilities of this process and its threads (capabilities(7)).

use std::fs;
use std::io;

use crate::syscall;

/// Changes devices, routes and congestion controllers.
pub const CAP_NET_ADMIN: u32 = 12;
/// Looks into the processes of others, and traces them.
pub const CAP_SYS_PTRACE: u32 = 19;
/// Makes namespaces, mounts, and sees the kernel's objects of others.
pub const CAP_SYS_ADMIN: u32 = 21;
/// Loads BPF programs.
pub const CAP_BPF: u32 = 39;

/// The capabilities that a process has in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities(u64);

impl Capabilities {
    /// Those of this process; none where the kernel has no list.
    pub fn of_this_process() -> Self {
        Self::of(&fs::read_to_string("/proc/self/status").unwrap_or_default())
    }

    /// Those of a process, by its status.
    pub fn of(status: &str) -> Self {
        let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        Self(effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0))
    }

    /// Whether one of them is this.
    pub fn has(self, capability: u32) -> bool {
        self.0 >> capability & 1 == 1
    }
}

/// Gives up every capability of this thread, and of its children, but those in `kept`, for good.
///
/// # Errors
/// An error of the kernel.
pub fn keep_capabilities(kept: u64) -> io::Result<()> {
    syscall::limit_capabilities(kept, 0)
}

/// The same; programs that it executes may inherit those that it keeps.
///
/// # Errors
/// An error of the kernel.
pub fn keep_capabilities_to_inherit(kept: u64) -> io::Result<()> {
    syscall::limit_capabilities(kept, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read() {
        let all = Capabilities::of("Name:\tx\nCapEff:\t000001ffffffffff\n");
        assert!([CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_BPF].into_iter().all(|capability| all.has(capability)));
        let one = Capabilities::of("CapPrm:\t000001ffffffffff\nCapEff:\t0000008000000000\n");
        assert!(one.has(CAP_BPF) && !one.has(CAP_SYS_ADMIN) && !one.has(CAP_NET_ADMIN));
        assert_eq!(Capabilities::of(""), Capabilities::of("CapEff:\t0000000000000000\n"));
    }
}
