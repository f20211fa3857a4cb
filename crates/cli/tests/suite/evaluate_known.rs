//! Known properties of laws come out of the standard battery, in few of its cells.

use serde_json::Value;

use crate::bench::{Bench, battery};

/// The criteria as `penstock evaluate` prints them for a law.
fn criteria(bench: &Bench, law: &str) -> Vec<Value> {
    let ended = bench.run(&["evaluate", law, "--quick", "--battery", "battery", "--json"]);
    let all: Value = serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{law}: {e}: {}", ended.err));
    all["criteria"].as_array().unwrap().clone()
}

/// The measure of a criterion by that name.
fn measure<'a>(criterion: &'a Value, name: &str) -> &'a Value {
    let measures = criterion["measures"].as_array().unwrap();
    measures.iter().find(|measure| measure["name"] == name).unwrap_or_else(|| panic!("no {name}: {criterion}"))
}

/// The cells of a measure.
fn cells(measure: &Value) -> &[Value] {
    measure["cells"].as_array().unwrap()
}

/// The mean over the seeds of the law, or of a baseline.
fn mean(cell: &Value, who: &str) -> f64 {
    let numbers = if who == "law" { &cell["law"] } else { &cell["baselines"][who] };
    numbers["mean"].as_f64().unwrap_or_else(|| panic!("no mean of {who}: {cell}"))
}

/// The value of the law in the worst cell.
fn worst(measure: &Value) -> f64 {
    mean(&cells(measure)[measure["worst_cell"].as_u64().unwrap() as usize], "law")
}

/// EV-12 with this buffer, beside CUBIC; the same cells in all parts.
fn beside(buffer: &str, mix: &str) -> Bench {
    let bench = Bench::new();
    let few = format!(
        r#"path = "P-dsl", "links.bottleneck.buffer" = "{buffer}", mix = "{mix}", other = "cubic", setting = "together""#
    );
    battery::write(&bench, "EV-12", &[&few, &few, &few, &few.replace("\"together\"", "[\"together\", \"alone\"]")]);
    bench
}

/// Cardwell and others (2016) and Ware and others (2019): one flow of BBRv1 takes a share of a shallow buffer that does not depend on how
/// many flows of CUBIC are there.
#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn bbr_starves_cubic_in_a_shallow_buffer() {
    let criteria = criteria(&beside("0.5 bdp", "1:4"), "bbr");
    assert_eq!(criteria[0]["verdict"], "fails");
    let share = measure(&criteria[0], "share-1-4");
    assert!(share["verdict"] == "fails" && worst(share) > 10.0, "{share}");
}

/// RFC 9743, section 5.1.3: several flows of BBRv1 in less than 1.5 bandwidth-delay products of buffer.
#[test]
fn flows_of_bbr_lose_much_in_a_shallow_buffer() {
    let bench = Bench::new();
    let few = r#"path = "P-dsl", "links.bottleneck.buffer" = "0.25 bdp", "flows.test.count" = "4""#;
    battery::write(&bench, "EV-05", &[few]);
    let criteria = criteria(&bench, "bbr");
    let loss = measure(&criteria[0], "loss");
    assert!(loss["verdict"] == "fails" && worst(loss) > 0.1, "{loss}");
}

/// A law that keeps a fixed number of packets or a delay in the queue has nothing beside one that fills it; the worst cell says so.
#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn laws_of_delay_lose_to_cubic_in_a_deep_buffer() {
    let bench = beside("8 bdp", "1:1");
    for law in ["vegas", "ledbat", "{ law = \"fast\", alpha = \"20 packets\" }"] {
        let criteria = criteria(&bench, law);
        assert_eq!(criteria[0]["verdict"], "fails", "{law}");
        let share = measure(&criteria[0], "share");
        assert!(share["verdict"] == "fails" && worst(share) < 0.1, "{law}: {share}");
    }
}

/// Low, Peterson and Wang (2002) of Vegas, RFC 6817 of LEDBAT: the queue of those before is the path of who comes last.
#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn a_latecomer_of_a_law_of_delay_has_more() {
    let bench = Bench::new();
    battery::write(&bench, "EV-07", &[r#"path = "P-dsl", "links.bottleneck.buffer" = "8 bdp""#]);
    for law in ["vegas", "ledbat", "{ law = \"fast\", alpha = \"20 packets\" }"] {
        let criteria = criteria(&bench, law);
        let cell = &cells(measure(&criteria[0], "latecomer"))[0];
        assert!(mean(cell, "law") > 1.3 && mean(cell, "newreno") < 1.2, "{law}: {cell}");
        assert!(cell["law"]["interval"][0].as_f64().is_none_or(|least| least > 1.0), "{law}: {cell}");
    }
}

/// RFC 9743, section 5.1.2: the standing queue of laws of loss grows with the buffer. That under CoDel stays, in the buffer of EV-21 which
/// is the longer of the two.
#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn a_standing_queue_grows_with_the_buffer_and_not_under_codel() {
    let bench = Bench::new();
    let few = r#"path = "P-dsl", "links.bottleneck.buffer" = ["1 bdp", "8 bdp"], "flows.test.count" = "4""#;
    battery::write(&bench, "EV-04", &[few]);
    let aqm = r#"path = "P-dsl", "flows.test.count" = "4", aqm = "codel""#;
    let beside = r#"path = "P-dsl", other = "cubic", aqm = "codel""#;
    let beside_marks = r#"path = "P-dsl", other = "cubic with ECN", aqm = "codel""#;
    battery::write(&bench, "EV-21", &[aqm, aqm, beside, beside_marks]);
    let criteria = criteria(&bench, "cubic");
    let standing = cells(measure(&criteria[0], "standing-queue"));
    let managed = &cells(measure(&criteria[1], "delay-mean"))[0];
    for who in ["law", "newreno"] {
        let [short, long] = [0, 1].map(|at| mean(&standing[at], who));
        assert!(long > 5.0 * short, "{who}: {standing:?}");
        assert!(mean(managed, who) < short, "{who}: {managed}");
    }
}

/// At every level of RFC 7928, PIE holds the mean delay at its target of 15 ms (RFC 8033, section 1), and CoDel keeps the standing queue
/// below its target of 5 ms (RFC 8289, section 4.3); the delay under drop-tail is that of a full buffer, 100 ms.
#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn pie_and_codel_keep_their_targets_at_every_level_of_congestion() {
    let bench = Bench::new();
    battery::write(&bench, "AQ-11", &[r#"ecn = "off", level = ["Q2, mild", "Q2, medium", "Q2, heavy"]"#]);
    let criteria = criteria(&bench, "pie");
    let (delays, standing) = (measure(&criteria[0], "delay-mean"), measure(&criteria[0], "standing-queue"));
    assert_eq!((cells(delays).len(), cells(standing).len()), (3, 3));
    for cell in cells(delays) {
        let pie = mean(cell, "law");
        assert!((0.012..0.018).contains(&pie) && mean(cell, "droptail") > 0.065, "{cell}");
    }
    for cell in cells(standing) {
        assert!(mean(cell, "codel") < 0.005 && mean(cell, "droptail") > 0.03, "{cell}");
    }
}

/// Without queues of their own, DCTCP responds to a mark with less than CUBIC does.
#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn dctcp_starves_cubic_in_a_shared_classic_queue() {
    let bench = Bench::new();
    let alone = r#"path = "P-dsl", "flows.test.count" = "1", aqm = "codel""#;
    let beside = r#"path = "P-dsl", other = "cubic", aqm = ["codel", "fq-codel"]"#;
    let beside_marks = r#"path = "P-dsl", other = "cubic with ECN", aqm = ["codel", "fq-codel"]"#;
    battery::write(&bench, "EV-21", &[alone, alone, beside, beside_marks]);
    let criteria = criteria(&bench, "dctcp");
    let share = cells(measure(&criteria[0], "share-ecn"));
    assert!(mean(&share[0], "law") > 5.0 && mean(&share[0], "newreno") < 2.0, "{share:?}");
    assert!(mean(&share[1], "law") < 2.0, "{share:?}");
}

/// RFC 9438, section 5.1: rates of NewReno go with 1/R, or with its square where all lose together; those of CUBIC with less.
#[test]
#[ignore = "many seconds of packets: `make nightly` runs it"]
fn cubic_is_fairer_than_newreno_to_long_round_trips() {
    let bench = Bench::new();
    battery::write(&bench, "EV-08", &[r#"near = "10 ms", "links.bottleneck.buffer" = "0.5 bdp""#]);
    let criteria = criteria(&bench, "cubic");
    let ratio = &cells(measure(&criteria[0], "ratio"))[0];
    let [cubic, newreno] = ["law", "newreno"].map(|who| mean(ratio, who));
    // Round trips of 60 ms and 210 ms with the queue.
    assert!((1.0..2.5).contains(&cubic) && (3.0..12.0).contains(&newreno), "{ratio}");
    // CUBIC lies between losses by chance, with 1/4, and losses of all together, with 1.
    let slope = &cells(measure(&criteria[0], "slope"))[0];
    let [cubic, newreno] = ["law", "newreno"].map(|who| mean(slope, who));
    assert!((0.25..1.0).contains(&cubic) && (1.0..2.0).contains(&newreno), "{slope}");
}
