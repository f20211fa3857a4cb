//! The page of an evaluation as Markdown for an Internet-Draft: tables of kramdown-rfc, 72 columns at most.

use std::fmt::Write as _;

use indexmap::IndexSet;
use penstock_report::number::{ABSENT, Prefix, quantity, short};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use crate::criterion::Battery;
use crate::outcome::{Beside, BesideRow, CellOutcome, Evaluation, Measured, Numbers, Outcome, cell_words};
use crate::statistics::Verdict;

/// The most columns of a line (RFC 7994, section 4.3).
pub const WIDTH: usize = 72;

/// An end of an interval that is more times away than this says nothing more.
const FAR: f64 = 1000.0;

/// The texts that RFC 9743 requires and no run can write: each with its section.
pub(crate) const TEXTS: [(&str, &str); 4] = [
    ("RFC 9743, 5.3.1", "the deviations from the principles of RFC 2914 and RFC 7141, and their reasons"),
    ("RFC 9743, 5.3.2", "whether the algorithm can be deployed step by step, and what that needs"),
    ("RFC 9743, 6.2", "whether the algorithm relies on explicit signals, and how tunnels change these signals"),
    ("Security considerations", "what an attacker or a receiver that cheats can reach with the algorithm"),
];

/// The limits of all criteria, so that nobody takes silence for a pass.
pub(crate) const NOT_SIMULATED: &str = "Radio channels and their medium access; signals across layers; receive offload; limits of \
    processors; real applications; receivers that acknowledge ahead, or parts of packets, or hide losses.";

/// The hosts in the scenarios of criteria.
pub(crate) const HOSTS: &str =
    "Senders are those of today's Linux: SACK, RACK-TLP, PRR, and an initial window of 10 packets.";

/// The tests behind the verdicts of cells.
pub(crate) const TESTS: &str = "A bound that is a multiple of a baseline's number is tested by quotients, and not by the interval of the number. As long as a cell \
     may get more seeds, its verdict goes by the interval of 99.9 %. A cell is not judged where the incumbents among themselves break \
     the bound.";

/// The page, with the command that makes it. The same evaluation gives the same bytes.
pub fn write(evaluation: &Evaluation, command: &str) -> String {
    let mut page = String::new();
    let mut line = |text: &str| {
        page.push_str(text);
        page.push('\n');
    };
    line(&format!("# Evaluation of {}", evaluation.law));
    line("");
    for paragraph in introduction(evaluation, command) {
        line(&wrapped(&paragraph));
        line("");
    }
    line("## Criteria");
    line("");
    line(&summary_tables(evaluation));
    if let Some(broken) = broken(evaluation) {
        line("");
        line("## Bounds that the law breaks");
        line("");
        line(&broken);
    }
    if let Some(open) = open(evaluation) {
        line("");
        line("## Undecided, not evaluated, or not applicable");
        line("");
        line(&open);
    }
    if let Some(beside) = &evaluation.beside {
        line("");
        line(&worlds(&evaluation.world, beside));
    }
    for outcome in &evaluation.criteria {
        line("");
        line(&block(evaluation, outcome));
    }
    line("");
    line("## Not simulated");
    line("");
    line(&wrapped(NOT_SIMULATED));
    if asks_for_texts(evaluation) {
        line("");
        line("## To be written by the author");
        line("");
        let texts: Vec<String> = TEXTS.iter().map(|(place, what)| format!("{place}: {what}.")).collect();
        line(&list(texts.iter().map(String::as_str)));
    }
    page.trim_end().to_owned() + "\n"
}

/// The law, the extent and the method of the evaluation.
fn introduction(evaluation: &Evaluation, command: &str) -> Vec<String> {
    let Evaluation { setting, source, code, version, .. } = evaluation;
    vec![
        format!(
            "Law: `{setting}`. Source: {source}. Beside it, in the same cells and with the same seeds: {}.",
            evaluation.baselines.join(", ")
        ),
        format!("{}. Penstock {version}, code: {}. {HOSTS}", amount(evaluation), code.get(..24).unwrap_or(code)),
        format!(
            "A number is the mean over seeds with its 95 % confidence interval; of ratios, times and rates it is the geometric mean. \
             `meets` and `fails` say that the whole interval keeps the bound or misses it, `undecided` that it does neither. A number in \
             brackets behind `undecided` is about the number of seeds that would decide. {TESTS} Of many cells, a failure counts if it \
             survives Holm's correction over the cells of its criterion: `fails (H)` does not survive. A star marks a cell that is not \
             stationary. If the seeds fall into two groups, each seed's number is there."
        ),
        format!("Verdicts: {}", verdicts(evaluation)),
        format!("Reproduce: `{command}`."),
    ]
}

/// The number of each verdict, and the bounds that the law fails where a document has a MUST. The documents have few bounds themselves.
pub(crate) fn verdicts(evaluation: &Evaluation) -> String {
    let mut text = format!("{}.", evaluation.counted());
    let musts: Vec<&str> = evaluation.failed_musts().map(|outcome| outcome.id.as_str()).collect();
    if !musts.is_empty() {
        let _ = write!(text, " Bounds that the law fails in criteria of level MUST: {}.", musts.join(", "));
    }
    text
}

/// The number of runs, with the seeds, and of analyses.
pub(crate) fn amount(evaluation: &Evaluation) -> String {
    let Evaluation { runs, analyses, world, seeds, .. } = evaluation;
    let mut parts = Vec::new();
    if *runs > 0 || *analyses == 0 {
        let mut text = format!("{runs} runs in the {world} world");
        if let (1.., [first, more @ ..]) = (*runs, &seeds[..]) {
            let _ = write!(text, ", seeds 1 to {first} in each cell");
            if let Some(most) = more.last() {
                let _ = write!(text, ", up to {most} in undecided cells");
            }
        }
        parts.push(text);
    }
    if *analyses > 0 {
        parts.push(format!("{analyses} analyses, which have no seeds"));
    }
    parts.join("; ")
}

/// True if the criteria are those of a document that asks its author for texts.
pub(crate) fn asks_for_texts(evaluation: &Evaluation) -> bool {
    evaluation.criteria.iter().any(|outcome| outcome.battery != Battery::Queue)
}

/// The parts of a criterion that did not run, with the reasons; none if all did.
pub(crate) fn not_run(outcome: &Outcome) -> Option<String> {
    let said = outcome.not_run.iter().map(|one| format!("The part `{}` did not run: {}.", one.part, one.why));
    Some(said.collect::<Vec<_>>().join(" ")).filter(|said| !said.is_empty())
}

/// The tables of all criteria: their verdicts, and their numbers in the worst cell of the measure that decides, without intervals.
fn summary_tables(evaluation: &Evaluation) -> String {
    let verdict = |outcome: &Outcome| vec![outcome.id.clone(), outcome.title.clone(), outcome.verdict.to_string()];
    let verdicts: Vec<Vec<String>> = evaluation.criteria.iter().map(verdict).collect();
    let verdicts = table(&["Id", "Criterion", "Verdict"], &verdicts);
    let row = |outcome: &Outcome| {
        let (measured, cell) = outcome.headline()?;
        let show = |x: f64| quantity(x, &measured.unit, 3);
        let lacks = cell.runs() > cell.law.seeds.len() || cell.law.bimodal;
        let own = if lacks { briefly(cell, &show) } else { show(cell.law.mean) };
        let theirs = evaluation.baselines.iter().map(|name| of_baseline(cell, name, &show));
        Some([outcome.id.clone(), own].into_iter().chain(theirs).collect())
    };
    let rows: Vec<Vec<String>> = evaluation.criteria.iter().filter_map(row).collect();
    if rows.is_empty() {
        return verdicts;
    }
    let about =
        "The numbers are those of the worst cell of the measure that decides; the section of the criterion names both.";
    let names = evaluation.baselines.iter().map(String::as_str);
    let heads: Vec<&str> = ["Id", evaluation.law.as_str()].into_iter().chain(names).collect();
    format!("{verdicts}\n{}\n\n{}", wrapped(about), table(&heads, &rows))
}

/// The bounds that the law breaks, each with its measure, its worst cell and the numbers of the baselines there; none if there is none.
fn broken(evaluation: &Evaluation) -> Option<String> {
    let one = |outcome: &Outcome| {
        let (measured, cell) = outcome.headline()?;
        let show = |x: f64| quantity(x, &measured.unit, 3);
        let bound = measured.bound.as_deref().unwrap_or_default();
        let level = if outcome.level == "none" { String::new() } else { format!(", {}", outcome.level) };
        let mut text = format!(
            "{}, {} ({}{level}): {}, {} at {}; bound: {bound}",
            outcome.id,
            outcome.title,
            outcome.place(),
            measured.title,
            briefly(cell, &show),
            cell.words()
        );
        for name in &evaluation.baselines {
            let _ = write!(text, "; {name}: {}", of_baseline(cell, name, &show));
        }
        Some(text + ".")
    };
    let failing = evaluation.criteria.iter().filter(|outcome| outcome.verdict == Verdict::Fails);
    let found: Vec<String> = failing.filter_map(one).collect();
    (!found.is_empty()).then(|| list(found.iter().map(String::as_str)))
}

/// The criteria without an answer, with the reasons; none if there is none.
fn open(evaluation: &Evaluation) -> Option<String> {
    let one = |outcome: &Outcome| {
        let Outcome { id, title, verdict, .. } = outcome;
        let why = match (verdict, &outcome.why) {
            (Verdict::NotEvaluated | Verdict::NotApplicable, Some(why)) => why.trim_end_matches('.').to_owned(),
            (Verdict::Undecided, _) => {
                let (measured, cell) = outcome.headline()?;
                format!("{} at {}", measured.title, cell.words())
            }
            _ => return None,
        };
        Some(format!("{id}, {title}, {verdict}: {why}."))
    };
    let found: Vec<String> = evaluation.criteria.iter().filter_map(one).collect();
    (!found.is_empty()).then(|| list(found.iter().map(String::as_str)))
}

/// A mean with its interval; `show` gives a number its unit.
pub(crate) fn number(numbers: &Numbers, show: &dyn Fn(f64) -> String) -> String {
    let mean = numbers.mean;
    match numbers.interval {
        Some((low, high)) if low < high => {
            format!("{} ({} to {})", show(mean), end(low, mean, show), end(high, mean, show))
        }
        _ => show(mean),
    }
}

/// An end of the interval of a mean.
pub(crate) fn end(end: f64, mean: f64, show: &dyn Fn(f64) -> String) -> String {
    if mean > 0.0 && end > FAR * mean {
        format!("over {}", show(FAR * mean))
    } else if end > 0.0 && FAR * end < mean {
        format!("under {}", show(mean / FAR))
    } else {
        show(end)
    }
}

/// The number of the law in a cell, of each seed if the mean describes none; and in how many runs it is where some lack it.
pub(crate) fn in_cell(cell: &CellOutcome, show: &dyn Fn(f64) -> String) -> String {
    let Numbers { seeds, bimodal, bootstrap, .. } = &cell.law;
    let all = cell.runs();
    let mut text = String::new();
    if *bimodal {
        let seeds: Vec<String> = seeds.iter().map(|x| show(*x)).collect();
        let _ = write!(text, "seeds: {}", seeds.join(", "));
        if let Some((low, high)) = bootstrap {
            let _ = write!(text, "; mean {} to {}", show(*low), show(*high));
        }
    } else if !seeds.is_empty() {
        text = number(&cell.law, show);
    }
    if cell.absent == all {
        let _ = write!(text, "in none of {all} runs");
    } else if cell.absent > 0 {
        let _ = write!(text, " in {} of {all} runs", all - cell.absent);
    }
    if cell.unlimited > 0 {
        let _ = write!(text, " infinite in {} of {all} runs", cell.unlimited);
    }
    text.trim_start().to_owned()
}

/// The same in a table of all criteria: of two groups of seeds the least and the largest number, as a section has each seed.
pub(crate) fn briefly(cell: &CellOutcome, show: &dyn Fn(f64) -> String) -> String {
    let Numbers { seeds, bimodal, .. } = &cell.law;
    if !bimodal || cell.absent + cell.unlimited > 0 {
        return in_cell(cell, show);
    }
    let (least, most) = seeds.iter().fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(*x), most.max(*x)));
    format!("{} to {}, two groups", show(least), show(most))
}

/// The mean of a baseline in a cell; a dash if it has none.
pub(crate) fn of_baseline(cell: &CellOutcome, name: &str, show: &dyn Fn(f64) -> String) -> String {
    match cell.baselines.get(name) {
        None => ABSENT.to_owned(),
        Some(numbers) if numbers.seeds.is_empty() => "infinite".to_owned(),
        // The mean of the runs that have a finite number is not that of all.
        Some(numbers) if numbers.seeds.len() < cell.runs() => {
            format!("{} in {} of {} runs", show(numbers.mean), numbers.seeds.len(), cell.runs())
        }
        Some(numbers) => show(numbers.mean),
    }
}

/// The folder of the worst cells' scenarios, in the directory of an evaluation.
pub const WORST_CELLS: &str = "worst-cells";

/// The file of the scenario of a criterion's worst cell.
pub(crate) fn worst_cell(id: &str) -> String {
    format!("{WORST_CELLS}/{id}.toml")
}

/// The cell that decides, its scenario, and the file that runs again.
pub(crate) fn deciding(outcome: &Outcome) -> Option<String> {
    let (measured, cell) = outcome.headline()?;
    let number = in_cell(cell, &|x| quantity(x, &measured.unit, 3));
    let mut text = format!("Worst cell: {}, {number} at {}. ", measured.title, cell.words());
    let _ = write!(text, "Scenario: `scenarios/{}.toml`.", measured.scenario);
    if let Some(run) = &cell.run {
        let _ = write!(text, " With the first seed it is `{}` beside this page. ", worst_cell(&outcome.id));
        let _ = write!(text, "Hash of that scenario: {run}.");
    }
    Some(text)
}

/// The measurements of one criterion.
fn block(evaluation: &Evaluation, outcome: &Outcome) -> String {
    let mut text = format!("## {}: {}\n\n", outcome.id, outcome.title);
    let _ = writeln!(text, "{}\n", wrapped(&format!("{}. {}", outcome.weight(), outcome.requirement)));
    let mut verdict = format!("Verdict: {}.", outcome.verdict);
    if let Some(why) = &outcome.why {
        let _ = write!(verdict, " {}.", why.trim_end_matches('.'));
    }
    if !outcome.notes.is_empty() {
        let _ = write!(verdict, " {}", outcome.notes);
    }
    let _ = writeln!(text, "{}", wrapped(&verdict));
    if let Some(missing) = not_run(outcome) {
        let _ = writeln!(text, "\n{}", wrapped(&missing));
    }
    if let Some(deciding) = deciding(outcome) {
        let _ = writeln!(text, "\n{}", wrapped(&deciding));
    }
    for measured in &outcome.measures {
        text.push_str(&cells(evaluation, measured));
    }
    text.trim_end().to_owned()
}

/// A measure in its cells; of many those that decide and the worst, and the others are left to the JSON file.
fn cells(evaluation: &Evaluation, measured: &Measured) -> String {
    const MOST: usize = 8;
    let mut order: Vec<&CellOutcome> = measured.cells.iter().collect();
    if measured.cells.len() > MOST {
        // The cells that decide first, then those with the worst numbers.
        let rank = |cell: &CellOutcome| match (measured.bound.is_some(), cell.verdict) {
            (true, Verdict::Fails) => 0,
            (true, Verdict::Undecided) => 1,
            _ => 2,
        };
        order.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| measured.worse(b, a)));
        order.truncate(MOST);
    }
    // One unit for all numbers leaves room for them.
    let largest = order.iter().map(|cell| cell.law.mean.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let prefix = Prefix::for_value(largest, &measured.unit);
    let show = |x: f64| short(x / prefix.factor, 3);
    // Markdown takes square brackets for links.
    let mut about = measured.title.replace('[', "(").replace(']', ")");
    if !measured.unit.is_empty() {
        let _ = write!(about, " ({}{})", prefix.symbol, measured.unit);
    }
    let _ = write!(about, ": {}", measured.verdict);
    if let (Some(bound), Some(source)) = (&measured.bound, &measured.source) {
        let _ = write!(about, "; bound: {bound} ({source})");
    }
    if let Some(why) = &measured.absent {
        let _ = write!(about, "; runs without it: {why}");
    }
    let row = |cell: &&CellOutcome| {
        let mut sign = match (measured.bound.is_some(), cell.verdict, cell.needed) {
            (false, ..) => String::new(),
            _ if cell.control_breaks => "not judged".to_owned(),
            (true, Verdict::Fails, _) if !cell.survives => "fails (H)".to_owned(),
            (true, verdict, Some(seeds)) => format!("{verdict} ({seeds})"),
            (true, verdict, None) => verdict.to_string(),
        };
        if cell.drifts {
            sign.push_str(" *");
        }
        let mut row = vec![cell.words(), in_cell(cell, &show)];
        row.extend(evaluation.baselines.iter().map(|name| of_baseline(cell, name, &show)));
        row.push(sign);
        row
    };
    let rows: Vec<Vec<String>> = order.iter().map(row).collect();
    let mut heads = vec!["Cell", evaluation.law.as_str()];
    heads.extend(evaluation.baselines.iter().map(String::as_str));
    heads.push("Verdict");
    let left = measured.cells.len() - rows.len();
    let mut text = format!("\n{}\n\n{}", wrapped(&format!("{about}.")), table(&heads, &rows));
    if left > 0 {
        let more = format!("The worst of {} cells; {left} more in evaluation.json.", measured.cells.len());
        let _ = write!(text, "\n{}\n", wrapped(&more));
    }
    text
}

/// The differences of a second world from the first, and the parts that did not run there.
fn worlds(first: &str, beside: &Beside) -> String {
    let Beside { world, runs, beyond, rows, not_run } = beside;
    let about = format!(
        "{runs} runs in the {world} world, one at a time; {} of them were outside the error bounds of their path. The last column is \
         the difference from the {first} world over the same seeds, with its 95 % confidence interval.",
        beyond.len()
    );
    let mut text = format!("## The {world} world beside the {first} world\n\n{}\n", wrapped(&about));
    let numbers = |row: &BesideRow| {
        let mean = |numbers: &Numbers| quantity(numbers.mean, &row.unit, 3);
        vec![
            format!("{} {}", row.id, row.title),
            format!("{}; {}", row.law, cell_words(&row.labels)),
            format!("{} / {}", mean(&row.second), mean(&row.first)),
            per_cent(row),
        ]
    };
    if !rows.is_empty() {
        let means = format!("{world} / {first}");
        let rows: Vec<Vec<String>> = rows.iter().map(numbers).collect();
        let _ = write!(text, "\n{}", table(&["Measure", "Law and cell", &means, "Difference"], &rows));
    }
    if !not_run.is_empty() {
        let rows: Vec<Vec<String>> = not_run
            .iter()
            .map(|one| vec![[&one.id[..], &one.measures.join(", ")].join(" ").trim_end().to_owned(), one.why.clone()])
            .collect();
        let _ = write!(
            text,
            "\n{}\n\n{}",
            wrapped(&format!("Not run in the {world} world:")),
            table(&["Id", "Reason"], &rows)
        );
    }
    text.trim_end().to_owned()
}

/// The difference between two worlds, in per cent, with its interval.
pub(crate) fn per_cent(row: &BesideRow) -> String {
    let shown = |share: f64| format!("{:+.1} %", 100.0 * share);
    match (row.difference, row.interval) {
        (Some(share), Some((low, high))) if low < high => {
            format!("{} ({} to {})", shown(share), shown(low), shown(high))
        }
        (Some(share), _) => shown(share),
        (None, _) => String::new(),
    }
}

/// A table of kramdown-rfc, within [`WIDTH`]. A row is one line, so what is too wide for it is a number in brackets there, and stands in a
/// list below the table.
fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    /// Room for a number in brackets.
    const NUMBER: usize = 5;
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let mut lines: Vec<Vec<String>> =
        [&heads].into_iter().chain(rows).map(|row| row.iter().map(|x| plain(x)).collect()).collect();
    let mut below: IndexSet<String> = IndexSet::new();
    let widths = loop {
        let width = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..heads.len()).map(|at| width(at).unwrap_or(0)).collect();
        let total = widths.iter().sum::<usize>() + 3 * widths.len() + 1;
        let Some((at, widest)) = widths.iter().copied().enumerate().max_by_key(|(_, width)| *width) else {
            break widths;
        };
        if total <= WIDTH || widest <= NUMBER {
            break widths;
        }
        let room = widest.saturating_sub(total - WIDTH).max(NUMBER);
        for cell in lines.iter_mut().filter_map(|line| line.get_mut(at)).filter(|cell| cell.chars().count() > room) {
            let number = below.insert_full(std::mem::take(cell)).0 + 1;
            *cell = format!("({number})");
        }
    };
    let mut text = String::new();
    for (n, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(widths.iter().copied()).map(|(cell, width)| format!(" {cell:width$} "));
        let _ = writeln!(text, "|{}|", cells.collect::<Vec<_>>().join("|"));
        if n == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
            let _ = writeln!(text, "|{}|", rules.join("|"));
        }
    }
    if !below.is_empty() {
        let _ = write!(text, "\n{}", list(below.iter().map(String::as_str)));
    }
    text
}

/// A numbered list.
fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (n, item) in (1..).zip(items) {
        let number = format!("{n}. ");
        let indent = " ".repeat(number.len());
        for (at, line) in cut(item, WIDTH - number.len()).iter().enumerate() {
            let _ = writeln!(text, "{}{line}", if at == 0 { &number } else { &indent });
        }
    }
    text
}

/// A text without the sign of a table.
fn plain(text: &str) -> String {
    text.replace('|', "/")
}

/// A text in lines of `width`, cut at spaces where there are some; no sign of it is one of a table.
fn cut(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(&plain(text), options).into_iter().map(String::from).collect()
}

/// A paragraph in lines of [`WIDTH`].
fn wrapped(text: &str) -> String {
    cut(text, WIDTH).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row is one line, and what has no room in it stands below.
    #[test]
    fn a_table_stays_within_its_width() {
        let long =
            "links.bottleneck.buffer 1 bdp, path P-bb, a-word-that-is-much-longer-than-any-column-of-the-table-may-be";
        let row = ["EV-04", long, "meets", "12 ms (11 ms to 13 ms)"].map(str::to_owned).to_vec();
        let text = table(&["Id", "Cell", "Verdict", "Number"], &[row.clone(), row]);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let (rows, below) = text.split_once("\n\n").unwrap();
        let lengths: std::collections::BTreeSet<usize> = rows.lines().map(|line| line.chars().count()).collect();
        assert_eq!((rows.lines().count(), lengths.len()), (4, 1), "{text}");
        assert!(
            rows.contains("| (1)  |") && below.starts_with("1. links.bottleneck.buffer 1 bdp, path P-bb,\n   a-word"),
            "{text}"
        );
    }

    /// Of an interval that says nothing only that is shown.
    #[test]
    fn an_end_that_is_far_away_is_cut() {
        let show = |x: f64| format!("{x}");
        let numbers = |low, high| Numbers { mean: 0.5, interval: Some((low, high)), ..Numbers::default() };
        assert_eq!(number(&numbers(3.89e-12, 1.5e9), &show), "0.5 (under 0.0005 to over 500)");
        assert_eq!(number(&numbers(0.25, 1.0), &show), "0.5 (0.25 to 1)");
        assert_eq!(number(&numbers(-0.1, 1.1), &show), "0.5 (-0.1 to 1.1)");
    }

    #[test]
    fn a_table_of_all_criteria_has_the_range_of_two_groups() {
        let cell: CellOutcome = serde_json::from_str(
            r#"{ "labels": [], "law": { "mean": 0.37, "seeds": [0.6, 0.01, 0.5], "bimodal": true }, "baselines": {}, "against": {},
                 "verdict": "reported" }"#,
        )
        .unwrap();
        let show = |x: f64| format!("{x}");
        assert_eq!(briefly(&cell, &show), "0.01 to 0.6, two groups");
        assert_eq!(in_cell(&cell, &show), "seeds: 0.6, 0.01, 0.5");
        assert_eq!(briefly(&CellOutcome { absent: 2, ..cell }, &show), "seeds: 0.6, 0.01, 0.5 in 3 of 5 runs");
    }

    /// The runs of a baseline that have a number may be those that went well.
    #[test]
    fn a_baseline_says_in_how_many_runs_it_has_a_number() {
        let cell: CellOutcome = serde_json::from_str(
            r#"{ "labels": [], "law": { "mean": 2.0, "seeds": [1.0, 3.0] }, "absent": 1, "against": {}, "verdict": "reported",
                 "baselines": { "newreno": { "mean": 5.0, "seeds": [5.0] }, "cubic": { "mean": 4.0, "seeds": [4.0, 4.0, 4.0] } } }"#,
        )
        .unwrap();
        let show = |x: f64| format!("{x}");
        let shown = ["newreno", "cubic", "vegas"].map(|name| of_baseline(&cell, name, &show));
        assert_eq!(shown, ["5 in 1 of 3 runs", "4", ABSENT]);
    }

    #[test]
    fn no_sign_of_a_cell_is_one_of_the_table() {
        assert_eq!(cut("a|b c", 10), ["a/b c"]);
        assert_eq!(cut("", 10), [""]);
    }
}
