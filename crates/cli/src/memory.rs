//! The memory that a run can have here: a run beyond it is refused before it begins.

use std::fs;
use std::path::Path;

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

/// The least limit of this process [B], and its name as the end of a sentence; none where it is unknown.
pub(crate) fn available() -> Option<(u64, &'static str)> {
    let text = |path: &str| fs::read_to_string(path).ok();
    let machine = text("/proc/meminfo").and_then(|info| free(&info));
    let group = text("/proc/self/cgroup").and_then(|groups| in_group(&groups, Path::new("/sys/fs/cgroup")));
    let used = text("/proc/self/status").map_or(0, |status| field(&status, "VmSize:").unwrap_or(0));
    let limit = getrlimit(Resource::RLIMIT_AS).ok().map(|(soft, _)| soft).filter(|soft| *soft != RLIM_INFINITY);
    let limits = [
        machine.map(|bytes| (bytes, "are free on this machine")),
        group.map(|bytes| (bytes, "are left to its control group")),
        limit.map(|bytes| (bytes.saturating_sub(used), "are left by the limit of `ulimit -v`")),
    ];
    limits.into_iter().flatten().min_by_key(|(bytes, _)| *bytes)
}

/// Memory that programs can have without the machine swapping, by /proc/meminfo [B].
fn free(info: &str) -> Option<u64> {
    field(info, "MemAvailable:").map(|free| free + field(info, "SwapFree:").unwrap_or(0))
}

/// A line of a file below /proc that counts in KiB [B].
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Memory left to the control groups that a process is in, by its /proc/self/cgroup, and those above them [B]: of
/// version 2, and of version 1 where memory has a hierarchy of its own.
fn in_group(groups: &str, mounted: &Path) -> Option<u64> {
    let mut least: Option<u64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (root, names) = if controllers.is_empty() {
            (mounted.to_path_buf(), ["memory.max", "memory.current", ""])
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (mounted.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_"])
        } else {
            continue;
        };
        // A container may see its own group as the root, whatever its path.
        let places = Path::new(group).ancestors().map(|part| root.join(part.strip_prefix("/").unwrap_or(part)));
        least = least.into_iter().chain(places.filter_map(|place| left(&place, names))).min();
    }
    least
}

/// Memory left to one control group: its limit less its usage. The part for files is on disk, and is given up
/// for others.
fn left(group: &Path, [limit, held, prefix]: [&str; 3]) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    // Version 2 says `max` where there is no limit, version 1 a number beyond all memory.
    let limit = number(limit).filter(|limit| *limit < 1 << 60)?;
    let stat = read("memory.stat").unwrap_or_default();
    let count = |line: &str| match line.strip_prefix(prefix)?.split_once(' ')? {
        ("active_file" | "inactive_file", bytes) => bytes.trim().parse::<u64>().ok(),
        _ => None,
    };
    let files: u64 = stat.lines().filter_map(count).sum();
    Some(limit.saturating_sub(number(held).unwrap_or(0).saturating_sub(files)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_what_is_free_in_kib() {
        let info = "MemTotal:       24000000 kB\nMemFree:  100 kB\nMemAvailable:   2000 kB\nSwapFree:       500 kB\n";
        assert_eq!(free(info), Some(2500 * 1024));
        assert_eq!(free("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn the_narrowest_group_counts_and_remembered_files_do_not() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let groups = "12:cpu:/x\n0::/a/b\n";
        assert_eq!(in_group(groups, home.path()), None);
        write("a/b/memory.max", "max\n");
        assert_eq!(in_group(groups, home.path()), None);
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 400\ninactive_file 200\nactive_file 100\n");
        assert_eq!(in_group(groups, home.path()), Some(600));
        write("a/b/memory.max", "500\n");
        assert_eq!(in_group(groups, home.path()), Some(500));
        // Version 1.
        write("memory/c/memory.limit_in_bytes", "100\n");
        write("memory/c/memory.usage_in_bytes", "90\n");
        assert_eq!(in_group("3:cpu,memory:/c\n", home.path()), Some(10));
        write("memory/c/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(in_group("3:cpu,memory:/c\n", home.path()), None);
    }

    #[test]
    fn here_there_is_some() {
        if Path::new("/proc/meminfo").exists() {
            assert!(available().is_some_and(|(bytes, _)| bytes > 1_000_000));
        }
    }
}
