//! A controller that goes by the delivery rate: its window is what the path holds at that rate, and `alpha` packets more.
//!
//! With delivery rate `x` and base round-trip time `d`, the path itself holds `x d` packets. The window is `x d` and the packets
//! that the flow keeps queued: `alpha` of them, half after a congestion event, and one more after each round trip.

use penstock_law::cc::{
    Context, Controller, Delivery, DeliveryEvent, Event, Observation, Output, Requirements, Spared,
};
use penstock_law::estimate::Clocked;
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::{Entry, Fix, KernelProgram, Law, Observables, Values, numbers};

pub static ENTRY: Entry<Controller> = Entry {
    name: "gauge",
    title: "Gauge: the path at its delivery rate, and alpha packets in the queue",
    source: "an example, no paper",
    colour: "#2f6f4e",
    parameters: &[Parameter::number(
        "alpha",
        Unit::Packets,
        10.0,
        [1.0, 1e6],
        "packets that the flow keeps queued",
        "a choice",
    )],
    observables: Observables::of::<Gauge<f64>>(),
    linearisation: Linearisation::Unsupported("the fluid model has no delivery rates"),
    real: &build::<f64, Gauge<f64>>,
    dual: None,
    fixed: Some(&build::<Fix<32>, Gauge<Fix<32>>>),
    kernel: Some(&KERNEL),
};

/// bpf/gauge.bpf.c, which build.rs compiles.
static KERNEL: KernelProgram<Controller> = KernelProgram {
    object: include_bytes!(concat!(env!("OUT_DIR"), "/gauge.bpf.o")),
    words: |values, context| {
        let Gauge::<Fix<32>> { alpha, .. } = Gauge::compile(values, context)?;
        Ok(vec![alpha.0])
    },
};

/// The law with its parameters.
#[derive(Debug)]
struct Gauge<N> {
    alpha: N,
    start: N,
}

numbers! {
    /// The state of the law.
    struct State {
        /// Congestion window: the most packets in flight.
        window: "packets" as "Congestion window",
        /// Packets that the flow keeps queued.
        queued: "packets" as "Packets queued",
    }
}

impl<N: Clocked> Law<N> for Gauge<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self { alpha: N::of(values.number("alpha")), start: N::of(context.initial_window) })
    }

    fn initial_state(&self) -> State<N> {
        State { window: self.start, queued: self.alpha }
    }

    fn on_event(&self, state: &mut State<N>, event: Event, _: &Observation<N>) {
        let one = N::of(1.0);
        match event {
            Event::Round => state.queued = (state.queued + one).min(self.alpha),
            Event::Congestion => state.queued = (state.queued * N::of(0.5)).max(one),
            Event::Timeout => (state.queued, state.window) = (one, one),
            Event::Ack { .. } | Event::Tick => {}
        }
    }

    fn on_detail(&self, state: &mut State<N>, delivery: &Delivery, observation: &Observation<N>) {
        let DeliveryEvent::Ack(ack) = &delivery.event else { return };
        let Some(sample) = &ack.rate else { return };
        let rate = N::count(sample.delivered as u32) / N::span(sample.interval);
        let window = rate * observation.base_rtt_s + state.queued;
        // A flow that is short of data is slower than its path.
        if !sample.then.app_limited || window > state.window {
            state.window = window;
        }
    }

    fn output(&self, state: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { window: state.window, gap_s: N::of(0.0) }
    }

    fn requirements(&self) -> Requirements {
        let spared = Spared { uniform: true, acks: true, timing: true, ..Spared::NOTHING };
        Requirements { delivery: true, spared, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_law::cc::{AckSample, RateSample, Transmission};
    use penstock_law::quantity::{Bytes, Time};

    /// A sample of 100 packets in 50 ms, on a path of 40 ms: 80 packets, and alpha.
    fn window(before: f64, app_limited: bool) -> f64 {
        let context = Context { packet: Bytes(1500), initial_window: before, initial_ssthresh: 1e9 };
        let law = Gauge::<f64>::compile(&Values::defaults(ENTRY.parameters), &context).unwrap();
        let then = Transmission { sent: Time::ZERO, delivered: 0, lost: 0, in_flight: 100, app_limited };
        let rate = RateSample { delivered: 100, interval: Time::from_seconds(0.05), then };
        let ack = AckSample { packets: 1, marked: 0, lost: 0, in_flight_before: 100, rtt: None, rate: Some(rate) };
        let delivery = Delivery {
            event: DeliveryEvent::Ack(ack),
            now: Time::from_seconds(0.05),
            sent: 199,
            delivered: 100,
            lost: 0,
            in_flight: 99,
            app_limited,
            window_limited: false,
            uniform: 0.0,
        };
        let mut state = law.initial_state();
        law.on_detail(&mut state, &delivery, &Observation { base_rtt_s: 0.04, ..Observation::zero() });
        state.window
    }

    #[test]
    fn the_window_is_what_the_path_holds_and_alpha_packets() {
        for before in [10.0, 200.0] {
            assert!((window(before, false) - 90.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_flow_that_was_short_of_data_takes_no_window_away() {
        assert!((window(10.0, true) - 90.0).abs() < 1e-9);
        assert_eq!(window(200.0, true), 200.0);
    }
}
