//! The three kinds of loop, laws that the analysis has never met, and every refusal.

use crate::newcomers::{DYNAMIC, PI, STATIC};
use crate::scenarios::{aqm, cc, dumbbell, entry_of, group, off};
use penstock_fluid::source::{Flows, Signal, Source};
use penstock_fluid::{Analysis, AnalysisError, Clocking, Complex, LoopModel, Options, Verdict, analyze};
use penstock_law::Values;
use penstock_law::cc;
use penstock_law::conditioner::CONDITIONERS;
use penstock_law::law::find;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_scenario::model::{
    Access, AckJitter, Aggregation, Application, Buffer, By, Chosen, Customer, EcnOnLine, Full, Group, Limit, Link,
    LossSpacing, Packet, Page, Policer, Reorder, Repeats, Rtt, Scenario, Scheduler, SenderOptions, Service, Span,
    Start,
};

fn analysis(scenario: &Scenario) -> Analysis {
    analyze(scenario, &Options::default()).unwrap()
}

/// fast-tcp, 7.1: rate [bit/s], packet [B], flows, alpha [packets]; backlog [packets], queueing delay [ms], rate of a
/// flow [packets/s], windows at 100 and 180 ms [packets].
#[test]
fn fast_keeps_alpha_packets_of_each_flow_queued() {
    for (rate, packet, flows, alpha, backlog, delay_ms, each, windows) in [
        (1e9, 1500, 1, 100.0, 100.0, 1.200, 83333.33, [8433.33, 15100.00]),
        (1e9, 1500, 2, 100.0, 200.0, 2.400, 41666.67, [4266.67, 7600.00]),
        (1e9, 1500, 10, 200.0, 2000.0, 24.000, 8333.33, [1033.33, 1700.00]),
        (1e10, 1000, 100, 50.0, 5000.0, 4.000, 12500.00, [1300.00, 2300.00]),
        (155e6, 1000, 100, 50.0, 5000.0, 258.065, 193.75, [69.38, 84.88]),
    ] {
        for (rtt_s, window) in [0.1, 0.18].into_iter().zip(windows) {
            let fast = cc("fast", &[("alpha", alpha)]);
            let a = analysis(&dumbbell(rate, packet, &aqm("droptail", &[]), vec![group(flows, rtt_s, fast)]));
            let (link, class) = (a.bottleneck(), &a.classes[0]);
            assert!(off(link.queue_packets, backlog) < 1e-9, "{link:?}");
            assert!((link.queueing_delay_s * 1e3 - delay_ms).abs() < 6e-4, "{link:?}");
            assert!((class.rate_packets_per_s - each).abs() < 6e-3 && (class.window_packets - window).abs() < 6e-3);
            assert_eq!((class.clocking, a.verdict), (Clocking::Ack, Verdict::Stable));
            assert!((link.utilization - 1.0).abs() < 1e-9 && link.mark_probability == 0.0);
        }
    }
}

/// Backlogs and shares do not depend on round trips, and follow alpha.
#[test]
fn fast_shares_by_alpha_whatever_the_round_trip() {
    let fast = |alpha: f64| cc("fast", &[("alpha", alpha)]);
    let groups = vec![group(3, 0.02, fast(100.0)), group(5, 0.3, fast(40.0))];
    let a = analysis(&dumbbell(1e9, 1500, &aqm("droptail", &[]), groups));
    assert!(off(a.bottleneck().queue_packets, 3.0 * 100.0 + 5.0 * 40.0) < 1e-9);
    assert!(off(a.classes[0].rate_packets_per_s / a.classes[1].rate_packets_per_s, 2.5) < 1e-9);
}

/// A start that multiplies is over at the equilibrium, whose queueing delay of 1.2 ms is above its threshold: the same equilibrium, the same
/// loop, the same margins. Its threshold is the nearest kink: 1.2 ms are 0.2 of 1 ms above it, and 1.4 of 500 us.
#[test]
fn a_start_that_multiplies_leaves_the_rest_as_it_is() {
    let of = |set: &[(&str, f64)]| {
        analysis(&dumbbell(1e9, 1500, &aqm("droptail", &[]), vec![group(1, 0.18, cc("fast", set))]))
    };
    let plain = of(&[]);
    for (set, kink) in [(&[("start_growth", 2.0)][..], 1.4), (&[("start_growth", 1.25), ("start_qdelay", 1e-3)], 0.2)] {
        let with = of(set);
        let (a, b) = (&with.classes[0], &plain.classes[0]);
        assert!(off(a.nearest_kink.unwrap(), kink) < 1e-6 && b.nearest_kink > Some(1000.0), "{a:?} {b:?}");
        assert!(off(a.window_packets, b.window_packets) < 1e-9 && off(a.rtt_s, b.rtt_s) < 1e-9, "{a:?} {b:?}");
        assert!(off(with.bottleneck().queue_packets, 100.0) < 1e-9, "{:?}", with.bottleneck());
        assert_eq!((with.verdict, with.models.len()), (plain.verdict, plain.models.len()));
        for (a, b) in with.models.iter().zip(&plain.models) {
            let (x, y) = (a.margins.gain_margin.unwrap(), b.margins.gain_margin.unwrap());
            assert!(off(x, y) < 1e-6, "{:?}: {x} {y}", a.model);
            // Roots of a law that acts once a round come in rows of one real part.
            let (x, y) = (a.roots[0].re_per_s, b.roots[0].re_per_s);
            assert!(off(x, y) < 1e-6, "{:?}: {x} {y}", a.model);
        }
    }
}

/// One class of FAST on a link of 12,500 packets/s a flow, 100 ms.
fn fast_alone(gamma: f64, clocking: Clocking) -> Analysis {
    let fast = cc("fast", &[("alpha", 50.0), ("gamma", gamma)]);
    let scenario = dumbbell(1e10, 1000, &aqm("droptail", &[]), vec![group(100, 0.1, fast)]);
    let clocking = [("group0".to_owned(), clocking)].into();
    analyze(&scenario, &Options { clocking, ..Options::default() }).unwrap()
}

/// FAST's loop, derived by hand: per round `w <- (1 - gamma) w + gamma (d/r w + alpha)`, `q' = (y - c)/c`, and
/// `x = w/r` paced, or `w` the integral of `x` over a round trip, with the queue's answer to a constant window closed
/// inside.
#[test]
fn the_loop_of_fast_is_the_one_derived_by_hand() {
    let (gamma, d, capacity) = (0.5, 0.1, 12_500.0);
    for clocking in [Clocking::Paced, Clocking::Ack] {
        let a = fast_alone(gamma, clocking);
        let (rtt, window) = (d + 50.0 / capacity, a.classes[0].window_packets);
        for point in &a.model(LoopModel::Laws).nyquist[0] {
            let s = Complex::axis(point.frequency_rad_per_s);
            let z = (s * rtt).exp();
            let held = z / (z - Complex::real(1.0 - gamma + gamma * d / rtt)) * (gamma * window * d / (rtt * rtt));
            let all = held + Complex::real(window / rtt);
            let back = (-s * rtt).exp();
            let gain = match clocking {
                Clocking::Paced => back / s * all * (1.0 / rtt / capacity),
                // w / (r c) is one: 1 + K = 1 + back / (1 - back).
                Clocking::Ack => {
                    let per_window = back / (Complex::ONE - back) * (1.0 / capacity);
                    per_window * held / (Complex::ONE + per_window * (window / rtt))
                }
            };
            assert!((Complex::new(point.re, point.im) - gain).abs() < 1e-8 * gain.abs(), "{point:?} {gain:?}");
        }
    }
}

/// One flow's share of that link, in steps of time, without any linearisation: paced at `w / average` and, if asked, with
/// at most `w` in flight. Returns by how many packets the queue swings in the end.
fn swing(gamma: f64, paced: bool, limited: bool) -> f64 {
    let (capacity, d, alpha, dt) = (12_500.0, 0.1, 50.0, 2e-4);
    let (mut window, mut queue, mut average) = (capacity * d + alpha, alpha * 1.02, d + alpha / capacity);
    let mut back: std::collections::VecDeque<(f64, f64, f64)> = std::collections::VecDeque::new();
    let (mut flight, mut acked, mut last) = (0.0, 0.0, Vec::new());
    let mut t = 0.0;
    while t < d + queue / capacity {
        t += dt;
        back.push_back((t, capacity * dt, d + queue / capacity));
        flight += capacity * dt;
    }
    let (mut round_ends, mut now) = (flight, 0.0);
    while now < 40.0 {
        now += dt;
        while let Some(&(due, packets, rtt)) = back.front().filter(|b| b.0 <= now) {
            let _ = due;
            back.pop_front();
            flight -= packets;
            acked += packets;
            average += -libm::expm1(-f64::min(3.0 / window, 0.25) * packets) * (rtt - average);
        }
        if acked >= round_ends {
            window = f64::min(2.0 * window, (1.0 - gamma) * window + gamma * (d / average * window + alpha)).max(2.0);
            round_ends = acked + flight;
        }
        let mut sent = if paced { window / average * dt } else { f64::INFINITY };
        if limited {
            sent = f64::min(sent, f64::max(0.0, window - flight));
        }
        queue = f64::max(0.0, queue + sent - capacity * dt);
        back.push_back((now + d + queue / capacity, sent, d + queue / capacity));
        flight += sent;
        if now > 36.0 {
            last.push(queue);
        }
    }
    last.iter().copied().fold(0.0, f64::max) - last.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The verdict against time. Paced alone, FAST needs a small gain, since its pace follows an average; its window, which
/// limits what is in flight, is what keeps it stable, and so that is the form taken when nothing is said.
#[test]
fn verdicts_of_fast_are_those_of_its_simulation() {
    for (gamma, verdict) in [(0.1, Verdict::Stable), (0.3, Verdict::Unstable), (0.5, Verdict::Unstable)] {
        let packets = swing(gamma, true, false);
        assert_eq!(fast_alone(gamma, Clocking::Paced).verdict, verdict, "{gamma}");
        assert_eq!(packets > 50.0, verdict == Verdict::Unstable, "{gamma}: {packets}");
    }
    for gamma in [0.1, 0.5] {
        let (alone, both) = (swing(gamma, false, true), swing(gamma, true, true));
        assert_eq!(fast_alone(gamma, Clocking::Ack).verdict, Verdict::Stable, "{gamma}");
        assert!(alone < 15.0 && both < 5.0, "{gamma}: {alone} {both}");
    }
    let said = fast_alone(0.5, Clocking::Ack);
    assert!(said.assumptions.iter().any(|s| s.contains("allow the same rate")), "{:?}", said.assumptions);
}

/// Additive increase and multiplicative decrease balance where `w^2 p = 2 (1 - p)`, whatever marks.
#[test]
fn newreno_rests_where_increase_and_decrease_balance() {
    let newreno = || cc("newreno", &[("ecn", 1.0)]);
    let groups = || vec![group(60, 0.1, newreno()), group(40, 0.05, newreno())];
    let pi = Chosen { law: &PI, values: Values::defaults(PI.parameters) };
    for law in [aqm("red", &[("ecn", 1.0)]), aqm("price", &[]), pi] {
        let a = analysis(&dumbbell(155e6, 1000, &law, groups()));
        let (link, p) = (a.bottleneck(), a.bottleneck().mark_probability);
        let margins = &a.models[2].margins;
        assert_eq!(margins.phase_margin_deg.unwrap() < 0.0, margins.verdict == Verdict::Unstable, "{margins:?}");
        // None of the three was designed for this loop; PI's gains happen to be small enough for it.
        assert_eq!((margins.verdict == Verdict::Stable, margins.delay_margin_s), (link.aqm == "pi", None));
        for class in &a.classes {
            assert!(off(class.window_packets * class.window_packets * p, 2.0 * (1.0 - p)) < 1e-9, "{class:?}");
            assert!(off(class.rate_packets_per_s, class.window_packets / class.rtt_s) < 1e-9);
            assert_eq!(class.clocking, Clocking::Ack);
        }
        let load: f64 = a.classes.iter().map(|c| f64::from(c.count) * c.rate_packets_per_s).sum();
        let full = match link.aqm {
            // An integral settles where its input is zero: at its virtual capacity, at its wanted queue.
            "price" => 0.95,
            "pi" => {
                assert!(off(link.queue_packets, 50.0) < 1e-9);
                1.0
            }
            _ => {
                // Mean spacing 1.5/p_b; p_b straight from 0 at 48.4 packets to 0.1 at three times that.
                let min = 19_375.0 * 0.0025;
                let initial = 0.1 * (link.queue_packets - min) / (2.0 * min);
                assert!(off(p, initial * 2.0 / 3.0) < 1e-9, "{link:?}");
                assert!(a.assumptions.iter().chain(&a.warnings).any(|s| s.contains("mean mark spacing")));
                1.0
            }
        };
        assert!(off(load, full * 19_375.0) < 1e-9, "{load}");
    }
}

/// The fluid model of Misra, Gong, Towsley and Hollot with the growth that a marked acknowledgement does not give:
/// pole at `x p` (`2 N / (R^2 C)` to first order in p), input `-x (1/w + w/2)` (`-R C^2 / (2 N^2)`).
#[test]
fn the_response_of_newreno_is_that_of_the_literature() {
    let cc = cc("newreno", &[("ecn", 1.0)]);
    let (rtt, p) = (0.1, 5e-4);
    let mut source = Source::new(&Flows {
        name: "one".into(),
        count: 1,
        base_rtt_s: rtt,
        cc: &cc,
        site: cc::Context { packet: Bytes(1000), initial_window: 10.0, initial_ssthresh: 1.0 },
        packets_per_ack: 1,
        queue_marks: true,
        loss: 0.0,
        clocking: Some(Clocking::Paced),
        queue: None,
    })
    .unwrap();
    let signal = Signal { queueing_delay_s: 0.0, probability: p };
    let equilibrium = source.equilibrium(signal).unwrap();
    let response = source.linearise(&equilibrium, signal).unwrap();
    let (w, x) = (equilibrium.window, equilibrium.rate);
    for frequency in [1e-3, 0.3, 5.0] {
        let s = Complex::axis(frequency);
        let expected = Complex::real(-x * (1.0 / w + w / 2.0) / rtt) / (s + Complex::real(x * p));
        let is = response.at(s, LoopModel::Sampled).1;
        assert!((is - expected).abs() < 1e-9 * expected.abs(), "{frequency}: {is:?} {expected:?}");
    }
}

/// Delayed acknowledgements: half the growth, so about half the marks (p = 3 / (2 b w^2), Padhye et al. 1998), unless
/// each counts both packets, as RFC 3465 lets it.
#[test]
fn delayed_acknowledgements_halve_the_marks_unless_they_count_both_packets() {
    let red = aqm("red", &[("ecn", 1.0)]);
    let marks = |delayed_ack, per_ack| {
        let newreno = group(50, 0.1, cc("newreno", &[("ecn", 1.0), ("per_ack", per_ack)]));
        let sender = SenderOptions { delayed_ack, ..newreno.sender.clone() };
        analysis(&dumbbell(155e6, 1000, &red, vec![Group { sender, ..newreno }])).bottleneck().mark_probability
    };
    let once = marks(1, 1.0);
    assert!(off(marks(2, 1.0), once / 2.0) < 0.01, "{once} {}", marks(2, 1.0));
    assert!(off(marks(2, 2.0), once) < 1e-6, "{once} {}", marks(2, 2.0));
}

/// Without ECN the same law is dropped by the same RED, and what is dropped does not fill the line.
#[test]
fn what_is_dropped_does_not_fill_the_line() {
    let groups = vec![group(100, 0.1, cc("newreno", &[]))];
    let a = analysis(&dumbbell(155e6, 1000, &aqm("red", &[]), groups));
    let p = a.classes[0].drop_probability;
    assert!(p > 1e-4 && a.classes[0].mark_probability == 0.0);
    let served = a.bottleneck().load_packets_per_s * (1.0 - p);
    assert!(off(served, 19_375.0) < 1e-9, "{served}");
}

/// The static law on one link, in the model of laws alone: gain margin `pi/(2 alpha)` paced, `2/alpha` ACK-clocked.
#[test]
fn the_static_law_is_stable_below_pi_half_paced_and_below_two_ack_clocked() {
    for (paced, limit) in [(1.0, core::f64::consts::FRAC_PI_2), (0.0, 2.0)] {
        for alpha in [0.5, 0.97 * limit, 1.03 * limit] {
            let law = entry_of(&STATIC, &[("alpha", alpha), ("paced", paced)]);
            let a = analysis(&dumbbell(2e9, 1000, &aqm("price", &[]), vec![group(32, 0.1, law)]));
            let margins = &a.model(LoopModel::Laws).margins;
            let verdict = if alpha < limit { Verdict::Stable } else { Verdict::Unstable };
            assert_eq!(margins.verdict, verdict, "paced {paced}, alpha {alpha}: {margins:?}");
            assert!(off(margins.gain_margin.unwrap(), limit / alpha) < 1e-6, "alpha {alpha}: {margins:?}");
            let clocking = if paced == 1.0 { Clocking::Paced } else { Clocking::Ack };
            assert_eq!(a.classes[0].clocking, clocking);
            assert_eq!(penstock_fluid::theory::static_limit(clocking), limit);
        }
    }
}

/// Theorem 2 does not ask for equal round trips: mixed ones are stable below the limit too.
#[test]
fn mixed_round_trips_are_stable_below_the_limit() {
    let law = || entry_of(&STATIC, &[("alpha", 1.5)]);
    let groups = [0.01, 0.07, 0.3].map(|rtt_s| group(16, rtt_s, law())).into();
    let a = analysis(&dumbbell(1e9, 1000, &aqm("price", &[]), groups));
    assert_eq!(a.model(LoopModel::Laws).margins.verdict, Verdict::Stable);
}

/// A law of this file: equilibrium `x q = K`, the margin that (14) gives it, and instability once its gain is 1.2 times
/// the limit and its slow loop is too slow to help.
#[test]
fn a_law_unknown_to_the_analysis_is_analysed() {
    let run = |alpha: f64, eta: f64| {
        let law = entry_of(&DYNAMIC, &[("alpha", alpha), ("eta", eta)]);
        analysis(&dumbbell(2e9, 1000, &aqm("price", &[]), vec![group(64, 0.1, law)]))
    };
    let a = run(0.37, 0.64);
    let price = 50.0 * 64.0 / 237_500.0;
    assert!(off(a.bottleneck().price_s.unwrap(), price) < 1e-9, "{:?}", a.bottleneck());
    assert!(off(a.classes[0].window_packets, 371.09375) < 1e-9, "{:?}", a.classes);
    assert_eq!((a.classes[0].state[0].name, a.classes[0].state[0].unit), ("xi", "1"));
    let theory = |s: Complex| penstock_fluid::theory::lead_lag(s, 0.1, 0.1 / (0.37 * price), 0.64, 0.37);
    for point in &a.model(LoopModel::Laws).nyquist[0] {
        let (is, should) = (Complex::new(point.re, point.im), theory(Complex::axis(point.frequency_rad_per_s)));
        assert!((is - should).abs() < 1e-4 * should.abs(), "{point:?} {should:?}");
    }
    let limit = core::f64::consts::FRAC_PI_2;
    for (alpha, verdict) in [(0.9 * limit, Verdict::Stable), (1.2 * limit, Verdict::Unstable)] {
        let a = run(alpha, 1e-3);
        assert_eq!((a.verdict, a.model(LoopModel::Laws).margins.verdict), (verdict, verdict), "{alpha}");
        assert_eq!(a.limiting_class.as_deref(), Some("group0"));
        assert_eq!(a.models[2].margins.gain_margin.unwrap() < 1.0, verdict == Verdict::Unstable);
    }
}

/// An unresponsive source takes its part of the line and adds nothing to the loop.
#[test]
fn what_answers_nothing_only_takes_capacity() {
    let fast = || cc("fast", &[("alpha", 50.0)]);
    let cbr = group(2, 0.02, cc("cbr", &[("rate", 2e8)]));
    let a = analysis(&dumbbell(1e9, 1000, &aqm("droptail", &[]), vec![group(10, 0.1, fast()), cbr]));
    assert!(off(a.classes[0].rate_packets_per_s, (125_000.0 - 50_000.0) / 10.0) < 1e-9, "{:?}", a.classes);
    assert_eq!(a.limiting_class.as_deref(), Some("group0"));
    assert_eq!(a.verdict, Verdict::Stable);
}

/// Flows are those active at the given time, drawn starts included, and distinct round trips are classes.
#[test]
fn the_flows_are_those_active_then() {
    let fast = || cc("fast", &[("alpha", 50.0)]);
    let spread = Group {
        rtt: Rtt::Spread(Time::from_seconds(0.04), Time::from_seconds(0.08)),
        start: Start::Every(Time::from_seconds(10.0), Time::from_seconds(10.0)),
        stop: Some(Time::from_seconds(100.0)),
        ..group(5, 0.0, fast())
    };
    let scenario = dumbbell(1e9, 1000, &aqm("droptail", &[]), vec![spread]);
    let at = |t: f64| analyze(&scenario, &Options { at: Some(Time::from_seconds(t)), ..Options::default() });
    let three = at(35.0).unwrap();
    assert_eq!(
        three.classes.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        ["group0[0]", "group0[1]", "group0[2]"]
    );
    assert!(off(three.bottleneck().queue_packets, 150.0) < 1e-9);
    assert_eq!(at(5.0), Err(AnalysisError::NoFlows { at_s: Some(5.0) }));
    assert!(at(100.0).is_err() && at(99.9).is_ok());
}

#[test]
fn what_has_no_equilibrium_is_refused_with_the_reason() {
    let newreno = || group(10, 0.1, cc("newreno", &[]));
    let said = |scenario: &Scenario| analyze(scenario, &Options::default()).unwrap_err().to_string();

    let full = said(&dumbbell(1e9, 1000, &aqm("droptail", &[]), vec![newreno()]));
    assert!(full.contains("no equilibrium on `bottleneck`") && full.contains("jumps from 0 to 1"), "{full}");

    let cbr = group(1, 0.1, cc("cbr", &[("rate", 9e8)]));
    let idle = analyze(&dumbbell(1e9, 1000, &aqm("droptail", &[]), vec![cbr.clone()]), &Options::default());
    let Err(AnalysisError::NotFilled { utilization, .. }) = idle else { panic!("{idle:?}") };
    assert!(off(utilization, 0.9) < 1e-6, "{utilization}");

    let too_much = Group { count: 2, ..cbr };
    let flood = said(&dumbbell(1e9, 1000, &aqm("price", &[]), vec![too_much]));
    assert!(flood.contains("with every packet marked"), "{flood}");

    let mut small = dumbbell(1e9, 1000, &aqm("droptail", &[]), vec![group(10, 0.1, cc("fast", &[("alpha", 50.0)]))]);
    small.links["bottleneck"].buffer = Buffer::Packets(499);
    let spilled = said(&small);
    assert!(spilled.contains("500.0") && spilled.contains("499.0"), "{spilled}");
}

/// The data for other programs: names with units, nothing that is not there.
#[test]
fn the_analysis_is_plain_data() {
    let leadlag = cc("leadlag", &[]);
    let a = analysis(&dumbbell(2e9, 1000, &aqm("price", &[]), vec![group(32, 0.04, leadlag)]));
    let json = serde_json::to_value(&a).unwrap();
    assert_eq!(json["verdict"], "stable");
    assert_eq!(json["links"][0]["name"], "bottleneck");
    assert_eq!(json["models"][2]["model"], "sampled");
    assert!(json["models"][2]["gain_margin"].is_f64());
    assert_eq!(json["models"][0]["nyquist"][0].as_array().unwrap().len(), 400);
    assert!(json["at_s"].is_null() && json.get("at_s").is_none());
    assert!(json["assumptions"][1].as_str().unwrap().contains("no acknowledgement crosses `bottleneck`"));
}

/// Features that change the result and are not counted are refused by name, one at a time.
#[test]
fn what_the_analysis_does_not_count_is_refused() {
    let plain = || dumbbell(1e9, 1000, &aqm("droptail", &[]), vec![group(10, 0.1, cc("fast", &[("alpha", 50.0)]))]);
    let second = Time::from_seconds(1.0);
    let link = |change: &dyn Fn(&mut Link)| {
        let mut scenario = plain();
        change(&mut scenario.links[0]);
        scenario
    };
    let flows = |change: &dyn Fn(&mut Group)| {
        let mut scenario = plain();
        change(&mut scenario.groups[0]);
        scenario
    };
    let span = Span::Fixed(second);
    for (scenario, said) in [
        (
            link(&|l| l.service = Service::Schedule(vec![(second, Rate(1))])),
            "the link `bottleneck` has a rate that changes",
        ),
        (
            link(&|l| l.scheduler = Scheduler::Drr { by: By::Flow, quantum: Bytes(1000) }),
            "the link `bottleneck` has a scheduler",
        ),
        (link(&|l| l.delays = vec![(second, second)]), "the link `bottleneck` has a delay that changes"),
        (link(&|l| l.lose_transmission = Some((1, 9))), "the link `bottleneck` has a transmission that is lost"),
        (link(&|l| l.loss_spacing = LossSpacing::Even), "the link `bottleneck` has losses that are evenly spaced"),
        (link(&|l| l.loss_burst = Some(3.0)), "the link `bottleneck` has losses in bursts"),
        (
            link(&|l| l.reorder = Some(Reorder { share: 0.1, by: second })),
            "the link `bottleneck` has packets that come late",
        ),
        (
            link(&|l| l.policer = Some(Policer { rate: Rate(1), burst: Bytes(1) })),
            "the link `bottleneck` has a policer",
        ),
        (
            link(&|l| l.aggregation = Some(Aggregation { time: second, packets: None, rate: None })),
            "the link `bottleneck` has packets that go together",
        ),
        (link(&|l| l.duplicate = 0.1), "the link `bottleneck` has packets that arrive twice"),
        (link(&|l| l.ecn = EcnOnLine::Bleach), "the link `bottleneck` has a line that changes the ECN field"),
        (
            flows(&|g| g.steps = vec![(second, g.cc.values.clone())]),
            "the group `group0` has parameters that change over time",
        ),
        (flows(&|g| g.repeats = Some(Repeats::Idle(span))), "the group `group0` has repeated transfers"),
        (
            flows(&|g| g.packet = Some(Packet { wire: Bytes(200), payload: Bytes(160), ack: Bytes(40) })),
            "the group `group0` has packets of another size",
        ),
        (
            flows(&|g| {
                g.application =
                    Some(Application::Page(Page { rounds: [1].into(), connections: 1, multiplexed: false }));
            }),
            "the group `group0` has pages or video",
        ),
        (flows(&|g| g.on_off = Some((span, span))), "the group `group0` has on-off periods"),
        (
            flows(&|g| {
                g.access = Some(Access { rate: Rate(1_000_000_000), queue: Buffer::Unlimited, full: Full::Drop });
            }),
            "the group `group0` has access links",
        ),
        (flows(&|g| g.sender.limit = Limit::Pace), "the group `group0` has a sender without a window"),
        (flows(&|g| g.jitter = Some((Time::ZERO, second))), "the group `group0` has jitter"),
        (
            flows(&|g| g.ack_jitter = Some(AckJitter { probability: 0.1, between: (Time::ZERO, second) })),
            "the group `group0` has jitter of acknowledgements",
        ),
        (flows(&|g| g.sender.tick = Some(second)), "the group `group0` has coarse clocks"),
        (flows(&|g| g.loss = 0.01), "the group `group0` has losses of its own"),
    ] {
        let refused = analyze(&scenario, &Options::default()).unwrap_err().to_string();
        assert!(refused.starts_with(said), "{refused}");
    }
    let edge = find(CONDITIONERS, "token-bucket").unwrap();
    let mut values = Values::defaults(edge.parameters);
    values.set(&edge.parameters[0], 1e6).unwrap();
    let conditioner = Some(Chosen { law: edge, values });
    let mut contract = plain();
    contract.customers.insert("C1".into(), Customer { flows: vec!["group0".into()], conditioner });
    let refused = analyze(&contract, &Options::default()).unwrap_err().to_string();
    assert!(refused.starts_with("the customer `C1` has a conditioner"), "{refused}");
    let bursts = analysis(&flows(&|g| g.sender.burst = 4));
    assert!(bursts.assumptions.iter().any(|a| a.contains("not in bursts")), "{:?}", bursts.assumptions);
    assert!(!analysis(&plain()).assumptions.iter().any(|a| a.contains("not in bursts")));
}

/// Windows of a few packets settle where the utility says as large ones do: 50 flows on 100 Mbit/s, K n / c0 for each round
/// trip of Fig. 6 of fast-aqm and for those about its exception of 20 ms. (A search from far away may pass a window of
/// none, at which nothing is heard and all stands still.)
#[test]
fn small_windows_rest_at_their_demand() {
    for rtt_s in [0.02, 0.022, 0.025, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0] {
        let flows = vec![group(50, rtt_s, cc("leadlag", &[]))];
        let analysis = analysis(&dumbbell(1e8, 1000, &aqm("price", &[]), flows));
        let link = analysis.bottleneck();
        assert!((link.utilization - 0.95).abs() < 1e-9, "{rtt_s}: {}", link.utilization);
        assert!(off(link.price_s.unwrap(), 50.0 * 50.0 / 11_875.0) < 1e-9, "{rtt_s}: {:?}", link.price_s);
        assert!(off(analysis.classes[0].window_packets, 237.5 * rtt_s) < 1e-9, "{rtt_s}");
    }
}

/// Where one mark in a million cuts a window of 1400 packets, and one in 10^11 one of 450,000: `p (2 + w^2) = 2`, by an
/// acknowledgement that grows the window by `1/w`, or halves it. The window is found to what rounding leaves of `w + 1/w`,
/// half of `w^2` times the last bit.
#[test]
fn newreno_rests_wherever_a_double_can_tell() {
    for w in [1e3, 1e4, 1e5, 4.5e5] {
        let queue = 200.0;
        let rtt_s = 0.1;
        let flows = 10.0;
        let packets_per_s = (flows * w - queue) / rtt_s;
        let newreno = cc("newreno", &[("ecn", 1.0)]);
        let pi = aqm("pi", &[("ecn", 1.0), ("qref", queue), ("a", 1e-13), ("b", 0.99e-13)]);
        let a = analysis(&dumbbell(8e3 * packets_per_s, 1000, &pi, vec![group(10, rtt_s, newreno)]));
        let (link, class) = (a.bottleneck(), &a.classes[0]);
        let grain = 10.0 * w * w * f64::EPSILON;
        assert!(off(link.queue_packets, queue) < 1e-6, "{w}: {link:?}");
        assert!(off(class.window_packets, w) < 1e-9 + grain, "{w}: {class:?}");
        assert!(off(link.mark_probability * (2.0 + w * w), 2.0) < 1e-9 + 4.0 * grain, "{w}: {link:?}");
    }
}

/// The same over RED, whose automatic settings average over so many packets there that the average stands still long before
/// it is where it settles: `p = (2/3) 0.1 (q / min - 1) / 2` with `min` what 2.5 ms of the line carry. Marks of one in 10^12
/// hang on the last digits of the average, and what flows send is then as rough as their windows, and no jump.
#[test]
fn newreno_rests_over_red_wherever_a_double_can_tell() {
    for w in [1e3, 2.5e3, 1e4, 3e4, 1e5, 1.5e5, 3e5, 4.5e5, 1e6] {
        let (flows, rtt_s, p) = (10.0, 0.1, 2.0 / (2.0 + w * w));
        let packets_per_s = flows * w / (rtt_s + 0.0025 * (1.0 + 30.0 * p));
        let newreno = cc("newreno", &[("ecn", 1.0)]);
        let red = aqm("red", &[("ecn", 1.0)]);
        let a = analysis(&dumbbell(8e3 * packets_per_s, 1000, &red, vec![group(10, rtt_s, newreno)]));
        let (link, class) = (a.bottleneck(), &a.classes[0]);
        let grain = 10.0 * w * w * f64::EPSILON;
        assert!(off(link.queue_packets, 0.0025 * packets_per_s * (1.0 + 30.0 * p)) < 1e-9, "{w}: {link:?}");
        assert!(off(class.window_packets, w) < 1e-9 + grain, "{w}: {class:?}");
        assert!(off(link.mark_probability * (2.0 + w * w), 2.0) < 1e-9 + 4.0 * grain, "{w}: {link:?}");
    }
}

/// Traffic of the two directions meets nowhere: both ways at once have the margins of the worse, and the roots
/// of both.
#[test]
fn two_ways_that_meet_nowhere_are_two_loops() {
    let newreno = || cc("newreno", &[("ecn", 1.0)]);
    let red = aqm("red", &[("ecn", 1.0)]);
    let there = group(20, 0.1, newreno());
    // Twice the flows and a shorter way, so that the other way is the worse.
    let back = Group { forward: vec!["bottleneck/back".into()], ..group(40, 0.06, newreno()) };
    let one_way = |group: &Group| analysis(&dumbbell(1e8, 1000, &red, vec![group.clone()]));
    let (a, b) = (one_way(&there), one_way(&back));
    let both = analysis(&dumbbell(1e8, 1000, &red, vec![there.clone(), back.clone()]));
    for model in LoopModel::ALL {
        let of = |analysis: &Analysis| analysis.model(model).clone();
        let (a, b, both) = (of(&a), of(&b), of(&both));
        let (x, y) = (a.margins.gain_margin.unwrap(), b.margins.gain_margin.unwrap());
        let unstable = [&a, &b].map(|r| r.margins.verdict == Verdict::Unstable);
        assert_eq!(unstable, [true, true], "{x} {y}");
        assert_eq!(both.margins.gain_margin, Some(f64::min(x, y)));
        assert_eq!(both.margins.unstable_roots, a.margins.unstable_roots + b.margins.unstable_roots);
        assert_eq!(both.roots[0].re_per_s, f64::max(a.roots[0].re_per_s, b.roots[0].re_per_s));
        assert_eq!(both.nyquist.len(), 2);
        let limits = if x < y { "group0" } else { "group1" };
        assert_eq!(both.limiting_class.as_deref(), Some(limits));
    }
    // NewReno and RED have no estimator and no period: every model is the first.
    let [laws, .., sampled] = both.models.as_slice() else { panic!("three models") };
    assert_eq!((&laws.margins, &laws.nyquist), (&sampled.margins, &sampled.nyquist));
}

/// A law without a window sends by its own gap, and no other clock can be chosen for it.
#[test]
fn no_clock_is_chosen_for_a_law_without_a_window() {
    let groups = vec![group(10, 0.1, cc("newreno", &[("ecn", 1.0)])), group(1, 0.1, cc("cbr", &[("rate", 1e6)]))];
    let scenario = dumbbell(1e8, 1000, &aqm("red", &[("ecn", 1.0)]), groups);
    let chosen = |name: &str| Options { clocking: [(name.to_owned(), Clocking::Ack)].into(), ..Options::default() };
    assert!(analyze(&scenario, &chosen("group0")).is_ok());
    let refused = analyze(&scenario, &chosen("group1")).unwrap_err();
    assert_eq!(refused, AnalysisError::NoWindow { class: "group1".into(), law: "cbr" });
}
