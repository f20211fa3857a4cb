//! quinn's own controllers, under names of the registry, and laws as controllers of quinn.

mod estimates;
pub(crate) mod keys;
mod own;

use std::sync::Arc;

use penstock_law::cc::{Context, Controller, Event, Marks, Observation, Output, Requirements};
use penstock_law::law::{Build, Entry, Law, Linearisation, Observables, build};
use penstock_law::numbers;
use penstock_law::parameter::{Parameter, Values};
use penstock_quinn::{Hosted, LawConfig};
use penstock_scenario::model::Chosen;
use quinn::congestion::{self, BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};

use own::{Cubic, NewReno, OfQuinn};

/// A factory of quinn's controllers.
pub(crate) type Makes = Arc<dyn ControllerFactory + Send + Sync>;

const PARAMETERS: &[Parameter] = &[Parameter::switch(
    "ecn",
    true,
    "use ECN: routers can mark packets instead of dropping them; over QUIC, `false` clears the ECN field of what quinn sends",
    "RFC 9002, section 7.1",
)];

const fn entry(
    name: &'static str,
    title: &'static str,
    colour: &'static str,
    real: Build<f64, Controller>,
) -> Entry<Controller> {
    Entry {
        name,
        title,
        source: "quinn-proto 0.11, src/congestion",
        colour,
        parameters: PARAMETERS,
        observables: Observables::of::<OnlyInQuinn>(),
        linearisation: Linearisation::Unsupported("its code is quinn's"),
        real,
        dual: None,
        fixed: None,
        kernel: None,
    }
}

/// The controllers that quinn brings. The packets world and quinn run the first two of them, and nothing but quinn BBR:
/// `--world linux --generator quic`.
pub static CONTROLLERS: [Entry<Controller>; 3] = [
    entry("quinn-newreno", "NewReno by the code of the QUIC stack quinn", "#7a2a08", &build::<f64, OfQuinn<NewReno>>),
    entry("quinn-cubic", "CUBIC by the code of the QUIC stack quinn", "#16367a", &build::<f64, OfQuinn<Cubic>>),
    entry("quinn-bbr", "BBR, version 1, by the code of the QUIC stack quinn", "#6e451c", &build::<f64, OnlyInQuinn>),
];

numbers! {
    /// Known facts of it before it runs.
    struct Window {
        /// Congestion window: how many packets may be in flight.
        window: "packets" as "Congestion window",
    }
}

/// A name for an algorithm that only quinn has: its BBR hears of each packet when it leaves.
#[derive(Debug)]
struct OnlyInQuinn {
    ecn: bool,
    initial_window: f64,
}

impl Law<f64> for OnlyInQuinn {
    type Role = Controller;
    type State = Window<f64>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        Ok(Self { ecn: values.switch("ecn"), initial_window: context.initial_window })
    }

    fn initial_state(&self) -> Window<f64> {
        Window { window: self.initial_window }
    }

    fn on_event(&self, _: &mut Window<f64>, _: Event, _: &Observation<f64>) {}

    fn output(&self, state: &Window<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: state.window, gap_s: 0.0 }
    }

    fn requirements(&self) -> Requirements {
        let marks = if self.ecn { Marks::Congestion } else { Marks::Ignored };
        Requirements { marks, kernel: true, ..Requirements::LEAST }
    }
}

/// Whether the packets world runs that controller of quinn.
pub fn is_simulated(name: &str) -> bool {
    ["quinn-newreno", "quinn-cubic"].contains(&name)
}

fn is_of_quinn(law: &Entry<Controller>) -> bool {
    CONTROLLERS.iter().any(|own| own.name == law.name)
}

/// Whether quinn can have the law: the reason, and the remedy.
pub(crate) fn hosted(law: &'static Entry<Controller>, values: &Values) -> Result<(), (String, String)> {
    if is_of_quinn(law) {
        return Ok(());
    }
    let built = LawConfig::with_values(law, values.clone()).build();
    built.map(drop).map_err(|e| (e.to_string(), "choose another law, or leave out --generator".to_owned()))
}

/// The factory of controllers of a flow whose datagrams have `mtu` bytes, with the window at the start [packets], and their
/// name.
pub(crate) fn makes(chosen: &Chosen<Controller>, mtu: u16, initial_window: f64, seed: u64) -> (Makes, String) {
    let law = chosen.law;
    let window = (initial_window * f64::from(mtu)) as u64;
    let own: Option<Makes> = match law.name {
        "quinn-newreno" => {
            let mut config = NewRenoConfig::default();
            config.initial_window(window);
            Some(Arc::new(config))
        }
        "quinn-cubic" => {
            let mut config = CubicConfig::default();
            config.initial_window(window);
            Some(Arc::new(config))
        }
        "quinn-bbr" => {
            let mut config = BbrConfig::default();
            config.initial_window(window);
            Some(Arc::new(config))
        }
        _ => None,
    };
    if let Some(own) = own {
        return (own, format!("{} of quinn", law.name.trim_start_matches("quinn-")));
    }
    let config = LawConfig::with_values(law, chosen.values.clone()).seed(seed).initial_window(initial_window);
    let factory = config.build().expect("it was built when the run was planned");
    (Arc::new(factory), format!("{} through penstock-quinn", law.name))
}

/// Why a connection's controller was not its law: some outputs were no windows or gaps, in whose place the host kept the ones
/// before. The result is then not the law's.
pub(crate) fn complaint(controller: Box<dyn congestion::Controller>) -> Option<String> {
    let unsound = controller.into_any().downcast::<Hosted>().ok()?.unsound();
    let times = if unsound == 1 { "once".to_owned() } else { format!("{unsound} times") };
    (unsound > 0).then(|| {
        format!("the output of its law was {times} a window or a gap that is negative, infinite or not a number")
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "quinn makes a controller at one")]
mod tests {
    use std::time::Instant;

    use super::*;

    /// A law without a window.
    #[derive(Debug)]
    struct Broken;

    impl Law<f64> for Broken {
        type Role = Controller;
        type State = Window<f64>;

        fn compile(_: &Values, _: &Context) -> Result<Self, String> {
            Ok(Self)
        }

        fn initial_state(&self) -> Window<f64> {
            Window { window: f64::NAN }
        }

        fn on_event(&self, _: &mut Window<f64>, _: Event, _: &Observation<f64>) {}

        fn output(&self, state: &Window<f64>, _: &Observation<f64>) -> Output<f64> {
            Output { window: state.window, gap_s: 0.0 }
        }

        fn requirements(&self) -> Requirements {
            Requirements::LEAST
        }
    }

    static BROKEN: Entry<Controller> = Entry {
        observables: Observables::of::<Broken>(),
        linearisation: Linearisation::Unsupported("it has no window"),
        ..entry("broken", "a law without a window", "#000000", &build::<f64, Broken>)
    };

    #[test]
    fn a_law_without_a_window_is_told_from_one_with() {
        let complaint_of = |law: &'static Entry<Controller>| {
            let factory = Arc::new(LawConfig::with_values(law, Values::defaults(law.parameters)).build().unwrap());
            complaint(factory.build(Instant::now(), 1200))
        };
        let laws = penstock_law::Registry::standard();
        assert_eq!(complaint_of(laws.controller("newreno").unwrap()), None);
        assert_eq!(
            complaint_of(&BROKEN).as_deref(),
            Some("the output of its law was once a window or a gap that is negative, infinite or not a number")
        );
    }
}
