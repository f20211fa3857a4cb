//! Sweeps without records: a dataset of rows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::bench::{Bench, Ended, SMALL, SWEEP, names};
use penstock_record::{partition_file, read_dataset, read_table};
use penstock_scenario::world::{Cells, Table};

/// Three partitions of a hundred cells. Only the second one, whose buffer is small, has windows that were cut; an axis in two
/// units has no column of numbers, though every partition alone would have one.
fn bench() -> Bench {
    let bench = Bench::new();
    let sweep =
        "\n[sweep]\n\"links.bottleneck.buffer\" = [\"4 MB\", \"5 packets\", \"2 MB\"]\nseed = { count = 100 }\n";
    let text = format!("sample = \"1 s\"\n{SMALL}{sweep}").replace("duration = \"3 s\"", "duration = \"0.5 s\"");
    bench.write("many.toml", &text.replace("warmup = \"1 s\"", "warmup = \"0 s\""));
    bench
}

/// Every file below a directory: its path from there, and its bytes.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![directory.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push((path.strip_prefix(directory).unwrap().to_path_buf(), fs::read(&path).unwrap()));
            }
        }
    }
    all.sort();
    all
}

fn assert_same_files(one: &Path, other: &Path) {
    let [one, other] = [one, other].map(files);
    assert_eq!(
        one.iter().map(|(path, _)| path).collect::<Vec<_>>(),
        other.iter().map(|(path, _)| path).collect::<Vec<_>>()
    );
    for ((path, one), (_, other)) in one.iter().zip(&other) {
        assert!(one == other, "{}", path.display());
    }
}

/// A column's values as text; no number is empty.
fn values(cells: &Cells) -> Vec<String> {
    match cells {
        Cells::Number(values) => {
            values.iter().map(|x| if x.is_nan() { String::new() } else { x.to_string() }).collect()
        }
        Cells::Count(values) => values.iter().map(u64::to_string).collect(),
        Cells::Name { names, rows } => rows.iter().map(|row| names[*row as usize].clone()).collect(),
    }
}

/// The columns of a table but the path of each record.
fn columns(table: &Table) -> Vec<(String, Vec<String>)> {
    let columns = table.columns.iter().filter(|column| column.name != "path");
    columns.map(|column| (column.name.clone(), values(&column.values))).collect()
}

fn partitions(sweep: &Path) -> Vec<Table> {
    let bytes = names(&sweep.join("cells")).into_iter().map(|name| fs::read(sweep.join("cells").join(name)).unwrap());
    bytes.map(|bytes| read_table(&bytes).unwrap()).collect()
}

#[test]
fn a_dataset_has_the_rows_and_columns_of_cells_parquet() {
    let bench = bench();
    bench.well(&["run", "many.toml", "--out", "records"]);
    let told = bench.well(&["run", "many.toml", "--dataset=100"]);
    assert!(told.contains("300 cells in 3 partitions") && told.contains("out/many/cells"), "{told}");
    let home = bench.path("out/many");
    assert_eq!(names(&home), ["cells", "cells.toml", "source.json", "sweep.json"]);
    assert_eq!(names(&home.join("cells")), [0, 1, 2].map(partition_file));
    let whole = read_table(&fs::read(bench.path("records/many/cells.parquet")).unwrap()).unwrap();
    let parts = partitions(&home);
    let cuts = "groups.ftp.window_left_by_cuts";
    let number = |table: &Table| table.number(cuts).map(|values| values.iter().any(|value| !value.is_nan()));
    assert_eq!(parts.iter().map(number).collect::<Vec<_>>(), [Some(false), Some(true), Some(false)]);
    let mut joined: Vec<(String, Vec<String>)> = columns(&parts[0]);
    for part in &parts[1..] {
        for ((name, values), (same, more)) in joined.iter_mut().zip(columns(part)) {
            assert_eq!(*name, same);
            values.extend(more);
        }
    }
    assert!(joined == columns(&whole));
    assert!(values(&parts[0].columns[0].values).iter().all(String::is_empty), "there are no records");
    // As CSV too, but for the path.
    let csv = |directory: &str| {
        let out = bench.well(&["report", "--csv", directory]);
        out.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert!(csv("out/many") == csv("records/many"));
}

#[test]
fn a_dataset_is_the_same_whatever_the_threads() {
    let bench = bench();
    bench.well(&["sweep", "many.toml", "--dataset=100", "--jobs", "1", "--out", "one"]);
    let json = bench.json(&["sweep", "many.toml", "--dataset=100", "--jobs", "2", "--out", "two", "--json"]);
    assert_same_files(&bench.path("one"), &bench.path("two"));
    let run = &json["runs"][0];
    assert_eq!((&run["kind"], &run["cells"], &run["finished"]), (&"sweep".into(), &300.into(), &300.into()));
    assert!(run["dataset"] == "two/many/cells" && run.get("report").is_none(), "{run}");
    let sweep = &run["sweep"];
    assert_eq!(sweep["dataset"], serde_json::json!({ "folder": "cells", "cells": 300, "partitions": 3 }));
    assert!(sweep["cells"].as_array().unwrap().is_empty() && sweep["axes"].as_array().unwrap().len() == 2);
}

/// Killed at ever later moments until it is done: in the middle of whatever it does then. And killed as soon as it has a partition, and
/// not all of them.
#[test]
fn a_dataset_that_is_killed_again_and_again_is_whole_each_time() {
    let bench = bench();
    bench.well(&["sweep", "many.toml", "--dataset=100", "--out", "whole"]);
    let begin = |out: &str| {
        let mut command = bench.command(&["sweep", "many.toml", "--dataset=100", "--jobs", "2", "--out", out]);
        command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    };
    // How many partitions there are, each of them whole.
    let intact = |out: &str| {
        let home = bench.path(out).join("many");
        let Ok(list) = fs::read(home.join("cells.toml")) else { return 0 };
        let dataset = read_dataset(&list).unwrap();
        for name in dataset.partitions.keys() {
            dataset.intact(name, File::open(home.join("cells").join(name))).unwrap();
        }
        dataset.partitions.len()
    };
    for wait_ms in (0..).step_by(20) {
        let mut child = begin("later");
        thread::sleep(Duration::from_millis(wait_ms));
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        intact("later");
        if let Some(status) = ended {
            assert!(status.success());
            break;
        }
    }
    // A busy machine may look too late.
    let between = (0..50).map(|number| format!("between-{number}")).find(|out| {
        let mut child = begin(out);
        while child.try_wait().unwrap().is_none() && !bench.path(out).join("many/cells.toml").exists() {
            thread::sleep(Duration::from_micros(200));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        (1..3).contains(&intact(out))
    });
    let between = between.expect("of 50 kills none came between the first partition and the last");
    assert!(begin(&between).wait().unwrap().success());
    for out in ["later", &between] {
        assert_same_files(&bench.path(out).join("many"), &bench.path("whole/many"));
    }
}

/// The numbers that only a later partition has are added to the finished ones, and taken for nothing that they have.
#[test]
fn a_damaged_partition_is_set_aside_and_its_cells_run_again() {
    let bench = bench();
    let command = ["sweep", "many.toml", "--dataset=100"];
    bench.well(&command);
    let home = bench.path("out/many");
    fs::create_dir(bench.path("whole")).unwrap();
    assert!(
        std::process::Command::new("cp").arg("-r").arg(&home).arg(bench.path("whole/many")).status().unwrap().success()
    );
    let path = home.join("cells").join(partition_file(1));
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let refused = bench.run(&["report", "--csv", "out/many"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("cells/part-00001.parquet is damaged: it has changed"), "{}", refused.err);
    let ended = bench.run(&command);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.err.contains("200 of 300 cells are finished"), "{}", ended.err);
    assert!(ended.err.contains("its cells run again, and this file is renamed to out/many/part-00001.parquet.damaged"));
    fs::remove_file(home.join("part-00001.parquet.damaged")).unwrap();
    assert_same_files(&home, &bench.path("whole/many"));
    // One that is gone, and one that nobody listed.
    fs::remove_file(&path).unwrap();
    fs::write(home.join("cells/part-00007.parquet"), "rows of others").unwrap();
    let ended = bench.run(&command);
    assert!(ended.err.contains("200 of 300 cells are finished"), "{}", ended.err);
    fs::remove_file(home.join("part-00007.parquet.damaged")).unwrap();
    assert_same_files(&home, &bench.path("whole/many"));
    // Without the list nothing is known of any.
    let list = fs::read_to_string(home.join("cells.toml")).unwrap();
    fs::write(home.join("cells.toml"), list.replace("cells = 300", "cells = 301")).unwrap();
    assert_eq!(bench.run(&["report", "--csv", "out/many"]).status, 2);
    let ended = bench.run(&command);
    assert!(ended.err.contains("changed since it was written") && !ended.err.contains("are finished"), "{}", ended.err);
    fs::remove_file(home.join("cells.toml.damaged")).unwrap();
    assert_same_files(&home, &bench.path("whole/many"));
}

#[test]
fn what_a_dataset_is_not_for_is_refused_with_the_remedy() {
    let bench = bench();
    bench.write("small.toml", SMALL).write("few.toml", &format!("{SMALL}{SWEEP}"));
    let refused = |arguments: &[&str], why: &str| {
        let Ended { status, err, out } = bench.run(arguments);
        assert_eq!((status, &out[..]), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(why), "{arguments:?}: {err}");
    };
    refused(&["run", "small.toml", "--dataset"], "--dataset: small.toml has no [sweep]");
    refused(&["run", "few.toml", "--dataset=99"], "99 is not in 100..=65536");
    refused(&["run", "few.toml", "--dataset=many"], "invalid value");
    refused(&["run", "few.toml", "--dataset", "--pcap"], "--dataset with --pcap: a capture is a file of a record");
    refused(&["run", "few.toml", "--dataset", "--qlog"], "--dataset with --qlog");
    let quic = ["--world", "linux", "--generator", "quic"];
    refused(&[&["run", "few.toml", "--dataset"], &quic[..]].concat(), "--dataset with --generator");
    refused(&["sweep", "few.toml", "--dataset", "--shard", "1/2"], "--dataset with --shard");
    refused(&["sweep", "few.toml", "few.toml", "--dataset"], "two sweeps are called `few`");
    refused(&["sweep", "few.toml", "--dataset", "--set", "duration=0 s"], "few.toml");
    assert!(!bench.path("out").exists(), "nothing was written");

    bench.well(&["sweep", "few.toml", "--dataset"]);
    bench.well(&["sweep", "few.toml", "--out", "records"]);
    refused(&["sweep", "few.toml"], "out/few has the cells of a sweep as a dataset; add --dataset");
    refused(
        &["sweep", "few.toml", "--dataset", "--out", "records"],
        "records/few has records of cells; leave out --dataset",
    );
    refused(
        &["sweep", "few.toml", "--dataset=100"],
        "out/few has the dataset of partitions of 4096 cells (--dataset=4096)",
    );
    let grown = ["sweep", "few.toml", "--dataset", "--set", "duration=2 s"];
    refused(
        &grown,
        "out/few has the dataset of other cells (6 of them), and a dataset does not grow; choose another directory",
    );
    let rows = "out/few has its cells as a dataset, without records; `penstock report --csv out/few` prints them";
    refused(&["report", "out/few"], rows);
    refused(&["show", "out/few"], rows);
    refused(&["report", "--csv", "out/few", "records/few"], "out/few is a dataset; name it alone");
    let listed = bench.json(&["list", "out", "--json"]);
    assert_eq!(listed["records"][0]["cells"], 6);
    // Records beside it are shown without it.
    fs::rename(bench.path("records/few"), bench.path("out/records")).unwrap();
    let shown = bench.run(&["show", "out"]);
    assert_eq!(shown.status, 0, "{}", shown.err);
    assert!(
        shown.err.contains("out/few: its cells are a dataset, without records; they are left out"),
        "{}",
        shown.err
    );
}
