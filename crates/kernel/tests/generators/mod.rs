//! What writes `vectors/*.txt`: the ends of every range first, in all combinations that differ for the event; then seeded
//! draws; then runs of a law as scenarios have them.

mod classes;
mod conditioners;
mod queues;
mod senders;

use std::fmt::Write as _;

use penstock_kernel::kernel_laws::{Call, KernelLaw, MOST};
use penstock_law::{Fix, Number};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Writes a file of vectors.
struct File {
    kernel_law: &'static KernelLaw,
    text: String,
    params: Vec<i64>,
}

impl File {
    fn new(kernel_law: &'static KernelLaw, what: &str, ranges: &str) -> Self {
        let KernelLaw { name, words, events, .. } = kernel_law;
        let mut text = format!("# Vectors of the law `{name}`: {what}.\n#\n");
        text += "# Every implementation computes exactly these integers. A word in _q32 is a number times 2^32, in _q62 times\n";
        text += "# 2^62. Products and quotients are rounded to nearest, half away from zero, and everything saturates at 64 bits with\n";
        text += "# sign; a division by zero saturates by the sign of the numerator, and 0/0 is 0. The exponential is that\n";
        text +=
            "# of bpf/law/fx.h. Operations come in the order in which the law has them. Other words are counts, and\n";
        text += "# switches of 0 or 1. vectors/README.md has all of it.\n#\n";
        let _ = writeln!(text, "# params {}", words.params.join(" "));
        let line = format!("{} {} -> {}", words.state.join(" "), words.observation.join(" "), words.state.join(" "));
        for event in *events {
            let _ = writeln!(text, "# {event} {line}");
        }
        text += "#\n# A line of params holds for the vectors below it. What an event does not look at is zero.\n#\n";
        for range in ranges.lines() {
            let _ = writeln!(text, "# {}", range.trim());
        }
        text += "#\n# Laws and kernel implementations: crates/law/src, bpf/law. Written by crates/kernel/tests/generators.\n";
        Self { kernel_law, text, params: Vec::new() }
    }

    fn params(&mut self, params: &[i64]) {
        if self.params != params {
            self.params = params.to_vec();
            let _ = writeln!(self.text, "params {}", join(params));
        }
    }

    /// Writes one vector and returns the state after it.
    fn vector(&mut self, event: &str, state: &[i64], observation: &[i64]) -> [i64; MOST.state] {
        let event_at = self.kernel_law.events.iter().position(|e| *e == event).unwrap();
        let call = Call {
            event: event_at,
            params: padded(&self.params),
            state: padded(state),
            observation: padded(observation),
        };
        let after = self.kernel_law.in_rust(&call);
        let words = &self.kernel_law.words;
        let [before, observation, after_it] = [
            &call.state[..words.state.len()],
            &call.observation[..words.observation.len()],
            &after[..words.state.len()],
        ]
        .map(join);
        let _ = writeln!(self.text, "{event} {before} {observation} -> {after_it}");
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

/// The vectors of a law, and in the header how many they are.
pub(crate) fn text(kernel_law: &'static KernelLaw) -> String {
    let text = without_count(kernel_law);
    let vectors = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("params ")).count();
    text.replacen(
        "# Laws and kernel implementations:",
        &format!("# {vectors} vectors\n#\n# Laws and kernel implementations:"),
        1,
    )
}

fn without_count(kernel_law: &'static KernelLaw) -> String {
    match kernel_law.name {
        "fast" => senders::fast(kernel_law),
        "leadlag" => senders::leadlag(kernel_law),
        "price" => queues::price(kernel_law),
        "avq" => queues::avq(kernel_law),
        "token-bucket" => conditioners::token_bucket(kernel_law),
        "srtcm" => conditioners::srtcm(kernel_law),
        "trtcm" => conditioners::trtcm(kernel_law),
        "early-marking" => conditioners::early_marking(kernel_law),
        "bat" => classes::bat(kernel_law),
        "clcc" => classes::clcc(kernel_law),
        "ccp" | "ccpd" => senders::ccp(kernel_law),
        other => panic!("write a generator for the vectors of `{other}`"),
    }
}
