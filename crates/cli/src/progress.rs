//! How far long work has come: a bar on a terminal, lines in a pipe.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use penstock_scenario::visible;

use crate::meter::Meter;
use crate::terminal::note;

/// How far several pieces of work have come: how many are done, what runs, and how long it will take. On a terminal a
/// bar says so; elsewhere a line does, for each piece that is finished and at least every [`SILENCE_S`].
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    bar: Option<ProgressBar>,
    state: Mutex<State<'a>>,
}

/// Steps of the bar.
const STEPS: f64 = 1000.0;
/// The longest that a pipe hears nothing [s].
const SILENCE_S: f64 = 30.0;
/// The most characters of a name.
const LONGEST_NAME: usize = 100;
/// Pieces that are named as running.
const NAMED: usize = 3;

#[derive(Debug)]
struct State<'a> {
    pieces: Vec<Piece<'a>>,
    /// Those that run, in the order in which they began.
    running: Vec<usize>,
    /// How many are finished, of these and of those before.
    finished: usize,
    all: usize,
    since: Meter,
    /// When the last line was written [s].
    said_s: f64,
}

#[derive(Debug)]
struct Piece<'a> {
    name: Cow<'a, str>,
    /// Its share of the work, and how much of it is done, 0 to 1.
    cost: f64,
    done: f64,
}

impl<'a> Progress<'a> {
    /// For pieces with a name that cost so much each, after `before` that are finished.
    pub(crate) fn of(pieces: Vec<(&'a str, f64)>, before: usize) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:25} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, state: Mutex::new(State::new(pieces, before)) }
    }

    /// A piece begins.
    pub(crate) fn begun(&self, piece: usize) {
        let Ok(mut state) = self.state.lock() else { return };
        state.running.push(piece);
        self.show(&mut state);
    }

    /// A piece has come so far, 0 to 1.
    pub(crate) fn reached(&self, piece: usize, share: f64) {
        let Ok(mut state) = self.state.lock() else { return };
        state.pieces[piece].done = share;
        self.show(&mut state);
    }

    /// A piece is done, and took so long.
    pub(crate) fn finished(&self, piece: usize, wall_s: f64) {
        let Ok(mut state) = self.state.lock() else { return };
        state.finish(piece);
        if self.bar.is_none() {
            note(state.line(piece, wall_s));
            state.said_s = state.since.wall_s();
        }
        self.show(&mut state);
    }

    fn show(&self, state: &mut State<'_>) {
        let elapsed_s = state.since.wall_s();
        match &self.bar {
            Some(bar) => {
                bar.set_message(state.message(elapsed_s));
                bar.set_position((state.share() * STEPS) as u64);
            }
            None if elapsed_s - state.said_s >= SILENCE_S => {
                note(state.message(elapsed_s));
                state.said_s = elapsed_s;
            }
            None => {}
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl<'a> State<'a> {
    fn new(pieces: Vec<(&'a str, f64)>, before: usize) -> Self {
        let total: f64 = pieces.iter().map(|(_, cost)| cost).sum();
        let share = |cost: f64| if total > 0.0 { cost / total } else { 0.0 };
        let all = before + pieces.len();
        let named = |(name, cost)| Piece { name: shown(name), cost: share(cost), done: 0.0 };
        let pieces = pieces.into_iter().map(named).collect();
        Self { pieces, running: Vec::new(), finished: before, all, since: Meter::start(), said_s: 0.0 }
    }

    fn finish(&mut self, piece: usize) {
        self.pieces[piece].done = 1.0;
        self.running.retain(|at| *at != piece);
        self.finished += 1;
    }

    /// The share of the work that is done, 0 to 1.
    fn share(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.cost * piece.done).sum()
    }

    /// As in `3/12, 41 %, about 2m left, running a; b`.
    fn message(&self, elapsed_s: f64) -> String {
        let share = self.share();
        let mut text = format!("{}/{}, {:.0} %", self.finished, self.all, (share * 100.0).floor());
        // A hundredth tells little of the rest.
        if share > 0.01 && share < 1.0 {
            let _ = write!(text, ", about {} left", short(elapsed_s * (1.0 - share) / share));
        }
        let names: Vec<&str> = self.running.iter().take(NAMED).map(|at| &*self.pieces[*at].name).collect();
        if !names.is_empty() {
            let _ = write!(text, ", running {}", names.join("; "));
        }
        if self.running.len() > NAMED {
            let _ = write!(text, " and {} more", self.running.len() - NAMED);
        }
        text
    }

    /// As in `4/12  case = FAST  12.3 s  (about 2m left)`.
    fn line(&self, piece: usize, wall_s: f64) -> String {
        let mut text = format!("{}/{}  {}  {wall_s:.1} s", self.finished, self.all, self.pieces[piece].name);
        let share = self.share();
        if self.finished < self.all && share > 0.0 {
            let _ = write!(text, "  (about {} left)", short(self.since.wall_s() * (1.0 - share) / share));
        }
        text
    }
}

/// A name as a line of progress has it: the bar is drawn by a library, so that it is made visible here.
fn shown(name: &str) -> Cow<'_, str> {
    match visible::line(name) {
        Cow::Borrowed(name) => visible::cut(name, LONGEST_NAME),
        Cow::Owned(name) => Cow::Owned(visible::cut(&name, LONGEST_NAME).into_owned()),
    }
}

/// A time in a word, as in `2m`.
fn short(seconds: f64) -> String {
    format!("{:#}", HumanDuration(Duration::try_from_secs_f64(seconds.ceil()).unwrap_or(Duration::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_what_is_done_what_is_left_and_what_runs() {
        let mut state = State::new(vec![("a", 3.0), ("b", 1.0), ("c", 1.0), ("d", 1.0), ("e", 2.0)], 2);
        assert_eq!(state.message(0.0), "2/7, 0 %");
        state.running = vec![0, 1, 2, 3];
        state.pieces[0].done = 1.0 / 3.0;
        // One eighth took ten seconds.
        assert_eq!(state.message(10.0), "2/7, 12 %, about 70s left, running a; b; c and 1 more");
        state.finish(0);
        assert_eq!(state.message(300.0), "3/7, 37 %, about 8m left, running b; c; d");
        assert!(state.line(0, 1.25).starts_with("3/7  a  1.2 s  (about "), "{}", state.line(0, 1.25));
        (1..5).for_each(|piece| state.finish(piece));
        assert_eq!(state.message(300.0), "7/7, 100 %");
        assert_eq!(state.line(4, 1.0), "7/7  e  1.0 s");
        assert_eq!(shown("case = \u{1b}[31m\n"), "case = \\u{1b}[31m\\n");
        assert_eq!(shown(&"e".repeat(101)).len(), 103);
    }
}
