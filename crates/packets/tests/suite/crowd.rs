//! A hundred thousand flows: that they run, share, and are accounted for. What they cost says
//! `/usr/bin/time -v` in front of `penstock run scenarios/100000-flows.toml`.

use crate::laboratory::{assert_near, group, link, run};

/// The line is full, every flow gets something, and what was sent was delivered, lost or is under way (the engine checks).
#[test]
#[ignore = "a minute: 100,000 flows, ten million packets; run with --release"]
fn a_hundred_thousand_flows_share_a_line() {
    let run = run(include_str!("../../../../scenarios/100000-flows.toml"));
    let (b, f) = (link(&run, "bottleneck"), group(&run, "ftp"));
    println!("{} events, {} packets", run.summary.engine.events, run.summary.engine.packets);
    assert_near(b.utilization, 1.0, 0.01, "the line is full");
    assert_near(f.throughput_packets_per_s, 1.25e6, 0.01, "packets of 1000 B");
    assert!(run.flows.iter().all(|flow| flow.throughput_packets_per_s > 0.0), "nobody starves");
    assert_eq!(run.flows.len(), 100_000);
}
