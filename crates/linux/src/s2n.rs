//! The own controllers of s2n-quic, under names of the registry.
//!
//! Every program with QUIC knows the names. The code behind them is a part of programs that are built with the feature `s2n`.

use penstock_law::cc::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use penstock_law::law::{Entry, Law, Linearisation, Observables, build};
use penstock_law::numbers;
use penstock_law::parameter::Values;

const fn entry(name: &'static str, title: &'static str, colour: &'static str) -> Entry<Controller> {
    Entry {
        name,
        title,
        source: "s2n-quic-core 0.91, src/recovery",
        colour,
        parameters: &[],
        observables: Observables::of::<OnlyInS2n>(),
        linearisation: Linearisation::Unsupported("its code is s2n-quic's"),
        real: &build::<f64, OnlyInS2n>,
        dual: None,
        fixed: None,
        kernel: None,
    }
}

/// The controllers that s2n-quic brings. Only s2n-quic runs them: `--world linux --generator quic`.
pub static CONTROLLERS: [Entry<Controller>; 2] = [
    entry("s2n-cubic", "CUBIC by the code of the QUIC stack s2n-quic, in programs with the feature `s2n`", "#1f5f6b"),
    entry(
        "s2n-bbr",
        "BBR, version 2, by the code of the QUIC stack s2n-quic, in programs with the feature `s2n`",
        "#8a5a12",
    ),
];

/// Whether it is the name of one of them.
pub fn is_own(name: &str) -> bool {
    CONTROLLERS.iter().any(|entry| entry.name == name)
}

/// The remedy where this program lacks s2n-quic, and the name is of one of its controllers.
pub fn missing(name: &str) -> Option<&'static str> {
    (is_own(name) && !cfg!(feature = "s2n"))
        .then_some("build the program with `cargo build --release -p penstock-cli --features s2n`")
}

numbers! {
    /// Known facts of it before it runs.
    struct Window {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
    }
}

/// A name for an algorithm that only s2n-quic has: its interface for other programs' controllers is not stable, and neither is
/// that of its own.
#[derive(Debug)]
struct OnlyInS2n {
    initial_window: f64,
}

impl Law<f64> for OnlyInS2n {
    type Role = Controller;
    type State = Window<f64>;

    fn compile(_: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self { initial_window: context.initial_window })
    }

    fn initial_state(&self) -> Window<f64> {
        Window { window: self.initial_window }
    }

    fn on_event(&self, _: &mut Window<f64>, _: Event, _: &Observation<f64>) {}

    fn output(&self, state: &Window<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: state.window, gap_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        Requirements { marks: Marks::Congestion, kernel: true, ..Requirements::LEAST }
    }
}
