//! Burstiness control: when a packet that may be sent is sent.

use penstock_law::quantity::is_amount;

/// Spaces packets by the law's gap, and gathers them into bursts where the scenario has such.
#[derive(Debug)]
pub(crate) struct Burst {
    /// Least time between two packets; zero where acknowledgements clock [ps].
    gap: u64,
    /// The same [s].
    gap_s: f64,
    /// When the next packet is due [ps].
    due: u64,
    /// Packets of the burst under way that may leave at once.
    pub(crate) left: u32,
    /// Whether an event for it is on the agenda.
    pub(crate) scheduled: bool,
}

impl Burst {
    /// Packets at least `gap_s` apart [s], the first due at `start` [ps].
    pub(crate) fn new(gap_s: f64, start: u64) -> Self {
        let mut burst = Self { gap: 0, gap_s: 0.0, due: start, left: 0, scheduled: false };
        burst.space(gap_s);
        burst
    }

    /// Least time between two packets from now on; zero where acknowledgements clock [s]. False, and all as before, where
    /// that is no span of time.
    #[inline]
    pub(crate) fn space(&mut self, gap_s: f64) -> bool {
        if self.gap_s != gap_s {
            if !is_amount(gap_s) {
                return false;
            }
            self.gap_s = gap_s;
            // By way of a signed integer, which the processor converts to in one step.
            self.gap = if gap_s > 0.0 { (gap_s * 1e12) as i64 as u64 } else { 0 };
        }
        true
    }

    /// Least time between two packets [s].
    pub(crate) const fn gap_s(&self) -> f64 {
        self.gap_s
    }

    /// Whether packets are spaced.
    pub(crate) const fn paces(&self) -> bool {
        self.gap > 0
    }

    /// When the next packet may leave, if not now.
    #[inline]
    pub(crate) fn wait(&self, now: u64) -> Option<u64> {
        (self.gap > 0 && self.due > now && self.left == 0).then_some(self.due)
    }

    /// A packet left. Missed slots are caught up by one at the most, so that waiting for the window neither
    /// shifts the grid for good nor lets loose a burst. `SINGLE` means that packets are not gathered into bursts.
    #[inline]
    pub(crate) fn sent<const SINGLE: bool>(&mut self, now: u64) {
        if !SINGLE {
            self.left = self.left.saturating_sub(1);
        }
        self.due = self.due.max(now.saturating_sub(self.gap)).saturating_add(self.gap);
    }

    /// Whether a burst of `size` may go on or begin, where the window has space for `room` more: segments wait until so
    /// many may leave together, or a third of the window, as segmentation offload does in Linux; with nothing in flight
    /// (`room` is none) there is nothing to wait for.
    pub(crate) fn gathered(&mut self, size: u32, room: Option<(u64, f64)>) -> bool {
        let Some((room, window)) = room else {
            self.left = if self.left == 0 { size } else { self.left };
            return true;
        };
        if self.left == 0 {
            let wanted = size.min(((window / 3.0) as u32).max(1));
            if room < u64::from(wanted) {
                return false;
            }
            self.left = wanted;
        }
        true
    }

    /// The gap before the next packet comes out longer or shorter, by up to `share` of it; `draw` is uniform in [0, 1).
    pub(crate) fn stray(&mut self, share: f64, draw: impl FnOnce() -> f64) {
        if share > 0.0 {
            let by = (self.gap as f64 * share * (2.0 * draw() - 1.0)) as i64;
            self.due = self.due.saturating_add_signed(by);
        }
    }

    /// Another gap from now on, also before the packet that is due next; false as [`Burst::space`] has it.
    pub(crate) fn change(&mut self, gap_s: f64, now: u64) -> bool {
        let before = self.gap;
        let done = self.space(gap_s);
        self.due = self.due.saturating_sub(before).saturating_add(self.gap).max(now);
        done
    }

    /// After a silence, in which no slot was missed.
    pub(crate) fn resume(&mut self, now: u64) {
        self.due = self.due.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_on_a_grid_and_catch_up_by_one_slot() {
        let mut burst = Burst::new(10e-12, 0);
        let mut sent = Vec::new();
        // Asked at these moments; one packet a moment at the most.
        for now in [100, 105, 110, 117, 120, 170, 171, 172, 180] {
            if burst.wait(now).is_none() {
                burst.sent::<false>(now);
                sent.push(now);
            }
        }
        assert_eq!(sent, [100, 105, 110, 120, 170, 171, 180]);
    }

    /// A burst begins when all of it fits, or a third of the window (`tcp_tso_win_divisor` of Linux is 3), or one
    /// segment; a burst that has begun goes on, and with nothing in flight there is nothing to wait for.
    #[test]
    fn a_burst_waits_for_a_third_of_the_window_at_most() {
        let begins = |size, room, window| Burst::new(0.0, 0).gathered(size, Some((room, window)));
        for (size, window, least) in [(16, 300.0, 16), (16, 30.0, 10), (16, 29.9, 9), (2, 30.0, 2), (16, 1.0, 1)] {
            assert!(begins(size, least, window) && !begins(size, least - 1, window), "{size} of {window}");
        }
        let mut burst = Burst::new(0.0, 0);
        assert!(burst.gathered(16, None));
        burst.sent::<false>(0);
        assert!(burst.gathered(16, Some((0, 30.0))));
    }

    /// A start and the end of a silence are no slots missed, and a shorter gap brings one packet forward, not two.
    #[test]
    fn nothing_is_caught_up_of_a_silence() {
        let next = |burst: &mut Burst, now| {
            assert_eq!(burst.wait(now), None);
            burst.sent::<false>(now);
            burst.wait(now)
        };
        let mut burst = Burst::new(10e-12, 100);
        assert_eq!(next(&mut burst, 100), Some(110));
        burst.resume(500);
        assert_eq!(next(&mut burst, 500), Some(510));
        assert!(burst.change(3e-12, 509));
        assert_eq!(next(&mut burst, 509), Some(512));
    }
}
