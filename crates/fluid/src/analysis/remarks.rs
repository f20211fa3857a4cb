//! What an analysis takes for granted, and what should make its reader careful.

use penstock_law::law::Linearises;
use penstock_scenario::model::{EcnEcho, Scenario};

use super::bench::{CLASSES_OF_A_GROUP, Class};
use crate::equilibrium::Equilibrium;
use crate::response::Loop;
use crate::source::{Clocking, Source};

/// What was taken for granted.
pub(super) fn assumptions(
    names: &[&str],
    binding: &[usize],
    classes: &[Class<'_>],
    sources: &[Source],
    rest: &Equilibrium,
) -> Vec<String> {
    let list = |links: &[usize]| links.iter().map(|l| format!("`{}`", names[*l])).collect::<Vec<_>>().join(", ");
    let frozen =
        "round-trip minima are frozen at the propagation delay, and state of a law that is not a number at its start";
    let mut said = Vec::new();
    let silent: Vec<usize> = (0..names.len()).filter(|l| !binding.contains(l)).collect();
    if names.len() == 1 {
        said.push(format!("{} is the only link with a queue, since no other carries data; {frozen}", list(binding)));
    } else {
        let silent = if silent.is_empty() { String::new() } else { format!("; {} limit nobody", list(&silent)) };
        said.push(format!("the links with a signal are {}{silent}; {frozen}", list(binding)));
    }
    let waits: Vec<usize> = binding.iter().copied().filter(|l| rest.links[*l].rest.queue > 0.0).collect();
    if waits.len() > 1 {
        said.push(format!(
            "what arrives at a link is what its senders sent, as (1) of fast-aqm has it: that a full queue before it \
             ({}) evens out the sum of what it passes on is not counted",
            list(&waits)
        ));
    }
    for &l in binding {
        let name = names[l];
        let back = classes.iter().any(|c| c.group.backward.iter().any(|n| n == name));
        said.push(if back {
            format!("acknowledgements cross `{name}` too, and their load on it is ignored")
        } else {
            format!("no acknowledgement crosses `{name}`, so they are no part of its load")
        });
    }
    if sources.iter().any(Source::is_cut) {
        said.push(
            "every mark or loss counts as one cut (a rate of cuts of rate times probability); hosts let one through in \
             a round trip"
                .to_owned(),
        );
    }
    for (class, at) in classes.iter().zip(&rest.sources).filter(|(_, at)| at.both_bind) {
        let (this, other) = match at.clocking {
            Clocking::Ack => ("by acknowledgements", "paced"),
            Clocking::Paced => ("by its gap", "ACK-clocked"),
        };
        said.push(format!(
            "gap and window of `{}` allow the same rate; its packets are taken as timed {this}, and the {other} form of \
             the loop may differ",
            class.name
        ));
    }
    let sized: Vec<&str> = classes.iter().filter(|c| c.group.size.is_some()).map(|c| c.name.as_str()).collect();
    if !sized.is_empty() {
        said.push(format!("transfers of {} are taken as without end", sized.join(", ")));
    }
    let spaced = classes.iter().filter(|c| c.group.spacing_jitter > 0.0);
    said.extend(spaced.map(|c| format!("the gaps of `{}` are taken as even", c.name)));
    let bursts = classes.iter().filter(|c| c.group.sender.burst > 1);
    said.extend(bursts.map(|c| format!("the packets of `{}` are taken one by one, not in bursts", c.name)));
    for class in classes {
        if let Linearises::Declared(what) = class.group.cc.law.linearises {
            said.push(format!("`{}` declares {what}", class.group.cc.law.name));
        }
    }
    said.dedup();
    said
}

/// What should make a reader careful.
pub(super) fn warnings(
    scenario: &Scenario,
    names: &[&str],
    binding: &[usize],
    classes: &[Class<'_>],
    sources: &[Source],
    rest: &Equilibrium,
    closed: &Loop,
) -> Vec<String> {
    let mut said = Vec::new();
    for (&l, response) in binding.iter().zip(&closed.links) {
        let law = scenario.links[names[l]].aqm.law;
        if response.runs_away {
            said.push(format!("`{}` of `{}` alone runs away at a constant load: no verdict", law.name, names[l]));
        }
        if let Linearises::Declared(what) = law.linearises {
            said.push(format!("`{}` declares {what}", law.name));
        }
    }
    let mut merged: Vec<&str> = classes.iter().filter(|c| c.merged).map(|c| c.group_name).collect();
    merged.dedup();
    for group in merged {
        said.push(format!("`{group}` has more round trips than {CLASSES_OF_A_GROUP}: neighbours were averaged"));
    }
    for (i, (class, source)) in classes.iter().zip(sources).enumerate() {
        let (at, options) = (&rest.sources[i], &class.group.sender);
        if at.window > options.receive_window {
            said.push(format!(
                "the receive window of `{}` ({} packets) is below its equilibrium window ({} packets) and was ignored",
                class.name, options.receive_window, at.window
            ));
        }
        if source.is_cut() && at.window * rest.signals[i].probability > 0.5 {
            said.push(format!(
                "`{}` has {} marks or losses a round: more than one a round is cut once only, which is ignored",
                class.name,
                at.window * rest.signals[i].probability
            ));
        }
        if at.price_s > 0.0 && options.ecn_echo == EcnEcho::Classic {
            said.push(format!(
                "`{}` makes a price of a classic echo, which repeats marks; an echo per packet was assumed",
                class.name
            ));
        }
        if closed.members[i].response.runs_away {
            said.push(format!(
                "`{}` of `{}` alone runs away at a constant signal: no verdict",
                source.law(),
                class.name
            ));
        }
    }
    said
}
