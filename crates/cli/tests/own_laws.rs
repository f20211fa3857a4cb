//! A program with laws of its own, as [`penstock_cli::run`] makes one. This test is that program, too: it starts itself.

mod bench;
#[path = "own_laws/defects.rs"]
mod defects;
mod optional;

use std::env;
use std::fs;
use std::process::{Command, ExitCode};

use bench::{Bench, Ended, SMALL};
use penstock_law::aqm::{self, Aqm, Decides};
use penstock_law::cc::{self, Controller};
use penstock_law::law::{Linearisation, build};
use penstock_law::parameter::Parameter;
use penstock_law::{Dual, Entry, Law, Number, Observables, Registry, Values, numbers};

/// The variable that makes this the command, and not its test.
const COMMAND: &str = "PENSTOCK_OWN_LAWS";

/// A controller whose output is no valid number, from its first round on.
static ODD: Entry<Controller> = Entry {
    name: "odd",
    title: "a window that is not a number",
    source: "a test",
    colour: "#000000",
    parameters: &[Parameter::choice("window", &["nan", "negative", "panic"], "its output", "a test")],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, Odd>,
    dual: Some(&build::<Dual, Odd>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Odd {
    output: f64,
    panics: bool,
}

numbers! {
    /// One number.
    struct State {
        /// Its output.
        output: "1",
    }
}

impl<N: Number> Law<N> for Odd {
    type Role = Controller;
    type State = State<N>;

    fn compile(values: &Values, _: &cc::Context) -> Result<Self, String> {
        let window = values.number("window");
        Ok(Self { output: if window == 0.0 { f64::NAN } else { -1.0 }, panics: window == 2.0 })
    }
    fn initial_state(&self) -> State<N> {
        State { output: N::of(4.0) }
    }
    fn on_event(&self, state: &mut State<N>, event: cc::Event, _: &cc::Observation<N>) {
        if event == cc::Event::Round {
            assert!(!self.panics, "an odd law");
            state.output = N::of(self.output);
        }
    }
    fn output(&self, state: &State<N>, _: &cc::Observation<N>) -> cc::Output<N> {
        cc::Output { window: state.output, gap_s: N::of(0.0) }
    }
    fn requirements(&self) -> cc::Requirements {
        cc::Requirements::LEAST
    }
}

/// An AQM that does so from its first tick on.
static ODD_QUEUE: Entry<Aqm> = Entry {
    name: "odd-queue",
    title: "a probability that is not a number",
    source: "a test",
    colour: "#000000",
    parameters: &[],
    observables: Observables::NONE,
    linearisation: Linearisation::Automatic,
    real: &build::<f64, OddQueue>,
    dual: Some(&build::<Dual, OddQueue>),
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct OddQueue;

impl<N: Number> Law<N> for OddQueue {
    type Role = Aqm;
    type State = State<N>;

    fn compile(_: &Values, _: &aqm::Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> State<N> {
        State { output: N::of(0.0) }
    }
    fn on_event(&self, state: &mut State<N>, _: aqm::Event, _: &aqm::Observation<N>) {
        state.output = N::of(f64::NAN);
    }
    fn output(&self, state: &State<N>, _: &aqm::Observation<N>) -> aqm::Output<N> {
        aqm::Output { probability: state.output, price_s: N::of(0.0) }
    }
    fn requirements(&self) -> aqm::Requirements {
        aqm::Requirements { tick_s: Some(0.01), decides: Decides::OnDeparture, marks: true, ..aqm::Requirements::LEAST }
    }
}

fn run(bench: &Bench, arguments: &[&str]) -> Ended {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(arguments).current_dir(bench.path(".")).env(COMMAND, "1").env_remove("RUST_BACKTRACE");
    Ended::of(&command.output().unwrap())
}

/// The law is at fault, and the message says which, where, when and by what value; it is no bug of Penstock.
fn an_output_that_is_not_a_number_is_the_error_of_the_law() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let queue = "links.bottleneck.aqm={ law = \"odd-queue\" }";
    let probability = ["links.bottleneck.aqm: ", "the output of `odd-queue` was a probability or a price of NaN"];
    for world in ["packets", "fluid"] {
        for (change, [whose, said]) in [
            ("flows.ftp.cc={ law = \"odd\" }", ["flows.ftp, flow ", "the output of `odd` was a window of NaN packets"]),
            (
                "flows.ftp.cc={ law = \"odd\", window = \"negative\" }",
                ["flows.ftp, flow ", "the output of `odd` was a window of -1 packets"],
            ),
            (queue, probability),
        ] {
            let ended = run(&bench, &["run", "small.toml", "--world", world, "--set", change]);
            assert_eq!(ended.status, 3, "{world} {change}: {}", ended.err);
            for words in [whose, said, " s into the run ", "the error is in this law"] {
                assert!(ended.err.contains(words), "no `{words}` in {}", ended.err);
            }
            assert!(!ended.err.contains("bug in penstock"), "{}", ended.err);
        }
    }
}

/// Messages have the name of the program, not that of Penstock's command; and a panic may be the law's as well as ours.
fn messages_have_the_name_of_the_program() {
    let program = env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let bench = Bench::new();
    bench.write("small.toml", SMALL).write("wrong.toml", "format = 1\nbogus = 2\n");
    for (arguments, status) in [
        (&["run", "small.toml", "--world", "fluid", "--set", "flows.ftp.cc={ law = \"cubic\" }"][..], 3),
        (&["run", "wrong.toml"], 2),
        (&["run", "nowhere.toml"], 2),
        (&["check", "small.toml", "--world", "fluid", "--set", "flows.ftp.cc={ law = \"cubic\" }"], 3),
        (&["analyze", "small.toml"], 2),
    ] {
        let ended = run(&bench, arguments);
        assert_eq!(ended.status, status, "{arguments:?}: {}", ended.err);
        assert!(ended.err.starts_with(&format!("{program}: ")), "{}", ended.err);
        assert!(!ended.err.contains("penstock: ") && !ended.err.contains("`penstock "), "{}", ended.err);
    }
    // A command that would do is this program's: Penstock's own has not these laws, and may not be there.
    assert_eq!(run(&bench, &["run", "small.toml"]).status, 0);
    fs::write(bench.path("out/small-seed1/links.parquet"), "").unwrap();
    for (arguments, remedy) in [
        (&["run", "bufferbloat.toml"], "examples bufferbloat > bufferbloat.toml` writes"),
        (&["report", "out/small-seed1"], "run out/small-seed1/record.toml` makes"),
    ] {
        let ended = run(&bench, arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(&format!("`{program} {remedy}")), "{}", ended.err);
        assert!(!ended.err.contains("`penstock "), "{}", ended.err);
    }
    let panic = "flows.ftp.cc={ law = \"odd\", window = \"panic\" }";
    let ended = run(&bench, &["run", "small.toml", "--set", panic]);
    assert_eq!(ended.status, 70, "{}", ended.err);
    let words = ["or in a law of this program: an odd law", "own_laws.rs:"];
    assert!(words.iter().all(|words| ended.err.contains(words)), "{}", ended.err);
}

fn main() -> ExitCode {
    if env::var_os(COMMAND).is_some() {
        let registry = Registry::standard()
            .with(&ODD)
            .and_then(|registry| registry.with(&ODD_QUEUE))
            .and_then(|registry| registry.with(&defects::FLAWED));
        return penstock_cli::run(registry.expect("entries that a registry takes"));
    }
    optional::run(
        &[
            (
                "an_output_that_is_not_a_number_is_the_error_of_the_law",
                an_output_that_is_not_a_number_is_the_error_of_the_law as fn(),
            ),
            ("messages_have_the_name_of_the_program", messages_have_the_name_of_the_program),
            ("a_law_that_does_not_halve_starves_others", defects::a_law_that_does_not_halve_starves_others),
            ("a_law_that_ignores_timeouts_does_not_back_off", defects::a_law_that_ignores_timeouts_does_not_back_off),
            (
                "a_law_that_never_leaves_slow_start_causes_excessive_loss",
                defects::a_law_that_never_leaves_slow_start_causes_excessive_loss,
            ),
            (
                "a_law_that_paces_at_twice_its_rate_causes_excessive_loss",
                defects::a_law_that_paces_at_twice_its_rate_causes_excessive_loss,
            ),
        ],
        None,
    )
}
