//! CCP and CCPD in the analysis: where one flow rests, and when a loop of several is stable.

mod scenarios;

use penstock_fluid::{Analysis, AnalysisError, Clocking, Options, Verdict, analyze};
use penstock_scenario::model::Buffer;
use scenarios::{aqm, cc, dumbbell, group, off};

const PACKET: u64 = 1500;

/// `n` flows of a round trip over a line of `capacity` [packets/s] with a buffer of so many packets.
fn analysis(
    (law, set): (&str, &[(&str, f64)]),
    n: u32,
    (capacity, rtt_s, buffer): (f64, f64, u64),
    clocking: Clocking,
) -> Result<Analysis, AnalysisError> {
    let groups = vec![group(n, rtt_s, cc(law, set))];
    let rate = capacity * PACKET as f64 * 8.0;
    let mut scenario = dumbbell(rate, PACKET, &aqm("droptail", &[]), groups);
    scenario.links.get_mut("bottleneck").unwrap().buffer = Buffer::Packets(buffer);
    analyze(&scenario, &Options { clocking: [("group0".to_owned(), clocking)].into(), ..Options::default() })
}

/// Reference, tables 3a and 3b, where a queue stands: bandwidth-delay product and buffer [packets], flows, Kp; window and
/// queue. The derivative does not enter.
#[test]
fn it_rests_where_the_reference_does() {
    for (bdp, buffer, n, kp, window, queue) in [
        (200.0, 300, 1, 4.0, 222.22, 22.22),
        (200.0, 400, 1, 2.0, 240.0, 40.0),
        (200.0, 1000, 1, 4.0, 533.33, 333.33),
        (1000.0, 2000, 1, 2.0, 1200.0, 200.0),
        (1000.0, 5000, 1, 4.0, 2666.67, 1666.67),
        (1000.0, 1000, 2, 2.0, 571.43, 142.86),
        (1000.0, 1000, 4, 4.0, 380.95, 523.81),
        (1000.0, 1000, 8, 2.0, 210.53, 684.21),
    ] {
        for (law, set) in [("ccp", vec![("kp", kp)]), ("ccpd", vec![("kp", kp), ("kd", 1000.0)])] {
            let a = analysis((law, &set), n, (bdp / 0.1, 0.1, buffer), Clocking::Ack).unwrap();
            assert!((a.classes[0].window_packets - window).abs() < 6e-3, "{law} {bdp} {buffer} {n}: {a:?}");
            assert!((a.bottleneck().queue_packets - queue).abs() < 6e-3, "{law} {bdp} {buffer} {n}");
        }
    }
}

/// The paper's theorem: one session is stable whatever its gains, round trip and capacity.
#[test]
fn one_session_is_stable_whatever_its_gains() {
    for kp in [0.2, 1.0, 2.0, 4.0, 20.0] {
        for kd in [0.0, 10.0, 100.0, 1000.0] {
            for (capacity, rtt_s) in [(1e3, 0.04), (1e4, 0.02), (1e4, 0.19), (1e6, 0.04), (1e6, 0.19)] {
                let bdp = capacity * rtt_s;
                // So much that a queue stands: B = (1 + 1/Kp) BDP leaves none.
                let buffer = (2.0 * (1.0 + 1.0 / kp) * bdp) as u64;
                let set = [("kp", kp), ("kd", kd)];
                let a = analysis(("ccpd", &set), 1, (capacity, rtt_s, buffer), Clocking::Ack).unwrap();
                assert_eq!(a.verdict, Verdict::Stable, "Kp {kp}, Kd {kd}, {capacity} packets/s, {rtt_s} s");
            }
        }
    }
}

/// Several sessions are another matter, of which the paper does not speak: the predictor counts the session's own
/// packets, not those of the others. A packet more in the queue takes `Kp/(1 + Kp)` off each window one round trip later,
/// n of them together more than the packet itself once `Kp > 1/(n - 1)`.
#[test]
fn n_sessions_are_stable_for_small_gains_only() {
    for n in [2_u32, 3, 5] {
        let border = 1.0 / f64::from(n - 1);
        for (share, verdict) in [(0.9, Verdict::Stable), (1.2, Verdict::Unstable)] {
            let kp = share * border;
            let buffer = (4.0 * (1.0 + 1.0 / kp) * 1900.0) as u64;
            let a = analysis(("ccp", &[("kp", kp)]), n, (1e4, 0.19, buffer), Clocking::Ack).unwrap();
            assert_eq!(a.verdict, verdict, "{n} flows, Kp {kp}: {:?}", a.readings);
        }
    }
}

/// Acknowledgement-clocked or paced, the loop through what was committed a round trip ago is the same.
#[test]
fn a_paced_session_is_stable_too() {
    let a = analysis(("ccpd", &[]), 1, (1e4, 0.04, 1200), Clocking::Paced).unwrap();
    assert_eq!(a.verdict, Verdict::Stable);
    assert!(off(a.classes[0].window_packets, 2.0 * 1600.0 / 5.0) < 1e-9);
}

/// What cannot be known is refused: a buffer without a limit, and a derivative over single packets.
#[test]
fn what_an_estimate_cannot_be_of_is_refused() {
    let mut scenario = dumbbell(1e9, PACKET, &aqm("droptail", &[]), vec![group(1, 0.04, cc("ccp", &[]))]);
    scenario.links.get_mut("bottleneck").unwrap().buffer = Buffer::Unlimited;
    let text = analyze(&scenario, &Options::default()).unwrap_err().to_string();
    assert!(text.contains("group0") && text.contains("buffer"), "{text}");
    let set = [("derivative_span", 1.0)];
    let text = analysis(("ccpd", &set), 1, (1e4, 0.04, 1200), Clocking::Ack).unwrap_err().to_string();
    assert!(text.contains("ccpd") && text.contains("acknowledgement"), "{text}");
    // And a buffer too shallow to fill the line leaves no queue to regulate.
    let shallow = analysis(("ccp", &[]), 1, (1e4, 0.04, 300), Clocking::Ack).unwrap_err();
    assert!(matches!(shallow, AnalysisError::NotFilled { .. }), "{shallow}");
}
