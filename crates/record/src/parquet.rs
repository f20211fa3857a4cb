//! Tables as Parquet: numbers are nullable doubles (null for NaN), counts unsigned integers, names strings.
//!
//! The meaning of a column, its kind, unit and description, is in the metadata of its field, which readers of Arrow show, and
//! in JSON under the key `penstock` of the file's metadata, with the table's name.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_format::ipc;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use penstock_scenario::world::{Cells, Column, Kind, Table};
use serde_json::{Value, json};

use crate::columns::Meaning;
use crate::error::RecordError;

/// The key of our metadata.
const KEY: &str = "penstock";
/// The key of Arrow's schema, in which readers of Arrow look for the metadata of fields.
const ARROW_KEY: &str = "ARROW:schema";
/// Rows written and read at a time.
const ROWS: usize = 1 << 20;
/// The most values of a table that is read: 4 GB. A few bytes of Parquet can say that a value stands there a billion
/// times.
const MOST_VALUES: u64 = 500_000_000;

/// A table as a Parquet file; `of` gives the meaning of a column by its name.
///
/// # Errors
/// Names the columns that do not fit together.
pub fn write_table(table: &Table, of: &dyn Fn(&str) -> Meaning) -> Result<Vec<u8>, RecordError> {
    check(table)?;
    let meanings: Vec<Meaning> = table.columns.iter().map(|column| of(&column.name)).collect();
    let write = || -> Result<Vec<u8>, ParquetError> {
        let fields = table.columns.iter().map(|c| field(c).map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by("penstock".to_owned())
            .set_key_value_metadata(Some(vec![
                KeyValue::new(KEY.to_owned(), about_table(table, &meanings).to_string()),
                KeyValue::new(ARROW_KEY.to_owned(), arrow(table, &meanings)?),
            ]))
            .build();
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
        let rows = table.rows();
        let mut from = 0;
        while from < rows {
            let to = (from + ROWS).min(rows);
            let mut group = file.next_row_group()?;
            for column in &table.columns {
                write_column(&mut group, &column.values, from, to)?;
            }
            group.close()?;
            from = to;
        }
        file.into_inner()
    };
    write().map_err(|source| RecordError::Parquet { table: table.name.clone(), source })
}

/// Columns are equally long, differ in name, and name rows that exist.
fn check(table: &Table) -> Result<(), RecordError> {
    let wrong = |column: &Column, why| {
        Err(RecordError::Misshapen { table: table.name.clone(), column: column.name.clone(), why })
    };
    for (at, column) in table.columns.iter().enumerate() {
        let (rows, known) = match &column.values {
            Cells::Number(v) => (v.len(), true),
            Cells::Count(v) => (v.len(), true),
            Cells::Name { names, rows } => (rows.len(), rows.iter().all(|row| (*row as usize) < names.len())),
        };
        if rows != table.rows() {
            return wrong(column, "is not as long as the first");
        }
        if !known {
            return wrong(column, "has an index that is past its names");
        }
        if table.columns[..at].iter().any(|c| c.name == column.name) {
            return wrong(column, "is there twice");
        }
    }
    Ok(())
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, repetition, logical) = match column.values {
        Cells::Number(_) => (Physical::DOUBLE, Repetition::OPTIONAL, None),
        Cells::Count(_) => (Physical::INT64, Repetition::REQUIRED, Some(LogicalType::integer(64, false))),
        Cells::Name { .. } => (Physical::BYTE_ARRAY, Repetition::REQUIRED, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(&column.name, physical).with_repetition(repetition).with_logical_type(logical).build()
}

/// Description of a column for a reader, beyond its name and type, by keys.
pub(crate) fn about(column: &Column, meaning: &Meaning) -> Vec<(&'static str, String)> {
    let text = matches!(column.values, Cells::Name { .. });
    let unit = if text { "" } else { meaning.unit.as_str() };
    let known = [("unit", unit), ("title", meaning.title.as_str()), ("description", meaning.description.as_str())];
    let known = known.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key, text.to_owned()));
    std::iter::once(("kind", word(column.kind).to_owned())).chain(known).collect()
}

/// The same of all columns, for the file.
fn about_table(table: &Table, meanings: &[Meaning]) -> Value {
    let columns = table.columns.iter().zip(meanings).map(|(column, meaning)| {
        let about = about(column, meaning).into_iter().map(|(key, text)| (key.to_owned(), json!(text)));
        let mut about: serde_json::Map<String, Value> = about.collect();
        if let Cells::Name { names, .. } = &column.values {
            about.insert("names".to_owned(), json!(names));
        }
        (column.name.clone(), Value::Object(about))
    });
    json!({ "format": 1, "table": table.name, "columns": columns.collect::<serde_json::Map<_, _>>() })
}

/// The schema as Arrow has it, with metadata of fields, which Parquet's own schema has no place for: a message of Arrow's
/// format for streams, in base64.
fn arrow(table: &Table, meanings: &[Meaning]) -> Result<String, ParquetError> {
    let fields = table.columns.iter().zip(meanings).map(|(column, meaning)| {
        let (kind, nullable) = match column.values {
            Cells::Number(_) => {
                (ipc::Type::FloatingPoint(Box::new(ipc::FloatingPoint { precision: ipc::Precision::Double })), true)
            }
            Cells::Count(_) => (ipc::Type::Int(Box::new(ipc::Int { bit_width: 64, is_signed: false })), false),
            Cells::Name { .. } => (ipc::Type::Utf8(Box::default()), false),
        };
        let about: BTreeMap<&str, String> = about(column, meaning).into_iter().collect();
        let about = about.into_iter().map(|(key, text)| ipc::KeyValue { key: Some(key.to_owned()), value: Some(text) });
        ipc::Field {
            name: Some(column.name.clone()),
            nullable,
            type_: Some(kind),
            children: Some(Vec::new()),
            custom_metadata: Some(about.collect()),
            ..ipc::Field::default()
        }
    });
    let schema = ipc::Schema { fields: Some(fields.collect()), ..ipc::Schema::default() };
    let header = Some(ipc::MessageHeader::Schema(Box::new(schema)));
    let message = ipc::Message { version: ipc::MetadataVersion::V5, header, ..ipc::Message::default() };
    let mut builder = planus::Builder::new();
    let message = builder.finish(message, None);
    let length = u32::try_from(message.len()).map_err(|_| ParquetError::General("too many columns".into()))?;
    // What begins every message of a stream: a mark, then the length.
    let stream = [&[0xff; 4], length.to_le_bytes().as_slice(), message].concat();
    Ok(BASE64_STANDARD.encode(stream))
}

const KINDS: [(Kind, &str); 3] = [(Kind::Key, "key"), (Kind::Average, "average"), (Kind::Instant, "instant")];

/// The word for a kind.
pub(crate) fn word(kind: Kind) -> &'static str {
    KINDS.iter().find(|(k, _)| *k == kind).map_or("instant", |(_, word)| word)
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: &Cells,
    from: usize,
    to: usize,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    match cells {
        Cells::Number(values) => {
            let values = &values[from..to];
            let levels: Vec<i16> = values.iter().map(|x| i16::from(!x.is_nan())).collect();
            let said: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
            column.typed::<DoubleType>().write_batch(&said, Some(&levels), None)?;
        }
        Cells::Count(values) => {
            let values: Vec<i64> = values[from..to].iter().map(|n| n.cast_signed()).collect();
            column.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        Cells::Name { names, rows } => {
            let names: Vec<ByteArray> = names.iter().map(|name| ByteArray::from(name.as_str())).collect();
            let values: Vec<ByteArray> = rows[from..to].iter().map(|row| names[*row as usize].clone()).collect();
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
    }
    column.close()
}

/// Reads a table that [`write_table`] wrote.
///
/// # Errors
/// Names the reason why the bytes are not such a table.
pub fn read_table(bytes: &[u8]) -> Result<Table, RecordError> {
    Ok(read_with_metadata(bytes)?.0)
}

/// The same, with the metadata of each column, by the column's name.
pub(crate) fn read_with_metadata(bytes: &[u8]) -> Result<(Table, Value), RecordError> {
    let file = SerializedFileReader::new(Bytes::copy_from_slice(bytes)).map_err(RecordError::Unreadable)?;
    check_places(&file, bytes.len())?;
    let rows = file.metadata().row_groups().iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
    let rows = rows.fold(0, u64::saturating_add);
    let metadata = file.metadata().file_metadata();
    check_size(rows, metadata.schema().get_fields().len())?;
    let ours = metadata.key_value_metadata().and_then(|all| all.iter().find(|kv| kv.key == KEY));
    let about: Value = match ours.and_then(|kv| kv.value.as_deref()) {
        Some(text) => serde_json::from_str(text)?,
        None => return Err(RecordError::NotATable(format!("its metadata have no `{KEY}`"))),
    };
    let name = about["table"].as_str().unwrap_or_default().to_owned();
    let mut columns = Vec::new();
    for field in metadata.schema().get_fields() {
        columns.push(empty_column(field, &about["columns"][field.name()])?);
    }
    // Where each name of a column stands in its list.
    let mut places: Vec<BTreeMap<String, u32>> = columns
        .iter()
        .map(|column| match &column.values {
            Cells::Name { names, .. } => (0..).zip(names).map(|(at, name)| (name.clone(), at)).collect(),
            _ => BTreeMap::new(),
        })
        .collect();
    for at in 0..file.num_row_groups() {
        let group = file.get_row_group(at).map_err(RecordError::Unreadable)?;
        for (at, (column, places)) in columns.iter_mut().zip(&mut places).enumerate() {
            read_column(group.as_ref(), at, &mut column.values, places).map_err(RecordError::Unreadable)?;
        }
    }
    Ok((Table { name, columns }, about["columns"].clone()))
}

/// Refuses columns that lie outside the file: the library takes their offsets as they stand, and panics.
fn check_places(file: &SerializedFileReader<Bytes>, bytes: usize) -> Result<(), RecordError> {
    let columns = file.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    for column in columns {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let end = start.checked_add(column.compressed_size());
        let within = start >= 0 && column.compressed_size() >= 0 && end.is_some_and(|end| end <= bytes as i64);
        if !within || column.num_values() < 0 {
            let name = column.column_descr().name();
            return Err(RecordError::NotATable(format!("the column `{name}` lies outside the file")));
        }
    }
    Ok(())
}

/// Refuses a table that would take the memory of a whole machine.
fn check_size(rows: u64, columns: usize) -> Result<(), RecordError> {
    if rows.saturating_mul(columns as u64) <= MOST_VALUES {
        return Ok(());
    }
    let what = format!("it has {rows} rows of {columns} columns, and {MOST_VALUES} values at most are read");
    Err(RecordError::NotATable(what))
}

/// A column without rows.
fn empty_column(field: &TypePtr, about: &Value) -> Result<Column, RecordError> {
    let kind = KINDS.iter().find(|(_, word)| about["kind"] == *word).map(|(kind, _)| *kind);
    let kind = kind.ok_or_else(|| RecordError::NotATable(format!("the kind of `{}` is unknown", field.name())))?;
    if !field.is_primitive() {
        return Err(RecordError::NotATable(format!("`{}` is not a plain column", field.name())));
    }
    let values = match field.get_physical_type() {
        Physical::DOUBLE => Cells::Number(Vec::new()),
        Physical::INT64 => Cells::Count(Vec::new()),
        Physical::BYTE_ARRAY => {
            let names = about["names"].as_array().into_iter().flatten();
            Cells::Name { names: names.filter_map(|n| n.as_str().map(str::to_owned)).collect(), rows: Vec::new() }
        }
        other => return Err(RecordError::NotATable(format!("`{}` is of type {other}", field.name()))),
    };
    Ok(Column { name: field.name().to_owned(), kind, values })
}

fn read_column(
    group: &dyn RowGroupReader,
    at: usize,
    cells: &mut Cells,
    places: &mut BTreeMap<String, u32>,
) -> Result<(), ParquetError> {
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    match (cells, group.get_column_reader(at)?) {
        (Cells::Number(values), ColumnReader::DoubleColumnReader(reader)) => {
            values.extend(drain(reader, rows)?.into_iter().map(|x| x.unwrap_or(f64::NAN)));
        }
        (Cells::Count(values), ColumnReader::Int64ColumnReader(reader)) => {
            values.extend(drain(reader, rows)?.into_iter().map(|n| n.unwrap_or(0).cast_unsigned()));
        }
        (Cells::Name { names, rows: indices }, ColumnReader::ByteArrayColumnReader(reader)) => {
            for value in drain(reader, rows)? {
                let value = value.unwrap_or_default();
                let name = String::from_utf8_lossy(if value.is_empty() { &[] } else { value.data() });
                let index = places.get(name.as_ref()).copied().unwrap_or_else(|| {
                    names.push(name.to_string());
                    places.insert(name.to_string(), names.len() as u32 - 1);
                    names.len() as u32 - 1
                });
                indices.push(index);
            }
        }
        _ => return Err(ParquetError::General("a column is of another type than its schema says".into())),
    }
    Ok(())
}

/// All values of a column chunk; none for null.
fn drain<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut levels, mut values, mut read) = (Vec::new(), Vec::new(), 0);
    while read < rows {
        let (records, _, _) = reader.read_records((rows - read).min(ROWS), Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::General("a column is shorter than its table".into()));
        }
        read += records;
    }
    if levels.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.into_iter().map(|level| if level > 0 { values.next() } else { None }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_more_values_than_memory_holds_is_not_read() {
        check_size(50_000_000, 10).unwrap();
        check_size(u64::MAX, 0).unwrap();
        let refused = check_size(50_000_001, 10).unwrap_err().to_string();
        assert!(refused.contains("50000001 rows of 10 columns, and 500000000 values at most"), "{refused}");
        assert!(check_size(u64::MAX, 2).is_err());
    }
}
