//! `record.toml`: scenario and provenance of a run, and the hash of every other file.

use std::io::{self, Read};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RecordError;
use crate::format::FORMAT;
use crate::seal::{intact, is_sealed, sealed};

/// Files of every record, besides its header.
pub(crate) const NEEDED: [&str; 2] = ["summary.json", "flows.parquet"];

/// The program that computed a result.
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
    /// True if processors were kept from halting (`--awake`); absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awake: bool,
}

impl Origin {
    /// Whether a run of a scenario with one of these origins stands for one with the other: the same code ran in the same world, and
    /// processors that halt did so in both or in neither. Those change the times of real packets.
    pub fn computes_as(&self, other: &Self) -> bool {
        !self.code.is_empty() && (&self.world, &self.code, self.awake) == (&other.world, &other.code, other.awake)
    }
}

/// Where and how a run took place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The code and world that computed it.
    #[serde(flatten)]
    pub origin: Origin,
    /// Changes to the scenario file for this run, as given to `--set`: `KEY=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// Labels that distinguish this cell from the others of a sweep.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub labels: IndexMap<String, String>,
    /// Known facts of the machine: kernel, processor, settings.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub machine: IndexMap<String, String>,
}

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
    /// Names the file that cannot be read or differs.
    pub fn intact<R: Read>(&self, mut content: impl FnMut(&str) -> io::Result<R>) -> Result<(), RecordError> {
        self.files.iter().try_for_each(|(name, written)| intact(name, Some(written), content(name)))
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
    /// Names the reason why the text is not that of a scenario.
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
    /// Names the reason why the text is not that of a scenario.
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

/// Whether a name is one of a file in the very directory of a record: letters, digits, dashes, underscores and dots,
/// no dot in front.
fn is_plain(name: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(known)
}

/// Reads `record.toml`.
///
/// # Errors
/// Names the fault of the header. One that was cut off, at any byte, or changed is none.
pub fn read_header(bytes: &[u8]) -> Result<Header, RecordError> {
    let header: Header = toml::from_str(whole(bytes, FORMAT, RecordError::Format)?)?;
    header.complete()?;
    Ok(header)
}

/// The text of a file of this format with a seal, if it is whole.
pub(crate) fn whole(bytes: &[u8], format: u32, other: fn(u32) -> RecordError) -> Result<&str, RecordError> {
    let text = std::str::from_utf8(bytes)?;
    // What another version wrote is told from what is damaged as far as it can be.
    match toml::from_str(text) {
        Ok(Format { format: found }) if found != format => Err(other(found)),
        _ if !is_sealed(text) => Err(RecordError::Unsealed),
        _ => Ok(text),
    }
}

/// Reads `record.toml` of this format or of format 1, to look at it. Format 1 has neither a last line nor hashes of files: a
/// header of it has no `files`, and damage cannot be detected.
///
/// # Errors
/// As [`read_header`], for other formats too.
pub fn read_header_of_any(bytes: &[u8]) -> Result<Header, RecordError> {
    #[derive(Deserialize)]
    struct Older {
        #[serde(default)]
        id: String,
        seed: u64,
        scenario: String,
        #[serde(flatten)]
        provenance: Provenance,
    }
    match read_header(bytes) {
        Err(RecordError::Format(1)) => {
            let Older { id, seed, scenario, provenance } = toml::from_str(std::str::from_utf8(bytes)?)?;
            Ok(Header { format: 1, id, seed, scenario, provenance, files: IndexMap::new() })
        }
        read => read,
    }
}

/// The common part of every format of a header.
#[derive(Deserialize)]
struct Format {
    pub(crate) format: u32,
}

/// The scenario of a record, which may be of format 1 too and can be run again.
///
/// # Errors
/// Names the fault of the header.
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
