//! The hosts of a group: their law, and their settings.

use penstock_law::Instances;
use penstock_law::cc::{self, Acknowledged, Controller, Event, Marks, Observation, Output};
use penstock_law::estimate::MarkEstimate;
use penstock_law::law::Linearisation;
use penstock_scenario::model::{Group, Pacing, Scenario};

use super::Method;
use super::arithmetic::smaller;
use super::state::{State, state_of};
use crate::source::Clocking;

/// The common part of a group's cohorts. Their law is compiled once, and its states lie next to each other.
pub(super) struct Host {
    name: &'static str,
    law: Box<dyn Instances<f64, Controller>>,
    /// An instance to try events on, after those of the cohorts.
    trial: usize,
    pub(super) needs: cc::Requirements,
    pub(super) packets_per_ack: u32,
    pub(super) receive_window: f64,
    pub(super) clocking: Option<Clocking>,
    pub(super) estimators: bool,
    pub(super) one_cut_a_round: bool,
    /// Whether its law observes an average of round trips; and the estimator of a law that knows the price as it is.
    pub(super) averages: bool,
    pub(super) knows_price: Option<MarkEstimate>,
    /// Whether its flows take marks.
    pub(super) marked: bool,
    /// The logarithm of the base of the marking law that carries a price; zero for a law that requires none.
    pub(super) ln_phi: f64,
}

impl Host {
    /// The host of the group of that name. A queue on its path marks if `marking`.
    pub(super) fn new(
        scenario: &Scenario,
        name: &str,
        group: &Group,
        marking: bool,
        method: &Method,
    ) -> Result<Self, String> {
        let entry = group.cc.law;
        let reason = match entry.linearisation {
            Linearisation::Unsupported(reason) => Some(reason),
            Linearisation::Mean(_) => Some("it has a model of its means, which only the analysis has"),
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(format!("the group `{name}` has `{}`, which fluid does not support: {reason}", entry.name));
        }
        let site = cc::Context {
            packet: scenario.packet.wire,
            initial_window: group.sender.initial_window,
            initial_ssthresh: group.sender.initial_ssthresh,
        };
        let compile = |site| (entry.real)(&group.cc.values, &site).map_err(|e| format!("`{}`: {e}", entry.name));
        let mut law = compile(site)?;
        // A law that estimates its bottleneck keeps a bit for slow start, which a mean over packets does not move. And an
        // unlimited threshold has no mean with the finite one after it: such a flow begins in congestion avoidance.
        if law.requirements().bottleneck.is_some() || site.initial_ssthresh == f64::INFINITY {
            law = compile(cc::Context { initial_ssthresh: 0.0, ..site })?;
        }
        let needs = law.requirements();
        let marked = needs.marks != Marks::Ignored && marking;
        let unpaced = group.sender.pacing == Pacing::Off;
        Ok(Self {
            name: entry.name,
            law,
            trial: 0,
            needs,
            packets_per_ack: group.sender.delayed_ack.max(1),
            receive_window: group.sender.receive_window,
            clocking: method.clocking.or(unpaced.then_some(Clocking::Ack)),
            estimators: method.estimators,
            one_cut_a_round: method.one_cut_a_round,
            averages: method.estimators && needs.average_rtt.is_some(),
            knows_price: match needs.marks {
                Marks::Price(by) if marked && !method.estimators => Some(by),
                _ => None,
            },
            marked,
            ln_phi: if let Marks::Price(by) = needs.marks { libm::log(by.phi) } else { 0.0 },
        })
    }

    /// A requirement of its law that a fluid does not meet, in a sentence about the group of that name.
    pub(super) fn refusal(&self, name: &str) -> Option<String> {
        let law = self.name;
        if let Some(what) = self.needs.of_packets() {
            return Some(format!(
                "the group `{name}` has `{law}`, which requires {what}; the fluid world does not have that"
            ));
        }
        let now = || format!("the group `{name}` has `{law}`, a law of the time of day, which fluid does not support");
        self.needs.now.then(now)
    }

    /// One instance of the law more, for a cohort; its number.
    pub(super) fn add(&mut self) -> usize {
        self.law.add()
    }

    /// All cohorts have an instance.
    pub(super) fn complete(&mut self) {
        self.trial = self.law.add();
    }

    pub(super) fn output(&self, at: usize, seen: &Observation<f64>) -> Output<f64> {
        self.law.output(at, seen)
    }

    pub(super) fn on_event(&mut self, at: usize, event: Event, seen: &Observation<f64>) -> Output<f64> {
        self.law.on_event(at, event, seen)
    }

    /// Applies the mean effect of packets to an instance. The name of a number of its state that is NaN then, if one is.
    pub(super) fn along(&mut self, at: usize, packets: f64, acknowledged: &Acknowledged) -> Option<&'static str> {
        let nan = self.law.along(at, self.trial, packets, acknowledged)?;
        Some(self.law.names()[nan].0)
    }

    /// The state of an instance, to be shown.
    pub(super) fn state(&mut self, at: usize) -> (State, &'static [(&'static str, &'static str)]) {
        (state_of(self.law.as_mut(), at), self.law.names())
    }

    /// The rate by the law's gap, or by its window over a round trip [packets/s]; none where acknowledgements alone time
    /// its packets.
    pub(super) fn pace(&self, gap_s: f64, window: f64, rtt_s: f64) -> Option<f64> {
        match self.clocking {
            Some(Clocking::Ack) if self.needs.reliable => None,
            _ if gap_s > 0.0 => Some(1.0 / gap_s),
            Some(Clocking::Paced) => Some(window / rtt_s),
            _ => None,
        }
    }

    /// The price that a share of marks stands for [s].
    pub(super) fn price_of(&self, by: MarkEstimate, share: f64) -> f64 {
        -libm::log1p(-smaller(share, 1.0 - 0.5 / f64::from(by.packets))) / self.ln_phi
    }

    /// Replaces the law, for a test.
    #[cfg(test)]
    pub(super) fn replace(&mut self, mut law: Box<dyn Instances<f64, Controller>>) {
        (0..=self.trial).for_each(|_| _ = law.add());
        self.law = law;
    }
}
