//! Errors of a scenario: every error of a file, each in one sentence with its position.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::origin::Origin;
use crate::visible::cut;

/// The most errors of one document that are kept.
const MOST_KEPT: usize = 100;
/// The most errors that are printed; the others are counted.
pub(super) const MOST_SHOWN: usize = 20;
/// The most characters of each part of an error: a name or a value may be as long as the file.
const MOST_KEY: usize = 200;
const MOST_FOUND: usize = 400;
const MOST_REMEDY: usize = 2000;
/// Length of a long line that an excerpt has on either side of its span [B].
const AROUND: usize = 100;

/// One error: position, text found and valid text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ReadError {
    /// The file, as its reader named it.
    pub file: Arc<str>,
    /// The line, counted from one; none where the text does not come from the file.
    pub line: Option<u32>,
    /// The column in characters, counted from one, where the line is known and the text is at hand.
    pub column: Option<u32>,
    /// The dotted path of the key, empty where the text is not TOML.
    pub key: String,
    /// The text found.
    pub found: String,
    /// The remedy: texts that are valid instead.
    pub remedy: String,
    /// The `--set` it came from, and the cell of the sweep it occurred in.
    pub context: Option<String>,
    /// The line it is on, where the text is at hand.
    pub excerpt: Option<Excerpt>,
}

/// A line of a file with the part that an error is about. Of a long line it has only the surroundings of that part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, without its end.
    pub text: String,
    /// The part [B].
    pub span: Range<usize>,
}

/// All errors of a document in the order of the file, at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ReadErrors {
    all: Vec<ReadError>,
    /// Number of errors besides.
    beyond: usize,
}

impl ReadErrors {
    /// The errors.
    pub fn all(&self) -> &[ReadError] {
        &self.all
    }

    /// Those to print, and how many there are besides.
    pub fn shown(&self) -> (&[ReadError], usize) {
        let shown = self.all.len().min(MOST_SHOWN);
        (&self.all[..shown], self.all.len() - shown + self.beyond)
    }

    /// These, and others of the same document.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.all.extend(others.all);
        self.beyond += others.beyond;
        self
    }
}

/// One line an error.
impl fmt::Display for ReadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, more) = self.shown();
        for (at, error) in shown.iter().enumerate() {
            write!(f, "{}{error}", if at == 0 { "" } else { "\n" })?;
        }
        if more > 0 { write!(f, "\nand {more} more") } else { Ok(()) }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}: {}", self.found, self.remedy)?;
        if let Some(context) = &self.context {
            write!(f, " ({context})")?;
        }
        Ok(())
    }
}

/// An error was reported, so that there is no value. Whatever would need that value is left unread, and so no error is
/// the consequence of another. Only [`Errors`] makes one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reported(());

/// Where the errors of a document are gathered while it is read.
pub(super) struct Errors {
    file: Arc<str>,
    text: Arc<str>,
    /// Start of each line, computed at the first use.
    starts: OnceCell<Vec<usize>>,
    said: RefCell<Said>,
    may_lack_keys: Cell<bool>,
}

#[derive(Default)]
struct Said {
    /// With the position by which they are sorted.
    kept: Vec<(usize, ReadError)>,
    /// Reported errors, by position and the last part of the key: a default that is wrong is wrong in each link that has it,
    /// and a value that is wrong is wrong in each cell of the sweep.
    seen: BTreeSet<(usize, String)>,
    beyond: usize,
    reported: usize,
}

impl Errors {
    pub(super) fn of(file: &Arc<str>, text: &Arc<str>) -> Self {
        Self {
            file: file.clone(),
            text: text.clone(),
            starts: OnceCell::new(),
            said: RefCell::default(),
            may_lack_keys: Cell::new(false),
        }
    }

    /// From now on a key that is missing is no error of its own, for one was reported where it may have been.
    pub(super) fn let_keys_be_missing(&self) {
        self.may_lack_keys.set(true);
    }

    /// Whether a key that is missing is no error of its own.
    pub(super) fn may_lack_keys(&self) -> bool {
        self.may_lack_keys.get()
    }

    /// Whether no more errors are kept: those that follow are only counted, and need neither a place nor a remedy.
    pub(super) fn is_full(&self) -> bool {
        self.said.borrow().seen.len() >= MOST_KEPT
    }

    /// Reports an error at a position.
    pub(super) fn report(&self, origin: &Origin, key: &str, found: &str, remedy: &str) -> Reported {
        let (at, context) = match origin {
            Origin::File(span) => (span.start, None),
            Origin::Setting(setting) => (usize::MAX, Some(format!("from `{}`", cut(setting, MOST_KEY)))),
        };
        let last = match (origin, key.rsplit_once('.')) {
            (Origin::Setting(setting), last) => format!("{setting} {}", last.map_or(key, |(_, last)| last)),
            (_, last) => last.map_or(key, |(_, last)| last).to_owned(),
        };
        if self.is_full() {
            return self.count_in(at, last);
        }
        let place = if let Origin::File(span) = origin { Some(self.place(span)) } else { None };
        let (position, excerpt) = place.map_or((None, None), |(line, column, excerpt)| (Some((line, column)), excerpt));
        let error = ReadError {
            file: self.file.clone(),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            key: cut(key, MOST_KEY).into_owned(),
            found: cut(found, MOST_FOUND).into_owned(),
            remedy: cut(remedy, MOST_REMEDY).into_owned(),
            context,
            excerpt,
        };
        self.keep(at, last, error)
    }

    /// Reports an error in another file, which the value at `origin` names.
    pub(super) fn elsewhere(&self, origin: &Origin, error: ReadError) -> Reported {
        let at = if let Origin::File(span) = origin { span.start } else { usize::MAX };
        self.keep(at, error.file.to_string(), error)
    }

    fn keep(&self, at: usize, last: String, error: ReadError) -> Reported {
        if self.is_full() {
            return self.count_in(at, last);
        }
        let mut said = self.said.borrow_mut();
        said.reported += 1;
        if said.seen.insert((at, last)) {
            said.kept.push((at, error));
        }
        Reported(())
    }

    /// Counts an error at a key of a table, where no more are kept.
    pub(super) fn one_more(&self, origin: &Origin, key: &str) -> Reported {
        let at = if let Origin::File(span) = origin { span.start } else { usize::MAX };
        self.count_in(at, key.to_owned())
    }

    /// Counts an error that is not kept.
    fn count_in(&self, at: usize, last: String) -> Reported {
        let mut said = self.said.borrow_mut();
        said.reported += 1;
        said.beyond += usize::from(!said.seen.contains(&(at, last)));
        Reported(())
    }

    /// Number of errors reported so far, the same error counted each time.
    pub(super) fn count(&self) -> usize {
        self.said.borrow().reported
    }

    /// For values that cannot be read because of an error that was reported elsewhere.
    pub(super) fn already(&self) -> Reported {
        debug_assert!(self.count() > 0, "an error was reported");
        Reported(())
    }

    /// All of `read`, if nothing was wrong with any of them or reported since there were `known` errors.
    pub(super) fn each<T>(
        &self,
        known: usize,
        read: impl Iterator<Item = Result<T, Reported>>,
    ) -> Result<Vec<T>, Reported> {
        let (mut all, mut wrong) = (Vec::new(), None);
        for one in read {
            match one {
                Ok(one) => all.push(one),
                Err(reported) => wrong = Some(reported),
            }
        }
        match wrong {
            None if self.count() == known => Ok(all),
            _ => Err(Reported(())),
        }
    }

    /// Number of different errors kept so far.
    pub(super) fn kept(&self) -> usize {
        self.said.borrow().kept.len()
    }

    /// Adds the context to the errors that were kept after the first `known`.
    pub(super) fn happened(&self, known: usize, cell: &str) {
        for (_, error) in &mut self.said.borrow_mut().kept[known..] {
            let cell = format!("first in the cell {}", cut(cell, MOST_FOUND));
            error.context = Some(error.context.take().map_or(cell.clone(), |context| format!("{context}; {cell}")));
        }
    }

    /// All errors, if there are any.
    pub(super) fn all(self) -> Option<ReadErrors> {
        let Said { mut kept, beyond, .. } = self.said.into_inner();
        // The sort is stable: errors at one place keep the order in which they were met.
        kept.sort_by_key(|(at, _)| *at);
        // Each value of a swept key that is unknown is the same error.
        let mut said = BTreeSet::new();
        kept.retain(|(_, error)| {
            let ReadError { line, key, found, remedy, .. } = error;
            line.is_none() || said.insert((*line, key.clone(), found.clone(), remedy.clone()))
        });
        (!kept.is_empty()).then(|| ReadErrors { all: kept.into_iter().map(|(_, error)| error).collect(), beyond })
    }

    /// The errors, of which there must be one.
    pub(super) fn because(self, _: Reported) -> ReadErrors {
        self.all().unwrap_or_else(|| unreachable!("an error was reported"))
    }

    /// The line of a position.
    pub(super) fn line(&self, origin: &Origin) -> Option<u32> {
        if let Origin::File(span) = origin { Some(self.place(span).0) } else { None }
    }

    pub(super) fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// Line, column and line of text of a span.
    fn place(&self, span: &Range<usize>) -> (u32, u32, Option<Excerpt>) {
        let text = &*self.text;
        let starts = self
            .starts
            .get_or_init(|| std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect());
        let line = starts.partition_point(|start| *start <= span.start).max(1);
        let start = starts[line - 1];
        let whole = text[start..].lines().next().unwrap_or_default();
        let (from, to) = (span.start - start, span.end.min(start + whole.len()).saturating_sub(start));
        let before = whole.get(..from).unwrap_or(whole);
        let column = before.trim_start_matches('\u{feff}').chars().count() + 1;
        // What is missing from the file as a whole has no place in it.
        let excerpt = if span.is_empty() { None } else { excerpt(whole, from, to) };
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX), excerpt)
    }
}

/// A line with its part from `from` to `to`, cut where it is long.
fn excerpt(line: &str, from: usize, to: usize) -> Option<Excerpt> {
    if line.trim().is_empty() {
        return None;
    }
    let edge = |mut at: usize| {
        at = at.min(line.len());
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (mut from, mut to) = (edge(from), edge(to.max(from)));
    // What was expected after the end of a line is shown at its last character.
    if from == to {
        (from, to) = (edge(line.trim_end().len().min(from).saturating_sub(1)), line.len());
    }
    let start = edge(from.saturating_sub(AROUND));
    let end = edge(to.min(from + AROUND) + AROUND);
    let (mut text, mut shift) = (String::new(), 0);
    if start > 0 {
        text += "...";
        shift = 3;
    }
    text += &line[start..end];
    if end < line.len() {
        text += "...";
    }
    let span = from - start + shift..to.min(end) - start + shift;
    Some(Excerpt { text, span })
}

/// The name in `known` that `word` was probably meant to be.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    let near = known.iter().map(|k| (distance(&lower, &k.to_lowercase()), *k)).min_by_key(|(d, _)| *d)?;
    if near.0 <= allowed {
        return Some(near.1);
    }
    // `reno` is four letters of `newreno`, and three away from it.
    let mut longer = known.iter().filter(|known| lower.len() >= 4 && known.to_lowercase().contains(&lower));
    let only = longer.next().copied();
    only.filter(|_| longer.next().is_none())
}

/// The remedy for an unknown name: the nearest one, and all there are.
pub(super) fn offer(word: &str, known: &[&str], noun: &str) -> String {
    if known.is_empty() {
        return format!("there is no {noun} here");
    }
    let mut listed = known.iter().take(30).map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
    if known.len() > 30 {
        listed += ", ...";
    }
    match nearest(word, known) {
        Some(near) => format!("did you mean `{near}`? Known: {listed}"),
        None => format!("known: {listed}"),
    }
}

/// Insertions, deletions, replacements and swaps of neighbours (Damerau and Levenshtein) that lead from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(40).collect(), b.chars().take(40).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_is_recognised_and_a_different_word_is_not() {
        let known = ["rate", "delay", "buffer", "droptail"];
        for (word, near) in [("rte", "rate"), ("dealy", "delay"), ("Buffer", "buffer"), ("drop-tail", "droptail")] {
            assert_eq!(nearest(word, &known), Some(near));
        }
        assert_eq!(nearest("scheduler", &known), None);
        assert_eq!(nearest("", &known), None);
    }

    #[test]
    fn a_part_of_one_name_only_means_that_name() {
        let known = ["newreno", "fq-codel", "codel-like"];
        for (word, near) in [("reno", Some("newreno")), ("codel", None), ("ren", None), ("new", None)] {
            assert_eq!(nearest(word, &known), near, "{word}");
        }
    }
}
