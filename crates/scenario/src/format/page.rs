//! The reference page of the format.

use std::fmt::Write;

use super::shape::Word;
use super::{Key, Shape, Silent, TABLES, Table};
use crate::model::Profile;
use crate::quantity::{BDP, Kind, PACKETS, PER_SECOND, RATE, SIZE, TIME};
use crate::write::options;

const HEAD: &str = "\
# Scenario files, format 1

This page is generated from the scenario reader. `docs/laws.md` describes the laws and their parameters. `penstock check
FILE` prints a scenario with every default. `penstock check --schema` prints the JSON Schema of the format, for editors.

A scenario is a TOML file. Quantities are text with a unit: `\"10 ms\"`, not `10`. Unknown keys are errors, and so are
settings without effect. An error names the file, the line and the key, the value found and a value that is valid. A
scenario file cannot include other files. `--set KEY=VALUE` overrides the file and its sweep. Results use the names of
links, groups, classes, customers and windows. Such names contain no dots and no slashes, except `NAME/back`. A scenario
file has at most 64 MB.

## Quantities

A quantity is a number and a unit in quotation marks, with or without a space between them. Numbers are decimal and
exact: `0.1 s` is 10^11 ps.

| quantity | units |
| --- | --- |
";

const SWEEP: &str = "
## `[sweep]`

A sweep writes one record for each cell. A key of the scenario, dotted and in quotation marks, takes a list of values.
The cells are all combinations of these values; the last key varies fastest. `[[sweep.case]]` has a `name` and keys that
change together. Any other name in place of `case` makes another axis of such cases. `seed` varies fastest of all keys.
`seed` takes a list, or `{ count = 10 }`, which counts up from the scenario's own seed.

```toml
[sweep]
seed = { count = 10 }
\"links.bottleneck.rate\" = [\"155 Mbit/s\", \"622 Mbit/s\"]

[[sweep.case]]
name = \"NewReno\"
\"flows.ftp.cc\" = { law = \"newreno\" }

[[sweep.case]]
name = \"FAST\"
\"flows.ftp.cc\" = { law = \"fast\" }
```

The hash of a cell's complete scenario identifies the cell. So if you add values to a sweep, its finished cells do not
run again.
";

const HOSTS: &str = "
### Hosts

`profile` names a kind of host and sets the defaults of the other keys of `sender`. Beside `profile`, you can still set
each key of `sender` by itself. `penstock check` prints the resulting keys. `ns-2`, the default, has the senders of ns-2
and of papers before 2010. `rfc` follows RFC 5681, 6298, 8985 and 9937, and the experimental RFC 3465, 3522 and 6928. The profile `linux`
has the senders and receivers of a current Linux kernel; a scenario with `linux` runs unchanged with `--world linux`.
`quic` follows RFC 9002 and the QUIC stack quinn, but with RACK's loss detection, which differs little from that of RFC 9002.
With another recovery than `rack`, `quic` has no probe timeout: it then has `rto = \"linux\"` and `min_rto = \"25 ms\"`.
Segments may still be lost when a recovery by `rack` ends. As in Linux, they begin the next recovery at once, with a reduction of its
own. With `rto = \"rfc9002\"` the next recovery begins with the next loss.
An empty cell of the table is the default of the law, or a key that does not apply. A law that counts marks has `ecn_echo = \"per-packet\"`
on every host.

";

const PACING: &str = "
### Pacing by the window

With `pacing = \"window\"` a sender paces as quinn does. The sender has a bucket of packets that may leave. The bucket fills
with 1.25 windows in a smoothed round-trip time (RFC 9002, section 7.7). The bucket holds the packets of 2 ms, at least 10 and
at most 256 packets. When the bucket is empty, the sender waits until the bucket is full or an acknowledgement arrives. A law
that sets a gap has a window of at most the smoothed round-trip time divided by the gap. The window is at least 2 packets (RFC
9002, section 7.2).
";

/// The reference page, Markdown.
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    for kind in [&TIME, &RATE, &SIZE, &PACKETS, &BDP, &PER_SECOND] {
        let units: Vec<_> = kind.units.iter().map(|unit| format!("`{}`", unit.0)).collect();
        let _ = writeln!(page, "| {} | {} |", kind.noun, units.join(", "));
    }
    for table in TABLES {
        if table.path == "sweep.seed" {
            page += SWEEP;
        }
        let _ = writeln!(page, "\n## {}\n\n{}\n", heading(table), wrapped(table.what));
        page += "| key | takes | default | meaning |\n| --- | --- | --- | --- |\n";
        for key in table.keys {
            let _ = writeln!(page, "| `{}` | {} | {} | {} |", key.name, takes(&key.shape), silent(key), key.what);
        }
        if table.path == "flows.NAME.sender" {
            page += HOSTS;
            page += &hosts();
            page += PACING;
        }
    }
    page
}

/// The options of each kind of host that differ from the first.
fn hosts() -> String {
    let hosts: Vec<Profile> = Profile::WORDS.iter().map(|(_, profile)| *profile).collect();
    let row = |name: &str, cells: Vec<String>| format!("| {name} | {} |\n", cells.join(" | "));
    let mut table = row("key", hosts.iter().map(|host| format!("`{}`", host.word())).collect());
    table += &row("---", hosts.iter().map(|_| "---".to_owned()).collect());
    let values: Vec<_> = hosts.iter().map(|host| options(&host.options())).collect();
    let of = |at: usize, key: &str| values[at].iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
    let mut keys: Vec<&str> = values.iter().flatten().map(|(key, _)| *key).filter(|key| *key != "profile").collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let cells: Vec<_> =
            (0..hosts.len()).map(|at| of(at, key).map_or(String::new(), |v| format!("`{v}`"))).collect();
        if cells.iter().any(|cell| *cell != cells[0]) {
            table += &row(&format!("`{key}`"), cells);
        }
    }
    let mut parameters: Vec<&str> = hosts.iter().flat_map(|host| host.parameters()).map(|(name, _)| *name).collect();
    parameters.sort_unstable();
    parameters.dedup();
    for name in parameters {
        let shown = |host: &Profile| {
            host.parameters().iter().find(|(n, _)| *n == name).map_or(String::new(), |(_, v)| format!("{v}"))
        };
        table += &row(&format!("`{name}` of a law that has it"), hosts.iter().map(shown).collect());
    }
    table
}

fn heading(table: &Table) -> String {
    let depth = table.path.split('.').count();
    match table.path {
        "" => "The file".into(),
        // What is written with a header, and what within one.
        path if depth <= 2 && !matches!(path, "packet" | "SPAN.pareto" | "sweep.seed" | "SPAN") => {
            format!("`[{path}]`")
        }
        path => format!("`{path}`"),
    }
}

fn silent(key: &Key) -> String {
    match key.silent {
        Silent::Required => "required".into(),
        Silent::Is(value) => format!("`{value}`"),
        Silent::Means(words) => words.into(),
    }
}

/// The values of a key, in words.
fn takes(shape: &Shape) -> String {
    let coded = |words: &[&str]| listed(words.iter().map(|word| format!("`\"{word}\"`")).collect());
    let table = |table: &Table| {
        let keys: Vec<_> = table.keys.iter().map(|key| key.name).collect();
        format!("`{{ {} }}`", keys.join(", "))
    };
    let plural = |shape: &Shape| match shape {
        Shape::Quantity(kind) => several(kind).to_owned(),
        Shape::Name => "names".into(),
        Shape::Whole(least, most) => format!("whole numbers, {least} to {most}"),
        other => takes(other),
    };
    match shape {
        Shape::Text => "text".into(),
        Shape::Name => "a name".into(),
        Shape::Switch => "`true` or `false`".into(),
        Shape::Whole(a, b) if a == b => format!("`{a}`"),
        // No one counts that far.
        Shape::Whole(a, b) if *b == i64::MAX as u64 => format!("a whole number from {a}"),
        Shape::Whole(a, b) => format!("a whole number, {a} to {b}"),
        Shape::Number(range) => range.words(),
        Shape::Quantity(kind) => kind.noun.into(),
        Shape::Packets(a, b) => format!("packets, {a} to {b}, with or without the unit"),
        Shape::Buffer { bdp: true } => "`\"unlimited\"`, packets, a size, a time, or bandwidth-delay products".into(),
        Shape::Buffer { bdp: false } => "`\"unlimited\"`, packets, a size, or a time".into(),
        Shape::Exactly(word) => coded(&[word]),
        Shape::Word(words) => coded(&words()),
        Shape::List(of) => format!("a list of {}", plural(of)),
        Shape::Pair(of) => format!("two {}, the smaller first", plural(of)),
        Shape::Schedule(of) => format!("a list of pairs of a time and {}", takes(of)),
        Shape::Table(of) => table(of),
        Shape::OneOf(of) => listed(of.keys.iter().map(|key| format!("`{{ {} = ... }}`", key.name)).collect()),
        Shape::Tables(of) => format!("tables, see `[{}]`", of.path),
        Shape::Names(of) => format!("for each name {}", takes(of)),
        Shape::Controller | Shape::Aqm | Shape::Conditioner => "`{ law = \"NAME\", ... }`".into(),
        Shape::Parameter => "values of the parameter".into(),
        Shape::Sweep => "tables, see `[sweep]`".into(),
        Shape::Either(shapes) => listed(shapes.iter().map(takes).collect()),
    }
}

/// The plural of a quantity.
fn several(kind: &Kind) -> &'static str {
    match kind.noun {
        "a duration" => "durations",
        "a rate" => "rates",
        _ => "quantities",
    }
}

/// As in `a, b or c`.
fn listed(mut words: Vec<String>) -> String {
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}

/// Lines of at most 120 characters.
fn wrapped(text: &str) -> String {
    let (mut out, mut length) = (String::new(), 0);
    for word in text.split_whitespace() {
        let room = word.chars().count() + 1;
        if length + room > 121 {
            out.push('\n');
            length = 0;
        } else if length > 0 {
            out.push(' ');
        }
        out += word;
        length += room;
    }
    out
}
