//! The overview: waiting times of packets, shares of each link's capacity, and one against the other.

use std::collections::BTreeMap;

use libm::{atan2, cos, sin, sqrt};
use penstock_scenario::summary::{LinkSummary, QueueSummary, Summary};
use penstock_scenario::world::{Kind, Table};

use crate::assemble::rows::{entities, numbers, trace};
use crate::figure::{Axis, Figure, Line, Mark, Spread, Style};
use crate::page::Section;
use crate::palette;

/// More lines than this are no figure.
const MANY: usize = 12;
/// The column of queues with their delay.
pub(super) const DELAY: &str = "queueing_delay_s";
/// A curve.
type Points = Vec<(f64, f64)>;
/// Points of a distribution, at the most.
const POINTS: usize = 500;
/// A spread of fewer samples is not one.
const FEW: usize = 10;

/// The links that the data of each group cross.
pub(super) type Routes = BTreeMap<String, Vec<String>>;

/// The figures that there are data for. `colour` gives the colours that some links and groups have.
pub(super) fn section(
    summary: &Summary,
    series: &[Table],
    routes: &Routes,
    warm_up_s: f64,
    colour: &dyn Fn(&str) -> Option<String>,
) -> Option<Section> {
    let table = |name: &str| series.iter().find(|table| table.name == name);
    let mut section = Section::new("Delay and shares");
    if let Some(links) = table("links") {
        section.figures.extend(delays(summary, links, table("queues"), warm_up_s, colour));
    }
    let groups = table("groups");
    let flows = table("flows").filter(|flows| (2..=MANY).contains(&count(flows)));
    if let Some(shared) = flows.or(groups).filter(|shared| (2..=MANY).contains(&count(shared))) {
        section.figures.extend(shares(shared, routes, warm_up_s, colour));
    }
    if let Some(groups) = groups.filter(|groups| count(groups) <= MANY) {
        section.figures.extend(delay_and_throughput(groups, warm_up_s, colour));
    }
    (!section.figures.is_empty()).then_some(section)
}

/// The curves of a column: each entity, and its points.
pub(super) fn curves(table: &Table, column: &str) -> Vec<(String, Vec<(f64, f64)>)> {
    let Some(time) = table.number("time_s") else { return Vec::new() };
    let Some(values) = table.columns.iter().find(|c| c.name == column && c.kind != Kind::Key) else {
        return Vec::new();
    };
    let values = numbers(&values.values);
    entities(table, time.len()).into_iter().map(|(name, rows)| (name, trace(&rows, time, &values))).collect()
}

fn count(table: &Table) -> usize {
    table.number("time_s").map_or(0, |time| entities(table, time.len()).len())
}

fn coloured(names: &[String], colour: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let wanted: Vec<Option<String>> = names.iter().map(|name| colour(name)).collect();
    palette::assign(&wanted.iter().map(Option::as_deref).collect::<Vec<_>>())
}

/// Use of a link in one sampling period: its end [s], the queueing delay [s], and departures [packets/s].
struct Period {
    at: f64,
    delay: f64,
    rate: f64,
}

/// The queueing delay of each period by Little's law: packets that wait over packets that leave. The departures follow from
/// the throughput and the link's mean packet.
fn periods(link: &LinkSummary, measured_s: f64, queue: &[(f64, f64)], throughput: &[(f64, f64)]) -> Vec<Period> {
    let bits = link.throughput_bit_per_s * measured_s / link.departures as f64;
    if !bits.is_finite() || bits <= 0.0 {
        return Vec::new();
    }
    let period = |(waiting, left): (&(f64, f64), &(f64, f64))| {
        let rate = left.1 / bits;
        let delay = if rate > 0.0 { waiting.1 / rate } else { f64::NAN };
        Period { at: waiting.0, delay, rate }
    };
    queue.iter().zip(throughput).map(period).collect()
}

/// Whatever packets wait in: a link, or one queue of a link with several.
struct Waits {
    name: String,
    periods: Vec<Period>,
    p99_s: Option<f64>,
}

/// The periods of each queue of a link with several: the mean wait of the packets whose transmission began.
fn waits_of_queues(name: &str, link: &LinkSummary, queues: &Table) -> Vec<Waits> {
    let (delays, rates) = (curves(queues, DELAY), curves(queues, "throughput_packets_per_s"));
    let of = |(queue, summary): (&String, &QueueSummary)| {
        let name = format!("{name}/{queue}");
        let at = delays.iter().position(|(each, _)| *each == name)?;
        let period = |(delay, rate): (&(f64, f64), &(f64, f64))| Period { at: delay.0, delay: delay.1, rate: rate.1 };
        let periods = delays[at].1.iter().zip(&rates.get(at)?.1).map(period).collect();
        Some(Waits { name, periods, p99_s: summary.queueing_delay_p99_s })
    };
    let waits = link.queues.iter().filter_map(of);
    waits.filter(|waits| waits.periods.iter().any(|period| period.delay.is_finite())).collect()
}

/// The periods of each link. A way back whose packets hardly wait is left out.
fn links_that_wait(summary: &Summary, links: &Table) -> Vec<(String, Vec<Period>)> {
    let longest = summary.whole.links.values().filter_map(|l| l.queueing_delay_mean_s).fold(0.0, f64::max);
    let queues = curves(links, "queue_mean_packets");
    let throughputs = curves(links, "throughput_bit_per_s");
    let mut found: Vec<(String, Vec<Period>)> = Vec::new();
    for ((name, queue), (_, throughput)) in queues.iter().zip(&throughputs) {
        let Some(link) = summary.whole.links.get(name) else { continue };
        let back = name.strip_suffix("/back").is_some_and(|forth| summary.whole.links.contains_key(forth));
        let least = if back { 0.01 * longest } else { 0.0 };
        if link.queueing_delay_mean_s.is_none_or(|delay| delay <= least) {
            continue;
        }
        let periods = periods(link, summary.whole.measured_s, queue, throughput);
        if periods.iter().any(|period| period.delay.is_finite()) {
            found.push((name.clone(), periods));
        }
    }
    found
}

/// Queueing delay of each link: over time, and as a cumulative distribution after the warm-up.
pub(super) fn waiting(summary: &Summary, links: &Table, warm_up_s: f64) -> Vec<(String, [Points; 2])> {
    links_that_wait(summary, links).iter().map(|(name, periods)| (name.clone(), both(periods, warm_up_s))).collect()
}

/// The delay over time, and its distribution after the warm-up.
fn both(periods: &[Period], warm_up_s: f64) -> [Points; 2] {
    let over_time = periods.iter().map(|p| (p.at, p.delay)).collect();
    [over_time, distribution(periods.iter().filter(|p| p.at > warm_up_s))]
}

/// Every queue of a link with several, and every other link that packets wait in.
fn waits(summary: &Summary, links: &Table, queues: Option<&Table>) -> Vec<Waits> {
    let of = |(name, periods): (String, Vec<Period>)| {
        let link = &summary.whole.links[&name];
        let apart = queues.map_or_else(Vec::new, |queues| waits_of_queues(&name, link, queues));
        if !apart.is_empty() {
            return apart;
        }
        // Of a link with several queues the mean over all of them says little about a packet.
        let p99_s = link.queueing_delay_p99_s.filter(|_| link.queues.is_empty());
        vec![Waits { name, periods, p99_s }]
    };
    links_that_wait(summary, links).into_iter().flat_map(of).collect()
}

/// The delay of each queue is in the overview's figures, and has none of its own.
pub(super) fn shows_queues(summary: &Summary, series: &[Table]) -> bool {
    let table = |name: &str| series.iter().find(|table| table.name == name);
    let (Some(links), Some(queues)) = (table("links"), table("queues")) else { return false };
    let shown = waits(summary, links, Some(queues));
    shown.len() <= MANY && shown.iter().any(|waits| !summary.whole.links.contains_key(&waits.name))
}

/// Queueing delay over time and as a distribution.
fn delays(
    summary: &Summary,
    links: &Table,
    queues: Option<&Table>,
    warm_up_s: f64,
    colour: &dyn Fn(&str) -> Option<String>,
) -> Vec<Figure> {
    let found = waits(summary, links, queues);
    if found.is_empty() || found.len() > MANY {
        return Vec::new();
    }
    let names: Vec<String> = found.iter().map(|waits| waits.name.clone()).collect();
    let colours = coloured(&names, colour);
    let axis = || Axis::new("Queueing delay", "s");
    let (mut by_law, mut by_packets) = (false, false);
    let mut over_time = Figure::new("Queueing delay", Axis::new("Time", "s"), axis());
    let mut shares =
        Figure::new("Distribution of the queueing delay", axis(), Axis::new("Share", "").between(0.0, 1.0));
    for (Waits { name, periods, p99_s }, colour) in found.iter().zip(&colours) {
        *(if summary.whole.links.contains_key(name) { &mut by_law } else { &mut by_packets }) = true;
        let [delay, share] = both(periods, warm_up_s);
        over_time.lines.push(Line::new(name.clone(), delay).coloured(colour.clone()));
        shares.lines.push(Line::new(name.clone(), share).coloured(colour.clone()).styled(Style::Steps));
        if let Some(at) = p99_s.filter(|_| found.len() <= 2) {
            let of = if found.len() == 1 { "packets" } else { name.as_str() };
            shares.marks.push(Mark::Vertical { at, label: format!("p99 of {of}") });
        }
    }
    let law = "From the mean queue and the throughput of each sampling period, by Little\u{2019}s law.";
    let packets = "The mean wait of the packets whose transmission began in each sampling period.";
    over_time.caption = match (by_law, by_packets) {
        (true, true) => format!("Of a queue: {} Of a link: {}", lower(packets), lower(law)),
        (_, true) => packets.to_owned(),
        _ => law.to_owned(),
    };
    shaded(&mut over_time, warm_up_s);
    "Share of the packets after the warm-up in sampling periods with no longer mean delay."
        .clone_into(&mut shares.caption);
    if !shares.marks.is_empty() {
        shares.caption += " The 99th percentile is over single packets.";
    }
    let mut figures = vec![over_time];
    figures.extend((!shares.is_empty()).then_some(shares));
    figures
}

/// A sentence inside another one.
fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The cumulative distribution of delays, each counted as often as packets left.
fn distribution<'a>(periods: impl Iterator<Item = &'a Period>) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = periods.map(|p| (p.delay, p.rate)).collect();
    all.retain(|(delay, weight)| delay.is_finite() && *weight > 0.0);
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = all.iter().map(|(_, weight)| weight).sum();
    let every = all.len().div_ceil(POINTS).max(1);
    let mut below = 0.0;
    let mut points = Vec::new();
    for (i, (delay, weight)) in all.iter().enumerate() {
        below += weight;
        if (i + 1).is_multiple_of(every) || i + 1 == all.len() {
            points.push((*delay, below / total));
        }
    }
    points
}

fn shaded(figure: &mut Figure, warm_up_s: f64) {
    if warm_up_s > 0.0 {
        figure.warm_up = Some(warm_up_s);
        figure.caption += " Shaded: the warm-up, which summaries leave out.";
    }
}

/// Curves that share a link: their numbers, and all links that they share.
struct Stack<'a> {
    links: Vec<&'a str>,
    members: Vec<usize>,
}

/// A stack for each link that several curves cross, and one for links that the same curves cross. Where a route is not known, all
/// curves are one stack.
fn stacks<'a>(names: &[String], routes: &'a Routes) -> Vec<Stack<'a>> {
    // The name of a flow begins with that of its group.
    let route = |name: &String| routes.get(name).or_else(|| routes.get(name.split(' ').next()?));
    let Some(crossed) = names.iter().map(route).collect::<Option<Vec<&Vec<String>>>>() else {
        return vec![Stack { links: Vec::new(), members: (0..names.len()).collect() }];
    };
    let mut found: Vec<Stack<'_>> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for link in crossed.iter().copied().flatten() {
        if seen.contains(&link.as_str()) {
            continue;
        }
        seen.push(link);
        let members: Vec<usize> = (0..names.len()).filter(|at| crossed[*at].contains(link)).collect();
        match found.iter_mut().find(|stack| stack.members == members) {
            Some(stack) => stack.links.push(link),
            None => found.push(Stack { links: vec![link], members }),
        }
    }
    found.retain(|stack| stack.members.len() > 1);
    found
}

/// Goodput of the flows or groups of each link, one on top of the other.
fn shares(table: &Table, routes: &Routes, warm_up_s: f64, colour: &dyn Fn(&str) -> Option<String>) -> Vec<Figure> {
    let curves = curves(table, "goodput_bit_per_s");
    let names: Vec<String> = curves.iter().map(|(name, _)| name.clone()).collect();
    let colours = coloured(&names, colour);
    let mut times: Vec<f64> = curves.iter().flat_map(|(_, points)| points.iter().map(|p| p.0)).collect();
    times.retain(|at| at.is_finite());
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let what = if table.name == "flows" { "Shares of the flows" } else { "Shares of the groups" };
    let stacked = |stack: &Stack<'_>| {
        let title = match &stack.links[..] {
            // Everything is there: nothing to tell apart.
            _ if stack.members.len() == names.len() => what.to_owned(),
            [first, .., last] => format!("{what} that cross {first} to {last}"),
            links => format!("{what} that cross {}", links.join(", ")),
        };
        let mut figure = Figure::new(title, Axis::new("Time", "s"), Axis::new("Goodput", "bit/s"));
        figure.stacked = true;
        let mut below = vec![0.0; times.len()];
        for at in &stack.members {
            let (name, points) = &curves[*at];
            let mut band = Vec::with_capacity(times.len());
            for (at, below) in times.iter().zip(&mut below) {
                // A flow that is not there at a time has nothing of it.
                let place = points.binary_search_by(|p| p.0.total_cmp(at)).ok();
                let value = place.map_or(0.0, |place| points[place].1);
                let value = if value.is_finite() { value } else { 0.0 };
                band.push((*at, *below, *below + value));
                *below += value;
            }
            figure.lines.push(Line::new(name.clone(), Vec::new()).coloured(colours[*at].clone()).banded(band));
        }
        if below.iter().all(|sum| *sum == 0.0) {
            return None;
        }
        if stack.links.is_empty() {
            "Goodput of each, one on top of the other; the upper limit is their sum, which exceeds each link where they use several."
        } else {
            "Goodput of each, one on top of the other; the upper limit is their sum."
        }
        .clone_into(&mut figure.caption);
        shaded(&mut figure, warm_up_s);
        Some(figure)
    };
    stacks(&names, routes).iter().filter_map(stacked).collect()
}

/// Round-trip time against goodput: of each group the mean, and an ellipse of one standard deviation.
fn delay_and_throughput(groups: &Table, warm_up_s: f64, colour: &dyn Fn(&str) -> Option<String>) -> Option<Figure> {
    let (delays, rates) = (curves(groups, "rtt_s"), curves(groups, "goodput_bit_per_s"));
    let names: Vec<String> = rates.iter().map(|(name, _)| name.clone()).collect();
    let mut figure = Figure::new(
        "Round-trip time against goodput",
        Axis::new("Round-trip time", "s"),
        Axis::new("Goodput", "bit/s"),
    );
    for (((name, delay), (_, rate)), colour) in delays.iter().zip(&rates).zip(coloured(&names, colour)) {
        let periods = delay.iter().zip(rate).filter(|(d, _)| d.0 > warm_up_s);
        let samples: Vec<(f64, f64)> = periods.map(|(d, r)| (d.1, r.1)).collect();
        if let Some(spread) = spread(&samples) {
            figure.lines.push(Line::new(name.clone(), ellipse(&spread)).coloured(colour).around(spread));
        }
    }
    "Of each group the mean after the warm-up, and the ellipse of one standard deviation: of the goodput over all sampling \
     periods, of the round-trip time over those that have one. A group that pauses has periods without. Each period counts alike here, and each \
     packet in the mean round-trip time of the tables."
        .clone_into(&mut figure.caption);
    let delays = || figure.lines.iter().flat_map(|line| &line.points).map(|point| point.0);
    let (low, high) = (delays().fold(f64::INFINITY, f64::min), delays().fold(f64::NEG_INFINITY, f64::max));
    let room = 0.05 * (high - low);
    if room > 0.0 {
        figure.x = figure.x.between(low - room, high + room);
    }
    (!figure.is_empty()).then_some(figure)
}

/// Points of an outline.
const OUTLINE: usize = 72;

/// Mean and deviation of each number over the samples that have it: a period without a round-trip time is none without goodput. None
/// for fewer samples than [`FEW`].
fn spread(samples: &[(f64, f64)]) -> Option<Spread> {
    let (mx, sx, nx) = moments(samples.iter().map(|s| s.0))?;
    let (my, sy, ny) = moments(samples.iter().map(|s| s.1))?;
    let both: Vec<(f64, f64)> = samples.iter().copied().filter(|s| s.0.is_finite() && s.1.is_finite()).collect();
    let correlation = match (moments(both.iter().map(|s| s.0)), moments(both.iter().map(|s| s.1))) {
        (Some((bx, dx, n)), Some((by, dy, _))) if dx > 0.0 && dy > 0.0 => {
            let product = both.iter().map(|s| (s.0 - bx) * (s.1 - by)).sum::<f64>() / (n as f64 - 1.0);
            (product / (dx * dy)).clamp(-1.0, 1.0)
        }
        _ => 0.0,
    };
    Some(Spread { mean: (mx, my), deviation: (sx, sy), correlation, samples: (nx, ny) })
}

/// Mean, standard deviation and number of the finite values; none for fewer than [`FEW`].
fn moments(values: impl Iterator<Item = f64>) -> Option<(f64, f64, usize)> {
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (values.len() >= FEW).then(|| (mean, sqrt(squares / (n - 1.0)), values.len()))
}

/// The ellipse of one standard deviation: its axes are the eigenvectors of the covariance, in units of each deviation, since
/// seconds and bits per second differ by many powers of ten.
fn ellipse(spread: &Spread) -> Vec<(f64, f64)> {
    let Spread { mean, deviation, correlation, .. } = *spread;
    let (long, short) = (sqrt(1.0 + correlation.abs()), sqrt(1.0 - correlation.abs()));
    // Equal variances: the axes are the diagonals.
    let turn = atan2(if correlation < 0.0 { -1.0 } else { 1.0 }, 1.0);
    let point = |i: usize| {
        let angle = std::f64::consts::TAU * i as f64 / OUTLINE as f64;
        let (along, across) = (long * cos(angle), short * sin(angle));
        let (x, y) = (along * cos(turn) - across * sin(turn), along * sin(turn) + across * cos(turn));
        (mean.0 + deviation.0 * x, mean.1 + deviation.1 * y)
    };
    (0..=OUTLINE).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every point of the outline is one standard deviation away, by the covariance (Mahalanobis).
    #[test]
    fn an_ellipse_is_one_standard_deviation_away() {
        for slope in [-2.0, 0.0, 0.3] {
            let samples: Vec<(f64, f64)> = (0..50)
                .map(|i| (f64::from(i % 7) * 1e-3, slope * f64::from(i % 7) * 1e6 + f64::from(i % 11) * 1e6))
                .collect();
            let n = samples.len() as f64;
            let spread = spread(&samples).unwrap();
            let (mean, outline) = (spread.mean, ellipse(&spread));
            let moment = |f: &dyn Fn((f64, f64)) -> f64| samples.iter().map(|s| f(*s)).sum::<f64>() / (n - 1.0);
            let (xx, yy) = (moment(&|s| (s.0 - mean.0) * (s.0 - mean.0)), moment(&|s| (s.1 - mean.1) * (s.1 - mean.1)));
            let xy = moment(&|s| (s.0 - mean.0) * (s.1 - mean.1));
            let determinant = xx * yy - xy * xy;
            for (x, y) in outline {
                let (dx, dy) = (x - mean.0, y - mean.1);
                let distance = (yy * dx * dx - 2.0 * xy * dx * dy + xx * dy * dy) / determinant;
                assert!((distance - 1.0).abs() < 1e-9, "{slope}: {distance}");
            }
        }
    }

    /// A pause has goodput, which is none, and no round-trip time: the mean of the goodput is that of its own figure.
    #[test]
    fn a_period_without_a_round_trip_time_is_one_of_goodput() {
        let samples: Vec<(f64, f64)> =
            (0..40).map(|i| if i % 2 == 0 { (0.02 + f64::from(i) * 1e-4, 8e6) } else { (f64::NAN, 0.0) }).collect();
        let found = spread(&samples).unwrap();
        assert_eq!((found.samples, found.mean.1), ((20, 40), 4e6));
        assert!((found.mean.0 - 0.0219).abs() < 1e-12);
        // Half of the periods 4 Mbit/s above the mean, half below: 4e6 times the root of 40/39.
        assert!((found.deviation.1 - 4e6 * sqrt(40.0 / 39.0)).abs() < 1.0, "{found:?}");
        assert_eq!(spread(&samples[..18]), None, "nine round-trip times are few");
    }

    fn route(links: &[&str]) -> Vec<String> {
        links.iter().map(|link| (*link).to_owned()).collect()
    }

    /// In a parking lot the long flows share each link with other ones.
    #[test]
    fn a_stack_has_the_curves_of_one_link() {
        let routes: Routes = [
            ("long", route(&["first", "second"])),
            ("near", route(&["first"])),
            ("far", route(&["second"])),
            ("alone", route(&["third"])),
        ]
        .map(|(name, links)| (name.to_owned(), links))
        .into();
        let found = |names: &[&str]| -> Vec<(String, Vec<usize>)> {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            stacks(&names, &routes).into_iter().map(|stack| (stack.links.join(" "), stack.members)).collect()
        };
        let of = |link: &str, members: &[usize]| (link.to_owned(), members.to_vec());
        assert_eq!(found(&["near", "long", "far", "alone"]), [of("first", &[0, 1]), of("second", &[1, 2])]);
        assert_eq!(found(&["long 0", "long 1"]), [of("first second", &[0, 1])], "links of the same flows are one");
        assert_eq!(found(&["near", "far"]), [], "nothing is shared");
        assert_eq!(found(&["near", "unknown"]), [of("", &[0, 1])]);
    }

    /// The upper limit of a stack is the goodput that crosses its link.
    #[test]
    fn shares_of_two_links_are_two_figures() {
        use penstock_scenario::world::{Cells, Column};
        let names = ["long", "near", "far"].map(str::to_owned).to_vec();
        let key =
            Column { name: "group".to_owned(), kind: Kind::Key, values: Cells::Name { names, rows: vec![0, 1, 2] } };
        let number = |name: &str, kind, values: &[f64]| Column {
            name: name.to_owned(),
            kind,
            values: Cells::Number(values.to_vec()),
        };
        let time = number("time_s", Kind::Key, &[1.0; 3]);
        let goodput = number("goodput_bit_per_s", Kind::Average, &[3e6, 7e6, 6e6]);
        let table = Table { name: "groups".to_owned(), columns: vec![time, key, goodput] };
        let tops = |routes: &[(&str, &[&str])]| -> Vec<(String, f64)> {
            let routes = routes.iter().map(|(name, links)| ((*name).to_owned(), route(links))).collect();
            let top = |figure: &Figure| figure.lines.last().and_then(|line| Some(line.band.as_ref()?[0].2));
            let found = shares(&table, &routes, 0.0, &|_| None);
            found.iter().filter_map(|figure| Some((figure.title.clone(), top(figure)?))).collect()
        };
        let of = |title: &str, top| (title.to_owned(), top);
        assert_eq!(
            tops(&[("long", &["a", "b"]), ("near", &["a"]), ("far", &["b"])]),
            [of("Shares of the groups that cross a", 1e7), of("Shares of the groups that cross b", 9e6)]
        );
        let one: &[&str] = &["a"];
        assert_eq!(tops(&[("long", one), ("near", one), ("far", one)]), [of("Shares of the groups", 1.6e7)]);
        assert_eq!(tops(&[]), [of("Shares of the groups", 1.6e7)], "a record without routes has one stack");
    }

    #[test]
    fn a_distribution_counts_packets() {
        let period = |delay, rate| Period { at: 1.0, delay, rate };
        let periods = [period(0.3, 1.0), period(0.1, 2.0), period(0.2, 1.0), period(f64::NAN, 0.0)];
        assert_eq!(distribution(periods.iter()), [(0.1, 0.5), (0.2, 0.75), (0.3, 1.0)]);
    }

    /// A link of 10 Mbit/s sends 1000 packets of 10,000 bits a second: 50 that wait have to wait 50 ms.
    #[test]
    fn waiting_packets_over_leaving_packets_is_the_delay() {
        let link: LinkSummary = serde_json::from_str(
            r#"{ "utilization": 1.0, "throughput_bit_per_s": 1e7, "queue_mean_packets": 50.0, "queue_sd_packets": 0.0,
                 "queue_p99_packets": 50.0, "queue_max_packets": 50.0, "arrivals": 20000, "departures": 20000, "drops": 0,
                 "marks": 0 }"#,
        )
        .unwrap();
        let found =
            periods(&link, 20.0, &[(1.0, 50.0), (2.0, 50.0), (3.0, 0.0)], &[(1.0, 1e7), (2.0, 5e6), (3.0, 0.0)]);
        assert!((found[0].delay - 0.05).abs() < 1e-12 && (found[1].delay - 0.1).abs() < 1e-12);
        assert!(found[2].delay.is_nan());
    }
}
