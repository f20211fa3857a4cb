//! The files of the evaluation: those that are part of the command, or those of a directory.

use std::fs;
use std::path::{Path, PathBuf};

use penstock_evaluation::Criterion;

use crate::examples::Inside;
use crate::failure::Failure;
use crate::named::Shown as _;
use crate::scenario;

// `BATTERY: &[Inside]`, with names below `evaluation`, written by build.rs.
include!(concat!(env!("OUT_DIR"), "/battery.rs"));

/// Criteria and their scenarios.
#[derive(Debug)]
pub(super) struct Library {
    /// The directory; with none, the files of the command are read.
    folder: Option<PathBuf>,
    /// In the order of their ids: senders, L4S, queues.
    pub(super) criteria: Vec<Criterion>,
}

impl Library {
    /// Reads all criteria of `folder`, or those of the command.
    pub(super) fn open(folder: Option<&Path>) -> Result<Self, Failure> {
        let mut library = Self { folder: folder.map(Path::to_path_buf), criteria: Vec::new() };
        for name in library.names()? {
            let criterion = Criterion::parse(&library.text(&name)?, &library.shown(&name)).map_err(Failure::input)?;
            if criterion.id.get_ref() != name.trim_end_matches(".toml") {
                let (file, id) = (library.shown(&name), criterion.id.get_ref());
                return Err(Failure::Input(format!(
                    "{file}: the criterion in this file has the id `{id}`; rename the file to {id}.toml"
                )));
            }
            library.criteria.push(criterion);
        }
        let order = |id: &str| ["EV", "L4S", "AQ"].iter().position(|kind| id.starts_with(kind));
        library.criteria.sort_by_key(|criterion| {
            let id = criterion.id.get_ref();
            let number = id.rsplit('-').next().and_then(|n| n.parse::<u32>().ok());
            (order(id).unwrap_or(usize::MAX), number, id.clone())
        });
        Ok(library)
    }

    /// The criterion files.
    fn names(&self) -> Result<Vec<String>, Failure> {
        let Some(folder) = &self.folder else {
            let own = BATTERY.iter().map(|inside| inside.name.to_owned());
            return Ok(own.filter(|name| !name.contains('/')).collect());
        };
        let cannot = |e: std::io::Error| Failure::Input(format!("cannot read {}: {e}", folder.shown()));
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(cannot)? {
            let name = entry.map_err(cannot)?.file_name().to_string_lossy().into_owned();
            if Path::new(&name).extension().is_some_and(|ending| ending == "toml") {
                names.push(name);
            }
        }
        names.sort_unstable();
        if names.is_empty() {
            return Err(Failure::Input(format!("{} has no file of a criterion, such as EV-04.toml", folder.shown())));
        }
        Ok(names)
    }

    /// A file as messages name it.
    pub(super) fn shown(&self, name: &str) -> String {
        shown(self.folder.as_deref(), name)
    }

    /// The text of a file.
    pub(super) fn text(&self, name: &str) -> Result<String, Failure> {
        read(self.folder.as_deref(), name)
    }

    /// Reads files named by scenarios, such as traces, from beside them.
    pub(super) fn loader(&self) -> impl Fn(&str) -> Result<String, String> + Send + Sync + 'static {
        let folder = self.folder.clone();
        move |name: &str| read(folder.as_deref(), &format!("scenarios/{name}")).map_err(|e| e.to_string())
    }
}

/// A file as messages name it.
fn shown(folder: Option<&Path>, name: &str) -> String {
    folder.unwrap_or(Path::new("evaluation")).join(name).shown()
}

/// The text of a file of a directory, or of the command.
fn read(folder: Option<&Path>, name: &str) -> Result<String, Failure> {
    if let Some(folder) = folder {
        let file = folder.join(name);
        // A battery may come from anybody, as a paper may.
        scenario::stay_in(folder, &file, "battery")?;
        return scenario::text(&file);
    }
    let inside = BATTERY.iter().find(|inside| inside.name == name);
    inside
        .map(|inside| inside.text().to_owned())
        .ok_or_else(|| Failure::Input(format!("{}: there is no such file", shown(folder, name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Criteria of one battery stand together, by number and not by letter.
    #[test]
    fn the_criteria_of_the_command_are_in_order() {
        let library = Library::open(None).unwrap();
        let ids: Vec<&str> = library.criteria.iter().map(|c| c.id.get_ref().as_str()).collect();
        let place = |id: &str| ids.iter().position(|other| *other == id);
        assert!(place("EV-02") < place("EV-10") && place("EV-35") < place("L4S-1") && place("L4S-8") < place("AQ-01"));
    }
}
