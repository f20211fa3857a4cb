//! Waiting: schedulers, queues of flows and of classes, two coupled queues; and the summaries of classes and
//! customers.

use crate::laboratory::{Dumbbell, assert_near, flows, group, link, numbers, refusal};
use penstock_scenario::summary::{LinkSummary, QueueSummary};
use penstock_scenario::world::Cells;

const SPAN: &str = "duration = \"40 s\"\nwarmup = \"10 s\"";

/// Deficit round robin gives flows that always have something to send the same share to within 1 %, whatever they send
/// and however they answer; first in, first out does not.
#[test]
fn deficit_round_robin_shares_alike() {
    let rest = "count = 3\nstart = \"0 s\"\ncc = { law = \"newreno\" }\n[flows.cubic]\nfrom = \"l\"\nto = \"r\"\nrtt = \"90 ms\"\ncc = { law = \"cubic\" }\n\
                [flows.udp]\nfrom = \"l\"\nto = \"r\"\ncc = { law = \"cbr\", rate = \"9 Mbit/s\" }";
    let shares = |scheduler: &str| {
        let run =
            Dumbbell { top: SPAN, buffer: "\"300 packets\"", link: scheduler, flows: rest, ..Dumbbell::PLAIN }.run();
        run.flows.iter().map(|f| f.throughput_packets_per_s).collect::<Vec<f64>>()
    };
    for quantum in ["", ", quantum = \"300 B\"", ", quantum = \"4 kB\""] {
        for share in shares(&format!("scheduler = {{ law = \"drr\"{quantum} }}")) {
            assert_near(share, 1250.0 / 5.0, 0.01, quantum);
        }
    }
    let fifo = shares("");
    assert!(fifo[4] > 3.0 * fifo[0], "{fifo:?}");
}

/// Queues of classes: each class the same share, however many flows it has; those without a class are one more. What
/// the summary says of classes and customers is what their flows were served.
#[test]
fn classes_share_alike_and_are_accounted_for() {
    let rest = "count = 8\ncc = { law = \"newreno\" }\nclass = \"tcp\"\n\
                [flows.udp]\nfrom = \"l\"\nto = \"r\"\nclass = \"udp\"\ncc = { law = \"cbr\", rate = \"8 Mbit/s\" }\n\
                [flows.none]\ncount = 2\nfrom = \"l\"\nto = \"r\"\nrtt = \"20 ms\"\ncc = { law = \"newreno\" }\n\
                [classes.tcp]\nshare = 0.25\n[classes.udp]\n[customers.C1]\nflows = [\"f\", \"udp\"]\n[customers.C2]\nflows = [\"none\"]";
    let link = "scheduler = { law = \"drr\", by = \"class\" }";
    let run = Dumbbell { top: SPAN, buffer: "\"300 packets\"", link, flows: rest, ..Dumbbell::PLAIN }.run();
    let wire = |name: &str| group(&run, name).throughput_packets_per_s * 8000.0;
    for name in ["f", "udp", "none"] {
        assert_near(wire(name), 10e6 / 3.0, 0.01, name);
    }
    let whole = &run.summary.whole;
    let (tcp, udp) = (&whole.classes["tcp"], &whole.classes["udp"]);
    assert_near(tcp.served_bit_per_s, wire("f"), 1e-9, "served");
    assert_near(udp.offered_bit_per_s, 8e6, 1e-4, "offered");
    assert_near(udp.served_bit_per_s, wire("udp"), 1e-9, "served");
    assert_near(tcp.ratio.unwrap(), wire("f") / wire("udp"), 1e-9, "of the other classes'");
    assert_eq!((tcp.reference, udp.reference), (Some(0.25 / 0.75), None));
    assert_near(whole.customers["C1"].throughput_bit_per_s, wire("f") + wire("udp"), 1e-9, "C1");
    assert_near(whole.customers["C2"].throughput_bit_per_s, wire("none"), 1e-9, "C2");
}

/// FQ-CoDel and FQ-PIE: a flow's queue is its own. One that sends little waits for a packet or two, whatever fills the line, and
/// shares are alike; under drop-tail it waits for everything.
#[test]
fn a_queue_for_each_flow_isolates_it() {
    let rest = "count = 4\ncc = { law = \"cubic\" }\n[flows.voice]\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\ncc = { law = \"newreno\" }\n\
                size = \"960 B\"\nidle = \"20 ms\"";
    let rtt = |aqm: &str| {
        let link = format!("aqm = {{ law = \"{aqm}\" }}");
        let run = Dumbbell { top: SPAN, buffer: "\"500 packets\"", link: &link, flows: rest, ..Dumbbell::PLAIN }.run();
        let shares = flows(&run, "f").iter().map(|f| f.throughput_packets_per_s).collect::<Vec<f64>>();
        (group(&run, "voice").rtt_mean_s.unwrap(), group(&run, "voice").loss_rate, shares)
    };
    for aqm in ["fq-codel", "fq-pie"] {
        let (alone, lost, shares) = rtt(aqm);
        // The packet on the line, and at most one of each of the others before the turn comes round.
        assert!((0.0408..0.0408 + 0.0016).contains(&alone), "{aqm}: {alone}");
        assert_eq!(lost, 0.0, "{aqm}");
        let mean = shares.iter().sum::<f64>() / 4.0;
        assert!(shares.iter().all(|s| (s / mean - 1.0).abs() < 0.03), "{aqm}: {shares:?}");
    }
    let (behind, _, _) = rtt("droptail");
    assert!(behind > 0.2, "{behind}");
}

/// DualPI2: low-latency packets wait less than a millisecond, classic ones about the target, and marks are coupled by
/// `p_L = k sqrt(p_C)`, so that DCTCP and classic flows of the same round trip have about the same rate (RFC 9332,
/// section 2). Ten of each, since one classic flow alone is marked so seldom that the base probability is zero most of
/// the time.
#[test]
fn coupled_queues_couple_marks_and_rates() {
    let rest = "count = 10\ncc = { law = \"newreno\", ecn = true }\n[flows.l4s]\ncount = 10\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\ncc = { law = \"dctcp\", l4s = true }";
    let (top, link_keys) = ("duration = \"60 s\"\nwarmup = \"20 s\"\nsample = \"5 ms\"", "aqm = { law = \"dualpi2\" }");
    let run = Dumbbell { top, rate: "\"100 Mbit/s\"", link: link_keys, flows: rest, ..Dumbbell::PLAIN }.run();
    let (classic, l4s) = (group(&run, "f"), group(&run, "l4s"));
    let queueing = |rtt: Option<f64>| rtt.unwrap() - 0.0401;
    assert!(queueing(l4s.rtt_mean_s) < 0.001, "{:?}", l4s.rtt_mean_s);
    assert!((0.010..0.020).contains(&queueing(classic.rtt_mean_s)), "{:?}", classic.rtt_mean_s);
    assert_eq!((classic.loss_rate, l4s.loss_rate), (0.0, 0.0));
    assert!(link(&run, "b").utilization > 0.99, "{}", link(&run, "b").utilization);
    // What the ends saw against the law's own state, sampled: low-latency packets are marked with k times the base
    // probability, classic ones with its square, each as it was when they left.
    let rows = |table: &str, key: &str, column: &str, who: f64| -> Vec<f64> {
        let whose = numbers(&run, table, key);
        numbers(&run, table, column).into_iter().zip(whose).filter(|(_, w)| *w == who).map(|(x, _)| x).collect()
    };
    let base = rows("links", "link", "base", 0.0);
    // From the line to the receivers it takes 35 ms: seven samples.
    let expected = |group: f64, chance: fn(f64) -> f64| {
        let got = rows("groups", "group", "throughput_packets_per_s", group);
        let left = || got[4007..].iter().zip(&base[4000..]);
        left().map(|(rate, base)| rate * chance(*base)).sum::<f64>() / left().map(|(rate, _)| rate).sum::<f64>()
    };
    // Some 800 marks, and rates that vary within a sample: coupling without the square would be off by ten times.
    assert_near(classic.mark_rate, expected(0.0, |b| b * b), 0.2, "classic");
    // The low-latency queue marks for itself too.
    let coupled = l4s.mark_rate / expected(1.0, |b| 2.0 * b);
    assert!((0.9..1.4).contains(&coupled), "{coupled}");
    let ratio = l4s.throughput_packets_per_s / classic.throughput_packets_per_s;
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
}

/// RFC 8033 and RFC 9332: PIE in each queue holds 15 ms there, and PI2 in one, for ten flows. The mean is within a third: both sample a
/// queue that swings.
#[test]
fn pie_in_queues_and_pi2_hold_their_targets() {
    for (aqm, flows) in [("fq-pie", 2), ("pi2", 10)] {
        let rest = format!("count = {flows}\ncc = {{ law = \"newreno\" }}");
        let link_keys = format!("aqm = {{ law = \"{aqm}\" }}");
        let top = "duration = \"60 s\"\nwarmup = \"20 s\"";
        let run = Dumbbell { top, rate: "\"20 Mbit/s\"", link: &link_keys, flows: &rest, ..Dumbbell::PLAIN }.run();
        let found = link(&run, "b");
        let wait_ms = found.queueing_delay_mean_s.unwrap() * 1e3;
        eprintln!("{aqm}: {wait_ms} ms, {} of the line", found.utilization);
        assert_near(wait_ms, 15.0, 0.34, aqm);
        assert!(found.utilization > 0.93, "{aqm}: {}", found.utilization);
    }
}

/// De Schepper et al. 2016, section 5: in one queue, PI2 with k = 2 gives DCTCP and classic flows of the same round trip about the same
/// rate, within a factor of two; PIE, which marks both alike, does not.
#[test]
fn pi2_couples_marks_in_one_queue() {
    let ratio = |aqm: &str| {
        let rest = "count = 5\ncc = { law = \"newreno\", ecn = true }\n[flows.l4s]\ncount = 5\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\ncc = { law = \"dctcp\", l4s = true }";
        let link_keys = format!("aqm = {{ law = \"{aqm}\", ecn = true }}");
        let top = "duration = \"60 s\"\nwarmup = \"20 s\"";
        let run = Dumbbell { top, rate: "\"50 Mbit/s\"", link: &link_keys, flows: rest, ..Dumbbell::PLAIN }.run();
        group(&run, "l4s").throughput_packets_per_s / group(&run, "f").throughput_packets_per_s
    };
    let (pi2, pie) = (ratio("pi2"), ratio("pie"));
    eprintln!("DCTCP has {pi2} times NewReno's rate over PI2, {pie} over PIE");
    assert!((0.5..2.0).contains(&pi2), "{pi2}");
    assert!(pie > 4.0, "{pie}");
}

/// Palmei et al. 2019: what does not answer CoDel fills its buffer; BLUE drops what overflows, so that the queue that stands is much
/// shorter. A source of twice the line's rate.
#[test]
fn cobalt_keeps_an_unresponsive_queue_short() {
    let wait = |aqm: &str| {
        let rest = "cc = { law = \"cbr\", rate = \"20 Mbit/s\" }";
        let link_keys = format!("aqm = {{ law = \"{aqm}\" }}");
        let top = "duration = \"60 s\"\nwarmup = \"30 s\"";
        let run = Dumbbell { top, buffer: "\"1000 packets\"", link: &link_keys, flows: rest, ..Dumbbell::PLAIN }.run();
        let found = link(&run, "b");
        (found.queueing_delay_mean_s.unwrap(), found.utilization)
    };
    let (codel, cobalt) = (wait("codel"), wait("cobalt"));
    eprintln!("CoDel {codel:?}, COBALT {cobalt:?}");
    assert!(cobalt.0 < 0.5 * codel.0, "{cobalt:?} {codel:?}");
    assert!(cobalt.1 > 0.99 && codel.1 > 0.99, "{cobalt:?} {codel:?}");
}

/// Alizadeh et al. 2010, section 3.3, with K = 40 packets, two flows, 10 Gbit/s and 100 us: the queue swings between 31 and 42
/// packets. The largest is K + N; flows that do not swing together leave more at the bottom.
#[test]
fn a_step_holds_dctcp_at_its_threshold() {
    // 40 packets of 1500 bytes take 48 us.
    let link_keys = "aqm = { law = \"ramp\", start = \"48 us\", range = \"0 s\" }";
    let rest = "count = 2\ncc = { law = \"dctcp\" }";
    let top = "duration = \"0.3 s\"\nwarmup = \"0.1 s\"\nsample = \"20 us\"";
    let text = Dumbbell { top, rate: "\"10 Gbit/s\"", link: link_keys, flows: rest, ..Dumbbell::PLAIN }.text();
    let text =
        text.replace("\"1000 B\"", "\"1500 B\"").replace("\"5 ms\"", "\"10 us\"").replace("\"40 ms\"", "\"100 us\"");
    let run = crate::laboratory::run(&text);
    let (level, whose, time) =
        (numbers(&run, "links", "queue_packets"), numbers(&run, "links", "link"), numbers(&run, "links", "time_s"));
    let mut queue: Vec<f64> =
        (0..level.len()).filter(|at| whose[*at] == 0.0 && time[*at] > 0.1).map(|at| level[at]).collect();
    queue.sort_by(f64::total_cmp);
    let [least, most] = [0.01, 0.99].map(|share| queue[(queue.len() as f64 * share) as usize]);
    eprintln!("the queue is between {least} and {most} packets");
    assert!((39.0..=45.0).contains(&most), "{most}");
    assert!((24.0..=40.0).contains(&least), "{least}");
    assert!(link(&run, "b").utilization > 0.999);
}

/// A law that says itself what goes next does not go with a scheduler.
#[test]
fn two_schedulers_on_one_link_are_refused() {
    for aqm in ["fq-codel", "fq-pie", "dualpi2"] {
        let link = format!("aqm = {{ law = \"{aqm}\" }}\nscheduler = {{ law = \"drr\" }}");
        let refused = refusal(&Dumbbell { link: &link, ..Dumbbell::PLAIN }.text());
        assert!(refused.contains("schedules packets itself"), "{refused}");
    }
}

/// Queues of a link are measured apart. Of DualPI2 each packet is in one of two books, the books of both make those of the link,
/// and DCTCP with ECT(1) waits for a fifth of CUBIC's time or less. RFC 9332 aims at 15 ms in the classic queue.
#[test]
fn two_coupled_queues_are_measured_apart() {
    let flows = "cc = { law = \"dctcp\", l4s = true }\n[flows.c]\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\ncc = { law = \"cubic\" }";
    let run = Dumbbell {
        top: SPAN,
        rate: "\"40 Mbit/s\"",
        buffer: "\"500 packets\"",
        link: "aqm = { law = \"dualpi2\" }",
        flows,
    }
    .run();
    let line = link(&run, "b");
    let names: Vec<&str> = line.queues.keys().map(String::as_str).collect();
    assert_eq!(names, ["classic", "low-latency"]);
    let [classic, low] = [&line.queues["classic"], &line.queues["low-latency"]];
    assert_eq!(classic.arrivals + low.arrivals, line.arrivals);
    assert_eq!((classic.drops + low.drops, classic.marks + low.marks), (line.drops, line.marks));
    assert_near(classic.throughput_bit_per_s + low.throughput_bit_per_s, line.throughput_bit_per_s, 1e-4, "rates");
    for (queue, name) in [(low, "f"), (classic, "c")] {
        assert_near(queue.throughput_bit_per_s, group(&run, name).throughput_packets_per_s * 8000.0, 1e-3, name);
    }
    let mean = |q: &penstock_scenario::summary::QueueSummary| q.queueing_delay_mean_s.unwrap();
    let both = [classic, low].map(|q| mean(q) * q.departures as f64).iter().sum::<f64>();
    let departures = (classic.departures + low.departures) as f64;
    assert_near(both / departures, line.queueing_delay_mean_s.unwrap(), 1e-3, "the link's delay");
    assert!(mean(low) < mean(classic) / 5.0 && mean(low) < 2e-3, "{} {}", mean(low), mean(classic));
    assert!((0.005..0.02).contains(&mean(classic)), "{}", mean(classic));
    assert!(low.marks > 0 && low.queueing_delay_p99_s.unwrap() > mean(low));
}

/// The series of single queues adds up: at each sample to the link's own series, and over the measured span to the summary of
/// each queue. A link with one queue has no rows.
#[test]
fn the_series_of_queues_adds_up() {
    let flows = "cc = { law = \"dctcp\", l4s = true }\n[flows.c]\nfrom = \"l\"\nto = \"r\"\nrtt = \"40 ms\"\ncc = { law = \"cubic\" }";
    let top = "duration = \"40 s\"\nwarmup = \"10 s\"\nsample = \"100 ms\"";
    let with = |link| Dumbbell { top, rate: "\"40 Mbit/s\"", buffer: "\"500 packets\"", link, flows }.run();
    let run = with("aqm = { law = \"dualpi2\" }");
    let table = |name: &str| run.series.iter().find(|table| table.name == name).expect("a series");
    let (links, queues) = (table("links"), table("queues"));
    let Cells::Name { names, rows } = &queues.columns[1].values else { panic!("names") };
    // Acknowledgements have two queues of their own.
    assert_eq!(names, &["b/classic", "b/low-latency", "b/back/classic", "b/back/low-latency"]);
    let Cells::Name { names: of_links, rows: link_rows } = &links.columns[1].values else { panic!("names") };
    let line: Vec<usize> = (0..link_rows.len()).filter(|row| of_links[link_rows[*row] as usize] == "b").collect();
    assert_eq!(rows.len(), names.len() * line.len());
    let column = |name: &str| queues.number(name).expect("a column");
    for name in ["queue_packets", "marks_per_s"] {
        let whole = links.number(name).expect("a column");
        for (sample, row) in line.iter().enumerate() {
            let both = column(name)[names.len() * sample] + column(name)[names.len() * sample + 1];
            assert!((both - whole[*row]).abs() < 1e-9, "{name} at sample {sample}: {both}, {}", whole[*row]);
        }
    }
    let measured: Vec<usize> = (0..rows.len()).filter(|row| queues.number("time_s").unwrap()[*row] > 10.0).collect();
    for (at, queue) in names.iter().take(2).enumerate() {
        let own = || measured.iter().copied().filter(|row| rows[*row] as usize == at);
        let summary = &link(&run, "b").queues[queue.strip_prefix("b/").unwrap()];
        let mean = own().map(|row| column("throughput_bit_per_s")[row]).sum::<f64>() / own().count() as f64;
        assert_near(mean, summary.throughput_bit_per_s, 1e-9, queue);
        let packets = own().map(|row| 0.1 * column("throughput_packets_per_s")[row]).sum::<f64>();
        assert_near(packets, summary.departures as f64, 1e-9, queue);
        let waits = own().map(|row| 0.1 * column("throughput_packets_per_s")[row] * column("queueing_delay_s")[row]);
        // In a period without departures the delay is no number.
        let waits: f64 = waits.filter(|waits| waits.is_finite()).sum();
        assert_near(waits / packets, summary.queueing_delay_mean_s.unwrap(), 1e-9, queue);
    }
    assert!(!with("").series.iter().any(|table| table.name == "queues"), "one queue");
}

/// The books of a scheduler: a queue of each class, and the queues of a group together where each flow has one or is hashed to
/// one. A single queue has none.
#[test]
fn queues_of_a_scheduler_are_measured_apart() {
    let with = |link_keys: &str| {
        let flows = "count = 4\nclass = \"tcp\"\ncc = { law = \"newreno\" }\n\
                     [flows.voice]\nfrom = \"l\"\nto = \"r\"\nclass = \"udp\"\ncc = { law = \"cbr\", rate = \"1 Mbit/s\" }\n\
                     [classes.tcp]\n[classes.udp]";
        let run = Dumbbell { top: SPAN, buffer: "\"100 packets\"", link: link_keys, flows, ..Dumbbell::PLAIN }.run();
        let queues = link(&run, "b").queues.clone();
        let queues =
            queues.into_iter().map(|(name, q)| (name, q.throughput_bit_per_s, q.queueing_delay_mean_s.unwrap()));
        queues.collect::<Vec<_>>()
    };
    for (link_keys, names) in [
        ("scheduler = { law = \"drr\", by = \"class\" }", ["tcp", "udp"]),
        ("scheduler = { law = \"drr\", by = \"flow\" }", ["f", "voice"]),
        ("aqm = { law = \"fq-codel\", target = \"50 ms\", interval = \"500 ms\" }", ["f", "voice"]),
    ] {
        let [tcp, voice] = &with(link_keys)[..] else { panic!("two") };
        assert_eq!([tcp.0.as_str(), voice.0.as_str()], names);
        assert_near(voice.1, 1e6, 1e-3, "rate");
        assert_near(tcp.1, 9e6, 1e-2, "what the constant source leaves");
        // A turn of each queue: at most a packet of each of four others, and the one in transmission.
        assert!(voice.2 < 0.004 && tcp.2 > 0.02, "{} {}", voice.2, tcp.2);
    }
    assert_eq!(with(""), []);
}

/// Queues that flows are hashed to: all packets are in the books of one group or the other, with their marks and drops. Where
/// one queue holds all flows, both groups wait as long as all packets do; of 1024, a constant source waits for a packet of
/// each other flow at the most.
#[test]
fn hashed_queues_are_measured_by_group() {
    let of = |queues: u32, ecn: bool| {
        let flows = format!(
            "count = 4\ncc = {{ law = \"newreno\", ecn = {ecn} }}\n[flows.voice]\nfrom = \"l\"\nto = \"r\"\n\
             cc = {{ law = \"cbr\", rate = \"1 Mbit/s\" }}"
        );
        let keys = format!("aqm = {{ law = \"fq-codel\", queues = {queues} }}");
        let run = Dumbbell { top: SPAN, buffer: "\"60 packets\"", link: &keys, flows: &flows, ..Dumbbell::PLAIN }.run();
        let line = link(&run, "b").clone();
        assert_eq!(line.queues.keys().collect::<Vec<_>>(), ["f", "voice"]);
        let sum = |f: fn(&QueueSummary) -> u64| line.queues.values().map(f).sum::<u64>();
        let counted = [sum(|q| q.arrivals), sum(|q| q.drops), sum(|q| q.marks)];
        assert_eq!(counted, [line.arrivals, line.drops, line.marks]);
        assert!(sum(|q| q.departures).abs_diff(line.departures) <= 1);
        assert_near(
            line.queues.values().map(|q| q.throughput_bit_per_s).sum(),
            line.throughput_bit_per_s,
            1e-3,
            "rate",
        );
        assert!(if ecn { line.queues["f"].marks > 10 } else { line.queues["f"].drops > 10 }, "{line:?}");
        assert_eq!(line.queues["voice"].marks, 0, "it cannot be marked");
        line
    };
    let mean = |line: &LinkSummary, queue: &str| line.queues[queue].queueing_delay_mean_s.unwrap();
    for ecn in [true, false] {
        let apart = of(1024, ecn);
        // Four packets of 1000 B at 10 Mbit/s, and the rest of one.
        assert!(apart.queues["voice"].queueing_delay_p99_s.unwrap() <= 0.0041, "{apart:?}");
        assert!(mean(&apart, "f") > 0.003);
        let together = of(1, ecn);
        let all = together.queueing_delay_mean_s.unwrap();
        assert_near(mean(&together, "voice"), all, 0.15, "a constant source samples the queue evenly");
        assert_near(mean(&together, "f"), all, 0.05, "nine packets in ten");
    }
}
