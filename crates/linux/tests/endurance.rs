//! Half a minute of each controller on real packets, all of them at the same time and each on a path of its own. What is asserted
//! holds on a machine that does other things too: nothing of rates or times. Needs root, struct_ops and TUN; where they are
//! missing the test says so and counts as not run.

#[path = "../../kernel/tests/controllers/bench.rs"]
mod bench;
#[path = "../../kernel/tests/figures/mod.rs"]
mod figures;
#[path = "../../path/tests/laboratory/mod.rs"]
mod laboratory;
#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io, thread};

use bench::Bench;
use figures::netstat;
use laboratory::{Laboratory, line};
use optional::available;
use penstock_kernel::attach::{self, Place, controller};
use penstock_path::ends::FlowHabits;

const SECONDS: u64 = 30;
/// Packets that the path holds: 33 on the line (20 Mbit/s, 20 ms) and those that may wait.
const HOLDS: f64 = 33.0 + 200.0;

/// A law, what its queue is, and whether both ends have it.
struct Case {
    law: &'static str,
    settings: &'static [&'static str],
    queue: &'static str,
    both_ends: bool,
    /// The law's smallest window [packets].
    least: f64,
    /// Upper bound of its windows, by its observations [packets].
    most: fn(&Windows) -> f64,
}

const CASES: [Case; 5] = [
    Case {
        law: "fast",
        settings: &["law.alpha=20 packets"],
        queue: "",
        both_ends: false,
        least: 2.0,
        most: |_| 2.0 * HOLDS,
    },
    Case {
        law: "leadlag",
        settings: &[],
        queue: ", aqm = { law = \"price\" }",
        both_ends: true,
        least: 1.0,
        most: |_| 2.0 * HOLDS,
    },
    // A timeout leaves it one packet, as plain TCP has it. Its windows are within what the capacity that it sees carries in the
    // longest round trip, and that is for the machine to say.
    Case {
        law: "ccpd",
        settings: &[],
        queue: "",
        both_ends: false,
        least: 1.0,
        most: |windows| windows.seen * SECONDS as f64,
    },
    Case {
        law: "copa",
        settings: &["law.competitive=false"],
        queue: "",
        both_ends: false,
        least: 2.0,
        most: |_| 2.0 * HOLDS,
    },
    // A timeout leaves it one packet.
    Case {
        law: "prague",
        settings: &[],
        queue: ", aqm = { law = \"dualpi2\" }",
        both_ends: true,
        least: 1.0,
        most: |_| 2.0 * HOLDS,
    },
];

/// Observations by the acknowledgements of a run.
#[derive(Debug, Default)]
struct Windows {
    records: u64,
    marked: u64,
    least: f64,
    most: f64,
    /// The largest of its other observations: a price [s], a capacity [packets/s], or a round trip [s].
    seen: f64,
}

/// The controller is in effect to the end, every byte arrives as it was sent, every packet is accounted for, and every window is
/// one that the law can have.
fn a_controller_goes_on(bench: &Bench, case: &Case) {
    let Case { law, settings, queue, both_ends, least, most } = *case;
    bench.attach(law, Place::Sockets { default: None, trace: true }, settings).unwrap();
    let text = line("20 Mbit/s", "20 ms", queue).replace("\"unlimited\"", "\"200 packets\"");
    let habits = FlowHabits { ecn: both_ends, echoes: both_ends.then(|| law.into()), ..FlowHabits::default() };
    let laboratory = Laboratory::of(&text, &habits);
    let (over, mut windows) = (AtomicBool::new(false), Windows { least: f64::MAX, ..Windows::default() });
    let (sent, got, bytes) = thread::scope(|scope| {
        scope.spawn(|| {
            let hear = |record: &controller::Record| {
                // The receiver may have it too.
                if record.remote_port == 5000 {
                    windows.records += 1;
                    windows.marked += u64::from(record.marked);
                    windows.least = windows.least.min(record.window);
                    windows.most = windows.most.max(record.window);
                    windows.seen = windows.seen.max(record.price_or_capacity);
                }
            };
            controller::trace(&bench.pins, law, hear, || !over.load(Ordering::Relaxed)).unwrap();
        });
        let transfer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| laboratory.transfer_for(SECONDS, law)));
        over.store(true, Ordering::Relaxed);
        transfer.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    assert!(sent == got && bytes > 0, "{law}: {bytes} B, and others arrived");
    // A connection that still says goodbye when its path ends would keep the controller for minutes.
    let ends = [&laboratory.path.sender.namespace, &laboratory.path.receiver.namespace];
    bench::eventually(|| ends.iter().all(|end| end.within(said_goodbye).unwrap()));
    let outcome = laboratory.end();
    let passed = outcome.emulation.passed()[0];
    println!("{law}: {bytes} B, {passed:?}, {windows:?}");
    assert_eq!(outcome.unaccounted, 0, "{law}");
    assert_eq!(passed.sent, passed.lost + passed.delivered, "{law}");
    assert!(passed.delivered * 1448 >= bytes as u64, "{law}: {passed:?}");
    assert!(windows.records > 100, "{law}: {windows:?}");
    assert!(windows.least >= least && windows.most <= most(&windows), "{law}: {windows:?}");
    // Marks are what this law goes by, and nobody else asks for them.
    assert_eq!(windows.marked > 0, both_ends, "{law}: {windows:?}");
}

fn half_a_minute_of_each_controller() {
    let bench = Bench::new();
    let ours = &bench;
    thread::scope(|scope| {
        let runs = CASES.each_ref().map(|case| scope.spawn(move || a_controller_goes_on(ours, case)));
        for (case, run) in CASES.iter().zip(runs) {
            assert!(run.join().is_ok(), "{}", case.law);
        }
    });
    let mut attached: Vec<String> = attach::status(&bench.pins).unwrap().into_iter().map(|one| one.name).collect();
    attached.sort();
    assert_eq!(attached, ["ccpd", "copa", "fast", "leadlag", "prague"]);
    let made = bench::Objects::pinned(&bench.pins);
    assert_eq!((made.links.len(), made.left()), (5, made.clone()));
    drop(bench);
    bench::eventually(|| CASES.iter().all(|case| !available().contains(&case.law.to_owned())));
    // Programs go with the maps that hold them.
    bench::eventually(|| made.left() == bench::Objects::default());
}

/// Section V of CCPD's paper: a recovery ends once the packets sent before its loss are acknowledged, whatever is lost meanwhile.
/// On a path that loses 15 % of the packets retransmissions are lost too, and none of those losses is a congestion event. The
/// kernel counts its recoveries: each has one event at the most.
fn a_recovery_of_ccpd_has_one_congestion_event() {
    let bench = Bench::new();
    bench.attach("ccpd", Place::Sockets { default: None, trace: false }, &["law.kp=8"]).unwrap();
    let text = line("20 Mbit/s", "20 ms", ", loss = 0.15").replace("\"unlimited\"", "\"200 packets\"");
    let laboratory = Laboratory::of(&text, &FlowHabits::default());
    let (sent, got, _) = laboratory.transfer_for(3, "ccpd");
    assert_eq!(sent, got);
    let count = |name| laboratory.path.sender.within(|| netstat("TcpExt:", name)).unwrap();
    let (recoveries, lost_again) = (count("TCPSackRecovery"), count("TCPLostRetransmit"));
    let events = bench.figure("congestion_events");
    laboratory.end();
    println!("{events} congestion events, {recoveries} recoveries, {lost_again} retransmissions lost");
    assert!(events > 3.0 && lost_again > 3.0, "{events} congestion events, {lost_again} retransmissions lost");
    assert!(events <= recoveries, "{events} congestion events in {recoveries} recoveries");
}

/// Whether this namespace has no TCP socket but such as wait for late packets (TIME_WAIT, 6), which have no controller.
fn said_goodbye() -> io::Result<bool> {
    let sockets = fs::read_to_string("/proc/thread-self/net/tcp")?;
    Ok(sockets.lines().skip(1).all(|line| line.split_whitespace().nth(3) == Some("06")))
}

fn main() {
    let missing = optional::kernel(attach::missing(&Bench::new().pins).into_iter().chain(penstock_path::missing()));
    let tests: [(&str, fn()); 2] = [
        ("half_a_minute_of_each_controller", half_a_minute_of_each_controller),
        ("a_recovery_of_ccpd_has_one_congestion_event", a_recovery_of_ccpd_has_one_congestion_event),
    ];
    optional::run(&tests, missing);
}
