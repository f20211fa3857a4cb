//! A space of scenarios as data: a scenario, its genes, and the limits of an adversary.
//!
//! The values of each gene are a finite list. So every scenario of the space is short, exact and repeatable.

mod values;

use indexmap::IndexMap;
use penstock_law::quantity::Time;
use serde::Deserialize;
use toml::{Table, Value};

use crate::draft::Draft;
use crate::gene::{Allele, Gene, Genome};
use crate::limits::Limits;
use values::Values;
pub use values::{Grid, Variation};
pub(crate) use values::{amount, written};

/// A space of scenarios.
#[derive(Debug, Clone)]
pub struct Space {
    /// Its name: that of the file without the ending.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The limits of an adversary.
    pub limits: Limits,
    /// The scenario that the genes change.
    scenario: Draft,
    genes: Vec<Varied>,
    /// Scenarios to begin with: keys of genes with values.
    corpus: Vec<Table>,
}

/// The reason why a file is not a space, or not an objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpaceError(pub String);

/// A gene with the keys that it changes and its values.
#[derive(Debug, Clone)]
struct Varied {
    keys: Vec<String>,
    gene: Gene,
    values: Values,
}

/// A space as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: u64,
    title: String,
    #[serde(default)]
    limits: Limits,
    scenario: Table,
    #[serde(default)]
    genes: IndexMap<String, Variation>,
    #[serde(default)]
    corpus: Vec<Table>,
}

impl Space {
    /// Reads a space; `file` is its name in messages.
    ///
    /// # Errors
    /// Names the error, and its line.
    pub fn parse(text: &str, file: &str) -> Result<Self, SpaceError> {
        let written: Written = read(text, file)?;
        let wrong = |what: String| SpaceError(format!("{file}: {what}"));
        if written.format != 1 {
            return Err(wrong(format!("format is {}; this version reads 1", written.format)));
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        let mut space = Self {
            name: name.strip_suffix(".toml").unwrap_or(name).to_owned(),
            title: written.title,
            limits: written.limits,
            scenario: Draft::of(written.scenario),
            genes: Vec::new(),
            corpus: Vec::new(),
        };
        space.vary(&written.genes).map_err(wrong)?;
        for start in written.corpus {
            space.begin_with(start).map_err(wrong)?;
        }
        Ok(space)
    }

    /// Adds the needs of an objective: keys of the scenario, genes, and scenarios to begin with.
    ///
    /// # Errors
    /// Names the error.
    pub(crate) fn extend(
        &mut self,
        scenario: &Table,
        genes: &IndexMap<String, Variation>,
        corpus: &[Table],
    ) -> Result<(), String> {
        self.scenario.join(scenario);
        // What an objective sets does not vary, unless it says how.
        for (key, _) in Draft::of(scenario.clone()).leaves() {
            self.genes.retain(|varied| varied.keys.iter().all(|known| *known != key));
        }
        self.vary(genes)?;
        // A space of somebody's own need not have the genes that an objective would begin with.
        let fits = |start: &&Table| start.keys().all(|key| self.genes.iter().any(|varied| varied.keys[0] == *key));
        let starts: Vec<Table> = corpus.iter().filter(fits).cloned().collect();
        starts.into_iter().try_for_each(|start| self.begin_with(start))
    }

    /// Leaves out the genes that set `key` or keys below it.
    pub fn fix(&mut self, key: &str) {
        let below = format!("{key}.");
        self.genes.retain(|varied| varied.keys.iter().all(|k| k != key && !k.starts_with(&below)));
    }

    fn vary(&mut self, genes: &IndexMap<String, Variation>) -> Result<(), String> {
        for (key, variation) in genes {
            let wrong = |what: String| format!("genes.\"{key}\": {what}");
            let keys: Vec<String> = [key].into_iter().chain(&variation.also).cloned().collect();
            for key in &keys {
                if penstock_scenario::key::parts(key).is_none() {
                    return Err(wrong(format!("`{key}` is not a dotted key; write it as in `links.bottleneck.rate`")));
                }
            }
            if variation.present && self.scenario.get(key).is_none() {
                return Err(wrong("the scenario of the space lacks it; write it there".to_owned()));
            }
            let (gene, values) = variation.resolve().map_err(wrong)?;
            self.genes.retain(|before| before.keys[0] != *key);
            self.genes.push(Varied { keys, gene, values });
        }
        Ok(())
    }

    fn begin_with(&mut self, start: Table) -> Result<(), String> {
        let (known, unknown): (Vec<_>, Vec<_>) =
            start.keys().partition(|key| self.genes.iter().any(|varied| varied.keys[0] == **key));
        if let (Some(unknown), true) = (unknown.first(), known.is_empty()) {
            return Err(format!("corpus: no gene is `{unknown}`; each key is that of a gene, in quotation marks"));
        }
        self.corpus.push(start);
        Ok(())
    }

    /// The genes.
    pub fn genes(&self) -> Vec<Gene> {
        self.genes.iter().map(|varied| varied.gene.clone()).collect()
    }

    /// The keys that the genes change.
    pub fn keys(&self) -> Vec<String> {
        self.genes.iter().flat_map(|varied| varied.keys.clone()).collect()
    }

    /// The scenarios to begin with: that of the space, then those of its corpus. A gene that one of them does not name is absent, or
    /// has the value nearest to that of the space's scenario.
    pub fn corpus(&self) -> Vec<Genome> {
        let starts = self.corpus.iter().map(|start| self.start(start));
        [self.start(&Table::new())].into_iter().chain(starts).collect()
    }

    fn start(&self, start: &Table) -> Genome {
        Genome(
            self.genes
                .iter()
                .map(|varied| {
                    let given = start.get(&varied.keys[0]).filter(|value| **value != Value::Boolean(false));
                    let usual = || self.scenario.get(&varied.keys[0]);
                    match given {
                        None if varied.gene.optional => Allele::Absent,
                        given => given
                            .or_else(usual)
                            .map_or_else(|| varied.values.first(), |value| varied.values.nearest(value)),
                    }
                })
                .collect(),
        )
    }

    /// The scenario of a genome, without a law under test. Steps repeat until `length`.
    pub fn draft(&self, genome: &Genome, length: Time) -> Draft {
        let mut draft = self.scenario.clone();
        let pairs = || self.genes.iter().zip(&genome.0);
        for (varied, allele) in pairs() {
            // A setting that is absent leaves that of the scenario; a table that is absent goes.
            if *allele == Allele::Absent && varied.values.is_table() {
                for key in &varied.keys {
                    draft.remove(key);
                }
            }
        }
        for (varied, allele) in pairs() {
            let Some(value) = varied.values.value(allele, length) else { continue };
            for key in &varied.keys {
                // What is set in a group or a link that is absent has no effect.
                let parts = penstock_scenario::key::parts(key).unwrap_or_default();
                let owner = penstock_scenario::key::dotted(parts.get(..2).unwrap_or_default());
                if parts.len() < 3 || draft.get(&owner).is_some() {
                    draft.set(key, value.clone());
                }
            }
        }
        without_idle_links(draft)
    }
}

/// The draft without links whose far end no flow and no other link needs: they change nothing.
fn without_idle_links(mut draft: Draft) -> Draft {
    loop {
        let end = |draft: &Draft, key: &str| draft.get(key).and_then(Value::as_str).map(str::to_owned);
        let needed = |node: &str| {
            let flows = draft.names("flows").into_iter();
            let mut ends =
                flows.flat_map(|name| ["from", "to"].map(|which| end(&draft, &format!("flows.{name}.{which}"))));
            let mut starts = draft.names("links").into_iter().map(|name| end(&draft, &format!("links.{name}.from")));
            ends.any(|end| end.as_deref() == Some(node)) || starts.any(|from| from.as_deref() == Some(node))
        };
        let idle = draft.names("links").into_iter().find(|name| {
            let to = end(&draft, &format!("links.{name}.to"));
            name != "bottleneck" && to.is_some_and(|to| !needed(&to))
        });
        match idle {
            Some(name) => draft.remove(&format!("links.{name}")),
            None => return draft,
        };
    }
}

/// Reads a file of TOML into a type that knows all its keys.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(text: &str, file: &str) -> Result<T, SpaceError> {
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        SpaceError(format!("{file}:{line}: {}", e.message()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: &str = r#"
format = 1
title  = "two flows"
[limits]
jitter = "5 ms"
[scenario]
format = 1
duration = "60 s"
[scenario.links.bottleneck]
rate = "100 Mbit/s"
[scenario.flows.test]
rtt = "40 ms"
[scenario.flows.pulse]
cc = { law = "cbr" }
[genes]
"links.bottleneck.rate" = { from = "1 Mbit/s", to = "100 Mbit/s", per_decade = 4 }
"flows.test.rtt" = { from = "10 ms", to = "100 ms", step = "10 ms", also = ["flows.pulse.rtt"] }
"flows.pulse" = { present = true }
"flows.pulse.on_off" = { steps = [1, 3], from = "1 ms", to = "4 ms", step = "1 ms", each = { from = "10 s", to = "20 s", step = "10 s" } }
"flows.test.jitter" = { from = "1 ms", to = "4 ms", per_decade = 8, form = '{ uniform = ["0 ms", $] }', optional = true }
[[corpus]]
"flows.test.rtt" = "41 ms"
"flows.test.jitter" = "2 ms"
"#;

    const MINUTE: Time = Time(60 * Time::PER_SECOND);

    fn space() -> Space {
        Space::parse(SPACE, "spaces/two.toml").unwrap()
    }

    #[test]
    fn a_genome_becomes_a_scenario() {
        let space = space();
        assert_eq!((space.name.as_str(), space.genes().len()), ("two", 5));
        let corpus = space.corpus();
        let draft = space.draft(&corpus[0], MINUTE);
        assert_eq!(draft.get("links.bottleneck.rate"), Some(&Value::from("100 Mbit/s")));
        assert!(draft.get("flows.pulse").is_none() && draft.get("flows.test.jitter").is_none());
        let draft = space.draft(&corpus[1], MINUTE);
        assert_eq!(draft.get("flows.test.rtt"), Some(&Value::from("40 ms")));
        assert!(draft.text().contains("jitter = { uniform = [\"0 ms\", \"1.78 ms\"] }"), "{}", draft.text());
    }

    #[test]
    fn keys_of_what_is_absent_have_no_effect() {
        let space = space();
        let mut genome = space.corpus()[0].clone();
        let at = |key: &str| space.genes.iter().position(|varied| varied.keys[0] == key).unwrap();
        genome.0[at("flows.pulse.on_off")] = Allele::Steps(vec![(0, 1), (1, 3)]);
        assert!(space.draft(&genome, MINUTE).get("flows.pulse").is_none());
        genome.0[at("flows.pulse")] = Allele::At(0);
        let draft = space.draft(&genome, MINUTE);
        let steps = "[[\"0 s\", \"2 ms\"], [\"10 s\", \"4 ms\"], [\"30 s\", \"2 ms\"], [\"40 s\", \"4 ms\"]]";
        assert!(draft.text().contains(steps), "{}", draft.text());
        assert_eq!(draft.get("flows.pulse.rtt"), Some(&Value::from("40 ms")));
    }

    #[test]
    fn what_is_no_space_is_refused() {
        let with = |from: &str, to: &str| Space::parse(&SPACE.replace(from, to), "x.toml").unwrap_err().to_string();
        assert!(with("format = 1\ntitle", "format = 2\ntitle").contains("this version reads 1"));
        assert!(with("title ", "titel ").contains("x.toml:3: unknown field `titel`"));
        assert!(with("\"flows.pulse\" =", "\"flows.none\" =").contains("lacks it"));
        assert!(with("1 Mbit/s\", to", "1 ms\", to").contains("units of one kind"));
        assert!(with("per_decade = 4", "per_decade = 0").contains("per_decade"));
        assert!(with("\"flows.test.rtt\" = \"41 ms\"\n\"flows.test.jitter\" =", "\"none\" =").contains("no gene"));
    }

    #[test]
    fn a_law_under_test_is_no_gene() {
        let mut space = space();
        space.fix("flows.pulse");
        let keys: Vec<&str> = space.genes.iter().map(|varied| varied.keys[0].as_str()).collect();
        assert_eq!(keys, ["flows.test.jitter", "links.bottleneck.rate"]);
    }
}
