//! Hosts by one word.

use super::scenario;
use crate::model::{Recovery, Rto};
use crate::write::print;

/// A host's word sets what no key says, a key that is written wins, and what is printed reads back the same.
#[test]
fn a_profile_is_a_table_of_defaults() {
    let text = |sender: &str| {
        format!(
            r#"format = 1
            duration = "10 s"
            links.l = {{ from = "a", to = "b", rate = "8 Mbit/s", delay = "5 ms", buffer = "90 packets" }}
            flows.f = {{ from = "a", to = "b", cc = {{ law = "cubic" }}, sender = {{ {sender} }} }}"#
        )
    };
    let read = |sender: &str| scenario(&text(sender));
    for (word, window, recovery, per_ack, hystart) in [
        ("ns-2", 2.0, Recovery::Sack, 1.0, false),
        ("rfc", 10.0, Recovery::Rack, 2.0, true),
        ("linux", 10.0, Recovery::Rack, 65_535.0, true),
        ("quic", 10.0, Recovery::Rack, 65_535.0, true),
    ] {
        let s = read(&format!("profile = \"{word}\""));
        let group = &s.groups["f"];
        assert_eq!((group.sender.initial_window, group.sender.recovery), (window, recovery), "{word}");
        assert_eq!(
            (group.cc.values.number("per_ack"), group.cc.values.switch("hystart")),
            (per_ack, hystart),
            "{word}"
        );
        assert_eq!(print(&scenario(&print(&s))), print(&s), "{word}");
    }
    let blocks = |sender: &str| read(sender).groups["f"].sender.sack_blocks;
    assert_eq!(["ns-2", "rfc", "linux", "quic"].map(|word| blocks(&format!("profile = \"{word}\""))), [1, 3, 3, 4]);
    assert_eq!(blocks("profile = \"linux\", recovery = \"newreno\""), 1);
    let once = |sender: &str| read(sender).groups["f"].sender.ack_gap_once;
    assert_eq!(
        ["ns-2", "rfc", "linux", "quic"].map(|word| once(&format!("profile = \"{word}\""))),
        [false, false, false, true]
    );
    // Not where it would be without effect, or what recovery counts would be missing.
    let others = ["delayed_ack = 1", "recovery = \"newreno\"", "ecn_echo = \"accurate\"", "ack_gap_once = false"];
    assert_eq!(others.map(|more| once(&format!("profile = \"quic\", {more}"))), [false; 4]);
    let timeout = |sender: &str| {
        let own = read(sender).groups["f"].sender.clone();
        (own.rto, own.min_rto.0 / 1_000_000_000)
    };
    assert_eq!(timeout("profile = \"quic\""), (Rto::Rfc9002, 1));
    assert_eq!(timeout("profile = \"quic\", recovery = \"sack\""), (Rto::Linux, 25), "no probes");
    assert_eq!(timeout("profile = \"quic\", recovery = \"sack\", min_rto = \"7 ms\""), (Rto::Linux, 7));
    let waits = |sender: &str| read(sender).groups["f"].sender.max_ack_delay.0 / 1_000_000_000;
    assert_eq!(["ns-2", "rfc", "linux", "quic"].map(|word| waits(&format!("profile = \"{word}\""))), [40, 40, 40, 25]);
    assert_eq!(waits("profile = \"quic\", delayed_ack = 1"), 40, "not where it would be without effect");
    for own in ["profile = \"quic\", max_ack_delay = \"40 ms\"", "delayed_ack = 2, max_ack_delay = \"7 ms\""] {
        let s = read(own);
        assert_eq!(scenario(&print(&s)).groups["f"].sender, s.groups["f"].sender, "{own}");
    }
    let own = read("profile = \"linux\", recovery = \"newreno\", delayed_ack = 1").groups["f"].sender.clone();
    assert_eq!((own.recovery, own.delayed_ack, own.quick_acks, own.initial_window), (Recovery::NewReno, 1, 0, 10.0));
    // HyStart that is off has no rule, whatever the host's is.
    let off = scenario(&text("profile = \"linux\"").replace("\"cubic\"", "\"cubic\", hystart = false"));
    assert_eq!(off.groups["f"].cc.values.number("hystart_rule"), 0.0);
    assert_eq!(print(&scenario(&print(&off))), print(&off));
    assert_eq!(read("").groups["f"].sender, read("profile = \"ns-2\"").groups["f"].sender, "a file that says nothing");
}
