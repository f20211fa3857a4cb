//! Processor time that a hypervisor gave to others.

use std::fs;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};

/// The time since boot in which a processor of this machine had work, and its hypervisor ran something else: `steal` of proc(5),
/// all processors together. Its resolution is a tick, 10 ms as a rule. Zero on a machine without a hypervisor, and on one whose
/// hypervisor does not report it; none where the kernel has no such count.
pub fn stolen() -> Option<Duration> {
    let ticks_per_s = sysconf(SysconfVar::CLK_TCK).ok()??;
    of_ticks(steal(&fs::read_to_string("/proc/stat").ok()?)?, u64::try_from(ticks_per_s).ok()?)
}

fn of_ticks(ticks: u64, per_s: u64) -> Option<Duration> {
    let ns = u128::from(ticks) * 1_000_000_000;
    ns.checked_div(u128::from(per_s)).and_then(|ns| u64::try_from(ns).ok()).map(Duration::from_nanos)
}

/// The eighth figure of all processors together [ticks].
fn steal(stat: &str) -> Option<u64> {
    let all = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    all.split_whitespace().nth(7)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eighth_figure_is_the_time_of_others() {
        let stat = "cpu  10 20 30 40 50 60 70 81 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n";
        assert_eq!(steal(stat), Some(81));
        assert_eq!(steal("cpu  10 20 30\n"), None, "kernels before 2.6.11");
        assert_eq!(steal("cpu0 1 2 3 4 5 6 7 8 9 10\n"), None);
        assert_eq!(steal("cpu  1 2 3 4 5 6 7 -8 9 10\n"), None);
        assert_eq!(of_ticks(81, 100), Some(Duration::from_millis(810)));
        assert_eq!((of_ticks(81, 0), of_ticks(u64::MAX, 1)), (None, None));
    }

    #[test]
    fn the_kernel_counts_it() {
        let before = stolen().expect("Linux counts it");
        assert!(stolen() >= Some(before));
    }
}
