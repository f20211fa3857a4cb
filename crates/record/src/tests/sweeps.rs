//! `sweep.json` and `cells.parquet`.

use indexmap::IndexSet;

use super::*;

fn cell<'a>(labels: &'a [(String, String)], run: &'a Run) -> SweepCell<'a> {
    SweepCell { path: "x-0123abcd", labels, id: "x", summary: &run.summary }
}

fn swept(cells: &[SweepCell<'_>]) -> Value {
    sweep(cells, &SweepHeader { title: "t", changes: &[], origin: &origin() }).unwrap()
}

#[test]
fn a_sweep_summarises_over_seeds_within_equal_labels() {
    let label =
        |case: &str, seed: u64| vec![("case".to_owned(), case.to_owned()), ("seed".to_owned(), seed.to_string())];
    let labels = [label("A", 1), label("A", 2), label("B", 1)];
    let runs = [run(1), run(2), run(3)];
    let cells: Vec<_> = labels.iter().zip(&runs).map(|(labels, run)| cell(labels, run)).collect();
    let json = swept(&cells);
    assert_eq!(json["cells"][1]["labels"], serde_json::json!({ "case": "A", "seed": "2" }));
    assert_eq!(json["cells"][1]["summary"]["seed"], 2);
    let groups = json["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0]["labels"], serde_json::json!({ "case": "A" }));
    assert_eq!(groups[0]["seeds"], serde_json::json!([1, 2]));
    let measures = &groups[0]["measures"];
    let utilization = &measures["links"]["l"]["utilization"];
    assert!((utilization["mean"].as_f64().unwrap() - 0.915).abs() < 1e-12);
    assert_eq!((&utilization["min"], &utilization["n"]), (&serde_json::json!(0.91), &serde_json::json!(2)));
    // One seed has a price, so it is summarised over one.
    assert_eq!(measures["links"]["l"]["price_mean"]["n"], 1);
    assert_eq!(measures["flows"][1]["retransmits"]["mean"], 3.0);
    assert_eq!(measures["windows"]["w"]["fairness"]["jain"]["sd"], 0.0);
    assert!(measures.get("seed").is_none() && measures.get("title").is_none());
    assert!(groups[1]["measures"]["measured_s"].get("ci95").is_none());
}

/// Quantities of the axes are numbers of the SI beside the labels, and names are names.
#[test]
fn a_sweep_has_its_axes_as_numbers() {
    let labels = |rtt: &str, buffer: &str, case: &str| -> Vec<(String, String)> {
        let all = [("flows.f.rtt", rtt), ("links.l.buffer", buffer), ("case", case), ("seed", "2")];
        all.map(|(key, label)| (key.to_owned(), label.to_owned())).to_vec()
    };
    let labels = [labels("10 ms", "50 packets", "10"), labels("0.5 s", "3 kB", "B"), labels("2 s", "1 bdp", "B")];
    let runs = [run(2), run(2), run(2)];
    let cells: Vec<_> = labels.iter().zip(&runs).map(|(labels, run)| cell(labels, run)).collect();
    let json = swept(&cells);
    assert_eq!((&json["format"], &json["code"], &json["commit"]), (&2.into(), &"0123".into(), &"abc".into()));
    assert_eq!(json["axes"][0]["places"][0], serde_json::json!({ "label": "10 ms", "value": 0.01, "unit": "s" }));
    assert_eq!(json["axes"][1]["places"][2], serde_json::json!({ "label": "1 bdp" }));
    assert_eq!(json["axes"][2]["places"][0], serde_json::json!({ "label": "10" }), "a name is no number");
    assert_eq!(json["axes"][3]["places"], serde_json::json!([{ "label": "2", "value": 2.0, "unit": "1" }]));
    assert_eq!(json["cells"][0]["path"], "x-0123abcd");
    let values = serde_json::json!({ "flows.f.rtt": 0.01, "links.l.buffer": 50.0, "seed": 2.0 });
    assert_eq!(json["cells"][0]["values"], values);
    assert_eq!(json["cells"][0]["summary"]["engine"], serde_json::json!({ "events": 5, "packets": 7 }));
    assert_eq!(json["groups"][1]["values"], serde_json::json!({ "flows.f.rtt": 0.5, "links.l.buffer": 3000.0 }));
}

/// A value that one cell lacks is null there, whatever the order of the cells.
#[test]
fn cells_are_a_table_with_a_row_each() {
    let label = |rtt: &str, rate: &str| -> Vec<(String, String)> {
        [("flows.f.rtt", rtt), ("links.l.rate", rate)].map(|(key, label)| (key.to_owned(), label.to_owned())).to_vec()
    };
    let labels = [label("10 ms", "1 Mbit/s"), label("0.5 s", "some"), Vec::new()];
    let runs = [run(1), run(2), run(3)];
    let changes = ["a=1".to_owned(), "b=2".to_owned()];
    let rows: Vec<CellRow<'_>> =
        labels.iter().map(|labels| CellRow { path: "p", id: "x", changes: &changes, labels }).collect();
    let measures = Measures::of(runs.iter().map(|run| &run.summary)).unwrap();
    let bytes = write_cells(&rows, &measures).unwrap();
    let table = read_table(&bytes).unwrap();
    assert_same(&table, &cells(&rows, &measures));
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(
        names[..10],
        [
            "path",
            "id",
            "title",
            "world",
            "seed",
            "changes",
            "label.flows.f.rtt",
            "flows.f.rtt_s",
            "label.links.l.rate",
            "links.l.rate_bit_per_s"
        ]
    );
    let rtt = table.number("flows.f.rtt_s").unwrap();
    assert!(rtt[..2] == [0.01, 0.5] && rtt[2].is_nan(), "{rtt:?}");
    assert!(table.number("links.l.rate_bit_per_s").unwrap()[1].is_nan());
    assert_eq!(table.number("links.l.utilization").unwrap(), [0.91, 0.92, 0.93]);
    assert_eq!(table.number("windows.w.groups.f.transfers.completed").unwrap(), [1.0; 3]);
    let price = table.number("links.l.price_mean").unwrap();
    assert!(price[0].is_nan() && price[1] == 0.5 && price[2].is_nan() && price.len() == 3, "{price:?}");
    assert!(names.iter().all(|name| !name.starts_with("flows.0")), "{names:?}");
    let about = fields(&bytes);
    assert_eq!(about["flows.f.rtt_s"]["unit"], "s");
    assert_eq!(about["links.l.rate_bit_per_s"]["unit"], "bit/s");
    assert_eq!(about["links.l.queue_mean_packets"]["unit"], "packets");
    assert!(about["links.l.drops"]["description"].starts_with("Packets refused"), "{about:?}");
    assert!(about.values().all(|about| about.contains_key("description")), "{about:?}");
    assert!(cells(&[], &Measures::default()).rows() == 0);
}

/// Batches that come apart, and travel as tables, are the rows of one batch to the order of their columns.
#[test]
fn batches_of_measures_join_to_those_of_one() {
    let mut runs: Vec<_> = (1..=5).map(run).collect();
    // Numbers that only some rows have: the first batch lacks one, the last another.
    runs[3].summary.whole.links[0].price_mean = Some(0.25);
    runs[4].summary.whole.links.clear();
    let whole = Measures::of(runs.iter().map(|run| &run.summary)).unwrap();
    for size in 1..=5 {
        let mut joined = Measures::default();
        for batch in runs.chunks(size) {
            let batch = Measures::of(batch.iter().map(|run| &run.summary)).unwrap();
            joined.append(Measures::of_table(batch.table()).unwrap());
        }
        assert_same(&joined.table(), &whole.table());
        assert_eq!(joined.len(), 5);
    }
    let mut other = whole.table();
    other.columns.swap(0, 1);
    assert_eq!(Measures::of_table(other), None, "columns in another order");
    let mut short = whole.table();
    short.columns.last_mut().unwrap().values = Cells::Number(vec![1.0]);
    assert_eq!(Measures::of_table(short), None, "a column that lacks rows");
}

/// A difference over common seeds is the mean of the seeds' differences, and its interval does not see what the seeds
/// have in common.
#[test]
fn cases_are_compared_seed_by_seed() {
    let label = |rate: &str, case: &str, seed: u64| {
        [("links.l.rate", rate), ("case", case), ("seed", &seed.to_string())]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec()
    };
    let mut told = Vec::new();
    for rate in ["1", "2"] {
        for (case, gain, seeds) in [("A", 0.0, 1..=4), ("B", 0.5, 2..=5), ("C", 0.25, 9..=9)] {
            for seed in seeds {
                let mut run = run(seed);
                // Seeds differ by far more than cases.
                run.summary.whole.links[0].queue_mean_packets =
                    100.0 * seed as f64 + gain + 0.01 * (seed % 2) as f64 * gain;
                told.push((label(rate, case, seed), run));
            }
        }
    }
    let cells: Vec<_> = told.iter().map(|(labels, run)| cell(labels, run)).collect();
    let json = swept(&cells);
    let differences = json["differences"].as_array().unwrap();
    // One for each rate: C has no two seeds in common with anything, and rates are not cases.
    assert_eq!(differences.len(), 2);
    let first = &differences[0];
    assert_eq!((&first["minuend"], &first["subtrahend"], &first["axis"]), (&"B".into(), &"A".into(), &"case".into()));
    assert_eq!(first["labels"], serde_json::json!({ "links.l.rate": "1" }));
    assert_eq!(first["seeds"], serde_json::json!([2, 3, 4]));
    let queue = &first["measures"]["links"]["l"]["queue_mean_packets"];
    // 0.5, 0.505 and 0.5: Student's 97.5 % quantile for two degrees of freedom is 4.303.
    let (mean, sd) = (1.505 / 3.0, 0.005 / 3f64.sqrt());
    assert!((queue["mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{queue}");
    assert!((queue["ci95"][1].as_f64().unwrap() - mean - 4.302_653 * sd / 3f64.sqrt()).abs() < 1e-6, "{queue}");
    assert_eq!(queue["n"], 3);
    assert!(first["measures"].get("flows").is_none() && first["measures"].get("engine").is_none());
}

/// The rows of some cells alone have other units and other numbers; as partitions of one sweep they have the same columns.
#[test]
fn partitions_of_a_sweep_have_the_same_columns() {
    let label = |buffer: &str| vec![("links.l.buffer".to_owned(), buffer.to_owned())];
    let labels = [label("9 packets"), label("1 kB"), label("2 kB")];
    let runs = [run(1), run(2), run(3)];
    let axes = Axes::of(labels.iter().map(Vec::as_slice));
    let row = |labels| CellRow { path: "", id: "x", changes: &[], labels };
    let rows: Vec<CellRow<'_>> = labels.iter().map(|labels| row(labels)).collect();
    let measures = |runs: &[Run]| Measures::of(runs.iter().map(|run| &run.summary)).unwrap();
    let parts = [0..1, 1..3].map(|part| partition(&rows[part.clone()], &measures(&runs[part]), &axes));
    let whole = cells(&rows, &measures(&runs));
    // Alone the later two would have a column in bytes.
    assert!(cells(&rows[1..], &measures(&runs[1..])).number("links.l.buffer_B").is_some());
    assert!(parts[1].number("links.l.buffer_B").is_none());
    // Only the second run has a price.
    assert!(parts[0].number("links.l.price_mean").is_none() && parts[1].number("links.l.price_mean").is_some());
    let names: IndexSet<String> = parts.iter().flat_map(columns_held).collect();
    assert!(names.iter().eq(whole.columns.iter().map(|column| &column.name)));
    let parts = parts.map(|part| with_columns(part, &names));
    let written = parts.each_ref().map(|part| write_partition(part, &axes).unwrap());
    let read = written.each_ref().map(|bytes| read_table(bytes).unwrap());
    assert_same(&read[1], &parts[1]);
    let price = |table: &Table| table.number("links.l.price_mean").unwrap().to_vec();
    assert!(price(&read[0])[0].is_nan());
    assert_eq!([&price(&read[1])[..1], &price(&whole)[1..2]], [[0.5]; 2]);
    // The number that no row has was added, and does not count the next time.
    assert!(!columns_held(&read[0]).contains(&"links.l.price_mean".to_owned()));
    assert_eq!(columns_held(&read[1]), names.iter().cloned().collect::<Vec<_>>());
}
