//! The plan of a scenario for this kernel, and its features that the kernel lacks.
//!
//! A setting that has no counterpart here is refused, never left out.

mod quic;
#[cfg(test)]
mod tests;

#[cfg(feature = "quic")]
pub(super) use quic::HEADERS as HEADERS_OF_QUIC;

use std::fs;

use penstock_kernel::attach;
use penstock_law::Values;
use penstock_law::cc::{self, Marks};
use penstock_law::parameter::Unit;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_path::Refused;
use penstock_path::ends::{AccurateEcn, FlowHabits, Habits};
use penstock_scenario::model::{
    Arithmetic, Chosen, EcnEcho, Group, Limit, Pacing, Profile, RackOptions, ReceiverEcn, Recovery, Remember, Repeats,
    Rto, Scenario,
};

use super::generator::Generator;
use super::laws::{self, Controller, Wanted};

/// The flows of a run and their settings.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) habits: Habits,
    /// One a flow, over all groups in the order of the file.
    pub(super) flows: Vec<FlowPlan>,
    /// Laws that are registered for the run.
    pub(super) laws: Vec<Wanted>,
    /// Behaviour of the kernel that the scenario cannot express, a sentence each.
    pub(super) findings: Vec<String>,
}

/// The traffic of one flow.
#[derive(Debug, Clone)]
pub(super) struct FlowPlan {
    /// Its group.
    pub(super) group: usize,
    pub(super) start: Time,
    /// When it stops sending new data.
    pub(super) stop: Time,
    /// User's data of its one transfer; none where it has no end, or where transfers repeat.
    pub(super) bytes: Option<Bytes>,
    pub(super) source: Source,
}

/// The sender of a flow.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// A TCP socket.
    Tcp {
        /// The controller.
        controller: Controller,
        /// Whether it requests selective acknowledgements.
        sack: bool,
    },
    /// A connection of QUIC.
    Quic(Quic),
    /// Datagrams, on the wire at these rates from these times on.
    Datagrams(Vec<(Time, Rate)>),
    /// Programs of somebody's, of which only their packets are known.
    Programs,
}

/// The sender of a flow over QUIC.
#[derive(Debug, Clone)]
pub(super) struct Quic {
    /// The law, or the name of one of quinn's own.
    pub(super) chosen: Chosen<cc::Controller>,
    /// Whether its packets may be marked.
    pub(super) ecn: bool,
    /// [packets]
    pub(super) initial_window: f64,
    /// Buffer of the receiver [bytes]; without a bound where there is none.
    pub(super) receive_window: Option<Bytes>,
}

impl Source {
    /// Whether its data are acknowledged, and sent again when lost.
    pub(super) fn is_reliable(&self) -> bool {
        matches!(self, Self::Tcp { .. } | Self::Quic(_))
    }
}

/// Laws, and their names in the kernel.
pub(super) const CONTROLLERS: &[(&str, &str)] = &[
    ("newreno", "reno"),
    ("cubic", "cubic"),
    ("bbr", "bbr"),
    ("dctcp", "dctcp"),
    ("vegas", "vegas"),
    ("highspeed", "highspeed"),
    ("scalable", "scalable"),
    ("westwood", "westwood"),
    ("illinois", "illinois"),
];

/// The congestion controllers of this kernel, as far as they are loaded.
pub(super) fn controllers_of_kernel() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Headers of IP and TCP, and with timestamps.
const PLAIN: u64 = 40;
const STAMPED: u64 = 52;

impl Plan {
    /// Of a scenario.
    ///
    /// # Errors
    /// Everything that this kernel, or this world, does not do.
    pub(super) fn of(scenario: &Scenario, generator: Generator) -> Result<Self, Vec<Refused>> {
        let quic = generator == Generator::Quic;
        let mut refusals = Vec::new();
        if scenario.groups.is_empty() {
            let instead = "add a group; `linux path` is for programs of one's own";
            refusals.push(no("flows", "there are none", instead));
        }
        if quic {
            quic::refuse_none(scenario, &mut refusals);
        }
        if scenario.dynamics.is_some() {
            let what = "this world does not sample each round";
            refusals.push(no("dynamics", what, "leave the table out, or use `--world packets`"));
        }
        let (wire, payload) = (scenario.packet.wire.0, scenario.packet.payload.0);
        let timestamps = match wire - payload {
            PLAIN => false,
            STAMPED => true,
            // QUIC has headers of its own.
            _ if quic => false,
            other => {
                let what = format!(
                    "packet: {other} B of header; the kernel's TCP has {PLAIN} B, or {STAMPED} B with timestamps"
                );
                refusals.push(Refused::new(what, "give `packet` a payload of 40 or 52 B less than `wire`"));
                false
            }
        };
        // A datagram of QUIC has 1200 B at the least (RFC 9000, section 14), and headers of IP and UDP.
        let least = if quic { 1200 + quic::HEADERS } else { 576 };
        if !(least..=9216).contains(&wire) {
            let what = format!("packet: {wire} B on the wire");
            refusals.push(Refused::new(what, format!("write a size on the wire from {least} B to 9216 B")));
        }
        let (mut flows, mut habits, mut bursts, mut laws) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (number, (name, group)) in scenario.groups.iter().enumerate() {
            let source = if quic && group.cc.law.name != "cbr" {
                quic::source(name, group, scenario, &mut refusals)
            } else {
                source(name, group, &mut laws, &mut refusals)
            };
            let Some(source) = source else { continue };
            let tcp = matches!(source, Source::Tcp { .. });
            let own = if tcp { own_habits(scenario, name, group) } else { Ok(FlowHabits::default()) };
            let mut own = match own {
                Ok(own) => own,
                Err(refused) => {
                    refusals.push(refused);
                    continue;
                }
            };
            if let Source::Tcp { controller: Controller::Law { name, .. }, .. } = &source {
                own.echoes = laws.iter().find(|law| law.name == *name && law.requires_ecn).map(|law| law.name.clone());
            }
            if tcp {
                bursts.push(group.sender.burst);
            }
            let mut starts = group.starts(name, scenario.seed);
            if matches!(group.repeats, Some(Repeats::Poisson(_))) {
                // Any flow of the group may take a transfer, from its first start on.
                let first = starts.iter().copied().min().unwrap_or_default();
                starts.fill(first);
            }
            let mut sizes = scenario.seed.stream(&format!("flows.{name}/size"));
            for start in starts {
                let bytes = group.size.as_ref().filter(|_| group.repeats.is_none()).map(|size| size.draw(&mut sizes));
                let stop = group.stop.unwrap_or(Time::NEVER);
                flows.push(FlowPlan { group: number, start, stop, bytes, source: source.clone() });
                habits.push(own.clone());
            }
        }
        bursts.dedup();
        let burst = match bursts.as_slice() {
            [] => None,
            [burst] => Some(*burst),
            _ => {
                refusals.push(Refused::new(
                    "sender.burst: the groups have different values, and all flows of the Linux world share one device",
                    "give all groups the same value",
                ));
                None
            }
        };
        let accurate_ecn = if quic { None } else { accurate_ecn(scenario, &mut refusals) };
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let rests = scenario.groups.values().any(|group| group.on_off.is_some());
        let timestamps = timestamps && !quic;
        let habits = Habits { mtu: wire as u16, timestamps, burst, keep_window: rests, accurate_ecn, flows: habits };
        let findings = if quic { quic::findings(scenario) } else { findings(scenario) };
        Ok(Self { habits, flows, laws, findings })
    }
}

#[cfg(feature = "quic")]
impl Plan {
    /// The same, with a finding more if there is one.
    pub(super) fn with(mut self, finding: Option<String>) -> Self {
        self.findings.extend(finding);
        self
    }
}

/// Accurate ECN, which the kernel has for all connections of a namespace or for none.
fn accurate_ecn(scenario: &Scenario, refusals: &mut Vec<Refused>) -> Option<AccurateEcn> {
    let tcp = || scenario.groups.iter().filter(|(_, group)| group.cc.law.name != "cbr");
    let asks = |group: &Group| group.sender.ecn_echo == EcnEcho::Accurate;
    let (name, first) = tcp().find(|(_, group)| asks(group))?;
    let whose = format!("flows.{name}.sender.ecn_echo");
    let accurate = |group: &Group| AccurateEcn {
        receivers: group.sender.receiver_ecn == ReceiverEcn::Accurate,
        option: group.sender.accecn_option,
    };
    let responds = |group: &Group| group.requirements(scenario.packet).is_ok_and(|needs| needs.marks != Marks::Ignored);
    let alike = |group: &Group| asks(group) && responds(group) && accurate(group) == accurate(first);
    if let Some((other, _)) = tcp().find(|(_, group)| !alike(group)) {
        let what = format!(
            "all flows of the Linux world share `net.ipv4.tcp_ecn`, and flows.{other} has other ECN settings or does not respond to marks"
        );
        refusals.push(no(&whose, &what, "give all groups the same, or use `--world packets`"));
    } else if AccurateEcn::in_kernel() == Some(false) {
        let what = "this kernel does not accept `net.ipv4.tcp_ecn = 3`, which turns accurate ECN (RFC 9768) on";
        refusals.push(no(&whose, what, "leave it out, use a later kernel, or use `--world packets`"));
    }
    Some(accurate(first))
}

pub(super) fn no(whose: &str, what: &str, instead: &str) -> Refused {
    Refused::new(format!("{whose}: {what}"), instead)
}

/// The source of a group's flows; nothing where they cannot be sent, with all reasons in `refusals`.
fn source(name: &str, group: &Group, laws: &mut Vec<Wanted>, refusals: &mut Vec<Refused>) -> Option<Source> {
    let before = refusals.len();
    if group.sender.remember != Remember::Nothing {
        let what = "each transfer is a connection of its own here";
        refusals.push(no(&format!("flows.{name}.sender.remember"), what, "use `--world packets` for it"));
    }
    let source = if group.cc.law.name == "cbr" {
        let rate = |values: &Values| Rate(values.number("rate") as u64);
        let first = (Time::ZERO, rate(&group.cc.values));
        let later = group.steps.iter().map(|(time, values)| (*time, rate(values)));
        Some(Source::Datagrams(std::iter::once(first).chain(later).collect()))
    } else {
        let controller = controller(name, group, laws, refusals);
        sender_refusals(name, group, refusals);
        controller.map(|controller| Source::Tcp { controller, sack: group.sender.selective() })
    };
    source.filter(|_| refusals.len() == before)
}

/// Features that the kernel's senders lack.
fn sender_refusals(name: &str, group: &Group, refusals: &mut Vec<Refused>) {
    if group.packet.is_some() {
        let what = "the kernel's TCP fills the packets of the device that all share";
        refusals.push(no(&format!("flows.{name}.packet"), what, "leave it out, or use `--world packets`"));
    }
    if group.application.is_some() {
        let what = "the senders of this world do not load pages or stream video";
        refusals.push(no(&format!("flows.{name}"), what, "leave `page` and `video` out, or use `--world packets`"));
    }
    let sender = &group.sender;
    let mut refuse = |key: &str, what: &str, instead: &str| {
        refusals.push(no(&format!("flows.{name}.{key}"), what, instead));
    };
    if sender.arithmetic == Arithmetic::Fixed {
        refuse("sender.arithmetic", "the kernel has its own", "leave it out");
    }
    if sender.recovery == Recovery::Reno {
        refuse("sender.recovery", "the kernel does not support the recovery of RFC 2581", "choose `sack` or `newreno`");
    }
    if sender.initial_ssthresh.is_finite() {
        refuse("sender.ssthresh", "the kernel starts without one", "leave it out");
    }
    if sender.rtt_noise.is_some() {
        let what = "the kernel's round-trip samples are what they are";
        refuse("sender.rtt_noise", what, "leave it out, or use `ack_jitter`");
    }
    if sender.bottleneck.is_some() {
        refuse("sender.bottleneck", "the kernel's laws measure their bottleneck", "leave it out");
    }
    // What QUIC has otherwise, the kernel's TCP has its own of: a finding says so.
    let usual = sender.profile.options();
    if sender.pacing == Pacing::Window && usual.pacing != Pacing::Window {
        refuse("sender.pacing", "the kernel's TCP paces by rules of its own", "leave it out, or use `--world packets`");
    }
    if sender.ack_gap_once && !usual.ack_gap_once {
        refuse("sender.ack_gap_once", "the kernel's TCP acknowledges each packet beyond a gap", "leave it out");
    }
    if sender.rto == Rto::Rfc9002 && usual.rto != Rto::Rfc9002 {
        refuse(
            "sender.rto",
            "the kernel's TCP has no probe timeout of QUIC",
            "leave it out, or write `rto = \"linux\"`",
        );
    }
    if sender.max_ack_delay != usual.max_ack_delay && sender.delayed_ack > 1 {
        refuse("sender.max_ack_delay", "the kernel's TCP has its own, of 40 ms and more", "leave it out");
    }
    let parts = |it: RackOptions| {
        [("prr", it.prr), ("tail_loss_probe", it.tail_loss_probe), ("dsack", it.dsack), ("undo", it.undo)]
    };
    for ((key, on), (_, usual)) in parts(sender.rack).into_iter().zip(parts(usual.rack)) {
        if !on && usual {
            refuse(&format!("sender.{key}"), "the kernel's recovery has this part", "leave it out");
        }
    }
    if sender.tick.is_some() {
        refuse("sender.tick", "the kernel's timer has the kernel's clock", "leave it out");
    }
    if sender.limit == Limit::Pace {
        refuse("sender.limit", "the kernel's senders always have a window", "leave it out");
    }
    if sender.pacing == Pacing::Off && group.cc.law.name == "bbr" {
        refuse("sender.pacing", "the kernel's bbr always paces", "leave it out");
    }
    let window = sender.initial_window;
    if window < 1.0 || window.fract() != 0.0 {
        refuse("sender.initial_window", "the kernel counts whole packets", "choose 1 packet or more");
    }
    let per_ack = group.cc.values.iter().find_map(|(name, value)| value.filter(|_| name == "per_ack"));
    if sender.delayed_ack > 1 && per_ack.is_some_and(|most| most < f64::from(sender.delayed_ack)) {
        let what = "the kernel grows the window for every packet that an acknowledgement covers";
        refuse("cc.per_ack", what, "set it to 2 packets");
    }
}

/// The kernel's controller for a group, which must behave as the group's law; nothing where there is none.
fn controller(name: &str, group: &Group, laws: &mut Vec<Wanted>, refusals: &mut Vec<Refused>) -> Option<Controller> {
    let law = group.cc.law;
    let whose = format!("flows.{name}.cc");
    if let Some(wanted) = laws::wanted(&whose, group, laws.len()) {
        let wanted = wanted.map_err(|refused| refusals.push(refused)).ok()?;
        let name = wanted.name.clone();
        laws.push(wanted);
        return Some(Controller::Law { law: law.name, name });
    }
    let there = controllers_of_kernel();
    let Some((_, controller)) = CONTROLLERS.iter().find(|(ours, _)| *ours == law.name) else {
        let what = format!("no kernel has a controller for the law `{}`", law.name);
        let ours = attach::controller::names().join("`, `");
        refusals.push(no(&whose, &what, &format!("choose one of `newreno`, `cubic`, `bbr`, `{ours}`")));
        return None;
    };
    if !there.iter().any(|name| name == controller) {
        let what = format!("this kernel has no controller `{controller}` (it has {})", there.join(", "));
        refusals.push(no(&whose, &what, &format!("load it, as root: `modprobe tcp_{controller}`")));
    }
    let known = Values::defaults(law.parameters);
    for parameter in law.parameters {
        let value = group.cc.values.optional(parameter.name);
        // Whether packets can be marked is said on the route, and how many an acknowledgement counts for by `delayed_ack`.
        // The kernel's Reno-friendly region and initial growth are a finding of each run, as its loss detection is.
        if ["ecn", "per_ack", "friendly_catches_up", "initial_growth", "hystart_rule"].contains(&parameter.name) {
            continue;
        }
        let kernel = if parameter.name == "hystart" {
            Some(f64::from(u8::from(hystart())))
        } else {
            known.optional(parameter.name)
        };
        if value != kernel {
            let shown = |value: Option<f64>| match (parameter.unit, value) {
                (Unit::Switch, Some(value)) => (value != 0.0).to_string(),
                (_, Some(value)) => value.to_string(),
                (_, None) => "none".to_owned(),
            };
            let what =
                format!("this parameter is {}, and the kernel's `{controller}` has {}", shown(value), shown(kernel));
            let instead = if parameter.name == "hystart" {
                "set `hystart` in the scenario, or in /sys/module/tcp_cubic/parameters/hystart, for the whole machine"
            } else if parameter.name == "flight_size" {
                // A profile may have switched it on.
                "write `flight_size = false`"
            } else {
                "leave it out"
            };
            refusals.push(no(&format!("{whose}.{}", parameter.name), &what, instead));
        }
    }
    Some(Controller::Kernel(controller))
}

/// Whether the kernel's CUBIC ends its first slow start by HyStart.
fn hystart() -> bool {
    fs::read_to_string("/sys/module/tcp_cubic/parameters/hystart").is_ok_and(|text| text.trim() != "0")
}

fn own_habits(scenario: &Scenario, name: &str, group: &Group) -> Result<FlowHabits, Refused> {
    let needs = group
        .requirements(scenario.packet)
        .map_err(|e| no(&format!("flows.{name}.cc"), &e, "choose other parameters"))?;
    let sender = &group.sender;
    let payload = scenario.packet.payload;
    let window = sender.receive_window;
    Ok(FlowHabits {
        initial_window: Some(sender.initial_window as u32),
        // kGranularity of QUIC is no least timeout of TCP.
        min_rto: Some(sender.min_rto).filter(|_| sender.rto != Rto::Rfc9002),
        ecn: needs.marks != Marks::Ignored,
        quick_ack: sender.delayed_ack == 1,
        receive_window: window.is_finite().then_some(Bytes((window * payload.0 as f64) as u64)),
        echoes: None,
        low_latency: needs.low_latency,
    })
}

fn findings(scenario: &Scenario) -> Vec<String> {
    let mut findings = Vec::new();
    let reliable = |group: &&Group| group.cc.law.name != "cbr";
    if scenario.groups.values().filter(reliable).any(|group| group.sender.profile == Profile::Quic) {
        findings.push(
            "the flows are the kernel's TCP, which paces, recovers and acknowledges as Linux does: `--generator quic` sends \
             over QUIC, and `sender.profile = \"linux\"` has TCP simulated"
                .to_owned(),
        );
    }
    let otherwise = |group: &Group| group.sender.recovery != Recovery::Rack && !group.sender.limited_transmit;
    if scenario.groups.values().filter(reliable).any(otherwise) {
        findings.push(
            "the kernel always sends on the first duplicate acknowledgements (RFC 3042), finds losses by time (RACK, RFC \
             8985), probes the tail (TLP), and under its own controllers reduces in proportion (PRR, RFC 9937): \
             `sender.recovery = \"rack\"` has it simulated so"
                .to_owned(),
        );
    }
    let blocks = scenario.packet.wire.0 - scenario.packet.payload.0;
    let blocks = if blocks == STAMPED { 3 } else { 4 };
    let few = |group: &Group| group.sender.recovery == Recovery::Rack && group.sender.sack_blocks != blocks;
    if scenario.groups.values().filter(reliable).any(few) {
        findings.push(format!(
            "the kernel's acknowledgements have up to {blocks} blocks here: `sender.sack_blocks = {blocks}` has them simulated so"
        ));
    }
    if scenario.groups.values().filter(reliable).any(|group| group.sender.rto != Rto::Linux) {
        findings.push(
            "the kernel adds `min_rto` at the least to the smoothed round trip, where RFC 6298 bounds the sum: \
             `sender.rto = \"linux\"` has it simulated so"
                .to_owned(),
        );
    }
    let catches_up = |group: &Group| group.cc.law.name == "cubic" && group.cc.values.switch("friendly_catches_up");
    if scenario.groups.values().any(catches_up) {
        findings.push(
            "the kernel's cubic has HyStart of its own where it is on, which `hystart_rule = \"linux\"` has simulated, and no \
             `friendly_catches_up` (RFC 9438, section 4.3): where Reno would be ahead of the cubic, it \
             grows by about half a packet a round trip"
                .to_owned(),
        );
    }
    let growth =
        Profile::Linux.parameters().iter().find(|(name, _)| *name == "initial_growth").map_or(0.0, |(_, is)| *is);
    let waits = |group: &Group| group.cc.law.name == "cubic" && group.cc.values.number("initial_growth") != growth;
    if scenario.groups.values().any(waits) {
        findings.push(format!(
            "the kernel's cubic grows by {growth} of the window a round trip after slow start, until its first loss or mark: \
             `initial_growth = {growth}` has it simulated so"
        ));
    }
    let low_latency = |group: &Group| group.requirements(scenario.packet).is_ok_and(|needs| needs.low_latency);
    if scenario.groups.values().any(low_latency) {
        findings.push(
            "the kernel sends ECT(0) under any controller, and data sent again without ECN: the path makes ECT(1) of the ECT(0) of \
             flows that ask for low latency (RFC 9331)"
                .to_owned(),
        );
    }
    let opened = |group: &&Group| reliable(group) && group.size.is_some() && !group.sender.handshake;
    if scenario.groups.values().any(|group| opened(&group)) {
        findings.push(
            "transfers are connections: their times have a handshake in them, a round trip each: \
             `sender.handshake = true` has it simulated"
                .to_owned(),
        );
    }
    findings
}
