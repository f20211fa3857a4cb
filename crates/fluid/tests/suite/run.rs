//! Scenarios as fluid over time: against the references' figures, against the linear theory, and what is kept exactly.

use crate::scenarios::{FIG8, aqm, cc, dumbbell, fig8, group, off};
use penstock_fluid::{Clocking, Fluid, Method, Options, Verdict, analyze};
use penstock_law::quantity::Time;
use penstock_scenario::model::{Buffer, Dynamics, Group, Scenario, Start};
use penstock_scenario::world::{Run, World};

fn run(method: Method, scenario: &Scenario) -> Run {
    Fluid { method }.run(scenario, &mut |_| true).unwrap()
}

/// As the reference integrates: `x = w / tau`, delays of propagation, laws that know the price.
fn as_the_paper() -> Method {
    Method { clocking: Some(Clocking::Paced), frozen_delays: true, estimators: false, ..Method::default() }
}

fn stages(scenario: &mut Scenario) {
    for k in 0..5 {
        let end = 40.0 * f64::from(k + 1);
        scenario.windows.insert(format!("stage{}", k + 1), (Time::from_seconds(end - 10.0), Time::from_seconds(end)));
    }
}

/// Rounds of packets have no counterpart in a fluid.
#[test]
fn rounds_are_not_sampled() {
    let mut scenario = fig8(&cc("leadlag", &[]), &aqm("price", &[]));
    assert_eq!(Fluid { method: as_the_paper() }.refusals(&scenario), [""; 0]);
    scenario.dynamics = Some(Dynamics { round: Time::from_seconds(0.04) });
    let refusals = Fluid { method: as_the_paper() }.refusals(&scenario);
    assert_eq!(refusals, ["`dynamics` needs rounds of packets, which fluid does not support"]);
}

/// Reference 9.6: price and rate over fair share in the last 10 s of each stage, and when 90 % of the target is reached.
/// The reference integrates (5), (15), (16) in steps of 0.5 ms; here laws act every 5 and 10 ms.
#[test]
fn fig_8_as_the_reference_integrates_it() {
    let oracle: [(f64, &[f64]); 5] = [
        (0.006_704, &[1.0]),
        (0.012_553, &[1.204, 0.796]),
        (0.025_939, &[1.075, 1.149, 0.888]),
        (0.053_364, &[1.013, 1.029, 1.060, 0.960]),
        (0.107_646, &[1.001, 1.002, 1.004, 1.011, 0.993]),
    ];
    let mut scenario = fig8(&cc("leadlag", &[]), &aqm("price", &[]));
    stages(&mut scenario);
    let run = run(as_the_paper(), &scenario);
    let mut flows = 0.0;
    for (k, (price, rates)) in oracle.into_iter().enumerate() {
        flows += f64::from(FIG8[k].0);
        let stage = &run.summary.windows[k];
        let link = &stage.links["bottleneck"];
        println!("stage {}: price {:.6} ({price}), load {:.4}", k + 1, link.price_mean.unwrap(), link.utilization);
        assert!(off(link.price_mean.unwrap(), price) < 3e-3, "{k}: {link:?}");
        assert!((link.utilization - 0.95).abs() < 0.005);
        for (g, rate) in rates.iter().enumerate() {
            let is = stage.groups[g].throughput_packets_per_s / f64::from(FIG8[g].0) / (237_500.0 / flows);
            assert!((is - rate).abs() < 4e-3, "{k} {g}: {is}, not {rate}");
        }
    }
    let load = run.series[0].number("utilization").unwrap();
    let links = 2;
    let reached = load.iter().step_by(links).position(|u| *u >= 0.9 * 0.95).unwrap();
    assert!((0.1 * reached as f64 - 22.48).abs() < 0.2, "{reached}");
}

/// Doublings of the steps divide the error by four on the whole: NewReno and RED from a start far off, through the kinks
/// of RED's thresholds, which make single doublings uneven.
#[test]
fn the_order_is_two() {
    let newreno = cc("newreno", &[("ecn", 1.0)]);
    let mut scenario = dumbbell(1e8, 1000, &aqm("red", &[("ecn", 1.0)]), vec![group(20, 0.08, newreno)]);
    scenario.duration = Time::from_seconds(6.0);
    scenario.groups[0].sender.initial_window = 60.0;
    scenario.groups[0].sender.initial_ssthresh = 1.0;
    let window = |steps: f64| {
        let run = run(Method { step_s: Some(0.08 / steps), ..as_the_paper() }, &scenario);
        let groups = run.series.iter().find(|t| t.name == "groups").unwrap();
        groups.number("window_packets").unwrap().to_vec()
    };
    let runs: Vec<Vec<f64>> = [20.0, 40.0, 80.0, 160.0, 320.0].into_iter().map(window).collect();
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    let errors: Vec<f64> = runs.windows(2).map(|p| apart(&p[0], &p[1])).collect();
    let order = libm::log2(errors[0] / errors[errors.len() - 1]) / (errors.len() - 1) as f64;
    println!("differences of windows: {errors:?}, order {order:.2}");
    assert!(order > 1.7, "{errors:?}");
    assert!(errors[errors.len() - 1] > 1e-9, "a case without error measures nothing: {errors:?}");
}

/// Whatever was sent is acknowledged, waiting or on its way; a window is what is in flight.
#[test]
fn nothing_is_lost_on_the_way() {
    let fast = cc("fast", &[("alpha", 50.0)]);
    let mut scenario = dumbbell(1e8, 1000, &aqm("droptail", &[]), vec![group(10, 0.1, fast)]);
    scenario.duration = Time::from_seconds(20.0);
    scenario.groups[0].series = true;
    let run = run(Method::default(), &scenario);
    let link = &run.summary.whole.links["bottleneck"];
    let group = &run.summary.whole.groups["group0"];
    let delivered = group.throughput_packets_per_s * 20.0;
    let last = run.series[0].number("queue_packets").unwrap();
    let waiting = last[last.len() - 2];
    // Half a round trip, and the wait of those behind the queue, lie between the link and the acknowledgement.
    let under_way = link.departures as f64 - delivered;
    assert!((link.arrivals as f64 - link.departures as f64 - waiting).abs() < 2.0, "{link:?} {waiting}");
    assert!((under_way - 1250.0).abs() < 5.0, "{under_way}");
    assert!(off(waiting, 500.0) < 0.01, "each keeps alpha packets waiting: {waiting}");
}

/// The same verdict as the linear theory, on both sides of its boundary, without linearising anything: NewReno and PI
/// with gains far apart. The queue settles at its reference in the stable one.
#[test]
fn newreno_with_pi_swings_where_the_analysis_says_so() {
    for (scale, verdict) in [(1.0, Verdict::Stable), (60.0, Verdict::Unstable)] {
        let newreno = cc("newreno", &[("ecn", 1.0)]);
        let law = aqm("pi", &[("ecn", 1.0), ("a", 1.822e-5 * scale), ("b", 1.816e-5 * scale), ("qref", 200.0)]);
        let mut scenario = dumbbell(3.0e7, 1000, &law, vec![group(60, 0.15, newreno)]);
        scenario.groups[0].sender.initial_ssthresh = 1.0;
        scenario.groups[0].sender.initial_window = 8.0;
        scenario.duration = Time::from_seconds(200.0);
        scenario.warmup = Time::from_seconds(150.0);
        assert_eq!(analyze(&scenario, &Options::default()).unwrap().verdict, verdict, "{scale}");
        let link = &run(Method::default(), &scenario).summary.whole.links["bottleneck"];
        println!("gains x {scale}: {verdict:?}, queue {:.1} +- {:.1}", link.queue_mean_packets, link.queue_sd_packets);
        assert_eq!(link.queue_sd_packets > 20.0, verdict == Verdict::Unstable, "{link:?}");
        if verdict == Verdict::Stable {
            assert!(off(link.queue_mean_packets, 200.0) < 0.02, "{link:?}");
        }
    }
}

/// A buffer is a wall: the queue stops there, what spills is lost, and lossy flows answer.
#[test]
fn a_full_buffer_spills() {
    let mut scenario = dumbbell(1e7, 1000, &aqm("droptail", &[]), vec![group(4, 0.1, cc("newreno", &[]))]);
    scenario.links[0].buffer = Buffer::Packets(60);
    scenario.duration = Time::from_seconds(60.0);
    let run = run(Method::default(), &scenario);
    let link = &run.summary.whole.links["bottleneck"];
    assert!(link.queue_max_packets <= 60.0 && link.drops > 0, "{link:?}");
    assert!(run.summary.whole.groups["group0"].loss_rate > 0.0);
}

/// Losses of a line are a link's drops and its flows' losses alike, and the same share of both.
#[test]
fn the_losses_of_a_line_are_drops() {
    let mut scenario = dumbbell(1e8, 1000, &aqm("droptail", &[]), vec![group(4, 0.1, cc("newreno", &[]))]);
    scenario.links[0].loss = 1e-3;
    scenario.duration = Time::from_seconds(100.0);
    let run = run(Method::default(), &scenario);
    let link = &run.summary.whole.links["bottleneck"];
    let share = link.drops as f64 / link.arrivals as f64;
    assert!(off(share, 1e-3) < 0.02, "{link:?}");
    assert!(off(run.summary.whole.groups["group0"].loss_rate, 1e-3) < 0.02);
}

/// In congestion avoidance a window grows by a packet a round trip; where every second packet is acknowledged and counts as
/// one, by half a packet.
#[test]
fn an_acknowledgement_of_two_packets_grows_a_window_once() {
    let growth = |delayed_ack: u32, per_ack: f64| {
        let newreno = cc("newreno", &[("per_ack", per_ack)]);
        let mut scenario = dumbbell(1e10, 1000, &aqm("droptail", &[]), vec![group(1, 0.1, newreno)]);
        scenario.duration = Time::from_seconds(40.0);
        let sender = &mut scenario.groups[0].sender;
        (sender.initial_window, sender.initial_ssthresh, sender.delayed_ack) = (20.0, 1.0, delayed_ack);
        let run = run(Method::default(), &scenario);
        let groups = run.series.iter().find(|t| t.name == "groups").unwrap();
        let windows = groups.number("window_packets").unwrap();
        // Samples are 0.1 s apart, as round trips are.
        (windows[windows.len() - 1] - windows[windows.len() - 201]) / 200.0
    };
    for (delayed_ack, per_ack, packets) in [(1, 1.0, 1.0), (2, 2.0, 1.0), (2, 1.0, 0.5)] {
        let growth = growth(delayed_ack, per_ack);
        assert!(off(growth, packets) < 0.02, "{delayed_ack} {per_ack}: {growth}");
    }
}

/// Features without a fluid counterpart are refused by name.
#[test]
fn what_fluid_does_not_know_is_refused() {
    let with = |law: &str, queue: &str| {
        let scenario = dumbbell(1e8, 1000, &aqm(queue, &[]), vec![group(4, 0.1, cc(law, &[]))]);
        Fluid::default().run(&scenario, &mut |_| true).map(|_| ()).unwrap_err().to_string()
    };
    assert!(with("cubic", "droptail").contains("`cubic`"), "{}", with("cubic", "droptail"));
    assert!(with("newreno", "codel").contains("`codel`"), "{}", with("newreno", "codel"));
    let mut late = dumbbell(1e8, 1000, &aqm("droptail", &[]), vec![group(4, 0.1, cc("newreno", &[]))]);
    late.groups[0] =
        Group { start: Start::At(Time::ZERO), jitter: Some((Time::ZERO, Time(1))), ..late.groups[0].clone() };
    assert!(Fluid::default().run(&late, &mut |_| true).unwrap_err().to_string().contains("jitter"));
}
