//! The name of this program, and its commands as a shell takes them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

static PROGRAM: OnceLock<String> = OnceLock::new();

/// From now on this program has the name by which it was called: that of its file, without the directory.
pub(crate) fn called(by: &OsStr) {
    if let Some(name) = Path::new(by).file_name() {
        let _ = PROGRAM.set(name.to_string_lossy().into_owned());
    }
}

/// The name of this program, as messages and reports have it. A program with laws of its own has a name of its own.
pub(crate) fn name() -> &'static str {
    PROGRAM.get().map_or("penstock", String::as_str)
}

/// A word of a command for a shell. None here has a NUL, as arguments of a process cannot.
pub(crate) fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Cow::into_owned)
}
