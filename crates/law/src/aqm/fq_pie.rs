//! FQ-PIE: a queue a flow, deficit round robin over the queues, PIE in each.
//!
//! Source: Linux, `net/sched/sch_fq_pie.c`; RFC 8033 for the law in each queue, `crates/law/src/aqm/pie.rs`; RFC 8290 for the queues,
//! which are the host's, see [`Serve::PerFlow`].
//! Differs: the delay of a queue is the wait of its oldest packet at the update, where Linux has that of the last packet to leave; a
//! full buffer drops the head of the longest queue, as RFC 8290 has it, where Linux refuses the packet that arrives.

use alloc::string::String;

use super::fq_codel::{QUANTUM, QUEUES, queues};
use super::pie::{HIGH_DELAY, MARK_ECNTH, MAX_BURST, PIE_ALPHA, PIE_BETA, Pie, State, T_UPDATE, TARGET};
use super::{Aqm, Context, Event, Observation, Output, Requirements, Serve};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::parameter::{Parameter, Values};
use crate::quantity::Bytes;

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "fq-pie",
    title: "FQ-PIE: hashes flows to queues, serves them by deficit round robin, and runs PIE in each",
    source: "Linux, net/sched/sch_fq_pie.c; RFC 8033; RFC 8290",
    colour: "#b04a6f",
    parameters: &[
        Parameter::switch("ecn", false, "use ECN: mark ECN-capable packets up to mark_ecnth", "sch_fq_pie.c"),
        TARGET,
        T_UPDATE,
        PIE_ALPHA,
        PIE_BETA,
        MAX_BURST,
        MARK_ECNTH,
        HIGH_DELAY,
        Parameter::switch(
            "derandomize",
            true,
            "space drops evenly: no drop before the sum of probabilities reaches 0.85, a certain drop at 8.5",
            "RFC 8033, section 5.4; always on in sch_fq_pie.c",
        ),
        QUEUES,
        QUANTUM,
    ],
    observables: Observables::of::<FqPie>(),
    linearisation: Linearisation::Unsupported("it has a probability and a delay for each flow, and gains that jump"),
    real: &build::<f64, FqPie>,
    dual: None,
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct FqPie {
    pie: Pie,
    queues: u32,
    quantum: Bytes,
}

impl Law<f64> for FqPie {
    type Role = Aqm;
    type State = State<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let (queues, quantum) = queues(values, context)?;
        Ok(Self { pie: Pie::compile(values, context)?, queues, quantum })
    }

    fn initial_state(&self) -> State<f64> {
        self.pie.initial_state()
    }

    #[inline]
    fn on_event(&self, s: &mut State<f64>, event: Event, observation: &Observation<f64>) {
        if event == Event::Tick {
            self.pie.update(s, observation.sojourn_s);
        } else {
            self.pie.on_event(s, event, observation);
        }
    }

    #[inline]
    fn output(&self, s: &State<f64>, observation: &Observation<f64>) -> Output<f64> {
        self.pie.output(s, observation)
    }

    fn requirements(&self) -> Requirements {
        let serve = Serve::PerFlow { queues: self.queues, quantum: self.quantum };
        Requirements { serve, ..self.pie.requirements() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::Decides;
    use crate::quantity::{Rate, Time};

    fn law(set: &[(&str, f64)]) -> Result<FqPie, String> {
        let values = Values::of(ENTRY.parameters, set);
        let context =
            Context { rate: Rate(8_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: alloc::vec::Vec::new() };
        FqPie::compile(&values, &context)
    }

    /// Each queue has the wait of its own oldest packet for a delay, not the share of a line that it has not got.
    #[test]
    fn the_delay_of_a_queue_is_its_own() {
        let law = law(&[]).unwrap();
        let mut s = law.initial_state();
        let seen = Observation { queue: 2.0, capacity: 1000.0, sojourn_s: 0.03, ..Observation::zero() };
        law.on_event(&mut s, Event::Tick, &seen);
        assert_eq!(s.delay, 0.03);
    }

    /// 1024 queues with a quantum of a packet, and the choices of Linux: derandomised, without ECN.
    #[test]
    fn it_asks_for_queues_and_decides_on_arrival() {
        let needs = law(&[]).unwrap().requirements();
        assert_eq!(needs.serve, Serve::PerFlow { queues: 1024, quantum: Bytes(1000) });
        assert_eq!((needs.decides, needs.tick_s, needs.marks), (Decides::OnArrival, Some(0.015), false));
        assert!(law(&[("queues", 2.5)]).unwrap_err().contains("whole number"));
    }
}
