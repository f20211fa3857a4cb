//! Sweeps of several files whose cells run in one pool, so that no processor waits for the last one of a file.

use penstock_scenario::read::Cell;
use penstock_scenario::world::World;

use crate::arguments::Shard;
use crate::batch::Batch;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::jobs::{self, Job};
use crate::progress::Others;
use crate::record::{self, Kept};
use crate::sweep::Swept;

/// A file whose cells run with others.
pub(crate) struct Part<'a> {
    /// Where the directory of its records is.
    pub(crate) home: &'a Folder,
    pub(crate) batch: &'a Batch,
    pub(crate) world: &'a (dyn World + Sync),
}

/// A file whose cells were run: its directory, and the records that were made now.
pub(crate) struct Ran<'a> {
    pub(crate) swept: Swept<'a>,
    pub(crate) made: Vec<(&'a Cell, Kept)>,
}

/// Runs the cells of all parts that are not finished, world by world.
pub(crate) fn run<'a>(
    parts: &[Part<'a>],
    shard: Option<Shard>,
    threads: Option<usize>,
) -> Result<Vec<Ran<'a>>, Failure> {
    let mut swept: Vec<Swept<'a>> = Vec::new();
    for Part { home, batch, world } in parts {
        swept.push(Swept::open(home, batch, *world, shard)?);
    }
    let mut made: Vec<Vec<(&Cell, Kept)>> = parts.iter().map(|_| Vec::new()).collect();
    let mut worlds: Vec<&(dyn World + Sync)> = Vec::new();
    for Part { world, .. } in parts {
        if worlds.iter().all(|w| w.name() != world.name()) {
            worlds.push(*world);
        }
    }
    for world in worlds {
        let here = || swept.iter().enumerate().filter(|(at, _)| parts[*at].world.name() == world.name());
        let todo: Vec<(usize, &Swept<'_>, &'a Cell)> =
            here().flat_map(|(at, swept)| swept.missing().map(move |cell| (at, swept, cell))).collect();
        let jobs: Vec<Job<'_>> = todo
            .iter()
            .map(|(at, _, cell)| Job {
                name: format!("{}: {}", parts[*at].batch.stem, cell.name()),
                group: *at,
                scenario: &cell.scenario,
                beside: None,
            })
            .collect();
        let before = here().map(|(_, swept)| swept.finished()).sum();
        let kept = jobs::run(&jobs, Others::before(before), world, jobs::threads(threads), &|at, made| {
            let (part, swept, cell) = todo[at];
            let of = record::Subject::cell(parts[part].batch, cell);
            record::keep(swept.folder(), &record::name(cell), of, made, |_| Vec::new())
        });
        let kept = kept.inspect_err(|_| here().for_each(|(_, swept)| swept.give_up()))?;
        for ((at, _, cell), kept) in todo.iter().zip(kept) {
            made[*at].push((*cell, kept));
        }
    }
    Ok(swept.into_iter().zip(made).map(|(swept, made)| Ran { swept, made }).collect())
}
