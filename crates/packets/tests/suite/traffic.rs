//! Traffic of sources: sizes, arrivals, pauses, schedules, and the table of transfers.

use crate::laboratory::{Dumbbell, assert_near, data_at, flows, group, link, numbers, run, run_scenario, with_files};
use penstock_scenario::world::End;

/// A constant source is constant from its first packet on, whenever it starts: 1 Mbit/s are a packet every 8 ms.
#[test]
fn a_constant_source_begins_as_it_goes_on() {
    let flows = "start = \"3 s\"\ncc = { law = \"cbr\", rate = \"1 Mbit/s\" }";
    let (_, seen) = Dumbbell { flows, ..Dumbbell::PLAIN }.watch();
    let sent = data_at(&seen, End::Sender, 0);
    assert!((sent[0] - 3.0).abs() < 1e-9, "{}", sent[0]);
    for gap in sent.windows(2) {
        assert!((gap[1] - gap[0] - 0.008).abs() < 1e-9, "{gap:?}");
    }
    assert_eq!(sent.len(), 17 * 125 + 1);
}

/// A source that is on for 100 ms and off for 60 ms sends what fits into its turns, and nothing between: 1 Mbit/s are 13
/// packets in 100 ms, at 0, 8, ... 96 ms.
#[test]
fn a_source_is_silent_between_its_turns() {
    let flows =
        "start = \"1 s\"\ncc = { law = \"cbr\", rate = \"1 Mbit/s\" }\non_off = { on = \"100 ms\", off = \"60 ms\" }";
    let (_, seen) = Dumbbell { flows, ..Dumbbell::PLAIN }.watch();
    let sent = data_at(&seen, End::Sender, 0);
    for (n, at) in sent.iter().enumerate() {
        let (turn, packet) = (n / 13, n % 13);
        let wanted = 1.0 + turn as f64 * 0.16 + packet as f64 * 0.008;
        assert!((at - wanted).abs() < 1e-9, "{n}: {at} {wanted}");
    }
    assert_eq!(sent.len(), 119 * 13, "19 s have so many turns and the silence after the last");
}

/// Turns that are drawn have the share of sending that their means say; a TCP flow takes turns like any other.
#[test]
fn drawn_turns_have_their_means() {
    let flows = "count = 50\ncc = { law = \"cbr\", rate = \"1 Mbit/s\" }\non_off = { on = { exponential = \"0.5 s\" }, off = { pareto = { mean = \"1.5 s\", shape = 2.5 } } }\n\
                 [flows.g]\nfrom = \"l\"\nto = \"r\"\nrtt = \"20 ms\"\nstart = \"0 s\"\ncc = { law = \"newreno\" }\nsender = { receive_window = \"4 packets\" }\n\
                 on_off = { on = \"1 s\", off = \"3 s\" }";
    let run = Dumbbell { top: "duration = \"400 s\"", rate: "\"1 Gbit/s\"", flows, ..Dumbbell::PLAIN }.run();
    // Half a packet more a turn, since every turn begins with one: 63 packets a second and one.
    let turn = 0.5 * 125.0 + 0.5;
    assert_near(group(&run, "f").throughput_packets_per_s, 50.0 * turn / 2.0, 0.03, "drawn turns");
    // 4 packets each 20 ms while it sends.
    assert_near(group(&run, "g").throughput_packets_per_s, 200.0 / 4.0, 0.03, "a window with turns");
}

/// A schedule of rates, and steps that come round again.
#[test]
fn a_source_follows_its_schedule() {
    let flows = "start = \"0 s\"\ncc = { law = \"cbr\", rate = [[\"0 s\", \"1 Mbit/s\"], [\"5 s\", \"4 Mbit/s\"]] }\n\
                 [flows.g]\nfrom = \"l\"\nto = \"r\"\nstart = \"0 s\"\ncc = { law = \"cbr\", rate = { every = \"2 s\", steps = [\"1 Mbit/s\", \"2 Mbit/s\", \"0.5 Mbit/s\"] } }";
    let (_, seen) = Dumbbell { flows, ..Dumbbell::PLAIN }.watch();
    let in_span = |flow: u32, from: f64, to: f64| {
        data_at(&seen, End::Sender, flow).iter().filter(|t| (from..to).contains(*t)).count() as f64 / (to - from)
    };
    assert_eq!((in_span(0, 0.0, 5.0), in_span(0, 5.0, 20.0)), (125.0, 500.0));
    for (from, rate) in [(0.0, 125.0), (2.0, 250.0), (4.0, 62.5), (6.0, 125.0), (8.0, 250.0), (10.0, 62.5)] {
        let is = in_span(1, from, from + 2.0);
        assert!((is - rate).abs() <= 0.5, "{from}: {is} {rate}");
    }
}

/// Gaps that stray do so by their share at the most, and keep their mean.
#[test]
fn gaps_stray_and_keep_their_mean() {
    let flows = "start = \"0 s\"\ncc = { law = \"cbr\", rate = \"2 Mbit/s\", spacing_jitter = 0.25 }";
    let (_, seen) = Dumbbell { top: "duration = \"100 s\"", flows, ..Dumbbell::PLAIN }.watch();
    let sent = data_at(&seen, End::Sender, 0);
    let gaps: Vec<f64> = sent.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.iter().all(|g| (0.003 - 1e-9..=0.005 + 1e-9).contains(g)));
    assert_near(gaps.iter().sum::<f64>() / gaps.len() as f64, 0.004, 0.005, "mean");
    let spread = gaps.iter().map(|g| (g - 0.004) * (g - 0.004)).sum::<f64>() / gaps.len() as f64;
    assert_near(spread.sqrt(), 0.002 / 12f64.sqrt(), 0.02, "uniform over 2 ms");
}

/// The open loop: a Poisson process of transfers with Pareto sizes, whatever becomes of those before. Count, gaps, mean
/// and tail of the sizes, from the table of transfers.
#[test]
fn arrivals_are_poisson_and_sizes_pareto() {
    let flows = "count = 200\narrivals = { poisson = \"200 /s\" }\nsize = { pareto = { mean = \"20 kB\", shape = 2.5 } }\ncc = { law = \"newreno\" }";
    let run = Dumbbell { top: "duration = \"100 s\"", rate: "\"1 Gbit/s\"", flows, ..Dumbbell::PLAIN }.run();
    let (mut arrived, bytes) = (numbers(&run, "transfers", "arrived_s"), numbers(&run, "transfers", "bytes"));
    let n = arrived.len() as f64;
    assert_near(n, 20_000.0, 0.025, "3.5 standard deviations");
    assert_eq!(group(&run, "f").transfers.as_ref().unwrap().completed, arrived.len() as u64);
    arrived.sort_by(f64::total_cmp);
    let gaps: Vec<f64> = arrived.windows(2).map(|w| w[1] - w[0]).collect();
    let mean = gaps.iter().sum::<f64>() / (n - 1.0);
    let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / (n - 1.0);
    assert_near(variance.sqrt() / mean, 1.0, 0.03, "exponential gaps vary as much as they are long");
    assert_near(bytes.iter().sum::<f64>() / n, 20_000.0, 0.025, "mean size");
    let over = bytes.iter().filter(|b| **b > 40_000.0).count() as f64 / n;
    assert_near(over, libm::pow(0.3, 2.5), 0.1, "(1.5 / 2.5 / 2)^2.5 are more than twice the mean");
    // Gaps and sizes have a stream each: neither the gap before nor the one behind says which half a size is in.
    let mut both: Vec<_> = numbers(&run, "transfers", "arrived_s").into_iter().zip(bytes.iter().copied()).collect();
    both.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (half_gap, half_size) = (mean * core::f64::consts::LN_2, 12_000.0 * libm::pow(2.0, 1.0 / 2.5));
    for side in [0, 1] {
        let alike = both.windows(2).filter(|w| (w[1].0 - w[0].0 > half_gap) == (w[side].1 > half_size)).count();
        assert_near(alike as f64 / (n - 1.0), 0.5, 0.03, "four standard deviations");
    }
    // What was sent is what arrived: the user's bytes.
    let delivered = group(&run, "f").goodput_bit_per_s / 8.0 * 100.0;
    assert_near(delivered, bytes.iter().sum(), 0.01, "goodput and table");
}

/// Without `count` no transfer waits for a connection: 100 kB take a few round trips of 10 ms and 40 ms of transmission. With
/// one connection they take seconds.
#[test]
fn transfers_have_connections_of_their_own_by_default() {
    let with = |count: &str| {
        let flows = format!(
            "{count}arrivals = {{ poisson = \"20 /s\" }}\nsize = \"100 kB\"\ncc = {{ law = \"cubic\" }}\nsender = {{ initial_window = 10 }}"
        );
        let text =
            Dumbbell { top: "duration = \"60 s\"", rate: "\"100 Mbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.text();
        let run = run(&text.replace("rtt = \"40 ms\"", "rtt = \"20 ms\""));
        let transfers = group(&run, "f").transfers.clone().unwrap();
        (group(&run, "f").count, transfers.waited.unwrap(), transfers.completion_mean_s.unwrap())
    };
    // 1200 transfers, and six times their root.
    let (count, waited, mean_s) = with("");
    assert_eq!((count, waited), (1408, 0));
    assert!((0.05..0.15).contains(&mean_s), "{mean_s}");
    let (count, waited, mean_s) = with("count = 1\n");
    assert!(count == 1 && waited > 600 && mean_s > 1.0, "{count} {waited} {mean_s}");
}

/// A transfer waits where no flow is free, and its completion time counts from its arrival.
#[test]
fn transfers_wait_for_a_flow() {
    let flows =
        "count = 2\nstart = \"0 s\"\narrivals = { poisson = \"100 /s\" }\nsize = \"960 B\"\ncc = { law = \"newreno\" }";
    let run = Dumbbell { flows, ..Dumbbell::PLAIN }.run();
    let (arrived, began) = (numbers(&run, "transfers", "arrived_s"), numbers(&run, "transfers", "began_s"));
    let (ended, took) = (numbers(&run, "transfers", "ended_s"), numbers(&run, "transfers", "completion_s"));
    // A packet of 0.8 ms and a round trip: two flows make 49 transfers a second, half of what arrives.
    assert_near(began.len() as f64, 20.0 * 2.0 / 0.0408, 0.05, "as fast as two flows can");
    for at in 0..arrived.len() {
        assert!((ended[at] - began[at] - 0.0408).abs() < 0.001, "{} {}", ended[at], began[at]);
        assert!((took[at] - (ended[at] - arrived[at])).abs() < 1e-9 && began[at] >= arrived[at]);
    }
    assert!(arrived.windows(2).all(|w| w[0] <= w[1]), "first come, first served");
    assert!(took.last().unwrap() > &8.0, "{:?}", took.last());
    // Summed up: who waited and for how long, and who was left waiting, which is all that came and was not taken up.
    let of = &group(&run, "f").transfers.clone().unwrap();
    let waits: Vec<f64> = began.iter().zip(&arrived).map(|(began, arrived)| began - arrived).collect();
    assert_eq!(of.waited, Some(waits.iter().filter(|wait| **wait > 0.0).count() as u64));
    assert_near(of.wait_mean_s.unwrap(), waits.iter().sum::<f64>() / waits.len() as f64, 1e-9, "mean wait");
    let left = of.waiting.unwrap() as f64;
    assert_near(left + began.len() as f64, 2000.0, 0.08, "3.5 standard deviations of what came in 20 s");
    let [finding] = &run.summary.findings[..] else { panic!("{:?}", run.summary.findings) };
    assert_eq!((finding.id.as_str(), finding.subject.as_str()), ("transfers-wait", "flows.f.count"));
}

/// The transfers that wait at the end of a window are those that had arrived by then and were taken up later, if ever.
#[test]
fn transfers_that_wait_are_counted_where_a_window_ends() {
    let top = "duration = \"20 s\"\nwarmup = \"0 s\"\nwindows = { early = [\"0 s\", \"5 s\"] }";
    let flows =
        "count = 2\nstart = \"0 s\"\narrivals = { poisson = \"60 /s\" }\nsize = \"960 B\"\ncc = { law = \"newreno\" }";
    let run = Dumbbell { top, flows, ..Dumbbell::PLAIN }.run();
    let (arrived, began) = (numbers(&run, "transfers", "arrived_s"), numbers(&run, "transfers", "began_s"));
    let of = |measured: &penstock_scenario::summary::Measured| measured.groups["f"].transfers.clone().unwrap();
    let (early, whole) = (of(&run.summary.windows["early"]), of(&run.summary.whole));
    let known = arrived.iter().zip(&began).filter(|(arrived, began)| **arrived <= 5.0 && **began > 5.0).count() as u64;
    // All that waited at 5 s was complete at 20 s.
    assert!(early.waiting == Some(known) && known > 20, "{early:?} {known}");
    assert!(whole.waiting > early.waiting, "more come than go");
}

/// Little's law: transfers under way, those that wait among them, are the arrivals a second times the mean time from arrival to
/// the end. A connection's own share and window do not describe such a group, so that they are absent; another group has both.
#[test]
fn an_open_loop_is_told_by_its_transfers() {
    for (count, waits) in [("", false), ("count = 5\n", true)] {
        let flows = format!(
            "{count}arrivals = {{ poisson = \"40 /s\" }}\nsize = \"9600 B\"\ncc = {{ law = \"newreno\" }}\n\
             [flows.bulk]\nfrom = \"l\"\nto = \"r\"\ncount = 2\nrtt = \"40 ms\"\nstart = \"0 s\"\ncc = {{ law = \"newreno\" }}\n\
             sender = {{ receive_window = 4 }}"
        );
        let top = "duration = \"100 s\"\nwarmup = \"10 s\"\nwindows = { late = [\"60 s\", \"100 s\"] }";
        let run = Dumbbell { top, flows: &flows, ..Dumbbell::PLAIN }.run();
        for measured in [&run.summary.whole, &run.summary.windows["late"]] {
            let (open, bulk) = (&measured.groups["f"], &measured.groups["bulk"]);
            let transfers = open.transfers.as_ref().unwrap();
            let per_s = transfers.completed as f64 / measured.measured_s;
            let little = per_s * transfers.completion_mean_s.unwrap();
            // Transfers of the span's edges: of some 150 ms each beside the span, and of waits as they come.
            assert_near(transfers.under_way_mean.unwrap(), little, if waits { 0.1 } else { 0.02 }, "Little's law");
            assert_eq!((open.jain, open.window_mean_packets, open.window_sd_packets), (None, None, None));
            assert!(bulk.jain.unwrap() > 0.999 && bulk.window_mean_packets.is_some());
            assert_eq!(measured.fairness.as_ref().unwrap().jain, bulk.jain, "of those that do not take turns");
        }
        let waited = group(&run, "f").transfers.as_ref().unwrap().waited.unwrap();
        assert_eq!(waited > 500, waits, "{waited}");
    }
}

/// The closed loop: after a transfer a flow is silent for just the time drawn, then begins the next.
#[test]
fn a_closed_loop_is_idle_between_transfers() {
    for (idle, mean) in
        [("\"500 ms\"", 0.5), ("{ exponential = \"500 ms\" }", 0.5), ("{ uniform = [\"0 s\", \"2 s\"] }", 1.0)]
    {
        let flows = format!(
            "count = 40\nidle = {idle}\nsize = {{ pareto = {{ mean = \"30 kB\", shape = 1.5 }} }}\ncc = {{ law = \"newreno\" }}"
        );
        let run =
            Dumbbell { top: "duration = \"100 s\"", rate: "\"1 Gbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.run();
        let (flow, number) = (numbers(&run, "transfers", "flow"), numbers(&run, "transfers", "number"));
        let (began, ended) = (numbers(&run, "transfers", "began_s"), numbers(&run, "transfers", "ended_s"));
        let mut idle_times = Vec::new();
        let mut last: Vec<Option<f64>> = vec![None; 40];
        let mut count = [0.0; 40];
        for at in 0..flow.len() {
            let who = flow[at] as usize;
            assert_eq!(number[at], count[who], "numbered in order");
            count[who] += 1.0;
            if let Some(before) = last[who].replace(ended[at]) {
                idle_times.push(began[at] - before);
            }
        }
        if idle.starts_with('"') {
            assert!(idle_times.iter().all(|t| (t - mean).abs() < 1e-9));
        }
        assert_near(idle_times.iter().sum::<f64>() / idle_times.len() as f64, mean, 0.05, idle);
    }
}

/// Transfers that begin anew begin with the initial window; one that remembers everything goes on with what it had.
#[test]
fn a_connection_that_stays_keeps_its_window() {
    let time = |remember: &str| {
        let flows = format!(
            "start = \"0 s\"\nidle = \"1 s\"\nsize = \"96 kB\"\ncc = {{ law = \"newreno\" }}\nsender = {{ remember = \"{remember}\" }}"
        );
        let run = Dumbbell { rate: "\"1 Gbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.run();
        numbers(&run, "transfers", "completion_s")
    };
    // 100 segments from a window of 2 take 2 + 4 + 8 + 16 + 32 + 38: six round trips; at once they take one.
    let (anew, kept) = (time("nothing"), time("everything"));
    assert!(anew.iter().all(|t| (0.24..0.25).contains(t)), "{anew:?}");
    assert!((0.24..0.25).contains(&kept[0]) && kept[1..].iter().all(|t| (0.04..0.045).contains(t)), "{kept:?}");
}

/// Sizes to the byte: a transfer of one byte, of exactly one segment, of one byte more.
#[test]
fn a_transfer_has_its_size() {
    for (size, segments) in [(1u64, 1), (960, 1), (961, 2), (96_000, 100)] {
        let flows = format!("count = 3\nsize = \"{size} B\"\ncc = {{ law = \"newreno\" }}");
        let (run, seen) = Dumbbell { flows: &flows, ..Dumbbell::PLAIN }.watch();
        assert_eq!(numbers(&run, "transfers", "bytes"), [size as f64; 3]);
        let sent = data_at(&seen, End::Sender, 1);
        assert_eq!(sent.len(), segments, "{size}");
        let delivered: f64 = crate::laboratory::flows(&run, "f").iter().map(|f| f.goodput_bit_per_s * 20.0 / 8.0).sum();
        assert!((delivered - 3.0 * size as f64).abs() < 1e-6, "{size}: {delivered}");
        assert_near(
            link(&run, "b").throughput_bit_per_s * 20.0 / 8.0,
            3.0 * (size + segments as u64 * 40) as f64,
            1e-12,
            "wire",
        );
    }
}

/// The run ends when the last transfer does; what is measured ends there too.
#[test]
fn a_run_stops_when_its_transfers_are_complete() {
    let rest = "count = 5\nsize = \"960 kB\"\nstart = \"0 s\"\ncc = { law = \"newreno\" }\n[flows.g]\nfrom = \"l\"\nto = \"r\"\ncc = { law = \"newreno\" }\n[stop]\nwhen = \"transfers complete\"";
    let run = Dumbbell { top: "duration = \"100 s\"", buffer: "\"50 packets\"", flows: rest, ..Dumbbell::PLAIN }.run();
    let last = numbers(&run, "transfers", "ended_s").into_iter().fold(0.0, f64::max);
    assert_eq!(numbers(&run, "transfers", "ended_s").len(), 5);
    assert!((run.summary.whole.measured_s - last).abs() < 1e-9 && last < 20.0, "{last}");
    assert!((numbers(&run, "links", "time_s").last().unwrap() - last).abs() < 0.1);
    assert!(link(&run, "b").utilization > 0.9, "of the time there was");
    assert!(flows(&run, "f").iter().all(|f| f.completion_s.is_some()));
}

/// Flows that stop send nothing new, but mend what they lost.
#[test]
fn a_flow_that_stops_mends_its_losses() {
    let flows = "count = 5\nstart = \"0 s\"\nstop = \"5 s\"\ncc = { law = \"newreno\" }";
    let (run, seen) = Dumbbell { buffer: "\"10 packets\"", flows, ..Dumbbell::PLAIN }.watch();
    for flow in 0..5 {
        let last_new = data_at(&seen, End::Sender, flow).into_iter().fold(0.0, f64::max);
        assert!(last_new < 8.0, "{last_new}");
    }
    // Everything that was sent for the first time was delivered in order.
    for (at, flow) in run.flows.iter().enumerate() {
        let firsts = data_at(&seen, End::Sender, at as u32).len() as u64 - flow.retransmits;
        assert!((flow.goodput_bit_per_s * 20.0 / 8.0 - (firsts * 960) as f64).abs() < 1e-6);
    }
}

/// Single packets that arrive as a Poisson process wait as long as in an M/D/1 queue, `rho S / (2 (1 - rho))` on average
/// (Pollaczek and Khinchine), at a port and at a queue that holds its packets.
#[test]
fn single_packets_wait_as_in_theory() {
    for queue in ["", "scheduler = { law = \"drr\", by = \"class\" }"] {
        for (per_s, rho) in [(625.0, 0.5), (1000.0, 0.8)] {
            let flows = format!(
                "count = 400\nclass = \"one\"\narrivals = {{ poisson = \"{per_s} /s\" }}\nsize = \"960 B\"\ncc = {{ law = \"newreno\" }}"
            );
            let top = "duration = \"400 s\"\nsample = \"10 s\"";
            let run = Dumbbell { top, link: queue, flows: &flows, ..Dumbbell::PLAIN }.run();
            let b = link(&run, "b");
            assert_near(b.utilization, rho, 0.01, "load");
            let wait = rho * 0.0008 / (2.0 * (1.0 - rho));
            assert_near(b.queueing_delay_mean_s.unwrap(), wait, 0.03, "M/D/1");
            assert_near(b.queue_mean_packets, per_s * wait, 0.03, "Little");
            // Who waits is not who arrives when all flows are taken: none ever are.
            let (arrived, began) = (numbers(&run, "transfers", "arrived_s"), numbers(&run, "transfers", "began_s"));
            assert_eq!(arrived, began);
        }
    }
}

/// Sizes from the measured distributions have the shares that the papers give, and sizes of a file those of its points.
#[test]
fn sizes_have_a_measured_distribution() {
    let text = |size: &str| {
        let flows = format!(
            "arrivals = {{ poisson = \"400 /s\" }}\nsize = {{ distribution = {size} }}\ncc = {{ law = \"newreno\" }}"
        );
        Dumbbell { top: "duration = \"20 s\"", rate: "\"100 Gbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.text()
    };
    let upto = |run: &penstock_scenario::world::Run, most: f64| {
        let bytes = numbers(run, "transfers", "bytes");
        bytes.iter().filter(|b| **b <= most).count() as f64 / bytes.len() as f64
    };
    let web = run(&text("\"web-search\""));
    for (packets, share) in [(6.0, 0.15), (53.0, 0.53), (133.0, 0.6)] {
        let is = upto(&web, packets * 1460.0);
        assert!((is - share).abs() < 0.03, "{packets}: {is}");
    }
    // As many connections as transfers may arrive: 8000, and six times their root. All are small enough to be complete.
    assert_eq!(group(&web, "f").count, 8537);
    let file =
        |name: &str| if name == "s.csv" { Ok("100,0.5\n1000,1\n".to_owned()) } else { Err("not there".to_owned()) };
    let own = run_scenario(&with_files(&text("\"s.csv\""), file));
    for (most, share) in [(99.0, 0.0), (100.0, 0.5), (550.0, 0.75), (1000.0, 1.0)] {
        assert!((upto(&own, most) - share).abs() < 0.03, "{most}: {}", upto(&own, most));
    }
}

/// Slowdown in an empty network is known: 1 where the window holds the transfer, but for its last acknowledgement's 40 B on the
/// way back; and where it doubles each round trip from two packets, the round trips that this takes. 100 packets are 2 + 4 + 8 +
/// 16 + 32 + 38, and each takes 0.8 ms on the wire.
#[test]
fn a_transfer_alone_has_the_slowdown_of_its_window() {
    let (packet, rtt, ack) = (0.0008, 0.04, 0.000_032);
    let rounds = 6.0 * rtt + 5.0 * ack + (1.0 + 1.0 + 1.0 + 1.0 + 1.0 + 38.0) * packet;
    for (bytes, window, seconds) in [
        (960_u32, 2, rtt + packet),
        (961, 2, rtt + 2.0 * packet - 959.0 * 8e-7),
        (96_000, 100, rtt + 100.0 * packet),
        (96_000, 2, rounds),
    ] {
        let flows = format!(
            "start = \"0 s\"\nsize = \"{bytes} B\"\ncc = {{ law = \"newreno\" }}\nsender = {{ initial_window = {window} }}"
        );
        let run = Dumbbell { flows: &flows, ..Dumbbell::PLAIN }.run();
        let headers = f64::from(bytes + bytes.div_ceil(960) * 40);
        let wanted = (seconds + ack) / (headers * 8e-7 + rtt);
        let [slowdown] = numbers(&run, "transfers", "slowdown")[..] else { panic!("one transfer") };
        assert_near(slowdown, wanted, 1e-9, &format!("{bytes} B from {window} packets"));
        let transfers = group(&run, "f").transfers.clone().unwrap();
        let of = transfers.slowdown.unwrap();
        assert_eq!([of.mean, of.p50, of.p95, of.p99], [slowdown; 4]);
        let class = if bytes > 10_000 { "up_to_100_kB" } else { "up_to_10_kB" };
        assert_eq!(transfers.by_size.keys().collect::<Vec<_>>(), [class]);
        assert!(window > 2 || bytes < 1000 || slowdown > 2.0, "{slowdown}");
    }
}
