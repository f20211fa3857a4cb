//! quinn's own controllers over lines of the laboratory, beside the formulas of their documents and our laws through the adapter.

use std::sync::Arc;
use std::time::Duration;

use penstock_law::Registry;
use penstock_quinn::LawConfig;
use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};

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

/// From the beginning of a connection: how much has arrived after so many round trips, over a line that drops what does not fit; and
/// then the steady state.
#[test]
#[ignore = "takes minutes; make nightly runs it"]
fn ramps_and_rests() {
    for (name, makes) in controllers() {
        let line = Line::new(20e6, Duration::from_millis(40), 83.0);
        for (from, to) in [(0, 1), (1, 2), (10, 40)] {
            let outcome = run(line, &[Arc::clone(&makes)], from, to);
            let flow = outcome.flows[0];
            println!(
                "{name}, {from} to {to} s: {:.2} Mbit/s, {} packets lost, {:.1} queued",
                flow.goodput_bit_per_s / 1e6,
                flow.lost,
                outcome.queue
            );
        }
    }
}
