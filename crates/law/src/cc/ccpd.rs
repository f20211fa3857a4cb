//! CCPD: CCP, and the change of the room left in the bottleneck's buffer over the last round trip.
//!
//! Source: Cavendish, Kuwahara, Kumazoe, Tsuru, Oie, "TCP Congestion Avoidance using Proportional plus Derivative Control",
//! (3), section VI-A for the gains. The law stands in [`ccp`](super::ccp), which lists what differs.
//! Differs: the paper gives Kd = 100 without a unit. In milliseconds, and over one round trip, it is of the size of Kp;
//! in seconds, or over one acknowledgement, a single packet would move the window by thousands, and in nanoseconds CCPD
//! would be CCP. `kd_unit = "us"` with `derivative_span = "ack"` is the other reading that does something.

use super::Controller;
use super::ccp::{Control, DECLARED, KP, PAIRS, RTT_WEIGHT, WINDOW_FORM};
use crate::estimate::Lookback;
use crate::law::{Entry, Linearisation, Observables, build};
use crate::number::{Dual, Fix};
use crate::parameter::{Default, Parameter, Unit, Values};

/// Units of Kd, and their seconds.
const UNITS: [&str; 4] = ["ns", "us", "ms", "s"];
const SECONDS: [f64; 4] = [1e-9, 1e-6, 1e-3, 1.0];

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "ccpd",
    title: "CCPD: CCP plus the change of that free space over a round trip",
    source: "Cavendish et al., TCP Congestion Avoidance using Proportional plus Derivative Control, (3)",
    colour: "#d4730a",
    parameters: &[
        KP,
        Parameter::number(
            "kd",
            Unit::One,
            100.0,
            [0.0, 1e9],
            "derivative gain, in `kd_unit`: a time",
            "section VI-A chooses 100; 1000 in table I",
        ),
        Parameter {
            name: "kd_unit",
            what: "unit of kd",
            unit: Unit::Choice(&UNITS),
            default: Default::Is(2.0),
            least: 0.0,
            most: 3.0,
            source: "not in the paper; with ms, kd over a round trip is of the size of kp",
        },
        Parameter {
            name: "derivative_span",
            what: "span of the change: a round trip, or the time since the previous acknowledgement",
            unit: Unit::Choice(&["round trip", "ack"]),
            default: Default::Is(0.0),
            least: 0.0,
            most: 1.0,
            source: "(3) has t_k - t_(k-1) and does not define k",
        },
        WINDOW_FORM,
        RTT_WEIGHT,
        PAIRS,
    ],
    observables: Observables::of::<Control<f64, true>>(),
    linearisation: Linearisation::Declared(DECLARED),
    real: &build::<f64, Control<f64, true>>,
    dual: Some(&build::<Dual, Control<Dual, true>>),
    fixed: Some(&build::<Fix<32>, Control<Fix<32>, true>>),
};

/// Kd [s].
pub(super) fn kd_s(values: &Values) -> f64 {
    values.number("kd") * SECONDS[values.number("kd_unit") as usize]
}

/// What the change is taken over.
pub(super) fn lookback(values: &Values) -> Lookback {
    if values.number("derivative_span") == 0.0 { Lookback::RoundTrip } else { Lookback::Acknowledgement }
}
