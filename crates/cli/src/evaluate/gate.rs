//! A user's own bounds: `[gate] "EV-12.share" = [0.5, 2.0]`.

use std::path::Path;

use indexmap::IndexMap;
use penstock_evaluation::statistics::{Limit, Verdict, decide, interval};
use penstock_evaluation::{Criterion, Evaluation};
use penstock_papers::line;
use serde::Deserialize;

use crate::failure::Failure;
use crate::named::Shown as _;
use crate::scenario;

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
    /// Reads a file of bounds on measures of `criteria`.
    pub(super) fn read(file: &Path, criteria: &[Criterion]) -> Result<Self, Failure> {
        let text = scenario::text(file)?;
        let name = file.shown();
        let wrong = |offset: usize, what: String| Failure::Input(format!("{name}:{}: {what}", line(&text, offset)));
        let read: File =
            toml::from_str(&text).map_err(|e| wrong(e.span().map_or(0, |span| span.start), e.message().to_owned()))?;
        let mut bounds = Vec::new();
        for (key, [least, most]) in read.gate {
            let (at, key) = (key.span().start, key.into_inner());
            if least.partial_cmp(&most).is_none_or(std::cmp::Ordering::is_gt) {
                return Err(wrong(at, format!("{key}: write the smaller number first, as in [0.5, 2.0]")));
            }
            let Some((id, measure)) = key.split_once('.') else {
                return Err(wrong(
                    at,
                    format!("{key}: this key names no measure of a criterion; write ID.MEASURE, as in \"EV-12.share\""),
                ));
            };
            let Some(criterion) = criteria.iter().find(|criterion| criterion.id.get_ref() == id) else {
                return Err(wrong(at, format!("{key}: there is no criterion `{id}`; `evaluate --list` has them all")));
            };
            if criterion.measures.iter().all(|m| m.name.get_ref() != measure) {
                let known: Vec<&str> = criterion.measures.iter().map(|m| m.name.get_ref().as_str()).collect();
                return Err(wrong(at, format!("{key}: {id} has no measure `{measure}`; it has {}", known.join(", "))));
            }
            bounds.push((id.to_owned(), measure.to_owned(), [least, most]));
        }
        Ok(Self { file: name, bounds })
    }

    /// The cells that break a bound: those whose whole 95 % interval is outside of it. A measure without numbers breaks it too.
    pub(super) fn broken(&self, evaluation: &Evaluation) -> Vec<String> {
        let mut broken = Vec::new();
        for (id, name, [least, most]) in &self.bounds {
            let outcome = evaluation.criteria.iter().find(|outcome| outcome.id == *id);
            let Some(measured) = outcome.and_then(|o| o.measures.iter().find(|m| m.name == *name)) else {
                broken.push(format!("{}: {id}.{name} was not measured", self.file));
                continue;
            };
            for cell in &measured.cells {
                let seeds = interval(&cell.law.seeds, 0.95);
                let outside = match cell.law.seeds.as_slice() {
                    // What is computed has one number, and no interval.
                    [one] => !(*least..=*most).contains(one),
                    _ => decide(seeds.as_ref(), Limit::Between(*least, *most)) == Verdict::Fails,
                };
                if outside || cell.unlimited > 0 {
                    let mean = cell.law.mean;
                    let at = cell.words();
                    broken.push(format!("{}: {id}.{name} is {mean} at {at}, outside [{least}, {most}]", self.file));
                }
            }
        }
        broken
    }
}
