//! The test of a full pipe: the delivery rate grows no more, or in Startup too much is lost.
//!
//! Source: draft-ietf-ccwg-bbr, sections "Exiting Acceleration Based on Bandwidth Plateau" and "Exiting Startup Based on Packet
//! Loss".

/// Looks for a plateau of the delivery rate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Pipe {
    /// The rate to exceed: BBR.full_bw [packets/s].
    pub(super) baseline: f64,
    /// Rounds in a row that did not.
    pub(super) count: u32,
    /// There is a plateau since it was last looked for.
    pub(super) now: bool,
    /// There was one at some time.
    pub(super) reached: bool,
}

impl Pipe {
    /// Begins to look, from a rate [packets/s]; from zero, the others have to exceed the first sample.
    pub(super) fn look(&mut self, baseline: f64) {
        (self.baseline, self.count, self.now) = (baseline, 0, false);
    }

    /// The first sample of a round, of a flow that was not short of data.
    pub(super) fn take(&mut self, rate: f64, growth: f64, rounds: u32) {
        if self.now {
            return;
        }
        if rate >= self.baseline * growth {
            return self.look(rate);
        }
        self.count += 1;
        self.now = self.count >= rounds;
        self.reached |= self.now;
    }

    /// Losses show that it is full.
    pub(super) fn fill(&mut self) {
        (self.now, self.reached) = (true, true);
    }
}

/// Ranges of packets lost in a round trip, with packets between them that are not.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Ranges {
    last: Option<u64>,
    pub(super) count: u32,
}

impl Ranges {
    /// A packet is lost; packets are numbered as they are sent.
    pub(super) fn lose(&mut self, number: u64) {
        let goes_on = self.last.is_some_and(|last| number == last + 1);
        self.count += u32::from(!goes_on);
        self.last = Some(number);
    }
}
