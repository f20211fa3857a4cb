//! The contents of a page: links to its sections, and to the claims that fail.

use std::fmt::Write;

use super::{escape, slug};
use crate::page::{ClaimView, Page, Section, Tally, Verdict};

/// Where the page is when everything is shown.
pub(super) const ALL: &str = "everything";
/// Where the page is when only failures are shown.
pub(super) const FAILING: &str = "failures";

/// The name to link to of a claim.
pub(super) fn claim_anchor(id: &str) -> String {
    format!("claim-{}", slug(id))
}

/// Targets of the links that choose between everything and the failing claims. The style hides the others while the page is at
/// the second one; so there is no script.
pub(super) fn targets(out: &mut String, page: &Page) {
    if fails(page) {
        let _ = writeln!(out, "<span id=\"{ALL}\"></span><span id=\"{FAILING}\"></span>");
    }
}

/// The contents: in a row where headings are all there is; a line a section, part by part, where sections have labels.
pub(super) fn write(out: &mut String, page: &Page, anchors: &[String]) {
    let headed = || page.sections.iter().zip(anchors).filter(|(s, _)| !s.name().is_empty());
    if headed().count() > 2 {
        if page.sections.iter().any(|s| !s.label.is_empty()) {
            lists(out, headed());
        } else {
            out.push_str("<nav aria-label=\"Sections\">\n");
            for (section, anchor) in headed() {
                let _ = writeln!(out, "<a href=\"#{anchor}\">{}</a>", escape(section.name()));
            }
            out.push_str("</nav>\n");
        }
    }
    if fails(page) {
        failing(out, page);
    }
}

fn fails(page: &Page) -> bool {
    page.sections.iter().any(|s| s.failing() > 0)
}

/// A list a part: folded where there are several.
fn lists<'a>(out: &mut String, headed: impl Iterator<Item = (&'a Section, &'a String)>) {
    let headed: Vec<(&Section, &String)> = headed.collect();
    let parts = headed.chunk_by(|a, b| a.0.part == b.0.part);
    out.push_str("<nav class=\"contents\" aria-label=\"Contents\">\n");
    for sections in parts {
        let part = &sections[0].0.part;
        if !part.is_empty() {
            let tally = Tally::of(sections.iter().flat_map(|(s, _)| &s.claims));
            let counts = if tally.claims() == 0 { String::new() } else { escape(&tally.counts()) };
            let _ = writeln!(out, "<details><summary>{} <span class=\"count\">{counts}</span></summary>", escape(part));
        }
        out.push_str("<ul>\n");
        for (section, anchor) in sections {
            let count = match section.failing() {
                0 => String::new(),
                1 => " <span class=\"count\">1 fails</span>".to_owned(),
                n => format!(" <span class=\"count\">{n} fail</span>"),
            };
            let _ = writeln!(out, "<li><a href=\"#{anchor}\">{}</a>{count}</li>", escape(section.name()));
        }
        out.push_str("</ul>\n");
        if !part.is_empty() {
            out.push_str("</details>\n");
        }
    }
    out.push_str("</nav>\n");
}

/// The claims that fail, each with a link, and the links that show nothing else.
fn failing(out: &mut String, page: &Page) {
    let failing = || page.sections.iter().filter(|s| s.failing() > 0);
    let count: usize = failing().map(Section::failing).sum();
    let _ = writeln!(
        out,
        "<nav class=\"contents\" aria-label=\"Failures\">\n<p class=\"filter\">Show <a href=\"#{ALL}\">everything</a> or \
         <a href=\"#{FAILING}\">only failures</a>.</p>\n<details><summary>Failures <span \
         class=\"count\">{count}</span></summary>"
    );
    let sections: Vec<&Section> = failing().collect();
    for part in sections.chunk_by(|a, b| a.part == b.part) {
        if !part[0].part.is_empty() {
            let _ = writeln!(out, "<p class=\"filter\">{}</p>", escape(&part[0].part));
        }
        out.push_str("<ul>\n");
        for section in part {
            let claims = section.claims.iter().filter(|c| c.verdict == Verdict::Fails);
            let link = |c: &ClaimView| format!("<a href=\"#{}\">{}</a>", claim_anchor(&c.id), escape(&c.id));
            let links = claims.map(link).collect::<Vec<_>>().join(", ");
            let _ = writeln!(out, "<li>{}: {links}</li>", escape(section.name()));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</details>\n</nav>\n");
}
