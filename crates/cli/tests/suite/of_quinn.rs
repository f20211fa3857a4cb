//! quinn's own controllers in the packets world.

use crate::bench::Bench;

/// What a flow gets and what it queues through quinn itself, in simulated time, from 10 to 40 s: docs/validation/quic.md. The same
/// line in the packets world, within the bars of that page: 5 % of the goodput, 20 % of the mean queue.
#[test]
fn the_packets_world_runs_them_as_quinn_does() {
    let bench = Bench::new();
    for (law, mbit_per_s, queue) in [("quinn-newreno", 19.40, 44.7), ("quinn-cubic", 19.45, 59.4)] {
        bench.write(
            "line.toml",
            &format!(
                r#"format = 1
duration = "40 s"
warmup = "10 s"
packet = {{ wire = "1200 B", payload = "1160 B" }}
links.line = {{ from = "l", to = "r", rate = "20 Mbit/s", delay = "0 ms", buffer = "83 packets", duplex = true }}
flows.f = {{ from = "l", to = "r", rtt = "40 ms", cc = {{ law = "{law}" }}, sender = {{ profile = "quic" }} }}
"#
            ),
        );
        let summary = bench.result(&["run", "line.toml", "--json"]);
        let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{summary}"));
        let goodput = number(&summary["groups"]["f"]["goodput_bit_per_s"]) / 1e6;
        let queued = number(&summary["links"]["line"]["queue_mean_packets"]);
        println!("{law}: {goodput:.2} Mbit/s, {queued:.1} packets");
        assert!((goodput / mbit_per_s - 1.0).abs() < 0.05, "{law}: {goodput} Mbit/s");
        assert!((queued / queue - 1.0).abs() < 0.2, "{law}: {queued} packets");
    }
}
