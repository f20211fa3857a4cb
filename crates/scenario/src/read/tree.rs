//! A scenario's text as a tree whose nodes know where they come from.

use std::fmt::Write;
use std::sync::Arc;

use indexmap::IndexMap;
use toml::de::{DeTable, DeValue};

use super::error::ReadError;
use crate::quantity::print_number;

/// Where a node was written.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// On this line of the file.
    Line(u32),
    /// On the command line; the text is `--set KEY=VALUE`.
    Setting(Arc<str>),
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) value: Value,
    /// Where the value is.
    pub(super) origin: Origin,
    /// Where its key is.
    pub(super) named: Origin,
    /// Whether it was copied from `[defaults]`.
    pub(super) inherited: bool,
}

/// What TOML can say.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    Integer(i128),
    Number(f64),
    Switch(bool),
    Date(String),
    List(Vec<Node>),
    Table(IndexMap<String, Node>),
}

/// Where each line of a text starts.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    fn at(&self, offset: usize) -> Origin {
        Origin::Line(u32::try_from(self.0.partition_point(|start| *start <= offset).max(1)).unwrap_or(u32::MAX))
    }
}

/// Reads a whole file.
pub(super) fn parse(text: &str, file: &Arc<str>) -> Result<Node, ReadError> {
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => Ok(table_node(table.get_ref(), &|offset| lines.at(offset), lines.at(0))),
        Err(error) => {
            let span = error.span().unwrap_or_default();
            let Origin::Line(line) = lines.at(span.start) else { unreachable!("of a file") };
            let twice = if error.message() == "duplicate key" { text.get(span) } else { None };
            let remedy = twice.map_or_else(|| one_line(error.message()), |key| stands_twice(text, key, line));
            Err(ReadError {
                file: file.clone(),
                line: Some(line),
                key: String::new(),
                found: "not TOML".into(),
                remedy,
                context: None,
            })
        }
    }
}

/// What is said of a key that stands on `line` for the second time: where it stood first, as far as lines tell.
fn stands_twice(text: &str, key: &str, line: u32) -> String {
    let before = || text.lines().zip(1u32..).take_while(|(_, number)| *number < line);
    let is_header = |text: &str| text.trim_start().starts_with('[');
    let second = text.lines().nth(line as usize - 1).unwrap_or_default();
    let first = if is_header(second) {
        before().find(|(text, _)| text.trim() == second.trim()).map(|(_, number)| number)
    } else {
        let names =
            |text: &str| text.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
        // A key belongs to the header above it.
        let table = before().filter(|(text, _)| is_header(text)).last().map_or(0, |(_, number)| number);
        before().find(|(text, number)| *number > table && names(text)).map(|(_, number)| number)
    };
    let first = first.map(|first| format!(", first on line {first}")).unwrap_or_default();
    format!("the key `{key}` stands here twice{first}: leave one of them out")
}

/// Reads the value of `--set KEY=VALUE`: TOML, or else the text as it stands.
pub(super) fn parse_setting(value: &str, origin: &Origin) -> Result<Node, String> {
    match DeValue::parse(value) {
        Ok(parsed) => Ok(node(parsed.get_ref(), &|_| origin.clone(), (origin.clone(), origin.clone()))),
        // What opens like a list, a table or a quotation was meant as TOML.
        Err(error) if value.starts_with(['[', '{', '"', '\'']) => Err(one_line(error.message())),
        Err(_) => {
            let value = Value::Text(value.to_owned());
            Ok(Node { value, origin: origin.clone(), named: origin.clone(), inherited: false })
        }
    }
}

fn one_line(message: &str) -> String {
    message.trim().lines().collect::<Vec<_>>().join(", ")
}

fn table_node(table: &DeTable<'_>, place: &dyn Fn(usize) -> Origin, named: Origin) -> Node {
    // The parser sorts by name; a scenario's links and groups keep the order of the file.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entries = entries.into_iter().map(|(key, value)| {
        let named = place(key.span().start);
        // A table made by a header has no place of its own.
        let origin = match value.get_ref() {
            DeValue::Table(_) => named.clone(),
            _ => place(value.span().start),
        };
        (key.get_ref().to_string(), node(value.get_ref(), place, (origin, named)))
    });
    Node { value: Value::Table(entries.collect()), origin: named.clone(), named, inherited: false }
}

fn node(value: &DeValue<'_>, place: &dyn Fn(usize) -> Origin, (origin, named): (Origin, Origin)) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(digits) => i128::from_str_radix(digits.as_str(), digits.radix())
            .map_or_else(|_| Value::Number(digits.as_str().parse().unwrap_or(f64::INFINITY)), Value::Integer),
        DeValue::Float(digits) => Value::Number(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(on) => Value::Switch(*on),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(list) => Value::List(
            list.iter()
                .map(|each| {
                    let place_of_each = place(each.span().start);
                    node(each.get_ref(), place, (place_of_each.clone(), place_of_each))
                })
                .collect(),
        ),
        DeValue::Table(table) => table_node(table, place, named.clone()).value,
    };
    Node { value, origin, named, inherited: false }
}

impl Node {
    /// The table, if it is one.
    pub(super) fn table(&self) -> Option<&IndexMap<String, Self>> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    /// The table, if it is one.
    pub(super) fn table_mut(&mut self) -> Option<&mut IndexMap<String, Self>> {
        if let Value::Table(table) = &mut self.value { Some(table) } else { None }
    }

    /// A copy for one who inherits it.
    pub(super) fn bequeath(&self) -> Self {
        let mut copy = self.clone();
        copy.inherit();
        copy
    }

    fn inherit(&mut self) {
        self.inherited = true;
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(Self::inherit),
            Value::Table(table) => table.values_mut().for_each(Self::inherit),
            _ => {}
        }
    }

    /// How many values there are in all.
    pub(super) fn size(&self) -> usize {
        match &self.value {
            Value::List(list) => 1 + list.iter().map(Self::size).sum::<usize>(),
            Value::Table(table) => 1 + table.values().map(Self::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// The value as a person would write it; text stands without quotation marks.
    pub(super) fn shown(&self) -> String {
        if let Value::Text(text) = &self.value { text.clone() } else { self.printed() }
    }

    fn printed(&self) -> String {
        let join = |parts: Vec<String>| parts.join(", ");
        match &self.value {
            Value::Text(text) => quoted(text),
            Value::Integer(n) => n.to_string(),
            Value::Number(x) => print_number(*x),
            Value::Switch(on) => on.to_string(),
            Value::Date(date) => date.clone(),
            Value::List(list) => format!("[{}]", join(list.iter().map(Self::printed).collect())),
            Value::Table(table) if table.is_empty() => "{}".into(),
            Value::Table(table) => {
                let each = |(key, node): (&String, &Self)| format!("{} = {}", bare(key), node.printed());
                format!("{{ {} }}", join(table.iter().map(each).collect()))
            }
        }
    }
}

/// A TOML string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A TOML key: as it stands where that is allowed.
pub(crate) fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { quoted(key) }
}

/// A path as it is written.
pub(super) fn dotted(path: &[String]) -> String {
    path.iter().map(|part| bare(part)).collect::<Vec<_>>().join(".")
}

/// The parts of a dotted path; parts with dots in them stand in quotation marks.
pub(super) fn parts(path: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = path.trim();
    loop {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (part, after) = match quote {
            Some(quote) => rest[1..].split_once(quote)?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if part.is_empty() || parts.len() >= 16 {
            return None;
        }
        parts.push(part.to_owned());
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_at_dots_outside_quotation_marks() {
        let parts = |path| parts(path).map(|p| p.join("|"));
        assert_eq!(parts("links.a.rate").as_deref(), Some("links|a|rate"));
        assert_eq!(parts("links.\"a.b/back\".rate").as_deref(), Some("links|a.b/back|rate"));
        assert_eq!(parts("links.a/back.rate").as_deref(), Some("links|a/back|rate"));
        for bad in ["", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "a.\"\""] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }

    #[test]
    fn lines_are_those_of_keys_and_values_and_order_is_that_of_the_file() {
        let text = "z = 1\n[b.x]\nk = [\n  1,\n  { q = 2 },\n]\n[a]\n[[b.list]]\nn = 1\n[[b.list]]\nn = 2\n";
        let root = parse(text, &Arc::from("t")).unwrap();
        let line = |node: &Node| if let Origin::Line(line) = node.origin { line } else { 0 };
        let table = root.table().unwrap();
        assert_eq!(table.keys().collect::<Vec<_>>(), ["z", "b", "a"]);
        let b = table["b"].table().unwrap();
        assert_eq!((line(&table["z"]), line(&table["b"]), line(&b["x"]), line(&table["a"])), (1, 2, 2, 7));
        let Value::List(k) = &b["x"].table().unwrap()["k"].value else { panic!("a list") };
        assert_eq!((line(&k[0]), line(&k[1])), (4, 5));
        let Value::List(tables) = &b["list"].value else { panic!("a list") };
        assert_eq!((line(&tables[0]), line(&tables[1])), (8, 10));
        assert_eq!(k[1].shown(), "{ q = 2 }");
    }
}
