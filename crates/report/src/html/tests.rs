use super::*;
use crate::figure::{Axis, Figure, Line, Mark};
use crate::heat::{HeatAxis, HeatMap};
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
    let axis = || HeatAxis { label: e(), values: vec![e()] };
    let map = HeatMap {
        title: e(),
        x: axis(),
        y: axis(),
        unit: e(),
        rows: vec![vec![Some(1.0)]],
        range: (1.0, 2.0),
        scale: crate::figure::Scale::Linear,
    };
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
        maps: vec![map],
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
    assert_eq!(html.matches("prefers-color-scheme").count(), html.matches("screen and (prefers-color-scheme").count());
    assert!(html.contains("svg [stroke=\"#2456C4\"] { stroke: #"), "lines are lighter there");
    assert!(html.contains("svg [fill=\"#FFFFFF\"] { fill: #171c20; }"));
}

#[test]
fn sections_have_names_of_their_own() {
    let sections = ["Figure 5", "Figure 5", "", "\u{df}\u{2603}"].map(Section::new);
    assert_eq!(anchors(&sections), ["figure-5", "figure-5-2", "section", "section-2"]);
}
