//! A law that reduces in proportion to the marks, in one queue with those that do not.

use std::collections::BTreeMap;

use penstock_law::aqm::Serve;
use penstock_law::cc::Marks;

use super::crossing::{Crossing, Flows};
use super::kind::Kind;
use crate::model::Scheduler;
use crate::summary::Finding;

pub(super) const KIND: Kind = Kind {
    id: "classic-queue",
    meaning: "a law that reduces in proportion to the marks, such as `dctcp`, shares a queue with flows that reduce more at a \
         mark or a loss: the classic queue of an AQM with two queues, or the only queue of a link; it takes their share of the \
         rate",
};

/// Only where such other flows are: over its own queue, a law that reduces less does no harm.
pub(super) fn find(crossing: &Crossing<'_>) -> Vec<Finding> {
    let counted = |flows: &&Flows<'_>| flows.needs.is_some_and(|needs| needs.marks == Marks::Counted);
    // The first of the others over each link, looked up once for all groups that share it.
    let mut others: BTreeMap<&str, Option<&String>> = BTreeMap::new();
    let mut found = Vec::new();
    for flows in crossing.flows.iter().filter(counted) {
        found.extend(flows.group.forward.iter().find_map(|link| {
            let other = || crossing.over(link).find(reduces_more).map(|flows| flows.name);
            at(crossing, flows, link, (*others.entry(link).or_insert_with(other))?)
        }));
    }
    found
}

/// The finding of a group at a link that it shares with a group which reduces more.
fn at(crossing: &Crossing<'_>, flows: &Flows<'_>, link: &str, other: &str) -> Option<Finding> {
    let (name, group, needs) = (flows.name, flows.group, flows.needs?);
    let queue = &crossing.scenario.links[link];
    let law = (queue.aqm.law.real)(&queue.aqm.values, &crossing.site(link)).ok()?.requirements();
    let (of, aqm) = (group.cc.law, queue.aqm.law.name);
    let text = match law.serve {
        Serve::Coupled { .. } if !needs.low_latency => {
            let l4s = of.parameters.iter().any(|parameter| parameter.name == "l4s");
            let remedy = if l4s { "; set `l4s = true` for the low-latency queue" } else { "" };
            format!(
                "`{}` reduces in proportion to the marks, and its packets do not carry ECT(1): they join the classic queue \
                 of `{aqm}` at links.{link}, where it takes the rate of flows.{other}, which reduces more{remedy}",
                of.name
            )
        }
        Serve::Scheduler if law.marks && queue.scheduler == Scheduler::Fifo => format!(
            "`{}` reduces in proportion to the marks, and shares the queue of `{aqm}` at links.{link} with flows.{other}, \
             which reduces more, and whose rate it takes; `dualpi2` and `fq-codel` have queues of their own for it",
            of.name
        ),
        _ => return None,
    };
    Some(KIND.found(format!("flows.{name}.cc"), text))
}

/// Whether flows respond to congestion, and not in proportion to the marks.
fn reduces_more(flows: &Flows<'_>) -> bool {
    flows.needs.is_some_and(|needs| needs.reliable && matches!(needs.marks, Marks::Congestion | Marks::Ignored))
}

#[cfg(test)]
mod tests {
    use super::super::scene::{flows, found, link};

    /// Only of a law that counts marks, in a queue that it shares with one that does not.
    #[test]
    fn dctcp_beside_cubic_is_found() {
        let over = |aqm: &str, cc: &str, other: &str| {
            let link = link(&format!("buffer = \"500 packets\", {aqm}"));
            let other = if other.is_empty() { String::new() } else { flows("c", other) };
            found(&(link + &flows("d", cc) + &other))
        };
        let [plain, l4s] = ["cc = { law = \"dctcp\" }", "cc = { law = \"dctcp\", l4s = true }"];
        let [cubic, udp] = ["cc = { law = \"cubic\" }", "cc = { law = \"cbr\", rate = \"1 Mbit/s\" }"];
        let [two, red, codel] = ["law = \"dualpi2\"", "law = \"red\", ecn = true", "law = \"codel\""]
            .map(|law| format!("aqm = {{ {law} }}"));
        let [(id, subject, text)] = &over(&two, plain, cubic)[..] else { panic!("one finding") };
        assert_eq!((id.as_str(), subject.as_str()), ("classic-queue", "flows.d.cc"));
        assert!(text.contains("`dualpi2` at links.b") && text.contains("`l4s = true`"), "{text}");
        let [(id, _, text)] = &over(&red, plain, cubic)[..] else { panic!("one finding") };
        assert!(id == "classic-queue" && text.contains("`red` at links.b with flows.c"), "{text}");
        for nothing in [
            over(&two, l4s, cubic),
            over(&two, cubic, cubic),
            over(&two, plain, ""),
            over(&two, plain, udp),
            over(&red, plain, ""),
            over(&red, cubic, cubic),
            // A queue that drops, and one for each flow.
            over(&codel, plain, cubic),
            over(&format!("{red}, scheduler = {{ law = \"drr\" }}"), plain, cubic),
            over("aqm = { law = \"fq-codel\" }", plain, cubic),
        ] {
            assert_eq!(nothing, []);
        }
    }
}
