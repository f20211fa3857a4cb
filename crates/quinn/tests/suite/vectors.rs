//! Vectors for authors of QUIC stacks (`vectors/quic`): written from the laws, held against the documents, and run through quinn's own
//! controllers.
//!
//! `PENSTOCK_BLESS=1 cargo test --workspace --test suite -- vectors::the_files` writes them anew.

mod bbr;
#[path = "../../../../vectors/quic/driver.rs"]
mod driver;
mod files;
mod format;
mod law;
mod quinn;
mod reduction;
mod rfc;
mod s2n;
mod sequences;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use penstock_law::Registry;
use penstock_quinn::LawConfig;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use serde_json::Value;

use crate::sequences::estimate;
use bbr::{BbrDraft, Slip};
use driver::{Stack, differences};
use files::{LONG_US, MIDDLE_US, SHORT_US};
use format::File;
use law::OfLaw;
use quinn::OfQuinn;
use rfc::{PragueDraft, Rfc9002, Rfc9438};
use sequences::{DATAGRAM, INITIAL};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/quic")
}

/// QUIC counts every acknowledged byte.
fn law(name: &'static str, set: &'static [(&'static str, f64)]) -> impl Fn() -> Box<dyn Stack> {
    move || Box::new(OfLaw::new(name, set))
}

type Makes = Arc<dyn ControllerFactory>;

/// Makes the factory of a law whose first window has so many bytes.
fn through_quinn(name: &'static str, set: &'static [(&'static str, f64)]) -> impl Fn(u64) -> Makes {
    move |window_bytes| {
        let config = LawConfig::new(&Registry::standard(), name).unwrap();
        let config = config.initial_window(window_bytes as f64 / DATAGRAM as f64);
        Arc::new(set.iter().fold(config, |config, (key, value)| config.set(key, *value).unwrap()).build().unwrap())
    }
}

fn bbr3() -> File {
    let rtt = estimate(Duration::from_micros(MIDDLE_US));
    let made = through_quinn("bbr3", &[]);
    files::bbr3(&|| Box::new(OfQuinn::new(made(INITIAL), rtt)))
}

fn newreno() -> File {
    files::newreno(&law("newreno", &[("per_ack", 65_535.0)]))
}

fn cubic() -> File {
    files::cubic(&law("cubic", &[("per_ack", 65_535.0)]))
}

fn hystart() -> File {
    files::hystart(&law("cubic", &[("hystart", 1.0)]))
}

#[test]
fn the_files_are_what_the_laws_say() {
    let pretty = |schema: schemars::Schema| serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let texts = [
        ("newreno.json", newreno().text()),
        ("cubic.json", cubic().text()),
        ("hystart.json", hystart().text()),
        ("prague.json", files::prague().text()),
        ("bbr3.json", bbr3().text()),
        ("prr.json", reduction::file().text()),
        ("schema.json", pretty(schemars::schema_for!(File))),
        ("prr.schema.json", pretty(schemars::schema_for!(reduction::File))),
    ];
    let bless = env::var_os("PENSTOCK_BLESS").is_some();
    assert!(!bless || env::var_os("CI").is_none(), "PENSTOCK_BLESS accepts what there is: not where CI is set");
    for (name, text) in texts {
        let path = folder().join(name);
        if bless {
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap();
        let same = text.lines().zip(committed.lines()).take_while(|(a, b)| a == b).count();
        assert!(text == committed, "{name}: line {} is not what its generator writes", same + 1);
    }
}

/// The outputs of our laws are those of the documents' formulas, which are written down once more.
#[test]
fn answers_follow_the_documents() {
    let newreno = newreno().text();
    let found = differences(&newreno, "real", &mut |_, _, window| Box::new(Rfc9002::new(window)));
    assert!(found.is_empty(), "{found:#?}");
    // A stack gets the window of the file.
    let other = newreno.replace(&format!("\"initial_window_bytes\": {INITIAL}"), "\"initial_window_bytes\": 24000");
    let found = differences(&other, "real", &mut |_, _, window| Box::new(Rfc9002::new(window)));
    assert!(found[0].starts_with("\"slow start\", \"sent\" at 1000 us: cwnd_bytes 24000.0 for 12000.0"), "{found:#?}");
    let found = differences(&files::prague().text(), "real", &mut |_, _, window| Box::new(PragueDraft::new(window)));
    assert!(found.is_empty(), "{found:#?}");
    let found = differences(&cubic().text(), "real", &mut |_, _, window| Box::new(Rfc9438::new(window)));
    assert!(found.is_empty(), "{found:#?}");
    let found = differences(&bbr3().text(), "real", &mut |_, _, _| Box::new(BbrDraft::new(Slip::None)));
    assert!(found.is_empty(), "{found:#?}");
}

/// A stack that ignores losses in Startup differs where six ranges end it, and one that leaves it with the first where one ends nothing.
#[test]
fn the_file_of_bbr_notices_slips() {
    let text = bbr3().text();
    let sequences = |slip| -> Vec<String> {
        let found = differences(&text, "whole_datagrams", &mut |_, _, _| Box::new(BbrDraft::new(slip)));
        let mut names: Vec<_> = found.iter().map(|each| each.split('"').nth(1).unwrap().to_owned()).collect();
        names.dedup();
        names
    };
    assert_eq!(sequences(Slip::LossesIgnored), ["losses in startup"]);
    assert!(sequences(Slip::FirstLossEnds).starts_with(&["a loss in startup".to_owned()]));
}

/// Windows of a sequence after its acknowledgements [datagrams].
fn windows(file: &File, name: &str) -> Vec<f64> {
    let sequence = file.sequences.iter().find(|sequence| sequence.name == name).unwrap();
    let told = sequence.events.iter().filter(|event| event.event != format::Kind::Sent);
    told.map(|event| event.cwnd_bytes / DATAGRAM as f64).collect()
}

/// RFC 9438, section 4.2, without the steps of acknowledgements: after 0.7 of 160 the curve is back at 160 after
/// K = cbrt(0.3 160 / 0.4) s, and at K + x it is 0.4 x^3 away.
#[test]
fn the_curve_of_cubic_passes_where_its_equation_does() {
    let file = cubic();
    let curve = file.sequences.iter().find(|sequence| sequence.name == "the curve").unwrap();
    let acked: Vec<_> = curve.events.iter().filter(|event| event.event == format::Kind::Acked).collect();
    let start = curve.events.iter().position(|event| event.event == format::Kind::Lost).unwrap();
    let w_max = curve.events[start - 1].cwnd_bytes / DATAGRAM as f64;
    assert_eq!(w_max, 162.0, "160 and the two acknowledgements before the loss");
    let k = libm::cbrt(0.3 * w_max / 0.4);
    let first = acked.iter().find(|event| event.sent_us > curve.events[start].at_us).unwrap().at_us;
    let mut seen = 0;
    for event in acked.iter().filter(|event| event.at_us > first) {
        let last_us = event.at_us + (event.repeat - 1) * event.every_us;
        // The window aims a round trip ahead, and a flight's acknowledgements last half a one.
        let t = (last_us - first) as f64 * 1e-6;
        let (low, high) = (t - 0.15, t + 0.1);
        let at = |t: f64| 0.4 * libm::pow(t - k, 3.0) + w_max;
        let window = event.cwnd_bytes / DATAGRAM as f64;
        assert!(window > at(low) - 1.0 && window < at(high) + 1.0, "at {t} s: {window}, {} {}", at(low), at(high));
        seen += 1;
    }
    assert!(seen > 80 && windows(&file, "the curve").last().unwrap() > &(2.0 * w_max));
}

/// RFC 9406 by hand: 80 datagrams, of which the acknowledgements of the first nine count in full, as eight samples must come after that
/// which ends the round before; the others count a quarter. Five such rounds, and slow start is over.
#[test]
fn hystart_is_what_its_steps_come_to() {
    let file = hystart();
    assert_eq!(windows(&file, "a steady path"), [20.0, 40.0, 80.0, 160.0, 320.0]);
    let rise = windows(&file, "a rise");
    let mut wanted = vec![20.0, 40.0, 80.0, 80.0 + 9.0 + 71.0 / 4.0];
    for _ in 0..4 {
        let window: f64 = *wanted.last().unwrap();
        wanted.push(window + window.floor() / 4.0);
    }
    assert_eq!(rise[..wanted.len() - 1], wanted[..wanted.len() - 1]);
    let sequence = file.sequences.iter().find(|sequence| sequence.name == "a rise").unwrap();
    let ended = sequence.events.iter().find_map(|event| event.ssthresh_bytes).unwrap() / DATAGRAM as f64;
    // The first acknowledgement of the sixth round ends the fifth.
    let before = wanted[wanted.len() - 1];
    assert!((ended - before).abs() <= 0.25, "{ended} {before}");
    assert_eq!(windows(&file, "a small rise"), [20.0, 40.0, 80.0, 160.0, 320.0]);
    assert_eq!(windows(&file, "a rise of less than 4 ms")[3], 160.0);
    let passed = windows(&file, "a rise that passes");
    assert!(passed[3] < 120.0 && passed[6] > 1.9 * passed[5], "{passed:?}");
}

/// The draft's equations by hand: the first mark halves; with every datagram marked each round halves.
#[test]
fn prague_is_what_its_equations_come_to() {
    let file = files::prague();
    let first = file.sequences.iter().find(|sequence| sequence.name == "the first mark").unwrap();
    let halved = first.events.iter().find(|event| event.marked == 1).unwrap();
    assert_eq!(halved.cwnd_bytes, 22.5 * DATAGRAM as f64, "40 and five acknowledged, halved");
    let all = windows(&file, "all marked");
    assert_eq!(*all.last().unwrap(), 2.0);
}

/// No output in the file of BBR comes from a draw.
#[test]
fn bbr_does_not_depend_on_its_draws() {
    let rtt = estimate(Duration::from_micros(MIDDLE_US));
    let config = LawConfig::new(&Registry::standard(), "bbr3").unwrap().seed(7);
    let other = Arc::new(config.build().unwrap());
    let other = files::bbr3(&|| Box::new(OfQuinn::new(Arc::clone(&other) as _, rtt)));
    let file = bbr3();
    assert_eq!(other.text(), file.text());
    // Startup goes on after a loss: its pacing rate only rises.
    let rates = |name: &str| -> Vec<f64> {
        let sequence = file.sequences.iter().find(|sequence| sequence.name == name).unwrap();
        sequence.events.iter().filter_map(|event| event.pacing_bit_per_s).collect()
    };
    let rises = |rates: &[f64]| rates.windows(2).skip(30).all(|two| two[1] >= two[0]);
    assert!(rates("losses in startup").last() < rates("a loss in startup").last());
    assert!(rises(&rates("a loss in startup")) && !rises(&rates("losses in startup")));
    // The draft, section 5.3.1: in Startup the window doubles a round trip, and the pacing gain is 2.77, over a line that carries
    // 4.8 Mbit/s and 20 datagrams in a round trip. Drain comes back to both.
    let startup = &file.sequences[0].events;
    let after = |us: u64| startup.iter().rfind(|event| event.at_us <= us).unwrap();
    let acked = startup.iter().filter(|event| event.event == format::Kind::Acked && event.at_us <= 80_000).count();
    assert_eq!(after(80_000).cwnd_bytes, DATAGRAM as f64 * (10.0 + acked as f64));
    let full = after(200_000).pacing_bit_per_s.unwrap() / 4.8e6;
    assert!((full / 2.77 - 1.0).abs() < 0.05, "{full}");
    let rest = after(u64::MAX).pacing_bit_per_s.unwrap() / 4.8e6;
    assert!((0.85..1.0).contains(&rest), "{rest}");
    assert!(startup.iter().any(|event| event.pacing_bit_per_s.is_some_and(|rate| rate < 0.5 * 4.8e6)), "Drain");
    // Section 5.6.4.2: once the pipe is full, the window is two bandwidth-delay products and a datagram that an acknowledgement brings
    // beyond the bandwidth, in Drain too.
    let drain = startup.iter().position(|event| event.pacing_bit_per_s.is_some_and(|rate| rate < 0.6 * 4.8e6)).unwrap();
    let windows: Vec<f64> = startup[drain..].iter().map(|event| event.cwnd_bytes / DATAGRAM as f64).collect();
    assert!(windows.len() > 100 && windows.iter().all(|window| (40.0..45.0).contains(window)), "{windows:?}");
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

/// Every output of a controller of quinn beyond the bound.
fn beyond(name: &str, bound: &str, make: impl Fn(u64) -> Makes) -> Vec<String> {
    let times = [SHORT_US, MIDDLE_US, LONG_US];
    let estimates = times.map(|rtt_us| estimate(Duration::from_micros(rtt_us)));
    let mut of = |sequence: &Value, size, window| -> Box<dyn Stack> {
        assert_eq!(size, DATAGRAM);
        let rtt_us = sequence["events"]
            .as_array()
            .unwrap()
            .iter()
            .find(|event| event["event"] != "sent")
            .map(|event| event["at_us"].as_u64().unwrap() - event["sent_us"].as_u64().unwrap());
        let at = times.iter().position(|time| Some(*time) == rtt_us).expect("a round trip of the files");
        Box::new(OfQuinn::new(make(window), estimates[at]))
    };
    differences(&text(name), bound, &mut of)
}

/// The names of sequences with differences. The first and the last of each are printed.
fn named(name: &str, found: &[String]) -> Vec<String> {
    let of = |difference: &String| difference.split('"').nth(1).unwrap().to_owned();
    let of_sequences = found.chunk_by(|a, b| of(a) == of(b));
    let each = of_sequences.map(|of_one| {
        println!("{name}: {}; at last {}", of_one[0], of_one[of_one.len() - 1]);
        of(&of_one[0])
    });
    each.collect()
}

fn findings(name: &str, bound: &str, make: impl Fn(u64) -> Makes) -> Vec<String> {
    named(name, &beyond(name, bound, make))
}

/// The adapter hands a law every event of the vectors, and tells window and threshold. The law `newreno` follows RFC 5681, whose threshold
/// is two packets at the least. That of RFC 9002, appendix B.6, may be less, where the window is two anyway.
#[test]
fn our_laws_through_quinn_give_the_answers() {
    let none: [&str; 0] = [];
    assert_eq!(findings("cubic.json", "real", through_quinn("cubic", &[("ecn", 1.0), ("hystart", 0.0)])), none);
    let found = beyond("newreno.json", "real", through_quinn("newreno", &[("ecn", 1.0)]));
    let least = |line: &String| {
        let (_, threshold) = line.split_once(": ssthresh_bytes 2400.0 for ")?;
        threshold.parse().ok().filter(|threshold: &f64| *threshold < 2400.0)
    };
    let thresholds: Vec<f64> = found.iter().filter_map(least).collect();
    assert_eq!((thresholds.len(), found.len()), (11, 11), "{found:#?}");
}

/// quinn 0.11's own, within whole datagrams. docs/validation/quic.md has the reasons.
#[test]
fn findings_on_quinns_own_controllers() {
    let newreno = findings("newreno.json", "whole_datagrams", |window_bytes| {
        let mut config = NewRenoConfig::default();
        config.initial_window(window_bytes);
        Arc::new(config)
    });
    let cubic = findings("cubic.json", "whole_datagrams", |window_bytes| {
        let mut config = CubicConfig::default();
        config.initial_window(window_bytes);
        Arc::new(config)
    });
    let persistent =
        ["persistent congestion", "persistent congestion after a loss", "persistent congestion after an echo"];
    assert_eq!(newreno, persistent);
    assert_eq!(cubic, ["the curve", "Reno's region", "fast convergence", "persistent congestion", "idleness"]);
}

/// The driver in C holds NewReno of RFC 9002 in C against its file, and notices one that halves too little.
#[test]
fn the_driver_in_c_runs() {
    let to = tempfile::tempdir().unwrap();
    for (reduction, holds) in [("0.5", true), ("0.6", false), ("", true)] {
        let program = to.path().join(format!("driver{reduction}"));
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O0"]);
        // Without one it is that of the RFC.
        compiler.args((!reduction.is_empty()).then(|| format!("-DREDUCTION={reduction}"))).arg("-o");
        let compiled = compiler
            .arg(&program)
            .args(["driver.c", "newreno.c"].map(|each| folder().join(each)))
            .arg("-lm")
            .status()
            .expect("the linker of Rust is `cc`");
        assert!(compiled.success());
        for bound in [&[][..], &["real"], &["whole_datagrams"]] {
            let ended = Command::new(&program).arg(folder().join("newreno.json")).args(bound).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stdout).into_owned();
            println!("{bound:?}: {said}");
            // The outputs that are wrong are named.
            let wrong = String::from_utf8_lossy(&ended.stderr).into_owned();
            let counted = wrong.lines().count();
            assert!(said.ends_with(&format!("outputs, {counted} wrong\n")), "{said}{wrong}");
            let cut = "\"a loss\", \"lost\" at ";
            assert_eq!(wrong.starts_with(cut) && wrong.contains(": ssthresh_bytes "), !holds, "{wrong}");
            assert_eq!(ended.status.success(), holds, "{said}");
            let outputs: usize = said.split(' ').next().unwrap().parse().unwrap();
            let file = text("newreno.json");
            let thresholds = file.matches("ssthresh_bytes").count();
            assert_eq!(outputs, file.matches("cwnd_bytes").count() + thresholds, "{said}");
            assert!(thresholds > 50, "{thresholds}");
        }
    }
    let program = to.path().join("driver");
    // A stack gets the window of the file.
    let other = to.path().join("newreno.json");
    let of_file = format!("\"initial_window_bytes\": {INITIAL}");
    fs::write(&other, text("newreno.json").replace(&of_file, "\"initial_window_bytes\": 24000")).unwrap();
    let ended = Command::new(&program).arg(&other).output().unwrap();
    let wrong = String::from_utf8_lossy(&ended.stderr);
    let first = "\"slow start\", \"sent\" at 1000 us: cwnd_bytes 24000.0 for 12000.0\n";
    assert!(ended.status.code() == Some(1) && wrong.starts_with(first), "{wrong}");
    // A bound that the files do not have is refused.
    let ended = Command::new(&program).arg(folder().join("newreno.json")).arg("rough").output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
}
