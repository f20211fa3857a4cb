//! Settings that change nothing as things are, though each is right by itself. They are no errors: one of no use to
//! one cell of a sweep may be to another. They are worth a word.

use penstock_law::cc::Marks;
use penstock_law::parameter::{Default, Parameter};

use crate::key::bare;
use crate::model::{EcnEcho, Group, Scenario};

/// The key of each such setting of a scenario, and why it changes nothing.
pub fn idle(scenario: &Scenario) -> Vec<(String, &'static str)> {
    let marks = |group: &Group| {
        group.requirements(scenario.packet).ok().filter(|needs| needs.reliable).map(|needs| needs.marks)
    };
    let responds = |group: &&Group| marks(group).is_some_and(|marks| marks != Marks::Ignored);
    let mut idle = Vec::new();
    for (name, link) in &scenario.links {
        let off = |parameter: &&Parameter| parameter.name == "ecn" && parameter.default == Default::Is(0.0);
        let on = link.aqm.law.parameters.iter().find(off).is_some_and(|ecn| link.aqm.values.switch(ecn.name));
        // A way back has the law of the way there, also where only acknowledgements take it.
        let mut over = scenario.groups.values().filter(|group| group.forward.contains(name)).peekable();
        if on && over.peek().is_some() && !over.any(|group| responds(&group)) {
            idle.push((format!("links.{}.aqm.ecn", bare(name)), "no flow over this link responds to marks"));
        }
    }
    for (name, group) in &scenario.groups {
        let written = group.sender.ecn_echo != group.sender.profile.options().ecn_echo;
        if written && group.sender.ecn_echo != EcnEcho::PerPacket && marks(group) == Some(Marks::Ignored) {
            idle.push((
                format!("flows.{}.sender.ecn_echo", bare(name)),
                "the law of these flows does not respond to marks",
            ));
        }
    }
    idle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Document;

    const LAB: &str = r#"
format = 1
duration = "10 s"
[links.b]
from = "l"
to = "r"
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"
duplex = true
aqm = { law = "red", ecn = true }
[defaults.flows]
from = "l"
to = "r"
rtt = "40 ms"
[flows.f]
cc = { law = "newreno", ecn = true }
sender = { ecn_echo = "classic" }
[flows.g]
cc = { law = "newreno" }
"#;

    fn keys(text: &str) -> Vec<String> {
        let cells = Document::parse(text, "lab.toml").and_then(|d| d.cells()).unwrap_or_else(|e| panic!("{e}"));
        idle(&cells[0].scenario).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn what_nobody_reads_is_told_and_nothing_else() {
        assert!(keys(LAB).is_empty(), "one of two groups is enough");
        let deaf = LAB.replace("\"newreno\", ecn = true", "\"newreno\"");
        assert_eq!(keys(&deaf), ["links.b.aqm.ecn", "flows.f.sender.ecn_echo"]);
        let fast = LAB.replace("\"newreno\", ecn = true", "\"fast\"");
        assert_eq!(keys(&fast), ["links.b.aqm.ecn", "flows.f.sender.ecn_echo"]);
        assert!(
            keys(&deaf.replace("\"red\", ecn = true", "\"red\"").replace("\"classic\"", "\"per-packet\"")).is_empty()
        );
        // Nobody echoes to a source that nobody acknowledges, and the reader says so.
        let beside = "\n[flows.u]\ncc = { law = \"cbr\", rate = \"1 Mbit/s\" }\n";
        assert!(keys(&format!("{LAB}{beside}")).is_empty());
    }
}
