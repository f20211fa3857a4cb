//! `penstock`: the command with the standard laws.

use std::process::ExitCode;

use penstock_law::Registry;

fn main() -> ExitCode {
    penstock_cli::run(Registry::standard())
}
