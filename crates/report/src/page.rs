//! A page: sections of prose, figures, tables, claims and code, a pure value.

use serde::{Deserialize, Serialize};

use crate::figure::Figure;
use crate::heat::HeatMap;

/// A page. [`crate::html::write`] makes it one file, [`crate::text::table`] its tables plain text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Its heading.
    pub title: String,
    /// A line below the heading.
    pub subtitle: String,
    /// Where it comes from: version, seed, machine.
    pub facts: Vec<(String, String)>,
    /// Its sections, from top to bottom.
    pub sections: Vec<Section>,
}

/// A part of a page; empty fields are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Its name in the contents; its heading where this is empty.
    pub label: String,
    /// The whole that it belongs to, as the paper that a figure is in. Sections of one part stand together.
    pub part: String,
    /// Plain text; an empty line starts a new paragraph, back-ticks set off code.
    pub prose: String,
    /// Numbers of claims that hold and fail.
    pub tally: Option<Tally>,
    /// The one sentence to take away.
    pub callout: Option<Callout>,
    /// Tables that stand above the figures.
    pub tables: Vec<TableView>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Heat maps, below the figures; a viewer leaves them as they are drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<HeatMap>,
    /// Claims.
    pub claims: Vec<ClaimView>,
    /// Scenarios and commands.
    pub code: Vec<Code>,
    /// The laws of a paper's figure, by which an index is searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<String>,
}

/// A sentence that stands out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callout {
    /// Its tone.
    pub tone: Tone,
    /// The sentence.
    pub text: String,
}

/// The tone of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// As wanted.
    Good,
    /// Not as wanted.
    Bad,
    /// Neither.
    Neutral,
}

/// A table of printed values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableView {
    /// Its caption.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The cells, row by row; a row that is short is filled with empty cells.
    pub rows: Vec<Vec<String>>,
    /// Whether it is shown on demand only; a terminal does without.
    #[serde(default)]
    pub folded: bool,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty where they carry their own or have none.
    pub unit: String,
    /// Its alignment.
    pub align: Align,
}

/// The content of a column, which decides its alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Align {
    /// Words, on the left.
    Left,
    /// Numbers, on the right.
    Right,
    /// Verdicts by their [`Verdict::word`], in colour where there are colours.
    Verdict,
}

/// A claim and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimView {
    /// Its name within the paper.
    pub id: String,
    /// The paper's words, or ours where [`ClaimView::ours`].
    pub quotation: String,
    /// Where in the paper.
    pub place: String,
    /// The bound, printed.
    pub bound: String,
    /// The measured numbers, printed.
    pub measured: String,
    /// The verdict of this run.
    pub verdict: Verdict,
    /// The verdict in the repository, where there is one.
    pub recorded: Option<Verdict>,
    /// Whether the paper gives no number, so that the test is ours.
    pub ours: bool,
    /// Whether the paper does not state it at all: a result of ours.
    #[serde(alias = "finding")]
    pub unstated: bool,
    /// Certainty of the verdict: seeds, the share of draws that keep the bound, the change that would turn it.
    pub certainty: String,
    /// Why it fails, where it does and a reason is known.
    pub reason: String,
    /// A further note for a reader.
    pub note: String,
}

/// Numbers of claims by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Claims that hold.
    pub holds: usize,
    /// Claims that fail.
    pub fails: usize,
    /// Claims that the runs do not decide.
    pub undecided: usize,
    /// Claims that were not run.
    pub not_run: usize,
}

/// Numbers of claims by verdict, and their comparison with the record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Of the paper's statements.
    pub stated: Counts,
    /// Of our own results, which the paper does not state.
    #[serde(alias = "findings")]
    pub unstated: Counts,
    /// Claims with another verdict on record.
    pub differing: usize,
    /// Failing claims that are not on record at all.
    pub new_failures: usize,
    /// Claims on record.
    pub recorded: usize,
}

/// The verdict of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is so.
    Holds,
    /// A law meets a criterion.
    Meets,
    /// It is not.
    Fails,
    /// The runs do not decide it.
    Undecided,
    /// It was not run.
    NotRunHere,
}

/// Text to be copied: a scenario, a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// Its label.
    pub label: String,
    /// The text.
    pub text: String,
    /// Whether it is shown on demand only.
    pub folded: bool,
}

impl Verdict {
    /// `holds`, `meets`, `fails`, `undecided` or `not run here`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Meets => "meets",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::NotRunHere => "not run here",
        }
    }

    /// The verdict of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Holds, Self::Meets, Self::Fails, Self::Undecided, Self::NotRunHere]
            .into_iter()
            .find(|v| v.word() == word)
    }

    /// A sign that does without colour.
    pub(crate) const fn sign(self) -> char {
        match self {
            Self::Holds | Self::Meets => '\u{2713}',
            Self::Fails => '\u{2717}',
            Self::Undecided => '?',
            Self::NotRunHere => '\u{2013}',
        }
    }

    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Holds | Self::Meets => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::NotRunHere => "absent",
        }
    }
}

impl Counts {
    /// Total of the claims.
    pub const fn claims(&self) -> usize {
        self.holds + self.fails + self.undecided + self.not_run
    }

    const fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Holds | Verdict::Meets => self.holds += 1,
            Verdict::Fails => self.fails += 1,
            Verdict::Undecided => self.undecided += 1,
            Verdict::NotRunHere => self.not_run += 1,
        }
    }

    /// `30 hold, 23 fail, 2 undecided, 31 not run here`.
    fn words(&self) -> String {
        let verb = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let mut parts = vec![verb(self.holds, "holds", "hold"), verb(self.fails, "fails", "fail")];
        if self.undecided > 0 {
            parts.push(format!("{} undecided", self.undecided));
        }
        if self.not_run > 0 {
            parts.push(format!("{} not run here", self.not_run));
        }
        parts.join(", ")
    }
}

impl Tally {
    /// Of these claims.
    pub fn of<'a>(claims: impl Iterator<Item = &'a ClaimView>) -> Self {
        let mut tally = Self::default();
        for claim in claims {
            let counts = if claim.unstated { &mut tally.unstated } else { &mut tally.stated };
            counts.count(claim.verdict);
            tally.differing += usize::from(claim.differs());
            tally.new_failures += usize::from(claim.recorded.is_none() && claim.verdict == Verdict::Fails);
            tally.recorded += usize::from(claim.recorded.is_some());
        }
        tally
    }

    /// Total of the claims.
    pub const fn claims(&self) -> usize {
        self.stated.claims() + self.unstated.claims()
    }

    /// `84 claims: 30 hold, 23 fail, 31 not run here; 3 results of ours: 3 hold, 0 fail`.
    pub fn counts(&self) -> String {
        let of = |counts: &Counts, one: &str, many: &str| {
            let n = counts.claims();
            format!("{n} {}: {}", if n == 1 { one } else { many }, counts.words())
        };
        let stated = of(&self.stated, "claim", "claims");
        if self.unstated.claims() == 0 {
            return stated;
        }
        let unstated = of(&self.unstated, "result of ours", "results of ours");
        if self.stated.claims() == 0 { unstated } else { format!("{stated}; {unstated}") }
    }

    /// The comparison of the verdicts with the record, in a sentence.
    pub fn against_the_record(&self) -> String {
        let claims = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        match (self.differing, self.new_failures, self.recorded) {
            (0, 0, 0) => "No verdict is on record.".to_owned(),
            (0, 0, _) => "Every verdict is as recorded.".to_owned(),
            (0, new, _) => format!("{} and is not on record.", claims(new, "claim fails", "claims fail")),
            (n, _, _) => format!("{} from the record.", claims(n, "verdict differs", "verdicts differ")),
        }
    }

    /// Whether a verdict is not the recorded one.
    pub const fn surprises(&self) -> bool {
        self.differing + self.new_failures > 0
    }
}

impl ClaimView {
    /// Whether the verdict is another than the recorded one. A claim that was not run contradicts nothing.
    pub fn differs(&self) -> bool {
        self.verdict != Verdict::NotRunHere && self.recorded.is_some_and(|r| r != self.verdict)
    }
}

impl Section {
    /// A section with nothing but a heading.
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// Its name in the contents.
    pub fn name(&self) -> &str {
        if self.label.is_empty() { &self.heading } else { &self.label }
    }

    /// Number of its claims that fail.
    pub fn failing(&self) -> usize {
        self.claims.iter().filter(|c| c.verdict == Verdict::Fails).count()
    }
}

impl Column {
    /// A column of words.
    pub fn words(name: impl Into<String>) -> Self {
        Self { name: name.into(), unit: String::new(), align: Align::Left }
    }

    /// A column of numbers in a unit.
    pub fn numbers(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into(), align: Align::Right }
    }

    /// A column of verdicts.
    pub fn verdicts(name: impl Into<String>) -> Self {
        Self { name: name.into(), unit: String::new(), align: Align::Verdict }
    }
}

impl TableView {
    /// A table without rows.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { caption: caption.into(), columns, rows: Vec::new(), folded: false }
    }

    /// A table of claims; the first word of each names its section, if it has one.
    pub(crate) fn of_claims<'a>(caption: &str, claims: impl Iterator<Item = (&'a str, &'a ClaimView)>) -> Self {
        // The verdict is near the front, so that a narrow page shows it.
        let columns = vec![
            Column::words("Figure"),
            Column::verdicts("Verdict"),
            Column::words("Claim"),
            Column::words("Bound"),
            Column::words("Measured"),
            Column::words("Remark"),
        ];
        let mut view = Self::new(caption, columns);
        for (place, claim) in claims {
            let mut remarks = Vec::new();
            if claim.unstated {
                remarks.push("result not in the paper".to_owned());
            } else if claim.ours {
                remarks.push("test not in the paper".to_owned());
            }
            if let Some(recorded) = claim.recorded.filter(|_| claim.differs()) {
                remarks.push(format!("recorded: {}", recorded.word()));
            }
            if claim.verdict == Verdict::Undecided && !claim.note.is_empty() {
                remarks.push(claim.note.clone());
            }
            view.rows.push(vec![
                place.to_owned(),
                claim.verdict.word().to_owned(),
                claim.id.clone(),
                claim.bound.clone(),
                claim.measured.clone(),
                remarks.join(", "),
            ]);
        }
        view.drop_empty_columns();
        view
    }

    /// Leaves out columns in which every cell is empty or absent.
    pub fn drop_empty_columns(&mut self) {
        let empty =
            |i: usize| self.rows.iter().all(|r| r.get(i).is_none_or(|c| c.is_empty() || c == crate::number::ABSENT));
        let keep: Vec<bool> = (0..self.columns.len()).map(|i| self.rows.is_empty() || !empty(i)).collect();
        let mut at = keep.iter();
        self.columns.retain(|_| at.next().copied().unwrap_or(true));
        for row in &mut self.rows {
            let mut at = keep.iter();
            row.retain(|_| at.next().copied().unwrap_or(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_its_verdict() {
        for v in [Verdict::Holds, Verdict::Meets, Verdict::Fails, Verdict::Undecided, Verdict::NotRunHere] {
            assert_eq!(Verdict::from_word(v.word()), Some(v));
        }
        assert_eq!(Verdict::from_word("maybe"), None);
    }

    /// A reader of the table alone sees why a claim is undecided. The notes of other claims have their place beside the figure.
    #[test]
    fn an_undecided_claim_has_its_reason_in_the_table() {
        let why = "9 of 12 runs are outside their error bounds";
        let claim = |verdict| ClaimView {
            id: "id".into(),
            quotation: String::new(),
            place: String::new(),
            bound: String::new(),
            measured: String::new(),
            verdict,
            recorded: None,
            ours: false,
            unstated: false,
            certainty: String::new(),
            reason: String::new(),
            note: why.into(),
        };
        let claims = [claim(Verdict::Undecided), claim(Verdict::Fails)];
        let table = TableView::of_claims("", claims.iter().map(|claim| ("Fig. 1", claim)));
        let remarks: Vec<&String> = table.rows.iter().map(|row| &row[row.len() - 1]).collect();
        assert_eq!(remarks, [why, ""]);
    }

    #[test]
    fn empty_columns_go() {
        let mut table = TableView::new("", vec![Column::words("a"), Column::words("b"), Column::words("c")]);
        table.rows = vec![vec!["1".into(), String::new(), "3".into()], vec!["1".into(), crate::number::ABSENT.into()]];
        table.drop_empty_columns();
        assert_eq!(table.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(table.rows, [vec!["1", "3"], vec!["1"]]);
    }
}
