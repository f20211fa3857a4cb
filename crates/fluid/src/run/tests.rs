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
    let mut network = build(scenario, &Method::default(), 1).unwrap();
    let most = network.begin(count, step);
    let (block, onward) = (most.0.min(in_a_row[0]), most.1.min(in_a_row[1]));
    let mut done = 0;
    while done < count {
        let until = (done + block).min(count);
        network.advance(done, until, onward, step, &mut |_| {});
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

/// A link of a cohort is as much work as a cohort by itself: one flow over one link, a group of eight by eight starts, one over three.
/// There are no more parts than groups, and none of one group.
#[test]
fn parts_have_about_as_much_work_each() {
    let text = r#"
format = 1
duration = "1 s"
defaults.links = { rate = "10 Mbit/s", delay = "1 ms", buffer = "unlimited" }
defaults.flows = { rtt = "50 ms", cc = { law = "newreno" } }
links.a = { from = "a", to = "b" }
links.b = { from = "b", to = "c" }
links.c = { from = "c", to = "d" }
flows.one = { from = "a", to = "b" }
flows.many = { from = "a", to = "b", count = 8, start = { uniform = ["0 s", "1 s"] } }
flows.other = { from = "b", to = "c" }
flows.long = { from = "a", to = "d" }
"#;
    let read = |text: &str| Document::parse(text, "test.toml").and_then(|d| d.cells()).unwrap().remove(0).scenario;
    let scenario = read(text);
    // Work of 2, 16, 2 and 4: half of it is nearer to the end of the second group than to its start.
    assert_eq!(begins(&scenario, 1), [0; 0]);
    assert_eq!(begins(&scenario, 2), [2]);
    assert_eq!(begins(&scenario, 3), [1, 2]);
    assert_eq!(begins(&scenario, 4), [1, 2, 3]);
    let mut last = scenario.clone();
    last.groups.move_index(1, 3);
    assert_eq!(begins(&last, 2), [3]);
    assert_eq!(begins(&last, 4), [1, 2, 3], "each has a group");
    assert_eq!(Fluid::parts(&scenario, 3), Ok(3));
    assert_eq!(Fluid::parts(&scenario, 9), Ok(4));
    assert!(Fluid::parts(&parking_lot(false), 2).is_ok());
    let one = text.lines().filter(|line| !line.starts_with("flows.") || line.starts_with("flows.many"));
    assert!(Fluid::parts(&read(&one.collect::<Vec<_>>().join("\n")), 2).is_err());
}

/// Flows of one group share a law, each with a state of its own: they go as flows of two groups do.
#[test]
fn flows_of_a_group_go_as_those_of_two() {
    let with = |flows: &str| {
        let text = format!(
            r#"
format = 1
duration = "10 s"
links.first = {{ from = "a", to = "b", rate = "10 Mbit/s", delay = "20 ms", buffer = "unlimited" }}
defaults.flows = {{ from = "a", to = "b", start = "0 s", cc = {{ law = "fast", alpha = "20 packets" }} }}
{flows}
"#
        );
        let scenario = Document::parse(&text, "test.toml").and_then(|d| d.cells()).unwrap().remove(0).scenario;
        after(&scenario, 1000, [16, 16]).0
    };
    let one = with(r#"flows.both = { count = 2, rtt = { spread = ["100 ms", "150 ms"] } }"#);
    let two = with("flows.near = { rtt = \"100 ms\" }\nflows.far = { rtt = \"150 ms\" }");
    assert_eq!(one, two);
    assert!(one[0] > 1.1 * one[1] && one[1] > 1.0, "{:?}", &one[..2]);
}
