//! The command as a user has it.
#![allow(dead_code, unreachable_pub, missing_docs)]

pub mod battery;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub const SMALL: &str = r#"
format = 1
title = "Two flows"
duration = "3 s"
warmup = "1 s"
packet = "1000 B"
[links.bottleneck]
from = "left"
to = "right"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "50 packets"
[flows.ftp]
count = 2
from = "left"
to = "right"
rtt = "40 ms"
cc = { law = "newreno" }
"#;

pub const SWEEP: &str = r#"
[sweep]
"links.bottleneck.rate" = ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"]
seed = { count = 2 }
"#;

/// A directory of its own, and the command in it.
pub struct Bench {
    home: TempDir,
}

pub struct Ended {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Bench {
    pub fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.called(Command::new(env!("CARGO_BIN_EXE_penstock")), arguments)
    }

    /// The command with the signals of a terminal. A shell that runs these tests in the background has Ctrl-C ignored,
    /// and the command leaves it so.
    pub fn interruptible(&self, arguments: &[&str]) -> Command {
        let mut env = Command::new("env");
        env.args(["--default-signal=INT", env!("CARGO_BIN_EXE_penstock")]);
        self.called(env, arguments)
    }

    fn called(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).current_dir(self.home.path()).env_remove("RUST_BACKTRACE");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(&self.command(arguments).output().unwrap())
    }

    /// Runs what must end with status 0.
    pub fn well(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.status, 0, "{arguments:?}\n{}", ended.err);
        ended.out
    }

    /// The same, and its output as JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.well(arguments);
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
    }

    /// The summary of one run, or the sweep, that `--json` prints of it.
    pub fn result(&self, arguments: &[&str]) -> Value {
        Ended { status: 0, out: self.well(arguments), err: String::new() }.result()
    }

    pub fn names(&self, directory: &str) -> Vec<String> {
        names(&self.path(directory))
    }
}

/// Whether the path of a summary was late, or did not look, by more than its bounds: in words.
pub fn late(path: &Value) -> Option<String> {
    let beyond = |figure: &str, bound: &str| {
        let [figure, bound] = [figure, bound].map(|name| path[name].as_f64().unwrap_or_else(|| panic!("{path}")));
        figure > bound
    };
    let late = beyond("lateness_p99_s", "lateness_bound_s") || beyond("gap_max_s", "gap_bound_s");
    late.then(|| path["beyond"].to_string())
}

impl Ended {
    /// The summary of one run, or the sweep, that `--json` printed of it.
    pub fn result(&self) -> Value {
        let all: Value = serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out));
        let runs = all["runs"].as_array().unwrap_or_else(|| panic!("no list of runs: {all}"));
        assert_eq!((&all["format"], runs.len()), (&1.into(), 1), "{all}");
        runs[0].get("summary").or(runs[0].get("sweep")).unwrap_or_else(|| panic!("{all}")).clone()
    }

    /// Whether the path of a run over Linux was late, or did not look, by more than its bounds: in words, for `optional::timed`.
    pub fn late(&self) -> Option<String> {
        if self.status != 4 {
            return None;
        }
        late(&self.result()["path"])
    }

    pub fn of(output: &Output) -> Self {
        Self {
            status: output.status.code().expect("ended by itself"),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }
}

/// Names in a directory, hidden ones included, sorted; nothing where there is none.
pub fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
