//! Figures of transfers, web pages and video: distributions of how long they took, and chunks over time.

use penstock_scenario::transfer::SIZE_CLASSES;
use penstock_scenario::world::{Cells, Kind, Table};

use crate::assemble::measures::class_of_size;
use crate::figure::{Axis, Figure, Line, Style};
use crate::number::words;
use crate::page::Section;
use crate::palette;

/// Points of a curve, at the most: more are too close together to be visible.
const POINTS: usize = 500;

/// The cumulative distributions of those that ended after the warm-up: a curve a group, or of one group a curve a class of size.
/// `colour` gives the colours that some groups have.
pub(super) fn section(table: &Table, warm_up_s: f64, colour: &dyn Fn(&str) -> Option<String>) -> Option<Section> {
    let numbers = |name: &str| match &table.columns.iter().find(|column| column.name == name)?.values {
        Cells::Number(values) => Some(values.clone()),
        Cells::Count(values) => Some(values.iter().map(|value| *value as f64).collect()),
        Cells::Name { .. } => None,
    };
    let flow = &table.columns.iter().find(|column| column.name == "flow")?.values;
    let Cells::Name { names, rows: flows } = flow else { return None };
    let (ended, bytes) = (numbers("ended_s")?, numbers("bytes")?);
    let mut parts: indexmap::IndexMap<String, Vec<usize>> = indexmap::IndexMap::new();
    let group = |row: usize| names[flows[row] as usize].rsplit_once('/').map_or("", |(group, _)| group);
    let counted: Vec<usize> = (0..flows.len()).filter(|row| ended[*row] >= warm_up_s).collect();
    for row in &counted {
        parts.entry(group(*row).to_owned()).or_default().push(*row);
    }
    let groups = parts.len();
    let mut wanted: Vec<Option<String>> = parts.keys().map(|name| colour(name)).collect();
    if parts.len() == 1 && table.name == "transfers" {
        let class =
            |row: usize| SIZE_CLASSES.iter().find(|(_, most)| bytes[row] <= most.0 as f64).map(|(name, _)| *name);
        let of = |name: &str| counted.iter().copied().filter(|row| class(*row) == Some(name)).collect::<Vec<usize>>();
        let classes = SIZE_CLASSES.iter().map(|(name, _)| (class_of_size(name), of(name)));
        let classes: Vec<(String, Vec<usize>)> = classes.filter(|(_, rows)| !rows.is_empty()).collect();
        if classes.len() > 1 {
            wanted.extend(classes.iter().map(|_| None));
            parts.extend(classes);
        }
    }
    let wanted: Vec<Option<&str>> = wanted.iter().map(Option::as_deref).collect();
    let colours = palette::assign(&wanted);
    let mut section = Section::new(words(&table.name));
    for (column, title, unit, caption) in [
        ("load_s", "Page load time", "s", "Share of the pages that took no longer."),
        ("completion_s", "Completion time", "s", "Share of the transfers that took no longer."),
        (
            "slowdown",
            "Slowdown",
            "",
            "Share of the transfers with no larger slowdown: their time over that of the same transfer alone.",
        ),
    ] {
        let Some(values) = numbers(column) else { continue };
        let mut figure = Figure::new(title, Axis::new(title, unit).log(), Axis::new("Share", "").between(0.0, 1.0));
        for ((name, rows), colour) in parts.iter().zip(&colours) {
            let points = distribution(rows.iter().map(|row| values[*row]).collect());
            figure.lines.push(Line::new(name.clone(), points).coloured(colour.clone()).styled(Style::Steps));
        }
        if !figure.is_empty() {
            section.figures.push(figure.captioned(caption));
        }
    }
    if let Some(times) = numbers("completion_s").filter(|_| table.name == "transfers") {
        let groups = parts.iter().zip(&colours).take(groups);
        let samples = groups.map(|((name, rows), colour)| {
            (name.as_str(), colour.as_str(), rows.iter().map(|row| (bytes[*row], times[*row])).collect())
        });
        section.figures.extend(by_size(samples));
    }
    (!section.figures.is_empty()).then_some(section)
}

/// Classes of size in each factor of ten.
const CLASSES: f64 = 4.0;

/// Completion times over the size: of each group the median of each class of size, and on demand the least and greatest. None
/// where all transfers are of one size.
fn by_size<'a>(groups: impl Iterator<Item = (&'a str, &'a str, Vec<(f64, f64)>)>) -> Option<Figure> {
    let (x, y) = (Axis::new("Size", "B").log(), Axis::new("Completion time", "s").log());
    let mut figure = Figure::new("Completion time by size", x, y).captioned(
        "Median over the transfers of each class of size, four to a factor of ten, at the mean size of the class.",
    );
    for (name, colour, mut samples) in groups {
        samples.retain(|(bytes, time)| *bytes > 0.0 && time.is_finite() && *time > 0.0);
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut points, mut range) = (Vec::new(), Vec::new());
        let class = |bytes: f64| libm::floor(CLASSES * libm::log10(bytes));
        for alike in samples.chunk_by(|a, b| class(a.0) == class(b.0)) {
            let mut times: Vec<f64> = alike.iter().map(|s| s.1).collect();
            times.sort_unstable_by(f64::total_cmp);
            let size = alike.iter().map(|s| s.0).sum::<f64>() / alike.len() as f64;
            let middle = f64::midpoint(times[(times.len() - 1) / 2], times[times.len() / 2]);
            points.push((size, middle));
            range.push((size, times[0], times[times.len() - 1]));
        }
        if points.len() > 1 {
            figure.lines.push(Line::new(name, points).coloured(colour).ranged(range));
        }
    }
    (!figure.is_empty()).then_some(figure)
}

/// Chunks as a series over time: when each came, its rate, and the player's buffer level then.
pub(super) fn over_time(chunks: &Table) -> Table {
    let mut series = chunks.clone();
    series.columns.retain(|column| !["number", "requested_s"].contains(&column.name.as_str()));
    for column in series.columns.iter_mut().filter(|column| column.name == "arrived_s") {
        "time_s".clone_into(&mut column.name);
        column.kind = Kind::Key;
    }
    series
}

/// The cumulative distribution of positive values: values, and the share that is no larger.
fn distribution(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.retain(|value| value.is_finite() && *value > 0.0);
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let steps = n.min(POINTS);
    let rank = |step: usize| (step * n).div_ceil(steps);
    (1..=steps).map(rank).map(|rank| (values[rank - 1], rank as f64 / n as f64)).collect()
}

#[cfg(test)]
mod tests {
    use penstock_law::Registry;
    use penstock_law::quantity::{Rate, Time};
    use penstock_scenario::video::{self, Chunk};
    use penstock_scenario::world::Column;

    use super::super::series::{SeriesLook, figures};
    use super::*;

    /// The curve ends at one, never falls, and gives at each point the share that is no larger, of however many values.
    #[test]
    fn a_distribution_says_the_share_that_is_no_larger() {
        for n in [1, 2, 499, 500, 501, 7777] {
            let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let points = distribution(values);
            assert!(points.len() <= POINTS && points.last() == Some(&(f64::from(n), 1.0)), "{n}");
            assert!(points.iter().all(|(value, share)| (value / f64::from(n) - share).abs() < 1e-12), "{n}");
            assert!(points.is_sorted_by(|a, b| a.0 < b.0), "{n}");
        }
        assert!(distribution(vec![0.0, f64::NAN]).is_empty());
    }

    fn table(groups: &[&str]) -> Table {
        let column = |name: &str, values: Vec<f64>| Column {
            name: name.to_owned(),
            kind: Kind::Instant,
            values: Cells::Number(values),
        };
        let names = groups.iter().map(|name| format!("{name}/0")).collect();
        let n = groups.len() as u32;
        let flow = Cells::Name { names, rows: (0..40).map(|row| row % n).collect() };
        let rows = || (0..40).map(f64::from);
        Table {
            name: "transfers".to_owned(),
            columns: vec![
                Column { name: "flow".to_owned(), kind: Kind::Key, values: flow },
                column("ended_s", rows().collect()),
                column("completion_s", rows().map(|at| 0.1 * at + 0.1).collect()),
                column("bytes", rows().map(|at| if at < 30.0 { 1e3 } else { 1e5 }).collect()),
                column("slowdown", rows().map(|at| 1.0 + at).collect()),
            ],
        }
    }

    /// One curve a group; of one group the whole and its classes. Those that ended in the warm-up are left out, as in summaries.
    #[test]
    fn curves_are_of_groups_or_of_classes() {
        let names = |groups: &[&str], warm_up_s| {
            let section = section(&table(groups), warm_up_s, &|_| None).unwrap();
            let lines =
                |figure: &Figure| figure.lines.iter().map(|l| (l.name.clone(), l.points.len())).collect::<Vec<_>>();
            assert_eq!(lines(&section.figures[0]), lines(&section.figures[1]));
            lines(&section.figures[0])
        };
        let named = |all: &[(&str, usize)]| all.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect::<Vec<_>>();
        assert_eq!(names(&["web", "ftp"], 0.0), named(&[("web", 20), ("ftp", 20)]));
        assert_eq!(names(&["web"], 10.0), named(&[("web", 30), ("Up to 10 kB", 20), ("10 kB to 100 kB", 10)]));
        assert!(section(&table(&["web"]), 100.0, &|_| None).is_none());
    }

    /// 30 transfers of 1 kB take 0.1 s to 3 s, 10 of 100 kB 3.1 s to 4 s.
    #[test]
    fn completion_times_are_over_size_too() {
        let section = section(&table(&["web"]), 0.0, &|_| None).unwrap();
        let figure = section.figures.iter().find(|f| f.title == "Completion time by size").unwrap();
        let [line] = figure.lines.as_slice() else { panic!("one group, one line") };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert_eq!(line.points.len(), 2);
        assert!(near(line.points[0].0, 1e3) && near(line.points[0].1, 1.55), "{:?}", line.points);
        assert!(near(line.points[1].0, 1e5) && near(line.points[1].1, 3.55), "{:?}", line.points);
        let range = line.range.as_ref().unwrap();
        assert!(near(range[0].1, 0.1) && near(range[0].2, 3.0), "{range:?}");
    }

    /// Pages have one figure; chunks are a series of the rates and of players' buffer levels, at the times at which they came.
    #[test]
    fn pages_and_chunks_are_drawn() {
        let mut pages = table(&["web"]);
        pages.name = "pages".to_owned();
        pages.columns.retain(|column| column.name != "slowdown");
        "load_s".clone_into(&mut pages.columns[2].name);
        let section = section(&pages, 0.0, &|_| None).unwrap();
        let drawn: Vec<(&str, usize)> = section.figures.iter().map(|f| (f.title.as_str(), f.lines.len())).collect();
        assert_eq!(drawn, [("Page load time", 1)]);

        let chunk = Chunk {
            flow: 0,
            number: 0,
            requested: Time(0),
            arrived: Time(Time::PER_SECOND),
            rate: Rate(1_000_000),
            held: Time(4 * Time::PER_SECOND),
        };
        let chunks = [chunk, Chunk { arrived: Time(3 * Time::PER_SECOND), rate: Rate(2_000_000), ..chunk }];
        let series = over_time(&video::table(&chunks, vec!["tv/0".to_owned()]));
        let registry = Registry::standard();
        let look =
            SeriesLook { titles: "", colour: &|_| None, warm_up_s: 0.0, laws: &[], registry: &registry, rates: &[] };
        let drawn = figures(&series, &look).figures;
        let titles: Vec<&str> = drawn.iter().map(|figure| figure.title.as_str()).collect();
        assert_eq!(titles, ["Rate", "Held"]);
        assert_eq!(drawn[0].lines[0].points, [(1.0, 1e6), (3.0, 2e6)]);
    }
}
