//! Burstiness control: when a packet that may be sent is sent.

/// Spaces packets by the gap the law says.
#[derive(Debug)]
pub(crate) struct Burst {
    /// Least time between two packets; zero where acknowledgements clock [ps].
    pub(crate) gap: u64,
    /// When the next packet is due [ps].
    due: u64,
    /// Whether an event for it is on the agenda.
    pub(crate) scheduled: bool,
}

impl Burst {
    pub(crate) fn new(gap: u64) -> Self {
        Self { gap, due: 0, scheduled: false }
    }

    /// When the next packet may leave, if not now.
    #[inline]
    pub(crate) fn wait(&self, now: u64) -> Option<u64> {
        (self.gap > 0 && self.due > now).then_some(self.due)
    }

    /// A packet left. What was missed is caught up by one slot at the most, so that waiting for the window neither
    /// shifts the grid for good nor lets loose a burst.
    #[inline]
    pub(crate) fn sent(&mut self, now: u64) {
        self.due = self.due.max(now.saturating_sub(self.gap)).saturating_add(self.gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_on_a_grid_and_catch_up_by_one_slot() {
        let mut burst = Burst::new(10);
        let mut sent = Vec::new();
        // Asked at these moments; one packet a moment at the most.
        for now in [100, 105, 110, 117, 120, 170, 171, 172, 180] {
            if burst.wait(now).is_none() {
                burst.sent(now);
                sent.push(now);
            }
        }
        assert_eq!(sent, [100, 105, 110, 120, 170, 171, 180]);
    }
}
