//! The part of the command for a program in another language: scenarios from files, runs with their cost, records on disk.
//!
//! Everything here returns its messages. Nothing prints, and nothing ends the process.

mod command;
mod error;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_law::Registry;
use penstock_law::registry::Refused;
use penstock_record::{Described, Header, Origin};
use penstock_report::html;
use penstock_scenario::read::{Cell, Document};
use penstock_scenario::summary::{Cost, Summary};
use penstock_scenario::world::{Run, RunError, Table, Watcher, World};
use penstock_scenario::write::print;

use crate::arguments::WorldName;
use crate::batch::Batch;
use crate::folder::Folder;
use crate::jobs::Made;
use crate::meter::Meter;
use crate::record::{self, Subject};
use crate::{init, machine, pages, registry, report, scenario};

pub use command::{Answer, around_threads, command, stop};
pub use error::Error;

/// Sets the laws that commands and reports know from now on. `codes` identify the code of those that a program in another language
/// added, since its own code does not: results of an older one are then not taken for theirs.
///
/// # Errors
/// A law has the name of a controller of a QUIC stack; the laws are those that were adopted before.
pub fn adopt(laws: Registry, codes: &[String]) -> Result<(), Refused> {
    registry::adopt(laws, &codes.join(" "))
}

/// The laws that were adopted last, and before that those of Penstock.
pub fn laws() -> Arc<Registry> {
    Arc::clone(registry::laws())
}

/// These laws for [`read`] and [`parse`], beside those that were adopted: another sweep may have a law of the same name.
///
/// # Errors
/// A law has the name of a controller of a QUIC stack.
pub fn complete(laws: Registry) -> Result<Arc<Registry>, Refused> {
    registry::complete(laws)
}

/// Writes the files that the command `init` writes into a new directory: scenarios, and papers in its folder `papers`.
///
/// # Errors
/// Names the reason why nothing can be written there.
pub fn init(folder: &Path) -> Result<(), Error> {
    init::write(folder, false)?;
    Ok(())
}

/// Reads a scenario file, or the scenario of a record by the path of its `record.toml`. Files that it names are relative to its
/// folder. A run may take the memory that is free on this machine.
///
/// # Errors
/// Names the reason why the file cannot be read or is not TOML.
pub fn read(path: &Path, laws: Arc<Registry>) -> Result<Document, Error> {
    Ok(scenario::loaded(&scenario::text(path)?, path, laws)?)
}

/// The same for a text. Errors call it `name`, and files that it names are relative to the folder of `name`.
///
/// # Errors
/// Names the line that is not TOML.
pub fn parse(text: &str, name: &Path, laws: Arc<Registry>) -> Result<Document, Error> {
    Ok(scenario::loaded(text, name, laws)?)
}

/// The name of a scenario's file as records have it: without folders and ending.
pub fn stem(path: &Path) -> String {
    scenario::stem(path)
}

/// The world of that name.
///
/// # Errors
/// Lists the worlds where there is none of that name, or reports that this machine has none.
pub fn world(name: &str) -> Result<Box<dyn World + Sync>, Error> {
    let known = match name {
        "packets" => WorldName::Packets,
        "fluid" => WorldName::Fluid,
        "linux" => WorldName::Linux,
        _ => return Err(Error::Input(format!("no world is named `{name}`: write packets, fluid or linux"))),
    };
    Ok(scenario::world(known)?)
}

/// Runs a scenario on this thread, and measures the cost.
///
/// # Errors
/// As [`World::run`].
pub fn run(world: &dyn World, cell: &Cell, watcher: &mut dyn Watcher) -> Result<(Run, Cost), RunError> {
    let meter = Meter::start();
    let run = world.run(&cell.scenario, watcher)?;
    let cost = meter.cost(run.summary.engine.packets);
    Ok((run, cost))
}

/// The origin of results of a world in this process, as records name it.
///
/// # Errors
/// Names the reason why the program cannot be identified.
pub fn origin(world: &str) -> Result<Origin, Error> {
    Ok(machine::origin(world, false)?)
}

/// Writes the record of a run into the directory `out`, with its report, and returns where. Its name is made of `stem`, of
/// `changes` (`KEY=VALUE`) and of the seed, and is fresh: nothing is overwritten.
///
/// # Errors
/// Names the reason why nothing can be written there.
pub fn keep(
    out: &Path,
    stem: &str,
    cell: &Cell,
    changes: &[String],
    run: Run,
    cost: Cost,
) -> Result<(PathBuf, Summary), Error> {
    let folder = Folder::open(out)?;
    let (stem, changed_now) = (stem.to_owned(), changes.to_vec());
    let batch = Batch { stem, changed_now, changes: changes.to_vec(), ..Batch::default() };
    let made = Made { run, cost, draft: None };
    let name = record::single_name(&batch, cell);
    let kept = record::keep(&folder, &name, Subject::cell(&batch, cell), made, |run| {
        let laws = pages::laws(&cell.scenario);
        let page = page(&print(&cell.scenario), &laws, changes, &run.summary, &run.series);
        vec![("report.html".to_owned(), page.into_bytes())]
    })?;
    Ok((kept.path, kept.summary))
}

/// The report of a run as one HTML page, with its figures: by the resolved text of its scenario, and the name of each group's
/// law.
pub fn page(
    scenario: &str,
    laws: &[(String, String)],
    changes: &[String],
    summary: &Summary,
    series: &[Table],
) -> String {
    let mut page = pages::of_run(scenario, laws, summary, series, &machine::facts());
    page.title = pages::titled(&page.title, changes);
    html::write(&page)
}

/// A record on disk.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Its `record.toml`.
    pub header: Header,
    /// The measurements.
    pub summary: Summary,
    /// Each table by the name of its file without the ending, in the order of the header.
    pub tables: Vec<(String, Described)>,
}

/// Reads the record in a directory, if its files are as they were written.
///
/// # Errors
/// Names the file that is missing, damaged or of another format.
pub fn open(directory: &Path) -> Result<Opened, Error> {
    let (header, summary, tables) = report::whole(directory)?;
    Ok(Opened { header, summary, tables })
}

/// The report of a record on disk as one HTML page.
///
/// # Errors
/// As [`open`].
pub fn page_of(directory: &Path) -> Result<String, Error> {
    Ok(html::write(&report::of_record(directory)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "format = 1\nduration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                        delay = \"1 ms\"\nbuffer = \"9 packets\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nrtt = \"9 ms\"\n\
                        cc = { law = \"newreno\" }";

    /// The record of a run on disk has its results, and its name has its changes.
    #[test]
    fn a_run_that_is_kept_can_be_opened() {
        let home = tempfile::tempdir().unwrap();
        let mut document = parse(TEXT, Path::new("lab.toml"), laws()).unwrap();
        document.set("flows.f.count", "2").unwrap();
        let cell = document.cells().unwrap().remove(0);
        let world = world("packets").unwrap();
        let (run, cost) = run(world.as_ref(), &cell, &mut |_: f64| true).unwrap();
        let changes = ["flows.f.count=2".to_owned()];
        let (path, summary) = keep(home.path(), "lab", &cell, &changes, run, cost).unwrap();
        assert_eq!(path.file_name().unwrap(), "lab-count-2-seed1");
        let opened = open(&path).unwrap();
        assert_eq!((&opened.summary, &opened.header.id), (&summary, &cell.id));
        assert_eq!(opened.header.provenance.changes, changes);
        assert!(opened.tables.iter().any(|(name, flows)| name == "flows" && flows.table.rows() == 2));
        assert!(page_of(&path).unwrap().contains("<svg"));
    }

    #[test]
    fn what_is_wrong_has_its_kind() {
        assert!(matches!(parse("format = ", Path::new("lab.toml"), laws()), Err(Error::Scenario(_))));
        assert!(matches!(read(Path::new("none.toml"), laws()), Err(Error::Input(_))));
        let unknown = world("fliud").map(drop).unwrap_err();
        assert!(unknown.to_string().contains("write packets, fluid or linux"), "{unknown}");
        assert!(matches!(open(Path::new("none")), Err(Error::Input(_))));
    }
}
