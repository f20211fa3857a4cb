//! Axes of a sweep, and seeds.

use super::*;

/// Keys that change together are one axis, whatever its name; two such axes cross.
#[test]
fn named_axes_cross_each_other() {
    let text = format!(
        "{LAB}\n[sweep]\nseed = {{ count = 2 }}\n[[sweep.capacity]]\nname = \"slow\"\n\"links.bottleneck.rate\" = \"10 Mbit/s\"\n\
         duration = \"30 s\"\n[[sweep.capacity]]\nname = \"fast\"\n\"links.bottleneck.rate\" = \"20 Mbit/s\"\n[[sweep.case]]\n\
         name = \"FAST\"\n\"flows.ftp.cc\" = {{ law = \"fast\" }}\n"
    );
    let cells = Document::parse(&text, "lab.toml").unwrap().cells().unwrap();
    let labels: Vec<Vec<&str>> =
        cells.iter().map(|c| c.labels.iter().map(|(_, value)| value.as_str()).collect()).collect();
    assert_eq!(labels, [["slow", "FAST", "1"], ["slow", "FAST", "2"], ["fast", "FAST", "1"], ["fast", "FAST", "2"]]);
    assert_eq!(cells[0].scenario.duration, Time::from_seconds(30.0));
    assert_eq!(cells[2].scenario.links["bottleneck"].rate, Rate(20_000_000));
    let twice = text.replace("\"flows.ftp.cc\" = { law = \"fast\" }", "duration = \"5 s\"");
    let refused = Document::parse(&twice, "lab.toml").unwrap().cells().unwrap_err().to_string();
    assert!(refused.contains("set the same key"), "{refused}");
}

/// Of thousands of cells the reader asks before each one whether it goes on.
#[test]
fn the_reading_of_a_sweep_can_be_stopped() {
    let document = Document::parse(&format!("{LAB}{SWEEP}"), "lab.toml").unwrap();
    let asked = std::cell::Cell::new(0);
    let goes_on = |most: usize| {
        asked.set(asked.get() + 1);
        asked.get() <= most
    };
    let ids = |cells: &[Cell]| cells.iter().map(|cell| cell.id.clone()).collect::<Vec<_>>();
    let all = document.cells_while(&|| goes_on(16)).unwrap().unwrap();
    assert_eq!(ids(&all), ids(&document.cells().unwrap()));
    asked.set(0);
    assert!(document.cells_while(&|| goes_on(5)).unwrap().is_none());
    assert_eq!(asked.get(), 6);
}

/// A part of a sweep has the cells that all of it has there, and a look at each sees all of them.
#[test]
fn a_sweep_can_be_read_in_parts() {
    let document = Document::parse(&format!("{LAB}{SWEEP}"), "lab.toml").unwrap();
    let names = |cells: Vec<Cell>| cells.into_iter().map(|cell| (cell.id, cell.labels)).collect::<Vec<_>>();
    let all = names(document.cells().unwrap());
    let part = |numbers| names(document.cells_in(numbers).unwrap());
    assert_eq!((part(0..16), part(3..7)), (all.clone(), all[3..7].to_vec()));
    assert_eq!((part(14..99), part(16..20)), (all[14..].to_vec(), Vec::new()));
    let mut seen = Vec::new();
    assert!(document.each_cell(&|| true, &mut |cell| seen.push(cell)).unwrap());
    assert_eq!(names(seen), all);
    assert!(!document.each_cell(&|| false, &mut |_| panic!("it was stopped")).unwrap());
    let single = Document::parse(LAB, "lab.toml").unwrap();
    assert_eq!([0..1, 1..2].map(|numbers| single.cells_in(numbers).unwrap().len()), [1, 0]);
    // Only what is wrong with these cells is said of them.
    let wrong = "\n[sweep]\n\"links.bottleneck.rate\" = [\"10 Mbit/s\", \"fast\"]\n";
    let wrong = Document::parse(&format!("{LAB}{wrong}"), "lab.toml").unwrap();
    assert_eq!(wrong.cells_in(0..1).unwrap().len(), 1);
    assert!(wrong.cells_in(1..2).unwrap_err().to_string().contains("`fast`"));
    wrong.each_cell(&|| true, &mut |_| {}).unwrap_err();
}

#[test]
fn a_sweep_is_the_product_of_its_axes_in_declared_order() {
    let text = format!("{LAB}{SWEEP}");
    let cells = cells(&text).unwrap();
    assert_eq!(cells.len(), 16);
    let labels = |at: usize| cells[at].labels.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>();
    assert_eq!(
        cells[0].name(),
        "links.bottleneck.rate = 155 Mbit/s, flows.ftp.count = 10, case = NewReno/RED, seed = 1"
    );
    assert_eq!(labels(1), ["155 Mbit/s", "10", "NewReno/RED", "2"]);
    assert_eq!(labels(2), ["155 Mbit/s", "10", "FAST", "1"]);
    assert_eq!(labels(4), ["155 Mbit/s", "20", "NewReno/RED", "1"]);
    assert_eq!(labels(15), ["622 Mbit/s", "20", "FAST", "2"]);
    let last = &cells[15].scenario;
    assert_eq!((last.links["bottleneck"].rate, last.groups["ftp"].count), (Rate(622_000_000), 20));
    assert_eq!((last.groups["ftp"].cc.law.name, last.seed.0), ("fast", 2));
    assert_eq!(last.links["bottleneck"].aqm.law.name, "droptail");
    assert_eq!(cells[0].scenario.links["bottleneck/back"].aqm.law.name, "red");
    let mut ids: Vec<_> = cells.iter().map(|cell| cell.id.clone()).collect();
    assert!(ids.iter().all(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 16);
}

/// Seeds count up from the scenario's own.
#[test]
fn seeds_count_up_or_are_listed() {
    let seeds = |sweep: &str| {
        let text = format!("{}[sweep]\n{sweep}\n", with("title", "seed = 7\ntitle"));
        cells(&text).unwrap().iter().map(|cell| cell.scenario.seed.0).collect::<Vec<_>>()
    };
    assert_eq!(seeds("seed = { count = 3 }"), [7, 8, 9]);
    assert_eq!(seeds("seed = [5, 3]"), [5, 3]);
    assert_eq!(seeds("seed = { count = 1 }"), [7]);
}
