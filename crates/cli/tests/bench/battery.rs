//! Criteria of the standard battery in few cells, with their measures and bounds as they are.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

use super::Bench;

/// Writes the criterion `id` and the scenarios that it runs below `battery`. `cells` has those of its quick extent, a table for each of
/// its parts, or for the whole where it has no parts; all remain where it is empty.
pub fn write(bench: &Bench, id: &str, cells: &[&str]) {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evaluation");
    let read = |name: &str| fs::read_to_string(shipped.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut criterion: Table = toml::from_str(&read(&format!("{id}.toml"))).unwrap();
    let mut parts: Vec<&mut Table> = if criterion.contains_key("part") {
        criterion["part"].as_array_mut().unwrap().iter_mut().map(|part| part.as_table_mut().unwrap()).collect()
    } else {
        vec![&mut criterion]
    };
    assert!(cells.is_empty() || cells.len() == parts.len(), "{id} has {} parts", parts.len());
    for part in &parts {
        let name = format!("scenarios/{}.toml", part["scenario"].as_str().unwrap());
        bench.write(&format!("battery/{name}"), &read(&name));
    }
    for (part, cells) in parts.iter_mut().zip(cells) {
        let cells: Table = toml::from_str(&format!("quick = {{ {cells} }}")).unwrap();
        part.insert("cells".into(), Value::Table(cells));
    }
    bench.write(&format!("battery/{id}.toml"), &criterion.to_string());
}
