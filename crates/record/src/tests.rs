mod sweeps;

use std::io;

use indexmap::IndexMap;
use penstock_scenario::summary::{FlowSummary, Summary};
use penstock_scenario::world::{Cells, Column, Kind, Run, Table};

use penstock_scenario::write::print;
use serde_json::Value;

use super::*;
use crate::header::NEEDED;
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use penstock_scenario::summary::{Engine, Fairness, GroupSummary, LinkSummary, Measured, Transfers};

fn scenario(seed: u64) -> Scenario {
    let text = format!(
        r#"format = 1
title = "quotes \" and '''"
duration = "10 s"
seed = {seed}
[links.l]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"
buffer = "10 packets"
[flows.f]
from = "a"
to = "b"
cc = {{ law = "newreno" }}
"#
    );
    Document::parse(&text, "t.toml").unwrap().cells().unwrap().remove(0).scenario
}

fn flow(index: u32, rtt_min_s: Option<f64>) -> FlowSummary {
    FlowSummary {
        group: "f".into(),
        index,
        rtt_s: 0.1,
        goodput_bit_per_s: 1e6 / 3.0,
        throughput_packets_per_s: 83.3,
        window_mean_packets: Some(10.5),
        rtt_mean_s: None,
        rtt_min_s,
        loss_rate: 0.0,
        mark_rate: 0.1,
        retransmits: 3,
        timeouts: u64::MAX,
        completion_s: None,
    }
}

fn run(seed: u64) -> Run {
    let link = LinkSummary {
        utilization: 0.9 + seed as f64 / 100.0,
        throughput_bit_per_s: 9e5,
        queue_mean_packets: 0.1 + 0.2,
        queue_sd_packets: 1.0,
        queue_p99_packets: 5.0,
        queue_max_packets: 9.0,
        queueing_delay_mean_s: Some(0.01),
        queueing_delay_p99_s: None,
        arrivals: 1000,
        departures: 990,
        drops: 10,
        duplicates: 0,
        marks: 0,
        price_mean: (seed == 2).then_some(0.5),
        classes: IndexMap::new(),
        queues: IndexMap::new(),
        dynamics: None,
    };
    let group = GroupSummary {
        count: 2,
        goodput_bit_per_s: 8e5,
        throughput_packets_per_s: 80.0,
        rtt_mean_s: Some(0.11),
        jain: Some(1.0),
        window_mean_packets: None,
        window_sd_packets: None,
        window_left_by_cuts: None,
        bottleneck: None,
        loss_rate: 0.0,
        mark_rate: 0.0,
        retransmits: 6,
        spurious_retransmits: None,
        timeouts: 0,
        undone_recoveries: None,
        pages: None,
        video: None,
        dynamics: None,
        transfers: Some(Transfers {
            completed: 1,
            completion_mean_s: Some(2.0),
            ..penstock_scenario::transfer::sum_up(&[], &[], false)
        }),
    };
    let flows = vec![flow(0, Some(0.1)), flow(1, None)];
    let whole = Measured {
        measured_s: 10.0,
        links: [("l".to_owned(), link)].into_iter().collect(),
        groups: [("f".to_owned(), group)].into_iter().collect(),
        flows: flows.clone(),
        fairness: Some(Fairness { jain: Some(0.99), contracts_jain: None, classes: None, classes_mean: None }),
        classes: IndexMap::new(),
        customers: IndexMap::new(),
        dynamics: None,
    };
    let summary = Summary {
        title: "t".into(),
        world: "packets".into(),
        seed,
        windows: [("w".to_owned(), whole.clone())].into_iter().collect(),
        whole,
        engine: Engine { events: 5, packets: 7 },
        path: None,
        findings: Vec::new(),
    };
    Run { summary, flows, series: vec![series("links", 3), series("flows", 0), series("transfers", 5)] }
}

fn series(name: &str, rows: usize) -> Table {
    let column = |name: &str, kind, values| Column { name: name.to_owned(), kind, values };
    let cycle = |list: &[f64]| list.iter().copied().cycle().take(rows).collect();
    Table {
        name: name.into(),
        columns: vec![
            column("time_s", Kind::Key, Cells::Number((0..rows).map(|at| at as f64 * 0.1).collect())),
            column(
                "link",
                Kind::Key,
                Cells::Name {
                    names: vec!["never".into(), "l".into(), "\u{e9}\u{e9}n/back".into(), String::new()],
                    rows: [2, 1, 3].into_iter().cycle().take(rows).collect(),
                },
            ),
            column("queue_packets", Kind::Average, Cells::Number(cycle(&[1.5, f64::NAN, f64::INFINITY]))),
            column("price_s", Kind::Instant, Cells::Number(vec![f64::NAN; rows])),
            column("arrivals", Kind::Instant, Cells::Count((0..rows as u64).map(|at| u64::MAX - at).collect())),
        ],
    }
}

/// Without a word about its columns.
fn write(table: &Table) -> Result<Vec<u8>, RecordError> {
    write_table(table, &|_| Meaning::default())
}

/// Tables are equal if they print equally: NaN is not equal to itself.
fn assert_same(a: &Table, b: &Table) {
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

#[test]
fn a_table_survives_parquet() {
    for rows in [0, 1, 3, 1000, (1 << 20) + 5] {
        let table = series("links", rows);
        let back = read_table(&write(&table).unwrap()).unwrap();
        if rows < 10_000 {
            assert_same(&back, &table);
        } else {
            assert_eq!(back.rows(), rows);
            for (a, b) in back.columns.iter().zip(&table.columns) {
                assert!(format!("{:?}", a.values) == format!("{:?}", b.values), "{}", a.name);
            }
        }
    }
}

#[test]
fn a_table_that_does_not_fit_together_is_refused() {
    let mut ragged = series("links", 3);
    ragged.columns[2].values = Cells::Number(vec![1.0]);
    assert!(write(&ragged).unwrap_err().to_string().contains("`queue_packets` is not as long as the first"));
    let mut twice = series("links", 3);
    twice.columns[2].name = "time_s".into();
    assert!(write(&twice).unwrap_err().to_string().contains("`time_s` is there twice"));
    let mut past = series("links", 3);
    past.columns[1].values = Cells::Name { names: vec![], rows: vec![0, 0, 0] };
    assert!(write(&past).unwrap_err().to_string().contains("past its names"));
}

#[test]
fn bytes_that_are_not_a_table_are_refused() {
    assert!(read_table(b"").is_err());
    assert!(read_table(b"PAR1PAR1").is_err());
    let good = write(&series("links", 100)).unwrap();
    assert!(read_table(&good[..good.len() / 2]).is_err());
}

/// The message of an error has the library's reason, with line and column where it has one.
#[test]
fn an_error_keeps_its_cause() {
    let causes = |error: RecordError| {
        let below = std::iter::successors(std::error::Error::source(&error), |e| e.source());
        below.map(ToString::to_string).collect::<Vec<_>>().join(": ")
    };
    let parquet = read_table(b"not Parquet at all").unwrap_err();
    assert_eq!(parquet.to_string(), "not a Parquet file that can be read");
    assert!(causes(parquet).contains("Corrupt footer"));
    let summary = read_summary(b"{\n\"title\": 1}").unwrap_err();
    assert!(causes(summary).ends_with("expected a string at line 2 column 10"));
    let header = read_header(sealed("format = 2\n").as_bytes()).unwrap_err();
    assert!(causes(header).contains("missing field `id`"));
}

fn origin() -> Origin {
    Origin {
        world: "packets".into(),
        code: "0123".into(),
        version: "0.1.0".into(),
        commit: Some("abc".into()),
        awake: false,
    }
}

/// Version and commit are for people: the same code may be of two commits, and other code of the same.
#[test]
fn results_are_those_of_the_same_code_in_the_same_world() {
    let of = |world: &str, code: &str, commit: &str| Origin {
        world: world.into(),
        code: code.into(),
        version: "0.1.0".into(),
        commit: Some(commit.into()),
        awake: false,
    };
    assert!(of("packets", "0123", "abc").computes_as(&of("packets", "0123", "def")));
    assert!(!of("packets", "0123", "abc").computes_as(&of("packets", "4567", "abc")));
    assert!(!of("packets", "0123", "abc").computes_as(&of("fluid", "0123", "abc")));
    assert!(!of("packets", "", "abc").computes_as(&of("packets", "", "abc")), "nobody knows what ran");
}

/// Processors that halt change what real packets do: a run without them does not stand for one with, nor the reverse. A header says so,
/// and one without the key is of processors that may halt.
#[test]
fn results_with_processors_kept_awake_are_others() {
    let of = |awake: bool| Origin { world: "linux".into(), awake, ..origin() };
    assert!(of(true).computes_as(&of(true)) && of(false).computes_as(&of(false)));
    assert!(!of(true).computes_as(&of(false)) && !of(false).computes_as(&of(true)));
    let written = |awake: bool| {
        let provenance = Provenance { origin: of(awake), ..Provenance::default() };
        let record = Record::of(&scenario(1), &run(1), &provenance).unwrap();
        record.files.into_iter().find(|(name, _)| name == "record.toml").unwrap().1
    };
    for awake in [true, false] {
        let bytes = written(awake);
        assert_eq!(String::from_utf8_lossy(&bytes).contains("awake"), awake);
        assert_eq!(read_header(&bytes).unwrap().provenance.origin.awake, awake);
    }
}

#[test]
fn a_record_has_its_files_and_they_can_be_read_again() {
    let (scenario, run) = (scenario(1), run(1));
    let provenance = Provenance {
        origin: origin(),
        changes: vec!["flows.f.count=2".to_owned()],
        labels: [("case".to_owned(), "FAST".to_owned())].into_iter().collect(),
        machine: [("kernel".to_owned(), "6.18".to_owned())].into_iter().collect(),
    };
    let record = Record::of(&scenario, &run, &provenance).unwrap();
    let names: Vec<_> = record.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["record.toml", "summary.json", "flows.parquet", "links.parquet", "flows-series.parquet", "transfers.parquet"]
    );

    let header = read_header(record.file("record.toml").unwrap()).unwrap();
    assert_eq!((header.format, header.seed, &header.provenance), (FORMAT, 1, &provenance));
    let again = Document::parse(&header.scenario, "record.toml").unwrap().cells().unwrap().remove(0);
    assert_eq!((print(&again.scenario), &again.id), (header.scenario.clone(), &header.id));
    assert_eq!(header.laws().unwrap(), [("f".to_owned(), "newreno".to_owned())]);

    assert_eq!(read_summary(record.file("summary.json").unwrap()).unwrap(), run.summary);
    assert_same(&read_table(record.file("links.parquet").unwrap()).unwrap(), &run.series[0]);
    assert_same(&read_table(record.file("transfers.parquet").unwrap()).unwrap(), &run.series[2]);
    let flows = read_table(record.file("flows.parquet").unwrap()).unwrap();
    assert_same(&flows, &flow_table(&run.flows));
    assert!(flows.number("rtt_min_s").unwrap()[1].is_nan());
    assert_eq!(flows.number("goodput_bit_per_s").unwrap()[0], 1e6 / 3.0);
}

#[test]
fn a_summary_keeps_its_declared_order_and_leaves_out_what_does_not_apply() {
    let record = Record::of(&scenario(1), &run(1), &Provenance::default()).unwrap();
    let text = std::str::from_utf8(record.file("summary.json").unwrap()).unwrap().to_owned();
    let at = |key: &str| text.find(&format!("\"{key}\"")).unwrap_or_else(|| panic!("{key}\n{text}"));
    let order =
        ["format", "title", "world", "seed", "measured_s", "links", "groups", "flows", "fairness", "windows", "engine"];
    assert!(order.is_sorted_by_key(|key| at(key)), "{text}");
    assert!(!text.contains("null") && !text.contains("price_mean"), "{text}");
}

#[test]
fn a_number_that_is_none_is_refused_by_name() {
    let mut run = run(1);
    run.summary.whole.links[0].utilization = f64::NAN;
    let error = Record::of(&scenario(1), &run, &Provenance::default()).unwrap_err();
    assert_eq!(error.to_string(), "the summary cannot be written: its value `links.l.utilization` is infinite or NaN");
}

/// The header of a record of one run, as a text without its seal.
fn header() -> String {
    let record = Record::of(&scenario(1), &run(1), &Provenance { origin: origin(), ..Provenance::default() }).unwrap();
    let text = std::str::from_utf8(record.file("record.toml").unwrap()).unwrap().to_owned();
    assert_eq!(text.matches("# SHA-256").count(), 1);
    text[..text.find("# SHA-256").unwrap()].to_owned()
}

#[test]
fn a_header_of_another_format_is_told_from_a_damaged_one() {
    let header = header();
    read_header(sealed(&header).as_bytes()).unwrap();
    for format in [1, 3] {
        let other = header.replacen("format = 2", &format!("format = {format}"), 1);
        assert!(matches!(read_header(other.as_bytes()), Err(RecordError::Format(f)) if f == format));
    }
    let older = header.replacen("format = 2", "format = 1", 1);
    assert_eq!(read_scenario(older.as_bytes()).unwrap(), read_scenario(sealed(&header).as_bytes()).unwrap());
    assert!(read_header(b"\xff").is_err());
}

/// Wherever it ends early: at a line, within the table of files, within its last line.
#[test]
fn a_header_that_was_cut_off_is_noticed_at_every_byte() {
    let whole = sealed(&header());
    for end in 0..whole.len() {
        assert!(read_header(&whole.as_bytes()[..end]).is_err(), "{end} of {} bytes", whole.len());
    }
    let changed = whole.replacen("seed = 1\n", "seed = 2\n", 1);
    assert!(matches!(read_header(changed.as_bytes()), Err(RecordError::Unsealed)));
    let longer = format!("{whole}# more\n");
    assert!(matches!(read_header(longer.as_bytes()), Err(RecordError::Unsealed)));
}

/// A header that says the hash of itself, and lists too little or too much.
#[test]
fn a_header_lists_what_a_record_has_and_nothing_outside_of_it() {
    let header = header();
    let without = |key: &str| {
        let lines: Vec<&str> = header.lines().filter(|line| !line.starts_with(key)).collect();
        read_header(sealed(&format!("{}\n", lines.join("\n"))).as_bytes())
    };
    without("nothing").unwrap();
    for name in NEEDED {
        let refused = without(&format!("\"{name}\"")).unwrap_err();
        assert!(matches!(&refused, RecordError::Unlisted(file) if file == name), "{refused}");
    }
    let (above, _) = header.split_once("[files]").unwrap();
    assert!(read_header(sealed(above).as_bytes()).is_err(), "`files` is needed");
    for name in ["/dev/zero", "..", "../../secret", "a/b", ".", "", ".hidden", "a\u{2044}b"] {
        let refused = read_header(sealed(&format!("{header}\"{name}\" = \"0\"\n")).as_bytes()).unwrap_err();
        assert!(matches!(&refused, RecordError::Name(file) if file == name), "{name}: {refused}");
    }
}

/// The number of the format is in the file, a file of the first format has none, and one of a later version is refused.
#[test]
fn a_summary_has_its_format_and_what_was_changed() {
    let changes = vec!["flows.f.count=2".to_owned()];
    let provenance = Provenance { changes: changes.clone(), ..Provenance::default() };
    let record = Record::of(&scenario(1), &run(1), &provenance).unwrap();
    let mut file: Value = serde_json::from_slice(record.file("summary.json").unwrap()).unwrap();
    assert_eq!((&file["format"], &file["changes"]), (&2.into(), &serde_json::json!(changes)));
    let read = |file: &Value| read_summary(file.to_string().as_bytes());
    file["engine"]["wall_s"] = serde_json::json!(0.25);
    let first = file.as_object_mut().unwrap();
    first.shift_remove("format");
    first.shift_remove("changes");
    assert_eq!(read(&file).unwrap(), run(1).summary);
    file["format"] = 3.into();
    assert_eq!(
        read(&file).unwrap_err().to_string(),
        "a summary of format 3, and this version of Penstock reads format 2; a newer version reads format 3"
    );
}

/// As readers of Arrow see it: pyarrow's `schema.field(i).metadata`.
fn fields(bytes: &[u8]) -> IndexMap<String, IndexMap<String, String>> {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use arrow_format::ipc::{MessageHeaderRef, MessageRef};
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use planus::ReadAsRoot;
    let file = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).unwrap();
    let metadata = file.metadata().file_metadata().key_value_metadata().unwrap();
    let schema = metadata.iter().find(|kv| kv.key == "ARROW:schema").unwrap();
    let stream = BASE64_STANDARD.decode(schema.value.as_ref().unwrap()).unwrap();
    let (start, message) = stream.split_at(8);
    assert_eq!(start, [[0xff; 4], u32::try_from(message.len()).unwrap().to_le_bytes()].concat());
    let header = MessageRef::read_as_root(message).unwrap().header().unwrap();
    let Some(MessageHeaderRef::Schema(schema)) = header else { panic!("not a schema") };
    let text = |found: Result<Option<&str>, planus::Error>| found.unwrap().unwrap().to_owned();
    let fields = schema.fields().unwrap().unwrap().iter().map(Result::unwrap);
    let about = |field: arrow_format::ipc::FieldRef<'_>| {
        let about = field.custom_metadata().unwrap().unwrap().iter().map(Result::unwrap);
        about.map(|kv| (text(kv.key()), text(kv.value()))).collect()
    };
    fields.map(|field| (text(field.name()), about(field))).collect()
}

/// Of every column that a run leaves: its unit and what it is, where readers of Parquet look for it.
#[test]
fn the_metadata_of_a_column_have_its_unit_and_what_it_is() {
    let column = |name: &str, kind, values| Column { name: name.to_owned(), kind, values };
    let names = Cells::Name { names: vec!["f/0".into()], rows: vec![0, 0] };
    let mut run = run(1);
    run.series.push(Table {
        name: "flows".into(),
        columns: vec![
            column("flow", Kind::Key, names),
            column("estimated_rtt_s", Kind::Instant, Cells::Number(vec![0.1, f64::NAN])),
            column("ssthresh_packets", Kind::Instant, Cells::Number(vec![64.0, 8.0])),
        ],
    });
    run.series.remove(1);
    let record = Record::of(&scenario(1), &run, &Provenance::default()).unwrap();
    let flows = fields(record.file("flows.parquet").unwrap());
    assert_eq!(flows["goodput_bit_per_s"]["unit"], "bit/s");
    assert_eq!(flows["goodput_bit_per_s"]["description"], "User data delivered in order, per second.");
    assert_eq!((flows["loss_rate"]["unit"].as_str(), flows["loss_rate"]["kind"].as_str()), ("1", "average"));
    assert!(flows.values().all(|about| about["description"].ends_with('.')), "{flows:?}");
    assert!(!flows["group"].contains_key("unit"), "names have no unit");
    let series = fields(record.file("flows-series.parquet").unwrap());
    assert!(series["estimated_rtt_s"]["description"].contains("estimates"), "{series:?}");
    let ssthresh = &series["ssthresh_packets"];
    assert_eq!((&ssthresh["unit"][..], &ssthresh["title"][..]), ("packets", "Slow-start threshold"));
    assert!(ssthresh["description"].starts_with("State of newreno: Slow-start threshold: "), "{ssthresh:?}");
}

/// A table that is still in memory is the one that its file holds, metadata included.
#[test]
fn a_table_in_memory_is_that_of_its_file() {
    let run = run(1);
    let record = Record::of(&scenario(1), &run, &Provenance::default()).unwrap();
    let read = |name: &str| Described::read(record.file(name).unwrap()).unwrap();
    let same = |ours: Described, file: &str| {
        let theirs = read(file);
        assert_same(&ours.table, &theirs.table);
        assert_eq!(ours.columns, theirs.columns, "{file}");
        assert!(ours.columns.iter().flatten().any(|(key, _)| *key == "unit"), "{file}");
    };
    same(Described::of_flows(&run.flows), "flows.parquet");
    for table in &run.series {
        same(Described::of_series(table.clone(), &scenario(1)), &table_file(&table.name));
    }
    assert!(Described::read(b"PAR1").is_err());
}

/// Two bottlenecks may have laws whose states have one name: the column says what it is of each.
#[test]
fn a_column_of_two_laws_is_explained_for_both() {
    let text = r#"format = 1
duration = "10 s"
links.a = { from = "x", to = "y", rate = "1 Mbit/s", delay = "1 ms", buffer = "10 packets", aqm = { law = "pi" } }
links.b = { from = "y", to = "z", rate = "1 Mbit/s", delay = "1 ms", buffer = "10 packets", aqm = { law = "red" } }
flows.f = { from = "x", to = "z", cc = { law = "newreno" } }
"#;
    let scenario = Document::parse(text, "t.toml").unwrap().cells().unwrap().remove(0).scenario;
    let both = columns::of_series("links", "probability", &scenario);
    assert!(both.description.contains("State of pi: ") && both.description.contains("State of red: "), "{both:?}");
    let one = columns::of_series("links", "queue_before_packets", &scenario);
    assert_eq!((&one.unit[..], &one.title[..]), ("packets", "Queue at the last update"));
    assert_eq!(columns::of_series("links", "nothing_s", &scenario).description, "");
}

#[test]
fn a_damaged_file_of_a_record_is_named() {
    let record = Record::of(&scenario(1), &run(1), &Provenance::default()).unwrap();
    let header = read_header(record.file("record.toml").unwrap()).unwrap();
    assert_eq!(header.files.len(), record.files.len() - 1);
    let check = |damage: &dyn Fn(&str, &mut Vec<u8>) -> io::Result<()>| {
        header.intact(|name| {
            let mut bytes = record.file(name).unwrap().to_vec();
            damage(name, &mut bytes).map(|()| io::Cursor::new(bytes))
        })
    };
    check(&|_, _| Ok(())).unwrap();
    for file in header.files.keys() {
        let truncated = check(&|name, bytes| {
            bytes.truncate(bytes.len() - usize::from(name == file));
            Ok(())
        });
        assert!(matches!(truncated, Err(RecordError::Damaged { file: f, .. }) if f == *file));
        let missing = check(&|name, _| if name == file { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) });
        assert!(matches!(missing, Err(RecordError::Damaged { file: f, .. }) if f == *file));
    }
}

/// The library that reads Parquet takes the places of columns as they stand: a negative one was a panic.
#[test]
fn a_column_outside_its_file_is_refused() {
    let column = |name: &str, values| Column { name: name.to_owned(), kind: Kind::Key, values };
    let columns = vec![column("time_s", Cells::Number(vec![0.5; 3])), column("n", Cells::Count(vec![7; 3]))];
    let bytes = write(&Table { name: "t".to_owned(), columns }).unwrap();
    read_table(&bytes).unwrap();
    let mut refused = 0;
    // Every byte, all of it turned around.
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x7f;
        refused += u32::from(read_table(&changed).is_err_and(|e| e.to_string().contains("outside the file")));
    }
    assert!(refused > 0);
}
