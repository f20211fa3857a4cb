//! Response functions: the rate that a law has under random loss, where nothing else limits it.
//!
//! The RFCs derive theirs from losses that are evenly spaced; independent ones give NewReno 1.31 / sqrt(p) packets a
//! round trip (Ott, Kemperman, Mathis 1996) where even ones give 1.22. All are held to within 15 %: with the losses that a
//! function is of, and with independent ones where that is not said to be beyond it. `docs/validation/response.md` has the
//! figures and the reason.
//!
//! At 1e-5 a sawtooth takes minutes, and the mean over independent losses needs hundreds of them: those runs are apart,
//! one command: `cargo test --release -p penstock-packets --test suite response -- --ignored --nocapture`.

use crate::laboratory::{Dumbbell, assert_near, group, link};
use penstock_law::Values;
use penstock_law::cc::{self, CONTROLLERS, Event};
use penstock_law::law::find;
use penstock_law::quantity::Bytes;
use penstock_scenario::seed::Seed;

/// Spacing of losses.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Losses {
    Random,
    Even,
}

/// Mean packets a round trip of 100 ms at a loss rate of `p`, over some `losses` losses after as many seconds of settling
/// as `settle_s` says. A law begins where its function says it will be.
fn packets_a_round(cc: &str, spacing: Losses, p: f64, expected: f64, losses: f64, settle_s: f64) -> f64 {
    let flows = 32.0;
    // So many packets a loss, each flow sending the expected number a round.
    let measured_s = (losses / p / (flows * expected) * 0.1).max(50.0);
    let top = format!("duration = \"{:.0} s\"\nwarmup = \"{settle_s} s\"\nsample = \"10 s\"", settle_s + measured_s);
    let rest =
        format!("count = {flows}\ncc = {{ law = \"{cc}\" }}\nsender = {{ ssthresh = {} }}", expected.round().max(2.0));
    let word = if spacing == Losses::Even { "even" } else { "random" };
    let loss = format!("loss = {p:e}\nloss_spacing = \"{word}\"");
    let rest = rest.replace("count", "via = [\"b\"]\ncount");
    let text = Dumbbell { top: &top, rate: "\"1 Tbit/s\"", link: &loss, flows: &rest, ..Dumbbell::PLAIN }.text();
    let run = crate::laboratory::run(&text.replace("rtt = \"40 ms\"", "rtt = \"100 ms\""));
    assert_near(group(&run, "f").loss_rate, p, 4.0 / libm::sqrt(losses), "the loss there is");
    group(&run, "f").throughput_packets_per_s / flows * 0.1
}

fn newreno(p: f64) -> f64 {
    libm::sqrt(1.5 / p)
}

/// RFC 9438, section 5.1, for a round trip of 0.1 s; where NewReno does better, NewReno's.
fn cubic(p: f64) -> f64 {
    libm::pow(0.4 * 3.7 / 1.2, 0.25) * libm::pow(0.1 / p, 0.75)
}

/// RFC 3649, section 5.
fn highspeed(p: f64) -> f64 {
    0.12 / libm::pow(p, 0.835)
}

/// Kelly, 2003.
fn scalable(p: f64) -> f64 {
    0.08 / p
}

type Case = (&'static str, fn(f64) -> f64);
const LAWS: [Case; 4] = [("newreno", newreno), ("cubic", cubic), ("highspeed", highspeed), ("scalable", scalable)];

/// The mean window of the law alone, driven acknowledgement by acknowledgement with a congestion event for each lost
/// packet, one a round at the most, in which the window does not grow, as during recovery: no engine and no queue. It says
/// how far independent losses are from even ones, of which the RFCs speak.
fn alone(cc: &str, spacing: Losses, p: f64, peak: f64) -> f64 {
    let entry = find(CONTROLLERS, cc).unwrap();
    let site = cc::Context { packet: Bytes(1000), initial_window: peak, initial_ssthresh: peak };
    let mut law = (entry.real)(&Values::defaults(entry.parameters), &site).unwrap();
    let flow = law.add();
    let mut coins = Seed(1).stream("losses");
    let (rtt_s, packets) = (0.1, (8_000.0 / p) as u64);
    let seen = |now_s| cc::Observation { rtt_s, base_rtt_s: rtt_s, now_s, ..cc::Observation::zero() };
    let (mut now_s, mut window, mut event) = (0.0, peak, 0.0);
    for n in 0..packets {
        now_s += rtt_s / window;
        if now_s >= event {
            window = law.on_event(flow, Event::Ack { packets: 1, marked: 0 }, &seen(now_s)).window;
        }
        let lost = match spacing {
            Losses::Random => coins.lands(p),
            Losses::Even => ((n + 1) as f64 * p) as u64 > (n as f64 * p) as u64,
        };
        if lost && now_s >= event {
            window = law.on_event(flow, Event::Congestion, &seen(now_s)).window;
            event = now_s + rtt_s;
        }
    }
    packets as f64 * rtt_s / now_s
}

/// Within 15 % of the law's function, but for those `beyond` it, and all of them within 5 % of the law alone.
fn hold(laws: &[Case], spacing: Losses, beyond: &[&str], p: f64, losses: f64, settle_s: f64) {
    let mut wrong = Vec::new();
    for (cc, law) in laws {
        let should = law(p).max(newreno(p));
        let is = packets_a_round(cc, spacing, p, should, losses, settle_s);
        let alone = alone(cc, spacing, p, should);
        let (off, from_alone) = (is / should - 1.0, is / alone - 1.0);
        let said = format!(
            "{cc} at {p:e}, {spacing:?}: {is:.1} packets a round trip, {should:.1} by its function ({:+.1} %), {alone:.1} by the law alone ({:+.1} %)",
            off * 100.0,
            from_alone * 100.0
        );
        println!("{said}");
        if (off.abs() > 0.15) != beyond.contains(cc) || from_alone.abs() > 0.05 {
            wrong.push(said);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn at_one_loss_in_a_thousand() {
    hold(&LAWS, Losses::Random, &["cubic"], 1e-3, 6400.0, 50.0);
}

/// The switch that closes CUBIC's gap: with the losses that RFC 9438 assumes it has the rate that RFC 9438 says.
#[test]
fn at_one_even_loss_in_a_thousand() {
    hold(&LAWS, Losses::Even, &[], 1e-3, 6400.0, 50.0);
}

/// Mean window and share of marks of twenty flows over PI2 that marks by chance, on a line of `rate` Mbit/s.
fn under_marks(cc: &str, rate: f64) -> (f64, f64) {
    let top = "duration = \"30 s\"\nwarmup = \"10 s\"\nsample = \"10 s\"";
    let rest =
        format!("count = 20\ncc = {{ law = \"{cc}\" }}\nsender = {{ profile = \"linux\", ecn_echo = \"accurate\" }}");
    let (aqm, rate) = ("aqm = { law = \"pi2\", ecn = true }", format!("\"{rate} Mbit/s\""));
    let run = Dumbbell { top, rate: &rate, link: aqm, flows: &rest, ..Dumbbell::PLAIN }.run();
    let found = group(&run, "f");
    (found.throughput_packets_per_s / 20.0 * found.rtt_mean_s.unwrap(), found.mark_rate)
}

/// DCTCP and Prague: 2 / p packets where each round trip has a mark; M of them a round trip by chance have `M (1 - exp(-M)) = 2 (1 - p)`,
/// up to 2.24. The page says which are within 15 % of that; all are within a factor of one and a half.
#[test]
fn marks_of_dctcp_and_prague() {
    for cc in ["dctcp", "prague"] {
        for rate in [20.0, 100.0, 400.0] {
            let (window, p) = under_marks(cc, rate);
            let marks = window * p;
            let by_chance = (0..60).fold(2.0, |m, _| 2.0 * (1.0 - p) / (1.0 - libm::exp(-m)));
            eprintln!(
                "{cc} at p = {p:.4}: {window:.1} packets, 2/p is {:.1} ({:+.1} %); {marks:.2} marks, {by_chance:.2} by chance ({:+.1} %)",
                2.0 / p,
                (marks / 2.0 - 1.0) * 100.0,
                (marks / by_chance - 1.0) * 100.0
            );
            assert!((1.0 / 1.5..1.5).contains(&(marks / by_chance)), "{cc}: {marks}, not {by_chance}");
        }
    }
}

/// Grieco and Mascolo 2004: Westwood+ has `sqrt((1 - p) / p) / sqrt(R (R - R_min))` packets a second, R with its mean queue. Ten flows
/// over PI2, which drops by chance, with the papers' rule at the start of a recovery. 15 % is missed, as the page says: all are within
/// a factor of one and a half.
#[test]
fn westwood_over_a_queue() {
    for rate in [20.0, 80.0] {
        let top = "duration = \"60 s\"\nwarmup = \"20 s\"\nsample = \"10 s\"";
        let rest = "count = 10\ncc = { law = \"westwood\", fill = \"start\" }\nsender = { profile = \"linux\" }";
        let speed = format!("\"{rate} Mbit/s\"");
        let run = Dumbbell { top, rate: &speed, link: "aqm = { law = \"pi2\" }", flows: rest, ..Dumbbell::PLAIN }.run();
        let found = group(&run, "f");
        let (p, r) = (found.loss_rate, found.rtt_mean_s.unwrap());
        let is = found.throughput_packets_per_s / 10.0;
        let paper = libm::sqrt((1.0 - p) / p / (r * (r - 0.04)));
        eprintln!(
            "westwood at p = {p:.4}, R = {r:.4}: {is:.0} packets a second, {paper:.0} by its paper ({:+.1} %)",
            (is / paper - 1.0) * 100.0
        );
        assert!((1.0 / 1.5..1.5).contains(&(is / paper)), "{is}, not {paper}");
    }
}

/// Laws whose rate does not follow p: Copa in its default mode ignores losses; version 1 of BBR takes what leaves its bandwidth as it
/// is; version 3 takes 2 % (its LossThresh) in a probe, and less outside of one. A line of 20 Mbit/s that loses.
#[test]
fn losses_that_are_no_signal() {
    for (law, most) in [("\"copa\", competitive = false", 1e-2), ("\"bbr\"", 5e-2), ("\"bbr3\"", 1e-3)] {
        for p in [0.0, 1e-4, 1e-3, 1e-2, 5e-2] {
            let top = "duration = \"40 s\"\nwarmup = \"10 s\"\nsample = \"10 s\"";
            let rest = format!("via = [\"b\"]\ncc = {{ law = {law} }}\nsender = {{ profile = \"linux\" }}");
            let lossy = format!("loss = {p}");
            let run = Dumbbell { top, rate: "\"20 Mbit/s\"", link: &lossy, flows: &rest, ..Dumbbell::PLAIN }.run();
            let used = link(&run, "b").utilization;
            eprintln!("{law} at p = {p}: {used:.3} of the line");
            assert!(used > 0.9 || p > most, "{law} at {p}: {used}");
        }
    }
}

#[test]
#[ignore = "minutes: simulates 10^9 packets; run with --release"]
fn at_one_loss_in_ten_thousand_for_long() {
    hold(&LAWS, Losses::Random, &[], 1e-4, 12_800.0, 300.0);
}

#[test]
#[ignore = "a minute: simulates 10^8 packets; run with --release"]
fn at_one_even_loss_in_ten_thousand_for_long() {
    hold(&LAWS, Losses::Even, &[], 1e-4, 3200.0, 100.0);
}

#[test]
#[ignore = "minutes: simulates 10^9 packets; run with --release"]
fn at_one_loss_in_a_hundred_thousand() {
    hold(&LAWS[..3], Losses::Random, &[], 1e-5, 1600.0, 300.0);
}

#[test]
#[ignore = "minutes: simulates 10^9 packets; run with --release"]
fn at_one_even_loss_in_a_hundred_thousand() {
    hold(&LAWS[..3], Losses::Even, &[], 1e-5, 1600.0, 300.0);
}
