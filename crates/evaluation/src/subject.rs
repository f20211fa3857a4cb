//! The law under test, and those that it is compared with.

use penstock_law::Registry;
use penstock_law::aqm::Aqm;
use penstock_law::cc::{self, Controller};
use penstock_law::conditioner::Conditioner;
use penstock_law::law::Linearisation;
use penstock_scenario::read::{Document, ReadError, ReadErrors, nearest};
use std::sync::Arc;
use toml::{Table, Value};

use crate::criterion::{Applies, Battery, Criterion, Part};

/// The role of a law under test: that of `penstock_law::law::Role`, as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectRole {
    /// A controller: the senders of `flows.test`.
    Controller,
    /// An AQM: the queue of `links.bottleneck`.
    Aqm,
    /// A conditioner: no document has criteria for one.
    Conditioner,
}

/// A law under test, or a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Its name in the registry.
    pub name: String,
    /// Its name among the laws of an evaluation: that of the registry, unless two have it.
    pub label: String,
    /// Its role.
    pub role: SubjectRole,
    /// The law with its parameters, as a scenario has it.
    table: Table,
    /// True if it has a parameter `ecn`.
    ecn: bool,
    /// Criteria that are about some laws only: those that are about this one.
    applies: Vec<Applies>,
}

impl Subject {
    /// The law of that name, or of a table such as `{ law = "fast", alpha = "20 packets" }`.
    ///
    /// # Errors
    /// Names the error in the name or the table.
    pub fn parse(text: &str, registry: &Arc<Registry>) -> Result<Self, String> {
        let (name, table) = Self::named(text)?;
        let (role, parameters, linear) = if let Some(entry) = registry.controller(&name) {
            (SubjectRole::Controller, entry.parameters, entry.linearisation)
        } else if let Some(entry) = registry.aqm(&name) {
            (SubjectRole::Aqm, entry.parameters, entry.linearisation)
        } else if let Some(entry) = registry.conditioner(&name) {
            (SubjectRole::Conditioner, entry.parameters, entry.linearisation)
        } else {
            let known: Vec<&str> = [
                registry.laws::<Controller>().iter().map(|entry| entry.name).collect::<Vec<_>>(),
                registry.laws::<Aqm>().iter().map(|entry| entry.name).collect(),
                registry.laws::<Conditioner>().iter().map(|entry| entry.name).collect(),
            ]
            .concat();
            let meant = nearest(&name, &known).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            return Err(format!("no law has the name `{name}`: {meant}`penstock laws` lists them"));
        };
        let mut subject = Self {
            role,
            ecn: parameters.iter().any(|parameter| parameter.name == "ecn"),
            applies: Vec::new(),
            label: name.clone(),
            name,
            table,
        };
        // A contract has no default, and what is not run needs none.
        if role == SubjectRole::Conditioner && subject.is_plain() {
            return Ok(subject);
        }
        let requirements = subject.try_out(registry)?;
        if role == SubjectRole::Conditioner {
            return Ok(subject);
        }
        // A model of its means is not the law whose loop a criterion requires.
        if !matches!(linear, Linearisation::Unsupported(_) | Linearisation::Mean(_)) {
            subject.applies.push(Applies::Linear);
        }
        if requirements.is_some_and(|needs| needs.low_latency) {
            subject.applies.push(Applies::L4s);
        }
        if subject.ecn || requirements.is_some_and(|needs| needs.marks != cc::Marks::Ignored) {
            subject.applies.push(Applies::Ecn);
        }
        Ok(subject)
    }

    /// The name of a law, and its table as a scenario has it, of a text that is a name or a table. Whether there is such a law is not
    /// looked at.
    ///
    /// # Errors
    /// Names the error in the table.
    pub fn named(text: &str) -> Result<(String, Table), String> {
        let mut table = Table::new();
        if text.trim_start().starts_with('{') {
            let whole: Table = toml::from_str(&format!("law = {text}"))
                .map_err(|e| format!("{text}: {}; write it as in {{ law = \"fast\" }}", e.message()))?;
            if whole.len() > 1 {
                return Err(format!("{text}: there is more behind the table; write it as in {{ law = \"fast\" }}"));
            }
            if let Some(Value::Table(inner)) = whole.get("law") {
                table = inner.clone();
            }
        } else {
            table.insert("law".into(), Value::String(text.trim().into()));
        }
        match table.get("law").cloned() {
            Some(Value::String(name)) => Ok((name, table)),
            _ => Err(format!("{text}: needs `law`, as in {{ law = \"fast\" }}")),
        }
    }

    /// The laws that the same criteria compare it with: NewReno and CUBIC of senders, drop-tail and CoDel of queues, none of
    /// conditioners.
    ///
    /// # Errors
    /// Names one that the registry lacks.
    pub fn baselines(&self, registry: &Arc<Registry>) -> Result<Vec<Self>, String> {
        let names: &[&str] = match self.role {
            SubjectRole::Controller => &["newreno", "cubic"],
            SubjectRole::Aqm => &["droptail", "codel"],
            SubjectRole::Conditioner => &[],
        };
        names.iter().map(|name| Self::parse(name, registry)).collect()
    }

    /// Leaves those of `others` that it can be compared with, once each, and gives it and them labels of their own: a law with parameters has
    /// them in its label if another one has its name. The plain law keeps the name, by which bounds refer to it.
    pub fn tell_apart(&mut self, others: &mut Vec<Self>) {
        // A law is no baseline of its own.
        let mut settings = vec![self.setting(true)];
        others.retain(|other| {
            let known = settings.contains(&other.setting(true));
            settings.push(other.setting(true));
            !known
        });
        let mut all: Vec<&mut Self> = [self].into_iter().chain(others).collect();
        let names: Vec<String> = all.iter().map(|law| law.name.clone()).collect();
        for law in all.iter_mut().filter(|law| !law.is_plain()) {
            if names.iter().filter(|name| **name == law.name).count() > 1 {
                law.label = law.setting(false);
            }
        }
    }

    /// True if its parameters are those of the registry.
    pub fn is_plain(&self) -> bool {
        self.table.len() == 1
    }

    /// The law with its parameters, as a scenario has it. With `ecn` it uses ECN, if it can.
    pub fn setting(&self, ecn: bool) -> String {
        let mut table = self.table.clone();
        if ecn && self.ecn && !table.contains_key("ecn") {
            table.insert("ecn".into(), Value::Boolean(true));
        }
        Value::Table(table).to_string()
    }

    /// The source of the law: a paper or an RFC.
    pub fn source(&self, registry: &Registry) -> String {
        let controller = registry.controller(&self.name).map(|entry| entry.source);
        let aqm = || registry.aqm(&self.name).map(|entry| entry.source);
        let conditioner = || registry.conditioner(&self.name).map(|entry| entry.source);
        controller.or_else(aqm).or_else(conditioner).unwrap_or_default().to_owned()
    }

    /// The key of a scenario that names it.
    pub const fn key(&self) -> &'static str {
        match self.role {
            SubjectRole::Controller => "flows.test.cc",
            SubjectRole::Aqm => "links.bottleneck.aqm",
            SubjectRole::Conditioner => "customers.test.conditioner",
        }
    }

    /// The keys of a scenario with these groups that name it: of a controller also those of groups such as `test-long`, as flows on
    /// other routes or with other sizes are groups of their own.
    pub fn keys<'a>(&self, groups: impl Iterator<Item = &'a str>) -> Vec<String> {
        let more = groups.filter(|group| self.role == SubjectRole::Controller && group.starts_with("test-"));
        [self.key().to_owned()].into_iter().chain(more.map(|group| format!("flows.{group}.cc"))).collect()
    }

    /// True if the page of an evaluation has a criterion: those for laws in this role. Of a conditioner it has all, each with the
    /// reason why it is not about conditioners.
    pub const fn is_for(&self, criterion: &Criterion) -> bool {
        match criterion.battery {
            Battery::Sender | Battery::L4s => matches!(self.role, SubjectRole::Controller | SubjectRole::Conditioner),
            Battery::Queue => matches!(self.role, SubjectRole::Aqm | SubjectRole::Conditioner),
        }
    }

    /// The reason why a criterion does not apply to this law; none if it does.
    pub fn excused(&self, criterion: &Criterion) -> Option<String> {
        if let Some(why) = &criterion.not_applicable {
            return Some(why.clone());
        }
        if self.role == SubjectRole::Conditioner {
            let about = match criterion.battery {
                Battery::Sender | Battery::L4s => "senders",
                Battery::Queue => "queues",
            };
            return Some(format!("`{}` is a conditioner, and the criterion is about {about}", self.name));
        }
        let asked = criterion.applies.filter(|asked| !self.applies.contains(asked))?;
        Some(match asked {
            Applies::Ecn => format!("`{}` does not react to marks", self.name),
            Applies::L4s => format!("`{}` does not send ECT(1)", self.name),
            Applies::Linear => format!("`{}` has no linear model", self.name),
        })
    }

    /// The reason why a part of a criterion does not run for this law: with ECN it would give the numbers of a run without, beside
    /// baselines that use it. None if it runs. An analysis is of the law's own loop, whichever signal that has.
    pub fn sits_out(&self, criterion: &Criterion, part: &Part) -> Option<String> {
        let asked = part.ecn && !part.analysis && criterion.battery != Battery::Queue;
        (asked && !self.applies.contains(&Applies::Ecn)).then(|| format!("`{}` does not use ECN", self.name))
    }

    /// Reads a scenario with it, for errors in its parameters; gives the requirements of a controller.
    fn try_out(&self, registry: &Arc<Registry>) -> Result<Option<cc::Requirements>, String> {
        const PATH: &str = "format = 1\nduration = \"1 s\"\n\
            links.bottleneck = { from = \"a\", to = \"b\", rate = \"10 Mbit/s\", delay = \"10 ms\", buffer = \"1 bdp\" }\n\
            flows.test = { from = \"a\", to = \"b\", rtt = \"40 ms\", cc = { law = \"newreno\" } }\n";
        let mut document =
            Document::parse(PATH, &self.name).map_err(|e| e.to_string())?.with_laws(Arc::clone(registry));
        if self.role == SubjectRole::Conditioner {
            document.set("customers.test", "{ flows = [\"test\"] }").map_err(|e| e.to_string())?;
        }
        document.set(self.key(), &self.setting(false)).map_err(|e| self.explained(&e))?;
        let cells = document.cells().map_err(|e| self.explained(&e))?;
        let Some(cell) = cells.first().filter(|_| self.role == SubjectRole::Controller) else { return Ok(None) };
        cell.scenario.groups["test"].requirements(cell.scenario.packet).map(Some)
    }

    /// Errors in the parameters, with the table that somebody typed: nobody typed the path that it is tried out on.
    fn explained(&self, errors: &ReadErrors) -> String {
        let path = format!("{}.", self.key());
        let one = |error: &ReadError| {
            let key = error.key.strip_prefix(&path).unwrap_or(&error.key).to_owned();
            let context = error.context.as_ref().map(|_| format!("in `{}`", self.setting(false)));
            ReadError { key, context, ..error.clone() }.to_string()
        };
        let (shown, more) = errors.shown();
        let more = (more > 0).then(|| format!("and {more} more"));
        shown.iter().map(one).chain(more).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::tests::GOOD;

    fn subject(text: &str) -> Result<Subject, String> {
        Subject::parse(text, &Arc::new(Registry::standard()))
    }

    #[test]
    fn a_law_is_known_by_its_name_or_its_table() {
        let fast = subject("fast").unwrap();
        assert_eq!((fast.role, fast.is_plain()), (SubjectRole::Controller, true));
        let bucket = subject("token-bucket").unwrap();
        assert_eq!((bucket.role, bucket.key()), (SubjectRole::Conditioner, "customers.test.conditioner"));
        let contract = "{ law = \"token-bucket\", committed_rate = \"1 Mbit/s\", bucket = \"15 kB\" }";
        assert!(subject(contract).unwrap().setting(false).contains("15 kB"));
        let fast = subject("{ law = \"fast\", alpha = \"20 packets\" }").unwrap();
        assert!(!fast.is_plain() && fast.setting(false).contains("alpha"));
        assert_eq!(subject("codel").unwrap().key(), "links.bottleneck.aqm");
        assert!(subject("prague").unwrap().applies.contains(&Applies::L4s));
        assert!(!subject("vegas").unwrap().applies.contains(&Applies::L4s));
    }

    #[test]
    fn groups_of_the_law_under_test_begin_with_test() {
        let groups = || ["test", "test-long", "tests", "other"].into_iter();
        assert_eq!(subject("fast").unwrap().keys(groups()), ["flows.test.cc", "flows.test-long.cc"]);
        assert_eq!(subject("codel").unwrap().keys(groups()), ["links.bottleneck.aqm"]);
    }

    #[test]
    fn what_is_no_law_is_refused() {
        assert!(subject("fest").unwrap_err().contains("no law has the name `fest`"));
        assert!(subject("{ law = \"token-bucket\", buckt = \"15 kB\" }").unwrap_err().contains("buckt"));
        assert!(subject("{ alpha = 1 }").unwrap_err().contains("needs `law`"));
        // Nobody typed the key of a scenario, or `--set`.
        let said = subject("{ law = \"fast\", alpha = \"x\" }").unwrap_err();
        assert!(said.starts_with("fast: alpha: `x` is not a number of packets"), "{said}");
        assert!(said.ends_with("(in `{ alpha = \"x\", law = \"fast\" }`)"), "{said}");
        assert!(subject("{ law = ").unwrap_err().contains("write it as in"));
    }

    /// The plain law is `newreno`, whichever of two is under test, and none is there twice.
    #[test]
    fn laws_of_one_name_have_labels_of_their_own() {
        let labels = |law: &str, others: &[&str]| -> (String, Vec<String>) {
            let mut law = subject(law).unwrap();
            let mut others: Vec<Subject> = others.iter().map(|other| subject(other).unwrap()).collect();
            law.tell_apart(&mut others);
            (law.label, others.into_iter().map(|other| other.label).collect())
        };
        let draining = r#"{ law = "newreno", search = "drain" }"#;
        let own = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>();
        let (law, others) = labels(draining, &["newreno", "cubic"]);
        assert!(law.contains("drain") && others == own(&["newreno", "cubic"]), "{law} {others:?}");
        let (law, others) = labels("newreno", &["newreno", "cubic", draining, "cubic"]);
        assert!(
            law == "newreno" && others[0] == "cubic" && others[1].contains("drain") && others.len() == 2,
            "{others:?}"
        );
        assert_eq!(labels(r#"{ law = "fast", alpha = "20 packets" }"#, &["cubic"]).0, "fast");
    }

    /// A law without ECN does not run a part with ECN, unless it is an analysis, or the battery is for queues.
    #[test]
    fn a_part_with_ecn_is_for_laws_that_use_it() {
        let part = |law: &str, more: &str, battery: &str| {
            let text = GOOD.replace("scenario = \"long-flows\"", &format!("scenario = \"long-flows\"\n{more}"));
            let text = text.replace("battery = \"sender\"", &format!("battery = \"{battery}\""));
            let of = if battery == "queue" { "droptail" } else { "newreno" };
            let text = text.replace("of = \"newreno\"", &format!("of = \"{of}\""));
            let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
            subject(law).unwrap().sits_out(&criterion, &criterion.parts[0])
        };
        assert_eq!(part("fast", "ecn = true", "sender").as_deref(), Some("`fast` does not use ECN"));
        for law in ["newreno", "cubic", "dctcp", "prague"] {
            assert_eq!(part(law, "ecn = true", "sender"), None, "{law}");
        }
        assert_eq!(part("fast", "", "sender"), None);
        assert_eq!(part("fast", "ecn = true\nanalysis = true", "sender"), None);
        assert_eq!(part("droptail", "ecn = true", "queue"), None);
    }

    #[test]
    fn ecn_is_for_laws_that_can_be_asked() {
        assert!(subject("newreno").unwrap().setting(true).contains("ecn = true"));
        assert!(!subject("newreno").unwrap().setting(false).contains("ecn"));
        assert!(!subject("dctcp").unwrap().setting(true).contains("ecn"));
    }
}
