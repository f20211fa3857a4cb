//! `cells.toml`: a sweep whose cells have no records but a row each, in the partitions of a Parquet dataset.
//!
//! It is to the dataset as `record.toml` is to a record: how the cells can be made again, and a hash of each file. A partition
//! has its name here once it is on disk, so that an interrupted sweep keeps those that are listed.

use std::io::{self, Read};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::RecordError;
use crate::format::DATASET_FORMAT;
use crate::header::{Origin, whole};
use crate::seal::{hexadecimal, intact, sealed};

/// The folder of the partitions, from the directory of the sweep.
pub const FOLDER: &str = "cells";

/// `cells.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dataset {
    /// The version of the format: 1.
    pub format: u32,
    /// The scenario's title.
    pub title: String,
    /// The identity of the sweep: a SHA-256 over the identity of each cell's scenario, and its labels.
    pub id: String,
    /// The number of cells of the sweep.
    pub cells: usize,
    /// The number of cells of each partition but the last, which has the rest.
    pub partition: usize,
    /// Text of the scenario's file, before the changes.
    pub scenario: String,
    /// Changes to the scenario file, as given to `--set`: `KEY=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The code and world that computed it.
    #[serde(flatten)]
    pub origin: Origin,
    /// Known facts of the machine: kernel, processor, settings.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub machine: IndexMap<String, String>,
    /// The SHA-256 of each partition that is finished, in hexadecimal digits, by the name of its file.
    #[serde(default)]
    pub partitions: IndexMap<String, String>,
}

impl Dataset {
    /// The number of partitions of the whole dataset.
    pub fn all(&self) -> usize {
        self.cells.div_ceil(self.partition.max(1))
    }

    /// The number of finished cells.
    pub fn finished(&self) -> usize {
        let sizes = (0..self.all()).filter(|at| self.partitions.contains_key(&partition_file(*at)));
        sizes.map(|at| self.partition.min(self.cells - at * self.partition)).sum()
    }

    /// Sees whether a partition is as it was written. `content` is that of its file.
    ///
    /// # Errors
    /// Names the file that cannot be read or differs.
    pub fn intact<R: Read>(&self, name: &str, content: io::Result<R>) -> Result<(), RecordError> {
        intact(&format!("{FOLDER}/{name}"), self.partitions.get(name), content)
    }

    /// `cells.toml`: the fields, and under them a line with the hash of all that stands above. Partitions are in order.
    ///
    /// # Errors
    /// None that a dataset can cause.
    pub fn text(&self) -> Result<String, RecordError> {
        let mut sorted = self.clone();
        sorted.partitions.sort_keys();
        Ok(sealed(&toml::to_string_pretty(&sorted)?))
    }
}

/// The file of the partition of that number, counted from zero.
pub fn partition_file(at: usize) -> String {
    format!("part-{at:05}.parquet")
}

/// Reads `cells.toml`.
///
/// # Errors
/// Names its fault. One that was cut off, at any byte, or changed is none.
pub fn read_dataset(bytes: &[u8]) -> Result<Dataset, RecordError> {
    let dataset: Dataset = toml::from_str(whole(bytes, DATASET_FORMAT, RecordError::DatasetFormat)?)?;
    let all = dataset.all();
    let known = |name: &String| {
        let at =
            name.strip_prefix("part-").and_then(|name| name.strip_suffix(".parquet")).and_then(|at| at.parse().ok());
        at.is_some_and(|at: usize| at < all && partition_file(at) == *name)
    };
    match dataset.partitions.keys().find(|name| !known(name)) {
        Some(name) => Err(RecordError::Partition(name.clone())),
        None => Ok(dataset),
    }
}

/// The identity of cells, in order: a SHA-256 over the identity of each one's scenario and its labels, which are in its row.
#[derive(Debug, Clone, Default)]
pub struct Identity(Sha256);

impl Identity {
    /// Adds a cell.
    pub fn add(&mut self, id: &str, labels: &[(String, String)]) {
        // Each text behind its length, so that no two lists of texts are alike.
        let texts = labels.iter().flat_map(|(key, label)| [key, label]).map(String::as_str);
        for text in std::iter::once(id).chain(texts) {
            self.0.update(text.len().to_le_bytes());
            self.0.update(text);
        }
        self.0.update(u64::MAX.to_le_bytes());
    }

    /// In hexadecimal digits.
    pub fn text(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset() -> Dataset {
        Dataset {
            format: DATASET_FORMAT,
            title: "t".to_owned(),
            id: "0".to_owned(),
            cells: 250,
            partition: 100,
            scenario: "format = 1\n".to_owned(),
            changes: Vec::new(),
            origin: Origin::default(),
            machine: IndexMap::new(),
            partitions: [1, 0].map(|at| (partition_file(at), hexadecimal(&Sha256::digest(b"rows")))).into(),
        }
    }

    #[test]
    fn a_dataset_is_read_as_it_was_written_and_not_if_changed() {
        let text = dataset().text().unwrap();
        let read = read_dataset(text.as_bytes()).unwrap();
        assert_eq!(read, dataset(), "partitions have no order");
        assert_eq!((read.all(), read.finished()), (3, 200));
        assert!(read.partitions.keys().is_sorted());
        for cut in 0..text.len() {
            read_dataset(&text.as_bytes()[..cut]).unwrap_err();
        }
        let refused = |text: &str| read_dataset(text.as_bytes()).unwrap_err().to_string();
        assert!(refused(&text.replace("cells = 250", "cells = 251")).contains("changed since it was written"));
        assert!(refused(&text.replace("format = 1\ntitle", "format = 2\ntitle")).contains("of format 2"));
        let mut away = dataset();
        away.partitions.insert("../part-00002.parquet".to_owned(), String::new());
        assert!(refused(&away.text().unwrap()).contains("../part-00002.parquet"));
        let mut beyond = dataset();
        beyond.partitions.insert(partition_file(3), String::new());
        assert!(refused(&beyond.text().unwrap()).contains("part-00003.parquet"));
    }

    #[test]
    fn a_partition_is_known_by_its_hash() {
        let (dataset, name) = (dataset(), partition_file(0));
        dataset.intact(&name, Ok(&b"rows"[..])).unwrap();
        let refused =
            |name: &str, content: io::Result<&'static [u8]>| dataset.intact(name, content).unwrap_err().to_string();
        assert_eq!(
            refused(&name, Ok(b"rowz")),
            "cells/part-00000.parquet is damaged: it has changed since it was written"
        );
        assert!(refused(&name, Err(io::ErrorKind::NotFound.into())).contains("cells/part-00000.parquet is damaged"));
        assert!(refused(&partition_file(2), Ok(b"rows")).contains("is damaged"), "one that is not listed");
    }

    #[test]
    fn other_cells_and_other_labels_are_another_sweep() {
        let id = |cells: &[(&str, &str, &str)]| {
            let mut identity = Identity::default();
            for (id, key, label) in cells {
                identity.add(id, &[((*key).to_owned(), (*label).to_owned())]);
            }
            identity.text()
        };
        let some = [("a", "seed", "1"), ("b", "seed", "2")];
        assert_eq!(id(&some), id(&some));
        for other in [&some[..1], &[some[1], some[0]], &[("a", "see", "d1"), some[1]], &[("a", "seed", "3"), some[1]]] {
            assert_ne!(id(&some), id(other));
        }
    }
}
