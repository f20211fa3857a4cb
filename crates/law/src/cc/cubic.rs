//! CUBIC: after a congestion event the window climbs back as a cubic of time, steeply, then flat around the window of the
//! last event, then steeply again.
//!
//! Source: RFC 9438, sections 4.2 to 4.10, formulas by its figures; RFC 9406 (HyStart++) for the first slow start where
//! `hystart` is on. Symbols: `origin` is W_max, `prior` cwnd_prior, `reno` W_est, `elapsed` t.
//! Differs: a congestion event takes its share of the window, as in Linux, unless `flight_size` selects that of the flight, and leaves two
//! packets at least, also after an echo; an acknowledgement that carries an echo grows nothing; time without an acknowledgement counts up
//! to a round trip and no further, so that a law that is called for acknowledgements only keeps section 4.2's "no long periods without an
//! update"; spurious congestion events (section 4.9) are for the host to undo; the smoothed round-trip time takes in one sample an
//! acknowledgement with RFC 6298's weight, those of loss recovery left out.

use alloc::string::String;

use super::hystart::{self, Classic, HyStart};
use super::newreno::{ECN, FLIGHT_SIZE, PER_ACK, reduced};
use super::search::{SEARCH, SlowStart, real};
use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables};
use crate::number::Number;
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "cubic",
    title: "CUBIC: the window is a cubic function of the time since the last congestion event",
    source: "RFC 9438; RFC 9406",
    colour: "#2456c4",
    parameters: &[
        Parameter::number(
            "c",
            Unit::One,
            0.4,
            [1e-6, 1e3],
            "C, steepness of the cubic, in packets per cubic second",
            "RFC 9438, section 5.1",
        ),
        Parameter::number(
            "beta",
            Unit::One,
            0.7,
            [0.1, 0.99],
            "multiplicative decrease factor: cwnd becomes beta * cwnd after a congestion event",
            "RFC 9438, section 4.6",
        ),
        Parameter::switch(
            "fast_convergence",
            true,
            "fast convergence: a flow whose W_max shrinks reduces W_max further, so that other flows gain",
            "RFC 9438, section 4.7",
        ),
        Parameter::switch(
            "tcp_friendly",
            true,
            "Reno-friendly region: the window is at least \
             Reno's",
            "RFC 9438, section 4.3",
        ),
        Parameter::switch(
            "friendly_catches_up",
            true,
            "W_est grows by one packet per round trip once it reaches the window before the last congestion event; \
             Linux keeps 3 (1 - beta)/(1 + beta)",
            "RFC 9438, section 4.3",
        ),
        Parameter::number(
            "initial_growth",
            Unit::One,
            0.0,
            [0.0, 0.5],
            "share of the window by which it grows at least in a round trip of congestion avoidance while W_max is unknown, that is \
             before the first congestion event and between a timeout and the next one; Linux has 0.05",
            "Linux, net/ipv4/tcp_cubic.c, bictcp_update",
        ),
        Parameter::switch(
            "hystart",
            false,
            "HyStart++: the first slow start ends when the round-trip time rises; until then an acknowledgement \
             counts for up to 8 packets",
            "RFC 9406",
        ),
        Parameter::choice(
            "hystart_rule",
            &["rfc9406", "linux"],
            "with `hystart`: HyStart++, or HyStart as Linux has it, which ends every slow start at once when a train of \
             acknowledgements lasts half a round trip or the round-trip time rises, and does not limit what an acknowledgement \
             counts for",
            "RFC 9406; Ha and Rhee 2011",
        ),
        PER_ACK,
        ECN,
        SEARCH,
        FLIGHT_SIZE,
    ],
    observables: Observables::of::<Cubic>(),
    linearisation: Linearisation::Unsupported(
        "the window depends on the time since the last congestion event, not on the state alone",
    ),
    real: &real::<Cubic>,
    dual: None,
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    tcp_friendly: bool,
    friendly_catches_up: bool,
    initial_growth: f64,
    hystart: bool,
    classic: bool,
    ecn: bool,
    per_ack: u32,
    flight_size: bool,
    initial_window: f64,
    initial_ssthresh: f64,
}

numbers! {
    /// The state of CUBIC.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles each round trip.
        ssthresh: "packets" as "Slow-start threshold",
        /// W_max of RFC 9438: the window at which the cubic curve is flat.
        origin: "packets" as "Origin of the cubic, W_max",
        /// cwnd_prior of RFC 9438: the window just before the last congestion event.
        prior: "packets" as "Window before the last congestion event",
        /// W_est of RFC 9438: the window that Reno would have.
        reno: "packets" as "Reno-friendly window, W_est",
        /// K of RFC 9438: time from the start of this stage of congestion avoidance until the curve reaches W_max.
        k: "s" as "Time to the origin, K",
        /// t of RFC 9438: time since the start of this stage of congestion avoidance.
        elapsed: "s" as "Time in congestion avoidance",
        /// Time of the last acknowledgement, from the start of the run.
        last_ack: "s" as "Time of the last acknowledgement",
        /// Smoothed round-trip time; zero before the first sample.
        smoothed_rtt: "s" as "Smoothed round-trip time",
    }
    frozen {
        /// A stage of congestion avoidance is under way.
        avoids: bool,
        /// No congestion event since the start or a timeout set an origin.
        anew: bool,
        /// The same, whether a stage of congestion avoidance set one meanwhile or not.
        unknown: bool,
        /// The monitor of the first slow start.
        hystart: HyStart,
        /// The monitor of each slow start, as in Linux.
        classic: Classic,
    }
}

impl Cubic {
    /// W_cubic(t), Figure 1 [packets].
    fn at(&self, s: &State<f64>, t_s: f64) -> f64 {
        let x = t_s - s.k;
        self.c * x * x * x + s.origin
    }

    /// Time goes on, and a round trip was measured.
    fn clock(s: &mut State<f64>, observation: &Observation<f64>) {
        s.smoothed_rtt = if s.smoothed_rtt > 0.0 {
            s.smoothed_rtt + (observation.rtt_s - s.smoothed_rtt) / 8.0
        } else {
            observation.rtt_s
        };
        // Of a packet in flight when the last acknowledgement came, this round trip covers the time since.
        s.elapsed += Number::min(observation.now_s - s.last_ack, observation.rtt_s);
        s.last_ack = observation.now_s;
    }

    fn slow_start(&self, s: &mut State<f64>, counted: u32, observation: &Observation<f64>) {
        if s.hystart.watches() {
            let most = core::cmp::max(self.per_ack, hystart::PER_ACK);
            s.window += f64::from(counted.min(most)) / s.hystart.divisor();
            s.hystart.sample(observation.rtt_s);
        } else {
            s.window += f64::from(counted.min(self.per_ack));
            if self.classic && s.classic.sample(observation.now_s, observation.rtt_s, s.window) {
                s.ssthresh = s.window;
            }
        }
    }

    /// A stage of congestion avoidance starts.
    fn enter(&self, s: &mut State<f64>) {
        s.avoids = true;
        s.hystart.stop();
        s.elapsed = 0.0;
        s.reno = s.window;
        // Sections 4.8 and 4.10; also where the floor of two packets is above the last window.
        if s.anew || s.origin <= s.window {
            s.k = 0.0;
            s.origin = s.window;
        } else {
            s.k = libm::cbrt((s.origin - s.window) / self.c); // Figure 2
        }
        if s.prior == 0.0 {
            s.prior = s.window; // section 4.10
        }
        s.anew = false;
    }

    fn avoid(&self, s: &mut State<f64>, counted: u32) {
        if counted == 0 {
            return;
        }
        // Figure 4, with alpha = 1 once Reno would have grown back, section 4.3.
        let caught_up = self.friendly_catches_up && s.reno >= s.prior;
        let alpha = if caught_up { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) };
        s.reno += alpha * f64::from(counted) / s.window;
        let grown = f64::from(counted.min(self.per_ack));
        let least = if s.unknown { s.window + self.initial_growth * grown } else { s.window };
        if self.tcp_friendly && self.at(s, s.elapsed) < s.reno {
            // W_est may be below a window that was set by the target, a round trip ahead.
            s.window = Number::max(least, s.reno);
        } else {
            let target = Number::clamp(self.at(s, s.elapsed + s.smoothed_rtt), s.window, 1.5 * s.window);
            // Sections 4.4 and 4.5.
            s.window = Number::max(least, s.window + grown * (target - s.window) / s.window);
        }
    }

    /// The common part of a congestion event and a timeout: sections 4.6 and 4.8.
    fn reduce(&self, s: &mut State<f64>, seen: &Observation<f64>) {
        s.prior = s.window;
        s.ssthresh = Number::max(reduced(self.flight_size, s.window, seen) * self.beta, 2.0);
        s.avoids = false;
        s.hystart.stop();
    }
}

impl Law<f64> for Cubic {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        if values.number("hystart_rule") != 0.0 && !values.switch("hystart") {
            return Err("`hystart_rule` has an effect with `hystart = true` only".into());
        }
        if values.number(SEARCH.name) != 0.0 && values.switch("hystart") {
            return Err("`search` and `hystart` both end slow start: write `hystart = false`".into());
        }
        Ok(Self {
            c: values.number("c"),
            beta: values.number("beta"),
            fast_convergence: values.switch("fast_convergence"),
            tcp_friendly: values.switch("tcp_friendly"),
            friendly_catches_up: values.switch("friendly_catches_up"),
            initial_growth: values.number("initial_growth"),
            hystart: values.switch("hystart") && values.number("hystart_rule") == 0.0,
            classic: values.switch("hystart") && values.number("hystart_rule") != 0.0,
            ecn: values.switch("ecn"),
            per_ack: values.number("per_ack") as u32,
            flight_size: values.switch("flight_size"),
            initial_window: context.initial_window,
            initial_ssthresh: context.initial_ssthresh,
        })
    }

    fn initial_state(&self) -> State<f64> {
        State {
            window: self.initial_window,
            ssthresh: self.initial_ssthresh,
            origin: 0.0,
            prior: 0.0,
            reno: 0.0,
            k: 0.0,
            elapsed: 0.0,
            last_ack: 0.0,
            smoothed_rtt: 0.0,
            avoids: false,
            anew: true,
            unknown: true,
            hystart: if self.hystart { HyStart::START } else { HyStart::OVER },
            classic: Classic::START,
        }
    }

    #[inline]
    fn on_event(&self, s: &mut State<f64>, event: Event, observation: &Observation<f64>) {
        match event {
            Event::Ack { packets, marked } => {
                Self::clock(s, observation);
                let counted = packets - marked;
                if s.window < s.ssthresh {
                    self.slow_start(s, counted, observation);
                } else {
                    if !s.avoids {
                        self.enter(s);
                    }
                    self.avoid(s, counted);
                }
            }
            Event::Round => {
                s.classic.round(observation.now_s);
                if s.hystart.watches() && s.window < s.ssthresh && s.hystart.round() {
                    s.ssthresh = s.window;
                }
            }
            Event::Congestion => {
                // Section 4.7.
                let lost_ground = self.fast_convergence && s.window < s.origin;
                s.origin = if lost_ground { s.window * (1.0 + self.beta) / 2.0 } else { s.window };
                self.reduce(s, observation);
                (s.anew, s.unknown) = (false, false);
                s.window = s.ssthresh;
            }
            Event::Timeout => {
                s.classic = Classic::START;
                // Of a segment that was sent again before, ssthresh is held (RFC 5681, section 3.1).
                let held = (self.flight_size && s.window <= 1.0).then_some(s.ssthresh);
                self.reduce(s, observation);
                s.ssthresh = held.unwrap_or(s.ssthresh);
                (s.anew, s.unknown) = (true, true);
                s.window = 1.0;
            }
            Event::Tick => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: s.window, gap_s: 0.0 }
    }

    /// Linux restores the window and keeps what it knows of W_max.
    fn undone(&self, s: &mut State<f64>, after: &State<f64>) {
        s.unknown = after.unknown;
    }

    fn requirements(&self) -> Requirements {
        let marks = if self.ecn { Marks::Congestion } else { Marks::Ignored };
        Requirements { marks, now: true, flight_size: self.flight_size, ..Requirements::LEAST }
    }
}

impl SlowStart for Cubic {
    fn is_slow_start(s: &State<f64>) -> bool {
        s.window < s.ssthresh
    }
    fn end_slow_start(s: &mut State<f64>, window: f64) {
        (s.window, s.ssthresh) = (window, window);
        // A stage of congestion avoidance from there, with no window to go back to.
        (s.avoids, s.anew) = (false, true);
    }
}

#[cfg(test)]
mod tests;
