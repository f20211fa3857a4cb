//! The laws of a search: the one under test, and those of `--baseline`.

use penstock_evaluation::{Subject, SubjectRole};
use penstock_record::hexadecimal;
use penstock_scenario::read::identity;
use penstock_search::{Bench, Contender, Draft, Kind};
use sha2::{Digest, Sha256};

use crate::arguments;
use crate::failure::Failure;
use crate::{of_quic, registry};

/// A path for laws to be compared on: two settings of a law are one law if they give one scenario, as a parameter with its default does.
const PATH: &str = r#"
format = 1
duration = "1 s"
links.bottleneck = { from = "a", to = "b", rate = "10 Mbit/s", delay = "10 ms", buffer = "1 bdp", duplex = true }
flows.test = { from = "a", to = "b", rtt = "40 ms", cc = { law = "newreno" } }
"#;

/// The laws of a search.
pub(super) struct Laws {
    /// The law under test.
    pub(super) subject: Subject,
    /// The same, as a search has it.
    pub(super) tested: Contender,
    /// The baselines besides those of the objectives.
    pub(super) more: Vec<Contender>,
}

impl Laws {
    /// The law under test with the baselines that are given for a search by these objectives.
    pub(super) fn new(mut subject: Subject, arguments: &arguments::Break, kinds: &[Kind]) -> Result<Self, Failure> {
        let more = more(&subject, arguments, kinds)?;
        // Two laws on one page have two names.
        let path = path()?;
        let mut beside = kinds.iter().flat_map(|kind| bench(*kind, subject.role).references(&path)).chain(more.clone());
        if !subject.is_plain() && beside.any(|law| law.name == subject.name) {
            subject.label = subject.setting(false);
        }
        Ok(Self { tested: Bench::contender(&subject), subject, more })
    }

    /// The law under test as somebody would give it: its name, or a table if it has parameters.
    pub(super) fn given(&self) -> &str {
        if self.subject.is_plain() { &self.subject.name } else { &self.tested.setting }
    }
}

/// The baselines that are given, each with a reason to be there.
fn more(tested: &Subject, arguments: &arguments::Break, kinds: &[Kind]) -> Result<Vec<Contender>, Failure> {
    let given = arguments.baselines();
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |what: String| Failure::Input(format!("--baseline: {what}"));
    let with_place: Vec<Kind> = kinds.iter().copied().filter(|kind| !kind.goes_by_incumbents()).collect();
    if with_place.is_empty() {
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        return Err(wrong(format!(
            "no other law has an effect on {}, whose baseline is the law of the incumbents; add another objective, or leave --baseline \
             out",
            words.join(" and ")
        )));
    }
    let under_test = Same::of(&Bench::contender(tested), tested.role)?;
    let mut known: Vec<Same> = Vec::new();
    let mut more = Vec::new();
    for text in given {
        let (law, contender) = parse(text, tested.role, &tested.name).map_err(wrong)?;
        of_quic::refuse("--baseline", &law.name, arguments.world)?;
        let same = Same::of(&contender, law.role)?;
        if same == under_test {
            return Err(wrong(format!(
                "`{text}` is the law under test, and does no better than itself; name another law or other parameters"
            )));
        }
        if known.contains(&same) {
            return Err(wrong(format!("`{text}` appears twice; name each law once")));
        }
        let mut is_standard = true;
        for kind in &with_place {
            is_standard &= standard(*kind, law.role)?.contains(&same);
        }
        if is_standard {
            let words: Vec<&str> = with_place.iter().map(|kind| kind.word()).collect();
            let whose = if arguments.objective.is_empty() { "every objective".to_owned() } else { words.join(" and ") };
            return Err(wrong(format!("`{text}` is a baseline of {whose} already; name another law, or leave it out")));
        }
        known.push(same);
        more.push(contender);
    }
    Ok(more)
}

/// A baseline of a law in this role: a name, or a table. With parameters it has all of them in its name, by which pages tell it from the
/// plain law and files of bounds give it back.
pub(super) fn parse(text: &str, role: SubjectRole, tested: &str) -> Result<(Subject, Contender), String> {
    let mut law = Subject::parse(text, registry::laws())?;
    if law.role != role {
        let (is, wanted) = (noun(law.role), noun(role));
        return Err(format!("`{text}` is {is}; only {wanted} can be a baseline of `{tested}`"));
    }
    if !law.is_plain() {
        law.label = law.setting(false);
    }
    let contender = Bench::contender(&law);
    Ok((law, contender))
}

/// The baselines in the name of a directory; none without any. Two settings of a law may differ in signs that such a name lacks.
pub(super) fn words(more: &[Contender]) -> Option<String> {
    let word = |law: &Contender| match Subject::named(&law.setting) {
        Ok((name, _)) if name != law.name => format!("{name} {}", &hexadecimal(&Sha256::digest(&law.setting))[..8]),
        _ => law.name.clone(),
    };
    let words: Vec<String> = more.iter().map(word).collect();
    (!words.is_empty()).then(|| format!("baseline {}", words.join(" ")))
}

const fn noun(role: SubjectRole) -> &'static str {
    match role {
        SubjectRole::Controller => "a controller",
        SubjectRole::Aqm => "an AQM",
        SubjectRole::Conditioner => "a conditioner",
    }
}

/// The identity that two settings of one law have in common.
#[derive(Debug, PartialEq, Eq)]
struct Same(String);

impl Same {
    fn of(law: &Contender, role: SubjectRole) -> Result<Self, Failure> {
        let bench = bench(Kind::Queue, role);
        let scenario = bench.read(&bench.with(&path()?, law));
        scenario.map(|scenario| Self(identity(&scenario))).map_err(Failure::Input)
    }
}

/// The baselines that an objective has by itself.
fn standard(kind: Kind, role: SubjectRole) -> Result<Vec<Same>, Failure> {
    bench(kind, role).references(&path()?).iter().map(|law| Same::of(law, role)).collect()
}

fn path() -> Result<Draft, Failure> {
    Draft::parse(PATH).map_err(Failure::Bug)
}

fn bench(kind: Kind, role: SubjectRole) -> Bench {
    super::bench(kind, role, "packets")
}
