//! The trails of AQMs: events and observations for a program over bpf/tc/aqm.h.

use penstock_law::aqm::{self, Aqm, Class, Decides, Event, Requirements};
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Fix, Instances, Number};

use crate::attach::trail::{Draws, STEPS, Trails};

pub(super) type Step = crate::attach::trail::Step<Aqm>;

/// Steps over which the load stays about the same.
const SPELL: usize = 256;
/// The longest gap between two arrivals, and the longest silence [ns].
const LONGEST_NS: u64 = 1_000_000_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds in seconds, as the programs make them.
fn seconds(ns: u64) -> Fix<32> {
    Fix((((ns / NS_PER_S) << 32) | (((ns % NS_PER_S) << 32) / NS_PER_S)) as i64)
}

impl Trails for Aqm {
    const HEADER: &'static str = "tc/aqm.h";
    type Call = Event;
    const GIVEN: i64 = 0;

    /// Lines from a kilobit to a terabit per second.
    fn context(trail: u64, draws: &mut Draws) -> aqm::Context {
        let drawn = ((draws.next() >> 24) >> draws.below(30)).max(1000);
        let packet = 64 + draws.below(9000);
        let (rate, packet) = if trail == 0 { (100_000_000, 1514) } else { (drawn, packet) };
        aqm::Context { rate: Rate(rate), delay: Time::ZERO, packet: Bytes(packet), classes: vec![Class::FREE] }
    }

    /// The events of a trail: loads from a sixteenth of the line to eight times the line, silence, and what is far beyond both.
    fn steps(needs: &Requirements, context: &aqm::Context, draws: &mut Draws) -> Vec<Step> {
        let (per_s, packet) = (context.packets_per_s(), context.packet.0);
        let arrives = needs.decides == Decides::OnArrival;
        let capacity = Fix::<32>::of(per_s);
        let (mut now_ns, mut load) = (0, 1.0);
        let mut all: Vec<Step> = Vec::with_capacity(STEPS);
        while all.len() < STEPS {
            if all.len().is_multiple_of(SPELL) {
                load = libm::exp2(draws.below(8) as f64 - 4.0 + draws.part());
            }
            let ticks = needs.tick_s.filter(|_| !arrives || draws.below(8) == 0);
            let mut observation = aqm::Observation { capacity, ..aqm::Observation::<Fix<32>>::zero() };
            let event = if let Some(period_s) = ticks {
                now_ns += (period_s * 1e9) as u64;
                let about = Fix::<32>::of(2.0 * draws.part() * load * per_s * period_s);
                let any = Fix(((draws.next() >> 1) >> draws.below(63)) as i64);
                observation.arrived = [about, about, about, about, Fix(0), any][draws.below(6) as usize];
                Event::Tick
            } else if arrives && draws.below(8) == 0 {
                Event::Hit
            } else {
                let any = (draws.next() >> 32) >> draws.below(32);
                let bytes = [packet, 64, 40 + draws.below(65_536), any.max(1)][draws.below(4) as usize];
                let about_ns = 2.0 * draws.part() * bytes as f64 / packet as f64 / load / per_s * 1e9;
                let silence_ns = draws.next() >> draws.below(64);
                let gap_ns = [about_ns as u64, about_ns as u64, about_ns as u64, 0][draws.below(4) as usize];
                now_ns += if draws.below(64) == 0 { silence_ns } else { gap_ns }.min(LONGEST_NS);
                Event::Arrival { bytes: bytes as u32, idle: 0 }
            };
            observation.now_s = seconds(now_ns);
            all.push(Step { event, observation });
        }
        all
    }

    fn call(
        law: &mut dyn Instances<Fix<32>, Self>,
        at: usize,
        call: &Event,
        observation: &aqm::Observation<Fix<32>>,
    ) -> aqm::Output<Fix<32>> {
        law.on_event(at, *call, observation)
    }

    /// `struct observation` of bpf/tc/observation.h.
    fn bytes(step: &Step, _: &Requirements) -> Vec<u8> {
        let (event, bytes) = match step.event {
            Event::Arrival { bytes, .. } => (0_u32, bytes),
            Event::Tick => (1, 0),
            _ => (2, 0),
        };
        let seen = &step.observation;
        let mut all = [bytes.to_ne_bytes(), event.to_ne_bytes()].concat();
        all.extend([seen.arrived, seen.capacity, seen.now_s].map(|number| number.0.to_ne_bytes()).concat());
        all
    }

    fn words(observation: &aqm::Observation<Fix<32>>) -> String {
        let aqm::Observation { arrived, capacity, now_s, .. } = observation;
        format!("arrived {}, capacity {} and now {}", arrived.0, capacity.0, now_s.0)
    }

    fn outputs(output: &aqm::Output<Fix<32>>) -> Vec<(&'static str, i64)> {
        vec![("the probability of its output", output.probability.0)]
    }
}
