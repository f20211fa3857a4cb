//! Packets that acknowledgements bring beyond the bandwidth, where a link or a receiver holds them up.
//!
//! Source: draft-ietf-ccwg-bbr, section "BBR.extra_acked".

use crate::estimate::WindowedMax;
use crate::number::Number;
use crate::quantity::Time;

/// BBR.extra_acked over the last round trips.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Extra {
    since: Time,
    acked: f64,
    most: WindowedMax<f64, 32>,
}

impl Extra {
    /// The flow was idle: the count starts anew.
    pub(super) fn restart(&mut self, now: Time) {
        self.since = now;
    }

    /// So many packets came under a bandwidth [packets/s]; no more than the window count. The most of the last `rounds`.
    pub(super) fn take(
        &mut self,
        now: Time,
        (acked, bandwidth): (f64, f64),
        window: f64,
        (round, rounds): (u64, u64),
    ) -> f64 {
        let mut expected = bandwidth * now.since(self.since).seconds();
        if self.acked <= expected {
            (self.since, self.acked, expected) = (now, 0.0, 0.0);
        }
        self.acked += acked;
        self.most.take(round, Number::min(self.acked - expected, window), rounds);
        self.most.get()
    }
}
