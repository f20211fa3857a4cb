//! A law of the registry under the vectors, without a host: the rules of RFC 9002 for what counts are here.

use penstock_law::Registry;
use penstock_law::cc::{Context, Controller, Event, Observation, Output};
use penstock_law::law::Instances;
use penstock_law::parameter::Values;
use penstock_law::quantity::Bytes;

use super::driver::Stack;
use super::sequences::{DATAGRAM, INITIAL};

pub(crate) struct OfLaw {
    law: Box<dyn Instances<f64, Controller>>,
    observation: Observation<f64>,
    output: Output<f64>,
    recovery_us: Option<u64>,
    round_us: Option<u64>,
    /// RFC 9002, appendix B.8: persistent congestion does not reduce the threshold again within a round trip.
    ssthresh: Option<f64>,
    /// RFC 9002, section 7.3.2 and appendix B.6: the threshold of NewReno is half the window, and the minimum is that of the window
    /// alone. RFC 5681, which the law follows, bounds the threshold, as RFC 9438 does. So no window differs: both end slow start.
    halves: bool,
}

const SIZE: f64 = DATAGRAM as f64;
/// [packets]
const LEAST: f64 = 2.0;

impl OfLaw {
    pub(crate) fn new(name: &str, set: &[(&str, f64)]) -> Self {
        let registry = Registry::standard();
        let entry = registry.controller(name).unwrap();
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in set {
            values.set(entry.parameters.iter().find(|p| p.name == *name).unwrap(), *value).unwrap();
        }
        let context = Context {
            packet: Bytes(DATAGRAM),
            initial_window: (INITIAL / DATAGRAM) as f64,
            initial_ssthresh: f64::INFINITY,
        };
        let mut law = (entry.real)(&values, &context).unwrap();
        law.add();
        let observation = Observation::zero();
        let output = law.output(0, &observation);
        Self { law, observation, output, recovery_us: None, round_us: None, ssthresh: None, halves: name == "newreno" }
    }

    fn event(&mut self, at_us: u64, event: Event) {
        self.observation.now_s = at_us as f64 * 1e-6;
        self.output = self.law.on_event(0, event, &self.observation);
    }

    /// Visits a number of the state by its name.
    fn number(&mut self, name: &str, f: &mut dyn FnMut(&mut f64)) {
        let mut names = self.law.names().iter();
        self.law.each(0, &mut |x| {
            if names.next().is_some_and(|(known, _)| *known == name) {
                f(x);
            }
        });
    }

    fn look(&mut self) {
        let mut found = None;
        self.number("ssthresh", &mut |x| found = x.is_finite().then_some(*x * SIZE));
        self.ssthresh = found;
    }
}

impl Stack for OfLaw {
    fn sent(&mut self, at_us: u64, _: u64) {
        self.round_us = self.round_us.or(Some(at_us));
    }

    fn acked(&mut self, at_us: u64, sent_us: u64, _: u64, datagrams: u64, marked: u64, limited: bool) {
        let rtt_s = (at_us - sent_us) as f64 * 1e-6;
        self.observation.rtt_s = rtt_s;
        let base = self.observation.base_rtt_s;
        self.observation.base_rtt_s = if base > 0.0 { base.min(rtt_s) } else { rtt_s };
        if !limited && self.recovery_us.is_none_or(|start| sent_us > start) {
            self.event(at_us, Event::Ack { packets: datagrams as u32, marked: marked as u32 });
        }
        if self.round_us.is_some_and(|round| sent_us >= round) {
            self.round_us = Some(at_us);
            self.event(at_us, Event::Round);
        }
        self.look();
    }

    fn lost(&mut self, at_us: u64, sent_us: u64, _: u64, persistent: bool) {
        let counts = self.recovery_us.is_none_or(|start| sent_us > start);
        let half = 0.5 * self.output.window.max(LEAST);
        if persistent {
            let kept = self.ssthresh;
            self.event(at_us, Event::Timeout);
            // RFC 9002, section 7.6.2: the minimum window, where TCP has one segment.
            self.number("window", &mut |x| *x = x.max(LEAST));
            if let Some(kept) = kept.filter(|_| !counts) {
                self.number("ssthresh", &mut |x| *x = kept / SIZE);
            }
            self.output = self.law.output(0, &self.observation);
            self.recovery_us = None;
        } else if counts {
            self.recovery_us = Some(at_us);
            self.event(at_us, Event::Congestion);
        }
        if counts && self.halves {
            self.number("ssthresh", &mut |x| *x = half);
        }
        self.look();
    }

    fn echo(&mut self, at_us: u64, sent_us: u64) {
        self.lost(at_us, sent_us, 0, false);
    }

    fn outputs(&self) -> [Option<f64>; 3] {
        let rate = (self.output.gap_s > 0.0).then(|| 8.0 * SIZE / self.output.gap_s);
        [Some(self.output.window.max(LEAST) * SIZE), self.ssthresh, rate]
    }
}
