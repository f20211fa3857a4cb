//! Whether a criterion fits its scenarios: axes and values, laws, and the numbers of a run.

use indexmap::{IndexMap, IndexSet};
use penstock_papers::{Values, line};
use penstock_scenario::read::nearest;

use crate::criterion::{Criterion, CriterionError, Measure, Part, within};
use crate::extent::{Extent, Scope, has};
use crate::harm::Harm;
use crate::numbers::Labels;
use crate::outcome::cell_words;

/// Names that a part of a criterion may use.
pub struct Known<'a> {
    /// The labels of every cell of its scenario.
    pub cells: &'a [&'a [(String, String)]],
    /// The laws, by their names.
    pub laws: &'a [&'a str],
    /// Gives the reason why no run of its scenario has a number at this path; none if one may.
    pub lacks: &'a dyn Fn(&str) -> Option<String>,
}

impl Criterion {
    /// Looks for errors in what the criterion names of one of its parts; `text` is the text of the file, and `file` is how errors
    /// name it.
    ///
    /// # Errors
    /// Names the line, the key and the remedy.
    pub fn fits(&self, part: &Part, known: &Known<'_>, text: &str, file: &str) -> Result<(), CriterionError> {
        match self.astray(part, known, text) {
            Some((offset, what)) => Err(CriterionError { file: file.into(), line: line(text, offset), what }),
            None => Ok(()),
        }
    }

    /// The offset of the first error, and the error.
    fn astray(&self, part: &Part, known: &Known<'_>, text: &str) -> Option<(usize, String)> {
        let scenario = part.scenario.get_ref();
        let place = |from: usize, words: &[&str]| within(text, from, words);
        let home = part.scenario.span().start;
        if let Some((word, what)) = part.cells.all().find_map(|(axis, values)| known.astray(scenario, axis, values)) {
            return Some((place(home, &["cells", &word]), format!("cells: {what}")));
        }
        let own = |measure: &&Measure| self.part_of(measure).is_some_and(|other| core::ptr::eq(other, part));
        for measure in self.measures.iter().filter(own) {
            let (at, name) = (measure.name.span().start, measure.name.get_ref());
            let wrong = |words: &[&str], what: String| Some((place(at, words), format!("measure `{name}`: {what}")));
            if let Some((word, what)) = known.beyond(scenario, &measure.cells) {
                return wrong(&["cells", &word], format!("`cells`: {what}"));
            }
            let except = measure.bound.iter().flat_map(|bound| &bound.except).map(|law| ("except", law));
            for (key, law) in measure.laws.iter().map(|law| ("laws", law)).chain(except) {
                if !known.laws.contains(&law.as_str()) {
                    let meant =
                        nearest(law, known.laws).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                    let what = format!("`{key}`: no law has the name `{law}`: {meant}`penstock laws` lists them");
                    return wrong(&[key, &format!("{law:?}")], what);
                }
            }
            let axes = measure.bound.iter().flat_map(|bound| [("along", &bound.along), ("control", &bound.control)]);
            for (key, axis) in axes.filter_map(|(key, axis)| Some((key, axis.as_deref()?))) {
                if known.values(axis).is_empty() {
                    let what = format!("`{key}`: {}", known.no_axis(scenario, axis));
                    return wrong(&[key, &format!("{axis:?}")], what);
                }
            }
            if let Some((word, what)) = measure.harm.as_ref().and_then(|harm| known.without(scenario, harm)) {
                return wrong(&["harm", "alone", &word], format!("`harm`: {what}"));
            }
            if let Some(what) = measure.harm.as_ref().and_then(|harm| known.unpaired(part, measure, harm)) {
                return wrong(&["harm", "alone"], format!("`harm`: {what}"));
            }
            for (key, path) in measure.paths() {
                if let Some(what) = (known.lacks)(path) {
                    return wrong(&[key, &format!("{path:?}")], format!("`{key}` is `{path}`: {what}"));
                }
            }
        }
        let drawn = |name: &String| self.measures.iter().any(|measure| measure.name.get_ref() == name && own(&measure));
        if let Some(maps) = self.heat_maps.as_ref().filter(|maps| maps.measures.iter().any(drawn)) {
            for (key, axis) in [("x", &maps.x), ("y", &maps.y)] {
                if known.values(axis).is_empty() {
                    let from = text.find("[heat_maps]").unwrap_or_default();
                    let at = place(from, &["[heat_maps]", &format!("{axis:?}")]);
                    return Some((at, format!("heat_maps: `{key}`: {}", known.no_axis(scenario, axis))));
                }
            }
        }
        let figure = self.figure.as_ref()?;
        let drawn = self.measures.iter().find(|measure| *measure.name.get_ref() == figure.measure)?;
        if own(&drawn) && figure.x != "law" && known.values(&figure.x).is_empty() {
            let at = place(text.find("[figure]").unwrap_or_default(), &["[figure]", &format!("{:?}", figure.x)]);
            return Some((at, format!("figure: `x`: {}, or `law`", known.no_axis(scenario, &figure.x))));
        }
        None
    }
}

impl Known<'_> {
    /// The first axis or value of these that no cell has: the word in the file, and the error.
    fn beyond(&self, scenario: &str, cells: &IndexMap<String, Values>) -> Option<(String, String)> {
        cells.iter().find_map(|(axis, values)| self.astray(scenario, axis, values))
    }

    /// The first axis or value that no cell has in which others are alone.
    fn without(&self, scenario: &str, harm: &Harm) -> Option<(String, String)> {
        harm.alone.iter().find_map(|(axis, value)| self.astray(scenario, axis, &Values::One(value.clone())))
    }

    /// The error, if an extent runs a cell of a measure without that in which others are alone: no run there would have its harm.
    fn unpaired(&self, part: &Part, measure: &Measure, harm: &Harm) -> Option<String> {
        let own = |labels: &[(String, String)]| -> Labels {
            labels.iter().filter(|(key, _)| is_axis(key)).cloned().collect()
        };
        [Extent::Quick, Extent::Standard, Extent::Full].into_iter().find_map(|extent| {
            let scope = Scope { extent, linux: false };
            let runs = |labels: &[(String, String)]| scope.has(part, labels) && has(&measure.cells, labels);
            let running: IndexSet<Labels> =
                self.cells.iter().filter(|labels| runs(labels)).map(|labels| own(labels)).collect();
            let lacks = |cell: &&Labels| !harm.is_alone(cell) && !running.contains(&harm.alone(cell));
            let cell = running.iter().find(lacks)?;
            let (word, beside, alone) = (extent.word(), cell_words(cell), cell_words(&harm.alone(cell)));
            Some(format!(
                "the {word} extent runs the cell {beside}, and not the one in which others are alone, {alone}; add that to \
                 `cells.{word}`, and to the `cells` of the measure if it has some"
            ))
        })
    }

    fn astray(&self, scenario: &str, axis: &str, values: &Values) -> Option<(String, String)> {
        let known = self.values(axis);
        if known.is_empty() {
            return Some((axis.to_owned(), self.no_axis(scenario, axis)));
        }
        let value = values.all().iter().find(|value| !known.contains(&value.as_str()))?;
        let what = format!("no cell of `{scenario}` has `{axis}` = `{value}`; it has {}", known.join(", "));
        Some((format!("{value:?}"), what))
    }

    /// The values of an axis of the sweep, in its order.
    fn values(&self, axis: &str) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        let labels = self.cells.iter().flat_map(|labels| labels.iter()).filter(|(key, _)| is_axis(key) && key == axis);
        for (_, value) in labels {
            if !found.contains(&value.as_str()) {
                found.push(value);
            }
        }
        found
    }

    fn no_axis(&self, scenario: &str, axis: &str) -> String {
        let mut axes: Vec<&str> = Vec::new();
        for (key, _) in self.cells.iter().flat_map(|labels| labels.iter()).filter(|(key, _)| is_axis(key)) {
            if !axes.contains(&key.as_str()) {
                axes.push(key);
            }
        }
        let known =
            if axes.is_empty() { "its sweep has no axis".into() } else { format!("its axes are {}", axes.join(", ")) };
        format!("no cell of `{scenario}` has `{axis}`; {known}")
    }
}

/// True if a label is of an axis of the sweep.
fn is_axis(key: &str) -> bool {
    key != "law" && key != "seed"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::tests::GOOD;

    const FIGURE: &str = "\n[figure]\nx = \"path\"\nmeasure = \"standing-queue\"\n\n[heat_maps]\nx = \"path\"\n\
        y = \"links.bottleneck.buffer\"\nmeasures = [\"standing-queue\"]\n";

    fn error(from: &str, to: &str) -> Option<String> {
        let good = format!("{GOOD}{FIGURE}");
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let criterion = Criterion::parse(&text, "EV-04.toml").unwrap();
        let cell = |path: &str, buffer: &str| {
            let labels = [("law", "fast"), ("links.bottleneck.buffer", buffer), ("path", path), ("seed", "1")];
            labels.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec()
        };
        let cells = [cell("P-dsl", "1 bdp"), cell("P-bb", "8 bdp")];
        let lacks = |path: &str| path.contains("standin_queue").then(|| "no summary has it".to_owned());
        let known = Known { cells: &cells.each_ref().map(Vec::as_slice), laws: &["vegas", "fast"], lacks: &lacks };
        criterion.fits(&criterion.parts[0], &known, &text, "EV-04.toml").err().map(|e| e.to_string())
    }

    /// Each name of something that is not there is an error at its line.
    #[test]
    fn what_a_criterion_names_has_to_be_there() {
        assert_eq!(error("path = \"P-dsl\"", "path = \"P-bb\""), None);
        for (from, to, words) in [
            (
                "\"8 bdp\"]",
                "\"9 bdp\"]",
                "EV-04.toml, line 13: cells: no cell of `long-flows` has `links.bottleneck.buffer` = `9 bdp`; it has 1 bdp, 8 bdp",
            ),
            (
                "{ path = \"P-dsl\"",
                "{ paht = \"P-dsl\"",
                "line 13: cells: no cell of `long-flows` has `paht`; its axes are links.bottleneck.buffer, path",
            ),
            (
                "source = \"ours\" }",
                "source = \"ours\" }\ncells = { seed = \"1\" }",
                "line 20: measure `standing-queue`: `cells`: no cell of `long-flows` has `seed`",
            ),
            (
                "source = \"ours\" }",
                "source = \"ours\" }\ncells = { path = [\"P-dsl\", \"P-gig\"] }",
                "line 20: measure `standing-queue`: `cells`: no cell of `long-flows` has `path` = `P-gig`; it has P-dsl, P-bb",
            ),
            (
                "source = \"ours\" }",
                "source = \"ours\" }\nexponent = [\"flows.0.rtt_s\", \"flows.1.standin_queue_s\"]",
                "line 20: measure `standing-queue`: `exponent` is `flows.1.standin_queue_s`: no summary has it",
            ),
            (
                "source = \"ours\" }",
                "source = \"ours\" }\nlaws = [\"vegass\"]",
                "line 20: measure `standing-queue`: `laws`: no law has the name `vegass`: did you mean `vegas`?",
            ),
            (
                "at_most_times = 2.0, of = \"newreno\",",
                "at_most = 2.0, except = [\"fest\"],",
                "line 19: measure `standing-queue`: `except`: no law has the name `fest`",
            ),
            (
                "at_most_times = 2.0, of = \"newreno\"",
                "at_least_of_largest = 0.9, along = \"buffer\"",
                "line 19: measure `standing-queue`: `along`: no cell of `long-flows` has `buffer`",
            ),
            (
                "at_most_times = 2.0, of = \"newreno\"",
                "at_most = 2.0, control = \"other\"",
                "line 19: measure `standing-queue`: `control`: no cell of `long-flows` has `other`",
            ),
            (
                "standing_queue_s",
                "standin_queue_s",
                "line 18: measure `standing-queue`: `path` is `links.bottleneck.dynamics.standin_queue_s`: no summary has it",
            ),
            (
                "bound = { at_most_times = 2.0, of = \"newreno\", source = \"ours\" }",
                "harm = { alone = { path = \"alone\" }, better = \"less\" }",
                "line 19: measure `standing-queue`: `harm`: no cell of `long-flows` has `path` = `alone`; it has P-dsl, P-bb",
            ),
            (
                "bound = { at_most_times = 2.0, of = \"newreno\", source = \"ours\" }",
                "harm = { alone = { setting = \"alone\" }, better = \"less\" }",
                "line 19: measure `standing-queue`: `harm`: no cell of `long-flows` has `setting`; its axes are",
            ),
            (
                "bound = { at_most_times = 2.0, of = \"newreno\", source = \"ours\" }",
                "harm = { alone = { path = \"P-bb\" }, better = \"less\" }",
                "line 19: measure `standing-queue`: `harm`: the quick extent runs the cell buffer 1 bdp, path P-dsl, and not the one in \
                 which others are alone, buffer 1 bdp, path P-bb; add that to `cells.quick`",
            ),
            (
                "y = \"links.bottleneck.buffer\"",
                "y = \"buffer\"",
                "line 27: heat_maps: `y`: no cell of `long-flows` has `buffer`; its axes are links.bottleneck.buffer, path",
            ),
            ("x = \"path\"", "x = \"buffer\"", "line 22: figure: `x`: no cell of `long-flows` has `buffer`"),
        ] {
            let error = error(from, to).unwrap_or_default();
            assert!(error.contains(words), "{to}: {error}");
        }
    }
}
