use proptest::prelude::*;

use super::*;
use crate::figure::{Axis, Scale, Tick};

fn plain(lines: Vec<Line>) -> Figure {
    let mut figure = Figure::new("Queue", Axis::new("Time", "s"), Axis::new("Queue", "packets"));
    figure.lines = lines;
    figure
}

/// The words of a figure, in order.
fn words(svg: &str) -> Vec<String> {
    svg.split("<text").skip(1).map(|t| t.split(['>', '<']).nth(1).unwrap_or_default().trim().to_owned()).collect()
}

/// The coordinates of every line: those of a polyline, of a path of steps, and of the segments of a path.
fn polylines(svg: &str) -> Vec<Vec<(i32, i32)>> {
    let value = |element: &str, name: &str| -> Option<String> {
        Some(element.split_once("/>")?.0.split_once(name)?.1.split('"').next()?.to_owned())
    };
    let numbers = |text: &str| -> Vec<i32> {
        text.replace(',', " ").split_whitespace().map(|n| n.parse().expect("a number")).collect()
    };
    let pairs = |all: Vec<i32>| -> Vec<(i32, i32)> { all.chunks(2).map(|p| (p[0], p[1])).collect() };
    let plain = svg.split("<polyline").skip(1).filter_map(|e| value(e, "points=\"")).map(|p| pairs(numbers(&p)));
    let paths = || svg.split("<path fill=\"none\"").skip(1);
    let segments = paths().filter_map(|e| value(e, " d=\"M"));
    let segments = segments.flat_map(|d| d.split('M').map(|s| pairs(numbers(s))).collect::<Vec<_>>());
    let steps = paths().filter_map(|e| value(e, " d=\"m")).map(|d| {
        let mut at = (0, 0);
        let reach = |step: (i32, i32)| {
            at = (at.0 + step.0, at.1 + step.1);
            at
        };
        pairs(numbers(&d.replace('-', " -"))).into_iter().map(reach).collect()
    });
    plain.chain(segments).chain(steps).collect()
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
    assert_eq!(words[2..6], ["155M", "622M", "2.5G", "10G"]);
    assert!(words.contains(&"Rate [bit/s]".to_owned()), "{words:?}");
}

/// Cases whose names differ at the end only, and more of them than an axis has room for.
#[test]
fn names_along_an_axis_stay_whole() {
    let case = |i: usize| format!("newreno, dumbbell-with-two-way-traffic, initial_window {i} packets");
    for (count, width) in [(2, WIDTH), (3, WIDTH), (20, WIDTH), (2, NARROW), (20, NARROW)] {
        let mut figure = plain(vec![Line::new("", (0..count).map(|i| (i as f64, 1.0)).collect())]);
        figure.x = Axis::new("", "").between(-0.5, count as f64 - 0.5);
        figure.x.ticks = (0..count).map(|i| Tick { at: i as f64, label: Some(case(i)) }).collect();
        let glued = words(&draw_in(&figure, width)).concat().replace(' ', "");
        for i in 0..count {
            assert!(glued.contains(&case(i).replace(' ', "")), "{count} in {width}: {glued}");
        }
        let plan = Plan::new(&figure, width);
        let ends = plan.x_labels.iter().map(|(tick, lines)| {
            let half = lines.iter().map(|line| text_width(line, TICK_SIZE as f64)).fold(0.0, f64::max) / 2.0;
            let middle = plan.area.at((tick.at, 0.0)).0;
            (middle - half, middle + half)
        });
        let ends: Vec<(f64, f64)> = ends.collect();
        assert!(ends.windows(2).all(|two| two[0].1 < two[1].0), "{count} in {width}: {ends:?}");
    }
}

/// The names of lines are whole too, in rows as wide as the figure.
#[test]
fn names_of_the_legend_stay_whole() {
    let name = |i: usize| format!("newreno, dumbbell-with-two-way-traffic, initial_window {i} packets");
    let figure = plain((0..3).map(|i| Line::new(name(i), vec![(0.0, 1.0), (1.0, i as f64)])).collect());
    for width in [WIDTH, NARROW] {
        let glued = words(&draw_in(&figure, width)).concat().replace(' ', "");
        assert!((0..3).all(|i| glued.contains(&name(i).replace(' ', ""))), "{glued}");
    }
}

/// On a screen of 360 pixels a drawing has 310: its edges, and those of the page, take the others.
#[test]
fn words_of_a_narrow_drawing_are_legible() {
    let figure = plain(vec![Line::new("a", vec![(0.0, 1.0), (1.0, 1000.0)])]);
    let svg = draw_narrow(&figure);
    let number = |name: &str| -> Vec<f64> {
        svg.split(name).skip(1).filter_map(|rest| rest.split(['"', ' ']).next()?.parse().ok()).collect()
    };
    let (box_width, sizes) = (number("viewBox=\"0 0 ")[0], number("font-size=\""));
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    // The backend's font sizes are those of a font whose capitals it took for the whole.
    assert!(words(&svg).len() > 5 && least * 310.0 / box_width >= 10.0, "{least} in {box_width}");
}

#[test]
fn nothing_is_drawn_outside_of_the_axes() {
    let wild = vec![(-1e9, 5.0), (0.5, 1e12), (0.6, -1e12), (1e9, 5.0)];
    let mut figure = plain(vec![Line::new("", wild)]);
    figure.x.range = Some((0.0, 1.0));
    figure.y.range = Some((0.0, 10.0));
    let plan = Plan::new(&figure, WIDTH);
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
    let plan = Plan::new(&figure, WIDTH);
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
fn an_axis_that_is_logarithmic_or_leaves_out_zero_says_so() {
    let said = |figure: &Figure| words(&draw(figure)).into_iter().filter(|w| w.contains(" ax")).collect::<Vec<_>>();
    let line = |low: f64| vec![Line::new("", (0..100).map(|i| (i as f64, low + i as f64)).collect())];
    assert!(said(&plain(line(0.0))).is_empty());
    assert_eq!(said(&plain(line(1000.0))), ["y axis does not include 0"]);
    let mut figure = plain(line(1.0));
    figure.y = figure.y.log();
    assert_eq!(said(&figure), ["y axis logarithmic"]);
    figure.x = figure.x.log();
    assert_eq!(said(&figure), ["both axes logarithmic"]);
    assert!(said(&plain(vec![])).is_empty(), "no data, no note");
}

/// A peak of the start-up does not flatten the rest: it is cut off, and the figure says how far it goes.
#[test]
fn the_warm_up_is_shaded_and_does_not_set_the_scale() {
    let value = |i: usize| if i == 5 { 8000.0 } else { (i % 7) as f64 };
    let mut figure = plain(vec![Line::new("", (0..100).map(|i| (i as f64, value(i))).collect())]);
    assert!(Plan::new(&figure, WIDTH).y.place(8000.0) <= 1.0);
    assert!(!draw(&figure).contains("opacity=\"0.14\""));
    figure.warm_up = Some(20.0);
    let plan = Plan::new(&figure, WIDTH);
    assert!(plan.y.place(6.0) > 0.5 && plan.y.place(8000.0) > 1.0);
    let svg = draw(&figure);
    assert!(svg.contains("opacity=\"0.14\""), "it is shaded");
    assert!(words(&svg).contains(&"warm-up cut off: it reaches 8000 packets".to_owned()), "{:?}", words(&svg));
    figure.lines[0].points[5].1 = 8.0;
    assert!(Plan::new(&figure, WIDTH).y.place(8.0) <= 1.0, "a little more is shown");
    figure.lines[0].points.retain(|p| p.0 <= 20.0);
    assert!(Plan::new(&figure, WIDTH).y.place(8.0) <= 1.0, "nothing but warm-up is shown as it is");
}

#[test]
fn a_block_of_ink_is_drawn_as_mean_and_range() {
    let noisy = |n: usize| plain(vec![Line::new("", (0..n).map(|i| (i as f64, libm::sin((i * i) as f64))).collect())]);
    let note = "line: mean of neighbouring samples, shade: their range".to_owned();
    let svg = draw(&noisy(5000));
    assert!(words(&svg).contains(&note) && svg.contains("z\"/>"), "a band is a closed path");
    assert!(!words(&draw(&noisy(100))).contains(&note));
}

#[test]
fn data_of_others_have_the_shape_of_ours_and_are_hollow() {
    let mut figure = plain(Vec::new());
    for (name, colour) in [("Reno", "#c1440e"), ("Cubic", "#2456c4")] {
        let points = vec![(0.0, 1.0), (1.0, 2.0)];
        figure.lines.push(Line::new(name, points.clone()).coloured(colour));
        figure.lines.push(Line::new(format!("{name}, paper"), points).coloured(colour).styled(Style::Points).hollow());
    }
    let shapes: Vec<Shape> = (0..4).map(|i| shape(&figure, i)).collect();
    assert_eq!(shapes, [Shape::Circle, Shape::Circle, Shape::Square, Shape::Square]);
    // Of each hollow marker the inside is white: two in the drawing and one in the legend.
    assert_eq!(draw(&figure).matches("<circle").count(), 3 + 2 * 3);
}

#[test]
fn every_colour_of_a_drawing_has_one_for_the_dark_page() {
    let mut figure = plain(vec![Line::new("a", vec![(0.0, 1.0), (1.0, 5.0)]).coloured("#2456c4")]);
    figure.marks.push(Mark::Point { x: 0.5, y: 3.0, label: "here".to_owned() });
    figure.warm_up = Some(0.5);
    let known = on_dark(std::iter::once(&figure));
    let svg = draw(&figure);
    for attribute in ["fill=\"#", "stroke=\"#"] {
        for colour in svg.split(attribute).skip(1).map(|rest| format!("#{}", &rest[..6])) {
            assert!(known.contains_key(&colour), "{colour}");
        }
    }
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
    (".{0,12}", ".{0,8}", style, any::<bool>(), points, band).prop_map(|(name, colour, style, hollow, points, band)| {
        Line { name, colour, style, hollow, points, band, range: None, spread: None }
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
    let warm_up = proptest::option::of(number());
    (".{0,120}", ".{0,20}", axis(), axis(), lines, marks, any::<bool>(), warm_up).prop_map(
        |(title, caption, x, y, lines, marks, equal_aspect, warm_up)| Figure {
            stacked: false,
            title,
            caption,
            x,
            y,
            lines,
            marks,
            equal_aspect,
            warm_up,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_data_a_figure_is_drawn(figure in figure()) {
        for wide in [WIDTH, NARROW] {
            let svg = draw_in(&figure, wide);
            prop_assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            prop_assert_eq!(svg.matches("<svg").count(), 1);
            // Everything lies on the canvas, give or take the size of a marker.
            let plan = Plan::new(&figure, wide);
            let (width, height) = (wide as i32 * 10 + 60, plan.height as i32 * 10 + 60);
            for (x, y) in polylines(&svg).into_iter().flatten() {
                prop_assert!((-60..=width).contains(&x) && (-60..=height).contains(&y), "{} {}", x, y);
            }
            prop_assert_eq!(draw_in(&figure, wide), svg);
        }
    }
}

/// Of a stack nothing is to the left of its first time, neither axis nor warm-up, and its bands are not shades.
#[test]
fn a_stack_begins_where_its_data_do() {
    let mut figure = Figure::new("t", Axis::new("Time", "s"), Axis::new("Goodput", "bit/s"));
    figure.stacked = true;
    figure.warm_up = Some(10.0);
    let band = (0..100).map(|i| (f64::from(i), 0.0, 1e6)).collect();
    figure.lines.push(Line::new("a", Vec::new()).coloured("#0b6e99").banded(band));
    let plan = Plan::new(&figure, WIDTH);
    assert_eq!(plan.x.place(0.0), 0.0);
    let note = "means of neighbouring samples";
    assert!(draw(&figure).contains("0.75"), "as opaque as the viewer draws it");
    assert!(!words(&draw(&figure)).iter().any(|words| words == note));
    figure.lines[0].band = Some((0..1000).map(|i| (f64::from(i), 0.0, 1e6)).collect());
    assert!(words(&draw(&figure)).iter().any(|words| words == note), "a column of pixels has several samples");
}

/// Two marks side by side: the words of the second one are not over those of the first.
#[test]
fn words_of_marks_do_not_cover_each_other() {
    let mut figure =
        Figure::new("t", Axis::new("Delay", "s").between(0.0, 1.0), Axis::new("Share", "").between(0.0, 1.0));
    figure.lines.push(Line::new("a", vec![(0.0, 0.5), (1.0, 0.5)]));
    for (at, label) in [(0.3, "p99 of bottleneck/back"), (0.31, "p99 of bottleneck")] {
        figure.marks.push(Mark::Vertical { at, label: label.to_owned() });
    }
    let svg = draw(&figure);
    let place = |label: &str| {
        let said = |text: &&str| text.split(['>', '<']).nth(1).is_some_and(|words| words.trim() == label);
        let words = svg.split("<text").skip(1).find(said).expect("the label");
        let number = |name: &str| -> f64 {
            words.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        (number(" x"), number(" y"), words.contains("end"))
    };
    let (first, second) = (place("p99 of bottleneck/back"), place("p99 of bottleneck"));
    assert!((first.1 - second.1).abs() > 10.0 || first.2 != second.2, "{first:?} {second:?}");
}
