//! Findings: settings and outcomes that mislead whoever takes the numbers as they stand.
//!
//! A finding is no error: the run does what its scenario says, and what it says is seldom what was meant. Each kind has an
//! id, listed in [`KINDS`].

use penstock_law::aqm::Serve;
use penstock_law::cc::Marks;
use penstock_law::parameter::{Parameter, Unit};
use penstock_law::quantity::Time;

use crate::model::{Buffer, Group, Scenario};
use crate::summary::{Finding, Measured, Transfers};

const CLASSIC_QUEUE: &str = "classic-queue";
const DROPS_FOR_MARKS: &str = "drops-for-marks";
const QUEUE_BEYOND_BUFFER: &str = "queue-beyond-buffer";
const TRANSFERS_WAIT: &str = "transfers-wait";

/// The ids of findings, with what each means.
pub const KINDS: [(&str, &str); 4] = [
    (
        CLASSIC_QUEUE,
        "a law that reduces in proportion to the marks, such as `dctcp`, sends into the classic queue of an AQM with \
         two queues; there it reduces less than the other flows and takes their share of the rate",
    ),
    (
        DROPS_FOR_MARKS,
        "no flow over a link uses ECN, and its AQM is one that always marks, such as `price`; it drops every packet that \
         it would mark",
    ),
    (
        QUEUE_BEYOND_BUFFER,
        "flows of laws that keep a number of packets queued (`alpha` of `fast` and `vegas`) exceed the buffer of \
         their slowest link; they lose packets throughout the run",
    ),
    (
        TRANSFERS_WAIT,
        "at least one transfer in a hundred waited for a connection, because a connection carries one at a time; \
         completion times include these waits",
    ),
];

/// What waits in line counts as a finding from this share of the transfers on. With many connections a few wait now and
/// then, as in any queue.
const WAITED: f64 = 0.01;

/// What the scenario alone tells, before any run.
pub fn of_scenario(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, group) in &scenario.groups {
        findings.extend(classic_queue(scenario, name, group));
    }
    for name in scenario.links.keys() {
        findings.extend(drops_for_marks(scenario, name));
        findings.extend(queue_beyond_buffer(scenario, name));
    }
    findings
}

/// What the scenario and the numbers of its run tell.
pub fn of_run(scenario: &Scenario, measured: &Measured) -> Vec<Finding> {
    let mut findings = of_scenario(scenario);
    for (name, group) in &measured.groups {
        findings.extend(group.transfers.as_ref().and_then(|transfers| transfers_wait(name, group.count, transfers)));
    }
    findings
}

fn finding(id: &str, subject: String, text: String) -> Finding {
    Finding { id: id.to_owned(), subject, text }
}

fn classic_queue(scenario: &Scenario, name: &str, group: &Group) -> Option<Finding> {
    let needs = group.needs(scenario.packet).ok()?;
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
    Some(finding(CLASSIC_QUEUE, format!("flows.{name}.cc"), text))
}

/// Of laws that can be told not to mark, dropping is the other half of their work, and of one with a classic queue as well.
fn drops_for_marks(scenario: &Scenario, link: &str) -> Option<Finding> {
    let aqm = &scenario.links[link].aqm;
    let needs = (aqm.law.real)(&aqm.values, &scenario.site(link)).ok()?.requirements();
    let always_marks = needs.marks && needs.serve == Serve::Scheduler && !has_ecn(aqm.law.parameters);
    let over: Vec<(&String, &Group)> =
        scenario.groups.iter().filter(|(_, group)| group.forward.iter().any(|name| name == link)).collect();
    // A law that only the kernel has is unknown here.
    let needs_of = |group: &Group| group.needs(scenario.packet).ok().filter(|needs| needs.reliable && !needs.kernel);
    let deaf = |group: &Group| needs_of(group).is_some_and(|needs| needs.marks == Marks::Ignored);
    if !always_marks || over.is_empty() || !over.iter().all(|(_, group)| deaf(group)) {
        return None;
    }
    let could = over.iter().filter(|(_, group)| has_ecn(group.cc.law.parameters));
    let could: Vec<String> = could.map(|(name, _)| format!("`flows.{name}.cc.ecn = true`")).collect();
    let remedy = if could.is_empty() {
        "choose a controller that uses ECN, or another AQM".to_owned()
    } else {
        format!("set {}, or choose another AQM", could.join(", "))
    };
    let text = format!(
        "`{}` marks packets, and no flow over this link uses ECN: it drops every packet that it would mark; {remedy}",
        aqm.law.name
    );
    Some(finding(DROPS_FOR_MARKS, format!("links.{link}.aqm"), text))
}

fn has_ecn(parameters: &[Parameter]) -> bool {
    parameters.iter().any(|parameter| parameter.name == "ecn" && parameter.unit == Unit::Switch)
}

/// What each flow of a group wants to keep queued, where its law has a number for that and the flow goes on long enough to
/// get there.
fn alpha(group: &Group) -> Option<f64> {
    let has = group.cc.law.parameters.iter().any(|p| p.name == "alpha" && p.unit == Unit::Packets);
    (has && group.size.is_none()).then(|| group.cc.values.number("alpha"))
}

fn queue_beyond_buffer(scenario: &Scenario, link: &str) -> Option<Finding> {
    let holds = match scenario.links[link].buffer {
        Buffer::Unlimited => return None,
        Buffer::Packets(packets) => packets as f64,
        Buffer::Bytes(bytes) => (bytes.0 / scenario.packet.wire.0.max(1)) as f64,
    };
    let slowest = |group: &Group| group.forward.iter().min_by_key(|name| scenario.links[*name].rate.0).cloned();
    let queued: Vec<(&String, &Group, f64)> = scenario
        .groups
        .iter()
        .filter(|(_, group)| slowest(group).is_some_and(|name| name == link))
        .filter_map(|(name, group)| Some((name, group, alpha(group)?)))
        .collect();
    let wanted = most_at_once(scenario, &queued);
    if wanted <= holds {
        return None;
    }
    let names: Vec<String> = queued.iter().map(|(name, ..)| format!("flows.{name}")).collect();
    let least = (holds / wanted * queued.iter().map(|(.., alpha)| *alpha).fold(0.0, f64::max)).floor();
    let remedy = if queued.iter().all(|(.., alpha)| *alpha == queued[0].2) && least >= 1.0 {
        format!("use `alpha = \"{least} packets\"` or a buffer of {wanted} packets")
    } else {
        format!("use smaller values of `alpha` or a buffer of {wanted} packets")
    };
    let text = format!(
        "{} want {wanted} packets queued there, the sum of `alpha` over concurrent flows, and the buffer holds \
         {holds}: they lose packets throughout the run; {remedy}",
        names.join(", ")
    );
    Some(finding(QUEUE_BEYOND_BUFFER, format!("links.{link}.buffer"), text))
}

/// The most that flows which run at the same time want queued together [packets].
fn most_at_once(scenario: &Scenario, queued: &[(&String, &Group, f64)]) -> f64 {
    let mut changes: Vec<(Time, f64)> = Vec::new();
    for (name, group, alpha) in queued {
        let stop = group.stop.unwrap_or(Time::NEVER).min(scenario.duration);
        for start in group.starts(name, scenario.seed).into_iter().filter(|start| *start < stop) {
            changes.extend([(start, *alpha), (stop, -*alpha)]);
        }
    }
    // Who stops at a moment goes before who starts then.
    changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut now = 0.0;
    changes.iter().fold(0.0, |most: f64, (_, change)| {
        now += change;
        most.max(now)
    })
}

fn transfers_wait(name: &str, count: u32, transfers: &Transfers) -> Option<Finding> {
    let waiting = transfers.waiting.unwrap_or(0);
    let (waited, all) = (transfers.waited? + waiting, transfers.completed + waiting);
    if waited == 0 || (waited as f64) < WAITED * all as f64 {
        return None;
    }
    let mean = match (transfers.wait_mean_s, transfers.completion_mean_s) {
        (Some(wait), Some(completion)) => {
            format!(" The mean wait is {wait:.3} s of a mean completion of {completion:.3} s.")
        }
        _ => String::new(),
    };
    let still = if waiting > 0 { format!(", {waiting} of them to the end") } else { String::new() };
    let text = format!(
        "{waited} of {all} transfers waited for a connection{still}.{mean} A connection takes one transfer at a time, and \
         the group has `count = {count}`; a larger count lets transfers run in parallel"
    );
    Some(finding(TRANSFERS_WAIT, format!("flows.{name}.count"), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Document;

    fn scenario(text: &str) -> Scenario {
        let head = "format = 1\nduration = \"10 s\"\npacket = \"1500 B\"\n";
        let cells = Document::parse(&format!("{head}{text}"), "test.toml").and_then(|d| d.cells());
        cells.unwrap_or_else(|e| panic!("{e}")).remove(0).scenario
    }

    fn found(text: &str) -> Vec<(String, String, String)> {
        of_scenario(&scenario(text)).into_iter().map(|f| (f.id, f.subject, f.text)).collect()
    }

    fn link(more: &str) -> String {
        format!("links.b = {{ from = \"l\", to = \"r\", rate = \"100 Mbit/s\", delay = \"1 ms\", {more} }}\n")
    }

    fn flows(name: &str, more: &str) -> String {
        format!("flows.{name} = {{ from = \"l\", to = \"r\", rtt = \"20 ms\", {more} }}\n")
    }

    /// Only where there are two queues, and only of a law that counts marks and does not ask for the other one.
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

    /// Only where no flow answers marks, and only of a law that has no other use than marks.
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
        none("price", &flows("k", "cc = { law = \"bbr\" }"));
        none("price", &flows("u", "cc = { law = \"cbr\", rate = \"1 Mbit/s\" }"));
        none("fq-codel", &cubic);
        none("dualpi2", &cubic);
        none("droptail", &cubic);
    }

    /// Four flows with alpha 100 want 400 packets where 334 fit; flows that do not meet, and slower links elsewhere, do not
    /// count.
    #[test]
    fn fast_beyond_its_buffer_is_found() {
        let small = link("buffer = \"334 packets\"");
        let [(id, subject, text)] = &found(&(small.clone() + &flows("f", "count = 4, cc = { law = \"fast\" }")))[..]
        else {
            panic!("one finding")
        };
        assert_eq!((id.as_str(), subject.as_str()), ("queue-beyond-buffer", "links.b.buffer"));
        assert!(text.contains("400 packets") && text.contains("holds 334"), "{text}");
        assert!(text.contains("`alpha = \"83 packets\"`"), "{text}");
        let fits = |text: &str| assert_eq!(found(&(small.clone() + text)), [], "{text}");
        fits(&flows("f", "count = 4, cc = { law = \"fast\", alpha = \"83 packets\" }"));
        fits(&flows("f", "count = 3, cc = { law = \"fast\" }"));
        fits(&flows("f", "count = 4, cc = { law = \"cubic\" }"));
        fits(&flows("f", "count = 4, cc = { law = \"fast\" }, size = \"1 MB\""));
        let early = flows("e", "count = 3, start = \"0 s\", stop = \"5 s\", cc = { law = \"fast\" }");
        fits(&(early.clone() + &flows("f", "count = 3, start = \"5 s\", cc = { law = \"fast\" }")));
        let both =
            found(&(small.clone() + &early + &flows("f", "count = 3, start = \"4 s\", cc = { law = \"fast\" }")));
        assert!(both[0].2.starts_with("flows.e, flows.f want 600 packets"), "{both:?}");
        let bytes = found(&(link("buffer = \"500 kB\"") + &flows("f", "count = 4, cc = { law = \"fast\" }")));
        assert!(bytes[0].2.contains("holds 333"), "{bytes:?}");
        // The queue is at the slower of two links.
        let slower = "links.a = { from = \"l\", to = \"m\", rate = \"10 Mbit/s\", delay = \"1 ms\", buffer = \"unlimited\" }\n\
                      links.b = { from = \"m\", to = \"r\", rate = \"100 Mbit/s\", delay = \"1 ms\", buffer = \"10 packets\" }\n";
        assert_eq!(found(&(slower.to_owned() + &flows("f", "count = 4, cc = { law = \"fast\" }"))), []);
    }

    /// From a hundredth on, those that never got a connection among them.
    #[test]
    fn transfers_that_wait_are_found() {
        let of = |completed: u64, waited: u64, waiting: u64| {
            let times = Some(3.84).filter(|_| completed > 0);
            let transfers = Transfers {
                completed,
                completion_mean_s: times,
                completion_p50_s: times,
                completion_p99_s: times,
                waited: Some(waited),
                wait_mean_s: times.map(|s| s - 0.1),
                waiting: Some(waiting),
            };
            transfers_wait("web", 1, &transfers)
        };
        let finding = of(470, 468, 5).unwrap();
        assert_eq!((finding.id.as_str(), finding.subject.as_str()), ("transfers-wait", "flows.web.count"));
        assert!(finding.text.contains("473 of 475 transfers waited") && finding.text.contains("5 of them to the end"));
        assert!(finding.text.contains("wait is 3.740 s of a mean completion of 3.840 s"), "{}", finding.text);
        assert!(of(0, 0, 3).is_some() && of(100, 1, 0).is_some());
        assert!(of(0, 0, 0).is_none() && of(101, 1, 0).is_none() && of(100, 0, 0).is_none());
    }
}
