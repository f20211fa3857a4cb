//! A criterion file: a requirement of a document, and how it is measured.

use indexmap::IndexMap;
use penstock_papers::{Values, line};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::bound::Bound;
use crate::harm::Harm;

/// A criterion: the contents of `evaluation/EV-04.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Version of the file format: 1.
    pub format: u32,
    /// Its name, such as `EV-04`.
    pub id: Spanned<String>,
    /// A few words for people.
    pub title: String,
    /// The battery that it belongs to.
    pub battery: Battery,
    /// The document, such as `RFC 9743`.
    pub document: String,
    /// The section of the document; empty where the criterion has none.
    #[serde(default)]
    pub section: String,
    /// The document's word for its weight, such as `MUST consider`; `none` where it has none.
    pub level: String,
    /// The requirement of the document, in a sentence.
    pub requirement: String,
    /// Known results, and the parts that the runs leave out.
    #[serde(default)]
    pub notes: String,
    /// The laws that it is about; all unless given.
    pub applies: Option<Applies>,
    /// The reason why it is not measured.
    pub not_evaluated: Option<String>,
    /// The reason why it applies to no law that Penstock can run.
    pub not_applicable: Option<String>,
    // One part without a name, which `parse` makes of it.
    scenario: Option<Spanned<String>>,
    #[serde(default = "yes")]
    lengths: bool,
    #[serde(default)]
    ecn: bool,
    #[serde(default)]
    analysis: bool,
    #[serde(default)]
    cells: Cells,
    /// Its settings; one without a name where the file has `scenario`.
    #[serde(default, rename = "part")]
    pub parts: Vec<Part>,
    /// The numbers, the main one first.
    #[serde(default, rename = "measure")]
    pub measures: Vec<Measure>,
    /// The figure.
    pub figure: Option<Figure>,
    /// The heat maps.
    pub heat_maps: Option<HeatMaps>,
}

/// One setting of a criterion.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name, by which measures refer to it.
    pub name: String,
    /// Its scenario: a file of `evaluation/scenarios`, without `.toml`.
    pub scenario: Spanned<String>,
    /// True if the length of the runs follows the extent of the evaluation; false if times are part of the criterion.
    #[serde(default = "yes")]
    pub lengths: bool,
    /// True if the law under test and the baselines use ECN, as far as they can.
    #[serde(default)]
    pub ecn: bool,
    /// True if the loop of each cell is analysed, instead of a run.
    #[serde(default)]
    pub analysis: bool,
    /// The cells of the scenario that each extent runs.
    #[serde(default)]
    pub cells: Cells,
}

fn yes() -> bool {
    true
}

/// A battery of criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Battery {
    /// RFC 9743: senders.
    Sender,
    /// RFC 9331, section 4.3: senders that use the L4S service.
    L4s,
    /// RFC 7928: AQMs.
    Queue,
}

impl Battery {
    /// Its purpose, and its document.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Sender => "Senders (RFC 9743)",
            Self::L4s => "Senders of the L4S service (RFC 9331)",
            Self::Queue => "Queues (RFC 7928)",
        }
    }

    /// The laws beside which its criteria measure one, by their names.
    pub const fn baselines(self) -> [&'static str; 2] {
        match self {
            Self::Sender | Self::L4s => ["newreno", "cubic"],
            Self::Queue => ["droptail", "codel"],
        }
    }
}

/// Laws that a criterion is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Applies {
    /// Those that react to marks.
    Ecn,
    /// Those that send ECT(1).
    L4s,
    /// Those whose loop can be linearised.
    Linear,
}

/// The cells that each extent runs: for each axis of the scenario's sweep its values, all where the axis is absent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// Of `--quick`.
    #[serde(default)]
    pub quick: IndexMap<String, Values>,
    /// Of `--standard`.
    #[serde(default)]
    pub standard: IndexMap<String, Values>,
    /// Of `--full`.
    #[serde(default)]
    pub full: IndexMap<String, Values>,
    /// Of the Linux world, in each extent; absent, nothing runs there.
    pub linux: Option<IndexMap<String, Values>>,
}

impl Cells {
    /// Every axis that is named, with its values.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &Values)> {
        self.quick.iter().chain(&self.standard).chain(&self.full).chain(self.linux.iter().flatten())
    }
}

/// A number of a criterion.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Its name: `EV-04.standing-queue` in a gate.
    pub name: Spanned<String>,
    /// The head of its column.
    pub title: String,
    /// The part that measures it, where the criterion has parts.
    pub part: Option<String>,
    /// A path in a summary, such as `links.bottleneck.utilization`.
    pub path: String,
    /// A path whose number is taken from it.
    pub minus: Option<String>,
    /// A path by whose number it, or the difference that `minus` leaves, is divided.
    pub over: Option<String>,
    /// A factor.
    pub times: Option<f64>,
    /// Two paths, whose ratio has the number as a power: the measure is the exponent.
    pub exponent: Option<[String; 2]>,
    /// The number is what others have beside the law; the measure is the harm to them.
    pub harm: Option<Harm>,
    /// Its unit; that of its path unless given.
    pub unit: Option<String>,
    /// The laws that have it; all unless given.
    #[serde(default)]
    pub laws: Vec<String>,
    /// The cells that have it.
    #[serde(default)]
    pub cells: IndexMap<String, Values>,
    /// Why a run may lack it.
    pub absent: Option<String>,
    /// The scale of a comparison with a baseline.
    #[serde(default)]
    pub scale: Scale,
    /// Which cell is the worst.
    #[serde(default)]
    pub worst: Worst,
    /// Its bound; without one it is reported.
    pub bound: Option<Bound>,
}

/// The scale on which a number is compared with that of a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// By their difference.
    #[default]
    Difference,
    /// By their ratio: times, rates and ratios.
    Ratio,
}

/// Which cell of a measure is the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Worst {
    /// The one with the largest number.
    #[default]
    Largest,
    /// The one with the smallest number.
    Smallest,
    /// The one whose number is farthest from 1, by ratio: of shares, which may be too large and too small.
    Farthest,
}

impl Worst {
    /// The badness of a number: the worst cell has the largest.
    pub(crate) fn badness(self, number: f64) -> f64 {
        match self {
            Self::Largest => number,
            Self::Smallest => -number,
            Self::Farthest => libm::log(number).abs(),
        }
    }
}

/// A figure: a measure along an axis of the sweep.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The axis.
    pub x: String,
    /// The measure.
    pub measure: String,
}

/// Heat maps: measures of the law under test over two axes of the sweep.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatMaps {
    /// The axis of their columns.
    pub x: String,
    /// The axis of their rows.
    pub y: String,
    /// The measures, a map of each.
    pub measures: Vec<String>,
}

/// The error of a criterion file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {what}")]
pub struct CriterionError {
    /// The file, as it was given.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The error, and its remedy.
    pub what: String,
}

impl Criterion {
    /// Reads a criterion file; `file` is how errors name it.
    ///
    /// # Errors
    /// Names the line and the remedy.
    pub fn parse(text: &str, file: &str) -> Result<Self, CriterionError> {
        let at = |offset: usize, what: String| CriterionError { file: file.into(), line: line(text, offset), what };
        let mut criterion: Self =
            toml::from_str(text).map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
        criterion.sound(text).map_err(|(offset, what)| at(offset, what))?;
        if let Some(scenario) = criterion.scenario.take() {
            let (lengths, ecn, analysis) = (criterion.lengths, criterion.ecn, criterion.analysis);
            let cells = std::mem::take(&mut criterion.cells);
            criterion.parts = vec![Part { name: String::new(), scenario, lengths, ecn, analysis, cells }];
        }
        Ok(criterion)
    }

    fn sound(&self, text: &str) -> Result<(), (usize, String)> {
        let fault = |what: String| Err((self.id.span().start, what));
        if self.format != 1 {
            return Err((0, format!("format {} is not known; this version reads format 1", self.format)));
        }
        let runs = self.scenario.is_some() || !self.parts.is_empty();
        let why_not = [&self.not_evaluated, &self.not_applicable].iter().filter(|why| why.is_some()).count();
        if why_not + usize::from(runs) != 1 {
            return fault("needs one of `scenario`, `[[part]]`, `not_evaluated` and `not_applicable`".into());
        }
        if self.scenario.is_some() && !self.parts.is_empty() {
            return fault("`scenario` and `[[part]]` exclude each other".into());
        }
        if runs == self.measures.is_empty() {
            return fault("runs and measures go together: a criterion with a scenario has `[[measure]]`".into());
        }
        let scenarios = self.scenario.iter().chain(self.parts.iter().map(|part| &part.scenario));
        for scenario in scenarios {
            if scenario.get_ref().contains(['/', '\\', '.']) {
                let what = "a scenario is a file of `evaluation/scenarios`, by its name without `.toml`";
                return Err((scenario.span().start, what.into()));
            }
        }
        for (n, part) in self.parts.iter().enumerate() {
            if self.parts[..n].iter().any(|other| other.name == part.name) {
                return fault(format!("two parts have the name `{}`", part.name));
            }
            cells(&part.cells).map_err(|what| (part.scenario.span().start, what))?;
        }
        cells(&self.cells).map_err(|what| (self.id.span().start, what))?;
        for (n, measure) in self.measures.iter().enumerate() {
            let (at, name) = (measure.name.span().start, measure.name.get_ref());
            if self.measures[..n].iter().any(|other| other.name.get_ref() == name) {
                return Err((at, format!("two measures have the name `{name}`")));
            }
            self.measure(measure).map_err(|what| (at, format!("measure `{name}`: {what}")))?;
            let baselines = self.battery.baselines();
            let of = measure.bound.as_ref().and_then(|bound| bound.of.as_deref());
            if let Some(of) = of.filter(|of| !baselines.contains(of)) {
                let what = format!(
                    "measure `{name}`: `of` is `{of}`, which is no baseline of this battery; it is one of {}",
                    baselines.join(", ")
                );
                return Err((within(text, at, &["bound", &format!("{of:?}")]), what));
            }
        }
        let figure = self.figure.iter().map(|figure| ("[figure]", "the figure shows", &figure.measure));
        let maps = self.heat_maps.iter().flat_map(|maps| &maps.measures);
        let maps = maps.map(|measure| ("[heat_maps]", "a heat map shows", measure));
        for (table, shows, drawn) in figure.chain(maps) {
            if self.measures.iter().all(|measure| measure.name.get_ref() != drawn) {
                let known: Vec<&str> = self.measures.iter().map(|measure| measure.name.get_ref().as_str()).collect();
                let known = known.join(", ");
                let at = within(text, text.find(table).unwrap_or_default(), &[table, &format!("{drawn:?}")]);
                return Err((at, format!("{shows} `{drawn}`, which is no measure of this criterion; it has {known}")));
            }
        }
        if self.heat_maps.as_ref().is_some_and(|maps| maps.x == maps.y) {
            let at = text.find("[heat_maps]").unwrap_or_default();
            return Err((at, "`[heat_maps]`: `x` and `y` are different axes".into()));
        }
        if self.heat_maps.as_ref().is_some_and(|maps| maps.measures.is_empty()) {
            let at = within(text, text.find("[heat_maps]").unwrap_or_default(), &["[heat_maps]", "measures"]);
            return Err((at, "`[heat_maps]`: `measures` is empty; name one, or remove the table".into()));
        }
        Ok(())
    }

    fn measure(&self, measure: &Measure) -> Result<(), String> {
        match &measure.part {
            Some(part) if self.parts.iter().all(|p| p.name != *part) => {
                return Err(format!("there is no part `{part}`"));
            }
            None if self.parts.len() > 1 => return Err("needs `part`: the criterion has several".into()),
            _ => {}
        }
        if measure.times.is_some_and(|times| !times.is_finite() || times == 0.0) {
            return Err("`times` is a number other than zero".into());
        }
        if let Some((axis, _)) = measure.cells.iter().find(|(_, values)| values.all().is_empty()) {
            return Err(format!("`cells` has no value for `{axis}`"));
        }
        if measure.harm.as_ref().is_some_and(|harm| harm.alone.is_empty()) {
            return Err(
                "`harm` needs the cell in which others are alone, as in `alone = { setting = \"alone\" }`".into()
            );
        }
        if let Some([above, below]) = &measure.exponent
            && above == below
        {
            return Err(format!(
                "`exponent` has `{above}` twice, and its ratio to itself is one; name the paths of two numbers"
            ));
        }
        if measure.scale == Scale::Ratio && measure.is_signed() {
            return Err("`harm` and `exponent` may be zero or less: they have no `scale = \"ratio\"`".into());
        }
        // Cells that get more seeds get them without those in which others are alone.
        if measure.harm.is_some() && measure.bound.is_some() {
            return Err("`harm` is reported and has no bound; bound the number itself in a measure of its own".into());
        }
        measure.bound.as_ref().map_or(Ok(()), Bound::sound)
    }

    /// Its scenarios, each once.
    pub fn scenarios(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in &self.parts {
            if !names.contains(&part.scenario.get_ref().as_str()) {
                names.push(part.scenario.get_ref());
            }
        }
        names
    }

    /// The setting that measures a number.
    pub fn part_of(&self, measure: &Measure) -> Option<&Part> {
        match &measure.part {
            Some(part) => self.parts.iter().find(|p| p.name == *part),
            None => self.parts.first(),
        }
    }
}

impl Measure {
    /// The paths of its numbers, each with its key.
    pub fn paths(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let keys = [("path", Some(&self.path)), ("minus", self.minus.as_ref()), ("over", self.over.as_ref())];
        let keys = keys.into_iter().filter_map(|(key, path)| Some((key, path?)));
        keys.chain(self.exponent.iter().flatten().map(|path| ("exponent", path)))
    }

    /// True if its numbers are far from normal over the seeds: quantiles, and the largest of several over the smallest.
    pub(crate) fn is_skewed(&self) -> bool {
        let is_quantile = |word: &str| {
            let digits = word.strip_prefix('p').unwrap_or_default();
            digits.len() > 1 && digits.bytes().all(|digit| digit.is_ascii_digit())
        };
        let name = self.path.rsplit('.').next().unwrap_or_default();
        name == "starvation" || name.split('_').any(is_quantile)
    }

    /// True if its numbers lie about zero, on either side.
    pub(crate) const fn is_signed(&self) -> bool {
        self.harm.is_some() || self.exponent.is_some()
    }
}

/// The offset at which the last of `words` stands, each after the one before, in the entry of an array of tables that has the offset
/// `from`; `from` itself where they do not stand there.
pub(crate) fn within(text: &str, from: usize, words: &[&str]) -> usize {
    const TABLE: &str = "\n[[";
    let start = text[..from].rfind(TABLE).map_or(0, |at| at + 1);
    let end = text[from..].find(TABLE).map_or(text.len(), |at| from + at);
    let mut at = start;
    for (n, word) in words.iter().enumerate() {
        let skip = if n == 0 { 0 } else { words[n - 1].len() };
        match text.get(at + skip..end).and_then(|rest| rest.find(word)) {
            Some(found) => at += skip + found,
            None => return from,
        }
    }
    at
}

fn cells(cells: &Cells) -> Result<(), String> {
    for (axis, values) in cells.all() {
        if values.all().is_empty() {
            return Err(format!("`cells` has no value for `{axis}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const GOOD: &str = r#"
format = 1
id = "EV-04"
title = "Bufferbloat"
battery = "sender"
document = "RFC 9743"
section = "5.1.2"
level = "MUST consider"
requirement = "Queues."
scenario = "long-flows"

[cells]
quick = { path = "P-dsl", "links.bottleneck.buffer" = ["1 bdp", "8 bdp"] }

[[measure]]
name = "standing-queue"
title = "standing queue"
path = "links.bottleneck.dynamics.standing_queue_s"
bound = { at_most_times = 2.0, of = "newreno", source = "ours" }
"#;

    fn refused(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        Criterion::parse(&GOOD.replacen(from, to, 1), "EV-04.toml").unwrap_err().to_string()
    }

    /// Half and twice are as bad as each other, a tenth is worse than nine times, and nothing at all is worst.
    #[test]
    fn a_share_is_bad_by_its_ratio_to_one() {
        let bad = |share: f64| Worst::Farthest.badness(share);
        assert!((bad(0.5) - bad(2.0)).abs() < 1e-12);
        assert!(bad(0.0) > bad(0.1) && bad(0.1) > bad(9.0) && bad(9.0) > bad(1.0));
        assert!(Worst::Smallest.badness(0.1) > Worst::Smallest.badness(9.0));
        assert!(Worst::Largest.badness(9.0) > Worst::Largest.badness(0.1));
    }

    #[test]
    fn a_criterion_is_read() {
        let criterion = Criterion::parse(GOOD, "EV-04.toml").unwrap();
        assert_eq!(criterion.parts.len(), 1);
        assert_eq!(criterion.scenarios(), ["long-flows"]);
        assert!(criterion.parts[0].cells.quick["links.bottleneck.buffer"].has("8 bdp"));
        assert_eq!(criterion.part_of(&criterion.measures[0]).unwrap().scenario.get_ref(), "long-flows");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_line() {
        for (from, to, words) in [
            ("format = 1", "format = 2", "line 1: format 2 is not known"),
            ("scenario = \"long-flows\"", "", "needs one of `scenario`"),
            ("scenario = \"long-flows\"", "not_evaluated = \"no\"", "runs and measures go together"),
            ("\"long-flows\"", "\"../long-flows\"", "by its name without `.toml`"),
            ("at_most_times = 2.0", "at_most = 1.0", "`of` names the baseline"),
            ("at_most_times = 2.0, ", "", "a bound has one test"),
            ("source = \"ours\"", "source = \" \"", "needs `source`"),
            ("quick = { path = \"P-dsl\"", "quick = { path = []", "`cells` has no value for `path`"),
            ("title = \"Bufferbloat\"", "titel = \"Bufferbloat\"", "line 4: unknown field `titel`"),
            ("name = \"standing-queue\"", "name = \"standing-queue\"\npart = \"x\"", "there is no part `x`"),
            (
                "title = \"standing queue\"",
                "title = \"standing queue\"\nexponent = [\"a\", \"b\"]\nscale = \"ratio\"",
                "line 16: measure `standing-queue`: `harm` and `exponent` may be zero or less",
            ),
            (
                "title = \"standing queue\"",
                "title = \"standing queue\"\nharm = { alone = {}, better = \"less\" }",
                "line 16: measure `standing-queue`: `harm` needs the cell in which others are alone",
            ),
            (
                "title = \"standing queue\"",
                "title = \"standing queue\"\nharm = { alone = { path = \"P-dsl\" }, better = \"less\" }",
                "line 16: measure `standing-queue`: `harm` is reported and has no bound",
            ),
            (
                "title = \"standing queue\"",
                "title = \"standing queue\"\nharm = { alone = { path = \"P-dsl\" }, better = \"large\" }",
                "unknown variant `large`, expected `more` or `less`",
            ),
            (
                "of = \"newreno\"",
                "of = \"reno\"",
                "line 19: measure `standing-queue`: `of` is `reno`, which is no baseline of this battery; it is one of newreno, cubic",
            ),
            (
                "source = \"ours\" }\n",
                "source = \"ours\" }\n\n[figure]\nx = \"path\"\nmeasure = \"queue\"\n",
                "line 23: the figure shows `queue`, which is no measure of this criterion; it has standing-queue",
            ),
            (
                "source = \"ours\" }\n",
                "source = \"ours\" }\n\n[heat_maps]\nx = \"a\"\ny = \"b\"\nmeasures = [\"standing-queue\", \"queue\"]\n",
                "line 24: a heat map shows `queue`, which is no measure of this criterion; it has standing-queue",
            ),
            (
                "source = \"ours\" }\n",
                "source = \"ours\" }\n\n[heat_maps]\nx = \"a\"\ny = \"a\"\nmeasures = []\n",
                "line 21: `[heat_maps]`: `x` and `y` are different axes",
            ),
            (
                "source = \"ours\" }\n",
                "source = \"ours\" }\n\n[heat_maps]\nx = \"a\"\ny = \"b\"\nmeasures = []\n",
                "line 24: `[heat_maps]`: `measures` is empty; name one, or remove the table",
            ),
            (
                "title = \"standing queue\"",
                "title = \"standing queue\"\nexponent = [\"a\", \"a\"]",
                "line 16: measure `standing-queue`: `exponent` has `a` twice",
            ),
        ] {
            let refused = refused(from, to);
            assert!(refused.contains(words), "{from}: {refused}");
        }
    }
}
