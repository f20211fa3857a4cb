//! The index of a page of papers: a small drawing of each figure with its verdicts. The viewer adds a choice of verdict, paper
//! and law.

use std::fmt::Write;

use super::{badge, escape};
use crate::figure::{Figure, Line, Style};
use crate::page::{Page, Section, Verdict};
use crate::palette;
use crate::scale::{Fit, Ruler};
use crate::straight::straightened;

/// The anchor of the index.
pub(super) const ANCHOR: &str = "figure-index";
/// The size of a small drawing.
const WIDTH: f64 = 168.0;
const HEIGHT: f64 = 96.0;
const EDGE: f64 = 5.0;
/// Most corners of a line: more are not visible.
const CORNERS: usize = 120;
/// With more lines only these are drawn.
const LINES: usize = 12;

/// Writes the index, where sections have the names of their laws.
pub(super) fn write(out: &mut String, page: &Page, anchors: &[String]) {
    let listed = || page.sections.iter().zip(anchors).filter(|(section, _)| is_listed(section));
    // Other pages have claims too.
    if listed().count() < 2 || page.sections.iter().all(|section| section.laws.is_empty()) {
        return;
    }
    let _ = writeln!(out, "<section class=\"index\" id=\"{ANCHOR}\">\n<h2>Figures</h2>\n<ul class=\"thumbs\">");
    for (section, anchor) in listed() {
        let verdicts = verdicts(section);
        let words: Vec<&str> = verdicts.iter().map(|(verdict, _)| verdict.class()).collect();
        let _ = write!(
            out,
            "<li data-section=\"{anchor}\" data-part=\"{}\" data-verdicts=\"{}\" data-laws=\"{}\"><a href=\"#{anchor}\">",
            escape(&section.part),
            words.join(" "),
            escape(&section.laws.join(" "))
        );
        match section.figures.first() {
            Some(figure) => thumbnail(out, figure),
            None => out.push_str("<span class=\"none\">table</span>"),
        }
        let _ = write!(out, "<span class=\"what\">{}</span></a>", escape(section.name()));
        for (verdict, count) in verdicts {
            let _ = write!(out, " {}<span class=\"count\">\u{d7}{count}</span>", badge(verdict));
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n</section>\n");
}

/// Whether a section is one of a paper's figures.
fn is_listed(section: &Section) -> bool {
    !section.laws.is_empty() || !section.claims.is_empty()
}

/// Each verdict that its claims have, with their number; the worst first.
fn verdicts(section: &Section) -> Vec<(Verdict, usize)> {
    let count = |verdict: Verdict| section.claims.iter().filter(|claim| claim.verdict == verdict).count();
    let all = [Verdict::Fails, Verdict::Undecided, Verdict::NotRunHere, Verdict::Holds, Verdict::Meets];
    all.map(|verdict| (verdict, count(verdict))).into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Lines alone, without words: their names are behind the link.
fn thumbnail(out: &mut String, figure: &Figure) {
    let lines = || figure.lines.iter().take(LINES);
    let values = |of: fn(&(f64, f64)) -> f64| lines().flat_map(move |line| line.points.iter().map(of));
    let x = Ruler::new(&figure.x, values(|p| p.0), Fit::Tight, 2);
    let y = Ruler::new(&figure.y, values(|p| p.1), Fit::FromZero, 2);
    let place = |&(px, py): &(f64, f64)| {
        let at = (EDGE + x.place(px) * (WIDTH - 2.0 * EDGE), HEIGHT - EDGE - y.place(py) * (HEIGHT - 2.0 * EDGE));
        (at.0.is_finite() && at.1.is_finite() && (-HEIGHT..=2.0 * WIDTH).contains(&at.1)).then_some(at)
    };
    let _ = write!(
        out,
        "<svg class=\"thumb\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\"><rect x=\"0.5\" y=\"0.5\" width=\"{}\" \
         height=\"{}\" class=\"frame\"/>",
        WIDTH - 1.0,
        HEIGHT - 1.0
    );
    for line in lines() {
        let colour = palette::hex(palette::parse(&line.colour).unwrap_or(palette::GREY));
        let places: Vec<(f64, f64)> = thinned(line).filter_map(place).collect();
        // A line of one point has no stroke.
        if line.style == Style::Points || places.len() == 1 {
            for (cx, cy) in places {
                let fill = if line.hollow { "none" } else { colour.as_str() };
                let _ = write!(
                    out,
                    "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"2.2\" fill=\"{fill}\" stroke=\"{colour}\"/>"
                );
            }
            continue;
        }
        let tenths = |at: f64| (10.0 * at).round() as i32;
        let corners = straightened(&places.iter().map(|at| (tenths(at.0), tenths(at.1))).collect::<Vec<_>>());
        let pixel = |tenths: i32| f64::from(tenths) / 10.0;
        let corners: Vec<String> = corners.iter().map(|at| format!("{},{}", pixel(at.0), pixel(at.1))).collect();
        let dash = if line.style == Style::Dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        let _ = write!(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"{dash}/>", corners.join(" "));
    }
    out.push_str("</svg>");
}

/// Some points of a line, evenly; of each step the lowest and the highest, so that oscillations stay visible.
fn thinned(line: &Line) -> impl Iterator<Item = &(f64, f64)> {
    let step = line.points.len().div_ceil(CORNERS / 2).max(1);
    line.points.chunks(step).flat_map(|chunk| {
        let by = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (low, high) = (chunk.iter().min_by(by), chunk.iter().max_by(by));
        let (first, second) = if low.map(|p| p.0) <= high.map(|p| p.0) { (low, high) } else { (high, low) };
        first.into_iter().chain(second.filter(|second| Some(*second) != first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Axis;

    #[test]
    fn what_swings_still_does_in_a_small_drawing() {
        let points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), f64::from(i % 100))).collect();
        let mut figure = Figure::new("t", Axis::new("x", ""), Axis::new("y", ""));
        figure.lines.push(Line::new("a", points).coloured("url(x)"));
        let kept: Vec<&(f64, f64)> = thinned(&figure.lines[0]).collect();
        assert!(kept.len() <= CORNERS + 2, "{}", kept.len());
        assert!(kept.iter().any(|p| p.1 == 0.0) && kept.iter().any(|p| p.1 == 99.0));
        assert!(kept.is_sorted_by_key(|p| p.0));
        let mut out = String::new();
        thumbnail(&mut out, &figure);
        let mut one = Figure::new("t", Axis::new("x", ""), Axis::new("y", ""));
        one.lines.push(Line::new("a", vec![(1.0, 2.0)]));
        let mut of_one = String::new();
        thumbnail(&mut of_one, &one);
        assert!(of_one.contains("<circle"), "{of_one}");
        assert!(out.len() < 3000 && !out.contains("url"), "{out}");
    }

    #[test]
    fn a_page_of_one_figure_has_no_index() {
        let figure = || Section { laws: vec!["<b>".into()], ..Section::new("one") };
        let mut page = Page { sections: vec![figure()], ..Page::default() };
        let mut out = String::new();
        write(&mut out, &page, &["one".into()]);
        assert_eq!(out, "");
        page.sections.push(figure());
        write(&mut out, &page, &["one".into(), "two".into()]);
        assert!(out.contains("data-laws=\"&lt;b&gt;\"") && out.contains("href=\"#two\""), "{out}");
    }
}
