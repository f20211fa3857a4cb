//! Records: what one run leaves behind, as the files of a directory. Nothing here touches a disk.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `record.toml` | a [`Header`]: the scenario with every default filled in, and where it ran |
//! | `summary.json` | the [`Summary`], as a [`SummaryFile`] |
//! | `cost.json` | the [`Cost`](penstock_scenario::summary::Cost) of the run, which whoever runs it adds |
//! | `flows.parquet` | one row a flow, over the measured span; what does not apply is null |
//! | `links.parquet`, `groups.parquet` | series of links and of groups |
//! | `flows-series.parquet` | series of the flows of the groups that ask for them |
//! | `transfers.parquet` | one row a transfer, where flows have more than one |
//! | `packets.pcapng` | the packets at one end of every flow, where they were asked for: see [`capture`] |
//!
//! Any other table that a world leaves is a file of the table's name. A sweep adds `sweep.json` and
//! `cells.parquet`, see [`sweep()`] and [`cells()`].

pub mod capture;
mod cells;
mod columns;
mod page;
mod parquet;
mod sweep;

use std::fmt::Write as _;
use std::io::{self, Read};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub use self::cells::{CellRow, cells, write_cells};
pub use self::columns::Meaning;
pub use self::page::reference;
pub use self::parquet::{read_table, unit_of, write_table};
pub use self::sweep::{Place, SweepCell, Told, half_width_95, place_of, sweep};
use penstock_scenario::model::Scenario;
use penstock_scenario::read::identity;
use penstock_scenario::summary::{FlowSummary, Summary};
use penstock_scenario::world::{Cells, Column, Kind, Run, Table};
use penstock_scenario::write::print;

/// The version of a record's format that is written and read.
pub const FORMAT: u32 = 2;
/// What the last line of `record.toml` begins with. It is a comment, so that the file is TOML as a whole.
const SEAL: &str = "# SHA-256 of all bytes above this line: ";
/// What every record has, besides its header.
const NEEDED: [&str; 2] = ["summary.json", "flows.parquet"];

/// What computed a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The world.
    pub world: String,
    /// Identity of the code: a hash of its sources, or of the program. Absent before format 2.
    #[serde(default)]
    pub code: String,
    /// The program's version, for people.
    pub version: String,
    /// The commit that it was built from, if known, for people; with `-dirty` after local changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Origin {
    /// Whether two runs of one scenario with these origins have the same numbers: the same code ran in the same world.
    pub fn computes_as(&self, other: &Self) -> bool {
        !self.code.is_empty() && (&self.world, &self.code) == (&other.world, &other.code)
    }
}

/// Where and how a run took place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// What computed it.
    #[serde(flatten)]
    pub origin: Origin,
    /// Changes to the scenario file for this run, as given to `--set`: `KEY=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// What tells this cell of a sweep from the others.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub labels: IndexMap<String, String>,
    /// What is known of the machine: kernel, processor, settings.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub machine: IndexMap<String, String>,
}

/// `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SummaryFile {
    /// The version of the file's format: 2. Files of version 1 lack this number.
    pub format: u32,
    /// Changes to the scenario file for this run, as given to `--set`: `KEY=VALUE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The numbers.
    #[serde(flatten)]
    pub summary: Summary,
}

/// The version of `summary.json` that is written.
const SUMMARY_FORMAT: u32 = 2;

/// `record.toml`: with it a record can be made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the record's format: [`FORMAT`].
    pub format: u32,
    /// The identity of the resolved scenario, see [`identity`].
    pub id: String,
    /// The seed.
    pub seed: u64,
    /// The scenario with every default filled in, itself a scenario file.
    pub scenario: String,
    /// Where and how it ran.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The SHA-256 of each other file that the results consist of, in hexadecimal digits, by its name.
    pub files: IndexMap<String, String>,
}

impl Header {
    /// Sees whether the files of a record are as they were written. `content` opens one by its name, which is a plain
    /// one: that of no folder, and none above.
    ///
    /// # Errors
    /// Says which file cannot be read or is another.
    pub fn intact<R: Read>(&self, mut content: impl FnMut(&str) -> io::Result<R>) -> Result<(), RecordError> {
        for (name, written) in &self.files {
            let damaged = |why: String| RecordError::Damaged { file: name.clone(), why };
            let found = content(name).and_then(digest).map_err(|e| damaged(e.to_string()))?;
            if found != *written {
                return Err(damaged("it has changed since it was written".to_owned()));
            }
        }
        Ok(())
    }

    /// `record.toml`: the header, and under it a line with the hash of all that stands above.
    ///
    /// # Errors
    /// None that a header can cause.
    pub fn text(&self) -> Result<String, RecordError> {
        Ok(sealed(&toml::to_string_pretty(self)?))
    }

    /// Sees whether the header lists what every record has, by names that stay within it.
    fn complete(&self) -> Result<(), RecordError> {
        if let Some(name) = NEEDED.into_iter().find(|name| !self.files.contains_key(*name)) {
            return Err(RecordError::Unlisted(name.to_owned()));
        }
        match self.files.keys().find(|name| !is_plain(name)) {
            Some(name) => Err(RecordError::Name(name.clone())),
            None => Ok(()),
        }
    }

    /// The title in the scenario's text.
    ///
    /// # Errors
    /// Says why the text is not that of a scenario.
    pub fn title(&self) -> Result<String, RecordError> {
        #[derive(Deserialize)]
        struct Scenario {
            title: String,
        }
        Ok(toml::from_str::<Scenario>(&self.scenario)?.title)
    }

    /// The law of each group's senders, by the group's name, as they stand in the scenario's text. Nothing else of it is
    /// read, so that the files it may name need not be there.
    ///
    /// # Errors
    /// Says why the text is not that of a scenario.
    pub fn laws(&self) -> Result<Vec<(String, String)>, RecordError> {
        #[derive(Deserialize)]
        struct Scenario {
            flows: IndexMap<String, Group>,
        }
        #[derive(Deserialize)]
        struct Group {
            cc: Controller,
        }
        #[derive(Deserialize)]
        struct Controller {
            law: String,
        }
        let scenario: Scenario = toml::from_str(&self.scenario)?;
        Ok(scenario.flows.into_iter().map(|(name, group)| (name, group.cc.law)).collect())
    }
}

/// The warm-up of a resolved scenario, in seconds, from its text; 0 where the text does not say.
///
/// ```
/// assert_eq!(penstock_record::warm_up_s("duration = '60 s'\nwarmup = '20 s'"), 20.0);
/// ```
pub fn warm_up_s(scenario: &str) -> f64 {
    #[derive(Deserialize)]
    struct Scenario {
        warmup: Option<String>,
    }
    let warm_up = toml::from_str::<Scenario>(scenario).ok().and_then(|s| s.warmup);
    warm_up
        .and_then(|text| penstock_scenario::quantity::time(&text).ok())
        .map_or(0.0, penstock_law::quantity::Time::seconds)
}

/// The laws that a resolved scenario names, from its text, each once; none where the text is not a scenario.
///
/// ```
/// let text = "[links.a]\naqm = { law = 'red' }\n[flows.b]\ncc = { law = 'cubic' }\n[flows.c]\ncc = { law = 'cubic' }";
/// assert_eq!(penstock_record::law_names(text), ["cubic", "red"]);
/// ```
pub fn law_names(scenario: &str) -> Vec<String> {
    fn walk(value: &toml::Value, names: &mut std::collections::BTreeSet<String>) {
        match value {
            toml::Value::Table(table) => {
                names.extend(table.get("law").and_then(|law| law.as_str()).map(str::to_owned));
                table.values().for_each(|value| walk(value, names));
            }
            toml::Value::Array(values) => values.iter().for_each(|value| walk(value, names)),
            _ => {}
        }
    }
    let mut names = std::collections::BTreeSet::new();
    if let Ok(table) = toml::from_str::<toml::Table>(scenario) {
        walk(&toml::Value::Table(table), &mut names);
    }
    names.into_iter().collect()
}

/// Whether a name is one of a file in the very directory of a record: letters, digits, dashes, underscores and dots,
/// no dot in front.
fn is_plain(name: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(known)
}

/// The text of a header without its seal, with one.
pub fn sealed(header: &str) -> String {
    format!("{header}{SEAL}{}\n", hexadecimal(&Sha256::digest(header)))
}

/// Sees whether a header is whole: its last line has the hash of those above.
fn is_sealed(text: &str) -> bool {
    let above = text.rfind(SEAL).map_or("", |at| &text[..at]);
    text.ends_with('\n') && sealed(above) == text
}

/// The SHA-256 of all that is read, in constant memory.
fn digest(mut content: impl Read) -> io::Result<String> {
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match content.read(&mut piece) {
            Ok(0) => return Ok(hexadecimal(&hash.finalize())),
            Ok(read) => hash.update(&piece[..read]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Bytes as hexadecimal digits, as hashes are written.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The files of a record: names and contents.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Each file's name and content, in the order in which they are written.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Why a record cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A table's columns do not fit together: a bug of the world that made it.
    #[error("the table `{table}` cannot be written: its column `{column}` {why}")]
    Misshapen {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A number of the summary is infinite or NaN: a bug of the world that made it.
    #[error("the summary cannot be written: `{path}` is not a number")]
    NotANumber {
        /// Where it stands in the summary.
        path: String,
    },
    /// The Parquet library cannot write a table.
    #[error("the table `{table}` cannot be written")]
    Parquet {
        /// The table.
        table: String,
        /// Why.
        source: ::parquet::errors::ParquetError,
    },
    /// The Parquet library cannot read a file.
    #[error("not a Parquet file that can be read")]
    Unreadable(#[source] ::parquet::errors::ParquetError),
    /// A Parquet file is not one of a record.
    #[error("not a table of a record: {0}")]
    NotATable(String),
    /// `summary.json` is not a summary.
    #[error("not a summary")]
    Json(#[from] serde_json::Error),
    /// `record.toml` cannot be read.
    #[error("not the header of a record")]
    Toml(#[from] toml::de::Error),
    /// `record.toml` cannot be written.
    #[error("the header cannot be written")]
    WriteToml(#[from] toml::ser::Error),
    /// `record.toml` is not UTF-8.
    #[error("not text")]
    Text(#[from] std::str::Utf8Error),
    /// The last line of `record.toml` is not there, or is not the hash of the others.
    #[error("changed since it was written: its last line is not the SHA-256 of the lines above")]
    Unsealed,
    /// A header does not list a file that every record has.
    #[error("its `files` do not list {0}, which every record has")]
    Unlisted(String),
    /// A header lists a file that is not in the record.
    #[error("its `files` list `{0}`, which is no name of a file in a record")]
    Name(String),
    /// A file of the record is not as it was written.
    #[error("{file} is damaged: {why}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The record is of another format.
    #[error("a record of format {0}, and this version reads format {FORMAT}")]
    Format(u32),
    /// The summary is of a later format.
    #[error("a summary of format {0}, and this version reads format {SUMMARY_FORMAT}; a newer version reads it")]
    SummaryFormat(u32),
}

impl Record {
    /// The record of a run.
    ///
    /// # Errors
    /// Says what of the run cannot be written.
    pub fn of(scenario: &Scenario, run: &Run, provenance: &Provenance) -> Result<Self, RecordError> {
        let mut files = vec![
            ("summary.json".to_owned(), json(&summary_file(&run.summary, &provenance.changes)?)?),
            ("flows.parquet".to_owned(), write_table(&flow_table(&run.flows), &columns::of_flow)?),
        ];
        for table in &run.series {
            let of = |column: &str| columns::of_series(&table.name, column, scenario);
            files.push((table_file(&table.name), write_table(table, &of)?));
        }
        let header = Header {
            format: FORMAT,
            id: identity(scenario),
            seed: scenario.seed.0,
            scenario: print(scenario),
            provenance: provenance.clone(),
            files: files.iter().map(|(name, bytes)| (name.clone(), hexadecimal(&Sha256::digest(bytes)))).collect(),
        };
        files.insert(0, ("record.toml".to_owned(), header.text()?.into_bytes()));
        Ok(Self { files })
    }

    /// The content of a file, if the record has it.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.iter().find(|(n, _)| n == name).map(|(_, bytes)| bytes.as_slice())
    }
}

/// The file of one of a run's tables: the series of flows are not in `flows.parquet`, which has one row a flow.
pub fn table_file(table: &str) -> String {
    if table == "flows" { "flows-series.parquet".to_owned() } else { format!("{table}.parquet") }
}

/// What `summary.json` holds, as JSON.
///
/// # Errors
/// Names the first number that is infinite or NaN.
pub fn summary_file(summary: &Summary, changes: &[String]) -> Result<Value, RecordError> {
    let file = SummaryFile { format: SUMMARY_FORMAT, changes: changes.to_vec(), summary: summary.clone() };
    finite(serde_json::to_value(&file)?)
}

/// A summary as JSON, keys in declared order.
///
/// # Errors
/// Names the first number that is infinite or NaN, for JSON has no word for it.
pub fn summary_value(summary: &Summary) -> Result<Value, RecordError> {
    finite(serde_json::to_value(summary)?)
}

fn finite(value: Value) -> Result<Value, RecordError> {
    match hole(&value) {
        None => Ok(value),
        Some(path) => Err(RecordError::NotANumber { path }),
    }
}

/// Where a value has a null, innermost key last.
fn hole(value: &Value) -> Option<String> {
    let below = |key: &str, value: &Value| {
        hole(value).map(|path| if path.is_empty() { key.to_owned() } else { format!("{key}.{path}") })
    };
    match value {
        Value::Null => Some(String::new()),
        Value::Object(map) => map.iter().find_map(|(key, value)| below(key, value)),
        Value::Array(list) => list.iter().enumerate().find_map(|(at, value)| below(&at.to_string(), value)),
        _ => None,
    }
}

/// JSON as files of a record hold it: indented, with a newline at the end.
///
/// # Errors
/// None that a value can cause.
pub fn json(value: &Value) -> Result<Vec<u8>, RecordError> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads `summary.json`.
///
/// # Errors
/// Says what is not as a summary is.
pub fn read_summary(bytes: &[u8]) -> Result<Summary, RecordError> {
    /// Files of the first format have no such number.
    #[derive(Deserialize)]
    struct Numbered {
        format: Option<u32>,
    }
    // By itself, so that an error has its line.
    match serde_json::from_slice(bytes)? {
        Numbered { format: Some(format) } if format > SUMMARY_FORMAT => Err(RecordError::SummaryFormat(format)),
        Numbered { .. } => Ok(serde_json::from_slice(bytes)?),
    }
}

/// Reads `record.toml`.
///
/// # Errors
/// Says what is not as a header is. One that was cut off, at whatever place, or changed is not.
pub fn read_header(bytes: &[u8]) -> Result<Header, RecordError> {
    let text = std::str::from_utf8(bytes)?;
    // What another version wrote is told from what is damaged as far as it can be.
    if let Ok(Format { format }) = toml::from_str(text)
        && format != FORMAT
    {
        return Err(RecordError::Format(format));
    }
    if !is_sealed(text) {
        return Err(RecordError::Unsealed);
    }
    let header: Header = toml::from_str(text)?;
    header.complete()?;
    Ok(header)
}

/// What every format of a header has.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// The scenario of a record, which may be of format 1 too: what it holds can be run again.
///
/// # Errors
/// Says what is not as a header is.
pub fn read_scenario(bytes: &[u8]) -> Result<String, RecordError> {
    #[derive(Deserialize)]
    struct Older {
        scenario: String,
    }
    match read_header(bytes) {
        Err(RecordError::Format(1)) => Ok(toml::from_str::<Older>(std::str::from_utf8(bytes)?)?.scenario),
        read => Ok(read?.scenario),
    }
}

/// One row a flow: averages over the measured span, and counts and extremes as they stand at its end.
pub fn flow_table(flows: &[FlowSummary]) -> Table {
    let mut names: Vec<String> = Vec::new();
    let mut rows = Vec::with_capacity(flows.len());
    for flow in flows {
        // Flows of a group stand together, so the name is the last one or new.
        let at = names.iter().rposition(|name| *name == flow.group).unwrap_or_else(|| {
            names.push(flow.group.clone());
            names.len() - 1
        });
        rows.push(at as u32);
    }
    let number = |name: &str, kind, of: &dyn Fn(&FlowSummary) -> Option<f64>| Column {
        name: name.to_owned(),
        kind,
        values: Cells::Number(flows.iter().map(|flow| of(flow).unwrap_or(f64::NAN)).collect()),
    };
    let count = |name: &str, kind, of: &dyn Fn(&FlowSummary) -> u64| Column {
        name: name.to_owned(),
        kind,
        values: Cells::Count(flows.iter().map(of).collect()),
    };
    let columns = vec![
        Column { name: "group".to_owned(), kind: Kind::Key, values: Cells::Name { names, rows } },
        count("index", Kind::Key, &|flow| u64::from(flow.index)),
        number("rtt_s", Kind::Instant, &|flow| Some(flow.rtt_s)),
        number("goodput_bit_per_s", Kind::Average, &|flow| Some(flow.goodput_bit_per_s)),
        number("throughput_packets_per_s", Kind::Average, &|flow| Some(flow.throughput_packets_per_s)),
        number("window_mean_packets", Kind::Average, &|flow| flow.window_mean_packets),
        number("rtt_mean_s", Kind::Average, &|flow| flow.rtt_mean_s),
        number("rtt_min_s", Kind::Instant, &|flow| flow.rtt_min_s),
        number("loss_rate", Kind::Average, &|flow| Some(flow.loss_rate)),
        number("mark_rate", Kind::Average, &|flow| Some(flow.mark_rate)),
        count("retransmits", Kind::Instant, &|flow| flow.retransmits),
        count("timeouts", Kind::Instant, &|flow| flow.timeouts),
        number("completion_s", Kind::Instant, &|flow| flow.completion_s),
    ];
    Table { name: "flows".to_owned(), columns }
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
