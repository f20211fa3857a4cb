//! FAST's start that multiplies, where it was made for: 1 Gbit/s over 180 ms, a window of 15,000 packets.

use crate::laboratory::{assert_near, numbers, run};
use penstock_scenario::summary::Measured;
use penstock_scenario::world::Run;

/// A flow of alpha 50 behind `buffer`, at equilibrium in the last ten seconds.
fn flow(buffer: &str, link: &str, cc: &str, seconds: u32) -> Run {
    run(&format!(
        "format = 1\nduration = \"{seconds} s\"\npacket = \"1500 B\"\nsample = \"180 ms\"\n\
         [windows]\nsettled = [\"{} s\", \"{seconds} s\"]\n\
         [links.b]\nfrom = \"l\"\nto = \"r\"\nrate = \"1 Gbit/s\"\ndelay = \"90 ms\"\nbuffer = {buffer}\nduplex = true\n{link}\n\
         [links.\"b/back\"]\nbuffer = \"unlimited\"\nloss = 0\n\
         [flows.f]\nfrom = \"l\"\nto = \"r\"\nrtt = \"180 ms\"\ncc = {{ law = \"fast\", alpha = \"50 packets\"{cc} }}\n\
         sender = {{ initial_window = 10 }}\n",
        seconds - 10
    ))
}

const GROWTH: f64 = 1.25;
const START: &str = ", start_growth = 1.25";

/// Times [s] and how much of the line was used.
fn used(run: &Run) -> Vec<(f64, f64)> {
    let [link, time, used] = ["link", "time_s", "utilization"].map(|column| numbers(run, "links", column));
    let all = link.into_iter().zip(time.into_iter().zip(used));
    all.filter(|(link, _)| *link == 0.0).map(|(_, row)| row).collect()
}

/// When 90 % of the line was used first, and when less was used last [s].
fn line(run: &Run) -> (f64, f64) {
    let used = used(run);
    let first = used.iter().find(|(_, used)| *used >= 0.9).map_or(f64::INFINITY, |(at, _)| *at);
    let last = used.iter().rfind(|(_, used)| *used < 0.9).map_or(0.0, |(at, _)| *at);
    (first, last)
}

fn settled(run: &Run) -> &Measured {
    &run.summary.windows["settled"]
}

/// The law alone adds 25 packets a round trip: 541 of them, 97 s, to 90 % of the line. A start that multiplies by 1.25 takes
/// one and a half times the logarithm at the most, 9 s. Behind a buffer without a limit nothing is lost; behind one of 100
/// packets less than one window is, in all: two round trips overrun by 1.25^2 - 1 of a window, and each loss leaves that part
/// of the distance for the next. Everything settles at the same window, with alpha packets queued and none lost.
#[test]
fn a_start_that_multiplies_fills_a_long_path_at_once() {
    let (alone, deep, shallow) = (
        flow("\"100 packets\"", "", "", 125),
        flow("\"unlimited\"", "", START, 50),
        flow("\"100 packets\"", "", START, 50),
    );
    let quick = 1.5 * libm::log(13_500.0 / 10.0) / libm::log(GROWTH) * 0.18;
    let (reached, _) = line(&alone);
    println!("alone: 90 % after {reached:.1} s, {} lost", alone.summary.whole.links["b"].drops);
    assert_near(reached, 541.0 * 0.18, 0.02, "the law alone");
    for (run, name, most_lost) in [(&deep, "deep", 0), (&shallow, "shallow", 15_000)] {
        let ((reached, stays), drops) = (line(run), run.summary.whole.links["b"].drops);
        println!("{name}: 90 % after {reached:.1} s, always from {stays:.1} s on, {drops} lost");
        assert!(reached < quick, "{name}: {reached}");
        assert!(stays < 150.0 * 0.18, "{name}: {stays}");
        assert!(drops <= most_lost && (most_lost == 0 || drops > 0), "{name}: {drops}");
    }
    let window = |run: &Run| settled(run).groups["f"].window_mean_packets.unwrap();
    for run in [&alone, &deep, &shallow] {
        let (link, group) = (&settled(run).links["b"], &settled(run).groups["f"]);
        assert!(link.utilization > 0.9999 && link.drops == 0 && group.retransmits == 0, "{link:?}");
        assert_near(link.queue_mean_packets, 50.0, 0.02, "packets waiting");
        // 15050, and what a round trip takes of the line for its own packet.
        assert!((window(run) - 15_050.0).abs() < 3.0 && (window(run) - window(&alone)).abs() < 0.5, "{}", window(run));
    }
}

/// One packet in a million lost, evenly: every 12 s at full rate. Alone the law regains 1667 of the 7500 packets that each
/// takes; with the start what fitted is known, and four round trips regain it. With three more at half the window until
/// the loss is mended, 4 % of the line go that way; twice that is allowed.
#[test]
fn a_lost_window_is_regained_in_a_few_round_trips() {
    let run = flow("\"100 packets\"", "loss = 1e-6\nloss_spacing = \"even\"", START, 80);
    let late: Vec<f64> = used(&run).into_iter().filter(|(at, _)| *at > 30.0).map(|(_, used)| used).collect();
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    println!("{mean:.4} of the line, {} packets sent again", run.summary.whole.groups["f"].retransmits);
    assert!(mean > 0.92, "{mean}");
}
