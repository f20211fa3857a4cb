//! Standard output, and notes for people.
//!
//! All text goes through here, and whatever a terminal would act on in it is shown as an escape: text comes from files,
//! from the command line and from names of files, and none of these may move the cursor, set a title or turn the direction
//! of a line around. Style is added by [`fail`] only, to text that was made visible before.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use penstock_scenario::visible;
use serde::Serialize;

use crate::excerpt;
use crate::failure::Failure;

/// Writes text to standard output.
pub(crate) fn say(text: impl Display) -> Result<(), Failure> {
    // The harness of tests keeps what is printed for when it is wanted, not what is written.
    if cfg!(test) {
        println!("{text}");
        return Ok(());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}", visible::lines(&text.to_string())).and_then(|()| out.flush()).map_err(|e| match e.kind() {
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

/// JSON text in which what acts on a terminal is escaped as JSON has it: control characters are already.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if visible::acts(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out += &format!("\\u{unit:04x}");
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

/// Writes a note to standard error; a reader who has gone is no reason to stop.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", visible::lines(&text.to_string()));
}

/// Says why the command failed, in colour where a terminal shows it.
pub(crate) fn fail(failure: &Failure) {
    let Failure::Scenario(errors) = failure else { return note(failure) };
    let styled = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
    let _ = writeln!(io::stderr().lock(), "{}", excerpt::rendered(errors, styled));
}

/// Says what is wrong with a command line, or what help was asked for. Arguments that would act on a terminal are shown
/// without colour.
pub(crate) fn usage(usage: &clap::Error) {
    let text = usage.render().to_string();
    if visible::lines(&text) == text {
        let _ = usage.print();
    } else {
        note(text.trim_end());
    }
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
