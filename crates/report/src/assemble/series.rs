//! Figures of series over time: one a column, one line an entity.

use penstock_law::Observable;
use penstock_law::Registry;
use penstock_scenario::interval::half_width_95;
use penstock_scenario::world::{Column, Kind, Table, column_name};

use crate::assemble::rows::{entities, numbers, trace};
use crate::figure::{Axis, Figure, Line, Style};
use crate::number::{quantity, unit_of, words};
use crate::palette;

/// With more entities than this a figure shows their mean and their range.
const MANY: usize = 12;

/// The outcome of a table's columns.
pub struct Drawn {
    /// One figure a column that has something to show.
    pub figures: Vec<Figure>,
    /// Names of columns that are zero throughout.
    pub zero: Vec<String>,
}

/// The look of figures of a table.
#[derive(Clone, Copy)]
pub struct SeriesLook<'a> {
    /// Comes before the column's name in the title, if it is not empty.
    pub titles: &'a str,
    /// The colours that some entities have of their own.
    pub colour: &'a dyn Fn(&str) -> Option<String>,
    /// The end of the warm-up, which is shaded; 0 where there is none.
    pub warm_up_s: f64,
    /// The laws that may have columns in the table: they have words for them.
    pub laws: &'a [String],
    /// The registry of those laws.
    pub registry: &'a Registry,
    /// Links whose rate changes: for each the times [s] and the rates from then on [bit/s].
    pub rates: &'a [(String, Vec<(f64, f64)>)],
}

/// Figures of a table with a key column `time_s`, other key columns that name an entity, and columns of numbers whose
/// names end in their unit. A column with the curve of another one has no figure of its own.
pub fn figures(table: &Table, look: &SeriesLook<'_>) -> Drawn {
    let mut drawn = Drawn { figures: Vec::new(), zero: Vec::new() };
    let Some(time) = table.columns.iter().find(|c| c.kind == Kind::Key && c.name == "time_s") else {
        return drawn;
    };
    let time = numbers(&time.values);
    let entities = entities(table, time.len());
    let wanted: Vec<Option<String>> = entities.iter().map(|(name, _)| (look.colour)(name)).collect();
    let shares = shares(table, &entities);
    for column in table.columns.iter().filter(|c| c.kind != Kind::Key) {
        let shown = (shares.is_some() && column.name == SHARE) || is_rate_again(table, &column.name);
        if shown || is_average_shown(table, &column.name) {
            continue;
        }
        let values = numbers(&column.values);
        if !values.iter().any(|v| v.is_finite()) {
            continue;
        }
        let (_, unit) = unit_of(&column.name);
        let named = Words::of(&column.name, &table.name, look.laws, look.registry);
        if values.iter().all(|v| !v.is_finite() || *v == 0.0) {
            drawn.zero.push(named.inside());
            continue;
        }
        let title = match look.titles {
            "" if column.name.starts_with(THROUGHPUT) => format!("{} of {}", named.title, inside(&words(&table.name))),
            "" => named.title.clone(),
            titles => format!("{titles}: {}", named.inside()),
        };
        let mut figure = Figure::new(title, Axis::new("Time", "s"), Axis::new(named.axis(&column.name), unit));
        let traces: Vec<(usize, Vec<(f64, f64)>)> = entities
            .iter()
            .enumerate()
            .map(|(i, (_, rows))| (i, trace(rows, &time, &values)))
            .filter(|(_, t)| t.iter().any(|p| p.1.is_finite()))
            .collect();
        // A law has a number of its state for each class of a link, and reckons it for those that it steers.
        let of_law = !named.sentence.is_empty() && traces.len() <= MANY;
        let (traces, unused): (Vec<_>, Vec<_>) =
            traces.into_iter().partition(|(_, t)| !of_law || t.iter().any(|p| p.1.is_finite() && p.1 != 0.0));
        if traces.len() > MANY {
            figure.lines.push(summarised(&traces, &table.name));
        } else {
            let some: Vec<Option<&str>> = traces.iter().map(|(i, _)| wanted[*i].as_deref()).collect();
            let colours = palette::assign(&some);
            for ((i, points), colour) in traces.into_iter().zip(colours) {
                figure.lines.push(Line::new(entities[i].0.clone(), points).coloured(colour));
            }
        }
        figure.caption = format!("{}{}", named.sentence, caption(column));
        if !unused.is_empty() {
            let names: Vec<&str> = unused.iter().map(|(i, _)| entities[*i].0.as_str()).collect();
            figure.caption = format!("{} Not drawn, since it is 0 throughout: {}.", figure.caption, names.join(", "));
        }
        if column.name == SHARED {
            figure.lines.extend(capacities(table, &entities, &time, look.rates));
        }
        if let Some(rates) = shares.as_ref().filter(|_| column.name == SHARED) {
            figure.caption = format!("{} {rates}", figure.caption);
        }
        if look.warm_up_s > 0.0 {
            figure.warm_up = Some(look.warm_up_s);
            figure.caption = format!("{} Shaded: the warm-up, which summaries leave out.", figure.caption);
        }
        drawn.figures.push(figure);
    }
    drawn
}

/// The title and the description of a column.
pub(super) struct Words {
    pub(super) title: String,
    /// Of the laws that have such a number in their state, followed by a space; empty for numbers that no law knows.
    pub(super) sentence: String,
}

impl Words {
    /// Of the column of that name in the table of that name, by the laws whose state the table has.
    pub(super) fn of(column: &str, table: &str, laws: &[String], registry: &Registry) -> Self {
        let mut known: Vec<(&str, Observable)> = Vec::new();
        for law in laws.iter().filter(|law| has_state_in(table, law, registry)) {
            let shown =
                observables(registry, law).filter(|o| column_name(o.name, o.unit) == column && !o.words.is_empty());
            known.extend(shown.map(|o| (law.as_str(), o)));
        }
        let Some((_, first)) = known.first() else {
            return Self { title: plain_words(column), sentence: String::new() };
        };
        // Laws may call different things by one name.
        let title = if known.iter().all(|(_, o)| o.words == first.words) {
            first.words.to_owned()
        } else {
            plain_words(column)
        };
        let sentence = if known.iter().all(|(_, o)| (o.words, o.description) == (first.words, first.description)) {
            format!("{} ", first.description)
        } else {
            known
                .iter()
                .map(|(law, o)| format!("`{law}`: {}. {} ", o.words, o.description))
                .collect::<Vec<_>>()
                .concat()
        };
        Self { title, sentence }
    }

    /// The label of the axis: the title, unless it is longer than the axis.
    pub(super) fn axis(&self, column: &str) -> String {
        if self.title.chars().count() <= 36 { self.title.clone() } else { plain_words(column) }
    }

    fn inside(&self) -> String {
        inside(&self.title)
    }
}

/// Whether laws of that name have their state in that table: AQMs in those of links, conditioners in that of customers, and
/// controllers in those of flows. Laws of different roles call different things by one name.
fn has_state_in(table: &str, law: &str, registry: &Registry) -> bool {
    match table {
        "links" | "queues" | "classes" => registry.aqm(law).is_some(),
        "customers" => registry.conditioner(law).is_some(),
        "groups" | "flows" => registry.controller(law).is_some(),
        _ => true,
    }
}

/// A title within a sentence. A word in capitals stays as it is.
pub(super) fn inside(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.next()) {
        (Some(first), second) if second.is_none_or(|c| !c.is_uppercase()) => {
            first.to_lowercase().chain(title.chars().skip(1)).collect()
        }
        _ => title.to_owned(),
    }
}

/// A column's name in words, without its unit: `queue_mean_packets` is `Mean queue`.
fn plain_words(name: &str) -> String {
    let stem = unit_of(name).0;
    stem.strip_suffix("_mean").map_or_else(|| words(stem), |of| words(&format!("mean_{of}")))
}

/// The observables of the law of that name.
fn observables(registry: &Registry, law: &str) -> impl Iterator<Item = Observable> {
    let all = registry.shown().filter(|shown| shown.name == law).map(|shown| shown.observables);
    let all: Vec<Observable> = all.flat_map(|of| of.iter().collect::<Vec<_>>()).collect();
    all.into_iter()
}

fn caption(column: &Column) -> String {
    match column.kind {
        Kind::Average => "Each value is the average over the preceding sampling period.".to_owned(),
        Kind::Instant => "Each value is instantaneous.".to_owned(),
        Kind::Key => String::new(),
    }
}

/// A column with the same curve as [`SHARED`] where rates are constant.
const SHARE: &str = "utilization";
pub(super) const SHARED: &str = "throughput_bit_per_s";
/// Links, groups and queues have a throughput each, in bits or in packets: its title says of which it is.
const THROUGHPUT: &str = "throughput_";

/// Which throughput is a utilization of one, in a sentence, if utilization is throughput over a constant: then its figure
/// would be the same again.
fn shares(table: &Table, entities: &[(String, Vec<usize>)]) -> Option<String> {
    let column = |name: &str| table.columns.iter().find(|c| c.name == name).map(|c| numbers(&c.values));
    let (share, shared) = (column(SHARE)?, column(SHARED)?);
    let mut rates: Vec<(f64, Vec<&str>)> = Vec::new();
    for (name, rows) in entities {
        let pairs = || rows.iter().filter_map(|r| Some((*share.get(*r)?, *shared.get(*r)?)));
        let most = pairs().filter(|p| p.0.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0)).filter(|p| p.0 > 0.0);
        let Some(rate) = most.map(|(share, shared)| shared / share).filter(|rate| rate.is_finite()) else { continue };
        let other = |(share, shared): (f64, f64)| {
            share.is_finite() != shared.is_finite() || (share * rate - shared).abs() > 1e-3 * rate
        };
        if pairs().any(other) {
            return None;
        }
        match rates.iter_mut().find(|(known, _)| (known / rate - 1.0).abs() < 1e-6) {
            Some((_, names)) => names.push(name),
            None => rates.push((rate, vec![name])),
        }
    }
    let said = |(rate, names): &(f64, Vec<&str>)| format!("{} of {}", quantity(*rate, "bit/s", 4), names.join(" and "));
    match rates.as_slice() {
        [] => None,
        [(rate, _)] => Some(format!("A utilization of 1 is {}.", quantity(*rate, "bit/s", 4))),
        many => Some(format!("A utilization of 1 is {}.", many.iter().map(said).collect::<Vec<_>>().join(", "))),
    }
}

/// The capacity that a throughput is a share of: a line for each rate that does not change, and one for each link whose rate
/// does. Such a rate is by its schedule, else by what was sent of it in each sampling period.
pub(super) fn capacities(
    table: &Table,
    entities: &[(String, Vec<usize>)],
    time: &[f64],
    rates: &[(String, Vec<(f64, f64)>)],
) -> Vec<Line> {
    let column = |name: &str| table.columns.iter().find(|c| c.name == name).map(|c| numbers(&c.values));
    let (Some(share), Some(shared)) = (column(SHARE), column(SHARED)) else { return Vec::new() };
    let mut lines: Vec<(f64, Line)> = Vec::new();
    for (name, rows) in entities.iter().take(MANY) {
        let times: Vec<f64> = rows.iter().filter_map(|row| time.get(*row).copied()).collect();
        let (Some(first), Some(last)) = (times.first().copied(), times.last().copied()) else { continue };
        let schedule = rates.iter().find(|(of, changes)| of == name && changes.len() > 1).map(|(_, changes)| changes);
        // A share near zero says little about the whole.
        let rate = |row: &usize| match (share.get(*row), shared.get(*row)) {
            (Some(part), Some(of)) if *part > 0.01 && of.is_finite() => of / part,
            _ => f64::NAN,
        };
        let found: Vec<f64> = rows.iter().map(rate).collect();
        let most = found.iter().copied().filter(|rate| rate.is_finite()).fold(0.0, f64::max);
        let constant = schedule.is_none()
            && most > 0.0
            && found.iter().all(|rate| !rate.is_finite() || (rate / most - 1.0).abs() < 0.01);
        if constant && lines.iter().any(|(known, _)| (known / most - 1.0).abs() < 0.01) {
            continue;
        }
        let points = if let Some(changes) = schedule {
            scheduled(changes, last)
        } else if constant {
            vec![(first, most), (last, most)]
        } else {
            by_period(&times, &found)
        };
        if points.iter().all(|p| !p.1.is_finite()) {
            continue;
        }
        let line = Line::new(format!("capacity of {name}"), points).coloured(CAPACITY).styled(Style::Dashed);
        lines.push((if constant { most } else { f64::NAN }, line));
    }
    if let [(_, only)] = lines.as_mut_slice() {
        "capacity".clone_into(&mut only.name);
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The steps of a schedule up to a time.
fn scheduled(changes: &[(f64, f64)], end: f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (at, rate) in changes.iter().filter(|(at, _)| *at < end) {
        points.extend(points.last().map(|(_, before)| (*at, *before)));
        points.push((*at, *rate));
    }
    points.extend(points.last().map(|(_, rate)| (end, *rate)));
    points
}

/// The value of each sampling period, which ends at its time, as steps; one that is not known breaks them.
fn by_period(times: &[f64], values: &[f64]) -> Vec<(f64, f64)> {
    let begin = |at: usize| match (at.checked_sub(1), times.get(1)) {
        (Some(before), _) => times[before],
        (None, Some(second)) => (2.0 * times[0] - second).max(0.0),
        (None, None) => times[0],
    };
    let mut points: Vec<(f64, f64)> = times
        .iter()
        .zip(values)
        .enumerate()
        .flat_map(|(at, (end, value))| [(begin(at), *value), (*end, *value)])
        .collect();
    points.dedup();
    points
}

/// The colour of a capacity: no flow and no link has it.
const CAPACITY: &str = "#777777";

/// Whether a column has the curves of bits per second again: packets delivered, where next to none are sent twice, or packets
/// that left a queue, where nearly all have one size.
pub(super) fn is_rate_again(table: &Table, name: &str) -> bool {
    let column = |name: &str| table.columns.iter().find(|c| c.name == name).map(|c| numbers(&c.values));
    if name != "throughput_packets_per_s" {
        return false;
    }
    let (Some(bits), Some(packets)) = (column("goodput_bit_per_s").or_else(|| column(SHARED)), column(name)) else {
        return false;
    };
    let pairs = || bits.iter().zip(&packets).filter(|(b, p)| b.is_finite() && p.is_finite());
    let (all_bits, all_packets) = pairs().fold((0.0, 0.0), |(b, p), pair| (b + pair.0, p + pair.1));
    let apart: f64 = pairs().map(|(b, p)| (p * all_bits / all_packets - b).abs()).sum();
    all_bits > 0.0 && apart <= 0.03 * all_bits
}

/// Whether a column is the value of an instant whose average over the sampling period has a column too: `queue_packets`
/// beside `queue_mean_packets`. One figure is enough, of the one that misses nothing between samples.
pub(super) fn is_average_shown(table: &Table, name: &str) -> bool {
    let (stem, _) = unit_of(name);
    let average = format!("{stem}_mean{}", &name[stem.len()..]);
    table.columns.iter().any(|c| c.name == average && c.kind == Kind::Average)
}

/// Mean of all entities that have a value at a time, its 95 % confidence interval, and the range they span.
fn summarised(traces: &[(usize, Vec<(f64, f64)>)], what: &str) -> Line {
    let mut all: Vec<(f64, f64)> = traces.iter().flat_map(|(_, t)| t.iter().copied()).collect();
    all.retain(|p| p.0.is_finite() && p.1.is_finite());
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut mean, mut band, mut range) = (Vec::new(), Vec::new(), Vec::new());
    for at in all.chunk_by(|a, b| a.0 == b.0) {
        let values: Vec<f64> = at.iter().map(|p| p.1).collect();
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        let middle = values.iter().sum::<f64>() / values.len() as f64;
        // A single value has no interval, and breaks the band.
        let half = half_width_95(&values).unwrap_or(f64::NAN);
        mean.push((at[0].0, middle));
        band.push((at[0].0, middle - half, middle + half));
        range.push((at[0].0, low, high));
    }
    Line::new(format!("mean of {} {what}, with its 95 % interval", traces.len()), mean).banded(band).ranged(range)
}

#[cfg(test)]
mod tests {
    use penstock_scenario::world::Cells;

    use super::*;

    fn plain(registry: &Registry) -> SeriesLook<'_> {
        SeriesLook { titles: "", colour: &|_| None, warm_up_s: 0.0, laws: &[], registry, rates: &[] }
    }

    fn table(entities: u32, times: u32) -> Table {
        let rows = || (0..times).flat_map(move |t| (0..entities).map(move |e| (t, e)));
        Table {
            name: "links".into(),
            columns: vec![
                Column {
                    name: "time_s".into(),
                    kind: Kind::Key,
                    values: Cells::Number(rows().map(|(t, _)| t as f64).collect()),
                },
                Column {
                    name: "link".into(),
                    kind: Kind::Key,
                    values: Cells::Name {
                        names: (0..entities).map(|e| format!("l{e}")).collect(),
                        rows: rows().map(|(_, e)| e).collect(),
                    },
                },
                Column {
                    name: "queue_packets".into(),
                    kind: Kind::Average,
                    values: Cells::Number(rows().map(|(t, e)| (t * 10 + e) as f64).collect()),
                },
                Column { name: "drops".into(), kind: Kind::Instant, values: Cells::Count(vec![0; rows().count()]) },
                Column {
                    name: "price_s".into(),
                    kind: Kind::Instant,
                    values: Cells::Number(vec![f64::NAN; rows().count()]),
                },
            ],
        }
    }

    #[test]
    fn one_figure_a_column_and_one_line_an_entity() {
        let drawn = figures(
            &table(2, 3),
            &SeriesLook {
                colour: &|name| (name == "l1").then(|| "#0b6e99".to_owned()),
                ..plain(&Registry::standard())
            },
        );
        assert_eq!(drawn.figures.len(), 1);
        assert_eq!(drawn.zero, ["drops"]);
        let figure = &drawn.figures[0];
        assert_eq!((figure.title.as_str(), figure.y.unit.as_str()), ("Queue", "packets"));
        assert_eq!(figure.lines[1].points, [(0.0, 1.0), (1.0, 11.0), (2.0, 21.0)]);
        assert_eq!(figure.lines[1].colour, "#0b6e99");
    }

    fn column(name: &str, kind: Kind, values: &[f64]) -> Column {
        Column { name: name.into(), kind, values: Cells::Number(values.to_vec()) }
    }

    /// Utilization over a link of constant rate is its throughput, and the queue of an instant is within its average.
    #[test]
    fn no_curve_is_drawn_twice() {
        let titles = |utilization: &[f64]| -> Vec<(String, String)> {
            let mut links = table(1, 3);
            links.columns.truncate(2);
            links.columns.push(column("throughput_bit_per_s", Kind::Average, &[5e7, 9e7, 1e8]));
            links.columns.push(column("utilization", Kind::Average, utilization));
            links.columns.push(column("queue_packets", Kind::Instant, &[1.0, 2.0, 3.0]));
            links.columns.push(column("queue_mean_packets", Kind::Average, &[1.5, 2.5, 3.5]));
            let drawn = figures(&links, &plain(&Registry::standard())).figures.into_iter();
            drawn.map(|f| (f.title, f.caption)).collect()
        };
        let constant = titles(&[0.5, 0.9, 1.0]);
        let names = |all: &[(String, String)]| all.iter().map(|(title, _)| title.clone()).collect::<Vec<_>>();
        assert_eq!(names(&constant), ["Throughput of links", "Mean queue"]);
        assert!(constant[0].1.ends_with("A utilization of 1 is 100 Mbit/s."), "{}", constant[0].1);
        assert_eq!(
            names(&titles(&[0.5, 0.5, 1.0])),
            ["Throughput of links", "Utilization", "Mean queue"],
            "the rate varies"
        );
    }

    /// Packets delivered are goodput over a constant, unless many are sent twice.
    #[test]
    fn packets_delivered_are_drawn_where_they_differ_from_goodput() {
        let titles = |packets: &[f64]| -> Vec<String> {
            let mut groups = table(1, 3);
            groups.columns.truncate(2);
            groups.columns.push(column("goodput_bit_per_s", Kind::Average, &[5e7, 9e7, 1e8]));
            groups.columns.push(column("throughput_packets_per_s", Kind::Average, packets));
            figures(&groups, &plain(&Registry::standard())).figures.into_iter().map(|f| f.title).collect()
        };
        assert_eq!(titles(&[5e3, 9e3, 1e4]), ["Goodput"]);
        assert_eq!(titles(&[9e3, 9e3, 1e4]), ["Goodput", "Throughput of links"]);
    }

    /// The capacity is throughput over utilization: one line where it is constant, one a link where it is not.
    #[test]
    fn capacity_is_behind_throughput() {
        let capacity = |utilization: &[f64]| {
            let mut links = table(1, 3);
            links.columns.truncate(2);
            links.columns.push(column("throughput_bit_per_s", Kind::Average, &[5e7, 9e7, 1e8]));
            links.columns.push(column("utilization", Kind::Average, utilization));
            let drawn = figures(&links, &plain(&Registry::standard())).figures.remove(0);
            drawn.lines.into_iter().find(|l| l.name == "capacity").unwrap().points
        };
        assert_eq!(capacity(&[0.5, 0.9, 1.0]), [(0.0, 1e8), (2.0, 1e8)]);
        assert_eq!(capacity(&[0.5, 0.45, 0.5]), [(0.0, 1e8), (0.0, 2e8), (1.0, 2e8), (2.0, 2e8)]);
    }

    /// A link that sends nothing for a while has the capacity of its schedule; of one without a schedule nobody knows it.
    #[test]
    fn capacity_in_an_outage_is_none() {
        let mut links = table(1, 4);
        links.columns.truncate(2);
        links.columns.push(column("throughput_bit_per_s", Kind::Average, &[5e7, 0.0, 0.0, 1e8]));
        links.columns.push(column("utilization", Kind::Average, &[0.5, 0.0, 0.0, 0.5]));
        let registry = Registry::standard();
        let points = |rates: &[(String, Vec<(f64, f64)>)]| {
            let drawn = figures(&links, &SeriesLook { rates, ..plain(&registry) }).figures.remove(0);
            drawn.lines.into_iter().find(|line| line.name == "capacity").unwrap().points
        };
        let schedule = [("l0".to_owned(), vec![(0.0, 1e8), (0.5, 0.0), (2.0, 2e8), (9.0, 1e8)])];
        assert_eq!(points(&schedule), [(0.0, 1e8), (0.5, 1e8), (0.5, 0.0), (2.0, 0.0), (2.0, 2e8), (3.0, 2e8)]);
        let unknown = points(&[]);
        assert!(unknown.iter().filter(|p| p.0 > 0.0 && p.0 < 2.0).all(|p| p.1.is_nan()), "{unknown:?}");
        assert_eq!(unknown[unknown.len() - 2..], [(2.0, 2e8), (3.0, 2e8)]);
    }

    /// Every number of a law's state has words, a unit and a sentence in the report.
    #[test]
    fn numbers_of_a_laws_state_have_words_and_a_sentence() {
        let registry = Registry::standard();
        for law in registry.shown().map(|shown| shown.name) {
            let laws = [law.to_owned()];
            for shown in observables(&registry, law) {
                let mut links = table(1, 3);
                let places = ["links", "groups", "customers"].into_iter();
                let places: Vec<&str> = places.filter(|table| has_state_in(table, law, &registry)).collect();
                links.name = (*places.first().expect("a law has a role")).to_owned();
                links.columns.truncate(2);
                links.columns.push(column(&column_name(shown.name, shown.unit), Kind::Instant, &[1.0, 2.0, 3.0]));
                let drawn =
                    figures(&links, &SeriesLook { laws: &laws, ..plain(&Registry::standard()) }).figures.remove(0);
                assert_eq!(drawn.title, shown.words, "{law}: {}", shown.name);
                assert!(
                    drawn.caption.starts_with(shown.description) && shown.description.len() > 20,
                    "{law}: {}",
                    drawn.caption
                );
            }
        }
        let mut links = table(1, 3);
        links.columns.truncate(2);
        links.columns.push(column("probability", Kind::Instant, &[0.1, 0.2, 0.3]));
        let laws = ["red".to_owned(), "wred".to_owned()];
        let drawn = figures(&links, &SeriesLook { laws: &laws, titles: "FAST", ..plain(&Registry::standard()) })
            .figures
            .remove(0);
        assert_eq!(drawn.title, "FAST: probability");
        assert!(drawn.caption.contains("`red`: ") && drawn.caption.contains("`wred`: "), "{}", drawn.caption);
        // A conditioner's probability is that of a customer, and an AQM's that of a link.
        let laws = ["early-marking".to_owned(), "wred".to_owned()];
        let caption = |name: &str| {
            let mut of = links.clone();
            name.clone_into(&mut of.name);
            figures(&of, &SeriesLook { laws: &laws, ..plain(&registry) }).figures.remove(0).caption
        };
        let sentence = |law: &str| {
            let all = observables(&registry, law).filter(|o| o.name == "probability");
            all.map(|o| o.description).next().unwrap()
        };
        for (table, own, other) in [("links", "wred", "early-marking"), ("customers", "early-marking", "wred")] {
            assert!(caption(table).starts_with(sentence(own)), "{table}: {}", caption(table));
            assert!(!caption(table).contains(sentence(other)), "{table}: {}", caption(table));
        }
    }

    /// CLCC steers one class of a link: the others have no ratio, and the law leaves it at zero.
    #[test]
    fn a_state_that_a_law_does_not_use_is_not_drawn() {
        let registry = Registry::standard();
        let mut links = table(2, 3);
        links.columns.truncate(2);
        links.columns.push(column("ratio", Kind::Instant, &[0.4, 0.0, 0.42, 0.0, 0.43, 0.0]));
        let laws = ["clcc".to_owned()];
        let drawn = |laws: &[String]| figures(&links, &SeriesLook { laws, ..plain(&registry) }).figures.remove(0);
        let of_law = drawn(&laws);
        assert_eq!(of_law.lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["l0"]);
        assert!(of_law.caption.ends_with("Not drawn, since it is 0 throughout: l1."), "{}", of_law.caption);
        assert_eq!(drawn(&[]).lines.len(), 2, "a measurement of zero is one");
    }

    #[test]
    fn the_warm_up_is_marked_and_explained() {
        let drawn = figures(&table(1, 3), &SeriesLook { warm_up_s: 1.0, ..plain(&Registry::standard()) });
        assert_eq!(drawn.figures[0].warm_up, Some(1.0));
        assert!(drawn.figures[0].caption.ends_with("Shaded: the warm-up, which summaries leave out."));
        assert_eq!(figures(&table(1, 3), &plain(&Registry::standard())).figures[0].warm_up, None);
    }

    #[test]
    fn many_entities_become_a_mean_and_a_range() {
        let drawn = figures(&table(100, 3), &plain(&Registry::standard()));
        let line = &drawn.figures[0].lines[0];
        assert_eq!(drawn.figures[0].lines.len(), 1);
        assert_eq!(line.points[1], (1.0, 59.5));
        assert_eq!(line.range.as_ref().unwrap()[1], (1.0, 10.0, 109.0), "least and greatest, on demand");
        // 100 values, one apart: a standard deviation of 29.011, and Student's 1.984217 at 99 degrees.
        let (at, low, high) = line.band.as_ref().unwrap()[1];
        assert!(at == 1.0 && (high - 59.5 - 1.984_217 * 2.901_149).abs() < 1e-4 && (low + high - 119.0).abs() < 1e-9);
    }

    #[test]
    fn a_table_that_is_none_gives_no_figure() {
        let mut ragged = table(2, 3);
        if let Cells::Number(v) = &mut ragged.columns[2].values {
            v.truncate(2);
        }
        assert_eq!(figures(&ragged, &plain(&Registry::standard())).figures.len(), 1);
        ragged.columns.remove(0);
        assert!(figures(&ragged, &plain(&Registry::standard())).figures.is_empty());
        assert!(
            figures(&Table { name: "x".into(), columns: vec![] }, &plain(&Registry::standard())).figures.is_empty()
        );
    }
}
