//! Names of files in messages.

use std::ffi::OsStr;
use std::path::Path;

use penstock_scenario::visible;

/// A path, or the name of a file.
pub(crate) trait Shown {
    /// The name on one line: a file may have a line end in its name, and what stands after it is no message of its own.
    fn shown(&self) -> String;
}

impl Shown for OsStr {
    fn shown(&self) -> String {
        visible::line(&self.to_string_lossy()).into_owned()
    }
}

impl Shown for Path {
    fn shown(&self) -> String {
        self.as_os_str().shown()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(Path::new("a/b\nc\u{1b}[31m.toml").shown(), "a/b\\nc\\u{1b}[31m.toml");
        assert_eq!(OsStr::new("caf\u{e9}").shown(), "caf\u{e9}");
    }
}
