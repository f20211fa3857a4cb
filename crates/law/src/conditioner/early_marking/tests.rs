#![expect(clippy::unreadable_literal, reason = "numbers as the reference prints them")]

use super::*;
use crate::quantity::Bytes;

/// The customers of the paper's tables: committed rate [Mbit/s], flows, round trip [ms]; packets of 1000 B.
const CUSTOMERS: [(f64, f64, f64); 11] = [
    (10.0, 10.0, 20.0),
    (10.0, 10.0, 100.0),
    (10.0, 5.0, 20.0),
    (10.0, 15.0, 20.0),
    (10.0, 15.0, 100.0),
    (10.0, 20.0, 20.0),
    (10.0, 20.0, 100.0),
    (10.0, 40.0, 20.0),
    (10.0, 40.0, 100.0),
    (1.0, 10.0, 20.0),
    (1.0, 10.0, 100.0),
];

fn aggregate((committed, flows, rtt_ms): (f64, f64, f64), packet: f64) -> Aggregate {
    Aggregate { packets_per_s: committed * 1e6 / (8.0 * packet), flows, rtt_s: rtt_ms * 1e-3 }
}

#[track_caller]
fn near(x: f64, expected: f64, relative: f64) {
    assert!((x / expected - 1.0).abs() < relative, "{x}, not {expected}");
}

/// Reference of the early marker, table 1a, in the order of [`CUSTOMERS`]: W0, a, z = w_g, K, k1, k1 - k2.
#[test]
fn the_printed_rule_is_that_of_the_reference() {
    for (customer, [window, pole, zero, gain, k1, difference]) in CUSTOMERS.into_iter().zip([
        [2.5, 40.0, 4.0, 1.4336e-04, 3.589734e-05, 1.1469e-07],
        [12.5, 1.6, 0.16, 2.2938e-07, 1.433692e-06, 1.8350e-10],
        [5.0, 20.0, 2.0, 1.7920e-05, 8.967168e-06, 1.4336e-08],
        [1.667, 60.0, 6.0, 4.8384e-04, 8.083354e-05, 3.8707e-07],
        [8.333, 2.4, 0.24, 7.7414e-07, 3.225910e-06, 6.1932e-10],
        [1.25, 80.0, 8.0, 1.1469e-03, 1.438188e-04, 9.1750e-07],
        [6.25, 3.2, 0.32, 1.8350e-06, 5.735134e-06, 1.4680e-09],
        [0.625, 160.0, 16.0, 9.1750e-03, 5.771100e-04, 7.3400e-06],
        [3.125, 6.4, 0.64, 1.4680e-05, 2.294347e-05, 1.1744e-08],
        [0.25, 400.0, 40.0, 1.4336, 4.157440e-02, 1.1469e-02],
        [1.25, 16.0, 1.6, 2.2938e-03, 1.442775e-03, 1.8350e-05],
    ]) {
        let aggregate = aggregate(customer, 1000.0);
        let design = aggregate.design(GainRule::Paper);
        near(aggregate.window(), window, 3e-4);
        near(aggregate.pole(), pole, 1e-9);
        near(design.zero, zero, 1e-9);
        near(design.gain, gain, 5e-5);
        near(design.k[0], k1, 1e-6);
        near(design.k[0] - design.k[1], difference, 5e-5);
        near(aggregate.design(GainRule::PaperDimension).gain, gain * zero, 5e-5);
    }
}

/// The same, table 1c: z, K, k1, k1 - k2 by the true loop.
#[test]
fn the_rule_of_the_loop_is_that_of_the_reference() {
    for (customer, [zero, gain, k1, difference]) in CUSTOMERS.into_iter().zip([
        [2.5, 1.6438e-02, 6.581586e-03, 1.3150e-05],
        [0.16, 2.8739e-06, 1.796330e-05, 2.2992e-09],
        [2.0, 2.8066e-03, 1.404415e-03, 2.2453e-06],
        [2.5, 3.6059e-02, 1.443796e-02, 2.8847e-05],
        [0.24, 1.4549e-05, 6.062807e-05, 1.1639e-08],
        [2.5, 6.3519e-02, 2.543286e-02, 5.0815e-05],
        [0.32, 4.5983e-05, 1.437156e-04, 3.6786e-08],
        [2.5, 2.5179e-01, 1.008181e-01, 2.0143e-04],
        [0.5, 4.3120e-04, 8.625756e-04, 3.4496e-07],
        [2.5, 1.5697e+01, 6.341568, 1.2558e-01],
        [0.5, 2.5407e-02, 5.091653e-02, 2.0326e-04],
    ]) {
        let design = aggregate(customer, 1000.0).design(GainRule::Loop);
        near(design.zero, zero, 1e-9);
        near(design.gain, gain, 5e-5);
        near(design.k[0], k1, 1e-6);
        near(design.k[0] - design.k[1], difference, 5e-5);
    }
}

/// The same, table 1d: the one design of all tables by packet size; the gain scales as C^-4 and C^-5.
#[test]
fn the_gain_depends_on_the_packet() {
    for (packet, printed, looped) in [
        (500.0, [1.792029e-07, 1.791971e-07], [1.122652e-06, 1.122616e-06]),
        (576.0, [2.739710e-07, 2.739594e-07], [1.977231e-06, 1.977147e-06]),
        (1040.0, [1.612717e-06, 1.612493e-06], [2.101463e-05, 2.101172e-05]),
        (1500.0, [4.839097e-06, 4.837703e-06], [9.094647e-05, 9.092028e-05]),
    ] {
        let aggregate = aggregate((10.0, 10.0, 100.0), packet);
        for (rule, expected) in [(GainRule::Paper, printed), (GainRule::Loop, looped)] {
            for (k, expected) in aggregate.design(rule).k.into_iter().zip(expected) {
                near(k, expected, 1e-6);
            }
        }
    }
}

/// Magnitude and phase [degree] of the loop with the bucket's integrator, or without it as (8) is printed.
fn open_loop(aggregate: &Aggregate, design: &Design, w: f64, integrators: i32) -> (f64, f64) {
    let (a, c, n, r) = (aggregate.pole(), aggregate.packets_per_s, aggregate.flows, aggregate.rtt_s);
    let integrals = libm::pow(w, f64::from(integrators));
    let magnitude = c * c * design.gain / (2.0 * n) * libm::hypot(1.0, w / design.zero) / libm::hypot(w, a) / integrals;
    let phase = libm::atan(w / design.zero) - libm::atan(w / a) - w * r;
    (magnitude, phase.to_degrees() - 90.0 * f64::from(integrators))
}

/// The frequency at which something that falls reaches a value.
fn falls_to(value: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1e-4, 1e4);
    for _ in 0..200 {
        let middle = libm::sqrt(low * high);
        if f(middle) > value { low = middle } else { high = middle }
    }
    low
}

/// The same, table 1b: what the printed gain does in the loop as printed and in the true one, at w_g: magnitude and
/// phase each; crossover, phase margin, and gain margin of the true loop.
#[test]
fn the_printed_gain_leaves_a_slow_loop() {
    for (customer, [printed, printed_phase, magnitude, phase, crossover, margin, gain_margin]) in
        CUSTOMERS.into_iter().zip([
            [0.0985, -55.29, 0.0246, -145.29, 0.5314, 6.2, 694.0],
            [0.0985, -51.63, 0.6156, -141.63, 0.1178, 31.5, 131.0],
            [0.0985, -53.00, 0.0493, -143.00, 0.3774, 9.2, 673.0],
            [0.0985, -57.59, 0.0164, -147.59, 0.6499, 4.8, 707.0],
            [0.0985, -52.09, 0.4104, -142.09, 0.1392, 26.0, 132.0],
            [0.0985, -59.88, 0.0123, -149.88, 0.7500, 4.0, 712.0],
            [0.0985, -52.54, 0.3078, -142.54, 0.1580, 22.5, 134.0],
            [0.0985, -69.05, 0.0062, -159.05, 1.0594, 2.2, 677.0],
            [0.0985, -54.38, 0.1539, -144.38, 0.2175, 15.6, 137.0],
            [0.0985, -96.55, 0.0025, -186.55, 1.6740, 0.2, 178.0],
            [0.0985, -59.88, 0.0616, -149.88, 0.3383, 8.8, 142.0],
        ])
    {
        let aggregate = aggregate(customer, 1000.0);
        let design = aggregate.design(GainRule::Paper);
        let w_g = design.zero;
        let (x, degrees) = open_loop(&aggregate, &design, w_g, 1);
        assert!((x - printed).abs() < 1e-4 && (degrees - printed_phase).abs() < 0.01, "{customer:?}: {x}, {degrees}");
        let (x, degrees) = open_loop(&aggregate, &design, w_g, 2);
        assert!((x - magnitude).abs() < 1e-4 && (degrees - phase).abs() < 0.01, "{customer:?}: {x}, {degrees}");
        let w_c = falls_to(1.0, |w| open_loop(&aggregate, &design, w, 2).0);
        near(w_c, crossover, 5e-4);
        assert!((180.0 + open_loop(&aggregate, &design, w_c, 2).1 - margin).abs() < 0.06, "{customer:?}");
        // The phase rises from -180 before it falls for good.
        let w_180 = falls_to(-180.0, |w| if w < w_c { 0.0 } else { open_loop(&aggregate, &design, w, 2).1 });
        near(1.0 / open_loop(&aggregate, &design, w_180, 2).0, gain_margin, 5e-3);
    }
}

/// (11): the phase of the true loop at w_g is -140.71 - 11.46/W0 degrees, so that -146 is kept from W0 = 2.17 on, and not
/// by all customers of the tables.
#[test]
fn the_phase_bound_of_the_paper_needs_windows_of_2_17_packets() {
    for customer in CUSTOMERS {
        let aggregate = aggregate(customer, 1000.0);
        let design = aggregate.design(GainRule::Paper);
        let (_, phase) = open_loop(&aggregate, &design, design.zero, 2);
        let law = -140.71 - 11.459 / aggregate.window();
        assert!((phase - law).abs() < 0.01, "{customer:?}: {phase}, not {law}");
        assert_eq!(phase >= -146.0, aggregate.window() > 2.166, "{customer:?}");
    }
}

/// Table 1c: with the gain of the true loop the crossover is where it was put, and the margins are ample for all.
#[test]
fn the_rule_of_the_loop_leaves_margins() {
    for (customer, [crossover, margin, gain_margin]) in CUSTOMERS.into_iter().zip([
        [12.5, 47.0, 4.0],
        [0.8, 47.5, 10.5],
        [10.0, 40.7, 4.3],
        [12.5, 52.6, 4.4],
        [1.2, 45.2, 7.0],
        [12.5, 55.5, 4.6],
        [1.6, 43.0, 5.3],
        [12.5, 59.9, 5.1],
        [2.5, 43.0, 3.8],
        [12.5, 62.6, 5.6],
        [2.5, 55.5, 4.6],
    ]) {
        let aggregate = aggregate(customer, 1000.0);
        let design = aggregate.design(GainRule::Loop);
        let w_c = falls_to(1.0, |w| open_loop(&aggregate, &design, w, 2).0);
        near(w_c, crossover, 1e-6);
        assert!((180.0 + open_loop(&aggregate, &design, w_c, 2).1 - margin).abs() < 0.06, "{customer:?}");
        let w_180 = falls_to(-180.0, |w| if w < w_c { 0.0 } else { open_loop(&aggregate, &design, w, 2).1 });
        assert!((1.0 / open_loop(&aggregate, &design, w_180, 2).0 - gain_margin).abs() < 0.06, "{customer:?}");
    }
}

fn compiled(settings: &[(&str, f64)]) -> Result<EarlyMarking<f64>, String> {
    let values = Values::of(ENTRY.parameters, &[&[("committed_rate", 10e6)], settings].concat());
    EarlyMarking::compile(&values, &Context { packet: Bytes(1000) })
}

/// Reference, table 1f: Algorithm 1 with exaggerated gains, so that both clamps act. The clamped value is what is stored.
#[test]
fn algorithm_1_clamps_before_it_stores() {
    let law = compiled(&[("gain_rule", 3.0), ("k1", 0.02), ("k2", 0.015)]).unwrap();
    let mut s = State { probability: 0.01, ..law.initial_state() };
    for (level, expected) in [
        (125.0, 0.0),
        (120.0, 0.0),
        (100.0, 0.26875),
        (60.0, 1.0),
        (30.0, 1.0),
        (0.0, 1.0),
        (0.0, 1.0),
        (50.0, 0.46875),
        (93.75, 0.0),
        (124.0, 0.0),
    ] {
        s.tokens = level * 1000.0;
        law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &Observation { now_s: 0.0 });
        assert!((s.probability - expected).abs() < 1e-12, "at {level} packets: {}", s.probability);
    }
}

/// Without tokens a packet is red whatever the probability, and the probability goes on; red packets take none.
#[test]
fn an_empty_bucket_is_red_and_red_takes_no_tokens() {
    let law = compiled(&[]).unwrap();
    let mut s = State { tokens: 999.0, ..law.initial_state() };
    let observation = Observation { now_s: 0.0 };
    law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &observation);
    assert_eq!(law.output(&s, &observation).red, 1.0);
    assert!(s.probability > 0.0, "a level below the reference raises it");
    law.on_event(&mut s, Event::Coloured { bytes: 1000, colour: Colour::Red }, &observation);
    assert_eq!(s.tokens, 999.0);
    s.tokens = 1000.0;
    law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &observation);
    assert!(law.output(&s, &observation).red < 0.01, "{s:?}");
    law.on_event(&mut s, Event::Coloured { bytes: 1000, colour: Colour::Green }, &observation);
    assert_eq!(s.tokens, 0.0);
}

/// While a customer is idle the probability stays; then the full bucket counts as one step, clamped.
#[test]
fn an_idle_customer_comes_back_to_a_full_bucket() {
    let law = compiled(&[]).unwrap();
    let mut s = State { tokens: 0.0, probability: 0.5, level_before: 0.0, ..law.initial_state() };
    let [k1, k2] = aggregate((10.0, 10.0, 100.0), 1000.0).design(GainRule::Loop).k;
    law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &Observation { now_s: 3600.0 });
    assert_eq!(s.tokens, 125_000.0);
    assert!((s.probability - (0.5 - 31.25 * k1 - 93.75 * k2)).abs() < 1e-12, "{}", s.probability);
}

/// A load that falls with the probability settles where the level is the reference and the in-profile rate the
/// committed rate: 1500 packets a second meet 1250, so a sixth is red.
#[test]
fn the_level_settles_at_the_reference() {
    let law = compiled(&[("gain_rule", 3.0), ("k1", 2e-3), ("k2", 1.998e-3)]).unwrap();
    let mut s = law.initial_state();
    let (mut now_s, mut owed, mut levels) = (0.0, 0.0, 0.0);
    for n in 0..300_000 {
        let observation = Observation { now_s };
        law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &observation);
        // An even spread in place of a random draw: red whenever the probabilities have added up to one more.
        owed += law.output(&s, &observation).red;
        let colour = if owed >= 1.0 { Colour::Red } else { Colour::Green };
        owed -= if colour == Colour::Red { 1.0 } else { 0.0 };
        law.on_event(&mut s, Event::Coloured { bytes: 1000, colour }, &observation);
        now_s += 1.0 / 1500.0;
        levels += if n >= 200_000 { s.tokens } else { 0.0 };
    }
    near(levels / 100_000.0, 93_750.0, 0.02);
    assert!((s.probability - 1.0 / 6.0).abs() < 0.01, "{}", s.probability);
}

#[test]
fn gains_are_given_with_their_rule_only() {
    assert!(compiled(&[("k1", 1e-3)]).unwrap_err().contains("only"));
    assert!(compiled(&[("gain_rule", 3.0), ("k1", 1e-3)]).unwrap_err().contains("needs both"));
    assert!(compiled(&[("gain_rule", 3.0), ("k1", 1e-3), ("k2", 2e-3)]).unwrap_err().contains("at least"));
    for rule in [0.0, 1.0, 2.0, 4.0] {
        assert!(compiled(&[("gain_rule", rule)]).is_ok());
    }
}

/// Gains of packets on a level of bytes: at a fall by one byte the probability rises by what the printed rule has for a
/// packet.
#[test]
fn printed_gains_on_bytes_are_a_packet_times_as_large() {
    let of = |rule: f64| {
        let law = compiled(&[("gain_rule", rule), ("packet", 500.0)]).unwrap();
        [law.k1, law.k2].map(|k| libm::ldexp(k, -((law.places + <f64 as Number>::SPARE) as i32)))
    };
    let (packets, bytes) = (of(1.0), of(4.0));
    near(bytes[0], 500.0 * packets[0], 1e-9);
    near(bytes[1], 500.0 * packets[1], 1e-9);
}

/// A fall of the level raises the probability, from above the reference too, for what would take it back was cut off at
/// zero: by `k1 (B - b)` at most while the level stays above, which a fall from the brim reaches but for `k1 - k2`. So UDP
/// within its contract is in profile but for that probability; sent evenly, at the contract itself, it always is.
#[test]
fn above_the_reference_the_probability_is_what_the_level_fell_by_at_most() {
    for rate in [1e6, 10e6] {
        let law = compiled(&[("committed_rate", rate)]).unwrap();
        let depth = rate / 80.0;
        let [k1, k2] = aggregate((rate * 1e-6, 10.0, 100.0), 1000.0).design(GainRule::Loop).k;
        let (mut s, mut draw, mut most) = (law.initial_state(), 7u64, 0.0_f64);
        for _ in 0..100_000 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            s.tokens = depth * (1.0 - 0.25 * (draw >> 33) as f64 / (1u64 << 31) as f64);
            law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &Observation { now_s: 0.0 });
            let fallen = (depth - s.tokens) / 1000.0;
            assert!(s.probability <= k1 * fallen * (1.0 + 1e-9), "{rate}: {} at {fallen} packets", s.probability);
            most = most.max(s.probability / (k1 * depth / 4000.0));
        }
        assert!(most > 0.9, "the bound is near: {most}");
        let mut s = law.initial_state();
        for tokens in [depth, 0.75 * depth] {
            s.tokens = tokens;
            law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &Observation { now_s: 0.0 });
        }
        near(s.probability, k2 * depth / 4000.0, 1e-9);
        let mut s = law.initial_state();
        for n in 0..10_000 {
            let observation = Observation { now_s: f64::from(n) * 8000.0 / rate };
            law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &observation);
            assert!(law.output(&s, &observation).red < 1e-9, "{rate}: {s:?}");
            law.on_event(&mut s, Event::Coloured { bytes: 1000, colour: Colour::Green }, &observation);
        }
    }
}

/// Gains are of the design's packet, tokens are bytes: packets of another size meet the same probability at the same
/// level and take what they are.
#[test]
fn the_size_of_a_packet_is_the_designs_for_the_gain_and_its_own_for_tokens() {
    let after = |packet: f64, bytes: u32| {
        let law = compiled(&[("packet", packet)]).unwrap();
        let mut s = State { tokens: 50_000.0, level_before: 60_000.0, ..law.initial_state() };
        let observation = Observation { now_s: 0.0 };
        law.on_event(&mut s, Event::Arrival { bytes }, &observation);
        law.on_event(&mut s, Event::Coloured { bytes, colour: Colour::Green }, &observation);
        (s.probability, s.tokens)
    };
    for packet in [500.0, 1500.0] {
        let [k1, k2] = aggregate((10.0, 10.0, 100.0), packet).design(GainRule::Loop).k;
        for bytes in [40, 1000, 9000] {
            let (probability, tokens) = after(packet, bytes);
            near(probability, (k1 * 43_750.0 - k2 * 33_750.0) / packet, 1e-9);
            assert_eq!(tokens, 50_000.0 - f64::from(bytes));
        }
    }
}
