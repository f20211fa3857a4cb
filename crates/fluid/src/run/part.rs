//! Senders of a run that advance side by side: parts read the same queues and share nothing else.

use core::fmt;
use core::ops::Range;

use super::Method;
use super::cohort::Cohort;
use super::conditioner::Conditioner;
use super::further::Further;
use super::host::Host;
use super::incoming::{Incoming, Kept, Sink};
use super::queue::Queue;
use super::way::{Signals, Ways};

/// The senders of neighbouring groups, and their packets.
pub(super) struct Senders {
    /// Their groups, and their cohorts.
    pub(super) groups: Range<usize>,
    pub(super) cohorts: Range<usize>,
    pub(super) ways: Ways,
    pub(super) further: Further,
    /// Those of the cohort that advances.
    signals: Signals,
    /// Arrivals that wait for those of the parts before.
    pub(super) kept: Kept,
}

impl Senders {
    /// None yet: the first ones will be of that group and that cohort.
    pub(super) fn new(group: usize, cohort: usize, method: &Method) -> Self {
        Self {
            groups: group..group,
            cohorts: cohort..cohort,
            ways: Ways { frozen: method.frozen_delays, ..Ways::default() },
            further: Further::default(),
            signals: Signals::default(),
            kept: Kept::default(),
        }
    }
}

/// Some steps in a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stretch<'a> {
    /// Senders advance from the first of these times to the last, and their packets arrive at the first queue.
    Senders { times: &'a [f64], step: f64 },
    /// Packets arrive at the queues behind, at the ends of steps; the first one's index in the block.
    Further { ends: &'a [f64], slot: usize },
}

/// Senders of a run, which [advance](Part::advance) beside those of other parts.
pub struct Part<'a> {
    pub(super) senders: &'a mut Senders,
    pub(super) cohorts: &'a mut [Cohort],
    pub(super) hosts: &'a mut [Host],
    pub(super) queues: &'a [Queue],
    pub(super) conditioners: &'a [Conditioner],
    pub(super) stretch: Stretch<'a>,
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("groups", &self.senders.groups).finish_non_exhaustive()
    }
}

/// With less work a thread takes longer to begin and to end, 60 us, than it saves: steps of cohorts, and steps of arrivals behind the
/// first queues.
const SHORT: usize = 500;
const SHORT_FURTHER: usize = 2000;

impl Part<'_> {
    /// Whether its next advance takes less time than a thread for it would.
    pub fn is_short(&self) -> bool {
        match self.stretch {
            Stretch::Senders { times, .. } => self.cohorts.len() * times.len().saturating_sub(1) < SHORT,
            Stretch::Further { ends, .. } => self.senders.further.len() * ends.len() < SHORT_FURTHER,
        }
    }

    /// Computes the part's share of some steps. The order of parts changes no bit, nor does it if they are computed on several threads.
    pub fn advance(&mut self) {
        let mut kept = core::mem::take(&mut self.senders.kept);
        self.advance_into(&mut kept);
        self.senders.kept = kept;
    }

    /// The same, of a run with one part: its arrivals are added at once.
    pub(super) fn advance_alone(&mut self, incoming: &mut Incoming) {
        self.advance_into(incoming);
    }

    fn advance_into<S: Sink>(&mut self, sink: &mut S) {
        let Self { senders, cohorts, hosts, queues, conditioners, stretch } = self;
        let Senders { groups, ways, further, signals, .. } = &mut **senders;
        match *stretch {
            Stretch::Senders { times, step } => {
                for cohort in cohorts.iter_mut() {
                    let host = &mut hosts[cohort.group - groups.start];
                    cohort.advance(times, step, (host, ways), queues, conditioners, signals);
                    if conditioners.is_empty() {
                        cohort.way.arrive(&times[1..], 0, ways, queues, conditioners, sink);
                    }
                }
            }
            Stretch::Further { ends, slot } => {
                further.begin(ends, queues);
                if conditioners.is_empty() {
                    further.arrive((ends, slot), ways, queues, conditioners, sink);
                } else {
                    for cohort in cohorts.iter_mut() {
                        cohort.way.arrive(ends, slot, ways, queues, conditioners, sink);
                        further.arrive_of(cohort.way.cohort, (ends, slot), ways, queues, conditioners, sink);
                    }
                }
            }
        }
    }
}
