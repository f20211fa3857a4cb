//! Refusals: their status, their words, and no trace left. Bad input is 2; a feature that a world lacks is 3.

use std::fs;
use std::process::Command;

use crate::bench::{Bench, SMALL, names};

/// A text of [`SMALL`], what stands in its place, and what the one message says.
#[rustfmt::skip] // one a line
const MALFORMED: &[(&str, &str, &str)] = &[
    ("format = 1", "", "bad.toml:1: format: missing"),
    ("format = 1", "format = 2", "bad.toml:2: format: `2` is not a format"),
    ("format = 1", "format = = 1", "bad.toml:2: not TOML"),
    ("duration = \"3 s\"", "duration = 3", "bad.toml:4: duration: `3` is not a duration"),
    ("duration = \"3 s\"", "duration = \"3\"", "bad.toml:4: duration: `3` is not a duration"),
    ("duration = \"3 s\"", "duration = \"3 parsec\"", "bad.toml:4: duration: `3 parsec` is not a duration"),
    ("duration = \"3 s\"", "duration = \"-3 s\"", "bad.toml:4: duration: `-3 s` is negative"),
    ("duration = \"3 s\"", "duration = \"nan s\"", "bad.toml:4: duration: `nan s` is not a duration"),
    ("duration = \"3 s\"", "duration = nan", "bad.toml:4: duration: `NaN` is not a duration"),
    ("duration = \"3 s\"", "duration = \"1e300 s\"", "bad.toml:4: duration: `1e300 s` is too large"),
    ("warmup = \"1 s\"", "warmup = \"3 s\"", "bad.toml:5: warmup: a warm-up of 3 s leaves nothing to measure"),
    ("packet = \"1000 B\"", "packet = \"1 B\"", "bad.toml:6: packet: a packet of `1 B` has no space"),
    ("packet = \"1000 B\"", "packet = \"1 GB\"", "bad.toml:6: packet: a packet of 1 GB"),
    ("title =", "titel =", "bad.toml:3: titel: the key `titel` is unknown here: did you mean `title`"),
    ("[links.bottleneck]", "[links]", "bad.toml:8: links.from"),
    ("[links.bottleneck]", "[links.bottleneck", "bad.toml:7: not TOML"),
    ("[links.bottleneck]", "[links.\"../../up\"]", "bad.toml:7: links.\"../../up\": `../../up` is not a name"),
    ("to = \"right\"\nrate", "to = \"left\"\nrate", "bad.toml:9: links.bottleneck.to: `left` is also where the link begins"),
    ("rate = \"10 Mbit/s\"", "rate = \"0 Mbit/s\"", "bad.toml:10: links.bottleneck.rate: a link at `0 Mbit/s` carries nothing"),
    ("rate = \"10 Mbit/s\"", "rate = \"10 MB/s\"", "bad.toml:10: links.bottleneck.rate: `10 MB/s` is not a rate"),
    ("rate = \"10 Mbit/s\"", "rate = \"inf bit/s\"", "bad.toml:10: links.bottleneck.rate: `inf bit/s` is not a rate"),
    ("rate = \"10 Mbit/s\"", "", "bad.toml:7: links.bottleneck.rate: missing"),
    ("rate = \"10 Mbit/s\"", "rate = { trace = \"none.trace\" }", "bad.toml:10: links.bottleneck.rate.trace: the trace `none.trace` cannot be read"),
    ("rate = \"10 Mbit/s\"", "rate = { trace = \"/dev/zero\" }", "bad.toml:10: links.bottleneck.rate.trace: the trace `/dev/zero` cannot be read: it is not a file"),
    ("rate = \"10 Mbit/s\"", "rate = { trace = \".\" }", "bad.toml:10: links.bottleneck.rate.trace: the trace `.` cannot be read: it is a directory"),
    ("delay = \"10 ms\"", "delay = \"-10 ms\"", "bad.toml:11: links.bottleneck.delay: `-10 ms` is negative"),
    ("\"50 packets\"", "\"999 B\"", "bad.toml:12: links.bottleneck.buffer: a buffer of `999 B` cannot hold a packet"),
    ("\"50 packets\"", "\"0 packets\"", "bad.toml:12: links.bottleneck.buffer: a buffer of `0 packets` cannot hold a packet"),
    ("\"50 packets\"", "50", "bad.toml:12: links.bottleneck.buffer: `50` is not a buffer"),
    ("[flows.ftp]", "aqm = { law = \"rad\" }\n[flows.ftp]", "bad.toml:13: links.bottleneck.aqm.law: no AQM is named `rad`: did you mean `red`"),
    ("[flows.ftp]", "aqm = { law = \"red\", max_p = 2 }\n[flows.ftp]", "bad.toml:13: links.bottleneck.aqm.max_p: `2` is outside the range"),
    ("[flows.ftp]", "loss = 1\n[flows.ftp]", "bad.toml:13: links.bottleneck.loss: `1` is not a probability of loss"),
    ("count = 2", "count = 0", "bad.toml:14: flows.ftp.count: `0` is out of range"),
    ("count = 2", "count = 2\ncount = 3", "bad.toml:15: not TOML: the key `count` appears twice, first on line 14"),
    ("count = 2", "count = 10000000\nsender = { initial_window = 1e6 }", "bad.toml:13: flows.ftp: "),
    ("rtt = \"40 ms\"", "rtt = \"1 ms\"", "bad.toml:17: flows.ftp.rtt: `1 ms` is less than the 10 ms"),
    ("rtt = \"40 ms\"", "rtt = []", "bad.toml:17: flows.ftp.rtt: a list without round-trip times"),
    ("from = \"left\"\nto = \"right\"\nrtt", "from = \"right\"\nto = \"left\"\nrtt", "bad.toml:16: flows.ftp.to: no route leads from `right` to `left`"),
    ("cc = { law = \"newreno\" }", "cc = { law = \"oldreno\" }", "bad.toml:18: flows.ftp.cc.law: no controller is named `oldreno`: known: `newreno`"),
    ("cc = { law = \"newreno\" }", "cc = { law = \"newreno\", gain = 3 }", "bad.toml:18: flows.ftp.cc.gain: `newreno` has no parameter `gain`"),
    ("cc = { law = \"newreno\" }", "cc = { law = \"newreno\" ", "bad.toml:18: not TOML"),
    ("cc = { law = \"newreno\" }", "", "bad.toml:13: flows.ftp.cc: missing"),
    ("cc = { law = \"newreno\" }", "cc = { law = \"newreno\" }\n[sweep]\nseed = []", "bad.toml:20: sweep.seed: a list without seeds"),
    ("cc = { law = \"newreno\" }", "cc = { law = \"newreno\" }\n[sweep]\n\"flows.ftp.count\" = []", "bad.toml:20: sweep.\"flows.ftp.count\": a list without values"),
];

/// The messages without columns, and without excerpts.
fn headlines(err: &str) -> Vec<String> {
    let headline = |line: &&str| line.starts_with("penstock: ");
    let without_column = |line: &str| {
        let parts: Vec<&str> = line.splitn(5, ':').collect();
        match parts.as_slice() {
            [who, file, line, column, rest] if column.parse::<u32>().is_ok() => format!("{who}:{file}:{line}:{rest}"),
            _ => line.to_owned(),
        }
    };
    err.lines().filter(headline).map(without_column).collect()
}

/// Each ends with status 2 and a line that says file, line, key, what was found and what would do, and leaves nothing.
#[test]
fn malformed_scenarios_are_one_message_with_file_and_line_and_leave_nothing() {
    assert!(MALFORMED.len() >= 40);
    let bench = Bench::new();
    let mut wrong = Vec::new();
    for (old, new, says) in MALFORMED {
        assert_eq!(SMALL.matches(old).count(), 1, "{old}");
        bench.write("bad.toml", &SMALL.replace(old, new));
        let ended = bench.run(&["run", "bad.toml"]);
        let said = headlines(&ended.err);
        // Whatever is below `[links]` would be a link.
        let one = said.len() == if *new == "[links]" { 5 } else { 1 };
        let remedy = said.iter().all(|line| line.matches(": ").count() >= 3);
        let clean = ended.out.is_empty() && names(&bench.path(".")) == ["bad.toml"];
        if ended.status != 2 || !said.iter().any(|line| line.contains(says)) || !one || !remedy || !clean {
            wrong.push(format!("{new}\n  expected {says}\n  said {} {}", ended.status, ended.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_text_is_refused_by_line() {
    let bench = Bench::new();
    fs::write(bench.path("bad.toml"), b"format = 1\ntitle = \"\xff\xfe\"\n").unwrap();
    let ended = bench.run(&["run", "bad.toml"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("bad.toml:2: not text: ") && ended.err.contains("UTF-8"), "{}", ended.err);
    fs::write(bench.path("bad.toml"), b"\x7fELF\x02\x01\x01\0\0\0\0\0").unwrap();
    let ended = bench.run(&["check", "bad.toml"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("bad.toml:1:"), "{}", ended.err);
}

/// All errors at once: of the file in its order, then of the command line, each with its line where it has one.
#[test]
fn all_errors_are_shown_with_their_lines_underlined() {
    let bench = Bench::new();
    let bad = SMALL.replace("10 Mbit/s", "10 Mbps").replace("count = 2", "cuont = 2").replace("\"3 s\"", "\"3 s");
    bench.write("bad.toml", &bad);
    let ended = bench.run(&["run", "bad.toml"]);
    assert_eq!(ended.status, 2);
    let expected = "penstock: bad.toml:4:16: not TOML: invalid basic string, expected `\"`\n  |\n4 | duration = \"3 s\n  |               ^\n";
    assert_eq!(ended.err, expected);
    bench.write("bad.toml", &bad.replace("\"3 s", "\"3 s\""));
    let ended = bench.run(&["run", "bad.toml", "--set", "links.bottleneck.loss=2", "--set", "flows.ftp.rtt=1 sec"]);
    assert_eq!(
        ended.err,
        "\
penstock: bad.toml:10:8: links.bottleneck.rate: `10 Mbps` is not a rate: write `10 Mbit/s` (known: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)
   |
10 | rate = \"10 Mbps\"
   |        ^^^^^^^^^
penstock: bad.toml:14:1: flows.ftp.cuont: the key `cuont` is unknown here: did you mean `count`? Known: `count`, `from`, `to`, `via`, `rtt`, \
`packet`, `cc`, `start`, `stop`, `size`, `arrivals`, `idle`, `page`, `video`, `on_off`, `class`, `access`, `jitter`, `ack_jitter`, `loss`, `series`, `sender`
   |
14 | cuont = 2
   | ^^^^^
penstock: bad.toml: links.bottleneck.loss: `2` is not a probability of loss: write a number from 0 to below 1 (from `--set links.bottleneck.loss=2`)
penstock: bad.toml: flows.ftp.rtt: `1 sec` is not a duration: write `1 s` (known: ps, ns, us, ms, s, min, h) (from `--set flows.ftp.rtt=1 sec`)
"
    );
}

/// Of several files, each that the world does not run is named, before any of them runs.
#[test]
fn each_file_that_the_world_refuses_is_named() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.write("a.toml", &format!("{SMALL}sender = {{ burst = 4 }}\n"));
    bench.write("b.toml", &format!("{SMALL}[dynamics]\n"));
    let ended = bench.run(&["run", "small.toml", "a.toml", "b.toml", "--world", "fluid"]);
    assert_eq!((ended.status, ended.out.as_str()), (3, ""));
    let lines: Vec<&str> = ended.err.lines().collect();
    assert!(lines.len() >= 2 && lines.iter().all(|line| line.ends_with(" (in the fluid world)")), "{}", ended.err);
    for file in ["a.toml", "b.toml"] {
        assert!(lines.iter().any(|line| line.starts_with(&format!("penstock: {file}: "))), "{}", ended.err);
    }
    assert!(!ended.err.contains("small.toml") && !bench.path("out").exists(), "{}", ended.err);
}

/// The content of a file, an argument or the name of a file cannot act on a terminal.
#[test]
fn nothing_that_is_given_acts_on_the_terminal() {
    let bench = Bench::new();
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}";
    let name = format!("a{hostile}.toml");
    bench.write(&name, &SMALL.replace("10 Mbit/s", "10 \\u001b[31mMbit/s\\u202e"));
    let key = format!("{hostile}=1");
    for arguments in [
        vec!["run", &name],
        vec!["check", &name],
        vec!["check", &name, "--json"],
        vec!["run", &name, "--set", &key],
        vec!["run", hostile],
        vec!["laws", hostile],
        vec![hostile],
        vec!["tune", "pi", "--capacity", hostile, "--flows", "1", "--rtt", "1 s"],
        vec!["analyze", &name, "--at", hostile],
    ] {
        let ended = bench.run(&arguments);
        assert_eq!(ended.status, 2, "{arguments:?}");
        let acts = |text: &str| text.chars().any(|c| c != '\n' && penstock_scenario::visible::acts(c));
        assert!(!acts(&ended.err) && !acts(&ended.out), "{arguments:?}: {:?} {:?}", ended.err, ended.out);
    }
    bench.write(&name, SMALL);
    let ended = bench.run(&[
        "run",
        &name,
        "--set",
        "sweep={ case = [{ name = \"a\", seed = 1 }, { name = \"b\", seed = 2 }] }",
    ]);
    assert!(ended.status == 0 && !ended.err.contains('\u{1b}') && !ended.out.contains('\u{1b}'), "{}", ended.err);
}

/// A name cannot begin a message of its own.
#[test]
fn a_line_end_in_the_name_of_a_file_is_an_escape() {
    let bench = Bench::new();
    let name = "a\npenstock: all is well.toml";
    bench.write(name, "format = 9");
    for arguments in [
        vec!["run", name],
        vec!["run", "b\nc.toml"],
        vec!["check", "b\nc.toml"],
        vec!["sweep", name],
        vec!["report", name],
        vec!["show", name],
        vec!["list", "b\nc"],
        vec!["paper", "--papers", "b\nc"],
        vec!["evaluate", "cubic", "--battery", "b\nc"],
        vec!["compare", "b\nc.toml"],
        vec!["analyze", "b\nc.toml"],
    ] {
        let ended = bench.run(&arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.err);
        let own = |line: &str| line.starts_with("penstock: all is well") || line.starts_with("c.toml") || line == "c";
        assert!(!ended.err.lines().any(own) && ended.err.contains("\\n"), "{arguments:?}: {:?}", ended.err);
    }
}

/// What is wrong with the keys of `[sweep]` does not hide what is wrong with their values.
#[test]
fn all_errors_of_a_sweep_are_told_at_once() {
    let bench = Bench::new();
    let sweep = "[sweep]\nseeds = 3\n\"flows.fpt.count\" = [1]\n\"links.bottleneck.rate\" = [\"5 Mbit/s\", \"6 Mbps\"]\n\
                 \"flows.ftp.rtt\" = [\"40 ms\", \"50 ms\", \"1m\"]\nseed = { count = 3 }\n";
    bench.write("bad.toml", &format!("{SMALL}{sweep}"));
    let ended = bench.run(&["check", "bad.toml"]);
    assert_eq!(ended.status, 2);
    for what in [
        "sweep.seeds: the key `seeds` is unknown here: did you mean `seed`?",
        "flows.fpt.count: no group of flows is named `fpt`",
        "links.bottleneck.rate: `6 Mbps` is not a rate: write `6 Mbit/s`",
        "flows.ftp.rtt: `1m` is not a duration: write `1 min` or `1 ms`",
    ] {
        assert_eq!(ended.err.matches(what).count(), 1, "{what}\n{}", ended.err);
    }
    assert_eq!(ended.err.matches("penstock: ").count(), 4, "{}", ended.err);
}

#[test]
#[cfg(target_os = "linux")]
fn all_errors_of_the_options_of_a_path_are_told_at_once() {
    let bench = Bench::new();
    let wrong = ["--rate", "0.1 Gbps", "--delay", "1m", "--queue", "5 pkts", "--loss", "1 %", "--aqm", "fq_codel"];
    let ended = bench.run(&[&["linux", "path"], &wrong[..], &["--downlink-rate", "2 Mbps", "--", "true"]].concat());
    assert_eq!(ended.status, 2);
    let lines: Vec<&str> = ended.err.lines().collect();
    for option in ["--rate", "--delay", "--queue", "--loss", "--aqm", "--downlink-rate"] {
        let start = format!("penstock: {option}: ");
        assert_eq!(lines.iter().filter(|line| line.starts_with(&start)).count(), 1, "{option}\n{}", ended.err);
    }
    assert_eq!(lines.len(), 6, "{}", ended.err);
}

/// A pipe that nobody writes to, a device without an end, and a file that is too large: none is read.
#[test]
fn what_is_no_file_or_too_large_is_not_read() {
    let bench = Bench::new();
    let fifo = bench.path("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    fs::File::create(bench.path("huge.trace")).unwrap().set_len(64_000_001).unwrap();
    for file in ["pipe", "/dev/zero"] {
        let ended = bench.run(&["check", file]);
        assert_eq!(ended.status, 2, "{file}");
        assert!(ended.err.contains("it is not a file"), "{file}: {}", ended.err);
    }
    for (trace, says) in
        [("pipe", "it is not a file"), ("huge.trace", "it has 64000001 bytes, and 64000000 at most are read")]
    {
        let traced = format!("rate = {{ trace = \"{trace}\" }}");
        bench.write("traced.toml", &SMALL.replace("rate = \"10 Mbit/s\"", &traced));
        let ended = bench.run(&["check", "traced.toml"]);
        assert_eq!(ended.status, 2, "{trace}");
        assert!(ended.err.contains("traced.toml:10:18: ") && ended.err.contains(says), "{trace}: {}", ended.err);
    }
}

/// The fluid world refuses features that it lacks, with the status of a missing feature, and leaves nothing: not
/// even the directory that the record would have gone to.
#[test]
fn what_a_world_cannot_carry_is_refused_with_its_own_status() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let fluid = |more: &[&str]| bench.run(&[&["run", "small.toml", "--world", "fluid", "--out", "a/b"], more].concat());
    for (more, says) in [
        (&["--set", "flows.ftp.size=1 MB", "--set", "stop={ when = \"transfers complete\" }"][..], "stop"),
        (&["--set", "flows.ftp.sender={ burst = 4 }"], "bursts"),
        (
            &["--set", "flows.ftp.cc={ law = \"fast\" }", "--set", "flows.ftp.sender={ arithmetic = \"fixed\" }"],
            "fixed-point arithmetic",
        ),
        (&["--set", "flows.ftp.cc={ law = \"cbr\", rate = \"1 Mbit/s\", spacing_jitter = 0.1 }"], "spaced at random"),
        (&["--set", "flows.ftp.size={ pareto = { mean = \"1 MB\", shape = 1.5 } }"], "sizes that are drawn"),
        (&["--set", "flows.ftp.cc={ law = \"cubic\" }"], "cubic"),
        (&["--set", "flows.ftp.cc={ law = \"bbr\" }"], "bbr"),
        (&["--set", "links.bottleneck.rate=[[\"0 s\", \"1 Mbit/s\"], [\"1 s\", \"2 Mbit/s\"]]"], "a rate that changes"),
        (
            &["--set", "links.bottleneck.loss=0.01", "--set", "links.bottleneck.loss_spacing=even"],
            "losses that are evenly spaced",
        ),
        (&["--set", "links.bottleneck.loss=0.01", "--set", "links.bottleneck.loss_burst=3"], "losses in bursts"),
        (
            &["--set", "links.bottleneck.delay={ every = \"1 s\", steps = [\"10 ms\", \"12 ms\"] }"],
            "a delay that changes",
        ),
        (&["--set", "links.bottleneck.reorder={ share = 0.01, by = \"1 ms\" }"], "packets that come late"),
        (&["--set", "links.bottleneck.aggregation={ time = \"1 ms\" }"], "packets that go together"),
        (&["--set", "links.bottleneck.policer={ rate = \"1 Mbit/s\", burst = \"9 kB\" }"], "a policer"),
        (&["--set", "links.bottleneck.duplicate=0.01"], "packets that arrive twice"),
        (
            &["--set", "links.bottleneck.ecn=bleach", "--set", "flows.ftp.cc={ law = \"newreno\", ecn = true }"],
            "changes the ECN field",
        ),
        (&["--pcap"], "--pcap"),
    ] {
        let ended = fluid(more);
        assert_eq!(ended.status, 3, "{more:?}: {}", ended.err);
        assert!(ended.err.contains(says) && ended.err.contains("fluid"), "{more:?}: {}", ended.err);
        assert_eq!(names(&bench.path(".")), ["small.toml"], "{more:?}");
    }
    // A law that asks for more than its recovery tells.
    let [law, recovery] = ["flows.ftp.cc={ law = \"bbr\" }", "flows.ftp.sender={ recovery = \"newreno\" }"];
    let ended = bench.run(&["run", "small.toml", "--set", law, "--set", recovery, "--out", "a/b"]);
    assert!(ended.status == 3 && ended.err.contains("bbr"), "{}", ended.err);
    assert_eq!(names(&bench.path(".")), ["small.toml"]);
    assert_eq!(fluid(&[]).status, 0, "the same without any of it");
    assert_eq!(names(&bench.path(".")), ["a", "small.toml"]);
    for (law, status) in [("{ law = \"cubic\" }", 3), ("{ law = \"fast\" }", 2)] {
        let ended = bench.run(&["analyze", "small.toml", "--set", &format!("flows.ftp.cc={law}"), "--out", "b"]);
        assert_eq!(ended.status, status, "{law}: {}", ended.err);
        assert_eq!(names(&bench.path(".")), ["a", "small.toml"], "{law}");
    }
    let compared = bench.run(&["compare", "small.toml", "--set", "flows.ftp.sender={ burst = 4 }"]);
    assert_eq!(compared.status, 3, "{}", compared.err);
}

/// A directory that was there stays, and so does one with something in it.
#[test]
fn a_refusal_takes_away_only_what_it_made() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    fs::create_dir(bench.path("there")).unwrap();
    let refused = ["--world", "fluid", "--set", "flows.ftp.sender={ burst = 4 }"];
    for out in ["there", "there/new"] {
        let ended = bench.run(&[&["run", "small.toml", "--out", out], &refused[..]].concat());
        assert_eq!(ended.status, 3, "{}", ended.err);
        assert!(bench.path("there").is_dir() && names(&bench.path("there")).is_empty());
    }
    // A sweep too, whose directory is its own.
    let swept = ["--set", "sweep.seed={ count = 2 }"];
    let ended = bench.run(&[&["sweep", "small.toml", "--out", "new"], &refused[..], &swept[..]].concat());
    assert_eq!(ended.status, 3, "{}", ended.err);
    assert_eq!(names(&bench.path(".")), ["small.toml", "there"]);
}

/// Where no world waits for real packets, an option about processors would do nothing.
#[test]
fn processors_are_kept_awake_for_real_packets_only() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let before = names(&bench.path("."));
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers");
    for (arguments, remedy) in [
        (&["run", "small.toml"][..], "--world linux"),
        (&["compare", "small.toml"], "linux to --worlds"),
        (&["compare", "small.toml", "--laws", "newreno,cubic"], "linux to --worlds"),
        (&["evaluate", "fast", "--quick"], "--world packets,linux"),
        (&["break", "fast", "--objective", "underuse"], "--confirm linux"),
        (&["paper", "fast-tcp/fig1", "--short", "--papers", papers], "--world linux"),
    ] {
        let ended = bench.run(&[arguments, &["--awake"]].concat());
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.err);
        let said = format!("--awake: only the Linux world waits for real packets; add {remedy}, or leave --awake out");
        assert!(ended.err.contains(&said), "{arguments:?}: {}", ended.err);
        assert_eq!(names(&bench.path(".")), before, "{arguments:?}");
    }
}

#[test]
fn threads_are_for_a_single_simulation() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let before = names(&bench.path("."));
    for (arguments, said) in [
        (&["--threads", "0"][..], "0 is not in 1..=256"),
        (&["--threads", "257"], "257 is not in 1..=256"),
        (&["--threads", "two"], "invalid value 'two'"),
        (&["--threads", "2", "--world", "linux"], "--threads: the linux world has no runs on several threads"),
        (&["--threads", "2", "--set", "sweep.seed={ count = 2 }"], "--threads: it divides a single run"),
        (&["--threads", "2", "small.toml"], "--threads: it divides a single run"),
    ] {
        let ended = bench.run(&[&["run", "small.toml"], arguments].concat());
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(said), "{arguments:?}: {}", ended.err);
        assert_eq!(names(&bench.path(".")), before, "{arguments:?}");
    }
}

#[test]
fn tuning_refuses_what_has_no_answer() {
    let bench = Bench::new();
    let pi = ["tune", "pi", "--capacity", "15 Mbit/s", "--flows", "60", "--rtt", "246 ms"];
    let with = |option: &str, value: &str| {
        let mut arguments: Vec<&str> = pi.to_vec();
        match arguments.iter().position(|a| *a == option) {
            Some(at) => arguments[at + 1] = value,
            None => arguments.extend([option, value]),
        }
        bench.run(&arguments)
    };
    for (option, value, says) in [
        ("--capacity", "0 bit/s", "--capacity: "),
        ("--packet", "0 B", "--packet: "),
        ("--rtt", "0 s", "--rtt: "),
        ("--flows", "0", "--flows: "),
        ("--flows", "nan", "--flows: "),
        ("--frequency", "0.01", "--frequency: at 0.01 updates per second the parameter `b` is not above zero"),
    ] {
        let ended = with(option, value);
        assert_eq!(ended.status, 2, "{option} {value}: {}", ended.err);
        assert!(ended.err.contains(says), "{option} {value}: {}", ended.err);
    }
    assert_eq!(bench.run(&["tune", "leadlag", "--taubar", "0 s"]).status, 2);
    assert_eq!(bench.run(&["analyze", "small.toml", "--map-points", "5"]).status, 2);
    assert!(bench.run(&["analyze", "small.toml", "--map-points", "5"]).err.contains("--stability-map"));
}

/// The parameters of a rule can be put into a scenario as they stand.
#[test]
fn what_tuning_prints_is_what_a_scenario_takes() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let pi = ["--capacity", "15 Mbit/s", "--flows", "60", "--rtt", "246 ms"];
    let leadlag = ["--taubar", "1 s", "--bottlenecks", "2"];
    for (law, arguments, key) in [("pi", &pi[..], "links.bottleneck.aqm"), ("leadlag", &leadlag[..], "flows.ftp.cc")] {
        let printed = bench.well(&[&["tune", law], arguments].concat());
        let setting = format!("{key}={}", printed.lines().next().unwrap());
        let read = bench.well(&["check", "small.toml", "--set", &setting]);
        let tuned = bench.json(&[&["tune", law, "--json"], arguments].concat());
        for pair in tuned["parameters"].as_array().unwrap() {
            let (name, value) = (pair[0].as_str().unwrap(), &pair[1]);
            // Six digits are printed, and all of them in JSON.
            let said = printed.split_once(&format!("{name} = ")).unwrap_or_else(|| panic!("{name}: {printed}")).1;
            let said = said.split([',', ' ', '}', '\n']).next().unwrap();
            match value.as_f64() {
                Some(exact) => {
                    let rounded: f64 = said.parse().unwrap();
                    assert!((rounded / exact - 1.0).abs() <= 5e-6, "{name}: {said} for {exact}");
                }
                None => assert!(printed.contains(&format!("{name} = {value}")), "{name}: {printed}"),
            }
            assert!(read.contains(&format!("{name} = ")), "{name}: {read}");
        }
    }
    assert!(bench.well(&["tune", "leadlag", "--taubar", "1 s"]).contains("taubar = \"1 s\""));
}

/// A record is a scenario too: what it holds can be run as it stands, and gives the same numbers.
#[test]
fn a_record_runs_again() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.well(&["run", "small.toml", "--seed", "5"]);
    bench.well(&["run", "out/small-seed5/record.toml", "--out", "again"]);
    assert_eq!(bench.names("again"), ["small-seed5"]);
    let id = |path: &str| {
        let text = fs::read_to_string(bench.path(path)).unwrap();
        text.lines().find(|line| line.starts_with("id = ")).unwrap().to_owned()
    };
    assert_eq!(id("out/small-seed5/record.toml"), id("again/small-seed5/record.toml"));
    let flows = |path: &str| fs::read(bench.path(path).join("flows.parquet")).unwrap();
    assert!(flows("out/small-seed5") == flows("again/small-seed5"));
    let printed = bench.well(&["check", "out/small-seed5/record.toml"]);
    assert_eq!(printed, bench.well(&["check", "small.toml", "--set", "seed=5"]));
}

#[test]
fn a_record_with_a_file_cut_short_says_which() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.well(&["run", "small.toml"]);
    let series = bench.path("out/small-seed1/links.parquet");
    let bytes = fs::read(&series).unwrap();
    fs::write(&series, &bytes[..bytes.len() / 2]).unwrap();
    let ended = bench.run(&["report", "out/small-seed1"]);
    assert_eq!(ended.status, 2);
    assert!(
        ended.err.contains("out/small-seed1: links.parquet is damaged: it has changed since it was written"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("`penstock run out/small-seed1/record.toml` makes"), "what would do: {}", ended.err);
    // The same scenario in another world is another record.
    bench.well(&["run", "small.toml", "--world", "fluid", "--out", "fluid"]);
    fs::remove_file(bench.path("fluid/small-seed1/links.parquet")).unwrap();
    let ended = bench.run(&["report", "fluid/small-seed1"]);
    let remedy = "`penstock run fluid/small-seed1/record.toml --world fluid` makes a new record";
    assert!(ended.status == 2 && ended.err.contains(remedy), "{}", ended.err);
    // A directory where the report would be, and a link where the header would be.
    bench.well(&["run", "small.toml", "--out", "whole"]);
    let report = bench.path("whole/small-seed1/report.html");
    fs::remove_file(&report).unwrap();
    fs::create_dir(&report).unwrap();
    let ended = bench.run(&["report", "whole/small-seed1"]);
    assert!(ended.status == 2 && ended.err.contains("a directory has that name"), "{}", ended.err);
    let header = bench.path("whole/small-seed1/record.toml");
    fs::remove_file(&header).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &header).unwrap();
    let ended = bench.run(&["report", "whole/small-seed1"]);
    assert!(ended.status == 2 && ended.err.contains("record.toml: it is a symbolic link"), "{}", ended.err);
}

#[test]
fn a_map_and_a_step_that_make_no_sense_are_refused_with_their_cause() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let map = |x: &str, y: &str| {
        let pi = "links.bottleneck.aqm={ law = \"pi\" }";
        let ended = bench.run(&["analyze", "small.toml", "--set", pi, "--map-points", "2", "--stability-map", x, y]);
        assert_eq!(ended.status, 2, "{}", ended.err);
        ended.err
    };
    let twice = map("flows.ftp.rtt=50..60 ms", "flows.ftp.rtt=50..500 ms");
    assert!(twice.contains("both axes change `flows.ftp.rtt`"), "{twice}");
    let seed = map("flows.ftp.rtt=50..60 ms", "seed=1..3");
    assert!(seed.contains("does not depend on the seed"), "{seed}");
    let ended = bench.run(&["compare", "small.toml", "--step", "1 ps"]);
    assert!(ended.status == 3 && ended.err.contains("use a longer step or a shorter run"), "{}", ended.err);
}

/// A setting that is right by itself and of no use is reported on standard error, once a sweep, and only where it holds of all
/// its cells.
#[test]
fn what_changes_nothing_in_any_cell_is_a_note() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let red = ["check", "small.toml", "--set", "links.bottleneck.aqm={ law = \"red\", ecn = true }"];
    let deaf = bench.run(&red);
    assert_eq!(deaf.status, 0);
    let note = "note: links.bottleneck.aqm.ecn: no flow over this link responds to marks, so it has no effect";
    assert_eq!(deaf.err.matches(note).count(), 1, "{}", deaf.err);
    let laws = "sweep={ \"flows.ftp.cc\" = [{ law = \"newreno\" }, { law = \"newreno\", ecn = true }] }";
    let swept = bench.run(&[&red[..], &["--set", laws]].concat());
    assert_eq!((swept.status, swept.err.as_str()), (0, ""));
}
