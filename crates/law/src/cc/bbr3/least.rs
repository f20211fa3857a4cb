//! The smallest round trip of ten seconds, and that of five, whose age decides when to look for it with less in flight.
//!
//! Source: draft-ietf-ccwg-bbr, section "ProbeRTT Logic", UpdateMinRTT.
//! Differs: nothing is old before the first sample. The draft's initialisation leaves BBR.probe_rtt_min_stamp open.

use crate::quantity::Time;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct LeastRtt {
    /// BBR.probe_rtt_min_delay [s] and its stamp.
    recent: Option<(f64, Time)>,
    /// BBR.min_rtt [s] and its stamp.
    least: Option<(f64, Time)>,
    /// The recent one is due.
    pub(super) expired: bool,
}

fn is_old(stamp: Time, now: Time, window_s: f64) -> bool {
    now.since(stamp).seconds() > window_s
}

impl LeastRtt {
    /// An acknowledgement came, perhaps with a round trip [s]; both windows [s].
    pub(super) fn take(&mut self, now: Time, rtt: Option<f64>, interval_s: f64, window_s: f64) {
        self.expired = self.recent.is_some_and(|(_, stamp)| is_old(stamp, now, interval_s));
        if let Some(rtt) = rtt
            && self.recent.is_none_or(|(recent, _)| rtt < recent || self.expired)
        {
            self.recent = Some((rtt, now));
        }
        if let Some((recent, _)) = self.recent
            && self.least.is_none_or(|(least, stamp)| recent < least || is_old(stamp, now, window_s))
        {
            self.least = self.recent;
        }
    }

    /// The next ProbeRTT is due an interval from now.
    pub(super) fn renew(&mut self, now: Time) {
        if let Some((_, stamp)) = &mut self.recent {
            *stamp = now;
        }
    }

    /// The smallest round trip [s]; none before the first.
    pub(super) fn get(&self) -> Option<f64> {
        self.least.map(|(least, _)| least)
    }
}
