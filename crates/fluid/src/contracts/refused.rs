//! Scenarios whose contracts have no loop to analyse.

use penstock_scenario::model::{EcnOnLine, Limit, LossSpacing, Scenario};

use crate::analysis::bench::{self, Class};
use crate::error::AnalysisError;

/// Refuses parts for which the loop would be that of another scenario.
pub(super) fn counted(class: &Class<'_>, scenario: &Scenario) -> Result<(), AnalysisError> {
    let group = class.group;
    for name in &group.forward {
        let link = &scenario.links[name];
        let found = [
            (!link.delays.is_empty(), "a delay that changes", "write one delay"),
            (link.lose_transmission.is_some(), "a transmission that is lost", "leave `lose_transmission` out"),
            (
                link.loss_spacing != LossSpacing::Random,
                "losses that are evenly spaced",
                "write `loss_spacing = \"random\"`",
            ),
            (link.loss_burst.is_some(), "losses in bursts", "leave `loss_burst` out"),
            (link.reorder.is_some(), "packets that come late", "leave `reorder` out"),
            (link.policer.is_some(), "a policer", "leave `policer` out"),
            (link.aggregation.is_some(), "packets that go together", "leave `aggregation` out"),
            (link.duplicate > 0.0, "packets that arrive twice", "leave `duplicate` out"),
            (link.ecn != EcnOnLine::Keep, "a line that changes the ECN field", "leave `ecn` out"),
        ];
        bench::refuse(|| format!("the link `{name}`"), &found)?;
    }
    let found = [
        (!group.steps.is_empty(), "parameters that change over time", "write one value for each"),
        (group.packet.is_some(), "packets of another size", "leave `packet` out"),
        (group.application.is_some(), "pages or video", "leave `page` and `video` out"),
        (group.repeats.is_some(), "repeated transfers", "leave `arrivals` and `idle` out"),
        (group.on_off.is_some(), "on-off periods", "leave `on_off` out"),
        (group.access.is_some(), "access links", "leave `access` out"),
        (group.ack_jitter.is_some(), "jitter of acknowledgements", "leave `ack_jitter` out"),
        (group.loss > 0.0, "losses of its own", "leave `loss` out"),
        (group.sender.rtt_noise.is_some(), "errors of round-trip samples", "leave `rtt_noise` out"),
        (group.sender.tick.is_some(), "coarse clocks", "leave `tick` out"),
        (group.sender.bottleneck.is_some(), "a bottleneck that the law knows", "leave `bottleneck` out"),
        (group.sender.limit == Limit::Pace, "a sender without a window", "leave `limit` out"),
    ];
    bench::refuse(|| format!("the group `{}`", class.group_name), &found)
}

/// Refuses flows to whom it makes no difference how their packets are coloured.
pub(super) fn heard(class: &Class<'_>, scenario: &Scenario) -> Result<(), AnalysisError> {
    let deaf = class.group.forward.iter().all(|name| {
        let link = &scenario.links[name];
        let site = penstock_law::aqm::Context {
            rate: link.rate,
            delay: link.delay,
            packet: scenario.packet.wire,
            classes: Vec::new(),
        };
        (link.aqm.law.real)(&link.aqm.values, &site).is_ok_and(|law| !law.requirements().colours)
    });
    let what = "no queue on its path that uses colours";
    bench::refuse(|| format!("the group `{}`", class.group_name), &[(deaf, what, "give one of its links `wred`")])
}
