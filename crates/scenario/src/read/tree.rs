//! A scenario's text as a tree whose nodes know where they come from.

use std::ops::Range;

use indexmap::IndexMap;
use toml::de::{DeTable, DeValue};

use super::error::{Errors, Reported};
use super::origin::Origin;
use crate::key::{bare, quoted};
use crate::quantity::print_number;

/// A value and its position.
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

/// A value of TOML.
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

/// The largest text whose syntax errors are all looked for [B]. In a larger one the first is reported: text that is not TOML at
/// all has an error in every word.
const MOST_RECOVERED: usize = 100_000;

/// Reads a whole file.
pub(super) fn parse(text: &str, errors: &Errors) -> Result<Node, Reported> {
    let first = match DeTable::parse(text) {
        Ok(table) => return Ok(table_node(table.get_ref(), &Origin::File, Origin::File(0..0))),
        Err(first) => first,
    };
    // To go on within what is nested without end takes time without end.
    let recoverable = text.len() <= MOST_RECOVERED && !first.message().contains("recur");
    let mut wrong = if recoverable { DeTable::parse_recoverable(text).1 } else { Vec::new() };
    if wrong.is_empty() {
        wrong.push(first.clone());
    }
    let span = |error: &toml::de::Error| error.span().unwrap_or_default();
    wrong.sort_by_key(|error| span(error).start);
    // A header that cannot be read leaves its keys to the table before it, so keys that stand twice count only where
    // nothing else is wrong.
    let is_duplicate = |error: &&toml::de::Error| error.message() == "duplicate key";
    let others = wrong.iter().any(|error| !is_duplicate(&error));
    let (mut reported, mut next_line, mut open_list) = (None, 0, false);
    for error in wrong.iter().filter(|error| !(others && is_duplicate(error))) {
        let span = span(error);
        // The parser goes on within a line that it could not read.
        if reported.is_some() && span.start < next_line {
            continue;
        }
        // In a list that is not closed, whatever follows seems to lack a comma.
        let lacks_comma = error.message().starts_with("missing comma");
        if lacks_comma && open_list {
            continue;
        }
        open_list = lacks_comma;
        next_line =
            text.get(span.start..).and_then(|rest| rest.find('\n')).map_or(usize::MAX, |at| span.start + at + 1);
        let place = Origin::File(visible(text, span.clone()));
        let twice = if is_duplicate(&error) { text.get(span) } else { None };
        let remedy = match (twice, errors.line(&place)) {
            (Some(key), Some(line)) => stands_twice(text, key, line),
            _ => one_line(error.message()),
        };
        reported = Some(errors.report(&place, "", "not TOML", &remedy));
    }
    Err(reported.unwrap_or_else(|| errors.report(&Origin::File(0..0), "", "not TOML", &one_line(first.message()))))
}

/// A span with one character at least, or with the end of the text before it.
fn visible(text: &str, span: Range<usize>) -> Range<usize> {
    if span.start < span.end {
        return span;
    }
    let after = text.get(span.start..).and_then(|rest| rest.chars().next()).filter(|c| !matches!(c, '\n' | '\r'));
    match after {
        Some(c) => span.start..span.start + c.len_utf8(),
        None => span.start..span.start + 1,
    }
}

/// The message for a key that stands on `line` for the second time: where it stood first, as far as lines tell.
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
    format!("the key `{key}` appears twice{first}: leave one of them out")
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

fn table_node(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> Origin, named: Origin) -> Node {
    // The parser sorts by name; a scenario's links and groups keep the order of the file.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entries = entries.into_iter().map(|(key, value)| {
        let named = place(key.span());
        // A table made by a header has no place of its own.
        let origin = match value.get_ref() {
            DeValue::Table(_) => named.clone(),
            _ => place(value.span()),
        };
        (key.get_ref().to_string(), node(value.get_ref(), place, (origin, named)))
    });
    Node { value: Value::Table(entries.collect()), origin: named.clone(), named, inherited: false }
}

fn node(value: &DeValue<'_>, place: &dyn Fn(Range<usize>) -> Origin, (origin, named): (Origin, Origin)) -> Node {
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
                    let place_of_each = place(each.span());
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

    /// Number of values in all.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn lines_are_those_of_keys_and_values_and_order_is_that_of_the_file() {
        let text = "z = 1\n[b.x]\nk = [\n  1,\n  { q = 2 },\n]\n[a]\n[[b.list]]\nn = 1\n[[b.list]]\nn = 2\n";
        let errors = Errors::of(&Arc::from("t"), &Arc::from(text));
        let root = parse(text, &errors).unwrap();
        let line = |node: &Node| errors.line(&node.origin).unwrap_or(0);
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
