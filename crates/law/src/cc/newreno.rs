//! NewReno: slow start, additive increase, multiplicative decrease.
//!
//! Source: RFC 5681, section 3.1, equations (2) to (4); RFC 6582 for the extent of one congestion event (the host's
//! data control reports it); RFC 3168, section 6.1.2, for echoes.
//! Differs: the window counts packets and keeps fractions; equation (4) halves the window, as ns-2 and Linux do, unless
//! `flight_size` selects the RFC's FlightSize, and hosts let no window grow that is not used; the floor after a congestion event
//! is two packets; `grow_on_echo` lets acknowledgements that carry an echo grow the window, which RFC 3168 and ns-2 do not.

use alloc::string::String;

use super::search::{SEARCH, SlowStart, real};
use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

/// The switch of every law that takes an echo for a loss.
pub(super) const ECN: Parameter = Parameter::switch(
    "ecn",
    false,
    "use ECN: routers can mark packets instead of dropping them, and an echo is a congestion event",
    "RFC 3168",
);

/// The base of a reduction at a congestion event, for the laws whose RFC defines it.
pub(super) const FLIGHT_SIZE: Parameter = Parameter::switch(
    "flight_size",
    false,
    "after a loss, ssthresh follows from the data in flight, where that is less than the window; otherwise from the window",
    "RFC 5681, equation (4); RFC 9438, section 4.6; ns-2 and Linux take the window",
);

/// The weight of one acknowledgement, for every law whose window grows with acknowledgements.
pub(super) const PER_ACK: Parameter = Parameter::number(
    "per_ack",
    Unit::Packets,
    1.0,
    [1.0, 65_535.0],
    "most packets that one acknowledgement counts for when the window grows",
    "RFC 5681, equations (2) and (3); 2 is the limit L of RFC 3465",
);

/// The base of a congestion event's share: the window, or the flight if that is selected, known and less.
pub(super) fn reduced<N: Number>(flight_size: bool, window: N, seen: &Observation<N>) -> N {
    let less = flight_size && seen.in_flight > N::of(0.0) && seen.in_flight < window;
    if less { seen.in_flight } else { window }
}

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "newreno",
    title: "NewReno: one packet more per round trip, half after a congestion event",
    source: "RFC 5681; RFC 6582; RFC 3168",
    colour: "#c1440e",
    parameters: &[
        ECN,
        Parameter::switch(
            "grow_on_echo",
            false,
            "grow the window on acknowledgements with an echo too",
            "some simulators do; ns-2 does not; RFC 3168, section 6.1.2, forbids it",
        ),
        PER_ACK,
        SEARCH,
        FLIGHT_SIZE,
    ],
    observables: Observables::of::<NewReno<f64>>(),
    linearisation: Linearisation::Automatic,
    real: &real::<NewReno<f64>>,
    dual: Some(&build::<Dual, NewReno<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct NewReno<N> {
    ecn: bool,
    grow_on_echo: bool,
    per_ack: u32,
    flight_size: bool,
    initial_window: N,
    initial_ssthresh: N,
    one: N,
    two: N,
    half: N,
}

numbers! {
    /// The state of NewReno.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles each round trip.
        ssthresh: "packets" as "Slow-start threshold",
    }
}

impl<N: Number> Law<N> for NewReno<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            ecn: values.switch("ecn"),
            grow_on_echo: values.switch("grow_on_echo"),
            per_ack: values.number("per_ack") as u32,
            flight_size: values.switch("flight_size"),
            initial_window: N::of(context.initial_window),
            initial_ssthresh: N::of(context.initial_ssthresh),
            one: N::of(1.0),
            two: N::of(2.0),
            half: N::of(0.5),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.initial_window, ssthresh: self.initial_ssthresh }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, seen: &Observation<N>) {
        match event {
            Event::Ack { packets, marked } => {
                let counted = if self.grow_on_echo { packets } else { packets - marked }.min(self.per_ack);
                if counted == 0 {
                } else if s.window < s.ssthresh {
                    s.window += N::count(counted); // (2): one packet an acknowledged packet
                } else {
                    s.window = s.window + N::count(counted) / s.window; // (3): one packet a round trip
                }
            }
            Event::Congestion => {
                s.ssthresh = (reduced(self.flight_size, s.window, seen) * self.half).max(self.two); // (4)
                s.window = s.ssthresh;
            }
            Event::Timeout => {
                // Of a segment that was sent again before, ssthresh is held (RFC 5681, section 3.1).
                if !self.flight_size || s.window > self.one {
                    s.ssthresh = (reduced(self.flight_size, s.window, seen) * self.half).max(self.two); // (4)
                }
                s.window = self.one;
            }
            Event::Tick | Event::Round => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        let marks = if self.ecn { Marks::Congestion } else { Marks::Ignored };
        Requirements { marks, flight_size: self.flight_size, ..Requirements::LEAST }
    }
}

impl SlowStart for NewReno<f64> {
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

    fn law(grow_on_echo: bool) -> NewReno<f64> {
        with("grow_on_echo", grow_on_echo)
    }
    fn with(switch: &str, on: bool) -> NewReno<f64> {
        let values = Values::of(ENTRY.parameters, &[(switch, f64::from(u8::from(on)))]);
        NewReno::compile(
            &values,
            &Context { packet: crate::quantity::Bytes(1000), initial_window: 2.0, initial_ssthresh: 64.0 },
        )
        .unwrap()
    }
    fn observation() -> Observation<f64> {
        Observation { rtt_s: 0.1, base_rtt_s: 0.1, ..Observation::zero() }
    }

    /// A window's worth of acknowledgements doubles the window below the threshold and adds one packet above it.
    #[test]
    fn growth_per_round_is_double_then_one_packet() {
        let law = law(false);
        let mut s = law.initial_state();
        for _ in 0..2 {
            law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &observation());
        }
        assert_eq!(s.window, 4.0);
        s.window = 1000.0;
        for _ in 0..1000 {
            law.on_event(&mut s, Event::Ack { packets: 1, marked: 0 }, &observation());
        }
        assert!((s.window - 1001.0).abs() < 1e-3);
    }

    #[test]
    fn a_congestion_event_halves_and_a_timeout_starts_over() {
        let law = law(false);
        let mut s = State { window: 100.0, ssthresh: 1e9 };
        law.on_event(&mut s, Event::Congestion, &observation());
        assert_eq!((s.window, s.ssthresh), (50.0, 50.0));
        law.on_event(&mut s, Event::Timeout, &observation());
        assert_eq!((s.window, s.ssthresh), (1.0, 25.0));
        law.on_event(&mut s, Event::Congestion, &observation());
        assert_eq!(s.ssthresh, 2.0, "equation (4): never below two packets");
    }

    /// RFC 5681, equation (4) and the sentence after it: half of what is in flight, which an application may keep below the
    /// window; held where a segment that was sent again is lost. A host that does not know has the window halved.
    #[test]
    fn half_of_what_is_in_flight() {
        let flight = |in_flight| Observation { in_flight, ..observation() };
        for (in_flight, after) in [(10.0, 5.0), (3.0, 2.0), (100.0, 50.0), (130.0, 50.0), (0.0, 50.0)] {
            let mut s = State { window: 100.0, ssthresh: 1e9 };
            with("flight_size", true).on_event(&mut s, Event::Congestion, &flight(in_flight));
            assert_eq!((s.window, s.ssthresh), (after, after), "{in_flight} packets in flight");
        }
        let law = with("flight_size", true);
        assert!(law.requirements().flight_size && !with("flight_size", false).requirements().flight_size);
        let mut s = State { window: 100.0, ssthresh: 1e9 };
        law.on_event(&mut s, Event::Timeout, &flight(12.0));
        assert_eq!((s.window, s.ssthresh), (1.0, 6.0));
        law.on_event(&mut s, Event::Timeout, &flight(12.0));
        assert_eq!((s.window, s.ssthresh), (1.0, 6.0), "held");
        let mut s = State { window: 100.0, ssthresh: 1e9 };
        with("flight_size", false).on_event(&mut s, Event::Congestion, &flight(10.0));
        assert_eq!(s.ssthresh, 50.0);
    }

    #[test]
    fn an_echo_does_not_grow_the_window_unless_asked() {
        for (grow, after) in [(false, 100.0), (true, 100.01)] {
            let mut s = State { window: 100.0, ssthresh: 2.0 };
            law(grow).on_event(&mut s, Event::Ack { packets: 1, marked: 1 }, &observation());
            assert!((s.window - after).abs() < 1e-12);
        }
    }
}
