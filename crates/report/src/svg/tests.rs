use proptest::prelude::*;

use super::*;
use crate::figure::{Axis, Scale, Tick};

fn plain(lines: Vec<Line>) -> Figure {
    let mut figure = Figure::new("Queue", Axis::new("Time", "s"), Axis::new("Queue", "packets"));
    figure.lines = lines;
    figure
}

/// What the words of a figure say, in order.
fn words(svg: &str) -> Vec<String> {
    svg.split("<text").skip(1).map(|t| t.split(['>', '<']).nth(1).unwrap_or_default().trim().to_owned()).collect()
}

/// The coordinates of every polyline.
fn polylines(svg: &str) -> Vec<Vec<(i32, i32)>> {
    let points = svg.split("<polyline").skip(1).filter_map(|p| p.split("points=\"").nth(1)?.split('"').next());
    let pair = |p: &str| p.split_once(',').and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
    points.map(|p| p.split_whitespace().filter_map(pair).collect()).collect()
}

#[test]
fn a_figure_has_a_role_and_words_for_those_who_do_not_see_it() {
    let svg = draw(&plain(vec![Line::new("FAST", vec![(0.0, 1.0), (1.0, 2.0)])]).captioned("At 622 Mbit/s"));
    assert!(svg.contains("role=\"img\""));
    assert!(svg.contains("<title>Queue</title>"));
    assert!(svg.contains("<desc>At 622 Mbit/s. Queue over Time. Lines: FAST.</desc>"));
}

#[test]
fn a_figure_without_data_says_so_and_makes_up_no_numbers() {
    for lines in [vec![], vec![Line::new("a", vec![])], vec![Line::new("a", vec![(0.0, f64::NAN)])]] {
        assert_eq!(words(&draw(&plain(lines))), ["Queue", "Time [s]", "Queue [packets]", "No data"]);
    }
}

#[test]
fn a_gap_breaks_the_line() {
    let whole: Vec<(f64, f64)> = (0..100).map(|i| (i as f64, i as f64)).collect();
    let mut broken = whole.clone();
    broken[50].1 = f64::NAN;
    let count = |points| polylines(&draw(&plain(vec![Line::new("", points)]))).len();
    assert_eq!(count(broken), count(whole) + 1);
}

#[test]
fn swept_values_are_the_ticks() {
    let rates = [155e6, 622e6, 2.5e9, 10e9];
    let mut figure = plain(vec![Line::new("", rates.iter().map(|r| (*r, 1.0)).collect())]);
    figure.x = Axis::new("Rate", "bit/s").log().ticks_at(rates);
    let words = words(&draw(&figure));
    assert_eq!(words[1..5], ["155M", "622M", "2.5G", "10G"]);
    assert!(words.contains(&"Rate [bit/s]".to_owned()), "{words:?}");
}

#[test]
fn nothing_is_drawn_outside_of_the_axes() {
    let wild = vec![(-1e9, 5.0), (0.5, 1e12), (0.6, -1e12), (1e9, 5.0)];
    let mut figure = plain(vec![Line::new("", wild)]);
    figure.x.range = Some((0.0, 1.0));
    figure.y.range = Some((0.0, 10.0));
    let plan = Plan::new(&figure);
    let inside = |p: &(i32, i32)| {
        let (x, y) = (p.0 as f64 / 10.0, p.1 as f64 / 10.0);
        x >= plan.area.left - 0.1
            && x <= plan.area.right + 0.1
            && y >= plan.area.top - 0.1
            && y <= plan.area.bottom + 4.1
    };
    let lines = polylines(&draw(&figure));
    assert!(lines.iter().flatten().all(inside), "{lines:?}");
}

#[test]
fn a_unit_is_equally_long_both_ways_where_asked() {
    let mut figure = plain(vec![Line::new("", vec![(-3.0, -1.0), (1.0, 1.0)])]);
    figure.equal_aspect = true;
    let plan = Plan::new(&figure);
    let (x0, y0) = plan.area.at((plan.x.place(0.0), plan.y.place(0.0)));
    let (x1, y1) = plan.area.at((plan.x.place(1.0), plan.y.place(1.0)));
    assert!(((x1 - x0) - (y0 - y1)).abs() < 1e-6, "{} {}", x1 - x0, y0 - y1);
}

#[test]
fn long_series_stay_small_files() {
    let noisy = |k: usize| (0..50_000).map(move |i| (i as f64, libm::sin((i * i * (k + 1)) as f64))).collect();
    let svg = draw(&plain((0..12).map(|k| Line::new(format!("flow {k}"), noisy(k))).collect()));
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    let dashed = (0..12).map(|k| Line::new(format!("flow {k}"), noisy(k)).styled(Style::Dashed));
    let svg = draw(&plain(dashed.collect()));
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
}

#[test]
fn dashes_are_drawn_by_the_reader() {
    let svg = draw(&plain(vec![Line::new("a", vec![(0.0, 0.0), (1.0, 1.0)]).styled(Style::Dashed)]));
    assert!(svg.contains("stroke-width=\"18\" stroke-dasharray=\"60 40\""), "{svg}");
    let odd = svg.split("stroke-width=\"").skip(1).filter_map(|w| w.split('"').next()?.parse::<u32>().ok());
    assert!(odd.into_iter().all(|w| w % 2 == 0));
}

#[test]
fn labels_of_marks_keep_off_the_data() {
    let area = Area { left: 0.0, right: 100.0, top: 0.0, bottom: 100.0 };
    let seats = [(50.0, 20.0, Start), (50.0, 80.0, Start)];
    assert_eq!(area.best_seat(&seats, 30.0, &[(60.0, 20.0)]), seats[1]);
    assert_eq!(area.best_seat(&seats, 30.0, &[]), seats[0]);
    assert_eq!(area.best_seat(&[(90.0, 50.0, Start), (90.0, 50.0, End)], 30.0, &[(80.0, 50.0)]).2, End);
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3,
        1 => proptest::num::f64::ANY,
        1 => proptest::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324]),
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    let unit = proptest::sample::select(vec!["", "s", "bit/s", "packets", "B", "<u>"]);
    let tick = (number(), proptest::option::of(".{0,9}")).prop_map(|(at, label)| Tick { at, label });
    let ticks = proptest::collection::vec(tick, 0..4);
    (".{0,12}", unit, any::<bool>(), proptest::option::of((number(), number())), ticks).prop_map(
        |(label, unit, log, range, ticks)| Axis {
            label,
            unit: unit.to_owned(),
            scale: if log { Scale::Log } else { Scale::Linear },
            range,
            ticks,
        },
    )
}

fn line() -> impl Strategy<Value = Line> {
    let style = proptest::sample::select(vec![Style::Solid, Style::Dashed, Style::Points, Style::Steps]);
    let points = proptest::collection::vec((number(), number()), 0..60);
    let band = proptest::option::of(proptest::collection::vec((number(), number(), number()), 0..20));
    (".{0,12}", ".{0,8}", style, points, band).prop_map(|(name, colour, style, points, band)| Line {
        name,
        colour,
        style,
        points,
        band,
    })
}

fn mark() -> impl Strategy<Value = Mark> {
    (0..3, number(), number(), ".{0,20}").prop_map(|(kind, x, y, label)| match kind {
        0 => Mark::Horizontal { at: y, label },
        1 => Mark::Vertical { at: x, label },
        _ => Mark::Point { x, y, label },
    })
}

fn figure() -> impl Strategy<Value = Figure> {
    let lines = proptest::collection::vec(line(), 0..5);
    let marks = proptest::collection::vec(mark(), 0..4);
    (".{0,120}", ".{0,20}", axis(), axis(), lines, marks, any::<bool>()).prop_map(
        |(title, caption, x, y, lines, marks, equal_aspect)| Figure {
            title,
            caption,
            x,
            y,
            lines,
            marks,
            equal_aspect,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_data_a_figure_is_drawn(figure in figure()) {
        let svg = draw(&figure);
        prop_assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        prop_assert_eq!(svg.matches("<svg").count(), 1);
        // Everything lies on the canvas, give or take the size of a marker.
        let plan = Plan::new(&figure);
        let (width, height) = (WIDTH as i32 * 10 + 60, plan.height as i32 * 10 + 60);
        for (x, y) in polylines(&svg).into_iter().flatten() {
            prop_assert!((-60..=width).contains(&x) && (-60..=height).contains(&y), "{} {}", x, y);
        }
        prop_assert_eq!(draw(&figure), svg);
    }
}
