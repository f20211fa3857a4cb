//! Measurements of ns-2 and ns-3 on the scenarios of docs/validation, and the same here. `make validation` runs
//! them again; the numbers below are theirs, written down before ours were known.

use penstock_packets::Packets;
use penstock_scenario::read::Document;
use penstock_scenario::summary::Summary;
use penstock_scenario::world::World;

const SINGLE: &str = include_str!("../../../../scenarios/validation-single.toml");
const LOSS: &str = include_str!("../../../../scenarios/validation-loss.toml");
const RED: &str = include_str!("../../../../scenarios/validation-red.toml");

fn simulate(text: &str, seed: u64, settings: &[(&str, &str)]) -> Summary {
    let mut document = Document::parse(text, "validation.toml").unwrap();
    for (key, value) in settings.iter().copied().chain([("seed", seed.to_string().as_str())]) {
        document.set(key, value).unwrap();
    }
    let cells = document.cells().unwrap();
    assert_eq!(cells.len(), 1);
    Packets.run(&cells[0].scenario, &mut |_| true).unwrap().summary
}

/// Utilization and mean queue [packets] of 100 flows over RED, the mean over seeds.
fn red(rate: &str, seeds: u64, settings: &[(&str, &str)]) -> (f64, f64) {
    let settings: Vec<_> = [("links.bottleneck.rate", rate)].into_iter().chain(settings.iter().copied()).collect();
    let links: Vec<_> =
        (1..=seeds).map(|seed| simulate(RED, seed, &settings).whole.links["bottleneck"].clone()).collect();
    let mean = |of: fn(&_) -> f64| links.iter().map(of).sum::<f64>() / seeds as f64;
    (mean(|link| link.utilization), mean(|link| link.queue_mean_packets))
}

/// A sawtooth over a buffer of one bandwidth-delay product. ns-2 and ns-3 have mean queues of 27.5 and 27.6 packets and 138
/// and 136 losses at 10 Mbit/s; 276 to 280 packets and 1004 to 1009 losses at 100.
#[test]
fn one_flow_over_drop_tail_has_their_sawtooth() {
    for (rate, buffer, queue, losses) in [
        ("\"10 Mbit/s\"", "\"49 packets\"", 27.5..=27.6, 136..=138),
        ("\"100 Mbit/s\"", "\"499 packets\"", 276.0..=280.0, 1004..=1009),
    ] {
        let summary = simulate(SINGLE, 1, &[("links.bottleneck.rate", rate), ("links.bottleneck.buffer", buffer)]);
        let link = &summary.whole.links["bottleneck"];
        assert!(link.utilization >= 0.997, "{rate}: {}", link.utilization);
        let (low, high) = (0.95 * queue.start(), 1.05 * queue.end());
        assert!((low..=high).contains(&link.queue_mean_packets), "{rate}: {}", link.queue_mean_packets);
        // The first slow start overshoots once: that, and one loss a sawtooth.
        let all = summary.windows["all"].links["bottleneck"].drops as f64;
        let (low, high) = (0.95 * f64::from(*losses.start()), 1.05 * f64::from(*losses.end()));
        assert!((low..=high).contains(&all), "{rate}: {all}");
    }
}

/// One packet in a thousand lost, 100 ms: 3.05 to 3.40 Mbit/s, the mean of five seeds of 500 s.
#[test]
fn one_flow_under_random_loss_has_their_throughput() {
    let rates = (1..=5).map(|seed| simulate(LOSS, seed, &[]).whole.links["bottleneck"].throughput_bit_per_s * 1e-6);
    let mean = rates.sum::<f64>() / 5.0;
    assert!((3.05..=3.40).contains(&mean), "{mean}");
}

/// ns-2: 0.955 to 0.960 and 59 packets, 0.858 and 115, 0.783 and 103. The queue within 5 %; utilization, which ranges over
/// less, within 2 %.
#[test]
fn a_hundred_flows_over_red_are_as_in_ns2() {
    for (rate, low, high, queue) in [
        ("\"155 Mbit/s\"", 0.955, 0.960, 59.0),
        ("\"622 Mbit/s\"", 0.858, 0.858, 115.0),
        ("\"2400 Mbit/s\"", 0.783, 0.783, 103.0),
    ] {
        let (utilization, mean_queue) = red(rate, 1, &[]);
        assert!((0.98 * low..=1.02 * high).contains(&utilization), "{rate}: {utilization}");
        assert!((mean_queue / queue - 1.0).abs() < 0.05, "{rate}: {mean_queue}");
    }
}

/// ns-3 at 155 Mbit/s: 0.9475 and 66.5 packets. Its RED counts packets, arrivals do not meet departures there (a packet has
/// 1002 bytes on the line), and an idle line is idle from the start of its last transmission: with a RED of ours in ns-3 that
/// takes its end, the rest untouched, ns-3 has 0.963 and 58.4. Within 2 % and 5 %, as ns-2's.
#[test]
fn since_when_a_line_is_idle_is_what_parts_ns3_from_ns2() {
    let ns3 = [("links.bottleneck.aqm.bytes", "false"), ("links.bottleneck.aqm.arrivals_first", "false")];
    for (from_start, utilization, queue) in [("true", 0.9475, 66.5), ("false", 0.963, 58.4)] {
        let idle = [("links.bottleneck.aqm.idle_from_start", from_start)];
        let (used, mean_queue) = red("\"155 Mbit/s\"", 3, &[&ns3[..], &idle[..]].concat());
        println!("{from_start}: {used:.4}, {mean_queue:.1}");
        assert!((used / utilization - 1.0).abs() < 0.02, "{from_start}: {used}");
        assert!((mean_queue / queue - 1.0).abs() < 0.05, "{from_start}: {mean_queue}");
    }
}

/// The effect of each rule at 155 Mbit/s, in points of utilization. ns-2 in which an arrival and a departure never meet
/// (its senders hold packets back by up to 1 us) has 0.9 points more; the others are differences between simulators
/// that follow the rule and such that do not.
#[test]
fn each_rule_of_ns2_is_worth_what_it_is_there() {
    let rate = "\"155 Mbit/s\"";
    let base = red(rate, 3, &[]).0;
    for (setting, least, most) in [
        (("links.bottleneck.aqm.spare_empty_queue", "false"), -0.25, -0.10),
        (("links.bottleneck.aqm.arrivals_first", "false"), 0.004, 0.014),
        (("flows.ftp.cc.grow_on_echo", "true"), 0.006, 0.025),
    ] {
        let gain = red(rate, 3, &[setting]).0 - base;
        assert!((least..=most).contains(&gain), "{}: {gain:+.4}", setting.0);
    }
}
