//! Invariants of every run, whatever the laws: conservation, Little's law, determinism, independence of streams.

use std::collections::BTreeMap;

use crate::laboratory::{Dumbbell, assert_near, numbers, run, scenario, watch};
use penstock_law::aqm::AQMS;
use penstock_scenario::read::Document;
use penstock_scenario::summary::{Engine, Summary};
use penstock_scenario::world::{Content, End, Run, Sighting, World};

/// Traffic of every kind over two bottlenecks: loss, marks, delayed acknowledgements, both recoveries, UDP, transfers.
const MIXTURE: &str = r#"
format = 1
duration = "30 s"
warmup = "5 s"
seed = 3
packet = { wire = "1000 B", payload = "960 B" }
[windows]
early = ["5 s", "15 s"]
late = ["15 s", "30 s"]
[defaults.links]
duplex = true
delay = "7 ms"
[links.first]
from = "a"
to = "b"
rate = "20 Mbit/s"
buffer = "60 packets"
loss = 0.001
[links.second]
from = "b"
to = "c"
rate = "15 Mbit/s"
buffer = "90 kB"
aqm = { law = "red", ecn = true }
[flows.long]
count = 4
from = "a"
to = "c"
rtt = { spread = ["40 ms", "90 ms"] }
cc = { law = "newreno", ecn = true }
sender = { delayed_ack = 2, ecn_echo = "classic" }
[flows.against]
count = 2
from = "c"
to = "a"
rtt = "60 ms"
cc = { law = "newreno" }
sender = { recovery = "newreno" }
[flows.fast]
count = 2
from = "b"
to = "c"
rtt = "30 ms"
cc = { law = "fast", alpha = "10 packets" }
series = true
[flows.udp]
from = "a"
to = "b"
rtt = "20 ms"
cc = { law = "cbr", rate = "3 Mbit/s" }
[flows.transfer]
count = 3
from = "b"
to = "c"
rtt = "30 ms"
size = "100 kB"
start = { every = "2 s", from = "6 s" }
cc = { law = "newreno" }
"#;

fn without_cost(mut run: Run) -> Run {
    run.summary.engine = Engine::default();
    run
}

/// The engine checks at its end that what was sent was delivered, dropped or is under way, link by link too; here the
/// same from the outside, over the summary.
#[test]
fn nothing_is_lost_or_made_up() {
    let run = run(MIXTURE);
    let whole = &run.summary.whole;
    for (name, link) in &whole.links {
        let late = link.arrivals as i64 - link.departures as i64 - link.drops as i64;
        assert!(late.abs() <= 92, "{name}: {late}: more than a buffer and the line hold");
    }
    assert!(whole.links["first"].drops > 0 && whole.links["second"].marks > 0, "the mixture lacks something");
    assert_eq!(whole.groups["transfer"].transfers.as_ref().unwrap().completed, 3);
    assert_eq!(run.flows.len(), 12);
    let windows = &run.summary.windows;
    let parts = windows["early"].links["first"].departures + windows["late"].links["first"].departures;
    assert_eq!(parts, whole.links["first"].departures, "windows that tile the span add up to it");
}

/// Little's law: the mean queue, integrated over time, is the arrival rate times the mean wait, measured packet by packet.
#[test]
fn the_mean_queue_is_the_rate_times_the_mean_wait() {
    let run = run(MIXTURE);
    let whole = &run.summary.whole;
    for (name, link) in &whole.links {
        let Some(wait) = link.queueing_delay_mean_s else { continue };
        let little = wait * link.departures as f64 / whole.measured_s;
        let off = (little - link.queue_mean_packets).abs();
        assert!(off <= 0.01 * link.queue_mean_packets.max(0.1), "{name}: {little} {}", link.queue_mean_packets);
    }
}

/// Same seed, same bits, and another seed another run.
#[test]
fn a_seed_is_a_run() {
    let first = without_cost(run(MIXTURE));
    // Two at once, on threads of their own: nothing is shared.
    let others: Vec<Run> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..2).map(|_| scope.spawn(|| without_cost(run(MIXTURE)))).collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    // NaN in a series is not equal to itself; its bits are.
    for other in &others {
        assert_eq!(format!("{first:?}"), format!("{other:?}"));
    }
    let reseeded = without_cost(run(&MIXTURE.replace("seed = 3", "seed = 4")));
    assert_ne!(first.summary.whole, reseeded.summary.whole);
}

/// A link's marks and the losses of its line are drawn from streams of their own: of what was marked, the line loses the
/// same share as of all packets. Were they one stream, what is marked would be what is lost.
#[test]
fn marks_and_losses_are_independent() {
    let link = "aqm = { law = \"red\", ecn = true }\nloss = 0.02";
    let flows = "count = 10\ncc = { law = \"newreno\", ecn = true }";
    let top = "duration = \"100 s\"\nwarmup = \"0 s\"";
    let run = Dumbbell { top, buffer: "\"100 packets\"", link, flows, ..Dumbbell::PLAIN }.run();
    let (b, f) = (&run.summary.whole.links["b"], &run.summary.whole.groups["f"]);
    let arrived = f.mark_rate * f.throughput_packets_per_s * run.summary.whole.measured_s;
    assert!(b.marks > 500, "{b:?}");
    assert_near(arrived, 0.98 * b.marks as f64, 0.02, "marks that arrive");
}

/// Every queue there is: each AQM under each scheduler that goes with it.
fn queues() -> Vec<String> {
    let mut queues = Vec::new();
    for aqm in AQMS {
        for scheduler in ["fifo\"", "drr\"", "drr\", by = \"class\""] {
            let queue = format!("aqm = {{ law = \"{}\" }}\nscheduler = {{ law = \"{scheduler} }}", aqm.name);
            if Document::parse(&through(&queue), "test.toml").and_then(|d| d.cells()).is_ok() {
                queues.push(queue);
            }
        }
    }
    assert!(queues.len() > 2 * AQMS.len(), "{queues:?}");
    queues
}

/// [`MIXTURE`] with another queue in front of its second link.
fn through(queue: &str) -> String {
    let red = "aqm = { law = \"red\", ecn = true }";
    assert!(MIXTURE.contains(red));
    let text = MIXTURE.replace(red, queue).replace("series = true", "series = true\nclass = \"fast\"");
    text.replace("duration = \"30 s\"", "duration = \"20 s\"").replace("\"30 s\"]", "\"20 s\"]")
}

/// Every packet sent is delivered, lost or under way at every queue there is, counted from the outside: by packets at
/// both ends of the flows, and by what links say that they dropped. Little's law holds at each of them: the queue is
/// integrated over time, the waits are measured packet by packet.
#[test]
fn nothing_is_lost_at_any_queue_and_waits_are_queues() {
    for queue in queues() {
        let (run, seen) = watch(&through(&queue).replace("warmup = \"5 s\"", "warmup = \"0 s\""));
        let whole = &run.summary.whole;
        // In one pass, over a million sightings.
        let (mut sent_by, mut delivered) = (vec![0_u32; run.flows.len()], 0);
        for data in seen.iter().filter(|s| !matches!(s.content, Content::Ack { .. })) {
            if data.end == End::Sender { sent_by[data.flow as usize] += 1 } else { delivered += 1 }
        }
        let sent: i64 = sent_by.iter().copied().map(i64::from).sum();
        let lost: f64 = run.flows.iter().zip(&sent_by).map(|(f, sent)| f.loss_rate * f64::from(*sent)).sum();
        let under_way = sent - delivered - lost.round() as i64;
        assert!((0..400).contains(&under_way), "{queue}: {sent} sent, {delivered} delivered, {lost} lost");
        for (name, link) in &whole.links {
            let inside = link.arrivals as i64 - link.departures as i64 - link.drops as i64;
            // What the line lost has departed before.
            assert!(inside <= link.queue_max_packets as i64 + 1, "{queue}: {name}: {inside}");
            assert!(name == "first" || inside >= 0, "{queue}: {name}: {inside}");
            let Some(wait) = link.queueing_delay_mean_s else { continue };
            let little = wait * link.departures as f64 / whole.measured_s;
            let mean = link.queue_mean_packets;
            // What is dropped at the head of a queue has waited in vain, which is no part of the mean wait.
            let at_head = ["codel", "drr", "cobalt", "fq-pie", "\"pi2\""].iter().any(|name| queue.contains(name));
            let drops = if at_head { link.drops as f64 } else { 0.0 };
            let vain = drops * link.queueing_delay_p99_s.unwrap_or(0.0) * 2.0 / whole.measured_s;
            let off = 0.01 * mean.max(0.1);
            assert!((mean - vain - off..=mean + off).contains(&little), "{queue}: {name}: {little}, not {mean}");
        }
    }
}

/// Little's law with waits taken from outside: a packet's wait is the time between its ends less propagation and
/// transmission. A port, queues that take turns, and a law at the head of a queue.
#[test]
fn the_queue_is_what_the_ends_of_flows_see_of_it() {
    for queue in [
        "",
        "scheduler = { law = \"drr\" }",
        "aqm = { law = \"codel\", ecn = true }",
        "aqm = { law = \"fq-codel\" }",
        "aqm = { law = \"dualpi2\" }",
        "rate = [[\"0 s\", \"10 Mbit/s\"], [\"5 s\", \"10000001 bit/s\"]]",
    ] {
        let rate = if queue.contains("rate") { "" } else { "rate = \"10 Mbit/s\"" };
        let text = format!(
            "format = 1\nduration = \"60 s\"\npacket = \"1000 B\"\n[links.b]\nfrom = \"l\"\nto = \"r\"\ndelay = \"10 ms\"\nbuffer = \"unlimited\"\n{rate}\n{queue}\n\
             [flows.f]\ncount = 5\nsize = {{ pareto = {{ mean = \"80 kB\", shape = 1.5 }} }}\nidle = {{ exponential = \"100 ms\" }}\nsender = {{ receive_window = 30 }}\nfrom = \"l\"\nto = \"r\"\nrtt = \"30 ms\"\ncc = {{ law = \"newreno\", ecn = true }}\n\
             [flows.g]\nfrom = \"l\"\nto = \"r\"\nrtt = \"30 ms\"\nsender = {{ receive_window = 30 }}\ncc = {{ law = \"dctcp\", l4s = true }}\n"
        );
        let (run, seen) = watch(&text);
        let link = &run.summary.whole.links["b"];
        // The 20 ms beyond the link's are behind it, for there is no way back that takes time.
        let waits = times_between_ends(&seen).iter().map(|took| took - 0.0308).sum::<f64>();
        assert_near(waits / 60.0, link.queue_mean_packets, 0.01, queue);
        assert!(link.queue_mean_packets > 2.0, "{queue}: {}", link.queue_mean_packets);
    }
}

/// Time from end to end of each transmission that was delivered: of a segment that was sent more than once, the
/// last before its delivery.
fn times_between_ends(seen: &[Sighting]) -> Vec<f64> {
    let (mut sent, mut took) = (BTreeMap::new(), Vec::new());
    for s in seen {
        let Content::Data { segment, .. } = s.content else { continue };
        match s.end {
            End::Sender => _ = sent.insert((s.flow, s.connection, segment), s.at),
            End::Receiver => took.extend(sent.remove(&(s.flow, s.connection, segment)).map(|at| (s.at - at).seconds())),
        }
    }
    took
}

/// A flow changes no draw elsewhere: until it sends, what the others do stays the same to the last bit, wherever in the
/// file it stands and whatever queue it will meet. So does what they do where a link is added that nobody takes.
#[test]
fn a_flow_that_has_not_started_changes_nothing() {
    let flow =
        "[flows.more]\nfrom = \"a\"\nto = \"c\"\nrtt = \"50 ms\"\nstart = \"20 s\"\ncc = { law = \"newreno\" }\n";
    let link = "[links.unused]\nfrom = \"c\"\nto = \"d\"\nrate = \"5 Mbit/s\"\nbuffer = \"9 packets\"\naqm = { law = \"pi\" }\n";
    let first_flow = format!("{flow}[flows.long]");
    let first_link = format!("{link}[links.first]");
    for queue in
        ["aqm = { law = \"red\", ecn = true }", "aqm = { law = \"fq-codel\" }", "scheduler = { law = \"drr\" }"]
    {
        let text = MIXTURE.replace("aqm = { law = \"red\", ecn = true }", queue);
        let without = run(&text).summary;
        for more in [
            format!("{text}\n{flow}"),
            text.replace("[flows.long]", &first_flow),
            text.replace("[links.first]", &first_link),
        ] {
            let with = run(&more).summary;
            let (without_early, with_early) = (&without.windows["early"], &with.windows["early"]);
            for (name, link) in &without_early.links {
                assert_eq!(link, &with_early.links[name], "{queue}: {name}");
            }
            for (name, group) in &without_early.groups {
                assert_eq!(group, &with_early.groups[name], "{queue}: {name}");
            }
            let late = |summary: &Summary| summary.windows["late"].links["second"].clone();
            let Some(more) = with_early.groups.get("more") else {
                assert_eq!(late(&without), late(&with));
                continue;
            };
            assert_ne!(late(&without), late(&with));
            assert_eq!((more.goodput_bit_per_s, more.window_mean_packets), (0.0, None), "it had no window yet");
        }
    }
}

/// Looking changes nothing: samples more often, series of every flow, more spans, every packet seen.
#[test]
fn a_probe_changes_nothing() {
    let plain = without_cost(run(MIXTURE));
    let often = MIXTURE.replace("seed = 3", "seed = 3\nsample = \"1 ms\"");
    assert_eq!(plain.summary, without_cost(run(&often)).summary);
    let each = MIXTURE.replace("[links.first]", "[defaults.flows]\nseries = true\n[links.first]");
    let each = without_cost(run(&each));
    assert_eq!((&plain.summary, &plain.flows), (&each.summary, &each.flows));
    let rows = |run: &Run| numbers(run, "flows", "goodput_bit_per_s").len();
    assert_eq!(rows(&each), 12 / 2 * rows(&plain), "of twelve flows, not two");
    // A window's integral over time is a sum of doubles, and rounded where a span begins: links count whole numbers.
    let spans = run(&MIXTURE.replace("[windows]", "[windows]\nodd = [\"6.123 s\", \"7.7 s\"]")).summary;
    assert_eq!(plain.summary.whole.links, spans.whole.links);
    assert_eq!(plain.summary.windows["late"].links, spans.windows["late"].links);
    assert!(spans.windows.contains_key("odd"));
    let (watched, seen) = watch(MIXTURE);
    assert!(seen.len() > 100_000);
    assert_eq!(format!("{plain:?}"), format!("{:?}", without_cost(watched)));
}

/// The cells of a sweep are the same to the last bit, in whatever order and on however many threads they run.
#[test]
fn cells_are_the_same_on_any_thread_in_any_order() {
    let sweep = "[sweep]\nseed = [3, 4]\n\"links.second.aqm\" = [{ law = \"red\", ecn = true }, { law = \"fq-codel\" }, { law = \"pie\" }]\n";
    let text = MIXTURE.replace("duration = \"30 s\"", "duration = \"16 s\"").replace("\"30 s\"]", "\"16 s\"]") + sweep;
    let cells = Document::parse(&text, "test.toml").and_then(|d| d.cells()).unwrap_or_else(|e| panic!("{e}"));
    let bits = |at: usize| {
        let run = penstock_packets::Packets.run(&cells[at].scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        (at, format!("{:?}", without_cost(run)))
    };
    let one_by_one: BTreeMap<usize, String> = (0..cells.len()).map(bits).collect();
    assert_eq!(one_by_one.len(), 6);
    for threads in [2, 3] {
        let together: BTreeMap<usize, String> = std::thread::scope(|scope| {
            // Each takes every so manieth, from the last on.
            let share = |thread| (thread..cells.len()).step_by(threads).rev().map(bits).collect::<Vec<_>>();
            let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || share(thread))).collect();
            handles.into_iter().flat_map(|h| h.join().unwrap()).collect()
        });
        assert!(together == one_by_one, "{threads} threads");
    }
    let different: std::collections::BTreeSet<&String> = one_by_one.values().collect();
    assert_eq!(different.len(), 6, "each cell is a run of its own");
}

/// A span that starts at zero has the events of time zero: 20 packets sent at once into a buffer of 5 behind one on the line.
#[test]
fn what_happens_at_time_zero_counts() {
    let text = r#"
format = 1
duration = "1 s"
packet = "1000 B"
sample = "10 ms"
[links.b]
from = "l"
to = "r"
rate = "1 Mbit/s"
delay = "1 ms"
buffer = "5 packets"
[flows.f]
from = "l"
to = "r"
rtt = "10 ms"
start = "0 s"
size = "19200 B"
cc = { law = "newreno" }
sender = { initial_window = 20 }
"#;
    let run = run(text);
    let (link, group) = (&run.summary.whole.links["b"], &run.summary.whole.groups["f"]);
    assert_eq!((link.arrivals, link.drops), (20 + group.retransmits, 14));
    // Nothing is recorded beyond the end, however late the next event would be.
    let last = run.series[0].number("time_s").unwrap().last().copied().unwrap();
    assert!((last - 1.0).abs() < 1e-9, "{last}");
}

/// A run stops when its watcher stops it.
#[test]
fn a_run_can_be_stopped() {
    let scenario = scenario(MIXTURE);
    let mut shares = Vec::new();
    let stopped = penstock_packets::Packets.run(&scenario, &mut |share| {
        shares.push(share);
        share < 0.5
    });
    assert!(matches!(stopped, Err(penstock_scenario::world::RunError::Stopped)));
    assert!(shares.windows(2).all(|w| w[0] <= w[1]) && *shares.last().unwrap() < 0.6);
}
