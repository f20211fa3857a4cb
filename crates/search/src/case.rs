//! A scenario of a search with a law in it, ready to run.

use std::sync::Arc;

use penstock_evaluation::{Subject, SubjectRole};
use penstock_law::Registry;
use penstock_law::quantity::Time;
use penstock_scenario::model::Scenario;
use penstock_scenario::quantity::print_time;
use penstock_scenario::read::{Document, identity};
use toml::Value;

use crate::draft::Draft;
use crate::limits::mean;
use crate::objective::{
    AFTER, CHANGED, Kind, LATE, QUIET, Role, SECOND_HALF, bottleneck, last_change, last_start, outage, role, round,
};

/// The law of a constant source, and the keys of a group that such a source cannot have.
const CONSTANT: &str = "cbr";
const UNACKNOWLEDGED: [&str; 2] = ["sender", "ack_jitter"];
/// The rate of a constant source, as a share of the mean rate of the bottleneck: as much as counts as capacity.
const FULL: f64 = 0.98;

/// A path for laws to be compared on: two settings of a law are one law if they give one scenario, as a parameter with its default does.
pub const PLAIN_PATH: &str = r#"
format = 1
duration = "1 s"
links.bottleneck = { from = "a", to = "b", rate = "10 Mbit/s", delay = "10 ms", buffer = "1 bdp", duplex = true }
flows.test = { from = "a", to = "b", rtt = "40 ms", cc = { law = "newreno" } }
"#;

/// A law of a search: the one under test, or a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// Its name on pages.
    pub name: String,
    /// The law with its parameters, as a scenario has it.
    pub setting: String,
}

/// Makes scenarios of drafts.
#[derive(Debug, Clone)]
pub struct Bench {
    registry: Arc<Registry>,
    kind: Kind,
    role: SubjectRole,
    /// True if the world has packets, and so numbers by rounds of packets.
    packets: bool,
    /// References that somebody asks for, besides those of the objective.
    more: Vec<Contender>,
}

impl Bench {
    /// For one objective and a law in this role.
    pub const fn new(registry: Arc<Registry>, kind: Kind, role: SubjectRole) -> Self {
        Self { registry, kind, role, packets: true, more: Vec::new() }
    }

    /// The same for a world without packets: `oscillate` goes by the queue alone.
    #[must_use]
    pub fn without_packets(self) -> Self {
        Self { packets: false, ..self }
    }

    /// The same with further references, behind those of the objective. Where a reference stands for the incumbents' law they have no
    /// place.
    #[must_use]
    pub fn beside(self, more: Vec<Contender>) -> Self {
        Self { more, ..self }
    }

    /// True if the world has packets.
    pub(crate) const fn has_packets(&self) -> bool {
        self.packets
    }

    /// The objective.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// A law of a search.
    pub fn contender(subject: &Subject) -> Contender {
        Contender { name: subject.label.clone(), setting: subject.setting(false) }
    }

    /// The references of a draft: the laws of that role that everybody knows, and behind them those that were asked for; or the law of
    /// the incumbents.
    pub fn references(&self, draft: &Draft) -> Vec<Contender> {
        let mut references = self.standard(draft);
        if !self.kind.goes_by_incumbents() {
            // One that is asked for may be a standard one of some objectives, and of others not.
            let more = self.more.iter().filter(|law| !references.contains(law)).cloned().collect::<Vec<_>>();
            references.extend(more);
        }
        references
    }

    /// The same for a law under test, which is no reference of its own.
    pub fn references_of(&self, law: &Contender, draft: &Draft) -> Vec<Contender> {
        self.references(draft).into_iter().filter(|reference| !self.is_same(reference, law)).collect()
    }

    /// True if two settings are one law, as a parameter with its default is.
    pub fn is_same(&self, a: &Contender, b: &Contender) -> bool {
        if a.setting == b.setting {
            return true;
        }
        let named = |law: &Contender| Subject::named(&law.setting).map(|(name, _)| name);
        let (Ok(one), Ok(other)) = (named(a), named(b)) else { return false };
        let scenario =
            |law: &Contender| Some(identity(&self.read(&self.with(&Draft::parse(PLAIN_PATH).ok()?, law)).ok()?));
        one == other && scenario(a).is_some_and(|one| scenario(b) == Some(one))
    }

    /// The name of the reference that scores go by, if the law is that reference.
    pub(crate) fn goes_by_itself(&self, law: &Contender) -> Option<&'static str> {
        self.kind.goes_by().iter().copied().find(|name| self.is_same(&plain(name), law))
    }

    /// The references that nobody has to ask for.
    fn standard(&self, draft: &Draft) -> Vec<Contender> {
        if self.kind.goes_by_incumbents() {
            let incumbents = draft.names("flows").into_iter().filter(|name| role(name) == Role::Incumbent);
            let laws = incumbents.filter_map(|name| {
                let cc = draft.get(&format!("flows.{name}.cc")).or_else(|| draft.get("defaults.flows.cc"))?;
                let law = cc.get("law")?.as_str()?.to_owned();
                Some(Contender { name: law, setting: cc.to_string() })
            });
            return laws.take(1).collect();
        }
        match self.role {
            // Neither responds to a loss with less than the path allows: a third one shows what it would. Each has the timers of its
            // host, which a constant source has not.
            SubjectRole::Controller if matches!(self.kind, Kind::Underuse | Kind::Stall) => {
                let laws = ["newreno", "cubic", "bbr"].map(plain);
                laws.into_iter().chain(self.constant(draft)).collect()
            }
            // A constant source has nothing to be timid about.
            SubjectRole::Controller if self.kind == Kind::Timid => ["newreno", "cubic", "bbr"].map(plain).to_vec(),
            SubjectRole::Controller => ["newreno", "cubic"].map(plain).to_vec(),
            SubjectRole::Aqm => ["droptail", "codel"].map(plain).to_vec(),
            // No objective is about conditioners.
            SubjectRole::Conditioner => Vec::new(),
        }
    }

    /// A source without congestion control that sends as much as the bottleneck does, on average: the capacity of the path.
    /// None where the draft is no scenario.
    fn constant(&self, draft: &Draft) -> Option<Contender> {
        let scenario = self.read(draft).ok()?;
        let link = scenario.links.get(bottleneck(&scenario)?)?;
        let tested = scenario.groups.iter().filter(|(name, _)| role(name) == Role::Test);
        let sources: u32 = tested.map(|(_, group)| group.count).sum();
        let rate = FULL * mean(link, scenario.duration) / f64::from(sources.max(1));
        let setting = format!("{{ law = \"cbr\", rate = \"{} bit/s\" }}", libm::round(rate));
        Some(Contender { name: CONSTANT.to_owned(), setting })
    }

    /// A draft with a law instead of the one under test.
    pub fn with(&self, draft: &Draft, law: &Contender) -> Draft {
        let mut draft = draft.clone();
        let value: Option<toml::Table> = toml::from_str(&format!("law = {}", law.setting)).ok();
        let Some(value) = value.and_then(|table| table.get("law").cloned()) else { return draft };
        let is_constant = value.get("law").and_then(Value::as_str) == Some(CONSTANT);
        match self.role {
            SubjectRole::Controller => {
                for name in draft.names("flows").into_iter().filter(|name| role(name) == Role::Test) {
                    draft.set(&format!("flows.{name}.cc"), value.clone());
                    // What nobody acknowledges has no sender that goes by acknowledgements.
                    for key in UNACKNOWLEDGED.iter().filter(|_| is_constant) {
                        draft.remove(&format!("flows.{name}.{key}"));
                        draft.remove(&format!("defaults.flows.{key}"));
                    }
                }
                if draft.names("flows").iter().all(|name| role(name) == Role::Test) {
                    draft.remove("defaults.flows.cc");
                }
            }
            SubjectRole::Aqm => draft.set("links.bottleneck.aqm", value),
            SubjectRole::Conditioner => {}
        }
        draft
    }

    /// The warm-up and the duration of a draft with a scored part of this length. Objectives that settle slowly have a longer
    /// warm-up: 50 round trips, and at least 10 s.
    ///
    /// # Errors
    /// Names the reason why the draft is not a scenario.
    pub fn timed(&self, draft: &Draft, length: Time) -> Result<Draft, String> {
        let scenario = self.read(draft)?;
        let mut draft = draft.clone();
        let warmup = if self.kind.is_transient() {
            scenario.warmup
        } else {
            // Whole seconds are easier to read.
            Time(Time::PER_SECOND * (50 * round(&scenario).0).div_ceil(Time::PER_SECOND).max(10))
        };
        let duration = match self.kind {
            Kind::Latecomer => Time(last_start(&scenario).0 + 40 * Time::PER_SECOND),
            Kind::Recover => Time(last_change(&scenario).0 + length.0.max(100 * round(&scenario).0)),
            Kind::Timid | Kind::Unsafe => scenario.duration,
            _ => Time(warmup.0 + length.0),
        };
        draft.set("warmup", Value::from(print_time(warmup)));
        draft.set("duration", Value::from(print_time(duration)));
        Ok(draft)
    }

    /// The scenario that is run for a draft with a law: with the windows and the numbers over time that the objective needs.
    ///
    /// # Errors
    /// Names the reason why the draft is not a scenario.
    pub fn scenario(&self, draft: &Draft, seed: u64) -> Result<Scenario, String> {
        let plain = self.read(draft)?;
        let mut draft = draft.clone();
        let duration = plain.duration;
        let mut window = |name: &str, from: Time, to: Time| {
            let to = to.min(duration);
            if from < to {
                let span = [from, to].map(|time| Value::from(format!("{} ps", time.0)));
                draft.set(&format!("windows.{name}"), Value::Array(span.to_vec()));
            }
        };
        match self.kind {
            Kind::Latecomer => {
                let last = last_start(&plain);
                window(LATE, Time(last.0 + 20 * Time::PER_SECOND), Time(last.0 + 40 * Time::PER_SECOND));
            }
            Kind::Recover => window(CHANGED, last_change(&plain), duration),
            Kind::Timid | Kind::Unsafe => {
                if let Some((from, to)) = outage(&plain) {
                    window(QUIET, Time(from.0 + 15 * Time::PER_SECOND), to);
                    window(AFTER, to, Time(2 * to.0 - from.0));
                }
            }
            _ => window(SECOND_HALF, Time(u64::midpoint(plain.warmup.0, duration.0)), duration),
        }
        // A world without rounds refuses the objectives that have no other measure.
        if self.kind.needs_dynamics() && (self.packets || self.kind != Kind::Oscillate) {
            draft.set("dynamics.round", Value::from(format!("{} ps", round(&plain).0)));
        }
        draft.set("seed", Value::Integer(seed as i64));
        self.read(&draft)
    }

    /// The scenario of a draft, as it stands.
    ///
    /// # Errors
    /// Names the reason why it is none.
    pub fn read(&self, draft: &Draft) -> Result<Scenario, String> {
        let document = Document::parse(&draft.text(), "scenario").map_err(|e| e.to_string())?;
        let cells = document.with_laws(Arc::clone(&self.registry)).cells().map_err(|e| e.to_string())?;
        cells.into_iter().next().map(|cell| cell.scenario).ok_or_else(|| "its sweep has no cell".to_owned())
    }
}

/// A law without parameters.
fn plain(name: &str) -> Contender {
    Contender { name: name.to_owned(), setting: format!("{{ law = \"{name}\" }}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAFT: &str = r#"
format = 1
duration = "1 s"
[links.bottleneck]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "20 packets"
duplex = true
[flows.test]
from = "a"
to = "b"
rtt = "300 ms"
start = "0 s"
cc = { law = "cubic" }
[flows.incumbent]
from = "a"
to = "b"
start = "0 s"
cc = { law = "newreno" }
"#;

    fn bench(kind: Kind) -> (Bench, Draft) {
        (Bench::new(Arc::new(Registry::standard()), kind, SubjectRole::Controller), Draft::parse(DRAFT).unwrap())
    }

    #[test]
    fn a_law_takes_the_place_of_the_one_under_test() {
        let (bench, draft) = bench(Kind::Coexist);
        let fast = Contender { name: "fast".into(), setting: "{ law = \"fast\", alpha = \"20 packets\" }".into() };
        let scenario = bench.read(&bench.with(&draft, &fast)).unwrap();
        assert_eq!(scenario.groups["test"].cc.law.name, "fast");
        assert_eq!(scenario.groups["incumbent"].cc.law.name, "newreno");
        let names: Vec<String> = bench.references(&draft).into_iter().map(|law| law.name).collect();
        assert_eq!(names, ["newreno"]);
    }

    /// A whole window that is lost costs every law of TCP a timeout: only a source without one shows that the path carries more.
    #[test]
    fn a_constant_source_is_a_reference_of_what_stays_unused() {
        let (bench, draft) = bench(Kind::Underuse);
        let mut draft = draft;
        draft.remove("flows.incumbent");
        draft.set("flows.test.count", Value::Integer(2));
        draft.set("flows.test.sender.profile", Value::from("linux"));
        let references = bench.references(&draft);
        let names: Vec<&str> = references.iter().map(|law| law.name.as_str()).collect();
        assert_eq!(names, ["newreno", "cubic", "bbr", "cbr"]);
        let scenario = bench.read(&bench.with(&draft, &references[3])).unwrap();
        assert_eq!(scenario.groups["test"].cc.values.number("rate"), 4_900_000.0);
    }

    fn law(name: &str, setting: &str) -> Contender {
        Contender { name: name.into(), setting: setting.into() }
    }

    /// Files on record have the references in their order.
    #[test]
    fn references_that_are_asked_for_stand_behind_those_of_the_objective() {
        let more = || vec![law("copa", "{ law = \"copa\" }"), law("bbr", "{ law = \"bbr\" }")];
        let names = |kind: Kind| -> Vec<String> {
            let (bench, draft) = bench(kind);
            bench.beside(more()).references(&draft).into_iter().map(|law| law.name).collect()
        };
        assert_eq!(names(Kind::Loss), ["newreno", "cubic", "copa", "bbr"]);
        // One that is there already is there once.
        assert_eq!(names(Kind::Timid), ["newreno", "cubic", "bbr", "copa"]);
        for kind in [Kind::Coexist, Kind::Harm] {
            assert_eq!(names(kind), ["newreno"]);
        }
    }

    /// A constant source with a rate of its own has another name, and still no sender that goes by acknowledgements.
    #[test]
    fn a_constant_source_by_any_name_has_no_sender() {
        let (bench, mut draft) = bench(Kind::Starve);
        draft.set("flows.test.sender.profile", Value::from("linux"));
        let setting = "{ law = \"cbr\", rate = \"1 Mbit/s\" }";
        let scenario = bench.read(&bench.with(&draft, &law(setting, setting))).unwrap();
        assert_eq!(scenario.groups["test"].cc.values.number("rate"), 1e6);
    }

    #[test]
    fn the_warm_up_is_fifty_round_trips_at_least() {
        let (bench, draft) = bench(Kind::Oscillate);
        let timed = bench.timed(&draft, Time(20 * Time::PER_SECOND)).unwrap();
        let scenario = bench.scenario(&timed, 7).unwrap();
        assert_eq!((scenario.warmup.seconds(), scenario.duration.seconds(), scenario.seed.0), (15.0, 35.0, 7));
        let (from, to) = scenario.windows[SECOND_HALF];
        assert_eq!((from.seconds(), to.seconds()), (25.0, 35.0));
        assert_eq!(scenario.dynamics.unwrap().round.seconds(), 0.3);
    }

    #[test]
    fn a_draft_that_is_no_scenario_says_why() {
        let (bench, mut draft) = bench(Kind::Starve);
        draft.set("links.bottleneck.rate", Value::from("10 Mbit"));
        assert!(bench.read(&draft).unwrap_err().contains("rate"));
    }
}
