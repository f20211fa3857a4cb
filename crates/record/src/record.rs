//! The record of a run: each file's name and content.

use penstock_scenario::model::Scenario;
use penstock_scenario::read::identity;
use penstock_scenario::summary::FlowSummary;
use penstock_scenario::world::{Cells, Column, Kind, Run, Table};
use penstock_scenario::write::print;
use sha2::{Digest, Sha256};

use crate::columns;
use crate::error::RecordError;
use crate::format::FORMAT;
use crate::header::{Header, Provenance};
use crate::parquet::write_table;
use crate::seal::hexadecimal;
use crate::summary::{json, summary_file};

/// The files of a record: names and contents.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Each file's name and content, in the order in which they are written.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Record {
    /// The record of a run.
    ///
    /// # Errors
    /// Names the part of the run that cannot be written.
    pub fn of(scenario: &Scenario, run: &Run, provenance: &Provenance) -> Result<Self, RecordError> {
        let mut files = vec![
            ("summary.json".to_owned(), json(&summary_file(&run.summary, &provenance.changes)?)?),
            ("flows.parquet".to_owned(), write_table(&flow_table(&run.flows), &columns::of_flow)?),
        ];
        for table in &run.series {
            let of = |column: &str| columns::of_series(&table.name, column, scenario);
            files.push((table_file(&table.name), write_table(table, &of)?));
        }
        let header = Header {
            format: FORMAT,
            id: identity(scenario),
            seed: scenario.seed.0,
            scenario: print(scenario),
            provenance: provenance.clone(),
            files: files.iter().map(|(name, bytes)| (name.clone(), hexadecimal(&Sha256::digest(bytes)))).collect(),
        };
        files.insert(0, ("record.toml".to_owned(), header.text()?.into_bytes()));
        Ok(Self { files })
    }

    /// The content of a file, if the record has it.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.iter().find(|(n, _)| n == name).map(|(_, bytes)| bytes.as_slice())
    }
}

/// The file of one of a run's tables: the series of flows are not in `flows.parquet`, which has one row a flow.
pub fn table_file(table: &str) -> String {
    if table == "flows" { "flows-series.parquet".to_owned() } else { format!("{table}.parquet") }
}

/// One row a flow: averages over the measured span, and counts and extremes as they stand at its end.
pub fn flow_table(flows: &[FlowSummary]) -> Table {
    let mut names: Vec<String> = Vec::new();
    let mut rows = Vec::with_capacity(flows.len());
    for flow in flows {
        // Flows of a group stand together, so the name is the last one or new.
        let at = names.iter().rposition(|name| *name == flow.group).unwrap_or_else(|| {
            names.push(flow.group.clone());
            names.len() - 1
        });
        rows.push(at as u32);
    }
    let number = |name: &str, kind, of: &dyn Fn(&FlowSummary) -> Option<f64>| Column {
        name: name.to_owned(),
        kind,
        values: Cells::Number(flows.iter().map(|flow| of(flow).unwrap_or(f64::NAN)).collect()),
    };
    let count = |name: &str, kind, of: &dyn Fn(&FlowSummary) -> u64| Column {
        name: name.to_owned(),
        kind,
        values: Cells::Count(flows.iter().map(of).collect()),
    };
    let columns = vec![
        Column { name: "group".to_owned(), kind: Kind::Key, values: Cells::Name { names, rows } },
        count("index", Kind::Key, &|flow| u64::from(flow.index)),
        number("rtt_s", Kind::Instant, &|flow| Some(flow.rtt_s)),
        number("goodput_bit_per_s", Kind::Average, &|flow| Some(flow.goodput_bit_per_s)),
        number("throughput_packets_per_s", Kind::Average, &|flow| Some(flow.throughput_packets_per_s)),
        number("window_mean_packets", Kind::Average, &|flow| flow.window_mean_packets),
        number("rtt_mean_s", Kind::Average, &|flow| flow.rtt_mean_s),
        number("rtt_min_s", Kind::Instant, &|flow| flow.rtt_min_s),
        number("loss_rate", Kind::Average, &|flow| Some(flow.loss_rate)),
        number("mark_rate", Kind::Average, &|flow| Some(flow.mark_rate)),
        count("retransmits", Kind::Instant, &|flow| flow.retransmits),
        count("timeouts", Kind::Instant, &|flow| flow.timeouts),
        number("completion_s", Kind::Instant, &|flow| flow.completion_s),
    ];
    Table { name: "flows".to_owned(), columns }
}
