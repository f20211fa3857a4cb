//! A resolved scenario as a scenario file, every default filled in. Reading it again gives the same scenario, and
//! printing that the same text.

use std::fmt::Write;

use penstock_law::Role;
use penstock_law::parameter::Unit;
use penstock_law::quantity::Time;

use crate::model::{
    Arithmetic, Buffer, Chosen, EcnEcho, Group, Link, Pacing, Recovery, Rtt, Scenario, SenderOptions, Size, Start,
};
use crate::quantity::{print_bytes, print_number, print_rate, print_real, print_time};
use crate::read::{AUTOMATIC, bare, quoted};

/// Prints a scenario as format 1.
pub fn print(scenario: &Scenario) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    line("format = 1".into());
    line(format!("title = {}", quoted(&scenario.title)));
    line(format!("duration = {}", time(scenario.duration)));
    line(format!("warmup = {}", time(scenario.warmup)));
    line(format!("seed = {}", scenario.seed.0));
    let (wire, payload) = (print_bytes(scenario.packet.wire), print_bytes(scenario.packet.payload));
    line(format!("packet = {{ wire = \"{wire}\", payload = \"{payload}\" }}"));
    line(format!("sample = {}", time(scenario.sample)));
    for (name, each) in &scenario.links {
        line(format!("\n[links.{}]\n{}", bare(name), link(each)));
    }
    for (name, each) in &scenario.groups {
        line(format!("\n[flows.{}]\n{}", bare(name), group(each)));
    }
    if !scenario.windows.is_empty() {
        line("\n[windows]".into());
    }
    for (name, (from, to)) in &scenario.windows {
        line(format!("{} = {}", bare(name), pair(*from, *to)));
    }
    out
}

fn link(link: &Link) -> String {
    let buffer = match link.buffer {
        Buffer::Unlimited => "unlimited".into(),
        Buffer::Packets(1) => "1 packet".into(),
        Buffer::Packets(n) => format!("{n} packets"),
        Buffer::Bytes(n) => print_bytes(n),
    };
    lines(&[
        ("from", quoted(&link.from)),
        ("to", quoted(&link.to)),
        ("rate", quoted(&print_rate(link.rate))),
        ("delay", time(link.delay)),
        ("buffer", quoted(&buffer)),
        ("aqm", law(&link.aqm)),
        ("loss", print_number(link.loss)),
    ])
}

fn group(group: &Group) -> String {
    let rtt = match &group.rtt {
        Rtt::Each(t) => time(*t),
        Rtt::Spread(a, b) => format!("{{ spread = {} }}", pair(*a, *b)),
        Rtt::Uniform(a, b) => format!("{{ uniform = {} }}", pair(*a, *b)),
        Rtt::List(list) => format!("[{}]", list.iter().map(|t| time(*t)).collect::<Vec<_>>().join(", ")),
    };
    let start = match group.start {
        Start::At(t) => time(t),
        Start::Uniform(a, b) => format!("{{ uniform = {} }}", pair(a, b)),
        Start::Every(first, gap) => format!("{{ every = {}, from = {} }}", time(gap), time(first)),
    };
    let mut entries = vec![
        ("count", group.count.to_string()),
        ("from", quoted(&group.from)),
        ("to", quoted(&group.to)),
        ("via", format!("[{}]", group.forward.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))),
        ("rtt", rtt),
        ("cc", law(&group.cc)),
        ("start", start),
    ];
    entries.extend(group.stop.map(|stop| ("stop", time(stop))));
    entries.push((
        "size",
        quoted(&group.size.map_or("unlimited".into(), |size| match size {
            Size::Each(bytes) => print_bytes(bytes),
            Size::Pareto { .. } => String::new(),
        })),
    ));
    entries.push(("series", group.series.to_string()));
    entries.push(("sender", sender(&group.sender)));
    lines(&entries)
}

fn sender(sender: &SenderOptions) -> String {
    let window = |packets: f64| if packets.is_finite() { print_number(packets) } else { quoted("unlimited") };
    let recovery = match sender.recovery {
        Recovery::Sack => "sack",
        Recovery::NewReno => "newreno",
        Recovery::Reno => "reno",
    };
    let echo = match sender.ecn_echo {
        EcnEcho::PerPacket => "per-packet",
        EcnEcho::Classic => "classic",
    };
    let pacing = match sender.pacing {
        Pacing::Law => "law",
        Pacing::Off => "off",
    };
    let arithmetic = match sender.arithmetic {
        Arithmetic::Real => "f64",
        Arithmetic::Fixed => "fixed",
    };
    inline(&[
        ("initial_window", window(sender.initial_window)),
        ("ssthresh", window(sender.initial_ssthresh)),
        ("receive_window", window(sender.receive_window)),
        ("min_rto", time(sender.min_rto)),
        ("recovery", quoted(recovery)),
        ("delayed_ack", sender.delayed_ack.to_string()),
        ("ecn_echo", quoted(echo)),
        ("pacing", quoted(pacing)),
        ("arithmetic", quoted(arithmetic)),
    ])
}

/// A law with all its parameters, in the order of the registry.
fn law<R: Role>(chosen: &Chosen<R>) -> String {
    let mut entries = vec![("law", quoted(chosen.law.name))];
    for (parameter, (name, value)) in chosen.law.parameters.iter().zip(chosen.values.iter()) {
        let text = match (value, parameter.unit) {
            (None, _) => quoted(AUTOMATIC),
            (Some(x), Unit::One) => print_number(x),
            (Some(x), Unit::Switch) => (x != 0.0).to_string(),
            (Some(x), Unit::Choice(words)) => quoted(words.get(x as usize).copied().unwrap_or_default()),
            (Some(x), unit) => quoted(&print_real(x, unit)),
        };
        entries.push((name, text));
    }
    inline(&entries)
}

fn lines(entries: &[(&str, String)]) -> String {
    entries.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join("\n")
}

fn inline(entries: &[(&str, String)]) -> String {
    let entries: Vec<_> = entries.iter().map(|(key, value)| format!("{} = {value}", bare(key))).collect();
    format!("{{ {} }}", entries.join(", "))
}

fn time(time: Time) -> String {
    quoted(&print_time(time))
}

fn pair(a: Time, b: Time) -> String {
    format!("[{}, {}]", time(a), time(b))
}
