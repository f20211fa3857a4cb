//! The plan of a scenario for QUIC, and its features that quinn and s2n-quic lack.

use penstock_law::Values;
use penstock_law::cc::{Controller, Marks};
use penstock_law::law::Entry;
use penstock_law::quantity::Bytes;
use penstock_path::Refused;
use penstock_scenario::model::{Application, Group, Pacing, Profile, Recovery, Remember, Scenario, SenderOptions};

use super::{Quic, Source, no};

/// The stacks.
const QUINN: &str = "quinn";
const S2N: &str = "s2n-quic";
/// IPv4 and UDP [bytes].
pub(crate) const HEADERS: u64 = 28;

/// The source of a group's flows; nothing where they cannot be sent, with all reasons in `refusals`.
pub(super) fn source(name: &str, group: &Group, scenario: &Scenario, refusals: &mut Vec<Refused>) -> Option<Source> {
    let before = refusals.len();
    let sender = &group.sender;
    let stack = stack(group);
    let mut refuse = |key: &str, what: &str, instead: &str| {
        refusals.push(no(&format!("flows.{name}.{key}"), what, instead));
    };
    if !cfg!(feature = "quic") {
        refuse("cc", "this program was built without QUIC", "build it with `--features quic`");
    }
    if group.packet.is_some() {
        refuse("packet", "all flows share the packets of one device", "leave it out, or use `--world packets`");
    }
    if let Some(application) = &group.application {
        let (key, what) = match application {
            Application::Page(_) => ("page", "the senders of this world load no pages"),
            Application::Video(_) => ("video", "the senders of this world stream no video"),
        };
        refuse(key, what, "leave it out, or use `--world packets`");
    }
    if group.on_off.is_some() && group.size.is_some() {
        let what = format!(
            "{stack} takes data ahead of what it sends, and a pause drops them, so that a size is never complete"
        );
        let instead = format!("leave it or `size` out, or take a law that is not {stack}'s and leave out --generator");
        refuse("on_off", &what, &instead);
    }
    if sender.remember != Remember::Nothing {
        refuse("sender.remember", "each transfer is a connection of its own here", "use `--world packets` for it");
    }
    for key in otherwise(sender) {
        let what = format!("{stack} goes by RFC 9000 and RFC 9002, and has no such setting");
        refuse(key, &what, "leave it out, or leave out --generator");
    }
    let window = sender.initial_window;
    if window < 2.0 {
        refuse("sender.initial_window", "QUIC has two packets at the least", "choose 2 packets or more");
    } else if window.fract() != 0.0 {
        let instead = format!("choose {} or {} packets", window.floor(), window.ceil());
        refuse("sender.initial_window", &format!("{window} packets are no whole ones"), &instead);
    }
    let ecn = match group.requirements(scenario.packet) {
        Ok(needs) => needs.marks != Marks::Ignored,
        Err(what) => {
            refuse("cc", &what, "choose other parameters");
            false
        }
    };
    if let Err((what, instead)) = hosted(group.cc.law, &group.cc.values) {
        refuse("cc", &what, &instead);
    }
    let mtu = scenario.packet.wire.0.saturating_sub(HEADERS) as f64;
    let room = sender.receive_window;
    let quic = Quic {
        chosen: group.cc.clone(),
        ecn,
        initial_window: window,
        receive_window: room.is_finite().then_some(Bytes((room * mtu) as u64)),
    };
    (refusals.len() == before).then_some(Source::Quic(quic))
}

/// Refuses a scenario of which nothing goes over QUIC.
pub(super) fn refuse_none(scenario: &Scenario, refusals: &mut Vec<Refused>) {
    if !scenario.groups.is_empty() && scenario.groups.values().all(|group| group.cc.law.name == "cbr") {
        let what = "all groups are `cbr`, whose datagrams are not of QUIC";
        refusals.push(no("flows", what, "leave out --generator"));
    }
}

/// Keys that are not as the profile has them, and that no stack has.
fn otherwise(sender: &SenderOptions) -> impl Iterator<Item = &'static str> {
    let usual = sender.profile.options();
    // Another recovery changes its timer and its acknowledgements too, whether or not the file has them.
    let recovers = sender.recovery == usual.recovery || sender.recovery == Recovery::Rack;
    let part = |it: bool, usual: bool| sender.recovery == Recovery::Rack && it != usual;
    let (rack, of_profile) = (sender.rack, usual.rack);
    let keys = [
        ("sender.ssthresh", sender.initial_ssthresh != usual.initial_ssthresh),
        ("sender.min_rto", recovers && sender.min_rto != usual.min_rto),
        ("sender.rto", recovers && sender.rto != usual.rto),
        ("sender.tick", sender.tick != usual.tick),
        ("sender.recovery", !recovers),
        ("sender.prr", part(rack.prr, of_profile.prr)),
        ("sender.tail_loss_probe", sender.rto == usual.rto && part(rack.tail_loss_probe, of_profile.tail_loss_probe)),
        ("sender.dsack", part(rack.dsack, of_profile.dsack)),
        ("sender.undo", part(rack.undo, of_profile.undo)),
        ("sender.sack_blocks", sender.selective() && sender.sack_blocks != usual.sack_blocks),
        // QUIC always has one: whoever says so says what is.
        ("sender.handshake", usual.handshake && !sender.handshake),
        ("sender.delayed_ack", sender.delayed_ack != usual.delayed_ack && sender.delayed_ack != 2),
        ("sender.quick_acks", sender.quick_acks != usual.quick_acks),
        ("sender.max_ack_delay", sender.max_ack_delay != usual.max_ack_delay && sender.delayed_ack == 2),
        ("sender.ack_gap_once", recovers && sender.ack_gap_once != usual.ack_gap_once && sender.delayed_ack == 2),
        ("sender.ecn_echo", sender.ecn_echo != usual.ecn_echo),
        ("sender.receiver_ecn", sender.receiver_ecn != usual.receiver_ecn),
        ("sender.pacing", ![usual.pacing, Pacing::Window].contains(&sender.pacing)),
        ("sender.limit", sender.limit != usual.limit),
        ("sender.burst", sender.burst != usual.burst),
        ("sender.limited_transmit", sender.limited_transmit != usual.limited_transmit),
        ("sender.rtt_noise", sender.rtt_noise != usual.rtt_noise),
        ("sender.arithmetic", sender.arithmetic != usual.arithmetic),
    ];
    keys.into_iter().filter_map(|(key, differs)| differs.then_some(key))
}

/// The stack that sends a group's flows.
#[cfg(feature = "quic")]
fn stack(group: &Group) -> &'static str {
    if crate::s2n::is_own(group.cc.law.name) { S2N } else { QUINN }
}

#[cfg(not(feature = "quic"))]
fn stack(_: &Group) -> &'static str {
    QUINN
}

/// Whether quinn, or s2n-quic, can have the law: the reason, and the remedy.
#[cfg(feature = "quic")]
fn hosted(law: &'static Entry<Controller>, values: &Values) -> Result<(), (String, String)> {
    if !crate::s2n::is_own(law.name) {
        return crate::quinn::hosted(law, values);
    }
    let Some(remedy) = crate::s2n::missing(law.name) else { return Ok(()) };
    Err((format!("this program was built without {S2N}, which has the law `{}`", law.name), remedy.to_owned()))
}

#[cfg(not(feature = "quic"))]
fn hosted(_: &'static Entry<Controller>, _: &Values) -> Result<(), (String, String)> {
    Ok(())
}

/// Behaviour of the stacks that the scenario cannot express, a sentence each.
pub(super) fn findings(scenario: &Scenario) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, pacing) in [
        (QUINN, "by timers of a millisecond, with 1.25 windows a round trip"),
        (S2N, "bursts: of ten packets with CUBIC, and of what BBR's rate sends in a millisecond"),
    ] {
        let sent = || scenario.groups.values().filter(|group| group.cc.law.name != "cbr" && stack(group) == name);
        if sent().next().is_none() {
            continue;
        }
        findings.push(format!(
            "the flows are connections of {name}: goodput counts user's data that arrived, and a packet has headers of QUIC \
             beside those of IP and UDP"
        ));
        findings.push(format!("{name} paces {pacing}"));
        if sent().any(|group| group.sender.profile != Profile::Quic) {
            findings.push(format!(
                "{name} follows RFC 9002 and acknowledges every second packet: `sender.profile = \"quic\"` has it simulated so, and \
                 lets laws grow by every acknowledged packet (`per_ack`)"
            ));
        }
    }
    findings
}

#[cfg(all(test, feature = "quic"))]
mod tests {
    use super::super::tests::planned;
    use super::super::{Plan, Refused};
    use crate::run::Generator;
    use penstock_law::quantity::Bytes;

    fn plan(flow: &str, more: &str) -> Result<Plan, Vec<Refused>> {
        planned(flow, more, Generator::Quic)
    }

    #[test]
    fn what_quinn_has_is_taken_over() {
        let flow = r#"cc = { law = "newreno", ecn = true }, sender = { profile = "quic", initial_window = 20, receive_window = 100 }"#;
        let plan = plan(flow, "packet = { wire = \"1500 B\", payload = \"1440 B\" }").unwrap();
        let super::Source::Quic(quic) = &plan.flows[0].source else { panic!("{:?}", plan.flows) };
        assert!(quic.ecn && quic.initial_window == 20.0 && quic.receive_window == Some(Bytes(147_200)));
        assert!(plan.habits.mtu == 1500 && !plan.habits.timestamps && plan.findings.len() == 2, "{:?}", plan.findings);
    }

    #[test]
    fn what_quinn_has_not_is_refused_by_name() {
        let quic = r#"sender = { profile = "quic", "#;
        for (flow, more, named) in [
            (
                format!("cc = {{ law = \"dctcp\" }}, {quic} }}"),
                "",
                "flows.f.cc: `dctcp` requires the number of marked packets",
            ),
            (
                format!("cc = {{ law = \"cubic\" }}, {quic} ssthresh = 30 }}"),
                "",
                "flows.f.sender.ssthresh: quinn goes by",
            ),
            (format!("cc = {{ law = \"cubic\" }}, {quic} min_rto = \"1 s\" }}"), "", "flows.f.sender.min_rto"),
            (
                format!("cc = {{ law = \"cubic\" }}, {quic} max_ack_delay = \"40 ms\" }}"),
                "",
                "flows.f.sender.max_ack_delay: quinn goes by",
            ),
            (
                format!("cc = {{ law = \"cubic\" }}, {quic} initial_window = 1 }}"),
                "",
                "flows.f.sender.initial_window: QUIC has two packets",
            ),
            (
                format!("cc = {{ law = \"cubic\" }}, {quic} initial_window = 10.5 }}"),
                "",
                "flows.f.sender.initial_window: 10.5 packets are no whole ones",
            ),
            (format!("cc = {{ law = \"cubic\" }}, {quic} prr = true }}"), "", "flows.f.sender.prr: quinn goes by"),
            (format!("cc = {{ law = \"cubic\" }}, {quic} dsack = true }}"), "", "flows.f.sender.dsack: quinn goes by"),
            (format!("cc = {{ law = \"cubic\" }}, {quic} undo = true }}"), "", "flows.f.sender.undo: quinn goes by"),
            (format!("cc = {{ law = \"cubic\" }}, {quic} recovery = \"sack\" }}"), "", "flows.f.sender.recovery"),
            (format!("cc = {{ law = \"cubic\" }}, {quic} sack_blocks = 3 }}"), "", "flows.f.sender.sack_blocks"),
            (format!("cc = {{ law = \"cubic\" }}, {quic} handshake = false }}"), "", "flows.f.sender.handshake"),
            (
                format!("cc = {{ law = \"cubic\" }}, video = {{}}, {quic} }}"),
                "",
                "flows.f.video: the senders of this world stream no video",
            ),
            (
                format!("cc = {{ law = \"cubic\" }}, size = \"10 kB\", page = {{ rounds = [1, 4] }}, {quic} }}"),
                "",
                "flows.f.page: the senders of this world load no pages",
            ),
            ("cc = { law = \"cbr\", rate = \"5 Mbit/s\" }".to_owned(), "", "flows: all groups are `cbr`"),
            (
                format!(
                    "cc = {{ law = \"cubic\" }}, on_off = {{ on = \"1 s\", off = \"1 s\" }}, size = \"1 MB\", {quic} }}"
                ),
                "",
                "flows.f.on_off",
            ),
            (
                format!("cc = {{ law = \"cubic\" }}, {quic} }}"),
                "packet = { wire = \"1000 B\", payload = \"960 B\" }",
                "packet: 1000 B",
            ),
        ] {
            let refused = plan(&flow, more).unwrap_err();
            assert!(refused.len() == 1 && refused[0].what.starts_with(named), "{flow}: {refused:?}");
        }
    }
}
