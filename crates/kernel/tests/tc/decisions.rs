//! The decisions of the programs, packet by packet, equal those of the laws in Rust in the same fixed point.

use std::collections::BTreeMap;

use penstock_kernel::attach::tc::{Arrival, Trial, Verdict, Wanted};
use penstock_law::aqm::avq::Avq;
use penstock_law::aqm::bat::{Alone, Bat};
use penstock_law::aqm::clcc::Clcc;
use penstock_law::aqm::price::{Price, State};
use penstock_law::aqm::{self, AQMS, Aqm, Class};
use penstock_law::conditioner::{self, CONDITIONERS, Colour};
use penstock_law::law::{Dense, Instances, find};
use penstock_law::parameter::Values;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Fix, Law};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::frames::{self, Ecn, Frame};
use crate::{NS, Q, seconds, wanted, words};

/// 100 Mbit/s in packets of 1514 B.
fn site() -> aqm::Context {
    aqm::Context { rate: Rate(100_000_000), delay: Time::ZERO, packet: Bytes(1514), classes: Vec::new() }
}

/// Bytes in mean packets, as the programs make them.
fn packets(bytes: u64) -> Q {
    Fix((((bytes / 1514) << 32) | (((bytes % 1514) << 32) / 1514)) as i64)
}

/// The price and its marks, packet by packet, over load below and above the rate, and silence: the program equals the law in
/// Rust, in the same fixed point.
pub(super) fn price_decides_as_the_law_does() {
    let trial = Trial::new(wanted("price", &["link.rate=100 Mbit/s"])).unwrap();
    let values = Values::defaults(find(AQMS, "price").unwrap().parameters);
    let law: Price<Q> = Law::compile(&values, &site()).unwrap();
    let mut state: State<Q> = law.initial_state();
    let capacity = <Q as penstock_law::Number>::of(site().packets_per_s());
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut now, mut next, mut arrived) = (1_000_000_000_u64, 0, 0_u64);
    let (mut marks, mut idle) = (0, 0);
    for i in 0..40_000_u32 {
        // 61 us a packet of 760 B is the rate: twice that load, then a quarter of it, and now and then up to 2 s of nothing.
        let gap = if i % 2000 < 1500 { draw.next_u64() % 60_000 } else { draw.next_u64() % 500_000 };
        now += if i % 4000 == 3999 { draw.next_u64() % 2_000_000_000 } else { gap };
        if next == 0 {
            next = now + 5_000_000;
        }
        while next <= now {
            let seen = aqm::Observation { arrived: packets(arrived), capacity, ..aqm::Observation::zero() };
            law.on_event(&mut state, aqm::Event::Tick, &seen);
            idle += u32::from(arrived == 0);
            (arrived, next) = (0, next + 5_000_000);
        }
        let frame = Frame::udp(Ecn::Ect0, 60 + (draw.next_u32() % 1400) as usize);
        arrived += frame.bytes.len() as u64;
        let coin = draw.next_u32();
        let marked = i64::from(coin) < state.probability.0;
        let (verdict, after) = trial.give(&frame.bytes, Arrival { at_ns: now, coin, ..Arrival::default() }).unwrap();
        assert_eq!(verdict, Verdict::Next);
        assert_eq!(frames::ecn(&after), if marked { Ecn::Ce } else { Ecn::Ect0 }, "packet {i}");
        assert!(frames::checksum_holds(&after), "packet {i}");
        assert_eq!(words(&trial), [state.price.0, state.probability.0], "packet {i}");
        marks += u64::from(marked);
    }
    let books = trial.books().unwrap();
    println!("price: {marks} marks of 40000 packets, {idle} idle periods gone through");
    assert!(marks > 1000 && marks < 39_000 && idle > 500);
    assert_eq!((books.marked.packets, books.passed.packets, books.arrived.packets), (marks, 40_000 - marks, 40_000));
}

/// AVQ over load that overflows its virtual queue and load that does not, with silence between: every packet's fate and the
/// state after it, as the law in Rust has them.
pub(super) fn avq_decides_as_the_law_does() {
    let settings = ["link.rate=100 Mbit/s", "aqm.ecn=true", "aqm.buffer=10 packets", "aqm.alpha=2"];
    let trial = Trial::new(wanted("avq", &settings)).unwrap();
    let entry = find(AQMS, "avq").unwrap();
    let mut values = Values::defaults(entry.parameters);
    for (name, value) in [("ecn", 1.0), ("buffer", 10.0), ("alpha", 2.0)] {
        values.set(entry.parameters.iter().find(|p| p.name == name).unwrap(), value).unwrap();
    }
    let law: Avq<Q> = Law::compile(&values, &site()).unwrap();
    let mut state = law.initial_state();
    let capacity = <Q as penstock_law::Number>::of(site().packets_per_s());
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(2);
    let (start, mut since, mut marks) = (77_000_000_000_u64, 0, 0);
    for i in 0..40_000_u32 {
        let gap = if i % 2000 < 1000 { draw.next_u64() % 60_000 } else { draw.next_u64() % 500_000 };
        since += if i % 4000 == 3999 { draw.next_u64() % 2_000_000_000 } else { gap };
        since = if i == 0 { 0 } else { since };
        let frame = Frame::udp6(Ecn::Ect1, 60 + (draw.next_u32() % 1400) as usize);
        let now_s = seconds(since);
        let event = aqm::Event::Arrival { bytes: frame.bytes.len() as u32, idle: 0 };
        let seen = aqm::Observation { capacity, now_s, ..aqm::Observation::zero() };
        law.on_event(&mut state, event, &seen);
        let marked = law.output(&state, &seen).probability.0 > 0;
        let arrival = Arrival { at_ns: start + since, ..Arrival::default() };
        let (verdict, after) = trial.give(&frame.bytes, arrival).unwrap();
        assert_eq!(verdict, Verdict::Next);
        assert_eq!(frames::ecn(&after), if marked { Ecn::Ce } else { Ecn::Ect1 }, "packet {i}");
        assert_eq!(words(&trial), [state.virtual_capacity.0, state.virtual_queue.0], "packet {i}");
        marks += u64::from(marked);
    }
    let books = trial.books().unwrap();
    println!("avq: {marks} marks of 40000 packets");
    assert!(marks > 1000 && marks < 39_000);
    assert_eq!((books.marked.packets, books.passed.packets), (marks, 40_000 - marks));
}

/// The admitted bytes of TCP and of everything else, interval by interval, under overload of both and then of none: BAT in the
/// kernel against the law in Rust, over the same virtual queue.
pub(super) fn bat_decides_as_the_law_does() {
    classes_decide_as_the_law_does("bat", &[], |values, site| {
        let law: Alone<Bat<Q>> = Law::compile(values, site)?;
        Ok((Box::new(Dense::new(law)), vec!["transmit", "offered"]))
    });
}

/// The same of CLCC, which holds everything else to a third of the line.
pub(super) fn clcc_decides_as_the_law_does() {
    classes_decide_as_the_law_does("clcc", &["classes.other.share=0.3"], |values, site| {
        let law: Clcc<Q, Bat<Q>> = Law::compile(values, site)?;
        Ok((Box::new(Dense::new(law)), vec!["transmit", "offered", "decrease"]))
    });
}

type Compiled = (Box<dyn Instances<Q, Aqm>>, Vec<&'static str>);

fn classes_decide_as_the_law_does(
    name: &str,
    more: &[&str],
    compile: fn(&Values, &aqm::Context) -> Result<Compiled, String>,
) {
    const INTERVAL: u64 = 4_000_000;
    let trial = Trial::new(wanted(name, &[&["link.rate=100 Mbit/s", "link.buffer=300 kB"], more].concat())).unwrap();
    let share = more.first().map(|_| 0.3);
    let site = aqm::Context { classes: vec![Class::FREE, Class { share, ..Class::FREE }], ..site() };
    let (mut law, watched) = compile(&Values::defaults(find(AQMS, name).unwrap().parameters), &site).unwrap();
    for class in 0..2 {
        assert_eq!(law.add(), class);
    }
    let capacity = <Q as penstock_law::Number>::of(site.packets_per_s());
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut now, mut end, mut free) = (NS, 0, 0_u64);
    let (mut arrived, mut let_in) = ([0_u64; 2], [0_u64; 2]);
    let mut fates = [0_u64; 3];
    for i in 0..60_000_u32 {
        // 61 us a packet is the rate: three times that load, then a third of it.
        now += draw.next_u64() % if i % 20_000 < 15_000 { 40_000 } else { 360_000 };
        end = if end == 0 { now + INTERVAL } else { end };
        while end <= now {
            let waits = free.saturating_sub(end);
            let queue = seconds(waits) * capacity;
            let sum = |of: [u64; 2]| packets(of[0] + of[1]);
            for class in 0..2 {
                let seen = aqm::Observation {
                    queue,
                    capacity,
                    arrived: packets(arrived[class]),
                    departed: packets(let_in[class]),
                    all_arrived: sum(arrived),
                    all_departed: sum(let_in),
                    ..aqm::Observation::zero()
                };
                law.on_event(class, aqm::Event::Tick, &seen);
            }
            (arrived, let_in, end) = ([0; 2], [0; 2], end + INTERVAL);
        }
        let class = usize::from(draw.next_u32() % 3 > 0);
        let bytes = 60 + (draw.next_u32() % 1400) as usize;
        let frame = if class == 0 { Frame::tcp(Ecn::Ect0, bytes) } else { Frame::udp6(Ecn::NotEct, bytes) };
        let coin = draw.next_u32();
        let refused = law.output(class, &aqm::Observation::zero()).probability;
        arrived[class] += bytes as u64;
        let from = free.max(now);
        let fate = if i64::from(coin) < refused.0 {
            1
        } else if from - now > 24_000_000 {
            2
        } else {
            free = from + bytes as u64 * 80;
            let_in[class] += bytes as u64;
            0
        };
        fates[fate] += 1;
        let (verdict, after) = trial.give(&frame.bytes, Arrival { at_ns: now, coin, ..Arrival::default() }).unwrap();
        assert_eq!((verdict == Verdict::Drop, after), (fate > 0, frame.bytes), "packet {i}");
        let words: BTreeMap<String, i64> = trial.observables().unwrap().into_iter().collect();
        for (class, label) in ["tcp", "other"].into_iter().enumerate() {
            let mut all = law.names().iter();
            law.each(class, &mut |word| {
                let name = all.next().map_or("", |(name, _)| name);
                if watched.contains(&name) {
                    let theirs = words.iter().find(|(key, _)| key.starts_with(&format!("{label}_{name}")));
                    assert_eq!(theirs.map(|(_, word)| *word), Some(word.0), "packet {i}: {label} {name}");
                }
            });
        }
    }
    let books = trial.books().unwrap();
    println!("{name}: {} let in, {} refused, {} did not fit", fates[0], fates[1], fates[2]);
    assert_eq!([books.passed.packets, books.dropped.packets, books.dropped_full.packets], fates);
    assert!(fates[1] > 5000 && fates[0] > 15_000);
}

/// By the default of its parameter, AVQ drops.
pub(super) fn avq_drops_where_it_does_not_mark() {
    let trial = Trial::new(wanted("avq", &["link.rate=1 Mbit/s", "aqm.buffer=2 packets"])).unwrap();
    let frame = Frame::udp(Ecn::Ect0, 1514).bytes;
    let verdicts: Vec<Verdict> =
        (0..4).map(|i| trial.give(&frame, Arrival { at_ns: NS + i, ..Arrival::default() }).unwrap().0).collect();
    assert_eq!(verdicts, [Verdict::Next, Verdict::Next, Verdict::Drop, Verdict::Drop]);
    let books = trial.books().unwrap();
    assert_eq!((books.dropped.packets, books.dropped.bytes, books.passed.packets), (2, 3028, 2));
}

/// Colours, codepoints and tokens, packet by packet, of a conditioner in the kernel and of the law in Rust: `more` has its
/// settings besides the committed rate and its bucket. Returns the numbers of yellow and of red packets.
fn conditioner_decides_as_the_law_does(name: &str, more: &[(&str, f64, &str)]) -> [u64; 2] {
    let said = [&[("committed_rate", 10e6, "10 Mbit/s"), ("bucket", 30e3, "30 kB")], more].concat();
    let settings: Vec<String> = said.iter().map(|(key, _, value)| format!("conditioner.{key}={value}")).collect();
    let trial = Trial::new(Wanted::read(name, &settings).unwrap()).unwrap();
    let entry = find(CONDITIONERS, name).unwrap();
    let mut values = Values::defaults(entry.parameters);
    for (name, value, _) in said {
        values.set(entry.parameters.iter().find(|p| p.name == name).unwrap(), value).unwrap();
    }
    let mut law = entry.fixed.unwrap()(&values, &conditioner::Context { packet: Bytes(1514) }).unwrap();
    law.add();
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(6);
    let (mut since, mut yellow_packets, mut red_packets) = (0, 0, 0);
    for i in 0..40_000_u32 {
        // 608 us a packet is the rate: half as much again, then half of it.
        since += if i == 0 { 0 } else { draw.next_u64() % if i % 4000 < 3000 { 800_000 } else { 2_400_000 } };
        let bytes = 60 + draw.next_u32() % 1400;
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][i as usize % 4];
        let four = i % 2 == 0;
        let frame = if four { Frame::udp(ecn, bytes as usize).with_dscp(46) } else { Frame::udp6(ecn, bytes as usize) };
        let coin = draw.next_u32();
        let seen = conditioner::Observation { now_s: seconds(since) };
        let says = law.on_event(0, conditioner::Event::Arrival { bytes }, &seen);
        let colour = match i64::from(coin) {
            coin if coin < says.red.0 => Colour::Red,
            coin if coin < says.red.0 + says.yellow.0 => Colour::Yellow,
            _ => Colour::Green,
        };
        law.on_event(0, conditioner::Event::Coloured { bytes, colour }, &seen);
        let arrival = Arrival { at_ns: 5 * NS + since, coin, ..Arrival::default() };
        let (verdict, after) = trial.give(&frame.bytes, arrival).unwrap();
        assert_eq!((verdict, frames::tos(&after)), (Verdict::Next, colour.dscp() << 2 | ecn as u8), "packet {i}");
        assert!(!four || frames::checksum_holds(&after), "packet {i}");
        let tokens = words(&trial);
        let mut theirs = Vec::new();
        law.each(0, &mut |word| theirs.push(word.0));
        // The markers of three colours have two buckets; what follows in the others is not shown in the law's order.
        let buckets = if more.is_empty() { 1 } else { 2 };
        assert_eq!(tokens[..buckets], theirs[..buckets], "packet {i}");
        yellow_packets += u64::from(colour == Colour::Yellow);
        red_packets += u64::from(colour == Colour::Red);
    }
    let books = trial.books().unwrap();
    println!("{name}: {yellow_packets} of 40000 yellow, {red_packets} red");
    assert_eq!((books.yellow.packets, books.marked.packets), (yellow_packets, red_packets));
    assert_eq!(books.passed.packets, 40_000 - yellow_packets - red_packets);
    [yellow_packets, red_packets]
}

pub(super) fn token_bucket_decides_as_the_law_does() {
    let [yellow, red] = conditioner_decides_as_the_law_does("token-bucket", &[]);
    assert!(yellow == 0 && (4000..20_000).contains(&red));
}

pub(super) fn early_marking_decides_as_the_law_does() {
    let [yellow, red] = conditioner_decides_as_the_law_does("early-marking", &[]);
    assert!(yellow == 0 && (4000..30_000).contains(&red));
}

/// The excess bucket fills from what flows over the committed one, in the slow quarters; it colours the start of each burst.
pub(super) fn srtcm_decides_as_the_law_does() {
    let [yellow, red] = conditioner_decides_as_the_law_does("srtcm", &[("excess_bucket", 50e3, "50 kB")]);
    assert!(yellow > 300 && red > 4000);
}

/// In the fast quarters the load is half as much again as the committed rate, and less than the peak rate nine times in ten.
pub(super) fn trtcm_decides_as_the_law_does() {
    let peak = [("peak_rate", 14e6, "14 Mbit/s"), ("peak_bucket", 10e3, "10 kB")];
    let [yellow, red] = conditioner_decides_as_the_law_does("trtcm", &peak);
    assert!(yellow > 4000 && red > 300);
}
