//! The command's output: widths, colours, plain text, silence, standard input, completions, examples.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::bench::{Bench, Ended, SMALL, SWEEP, names};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Where the scenarios and papers are.
fn repository() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../..").to_owned()
}

fn small() -> Bench {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench
}

/// Runs with something on standard input.
fn fed(mut command: Command, input: &[u8]) -> Ended {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not want all of it closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The output of a command to a terminal of so many columns.
fn on_a_terminal(mut command: Command, columns: u16) -> String {
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(Some(&size), None).unwrap();
    let mut child = command.stdout(Stdio::from(pty.slave)).stderr(Stdio::null()).stdin(Stdio::null()).spawn().unwrap();
    // Its own end of the terminal is closed here, so that reading ends with the child.
    drop(command);
    let mut seen = Vec::new();
    let mut terminal = File::from(pty.master);
    let mut part = [0; 4096];
    // The last end closed is an error of the terminal, and the end of what it says.
    while let Ok(n @ 1..) = terminal.read(&mut part) {
        seen.extend_from_slice(&part[..n]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(seen).unwrap().replace("\r\n", "\n")
}

/// The widest line, without escape sequences.
fn widest(text: &str) -> usize {
    let visible = |line: &str| console::measure_text_width(line);
    text.lines().map(visible).max().unwrap_or(0)
}

#[test]
fn plain_output_is_ascii_with_tabs() {
    let bench = small();
    let pretty = bench.well(&["run", "small.toml"]);
    assert!(pretty.contains('\u{2500}'), "{pretty}");
    let plain = bench.well(&["run", "small.toml", "--plain"]);
    assert!(plain.is_ascii(), "{plain}");
    let rows: Vec<&str> = plain.lines().filter(|line| line.contains('\t')).collect();
    assert!(rows.len() >= 4, "{plain}");
    assert!(rows.contains(&"Link\tbottleneck"), "{plain}");
    assert!(!plain.lines().any(|line| line.contains("  ") && line.contains('\t')), "{plain}");
    let papers = format!("{}/papers", repository());
    let listed = bench.well(&["paper", "--list", "--plain", "--papers", &papers]);
    assert!(listed.lines().filter(|line| line.split('\t').count() == 5).count() > 50, "{listed}");
    // Minus signs, quotation marks and degrees.
    let file = format!("{}/scenarios/two-bottlenecks.toml", repository());
    let pretty = bench.well(&["analyze", &file]);
    for sign in ['\u{2500}', '\u{201c}', '\u{2212}', '\u{b0}'] {
        assert!(pretty.contains(sign), "{sign}: {pretty}");
    }
    for plain in [listed, bench.well(&["analyze", &file, "--plain"])] {
        assert!(plain.is_ascii(), "{plain}");
    }
}

#[test]
fn tables_fit_the_columns_there_are() {
    let bench = small();
    let papers = format!("{}/papers", repository());
    let list: &[&str] = &["paper", "--list", "--papers", &papers];
    for arguments in [&["laws"][..], &["laws", "fast"], &["examples"], list] {
        assert!(widest(&bench.well(arguments)) > 100, "{arguments:?}: nothing is wrapped in a pipe");
        for columns in ["60", "80", "132"] {
            let ended = bench.command(arguments).env("COLUMNS", columns).output().unwrap();
            let text = String::from_utf8(ended.stdout).unwrap();
            assert!(widest(&text) <= columns.parse().unwrap(), "{arguments:?} {columns}: {}\n{text}", widest(&text));
        }
        assert!(widest(&on_a_terminal(bench.command(arguments), 70)) <= 70, "{arguments:?}");
    }
    let text = on_a_terminal(bench.command(&["run", "small.toml", "--out", "o"]), 60);
    assert!(widest(&text) <= 60, "{}\n{text}", widest(&text));
    assert!(text.contains("bottleneck"), "{text}");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let bench = Bench::new();
    let file = format!("{}/scenarios/two-bottlenecks.toml", repository());
    let analyze = |more: &[&str]| bench.command(&[&["analyze", &file], more].concat());
    let piped = |mut command: Command| String::from_utf8(command.output().unwrap().stdout).unwrap();
    let coloured = |text: &str| text.contains('\u{1b}');
    assert!(!coloured(&piped(analyze(&[]))));
    assert!(coloured(&piped(analyze(&["--color", "always"]))));
    assert!(coloured(&on_a_terminal(analyze(&[]), 100)), "a verdict is green");
    assert!(!coloured(&on_a_terminal(analyze(&["--color", "never"]), 100)));
    assert!(!coloured(&on_a_terminal(analyze(&["--plain"]), 100)));
    let mut without = analyze(&[]);
    without.env("NO_COLOR", "1");
    assert!(!coloured(&on_a_terminal(without, 100)));
    let mut asked = analyze(&["--color=always"]);
    asked.env("NO_COLOR", "1");
    assert!(coloured(&piped(asked)), "an option says more than a variable");
}

#[test]
fn quiet_says_errors_only_and_verbose_what_is_read_and_written() {
    let bench = small();
    bench.write("swept.toml", &format!("{SMALL}{SWEEP}"));
    let ended = bench.run(&["run", "small.toml", "swept.toml", "-q"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let ended = bench.run(&["run", "nothing.toml", "--quiet"]);
    assert!(ended.status == 2 && ended.err.contains("nothing.toml"), "{}", ended.err);
    let ended = bench.run(&["-v", "run", "small.toml"]);
    for said in ["read small.toml: ", "wrote out/small-seed1-2", "took "] {
        assert!(ended.err.contains(said), "{said}: {}", ended.err);
    }
    assert_eq!(bench.run(&["run", "small.toml", "-q", "-v"]).status, 2);
}

#[test]
fn a_scenario_comes_from_standard_input() {
    let bench = Bench::new();
    for (at, name) in ["-", "/dev/stdin"].into_iter().enumerate() {
        let ended = fed(bench.command(&["run", name]), SMALL.as_bytes());
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert_eq!(names(&bench.path("out")).len(), at + 1);
    }
    assert_eq!(names(&bench.path("out")), ["stdin-seed1", "stdin-seed1-2"]);
    let swept = format!("{SMALL}{SWEEP}");
    for arguments in [&["check", "-"][..], &["analyze", "-", "--set", "links.bottleneck.aqm={ law = \"red\" }"]] {
        let ended = fed(bench.command(arguments), SMALL.as_bytes());
        assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.err);
    }
    let ended = fed(bench.command(&["sweep", "-"]), swept.as_bytes());
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(bench.path("out/stdin/sweep.json").exists());
    // A trace lies beside the command, not in /dev.
    bench.write("rate.trace", "1\n2\n3\n4\n");
    let traced = SMALL.replace("rate = \"10 Mbit/s\"", "rate = { trace = \"rate.trace\" }");
    let ended = fed(bench.command(&["check", "/dev/stdin"]), traced.as_bytes());
    assert_eq!(ended.status, 0, "{}", ended.err);

    let ended = fed(bench.command(&["check", "-"]), SMALL.replace("rate =", "rte =").as_bytes());
    assert!(ended.status == 2 && ended.err.contains("stdin:"), "{}", ended.err);
    let ended = fed(bench.command(&["check", "-"]), b"\xff\xfe");
    assert!(ended.status == 2 && ended.err.contains("not UTF-8"), "{}", ended.err);
    let ended = fed(bench.command(&["run", "-"]), &vec![b'#'; 64_000_001]);
    assert!(ended.status == 2 && ended.err.contains("more than 64000000 bytes"), "{}", ended.err);
    assert_eq!(names(&bench.path("out")).len(), 3, "nothing is left of what was refused");
}

#[test]
fn a_stopped_sweep_says_how_many_cells_are_kept() {
    let bench = Bench::new();
    let sweep = "\n[sweep]\nduration = [\"2 s\", \"20000 s\"]\n";
    let text = format!("sample = \"1 min\"\n{SMALL}{sweep}").replace("warmup = \"1 s\"", "warmup = \"0 s\"");
    bench.write("long.toml", &text);
    let mut command = bench.interruptible(&["sweep", "long.toml", "--jobs", "2", "--quiet"]);
    let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let home = bench.path("out/long");
    let finished = || names(&home).iter().any(|name| home.join(name).join("record.toml").is_file());
    for _ in 0..2400 {
        if finished() {
            break;
        }
        thread::sleep(Duration::from_millis(25));
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("1 of 2 cells are kept in out/long; run the same command again to continue"), "{said}");
}

#[test]
fn shells_complete_it_and_man_shows_it() {
    let bench = Bench::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = bench.well(&["completions", shell]);
        for word in ["penstock", "stability-map", "examples", "prometheus"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(bench.run(&["completions", "tcsh"]).status, 2);
    assert!(bench.well(&["man"]).contains(".TH penstock 1"));
    bench.well(&["man", "share/man1"]);
    let pages = bench.names("share/man1");
    for page in ["penstock.1", "penstock-run.1", "penstock-linux-attach.1", "penstock-tune-pi.1"] {
        assert!(pages.iter().any(|p| p == page), "{page}: {pages:?}");
    }
    bench.write("file", "");
    let ended = bench.run(&["man", "file"]);
    assert!(ended.status == 2 && ended.err.contains("cannot write manual pages to file"), "{}", ended.err);
}

#[test]
fn examples_are_listed_and_printed_from_anywhere() {
    let bench = Bench::new();
    let listed = bench.well(&["examples", "--plain"]);
    let folder = std::path::PathBuf::from(repository()).join("scenarios");
    let today = names(&folder.join("today"));
    assert!(today.len() > 10, "{today:?}");
    let files: Vec<String> =
        names(&folder).into_iter().chain(today.iter().map(|file| format!("today/{file}"))).collect();
    let files: Vec<&str> = files.iter().filter_map(|file| file.strip_suffix(".toml")).collect();
    let listed: Vec<&str> = listed.lines().filter_map(|line| line.split_once('\t')).map(|(name, _)| name).collect();
    // A table for those of each folder, with a line of heads.
    let all = [&["example"], &files[..files.len() - today.len()], &["example"], &files[files.len() - today.len()..]];
    assert_eq!(listed, all.concat());
    let text = bench.well(&["examples", "bufferbloat"]);
    let file = fs::read_to_string(format!("{}/scenarios/bufferbloat.toml", repository())).unwrap();
    assert_eq!(text, file);
    assert_eq!(fed(bench.command(&["check", "-"]), text.as_bytes()).status, 0);
    let ended = bench.run(&["examples", "buferbloat"]);
    assert!(ended.status == 2 && ended.err.contains("bufferbloat"), "{}", ended.err);
    let ended = bench.run(&["run", "bufferbloat"]);
    assert!(
        ended.status == 2 && ended.err.contains("penstock examples bufferbloat > bufferbloat.toml"),
        "{}",
        ended.err
    );
    assert_eq!(bench.json(&["examples", "--json"]).as_array().unwrap().len(), files.len());
    let copa = bench.well(&["examples", "today/copa"]);
    assert_eq!(copa, fs::read_to_string(folder.join("today/copa.toml")).unwrap());
    assert_eq!(copa, bench.well(&["examples", "copa.toml"]));
    let ended = bench.run(&["run", "copa"]);
    assert!(ended.status == 2 && ended.err.contains("penstock examples today/copa > copa.toml"), "{}", ended.err);
}

/// Every file of the folders that the command brings along, as it is in the repository, and none where something is already.
#[test]
fn files_of_the_repository_are_copied_into_a_new_directory() {
    let bench = Bench::new();
    let told = bench.well(&["init", "lab/new"]);
    let files = |folder: &std::path::Path| {
        let tree = std::process::Command::new("find")
            .arg(".")
            .args(["-type", "f", "!", "-name", ".*"])
            .current_dir(folder)
            .output();
        let mut names: Vec<String> =
            String::from_utf8(tree.unwrap().stdout).unwrap().lines().map(str::to_owned).collect();
        names.sort();
        names
    };
    let mut count = 0;
    for folder in ["evaluation", "papers", "scenarios", "search"] {
        let (ours, copy) = (std::path::PathBuf::from(repository()).join(folder), bench.path("lab/new").join(folder));
        assert_eq!(files(&ours), files(&copy), "{folder}");
        for file in files(&copy) {
            assert_eq!(fs::read(ours.join(&file)).unwrap(), fs::read(copy.join(&file)).unwrap(), "{folder}/{file}");
            count += 1;
        }
    }
    assert!(told.starts_with(&format!("wrote {count} files")), "{told}");
    assert!(bench.well(&["paper", "fast-tcp", "--list", "--papers", "lab/new/papers"]).contains("fig1"));
    assert_eq!(bench.names("lab"), ["new"], "no draft is left");
    fs::create_dir(bench.path("empty")).unwrap();
    bench.well(&["init", "empty"]);
    bench.write("file", "");
    for (folder, why) in
        [("lab/new", "is not empty"), (".", "is not empty"), ("file", "cannot write"), ("file/x", "cannot write")]
    {
        let ended = bench.run(&["init", folder]);
        assert!(ended.status == 2 && ended.err.contains(why), "{folder}: {} {}", ended.status, ended.err);
    }
}

/// The sampled loop is stable, and the two that leave sampling out are not.
#[test]
fn an_analysis_has_one_verdict_and_says_what_the_others_are() {
    let bench = Bench::new();
    let file = format!("{}/scenarios/two-bottlenecks.toml", repository());
    let text = bench.well(&["analyze", &file, "--out", "out"]);
    let page = fs::read_to_string(bench.path("out/two-bottlenecks-analysis/report.html")).unwrap();
    for text in [&text, &page] {
        assert!(text.contains("The equilibrium is locally stable"), "{text}");
        assert!(text.contains("Simpler models of the loop (ideal measurement, with filters) are unstable"), "{text}");
        assert!(text.contains("gives the verdict"), "{text}");
    }
    let cells = |line| -> Vec<&str> { str::split(line, "  ").map(str::trim).filter(|c| !c.is_empty()).collect() };
    let rows: Vec<Vec<&str>> = text.lines().map(cells).filter(|row| row.len() > 3).collect();
    let of = |model: &str| rows.iter().find(|row| row[0] == model).unwrap_or_else(|| panic!("{model}\n{text}")).clone();
    assert_eq!(of("ideal measurement")[1..3], ["comparison", "no"]);
    assert_eq!(of("with filters")[1..3], ["comparison", "no"]);
    assert_eq!(of("sampled data")[1..3], ["verdict", "yes"]);
    let json = bench.json(&["analyze", &file, "--json"]);
    assert_eq!((&json["verdict"], &json["decided_by"]), (&"stable".into(), &"sampled".into()));
    assert_eq!(json["legend"].as_array().unwrap().len(), 3);
    for (legend, model) in json["legend"].as_array().unwrap().iter().zip(json["models"].as_array().unwrap()) {
        assert_eq!(legend["model"], model["model"]);
        assert!(text.contains(legend["name"].as_str().unwrap()) && text.contains(legend["counts"].as_str().unwrap()));
    }
    // Where all agree nothing is said of it.
    let file = format!("{}/scenarios/fast-aqm-fig8.toml", repository());
    let agreed = bench.well(&["analyze", &file, "--at", "20 s"]);
    assert!(!agreed.contains("Simpler models"), "{agreed}");
}

#[test]
fn what_tune_prints_has_the_digits_that_matter() {
    let bench = small();
    for rule in [
        &["tune", "pi", "--capacity", "15 Mbit/s", "--flows", "60", "--rtt", "246 ms"][..],
        &["tune", "leadlag", "--taubar", "1 s"],
        &["tune", "early-marking", "--rate", "10 Mbit/s", "--flows", "10", "--rtt", "50 ms"],
        &["tune", "clcc", "--share", "0.3"],
    ] {
        let out = bench.well(rule);
        let law = out.lines().next().unwrap();
        let digits =
            |word: &&str| word.trim_start_matches(['0', '.', '-']).chars().filter(char::is_ascii_digit).count();
        assert!(law.split([' ', ',']).all(|word| digits(&word) <= 6), "{law}");
        if rule[1] == "pi" {
            let set = format!("links.bottleneck.aqm={law}");
            assert_eq!(bench.run(&["check", "small.toml", "--set", &set]).status, 0, "{set}");
        }
    }
}
