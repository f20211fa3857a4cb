//! The command `penstock` with three more laws: the controllers `steady` and `gauge`, and the AQM `linear`.

mod gauge;
mod linear;
mod steady;

use std::process::ExitCode;

use penstock_law::Registry;
use penstock_law::registry::Refused;

fn laws() -> Result<Registry, Refused> {
    Registry::standard().with(&steady::ENTRY)?.with(&gauge::ENTRY)?.with(&linear::ENTRY)
}

fn main() -> ExitCode {
    match laws() {
        Ok(registry) => penstock_cli::run(registry),
        Err(refused) => {
            eprintln!("own-law: {refused}");
            ExitCode::from(70)
        }
    }
}
