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
    /// The largest first number of the output that a run takes.
    const MOST: f64;

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
    /// Half a second of 100 Gbit/s in packets of 1500 B. A simulated sender holds each packet in flight: much larger windows would
    /// take all memory.
    const MOST: f64 = 4_194_304.0;
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
        let pairs: Option<u32> = of.getattr("pairs")?.extract()?;
        Ok(cc::Requirements {
            tick_s: period(of)?,
            marks: marks(&of.getattr("marks")?)?,
            average_rtt: if average.is_none() { None } else { Some(average_of(&average)?) },
            reliable: of.getattr("reliable")?.extract()?,
            now: of.getattr("now")?.extract()?,
            low_latency: of.getattr("low_latency")?.extract()?,
            bottleneck: pairs.map(|pairs| BottleneckEstimate {
                pairs: pairs.max(1),
                lookback: Some(Lookback::RoundTrip),
                committed: Committed::Sent,
            }),
            retransmit_on_duplicates: of.getattr("retransmit_on_duplicates")?.extract()?,
            fractions: of.getattr("fractions")?.extract()?,
            ..cc::Requirements::LEAST
        })
    }
}

impl PythonRole for Aqm {
    type Observed = AqmObservation;
    const METHODS: &'static [&'static str] = &["on_arrival", "on_departure", "on_hit", "on_tick", "on_full"];
    const OUTPUTS: [&'static str; 2] = ["probability", "price_s"];
    const MOST: f64 = f64::INFINITY;
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
        let decides: String = of.getattr("decides")?.extract()?;
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
            marks: of.getattr("marks")?.extract()?,
            overrules_marks: of.getattr("overrules_marks")?.extract()?,
            bytes: of.getattr("bytes")?.extract()?,
            arrivals_first: of.getattr("arrivals_first")?.extract()?,
            idle_from_start: of.getattr("idle_from_start")?.extract()?,
            full: of.getattr("full")?.extract()?,
            ..aqm::Requirements::LEAST
        })
    }
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
    let period: Option<f64> = of.getattr("tick_s")?.extract()?;
    if let Some(period) = period.filter(|period| !(*period > 0.0 && period.is_finite())) {
        return Err(PyValueError::new_err(format!("tick_s is {period}: write a period above zero [s]")));
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
    let (packets, phi): (u32, f64) = (of.getattr("packets")?.extract()?, of.getattr("phi")?.extract()?);
    if !((1..=64).contains(&packets) && phi > 1.0 && phi.is_finite()) {
        return Err(PyValueError::new_err("a Price has packets from 1 to 64, and phi above 1"));
    }
    Ok(Marks::Price(MarkEstimate { packets, phi }))
}

fn average_of(of: &Bound<'_, PyAny>) -> PyResult<RttAverage> {
    let (over_window, most): (f64, f64) = (of.getattr("over_window")?.extract()?, of.getattr("most")?.extract()?);
    if !(over_window > 0.0 && most > 0.0 && most <= 1.0) {
        return Err(PyValueError::new_err("an RttAverage has over_window above zero, and most above 0 and up to 1"));
    }
    Ok(RttAverage { over_window, most })
}
