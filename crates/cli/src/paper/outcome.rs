//! Results of a paper: its items, and its claims with their verdicts.

use indexmap::IndexMap;
use penstock_papers::{Comparison, Extent, Figure, JudgedClaim, Row, Verdict};
use serde::Serialize;

use crate::program;

/// The results of a paper.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    /// The paper's key.
    pub(super) key: String,
    /// Its title.
    pub(super) title: String,
    /// Whole or short runs.
    pub(super) extent: Extent,
    /// Its figures and tables.
    pub(super) items: Vec<ItemOutcome>,
    /// Its claims.
    pub(super) claims: Vec<Judged>,
    /// Number of claims whose verdict differs from the recorded one.
    pub(super) differing: usize,
}

/// A figure or table of a paper, and the results of its runs.
#[derive(Debug, Serialize)]
pub(super) struct ItemOutcome {
    /// Its id.
    pub(super) id: String,
    /// Its title.
    pub(super) title: String,
    /// Where it stands in the paper.
    pub(super) place: String,
    /// Why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_run: Option<String>,
    /// Its lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) figure: Option<Figure>,
    /// Lines of the other plots along the same axis.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) also: Vec<Figure>,
    /// Plots over time, whose numbers are in the records, and loops of the analyses.
    #[serde(skip)]
    pub(super) traces: Vec<penstock_report::figure::Figure>,
    /// One row a cell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rows: Vec<Row>,
    /// The colour of each line's law.
    #[serde(skip)]
    pub(super) colours: IndexMap<String, &'static str>,
    /// Its scenario file.
    #[serde(skip)]
    pub(super) scenario_text: String,
}

impl Outcome {
    /// The command that runs an item again.
    pub(super) fn command(&self, item: &str) -> String {
        command(&self.key, item, self.extent)
    }
}

/// The command that runs an item.
pub(super) fn command(key: &str, item: &str, extent: Extent) -> String {
    let short = if extent == Extent::Short { " --short" } else { "" };
    format!("{} paper {key}/{item}{short}", program::name())
}

/// A claim, its verdict, and how that compares with the record.
#[derive(Debug, Serialize)]
pub(super) struct Judged {
    /// The claim and its verdict.
    #[serde(flatten)]
    pub(super) claim: JudgedClaim,
    /// The recorded verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<Verdict>,
    /// The comparison of both.
    pub(super) compared: Comparison,
    /// The unit of the bound and of the measured number; empty for plain numbers.
    pub(super) unit: String,
    /// Why the claim fails, where it does and a reason is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// The bound with its unit.
    #[serde(skip)]
    pub(super) bound: String,
}
