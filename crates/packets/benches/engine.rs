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
    let distinct_both_ways: &[(&str, &str)] = &[
        ("duration", "3 s"),
        (
            "links.bottleneck",
            "{ from = \"l\", to = \"r\", rate = \"2 Gbit/s\", delay = \"20 ms\", buffer = \"unlimited\", duplex = true }",
        ),
        (
            "flows.ftp",
            "{ count = 256, from = \"l\", to = \"r\", rtt = { spread = [\"50 ms\", \"150 ms\"] }, cc = { law = \"fast\", alpha = \"50 packets\" } }",
        ),
        (
            "flows.back",
            "{ count = 256, from = \"r\", to = \"l\", rtt = { spread = [\"50.2 ms\", \"150.2 ms\"] }, cc = { law = \"fast\", alpha = \"50 packets\" } }",
        ),
    ];
    let spread = "{ spread = [\"50 ms\", \"250 ms\"] }";
    let ten_thousand: &[(&str, &str)] = &[
        ("duration", "5 s"),
        ("sample", "1 s"),
        ("links.bottleneck.rate", "2.4 Gbit/s"),
        ("links.bottleneck.delay", "20 ms"),
        ("flows.ftp.count", "10000"),
        ("flows.ftp.rtt", spread),
    ];
    let hundred_thousand: &[(&str, &str)] = &[
        ("duration", "3 s"),
        ("sample", "1 s"),
        ("links.bottleneck.rate", "10 Gbit/s"),
        ("links.bottleneck.delay", "20 ms"),
        ("links.bottleneck.buffer", "1 bdp"),
        ("links.bottleneck.aqm", "{ law = \"droptail\" }"),
        ("flows.ftp.count", "100000"),
        ("flows.ftp.rtt", spread),
        ("flows.ftp.cc", "{ law = \"newreno\" }"),
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
        ("512 flows both ways, paced, distinct round trips", distinct_both_ways),
        ("10,000 flows, distinct round trips", ten_thousand),
        ("100,000 flows at 10 Gbit/s", hundred_thousand),
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
