//! Standard output, notes for people, and how they want to see them.
//!
//! All text goes through here, and whatever a terminal would act on in it is shown as an escape: text comes from files,
//! from the command line and from names of files, and none of these may move the cursor, set a title or turn the direction
//! of a line around. Style is added to text that was made visible before.

use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use console::Term;
use penstock_report::text::Look;
use penstock_scenario::visible;
use serde::Serialize;

use crate::arguments::{Terminal, When};
use crate::failure::Failure;
use crate::{embedded, excerpt};

/// The most characters of a line of a message.
const MOST_MESSAGE: usize = 4000;

/// The style of output.
#[derive(Debug, Clone, Copy, Default)]
struct Manner {
    look: Look,
    /// Whether errors may be coloured.
    errors_coloured: bool,
    quiet: bool,
    verbose: bool,
}

static MANNER: OnceLock<Manner> = OnceLock::new();

fn manner() -> Manner {
    MANNER.get().copied().unwrap_or_default()
}

/// Sets the style of output by these arguments, once for all.
pub(crate) fn adopt(arguments: &Terminal) {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let columns = variable("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let to_people = io::stdout().is_terminal();
    let size = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns)).filter(|columns| *columns > 0);
    let coloured = |to_people: bool| match arguments.color {
        When::Always => true,
        When::Never => false,
        // https://no-color.org
        When::Auto => to_people && variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|term| term != "dumb"),
    };
    let look = Look {
        width: columns.or_else(|| if to_people { size() } else { None }),
        coloured: coloured(to_people) && !arguments.plain,
        plain: arguments.plain,
    };
    let errors_coloured = coloured(io::stderr().is_terminal()) && !arguments.plain;
    let _ = MANNER.set(Manner { look, errors_coloured, quiet: arguments.quiet, verbose: arguments.verbose });
}

/// The layout of text on standard output.
pub(crate) fn look() -> Look {
    manner().look
}

/// Whether a bar may show the progress of work: lines would tear it, and programs do not look at it.
pub(crate) fn wants_bar() -> bool {
    !manner().quiet && !manner().verbose && !manner().look.plain && !embedded::is_running()
}

/// Writes the place of a file to standard output, after its kind: in a column, or for programs behind `#` and a tab.
pub(crate) fn place(kind: &str, path: impl Display) -> Result<(), Failure> {
    say(if look().plain { format!("# {kind}\t{path}") } else { format!("{kind:7} {path}") })
}

/// Writes text to standard output.
pub(crate) fn say(text: impl Display) -> Result<(), Failure> {
    if embedded::say(&text.to_string()) {
        return Ok(());
    }
    // The harness of tests keeps what is printed for when it is wanted, not what is written.
    if cfg!(test) {
        println!("{text}");
        return Ok(());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}", shown(&text.to_string())).and_then(|()| out.flush()).map_err(|e| match e.kind() {
        // `penstock laws | head` ends well.
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Input(format!("cannot write to standard output: {e}")),
    })
}

/// Writes one JSON value to standard output.
pub(crate) fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::Bug(format!("JSON: {e}")))?;
    say(escaped(&text))
}

/// JSON text in which characters that act on a terminal are escaped as JSON has it: control characters are already.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if visible::acts(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
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

/// Writes to standard error the messages of `--verbose`.
pub(crate) fn detail(text: impl Display) {
    if manner().verbose {
        fail(text);
    }
}

/// Writes an error to standard error; a reader who has gone is no reason to stop.
pub(crate) fn fail(text: impl Display) {
    let text = brief(&text.to_string());
    if embedded::note(&text) {
        return;
    }
    let _ = writeln!(io::stderr().lock(), "{}", visible::lines(&text));
}

/// A message whose lines can be shown: what it quotes may be as long as a file.
fn brief(text: &str) -> String {
    text.split('\n').map(|line| visible::cut(line, MOST_MESSAGE)).collect::<Vec<_>>().join("\n")
}

/// Prints why the command failed, in colour where a terminal shows it.
pub(crate) fn failed(failure: &Failure) {
    let Failure::Scenario(errors) = failure else { return fail(failure) };
    let _ = writeln!(io::stderr().lock(), "{}", excerpt::rendered(errors, manner().errors_coloured));
}

/// Prints the errors of a command line, or the requested help. Arguments that would act on a terminal are shown
/// without colour.
pub(crate) fn usage(usage: &clap::Error) {
    let text = usage.render().to_string();
    if visible::lines(&text) == text {
        let _ = usage.print();
    } else {
        fail(text.trim_end());
    }
}

/// Text as standard output has it: where that is coloured, the colours of [`Look`] stay, and nothing else acts.
fn shown(text: &str) -> String {
    if !look().coloured {
        return visible::lines(text).into_owned();
    }
    let mut pieces = text.split("\u{1b}[");
    let mut out = visible::lines(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let code = piece.find(|c: char| !(c.is_ascii_digit() || c == ';'));
        let style = code.filter(|end| piece[*end..].starts_with('m')).map_or("", |end| &piece[..=end]);
        out += if style.is_empty() { "\\u{1b}[" } else { "\u{1b}[" };
        out += style;
        out += &visible::lines(&piece[style.len()..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json() {
        let text = serde_json::to_string(&"a\u{202e}b\u{1b}\u{85}").unwrap();
        let shown = escaped(&text);
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), "a\u{202e}b\u{1b}\u{85}");
    }
}
