//! Real packets over the emulated path. Needs root, or a user namespace, and TUN; where they are missing the tests say so
//! and count as not run.

mod laboratory;
#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::time::Duration;

use laboratory::{Laboratory, hard, line, noise, quantile};
use penstock_law::quantity::Time;

const MS: u64 = 1_000_000_000;

fn a_ping_takes_the_round_trip() {
    optional::timed(pings_take_the_round_trip);
}

fn pings_take_the_round_trip(late: &optional::Late) {
    let laboratory = Laboratory::new(&line("1 Gbit/s", "20 ms", ""), false);
    let rtts = laboratory.ping(100, Duration::from_millis(2), true);
    let bound = laboratory.path.bound;
    let outcome = laboratory.end();
    late.replace(outcome.lateness.sum_up(bound).beyond.into_iter().next());
    println!("ping: p50 {}, p99 {}, scheduling {}", quantile(&rtts, 0.5), quantile(&rtts, 0.99), outcome.scheduling);
    // Never too early; how late is a matter of the machine, and the bar for it is by hand.
    assert!(rtts[0] >= Time(20 * MS) && quantile(&rtts, 0.5) < Time(22 * MS), "{rtts:?}");
    assert_eq!(outcome.flawed, 0);
}

fn a_transfer_keeps_every_byte() {
    let text = line("200 Mbit/s", "5 ms", ", loss = 0.002, aqm = { law = \"pie\", ecn = true }");
    let laboratory = Laboratory::new(&text, true);
    let (sent, got, time) = laboratory.transfer(20_000_000, "cubic");
    assert_eq!(sent, got);
    let bound = laboratory.path.bound;
    let outcome = laboratory.end();
    let error = outcome.lateness.sum_up(bound);
    let passed = outcome.emulation.passed()[0];
    println!("transfer: {time}, {passed:?}, lateness p99 {:?}, gaps {}", error.lateness_p99, error.gaps);
    assert!(passed.lost > 5 && passed.delivered > 13_000, "{passed:?}");
    assert_eq!(passed.sent, passed.lost + passed.delivered);
}

/// Marks on real packets reach the sender: it requested ECN, the queue is short, and nothing has to be dropped for that.
fn marks_reach_the_sender() {
    let text =
        line("50 Mbit/s", "2 ms", ", aqm = { law = \"codel\", ecn = true, target = \"1 ms\", interval = \"10 ms\" }");
    let laboratory = Laboratory::new(&text, true);
    let (sent, got, _) = laboratory.transfer(10_000_000, "cubic");
    assert_eq!(sent, got);
    let passed = laboratory.end().emulation.passed()[0];
    let share = passed.marked as f64 / passed.delivered as f64;
    println!("marks: {passed:?}, {:.2} %", 100.0 * share);
    // A sender that did not hear of them would go on until everything is marked.
    assert!(share > 0.001 && share < 0.5 && passed.lost == 0, "{passed:?}");
}

/// One packet in ten marked or so, and one in a thousand lost: the same bytes.
fn many_marks_keep_every_byte() {
    let laboratory = Laboratory::new(&hard(), true);
    let (sent, got, time) = laboratory.transfer(10_000_000, "reno");
    assert_eq!(sent, got);
    let passed = laboratory.end().emulation.passed()[0];
    let share = passed.marked as f64 / passed.delivered as f64;
    println!("many marks: {time}, {passed:?}, {:.2} %", 100.0 * share);
    // From a sender that spaces its packets to one whose whole window stands in the queue at once, see `hard`.
    assert!(share > 0.02 && share < 0.15 && passed.lost > 0, "{passed:?}");
}

/// Noise of every protocol does the path no harm: what is for a flow passes, the rest is counted, and a ping still comes back.
fn noise_passes_or_is_counted() {
    const COUNT: u32 = 100_000;
    let laboratory = Laboratory::new(&line("10 Gbit/s", "1 ms", ""), false);
    let taken = laboratory.path.sender.within(|| noise(COUNT)).unwrap();
    let rtts = laboratory.ping(3, Duration::from_millis(10), true);
    let outcome = laboratory.end();
    println!(
        "noise: {taken} sent, {} for nobody, {} flawed, {} refused",
        outcome.strangers, outcome.flawed, outcome.refused
    );
    assert!(rtts.len() == 3 && taken > COUNT / 2, "{taken}");
    assert_eq!(outcome.unaccounted, 0);
}

fn main() {
    optional::run(
        &[
            ("a_ping_takes_the_round_trip", a_ping_takes_the_round_trip),
            ("a_transfer_keeps_every_byte", a_transfer_keeps_every_byte),
            ("marks_reach_the_sender", marks_reach_the_sender),
            ("many_marks_keep_every_byte", many_marks_keep_every_byte),
            ("noise_passes_or_is_counted", noise_passes_or_is_counted),
        ],
        optional::kernel(penstock_path::missing()),
    );
}
