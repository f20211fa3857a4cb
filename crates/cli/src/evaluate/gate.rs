//! A user's own bounds: `[gate] "EV-12.share" = [0.5, 2.0]`.

use std::path::Path;

use indexmap::IndexMap;
use penstock_evaluation::statistics::Verdict;
use penstock_evaluation::{CellOutcome, Criterion, Evaluation, Subject};
use penstock_papers::line;
use serde::Deserialize;

use crate::failure::Failure;
use crate::named::Shown as _;
use crate::{scenario, terminal};

/// A file of bounds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    gate: IndexMap<toml::Spanned<String>, [f64; 2]>,
}

/// Bounds by criterion and measure.
#[derive(Debug)]
pub(super) struct Gate {
    file: String,
    bounds: Vec<(String, String, [f64; 2])>,
}

impl Gate {
    /// Reads a file of bounds on measures of `criteria`: of those that are `known` the ones about `subject`, and among `only` if that has any.
    pub(super) fn read(
        file: &Path,
        known: &[String],
        criteria: &[Criterion],
        only: &[String],
        subject: &Subject,
    ) -> Result<Self, Failure> {
        let text = scenario::text(file)?;
        let name = file.shown();
        let wrong = |offset: usize, what: String| Failure::Input(format!("{name}:{}: {what}", line(&text, offset)));
        let read: File =
            toml::from_str(&text).map_err(|e| wrong(e.span().map_or(0, |span| span.start), e.message().to_owned()))?;
        if read.gate.is_empty() {
            let at = text.find("gate").unwrap_or_default();
            return Err(wrong(at, "`[gate]` has no bound; write one, as in \"EV-12.share\" = [0.5, 2.0]".into()));
        }
        let mut bounds = Vec::new();
        for (key, [least, most]) in read.gate {
            let (at, key) = (key.span().start, key.into_inner());
            let wrong = |what: String| wrong(at, format!("{key}: {what}"));
            if least.partial_cmp(&most).is_none_or(std::cmp::Ordering::is_gt) {
                return Err(wrong("write the smaller number first, as in [0.5, 2.0]".into()));
            }
            let Some((id, measure)) = key.split_once('.') else {
                return Err(wrong(
                    "this key names no measure of a criterion; write ID.MEASURE, as in \"EV-12.share\"".into(),
                ));
            };
            let Some(criterion) = criteria.iter().find(|criterion| criterion.id.get_ref() == id) else {
                return Err(wrong(if !known.iter().any(|other| other == id) {
                    format!("there is no criterion `{id}`; `evaluate --list` has them all")
                } else if !only.is_empty() && !only.iter().any(|other| other == id) {
                    format!("`--only` leaves out {id}; add it there, or remove this bound")
                } else {
                    format!("{id} is not about laws like `{}`; remove this bound", subject.name)
                }));
            };
            let why = subject.excused(criterion).or_else(|| criterion.not_evaluated.clone());
            if let Some(why) = why {
                return Err(wrong(format!("{id} has no numbers here: {why}; remove this bound")));
            }
            let Some(found) = criterion.measures.iter().find(|m| m.name.get_ref() == measure) else {
                let known: Vec<&str> = criterion.measures.iter().map(|m| m.name.get_ref().as_str()).collect();
                return Err(wrong(format!("{id} has no measure `{measure}`; it has {}", known.join(", "))));
            };
            if !found.laws.is_empty() && !found.laws.contains(&subject.name) {
                return Err(wrong(format!("only {} have this measure; remove this bound", found.laws.join(", "))));
            }
            if let Some(part) = criterion.part_of(found)
                && let Some(why) = subject.sits_out(criterion, part)
            {
                return Err(wrong(format!("it is not measured here: {why}; remove this bound")));
            }
            bounds.push((id.to_owned(), measure.to_owned(), [least, most]));
        }
        Ok(Self { file: name, bounds })
    }

    /// Prints which bounds are kept and which are undecided, and gives a sentence for each cell that breaks one: its whole 95 % interval is
    /// outside. A measure without numbers breaks its bound too.
    pub(super) fn judge(&self, evaluation: &Evaluation) -> Vec<String> {
        let mut broken = Vec::new();
        for (id, name, bound @ [least, most]) in &self.bounds {
            let of = format!("{}: {id}.{name}", self.file);
            let outcome = evaluation.criteria.iter().find(|outcome| outcome.id == *id);
            let Some(measured) = outcome.and_then(|o| o.measures.iter().find(|m| m.name == *name)) else {
                broken.push(format!("{of} was not measured"));
                continue;
            };
            let having = |verdict: Verdict| -> Vec<&CellOutcome> {
                measured.cells.iter().filter(|cell| cell.within(*bound, measured.scale) == verdict).collect()
            };
            let (fails, undecided) = (having(Verdict::Fails), having(Verdict::Undecided));
            for cell in &fails {
                let at = cell.words();
                broken.push(format!("{of} is {} at {at}, outside [{least}, {most}]", number(cell)));
            }
            if let (true, Some(cell)) = (fails.is_empty(), undecided.first()) {
                let (n, all) = (undecided.len(), measured.cells.len());
                let (at, number) = (cell.words(), number(cell));
                terminal::note(format!("{of} is undecided in {n} of {all} cells, such as {number} at {at}"));
            } else if fails.is_empty() {
                terminal::note(format!("{of} is kept"));
            }
        }
        broken
    }
}

/// The number of a cell in words.
fn number(cell: &CellOutcome) -> String {
    match (cell.absent, cell.unlimited) {
        (0, 0) => cell.law.mean.to_string(),
        (0, n) => format!("infinite in {n} runs"),
        (n, _) => format!("absent from {n} runs"),
    }
}
