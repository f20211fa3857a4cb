//! TCP Westwood+: after a loss the window is the bandwidth-delay product of the measured bandwidth and an empty path.
//!
//! Source: Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP Westwood: Bandwidth Estimation for Enhanced Transport over
//! Wireless Links" (MobiCom 2001); Grieco and Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and
//! Vegas TCP Congestion Control" (CCR 34(2), 2004); Linux, `net/ipv4/tcp_westwood.c`, for every constant.
//! Differs: packets for bytes, and a clock without ticks of a millisecond; a delivery counts at its time, by whatever
//! acknowledgement, where Linux counts duplicate ones and takes them off later; marks change nothing; a spurious recovery
//! is undone.

mod mean;

use alloc::string::String;

use super::newreno::PER_ACK;
use super::search::{SEARCH, SlowStart, real};
use super::{
    AckSample, Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, Spared,
};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

use mean::Mean;

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "westwood",
    title: "TCP Westwood+: the window after a loss is the measured bandwidth times the smallest round-trip time",
    source: "Mascolo et al., TCP Westwood, 2001; Grieco, Mascolo, 2004; Linux, net/ipv4/tcp_westwood.c",
    colour: "#2f6f8f",
    parameters: &[
        Parameter::number(
            "sample_time",
            Unit::Seconds,
            0.05,
            [1e-4, 10.0],
            "least time that a sample of the bandwidth takes; otherwise it takes a round trip",
            "Linux, TCP_WESTWOOD_RTT_MIN; Grieco and Mascolo, section 2",
        ),
        Parameter::number(
            "weight",
            Unit::One,
            0.125,
            [1e-3, 1.0],
            "weight of a new value in each of the two filters of the bandwidth",
            "Linux, westwood_do_filter",
        ),
        Parameter::switch(
            "seeded",
            true,
            "the filters start with the first sample, not at zero",
            "Linux, westwood_filter; the papers start at zero",
        ),
        Parameter::choice(
            "fill",
            &["end", "start"],
            "moment at which the window becomes the bandwidth times the smallest round trip: end of a recovery, with half the \
             window until then, or its start, never above the window before",
            "Linux, CA_EVENT_COMPLETE_CWR; Mascolo et al., section 2.2",
        ),
        PER_ACK,
        SEARCH,
    ],
    observables: Observables::of::<Westwood>(),
    linearisation: Linearisation::Mean(
        "the rate of a round trip for a sample of the bandwidth, and the empty path for the smallest round trip",
    ),
    real: &real::<Westwood>,
    dual: Some(&build::<Dual, Mean<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Westwood {
    sample_time: f64,
    weight: f64,
    seeded: bool,
    at_start: bool,
    per_ack: u32,
    initial_window: f64,
    initial_ssthresh: f64,
}

numbers! {
    /// The state of Westwood+.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles each round trip.
        ssthresh: "packets" as "Slow-start threshold",
        /// Bandwidth after one filter.
        once: "packets/s" as "Bandwidth, filtered once",
        /// Bandwidth after both filters: what the window after a loss comes from.
        bandwidth: "packets/s" as "Bandwidth, filtered twice",
        /// Smallest round-trip time since the start or the last timeout; zero before the first sample.
        min_rtt: "s" as "Smallest round-trip time",
        /// Packets delivered since the last sample of the bandwidth.
        acked: "packets" as "Delivered since the last sample",
    }
    frozen {
        /// The last round-trip time, and when the sample under way began [s].
        rtt_s: f64,
        since_s: f64,
        /// There was a sample.
        sampled: bool,
        recovering: bool,
        /// Window and threshold before the last reduction.
        before: [f64; 2],
    }
}

impl Westwood {
    /// The packets that fill the path without a queue; at least two packets.
    fn pipe(s: &State<f64>) -> f64 {
        Number::max(s.bandwidth * s.min_rtt, 2.0)
    }

    fn filter(&self, s: &mut State<f64>, sample: f64) {
        if self.seeded && !s.sampled {
            (s.once, s.bandwidth) = (sample, sample);
        } else {
            s.once += self.weight * (sample - s.once);
            s.bandwidth += self.weight * (s.once - s.bandwidth);
        }
        s.sampled |= sample > 0.0;
    }

    fn on_ack(&self, s: &mut State<f64>, now_s: f64, ack: &AckSample) {
        // A sample ends with the acknowledgement before this one.
        let span = now_s - s.since_s;
        if s.rtt_s > 0.0 && span > Number::max(s.rtt_s, self.sample_time) {
            self.filter(s, s.acked / span);
            (s.acked, s.since_s) = (0.0, now_s);
        }
        s.acked += f64::from(ack.packets);
        if let Some(rtt) = ack.rtt {
            s.rtt_s = rtt.seconds();
            s.min_rtt = if s.min_rtt > 0.0 { Number::min(s.min_rtt, s.rtt_s) } else { s.rtt_s };
        }
    }

    /// The immediate reduction at a loss.
    fn reduce(&self, s: &mut State<f64>) {
        s.before = [s.window, s.ssthresh];
        if self.at_start {
            s.ssthresh = Self::pipe(s);
            s.window = Number::min(s.window, s.ssthresh);
        } else {
            s.ssthresh = Number::max(s.window / 2.0, 2.0);
            s.window = s.ssthresh;
        }
    }

    /// A recovery is over.
    fn fill(&self, s: &mut State<f64>) {
        if !self.at_start {
            s.ssthresh = Self::pipe(s);
            s.window = s.ssthresh;
        }
    }

    fn undo(s: &mut State<f64>) {
        s.window = Number::max(s.window, s.before[0]);
        s.ssthresh = Number::max(s.ssthresh, s.before[1]);
        s.recovering = false;
    }
}

impl Law<f64> for Westwood {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            sample_time: values.number("sample_time"),
            weight: values.number("weight"),
            seeded: values.switch("seeded"),
            at_start: values.number("fill") != 0.0,
            per_ack: values.number("per_ack") as u32,
            initial_window: context.initial_window,
            initial_ssthresh: context.initial_ssthresh,
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: self.initial_window,
            ssthresh: self.initial_ssthresh,
            once: 0.0,
            bandwidth: 0.0,
            min_rtt: 0.0,
            acked: 0.0,
            rtt_s: 0.0,
            since_s: 0.0,
            sampled: false,
            recovering: false,
            before: [0.0; 2],
        }
    }

    fn on_event(&self, s: &mut State<f64>, event: Event, _: &Observation<f64>) {
        match event {
            // As in RFC 5681, and not in recovery.
            Event::Ack { packets, .. } => {
                let counted = f64::from(packets.min(self.per_ack));
                s.window += if s.window < s.ssthresh { counted } else { counted / s.window };
            }
            Event::Congestion => self.reduce(s),
            // What a timeout does is below.
            Event::Timeout | Event::Round | Event::Tick => {}
        }
    }

    fn on_detail(&self, s: &mut State<f64>, delivery: &Delivery, _: &Observation<f64>) {
        match &delivery.event {
            DeliveryEvent::Ack(ack) => self.on_ack(s, delivery.now.seconds(), ack),
            DeliveryEvent::RecoveryEntered => s.recovering = true,
            // Linux: CA_EVENT_COMPLETE_CWR, which a recovery after a timeout does not end with. It comes at the end of each recovery,
            // also where the next one begins at once.
            DeliveryEvent::RecoveryRenewed if s.recovering => self.fill(s),
            DeliveryEvent::RecoveryLeft => {
                if core::mem::take(&mut s.recovering) {
                    self.fill(s);
                }
            }
            DeliveryEvent::Timeout => {
                s.before = [s.window, s.ssthresh];
                s.ssthresh = Self::pipe(s);
                s.window = 1.0;
                s.recovering = false;
                // The next sample is the smallest: the path may have become another.
                s.min_rtt = 0.0;
            }
            DeliveryEvent::RecoveryUndone | DeliveryEvent::TimeoutUndone => Self::undo(s),
            DeliveryEvent::Lost(_)
            | DeliveryEvent::RecoveryRenewed
            | DeliveryEvent::Timer
            | DeliveryEvent::IdleRestart => {}
        }
    }

    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        // Acknowledgements make its window grow.
        let spared = Spared { transmissions: true, uniform: true, acks: false, timing: true };
        Requirements { delivery: true, spared, ..Requirements::LEAST }
    }
}

impl SlowStart for Westwood {
    fn is_slow_start(s: &State<f64>) -> bool {
        s.window < s.ssthresh
    }
    fn end_slow_start(s: &mut State<f64>, window: f64) {
        (s.window, s.ssthresh) = (window, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Time;

    fn law(set: &[(&str, f64)]) -> Westwood {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        Westwood::compile(&values, &context).unwrap()
    }

    fn told(law: &Westwood, s: &mut State<f64>, now_ms: u64, event: DeliveryEvent) {
        let delivery = Delivery {
            event,
            now: Time(now_ms * 1_000_000_000),
            sent: 0,
            delivered: 0,
            lost: 0,
            in_flight: 0,
            app_limited: false,
            window_limited: true,
            uniform: 0.0,
        };
        law.on_detail(s, &delivery, &Observation::zero());
    }

    /// An acknowledgement of that many packets, with a round trip of 80 ms.
    fn ack(law: &Westwood, s: &mut State<f64>, now_ms: u64, packets: u32) {
        let rtt = Some(Time(80_000_000_000));
        let sample = AckSample { packets, marked: 0, lost: 0, in_flight_before: 0, rtt, rate: None };
        told(law, s, now_ms, DeliveryEvent::Ack(sample));
    }

    /// Two filters one after the other respond to a step from 0 to B with 1 - (7/8)^k (1 + k/8) after k samples: 0.313,
    /// 0.646 and 0.930 after 8, 16 and 32. A seeded one has all of it at once.
    #[test]
    fn the_filters_follow_a_step() {
        let law_of = |seeded: f64| law(&[("seeded", seeded)]);
        let law = law_of(0.0);
        let mut s = law.initial_state();
        for k in 1..=32 {
            law.filter(&mut s, 1000.0);
            let expected = match k {
                8 => 0.313,
                16 => 0.646,
                32 => 0.930,
                _ => continue,
            };
            assert!((s.bandwidth / 1000.0 - expected).abs() < 5e-4, "{k}: {}", s.bandwidth);
        }
        let law = law_of(1.0);
        let mut s = law.initial_state();
        law.filter(&mut s, 0.0);
        law.filter(&mut s, 1000.0);
        assert_eq!(s.bandwidth, 1000.0, "nothing is no first sample");
        law.filter(&mut s, 2000.0);
        assert!((s.bandwidth - (1000.0 + 1000.0 / 64.0)).abs() < 1e-9);
    }

    /// A packet each millisecond over a round trip of 80 ms: 1000 packets/s, so that 80 fill the path, whatever the window was.
    #[test]
    fn recovery_ends_with_a_full_pipe() {
        let law = law(&[]);
        let mut s = State { window: 300.0, ssthresh: 2.0, ..law.initial_state() };
        (1..2000).for_each(|now| ack(&law, &mut s, now, 1));
        assert!((s.bandwidth - 1000.0).abs() < 15.0, "{}", s.bandwidth);
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        told(&law, &mut s, 2000, DeliveryEvent::RecoveryEntered);
        assert_eq!(s.window, 150.0, "as Reno until it ends");
        told(&law, &mut s, 2080, DeliveryEvent::RecoveryLeft);
        assert!((s.window - 80.0).abs() < 1.2 && s.ssthresh == s.window, "{}", s.window);
        // One that ends as the next begins: half of what fills the pipe is left until that one ends.
        s.window = 300.0;
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        told(&law, &mut s, 2082, DeliveryEvent::RecoveryEntered);
        told(&law, &mut s, 2084, DeliveryEvent::RecoveryRenewed);
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert!((s.window - 40.0).abs() < 0.6, "{}", s.window);
        told(&law, &mut s, 2090, DeliveryEvent::RecoveryLeft);
        assert!((s.window - 80.0).abs() < 1.2, "{}", s.window);
        s.window = 300.0;
        law.on_event(&mut s, Event::Timeout, &Observation::zero());
        told(&law, &mut s, 2100, DeliveryEvent::Timeout);
        assert!((s.ssthresh - 80.0).abs() < 1.2 && s.window == 1.0);
        told(&law, &mut s, 2200, DeliveryEvent::RecoveryLeft);
        assert_eq!(s.window, 1.0, "what ends after a timeout is no fast recovery");
    }

    /// As the papers have it: the window is what fills the path at once, and a loss never raises it.
    #[test]
    fn recovery_may_begin_with_a_full_pipe() {
        let law = law(&[("fill", 1.0)]);
        for (window, after) in [(300.0, 80.0), (50.0, 50.0)] {
            let mut s = State { bandwidth: 1000.0, min_rtt: 0.08, window, ssthresh: 2.0, ..law.initial_state() };
            law.on_event(&mut s, Event::Congestion, &Observation::zero());
            assert_eq!((s.window, s.ssthresh), (after, 80.0));
            told(&law, &mut s, 10, DeliveryEvent::RecoveryEntered);
            told(&law, &mut s, 20, DeliveryEvent::RecoveryLeft);
            assert_eq!(s.window, after);
        }
    }

    /// A sample lasts a round trip, and 50 ms at the least: acknowledgements that come together are one sample.
    #[test]
    fn a_sample_lasts_a_round_trip() {
        let law = law(&[("sample_time", 0.05)]);
        let mut s = law.initial_state();
        ack(&law, &mut s, 0, 0);
        (1..=80).for_each(|now| ack(&law, &mut s, now, 1));
        assert_eq!((s.acked, s.bandwidth), (80.0, 0.0));
        ack(&law, &mut s, 81, 1);
        assert_eq!((s.acked, s.bandwidth), (1.0, 80.0 / 0.081));
    }

    /// A recovery for nothing is undone.
    #[test]
    fn what_was_for_nothing_is_undone() {
        let law = law(&[]);
        let mut s = State { window: 100.0, ssthresh: 60.0, ..law.initial_state() };
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        told(&law, &mut s, 10, DeliveryEvent::RecoveryEntered);
        told(&law, &mut s, 20, DeliveryEvent::RecoveryUndone);
        assert_eq!((s.window, s.ssthresh), (100.0, 60.0));
        told(&law, &mut s, 30, DeliveryEvent::RecoveryLeft);
        assert_eq!(s.window, 100.0);
    }
}
