//! Standard output, and notes for people.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Writes text to standard output.
pub(crate) fn say(text: impl Display) -> Result<(), Failure> {
    // The harness of tests keeps what is printed for when it is wanted, not what is written.
    if cfg!(test) {
        println!("{text}");
        return Ok(());
    }
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

/// Writes a note to standard error; a reader who has gone is no reason to stop.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
