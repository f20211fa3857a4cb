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
    /// A law's rate counts with the sequence's round trip: the adapter adds a sample to an estimate that never takes it in here.
    fn window(&self) -> f64 {
        let stated = self.controller.metrics().congestion_window as f64;
        let Ok(ours) = self.controller.clone_box().into_any().downcast::<Hosted>() else { return stated };
        let by_rate = self.rtt.get().as_secs_f64() / ours.gap_s();
        if ours.gap_s() > 0.0 { (ours.law_window().min(by_rate).max(2.0) * DATAGRAM as f64).floor() } else { stated }
    }
    fn ssthresh(&self) -> Option<f64> {
        self.controller.metrics().ssthresh.filter(|ssthresh| *ssthresh < u64::MAX).map(|ssthresh| ssthresh as f64)
    }
    fn pacing(&self) -> Option<f64> {
        self.controller.metrics().pacing_rate.map(|rate| rate as f64)
    }
}
