//! The committed vectors, against Rust and against C on this processor.
//!
//! `PENSTOCK_BLESS=1 cargo test -p penstock-linux --test vectors` writes `vectors/*.txt` anew, from the generators
//! below; do it when a law changed on purpose, and look at the difference.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Once;
use std::{env, fs};

use penstock_law::estimate::{MarkEstimate, PriceTable};
use penstock_law::{Fix, Number};
use penstock_linux::replay::{self, Build};
use penstock_linux::twins::{Call, MOST, TWINS, Twin, twin};
use penstock_linux::vectors::Vectors;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn path(twin: &Twin) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(format!("{}.txt", twin.name))
}

/// What `vectors/` has; blessed before the first look, if that is asked for.
fn committed(twin: &'static Twin) -> (String, Vectors) {
    static BLESSED: Once = Once::new();
    BLESSED.call_once(|| {
        if env::var_os("PENSTOCK_BLESS").is_some() {
            for twin in TWINS {
                fs::write(path(twin), text(twin)).unwrap();
            }
        }
    });
    let text = fs::read_to_string(path(twin)).unwrap();
    let vectors = Vectors::parse(twin, &format!("vectors/{}.txt", twin.name), &text).unwrap();
    (text, vectors)
}

#[test]
fn the_committed_vectors_are_what_rust_computes() {
    for twin in TWINS {
        let (committed, vectors) = committed(twin);
        assert!(vectors.len() >= 20_000, "{}: {} vectors", twin.name, vectors.len());
        let report = replay::in_rust(&vectors);
        assert!(report.holds(), "{report}");
        let generated = text(twin);
        let same = generated.lines().zip(committed.lines()).take_while(|(a, b)| a == b).count();
        assert!(generated == committed, "{}: line {} is not what its generator writes", vectors.file, same + 1);
    }
}

#[test]
fn the_native_twins_compute_the_vectors() {
    for twin in TWINS {
        let report = replay::natively(Build::Faithful, &committed(twin).1);
        assert!(report.holds(), "{report}");
        println!("{report}");
    }
}

#[test]
fn a_slip_in_a_twin_is_noticed_by_the_vectors_of_every_law() {
    for twin in TWINS {
        let report = replay::natively(Build::PlantedSlip, &committed(twin).1);
        assert!(report.mismatches.len() > 1000, "{report}");
    }
}

#[test]
fn a_wrong_digit_in_a_vector_is_noticed_and_named() {
    let params = "params 429496729600 2147483648 2147483648\n";
    let right = format!("{params}round 8589934592 429496730 429496730 -> 17179869184\n");
    let wrong = right.replace("17179869184", "17179869185");
    let replay = |text: &str| {
        let vectors = Vectors::parse(twin("fast").unwrap(), "fast.txt", text).unwrap();
        [replay::in_rust(&vectors), replay::natively(Build::Faithful, &vectors)].map(|report| report.to_string())
    };
    assert_eq!(replay(&right), ["fast.txt: 1 vectors, all as they must be"; 2]);
    let named =
        "fast.txt: 1 vectors, 1 words wrong; the first at line 2: window_q32: got 17179869184, want 17179869185";
    assert_eq!(replay(&wrong), [named; 2]);
}

/// Any words at all, far outside the ranges of the vectors.
#[test]
fn the_native_twins_compute_what_rust_does_on_anything() {
    let word = || (any::<i64>(), 0u32..64).prop_map(|(x, shift)| x >> shift);
    let words = prop::collection::vec(word(), MOST.params + MOST.state + MOST.seen);
    for twin in TWINS {
        let config = Config { cases: 20_000, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let check = |(event, words): (usize, Vec<i64>)| {
            let mut words = words.into_iter();
            let mut next = || words.next().unwrap_or_default();
            let call = Call {
                event,
                params: std::array::from_fn(|at| if at < twin.words.params.len() { next() } else { 0 }),
                state: std::array::from_fn(|at| if at < twin.words.state.len() { next() } else { 0 }),
                seen: std::array::from_fn(|at| match twin.words.seen.get(at) {
                    Some(name) if name.ends_with("_q32") => next(),
                    Some(_) => next() & i64::from(u32::MAX),
                    None => 0,
                }),
            };
            let got = replay::call_natively(Build::Faithful, twin, &[call]);
            prop_assert_eq!(got, [twin.in_rust(&call)], "{}: {:?}", twin.name, call);
            Ok(())
        };
        runner.run(&(0..twin.events.len(), words.clone()), check).unwrap();
    }
}

// The generators: the ends of every range first, in all combinations that differ for the event; then seeded draws;
// then runs of a law as scenarios have them.

/// Writes a file of vectors.
struct File {
    twin: &'static Twin,
    text: String,
    params: Vec<i64>,
}

impl File {
    fn new(twin: &'static Twin, what: &str, ranges: &str) -> Self {
        let Twin { name, words, events, .. } = twin;
        let mut text = format!("# Vectors of the law `{name}`: {what}.\n#\n");
        text +=
            "# Every implementation computes exactly these integers. A word in _q32 is a number times 2^32. Products\n";
        text +=
            "# and quotients are rounded to nearest, half away from zero, and everything saturates at 64 bits with\n";
        text += "# sign; a division by zero saturates by the sign of the numerator, and 0/0 is 0. The exponential is that\n";
        text += "# of bpf/law/fx.h. Operations come in the order in which the law has them.\n#\n";
        let _ = writeln!(text, "# params {}", words.params.join(" "));
        let line = format!("{} {} -> {}", words.state.join(" "), words.seen.join(" "), words.state.join(" "));
        for event in *events {
            let _ = writeln!(text, "# {event} {line}");
        }
        text += "#\n# A line of params holds for the vectors below it. What an event does not look at is zero.\n#\n";
        for range in ranges.lines() {
            let _ = writeln!(text, "# {}", range.trim());
        }
        text += "#\n# Laws and twins: crates/law/src, bpf/law. Written by crates/linux/tests/vectors.rs.\n";
        Self { twin, text, params: Vec::new() }
    }

    fn params(&mut self, params: &[i64]) {
        if self.params != params {
            self.params = params.to_vec();
            let _ = writeln!(self.text, "params {}", join(params));
        }
    }

    /// Writes one vector and returns the state after it.
    fn vector(&mut self, event: &str, state: &[i64], seen: &[i64]) -> [i64; MOST.state] {
        let event_at = self.twin.events.iter().position(|e| *e == event).unwrap();
        let call = Call { event: event_at, params: padded(&self.params), state: padded(state), seen: padded(seen) };
        let after = self.twin.in_rust(&call);
        let _ = writeln!(
            self.text,
            "{event} {} {} -> {}",
            join(state),
            join(&call.seen[..self.twin.words.seen.len()]),
            join(&after[..state.len()])
        );
        after
    }
}

fn join(words: &[i64]) -> String {
    words.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

fn padded<const N: usize>(words: &[i64]) -> [i64; N] {
    std::array::from_fn(|at| words.get(at).copied().unwrap_or(0))
}

fn q(x: f64) -> i64 {
    Fix::<32>::of(x).0
}

/// Every combination of one word from each list.
fn product(lists: &[&[i64]]) -> Vec<Vec<i64>> {
    lists.iter().fold(vec![Vec::new()], |rows, list| {
        let longer = |row: &Vec<i64>, word: &i64| row.iter().chain([word]).copied().collect();
        rows.iter().flat_map(|row| list.iter().map(move |word| longer(row, word))).collect()
    })
}

struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
    /// Uniform in 0..1.
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }
    fn lands(&mut self, p: f64) -> bool {
        self.share() < p
    }
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + self.share() * (most - least)
    }
    /// Uniform in the logarithm.
    fn log(&mut self, least: f64, most: f64) -> f64 {
        libm::exp(self.between(libm::log(least), libm::log(most)))
    }
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.0.next_u64() % list.len() as u64) as usize]
    }
}

const MICROSECOND: f64 = 1e-6;
/// Times as a host measures them: whole microseconds.
fn measured(seconds: f64) -> i64 {
    q((seconds / MICROSECOND).round() * MICROSECOND)
}

fn text(twin: &'static Twin) -> String {
    match twin.name {
        "fast" => fast(twin),
        "leadlag" => leadlag(twin),
        "price" => price(twin),
        other => panic!("write a generator for the vectors of `{other}`"),
    }
}

fn fast(twin: &'static Twin) -> String {
    let mut file = File::new(
        twin,
        "FAST TCP's window control",
        "alpha 0 to 1e6 packets; gamma 1e-6 to 1; keep 1 - gamma; window 2 to 1e7 packets and the largest number
         base_rtt, rtt 1 us to 100 s, and zero",
    );
    let most = i64::MAX;
    let windows = [q(2.0), q(2.5), q(100.25), q(1e6), q(1e7), most];
    for (alpha, gamma) in [0.0, 100.0, 1e6].iter().flat_map(|a| [1e-6, 0.5, 1.0].map(|g| (*a, g))) {
        file.params(&[q(alpha), q(gamma), q(1.0 - gamma)]);
        let rtts = [0, q(1e-6), q(0.1), q(100.0)];
        for row in product(&[&windows, &rtts, &rtts]) {
            file.vector("round", &row[..1], &row[1..]);
        }
    }
    for window in windows.into_iter().chain([1, 3, q(4.0) - 1, q(4.0), q(4.0) + 1]) {
        file.vector("cut", &[window], &[]);
        file.vector("timeout", &[window], &[]);
    }
    let mut draw = Draw::new(1);
    for _ in 0..1300 {
        let gamma = draw.log(1e-6, 1.0);
        file.params(&[q(draw.log(1e-3, 1e6)), q(gamma), q(1.0 - gamma)]);
        for _ in 0..8 {
            let window = [q(draw.log(2.0, 1e7))];
            let base = draw.log(1e-6, 10.0);
            let rtt = base * draw.log(1.0, 10.0);
            match draw.share() {
                0.0..0.1 => file.vector("cut", &window, &[]),
                _ => file.vector("round", &window, &[q(base), q(rtt)]),
            };
        }
    }
    for _ in 0..100 {
        let gamma = draw.of(&[0.5, 0.5, 0.25, 1.0]);
        file.params(&[q(draw.of(&[10.0, 50.0, 100.0, 200.0])), q(gamma), q(1.0 - gamma)]);
        let rate = draw.log(1e6, 1e10) / 12_000.0;
        let base = draw.of(&[0.001, 0.01, 0.04, 0.1, 0.18, 0.25]);
        let mut window = q(2.0);
        for _ in 0..90 {
            let rtt = f64::max(base, Fix::<32>(window).value() / rate) * draw.between(1.0, 1.05);
            let event = if draw.lands(0.02) { "cut" } else { "round" };
            let seen = if event == "cut" { [0, 0] } else { [measured(base), measured(rtt)] };
            [window, ..] = file.vector(event, &[window], &seen);
        }
    }
    file.text
}

fn leadlag(twin: &'static Twin) -> String {
    let mut file = File::new(
        twin,
        "the lead-lag ECN protocol of Paganini, Wang, Low and Doyle",
        "step 0 to 16; weight 1e-6 to 1e6 packets; gain 1e-6 to 1.57; cap 1e-3 to 1e6 packets
         scale 1e-3 to 1e3 packets; least 1e-6, most 1e7 packets; ln2 0.693
         window 1 to 1e7 packets, and the largest number; target 1e-6 to 1e7 packets; xi -25 to 22, and the least number
         price 0 to 10 s; base_rtt 1 us to 10 s, and zero; packets 0 to 4294967295",
    );
    let fixed = [q(1e-6), q(1e7), q(core::f64::consts::LN_2)];
    let params = |step: f64, weight: f64, gain: f64, cap: f64, scale: f64| {
        let free = [step, weight, gain, cap, scale].map(q);
        free.into_iter().chain(fixed).collect::<Vec<_>>()
    };
    let targets = [q(1e-6), q(1.0), q(1e7)];
    for (step, weight) in [0.0, 0.37 * 0.64 * 0.01, 16.0].iter().flat_map(|s| [1e-6, 50.0, 1e6].map(|w| (*s, w))) {
        for gain in [1e-6, 0.37, 1.57] {
            file.params(&params(step, weight, gain, 1.0, 1.0));
            let (xis, prices) = ([q(-25.0), 0, q(22.0)], [0, q(0.005), q(10.0)]);
            for row in product(&[&targets, &xis, &prices, &[0, q(1e-6), q(0.1), q(10.0)]]) {
                file.vector("tick", &[q(100.25), row[0], row[1]], &row[2..]);
            }
        }
    }
    let windows = [q(1.0), q(1.0) + 1, q(100.25), q(1e7), i64::MAX];
    for cap in [1e-3, 1.0, 1e6] {
        file.params(&params(0.002_368, 50.0, 0.37, cap, 1.0));
        let counts = [0, 1, 2, 44, 65_536, (1 << 31) - 1, 1 << 31, i64::from(u32::MAX)];
        for row in product(&[&windows, &targets, &counts]) {
            file.vector("ack", &[row[0], row[1], q(4.6)], &[0, 0, row[2]]);
        }
    }
    for row in product(&[&windows, &targets, &[i64::MIN, q(-25.0), 0, q(22.0)]]) {
        file.vector("cut", &row, &[]);
        file.vector("timeout", &row, &[]);
    }
    let mut draw = Draw::new(2);
    for _ in 0..1100 {
        let (step, weight) = (draw.log(1e-9, 16.0), draw.log(1e-6, 1e6));
        let (gain, cap) = (draw.log(1e-6, 1.57), draw.log(1e-3, 1e6));
        let scale = if draw.lands(0.5) { 1.0 } else { draw.log(1e-3, 1e3) };
        file.params(&params(step, weight, gain, cap, scale));
        for _ in 0..8 {
            let state = [q(draw.log(1.0, 1e7)), q(draw.log(1e-6, 1e7)), q(draw.between(-25.0, 22.0))];
            match draw.share() {
                0.0..0.3 => {
                    let packets = if draw.lands(0.5) { draw.log(1.0, 65.0) } else { draw.log(1.0, 4e9) };
                    file.vector("ack", &state, &[0, 0, packets as i64])
                }
                0.3..0.4 => file.vector("cut", &state, &[]),
                _ => {
                    let price = if draw.lands(0.1) { 0.0 } else { draw.log(1e-6, 10.0) };
                    file.vector("tick", &state, &[q(price), q(draw.log(1e-6, 10.0))])
                }
            };
        }
    }
    for _ in 0..100 {
        let phi = draw.of(&[1000.0, 1000.0, 100.0, 1e6]);
        let table = PriceTable::<Fix<32>>::new(MarkEstimate { packets: 31, phi });
        let (alpha, bottlenecks) = (draw.of(&[0.37, 0.37, 0.2, 0.78]), draw.of(&[1.0, 1.0, 2.0]));
        let (taubar, period) = (draw.of(&[1.0, 1.0, 0.2]), draw.of(&[0.01, 0.01, 0.005]));
        let beta = alpha * 0.64 / (bottlenecks * taubar);
        let weight = draw.of(&[50.0, 50.0, 10.0, 200.0]);
        file.params(&params(beta * period, weight, alpha / bottlenecks, draw.of(&[1.0, 1.0, 2.0]), 1.0));
        let base = measured(draw.of(&[0.002, 0.04, 0.08, 0.12, 0.2]));
        let mut state = [q(1.0), q(1.0), 0];
        let mut marks = 0u32;
        for _ in 0..30 {
            for _ in 0..2 {
                marks = match draw.share() {
                    0.0..0.3 => (marks + 1).min(31),
                    0.3..0.6 => marks.saturating_sub(1),
                    _ => marks,
                };
                let packets = draw.of(&[1, 1, 2, 2, 8, 44]);
                state = file.vector("ack", &state, &[0, 0, packets]);
            }
            state = if draw.lands(0.02) {
                file.vector("cut", &state, &[])
            } else {
                file.vector("tick", &state, &[table.price_s(marks).0, base])
            };
        }
    }
    file.text
}

fn price(twin: &'static Twin) -> String {
    let mut file = File::new(
        twin,
        "price marking of Paganini, Wang, Low and Doyle",
        "target 1e-3 to 1; period 1e-4 to 10 s; ln_phi of phi from 1.001 to 1e9; price 0 to 1e6 s; probability 0 to 1
         arrived 0 to 1e9 packets; capacity 1 to 1e9 packets/s, and zero
         price, arrived and capacity also the largest number",
    );
    let ln = |phi: f64| q(libm::log(phi));
    let (targets, periods) = ([1e-3, 0.95, 1.0].map(q), [1e-4, 0.005, 10.0].map(q));
    for params in product(&[&targets, &periods, &[ln(1.001), ln(1000.0), ln(1e9)]]) {
        file.params(&params);
        let prices = [0, 1, q(0.01), q(1e6), i64::MAX];
        let (arrived, capacity) = ([0, q(1.0), q(1e4), q(1e9), i64::MAX], [0, q(1.0), q(1e6), q(1e9), i64::MAX]);
        for row in product(&[&prices, &arrived, &capacity]) {
            file.vector("tick", &[row[0], 0], &row[1..]);
        }
    }
    let mut draw = Draw::new(3);
    for _ in 0..1100 {
        file.params(&[q(draw.log(1e-3, 1.0)), q(draw.log(1e-4, 10.0)), ln(1.0 + draw.log(1e-3, 1e9))]);
        for _ in 0..8 {
            let state = [if draw.lands(0.1) { 0 } else { q(draw.log(1e-6, 1e3)) }, q(draw.share())];
            let capacity = draw.log(1.0, 1e9);
            let arrived = if draw.lands(0.1) { 0.0 } else { capacity * draw.log(1e-5, 10.0) };
            file.vector("tick", &state, &[q(arrived), q(capacity)]);
        }
    }
    for _ in 0..100 {
        let period = draw.of(&[0.005, 0.005, 0.01, 0.1]);
        let target = draw.of(&[0.95, 0.95, 0.9, 0.98]);
        file.params(&[q(target), q(period), ln(draw.of(&[1000.0, 1000.0, 100.0, 1e6]))]);
        let capacity = draw.log(1e6, 1e11) / (8.0 * draw.of(&[1000.0, 1500.0]));
        let mut state = [0, 0];
        let mut load = target;
        for _ in 0..90 {
            load = (load + draw.between(-0.1, 0.1)).clamp(0.0, 2.0);
            // Arrivals are whole bytes in units of the mean packet.
            let arrived = (load * capacity * period * 1000.0).round() / 1000.0;
            [state[0], state[1], _] = file.vector("tick", &state, &[q(arrived), q(capacity)]);
        }
    }
    file.text
}
