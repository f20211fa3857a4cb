//! What an analysis takes for granted, and what should make its reader careful.

use penstock_law::law::Linearisation;
use penstock_scenario::model::{EcnEcho, Scenario};

use super::bench::{CLASSES_OF_A_GROUP, Class};
use crate::equilibrium::{Equilibrium, Other};
use crate::response::Loop;
use crate::source::{Clocking, Source};

/// Classes that a remark names one by one.
const FEW: usize = 3;

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
    for (clocking, this, other) in
        [(Clocking::Ack, "by acknowledgements", "paced"), (Clocking::Paced, "by their gaps", "ACK-clocked")]
    {
        let both = classes.iter().zip(&rest.sources).filter(|(_, at)| at.both_bind && at.clocking == clocking);
        let names: Vec<&str> = both.map(|(class, _)| class.name.as_str()).collect();
        if !names.is_empty() {
            said.push(format!(
                "gap and window of {} allow the same rate; packets are taken as timed {this}, and the {other} form of \
                 the loop may differ",
                some(&names)
            ));
        }
    }
    let mut taken = |as_what: &str, is: fn(&Class<'_>) -> bool| {
        let found: Vec<&str> = classes.iter().filter(|c| is(c)).map(|c| c.name.as_str()).collect();
        if !found.is_empty() {
            said.push(as_what.replace("{}", &some(&found)));
        }
    };
    taken("transfers of {} are taken as without end", |c| c.group.size.is_some());
    taken("the gaps of {} are taken as even", |c| c.group.spacing_jitter > 0.0);
    taken("the packets of {} are taken one by one, not in bursts", |c| c.group.sender.burst > 1);
    for class in classes {
        if let Linearisation::Declared(what) = class.group.cc.law.linearisation {
            said.push(format!("`{}` declares {what}", class.group.cc.law.name));
        }
    }
    said.dedup();
    said
}

/// The first names of a list, and how many more there are.
fn some(names: &[&str]) -> String {
    let first: Vec<String> = names.iter().take(FEW).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(FEW) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Of remarks of one kind about classes the first, and how many more there are.
fn few(mut of_a_kind: Vec<String>) -> Vec<String> {
    let more = of_a_kind.len().saturating_sub(FEW);
    of_a_kind.truncate(FEW);
    if let (Some(last), 1..) = (of_a_kind.last_mut(), more) {
        *last = format!("{last} (and {more} more like it)");
    }
    of_a_kind
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
        if let Linearisation::Declared(what) = law.linearisation {
            said.push(format!("`{}` declares {what}", law.name));
        }
    }
    let other = |other: &Other| match *other {
        Other::Link(l, signal) => format!(
            "more than one equilibrium: `{}` could also rest at a queueing delay of {:.6} s and a probability of {:.3e}; \
             this analysis is of the one shown",
            names[l], signal.queueing_delay_s, signal.probability
        ),
        Other::Class(i, rate) => format!(
            "more than one equilibrium: at the same signal `{}` of `{}` also rests at {rate:.3} packets/s, started \
             elsewhere; this analysis is of the one shown",
            sources[i].law(),
            classes[i].name
        ),
    };
    said.extend(few(rest.others.iter().map(other).collect()));
    let mut merged: Vec<&str> = classes.iter().filter(|c| c.merged).map(|c| c.group_name).collect();
    merged.dedup();
    for group in merged {
        said.push(format!("`{group}` has more round trips than {CLASSES_OF_A_GROUP}: neighbours were averaged"));
    }
    let (mut narrow, mut often, mut classic, mut away) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (i, (class, source)) in classes.iter().zip(sources).enumerate() {
        let (at, options) = (&rest.sources[i], &class.group.sender);
        if at.window > options.receive_window {
            narrow.push(format!(
                "the receive window of `{}` ({} packets) is below its equilibrium window ({} packets) and was ignored",
                class.name, options.receive_window, at.window
            ));
        }
        if source.is_cut() && at.window * rest.signals[i].probability > 0.5 {
            often.push(format!(
                "`{}` has {} marks or losses a round: more than one a round is cut once only, which is ignored",
                class.name,
                at.window * rest.signals[i].probability
            ));
        }
        if at.price_s > 0.0 && options.ecn_echo == EcnEcho::Classic {
            classic.push(format!(
                "`{}` makes a price of a classic echo, which repeats marks; an echo per packet was assumed",
                class.name
            ));
        }
        if closed.members[i].response.runs_away {
            away.push(format!(
                "`{}` of `{}` alone runs away at a constant signal: no verdict",
                source.law(),
                class.name
            ));
        }
    }
    said.extend([narrow, often, classic, away].into_iter().flat_map(few));
    said
}
