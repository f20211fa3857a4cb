//! PCC Allegro against what its paper says of it, packet by packet; `docs/validation/today.md` has the figures.

use crate::laboratory::{Dumbbell, flows, group, link, run};

/// Flows of Allegro over 30 ms, on a line with a buffer of a bandwidth-delay product, with a jitter of up to 1 ms: the goodput of each in
/// the second half [Mbit/s]. The jitter is there against phase effects: without it a flow of a small rate loses a third of its packets
/// at a full queue, where that of the large rate loses 2 %.
fn allegro(rate: f64, loss: f64, count: u32, seconds: f64, seed: u32) -> Vec<f64> {
    let top = format!("duration = \"{seconds} s\"\nwarmup = \"{} s\"\nsample = \"1 s\"\nseed = {seed}", seconds / 2.0);
    let speed = format!("\"{rate} Mbit/s\"");
    let keys = format!("loss = {loss}");
    let table = format!(
        "via = [\"b\"]\ncount = {count}\nstart = {{ uniform = [\"0 s\", \"1 s\"] }}\njitter = {{ uniform = [\"0 ms\", \"1 ms\"] }}\n\
         cc = {{ law = \"allegro\" }}\nsender = {{ profile = \"linux\" }}"
    );
    let text = Dumbbell { top: &top, rate: &speed, buffer: "\"1 bdp\"", link: &keys, flows: &table }.text();
    let found = run(&text.replace("rtt = \"40 ms\"", "rtt = \"30 ms\""));
    assert!(link(&found, "b").utilization <= 1.0 && group(&found, "f").throughput_packets_per_s > 0.0);
    flows(&found, "f").iter().map(|flow| flow.goodput_bit_per_s * 1e-6).collect()
}

/// Section 4.1: with random losses of up to 1 % nine tenths of the line and more.
#[test]
fn allegro_fills_a_line_with_random_losses() {
    for (rate, loss) in [(10.0, 0.0), (50.0, 0.0), (200.0, 0.0), (100.0, 0.001), (100.0, 0.01)] {
        let is = allegro(rate, loss, 1, 60.0, 1)[0];
        eprintln!("{rate} Mbit/s, {loss} lost: {is:.1} Mbit/s");
        assert!(is > 0.9 * rate, "{rate} Mbit/s, {loss} lost: {is}");
    }
}

/// The utility of a rate is that rate times a number below zero where more than 7.44 % are lost, so that the least rate is worth most: a
/// tenth of the line is far above it.
#[test]
fn allegro_leaves_a_line_beyond_the_cliff() {
    for loss in [0.08, 0.1, 0.2] {
        let is = allegro(100.0, loss, 1, 60.0, 1)[0];
        eprintln!("{loss} lost: {is:.2} Mbit/s");
        assert!(is < 10.0, "{loss} lost: {is}");
    }
}

/// Theorems 1 and 2: flows of the same loss rate go to the same rate. Jain's index of two is above 0.9 for shares within 2 to 1.
#[test]
fn two_flows_of_allegro_share() {
    for seed in 1..=5 {
        let is = allegro(100.0, 0.0, 2, 200.0, seed);
        eprintln!("seed {seed}: {is:.1?} Mbit/s");
        assert!(is[0] < 2.0 * is[1] && is[1] < 2.0 * is[0], "{seed}: {is:?}");
        assert!(is[0] + is[1] > 90.0, "{seed}: {is:?}");
    }
}
