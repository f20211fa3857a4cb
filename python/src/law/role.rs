//! The two roles that a law of Python may have: the arguments of its methods, and its output.

use penstock_law::aqm::{self, Aqm, Decides};
use penstock_law::cc::{self, Controller, Marks, RttAverage};
use penstock_law::estimate::{BottleneckEstimate, Committed, Lookback, MarkEstimate};
use penstock_law::law::Role;
use penstock_law::registry::Registered;
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::observation::{AqmObservation, SenderObservation};
use crate::number::Arithmetic;

/// A method that is not called, the requirement that decides, and the value that has it called.
type Unheard = (&'static str, &'static str, &'static str);

/// A role that laws of Python may have.
pub(crate) trait PythonRole: Registered + Role<Requirements: Copy + Send + Sync> {
    /// Its class of observations.
    type Observed: PyTypeInfo + Send + Sync;
    /// Its methods for events, in the order of [`PythonRole::method`].
    const METHODS: &'static [&'static str];
    /// The attributes that are the output of a law without a method `output`: the number that it must have, and the one that it may have.
    const OUTPUTS: [&'static str; 2];
    /// The least and the largest first number of the output that a run takes, and the same in words. A host refuses a window below
    /// zero itself.
    const LEAST: f64;
    const MOST: f64;
    const BOUNDS: &'static str;

    /// An observation for a law with these requirements, of floats or of dual numbers.
    fn observation(py: Python<'_>, dual: bool, requirements: &Self::Requirements) -> PyResult<Py<Self::Observed>>;
    /// Writes the measurements.
    fn fill<N: Arithmetic>(observation: &Py<Self::Observed>, of: &Self::Observation<N>);
    /// The context, as the keyword arguments of its class in Python.
    fn context<'py>(py: Python<'py>, context: &Self::Context) -> PyResult<Bound<'py, PyDict>>;
    /// The class of the context.
    const CONTEXT: &'static str;
    /// The method of an event.
    fn method(event: Self::Event) -> usize;
    /// The arguments of the method.
    fn arguments<'py>(
        law: &Bound<'py, PyAny>,
        observation: &Bound<'py, Self::Observed>,
        event: Self::Event,
    ) -> PyResult<Bound<'py, PyTuple>>;
    /// The methods that a host does not call with these requirements, each with the requirement that decides, and what Python
    /// would have to give.
    fn unheard(requirements: &Self::Requirements) -> Vec<Unheard>;
    /// The output of two numbers.
    fn output<N: Arithmetic>(first: N, second: N) -> Self::Output<N>;
    /// The requirements of the law.
    fn requirements(of: &Bound<'_, PyAny>) -> PyResult<Self::Requirements>;
}

impl PythonRole for Controller {
    type Observed = SenderObservation;
    const METHODS: &'static [&'static str] = &["on_ack", "on_tick", "on_round", "on_congestion", "on_timeout"];
    const OUTPUTS: [&'static str; 2] = ["window", "gap_s"];
    const LEAST: f64 = f64::NEG_INFINITY;
    /// Half a second of 100 Gbit/s in packets of 1500 B. A simulated sender holds each packet in flight: much larger windows would
    /// take all memory.
    const MOST: f64 = 4_194_304.0;
    const BOUNDS: &'static str = "4194304 at most";
    const CONTEXT: &'static str = "SenderContext";

    fn observation(py: Python<'_>, dual: bool, requirements: &cc::Requirements) -> PyResult<Py<SenderObservation>> {
        let lacks = |name: &str| match name {
            "price_s" if !matches!(requirements.marks, Marks::Price(_)) => Some("marks=penstock.Price(...)"),
            "now_s" if !requirements.now => Some("now=True"),
            "buffer" | "level" | "in_flight" | "earlier" | "earlier_s" if requirements.bottleneck.is_none() => {
                Some("pairs=...")
            }
            _ => None,
        };
        Py::new(py, SenderObservation::new(dual, lacks))
    }

    #[inline]
    fn fill<N: Arithmetic>(observation: &Py<SenderObservation>, of: &cc::Observation<N>) {
        observation.get().fill(of);
    }

    fn context<'py>(py: Python<'py>, context: &cc::Context) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("packet_bytes", context.packet.0)?;
        dict.set_item("initial_window", context.initial_window)?;
        dict.set_item("initial_ssthresh", context.initial_ssthresh)?;
        Ok(dict)
    }

    #[inline]
    fn method(event: cc::Event) -> usize {
        match event {
            cc::Event::Ack { .. } => 0,
            cc::Event::Tick => 1,
            cc::Event::Round => 2,
            cc::Event::Congestion => 3,
            cc::Event::Timeout => 4,
        }
    }

    #[inline]
    fn arguments<'py>(
        law: &Bound<'py, PyAny>,
        observation: &Bound<'py, SenderObservation>,
        event: cc::Event,
    ) -> PyResult<Bound<'py, PyTuple>> {
        match event {
            cc::Event::Ack { packets, marked } => (law, observation, packets, marked).into_pyobject(law.py()),
            _ => (law, observation).into_pyobject(law.py()),
        }
    }

    fn unheard(requirements: &cc::Requirements) -> Vec<Unheard> {
        if requirements.tick_s.is_none() { vec![("on_tick", "tick_s", "tick_s=...")] } else { Vec::new() }
    }

    fn output<N: Arithmetic>(window: N, gap_s: N) -> cc::Output<N> {
        cc::Output { window, gap_s }
    }

    fn requirements(of: &Bound<'_, PyAny>) -> PyResult<cc::Requirements> {
        of_class(of, "Requirements")?;
        let average = of.getattr("average_rtt")?;
        let pairs: Option<u32> = field(of, "pairs", "a whole number of 1 or more, or None")?;
        Ok(cc::Requirements {
            tick_s: period(of)?,
            marks: marks(&of.getattr("marks")?)?,
            average_rtt: if average.is_none() { None } else { Some(average_of(&average)?) },
            reliable: field(of, "reliable", "True or False")?,
            now: field(of, "now", "True or False")?,
            low_latency: field(of, "low_latency", "True or False")?,
            bottleneck: pairs.map(|pairs| BottleneckEstimate {
                pairs: pairs.max(1),
                lookback: Some(Lookback::RoundTrip),
                committed: Committed::Sent,
            }),
            retransmit_on_duplicates: field(of, "retransmit_on_duplicates", "True or False")?,
            fractions: field(of, "fractions", "True or False")?,
            ..cc::Requirements::LEAST
        })
    }
}

impl PythonRole for Aqm {
    type Observed = AqmObservation;
    const METHODS: &'static [&'static str] = &["on_arrival", "on_departure", "on_hit", "on_tick", "on_full"];
    const OUTPUTS: [&'static str; 2] = ["probability", "price_s"];
    const LEAST: f64 = 0.0;
    const MOST: f64 = 1.0;
    const BOUNDS: &'static str = "0 to 1";
    const CONTEXT: &'static str = "AqmContext";

    fn observation(py: Python<'_>, dual: bool, requirements: &aqm::Requirements) -> PyResult<Py<AqmObservation>> {
        let (ticks, at_head) = (requirements.tick_s.is_some(), requirements.decides == Decides::AtHead);
        let lacks = |name: &str| match name {
            "arrived" if !ticks => Some("tick_s=..."),
            "sojourn_s" if !ticks && !at_head => Some("decides=\"head\"` or `tick_s=..."),
            _ => None,
        };
        Py::new(py, AqmObservation::new(dual, lacks))
    }

    #[inline]
    fn fill<N: Arithmetic>(observation: &Py<AqmObservation>, of: &aqm::Observation<N>) {
        observation.get().fill(of);
    }

    fn context<'py>(py: Python<'py>, context: &aqm::Context) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("rate_bit_per_s", context.rate.0)?;
        dict.set_item("delay_s", context.delay.seconds())?;
        dict.set_item("packet_bytes", context.packet.0)?;
        dict.set_item("packets_per_s", context.packets_per_s())?;
        Ok(dict)
    }

    #[inline]
    fn method(event: aqm::Event) -> usize {
        match event {
            aqm::Event::Arrival { .. } => 0,
            aqm::Event::Departure { .. } => 1,
            aqm::Event::Hit => 2,
            aqm::Event::Tick => 3,
            aqm::Event::Full => 4,
        }
    }

    #[inline]
    fn arguments<'py>(
        law: &Bound<'py, PyAny>,
        observation: &Bound<'py, AqmObservation>,
        event: aqm::Event,
    ) -> PyResult<Bound<'py, PyTuple>> {
        match event {
            aqm::Event::Arrival { bytes, idle } => (law, observation, bytes, idle).into_pyobject(law.py()),
            aqm::Event::Departure { low_latency } => (law, observation, low_latency).into_pyobject(law.py()),
            aqm::Event::Hit | aqm::Event::Full | aqm::Event::Tick => (law, observation).into_pyobject(law.py()),
        }
    }

    fn unheard(requirements: &aqm::Requirements) -> Vec<Unheard> {
        let aqm::Requirements { tick_s, decides, full, .. } = requirements;
        let at_head = *decides == Decides::AtHead;
        let all = [
            (tick_s.is_some(), ("on_tick", "tick_s", "tick_s=...")),
            (*decides == Decides::OnArrival, ("on_arrival", "decides", "decides=\"arrival\"")),
            (at_head, ("on_departure", "decides", "decides=\"head\"")),
            (at_head && *full, ("on_full", "full", "decides=\"head\", full=True")),
        ];
        all.into_iter().filter(|(called, _)| !called).map(|(_, unheard)| unheard).collect()
    }

    fn output<N: Arithmetic>(probability: N, price_s: N) -> aqm::Output<N> {
        aqm::Output { probability, price_s }
    }

    fn requirements(of: &Bound<'_, PyAny>) -> PyResult<aqm::Requirements> {
        of_class(of, "AqmRequirements")?;
        let decides: String = field(of, "decides", "arrival, departure, head or never")?;
        Ok(aqm::Requirements {
            tick_s: period(of)?,
            decides: match decides.as_str() {
                "never" => Decides::Never,
                "head" => Decides::AtHead,
                "arrival" => Decides::OnArrival,
                "departure" => Decides::OnDeparture,
                other => {
                    let message = format!("decides is {other:?}: write arrival, departure, head or never");
                    return Err(PyValueError::new_err(message));
                }
            },
            marks: field(of, "marks", "True or False")?,
            overrules_marks: field(of, "overrules_marks", "True or False")?,
            bytes: field(of, "bytes", "True or False")?,
            arrivals_first: field(of, "arrivals_first", "True or False")?,
            idle_from_start: field(of, "idle_from_start", "True or False")?,
            full: field(of, "full", "True or False")?,
            ..aqm::Requirements::LEAST
        })
    }
}

/// The least period of `on_tick` [s]: a packet of 1500 B takes no less at 100 Gbit/s, and a run calls the law as often.
const LEAST_TICK_S: f64 = 1e-7;

/// A requirement of that name. One of another class raises an exception that says what to write instead.
fn field<T: for<'a, 'py> FromPyObject<'a, 'py>>(of: &Bound<'_, PyAny>, name: &str, instead: &str) -> PyResult<T> {
    let value = of.getattr(name)?;
    value.extract::<T>().map_err(|_| {
        let found = value.repr().map_or_else(|_| "something else".to_owned(), |repr| repr.to_string());
        PyTypeError::new_err(format!("{name} is {found}: write {instead}"))
    })
}

/// Refuses what `requirements` should not have returned.
fn of_class(of: &Bound<'_, PyAny>, class: &str) -> PyResult<()> {
    if of.is_instance(&of.py().import("penstock._law")?.getattr(class)?)? {
        return Ok(());
    }
    let found = of.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "requirements() returned an object of class {found}: return penstock.{class}(...)"
    )))
}

fn period(of: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let period: Option<f64> = field(of, "tick_s", "a period in seconds, a float, or None")?;
    if let Some(period) = period.filter(|period| !(*period >= LEAST_TICK_S && period.is_finite())) {
        let message = format!("tick_s is {period}: write a period of {LEAST_TICK_S:e} s or more");
        return Err(PyValueError::new_err(message));
    }
    Ok(period)
}

fn marks(of: &Bound<'_, PyAny>) -> PyResult<Marks> {
    if let Ok(word) = of.extract::<String>() {
        return match word.as_str() {
            "ignored" => Ok(Marks::Ignored),
            "congestion" | "loss" => Ok(Marks::Congestion),
            "counted" => Ok(Marks::Counted),
            other => {
                let message = format!("marks is {other:?}: write ignored, congestion, counted or a penstock.Price");
                Err(PyValueError::new_err(message))
            }
        };
    }
    if !of.is_instance(&of.py().import("penstock._law")?.getattr("Price")?)? {
        let message = format!("marks is {}: write ignored, congestion, counted or a penstock.Price", of.repr()?);
        return Err(PyTypeError::new_err(message));
    }
    let packets: u32 = field(of, "packets", "a whole number from 1 to 64")?;
    let phi: f64 = field(of, "phi", "a number above 1")?;
    if !((1..=64).contains(&packets) && phi > 1.0 && phi.is_finite()) {
        return Err(PyValueError::new_err("a Price has packets from 1 to 64, and phi above 1"));
    }
    Ok(Marks::Price(MarkEstimate { packets, phi }))
}

fn average_of(of: &Bound<'_, PyAny>) -> PyResult<RttAverage> {
    if !of.is_instance(&of.py().import("penstock._law")?.getattr("RttAverage")?)? {
        let message = format!("average_rtt is {}: write penstock.RttAverage(...) or None", of.repr()?);
        return Err(PyTypeError::new_err(message));
    }
    let over_window: f64 = field(of, "over_window", "a number above zero")?;
    let most: f64 = field(of, "most", "a number above 0 and up to 1")?;
    if !(over_window > 0.0 && most > 0.0 && most <= 1.0) {
        return Err(PyValueError::new_err("an RttAverage has over_window above zero, and most above 0 and up to 1"));
    }
    Ok(RttAverage { over_window, most })
}
