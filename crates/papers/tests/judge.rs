//! Every kind of test, on both sides of its bound.

use penstock_papers::{
    Cell, Comparison, Extent, Item, JudgedClaim, Paper, Verdict, Verdicts, bound, drawable, figure, judge, rows,
};
use serde_json::json;

/// A paper with one runnable item and one claim, to which `claim` adds measure, cells and test.
fn paper(claim: &str) -> Paper {
    let text = format!(
        r#"
format = 1
title = "T"
authors = ["A"]
published = "2003"
[[item]]
id = "fig1"
title = "F"
place = "figure 1"
world = "packets"
scenario = "fig1.toml"
x = {{ key = "capacity", label = "capacity" }}
y = {{ path = "u", label = "utilization" }}
columns = [{{ path = "u", label = "utilization" }}]
reference = [{{ label = "theirs", source = "S", points = [["100 Mbit/s", 0.5], ["9 Gbit/s", 0.1]] }}]
[[claim]]
id = "T.fig1/one"
item = "fig1"
place = "p"
quote = "q"
source = "s"
measure = "u"
{claim}
"#
    );
    Paper::parse(&text, "paper.toml").unwrap()
}

fn cell(case: &str, capacity: &str, seed: &str, u: f64) -> Cell {
    let labels = [("capacity", capacity), ("case", case), ("seed", seed)];
    Cell::of_json(
        labels.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec(),
        json!({ "u": u, "at": { "a": u, "b": 0.5 } }),
    )
}

/// RED falls from 0.9 to 0.7, not in the order of the file; FAST stays; two seeds.
fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (seed, off) in [("1", -0.0005), ("2", 0.0005)] {
        for (capacity, red) in [("1 Gbit/s", 0.7), ("100 Mbit/s", 0.9), ("500 Mbit/s", 0.8)] {
            cells.push(cell("RED", capacity, seed, red + off));
            cells.push(cell("FAST", capacity, seed, 0.95 + off));
        }
    }
    cells
}

#[test]
fn a_claim_has_the_unit_of_what_it_measures() {
    let unit_of = |name: &str| match name.rsplit_once('_') {
        Some((_, "s")) => "s",
        Some((_, "packets")) => "packets",
        _ => "",
    };
    let unit = |claim: &str| paper(&format!("{claim}\ntest = {{ at_least = 1 }}")).claims[0].unit(unit_of);
    // The helper's own measure is `u`, a plain number.
    assert_eq!(unit(""), "");
    assert_eq!(unit("over = \"at.delay_s\""), "1/s");
    let claim = |claim: &str| {
        let mut paper = paper("test = { at_least = 1 }");
        let mut one = paper.claims.remove(0);
        let span = one.measure.as_ref().unwrap().span();
        one.measure = Some(toml::Spanned::new(span, claim.to_owned()));
        one
    };
    assert_eq!(claim("links.a.queue_packets").unit(unit_of), "packets");
    let mut ratio = claim("groups.a.rtt_s");
    assert_eq!(ratio.unit(unit_of), "s");
    ratio.over = ratio.measure.clone();
    assert_eq!(ratio.unit(unit_of), "", "seconds over seconds");
    ratio.over = None;
    ratio.per.insert("case".to_owned(), "FAST".to_owned());
    assert_eq!(ratio.unit(unit_of), "", "a share of the same in other cells");
}

#[test]
fn a_bound_is_said_in_the_unit_that_the_caller_prints() {
    let paper = paper("test = { above = { case = \"RED\", by = 1e6 } }");
    let test = paper.claims[0].test.as_ref().unwrap().get_ref();
    assert_eq!(bound(test, &|x| format!("{} Mbit/s", x / 1e6)), "above RED by 1 Mbit/s at least");
    assert_eq!(bound(test, &|x| x.to_string()), "above RED by 1000000 at least");
}

/// Data of a paper for a case are paired with ours: by the label, or by `of`; the interval is that of the mean.
#[test]
fn lines_of_others_are_paired_with_ours() {
    let mut paper = paper("test = { at_least = 1 }");
    let item = &mut paper.items[0];
    let of = |item: &penstock_papers::Item| {
        let drawn = figure(item, &cells()).unwrap().unwrap();
        (drawn.lines.last().unwrap().of.clone(), drawn.lines[0].points[0].ci95)
    };
    assert_eq!(of(item).0, None, "`theirs` names no line of ours");
    item.reference[0].label = "fast, paper".to_owned();
    assert_eq!(of(item).0.as_deref(), Some("FAST"));
    item.reference[0].of = Some("RED".to_owned());
    assert_eq!(of(item).0.as_deref(), Some("RED"));
    // Two seeds 0.001 apart: 12.7062 times 0.0005.
    assert!((of(item).1.unwrap() - 0.006_353).abs() < 1e-5);
}

/// A point is the mean over seeds. Cells that differ by another key are lines of their own, or of another figure.
#[test]
fn no_point_is_a_mean_over_a_swept_key() {
    let with = |y: &str| {
        let text = format!(
            "format = 1\ntitle = 'T'\nauthors = ['A']\npublished = '2003'\nclaim = []\n[[item]]\nid = 'fig1'\ntitle = \
             'F'\nplace = 'p'\nworld = 'packets'\nscenario = 'fig1.toml'\nx = {{ key = 'capacity', label = 'c' }}\n{y}\n"
        );
        Paper::parse(&text, "paper.toml").unwrap().items.remove(0)
    };
    let all: Vec<Cell> = ["none", "1e-4"]
        .iter()
        .flat_map(|loss| {
            cells().into_iter().map(|mut cell| {
                cell.labels.push(("loss".to_owned(), (*loss).to_owned()));
                cell
            })
        })
        .collect();
    let labels: Vec<Vec<(String, String)>> = all.iter().map(|cell| cell.labels.clone()).collect();
    let y = |cells: &str| format!("y = {{ path = 'u', label = 'u'{cells} }}");
    let names = |item: &Item| -> Vec<String> {
        assert_eq!(drawable(item, &labels), Ok(()));
        let all: Vec<Cell> = all.iter().filter(|cell| item.shows(&cell.labels, Extent::Full)).cloned().collect();
        figure(item, &all).unwrap().unwrap().lines.into_iter().map(|line| line.label).collect()
    };

    let averaged = with(&y(""));
    let what = "each point would be the mean over `loss` (none, 1e-4): draw a line for each with lines = [\"case\", \"loss\"], \
                or choose the cells of the figure, as in y = { ..., cells = { \"loss\" = \"none\" } }";
    assert_eq!(drawable(&averaged, &labels).unwrap_err().what, what);
    assert_eq!(figure(&averaged, &all).unwrap_err(), format!("F: {what}"));
    assert_eq!(names(&with(&format!("lines = ['case', 'loss']\n{}", y("")))).len(), 4);
    assert_eq!(names(&with(&y(", cells = { loss = 'none' }"))), ["RED", "FAST"]);
    assert_eq!(names(&with(&format!("cells = {{ loss = 'none' }}\n{}", y("")))), ["RED", "FAST"]);
    // Several keys name a line with the key of a plain number.
    let lines = names(&with(&format!("lines = ['case', 'loss']\n{}", y(", cells = { loss = '1e-4' }"))));
    assert_eq!(lines, ["RED, loss 1e-4", "FAST, loss 1e-4"]);

    // A figure beside the first is checked too, and one without cells is a mistake; a short run may have none of them.
    let beside = with(&format!("{}\nalso = [{{ path = 'u', label = 'v' }}]", y(", cells = { loss = 'none' }")));
    assert_eq!(drawable(&beside, &labels).unwrap_err().what, what);
    let none = with(&y(", cells = { loss = '1e-5' }"));
    assert_eq!(drawable(&none, &labels).unwrap_err().what, "`cells` of `u` selects no cell");
    assert_eq!(figure(&none, &all), Ok(None));
}

fn claimed(claim: &str) -> JudgedClaim {
    let paper = paper(claim);
    judge(&paper.claims[0], &paper.items[0], &cells(), Extent::Full).unwrap()
}

fn verdict(claim: &str) -> Verdict {
    claimed(claim).verdict
}

/// `finding` is the key that recorded papers had.
#[test]
fn a_result_that_the_paper_does_not_state_is_marked() {
    let unstated =
        |key: &str| claimed(&format!("{key}cells = {{ case = 'FAST' }}\ntest = {{ at_least = 0.9 }}")).unstated;
    assert_eq!(["", "unstated = true\n", "finding = true\n"].map(unstated), [false, true, true]);
}

#[test]
fn a_number_is_held_against_a_bound() {
    assert_eq!(verdict("cells = { case = 'FAST' }\ntest = { at_least = 0.949 }"), Verdict::Holds);
    assert_eq!(verdict("cells = { case = 'FAST' }\ntest = { at_least = 0.951 }"), Verdict::Fails);
    assert_eq!(verdict("cells = { case = 'RED' }\ntest = { at_most = 0.901 }"), Verdict::Holds);
    assert_eq!(verdict("cells = { case = 'RED' }\ntest = { at_most = 0.85 }"), Verdict::Fails);
    assert_eq!(
        verdict("cells = { case = 'FAST' }\ntest = { within = { value = 0.96, relative = 0.02 } }"),
        Verdict::Holds
    );
    assert_eq!(
        verdict("cells = { case = 'FAST' }\ntest = { within = { value = 0.96, absolute = 0.005 } }"),
        Verdict::Fails
    );
}

#[test]
fn seeds_decide_when_each_is_asked() {
    let claim = "cells = { case = 'FAST' }\ntest = { at_least = 0.9496 }\n";
    assert_eq!(verdict(&format!("{claim}seeds = 'each'")), Verdict::Fails);
    assert_eq!(verdict(&format!("{claim}seeds = 'min'")), Verdict::Fails);
    assert_eq!(verdict(&format!("{claim}seeds = 'max'")), Verdict::Holds);
}

#[test]
fn a_reduction_leaves_one_number() {
    let found =
        claimed("cells = { case = 'RED' }\nreduce = 'mean'\ntest = { within = { value = 0.8, absolute = 1e-3 } }");
    assert_eq!((found.verdict, found.measured.len()), (Verdict::Holds, 1));
}

#[test]
fn falling_goes_by_the_value_of_the_key_not_by_the_file() {
    let found = claimed("cells = { case = 'RED' }\ntest = { falls = { along = 'capacity', rise_at_most = 0.0 } }");
    assert_eq!(found.verdict, Verdict::Holds);
    let at: Vec<&str> = found.measured.iter().map(|m| m.at.as_str()).collect();
    assert_eq!(at, ["100 Mbit/s", "500 Mbit/s", "1 Gbit/s"]);
}

#[test]
fn a_fall_is_bounded_from_step_to_step_and_in_all() {
    let falls = |bounds: &str| {
        verdict(&format!("cells = {{ case = 'RED' }}\ntest = {{ falls = {{ along = 'capacity', {bounds} }} }}"))
    };
    assert_eq!(falls("drop_at_least = 0.19"), Verdict::Holds);
    assert_eq!(falls("drop_at_least = 0.21"), Verdict::Fails);
    assert_eq!(falls("rise_at_most = -0.11"), Verdict::Fails);
    assert_eq!(falls("rise_at_most = 0.01, drop_at_least = 0.19"), Verdict::Holds);
}

#[test]
fn cases_are_compared_at_each_point() {
    assert_eq!(verdict("cells = { case = 'FAST' }\ntest = { above = { case = 'RED' } }"), Verdict::Holds);
    assert_eq!(verdict("cells = { case = 'FAST' }\ntest = { below = { case = 'RED' } }"), Verdict::Fails);
    assert_eq!(
        verdict("cells = { case = 'FAST' }\ntest = { times = { of = { case = 'RED' }, at_least = 1.0 } }"),
        Verdict::Holds
    );
    assert_eq!(
        verdict("cells = { case = 'FAST' }\ntest = { times = { of = { case = 'RED' }, at_least = 3.0 } }"),
        Verdict::Fails
    );
    assert_eq!(
        verdict("cells = { case = 'FAST' }\ntest = { times = { of = { case = 'RED' }, at_most = 0.9 } }"),
        Verdict::Fails
    );
    assert_eq!(verdict("test = { order = { of = 'case', rising = ['RED', 'FAST'] } }"), Verdict::Holds);
    assert_eq!(verdict("test = { order = { of = 'case', rising = ['FAST', 'RED'] } }"), Verdict::Fails);
    let found = claimed("cells = { case = 'FAST', capacity = '1 Gbit/s' }\ntest = { above = { case = 'RED' } }");
    assert_eq!(found.measured.len(), 1);
    assert!((found.measured[0].against.unwrap() - 0.7).abs() < 1e-9);
}

#[test]
fn a_difference_can_be_asked_for() {
    let above = |by: &str| {
        verdict(&format!(
            "cells = {{ case = 'FAST', capacity = '1 Gbit/s' }}\ntest = {{ above = {{ case = 'RED', by = {by} }} }}"
        ))
    };
    assert_eq!(above("0.24"), Verdict::Holds);
    assert_eq!(above("0.26"), Verdict::Fails);
    let below = |by: &str| {
        verdict(&format!(
            "cells = {{ case = 'RED', capacity = '1 Gbit/s' }}\ntest = {{ below = {{ case = 'FAST', by = {by} }} }}"
        ))
    };
    assert_eq!(below("0.24"), Verdict::Holds);
    assert_eq!(below("0.26"), Verdict::Fails);
    let equal = "cells = { case = 'FAST', capacity = '1 Gbit/s' }\ntest = { above = { case = 'FAST' } }";
    assert_eq!(verdict(equal), Verdict::Fails, "nothing is above itself");
}

#[test]
fn cells_may_have_one_of_several_values() {
    let found = claimed("cells = { case = 'RED', capacity = ['1 Gbit/s', '500 Mbit/s'] }\ntest = { at_most = 0.801 }");
    assert_eq!((found.verdict, found.measured.len()), (Verdict::Holds, 2));
    assert!(found.measured.iter().all(|m| m.at.contains("bit/s")), "which of them is said");
}

/// u - 0.5, halved: RED at 1 Gbit/s has (0.7 - 0.5) / 0.5 = 0.4.
#[test]
fn a_number_may_be_a_difference_and_a_ratio() {
    let found = claimed(
        "cells = { case = 'RED', capacity = '1 Gbit/s' }\nminus = 'at.b'\nover = 'at.b'\ntest = { within = { value = 0.4, absolute = 2e-3 } }",
    );
    assert_eq!(found.verdict, Verdict::Holds);
    assert_eq!(found.measure.as_deref(), Some("(u - at.b) / at.b"));
}

#[test]
fn a_table_holds_where_each_number_is_near_its_own_value() {
    let table = |a: f64| {
        let mut paper = paper(&format!(
            "cells = {{ case = 'RED', capacity = '1 Gbit/s' }}\ntest = {{ table = {{ relative = 0.01, values = {{ a = {a}, b = 0.5 }} }} }}"
        ));
        paper.claims[0].measure = Some(toml::Spanned::new(0..0, "at".into()));
        judge(&paper.claims[0], &paper.items[0], &cells(), Extent::Full).unwrap()
    };
    assert_eq!(table(0.7).verdict, Verdict::Holds);
    let off = table(0.72);
    assert_eq!(off.verdict, Verdict::Fails);
    let kept: Vec<(&str, bool)> = off.measured.iter().map(|m| (m.at.as_str(), m.keeps)).collect();
    assert_eq!(kept, [("a", false), ("b", true)]);
}

/// A share of a number is a share of its size: around -2 there is as much room as around 2, in a table and alone.
#[test]
fn around_a_negative_number_there_is_as_much_room() {
    for wanted in [2.0, -2.0] {
        let verdict = |measure: &str, test: &str, off: f64| {
            let mut paper = paper(&format!("test = {{ {test} }}"));
            paper.claims[0].measure = Some(toml::Spanned::new(0..0, measure.into()));
            let cells = [cell("RED", "1 Gbit/s", "1", wanted + off)];
            judge(&paper.claims[0], &paper.items[0], &cells, Extent::Full).unwrap().verdict
        };
        let table = format!("table = {{ relative = 0.01, values = {{ a = {wanted:?} }} }}");
        let within = format!("within = {{ value = {wanted:?}, relative = 0.01 }}");
        let (near, far) = (Verdict::Holds, Verdict::Fails);
        for (off, expected) in [(0.019, near), (-0.019, near), (0.021, far), (-0.021, far)] {
            assert_eq!(verdict("at", &table, off), expected, "table: {off} from {wanted}");
            assert_eq!(verdict("u", &within, off), expected, "within: {off} from {wanted}");
        }
    }
}

#[test]
fn what_cannot_be_told_is_said() {
    let paper = paper("cells = { case = 'RENO' }\ntest = { at_least = 1.0 }");
    let error = judge(&paper.claims[0], &paper.items[0], &cells(), Extent::Full).unwrap_err();
    assert_eq!(error.to_string(), "claim `T.fig1/one`: no cell has case = \"RENO\"");
}

#[test]
fn short_runs_leave_out_what_needs_the_whole_sweep() {
    let paper = paper("short = false\ntest = { at_least = 0.0 }");
    let found = judge(&paper.claims[0], &paper.items[0], &cells(), Extent::Short).unwrap();
    assert_eq!((found.verdict, found.why.as_deref()), (Verdict::NotRunHere, Some("needs the whole sweep")));
}

#[test]
fn a_verdict_that_differs_from_the_record_is_seen_and_the_record_survives_its_own_text() {
    let found = claimed("cells = { case = 'FAST' }\ntest = { at_least = 0.9 }");
    let mut verdicts = Verdicts::parse("format = 1", "verdicts.toml").unwrap();
    assert_eq!(verdicts.compare(&found, Extent::Full), Comparison::New);
    verdicts.record(std::slice::from_ref(&found), Extent::Full);
    let text = verdicts.text("t");
    let mut read = Verdicts::parse(&text, "verdicts.toml").unwrap();
    assert_eq!(read, verdicts);
    assert_eq!(read.compare(&found, Extent::Full), Comparison::Same);
    assert_eq!(read.compare(&found, Extent::Short), Comparison::New, "short runs are on record apart");
    let other = JudgedClaim { verdict: Verdict::Fails, ..found };
    assert_eq!(read.compare(&other, Extent::Full), Comparison::Differs);
    read.keep(&[]);
    assert_eq!(read.claims().count(), 0);
}

#[test]
fn a_figure_has_a_line_a_case_with_a_band_of_seeds() {
    let paper = paper("test = { at_least = 0.0 }");
    let drawn = figure(&paper.items[0], &cells()).unwrap().unwrap();
    let labels: Vec<&str> = drawn.lines.iter().map(|l| l.label.as_str()).collect();
    assert_eq!(labels, ["RED", "FAST", "theirs"]);
    let red = &drawn.lines[0].points;
    assert_eq!(red.iter().map(|p| p.x).collect::<Vec<_>>(), [100e6, 500e6, 1000e6]);
    assert!((red[0].mean - 0.9).abs() < 1e-9 && (red[0].max - red[0].min - 0.001).abs() < 1e-9);
    assert_eq!(drawn.lines[2].points.len(), 1, "what others measured elsewhere is left out");
    assert_eq!(rows(&paper.items[0], &cells()).unwrap().len(), 12);
}

/// The theory's items: what they need, and what has no meaning there.
#[test]
fn items_that_are_analysed_or_computed_run_nothing() {
    let head = "format = 1\ntitle = 'T'\nauthors = []\npublished = '2003'\nclaim = []\n[[item]]\nid = 'a'\ntitle = 't'\nplace = 'p'\n";
    let read = |rest: &str| Paper::parse(&format!("{head}{rest}"), "paper.toml");
    let refused = |rest: &str| read(rest).unwrap_err().what;
    let both = "formula = 'f'\nover = { k = '1' }\nanalysis = 's.toml'\nloops = ['gain']";
    assert_eq!(refused(both), "item `a`: `scenario`, `analysis` and `formula` exclude each other");
    let run = "analysis = 's.toml'\nworld = 'packets'\nloops = ['gain']";
    assert_eq!(refused(run), "item `a`: nothing runs over time here: leave `world` and `traces` out");
    assert_eq!(refused("formula = 'f'\nloops = ['gain']"), "item `a`: `formula` and `over` go together");
    let at = "formula = 'f'\nover = { k = '1' }\nat = ['1 s']\nloops = ['gain']";
    assert_eq!(refused(at), "item `a`: `at` and `model` go with `analysis`");
    let drawn = "world = 'packets'\nscenario = 's'\nloops = ['gain']";
    assert_eq!(refused(drawn), "item `a`: `loops` goes with `analysis` or `formula`");
    assert!(refused("formula = 'f'\nover = { k = '1' }").starts_with("item `a`: shows nothing"));

    let item =
        &read("formula = 'f'\nover = { k = ['1', '2'], m = '3', n = ['x', 'y'] }\nloops = ['gain']").unwrap().items[0];
    let values = |cell: &Vec<(String, String)>| cell.iter().map(|(_, v)| v.as_str()).collect::<Vec<_>>().concat();
    assert_eq!(item.combinations().iter().map(values).collect::<Vec<_>>(), ["13x", "13y", "23x", "23y"]);
    assert_eq!(item.runs(), Some("formula"));
}

#[test]
fn bad_papers_are_refused_with_line_and_remedy() {
    let head = "format = 1\ntitle = 'T'\nauthors = []\npublished = '2003'\nclaim = []\n";
    let refused = |rest: &str| Paper::parse(&format!("{head}{rest}"), "paper.toml").unwrap_err().to_string();
    assert_eq!(
        refused("[[item]]\nid = 'a'\ntitle = 't'\nplace = 'p'\nwrold = 'packets'"),
        "paper.toml:10: unknown key `wrold`; did you mean `world`?"
    );
    assert_eq!(
        refused("[[item]]\nid = 'a'\ntitle = 't'\nplace = 'p'\nworld = 'packets'"),
        "paper.toml:7: item `a`: needs `scenario`, or `not_run` with the reason why it is not run here"
    );
    assert_eq!(
        refused("[[item]]\nid = 'a'\ntitle = 't'\nplace = 'p'\nworld = 'packets'\nscenario = 's'"),
        "paper.toml:7: item `a`: shows nothing: give `x` and `y`, `traces`, `columns`, or `loops`"
    );
    assert_eq!(
        refused("[[item]]\nid = 'a'\ntitle = 't'\nplace = 'p'\nworld = 'packets'\nscenario = 's'\ntraces = ['queue']"),
        "paper.toml:7: item `a`: `queue` is no trace: write TABLE.COLUMN, as in links.queue_packets"
    );
    assert_eq!(
        refused(
            "[[item]]\nid = 'a'\ntitle = 't'\nplace = 'p'\nworld = 'packets'\nscenario = 's'\nx = { key = 'k', label = 'l' }\ny = { path = 'engine.cpu_s', label = 'l' }"
        ),
        "paper.toml:7: item `a`: `engine.cpu_s` measures the cost of a run, which differs from run to run: choose a result of the run"
    );
}

/// Five seeds, of which the claim's mean hangs on one.
fn scattered(values: [f64; 5]) -> Vec<Cell> {
    values.iter().zip(1..).map(|(u, seed)| cell("FAST", "1 Gbit/s", &seed.to_string(), *u)).collect()
}

fn judged(claim: &str, cells: &[Cell]) -> JudgedClaim {
    let paper = paper(claim);
    judge(&paper.claims[0], &paper.items[0], cells, Extent::Full).unwrap()
}

/// The mean keeps the bound; without the fifth seed, which 0.8^5 = 33 % of draws lack, it would not.
#[test]
fn a_verdict_that_hangs_on_one_seed_is_undecided() {
    let cells = scattered([0.90, 0.90, 0.90, 0.90, 1.00]);
    let found = judged("test = { at_least = 0.91 }", &cells);
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!(found.seeds, Some(5));
    let chance = found.chance.unwrap();
    assert!((chance - (1.0 - 0.327_68)).abs() < 0.05, "{chance}");
    assert_eq!(
        found.why.unwrap(),
        format!("{} % of bootstrap samples of the 5 seeds keep the bound", (100.0 * chance).round())
    );

    let undecided = |least: f64| judged(&format!("test = {{ at_least = {least} }}"), &cells).verdict;
    assert_eq!(undecided(0.90), Verdict::Holds);
    assert_eq!(undecided(0.97), Verdict::Fails, "all draws but 5 in 1000 are below");
    assert_eq!(undecided(0.93), Verdict::Undecided, "26 % of draws have the fifth seed twice");
}

#[test]
fn the_same_seeds_give_the_same_draws() {
    let cells = scattered([0.8, 0.9, 1.0, 0.7, 0.95]);
    let chance = || judged("test = { at_least = 0.87 }", &cells).chance;
    assert_eq!(chance(), chance());
}

/// A claim about each seed, or about the extremes, has no draws.
#[test]
fn a_claim_about_every_seed_is_not_drawn() {
    let cells = scattered([0.90, 0.90, 0.90, 0.90, 1.00]);
    for seeds in ["each", "min", "max"] {
        let found = judged(&format!("seeds = '{seeds}'\ntest = {{ at_least = 0.9 }}"), &cells);
        assert_eq!((found.verdict, found.chance), (Verdict::Holds, None), "{seeds}");
    }
}

/// Student's t for four degrees of freedom is 2.776; the five have sd 0.1 about 0.5: a trial is within 0.304.
#[test]
fn a_printed_trial_is_held_against_the_scatter_of_ours() {
    let spread = 0.1 * 0.4_f64.sqrt();
    let cells = scattered([0.5 - 2.0 * spread, 0.5 - spread, 0.5, 0.5 + spread, 0.5 + 2.0 * spread]);
    let verdict = |printed: f64| judged(&format!("test = {{ trial = {printed} }}"), &cells).verdict;
    assert_eq!(verdict(0.80), Verdict::Holds);
    assert_eq!(verdict(0.81), Verdict::Fails);
    assert_eq!(verdict(0.19), Verdict::Fails);
    let paper = paper("test = { trial = 0.8 }");
    let one = judge(&paper.claims[0], &paper.items[0], &cells[..1], Extent::Full).unwrap_err();
    assert!(one.to_string().contains("needs two seeds"), "{one}");
}

/// A run that was outside its error bounds decides nothing that it is part of.
#[test]
fn a_run_outside_its_error_bounds_decides_nothing() {
    let labels =
        |case: &str| vec![("capacity".to_owned(), "1 Gbit/s".to_owned()), ("case".to_owned(), case.to_owned())];
    let outside = Cell::of_json(labels("FAST"), json!({ "u": 0.9, "path": { "beyond": ["late by 20 ms"] } }));
    let within = Cell::of_json(labels("RED"), json!({ "u": 0.8, "path": { "beyond": [] } }));
    let cells = [outside, within];
    let of = |claim: &str| judged(claim, &cells);
    let found = of("cells = { case = 'FAST' }\ntest = { at_least = 0.5 }");
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!(found.why.unwrap(), "1 of 1 run is outside its error bounds");
    assert_eq!(of("cells = { case = 'RED' }\ntest = { at_least = 0.5 }").verdict, Verdict::Holds);
    let compared = of("cells = { case = 'RED' }\ntest = { below = { case = 'FAST' } }");
    assert_eq!(compared.verdict, Verdict::Undecided, "it compares with the run outside");
}

/// 0.95 against 0.9: a change by 5.3 % turns it; steps of 25 % from 0.1 % give 5.4 %.
#[test]
fn the_smallest_change_that_turns_a_verdict_is_known() {
    let flips = |claim: &str| claimed(claim).flips.unwrap();
    let of_fast = flips("cells = { case = 'FAST' }\ntest = { at_least = 0.9 }");
    assert!((0.0526..0.0526 * 1.25).contains(&of_fast), "{of_fast}");
    // A claim that compares turns when one side moves to the other: 0.7 to 0.95.
    let order =
        flips("cells = { capacity = '1 Gbit/s' }\ntest = { order = { of = 'case', rising = ['RED', 'FAST'] } }");
    assert!((0.263..0.264 * 1.25).contains(&order), "{order}");
    // Zero has no share: the bound's counts.
    let paper = paper("test = { at_most = 0.5 }");
    let none = [cell("RED", "1 Gbit/s", "1", 0.0)];
    let zero = judge(&paper.claims[0], &paper.items[0], &none, Extent::Full).unwrap().flips.unwrap();
    assert!((1.0..1.25).contains(&zero), "{zero}");
}

/// A bound that nothing can break, such as a share of zero or more that is divided by itself, is found.
#[test]
fn a_claim_that_cannot_fail_has_no_change_that_turns_it() {
    let found = claimed("cells = { case = 'FAST' }\nseeds = 'sd'\nreduce = 'ratio'\ntest = { at_least = -100.0 }");
    assert_eq!(found.flips, None);
}
