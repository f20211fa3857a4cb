//! State of a sender for acknowledgements with options: their blocks and counters, and the marks that follow from them.

use crate::accecn::Marks;
use crate::engine::Engine;
use crate::flow::Flow;
use crate::options::{BLOCKS, Counters};
use crate::packet::{self, SACK};
use crate::receiver::Reply;

/// Of one connection.
#[derive(Debug)]
pub(crate) struct Feedback {
    /// Of accurate ECN.
    pub(crate) marks: Option<Marks>,
    /// Blocks of the last acknowledgement.
    known: [(u64, u64); BLOCKS],
    /// Without blocks: packets reported by duplicate acknowledgements.
    duplicates: u64,
    /// Marked packets not yet reported to the law, since no acknowledgement has covered them.
    carried: u32,
}

/// The options of an acknowledgement, and how many segments were outstanding before it came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carried {
    /// The ACE field and the AccECN Option, of one that is newer than all before.
    accurate: Option<(u8, Option<Counters>)>,
    /// Where anybody counts marks.
    outstanding: u64,
}

impl Feedback {
    pub(crate) fn new(accurate: bool) -> Self {
        Self { marks: accurate.then_some(Marks::START), known: [(0, 0); BLOCKS], duplicates: 0, carried: 0 }
    }

    /// Another connection begins.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.marks.is_some());
    }

    /// The blocks of an acknowledgement: those parts that are news, but for the segment that caused it.
    fn news(&mut self, blocks: impl Iterator<Item = (u64, u64)>, cause: Option<u64>) -> ([(u64, u64); BLOCKS], usize) {
        let (mut now, mut news) = ([(0, 0); BLOCKS], [(0, 0); BLOCKS]);
        let mut count = 0;
        for (at, block) in blocks.enumerate() {
            now[at] = block;
            let (mut from, mut end) = block;
            for known in self.known {
                if known.0 <= from && known.1 > from {
                    from = known.1.min(end);
                }
                if known.1 >= end && known.0 < end {
                    end = known.0.max(from);
                }
            }
            if from < end && cause == Some(from) {
                from += 1;
            }
            if from < end && cause == Some(end - 1) {
                end -= 1;
            }
            if from < end {
                news[count] = (from, end);
                count += 1;
            }
        }
        self.known = now;
        (news, count)
    }

    /// Number of packets that the law counts as marked of those that an acknowledgement covers; `more` were found to be.
    /// Those of an acknowledgement that covers nothing, since something is out of order, count with the next one that covers.
    pub(crate) fn count(&mut self, more: u32, packets: u32, covers: bool, settled: bool) -> u32 {
        let marked = self.carried.saturating_add(more);
        self.carried = if settled && !covers { marked } else { 0 };
        marked.min(packets)
    }
}

impl Engine {
    /// An acknowledgement with options reaches its sender, which learns from its blocks; `reply` then names its first block
    /// as one without options does.
    #[inline]
    pub(crate) fn options_heard(&mut self, at: usize, reply: &mut Reply) -> Carried {
        if !self.flows[at].blocks_known
            && let Some(told) = &mut self.receivers[at].told
            && told.under_way.hear_none(reply.from)
        {
            // None, and the one before had no blocks either.
            return Carried { accurate: None, outstanding: 0 };
        }
        self.all_options_heard(at, reply)
    }

    #[inline(never)]
    fn all_options_heard(&mut self, at: usize, reply: &mut Reply) -> Carried {
        let flow = &mut self.flows[at];
        let counts = flow.feedback.as_ref().is_some_and(|feedback| feedback.marks.is_some());
        let outstanding = if counts { flow.data.outstanding() } else { 0 };
        let told = self.receivers[at].told.as_mut().and_then(|told| told.under_way.hear(reply.from));
        let (options, newer) = told.unwrap_or_default();
        let accurate = options.filter(|_| newer).map(|options| (options.ace, options.counters));
        let Some(told) = options.filter(|options| options.count > 0) else {
            if let Some(feedback) = flow.feedback.as_mut().filter(|_| newer) {
                feedback.known = [(0, 0); BLOCKS];
                flow.blocks_known = false;
                flow.data.blocks(&[], 0, self.now, &mut ());
            }
            if options.is_none() {
                reply.flags &= !SACK;
            }
            reply.from = 0;
            return Carried { accurate, outstanding };
        };
        let next = packet::expand(flow.data.una, reply.seq);
        let tx = packet::expand(flow.data.next_tx(), reply.tx);
        let cause = flow.data.segment_of(tx);
        if let Some(feedback) = flow.feedback.as_mut().filter(|_| newer) {
            let (news, count) = feedback.news(told.blocks(next), cause);
            flow.blocks_known = true;
            match &mut flow.sampler {
                Some(sampler) => flow.data.blocks(&news[..count], tx, self.now, &mut **sampler),
                None => flow.data.blocks(&news[..count], tx, self.now, &mut ()),
            }
        }
        reply.from = told.blocks(next).next().map_or(0, |(from, _)| from as u32);
        Carried { accurate, outstanding }
    }
}

impl Flow {
    /// Number of further packets marked, by an acknowledgement that covers `covered` segments (RFC 9768, section 3.2.2).
    #[inline(never)]
    pub(crate) fn marks_heard(&mut self, carried: &Carried, covered: u32, selective: bool, full: u32) -> u32 {
        let Some(feedback) = self.feedback.as_mut().filter(|feedback| feedback.marks.is_some()) else { return 0 };
        let newly = if selective {
            carried.outstanding.saturating_sub(self.data.outstanding())
        } else {
            let covered = u64::from(covered);
            let told = covered.saturating_sub(feedback.duplicates).max(1);
            feedback.duplicates =
                if covered > 0 { feedback.duplicates.saturating_sub(covered) } else { feedback.duplicates + 1 };
            told
        };
        let (Some(marks), Some((ace, counters))) = (&mut feedback.marks, carried.accurate) else { return 0 };
        u32::try_from(marks.hear(ace, counters.map(|counters| counters.ce), newly, full)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests;
