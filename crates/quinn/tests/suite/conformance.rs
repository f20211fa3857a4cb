//! quinn's own controllers over lines of the laboratory, beside the formulas of their documents and our laws through the adapter.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use penstock_law::Registry;
use penstock_quinn::LawConfig;
use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};

use crate::laboratory::watch::{Plan, watch};
use crate::laboratory::{Line, Makes, PACKET, makes, run};

pub(crate) fn controllers() -> Vec<(&'static str, Makes)> {
    let ours = |name| makes(LawConfig::new(&Registry::standard(), name).unwrap().build().unwrap());
    vec![
        ("quinn's NewReno", Arc::new(NewRenoConfig::default())),
        ("newreno", ours("newreno")),
        ("quinn's CUBIC", Arc::new(CubicConfig::default())),
        ("cubic", ours("cubic")),
        ("quinn's BBR", Arc::new(BbrConfig::default())),
        ("bbr", ours("bbr")),
        ("bbr3", ours("bbr3")),
    ]
}

/// The steady rate of NewReno with one loss in 1/p [packets a round trip]: a window that swings between W and W/2 sends 3/8 W^2
/// packets from one loss to the next (RFC 5681; Mathis et al. 1997).
fn sawtooth(p: f64) -> f64 {
    (1.5 / p).sqrt()
}

/// RFC 9438, section 5.1, equation 5, and NewReno's where that is more.
fn of_cubic(p: f64, rtt_s: f64) -> f64 {
    (1.054 * libm::pow(rtt_s / p, 0.75)).max(sawtooth(p))
}

/// A line that never fills, and loses one packet of 1000, where CUBIC is in Reno's region, or one of 10,000, where it is not: packets
/// a round trip.
#[test]
#[ignore = "takes minutes; make nightly runs it"]
fn response_functions() {
    let rtt = Duration::from_millis(100);
    let rtt_s = rtt.as_secs_f64();
    for (lost_of, rate, to) in [(1000_u32, 20e6, 120), (10_000, 100e6, 420)] {
        let p = 1.0 / f64::from(lost_of);
        println!("one of {lost_of}: NewReno's function {:.1}, CUBIC's {:.1}", sawtooth(p), of_cubic(p, rtt_s));
        // BBR goes on to the line's rate, and has no function of the losses.
        for (name, makes) in controllers().into_iter().filter(|(name, _)| !name.to_lowercase().contains("bbr")) {
            let line = Line { lost_of: Some(lost_of.into()), ..Line::new(rate, rtt, 1000.0) };
            let rate = run(line, &[makes], 20, to).flows[0].goodput_bit_per_s;
            let packets = rate / 8.0 / (PACKET - 38.0) * rtt_s / (1.0 - p);
            println!("{name}: {packets:.1} packets a round trip");
            match name {
                "newreno" => assert!((packets / sawtooth(p) - 1.0).abs() < 0.15, "{packets}"),
                "cubic" => assert!((packets / of_cubic(p, rtt_s) - 1.0).abs() < 0.15, "{packets}"),
                _ => {}
            }
        }
    }
}

/// From the beginning of a connection the window doubles each round trip: slow start grows by what is acknowledged (RFC 9002, section
/// 7.3.1; RFC 9438, section 4.10), and Startup of BBR sends so that its rate doubles. The line never fills, so nothing ends it. quinn's
/// BBR does not: its window is that of the line after one round trip.
///
/// quinn spaces packets at 1.25 windows a round trip. A window whose growth is 1.25 times what it was a round trip ago grows by 1.93 a
/// round trip: x with x = 1.25 exp(-x) is 0.66, and exp(0.66) is 1.93. The receiver waits for a second packet, and a round trip is
/// measured between two milliseconds: a twentieth less. So the growth is from 1.83 to 2.
#[test]
fn slow_start_doubles() {
    for (name, makes) in controllers() {
        // It holds 8333 packets.
        let line = Line::new(1e9, Duration::from_millis(100), 1e6);
        let watched = watch(line, makes, Plan { lasts: 800, ..Plan::default() });
        let at = |ms: usize| watched.windows[ms];
        if name == "quinn's BBR" {
            // A deviation: a rate sample is the rate between two acknowledgements, and packets of one burst come at the line's rate.
            println!("{name}: {:.0} packets, a round trip later {:.0}", at(190), at(290));
            assert!(at(290) > 10.0 * at(190), "{} {}", at(190), at(290));
            continue;
        }
        let growth = libm::pow(at(800) / at(300), 0.2);
        println!("{name}: {:.0} packets, {:.0} packets, {growth:.3} a round trip", at(300), at(800));
        assert!((1.83..=2.0).contains(&growth), "{name}: {growth}");
    }
}

/// Goodput [Mbit/s], packets lost and mean queue [packets], from one second to another.
fn found(makes: &Makes, (from, to): (u64, u64)) -> (f64, f64, f64) {
    let outcome = run(Line::new(20e6, Duration::from_millis(40), BUFFER), &[Arc::clone(makes)], from, to);
    let flow = outcome.flows[0];
    (flow.goodput_bit_per_s / 1e6, flow.lost as f64, outcome.queue)
}

/// One bandwidth-delay product [packets].
const BUFFER: f64 = 83.0;

/// From the beginning of a connection: how much has arrived after so many round trips, over a line that drops what does not fit; and
/// then the steady state.
///
/// quinn's NewReno and ours are one algorithm, so that a per cent is for the packets that lie across the ends of a time. The window swings
/// from one bandwidth-delay product to two: the mean queue is half of the buffer, and a tenth more with the packets beyond it. quinn's
/// CUBIC has other curves: a tenth of the queue. It has no HyStart++, so that ours without it loses as many packets in slow start.
/// quinn's BBR has a window of two bandwidth-delay products and no rate, so the buffer stays full. Ours keep to a rate.
#[test]
#[ignore = "takes minutes; make nightly runs it"]
fn ramps_and_rests() {
    let without = LawConfig::new(&Registry::standard(), "cubic").unwrap().set("hystart", 0.0).unwrap();
    let without = ("cubic without HyStart++", makes(without.build().unwrap()));
    let of = |times| {
        let rows = controllers().into_iter().chain([without.clone()]).map(|(name, makes)| {
            let found = found(&makes, times);
            println!("{name}, {times:?} s: {:.2} Mbit/s, {} packets lost, {:.1} queued", found.0, found.1, found.2);
            (name, found)
        });
        rows.collect::<HashMap<_, _>>()
    };
    let near = |one: f64, other: f64, share: f64| (one / other - 1.0).abs() <= share;
    let [first, second, rest] = [(0, 1), (1, 2), (10, 40)].map(of);
    let pairs = [("quinn's NewReno", "newreno"), ("quinn's CUBIC", "cubic"), ("quinn's CUBIC", without.0)];
    for (quinn, ours) in pairs {
        for times in [&first, &second, &rest] {
            assert!(near(times[quinn].0, times[ours].0, 0.01), "{quinn}, {ours}: {times:?}");
        }
        assert!(near(rest[quinn].2, rest[ours].2, 0.1), "{quinn}, {ours}: {rest:?}");
        let same = near(first[quinn].1, first[ours].1, 0.02);
        assert_eq!(same, ours != "cubic", "{quinn}, {ours}: {first:?}");
    }
    assert!(first["cubic"].1 < first["quinn's CUBIC"].1, "{first:?}");
    for reno in ["quinn's NewReno", "newreno"] {
        assert!((0.5..=0.6).contains(&(rest[reno].2 / BUFFER)), "{rest:?}");
    }
    assert!(rest["quinn's BBR"].2 > 0.9 * BUFFER && rest["quinn's BBR"].1 > 100.0, "{rest:?}");
    for ours in ["bbr", "bbr3"] {
        assert!(rest[ours].2 < 0.5 * BUFFER && rest[ours].1 == 0.0, "{rest:?}");
    }
}
