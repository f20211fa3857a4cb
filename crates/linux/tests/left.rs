//! Leftovers of a run over Linux in the kernel: none. Needs root, or the rights that `penstock linux check` names; where they are missing
//! the tests say so and count as not run.

#[path = "../../path/tests/laboratory/mod.rs"]
mod laboratory;
#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::collections::BTreeMap;
use std::path::Path;

use libbpf_rs::query::{MapInfoIter, ProgInfoIter};
use libbpf_rs::{MapType, ProgramType};
use penstock_linux::run::{Generator, Linux};
use penstock_scenario::world::World;

/// Two flows of FAST that have no end, over a queue that they fill.
const FAST: &str = r#"
format = 1
duration = "2 s"
packet = { wire = "1500 B", payload = "1448 B" }
links.l = { from = "a", to = "b", rate = "20 Mbit/s", delay = "10 ms", buffer = "200 packets", duplex = true }
flows.f = { count = 2, from = "a", to = "b", rtt = "20 ms", start = "0 s", cc = { law = "fast" }, sender = { initial_window = 10 } }
"#;

/// Controllers, and what they remember, by their identifiers in this kernel.
fn controllers() -> BTreeMap<(&'static str, u32), String> {
    let programs = ProgInfoIter::default().filter(|program| program.ty == ProgramType::StructOps);
    let maps = MapInfoIter::default().filter(|map| [MapType::StructOps, MapType::SkStorage].contains(&map.ty));
    let programs = programs.map(|program| (("program", program.id), program.name.to_string_lossy().into_owned()));
    let maps = maps.map(|map| (("map", map.id), map.name.to_string_lossy().into_owned()));
    programs.chain(maps).collect()
}

/// A controller is there for as long as a socket has it. One that goes on delivering what nobody takes any more would keep it
/// for minutes.
fn a_run_leaves_no_controller() {
    let scenario = laboratory::scenario(FAST);
    let mut generators = vec![Generator::Own];
    if Path::new("/usr/bin/iperf3").exists() {
        generators.push(Generator::Iperf3);
    } else {
        println!("not with iperf3, which is not in /usr/bin");
    }
    for generator in generators {
        let before = controllers();
        let mut most = 0;
        let mut watch = |_: f64| {
            // Those of a test before may be leaving just now, so that only new ones count.
            most = most.max(controllers().keys().filter(|id| !before.contains_key(*id)).count());
            true
        };
        Linux { generator, awake: true }.run(&scenario, &mut watch).unwrap();
        assert!(most >= 3, "{generator:?}: a controller is there while it runs: {most}");
        let left = || controllers().into_iter().filter(|(id, _)| !before.contains_key(id)).collect::<Vec<_>>();
        assert!(optional::eventually(|| left().is_empty()), "{generator:?}: {:?}", left());
    }
}

fn main() {
    let missing = penstock_path::missing();
    let missing = missing.into_iter().chain(penstock_kernel::attach::controller::missing());
    optional::run(&[("a_run_leaves_no_controller", a_run_leaves_no_controller)], optional::kernel(missing));
}
