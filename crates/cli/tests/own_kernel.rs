//! A program with a law of its own that brings a kernel program. This test is that program, too: it starts itself. Needs root, a
//! kernel with struct_ops, and clang.

mod bench;
mod optional;

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;
use std::{env, fs};

use bench::{Bench, Ended};
use penstock_kernel::attach;
use penstock_kernel_build::{Clang, include_dir};
use penstock_law::cc::{self, Controller, Event, Marks, RttAverage};
use penstock_law::estimate::MarkEstimate;
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::{Entry, Fix, KernelProgram, Law, Number, Observables, Registry, Values, numbers};
use penstock_machine::namespace::Namespace;
use serde_json::Value;

/// What makes this the command, and not its test: the name of the law, and the file of its object.
const COMMAND: &str = "PENSTOCK_OWN_KERNEL";
/// What the law makes of marks unless it ignores them: `price`, which controller.h does not measure, or `cut`.
const MARKS: &str = "PENSTOCK_OWN_KERNEL_MARKS";

/// `steady` of examples/own-law with an average round trip, a period and a gap, so that all is used that controller.h has.
#[derive(Debug)]
struct Brisk<N> {
    alpha: N,
    gain: N,
    rise: N,
    start: N,
}

numbers! {
    /// What it remembers.
    struct State {
        /// Congestion window.
        window: "packets" as "Congestion window",
    }
    frozen {
        /// Periods so far.
        ticks: u32,
    }
}

impl<N: Number> Law<N> for Brisk<N> {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, context: &cc::Context) -> Result<Self, String> {
        let [alpha, gain, rise] = ["alpha", "gain", "rise"].map(|name| N::of(values.number(name)));
        Ok(Self { alpha, gain, rise, start: N::of(context.initial_window) })
    }
    fn initial_state(&self) -> State<N> {
        State { window: self.start, ticks: 0 }
    }
    fn on_event(&self, state: &mut State<N>, event: Event, observation: &cc::Observation<N>) {
        match event {
            Event::Ack { packets, .. } if observation.rtt_s > N::of(0.0) => {
                let queued = state.window * (N::of(1.0) - observation.base_rtt_s / observation.rtt_s);
                let step = self.gain * (self.alpha - queued) / state.window;
                state.window += N::count(packets) * step;
            }
            Event::Ack { .. } => {}
            Event::Tick => {
                state.ticks += 1;
                if state.ticks.is_multiple_of(4) {
                    state.window += self.rise;
                }
            }
            Event::Round => state.window -= self.rise,
            Event::Cut | Event::Timeout => state.window *= N::of(0.5),
        }
        state.window = state.window.max(N::of(2.0));
    }
    fn output(&self, state: &State<N>, observation: &cc::Observation<N>) -> cc::Output<N> {
        cc::Output { window: state.window, gap_s: observation.rtt_s / state.window }
    }
    fn requirements(&self) -> cc::Requirements {
        let estimate = MarkEstimate { packets: 40, phi: 1000.0 };
        cc::Requirements {
            tick_s: Some(0.01),
            average_rtt: Some(RttAverage { over_window: 3.0, most: 0.25 }),
            marks: match env::var(MARKS).as_deref() {
                Ok("price") => Marks::Price(estimate),
                Ok(_) => Marks::Cut,
                Err(_) => Marks::Ignored,
            },
            ..cc::Requirements::LEAST
        }
    }
}

const PARAMETERS: &[Parameter] = &[
    Parameter::number("alpha", Unit::Packets, 10.0, [1.0, 1e6], "packets that it keeps queued", "a test"),
    Parameter::number("gain", Unit::One, 0.5, [0.001, 1.0], "share of the error", "a test"),
    Parameter::number("rise", Unit::Packets, 0.5, [0.0, 10.0], "step of four periods", "a test"),
];

/// The registry of the command that this is.
fn registry(asked: &str) -> Registry {
    let (name, object) = asked.split_once(' ').expect("a name and a file");
    let program: KernelProgram<Controller> = KernelProgram {
        object: fs::read(object).unwrap().leak(),
        words: |values, context| {
            let Brisk::<Fix<32>> { alpha, gain, rise, .. } = Brisk::compile(values, context)?;
            Ok([alpha, gain, rise].map(|word| word.0).to_vec())
        },
    };
    let entry = Entry {
        name: name.to_owned().leak(),
        title: "a controller with a kernel program",
        source: "a test",
        colour: "#000000",
        parameters: PARAMETERS,
        observables: Observables::of::<Brisk<f64>>(),
        linearisation: Linearisation::Unsupported("a test"),
        real: &build::<f64, Brisk<f64>>,
        dual: None,
        fixed: Some(&build::<Fix<32>, Brisk<Fix<32>>>),
        kernel: Some(Box::leak(Box::new(program))),
    };
    Registry::standard().with(Box::leak(Box::new(entry))).expect("an entry that a registry takes")
}

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

    /// With an object of these bytes.
    fn with(name: &str, object: &[u8]) -> Self {
        let bench = Bench::new();
        fs::write(bench.path("brisk.bpf.o"), object).unwrap();
        Self::of(bench, name)
    }

    fn of(bench: Bench, name: &str) -> Self {
        let asked = format!("{name} {}", bench.path("brisk.bpf.o").display());
        Self { bench, asked, pins: format!("/sys/fs/bpf/penstock-own-{}", std::process::id()).into() }
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

fn available() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

fn eventually(holds: impl Fn() -> bool) {
    let look = |_| {
        thread::sleep(Duration::from_millis(25));
        holds()
    };
    assert!((0..200).any(look), "not within five seconds");
}

/// Over loopback, under the default controller.
fn send(bytes: usize) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:5000")?;
    let reading = thread::spawn(move || io::copy(&mut listener.accept()?.0, &mut io::sink()));
    let mut stream = TcpStream::connect("127.0.0.1:5000")?;
    stream.write_all(&vec![0; bytes])?;
    drop(stream);
    assert_eq!(reading.join().unwrap()?, bytes as u64);
    Ok(())
}

/// Attached as the default of a namespace, told of, changed, and detached: as a law of Penstock.
fn it_carries_data_and_goes_again() {
    let own = Own::compiled("brisk", &[]);
    let namespace = Namespace::new().unwrap();
    let default = || fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").map(|text| text.trim().to_owned());
    namespace
        .within(|| {
            assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status()?.success());
            let before = default()?;
            let said = own.well(&["attach", "brisk", "--default", "namespace", "--set", "law.alpha=20 packets"]);
            assert!(said.starts_with("brisk is attached: sockets, as `brisk`; the default of"), "{said}");
            assert_eq!(default()?, "brisk");
            send(20_000_000)?;
            let status: Value = serde_json::from_str(&own.well(&["status", "--json"])).unwrap();
            let of = &status[0];
            assert_eq!((&of["name"], &of["kind"]), (&"brisk".into(), &"controller".into()), "{status}");
            assert_eq!(of["parameters"]["alpha"], "20 packets");
            assert!(of["figures"]["connections"].as_f64() >= Some(2.0), "both ends: {status}");
            assert!(of["figures"]["verified_instructions"].as_f64() > Some(0.0), "{status}");
            own.well(&["attach", "brisk", "--set", "law.alpha=30 packets"]);
            send(1_000_000)?;
            assert!(own.well(&["status"]).contains("alpha = 30 packets"));
            let refused = own.linux(&["attach", "brisk", "--set", "law.alhpa=30 packets"]);
            assert!(refused.status == 2 && refused.err.contains("no parameter `alhpa`"), "{}", refused.err);
            assert_eq!(own.well(&["detach", "brisk"]), "detached: cc-brisk\n");
            assert_eq!(default()?, before);
            Ok(())
        })
        .unwrap();
    assert!(!own.pins.exists());
    eventually(|| !available().contains(&"brisk".to_owned()));
}

/// Each acknowledgement has its window: the fields of a trace are those of Penstock's controllers.
fn it_writes_a_trace() {
    let own = Own::compiled("brisk", &[]);
    let namespace = Namespace::new().unwrap();
    namespace
        .within(|| {
            assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status()?.success());
            own.well(&["attach", "brisk", "--default", "namespace", "--trace"]);
            let mut trace =
                own.command(&["linux", "trace", "brisk", "--time", "2 s", "--pins", own.pins.to_str().unwrap()]);
            let mut trace = trace.stdout(std::process::Stdio::piped()).spawn()?;
            thread::sleep(Duration::from_millis(300));
            send(8_000_000)?;
            let mut text = String::new();
            trace.stdout.take().unwrap().read_to_string(&mut text)?;
            assert!(trace.wait()?.success());
            let windows: Vec<f64> =
                text.lines().skip(1).map(|line| line.split(',').nth(7).unwrap().parse().unwrap()).collect();
            assert!(windows.len() > 5 && windows.iter().all(|window| *window >= 2.0), "{text}");
            assert!(windows.iter().any(|window| window.fract() != 0.0), "the law's window, not the kernel's: {text}");
            Ok(())
        })
        .unwrap();
}

/// The program gives the numbers of the law in Rust, on whatever it is told; one that does not is noticed.
fn a_replay_holds_it_against_its_law() {
    let ended = Own::compiled("brisk", &[]).run(&["linux", "replay"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let row = ended.out.lines().find(|line| line.starts_with("brisk")).unwrap();
    assert!(row.contains("65536") && row.contains("equal"), "{row}");
    let ended = Own::compiled("brisk", &["SLIP"]).run(&["linux", "replay"]);
    assert_eq!(ended.status, 3, "{}", ended.err);
    assert!(ended.err.contains("`brisk`: step ") && ended.err.contains("window that it answers is "), "{}", ended.err);
    assert!(ended.err.contains("the error is in this law"), "{}", ended.err);
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
        (Own::with("brisk", &whole[..whole.len().min(4096)]), 3, "the kernel did not take `brisk`"),
        (Own::with("brisk", b""), 3, "this build has no kernel program of `brisk`"),
        (Own::compiled("brisk", &["NO_OPS"]), 2, "it has no struct_ops"),
        (Own::compiled("brisk", &["WIDE"]), 2, "its .rodata.law has 32 B, and 24 B are for it"),
        (Own::with(long, &whole), 2, "has 22 characters, and a controller of the kernel 15 at most: rename the law"),
        (Own::with("quick", &whole), 2, "are not `struct tcp_congestion_ops` of cc/tcp.h with the name \"quick\""),
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

/// What a law asks for and controller.h does not measure is refused before anything is loaded, by scenarios too.
fn what_the_host_does_not_measure_is_refused() {
    let own = Own::compiled("brisk", &[]);
    own.bench.write("line.toml", LINE);
    let pins = own.pins.to_str().unwrap();
    for arguments in [&["linux", "attach", "brisk", "--pins", pins][..], &["run", "line.toml", "--world", "linux"]] {
        let ended = Ended::of(&own.command(arguments).env(MARKS, "price").output().unwrap());
        assert!([2, 3].contains(&ended.status), "{}", ended.err);
        assert!(ended.err.contains("it asks for a price, which cc/controller.h does not have"), "{}", ended.err);
    }
    assert!(!own.pins.exists());
}

fn main() -> ExitCode {
    if let Ok(asked) = env::var(COMMAND) {
        return penstock_cli::run(registry(&asked));
    }
    let missing =
        attach::missing(&attach::pins::Pins::at("/sys/fs/bpf/penstock-own")).map(|missing| missing.to_string());
    let missing = missing.or_else(|| Clang::find().err().map(|missing| missing.to_string()));
    optional::run(
        &[
            ("it_carries_data_and_goes_again", it_carries_data_and_goes_again as fn()),
            ("it_writes_a_trace", it_writes_a_trace),
            ("a_replay_holds_it_against_its_law", a_replay_holds_it_against_its_law),
            ("a_scenario_runs_it_on_the_kernels_tcp", a_scenario_runs_it_on_the_kernels_tcp),
            ("an_echo_of_a_mark_is_a_congestion_event", an_echo_of_a_mark_is_a_congestion_event),
            ("what_does_not_fit_is_refused", what_does_not_fit_is_refused),
            ("what_the_host_does_not_measure_is_refused", what_the_host_does_not_measure_is_refused),
        ],
        optional::kernel(missing),
    )
}
