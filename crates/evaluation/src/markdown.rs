//! The page of an evaluation as Markdown for an Internet-Draft: tables of kramdown-rfc, 72 columns at most.

use std::fmt::Write as _;

use penstock_report::number::quantity;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use crate::outcome::{Beside, BesideRow, CellOutcome, Evaluation, Measured, Numbers, Outcome, cell_words};

/// The most columns of a line (RFC 7994, section 4.3).
pub const WIDTH: usize = 72;

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
    line(&summary_table(evaluation));
    if let Some(beside) = &evaluation.beside {
        line("");
        line(&worlds(&evaluation.world, beside));
    }
    for outcome in &evaluation.criteria {
        line("");
        line(&block(outcome));
    }
    page.trim_end().to_owned() + "\n"
}

/// The law, the extent and the method of the evaluation.
fn introduction(evaluation: &Evaluation, command: &str) -> Vec<String> {
    let Evaluation { setting, source, world, runs, code, .. } = evaluation;
    vec![
        format!(
            "Law: `{setting}`. Source: {source}. Beside it, in the same cells and with the same seeds: {}.",
            evaluation.baselines.join(", ")
        ),
        format!(
            "{runs} runs in the {world} world, {} seeds a cell. A number is the mean over seeds with its 95 % confidence \
             interval. `meets` and `fails` say that the whole interval keeps the bound or misses it, `undecided` that it does \
             neither. Of many cells, a failure counts if it survives Holm's correction. Code: {}.",
            evaluation.scope().seeds(),
            code.get(..24).unwrap_or(code)
        ),
        format!("Verdicts: {}.", evaluation.counted()),
        format!("Reproduce: `{command}`."),
    ]
}

/// The table of all criteria.
fn summary_table(evaluation: &Evaluation) -> String {
    let rows: Vec<[String; 4]> = evaluation
        .criteria
        .iter()
        .map(|outcome| {
            let headline = outcome.measures.first().map(headline).unwrap_or_default();
            [outcome.id.clone(), outcome.place(), outcome.verdict.to_string(), headline]
        })
        .collect();
    table(["Id", "Document", "Verdict", "Worst cell"], &rows)
}

/// The main number of a criterion in its worst cell.
fn headline(measured: &Measured) -> String {
    let Some(cell) = measured.cells.get(measured.worst_cell) else { return String::new() };
    format!("{} {}", measured.title, in_cell(cell, &measured.unit))
}

/// A mean with its interval.
pub(crate) fn number(numbers: &Numbers, unit: &str) -> String {
    let mean = quantity(numbers.mean, unit, 3);
    match numbers.interval {
        Some((low, high)) if low < high => {
            format!("{mean} ({} to {})", quantity(low, unit, 3), quantity(high, unit, 3))
        }
        _ => mean,
    }
}

/// The number of the law in a cell, and in how many runs it is where some lack it.
pub(crate) fn in_cell(cell: &CellOutcome, unit: &str) -> String {
    let present = cell.law.seeds.len();
    let all = present + cell.absent + cell.unlimited;
    let mut text = if present == 0 { String::new() } else { number(&cell.law, unit) };
    if cell.absent > 0 && present > 0 {
        let _ = write!(text, " in {present} of {all} runs");
    }
    if cell.unlimited > 0 {
        let _ = write!(text, " infinite in {} of {all} runs", cell.unlimited);
    }
    text.trim_start().to_owned()
}

/// The measurements of one criterion.
fn block(outcome: &Outcome) -> String {
    let mut text = format!("## {}: {}\n\n", outcome.id, outcome.title);
    let _ = writeln!(text, "{}\n", wrapped(&format!("{}. {}", outcome.weight(), outcome.requirement)));
    let mut verdict = format!("Verdict: {}.", outcome.verdict);
    if let Some(why) = &outcome.why {
        let _ = write!(verdict, " {why}");
    }
    if !outcome.notes.is_empty() {
        let _ = write!(verdict, " {}", outcome.notes);
    }
    let _ = writeln!(text, "{}", wrapped(&verdict));
    for measured in &outcome.measures {
        let mut about = format!("{}: {}", measured.title, measured.verdict);
        if let (Some(bound), Some(source)) = (&measured.bound, &measured.source) {
            let _ = write!(about, "; bound: {bound} ({source})");
        }
        let _ = writeln!(text, "\n{}\n", wrapped(&format!("{about}.")));
        text.push_str(&cells(measured));
    }
    text.trim_end().to_owned()
}

/// A measure in its cells; of many the worst, and the others are left to the JSON file.
fn cells(measured: &Measured) -> String {
    const MOST: usize = 8;
    let mut order: Vec<usize> = (0..measured.cells.len()).collect();
    if measured.cells.len() > MOST {
        let bad = |at: &usize| measured.worst.badness(measured.cells[*at].law.mean);
        order.sort_by(|a, b| bad(b).total_cmp(&bad(a)));
        order.truncate(MOST);
    }
    let row = |at: &usize| {
        let cell: &CellOutcome = &measured.cells[*at];
        let others: Vec<String> =
            cell.baselines.values().map(|numbers| quantity(numbers.mean, &measured.unit, 3)).collect();
        let mut sign = if measured.bound.is_some() { cell.verdict.to_string() } else { String::new() };
        if let Some(seeds) = cell.needed {
            let _ = write!(sign, " (about {seeds} seeds)");
        }
        if cell.drifts {
            sign.push_str(" *");
        }
        [cell.words(), in_cell(cell, &measured.unit), others.join(", "), sign]
    };
    let rows: Vec<[String; 4]> = order.iter().map(row).collect();
    let mut text = table(["Cell", "Law", "Baselines", "Verdict"], &rows);
    if order.len() < measured.cells.len() {
        let rest = measured.cells.len() - order.len();
        let _ = write!(
            text,
            "\n{}\n",
            wrapped(&format!("The worst of {} cells; {rest} more in evaluation.json.", rest + order.len()))
        );
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
        [
            format!("{} {}", row.id, row.title),
            format!("{}; {}", row.law, cell_words(&row.labels)),
            format!("{} / {}", mean(&row.second), mean(&row.first)),
            per_cent(row),
        ]
    };
    if !rows.is_empty() {
        let means = format!("{world} / {first}");
        let rows: Vec<[String; 4]> = rows.iter().map(numbers).collect();
        let _ = write!(text, "\n{}", table(["Measure", "Law and cell", &means, "Difference"], &rows));
    }
    if !not_run.is_empty() {
        let rows: Vec<[String; 2]> = not_run
            .iter()
            .map(|one| [[&one.id[..], &one.measures.join(", ")].join(" ").trim_end().to_owned(), one.why.clone()])
            .collect();
        let _ = write!(
            text,
            "\n{}\n\n{}",
            wrapped(&format!("Not run in the {world} world:")),
            table(["Id", "Reason"], &rows)
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

/// A table of kramdown-rfc, within [`WIDTH`]: the widest column gives way, its cells are cut into further rows.
fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = heads.map(|head| head.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let borders = 3 * N + 1;
    while widths.iter().sum::<usize>() + borders > WIDTH {
        let Some(widest) = widths.iter_mut().max() else { break };
        *widest -= 1;
    }
    let mut text = String::new();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!(" {cell:width$} "));
        format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
    };
    let rule = |sign: &str| format!("|{}|\n", widths.map(|width| sign.repeat(width + 2)).join("|"));
    text.push_str(&line(&heads.map(str::to_owned)));
    text.push_str(&rule("-"));
    for row in rows {
        // A cell that is too wide goes on in the next lines.
        let parts: Vec<Vec<String>> = row.iter().zip(widths).map(|(cell, width)| cut(cell, width)).collect();
        let height = parts.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for at in 0..height {
            let cells: Vec<String> = parts.iter().map(|part| part.get(at).cloned().unwrap_or_default()).collect();
            text.push_str(&line(&cells));
        }
    }
    text
}

/// A text in lines of `width`, cut at spaces where there are some; no sign of it is one of a table.
fn cut(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(&text.replace('|', "/"), options).into_iter().map(String::from).collect()
}

/// A paragraph in lines of [`WIDTH`].
fn wrapped(text: &str) -> String {
    cut(text, WIDTH).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_stays_within_its_width() {
        let long =
            "links.bottleneck.buffer 1 bdp, path P-bb, a-word-that-is-much-longer-than-any-column-of-the-table-may-be";
        let row = ["EV-04".to_owned(), long.to_owned(), "meets".to_owned(), "12 ms (11 ms to 13 ms)".to_owned()];
        let text = table(["Id", "Cell", "Verdict", "Number"], &[row]);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.lines().count() > 3 && text.contains("P-bb"), "{text}");
        let lengths: std::collections::BTreeSet<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(lengths.len(), 1, "{text}");
    }

    #[test]
    fn no_sign_of_a_cell_is_one_of_the_table() {
        assert_eq!(cut("a|b c", 10), ["a/b c"]);
        assert_eq!(cut("", 10), [""]);
    }
}
