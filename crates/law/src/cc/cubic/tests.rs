use super::*;

const RTT_S: f64 = 0.1;
const ONE: Event = Event::Ack { packets: 1, marked: 0 };

fn law(set: &[(&str, f64)]) -> Cubic {
    let values = Values::of(ENTRY.parameters, set);
    let context = Context { packet: crate::quantity::Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
    Cubic::compile(&values, &context).unwrap()
}

fn at(now_s: f64) -> Observation<f64> {
    Observation { rtt_s: RTT_S, base_rtt_s: RTT_S, now_s, ..Observation::zero() }
}

/// Acknowledgements one by one, a window of them a round trip, from `now_s` on for `span_s`; the time after them.
fn run(law: &Cubic, s: &mut State<f64>, now_s: f64, span_s: f64) -> f64 {
    let mut now = now_s;
    while now < now_s + span_s {
        now += RTT_S / s.window;
        law.on_event(s, ONE, &at(now));
    }
    now
}

/// A flow in congestion avoidance with this window and an older origin.
fn avoiding(law: &Cubic, window: f64) -> State<f64> {
    State { window, ssthresh: 2.0, smoothed_rtt: RTT_S, ..law.initial_state() }
}

/// Round trips on a path that holds 200 packets; the time after them.
fn fourteen_rounds(law: &Cubic, s: &mut State<f64>, mut now: f64) -> f64 {
    for _ in 0..14 {
        let (window, start) = (s.window, now);
        let rtt_s = RTT_S * Number::max(1.0, window / 200.0);
        while now < start + rtt_s {
            now += rtt_s / window;
            law.on_event(s, ONE, &Observation { rtt_s, ..at(now) });
        }
        law.on_event(s, Event::Round, &at(now));
    }
    now
}

/// Section 4.2: K = cbrt(W_max (1 - beta) / C), 9.0856 s for 1000 packets, when the window is W_max again: halfway
/// there it is an eighth of the loss below, and as far beyond it an eighth above.
#[test]
fn the_window_is_the_cubic() {
    let law = law(&[]);
    let mut s = avoiding(&law, 1000.0);
    law.on_event(&mut s, Event::Congestion, &at(0.0));
    assert_eq!((s.window, s.ssthresh, s.origin, s.prior), (700.0, 700.0, 1000.0, 1000.0));
    let mut now = run(&law, &mut s, 0.0, RTT_S);
    assert!((s.k - 9.0856).abs() < 5e-5, "{}", s.k);
    for (t, window) in [(0.5, 962.5), (1.0, 1000.0), (1.5, 1037.5), (2.0, 1300.0)] {
        let span = s.k * t - now;
        now = run(&law, &mut s, now, span);
        assert!((s.window / window - 1.0).abs() < 0.002, "at {t} K: {}", s.window);
    }
}

/// Section 4.6: ssthresh is beta of what is in flight, and the cubic still aims at the window before. Without the switch it is
/// beta of the window.
#[test]
fn ssthresh_follows_from_what_is_in_flight() {
    for (flight_size, ssthresh) in [(1.0, 140.0), (0.0, 700.0)] {
        let law = law(&[("flight_size", flight_size)]);
        let seen = Observation { in_flight: 200.0, ..at(0.0) };
        let mut s = avoiding(&law, 1000.0);
        law.on_event(&mut s, Event::Congestion, &seen);
        assert_eq!((s.window, s.ssthresh, s.origin, s.prior), (ssthresh, ssthresh, 1000.0, 1000.0));
        let mut s = avoiding(&law, 1000.0);
        law.on_event(&mut s, Event::Timeout, &seen);
        assert_eq!((s.window, s.ssthresh), (1.0, ssthresh));
        law.on_event(&mut s, Event::Timeout, &seen);
        assert_eq!(s.ssthresh, if flight_size > 0.0 { ssthresh } else { 2.0 }, "held where the RFC says so");
    }
}

/// Section 4.2: however far the cubic is ahead, the target is at most half as much again, and never below the window.
#[test]
fn the_target_is_between_the_window_and_half_as_much_again() {
    let law = law(&[]);
    let stage = State { avoids: true, anew: false, prior: 1e9, last_ack: 100.0, ..avoiding(&law, 100.0) };
    let mut s = State { origin: 100.0, elapsed: 50.0, ..stage };
    law.on_event(&mut s, ONE, &at(100.0));
    assert_eq!(s.window, 100.5);
    let mut s = State { origin: 90.0, elapsed: 0.0, ..stage };
    law.on_event(&mut s, ONE, &at(100.0));
    assert_eq!(s.window, 100.0);
}

/// Section 4.3: in Reno's region the window grows by alpha_cubic = 9/17 a round trip up to cwnd_prior and by 1 beyond.
#[test]
fn small_windows_are_renos() {
    // A cubic so flat that Reno is always ahead: 0.29 packets a second.
    let flat = |friendly| law(&[("c", 1e-6), ("tcp_friendly", friendly)]);
    let cut = |law: &Cubic| {
        let mut s = avoiding(law, 100.0);
        law.on_event(&mut s, Event::Congestion, &at(0.0));
        s
    };
    let law = flat(1.0);
    let mut s = cut(&law);
    let now = run(&law, &mut s, 0.0, 10.0 * RTT_S);
    assert!((s.window - 70.0 - 10.0 * 9.0 / 17.0).abs() < 0.06, "{}", s.window);
    let now = run(&law, &mut s, now, 60.0 * RTT_S);
    assert!(s.window > 100.0, "{}", s.window);
    let before = s.window;
    run(&law, &mut s, now, 10.0 * RTT_S);
    assert!((s.window - before - 10.0).abs() < 0.12, "{before} {}", s.window);

    // Without the switch, by alpha_cubic there too.
    let law = self::law(&[("c", 1e-6), ("friendly_catches_up", 0.0)]);
    let mut s = cut(&law);
    let now = run(&law, &mut s, 0.0, 70.0 * RTT_S);
    let before = s.window;
    assert!(before > 100.0, "{before}");
    run(&law, &mut s, now, 10.0 * RTT_S);
    assert!((s.window - before - 10.0 * 9.0 / 17.0).abs() < 0.06, "{before} {}", s.window);

    let law = flat(0.0);
    let mut s = cut(&law);
    run(&law, &mut s, 0.0, 10.0 * RTT_S);
    assert!((s.window - 70.29).abs() < 0.01, "{}", s.window);
}

/// Section 4.7: a flow cut before it was back at W_max aims at (1 + beta)/2 of where it was.
#[test]
fn fast_convergence_aims_lower() {
    for (switch, origin) in [(1.0, 680.0), (0.0, 800.0)] {
        let law = law(&[("fast_convergence", switch)]);
        let mut s = State { origin: 1000.0, ..avoiding(&law, 800.0) };
        law.on_event(&mut s, Event::Congestion, &at(0.0));
        assert!((s.origin - origin).abs() < 1e-9, "{}", s.origin);
        s.window = 1000.0;
        law.on_event(&mut s, Event::Congestion, &at(0.0));
        assert_eq!(s.origin, 1000.0);
    }
}

/// Section 4.8: one packet, slow start to beta of the window, and a stage that starts where the cubic is flat.
#[test]
fn after_a_timeout_the_cubic_starts_flat() {
    let law = law(&[]);
    let mut s = State { origin: 2000.0, anew: false, ..avoiding(&law, 1000.0) };
    law.on_event(&mut s, Event::Timeout, &at(0.0));
    assert_eq!((s.window, s.ssthresh, s.prior), (1.0, 700.0, 1000.0));
    let mut now = 0.0;
    while s.window < 700.0 {
        now += RTT_S / s.window;
        law.on_event(&mut s, ONE, &at(now));
    }
    assert_eq!(s.window, 700.0, "a packet an acknowledgement");
    law.on_event(&mut s, ONE, &at(now));
    assert_eq!((s.k, s.origin, s.elapsed), (0.0, 700.0, 0.0));
    run(&law, &mut s, now, 5.0);
    assert!((s.window - 750.0).abs() < 2.0, "700 + 0.4 5^3, not {}", s.window);
}

/// Section 4.2: t does not count a time in which the window was not updated, but for a round trip.
#[test]
fn an_idle_time_does_not_count() {
    let law = law(&[]);
    let mut s = avoiding(&law, 1000.0);
    law.on_event(&mut s, Event::Congestion, &at(0.0));
    let now = run(&law, &mut s, 0.0, 2.0);
    let before = s;
    law.on_event(&mut s, ONE, &at(now + 60.0));
    assert!((s.elapsed - before.elapsed - RTT_S).abs() < 1e-12);
    assert!(s.window - before.window < 0.1, "{} {}", before.window, s.window);
}

/// Linux: after HyStart, and after a timeout, the window grows by a twentieth a round trip until a congestion event tells of W_max;
/// where Reno is ahead of the cubic too.
#[test]
fn the_window_grows_by_a_share_while_nothing_is_known() {
    for (c, tcp_friendly) in [(0.4, 1.0), (1e-6, 1.0), (1e-6, 0.0)] {
        for (initial_growth, grows) in [(0.05, 1.05), (0.0, 1.0)] {
            let law = law(&[("initial_growth", initial_growth), ("c", c), ("tcp_friendly", tcp_friendly)]);
            let mut s = State { window: 1000.0, ssthresh: 1000.0, ..law.initial_state() };
            let tenth = |s: &mut State<f64>, now: f64| {
                let before = s.window;
                let now = run(&law, s, now, 10.0 * RTT_S);
                (now, libm::pow(s.window / before, 0.1))
            };
            let (now, each) = tenth(&mut s, 0.0);
            assert!((each - grows).abs() < 0.0025, "{c} {initial_growth}: {each}");
            law.on_event(&mut s, Event::Congestion, &at(now));
            s.origin = s.window;
            let (now, each) = tenth(&mut s, now);
            assert!((each - 1.0).abs() < 0.0025, "after a congestion event: {each}");
            law.on_event(&mut s, Event::Timeout, &at(now));
            (s.window, s.ssthresh) = (1000.0, 1000.0);
            assert!((tenth(&mut s, now).1 - grows).abs() < 0.0025, "after a timeout");
        }
    }
}

/// Linux: a spurious recovery tells of W_max, and after a spurious timeout nothing is known; the rest is as before (RFC 9438, section
/// 4.9).
#[test]
fn what_is_known_stays_where_an_event_is_undone() {
    let law = law(&[]);
    for (before, event, unknown) in [(true, Event::Congestion, false), (false, Event::Timeout, true)] {
        let s = State { unknown: before, ..avoiding(&law, 100.0) };
        let mut after = s;
        law.on_event(&mut after, event, &at(0.0));
        let mut back = s;
        law.undone(&mut back, &after);
        assert_eq!((back.window, back.ssthresh, back.origin, back.unknown), (s.window, s.ssthresh, s.origin, unknown));
    }
}

#[test]
fn an_echo_grows_nothing_but_lets_time_pass() {
    let law = law(&[]);
    let mut s = avoiding(&law, 100.0);
    law.on_event(&mut s, Event::Congestion, &at(0.0));
    law.on_event(&mut s, ONE, &at(0.0));
    let window = s.window;
    law.on_event(&mut s, Event::Ack { packets: 2, marked: 2 }, &at(0.05));
    assert_eq!((s.window, s.elapsed), (window, 0.05));
}

/// A stage that starts above its origin, because the floor of two packets holds it there, has K = 0.
#[test]
fn the_floor_makes_no_negative_k() {
    let law = law(&[]);
    let mut s = avoiding(&law, 1.0);
    law.on_event(&mut s, Event::Congestion, &at(0.0));
    assert_eq!(s.window, 2.0);
    law.on_event(&mut s, ONE, &at(0.1));
    assert_eq!((s.k, s.origin), (0.0, 2.0));
    assert!(s.window > 2.0);
}

/// RFC 9406 on a path that holds 200 packets: with HyStart++ slow start ends near there without a loss, and the first
/// stage of congestion avoidance starts flat (RFC 9438, section 4.10); without it nothing but a loss ends it.
#[test]
fn hystart_ends_the_first_slow_start_by_the_delay() {
    for (switch, ends) in [(1.0, true), (0.0, false)] {
        let law = law(&[("hystart", switch)]);
        let mut s = law.initial_state();
        let now = fourteen_rounds(&law, &mut s, 0.0);
        assert_eq!(s.ssthresh < 1e9, ends);
        if ends {
            assert!((200.0..1500.0).contains(&s.ssthresh), "{}", s.ssthresh);
            assert_eq!((s.k, s.origin, s.prior), (0.0, s.ssthresh, s.ssthresh));
            // Only the first slow start is watched.
            law.on_event(&mut s, Event::Timeout, &at(now));
            assert!(!s.hystart.watches());
        }
    }
}

/// Linux: on the same path every slow start ends near 200 packets, the second too, and an acknowledgement counts in full.
#[test]
fn hystart_of_linux_ends_every_slow_start() {
    let law = law(&[("hystart", 1.0), ("hystart_rule", 1.0), ("per_ack", 100.0)]);
    let mut s = law.initial_state();
    law.on_event(&mut s, Event::Ack { packets: 20, marked: 0 }, &at(0.1));
    assert_eq!(s.window, 30.0);
    let mut now = 1.0;
    for _ in 0..2 {
        law.on_event(&mut s, Event::Timeout, &at(now));
        s.ssthresh = 1e9;
        now = fourteen_rounds(&law, &mut s, now);
        assert!((100.0..300.0).contains(&s.ssthresh), "{}", s.ssthresh);
    }
}

/// RFC 9406: while it watches, an acknowledgement of many packets counts for eight.
#[test]
fn hystart_counts_up_to_eight_packets_an_acknowledgement() {
    for (switch, window) in [(1.0, 18.0), (0.0, 11.0)] {
        let law = law(&[("hystart", switch)]);
        let mut s = law.initial_state();
        law.on_event(&mut s, Event::Ack { packets: 20, marked: 0 }, &at(0.1));
        assert_eq!(s.window, window);
    }
}
