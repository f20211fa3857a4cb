//! The page that defines every number of a record. What `summary.json` holds is printed from its own types.

use std::fmt::Write as _;

use schemars::JsonSchema;

use super::cells::OWN;
use super::columns::{Documented, SERIES};
use super::parquet::word;
use super::sweep::{Axis, CellOf, Difference, Group, Labelled, Statistics, SweepFile};
use super::{SummaryFile, table_file};
use crate::finding::KINDS;
use crate::summary::{
    ClassSummary, Cost, CustomerSummary, Engine, Fairness, Finding, FlowSummary, GroupSummary, LinkSummary, Measured,
    PathSummary, Transfers,
};

const HEAD: &str = "\
# Records

What a run leaves behind, and what each number in it means. Printed by `penstock report --reference` from the types that
write it; `make bless` writes this page.

| file | what it holds |
| --- | --- |
| `record.toml` | the scenario with every default filled in, what `--set` changed, the world, the code that ran, the machine, and a hash of each file |
| `summary.json` | what was measured, in numbers |
| `cost.json` | time and memory that the run took: the only file that differs between two runs of a scenario on one machine |
| `flows.parquet` | one row a flow, over the measured span, under the names of `flows` below; what does not apply is null |
| `links.parquet`, `groups.parquet` | series of links and of groups, a row each `sample` |
| `customers.parquet` | series of customers that have a conditioner |
| `flows-series.parquet` | series of the flows of groups with `series = true` |
| `transfers.parquet` | one row a transfer, where flows have more than one |
| `classes.parquet`, `link_classes.parquet` | series of classes of traffic, and of what an AQM that keeps them apart says of each |
| `packets.pcapng` | packets at one end of every flow, with `run --pcap` |
| `report.html` | tables and plots of all that |
| `sweep.json` | beside the records of a sweep: every cell, means and 95 % confidence intervals over seeds, paired differences |
| `source.json` | beside them: which scenario file and world the directory is of |
| `cells.parquet` | beside it: one row a cell, to be read by pandas, polars, DuckDB or R; `penstock report --csv DIR` prints it |

A number is counted over the **measured span**: from `warmup` to the end of the run, and from `from` to `to` of each
window. A name ends in its unit: `_s` seconds, `_bit_per_s`, `_packets`, `_packets_per_s`, `_bytes`; one without is a
count or a ratio. A name that does not apply is absent, never null or a made-up zero; the last column says when.
In claims of a paper and in `sweep.json` a number is named by its path, such as `links.bottleneck.utilization`.

## What a record is of, and whether it is whole

`code` in `record.toml` names what computed the numbers: `sources` and the SHA-256 of every source file that can change
one (all crates but `cli`, `fuzz`, `papers` and `report`, the kernel_laws in `bpf/`, the manifests, `Cargo.lock`, the compiler's
version), or, where the command was not built from the workspace, `program` and the SHA-256 of the program. A finished cell is
taken for one of this sweep if its scenario, world and code are the same. Sources are hashed rather than the program, so
that builds on several machines, and with or without optimisation, share records: their results are the same bits.
`version` and `commit` (with `-dirty` where sources were changed since) are for people and decide nothing.

The last line of `record.toml` is the SHA-256 of all bytes above it, and `files` has the SHA-256 of every other file that
the results consist of. A header without its last line, a list without `summary.json` or `flows.parquet`, and a file that
is not what was written are refused; in a sweep such a record is set aside as `NAME.damaged`, and its cell runs again.
A record has its name only after all its files are on disk (`fsync`), so that neither a kill nor a power failure leaves a
part of one. Names in `files` are plain, without folders. Regular files are read, never links or devices: `record.toml` up to
64 MB, `summary.json` and `sweep.json` up to 1 GB, a table up to 4 GB and 500 million values.

Records of format 1 (`format = 1`, without `code` and without the last line) are neither used nor touched. `penstock run
RECORD/record.toml` makes one again.
";

const SERIES_HEAD: &str = "\
## Series

A row has `time_s` and the `link`, the `group`, the `customer` or the `flow` it is about; one of `transfers.parquet` a transfer that ended. An *average* is over the
`sample` before `time_s`, an *instant* is at it; in `flows.parquet` and `cells.parquet` an average is over the measured span.

The state of a law has the columns that [laws.md](laws.md) lists for it, as `penstock laws NAME` does: each is an *instant*.

A Parquet file has the meaning of its columns with it. The metadata of each field have `kind`, `unit` (`1` for a plain
number), `description`, and for the state of a law `title`, its name in words. With pyarrow they are in
`pyarrow.parquet.read_schema(\"links.parquet\").field(\"utilization\").metadata`.

The same stands once more in the metadata of the file, as JSON under the key `penstock`, for readers that show no metadata
of fields: `{ \"format\": 1, \"table\", \"columns\": { NAME: { \"kind\", \"unit\", \"title\", \"description\" } } }`. DuckDB has it by
`select decode(value) from parquet_kv_metadata('links.parquet')`, polars by `pl.read_parquet_metadata(\"links.parquet\")`.

| file | column | kind | meaning |
| --- | --- | --- | --- |
";

const CELLS_HEAD: &str = "
## `cells.parquet`

One row a cell, in the order of the axes.

| column | meaning |
| --- | --- |
";

const CELLS_TAIL: &str = "\
| `label.KEY` | The cell's place on the axis `KEY`, as the scenario's file has it: `10 ms`. |
| `KEY_UNIT` | The same as a number in units of the SI, with the unit at the end of the name: 0.01 in `flows.ftp.rtt_s`. Of plain numbers there is no unit in the name; of names, and of an axis in several units, there is no such column. |
| any other | A number of the cell's `summary.json` under its path, such as `links.bottleneck.utilization`; null where the cell has none. What is true or false is 1 or 0. Single flows are left out: `flows.parquet` of each record has them. |

`penstock report --csv DIR` prints the same table as CSV, of a sweep's directory or of a record, which is one row. Of several directories it
is one table, and each `path` begins with its directory.

";

/// The page as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    table::<SummaryFile>(
        &mut page,
        "`summary.json`",
        "The file itself; what was measured over the whole span stands on top.",
    );
    table::<Measured>(&mut page, "A span", "The whole span, and each of `windows`.");
    table::<LinkSummary>(&mut page, "`links.NAME`", "One link.");
    table::<GroupSummary>(&mut page, "`groups.NAME`", "One group of flows.");
    table::<Transfers>(&mut page, "`groups.NAME.transfers`", "Transfers of a group whose flows have a size.");
    table::<FlowSummary>(&mut page, "`flows`", "One flow.");
    table::<Fairness>(&mut page, "`fairness`", "All flows together.");
    table::<ClassSummary>(
        &mut page,
        "`classes.NAME`",
        "One class of traffic; bytes on the wire, without acknowledgements.",
    );
    table::<CustomerSummary>(&mut page, "`customers.NAME`", "One customer.");
    table::<Engine>(&mut page, "`engine`", "How much was computed: the same in every run of a seed.");
    table::<PathSummary>(
        &mut page,
        "`path`",
        "The emulated path of the Linux world, over the whole run: how far it was off, and what was found at its ends.",
    );
    table::<Finding>(
        &mut page,
        "`findings`",
        "What a reader should know before trusting the numbers. It stands under the tables that the command prints, and on \
         the report; `penstock check` says what the scenario alone tells.",
    );
    page.push_str("\n| id | what it means |\n| --- | --- |\n");
    for (id, meaning) in KINDS {
        let _ = writeln!(page, "| `{id}` | {meaning} |");
    }
    table::<Cost>(&mut page, "`cost.json`", "What the run cost, on the machine that it ran on.");
    table::<SweepFile<'_>>(&mut page, "`sweep.json`", "Beside the records of a sweep, once every cell is there.");
    table::<Axis<'_>>(&mut page, "`axes` of a sweep", "What varies. Labels are text as the scenario's file has it.");
    table::<Labelled<'_>>(&mut page, "`axes[].places`", "A place on an axis.");
    table::<CellOf<'_>>(&mut page, "`cells` of a sweep", "One cell.");
    table::<Group<'_>>(&mut page, "`groups` of a sweep", "Cells that differ in nothing but their seed.");
    table::<Difference<'_>>(
        &mut page,
        "`differences` of a sweep",
        "One group less another, seed by seed: what both cells of a seed draw alike cancels, so that the interval is narrower than those of the groups.",
    );
    table::<Statistics>(&mut page, "Statistics in `measures`", "What stands in the place of a number.");
    page.push_str(CELLS_HEAD);
    for (name, what) in OWN {
        let _ = writeln!(page, "| `{name}` | {what} |");
    }
    page.push_str(CELLS_TAIL);
    page.push_str(SERIES_HEAD);
    for series in SERIES {
        let file = table_file(series.table);
        let mut first = format!("`{file}`");
        for known in series.columns {
            let _ = writeln!(page, "| {first} | `{}` | {} | {} |", known.name, word(known.kind), known.what);
            first.clear();
        }
        if let Some(role) = series.state_of {
            let _ = writeln!(page, "| | the state of the {role} | instant | see [laws.md](laws.md) |");
        }
    }
    page
}

/// One type as a table.
fn table<T: JsonSchema>(page: &mut String, heading: &str, what: &str) {
    let _ = write!(page, "\n## {heading}\n\n{what}\n\n| name | meaning | always there |\n| --- | --- | --- |\n");
    for (name, meaning, always) in Documented::of::<T>().fields() {
        let _ = writeln!(page, "| `{name}` | {meaning} | {} |", if always { "yes" } else { "" });
    }
}
