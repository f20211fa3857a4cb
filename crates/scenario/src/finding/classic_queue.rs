//! A law that reduces in proportion to the marks, in the queue of those that do not.

use penstock_law::aqm::Serve;
use penstock_law::cc::Marks;

use super::kind::Kind;
use crate::model::{Group, Scenario};
use crate::summary::Finding;

pub(super) const KIND: Kind = Kind {
    id: "classic-queue",
    meaning: "a law that reduces in proportion to the marks, such as `dctcp`, sends into the classic queue of an AQM with \
         two queues; there it reduces less than the other flows and takes their share of the rate",
};

pub(super) fn find(scenario: &Scenario, name: &str, group: &Group) -> Option<Finding> {
    let needs = group.requirements(scenario.packet).ok()?;
    if needs.marks != Marks::Counted || needs.low_latency {
        return None;
    }
    let link = group.forward.iter().find(|link| {
        let aqm = &scenario.links[*link].aqm;
        let law = (aqm.law.real)(&aqm.values, &scenario.site(link));
        law.is_ok_and(|law| matches!(law.requirements().serve, Serve::Coupled { .. }))
    })?;
    let law = group.cc.law;
    let remedy = if law.parameters.iter().any(|parameter| parameter.name == "l4s") {
        "; set `l4s = true` for the low-latency queue"
    } else {
        ""
    };
    let text = format!(
        "`{}` reduces in proportion to the marks, and its packets do not carry ECT(1): they join the classic queue \
         of `{}` at links.{link}, where it takes the rate of flows that reduce more{remedy}",
        law.name, scenario.links[link].aqm.law.name
    );
    Some(KIND.found(format!("flows.{name}.cc"), text))
}

#[cfg(test)]
mod tests {
    use super::super::scene::{flows, found, link};

    /// Only where there are two queues, and only of a law that counts marks and does not require the other one.
    #[test]
    fn dctcp_in_the_classic_queue_is_found() {
        let over = |aqm: &str, cc: &str| {
            found(&(link(&format!("buffer = \"500 packets\", aqm = {{ law = \"{aqm}\" }}")) + &flows("d", cc)))
        };
        let [(id, subject, text)] = &over("dualpi2", "cc = { law = \"dctcp\" }")[..] else { panic!("one finding") };
        assert_eq!((id.as_str(), subject.as_str()), ("classic-queue", "flows.d.cc"));
        assert!(text.contains("`dualpi2` at links.b") && text.contains("`l4s = true`"), "{text}");
        assert_eq!(over("dualpi2", "cc = { law = \"dctcp\", l4s = true }"), []);
        assert_eq!(over("dualpi2", "cc = { law = \"cubic\" }"), []);
        assert_eq!(over("red", "cc = { law = \"dctcp\" }"), []);
    }
}
