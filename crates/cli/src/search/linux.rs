//! `--confirm linux`: failures on the kernel's TCP.

use penstock_report::number::short;
use penstock_report::page::{Column, Section, TableView};
use penstock_search::page::{Report, number};

use super::baselines::Laws;
use crate::arguments::WorldName;
use crate::failure::Failure;
use crate::{interrupt, scenario, terminal};

/// Number of failures that are run: each takes its simulated time, for each law.
const MOST: usize = 3;

/// Runs failures on the kernel's TCP, and returns the section of the page with their results.
pub(super) fn confirm(laws: &Laws, reports: &[Report], awake: bool) -> Result<Option<Section>, Failure> {
    let Laws { subject, tested, more } = laws;
    let world = scenario::one_world(WorldName::Linux, awake)?;
    let mut table = TableView::new(
        "Failures on the kernel's TCP",
        vec![
            Column::words("File"),
            Column::words("Law"),
            Column::words("Packets"),
            Column::words("Linux"),
            Column::numbers("Difference", "%"),
            Column::words("Remark"),
        ],
    );
    let found = reports.iter().flat_map(|report| report.failures.iter().map(move |found| (report.kind, found)));
    for (kind, found) in found.take(MOST) {
        let bench = super::bench(kind, subject.role, world.name()).beside(more.clone());
        let laws = [tested.clone()].into_iter().chain(bench.references_of(tested, &found.failure.draft));
        for (who, law) in laws.enumerate() {
            let draft = bench.with(&found.failure.draft, &law);
            let mut row = vec![found.file.clone(), law.name.clone()];
            let of_references = found.failure.references.iter().zip(&found.failure.confirmed.references);
            let simulated = match who {
                0 => Some(found.failure.confirmed.measured),
                _ => of_references.clone().find(|(name, _)| **name == law.name).map(|(_, measured)| *measured),
            };
            row.push(simulated.map(|x| number(kind, x)).unwrap_or_default());
            terminal::note(format!("runs {} with the law {} on the kernel's TCP", found.file, law.name));
            let ran = bench.scenario(&draft, 1).and_then(|scenario| {
                if let Some(why) = world.refusals(&scenario).into_iter().next() {
                    return Err(why);
                }
                let mut reached = |_: f64| !interrupt::stopped();
                let run = world.run(&scenario, &mut reached).map_err(|e| e.to_string())?;
                let beyond = run.summary.path.as_ref().map(|path| path.beyond.join("; ")).unwrap_or_default();
                kind.measured(&scenario, &run.summary).map(|found| (found, beyond))
            });
            if interrupt::stopped() {
                return Err(Failure::Stopped);
            }
            match ran {
                Ok((real, beyond)) => {
                    row.push(number(kind, real));
                    let difference = simulated.map(|x| 100.0 * (real - x) / x.abs().max(1e-12));
                    row.push(difference.map(|percent| short(percent, 3)).unwrap_or_default());
                    row.push(if beyond.is_empty() {
                        String::new()
                    } else {
                        format!("outside its error bounds: {beyond}")
                    });
                }
                Err(why) => row.extend([String::new(), String::new(), format!("not run: {why}")]),
            }
            table.rows.push(row);
        }
    }
    if table.rows.is_empty() {
        return Ok(None);
    }
    let prose = "The shrunk scenarios with the kernel's TCP over an emulated path, one seed each.".to_owned();
    Ok(Some(Section { prose, tables: vec![table], ..Section::new("Real TCP") }))
}
