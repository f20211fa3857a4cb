//! Standard output, notes for people, and how they want to see them.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use console::Term;
use penstock_report::text::Look;
use serde::Serialize;

use crate::arguments::{Terminal, When};
use crate::failure::Failure;

/// How things are said.
#[derive(Debug, Clone, Copy, Default)]
struct Manner {
    look: Look,
    quiet: bool,
    verbose: bool,
}

static MANNER: OnceLock<Manner> = OnceLock::new();

fn manner() -> Manner {
    MANNER.get().copied().unwrap_or_default()
}

/// From now on things are said as these arguments want it, once for all.
pub(crate) fn adopt(arguments: &Terminal) {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let columns = variable("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let to_people = io::stdout().is_terminal();
    let size = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns)).filter(|columns| *columns > 0);
    let coloured = match arguments.color {
        When::Always => true,
        When::Never => false,
        // https://no-color.org
        When::Auto => to_people && variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|term| term != "dumb"),
    };
    let look = Look {
        width: columns.or_else(|| if to_people { size() } else { None }),
        coloured: coloured && !arguments.plain,
        plain: arguments.plain,
    };
    let _ = MANNER.set(Manner { look, quiet: arguments.quiet, verbose: arguments.verbose });
}

/// How text is laid out on standard output.
pub(crate) fn look() -> Look {
    manner().look
}

/// Whether a bar may show how far work has come: lines would tear it.
pub(crate) fn wants_bar() -> bool {
    !manner().quiet && !manner().verbose
}

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

/// Writes one JSON value to standard output: the only one of `values`, or else a list of them.
pub(crate) fn say_all(values: &[impl Serialize]) -> Result<(), Failure> {
    match values {
        [one] => say_json(one),
        several => say_json(&several),
    }
}

/// Writes a note to standard error, unless `--quiet` is given.
pub(crate) fn note(text: impl Display) {
    if !manner().quiet {
        fail(text);
    }
}

/// Writes to standard error what only `--verbose` wants to know.
pub(crate) fn detail(text: impl Display) {
    if manner().verbose {
        fail(text);
    }
}

/// Writes an error to standard error; a reader who has gone is no reason to stop.
pub(crate) fn fail(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
