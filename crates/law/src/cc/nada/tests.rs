//! Published numbers of RFC 8698, and what follows from its equations.

use super::*;
use crate::quantity::{Bytes, Time};

const RTT_S: f64 = 0.1;

fn law(set: &[(&str, f64)]) -> Nada {
    let context = Context { packet: Bytes(1000), initial_window: 10.0, initial_ssthresh: 1e9 };
    Nada::compile(&Values::of(ENTRY.parameters, set), &context).unwrap()
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9 * expected.abs().max(1e-3), "{value} for {expected}");
}

/// So many acknowledgements of one packet each, `gap_s` apart; the time of the last.
fn hear(law: &Nada, s: &mut State<f64>, (from_s, packets, gap_s): (f64, u32, f64), delay_s: f64) -> f64 {
    for packet in 1..=packets {
        let now_s = from_s + f64::from(packet) * gap_s;
        let rtt = Some(Time::from_seconds(RTT_S + delay_s));
        let ack = AckSample { packets: 1, marked: 0, lost: 0, in_flight_before: 0, rtt, rate: None };
        let seen = Observation { rtt_s: RTT_S + delay_s, base_rtt_s: RTT_S, ..Observation::zero() };
        law.on_ack(s, now_s, &ack, &seen);
    }
    from_s + f64::from(packets) * gap_s
}

/// The list of parameters of section 4.1, with the units of this registry.
#[test]
fn the_parameters_are_those_of_the_rfc() {
    let values = Values::defaults(ENTRY.parameters);
    for (name, value) in [
        ("priority", 1.0),
        ("min_rate", 150e3),
        ("max_rate", 1.5e6),
        ("x_ref", 0.010),
        ("kappa", 0.5),
        ("eta", 2.0),
        ("tau", 0.500),
        ("delta", 0.100),
        ("log_window", 0.500),
        ("q_eps", 0.010),
        ("filter", 0.120),
        ("gamma_max", 0.5),
        ("q_bound", 0.050),
        ("multiloss", 7.0),
        ("q_th", 0.050),
        ("lambda", 0.5),
        ("loss_ref", 0.01),
        ("mark_ref", 0.01),
        ("loss_delay", 0.010),
        ("mark_delay", 0.002),
        ("alpha", 0.1),
    ] {
        assert_eq!(values.number(name), value, "{name}");
    }
}

/// Equation (1): as it is below 50 ms, 50 ms there, and e to the -1/2 of that at twice the threshold.
#[test]
fn delay_is_warped_above_the_threshold() {
    let law = law(&[]);
    near(law.warped(0.02), 0.02);
    near(law.warped(0.05), 0.05);
    near(law.warped(0.1), 0.05 * 0.606_530_659_712_633);
    near(law.warped(0.25), 0.05 * 0.135_335_283_236_613);
}

/// Equation (2): a share of 1 % counts for 10 ms if lost and 2 ms if marked, 2 % for four times as much.
#[test]
fn losses_and_marks_add_delay() {
    let law = law(&[]);
    near(law.signal(0.015, 0.0, 0.0), 0.015);
    near(law.signal(0.015, 0.01, 0.01), 0.027);
    near(law.signal(0.0, 0.02, 0.0), 0.040);
    near(law.signal(0.0, 0.0, 0.03), 0.018);
}

/// Equation (3): 50 ms over round trip, DELTA and DFILT, 220 ms; GAMMA_MAX is above that.
#[test]
fn a_ramp_up_step_is_bounded_by_the_delay_it_causes() {
    let law = law(&[]);
    near(law.gamma(0.1), 0.05 / 0.32);
    near(law.gamma(0.28), 0.1);
    near(self::law(&[("q_bound", 0.5)]).gamma(0.03), 0.5);
}

/// Equations (5) to (7), by hand: at 1 Mbit/s the equilibrium signal is 10 ms times 1.5. At 20 ms, 100 ms after the last
/// update, 1/2 1/5 5/500 = 0.1 % is lost of it; where it was 10 ms before, 1/2 2 10/500 = 2 % more.
#[test]
fn the_gradual_update_is_that_of_the_rfc() {
    let law = law(&[]);
    near(law.gradual(1e6, 0.1, 0.015, 0.015), 1e6);
    near(law.gradual(1e6, 0.1, 0.020, 0.020), 0.999e6);
    near(law.gradual(1e6, 0.1, 0.020, 0.010), 0.979e6);
    near(law.gradual(1e6, 0.1, 0.010, 0.010), 1.001e6);
    near(self::law(&[("priority", 2.0)]).gradual(1e6, 0.1, 0.030, 0.030), 1e6);
}

/// Section 4: under a constant signal the equilibrium rate is PRIO XREF RMAX / x, wherever it begins.
#[test]
fn the_rate_rests_where_the_rfc_says() {
    for (priority, delay_s, rate) in [(1.0, 0.0125, 1.2e6), (1.0, 0.03, 0.5e6), (2.0, 0.03, 1e6), (0.5, 0.05, 150e3)] {
        let law = law(&[("priority", priority)]);
        for from in [150e3, 1.5e6] {
            let mut s = State { rate: from, ..law.initial_state() };
            hear(&law, &mut s, (0.0, 40_000, 0.01), delay_s);
            assert!((s.rate / rate - 1.0).abs() < 1e-3, "{priority} {delay_s} from {from}: {}", s.rate);
        }
    }
}

/// Equation (4): with 500 packets of 1000 B in the last half second, 8 Mbit/s, the rate is 1 + 0.15625 of that, or what it was
/// if that is more. A delay of 10 ms in that time ends it, and one that is older does not.
#[test]
fn the_rate_ramps_up_while_nothing_waits() {
    let law = law(&[("max_rate", 100e6), ("min_rate", 1e6)]);
    let mut s = law.initial_state();
    let now_s = hear(&law, &mut s, (0.0, 2000, 0.001), 0.0);
    assert!((s.received / 8e6 - 1.0).abs() < 0.01, "{}", s.received);
    assert!((s.rate / (1.156_25 * 8e6) - 1.0).abs() < 0.01, "{}", s.rate);
    let before = s.rate;
    let now_s = hear(&law, &mut s, (now_s, 1, 0.001), 0.0101);
    // The smallest of 15 samples is zero: the signal is, and rests at 10 ms times 100/9.25. A step is 1/2 1/5 108/500.
    let now_s = hear(&law, &mut s, (now_s, 300, 0.001), 0.0);
    assert!(s.rate > 1.02 * before && s.rate < 1.09 * before, "{} {before}", s.rate);
    let mut s = State { rate: 2e6, ..s };
    let now_s = hear(&law, &mut s, (now_s, 150, 0.001), 0.0);
    assert!(s.rate < 3e6, "{}", s.rate);
    hear(&law, &mut s, (now_s, 300, 0.001), 0.0);
    assert!(s.rate > 9e6, "{}", s.rate);
}

/// Within seven average intervals of a loss delay above 50 ms is warped, and not after; one loss follows 100 packets.
#[test]
fn warping_lasts_for_seven_loss_intervals() {
    let law = law(&[]);
    let mut s = law.initial_state();
    let now_s = hear(&law, &mut s, (0.0, 100, 0.01), 0.1);
    near(s.signal, 0.1);
    s.intervals.lose(now_s, RTT_S);
    s.intervals.lose(now_s + 0.05, RTT_S);
    assert_eq!((s.intervals.len, s.intervals.average()), (1, 100.0), "one event in a round trip");
    let now_s = hear(&law, &mut s, (now_s, 680, 0.01), 0.1);
    near(s.signal, law.warped(0.1));
    hear(&law, &mut s, (now_s, 60, 0.01), 0.1);
    near(s.signal, 0.1);
}

/// RFC 5348, section 5.4: the last four intervals weigh the same, those before less.
#[test]
fn loss_intervals_are_weighed_as_in_tfrc() {
    let mut intervals = Intervals::START;
    for (at, interval) in [80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0].into_iter().enumerate() {
        intervals.open = interval;
        intervals.lose(at as f64, 0.1);
    }
    near(intervals.average(), (10.0 + 20.0 + 30.0 + 40.0 + 0.8 * 50.0 + 0.6 * 60.0 + 0.4 * 70.0 + 0.2 * 80.0) / 6.0);
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (set, named) in
        [([("min_rate", 2e6)], "`min_rate`"), ([("delta", 0.6)], "`log_window`"), ([("delta", 0.007)], "`log_window`")]
    {
        let context = Context { packet: Bytes(1000), initial_window: 10.0, initial_ssthresh: 1e9 };
        let why = Nada::compile(&Values::of(ENTRY.parameters, &set), &context).unwrap_err();
        assert!(why.starts_with(named), "{why}");
    }
    let mut s = State { rate: 1e6, ..law(&[]).initial_state() };
    law(&[]).on_event(&mut s, Event::Timeout, &Observation::zero());
    assert_eq!(s.rate, 150e3, "nothing came for so long");
}
