//! `paper`: verdicts, the record of verdicts, and what differs from it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::bench::{Bench, SMALL};

const PAPER: &str = r#"
format = 1
title = "On Two Flows"
authors = ["A. Author"]
published = "2003"
[[item]]
id = "fig1"
title = "Utilization against capacity"
place = "figure 1"
world = "packets"
scenario = "fig1.toml"
x = { key = "links.bottleneck.rate", label = "capacity", scale = "log" }
y = { path = "links.bottleneck.utilization", label = "utilization" }
columns = [{ path = "groups.ftp.jain", label = "Jain's index" }]
short = { "links.bottleneck.rate" = ["5 Mbit/s"] }
[[item]]
id = "fig2"
title = "A photograph"
place = "figure 2"
not_run = "nothing to run"
[[claim]]
id = "T.fig1.used/high"
item = "fig1"
place = "section 1"
quote = "the link is well used"
ours = true
measure = "links.bottleneck.utilization"
test = { at_least = 0.5 }
source = "half of it is well used"
[[claim]]
id = "T.fig1.used/sweep"
item = "fig1"
place = "section 1"
quote = "the link is well used"
short = false
measure = "links.bottleneck.utilization"
reduce = "min"
test = { at_least = 2.0 }
source = "impossible"
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    let sweep = "\n[sweep]\n\"links.bottleneck.rate\" = [\"5 Mbit/s\", \"10 Mbit/s\"]\n";
    bench.write("papers/two/paper.toml", PAPER).write("papers/two/fig1.toml", &format!("{SMALL}{sweep}"));
    bench
}

/// A paper may come from anybody. What its links lead to is nobody's business.
#[test]
fn a_link_out_of_the_folder_of_a_paper_is_not_followed() {
    let secret = "root:$6$secret:20228:0:99999:7:::\n";
    let replaced = |file: &str, text: &str| {
        let bench = bench();
        bench.write("shadow", secret).write("papers/two/inside.toml", text);
        let path = bench.path("papers/two").join(file);
        let _ = fs::remove_file(&path);
        symlink("../../shadow", &path).unwrap();
        let ended = bench.run(&["paper", "two"]);
        assert_eq!(ended.status, 2, "{file}: {}", ended.err);
        assert!(ended.err.contains("outside of"), "{file}: {}", ended.err);
        assert!(!ended.err.contains("secret") && !ended.out.contains("secret"), "{file}: {} {}", ended.err, ended.out);
        assert!(!bench.path("out").exists(), "{file}");
    };
    for file in ["paper.toml", "verdicts.toml", "fig1.toml"] {
        replaced(file, "");
    }
    // A folder that is a link, and a trace that the scenario names.
    let bench = bench();
    bench.write("elsewhere/s.toml", secret).write("rate", "1\n");
    symlink("../../elsewhere", bench.path("papers/two/below")).unwrap();
    bench.write("papers/two/paper.toml", &PAPER.replace("fig1.toml", "below/s.toml"));
    let ended = bench.run(&["paper", "two"]);
    assert!(ended.status == 2 && ended.err.contains("outside of"), "{}", ended.err);
    assert!(!ended.err.contains("secret"), "{}", ended.err);
    let traced = SMALL.replace("\"10 Mbit/s\"", "{ trace = \"../../rate\" }");
    bench.write("papers/two/paper.toml", &PAPER.replace("fig1.toml", "s.toml")).write("papers/two/s.toml", &traced);
    let ended = bench.run(&["paper", "two"]);
    assert!(ended.status == 2 && ended.err.contains("it is outside of papers/two"), "{}", ended.err);
    // A link within is one, and the folder itself may be one.
    let bench = self::bench();
    fs::rename(bench.path("papers/two/fig1.toml"), bench.path("papers/two/other.toml")).unwrap();
    symlink("other.toml", bench.path("papers/two/fig1.toml")).unwrap();
    symlink("papers", bench.path("theirs")).unwrap();
    assert_eq!(bench.run(&["paper", "two", "--papers", "theirs"]).status, 1);
}

#[test]
fn a_column_that_leads_to_nothing_is_an_error_with_its_line() {
    let bench = bench();
    let line = 1 + PAPER.lines().position(|line| line.starts_with("columns")).unwrap();
    for (path, says) in [
        ("links.nope.utilization", "`links` has no `nope`; it has bottleneck"),
        ("groups.ftp.jian", "`ftp` has no `jian`; it has "),
        ("groups.ftp", "`groups.ftp` is not a number"),
    ] {
        bench.write("papers/two/paper.toml", &PAPER.replace("groups.ftp.jain", path));
        let ended = bench.run(&["paper", "two"]);
        assert_eq!(ended.status, 2, "{path}: {}", ended.err);
        let expected =
            format!("papers/two/paper.toml:{line}: columns: `{path}` is not a number of the results: {says}");
        assert!(ended.err.contains(&expected), "{expected}\n{}", ended.err);
    }
}

/// A point is a mean over seeds. A short run of one value is refused too, as nobody would notice in the whole one.
#[test]
fn a_figure_that_averages_over_a_swept_key_is_an_error_with_its_line() {
    let bench = bench();
    let sweep = "\n[sweep]\n\"links.bottleneck.rate\" = [\"5 Mbit/s\", \"10 Mbit/s\"]\n\"flows.ftp.count\" = [1, 2]\n";
    bench.write("papers/two/fig1.toml", &format!("{SMALL}{sweep}"));
    let short = "short = { \"flows.ftp.count\" = [\"1\"], ";
    let averaged = PAPER.replace("short = { ", short);
    let line = 1 + averaged.lines().position(|line| line.starts_with("y = ")).unwrap();
    bench.write("papers/two/paper.toml", &averaged);
    for arguments in [&["paper", "two"][..], &["paper", "two", "--short"][..]] {
        let ended = bench.run(arguments);
        assert_eq!(ended.status, 2, "{}", ended.err);
        let expected = format!(
            "papers/two/paper.toml:{line}: item `fig1`: each point would be the mean over `flows.ftp.count` (1, 2): draw a line \
             for each with lines = [\"case\", \"flows.ftp.count\"]"
        );
        assert!(ended.err.contains(&expected), "{expected}\n{}", ended.err);
    }
    // The remedy of the message.
    let mended = averaged.replace("\ny = ", "\nlines = [\"case\", \"flows.ftp.count\"]\ny = ");
    bench.write("papers/two/paper.toml", &mended);
    let ended = bench.run(&["paper", "two", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let lines = &all["items"][0]["figure"]["lines"];
    let names: Vec<&str> = lines.as_array().unwrap().iter().map(|line| line["label"].as_str().unwrap()).collect();
    assert_eq!(names, ["count 1", "count 2"], "{}", ended.err);
}

#[test]
fn what_is_not_on_record_differs_until_it_is_put_there() {
    let bench = bench();
    let ended = bench.run(&["paper", "two"]);
    assert_eq!(ended.status, 1, "{}", ended.err);
    assert!(ended.err.contains("T.fig1.used/high: the verdict is `holds`, and none is on record"), "{}", ended.err);
    assert!(
        ended.out.contains("holds") && ended.out.contains("fails") && ended.out.contains("report"),
        "{}",
        ended.out
    );
    assert!(!bench.path("papers/two/verdicts.toml").exists(), "only --record writes it");

    bench.well(&["paper", "two", "--record"]);
    let text = fs::read_to_string(bench.path("papers/two/verdicts.toml")).unwrap();
    assert!(text.contains("[full.\"T.fig1.used/sweep\"]\nverdict  = \"fails\""), "{text}");
    bench.well(&["paper", "two"]);
    assert_eq!(bench.run(&["paper", "two", "--short"]).status, 1, "short runs are on record apart");
    bench.well(&["paper", "two", "--short", "--record"]);
    bench.well(&["paper", "two", "--short"]);
    bench.well(&["paper", "two"]);

    let other = fs::read_to_string(bench.path("papers/two/verdicts.toml")).unwrap().replacen("holds", "fails", 1);
    bench.write("papers/two/verdicts.toml", &other);
    let ended = bench.run(&["paper", "two"]);
    assert_eq!(ended.status, 1);
    assert!(ended.err.contains("T.fig1.used/high: the verdict is `holds`, but `fails` is on record"), "{}", ended.err);
}

#[test]
fn json_has_figures_rows_and_claims() {
    let bench = bench();
    bench.well(&["paper", "two", "--record"]);
    let paper = bench.json(&["paper", "two/fig1", "--json"]);
    assert_eq!(paper["extent"], "full");
    assert_eq!(paper["items"][0]["figure"]["lines"][0]["points"].as_array().unwrap().len(), 2);
    assert_eq!(paper["items"][0]["figure"]["x_unit"], "bit/s");
    assert_eq!(paper["items"][0]["rows"].as_array().unwrap().len(), 2);
    assert_eq!(paper["claims"][0]["verdict"], "holds");
    assert_eq!(paper["claims"][0]["recorded"], "holds");
    assert_eq!(paper["differing"], 0);
    assert_eq!(bench.names("out"), ["two"], "the second run goes on in the place of the first");
    assert!(bench.path("out/two/report.html").is_file());
    assert!(bench.path("out/two/fig1/sweep.json").is_file());
    assert!(bench.path("out/two/verdicts.json").is_file());
}

#[test]
fn a_paper_goes_on_where_it_stopped() {
    let bench = bench();
    bench.well(&["paper", "two", "--short", "--record"]);
    let went_on = bench.run(&["paper", "two", "--record"]);
    assert_eq!(went_on.status, 0, "{}", went_on.err);
    assert!(went_on.err.contains("1 of 2 cells are finished"), "{}", went_on.err);
    let again = bench.run(&["paper", "two"]);
    assert!(again.err.contains("2 of 2 cells are finished"), "{}", again.err);
    let cells = bench.names("out/two/fig1").iter().filter(|name| name.contains("mbit-s")).count();
    assert_eq!(cells, 2, "{:?}", bench.names("out/two/fig1"));
}

/// Two items of one scenario: its cells run once, and each item shows those it names.
#[test]
fn items_that_share_a_scenario_share_its_runs() {
    let bench = bench();
    let shared = PAPER.replace(
        "[[item]]\nid = \"fig2\"",
        "[[item]]\nid = \"fig3\"\ntitle = \"The faster line\"\nplace = \"figure 3\"\nworld = \"packets\"\nscenario = \"fig1.toml\"\n\
         cells = { \"links.bottleneck.rate\" = \"10 Mbit/s\" }\ncolumns = [{ path = \"groups.ftp.jain\", label = \"Jain's index\" }]\n\
         [[item]]\nid = \"fig2\"",
    );
    bench.write("papers/two/paper.toml", &shared);
    let paper: serde_json::Value = serde_json::from_str(&bench.run(&["paper", "two", "--json"]).out).unwrap();
    let rows = |item: usize| paper["items"][item]["rows"].as_array().unwrap().len();
    assert_eq!((rows(0), rows(1)), (2, 1));
    assert_eq!(paper["items"][1]["rows"][0]["labels"]["links.bottleneck.rate"], "10 Mbit/s");
    let cells = bench.names("out/two/fig1").iter().filter(|name| name.contains("mbit-s")).count();
    assert_eq!(cells, 2, "{:?}", bench.names("out/two"));
    bench.write("papers/two/paper.toml", &shared.replace("\"10 Mbit/s\" }\ncolumns", "\"11 Mbit/s\" }\ncolumns"));
    let ended = bench.run(&["paper", "two"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("two/fig3: `cells` and `short` in paper.toml select no run"), "{}", ended.err);
}

#[test]
fn seeds_are_run_and_joined() {
    let bench = bench();
    let paper = bench.run(&["paper", "two", "--seeds", "3", "--json"]);
    let paper: serde_json::Value = serde_json::from_str(&paper.out).unwrap();
    assert_eq!(paper["items"][0]["rows"].as_array().unwrap().len(), 6);
    let points = paper["items"][0]["figure"]["lines"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 2, "one point a rate");
    let shares = |row: &serde_json::Value| row["values"]["Jain's index"].to_string();
    let rows: Vec<String> = paper["items"][0]["rows"].as_array().unwrap().iter().map(shares).collect();
    assert!(rows[0] != rows[1] || rows[0] != rows[2], "seeds differ: {rows:?}");
}

/// Traces come from the records, one figure a cell; the page of all papers has them too.
#[test]
fn traces_and_the_atlas() {
    let bench = bench();
    let with = PAPER.replace("columns =", "traces = [\"links.queue_packets\"]\ncolumns =");
    bench.write("papers/two/paper.toml", &with);
    bench.well(&["paper", "--record"]);
    bench.well(&["paper"]);
    for page in ["out/two/report.html", "out/atlas.html"] {
        let page = fs::read_to_string(bench.path(page)).unwrap();
        assert!(page.contains("5 Mbit/s: queue") && page.contains("10 Mbit/s: queue"));
        assert!(page.contains("the link is well used") && page.contains("penstock paper two/fig1"));
        assert!(!page.contains("short runs"));
        assert!(page.contains("Every verdict is as recorded.") && !page.contains("callout good"));
        assert!(page.contains("Not explained yet."), "the claim that fails has no reason in this paper");
        // The figure is in the contents by a short label, and the atlas has the paper as a part of its own.
        assert!(page.contains("Fig. 1 \u{2014} "));
        assert_eq!(page.contains("<h2 class=\"part\">"), page.contains("<title>Atlas</title>"));
    }
    bench.write(
        "papers/two/paper.toml",
        &format!("{with}\n[[reason]]\nclaims = [\"T.fig1.used/sweep\"]\ntext = \"Because.\"\n"),
    );
    bench.well(&["paper", "--short", "--record"]);
    for page in ["out/two/report.html", "out/atlas.html"] {
        let page = fs::read_to_string(bench.path(page)).unwrap();
        assert!(page.contains(": short runs</h"), "a page of short runs says so in its heading");
        assert_eq!(page.contains("Why it fails"), page.contains("Because."), "the reason stands beside the claim");
    }
    bench.write("papers/two/paper.toml", &with.replace("queue_packets", "queue_packages"));
    let ended = bench.run(&["paper"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("no column is named `queue_packages`; there are utilization"), "{}", ended.err);
}

/// Options that a list has no use for are refused, not passed over.
#[test]
fn a_list_takes_no_options_of_runs() {
    let bench = bench();
    for option in [&["--short"][..], &["--record"], &["--seeds", "2"], &["--out", "x"], &["--jobs", "2"]] {
        let ended = bench.run(&[&["paper", "--list"][..], option].concat());
        assert_eq!(ended.status, 2, "{option:?}");
        assert!(ended.err.contains("cannot be used with"), "{}", ended.err);
    }
    assert_eq!(bench.run(&["paper", "--record", "--seeds", "2"]).status, 2, "what is on record is of one seed");
}

#[test]
fn what_does_not_run_is_listed_with_its_reason_and_leaves_nothing() {
    let bench = bench();
    let list = bench.well(&["paper", "--list"]);
    assert!(list.contains("two/fig1") && list.contains("two/fig2") && list.contains("nothing to run"), "{list}");
    assert_eq!(bench.json(&["paper", "--list", "--json"]).as_array().unwrap().len(), 2);
    assert!(bench.well(&["paper", "two/fig2"]).contains("nothing to run"));
    assert!(bench.names("out").is_empty());
}

/// An item of long runs runs where it is named, and a few of its cells in a cheap check. Its verdicts stay on record.
#[test]
fn long_runs_are_for_those_who_name_them() {
    let bench = bench();
    let item = |ended: crate::bench::Ended| ended.out.contains("T.fig1.used/high");
    bench.write("papers/two/paper.toml", &PAPER.replace("short = {", "apart = true\nshort = {"));
    let named = bench.run(&["paper", "two/fig1", "--record"]);
    let verdicts = || fs::read_to_string(bench.path("papers/two/verdicts.toml")).unwrap();
    let on_record = verdicts();
    assert!(item(named) && on_record.contains("T.fig1.used/high"));
    let whole = bench.run(&["paper", "two", "--record"]);
    assert!(whole.status == 0 && !item(whole));
    assert_eq!(verdicts(), on_record);
    assert!(item(bench.run(&["paper", "two", "--short"])));
    let listed = bench.run(&["paper", "two", "--list", "--plain"]);
    assert!(listed.out.contains("packets, only where named"), "{}", listed.out);
    let refused = bench.run(&["paper", "two", "--world", "packets"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("run only where they are named; name one of two/fig1"), "{}", refused.err);
}

#[test]
fn unknown_papers_and_figures_are_refused_with_those_there_are() {
    let bench = bench();
    for (what, says) in [("three", "has two"), ("two/fig9", "it has fig1, fig2")] {
        let ended = bench.run(&["paper", what]);
        assert_eq!(ended.status, 2);
        assert!(ended.err.contains(says), "{}", ended.err);
    }
    let ended = Bench::new().run(&["paper"]);
    assert_eq!(ended.status, 2, "{}", ended.err);
    for way in ["--papers DIR", "`penstock init lab`"] {
        assert!(ended.err.contains(way), "no {way}: {}", ended.err);
    }
}

#[test]
fn a_mistake_in_a_paper_is_bad_input_with_its_line() {
    let bench = bench();
    bench.write("papers/two/paper.toml", &PAPER.replace("world = ", "wold = "));
    let ended = bench.run(&["paper", "two"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("papers/two/paper.toml:10: unknown key `wold`; did you mean `world`?"), "{}", ended.err);
    bench.write(
        "papers/two/paper.toml",
        &PAPER
            .replace("groups.ftp.jain", "groups.ftp.jane")
            .replace("measure = \"links.bottleneck.utilization\"", "measure = \"links.bottleneck.utilisation\""),
    );
    let ended = bench.run(&["paper", "two"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("has no `utilisation`; it has utilization"), "{}", ended.err);
}

/// The repository's papers give what is on record: a cheap figure of each, which is what a test can afford.
/// `make verdicts` has the cheap part of all.
#[test]
fn short_runs_of_the_papers_give_the_verdicts_on_record() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let papers = papers.to_str().unwrap();
    let bench = Bench::new();
    for figure in ["fast-aqm/fig6", "fast-tcp/fig1"] {
        let ended = bench.run(&["paper", figure, "--short", "--papers", papers]);
        assert_eq!(ended.status, 0, "{}\n{}", ended.out, ended.err);
    }
}

/// A cheap check leaves out figures of which it could judge nothing.
#[test]
fn a_cheap_check_runs_nothing_that_it_cannot_judge() {
    let bench = bench();
    let late = PAPER.replace("test = { at_least = 0.5 }", "short = false\ntest = { at_least = 0.5 }");
    bench.write("papers/two/paper.toml", &late);
    bench.run(&["paper", "two", "--short"]);
    assert!(bench.names("out").is_empty(), "{:?}", bench.names("out"));
    assert_eq!(bench.run(&["paper", "two"]).status, 1);
    assert_eq!(bench.names("out"), ["two"]);
}

const THEORY: &str = r#"
format = 1
title = "On a Loop"
authors = ["A. Author"]
published = "2003"
[[item]]
id = "rest"
title = "Where it rests"
place = "section 1"
analysis = "rest.toml"
at = ["2 s", "1 s"]
loops = ["nyquist"]
columns = [{ path = "models.laws.gain_margin", label = "gain margin" }]
[[item]]
id = "marks"
title = "The marking law"
place = "section 2"
formula = "marking probability"
over = { phi = "10", price = ["1 s", "2 s"] }
x = { key = "price", label = "price" }
y = { path = "probability", label = "marked" }
[[claim]]
id = "T.rest.price/twice"
item = "rest"
place = "section 1"
statement = "twice the flows, twice the price"
measure = "links.bottleneck.price_s"
cells = { at = "2 s" }
test = { times = { of = { at = "1 s" }, at_least = 1.999, at_most = 2.001 } }
source = "K n / c0"
[[claim]]
id = "T.rest.stable/both"
item = "rest"
place = "section 1"
statement = "it is stable"
measure = "stable"
test = { at_least = 1 }
source = "stable"
[[claim]]
id = "T.marks.nine/tenths"
item = "marks"
place = "section 2"
statement = "a price of one is nine of ten"
measure = "probability"
cells = { price = "1 s" }
test = { within = { value = 0.9, absolute = 1e-12 } }
source = "1 - 1/phi"
"#;

/// An analysis and a formula give numbers that claims measure, and figures; nothing is simulated.
#[test]
fn the_theory_has_verdicts_too() {
    let bench = Bench::new();
    let rest = SMALL
        .replace("buffer = \"50 packets\"", "buffer = \"unlimited\"\naqm = { law = \"price\" }")
        .replace("cc = { law = \"newreno\" }", "cc = { law = \"leadlag\", taubar = \"1 s\" }\nstart = \"0 s\"");
    let late = "[flows.late]\ncount = 2\nfrom = \"left\"\nto = \"right\"\nrtt = \"40 ms\"\nstart = \"1500 ms\"\n\
                cc = { law = \"leadlag\", taubar = \"1 s\" }\n";
    let rest = format!("{rest}{late}").replace("10 Mbit/s", "100 Mbit/s");
    bench.write("papers/loop/paper.toml", THEORY).write("papers/loop/rest.toml", &rest);
    bench.well(&["paper", "loop", "--record"]);
    let paper = bench.json(&["paper", "loop", "--json"]);
    for claim in paper["claims"].as_array().unwrap() {
        assert_eq!((&claim["verdict"], &claim["recorded"]), (&"holds".into(), &"holds".into()), "{claim}");
    }
    assert_eq!(paper["items"][0]["rows"].as_array().unwrap().len(), 2);
    assert_eq!(paper["items"][1]["figure"]["lines"][0]["points"][0]["mean"], 0.9);
    assert_eq!(bench.names("out/loop").iter().filter(|name| !name.contains('.')).count(), 0, "nothing was run");
    let page = fs::read_to_string(bench.path("out/loop/report.html")).unwrap();
    assert!(page.contains("the complex plane"));
    assert!(bench.well(&["paper", "--list"]).contains("analysis"));
    bench.write("papers/loop/paper.toml", &THEORY.replace("marking probability", "marking"));
    let refused = bench.run(&["paper", "loop"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("marks: no formula is named `marking`; there are"), "{}", refused.err);
}

/// A figure on real packets beside the others, and a claim that is checked there.
const ON_LINUX: &str = r#"
[[item]]
id = "fig1-linux"
title = "Utilization on real packets"
place = "figure 1"
world = "linux"
scenario = "fig1.toml"
columns = [{ path = "groups.ftp.jain", label = "Jain's index" }]
[[claim]]
id = "T.fig1.used/linux"
item = "fig1-linux"
place = "section 1"
quote = "the link is well used"
ours = true
measure = "links.bottleneck.utilization"
test = { at_least = 0.5 }
source = "half of it is well used"
"#;

#[test]
fn real_packets_are_for_those_who_ask_for_them() {
    let bench = bench();
    bench.write("papers/two/paper.toml", &format!("{PAPER}{ON_LINUX}"));
    let found = bench.json(&["paper", "two", "--json", "--record"]);
    let claims: Vec<_> = found["claims"].as_array().unwrap().iter().map(|c| c["id"].clone()).collect();
    assert_eq!(claims, ["T.fig1.used/high", "T.fig1.used/sweep"]);
    let listed = bench.json(&["paper", "two", "--list", "--json"]);
    assert_eq!(listed[2]["world"], "linux", "{listed}");

    for (arguments, says) in [
        (["paper", "two", "--world", "fluid"], "--world: `two` does not run in this world; nothing of it does"),
        (
            ["paper", "two/fig1", "--world", "linux"],
            "--world: `two/fig1` does not run in this world; it runs in `packets`",
        ),
    ] {
        let refused = bench.run(&arguments);
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(refused.err.contains(says), "{}", refused.err);
    }
}
