//! The number of sessions of a law that predicts its own packets that are stable together.
//!
//! Such a law (CCP and CCPD) counts its packets under way against the space in the buffer, and so its own loop has no
//! delay: one session is stable whatever its gains. Packets of others it learns of from the queue, a round trip
//! late. The papers speak of one session.

use penstock_law::cc;
use penstock_scenario::model::Scenario;
use serde::Serialize;

use crate::analysis::{Analysis, Busy, Options, analyze_watched};
use crate::margin::Verdict;

/// Counts of sessions are tried up to that.
const MOST: u32 = 64;

/// A group whose sessions are not stable together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sessions {
    /// The group.
    pub group: String,
    /// Number of sessions.
    pub count: u32,
    /// Number of sessions that would be stable, of those for which there is an equilibrium; zero is none.
    pub stable_up_to: u32,
}

/// For a scenario whose `analysis` is unstable, and that has one group of several sessions of such a law: up to how many
/// the loop is stable. None otherwise. `busy` is called as of [`analyze_watched`].
pub fn most_stable(
    scenario: &Scenario,
    options: &Options,
    analysis: &Analysis,
    busy: &dyn Fn(Busy),
) -> Option<Sessions> {
    if analysis.verdict != Verdict::Unstable {
        return None;
    }
    let site = cc::Context { packet: scenario.packet.wire, initial_window: 2.0, initial_ssthresh: f64::INFINITY };
    let predicts = |chosen: &penstock_scenario::model::Chosen<cc::Controller>| {
        (chosen.law.real)(&chosen.values, &site).is_ok_and(|law| law.requirements().bottleneck.is_some())
    };
    let mut found = scenario.groups.iter().filter(|(_, group)| predicts(&group.cc));
    let (Some((name, group)), None) = (found.next(), found.next()) else { return None };
    if group.count < 2 {
        return None;
    }
    let stable = |count: u32| {
        let mut fewer = scenario.clone();
        fewer.groups[name].count = count;
        analyze_watched(&fewer, options, busy).map(|a| a.verdict == Verdict::Stable)
    };
    let tried = (1..group.count.min(MOST)).rev();
    // Fewer may leave the line unfilled, which has no loop.
    let stable_up_to = tried.map(|count| (count, stable(count))).find(|(_, is)| *is == Ok(true)).map_or(0, |(n, _)| n);
    Some(Sessions { group: name.clone(), count: group.count, stable_up_to })
}
