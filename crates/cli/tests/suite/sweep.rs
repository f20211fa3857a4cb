//! Sweeps that are stopped, killed, damaged, changed, shared out and run again.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::bench::{Bench, SMALL, SWEEP, names};
use penstock_record::read_header;
use serde_json::Value;

fn swept() -> Bench {
    let bench = Bench::new();
    bench.write("swept.toml", &format!("{SMALL}{SWEEP}"));
    bench
}

fn sweep_json(bench: &Bench, directory: &str) -> Vec<u8> {
    fs::read(bench.path(directory).join("sweep.json")).unwrap()
}

/// Directories of records, without what is hidden.
fn records(directory: &Path) -> Vec<String> {
    let mut names = names(directory);
    names.retain(|name| !name.starts_with('.') && directory.join(name).join("record.toml").is_file());
    names
}

fn until(what: &str, child: &mut Child, ready: &dyn Fn() -> bool) {
    for _ in 0..2400 {
        if ready() {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "{what}: it has ended");
        thread::sleep(Duration::from_millis(25));
    }
    let _ = child.kill();
    panic!("{what}: it never came");
}

/// A cell that is soon done, and one that takes a while.
fn quick_and_slow() -> Bench {
    let bench = Bench::new();
    let sweep = "\n[sweep]\nduration = [\"2 s\", \"20000 s\"]\n";
    bench.write(
        "long.toml",
        &format!("sample = \"1 min\"\n{SMALL}{sweep}").replace("warmup = \"1 s\"", "warmup = \"0 s\""),
    );
    bench
}

#[test]
fn a_sweep_that_was_killed_goes_on_where_it_stopped() {
    let bench = quick_and_slow();
    let mut child = bench.command(&["sweep", "long.toml", "--jobs", "2"]).stderr(Stdio::null()).spawn().unwrap();
    let home = bench.path("out/long");
    until("the first cell", &mut child, &|| !records(&home).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let done = records(&home);
    assert_eq!(done.len(), 1, "the slow cell is far from its end");
    assert!(!home.join("sweep.json").exists());
    let first = fs::read(home.join(&done[0]).join("record.toml")).unwrap();
    // What a run that was killed while it wrote leaves behind, and what is not ours.
    for name in [".slow-0123abcd.partial-99999999-3", ".mine.partial"] {
        fs::create_dir(home.join(name)).unwrap();
        fs::write(home.join(name).join("summary.json"), "{").unwrap();
    }
    fs::write(home.join(".sweep.json.partial-99999999-4"), "{").unwrap();

    // The slow one, made quicker, is another cell; the first is kept.
    let quicker = fs::read_to_string(bench.path("long.toml")).unwrap().replace("20000 s", "20 s");
    bench.write("long.toml", &quicker);
    let ended = bench.run(&["sweep", "long.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("1 of 2 cells are finished") && ended.err.contains("2/2"), "{}", ended.err);
    assert_eq!(fs::read(home.join(&done[0]).join("record.toml")).unwrap(), first, "it did not run again");
    assert_eq!(records(&home).len(), 2);
    let hidden: Vec<_> = names(&home).into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(hidden, [".mine.partial"]);
    bench.well(&["sweep", "long.toml", "--out", "fresh"]);
    assert!(sweep_json(&bench, "out/long") == sweep_json(&bench, "fresh/long"), "as if it had never stopped");
}

/// Killed at ever later moments until it is done: in the middle of whatever it does then.
#[test]
fn a_sweep_that_is_killed_again_and_again_is_whole_each_time() {
    let bench = Bench::new();
    let sweep =
        "\n[sweep]\n\"links.bottleneck.rate\" = [\"5 Mbit/s\", \"10 Mbit/s\", \"20 Mbit/s\"]\nseed = { count = 8 }\n";
    bench.write("swept.toml", &format!("{SMALL}{sweep}"));
    bench.well(&["sweep", "swept.toml", "--out", "whole"]);
    let home = bench.path("out/swept");
    let (mut kills, mut between) = (0, 0);
    loop {
        let mut child = bench
            .command(&["sweep", "swept.toml", "--jobs", "2"])
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(3 * kills));
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let done = records(&home);
        for name in &done {
            let place = home.join(name);
            let header =
                read_header(&fs::read(place.join("record.toml")).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
            header.intact(|file| File::open(place.join(file))).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        if let Ok(summary) = fs::read(home.join("sweep.json")) {
            assert!(summary == sweep_json(&bench, "whole/swept"), "there is the whole of it, or nothing");
        }
        if let Some(status) = ended {
            assert!(status.success());
            break;
        }
        kills += 1;
        between += usize::from((1..24).contains(&done.len()));
    }
    assert!(between >= 3, "of {kills} kills {between} came between the first cell and the last");
    assert!(sweep_json(&bench, "out/swept") == sweep_json(&bench, "whole/swept"));
    assert_eq!(names(&home), names(&bench.path("whole/swept")), "nothing twice, and nothing left over");
}

#[test]
fn a_directory_that_is_moved_while_cells_run_is_noticed() {
    let bench = Bench::new();
    let sweep = "\n[sweep]\nduration = [\"2 s\", \"200 s\", \"400 s\", \"600 s\"]\n";
    bench.write(
        "long.toml",
        &format!("sample = \"1 min\"\n{SMALL}{sweep}").replace("warmup = \"1 s\"", "warmup = \"0 s\""),
    );
    let mut child = bench.command(&["sweep", "long.toml", "--jobs", "1"]).stderr(Stdio::piped()).spawn().unwrap();
    until("its directory", &mut child, &|| bench.path("out/long/source.json").is_file());
    fs::rename(bench.path("out/long"), bench.path("out/moved")).unwrap();
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{err}");
    assert!(err.contains("out/long was moved or removed while cells were written to it"), "{err}");
    assert!(!bench.path("out/long").exists(), "nothing is begun anew");
}

/// `nohup` and shells ignore a signal before they start what shall go on, and ask nothing else of it.
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let bench = quick_and_slow();
    let penstock = env!("CARGO_BIN_EXE_penstock");
    let script = format!("trap '' HUP INT; exec {penstock} sweep long.toml --jobs 2");
    let mut child =
        Command::new("sh").args(["-c", &script]).current_dir(bench.path(".")).stderr(Stdio::piped()).spawn().unwrap();
    until("the first cell", &mut child, &|| !records(&bench.path("out/long")).is_empty());
    let id = child.id().to_string();
    let send = |signal: &str| {
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    };
    for signal in ["-HUP", "-INT", "-HUP", "-INT"] {
        send(signal);
        thread::sleep(Duration::from_millis(100));
    }
    assert!(child.try_wait().unwrap().is_none(), "it has ended");
    // Those that were not ignored still end it, and it says so.
    send("-TERM");
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "by the first that was not ignored: {err}");
    assert!(
        err.contains("stopped; results that are complete are kept"),
        "the second would end it without a word: {err}"
    );
}

#[test]
fn the_summary_is_the_same_whatever_the_threads_and_whether_resumed() {
    let bench = swept();
    bench.well(&["sweep", "swept.toml", "--jobs", "1", "--out", "one"]);
    bench.well(&["sweep", "swept.toml", "--jobs", "2", "--out", "two"]);
    let one = sweep_json(&bench, "one/swept");
    assert!(one == sweep_json(&bench, "two/swept"));
    // Half of it again.
    for name in records(&bench.path("two/swept")).iter().step_by(2) {
        fs::remove_dir_all(bench.path("two/swept").join(name)).unwrap();
    }
    fs::remove_file(bench.path("two/swept/sweep.json")).unwrap();
    bench.well(&["sweep", "swept.toml", "--out", "two"]);
    assert!(one == sweep_json(&bench, "two/swept"));
    // What a cell cost is in its own `cost.json` only.
    let sweep: Value = serde_json::from_slice(&one).unwrap();
    let engine = sweep["cells"][0]["summary"]["engine"].as_object().unwrap();
    assert_eq!(engine.keys().collect::<Vec<_>>(), ["events", "packets"]);
    assert_eq!((&sweep["world"], &sweep["version"]), (&"packets".into(), &env!("CARGO_PKG_VERSION").into()));
}

#[test]
fn a_damaged_record_is_set_aside_and_its_cell_runs_again() {
    let bench = swept();
    bench.well(&["sweep", "swept.toml"]);
    let home = bench.path("out/swept");
    let (before, cells) = (sweep_json(&bench, "out/swept"), records(&home));
    for (cell, file) in cells.iter().zip(["summary.json", "links.parquet", "record.toml", "flows.parquet"]) {
        let path = home.join(cell).join(file);
        let bytes = fs::read(&path).unwrap();
        match file {
            "flows.parquet" => fs::remove_file(&path).unwrap(),
            // The same length, one digit another.
            "summary.json" => {
                let text = String::from_utf8(bytes).unwrap();
                fs::write(&path, text.replacen("\"count\": 2", "\"count\": 3", 1)).unwrap();
            }
            _ => fs::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
        }
    }
    let ended = bench.run(&["sweep", "swept.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("2 of 6 cells are finished"), "{}", ended.err);
    assert_eq!(ended.err.matches("its cell runs again").count(), 4, "{}", ended.err);
    assert!(ended.err.contains("links.parquet is damaged: it has changed since it was written"), "{}", ended.err);
    assert!(before == sweep_json(&bench, "out/swept"));
    assert_eq!(names(&home).iter().filter(|name| name.ends_with(".damaged")).count(), 4);
    for cell in cells {
        assert!(home.join(cell).join("flows.parquet").is_file());
    }
    bench.well(&["report", "out/swept"]);
    // One cell is damaged again: its second record that is set aside is none of the sweep's either.
    let again = home.join(&records(&home)[0]).join("record.toml");
    fs::write(&again, &fs::read(&again).unwrap()[..100]).unwrap();
    bench.well(&["sweep", "swept.toml"]);
    assert!(names(&home).iter().any(|name| name.ends_with(".damaged-2")), "{:?}", names(&home));
    bench.well(&["show", "out/swept"]);
    let listed = bench.run(&["list", "out/swept", "--json"]);
    let list: Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!((list["records"].as_array().unwrap().len(), &listed.err[..]), (6, ""));
}

/// A name has eight digits of an identity, the record has all of it: one that bears the name of another cell is none of
/// that cell's.
#[test]
fn a_record_under_the_name_of_another_cell_is_not_taken_for_it() {
    let bench = swept();
    bench.well(&["sweep", "swept.toml"]);
    let home = bench.path("out/swept");
    let cells = records(&home);
    fs::remove_dir_all(home.join(&cells[1])).unwrap();
    fs::rename(home.join(&cells[0]), home.join(&cells[1])).unwrap();
    let ended = bench.run(&["sweep", "swept.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("4 of 6 cells are finished"), "{}", ended.err);
    assert_eq!(records(&home).len(), 7, "both ran again, and what was there stays");
}

#[test]
fn a_changed_sweep_keeps_what_it_still_has_and_lists_nothing_else() {
    let bench = swept();
    bench.well(&["sweep", "swept.toml"]);
    let home = bench.path("out/swept");
    let old = records(&home);
    let changed = SWEEP.replace("\"5 Mbit/s\", \"10 Mbit/s\"", "\"10 Mbit/s\", \"40 Mbit/s\"");
    bench.write("swept.toml", &format!("{SMALL}{changed}"));
    let ended = bench.run(&["sweep", "swept.toml"]);
    assert!(ended.err.contains("4 of 6 cells are finished"), "{}", ended.err);
    let new = records(&home);
    assert_eq!(new.len(), 8);
    assert!(old.iter().all(|name| new.contains(name)), "nothing is taken away");
    let sweep: Value = serde_json::from_slice(&sweep_json(&bench, "out/swept")).unwrap();
    let rates: Vec<_> =
        sweep["cells"].as_array().unwrap().iter().map(|c| c["labels"]["links.bottleneck.rate"].clone()).collect();
    assert_eq!(rates, ["10 Mbit/s", "10 Mbit/s", "40 Mbit/s", "40 Mbit/s", "20 Mbit/s", "20 Mbit/s"]);
    assert!(fs::read_to_string(home.join("report.html")).unwrap().contains("40"));
}

#[test]
fn two_at_once_in_one_directory_are_refused_until_the_first_is_gone() {
    let bench = quick_and_slow();
    let mut child = bench.command(&["sweep", "long.toml"]).stderr(Stdio::null()).spawn().unwrap();
    until("its directory", &mut child, &|| bench.path("out/long").is_dir());
    let lock = || File::open(bench.path("out/long")).unwrap().try_lock().is_err();
    until("its lock", &mut child, &lock);
    let ended = bench.run(&["sweep", "long.toml"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("another run writes to out/long"), "{}", ended.err);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!lock(), "the lock ends with the process");
}

#[test]
fn shards_make_one_sweep() {
    let bench = swept();
    bench.well(&["sweep", "swept.toml", "--out", "whole"]);
    for (shard, cells) in [("2/4", 2), ("4/4", 3), ("1/4", 5)] {
        let out = bench.well(&["sweep", "swept.toml", "--shard", shard]);
        assert!(out.contains(&format!("{cells} of 6 cells are finished")), "{out}");
        assert_eq!(records(&bench.path("out/swept")).len(), cells);
        assert!(!bench.path("out/swept/sweep.json").exists());
    }
    let some = bench.json(&["sweep", "swept.toml", "--shard", "1/4", "--json"]);
    let some = &some["runs"][0];
    assert_eq!((&some["finished"], &some["cells"], &some["kind"]), (&5.into(), &6.into(), &"sweep".into()));
    assert!(some["record"] == "out/swept" && some.get("report").is_none() && some.get("sweep").is_none(), "{some}");
    // The last writes the summary; and so does a run of all, which finds them.
    bench.well(&["sweep", "swept.toml", "--shard", "3/4"]);
    assert!(sweep_json(&bench, "out/swept") == sweep_json(&bench, "whole/swept"));
    fs::remove_file(bench.path("out/swept/sweep.json")).unwrap();
    let ended = bench.run(&["sweep", "swept.toml"]);
    assert!(ended.err.contains("6 of 6 cells are finished"), "{}", ended.err);
    assert!(sweep_json(&bench, "out/swept") == sweep_json(&bench, "whole/swept"));
}

#[test]
fn cells_that_say_the_same_run_once() {
    let bench = Bench::new();
    let sweep = "\n[sweep]\n\"links.bottleneck.rate\" = [\"10 Mbit/s\", \"10000 kbit/s\"]\n";
    bench.write("twice.toml", &format!("{SMALL}{sweep}"));
    let json = bench.result(&["sweep", "twice.toml", "--json"]);
    assert_eq!(records(&bench.path("out/twice")).len(), 1);
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    assert_eq!((&cells[0]["id"], &cells[0]["summary"]), (&cells[1]["id"], &cells[1]["summary"]));
    assert!(cells[0]["labels"] != cells[1]["labels"]);
}

#[test]
fn two_sweeps_of_one_name_do_not_share_a_directory() {
    let bench = swept();
    bench.write("other/swept.toml", &format!("{SMALL}{SWEEP}"));
    let ended = bench.run(&["sweep", "swept.toml", "other/swept.toml"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("two sweeps are called `swept`"), "{}", ended.err);
    assert!(!bench.path("out").exists());
}

/// Each case has the seeds of the others, and draws what they draw: the starts of its flows.
#[test]
fn cases_are_paired_by_seed() {
    let bench = Bench::new();
    let cases = r#"
[sweep]
seed = { count = 3 }
[[sweep.case]]
name = "short"
"links.bottleneck.buffer" = "20 packets"
[[sweep.case]]
name = "long"
"links.bottleneck.buffer" = "50 packets"
"#;
    bench.write("cases.toml", &format!("{SMALL}{cases}"));
    let json = bench.result(&["sweep", "cases.toml", "--json"]);
    let cells = json["cells"].as_array().unwrap();
    let seeds = |case: &str| {
        let of = cells.iter().filter(|cell| cell["labels"]["case"] == case);
        of.map(|cell| cell["summary"]["seed"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((seeds("short"), seeds("long")), (vec![1, 2, 3], vec![1, 2, 3]));
    let difference = &json["differences"][0];
    assert_eq!((&difference["minuend"], &difference["subtrahend"]), (&"long".into(), &"short".into()));
    let queue = |cell: &Value| cell["summary"]["links"]["bottleneck"]["queue_max_packets"].as_f64().unwrap();
    let mean = (0..3).map(|at| queue(&cells[at + 3]) - queue(&cells[at])).sum::<f64>() / 3.0;
    let told = &difference["measures"]["links"]["bottleneck"]["queue_max_packets"];
    assert!((told["mean"].as_f64().unwrap() - mean).abs() < 1e-9 && mean > 10.0, "{told}");
    assert_eq!(told["n"], 3);
}

#[test]
fn a_pipe_hears_of_every_cell_and_a_terminal_has_a_bar() {
    let bench = swept();
    let ended = bench.run(&["sweep", "swept.toml", "--jobs", "1", "--json"]);
    for cell in 1..=6 {
        assert!(ended.err.contains(&format!("{cell}/6  links.bottleneck.rate = ")), "{}", ended.err);
    }
    assert!(ended.err.contains(" left)"), "{}", ended.err);
    serde_json::from_str::<Value>(&ended.out).expect("nothing but JSON on standard output");
    // A terminal, made by script of util-linux where it is installed.
    let penstock = env!("CARGO_BIN_EXE_penstock");
    let command = format!("{penstock} sweep swept.toml --jobs 1 --out shown --set 'duration=20 s'");
    let mut script = Command::new("script");
    script
        .args(["-qec", &command, "/dev/null"])
        .current_dir(bench.path("."))
        .env("TERM", "xterm")
        .env("COLUMNS", "120");
    match script.stdin(Stdio::null()).output() {
        Err(e) => println!("the bar was not looked at: script: {e}"),
        Ok(shown) => {
            let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
            assert!(shown.contains('\u{2588}') && shown.contains("/6") && shown.contains("running"), "{shown}");
        }
    }
}
