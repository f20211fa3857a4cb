use super::*;
use crate::quantity::{Bytes, Rate, Time};

fn red(rate: u64, delay_s: f64) -> Red<f64> {
    let context = Context {
        rate: Rate(rate),
        delay: Time::from_seconds(delay_s),
        packet: Bytes(1000),
        classes: alloc::vec::Vec::new(),
    };
    Red::compile(&Values::defaults(ENTRY.parameters), &context).unwrap()
}

/// Reference of the TCP/AQM paper, section 7: thresholds and weights of ns-2 at four rates.
#[test]
fn automatic_settings_are_those_of_ns2() {
    for (rate, min, max, weight) in [
        (100_000_000, 31.25, 93.75, 8.000e-5),
        (1_000_000_000, 312.5, 937.5, 8.000e-6),
        (2_000_000_000, 625.0, 1875.0, 4.000e-6),
        (8_000_000_000, 2500.0, 7500.0, 1.000e-6),
        (1_000_000, 5.0, 15.0, 7.968e-3),
    ] {
        let red = red(rate, 0.01);
        assert_eq!((red.min_threshold, red.max_threshold), (min, max));
        assert!((red.weight / weight - 1.0).abs() < 1e-4, "{rate}: {}", red.weight);
    }
    assert!((red(100_000_000, 0.5).weight / 5.333e-6 - 1.0).abs() < 1e-3, "a long line averages over 15 s");
}

/// Gentle: 0 at min, max_p at max, 1 at twice max, and a straight line between.
#[test]
fn the_probability_is_piecewise_linear() {
    let red = red(1_000_000_000, 0.01);
    for (average, p) in [(312.5, 0.0), (625.0, 0.05), (937.5, 0.1), (1406.25, 0.55), (1875.0, 1.0), (1e5, 1.0)] {
        assert!((red.initial_probability(&red.curve, average) - p).abs() < 1e-12, "{average}");
    }
}

/// With `wait`, the spacing of marks at constant p_b is uniform over 1/p .. 2/p: mean 1.5/p, never below 1/p.
#[test]
fn marks_are_spaced_as_declared() {
    for (wait, mean, least) in [(1.0, 150.0, 100), (0.0, 50.5, 1)] {
        let mut values = Values::defaults(ENTRY.parameters);
        values.set(ENTRY.parameters.iter().find(|p| p.name == "wait").unwrap(), wait).unwrap();
        let context = Context {
            rate: Rate(1_000_000_000),
            delay: Time::ZERO,
            packet: Bytes(1000),
            classes: alloc::vec::Vec::new(),
        };
        let red = Red::<f64>::compile(&values, &context).unwrap();
        // An average at which p_b = 0.01, held there by a queue equal to it.
        let queue = 312.5 + 62.5;
        let mut s = State { average: queue, above: true, ..red.initial_state() };
        let observation = Observation { queue, capacity: 125_000.0, ..Observation::zero() };
        assert!((red.initial_probability(&red.curve, queue) - 0.01).abs() < 1e-12);
        // A plain multiplicative generator is random enough for a mean.
        let mut x = 1u64;
        let (mut marks, mut since, mut shortest) = (0u32, 0u32, u32::MAX);
        for _ in 0..1_000_000 {
            red.on_event(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &observation);
            since += 1;
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if ((x >> 11) as f64) < red.output(&s, &observation).probability * (1u64 << 53) as f64 {
                red.on_event(&mut s, Event::Hit, &observation);
                shortest = shortest.min(since);
                (marks, since) = (marks + 1, 0);
            }
        }
        let spacing = 1e6 / f64::from(marks);
        assert!((spacing / mean - 1.0).abs() < 0.02, "wait {wait}: {spacing}");
        assert!(shortest >= least, "wait {wait}: {shortest}");
        assert!((1.0 / red.mean_output(&s, &observation).probability / mean - 1.0).abs() < 0.01);
    }
}

/// The rule that the descriptions leave out.
#[test]
fn an_empty_queue_is_spared_unless_told_otherwise() {
    let red = red(1_000_000_000, 0.01);
    let mut s = State { average: 900.0, above: true, count_bytes: 1_000_000, ..red.initial_state() };
    let observation = Observation { capacity: 125_000.0, ..Observation::zero() };
    red.on_event(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &observation);
    assert_eq!(red.output(&s, &observation).probability, 0.0);
    red.on_event(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &Observation { queue: 1.0, ..observation });
    assert_eq!(red.output(&s, &observation).probability, 0.0, "the first above the threshold starts the count");
    s.count_bytes = 1_000_000;
    red.on_event(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &Observation { queue: 1.0, ..observation });
    assert_eq!(red.output(&s, &observation).probability, 1.0);
}

/// Idle time ages the average as if packets had passed through an empty queue.
#[test]
fn idle_time_ages_the_average() {
    let red = red(100_000_000, 0.01);
    let mut s = State { average: 50.0, ..red.initial_state() };
    let observation = Observation { capacity: 12_500.0, ..Observation::zero() };
    red.on_event(&mut s, Event::Arrival { bytes: 1000, idle: 12_500 }, &observation);
    assert!((s.average - 50.0 * libm::exp(-1.0)).abs() < 0.01, "{}", s.average);
}

fn told(settings: &[(&str, f64)]) -> (Values, Context) {
    let values = Values::of(ENTRY.parameters, settings);
    (
        values,
        Context {
            rate: Rate(100_000_000),
            delay: Time::from_seconds(0.01),
            packet: Bytes(1000),
            classes: alloc::vec::Vec::new(),
        },
    )
}

/// ns-2 marks where its queue is longer than one, of whatever it counts: of bytes any packet, of packets two.
#[test]
fn in_packets_one_that_waits_alone_is_spared() {
    for (bytes, waiting, probability) in
        [(1.0, 0.04, 1.0), (1.0, 1.0, 1.0), (0.0, 1.0, 0.0), (0.0, 2.0, 1.0), (1.0, 0.0, 0.0)]
    {
        let (values, context) = told(&[("bytes", bytes)]);
        let red = Red::<f64>::compile(&values, &context).unwrap();
        let mut s = State { average: 60.0, above: true, count: 1000, count_bytes: 1_000_000, ..red.initial_state() };
        red.on_event(
            &mut s,
            Event::Arrival { bytes: 1000, idle: 0 },
            &Observation { queue: waiting, ..Observation::zero() },
        );
        assert_eq!(red.output(&s, &Observation::zero()).probability, probability, "{bytes} {waiting}");
    }
}

/// In packets a small packet counts as much as a large one, for the spacing and for its own mark.
#[test]
fn in_packets_size_does_not_count() {
    let chance = |bytes: f64, size| {
        let (values, context) = told(&[("bytes", bytes), ("wait", 0.0)]);
        let red = Red::<f64>::compile(&values, &context).unwrap();
        let mut s = State { average: 62.5, above: true, count: 9, count_bytes: 9000, ..red.initial_state() };
        red.on_event(
            &mut s,
            Event::Arrival { bytes: size, idle: 0 },
            &Observation { queue: 62.5, ..Observation::zero() },
        );
        red.output(&s, &Observation::zero()).probability
    };
    // p_b = 0.05 after ten: 0.05/(1 - 0.5). In bytes forty more make no tenth packet, and the mark shrinks with size.
    assert!((chance(0.0, 1000) - 0.1).abs() < 1e-12 && (chance(0.0, 40) - 0.1).abs() < 1e-12);
    assert!((chance(1.0, 1000) - 0.1).abs() < 1e-12);
    assert!((chance(1.0, 40) - 0.05 / 0.55 * 0.04).abs() < 1e-12);
}

/// p_b = 0.3 after three: 0.3/(1 - 0.9) is three marks, and a packet takes one.
#[test]
fn nothing_is_more_than_certain() {
    for bytes in [0.0, 1.0] {
        let (values, context) = told(&[("bytes", bytes), ("wait", 0.0), ("max_p", 0.6)]);
        let red = Red::<f64>::compile(&values, &context).unwrap();
        let mut s = State { average: 62.5, above: true, count: 2, count_bytes: 2000, ..red.initial_state() };
        red.on_event(
            &mut s,
            Event::Arrival { bytes: 1000, idle: 0 },
            &Observation { queue: 62.5, ..Observation::zero() },
        );
        assert!((s.initial_probability - 0.3).abs() < 1e-12);
        assert_eq!(red.output(&s, &Observation::zero()).probability, 1.0, "{bytes}");
    }
}

fn adaptive(settings: &[(&str, f64)]) -> Adaptive {
    let (values, context) = told(settings);
    Adaptive::compile(&values, &context).unwrap()
}

/// Adaptive RED: thresholds of 31.25 and 93.75 packets have their target between 56.25 and 68.75; above it
/// max_p takes 49 steps of 0.01 from 0.01 to 0.5 and a few more, since they are smaller at first; below it
/// ln(50)/ln(1/0.9) = 37.1 steps back.
#[test]
fn max_p_follows_the_average() {
    let law = adaptive(&[("adaptive", 1.0)]);
    let steps = |from: f64, average: f64, to: f64| {
        let mut s = law.initial_state();
        (s.max_p, s.red.average) = (from, average);
        (0..200).find(|_| {
            let there = s.max_p == to;
            law.on_event(&mut s, Event::Tick, &Observation { arrived: 1.0, ..Observation::zero() });
            there
        })
    };
    assert_eq!(steps(0.5, 56.24, 0.01), Some(38));
    assert_eq!(steps(0.1, 68.76, 0.5), Some(40));
    assert!((50..56).contains(&steps(0.01, 68.76, 0.5).unwrap()));
    assert_eq!((steps(0.5, 56.26, 0.01), steps(0.01, 68.74, 0.5)), (None, None), "within the target nothing moves");
    assert_eq!(law.requirements().tick_s, Some(0.5));
}

/// A max_p that moved changes an arrival's probability, between the thresholds and above.
#[test]
fn a_moved_max_p_is_the_one_in_force() {
    let law = adaptive(&[("adaptive", 1.0), ("wait", 0.0)]);
    for (average, initial) in [(62.5, 0.055), (93.75, 0.11), (140.625, 0.555)] {
        let mut s = law.initial_state();
        (s.red.average, s.red.above) = (140.625, true);
        law.on_event(&mut s, Event::Tick, &Observation { arrived: 1.0, ..Observation::zero() });
        assert!((s.max_p - 0.11).abs() < 1e-12);
        s.red.average = average;
        let observation = Observation { queue: average, ..Observation::zero() };
        law.on_event(&mut s, Event::Arrival { bytes: 1000, idle: 0 }, &observation);
        assert!((s.red.initial_probability - initial).abs() < 1e-12, "{average}: {}", s.red.initial_probability);
    }
}

/// While nothing arrives the average is not news.
#[test]
fn max_p_waits_while_nothing_arrives() {
    let law = adaptive(&[("adaptive", 1.0)]);
    let mut s = law.initial_state();
    law.on_event(&mut s, Event::Tick, &Observation::zero());
    assert_eq!(s.max_p, 0.1);
    law.on_event(&mut s, Event::Tick, &Observation { arrived: 1.0, ..Observation::zero() });
    assert!((s.max_p - 0.09).abs() < 1e-12);
}

/// The registry builds the law of the switch, and shows max_p only if it moves.
#[test]
fn the_switch_chooses() {
    for (on, names, tick) in [(0.0, 3, None), (1.0, 4, Some(0.25))] {
        let (values, context) = told(&[("adaptive", on), ("interval", 0.25)]);
        let law = (ENTRY.real)(&values, &context).unwrap();
        assert_eq!((law.names().len(), law.requirements().tick_s), (names, tick));
    }
}
