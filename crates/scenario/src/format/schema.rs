//! The format as a JSON Schema, draft 2020-12, for editors that complete and check TOML.
//!
//! It describes keys and the shape of their values, not their relations: a file that the reader
//! takes is valid, and a valid file may still be refused.

use penstock_law::Registry;
use penstock_law::aqm::Aqm;
use penstock_law::cc::Controller;
use penstock_law::conditioner::Conditioner;
use penstock_law::law::{Entry, Role};
use penstock_law::parameter::{Default, Parameter, Unit};
use penstock_law::registry::Registered;
use serde_json::{Map, Value, json};

use super::{
    AUTOMATIC, DEFAULTS, FLOWS, LINK, SCENARIO, SEEDS, SPACING, SPACING_JITTER, STEPS, Shape, Silent, TABLES, Table,
    WAY_BACK,
};
use crate::quantity::{BDP, Kind, PACKETS, SIZE, TIME, kind};

/// The JSON Schema of format 1, with the laws of `registry`.
pub fn schema(registry: &Registry) -> Value {
    let mut definitions = Map::new();
    for table in TABLES.iter().filter(|table| !table.path.is_empty()) {
        definitions.insert(name(table), object(table));
    }
    for entry in registry.laws::<Controller>() {
        // Whether a law has congestion control is known where it is compiled; the schema lets every law follow the clock.
        definitions.insert(format!("cc.{}", entry.name), law(entry, true));
    }
    for entry in registry.laws::<Aqm>() {
        definitions.insert(format!("aqm.{}", entry.name), law(entry, false));
    }
    for entry in registry.laws::<Conditioner>() {
        definitions.insert(format!("conditioner.{}", entry.name), law(entry, false));
    }
    definitions.insert("cc".into(), any_law::<Controller>("cc", registry));
    definitions.insert("aqm".into(), any_law::<Aqm>("aqm", registry));
    definitions.insert("conditioner".into(), any_law::<Conditioner>("conditioner", registry));
    let mut root = object(&SCENARIO);
    if let Value::Object(root) = &mut root {
        root.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        root.insert("title".into(), "Penstock scenario, format 1".into());
        root.insert("required".into(), required(&SCENARIO));
        // A key that is required may also come from the defaults, or from each cell of the sweep.
        root.insert(
            "if".into(),
            json!({ "not": { "anyOf": [{ "required": ["defaults"] }, { "required": ["sweep"] }] } }),
        );
        let links = json!({
            "patternProperties": { "/back$": {} },
            "additionalProperties": { "required": required(&LINK) },
        });
        let flows = json!({ "additionalProperties": { "required": required(&FLOWS) } });
        root.insert("then".into(), json!({ "properties": { "links": links, "flows": flows } }));
        root.insert("$defs".into(), Value::Object(definitions));
    }
    root
}

fn name(table: &Table) -> String {
    table.path.replace(".NAME", "")
}

fn reference(to: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{to}") })
}

fn required(table: &Table) -> Value {
    table.keys.iter().filter(|key| key.silent == Silent::Required).map(|key| key.name).collect()
}

/// A table with its keys.
fn object(table: &Table) -> Value {
    let mut properties = Map::new();
    for key in table.keys {
        let mut value = of(&key.shape);
        if let Value::Object(value) = &mut value {
            let default = match key.silent {
                Silent::Is(text) => format!("; by default {text}"),
                Silent::Required | Silent::Means("") => String::new(),
                Silent::Means(words) => format!("; by default: {words}"),
            };
            value.insert("description".into(), format!("{}{default}", key.what).into());
        }
        properties.insert(key.name.into(), value);
    }
    let mut object = json!({
        "type": "object",
        "description": table.what,
        "properties": properties,
        "additionalProperties": false,
    });
    // Links and groups may have theirs from the defaults; what is said of that stands at the root.
    if ![&LINK, &FLOWS, &SCENARIO, &DEFAULTS].iter().any(|of_entries| std::ptr::eq(*of_entries, table)) {
        object["required"] = required(table);
    }
    object
}

fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Name => json!({ "type": "string", "minLength": 1 }),
        Shape::Switch => json!({ "type": "boolean" }),
        Shape::Whole(a, b) if a == b => json!({ "const": a }),
        Shape::Whole(a, b) => json!({ "type": "integer", "minimum": a, "maximum": b }),
        Shape::Number(range) => {
            let [(least, above), (most, below)] = range.ends();
            let lower = if above { "exclusiveMinimum" } else { "minimum" };
            let upper = if below { "exclusiveMaximum" } else { "maximum" };
            json!({ "type": "number", lower: least, upper: most })
        }
        Shape::Quantity(kind) => quantity(&[kind]),
        Shape::Packets(a, b) => {
            json!({ "anyOf": [{ "type": "number", "minimum": a, "maximum": b }, quantity(&[&PACKETS])] })
        }
        Shape::Buffer { bdp } => {
            let kinds: &[&Kind] = if *bdp { &[&PACKETS, &SIZE, &TIME, &BDP] } else { &[&PACKETS, &SIZE, &TIME] };
            json!({ "anyOf": [{ "const": "unlimited" }, quantity(kinds)] })
        }
        Shape::Exactly(word) => json!({ "const": word }),
        Shape::Word(words) => json!({ "enum": words() }),
        Shape::List(each) => json!({ "type": "array", "items": of(each), "minItems": 1 }),
        Shape::Pair(each) => json!({ "type": "array", "items": of(each), "minItems": 2, "maxItems": 2 }),
        Shape::Schedule(each) => {
            let pair = [of(&super::shape::DURATION), of(each)];
            let entry = json!({ "type": "array", "prefixItems": pair, "minItems": 2, "maxItems": 2 });
            json!({ "type": "array", "items": entry, "minItems": 1 })
        }
        Shape::Table(table) => reference(&name(table)),
        Shape::OneOf(table) => {
            json!({ "$ref": format!("#/$defs/{}", name(table)), "minProperties": 1, "maxProperties": 1 })
        }
        Shape::Tables(table) if std::ptr::eq(*table, &raw const LINK) => {
            let back: Map<String, Value> = LINK
                .keys
                .iter()
                .filter(|key| WAY_BACK.contains(&key.name))
                .map(|key| (key.name.into(), of(&key.shape)))
                .collect();
            // The way back of a duplex link, or a link of its own that is called so.
            let back = json!({ "anyOf": [
                { "type": "object", "properties": back, "additionalProperties": false },
                reference(&name(table)),
            ] });
            json!({ "type": "object", "patternProperties": { "/back$": back }, "additionalProperties": reference(&name(table)) })
        }
        Shape::Tables(table) => json!({ "type": "object", "additionalProperties": reference(&name(table)) }),
        Shape::Names(each) => json!({ "type": "object", "additionalProperties": of(each) }),
        Shape::Controller => reference("cc"),
        Shape::Aqm => reference("aqm"),
        Shape::Parameter => json!({ "type": ["number", "string"] }),
        Shape::Conditioner => reference("conditioner"),
        Shape::Sweep => {
            let seeds = json!({ "anyOf": [
                reference(&name(&SEEDS)),
                { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
            ] });
            let values = json!({ "type": ["array", "object"] });
            json!({ "type": "object", "properties": { "seed": seeds }, "additionalProperties": values })
        }
        Shape::Either(shapes) => json!({ "anyOf": shapes.iter().map(of).collect::<Vec<_>>() }),
    }
}

/// Text with a number and a unit of one of these kinds.
fn quantity(kinds: &[&Kind]) -> Value {
    let units: Vec<_> = kinds.iter().flat_map(|kind| kind.units).map(|unit| unit.0).collect();
    // As `quantity` reads it: no sign but a plus, underscores between digits, spaces around.
    let number = r"[+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][+-]?[0-9]+)?";
    json!({ "type": "string", "pattern": format!(r"^\s*{number}\s*({})\s*$", units.join("|")) })
}

fn any_law<R: Registered>(section: &str, registry: &Registry) -> Value {
    let laws = registry.laws::<R>();
    let names: Vec<_> = laws.iter().map(|entry| entry.name).collect();
    // A law at a time, so that an editor offers its parameters only.
    let each = laws.iter().map(|entry| {
        json!({
            "if": { "properties": { "law": { "const": entry.name } } },
            "then": reference(&format!("{section}.{}", entry.name)),
        })
    });
    json!({
        "type": "object",
        "properties": { "law": { "enum": names } },
        "required": ["law"],
        "allOf": each.collect::<Vec<_>>(),
    })
}

/// A law with its parameters; where it may follow the clock, a number may be a schedule.
fn law<R: Role>(entry: &Entry<R>, by_the_clock: bool) -> Value {
    let mut properties = Map::new();
    properties.insert("law".into(), json!({ "const": entry.name, "description": entry.title }));
    for p in entry.parameters {
        properties.insert(p.name.into(), parameter(p, by_the_clock));
    }
    if by_the_clock {
        properties.entry(SPACING_JITTER).or_insert_with(|| of(&Shape::Number(SPACING)));
    }
    let required: Vec<_> = std::iter::once("law")
        .chain(entry.parameters.iter().filter(|p| p.default == Default::Required).map(|p| p.name))
        .collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn parameter(parameter: &Parameter, by_the_clock: bool) -> Value {
    let value = match parameter.unit {
        Unit::One => json!({ "type": "number", "minimum": parameter.least, "maximum": parameter.most }),
        Unit::Switch => json!({ "type": "boolean" }),
        Unit::Choice(words) => json!({ "enum": words }),
        unit => kind(unit).map_or_else(|| json!({}), |kind| quantity(&[kind])),
    };
    let mut shapes = vec![value.clone()];
    if matches!(parameter.default, Default::Automatic(_)) {
        shapes.push(json!({ "const": AUTOMATIC }));
    }
    if by_the_clock && !matches!(parameter.unit, Unit::Switch | Unit::Choice(_)) {
        let entry = json!({ "type": "array", "prefixItems": [of(&super::shape::DURATION), value], "minItems": 2, "maxItems": 2 });
        shapes.push(json!({ "type": "array", "items": entry, "minItems": 1 }));
        shapes.push(reference(&name(&STEPS)));
    }
    json!({ "anyOf": shapes, "description": format!("{} ({})", parameter.description, parameter.source) })
}
