//! Laws that keep packets queued, and a buffer that does not hold them.

use penstock_law::parameter::Unit;
use penstock_law::quantity::Time;

use super::crossing::{Crossing, Flows};
use super::kind::Kind;
use crate::model::{Buffer, Group, Scenario};
use crate::summary::Finding;

pub(super) const KIND: Kind = Kind {
    id: "queue-beyond-buffer",
    meaning: "flows of laws that keep a number of packets queued (`alpha` of `fast` and `vegas`) need a larger buffer \
         at their slowest link; they lose packets throughout the run, or, if only an overshoot of `fast` exceeds the \
         buffer, may lose packets",
};

/// The buffer that flows of `fast` need, over the sum of their `alpha`. After a loss the window passes its equilibrium, since
/// it measures a queue a round trip late. Runs at 10 Mbit/s to 1 Gbit/s, with 1 to 10 flows, 40 to 100 ms and the sum at 0.8
/// of the buffer lose nothing; at 0.9, four of seven lose 1 % to 5 %. `vegas` loses nothing at 0.95.
const OVERSHOOT_OF_FAST: f64 = 1.25;

/// The target queue of each flow of a group, where its law has a number for that and the flow goes on long enough to
/// get there.
fn alpha(group: &Group) -> Option<f64> {
    let has = group.cc.law.parameters.iter().any(|p| p.name == "alpha" && p.unit == Unit::Packets);
    (has && group.size.is_none()).then(|| group.cc.values.number("alpha"))
}

pub(super) fn find(crossing: &Crossing<'_>, link: &str) -> Option<Finding> {
    let scenario = crossing.scenario;
    let holds = match scenario.links[link].buffer {
        Buffer::Unlimited => return None,
        Buffer::Packets(packets) => packets as f64,
        Buffer::Bytes(bytes) => (bytes.0 / scenario.packet.wire.0.max(1)) as f64,
    };
    let slowest_here = |group: &Group| {
        group.forward.iter().min_by_key(|name| scenario.links[*name].rate.0).is_some_and(|name| name == link)
    };
    let queued: Vec<(&String, &Group, f64)> = crossing
        .over(link)
        .filter_map(|Flows { name, group, .. }| Some((name, group, alpha(group)?)))
        .filter(|(_, group, _)| slowest_here(group))
        .collect();
    let wanted = most_at_once(scenario, &queued);
    let overshoot =
        if queued.iter().any(|(_, group, _)| group.cc.law.name == "fast") { OVERSHOOT_OF_FAST } else { 1.0 };
    if wanted * overshoot <= holds {
        return None;
    }
    let needed = (wanted * overshoot).ceil();
    let names: Vec<String> = queued.iter().map(|(name, ..)| format!("flows.{name}")).collect();
    let least = (holds / (wanted * overshoot) * queued.iter().map(|(.., alpha)| *alpha).fold(0.0, f64::max)).floor();
    let remedy = if queued.iter().all(|(.., alpha)| *alpha == queued[0].2) && least >= 1.0 {
        format!("use `alpha = \"{least} packets\"` or a buffer of {needed} packets")
    } else {
        format!("use smaller values of `alpha` or a buffer of {needed} packets")
    };
    let often = if wanted > holds { "lose" } else { "overshoot, and may lose" };
    let text = format!(
        "{} want {wanted} packets queued there, the sum of `alpha` over concurrent flows, and the buffer holds \
         {holds}: they {often} packets throughout the run; {remedy}",
        names.join(", ")
    );
    Some(KIND.found(format!("links.{link}.buffer"), text))
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

#[cfg(test)]
mod tests {
    use super::super::scene::{flows, found, link};

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
        assert!(
            text.contains("they lose") && text.contains("`alpha = \"66 packets\"` or a buffer of 500 packets"),
            "{text}"
        );
        let fits = |text: &str| assert_eq!(found(&(small.clone() + text)), [], "{text}");
        fits(&flows("f", "count = 4, cc = { law = \"fast\", alpha = \"66 packets\" }"));
        // The buffer holds the equilibrium, and not what leads there.
        let near = found(&(small.clone() + &flows("f", "count = 3, cc = { law = \"fast\" }")));
        assert!(near[0].2.contains("overshoot, and may lose") && near[0].2.contains("89 packets"), "{near:?}");
        fits(&flows("f", "count = 3, cc = { law = \"vegas\", alpha = \"100 packets\", beta = \"101 packets\" }"));
        fits(&flows("f", "count = 4, cc = { law = \"cubic\" }"));
        fits(&flows("f", "count = 4, cc = { law = \"fast\" }, size = \"1 MB\""));
        let early = flows("e", "count = 2, start = \"0 s\", stop = \"5 s\", cc = { law = \"fast\" }");
        fits(&(early.clone() + &flows("f", "count = 2, start = \"5 s\", cc = { law = \"fast\" }")));
        let both =
            found(&(small.clone() + &early + &flows("f", "count = 2, start = \"4 s\", cc = { law = \"fast\" }")));
        assert!(both[0].2.starts_with("flows.e, flows.f want 400 packets"), "{both:?}");
        let bytes = found(&(link("buffer = \"500 kB\"") + &flows("f", "count = 4, cc = { law = \"fast\" }")));
        assert!(bytes[0].2.contains("holds 333"), "{bytes:?}");
        // The queue is at the slower of two links.
        let slower = "links.a = { from = \"l\", to = \"m\", rate = \"10 Mbit/s\", delay = \"1 ms\", buffer = \"unlimited\" }\n\
                      links.b = { from = \"m\", to = \"r\", rate = \"100 Mbit/s\", delay = \"1 ms\", buffer = \"10 packets\" }\n";
        assert_eq!(found(&(slower.to_owned() + &flows("f", "count = 4, cc = { law = \"fast\" }"))), []);
    }
}
