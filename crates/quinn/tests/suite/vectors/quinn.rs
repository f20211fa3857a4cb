//! A controller of quinn under the vectors: quinn's own, or one of ours through the adapter.

use std::sync::Arc;
use std::time::{Duration, Instant};

use penstock_quinn::Hosted;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};

use super::driver::Stack;
use super::sequences::DATAGRAM;

pub(crate) struct OfQuinn {
    controller: Box<dyn Controller>,
    begin: Instant,
    number: u64,
    in_flight: u64,
    /// quinn's estimate on a path of the sequence's round trip.
    rtt: RttEstimator,
}

impl OfQuinn {
    pub(crate) fn new(factory: Arc<dyn ControllerFactory>, rtt: RttEstimator) -> Self {
        let begin = Instant::now();
        let controller = factory.build(begin, DATAGRAM as u16);
        Self { controller, begin, number: 0, in_flight: 0, rtt }
    }

    fn at(&self, us: u64) -> Instant {
        self.begin + Duration::from_micros(us)
    }

    /// A copy of the controller, if it is one of ours.
    fn ours(&self) -> Option<Box<Hosted>> {
        self.controller.clone_box().into_any().downcast().ok()
    }
}

impl Stack for OfQuinn {
    fn sent(&mut self, at_us: u64, bytes: u64) {
        self.number += 1;
        self.in_flight += bytes;
        self.controller.on_sent(self.at(at_us), bytes, self.number);
    }
    fn acked(&mut self, at_us: u64, sent_us: u64, bytes: u64, datagrams: u64, _: u64, limited: bool) {
        let (now, sent) = (self.at(at_us), self.at(sent_us));
        for _ in 0..datagrams {
            self.controller.on_ack(now, sent, DATAGRAM, limited, &self.rtt);
        }
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.controller.on_end_acks(now, self.in_flight, limited, None);
    }
    fn lost(&mut self, at_us: u64, sent_us: u64, bytes: u64, persistent: bool) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.controller.on_congestion_event(self.at(at_us), self.at(sent_us), persistent, bytes);
    }
    fn echo(&mut self, at_us: u64, sent_us: u64) {
        self.controller.on_congestion_event(self.at(at_us), self.at(sent_us), false, 0);
    }
    /// Of a law with a rate, the window that the law has said: quinn has the packets of the rate in a round trip, since it takes no
    /// rate. After persistent congestion QUIC's limit holds for either.
    fn outputs(&self) -> [Option<f64>; 3] {
        let metrics = self.controller.metrics();
        let ssthresh = metrics.ssthresh.filter(|ssthresh| *ssthresh < u64::MAX).map(|ssthresh| ssthresh as f64);
        let Some(ours) = self.ours().filter(|ours| ours.gap_s() > 0.0) else {
            return [Some(metrics.congestion_window as f64), ssthresh, None];
        };
        let window = (ours.law_window().min(ours.window_limit()).max(2.0) * DATAGRAM as f64).floor();
        [Some(window), ssthresh, Some(8.0 * DATAGRAM as f64 / ours.gap_s())]
    }
}
