//! CCPD: CCP, and the change of the free space in the bottleneck's buffer over the last round trip.
//!
//! Source: Cavendish, Kuwahara, Kumazoe, Tsuru, Oie, "TCP Congestion Avoidance using Proportional plus Derivative Control",
//! (3), section VI-A for the gains. The law is in [`ccp`](super::ccp), which lists the differences.
//! Differs: the paper gives Kd = 100 without a unit. In milliseconds, and over one round trip, it is of the size of Kp;
//! in seconds, or over one acknowledgement, a single packet would move the window by thousands, and in nanoseconds CCPD
//! would be CCP. `kd_unit = "us"` with `derivative_span = "ack"` is the other interpretation that has an effect.

use super::Controller;
use super::ccp::derivative::{DERIVATIVE_SPAN, KD, KD_UNIT};
use super::ccp::{Control, DECLARED, KP, PAIRS, RTT_WEIGHT, WINDOW_FORM};
use crate::law::{Entry, Linearisation, Observables, build};
use crate::number::{Dual, Fix};

pub(super) const ENTRY: Entry<Controller> = Entry {
    name: "ccpd",
    title: "CCPD: CCP, plus the change of the free space in the bottleneck's buffer over a round trip",
    source: "Cavendish et al., TCP Congestion Avoidance using Proportional plus Derivative Control, (3)",
    colour: "#d4730a",
    parameters: &[KP, KD, KD_UNIT, DERIVATIVE_SPAN, WINDOW_FORM, RTT_WEIGHT, PAIRS],
    observables: Observables::of::<Control<f64, true>>(),
    linearisation: Linearisation::Declared(DECLARED),
    real: &build::<f64, Control<f64, true>>,
    dual: Some(&build::<Dual, Control<Dual, true>>),
    fixed: Some(&build::<Fix<32>, Control<Fix<32>, true>>),
    kernel: None,
};
