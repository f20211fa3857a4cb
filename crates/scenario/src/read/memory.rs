//! The limit on the memory of a scenario, and the words of its refusal.

use std::sync::Arc;

/// The memory that a scenario may take, by the estimates of [`needs`](super::needs).
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// The most [B].
    most: f64,
    /// Why that is the most, as the end of a sentence that begins with it.
    why: Arc<str>,
}

impl Memory {
    pub(super) fn of(most: u64, why: &str) -> Self {
        Self { most: most as f64, why: why.into() }
    }

    /// The most [B].
    pub(super) fn bytes(&self) -> f64 {
        self.most
    }

    /// The memory of a part, and the sum with the parts counted before.
    pub(super) fn told(&self, part: f64, all: f64) -> String {
        let (part, all, most) = (amount(part), amount(all), amount(self.most));
        let together = if part == all { String::new() } else { format!(", {all} with the whole scenario") };
        format!("about {part} of memory{together}, and {most} {}", self.why)
    }
}

impl Default for Memory {
    /// For callers that do not know the free memory.
    fn default() -> Self {
        Self::of(16_000_000_000, "are the most")
    }
}

/// An amount of memory in three digits.
fn amount(bytes: f64) -> String {
    let (value, unit) = if bytes < 1e6 {
        (bytes / 1e3, "kB")
    } else if bytes < 1e9 {
        (bytes / 1e6, "MB")
    } else {
        (bytes / 1e9, "GB")
    };
    let places = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    let text = format!("{value:.places$}");
    let text = if places > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}
