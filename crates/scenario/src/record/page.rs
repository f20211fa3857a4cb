//! The page that defines every number of a record. What `summary.json` holds is printed from its own types.

use std::fmt::Write as _;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

use crate::finding::KINDS;
use crate::summary::{
    ClassSummary, CustomerSummary, Engine, Fairness, Finding, FlowSummary, GroupSummary, LinkSummary, Measured,
    PathSummary, Summary, Transfers,
};

const HEAD: &str = "\
# Records

What a run leaves behind, and what each number in it means. Printed by `penstock report --reference` from the types that
write it; `make bless` writes this page.

| file | what it holds |
| --- | --- |
| `record.toml` | the scenario with every default filled in, the world, the code that ran, and a hash of each file |
| `summary.json` | what was measured, in numbers |
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

A number is counted over the **measured span**: from `warmup` to the end of the run, and from `from` to `to` of each
window. A name ends in its unit: `_s` seconds, `_bit_per_s`, `_packets`, `_packets_per_s`, `_bytes`; one without is a
count or a ratio. A name that does not apply is absent, never null or a made-up zero; the last column says when.
In claims of a paper and in `sweep.json` a number is named by its path, such as `links.bottleneck.utilization`.

## What a record is of, and whether it is whole

`code` in `record.toml` names what computed the numbers: `sources` and the SHA-256 of every source file that can change
one (all crates but `cli`, `fuzz`, `papers` and `report`, the twins in `bpf/`, the manifests, `Cargo.lock`, the compiler's
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

const SERIES: &str = "\
## Series

A row has `time_s` and the `link`, the `group`, the `customer` or the `flow` it is about; one of `transfers.parquet` a transfer that ended. An *average* is over the
`sample` before `time_s`, an *instant* is at it; the Parquet files say which in each column's metadata.

| file | column | kind | meaning |
| --- | --- | --- | --- |
| `links.parquet` | `utilization` | average | what left over what the line could have carried |
| | `throughput_bit_per_s` | average | bits that left |
| | `queue_packets` | instant | packets waiting, the one in transmission left out |
| | `queue_mean_packets` | average | the same, over time |
| | `drops_per_s` | average | packets refused, dropped or lost on the line |
| | `marks_per_s` | average | packets marked |
| | the AQM's own | instant | its state, under the names of `penstock laws` |
| `groups.parquet` | `goodput_bit_per_s` | average | user data delivered in order, all flows together |
| | `throughput_packets_per_s` | average | data packets delivered, all flows together |
| | `window_packets` | instant | congestion window, mean of the flows; absent for sources without one |
| | `rtt_s` | average | mean of the round-trip samples; absent where there was none |
| | `losses_per_s` | average | data packets lost |
| `customers.parquet` | `throughput_bit_per_s` | average | bits on the wire that receivers got |
| | `in_profile_fraction` | average | share of the bytes that entered green; absent where none did |
| | `bucket_bytes` | instant | level of the bucket of the committed rate |
| | `bucket_mean_bytes` | average | the same, over time |
| | the conditioner's own | instant | its state after the last packet, under the names of `penstock laws` |
| `flows-series.parquet` | `goodput_bit_per_s`, `throughput_packets_per_s`, `rtt_s` | average | as above, of one flow |
| | `in_flight_packets` | instant | packets sent and neither acknowledged nor thought lost |
| | `estimated_rtt_s`, `estimated_base_rtt_s`, `estimated_price_s` | instant | what the law is told |
| | the controller's own | instant | its state, under the names of `penstock laws` |
| `classes.parquet` | `offered_bit_per_s`, `served_bit_per_s` | average | what senders of the class sent, and receivers got |
| `link_classes.parquet` | the AQM's own | instant | its state for `link_class`, a link and a class as in `bottleneck/udp` |
| `transfers.parquet` | `flow`, `number` | | whose it is, and the how manieth of that flow |
| | `arrived_s`, `began_s`, `ended_s` | instant | when it was there to be sent, when a flow took it up, when its last acknowledgement came |
| | `completion_s` | instant | from `arrived_s` to `ended_s` |
| | `bytes` | instant | user data |
";

/// The page as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    table::<Summary>(
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
    table::<Engine>(
        &mut page,
        "`engine`",
        "What the run cost: the only numbers that differ between two runs of a seed.",
    );
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
    page.push('\n');
    page + SERIES
}

/// One type as a table.
fn table<T: JsonSchema>(page: &mut String, heading: &str, what: &str) {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = false;
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let _ = write!(page, "\n## {heading}\n\n{what}\n\n| name | meaning | always there |\n| --- | --- | --- |\n");
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        let meaning = property.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
        let always = if required.contains(&name.as_str()) { "yes" } else { "" };
        let _ = writeln!(page, "| `{name}` | {meaning} | {always} |");
    }
}
