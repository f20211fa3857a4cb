//! Assumptions of an analysis, and reasons for its reader to be careful.

use std::collections::BTreeMap;

use penstock_law::law::Linearisation;
use penstock_law::quantity::Time;
use penstock_scenario::model::{EcnEcho, Scenario};

use super::bench::{CLASSES_OF_A_GROUP, Class};
use crate::equilibrium::{Equilibrium, Other};
use crate::response::Loop;
use crate::source::{Clocking, Source};

/// Classes that a remark names one by one.
const FEW: usize = 3;

/// Assumptions of the analysis.
pub(super) fn assumptions(
    names: &[&str],
    binding: &[usize],
    classes: &[Class<'_>],
    sources: &[Source],
    equilibrium: &Equilibrium,
) -> Vec<String> {
    let list = |links: &[usize]| links.iter().map(|l| format!("`{}`", names[*l])).collect::<Vec<_>>().join(", ");
    let frozen =
        "the minimum round-trip time equals the propagation delay; discrete state of a law keeps its initial value";
    let mut said = Vec::new();
    let silent: Vec<usize> = (0..names.len()).filter(|l| !binding.contains(l)).collect();
    if names.len() == 1 {
        said.push(format!("{} is the only link with data, and so the only queue; {frozen}", list(binding)));
    } else {
        let silent = if silent.is_empty() { String::new() } else { format!("; {} limit no flow", list(&silent)) };
        said.push(format!("the bottlenecks are {}{silent}; {frozen}", list(binding)));
    }
    let waits: Vec<usize> = binding.iter().copied().filter(|l| equilibrium.links[*l].equilibrium.queue > 0.0).collect();
    if waits.len() > 1 {
        said.push(format!(
            "the arrivals at a link equal the rates of its senders, as in (1) of fast-aqm; the analysis ignores that \
             a full queue upstream ({}) smooths them",
            list(&waits)
        ));
    }
    for &l in binding {
        let name = names[l];
        let back = classes.iter().any(|c| c.group.backward.iter().any(|n| n == name));
        said.push(if back {
            format!("acknowledgements cross `{name}` too; the analysis ignores their load")
        } else {
            format!("no acknowledgement crosses `{name}`")
        });
    }
    if sources.iter().any(Source::is_cut) {
        said.push(
            "every mark or loss reduces the window (rate times probability reductions per second); hosts reduce at \
             most once per round trip"
                .to_owned(),
        );
    }
    for (clocking, this, other) in
        [(Clocking::Ack, "by acknowledgements", "paced"), (Clocking::Paced, "by their gaps", "ACK-clocked")]
    {
        let both = classes.iter().zip(&equilibrium.sources).filter(|(_, at)| at.both_bind && at.clocking == clocking);
        let names: Vec<&str> = both.map(|(class, _)| class.name.as_str()).collect();
        if !names.is_empty() {
            said.push(format!(
                "gap and window of {} allow the same rate; the analysis assumes packets timed {this}, and the \
                 {other} loop can differ",
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
    taken("transfers of {} are assumed to be endless", |c| c.group.size.is_some());
    taken("the gaps of {} are assumed to be even", |c| c.group.spacing_jitter > 0.0);
    taken("the packets of {} are assumed to leave one by one, not in bursts", |c| c.group.sender.burst > 1);
    for class in classes {
        let law = class.group.cc.law;
        match law.linearisation {
            Linearisation::Declared(what) => said.push(format!("`{}` is analysed with {what}", law.name)),
            Linearisation::Mean(what) => {
                said.push(format!("`{}` is analysed by a model of its means, with {what}", law.name));
            }
            _ => {}
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

/// Groups with flows that start later than others at a queue of the equilibrium, and whose law uses the base RTT: they
/// measure a larger one than the analysis assumes.
pub(super) fn starts_over_a_queue(
    scenario: &Scenario,
    classes: &[Class<'_>],
    routes: &[Vec<usize>],
    sources: &mut [Source],
    equilibrium: &Equilibrium,
) -> Vec<String> {
    // Of each group, the first and the last.
    let starts: BTreeMap<&str, (Time, Time)> = classes
        .iter()
        .map(|class| (class.group_name, class.group))
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .filter_map(|(name, group)| {
            let starts = group.starts(name, scenario.seed);
            Some((name, (*starts.iter().min()?, *starts.iter().max()?)))
        })
        .collect();
    let mut earliest = vec![Time::NEVER; equilibrium.links.len()];
    for (class, route) in classes.iter().zip(routes) {
        for &l in route {
            earliest[l] = earliest[l].min(starts[class.group_name].0);
        }
    }
    let mut found: Vec<&str> = Vec::new();
    for (i, class) in classes.iter().enumerate() {
        let late =
            |l: &usize| equilibrium.links[*l].equilibrium.queue > 0.0 && starts[class.group_name].1 > earliest[*l];
        if found.last() != Some(&class.group_name)
            && routes[i].iter().any(late)
            && sources[i].depends_on_base_rtt(&equilibrium.sources[i], equilibrium.signals[i])
        {
            found.push(class.group_name);
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "flows of {} start while others send, and their law uses the base round-trip time; over a queue they measure more \
         than the propagation delay, which the analysis assumes, and a run can have another queue and other rates",
        some(&found)
    )]
}

/// Reasons for a reader to be careful.
pub(super) fn warnings(
    scenario: &Scenario,
    names: &[&str],
    binding: &[usize],
    classes: &[Class<'_>],
    sources: &[Source],
    equilibrium: &Equilibrium,
    closed: &Loop,
) -> Vec<String> {
    let mut said = Vec::new();
    for (&l, response) in binding.iter().zip(&closed.links) {
        let law = scenario.links[names[l]].aqm.law;
        if response.runs_away {
            said.push(format!(
                "no verdict: the AQM `{}` of the link `{}` is unstable by itself, at a constant load",
                law.name, names[l]
            ));
        }
        if let Linearisation::Declared(what) = law.linearisation {
            said.push(format!("`{}` is analysed with {what}", law.name));
        }
    }
    let other = |other: &Other| match *other {
        Other::Link(l, signal) => format!(
            "more than one equilibrium: `{}` has another at a queueing delay of {:.6} s and a probability of {:.3e}; \
             this analysis uses the one shown",
            names[l], signal.queueing_delay_s, signal.probability
        ),
        Other::Class(i, rate) => format!(
            "more than one equilibrium: at the same signal `{}` of `{}` also has an equilibrium at {rate:.3} \
             packets/s, from another start; this analysis uses the one shown",
            sources[i].law(),
            classes[i].name
        ),
    };
    said.extend(few(equilibrium.others.iter().map(other).collect()));
    let mut merged: Vec<&str> = classes.iter().filter(|c| c.merged).map(|c| c.group_name).collect();
    merged.dedup();
    for group in merged {
        said.push(format!(
            "`{group}` has more than {CLASSES_OF_A_GROUP} round-trip times; the analysis averages \
             neighbours"
        ));
    }
    let (mut narrow, mut often, mut classic, mut away) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (i, (class, source)) in classes.iter().zip(sources).enumerate() {
        let (at, options) = (&equilibrium.sources[i], &class.group.sender);
        if at.window > options.receive_window {
            narrow.push(format!(
                "the receive window of `{}` ({} packets) is below its equilibrium window ({} packets); the analysis \
                 ignores it",
                class.name, options.receive_window, at.window
            ));
        }
        if source.is_cut() && at.window * equilibrium.signals[i].probability > 0.5 {
            often.push(format!(
                "`{}` has {} marks or losses per round; hosts reduce once per round, and the analysis ignores that \
                 limit",
                class.name,
                at.window * equilibrium.signals[i].probability
            ));
        }
        if at.price_s > 0.0 && options.echo() == EcnEcho::Classic {
            classic.push(format!(
                "`{}` computes a price from a classic echo, which repeats marks; the analysis assumes an echo for \
                 each packet",
                class.name
            ));
        }
        if closed.members[i].response.runs_away {
            away.push(format!(
                "no verdict: the law `{}` of the flows `{}` is unstable by itself, at a constant signal",
                source.law(),
                class.name
            ));
        }
    }
    said.extend([narrow, often, classic, away].into_iter().flat_map(few));
    said
}
