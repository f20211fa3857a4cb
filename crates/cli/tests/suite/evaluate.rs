//! `penstock evaluate`: a battery of two criteria, and that of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::bench::Bench;
use penstock_evaluation::{Criterion, Extent, Measured};
use serde_json::Value;

mod figures;
mod parts;
mod status;
mod worst;

const SCENARIO: &str = r#"
format   = 1
duration = "8 s"
warmup   = "2 s"
packet   = { wire = "1500 B", payload = "1448 B" }
[dynamics]
[links.bottleneck]
from   = "a"
to     = "b"
rate   = "5 Mbit/s"
delay  = "10 ms"
buffer = "1 bdp"
duplex = true
[flows.test]
count  = 2
from   = "a"
to     = "b"
rtt    = "40 ms"
cc     = { law = "newreno" }
sender = { profile = "linux" }
[sweep]
"links.bottleneck.buffer" = ["1 bdp", "4 bdp"]
"#;

const CRITERION: &str = r#"
format   = 1
id       = "EV-04"
title    = "Bufferbloat"
battery  = "sender"
document = "RFC 9743"
section  = "5.1.2"
level    = "MUST consider"
requirement = "Queues stay short."
scenario = "flows"

[[measure]]
name  = "standing-queue"
title = "standing queue"
path  = "links.bottleneck.dynamics.standing_queue_s"
bound = { at_most = 10.0, source = "ours" }

[[measure]]
name  = "used"
title = "utilization"
path  = "links.bottleneck.utilization"
worst = "smallest"

[figure]
x       = "links.bottleneck.buffer"
measure = "standing-queue"
"#;

const OTHER: &str = r#"
format   = 1
id       = "EV-30"
title    = "Multipath"
battery  = "sender"
document = "RFC 9743"
section  = "7.10"
level    = "MUST"
requirement = "Several paths."
not_applicable = "no law of Penstock sends over several paths"
"#;

fn battery(criterion: &str) -> Bench {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("battery/scenarios")).unwrap();
    bench.write("battery/EV-04.toml", criterion).write("battery/EV-30.toml", OTHER);
    bench.write("battery/scenarios/flows.toml", SCENARIO);
    bench
}

fn evaluate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["evaluate", "vegas", "--quick", "--battery", "battery"], more].concat()
}

/// The files of an evaluation, by name.
fn pages(bench: &Bench, law: &str) -> Vec<(String, Vec<u8>)> {
    let home = bench.path(&format!("out/evaluation-{law}-quick"));
    let names = ["cells.parquet", "evaluation.html", "evaluation.json", "evaluation.md", "verdicts.json"];
    assert_eq!(bench.names(&format!("out/evaluation-{law}-quick")), [&names[..], &["worst-cells"]].concat());
    let names = [&names[..], &["worst-cells/EV-04.toml"]].concat();
    names.iter().map(|name| ((*name).to_owned(), fs::read(home.join(name)).unwrap())).collect()
}

/// The words of a text, without the ends of its lines.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_law_is_measured_beside_the_baselines() {
    let bench = battery(CRITERION);
    let out = bench.well(&evaluate(&[]));
    assert!(out.contains("EV-04") && out.contains("meets") && out.contains("not-applicable"), "{out}");
    let pages = pages(&bench, "vegas");
    let evaluation = json(&pages[2].1);
    // Two buffers, three seeds, three laws.
    assert_eq!((&evaluation["runs"], &evaluation["criteria"][0]["verdict"]), (&18.into(), &"meets".into()));
    let cells = evaluation["criteria"][0]["measures"][0]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    let mean = |cell: &Value, who: &str| {
        let numbers = if who == "vegas" { &cell["law"] } else { &cell["baselines"][who] };
        numbers["mean"].as_f64().unwrap()
    };
    // A long buffer has a long standing queue of Reno's, and not of Vegas's.
    assert!(mean(&cells[1], "newreno") > 2.0 * mean(&cells[0], "newreno"), "{cells:?}");
    assert!(mean(&cells[1], "vegas") < 0.5 * mean(&cells[1], "newreno"), "{cells:?}");
    let draft = String::from_utf8(pages[3].1.clone()).unwrap();
    assert!(draft.lines().all(|line| line.chars().count() <= 72), "{draft}");
    assert!(!draft.contains('['), "kramdown takes square brackets for links: {draft}");
    let words = on_one_line(&draft);
    let open = "## Undecided, not evaluated, or not applicable 1. EV-30, Multipath, not-applicable: no law of Penstock sends over";
    assert!(words.contains("| EV-04 | Bufferbloat | meets |") && words.contains(open), "{draft}");
}

/// A battery may come from anybody, as a paper may.
#[test]
fn a_link_out_of_the_folder_of_a_battery_is_not_followed() {
    for file in ["EV-04.toml", "scenarios/flows.toml"] {
        let bench = battery(CRITERION);
        bench.write("shadow", "root:$6$secret:20228:0:99999:7:::\n");
        let path = bench.path("battery").join(file);
        fs::remove_file(&path).unwrap();
        symlink(bench.path("shadow"), &path).unwrap();
        let ended = bench.run(&evaluate(&[]));
        assert_eq!(ended.status, 2, "{file}: {}", ended.err);
        assert!(ended.err.contains("outside of the battery's folder"), "{file}: {}", ended.err);
        assert!(!ended.err.contains("secret") && !ended.out.contains("secret"), "{file}: {} {}", ended.err, ended.out);
    }
}

/// Lost files are made again; files that are there are not.
#[test]
fn an_evaluation_that_lost_records_gives_the_same_bytes() {
    let bench = battery(CRITERION);
    bench.well(&evaluate(&[]));
    let before = pages(&bench, "vegas");
    let home = bench.path("out/evaluation-runs/flows");
    let mut records: Vec<String> = bench.names("out/evaluation-runs/flows");
    records.retain(|name| home.join(name).is_dir());
    assert_eq!(records.len(), 18);
    fs::remove_dir_all(home.join(&records[3])).unwrap();
    fs::write(home.join(&records[7]).join("summary.json"), "{}").unwrap();
    bench.well(&evaluate(&["--jobs", "1"]));
    assert_eq!(pages(&bench, "vegas"), before);
    // The baselines are there already for another law.
    let second = bench.run(&["evaluate", "fast", "--quick", "--battery", "battery", "--plain"]);
    assert!(second.err.contains("12 of 18 cells are finished"), "{}", second.err);
}

/// Killed when so many runs are finished: it goes on each time, and the page is the same.
#[test]
fn an_evaluation_that_is_killed_five_times_gives_the_same_bytes() {
    let long = || {
        let bench = battery(CRITERION);
        bench.write("battery/scenarios/flows.toml", &SCENARIO.replace("\"8 s\"", "\"60 s\""));
        bench
    };
    let (bench, whole) = (long(), long());
    whole.well(&evaluate(&[]));
    let runs = bench.path("out/evaluation-runs/flows");
    let finished = || {
        let all = fs::read_dir(&runs).into_iter().flatten().flatten();
        all.filter(|run| {
            !run.file_name().as_encoded_bytes().starts_with(b".") && run.path().join("record.toml").is_file()
        })
        .count()
    };
    for records in [1, 4, 8, 12, 16] {
        let mut child =
            bench.command(&evaluate(&["--jobs", "1"])).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while finished() < records {
            assert!(child.try_wait().unwrap().is_none(), "it ended with {} runs", finished());
            thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success() && finished() < 18, "{} runs of 18", finished());
    }
    bench.well(&evaluate(&[]));
    assert_eq!(pages(&bench, "vegas"), pages(&whole, "vegas"));
}

#[test]
fn shards_make_the_page_together() {
    let bench = battery(CRITERION);
    let first = bench.well(&evaluate(&["--shard", "1/2"]));
    assert!(first.contains("9 of 18 runs are finished"), "{first}");
    bench.well(&evaluate(&["--shard", "2/2"]));
    let whole = battery(CRITERION);
    whole.well(&evaluate(&[]));
    assert_eq!(pages(&bench, "vegas"), pages(&whole, "vegas"));
}

/// A number that no run has is undecided, of the criterion and of a gate, and the page says so.
#[test]
fn a_number_that_no_run_has_decides_nothing() {
    let bench =
        battery(&CRITERION.replace("links.bottleneck.dynamics.standing_queue_s", "links.bottleneck.price_mean"));
    bench.write("gate.toml", "[gate]\n\"EV-04.standing-queue\" = [0.0, 9.0]\n");
    let ended = bench.run(&evaluate(&["--gate", "gate.toml"]));
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("EV-04.standing-queue is undecided in 2 of 2 cells"), "{}", ended.err);
    let draft = fs::read_to_string(bench.path("out/evaluation-vegas-quick/evaluation.md")).unwrap();
    assert!(draft.contains("in none of 3 runs") && draft.contains("1 undecided"), "{draft}");
}

/// A law with parameters is compared with the plain law of its name, and not with itself.
#[test]
fn a_law_with_parameters_has_the_plain_one_as_a_baseline() {
    let bench = battery(&CRITERION.replace("at_most = 10.0", "at_most_times = 1.0, of = \"cubic\""));
    let law = "{ law = \"cubic\", beta = 0.9 }";
    let ended = bench.run(&["evaluate", law, "--quick", "--battery", "battery", "--json"]);
    let evaluation = json(ended.out.as_bytes());
    assert_eq!(evaluation["baselines"], serde_json::json!(["newreno", "cubic"]), "{}", ended.err);
    assert!(evaluation["law"].as_str().unwrap().contains("beta"), "{}", evaluation["law"]);
    let cell = &evaluation["criteria"][0]["measures"][0]["cells"][0];
    assert_ne!(cell["law"]["mean"], cell["baselines"]["cubic"]["mean"]);
    let draft = bench
        .names("out")
        .into_iter()
        .find(|name| name.starts_with("evaluation-") && name.ends_with("-quick"))
        .unwrap();
    let draft = fs::read_to_string(bench.path(&format!("out/{draft}/evaluation.md"))).unwrap();
    assert!(on_one_line(&draft).contains(&format!("evaluate '{law}' --quick")), "{draft}");
}

/// No document has criteria for conditioners: each is on the page with the reason, and nothing runs.
#[test]
fn a_conditioner_has_every_criterion_with_a_reason() {
    let bench = battery(CRITERION);
    let ended = bench.run(&["evaluate", "token-bucket", "--quick", "--battery", "battery", "--json"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let evaluation = json(ended.out.as_bytes());
    assert_eq!((&evaluation["runs"], &evaluation["law"]), (&0.into(), &"token-bucket".into()));
    let criteria = evaluation["criteria"].as_array().unwrap();
    let found: Vec<[&str; 3]> =
        criteria.iter().map(|one| ["id", "verdict", "why"].map(|key| one[key].as_str().unwrap())).collect();
    assert_eq!(
        found,
        [
            ["EV-04", "not-applicable", "`token-bucket` is a conditioner, and the criterion is about senders"],
            ["EV-30", "not-applicable", "no law of Penstock sends over several paths"],
        ]
    );
    assert!(bench.path("out/evaluation-token-bucket-quick/evaluation.html").is_file());
}

/// A bound that excepts a law leaves its number reported.
#[test]
fn a_bound_does_not_bind_what_it_excepts() {
    let bench = battery(&CRITERION.replace("at_most = 10.0", "at_most = 1e-9, except = [\"vegas\"]"));
    let ended = bench.run(&evaluate(&["--json"]));
    assert_eq!(ended.status, 0, "{}", ended.err);
    let measured = &json(ended.out.as_bytes())["criteria"][0]["measures"][0];
    assert_eq!((&measured["verdict"], &measured["bound"]), (&"reported".into(), &Value::Null));
}

/// Half of the measured time has one flow, and half has two: the halves differ, and the cell has a star. Without that, it has none.
#[test]
fn halves_that_differ_have_a_star() {
    let drifts = |stop: &str| {
        let bench = battery(CRITERION);
        let scenario = SCENARIO.replace("[sweep]", &format!("{stop}\n[sweep]")).replace("\"8 s\"", "\"40 s\"");
        bench.write("battery/scenarios/flows.toml", &scenario.replace("count  = 2", "count  = 1"));
        let ended = bench.run(&evaluate(&["--json"]));
        let cell = json(ended.out.as_bytes())["criteria"][0]["measures"][0]["cells"][0].clone();
        cell["drifts"] == true
    };
    let second = "[flows.load]\nfrom = \"a\"\nto = \"b\"\nrtt = \"40 ms\"\nstart = \"11 s\"\ncc = { law = \"cbr\", rate = \"4 Mbit/s\" }";
    assert!(drifts(second));
    assert!(!drifts(""));
}

#[test]
fn what_is_wrong_is_said_before_any_run() {
    for (from, to, words) in [
        ("scenario = \"flows\"", "scenario = \"floes\"", "floes.toml"),
        (
            "scenario = \"flows\"",
            "scenario = \"flows\"\ncells = { quick = { path = \"P\" } }",
            "no cell of `flows` has `path`",
        ),
        (
            "scenario = \"flows\"",
            "scenario = \"flows\"\ncells = { linux = { path = \"P\" } }",
            "no cell of `flows` has `path`",
        ),
        ("id       = \"EV-04\"", "id       = \"EV-05\"", "rename the file to EV-05.toml"),
        ("[figure]", "[figur]", "unknown field `figur`"),
        (
            "bound = { at_most = 10.0,",
            "bound = { at_most_times = 2.0, of = \"nosuch\",",
            "EV-04.toml, line 16: measure `standing-queue`: `of` is `nosuch`, which is no baseline of this battery; it is one of \
             newreno, cubic",
        ),
        (
            "bound = { at_most = 10.0,",
            "bound = { at_least_of_largest = 0.9, along = \"nosuch\",",
            "EV-04.toml, line 16: measure `standing-queue`: `along`: no cell of `flows` has `nosuch`; its axes are \
             links.bottleneck.buffer",
        ),
        (
            "standing_queue_s",
            "standing_queu_s",
            "EV-04.toml, line 15: measure `standing-queue`: `path` is `links.bottleneck.dynamics.standing_queu_s`: `dynamics` has \
             no `standing_queu_s`; it may have ",
        ),
        (
            "links.bottleneck.utilization",
            "links.bottlenek.utilization",
            "`flows` has no `bottlenek` among its links; it has ",
        ),
        ("links.bottleneck.utilization", "links.bottleneck", "`bottleneck` is not a number"),
        (
            "worst = \"smallest\"",
            "worst = \"smallest\"\nlaws = [\"vegass\"]",
            "EV-04.toml, line 23: measure `used`: `laws`: no law has the name `vegass`: did you mean `vegas`?",
        ),
        (
            "worst = \"smallest\"",
            "worst = \"smallest\"\ncells = { nosuch = \"1\" }",
            "EV-04.toml, line 23: measure `used`: `cells`: no cell of `flows` has `nosuch`; its axes are",
        ),
        (
            "x       = \"links.bottleneck.buffer\"",
            "x       = \"nosuch\"",
            "EV-04.toml, line 25: figure: `x`: no cell of `flows` has `nosuch`; its axes are links.bottleneck.buffer, or `law`",
        ),
    ] {
        let bench = battery(&CRITERION.replacen(from, to, 1));
        let ended = bench.run(&evaluate(&[]));
        assert!(ended.status == 2 && ended.err.contains(words), "{to}: {} {}", ended.status, ended.err);
        assert!(!bench.path("out/evaluation-runs/flows").exists(), "{to}");
    }
    let bench = battery(CRITERION);
    bench.write("gate.toml", "[gate]\n\"EV-04.usd\" = [0.5, 2.0]\n");
    bench.write("other.toml", "[gate]\n\"EV-30.x\" = [0.5, 2.0]\n");
    bench.write("none.toml", "[gate]\n\"EV-99.x\" = [0.5, 2.0]\n");
    bench.write("queue.toml", "[gate]\n\"AQ-04.used\" = [0.5, 2.0]\n");
    bench.write("empty.toml", "[gate]\n");
    bench.write("text.toml", "[gate]\n\"EV-16.x\" = [0.5, 2.0]\n");
    for (arguments, words) in [
        (&["evaluate", "vgas"][..], "no law has the name `vgas`"),
        (&["evaluate", "vegas", "--only", "EV-99"], "no criterion for this law is `EV-99`"),
        (&["evaluate", "vegas", "--battery", "nowhere"], "cannot read nowhere"),
        (
            &["evaluate", "vegas", "--against", "codel"],
            "`vegas` are not both controllers, both AQMs or both conditioners",
        ),
        (&["evaluate", "vegas", "--against", "gate.json"], "cannot read gate.json"),
        (
            &["evaluate", "vegas", "--battery", "battery", "--gate", "gate.toml"],
            "gate.toml:2: EV-04.usd: EV-04 has no measure `usd`; it has standing-queue, used",
        ),
        (
            &["evaluate", "vegas", "--battery", "battery", "--gate", "other.toml"],
            "other.toml:2: EV-30.x: EV-30 has no numbers here: no law of Penstock sends over several paths",
        ),
        (
            &["evaluate", "vegas", "--battery", "battery", "--only", "EV-30", "--gate", "gate.toml"],
            "gate.toml:2: EV-04.usd: `--only` leaves out EV-04",
        ),
        (&["evaluate", "vegas", "--battery", "battery", "--gate", "none.toml"], "there is no criterion `EV-99`"),
        (&["evaluate", "vegas", "--gate", "queue.toml"], "AQ-04 is not about laws like `vegas`"),
        (&["evaluate", "vegas", "--gate", "empty.toml"], "empty.toml:1: `[gate]` has no bound; write one, as in"),
        (&["evaluate", "vegas", "--gate", "text.toml"], "EV-16 has no numbers here: a text of the author"),
        (&["evaluate", "{ law = \"vegas\", alpha = 3 }"], "alpha"),
        (&["evaluate", "vegas", "--world", "linux,packets"], "name one world, or `packets,linux`"),
        (&["evaluate", "vegas", "--world", "packets,fluid"], "name one world, or `packets,linux`"),
        (&["evaluate"], "LAW"),
    ] {
        let ended = bench.run(arguments);
        assert!(ended.status == 2 && ended.err.contains(words), "{arguments:?}: {} {}", ended.status, ended.err);
    }
}

/// Errors of a scenario name what an evaluation makes of it: the law in it, and half of its lengths.
#[test]
fn errors_of_a_scenario_say_what_an_evaluation_sets() {
    let window = "[windows]\nlate = [\"6 s\", \"8 s\"]\n[sweep]";
    for (from, to, words) in [
        (
            "[sweep]",
            window,
            "flows.toml:22: windows.late: the window ends at 8 s, and the run at 4 s: the quick extent runs half",
        ),
        ("[dynamics]", "", "`flows` has no table `[dynamics]`"),
        (
            "[sweep]",
            "[sweep]\n\"flows.test.cc.beta\" = [2]",
            "flows.toml:22:25: flows.test.cc.beta: `newreno` has no parameter",
        ),
    ] {
        let bench = battery(CRITERION);
        assert!(SCENARIO.contains(from), "{from}");
        bench.write("battery/scenarios/flows.toml", &SCENARIO.replacen(from, to, 1));
        let ended = bench.run(&evaluate(&[]));
        assert!(ended.status == 2 && ended.err.contains(words), "{to}: {} {}", ended.status, ended.err);
        assert!(!ended.err.contains("--set"), "{to}: {}", ended.err);
    }
    // A criterion that keeps its lengths has the window.
    let bench = battery(&CRITERION.replacen("scenario = \"flows\"", "scenario = \"flows\"\nlengths = false", 1));
    bench.write("battery/scenarios/flows.toml", &SCENARIO.replacen("[sweep]", window, 1));
    assert_eq!(bench.run(&evaluate(&[])).status, 0);
}

/// A path that no analysis has is an error, although it is found out only after the analysis.
#[test]
fn a_number_that_no_analysis_has_is_an_error() {
    let bench = Bench::new();
    crate::bench::battery::write(&bench, "EV-35", &[r#""flows.test.count" = "1""#]);
    let file = bench.path("battery/EV-35.toml");
    let text = fs::read_to_string(&file).unwrap();
    let run = || bench.run(&["evaluate", "fast", "--quick", "--battery", "battery"]);
    assert_eq!(run().status, 0);
    for (from, to) in [("sampled.phase_margin_deg", "sampeld.phase_margin_deg"), ("phase_margin_deg", "phase_margin")] {
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        let ended = run();
        assert!(
            ended.status == 2 && ended.err.contains("measure `phase-margin`: "),
            "{to}: {} {}",
            ended.status,
            ended.err
        );
    }
}

/// The criteria of the repository: every id of the batteries, and every path a number that records or analyses have.
#[test]
fn the_battery_is_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let known = fs::read_to_string(root.join("docs/record.md")).unwrap();
    let analysed = ["stable", "gain_margin", "phase_margin_deg", "delay_margin_s"];
    let ids = (1..=35).map(|n| format!("EV-{n:02}")).chain((1..=8).map(|n| format!("L4S-{n}")));
    let ids: BTreeSet<String> = ids.chain((1..=20).map(|n| format!("AQ-{n:02}"))).collect();
    let (mut found, mut measured) = (BTreeSet::new(), 0);
    for file in fs::read_dir(root.join("evaluation")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let criterion = Criterion::parse(&fs::read_to_string(&path).unwrap(), &path.display().to_string()).unwrap();
        measured += usize::from(!criterion.measures.is_empty());
        assert_eq!(criterion.figure.is_some(), !criterion.measures.is_empty(), "{}: a figure", criterion.id.get_ref());
        for measured in figures::outcome(&criterion).measures {
            let Measured { name, title, unit, .. } = &measured;
            // Of each unit the words of which a title has one: packets lost in 100 s are no time.
            let words: &[&str] = match unit.as_str() {
                "s" => &["delay", "time", "completion", "wait", "queue", "stalls", "startup", "overshoot", "margin"],
                "bit/s" => &["goodput", "rate"],
                "packets" => &["packets", "window"],
                "\u{b0}" => &["phase"],
                "" => &[
                    "utilization",
                    "loss",
                    "lost",
                    "share",
                    "ratio",
                    "Jain",
                    "over",
                    "variation",
                    "timeouts",
                    "slowdown",
                    "useful",
                    "intervals",
                    "correlation",
                    "marks",
                    "marked",
                    "stable",
                    "margin",
                    "rate",
                    "together",
                    "for each",
                    "packets sent",
                    "in round trips",
                ],
                "1/s" => &["in a second"],
                other => panic!("{}: {name}: which numbers have the unit `{other}`?", criterion.id.get_ref()),
            };
            let fits = words.iter().any(|word| title.contains(word));
            assert!(fits, "{}: {name}: `{title}` with the unit `{unit}`", criterion.id.get_ref());
        }
        for measure in &criterion.measures {
            for (_, path) in measure.paths() {
                let name = path.rsplit('.').next().unwrap();
                let is_known = known.contains(&format!("`{name}`")) || analysed.contains(&name);
                assert!(is_known, "{}: no record has `{path}`", criterion.id.get_ref());
            }
        }
        found.insert(criterion.id.get_ref().clone());
    }
    assert_eq!(found, ids);
    assert!(measured >= 48, "{measured} of {} criteria are measured", ids.len());
}

/// Each measured criterion of the repository has a figure in each extent, whatever the numbers are.
#[test]
fn every_measured_criterion_is_drawn() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in fs::read_dir(root.join("evaluation")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let criterion = Criterion::parse(&fs::read_to_string(&path).unwrap(), &path.display().to_string()).unwrap();
        // The other extents have these cells and more.
        let drawn = figures::drawn(&criterion, Extent::Quick, &root.join("evaluation/scenarios"));
        assert_eq!(drawn, !criterion.measures.is_empty(), "{}", criterion.id.get_ref());
    }
}

/// Verdicts of a few cheap criteria are as on record, and their numbers to the last bit.
#[test]
fn verdicts_are_as_recorded() {
    let bench = Bench::new();
    let some = [
        ("fast", "EV-35"),
        ("bbr", "EV-07"),
        ("vegas", "EV-01"),
        ("cubic", "EV-24"),
        ("quinn-newreno", "EV-01"),
        ("quinn-cubic", "EV-24"),
    ];
    for (law, only) in some {
        let record = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../evaluation/recorded/{law}.json"));
        let shown = record.display().to_string();
        let ended = bench.run(&["evaluate", law, "--quick", "--only", only, "--against", &shown]);
        assert_eq!(ended.status, 0, "{law}: {}", ended.err);
        let now = bench.path(&format!("out/evaluation-{law}-quick-some/verdicts.json"));
        let [now, before] = [now, record].map(|file| json(&fs::read(file).unwrap())["criteria"][only].clone());
        assert!(now.is_object() && now == before, "{law}, {only}: {now} and {before} on record");
    }
}
