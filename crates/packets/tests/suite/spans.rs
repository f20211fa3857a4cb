//! Numbers of a span of a run: shares are shares, whatever its ends cut through.

use crate::laboratory::{Dumbbell, assert_near, group, link};

/// A source of 2 Mbit/s over a line of 1 Mbit/s that is 500 ms away. It falls silent after a second, and its last packets
/// reach the queue, and are lost there, in a span in which next to nothing is sent. Of what comes to an end in it half is
/// lost, and never more than all.
#[test]
fn the_loss_rate_of_a_span_is_a_share_even_where_nothing_is_sent() {
    let text = r#"
format = 1
duration = "4 s"
packet = "1000 B"
[windows]
after = ["0.996 s", "4 s"]
silent = ["2.5 s", "4 s"]
[links.far]
from = "l"
to = "m"
rate = "1 Gbit/s"
delay = "500 ms"
buffer = "unlimited"
[links.narrow]
from = "m"
to = "r"
rate = "1 Mbit/s"
delay = "1 ms"
buffer = "2 packets"
[flows.f]
from = "l"
to = "r"
start = "0 s"
stop = "1 s"
cc = { law = "cbr", rate = "2 Mbit/s" }
"#;
    let run = crate::laboratory::run(text);
    let after = &run.summary.windows["after"];
    assert_near(after.groups["f"].loss_rate, 0.5, 0.05, "half of what ends there is lost");
    assert_near(after.flows[0].loss_rate, 0.5, 0.05, "and so of the flow");
    let drops = after.links["narrow"].drops as f64;
    let delivered = after.groups["f"].throughput_packets_per_s * after.measured_s;
    assert_near(after.groups["f"].loss_rate, drops / (drops + delivered), 1e-9, "lost over lost and delivered");
    assert!(run.summary.windows["silent"].groups["f"].loss_rate.abs() < f64::EPSILON, "nothing ends, nothing is lost");
}

/// The smallest round trip of a span is the span's own: behind a window of 100 packets and a line that is always busy each
/// takes 100 transmissions, however short it was before the queue stood.
#[test]
fn the_smallest_round_trip_of_a_span_is_its_own() {
    let top = "duration = \"10 s\"\n[windows]\nfirst = [\"0 s\", \"1 s\"]\nlate = [\"5 s\", \"10 s\"]";
    let flows = "start = \"0 s\"\ncc = { law = \"newreno\" }\nsender = { receive_window = 100 }";
    let run = Dumbbell { top, flows, ..Dumbbell::PLAIN }.run();
    let least = |window: &str| run.summary.windows[window].flows[0].rtt_min_s.unwrap();
    assert_near(least("first"), 0.040 + 0.8e-3, 0.01, "the way and a transmission");
    assert_near(least("late"), 100.0 * 0.8e-3, 0.01, "a window of transmissions");
}

/// A packet counts where it leaves, so a full line may have up to one packet more than its rate allows: what began before
/// the span and ended in it.
#[test]
fn a_short_span_has_at_most_one_packet_more_than_the_line_can_carry() {
    let top = "duration = \"5 s\"\n[windows]\nshort = [\"4 s\", \"4.0047 s\"]\nlong = [\"3 s\", \"5 s\"]";
    let run = Dumbbell { top, flows: "cc = { law = \"cbr\", rate = \"20 Mbit/s\" }", ..Dumbbell::PLAIN }.run();
    let used = |window: &str| run.summary.windows[window].links["b"].utilization;
    // 0.8 ms a packet: 5.875 of them fit into the short one.
    assert!(used("short") <= 1.0 + 1.0 / 5.875 && used("short") > 1.0 - 1.0 / 5.875, "{}", used("short"));
    assert_near(used("long"), 1.0, 1.0 / 2500.0, "a packet in 2500");
    assert!(link(&run, "b").utilization <= 1.0 + 1.0 / 6250.0);
}

/// Laws leave two packets at the least, so a congestion event at a window below that leaves more than there was: what
/// events leave is a ratio, and below one only where windows are large.
#[test]
fn what_a_congestion_event_leaves_is_a_ratio_to_the_window_before() {
    let left = |queue: &str, rate: &str| {
        let flows = "count = 4\ncc = { law = \"newreno\" }\nsender = { min_rto = \"1 s\" }";
        let run = Dumbbell { top: "duration = \"60 s\"", rate, buffer: queue, flows, ..Dumbbell::PLAIN }.run();
        group(&run, "f").window_left_by_cuts.expect("there were events")
    };
    assert_near(left("\"200 packets\"", "\"50 Mbit/s\""), 0.5, 0.01, "a half of a large window");
    let small = left("\"3 packets\"", "\"200 kbit/s\"");
    assert!((0.5..=2.0).contains(&small) && small > 0.6, "{small}");
}

/// Jain's index is of the flows that take part in a span: one that has not begun, has stopped, or has finished its only
/// transfer is none of them; one that gets nothing is.
#[test]
fn fairness_is_among_the_flows_that_take_part() {
    let top = "duration = \"10 s\"\n[windows]\nbefore = [\"2 s\", \"3 s\"]\nnobody = [\"4.5 s\", \"5.5 s\"]\n\
               across = [\"3 s\", \"7 s\"]\nafter = [\"7 s\", \"8 s\"]";
    let source = |rate: &str| format!("from = \"l\"\nto = \"r\"\ncc = {{ law = \"cbr\", rate = \"{rate}\" }}");
    let flows = format!(
        "count = 2\nstart = \"0 s\"\nstop = \"4 s\"\ncc = {{ law = \"cbr\", rate = \"1 Mbit/s\" }}\n\
         [flows.late]\nstart = \"6 s\"\n{}\n\
         [flows.file]\nstart = \"0 s\"\nsize = \"100 kB\"\nfrom = \"l\"\nto = \"r\"\ncc = {{ law = \"newreno\" }}",
        source("3 Mbit/s")
    );
    let jain = |flows: &str, window: &str| {
        let run = Dumbbell { top, flows, ..Dumbbell::PLAIN }.run();
        let of = |name: &str| run.summary.windows[window].groups[name].jain;
        (run.summary.windows[window].fairness.as_ref().and_then(|f| f.jain), of("f"), of("late"))
    };
    let (all, f, late) = jain(&flows, "before");
    assert_near(all.unwrap(), 1.0, 1e-3, "the two that are there");
    assert_near(f.unwrap(), 1.0, 1e-3, "and of their group");
    assert_eq!(late, None);
    assert_eq!(jain(&flows, "nobody"), (None, None, None));
    // A second of 1 Mbit/s each, and one of 3: (1 + 1 + 3)^2 over 3 (1 + 1 + 9), but for the 20 ms that each is on the way.
    assert_near(jain(&flows, "across").0.unwrap(), 25.0 / 33.0, 0.02, "three, and no file any more");
    let (all, f, late) = jain(&flows, "after");
    assert_eq!((f, late), (None, Some(1.0)));
    assert_near(all.unwrap(), 1.0, 1e-9, "one alone");
    // A fourth whose first packet is still under way.
    let waiting = format!("{flows}\n[flows.far]\nstart = \"0 s\"\nrtt = \"100 s\"\n{}", source("1 Mbit/s"));
    assert_near(jain(&waiting, "before").0.unwrap(), 2.0 / 3.0, 1e-3, "two of three have all");
}
