//! SEARCH: slow start ends when less is delivered than was sent a round trip earlier.
//!
//! Source: draft-chung-ccwg-search-09, section 3, with its constants: a window of 3.5 first round trips in ten bins, fifteen bins
//! more to look back, and a threshold of 0.26. Symbols: S is the data sent in the window that ended a round trip ago, G the data
//! delivered in the window that ends now.
//! Differs: packets for bytes; the data sent are the data acknowledged and the window, since slow start fills its window; between
//! bins S is interpolated backwards, where draft 09 goes forwards by mistake; more than ten bins without an acknowledgement begin
//! anew, which the draft leaves open; the drain takes two packets off the window for three acknowledged.
//!
//! Not a law: [`Searching`] makes of a law with a slow start the same law with this end of it.

use alloc::boxed::Box;
use alloc::string::String;

use super::{Context, Controller, Delivery, Event, Observation, Output, Requirements, Spared, Timing};
use crate::law::{Fields, Instances, Law, build};
use crate::number::Number;
use crate::parameter::{Parameter, Values};

/// The choice of every law that has this end of slow start.
pub(super) const SEARCH: Parameter = Parameter::choice(
    "search",
    &["off", "exit", "drain"],
    "SEARCH: the first slow start ends when less is delivered than was sent a round trip earlier; with `drain` the window then \
     shrinks to what the empty path holds",
    "draft-chung-ccwg-search-09, section 3",
);

/// WINDOW_SIZE_FACTOR: first round trips that the window lasts.
const WINDOW: f64 = 3.5;
/// W: bins of the window.
const BINS: usize = 10;
/// EXTRA_BINS: the bins that one may look back for the data sent.
const EXTRA: usize = 15;
/// THRESH: share of S that may be missing from G.
const THRESHOLD: f64 = 0.26;
/// Packets off the window for each that is acknowledged in the drain.
const DRAINED: f64 = 2.0 / 3.0;

/// A law with a slow start that other code may end.
pub(super) trait SlowStart: Law<f64, Role = Controller> {
    /// True in slow start.
    fn is_slow_start(state: &Self::State) -> bool;
    /// Slow start ends, with this window.
    fn end_slow_start(state: &mut Self::State, window: f64);
}

/// Builds the law, with SEARCH if that is selected.
pub(super) fn real<L: SlowStart>(
    values: &Values,
    context: &Context,
) -> Result<Box<dyn Instances<f64, Controller>>, String> {
    if values.number(SEARCH.name) == 0.0 {
        return build::<f64, L>(values, context);
    }
    build::<f64, Searching<L>>(values, context)
}

/// The measurements of one slow start.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Search {
    /// First round trip [s], and the end of the bin under way; zero before it is known.
    first_s: f64,
    bin_ends_s: f64,
    /// Bins that are over.
    bin: usize,
    /// Packets acknowledged.
    total: f64,
    /// Packets acknowledged and sent by the ends of bins, in rings.
    acked: [f64; BINS + 1],
    sent: [f64; BINS + 1 + EXTRA],
}

impl Search {
    const START: Self = Self {
        first_s: 0.0,
        bin_ends_s: 0.0,
        bin: 0,
        total: 0.0,
        acked: [0.0; BINS + 1],
        sent: [0.0; BINS + 1 + EXTRA],
    };

    /// Packets acknowledged in the bins before `bin`.
    fn acked_in(&self, bin: usize, bins: usize) -> f64 {
        self.acked[bin % self.acked.len()] - self.acked[(bin - bins) % self.acked.len()]
    }

    /// Packets sent in the window that ended with `bin`.
    fn sent_in(&self, bin: usize) -> f64 {
        self.sent[bin % self.sent.len()] - self.sent[(bin - BINS) % self.sent.len()]
    }

    fn begin(&mut self, now_s: f64, rtt_s: f64, sent: f64) {
        *self =
            Self { first_s: rtt_s, bin_ends_s: now_s + rtt_s * WINDOW / BINS as f64, total: self.total, ..Self::START };
        (self.acked[0], self.sent[0]) = (self.total, sent);
    }

    /// An acknowledgement of so many packets, with the window then; the share of S that is missing from G, at the end of a bin.
    fn ack(&mut self, now_s: f64, rtt_s: f64, packets: u32, window: f64) -> Option<f64> {
        self.total += f64::from(packets);
        let sent = self.total + window;
        if rtt_s <= 0.0 {
            return None;
        }
        if self.first_s == 0.0 {
            self.begin(now_s, rtt_s, sent);
            return None;
        }
        if now_s <= self.bin_ends_s {
            return None;
        }
        let bin_s = self.first_s * WINDOW / BINS as f64;
        let passed = (now_s - self.bin_ends_s) / bin_s;
        if passed >= BINS as f64 {
            self.begin(now_s, rtt_s, sent);
            return None;
        }
        for _ in 0..passed as usize {
            let before = self.bin;
            self.bin += 1;
            self.acked[self.bin % (BINS + 1)] = self.acked[before % (BINS + 1)];
            self.sent[self.bin % (BINS + 1 + EXTRA)] = self.sent[before % (BINS + 1 + EXTRA)];
            self.bin_ends_s += bin_s;
        }
        self.bin += 1;
        self.bin_ends_s += bin_s;
        self.acked[self.bin % (BINS + 1)] = self.total;
        self.sent[self.bin % (BINS + 1 + EXTRA)] = sent;
        self.missing(rtt_s / bin_s)
    }

    /// (S - G) / S, with a round trip of so many bins.
    fn missing(&self, round_bins: f64) -> Option<f64> {
        let back = round_bins as usize;
        if self.bin <= back + BINS || back >= EXTRA {
            return None;
        }
        let (at, part) = (self.bin - back, round_bins - back as f64);
        let sent = (1.0 - part) * self.sent_in(at) + part * self.sent_in(at - 1);
        (sent > 0.0).then(|| (sent - self.acked_in(self.bin, BINS)) / sent)
    }

    /// The capacity of the empty path: packets acknowledged in the last bins that last a first round trip.
    fn empty_path(&self) -> f64 {
        self.acked_in(self.bin, libm::ceil(BINS as f64 / WINDOW) as usize)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The first slow start lasts.
    Watches,
    /// It is over, and the window shrinks to this [packets].
    Drains(f64),
    /// Nothing more to do.
    Over,
}

/// The same law, whose first slow start SEARCH ends.
#[derive(Debug)]
pub(super) struct Searching<L> {
    law: L,
    drains: bool,
}

/// The state of the law, and the measurements of its slow start.
#[derive(Debug, Clone)]
pub(super) struct State<S> {
    inner: S,
    search: Search,
    phase: Phase,
}

impl<S: Fields<f64>> Fields<f64> for State<S> {
    const NAMES: &'static [(&'static str, &'static str)] = S::NAMES;
    const WORDS: &'static [(&'static str, &'static str)] = S::WORDS;
    fn each(&mut self, f: &mut dyn FnMut(&mut f64)) {
        self.inner.each(f);
    }
}

impl<L: SlowStart> Searching<L> {
    /// Takes in an acknowledgement.
    fn look(&self, s: &mut State<L::State>, packets: u32, seen: &Observation<f64>) {
        let window = self.law.output(&s.inner, seen).window;
        match s.phase {
            Phase::Over => {}
            Phase::Drains(target) => {
                let window = Number::max(window - DRAINED * f64::from(packets), target);
                L::end_slow_start(&mut s.inner, window);
                if window <= target {
                    s.phase = Phase::Over;
                }
            }
            Phase::Watches if !L::is_slow_start(&s.inner) => s.phase = Phase::Over,
            Phase::Watches => {
                let missing = s.search.ack(seen.now_s, seen.rtt_s, packets, window);
                if missing.is_some_and(|missing| missing >= THRESHOLD) {
                    L::end_slow_start(&mut s.inner, window);
                    let target = Number::max(s.search.empty_path(), 2.0);
                    s.phase = if self.drains && target < window { Phase::Drains(target) } else { Phase::Over };
                }
            }
        }
    }
}

impl<L: SlowStart> Law<f64> for Searching<L> {
    type Role = Controller;
    type State = State<L::State>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self { law: L::compile(values, context)?, drains: values.number(SEARCH.name) > 1.0 })
    }

    fn initial_state(&self) -> State<L::State> {
        State { inner: self.law.initial_state(), search: Search::START, phase: Phase::Watches }
    }

    fn on_event(&self, s: &mut State<L::State>, event: Event, seen: &Observation<f64>) {
        self.law.on_event(&mut s.inner, event, seen);
        match event {
            Event::Ack { packets, .. } => self.look(s, packets, seen),
            Event::Congestion | Event::Timeout => s.phase = Phase::Over,
            Event::Round | Event::Tick => {}
        }
    }

    fn on_detail(&self, s: &mut State<L::State>, delivery: &Delivery, seen: &Observation<f64>) {
        self.law.on_detail(&mut s.inner, delivery, seen);
    }

    fn output(&self, s: &State<L::State>, seen: &Observation<f64>) -> Output<f64> {
        self.law.output(&s.inner, seen)
    }

    fn timing(&self, s: &State<L::State>, seen: &Observation<f64>) -> Timing {
        self.law.timing(&s.inner, seen)
    }

    fn undone(&self, s: &mut State<L::State>, after: &State<L::State>) {
        self.law.undone(&mut s.inner, &after.inner);
    }

    fn requirements(&self) -> Requirements {
        let inner = self.law.requirements();
        Requirements { now: true, spared: Spared { acks: false, ..inner.spared }, ..inner }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of `rtt_s` that carries `rate` packets a second, with a queue as long as need be, under slow start from ten packets:
    /// what is missing at the ends of bins, with the packets that the path holds at the time in the queue, until `until_s`.
    fn slow_start(rtt_s: f64, rate: f64, until_s: f64) -> (alloc::vec::Vec<(f64, f64)>, Search) {
        let (mut search, mut window, mut said) = (Search::START, 10.0, alloc::vec::Vec::new());
        // Packets leave the line one after the other; each acknowledgement sends two.
        let mut free_s = 0.0;
        let mut flying: alloc::collections::VecDeque<(f64, f64)> = (0..10)
            .map(|_| {
                free_s += 1.0 / rate;
                (free_s + rtt_s, 0.0)
            })
            .collect();
        while let Some((now_s, sent_s)) = flying.pop_front() {
            if now_s > until_s {
                break;
            }
            window += 1.0;
            if let Some(missing) = search.ack(now_s, now_s - sent_s, 1, window) {
                said.push((now_s, missing));
            }
            for _ in 0..2 {
                free_s = Number::max(free_s, now_s) + 1.0 / rate;
                flying.push_back((free_s + rtt_s, now_s));
            }
        }
        (said, search)
    }

    /// On a free path the data sent are delivered a round trip later: nothing is missing, except for the error of bins that hold
    /// one burst of acknowledgements a round trip; a fifth is less than the threshold.
    #[test]
    fn without_congestion_nothing_is_missing() {
        let (said, _) = slow_start(0.1, 1e7, 1.05);
        assert!(said.len() > 3, "{said:?}");
        for (now_s, missing) in said {
            assert!(missing < 0.2, "{now_s}: {missing}");
        }
    }

    /// Once the line is full, deliveries stay and what is sent is twice that: half of it comes to be missing, and the threshold is
    /// passed within one and a half windows. The bins of a first round trip then hold what the empty path does.
    #[test]
    fn at_a_full_line_half_comes_to_be_missing() {
        let (rtt_s, rate) = (0.1, 10_000.0);
        // 1000 packets fill the path: ten doubled to that takes 6.6 round trips, and one more until it is heard of.
        let full_s = 7.6 * rtt_s;
        let (said, search) = slow_start(rtt_s, rate, 1.5);
        let over = said.iter().find(|(_, missing)| *missing >= THRESHOLD).unwrap();
        assert!((0.0..1.5 * WINDOW * rtt_s).contains(&(over.0 - full_s)), "{over:?}");
        let most = said.iter().map(|(_, missing)| *missing).fold(0.0, Number::max);
        assert!((0.4..0.55).contains(&most), "{said:?}");
        assert!((search.empty_path() / (rtt_s * rate) - 1.05).abs() < 0.01, "{}", search.empty_path());
    }

    /// More than a window without an acknowledgement begins anew; less does not.
    #[test]
    fn a_long_silence_begins_anew() {
        for (silence_s, anew) in [(0.3, false), (0.5, true)] {
            let mut search = Search::START;
            for at in 0..100 {
                search.ack(f64::from(at) * 0.01, 0.1, 1, 10.0);
            }
            let bin = search.bin;
            search.ack(0.99 + silence_s, 0.1, 1, 10.0);
            assert_eq!(search.bin < bin, anew, "{silence_s}");
        }
    }
}
