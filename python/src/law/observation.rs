//! The observation of a law: what its host has measured.

use std::sync::atomic::{AtomicU64, Ordering};

use penstock_law::{Dual, aqm, cc};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

use crate::number::Arithmetic;

/// A number that the host writes before each call. A float has no derivative.
#[derive(Debug, Default)]
struct Slot {
    value: AtomicU64,
    slope: AtomicU64,
    kink: AtomicU64,
    /// The requirement that the law lacks for it, as it stands in Python. The host does not measure it then.
    lacks: Option<&'static str>,
}

impl Slot {
    fn set<N: Arithmetic>(&self, dual: bool, number: N) {
        self.value.store(number.value().to_bits(), Ordering::Relaxed);
        if dual {
            let number = number.dual();
            self.slope.store(number.slope.to_bits(), Ordering::Relaxed);
            self.kink.store(number.kink.to_bits(), Ordering::Relaxed);
        }
    }

    #[inline]
    fn get<'py>(&self, py: Python<'py>, name: &str, dual: bool) -> PyResult<Bound<'py, PyAny>> {
        if let Some(lacks) = self.lacks {
            return Err(unmeasured(name, lacks));
        }
        let [value, slope, kink] =
            [&self.value, &self.slope, &self.kink].map(|bits| f64::from_bits(bits.load(Ordering::Relaxed)));
        if dual { Dual { value, slope, kink }.given(py) } else { value.given(py) }
    }
}

/// A law reads a number that its host does not measure. A zero in its place would look like a measurement.
#[cold]
fn unmeasured(name: &str, lacks: &str) -> PyErr {
    PyAttributeError::new_err(format!(
        "the observation has no `{name}`, which the law does not require: add `{lacks}` to what its requirements() returns"
    ))
}

macro_rules! observation {
    ($(#[$doc:meta])* $name:ident as $shown:literal of $of:ident { $($(#[$what:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        ///
        /// The host uses one object for all calls: keep its numbers, not the object. A measurement that the law does not require
        /// raises `AttributeError`.
        #[pyclass(frozen, module = "penstock", name = $shown)]
        #[derive(Debug)]
        pub(crate) struct $name {
            dual: bool,
            $($field: Slot,)*
        }

        impl $name {
            /// One for floats, or for dual numbers. `lacks` is the requirement that the law lacks for a measurement.
            pub(crate) fn new(dual: bool, lacks: impl Fn(&str) -> Option<&'static str>) -> Self {
                Self { dual, $($field: Slot { lacks: lacks(stringify!($field)), ..Slot::default() },)* }
            }

            #[inline]
            pub(crate) fn fill<N: Arithmetic>(&self, of: &$of::Observation<N>) {
                $(self.$field.set(self.dual, of.$field);)*
            }
        }

        #[pymethods]
        impl $name {
            $($(#[$what])* #[getter] fn $field<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.$field.get(py, stringify!($field), self.dual)
            })*
        }
    };
}

observation! {
    /// The measurements of a sender.
    SenderObservation as "Observation" of cc {
        /// Average round-trip time, as `Requirements.average_rtt` has it, or the latest sample [s]. Zero before the first one.
        rtt_s,
        /// The smallest round-trip time so far [s]. Zero before the first sample.
        base_rtt_s,
        /// The sum of prices along the path [s], where `Requirements.marks` is a `Price`.
        price_s,
        /// Time since the start of the run [s], where `Requirements.now` is set.
        now_s,
        /// Size of the bottleneck's buffer [packets], where `Requirements.pairs` is set. Zero until it is known.
        buffer,
        /// Packets in the bottleneck's buffer [packets], where `Requirements.pairs` is set. Zero until known.
        level,
        /// Packets in flight before the response to this event [packets], where `Requirements.pairs` is set.
        in_flight,
        /// The sum, `earlier_s` seconds ago, of `level` and of the flow's own packets [packets].
        earlier,
        /// Age of `earlier` [s]. Zero if `earlier` is not known.
        earlier_s,
    }
}

observation! {
    /// The measurements of the host of a queue.
    AqmObservation as "AqmObservation" of aqm {
        /// Packets waiting, without the one in transmission, in units of the mean packet where the law counts bytes [packets].
        queue,
        /// At a tick, arrivals since the last one, in units of the mean packet [packets]. Zero elsewhere.
        arrived,
        /// The capacity of the line now [packets/s].
        capacity,
        /// At a departure, waiting time of the packet at the head; at a tick, that of the oldest waiting packet [s]. Zero elsewhere.
        sojourn_s,
        /// Time since the start of the run [s].
        now_s,
    }
}
