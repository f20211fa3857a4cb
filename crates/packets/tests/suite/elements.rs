//! Elements of a line: bursts of losses, packets that come late, ECN fields that it changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::laboratory::{Dumbbell, assert_near, flows, group, link, run, watch};
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
            Content::Data { segment, .. } => s.end == End::Receiver && s.flow == 0 && sent[&segment] == 1,
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
        // Another group, which never gets to it, sends ECT(1).
        let both = "start = \"0 s\"\ncc = { law = \"newreno\", ecn = true }\n[flows.other]\nfrom = \"l\"\nto = \"r\"\n\
                    rtt = \"40 ms\"\nstart = \"19 s\"\nsize = \"1 kB\"\ncc = { law = \"dctcp\", l4s = true }";
        assert_eq!(fields(both, aqm, "ect0"), ("Ce Ect0".to_owned(), true), "{aqm}");
    }
    let scalable = "start = \"0 s\"\ncc = { law = \"dctcp\", l4s = true }";
    let of = |ecn| fields(scalable, "red", ecn);
    assert_eq!(of("keep"), ("Ce Ect1".to_owned(), true));
    assert_eq!(of("bleach"), ("NotEct".to_owned(), true));
    assert_eq!(of("erase-ce"), ("Ect0 Ect1".to_owned(), true), "what was marked comes as ECT(0)");
    assert_eq!(of("ect0"), ("Ce Ect0".to_owned(), true));
}

/// Of two groups on one line one loses 2 % of its packets, of 100,000 that its constant source sends: a standard error of 2.2 %.
/// The line loses nothing, and the losses take up their place in its queue. Whether the other group is there changes no draw.
#[test]
fn losses_of_a_group_are_its_own() {
    let lossy = "start = \"0 s\"\ncc = { law = \"cbr\", rate = \"8 Mbit/s\" }\nloss = 0.02";
    let other = "\n[flows.other]\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\nstart = \"0 s\"\nsize = \"5 MB\"\n\
                 cc = { law = \"newreno\" }\nsender = { receive_window = 4 }";
    let mut lost = Vec::new();
    for (aqm, flows) in [("", lossy.to_owned()), ("aqm = { law = \"fq-codel\" }", format!("{lossy}{other}"))] {
        let (run, seen) = Dumbbell { top: "duration = \"100 s\"", link: aqm, flows: &flows, ..Dumbbell::PLAIN }.watch();
        assert_near(group(&run, "f").loss_rate, 0.02, 0.09, "share");
        assert_near(
            link(&run, "b").departures as f64,
            link(&run, "b").arrivals as f64,
            1e-4,
            "all of them left the line",
        );
        assert_eq!(link(&run, "b").drops, 0);
        if !aqm.is_empty() {
            assert_eq!((group(&run, "other").loss_rate, group(&run, "other").retransmits), (0.0, 0));
        }
        let got: BTreeSet<u64> = segments(&seen, End::Receiver).into_iter().map(|(segment, _)| segment).collect();
        lost.push((0..90_000).filter(|segment| !got.contains(segment)).collect::<Vec<_>>());
    }
    assert_eq!(lost[0], lost[1]);
    // A law that responds to losses hears of them, and sends again what was lost; SYNs are lost too.
    let sender = "start = \"0 s\"\ncc = { law = \"newreno\" }\nloss = 0.3\nsize = \"200 kB\"\n\
                  sender = { profile = \"linux\" }";
    let run = Dumbbell { top: "duration = \"300 s\"", flows: sender, ..Dumbbell::PLAIN }.run();
    let transfers = group(&run, "f").transfers.as_ref().unwrap();
    assert!(group(&run, "f").retransmits > 60 && transfers.completed == 1, "{:?}", group(&run, "f"));
}

/// Travel time of each segment [s], with its time of sending.
fn trips(seen: &[Sighting]) -> Vec<(f64, f64)> {
    let sent = segments(seen, End::Sender);
    segments(seen, End::Receiver).iter().map(|(n, at)| (sent[*n as usize].1, at - sent[*n as usize].1)).collect()
}

/// A path whose delay goes from 5 to 30 and to 2 ms: packets have the delay in force when they leave, and where it falls they
/// come out together with the last before, not ahead of it. What is private to the flow stays.
#[test]
fn a_delay_that_changes_keeps_the_order() {
    for aqm in ["", "aqm = { law = \"codel\" }"] {
        let plain = Dumbbell { top: "duration = \"4 s\"", link: aqm, flows: STEADY, ..Dumbbell::PLAIN };
        let delay = "delay = [[\"0 s\", \"5 ms\"], [\"1 s\", \"30 ms\"], [\"2 s\", \"2 ms\"], [\"3 s\", \"2 ms\"]]";
        let (_, seen) = watch(&plain.text().replace("delay = \"5 ms\"", delay));
        let got = segments(&seen, End::Receiver);
        let disorder = got.windows(2).find(|w| w[0].0 + 1 != w[1].0 || w[0].1 > w[1].1);
        assert_eq!(disorder, None, "{aqm}: each once, in order");
        let trips = trips(&seen);
        let at_start = trips[0].1;
        assert_near(at_start, 0.0008 + 0.035, 1e-9, "0.8 ms of transmission, 40 ms but 5 ms of the way back");
        for (sent, took) in trips {
            let left = sent + 0.0008;
            let more = if left < 1.0 {
                0.0
            } else if left < 2.0 {
                0.025
            } else {
                // The last that took 30 ms left at 1.9998 s, and no later one comes out before it.
                f64::max(-0.003, 1.9998 + 0.025 - left)
            };
            assert!((took - at_start - more).abs() < 1e-9, "{aqm}: {sent} s: {took}, not {at_start} + {more}");
        }
    }
}

/// A delay that falls below itself at once, on a line that changes the ECN field: the first packets arrive before they could have.
#[test]
fn a_delay_may_fall_at_once_on_any_line() {
    let keys = "ecn = \"bleach\"\naqm = { law = \"red\", ecn = true }";
    let plain = Dumbbell {
        link: keys,
        flows: "start = \"0 s\"\nsize = \"1 MB\"\ncc = { law = \"newreno\", ecn = true }",
        ..Dumbbell::PLAIN
    };
    let run = run(&plain.text().replacen("\"5 ms\"", "[[\"0 s\", \"5 ms\"], [\"1 us\", \"0 s\"]]", 1));
    assert!(flows(&run, "f")[0].completion_s.is_some());
}

/// Steps of equal length are the list of them.
#[test]
fn delays_that_repeat() {
    let run = |delay: &str| {
        let plain = Dumbbell { buffer: "\"1 bdp\"", ..Dumbbell::PLAIN };
        run(&plain.text().replace("\"5 ms\"", delay)).summary
    };
    let every = run("{ every = \"7 s\", steps = [\"5 ms\", \"9 ms\"] }");
    assert_eq!(every, run("[[\"0 s\", \"5 ms\"], [\"7 s\", \"9 ms\"], [\"14 s\", \"5 ms\"]]"));
    assert_ne!(every, run("\"5 ms\""));
}

/// A law that marks when a packet leaves goes by when that was, however long the packet is under way then. All is sent at
/// once, so that the queue is the same whatever the delay.
#[test]
fn marks_go_by_the_departure_however_long_the_line() {
    let marks = |delay: &str| {
        let flows = "start = \"1.5 s\"\ncc = { law = \"dctcp\" }\nsize = \"300 kB\"\nsender = { initial_window = 400 }";
        let price = "aqm = { law = \"price\" }";
        let plain = Dumbbell { link: price, flows, ..Dumbbell::PLAIN };
        let text = plain.text().replace("\"5 ms\"", delay).replace("\"40 ms\"", "\"200 ms\"");
        link(&run(&text), "b").marks
    };
    let long = marks("\"90 ms\"");
    assert!((20..280).contains(&long), "{long}");
    assert_eq!(marks("[[\"0 s\", \"5 ms\"], [\"1 s\", \"90 ms\"]]"), long);
}

/// One packet in ten arrives twice, and nothing else changes for those who are not told: 20,000 packets, a standard deviation of
/// 2 %. A queue behind the line has both.
#[test]
fn some_packets_arrive_twice() {
    for aqm in ["", "aqm = { law = \"codel\" }"] {
        let keys = format!("duplicate = 0.1\n{aqm}");
        let (run, seen) = Dumbbell { link: &keys, flows: STEADY, ..Dumbbell::PLAIN }.watch();
        let mut times = BTreeMap::new();
        let got = segments(&seen, End::Receiver);
        assert!(got.windows(2).all(|w| w[0].0 <= w[1].0), "{aqm}: in order");
        for (segment, at) in got {
            times.entry(segment).or_insert_with(Vec::new).push(at);
        }
        let twice = times.values().filter(|at| at.len() == 2).count();
        assert!(times.values().all(|at| at.len() <= 2 && at[0] == at[at.len() - 1]), "{aqm}: at once, at most twice");
        assert_near(twice as f64 / times.len() as f64, 0.1, 0.08, "share");
        // Counted when they leave the link, 35 ms before they arrive.
        let counted = link(&run, "b").duplicates;
        assert!(counted.abs_diff(twice as u64) < 20, "{aqm}: {counted} and {twice}");
        assert_eq!(link(&run, "b").drops, 0);
    }
}

/// Every sender comes to terms with packets and acknowledgements of which half arrive twice, over two links and with losses:
/// what arrives in order is what was sent, once. (The engine checks that nothing is lost without a trace.)
#[test]
fn transfers_survive_duplicates() {
    for (recovery, more) in [("sack", ""), ("newreno", ""), ("reno", ""), ("sack", ", delayed_ack = 2")] {
        let text = format!(
            "format = 1\nduration = \"60 s\"\n[defaults.links]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nduplex = true\n\
             buffer = \"20 packets\"\nduplicate = 0.5\nloss = 0.01\n[links.b]\nfrom = \"l\"\nto = \"m\"\n[links.\"b/back\"]\n\
             duplicate = 0.5\n[links.c]\nfrom = \"m\"\nto = \"r\"\n[flows.f]\nfrom = \"l\"\nto = \"r\"\ncount = 3\nsize = \"200 kB\"\n\
             cc = {{ law = \"newreno\" }}\nsender = {{ recovery = \"{recovery}\"{more} }}\n"
        );
        let run = run(&text);
        assert!(flows(&run, "f").iter().all(|flow| flow.completion_s.is_some()), "{recovery}{more}");
        let (b, c) = (link(&run, "b"), link(&run, "c"));
        assert!(b.duplicates > 150 && c.arrivals > b.departures, "{recovery}: {b:?} {c:?}");
    }
}

/// When packets arrive [s], of a source that sends one each millisecond, with those that arrive at the same time taken together.
fn groups(seen: &[Sighting]) -> Vec<(f64, Vec<u64>)> {
    let mut groups: Vec<(f64, Vec<u64>)> = Vec::new();
    for (segment, at) in segments(seen, End::Receiver) {
        match groups.last_mut() {
            Some((before, group)) if at - *before < 1e-12 => group.push(segment),
            _ => groups.push((at, vec![segment])),
        }
    }
    groups
}

/// A packet leaves the link each millisecond, the first at 0.8 ms, and is 35 ms from its receiver. Those that leave in the 4.5
/// ms after the first go together then: five of them. Where three are enough they go as the third leaves.
#[test]
fn packets_go_together() {
    for aqm in ["", "aqm = { law = \"codel\" }"] {
        for (limit, size, first) in [("", 5, 0.0053), (", packets = 3", 3, 0.0028)] {
            let keys = format!("aggregation = {{ time = \"4.5 ms\"{limit} }}\n{aqm}");
            let dumbbell = Dumbbell { top: "duration = \"2 s\"", link: &keys, flows: STEADY, ..Dumbbell::PLAIN };
            let groups = groups(&dumbbell.watch().1);
            assert!(groups.len() > 300, "{} groups", groups.len());
            for (n, (at, group)) in groups.iter().enumerate() {
                assert_near(*at, first + 0.035 + n as f64 * f64::from(size) * 1e-3, 1e-9, "a group arrives");
                let all: Vec<u64> = (0..size as u64).map(|m| n as u64 * size as u64 + m).collect();
                assert_eq!(*group, all, "{aqm}{limit}");
            }
        }
    }
}

/// They go at 100 Mbit/s, 80 us apart, and keep their order where the delay falls under them.
#[test]
fn packets_that_go_together_go_at_a_rate() {
    let keys = "aggregation = { time = \"4.5 ms\", rate = \"100 Mbit/s\" }";
    let plain = Dumbbell { top: "duration = \"2 s\"", link: keys, flows: STEADY, ..Dumbbell::PLAIN };
    let delay = "[[\"0 s\", \"5 ms\"], [\"1 s\", \"1 ms\"]]";
    let got = segments(&watch(&plain.text().replacen("\"5 ms\"", delay, 1)).1, End::Receiver);
    for (n, (segment, at)) in got.iter().enumerate() {
        let (group, place) = (n as f64 / 5.0, (n % 5) as f64);
        assert_eq!(*segment, n as u64);
        let out = 0.0053 + group.floor() * 0.005 + (place + 1.0) * 80e-6;
        let delay = if out < 1.0 { 0.035 } else { 0.031 };
        assert_near(*at, out + delay, 1e-9, "one of a group");
    }
}

/// A window of packets fills the line all the same; what waits at the end is not lost, for the engine checks that.
#[test]
fn aggregation_under_a_window_loses_nothing() {
    let of = |link: &str| {
        let run = Dumbbell { buffer: "\"1 bdp\"", link, ..Dumbbell::PLAIN }.run();
        group(&run, "f").goodput_bit_per_s
    };
    let (plain, together) = (of(""), of("aggregation = { time = \"10 ms\", packets = 8 }\nduplicate = 0.001"));
    assert!(together > 0.9 * plain && together != plain, "{plain} {together}");
}

/// 8 Mbit/s meet a policer of 2 Mbit/s and 50 kB: the bucket lasts for 50 kB at the 0.75 MB/s by which it is emptied, 66.7 packets
/// of the first 100, and then one packet in four passes. There is no queue: what passes waits for nothing.
#[test]
fn a_policer_drops_what_does_not_conform() {
    for aqm in ["", "aqm = { law = \"red\" }", "scheduler = { law = \"drr\" }"] {
        let keys = format!("policer = {{ rate = \"2 Mbit/s\", burst = \"50 kB\" }}\n{aqm}");
        let (run, seen) = Dumbbell { link: &keys, flows: STEADY, ..Dumbbell::PLAIN }.watch();
        let got: Vec<u64> = segments(&seen, End::Receiver).iter().map(|(n, _)| *n).collect();
        let whole = got.iter().zip(0..).take_while(|(n, m)| *n == m).count();
        assert_eq!(whole, 66, "{aqm}: n packets at n - 1 ms need n - (n - 1)/4 of 50 tokens");
        let late: Vec<u64> = got.iter().copied().filter(|n| *n > 100).collect();
        assert!(late.windows(2).all(|w| w[1] - w[0] == 4), "{aqm}: one in four");
        let b = link(&run, "b");
        assert_eq!((b.arrivals, b.queue_max_packets), (20_001, 0.0));
        assert!((b.arrivals - b.drops).abs_diff(b.departures) <= 1, "{b:?}");
    }
}

/// A bucket that nobody empties changes nothing for the flows, to the bit: a queue that holds its packets, as every queue behind
/// a policer does, has the same departures as one that does not.
#[test]
fn a_policer_that_all_conform_to_changes_nothing() {
    for aqm in ["droptail", "codel"] {
        let of = |policer: &str| {
            let keys = format!("aqm = {{ law = \"{aqm}\" }}\n{policer}");
            Dumbbell { buffer: "\"1 bdp\"", link: &keys, ..Dumbbell::PLAIN }.run().summary.whole.groups
        };
        assert_eq!(of("policer = { rate = \"1 Gbit/s\", burst = \"1 GB\" }"), of(""), "{aqm}");
    }
}
