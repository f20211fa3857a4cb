//! Writes a [`Page`] as one HTML file that opens offline: its style, its figures and the viewer are inside, and it refers to
//! nothing outside. Its content security policy allows this style and this script, by their hashes, and nothing else.

mod contents;
mod index;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::brief;
use crate::distinct::{self, slug};
use crate::figure::Figure;
use crate::page::{Align, ClaimView, Code, Counts, Page, Section, TableView, Tally, Tone, Verdict};
use crate::svg;
use crate::viewer::{self, Viewer};

const STYLE: &str = include_str!("page.css");
/// Tables with more rows are folded too.
const LONG: usize = 40;

/// The page as an HTML document, with the viewer if this library has one.
pub fn write(page: &Page) -> String {
    write_with(page, Viewer::built_in())
}

/// The page as an HTML document. Without a viewer it has drawings only.
pub fn write_with(page: &Page, viewer: Option<Viewer>) -> String {
    let page = &shown(page);
    let mut out = String::new();
    let title = escape(&page.title);
    let figures: Vec<&Figure> = page.sections.iter().flat_map(|s| &s.figures).collect();
    let viewer = viewer.filter(|_| !figures.is_empty());
    let style = format!("\n{STYLE}{}{}{}", dark_figures(page), widths(page), viewer.map_or("", |viewer| viewer.style));
    let style_hash = viewer::hash(&style);
    let script_hash = viewer.map_or_else(String::new, |v| format!("; script-src {}", viewer::hash(v.script)));
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src {style_hash}{script_hash}\">\n\
         <meta name=\"generator\" content=\"Penstock\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#{MAIN}\">Skip to the content</a>\n"
    );
    contents::targets(&mut out, page);
    let _ = write!(out, "<header>\n<h1>{title}</h1>\n");
    if !page.subtitle.is_empty() {
        let _ = writeln!(out, "<p class=\"subtitle\">{}</p>", rich(&page.subtitle));
    }
    if !page.facts.is_empty() {
        out.push_str("<dl class=\"facts\">\n");
        for (name, value) in &page.facts {
            let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
        }
        out.push_str("</dl>\n");
    }
    let anchors = anchors(&page.sections);
    contents::write(&mut out, page, &anchors);
    let _ = writeln!(out, "</header>\n<main id=\"{MAIN}\">");
    index::write(&mut out, page, &anchors);
    let narrow = narrow(&figures);
    let drawings = narrow.as_deref().map_or(Drawings::Broad, Drawings::Both);
    let (mut part, mut figure) = ("", 0);
    for (section, anchor) in page.sections.iter().zip(&anchors) {
        if section.part != part {
            part = &section.part;
            let _ = writeln!(out, "<h2 class=\"part\">{}</h2>", escape(part));
        }
        self::section(&mut out, section, anchor, figure, drawings);
        figure += section.figures.len();
    }
    out.push_str("</main>\n<footer>Made by Penstock, a laboratory for congestion control.</footer>\n");
    if let Some(viewer) = viewer {
        let data = viewer::packed(&figures);
        let _ = writeln!(out, "<script type=\"application/json\" id=\"{DATA}\">{data}</script>");
        let _ = writeln!(out, "<script>{}</script>", viewer.script);
    }
    out.push_str("</body>\n</html>\n");
    out
}

/// Parts of a page, for a viewer that is already there: no frame, no style, and no drawing of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// Its sections.
    pub html: String,
    /// The data of its figures, as the viewer reads them.
    pub figures: String,
}

/// The content of a page alone.
pub fn fragment(page: &Page) -> Fragment {
    let page = &shown(page);
    let (mut html, mut figure) = (String::new(), 0);
    for (section, anchor) in page.sections.iter().zip(&anchors(&page.sections)) {
        self::section(&mut html, section, anchor, figure, Drawings::None);
        figure += section.figures.len();
    }
    let figures: Vec<&Figure> = page.sections.iter().flat_map(|s| &s.figures).collect();
    Fragment { html, figures: viewer::data(&figures) }
}

/// The page with short texts, and with figures that have titles of their own.
fn shown(page: &Page) -> Page {
    let mut page = brief::page(page);
    distinct::titles(&mut page);
    page
}

/// Which drawings a page has of its figures.
#[derive(Debug, Clone, Copy)]
enum Drawings<'a> {
    None,
    Broad,
    /// Another one of each for narrow screens: these, by the numbers of the figures.
    Both(&'a [String]),
}

/// Drawings for narrow screens may take so much of a page [B]: the page of a paper has many figures, and at most 1 MB.
const NARROW_BYTES: usize = 160_000;

/// Drawings for narrow screens, unless they would take too much.
fn narrow(figures: &[&Figure]) -> Option<Vec<String>> {
    let mut bytes = 0;
    let drawn = figures.iter().map(|figure| {
        let drawing = svg::draw_narrow(figure);
        bytes += drawing.len();
        (bytes <= NARROW_BYTES).then_some(drawing)
    });
    drawn.collect()
}

/// A section; `first` is the number of its first figure on the page, by which the viewer finds its data.
fn section(out: &mut String, section: &Section, anchor: &str, first: usize, drawings: Drawings<'_>) {
    let page = !matches!(drawings, Drawings::None);
    let class = match (section.failing(), section.claims.is_empty()) {
        (0, true) => "",
        (0, false) => " class=\"kept\"",
        _ => " class=\"failing\"",
    };
    let _ = writeln!(out, "<section id=\"{anchor}\"{class}>");
    if !section.heading.is_empty() {
        let level = if section.part.is_empty() { 2 } else { 3 };
        let _ = writeln!(out, "<h{level}>{}</h{level}>", escape(&section.heading));
    }
    if let Some(tally) = &section.tally {
        self::tally(out, tally);
    }
    if let Some(callout) = &section.callout {
        let class = match callout.tone {
            Tone::Good => "callout good",
            Tone::Bad => "callout bad",
            Tone::Neutral => "callout",
        };
        let _ = writeln!(out, "<p class=\"{class}\">{}</p>", rich(&callout.text));
    }
    for paragraph in section.prose.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
        let _ = writeln!(out, "<p>{}</p>", rich(paragraph));
    }
    if !section.tables.is_empty() {
        out.push_str("<div class=\"tables\">\n");
    }
    for table in &section.tables {
        if table.folded || table.rows.len() > LONG {
            let _ = writeln!(
                out,
                "<details><summary>{} ({} rows)</summary>",
                escape(if table.caption.is_empty() { "Table" } else { &table.caption }),
                table.rows.len()
            );
            self::table(out, table, false);
            hint(out, table, page);
            out.push_str("</details>\n");
        } else {
            // A caption that says what the heading says is not said twice.
            self::table(out, table, !table.caption.eq_ignore_ascii_case(&section.heading));
            hint(out, table, page);
        }
    }
    if !section.tables.is_empty() {
        out.push_str("</div>\n");
    }
    if !section.figures.is_empty() {
        out.push_str("<div class=\"figures\">\n");
        for (figure, number) in section.figures.iter().zip(first..) {
            let _ = writeln!(out, "<figure data-figure=\"{number}\">");
            match drawings {
                Drawings::None => {}
                Drawings::Broad => drop(writeln!(out, "<div class=\"plot\">{}</div>", svg::draw(figure))),
                Drawings::Both(narrow) => {
                    let _ = writeln!(out, "<div class=\"plot broad\">{}</div>", svg::draw(figure));
                    let _ = writeln!(out, "<div class=\"plot narrow\">{}</div>", narrow[number]);
                }
            }
            if !figure.caption.is_empty() {
                let _ = writeln!(out, "<figcaption>{}</figcaption>", rich(&figure.caption));
            }
            out.push_str("</figure>\n");
        }
        out.push_str("</div>\n");
    }
    if !section.maps.is_empty() {
        out.push_str("<div class=\"figures\">\n");
        for map in &section.maps {
            let _ = writeln!(out, "<figure>\n<div class=\"plot\">{}</div>\n</figure>", svg::heat_map(map));
        }
        out.push_str("</div>\n");
    }
    if !section.claims.is_empty() {
        claims(out, &section.claims);
    }
    for code in &section.code {
        self::code(out, code);
    }
    out.push_str("</section>\n");
}

/// Words of so many characters stay on one line, as a number and its unit should.
const SHORT: usize = 16;
/// Tables with more columns are wider than a telephone.
const NARROW: usize = 3;

fn table(out: &mut String, table: &TableView, captioned: bool) {
    out.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n");
    if captioned && !table.caption.is_empty() {
        let _ = writeln!(out, "<caption>{}</caption>", rich(&table.caption));
    }
    out.push_str("<thead><tr>");
    for column in &table.columns {
        let class = if column.align == Align::Right { " class=\"n\"" } else { "" };
        let _ = write!(out, "<th scope=\"col\"{class}>{}", escape(&column.name));
        if !column.unit.is_empty() {
            let _ = write!(out, "<span class=\"unit\">{}</span>", escape(&column.unit));
        }
        out.push_str("</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (i, column) in table.columns.iter().enumerate() {
            let text = row.get(i).map_or("", String::as_str);
            if i == 0 && column.align != Align::Verdict {
                // A word such as `EV-04` is not broken at its hyphen.
                let is_word = !text.contains(' ') && text.chars().count() <= SHORT;
                let class = match column.align {
                    Align::Right => " class=\"n\"",
                    _ if is_word => " class=\"s\"",
                    _ => "",
                };
                let _ = write!(out, "<th scope=\"row\"{class}>{}</th>", rich(text));
                continue;
            }
            match (column.align, Verdict::from_word(text)) {
                (Align::Verdict, Some(verdict)) => {
                    let _ = write!(out, "<td>{}</td>", badge(verdict));
                }
                (Align::Right, _) => {
                    let _ = write!(out, "<td class=\"n\">{}</td>", escape(text));
                }
                _ => {
                    let class = if text.chars().count() <= SHORT { " class=\"s\"" } else { "" };
                    let _ = write!(out, "<td{class}>{}</td>", rich(text));
                }
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

/// Under a wide table of a page, for narrow screens: the style of the page hides it on others.
fn hint(out: &mut String, table: &TableView, page: bool) {
    if page && table.columns.len() > NARROW {
        out.push_str("<p class=\"hint\" aria-hidden=\"true\">\u{2194} scroll sideways for the other columns</p>\n");
    }
}

fn claims(out: &mut String, claims: &[ClaimView]) {
    out.push_str(
        "<div class=\"wide\" tabindex=\"0\"><table class=\"claims\">\n<thead><tr><th scope=\"col\">Verdict</th><th scope=\"col\">Claim</th>\
         <th scope=\"col\">Bound</th><th scope=\"col\">Measured</th></tr></thead>\n<tbody>\n",
    );
    for claim in claims {
        let class = if claim.verdict == Verdict::Fails { " class=\"failing\"" } else { "" };
        let _ = write!(
            out,
            "<tr id=\"{}\"{class}><td>{}</td><th scope=\"row\">",
            contents::claim_anchor(&claim.id),
            badge(claim.verdict)
        );
        let quotation = escape(&claim.quotation);
        let tag = if claim.ours || claim.unstated { "span" } else { "q" };
        let _ = write!(out, "<{tag}>{quotation}</{tag}>");
        let _ = write!(
            out,
            "<span class=\"place\"><span class=\"id\">{}</span>{}</span>",
            escape(&claim.id),
            escape(&claim.place)
        );
        if claim.verdict == Verdict::Fails {
            let reason = if claim.reason.is_empty() { "Not explained yet." } else { &claim.reason };
            let _ = write!(out, "<span class=\"reason\"><b>Why it fails:</b> {}</span>", rich(reason));
        }
        for note in [&claim.note, &claim.certainty].into_iter().filter(|note| !note.is_empty()) {
            let _ = write!(out, "<span class=\"note\">{}</span>", rich(note));
        }
        let mut tags = String::new();
        if claim.unstated {
            tags.push_str("<span class=\"tag\">our own result: the paper does not state it</span> ");
        } else if claim.ours {
            tags.push_str("<span class=\"tag\">our own test: the paper gives no number</span> ");
        }
        if let Some(recorded) = claim.recorded.filter(|_| claim.differs()) {
            let _ = write!(tags, "<span class=\"tag differs\">differs from the record: {}</span>", recorded.word());
        }
        if !tags.is_empty() {
            let _ = write!(out, "<span class=\"tags\">{}</span>", tags.trim_end());
        }
        let (bound, measured) = (rich(&claim.bound), rich(&claim.measured));
        let _ = writeln!(
            out,
            "</th><td class=\"value\" data-head=\"Bound\">{bound}</td><td class=\"value\" data-head=\"Measured\">{measured}</td></tr>"
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn code(out: &mut String, code: &Code) {
    let (label, text) = (escape(&code.label), escape(code.text.trim_end()));
    let pre = format!("<pre tabindex=\"0\"><code>{text}</code></pre>");
    let _ = if code.folded {
        writeln!(out, "<details class=\"code\"><summary>{label}</summary>{pre}</details>")
    } else if label.is_empty() {
        writeln!(out, "<div class=\"code\">{pre}</div>")
    } else {
        writeln!(out, "<div class=\"code\"><div class=\"label\">{label}</div>{pre}</div>")
    };
}

fn badge(verdict: Verdict) -> String {
    let (class, word) = (verdict.class(), verdict.word());
    format!("<span class=\"verdict {class}\"><span aria-hidden=\"true\">{}</span> {word}</span>", verdict.sign())
}

/// The verdicts as a bar, and in words; beside it, whether they are as recorded.
fn tally(out: &mut String, tally: &Tally) {
    let parts = parts(tally);
    out.push_str("<div class=\"tally\">\n<div class=\"bar\" aria-hidden=\"true\">");
    for (class, count) in parts.iter().filter(|(_, count)| *count > 0) {
        let _ = write!(out, "<span class=\"{class} w{count}\"></span>");
    }
    let class = if tally.surprises() { "record differs" } else { "record" };
    let (counts, record) = (escape(&tally.counts()), escape(&tally.against_the_record()));
    let _ = writeln!(out, "</div>\n<p class=\"counts\">{counts}.</p>\n<p class=\"{class}\">{record}</p>\n</div>");
}

/// The parts of a bar of verdicts.
fn parts(tally: &Tally) -> [(&'static str, usize); 4] {
    let all = |of: fn(&Counts) -> usize| of(&tally.stated) + of(&tally.unstated);
    [
        ("holds", all(|c| c.holds)),
        ("fails", all(|c| c.fails)),
        ("undecided", all(|c| c.undecided)),
        ("absent", all(|c| c.not_run)),
    ]
}

/// Width of each part of a bar of verdicts. The policy of the page allows no style at an element.
fn widths(page: &Page) -> String {
    let tallies = page.sections.iter().filter_map(|s| s.tally.as_ref());
    let counts: BTreeSet<usize> = tallies.flat_map(|t| parts(t).map(|(_, count)| count)).filter(|n| *n > 0).collect();
    counts
        .into_iter()
        .fold(String::new(), |rules, count| rules + &format!(".tally .bar .w{count} {{ flex-grow: {count}; }}\n"))
}

/// Counterpart of every colour of the figures on a dark page. Print stays light.
fn dark_figures(page: &Page) -> String {
    let mut out = String::from("@media screen and (prefers-color-scheme: dark) {\n");
    let maps = page.sections.iter().any(|s| !s.maps.is_empty());
    let ramp = svg::ramp_on_dark().filter(|_| maps);
    for (light, dark) in svg::on_dark(page.sections.iter().flat_map(|s| &s.figures)).into_iter().chain(ramp) {
        let _ = writeln!(
            out,
            "  svg [fill=\"{light}\"] {{ fill: {dark}; }} svg [stroke=\"{light}\"] {{ stroke: {dark}; }}"
        );
    }
    out.push_str("}\n");
    out
}

/// The anchor of the content.
const MAIN: &str = "content";
/// The element with the data of the figures, by which the viewer finds it.
const DATA: &str = "penstock-figures";

/// One name a section to link to, no two the same.
fn anchors(sections: &[Section]) -> Vec<String> {
    let mut taken = BTreeSet::from([MAIN, DATA, index::ANCHOR, contents::ALL, contents::FAILING].map(str::to_owned));
    let one = |section: &Section| {
        let name = slug(&section.heading);
        let name = if name.is_empty() { "section".to_owned() } else { name };
        let mut candidate = name.clone();
        let mut n = 1;
        while !taken.insert(candidate.clone()) {
            n += 1;
            candidate = format!("{name}-{n}");
        }
        candidate
    };
    sections.iter().map(one).collect()
}

/// `text` as HTML or XML text or attribute value.
///
/// ```
/// assert_eq!(penstock_report::html::escape("<b> & \"c\""), "&lt;b&gt; &amp; &quot;c&quot;");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().map(printable_char) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// `text` as HTML, with the parts between back-ticks as code.
fn rich(text: &str) -> String {
    let text = escape(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, code, after)) =
        rest.split_once('`').and_then(|(before, tail)| tail.split_once('`').map(|(code, after)| (before, code, after)))
    {
        let _ = write!(out, "{before}<code>{code}</code>");
        rest = after;
    }
    out.push_str(rest);
    out
}

/// `text` without characters that XML forbids.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

fn printable_char(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}
