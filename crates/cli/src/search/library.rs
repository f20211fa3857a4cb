//! The spaces and objectives that are part of the command.

use std::path::Path;

use penstock_search::{Kind, Objective, Space};

use crate::examples::Inside;
use crate::failure::Failure;
use crate::scenario;

// `SPACES` and `OBJECTIVES: &[Inside]`, written by build.rs.
include!(concat!(env!("OUT_DIR"), "/search.rs"));

/// The names of the spaces.
pub(super) fn spaces() -> impl Iterator<Item = &'static str> {
    SPACES.iter().map(|inside| inside.name)
}

/// A space by its name, or from a file.
pub(super) fn space(name: &str) -> Result<Space, Failure> {
    if let Some(inside) = SPACES.iter().find(|inside| inside.name == name) {
        return Space::parse(inside.text(), &format!("search/spaces/{name}.toml")).map_err(Failure::input);
    }
    let file = Path::new(name);
    if !name.contains(['/', '.']) && !file.exists() {
        let known: Vec<&str> = spaces().collect();
        return Err(Failure::Input(format!(
            "--space: no space is `{name}`; there are {}, and files",
            known.join(", ")
        )));
    }
    Space::parse(&scenario::text(file)?, name).map_err(Failure::input)
}

/// An objective.
pub(super) fn objective(kind: Kind) -> Result<Objective, Failure> {
    let name = kind.word();
    let inside = OBJECTIVES.iter().find(|inside| inside.name == name);
    let inside = inside.ok_or_else(|| Failure::Bug(format!("the objective {name} has no file")))?;
    Objective::parse(inside.text(), &format!("search/objectives/{name}.toml")).map_err(Failure::input)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each objective fits into each space.
    #[test]
    fn every_objective_fits_every_space() {
        assert!(spaces().count() >= 6);
        for name in spaces() {
            for kind in Kind::ALL {
                let mut space = space(name).unwrap();
                objective(kind).unwrap().prepare(&mut space).unwrap_or_else(|e| panic!("{name}, {}: {e}", kind.word()));
                assert!(space.genes().len() > 1, "{name}, {}", kind.word());
            }
        }
    }
}
