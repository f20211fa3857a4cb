//! A sweep on disk: its finished cells, and its files as a whole once all are finished.

use std::collections::{BTreeMap, BTreeSet};

use penstock_record::Origin;
use penstock_report::html;
use penstock_scenario::read::Cell;
use penstock_scenario::world::World;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments::Shard;
use crate::batch::Batch;
use crate::failure::Failure;
use crate::finished::{Finished, Found};
use crate::folder::{Folder, Others, unwritable};
use crate::named::Shown as _;
use crate::outcome::Outcome;
use crate::record::{self, Kept};
use crate::{content, dataset, machine, pages, source, terminal};

/// A sweep, its directory, and the finished part of it.
#[derive(Debug)]
pub(crate) struct Swept<'a> {
    batch: &'a Batch,
    folder: Folder,
    origin: Origin,
    /// The cells of this shard, those with the same scenario once.
    ours: Vec<&'a Cell>,
    /// Records from before, by identity.
    kept: BTreeMap<&'a str, Kept>,
    shard: Option<Shard>,
}

impl<'a> Swept<'a> {
    /// Opens the directory of a sweep and reads its finished cells. A damaged record is set aside, and its cell runs
    /// again.
    pub(crate) fn open(
        out: &Folder,
        batch: &'a Batch,
        world: &dyn World,
        shard: Option<Shard>,
    ) -> Result<Self, Failure> {
        let folder = out.resume(&batch.stem, if shard.is_some() { Others::Share } else { Others::Wait })?;
        let mut seen = BTreeSet::new();
        let cells = batch.cells.iter().enumerate().filter(|(at, _)| shard.is_none_or(|shard| shard.has(*at)));
        let ours: Vec<&Cell> = cells.map(|(_, cell)| cell).filter(|cell| seen.insert(&cell.id)).collect();
        let origin = machine::origin_in(world)?;
        let mut swept = Self { batch, folder, origin, ours, kept: BTreeMap::new(), shard };
        let finished = swept.scan()?;
        if dataset::is_at(swept.folder.path()) {
            return Err(Failure::Input(format!(
                "{} has the cells of a sweep as a dataset; add --dataset, or choose another directory with --out DIR",
                swept.folder.path().shown()
            )));
        }
        source::claim(&swept.folder, batch, world.name(), &|| batch.cells.iter().any(|cell| finished.has(&cell.id)))?;
        swept.note_other_changes();
        for cell in &swept.ours {
            match finished.find(&cell.id, &swept.origin) {
                Found::Whole(found) => {
                    swept.kept.insert(&cell.id, found.1);
                }
                Found::Damaged(path, why) => {
                    let aside = swept.folder.set_aside(&path)?;
                    terminal::note(format!(
                        "{}: {why}; its cell runs again, and this record is renamed to {}",
                        path.shown(),
                        aside.shown()
                    ));
                }
                Found::Nothing => {}
            }
        }
        if !swept.kept.is_empty() {
            let (there, all) = (swept.kept.len(), swept.ours.len());
            terminal::note(format!("{there} of {all} cells are finished in {}", swept.folder.path().shown()));
        }
        Ok(swept)
    }

    /// Prints that `sweep.json` and the files beside it will be of other changes to the scenario than now, or of runs with the other
    /// use of `--awake`.
    fn note_other_changes(&self) {
        #[derive(Deserialize)]
        struct Before {
            #[serde(default)]
            changes: Vec<String>,
            #[serde(default)]
            awake: bool,
        }
        let path = self.folder.path();
        let before = content::read(&path.join("sweep.json"), content::SUMMARY).ok();
        let before = before.and_then(|bytes| serde_json::from_slice::<Before>(&bytes).ok());
        let other = |before: &Before| (&before.changes, before.awake) != (&self.batch.changes, self.origin.awake);
        let Some(Before { changes, awake }) = before.filter(other) else { return };
        let of = |changes: &[String], is_awake: bool| {
            let text = match changes {
                [] => "the scenario as it stands in its file".to_owned(),
                changes => format!("`--set {}`", changes.join("`, `--set ")),
            };
            match is_awake {
                _ if awake == self.origin.awake => text,
                true => format!("{text} with `--awake`"),
                false => format!("{text} without `--awake`"),
            }
        };
        terminal::note(format!(
            "{}: sweep.json, cells.parquet and report.html are those of {}, and will be those of {}; the records of all cells \
             stay; another directory (--out DIR) keeps both",
            path.shown(),
            of(&changes, awake),
            of(&self.batch.changes, self.origin.awake),
        ));
    }

    /// Where its records go.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The cells that are to be run.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &'a Cell> {
        self.ours.iter().copied().filter(|cell| !self.kept.contains_key(cell.id.as_str()))
    }

    /// Number of cells that need not run.
    pub(crate) fn finished(&self) -> usize {
        self.kept.len()
    }

    /// After a failure: prints how to continue.
    pub(crate) fn give_up(&self) {
        source::give_up(&self.folder);
        self.folder.remove_if_empty();
        let Ok(finished) = self.scan() else { return };
        let whole = |cell: &&&Cell| matches!(finished.find(&cell.id, &self.origin), Found::Whole(_));
        let (there, all) = (self.ours.iter().filter(whole).count(), self.ours.len());
        if there > 0 {
            let place = self.folder.path().shown();
            terminal::fail(format!(
                "{there} of {all} cells are kept in {place}; run the same command again to \
                                    continue"
            ));
        }
    }

    fn scan(&self) -> Result<Finished, Failure> {
        Finished::scan(self.folder.path()).map_err(|e| unwritable(self.folder.path(), &e))
    }

    /// With the records that were made now: writes `sweep.json`, and gives the record of each cell.
    pub(crate) fn gather(mut self, made: Vec<(&'a Cell, Kept)>) -> Result<Vec<Kept>, Failure> {
        let kept = self.collect(made)?.into_iter().flatten().collect::<Vec<_>>();
        self.write(&kept)?;
        Ok(kept)
    }

    /// With the records that were made now, and those of other shards: the record of each cell, if it is there.
    pub(crate) fn collect(&mut self, made: Vec<(&'a Cell, Kept)>) -> Result<Vec<Option<Kept>>, Failure> {
        self.kept.extend(made.into_iter().map(|(cell, kept)| (cell.id.as_str(), kept)));
        if self.shard.is_some() {
            let finished = self.scan()?;
            for cell in &self.batch.cells {
                if !self.kept.contains_key(cell.id.as_str())
                    && let Found::Whole(found) = finished.find(&cell.id, &self.origin)
                {
                    self.kept.insert(&cell.id, found.1);
                }
            }
        }
        Ok(self.batch.cells.iter().map(|cell| self.kept.get(cell.id.as_str()).cloned()).collect())
    }

    /// Writes the files of all cells together: `cells.parquet`, and `sweep.json`, which it returns as a value.
    fn write(&self, kept: &[Kept]) -> Result<Value, Failure> {
        let value = record::of_sweep(&self.origin, self.folder.path(), self.batch, kept)?;
        self.folder.put_file("cells.parquet", &record::cells_of(self.folder.path(), self.batch, kept)?)?;
        self.folder.put_file("sweep.json", &record::bytes(&value)?)?;
        Ok(value)
    }

    /// With the records that were made now, and where all cells are there: writes `sweep.json`, `cells.parquet` and the
    /// report. Prints the results, and returns them as the outcome.
    pub(crate) fn finish(mut self, made: Vec<(&'a Cell, Kept)>, json: bool) -> Result<Outcome, Failure> {
        let kept: Vec<Kept> = self.collect(made)?.into_iter().flatten().collect();
        let batch = self.batch;
        let (there, all) = (kept.len(), batch.cells.len());
        let place = self.folder.path().shown();
        let outcome = |sweep| Outcome::of_sweep(&batch.file, self.folder.path(), [there, all], sweep);
        if there < all {
            if !json {
                terminal::place("records", place)?;
                terminal::say(format!(
                    "{there} of {all} cells are finished; the shard that completes them writes sweep.json"
                ))?;
            }
            return Ok(outcome(None));
        }
        let value = self.write(&kept)?;
        let views = batch.cells.iter().zip(&kept).map(|(cell, kept)| {
            pages::cell_view(cell.labels.iter().cloned(), &pages::laws(&cell.scenario), &kept.summary)
        });
        let views: Vec<_> = views.collect();
        let page = pages::of_sweep(
            &pages::titled(&batch.title, &batch.changes),
            &views,
            &batch.text,
            &batch.command,
            &machine::facts(),
        );
        self.folder.put_file("report.html", html::write(&page).as_bytes())?;
        if !json {
            let look = terminal::look();
            terminal::say(look.page(&page))?;
            if kept.iter().any(|kept| kept.cost.is_some()) {
                terminal::say(look.paragraph(&pages::cost(&kept)))?;
            }
            terminal::place("records", place)?;
            terminal::place("report", record::shown(self.folder.path(), "report.html"))?;
        }
        Ok(outcome(Some(value)))
    }
}
