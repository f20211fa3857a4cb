//! The page that defines every number of a record. The part of `summary.json` is printed from its own types.

use std::fmt::Write as _;

use penstock_scenario::finding::{KINDS, Kind};
use penstock_scenario::summary::{
    ClassSummary, Cost, CustomerSummary, Dynamics, Ellipse, Engine, Fairness, Finding, FlowSummary, GroupDynamics,
    GroupSummary, LinkDynamics, LinkSummary, Measured, Pages, PathSummary, QueueSummary, SizeClass, Slowdown,
    Transfers, Videos,
};
use schemars::JsonSchema;

use crate::cells::OWN;
use crate::columns::{Documented, SERIES};
use crate::dataset::Dataset;
use crate::parquet::word;
use crate::record::table_file;
use crate::summary::SummaryFile;
use crate::sweep::{Axis, CellOf, DatasetOf, Difference, Group, Labelled, Statistics, SweepFile};

const HEAD: &str = "\
# Records

This page lists the files of a record and defines each number in them. `penstock report --reference` generates this page
from the types that write the files.

| file | content |
| --- | --- |
| `record.toml` | the scenario with every default filled in, what `--set` changed, the world, the version of the code, the machine, and a hash of each file |
| `summary.json` | the measured numbers |
| `cost.json` | time and memory of the run; the only file that differs between two runs of a scenario on one machine |
| `flows.parquet` | one row for each flow, over the measured span, with the names of `flows` below; null where a number does not apply |
| `links.parquet`, `groups.parquet` | series of links and of groups, one row for each `sample` |
| `customers.parquet` | series of customers that have a conditioner |
| `flows-series.parquet` | series of the flows of groups with `series = true` |
| `transfers.parquet` | one row for each transfer, if flows have more than one |
| `pages.parquet` | one row for each web page, if there are any |
| `chunks.parquet` | one row for each chunk of video, if there are any |
| `classes.parquet`, `link_classes.parquet` | series of traffic classes, and the state of an AQM for each class, if it separates classes |
| `queues.parquet` | series of single queues, of links with several queues |
| `packets.pcapng` | packet headers at one end of every flow, with `run --pcap` |
| `flow-N.sqlog` | the log of the QUIC connections of flow N (qlog), with `run --generator quic --qlog` |
| `report.html` | tables and plots of the results |
| `sweep.json` | next to the records of a sweep: every cell, means and 95 % confidence intervals over seeds, paired differences |
| `source.json` | next to the records of a sweep: its scenario file and world |
| `cells.parquet` | next to `sweep.json`: one row for each cell, for pandas, polars, DuckDB or R; `penstock report --csv DIR` prints it |
| `cells.toml` | with `run --dataset`, in place of records: the scenario file, the version of the code, and a hash of each partition |
| `cells/part-NNNNN.parquet` | with `run --dataset`: partitions of one dataset, which has one row for each cell and the columns of `cells.parquet` |

Numbers refer to the **measured span**: from `warmup` to the end of the run, or from the start to the end of a window.
The name of a number ends in its unit: `_s` seconds, `_bit_per_s`, `_packets`, `_packets_per_s`, `_bytes`. A name
without a unit is a count or a ratio. In `summary.json` a number that does not apply is absent, never null or zero. The
last column of each table says which numbers are always there. Claims of a paper and `sweep.json` name a number by its
path, such as `links.bottleneck.utilization`.

## Identity and integrity

`code` in `record.toml` identifies the code that computed the numbers. `code` is the word `sources` and a SHA-256 over
every source file that can change a number. These source files are those of all crates except `cli`, `evaluation`,
`fuzz`, `papers`, `report` and `surface`. The SHA-256 also covers the kernel implementations in `bpf/`, the manifests,
`Cargo.lock` and the compiler's version. If the command was not built from the workspace, `code` is the word `program`
and the SHA-256 of the program. After that, `code` names each law in Python with the SHA-256 of its code. A sweep reuses
a finished cell if its scenario, world and code are the same, and both runs have `--awake` or neither. `awake` in
`record.toml` is true with this option. The hash in `code` covers sources and not the program. So builds on several
machines, with or without optimisation, share records: results of these builds are the same bits.
`version` and `commit` (with `-dirty` after local changes) in `record.toml` are only information for people.

The last line of `record.toml` is the SHA-256 of all bytes above that line. `files` in `record.toml` has the SHA-256 of
every other result file. A record is damaged if `record.toml` lacks its last line, if `files` lacks `summary.json` or
`flows.parquet`, or if a file has changed. Commands refuse a damaged record. A sweep renames a damaged record to
`NAME.damaged` and runs the cell again. A record gets its name only after all its files are on disk (`fsync`), so that a
kill or a power failure leaves no partial record. Names in `files` are plain, without folders. Commands read regular
files only, never links or devices. The largest files that commands read are `record.toml` of 64 MB, `summary.json` and
`sweep.json` of 1 GB, and a table of 4 GB and 500 million values.

The same rules hold for a dataset. `cells.toml` ends in a line like that of `record.toml`, and `partitions` has the
SHA-256 of each partition. A partition gets its name, and then its line in `cells.toml`, only after it is on disk. A sweep
renames a damaged partition to `part-NNNNN.parquet.damaged`, outside of `cells`, and runs its cells again.

A sweep neither uses nor changes records of format 1 (`format = 1`, without `code` and without the last line).
`penstock show` opens records of format 1. `penstock run RECORD/record.toml` runs the scenario of such a record again.
";

const SERIES_HEAD: &str = "\n\
## Series

A row of a series has `time_s` and its `link`, `group`, `customer` or `flow`. A row of `transfers.parquet` is a transfer
that ended. A row of `pages.parquet` is a page whose objects have all come. A row of `chunks.parquet` is a chunk that
has come. An *average* covers the `sample` before `time_s`; an *instant* is the value at `time_s`. In `flows.parquet`
and `cells.parquet` an average covers the measured span.

The state of a law has the columns in [laws.md](laws.md), also printed by `penstock laws NAME`. Each column with the
state of a law is an *instant*.

A Parquet file describes its own columns. The metadata of each field contain `kind`, `unit` (`1` for a plain number),
`description`, and for the state of a law `title`, its name in words. With pyarrow the metadata of a field are in
`pyarrow.parquet.read_schema(\"links.parquet\").field(\"utilization\").metadata`.

The metadata of the file repeat those of all fields as JSON under the key `penstock`, for readers that do not show the
metadata of fields: `{ \"format\": 1, \"table\", \"columns\": { NAME: { \"kind\", \"unit\", \"title\", \"description\" } } }`. DuckDB
reads this JSON by `select decode(value) from parquet_kv_metadata('links.parquet')`, polars by
`pl.read_parquet_metadata(\"links.parquet\")`.

| file | column | kind | meaning |
| --- | --- | --- | --- |
";

const CELLS_HEAD: &str = "
## `cells.parquet`

One row for each cell. Cells are in the order of the axes, the last axis fastest.

| column | meaning |
| --- | --- |
";

const DATASET: &str = "\
`run --dataset` writes no record for a cell. It writes `cells.toml`, and the folder `cells` with partitions of a few thousand
cells each. All partitions have the same columns in the same order. Readers of Parquet take the folder as one table.";

const CELLS_TAIL: &str = "\
| `label.KEY` | The cell's place on the axis `KEY`, as the scenario's file has it: `10 ms`. |
| `KEY_UNIT` | The same as a number in units of the SI, with the unit at the end of the name: 0.01 in `flows.ftp.rtt_s`. A plain number has no unit in the name. Names, and an axis in several units, have no such column. |
| any other | A number of the cell's `summary.json` under its path, such as `links.bottleneck.utilization`; null where the cell has none. True is 1, false is 0. Single flows are in `flows.parquet` of each record. |

`penstock report --csv DIR` prints the same table as CSV for the directory of a sweep, or one row for a record. For
several directories the command prints one table, and each `path` begins with its directory.
";

/// The page as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    table::<SummaryFile>(
        &mut page,
        "`summary.json`",
        "The numbers of the whole measured span are at the top level of the file.",
    );
    table::<Measured>(&mut page, "A span", "The numbers of the whole measured span, and of each span in `windows`.");
    table::<LinkSummary>(&mut page, "`links.NAME`", "One link.");
    table::<QueueSummary>(&mut page, "`links.NAME.queues.NAME`", "One queue of a link that has several.");
    table::<LinkDynamics>(
        &mut page,
        "`links.NAME.dynamics`",
        "One link over time, in scenarios with `[dynamics]`. R is the key `round` of `[dynamics]`.",
    );
    table::<GroupSummary>(&mut page, "`groups.NAME`", "One group of flows.");
    table::<Transfers>(&mut page, "`groups.NAME.transfers`", "Transfers of a group whose flows have a size.");
    table::<SizeClass>(&mut page, "`groups.NAME.transfers.by_size.NAME`", "Transfers of one class of size.");
    table::<Slowdown>(
        &mut page,
        "`slowdown`",
        "The slowdown is the completion time over that of the same transfer alone on its path. Alone, a transfer takes \
         its size with headers over the rate of the path's slowest link, plus a round trip without queues. If a link's \
         rate changes, the slowdown uses its rate at the start. If the rate follows a trace, the slowdown uses the \
         trace's mean.",
    );
    table::<Pages>(&mut page, "`groups.NAME.pages`", "Web pages of a group with `page`.");
    table::<Videos>(&mut page, "`groups.NAME.video`", "Sessions of a group with `video`.");
    table::<GroupDynamics>(&mut page, "`groups.NAME.dynamics`", "One group of flows over time.");
    table::<Ellipse>(
        &mut page,
        "`groups.NAME.dynamics.ellipse`",
        "Queueing delay and goodput in successive windows of 10 R (RFC 7928, section 2.7): the mean delay of the \
         packets at each link that the group's data cross, summed over links, and the goodput of all flows of the \
         group together. The contour of a normal distribution with these moments, around the medians, is the ellipse.",
    );
    table::<FlowSummary>(&mut page, "`flows`", "One flow.");
    table::<Fairness>(&mut page, "`fairness`", "All flows together.");
    table::<Dynamics>(&mut page, "`dynamics`", "The behaviour over time of all flows together.");
    table::<ClassSummary>(
        &mut page,
        "`classes.NAME`",
        "One class of traffic; bytes on the wire, without acknowledgements.",
    );
    table::<CustomerSummary>(&mut page, "`customers.NAME`", "One customer.");
    table::<Engine>(&mut page, "`engine`", "The amount of computation: the same in every run of a seed.");
    table::<PathSummary>(
        &mut page,
        "`path`",
        "The emulated path of the Linux world, over the whole run: its error, and observations at its ends.",
    );
    table::<Finding>(
        &mut page,
        "`findings`",
        "Things that can mislead a reader of the numbers. The command prints findings under its tables, and the report \
         shows them. `penstock check` prints the findings that follow from the scenario alone.",
    );
    page.push_str("\n| id | meaning |\n| --- | --- |\n");
    for Kind { id, meaning } in KINDS {
        let _ = writeln!(page, "| [`{id}`](findings.md#{id}) | {meaning} |");
    }
    table::<Cost>(&mut page, "`cost.json`", "The cost of the run on its machine.");
    table::<SweepFile<'_>>(
        &mut page,
        "`sweep.json`",
        "The file `sweep.json` is written next to the records of a sweep when every cell is finished.",
    );
    table::<Axis<'_>>(
        &mut page,
        "`axes` of a sweep",
        "The varied keys of the sweep. The labels of a varied key's values are text as in the scenario file.",
    );
    table::<DatasetOf>(&mut page, "`dataset` of a sweep", "The dataset of a sweep without records.");
    table::<Labelled<'_>>(&mut page, "`axes[].places`", "One value or case of an axis of the sweep.");
    table::<CellOf<'_>>(&mut page, "`cells` of a sweep", "One cell.");
    table::<Group<'_>>(
        &mut page,
        "`groups` of a sweep",
        "A group of the sweep's cells that differ only in their seed.",
    );
    table::<Difference<'_>>(
        &mut page,
        "`differences` of a sweep",
        "Each entry is one group of cells minus another group, seed by seed. Random draws that both cells of a seed \
         share cancel in the difference. So the difference's confidence interval is narrower than the intervals of the \
         groups.",
    );
    table::<Statistics>(
        &mut page,
        "Statistics in `measures`",
        "In `measures`, these statistics replace each number of a summary.",
    );
    page.push_str(CELLS_HEAD);
    for (name, what) in OWN {
        let _ = writeln!(page, "| `{name}` | {what} |");
    }
    page.push_str(CELLS_TAIL);
    table::<Dataset>(&mut page, "`cells.toml`", DATASET);
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
