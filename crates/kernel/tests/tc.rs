//! Laws as tc programs: what they decide packet by packet, and what becomes of them at a device. Needs root, BPF and Linux 6.6;
//! without them the tests print so and count as not run.

#[path = "tc/decisions.rs"]
mod decisions;
#[path = "tc/devices.rs"]
mod devices;
mod figures;
mod frames;
#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::env;

use frames::{Ecn, Frame};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use penstock_kernel::attach;
use penstock_kernel::attach::tc::{self, Arrival, Trial, Verdict, Wanted};
use penstock_law::Fix;
use penstock_machine::clock::Clock;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type Q = Fix<32>;

const NS: u64 = 1_000_000_000;

fn wanted(law: &str, settings: &[&str]) -> Wanted {
    let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
    Wanted::read(law, &settings).unwrap()
}

fn words(trial: &Trial) -> Vec<i64> {
    trial.observables().unwrap().into_iter().map(|(_, word)| word).collect()
}

/// Nanoseconds in seconds, as the programs make them.
fn seconds(ns: u64) -> Q {
    Fix((((ns / NS) << 32) | (((ns % NS) << 32) / NS)) as i64)
}

/// Super-packets of three segments at twice the contract get the grants of their segments, whole super-packets at a time:
/// half of them if the bucket holds one, and one segment in three if it holds the tokens of one segment only.
fn super_packets_get_what_their_segments_are_granted() {
    for (bucket, share) in [("4 kB", 0.5), ("2 kB", 1.0 / 3.0)] {
        let settings = ["conditioner.committed_rate=10 Mbit/s", &format!("conditioner.bucket={bucket}")];
        let trial = Trial::new(wanted("token-bucket", &settings)).unwrap();
        let frame = Frame::udp6(Ecn::NotEct, 62 + 3 * 1000).bytes;
        let gap = 3 * 1062 * 8 * NS / 20_000_000;
        for i in 0..10 * NS / gap {
            let arrival = Arrival { at_ns: NS + i * gap, segments: Some((3, 1000)), ..Arrival::default() };
            trial.give(&frame, arrival).unwrap();
        }
        let books = trial.books().unwrap();
        println!("{bucket}: {} of {} packets in profile", books.passed.packets, books.arrived.packets);
        // Two super-packets at the start, of a full bucket and of what is carried.
        assert!((books.passed.packets as f64 - share * books.arrived.packets as f64).abs() <= 6.0, "{books:?}");
        assert_eq!(books.ended(), books.arrived);
    }
}

/// The same of three colours: at three times the committed rate and one and a half times the peak rate, a third of the packets
/// have each.
fn super_packets_of_three_colours_get_what_their_segments_are_granted() {
    let settings = ["committed_rate=10 Mbit/s", "bucket=4 kB", "peak_rate=20 Mbit/s", "peak_bucket=4 kB"];
    let settings = settings.map(|setting| format!("conditioner.{setting}"));
    let trial = Trial::new(Wanted::read("trtcm", &settings).unwrap()).unwrap();
    let frame = Frame::udp6(Ecn::NotEct, 62 + 3 * 1000).bytes;
    let gap = 3 * 1062 * 8 * NS / 30_000_000;
    for i in 0..10 * NS / gap {
        let arrival = Arrival { at_ns: NS + i * gap, segments: Some((3, 1000)), ..Arrival::default() };
        trial.give(&frame, arrival).unwrap();
    }
    let books = trial.books().unwrap();
    let [seen, green, yellow, red] =
        [books.arrived, books.passed, books.yellow, books.marked].map(|count| count.packets);
    println!("trtcm: {green} green, {yellow} yellow, {red} red of {seen} packets");
    // Full buckets at the start, and what is carried: two super-packets each.
    for coloured in [green, yellow, red] {
        assert!((coloured as f64 - seen as f64 / 3.0).abs() <= 6.0, "{books:?}");
    }
    assert_eq!(books.ended(), books.arrived);
}

/// A price high enough that the coin decides: zero chooses, the largest does not.
fn priced() -> Trial {
    let trial = Trial::new(wanted("price", &["link.rate=1 Mbit/s"])).unwrap();
    let frame = Frame::udp(Ecn::Ect0, 1514).bytes;
    for i in 0..50 {
        let arrival = Arrival { at_ns: NS + i * 1_000_000, coin: u32::MAX, ..Arrival::default() };
        trial.give(&frame, arrival).unwrap();
    }
    assert!(words(&trial)[1] > 1 << 30);
    trial
}

/// CE is for packets that can carry it; another that is chosen is dropped, and what is not IP never is. The books separate
/// them, and add up to the packets sent.
fn a_mark_is_for_those_that_can_carry_it() {
    let trial = priced();
    let before = trial.books().unwrap();
    let now = NS + 50_000_000;
    let chosen = Arrival { at_ns: now, coin: 0, ..Arrival::default() };
    let spared = Arrival { coin: u32::MAX, ..chosen };
    for (frame, arrival, verdict, ecn) in [
        (Frame::udp(Ecn::Ect0, 100), chosen, Verdict::Next, Ecn::Ce),
        (Frame::tcp(Ecn::Ect1, 100), chosen, Verdict::Next, Ecn::Ce),
        (Frame::udp6(Ecn::Ect0, 100), chosen, Verdict::Next, Ecn::Ce),
        (Frame::udp(Ecn::Ce, 100), chosen, Verdict::Next, Ecn::Ce),
        (Frame::udp(Ecn::NotEct, 100), chosen, Verdict::Drop, Ecn::NotEct),
        (Frame::udp6(Ecn::NotEct, 100), chosen, Verdict::Drop, Ecn::NotEct),
        (Frame::udp(Ecn::NotEct, 100), spared, Verdict::Next, Ecn::NotEct),
        (Frame::udp6(Ecn::Ect1, 100), spared, Verdict::Next, Ecn::Ect1),
    ] {
        let frame = if frame.bytes[12] == 8 { frame.with_dscp(46) } else { frame };
        let (said, after) = trial.give(&frame.bytes, arrival).unwrap();
        assert_eq!((said, frames::ecn(&after)), (verdict, ecn), "{frame:?}");
        assert_eq!(frames::tos(&after) >> 2, frames::tos(&frame.bytes) >> 2, "DSCP");
        assert!(frame.bytes[12] != 8 || frames::checksum_holds(&after));
    }
    let arp = Frame::arp().bytes;
    assert_eq!(trial.give(&arp, chosen).unwrap(), (Verdict::Next, arp));
    let books = trial.books().unwrap();
    assert_eq!(books.marked.packets - before.marked.packets, 3);
    assert_eq!((books.marked_before.packets, books.dropped_not_ect.packets, books.not_ip.packets), (1, 2, 1));
    assert_eq!((books.arrived.packets, books.arrived.bytes), (59, 50 * 1514 + 8 * 100 + 60));
    assert_eq!(books.ended(), books.arrived);
}

/// Set to let them pass, a program marks packets that can carry a mark, lets the others go on, and counts them; set back, it
/// drops them again.
fn what_cannot_carry_a_mark_passes_where_it_is_told_to() {
    let mut trial = priced();
    for (at_ms, not_ect, verdict) in [(50, "pass", Verdict::Next), (55, "drop", Verdict::Drop)] {
        // A period later, when it is seen that something else was told.
        let chosen = Arrival { at_ns: NS + at_ms * 1_000_000, coin: 0, ..Arrival::default() };
        trial.tell(wanted("price", &["link.rate=1 Mbit/s", &format!("not_ect={not_ect}")])).unwrap();
        for frame in [Frame::tcp(Ecn::NotEct, 100).bytes, Frame::udp6(Ecn::NotEct, 100).bytes] {
            assert_eq!(trial.give(&frame, chosen).unwrap(), (verdict, frame));
        }
        let (said, after) = trial.give(&Frame::udp(Ecn::Ect0, 100).bytes, chosen).unwrap();
        assert_eq!((said, frames::ecn(&after)), (Verdict::Next, Ecn::Ce));
    }
    let books = trial.books().unwrap();
    assert_eq!((books.passed_not_ect.packets, books.dropped_not_ect.packets), (2, 2));
    assert_eq!(books.ended(), books.arrived);
    // Of AVQ, whose virtual queue has room for two.
    let settings = ["link.rate=1 Mbit/s", "aqm.ecn=true", "aqm.buffer=2 packets", "not_ect=pass"];
    let trial = Trial::new(wanted("avq", &settings)).unwrap();
    let frame = Frame::udp(Ecn::NotEct, 1514).bytes;
    for i in 0..4 {
        let arrival = Arrival { at_ns: NS + i, ..Arrival::default() };
        assert_eq!(trial.give(&frame, arrival).unwrap().0, Verdict::Next);
    }
    let books = trial.books().unwrap();
    assert_eq!((books.passed_not_ect.packets, books.passed.packets), (2, 2));
}

/// A super-packet is as many packets as it has segments, each with headers of its own: as the kernel has counted on the way
/// out, and counted here where it has not. One decision is for all of them.
fn a_super_packet_counts_its_segments() {
    let trial = priced();
    let before = trial.books().unwrap();
    let chosen = Arrival { at_ns: NS + 50_000_000, coin: 0, ..Arrival::default() };
    // 66 B of headers; 1448 B a segment, and what is left in the last.
    let frame = Frame::tcp(Ecn::Ect0, 66 + 1448 + 700).bytes;
    for (segments, wire_bytes) in [((2, 1448), None), ((2, 1448), Some(2 * 66 + 2148)), ((0, 1448), None)] {
        let (_, after) = trial.give(&frame, Arrival { segments: Some(segments), wire_bytes, ..chosen }).unwrap();
        assert_eq!(frames::ecn(&after), Ecn::Ce);
    }
    let books = trial.books().unwrap();
    assert_eq!(books.pieces - before.pieces, 3);
    assert_eq!(books.marked.packets - before.marked.packets, 6);
    assert_eq!(books.marked.bytes - before.marked.bytes, 3 * (2 * 66 + 2148));
    // Of UDP, eight bytes of header behind those of IP.
    let frame = Frame::udp6(Ecn::Ect0, 62 + 3 * 1000).bytes;
    trial.give(&frame, Arrival { segments: Some((3, 1000)), ..chosen }).unwrap();
    assert_eq!(trial.books().unwrap().marked.bytes - books.marked.bytes, 3 * 1062);
}

/// Little enough that a law has something to do.
fn usual(law: &str) -> &'static [&'static str] {
    match law {
        "clcc" => &["link.rate=1 Mbit/s", "classes.other.share=0.3"],
        "token-bucket" | "srtcm" | "trtcm" | "early-marking" => &["conditioner.committed_rate=1 Mbit/s"],
        _ => &["link.rate=1 Mbit/s"],
    }
}

/// Frames of every kind of nonsense: nothing but the two verdicts, nothing lost from the books.
fn nonsense_is_counted_and_goes_on() {
    for law in tc::names() {
        let trial = Trial::new(wanted(law, usual(law))).unwrap();
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut bytes, mut drops) = (0, 0);
        for i in 0..20_000_u64 {
            let mut frame = vec![0; 54 + (draw.next_u32() % 300) as usize];
            draw.fill_bytes(&mut frame);
            let kind = [0x0800_u16, 0x86dd, 0x0806, draw.next_u32() as u16][draw.next_u32() as usize % 4];
            frame[12..14].copy_from_slice(&kind.to_be_bytes());
            let arrival = Arrival { at_ns: NS + i * 10_000, coin: draw.next_u32(), ..Arrival::default() };
            let (verdict, _) = trial.give(&frame, arrival).unwrap();
            assert!(!matches!(verdict, Verdict::Other(_)), "{law}: {verdict:?} of {frame:x?}");
            bytes += frame.len() as u64;
            drops += u64::from(verdict == Verdict::Drop);
        }
        let books = trial.books().unwrap();
        println!("{law}: {drops} of 20000 dropped, {} not IP", books.not_ip.packets);
        assert_eq!((books.arrived.packets, books.arrived.bytes), (20_000, bytes));
        assert_eq!(books.dropped_not_ect.packets + books.dropped.packets + books.dropped_full.packets, drops);
        assert_eq!(books.ended(), books.arrived);
        assert!(books.not_ip.packets > 5000 && drops + books.marked.packets > 100);
    }
}

/// Other parameters change what comes next, and keep what was learned.
fn parameters_change_while_it_runs() {
    let mut trial = priced();
    let [price, probability] = words(&trial)[..] else { panic!("two words") };
    trial.tell(wanted("price", &["link.rate=1 Mbit/s", "aqm.phi=1000000"])).unwrap();
    // A period of exactly the virtual capacity, 0.95 of 1 Mbit/s: the price stays, and with twice the logarithm of phi the
    // chance of no mark is squared.
    let frame = Frame::udp(Ecn::Ect0, 594).bytes;
    for at_ns in [NS + 50_000_000, NS + 55_000_000] {
        trial.give(&frame, Arrival { at_ns, coin: u32::MAX, ..Arrival::default() }).unwrap();
    }
    let [after, again] = words(&trial)[..] else { panic!("two words") };
    let q = |word: i64| word as f64 / 4_294_967_296.0;
    println!("price {} -> {}, probability {} -> {}", q(price), q(after), q(probability), q(again));
    assert!(q(price) > 0.01 && (q(after) - q(price)).abs() < 0.2, "{} {}", q(price), q(after));
    let expected = 1.0 - libm::pow(1e6, -q(after));
    assert!((q(again) - expected).abs() < 1e-6, "{} {expected}", q(again));
}

/// Two processors at once: nothing is counted twice or lost, and tokens are spent once.
fn processors_share_a_law() {
    const TIMES: u32 = 300_000;
    let frame = Frame::udp(Ecn::Ect0, 1514).bytes;
    for law in tc::names() {
        let trial = Trial::of_its_own(wanted(law, usual(law))).unwrap();
        let clock = Clock::start();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| trial.cost(&frame, TIMES).unwrap());
            }
        });
        let elapsed = clock.now();
        let books = trial.books().unwrap();
        let seen = u64::from(2 * TIMES);
        println!("{law}: {} of {seen} went on unjudged", books.contended.packets);
        assert_eq!((books.arrived.packets, books.arrived.bytes), (seen, seen * 1514));
        assert_eq!(books.ended(), books.arrived);
        assert!(books.contended.packets < seen / 10, "{books:?}");
        if law == "token-bucket" || law == "trtcm" {
            // 100 ms of the rate are in the bucket at the start.
            let depth = 12_500.0;
            let granted = 1e6 / 8.0 * elapsed.seconds() + depth;
            let passed = books.passed.bytes as f64;
            println!("{law}: {passed} B in profile of {granted} granted");
            assert!(passed <= granted + 1514.0 && passed > 0.5 * depth, "{passed} of {granted}");
        }
    }
}

/// Keeps this thread on the n-th of the processors that it may use, as far as there are so many.
fn run_on_one_of_its_own(number: usize) {
    let thread = Pid::from_raw(0);
    let may = sched_getaffinity(thread).unwrap();
    let mut own = CpuSet::new();
    if let Some(processor) = (0..CpuSet::count()).filter(|at| may.is_set(*at).unwrap_or(false)).nth(number) {
        own.set(processor).unwrap();
        sched_setaffinity(thread, &own).unwrap();
    }
}

/// The effect of the missing lock. Two processors spend the tokens of one bucket that has enough for all: what went in profile
/// is missing from it to the byte, but for what came in meanwhile. Compiled without the lock, the same program spends tokens
/// twice, or computes with settings that are half read and loses tokens.
fn without_the_lock_tokens_are_spent_twice() {
    const TIMES: u32 = 500_000;
    const DEPTH: f64 = 1e9;
    let frame = Frame::udp(Ecn::Ect0, 100).bytes;
    let settings = ["conditioner.committed_rate=8 kbit/s", "conditioner.bucket=1 GB"].map(str::to_owned);
    // Bytes that are in the bucket too many, and those that came in at most.
    let spent = |trial: &Trial| {
        let (clock, together) = (Clock::start(), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            for number in 0..2 {
                let (together, frame) = (&together, &frame);
                scope.spawn(move || {
                    // On a busy machine both may be given one processor.
                    run_on_one_of_its_own(number);
                    together.wait();
                    trial.cost(frame, TIMES).unwrap()
                });
            }
        });
        let books = trial.books().unwrap();
        assert_eq!((books.ended(), books.arrived.packets), (books.arrived, u64::from(2 * TIMES)));
        let tokens = words(trial)[0] as f64 / 4_294_967_296.0;
        (tokens - (DEPTH - books.passed.bytes as f64), 1000.0 * clock.now().seconds(), books.passed.packets)
    };
    let fits = |over: f64, came_in: f64| (-1.0..=came_in + 1.0).contains(&over);
    let (over, came_in, passed) = spent(&Trial::of_its_own(Wanted::read("token-bucket", &settings).unwrap()).unwrap());
    println!("with the lock: {over:.3} B too many, {came_in:.3} B came in at most");
    assert!(passed > u64::from(TIMES), "{passed} packets in profile");
    assert!(fits(over, came_in), "{over} B of {came_in} B");
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("one processor: nothing happens at once, so that the lock cannot be missed");
        return;
    }
    // A busy machine may run one after the other: as often as it takes.
    let lost = (0..20).any(|_| {
        let (over, came_in, _) = spent(&Trial::without_lock(&settings).unwrap());
        println!("without the lock: {over:.3} B too many, {came_in:.3} B came in at most");
        !fits(over, came_in)
    });
    assert!(lost, "without the lock the bucket was right: it would not be needed");
}

/// The cost of a packet, by the kernel's own clock around a million runs.
fn what_a_packet_costs_is_told() {
    for law in tc::names() {
        // So much that everything passes.
        let ample: &[&str] = match law {
            "clcc" => &["link.rate=1 Tbit/s", "classes.other.share=0.3"],
            "token-bucket" | "srtcm" => &["conditioner.committed_rate=10 Gbit/s"],
            // Of which the peak rate is twice as much.
            "trtcm" => &["conditioner.committed_rate=5 Gbit/s"],
            // At much more its integral is too weak for the kernel's arithmetic, which it says.
            "early-marking" => &["conditioner.committed_rate=100 Mbit/s"],
            _ => &["link.rate=1 Tbit/s"],
        };
        let trial = Trial::of_its_own(wanted(law, ample)).unwrap();
        let frame = Frame::tcp(Ecn::Ect0, 1514).bytes;
        let least = (0..5).map(|_| trial.cost(&frame, 200_000).unwrap()).min().unwrap();
        println!("{law}: {} ns a packet", least.as_nanos());
        assert!(least.as_nanos() > 0);
        let books = trial.books().unwrap();
        assert_eq!((books.arrived.packets, books.ended()), (1_000_000, books.arrived));
    }
}

/// Names, parameters and values that are not there are refused with the words of the scenario reader.
fn what_does_not_fit_is_refused() {
    let refused = |law: &str, settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
        Wanted::read(law, &settings).unwrap_err().to_string()
    };
    let rate = "link.rate=1 Gbit/s";
    for (law, settings, said) in [
        ("prize", &[rate][..], "no law is named `prize`; those with a tc program are `price`"),
        ("pi", &[rate], "`pi` has no tc program, since such a program measures arrivals and no queue"),
        ("price", &[], "rate"),
        ("price", &[rate, "aqm.target=1.5"], "`1.5` is outside the range of `target`"),
        ("price", &[rate, "aqm.goal=0.9"], "`price` has no parameter `goal`"),
        ("price", &["link.rate=fast"], "link.rate"),
        ("price", &[rate, "target=0.9"], "has the keys link.rate, link.packet, aqm, not_ect; write it as in"),
        ("price", &[rate, "aqm.target"], "write it as in"),
        ("price", &[rate, "link.loss=0.1"], "`price` at a device has the keys"),
        ("price", &[rate, "link.rates=1"], "`price` at a device has the keys"),
        ("token-bucket", &[], "committed_rate"),
        ("token-bucket", &["conditioner.committed_rate=100 Gbit/s"], "beyond the kernel's arithmetic"),
        ("token-bucket", &[rate, "conditioner.committed_rate=1 Gbit/s"], "has the keys link.packet, conditioner;"),
        ("clcc", &[rate], "share"),
        ("clcc", &[rate, "classes.other.share=0.3", "aqm.inner=aimd"], "around `bat` only"),
        ("clcc", &[rate, "classes.other.share=0.3", "aqm.preemption=zero"], "has `hold`, `decay` and `none` only"),
        ("clcc", &[rate, "classes.other.share=0.3", "aqm.ratio=mean"], "has `sums` only"),
        ("bat", &[rate, "classes.tcp.floor=2 Gbit/s"], "more than the line's"),
        ("bat", &[rate, "aqm.excess=rate"], "`excess`: the kernel implementation has `queue` only"),
        ("avq", &[rate, "aqm.bytes=false"], "many travel as one"),
        ("avq", &[rate, "not_ect=pass"], "without `aqm.ecn=true` `avq` marks nothing"),
        ("price", &[rate, "not_ect=mark"], "`not_ect` is `drop` or `pass`, not `mark`"),
        ("bat", &[rate, "not_ect=pass"], "`bat` at a device has the keys"),
        (
            "srtcm",
            &["conditioner.committed_rate=1 Mbit/s", "conditioner.bucket=2 GB", "conditioner.excess_bucket=1 GB"],
            "together",
        ),
        ("trtcm", &["conditioner.committed_rate=9 Gbit/s"], "beyond the kernel's arithmetic"),
    ] {
        let text = refused(law, settings);
        assert!(text.contains(said) && !text.contains("links.device"), "{law} {settings:?}: {text}");
    }
}

fn main() {
    if let Ok(folder) = env::var(devices::KILLED) {
        devices::attach_until_killed(&folder);
    }
    let programs: &[(&str, fn())] = &[
        ("price_decides_as_the_law_does", decisions::price_decides_as_the_law_does),
        ("avq_decides_as_the_law_does", decisions::avq_decides_as_the_law_does),
        ("bat_decides_as_the_law_does", decisions::bat_decides_as_the_law_does),
        ("clcc_decides_as_the_law_does", decisions::clcc_decides_as_the_law_does),
        ("token_bucket_decides_as_the_law_does", decisions::token_bucket_decides_as_the_law_does),
        ("early_marking_decides_as_the_law_does", decisions::early_marking_decides_as_the_law_does),
        ("srtcm_decides_as_the_law_does", decisions::srtcm_decides_as_the_law_does),
        ("trtcm_decides_as_the_law_does", decisions::trtcm_decides_as_the_law_does),
        ("super_packets_get_what_their_segments_are_granted", super_packets_get_what_their_segments_are_granted),
        (
            "super_packets_of_three_colours_get_what_their_segments_are_granted",
            super_packets_of_three_colours_get_what_their_segments_are_granted,
        ),
        ("avq_drops_where_it_does_not_mark", decisions::avq_drops_where_it_does_not_mark),
        ("a_mark_is_for_those_that_can_carry_it", a_mark_is_for_those_that_can_carry_it),
        ("what_cannot_carry_a_mark_passes_where_it_is_told_to", what_cannot_carry_a_mark_passes_where_it_is_told_to),
        ("a_super_packet_counts_its_segments", a_super_packet_counts_its_segments),
        ("nonsense_is_counted_and_goes_on", nonsense_is_counted_and_goes_on),
        ("parameters_change_while_it_runs", parameters_change_while_it_runs),
        ("processors_share_a_law", processors_share_a_law),
        ("without_the_lock_tokens_are_spent_twice", without_the_lock_tokens_are_spent_twice),
        ("what_a_packet_costs_is_told", what_a_packet_costs_is_told),
        ("what_does_not_fit_is_refused", what_does_not_fit_is_refused),
    ];
    let at_devices: &[(&str, fn())] = &[
        ("datagrams_are_marked_on_their_way_out", devices::datagrams_are_marked_on_their_way_out),
        ("datagrams_are_marked_on_their_way_in", devices::datagrams_are_marked_on_their_way_in),
        ("what_is_detached_leaves_nothing", devices::what_is_detached_leaves_nothing),
        ("what_is_refused_changes_nothing", devices::what_is_refused_changes_nothing),
        ("a_device_that_is_gone_is_told_of", devices::a_device_that_is_gone_is_told_of),
        ("a_kill_leaves_the_old_state_or_the_new_one", devices::a_kill_leaves_the_old_state_or_the_new_one),
    ];
    let missing = optional::kernel(tc::missing());
    let pins = attach::missing(&devices::pins()).map(|missing| missing.to_string()).or_else(devices::missing);
    let pins = missing.clone().or_else(|| optional::kernel(pins));
    optional::run_groups(&[
        optional::Group { tests: programs, missing },
        optional::Group { tests: at_devices, missing: pins },
    ]);
}
