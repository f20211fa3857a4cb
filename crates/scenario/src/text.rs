//! Values from the text of a resolved scenario, without the reader: the files that it names need not be there.

use std::collections::{BTreeMap, BTreeSet};

use penstock_law::Registry;
use penstock_law::aqm::Aqm;
use penstock_law::cc::Controller;
use penstock_law::conditioner::Conditioner;
use penstock_law::parameter::{self, Parameter};
use penstock_law::quantity::Time;
use penstock_law::registry::Registered;
use serde::Deserialize;

use crate::format::{SCENARIO, Shape, Silent, Table};
use crate::quantity;
use crate::write::spelled;

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

/// The links of a resolved scenario whose rate changes, from its text: for each the times [s] and the rates from then on
/// [bit/s]. A recorded trace of rates is in a file of its own, and is left out.
///
/// ```
/// let text = "[links.a]\nrate = [['0 s', '20 Mbit/s'], ['44 s', '0 bit/s']]\n[links.b]\nrate = '1 Mbit/s'";
/// let found = penstock_scenario::text::rates(text);
/// assert_eq!(found.into_iter().collect::<Vec<_>>(), [("a".to_owned(), vec![(0.0, 2e7), (44.0, 0.0)])]);
/// ```
pub fn rates(scenario: &str) -> BTreeMap<String, Vec<(f64, f64)>> {
    #[derive(Deserialize)]
    struct Scenario {
        #[serde(default)]
        links: BTreeMap<String, Link>,
    }
    #[derive(Deserialize)]
    struct Link {
        rate: Option<toml::Value>,
    }
    let change = |entry: &toml::Value| {
        let [at, rate] = entry.as_array()?.as_slice() else { return None };
        let (at, rate) = (quantity::time(at.as_str()?).ok()?, quantity::rate(rate.as_str()?).ok()?);
        Some((at.seconds(), rate.bit_per_s()))
    };
    let changes = |link: Link| link.rate?.as_array()?.iter().map(change).collect::<Option<Vec<(f64, f64)>>>();
    let links = toml::from_str::<Scenario>(scenario).map(|s| s.links).unwrap_or_default();
    links.into_iter().filter_map(|(name, link)| Some((name, changes(link)?))).collect()
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

/// The defaults of a resolved scenario as [`keys`] has values: those of its keys, and those of all parameters of the laws that it
/// names, whether the text has them or not. A record of an older version lacks parameters that came later.
///
/// ```
/// use penstock_law::Registry;
/// let text = "[flows.a]\nseries = true\ncc = { law = 'cubic', beta = 0.5 }";
/// let defaults = penstock_scenario::text::defaults(text, &Registry::standard());
/// assert_eq!(defaults["flows.a.cc.beta"], "0.7");
/// assert_eq!(defaults["flows.a.cc.c"], "0.4");
/// assert_eq!(defaults["flows.a.series"], "false");
/// ```
pub fn defaults(scenario: &str, registry: &Registry) -> BTreeMap<String, String> {
    let keys = keys(scenario);
    let mut found: BTreeMap<String, String> =
        keys.keys().filter_map(|path| Some((path.clone(), default_of(path)?))).collect();
    for (path, name) in keys.iter().filter_map(|(path, name)| Some((path.strip_suffix(".law")?, name))) {
        for parameter in parameters(path, name, registry) {
            let text = match parameter.default {
                parameter::Default::Is(value) => spelled(parameter, Some(value)),
                parameter::Default::Automatic(_) => spelled(parameter, None),
                parameter::Default::Required => continue,
            };
            found.extend(plain(&text).map(|text| (format!("{path}.{}", parameter.name), text)));
        }
    }
    found
}

/// The parameters of the law of that name in the table at a path.
fn parameters(path: &str, name: &str, registry: &Registry) -> &'static [Parameter] {
    fn of<R: Registered>(registry: &Registry, name: &str) -> &'static [Parameter] {
        registry.find::<R>(name).map_or(&[], |entry| entry.parameters)
    }
    match path.rsplit('.').next() {
        Some("cc") => of::<Controller>(registry, name),
        Some("aqm") => of::<Aqm>(registry, name),
        Some("conditioner") => of::<Conditioner>(registry, name),
        _ => &[],
    }
}

/// The default of a key of the format, if it is a value.
fn default_of(path: &str) -> Option<String> {
    fn tables(shape: &'static Shape) -> Vec<&'static Table> {
        match shape {
            Shape::Table(table) | Shape::OneOf(table) | Shape::Tables(table) => vec![table],
            Shape::Either(shapes) => shapes.iter().flat_map(tables).collect(),
            _ => Vec::new(),
        }
    }
    let mut at: Vec<&'static Table> = vec![&SCENARIO];
    let mut names = path.split('.');
    loop {
        let name = names.next()?;
        let key = at.iter().flat_map(|table| table.keys).find(|key| key.name == name)?;
        if matches!(key.shape, Shape::Tables(_)) {
            names.next()?;
        }
        at = tables(&key.shape);
        if names.clone().next().is_none() {
            let Silent::Is(text) = key.silent else { return None };
            return plain(text);
        }
    }
}

/// A value as TOML spells it, as text.
fn plain(text: &str) -> Option<String> {
    keys(&format!("it = {text}")).remove("it")
}

/// The groups of flows of a resolved scenario, each with the links that its data cross, from its text.
///
/// ```
/// let text = "[flows.a]\nvia = ['up', 'down']\n[flows.b]\nvia = ['up']";
/// let routes = penstock_scenario::text::routes(text);
/// assert_eq!(routes["a"], ["up", "down"]);
/// assert_eq!(routes["b"], ["up"]);
/// ```
pub fn routes(scenario: &str) -> BTreeMap<String, Vec<String>> {
    #[derive(Deserialize)]
    struct Scenario {
        #[serde(default)]
        flows: BTreeMap<String, Group>,
    }
    #[derive(Deserialize)]
    struct Group {
        #[serde(default)]
        via: Vec<String>,
    }
    let groups = toml::from_str::<Scenario>(scenario).map(|s| s.flows).unwrap_or_default();
    groups.into_iter().filter(|(_, group)| !group.via.is_empty()).map(|(name, group)| (name, group.via)).collect()
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
