//! Standard output, and how far long work has come.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;

/// Writes text to standard output.
pub(crate) fn say(text: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|e| match e.kind() {
        // `penstock laws | head` ends well.
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Input(format!("cannot write to standard output: {e}")),
    })
}

/// Writes one JSON value to standard output.
pub(crate) fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::Bug(format!("JSON: {e}")))?;
    say(text)
}

/// Writes a note to standard error; a reader who has gone is no reason to stop.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// How far several pieces of work have come: a bar on a terminal, a line a finished piece elsewhere.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// For each piece its share of the whole, and how much of it is done.
    pieces: Vec<(f64, f64)>,
    finished: usize,
}

/// Steps of the bar.
const STEPS: f64 = 1000.0;

impl Progress {
    /// For pieces that cost so much each.
    pub(crate) fn of(costs: &[f64]) -> Self {
        let total: f64 = costs.iter().sum();
        let pieces = costs.iter().map(|c| (if total > 0.0 { c / total } else { 0.0 }, 0.0)).collect();
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {elapsed} of about {duration}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, state: Mutex::new(State { pieces, finished: 0 }) }
    }

    /// A piece has come so far, 0 to 1.
    pub(crate) fn reached(&self, piece: usize, share: f64) {
        let Some(bar) = &self.bar else { return };
        let Ok(mut state) = self.state.lock() else { return };
        state.pieces[piece].1 = share;
        bar.set_position((state.pieces.iter().map(|(cost, share)| cost * share).sum::<f64>() * STEPS) as u64);
    }

    /// A piece is done.
    pub(crate) fn finished(&self, piece: usize, name: &str, wall_s: f64) {
        self.reached(piece, 1.0);
        let Ok(mut state) = self.state.lock() else { return };
        state.finished += 1;
        let (finished, all) = (state.finished, state.pieces.len());
        match &self.bar {
            Some(bar) => bar.set_message(format!("{finished}/{all}")),
            None => note(format!("{finished}/{all}  {name}  {wall_s:.1} s")),
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
