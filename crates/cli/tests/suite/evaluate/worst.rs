//! The scenario of a worst cell, on the page and as a file.

use std::fs;

use super::{CRITERION, SCENARIO, battery, evaluate, json};
use crate::bench::Bench;

const HOME: &str = "out/evaluation-vegas-quick";

/// The file of the worst cell runs again by itself, as the run that the page names.
fn runs_again(bench: &Bench) {
    let evaluation = json(&fs::read(bench.path(HOME).join("evaluation.json")).unwrap());
    let measured = &evaluation["criteria"][0]["measures"][0];
    let at = usize::try_from(measured["worst_cell"].as_u64().unwrap()).unwrap();
    let run = measured["cells"][at]["run"].as_str().unwrap();
    let again = bench.json(&["run", &format!("{HOME}/worst-cells/EV-04.toml"), "--out", "again", "--json"]);
    let record = bench.path(again["runs"][0]["record"].as_str().unwrap()).join("record.toml");
    assert!(fs::read_to_string(record).unwrap().contains(&format!("id = \"{run}\"")));
}

#[test]
fn the_page_has_the_scenario_of_the_worst_cell() {
    let bench = battery(CRITERION);
    bench.well(&evaluate(&[]));
    let read = |name: &str| fs::read_to_string(bench.path(HOME).join(name)).unwrap();
    let worst = read("worst-cells/EV-04.toml");
    assert!(worst.starts_with("# EV-04: Bufferbloat. Law: vegas. Worst cell: "), "{worst}");
    let html = read("evaluation.html");
    assert!(html.contains("<summary>worst-cells/EV-04.toml</summary>") && html.contains("law = &quot;vegas&quot;"));
    runs_again(&bench);
}

/// A trace stands beside the scenarios that name it.
#[test]
fn the_worst_cell_has_its_trace() {
    let bench = battery(CRITERION);
    let scenario =
        SCENARIO.replace("\"5 Mbit/s\"", "{ trace = \"line.trace\" }").replace("\"1 bdp\"", "\"40 packets\"");
    bench.write("battery/scenarios/flows.toml", &scenario.replace("\"4 bdp\"", "\"80 packets\""));
    bench.write("battery/scenarios/line.trace", "2\n5\n8\n");
    bench.well(&evaluate(&[]));
    assert_eq!(bench.names(&format!("{HOME}/worst-cells")), ["EV-04.toml", "line.trace"]);
    runs_again(&bench);
}
