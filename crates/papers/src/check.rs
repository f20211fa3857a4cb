//! Reading `paper.toml`, and its checks before anything runs.

use crate::paper::{Claim, Item, Paper, PaperError, Test};

impl Paper {
    /// Reads `paper.toml`; `file` is how errors name it.
    ///
    /// # Errors
    /// Names the line and the remedy: for a key that is not known, an id that stands twice, a claim about an item
    /// that is not listed, a bound without a measure.
    pub fn parse(text: &str, file: &str) -> Result<Self, PaperError> {
        let at = |offset: usize, what: String| PaperError { file: file.into(), line: line(text, offset), what };
        let paper: Self =
            toml::from_str(text).map_err(|e| at(e.span().map_or(0, |s| s.start), unknown_key(e.message())))?;
        sound(&paper).map_err(|(offset, what)| at(offset, what))?;
        Ok(paper)
    }
}

/// The offset in the text, and the error there.
type Fault = (usize, String);

/// The line of an offset, from 1.
pub fn line(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

/// Our sentence for an unknown key, with the nearest known one; other messages stay as they are.
pub(crate) fn unknown_key(message: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))
    else {
        return message.to_owned();
    };
    let words: Vec<&str> = rest.split('`').step_by(2).collect();
    let Some((key, known)) = words.split_first() else { return message.to_owned() };
    let nearest = known.iter().filter(|k| !k.is_empty()).min_by_key(|k| distance(key, k));
    match nearest.filter(|k| distance(key, k) <= 3) {
        Some(nearest) => format!("unknown key `{key}`; did you mean `{nearest}`?"),
        None => format!("unknown key `{key}`; known here: {}", known.join(", ")),
    }
}

// Levenshtein's distance, one row at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Everything that serde does not see.
fn sound(paper: &Paper) -> Result<(), Fault> {
    if paper.format != 1 {
        return Err((0, format!("format {} is not known; this version reads format 1", paper.format)));
    }
    for (n, i) in paper.items.iter().enumerate() {
        let id = i.id.get_ref();
        let at = i.id.span().start;
        if paper.items[..n].iter().any(|other| other.id.get_ref() == id) {
            return Err((at, format!("the id `{id}` stands twice; each figure and table needs its own")));
        }
        item(i).map_err(|what| (at, format!("item `{id}`: {what}")))?;
    }
    for (n, c) in paper.claims.iter().enumerate() {
        let id = c.id.get_ref();
        let at = c.id.span().start;
        if paper.claims[..n].iter().any(|other| other.id.get_ref() == id) {
            return Err((at, format!("the id `{id}` stands twice; each claim needs its own")));
        }
        let Some(item) = paper.item(c.item.get_ref()) else {
            let known: Vec<&str> = paper.items.iter().map(|i| i.id.get_ref().as_str()).collect();
            let what = format!("no item is named `{}`; the items are {}", c.item.get_ref(), known.join(", "));
            return Err((c.item.span().start, what));
        };
        claim(c, item).map_err(|what| (at, format!("claim `{id}`: {what}")))?;
    }
    reasons(paper)
}

/// Each reason is not empty and of claims that exist, and no claim has two.
fn reasons(paper: &Paper) -> Result<(), Fault> {
    let mut explained: Vec<&str> = Vec::new();
    for reason in &paper.reasons {
        let at = reason.text.span().start;
        if reason.text.get_ref().trim().is_empty() || reason.claims.is_empty() {
            return Err((at, "a reason needs `claims`, their ids, and a `text`".into()));
        }
        for id in &reason.claims {
            let (at, id) = (id.span().start, id.get_ref().as_str());
            if paper.claims.iter().all(|claim| claim.id.get_ref() != id) {
                return Err((at, format!("no claim has the id `{id}`")));
            }
            if explained.contains(&id) {
                return Err((at, format!("the claim `{id}` has two reasons; write one")));
            }
            explained.push(id);
        }
    }
    Ok(())
}

fn item(item: &Item) -> Result<(), String> {
    let plotted = item.x.is_some() || item.y.is_some();
    let shows = plotted || !item.traces.is_empty() || !item.columns.is_empty() || !item.loops.is_empty();
    let computed = item.analysis.is_some() || item.formula.is_some();
    let runs = item.world.is_some() || item.scenario.is_some() || shows || computed;
    match (&item.not_run, runs) {
        (Some(_), true) => return Err("`not_run` and a scenario exclude each other".into()),
        (Some(_), false) => return Ok(()),
        (None, _) => {}
    }
    let sources = [&item.scenario, &item.analysis, &item.formula];
    if sources.iter().filter(|source| source.is_some()).count() > 1 {
        return Err("`scenario`, `analysis` and `formula` exclude each other".into());
    }
    if computed && (item.world.is_some() || !item.traces.is_empty()) {
        return Err("nothing runs over time here: leave `world` and `traces` out".into());
    }
    if item.analysis.is_none() && (!item.at.is_empty() || item.model.is_some()) {
        return Err("`at` and `model` go with `analysis`".into());
    }
    if item.formula.is_some() == item.over.is_empty() {
        return Err("`formula` and `over` go together".into());
    }
    if !computed && !item.loops.is_empty() {
        return Err("`loops` goes with `analysis` or `formula`".into());
    }
    let missing = [
        ("world", !computed && item.world.is_none()),
        ("scenario", !computed && item.scenario.is_none()),
        ("x", item.x.is_none() && (item.y.is_some() || !item.also.is_empty())),
        ("y", item.y.is_none() && (item.x.is_some() || !item.also.is_empty())),
    ];
    if let Some((key, _)) = missing.iter().find(|(_, missing)| *missing) {
        return Err(format!("needs `{key}`, or `not_run` with the reason why it is not run here"));
    }
    if !shows {
        return Err("shows nothing: give `x` and `y`, `traces`, `columns`, or `loops`".into());
    }
    if let Some(wrong) = item.traces.iter().find(|t| !t.contains('.')) {
        return Err(format!("`{wrong}` is no trace: write TABLE.COLUMN, as in links.queue_packets"));
    }
    // A paper is a folder that can be copied, and reads nothing beside it.
    let outside = |path: &&String| path.starts_with('/') || path.split('/').any(|part| part == "..");
    if let Some(path) = item.scenario.iter().chain(&item.analysis).find(outside) {
        return Err(format!(
            "the scenario `{path}` is outside of the paper's folder: write a path relative to paper.toml, without `..`"
        ));
    }
    for path in item.y.iter().chain(&item.also).map(|y| &y.path).chain(item.columns.iter().map(|c| &c.path)) {
        result(path.get_ref())?;
    }
    Ok(())
}

fn claim(claim: &Claim, item: &Item) -> Result<(), String> {
    if claim.quote.is_some() == claim.statement.is_some() {
        return Err("needs `quote` (the paper's wording) or `statement` (ours), not both".into());
    }
    let (Some(measure), Some(test)) = (&claim.measure, &claim.test) else {
        return match (claim.measure.is_some() || claim.test.is_some(), claim.why_not(item).is_some()) {
            (true, _) => Err("`measure` and `test` go together".into()),
            (false, true) => Ok(()),
            (false, false) => Err("needs `measure` and `test`, or `not_run` with the reason".into()),
        };
    };
    if claim.source.is_none() {
        return Err("needs `source`: where its bound comes from".into());
    }
    for path in [Some(measure), claim.minus.as_ref(), claim.over.as_ref()].into_iter().flatten() {
        result(path.get_ref())?;
    }
    match test.get_ref() {
        Test::Within(b) if b.relative.is_some() == b.absolute.is_some() => {
            Err("`within` needs `relative` or `absolute`, not both".into())
        }
        Test::Table(t) if t.relative.is_some() == t.absolute.is_some() => {
            Err("`table` needs `relative` or `absolute`, not both".into())
        }
        Test::Table(t) if t.values.is_empty() => Err("`table` needs `values`".into()),
        Test::Table(_) if claim.minus.is_some() || claim.over.is_some() || claim.reduce.is_some() => {
            Err("`table` compares numbers as they are: leave `minus`, `over` and `reduce` out".into())
        }
        Test::Falls(f) if f.rise_at_most.is_none() && f.drop_at_least.is_none() => {
            Err("`falls` needs `rise_at_most`, `drop_at_least` or both".into())
        }
        Test::Falls(_) | Test::Above(_) | Test::Below(_) | Test::Times(_) | Test::Order(_)
            if claim.reduce.is_some() =>
        {
            Err("a comparison between cells needs them apart: leave `reduce` out".into())
        }
        Test::Above(other) | Test::Below(other) if other.cells.is_empty() => {
            Err("`above` and `below` name the cells to compare with, as in { case = \"FAST\" }".into())
        }
        Test::Times(t) if t.of.is_empty() || (t.at_least.is_none() && t.at_most.is_none()) => {
            Err("`times` names the cells to compare with in `of`, and needs `at_least`, `at_most` or both".into())
        }
        Test::Order(o) if o.rising.len() < 2 => Err("`order` needs two values at least".into()),
        _ => Ok(()),
    }
}

fn result(path: &str) -> Result<(), String> {
    if path.split('.').next() == Some("engine") {
        return Err(format!(
            "`{path}` measures the cost of a run, which differs from run to run: choose a result of the run"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_gets_the_nearest_known_one() {
        let message = "unknown field `wrold`, expected one of `world`, `scenario`";
        assert_eq!(unknown_key(message), "unknown key `wrold`; did you mean `world`?");
        let message = "unknown field `colour`, expected one of `world`, `scenario`";
        assert!(unknown_key(message).starts_with("unknown key `colour`; known here: world"));
        assert_eq!(unknown_key("missing field `id`"), "missing field `id`");
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("world", "wrold"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
