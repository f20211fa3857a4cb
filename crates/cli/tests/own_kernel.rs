//! A program with a law of its own that brings a kernel program. This test is that program, too: it starts itself. Needs root, a
//! kernel with struct_ops, and clang.

mod bench;
#[path = "own_kernel/brim.rs"]
mod brim;
#[path = "own_kernel/brisk.rs"]
mod brisk;
#[path = "own_kernel/brook.rs"]
mod brook;
#[path = "own_kernel/decisions.rs"]
mod decisions;
#[path = "own_kernel/deliveries.rs"]
mod deliveries;
#[path = "own_kernel/device.rs"]
mod device;
#[path = "../../kernel/tests/frames/mod.rs"]
mod frames;
mod optional;
#[path = "own_kernel/traffic.rs"]
mod traffic;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use bench::{Bench, Ended};
use brisk::{LIKE, MARKS};
use optional::available;
use penstock_kernel::attach;
use penstock_kernel_build::{Clang, include_dir};
use serde_json::Value;

/// Variables that make this the command, and not its test: the name of the law, and the file of its object.
const COMMAND: &str = "PENSTOCK_OWN_KERNEL";

/// The beginning of the name of a law that is an AQM.
const AQM: &str = "aqm ";
/// The beginning of the name of a law that requires deliveries.
const HEARING: &str = "hearing ";

/// The law of that name, whose object is in a directory of its own, and pins of its own.
struct Own {
    bench: Bench,
    asked: String,
    pins: PathBuf,
}

impl Own {
    /// With an object that is compiled so.
    fn compiled(name: &str, define: &[&str]) -> Self {
        let bench = Bench::new();
        let object = bench.path("brisk.bpf.o");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own_kernel/brisk.bpf.c");
        let name_in_c = format!("LAW_NAME=\"{name}\"");
        let define: Vec<&str> = define.iter().copied().chain([name_in_c.as_str()]).collect();
        Clang::find().unwrap().compile(&source, &[include_dir()], &define, &object).unwrap();
        Self::of(bench, name)
    }

    /// A law that requires deliveries, with an object that is compiled so. It has the name `brisk` too.
    fn hearing(define: &[&str]) -> Self {
        let bench = Bench::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own_kernel/brook.bpf.c");
        let define: Vec<&str> = define.iter().copied().chain(["LAW_NAME=\"brisk\""]).collect();
        Clang::find().unwrap().compile(&source, &[include_dir()], &define, &bench.path("brisk.bpf.o")).unwrap();
        let mut own = Self::of(bench, "brisk");
        own.asked.insert_str(0, HEARING);
        own
    }

    /// The AQM of that name, with an object that is compiled so.
    fn at_device(name: &str, define: &[&str]) -> Self {
        let bench = Bench::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own_kernel/brim.bpf.c");
        let name_in_c = format!("AQM_PROGRAM={}", name.replace('-', "_"));
        let define: Vec<&str> = define.iter().copied().chain([name_in_c.as_str()]).collect();
        Clang::find().unwrap().compile(&source, &[include_dir()], &define, &bench.path("brisk.bpf.o")).unwrap();
        Self::of(bench, name).of_an_aqm()
    }

    /// The same object, of an AQM.
    fn of_an_aqm(mut self) -> Self {
        self.asked.insert_str(0, AQM);
        self
    }

    /// With an object of these bytes.
    fn with(name: &str, object: &[u8]) -> Self {
        let bench = Bench::new();
        fs::write(bench.path("brisk.bpf.o"), object).unwrap();
        Self::of(bench, name)
    }

    fn of(bench: Bench, name: &str) -> Self {
        let asked = format!("{name} {}", bench.path("brisk.bpf.o").display());
        Self { bench, asked, pins: optional::pins("own") }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(arguments).current_dir(self.bench.path(".")).env(COMMAND, &self.asked);
        command.env_remove("RUST_BACKTRACE");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(&self.command(arguments).output().unwrap())
    }

    fn linux(&self, arguments: &[&str]) -> Ended {
        let pins = ["--pins", self.pins.to_str().unwrap()];
        self.run(&["linux"].into_iter().chain(arguments.iter().copied()).chain(pins).collect::<Vec<_>>())
    }

    fn well(&self, arguments: &[&str]) -> String {
        let ended = self.linux(arguments);
        assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.err);
        ended.out
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.linux(&["detach"]);
    }
}

/// The program gives the numbers of the law in Rust, on any observation; one that does not is noticed.
fn a_replay_holds_it_against_its_law() {
    let ended = Own::compiled("brisk", &[]).run(&["linux", "replay"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let row = ended.out.lines().find(|line| line.starts_with("brisk")).unwrap();
    assert!(row.contains("65536") && row.contains("equal"), "{row}");
    let ended = Own::compiled("brisk", &["SLIP"]).run(&["linux", "replay"]);
    assert_eq!(ended.status, 3, "{}", ended.err);
    assert!(ended.err.contains("`brisk`: step ") && ended.err.contains("window of its output is "), "{}", ended.err);
    assert!(ended.err.contains("the error is in this law"), "{}", ended.err);
}

/// Values that a program cannot run with are left out of a replay, and ranges without an end have numbers too.
fn a_replay_leaves_out_what_does_not_fit() {
    let own = Own::compiled("brisk", &[]);
    let replay = |name, value| Ended::of(&own.command(&["linux", "replay"]).env(name, value).output().unwrap());
    let steps = |ended: &Ended| {
        assert_eq!(ended.status, 0, "{}", ended.err);
        let row = ended.out.lines().find(|line| line.starts_with("brisk") && line.contains("equal")).unwrap();
        row.split_whitespace().nth(1).unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(steps(&replay(LIKE, "endless")), 65_536);
    let some = steps(&replay(LIKE, "priced"));
    assert!((4096..65_536).contains(&some), "{some}");
    let nothing = replay(MARKS, "price");
    assert_eq!(nothing.status, 2, "{}", nothing.err);
    let said = "nothing of `brisk` was compared: of 16 choices of parameters none would do";
    assert!(nothing.err.contains(said) && nothing.err.contains("it requires a price"), "{}", nothing.err);
    assert!(nothing.out.lines().any(|line| line.starts_with("brisk") && line.contains("not run")), "{}", nothing.out);
}

const LINE: &str = r#"
format = 1
title = "Brisk"
duration = "3 s"
warmup = "1 s"
[links.bottleneck]
from = "left"
to = "right"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "2 bdp"
duplex = true
[flows.brisk]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
cc = { law = "brisk" }
"#;

/// A scenario runs it on real packets, and the simulator has the same window within a tenth.
fn a_scenario_runs_it_on_the_kernels_tcp() {
    optional::timed(|late| {
        let own = Own::compiled("brisk", &[]);
        own.bench.write("line.toml", LINE);
        let window = |world: &str| {
            let ended = own.run(&["run", "line.toml", "--world", world, "--json"]);
            assert!([0, 4].contains(&ended.status), "{}", ended.err);
            if world == "linux" {
                late.replace(ended.late());
            }
            let summary = ended.result();
            let group = &summary["groups"]["brisk"];
            if world == "linux" {
                let findings = summary["path"]["findings"].to_string();
                assert!(findings.contains("brisk is this program's own, by struct_ops"), "{findings}");
            }
            (group["window_mean_packets"].as_f64().unwrap(), group["goodput_bit_per_s"].as_f64().unwrap())
        };
        let (simulated, real) = (window("packets"), window("linux"));
        assert!(real.1 > 0.85 * 20e6, "{real:?}");
        assert!((real.0 / simulated.0 - 1.0).abs() < 0.1, "{real:?} {simulated:?}");
        assert!(available().iter().all(|name| !name.starts_with("brisk")));
    });
}

/// A mark is a congestion event for a law that asks for it, in the kernel as in the simulator: the queue marks, nothing is dropped,
/// and the window comes down. For a law that ignores marks packets do not ask for ECN, and are dropped.
fn an_echo_of_a_mark_is_a_congestion_event() {
    optional::timed(|late| {
        let own = Own::compiled("brisk", &[]);
        let aqm = "aqm = { law = \"red\", ecn = true, min_threshold = \"5 packets\", max_threshold = \"15 packets\" }";
        let text = LINE
            .replace("duplex", &format!("{aqm}\nduplex"))
            .replace("\"brisk\" }", "\"brisk\", alpha = \"30 packets\" }");
        own.bench.write("line.toml", &text);
        let told = |world: &str, marks: Option<&str>| {
            let mut command = own.command(&["run", "line.toml", "--world", world, "--json"]);
            let ended = Ended::of(&command.envs(marks.map(|marks| (MARKS, marks))).output().unwrap());
            assert!([0, 4].contains(&ended.status), "{}", ended.err);
            if world == "linux" {
                late.replace(ended.late());
            }
            let summary = ended.result();
            let (group, link) = (&summary["groups"]["brisk"], &summary["links"]["bottleneck"]);
            [&group["window_mean_packets"], &link["marks"], &link["drops"]].map(|figure| figure.as_f64().unwrap())
        };
        let ([simulated, ..], [real, marks, drops]) = (told("packets", Some("cut")), told("linux", Some("cut")));
        assert!(marks > 10.0 && drops == 0.0, "{marks} marks, {drops} drops");
        assert!((real / simulated - 1.0).abs() < 0.1, "{real} {simulated}");
        let [_, marks, drops] = told("linux", None);
        assert!(marks == 0.0 && drops > 10.0, "{marks} marks, {drops} drops");
    });
}

/// One error, and nothing is left: neither a pin nor a controller.
fn what_does_not_fit_is_refused() {
    let whole = fs::read(Own::compiled("brisk", &[]).bench.path("brisk.bpf.o")).unwrap_or_default();
    let native = fs::read(env::current_exe().unwrap()).unwrap();
    let long = "brisk-beyond-all-names";
    for (own, status, said) in [
        (Own::with("brisk", b"not an object"), 2, "it is no ELF object for BPF"),
        (Own::with("brisk", &native[..4096]), 2, "it is no ELF object for BPF"),
        (Own::with("brisk", &whole[..whole.len().min(4096)]), 3, "the kernel refused the program `brisk`"),
        (Own::with("brisk", b""), 3, "this build has no kernel program of `brisk`"),
        (Own::compiled("brisk", &["NO_OPS"]), 2, "it has no struct_ops"),
        (
            Own::compiled("brisk", &["WIDE"]),
            2,
            "its section .rodata.law has 32 B, and the parameters of the law take 24 B",
        ),
        (Own::with(long, &whole), 2, "has 22 characters, and a controller of the kernel 15 at most: rename the law"),
        (Own::with("quick", &whole), 2, "are not `struct tcp_congestion_ops` of cc/tcp.h with the name \"quick\""),
        (Own::compiled("brisk", &["HOST", "UNLINKED"]), 2, "are in `.struct_ops`: write SEC(\".struct_ops.link\")"),
        (
            Own::with("brisk", &with_other(&whole, b".rodata.habits\0", 16)),
            2,
            "with the headers of another version of Penstock",
        ),
        (Own::compiled("reno", &[]), 2, "this kernel has a controller `reno` already"),
    ] {
        let name = own.asked.split(' ').next().unwrap();
        let before = available();
        let ended = own.linux(&["attach", name]);
        assert_eq!(ended.status, status, "{said}: {}", ended.err);
        assert!(ended.err.contains(said), "no `{said}` in {}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "one error: {}", ended.err);
        assert_eq!((available(), own.pins.exists()), (before, false), "{said}");
        // The simulator runs the law whatever its object is.
        assert_eq!(own.run(&["laws", name]).status, 0);
    }
}

/// The object, as if the word for the version of the headers, at that place of a section, were another.
fn with_other(object: &[u8], of: &[u8], place: usize) -> Vec<u8> {
    let number =
        |at: usize, size: usize| object[at..at + size].iter().rev().fold(0, |sum, byte| sum << 8 | *byte as usize);
    // Of an ELF file: where the table of sections is, how many it has, and which of them has their names.
    let (table, count, names) = (number(0x28, 8), number(0x3c, 2), number(0x3e, 2));
    let section = |at: usize| table + 64 * at;
    let name = |at: usize| number(section(names) + 24, 8) + number(section(at), 4);
    let found = (0..count).find(|at| object[name(*at)..].starts_with(of)).unwrap();
    let mut other = object.to_vec();
    other[number(section(found) + 24, 8) + place] = 77;
    other
}

/// Parameters that an attachment has no place for, or the program none.
fn parameters_that_do_not_fit_are_refused() {
    let own = Own::compiled("brisk", &[]);
    for (like, said) in [
        ("wordless", "its section .rodata.law has 24 B, and the parameters of the law take 0 B"),
        ("wordy", "the law `brisk` has too many parameters: their names and values take "),
    ] {
        let attach = ["linux", "attach", "brisk", "--pins", own.pins.to_str().unwrap()];
        let ended = Ended::of(&own.command(&attach).env(LIKE, like).output().unwrap());
        assert_eq!(ended.status, 2, "{}", ended.err);
        assert!(ended.err.contains(said), "no `{said}` in {}", ended.err);
        assert_eq!((ended.err.lines().count(), own.pins.exists()), (1, false), "{}", ended.err);
    }
}

/// Maps of a program are called what it likes.
fn maps_of_any_name_disturb_nobody() {
    let own = Own::compiled("brisk", &["HOST", "MAPS"]);
    own.well(&["attach", "brisk"]);
    let status: Value = serde_json::from_str(&own.well(&["status", "--json"])).unwrap();
    assert_eq!(
        (status[0]["kind"].as_str(), &status[0]["figures"]["capacity"]),
        (Some("controller"), &Value::Null),
        "{status}"
    );
    assert_eq!(own.well(&["detach"]), "detached: cc-brisk\n");
}

/// A requirement that controller.h does not measure is refused before anything is loaded, by scenarios too.
fn what_the_host_does_not_measure_is_refused() {
    let own = Own::compiled("brisk", &[]);
    own.bench.write("line.toml", LINE);
    let pins = own.pins.to_str().unwrap();
    for arguments in [&["linux", "attach", "brisk", "--pins", pins][..], &["run", "line.toml", "--world", "linux"]] {
        let ended = Ended::of(&own.command(arguments).env(MARKS, "price").output().unwrap());
        assert!([2, 3].contains(&ended.status), "{}", ended.err);
        assert!(ended.err.contains("it requires a price, which cc/controller.h does not measure"), "{}", ended.err);
    }
    assert!(!own.pins.exists());
}

fn main() -> ExitCode {
    if let Ok(asked) = env::var(COMMAND) {
        if let Some(what @ ("hears" | "sends")) = env::args().nth(1).as_deref() {
            // The path ends the other end when one has ended.
            return ExitCode::from(u8::from(traffic::end(what).is_err()));
        }
        let registry = if let Some(asked) = asked.strip_prefix(AQM) {
            brim::registry(asked)
        } else if let Some(asked) = asked.strip_prefix(HEARING) {
            brook::registry(asked)
        } else {
            brisk::registry(&asked)
        };
        return penstock_cli::run(registry);
    }
    let missing =
        attach::missing(&attach::pins::Pins::at("/sys/fs/bpf/penstock-own")).map(|missing| missing.to_string());
    let missing = missing.or_else(|| Clang::find().err().map(|missing| missing.to_string()));
    optional::run(
        &[
            ("it_carries_data_and_goes_again", traffic::it_carries_data_and_goes_again as fn()),
            ("it_writes_a_trace", traffic::it_writes_a_trace),
            ("a_window_is_reduced_once", traffic::a_window_is_reduced_once),
            ("every_missed_period_is_made_up_for", traffic::every_missed_period_is_made_up_for),
            ("a_replay_holds_it_against_its_law", a_replay_holds_it_against_its_law),
            ("a_replay_leaves_out_what_does_not_fit", a_replay_leaves_out_what_does_not_fit),
            ("a_scenario_runs_it_on_the_kernels_tcp", a_scenario_runs_it_on_the_kernels_tcp),
            ("an_echo_of_a_mark_is_a_congestion_event", an_echo_of_a_mark_is_a_congestion_event),
            ("what_does_not_fit_is_refused", what_does_not_fit_is_refused),
            ("parameters_that_do_not_fit_are_refused", parameters_that_do_not_fit_are_refused),
            ("maps_of_any_name_disturb_nobody", maps_of_any_name_disturb_nobody),
            ("what_the_host_does_not_measure_is_refused", what_the_host_does_not_measure_is_refused),
            ("a_replay_holds_deliveries_against_their_law", deliveries::a_replay_holds_deliveries_against_their_law),
            ("what_no_acknowledgement_has_is_refused", deliveries::what_no_acknowledgement_has_is_refused),
            ("the_delivery_rate_is_the_paths", deliveries::the_delivery_rate_is_the_paths),
            ("every_packet_comes_with_an_acknowledgement", deliveries::every_packet_comes_with_an_acknowledgement),
            ("an_aqm_decides_as_its_law_does", decisions::an_aqm_decides_as_its_law_does),
            ("an_aqm_marks_at_a_device_and_goes_again", device::an_aqm_marks_at_a_device_and_goes_again),
            ("other_parameters_keep_what_an_aqm_has_learned", device::other_parameters_keep_what_an_aqm_has_learned),
            ("a_replay_holds_an_aqm_against_its_law", device::a_replay_holds_an_aqm_against_its_law),
            ("programs_of_aqms_that_do_not_fit_are_refused", device::programs_of_aqms_that_do_not_fit_are_refused),
            ("what_no_device_has_is_refused", device::what_no_device_has_is_refused),
        ],
        optional::kernel(missing),
    )
}
