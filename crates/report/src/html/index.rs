//! The index of a page of papers: a small drawing of each figure with its verdicts. The viewer adds a choice of verdict, paper
//! and law.

use std::fmt::Write;

use super::{badge, escape};
use crate::figure::{Figure, Style};
use crate::page::{Page, Section, Verdict};
use crate::palette;
use crate::scale::{Fit, Ruler};
use crate::straight::straightened;
use crate::trace;

/// The anchor of the index.
pub(super) const ANCHOR: &str = "figure-index";
/// The size of a small drawing.
const WIDTH: f64 = 168.0;
const HEIGHT: f64 = 96.0;
const EDGE: f64 = 5.0;
/// So many columns and rows of a small drawing are visible.
const COLUMNS: usize = 40;
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
        // A curve says more in a small drawing than the points of cases, whose names it does not have.
        let curve = |figure: &&Figure| figure.lines.iter().any(|l| l.style != Style::Points && l.points.len() > 1);
        match section.figures.iter().find(curve).or(section.figures.first()) {
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
    let pixel = |at: (f64, f64)| (EDGE + at.0 * (WIDTH - 2.0 * EDGE), HEIGHT - EDGE - at.1 * (HEIGHT - 2.0 * EDGE));
    let _ = write!(
        out,
        "<svg class=\"thumb\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\"><rect x=\"0.5\" y=\"0.5\" width=\"{}\" \
         height=\"{}\" class=\"frame\"/>",
        WIDTH - 1.0,
        HEIGHT - 1.0
    );
    for line in lines() {
        let colour = palette::hex(palette::parse(&line.colour).unwrap_or(palette::GREY));
        let dot = |out: &mut String, at: (f64, f64)| {
            let fill = if line.hollow { "none" } else { colour.as_str() };
            let (cx, cy) = pixel(at);
            let _ =
                write!(out, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"2.2\" fill=\"{fill}\" stroke=\"{colour}\"/>");
        };
        if line.style == Style::Points {
            for at in trace::dots(&line.points, &x, &y, COLUMNS) {
                dot(out, at);
            }
            continue;
        }
        let dash = if line.style == Style::Dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        for piece in trace::strokes(&line.points, &x, &y, line.style == Style::Steps, COLUMNS) {
            // A line of one point has no stroke.
            if let [at] = piece[..] {
                dot(out, at);
                continue;
            }
            let tenths = |at: f64| (10.0 * at).round() as i32;
            let places = piece.into_iter().map(pixel).map(|at| (tenths(at.0), tenths(at.1)));
            let corner = |at: &(i32, i32)| format!("{},{}", f64::from(at.0) / 10.0, f64::from(at.1) / 10.0);
            let corners: Vec<String> = straightened(&places.collect::<Vec<_>>()).iter().map(corner).collect();
            let _ = write!(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"{dash}/>", corners.join(" "));
        }
    }
    out.push_str("</svg>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Line};

    #[test]
    fn what_swings_still_does_in_a_small_drawing() {
        let points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), f64::from(i % 100))).collect();
        let mut figure = Figure::new("t", Axis::new("x", ""), Axis::new("y", ""));
        figure.lines.push(Line::new("a", points).coloured("url(x)"));
        let mut out = String::new();
        thumbnail(&mut out, &figure);
        let corners = out.split("points=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let corners: Vec<(f64, f64)> = corners
            .split(' ')
            .map(|at| at.split_once(',').unwrap())
            .map(|at| (at.0.parse().unwrap(), at.1.parse().unwrap()))
            .collect();
        assert!(corners.len() <= 4 * COLUMNS + 2, "{}", corners.len());
        let ends = |at: fn(&(f64, f64)) -> f64| {
            corners.iter().map(at).fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)))
        };
        let (top, bottom) = ends(|at| at.1);
        assert!(bottom == HEIGHT - EDGE && top < 2.0 * EDGE, "{top} to {bottom}");
        assert!(corners.is_sorted_by_key(|at| at.0));
        let mut one = Figure::new("t", Axis::new("x", ""), Axis::new("y", ""));
        one.lines.push(Line::new("a", vec![(1.0, 2.0)]));
        let mut of_one = String::new();
        thumbnail(&mut of_one, &one);
        assert!(of_one.contains("<circle"), "{of_one}");
        assert!(out.len() < 3000 && !out.contains("url"), "{out}");
    }

    /// A curve that leaves the drawing ends at its rim, and a spiral keeps its shape.
    #[test]
    fn a_small_drawing_follows_a_curve_that_turns_back() {
        let angle = |i: u32| f64::from(i) / 100.0;
        let spiral = (0..5000).map(|i| (angle(i) * libm::cos(angle(i)), angle(i) * libm::sin(angle(i))));
        let mut figure =
            Figure::new("t", Axis::new("x", "").between(-20.0, 20.0), Axis::new("y", "").between(-20.0, 20.0));
        figure.lines.push(Line::new("a", spiral.collect()));
        let mut out = String::new();
        thumbnail(&mut out, &figure);
        let (middle, unit) = ((WIDTH / 2.0, HEIGHT / 2.0), ((WIDTH / 2.0 - EDGE) / 20.0, (HEIGHT / 2.0 - EDGE) / 20.0));
        let mut pieces = 0;
        for points in out.split("<polyline points=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            pieces += 1;
            let numbers: Vec<f64> = points.replace(',', " ").split(' ').map(|number| number.parse().unwrap()).collect();
            let radii =
                numbers.chunks(2).map(|at| libm::hypot((at[0] - middle.0) / unit.0, (at[1] - middle.1) / unit.1));
            let radii: Vec<f64> = radii.collect();
            // A turn of the spiral adds six and more to its radius: what skips one is no part of it.
            assert!(radii.windows(2).all(|two| (two[0] - two[1]).abs() < 3.0), "{radii:?}");
            assert!(numbers.iter().all(|at| (0.0..=WIDTH).contains(at)));
        }
        assert!(pieces > 2, "{pieces}");
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
