//! A run in parts has the bits of the run of one engine, whatever their number.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use crate::laboratory::{run_scenario, scenario};
use penstock_law::quantity::Time;
use penstock_packets::{Packets, Parts};
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::world::{Run, RunError, Sighting, Watcher, World};

/// A run in so many parts, and how many there are, or why it is not divided. None is a run that one engine has to do.
fn divided(
    scenario: &Scenario,
    parts: usize,
    watcher: &mut dyn Watcher,
) -> Result<(usize, Result<Option<Run>, RunError>), String> {
    let parts = Parts::of(scenario, parts, watcher).unwrap_or_else(|e| panic!("{e}"))?;
    let count = parts.count();
    thread::scope(|scope| {
        for number in 1..count {
            let parts = &parts;
            scope.spawn(move || parts.work(number));
        }
        parts.lead(watcher);
    });
    Ok((count, parts.finish(scenario)))
}

/// The numbers of parts that a run was divided into, of 2, 3 and 8 if there are so many. All have the bits of the whole run.
fn all_alike(name: &str, scenario: &Scenario, whole: &Run) -> Vec<usize> {
    let mut counts = Vec::new();
    for parts in [2, 3, 8] {
        let Ok((count, run)) = divided(scenario, parts, &mut |_| true) else { break };
        let run = run.unwrap_or_else(|e| panic!("{name}, {count} parts: {e}"));
        let run = run.unwrap_or_else(|| panic!("{name}, {count} parts: the order is not known"));
        assert!(digest(&run) == digest(whole), "{name}, {count} parts");
        counts.push(count);
        if count < parts {
            break;
        }
    }
    counts
}

/// All of a run, to the last bit; NaN is NaN.
fn digest(run: &Run) -> String {
    format!("{run:?}")
}

/// Eight links in a row, of the same rate or nearly, with flows over each, long flows over all, and what else a test says.
fn parking_lot(rate: &str, delay: &str, top: &str, flows: &str) -> String {
    let mut text = format!("format = 1\n{top}\n[defaults.links]\nrate = \"{rate}\"\ndelay = \"{delay}\"\n");
    for link in 0..8 {
        write!(
            text,
            "[links.l{link}]\nfrom = \"n{link}\"\nto = \"n{}\"\nbuffer = \"{} packets\"\n",
            link + 1,
            40 + link
        )
        .unwrap();
        write!(text, "[flows.f{link}]\nfrom = \"n{link}\"\nto = \"n{}\"\n{flows}\n", link + 1).unwrap();
    }
    write!(text, "[flows.long]\nfrom = \"n0\"\nto = \"n8\"\n{flows}\n").unwrap();
    text
}

#[test]
fn a_parking_lot_has_the_same_bits_in_parts() {
    let top =
        "duration = \"2 s\"\nwarmup = \"1 s\"\n[defaults.flows]\ncount = 3\nrtt = { spread = [\"20 ms\", \"60 ms\"] }";
    for cc in ["newreno", "cubic", "bbr"] {
        let scenario = scenario(&parking_lot("20 Mbit/s", "2 ms", top, &format!("cc = {{ law = \"{cc}\" }}")));
        assert_eq!(all_alike(cc, &scenario, &run_scenario(&scenario)), [2, 3, 8], "{cc}");
    }
}

/// Senders at two links that lead to a third start at the same moment, and stay in step: what they have scheduled ties there, and so
/// do the events before, down to the start. The groups are not in the order of their links.
#[test]
fn events_of_one_time_are_told_apart_down_to_the_start() {
    let text = "format = 1\nduration = \"4 s\"\nwarmup = \"1 s\"\npacket = \"1500 B\"\n[defaults.links]\nrate = \"12 Mbit/s\"\n\
        delay = \"2 ms\"\nbuffer = \"90 packets\"\n[links.a]\nfrom = \"x\"\nto = \"z\"\n[links.b]\nfrom = \"y\"\nto = \"z\"\n\
        [links.c]\nfrom = \"z\"\nto = \"end\"\nbuffer = \"7 packets\"\n[defaults.flows]\ncount = 4\nto = \"end\"\nrtt = \"40 ms\"\n\
        start = \"0 s\"\ncc = { law = \"newreno\" }\n[flows.at_b]\nfrom = \"y\"\n[flows.at_a]\nfrom = \"x\"\ncount = 1\nsender = { initial_window = 10 }\n";
    let scenario = scenario(text);
    assert_eq!(all_alike("in step", &scenario, &run_scenario(&scenario)), [2, 3, 3]);
}

/// The first cell of each scenario of a folder, without its files in other folders.
fn shipped(folder: &str) -> Vec<(PathBuf, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let first = |file: PathBuf| {
        let text = fs::read_to_string(&file).ok()?;
        let document = Document::parse(&text, "test.toml").ok()?;
        let cell = document.cells().ok()?.into_iter().next()?;
        Some((file, cell.scenario))
    };
    files.into_iter().filter_map(first).collect()
}

/// A scenario of a second, or how long its packets take to fill a queue.
fn shortened(mut scenario: Scenario, packets: f64) -> Scenario {
    let all: f64 = scenario.links.values().map(|link| link.rate.packets_per_s(scenario.packet.wire)).sum();
    scenario.duration = scenario.duration.min(Time::from_seconds(packets / all));
    scenario.warmup = Time(scenario.duration.0 / 3);
    scenario.sample = scenario.sample.min(Time(scenario.duration.0 / 7));
    scenario.windows.clear();
    scenario.stop = None;
    scenario
}

/// Whole numbers below the one given, the same for the same `seed`.
fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |n| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % n
    }
}

/// One of several, and at times nothing.
fn some<'a>(draw: &mut impl FnMut(u64) -> u64, one_in: u64, of: &[&'a str]) -> &'a str {
    if draw(one_in) == 0 { of[draw(of.len() as u64) as usize] } else { "" }
}

/// Links in a row, there and perhaps back, with flows over some of them. On a `grid`, every packet takes a millisecond at every link
/// and every delay is of whole milliseconds: then many events are at the same time.
fn network(seed: u64, grid: bool) -> String {
    let mut draw = draws(seed);
    let links = 2 + draw(6);
    let duplex = draw(2) == 0;
    let mut text = format!(
        "format = 1\nseed = {seed}\nduration = \"3 s\"\nwarmup = \"0.7 s\"\nsample = \"130 ms\"\npacket = \"1500 B\"\n"
    );
    let classes = draw(4) == 0;
    if draw(4) == 0 {
        text += "[dynamics]\nround = \"30 ms\"\n";
    }
    text += if classes { "[windows]\nearly = [\"0.5 s\", \"1.5 s\"]\n[classes.c]\nshare = 0.3\n" } else { "" };
    for link in 0..links {
        let rate = if grid { 12_000 } else { 4000 + draw(20_000) };
        let delay = if grid { (1 + draw(4)) * 1000 } else { 300 + draw(9000) };
        write!(text, "[links.l{link}]\nfrom = \"n{link}\"\nto = \"n{}\"\nrate = \"{rate} kbit/s\"\n", link + 1)
            .unwrap();
        write!(text, "delay = \"{delay} us\"\nbuffer = \"{} packets\"\nduplex = {duplex}\n", 3 + draw(60)).unwrap();
        if draw(8) == 0 {
            text = text.replace(
                &format!("delay = \"{delay} us\""),
                &format!("delay = [[\"0 s\", \"{delay} us\"], [\"1 s\", \"{} us\"]]", delay / 3),
            );
        }
        text +=
            some(&mut draw, 3, &["loss = 0.01\n", "loss = 0.01\nloss_burst = 3\n", "lose_transmission = [5, 50]\n"]);
        text += some(&mut draw, 4, &["reorder = { share = 0.05, by = \"3 ms\" }\n", "duplicate = 0.01\n"]);
        text += some(
            &mut draw,
            6,
            &[
                "aggregation = { time = \"4 ms\", packets = 9 }\n",
                "policer = { rate = \"3 Mbit/s\", burst = \"30 kB\" }\n",
            ],
        );
        text += some(
            &mut draw,
            2,
            &[
                "aqm = { law = \"red\", ecn = true }\n",
                "aqm = { law = \"codel\" }\n",
                "aqm = { law = \"pie\" }\n",
                "aqm = { law = \"price\" }\n",
                "scheduler = { law = \"drr\", quantum = \"1500 B\" }\n",
            ],
        );
    }
    let groups = 2 + draw(7);
    for group in 0..groups {
        let (a, b) = (draw(links + 1), draw(links + 1));
        // Without a way back the other way is none.
        let (from, to) = if a == b {
            (0, links)
        } else if duplex {
            (a, b)
        } else {
            (a.min(b), a.max(b))
        };
        write!(text, "[flows.g{group}]\nfrom = \"n{from}\"\nto = \"n{to}\"\ncount = {}\n", 1 + draw(4)).unwrap();
        if grid {
            write!(text, "rtt = \"{} ms\"\nstart = \"{} ms\"\n", 60 + draw(4), draw(3)).unwrap();
        } else {
            text += "rtt = { spread = [\"140 ms\", \"160 ms\"] }\n";
        }
        let ecn = if draw(2) == 0 { ", ecn = true" } else { "" };
        let cc = match draw(9) {
            0 => "law = \"cubic\"".to_owned(),
            1 => "law = \"bbr\"".to_owned(),
            2 => "law = \"fast\"".to_owned(),
            3 => "law = \"cbr\", rate = \"2 Mbit/s\"".to_owned(),
            4 => "law = \"dctcp\"".to_owned(),
            _ => format!("law = \"newreno\"{ecn}"),
        };
        let unresponsive = cc.contains("cbr");
        writeln!(text, "cc = {{ {cc} }}").unwrap();
        if unresponsive {
            text += some(&mut draw, 2, &["on_off = { on = \"0.2 s\", off = { exponential = \"0.1 s\" } }\n"]);
        } else {
            text += some(
                &mut draw,
                2,
                &[
                    "sender = { delayed_ack = 2 }\n",
                    "sender = { recovery = \"newreno\" }\n",
                    "sender = { profile = \"linux\" }\n",
                    "sender = { sack_blocks = 3, ecn_echo = \"accurate\" }\n",
                    "sender = { pacing = \"off\", burst = 2 }\n",
                ],
            );
            text += some(
                &mut draw,
                3,
                &[
                    "size = \"40 kB\"\nidle = { exponential = \"50 ms\" }\n",
                    "size = \"60 kB\"\narrivals = { poisson = \"20 /s\" }\n",
                    "size = \"300 kB\"\n",
                    "size = \"30 kB\"\nidle = \"40 ms\"\npage = { rounds = [1, 3], connections = 1 }\n",
                    "video = { rates = [\"300 kbit/s\", \"2 Mbit/s\"], chunk = \"0.2 s\", buffer = \"2 s\", reservoir = \"0.5 s\", cushion = \"1 s\" }\n",
                ],
            );
            text += some(&mut draw, 4, &["ack_jitter = { probability = 0.01, uniform = [\"0 s\", \"9 ms\"] }\n"]);
        }
        text += some(
            &mut draw,
            4,
            &["jitter = { uniform = [\"0.1 ms\", \"0.5 ms\"] }\n", "loss = 0.01\n", "series = true\n"],
        );
        text += if classes && draw(2) == 0 { "class = \"c\"\n" } else { "" };
    }
    if draw(4) == 0 {
        text += "[customers.c]\nflows = [\"g0\", \"g1\"]\nconditioner = { law = \"token-bucket\", committed_rate = \"2 Mbit/s\", bucket = \"9 kB\" }\n";
    }
    text
}

#[test]
fn networks_have_the_same_bits_in_parts() {
    let mut counts = Vec::new();
    for seed in 0..60 {
        let Ok(cells) = Document::parse(&network(seed, seed % 2 == 0), "test.toml").and_then(|text| text.cells())
        else {
            continue;
        };
        let scenario = &cells[0].scenario;
        let Ok(whole) = Packets.run(scenario, &mut |_| true) else { continue };
        counts.extend(all_alike(&format!("network {seed}"), scenario, &whole));
    }
    let of = |least: usize| counts.iter().filter(|count| **count >= least).count();
    assert!(of(2) > 80 && of(3) > 30 && of(5) > 8, "{counts:?}");
}

#[test]
fn shipped_scenarios_have_the_same_bits_in_parts() {
    let mut counts = Vec::new();
    for folder in ["scenarios", "scenarios/today", "evaluation/scenarios", "web/lessons"] {
        for (file, scenario) in shipped(folder) {
            let scenario = shortened(scenario, 40_000.0);
            let Ok(whole) = Packets.run(&scenario, &mut |_| true) else { continue };
            counts.extend(all_alike(&file.display().to_string(), &scenario, &whole));
        }
    }
    assert!(counts.len() > 30 && counts.contains(&8), "{counts:?}");
}

#[test]
fn what_is_not_divided_says_why() {
    let lot = parking_lot(
        "20 Mbit/s",
        "2 ms",
        "duration = \"1 s\"\nwarmup = \"0.1 s\"",
        "rtt = \"20 ms\"\ncc = { law = \"newreno\" }",
    );
    let why = |text: &str| divided(&scenario(text), 2, &mut |_| true).map(|(count, _)| count);
    assert_eq!(why(&lot), Ok(2));
    let size = "size = \"1 MB\"\n[flows.long]";
    let stop = "\n[stop]\nwhen = \"transfers complete\"\n";
    assert!(why(&(lot.replace("[flows.long]", size) + stop)).unwrap_err().contains("transfers are complete"));
    let one = "format = 1\nduration = \"1 s\"\nwarmup = \"0.1 s\"\n[links.b]\nfrom = \"l\"\nto = \"r\"\nrate = \"9 Mbit/s\"\ndelay = \"1 ms\"\n\
               buffer = \"9 packets\"\n[flows.f]\nfrom = \"l\"\nto = \"r\"\nrtt = \"9 ms\"\ncc = { law = \"newreno\" }\n";
    assert!(why(one).unwrap_err().contains("one link"));
    let near = lot.replace("delay = \"2 ms\"", "delay = \"0 s\"");
    assert!(why(&near).unwrap_err().contains("no line with a delay"));
    let mut eye = Eye(0);
    assert!(divided(&scenario(&lot), 2, &mut eye).unwrap_err().contains("watched"));
}

/// Wants to see packets.
struct Eye(u64);

impl Watcher for Eye {
    fn progress(&mut self, _: f64) -> bool {
        true
    }
    fn wants_packets(&self) -> bool {
        true
    }
    fn packet(&mut self, _: &Sighting) {
        self.0 += 1;
    }
}

/// The first part's watcher ends the run of all.
#[test]
fn a_run_in_parts_can_be_stopped() {
    let lot = parking_lot(
        "20 Mbit/s",
        "2 ms",
        "duration = \"9 s\"\nwarmup = \"1 s\"",
        "rtt = \"20 ms\"\ncc = { law = \"newreno\" }",
    );
    let mut calls = 0;
    let mut twice = |_: f64| {
        calls += 1;
        calls < 3
    };
    let (count, run) = divided(&scenario(&lot), 3, &mut twice).unwrap();
    assert_eq!((count, calls), (3, 3));
    assert!(matches!(run, Err(RunError::Stopped)));
}
