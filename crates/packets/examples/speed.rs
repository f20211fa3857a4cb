//! scratch
use indexmap::IndexMap;
use penstock_law::quantity::*;
use penstock_law::{Values, aqm, cc, law};
use penstock_packets::Packets;
use penstock_scenario::model::*;
use penstock_scenario::seed::Seed;
use penstock_scenario::world::World;
fn cc(name: &str, set: &[(&str, f64)]) -> Chosen<cc::Sender> {
    let e = law::find(cc::CONTROLLERS, name).unwrap();
    let mut v = Values::defaults(e.parameters);
    for (k, x) in set {
        v.set(e.parameters.iter().find(|p| p.name == *k).unwrap(), *x).unwrap();
    }
    Chosen { law: e, values: v }
}
fn aqm(name: &str, set: &[(&str, f64)]) -> Chosen<aqm::Queue> {
    let e = law::find(aqm::AQMS, name).unwrap();
    let mut v = Values::defaults(e.parameters);
    for (k, x) in set {
        v.set(e.parameters.iter().find(|p| p.name == *k).unwrap(), *x).unwrap();
    }
    Chosen { law: e, values: v }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let rate: f64 = args[2].parse().unwrap();
    let duration: f64 = args[3].parse().unwrap();
    let warmup = duration - 40.0;
    let (c, a, echo) = match args[1].as_str() {
        "red" => (cc("newreno", &[("ecn", 1.0)]), aqm("red", &[("ecn", 1.0)]), EcnEcho::Classic),
        "redgrow" => {
            (cc("newreno", &[("ecn", 1.0), ("grow_on_echo", 1.0)]), aqm("red", &[("ecn", 1.0)]), EcnEcho::Classic)
        }
        "redplain" => (
            cc("newreno", &[("ecn", 1.0), ("grow_on_echo", 1.0)]),
            aqm("red", &[("ecn", 1.0), ("spare_empty_queue", 0.0)]),
            EcnEcho::Classic,
        ),
        "fast" => (cc("fast", &[("alpha", 50.0)]), aqm("droptail", &[]), EcnEcho::PerPacket),
        "leadlag" => (cc("leadlag", &[("taubar", 0.5)]), aqm("price", &[]), EcnEcho::PerPacket),
        "tail" => (cc("newreno", &[]), aqm("droptail", &[]), EcnEcho::PerPacket),
        _ => panic!(),
    };
    let n: u32 = args.get(4).map_or(100, |s| s.parse().unwrap());
    let arithmetic = if args.get(5).is_some_and(|s| s == "fixed") { Arithmetic::Fixed } else { Arithmetic::Real };
    let buffer = if args[1] == "tail" { Buffer::Packets((rate * 0.04 / 8000.0) as u64) } else { Buffer::Unlimited };
    let half = if args[1] == "tail" { 0.02 } else { 0.05 };
    let link = |f: &str, t: &str, aqm: Chosen<aqm::Queue>| Link {
        from: f.into(),
        to: t.into(),
        rate: Rate(rate as u64),
        delay: Time::from_seconds(half),
        buffer,
        aqm,
        loss: 0.0,
    };
    let mut links = IndexMap::new();
    links.insert("b".to_string(), link("l", "r", a.clone()));
    links.insert("b/back".to_string(), link("r", "l", a));
    let mut groups = IndexMap::new();
    groups.insert(
        "ftp".to_string(),
        Group {
            count: n,
            from: "l".into(),
            to: "r".into(),
            forward: vec!["b".into()],
            backward: if std::env::var_os("IDEAL").is_some() { vec![] } else { vec!["b/back".into()] },
            rtt: Rtt::Each(Time::from_seconds(2.0 * half)),
            cc: c,
            start: Start::Uniform(Time::ZERO, Time::from_seconds(1.0)),
            stop: None,
            size: None,
            series: false,
            sender: SenderOptions {
                initial_window: 2.0,
                initial_ssthresh: f64::INFINITY,
                receive_window: f64::INFINITY,
                min_rto: Time::from_seconds(0.2),
                recovery: Recovery::Sack,
                delayed_ack: 1,
                ecn_echo: echo,
                pacing: Pacing::Law,
                arithmetic,
            },
        },
    );
    let s = Scenario {
        title: "t".into(),
        duration: Time::from_seconds(duration),
        warmup: Time::from_seconds(warmup),
        seed: Seed(1),
        packet: Packet { wire: Bytes(1000), payload: Bytes(960), ack: Bytes(40) },
        sample: Time::from_seconds(0.1),
        links,
        groups,
        windows: IndexMap::new(),
    };
    let start = std::time::Instant::now();
    let run = Packets.run(&s, &mut |_| true).unwrap();
    let wall = start.elapsed().as_secs_f64();
    let l = &run.summary.whole.links[0];
    let g = &run.summary.whole.groups[0];
    println!(
        "{} {rate:e}: util {:.4} queue {:.1} sd {:.1} max {} p99 {} wait {:?} drops {} marks {} jain {:?} w {:?} rtt {:?} to {} rtx {} price {:?}",
        args[1],
        l.utilization,
        l.queue_mean_packets,
        l.queue_sd_packets,
        l.queue_max_packets,
        l.queue_p99_packets,
        l.queueing_delay_mean_s,
        l.drops,
        l.marks,
        g.jain,
        g.window_mean_packets,
        g.rtt_mean_s,
        g.timeouts,
        g.retransmits,
        l.price_mean
    );
    println!(
        "  {:.2} M packets in {wall:.2} s: {:.2} M/s; events/pkt {:.2}",
        run.summary.engine.packets as f64 / 1e6,
        run.summary.engine.packets as f64 / wall / 1e6,
        run.summary.engine.events as f64 / run.summary.engine.packets as f64
    );
}
