//! `penstock break`: scenarios in which a law fails.

mod baselines;
mod library;
mod linux;
#[cfg(test)]
mod on_record;
mod replay;
mod runner;

use std::sync::Arc;

use penstock_evaluation::{Subject, SubjectRole};
use penstock_law::quantity::Time;
use penstock_record::hexadecimal;
use penstock_report::html;
use penstock_report::page::Page;
use penstock_scenario::quantity;
use penstock_search::page::{Found, Report, boundary, headline, page};
use penstock_search::{Bench, Bounds, Contender, Court, Draft, Effort, Kind, Objective, Space, failures, hunt};
use serde::Serialize;
use sha2::{Digest, Sha256};
use toml::Value;

use crate::arguments;
use crate::failure::{Done, Failure};
use crate::folder::{Folder, Others, slug, slug_with_hash};
use crate::program::quoted;
use crate::{interrupt, jobs, machine, of_quic, pages, program, record, registry, scenario, terminal};
use baselines::Laws;
use runner::{Pool, note_phase};

/// The default number of failures of an objective, at most.
const FAILURES: usize = 3;

/// Runs the command.
pub(crate) fn search(arguments: &arguments::Break) -> Result<Done, Failure> {
    if arguments.list {
        return list(arguments.output.json);
    }
    let awake = arguments.processors.awake;
    let linux = arguments.world == arguments::WorldName::Linux || arguments.confirm.is_some();
    scenario::refuse_awake(awake, linux, "--confirm linux")?;
    let world = scenario::one_world(arguments.world, awake)?;
    let threads = jobs::threads(arguments.output.jobs.map(usize::from));
    if let Some(folder) = &arguments.replay {
        interrupt::watch()?;
        return replay::replay(
            folder,
            arguments.long,
            (world.as_ref(), arguments.world),
            threads,
            arguments.output.json,
        );
    }
    let law = arguments.law.as_deref().unwrap_or_default();
    let subject = Subject::parse(law, registry::laws()).map_err(Failure::Input)?;
    of_quic::refuse("break", &subject.name, arguments.world)?;
    if subject.role == SubjectRole::Conditioner {
        return Err(Failure::Input(format!(
            "`{law}` is a conditioner; only a controller or an AQM can be searched for failures"
        )));
    }
    let plain = space(arguments)?;
    let kinds = kinds(arguments, subject.role)?;
    let laws = Laws::new(subject, arguments, &kinds)?;
    if let Some(threshold) = arguments.threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
        return Err(Failure::Input(format!("--threshold: {threshold} is not from 0 to 1")));
    }
    let out = Folder::open(&arguments.output.out)?;
    interrupt::watch()?;
    let home = out.resume(&name(arguments, &laws, &plain), Others::Wait)?;
    let mut pool = Pool::open(&home, world.as_ref(), threads)?;
    let effort = Effort {
        budget: (arguments.budget as usize / kinds.len()).max(1),
        seed: arguments.seed,
        plain: arguments.plain_sampler,
        first: arguments.first,
    };
    let mut reports = Vec::new();
    for kind in &kinds {
        let report = one(arguments, &laws, *kind, &plain, effort, &mut pool)?;
        terminal::note(format!("{}: {}", kind.word(), report.conclusion(&plain)));
        reports.push(report);
    }
    pool.close()?;
    if reports.iter().all(|report| report.refused.is_some()) {
        home.remove_if_empty();
        let why: Vec<&str> = reports.iter().filter_map(|report| report.refused.as_deref()).take(1).collect();
        return Err(Failure::Machine(format!("nothing can be searched: {}", why.join("; "))));
    }
    let command = command(arguments, &laws);
    let Laws { tested: contender, more, .. } = &laws;
    let mut shown = page(&contender.name, &plain, &reports, &command, &machine::facts(), registry::laws());
    for report in &reports {
        for found in &report.failures {
            home.put_file(&found.file, found.text.as_bytes())?;
            let mut bounds = Bounds::of(&found.failure, laws.given());
            bounds.world = (world.name() != "packets").then(|| world.name().to_owned());
            bounds.threshold = arguments.threshold.filter(|threshold| *threshold != report.kind.threshold());
            let bounds = bounds.text().map_err(Failure::Bug)?;
            home.put_file(&found.file.replace(".toml", ".bounds.toml"), bounds.as_bytes())?;
        }
    }
    if arguments.confirm.is_some() {
        shown.sections.extend(linux::confirm(&laws, &reports, awake)?);
    }
    home.put_file("report.html", html::write(&shown).as_bytes())?;
    let value = serde_json::to_value(summary(contender, more, &plain, &reports, &command)).map_err(Failure::input)?;
    home.put_file("break.json", &record::bytes(&value)?)?;
    if arguments.output.json {
        terminal::say_json(&value)?;
    } else {
        terminal::say(terminal::look().page(&first(&shown)))?;
        for report in &reports {
            for found in &report.failures {
                terminal::say(headline(&found.failure, &contender.name))?;
                terminal::place("file", record::shown(home.path(), &found.file))?;
            }
        }
        terminal::place("report", record::shown(home.path(), "report.html"))?;
    }
    let any = reports.iter().any(|report| !report.failures.is_empty());
    Ok(if any { Done::Differs } else { Done::Well })
}

/// Searches for failures of one kind.
fn one(
    arguments: &arguments::Break,
    laws: &Laws,
    kind: Kind,
    plain: &Space,
    effort: Effort,
    pool: &mut Pool<'_>,
) -> Result<Report, Failure> {
    let Laws { subject, tested: contender, more } = laws;
    let objective = library::objective(kind)?;
    let space = prepared(plain, &objective, subject.role)?;
    let bench = bench(kind, subject.role, pool.world_name()).beside(more.clone());
    let threshold = arguments.threshold.unwrap_or_else(|| kind.threshold());
    let varied = space.keys();
    let court = Court { bench: &bench, law: contender, limits: &space.limits, threshold, varied: &varied };
    let mut report = Report {
        kind,
        words: [objective.title.clone(), objective.about.clone()],
        phases: Vec::new(),
        first_candidate: None,
        threshold,
        failures: Vec::new(),
        dismissed: Vec::new(),
        most: arguments.failures,
        refused: None,
    };
    // What cannot run at all says so once.
    let start = space.corpus().into_iter().next().map(|genome| space.draft(&genome, Time(60 * Time::PER_SECOND)));
    if let Some(start) = start {
        let scenario = bench.scenario(&bench.with(&start, contender), 1);
        let scenario = scenario.map_err(|why| Failure::Input(format!("--space {}: {why}", arguments.space)))?;
        if let Some(why) = pool.refusal(&scenario) {
            report.refused = Some(why.lines().next().unwrap_or_default().to_owned());
            return Ok(report);
        }
        // A law that was asked for is not left out in silence.
        for law in more.iter().filter(|_| !kind.goes_by_incumbents()) {
            let scenario = bench.scenario(&bench.with(&start, law), 1);
            let scenario = scenario.map_err(|why| Failure::Input(format!("--baseline: `{}`: {why}", law.name)))?;
            if let Some(why) = pool.refusal(&scenario) {
                let why = why.lines().next().unwrap_or_default();
                report.refused = Some(format!("the baseline `{}`: {why}", law.name));
                return Ok(report);
            }
        }
    }
    let hunted = hunt(&space, &court, effort, pool)?;
    for phase in &hunted.phases {
        note_phase(kind, phase);
    }
    for candidate in hunted.candidates.iter().take(arguments.failures) {
        let score = candidate.fitness;
        terminal::detail(format!("candidate with score {score:.3}\n{}", candidate.draft.text()));
    }
    report.phases = hunted.phases;
    report.first_candidate = hunted.first_candidate;
    if arguments.failures > 0 && hunted.candidates.iter().any(|candidate| candidate.fitness >= threshold) {
        terminal::note(format!("{}: the best candidates are confirmed on fresh seeds and shrunk", kind.word()));
    }
    let (found, dismissed) = failures(&court, &hunted.candidates, arguments.failures, pool)?;
    report.dismissed = dismissed;
    for failure in found {
        let text = file(&command(arguments, laws), contender, &bench, &failure);
        let hash = hexadecimal(&Sha256::digest(bench.with(&failure.draft, contender).text()));
        let name = format!("failure-{}-{}.toml", kind.word(), &hash[..8]);
        report.failures.push(Found { failure, text, file: name });
    }
    Ok(report)
}

/// The space of an objective for a law in this role.
fn prepared(plain: &Space, objective: &Objective, role: SubjectRole) -> Result<Space, Failure> {
    let mut space = plain.clone();
    objective.prepare(&mut space).map_err(Failure::input)?;
    if role == SubjectRole::Aqm {
        space.fix("links.bottleneck.aqm");
    }
    if matches!(objective.objective, Kind::Recover | Kind::Stall | Kind::Timid | Kind::Unsafe) {
        space.limits.outage = space.limits.outage.max(Time(60 * Time::PER_SECOND));
    }
    Ok(space)
}

/// Makes the scenarios of an objective for the world of that name.
fn bench(kind: Kind, role: SubjectRole, world: &str) -> Bench {
    let bench = Bench::new(Arc::clone(registry::laws()), kind, role);
    if world == "fluid" { bench.without_packets() } else { bench }
}

/// The text of a failure's file: a scenario, and above it the command, the numbers and the mechanism.
fn file(command: &str, contender: &Contender, bench: &Bench, failure: &penstock_search::Failure) -> String {
    let mut draft: Draft = bench.with(&failure.draft, contender);
    let (law, kind) = (&contender.name, failure.kind.word());
    draft.set("title", Value::from(format!("break: {law}, {kind}")));
    let confirmed = &failure.confirmed;
    let hints: Vec<&str> = failure.hints.iter().map(|hint| hint.words()).collect();
    let hints = if hints.is_empty() { "no rule points to one".to_owned() } else { hints.join("; ") };
    let ends =
        failure.margin.as_ref().and_then(boundary).map(|ends| format!("Boundary: {ends}.\n")).unwrap_or_default();
    let [shown, of] = confirmed.seeds;
    let header = format!(
        "{command}\n{}; score {:.2} (at least {:.2}) over {of} seeds, {shown} show it.\nMechanism: {hints}.\n{ends}",
        headline(failure, law),
        confirmed.score,
        confirmed.score_at_least,
    );
    // A value of the law may have a line break in it.
    let header: Vec<&str> = header.lines().collect();
    format!("# {}\n{}", header.join("\n# "), draft.compact().text())
}

/// The requested space.
fn space(arguments: &arguments::Break) -> Result<Space, Failure> {
    let mut space = library::space(&arguments.space)?;
    if let Some(jitter) = &arguments.jitter {
        space.limits.jitter = quantity::time(jitter).map_err(|e| Failure::Input(format!("--jitter: {e}")))?;
        space.limits.aggregation = space.limits.jitter;
    }
    if let Some(loss) = arguments.loss {
        if !(0.0..1.0).contains(&loss) {
            return Err(Failure::Input(format!("--loss: {loss} is not a share from 0 to below 1")));
        }
        space.limits.loss = loss;
    }
    if let Some(swing) = arguments.swing {
        if !(swing.is_finite() && swing >= 1.0) {
            return Err(Failure::Input(format!("--swing: {swing} is not a factor of 1 or more")));
        }
        space.limits.swing = swing;
    }
    Ok(space)
}

/// The chosen objectives: by default all that a law in this role can fail.
fn kinds(arguments: &arguments::Break, role: SubjectRole) -> Result<Vec<Kind>, Failure> {
    if arguments.objective.is_empty() {
        let fits = |kind: &Kind| {
            role == SubjectRole::Controller || !matches!(kind, Kind::Coexist | Kind::Harm | Kind::Timid | Kind::Unsafe)
        };
        return Ok(Kind::ALL.into_iter().filter(fits).collect());
    }
    let named = |name: &String| {
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        let why = || Failure::Input(format!("--objective: no objective is `{name}`; there are {}", known.join(", ")));
        Kind::named(name).ok_or_else(why)
    };
    arguments.objective.iter().map(named).collect()
}

/// The name of the directory: one for each search that gives other files.
fn name(arguments: &arguments::Break, laws: &Laws, space: &Space) -> String {
    let subject = &laws.subject;
    let law = if subject.is_plain() { subject.name.clone() } else { slug_with_hash(&subject.setting(false)) };
    let mut words = vec!["break".to_owned(), law, slug(&space.name)];
    words.extend(arguments.objective.iter().cloned());
    words.extend(baselines::words(&laws.more));
    words.extend(arguments.jitter.iter().map(|jitter| format!("jitter {jitter}")));
    words.extend(arguments.loss.iter().map(|loss| format!("loss {loss}")));
    words.extend(arguments.swing.iter().map(|swing| format!("swing {swing}")));
    words.extend(arguments.threshold.iter().map(|threshold| format!("threshold {threshold}")));
    if arguments.plain_sampler {
        words.push("plain".to_owned());
    }
    if arguments.first {
        words.push("first".to_owned());
    }
    if arguments.failures != FAILURES {
        words.push(format!("{} failures", arguments.failures));
    }
    if !matches!(arguments.world, arguments::WorldName::Packets) {
        words.push(scenario::world(arguments.world).map_or_else(|_| String::new(), |world| world.name().to_owned()));
    }
    words.push(format!("{} seed{}", arguments.budget, arguments.seed));
    slug_with_hash(&words.join(" "))
}

/// The command that gives the same files.
fn command(arguments: &arguments::Break, laws: &Laws) -> String {
    let mut words = vec![program::name().to_string(), "break".to_owned(), quoted(laws.given())];
    if !arguments.objective.is_empty() {
        words.push(format!("--objective {}", quoted(&arguments.objective.join(","))));
    }
    if !laws.more.is_empty() {
        let names: Vec<&str> = laws.more.iter().map(|law| law.name.as_str()).collect();
        words.push(format!("--baseline {}", quoted(&names.join(","))));
    }
    words.push(format!("--space {}", quoted(&arguments.space)));
    words.extend(arguments.jitter.iter().map(|jitter| format!("--jitter {}", quoted(jitter))));
    words.extend(arguments.loss.iter().map(|loss| format!("--loss {loss}")));
    words.extend(arguments.swing.iter().map(|swing| format!("--swing {swing}")));
    words.extend(arguments.threshold.iter().map(|threshold| format!("--threshold {threshold}")));
    words.push(format!("--budget {} --seed {}", arguments.budget, arguments.seed));
    if arguments.failures != FAILURES {
        words.push(format!("--failures {}", arguments.failures));
    }
    if let (false, Ok(world)) =
        (matches!(arguments.world, arguments::WorldName::Packets), scenario::world(arguments.world))
    {
        words.push(format!("--world {}", world.name()));
    }
    if arguments.plain_sampler {
        words.push("--plain-sampler".to_owned());
    }
    if arguments.first {
        words.push("--first".to_owned());
    }
    words.join(" ")
}

/// `break.json`.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    format: u64,
    law: &'a str,
    setting: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    baselines: Vec<Baseline<'a>>,
    space: &'a str,
    command: &'a str,
    objectives: Vec<Row<'a>>,
}

/// A law of `--baseline` in `break.json`.
#[derive(Debug, Serialize)]
struct Baseline<'a> {
    law: &'a str,
    setting: &'a str,
}

/// An objective in `break.json`.
#[derive(Debug, Serialize)]
struct Row<'a> {
    objective: Kind,
    threshold: f64,
    evaluations: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_candidate_evaluations: Option<usize>,
    phases: &'a [penstock_search::Phase],
    failures: Vec<Entry<'a>>,
    dismissed: &'a [penstock_search::Confirmed],
    conclusion: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a str>,
}

/// A failure in `break.json`.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    file: &'a str,
    headline: String,
    confirmed: &'a penstock_search::Confirmed,
    references: &'a [String],
    hints: &'a [penstock_search::Hint],
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<&'a penstock_search::Margin>,
    shrinking: usize,
}

fn summary<'a>(
    law: &'a Contender,
    more: &'a [Contender],
    space: &'a Space,
    reports: &'a [Report],
    command: &'a str,
) -> Summary<'a> {
    let entry = |found: &'a Found| Entry {
        file: &found.file,
        headline: headline(&found.failure, &law.name),
        confirmed: &found.failure.confirmed,
        references: &found.failure.references,
        hints: &found.failure.hints,
        margin: found.failure.margin.as_ref(),
        shrinking: found.failure.shrinking,
    };
    let row = |report: &'a Report| Row {
        objective: report.kind,
        threshold: report.threshold,
        evaluations: report.evaluations(),
        first_candidate_evaluations: report.first_candidate,
        phases: &report.phases,
        failures: report.failures.iter().map(entry).collect(),
        dismissed: &report.dismissed,
        conclusion: report.conclusion(space),
        refused: report.refused.as_deref(),
    };
    Summary {
        format: 1,
        law: &law.name,
        setting: &law.setting,
        baselines: more.iter().map(|law| Baseline { law: &law.name, setting: &law.setting }).collect(),
        space: &space.name,
        command,
        objectives: reports.iter().map(row).collect(),
    }
}

/// The part of the page that a terminal shows: the table of all objectives.
fn first(page: &Page) -> Page {
    Page { sections: page.sections.iter().take(1).cloned().collect(), ..page.clone() }
}

/// `--list`.
fn list(json: bool) -> Result<Done, Failure> {
    #[derive(Serialize)]
    struct Listed {
        kind: &'static str,
        name: String,
        title: String,
    }
    let mut listed = Vec::new();
    for kind in Kind::ALL {
        let title = library::objective(kind)?.title;
        listed.push(Listed { kind: "objective", name: kind.word().to_owned(), title });
    }
    for name in library::spaces() {
        let title = library::space(name)?.title;
        listed.push(Listed { kind: "space", name: name.to_owned(), title });
    }
    if json {
        terminal::say_json(&listed)?;
        return Ok(Done::Well);
    }
    let rows = listed.into_iter().map(|one| vec![one.kind.into(), one.name, one.title]).collect();
    terminal::say(pages::table("", &[("", false), ("name", false), ("what", false)], rows))?;
    Ok(Done::Well)
}
