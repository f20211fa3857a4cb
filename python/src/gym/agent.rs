//! A flow under an agent: its action as a window or a rate, what it observes, and what a step came to.

use std::f64::consts::LN_2;

use penstock_law::Number;
use penstock_packets::{Counters, Simulation};

use super::external::State;

/// Numbers of one step that an agent observes; `python/penstock/gym/_measure.py` has their names, units and ranges.
pub(super) const OBSERVED: usize = 8;

/// The ends of their ranges.
const RANGES: [(f64, f64); OBSERVED] =
    [(1.0, 64.0), (-8.0, 8.0), (0.0, 8.0), (0.0, 1.0), (0.0, 8.0), (0.0, 8.0), (0.0, 20.0), (0.0, 1.0)];

/// The measures of each step, in the order of `penstock.gym.Measurement`.
pub(super) const MEASURED: [&str; 17] = [
    "time_s",
    "duration_s",
    "goodput_bit_per_s",
    "throughput_packets_per_s",
    "rtt_mean_s",
    "loss_rate",
    "mark_rate",
    "window_packets",
    "in_flight_packets",
    "sent_packets",
    "arrived_packets",
    "lost_packets",
    "marked_packets",
    "congestion_events",
    "timeouts",
    "capacity_bit_per_s",
    "base_rtt_s",
];

/// The largest window [packets].
const MOST_WINDOW: f64 = 1_048_576.0;

/// A window of so many times rate and smallest round trip lets a paced flow go on while acknowledgements are late: the gain of
/// BBR's window, and its smallest (draft-ietf-ccwg-bbr, `BBRCwndGain` and `BBRMinPipeCwnd`).
const RATE_WINDOW: (f64, f64) = (2.0, 4.0);

/// As a law in Python computes it too, on every machine.
fn log2(x: f64) -> f64 {
    Number::ln(x) / LN_2
}

/// The quantity that an action sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turns {
    Window,
    Rate,
}

/// The constants of an episode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    /// The slowest link that its data cross, or its own interface [bit/s].
    pub(super) capacity_bit_per_s: f64,
    /// Without a queue [s].
    pub(super) base_rtt_s: f64,
    /// The initial window [packets].
    pub(super) initial_window: f64,
}

/// A flow and what is remembered of it from step to step.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) flow: usize,
    path: Path,
    began_s: f64,
    before: Counters,
    /// The latest mean round trip, as the simulator measures it and as the sender does; zero before there is one [s].
    rtt_s: f64,
    heard_rtt_s: f64,
    /// The largest rate of acknowledgements so far [packets/s].
    best_rate: f64,
    /// The pacing rate [packets/s].
    rate: f64,
    /// Steps that are observed, the latest last.
    pub(super) observation: Vec<f32>,
}

impl Agent {
    pub(super) fn new(flow: usize, path: Path, history: usize) -> Self {
        let first = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, log2(path.initial_window).max(0.0), 0.0];
        let first = first.map(|x| x as f32);
        Self {
            flow,
            path,
            began_s: 0.0,
            before: Counters::default(),
            rtt_s: 0.0,
            heard_rtt_s: 0.0,
            best_rate: 0.0,
            rate: path.initial_window / path.base_rtt_s,
            observation: first.repeat(history),
        }
    }

    /// Multiplies the window, or the rate, by two to the power of the action.
    pub(super) fn act(&mut self, run: &mut Simulation, turns: Turns, action: f64) {
        let numbers = run.observables(self.flow);
        let (state, observed) = State::of(&numbers);
        let mut next = state.anew();
        let factor = Number::exp(action * LN_2);
        match turns {
            Turns::Window => next.window = (state.window * factor).clamp(1.0, MOST_WINDOW),
            Turns::Rate => {
                self.rate = (self.rate * factor).clamp(1.0, MOST_WINDOW / self.path.base_rtt_s);
                let least_rtt_s = if observed[1] > 0.0 { observed[1] } else { self.path.base_rtt_s };
                next.gap_s = 1.0 / self.rate;
                next.window = (RATE_WINDOW.0 * self.rate * least_rtt_s).clamp(RATE_WINDOW.1, MOST_WINDOW);
            }
        }
        let mut numbers = Vec::with_capacity(8);
        next.each(&mut |x| numbers.push(*x));
        let mut numbers = numbers.into_iter();
        run.steer(self.flow, |x| numbers.next().into_iter().for_each(|number| *x = number));
    }

    /// The sender's counters over the step that ends now.
    pub(super) fn observe(&mut self, run: &mut Simulation, now_s: f64) {
        let numbers = run.observables(self.flow);
        let (heard, rest) = State::of(&numbers);
        let (base_rtt_s, duration_s) = (rest[1], now_s - self.began_s);
        let rtt_s = if heard.rtts > 0.0 { heard.rtt_sum_s / heard.rtts } else { self.heard_rtt_s };
        let per_s = |x: f64| if duration_s > 0.0 { x / duration_s } else { 0.0 };
        let share = |x: f64, of: f64| if of > 0.0 { x / of } else { 0.0 };
        let gradient = if self.heard_rtt_s > 0.0 { per_s(rtt_s - self.heard_rtt_s) } else { 0.0 };
        let rate = per_s(heard.acknowledged);
        self.best_rate = self.best_rate.max(rate);
        let values = [
            if base_rtt_s > 0.0 && rtt_s > 0.0 { rtt_s / base_rtt_s } else { 1.0 },
            gradient,
            share(rate * rtt_s, heard.window),
            share(heard.marked, heard.acknowledged),
            heard.congestion_events,
            heard.timeouts,
            log2(heard.window),
            share(rate, self.best_rate),
        ];
        self.heard_rtt_s = rtt_s;
        self.observation.rotate_left(OBSERVED);
        let last = self.observation.len() - OBSERVED;
        for ((place, value), (least, most)) in self.observation[last..].iter_mut().zip(values).zip(RANGES) {
            *place = value.clamp(least, most) as f32;
        }
    }

    /// The measures of the step that ends now, in the order of [`MEASURED`].
    pub(super) fn measure(&mut self, run: &Simulation, now_s: f64) -> [f64; MEASURED.len()] {
        let (now, before) = (run.counters(self.flow), self.before);
        let duration_s = now_s - self.began_s;
        let per_s = |x: f64| if duration_s > 0.0 { x / duration_s } else { 0.0 };
        let share = |x: f64, of: f64| if of > 0.0 { x / of } else { 0.0 };
        let rtts = now.rtts - before.rtts;
        if rtts > 0 {
            self.rtt_s = (now.rtt_sum_s - before.rtt_sum_s) / rtts as f64;
        }
        let arrived = (now.arrived_packets - before.arrived_packets) as f64;
        let lost = (now.lost_packets - before.lost_packets) as f64;
        let marked = (now.marked_packets - before.marked_packets) as f64;
        (self.before, self.began_s) = (now, now_s);
        [
            now_s,
            duration_s,
            // Not the data in order: one packet that was sent again lets all behind it go at once. The count may seem to fall,
            // where a transfer ends with a short segment.
            per_s(now.received.0.saturating_sub(before.received.0) as f64 * 8.0),
            per_s(arrived),
            if self.rtt_s > 0.0 { self.rtt_s } else { self.path.base_rtt_s },
            share(lost, lost + arrived),
            share(marked, arrived),
            now.window_packets,
            now.in_flight_packets as f64,
            (now.sent_packets - before.sent_packets) as f64,
            arrived,
            lost,
            marked,
            (now.congestion_events - before.congestion_events) as f64,
            (now.timeouts - before.timeouts) as f64,
            self.path.capacity_bit_per_s,
            self.path.base_rtt_s,
        ]
    }
}
