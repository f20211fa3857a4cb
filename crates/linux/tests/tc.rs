//! Laws as tc programs: what they decide packet by packet, and what becomes of them at a device. Needs root, BPF and Linux 6.6;
//! where they are missing the tests say so and count as not run.

mod frames;
#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use frames::{Ecn, Frame};
use penstock_law::aqm::avq::Avq;
use penstock_law::aqm::price::{Price, State};
use penstock_law::aqm::{self, AQMS, Port};
use penstock_law::law::find;
use penstock_law::parameter::Values;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Fix, Law};
use penstock_linux::attach::tc::{self, Arrival, Trial, Verdict, Wanted};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type Q = Fix<32>;

const NS: u64 = 1_000_000_000;

/// 100 Mbit/s in packets of 1514 B.
fn site() -> aqm::Site {
    aqm::Site { rate: Rate(100_000_000), delay: Time::ZERO, packet: Bytes(1514), classes: Vec::new() }
}

fn wanted(law: &str, settings: &[&str]) -> Wanted {
    let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
    Wanted::read(law, &settings).unwrap()
}

/// The price and its marks, packet by packet, over load below and above the rate, and silence: what the program does is what
/// the law in Rust says, in the same fixed point.
fn price_decides_as_the_law_does() {
    const MEAN: u32 = 1514;
    let trial = Trial::new(wanted("price", &["link.rate=100 Mbit/s"])).unwrap();
    let values = Values::defaults(find(AQMS, "price").unwrap().parameters);
    let law: Price<Q> = Law::compile(&values, &site()).unwrap();
    let mut state: State<Q> = law.start();
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
            let whole = arrived / u64::from(MEAN);
            let part = ((arrived % u64::from(MEAN)) << 32) / u64::from(MEAN);
            let seen = Port { arrived: Fix((whole << 32 | part) as i64), capacity, ..Port::nothing() };
            law.on(&mut state, aqm::Event::Tick, &seen);
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
        assert_eq!(trial.state().unwrap(), [state.price.0, state.probability.0], "packet {i}");
        marks += u64::from(marked);
    }
    let books = trial.books().unwrap();
    println!("price: {marks} marks of 40000 packets, {idle} idle periods gone through");
    assert!(marks > 1000 && marks < 39_000 && idle > 500);
    assert_eq!((books.marked.packets, books.passed.packets, books.seen.packets), (marks, 40_000 - marks, 40_000));
}

/// AVQ over load that overflows its virtual queue and load that does not, with silence between: every packet's fate and the
/// state after it, as the law in Rust has them.
fn avq_decides_as_the_law_does() {
    let trial = Trial::new(wanted("avq", &["link.rate=100 Mbit/s", "aqm.ecn=true"])).unwrap();
    let mut values = Values::defaults(find(AQMS, "avq").unwrap().parameters);
    values.set(&find(AQMS, "avq").unwrap().parameters[0], 1.0).unwrap();
    let law: Avq<Q> = Law::compile(&values, &site()).unwrap();
    let mut state = law.start();
    let capacity = <Q as penstock_law::Number>::of(site().packets_per_s());
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(2);
    let (start, mut since, mut marks) = (77_000_000_000_u64, 0, 0);
    for i in 0..40_000_u32 {
        let gap = if i % 2000 < 1000 { draw.next_u64() % 120_000 } else { draw.next_u64() % 500_000 };
        since += if i % 4000 == 3999 { draw.next_u64() % 2_000_000_000 } else { gap };
        since = if i == 0 { 0 } else { since };
        let frame = Frame::udp6(Ecn::Ect1, 60 + (draw.next_u32() % 1400) as usize);
        let now_s = Fix(((since / NS << 32) | ((since % NS) << 32) / NS) as i64);
        let event = aqm::Event::Arrival { bytes: frame.bytes.len() as u32, idle: 0 };
        let seen = Port { capacity, now_s, ..Port::nothing() };
        law.on(&mut state, event, &seen);
        let marked = law.says(&state, &seen).probability.0 > 0;
        let arrival = Arrival { at_ns: start + since, ..Arrival::default() };
        let (verdict, after) = trial.give(&frame.bytes, arrival).unwrap();
        assert_eq!(verdict, Verdict::Next);
        assert_eq!(frames::ecn(&after), if marked { Ecn::Ce } else { Ecn::Ect1 }, "packet {i}");
        assert_eq!(trial.state().unwrap(), [state.virtual_capacity.0, state.virtual_queue.0], "packet {i}");
        marks += u64::from(marked);
    }
    let books = trial.books().unwrap();
    println!("avq: {marks} marks of 40000 packets");
    assert!(marks > 1000 && marks < 39_000);
    assert_eq!((books.marked.packets, books.passed.packets), (marks, 40_000 - marks));
}

/// As its parameter has it unless it is said otherwise, AVQ drops.
fn avq_drops_where_it_does_not_mark() {
    let trial = Trial::new(wanted("avq", &["link.rate=1 Mbit/s", "aqm.buffer=2 packets"])).unwrap();
    let frame = Frame::udp(Ecn::Ect0, 1514).bytes;
    let verdicts: Vec<Verdict> =
        (0..4).map(|i| trial.give(&frame, Arrival { at_ns: NS + i, ..Arrival::default() }).unwrap().0).collect();
    assert_eq!(verdicts, [Verdict::Next, Verdict::Next, Verdict::Drop, Verdict::Drop]);
    let books = trial.books().unwrap();
    assert_eq!((books.dropped.packets, books.dropped.bytes, books.passed.packets), (2, 3028, 2));
}

/// A price high enough that the coin decides: zero chooses, the largest does not.
fn priced() -> Trial {
    let trial = Trial::new(wanted("price", &["link.rate=1 Mbit/s"])).unwrap();
    let frame = Frame::udp(Ecn::Ect0, 1514).bytes;
    for i in 0..50 {
        let arrival = Arrival { at_ns: NS + i * 1_000_000, coin: u32::MAX, ..Arrival::default() };
        trial.give(&frame, arrival).unwrap();
    }
    assert!(trial.state().unwrap()[1] > 1 << 30);
    trial
}

/// CE is for packets that can carry it; another that is chosen is dropped, and what is not IP never is. The books say which,
/// and add up to what was seen.
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
    assert_eq!((books.seen.packets, books.seen.bytes), (59, 50 * 1514 + 8 * 100 + 60));
    assert_eq!(books.ended(), books.seen);
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

/// Frames of every kind of nonsense: nothing but the two verdicts, nothing lost from the books.
fn nonsense_is_counted_and_goes_on() {
    for law in ["price", "avq"] {
        let trial = Trial::new(wanted(law, &["link.rate=1 Mbit/s"])).unwrap();
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut bytes, mut drops) = (0, 0);
        for i in 0..20_000_u64 {
            let mut frame = vec![0; 14 + (draw.next_u32() % 300) as usize];
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
        assert_eq!((books.seen.packets, books.seen.bytes), (20_000, bytes));
        assert_eq!(books.dropped_not_ect.packets + books.dropped.packets, drops);
        assert_eq!(books.ended(), books.seen);
        assert!(drops > 100 && books.not_ip.packets > 5000);
    }
}

/// Other parameters change what comes next, and keep what was learned.
fn parameters_change_while_it_runs() {
    let mut trial = priced();
    let [price, probability] = trial.state().unwrap()[..] else { panic!("two words") };
    trial.tell(wanted("price", &["link.rate=1 Mbit/s", "aqm.phi=1000000"])).unwrap();
    // A period of exactly the virtual capacity, 0.95 of 1 Mbit/s: the price stays, and with twice the logarithm of phi the
    // chance of no mark is squared.
    let frame = Frame::udp(Ecn::Ect0, 594).bytes;
    for at_ns in [NS + 50_000_000, NS + 55_000_000] {
        trial.give(&frame, Arrival { at_ns, coin: u32::MAX, ..Arrival::default() }).unwrap();
    }
    let [after, again] = trial.state().unwrap()[..] else { panic!("two words") };
    let q = |word: i64| word as f64 / 4_294_967_296.0;
    println!("price {} -> {}, probability {} -> {}", q(price), q(after), q(probability), q(again));
    assert!(q(price) > 0.01 && (q(after) - q(price)).abs() < 0.2, "{} {}", q(price), q(after));
    let expected = 1.0 - libm::pow(1e6, -q(after));
    assert!((q(again) - expected).abs() < 1e-6, "{} {expected}", q(again));
}

/// What a packet costs, by the kernel's own clock around a million runs.
fn what_a_packet_costs_is_told() {
    for law in ["price", "avq"] {
        let trial = Trial::of_its_own(wanted(law, &["link.rate=10 Gbit/s", "link.packet=1514 B"])).unwrap();
        let frame = Frame::tcp(Ecn::Ect0, 1514).bytes;
        let least = (0..5).map(|_| trial.cost(&frame, 200_000).unwrap()).min().unwrap();
        println!("{law}: {} ns a packet", least.as_nanos());
        assert!(least.as_nanos() > 0);
        let books = trial.books().unwrap();
        assert_eq!((books.seen.packets, books.ended()), (1_000_000, books.seen));
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
        ("pi", &[rate], "`pi` has no tc program, which sees arrivals and no queue"),
        ("price", &[], "rate"),
        ("price", &[rate, "aqm.target=1.5"], "`1.5` is outside the range of `target`"),
        ("price", &[rate, "aqm.goal=0.9"], "`price` has no parameter `goal`"),
        ("price", &["link.rate=fast"], "link.rate"),
        ("price", &[rate, "target=0.9"], "write it as in --set aqm.KEY=VALUE"),
        ("price", &[rate, "aqm.target"], "write it as in --set aqm.KEY=VALUE"),
        ("avq", &[rate, "aqm.bytes=false"], "many travel as one"),
    ] {
        let text = refused(law, settings);
        assert!(text.contains(said) && !text.contains("links.device"), "{law} {settings:?}: {text}");
    }
}

fn main() {
    let missing = tc::missing().first().map(ToString::to_string);
    optional::run(
        &[
            ("price_decides_as_the_law_does", price_decides_as_the_law_does),
            ("avq_decides_as_the_law_does", avq_decides_as_the_law_does),
            ("avq_drops_where_it_does_not_mark", avq_drops_where_it_does_not_mark),
            ("a_mark_is_for_those_that_can_carry_it", a_mark_is_for_those_that_can_carry_it),
            ("a_super_packet_counts_its_segments", a_super_packet_counts_its_segments),
            ("nonsense_is_counted_and_goes_on", nonsense_is_counted_and_goes_on),
            ("parameters_change_while_it_runs", parameters_change_while_it_runs),
            ("what_a_packet_costs_is_told", what_a_packet_costs_is_told),
            ("what_does_not_fit_is_refused", what_does_not_fit_is_refused),
        ],
        missing.as_deref(),
    );
}
