//! Writes a [`Page`] as one HTML file that opens offline: its style, its figures and the viewer are inside, and it refers to
//! nothing outside. Its content security policy allows this style and this script, by their hashes, and nothing else.

mod contents;
mod index;

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
    let drawings = Drawings::of(&figures);
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drawings {
    None,
    Broad,
    /// Another one of each for narrow screens.
    Both,
}

/// Drawings for narrow screens may take so much of a page [B]: the page of a paper has many figures, and at most 1 MB.
const NARROW_BYTES: usize = 160_000;

impl Drawings {
    /// Both, unless those for narrow screens would take too much.
    fn of(figures: &[&Figure]) -> Self {
        let bytes: usize = figures.iter().map(|figure| svg::draw_narrow(figure).len()).sum();
        if bytes <= NARROW_BYTES { Self::Both } else { Self::Broad }
    }
}

/// A section; `first` is the number of its first figure on the page, by which the viewer finds its data.
fn section(out: &mut String, section: &Section, anchor: &str, first: usize, drawings: Drawings) {
    let drawn = drawings != Drawings::None;
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
            hint(out, table, drawn);
            out.push_str("</details>\n");
        } else {
            // A caption that says what the heading says is not said twice.
            self::table(out, table, !table.caption.eq_ignore_ascii_case(&section.heading));
            hint(out, table, drawn);
        }
    }
    if !section.tables.is_empty() {
        out.push_str("</div>\n");
    }
    if !section.figures.is_empty() {
        out.push_str("<div class=\"figures\">\n");
        for (figure, number) in section.figures.iter().zip(first..) {
            let _ = writeln!(out, "<figure data-figure=\"{number}\">");
            if drawn {
                if drawings == Drawings::Both {
                    let _ = writeln!(out, "<div class=\"plot broad\">{}</div>", svg::draw(figure));
                    let _ = writeln!(out, "<div class=\"plot narrow\">{}</div>", svg::draw_narrow(figure));
                } else {
                    let _ = writeln!(out, "<div class=\"plot\">{}</div>", svg::draw(figure));
                }
            }
            if !figure.caption.is_empty() {
                let _ = writeln!(out, "<figcaption>{}</figcaption>", rich(&figure.caption));
            }
            out.push_str("</figure>\n");
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
                let class = if column.align == Align::Right { " class=\"n\"" } else { "" };
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
    for (light, dark) in svg::on_dark(page.sections.iter().flat_map(|s| &s.figures)) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Figure, Line, Mark};
    use crate::page::{Callout, Column};

    const EVIL: &str = "<script>alert('x')</script>\" onload=\"y\u{0}";

    fn evil_page() -> Page {
        let e = || EVIL.to_owned();
        let mut figure = Figure::new(e(), Axis::new(e(), e()), Axis::new(e(), e())).captioned(e());
        figure.lines.push(Line::new(e(), vec![(0.0, 1.0), (1.0, 2.0)]).coloured(e()));
        figure.x.ticks = vec![crate::figure::Tick { at: 0.5, label: Some(e()) }];
        figure.marks = vec![
            Mark::Horizontal { at: 1.5, label: e() },
            Mark::Vertical { at: 0.5, label: e() },
            Mark::Point { x: 0.5, y: 1.5, label: e() },
        ];
        let mut table = TableView::new(e(), vec![Column::words(e()), Column::numbers(e(), e()), Column::verdicts(e())]);
        table.rows = vec![vec![e(), e(), e()]];
        let claim = ClaimView {
            id: e(),
            quotation: e(),
            place: e(),
            bound: e(),
            measured: e(),
            verdict: Verdict::Fails,
            recorded: Some(Verdict::Holds),
            ours: true,
            unstated: false,
            certainty: String::new(),
            reason: e(),
            note: e(),
        };
        let section = Section {
            heading: e(),
            label: e(),
            part: e(),
            prose: e(),
            tally: Some(Tally { stated: Counts { holds: 1, fails: 2, ..Counts::default() }, ..Tally::default() }),
            callout: Some(Callout { tone: Tone::Bad, text: e() }),
            tables: vec![table],
            figures: vec![figure],
            claims: vec![claim],
            code: vec![Code { label: e(), text: e(), folded: true }, Code { label: e(), text: e(), folded: false }],
            laws: vec![e()],
        };
        Page { title: e(), subtitle: e(), facts: vec![(e(), e())], sections: vec![section; 3] }
    }

    /// The page without the viewer, wherever this is built.
    fn drawn(page: &Page) -> String {
        write_with(page, None)
    }

    const VIEWER: Viewer = Viewer { script: "window.seen = 1;", style: ".live { color: red; }" };

    /// The viewer and the data of the figures, and no other script; the policy names the hash of the one that runs.
    #[test]
    fn a_page_has_one_script_and_its_policy_allows_that_one() {
        let html = write_with(&evil_page(), Some(VIEWER));
        assert_eq!(tags(&html).iter().filter(|t| *t == "script").count(), 2);
        assert!(html.contains(&format!("<script>{}</script>", VIEWER.script)));
        let policy = html.split_once("Content-Security-Policy\" content=\"").unwrap().1.split_once('"').unwrap().0;
        // From `printf %s 'window.seen = 1;' | openssl dgst -sha256 -binary | base64`.
        assert!(policy.contains("script-src 'sha256-xewR3CoTnI6MEIygCDc/9IS4YfXb4SEFYGWXOKiDyns='"), "{policy}");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(!html.contains(" style=\""), "the policy allows no style at an element");
        let places: Vec<String> = (0..3).map(|i| format!("<figure data-figure=\"{i}\">")).collect();
        assert!(places.iter().all(|place| html.contains(place)));
    }

    /// A page without figures has nothing to view.
    #[test]
    fn a_page_without_figures_has_no_script() {
        assert_eq!(write_with(&Page::default(), Some(VIEWER)), drawn(&Page::default()));
    }

    /// Tags by name and their attribute names; everything else must be text.
    fn tags(html: &str) -> Vec<String> {
        html.split('<').skip(1).map(|t| t.split([' ', '>', '/', '\n']).next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn nothing_gets_out_of_its_place() {
        let html = drawn(&evil_page());
        assert!(!tags(&html).iter().any(|t| t == "script"), "a script got in");
        assert!(!html.contains("\" onload="), "an attribute got in");
        assert!(!html.contains('\0'));
        assert!(html.contains("&lt;script&gt;"));
    }

    #[test]
    fn the_check_above_would_notice() {
        assert!(tags("<p><script>").iter().any(|t| t == "script"));
    }

    #[test]
    fn the_page_refers_to_nothing_outside() {
        let html = drawn(&evil_page());
        for outside in ["http://", "https://", "url(", "@import", "src=", "<img", "<iframe", "<object"] {
            let found: Vec<_> = html.match_indices(outside).map(|(i, _)| i).collect();
            let names = |i: &usize| html[*i..].starts_with("http://www.w3.org/2000/svg\"");
            assert!(found.iter().all(names), "{outside}");
        }
    }

    #[test]
    fn every_tag_is_closed_in_order() {
        let html = drawn(&evil_page());
        let mut open: Vec<&str> = Vec::new();
        for part in html.split('<').skip(1) {
            let (tag, _) = part.split_once('>').expect("a tag ends");
            let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name), "closes the wrong tag");
            } else if !tag.ends_with('/') && !["!DOCTYPE", "meta", "link"].contains(&name) {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn back_ticks_are_code() {
        assert_eq!(rich("`ftp` limits `<b>`"), "<code>ftp</code> limits <code>&lt;b&gt;</code>");
        assert_eq!(rich("one ` alone"), "one ` alone");
        let mut section = Section::new("h");
        section.prose = "`ftp` limits it".to_owned();
        let html = drawn(&Page { sections: vec![section], ..Page::default() });
        assert!(html.contains("<p><code>ftp</code> limits it</p>"));
    }

    /// The policy that the page sets itself allows its own parts: its icon is a data: URL.
    #[test]
    fn the_policy_allows_the_icon() {
        let html = drawn(&Page::default());
        assert!(html.contains("rel=\"icon\" href=\"data:,\"") && html.contains("img-src data:"));
    }

    #[test]
    fn readers_of_every_kind_find_their_way() {
        let mut section = Section::new("Flows");
        let mut table = TableView::new("Flows", vec![Column::words("Flow"), Column::numbers("RTT", "s")]);
        table.rows = vec![vec!["ftp 0".into(), "0.1".into()]];
        section.tables = vec![table];
        let html = drawn(&Page { sections: vec![section], ..Page::default() });
        assert!(html.contains("<a class=\"skip\" href=\"#content\">") && html.contains("<main id=\"content\">"));
        assert!(html.contains("<th scope=\"row\">ftp 0</th>"));
        assert!(!html.contains("<caption>"), "the heading says it");
    }

    /// A drawing is as wide as the page, however narrow; only tables are scrolled, and only they say so.
    #[test]
    fn a_drawing_fits_a_narrow_page() {
        let mut section = Section::new("Links");
        section.figures = vec![Figure::new("Queue", Axis::new("Time", "s"), Axis::new("Queue", "packets"))];
        let mut page = Page { sections: vec![section], ..Page::default() };
        let html = drawn(&page);
        assert!(html.contains("viewBox") && !html.contains("scroll sideways"));
        let rules: Vec<&str> = STYLE.lines().filter(|line| line.trim_start().starts_with("figure svg {")).collect();
        assert!(rules.iter().any(|rule| rule.contains("width: 100%") && rule.contains("height: auto")), "{rules:?}");
        for rule in &rules {
            let wide = rule.split([';', '{']).map(str::trim).filter(|rule| rule.ends_with("px"));
            assert!(wide.clone().all(|rule| rule.starts_with("max-width:")), "{rule}");
        }
        page.sections[0].tables =
            vec![TableView::new("Flows", ["Flow", "RTT", "Goodput", "Loss"].map(Column::words).to_vec())];
        assert_eq!(drawn(&page).matches("scroll sideways").count(), 1);
    }

    /// A page with many figures of long series has one drawing of each, and others two.
    #[test]
    fn drawings_for_narrow_screens_are_bounded() {
        let noisy: Vec<(f64, f64)> = (0..2000).map(|i| (f64::from(i), libm::sin(f64::from(i * i)))).collect();
        let mut section = Section::new("Links");
        let mut figure = Figure::new("Queue", Axis::new("Time", "s"), Axis::new("Queue", "packets"));
        figure.lines.push(Line::new("a", noisy).styled(crate::figure::Style::Dashed));
        section.figures = vec![figure];
        let few = drawn(&Page { sections: vec![section.clone()], ..Page::default() });
        assert_eq!((few.matches("<svg").count(), few.matches("class=\"plot narrow\"").count()), (2, 1));
        let figure = section.figures[0].clone();
        section.figures = vec![figure; 200];
        let many = drawn(&Page { sections: vec![section], ..Page::default() });
        assert_eq!((many.matches("<svg").count(), many.matches("class=\"plot\"").count()), (200, 200));
    }

    #[test]
    fn there_is_a_dark_page_and_print_stays_light() {
        let mut section = Section::new("Links");
        let mut figure = Figure::new("Queue", Axis::new("Time", "s"), Axis::new("Queue", "packets"));
        figure.lines.push(Line::new("a", vec![(0.0, 1.0), (1.0, 2.0)]).coloured("#2456c4"));
        section.figures = vec![figure];
        let html = drawn(&Page { sections: vec![section], ..Page::default() });
        assert!(html.contains("@media screen and (prefers-color-scheme: dark)"));
        assert_eq!(
            html.matches("prefers-color-scheme").count(),
            html.matches("screen and (prefers-color-scheme").count()
        );
        assert!(html.contains("svg [stroke=\"#2456C4\"] { stroke: #"), "lines are lighter there");
        assert!(html.contains("svg [fill=\"#FFFFFF\"] { fill: #171c20; }"));
    }

    #[test]
    fn sections_have_names_of_their_own() {
        let sections = ["Figure 5", "Figure 5", "", "\u{df}\u{2603}"].map(Section::new);
        assert_eq!(anchors(&sections), ["figure-5", "figure-5-2", "section", "section-2"]);
    }
}
