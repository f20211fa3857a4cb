//! The worst cell of each criterion as a scenario file of its own, which runs again without the evaluation.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, PoisonError};

use penstock_evaluation::{Evaluation, WORST_CELLS};
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::write;

use super::library::Library;
use super::plan::Plan;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::registry;

/// Files by their names: scenarios by the id of their criterion, and what those name by the names there.
#[derive(Default)]
pub(super) struct WorstCells {
    /// The scenario of the worst cell of a criterion, with the law under test and the first seed.
    pub(super) scenarios: BTreeMap<String, String>,
    /// Traces and the like.
    named: BTreeMap<String, String>,
}

impl WorstCells {
    /// Those of the criteria whose worst cell ran.
    pub(super) fn of(evaluation: &Evaluation, plan: &Plan<'_>, library: &Library) -> Result<Self, Failure> {
        let cells = plan.batches.iter().flat_map(|batch| &batch.cells);
        let known: BTreeMap<&str, &Scenario> = cells.map(|cell| (cell.id.as_str(), &cell.scenario)).collect();
        let mut worst = Self::default();
        for outcome in &evaluation.criteria {
            let Some((measured, cell)) = outcome.headline() else { continue };
            let Some((id, scenario)) = cell.run.as_deref().and_then(|id| Some((id, known.get(id)?))) else { continue };
            let text = write::print(scenario);
            worst.named.append(&mut named(&text, id, library)?);
            let head = format!("# {}: {}. Law: {}. ", outcome.id, outcome.title, evaluation.law);
            let cell = format!("Worst cell: {}, {}, first seed.\n", measured.title, cell.words());
            worst.scenarios.insert(outcome.id.clone(), format!("{head}{cell}{text}"));
        }
        Ok(worst)
    }

    /// Writes them below the directory of the evaluation, in the place of older ones.
    pub(super) fn write(&self, home: &Folder, evaluation: &Evaluation) -> Result<(), Failure> {
        for outcome in evaluation.criteria.iter().filter(|outcome| !self.scenarios.contains_key(&outcome.id)) {
            // Mostly there is none.
            let _ = fs::remove_file(home.path().join(WORST_CELLS).join(format!("{}.toml", outcome.id)));
        }
        if self.scenarios.is_empty() {
            return Ok(());
        }
        home.make(WORST_CELLS)?;
        for (id, text) in &self.scenarios {
            home.put_file_in(WORST_CELLS, &format!("{id}.toml"), text.as_bytes())?;
        }
        for (name, text) in &self.named {
            home.put_file_in(WORST_CELLS, name, text.as_bytes())?;
        }
        Ok(())
    }
}

/// The files that a printed scenario names, if they can stand beside it. The text is that of the run: it has the same hash.
fn named(text: &str, id: &str, library: &Library) -> Result<BTreeMap<String, String>, Failure> {
    let seen: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
    let (load, into) = (library.loader(), Arc::clone(&seen));
    let loader = move |name: &str| {
        let text = load(name)?;
        let mut parts = Path::new(name).components();
        if matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            into.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), text.clone());
        }
        Ok(text)
    };
    let document = Document::parse_with(text, "the worst cell", loader)?.with_laws(Arc::clone(registry::laws()));
    match &document.cells()?[..] {
        [cell] if cell.id == id => Ok(std::mem::take(&mut seen.lock().unwrap_or_else(PoisonError::into_inner))),
        _ => Err(Failure::Bug(format!("the scenario of the run {id} was printed as another"))),
    }
}
