//! Parts of deliveries that a controller does without change nothing of it.

use penstock_law::cc::{
    AckSample, CONTROLLERS, Context, Controller, Delivery, DeliveryEvent, Event, Observation, RateSample, Timing,
    Transmission,
};
use penstock_law::parameter::Default as Usual;
use penstock_law::quantity::{Bytes, Time};
use penstock_law::{Instances, Values};

const NOTHING: Transmission = Transmission { sent: Time(0), delivered: 0, lost: 0, in_flight: 0, app_limited: false };

/// The numbers of the state and of the output, by their bits.
fn seen_of(law: &mut dyn Instances<f64, Controller>, seen: &Observation<f64>) -> Vec<u64> {
    let output = law.output(0, seen);
    let mut numbers = vec![output.window.to_bits(), output.gap_s.to_bits()];
    law.each(0, &mut |x| numbers.push(x.to_bits()));
    numbers
}

/// One of two laws is told everything, the other only what it does not do without. A packet of ten is lost, and rounds end.
#[test]
fn a_law_does_the_same_without_what_it_spares() {
    let site = Context { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 20.0 };
    let mut sparing = Vec::new();
    for entry in CONTROLLERS {
        let mut values = Values::defaults(entry.parameters);
        for parameter in entry.parameters.iter().filter(|p| p.default == Usual::Required) {
            values.set(parameter, parameter.most.min(1e6)).unwrap();
        }
        let [mut all, mut less] = [(); 2].map(|()| (entry.real)(&values, &site).unwrap());
        let needs = all.requirements();
        let spared = needs.spared;
        if !needs.delivery || !(spared.transmissions || spared.uniform || spared.acks || spared.timing) {
            continue;
        }
        sparing.push(entry.name);
        all.add();
        less.add();
        for k in 1..=600_u64 {
            let now = Time((k + 100) * 1_000_000_000);
            let rtt = Time(40_000_000_000 + k * 37 % 11 * 1_000_000_000);
            let seen =
                Observation { rtt_s: rtt.seconds(), base_rtt_s: 0.04, now_s: now.seconds(), ..Observation::zero() };
            let then = Transmission { sent: now - rtt, delivered: k, lost: k / 10, in_flight: 10, app_limited: false };
            let rate = RateSample { delivered: 10 + k % 3, interval: rtt, then };
            let ack =
                AckSample { packets: 1, marked: 0, lost: 0, in_flight_before: 11, rtt: Some(rtt), rate: Some(rate) };
            let delivery = |event, uniform| Delivery {
                event,
                now,
                sent: k + 20 + k / 10,
                delivered: k + 10,
                lost: k / 10,
                in_flight: 10,
                app_limited: false,
                window_limited: true,
                uniform,
            };
            let mut tell = |[whole, part]: [DeliveryEvent; 2]| {
                let uniform = (k * 7 % 100) as f64 / 100.0;
                let (_, timing) = all.on_detail_timed(0, &delivery(whole, uniform), &seen);
                less.on_detail(0, &delivery(part, if spared.uniform { 0.0 } else { uniform }), &seen);
                assert!(!spared.timing || timing == Timing::default(), "{}: {timing:?}", entry.name);
            };
            if k % 10 == 0 {
                let lost = if spared.transmissions { NOTHING } else { then };
                tell([DeliveryEvent::Lost(then), DeliveryEvent::Lost(lost)]);
            }
            let bare = AckSample { rate: if spared.transmissions { None } else { ack.rate }, ..ack };
            tell([DeliveryEvent::Ack(ack), DeliveryEvent::Ack(bare)]);
            all.on_event(0, Event::Ack { packets: 1, marked: 0 }, &seen);
            if !spared.acks {
                less.on_event(0, Event::Ack { packets: 1, marked: 0 }, &seen);
            }
            if k % 40 == 0 {
                all.on_event(0, Event::Round, &seen);
                less.on_event(0, Event::Round, &seen);
            }
            assert_eq!(seen_of(&mut *all, &seen), seen_of(&mut *less, &seen), "{} at {k}", entry.name);
        }
    }
    assert_eq!(sparing.len(), 9, "{sparing:?}");
}
