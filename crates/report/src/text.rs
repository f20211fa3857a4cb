//! Tables for a terminal, and for programs that read them.

use core::fmt::Write as _;

use comfy_table::{Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table};
use comfy_table::{TableStyle, Width};

use penstock_scenario::visible;

use crate::brief::{self, MOST_CALLOUT, MOST_LINE};
use crate::page::{Align, Callout, ClaimView, Column, Page, TableView, Tally, Tone, Verdict};

/// The layout of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// The columns of the terminal; none where lines may be as long as they are.
    pub width: Option<usize>,
    /// Whether verdicts are coloured, and heads bold.
    pub coloured: bool,
    /// For programs: ASCII digits and signs, columns apart by tabs, a `#` before lines of no table, no width, no colour.
    pub plain: bool,
}

/// Between two columns.
const GAP: usize = 2;
/// Least width of a column of words, where it has such words; longer ones are broken.
const LEAST_WORDS: usize = 16;
/// Nothing is fitted to less.
const NARROWEST: usize = 20;

/// The table without colours or a limit of its width: a rule below the head, numbers on the right, no frame.
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
    Look::default().table(view)
}

/// A page in words and tables, without those shown on demand, without colours or a limit of its width.
pub fn page(page: &Page) -> String {
    Look::default().page(page)
}

/// Claims and their verdicts, and how many of each there are.
pub fn verdicts(caption: &str, claims: &[ClaimView]) -> String {
    let mut out = table(&TableView::of_claims(caption, claims.iter().map(|c| ("", c))));
    let tally = Tally::of(claims.iter());
    let _ = writeln!(out, "\n{}. {}", tally.counts(), tally.against_the_record());
    out
}

impl Look {
    /// A table. One that is too wide has its words wrapped, never its numbers; where that does not do, its columns come
    /// in several parts, each of which begins with the first column.
    ///
    /// ```
    /// use penstock_report::text::Look;
    /// use penstock_report::{Column, TableView};
    /// let mut table = TableView::new("Links", vec![Column::words("link"), Column::numbers("queue", "packets")]);
    /// table.rows.push(vec!["bottleneck".into(), "\u{2212}12\u{202f}000".into()]);
    /// let plain = Look { plain: true, ..Look::default() };
    /// assert_eq!(plain.table(&table), "# Links\nlink\tqueue [packets]\nbottleneck\t-12000\n");
    /// ```
    pub fn table(self, view: &TableView) -> String {
        let mut out = String::new();
        if !view.caption.is_empty() {
            out.push_str(&self.paragraph(&view.caption));
            out.push_str(if self.plain { "\n" } else { "\n\n" });
        }
        let heads: Vec<String> = view.columns.iter().map(|c| self.head(c)).collect();
        let cell =
            |row: &Vec<String>, i: usize| self.text(&visible::cut(row.get(i).map_or("", String::as_str), MOST_LINE));
        let rows: Vec<Vec<String>> =
            view.rows.iter().map(|row| (0..heads.len()).map(|i| cell(row, i)).collect()).collect();
        if self.plain {
            for line in core::iter::once(&heads).chain(&rows) {
                out.push_str(&line.join("\t"));
                out.push('\n');
            }
            return out;
        }
        let widths: Vec<Span> = (0..heads.len()).map(|i| Span::of(&view.columns[i], i, &heads, &rows)).collect();
        for (at, part) in parts(&view.columns, &widths, self.width).into_iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            out.push_str(&self.part(view, &part, &heads, &rows, &fitted(&part, &widths, self.width)));
        }
        out
    }

    /// Some columns of a table, with the widths `widths`.
    fn part(
        self,
        view: &TableView,
        part: &[usize],
        heads: &[String],
        rows: &[Vec<String>],
        widths: &[usize],
    ) -> String {
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('\u{2500}')));
        // Widths are set below, column by column.
        table.set_content_arrangement(ContentArrangement::Disabled);
        if self.coloured {
            table.enforce_styling()
        } else {
            table.force_no_tty()
        };
        let head = |i: &usize| {
            let cell = Cell::new(&heads[*i]);
            if self.coloured { cell.add_attribute(Attribute::Bold) } else { cell }
        };
        table.set_header(part.iter().map(head));
        for row in rows {
            table.add_row(part.iter().map(|&i| self.cell(view.columns[i].align, &row[i])));
        }
        for (at, &i) in part.iter().enumerate() {
            if let Some(c) = table.column_mut(at) {
                let right = if at + 1 == part.len() { 0 } else { GAP };
                c.set_padding((0, right as u16));
                let width = u16::try_from(widths[at] + right).unwrap_or(u16::MAX);
                c.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
                if view.columns[i].align == Align::Right {
                    c.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        let mut out = String::new();
        for line in table.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    fn head(self, column: &Column) -> String {
        let name = visible::cut(&column.name, MOST_LINE);
        self.text(&match column.unit.as_str() {
            "" => name,
            unit => format!("{name} [{}]", visible::cut(unit, MOST_LINE)).into(),
        })
    }

    fn cell(self, align: Align, text: &str) -> Cell {
        let verdict = Verdict::from_word(text).filter(|_| align == Align::Verdict);
        let Some(verdict) = verdict else { return Cell::new(text) };
        let cell = Cell::new(signed(verdict));
        if !self.coloured {
            return cell;
        }
        cell.fg(match verdict {
            Verdict::Holds | Verdict::Meets => Color::Green,
            Verdict::Fails => Color::Red,
            Verdict::Undecided => Color::Blue,
            Verdict::NotRunHere => Color::Yellow,
        })
    }

    /// A page in words and tables, without those shown on demand.
    pub fn page(self, page: &Page) -> String {
        let page = &brief::page(page);
        let mut out = self.paragraph(&page.title);
        out.push('\n');
        for section in &page.sections {
            if let Some(tally) = &section.tally {
                out.push('\n');
                out.push_str(&self.paragraph(&format!("{}. {}", tally.counts(), tally.against_the_record())));
                out.push('\n');
            }
            if let Some(callout) = &section.callout {
                out.push('\n');
                out.push_str(&self.callout(callout));
                out.push('\n');
            }
            for view in section.tables.iter().filter(|t| !t.folded) {
                out.push('\n');
                out.push_str(&self.table(view));
            }
        }
        out
    }

    fn callout(self, callout: &Callout) -> String {
        let text = self.paragraph(&callout.text);
        let colour = match callout.tone {
            Tone::Good => 32,
            Tone::Bad => 31,
            Tone::Neutral => return text,
        };
        if self.coloured && !self.plain { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text }
    }

    /// One paragraph, in lines that fit.
    pub fn paragraph(self, text: &str) -> String {
        let text = self.text(&visible::cut(text, MOST_CALLOUT));
        match self.width {
            _ if self.plain => format!("# {text}"),
            Some(width) => textwrap::fill(&text, width.max(NARROWEST)),
            None => text,
        }
    }

    /// Lines of text, each of which goes on with an indentation where it is too long.
    pub fn lines(self, text: &str) -> String {
        let line = |line: &str| {
            let line = self.text(line);
            let Some(width) = self.width.filter(|_| !self.plain) else { return line };
            let more = " ".repeat(line.len() - line.trim_start().len() + GAP);
            textwrap::fill(&line, textwrap::Options::new(width.max(NARROWEST)).subsequent_indent(&more))
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    /// One line, without characters that a terminal would act on; thin spaces as spaces.
    fn text(self, text: &str) -> String {
        if self.plain { ascii(&inert(text)) } else { inert(text).replace(['\u{202f}', '\u{a0}'], " ") }
    }
}

/// Width of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    /// With all of a cell in one line.
    natural: usize,
    /// With words wrapped.
    least: usize,
}

impl Span {
    fn of(column: &Column, at: usize, heads: &[String], rows: &[Vec<String>]) -> Self {
        let width = |text: &str| textwrap::core::display_width(text);
        let word = |text: &str| text.split(' ').map(width).max().unwrap_or(0);
        let whole = |text: &str| match Verdict::from_word(text).filter(|_| column.align == Align::Verdict) {
            Some(verdict) => width(&signed(verdict)),
            None => width(text),
        };
        let cells = || rows.iter().map(|row| row[at].as_str());
        let natural = cells().map(whole).max().unwrap_or(0).max(width(&heads[at]));
        let least = match column.align {
            Align::Left => cells().map(word).max().unwrap_or(0).max(word(&heads[at])).min(LEAST_WORDS),
            Align::Right | Align::Verdict => cells().map(whole).max().unwrap_or(0).max(word(&heads[at])),
        };
        Self { natural, least }
    }
}

/// The columns of a table in parts that fit.
fn parts(columns: &[Column], spans: &[Span], width: Option<usize>) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..columns.len()).collect();
    let need = |part: &[usize]| part.iter().map(|i| spans[*i].least + GAP).sum::<usize>().saturating_sub(GAP);
    let Some(width) = width.map(|width| width.max(NARROWEST)).filter(|width| need(&all) > *width) else {
        return vec![all];
    };
    // Words on the left say what a row is of; without them a part says nothing.
    let words = columns.iter().take_while(|c| c.align == Align::Left).count();
    let keys = if words == columns.len() || need(&all[..words]) * 2 > width { words.min(1) } else { words };
    let mut parts = vec![all[..keys].to_vec()];
    for &i in &all[keys..] {
        let last = parts.len() - 1;
        parts[last].push(i);
        if parts[last].len() > keys + 1 && need(&parts[last]) > width {
            parts[last].pop();
            parts.push(all[..keys].iter().copied().chain([i]).collect());
        }
    }
    parts
}

/// Width of each column of a part: the space beyond the least goes to the narrowest of those that want more.
fn fitted(part: &[usize], spans: &[Span], width: Option<usize>) -> Vec<usize> {
    let Some(width) = width.map(|width| width.max(NARROWEST)) else {
        return part.iter().map(|i| spans[*i].natural).collect();
    };
    let mut widths: Vec<usize> = part.iter().map(|i| spans[*i].least).collect();
    let taken: usize = widths.iter().map(|w| w + GAP).sum::<usize>().saturating_sub(GAP);
    for _ in taken..width {
        let wants = (0..part.len()).filter(|at| widths[*at] < spans[part[*at]].natural);
        let Some(narrowest) = wants.min_by_key(|at| widths[*at]) else { break };
        widths[narrowest] += 1;
    }
    widths
}

fn signed(verdict: Verdict) -> String {
    format!("{} {}", verdict.sign(), verdict.word())
}

/// One line, without characters that a terminal would act on.
fn inert(text: &str) -> String {
    text.chars().map(|c| if visible::acts(c) { ' ' } else { c }).collect()
}

/// Digits and signs as ASCII has them: no spaces within numbers, `-` for every dash, powers of ten as in `1.5e-7`. Letters
/// stay as they are.
///
/// ```
/// use penstock_report::number::{digits, fixed};
/// use penstock_report::text::ascii;
/// assert_eq!(ascii(&fixed(-12_345.6, 1)), "-12345.6");
/// assert_eq!(ascii(&digits(1.5e-7, 2)), "1.5e-7");
/// assert_eq!(ascii(&digits(f64::INFINITY, 2)), "inf");
/// assert_eq!(ascii("\u{2265} 5 \u{b5}s"), ">= 5 us");
/// ```
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let raised = |c: char| {
        "\u{2070}\u{b9}\u{b2}\u{b3}\u{2074}\u{2075}\u{2076}\u{2077}\u{2078}\u{2079}".chars().position(|r| r == c)
    };
    let text = text.replace("\u{d7}10\u{207b}", "e-");
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next().unwrap_or(' ');
        match c {
            '\u{202f}' if before.is_ascii_digit() && next.is_ascii_digit() => {}
            '\u{202f}' | '\u{a0}' => out.push(' '),
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{207b}' => out.push('-'),
            '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{201c}' | '\u{201d}' => out.push('"'),
            '\u{2026}' => out.push_str("..."),
            '\u{221e}' => out.push_str("inf"),
            '\u{2264}' => out.push_str("<="),
            '\u{2265}' => out.push_str(">="),
            '\u{b1}' => out.push_str("+-"),
            '\u{d7}' => out.push('x'),
            '\u{b5}' | '\u{3bc}' => out.push('u'),
            '\u{b0}' => out.push_str("deg"),
            c => match raised(c) {
                // A power of ten.
                Some(digit) if out.ends_with("x10") => {
                    out.truncate(out.len() - "x10".len());
                    let _ = write!(out, "e{digit}");
                }
                Some(digit) => {
                    let _ = write!(out, "{digit}");
                }
                None => out.push(c),
            },
        }
        before = c;
    }
    out
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
            unstated: false,
            certainty: String::new(),
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
─────────────────────────────────────────────────────────────────────────────────────
✓ holds         utilization  > 0.95  0.987
✗ fails         b            > 0.95  0.987     test not in the paper, recorded: holds
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

    fn wide() -> TableView {
        let mut columns = vec![Column::words("Link"), Column::words("Description")];
        columns.extend((0..8).map(|i| Column::numbers(format!("Some measure {i}"), "packets/s")));
        let mut view = TableView::new("Measures of every link, with a caption that is longer than a line", columns);
        for link in ["first", "second"] {
            let words = "a sentence of several words that nobody wants to read on one line".to_owned();
            let mut row = vec![link.to_owned(), words];
            row.extend((0..8).map(|i| format!("{}.5", 10_u64.pow(i))));
            view.rows.push(row);
        }
        view
    }

    #[test]
    fn a_table_fits_the_terminal_and_no_number_is_broken() {
        for width in [30, 40, 80, 100, 132, 200] {
            let text = Look { width: Some(width), ..Look::default() }.table(&wide());
            for line in text.lines() {
                assert!(textwrap::core::display_width(line) <= width, "{width}: {line}");
            }
            let words: Vec<&str> = text.split_whitespace().collect();
            for i in 0..8 {
                let number = format!("{}.5", 10_u64.pow(i));
                assert_eq!(words.iter().filter(|w| **w == number).count(), 2, "{width}: {number}\n{text}");
            }
            assert!(text.matches("first").count() >= 1);
        }
        let natural = table(&wide());
        assert!(natural.lines().any(|line| line.len() > 200), "nothing is wrapped where there is no terminal");
        assert_eq!(Look { width: Some(1000), ..Look::default() }.table(&wide()), natural);
    }

    #[test]
    fn a_program_gets_tabs_and_ascii() {
        let mut view = wide();
        view.rows[0][3] = crate::number::fixed(-1_234_567.0, 1);
        let text = Look { plain: true, width: Some(40), coloured: true }.table(&view);
        assert!(text.is_ascii(), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("# Measures"));
        assert_eq!(lines.len(), 4);
        assert!(lines[1..].iter().all(|line| line.split('\t').count() == 10), "{text}");
        assert_eq!(lines[2].split('\t').nth(3), Some("-1234567.0"));
    }

    #[test]
    fn verdicts_are_coloured_where_wanted_and_as_wide_as_before() {
        let claims = [claim("a", Verdict::Holds, None), claim("b", Verdict::Fails, None)];
        let view = TableView::of_claims("", claims.iter().map(|c| ("", c)));
        let (grey, colour) = (table(&view), Look { coloured: true, ..Look::default() }.table(&view));
        assert!(!grey.contains('\u{1b}'));
        let line = |text: &str, word: &str| text.lines().find(|l| l.contains(word)).unwrap().to_owned();
        assert!(line(&colour, "holds").contains("\u{1b}[38;5;10m"), "{colour:?}");
        assert!(line(&colour, "fails").contains("\u{1b}[38;5;9m"), "{colour:?}");
        let page = Page {
            sections: vec![crate::page::Section {
                callout: Some(Callout { tone: Tone::Bad, text: "not so".into() }),
                ..crate::page::Section::default()
            }],
            ..Page::default()
        };
        assert!(Look { coloured: true, ..Look::default() }.page(&page).contains("\u{1b}[31mnot so\u{1b}[0m"));
    }

    #[test]
    fn lines_go_on_below_where_they_began() {
        let look = Look { width: Some(24), ..Look::default() };
        assert_eq!(look.lines("alpha\n  a line that is too long"), "alpha\n  a line that is too\n    long");
        assert_eq!(Look::default().lines("a\n  b"), "a\n  b");
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
