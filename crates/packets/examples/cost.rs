//! The cost of a packet: runs a scenario file in this process and prints how many packets that were, for a program that counts
//! instructions beside it.
//!
//! ```text
//! cargo build --release -p penstock-packets --example cost
//! valgrind --tool=callgrind target/release/examples/cost scenarios/validation-red.toml 'duration="8 s"' 'warmup="1 s"'
//! ```

use std::error::Error;
use std::{env, fs};

use penstock_packets::Packets;
use penstock_scenario::read::Document;
use penstock_scenario::world::World;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let file = arguments.next().ok_or("cost FILE [KEY=VALUE ...]")?;
    let mut document = Document::parse(&fs::read_to_string(&file)?, &file).map_err(|e| format!("{e:?}"))?;
    for setting in arguments {
        let (key, value) = setting.split_once('=').ok_or("write KEY=VALUE")?;
        document.set(key, value).map_err(|e| format!("{e:?}"))?;
    }
    for cell in document.cells().map_err(|e| format!("{e:?}"))? {
        let run = Packets.run(&cell.scenario, &mut |_| true)?;
        let engine = &run.summary.engine;
        let goodput: f64 = run.flows.iter().map(|flow| flow.goodput_bit_per_s).sum();
        println!("{} packets, {} events, goodput {:016x}", engine.packets, engine.events, goodput.to_bits());
    }
    Ok(())
}
