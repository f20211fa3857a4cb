//! The response to cross traffic: closed forms of one loop with its delay, and equilibria beside more cross traffic.

use std::f64::consts::PI;

use crate::scenarios::{aqm, cc, dumbbell, group, off};
use penstock_fluid::disturbance::Disturbance;
use penstock_fluid::{Analysis, Clocking, Complex, Options, analyze};
use penstock_law::aqm::Aqm;
use penstock_law::quantity::{Rate, Time};
use penstock_scenario::model::{Buffer, Chosen, Group, Link, Scenario};

const PACKET: u64 = 1500;
const WIRE_BITS: f64 = 12_000.0;

fn analysis(scenario: &Scenario, clocking: &[(&str, Clocking)]) -> Analysis {
    let clocking = clocking.iter().map(|(group, clocking)| ((*group).to_owned(), *clocking)).collect();
    analyze(scenario, &Options { clocking, disturbance: true, ..Options::default() }).unwrap()
}

/// One session of CCPD [ms] whose round trip is `rtt_s` with its queue: by (3) it rests on a window of Kp times the space, so
/// that the queue is what is chosen here by the buffer.
fn session(kp: f64, kd: f64, capacity: f64, rtt_s: f64) -> Scenario {
    let (base_s, window) = (0.5 * rtt_s, capacity * rtt_s);
    let queue = window - capacity * base_s;
    let buffer = ((1.0 + kp) / kp * window + queue).round() as u64;
    let chosen = cc("ccpd", &[("kp", kp), ("kd", kd)]);
    let mut scenario = dumbbell(capacity * WIRE_BITS, PACKET, &aqm("droptail", &[]), vec![group(1, base_s, chosen)]);
    scenario.links.get_mut("bottleneck").unwrap().buffer = Buffer::Packets(buffer);
    scenario
}

/// Of a flow that acknowledgements time, its window is in flight: a queue of `c p` packets more, and a window that is
/// `k c p` packets less a round trip late, leave `p = d/c (1 - z)/s / (1 + k z)` with `z = exp(-s tau)`.
///
/// For (3), with kappa = Kd/tau, `k = (Kp + kappa (1 - z)) / (1 + Kp + kappa (1 - z))`; in the loop here also the average of round
/// trips, 1/8 of each acknowledgement, and the window that is set with the next one.
fn by_hand(s: Complex, kp: f64, kappa: f64, capacity: f64, tau: f64) -> Complex {
    let z = (-s * tau).exp();
    let low_pass = |corner: f64| Complex::real(corner) / (s + Complex::real(corner));
    let (next, average) = (low_pass(capacity), low_pass(0.125 * capacity));
    let since = Complex::real(kp + kappa) - z * kappa;
    let k = next * average * since / (Complex::real(1.0 + kp + kappa) - next * z * kappa);
    (Complex::ONE - z) / s / (Complex::ONE + k * z)
}

/// The modulus of the delay's response over frequency, static gain and peak against the closed form; the flows' rate is what
/// the queue does not keep: `c s p - d`.
#[test]
fn one_session_responds_as_the_closed_form() {
    for (kp, kd, capacity, tau) in [(2.0, 0.0, 1e4, 0.04), (2.0, 100.0, 1e4, 0.04), (4.0, 20.0, 3e3, 0.1)] {
        let a = analysis(&session(kp, kd, capacity, tau), &[("group0", Clocking::Ack)]);
        let (d, tau) = (&a.disturbance[0], a.classes[0].rtt_s);
        let kappa = 1e-3 * kd / tau;
        let what = format!("Kp {kp}, Kd {kd}: {:?} {:?}", d.delay_s, d.rate);
        let delay = |w: f64| by_hand(Complex::axis(w), kp, kappa, capacity, tau);
        let rate = |w: f64| Complex::axis(w) * delay(w) - Complex::ONE;
        for point in &d.frequency {
            let w = point.frequency_rad_per_s;
            assert!((point.delay_s - delay(w).abs()).abs() < 1e-9 * tau, "{what}, {w}: {point:?} {:?}", delay(w));
            assert!((point.rate - rate(w).abs()).abs() < 1e-7, "{what}, {w}: {point:?} {:?}", rate(w));
        }
        assert!(off(d.delay_s.static_gain, tau * (1.0 + kp) / (1.0 + 2.0 * kp)) < 1e-7, "{what}");
        assert!(off(d.rate.static_gain, -1.0) < 1e-7 && off(d.classes[0].static_gain, -1.0) < 1e-7, "{what}");
        // A thousand points between two multiples of 2 pi / tau are within 1e-6 of the peak.
        let largest = |f: &dyn Fn(f64) -> Complex| {
            let at = (1..20_000).map(|k| f64::from(k) * 0.5e-3 * 2.0 * PI / tau);
            at.map(|w| (w, f(w).abs())).max_by(|x, y| x.1.total_cmp(&y.1)).unwrap()
        };
        for (gains, (w, peak)) in [(d.delay_s, largest(&delay)), (d.rate, largest(&rate))] {
            assert!(off(gains.peak_gain, peak) < 1e-3 && gains.peak_gain > peak * (1.0 - 1e-9), "{what}: {peak}");
            assert!((gains.peak_rad_per_s - w).abs() < 1e-2 / tau, "{what}: {w}");
        }
    }
}

/// Reference, 3i: a packet more in the queue takes `(Kp + kappa) / (1 + Kp + kappa)` off the window at once: .667 for CCP, .818
/// with the derivative at 40 ms. So a step fills the queue for one round trip, and in the next that share of it is gone. On
/// a line so fast that filters do not show.
#[test]
fn the_derivative_takes_more_off_in_the_first_round_trip() {
    for (kd, taken) in [(0.0, 0.667), (100.0, 0.818)] {
        let a = analysis(&session(2.0, kd, 1e6, 0.04), &[("group0", Clocking::Ack)]);
        let (tau, step) = (a.classes[0].rtt_s, a.disturbance[0].step.as_ref().unwrap());
        assert!(off(tau, 0.04) < 1e-4, "{tau}");
        assert!(off(step.delay_peak_s, tau) < 5e-3 && off(step.delay_peak_at_s, tau) < 5e-3, "{kd}: {step:?}");
        let at = |t: f64| {
            let after = step.points.iter().position(|p| p.time_s >= t).unwrap();
            let (a, b) = (step.points[after - 1], step.points[after]);
            a.delay_s + (t - a.time_s) / (b.time_s - a.time_s) * (b.delay_s - a.delay_s)
        };
        // Away from the corners, between which the delay runs straight.
        let slope = (at(1.8 * tau) - at(1.2 * tau)) / (0.6 * tau);
        assert!((slope + taken).abs() < 5e-3, "Kd {kd}: {slope}");
        assert!(off((at(0.8 * tau) - at(0.2 * tau)) / (0.6 * tau), 1.0) < 5e-3);
    }
}

/// CCP alone over time, in closed form: the delay is piecewise straight, with the slopes `(1 + k) (-k)^n - ...` of the series of
/// `(1 - z) / (1 + k z)`; and it has settled when that is within 5 %.
#[test]
fn a_step_runs_as_the_series_does() {
    let (kp, tau) = (2.0, 0.04);
    let a = analysis(&session(kp, 0.0, 1e6, tau), &[("group0", Clocking::Ack)]);
    let step = a.disturbance[0].step.as_ref().unwrap();
    let k = kp / (1.0 + kp);
    // The delay at a whole number of round trips: tau (1 - k + k^2 - ...).
    let corner = |n: i32| tau * (1.0 - libm::pow(-k, f64::from(n))) / (1.0 + k);
    let by_hand = |t: f64| {
        let whole = (t / tau).floor();
        let n = whole as i32;
        corner(n) + (t / tau - whole) * (corner(n + 1) - corner(n))
    };
    let mut worst = 0.0_f64;
    for point in &step.points {
        worst = worst.max((point.delay_s - by_hand(point.time_s)).abs() / tau);
    }
    assert!(worst < 1e-2, "{worst}");
    let settled = step.points.iter().rposition(|p| (by_hand(p.time_s) - tau / (1.0 + k)).abs() > 0.05 * tau).unwrap();
    let settled = step.points[settled].time_s;
    assert!((step.delay_settled_at_s - settled).abs() < 0.2 * tau, "{} {settled}", step.delay_settled_at_s);
    // The flows: nothing for a round trip; then (1 + k) less, and so on.
    let rate_at = |t: f64| step.points.iter().find(|p| p.time_s >= t).unwrap().rate;
    for (t, rate) in [(0.5, 0.0), (1.5, -1.0 - k), (2.5, -1.0 + k * k), (3.5, -1.0 - k * k * k)] {
        assert!((rate_at(t * tau) - rate).abs() < 0.02, "{t}: {} {rate}", rate_at(t * tau));
    }
}

/// Flows beside cross traffic of a share of the link's rate.
fn beside(share: f64, rate: f64, queue: &Chosen<Aqm>, mut groups: Vec<Group>) -> Scenario {
    let cross = cc("cbr", &[("rate", share * rate)]);
    groups.push(Group { backward: Vec::new(), ..group(1, 0.02, cross) });
    dumbbell(rate, PACKET, queue, groups)
}

/// The static gains of each link are the slopes of the equilibrium over cross traffic: of delay, and of each class's rate. A queue that
/// marks drops some of this cross traffic, which cannot be marked, and what enters the line counts; to `price`, whose line is not
/// full, all that arrives.
fn is_the_slope_of_the_equilibrium(of: &dyn Fn(f64) -> Scenario, link: usize, tolerance: f64) -> Analysis {
    let [low, high] = [0.1 - 1e-3, 0.1 + 1e-3].map(|share| analyze(&of(share), &Options::default()).unwrap());
    let at = analysis(&of(0.1), &[]);
    let d: &Disturbance = &at.disturbance[link];
    let entering = |a: &Analysis| {
        let cross = a.classes.iter().find(|class| class.cc == "cbr").unwrap();
        let dropped = if at.links[link].aqm == "price" { 0.0 } else { cross.drop_probability };
        cross.rate_packets_per_s * (1.0 - dropped)
    };
    let (more, capacity) = (entering(&high) - entering(&low), at.links[link].capacity_packets_per_s);
    let what = format!("{} {}: {:?} {:?}", at.classes[0].cc, at.links[link].aqm, d.delay_s, d.rate);
    let delay = (high.links[link].queueing_delay_s - low.links[link].queueing_delay_s) / more * capacity;
    let scale = at.classes[0].rtt_s;
    assert!((d.delay_s.static_gain - delay).abs() < tolerance * scale, "{what}: {delay}");
    for (k, class) in at.classes.iter().enumerate().filter(|(_, class)| class.cc != "cbr") {
        let moved = high.classes[k].rate_packets_per_s - low.classes[k].rate_packets_per_s;
        let rate = f64::from(class.count) * moved / more;
        assert!((d.classes[k].static_gain - rate).abs() < tolerance, "{what}, {}: {rate} {:?}", class.name, d.classes);
    }
    assert!(off(d.rate.static_gain, -1.0) < tolerance, "{what}");
    assert!(d.delay_s.peak_gain >= d.delay_s.static_gain.abs() && d.rate.peak_gain >= 1.0 - tolerance, "{what}");
    at
}

/// Any law that the analysis takes: with its queue alone as signal, with marks that follow the queue, and with an integral,
/// which leaves no delay. Two round trips, which give way by shares of their own.
#[test]
fn static_gains_are_slopes_of_the_equilibrium() {
    let newreno = || cc("newreno", &[("ecn", 1.0)]);
    let pi = || aqm("pi", &[("ecn", 1.0), ("a", 1e-5), ("b", 0.995e-5), ("qref", 200.0)]);
    let red = || {
        aqm(
            "red",
            &[("ecn", 1.0), ("min_threshold", 50.0), ("max_threshold", 2000.0), ("max_p", 0.1), ("weight", 1e-4)],
        )
    };
    let two = |law: &dyn Fn() -> Chosen<penstock_law::cc::Controller>, counts: [u32; 2]| {
        vec![group(counts[0], 0.05, law()), group(counts[1], 0.1, law())]
    };
    let fast = || cc("fast", &[("alpha", 20.0)]);
    let leadlag = || cc("leadlag", &[("M", 2.0)]);
    is_the_slope_of_the_equilibrium(&|x| beside(x, 1e8, &aqm("droptail", &[]), two(&fast, [5, 5])), 0, 1e-3);
    is_the_slope_of_the_equilibrium(&|x| beside(x, 3e7, &red(), two(&newreno, [30, 30])), 0, 1e-3);
    is_the_slope_of_the_equilibrium(&|x| beside(x, 3e7, &pi(), two(&newreno, [30, 30])), 0, 1e-3);
    is_the_slope_of_the_equilibrium(&|x| beside(x, 1e9, &aqm("price", &[]), two(&leadlag, [20, 20])), 0, 1e-3);
}

/// Two links in a row: cross traffic at one, and the long flows give way at both, so that the short ones of the other take
/// more.
#[test]
fn cross_traffic_at_one_of_two_links_is_felt_at_both() {
    let of = |at: &'static str| {
        move |share: f64| {
            let fast = || cc("fast", &[("alpha", 20.0)]);
            let mut scenario = beside(share, 1e8, &aqm("droptail", &[]), Vec::new());
            let model: Link = scenario.links["bottleneck"].clone();
            let cross = scenario.groups.swap_remove("group0").unwrap();
            scenario.links.clear();
            for (name, rate) in [("first", 1e8), ("second", 8e7)] {
                let link = Link { rate: Rate(rate as u64), delay: Time::from_seconds(0.01), ..model.clone() };
                scenario.links.insert(name.into(), link);
            }
            let over = |path: &[&str], g: Group| Group {
                forward: path.iter().map(|l| (*l).to_owned()).collect(),
                backward: Vec::new(),
                ..g
            };
            scenario.groups.insert("long".into(), over(&["first", "second"], group(5, 0.05, fast())));
            scenario.groups.insert("at_first".into(), over(&["first"], group(5, 0.05, fast())));
            scenario.groups.insert("at_second".into(), over(&["second"], group(5, 0.08, fast())));
            let rate = share * if at == "first" { 1e8 } else { 8e7 };
            let cross = Group { cc: cc("cbr", &[("rate", rate)]), ..cross };
            scenario.groups.insert("cross".into(), over(&[at], cross));
            scenario
        }
    };
    let a = is_the_slope_of_the_equilibrium(&of("first"), 0, 1e-3);
    is_the_slope_of_the_equilibrium(&of("second"), 1, 1e-3);
    let gain = |class: &str| a.disturbance[0].classes.iter().find(|c| c.name == class).unwrap().static_gain;
    assert!(
        gain("long") < -0.1 && gain("at_first") < -0.1 && gain("at_second") > 0.1,
        "{:?}",
        a.disturbance[0].classes
    );
}

/// An unstable loop has no response that lasts, and nobody gets one who did not request it.
#[test]
fn an_unstable_loop_has_no_response() {
    let mut scenario = session(2.0, 0.0, 1e4, 0.04);
    scenario.groups["group0"].count = 2;
    scenario.links.get_mut("bottleneck").unwrap().buffer = Buffer::Packets(4000);
    let a = analysis(&scenario, &[]);
    assert!(a.disturbance.is_empty() && a.warnings.iter().any(|w| w.contains("cross traffic")), "{:?}", a.warnings);
    let a = analyze(&session(2.0, 0.0, 1e4, 0.04), &Options::default()).unwrap();
    assert!(a.disturbance.is_empty() && a.warnings.iter().all(|w| !w.contains("cross traffic")), "{:?}", a.warnings);
}
