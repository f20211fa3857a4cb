//! Typed reading of a tree: every key is known, every value is checked, every error has its position.

use indexmap::IndexMap;
use penstock_law::Registry;
use penstock_law::parameter::Unit;
use penstock_law::quantity::{Bytes, Rate, Time};

use super::error::{Errors, Reported, nearest, offer};
use super::tree::{Node, Value};
use crate::format::{MOST_WINDOW, Range, Table, Word};
use crate::key::bare;
use crate::quantity::{self, Unreadable};
use crate::visible::{acts, cut};

/// The most characters of a name that results go by, and of a title.
pub(crate) const MOST_NAME: usize = 100;
pub(crate) const MOST_TITLE: usize = 300;
/// The most characters of a file's name, as Linux has it.
const MOST_FILE: usize = 4096;
/// The most characters of a dotted key.
const MOST_PATH: usize = 500;

/// A value under its key.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub(super) errors: &'a Errors,
    /// The laws that may be named.
    pub(super) registry: &'a Registry,
    pub(super) path: String,
    pub(super) node: &'a Node,
}

impl<'a> Item<'a> {
    /// Reports an error at this value.
    pub(super) fn wrong(&self, found: impl AsRef<str>, remedy: impl AsRef<str>) -> Reported {
        self.errors.report(&self.node.origin, &self.path, found.as_ref(), remedy.as_ref())
    }

    /// Reports that the value is not of the expected kind.
    pub(super) fn is_not(&self, what: &str, remedy: impl AsRef<str>) -> Reported {
        self.wrong(format!("`{}` is not {what}", self.shown()), remedy)
    }

    /// Reports an error at this value's key.
    pub(super) fn at_key(&self, found: impl AsRef<str>, remedy: impl AsRef<str>) -> Reported {
        self.errors.report(&self.node.named, &self.path, found.as_ref(), remedy.as_ref())
    }

    /// Reports why this value is not a quantity.
    pub(super) fn because(&self, unreadable: &Unreadable) -> Reported {
        self.wrong(shortened(&unreadable.found), &unreadable.remedy)
    }

    /// The line of this value, where it stands in the file.
    pub(super) fn line(&self) -> Option<u32> {
        self.errors.line(&self.node.origin)
    }

    /// The value as written, shortened where it is long.
    pub(super) fn shown(&self) -> String {
        shortened(&self.node.shown())
    }

    /// Whether it is a list of tables only.
    pub(super) fn is_tables(&self) -> bool {
        matches!(&self.node.value, Value::List(list) if !list.is_empty() && list.iter().all(|n| n.table().is_some()))
    }

    /// The text, if it is text.
    pub(super) fn as_text(&self) -> Option<&'a str> {
        if let Value::Text(text) = &self.node.value { Some(text) } else { None }
    }

    /// Text; `remedy` is the advice of the error.
    pub(super) fn text(&self, remedy: &str) -> Result<&'a str, Reported> {
        self.as_text().ok_or_else(|| self.is_not("text", remedy))
    }

    /// A name: text on one line that is neither empty nor long.
    pub(super) fn name(&self, remedy: &str) -> Result<&'a str, Reported> {
        self.named(MOST_NAME, remedy)
    }

    /// The name of a file.
    pub(super) fn path(&self, remedy: &str) -> Result<&'a str, Reported> {
        self.named(MOST_FILE, remedy)
    }

    fn named(&self, most: usize, remedy: &str) -> Result<&'a str, Reported> {
        let name = self.text(remedy)?;
        if name.is_empty() || name.chars().any(acts) {
            return Err(self.is_not("a name", remedy));
        }
        self.not_longer(name, "a name", most)?;
        Ok(name)
    }

    /// Text on one line of at most so many characters.
    pub(super) fn not_longer(&self, text: &str, what: &str, most: usize) -> Result<(), Reported> {
        match text.chars().count() {
            length if length > most => {
                Err(self.wrong(format!("{what} of {length} characters"), format!("write at most {most} characters")))
            }
            _ => Ok(()),
        }
    }

    /// A name that results go by.
    pub(super) fn handle(&self, remedy: &str) -> Result<&'a str, Reported> {
        let name = self.name(remedy)?;
        if is_handle(name) { Ok(name) } else { Err(self.is_not("a name", HANDLE)) }
    }

    pub(super) fn switch(&self) -> Result<bool, Reported> {
        match self.node.value {
            Value::Switch(on) => Ok(on),
            _ => Err(self.is_not("a switch", "write `true` or `false`, without quotation marks")),
        }
    }

    /// A whole number in `least..=most`.
    pub(super) fn whole(&self, least: u64, most: u64) -> Result<u64, Reported> {
        let remedy = || format!("write a whole number from {least} to {most}");
        match self.node.value {
            Value::Integer(n) if i128::from(least) <= n && n <= i128::from(most) => Ok(n as u64),
            Value::Integer(n) if n < 0 => Err(self.wrong(format!("`{n}` is negative"), remedy())),
            Value::Integer(_) => Err(self.wrong(format!("`{}` is out of range", self.shown()), remedy())),
            _ => Err(self.is_not("a whole number", remedy())),
        }
    }

    /// Any number that is not NaN; of the two zeros the one without a sign, as it prints.
    pub(super) fn number(&self) -> Result<f64, Reported> {
        match self.node.value {
            Value::Integer(n) => Ok(n as f64),
            Value::Number(x) if !x.is_nan() => Ok(x + 0.0),
            _ => Err(self.is_not("a number", "write a number, without quotation marks")),
        }
    }

    pub(super) fn time(&self) -> Result<Time, Reported> {
        self.quantity(Unit::Seconds, quantity::time)
    }

    pub(super) fn time_above_zero(&self) -> Result<Time, Reported> {
        match self.time()? {
            Time::ZERO => {
                Err(self.wrong(format!("`{}` is no time at all", self.shown()), "write a duration above zero"))
            }
            time => Ok(time),
        }
    }

    pub(super) fn rate(&self) -> Result<Rate, Reported> {
        self.quantity(Unit::BitPerSecond, quantity::rate)
    }

    pub(super) fn bytes(&self) -> Result<Bytes, Reported> {
        self.quantity(Unit::Bytes, quantity::bytes)
    }

    /// A number of packets, bare or with its unit, from `least` up; `unlimited` is infinite.
    pub(super) fn window(&self, least: f64, unlimited: bool) -> Result<f64, Reported> {
        let what = if unlimited { "a number of packets, or \"unlimited\"" } else { "a number of packets" };
        let remedy = format!("write {what}, at least {least}");
        let packets = match (&self.node.value, self.as_text()) {
            (_, Some("unlimited")) if unlimited => return Ok(f64::INFINITY),
            (_, Some(text)) => quantity::real(text, Unit::Packets).map_err(|e| self.because(&e))?,
            (Value::Integer(_) | Value::Number(_), _) => self.number()?,
            _ => return Err(self.is_not("a number of packets", remedy)),
        };
        if packets >= least && packets <= MOST_WINDOW as f64 {
            Ok(packets)
        } else {
            Err(self.wrong(format!("`{}` is out of range", self.shown()), remedy))
        }
    }

    /// Text that `parse` understands; anything else is refused as not being in `unit`.
    pub(super) fn quantity<T>(&self, unit: Unit, parse: impl Fn(&str) -> Result<T, Unreadable>) -> Result<T, Reported> {
        match self.as_text() {
            Some(text) => parse(text).map_err(|e| self.because(&e)),
            None => Err(self.because(&quantity::refuse(&self.shown(), unit))),
        }
    }

    /// The rate of an event.
    pub(super) fn per_second(&self) -> Result<f64, Reported> {
        match self.as_text() {
            Some(text) => quantity::per_second(text).map_err(|e| self.because(&e)),
            None => Err(self.because(&quantity::refuse_kind(&self.shown(), &quantity::PER_SECOND))),
        }
    }

    /// A number in `range`.
    pub(super) fn within(&self, range: Range, what: &str) -> Result<f64, Reported> {
        let x = self.number()?;
        if range.contains(x) { Ok(x) } else { Err(self.is_not(what, format!("write {}", range.words()))) }
    }

    /// A word of the format.
    pub(super) fn choice<W: Word>(&self) -> Result<W, Reported> {
        self.word(W::WORDS)
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Reported> {
        let names: Vec<_> = words.iter().map(|w| w.0).collect();
        let found = self.as_text().and_then(|text| words.iter().find(|w| w.0 == text));
        found.map(|w| w.1).ok_or_else(|| self.is_not("known here", offer(&self.node.shown(), &names, "choice")))
    }

    /// The entries of a list.
    pub(super) fn list(&self, remedy: &str) -> Result<Vec<Self>, Reported> {
        let Value::List(list) = &self.node.value else { return Err(self.is_not("a list", remedy)) };
        let each = |(at, node)| Item {
            errors: self.errors,
            registry: self.registry,
            path: format!("{}[{at}]", self.path),
            node,
        };
        Ok(list.iter().enumerate().map(each).collect())
    }

    /// A list of exactly two durations.
    pub(super) fn times(&self) -> Result<(Time, Time), Reported> {
        let remedy = "write two durations, as in `[\"10 ms\", \"20 ms\"]`";
        match self.list(remedy)?.as_slice() {
            [a, b] => Ok((a.time()?, b.time()?)),
            _ => Err(self.is_not("a pair of durations", remedy)),
        }
    }

    /// A list of exactly two durations of which the second is not the smaller.
    pub(super) fn range_of_times(&self) -> Result<(Time, Time), Reported> {
        let (a, b) = self.times()?;
        if a <= b {
            return Ok((a, b));
        }
        Err(self.wrong(format!("`{}` ends before it begins", self.shown()), "write the smaller one first"))
    }

    /// A value of this table under `key`.
    pub(super) fn below(&self, key: &str, node: &'a Node) -> Self {
        let path = if self.path.is_empty() { bare(key) } else { format!("{}.{}", self.path, bare(key)) };
        Item { errors: self.errors, registry: self.registry, path, node }
    }

    /// The value of `key` in this table, if it is there.
    pub(super) fn entry(&self, key: &str) -> Option<Self> {
        self.node.table()?.get(key).map(|node| self.below(key, node))
    }

    /// The entries of a table whose keys are names that results go by.
    pub(super) fn entries(&self, remedy: &str) -> Result<Vec<(&'a str, Self)>, Reported> {
        // A duplex link has a way back of its own.
        let own = |name: &'a str| name.strip_suffix("/back").filter(|_| self.path == "links").unwrap_or(name);
        self.entries_where(|name| is_handle(own(name)), MOST_NAME, remedy)
    }

    /// The entries of a table whose keys are keys of the scenario, or names of axes.
    pub(super) fn settings(&self, remedy: &str) -> Result<Vec<(&'a str, Self)>, Reported> {
        self.entries_where(|key| !key.is_empty() && !key.chars().any(acts), MOST_PATH, remedy)
    }

    fn entries_where(
        &self,
        fits: impl Fn(&'a str) -> bool,
        most: usize,
        remedy: &str,
    ) -> Result<Vec<(&'a str, Self)>, Reported> {
        let Some(table) = self.node.table() else { return Err(self.is_not("a table", remedy)) };
        let mut entries = Vec::new();
        for (name, node) in table {
            let item = self.below(name, node);
            if !fits(name) {
                item.at_key(format!("`{}` is not a name", shortened(name)), HANDLE);
            } else if name.chars().count() > most {
                let found = format!("a name of {} characters", name.chars().count());
                item.at_key(found, format!("write at most {most} characters"));
            } else {
                entries.push((name.as_str(), item));
            }
        }
        Ok(entries)
    }

    /// A table all of whose keys the format declares.
    pub(super) fn fields(self, declared: &'static Table, remedy: &str) -> Result<Fields<'a>, Reported> {
        self.fields_among(declared, |_| true, remedy)
    }

    /// The same where only some of the keys may stand.
    pub(super) fn fields_among(
        self,
        declared: &'static Table,
        allowed: impl Fn(&str) -> bool,
        remedy: &str,
    ) -> Result<Fields<'a>, Reported> {
        let Some(table) = self.node.table() else { return Err(self.is_not("a table", remedy)) };
        let known: Vec<_> = declared.keys.iter().map(|key| key.name).filter(|name| allowed(name)).collect();
        let mut misspelt = Vec::new();
        for (key, node) in table {
            if !known.contains(&key.as_str()) {
                // A file may have a hundred thousand such keys, and a sentence about each takes its time.
                if self.errors.is_full() {
                    misspelt.push((None, self.errors.one_more(&node.named, key)));
                    continue;
                }
                let found = format!("the key `{}` is unknown here", shortened(key));
                let reported = self.below(key, node).at_key(found, offer(key, &known, "key"));
                misspelt.push((nearest(key, &known), reported));
            }
        }
        Ok(Fields { item: self, table, declared, misspelt })
    }

    /// The only entry of a table that takes one of several keys; `what` names the expected value.
    pub(super) fn one_of(
        &self,
        declared: &'static Table,
        what: &str,
        remedy: &str,
    ) -> Result<(&'static str, Self), Reported> {
        let fields = self.clone().fields(declared, remedy)?;
        let mut found = declared.keys.iter().filter_map(|key| Some((key.name, fields.find(key.name)?)));
        match (found.next(), found.next(), fields.misspelt.first()) {
            (Some(only), None, _) => Ok(only),
            (_, _, Some((_, reported))) => Err(*reported),
            _ => Err(self.is_not(what, remedy)),
        }
    }
}

/// A table, and the keys that it may have.
pub(super) struct Fields<'a> {
    pub(super) item: Item<'a>,
    table: &'a IndexMap<String, Node>,
    declared: &'static Table,
    /// The probable meaning of each key that is unknown.
    misspelt: Vec<(Option<&'static str>, Reported)>,
}

impl<'a> Fields<'a> {
    /// The value of `key`, if it is there.
    pub(super) fn find(&self, key: &str) -> Option<Item<'a>> {
        debug_assert!(self.declared.keys.iter().any(|k| k.name == key), "`{key}` is read and so it is declared");
        self.table.get(key).map(|node| self.item.below(key, node))
    }

    /// The value of `key`; an error if it is missing, with the remedy.
    pub(super) fn need(&self, key: &str, remedy: &str) -> Result<Item<'a>, Reported> {
        self.find(key).ok_or_else(|| self.missing(key, remedy))
    }

    /// Reports that `key` is missing, unless it is there and misspelt.
    pub(super) fn missing(&self, key: &str, remedy: &str) -> Reported {
        match self.misspelt.iter().find(|(near, _)| *near == Some(key)) {
            Some((_, reported)) => *reported,
            None if self.item.errors.may_lack_keys() => self.item.errors.already(),
            None => self.item.below(key, self.item.node).at_key("missing", remedy),
        }
    }

    /// The value of `key` as `read` reads it, or `default` where it is missing.
    pub(super) fn or<T>(
        &self,
        key: &str,
        default: T,
        read: impl FnOnce(Item<'a>) -> Result<T, Reported>,
    ) -> Result<T, Reported> {
        self.find(key).map_or(Ok(default), read)
    }
}

/// The remedy for a name that results go by.
const HANDLE: &str = "write a name such as `left-2`, without `.`, `/` and `\\`";

/// Whether results can go by a name: it is a part of dotted paths such as `links.NAME.utilization`, and may be one of a
/// file's name, so that it has neither dots nor slashes. Two names that look alike are one: it has no space but those within.
fn is_handle(name: &str) -> bool {
    let is_space = |c: char| c.is_whitespace() && c != ' ';
    !name.is_empty()
        && name.trim() == name
        && !name.chars().any(|c| acts(c) || is_space(c) || matches!(c, '.' | '/' | '\\'))
}

/// A text as errors show it.
fn shortened(text: &str) -> String {
    cut(text, 120).into_owned()
}
