//! Laws of today by models of their means: where the analysis has them settle, against the formulas of their papers.

use crate::scenarios::{aqm, cc, dumbbell, group, off};
use penstock_fluid::source::{Flows, Queue, Signal, Source, SourceEquilibrium};
use penstock_fluid::{Analysis, Options, Verdict, analyze};
use penstock_law::cc::Context;
use penstock_law::quantity::Bytes;

const SITE: Context = Context { packet: Bytes(1000), initial_window: 10.0, initial_ssthresh: 1e9 };

/// Where a flow of that law settles over `base_rtt_s`, at a queue of 1000 packets a second with room for `buffer` of them.
fn rest(name: &str, set: &[(&str, f64)], base_rtt_s: f64, signal: Signal, buffer: f64) -> SourceEquilibrium {
    let law = cc(name, set);
    let flows = Flows {
        name: name.to_owned(),
        count: 1,
        base_rtt_s,
        cc: &law,
        site: SITE,
        packets_per_ack: 1,
        queue_marks: true,
        loss: 0.0,
        clocking: None,
        queue: Some(Queue { capacity: 1000.0, buffer }),
    };
    Source::new(&flows).unwrap().equilibrium(signal).unwrap()
}

fn signal(queueing_delay_s: f64, probability: f64) -> Signal {
    Signal { queueing_delay_s, probability }
}

fn analysis(aqm_of: (&str, &[(&str, f64)]), law: (&str, &[(&str, f64)]), flows: u32, rtt_s: f64) -> Analysis {
    let groups = vec![group(flows, rtt_s, cc(law.0, law.1))];
    analyze(&dumbbell(8e7, 1000, &aqm(aqm_of.0, aqm_of.1), groups), &Options::default()).unwrap()
}

/// RFC 8257 by way of De Schepper et al. 2016, section 3: 2 / p packets, where each round trip has a mark. Where marks come by
/// chance, M of them a round trip on average, `M (1 - exp(-M)) = 2 (1 - p)`: 2.2 in the place of 2.
#[test]
fn dctcp_has_two_marks_a_round_trip() {
    for p in [1e-2, 1e-3, 1e-4] {
        let at = rest("dctcp", &[], 0.05, signal(0.0, p), 100.0);
        let marks = at.window * p;
        assert!(off(marks * (1.0 - libm::exp(-marks)), 2.0 * (1.0 - p)) < 1e-6, "{p}: {marks}");
        assert!(off(marks, 2.0) < 0.13, "{p}: {marks}");
        assert!(off(at.state[1], p) < 1e-6, "alpha is p: {:?}", at.state);
    }
}

/// The draft of Prague: 2 marks a virtual round trip, so that the rate is that of 25 ms below it and that of the path above.
#[test]
fn prague_has_two_marks_a_virtual_round_trip() {
    let p = 1e-2;
    let rate = |rtt_s: f64| rest("prague", &[], rtt_s, signal(0.0, p), 100.0).rate;
    for rtt_s in [0.005, 0.01, 0.025, 0.1] {
        let marks = rate(rtt_s) * p * f64::max(rtt_s, 0.025);
        assert!(off(marks * (1.0 - libm::exp(-marks)), 2.0 * (1.0 - p)) < 1e-6, "{rtt_s}: {marks}");
    }
    assert!(off(rate(0.005), rate(0.02)) < 1e-6);
    assert!(off(rate(0.025), 4.0 * rate(0.1)) < 1e-6);
}

/// Grieco and Mascolo 2004, section 3: `sqrt((1 - p) / p) / sqrt(R (R - R_min))` packets a second.
#[test]
fn westwood_has_the_rate_of_its_paper() {
    for (base_s, queue_s, p) in [(0.1, 0.01, 1e-3), (0.05, 0.05, 1e-2), (0.2, 0.02, 1e-4)] {
        let paper = libm::sqrt((1.0 - p) / p / ((base_s + queue_s) * queue_s));
        let at = rest("westwood", &[], base_s, signal(queue_s, p), 100.0);
        assert!(off(at.rate, paper) < 1e-6, "{base_s} {queue_s} {p}: {} {paper}", at.rate);
        assert!(off(at.state[2], paper) < 1e-6, "the bandwidth is the rate: {:?}", at.state);
    }
}

/// Liu, Basar and Srikant 2008: `sqrt(alpha (1 - p) / (beta p))`, with the reference's table of alpha and beta over a largest delay of
/// 100 ms, which is here a full buffer of 100 packets.
#[test]
fn illinois_has_the_window_of_its_paper() {
    let p = 1e-4;
    for (queue_s, alpha, beta) in [
        (0.0, 10.0, 0.125),
        (0.0109, 2.362, 0.129_821),
        (0.02, 1.388, 0.178_571),
        (0.05, 0.588, 0.339_286),
        (0.1, 0.3, 0.5),
    ] {
        let at = rest("illinois", &[], 0.1, signal(queue_s, p), 100.0);
        let paper = libm::sqrt(alpha * (1.0 - p) / (beta * p));
        assert!(off(at.window, paper) < 2e-3, "{queue_s}: {} {paper}", at.window);
    }
    // Below 15 packets it is NewReno.
    let at = rest("illinois", &[], 0.1, signal(0.0, 0.02), 100.0);
    assert!(off(at.window, libm::sqrt(2.0 * 0.98 / 0.02)) < 1e-6, "{at:?}");
}

/// The draft of LEDBAT++: TARGET in the queue, and what the gain adds: `queue / TARGET - 1 = GAIN / W`, however many flows.
#[test]
fn ledbat_pp_holds_its_target() {
    for flows in [1, 5] {
        let a = analysis(("droptail", &[]), ("ledbat-pp", &[]), flows, 0.05);
        let (excess, window) = (a.bottleneck().queueing_delay_s / 0.06 - 1.0, a.classes[0].window_packets);
        // Twice 60 ms in 50 ms, rounded up: a third.
        assert!(off(excess * window, 1.0 / 3.0) < 1e-4, "{excess} {window}");
        assert!(off(a.bottleneck().utilization, 1.0) < 1e-9);
    }
}

/// PI2 holds its target whatever crosses it, with the probability that the law's formula asks for: 1.5 by the mean of NewReno's
/// window, so 2 in the fluid of its increments.
#[test]
fn pi2_holds_its_target() {
    for flows in [5, 20] {
        let a = analysis(("pi2", &[]), ("newreno", &[]), flows, 0.05);
        assert!(off(a.bottleneck().queueing_delay_s, 0.015) < 1e-6, "{:?}", a.bottleneck());
        let (p, window) = (a.classes[0].drop_probability, a.classes[0].window_packets);
        assert!(off(window * window * p, 2.0 * (1.0 - p)) < 1e-3, "{p} {window}");
        assert_eq!(a.verdict, Verdict::Stable, "{flows} flows");
    }
}

/// Laws of means answer queues that mark: DCTCP over a ramp has the rate of the line and its own number of marks, and the
/// analysis says by what it went.
#[test]
fn a_model_of_means_is_said_to_be_one() {
    {
        let (queue, set, flows) = ("ramp", &[("range", 0.01)][..], 10);
        let a = analysis((queue, set), ("dctcp", &[]), flows, 0.02);
        let class = &a.classes[0];
        let (p, marks) = (class.mark_probability, class.window_packets * class.mark_probability);
        assert!(off(class.rate_packets_per_s, 10_000.0 / f64::from(flows)) < 1e-6, "{queue}: {class:?}");
        assert!(off(marks * (1.0 - libm::exp(-marks)), 2.0 * (1.0 - p)) < 1e-4, "{queue}: {class:?}");
        assert!(
            a.assumptions.iter().any(|said| said.contains("`dctcp` is analysed by a model of its means")),
            "{queue}"
        );
    }
}
