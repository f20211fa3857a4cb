//! What a line does to packets: bursts of losses, packets that come late, ECN fields that it changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::laboratory::{Dumbbell, assert_near, group, link};
use penstock_scenario::world::{Content, End, Sighting};

const STEADY: &str = "start = \"0 s\"\ncc = { law = \"cbr\", rate = \"8 Mbit/s\" }";

/// Segments of the first flow that were seen at an end, with the time [s].
fn segments(seen: &[Sighting], end: End) -> Vec<(u64, f64)> {
    let of = |s: &Sighting| match s.content {
        Content::Datagram { number: segment, .. } | Content::Data { segment, .. } if s.end == end && s.flow == 0 => {
            Some((segment, s.at.seconds()))
        }
        _ => None,
    };
    seen.iter().filter_map(of).collect()
}

/// 100,000 packets at 2 % in bursts of 5 are 400 bursts. Four standard errors: of their mean length, of variance 5 times 4,
/// 0.9; of the share, 4 sqrt(2 5/2000) = 28 %. A served queue loses as a port does.
#[test]
fn losses_come_in_bursts() {
    for aqm in ["", "aqm = { law = \"codel\" }"] {
        let keys = format!("loss = 0.02\nloss_burst = 5\n{aqm}");
        let (run, seen) =
            Dumbbell { top: "duration = \"100 s\"", link: &keys, flows: STEADY, ..Dumbbell::PLAIN }.watch();
        let got: Vec<u64> = segments(&seen, End::Receiver).into_iter().map(|(segment, _)| segment).collect();
        let bursts: Vec<u64> = got.windows(2).map(|w| w[1] - w[0] - 1).filter(|lost| *lost > 0).collect();
        let lost: u64 = bursts.iter().sum();
        let mean = lost as f64 / bursts.len() as f64;
        assert!((mean - 5.0).abs() < 0.9, "{aqm}: {mean} in {} bursts", bursts.len());
        assert_near(lost as f64 / (got.len() as f64 + lost as f64), 0.02, 0.28, "share");
        assert!((link(&run, "b").drops as f64 - lost as f64).abs() <= 100.0);
    }
}

/// One packet in ten takes 5 ms longer, and all that are sent within these overtake it.
#[test]
fn late_packets_are_overtaken() {
    for aqm in ["", "aqm = { law = \"codel\" }"] {
        let keys = format!("reorder = {{ share = 0.1, by = \"5 ms\" }}\n{aqm}");
        let (_, seen) = Dumbbell { link: &keys, flows: STEADY, ..Dumbbell::PLAIN }.watch();
        let sent = segments(&seen, End::Sender);
        let got = segments(&seen, End::Receiver);
        let took: Vec<f64> = got.iter().map(|(segment, at)| at - sent[*segment as usize].1).collect();
        let least = took.iter().copied().fold(f64::INFINITY, f64::min);
        let late = took.iter().filter(|t| **t > least + 1e-9).count();
        assert!(took.iter().all(|t| (t - least).abs() < 1e-9 || (t - least - 0.005).abs() < 1e-9), "0 or 5 ms");
        // 20,000 packets: the share has a standard deviation of 2 %.
        assert_near(late as f64 / got.len() as f64, 0.1, 0.08, "share");
        // A packet a millisecond: those that are sent in the meantime come first. The order does not fall back where the one
        // just before is late by the same and nothing came between: where both it and the fifth after it are late, 1 %.
        let overtaken = got.windows(2).filter(|w| w[1].0 < w[0].0).count();
        assert_near(overtaken as f64, late as f64 * 0.99, 0.01, "places where the order falls back");
        assert_eq!(got.iter().map(|(segment, _)| segment).collect::<BTreeSet<_>>().len(), got.len(), "each once");
    }
}

/// With three duplicates as the sign of a loss, packets that are late by more than three others are sent again for nothing.
#[test]
fn a_sender_takes_late_packets_for_lost_ones() {
    let sender = "start = \"0 s\"\ncc = { law = \"newreno\" }\nsender = { recovery = \"sack\" }";
    let of = |keys: &str| {
        let run = Dumbbell { buffer: "\"1 bdp\"", link: keys, flows: sender, ..Dumbbell::PLAIN }.run();
        (group(&run, "f").retransmits, link(&run, "b").drops, group(&run, "f").goodput_bit_per_s)
    };
    let (orderly, late) = (of(""), of("reorder = { share = 0.01, by = \"10 ms\" }"));
    assert!(orderly.0 <= orderly.1 + 5, "without: {orderly:?}");
    assert!(late.0 > late.1 + 20, "with: {late:?}");
    assert!(late.2 < 0.9 * orderly.2, "{late:?}, {orderly:?}");
}

/// The field that arrives, by what the line does. RED decides when a packet arrives, CoDel when it departs.
#[test]
fn the_ecn_field_is_what_the_line_leaves() {
    let fields = |sender: &str, aqm: &str, ecn: &str| {
        let keys = format!("aqm = {{ law = \"{aqm}\", ecn = true }}\necn = \"{ecn}\"");
        let (run, seen) = Dumbbell { link: &keys, flows: sender, buffer: "\"100 packets\"", ..Dumbbell::PLAIN }.watch();
        // What is sent again cannot be marked (RFC 3168, section 6.1.5).
        let mut sent = BTreeMap::new();
        for (segment, _) in segments(&seen, End::Sender) {
            *sent.entry(segment).or_insert(0) += 1;
        }
        let once = |s: &&Sighting| match s.content {
            Content::Data { segment, .. } => s.end == End::Receiver && sent[&segment] == 1,
            _ => false,
        };
        let kinds: BTreeSet<String> = seen.iter().filter(once).map(|s| format!("{:?}", s.ecn)).collect();
        (kinds.into_iter().collect::<Vec<_>>().join(" "), link(&run, "b").marks > 0)
    };
    let classic = "start = \"0 s\"\ncc = { law = \"newreno\", ecn = true }";
    for aqm in ["red", "codel"] {
        let of = |ecn| fields(classic, aqm, ecn);
        assert_eq!(of("keep"), ("Ce Ect0".to_owned(), true), "{aqm}");
        assert_eq!(of("bleach"), ("NotEct".to_owned(), true), "{aqm}");
        assert_eq!(of("erase-ce"), ("Ect0".to_owned(), true), "{aqm}");
        assert_eq!(of("ect0"), ("Ce Ect0".to_owned(), true), "{aqm}");
    }
    let scalable = "start = \"0 s\"\ncc = { law = \"dctcp\", l4s = true }";
    let of = |ecn| fields(scalable, "red", ecn);
    assert_eq!(of("keep"), ("Ce Ect1".to_owned(), true));
    assert_eq!(of("bleach"), ("NotEct".to_owned(), true));
    assert_eq!(of("erase-ce"), ("Ect0 Ect1".to_owned(), true), "what was marked comes as ECT(0)");
    assert_eq!(of("ect0"), ("Ce Ect0".to_owned(), true));
}
