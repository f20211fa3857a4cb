//! Settings of a link about packets that never cross it: settings without effect.

use penstock_law::cc::{Marks, Requirements};

use super::links::Line;
use super::table::Item;
use crate::model::{By, EcnOnLine, Group, Packet, Scheduler};

/// The groups of a scenario, by name and with where each is written.
type Groups<'a> = [(String, Item<'a>, Group)];

/// Refuses a scheduler over classes where no flow has one.
pub(super) fn check_schedulers(lines: &mut [Line<'_>], groups: &Groups<'_>) {
    for line in lines {
        let Scheduler::Drr { by: By::Class, .. } = line.link.scheduler else { continue };
        let crosses = |group: &Group| group.forward.contains(&line.name) || group.backward.contains(&line.name);
        if groups.iter().any(|(_, _, group)| group.class.is_some() && crosses(group)) {
            continue;
        }
        match &line.scheduler {
            Some(item) => {
                item.wrong(
                    format!("no flow that crosses `{}` has a class", line.name),
                    "give a group of flows a `class`, or write `by = \"flow\"`",
                );
            }
            // That of the way there, which a way back has where it can use it.
            None => line.link.scheduler = Scheduler::Fifo,
        }
    }
}

/// Refuses the loss of a transmission of data where no data is sent, and a change of the ECN field where no packet has what
/// it changes.
pub(super) fn check_lines(lines: &mut [Line<'_>], groups: &Groups<'_>, packet: Packet) {
    for line in lines {
        check_transmission(line, groups);
        check_ecn(line, groups, packet);
    }
}

fn check_transmission(line: &mut Line<'_>, groups: &Groups<'_>) {
    if line.link.lose_transmission.is_none() || groups.iter().any(|(_, _, group)| group.forward.contains(&line.name)) {
        return;
    }
    let found = format!("no data crosses `{}`, so `lose_transmission` has no effect", line.name);
    if inherits(line, "lose_transmission", found, "leave it out, or write it on a link that carries data") {
        line.link.lose_transmission = None;
    }
}

/// Acknowledgements are Not-ECT, and so are data of laws that ignore marks.
fn check_ecn(line: &mut Line<'_>, groups: &Groups<'_>, packet: Packet) {
    let crossed_by = |has: fn(&Requirements) -> bool| {
        let data = groups.iter().map(|(_, _, group)| group).filter(|group| group.forward.contains(&line.name));
        // A law that cannot be compiled has been refused.
        data.into_iter().any(|group| group.requirements(packet).map_or(true, |needs| has(&needs)))
    };
    let (found, remedy) = match line.link.ecn {
        EcnOnLine::Keep => return,
        EcnOnLine::Ect0 => {
            if crossed_by(|needs| needs.low_latency) {
                return;
            }
            (
                format!("no flow that crosses `{}` sends ECT(1), so `ecn` has no effect", line.name),
                "leave it out, or let a group send it, as in `cc = { law = \"dctcp\", l4s = true }`",
            )
        }
        EcnOnLine::Bleach | EcnOnLine::EraseCe => {
            if crossed_by(|needs| needs.marks != Marks::Ignored) {
                return;
            }
            (
                format!("no flow that sends data across `{}` uses ECN, so `ecn` has no effect", line.name),
                "leave it out, or let a group use ECN, as in `cc = { law = \"newreno\", ecn = true }`",
            )
        }
    };
    if inherits(line, "ecn", found, remedy) {
        line.link.ecn = EcnOnLine::Keep;
    }
}

/// Whether a setting without effect comes from the defaults, which are for those who can use them. Otherwise it is refused.
fn inherits(line: &Line<'_>, key: &str, found: String, remedy: &str) -> bool {
    let item = line.item.entry(key).unwrap_or_else(|| line.item.clone());
    if !item.node.inherited {
        item.wrong(found, remedy);
    }
    item.node.inherited
}
