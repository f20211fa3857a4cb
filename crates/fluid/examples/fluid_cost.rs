//! The cost of a class and step: runs a scenario file, or a large network of lead-lag flows, as fluid in this process, for a program
//! that counts instructions beside it. It prints a hash of all numbers of the run: equal runs are equal to the last bit.
//!
//! ```text
//! cargo build -p penstock-fluid --example fluid_cost
//! valgrind --tool=callgrind target/debug/examples/fluid_cost --network 2000 50 200
//! target/debug/examples/fluid_cost scenarios/fast-aqm-fig8.toml 'duration="40 s"'
//! THREADS=2 target/debug/examples/fluid_cost --network 100000 1000 200
//! ```

use std::error::Error;
use std::fmt::{self, Write as _};
use std::{env, fs, thread};

use penstock_fluid::{Fluid, Part};
use penstock_law::quantity::{Rate, Time};
use penstock_scenario::model::{Group, Link, Rtt, Scenario};
use penstock_scenario::read::Document;

/// One link and one class, of which a network has many.
const ONE: &str = r#"
format = 1
duration = "1 s"
warmup = "0 s"
packet = "1000 B"
links.one = { from = "a", to = "b", rate = "1 Gbit/s", delay = "10 ms", buffer = "unlimited", aqm = { law = "price" } }
flows.one = { from = "a", to = "b", rtt = "100 ms", start = "0 s", cc = { law = "leadlag" } }
"#;

/// `classes` classes of one lead-lag flow each, over one to three of `links` links, drawn at random, for so many steps of 5 ms.
fn network(classes: usize, links: usize, steps: u64) -> Result<Scenario, Box<dyn Error>> {
    let mut cells = Document::parse(ONE, "one").and_then(|one| one.cells()).map_err(|e| format!("{e:?}"))?;
    let mut scenario = cells.remove(0).scenario;
    // Knuth's MMIX generator, its upper bits.
    let mut state = 1_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (link, group) = (scenario.links["one"].clone(), scenario.groups["one"].clone());
    // A class crosses two links on average; a thousand packets a second for each is a price of 50 ms a link.
    let rate = Rate((2.0 * classes as f64 / links as f64 * 1000.0 * 8000.0) as u64);
    scenario.links = (0..links).map(|l| (format!("l{l}"), Link { rate, ..link.clone() })).collect();
    let mut class = || {
        let (first, hops) = (draw(links), 1 + draw(3));
        let forward = (0..hops).map(|k| format!("l{}", (first + 1 + k * 7) % links)).collect();
        let rtt = Rtt::Each(Time::from_seconds(0.1 + 0.001 * draw(200) as f64));
        Group { forward, backward: Vec::new(), rtt, ..group.clone() }
    };
    scenario.groups = (0..classes).map(|c| (format!("c{c}"), class())).collect();
    // A step is a twentieth of the shortest round trip.
    scenario.duration = Time::from_seconds(0.005 * steps as f64);
    scenario.sample = scenario.duration;
    Ok(scenario)
}

/// The hash of Fowler, Noll and Vo of a text, without the text.
struct Hash(u64);

impl fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// Each part on a thread of its own.
fn side_by_side(parts: &mut [Part<'_>]) {
    let Some((first, others)) = parts.split_first_mut() else { return };
    thread::scope(|scope| {
        for part in others {
            scope.spawn(|| part.advance());
        }
        first.advance();
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    const USAGE: &str = "cost FILE [KEY=VALUE ...], or cost --network CLASSES LINKS STEPS";
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut scenarios = Vec::new();
    if let [first, classes, links, steps] = &arguments[..]
        && first == "--network"
    {
        scenarios.push(network(classes.parse()?, links.parse()?, steps.parse()?)?);
    } else {
        let file = arguments.first().ok_or(USAGE)?;
        let mut document = Document::parse(&fs::read_to_string(file)?, file).map_err(|e| format!("{e:?}"))?;
        for setting in &arguments[1..] {
            let (key, value) = setting.split_once('=').ok_or(USAGE)?;
            document.set(key, value).map_err(|e| format!("{e:?}"))?;
        }
        scenarios.extend(document.cells().map_err(|e| format!("{e:?}"))?.into_iter().map(|cell| cell.scenario));
    }
    let threads = env::var("THREADS").map_or(Ok(1), |threads| threads.parse())?;
    for scenario in scenarios {
        let run = Fluid::default().run_in_parts(&scenario, &mut |_| true, threads, &mut side_by_side)?;
        // A number in text has all its digits.
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        write!(hash, "{run:?}")?;
        println!("{} events, hash {:016x}", run.summary.engine.events, hash.0);
    }
    Ok(())
}
