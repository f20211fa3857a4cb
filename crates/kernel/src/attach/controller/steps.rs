//! The trails of controllers: events and observations for a program over bpf/cc/controller.h.

use std::fmt;

use penstock_law::cc::{
    self, AckSample, Controller, Delivery, DeliveryEvent, Event, RateSample, Requirements, Transmission,
};
use penstock_law::estimate::Clocked;
use penstock_law::quantity::Time;
use penstock_law::{Fix, Instances};

use super::words::SITE;
use crate::attach::trail::{Draws, ONE, STEPS, Trails};

pub(super) type Step = crate::attach::trail::Step<Controller>;

/// Steps over which the path does not change.
const SPELL: usize = 256;
/// Most packets that an acknowledgement covers.
const MOST_PACKETS: u64 = 44;
/// Picoseconds in a microsecond.
const PS: u64 = 1_000_000;

/// A call of a law.
#[derive(Clone, Copy)]
pub(in crate::attach) enum Call {
    Event(Event),
    /// An acknowledgement with its rate sample, to a law that requires deliveries.
    Delivery(Delivery),
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Delivery(delivery) => delivery.fmt(f),
        }
    }
}

/// The counts of a flow on a trail, and its clock.
struct Counts {
    now_us: u64,
    delivered: u64,
    lost: u64,
}

impl Counts {
    /// The next acknowledgement of a path with this round trip [over 2^32 s], if one is known. Rates are from a packet in minutes to
    /// 2^20 packets in a microsecond.
    fn acknowledge(&mut self, base_rtt: i64, rtt: i64, draws: &mut Draws) -> Delivery {
        let us = |seconds: i64| ((seconds as u64 >> 12) * 1_000_000) >> 20;
        // A duplicate acknowledgement delivers nothing.
        let [packets, lost] = [draws.below(MOST_PACKETS + 1), draws.below(64).saturating_sub(48)];
        self.now_us += (draws.next() >> 32) >> draws.below(32);
        self.delivered += packets;
        self.lost += lost;
        let known = rtt > 0;
        let interval_us =
            us(base_rtt) + 1 + [0, draws.below(us(rtt) + 1), draws.below(1 << 20)][draws.below(3) as usize];
        let within = (packets + ((draws.next() >> 44) >> draws.below(20))).min(self.delivered);
        let sent_us = self.now_us.saturating_sub(us(rtt));
        let in_flight = (draws.next() >> 44) >> draws.below(20);
        let then = Transmission {
            sent: Time(sent_us * PS),
            delivered: self.delivered - within,
            lost: draws.below(self.lost + 1),
            in_flight: 1 + draws.below(1 << 20),
            app_limited: draws.below(4) == 0,
        };
        let rate = RateSample { delivered: within, interval: Time(interval_us * PS), then };
        let ack = AckSample {
            packets: packets as u32,
            marked: draws.below(packets + 1) as u32,
            lost: lost as u32,
            in_flight_before: in_flight + packets + lost,
            rtt: (known && draws.below(4) > 0).then(|| Time((us(rtt) + 1) * PS)),
            rate: (known && packets > 0 && draws.below(4) > 0).then_some(rate),
        };
        Delivery {
            event: DeliveryEvent::Ack(ack),
            now: Time(self.now_us * PS),
            sent: self.delivered + self.lost + in_flight,
            delivered: self.delivered,
            lost: self.lost,
            in_flight,
            app_limited: draws.below(4) == 0,
            window_limited: draws.below(2) == 0,
            uniform: draws.part(),
        }
    }
}

/// `struct delivery` of bpf/cc/observation.h.
fn delivery_bytes(delivery: &Delivery) -> Vec<u8> {
    let DeliveryEvent::Ack(ack) = delivery.event else { unreachable!("a trail has acknowledgements only") };
    let span = |time: Time| Fix::<32>::span(time).0;
    let counts = |counts: [u64; 4]| counts.map(|count| (count as u32).to_ne_bytes()).concat();
    let (interval, within) = ack.rate.map_or((0, 0), |rate| (span(rate.interval), rate.delivered));
    let then = ack.rate.map(|rate| rate.then);
    let mut all = span(delivery.now).to_ne_bytes().to_vec();
    all.extend(counts([delivery.delivered, delivery.lost, delivery.in_flight, u64::from(delivery.app_limited)]));
    all.extend(counts([u64::from(ack.packets), u64::from(ack.marked), u64::from(ack.lost), ack.in_flight_before]));
    all.extend([ack.rtt.map_or(0, span), interval].map(i64::to_ne_bytes).concat());
    // And four bytes before the next number of eight.
    all.extend([within as u32, 0].map(u32::to_ne_bytes).concat());
    all.extend(then.map_or(0, |then| span(then.sent)).to_ne_bytes());
    let [delivered, limited] = then.map_or([0; 2], |then| [then.delivered as u32, u32::from(then.app_limited)]);
    all.extend([delivered, limited].map(u32::to_ne_bytes).concat());
    all
}

/// The size of `struct delivery` [B].
const DELIVERY: usize = 80;

impl Trails for Controller {
    const HEADER: &'static str = "cc/controller.h";
    type Call = Call;
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
            Step { event: Call::Event(event), observation }
        };
        let ack = Event::Ack { packets: 1, marked: 0 };
        // The kernel's clock has run for up to two weeks.
        let mut counts = Counts { now_us: draws.next() >> 24, delivered: draws.below(1 << 20), lost: 0 };
        let first = [ack, Event::Congestion, ack, Event::Timeout];
        let mut all: Vec<Step> = first.map(|event| step(event, 0, 0)).to_vec();
        if needs.delivery {
            all[2].event = Call::Delivery(counts.acknowledge(0, 0, draws));
        }
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
            let rtt = base_rtt + queued as i64;
            let mut next = step(event, rtt, base_rtt);
            if needs.delivery && matches!(event, Event::Ack { .. }) && draws.below(4) > 0 {
                next.event = Call::Delivery(counts.acknowledge(base_rtt, rtt, draws));
            }
            all.push(next);
        }
        all
    }

    fn call(
        law: &mut dyn Instances<Fix<32>, Self>,
        at: usize,
        call: &Call,
        observation: &cc::Observation<Fix<32>>,
    ) -> cc::Output<Fix<32>> {
        match call {
            Call::Event(event) => law.on_event(at, *event, observation),
            Call::Delivery(delivery) => law.on_detail(at, delivery, observation),
        }
    }

    /// `struct observation` of bpf/cc/observation.h, and for a law that requires deliveries `struct delivery`.
    fn bytes(step: &Step, needs: &Requirements) -> Vec<u8> {
        let (event, packets) = match step.event {
            Call::Event(Event::Ack { packets, .. }) => (0_u32, packets),
            Call::Event(Event::Tick) => (1, 0),
            Call::Event(Event::Round) => (2, 0),
            Call::Event(Event::Congestion) => (3, 0),
            Call::Event(Event::Timeout) => (4, 0),
            Call::Delivery(_) => (5, 0),
        };
        let mut bytes = [event.to_ne_bytes(), packets.to_ne_bytes()].concat();
        bytes.extend([step.observation.rtt_s, step.observation.base_rtt_s].map(|time| time.0.to_ne_bytes()).concat());
        if let Call::Delivery(delivery) = &step.event {
            bytes.extend(delivery_bytes(delivery));
        } else if needs.delivery {
            bytes.extend([0; DELIVERY]);
        }
        bytes
    }

    fn words(observation: &cc::Observation<Fix<32>>) -> String {
        format!("rtt {} and base rtt {}", observation.rtt_s.0, observation.base_rtt_s.0)
    }

    fn outputs(output: &cc::Output<Fix<32>>) -> Vec<(&'static str, i64)> {
        vec![("the window of its output", output.window.0), ("the gap of its output", output.gap_s.0)]
    }
}
