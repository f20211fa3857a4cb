//! Findings of runs: each is there where its cause is, and gone where the cause is.

use penstock_scenario::world::Run;

use crate::laboratory::{Dumbbell, group, link, run};

/// The findings of one kind: subject and text.
fn found(run: &Run, id: &str) -> Vec<(String, String)> {
    let of_kind = run.summary.findings.iter().filter(|finding| finding.id == id);
    of_kind.map(|finding| (finding.subject.clone(), finding.text.clone())).collect()
}

/// 10 Mbit/s and 40 ms are 50 packets: a window of 20 sets the rate, one of 500 does not, nor does one of 20 where the flow
/// does not fill it.
#[test]
fn a_receive_window_that_sets_the_rate_is_found() {
    let with = |window: &str| {
        let flows = format!("cc = {{ law = \"newreno\" }}\nsender = {{ receive_window = {window} }}");
        Dumbbell {
            buffer: "\"50 packets\"",
            top: "duration = \"20 s\"\nwarmup = \"5 s\"",
            flows: &flows,
            ..Dumbbell::PLAIN
        }
        .run()
    };
    let limited = with("20");
    let [(subject, text)] = &found(&limited, "receiver-limited")[..] else { panic!("one finding") };
    assert_eq!(subject, "flows.f.sender.receive_window");
    assert!(text.contains("20 packets in flight") && text.contains("`newreno`"), "{text}");
    assert_eq!(found(&with("500"), "receiver-limited"), []);
    // Losses of one in a hundred keep the window near 12 packets.
    let flows = "cc = { law = \"newreno\" }\nsender = { receive_window = 20 }";
    let lossy = Dumbbell { link: "loss = 0.01", flows, ..Dumbbell::PLAIN }.run();
    assert_eq!(found(&lossy, "receiver-limited"), []);
}

/// A constant source takes most of the faster of two links; and where it takes nothing, the slower one is full.
#[test]
fn a_bottleneck_at_a_faster_link_is_found() {
    let with = |load: &str| {
        let text = format!(
            "format = 1\nduration = \"20 s\"\nwarmup = \"5 s\"\n\
             links.a = {{ from = \"l\", to = \"m\", rate = \"20 Mbit/s\", delay = \"5 ms\", buffer = \"50 packets\" }}\n\
             links.b = {{ from = \"m\", to = \"r\", rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"50 packets\" }}\n\
             flows.f = {{ from = \"l\", to = \"r\", rtt = \"40 ms\", cc = {{ law = \"cubic\" }} }}\n\
             flows.load = {{ from = \"l\", to = \"m\", rtt = \"40 ms\", cc = {{ law = \"cbr\", rate = \"{load}\" }} }}\n"
        );
        run(&text)
    };
    let loaded = with("17 Mbit/s");
    let [(subject, text)] = &found(&loaded, "another-bottleneck")[..] else { panic!("{:?}", loaded.summary.findings) };
    assert_eq!(subject, "links.a");
    assert!(text.contains("links.b, the slowest on the route of flows.f"), "{text}");
    let free = with("1 Mbit/s");
    assert!(link(&free, "b").utilization > 0.95, "{:?}", link(&free, "b"));
    assert_eq!(found(&free, "another-bottleneck"), []);
}

/// Interfaces of 4 Mbit/s: two of them leave a link of 10 Mbit/s without a queue, three fill it.
#[test]
fn interfaces_slower_than_the_link_are_found() {
    let with = |count: u32| {
        let flows = format!("count = {count}\ncc = {{ law = \"newreno\" }}\naccess = {{ rate = \"4 Mbit/s\" }}");
        Dumbbell { buffer: "\"50 packets\"", flows: &flows, ..Dumbbell::PLAIN }.run()
    };
    let two = with(2);
    let [(subject, text)] = &found(&two, "another-bottleneck")[..] else { panic!("one finding") };
    assert_eq!(subject, "flows.f.access");
    assert!(text.contains("8 Mbit/s together") && text.contains("10 Mbit/s"), "{text}");
    assert!(link(&two, "b").queue_mean_packets < 1.0, "{:?}", link(&two, "b"));
    assert_eq!(found(&with(3), "another-bottleneck"), []);
}

/// Without slow start a window of 200 packets, which fills the path, takes 8 s. Measured from the start these count, after a
/// warm-up of 20 s they do not. A second flow in the middle changes things on purpose.
#[test]
fn a_warm_up_that_is_too_short_is_found() {
    let with = |duration: u32, warmup: u32, more: &str| {
        let top = format!("duration = \"{duration} s\"\nwarmup = \"{warmup} s\"");
        let flows = format!("start = \"0 s\"\ncc = {{ law = \"newreno\" }}\nsender = {{ ssthresh = 4 }}\n{more}");
        let buffer = "\"200 packets\"";
        let run = Dumbbell { top: &top, rate: "\"40 Mbit/s\"", buffer, flows: &flows, ..Dumbbell::PLAIN }.run();
        found(&run, "warmup-short")
    };
    let [(subject, text)] = &with(40, 0, "")[..] else { panic!("one finding") };
    assert_eq!(subject, "warmup");
    assert!(text.contains("of flows.f is ") && text.contains("(it is 0 s)"), "{text}");
    assert_eq!(with(80, 20, ""), []);
    let second = "[flows.g]\nfrom = \"l\"\nto = \"r\"\nstart = \"20 s\"\ncc = { law = \"newreno\" }\n";
    assert_eq!(with(40, 0, second), []);
}

/// Four equal flows of Scalable TCP lose packets at the same times, so that their shares never meet. With a jitter of a tenth of
/// the round trip they do, and nothing is found. NewReno halves, and shares equally without any.
#[test]
fn equal_flows_locked_in_phase_are_found() {
    let with = |law: &str, more: &str| {
        let flows = format!("count = 4\nstart = {{ every = \"130 ms\" }}\ncc = {{ law = \"{law}\" }}\n{more}");
        let top = "duration = \"120 s\"\nwarmup = \"20 s\"";
        Dumbbell { top, buffer: "\"10 packets\"", flows: &flows, ..Dumbbell::PLAIN }.run()
    };
    let locked = with("scalable", "");
    let [(subject, text)] = &found(&locked, "locked-in-phase")[..] else { panic!("one finding") };
    assert_eq!(subject, "flows.f");
    assert!(text.contains("Jain's index 0.7") && text.contains("\"4 ms\""), "{text}");
    let free = with("scalable", "jitter = { uniform = [\"0 s\", \"4 ms\"] }");
    assert!(group(&free, "f").jain.is_some_and(|jain| jain > 0.99), "{:?}", group(&free, "f"));
    assert_eq!(found(&free, "locked-in-phase"), []);
    assert_eq!(found(&with("newreno", ""), "locked-in-phase"), []);
}
