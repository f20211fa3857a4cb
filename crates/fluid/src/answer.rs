//! The analysis of a scenario, whichever loop it has.

use penstock_scenario::model::Scenario;
use serde::Serialize;

use crate::analysis::{self, Analysis, Busy, Options, analyze_watched};
use crate::contracts::{self, Contracts};
use crate::error::AnalysisError;
use crate::margin::{Margins, Verdict};
use crate::outer::{self, OuterLoops};

/// The subject of the analysis of a scenario: its network, or the loop that lies beside it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The loop of senders and queues.
    Network(Box<Analysis>),
    /// Those of conditioners and their customers.
    Contracts(Box<Contracts>),
    /// Those that laws close around classes of traffic.
    Outer(OuterLoops),
}

impl Answer {
    /// Analyses the loops of `scenario`; `busy` is called during long work.
    ///
    /// # Errors
    /// Names the part without a theory, and the reason.
    pub fn of(scenario: &Scenario, options: &Options, busy: &dyn Fn(Busy)) -> Result<Self, AnalysisError> {
        let other = [
            (contracts::has_any(scenario), "a loop of conditioners and a request for its disturbance response"),
            (outer::has_any(scenario), "a loop around classes of traffic and a request for its disturbance response"),
        ];
        if let Some((_, what)) = other.into_iter().find(|(has, _)| options.disturbance && *has) {
            return Err(AnalysisError::NotCounted {
                place: "the scenario".to_owned(),
                what,
                remedy: "request it for loops of senders and queues only",
            });
        }
        if contracts::has_any(scenario) {
            return Ok(Self::Contracts(Box::new(contracts::analyze(scenario, options)?)));
        }
        if outer::has_any(scenario) {
            return Ok(Self::Outer(outer::analyze(scenario)?));
        }
        Ok(Self::Network(Box::new(analyze_watched(scenario, options, busy)?)))
    }

    /// The same as [`Answer::of`] and [`Answer::verdict`], in less time for a network: nothing else of it is computed.
    ///
    /// # Errors
    /// As [`Answer::of`].
    pub fn verdict_of(
        scenario: &Scenario,
        options: &Options,
        busy: &dyn Fn(Busy),
    ) -> Result<(Verdict, Option<Margins>), AnalysisError> {
        if contracts::has_any(scenario) || outer::has_any(scenario) || options.disturbance {
            let answer = Self::of(scenario, options, busy)?;
            let (verdict, margins) = answer.verdict();
            return Ok((verdict, margins.cloned()));
        }
        let margins = analysis::margins(scenario, options, busy)?;
        Ok((margins.verdict, Some(margins)))
    }

    /// Limits of the result, a sentence each.
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Network(analysis) => &analysis.warnings,
            Self::Contracts(answer) => &answer.warnings,
            Self::Outer(answer) => &answer.warnings,
        }
    }

    /// The verdict, and the margins of the loop that decides it, where it has any.
    pub fn verdict(&self) -> (Verdict, Option<&Margins>) {
        match self {
            Self::Network(analysis) => (analysis.verdict, analysis.models.last().map(|result| &result.margins)),
            Self::Contracts(answer) => {
                let limiting = answer.customers.iter().find(|customer| customer.name == answer.limiting_customer);
                let result = limiting.and_then(|customer| customer.equilibrium.as_ref()?.models.last());
                (answer.verdict, result.map(|result| &result.margins))
            }
            Self::Outer(answer) => (answer.verdict, None),
        }
    }
}
