//! Every controller and every AQM of the registry on every path: from 1 bit/s to 10 Tbit/s, from 10 us to 100 s, and so on many where the first
//! timeout comes before the first acknowledgement. Under a ceiling of memory, since a sender whose window is not a number
//! never stops sending.

use std::env;
use std::fmt::Write as _;
use std::process::Command;

use penstock_law::aqm::AQMS;
use penstock_law::cc::CONTROLLERS;
use penstock_law::parameter::Default;
use penstock_packets::Packets;
use penstock_scenario::read::Document;
use penstock_scenario::world::{RunError, World};

/// Set in the process that runs under the ceiling.
const INSIDE: &str = "PENSTOCK_TEST_UNDER_A_CEILING";

/// Addresses that that process may have [KiB]: the packets under way on these paths take a hundredth of it.
const CEILING: &str = "2000000";

/// The watcher is called every 16384 events; a run ends after so many of these.
const LOOKS: u32 = 2;

/// A path, and how a run over it begins.
#[derive(Debug, Clone, Copy)]
struct Path {
    bit_per_s: f64,
    rtt_s: f64,
    wire: u32,
}

impl Path {
    /// Long enough for some round trips, packets and timeouts, within what a run may last.
    fn text(self, law: &str, aqm: &str) -> String {
        let Self { bit_per_s, rtt_s, wire } = self;
        let a_packet_s = f64::from(wire) * 8.0 / bit_per_s;
        let duration_s = (12.0 * rtt_s + 30.0 * a_packet_s).clamp(12.0, 4e6);
        let entry = CONTROLLERS.iter().find(|entry| entry.name == law).unwrap();
        let mut required = String::new();
        for p in entry.parameters.iter().filter(|p| p.default == Default::Required) {
            let _ = write!(required, ", {} = \"{:.0} bit/s\"", p.name, (bit_per_s / 2.0 + 1.0).min(1e12));
        }
        format!(
            r#"
format = 1
packet = "{wire} B"
duration = "{duration_s:.6} s"
sample = "{:.6} s"
links.l = {{ from = "a", to = "b", rate = "{bit_per_s:.0} bit/s", delay = "1 us", buffer = "100 packets", aqm = {{ law = "{aqm}" }} }}
flows.f = {{ from = "a", to = "b", rtt = "{:.3} us", start = "0 s", cc = {{ law = "{law}"{required} }} }}
"#,
            duration_s / 10.0,
            rtt_s * 1e6
        )
    }
}

/// Paths between the corners.
const BETWEEN: u32 = 34;

/// The corners, the paths that were seen to fail, and others between them, evenly over the decades.
fn paths() -> Vec<Path> {
    let path = |bit_per_s, rtt_s, wire| Path { bit_per_s, rtt_s, wire };
    let mut all = vec![path(10e6, 1.1, 1500), path(10e3, 0.04, 1500), path(1e6, 0.999_999, 1500)];
    for bit_per_s in [1.0, 1e13] {
        all.extend([1e-5, 100.0].map(|rtt_s| path(bit_per_s, rtt_s, 1500)));
    }
    // A lattice of rank one: no two paths have the same rate or the same delay.
    for k in 0..BETWEEN {
        let share = |n: u32| f64::from(n % BETWEEN) / f64::from(BETWEEN);
        let wire = [64, 576, 1500, 9000][k as usize % 4];
        let (rate, delay) = (libm::pow(10.0, 13.0 * share(k)), 1e-5 * libm::pow(10.0, 7.0 * share(13 * k)));
        all.push(path(libm::round(rate), delay, wire));
    }
    all
}

#[test]
fn no_law_takes_all_memory_on_any_path() {
    if env::var_os(INSIDE).is_some() {
        return every_law_on_every_path();
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -v \"$0\" && exec \"$@\"", CEILING])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "extremes::no_law_takes_all_memory_on_any_path", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).join("\n");
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    let last = last.into_iter().rev().collect::<Vec<_>>().join("\n");
    assert!(output.status.success(), "{}:\n{last}", output.status);
    assert!(said.contains("paths were run"), "{last}");
}

fn every_law_on_every_path() {
    let controllers =
        CONTROLLERS.iter().flat_map(|entry| paths().into_iter().map(|path| (entry.name, "droptail", path)));
    // Others need classes or colours of packets, and are on paths of their own in other files.
    let aqms = AQMS.iter().filter(|entry| !["droptail", "bat", "clcc", "wred"].contains(&entry.name));
    let aqms = aqms.flat_map(|entry| paths().into_iter().step_by(4).map(|path| ("newreno", entry.name, path)));
    let run = controllers.chain(aqms).filter(|(law, aqm, path)| runs(law, aqm, *path)).count();
    assert!(run > 400, "{run}");
    println!("{run} paths were run");
}

/// Runs a controller and an AQM over a path. False where the scenario is refused before it runs.
fn runs(law: &str, aqm: &str, path: Path) -> bool {
    // The last line before an end without words says where it was.
    println!("{law} and {aqm} over {path:?}");
    let scenario = match Document::parse(&path.text(law, aqm), "test.toml").and_then(|document| document.cells()) {
        Ok(mut cells) => cells.remove(0).scenario,
        Err(error) => {
            assert!(error.to_string().contains("memory"), "{error}");
            return false;
        }
    };
    let mut looks = 0;
    let ran = Packets.run(&scenario, &mut |_: f64| {
        looks += 1;
        looks < LOOKS
    });
    match ran {
        Ok(ran) => {
            let group = &ran.summary.whole.groups["f"];
            assert!(group.window_mean_packets.is_none_or(f64::is_finite), "{group:?}");
            true
        }
        Err(RunError::Stopped) => true,
        Err(RunError::Refused { what, .. }) => {
            assert!(what[0].contains("only the kernel"), "{what:?}");
            false
        }
        Err(error) => panic!("{law} and {aqm} over {path:?}: {error}"),
    }
}
