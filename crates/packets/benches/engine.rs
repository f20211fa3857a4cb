//! Packets a second of the engine: `cargo bench -p penstock-packets`. Each case simulates a few seconds, start-up included.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use penstock_packets::Packets;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::world::World;

const BASE: &str = r#"
format = 1
duration = "10 s"
packet = "1000 B"
[links.bottleneck]
from = "l"
to = "r"
rate = "622 Mbit/s"
delay = "50 ms"
buffer = "unlimited"
aqm = { law = "red", ecn = true }
[flows.ftp]
count = 100
from = "l"
to = "r"
rtt = "100 ms"
cc = { law = "newreno", ecn = true }
sender = { ecn_echo = "classic" }
"#;

fn scenario(settings: &[(&str, &str)]) -> Scenario {
    let mut document = Document::parse(BASE, "bench.toml").expect("the base reads");
    for (key, value) in settings {
        document.set(key, value).expect("a setting reads");
    }
    document.cells().expect("it resolves").remove(0).scenario
}

fn engine(criterion: &mut Criterion) {
    let red: &[(&str, &str)] = &[];
    let two_way: &[(&str, &str)] = &[("links.bottleneck.duplex", "true")];
    let distinct: &[(&str, &str)] = &[("flows.ftp.rtt", "{ spread = [\"100 ms\", \"199 ms\"] }")];
    let fast: &[(&str, &str)] = &[
        ("links.bottleneck.aqm", "{ law = \"droptail\" }"),
        ("flows.ftp.cc", "{ law = \"fast\", alpha = \"50 packets\" }"),
    ];
    let leadlag: &[(&str, &str)] = &[
        ("links.bottleneck.aqm", "{ law = \"price\" }"),
        ("flows.ftp.cc", "{ law = \"leadlag\", taubar = \"200 ms\" }"),
        ("flows.ftp.sender", "{}"),
    ];
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let cases = [
        ("newreno/red, equal round trips", red),
        ("newreno/red, acknowledgements through a queue", two_way),
        ("newreno/red, distinct round trips", distinct),
        ("fast/droptail, paced", fast),
        ("leadlag/price, paced", leadlag),
    ];
    for (name, settings) in cases {
        let scenario = scenario(settings);
        let run = || Packets.run(&scenario, &mut |_| true).expect("it runs");
        group.throughput(Throughput::Elements(run().summary.engine.packets));
        group.bench_function(name, |b| b.iter(run));
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
