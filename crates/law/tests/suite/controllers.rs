//! The duties of every controller of the registry to its host.

use penstock_law::cc::{self, CONTROLLERS, Controller, Event};
use penstock_law::law::{Build, Linearisation};
use penstock_law::parameter::Default;
use penstock_law::quantity::Bytes;
use penstock_law::{Dual, Entry, Number, Values};

const SITE: cc::Context = cc::Context { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 64.0 };

fn values(entry: &'static Entry<Controller>) -> Values {
    let mut values = Values::defaults(entry.parameters);
    for parameter in entry.parameters.iter().filter(|p| p.default == Default::Required) {
        values.set(parameter, parameter.most.min(1e6)).unwrap();
    }
    values
}

/// Paths that a history is made of: each has its length, from 10 us to 100 s.
const PATHS: u64 = 40;

/// Ten thousand events of a flow whose path, losses and marks follow no pattern; the output of the law after each. First
/// comes what may come before a round trip was measured: acknowledgements of what was sent again, cuts and timeouts.
fn history<N: Number>(entry: &'static Entry<Controller>, build: Build<N, Controller>, seed: u64) -> Vec<[f64; 2]> {
    let mut law = build(&values(entry), &SITE).unwrap();
    law.add();
    let mut draw = seed;
    let mut random = |most: u64| {
        // Knuth's linear congruential generator; its upper bits are good enough to mix events.
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % most
    };
    let base_rtt_s = 1e-5 * libm::pow(10.0, 7.0 * (seed % PATHS) as f64 / (PATHS - 1) as f64);
    let unmeasured = random(60);
    let mut now_s = 0.0;
    let mut said = Vec::new();
    for at in 0..10_000 {
        now_s += random(20) as f64 * base_rtt_s / 20.0;
        let packets = 1 + random(44) as u32;
        let event = match random(200) {
            0 => Event::Timeout,
            1 | 2 => Event::Congestion,
            3..=12 => Event::Round,
            13..=22 => Event::Tick,
            23..=40 => Event::Ack { packets, marked: packets },
            41..=60 => Event::Ack { packets, marked: random(u64::from(packets)) as u32 },
            _ => Event::Ack { packets, marked: 0 },
        };
        if at < unmeasured {
            if !matches!(event, Event::Round | Event::Tick) {
                let says = law.on_event(0, event, &cc::Observation { now_s: N::of(now_s), ..cc::Observation::zero() });
                said.push([says.window.value(), says.gap_s.value()]);
            }
            continue;
        }
        let seen = cc::Observation {
            rtt_s: N::of(base_rtt_s * (1.0 + random(100) as f64 / 40.0)),
            base_rtt_s: N::of(base_rtt_s),
            price_s: N::of(random(100) as f64 * 1e-3),
            now_s: N::of(now_s),
            buffer: N::of(random(300) as f64),
            level: N::of(random(300) as f64),
            in_flight: N::of(random(1000) as f64),
            earlier: N::of(random(1000) as f64),
            earlier_s: N::of(random(100) as f64 / 40.0 * base_rtt_s),
        };
        let says = law.on_event(0, event, &seen);
        said.push([says.window.value(), says.gap_s.value()]);
    }
    said
}

/// A window is a number, and at least one packet; a gap is a time. On paths of every length, and before they are measured.
#[test]
fn what_a_law_says_can_be_done() {
    for entry in CONTROLLERS {
        for seed in 0..PATHS {
            for [window, gap_s] in history(entry, entry.real, seed) {
                assert!(window.is_finite() && window >= 1.0, "{}: a window of {window} packets", entry.name);
                assert!(gap_s.is_finite() && gap_s >= 0.0, "{}: a gap of {gap_s} s", entry.name);
            }
        }
    }
}

/// The law that is differentiated is the law that is simulated, and one without a linearisation has no dual. A model of means is
/// another law, but names its method.
#[test]
fn duals_compute_what_is_simulated() {
    for entry in CONTROLLERS {
        let refused = matches!(entry.linearisation, Linearisation::Unsupported(_));
        assert_eq!(entry.dual.is_none(), refused, "{}", entry.name);
        if let Some(dual) = entry.dual {
            for seed in [0, PATHS / 2, PATHS - 1] {
                if matches!(entry.linearisation, Linearisation::Mean(_)) {
                    let said = history::<Dual>(entry, dual, seed);
                    assert!(
                        said.iter().all(|[window, _]| window.is_finite() && *window >= 1.0),
                        "{} from {seed}",
                        entry.name
                    );
                    continue;
                }
                let (dual, real) = (history::<Dual>(entry, dual, seed), history(entry, entry.real, seed));
                assert!(dual == real, "{} from seed {seed}", entry.name);
            }
        }
    }
}

/// A flow that is started again remembers nothing.
#[test]
fn a_restarted_flow_is_a_new_one() {
    for entry in CONTROLLERS {
        let mut law = (entry.real)(&values(entry), &SITE).unwrap();
        let (old, new) = (law.add(), law.add());
        let path =
            cc::Observation { rtt_s: 0.05, base_rtt_s: 0.04, price_s: 0.001, buffer: 100.0, ..cc::Observation::zero() };
        let seen = |now_s| cc::Observation { now_s, ..path };
        for at in 0..100 {
            law.on_event(old, Event::Ack { packets: 1, marked: 0 }, &seen(f64::from(at)));
            law.on_event(old, Event::Tick, &seen(f64::from(at)));
            law.on_event(old, Event::Round, &seen(f64::from(at)));
        }
        law.restart(old);
        let mut states = [Vec::new(), Vec::new()];
        for (state, flow) in states.iter_mut().zip([old, new]) {
            law.each(flow, &mut |x| state.push(*x));
        }
        assert_eq!(states[0], states[1], "{}", entry.name);
    }
}

#[test]
fn names_and_colours_are_told_apart() {
    for (at, entry) in CONTROLLERS.iter().enumerate() {
        for other in &CONTROLLERS[at + 1..] {
            assert!(entry.name != other.name && entry.colour != other.colour, "{} {}", entry.name, other.name);
        }
    }
}
