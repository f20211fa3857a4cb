//! Values of Python as TOML, the other way round as JSON.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value as Json;
use toml::ser::ValueSerializer;

/// The most tables and lists within each other: deeper ones are a structure that contains itself.
const DEEPEST: usize = 32;

/// A value of TOML whose tables keep the order of their keys: that of links and groups decides which draws they have.
pub(crate) enum Value {
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Table(Table),
}

/// Keys and values in order.
pub(crate) struct Table(Vec<(String, Value)>);

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => value.serialize(serializer),
            Self::Whole(value) => value.serialize(serializer),
            Self::Number(value) => value.serialize(serializer),
            Self::Text(value) => value.serialize(serializer),
            Self::List(values) => values.serialize(serializer),
            Self::Table(table) => table.serialize(serializer),
        }
    }
}

impl Value {
    /// As it stands behind a key, on one line.
    pub(crate) fn line(&self) -> Result<String, toml::ser::Error> {
        let mut text = String::new();
        self.serialize(ValueSerializer::new(&mut text))?;
        Ok(text)
    }
}

/// A mapping with text keys as a table.
pub(crate) fn table(value: &Bound<'_, PyAny>) -> PyResult<Table> {
    let mapping = value.cast::<PyMapping>().map_err(|_| {
        let class = class(value);
        PyTypeError::new_err(format!("a scenario is made of a dict, not of {class}: give the dict of a TOML file"))
    })?;
    inner(mapping, "", 0)
}

fn inner(mapping: &Bound<'_, PyMapping>, path: &str, depth: usize) -> PyResult<Table> {
    let mut table = Vec::new();
    for item in mapping.items()?.iter() {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let Ok(key) = key.cast::<PyString>() else {
            let at = if path.is_empty() { "a key".to_owned() } else { format!("a key of {path}") };
            return Err(PyTypeError::new_err(format!("{at} is of {}: write it as a str", class(&key))));
        };
        let key = key.to_str()?;
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        table.push((key.to_owned(), toml(&value, &path, depth + 1)?));
    }
    Ok(Table(table))
}

/// A value as TOML; `path` is its key, for errors.
pub(crate) fn toml(value: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!("{path} is more than {DEEPEST} deep: it may contain itself")));
    }
    // A bool of Python is an int too.
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        let whole = value.extract::<i64>();
        return whole.map(Value::Whole).map_err(|_| {
            PyValueError::new_err(format!("{path}: {value} does not fit 64 bits: write a smaller number"))
        });
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return Ok(Value::Number(value.value()));
    }
    if let Ok(value) = value.cast::<PyString>() {
        return Ok(Value::Text(value.to_str()?.to_owned()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let each = value.try_iter()?.enumerate().map(|(at, item)| toml(&item?, &format!("{path}[{at}]"), depth + 1));
        return Ok(Value::List(each.collect::<PyResult<_>>()?));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        return Ok(Value::Table(inner(mapping, path, depth)?));
    }
    if let Some(plain) = of_library(value)? {
        return toml(&plain, path, depth + 1);
    }
    let class = class(value);
    Err(PyTypeError::new_err(format!("{path} is of {class}: write a str, a number, a bool, a list or a dict")))
}

/// A number, bool or array of numpy or of a library like it, as values of Python: by its own methods, since numpy may not be there.
fn of_library<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    let kind = value.getattr_opt("dtype")?.and_then(|of| of.getattr_opt("kind").transpose()).transpose()?;
    let kind = kind.and_then(|kind| kind.extract::<String>().ok());
    let is_plain = |of: &Bound<'py, PyAny>| {
        of.is_instance_of::<PyInt>() || of.is_instance_of::<PyFloat>() || of.is_instance_of::<PyList>()
    };
    // Bools, whole numbers, floats and texts. Others, such as times in some unit, have no value of TOML.
    if kind.as_ref().is_some_and(|kind| !["b", "i", "u", "f", "U"].contains(&&kind[..])) {
        return Ok(None);
    }
    if kind.is_some()
        && let Some(tolist) = value.getattr_opt("tolist")?
    {
        let plain = tolist.call0()?;
        if is_plain(&plain) || plain.is_instance_of::<PyString>() {
            return Ok(Some(plain));
        }
    }
    // Of the longest floats too, whose `tolist` gives one of them.
    if value.hasattr("__index__")? {
        return py.import("operator")?.call_method1("index", (value,)).map(Some);
    }
    if value.hasattr("__float__")? {
        return py.get_type::<PyFloat>().call1((value,)).map(Some);
    }
    Ok(None)
}

fn class(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "another class".to_owned(), |name| format!("class {name}"))
}

/// JSON as values of Python.
pub(crate) fn object<'py>(py: Python<'py>, value: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Json::Null => py.None().into_bound(py),
        Json::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Json::String(text) => PyString::new(py, text).into_any(),
        Json::Array(list) => {
            let list = list.iter().map(|one| object(py, one)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, list)?.into_any()
        }
        Json::Object(map) => {
            let dict = PyDict::new(py);
            for (key, value) in map {
                dict.set_item(key, object(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
