//! Writes the inputs that fuzzing begins with: `cargo run -p penstock-fuzz --example seeds -- DIR` fills `DIR/TARGET/seeds/`.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use penstock_fuzz::{TARGETS, Target, tc};

fn write(folder: &Path, target: &Target) -> io::Result<()> {
    let folder = folder.join(target.name).join("seeds");
    fs::create_dir_all(&folder)?;
    (target.seeds)().iter().enumerate().try_for_each(|(at, seed)| fs::write(folder.join(at.to_string()), seed))
}

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1) else {
        eprintln!("write: seeds DIR");
        return ExitCode::from(2);
    };
    let tc = Target { name: "tc", check: tc::check, seeds: tc::seeds };
    for target in TARGETS.iter().chain([&tc]) {
        if let Err(error) = write(Path::new(&folder), target) {
            eprintln!("{}: {error}", target.name);
            return ExitCode::from(3);
        }
    }
    ExitCode::SUCCESS
}
