//! FQ-CoDel: a queue a flow, deficit round robin over the queues, CoDel in each.
//!
//! Source: Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet, "The Flow Queue CoDel Packet Scheduler and Active Queue
//! Management Algorithm", RFC 8290. The queues are the host's, see [`Serve::PerFlow`]; the law in each is
//! `crates/law/src/aqm/codel.rs`.

use alloc::format;
use alloc::string::String;

use super::codel::{CoDel, INTERVAL, NOT_LINEAR, State, TARGET};
use super::{Aqm, Context, Event, Observation, Output, Requirements, Serve};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::parameter::{Parameter, Unit, Values};
use crate::quantity::Bytes;

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "fq-codel",
    title: "FQ-CoDel: hashes flows to queues, serves them by deficit round robin, and runs CoDel in each",
    source: "RFC 8290, The Flow Queue CoDel Packet Scheduler and Active Queue Management Algorithm",
    colour: "#d1608f",
    parameters: &[
        Parameter::switch("ecn", true, "use ECN: mark ECN-capable packets, drop only the others", "section 5.2"),
        TARGET,
        INTERVAL,
        QUEUES,
        QUANTUM,
    ],
    observables: Observables::of::<FqCoDel>(),
    linearisation: Linearisation::Unsupported(NOT_LINEAR),
    real: &build::<f64, FqCoDel>,
    dual: None,
    fixed: None,
    kernel: None,
};

pub(super) const QUEUES: Parameter =
    Parameter::number("queues", Unit::One, 1024.0, [1.0, 65_536.0], "number of queues", "RFC 8290, section 5.2");
pub(super) const QUANTUM: Parameter = Parameter::automatic(
    "quantum",
    Unit::Bytes,
    "one packet",
    [1.0, 1e9],
    "bytes that a queue may send in its turn",
    "RFC 8290, section 5.2",
);

/// The number of queues, and the bytes that each may send in its turn.
pub(super) fn queues(values: &Values, context: &Context) -> Result<(u32, Bytes), String> {
    let queues = values.number("queues");
    if queues != libm::floor(queues) {
        return Err(format!("`queues` counts queues: write a whole number, not {queues}"));
    }
    let quantum = values.optional("quantum").map_or(context.packet, |bytes| Bytes(libm::round(bytes) as u64));
    Ok((queues as u32, quantum))
}

#[derive(Debug)]
struct FqCoDel {
    codel: CoDel,
    queues: u32,
    quantum: Bytes,
}

impl Law<f64> for FqCoDel {
    type Role = Aqm;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let (queues, quantum) = queues(values, context)?;
        Ok(Self { codel: CoDel::compile(values, context)?, queues, quantum })
    }
    fn initial_state(&self) -> State<f64> {
        self.codel.initial_state()
    }
    #[inline]
    fn on_event(&self, state: &mut State<f64>, event: Event, observation: &Observation<f64>) {
        self.codel.on_event(state, event, observation);
    }
    #[inline]
    fn output(&self, state: &State<f64>, observation: &Observation<f64>) -> Output<f64> {
        self.codel.output(state, observation)
    }
    fn requirements(&self) -> Requirements {
        self.codel.needs_with(Serve::PerFlow { queues: self.queues, quantum: self.quantum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Decides;
    use crate::quantity::{Rate, Time};

    fn compile(settings: &[(&str, f64)]) -> Result<FqCoDel, String> {
        let values = Values::of(ENTRY.parameters, settings);
        let context = Context {
            rate: Rate(1_000_000_000),
            delay: Time::ZERO,
            packet: Bytes(1514),
            classes: alloc::vec::Vec::new(),
        };
        FqCoDel::compile(&values, &context)
    }

    /// RFC 8290, section 5.2: 1024 queues, a quantum of one packet, ECN on; and what is written instead.
    #[test]
    fn it_asks_for_queues_and_a_quantum() {
        let silent = compile(&[]).unwrap().requirements();
        assert_eq!(silent.serve, Serve::PerFlow { queues: 1024, quantum: Bytes(1514) });
        assert!(silent.marks && silent.bytes && silent.decides == Decides::AtHead && silent.tick_s.is_none());
        let told = compile(&[("queues", 3.0), ("quantum", 300.0), ("ecn", 0.0)]).unwrap().requirements();
        assert_eq!((told.serve, told.marks), (Serve::PerFlow { queues: 3, quantum: Bytes(300) }, false));
    }

    #[test]
    fn half_a_queue_is_refused() {
        assert!(compile(&[("queues", 2.5)]).unwrap_err().contains("whole number"));
    }
}
