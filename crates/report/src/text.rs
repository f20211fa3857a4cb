//! Tables for a terminal.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::page::{Align, ClaimView, Column, Page, TableView, Tally, Verdict};

/// The table as aligned text: a rule below the head, numbers on the right, no frame.
///
/// ```
/// use penstock_report::{Column, TableView, text};
/// let mut table = TableView::new("Links", vec![Column::words("link"), Column::numbers("queue", "packets")]);
/// table.rows.push(vec!["bottleneck".into(), "50.3".into()]);
/// assert_eq!(text::table(&table), "\
/// Links
///
/// link        queue [packets]
/// ───────────────────────────
/// bottleneck             50.3
/// ");
/// ```
pub fn table(view: &TableView) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('\u{2500}')));
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(view.columns.iter().map(|c| match c.unit.as_str() {
        "" => plain(&c.name),
        unit => plain(&format!("{} [{unit}]", c.name)),
    }));
    for row in &view.rows {
        let cell = |i: usize, c: &Column| {
            let text = plain(row.get(i).map_or("", String::as_str));
            match (c.align, Verdict::from_word(&text)) {
                (Align::Verdict, Some(verdict)) => format!("{} {text}", verdict.sign()),
                _ => text,
            }
        };
        table.add_row(view.columns.iter().enumerate().map(|(i, c)| cell(i, c)));
    }
    for (i, column) in view.columns.iter().enumerate() {
        if let Some(c) = table.column_mut(i) {
            let left = 0;
            let right = if i + 1 == view.columns.len() { 0 } else { 2 };
            c.set_padding((left, right));
            if column.align == Align::Right {
                c.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    let mut out = String::new();
    if !view.caption.is_empty() {
        out.push_str(&plain(&view.caption));
        out.push_str("\n\n");
    }
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Claims and their verdicts, and how many of each there are.
pub fn verdicts(caption: &str, claims: &[ClaimView]) -> String {
    let mut out = table(&verdict_table(caption, claims.iter().map(|c| ("", c))));
    let tally = Tally::of(claims.iter());
    out.push_str(&format!("\n{}. {}\n", tally.counts(), tally.against_the_record()));
    out
}

/// What a page says in words and tables, without those shown on demand, as the command prints it.
pub fn page(page: &Page) -> String {
    let mut out = plain(&page.title);
    out.push('\n');
    for section in &page.sections {
        if let Some(tally) = &section.tally {
            out.push_str(&format!("\n{}. {}\n", tally.counts(), tally.against_the_record()));
        }
        if let Some(callout) = &section.callout {
            out.push('\n');
            out.push_str(&plain(&callout.text));
            out.push('\n');
        }
        for view in section.tables.iter().filter(|t| !t.folded) {
            out.push('\n');
            out.push_str(&table(view));
        }
    }
    out
}

/// A table of claims; the first word of each says where it belongs, if any does.
pub(crate) fn verdict_table<'a>(caption: &str, claims: impl Iterator<Item = (&'a str, &'a ClaimView)>) -> TableView {
    // The verdict is near the front, so that a narrow page shows it.
    let columns = vec![
        Column::words("Figure"),
        Column::verdicts("Verdict"),
        Column::words("Claim"),
        Column::words("Bound"),
        Column::words("Measured"),
        Column::words("Remark"),
    ];
    let mut view = TableView::new(caption, columns);
    for (place, claim) in claims {
        let mut remarks = Vec::new();
        if claim.ours {
            remarks.push("ours".to_owned());
        }
        if let Some(recorded) = claim.recorded.filter(|_| claim.differs()) {
            remarks.push(format!("recorded: {}", recorded.word()));
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

/// One line, without what a terminal would act on; thin spaces as spaces.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{202f}' | '\u{a0}' => ' ',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(id: &str, verdict: Verdict, recorded: Option<Verdict>) -> ClaimView {
        ClaimView {
            id: id.into(),
            quotation: "as it is written".into(),
            place: "section 4".into(),
            bound: "> 0.95".into(),
            measured: "0.987".into(),
            verdict,
            recorded,
            ours: id == "b",
            reason: String::new(),
            note: String::new(),
        }
    }

    #[test]
    fn verdicts_in_a_terminal() {
        let claims = [
            claim("utilization", Verdict::Holds, Some(Verdict::Holds)),
            claim("b", Verdict::Fails, Some(Verdict::Holds)),
            claim("c", Verdict::NotRunHere, Some(Verdict::Holds)),
        ];
        assert_eq!(
            verdicts("Figure 5", &claims),
            "\
Figure 5

Verdict         Claim        Bound   Measured  Remark
────────────────────────────────────────────────────────────────────
✓ holds         utilization  > 0.95  0.987
✗ fails         b            > 0.95  0.987     ours, recorded: holds
– not run here  c            > 0.95  0.987

3 claims: 1 holds, 1 fails, 1 not run here. 1 verdict differs from the record.
"
        );
    }

    #[test]
    fn a_terminal_is_not_commanded() {
        let mut view = TableView::new("\u{1b}[2J", vec![Column::words("a\nb")]);
        view.rows.push(vec!["\u{1b}]0;x\u{7}".into()]);
        assert!(!table(&view).chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn short_rows_and_no_rows_are_tables_too() {
        let mut view = TableView::new("", vec![Column::words("a"), Column::words("b")]);
        assert!(table(&view).starts_with("a  b\n"));
        view.rows.push(vec!["1".into()]);
        assert!(table(&view).ends_with("1\n"));
        assert_eq!(table(&TableView::default()).trim(), "");
    }
}
