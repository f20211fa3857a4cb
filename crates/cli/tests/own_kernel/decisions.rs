//! An AQM of one's own on packets given by hand: the program decides as the law does.

use std::sync::Arc;

use penstock_kernel::attach::tc::{Arrival, Trial, Verdict, Wanted};
use penstock_law::aqm::{self, Class, Event};
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Fix, Values};

use crate::frames::{self, Ecn, Frame};
use crate::{AQM, Own, brim};

const NS_PER_S: u64 = 1_000_000_000;
const PERIOD_NS: u64 = 10_000_000;
const ONE: u64 = 1 << 32;

/// `whole / part` over 2^32, rounded down, as the programs divide.
fn over(whole: u64, part: u64) -> Fix<32> {
    Fix((((whole / part) << 32) | (((whole % part) << 32) / part)) as i64)
}

/// Periods, arrivals, coins and hits: every mark, and every number of the state after every packet. Loads below the line and above
/// it take turns, and silence of some periods.
pub(super) fn an_aqm_decides_as_its_law_does() {
    let own = Own::at_device("brim", &[]);
    let laws = Arc::new(brim::registry(own.asked.strip_prefix(AQM).unwrap()));
    let settings =
        ["link.rate=10 Mbit/s", "link.packet=1000 B", "aqm.ecn=true", "aqm.limit=100 packets"].map(str::to_owned);
    let trial = Trial::new(Wanted::of(&laws, "brim", &settings).unwrap()).unwrap();

    let entry = laws.aqm("brim").unwrap();
    let mut values = Values::defaults(entry.parameters);
    values.set(entry.parameters.iter().find(|parameter| parameter.name == "limit").unwrap(), 100.0).unwrap();
    let context =
        aqm::Context { rate: Rate(10_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: vec![Class::FREE] };
    let mut law = entry.fixed.unwrap()(&values, &context).unwrap();
    let at = law.add();
    let capacity = Fix::<32>((1250 * ONE) as i64);

    let (first, mut drawn) = (NS_PER_S, 1_u64);
    let (mut now, mut end, mut arrived) = (first, first + PERIOD_NS, 0);
    let (mut marks, mut certain, mut silences) = (0, 0, 0);
    for packet in 0..20_000_u64 {
        // Knuth's generator (The Art of Computer Programming, volume 2, 3.3.4), its upper half.
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let coin = (drawn >> 32) as u32;
        let bytes = 100 + (drawn >> 40) as usize % 1400;
        if packet > 0 {
            // The line takes 640 us for an average packet.
            let mean = if packet / 500 % 2 == 0 { 540_000 } else { 1_000_000 };
            now += (drawn >> 20) % (2 * mean);
            if packet % 700 == 0 {
                (now, silences) = (now + 35_000_000, silences + 1);
            }
        }
        while now >= end {
            let seen = aqm::Observation {
                arrived: over(arrived, 1000),
                capacity,
                now_s: over(end - first, NS_PER_S),
                ..aqm::Observation::zero()
            };
            law.on_event(at, Event::Tick, &seen);
            (arrived, end) = (0, end + PERIOD_NS);
        }
        arrived += bytes as u64;
        let seen = aqm::Observation { capacity, now_s: over(now - first, NS_PER_S), ..aqm::Observation::zero() };
        let output = law.on_event(at, Event::Arrival { bytes: bytes as u32, idle: 0 }, &seen);
        let chosen = i64::from(coin) < output.probability.0;
        if chosen {
            law.on_event(at, Event::Hit, &seen);
        }
        (marks, certain) = (marks + u64::from(chosen), certain + u64::from(output.probability.0 == ONE as i64));

        let frame = Frame::udp(Ecn::Ect0, bytes).bytes;
        let (verdict, after) = trial.give(&frame, Arrival { at_ns: now, coin, ..Arrival::default() }).unwrap();
        let wanted = if chosen { Ecn::Ce } else { Ecn::Ect0 };
        assert_eq!((verdict, frames::ecn(&after)), (Verdict::Next, wanted), "packet {packet}");
        let mut state = Vec::new();
        law.each(at, &mut |number| state.push(number.0));
        let words: Vec<i64> = trial.observables().unwrap().into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, state, "packet {packet}");
    }
    let books = trial.books().unwrap();
    println!("{marks} marks of 20000, {certain} of them certain, over {silences} silences");
    assert!(marks > 500 && certain < marks / 2 && silences > 20);
    assert_eq!((books.marked.packets, books.ended()), (marks, books.arrived));
}
