//! The laws of a search: the one under test, and those of `--baseline`.

use penstock_evaluation::{Subject, SubjectRole};
use penstock_record::hexadecimal;
use penstock_search::{Bench, Contender, Draft, Kind, PLAIN_PATH};
use sha2::{Digest, Sha256};

use crate::arguments::{self, WorldName};
use crate::failure::Failure;
use crate::{of_quic, registry};

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
        let (path, tested) = (path()?, Bench::contender(&subject));
        let references = |kind: &Kind| bench(*kind, subject.role).references_of(&tested, &path);
        let mut beside = kinds.iter().flat_map(references).chain(more.clone());
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
    let words: Vec<&str> = with_place.iter().map(|kind| kind.word()).collect();
    let whose = if arguments.objective.is_empty() { "every objective".to_owned() } else { words.join(" and ") };
    let tested_law = Bench::contender(tested);
    let beside = Beside {
        role: tested.role,
        tested: Some((&tested.name, &tested_law)),
        kinds: &with_place,
        whose: &whose,
        world: arguments.world,
    };
    let mut more = Vec::new();
    for text in given {
        let contender = beside.read(text, &more, "--baseline")?;
        more.push(contender);
    }
    Ok(more)
}

/// The laws and objectives beside a further baseline, on the command line or in a file of bounds.
pub(super) struct Beside<'a> {
    /// The role of the law under test.
    pub(super) role: SubjectRole,
    /// That law with its name, if it is known.
    pub(super) tested: Option<(&'a str, &'a Contender)>,
    /// The objectives in which it has a place, and their names in a message.
    pub(super) kinds: &'a [Kind],
    pub(super) whose: &'a str,
    pub(super) world: WorldName,
}

impl Beside<'_> {
    /// Reads a baseline that stands behind `before`; `place` is where it was written.
    pub(super) fn read(&self, text: &str, before: &[Contender], place: &str) -> Result<Contender, Failure> {
        let wrong = |what: String| Failure::Input(format!("{place}: {what}"));
        let name = self.tested.map_or("none", |(name, _)| name);
        let (law, contender) = parse(text, self.role, name).map_err(wrong)?;
        of_quic::refuse(place, &law.name, self.world)?;
        let bench = bench(Kind::Queue, self.role);
        if self.tested.is_some_and(|(_, tested)| bench.is_same(&contender, tested)) {
            return Err(wrong(format!(
                "`{text}` is the law under test, and does no better than itself; name another law or other parameters"
            )));
        }
        if before.iter().any(|law| bench.is_same(&contender, law)) {
            return Err(wrong(format!("`{text}` appears twice; name each law once")));
        }
        let path = path()?;
        let has = |kind: &Kind| {
            self::bench(*kind, self.role).references(&path).iter().any(|law| bench.is_same(&contender, law))
        };
        if self.kinds.iter().all(has) {
            let whose = self.whose;
            return Err(wrong(format!("`{text}` is a baseline of {whose} already; name another law, or leave it out")));
        }
        Ok(contender)
    }
}

/// A baseline of a law in this role: a name, or a table. With parameters it has all of them in its name, by which pages tell it from the
/// plain law and files of bounds give it back.
fn parse(text: &str, role: SubjectRole, tested: &str) -> Result<(Subject, Contender), String> {
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

/// A path whose references are those of an objective, but for the rate of a constant source.
fn path() -> Result<Draft, Failure> {
    Draft::parse(PLAIN_PATH).map_err(Failure::Bug)
}

fn bench(kind: Kind, role: SubjectRole) -> Bench {
    super::bench(kind, role, "packets")
}
