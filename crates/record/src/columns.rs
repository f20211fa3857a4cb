//! The meaning of each column of a record's tables: for the page that defines them and for the metadata of the files.

use std::fmt::Write as _;
use std::sync::LazyLock;

use indexmap::IndexMap;
use penstock_law::{Observables, Role};
use penstock_scenario::model::{Chosen, Scenario};
use penstock_scenario::summary::{FlowSummary, Summary};
use penstock_scenario::world::{Kind, column_name};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

/// The meaning of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meaning {
    /// The unit of its values, `1` for plain numbers.
    pub unit: String,
    /// The state of a law, in words; empty for other columns.
    pub title: String,
    /// Description, in a sentence or a few.
    pub description: String,
}

/// The unit that a column's name ends in, `1` where it is a plain number.
pub fn unit_of(column: &str) -> &'static str {
    const UNITS: [(&str, &str); 7] = [
        ("_bit_per_s", "bit/s"),
        ("_packets_per_s", "packets/s"),
        ("_per_s", "1/s"),
        ("_packets", "packets"),
        ("_bytes", "B"),
        ("_bits", "bit"),
        ("_s", "s"),
    ];
    UNITS.iter().find(|(end, _)| column.ends_with(end)).map_or("1", |(_, unit)| unit)
}

/// A column that worlds write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) what: &'static str,
}

/// The series of one kind of entity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series {
    /// The table's name, as worlds give it.
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [Known],
    /// Whose state is there besides, if there is any.
    pub(crate) state_of: Option<&'static str>,
}

const fn key(name: &'static str, what: &'static str) -> Known {
    Known { name, kind: Kind::Key, what }
}

const fn average(name: &'static str, what: &'static str) -> Known {
    Known { name, kind: Kind::Average, what }
}

const fn instant(name: &'static str, what: &'static str) -> Known {
    Known { name, kind: Kind::Instant, what }
}

const TIME: Known = key("time_s", "Time since the start of the run.");

pub(crate) const SERIES: &[Series] = &[
    Series {
        table: "links",
        columns: &[
            TIME,
            key("link", "The link."),
            average("utilization", "Bits that left the link over bits that it could send."),
            average("throughput_bit_per_s", "Bits that left, per second."),
            instant("queue_packets", "Packets waiting, without the one in transmission."),
            average("queue_mean_packets", "Packets waiting, averaged over time."),
            average("drops_per_s", "Packets refused, dropped or lost on the line, per second."),
            average("marks_per_s", "Packets marked, per second."),
        ],
        state_of: Some("AQM"),
    },
    Series {
        table: "groups",
        columns: &[
            TIME,
            key("group", "The group of flows."),
            average("goodput_bit_per_s", "User data delivered in order, all flows together, per second."),
            average("throughput_packets_per_s", "Data packets delivered, all flows together, per second."),
            instant("window_packets", "Congestion window, mean over the flows; null for sources without one."),
            average("rtt_s", "Mean of the round-trip samples; null if there was none."),
            average("losses_per_s", "Data packets lost, per second."),
        ],
        state_of: None,
    },
    Series {
        table: "customers",
        columns: &[
            TIME,
            key("customer", "The customer."),
            average("throughput_bit_per_s", "Bits on the wire that receivers received, per second."),
            average("in_profile_fraction", "Share of the entering bytes that were green; null if no bytes entered."),
            instant("bucket_bytes", "Level of the bucket of the committed rate."),
            average("bucket_mean_bytes", "Level of that bucket, averaged over time."),
        ],
        state_of: Some("conditioner"),
    },
    Series {
        table: "flows",
        columns: &[
            TIME,
            key("flow", "The flow: its group and its number in the group."),
            average("goodput_bit_per_s", "User data delivered in order, per second."),
            average("throughput_packets_per_s", "Data packets delivered, per second."),
            instant("in_flight_packets", "Packets sent and neither acknowledged nor considered lost."),
            average("rtt_s", "Mean of the round-trip samples; null if there was none."),
            instant("estimated_rtt_s", "Round-trip time that the sender estimates for its law."),
            instant("estimated_base_rtt_s", "Smallest round-trip time that the sender has measured."),
            instant("estimated_price_s", "Sum of the prices along the path that the sender estimates from marks."),
            instant("estimated_capacity_packets_per_s", "Capacity of the bottleneck that the sender estimates."),
            instant("estimated_buffer_packets", "Size of the bottleneck's buffer that the sender estimates."),
            instant("estimated_level_packets", "Packets in that buffer that the sender estimates."),
        ],
        state_of: Some("controller"),
    },
    Series {
        table: "classes",
        columns: &[
            TIME,
            key("class", "The class of traffic."),
            average("offered_bit_per_s", "Bits that senders of the class sent, per second."),
            average("served_bit_per_s", "Bits that receivers of the class received, per second."),
        ],
        state_of: None,
    },
    Series {
        table: "link_classes",
        columns: &[TIME, key("link_class", "A link and a class of traffic, as in `bottleneck/udp`.")],
        state_of: Some("AQM"),
    },
    Series {
        table: "queues",
        columns: &[
            TIME,
            key(
                "queue",
                "A link and a queue of it, as in `bottleneck/classic`: a name of the link's `queues` in the summary.",
            ),
            average("throughput_bit_per_s", "Bits whose transmission began, per second, acknowledgements included."),
            average("throughput_packets_per_s", "Packets whose transmission began, per second."),
            instant("queue_packets", "Packets waiting."),
            average("queueing_delay_s", "Waiting time of the packets whose transmission began; null if none did."),
            average("drops_per_s", "Packets refused, or dropped after a wait, per second."),
            average("marks_per_s", "Packets marked, per second."),
        ],
        state_of: None,
    },
    Series {
        table: "transfers",
        columns: &[
            key("flow", "The flow: its group and its number in the group."),
            key("number", "The transfer's number among those of its flow, from zero."),
            instant("arrived_s", "Time at which the transfer arrived."),
            instant("began_s", "Time at which a flow began to send it."),
            instant("ended_s", "Time of its last acknowledgement."),
            instant("completion_s", "Time from `arrived_s` to `ended_s`."),
            instant("bytes", "User data of the transfer."),
            instant("slowdown", "Completion time over that of the same transfer alone on its path."),
        ],
        state_of: None,
    },
    Series {
        table: "pages",
        columns: &[
            key("flow", "The browser's first flow: its group and its number in the group."),
            key("number", "The page's number among those of its browser, from zero."),
            instant("began_s", "Time of the request of its first object."),
            instant("ended_s", "Time of the last acknowledgement of its last object."),
            instant("load_s", "Time from `began_s` to `ended_s`."),
            instant("bytes", "User data of the page."),
        ],
        state_of: None,
    },
    Series {
        table: "chunks",
        columns: &[
            key("flow", "The flow: its group and its number in the group."),
            key("number", "The chunk's number among those of its flow, from zero."),
            instant("requested_s", "Time of the chunk's request."),
            instant("arrived_s", "Time of its last acknowledgement."),
            instant("rate_bit_per_s", "The chunk's rate."),
            instant("held_s", "Playing time that the player holds when it has come, the chunk included."),
        ],
        state_of: None,
    },
];

/// The meaning of the column `name` of a run's series `table`.
pub(crate) fn of_series(table: &str, name: &str, scenario: &Scenario) -> Meaning {
    let known = SERIES.iter().find(|series| series.table == table).into_iter().flat_map(|series| series.columns);
    if let Some(known) = known.into_iter().find(|known| known.name == name) {
        return Meaning { unit: unit_of(name).to_owned(), description: known.what.to_owned(), ..Meaning::default() };
    }
    let mut meaning = Meaning { unit: unit_of(name).to_owned(), ..Meaning::default() };
    let mut said: Vec<&str> = Vec::new();
    for (law, observables) in states(table, scenario) {
        let Some(of) = observables.iter().find(|of| column_name(of.name, of.unit) == name) else { continue };
        if said.contains(&of.description) {
            continue;
        }
        if said.is_empty() {
            meaning = Meaning { unit: of.unit.to_owned(), title: of.words.to_owned(), description: String::new() };
        }
        let space = if said.is_empty() { "" } else { " " };
        let _ = write!(meaning.description, "{space}State of {law}: {}", of.description);
        said.push(of.description);
    }
    meaning
}

/// The laws of a scenario whose state is in a table, each once, with their observables.
fn states(table: &str, scenario: &Scenario) -> IndexMap<&'static str, Observables> {
    fn of<R: Role>(chosen: &Chosen<R>) -> (&'static str, Observables) {
        (chosen.law.name, chosen.law.observables)
    }
    match table {
        "links" | "link_classes" => scenario.links.values().map(|link| of(&link.aqm)).collect(),
        "flows" => scenario.groups.values().map(|group| of(&group.cc)).collect(),
        "customers" => {
            scenario.customers.values().filter_map(|customer| customer.conditioner.as_ref()).map(of).collect()
        }
        _ => IndexMap::new(),
    }
}

/// The meaning of a column of the table with one row a flow.
pub(crate) fn of_flow(name: &str) -> Meaning {
    // Every record has this table, and a schema takes longer to make than a short run.
    static FLOW: LazyLock<Documented> = LazyLock::new(Documented::of::<FlowSummary>);
    let description = FLOW.field(&[name]).unwrap_or_default();
    Meaning { unit: unit_of(name).to_owned(), description, ..Meaning::default() }
}

/// Gives the reason why no summary has a number at `path`, names joined by dots; none if one may have it. Names of links and groups are
/// not looked at, and have no dots.
///
/// ```
/// assert_eq!(penstock_record::summary_lacks("links.bottleneck.utilization"), None);
/// assert!(penstock_record::summary_lacks("links.bottleneck.utilisation").unwrap().contains("no `utilisation`"));
/// ```
pub fn summary_lacks(path: &str) -> Option<String> {
    static SUMMARY: LazyLock<Documented> = LazyLock::new(Documented::of::<Summary>);
    SUMMARY.lacks(path)
}

/// A type with the doc comments of its fields.
#[derive(Debug)]
pub(crate) struct Documented(Value);

impl Documented {
    pub(crate) fn of<T: JsonSchema>() -> Self {
        let mut settings = SchemaSettings::draft2020_12().for_serialize();
        settings.inline_subschemas = false;
        Self(SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value())
    }

    /// Its fields in order: the name, the doc comment, and whether the field is always there.
    pub(crate) fn fields(&self) -> Vec<(String, String, bool)> {
        let required: Vec<&str> =
            self.0["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = self.0["properties"].as_object().into_iter().flatten();
        let field = |(name, field): (&String, &Value)| (name.clone(), described(field), required.contains(&&name[..]));
        properties.map(field).collect()
    }

    /// The doc comment of the field that a path leads to. A name that is a key of a map leads to the map's values.
    pub(crate) fn field(&self, path: &[&str]) -> Option<String> {
        let mut node = &self.0;
        let mut found = None;
        for name in path {
            node = self.resolved(node);
            if let Some(field) = node.get("properties").and_then(|all| all.get(name)) {
                (node, found) = (field, Some(described(field)));
            } else {
                node = node.get("additionalProperties").filter(|held| held.is_object())?;
            }
        }
        found
    }

    /// The reason why `path` leads to no number.
    fn lacks(&self, path: &str) -> Option<String> {
        let (mut node, mut walked) = (self.resolved(&self.0), "a summary".to_owned());
        for name in path.split('.') {
            let field = node.get("properties").and_then(|all| all.get(name));
            let held = || node.get("additionalProperties").filter(|held| held.is_object());
            let row = || node.get("items").filter(|_| name.parse::<usize>().is_ok());
            let Some(next) = field.or_else(held).or_else(row) else {
                let known = node.get("properties").and_then(Value::as_object).into_iter().flatten();
                let known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
                let has = if known.is_empty() { String::new() } else { format!("; it may have {}", known.join(", ")) };
                return Some(format!("{walked} has no `{name}`{has}"));
            };
            (node, walked) = (self.resolved(next), format!("`{name}`"));
        }
        let inside = ["properties", "additionalProperties", "items"]
            .iter()
            .any(|key| node.get(key).is_some_and(Value::is_object));
        inside.then(|| format!("{walked} is not a number, but holds numbers"))
    }

    /// The target of a reference, or the one value that may be absent.
    fn resolved<'a>(&'a self, mut node: &'a Value) -> &'a Value {
        loop {
            let to = node.get("$ref").and_then(Value::as_str).and_then(|to| self.0.pointer(to.trim_start_matches('#')));
            let some = node.get("anyOf").and_then(Value::as_array).and_then(|all| all.first());
            match to.or(some) {
                Some(next) => node = next,
                None => return node,
            }
        }
    }
}

fn described(field: &Value) -> String {
    field["description"].as_str().unwrap_or_default().replace('\n', " ")
}
