//! The mean change of a state along packets: a law that is compiled into the integrator, and one that is called for each event.

use penstock_law::cc::{self, Acknowledged, CONTROLLERS, Controller, Event};
use penstock_law::mean::MOST;
use penstock_law::parameter::Default;
use penstock_law::quantity::Bytes;
use penstock_law::{Instances, Values};

/// Instances that are called for each event, as those of a law in another language are.
struct EventByEvent(Box<dyn Instances<f64, Controller>>);

impl Instances<f64, Controller> for EventByEvent {
    fn add(&mut self) -> usize {
        self.0.add()
    }
    fn restart(&mut self, at: usize) {
        self.0.restart(at);
    }
    fn keep(&mut self, at: usize) {
        self.0.keep(at);
    }
    fn bring_back(&mut self, at: usize) {
        self.0.bring_back(at);
    }
    fn copy(&mut self, at: usize) -> usize {
        self.0.copy(at)
    }
    fn on_event(&mut self, at: usize, event: Event, seen: &cc::Observation<f64>) -> cc::Output<f64> {
        self.0.on_event(at, event, seen)
    }
    fn output(&self, at: usize, seen: &cc::Observation<f64>) -> cc::Output<f64> {
        self.0.output(at, seen)
    }
    fn mean_output(&self, at: usize, seen: &cc::Observation<f64>) -> cc::Output<f64> {
        self.0.mean_output(at, seen)
    }
    fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.0.names()
    }
    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut f64)) {
        self.0.each(at, f);
    }
    fn requirements(&self) -> cc::Requirements {
        self.0.requirements()
    }
}

fn state_of(law: &mut dyn Instances<f64, Controller>) -> Vec<u64> {
    let mut state = Vec::new();
    law.each(0, &mut |x| state.push(x.to_bits()));
    state
}

/// Every controller has the same numbers after packets in a row, to the last bit, whether its events are compiled into the
/// integrator or called one by one. And packets do change the state of most.
#[test]
fn compiled_or_called_packets_do_the_same() {
    let site = cc::Context { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 20.0 };
    let (mut laws, mut moved) = (0, 0);
    for entry in CONTROLLERS {
        let mut values = Values::defaults(entry.parameters);
        for parameter in entry.parameters.iter().filter(|p| p.default == Default::Required) {
            values.set(parameter, parameter.most.min(1e6)).unwrap();
        }
        let mut compiled = (entry.real)(&values, &site).unwrap();
        if compiled.names().is_empty() || compiled.names().len() > MOST {
            continue;
        }
        let mut called = EventByEvent((entry.real)(&values, &site).unwrap());
        for law in [compiled.as_mut(), &mut called] {
            law.add();
            law.add();
        }
        let before = state_of(compiled.as_mut());
        for k in 1..=60_u32 {
            let part = |of: u32| f64::from(k * 37 % of) / f64::from(of);
            let seen = |more: f64| cc::Observation {
                rtt_s: 0.05 + 0.01 * part(7) + more,
                base_rtt_s: 0.05,
                price_s: 0.02 * part(11) + more,
                buffer: 300.0,
                level: 100.0 * part(13) + more,
                in_flight: 40.0 * part(5),
                ..cc::Observation::zero()
            };
            let acknowledged = Acknowledged {
                observations: [seen(0.0), seen(0.001)],
                marked: [0.1 * part(3), 0.2 * part(4)],
                lost: [0.0, 0.01 * part(2)],
                packets_per_ack: 1 + k % 3,
                marks_are_congestion: k % 5 == 0,
                deaf: if k % 7 == 0 { 20.0 } else { 0.0 },
            };
            let event = if k % 2 == 0 { Event::Tick } else { Event::Round };
            let packets = 9.0 * part(17);
            let [first, second] = [compiled.as_mut(), &mut called].map(|law| {
                law.on_event(0, event, &seen(0.0));
                law.along(0, 1, packets, &acknowledged)
            });
            assert_eq!(first, second, "{}, {k}", entry.name);
            assert_eq!(state_of(compiled.as_mut()), state_of(&mut called), "{}, {k}", entry.name);
        }
        laws += 1;
        moved += usize::from(state_of(compiled.as_mut()) != before);
    }
    assert!(laws > 15 && 2 * moved > laws, "{moved} of {laws}");
}
