//! Prefetching: with many flows, the data of a packet are seldom in the processor's nearest caches, and lie at eight or
//! more addresses of each flow. They are prefetched while the events before are processed.
//!
//! Each step prefetches data whose address only the step before has read: first the line, then its head and the flow,
//! then the data behind the flow's pointers. Nothing here changes a result.

use prefetch_index::prefetch_index;

use crate::engine::Engine;
use crate::flow::Flow;
use crate::line::Line;
use crate::receiver::Receiver;

/// Sends for the 64 bytes that a value begins in.
#[inline]
pub(crate) fn fetch<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}

impl Engine {
    /// The event of `entity` is next.
    #[inline]
    pub(crate) fn look_ahead(&self, entity: u32) {
        let [next, after] = self.agenda.ahead();
        if let Some(line) = self.lines.get(after as usize) {
            fetch(line);
        }
        if let Some(line) = self.lines.get(next as usize) {
            line.fetch();
        }
        if let Some((at, flow)) = self.flow_of(next) {
            flow.fetch();
            self.receivers[at].fetch();
        }
        if let Some((_, flow)) = self.flow_of(entity) {
            flow.data.fetch();
            self.groups[flow.group as usize].windows.fetch(flow.index as usize);
        }
    }

    /// Whose event that of `entity` is, where that is a flow's.
    #[inline]
    fn flow_of(&self, entity: u32) -> Option<(usize, &Flow)> {
        let n = self.numbering;
        let at = match self.lines.get(entity as usize) {
            Some(line) => line.flow,
            None if entity >= n.entries => return None,
            None => entity.wrapping_sub(if entity < n.timeout { n.send } else { n.timeout }),
        };
        self.flows.get(at as usize).map(|flow| (at as usize, flow))
    }
}

impl Line {
    /// Sends for the head.
    #[inline]
    fn fetch(&self) {
        if let Some(packet) = self.packets.front() {
            fetch(packet);
        }
    }
}

impl Flow {
    /// Prefetches the data of every packet.
    #[inline]
    fn fetch(&self) {
        fetch(self);
        fetch(&self.until);
        fetch(&self.data.recover);
        fetch(&self.data.rule);
        fetch(&self.timer);
        fetch(&self.burst);
        fetch(&self.sent.least_rtt);
    }
}

impl Receiver {
    /// Prefetches the data of every packet.
    #[inline]
    fn fetch(&self) {
        fetch(self);
        fetch(&self.received);
    }
}
