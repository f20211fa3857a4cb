//! A file of vectors, line by line, and the draws of its numbers.

use std::fmt::Write as _;

use crate::kernel_laws::{Call, KernelLaw, MOST};
use penstock_law::{Fix, Number};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Writes a file of vectors.
pub(super) struct File {
    kernel_law: &'static KernelLaw,
    pub(super) text: String,
    params: Vec<i64>,
}

impl File {
    pub(super) fn new(kernel_law: &'static KernelLaw, what: &str, ranges: &str) -> Self {
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
        text += "#\n# A line of params holds for the vectors below it. Words that an event does not use are zero.\n#\n";
        for range in ranges.lines() {
            let _ = writeln!(text, "# {}", range.trim());
        }
        text +=
            "#\n# Laws and kernel implementations: crates/law/src, bpf/law. Written by crates/kernel/src/generators.\n";
        Self { kernel_law, text, params: Vec::new() }
    }

    pub(super) fn params(&mut self, params: &[i64]) {
        if self.params != params {
            self.params = params.to_vec();
            let _ = writeln!(self.text, "params {}", join(params));
        }
    }

    /// Writes one vector and returns the state after it.
    pub(super) fn vector(&mut self, event: &str, state: &[i64], observation: &[i64]) -> [i64; MOST.state] {
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

pub(super) fn padded<const N: usize>(words: &[i64]) -> [i64; N] {
    std::array::from_fn(|at| words.get(at).copied().unwrap_or(0))
}

pub(super) fn q(x: f64) -> i64 {
    Fix::<32>::of(x).0
}

/// Every combination of one word from each list.
pub(super) fn product(lists: &[&[i64]]) -> Vec<Vec<i64>> {
    lists.iter().fold(vec![Vec::new()], |rows, list| {
        let longer = |row: &Vec<i64>, word: &i64| row.iter().chain([word]).copied().collect();
        rows.iter().flat_map(|row| list.iter().map(move |word| longer(row, word))).collect()
    })
}

pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
    /// Uniform in 0..1.
    pub(super) fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }
    pub(super) fn lands(&mut self, p: f64) -> bool {
        self.share() < p
    }
    pub(super) fn between(&mut self, least: f64, most: f64) -> f64 {
        least + self.share() * (most - least)
    }
    /// Uniform in the logarithm.
    pub(super) fn log(&mut self, least: f64, most: f64) -> f64 {
        libm::exp(self.between(libm::log(least), libm::log(most)))
    }
    pub(super) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.0.next_u64() % list.len() as u64) as usize]
    }
}

const MICROSECOND: f64 = 1e-6;
/// Times as a host measures them: whole microseconds.
pub(super) fn measured(seconds: f64) -> i64 {
    q((seconds / MICROSECOND).round() * MICROSECOND)
}
