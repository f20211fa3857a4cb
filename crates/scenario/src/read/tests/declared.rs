//! The declared format equals the reader's: keys, defaults, and the JSON Schema made of both.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::{EVERYTHING, LAB, PARKING_LOT, SWEEP, cells, scenario};
use crate::format::{
    ACCESS, CLASS, FLOWS, LINK, PAGE, SCENARIO, SCHEDULER, SENDER, START, Shape, Silent, TABLES, TRACE, Table, VIDEO,
    reference, schema,
};
use crate::read::print;

/// Only what must be there: whatever else holds is a default.
const BARE: &str = "format = 1\nduration = \"30 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                    buffer = \"9 packets\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ncc = { law = \"newreno\" }\n";

/// A default that is written out changes nothing, so the table says what the reader does.
#[test]
fn defaults_are_what_the_tables_say() {
    // For each table, what stands before the key, and what after it.
    let another = "[links.m]\nfrom = \"b\"\nto = \"c\"\ndelay = \"1 ms\"\nbuffer = \"9 packets\"\n";
    let idle = "size = \"1 MB\"\nidle = \"1 s\"\n";
    let places: [(&'static Table, String, &str); 11] = [
        (&SCENARIO, "format = 1\n".into(), "\n"),
        (&LINK, "[links.l]\n".into(), "\n"),
        (&FLOWS, "[flows.f]\n".into(), "\n"),
        (&SCHEDULER, "[links.l]\nscheduler = { law = \"drr\", ".into(), " }\n"),
        (&TRACE, format!("[flows.f]\n#\n{another}rate = {{ trace = \"cellular.trace\", "), " }\n"),
        (&START, "[flows.f]\nstart = { every = \"1 s\", ".into(), " }\n"),
        (&ACCESS, "[flows.f]\naccess = { rate = \"1 Mbit/s\", ".into(), " }\n"),
        (&PAGE, "[flows.f]\nsize = \"9 kB\"\npage = { rounds = [1], ".into(), " }\n"),
        (&VIDEO, "[flows.f]\nvideo = { ".into(), " }\n"),
        (&SENDER, format!("[flows.f]\n{idle}sender = {{ "), " }\n"),
        (&CLASS, "[flows.f]\nclass = \"c\"\n#\n[classes.c]\n".into(), "\n"),
    ];
    let mut checked = BTreeSet::new();
    for (table, before, after) in places {
        let anchor = before.lines().next().unwrap();
        let with = |entry: &str| {
            let after = if entry.is_empty() { after.trim_start_matches(',') } else { after };
            let text = match before.split_once("#\n") {
                Some((flow, class)) => format!("{}{class}{entry}{after}", BARE.replacen("[flows.f]\n", flow, 1)),
                None => BARE.replacen(&format!("{anchor}\n"), &format!("{before}{entry}{after}"), 1),
            };
            cells(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).remove(0).id
        };
        for key in table.keys {
            if let Silent::Is(value) = key.silent {
                assert_eq!(with(""), with(&format!("{} = {value}", key.name)), "{} {}", table.path, key.name);
                checked.insert((table.path, key.name));
            }
        }
    }
    let declared = TABLES.iter().flat_map(|t| t.keys.iter().map(|key| (t.path, key)));
    let declared: BTreeSet<_> =
        declared.filter(|(_, key)| matches!(key.silent, Silent::Is(_))).map(|(path, key)| (path, key.name)).collect();
    assert_eq!(checked, declared);
}

/// The scenarios of these tests use every key, so that each is one the reader reads.
#[test]
fn every_declared_key_is_read() {
    // What it prints, it reads as well.
    let printed = print(&scenario(EVERYTHING));
    let texts = [EVERYTHING, &printed, PARKING_LOT, LAB, SWEEP].concat();
    for table in TABLES {
        for key in table.keys {
            let used = Regex::new(&format!(r"(?m)(^|[{{,.\[ ]){}( =|\.|\])", key.name)).unwrap();
            assert!(used.is_match(&texts), "{}: no test reads `{}`", table.path, key.name);
        }
    }
}

/// Whatever table a key takes has its place on the page and in the schema, once.
#[test]
fn every_table_is_on_the_list_of_tables() {
    fn tables(shape: &Shape, found: &mut Vec<*const Table>) {
        match shape {
            Shape::Table(table) | Shape::OneOf(table) | Shape::Tables(table) => {
                let place = std::ptr::from_ref(*table);
                if found.contains(&place) {
                    return;
                }
                found.push(place);
                table.keys.iter().for_each(|key| tables(&key.shape, found));
            }
            Shape::List(of) | Shape::Pair(of) | Shape::Schedule(of) | Shape::Names(of) => tables(of, found),
            Shape::Either(shapes) => shapes.iter().for_each(|shape| tables(shape, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    tables(&Shape::Table(&SCENARIO), &mut found);
    // The schedule of a parameter and the seeds of a sweep stand where names of others do.
    let listed: Vec<_> =
        TABLES.iter().filter(|t| !matches!(t.path, "sweep.seed" | "flows.NAME.cc.PARAMETER")).collect();
    assert_eq!(listed.len(), found.len());
    assert!(listed.iter().all(|table| found.contains(&std::ptr::from_ref(**table))));
}

#[test]
fn the_page_has_every_key_and_its_tables_are_well_formed() {
    let page = reference();
    for table in TABLES {
        for key in table.keys {
            assert!(page.contains(&format!("\n| `{}` | ", key.name)), "{} {}", table.path, key.name);
            assert!(!key.what.contains('|') && !key.what.ends_with('.'), "{} {}", table.path, key.name);
        }
    }
    for row in page.lines().filter(|line| line.starts_with('|')) {
        assert!(matches!(row.matches('|').count(), 3 | 5 | 6), "{row}");
    }
}

/// The reason why `value` is invalid under `schema`, as JSON Schema 2020-12 has it, for the keywords that ours uses; any other
/// stops the test.
fn invalid(schema: &Value, value: &Value, root: &Value) -> Option<String> {
    let all = schema.as_object().expect("a schema is an object");
    let number = |key: &str| all.get(key).and_then(Value::as_f64);
    let (object, array) = (value.as_object(), value.as_array());
    let shown = |why: &str| Some(format!("{why}: {value}"));
    for (keyword, limit) in all {
        let valid = |schema: &Value| invalid(schema, value, root).is_none();
        let wrong = match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" | "then" | "patternProperties" => None,
            "$ref" => {
                let name = limit.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                invalid(root["$defs"].get(name).unwrap_or_else(|| panic!("{name}")), value, root)
            }
            "type" => {
                let is = |kind: &str| match kind {
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "number" => value.is_number(),
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    other => panic!("{other}"),
                };
                let kinds = limit.as_array().cloned().unwrap_or_else(|| vec![limit.clone()]);
                if kinds.iter().any(|kind| is(kind.as_str().unwrap())) { None } else { shown("type") }
            }
            "const" => {
                if value == limit {
                    None
                } else {
                    shown("const")
                }
            }
            "enum" => {
                if limit.as_array().unwrap().contains(value) {
                    None
                } else {
                    shown("enum")
                }
            }
            "pattern" => value.as_str().and_then(|text| {
                let pattern = Regex::new(limit.as_str().unwrap()).unwrap();
                if pattern.is_match(text) { None } else { shown("pattern") }
            }),
            "minLength" => value.as_str().filter(|text| text.is_empty()).and_then(|_| shown("empty")),
            "minimum" => value.as_f64().filter(|x| *x < number(keyword).unwrap()).and_then(|_| shown(keyword)),
            "maximum" => value.as_f64().filter(|x| *x > number(keyword).unwrap()).and_then(|_| shown(keyword)),
            "exclusiveMinimum" => {
                value.as_f64().filter(|x| *x <= number(keyword).unwrap()).and_then(|_| shown(keyword))
            }
            "exclusiveMaximum" => {
                value.as_f64().filter(|x| *x >= number(keyword).unwrap()).and_then(|_| shown(keyword))
            }
            "minItems" => array.filter(|a| (a.len() as f64) < number(keyword).unwrap()).and_then(|_| shown(keyword)),
            "maxItems" => array.filter(|a| a.len() as f64 > number(keyword).unwrap()).and_then(|_| shown(keyword)),
            "minProperties" => {
                object.filter(|o| (o.len() as f64) < number(keyword).unwrap()).and_then(|_| shown(keyword))
            }
            "maxProperties" => {
                object.filter(|o| o.len() as f64 > number(keyword).unwrap()).and_then(|_| shown(keyword))
            }
            "required" => object.and_then(|o| {
                let missing = limit.as_array().unwrap().iter().find(|key| !o.contains_key(key.as_str().unwrap()));
                missing.and_then(|key| shown(&format!("without {key}")))
            }),
            "items" => array.and_then(|a| a.iter().find_map(|each| invalid(limit, each, root))),
            "prefixItems" => {
                array.and_then(|a| a.iter().zip(limit.as_array().unwrap()).find_map(|(v, s)| invalid(s, v, root)))
            }
            "properties" => object.and_then(|o| {
                limit
                    .as_object()
                    .unwrap()
                    .iter()
                    .find_map(|(key, s)| invalid(s, o.get(key)?, root).map(|e| format!("{key}.{e}")))
            }),
            // Looks at what the two keywords before it left.
            "additionalProperties" => object.and_then(|o| {
                let none = Map::new();
                let named = all.get("properties").and_then(Value::as_object).unwrap_or(&none);
                let patterns = all.get("patternProperties").and_then(Value::as_object).unwrap_or(&none);
                let others = o.iter().filter(|(key, _)| !named.contains_key(*key));
                others.into_iter().find_map(|(key, v)| {
                    let pattern = patterns.iter().find(|(pattern, _)| Regex::new(pattern).unwrap().is_match(key));
                    let wrong = match (pattern, limit) {
                        (None, Value::Bool(false)) => Some("unknown".into()),
                        (Some((_, schema)), _) | (None, schema) => invalid(schema, v, root),
                    };
                    wrong.map(|e| format!("{key}.{e}"))
                })
            }),
            "allOf" => limit.as_array().unwrap().iter().find_map(|schema| invalid(schema, value, root)),
            "anyOf" => {
                if limit.as_array().unwrap().iter().any(valid) {
                    None
                } else {
                    shown("anyOf")
                }
            }
            "not" => {
                if valid(limit) {
                    shown("not")
                } else {
                    None
                }
            }
            "if" => {
                if valid(limit) {
                    all.get("then").and_then(|then| invalid(then, value, root))
                } else {
                    None
                }
            }
            other => panic!("the schema uses `{other}`, which this test does not know"),
        };
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

fn as_json(text: &str) -> Value {
    let value: toml::Value = toml::from_str(text).unwrap();
    serde_json::to_value(value).unwrap()
}

/// An editor that checks by the schema complains of nothing that the reader takes.
#[test]
fn what_the_reader_takes_is_valid_under_the_schema() {
    let schema = schema(&penstock_law::Registry::standard());
    let swept = format!("{LAB}{SWEEP}");
    for text in [LAB, PARKING_LOT, EVERYTHING, BARE, &swept] {
        assert_eq!(invalid(&schema, &as_json(text), &schema), None, "{text}");
        let printed = print(&scenario(text));
        assert_eq!(invalid(&schema, &as_json(&printed), &schema), None, "{printed}");
    }
}

#[test]
fn what_is_spelled_wrong_is_invalid_under_the_schema() {
    let schema = schema(&penstock_law::Registry::standard());
    for (old, new) in [
        ("format = 1", "format = 2"),
        ("duration = \"30 s\"\n", ""),
        ("\"30 s\"", "\"30 sec\""),
        ("\"30 s\"", "30"),
        ("\"30 s\"", "\"-30 s\""),
        ("\"1 Mbit/s\"", "\"1 Mbps\""),
        ("\"1 Mbit/s\"", "[[\"0 s\"]]"),
        ("buffer", "bufer"),
        ("delay = \"1 ms\"\n", ""),
        ("\"newreno\"", "\"newrno\""),
        ("\"newreno\"", "\"newreno\", alpha = \"5 packets\""),
        ("\"newreno\"", "\"newreno\", ecn = 1"),
        ("\"newreno\"", "\"cbr\""),
        ("cc =", "rtt = { uniform = [\"1 s\"] }\ncc ="),
        ("cc =", "rtt = { uniform = [\"1 s\", \"2 s\"], spread = [\"1 s\", \"2 s\"] }\ncc ="),
        ("cc =", "sender = { recovery = \"tahoe\" }\ncc ="),
        ("cc =", "size = { pareto = { mean = \"1 kB\", shape = 1 } }\ncc ="),
        ("[flows.f]", "[sweep]\nseed = []\n[flows.f]"),
        ("[flows.f]", "[stop]\n[flows.f]"),
        ("[flows.f]", "[customers.c]\nflows = [\"f\"]\nconditioner = {}\n[flows.f]"),
    ] {
        let text = BARE.replacen(old, new, 1);
        assert!(invalid(&schema, &as_json(&text), &schema).is_some(), "{text}");
    }
    // A key that must be there may come from elsewhere.
    let defaults = BARE.replacen("delay = \"1 ms\"\n", "", 1) + "[defaults.links]\ndelay = \"1 ms\"\n";
    assert_eq!(invalid(&schema, &as_json(&defaults), &schema), None);
    assert_eq!(invalid(&schema, &json!({}), &schema).as_deref(), Some("without \"format\": {}"));
}
