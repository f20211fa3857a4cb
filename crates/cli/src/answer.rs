//! The analysis of a scenario, whichever loop it has.

use penstock_fluid::contracts::Contracts;
use penstock_fluid::outer::OuterLoops;
use penstock_fluid::{Analysis, AnalysisError, Busy, Margins, Options, Verdict};
use penstock_scenario::model::Scenario;
use serde::Serialize;

/// What is analysed of a scenario: its network, or the loop that lies beside it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    /// The loop of senders and queues.
    Network(Box<Analysis>),
    /// Those of conditioners and their customers.
    Contracts(Box<Contracts>),
    /// Those that laws close around classes of traffic.
    Outer(OuterLoops),
}

impl Answer {
    /// Analyses what `scenario` has; `busy` hears of long work.
    pub(crate) fn of(scenario: &Scenario, options: &Options, busy: &dyn Fn(Busy)) -> Result<Self, AnalysisError> {
        if penstock_fluid::contracts::has_any(scenario) {
            return Ok(Self::Contracts(Box::new(penstock_fluid::contracts::analyze(scenario, options)?)));
        }
        if penstock_fluid::outer::has_any(scenario) {
            return Ok(Self::Outer(penstock_fluid::outer::analyze(scenario)?));
        }
        Ok(Self::Network(Box::new(penstock_fluid::analyze_watched(scenario, options, busy)?)))
    }
}

/// The verdict on a scenario, and the margins of the loop that decides it, where it has any.
pub(crate) fn verdict(scenario: &Scenario, options: &Options) -> Result<(Verdict, Option<Margins>), AnalysisError> {
    Ok(match Answer::of(scenario, options, &|_| ())? {
        Answer::Network(analysis) => (analysis.verdict, analysis.models.last().map(|result| result.margins.clone())),
        Answer::Contracts(answer) => {
            let limiting = answer.customers.iter().find(|customer| customer.name == answer.limiting_customer);
            let result = limiting.and_then(|customer| customer.equilibrium.as_ref()?.models.last());
            (answer.verdict, result.map(|result| result.margins.clone()))
        }
        Answer::Outer(answer) => (answer.verdict, None),
    })
}
