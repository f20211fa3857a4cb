//! Tables as Arrow has them: what readers of the C stream interface take without a copy.

#![allow(clippy::disallowed_types, reason = "a field of the library has a hash map, and its order shows nowhere")]

use std::collections::HashMap;
use std::panic::catch_unwind;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use indexmap::IndexSet;
use penstock_record::Described;
use penstock_scenario::world::{Cells, Column, Kind, Table as Rows};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyString};

use crate::error;

/// A table of a record.
///
/// Readers of Arrow take it as it is: `polars.DataFrame(table)`, `pyarrow.table(table)`. Numbers are doubles, null where
/// nothing applies. Counts are unsigned integers. The metadata of each field have `kind`, `unit`, `title` and `description`.
#[pyclass(frozen, module = "penstock")]
pub(crate) struct Table {
    name: String,
    batch: RecordBatch,
}

/// The function that reads a pickled table, its name, and its stream of Arrow.
pub(crate) type Pickled<'py> = (Bound<'py, PyAny>, (String, Bound<'py, PyBytes>));

/// The metadata of a column that [`Described`] has.
const ABOUT: [&str; 4] = ["kind", "unit", "title", "description"];

impl Table {
    /// The table with the metadata of its columns, if they have the types of [`Table::of`].
    pub(crate) fn described(&self) -> Option<Described> {
        let about = |field: &Arc<Field>| {
            let text = |key: &'static str| Some((key, field.metadata().get(key)?.clone()));
            ABOUT.into_iter().filter_map(text).collect()
        };
        let columns = self.batch.schema_ref().fields().iter().map(about).collect();
        Some(Described { table: rows(&self.name, &self.batch).ok()?, columns })
    }

    /// As a stream of Arrow.
    pub(crate) fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = stream(&self.batch).map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
        Ok(PyBytes::new(py, &written))
    }

    /// The table as Arrow has it. Its numbers are moved, not copied.
    pub(crate) fn of(name: &str, described: Described) -> Result<Self, ArrowError> {
        let mut fields = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (column, about) in described.table.columns.into_iter().zip(described.columns) {
            let Column { name, values, .. } = column;
            let (kind, nullable, array) = array(values)?;
            let metadata: HashMap<String, String> = about.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
            fields.push(Field::new(name, kind, nullable).with_metadata(metadata));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?;
        Ok(Self { name: name.to_owned(), batch })
    }
}

fn array(values: Cells) -> Result<(DataType, bool, ArrayRef), ArrowError> {
    Ok(match values {
        Cells::Number(values) => {
            let valid = BooleanBuffer::collect_bool(values.len(), |at| !values[at].is_nan());
            let nulls = Some(NullBuffer::new(valid)).filter(|nulls| nulls.null_count() > 0);
            let array = Float64Array::try_new(ScalarBuffer::from(values), nulls)?;
            (DataType::Float64, true, Arc::new(array))
        }
        Cells::Count(values) => (DataType::UInt64, false, Arc::new(UInt64Array::try_new(values.into(), None)?)),
        Cells::Name { names, rows } => {
            let length: usize = rows.iter().map(|row| names[*row as usize].len()).sum();
            if i32::try_from(length).is_err() {
                return Err(ArrowError::OffsetOverflowError(length));
            }
            let mut bytes: Vec<u8> = Vec::with_capacity(length);
            let lengths = rows.iter().map(|row| names[*row as usize].len());
            let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
            for row in &rows {
                bytes.extend_from_slice(names[*row as usize].as_bytes());
            }
            (DataType::Utf8, false, Arc::new(StringArray::try_new(offsets, bytes.into(), None)?))
        }
    })
}

/// A table as a stream of Arrow (the IPC streaming format).
pub(crate) fn write(table: Rows) -> Result<Vec<u8>, ArrowError> {
    let columns = vec![Vec::new(); table.columns.len()];
    let name = table.name.clone();
    stream(&Table::of(&name, Described { table, columns })?.batch)
}

fn stream(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    // The columns of a batch of cells are short: padded to 64 bytes, they would be larger than JSON.
    let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V5)?;
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), batch.schema_ref(), options)?;
    writer.write(batch)?;
    writer.into_inner()
}

/// The one batch in a stream of Arrow.
fn batch(bytes: &[u8]) -> Result<RecordBatch, ArrowError> {
    let mut batches = StreamReader::try_new(bytes, None)?.collect::<Result<Vec<_>, _>>()?;
    match (batches.pop(), batches.len()) {
        (Some(batch), 0) => Ok(batch),
        (last, before) => {
            let count = before + usize::from(last.is_some());
            Err(ArrowError::IpcError(format!("the stream has {count} batches, not one")))
        }
    }
}

/// The table of that name in a stream of Arrow, of the types that [`write`] writes.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Rows, ArrowError> {
    rows(name, &batch(bytes)?)
}

/// A batch as a table, of the types that [`Table::of`] makes.
fn rows(name: &str, batch: &RecordBatch) -> Result<Rows, ArrowError> {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns()).map(|(field, array)| {
        let (kind, values) = values_of(array).ok_or_else(|| {
            ArrowError::SchemaError(format!("column `{}` has the type {}", field.name(), field.data_type()))
        })?;
        let kind = match field.metadata().get("kind").map(String::as_str) {
            Some("key") => Kind::Key,
            Some("average") => Kind::Average,
            Some("instant") => Kind::Instant,
            _ => kind,
        };
        Ok(Column { name: field.name().clone(), kind, values })
    });
    Ok(Rows { name: name.to_owned(), columns: columns.collect::<Result<_, ArrowError>>()? })
}

/// The values that [`array`] makes an array of.
fn values_of(array: &ArrayRef) -> Option<(Kind, Cells)> {
    let array = array.as_any();
    if let Some(array) = array.downcast_ref::<Float64Array>() {
        let values = array.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        return Some((Kind::Average, Cells::Number(values)));
    }
    if let Some(array) = array.downcast_ref::<UInt64Array>() {
        return Some((Kind::Key, Cells::Count(array.values().to_vec())));
    }
    let array = array.downcast_ref::<StringArray>()?;
    let mut names: IndexSet<String> = IndexSet::new();
    let rows = array.iter().map(|text| names.insert_full(text.unwrap_or_default().to_owned()).0 as u32).collect();
    Some((Kind::Key, Cells::Name { names: names.into_iter().collect(), rows }))
}

#[pymethods]
impl Table {
    /// A table of rows. Columns are numbers, or texts where the first row that has one has a text.
    #[staticmethod]
    fn of_rows(py: Python<'_>, name: &str, columns: Vec<String>, rows: Vec<Vec<Py<PyAny>>>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (at, column) in columns.into_iter().enumerate() {
            let values = || rows.iter().map(|row| row[at].bind(py));
            let is_text = values().find(|value| !value.is_none()).is_some_and(PyAnyMethods::is_instance_of::<PyString>);
            let (kind, array): (_, ArrayRef) = if is_text {
                let texts = values().map(PyAnyMethods::extract::<Option<String>>).collect::<PyResult<Vec<_>>>()?;
                (DataType::Utf8, Arc::new(StringArray::from(texts)))
            } else {
                let numbers = values().map(PyAnyMethods::extract::<Option<f64>>).collect::<PyResult<Vec<_>>>()?;
                (DataType::Float64, Arc::new(Float64Array::from(numbers)))
            };
            fields.push(Field::new(column, kind, true));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        let batch = batch.map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
        Ok(Self { name: name.to_owned(), batch })
    }

    /// The table of that name in a stream of Arrow (the IPC streaming format), as pickling writes it.
    #[staticmethod]
    pub(crate) fn of_stream(name: &str, bytes: &[u8]) -> PyResult<Self> {
        // The reader panics on an offset behind the end of a damaged stream.
        let read = catch_unwind(|| batch(bytes));
        let read = read.map_err(|_| PyValueError::new_err("the stream of Arrow is damaged"))?;
        let batch = read.map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Self { name: name.to_owned(), batch })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        Ok((py.get_type::<Self>().getattr("of_stream")?, (self.name.clone(), self.stream(py)?)))
    }

    /// The table's name, as its file has it.
    #[getter]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The metadata of a column: `kind`, `unit`, `title`, `description`.
    fn about<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyDict>> {
        let field = self.batch.schema_ref().field_with_name(column).map_err(|_| {
            let known = self.columns().join(", ");
            PyKeyError::new_err(format!("{} has no column `{column}`: it has {known}", self.name))
        })?;
        let about = PyDict::new(py);
        for key in ABOUT {
            if let Some(value) = field.metadata().get(key) {
                about.set_item(key, value)?;
            }
        }
        Ok(about)
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let columns = self.columns().join(", ");
        format!("<penstock.Table {}: {} rows of {columns}>", self.name, self.batch.num_rows())
    }

    /// The schema, as a capsule of Arrow's C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema_ref().as_ref());
        let schema = schema.map_err(|e| error::of_class(py, "BugError", &e.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The table, as a capsule of Arrow's C stream interface. A schema that is requested is not followed, which the interface
    /// allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}
