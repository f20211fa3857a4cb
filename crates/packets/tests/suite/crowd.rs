//! A hundred thousand flows: that they run, share, and are accounted for. What they cost says
//! `/usr/bin/time -v` in front of `penstock run scenarios/100000-flows.toml`.

use crate::laboratory::{assert_near, group, link, run};

/// The line is full, and what was sent was delivered, lost or is under way (the engine checks). A flow delivers nothing in the
/// 5 s that are measured only where its timer was backed off (RFC 6298, 5.5). From the smallest timeout of 1 s that takes three
/// losses of the same segment, 1 + 2 + 4 s, or two just before the span. Of packets p are lost, so about p^2 of the flows
/// are silent; three times as many are let pass.
#[test]
#[ignore = "a minute: 100,000 flows, ten million packets; run with --release"]
fn a_hundred_thousand_flows_share_a_line() {
    let run = run(include_str!("../../../../scenarios/100000-flows.toml"));
    let (b, f) = (link(&run, "bottleneck"), group(&run, "ftp"));
    println!("{} events, {} packets", run.summary.engine.events, run.summary.engine.packets);
    assert_near(b.utilization, 1.0, 0.01, "the line is full");
    assert_near(f.throughput_packets_per_s, 1.25e6, 0.01, "packets of 1000 B");
    let silent: Vec<_> = run.flows.iter().filter(|flow| flow.throughput_packets_per_s == 0.0).collect();
    println!(
        "{} silent, loss {}, timeouts {:?}",
        silent.len(),
        f.loss_rate,
        (0..6).map(|n| silent.iter().filter(|f| f.timeouts == n).count()).collect::<Vec<_>>()
    );
    assert!(silent.iter().all(|flow| flow.timeouts >= 2), "a flow is silent only after timeouts");
    assert!(
        (silent.len() as f64) < 3.0 * f.loss_rate * f.loss_rate * 1e5,
        "{} are silent at a loss of {}",
        silent.len(),
        f.loss_rate
    );
    assert_eq!(run.flows.len(), 100_000);
}
