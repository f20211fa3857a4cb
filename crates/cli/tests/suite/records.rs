//! Records and directories that others made: by older versions, by other code, or to do harm.
#![allow(clippy::disallowed_types, reason = "a command that hangs is ended by the wall clock")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::{Bench, Ended, SMALL, SWEEP, names};
use penstock_record::{hexadecimal, sealed};

/// The command with the memory of a process limited [KiB]; nothing here takes long.
fn limited(bench: &Bench, kib: u32, arguments: &[&str]) -> Ended {
    let script = format!("ulimit -v {kib}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_penstock")]).args(arguments).current_dir(bench.path("."));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (id, begun) = (child.id().to_string(), Instant::now());
    let watch = thread::spawn(move || {
        // A minute: what hangs, hangs for ever, and a busy machine is slow.
        while begun.elapsed() < Duration::from_mins(1) {
            if !Path::new("/proc").join(&id).join("fd/2").exists() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        Command::new("kill").args(["-9", &id]).status().unwrap();
    });
    let output = child.wait_with_output().unwrap();
    watch.join().unwrap();
    Ended {
        status: output.status.code().unwrap_or_else(|| panic!("{arguments:?} hung, or was killed")),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn swept() -> Bench {
    let bench = Bench::new();
    bench.write("swept.toml", &format!("{SMALL}{SWEEP}"));
    bench.well(&["sweep", "swept.toml"]);
    bench
}

fn one() -> Bench {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.well(&["run", "small.toml"]);
    bench
}

/// Changes the header of a record and makes its last line right again, as somebody can who wants to.
fn forge(record: &Path, change: impl FnOnce(&str) -> String) {
    let path = record.join("record.toml");
    let text = fs::read_to_string(&path).unwrap();
    let above = &text[..text.find("# SHA-256").unwrap()];
    let forged = change(above);
    assert_ne!(forged, above);
    fs::write(path, sealed(&forged)).unwrap();
}

/// The record of a cell of [`swept`].
fn cell(bench: &Bench) -> std::path::PathBuf {
    let home = bench.path("out/swept");
    let name = names(&home).into_iter().find(|name| home.join(name).join("record.toml").is_file()).unwrap();
    home.join(name)
}

/// The commit and the version are the same, and the code is not.
#[test]
fn finished_cells_of_other_code_are_not_ours() {
    let bench = swept();
    let other = cell(&bench);
    forge(&other, |header| {
        let (above, rest) = header.split_once("code = \"sources ").unwrap();
        format!("{above}code = \"sources {}{}", if rest.starts_with('0') { '1' } else { '0' }, &rest[1..])
    });
    let ended = bench.run(&["sweep", "swept.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("5 of 6 cells are finished"), "{}", ended.err);
    assert!(!ended.err.contains("its cell runs again"), "whole, and of somebody else: {}", ended.err);
    assert!(other.join("summary.json").is_file());
}

#[test]
fn the_same_code_of_another_commit_is_ours() {
    let bench = swept();
    forge(&cell(&bench), |header| format!("commit = \"000000000-dirty\"\n{}", header.replace("\ncommit = ", "\n# ")));
    assert!(bench.run(&["sweep", "swept.toml"]).err.contains("6 of 6 cells are finished"));
}

/// Records of format 1 say neither their code nor whether they are whole.
#[test]
fn records_of_format_1_are_neither_ours_nor_damaged_and_run_again() {
    let bench = swept();
    let older = cell(&bench);
    let text = fs::read_to_string(older.join("record.toml")).unwrap();
    let without: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("code =") && !line.starts_with('#')).collect();
    let text = without.join("\n").replace("format = 2", "format = 1");
    fs::write(older.join("record.toml"), &text).unwrap();
    let ended = bench.run(&["sweep", "swept.toml"]);
    assert!(ended.err.contains("5 of 6 cells are finished") && !ended.err.contains("runs again"), "{}", ended.err);
    assert_eq!(fs::read_to_string(older.join("record.toml")).unwrap(), text);
    let path = older.display().to_string();
    let refused = bench.run(&["report", &path]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.err.contains("a record of format 1, and this version of Penstock reads format 2; `penstock run"),
        "{}",
        refused.err
    );
    bench.well(&["run", &format!("{path}/record.toml"), "--out", "again"]);
}

/// As a power failure may leave it: the header ends at a line, a table is empty, and a number is another.
#[test]
fn a_record_whose_list_of_files_is_cut_off_is_not_whole() {
    let bench = swept();
    for (cut, what) in
        [("[files]", "without `files`"), ("\"flows.parquet\"", "within them"), ("# SHA-256", "above the last line")]
    {
        let record = cell(&bench);
        let path = record.join("record.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.find(cut).unwrap()]).unwrap();
        fs::write(record.join("links.parquet"), "").unwrap();
        let report = bench.run(&["report", &record.display().to_string()]);
        assert_eq!(report.status, 2, "{what}");
        assert!(
            report.err.contains("record.toml: changed since it was written: the last line"),
            "{what}: {}",
            report.err
        );
        let ended = bench.run(&["sweep", "swept.toml"]);
        assert!(ended.err.contains("5 of 6 cells are finished"), "{what}: {}", ended.err);
        assert!(ended.err.contains("its cell runs again"), "{what}: {}", ended.err);
    }
}

#[test]
fn a_table_that_the_header_does_not_list_is_not_of_the_record() {
    let bench = one();
    let record = bench.path("out/small-seed1");
    fs::write(record.join("customers.parquet"), "junk").unwrap();
    bench.well(&["report", "out/small-seed1"]);
}

#[test]
fn a_pipe_in_the_way_is_not_waited_for() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL).write("swept.toml", &format!("{SMALL}{SWEEP}"));
    fs::create_dir_all(bench.path("out/swept")).unwrap();
    pipe(&bench.path("out/.x.partial-1-1"));
    pipe(&bench.path("out/swept/.x.partial-1-1"));
    let ended = limited(&bench, 4_000_000, &["run", "small.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let ended = limited(&bench, 4_000_000, &["sweep", "swept.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(bench.names("out").contains(&".x.partial-1-1".to_owned()), "it is not ours to remove");
    // In a record.
    let record = cell(&bench);
    for file in ["summary.json", "links.parquet", "record.toml"] {
        fs::remove_file(record.join(file)).unwrap();
        pipe(&record.join(file));
        if file != "record.toml" {
            let ended = limited(&bench, 4_000_000, &["report", &record.display().to_string()]);
            assert!(ended.status == 2 && ended.err.contains("it is not a file"), "{file}: {}", ended.err);
        }
    }
    let ended = limited(&bench, 4_000_000, &["sweep", "swept.toml"]);
    assert!(
        ended.status == 0 && ended.err.contains("record.toml: it is not a file; its cell runs again"),
        "{}",
        ended.err
    );
}

/// With a gigabyte: what is endless is not read.
#[test]
fn what_a_record_names_outside_of_itself_is_not_read() {
    let names = ["/dev/zero", "..", "../../../../../../dev/zero", "a/../../b", ".hidden"];
    for name in names {
        let bench = one();
        let record = bench.path("out/small-seed1");
        forge(&record, |header| format!("{header}\"{name}\" = \"0\"\n"));
        let ended = limited(&bench, 1_000_000, &["report", "out/small-seed1"]);
        assert_eq!(ended.status, 2, "{}", ended.err);
        assert!(ended.err.contains(&format!("lists `{name}` under `files`")), "{}", ended.err);
    }
    for file in ["summary.json", "record.toml", "flows.parquet"] {
        let bench = one();
        let path = bench.path("out/small-seed1").join(file);
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        let ended = limited(&bench, 1_000_000, &["report", "out/small-seed1"]);
        assert_eq!(ended.status, 2, "{file}: {}", ended.err);
        assert!(ended.err.contains("it is a symbolic link"), "{file}: {}", ended.err);
    }
    // A file as long as a disk, without anything in it.
    let bench = one();
    let path = bench.path("out/small-seed1/summary.json");
    let file = fs::File::create(&path).unwrap();
    if file.set_len(100_000_000_000).is_ok() {
        let ended = limited(&bench, 1_000_000, &["report", "out/small-seed1"]);
        assert!(ended.status == 2 && ended.err.contains("1000000000 at most are read"), "{}", ended.err);
    }
}

#[test]
fn the_reason_why_a_file_of_a_record_cannot_be_read_is_told() {
    let says = |file: &str, bytes: &[u8], expected: &str| {
        use sha2::{Digest, Sha256};
        let bench = one();
        let record = bench.path("out/small-seed1");
        fs::write(record.join(file), bytes).unwrap();
        let hash = hexadecimal(&Sha256::digest(bytes));
        forge(&record, |header| {
            let lines = header.lines().map(|line| match line.split_once(" = ") {
                Some((name, _)) if name == format!("\"{file}\"") => format!("{name} = \"{hash}\""),
                _ => line.to_owned(),
            });
            lines.collect::<Vec<_>>().join("\n") + "\n"
        });
        let ended = bench.run(&["report", "out/small-seed1"]);
        assert_eq!(ended.status, 2);
        assert!(ended.err.contains(expected), "{}", ended.err);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
    };
    says("links.parquet", b"random", "links.parquet: not a Parquet file that can be read: ");
    says("links.parquet", b"", "Parquet file too small");
    says("summary.json", b"{ \"title\": 1 }", "summary.json: not a summary: ");
    says("summary.json", b"{ \"title\": 1 }", "at line 1 column 12");
}

/// A text of a megabyte in a record or in `sweep.json` is shown as far as anybody can read it.
#[test]
fn long_texts_of_records_are_cut() {
    use sha2::{Digest, Sha256};
    let long = "y".repeat(1_000_000);
    let bench = one();
    bench.write("swept.toml", &format!("{SMALL}{SWEEP}")).well(&["sweep", "swept.toml"]);
    let record = bench.path("out/small-seed1");
    let summary = fs::read_to_string(record.join("summary.json")).unwrap();
    let forged = summary.replace("\"Two flows\"", &format!("\"{long}\""));
    assert!(forged.len() > summary.len() + long.len() - 20);
    fs::write(record.join("summary.json"), &forged).unwrap();
    let hash = hexadecimal(&Sha256::digest(&forged));
    forge(&record, |header| {
        let lines = header.lines().map(|line| match line.strip_prefix("\"summary.json\" = ") {
            Some(_) => format!("\"summary.json\" = \"{hash}\""),
            None => line.replace("changes = []", &format!("changes = [\"{long}\"]")),
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    });
    let sweep = fs::read_to_string(bench.path("out/swept/sweep.json")).unwrap();
    let sweep =
        sweep.replace("\"Two flows\"", &format!("\"{long}\"")).replacen("\"5 Mbit/s\"", &format!("\"{long}\""), 1);
    assert!(sweep.len() > 2 * long.len());
    fs::write(bench.path("out/swept/sweep.json"), sweep).unwrap();
    for arguments in [
        vec!["show", "out/small-seed1"],
        vec!["list"],
        vec!["list", "--plain"],
        vec!["report", "out/small-seed1"],
        vec!["report", "--csv", "out/small-seed1"],
        vec!["report", "out/swept"],
        vec!["report", "--csv", "out/swept"],
    ] {
        let begun = Instant::now();
        let ended = limited(&bench, 4_000_000, &arguments);
        assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.err);
        let printed = ended.out.len() + ended.err.len();
        assert!(printed < 50_000, "{arguments:?}: {printed} bytes");
        assert!(begun.elapsed() < Duration::from_secs(20), "{arguments:?}: {:?}", begun.elapsed());
    }
    for page in ["out/small-seed1/report.html", "out/swept/report.html", "out/show/report.html"] {
        let bytes = fs::metadata(bench.path(page)).unwrap().len();
        assert!(bytes < 2_000_000, "{page}: {bytes} bytes");
    }
}

#[test]
fn where_no_file_can_be_made_that_is_what_is_told() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    for out in ["/proc", "/proc/new", "/proc/new/below"] {
        let ended = bench.run(&["run", "small.toml", "--out", out]);
        assert_eq!(ended.status, 2);
        assert!(
            ended.err.contains("no files can be made in its file system; choose another directory"),
            "{}",
            ended.err
        );
    }
}

/// A scenario from standard input has no path: its text is its name.
#[test]
fn another_scenario_from_standard_input_replaces_nothing() {
    use std::io::Write;
    let bench = Bench::new();
    let piped = |text: &str, more: &[&str]| {
        let mut command = bench.command(&[&["sweep", "-"], more].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        Ended::of(&child.wait_with_output().unwrap())
    };
    let text = format!("{SMALL}{SWEEP}");
    assert_eq!(piped(&text, &[]).status, 0);
    let again = piped(&text, &[]);
    assert!(again.status == 0 && again.err.contains("6 of 6 cells are finished"), "{}", again.err);
    let sweep = fs::read(bench.path("out/stdin/sweep.json")).unwrap();
    // One shares no cell with the first, the other shares most.
    for other in [text.replace("count = 2\nfrom", "count = 3\nfrom"), text.replace("\"20 Mbit/s\"", "\"30 Mbit/s\"")] {
        let ended = piped(&other, &[]);
        assert_eq!(ended.status, 2, "{}", ended.err);
        assert!(
            ended.err.contains("out/stdin has the sweep of another scenario from standard input in the packets world")
                && ended.err.contains("choose another directory with --out DIR"),
            "{}",
            ended.err
        );
        assert_eq!(fs::read(bench.path("out/stdin/sweep.json")).unwrap(), sweep);
    }
    let elsewhere = piped(&text.replace("count = 2\nfrom", "count = 3\nfrom"), &["--out", "other"]);
    assert_eq!(elsewhere.status, 0, "{}", elsewhere.err);
    // A file of that name is another sweep.
    bench.write("stdin.toml", &text.replace("count = 2\nfrom", "count = 3\nfrom"));
    let ended = bench.run(&["sweep", "stdin.toml"]);
    assert!(ended.status == 2 && ended.err.contains("a scenario from standard input"), "{}", ended.err);
}

/// Each directory is of one file in one world; it may change, be moved and be copied, and nothing of another is replaced.
#[test]
fn a_sweep_of_the_same_name_from_elsewhere_replaces_nothing() {
    let bench = Bench::new();
    let text = format!("{SMALL}{SWEEP}");
    bench.write("a/x.toml", &text).write("b/x.toml", &text.replace("count = 2\nfrom", "count = 3\nfrom"));
    bench.well(&["sweep", "a/x.toml"]);
    let kept =
        ["sweep.json", "report.html", "source.json"].map(|name| fs::read(bench.path("out/x").join(name)).unwrap());
    let refused = bench.run(&["sweep", "b/x.toml"]);
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(
        refused.err.contains("out/x has the sweep of a/x.toml in the packets world, and that of b/x.toml"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("choose another directory with --out DIR"), "{}", refused.err);
    let fluid = bench.run(&["sweep", "a/x.toml", "--world", "fluid"]);
    assert!(fluid.status == 2 && fluid.err.contains("in the fluid world would replace"), "{}", fluid.err);
    assert!(
        kept == ["sweep.json", "report.html", "source.json"]
            .map(|name| fs::read(bench.path("out/x").join(name)).unwrap())
    );
    bench.well(&["sweep", "b/x.toml", "--out", "other"]);
    // Seen from another folder, with another axis, and with nothing in common: the same file.
    let mut elsewhere = bench.command(&["sweep", "x.toml", "--out", "../out"]);
    assert!(elsewhere.current_dir(bench.path("a")).output().unwrap().status.success());
    bench.write("a/x.toml", &text.replace("\"5 Mbit/s\", ", ""));
    assert!(bench.run(&["sweep", "a/x.toml"]).err.contains("4 of 4 cells are finished"));
    let other = bench.run(&["sweep", "a/x.toml", "--set", "duration=2 s"]);
    let words = "out/x: sweep.json, cells.parquet and report.html are those of the scenario as it stands in its file, and will be those of `--set duration=2 s`";
    assert!(other.status == 0 && other.err.contains(words), "{}", other.err);
    assert!(!bench.run(&["sweep", "a/x.toml", "--set", "duration=2 s"]).err.contains("will be those of"));
    bench.write("a/x.toml", &text);
    bench.well(&["sweep", "a/x.toml"]);
    // Copied as it is; moved, and changed then.
    bench.write("c/x.toml", &text);
    assert!(bench.run(&["sweep", "c/x.toml"]).err.contains("6 of 6 cells are finished"));
    fs::rename(bench.path("c"), bench.path("d")).unwrap();
    bench.write("d/x.toml", &text.replace("\"5 Mbit/s\"", "\"6 Mbit/s\""));
    assert!(bench.run(&["sweep", "d/x.toml"]).err.contains("4 of 6 cells are finished"));
    // A directory that is no sweep's at all.
    bench.write("out/y/notes.txt", "mine").write("y.toml", &text);
    let refused = bench.run(&["sweep", "y.toml"]);
    assert!(refused.status == 2 && refused.err.contains("out/y holds something else"), "{}", refused.err);
    assert_eq!(bench.names("out/y"), ["notes.txt"]);
}

/// With three gigabytes: a run beyond the memory is refused before it begins, and is no abort.
#[test]
fn what_there_is_no_memory_for_is_refused_with_what_limits_it() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let many = "flows.ftp.count=100";
    let window = "flows.ftp.sender={ pacing = \"off\", initial_window = 1000000 }";
    let ended = limited(&bench, 3_000_000, &["run", "small.toml", "--set", many, "--set", window]);
    assert_eq!(ended.status, 2, "{}", ended.err);
    assert!(ended.err.contains("flows.ftp: the initial windows of 100 flows take about "), "{}", ended.err);
    assert!(ended.err.contains(" GB are left by the limit of `ulimit -v`: write a smaller"), "{}", ended.err);
    assert!(!bench.path("out").exists());
    // As much as may be had by the estimate can be had.
    let most = "flows.ftp.count=1";
    let ended = limited(&bench, 3_000_000, &["run", "small.toml", "--set", most, "--set", window]);
    assert_eq!(ended.status, 0, "{}", ended.err);
}
