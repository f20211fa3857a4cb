//! Cells of a sweep that are on disk already: found by the identity of their scenario, whatever their labels.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use penstock_record::{Header, Origin, RecordError, read_header, read_summary};

use crate::content;
use crate::failure::causes;
use crate::record::Kept;

/// The records in a directory, by the beginning of their identity.
#[derive(Debug)]
pub(crate) struct Finished(BTreeMap<String, Vec<PathBuf>>);

/// The finished part of a cell.
#[derive(Debug)]
pub(crate) enum Found {
    /// Its record, whole.
    Whole(Box<(Header, Kept)>),
    /// A damaged record, and its fault.
    Damaged(PathBuf, String),
    /// Nothing.
    Nothing,
}

impl Finished {
    /// Looks at the names in a directory; nothing is read.
    pub(crate) fn scan(folder: &Path) -> io::Result<Self> {
        let mut records: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            for id in ids(&entry.file_name().to_string_lossy()) {
                records.entry(id.to_owned()).or_default().push(entry.path());
            }
        }
        // The order of the disk decides nothing.
        for places in records.values_mut() {
            places.sort_unstable();
        }
        Ok(Self(records))
    }

    /// Whether there is no record at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is a record with the identity of that scenario, computed by any program.
    pub(crate) fn has(&self, id: &str) -> bool {
        id.get(..8).is_some_and(|id| self.0.contains_key(id))
    }

    /// The record of a cell that `origin` computed. Those of other code, worlds and formats are passed over.
    pub(crate) fn find(&self, id: &str, origin: &Origin) -> Found {
        let places = id.get(..8).and_then(|id| self.0.get(id));
        let mut damaged = Found::Nothing;
        for place in places.into_iter().flatten() {
            match whole(place, id, origin) {
                Ok(None) => {}
                Ok(Some(found)) => return Found::Whole(Box::new(found)),
                Err(why) => damaged = Found::Damaged(place.clone(), why),
            }
        }
        damaged
    }
}

/// The identities that the name of a record may end in: `WORDS-ID`, or where that was taken, `WORDS-ID-2`.
fn ids(name: &str) -> impl Iterator<Item = &str> {
    let is_id = |part: &&str| part.len() == 8 && part.bytes().all(|b| b.is_ascii_hexdigit());
    name.rsplit('-').take(2).filter(is_id)
}

/// Reads a record; none if it is of something else.
fn whole(place: &Path, id: &str, origin: &Origin) -> Result<Option<(Header, Kept)>, String> {
    let header = content::read(&place.join("record.toml"), content::HEADER).map_err(|e| format!("record.toml: {e}"))?;
    let header = match read_header(&header) {
        Err(RecordError::Format(_)) => return Ok(None),
        header => header.map_err(|e| format!("record.toml: {}", causes(&e)))?,
    };
    if header.id != id || !header.provenance.origin.computes_as(origin) {
        return Ok(None);
    }
    header.intact(|name| content::listed(place, name)).map_err(|e| causes(&e))?;
    let summary =
        content::read(&place.join("summary.json"), content::SUMMARY).map_err(|e| format!("summary.json: {e}"))?;
    let summary = read_summary(&summary).map_err(|e| format!("summary.json: {}", causes(&e)))?;
    Ok(Some((header, Kept { path: place.to_path_buf(), summary, cost: None })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_the_end_of_a_name() {
        let of = |name| ids(name).collect::<Vec<_>>();
        assert_eq!(of("20-mbit-s-1-0123abcd"), ["0123abcd"]);
        assert_eq!(of("0123abcd"), ["0123abcd"]);
        assert_eq!(of("fast-0123abcd-2"), ["0123abcd"]);
        assert!(of("fast-0123abcd.damaged").is_empty() && of("sweep.json").is_empty());
        assert!(of(".fast-0123abcd.partial-1234-0").is_empty());
    }
}
