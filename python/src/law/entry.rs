//! From a class of Python to an entry of the registry, which lives as long as the process.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use penstock_law::law::{Build, Linearisation, Observables};
use penstock_law::parameter::{Default, Unit};
use penstock_law::{Dual, Entry, Instances, Parameter, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use super::hosted::{Declared, Hosted, Kind};
use super::role::PythonRole;
use crate::number::Arithmetic;

/// Texts that entries have. Each is kept once, so that a class that is registered again with the same texts adds none.
static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

fn kept(text: String) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text.as_str()) {
        return known;
    }
    let text: &'static str = Box::leak(text.into_boxed_str());
    texts.insert(text);
    text
}

fn text(of: &Bound<'_, PyAny>, name: &str) -> PyResult<&'static str> {
    Ok(kept(of.getattr(name)?.extract()?))
}

/// The entry of a law: a class, and what `penstock._law` read of it.
///
/// # Errors
/// A method of the class cannot be looked up, or a declaration is of another class than it should be.
pub(crate) fn entry<R: PythonRole>(class: &Bound<'_, PyType>, about: &Bound<'_, PyAny>) -> PyResult<Entry<R>> {
    let py = class.py();
    let base = py.import("penstock._law")?.getattr(if R::NOUN == "AQM" { "Aqm" } else { "Controller" })?;
    // Methods of the base class do nothing.
    let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
        let Some(method) = class.getattr_opt(name)? else { return Ok(None) };
        let inherited = base.getattr_opt(name)?.is_some_and(|of_base| method.is(&of_base));
        Ok(if inherited { None } else { Some(method.unbind()) })
    };
    let parameters = parameters(&about.getattr("parameters")?)?;
    let mut names = Vec::new();
    let mut words = Vec::new();
    for number in about.getattr("state")?.try_iter()? {
        let number = number?;
        names.push((text(&number, "name")?, text(&number, "unit")?));
        words.push((text(&number, "words")?, text(&number, "description")?));
    }
    let declared = |name: &&str| names.iter().any(|(known, _)| known == name);
    let outputs = R::OUTPUTS.map(|name| Some(name).filter(declared).map(|name| PyString::intern(py, name).unbind()));
    let output = method("output")?;
    if output.is_none() && outputs[0].is_none() {
        let name = R::OUTPUTS[0];
        let message = format!(
            "law `{}` has no output: declare `{name} = penstock.state(...)`, or define output(self, observation)",
            text(about, "name")?
        );
        return Err(PyValueError::new_err(message));
    }
    let names: &'static [_] = names.leak();
    let kinds = parameters.iter().map(|(parameter, kind)| (PyString::intern(py, parameter.name).unbind(), *kind));
    let declared = Declared {
        name: text(about, "name")?,
        class: class.clone().unbind(),
        methods: R::METHODS.iter().map(|name| method(name)).collect::<PyResult<_>>()?,
        output,
        mean_output: method("mean_output")?,
        outputs,
        names,
        state: names.iter().map(|(name, _)| PyString::intern(py, name).unbind()).collect(),
        parameters: kinds.collect(),
        named: about.getattr("named")?.extract()?,
    };
    let declared: &'static Declared = Box::leak(Box::new(declared));
    let unsupported: Option<String> = about.getattr("not_linear")?.extract()?;
    Ok(Entry {
        name: declared.name,
        title: text(about, "title")?,
        source: text(about, "source")?,
        colour: text(about, "colour")?,
        parameters: parameters.into_iter().map(|(parameter, _)| parameter).collect::<Vec<_>>().leak(),
        observables: Observables::new(names, words.leak()),
        dual: if unsupported.is_none() { Some(builder::<Dual, R>(declared)) } else { None },
        linearisation: unsupported.map_or(Linearisation::Automatic, |why| Linearisation::Unsupported(kept(why))),
        real: builder::<f64, R>(declared),
        fixed: None,
        kernel: None,
    })
}

fn builder<N: Arithmetic, R: PythonRole>(declared: &'static Declared) -> Build<N, R> {
    Box::leak(Box::new(move |values: &Values, context: &R::Context| {
        let hosted = Hosted::<N, R>::build(declared, values, context)?;
        Ok(Box::new(hosted) as Box<dyn Instances<N, R>>)
    }))
}

fn parameters(of: &Bound<'_, PyAny>) -> PyResult<Vec<(Parameter, Kind)>> {
    of.try_iter()?.map(|parameter| parameter_of(&parameter?)).collect()
}

fn parameter_of(of: &Bound<'_, PyAny>) -> PyResult<(Parameter, Kind)> {
    let words: Vec<String> = of.getattr("words")?.extract()?;
    let unit: String = of.getattr("unit")?.extract()?;
    let (unit, kind) = match unit.as_str() {
        "1" => (Unit::One, Kind::Number),
        "packets" => (Unit::Packets, Kind::Number),
        "s" => (Unit::Seconds, Kind::Number),
        "bit/s" => (Unit::BitPerSecond, Kind::Number),
        "B" => (Unit::Bytes, Kind::Number),
        "switch" => (Unit::Switch, Kind::Switch),
        _ => {
            let words: &'static [&'static str] = words.into_iter().map(kept).collect::<Vec<_>>().leak();
            (Unit::Choice(words), Kind::Choice(words))
        }
    };
    let (default, automatic): (Option<f64>, Option<String>) =
        (of.getattr("default")?.extract()?, of.getattr("automatic")?.extract()?);
    let [least, most]: [f64; 2] = of.getattr("range")?.extract()?;
    let parameter = Parameter {
        name: text(of, "name")?,
        description: text(of, "description")?,
        unit,
        default: match (default, automatic) {
            (Some(value), _) => Default::Is(value),
            (None, Some(how)) => Default::Automatic(kept(how)),
            (None, None) => Default::Required,
        },
        least,
        most,
        source: text(of, "source")?,
    };
    Ok((parameter, kind))
}
