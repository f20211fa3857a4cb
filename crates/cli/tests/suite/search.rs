//! `penstock break`: a space of one gene, known answers, failures on record, and refusals.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use crate::bench::Bench;
use serde_json::Value;

/// Two flows of Vegas over 10 Mbit/s, of which one may have jitter: its law reads jitter as a queue.
const SPACE: &str = r#"
format = 1
title  = "two flows, one with jitter"
[limits]
jitter = "40 ms"
[scenario]
format   = 1
duration = "8 s"
packet   = { wire = "1500 B", payload = "1448 B" }
[scenario.links.bottleneck]
from   = "a"
to     = "b"
rate   = "10 Mbit/s"
delay  = "1 ms"
buffer = "10 bdp"
duplex = true
[scenario.defaults.flows]
from   = "a"
to     = "b"
rtt    = "40 ms"
start  = { uniform = ["0 s", "100 ms"] }
cc     = { law = "cubic" }
[scenario.flows.test]
[scenario.flows.test-other]
[genes]
"flows.test.rtt" = { from = "20 ms", to = "80 ms", per_decade = 12 }
"flows.test-other.jitter" = { from = "0.1 ms", to = "64 ms", per_decade = 8, form = '{ uniform = ["0 ms", $] }', optional = true }
"#;

const SEARCH: [&str; 12] = [
    "break",
    "vegas",
    "--objective",
    "starve",
    "--space",
    "two.toml",
    "--threshold",
    "0.6",
    "--budget",
    "90",
    "--failures",
    "1",
];
const HOME: &str = "out/break-vegas-two-starve-threshold-0.6-1-failures-90-seed1";

fn files(bench: &Bench) -> Vec<(String, Vec<u8>)> {
    let names = bench.names(HOME);
    names.into_iter().map(|name| (name.clone(), fs::read(bench.path(HOME).join(name)).unwrap())).collect()
}

/// What the search leaves where nothing breaks it off, on two threads: run once for all tests.
fn unbroken() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let bench = Bench::new();
        bench.write("two.toml", SPACE);
        let found = bench.run(&[&SEARCH[..], &["--jobs", "2"]].concat());
        assert_eq!(found.status, 1, "{}", found.err);
        files(&bench)
    })
}

/// A failure is found again on any number of threads and after a kill, is small, and replays.
#[test]
fn a_failure_is_found_shrunk_and_replayed() {
    let bench = Bench::new();
    bench.write("two.toml", SPACE);
    let before = unbroken();
    for (name, bytes) in before {
        bench.write(&format!("{HOME}/{name}"), std::str::from_utf8(bytes).unwrap());
    }
    let failure = before.iter().find(|(name, _)| name.starts_with("failure-") && !name.contains("bounds"));
    let text = String::from_utf8(failure.unwrap().1.clone()).unwrap();
    // What makes it fail is there, and little else.
    assert!(text.contains("jitter = { uniform") && text.contains("law = \"vegas\""), "{text}");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    assert!(lines <= 25, "{lines} lines:\n{text}");
    let summary: Value = serde_json::from_slice(&fs::read(bench.path(HOME).join("break.json")).unwrap()).unwrap();
    let found = &summary["objectives"][0]["failures"][0];
    assert_eq!((&found["confirmed"]["confirmation"], &found["confirmed"]["seeds"][1]), (&"found".into(), &20.into()));
    assert!(found["confirmed"]["measured"].as_f64().unwrap() > 2.5, "{found}");

    // Most runs are known, as after a kill; the others are run again.
    let runs = bench.path(HOME).join("runs.txt");
    let lines: Vec<String> = fs::read_to_string(&runs).unwrap().lines().map(str::to_owned).collect();
    fs::write(&runs, lines[..lines.len() * 9 / 10].join("\n")).unwrap();
    fs::remove_file(bench.path(HOME).join("report.html")).unwrap();
    let again = bench.run(&[&SEARCH[..], &["--jobs", "1"]].concat());
    assert_eq!(again.status, 1, "{}", again.err);
    assert!(files(&bench) == before, "other bytes");

    // Its bounds are kept; a bound that is better than what is seen is broken.
    let replayed = bench.well(&["break", "--replay", HOME]);
    assert!(replayed.contains("kept") && replayed.contains("0 broken"), "{replayed}");
    // The law has a score, and the score says that it has failed.
    let rows: Value = serde_json::from_str(&bench.well(&["break", "--replay", HOME, "--json"])).unwrap();
    let scored: Vec<&Value> = rows.as_array().unwrap().iter().filter(|row| row.get("score").is_some()).collect();
    assert_eq!((scored.len(), &scored[0]["threshold"]), (1, &0.6.into()), "that of the search");
    let (score, measured) = (scored[0]["score"].as_f64().unwrap(), scored[0]["measured"].as_f64().unwrap());
    assert!((score - (1.0 - 1.0 / measured)).abs() < 1e-9, "{score} {measured}");
    let bounds = bench.names(HOME).into_iter().find(|name| name.ends_with(".bounds.toml")).unwrap();
    let path = bench.path(HOME).join(bounds);
    let text = fs::read_to_string(&path).unwrap();
    let least = text.lines().find(|line| line.starts_with("at_least")).unwrap();
    fs::write(&path, text.replace(least, "at_least = 1000.0")).unwrap();
    let broken = bench.run(&["break", "--replay", HOME]);
    assert!(broken.status == 1 && broken.err.contains("the bound is broken"), "{}", broken.err);
}

/// A killed search has what it wrote every two seconds, and goes on to the same bytes.
#[test]
fn a_killed_search_goes_on_from_what_it_wrote() {
    let bench = Bench::new();
    bench.write("two.toml", SPACE);
    let search = [&SEARCH[..], &["--jobs", "1"]].concat();
    let runs = bench.path(HOME).join("runs.txt");
    let written = || fs::read_to_string(&runs).map_or(0, |text| text.lines().count().saturating_sub(1));
    let mut child = bench.command(&search).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while written() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended without a file before its end");
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = written();
    assert!(before < 200, "the first {before} runs came at once");
    let again = bench.run(&search);
    let said = format!("the results of {before} runs of an earlier search are used again");
    assert!(again.status == 1 && again.err.contains(&said), "{}", again.err);
    assert!(files(&bench) == unbroken(), "other bytes");
}

/// Baselines that were asked for are wherever those of the objective are, with their parameters, and a replay runs them too.
#[test]
fn a_failure_beside_other_baselines_names_and_replays_them() {
    const SLOW: &str = r#"{ c = 0.2, law = "cubic" }"#;
    let bench = Bench::new();
    bench.write("two.toml", SPACE);
    let given = format!("illinois,{SLOW}");
    let words = [&SEARCH[..], &["--json", "--baseline", &given]].concat();
    let ended = bench.run(&words);
    assert_eq!(ended.status, 1, "{}", ended.err);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    let named = |law: &str, setting: &str| serde_json::json!({ "law": law, "setting": setting });
    let plain = r#"{ law = "illinois" }"#;
    assert_eq!(summary["baselines"], Value::from(vec![named("illinois", plain), named(SLOW, SLOW)]));
    let found = &summary["objectives"][0]["failures"][0];
    assert_eq!(found["references"], Value::from(vec!["newreno", "cubic", "illinois", SLOW]));
    assert_eq!(found["confirmed"]["references"].as_array().unwrap().len(), 4);
    assert_eq!(found["margin"]["references"].as_array().unwrap().len(), 4);

    // The directory is not that of the search without them, nor that with other parameters.
    let homes = bench.names("out");
    assert_eq!(homes.len(), 1, "{homes:?}");
    let home = format!("out/{}", homes[0]);
    assert!(home.starts_with("out/break-vegas-two-starve-baseline-illinois-cubic-"), "{home}");
    let other = SLOW.replace("0.2", "0.3");
    let ended = bench.run(&[&SEARCH[..8], &["--budget", "1", "--baseline", &format!("illinois,{other}")]].concat());
    assert!(ended.status == 0 && bench.names("out").len() == 2, "{}: {:?}", ended.err, bench.names("out"));

    let text = |name: &str| fs::read_to_string(bench.path(&home).join(name)).unwrap();
    let file = found["file"].as_str().unwrap();
    let command = format!("# penstock break vegas --objective starve --baseline '{given}' --space two.toml");
    assert!(text(file).starts_with(&command), "{}", text(file));
    for page in [text("report.html"), text(file)] {
        assert!(page.contains("illinois: ") && page.contains("c = 0.2, law"), "{page}");
    }

    // The command of the file is the search that wrote it.
    let again = shlex::split(&text(file).lines().next().unwrap()[2..]).unwrap();
    let begin = ["penstock", "break", "vegas", "--objective", "starve", "--baseline", &given, "--space", "two.toml"];
    assert_eq!(again[..9], begin);

    let rows: Value = serde_json::from_str(&bench.well(&["break", "--replay", &home, "--json"])).unwrap();
    let rows: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["what"].as_str().unwrap()).collect();
    let slow = format!("starve: {SLOW}");
    assert!(rows.contains(&"starve: illinois") && rows.contains(&slow.as_str()), "{rows:?}");
    // What the replay runs is the law with its parameters: with others it is another run.
    let bounds = file.replace(".toml", ".bounds.toml");
    let replayed = |text: String| {
        bench.write(&format!("{home}/{bounds}"), &text);
        bench.run(&["break", "--replay", &home])
    };
    let before = text(&bounds);
    let unknown = replayed(before.replace("illinois", "illinoi"));
    let said = format!("{bounds}: references.illinoi: no law has the name `illinoi`: did you mean `illinois`?");
    assert!(unknown.status == 2 && unknown.err.contains(&said), "{}", unknown.err);
    let queue = replayed(before.replace("illinois", "codel"));
    let said = "references.codel: `codel` is an AQM; only a controller can be a baseline of `vegas`";
    assert!(queue.status == 2 && queue.err.contains(said), "{}", queue.err);
    // What the command refuses as a baseline, a file of bounds has not either.
    for (other, said) in [
        ("vegas", "references.vegas: `vegas` is the law under test, and does no better than itself"),
        (r#"'{ c = 0.4, law = "cubic" }'"#, "is a baseline of starve already"),
        (r#"'{ law = "cubic", c = 0.2 }'"#, "appears twice"),
    ] {
        let refused = replayed(before.replace("[references.illinois]", &format!("[references.{other}]")));
        assert!(refused.status == 2 && refused.err.contains(said), "{other}: {}", refused.err);
    }
    let no_place = replayed(before.replace("\"starve\"", "\"coexist\""));
    let said = "coexist has one reference, the law of the incumbents: none";
    assert!(no_place.status == 2 && no_place.err.contains(said), "{}", no_place.err);
}

/// The text of a law is not trusted: its file stays a scenario, and its command is words of a shell.
#[test]
fn a_law_with_a_line_break_leaves_a_scenario_and_a_command() {
    let bench = Bench::new();
    bench.write("my two.toml", SPACE);
    let law = "{ alpha = \"\"\"\n2 packets\"\"\", law = 'vegas' }";
    let mut search = SEARCH;
    (search[1], search[5]) = (law, "my two.toml");
    let ended = bench.run(&[&search[..], &["--json"]].concat());
    assert_eq!(ended.status, 1, "{}", ended.err);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    let again = shlex::split(summary["command"].as_str().unwrap()).unwrap();
    let told = again.iter().position(|word| word == "--space").map(|at| again[at + 1].as_str());
    assert_eq!((again[2].as_str(), told), (summary["setting"].as_str().unwrap(), Some("my two.toml")));
    let home = format!("out/{}", bench.names("out")[0]);
    bench.well(&["break", "--replay", &home]);
}

/// A law that is a baseline of the objective is none of its own: on the page, in the files and in a replay.
#[test]
fn a_law_is_no_baseline_of_its_own() {
    let bench = Bench::new();
    bench.write("two.toml", SPACE);
    // A parameter with its default is the same law.
    for law in ["cubic", "{ c = 0.4, law = \"cubic\" }"] {
        let mut search = SEARCH;
        (search[1], search[3], search[7], search[9]) = (law, "queue", "0.5", "40");
        let ended = bench.run(&[&search[..], &["--json"]].concat());
        assert_eq!(ended.status, 1, "{}", ended.err);
        let summary: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(summary["law"], "cubic");
        let found = &summary["objectives"][0]["failures"][0];
        assert_eq!(found["references"], Value::from(vec!["newreno"]));
        assert_eq!(found["confirmed"]["references"].as_array().unwrap().len(), 1);
        let (_, beside) = found["headline"].as_str().unwrap().split_once('(').unwrap();
        assert!(beside.contains("newreno") && !beside.contains("cubic"), "{found}");
    }
    for home in bench.names("out") {
        bench.well(&["break", "--replay", &format!("out/{home}")]);
    }
}

/// A law that would change nothing as a baseline is refused, with what would.
#[test]
fn a_baseline_that_changes_nothing_is_refused() {
    let bench = Bench::new();
    bench.write("two.toml", SPACE);
    let fast = "{ alpha = \"20 packets\", law = \"fast\" }";
    let cases: [(&[&str], &str); 15] = [
        (&["cubic", "--baseline", "coppa"], "--baseline: no law has the name `coppa`: did you mean `copa`?"),
        (&["cubic", "--baseline", "copa,"], "--baseline: no law has the name ``"),
        (&["cubic", "--baseline", "{ law = \"copa\", deltta = 1 }"], "no parameter `deltta`"),
        (&["cubic", "--baseline", "codel"], "`codel` is an AQM; only a controller can be a baseline of `cubic`"),
        (&["codel", "--baseline", "pie,fast"], "`fast` is a controller; only an AQM can be a baseline of `codel`"),
        (&["cubic", "--baseline", "token-bucket"], "`token-bucket` is a conditioner; only a controller"),
        (&["vegas", "--baseline", "cubic"], "`cubic` is a baseline of every objective already"),
        (&["vegas", "--objective", "starve", "--baseline", "cubic"], "`cubic` is a baseline of starve already"),
        (&["vegas", "--objective", "timid,stall", "--baseline", "bbr"], "a baseline of timid and stall already"),
        (&["vegas", "--baseline", "copa", "--baseline", "fast,copa"], "`copa` appears twice"),
        // A parameter with its default is no other law.
        (
            &["vegas", "--baseline", "copa,{ law = \"copa\", competitive = true }"],
            "competitive = true }` appears twice",
        ),
        (&["copa", "--baseline", "copa"], "`copa` is the law under test, and does no better than itself"),
        (&[fast, "--baseline", "{ law = \"fast\", alpha = \"20 packets\" }"], "is the law under test"),
        (
            &["vegas", "--objective", "coexist,harm", "--baseline", "copa"],
            "no other law has an effect on coexist and harm, whose baseline is the law of the incumbents; add another objective",
        ),
        (&["--list", "--baseline", "copa"], "'--baseline <LAW,LAW>'"),
    ];
    for (arguments, expected) in cases {
        // What is not refused is a short search.
        let ended =
            bench.run(&[&["break", "--space", "two.toml", "--budget", "1", "--failures", "0"], arguments].concat());
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(expected), "{arguments:?}: {}", ended.err);
    }
    let ended = bench.run(&["break", "--replay", "x", "--baseline", "copa"]);
    assert!(ended.status == 2 && ended.err.contains("cannot be used with"), "{}", ended.err);
    assert!(!bench.path("out").exists(), "nothing is left behind");

    // A world that lacks a law which was asked for does not search without it.
    let search = ["break", "fast", "--space", "two.toml", "--world", "fluid", "--objective", "starve", "--budget", "1"];
    let ended = bench.run(&[&search[..], &["--baseline", "bbr"]].concat());
    let said = "nothing can be searched: the baseline `bbr`: ";
    assert!(ended.status == 3 && ended.err.contains(said), "{}: {}", ended.status, ended.err);
    assert!(!bench.path("out").exists(), "nothing is left behind");

    // With one objective that has a place for it; and where it is a standard one of another objective; and the plain law beside the one
    // with parameters, which then has its table for a name.
    let well =
        |more: &[&str]| bench.json(&[&["break"], more, &["--space", "two.toml", "--budget", "1", "--json"]].concat());
    well(&["vegas", "--objective", "harm,starve", "--baseline", "copa"]);
    well(&["vegas", "--objective", "underuse,starve", "--baseline", "bbr"]);
    // As with one of the objective's own.
    let marked = "{ ecn = true, law = \"newreno\" }";
    assert_eq!(well(&[marked, "--objective", "starve"])["law"], marked);
    let both = well(&[fast, "--objective", "starve", "--baseline", "fast"]);
    assert_eq!((&both["law"], &both["baselines"][0]["law"]), (&fast.into(), &"fast".into()));
}

/// Without jitter nothing is found, and the page says in how many evaluations.
#[test]
fn nothing_found_is_no_proof() {
    let bench = Bench::new();
    bench.write(
        "two.toml",
        &SPACE.replace("jitter = \"40 ms\"", "jitter = \"0 ms\"").replace("to = \"80 ms\"", "to = \"40 ms\""),
    );
    let mut search = SEARCH;
    (search[1], search[9]) = ("cubic", "40");
    let said = bench.well(&search);
    assert!(said.contains("nothing found in") && said.contains("This is no proof that"), "{said}");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let bench = Bench::new();
    bench.write(
        "bad.toml",
        "format = 1\ntitle = \"x\"\nscenario = {}\n[genes]\n\"links.bottleneck.rate\" = { from = 1 }\n",
    );
    bench.write("lost/x.bounds.toml", "format = 1\nlaw = \"fast\"\n[[bound]]\npath = \"x\"\nat_most = 1.0\n");
    let cases: [(&[&str], &str); 12] = [
        (&["fast", "--budget", "0"], "--budget"),
        (&["{ law = \"fast\" }\nseed = 7"], "there is more behind the table"),
        (&["fest"], "no law has the name `fest`"),
        (&["token-bucket"], "conditioner"),
        (&["fast", "--objective", "slow"], "--objective: no objective is `slow`; there are underuse"),
        (&["fast", "--space", "moon"], "--space: no space is `moon`; there are cell"),
        (&["fast", "--space", "none.toml"], "none.toml"),
        (&["fast", "--space", "bad.toml"], "bad.toml: genes.\"links.bottleneck.rate\""),
        (&["fast", "--jitter", "10"], "--jitter"),
        (&["fast", "--loss", "1.5"], "--loss"),
        (&["fast", "--threshold", "2"], "--threshold"),
        (&["--replay", "lost"], "x.toml"),
    ];
    for (arguments, expected) in cases {
        let ended = bench.run(&[&["break"], arguments].concat());
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(expected), "{arguments:?}: {}", ended.err);
    }
    assert!(!bench.path("out").exists(), "nothing is left behind");
    // A world that lacks what the law needs.
    let ended = bench.run(&["break", "bbr", "--world", "fluid", "--objective", "starve"]);
    assert!(ended.status == 3 && ended.err.contains("nothing can be searched"), "{}: {}", ended.status, ended.err);
    assert!(!bench.path("out").exists(), "nothing is left behind");
    // A space whose scenario is none.
    bench.write("bad.toml", &SPACE.replace("rate   = \"10 Mbit/s\"", "rate   = \"10 Mbit\""));
    let ended = bench.run(&["break", "fast", "--objective", "starve", "--space", "bad.toml"]);
    assert!(ended.status == 2 && ended.err.contains("links.bottleneck.rate"), "{}: {}", ended.status, ended.err);
}

#[test]
fn objectives_and_spaces_are_listed() {
    // `--findings` is the name that `--failures` had in files on record.
    let listed = Bench::new().well(&["break", "--list", "--findings", "1"]);
    for name in ["starve", "unsafe", "wifi", "hostile"] {
        assert!(listed.contains(name), "{listed}");
    }
}

/// The report of a replay of what is on record in a folder. No bound is broken, and none holds that is known to be broken.
fn replayed(path: &str, more: &[&str]) {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    let report = Bench::new().well(&[&["break", "--replay", &path], more].concat());
    assert!(report.contains("0 broken, 0 mended"), "{path}: {report}");
}

/// Some known answers, one of each kind of objective, come out as on record: those that take a second.
#[test]
fn some_known_answers_come_out() {
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../search/known");
    let bench = Bench::new();
    for name in ["F2-vegas-longer-path", "K03-one-flow-with-jitter", "K05-vegas-beside-loss-based", "K08-phase-effect"]
    {
        for file in [format!("{name}.toml"), format!("{name}.bounds.toml")] {
            bench.write(&format!("some/{file}"), &fs::read_to_string(known.join(&file)).unwrap());
        }
    }
    let report = bench.well(&["break", "--replay", "some"]);
    assert!(report.contains("0 broken, 0 mended") && report.contains("K08"), "{report}");
}

#[test]
#[ignore = "a minute: `make nightly` runs it"]
fn known_answers_and_failures_come_out() {
    replayed("search/known", &[]);
    replayed("failures", &[]);
}

#[test]
#[ignore = "minutes: `make nightly` runs it"]
fn long_known_answers_come_out() {
    replayed("search/known", &["--long"]);
}

/// The first column of each table of `docs/break.md` whose heading begins with this, in the order of the page.
fn columns(page: &str, heading: &str) -> Vec<Vec<String>> {
    let tables = page.split(heading).skip(1);
    let rows = |table: &str| {
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let cells = rows.filter_map(|row| row.split('|').nth(1).map(str::to_owned));
        let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>());
        words.collect()
    };
    tables.map(rows).collect()
}

/// Every key of spaces, objectives and bounds is on the page, and the page has no other: what refuses a key lists those that
/// there are.
#[test]
fn the_page_has_every_key() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/break.md")).unwrap();
    let space = |text: &str| penstock_search::Space::parse(text, "x").unwrap_err().to_string();
    let objective = |text: &str| penstock_search::Objective::parse(text, "x").unwrap_err().to_string();
    let bounds = |text: &str| penstock_search::Bounds::parse(text, "x").unwrap_err().to_string();
    let plain = columns(&page, "| key | meaning |");
    let one = |heading: &str| columns(&page, heading).remove(0);
    let cases = [
        (plain[0].clone(), bounds("zzz = 1")),
        (one("| key of `measure` and `references.NAME` |"), bounds("[measure]\nzzz = 1")),
        (one("| key of `bound` |"), bounds("[[bound]]\nzzz = 1")),
        (plain[1].clone(), space("zzz = 1")),
        (one("| key of `limits` |"), space("[limits]\nzzz = 1")),
        (one("| key of a gene |"), space("[genes]\nx = { zzz = 1 }")),
        (plain[2].clone(), objective("zzz = 1")),
    ];
    for (mut on_page, refusal) in cases {
        let (_, list) = refusal.split_once("expected one of").unwrap_or_else(|| panic!("{refusal}"));
        let mut there: Vec<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        on_page.sort();
        there.sort();
        assert_eq!(on_page, there, "{refusal}");
    }
}
