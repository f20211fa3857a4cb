//! Proportional rate reduction: how much each acknowledgement of a recovery lets out, so that the window falls to the law's
//! output over one round trip, without a silence and without a burst.
//!
//! Source: RFC 9937, section 6. Packets are counted instead of bytes.

/// One reduction of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prr {
    /// Window of the law after the congestion event [packets].
    ssthresh: u32,
    /// RecoverFS: packets in flight when recovery began.
    flight: u32,
    /// prr_delivered and prr_out.
    delivered: u64,
    out: u64,
    /// Packets that may be in flight now.
    window: u32,
}

impl Prr {
    /// A reduction from `flight` packets to `ssthresh`, either at least one.
    pub(super) fn new(ssthresh: u32, flight: u32) -> Self {
        Self { ssthresh: ssthresh.max(1), flight: flight.max(1), delivered: 0, out: 0, window: 0 }
    }

    /// A new output of the law while the reduction goes on.
    pub(super) fn aim(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh.max(1);
    }

    /// An acknowledgement delivered `delivered` packets; `safe` means that it moved the cumulative number and reported no loss.
    pub(super) fn hear(&mut self, delivered: u32, safe: bool, in_flight: u32) {
        if delivered == 0 {
            return;
        }
        self.delivered += u64::from(delivered);
        let unsent = self.delivered.saturating_sub(self.out);
        let send = if in_flight > self.ssthresh {
            (self.delivered * u64::from(self.ssthresh)).div_ceil(u64::from(self.flight)).saturating_sub(self.out)
        } else {
            let most = u64::from(self.ssthresh - in_flight);
            (unsent.max(u64::from(delivered)) + u64::from(safe)).min(most)
        };
        // The fast retransmit goes out whatever the rest says.
        let least = u64::from(self.out == 0);
        self.window = in_flight.saturating_add(u32::try_from(send.max(least)).unwrap_or(u32::MAX));
    }

    /// Whether a packet may leave. With nothing in flight one always may.
    pub(super) fn allows(&self, in_flight: u32) -> bool {
        in_flight < self.window || in_flight == 0
    }

    /// One did.
    pub(super) fn sent(&mut self) {
        self.out += 1;
    }

    /// The window that this comes to [packets]: one at least, as [`Prr::allows`] has it, also before anything was delivered.
    pub(super) fn window(&self) -> f64 {
        f64::from(self.window.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recovery may begin with an acknowledgement that delivers nothing. A window of zero would divide what the next
    /// reduction leaves of it.
    #[test]
    fn a_reduction_has_a_window_before_anything_is_delivered() {
        let mut prr = Prr::new(5, 10);
        prr.hear(0, false, 0);
        assert!(prr.allows(0) && !prr.allows(1));
        assert_eq!(prr.window(), 1.0);
    }
}
