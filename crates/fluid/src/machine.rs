//! One law of the registry on dual numbers, with its state put in and taken out.

use penstock_law::law::Linearisation;
use penstock_law::{Dual, Instances, Role};
use penstock_scenario::model::Chosen;

use crate::error::AnalysisError;

/// A law that is called for the effect of an event on a state. State that is not a number keeps its initial value, always.
pub(crate) struct Machine<R: Role> {
    law: Box<dyn Instances<Dual, R>>,
    start: Vec<f64>,
}

impl<R: Role> Machine<R> {
    /// Compiles the law of a scenario.
    pub(crate) fn new(chosen: &Chosen<R>, site: &R::Context) -> Result<Self, AnalysisError> {
        let entry = chosen.law;
        let Some(build) = entry.dual else {
            let reason = match entry.linearisation {
                Linearisation::Unsupported(reason) => reason,
                _ => "its registry entry has no builder for dual numbers",
            };
            return Err(AnalysisError::NotLinear { noun: R::NOUN, law: entry.name, reason: reason.to_owned() });
        };
        let mut law =
            build(&chosen.values, site).map_err(|message| AnalysisError::Compile { law: entry.name, message })?;
        law.add();
        let mut start = Vec::new();
        law.each(0, &mut |x| start.push(x.value));
        Ok(Self { law, start })
    }

    /// The state before the first event.
    pub(crate) fn start(&self) -> &[f64] {
        &self.start
    }

    /// The law's requirements on its host.
    pub(crate) fn requirements(&self) -> R::Requirements {
        self.law.requirements()
    }

    /// Names and units of the state.
    pub(crate) fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.law.names()
    }

    fn put(&mut self, state: &[Dual]) {
        self.law.restart(0);
        let mut at = 0;
        self.law.each(0, &mut |x| {
            *x = state[at];
            at += 1;
        });
    }

    /// The state after an event.
    pub(crate) fn after(&mut self, state: &[Dual], event: R::Event, seen: &R::Observation<Dual>) -> Vec<Dual> {
        let mut next = state.to_vec();
        self.law.after(0, &mut next, event, seen);
        next
    }

    /// The output of the law at a state, on average over its own spacing of marks.
    pub(crate) fn output(&mut self, state: &[Dual], seen: &R::Observation<Dual>) -> R::Output<Dual> {
        self.put(state);
        self.law.mean_output(0, seen)
    }
}

/// The nearest kink among derivatives taken, if there is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kink(f64);

impl Kink {
    /// None yet.
    pub(crate) const NONE: Self = Self(f64::INFINITY);

    /// Takes in the computed comparisons.
    pub(crate) fn note(&mut self, of: &[Dual]) {
        for x in of {
            self.0 = f64::min(self.0, x.kink);
        }
    }

    /// Distance to the nearest one, in the units of that comparison.
    pub(crate) fn nearest(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }
}
