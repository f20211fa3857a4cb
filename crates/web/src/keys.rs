//! The numbers of a scenario's text: the position of each, and its range.

use penstock_law::Registry;
use penstock_law::aqm::Aqm;
use penstock_law::cc::Controller;
use penstock_law::conditioner::Conditioner;
use penstock_law::parameter::Parameter;
use penstock_scenario::key::dotted;
use penstock_scenario::quantity::quantity;
use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// More are not listed: nobody looks for a slider among thousands.
const MOST: usize = 500;

/// A number in the text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Key {
    /// The dotted path; indices of lists are counted from zero.
    #[serde(rename = "key")]
    path: String,
    /// Where its value stands, in units of UTF-16 as a page counts them.
    from: usize,
    to: usize,
    /// The value as written, without quotation marks.
    text: String,
    /// The value in its base unit.
    value: f64,
    /// The base unit, `1` for plain numbers.
    unit: &'static str,
    /// Whether it stands as text, with a unit.
    quoted: bool,
    /// Whether it is written as a whole number.
    whole: bool,
    /// The range of a law's parameter, in the base unit, and its description.
    #[serde(flatten)]
    law: Option<OfLaw>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct OfLaw {
    least: f64,
    most: f64,
    what: &'static str,
}

/// The numbers of `text`, in its order; none of a text that is not TOML, and none of a sweep.
pub(crate) fn keys(text: &str, registry: &Registry) -> Vec<Key> {
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let mut found = Found { text, registry, keys: Vec::new() };
    for (name, value) in table.get_ref().iter().filter(|(name, _)| name.get_ref() != "sweep") {
        found.visit(&mut vec![name.get_ref().to_string()], value, None);
    }
    found.keys.sort_by_key(|key| key.from);
    found.keys.truncate(MOST);
    in_utf16(text, &mut found.keys);
    found.keys
}

struct Found<'a> {
    text: &'a str,
    registry: &'a Registry,
    keys: Vec<Key>,
}

impl Found<'_> {
    /// `of` is the section and the law whose parameters stand here.
    fn visit(&mut self, path: &mut Vec<String>, value: &Spanned<DeValue<'_>>, of: Option<(&str, &str)>) {
        match value.get_ref() {
            DeValue::Table(table) => {
                let section = path.last().cloned().unwrap_or_default();
                let law = table.get("law").and_then(|law| law.get_ref().as_str()).map(str::to_owned);
                let of = law.as_deref().map(|law| (section.as_str(), law));
                for (name, value) in table {
                    path.push(name.get_ref().to_string());
                    self.visit(path, value, of);
                    path.pop();
                }
            }
            DeValue::Array(list) => {
                for (at, value) in list.iter().enumerate() {
                    path.push(at.to_string());
                    self.visit(path, value, of);
                    path.pop();
                }
            }
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::String(_) => self.number(path, value, of),
            DeValue::Boolean(_) | DeValue::Datetime(_) => {}
        }
    }

    fn number(&mut self, path: &[String], value: &Spanned<DeValue<'_>>, of: Option<(&str, &str)>) {
        let span = value.span();
        let (text, quoted) = match value.get_ref() {
            DeValue::String(text) => (text.to_string(), true),
            _ => (self.text.get(span.clone()).unwrap_or_default().to_owned(), false),
        };
        let read = if quoted {
            quantity(&text).filter(|(_, unit)| *unit != "1").or_else(|| products(&text))
        } else {
            quantity(&text)
        };
        let Some((number, unit)) = read.filter(|_| path != ["format"]) else { return };
        let law = of.and_then(|(section, law)| parameter(self.registry, section, law, path.last()?));
        self.keys.push(Key {
            path: dotted(path),
            from: span.start,
            to: span.end,
            whole: matches!(value.get_ref(), DeValue::Integer(_)),
            text,
            value: number,
            unit,
            quoted,
            law: law.map(|p| OfLaw { least: p.least, most: p.most, what: p.description }),
        });
    }
}

/// A multiple of the bandwidth-delay product, which has no base unit of its own.
fn products(text: &str) -> Option<(f64, &'static str)> {
    let number = text.trim().strip_suffix("bdp")?.trim().parse().ok()?;
    Some((number, "bdp"))
}

/// The parameter `name` of the law that the table of a section names.
fn parameter<'a>(registry: &'a Registry, section: &str, law: &str, name: &str) -> Option<&'a Parameter> {
    let parameters = match section {
        "cc" => registry.laws::<Controller>().iter().find(|entry| entry.name == law)?.parameters,
        "aqm" => registry.laws::<Aqm>().iter().find(|entry| entry.name == law)?.parameters,
        "conditioner" => registry.laws::<Conditioner>().iter().find(|entry| entry.name == law)?.parameters,
        _ => return None,
    };
    parameters.iter().find(|parameter| parameter.name == name)
}

/// Positions in bytes become positions in units of UTF-16; keys are in the order of the text.
fn in_utf16(text: &str, keys: &mut [Key]) {
    let (mut bytes, mut units) = (0, 0);
    let mut at = |place: usize| {
        units += text.get(bytes..place).unwrap_or_default().encode_utf16().count();
        bytes = place;
        units
    };
    for key in keys {
        key.from = at(key.from);
        key.to = at(key.to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "format = 1\n# \u{1f600} \u{e9}\nseed = 3\n[links.b]\nrate = \"10 Mbit/s\"\nbuffer = \"1 bdp\"\n\
                        aqm = { law = \"red\", min_threshold = \"5 packets\" }\n[flows.f]\ncc = { law = \"newreno\" }\n\
                        size = [1, 2.5]\n[sweep]\nseed = [1, 2]\n";

    #[test]
    fn each_number_has_its_place_and_its_range() {
        let keys = keys(TEXT, &Registry::standard());
        let named: Vec<&str> = keys.iter().map(|key| key.path.as_str()).collect();
        let expected =
            ["seed", "links.b.rate", "links.b.buffer", "links.b.aqm.min_threshold", "flows.f.size.0", "flows.f.size.1"];
        assert_eq!(named, expected);
        let units: Vec<u16> = TEXT.encode_utf16().collect();
        let written: Vec<String> =
            keys.iter().map(|key| String::from_utf16(&units[key.from..key.to]).unwrap()).collect();
        assert_eq!(written, ["3", "\"10 Mbit/s\"", "\"1 bdp\"", "\"5 packets\"", "1", "2.5"]);
        assert_eq!((keys[1].value, keys[1].unit), (1e7, "bit/s"));
        assert!(keys[3].law.is_some() && keys[1].law.is_none());
    }

    #[test]
    fn a_text_that_is_not_toml_has_none() {
        assert_eq!(keys("seed = = 3", &Registry::standard()), []);
    }
}
