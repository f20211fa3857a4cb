//! BBR, version 3, packet by packet: the example cases of draft-ietf-ccwg-bbr, appendix "BBR Example Test Cases", under the draft's
//! names, and its arithmetic.
//!
//! Cases that a path cannot bring about at a given moment are tests of the law alone (`crates/law/src/cc/bbr3/tests.rs`):
//! - "Exiting PROBE_UP on Loss When Application-Limited": `losses_end_a_probe`. The case wants the long-term bound updated however
//!   the flow is limited; HandleInflightTooHigh leaves it if the flow was short of data, and so does the law.
//! - the part of "Never Exiting PROBE_UP" that is about ProbeBW_UP: `a_probe_ends_on_a_plateau`.
//! - what "Handling Spurious Fast Recovery" and "Handling Spurious RTO Recovery" restore: `a_probe_cut_short_for_nothing_begins_again`.
//! - "the step size added to BBR.inflight_longterm doubles": `the_bound_grows_twice_as_fast_each_round`.

use crate::laboratory::{Dumbbell, assert_near, flows, group, link, numbers, run};
use penstock_scenario::world::Run;

const STARTUP: f64 = 0.0;
const DRAIN: f64 = 1.0;
const DOWN: f64 = 2.0;
const CRUISE: f64 = 3.0;
const REFILL: f64 = 4.0;
const UP: f64 = 5.0;
const PROBE_RTT: f64 = 6.0;

/// 10 Mbit/s are 1250 packets a second, and in 40.8 ms 51 packets.
const LINE: f64 = 1250.0;
const RTT: f64 = 0.0408;
const BDP: f64 = 51.0;

/// A flow over a path, sampled each millisecond.
struct Trace {
    run: Run,
    time: Vec<f64>,
    phase: Vec<f64>,
}

impl Trace {
    fn of(run: Run) -> Self {
        let [time, phase] = ["time_s", "phase"].map(|name| numbers(&run, "flows", name));
        Self { run, time, phase }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        numbers(&self.run, "flows", name)
    }

    /// Rows at which a phase begins that lasts for a millisecond at least, and the phase.
    fn phases(&self) -> Vec<(usize, f64)> {
        let begins = |at: &usize| *at == 0 || self.phase[*at] != self.phase[at - 1];
        (0..self.phase.len()).filter(begins).map(|at| (at, self.phase[at])).collect()
    }

    /// Where a phase begins after `from` [s], and where it ends.
    fn spans(&self, phase: f64, from: f64) -> Vec<[usize; 2]> {
        let phases = self.phases();
        let spans = phases.windows(2).filter(|two| two[0].1 == phase && self.time[two[0].0] >= from);
        spans.map(|two| [two[0].0, two[1].0]).collect()
    }
}

/// One flow over 10 Mbit/s and 40 ms with a buffer that never fills, and what else a test says.
fn alone(cc: &str, sender: &str, seconds: u32, path: &Dumbbell<'_>) -> Trace {
    let flows = format!(
        "start = \"0 s\"\nseries = true\ncc = {{ law = \"bbr3\"{cc} }}\nsender = {{ initial_window = 10{sender} }}\n{}",
        path.flows
    );
    let top = format!("duration = \"{seconds} s\"\nsample = \"1 ms\"\nwarmup = \"1 s\"");
    Trace::of(Dumbbell { top: &top, flows: &flows, ..*path }.run())
}

const PATH: Dumbbell<'static> = Dumbbell { flows: "", ..Dumbbell::PLAIN };

fn plain(seconds: u32) -> Trace {
    alone("", "", seconds, &PATH)
}

/// "Exiting STARTUP on Bandwidth Plateau" and "Exiting DRAIN Based on Inflight": the bandwidth is the line's within 2 %, found three
/// rounds before the end; then the gain is 0.5 until no more than a bandwidth-delay product is in flight.
#[test]
fn startup_ends_on_a_plateau_and_drain_when_the_queue_is_gone() {
    let trace = plain(3);
    let (bandwidth, round) = (trace.column("max_bandwidth_packets_per_s"), trace.column("round_count"));
    let [[drain, cruise]] = trace.spans(DRAIN, 0.0)[..] else { panic!("Drain once") };
    assert_near(bandwidth[drain], LINE, 0.02, "bandwidth at the end of Startup");
    let before = round.iter().position(|r| *r > round[drain] - 4.0).unwrap();
    assert!(bandwidth[drain] < 1.25 * bandwidth[before], "{} {}", bandwidth[before], bandwidth[drain]);
    eprintln!("Startup {} s, {} rounds; Drain until {} s", trace.time[drain], round[drain], trace.time[cruise]);
    assert_eq!(trace.column("pacing_gain")[drain], 0.5);
    let in_flight = trace.column("in_flight_packets");
    // A sample may come a packet after the acknowledgement that ended it.
    assert!(in_flight[cruise - 1] > BDP - 2.0 && in_flight[cruise] <= BDP + 1.0, "{}", in_flight[cruise]);
    assert!(trace.time[cruise] - trace.time[drain] < 0.1);
}

/// "Exiting STARTUP on Loss When Application-Limited": a receiver that takes 200 packets limits the flow on a line ten times as fast.
/// With 5 % lost it leaves Startup, and without losses it never does ("Never Exiting PROBE_UP (or STARTUP) When Application-Limited
/// With No Loss"); the visits to ProbeRTT lead back to it ("Entering and Exiting PROBE_RTT During STARTUP").
#[test]
fn a_flow_short_of_data_leaves_startup_by_losses_only() {
    let fast = Dumbbell { rate: "\"100 Mbit/s\"", ..PATH };
    let lossy = alone("", ", receive_window = 200", 3, &Dumbbell { link: "loss = 0.05", ..fast });
    assert!(
        lossy
            .phase
            .iter()
            .zip(&lossy.time)
            .all(|(phase, time)| (*phase == STARTUP) == (*time < lossy.time[lossy.spans(STARTUP, 0.0)[0][1]]))
    );
    assert!(lossy.time[lossy.spans(STARTUP, 0.0)[0][1]] < 0.5);
    assert!(lossy.column("inflight_longterm_packets").last().unwrap() > &0.0);
    let clean = alone("", ", receive_window = 200", 30, &fast);
    let others: Vec<f64> = clean.phase.iter().copied().filter(|p| *p != STARTUP).collect();
    assert!(others.iter().all(|p| *p == PROBE_RTT), "{:?}", clean.phases());
    assert!(clean.spans(PROBE_RTT, 0.0).len() >= 4 && clean.spans(STARTUP, 0.0).len() >= 4);
}

/// "Exiting DRAIN Based on Time". With a tenth less of the line at the entry, as the case has it, Drain sends 0.5 x 0.99 of the old rate
/// over 0.9 of it, and the queue is gone in 2.5 round trips: before three are over. With half of the line it is never gone, and
/// Drain ends when more than three rounds began.
#[test]
fn drain_ends_by_rounds_where_the_queue_stays() {
    let begins = plain(3).spans(DRAIN, 0.0)[0][0] as f64 * 1e-3 + 1e-3;
    for (rate, stays) in [("9 Mbit/s", false), ("5 Mbit/s", true)] {
        let rate = format!("[[\"0 s\", \"10 Mbit/s\"], [\"{begins} s\", \"{rate}\"]]");
        let trace = alone("", "", 3, &Dumbbell { rate: &rate, ..PATH });
        let [from, to] = trace.spans(DRAIN, 0.0)[0];
        let (round, in_flight) = (trace.column("round_count"), trace.column("in_flight_packets"));
        let rounds = round[to] - round[from];
        eprintln!("{rate}: {rounds} rounds, {} in flight", in_flight[to]);
        assert_eq!(in_flight[to] > BDP + 1.0, stays);
        assert_eq!(rounds, if stays { 4.0 } else { 1.0 });
    }
}

/// "Exiting PROBE_UP on Bandwidth Plateau" and "Exiting PROBE_DOWN on Inflight": a probe ends after three rounds of 1.25 without
/// growth, the gain of 0.9 when a bandwidth-delay product is in flight, and nothing is lost.
#[test]
fn a_cycle_goes_up_and_down() {
    let trace = plain(30);
    let (gain, round, in_flight) =
        (trace.column("pacing_gain"), trace.column("round_count"), trace.column("in_flight_packets"));
    let ups = trace.spans(UP, 1.0);
    assert!(ups.len() > 8, "{}", ups.len());
    for [from, to] in ups {
        assert_eq!((gain[from], round[to] - round[from], trace.phase[to]), (1.25, 3.0, DOWN));
        assert_eq!(trace.phase[from - 1], REFILL);
    }
    for [from, to] in trace.spans(DOWN, 1.0) {
        assert_eq!(gain[from], 0.9);
        let cruises = trace.phase[to] == CRUISE && in_flight[to] <= BDP + 2.0 && in_flight[to - 1] > BDP - 2.0;
        assert!(cruises || trace.phase[to] == PROBE_RTT, "{} {}", trace.phase[to], in_flight[to]);
    }
    assert_eq!(link(&trace.run, "b").drops, 0);
    let queue = link(&trace.run, "b");
    eprintln!("queue {} mean, {} most, of {BDP}", queue.queue_mean_packets, queue.queue_max_packets);
}

/// "Exiting PROBE_DOWN After Max Time": with a tenth less of the line from the first DOWN on, the flow sends what the line carries, and
/// the queue stays. The next phase is REFILL, after as many rounds as the path has packets or two to three seconds.
#[test]
fn down_ends_when_the_wait_is_over() {
    let begins = plain(4).spans(DOWN, 1.0)[0][0] as f64 * 1e-3 + 1e-3;
    let rate = format!("[[\"0 s\", \"10 Mbit/s\"], [\"{begins} s\", \"9 Mbit/s\"]]");
    let trace = alone(", probe_rtt_interval = \"60 s\"", "", 10, &Dumbbell { rate: &rate, ..PATH });
    let [from, to] = trace.spans(DOWN, 1.0)[0];
    let lasts = trace.time[to] - trace.time[from];
    eprintln!("DOWN lasts {lasts} s");
    assert_eq!(trace.phase[to], REFILL);
    assert!((2.0..=3.0).contains(&lasts), "{lasts}");
}

/// "Entering and Exiting PROBE_RTT": every five seconds, for 200 ms and a round trip, half a bandwidth-delay product. The draft's
/// arithmetic: (0.2 x 0.5 + 4.8) / 5 = 0.98 of the rate, so it costs 2 %.
#[test]
fn probe_rtt_costs_two_percent() {
    let trace = plain(61);
    let visits = trace.spans(PROBE_RTT, 0.0);
    let (window, round) = (trace.column("window_packets"), trace.column("round_count"));
    assert!((11..=12).contains(&visits.len()), "{}", visits.len());
    for [from, to] in &visits {
        let lasts = trace.time[*to] - trace.time[*from];
        assert!((0.2..0.2 + 3.0 * RTT).contains(&lasts) && round[*to] > round[*from], "{lasts}");
        assert_near(window[*from], 0.5 * BDP, 0.02, "window");
        assert_eq!(trace.phase[*to], CRUISE);
        assert!(window[*to] > 1.9 * BDP);
    }
    for two in visits.windows(2) {
        let between = trace.time[two[1][0]] - trace.time[two[0][1]];
        assert!((4.99..5.1).contains(&between), "{between}");
    }
    let never = alone(", probe_rtt_interval = \"1000 s\", min_rtt_window = \"1000 s\"", "", 61, &PATH);
    let rate = |trace: &Trace| group(&trace.run, "f").throughput_packets_per_s;
    let cost = 1.0 - rate(&trace) / rate(&never);
    eprintln!("ProbeRTT costs {:.2} %", cost * 100.0);
    assert!((0.01..0.03).contains(&cost), "{cost}");
}

/// "Skipping PROBE_RTT Due to Application-Limited Sending": 2 MB, which take longer than a second, and six seconds of silence.
#[test]
fn idleness_spares_probe_rtt() {
    let path = Dumbbell { flows: "size = \"2 MB\"\nidle = \"6 s\"", ..PATH };
    let trace = alone("", ", remember = \"everything\"", 40, &path);
    let probes = trace.spans(PROBE_RTT, 0.0);
    assert!(group(&trace.run, "f").transfers.as_ref().unwrap().completed >= 4);
    assert!(probes.is_empty(), "{:?}", trace.phases());
}

/// Acknowledgements of 20 ms come together. "Achieving Expected STARTUP Bandwidth on a Link With Aggregation": Startup finds the whole
/// line with more than two bandwidth-delay products in the window. "Achieving Expected Cruise Bandwidth on a Link With Aggregation":
/// what comes together adds to the window, and the line is busy.
#[test]
fn aggregation_finds_room_in_the_window() {
    let link_keys = "aggregation = { time = \"20 ms\", rate = \"100 Mbit/s\" }";
    let trace = alone("", "", 20, &Dumbbell { link: link_keys, ..PATH });
    let (bandwidth, window, extra) = (
        trace.column("max_bandwidth_packets_per_s"),
        trace.column("window_packets"),
        trace.column("extra_acked_packets"),
    );
    let drain = trace.spans(DRAIN, 0.0)[0][0];
    eprintln!("{} packets a second, window {}, {} extra", bandwidth[drain], window[drain], extra[drain]);
    assert!(bandwidth[drain] > 0.98 * LINE && window[drain] > 2.0 * BDP);
    let least = trace.column("min_rtt_s");
    for [_, to] in trace.spans(CRUISE, 1.0) {
        let at = to - 1;
        assert!(extra[at] > 1.0, "{}", extra[at]);
        assert_near(window[at], 2.0 * bandwidth[at] * least[at] + extra[at], 0.001, "window");
    }
    assert!(link(&trace.run, "b").utilization > 0.95, "{}", link(&trace.run, "b").utilization);
}

/// "Correctly Managing Sub-Packet BDPs": 64 kbit/s and 40 ms are a third of a packet. Four packets are the least window, and the rate is
/// that of the line.
#[test]
fn a_path_shorter_than_a_packet_has_four() {
    let trace = alone("", "", 60, &Dumbbell { rate: "\"64 kbit/s\"", ..PATH });
    let (window, rate) = (trace.column("window_packets"), trace.column("pacing_rate_packets_per_s"));
    assert!(window.iter().all(|w| *w >= 4.0));
    let cruises = trace.spans(CRUISE, 25.0);
    assert!(cruises.len() > 3);
    for [_, to] in cruises {
        assert_near(rate[to - 1], 0.99 * 8.0, 0.02, "pacing rate");
    }
    assert!(link(&trace.run, "b").utilization > 0.98);
}

/// "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached". A probe raises the rate by 1.25 x 0.99 a round, so ten times take
/// ln 10 / ln 1.2375 = 10.8 rounds. A path of 500 packets has log2 500 = 9 doublings; twice as many rounds are the bound.
#[test]
fn ten_times_the_line_takes_few_rounds() {
    let rate = "[[\"0 s\", \"10 Mbit/s\"], [\"9.5 s\", \"100 Mbit/s\"]]";
    let trace = alone("", "", 20, &Dumbbell { rate, ..PATH });
    let (bandwidth, round) = (trace.column("max_bandwidth_packets_per_s"), trace.column("round_count"));
    let [up, _] = trace.spans(UP, 9.5)[0];
    let reached = bandwidth.iter().position(|b| *b > 9.8 * LINE).expect("ten times");
    let rounds = round[reached] - round[up];
    eprintln!("{rounds} rounds, {} s", trace.time[reached] - trace.time[up]);
    assert!(reached > up && rounds <= 18.0, "{rounds}");
    assert_near(*bandwidth.last().unwrap(), 10.0 * LINE, 0.02, "bandwidth");
}

/// "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down", with a buffer of 100 packets: losses bring the short-term bounds
/// down, and two cycles later the bandwidth is that of the line.
#[test]
fn a_tenth_of_the_line_is_found_in_two_cycles() {
    let rate = "[[\"0 s\", \"100 Mbit/s\"], [\"10 s\", \"10 Mbit/s\"]]";
    let trace = alone("", "", 40, &Dumbbell { rate, buffer: "\"100 packets\"", ..PATH });
    let (bandwidth, short) =
        (trace.column("max_bandwidth_packets_per_s"), trace.column("bandwidth_shortterm_packets_per_s"));
    let adapted = (10_000..bandwidth.len()).find(|at| bandwidth[*at] < 1.02 * LINE).expect("a tenth");
    let probes = trace.spans(DOWN, 10.0).iter().filter(|[from, _]| *from < adapted).count();
    let bounded = (10_000..adapted).find(|at| short[*at] > 0.0 && short[*at] < 5.0 * LINE).expect("losses bound it");
    eprintln!("half at {} s, a tenth at {} s, after {probes} probes", trace.time[bounded], trace.time[adapted]);
    assert_eq!(probes, 2);
    for b in &bandwidth[adapted..] {
        assert_near(*b, LINE, 0.05, "bandwidth");
    }
}

/// "Handling Token Bucket Policers": 10 Mbit/s and 60 kB of a line of 100. Short-term bounds respond to the losses; in the end less than 2 %
/// is lost, which is what the law tolerates, and of the rate no more goes unused than its headroom of 15 %.
#[test]
fn a_policer_has_its_way() {
    let link_keys = "policer = { rate = \"10 Mbit/s\", burst = \"60 kB\" }";
    let trace = alone("", "", 60, &Dumbbell { rate: "\"100 Mbit/s\"", link: link_keys, ..PATH });
    assert!(trace.column("bandwidth_shortterm_packets_per_s").iter().any(|b| *b > 0.0));
    let found = group(&trace.run, "f");
    eprintln!("{} packets a second, {} lost", found.throughput_packets_per_s, found.loss_rate);
    assert!(found.loss_rate < 0.02 && found.throughput_packets_per_s > 0.85 * LINE, "{found:?}");
}

/// "Handling Spurious Fast Recovery" and "Handling Spurious RTO Recovery": late packets, and a silent line, whose losses are undone. Late
/// packets leave no bound; a sender that cannot tell has one for seconds. After the silence the window is what it was as soon as
/// the first packet arrives, where a sender that cannot tell begins with what it had in flight.
#[test]
fn losses_that_were_none_leave_no_bound() {
    let late = |undo: bool| {
        // Each widens the time that the sender waits for late packets, so that most are undone in the first second.
        let flows = format!(
            "start = \"0 s\"\nseries = true\ncc = {{ law = \"bbr3\" }}\nsender = {{ recovery = \"rack\", undo = {undo} }}"
        );
        let top = "duration = \"40 s\"\nsample = \"1 ms\"\nwarmup = \"0 s\"";
        let link = "reorder = { share = 0.002, by = \"30 ms\" }";
        Trace::of(Dumbbell { top, link, flows: &flows, ..PATH }.run())
    };
    let bounded =
        |trace: &Trace| trace.column("inflight_shortterm_packets").iter().filter(|bound| **bound > 0.0).count();
    let [undone, kept] = [true, false].map(late);
    assert!(group(&undone.run, "f").undone_recoveries.is_some_and(|n| n > 0));
    eprintln!("bounded for {} ms, and for {} ms without undo", bounded(&undone), bounded(&kept));
    assert!(bounded(&undone) == 0 && bounded(&kept) > 0);
    assert!(undone.column("inflight_longterm_packets").iter().all(|bound| *bound == 0.0));
    let rate = "[[\"0 s\", \"10 Mbit/s\"], [\"4 s\", \"0 bit/s\"], [\"4.5 s\", \"10 Mbit/s\"]]";
    let [undone, kept] = [true, false].map(|undo| {
        let sender = format!(", recovery = \"rack\", tail_loss_probe = false, undo = {undo}");
        let silent = alone("", &sender, 12, &Dumbbell { rate, ..PATH });
        assert_eq!(group(&silent.run, "f").timeouts, 1);
        let window = silent.column("window_packets");
        assert!(window[4300] == 1.0 && window[3900] > 2.0 * BDP);
        // Two packets after the silence.
        window[4507] / window[3900]
    });
    eprintln!("the window is {undone} of what it was, and {kept} without undo");
    assert!(undone >= 1.0 && kept < 0.5);
}

/// "Handling Loss During PROBE_UP After inflight_longterm is Set", in a buffer of a fifth of a bandwidth-delay product: probes end by
/// losses, the bound is what fits, and a probe that was too high is followed by a short one. Alone on its path a flow gains nothing by that precaution: where the short
/// probe is safe another follows at once, and it loses a little more in all.
#[test]
fn a_shallow_buffer_is_found() {
    let shallow = Dumbbell { buffer: "\"10 packets\"", ..PATH };
    let trace = alone("", "", 40, &shallow);
    let (bound, time) = (trace.column("inflight_longterm_packets"), &trace.time);
    let ups = trace.spans(UP, 1.0);
    let short = ups.iter().filter(|[from, to]| time[*to] - time[*from] < 3.0 * RTT).count();
    eprintln!("{} of {} probes are shorter than three round trips", short, ups.len());
    assert!(ups.len() > 10 && short * 2 > ups.len());
    // Pipe and buffer hold 61 packets; x / (61 + x) are lost of what is more, and a packet is in transmission.
    let answers: Vec<f64> =
        (1..bound.len()).filter(|at| time[*at] > 1.0 && bound[*at] < bound[at - 1]).map(|at| bound[at]).collect();
    eprintln!("{} answers, {answers:?}", answers.len());
    assert!(answers.len() > 5);
    for answer in answers {
        assert!((61.0..=61.0 / 0.98 + 1.0).contains(&answer), "{answer}");
    }
    let found = group(&trace.run, "f");
    let bold = alone(", precaution = false", "", 40, &shallow);
    eprintln!("{} lost, {} without precaution", found.loss_rate, group(&bold.run, "f").loss_rate);
    assert!(found.loss_rate < 0.02, "{}", found.loss_rate);
    assert!(link(&trace.run, "b").utilization > 0.95);
}

/// "Handling Application-Limited Sending During PROBE_REFILL": pauses of half a second come in every phase; the bandwidth is no less for
/// them.
#[test]
fn what_is_short_of_data_does_not_lower_the_bandwidth() {
    let path = Dumbbell { flows: "on_off = { on = \"2.1 s\", off = \"500 ms\" }", ..PATH };
    let trace = alone("", "", 60, &path);
    let bandwidth = trace.column("max_bandwidth_packets_per_s");
    for b in &bandwidth[1000..] {
        assert!(*b > 0.95 * LINE, "{b}");
    }
    assert!(trace.spans(REFILL, 1.0).len() > 5 && trace.spans(UP, 1.0).len() > 5);
}

/// A cycle of 100 Mbit/s and 40 ms: two to three seconds of the clock, or 62 to 63 rounds, which are 2.5 s; and the probe itself.
#[test]
fn a_cycle_takes_two_to_three_seconds() {
    let trace = alone(", probe_rtt_interval = \"1000 s\"", "", 60, &Dumbbell { rate: "\"100 Mbit/s\"", ..PATH });
    let starts: Vec<f64> = trace.spans(DOWN, 1.0).iter().map(|[from, _]| trace.time[*from]).collect();
    let waits: Vec<f64> = trace.spans(REFILL, 1.0).iter().map(|[from, _]| trace.time[*from]).collect();
    let cycles: Vec<f64> = starts.windows(2).map(|two| two[1] - two[0]).collect();
    let least = cycles.iter().copied().fold(f64::INFINITY, f64::min);
    let most = cycles.iter().copied().fold(0.0, f64::max);
    eprintln!("{} cycles of {least} to {most} s", cycles.len());
    assert!(cycles.len() >= 18 && least >= 2.0 && most <= 3.0);
    for start in &starts[..starts.len() - 1] {
        let wait = waits.iter().find(|at| *at > start).unwrap() - start;
        // A DOWN of three or more round trips of up to two minima counts rounds, too.
        assert!((1.99..63.0 * RTT + 4.0 * RTT).contains(&wait), "{wait}");
    }
}

/// Window-limited flows: windows of twice the bandwidth-delay product and `a` packets each make the round trip 2 R + N a / C, whatever the
/// buffer (FRCC, NSDI 2026), within 10 %. `a` is what the flows measured of aggregation.
#[test]
fn windows_bound_the_round_trip() {
    for count in [2, 4, 8] {
        let flows = format!(
            "count = {count}\nstart = {{ every = \"100 ms\" }}\nseries = true\ncc = {{ law = \"bbr3\" }}\n\
             sender = {{ initial_window = 10 }}"
        );
        let top = "duration = \"60 s\"\nwarmup = \"20 s\"\nsample = \"10 ms\"";
        let run = Dumbbell { top, rate: "\"40 Mbit/s\"", flows: &flows, ..Dumbbell::PLAIN }.run();
        let (extra, time) = (numbers(&run, "flows", "extra_acked_packets"), numbers(&run, "flows", "time_s"));
        let late: Vec<f64> = extra.iter().zip(&time).filter(|(_, t)| **t > 20.0).map(|(x, _)| *x).collect();
        let a = late.iter().sum::<f64>() / late.len() as f64;
        let expected = 2.0 * 0.0402 + f64::from(count) * a / 5000.0;
        let is = group(&run, "f").rtt_mean_s.unwrap();
        eprintln!("{count} flows: {is} s, by the formula {expected} s");
        assert_near(is, expected, 0.1, "round trip");
    }
}

/// Four flows at 50 Mbit/s and 40 ms that begin one after the other have the same in the end, over buffers of one and of a hundred
/// bandwidth-delay products (Cardwell et al., IETF 117 and 119, without a time). Jain's index of the third and fourth minute is above
/// 0.95.
#[test]
fn staggered_flows_come_together() {
    let text = include_str!("../../../../scenarios/today/bbr3-staggered.toml");
    let (one, _) = text.split_once("[sweep]").unwrap();
    for packets in [167, 16_700] {
        let run = run(&one.replace("\"167 packets\"", &format!("\"{packets} packets\"")));
        let rates: Vec<f64> = flows(&run, "bbr").iter().map(|f| f.goodput_bit_per_s).collect();
        let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|r| r * r).sum::<f64>());
        let jain = sum * sum / (4.0 * squares);
        eprintln!("{packets}: {rates:?}, {jain}, {}", group(&run, "bbr").loss_rate);
        assert!(jain > 0.95, "{rates:?}");
        assert!(link(&run, "bottleneck").utilization > 0.95);
    }
}

/// The preset of Linux drains faster and has no end of Drain by rounds.
#[test]
fn linux_has_constants_of_its_own() {
    let gains = |cc: &str| {
        let trace = alone(cc, "", 4, &PATH);
        let gain = trace.column("pacing_gain");
        [DRAIN, DOWN].map(|phase| gain[trace.spans(phase, 0.0).last().unwrap()[0]])
    };
    assert_eq!(gains(""), [0.5, 0.9]);
    let [drain, down] = gains(", preset = \"linux-v3\"");
    assert!((drain - 1000.0 / 2885.0).abs() < 1e-9 && (down - 0.91).abs() < 1e-9);
}
