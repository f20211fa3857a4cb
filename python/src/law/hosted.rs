//! A law of Python behind the interface that hosts of laws use.

use std::collections::BTreeMap;

use penstock_law::{Dual, Instances, Values};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};

use super::raised;
use super::role::PythonRole;
use crate::number::Arithmetic;

/// Of the calls of a method by a host that computes with the numbers of a state alone, so many are looked at, and then one of so
/// many: a look goes through all that the law keeps.
const FIRST: u32 = 32;
const EACH: u32 = 256;

/// A class of Python that is a law: what its host needs of it.
pub(crate) struct Declared {
    /// Its name in scenarios.
    pub(crate) name: &'static str,
    pub(crate) class: Py<PyType>,
    /// The methods that hear of events, in the order of the role. None of those that do nothing.
    pub(crate) methods: Vec<Option<Py<PyAny>>>,
    /// `output` and `mean_output`, where the class has them.
    pub(crate) output: Option<Py<PyAny>>,
    pub(crate) mean_output: Option<Py<PyAny>>,
    /// The attributes of its output, where it has no method `output`: none of a number that it never returns.
    pub(crate) outputs: [Option<Py<PyString>>; 2],
    /// The numbers of its state.
    pub(crate) names: &'static [(&'static str, &'static str)],
    pub(crate) state: Vec<Py<PyString>>,
    /// Its parameters, and of a choice its words.
    pub(crate) parameters: Vec<(Py<PyString>, Kind)>,
    /// The names in its method `requirements`.
    pub(crate) named: Vec<String>,
}

/// The value of a parameter in Python.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A float. None where it has no value.
    Number,
    /// A bool.
    Switch,
    /// A text.
    Choice(&'static [&'static str]),
}

impl Declared {
    /// An object of the class with its parameters, started.
    fn instance(&self, py: Python<'_>, values: &[Py<PyAny>], context: &Py<PyAny>) -> PyResult<Py<PyAny>> {
        let law = self.class.bind(py).call0()?;
        for ((name, _), value) in self.parameters.iter().zip(values) {
            law.setattr(name, value)?;
        }
        let returned = law.call_method1(pyo3::intern!(py, "start"), (context,))?;
        if !returned.is_none() {
            return Err(returned_something(py, self.name, "start", &returned));
        }
        for name in &self.state {
            if !law.hasattr(name)? {
                let message = format!("start does not set {name}, which the law declares as its state");
                return Err(PyAttributeError::new_err(message));
            }
        }
        Ok(law.unbind())
    }

    /// Refuses a handler of events that these requirements leave out. One whose requirement the method `requirements` names is
    /// left out for these parameters alone.
    fn refuse_unheard<R: PythonRole>(&self, requirements: &R::Requirements) -> PyResult<()> {
        for (event, requirement, add) in R::unheard(requirements) {
            let at = R::METHODS.iter().position(|method| *method == event);
            if at.is_some_and(|at| self.methods[at].is_some()) && self.named.iter().all(|name| name != requirement) {
                let law = self.name;
                return Err(PyTypeError::new_err(format!(
                    "law `{law}` has the method {event}, which nothing would call: add `{add}` to what requirements() returns"
                )));
            }
        }
        Ok(())
    }

    fn values(&self, py: Python<'_>, values: &Values) -> PyResult<Vec<Py<PyAny>>> {
        let given = values.iter().map(|(_, value)| value);
        let python = |(value, (_, kind)): (Option<f64>, &(_, Kind))| {
            Ok(match (value, kind) {
                (None, _) => py.None(),
                (Some(value), Kind::Number) => value.into_pyobject(py)?.into_any().unbind(),
                (Some(value), Kind::Switch) => (value != 0.0).into_pyobject(py)?.to_owned().into_any().unbind(),
                (Some(value), Kind::Choice(words)) => words[value as usize].into_pyobject(py)?.into_any().unbind(),
            })
        };
        given.zip(&self.parameters).map(python).collect()
    }
}

/// A compiled law of Python with all its instances.
pub(crate) struct Hosted<N: Arithmetic, R: PythonRole> {
    of: &'static Declared,
    values: Vec<Py<PyAny>>,
    context: Py<PyAny>,
    observation: Py<R::Observed>,
    requirements: R::Requirements,
    /// The attributes of an instance that has just started.
    start: Option<Py<PyDict>>,
    /// Finds numbers that it keeps elsewhere, once somebody computes with numbers of its state alone.
    memory: Option<Py<PyAny>>,
    /// How often each method was called then.
    calls: Vec<u32>,
    laws: Vec<Py<PyAny>>,
    kept: BTreeMap<usize, Py<PyAny>>,
    /// The output of each, where nothing has changed it since.
    outputs: Vec<Option<[N; 2]>>,
    /// A solver of differential equations has set its numbers, and may set them a little beyond their bounds.
    steered: bool,
    /// It raised: from now on its outputs are no numbers.
    failed: bool,
}

impl<N: Arithmetic, R: PythonRole> Hosted<N, R> {
    /// Compiles the law: starts it once, and takes its requirements.
    ///
    /// # Errors
    /// `start` raised a `ValueError`: its message. Any other exception goes to [`raised::put`].
    pub(crate) fn build(of: &'static Declared, values: &Values, context: &R::Context) -> Result<Self, String> {
        let start = |py: Python<'_>| -> PyResult<Self> {
            let values = of.values(py, values)?;
            let class = py.import("penstock._law")?.getattr(R::CONTEXT)?;
            let context = class.call((), Some(&R::context(py, context)?))?.unbind();
            let first = of.instance(py, &values, &context)?;
            let requirements = R::requirements(&first.bind(py).call_method0(pyo3::intern!(py, "requirements"))?)?;
            of.refuse_unheard::<R>(&requirements)?;
            let start = first.bind(py).getattr_opt(pyo3::intern!(py, "__dict__"))?;
            let start =
                start.and_then(|start| start.cast_into::<PyDict>().ok()).map(|start| start.copy()).transpose()?;
            Ok(Self {
                of,
                values,
                context,
                start: start.map(Bound::unbind),
                memory: None,
                calls: vec![0; R::METHODS.len()],
                observation: R::observation(py, N::DUAL, &requirements)?,
                requirements,
                laws: Vec::new(),
                kept: BTreeMap::new(),
                outputs: Vec::new(),
                steered: false,
                failed: false,
            })
        };
        raised::in_law(|| Python::attach(start)).map_err(|error| {
            Python::attach(|py| {
                if error.get_type(py).is(py.get_type::<PyValueError>()) {
                    return error.value(py).to_string();
                }
                let what = format!("the law raised {error}");
                raised::put(error);
                what
            })
        })
    }

    /// Does it with the interpreter. An exception is kept for the caller of the host.
    fn with<T>(&mut self, work: impl FnOnce(&mut Self, Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.failed {
            return None;
        }
        let done = raised::in_law(|| Python::attach(|py| work(self, py)));
        done.map_err(|error| {
            self.failed = true;
            raised::put(error);
        })
        .ok()
    }

    /// Refuses an instance that an event left with another number in an attribute that is neither state nor parameter. The fluid
    /// model starts the law before each event and sets its state: it would take such an attribute as `start` leaves it, and a
    /// law that smooths the queue in it for one that does not.
    fn refuse_undeclared(&self, py: Python<'_>, at: usize) -> PyResult<()> {
        let Some(start) = &self.start else { return Ok(()) };
        let now = self.laws[at].bind(py).getattr(pyo3::intern!(py, "__dict__"))?.cast_into::<PyDict>()?;
        for (name, value) in now {
            let is = |declared: &Py<PyString>| name.eq(declared.bind(py)).unwrap_or(false);
            let is_declared = self.of.state.iter().any(is) || self.of.parameters.iter().any(|(name, _)| is(name));
            if is_declared || value.is_none() {
                continue;
            }
            // Counters and switches are no numbers of the fluid model.
            let Some(number) = Dual::taken(&value).filter(|_| !is_whole(&value)) else { continue };
            let before = start.bind(py).get_item(&name)?;
            if before.and_then(|before| Dual::taken(&before)).is_none_or(|before| !number.is(before)) {
                let law = self.of.name;
                let what = format!(
                    "law `{law}`: an event changes its attribute `{name}`, which is no state of the law, so the fluid model and the \
                     analysis would not follow it: declare `{name} = penstock.state(...)`, or use a local variable"
                );
                return Err(crate::error::of_class(py, "UnsupportedError", &what));
            }
        }
        Ok(())
    }

    /// The numbers that an instance keeps in objects, containers and what it shares with others, before a call of that method. Of
    /// many calls a part is looked at: their order does not depend on the machine.
    fn memory(&mut self, py: Python<'_>, at: usize, method: usize) -> PyResult<Option<Py<PyAny>>> {
        let calls = &mut self.calls[method];
        *calls = calls.wrapping_add(1);
        let acts = self.of.methods[method].is_some() || self.of.output.is_some();
        if !acts || (*calls > FIRST && !calls.is_multiple_of(EACH)) {
            return Ok(None);
        }
        if self.memory.is_none() {
            let parameters = self.of.parameters.iter().map(|(name, _)| name);
            let declared: Vec<&Py<PyString>> = self.of.state.iter().chain(parameters).collect();
            let made = py.import("penstock._memory")?.getattr("Memory")?.call1((&self.of.class, declared))?;
            self.memory = Some(made.unbind());
        }
        let memory = self.memory.as_ref().map(|memory| memory.call_method1(py, "content", (&self.laws[at],)));
        memory.transpose()
    }

    /// Refuses an instance that an event left with another memory than before.
    fn refuse_memory(&self, py: Python<'_>, at: usize, before: Py<PyAny>) -> PyResult<()> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let changed: Option<String> = memory.call_method1(py, "changed", (&self.laws[at], before))?.extract(py)?;
        let Some(name) = changed else { return Ok(()) };
        let law = self.of.name;
        let what = format!(
            "law `{law}`: an event changes `{name}`, which is no state of the law, so the fluid model and the analysis would not \
             follow it: keep the number in an attribute of the law that is declared by penstock.state, or use a local variable"
        );
        Err(crate::error::of_class(py, "UnsupportedError", &what))
    }

    fn number(&self, what: &Bound<'_, PyAny>, name: &str) -> PyResult<N> {
        N::taken(what).ok_or_else(|| wrong(self.of.name, what, name))
    }

    /// The output of an instance, as numbers. The host refuses an infinite one.
    fn numbers(&self, py: Python<'_>, at: usize, output: Option<&Py<PyAny>>) -> PyResult<[N; 2]> {
        let numbers = self.returned(py, at, output)?;
        let first = numbers[0].value();
        // A solver may go a little beyond both ends of a range.
        let loose = N::DUAL || (self.steered && R::LEAST.is_finite());
        // The host refuses what is no number, and an infinite window.
        let number = first.is_finite() || (R::LEAST.is_finite() && !first.is_nan());
        if !loose && number && !(R::LEAST..=R::MOST).contains(&first) {
            let (law, name, bounds) = (self.of.name, R::OUTPUTS[0], R::BOUNDS);
            let shown = if first.abs() < 1e7 { first.to_string() } else { format!("{first:e}") };
            let what = format!("law `{law}`: {name} is {shown}: a run takes {bounds}");
            return Err(crate::error::of_class(py, "LawError", &what));
        }
        Ok(numbers)
    }

    fn returned(&self, py: Python<'_>, at: usize, output: Option<&Py<PyAny>>) -> PyResult<[N; 2]> {
        let law = self.laws[at].bind(py);
        let zero = N::of(0.0);
        let Some(output) = output else {
            let mut returned = [zero; 2];
            for ((returned, name), words) in returned.iter_mut().zip(&self.of.outputs).zip(R::OUTPUTS) {
                if let Some(name) = name {
                    *returned = self.number(&law.getattr(name)?, words)?;
                }
            }
            return Ok(returned);
        };
        let returned = output.bind(py).call1((law, &self.observation))?;
        if let Some(number) = N::taken(&returned) {
            return Ok([number, zero]);
        }
        let pair = returned.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
        let pair = pair.ok_or_else(|| wrong(self.of.name, &returned, "what output returns"))?;
        let [first, second] = R::OUTPUTS;
        Ok([self.number(&pair.get_item(0)?, first)?, self.number(&pair.get_item(1)?, second)?])
    }

    /// An output that no host can act on.
    fn nothing() -> R::Output<N> {
        R::output(N::of(f64::NAN), N::of(f64::NAN))
    }

    /// The output of an instance now, on average or not.
    fn output_of(&self, at: usize, observation: &R::Observation<N>, mean: bool) -> R::Output<N> {
        if self.failed {
            return Self::nothing();
        }
        let output =
            if mean { self.of.mean_output.as_ref().or(self.of.output.as_ref()) } else { self.of.output.as_ref() };
        if let (None, Some([first, second])) = (output, self.outputs[at]) {
            return R::output(first, second);
        }
        let call = |py: Python<'_>| {
            R::fill(&self.observation, observation);
            self.numbers(py, at, output)
        };
        let returned = raised::in_law(|| Python::attach(call));
        match returned {
            Ok([first, second]) => R::output(first, second),
            Err(error) => {
                raised::put(error);
                Self::nothing()
            }
        }
    }
}

/// Refuses a handler that returned something: a generator or a coroutine has done nothing yet, and nobody goes through it.
#[cold]
fn returned_something(py: Python<'_>, law: &str, method: &str, returned: &Bound<'_, PyAny>) -> PyErr {
    let class = returned.get_type().name().map_or_else(|_| "another class".to_owned(), |name| name.to_string());
    let remedy = match class.as_str() {
        "generator" | "coroutine" | "async_generator" => "which nobody would go through: do not yield or await",
        _ => "which nobody takes: set attributes of the law, and return nothing",
    };
    crate::error::of_class(
        py,
        "LawError",
        &format!("law `{law}`: {method} returned a value of class {class}, {remedy}"),
    )
}

/// Whether a number is a whole one by its class: an int, a bool, or one of numpy.
fn is_whole(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>()
        || (!value.is_instance_of::<PyFloat>()
            && value.hasattr(pyo3::intern!(value.py(), "__index__")).unwrap_or(false))
}

/// The value in the place of a number.
fn wrong(law: &str, what: &Bound<'_, PyAny>, name: &str) -> PyErr {
    if what.is_instance_of::<PyInt>() {
        return PyTypeError::new_err(format!("law `{law}`: {name} is an int beyond the largest float"));
    }
    let class = what.get_type().name().map_or_else(|_| "another class".to_owned(), |name| format!("class {name}"));
    PyTypeError::new_err(format!("law `{law}`: {name} is of {class}: make it a float"))
}

/// Stands for a law that could not be made.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is not general enough")]
fn none() -> Py<PyAny> {
    Python::attach(|py| py.None())
}

impl<N: Arithmetic, R: PythonRole> Instances<N, R> for Hosted<N, R> {
    fn add(&mut self) -> usize {
        let law = self.with(|this, py| this.of.instance(py, &this.values, &this.context));
        self.laws.push(law.unwrap_or_else(none));
        self.outputs.push(None);
        self.laws.len() - 1
    }

    fn restart(&mut self, at: usize) {
        self.outputs[at] = None;
        self.with(|this, py| {
            this.laws[at] = this.of.instance(py, &this.values, &this.context)?;
            this.kept.remove(&at);
            Ok(())
        });
    }

    fn keep(&mut self, at: usize) {
        self.with(|this, py| {
            let copy = py.import("copy")?.call_method1("deepcopy", (&this.laws[at],))?;
            this.kept.insert(at, copy.unbind());
            Ok(())
        });
    }

    fn bring_back(&mut self, at: usize) {
        if let Some(law) = self.kept.remove(&at) {
            self.outputs[at] = None;
            self.with(|this, _| {
                this.laws[at] = law;
                Ok(())
            });
        }
    }

    fn copy(&mut self, at: usize) -> usize {
        let law = self.with(|this, py| Ok(py.import("copy")?.call_method1("deepcopy", (&this.laws[at],))?.unbind()));
        self.laws.push(law.unwrap_or_else(none));
        self.outputs.push(self.outputs[at]);
        self.laws.len() - 1
    }

    fn on_event(&mut self, at: usize, event: R::Event, observation: &R::Observation<N>) -> R::Output<N> {
        let of = self.of;
        let method = of.methods[R::method(event)].as_ref();
        if let (None, None, Some([first, second])) = (method, &of.output, self.outputs[at]) {
            return R::output(first, second);
        }
        let returned = self.with(|this, py| {
            R::fill(&this.observation, observation);
            if let Some(method) = method {
                let arguments = R::arguments(this.laws[at].bind(py), this.observation.bind(py), event)?;
                let returned = method.bind(py).call1(arguments)?;
                if !returned.is_none() {
                    return Err(returned_something(py, of.name, R::METHODS[R::method(event)], &returned));
                }
            }
            this.numbers(py, at, of.output.as_ref())
        });
        self.outputs[at] = returned;
        returned.map_or_else(Self::nothing, |[first, second]| R::output(first, second))
    }

    /// As elsewhere, and refuses a law that remembers what the numbers do not have.
    fn after(&mut self, at: usize, numbers: &mut [N], event: R::Event, observation: &R::Observation<N>) {
        self.restart(at);
        let mut put = numbers.iter();
        self.each(at, &mut |x| put.next().into_iter().for_each(|number| *x = *number));
        let before = self.with(|this, py| this.memory(py, at, R::method(event)));
        self.on_event(at, event, observation);
        self.with(|this, py| {
            this.refuse_undeclared(py, at)?;
            before.flatten().map_or(Ok(()), |before| this.refuse_memory(py, at, before))
        });
        let mut taken = numbers.iter_mut();
        self.each(at, &mut |x| taken.next().into_iter().for_each(|number| *number = *x));
    }

    fn output(&self, at: usize, observation: &R::Observation<N>) -> R::Output<N> {
        self.output_of(at, observation, false)
    }

    fn mean_output(&self, at: usize, observation: &R::Observation<N>) -> R::Output<N> {
        self.output_of(at, observation, true)
    }

    fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.of.names
    }

    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut N)) {
        self.outputs[at] = None;
        let mut visited = 0;
        self.with(|this, py| {
            let law = this.laws[at].bind(py);
            for name in &this.of.state {
                let before = this.number(&law.getattr(name)?, name.bind(py).to_str()?)?;
                let mut number = before;
                f(&mut number);
                visited += 1;
                if !number.is(before) {
                    this.steered = true;
                    law.setattr(name, number.given(py)?)?;
                }
            }
            Ok(())
        });
        // Whoever visits the numbers counts on all of them.
        self.of.names[visited..].iter().for_each(|_| f(&mut N::of(f64::NAN)));
    }

    fn requirements(&self) -> R::Requirements {
        self.requirements
    }
}

impl<N: Arithmetic, R: PythonRole> Drop for Hosted<N, R> {
    /// With the interpreter, so that what it holds is free at once and not when Python is called next.
    fn drop(&mut self) {
        Python::try_attach(|_| {
            self.laws.clear();
            self.kept.clear();
            self.values.clear();
        });
    }
}
