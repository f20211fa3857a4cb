//! The counts of an attached program, and the fates of packets, for tests.
#![allow(unreachable_pub, missing_docs, dead_code)]

use std::io;

use penstock_kernel::attach::Attached;

pub fn said(settings: &[&str]) -> Vec<String> {
    settings.iter().map(|text| (*text).to_owned()).collect()
}

pub fn figure(attached: &Attached, name: &str) -> f64 {
    attached.figures.iter().find(|figure| figure.name == name).map_or(0.0, |figure| figure.value)
}

/// Packets that the receiving end's IP has counted with CE, segment by segment.
pub fn ce_packets_in() -> io::Result<f64> {
    netstat("IpExt:", "InCEPkts")
}

/// A count of this namespace's TCP or IP; zero where it has no such count.
pub fn netstat(of: &str, count: &str) -> io::Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/netstat")?;
    let mut lines = text.lines().filter(|line| line.starts_with(of));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let mut pairs = names.split_whitespace().zip(values.split_whitespace());
    Ok(pairs.find(|(name, _)| *name == count).and_then(|(_, value)| value.parse().ok()).unwrap_or(0.0))
}

pub fn ended(attached: &Attached) -> f64 {
    let fates = attached.figures.iter().filter(|f| f.name.starts_with("packets_") && f.name != "packets_arrived");
    fates.map(|figure| figure.value).sum()
}
