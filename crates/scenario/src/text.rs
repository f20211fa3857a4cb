//! Values from the text of a resolved scenario, without the reader: the files that it names need not be there.

use std::collections::{BTreeMap, BTreeSet};

use penstock_law::quantity::Time;
use serde::Deserialize;

use crate::quantity;

/// The warm-up of a resolved scenario, in seconds, from its text; 0 by default.
///
/// ```
/// assert_eq!(penstock_scenario::text::warm_up_s("duration = '60 s'\nwarmup = '20 s'"), 20.0);
/// ```
pub fn warm_up_s(scenario: &str) -> f64 {
    #[derive(Deserialize)]
    struct Scenario {
        warmup: Option<String>,
    }
    let warm_up = toml::from_str::<Scenario>(scenario).ok().and_then(|s| s.warmup);
    warm_up.and_then(|text| quantity::time(&text).ok()).map_or(0.0, Time::seconds)
}

/// The laws that a resolved scenario names, from its text, each once; none where the text is not a scenario.
///
/// ```
/// let text = "[links.a]\naqm = { law = 'red' }\n[flows.b]\ncc = { law = 'cubic' }\n[flows.c]\ncc = { law = 'cubic' }";
/// assert_eq!(penstock_scenario::text::law_names(text), ["cubic", "red"]);
/// ```
pub fn law_names(scenario: &str) -> Vec<String> {
    fn walk(value: &toml::Value, names: &mut BTreeSet<String>) {
        match value {
            toml::Value::Table(table) => {
                names.extend(table.get("law").and_then(|law| law.as_str()).map(str::to_owned));
                table.values().for_each(|value| walk(value, names));
            }
            toml::Value::Array(values) => values.iter().for_each(|value| walk(value, names)),
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    if let Ok(table) = toml::from_str::<toml::Table>(scenario) {
        walk(&toml::Value::Table(table), &mut names);
    }
    names.into_iter().collect()
}

/// Every key of a resolved scenario with its value as text, by the key's path; none where the text is not a scenario. Lists are
/// values.
///
/// ```
/// let keys = penstock_scenario::text::keys("seed = 1\n[links.a]\nrate = '10 Mbit/s'\naqm = { law = 'red' }");
/// assert_eq!(keys["links.a.aqm.law"], "red");
/// assert_eq!(keys.into_iter().next(), Some(("links.a.aqm.law".to_owned(), "red".to_owned())));
/// ```
pub fn keys(scenario: &str) -> BTreeMap<String, String> {
    fn walk(path: &str, value: &toml::Value, found: &mut BTreeMap<String, String>) {
        match value {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    walk(&if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, value, found);
                }
            }
            toml::Value::String(text) => {
                found.insert(path.to_owned(), text.clone());
            }
            other => {
                found.insert(path.to_owned(), other.to_string());
            }
        }
    }
    let mut found = BTreeMap::new();
    if let Ok(table) = toml::from_str::<toml::Table>(scenario) {
        walk("", &toml::Value::Table(table), &mut found);
    }
    found
}

/// The hosts that a resolved scenario names (`sender.profile`), from its text, each once; none where every group has the
/// default.
///
/// ```
/// let text = "[flows.a]\nsender = { profile = 'linux' }\n[flows.b]\nsender = { profile = 'linux' }\n[flows.c]\n";
/// assert_eq!(penstock_scenario::text::hosts(text), ["linux"]);
/// ```
pub fn hosts(scenario: &str) -> Vec<String> {
    #[derive(Deserialize)]
    struct Scenario {
        #[serde(default)]
        flows: BTreeMap<String, Group>,
    }
    #[derive(Deserialize)]
    struct Group {
        sender: Option<Sender>,
    }
    #[derive(Deserialize)]
    struct Sender {
        profile: Option<String>,
    }
    let groups = toml::from_str::<Scenario>(scenario).map(|s| s.flows).unwrap_or_default();
    let named: BTreeSet<String> = groups.into_values().filter_map(|group| group.sender?.profile).collect();
    named.into_iter().collect()
}
