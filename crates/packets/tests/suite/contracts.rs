//! Customers with contracts, packet by packet: what is in profile, what is dropped, and what is seen of it.

use std::fmt::Write;

use crate::laboratory::{run, scenario};
use penstock_law::conditioner::{CONDITIONERS, Colour};
use penstock_packets::Packets;
use penstock_scenario::summary::CustomerSummary;
use penstock_scenario::world::{Cells, Content, End, Run, Sighting, Watcher, World};

/// A link with WRED by the queue of the moment, and customers: a name, its flows, its conditioner.
fn contracts(rate: &str, duration: &str, customers: &[(&str, &str, &str)]) -> String {
    let mut text = format!(
        "format = 1\nduration = \"{duration}\"\nwarmup = \"1 s\"\npacket = \"1000 B\"\n[links.b]\nfrom = \"e\"\nto = \"c\"\n\
         rate = \"{rate}\"\ndelay = \"1 ms\"\nbuffer = \"2000 packets\"\naqm = {{ law = \"wred\", average = false }}\n\
         [defaults.flows]\nfrom = \"e\"\nto = \"c\"\nsender = {{ recovery = \"reno\", ssthresh = 64 }}\n"
    );
    for (name, flows, conditioner) in customers {
        let _ = write!(text, "[flows.{name}]\n{flows}\n[customers.{name}]\nflows = [\"{name}\"]\n");
        if !conditioner.is_empty() {
            let _ = writeln!(text, "conditioner = {{ {conditioner} }}");
        }
    }
    text
}

fn cbr(count: u32, rate: &str) -> String {
    format!("count = {count}\nrtt = \"20 ms\"\ncc = {{ law = \"cbr\", rate = \"{rate}\", spacing_jitter = 0.05 }}")
}

fn tcp(count: u32, rtt: &str) -> String {
    format!(
        "count = {count}\nrtt = \"{rtt}\"\ncc = {{ law = \"newreno\" }}\njitter = {{ uniform = [\"0.1 ms\", \"0.5 ms\"] }}"
    )
}

fn of<'a>(run: &'a Run, name: &str) -> &'a CustomerSummary {
    &run.summary.whole.customers[name]
}

/// Section II of Random Early Marking: UDP below its contract is not out of profile, with any conditioner, and is not
/// dropped however the other customer floods; who floods has its contract in profile and what is left of the link. (The
/// paper says it of the token bucket. The marker in its incremental form answers a level that falls at once, also from
/// above the reference, with a probability of some 1e-4 for this contract, so that one packet in thousands is out. For
/// smaller contracts it is more: `papers/early-marking/udp.toml`.)
#[test]
fn udp_within_its_contract_is_in_profile_and_who_floods_pays() {
    for entry in CONDITIONERS {
        let law = format!("law = \"{}\", committed_rate = \"4 Mbit/s\", bucket = \"20 kB\"", entry.name);
        let customers = [("good", cbr(4, "950 kbit/s"), law.clone()), ("bad", cbr(4, "5 Mbit/s"), law)];
        let customers = customers.each_ref().map(|(name, flows, law)| (*name, flows.as_str(), law.as_str()));
        let run = run(&contracts("10 Mbit/s", "21 s", &customers));
        let (good, bad) = (of(&run, "good"), of(&run, "bad"));
        let least = if entry.name == "early-marking" { 0.999 } else { 1.0 };
        assert!(good.in_profile_fraction.unwrap() >= least, "{}: {good:?}", entry.name);
        assert!(run.summary.whole.groups["good"].loss_rate <= 1.0 - least, "{}", entry.name);
        assert!((good.achieved_fraction.unwrap() - 0.95).abs() < 0.003, "{}: {good:?}", entry.name);
        assert!((bad.in_profile_fraction.unwrap() - 0.2).abs() < 0.002, "{}: {bad:?}", entry.name);
        assert!((bad.throughput_bit_per_s / 6.2e6 - 1.0).abs() < 0.01, "{}: {bad:?}", entry.name);
        assert!(bad.bucket_mean_bytes.unwrap() < 2000.0 && bad.time_full == Some(0.0), "{}: {bad:?}", entry.name);
        // Out of profile goes first, so in profile never waits behind more than what may wait out of it and itself.
        assert!(run.summary.whole.links["b"].queue_max_packets < 30.0, "{}", entry.name);
    }
}

/// Figure 3 of Random Early Marking: with a design for the flows that are there the level settles at three quarters of the
/// bucket, and what is in profile is the contract; the plain bucket's is nowhere.
#[test]
fn the_early_marker_holds_its_level() {
    let with = |law: &str| {
        let law = format!("law = \"{law}, committed_rate = \"10 Mbit/s\"");
        let customers = [("near", tcp(20, "20 ms"), law.clone()), ("far", tcp(20, "100 ms"), law)];
        let customers = customers.each_ref().map(|(name, flows, law)| (*name, flows.as_str(), law.as_str()));
        let text = contracts("20 Mbit/s", "120 s", &customers).replace("warmup = \"1 s\"", "warmup = \"40 s\"");
        [1, 2, 3, 4, 5].map(|seed| run(&format!("seed = {seed}\n{text}")))
    };
    let mean = |runs: &[Run], of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    let (marked, plain) = (with("early-marking\", least_flows = 20"), with("token-bucket\""));
    for name in ["near", "far"] {
        let level = mean(&marked, &|run| of(run, name).bucket_mean_bytes.unwrap() / 125e3);
        assert!((level - 0.75).abs() < 0.05, "{name}: {level}");
        let empty = mean(&marked, &|run| of(run, name).time_empty.unwrap());
        assert!(empty < 0.005, "{name}: {empty}");
    }
    let total = |run: &Run| run.summary.whole.links["b"].throughput_bit_per_s;
    assert!(mean(&marked, &total) > mean(&plain, &total));
    assert!(mean(&plain, &|run| of(run, "far").time_empty.unwrap()) > 0.01);
}

/// Contracts beyond the link: everything is in profile, the buckets stay full, and the buffer decides.
#[test]
fn a_contract_beyond_the_link_is_no_limit() {
    for law in ["token-bucket", "early-marking"] {
        let law = format!("law = \"{law}\", committed_rate = \"100 Mbit/s\"");
        let run = run(&contracts("5 Mbit/s", "11 s", &[("c", &tcp(4, "20 ms"), &law)]));
        let (c, link) = (of(&run, "c"), &run.summary.whole.links["b"]);
        assert_eq!((c.in_profile_fraction, c.time_empty), (Some(1.0), Some(0.0)));
        assert!(link.utilization > 0.999 && c.time_full > Some(0.9), "{c:?}");
        assert!(link.queue_max_packets > 100.0, "nothing is dropped early: {}", link.queue_max_packets);
    }
}

/// On a core with room colours have no effect: twice the contract is carried, half of it in profile, though the marker's
/// bucket never settles.
#[test]
fn an_idle_core_carries_what_is_out_of_profile() {
    for law in ["token-bucket", "early-marking"] {
        let law = format!("law = \"{law}\", committed_rate = \"4 Mbit/s\", bucket = \"20 kB\"");
        let run = run(&contracts("20 Mbit/s", "21 s", &[("c", &cbr(4, "2 Mbit/s"), &law)]));
        let c = of(&run, "c");
        assert!((c.in_profile_fraction.unwrap() - 0.5).abs() < 0.002, "{c:?}");
        assert_eq!(run.summary.whole.groups["c"].loss_rate, 0.0);
        assert!((c.achieved_fraction.unwrap() - 2.0).abs() < 0.002, "{c:?}");
    }
}

/// Without a bucket, or with one that is smaller than a packet, nothing is in profile.
#[test]
fn a_bucket_that_holds_no_packet_protects_nothing() {
    for law in ["token-bucket", "early-marking"] {
        for bucket in ["0 B", "999 B"] {
            let law = format!("law = \"{law}\", committed_rate = \"4 Mbit/s\", bucket = \"{bucket}\"");
            let run = run(&contracts("5 Mbit/s", "6 s", &[("c", &cbr(1, "1 Mbit/s"), &law)]));
            let c = of(&run, "c");
            assert_eq!((c.in_profile_fraction, c.time_empty), (Some(0.0), Some(1.0)), "{law}");
            assert!((c.throughput_bit_per_s / 1e6 - 1.0).abs() < 0.01, "alone on the link it is carried: {c:?}");
        }
    }
}

/// A customer that has not sent yet has a full bucket; the summary has no share in profile, and valid numbers.
#[test]
fn an_idle_customer_has_a_full_bucket() {
    let law = "law = \"early-marking\", committed_rate = \"4 Mbit/s\", bucket = \"20 kB\"";
    let late = format!("{}\nstart = \"4 s\"", cbr(1, "1 Mbit/s"));
    let text = contracts("10 Mbit/s", "6 s", &[("late", &late, law)]) + "[windows]\nbefore = [\"1 s\", \"3 s\"]\n";
    let run = run(&text);
    let before = &run.summary.windows["before"].customers["late"];
    assert_eq!((before.in_profile_fraction, before.throughput_bit_per_s), (None, 0.0));
    assert_eq!((before.bucket_sd_bytes, before.time_empty), (Some(0.0), Some(0.0)));
    assert!((before.bucket_mean_bytes.unwrap() - 20_000.0).abs() < 1e-6, "{before:?}");
    assert!((before.time_full.unwrap() - 1.0).abs() < 1e-9, "{before:?}");
    assert_eq!(of(&run, "late").in_profile_fraction, Some(1.0));
}

/// A conditioner colours; it delays nothing and drops nothing: with a queue that does not look, all else is the same.
#[test]
fn a_conditioner_changes_colours_only() {
    let tail = "aqm = { law = \"droptail\" }";
    let with = |conditioner: &str| {
        let text = contracts("5 Mbit/s", "11 s", &[("c", &tcp(5, "40 ms"), conditioner)]);
        run(&text.replace("aqm = { law = \"wred\", average = false }", tail).replace("2000 packets", "40 packets"))
    };
    let (bare, marked) = (with(""), with("law = \"early-marking\", committed_rate = \"1 Mbit/s\""));
    assert_eq!((&bare.summary.whole.links, &bare.flows), (&marked.summary.whole.links, &marked.flows));
    assert!(of(&marked, "c").in_profile_fraction.unwrap() < 0.5);
    let silent = of(&bare, "c");
    assert_eq!((silent.committed_bit_per_s, silent.in_profile_fraction, silent.time_full), (None, None, None));
}

/// Everyone who would have the packets.
struct Everyone(Vec<Sighting>);

impl Watcher for Everyone {
    fn progress(&mut self, _: f64) -> bool {
        true
    }
    fn wants_packets(&self) -> bool {
        true
    }
    fn packet(&mut self, seen: &Sighting) {
        self.0.push(*seen);
    }
}

/// A capture at the receivers shows the colours of the edge, one at the senders none, and acknowledgements have none.
/// Packets that arrive green are those in profile of the summary, for nothing green is dropped here.
#[test]
fn colours_are_seen_behind_the_edge() {
    let law = "law = \"srtcm\", committed_rate = \"2 Mbit/s\", bucket = \"10 kB\"";
    let text = contracts("8 Mbit/s", "11 s", &[("c", &tcp(3, "20 ms"), law), ("d", &cbr(1, "1 Mbit/s"), "")]);
    let mut seen = Everyone(Vec::new());
    let run = Packets.run(&scenario(&text.replace("warmup = \"1 s\"\n", "")), &mut seen).unwrap();
    let mut arrived = [0u32; 4];
    for sighting in &seen.0 {
        let data = !matches!(sighting.content, Content::Ack { .. });
        if data && sighting.end == End::Receiver {
            assert_eq!(sighting.colour.is_some(), sighting.flow < 3, "{sighting:?}");
            arrived[sighting.colour.map_or(3, |colour| colour as usize)] += 1;
        } else {
            assert_eq!(sighting.colour, None, "{sighting:?}");
        }
    }
    assert!(arrived.iter().all(|n| *n > 10), "{arrived:?}");
    let sent = f64::from(arrived[Colour::Green as usize]) / of(&run, "c").in_profile_fraction.unwrap();
    let flows: u64 = run.flows.iter().filter(|flow| flow.group == "c").map(|flow| flow.retransmits).sum();
    let all = f64::from(arrived[..3].iter().sum::<u32>());
    assert!(flows > 0 && sent >= all && sent < 1.05 * all, "{sent} sent, {all} arrived, {flows} again");
}

/// The series of a customer: its level within the bucket, at every sample; the controller's own numbers beside it.
#[test]
fn a_bucket_has_a_series() {
    let law = "law = \"early-marking\", committed_rate = \"4 Mbit/s\", bucket = \"20 kB\"";
    let run = run(&contracts("5 Mbit/s", "11 s", &[("free", &cbr(1, "100 kbit/s"), ""), ("c", &tcp(5, "20 ms"), law)]));
    let table = run.series.iter().find(|table| table.name == "customers").unwrap();
    assert_eq!(table.rows(), 110);
    let who = table.columns.iter().find(|column| column.name == "customer").unwrap();
    assert!(matches!(&who.values, Cells::Name { names, rows } if rows.iter().all(|row| names[*row as usize] == "c")));
    let level = table.number("bucket_bytes").unwrap();
    assert!(level.iter().all(|level| (0.0..=20_000.0).contains(level)));
    assert!(level.iter().any(|level| *level < 19_000.0), "it is used");
    let mean = table.number("bucket_mean_bytes").unwrap()[10..].iter().sum::<f64>() / 100.0;
    assert!((mean / of(&run, "c").bucket_mean_bytes.unwrap() - 1.0).abs() < 1e-6, "the series' mean is the summary's");
    assert!(table.number("probability").is_some() && table.number("in_profile_fraction").is_some());
}
