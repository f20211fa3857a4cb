//! The trails of controllers: events and observations for a program over bpf/cc/controller.h.

use penstock_law::Fix;
use penstock_law::cc::{self, Controller, Event, Requirements};

use super::words::SITE;
use crate::attach::trail::{Draws, ONE, STEPS, Trails};

type Step = crate::attach::trail::Step<Controller>;

/// Steps over which the path does not change.
const SPELL: usize = 256;
/// Most packets that an acknowledgement covers.
const MOST_PACKETS: u64 = 44;

impl Trails for Controller {
    const HEADER: &'static str = "cc/controller.h";
    // The window of a new connection.
    const GIVEN: i64 = 10 * ONE;

    fn context(_: u64, _: &mut Draws) -> cc::Context {
        SITE
    }

    /// The events of a trail: at first without any sample, then on paths of any length, empty and full.
    fn steps(needs: &Requirements, _: &cc::Context, draws: &mut Draws) -> Vec<Step> {
        let step = |event, rtt, base_rtt| {
            let observation =
                cc::Observation { rtt_s: Fix(rtt), base_rtt_s: Fix(base_rtt), ..cc::Observation::<Fix<32>>::zero() };
            Step { event, observation }
        };
        let ack = Event::Ack { packets: 1, marked: 0 };
        let first = [ack, Event::Congestion, ack, Event::Timeout];
        let mut all: Vec<Step> = first.map(|event| step(event, 0, 0)).to_vec();
        let (mut base_rtt, mut most) = (ONE, ONE);
        while all.len() < STEPS {
            if all.len() % SPELL == first.len() {
                // From a quarter of a nanosecond to minutes, and as much again of queue.
                base_rtt = ((draws.next() >> 25) >> draws.below(38)).max(1) as i64;
                most = ((draws.next() >> 25) >> draws.below(38)).max(1) as i64;
            }
            let queued =
                [0, draws.below(most as u64), draws.below(most as u64) / 64, most as u64][draws.below(4) as usize];
            let event = match draws.below(64) {
                0 => Event::Timeout,
                1..4 => Event::Congestion,
                4..10 => Event::Round,
                10..18 if needs.tick_s.is_some() => Event::Tick,
                _ => Event::Ack {
                    packets: [1, 2, 1 + draws.below(MOST_PACKETS) as u32][draws.below(3) as usize],
                    marked: 0,
                },
            };
            all.push(step(event, base_rtt + queued as i64, base_rtt));
        }
        all
    }

    /// `struct observation` of bpf/cc/observation.h.
    fn bytes(step: &Step) -> Vec<u8> {
        let (event, packets) = match step.event {
            Event::Ack { packets, .. } => (0_u32, packets),
            Event::Tick => (1, 0),
            Event::Round => (2, 0),
            Event::Congestion => (3, 0),
            Event::Timeout => (4, 0),
        };
        let mut bytes = [event.to_ne_bytes(), packets.to_ne_bytes()].concat();
        bytes.extend([step.observation.rtt_s, step.observation.base_rtt_s].map(|time| time.0.to_ne_bytes()).concat());
        bytes
    }

    fn words(observation: &cc::Observation<Fix<32>>) -> String {
        format!("rtt {} and base rtt {}", observation.rtt_s.0, observation.base_rtt_s.0)
    }

    fn outputs(output: &cc::Output<Fix<32>>) -> Vec<(&'static str, i64)> {
        vec![("the window of its output", output.window.0), ("the gap of its output", output.gap_s.0)]
    }
}
