//! Runs side by side: those alike but for their seed, the differences between them, and names from the differences.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use penstock_law::Registry;
use penstock_scenario::summary::Summary;
use penstock_scenario::text;
use penstock_scenario::world::Table;

use crate::number::{ABSENT, parse};

/// A run, as it is laid over others.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// Its name if no label distinguishes it.
    pub name: &'a str,
    /// The version that computed it.
    pub version: &'a str,
    /// The scenario with all defaults filled in.
    pub scenario_text: &'a str,
    /// The values of the keys that its sweep has, and of the seed; empty for a run that is of none.
    pub swept: &'a [(String, String)],
    /// The controller of each group; may be empty.
    pub laws: &'a [(String, String)],
    /// Its numbers.
    pub summary: &'a Summary,
    /// Its series over time.
    pub series: &'a [Table],
}

/// Runs that differ in nothing but their seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Made of the labels that distinguish it.
    pub name: String,
    /// The name without the value of the key of [`Cases::along`], if there is one.
    pub line: Option<String>,
    /// Its value of each key that differs, if it has that key.
    pub differs: IndexMap<String, String>,
    /// Its runs, as indices of the list, by their seeds.
    pub runs: Vec<usize>,
    /// Runs with the seed and the measurements of one of `runs`: the same run again, which tells nothing more about a mean.
    pub copies: Vec<usize>,
}

impl Case {
    /// Its value of a key that differs.
    pub(super) fn value(&self, key: &str) -> &str {
        self.differs.get(key).map_or(ABSENT, String::as_str)
    }
}

/// All runs, sorted into cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cases {
    /// The keys that differ: those of scenarios, `world` and `version`.
    pub keys: Vec<String>,
    /// The cases, by the numbers that were swept, else in the order of their first runs.
    pub cases: Vec<Case>,
    /// A swept key with a number of each case, over which measurements are a curve.
    pub along: Option<String>,
}

/// The key of a scenario's title.
const TITLE: &str = "title";
/// More keys than this do not make a name.
const KEYS: usize = 3;
/// Longer values make no name.
const LONGEST: usize = 60;
/// A longer title is no part of a name.
const LONGEST_TITLE: usize = 100;

/// Runs that are alike but for their seeds.
struct Alike {
    /// All keys with their values.
    keys: BTreeMap<String, String>,
    places: Vec<usize>,
    copies: Vec<usize>,
}

/// Sorts runs into cases. A key at its default is as one that is not there: two laws differ by their names, and by the
/// parameters that somebody chose.
pub fn cases(runs: &[Ran<'_>], registry: &Registry) -> Cases {
    let mut found: IndexMap<BTreeMap<String, String>, Alike> = IndexMap::new();
    for (at, run) in runs.iter().enumerate() {
        let mut keys = text::keys(run.scenario_text);
        let defaults = text::defaults(run.scenario_text, registry);
        for (key, default) in &defaults {
            keys.entry(key.clone()).or_insert_with(|| default.clone());
        }
        keys.remove("seed");
        keys.insert("world".to_owned(), run.summary.world.clone());
        keys.insert("version".to_owned(), run.version.to_owned());
        let mut chosen = keys.clone();
        chosen.retain(|key, value| defaults.get(key) != Some(value));
        let alike = found.entry(chosen).or_insert_with(|| Alike { keys, places: Vec::new(), copies: Vec::new() });
        // Real packets measure something else with the same seed; a run that is computed does not.
        let there = alike.places.iter().any(|other| runs[*other].summary == run.summary);
        if there { &mut alike.copies } else { &mut alike.places }.push(at);
    }
    for alike in found.values_mut() {
        alike.places.sort_by_key(|at| runs[*at].summary.seed);
    }
    let every: BTreeSet<&String> = found.keys().flat_map(BTreeMap::keys).collect();
    let differs = |key: &&&String| found.keys().map(|keys| keys.get(**key)).collect::<BTreeSet<_>>().len() > 1;
    let mut keys: Vec<String> = every.iter().filter(differs).map(|key| (*key).clone()).collect();
    let swept: BTreeSet<&str> = runs.iter().flat_map(|run| run.swept).map(|(key, _)| key.as_str()).collect();
    keys.sort_by_key(|key| (rank(key, &swept), key.clone()));
    let mut cases: Vec<Case> = found
        .values()
        .map(|alike| Case {
            name: String::new(),
            line: None,
            differs: keys.iter().filter_map(|key| Some((key.clone(), alike.keys.get(key)?.clone()))).collect(),
            runs: alike.places.clone(),
            copies: alike.copies.clone(),
        })
        .collect();
    for key in keys.iter().rev().filter(|key| swept.contains(key.as_str())) {
        sort_by_number(&mut cases, key);
    }
    let along = along(&keys, &swept, &cases);
    let Named { names, lines } = names(&keys, &cases, runs, along.as_ref());
    for (case, name) in cases.iter_mut().zip(names) {
        case.name = name;
    }
    let along = along.filter(|_| lines.is_some());
    for (case, line) in cases.iter_mut().zip(lines.into_iter().flatten()) {
        case.line = Some(line);
    }
    Cases { keys, cases, along }
}

/// Sorts cases by their numbers of a key. Words, and numbers of more than one unit, keep their order.
fn sort_by_number(cases: &mut [Case], key: &str) {
    let numbers: Option<Vec<(f64, &str)>> = cases.iter().map(|case| parse(case.value(key))).collect();
    if numbers.is_some_and(|all| all.windows(2).all(|pair| pair[0].1 == pair[1].1)) {
        let number = |case: &Case| parse(case.value(key)).map_or(f64::NAN, |(number, _)| number);
        cases.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
}

/// Fewer numbers than this are no curve.
const CURVE: usize = 3;

/// The swept key with the most numbers, in one unit, if every case has one.
fn along(keys: &[String], swept: &BTreeSet<&str>, cases: &[Case]) -> Option<String> {
    let count = |key: &String| -> Option<usize> {
        let all: Vec<(f64, &str)> = cases.iter().map(|case| parse(case.value(key))).collect::<Option<_>>()?;
        let one_unit = all.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let distinct: BTreeSet<u64> = all.iter().map(|(number, _)| number.to_bits()).collect();
        (one_unit && distinct.len() >= CURVE).then_some(distinct.len())
    };
    let counted = keys.iter().filter(|key| swept.contains(key.as_str())).filter_map(|key| Some((count(key)?, key)));
    // Of keys with as many, the first one.
    let best = counted.fold(None::<(usize, &String)>, |best, this| match best {
        Some(best) if best.0 >= this.0 => Some(best),
        _ => Some(this),
    });
    best.map(|(_, key)| key.clone())
}

/// The order in which keys make names: the world, what was swept and laws, then all others; the title covers the remainder.
fn rank(key: &str, swept: &BTreeSet<&str>) -> u32 {
    match key {
        "world" => 0,
        key if swept.contains(key) => 1,
        key if is_law(key) => 2,
        TITLE => 5,
        "version" => 4,
        _ => 3,
    }
}

fn is_law(key: &str) -> bool {
    key.rsplit('.').next() == Some("law")
}

/// Names of cases, and of the lines that they are on.
struct Named {
    names: Vec<String>,
    /// None where a name says more than values of keys.
    lines: Option<Vec<String>>,
}

/// A name for each case, no two the same: its title if titles differ, and the values that tell it from others of its title.
fn names(keys: &[String], cases: &[Case], runs: &[Ran<'_>], along: Option<&String>) -> Named {
    let all: Vec<&Case> = cases.iter().collect();
    let mut titles: IndexMap<&str, Vec<&Case>> = IndexMap::new();
    for case in cases.iter().filter(|_| keys.iter().any(|key| key == TITLE)) {
        titles.entry(case.value(TITLE)).or_default().push(case);
    }
    // Different titles are of different files: those names people know.
    let short = titles.keys().all(|title| title.chars().count() <= LONGEST_TITLE && !title.is_empty());
    if titles.len() < 2 || !short {
        let (names, lines) = told(keys, &all, runs, along);
        return Named { names: unique(&names), lines };
    }
    let named: Vec<(&Case, String)> = titles
        .iter()
        .flat_map(|(title, alike)| {
            let parts = if alike.len() < 2 { vec![String::new()] } else { told(keys, alike, runs, None).0 };
            let name =
                move |part: String| if part.is_empty() { (*title).to_owned() } else { format!("{title}, {part}") };
            alike.iter().copied().zip(parts.into_iter().map(name)).collect::<Vec<_>>()
        })
        .collect();
    let name = |case: &Case| named.iter().find(|(other, _)| std::ptr::eq(*other, case)).map(|(_, name)| name.clone());
    Named { names: unique(&cases.iter().filter_map(name).collect::<Vec<_>>()), lines: None }
}

/// The values of the fewest keys that tell cases apart, else their records; and the values of these keys without `along`, if it is
/// one of them.
fn told(
    keys: &[String],
    cases: &[&Case],
    runs: &[Ran<'_>],
    along: Option<&String>,
) -> (Vec<String>, Option<Vec<String>>) {
    let records: Vec<String> =
        cases.iter().map(|case| case.runs.first().map_or("", |at| runs[*at].name).to_owned()).collect();
    if cases.len() < 2 {
        return (records, None);
    }
    let from = |chosen: &[&String]| -> Vec<String> {
        let part = |case: &Case, key: &String| {
            let value = case.value(key).to_owned();
            if key == "world" || is_law(key) || value.contains(' ') {
                return value;
            }
            format!("{} {value}", key.rsplit('.').next().unwrap_or(key))
        };
        let name = |case: &Case| chosen.iter().map(|key| part(case, key)).collect::<Vec<_>>();
        let joined = |mut parts: Vec<String>| {
            parts.dedup();
            parts.join(", ")
        };
        cases.iter().map(|case| joined(name(case))).collect()
    };
    let distinct = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len();
    // What only some cases have names none of the others.
    let everywhere = |key: &String| cases.iter().all(|case| case.differs.contains_key(key));
    let usable: Vec<&String> = keys.iter().filter(|key| *key != TITLE && everywhere(key)).collect();
    let mut chosen: Vec<&String> = Vec::new();
    while chosen.len() < KEYS {
        let now = distinct(&from(&chosen));
        let more = usable.iter().filter(|key| !chosen.contains(key)).map(|key| {
            let with: Vec<&String> = chosen.iter().copied().chain([*key]).collect();
            (distinct(&from(&with)), *key)
        });
        // Of keys that tell as many apart, the first one: `max_by_key` would take the last.
        let best = more.fold(None::<(usize, &String)>, |best, this| match best {
            Some(best) if best.0 >= this.0 => Some(best),
            _ => Some(this),
        });
        match best.filter(|(found, _)| *found > now) {
            Some((_, key)) => chosen.push(key),
            None => break,
        }
    }
    let values = from(&chosen);
    let short = values.iter().all(|name| name.chars().count() <= LONGEST && !name.is_empty());
    if distinct(&values) != cases.len() || !short {
        return (records, None);
    }
    let without = |along: &String| -> Vec<&String> { chosen.iter().copied().filter(|key| *key != along).collect() };
    let lines = along.filter(|along| chosen.contains(along)).map(|along| from(&without(along)));
    (values, lines)
}

/// The names, with a number where one is there already.
fn unique(names: &[String]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let one = |name: &String| {
        let mut candidate = name.clone();
        let mut n = 1;
        while !taken.insert(candidate.clone()) {
            n += 1;
            candidate = format!("{name} ({n})");
        }
        candidate
    };
    names.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(world: &str, seed: u64) -> Summary {
        serde_json::from_str(&format!(
            r#"{{ "title": "t", "world": "{world}", "seed": {seed}, "measured_s": 1.0, "links": {{}}, "groups": {{}},
                 "engine": {{ "events": 1, "packets": 1 }} }}"#
        ))
        .unwrap()
    }

    /// Names and runs of the cases of (record, world, seed, scenario).
    fn sorted(all: &[(&str, &str, u64, &str)]) -> (Vec<String>, Vec<(String, Vec<usize>)>) {
        let summaries: Vec<Summary> = all.iter().map(|(_, world, seed, _)| summary(world, *seed)).collect();
        let runs: Vec<Ran<'_>> = all
            .iter()
            .zip(&summaries)
            .map(|((name, _, _, scenario_text), summary)| Ran {
                name,
                version: "1",
                scenario_text,
                swept: &[],
                laws: &[],
                summary,
                series: &[],
            })
            .collect();
        let found = cases(&runs, &Registry::standard());
        (found.keys, found.cases.into_iter().map(|case| (case.name, case.runs)).collect())
    }

    #[test]
    fn seeds_of_a_scenario_are_one_case() {
        let (keys, cases) = sorted(&[
            ("b", "packets", 2, "seed = 2\n[flows.a.cc]\nlaw = 'cubic'"),
            ("a", "packets", 1, "seed = 1\n[flows.a.cc]\nlaw = 'cubic'"),
            ("c", "packets", 1, "seed = 1\n[flows.a.cc]\nlaw = 'bbr'"),
        ]);
        assert_eq!(keys, ["flows.a.cc.law"]);
        assert_eq!(cases, [("cubic".to_owned(), vec![1, 0]), ("bbr".to_owned(), vec![2])]);
    }

    #[test]
    fn names_are_from_the_fewest_keys_that_tell() {
        let text =
            |law: &str, rate: &str| format!("title = 'x'\n[links.a]\nrate = '{rate}'\nn = 3\n[f.cc]\nlaw = '{law}'");
        let texts = [text("cubic", "1 Mbit/s"), text("bbr", "1 Mbit/s"), text("bbr", "2 Mbit/s")];
        let all: Vec<_> = texts.iter().map(|text| ("r", "packets", 1, text.as_str())).collect();
        let (keys, cases) = sorted(&all);
        assert_eq!(keys, ["f.cc.law", "links.a.rate"], "what is equal is not there");
        let names: Vec<&str> = cases.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["cubic, 1 Mbit/s", "bbr, 1 Mbit/s", "bbr, 2 Mbit/s"]);
    }

    /// The parameters of a law at their defaults say no more than its name, and one that a record of an older version lacks had
    /// its default.
    #[test]
    fn a_key_at_its_default_is_no_difference() {
        let text = |cc: &str| format!("[flows.a]\nseries = false\ncc = {{ {cc} }}");
        let texts = [
            text("law = 'cubic', beta = 0.7, c = 0.4, hystart = false"),
            text("law = 'newreno', grow_on_echo = false"),
            text("law = 'cubic'").replace("series = false\n", ""),
        ];
        let all: Vec<_> = texts.iter().zip(1..).map(|(text, seed)| ("r", "packets", seed, text.as_str())).collect();
        let (keys, cases) = sorted(&all);
        assert_eq!(keys, ["flows.a.cc.law"]);
        assert_eq!(cases, [("cubic".to_owned(), vec![0, 2]), ("newreno".to_owned(), vec![1])]);

        // What somebody chose is a difference, from the default that the other text leaves out too.
        let texts = [text("law = 'cubic', beta = 0.5"), text("law = 'cubic'")];
        let all: Vec<_> = texts.iter().map(|text| ("r", "packets", 1, text.as_str())).collect();
        let (keys, cases) = sorted(&all);
        assert_eq!(keys, ["flows.a.cc.beta"]);
        assert_eq!(cases.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["beta 0.5", "beta 0.7"]);
    }

    /// A key that one case lacks does not describe it; then titles do.
    #[test]
    fn unlike_scenarios_are_named_by_their_titles() {
        let (_, cases) = sorted(&[
            ("a", "packets", 1, "title = 'First'\n[flows.a.cc]\nlaw = 'bbr'"),
            ("b", "packets", 1, "title = 'Second'\n[flows.b.cc]\nlaw = 'cubic'"),
        ]);
        assert_eq!(cases.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["First", "Second"]);
    }

    /// The values of keys alone would name files by whatever key happens to differ.
    #[test]
    fn cases_of_unlike_titles_have_the_title_first() {
        let fast = "title = 'FAST'\nwarmup = '20 s'\n[flows.a.cc]\nlaw = 'fast'";
        let two = "title = 'Two links'\nwarmup = '5 s'\n[flows.a.cc]\nlaw = 'fast'";
        let red = "title = 'RED'\nwarmup = '5 s'\n[links.b]\nrate = '1 Mbit/s'";
        let (_, cases) = sorted(&[
            ("a", "packets", 1, fast),
            ("b", "fluid", 1, fast),
            ("c", "packets", 1, two),
            ("d", "fluid", 1, two),
            ("e", "packets", 1, red),
        ]);
        let names: Vec<&str> = cases.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["FAST, packets", "FAST, fluid", "Two links, packets", "Two links, fluid", "RED"]);
    }

    /// The interval of a mean is one of independent runs: a copy of a record is none.
    #[test]
    fn a_run_that_is_there_again_counts_once() {
        let mut summaries = [summary("linux", 1), summary("linux", 1), summary("linux", 2), summary("linux", 1)];
        // Real packets with the same seed, measured again.
        summaries[3].whole.measured_s = 2.0;
        let runs: Vec<Ran<'_>> = summaries
            .iter()
            .map(|summary| Ran {
                name: "r",
                version: "1",
                scenario_text: "n = 1",
                swept: &[],
                laws: &[],
                summary,
                series: &[],
            })
            .collect();
        let found = cases(&runs, &Registry::standard());
        assert_eq!(found.cases.len(), 1);
        assert_eq!((&found.cases[0].runs[..], &found.cases[0].copies[..]), (&[0, 3, 2][..], &[1][..]));
    }

    /// A buffer of one bandwidth-delay product differs as the rate does. The rate is what was swept, from small to large.
    #[test]
    fn swept_keys_name_cases_and_sort_them() {
        let rates = ["10 Mbit/s", "20 Mbit/s", "5 Mbit/s"];
        let laws = ["cubic", "newreno"];
        let each = || rates.iter().flat_map(|rate| laws.iter().map(move |law| (*rate, *law)));
        let texts: Vec<String> = each()
            .map(|(rate, law)| {
                format!("[links.a]\nbuffer = '{} packets'\nrate = '{rate}'\n[f.cc]\nlaw = '{law}'", &rate[..2])
            })
            .collect();
        let labels: Vec<Vec<(String, String)>> = each()
            .map(|(rate, law)| {
                let all = [("links.a.rate", rate), ("f.cc.law", law), ("seed", "1")];
                all.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec()
            })
            .collect();
        let summary = summary("packets", 1);
        let found = |swept: bool| {
            let ran =
                |(scenario_text, labels): (&'_ String, &'_ Vec<(String, String)>)| -> (String, Vec<(String, String)>) {
                    (scenario_text.clone(), if swept { labels.clone() } else { Vec::new() })
                };
            let all: Vec<(String, Vec<(String, String)>)> = texts.iter().zip(&labels).map(ran).collect();
            let runs: Vec<Ran<'_>> = all
                .iter()
                .map(|(scenario_text, swept)| Ran {
                    name: "r",
                    version: "1",
                    scenario_text,
                    swept,
                    laws: &[],
                    summary: &summary,
                    series: &[],
                })
                .collect();
            cases(&runs, &Registry::standard())
        };
        let of_sweep = found(true);
        let named: Vec<(&str, &str)> =
            of_sweep.cases.iter().map(|case| (case.name.as_str(), case.line.as_deref().unwrap_or("none"))).collect();
        assert_eq!(
            named,
            [
                ("5 Mbit/s, cubic", "cubic"),
                ("5 Mbit/s, newreno", "newreno"),
                ("10 Mbit/s, cubic", "cubic"),
                ("10 Mbit/s, newreno", "newreno"),
                ("20 Mbit/s, cubic", "cubic"),
                ("20 Mbit/s, newreno", "newreno"),
            ]
        );
        assert_eq!(of_sweep.along.as_deref(), Some("links.a.rate"));
        let others = found(false);
        assert_eq!((others.along, others.cases[0].line.clone()), (None, None), "nothing was swept");
        assert_eq!(others.cases[0].differs["links.a.rate"], "10 Mbit/s", "in the order of the records");
    }

    #[test]
    fn worlds_and_numbers_name_themselves() {
        let (_, cases) =
            sorted(&[("a", "packets", 1, "n = 1"), ("b", "fluid", 1, "n = 1"), ("c", "fluid", 1, "n = 20")]);
        let names: Vec<&str> = cases.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["packets, n 1", "fluid, n 1", "fluid, n 20"]);
    }
}
