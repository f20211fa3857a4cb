//! Groups with packets of their own size.

use crate::laboratory::{Dumbbell, assert_near, data_at, flows, group, link, numbers, run};
use penstock_scenario::world::End;

/// A voice call as RTP carries it: 160 B of G.711 each 20 ms with 40 B of header are 80 kbit/s (ITU-T G.711, RFC 3551, section
/// 4.5.14). Its packets take their own time on the line, beside those of 1000 B.
#[test]
fn voice_has_fifty_small_packets_a_second() {
    let flows = "start = \"0 s\"\npacket = { wire = \"200 B\", payload = \"160 B\" }\ncc = { law = \"cbr\", rate = \"80 kbit/s\" }\n\
                 [flows.g]\nfrom = \"l\"\nto = \"r\"\nstart = \"0 s\"\ncc = { law = \"cbr\", rate = \"80 kbit/s\" }";
    let (run, seen) = Dumbbell { flows, ..Dumbbell::PLAIN }.watch();
    let sent = data_at(&seen, End::Sender, 0);
    for gap in sent.windows(2) {
        assert!((gap[1] - gap[0] - 0.02).abs() < 1e-9, "{gap:?}");
    }
    assert_near(group(&run, "f").goodput_bit_per_s, 64_000.0, 0.002, "voice");
    assert_near(group(&run, "g").goodput_bit_per_s, 76_800.0, 0.006, "full packets at the same rate on the wire");
    assert_near(group(&run, "f").throughput_packets_per_s, 50.0, 0.002, "five times as many");
    assert_near(group(&run, "g").throughput_packets_per_s, 10.0, 0.006, "as large");
    let got = data_at(&seen, End::Receiver, 0);
    // The first waits behind nothing, or behind one large packet: 0.16 ms or 0.96 ms on a line of 10 Mbit/s, and 35 ms there.
    for (sent, got) in sent.iter().zip(&got) {
        let took = got - sent - 0.035;
        assert!((took - 0.000_16).abs() < 1e-9 || (took - 0.000_96).abs() < 1e-9, "{took}");
    }
}

/// A transfer has its bytes whatever the packets, and each packet its header: of 460 B there are 209 for 96 kB, of 960 B 100.
#[test]
fn a_transfer_has_its_size_in_packets_of_its_group() {
    for (own, payload, segments) in [("packet = \"500 B\"\n", 460, 209), ("", 960, 100)] {
        for sender in ["", "sender = { profile = \"linux\" }\n", "sender = { ecn_echo = \"accurate\" }\n"] {
            let flows =
                format!("{own}{sender}size = \"96 kB\"\nseries = true\ncc = {{ law = \"newreno\", ecn = true }}");
            let (run, seen) = Dumbbell { flows: &flows, ..Dumbbell::PLAIN }.watch();
            assert_eq!(numbers(&run, "transfers", "bytes"), [96_000.0], "{own}{sender}");
            assert_eq!(data_at(&seen, End::Sender, 0).len(), segments, "{own}{sender}");
            let delivered = self::flows(&run, "f")[0].goodput_bit_per_s * 20.0 / 8.0;
            assert!((delivered - 96_000.0).abs() < 1e-6, "{delivered}");
            let wire = 96_000.0 + segments as f64 * 40.0;
            let shaken = if sender.contains("linux") { 40.0 } else { 0.0 };
            let crossed = link(&run, "b").throughput_bit_per_s * 20.0 / 8.0;
            assert!((crossed - wire - shaken).abs() < 1e-6, "{payload}: {crossed} {wire}");
        }
    }
}

/// A long flow is as fast as its share of payload says, whatever the size; and one whose packets are said to be what they are
/// is the same to the last bit.
#[test]
fn small_packets_cost_their_headers() {
    let run = |own: &str| {
        let flows = format!("{own}start = \"0 s\"\ncc = {{ law = \"newreno\" }}");
        let text = Dumbbell { buffer: "\"60 packets\"", flows: &flows, ..Dumbbell::PLAIN }.text();
        run(&text.replace("duration = \"20 s\"", "duration = \"20 s\"\nwarmup = \"5 s\""))
    };
    for (own, share) in [("packet = \"200 B\"\n", 0.8), ("packet = \"500 B\"\n", 0.92), ("", 0.96)] {
        let run = run(own);
        let utilization = link(&run, "b").utilization;
        assert_near(group(&run, "f").goodput_bit_per_s, share * utilization * 1e7, 0.01, own);
        assert!(utilization > 0.5, "{own}: {utilization}");
    }
    let bits = |own: &str| {
        let run = run(own);
        (
            run.summary.engine.events,
            group(&run, "f").goodput_bit_per_s.to_bits(),
            link(&run, "b").queue_mean_packets.to_bits(),
        )
    };
    assert_eq!(bits("packet = \"1000 B\"\n"), bits(""));
}
