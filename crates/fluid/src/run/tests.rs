//! Steps in a row, and one by one.

use penstock_scenario::read::Document;

use super::*;

/// Three links of 20 ms in a row, one flow over all of them and one over each; steps of 5 ms. The second link drops where
/// `dropping` says so.
fn parking_lot(dropping: bool) -> Scenario {
    let text = r#"
format = 1
duration = "10 s"
defaults.links = { rate = "10 Mbit/s", delay = "20 ms", buffer = "unlimited" }
defaults.flows = { rtt = "100 ms", start = "0 s", cc = { law = "fast", alpha = "20 packets" } }
links.first = { from = "a", to = "b" }
links.second = { from = "b", to = "c", buffer = "BUFFER" }
links.third = { from = "c", to = "d" }
flows.at_first = { from = "a", to = "b" }
flows.at_second = { from = "b", to = "c" }
flows.at_third = { from = "c", to = "d" }
flows.long = { from = "a", to = "d", rtt = "140 ms" }
"#;
    let text = text.replace("BUFFER", if dropping { "20 packets" } else { "unlimited" });
    Document::parse(&text, "test.toml").and_then(|d| d.cells()).unwrap().remove(0).scenario
}

/// Packets sent and waiting after so many steps, of which senders and arrivals take no more in a row than that; and how many of
/// each could be.
fn after(scenario: &Scenario, count: u64, in_a_row: [u64; 2]) -> (Vec<f64>, [u64; 2]) {
    let step = 0.005;
    let mut network = build(scenario, &Method::default()).unwrap();
    let most = network.begin(count, step);
    let (block, onward) = (most.0.min(in_a_row[0]), most.1.min(in_a_row[1]));
    let mut done = 0;
    while done < count {
        let until = (done + block).min(count);
        network.advance(done, until, onward, step);
        done = until;
    }
    let sent = network.cohorts.iter().map(|cohort| cohort.total.sent);
    let waiting = network.queues.iter().flat_map(|queue| queue.waiting.iter().copied());
    (sent.chain(waiting).collect(), [most.0, most.1])
}

/// A link of 20 ms delays what it is about to pass on by four steps: so many arrivals behind it are known before its queue is.
/// Where it drops, its losses of that moment are among them, and each step is one of its own.
#[test]
fn arrivals_in_a_row_are_those_one_by_one() {
    let scenario = parking_lot(false);
    let (row, most) = after(&scenario, 1000, [16, 16]);
    let (one, _) = after(&scenario, 1000, [16, 1]);
    assert_eq!(most, [16, 4]);
    assert!(row.iter().any(|x| *x > 1.0), "queues stand");
    for (row, one) in row.iter().zip(&one) {
        assert!((row - one).abs() <= 1e-9 * (one.abs() + 1.0), "{row}, not {one}");
    }
    assert_eq!(after(&parking_lot(true), 1, [16, 16]).1[1], 1);
}

/// The way back lasts for twenty steps, so the signals that come back within sixteen were decided before them. A sender that takes
/// sixteen in a row, its signals looked up at once, goes as one that takes each by itself. Queues drop or not.
#[test]
fn senders_in_a_row_go_as_one_by_one() {
    for dropping in [false, true] {
        let scenario = parking_lot(dropping);
        let (row, most) = after(&scenario, 1000, [16, 1]);
        let (one, _) = after(&scenario, 1000, [1, 1]);
        assert_eq!(most[0], 16);
        for (row, one) in row.iter().zip(&one) {
            assert!((row - one).abs() <= 1e-9 * (one.abs() + 1.0), "{row}, not {one}");
        }
    }
}

/// Flows of one law, of the same parameters and settings, have one host, whatever their paths; each that differs in one of them has a
/// host of its own, and its own result.
#[test]
fn equal_senders_have_one_host() {
    let with = |of_second: &str| {
        let text = format!(
            r#"
format = 1
duration = "10 s"
defaults.links = {{ rate = "10 Mbit/s", delay = "20 ms", buffer = "unlimited" }}
links.first = {{ from = "a", to = "b" }}
links.second = {{ from = "c", to = "d" }}
flows.first = {{ from = "a", to = "b", rtt = "100 ms", start = "0 s", cc = {{ law = "fast", alpha = "20 packets" }} }}
flows.second = {{ from = "c", to = "d", start = "0 s", {of_second} }}
"#
        );
        let scenario = Document::parse(&text, "test.toml").and_then(|d| d.cells()).unwrap().remove(0).scenario;
        let (sent, _) = after(&scenario, 1000, [16, 16]);
        (build(&scenario, &Method::default()).unwrap().hosts.len(), sent[..2].to_vec())
    };
    let (hosts, sent) = with(r#"rtt = "100 ms", cc = { law = "fast", alpha = "20 packets" }"#);
    assert_eq!((hosts, sent[0]), (1, sent[1]));
    assert_eq!(with(r#"rtt = "150 ms", cc = { law = "fast", alpha = "20 packets" }"#).0, 1);
    for other in [
        r#"rtt = "100 ms", cc = { law = "fast", alpha = "30 packets" }"#,
        r#"rtt = "100 ms", cc = { law = "newreno" }"#,
        r#"rtt = "100 ms", cc = { law = "fast", alpha = "20 packets" }, sender = { receive_window = 10 }"#,
        r#"rtt = "100 ms", cc = { law = "fast", alpha = "20 packets" }, sender = { initial_window = 10 }"#,
        r#"rtt = "100 ms", cc = { law = "fast", alpha = "20 packets" }, sender = { pacing = "off" }"#,
    ] {
        let (hosts, sent) = with(other);
        assert_eq!(hosts, 2, "{other}");
        assert!(sent[0] != sent[1], "{other}: {sent:?}");
    }
}
