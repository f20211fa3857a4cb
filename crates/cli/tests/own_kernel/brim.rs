//! The AQM of these tests, as an entry that brings a program.

use std::fs;

use penstock_law::aqm::{self, Aqm, Decides, Event, Serve};
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::{Entry, Fix, KernelProgram, Law, Number, Observables, Registry, Values, numbers};

use super::brisk::like;

/// A virtual queue whose service follows the spare capacity, and that spaces its marks: all is used that tc/aqm.h has. By
/// [`super::LIKE`] it has a requirement or a measurement that no device has.
#[derive(Debug)]
struct Brim<N> {
    limit: N,
    gain: N,
    period: N,
    mean_packet: N,
    spacing: u32,
    service: N,
    marks: bool,
}

numbers! {
    /// Its state.
    struct State {
        /// Virtual queue after the last arrival.
        virtual_queue: "packets" as "Virtual queue",
        /// What serves it.
        service: "packets/s" as "Service of the virtual queue",
    }
    frozen {
        /// The time of the last arrival [s].
        last_s: N,
        /// Arrivals since the last mark.
        since: u32,
    }
}

impl<N: Number> Law<N> for Brim<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, context: &aqm::Context) -> Result<Self, String> {
        let [limit, gain, period] = ["limit", "gain", "period"].map(|name| N::of(values.number(name)));
        let (spacing, mean_packet) = (values.number("spacing") as u32, N::of(context.packet.0 as f64));
        let service = N::of(0.5 * context.packets_per_s());
        Ok(Self { limit, gain, period, mean_packet, spacing, service, marks: values.switch("ecn") })
    }
    fn initial_state(&self) -> State<N> {
        State { virtual_queue: N::of(0.0), service: self.service, last_s: N::of(0.0), since: 0 }
    }
    fn on_event(&self, state: &mut State<N>, event: Event, observation: &aqm::Observation<N>) {
        match event {
            Event::Arrival { bytes, idle } => {
                let gap = observation.now_s - state.last_s;
                state.last_s = observation.now_s;
                let left = (state.virtual_queue - state.service * gap).max(N::of(0.0));
                state.virtual_queue = left + N::count(bytes) / self.mean_packet;
                state.since += 1;
                if like("idle") && idle > 1000 || like("arrived") && observation.arrived > N::of(0.0) {
                    state.virtual_queue = N::of(0.0);
                }
            }
            Event::Tick => {
                let spare = observation.capacity - observation.arrived / self.period;
                state.service = (state.service + self.gain * spare).clamp(N::of(0.0), observation.capacity);
                if like("waits") && observation.sojourn_s > N::of(0.1) {
                    state.service = N::of(0.0);
                }
            }
            Event::Hit => state.since = 0,
            Event::Departure { .. } | Event::Full => {}
        }
    }
    fn output(&self, state: &State<N>, observation: &aqm::Observation<N>) -> aqm::Output<N> {
        let spaced = if state.since >= self.spacing { N::of(1.0) } else { N::of(0.0) };
        let queue = if like("queue") { observation.queue } else { state.virtual_queue };
        aqm::Output { probability: (queue / self.limit).min(N::of(1.0)) * spaced, price_s: N::of(0.0) }
    }
    fn requirements(&self) -> aqm::Requirements {
        let decides = [("never", Decides::Never), ("head", Decides::AtHead), ("departure", Decides::OnDeparture)];
        let decides =
            decides.into_iter().find(|(name, _)| like(name)).map_or(Decides::OnArrival, |(_, decides)| decides);
        aqm::Requirements {
            tick_s: (!like("timeless")).then(|| if like("slow") { 1e5 } else { 0.01 }),
            decides,
            marks: self.marks || like("marks"),
            bytes: !like("counting"),
            overrules_marks: like("second"),
            arrivals_first: like("moment"),
            serve: if like("queues") { Serve::Coupled { classic: 0.1 } } else { Serve::Scheduler },
            colours: like("colours"),
            classes: like("classes"),
            full: like("full"),
            ..aqm::Requirements::LEAST
        }
    }
}

const PARAMETERS: &[Parameter] = &[
    Parameter::number(
        "limit",
        Unit::Packets,
        20.0,
        [1.0, 1e6],
        "virtual queue at which every packet is marked",
        "a test",
    ),
    Parameter::number("gain", Unit::One, 0.1, [0.0, 1.0], "share of the spare capacity", "a test"),
    Parameter::number("spacing", Unit::Packets, 4.0, [1.0, 100.0], "arrivals between two marks", "a test"),
    Parameter::number("period", Unit::Seconds, 0.01, [0.01, 0.01], "update period", "a test"),
    Parameter::switch("ecn", false, "mark instead of dropping", "a test"),
];

/// The registry of the command that this is.
pub(super) fn registry(asked: &str) -> Registry {
    let (name, object) = asked.split_once(' ').expect("a name and a file");
    let program: KernelProgram<Aqm> = KernelProgram {
        object: fs::read(object).unwrap().leak(),
        words: |values, context| {
            let law: Brim<Fix<32>> = Brim::compile(values, context)?;
            let words = [law.limit, law.gain, law.period, law.mean_packet].map(|word| word.0);
            Ok(words.into_iter().chain([i64::from(law.spacing)]).collect())
        },
    };
    let program: &'static KernelProgram<Aqm> = Box::leak(Box::new(program));
    let entry = Entry {
        name: name.to_owned().leak(),
        title: "an AQM with a kernel program",
        source: "a test",
        colour: "#000000",
        parameters: PARAMETERS,
        observables: Observables::of::<Brim<f64>>(),
        linearisation: Linearisation::Unsupported("a test"),
        real: &build::<f64, Brim<f64>>,
        dual: None,
        fixed: Some(&build::<Fix<32>, Brim<Fix<32>>>),
        kernel: (!like("bare")).then_some(program),
    };
    Registry::standard().with(Box::leak(Box::new(entry))).expect("an entry that a registry takes")
}
