//! Laws that are classes of Python, and the laws that this process knows.

mod entry;
mod hosted;
mod observation;
pub(crate) mod raised;
mod role;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use penstock_cli::library;
use penstock_law::aqm::Aqm;
use penstock_law::cc::Controller;
use penstock_law::registry::Refused;
use penstock_law::{Entry, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

pub(crate) use observation::{AqmObservation, SenderObservation};

/// A law of Python in the registry.
struct Registered {
    name: String,
    class: Py<PyType>,
    /// The identity of its code.
    code: String,
    entry: Kept,
}

/// An entry, which lives as long as the process.
#[derive(Clone, Copy)]
enum Kept {
    Controller(&'static Entry<Controller>),
    Queue(&'static Entry<Aqm>),
}

impl Kept {
    fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Controller(a), Self::Controller(b)) => std::ptr::eq(a, b),
            (Self::Queue(a), Self::Queue(b)) => std::ptr::eq(a, b),
            _ => false,
        }
    }

    fn with(self, registry: Registry) -> Result<Registry, Refused> {
        match self {
            Self::Controller(entry) => registry.with(entry),
            Self::Queue(entry) => registry.with(entry),
        }
    }
}

/// By name, in the order of registration.
static REGISTERED: Mutex<Vec<Registered>> = Mutex::new(Vec::new());

fn registered() -> MutexGuard<'static, Vec<Registered>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a law, in the place of one of the same name that Python added before. `about` is what `penstock._law` read of the class,
/// and `code` identifies what it computes.
#[pyfunction]
pub(crate) fn register(class: &Bound<'_, PyType>, about: &Bound<'_, PyAny>, code: String, queue: bool) -> PyResult<()> {
    raised::refuse_in_law()?;
    let name: String = about.getattr("name")?.extract()?;
    if known(&name, class, &code).is_some() {
        return Ok(());
    }
    let entry = made(class, about, queue)?;
    let law = Registered { name: name.clone(), class: class.clone().unbind(), code, entry };
    change(&name, Some(law))
}

/// The entry of this class, where it is registered with this code.
fn known(name: &str, class: &Bound<'_, PyType>, code: &str) -> Option<Kept> {
    let same = |of: &&Registered| of.name == name && of.class.bind(class.py()).is(class) && of.code == code;
    registered().iter().find(same).map(|law| law.entry)
}

fn made(class: &Bound<'_, PyType>, about: &Bound<'_, PyAny>, queue: bool) -> PyResult<Kept> {
    Ok(if queue {
        Kept::Queue(Box::leak(Box::new(entry::entry(class, about)?)))
    } else {
        Kept::Controller(Box::leak(Box::new(entry::entry(class, about)?)))
    })
}

/// Laws that a sweep runs with, whatever is registered meanwhile or by another sweep.
#[pyclass(frozen, module = "penstock._native")]
pub(crate) struct Laws(pub(crate) Arc<Registry>);

/// A law as [`register`] takes it.
type Given<'py> = (Bound<'py, PyType>, Bound<'py, PyAny>, String, bool);

#[pymethods]
impl Laws {
    /// These laws in the place of those of the same names that are registered now, and the others that are.
    #[new]
    fn new(laws: Vec<Given<'_>>) -> PyResult<Self> {
        raised::refuse_in_law()?;
        let mut all = Vec::new();
        for (class, about, code, queue) in &laws {
            let name: String = about.getattr("name")?.extract()?;
            let entry = known(&name, class, code).map_or_else(|| made(class, about, *queue), Ok)?;
            all.push((name, entry));
        }
        let others = registered().iter().map(|law| (law.name.clone(), law.entry)).collect::<Vec<_>>();
        let others = others.into_iter().filter(|(name, _)| all.iter().all(|(given, _)| given != name));
        let all: Vec<Kept> = others.collect::<Vec<_>>().into_iter().chain(all).map(|(_, entry)| entry).collect();
        let join = || all.into_iter().try_fold(Registry::standard(), |registry, entry| entry.with(registry));
        let (joined, raised) = raised::here(join);
        if let Some(raised) = raised {
            return Err(raised);
        }
        let refused = |refused: Refused| PyValueError::new_err(refused.to_string());
        library::complete(joined.map_err(refused)?).map(Self).map_err(refused)
    }
}

/// Removes a law that Python added.
#[pyfunction]
pub(crate) fn unregister(name: &str) -> PyResult<()> {
    raised::refuse_in_law()?;
    if registered().iter().all(|law| law.name != name) {
        return Err(PyValueError::new_err(format!("no law of Python is registered as `{name}`")));
    }
    change(name, None)
}

/// Puts a law in the place of the one of that name, or none, and gives all commands the new list of laws.
fn change(name: &str, mut law: Option<Registered>) -> PyResult<()> {
    loop {
        // Laws are tried without the lock: another thread of Python may want it meanwhile.
        let before: Vec<(String, Kept)> = registered().iter().map(|law| (law.name.clone(), law.entry)).collect();
        let others = before.iter().filter(|(known, _)| known != name).map(|(_, entry)| *entry);
        let (others, _) = raised::here(|| {
            // They were taken before.
            others.fold(Registry::standard(), |registry, entry| entry.with(registry.clone()).unwrap_or(registry))
        });
        let (tried, raised) = raised::here(|| law.as_ref().map_or(Ok(others.clone()), |law| law.entry.with(others)));
        if let Some(raised) = raised {
            return Err(raised);
        }
        let registry = tried.map_err(|refused| PyValueError::new_err(refused.to_string()))?;
        let mut laws = registered();
        let same = laws.len() == before.len()
            && laws.iter().zip(&before).all(|(law, (name, entry))| law.name == *name && law.entry.is(*entry));
        if !same {
            continue;
        }
        let others = laws.iter().filter(|law| law.name != name);
        let codes: Vec<String> = others.chain(&law).map(|law| format!("{} {}", law.name, law.code)).collect();
        library::adopt(registry, &codes).map_err(|refused| PyValueError::new_err(refused.to_string()))?;
        let replaced = laws.iter().position(|law| law.name == name).map(|at| laws.remove(at));
        laws.extend(law.take());
        drop(laws);
        // The class may end here, and with it whatever it holds.
        drop(replaced);
        return Ok(());
    }
}

/// The laws that Python added, by name.
#[pyfunction(name = "registered")]
pub(crate) fn classes(py: Python<'_>) -> Vec<(String, Py<PyType>)> {
    registered().iter().map(|law| (law.name.clone(), law.class.clone_ref(py))).collect()
}
