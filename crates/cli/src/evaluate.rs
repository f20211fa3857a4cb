//! `penstock evaluate`: the criteria of RFC 9743, RFC 9331 and RFC 7928 for a law, measured beside baselines.

mod gate;
mod library;
mod plan;
mod worst;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use penstock_evaluation::statistics::Verdict;
use penstock_evaluation::{
    Beside, Criterion, Evaluation, Extent, Judging, Outcome, Part, Recorded, Scope, Subject, compare, judge, markdown,
    page, table, unmeasured, wants_more,
};
use penstock_report::html;
use penstock_report::page::{Page, Section};

use crate::arguments::{self, WorldName};
use crate::failure::{Done, Failure};
use crate::folder::{Folder, slug_with_hash};
use crate::program::quoted;
use crate::record;
use crate::{interrupt, machine, of_quic, pages, program, registry, scenario, terminal};
use gate::Gate;
use library::Library;
use plan::{Labels, Plan};
use worst::WorstCells;

/// Runs the command.
pub(crate) fn evaluate(arguments: &arguments::Evaluate) -> Result<Done, Failure> {
    let mut library = Library::open(arguments.battery.as_deref())?;
    if arguments.list {
        return list(&library, arguments.output.json);
    }
    let law = arguments.law.as_deref().unwrap_or_default();
    let mut subject = Subject::parse(law, registry::laws()).map_err(Failure::Input)?;
    let known: Vec<String> = library.criteria.iter().map(|criterion| criterion.id.get_ref().clone()).collect();
    library.criteria.retain(|criterion| subject.is_for(criterion));
    choose(&mut library.criteria, &arguments.only)?;
    let gate = |file| Gate::read(file, &known, &library.criteria, &arguments.only, &subject);
    let gate = arguments.gate.as_deref().map(gate).transpose()?;
    let mut others = subject.baselines(registry::laws()).map_err(Failure::Bug)?;
    let against = arguments.against.as_deref().map(Against::of).transpose()?;
    if let Some(Against::Law(against)) = &against {
        let against = Subject::parse(against, registry::laws()).map_err(Failure::Input)?;
        if against.role != subject.role {
            return Err(Failure::Input(format!(
                "--against: `{}` and `{}` are not both controllers, both AQMs or both conditioners",
                against.name, law
            )));
        }
        others.push(against);
    }
    subject.tell_apart(&mut others);
    let extent = arguments.extent();
    if let Some(Against::Record(file, recorded)) = &against {
        comparable(file, recorded, &subject, extent)?;
    }
    let Some((name, beside)) = arguments.worlds() else {
        return Err(Failure::Input("--world: name one world, or `packets,linux` to compare these two".into()));
    };
    of_quic::refuse("evaluate", &subject.name, name)?;
    if beside {
        of_quic::refuse("evaluate", &subject.name, WorldName::Linux)?;
    }
    let awake = arguments.processors.awake;
    scenario::refuse_awake(awake, beside || name == WorldName::Linux, "--world packets,linux")?;
    let world = scenario::one_world(name, awake)?;
    let scope = Scope { extent, linux: name == WorldName::Linux };
    let real = if beside { Some(scenario::one_world(WorldName::Linux, awake)?) } else { None };
    let place = if subject.is_plain() { subject.name.clone() } else { slug_with_hash(&subject.setting(false)) };
    let mut name = format!("evaluation-{place}-{}", extent.word());
    if !arguments.only.is_empty() {
        // The page of all criteria stays.
        name.push_str("-some");
    }
    if arguments.world != [WorldName::Packets] {
        for world in [&world].into_iter().chain(&real) {
            name = format!("{name}-{}", world.name());
        }
    }
    let home = arguments.output.out.join(&name);
    if let Some(Against::Record(file, _)) = &against
        && same_file(Path::new(file), &home.join("verdicts.json"))
    {
        return Err(Failure::Input(format!(
            "--against: this evaluation writes {file} anew; copy the record first, and name the copy"
        )));
    }
    let few = Scope { extent, linux: true };
    // What the Linux world runs is there to compare with.
    let scopes: &[Scope] = if beside { &[scope, few] } else { &[scope] };
    let mut plan = Plan::of(&library, &subject, &others, scopes, world.as_ref())?;
    let second = real.as_deref().map(|real| Plan::of(&library, &subject, &others, &[few], real)).transpose()?;
    let out = Folder::open(&arguments.output.out)?;
    interrupt::watch()?;
    let runs = Folder::open(&out.path().join("evaluation-runs"))?;
    let jobs = arguments.output.jobs.map(usize::from);
    let (mut evaluation, first) = loop {
        let Some(ran) = plan.run(&runs, arguments.shard, jobs)? else { return Ok(Done::Well) };
        let evaluation = judged(&library, &subject, &others, &plan, &ran)?;
        let more = undecided(&library, &evaluation, &plan);
        let laws: Vec<&Subject> = [&subject].into_iter().chain(&others).collect();
        if more.is_empty() || plan.grow(&library, &laws, &more)? == 0 {
            break (evaluation, ran);
        }
        terminal::note(format!("the verdicts of {} cells are undecided; these cells run with more seeds", more.len()));
    };
    let mut beyond = first.beyond.clone();
    if let Some(second) = &second {
        let Some(ran) = second.run(&runs, arguments.shard, jobs)? else { return Ok(Done::Well) };
        beyond.extend_from_slice(&ran.beyond);
        evaluation.beside =
            Some(compared(&library, &subject, &evaluation.baselines, [(&plan, &first), (second, &ran)]));
    }
    let home = Folder::open(&out.path().join(name))?;
    let command = command(arguments, extent);
    let worst = WorstCells::of(&evaluation, &plan, &library)?;
    let page = page::of(&evaluation, &command, &machine::facts(), &worst.scenarios);
    worst.write(&home, &evaluation)?;
    write(&home, &evaluation, &command, &page)?;
    if arguments.output.json {
        terminal::say_json(&evaluation)?;
    } else {
        terminal::say(terminal::look().page(&short(&page)))?;
        terminal::place("page", record::shown(home.path(), "evaluation.html"))?;
        terminal::place("draft", record::shown(home.path(), "evaluation.md"))?;
    }
    let mut done = Done::Well;
    // What is on record is known: only a verdict that changed is news.
    let broken = match &against {
        Some(Against::Record(file, recorded)) => {
            let differences = recorded.differences(&evaluation.recorded());
            differences.into_iter().map(|what| format!("{file}: {what}")).collect()
        }
        Some(Against::Law(_)) | None => evaluation
            .failed_musts()
            .map(|outcome| format!("{} ({}, {}) fails", outcome.id, outcome.place(), outcome.level))
            .collect::<Vec<_>>(),
    };
    let gated = gate.map(|gate| gate.judge(&evaluation)).unwrap_or_default();
    for what in broken.into_iter().chain(gated) {
        terminal::fail(what);
        done = Done::Differs;
    }
    for what in &beyond {
        terminal::fail(format!("a run exceeded its error bounds: {what}"));
        if done == Done::Well {
            done = Done::Beyond;
        }
    }
    Ok(done)
}

/// The runs of two worlds, compared.
fn compared(
    library: &Library,
    subject: &Subject,
    baselines: &[String],
    [first, second]: [(&Plan<'_>, &plan::Measured); 2],
) -> Beside {
    let laws: Vec<&str> = [subject.label.as_str()].into_iter().chain(baselines.iter().map(String::as_str)).collect();
    let (mut rows, mut not_run) = (Vec::new(), Vec::new());
    for criterion in &library.criteria {
        if subject.excused(criterion).is_none() && criterion.not_evaluated.is_none() {
            let here = |part: &Part| first.0.runs_of(first.1, part);
            let there = |part: &Part| second.0.runs_of(second.1, part);
            let (found, missing) = compare(criterion, &laws, second.0.scope, here, there);
            rows.extend(found);
            not_run.extend(missing);
        }
    }
    let (world, runs) = (second.0.world.name().to_owned(), second.0.runs());
    Beside { world, runs, beyond: second.1.beyond.clone(), rows, not_run }
}

/// The argument of `--against`.
enum Against {
    Law(String),
    /// A file, and the record in it.
    Record(String, Recorded),
}

impl Against {
    fn of(text: &str) -> Result<Self, Failure> {
        let file = Path::new(text);
        if file.extension().is_none_or(|ending| ending != "json") {
            return Ok(Self::Law(text.to_owned()));
        }
        let bytes = scenario::text(file)?;
        let wrong = |e: serde_json::Error| {
            Failure::Input(format!("{text}:{}: {e}; give the verdicts.json of an evaluation", e.line()))
        };
        Ok(Self::Record(text.to_owned(), serde_json::from_str(&bytes).map_err(wrong)?))
    }
}

/// True if both are there, and are one file.
fn same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Refuses a record of another law or extent: verdicts differ then, although nothing has changed.
fn comparable(file: &str, recorded: &Recorded, subject: &Subject, extent: Extent) -> Result<(), Failure> {
    let now = subject.setting(false);
    // The order of parameters says nothing.
    let law = |setting: &str| Subject::named(setting).ok();
    if recorded.extent == extent && law(&recorded.setting) == law(&now) {
        return Ok(());
    }
    let shown = |setting: &str| match law(setting) {
        Some((name, table)) if table.len() == 1 => name,
        _ => setting.to_owned(),
    };
    Err(Failure::Input(format!(
        "--against: {file} is of `{}`, {}; this evaluation is of `{}`, {}: give a record of the same law and extent",
        shown(&recorded.setting),
        recorded.extent.word(),
        shown(&now),
        extent.word()
    )))
}

/// The command that gives the same page.
fn command(arguments: &arguments::Evaluate, extent: Extent) -> String {
    let law = arguments.law.as_deref().unwrap_or_default();
    let mut words =
        vec![program::name().to_owned(), "evaluate".to_owned(), quoted(law), format!("--{}", extent.word())];
    let named = |world: &WorldName| world.to_possible_value().map(|value| value.get_name().to_owned());
    let worlds: Vec<String> = match arguments.world[..] {
        [WorldName::Packets] => Vec::new(),
        _ => arguments.world.iter().filter_map(named).collect(),
    };
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let list = |values: &[String]| Some(values.join(",")).filter(|text| !text.is_empty());
    for (option, value) in [
        ("against", arguments.against.clone()),
        ("only", list(&arguments.only)),
        ("world", list(&worlds)),
        ("battery", path(&arguments.battery)),
        ("gate", path(&arguments.gate)),
    ] {
        words.extend(value.map(|value| format!("--{option} {}", quoted(&value))));
    }
    words.extend(arguments.processors.awake.then(|| "--awake".to_owned()));
    words.join(" ")
}

/// Leaves the requested criteria.
fn choose(criteria: &mut Vec<Criterion>, only: &[String]) -> Result<(), Failure> {
    if only.is_empty() {
        return Ok(());
    }
    if let Some(unknown) = only.iter().find(|id| criteria.iter().all(|criterion| criterion.id.get_ref() != *id)) {
        let known: Vec<&str> = criteria.iter().map(|criterion| criterion.id.get_ref().as_str()).collect();
        return Err(Failure::Input(format!(
            "--only: no criterion for this law is `{unknown}`; there are {}",
            known.join(", ")
        )));
    }
    criteria.retain(|criterion| only.contains(criterion.id.get_ref()));
    Ok(())
}

/// Judges every criterion.
fn judged(
    library: &Library,
    subject: &Subject,
    others: &[Subject],
    plan: &Plan<'_>,
    ran: &plan::Measured,
) -> Result<Evaluation, Failure> {
    let baselines: Vec<String> = others.iter().map(|other| other.label.clone()).collect();
    let mut criteria: Vec<Outcome> = Vec::new();
    for criterion in &library.criteria {
        criteria.push(if let Some(why) = subject.excused(criterion) {
            unmeasured(criterion, Verdict::NotApplicable, &why)
        } else if let Some(why) = &criterion.not_evaluated {
            unmeasured(criterion, Verdict::NotEvaluated, why)
        } else {
            let (law, name) = (subject.label.as_str(), subject.name.as_str());
            let judging = Judging { law, name, baselines: &baselines, scope: plan.scope };
            let mut outcome = judge(criterion, judging, |part| plan.runs_of(ran, part));
            identify(criterion, &mut outcome, plan, law);
            outcome
        });
    }
    let parts = library.criteria.iter().flat_map(|criterion| &criterion.parts);
    let analysed: BTreeSet<usize> = parts.filter(|part| part.analysis).filter_map(|part| plan.place_of(part)).collect();
    let analyses: usize = analysed.into_iter().map(|at| plan.batches[at].cells.len()).sum();
    let origin = machine::origin_in(plan.world)?;
    Ok(Evaluation {
        format: 1,
        law: subject.label.clone(),
        setting: subject.setting(false),
        source: subject.source(registry::laws()),
        baselines,
        extent: plan.scope.extent,
        seeds: plan.scope.looks().seeds().to_vec(),
        world: plan.world.name().to_owned(),
        runs: plan.runs() - analyses,
        analyses,
        version: origin.version,
        code: origin.code,
        criteria,
        beside: None,
    })
}

/// Names the law's first run of each cell by the hash of its scenario.
fn identify(criterion: &Criterion, outcome: &mut Outcome, plan: &Plan<'_>, law: &str) {
    for measured in &mut outcome.measures {
        let part = criterion.parts.iter().find(|part| part.name == measured.part || criterion.parts.len() == 1);
        let Some(at) = part.filter(|part| !part.analysis).and_then(|part| plan.place_of(part)) else { continue };
        let of = |labels: &Labels| -> Option<Labels> {
            let own = labels.iter().any(|(key, value)| key == "law" && value == law);
            own.then(|| labels.iter().filter(|(key, _)| key != "law" && key != "seed").cloned().collect())
        };
        let mut runs: BTreeMap<Labels, &str> = BTreeMap::new();
        for cell in &plan.batches[at].cells {
            if let Some(labels) = of(&cell.labels) {
                runs.entry(labels).or_insert(&cell.id);
            }
        }
        for cell in &mut measured.cells {
            cell.run = runs.get(&cell.labels).map(|id| (*id).to_owned());
        }
    }
}

/// The cells that get more seeds, by their setting and labels.
fn undecided(library: &Library, evaluation: &Evaluation, plan: &Plan<'_>) -> BTreeMap<(usize, Labels), usize> {
    let mut more: BTreeMap<(usize, Labels), usize> = BTreeMap::new();
    for (criterion, outcome) in library.criteria.iter().zip(&evaluation.criteria) {
        for (seeds, part, labels) in wants_more(criterion, outcome, plan.scope) {
            if let Some(at) = plan.place_of(part) {
                let most = more.entry((at, labels.to_vec())).or_default();
                *most = seeds.max(*most);
            }
        }
    }
    more
}

/// Writes the page for people, for a draft and for programs.
fn write(home: &Folder, evaluation: &Evaluation, command: &str, page: &Page) -> Result<(), Failure> {
    let value = serde_json::to_value(evaluation).map_err(|e| Failure::Bug(e.to_string()))?;
    home.put_file("evaluation.json", &record::bytes(&value)?)?;
    let value = serde_json::to_value(evaluation.recorded()).map_err(|e| Failure::Bug(e.to_string()))?;
    home.put_file("verdicts.json", &record::bytes(&value)?)?;
    home.put_file("evaluation.md", markdown::write(evaluation, command).as_bytes())?;
    home.put_file("evaluation.html", html::write(page).as_bytes())?;
    home.put_file("cells.parquet", &record::table(&table(evaluation))?)?;
    Ok(())
}

/// The part of the page that a terminal shows: the table of all criteria, and the differences between worlds.
fn short(page: &Page) -> Page {
    let shown = |(at, section): &(usize, &Section)| *at == 0 || section.label == page::BESIDE;
    let sections = page.sections.iter().enumerate().filter(shown).map(|(_, section)| section.clone()).collect();
    Page { sections, ..page.clone() }
}

/// `--list`.
fn list(library: &Library, json: bool) -> Result<Done, Failure> {
    #[derive(serde::Serialize)]
    struct Listed<'a> {
        id: &'a str,
        title: &'a str,
        document: &'a str,
        section: &'a str,
        level: &'a str,
        scenarios: Vec<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        not_evaluated: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        not_applicable: Option<&'a str>,
    }
    let listed: Vec<Listed<'_>> = library
        .criteria
        .iter()
        .map(|criterion| Listed {
            id: criterion.id.get_ref(),
            title: &criterion.title,
            document: &criterion.document,
            section: &criterion.section,
            level: &criterion.level,
            scenarios: criterion.scenarios(),
            not_evaluated: criterion.not_evaluated.as_deref(),
            not_applicable: criterion.not_applicable.as_deref(),
        })
        .collect();
    if json {
        terminal::say_json(&listed)?;
        return Ok(Done::Well);
    }
    let rows = listed.into_iter().map(|one| {
        let runs = match (one.not_evaluated, one.not_applicable) {
            (Some(why), _) => format!("not evaluated: {why}"),
            (None, Some(why)) => format!("not applicable: {why}"),
            (None, None) => one.scenarios.join(", "),
        };
        let place = format!("{} {}", one.document, one.section);
        vec![one.id.into(), one.title.into(), place.trim_end().into(), one.level.into(), runs]
    });
    let columns = [("id", false), ("criterion", false), ("document", false), ("level", false), ("scenarios", false)];
    terminal::say(pages::table("", &columns, rows.collect()))?;
    Ok(Done::Well)
}
