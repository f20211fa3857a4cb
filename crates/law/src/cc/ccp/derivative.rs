//! The addition of CCPD to CCP: the derivative gain, its unit, and the span that the change is taken over.

use crate::estimate::Lookback;
use crate::parameter::{Default, Parameter, Unit, Values};

/// Units of Kd, and their seconds.
const UNITS: [&str; 4] = ["ns", "us", "ms", "s"];
const SECONDS: [f64; 4] = [1e-9, 1e-6, 1e-3, 1.0];

/// Kd.
pub(in crate::cc) const KD: Parameter = Parameter::number(
    "kd",
    Unit::One,
    100.0,
    [0.0, 1e9],
    "derivative gain, in `kd_unit`: a time",
    "section VI-A chooses 100; 1000 in table I",
);

/// The unit of Kd.
pub(in crate::cc) const KD_UNIT: Parameter = Parameter {
    name: "kd_unit",
    description: "unit of kd",
    unit: Unit::Choice(&UNITS),
    default: Default::Is(2.0),
    least: 0.0,
    most: 3.0,
    source: "not in the paper; with ms, kd over a round trip is of the size of kp",
};

/// The span of the change.
pub(in crate::cc) const DERIVATIVE_SPAN: Parameter = Parameter {
    name: "derivative_span",
    description: "span of the change: a round trip, or the time since the previous acknowledgement",
    unit: Unit::Choice(&["round trip", "ack"]),
    default: Default::Is(0.0),
    least: 0.0,
    most: 1.0,
    source: "(3) has t_k - t_(k-1) and does not define k",
};

/// Kd [s].
pub(super) fn kd_s(values: &Values) -> f64 {
    values.number("kd") * SECONDS[values.number("kd_unit") as usize]
}

/// The span that the change is taken over.
pub(super) fn lookback(values: &Values) -> Lookback {
    if values.number("derivative_span") == 0.0 { Lookback::RoundTrip } else { Lookback::Acknowledgement }
}
