//! Progress of long work: a bar on a terminal, lines in a pipe.

mod estimate;

use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use penstock_scenario::visible;

use crate::meter::Meter;
use crate::terminal::{self, note};
use estimate::{Piece, Rest, State as Stage, rest};

/// Progress of several pieces of work: how many are done, which run, and how long it will take. On a terminal a
/// bar shows it; elsewhere a line does, for each piece that is finished and at least every [`SILENCE_S`]. With `--quiet`
/// nothing does, with `--verbose` lines do.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    bar: Option<ProgressBar>,
    state: Mutex<State<'a>>,
}

/// Work to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<'a> {
    /// Its name in messages.
    pub(crate) name: &'a str,
    /// Work of one group costs alike: cells of one file.
    pub(crate) group: usize,
    /// Its cost, in a unit that is the same for all of its group.
    pub(crate) cost: f64,
}

/// Pieces of the same whole that are no work of now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Others {
    /// Those that were finished before the command began.
    pub(crate) before: usize,
    /// Those that the command has finished since.
    pub(crate) since: usize,
    /// Those that it begins later.
    pub(crate) after: usize,
}

impl Others {
    /// None but those that were finished before the command began.
    pub(crate) const fn before(before: usize) -> Self {
        Self { before, since: 0, after: 0 }
    }
}

/// Steps of the bar.
const STEPS: f64 = 1000.0;
/// The longest silence in a pipe [s].
const SILENCE_S: f64 = 30.0;
/// The most characters of a name.
const LONGEST_NAME: usize = 100;
/// Between two drawings of the bar: the remaining time takes a moment to compute [s].
const REDRAWN_S: f64 = 0.1;
/// Pieces that are named as running.
const NAMED: usize = 3;

#[derive(Debug)]
struct State<'a> {
    names: Vec<Cow<'a, str>>,
    pieces: Vec<Piece>,
    /// The order in which they begin, on so many threads.
    order: Vec<usize>,
    threads: usize,
    /// Those that run, in the order in which they began.
    running: Vec<usize>,
    others: Others,
    /// Number of finished pieces, of these and of those before.
    finished: usize,
    all: usize,
    since: Meter,
    /// The remaining time in words, and when it was estimated [s].
    left: Option<String>,
    estimated_s: f64,
    /// When the last line was written, or the bar drawn [s].
    said_s: f64,
}

impl<'a> Progress<'a> {
    /// For work that begins in that order on so many threads, beside these others.
    pub(crate) fn of(work: &[Work<'a>], order: &[usize], threads: usize, others: Others) -> Self {
        let bar = (io::stderr().is_terminal() && terminal::wants_bar()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:25} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, state: Mutex::new(State::new(work, order, threads, others)) }
    }

    /// A piece begins.
    pub(crate) fn begun(&self, piece: usize) {
        let Ok(mut state) = self.state.lock() else { return };
        let now_s = state.since.wall_s();
        state.begin(piece, now_s);
        self.show(&mut state, true);
    }

    /// A piece has come so far, 0 to 1.
    pub(crate) fn reached(&self, piece: usize, share: f64) {
        let Ok(mut state) = self.state.lock() else { return };
        state.reach(piece, share);
        self.show(&mut state, false);
    }

    /// A piece is done, and took so long.
    pub(crate) fn finished(&self, piece: usize, wall_s: f64) {
        let Ok(mut state) = self.state.lock() else { return };
        state.finish(piece, wall_s);
        if self.bar.is_none() {
            let now_s = state.since.wall_s();
            note(state.line(piece, wall_s, now_s));
            state.said_s = now_s;
        }
        self.show(&mut state, true);
    }

    /// Draws the bar, if the running work is `new` or some time has gone by; writes a line after a long silence.
    fn show(&self, state: &mut State<'_>, new: bool) {
        let elapsed_s = state.since.wall_s();
        match &self.bar {
            Some(bar) if new || elapsed_s - state.said_s >= REDRAWN_S => {
                bar.set_message(state.message(elapsed_s));
                bar.set_position((state.share() * STEPS) as u64);
                state.said_s = elapsed_s;
            }
            None if elapsed_s - state.said_s >= SILENCE_S => {
                note(state.message(elapsed_s));
                state.said_s = elapsed_s;
            }
            Some(_) | None => {}
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
    fn new(work: &[Work<'a>], order: &[usize], threads: usize, others: Others) -> Self {
        let piece = |work: &Work<'_>| Piece { group: work.group, cost: work.cost, state: Stage::Waiting };
        Self {
            names: work.iter().map(|work| shown(work.name)).collect(),
            pieces: work.iter().map(piece).collect(),
            order: order.to_vec(),
            threads,
            running: Vec::new(),
            others,
            finished: others.before + others.since,
            all: others.before + others.since + work.len() + others.after,
            since: Meter::start(),
            left: None,
            estimated_s: f64::NEG_INFINITY,
            said_s: 0.0,
        }
    }

    fn begin(&mut self, piece: usize, now_s: f64) {
        self.pieces[piece].state = Stage::Running { since_s: now_s, share: 0.0 };
        self.running.push(piece);
    }

    fn reach(&mut self, piece: usize, done: f64) {
        if let Stage::Running { share, .. } = &mut self.pieces[piece].state {
            *share = done;
        }
    }

    fn finish(&mut self, piece: usize, wall_s: f64) {
        self.pieces[piece].state = Stage::Finished(wall_s);
        self.running.retain(|at| *at != piece);
        self.finished += 1;
    }

    /// The share of the pieces that is done, 0 to 1, those from before left out.
    fn share(&self) -> f64 {
        // Of thousands of pieces few run at a time.
        let running = self.running.iter().map(|at| match self.pieces[*at].state {
            Stage::Running { share, .. } => share,
            Stage::Waiting | Stage::Finished(_) => 0.0,
        });
        let Others { before, since, after } = self.others;
        let done = (self.finished - before) as f64 + running.sum::<f64>();
        done / (since + self.pieces.len() + after).max(1) as f64
    }

    /// As in `3/12, 41 %, 2m to 5m left, running a; b`.
    fn message(&mut self, elapsed_s: f64) -> String {
        let mut text = format!("{}/{}, {:.0} %", self.finished, self.all, (self.share() * 100.0).floor());
        if let Some(left) = self.recently_left(elapsed_s) {
            let _ = write!(text, ", {left}");
        }
        let names: Vec<&str> = self.running.iter().take(NAMED).map(|at| &*self.names[*at]).collect();
        if !names.is_empty() {
            let _ = write!(text, ", running {}", names.join("; "));
        }
        if self.running.len() > NAMED {
            let _ = write!(text, " and {} more", self.running.len() - NAMED);
        }
        text
    }

    /// As in `4/12  case = FAST  12.3 s  (2m to 5m left)`.
    fn line(&mut self, piece: usize, wall_s: f64, elapsed_s: f64) -> String {
        let mut text = format!("{}/{}  {}  {wall_s:.1} s", self.finished, self.all, self.names[piece]);
        if let Some(left) = self.recently_left(elapsed_s) {
            let _ = write!(text, "  ({left})");
        }
        text
    }

    /// The same as [`left`](Self::left), at most [`REDRAWN_S`] old: it looks at all pieces, and thousands may end in a second.
    fn recently_left(&mut self, elapsed_s: f64) -> Option<&str> {
        if self.left.is_none() || self.finished == self.all || elapsed_s - self.estimated_s >= REDRAWN_S {
            self.left = self.left(elapsed_s);
            self.estimated_s = elapsed_s;
        }
        self.left.as_deref()
    }

    /// As in `about 3m left`, `2m to 5m left` or `more than 2m left`; nothing where nothing is known or left.
    fn left(&self, elapsed_s: f64) -> Option<String> {
        if self.finished == self.all {
            return None;
        }
        let Rest { least_s, most_s } = rest(&self.pieces, &self.order, self.threads, elapsed_s)?;
        // Later ones cost about what these do.
        let Others { before, since, after } = self.others;
        let each_s = elapsed_s / (self.finished - before - since).max(1) as f64;
        let (least_s, most_s) = (least_s + after as f64 * each_s, most_s.map(|most_s| most_s + after as f64 * each_s));
        let least = short(least_s);
        Some(match most_s.map(short) {
            Some(most) if most == least => format!("about {most} left"),
            Some(most) if least_s < 1.0 => format!("up to {most} left"),
            Some(most) => format!("{least} to {most} left"),
            None if least_s < 1.0 => return None,
            None => format!("more than {least} left"),
        })
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
        let work = [("a", 3.0), ("b", 1.0), ("c", 1.0), ("d", 1.0), ("e", 2.0)];
        let work = work.map(|(name, cost)| Work { name, group: 0, cost });
        let mut state = State::new(&work, &[0, 4, 1, 2, 3], 4, Others::before(2));
        assert_eq!(state.message(0.0), "2/7, 0 %", "nothing is known");
        (0..4).for_each(|piece| state.begin(piece, 0.0));
        assert_eq!(state.message(10.0), "2/7, 0 %, running a; b; c and 1 more");
        state.reach(0, 0.5);
        // A unit of cost takes some 7 s, and half of the first piece is left; the last one waits.
        assert_eq!(state.message(10.0), "2/7, 10 %, 11s to 45s left, running a; b; c and 1 more");
        for (piece, wall_s) in [(0, 20.0), (1, 7.0), (2, 6.0), (3, 7.0)] {
            state.finish(piece, wall_s);
        }
        assert_eq!(state.line(3, 7.0, 20.0), "6/7  d  7.0 s  (8s to 22s left)");
        state.finish(4, 14.0);
        assert_eq!(state.message(34.0), "7/7, 100 %");
        assert_eq!(state.line(4, 14.0, 34.0), "7/7  e  14.0 s");
        assert_eq!(shown("case = \u{1b}[31m\n"), "case = \\u{1b}[31m\\n");
        assert_eq!(shown(&"e".repeat(101)).len(), 103);
    }

    #[test]
    fn limits_are_said_as_far_as_they_are_known() {
        let work = [("a", 0), ("b", 0), ("c", 1)].map(|(name, group)| Work { name, group, cost: 1.0 });
        let mut state = State::new(&work, &[0, 1, 2], 1, Others::default());
        state.begin(0, 0.0);
        state.finish(0, 100.0);
        // Nobody knows how long one of the other file takes.
        assert!(state.left(100.0).unwrap().starts_with("more than "), "{:?}", state.left(100.0));
        state.begin(1, 100.0);
        state.finish(1, 100.0);
        state.begin(2, 200.0);
        state.reach(2, 0.5);
        assert_eq!(state.left(300.0).unwrap(), "75s to 2m left");
    }
}
