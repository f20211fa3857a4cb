//! Datagrams that wait at the line or are on their way.

use std::collections::VecDeque;
use std::time::Instant;

use penstock_law::aqm::{Aqm, Context, Event, Observation};
use penstock_law::law::Instances;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Registry, Values};
use quinn_proto::EcnCodepoint;

use crate::laboratory::Line;

/// A queue whose packets are dropped at the head.
pub(crate) struct AtHead {
    pub(crate) law: Box<dyn Instances<f64, Aqm>>,
    pub(crate) waiting: VecDeque<(Instant, Datagram)>,
    pub(crate) begin: Instant,
    pub(crate) marked: u64,
}

impl AtHead {
    pub(crate) fn codel(begin: Instant, line: &Line) -> Self {
        let registry = Registry::standard();
        let entry = registry.aqm("codel").unwrap();
        let rate = Rate(line.rate_bit_per_s as u64);
        let context = Context { rate, delay: Time::ZERO, packet: Bytes(line.packet as u64), classes: Vec::new() };
        let mut law = (entry.real)(&Values::defaults(entry.parameters), &context).unwrap();
        law.add();
        Self { law, waiting: VecDeque::new(), begin, marked: 0 }
    }

    /// The next packet to be sent, at `now`.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Datagram> {
        while let Some((came, mut datagram)) = self.waiting.pop_front() {
            let observation = Observation {
                queue: self.waiting.len() as f64,
                sojourn_s: now.saturating_duration_since(came).as_secs_f64(),
                now_s: now.saturating_duration_since(self.begin).as_secs_f64(),
                ..Observation::zero()
            };
            if self.law.on_event(0, Event::Departure { low_latency: false }, &observation).probability < 1.0 {
                return Some(datagram);
            }
            if datagram.ecn.is_some() {
                self.marked += 1;
                datagram.ecn = Some(EcnCodepoint::Ce);
                return Some(datagram);
            }
        }
        None
    }
}

/// A datagram on its way to an end.
pub(crate) struct Datagram {
    pub(crate) to: usize,
    pub(crate) ecn: Option<EcnCodepoint>,
    pub(crate) bytes: Vec<u8>,
}

/// A stage of a datagram.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stage {
    /// It leaves its client.
    Leaves,
    /// The kernel of the other end has it.
    Arrives,
    /// That end reads it.
    Read,
}

/// A datagram that comes to a stage.
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) order: u64,
    pub(crate) stage: Stage,
    pub(crate) datagram: Datagram,
}

impl PartialEq for Arrival {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}
impl Eq for Arrival {}
impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Arrival {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
