//! CCP: a window in proportion to the free space in the bottleneck's buffer; and the code that it shares with CCPD,
//! which adds the change of that space (`ccpd`).
//!
//! Source: Cavendish, Kuwahara, Kumazoe, Tsuru, Oie, "TCP Congestion Avoidance using Proportional plus Derivative Control",
//! (3) for the window, section V for the rest. Symbols: `buffer` is B, `level` x, `in_flight` I.
//! Differs: (3) has I on both sides, since a window is the coming flight, so by default it is solved for `I = w`; as printed, with
//! the present flight, it is `window_form = "explicit"`. The paper leaves out timeouts: plain TCP, with half of the window where
//! RFC 5681 has half of the flight. The floor of two packets, which keeps pairs possible, is ours; so is that slow start grows
//! no window of which less than half is in use: (3) would not take it back before a loss. A host may report losses of a recovery
//! as events of their own: the packet simulator does where recovery is by time (RACK). A kept window then comes down to the value of (3)
//! with an empty queue, and then to that of (3), since it would lose packets for ever.
//!
//! The law holds no estimate: its host measures capacity, buffer and queue by
//! [`estimate::BottleneckEstimate`](crate::estimate::BottleneckEstimate), outside loss recovery only, and does not call
//! the law for acknowledgements of recovery. That is section V's "does not react to dupacks". It also requires the
//! retransmissions that acknowledgements of a recovery allow ([`Requirements::retransmit_on_duplicates`]), and that a recovery
//! ends where section V ends it: when "all segments transmitted during that window are acknowledged".
//! Kernel implementation: `bpf/law/ccp.h`, held equal bit for bit by `vectors/ccp.txt`, and with a derivative by `vectors/ccpd.txt`.

pub(super) mod derivative;

use alloc::string::String;

use super::{Context, Controller, Event, Observation, Output, Requirements, RttAverage};
use crate::estimate::{BottleneckEstimate, Committed, Lookback};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Fix, Number};
use crate::numbers;
use crate::parameter::{Default, Parameter, Unit, Values};

/// Kp.
pub(super) const KP: Parameter = Parameter::number(
    "kp",
    Unit::One,
    2.0,
    [1e-3, 1e3],
    "proportional gain: flows fill kp / (1 + kp) of the available buffer",
    "section VI-A chooses 2; 4 in most tables",
);

/// The form in which (3) becomes a window.
pub(super) const WINDOW_FORM: Parameter = Parameter {
    name: "window_form",
    description: "implicit: the window law solved for the window; explicit: as printed, with the packets now in flight",
    unit: Unit::Choice(&["implicit", "explicit"]),
    default: Default::Is(0.0),
    least: 0.0,
    most: 1.0,
    source: "(3); as printed, once a round trip, it is stable only while kp + 2 kd / RTT < 1",
};

/// The weight of a sample in `rtt_s`.
pub(super) const RTT_WEIGHT: Parameter = Parameter::number(
    "rtt_weight",
    Unit::One,
    0.125,
    [1e-6, 1.0],
    "weight of a sample in the average round-trip time",
    "section IV-C says `smoothed`; 1/8 is TCP's own, RFC 6298",
);

/// The number of packet pairs that count.
pub(super) const PAIRS: Parameter = Parameter::number(
    "pairs",
    Unit::One,
    50.0,
    [1.0, 10_000.0],
    "number of recent packet pairs; the least delayed of them gives the capacity",
    "section IV-A has no number; CapProbe uses the least delayed of all pairs, but a path can change",
);

/// The assumptions of the stability analysis.
pub(super) const DECLARED: &str = "known and constant capacity and buffer size, and the queue from an average of \
                                   round-trip times";

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "ccp",
    title: "CCP: a window in proportion to the free space in the bottleneck's buffer",
    source: "Cavendish et al., TCP Congestion Avoidance using Proportional plus Derivative Control, (3) with Kd = 0",
    colour: "#5a4fcf",
    parameters: &[KP, WINDOW_FORM, RTT_WEIGHT, PAIRS],
    observables: Observables::of::<Control<f64, false>>(),
    linearisation: Linearisation::Declared(DECLARED),
    real: &build::<f64, Control<f64, false>>,
    dual: Some(&build::<Dual, Control<Dual, false>>),
    fixed: Some(&build::<Fix<32>, Control<Fix<32>, false>>),
    kernel: None,
};

/// Compiled parameters of CCP and, with `DERIVATIVE`, of CCPD.
#[derive(Debug)]
pub struct Control<N, const DERIVATIVE: bool> {
    /// Kp
    pub kp: N,
    /// Kd; zero without derivative [s]
    pub kd_s: N,
    lookback: Lookback,
    /// True: (3) is solved for the window; false: it is as printed
    pub implicit: bool,
    rtt_weight: f64,
    pairs: u32,
    initial_window: N,
    initial_ssthresh: N,
    one: N,
    two: N,
    half: N,
}

numbers! {
    /// The state of CCP and CCPD.
    pub struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
    }
    frozen {
        /// Slow-start threshold [packets]; of no account once slow start is over, and so no part of the dynamics.
        ssthresh: N,
        /// Slow start is not over.
        slow_start: bool,
        /// No acknowledgement came since the last congestion event: it is being recovered from.
        recovers: bool,
    }
}

impl<N: Number, const DERIVATIVE: bool> Control<N, DERIVATIVE> {
    /// Equation (3). Without a moment to look back to there is no derivative.
    fn window(&self, observation: &Observation<N>) -> N {
        let zero = N::of(0.0);
        let looks_back = DERIVATIVE && observation.earlier_s > zero;
        let (kappa, earlier) =
            if looks_back { (self.kd_s / observation.earlier_s, observation.earlier) } else { (zero, zero) };
        if self.implicit {
            let free = self.kp * (observation.buffer - observation.level) + kappa * (earlier - observation.level);
            free / (self.one + self.kp + kappa)
        } else {
            let committed = observation.level + observation.in_flight;
            self.kp * (observation.buffer - committed) + kappa * (earlier - committed)
        }
    }
}

impl<N: Number, const DERIVATIVE: bool> Law<N> for Control<N, DERIVATIVE> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let kd_s = if DERIVATIVE { derivative::kd_s(values) } else { 0.0 };
        let lookback = if DERIVATIVE { derivative::lookback(values) } else { Lookback::RoundTrip };
        Ok(Self {
            kp: N::of(values.number("kp")),
            kd_s: N::of(kd_s),
            lookback,
            implicit: values.number("window_form") == 0.0,
            rtt_weight: values.number("rtt_weight"),
            pairs: values.number("pairs") as u32,
            initial_window: N::of(context.initial_window),
            initial_ssthresh: N::of(context.initial_ssthresh),
            one: N::of(1.0),
            two: N::of(2.0),
            half: N::of(0.5),
        })
    }

    fn initial_state(&self) -> State<N> {
        State {
            window: self.initial_window,
            ssthresh: self.initial_ssthresh,
            slow_start: self.initial_window < self.initial_ssthresh,
            recovers: false,
        }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        // Without a pair, or before the first queue, there is nothing to regulate by.
        let known = observation.buffer > N::of(0.0);
        match event {
            Event::Ack { packets, .. } => {
                s.recovers = false;
                if s.slow_start {
                    let acknowledged = N::count(packets);
                    if s.window < self.two * (observation.in_flight + acknowledged) {
                        // A receiver acknowledges every second packet at the least (RFC 5681, section 4.2), so that an
                        // acknowledgement of many stands for half as many; each of them grows the window by one.
                        s.window += N::count(packets.div_ceil(2));
                    }
                    s.slow_start = s.window < s.ssthresh || !known;
                }
                if !s.slow_start && known {
                    s.window = self.window(observation).max(self.two);
                }
            }
            // Section V: the window is kept. A loss ends slow start; what follows is (3)'s. If a host reports losses of a
            // recovery, more is kept than fits, and would be for ever, since (3) is not asked in recovery.
            Event::Congestion => {
                if s.recovers && known {
                    let empty = Observation { level: N::of(0.0), in_flight: N::of(0.0), ..*observation };
                    let most = self.window(&empty);
                    // That fits beside nobody; beside others it may be too much, and a recovery after that one ends as every
                    // recovery does, with what (3) makes of the estimates as they stand.
                    let less = if s.window > most { most } else { self.window(observation) };
                    s.window = less.max(self.two);
                }
                s.ssthresh = s.window;
                (s.slow_start, s.recovers) = (false, true);
            }
            Event::Timeout => {
                s.ssthresh = (s.window * self.half).max(self.two);
                s.window = self.one;
                (s.slow_start, s.recovers) = (true, false);
            }
            Event::Tick | Event::Round => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        let lookback = (DERIVATIVE && self.kd_s > N::of(0.0)).then_some(self.lookback);
        let committed = if self.implicit { Committed::Allowed } else { Committed::Sent };
        Requirements {
            average_rtt: Some(RttAverage::weighing(self.rtt_weight)),
            bottleneck: Some(BottleneckEstimate { pairs: self.pairs, lookback, committed }),
            // Section V: "for each duplicate ack received, the congestion window is increased to allow the retransmission of
            // the missing segment".
            retransmit_on_duplicates: true,
            ..Requirements::LEAST
        }
    }
}

#[cfg(test)]
mod tests;
