//! The table of bad inputs: what each ends with, what is said, and that it takes neither time, nor memory, nor leaves
//! anything.

use std::fs;
use std::io::{BufWriter, Read, Write};
use std::process::{Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::bench::{Bench, Ended, SMALL, names};
use nix::sys::resource::{UsageWho, getrusage};

/// The most that a bad input may take: memory [kB] and time of the processor [s].
const MOST_MEMORY_KB: i64 = 200_000;
///
/// A build without optimisation may take four times as long.
const MOST_CPU_S: f64 = if cfg!(debug_assertions) { 4.0 } else { 1.0 };

/// The input of the command, and its end.
struct Row {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    /// A text at the start of the last file, this often. It is not held in memory: that of this process counts as its child's.
    before: (&'static [u8], usize),
    args: Vec<String>,
    status: i32,
    says: String,
}

fn row(name: &str, bytes: impl Into<Vec<u8>>, args: &[&str], status: i32, says: &str) -> Row {
    Row {
        name: name.to_owned(),
        files: vec![("e.toml".to_owned(), bytes.into())],
        before: (b"", 0),
        args: args.iter().map(ToString::to_string).collect(),
        status,
        says: says.to_owned(),
    }
}

/// A file that is run as it stands.
fn file(name: &str, bytes: impl Into<Vec<u8>>, says: &str) -> Row {
    row(name, bytes, &["run", "e.toml"], 2, says)
}

/// [`SMALL`] with something else in it.
fn edit(old: &str, new: &str, says: &str) -> Row {
    assert_eq!(SMALL.matches(old).count(), 1, "{old}");
    file(&format!("{} for {old}", new.chars().take(60).collect::<String>()), SMALL.replace(old, new), says)
}

/// [`SMALL`] with settings of the command line.
fn set(settings: &[&str], says: &str) -> Row {
    let args: Vec<&str> = ["run", "e.toml"].into_iter().chain(settings.iter().flat_map(|s| ["--set", *s])).collect();
    row(&format!("--set {}", settings.join(" ").chars().take(60).collect::<String>()), SMALL, &args, 2, says)
}

/// A command with [`SMALL`] beside it.
fn command(args: &[&str], status: i32, says: &str) -> Row {
    row(&args.join(" "), SMALL, args, status, says)
}

/// A link whose rate is a trace.
fn trace(name: &str, bytes: impl Into<Vec<u8>>, says: &str) -> Row {
    let mut row = edit("rate = \"10 Mbit/s\"", "rate = { trace = \"t\" }", says);
    name.clone_into(&mut row.name);
    row.files.push(("t".to_owned(), bytes.into()));
    row
}

/// The same with a line many times before the rest.
fn long_trace(name: &str, line: &'static [u8], times: usize, rest: &str, says: &str) -> Row {
    Row { before: (line, times), ..trace(name, rest, says) }
}

/// A paper.
fn paper(name: &str, text: impl Into<Vec<u8>>, says: &str) -> Row {
    Row {
        name: name.to_owned(),
        files: vec![("papers/p/paper.toml".to_owned(), text.into()), ("papers/p/s.toml".to_owned(), SMALL.into())],
        before: (b"", 0),
        args: ["paper", "p", "--papers", "papers"].map(ToOwned::to_owned).into(),
        status: 2,
        says: says.to_owned(),
    }
}

/// So many keys that are not known, a line each.
fn keys(count: usize) -> String {
    (0..count).map(|n| format!("z{n} = 1")).collect::<Vec<_>>().join("\n")
}

/// That many spans of the run.
fn windows(count: usize) -> String {
    (0..count).map(|n| format!("w{n} = [\"0 s\", \"1 s\"]")).collect::<Vec<_>>().join("\n")
}

const PAPER: &str = r#"format = 1
title = "A paper"
authors = ["Somebody"]
published = "2026"
[[item]]
id = "a"
title = "A figure"
place = "Fig. 1"
world = "packets"
scenario = "s.toml"
columns = [{ path = "links.bottleneck.utilization", label = "utilization" }]
[[claim]]
id = "c"
item = "a"
place = "Fig. 1"
statement = "the link is used"
measure = "links.bottleneck.utilization"
test = { at_least = 0.1 }
source = "the text"
"#;

/// Bytes that are no text and the same each time.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8 | 0x80
    })
    .take(length)
    .collect()
}

#[rustfmt::skip] // one row a line
fn rows() -> Vec<Row> {
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(SMALL.bytes().flat_map(|b| [b, 0])).collect();
    let sweep = |text: &str| format!("{SMALL}\n[sweep]\n{text}\n");
    let long = "n".repeat(10_000);
    let link = |n: u32| {
        format!("[links.l{n}]\nfrom = \"n{n}\"\nto = \"n{}\"\nrate = \"1 Gbit/s\"\ndelay = \"1 us\"\nbuffer = \"9 packets\"\n", n + 1)
    };
    let many_links = (0..1000).map(link).collect::<Vec<_>>().concat();
    let chain = format!("format = 1\nduration = \"1 s\"\n{many_links}[flows.f]\nfrom = \"n0\"\nto = \"n1000\"\nrtt = \"1 s\"\ncc = {{ law = \"newreno\" }}\n");
    vec![
        // Files that are no scenarios.
        file("empty", "", "e.toml:1:1: format: missing"),
        file("1 MB of noise", noise(1_000_000), "e.toml:1: not text: byte "),
        file("UTF-16", utf16, "not text"),
        file("lone carriage returns", SMALL.replace('\n', "\r"), "not TOML"),
        file("arrays 1,000,000 deep", format!("format = 1\nx = {}", "[".repeat(1_000_000)), "not TOML"),
        file("JSON", "{ \"format\": 1 }", "not TOML"),
        file("NUL bytes", SMALL.replace("Two", "T\0wo"), "not TOML"),
        file("no table at all", "1 2 3\n4 5 6\n", "not TOML"),
        file("a table twice", format!("{SMALL}[flows.ftp]\ncount = 1\n"), "appears twice"),
        file("a table twice by dots", format!("{SMALL}[flows]\nftp.count = 1\n"), "not TOML"),
        // Names and titles.
        edit("[flows.ftp]", "[flows.\"../../x\"]", "is not a name"),
        edit("[flows.ftp]", "[flows.\"/etc/passwd\"]", "is not a name"),
        edit("[flows.ftp]", "[flows.\"<script>alert(1)</script>\"]", "is not a name"),
        edit("[flows.ftp]", "[flows.\"a\\nb\"]", "is not a name"),
        edit("[flows.ftp]", "[flows.\"a\\u0000b\"]", "is not a name"),
        edit("[flows.ftp]", "[flows.\"a\\u202eb\"]", "is not a name"),
        edit("[flows.ftp]", &format!("[flows.{long}]"), "a name of 10000 characters: write at most 100"),
        edit("from = \"left\"\nto = \"right\"\nrate", "from = \"le\\u001b[31mft\"\nto = \"right\"\nrate", "is not a name"),
        edit("\"Two flows\"", "\"\\u001b]0;pwned\\u0007\\u001b[31mRED\"", "is not one line of text"),
        edit("\"Two flows\"", "\"a\\nb\"", "is not one line of text"),
        edit("\"Two flows\"", "\"\u{200b}\"", "is not one line of text"),
        edit("\"Two flows\"", &format!("\"{}\"", "y".repeat(10_000_000)), "a title of 10000000 characters: write at most 300"),
        edit("count = 2", "count = 2\n\"z\\u001bz\" = 1", "is unknown here"),
        set(&["\u{1b}]0;pwned\u{7}=1"], "is unknown here"),
        set(&[&format!("title={}", "x".repeat(100_000))], "a title of 100000 characters"),
        row("the name of a file that is not there", SMALL, &["run", "a\u{1b}[31m\nb.toml"], 2, "cannot read a\\u{1b}[31m\\nb.toml"),
        edit("count = 2", &keys(20_000), "penstock: and 19980 more"),
        edit("count = 2", &keys(200_000), "penstock: and 199980 more"),
        file("80,000 windows", format!("{SMALL}[windows]\n{}", windows(80_000)), "80000 windows; 1000 are the most"),
        edit("count = 2", &format!("count = 2\nx = [{}1]", "1,".repeat(3_000_000)), "commas and line ends"),
        edit("law = \"newreno\"", &format!("law = \"newreno\", {}", keys(10_000).replace('\n', ", ")), "penstock: and 9980 more"),
        // Quantities.
        edit("\"10 Mbit/s\"", "\"-1 Mbit/s\"", "is negative"),
        edit("\"10 Mbit/s\"", "\"nan Mbit/s\"", "is not a rate"),
        edit("\"10 Mbit/s\"", "\"inf Mbit/s\"", "is not a rate"),
        edit("\"10 Mbit/s\"", "\"1e400 Mbit/s\"", "is too large"),
        edit("\"10 Mbit/s\"", "\"1e999999999 Gbps\"", "is not a rate: write a number and one of the known units"),
        edit("\"50 packets\"", "\"1e999999999 pkts\"", "is not a buffer: write `unlimited`"),
        edit("\"10 Mbit/s\"", "\"10 Mb/s\"", "write `10 Mbit/s`"),
        edit("\"10 Mbit/s\"", "\"10Mbps\"", "write `10 Mbit/s`"),
        edit("\"10 Mbit/s\"", "\"10 MB/s\"", "write `80 Mbit/s`"),
        edit("\"10 Mbit/s\"", "\"0.1 Gbps\"", "write `0.1 Gbit/s`"),
        edit("\"10 Mbit/s\"", "\"0 bit/s\"", "carries nothing"),
        edit("\"10 Mbit/s\"", "\"0.1 bit/s\"", "is too small"),
        edit("\"10 Mbit/s\"", "\"99999999999999999999999999999999999999999 Gbit/s\"", "is too large"),
        edit("\"10 Mbit/s\"", "\"1e-400 bit/s\"", "is too small"),
        edit("\"10 Mbit/s\"", "\"0x10 Mbit/s\"", "is not a rate"),
        edit("\"10 Mbit/s\"", "\"\u{ff11}\u{ff10} Mbit/s\"", "is not a rate"),
        edit("\"10 Mbit/s\"", "\"10 mbit/s\"", "write `10 Mbit/s`"),
        edit("\"10 Mbit/s\"", "\"10 \\u001b[31mMbit/s\"", "is not a rate"),
        edit("\"3 s\"", "\"60 sec\"", "write `60 s`"),
        edit("\"3 s\"", "\"1m\"", "write `1 min` or `1 ms`"),
        edit("\"40 ms\"", "\"1 ps\"", "is less than the 10 ms"),
        edit("delay = \"10 ms\"", "delay = \"4800 h\"", "is less than the"),
        edit("\"1000 B\"", "\"0 B\"", "no space for data"),
        edit("\"1000 B\"", "{ wire = \"100 B\", payload = \"200 B\" }", "a payload of `200 B`"),
        edit("\"50 packets\"", "\"0 packets\"", "cannot hold a packet"),
        edit("\"50 packets\"", "\"0 bdp\"", "is out of range"),
        edit("\"50 packets\"", "\"1e30 bdp\"", "is out of range"),
        edit("\"3 s\"", "\"0 s\"", "no time at all"),
        edit("\"1 s\"", "\"10 s\"", "leaves nothing to measure"),
        edit("count = 2", "count = 1000000000", "is out of range"),
        // More than any machine has.
        edit("count = 2", "count = 10000000\nsender = { initial_window = 1000000 }", "of memory"),
        edit("count = 2", "count = -1", "is negative"),
        edit("count = 2", "count = 2.5", "is not a whole number"),
        set(&["sample=1 ps"], "series of 3000000000000 rows"),
        set(&["sample=0 s"], "no time at all"),
        set(&["links.bottleneck.loss=1"], "is not a probability"),
        set(&["links.bottleneck.loss=nan"], "is not a number"),
        set(&["flows.ftp.size={ pareto = { mean = \"1 kB\", shape = 1 } }"], "has an infinite mean"),
        set(&["flows.ftp.size=\"1 kB\"", "flows.ftp.arrivals={ poisson = \"1e12 /s\" }"], "GB of memory"),
        set(&["windows={ w = [\"2 s\", \"9 s\"] }"], "after the run"),
        set(&["windows={ w = [\"2 s\", \"1 s\"] }"], "is empty"),
        set(&["flows.ftp.start=\"10 s\""], "when the run is over"),
        set(&["flows.ftp.on_off={ on = \"1 ps\", off = \"1 ps\" }"], "change too often"),
        set(&["flows.ftp.cc={ law = \"cbr\", rate = \"100 Tbit/s\" }"], "is outside the range"),
        set(&[&format!("flows.ftp.cc={}1{}", "{a=".repeat(500), "}".repeat(500))], "not TOML"),
        set(&["="], "is not a dotted key"),
        set(&["=3"], "is not a dotted key"),
        set(&["nonsense"], "no `=`"),
        // The command line.
        command(&["run", "e.toml", "--seed", "-1"], 2, "unexpected argument"),
        command(&["run", "e.toml", "--seed", "18446744073709551616"], 2, "invalid value"),
        command(&["run", "e.toml", "--seed", "18446744073709551615"], 2, "is out of range"),
        command(&["run", "e.toml", "--jobs", "0"], 2, "is not in 1..=1024"),
        command(&["run", "e.toml", "--jobs", "1025"], 2, "is not in 1..=1024"),
        command(&["run", "e.toml", "--out", ""], 2, "a value is required"),
        command(&["run", "e.toml", "--\u{1b}[31mred"], 2, "unexpected argument"),
        command(&["sweep", "e.toml", "--shard", "0/0"], 2, "write I/N"),
        command(&["frobnicate"], 2, "unrecognized subcommand"),
        command(&["run"], 2, "required arguments"),
        command(&["run", "."], 2, "it is a directory"),
        command(&["run", "nothing.toml"], 2, "No such file"),
        command(&["check", "/dev/zero"], 2, "it is not a file"),
        command(&["laws", "fq_codel"], 2, "did you mean `fq-codel`?"),
        command(&["laws", "\u{1b}[31m"], 2, "no law is named"),
        command(&["report", "nope"], 2, "there is no directory nope"),
        command(&["report", "."], 2, "is not a record"),
        command(&["analyze", "e.toml", "--at", "soon"], 2, "--at: `soon` is not a duration"),
        command(&["analyze", "e.toml", "--at", "100 h"], 2, "ends at 3 s"),
        command(&["compare", "e.toml", "--worlds", "packets"], 2, "name two or more"),
        command(&["compare", "e.toml", "--step", "0 s"], 2, "a step takes time"),
        command(&["compare", "e.toml", "--step", "1 ps"], 3, "are too many"),
        command(&["tune", "pi", "--capacity", "15 Mbit/s", "--flows", "inf", "--rtt", "246 ms"], 2, "--flows"),
        command(&["tune", "pi", "--capacity", "15 Mbit/s", "--flows", "1e308", "--rtt", "246 ms"], 2, "--flows"),
        command(&["tune", "clcc", "--share", "nan"], 2, "--share"),
        // Sweeps.
        file("seeds of nothing", sweep("seed = { count = 0 }"), "is out of range"),
        file("seeds of less than nothing", sweep("seed = { count = -1 }"), "is negative"),
        file("a billion seeds", sweep("seed = { count = 1000000000 }"), "is out of range"),
        file("seeds by another name", sweep("seeds = 5"), "did you mean `seed`?"),
        file("a sweep over nothing there", sweep("\"flows.fpt.count\" = [1]"), "no group of flows is named `fpt`"),
        // Traces.
        trace("an empty trace", "", "a trace that takes no time"),
        trace("a trace of no time", "0\n0\n", "a trace that takes no time"),
        trace("a trace that goes back", "5\n3\n", "is earlier than the line before"),
        trace("a trace below zero", "-1\n", "`-1` is not a time in milliseconds"),
        trace("a trace of fractions", "1.5\n", "`1.5` is not a time in milliseconds"),
        trace("a trace without end", "1\n18446744073709551615\n", "is not a time in milliseconds"),
        trace("a trace that is none", "root:*:20228:0:99999:7:::\n", "t:1: a text of 25 characters is not a time"),
        trace("a trace of noise", noise(1000), "it is not text"),
        long_trace("a trace of 64 MB", b"0\n", 32_000_000, "", "t:20000001: more than 20000000 opportunities"),
        long_trace("a trace of 40 MB and no time", b"0\n", 19_999_999, "", "t:19999999: a trace that takes no time"),
        long_trace("a trace whose last line is none", b"1\n", 19_999_990, "x\n", "t:19999991: a text of 1 characters"),
        // What no world does.
        row("a thousand links in a row", chain, &["run", "e.toml"], 3, "a route of 1000 links; 255 are the most"),
        command(&["run", "e.toml", "--set", "flows.ftp.cc={ law = \"bbr\" }", "--set", "flows.ftp.sender.recovery=reno"], 3, "the fate of each packet"),
        command(&["check", "e.toml", "--world", "fluid", "--set", "flows.ftp.sender={ burst = 4 }"], 3, "bursts"),
        command(&["check", "e.toml", "--world", "fluid", "--set", "flows.ftp.sender={ pacing = \"window\" }"], 3, "pacing by the window"),
        // Papers.
        paper("a paper of nothing", "", "missing field"),
        paper("a paper of noise", noise(1000), "not text"),
        paper("a paper that leaves its folder", PAPER.replace("s.toml", "../../../etc/passwd"), "is outside of the paper's folder"),
        paper("a paper with an absolute path", PAPER.replace("s.toml", "/etc/passwd"), "is outside of the paper's folder"),
        paper("a paper whose scenario is missing", PAPER.replace("s.toml", "t.toml"), "No such file"),
        paper("a paper for another world", PAPER.replace("\"packets\"", "\"mars\""), "no world is named `mars`"),
        paper("a paper with an unknown key", format!("zz = 1\n{PAPER}"), "unknown key `zz`"),
    ]
}

/// The end of a command, and its processor time [s]. The time is that of this process alone: other tests run commands meanwhile.
fn measured(bench: &Bench, args: &[&str]) -> (Ended, f64) {
    let mut child =
        bench.command(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| out.read_to_end(&mut stdout).unwrap());
        err.read_to_end(&mut stderr).unwrap();
    });
    // A process that has ended keeps its times until somebody waits for it: proc_pid_stat(5), in ticks of 10 ms.
    let ticks = loop {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        if fields[0] == "Z" {
            break [fields[11], fields[12]].map(|ticks| ticks.parse::<f64>().unwrap()).iter().sum::<f64>();
        }
        thread::sleep(Duration::from_millis(1));
    };
    let output = Output { status: child.wait().unwrap(), stdout, stderr };
    (Ended::of(&output), ticks / 100.0)
}

/// Errors in the end of a row.
fn faults(row: &Row) -> Vec<String> {
    let bench = Bench::new();
    let mut before = Vec::new();
    for (at, (name, bytes)) in row.files.iter().enumerate() {
        let path = bench.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = BufWriter::new(fs::File::create(path).unwrap());
        let (text, times) = if at + 1 == row.files.len() { row.before } else { (&b""[..], 0) };
        for _ in 0..times {
            file.write_all(text).unwrap();
        }
        file.write_all(bytes).unwrap();
        file.flush().unwrap();
        before.push(name.split('/').next().unwrap().to_owned());
    }
    before.sort();
    before.dedup();
    let args: Vec<&str> = row.args.iter().map(String::as_str).collect();
    let (ended, cpu) = measured(&bench, &args);
    // The largest of any command yet.
    let memory_kb = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    let first = ended.err.lines().next().unwrap_or_default();
    let checks = [
        (ended.status == row.status, format!("status {}, not {}", ended.status, row.status)),
        (ended.err.contains(&row.says), format!("does not say {:?}", row.says)),
        (first.starts_with("penstock: ") || first.starts_with("error: "), "does not begin with a message".to_owned()),
        (
            !ended.err.chars().any(|c| c != '\n' && penstock_scenario::visible::acts(c)),
            "acts on the terminal".to_owned(),
        ),
        // Twenty errors, each with the names that are known.
        (ended.err.len() < 8000, format!("a message of {} bytes", ended.err.len())),
        (names(&bench.path(".")) == before, format!("leaves {:?}", names(&bench.path(".")))),
        (memory_kb < MOST_MEMORY_KB, format!("{memory_kb} kB")),
        (cpu < MOST_CPU_S, format!("{cpu} s")),
    ];
    let wrong = checks.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what);
    wrong.map(|what| format!("{}: {what}\n  {}", row.name, first.chars().take(300).collect::<String>())).collect()
}

#[test]
fn every_bad_input_is_one_message_at_once_and_leaves_nothing() {
    let rows = rows();
    assert!(rows.len() > 110, "{}", rows.len());
    let wrong: Vec<String> = rows.iter().flat_map(faults).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Odd but right input stays accepted.
#[test]
fn what_is_unusual_is_read() {
    let bench = Bench::new();
    for (name, text) in [
        ("a byte order mark", format!("\u{feff}{SMALL}")),
        ("lines of DOS", SMALL.replace('\n', "\r\n")),
        ("one bit a second", SMALL.replace("10 Mbit/s", "1 bit/s")),
        ("no delay", SMALL.replace("delay = \"10 ms\"", "delay = \"0 s\"")),
        ("a picosecond", SMALL.replace("\"3 s\"", "\"1 ps\"").replace("warmup = \"1 s\"\n", "")),
        ("a title with marks", SMALL.replace("Two flows", "<script>alert(1)</script>")),
        ("a link of that name", SMALL.replace("links.bottleneck", "links.__proto__")),
        (
            "names that differ by case",
            SMALL.to_owned() + &SMALL[SMALL.find("[flows.ftp]").unwrap()..].replace("ftp", "FTP"),
        ),
    ] {
        bench.write("e.toml", &text);
        let ended = bench.run(&["check", "e.toml"]);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{name}");
    }
}
