//! The requirements of kernel programs on this machine and this build.

use std::fs;

use penstock_machine::Missing;
use penstock_machine::capability::{CAP_BPF, CAP_NET_ADMIN, CAP_SYS_ADMIN, Capabilities};

/// Everything that keeps this machine from running BPF programs, where an older kernel than `oldest` will not do; `what` that one
/// is. Empty if nothing is known to.
pub(crate) fn missing_from(oldest: (u32, u32), what: &str) -> Vec<Missing> {
    let mut missing = Vec::new();
    missing.extend(missing_from_build());
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    missing.extend(too_old(release.trim(), oldest, what));
    missing.extend(not_allowed(Capabilities::of_this_process()));
    missing
}

/// The missing right without which this process cannot attach laws, nor report them: the kernel shows the maps
/// of others to `CAP_SYS_ADMIN` only.
pub(crate) fn not_allowed_to_attach() -> Option<Missing> {
    let held = Capabilities::of_this_process();
    let needed = [(CAP_SYS_ADMIN, "CAP_SYS_ADMIN"), (CAP_NET_ADMIN, "CAP_NET_ADMIN")];
    let lacks: Vec<&str> = needed.iter().filter(|(bit, _)| !held.has(*bit)).map(|(_, name)| *name).collect();
    let what = format!("this process may not attach laws to the kernel (it lacks {})", lacks.join(" and "));
    (!lacks.is_empty()).then(|| Missing::new(what, "run it as root"))
}

/// The part that was missing when this library was built.
fn missing_from_build() -> Option<Missing> {
    let what = option_env!("PENSTOCK_MISSING")?;
    Some(Missing::new(what, option_env!("PENSTOCK_REMEDY").unwrap_or_default()))
}

fn too_old(release: &str, oldest: (u32, u32), what: &str) -> Option<Missing> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) else {
        return Some(Missing::new("the kernel does not report its version", "run on Linux, with /proc mounted"));
    };
    let (least_major, least_minor) = oldest;
    ((major, minor) < oldest).then(|| {
        let what = format!("kernel {release} is older than {least_major}.{least_minor}, {what}");
        Missing::new(what, "run a newer kernel")
    })
}

fn not_allowed(held: Capabilities) -> Option<Missing> {
    (!held.has(CAP_BPF) && !held.has(CAP_SYS_ADMIN))
        .then(|| Missing::new("this process may not load BPF programs", "run it as root, or with CAP_BPF"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_kernel_is_named() {
        let too_old = |release| too_old(release, (5, 17), "the first with bpf_loop");
        assert_eq!(too_old("6.1.0-44-amd64"), None);
        assert_eq!(too_old("5.17.0"), None);
        let old = too_old("5.10.0-30-amd64").unwrap().to_string();
        assert_eq!(old, "kernel 5.10.0-30-amd64 is older than 5.17, the first with bpf_loop: run a newer kernel");
        assert!(too_old("").is_some());
    }

    #[test]
    fn programs_need_one_of_two_capabilities() {
        let not_allowed = |status| not_allowed(Capabilities::of(status));
        assert_eq!(not_allowed("Name:\tx\nCapEff:\t000001ffffffffff\n"), None);
        assert_eq!(not_allowed("CapEff:\t0000008000000000\n"), None, "CAP_BPF alone");
        assert!(not_allowed("CapEff:\t0000000000000000\n").is_some());
        assert!(not_allowed("").is_some());
    }
}
