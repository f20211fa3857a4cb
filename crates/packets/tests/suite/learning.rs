//! PCC Vivace and SEARCH against what their sources say of them, packet by packet; `docs/validation/today.md` has the figures.

use crate::laboratory::{Dumbbell, group, link, numbers, run};

/// One flow of Vivace over 40 ms, on a line of `rate` Mbit/s: the rate that arrives [Mbit/s], and the mean queue [ms].
fn vivace(rate: f64, buffer: &str, loss: &str, set: &str, seconds: f64) -> (f64, f64) {
    let top = format!("duration = \"{seconds} s\"\nwarmup = \"{} s\"\nsample = \"1 s\"", seconds / 2.0);
    let speed = format!("\"{rate} Mbit/s\"");
    let flows = format!("via = [\"b\"]\ncc = {{ law = \"vivace\"{set} }}\nsender = {{ profile = \"linux\" }}");
    let run = Dumbbell { top: &top, rate: &speed, buffer, link: loss, flows: &flows }.run();
    (group(&run, "f").throughput_packets_per_s * 8e-3, link(&run, "b").queue_mean_packets * 8.0 / rate)
}

/// Alone on a line without losses of its own Vivace fills it, whatever its rate, over a drop-tail buffer of a bandwidth-delay product.
#[test]
fn vivace_fills_a_line() {
    for rate in [10.0, 50.0, 200.0] {
        let (is, queue_ms) = vivace(rate, "\"1 bdp\"", "", "", 40.0);
        eprintln!("{rate} Mbit/s: {is:.1} Mbit/s, a queue of {queue_ms:.1} ms");
        assert!(is > 0.8 * rate, "{rate}: {is}");
    }
}

/// The equilibria of random losses without a queue, (0.9 / (11.35 p))^10 Mbit/s.
#[test]
#[ignore = "a minute: simulates 10^7 packets"]
fn vivace_under_random_losses() {
    for (loss, rate, seconds) in [(0.05, 1000.0, 120.0), (0.08, 100.0, 400.0), (0.04, 4000.0, 12.0)] {
        for spacing in ["even", "random"] {
            for set in ["", ", interval = 20"] {
                let keys = format!("loss = {loss}\nloss_spacing = \"{spacing}\"");
                let (is, _) = vivace(rate, "\"unlimited\"", &keys, set, seconds);
                let should = libm::pow(0.9 / (11.35 * loss), 10.0);
                eprintln!("{loss} {spacing}{set}: {:.2} Mbit/s sent, {should:.2} by its utility", is / (1.0 - loss));
            }
        }
    }
}

/// CUBIC on 100 Mbit/s and 50 ms over a buffer without an end, for six seconds: the largest queue, and the last one, in bandwidth-delay
/// products; the share of the line that is used.
/// After slow start nothing is lost here, so the growth of Linux until the first loss is left out.
fn start(set: &str) -> [f64; 3] {
    let top = "duration = \"6 s\"\nsample = \"10 ms\"";
    let flows = format!("cc = {{ law = \"cubic\", initial_growth = 0{set} }}\nsender = {{ profile = \"linux\" }}");
    let text = Dumbbell { top, rate: "\"100 Mbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.text();
    let found = run(&text.replace("rtt = \"40 ms\"", "rtt = \"50 ms\""));
    let bdp = 12_500.0 * 0.05;
    let (queue, whose) = (numbers(&found, "links", "queue_packets"), numbers(&found, "links", "link"));
    let of: Vec<f64> = queue.iter().zip(&whose).filter(|(_, link)| **link == 0.0).map(|(q, _)| q / bdp).collect();
    [of.iter().copied().fold(0.0, f64::max), of[of.len() - 1], link(&found, "b").utilization]
}

/// Slow start over a buffer without an end does not end by itself. SEARCH ends it within one and a half of its windows of 3.5 round
/// trips after the line is full: with less than 5.3 bandwidth-delay products in the queue. The drain leaves a queue below one, and
/// the line stays full.
#[test]
fn search_ends_slow_start() {
    let [off, exit, drain, hystart] =
        [", hystart = false", ", search = \"exit\"", ", search = \"drain\"", ", hystart = true"].map(start);
    eprintln!("largest and last queue, use: off {off:?}, exit {exit:?}, drain {drain:?}, HyStart {hystart:?}");
    assert!(off[0] > 40.0, "{off:?}");
    assert!(exit[0] < 5.3 && drain[0] < 5.3, "{exit:?} {drain:?}");
    assert!(drain[1] < 1.0 && drain[2] > 0.9, "{drain:?}");
}
