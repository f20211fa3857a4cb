//! Programs that hear of deliveries: against their law, on paths, and refused.

use serde_json::Value;

use crate::bench::{self, Ended};
use crate::brisk::LIKE;
use crate::optional::{self, available};
use crate::traffic::over_a_path;
use crate::{LINE, Own};

/// Every field of a delivery is in the numbers of the law: one that is taken for another is noticed.
pub(super) fn a_replay_holds_deliveries_against_their_law() {
    let ended = Own::hearing(&[]).run(&["linux", "replay"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let row = ended.out.lines().find(|line| line.starts_with("brisk")).unwrap();
    assert!(row.contains("65536") && row.contains("equal"), "{row}");
    let ended = Own::hearing(&["SLIP"]).run(&["linux", "replay"]);
    assert_eq!(ended.status, 3, "{}", ended.err);
    assert!(ended.err.contains("`brisk`: step ") && ended.err.contains("Delivery { event: Ack("), "{}", ended.err);
    assert!(ended.err.contains("window of its output is "), "{}", ended.err);
}

/// A law that uses what the host does not provide is refused, and one whose program does not hear what it requires.
pub(super) fn what_no_acknowledgement_has_is_refused() {
    let own = Own::hearing(&[]);
    let refused = |own: &Own, like: &str, said: &str| {
        let before = available();
        let attach = ["linux", "attach", "brisk", "--pins", own.pins.to_str().unwrap()];
        let ended = Ended::of(&own.command(&attach).env(LIKE, like).output().unwrap());
        assert_eq!(ended.status, 2, "{like}: {}", ended.err);
        assert!(ended.err.contains(said), "no `{said}` in {}", ended.err);
        assert_eq!((ended.err.lines().count(), available(), own.pins.exists()), (1, before, false), "{}", ended.err);
    };
    for (like, said) in [
        (
            "recovery",
            "it uses events of `on_detail` other than acknowledgements, which cc/controller.h does not provide",
        ),
        ("limited", "what limits its window (`window_limited`)"),
        ("random", "random draws (`uniform`)"),
        ("then-lost", "losses before a packet was sent (`then.lost`)"),
        ("then-in-flight", "packets in flight when a packet was sent (`then.in_flight`)"),
        ("timed", "a timer or a send quantum (`timing`)"),
        ("deaf", "it defines LAW_DELIVERY, and the law requires no deliveries"),
    ] {
        refused(&own, like, said);
    }
    refused(&Own::hearing(&["DEAF"]), "", "it does not define LAW_DELIVERY, and the law requires deliveries");
}

/// Lines of a trace of the sender's end: time [s], packets delivered, window [packets], base round trip [s].
fn lines(trace: &str) -> Vec<[f64; 4]> {
    let fields = trace.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let sent = fields.filter(|fields| fields[2] == "5000");
    sent.map(|of| [of[0], of[3], of[7], of[9]].map(|text| text.parse().unwrap()))
        .map(|[us, delivered, window, base]: [f64; 4]| [us * 1e-6, delivered, window, base])
        .collect()
}

/// On a full path the delivery rate is the link's, 20 Mbit/s of packets of 1500 B, and the slope of what was delivered.
pub(super) fn the_delivery_rate_is_the_paths() {
    optional::timed(|late| {
        let own = Own::hearing(&[]);
        own.well(&["attach", "brisk", "--trace"]);
        let (trace, summary) = over_a_path(&own, LINE);
        late.replace(bench::late(&summary["path"]));
        let lines = lines(&trace);
        // After a second the queue stands.
        let full: Vec<_> = lines.iter().filter(|line| line[0] > lines[0][0] + 1.0).collect();
        assert!(full.len() > 500, "{} lines", full.len());
        let mut rates: Vec<f64> = full.iter().map(|[_, _, window, base]| (window - 20.0) / base).collect();
        rates.sort_by(f64::total_cmp);
        let [low, median, high] = [10, 50, 90].map(|percent| rates[rates.len() * percent / 100]);
        let (first, last) = (full[0], full[full.len() - 1]);
        let slope = (last[1] - first[1]) / (last[0] - first[0]);
        let link = 20e6 / (8.0 * 1500.0);
        for known in [link, slope] {
            assert!((median / known - 1.0).abs() < 0.02, "{median}, link {link}, slope {slope}");
        }
        assert!(low > 0.9 * link && high < 1.1 * link, "from {low} to {high}, link {link}");
    });
}

/// The law hears of every packet that is delivered or lost, once, in recoveries too: the window keeps its value on a path that loses
/// packets.
pub(super) fn every_packet_comes_with_an_acknowledgement() {
    let own = Own::hearing(&[]);
    let set = ["law.alpha=40 packets", "law.track=0", "law.missed=1"];
    let attach = ["attach", "brisk", "--trace"].into_iter().chain(set.into_iter().flat_map(|set| ["--set", set]));
    own.well(&attach.collect::<Vec<_>>());
    let (trace, summary) = over_a_path(&own, &LINE.replace("duplex", "loss = 0.01\nduplex"));
    let status: Value = serde_json::from_str(&own.well(&["status", "--json"])).unwrap();
    let (drops, recoveries) = (&summary["links"]["bottleneck"]["drops"], &status[0]["figures"]["congestion_events"]);
    assert!(drops.as_f64() > Some(15.0) && recoveries.as_f64() > Some(5.0), "{drops} and {recoveries}");
    let lines = lines(&trace);
    assert!(lines.len() > 1000, "{} lines", lines.len());
    // The SYN was delivered before the law was there.
    let first = lines[0][2];
    assert!([40.0, 41.0].contains(&first), "{first}");
    let other = lines.iter().find(|line| line[2] != first);
    assert_eq!(other, None, "{first} packets at first");
}
