//! Numbers of behaviour over time (`[dynamics]`): what they come to where it is known, and that asking changes nothing.

use penstock_scenario::summary::{GroupDynamics, LinkDynamics, Measured, Summary};
use penstock_scenario::world::Run;

use crate::laboratory::{assert_near, run, scenario};

/// A line of 20 Mbit/s; `link` and `flows` are the rest of both, and `top` comes first.
fn dumbbell(top: &str, link: &str, flows: &str) -> String {
    format!(
        r#"
format = 1
duration = "40 s"
warmup = "10 s"
packet = {{ wire = "1500 B", payload = "1448 B" }}
{top}
[links.b]
from = "l"
to = "r"
rate = "20 Mbit/s"
delay = "10 ms"
{link}
[defaults.flows]
from = "l"
to = "r"
rtt = "40 ms"
{flows}
"#
    )
}

fn link(span: &Measured) -> &LinkDynamics {
    span.links["b"].dynamics.as_ref().unwrap()
}

fn group<'a>(span: &'a Measured, name: &str) -> &'a GroupDynamics {
    span.groups[name].dynamics.as_ref().unwrap()
}

/// A run without the numbers of behaviour over time.
fn without(mut run: Run) -> Run {
    let spare = |span: &mut Measured| {
        span.dynamics = None;
        span.links.values_mut().for_each(|link| link.dynamics = None);
        span.groups.values_mut().for_each(|group| group.dynamics = None);
    };
    let Summary { whole, windows, .. } = &mut run.summary;
    spare(whole);
    windows.values_mut().for_each(spare);
    run
}

/// Asking changes no draw and no event: summary, flows and series are the same to the last bit, of queues and hosts of all kinds.
#[test]
fn asking_changes_nothing_else() {
    let flows = r#"
[flows.f]
count = 3
cc = { law = "newreno", ecn = true }
start = { uniform = ["0 s", "1 s"] }
jitter = { uniform = ["0 s", "1 ms"] }
[flows.host]
cc = { law = "cubic" }
sender = { profile = "linux" }
[flows.short]
count = 5
cc = { law = "newreno" }
size = "40 kB"
idle = { exponential = "0.2 s" }
series = true
[flows.deaf]
cc = { law = "cbr", rate = "2 Mbit/s" }
"#;
    let links = [
        r#"buffer = "1 bdp""#,
        "buffer = \"40 packets\"\nloss = 0.01\nduplicate = 0.001\nreorder = { share = 0.01, by = \"2 ms\" }\nduplex = true",
        "buffer = \"2 bdp\"\naqm = { law = \"red\", ecn = true }",
        "buffer = \"2 bdp\"\naqm = { law = \"codel\" }",
        "buffer = \"2 bdp\"\nscheduler = { law = \"drr\" }",
        "buffer = \"2 bdp\"\npolicer = { rate = \"15 Mbit/s\", burst = \"30 kB\" }",
        "buffer = \"2 bdp\"\naqm = { law = \"dualpi2\" }",
    ];
    for each in links {
        let text = |dynamics: &str| {
            let top = format!("[windows]\nlate = [\"25.01 s\", \"40 s\"]\n{dynamics}");
            dumbbell(&top, each, flows)
        };
        let plain = run(&text(""));
        // At the moments of packets too: 0.6 ms is what one takes.
        for dynamics in ["[dynamics]", "[dynamics]\nround = \"0.6 ms\""] {
            let asked = run(&text(dynamics));
            assert!(asked.summary.whole.dynamics.is_some() && asked.summary.windows["late"].dynamics.is_some());
            assert_eq!(link(&asked.summary.whole).loss_ratio.is_some(), plain.summary.whole.links["b"].arrivals > 0);
            // As text, in which what is no number equals itself.
            assert!(format!("{:?}", without(asked)) == format!("{plain:?}"), "{each} {dynamics}");
        }
    }
}

/// One NewReno flow with a window of up to the product and the buffer, which it halves: the queue empties where the buffer is
/// smaller than the product, for longer the smaller it is, and keeps 1.5 products, or 60 ms, of four.
#[test]
fn a_standing_queue_grows_with_the_buffer() {
    let standing = |buffer: &str| {
        let flows = "[flows.f]\ncc = { law = \"newreno\" }";
        let run = run(&dumbbell("[dynamics]", &format!("buffer = \"{buffer}\""), flows).replace("40 s", "200 s"));
        let of = link(&run.summary.whole).clone();
        let (seconds, rounds) = (of.standing_queue_s.unwrap(), of.standing_queue_rounds.unwrap());
        assert!((seconds - 0.04 * rounds).abs() < 1e-12, "a round is the round trip");
        (seconds, of)
    };
    let ((tiny, _), (half, _), (four, of)) = (standing("5 packets"), standing("0.5 bdp"), standing("4 bdp"));
    assert!(tiny < 5e-4 && 2e-3 < half && half < 8e-3, "{tiny} {half}");
    // Between the least of 60 ms and the most of 160 ms, which it climbs slower the more it has.
    assert!((0.09..0.14).contains(&four), "{four}");
    assert!(of.queueing_delay_p50_s.unwrap() > four && of.queueing_delay_p95_s.unwrap() < 0.161, "{of:?}");
}

/// A source of half the rate leaves no queue, loses nothing, and is even; one of the whole rate and a half keeps the buffer
/// full, and a third of its packets are lost, at least every other one passing.
#[test]
fn a_source_of_constant_rate() {
    let at = |rate: &str| {
        let flows = format!("[flows.f]\nstart = \"0 s\"\ncc = {{ law = \"cbr\", rate = \"{rate}\" }}");
        let run = run(&dumbbell("[dynamics]\nround = \"40 ms\"", "buffer = \"100 packets\"", &flows));
        (link(&run.summary.whole).clone(), group(&run.summary.whole, "f").clone())
    };
    let (link, group) = at("10 Mbit/s");
    assert_eq!((link.standing_queue_s, link.queueing_delay_p95_s, link.loss_ratio), (Some(0.0), Some(0.0), Some(0.0)));
    assert_eq!((link.drops_in_100_s, link.lossy_intervals, link.useful), (0, Some(0), Some(1.0)));
    assert_eq!((link.loss_gap_mean_packets, link.synchronization, link.settling_60_s), (None, None, None));
    // 33 or 34 packets a round.
    assert!(group.oscillation_1.unwrap() < 0.02 && group.oscillation_100.unwrap() < 1e-3, "{group:?}");
    assert_eq!((group.worst_round_loss, group.starvation), (Some(0.0), None));
    assert!(group.delay_variation_s.unwrap() < 1e-5, "{group:?}");
    let (link, group) = at("30 Mbit/s");
    assert_near(link.loss_ratio.unwrap(), 1.0 / 3.0, 1e-3, "a third is too much");
    assert_near(link.loss_gap_mean_packets.unwrap(), 2.0, 1e-2, "every third");
    assert_eq!((link.adjacent_losses, link.synchronization), (Some(0.0), Some(1.0)));
    // 100 packets of 0.6 ms, and what is left of the one in transmission; or one less.
    assert!((0.0594..=0.06).contains(&link.standing_queue_s.unwrap()), "{link:?}");
    assert_eq!((link.settling_90_s, link.lossy_intervals), (Some(0.0), Some(3)));
    assert_near(link.drops_in_100_s as f64, 30.0 * 2500.0 / 3.0, 1e-3, "of 30 s");
    assert_near(group.worst_round_loss.unwrap(), 1.0 / 3.0, 0.03, "a third in each round");
}

/// An outage from 20 s to 24 s of an unresponsive source: the link is busy again at once; its queue is longest then, by
/// what came in the outage.
#[test]
fn an_outage_is_an_overshoot() {
    let link_of = |run: &Run| link(&run.summary.windows["after"]).clone();
    let text = dumbbell(
        "[dynamics]\nround = \"40 ms\"\n[windows]\nafter = [\"20 s\", \"40 s\"]",
        "buffer = \"unlimited\"",
        "[flows.f]\nstart = \"0 s\"\ncc = { law = \"cbr\", rate = \"10 Mbit/s\" }",
    );
    let steady = link_of(&run(&text));
    assert_eq!(steady.queue_overshoot_s, Some(0.0));
    let outage = text.replace(
        "rate = \"20 Mbit/s\"",
        "rate = [[\"0 s\", \"20 Mbit/s\"], [\"20 s\", \"0 bit/s\"], [\"24 s\", \"20 Mbit/s\"]]",
    );
    let outage = link_of(&run(&outage));
    assert_near(outage.queue_overshoot_s.unwrap(), 4.0, 2e-3, "the first waits for 4 s, and the last ones not at all");
    // It sends at its rate until 28 s, and at half of it then: never for good.
    assert_eq!(outage.settling_60_s, None);
}

/// A source whose rate steps up to 66, 85 and 97 % of the line. The mean of ten rounds is above 60, 80 and 90 % where so many
/// of them come after the step: 7, 8 and 5.
#[test]
fn settling_counts_windows_before_the_step() {
    let steps = r#"[["0 s", "10 Mbit/s"], ["30 s", "13.2 Mbit/s"], ["34 s", "17 Mbit/s"], ["38 s", "19.4 Mbit/s"]]"#;
    let text = dumbbell(
        "[dynamics]\nround = \"40 ms\"\n[windows]\nafter = [\"20 s\", \"40 s\"]",
        "buffer = \"unlimited\"",
        &format!("[flows.f]\nstart = \"0 s\"\ncc = {{ law = \"cbr\", rate = {steps} }}"),
    );
    let link = link(&run(&text).summary.windows["after"]).clone();
    let settles = [link.settling_60_s, link.settling_80_s, link.settling_90_s].map(Option::unwrap);
    for (is, step, rounds) in [(settles[0], 10.0, 3.0), (settles[1], 14.0, 2.0), (settles[2], 18.0, 5.0)] {
        assert_near(is, step - 0.04 * rounds, 1e-9, "so many rounds before the step");
    }
}

/// Two flows of which the second comes at 20 s, with a queue each: they share fairly as soon as it has its window, which
/// takes a slow start. In one queue of drop-tail it takes halvings of the first.
#[test]
fn a_latecomer_gets_its_share() {
    let flows = "[flows.f]\ncount = 2\nstart = { every = \"20 s\" }\ncc = { law = \"newreno\" }\n";
    let summary = |link: &str| run(&dumbbell("[dynamics]", link, flows).replace("40 s", "80 s")).summary.whole;
    let apart = summary("buffer = \"4 bdp\"\nscheduler = { law = \"drr\" }");
    let dynamics = apart.dynamics.unwrap();
    let time = dynamics.fair_time_s.unwrap();
    assert_near(time, 0.04 * dynamics.fair_rounds.unwrap(), 1e-9, "in rounds");
    assert!(time > 0.1 && time < 4.0, "{time}");
    let of = group(&apart, "f");
    // The first had all of it for 10 of the 70 s, of which the second was there for 60.
    assert_near(of.starvation.unwrap(), 80.0 / 70.0, 0.03, "40 s against 30 s of the rate, over 70 and 60 s");
    assert!((0.08..1.0).contains(&of.startup_s.unwrap()), "{of:?}");
    let together = summary("buffer = \"1 bdp\"");
    assert!(together.dynamics.unwrap().fair_time_s.unwrap() > 2.0 * time);
}

/// Two flows where one has eight times the round trip of the other: rates differ by what Reno's bias makes of it, and the
/// ratio of their goodputs is the one in the flows' own table.
#[test]
fn starvation_is_the_ratio_of_goodputs() {
    let flows = "[flows.f]\ncount = 2\nrtt = [\"40 ms\", \"320 ms\"]\ncc = { law = \"newreno\" }\nstart = \"0 s\"\n";
    let summary = run(&dumbbell("[dynamics]", "buffer = \"1 bdp\"", flows).replace("40 s", "100 s")).summary;
    let goodput: Vec<f64> = summary.whole.flows.iter().map(|flow| flow.goodput_bit_per_s).collect();
    let found = group(&summary.whole, "f").starvation.unwrap();
    assert_near(found, goodput[0] / goodput[1], 1e-9, "each was there for all of it");
    assert!(found > 2.0, "{found}");
    assert_near(summary.whole.dynamics.unwrap().round_s, 0.32, 1e-12, "the longer round trip");
}

/// Needless retransmissions are of no use: duplicate deliveries are those that the group's own count has.
#[test]
fn needless_packets_are_of_no_use() {
    // Packets come late by more than three others take: NewReno takes them for lost.
    let flows = "[flows.f]\ncount = 2\ncc = { law = \"newreno\" }\n";
    let text = dumbbell("[dynamics]", "buffer = \"1 bdp\"\nreorder = { share = 0.02, by = \"10 ms\" }", flows);
    let summary = run(&text).summary;
    let group = &summary.whole.groups["f"];
    let needless = group.spurious_retransmits.unwrap() as f64;
    let arrived = group.throughput_packets_per_s * summary.whole.measured_s;
    assert!(needless > 100.0);
    let useful = link(&summary.whole).useful.unwrap();
    assert_near(useful, 1.0 - needless / arrived, 1e-9, "one of the two");
    // Of a busy line the useful part, but for packets on the way at the ends of the span.
    let found = link(&summary.whole).useful_utilization.unwrap();
    let goodput = group.goodput_bit_per_s * 1500.0 / 1448.0 / 20e6;
    assert_near(found, useful * summary.whole.links["b"].utilization, 5e-3, "needless ones left out");
    assert_near(found, goodput, 5e-3, "the goodput over the line's rate without headers");
}

/// Data that are lost on a second link were sent by the first for nothing: 5 % of them. Of the second all are new.
#[test]
fn what_is_lost_behind_a_link_is_of_no_use() {
    let text = dumbbell(
        "[dynamics]\nround = \"40 ms\"\n[links.second]\nfrom = \"r\"\nto = \"s\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\nbuffer = \"unlimited\"\nloss = 0.05",
        "buffer = \"100 packets\"",
        "[flows.f]\nto = \"s\"\ncc = { law = \"cbr\", rate = \"15 Mbit/s\" }",
    );
    let summary = run(&text).summary;
    let useful = |name: &str| summary.whole.links[name].dynamics.as_ref().unwrap().useful.unwrap();
    assert_near(useful("b"), 0.95, 5e-3, "5 % is lost behind it");
    assert_near(useful("second"), 1.0, 1e-12, "nobody sends again");
    // What is lost behind the first is no goodput of it either: 0.95 of three quarters, and 0.95 of 15 parts of 1000.
    let of_rate = |name: &str| summary.whole.links[name].dynamics.as_ref().unwrap().useful_utilization.unwrap();
    assert_near(summary.whole.links["b"].utilization, 0.75, 5e-3, "15 of 20 Mbit/s");
    assert_near(of_rate("b"), 0.95 * 0.75, 5e-3, "5 % is lost behind it");
    assert_near(of_rate("second"), 0.95 * 0.015, 5e-3, "of 1 Gbit/s");
    let loss = summary.whole.links["second"].dynamics.as_ref().unwrap();
    assert_near(loss.loss_gap_mean_packets.unwrap(), 19.0, 0.07, "one in twenty, wherever");
    assert_near(loss.adjacent_losses.unwrap(), 0.05, 0.3, "each by a draw of its own");
}

/// One-way delay varies by the queue: a flow that saturates a small buffer has its 99th percentile near the full one. The
/// ellipse has its delay on the queue's side of zero, and all of the rate.
#[test]
fn delay_variation_is_the_queue() {
    let flows = "[flows.f]\ncount = 8\ncc = { law = \"newreno\" }\n";
    for buffer in ["50 packets", "200 packets"] {
        let summary = run(&dumbbell("[dynamics]", &format!("buffer = \"{buffer}\""), flows)).summary;
        let (link, of) = (&summary.whole.links["b"], group(&summary.whole, "f"));
        let p99 = link.queueing_delay_p99_s.unwrap();
        let least = of.delay_variation_s.unwrap();
        // The least delay of a run of 30 s is that of a short queue, not of none.
        assert!(least <= p99 + 1e-3 && least > 0.5 * p99, "{buffer}: {least} {p99}");
        let ellipse = of.ellipse.unwrap();
        assert_near(ellipse.goodput_p50_bit_per_s / 20e6, 1448.0 / 1500.0, 0.02, "the rate without headers");
        let mean = link.queueing_delay_mean_s.unwrap();
        assert_near(ellipse.queueing_delay_p50_s / mean, 1.0, 0.1, "the median is near the mean");
    }
}

/// A run that ends early has the rounds until then, and one that is shorter than ten rounds has no windows.
#[test]
fn short_runs_leave_out_what_they_cannot_say() {
    let flows = "[flows.f]\nstart = \"0 s\"\ncc = { law = \"newreno\" }\nsize = \"500 kB\"\n[stop]\nwhen = \"transfers complete\"";
    let text = dumbbell("[dynamics]", "buffer = \"1 bdp\"", flows).replace("warmup = \"10 s\"", "");
    let summary = run(&text).summary;
    assert!(summary.whole.measured_s < 2.0);
    let group = group(&summary.whole, "f");
    assert_eq!((group.starvation, group.oscillation_100), (None, None));
    assert!(group.oscillation_1.is_some() && link(&summary.whole).queueing_delay_p50_s.is_some());
    let long = run(&text.replace("[dynamics]", "[dynamics]\nround = \"1 s\"")).summary;
    assert_eq!((link(&long.whole).standing_queue_s, link(&long.whole).settling_60_s), (None, None));
    assert!(scenario(&text).dynamics.is_some());
}
