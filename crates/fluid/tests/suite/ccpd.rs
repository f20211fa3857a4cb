//! CCP and CCPD in the analysis: where one flow settles, and when a loop of several is stable.

use crate::scenarios::{aqm, cc, dumbbell, group, off};
use penstock_fluid::{Analysis, AnalysisError, Clocking, Complex, Fluid, Options, Verdict, analyze};
use penstock_law::cc::{self, CONTROLLERS, Event};
use penstock_law::law::find;
use penstock_law::quantity::{Bytes, Time};
use penstock_law::{Dual, Number};
use penstock_scenario::model::{Buffer, KnownBottleneck, Scenario};
use penstock_scenario::world::World;

const PACKET: u64 = 1500;

/// `n` flows of a round trip over a line of `capacity` [packets/s] with a buffer of so many packets.
fn analysis(
    (law, set): (&str, &[(&str, f64)]),
    n: u32,
    (capacity, rtt_s, buffer): (f64, f64, u64),
    clocking: Clocking,
) -> Result<Analysis, AnalysisError> {
    let scenario = scenario((law, set), n, (capacity, rtt_s, buffer));
    analyze(&scenario, &Options { clocking: [("group0".to_owned(), clocking)].into(), ..Options::default() })
}

fn scenario((law, set): (&str, &[(&str, f64)]), n: u32, (capacity, rtt_s, buffer): (f64, f64, u64)) -> Scenario {
    let groups = vec![group(n, rtt_s, cc(law, set))];
    let rate = capacity * PACKET as f64 * 8.0;
    let mut scenario = dumbbell(rate, PACKET, &aqm("droptail", &[]), groups);
    scenario.links.get_mut("bottleneck").unwrap().buffer = Buffer::Packets(buffer);
    scenario
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

/// Queue of one flow of CCP by (3), where it observes `c` times the capacity and `b` times the buffer: of x packets in the
/// queue it observes c x, so `w = Kp (b B - c x - w)` and `w = x + bdp`.
fn queue(kp: f64, bdp: f64, buffer: f64, (c, b): (f64, f64)) -> f64 {
    (kp * b * buffer - (1.0 + kp) * bdp) / (1.0 + kp + kp * c)
}

/// The predictor takes out the flow's own packets only if it knows the capacity. One that is `c` times too high leaves
/// a delayed loop of gain `c Kp / (1 + Kp)`, so the border is `c = 1 + 1/Kp`: 1.5 and 1.25. An error of the buffer moves the
/// equilibrium and no pole.
#[test]
fn a_capacity_that_is_estimated_too_high_is_unstable() {
    let (bdp, buffer) = (1000.0, 4000);
    for kp in [2.0, 4.0] {
        let border = 1.0 + 1.0 / kp;
        let cases = [(0.95 * border, 1.0, true), (1.05 * border, 1.0, false), (1.0, 0.7, true), (1.0, 1.5, true)];
        for (c, b, stable) in cases {
            let mut scenario = scenario(("ccp", &[("kp", kp)]), 1, (bdp / 0.1, 0.1, buffer));
            scenario.groups["group0"].sender.bottleneck = Some(KnownBottleneck { capacity: c, buffer: b });
            let options = Options { clocking: [("group0".to_owned(), Clocking::Ack)].into(), ..Options::default() };
            let a = analyze(&scenario, &options).unwrap();
            assert_eq!(a.verdict == Verdict::Stable, stable, "Kp {kp}, {c} times the capacity, {b} times the buffer");
            let expected = queue(kp, bdp, buffer as f64, (c, b));
            assert!((a.bottleneck().queue_packets / expected - 1.0).abs() < 1e-6, "Kp {kp}, {c}, {b}: {expected}");
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
            assert_eq!(a.verdict, verdict, "{n} flows, Kp {kp}: {:?}", a.models);
        }
    }
}

/// The theorem is about windows. A sender that paces at `w / RTT` has what is in flight follow the round trip, not the
/// window: its loop is `q' = -(1 + Kp/(1 + Kp)) / RTT q(t - RTT)`, which is stable while `1 + Kp/(1 + Kp) < pi/2`.
#[test]
fn a_paced_session_is_stable_for_small_gains_only() {
    for (kp, verdict) in [(1.2, Verdict::Stable), (1.5, Verdict::Unstable)] {
        let set = [("kp", kp)];
        let a = analysis(("ccp", &set), 1, (1e4, 0.19, 9500), Clocking::Paced).unwrap();
        assert_eq!(a.verdict, verdict, "Kp {kp}");
        assert!(off(a.classes[0].window_packets, kp * 11_400.0 / (1.0 + 2.0 * kp)) < 1e-9);
    }
}

/// Unknown quantities are refused: a buffer without a limit, and a derivative over single packets.
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

/// Responses of the window to the level, to the packets committed a round trip ago and to those in flight: the law's own
/// update, by duals.
fn answers(kp: f64, kd: f64, rtt_s: f64, explicit: bool) -> [f64; 3] {
    let chosen = cc("ccpd", &[("kp", kp), ("kd", kd), ("window_form", f64::from(u8::from(explicit)))]);
    let entry = find(CONTROLLERS, "ccpd").unwrap();
    let site = cc::Context { packet: Bytes(PACKET), initial_window: 100.0, initial_ssthresh: 0.0 };
    [0, 1, 2].map(|which| {
        let mut law = (entry.dual.unwrap())(&chosen.values, &site).unwrap();
        let flow = law.add();
        let seeded = |at: usize, x: f64| if at == which { Dual::seed(x) } else { Dual::of(x) };
        // Any point will do, above the floor: the law is linear.
        let seen = cc::Observation {
            rtt_s: Dual::of(rtt_s),
            base_rtt_s: Dual::of(rtt_s),
            buffer: Dual::of(1e6),
            level: seeded(0, 100.0),
            earlier: seeded(1, 600.0),
            in_flight: seeded(2, 500.0),
            earlier_s: Dual::of(rtt_s),
            ..cc::Observation::zero()
        };
        law.on_event(flow, Event::Ack { packets: 1, marked: 0 }, &seen).window.slope
    })
}

/// The roots of `z^2 + b z + c`, the one of the larger real part first.
fn roots(b: f64, c: f64) -> [Complex; 2] {
    let disc = b * b - 4.0 * c;
    if disc < 0.0 {
        let im = 0.5 * (-disc).sqrt();
        return [Complex::new(-0.5 * b, im), Complex::new(-0.5 * b, -im)];
    }
    [1.0, -1.0].map(|sign| Complex::real(0.5 * (sign * disc.sqrt() - b)))
}

/// Table 3f, all rows: Kp, RTT [ms], Kd [ms]; multipliers a round trip with an empty queue, and with a standing one.
const MULTIPLIERS: [[f64; 6]; 18] = [
    [2.0, 20.0, 0.0, 0.0000, 0.0000, -0.6667],
    [2.0, 20.0, 100.0, 0.6250, 0.6754, -0.9254],
    [2.0, 20.0, 1000.0, 0.9434, 0.9526, -0.9903],
    [2.0, 40.0, 0.0, 0.0000, 0.0000, -0.6667],
    [2.0, 40.0, 100.0, 0.4545, 0.5165, -0.8801],
    [2.0, 40.0, 1000.0, 0.8929, 0.9099, -0.9813],
    [2.0, 190.0, 0.0, 0.0000, 0.0000, -0.6667],
    [2.0, 190.0, 100.0, 0.1493, 0.1957, -0.7628],
    [2.0, 190.0, 1000.0, 0.6369, 0.6862, -0.9282],
    [4.0, 20.0, 0.0, 0.0000, 0.0000, -0.8000],
    [4.0, 20.0, 100.0, 0.5000, 0.5348, -0.9348],
    [4.0, 20.0, 1000.0, 0.9091, 0.9178, -0.9905],
    [4.0, 40.0, 0.0, 0.0000, 0.0000, -0.8000],
    [4.0, 40.0, 100.0, 0.3333, 0.3693, -0.9026],
    [4.0, 40.0, 1000.0, 0.8333, 0.8486, -0.9820],
    [4.0, 190.0, 0.0, 0.0000, 0.0000, -0.8000],
    [4.0, 190.0, 100.0, 0.0952, 0.1137, -0.8375],
    [4.0, 190.0, 1000.0, 0.5128, 0.5473, -0.9370],
];

/// Once a round trip: with an empty queue what is committed is the window, with a standing one the window before last less
/// the bandwidth-delay product is the queue, and what was committed is that and the last window.
#[test]
fn multipliers_a_round_trip_are_those_of_the_reference() {
    for [kp, rtt_ms, kd, empty, first, second] in MULTIPLIERS {
        let [level, earlier, in_flight] = answers(kp, kd, rtt_ms * 1e-3, false);
        let what = format!("Kp {kp}, Kd {kd}, {rtt_ms} ms");
        assert!((earlier - empty).abs() < 5.1e-5, "{what}: {earlier}");
        assert_eq!(in_flight, 0.0, "{what}: solved for what is in flight");
        let standing = roots(-(level + earlier), -earlier);
        for (is, should) in standing.into_iter().zip([first, second]) {
            assert!((is.re - should).abs() < 5.1e-5 && is.im == 0.0, "{what}: {standing:?}");
        }
        let [_, earlier, in_flight] = answers(kp, kd, rtt_ms * 1e-3, true);
        let printed = roots(-in_flight, -earlier);
        assert!(printed.iter().any(|z| z.abs() >= 1.0), "{what}: as printed, none of the paper's gains is stable");
    }
}

/// The reference's discrete conditions over a grid: solved for the window, every gain; as printed, `Kp + 2 kappa < 1`.
#[test]
fn the_discrete_condition_holds_over_a_grid() {
    for kp in [0.05, 0.3, 0.8, 1.0, 2.0, 10.0, 1000.0] {
        for kd in [0.0, 1.0, 5.0, 40.0, 1e3, 1e6] {
            for rtt_s in [0.001, 0.02, 0.19, 10.0] {
                let kappa = 1e-3 * kd / rtt_s;
                let [level, earlier, _] = answers(kp, kd, rtt_s, false);
                assert!(earlier.abs() < 1.0 && roots(-(level + earlier), -earlier).iter().all(|z| z.abs() < 1.0));
                let [_, earlier, in_flight] = answers(kp, kd, rtt_s, true);
                let stable = roots(-in_flight, -earlier).iter().all(|z| z.abs() < 1.0 - 1e-9);
                assert_eq!(stable, kp + 2.0 * kappa < 1.0 - 1e-9, "Kp {kp}, kappa {kappa}");
            }
        }
    }
}

/// The fluid over time: table 3g, to what rounding to packets leaves there, with and without a standing queue; where the
/// analysis has an equilibrium it is the same.
#[test]
fn the_fluid_rests_where_the_reference_does() {
    for (rtt_s, buffer, kp, kd, window, queue) in [
        (0.02, 400, 2.0, 0.0, 240.0, 40.0),
        (0.02, 400, 2.0, 100.0, 240.0, 40.0),
        (0.02, 400, 4.0, 100.0, 266.7, 66.7),
        (0.04, 1000, 2.0, 100.0, 560.0, 160.0),
        (0.04, 1000, 4.0, 0.0, 622.2, 222.2),
        (0.02, 100, 2.0, 100.0, 66.7, 0.0),
        (0.19, 600, 4.0, 100.0, 480.0, 0.0),
    ] {
        let mut scenario = scenario(("ccpd", &[("kp", kp), ("kd", kd)]), 1, (1e4, rtt_s, buffer));
        (scenario.duration, scenario.warmup) = (Time::from_seconds(20.0), Time::from_seconds(15.0));
        for link in scenario.links.values_mut() {
            link.delay = Time::from_seconds(0.001);
        }
        let run = Fluid::default().run(&scenario, &mut |_| true).unwrap();
        let (group, link) = (&run.summary.whole.groups["group0"], &run.summary.whole.links["bottleneck"]);
        let what = format!("{rtt_s} s, {buffer}, Kp {kp}, Kd {kd}");
        assert!((group.window_mean_packets.unwrap() - window).abs() < 0.3, "{what}: {:?}", group.window_mean_packets);
        assert!((link.queue_mean_packets - queue).abs() < 0.3, "{what}: {}", link.queue_mean_packets);
        assert!(group.window_sd_packets.unwrap() < 1.0, "{what}: {:?}", group.window_sd_packets);
    }
}

/// The interaction of two sessions shows over time as it does in the analysis.
#[test]
fn two_sessions_in_the_fluid_swing_where_the_analysis_says() {
    for (kp, stable) in [(0.8, true), (1.3, false)] {
        let mut scenario = scenario(("ccp", &[("kp", kp)]), 2, (1e4, 0.04, 4000));
        for link in scenario.links.values_mut() {
            link.delay = Time::from_seconds(0.001);
        }
        let verdict = analyze(&scenario, &Options::default()).unwrap().verdict;
        assert_eq!(verdict == Verdict::Stable, stable, "Kp {kp}");
        // Apart by half a round trip, so that there is something to grow or to die out.
        let start = penstock_scenario::model::Start::At(Time::from_seconds(0.02));
        let mut other = scenario.groups["group0"].clone();
        (other.count, other.start) = (1, start);
        scenario.groups["group0"].count = 1;
        scenario.groups.insert("group1".into(), other);
        (scenario.duration, scenario.warmup) = (Time::from_seconds(40.0), Time::from_seconds(35.0));
        let run = Fluid::default().run(&scenario, &mut |_| true).unwrap();
        let sd = run.summary.whole.links["bottleneck"].queue_sd_packets;
        assert_eq!(sd < 1.0, stable, "Kp {kp}: {sd} packets");
    }
}
