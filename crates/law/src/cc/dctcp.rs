//! DCTCP: give up as large a share of the window as half the share of packets that were marked.
//!
//! Source: RFC 8257, sections 3.3 to 3.5: each window of data `Alpha <- Alpha (1 - g) + g M` with `M` the share of it
//! that was marked, and at most once a window of data, on an echo, `cwnd <- cwnd (1 - Alpha / 2)`; growth and losses as
//! in RFC 5681. RFC 9331, section 4, for the packets of the low-latency queue.
//! Differs: `M` counts packets, not bytes, and not those acknowledged during loss recovery; an acknowledgement that
//! carries an echo does not grow the window (RFC 3168, section 6.1.2); a window of data after a reduction is over when as
//! many packets are acknowledged as the window held; the floor is two packets. `l4s` makes packets ECT(1) and nothing
//! else: the further requirements of RFC 9331, such as falling back on a classic queue, are not here.

mod mean;

use alloc::string::String;

use super::newreno::PER_ACK;
use super::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Dual, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

use mean::Mean;

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "dctcp",
    title: "DCTCP: reduces the window in proportion to the share of marked packets",
    source: "RFC 8257; Alizadeh et al., Data Center TCP, SIGCOMM 2010",
    colour: "#e0559b",
    parameters: &[
        Parameter::number(
            "g",
            Unit::One,
            0.0625,
            [1e-6, 1.0],
            "weight of the last window of data in the estimate Alpha",
            "RFC 8257, section 4: 1/16",
        ),
        Parameter::number(
            "alpha",
            Unit::One,
            1.0,
            [0.0, 1.0],
            "initial estimate, before the first measurement",
            "RFC 8257, section 3.3",
        ),
        PER_ACK,
        Parameter::switch(
            "l4s",
            false,
            "use L4S: packets carry ECT(1) and join the low-latency \
             queue",
            "RFC 9331, section 4.1",
        ),
    ],
    observables: Observables::of::<Dctcp<f64>>(),
    linearisation: Linearisation::Mean(
        "random marks: if a round trip has M marks on average, the window is reduced in it with probability \
         1 - exp(-M)",
    ),
    real: &build::<f64, Dctcp<f64>>,
    dual: Some(&build::<Dual, Mean<Dual>>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Dctcp<N> {
    l4s: bool,
    per_ack: u32,
    initial_window: N,
    initial_ssthresh: N,
    initial_alpha: N,
    weight: N,
    one: N,
    two: N,
    half: N,
}

numbers! {
    /// The state of DCTCP.
    struct State {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
        /// Slow-start threshold: while the window is below it, the window doubles each round trip.
        ssthresh: "packets" as "Slow-start threshold",
        /// DCTCP.Alpha of RFC 8257: estimated share of packets that are marked.
        alpha: "1" as "Estimated share of marked packets, alpha",
        /// Packets acknowledged in the current window of data.
        acked: "packets" as "Acknowledged in this window",
        /// Packets acknowledged with a congestion echo in the current window of data.
        marked: "packets" as "Marked in this window",
        /// Unacknowledged packets of the window of data in which the last reduction took place; until they are
        /// acknowledged, echoes do not count.
        outstanding: "packets" as "Outstanding since the last reduction",
    }
}

impl<N: Number> Law<N> for Dctcp<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self {
            l4s: values.switch("l4s"),
            per_ack: values.number("per_ack") as u32,
            initial_window: N::of(context.initial_window),
            initial_ssthresh: N::of(context.initial_ssthresh),
            initial_alpha: N::of(values.number("alpha")),
            weight: N::of(values.number("g")),
            one: N::of(1.0),
            two: N::of(2.0),
            half: N::of(0.5),
        })
    }

    fn initial_state(&self) -> State<N> {
        let zero = N::of(0.0);
        State {
            window: self.initial_window,
            ssthresh: self.initial_ssthresh,
            alpha: self.initial_alpha,
            acked: zero,
            marked: zero,
            outstanding: zero,
        }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, _: &Observation<N>) {
        let zero = N::of(0.0);
        match event {
            Event::Ack { packets, marked } => {
                s.acked += N::count(packets);
                s.marked += N::count(marked);
                s.outstanding = (s.outstanding - N::count(packets)).max(zero);
                if marked > 0 && s.outstanding == zero {
                    s.outstanding = s.window;
                    s.window = (s.window * (self.one - s.alpha * self.half)).max(self.two);
                    s.ssthresh = s.window;
                    return;
                }
                let counted = (packets - marked).min(self.per_ack);
                if counted == 0 {
                } else if s.window < s.ssthresh {
                    s.window += N::count(counted);
                } else {
                    s.window = s.window + N::count(counted) / s.window;
                }
            }
            Event::Round => {
                if s.acked > zero {
                    s.alpha = s.alpha + self.weight * (s.marked / s.acked - s.alpha);
                }
                s.acked = zero;
                s.marked = zero;
            }
            Event::Congestion => {
                s.ssthresh = (s.window * self.half).max(self.two);
                s.window = s.ssthresh;
                // The window of data is over when recovery is, and none of its acknowledgements comes here.
                s.outstanding = zero;
            }
            Event::Timeout => {
                s.ssthresh = (s.window * self.half).max(self.two);
                s.window = self.one;
                s.outstanding = zero;
            }
            Event::Tick => {}
        }
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: s.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        Requirements { marks: Marks::Counted, low_latency: self.l4s, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    fn law(set: &[(&str, f64)]) -> Dctcp<f64> {
        let values = Values::of(ENTRY.parameters, set);
        let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        Dctcp::compile(&values, &context).unwrap()
    }

    fn ack(law: &Dctcp<f64>, s: &mut State<f64>, marked: bool) {
        law.on_event(s, Event::Ack { packets: 1, marked: u32::from(marked) }, &Observation::zero());
    }

    /// Section 3.3: Alpha starts at 1 and forgets with weight g = 1/16, one step a window of data.
    #[test]
    fn the_estimate_forgets_a_sixteenth_a_window() {
        let law = law(&[]);
        let mut s = law.initial_state();
        for rounds in 1..=11 {
            ack(&law, &mut s, false);
            law.on_event(&mut s, Event::Round, &Observation::zero());
            assert!((s.alpha - libm::pow(15.0 / 16.0, f64::from(rounds))).abs() < 1e-12);
        }
        assert!(s.alpha < 0.5, "its half life is 10.7 windows");
        for _ in 0..400 {
            for at in 0..4 {
                ack(&law, &mut s, at == 0);
            }
            law.on_event(&mut s, Event::Round, &Observation::zero());
        }
        assert!((s.alpha - 0.25).abs() < 1e-9, "{}", s.alpha);
    }

    /// A window in which every packet is marked is halved once at Alpha = 1, and again only in the next.
    #[test]
    fn marks_reduce_once_a_window_of_data() {
        let law = law(&[]);
        let mut s = State { window: 100.0, ssthresh: 2.0, ..law.initial_state() };
        for _ in 0..100 {
            ack(&law, &mut s, true);
        }
        assert_eq!((s.window, s.ssthresh), (50.0, 50.0));
        ack(&law, &mut s, true);
        assert_eq!(s.window, 25.0);
        s = State { window: 100.0, alpha: 0.1, ..law.initial_state() };
        ack(&law, &mut s, true);
        assert_eq!((s.window, s.ssthresh), (95.0, 95.0), "less than half for fewer marks; slow start is over");
    }

    #[test]
    fn losses_are_conventional() {
        let law = law(&[]);
        let mut s = State { window: 100.0, alpha: 0.1, ..law.initial_state() };
        law.on_event(&mut s, Event::Congestion, &Observation::zero());
        assert_eq!((s.window, s.ssthresh), (50.0, 50.0));
        law.on_event(&mut s, Event::Timeout, &Observation::zero());
        assert_eq!((s.window, s.ssthresh), (1.0, 25.0));
    }

    /// Alizadeh et al., 2010, equations (6) to (8): a flow alone, marked where its window exceeds `W*`, has
    /// `alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2` and swings by `(W* + 1) alpha / 2`, provided that
    /// `g < 1.386 / sqrt(2 W*)` (15), so that alpha stays put between two reductions.
    #[test]
    fn alpha_at_a_step_of_marks_is_that_of_the_paper() {
        for (most, g) in [(50.0, 1.0 / 16.0), (100.0, 1.0 / 32.0), (400.0, 1.0 / 64.0)] {
            let law = law(&[("g", g)]);
            let mut s = law.initial_state();
            let mut flying: VecDeque<(bool, u64)> = VecDeque::new();
            let (mut sent, mut acked, mut round) = (0, 0, 0);
            let (mut alphas, mut least, mut largest) = (0.0, f64::INFINITY, 0.0);
            let (warm_up, packets) = (2_000_000, 4_000_000);
            while acked < packets {
                while (flying.len() as f64) < libm::floor(s.window) {
                    flying.push_back(((flying.len() as f64) >= most, sent));
                    sent += 1;
                }
                let (marked, number) = flying.pop_front().unwrap();
                acked += 1;
                ack(&law, &mut s, marked);
                if number >= round {
                    round = sent;
                    law.on_event(&mut s, Event::Round, &Observation::zero());
                }
                if acked > warm_up {
                    alphas += s.alpha;
                    least = Number::min(least, s.window);
                    largest = Number::max(largest, s.window);
                }
            }
            let alpha: f64 = alphas / (packets - warm_up) as f64;
            let (is, paper) = (alpha * alpha * (1.0 - alpha / 4.0), (2.0 * most + 1.0) / ((most + 1.0) * (most + 1.0)));
            assert!((libm::sqrt(is / paper) - 1.0).abs() < 0.08, "W* = {most}: alpha {alpha}, {is} against {paper}");
            let swing = (largest - least) / ((most + 1.0) * alpha / 2.0);
            assert!((0.9..1.1).contains(&swing), "W* = {most}: {least} to {largest}, {swing}");
        }
    }

    #[test]
    fn it_counts_marks_and_asks_for_the_low_latency_queue_where_told() {
        for l4s in [false, true] {
            let needs = Law::<f64>::requirements(&law(&[("l4s", f64::from(u8::from(l4s)))]));
            assert_eq!((needs.marks, needs.low_latency), (Marks::Counted, l4s));
        }
    }
}
