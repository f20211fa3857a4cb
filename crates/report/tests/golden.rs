//! Figures and pages as committed texts. After a wanted change: look at the difference, then
//! `PENSTOCK_BLESS=1 cargo test -p penstock-report`.

use penstock_report::assemble::{PaperFigure, PaperView, of_paper};
use penstock_report::{Axis, ClaimView, Figure, Line, Mark, Style, Verdict, html, svg, text};

/// Compares with the committed text, or rewrites it where `PENSTOCK_BLESS` is set.
fn golden(name: &str, actual: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("PENSTOCK_BLESS").is_some() {
        assert!(std::env::var_os("CI").is_none(), "PENSTOCK_BLESS accepts what there is: not where CI is set");
        std::fs::write(&path, actual).expect("the tree can be written to");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((line, (was, is))) =
        expected.lines().chain([""]).zip(actual.lines().chain([""])).enumerate().find(|(_, (a, b))| a != b)
    {
        panic!("{name}, line {}:\n  was {was}\n  is  {is}\nlook at the difference, then PENSTOCK_BLESS=1", line + 1);
    }
    assert_eq!(expected, actual, "{name}");
}

fn sweep() -> Figure {
    let rates = [155e6, 622e6, 2.488e9, 10e9];
    let x = Axis::new("Bottleneck rate", "bit/s").log().ticks_at(rates);
    let mut figure = Figure::new("Utilization", x, Axis::new("Utilization", ""))
        .captioned("Mean over 10 seeds; the band is the 95 % confidence interval for the mean.");
    for (name, colour, values) in
        [("NewReno/RED", "#c1440e", [0.96, 0.9, 0.83, 0.71]), ("FAST", "#0b6e99", [0.97, 0.98, f64::NAN, 0.98])]
    {
        let points: Vec<(f64, f64)> = rates.iter().copied().zip(values).collect();
        let band = points.iter().map(|p| (p.0, p.1 - 0.02, p.1 + 0.01)).collect();
        figure.lines.push(Line::new(name, points).coloured(colour).banded(band));
    }
    figure
}

fn steps() -> Figure {
    let mut figure = Figure::new("Offered rate", Axis::new("Time", "s"), Axis::new("Rate", "bit/s"));
    let points = vec![(0.0, 50e6), (5.0, 120e6), (10.0, 80e6), (15.0, 80e6)];
    figure.lines.push(Line::new("constant source", points).styled(Style::Steps).coloured("#7a7a7a"));
    figure.lines.push(Line::new("aim", vec![(0.0, 60e6), (15.0, 90e6)]).styled(Style::Dashed));
    figure.marks.push(Mark::Horizontal { at: 100e6, label: "ceiling".to_owned() });
    figure.marks.push(Mark::Vertical { at: 7.5, label: "contract changes".to_owned() });
    figure.marks.push(Mark::Point { x: 5.0, y: 70e6, label: "crossing".to_owned() });
    figure
}

#[test]
fn nothing_is_accepted_where_ci_is_set() {
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "figures"]).env("CI", "1").env("PENSTOCK_BLESS", "1");
    let ended = test.output().unwrap();
    assert!(!ended.status.success() && String::from_utf8_lossy(&ended.stdout).contains("not where CI is set"));
}

#[test]
fn figures() {
    golden("sweep.svg", &svg::draw(&sweep()));
    golden("steps.svg", &svg::draw(&steps()));
}

#[test]
fn a_paper() {
    let claim = |id: &str, verdict, recorded| ClaimView {
        id: id.to_owned(),
        quotation: "achieves nearly full utilization & empty queues".to_owned(),
        place: "section 5, Figure 5".to_owned(),
        bound: "\u{2265} 0.95".to_owned(),
        measured: "0.981".to_owned(),
        verdict,
        recorded: Some(recorded),
        ours: id == "order",
        unstated: false,
        certainty: String::new(),
        reason: if id == "order" { "The `red` queue swings.".to_owned() } else { String::new() },
        note: String::new(),
    };
    let page = of_paper(&PaperView {
        title: "A paper".to_owned(),
        citation: "Its authors, 2003".to_owned(),
        results: String::new(),
        explained_in: "papers/a/README.md".to_owned(),
        short: false,
        header: vec![("Version".to_owned(), "0.1.0".to_owned())],
        figures: vec![
            PaperFigure {
                id: "Figure 5".to_owned(),
                title: "Utilization".to_owned(),
                claims: vec![
                    claim("full", Verdict::Holds, Verdict::Holds),
                    claim("order", Verdict::Fails, Verdict::Holds),
                ],
                scenario_text: "format = 1\n".to_owned(),
                command: "penstock paper a/5".to_owned(),
                ..PaperFigure::default()
            },
            PaperFigure {
                id: "Table 2".to_owned(),
                claims: vec![claim("far", Verdict::NotRunHere, Verdict::Holds)],
                not_run: Some("it needs another continent.".to_owned()),
                ..PaperFigure::default()
            },
        ],
    });
    let html = html::write_with(&page, None);
    let body = html.split_once("<body>").expect("a page has a body").1;
    golden("paper.html", &format!("<body>{body}"));
    golden("paper.txt", &text::page(&page));
}
