//! Laws as tc programs: what they decide packet by packet, and what becomes of them at a device. Needs root, BPF and Linux 6.6;
//! where they are missing the tests say so and count as not run.

mod frames;
#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use frames::{Ecn, Frame};
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
    let site = aqm::Site { rate: Rate(100_000_000), delay: Time::ZERO, packet: Bytes(1514), classes: Vec::new() };
    let law: Price<Q> = Law::compile(&values, &site).unwrap();
    let mut state: State<Q> = law.start();
    let capacity = <Q as penstock_law::Number>::of(site.packets_per_s());
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

fn main() {
    let missing = tc::missing().first().map(ToString::to_string);
    optional::run(&[("price_decides_as_the_law_does", price_decides_as_the_law_does)], missing.as_deref());
}
