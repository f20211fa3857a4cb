//! A scenario as a table of TOML that is still being changed.

use std::fmt::Write as _;

use penstock_scenario::key;
use toml::{Table, Value};

/// A scenario that is being changed.
///
/// Keys are dotted, as in `links.bottleneck.rate`; parts with dots in them stand in quotation marks.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft(Table);

/// Keys in the order in which they are written; others follow.
const ORDER: [&str; 40] = [
    "format",
    "title",
    "duration",
    "warmup",
    "seed",
    "packet",
    "wire",
    "payload",
    "links",
    "defaults",
    "classes",
    "flows",
    "customers",
    "windows",
    "dynamics",
    "stop",
    "count",
    "from",
    "to",
    "via",
    "rate",
    "delay",
    "buffer",
    "policer",
    "aqm",
    "loss",
    "rtt",
    "start",
    "size",
    "arrivals",
    "idle",
    "on_off",
    "cc",
    "law",
    "on",
    "off",
    "jitter",
    "ack_jitter",
    "duplex",
    "sender",
];

impl Draft {
    /// A draft of these keys.
    pub const fn of(table: Table) -> Self {
        Self(table)
    }

    /// Reads the text of a scenario.
    ///
    /// # Errors
    /// Names the part that is not TOML.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map(Self).map_err(|e| e.message().to_owned())
    }

    /// The keys.
    pub const fn table(&self) -> &Table {
        &self.0
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let parts = key::parts(key)?;
        let (first, others) = parts.split_first()?;
        others.iter().try_fold(self.0.get(first)?, |value, part| value.get(part.as_str()))
    }

    /// Sets a key, and makes the tables around it. A value on the way that is no table gives way.
    pub fn set(&mut self, key: &str, value: Value) {
        let Some(parts) = key::parts(key) else { return };
        let Some((last, before)) = parts.split_last() else { return };
        let mut table = &mut self.0;
        for part in before {
            let next = table.entry(part.clone()).or_insert_with(|| Value::Table(Table::new()));
            if !next.is_table() {
                *next = Value::Table(Table::new());
            }
            let Value::Table(inner) = next else { return };
            table = inner;
        }
        table.insert(last.clone(), value);
    }

    /// The same draft with another value of a key.
    #[must_use]
    pub fn with(&self, key: &str, value: Value) -> Self {
        let mut draft = self.clone();
        draft.set(key, value);
        draft
    }

    /// Takes a key away, if it is there.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let parts = key::parts(key)?;
        let (last, before) = parts.split_last()?;
        let mut table = &mut self.0;
        for part in before {
            table = table.get_mut(part)?.as_table_mut()?;
        }
        table.remove(last)
    }

    /// Adds the keys of `other`: tables are joined, other values replace those of the same key.
    pub fn join(&mut self, other: &Table) {
        join(&mut self.0, other);
    }

    /// The names in a table such as `flows`, in the order of the alphabet.
    pub fn names(&self, table: &str) -> Vec<String> {
        self.get(table).and_then(Value::as_table).map(|table| table.keys().cloned().collect()).unwrap_or_default()
    }

    /// Every key with a value that is no table, by its dotted path.
    pub fn leaves(&self) -> Vec<(String, Value)> {
        let mut leaves = Vec::new();
        visit(&self.0, &mut Vec::new(), &mut leaves);
        leaves
    }

    /// The same scenario in fewer lines: the common settings of all groups of flows are in `[defaults.flows]`, and defaults of the
    /// format are left out.
    #[must_use]
    pub fn compact(&self) -> Self {
        let mut draft = self.clone();
        let groups = draft.names("flows");
        let of = |draft: &Self, group: &str, key: &str| draft.get(&format!("flows.{group}.{key}")).cloned();
        for group in &groups {
            if of(&draft, group, "count") == Some(Value::Integer(1)) {
                draft.remove(&format!("flows.{group}.count"));
            }
        }
        if groups.len() < 2 || draft.get("defaults").is_some() {
            return draft;
        }
        for key in ["from", "to", "rtt", "start", "cc", "sender"] {
            let first = of(&draft, &groups[0], key);
            if let Some(value) = first.clone().filter(|_| groups.iter().all(|group| of(&draft, group, key) == first)) {
                for group in &groups {
                    draft.remove(&format!("flows.{group}.{key}"));
                }
                draft.set(&format!("defaults.flows.{key}"), value);
            }
        }
        draft
    }

    /// The elements without values: the keys, but for those of time and title.
    pub fn elements(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.leaves().into_iter().map(|(key, _)| key).collect();
        keys.retain(|key| !matches!(key.as_str(), "title" | "seed" | "duration" | "warmup"));
        keys
    }

    /// The text of the scenario.
    pub fn text(&self) -> String {
        let mut text = String::new();
        write_table(&mut text, &self.0, &mut Vec::new());
        text
    }
}

fn join(table: &mut Table, other: &Table) {
    for (key, value) in other {
        match (table.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(more)) => join(inner, more),
            _ => {
                table.insert(key.clone(), value.clone());
            }
        }
    }
}

fn visit(table: &Table, path: &mut Vec<String>, leaves: &mut Vec<(String, Value)>) {
    for (key, value) in table {
        path.push(key.clone());
        match value {
            Value::Table(inner) if !inner.is_empty() => visit(inner, path, leaves),
            _ => leaves.push((key::dotted(path), value.clone())),
        }
        path.pop();
    }
}

/// The keys of a table in the order in which they are written.
fn ordered(table: &Table) -> Vec<(&String, &Value)> {
    let mut keys: Vec<(&String, &Value)> = table.iter().collect();
    keys.sort_by_key(|(key, _)| (ORDER.iter().position(|known| known == key).unwrap_or(ORDER.len()), *key));
    keys
}

/// Writes a table at `path`: tables of tables, two deep, have headers, and all else is written in one line.
fn write_table(text: &mut String, table: &Table, path: &mut Vec<String>) {
    let depth = path.len();
    let plain_below = path.first().is_some_and(|first| first == "windows");
    let has_header = |key: &str, value: &Value| match depth {
        0 => value.is_table() && key != "packet",
        1 => value.is_table() && !plain_below,
        _ => false,
    };
    let keys = ordered(table);
    let plain: Vec<_> = keys.iter().filter(|(key, value)| !has_header(key, value)).collect();
    let holds_only_tables = path.len() == 1 && plain.is_empty() && !table.is_empty();
    if !path.is_empty() && !holds_only_tables {
        let _ = writeln!(text, "\n[{}]", key::dotted(path));
    }
    for (key, value) in plain {
        let _ = writeln!(text, "{} = {}", key::bare(key), inline(value));
    }
    for (key, value) in keys {
        if let Value::Table(inner) = value
            && has_header(key, value)
        {
            path.push(key.clone());
            write_table(text, inner, path);
            path.pop();
        }
    }
}

/// A value in one line, the keys of tables in the order in which they are written.
fn inline(value: &Value) -> String {
    match value {
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let keys = ordered(table).into_iter().map(|(key, value)| format!("{} = {}", key::bare(key), inline(value)));
            format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> Draft {
        Draft::parse(
            "duration = \"9 s\"\nformat = 1\npacket = { wire = \"1500 B\", payload = \"1448 B\" }\n\
             [flows.test]\ncc = { law = \"fast\" }\nfrom = \"a\"\n\
             [links.\"x/back\"]\nrate = [[\"0 s\", \"1 Mbit/s\"]]\n[windows]\nlate = [\"5 s\", \"9 s\"]\n[dynamics]\n",
        )
        .unwrap()
    }

    #[test]
    fn a_draft_is_written_as_people_write_it() {
        let expected = "format = 1\nduration = \"9 s\"\npacket = { wire = \"1500 B\", payload = \"1448 B\" }\n\n\
            [links.\"x/back\"]\nrate = [[\"0 s\", \"1 Mbit/s\"]]\n\n[flows.test]\nfrom = \"a\"\ncc = { law = \"fast\" }\n\n\
            [windows]\nlate = [\"5 s\", \"9 s\"]\n\n[dynamics]\n";
        assert_eq!(draft().text(), expected);
        assert_eq!(Draft::parse(expected).unwrap(), draft());
    }

    #[test]
    fn keys_are_set_and_taken_away() {
        let mut draft = draft();
        draft.set("links.\"x/back\".rate", Value::from("2 Mbit/s"));
        draft.set("flows.other.cc.law", Value::from("cubic"));
        assert_eq!(draft.get("links.\"x/back\".rate"), Some(&Value::from("2 Mbit/s")));
        assert_eq!(draft.names("flows"), ["other", "test"]);
        assert_eq!(draft.remove("flows.test.from"), Some(Value::from("a")));
        assert_eq!((draft.remove("flows.test.from"), draft.remove("no.such")), (None, None));
        draft.set("duration.is", Value::from(1));
        assert!(draft.get("duration.is").is_some());
        assert!(draft.leaves().iter().any(|(key, _)| key == "links.x/back.rate" || key == "links.\"x/back\".rate"));
    }

    #[test]
    fn what_all_groups_have_stands_once() {
        let text = "[flows.a]\ncount = 1\nfrom = \"x\"\nto = \"y\"\ncc = { law = \"fast\" }\n\
                    [flows.b]\nfrom = \"x\"\nto = \"z\"\ncc = { law = \"fast\" }";
        let compact = Draft::parse(text).unwrap().compact();
        let expected = "\n[defaults.flows]\nfrom = \"x\"\ncc = { law = \"fast\" }\n\n[flows.a]\nto = \"y\"\n\n[flows.b]\nto = \"z\"\n";
        assert_eq!(compact.text(), expected);
    }

    #[test]
    fn tables_are_joined_and_values_replaced() {
        let mut one = draft();
        let more: Table = toml::from_str("flows.test.from = \"b\"\nflows.new.to = \"c\"").unwrap();
        one.join(&more);
        assert_eq!(one.get("flows.test.from"), Some(&Value::from("b")));
        assert!(one.get("flows.test.cc.law").is_some() && one.get("flows.new.to").is_some());
    }
}
