//! A resolved scenario as a scenario file, every default filled in. Reading it again gives the same scenario, and
//! printing that the same text.

use std::fmt::Write;

use penstock_law::parameter::{Parameter, Unit};
use penstock_law::quantity::Time;
use penstock_law::{Role, Values};

use crate::format::{AUTOMATIC, Discipline, OF_ANY_LAW, SPACING_JITTER, TraceFormat, Word};
use crate::key::{bare, quoted};
use crate::model::Profile;
use crate::model::{
    Aggregation, Application, Arithmetic, Buffer, By, Chosen, Class, Customer, Distribution, EcnEcho, EcnOnLine, Full,
    Group, Limit, Link, Origin, Packet, Policer, RackOptions, Recovery, Reorder, Repeats, Rtt, Scenario, Scheduler,
    SenderOptions, Service, Size, Span, Start,
};
use crate::quantity::{print_bytes, print_number, print_packets, print_per_second, print_rate, print_real, print_time};

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
        line(format!("\n[flows.{}]\n{}", bare(name), group(each, scenario.packet)));
    }
    for (name, each) in &scenario.classes {
        line(format!("\n[classes.{}]\n{}", bare(name), class(each)));
    }
    for (name, each) in &scenario.customers {
        line(format!("\n[customers.{}]\n{}", bare(name), customer(each)));
    }
    if !scenario.windows.is_empty() {
        line("\n[windows]".into());
    }
    for (name, (from, to)) in &scenario.windows {
        line(format!("{} = {}", bare(name), pair(*from, *to)));
    }
    if let Some(rule) = scenario.stop {
        line(format!("\n[stop]\nwhen = {}", quoted(rule.word())));
    }
    if let Some(dynamics) = scenario.dynamics {
        line(format!("\n[dynamics]\nround = {}", time(dynamics.round)));
    }
    out
}

fn link(link: &Link) -> String {
    let rate = quoted(&print_rate(link.rate));
    let rate = match &link.service {
        Service::Constant => rate,
        Service::Schedule(changes) => {
            schedule(&rate, changes.iter().map(|(time, rate)| (*time, quoted(&print_rate(*rate)))))
        }
        Service::Trace(trace) => inline(&[("trace", quoted(&trace.file)), ("sha256", quoted(&trace.sha256))]),
        Service::Rates(rates) => inline(&[
            ("trace", quoted(&rates.file)),
            ("format", quoted(TraceFormat::Csv.word())),
            ("sha256", quoted(&rates.sha256)),
        ]),
    };
    let delay = if link.delays.is_empty() {
        time(link.delay)
    } else {
        schedule(&time(link.delay), link.delays.iter().map(|(at, delay)| (*at, time(*delay))))
    };
    let scheduler = match link.scheduler {
        Scheduler::Fifo => inline(&[("law", quoted(Discipline::Fifo.word()))]),
        Scheduler::Drr { by, quantum } => inline(&[
            ("law", quoted(Discipline::Drr.word())),
            ("by", quoted(By::word(by))),
            ("quantum", quoted(&print_bytes(quantum))),
        ]),
    };
    let mut entries = vec![
        ("from", quoted(&link.from)),
        ("to", quoted(&link.to)),
        ("rate", rate),
        ("delay", delay),
        ("buffer", buffer(link.buffer)),
        ("aqm", law(&link.aqm)),
        ("scheduler", scheduler),
        ("loss", print_number(link.loss)),
    ];
    entries.extend(link.policer.map(|Policer { rate, burst }| {
        let entries = [("rate", quoted(&print_rate(rate))), ("burst", quoted(&print_bytes(burst)))];
        ("policer", inline(&entries))
    }));
    if link.arithmetic != Arithmetic::Real {
        entries.push(("arithmetic", quoted(link.arithmetic.word())));
    }
    // Where nothing is lost it would change nothing.
    if link.loss > 0.0 {
        entries.push(("loss_spacing", quoted(link.loss_spacing.word())));
    }
    entries.extend(link.lose_transmission.map(|(least, most)| {
        ("lose_transmission", if least == most { least.to_string() } else { format!("[{least}, {most}]") })
    }));
    entries.extend(link.loss_burst.map(|mean| ("loss_burst", print_number(mean))));
    entries.extend(
        link.reorder
            .map(|Reorder { share, by }| ("reorder", inline(&[("share", print_number(share)), ("by", time(by))]))),
    );
    entries.extend(link.aggregation.map(|Aggregation { time: most, packets, rate }| {
        let mut entries = vec![("time", time(most))];
        entries.extend(packets.map(|packets| ("packets", packets.to_string())));
        entries.extend(rate.map(|rate| ("rate", quoted(&print_rate(rate)))));
        ("aggregation", inline(&entries))
    }));
    if link.duplicate > 0.0 {
        entries.push(("duplicate", print_number(link.duplicate)));
    }
    if link.ecn != EcnOnLine::Keep {
        entries.push(("ecn", quoted(link.ecn.word())));
    }
    lines(&entries)
}

fn buffer(buffer: Buffer) -> String {
    quoted(&match buffer {
        Buffer::Unlimited => "unlimited".into(),
        Buffer::Packets(n) => print_packets(n),
        Buffer::Bytes(n) => print_bytes(n),
    })
}

fn group(group: &Group, packet: Packet) -> String {
    // What nobody acknowledges has no use for most options, and the reader refuses them.
    let reliable = group.requirements(packet).is_ok_and(|needs| needs.reliable);
    let rtt = match &group.rtt {
        Rtt::Each(t) => time(*t),
        Rtt::Spread(a, b) => inline(&[("spread", pair(*a, *b))]),
        Rtt::Uniform(a, b) => uniform((*a, *b)),
        Rtt::List(list) => format!("[{}]", list.iter().map(|t| time(*t)).collect::<Vec<_>>().join(", ")),
    };
    let start = match group.start {
        Start::At(t) => time(t),
        Start::Uniform(a, b) => uniform((a, b)),
        Start::Every(first, gap) => inline(&[("every", time(gap)), ("from", time(first))]),
    };
    let size = group.size.as_ref().map_or_else(
        || quoted("unlimited"),
        |size| match size {
            Size::Each(bytes) => quoted(&print_bytes(*bytes)),
            Size::Pareto { mean, shape } => pareto(quoted(&print_bytes(*mean)), *shape),
            Size::Measured(Distribution { origin: Origin::Known(name), .. }) => {
                inline(&[("distribution", quoted(name))])
            }
            Size::Measured(Distribution { origin: Origin::File { file, sha256 }, .. }) => {
                let entries = [("file", quoted(file)), ("sha256", quoted(sha256))];
                inline(&[("distribution", inline(&entries))])
            }
        },
    );
    let mut entries = vec![
        ("count", group.count.to_string()),
        ("from", quoted(&group.from)),
        ("to", quoted(&group.to)),
        ("via", names(&group.forward)),
        ("rtt", rtt),
        ("cc", cc(group, reliable)),
        ("start", start),
    ];
    entries.extend(group.packet.map(|Packet { wire, payload, .. }| {
        let [wire, payload] = [wire, payload].map(|bytes| quoted(&print_bytes(bytes)));
        ("packet", inline(&[("wire", wire), ("payload", payload)]))
    }));
    entries.extend(group.stop.map(|stop| ("stop", time(stop))));
    entries.push(("size", size));
    entries.extend(group.repeats.map(|repeats| match repeats {
        Repeats::Poisson(often) => ("arrivals", inline(&[("poisson", quoted(&print_per_second(often)))])),
        Repeats::Idle(idle) => ("idle", span(idle)),
    }));
    entries.extend(group.application.as_ref().map(application));
    entries.extend(group.on_off.map(|(on, off)| ("on_off", inline(&[("on", span(on)), ("off", span(off))]))));
    entries.extend(group.class.as_ref().map(|class| ("class", quoted(class))));
    entries.extend(group.access.map(|access| {
        let mut entries = vec![("rate", quoted(&print_rate(access.rate))), ("queue", buffer(access.queue))];
        entries.extend((access.full == Full::Wait).then(|| ("full", quoted(access.full.word()))));
        ("access", inline(&entries))
    }));
    entries.extend(group.jitter.map(|between| ("jitter", uniform(between))));
    entries.extend(group.ack_jitter.map(|late| {
        let entries =
            [("probability", print_number(late.probability)), ("uniform", pair(late.between.0, late.between.1))];
        ("ack_jitter", inline(&entries))
    }));
    entries.extend((group.loss > 0.0).then(|| ("loss", print_number(group.loss))));
    entries.push(("series", group.series.to_string()));
    entries.push(("sender", sender(&group.sender, reliable, group.repeats.is_some())));
    lines(&entries)
}

fn application(application: &Application) -> (&'static str, String) {
    match application {
        Application::Page(page) => {
            let rounds: Vec<String> = page.rounds.iter().map(u32::to_string).collect();
            let mut entries = vec![("rounds", format!("[{}]", rounds.join(", ")))];
            if page.multiplexed {
                entries.push(("multiplexed", "true".to_owned()));
            } else {
                entries.push(("connections", page.connections.to_string()));
            }
            ("page", inline(&entries))
        }
        Application::Video(video) => {
            let rates: Vec<String> = video.rates.iter().map(|rate| quoted(&print_rate(*rate))).collect();
            let entries = [
                ("rates", format!("[{}]", rates.join(", "))),
                ("chunk", time(video.chunk)),
                ("buffer", time(video.buffer)),
                ("reservoir", time(video.reservoir)),
                ("cushion", time(video.cushion)),
            ];
            ("video", inline(&entries))
        }
    }
}

fn sender(sender: &SenderOptions, reliable: bool, repeats: bool) -> String {
    let mut entries = options(sender);
    entries.retain(|(key, _)| (reliable || OF_ANY_LAW.contains(key)) && (repeats || *key != "remember"));
    inline(&entries)
}

/// Each key of `sender` and its value, as the file has them.
pub(crate) fn options(sender: &SenderOptions) -> Vec<(&'static str, String)> {
    let window = |packets: f64| if packets.is_finite() { print_number(packets) } else { quoted("unlimited") };
    let mut entries = vec![
        ("initial_window", window(sender.initial_window)),
        ("ssthresh", window(sender.initial_ssthresh)),
        ("receive_window", window(sender.receive_window)),
        ("min_rto", time(sender.min_rto)),
        ("rto", quoted(sender.rto.word())),
        ("recovery", quoted(sender.recovery.word())),
        ("delayed_ack", sender.delayed_ack.to_string()),
        ("ecn_echo", quoted(sender.ecn_echo.word())),
        ("pacing", quoted(sender.pacing.word())),
        ("burst", quoted(&print_packets(u64::from(sender.burst)))),
        ("limited_transmit", sender.limited_transmit.to_string()),
        ("remember", quoted(sender.remember.word())),
        ("arithmetic", quoted(sender.arithmetic.word())),
    ];
    if sender.recovery == Recovery::Rack {
        let RackOptions { prr, tail_loss_probe, dsack, undo } = sender.rack;
        let parts = [("prr", prr), ("tail_loss_probe", tail_loss_probe), ("dsack", dsack), ("undo", undo)];
        entries.extend(parts.map(|(key, on)| (key, on.to_string())));
    }
    if sender.handshake || sender.profile != Profile::Ns2 {
        entries.push(("handshake", sender.handshake.to_string()));
    }
    if sender.profile != Profile::Ns2 {
        entries.insert(0, ("profile", quoted(sender.profile.word())));
    }
    if sender.delayed_ack > 1 && (sender.quick_acks > 0 || sender.profile != Profile::Ns2) {
        entries.push(("quick_acks", sender.quick_acks.to_string()));
    }
    let waits = sender.profile == Profile::Quic || sender.max_ack_delay != SenderOptions::default().max_ack_delay;
    if sender.delayed_ack > 1 && waits {
        entries.push(("max_ack_delay", time(sender.max_ack_delay)));
    }
    if sender.ack_gap_once || sender.profile == Profile::Quic {
        entries.push(("ack_gap_once", sender.ack_gap_once.to_string()));
    }
    if sender.selective() && (sender.sack_blocks > 1 || sender.profile != Profile::Ns2) {
        entries.push(("sack_blocks", sender.sack_blocks.to_string()));
    }
    if sender.ecn_echo == EcnEcho::Accurate {
        entries.push(("accecn_option", sender.accecn_option.to_string()));
        entries.push(("receiver_ecn", quoted(sender.receiver_ecn.word())));
    }
    entries.extend(sender.tick.map(|tick| ("tick", time(tick))));
    let noise = sender.rtt_noise.map(|noise| {
        let entries = [("probability", print_number(noise.probability)), ("upto", time(noise.upto))];
        ("rtt_noise", inline(&entries))
    });
    entries.extend(noise);
    let known = sender.bottleneck.map(|known| {
        let entries = [("capacity", print_number(known.capacity)), ("buffer", print_number(known.buffer))];
        ("bottleneck", inline(&entries))
    });
    entries.extend(known);
    entries.extend((sender.limit == Limit::Pace).then(|| ("limit", quoted(sender.limit.word()))));
    entries
}

fn class(class: &Class) -> String {
    let mut entries = vec![
        ("floor", quoted(&print_rate(class.floor))),
        ("ceiling", quoted(&class.ceiling.map_or_else(|| "unlimited".into(), print_rate))),
    ];
    entries.extend(class.share.map(|share| ("share", print_number(share))));
    lines(&entries)
}

fn customer(customer: &Customer) -> String {
    let mut entries = vec![("flows", names(&customer.flows))];
    entries.extend(customer.conditioner.as_ref().map(|conditioner| ("conditioner", law(conditioner))));
    lines(&entries)
}

fn span(span: Span) -> String {
    match span {
        Span::Fixed(t) => time(t),
        Span::Uniform(a, b) => uniform((a, b)),
        Span::Exponential(mean) => inline(&[("exponential", time(mean))]),
        Span::Pareto { mean, shape } => pareto(time(mean), shape),
    }
}

fn pareto(mean: String, shape: f64) -> String {
    inline(&[("pareto", inline(&[("mean", mean), ("shape", print_number(shape))]))])
}

/// The law of a group's senders, with the schedules of its changes.
fn cc(group: &Group, reliable: bool) -> String {
    let mut entries = parameters(&group.cc);
    for (at, parameter) in group.cc.law.parameters.iter().enumerate() {
        let mut before = value(&group.cc.values, at);
        let mut changes = Vec::new();
        for (time, values) in &group.steps {
            let now = value(values, at);
            if now != before {
                changes.push((*time, spelled(parameter, now)));
            }
            before = now;
        }
        if !changes.is_empty() {
            // The law's name comes first.
            entries[at + 1].1 = schedule(&entries[at + 1].1, changes.into_iter());
        }
    }
    if !reliable {
        entries.push((SPACING_JITTER, print_number(group.spacing_jitter)));
    }
    inline(&entries)
}

/// The value at the start, and those from times on.
fn schedule(first: &str, changes: impl Iterator<Item = (Time, String)>) -> String {
    let mut out = format!("[[{}, {first}]", time(Time::ZERO));
    for (at, value) in changes {
        let _ = write!(out, ", [{}, {value}]", time(at));
    }
    out + "]"
}

/// A law with all its parameters, in the order of the registry.
fn law<R: Role>(chosen: &Chosen<R>) -> String {
    inline(&parameters(chosen))
}

fn parameters<R: Role>(chosen: &Chosen<R>) -> Vec<(&'static str, String)> {
    let mut entries = vec![("law", quoted(chosen.law.name))];
    for (at, parameter) in chosen.law.parameters.iter().enumerate() {
        entries.push((parameter.name, spelled(parameter, value(&chosen.values, at))));
    }
    entries
}

/// The value of the parameter at this index in the law's list.
fn value(values: &Values, at: usize) -> Option<f64> {
    values.iter().nth(at).and_then(|(_, value)| value)
}

/// The value of a parameter as TOML; none where the law works it out.
pub(crate) fn spelled(parameter: &Parameter, value: Option<f64>) -> String {
    match (value, parameter.unit) {
        (None, _) => quoted(AUTOMATIC),
        (Some(x), Unit::One) => print_number(x),
        (Some(x), Unit::Switch) => (x != 0.0).to_string(),
        (Some(x), Unit::Choice(words)) => quoted(words.get(x as usize).copied().unwrap_or_default()),
        (Some(x), unit) => quoted(&print_real(x, unit)),
    }
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

fn uniform((a, b): (Time, Time)) -> String {
    inline(&[("uniform", pair(a, b))])
}

fn names(names: &[String]) -> String {
    format!("[{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}
