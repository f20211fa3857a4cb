//! The generators of `vectors/*.txt`: the ends of every range first, in all combinations that differ for the event; then
//! seeded draws; then runs of a law as scenarios have them. The same text on every machine.

mod classes;
mod conditioners;
mod copa;
mod prague;
mod queues;
mod senders;
mod writer;

use crate::kernel_laws::{Call, KernelLaw};

/// The file of the vectors of a law: two megabytes or so. Its header has their number.
///
/// # Panics
/// If a law of [`KERNEL_LAWS`](crate::kernel_laws::KERNEL_LAWS) has no generator; a test has looked.
pub fn text(kernel_law: &'static KernelLaw) -> String {
    let text = without_count(kernel_law);
    let vectors = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("params ")).count();
    text.replacen(
        "# Laws and kernel implementations:",
        &format!("# {vectors} vectors\n#\n# Laws and kernel implementations:"),
        1,
    )
}

/// Connections of Copa, step by step, for what no vector has words for: the round trips that it remembers. See
/// [`connections`](crate::kernel_laws::copa::connections).
pub fn connections() -> Vec<Call> {
    copa::connections()
}

fn without_count(kernel_law: &'static KernelLaw) -> String {
    match kernel_law.name {
        "fast" => senders::fast(kernel_law),
        "leadlag" => senders::leadlag(kernel_law),
        "price" => queues::price(kernel_law),
        "avq" => queues::avq(kernel_law),
        "token-bucket" => conditioners::token_bucket(kernel_law),
        "srtcm" => conditioners::srtcm(kernel_law),
        "trtcm" => conditioners::trtcm(kernel_law),
        "early-marking" => conditioners::early_marking(kernel_law),
        "bat" => classes::bat(kernel_law),
        "clcc" => classes::clcc(kernel_law),
        "ccp" | "ccpd" => senders::ccp(kernel_law),
        "copa" => copa::vectors(kernel_law),
        "prague" => prague::vectors(kernel_law),
        other => panic!("write a generator for the vectors of `{other}`"),
    }
}
