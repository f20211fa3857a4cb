//! Texts of a page at a length that can be shown. A record of another author may have a title of ten megabytes, and names as
//! long: laid out in full, they take a terminal or a browser for minutes.

use std::borrow::Cow;

use penstock_scenario::visible;

use crate::figure::{Axis, Figure, Mark};
use crate::page::{Page, Section};

/// The most characters of a name, a title or the cell of a table: twelve lines of a terminal.
pub(crate) const MOST_LINE: usize = 1000;
/// The most characters of a sentence that stands out, and of a section's prose.
pub(crate) const MOST_CALLOUT: usize = 4000;
const MOST_PROSE: usize = 40_000;

/// The page with its long texts cut, but for code: that is to be copied.
pub(crate) fn page(page: &Page) -> Page {
    let mut page = page.clone();
    texts(&mut page, &mut |text, most| {
        if let Cow::Owned(short) = visible::cut(text, most) {
            *text = short;
        }
    });
    page
}

/// A visitor of texts, each with the most characters that it may have.
type Visit<'a> = dyn FnMut(&mut String, usize) + 'a;

/// Visits each text of a page.
fn texts(page: &mut Page, visit: &mut Visit<'_>) {
    visit(&mut page.title, MOST_LINE);
    visit(&mut page.subtitle, MOST_CALLOUT);
    for (name, value) in &mut page.facts {
        visit(name, MOST_LINE);
        visit(value, MOST_LINE);
    }
    for part in &mut page.sections {
        section(part, visit);
    }
}

fn section(section: &mut Section, visit: &mut Visit<'_>) {
    visit(&mut section.heading, MOST_LINE);
    visit(&mut section.label, MOST_LINE);
    visit(&mut section.part, MOST_LINE);
    visit(&mut section.prose, MOST_PROSE);
    if let Some(callout) = section.callout.as_mut() {
        visit(&mut callout.text, MOST_CALLOUT);
    }
    for table in &mut section.tables {
        visit(&mut table.caption, MOST_LINE);
        for column in &mut table.columns {
            visit(&mut column.name, MOST_LINE);
            visit(&mut column.unit, MOST_LINE);
        }
        for cell in table.rows.iter_mut().flatten() {
            visit(cell, MOST_LINE);
        }
    }
    for drawn in &mut section.figures {
        figure(drawn, visit);
    }
    for map in &mut section.maps {
        visit(&mut map.title, MOST_LINE);
        visit(&mut map.unit, MOST_LINE);
        for axis in [&mut map.x, &mut map.y] {
            visit(&mut axis.label, MOST_LINE);
            for value in &mut axis.values {
                visit(value, MOST_LINE);
            }
        }
    }
    for claim in &mut section.claims {
        visit(&mut claim.id, MOST_LINE);
        visit(&mut claim.place, MOST_LINE);
        visit(&mut claim.bound, MOST_LINE);
        visit(&mut claim.measured, MOST_LINE);
        visit(&mut claim.quotation, MOST_CALLOUT);
        visit(&mut claim.certainty, MOST_CALLOUT);
        visit(&mut claim.reason, MOST_CALLOUT);
        visit(&mut claim.note, MOST_CALLOUT);
    }
    for code in &mut section.code {
        visit(&mut code.label, MOST_LINE);
    }
    for law in &mut section.laws {
        visit(law, MOST_LINE);
    }
}

fn figure(figure: &mut Figure, visit: &mut Visit<'_>) {
    visit(&mut figure.title, MOST_LINE);
    visit(&mut figure.caption, MOST_CALLOUT);
    axis(&mut figure.x, visit);
    axis(&mut figure.y, visit);
    for line in &mut figure.lines {
        visit(&mut line.name, MOST_LINE);
    }
    for mark in &mut figure.marks {
        match mark {
            Mark::Horizontal { label, .. } | Mark::Vertical { label, .. } | Mark::Point { label, .. } => {
                visit(label, MOST_LINE);
            }
        }
    }
}

fn axis(axis: &mut Axis, visit: &mut Visit<'_>) {
    visit(&mut axis.label, MOST_LINE);
    visit(&mut axis.unit, MOST_LINE);
    for tick in &mut axis.ticks {
        if let Some(label) = tick.label.as_mut() {
            visit(label, MOST_LINE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Line;
    use crate::page::{Column, TableView};

    fn page_of(text: &str) -> Page {
        let mut table = TableView::new(text, vec![Column::words(text)]);
        table.rows.push(vec![text.to_owned()]);
        let mut figure = Figure::new(text, Axis::new(text, text), Axis::new(text, text)).captioned(text);
        figure.lines.push(Line::new(text, vec![(0.0, 1.0), (1.0, 2.0)]));
        let section =
            Section { heading: text.into(), tables: vec![table], figures: vec![figure], ..Section::default() };
        Page { title: text.into(), facts: vec![(text.into(), text.into())], sections: vec![section], ..Page::default() }
    }

    #[test]
    fn a_page_of_long_texts_is_short_and_any_other_is_the_same() {
        let short = page_of(&"\u{e9}".repeat(MOST_LINE));
        assert_eq!(page(&short), short);
        let long = page_of(&"y".repeat(100_000));
        let written = crate::html::write_with(&long, None);
        assert!(written.len() < 100_000 && written.contains("yyy..."), "{}", written.len());
        let text = crate::text::page(&long);
        assert!(text.len() < 20_000 && text.contains("yyy..."), "{}", text.len());
        let alone = crate::text::table(&long.sections[0].tables[0]);
        assert!(alone.len() < 20_000 && alone.contains("yyy..."), "{}", alone.len());
    }
}
