//! `penstock compare` of two scenario files, or of laws in one: as `penstock show` has records, without records.

use std::collections::BTreeSet;
use std::path::Path;

use penstock_evaluation::Subject;
use penstock_fluid::Fluid;
use penstock_law::Parameter;
use penstock_law::aqm::Aqm;
use penstock_law::cc::Controller;
use penstock_report::html;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Cell;
use penstock_scenario::world::World;
use penstock_scenario::write::print;

use crate::arguments::{Changes, Compare, WorldName};
use crate::failure::{Done, Failure};
use crate::folder::{File, Folder};
use crate::gathered::Gathered;
use crate::named::Shown as _;
use crate::run::is_beyond;
use crate::show::{self, Overlaid};
use crate::{interrupt, of_quic, pages, program, record, registry, scenario, terminal};

/// Runs every cell of the comparison, and shows all of it on one page.
pub(crate) fn compare(arguments: &Compare, fluid: &Fluid) -> Result<Done, Failure> {
    let laws = arguments.laws();
    if laws.len() == 1 {
        return Err(Failure::Input("--laws: name two or more, as in `cubic,bbr`".into()));
    }
    let twice = laws.iter().enumerate().find(|(at, law)| laws[..*at].contains(law));
    if let Some((_, law)) = twice {
        return Err(Failure::Input(format!("--laws: `{law}` appears twice; name each law once")));
    }
    let mut parts: Vec<(String, Vec<Cell>)> = Vec::new();
    for file in &arguments.files {
        let plain = cells(file, arguments, &[])?;
        if laws.is_empty() {
            parts.push((scenario::stem(file), plain));
            continue;
        }
        for law in &laws {
            let changes = with_law(law, plain.first().map(|cell| &cell.scenario))?;
            parts.push((format!("{} {law}", scenario::stem(file)), cells(file, arguments, &changes)?));
        }
    }
    once(&mut parts);
    let out = arguments.out.as_deref().map(Folder::open).transpose()?;
    interrupt::watch()?;
    let worlds = worlds(arguments);
    let mut found = Vec::new();
    let mut beyond = false;
    for name in worlds {
        let other;
        let world: &dyn World = if *name == WorldName::Fluid {
            fluid
        } else {
            other = scenario::one_world(*name, arguments.processors.awake)?;
            other.as_ref()
        };
        for (part, cell) in parts.iter().flat_map(|(part, cells)| cells.iter().map(move |cell| (part, cell))) {
            let run = world.run(&cell.scenario, &mut |_| !interrupt::stopped())?;
            // Differences from a run that was not what it should have been say nothing.
            beyond |= is_beyond(&run.summary);
            found.push(Gathered {
                place: format!("{part} {}", cell.name()).trim().to_owned(),
                name: part.clone(),
                version: crate::VERSION.to_owned(),
                scenario: print(&cell.scenario),
                swept: Vec::new(),
                laws: pages::laws(&cell.scenario),
                summary: run.summary,
                series: run.series,
            });
        }
    }
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    let Overlaid { page, mut shown } = show::overlay(&names.join(" and "), &found)?;
    if let Some(out) = out {
        let value = serde_json::to_value(&shown).map_err(|e| Failure::Bug(e.to_string()))?;
        let files: Vec<File> = vec![
            ("comparison.json".to_owned(), record::bytes(&value)?),
            ("report.html".to_owned(), html::write(&page).into_bytes()),
        ];
        let stem = arguments.files.first().map_or_else(String::new, |file| scenario::stem(file));
        let path = out.put(&format!("{stem}-comparison"), &files)?;
        shown.report = Some(record::shown(&path, "report.html"));
    }
    if arguments.json {
        terminal::say_json(&shown)?;
    } else {
        terminal::say(terminal::look().page(&page))?;
        if let Some(report) = &shown.report {
            terminal::place("report", report)?;
        }
    }
    Ok(if beyond { Done::Beyond } else { Done::Well })
}

fn worlds(arguments: &Compare) -> &[WorldName] {
    if arguments.worlds.is_empty() { &[WorldName::Packets] } else { &arguments.worlds }
}

/// Leaves out cells that are an earlier cell again, and notes it: as two files may be alike, or as a law takes the place of one that
/// a sweep varies. Two equal runs are no sample of two.
fn once(parts: &mut [(String, Vec<Cell>)]) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (part, cells) in parts {
        let before = cells.len();
        cells.retain(|cell| known.insert(print(&cell.scenario)));
        let again = before - cells.len();
        if again > 0 {
            let what = if again == 1 { "one run is" } else { "runs are" };
            let count = if again == 1 { String::new() } else { format!("{again} ") };
            terminal::note(format!(
                "{}: {count}{what} of a scenario that runs already, and left out",
                Path::new(part.as_str()).shown()
            ));
        }
    }
}

/// The cells of a file, with the changes to all of them and the changes besides.
fn cells(file: &Path, arguments: &Compare, besides: &[String]) -> Result<Vec<Cell>, Failure> {
    let set = arguments.changes.set.iter().chain(besides).cloned().collect();
    let cells = scenario::cells(&scenario::document(file, arguments.seed, &Changes { set })?)?;
    of_quic::refuse_cells(&cells, worlds(arguments))?;
    Ok(cells)
}

/// The law of a queue without an AQM.
const PLAIN: &str = "droptail";

/// The changes that make a law that of a scenario: of all groups for a controller; for an AQM of all links that have one, or else
/// of all links. Keys beside the parameters of the law before, such as `ecn`, stay.
fn with_law(law: &str, scenario: Option<&Scenario>) -> Result<Vec<String>, Failure> {
    let laws = registry::laws();
    let Some(scenario) = scenario else { return Ok(Vec::new()) };
    let (law, mut given) = Subject::named(law).map_err(|why| Failure::Input(format!("--laws: {why}")))?;
    given.remove("law");
    let text: toml::Table = toml::from_str(&print(scenario)).map_err(|e| Failure::Bug(e.to_string()))?;
    let change = |part: &str, name: &str, key: &str, parameters: &[Parameter]| {
        let before = text.get(part).and_then(|of| of.get(name)?.get(key)?.as_table()).cloned().unwrap_or_default();
        let mut after: toml::Table =
            before.into_iter().filter(|(key, _)| parameters.iter().all(|known| known.name != key)).collect();
        after.insert("law".to_owned(), law.as_str().into());
        after.extend(given.clone());
        format!("{part}.{name}.{key}={}", toml::Value::Table(after))
    };
    if laws.laws::<Controller>().iter().any(|entry| entry.name == law) {
        let groups = scenario.groups.iter();
        return Ok(groups.map(|(name, group)| change("flows", name, "cc", group.cc.law.parameters)).collect());
    }
    if laws.laws::<Aqm>().iter().any(|entry| entry.name == law) {
        let forth = || scenario.links.iter().filter(|(name, _)| !name.ends_with("/back"));
        // Where some links have an AQM, the others are not meant.
        let some = forth().any(|(_, link)| link.aqm.law.name != PLAIN);
        let meant = forth().filter(|(_, link)| !some || link.aqm.law.name != PLAIN);
        return Ok(meant.map(|(name, link)| change("links", name, "aqm", link.aqm.law.parameters)).collect());
    }
    Err(Failure::Input(format!(
        "--laws: `{law}` is neither a controller nor an AQM: `{} laws` lists them",
        program::name()
    )))
}
