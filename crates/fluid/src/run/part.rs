//! Senders of a run that advance side by side: parts read the same queues and share nothing else.

use core::fmt;
use core::ops::Range;

use super::Method;
use super::cohort::Cohort;
use super::conditioner::Conditioner;
use super::further::Further;
use super::host::Host;
use super::incoming::{Kept, Sink};
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
    /// Arrivals that wait for those of the senders before.
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

    /// Work in a phase, in steps of cohorts. An arrival behind a first queue takes a quarter of one.
    pub(super) fn work(&self, phase: Phase<'_>) -> usize {
        match phase {
            Phase::Sending { times, .. } => self.cohorts.len() * times.len().saturating_sub(1),
            Phase::Passing { ends, .. } => self.further.len() * ends.len() / 4,
        }
    }
}

/// The work of senders in some steps in a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase<'a> {
    /// They advance from the first of these times to the last, and their packets arrive at the first queue.
    Sending { times: &'a [f64], step: f64 },
    /// Their packets arrive at the queues behind, at the ends of steps; the first one's index in the block.
    Passing { ends: &'a [f64], slot: usize },
}

/// Some senders in a phase.
pub(super) struct Task<'a> {
    pub(super) senders: &'a mut Senders,
    pub(super) cohorts: &'a mut [Cohort],
    pub(super) hosts: &'a mut [Host],
    pub(super) queues: &'a [Queue],
    pub(super) conditioners: &'a [Conditioner],
    pub(super) phase: Phase<'a>,
}

impl Task<'_> {
    /// Does it. Arrivals go into `sink`.
    pub(super) fn run(&mut self, sink: &mut impl Sink) {
        let Self { senders, cohorts, hosts, queues, conditioners, phase } = self;
        let Senders { groups, ways, further, signals, .. } = &mut **senders;
        match *phase {
            Phase::Sending { times, step } => {
                for cohort in cohorts.iter_mut() {
                    let host = &mut hosts[cohort.group - groups.start];
                    cohort.advance(times, step, (host, ways), queues, conditioners, signals);
                    if conditioners.is_empty() {
                        cohort.way.arrive(&times[1..], 0, ways, queues, conditioners, sink);
                    }
                }
            }
            Phase::Passing { ends, slot } => {
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

    /// The same. Its arrivals are kept.
    fn run_apart(&mut self) {
        let mut kept = core::mem::take(&mut self.senders.kept);
        self.run(&mut kept);
        self.senders.kept = kept;
    }
}

/// Some senders of a run, to be advanced once, perhaps on a thread of its own: it has work for one.
pub struct Part<'a> {
    tasks: Vec<Task<'a>>,
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("tasks", &self.tasks.len()).finish()
    }
}

impl<'a> Part<'a> {
    /// Puts neighbours together, so that each part has work for a thread, if there is as much.
    pub(super) fn of(tasks: Vec<Task<'a>>) -> Vec<Self> {
        let works: Vec<usize> = tasks.iter().map(|task| task.senders.work(task.phase)).collect();
        let mut tasks = tasks.into_iter();
        let lengths = lengths(&works).into_iter();
        lengths.map(|length| Self { tasks: tasks.by_ref().take(length).collect() }).collect()
    }

    /// Computes the part's share of some steps. Neither the order of parts nor their threads change a bit.
    pub fn advance(&mut self) {
        self.tasks.iter_mut().for_each(Task::run_apart);
    }
}

/// With less work a thread takes longer to begin and to end, 60 us, than it saves [steps of cohorts].
const LEAST: usize = 500;

/// The lengths of pieces of a row of works, as many as there can be of [`LEAST`]; one piece, where there is less in all.
fn lengths(works: &[usize]) -> Vec<usize> {
    let (mut lengths, mut length, mut sum) = (Vec::new(), 0, 0);
    for work in works {
        (length, sum) = (length + 1, sum + work);
        if sum >= LEAST {
            lengths.push(length);
            (length, sum) = (0, 0);
        }
    }
    match lengths.last_mut() {
        Some(last) => *last += length,
        None => lengths.push(length),
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_has_work_for_a_thread() {
        let all = LEAST;
        assert_eq!(lengths(&[all; 4]), [1, 1, 1, 1]);
        assert_eq!(lengths(&[all / 2; 8]), [2, 2, 2, 2]);
        assert_eq!(lengths(&[all - 1, 1, all - 1, 1]), [2, 2]);
        assert_eq!(lengths(&[all, 1, 1, 1]), [4], "a thread for three steps does not pay");
        assert_eq!(lengths(&[1, 1, all, all]), [3, 1]);
        assert_eq!(lengths(&[1; 8]), [8]);
    }
}
