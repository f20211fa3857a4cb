//! What is wrong with a scenario, in one sentence.

use std::fmt;
use std::sync::Arc;

/// Why a scenario cannot be read: where, what was found and what would do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ReadError {
    /// The file, as its reader named it.
    pub file: Arc<str>,
    /// The line, counted from one; none where the text does not come from the file.
    pub line: Option<u32>,
    /// The dotted path of the key, empty where the text is not TOML.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What would do.
    pub remedy: String,
    /// The `--set` it came from, and the cell of the sweep it happened in.
    pub context: Option<String>,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
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

/// The name in `known` that `word` was probably meant to be.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let near = known.iter().map(|k| (distance(&lower, &k.to_lowercase()), *k)).min_by_key(|(d, _)| *d)?;
    let allowed = (word.chars().count() / 3).max(1);
    (near.0 <= allowed).then_some(near.1)
}

/// What would do instead of an unknown name: the nearest one, and all there are.
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
}
