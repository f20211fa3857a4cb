//! An AQM that marks, and no flow that responds to marks.

use penstock_law::aqm::Serve;
use penstock_law::cc::Marks;
use penstock_law::parameter::{Parameter, Unit};

use super::crossing::{Crossing, Flows};
use super::kind::Kind;
use crate::summary::Finding;

pub(super) const KIND: Kind = Kind {
    id: "drops-for-marks",
    meaning: "no flow over a link uses ECN, and its AQM is one that always marks, such as `price`; it drops every packet that \
         it would mark",
};

/// For laws with a parameter against marks, dropping is the other half of their work, and for one with a classic queue as well.
pub(super) fn find(crossing: &Crossing<'_>, link: &str) -> Option<Finding> {
    let aqm = &crossing.scenario.links[link].aqm;
    let needs = (aqm.law.real)(&aqm.values, &crossing.site(link)).ok()?.requirements();
    let always_marks = needs.marks && needs.serve == Serve::Scheduler && !has_ecn(aqm.law.parameters);
    // A law that only the kernel has is unknown here.
    let deaf = |flows: Flows<'_>| {
        flows.needs.is_some_and(|needs| needs.reliable && !needs.kernel && needs.marks == Marks::Ignored)
    };
    if !always_marks || crossing.over(link).next().is_none() || !crossing.over(link).all(deaf) {
        return None;
    }
    let could = crossing.over(link).filter(|flows| has_ecn(flows.group.cc.law.parameters));
    let could: Vec<String> = could.map(|flows| format!("`flows.{}.cc.ecn = true`", flows.name)).collect();
    let remedy = if could.is_empty() {
        "choose a controller that uses ECN, or another AQM".to_owned()
    } else {
        format!("set {}, or choose another AQM", could.join(", "))
    };
    let text = format!(
        "`{}` marks packets, and no flow over this link uses ECN: it drops every packet that it would mark; {remedy}",
        aqm.law.name
    );
    Some(KIND.found(format!("links.{link}.aqm"), text))
}

fn has_ecn(parameters: &[Parameter]) -> bool {
    parameters.iter().any(|parameter| parameter.name == "ecn" && parameter.unit == Unit::Switch)
}

#[cfg(test)]
mod tests {
    use super::super::scene::{flows, found, link};

    /// Only where no flow responds to marks, and only of a law that has no other use than marks.
    #[test]
    fn an_aqm_that_marks_flows_without_ecn_is_found() {
        let over = |aqm: &str, flows: &str| {
            found(&(link(&format!("buffer = \"500 packets\", aqm = {{ law = \"{aqm}\" }}")) + flows))
        };
        let cubic = flows("c", "cc = { law = \"cubic\" }");
        let [(id, subject, text)] = &over("price", &cubic)[..] else { panic!("one finding") };
        assert_eq!((id.as_str(), subject.as_str()), ("drops-for-marks", "links.b.aqm"));
        assert!(text.contains("`price` marks") && text.contains("set `flows.c.cc.ecn = true`"), "{text}");
        let delay = flows("d", "cc = { law = \"leadlag\", signal = \"delay\" }");
        assert!(over("price", &delay)[0].2.contains("choose a controller that uses ECN"));
        let none = |aqm: &str, flows: &str| assert_eq!(over(aqm, flows), [], "{aqm} {flows}");
        none("price", &flows("c", "cc = { law = \"cubic\", ecn = true }"));
        none("price", &(cubic.clone() + &flows("f", "cc = { law = \"leadlag\" }")));
        assert!(
            over("price", &flows("k", "cc = { law = \"bbr\" }"))[0].2.contains("choose a controller that uses ECN")
        );
        none("price", &flows("u", "cc = { law = \"cbr\", rate = \"1 Mbit/s\" }"));
        none("fq-codel", &cubic);
        none("dualpi2", &cubic);
        none("droptail", &cubic);
    }
}
