//! Commands as functions of a program in another language.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::error::Error;
use crate::arguments::Command;
use crate::failure::{Done, Failure};
use crate::{analyze, compare, embedded, evaluate, interrupt, paper, search, shell, tune};

/// The result of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its JSON.
    pub value: Value,
    /// Its lines for standard error.
    pub notes: Vec<String>,
    /// Its exit status.
    pub status: u8,
}

/// The command with these arguments, the name of the program first: `analyze`, `compare`, `tune`, `evaluate`, `break` or `paper`,
/// with `--json`. A text stands for the file of its path. Nothing is printed. One command runs at a time; others wait.
///
/// # Errors
/// With the message of the command on standard error. None where [`stop`] was called meanwhile.
pub fn command(arguments: Vec<OsString>, texts: BTreeMap<PathBuf, String>) -> Result<Option<Answer>, Error> {
    static ONE: Mutex<()> = Mutex::new(());
    let parsed = shell::parse(arguments).map_err(|usage| Error::Input(usage.render().to_string().trim().to_owned()))?;
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    embedded::begin(texts);
    let ended = Ended;
    let done = interrupt::unless_left(|| match &parsed.command {
        Command::Analyze(arguments) => analyze::analyze(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Tune(rule) => tune::tune(rule),
        Command::Evaluate(arguments) => evaluate::evaluate(arguments),
        Command::Break(arguments) => search::search(arguments),
        Command::Paper(arguments) => paper::paper(arguments),
        _ => Err(Failure::Input("this command is no function".to_owned())),
    });
    let heard = embedded::end();
    std::mem::forget(ended);
    let done: Done = match done {
        Err(Failure::Stopped) => return Ok(None),
        done => done?,
    };
    let value = match heard.said.last() {
        Some(said) => serde_json::from_str(said).map_err(|e| Error::Bug(format!("JSON: {e}")))?,
        None => Value::Null,
    };
    Ok(Some(Answer { value, notes: heard.notes, status: done.status() }))
}

/// Ends the work of [`command`], soon. From another thread.
pub fn stop() {
    embedded::stop();
}

/// Sets the function that surrounds the work of each thread that a command starts from now on, and calls that work once. A program
/// makes the thread known to its interpreter there, which then need not meet it anew at each call of a law. The first call counts.
pub fn around_threads(around: fn(&mut (dyn FnMut() + Send + '_))) {
    embedded::surround(around);
}

/// Ends a command that panics.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        embedded::end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("penstock").chain(line.split(' ')).map(OsString::from).collect()
    }

    /// A text stands for a file, errors are returned, and results are JSON.
    #[test]
    fn a_command_is_a_function() {
        let _alone = embedded::alone();
        let tuned = command(words("tune leadlag --taubar 1 --json"), BTreeMap::new());
        assert!(matches!(tuned, Err(Error::Input(why)) if why.contains("taubar")), "a time has a unit");
        let text = "format = 1\nduration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
                    delay = \"1 ms\"\nbuffer = \"900 packets\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nrtt = \"90 ms\"\n\
                    cc = { law = \"fast\", alpha = \"20 packets\" }";
        let texts = BTreeMap::from([(PathBuf::from("nowhere.toml"), text.to_owned())]);
        let analyzed = command(words("analyze nowhere.toml --json"), texts).unwrap().unwrap();
        assert_eq!((analyzed.status, &analyzed.value["verdict"]), (0, &Value::from("stable")));
        assert!(command(words("analyze nowhere.toml --json"), BTreeMap::new()).is_err(), "the text is gone");
        assert!(!embedded::is_running());
        // A stop that comes after the end of its command is not for the next one.
        stop();
        embedded::begin(BTreeMap::new());
        let stopped = embedded::stopped();
        embedded::end();
        assert!(!stopped);
    }
}
