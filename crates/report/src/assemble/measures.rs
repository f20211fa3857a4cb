//! The numbers of a summary: which there are, in which unit, and tables of them.

use penstock_scenario::summary::{
    CustomerSummary, FlowSummary, GroupSummary, LinkSummary, Measured, QueueSummary, SizeClass, Slowdown, Summary,
};
use penstock_scenario::transfer::SIZE_CLASSES;

use crate::number::{ABSENT, Prefix, decimal_exponent, digits, fixed, trimmed, words};
use crate::page::{Column, TableView};

/// One number of a link's or a group's summary.
pub(super) struct Measure<T> {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) of: fn(&T) -> Option<f64>,
    /// Whether a sweep shows it in a chart.
    pub(super) headline: bool,
    whole: bool,
}

const fn real<T>(name: &'static str, unit: &'static str, headline: bool, of: fn(&T) -> Option<f64>) -> Measure<T> {
    Measure { name, unit, of, headline, whole: false }
}

const fn whole<T>(name: &'static str, of: fn(&T) -> Option<f64>) -> Measure<T> {
    Measure { name, unit: "", of, headline: false, whole: true }
}

/// Numbers of a link in a summary.
pub(super) const LINK: &[Measure<LinkSummary>] = &[
    real("Utilization", "", true, |l| Some(l.utilization)),
    real("Throughput", "bit/s", false, |l| Some(l.throughput_bit_per_s)),
    real("Mean queue", "packets", true, |l| Some(l.queue_mean_packets)),
    real("Queue s.d.", "packets", false, |l| Some(l.queue_sd_packets)),
    real("Queue p99", "packets", false, |l| Some(l.queue_p99_packets)),
    real("Longest queue", "packets", false, |l| Some(l.queue_max_packets)),
    real("Mean queueing delay", "s", true, |l| l.queueing_delay_mean_s),
    real("Queueing delay p99", "s", true, |l| l.queueing_delay_p99_s),
    real("Mean price", "s", true, |l| l.price_mean),
    whole("Arrivals", |l| Some(l.arrivals as f64)),
    whole("Departures", |l| Some(l.departures as f64)),
    whole("Drops", |l| Some(l.drops as f64)),
    whole("Marks", |l| Some(l.marks as f64)),
];

/// Numbers of a queue of a link that has several, in a summary.
const QUEUE: &[Measure<QueueSummary>] = &[
    real("Throughput", "bit/s", false, |q| Some(q.throughput_bit_per_s)),
    real("Mean queueing delay", "s", false, |q| q.queueing_delay_mean_s),
    real("Queueing delay p99", "s", false, |q| q.queueing_delay_p99_s),
    whole("Arrivals", |q| Some(q.arrivals as f64)),
    whole("Departures", |q| Some(q.departures as f64)),
    whole("Drops", |q| Some(q.drops as f64)),
    whole("Marks", |q| Some(q.marks as f64)),
];

/// Numbers of a group of flows in a summary.
pub(super) const GROUP: &[Measure<GroupSummary>] = &[
    whole("Flows", |g| Some(g.count as f64)),
    real("Goodput", "bit/s", true, |g| Some(g.goodput_bit_per_s)),
    real("Packets delivered", "packets/s", false, |g| Some(g.throughput_packets_per_s)),
    real("Mean RTT", "s", true, |g| g.rtt_mean_s),
    real("Jain\u{2019}s index", "", true, |g| g.jain),
    real("Mean window", "packets", true, |g| g.window_mean_packets),
    real("Window s.d.", "packets", false, |g| g.window_sd_packets),
    real("Loss rate", "", true, |g| Some(g.loss_rate)),
    real("Mark rate", "", true, |g| Some(g.mark_rate)),
    whole("Retransmits", |g| Some(g.retransmits as f64)),
    whole("Timeouts", |g| Some(g.timeouts as f64)),
    whole("Transfers done", |g| g.transfers.as_ref().map(|t| t.completed as f64)),
    real("Mean completion", "s", true, |g| g.transfers.as_ref().and_then(|t| t.completion_mean_s)),
    real("Median completion", "s", false, |g| g.transfers.as_ref().and_then(|t| t.completion_p50_s)),
    real("Completion p95", "s", false, |g| g.transfers.as_ref().and_then(|t| t.completion_p95_s)),
    real("Completion p99", "s", true, |g| g.transfers.as_ref().and_then(|t| t.completion_p99_s)),
    real("Mean slowdown", "", false, |g| slowdown(g, |s| s.mean)),
    real("Median slowdown", "", false, |g| slowdown(g, |s| s.p50)),
    real("Slowdown p95", "", false, |g| slowdown(g, |s| s.p95)),
    real("Slowdown p99", "", true, |g| slowdown(g, |s| s.p99)),
    whole("Pages loaded", |g| g.pages.as_ref().map(|p| p.completed as f64)),
    real("Mean page load", "s", true, |g| g.pages.as_ref().and_then(|p| p.load_mean_s)),
    real("Median page load", "s", false, |g| g.pages.as_ref().and_then(|p| p.load_p50_s)),
    real("Page load p95", "s", false, |g| g.pages.as_ref().and_then(|p| p.load_p95_s)),
    real("Page load p99", "s", true, |g| g.pages.as_ref().and_then(|p| p.load_p99_s)),
    real("Mean video rate", "bit/s", true, |g| g.video.as_ref().and_then(|v| v.rate_mean_bit_per_s)),
    real("Rebuffering", "s", true, |g| g.video.as_ref().map(|v| v.rebuffer_s)),
    whole("Stalls", |g| g.video.as_ref().map(|v| v.rebuffers as f64)),
    whole("Switches of rate", |g| g.video.as_ref().map(|v| v.switches as f64)),
    real("Mean startup", "s", false, |g| g.video.as_ref().and_then(|v| v.startup_mean_s)),
    real("Transfers under way", "", true, |g| g.transfers.as_ref().and_then(|t| t.under_way_mean)),
    whole("Transfers that waited", |g| g.transfers.as_ref().and_then(|t| t.waited).map(|waited| waited as f64)),
    real("Mean wait", "s", false, |g| g.transfers.as_ref().and_then(|t| t.wait_mean_s)),
];

fn slowdown(group: &GroupSummary, of: fn(Slowdown) -> f64) -> Option<f64> {
    group.transfers.as_ref()?.slowdown.map(of)
}

/// Numbers of a group's transfers of one class of size, in a summary.
const SIZE: &[Measure<SizeClass>] = &[
    whole("Transfers done", |c| Some(c.completed as f64)),
    real("Mean completion", "s", false, |c| Some(c.completion_mean_s)),
    real("Median completion", "s", false, |c| Some(c.completion_p50_s)),
    real("Completion p95", "s", false, |c| Some(c.completion_p95_s)),
    real("Completion p99", "s", false, |c| Some(c.completion_p99_s)),
    real("Mean slowdown", "", false, |c| Some(c.slowdown.mean)),
    real("Median slowdown", "", false, |c| Some(c.slowdown.p50)),
    real("Slowdown p95", "", false, |c| Some(c.slowdown.p95)),
    real("Slowdown p99", "", false, |c| Some(c.slowdown.p99)),
];

/// Numbers of a customer in a summary.
const CUSTOMER: &[Measure<CustomerSummary>] = &[
    real("Committed", "bit/s", false, |c| c.committed_bit_per_s),
    real("Throughput", "bit/s", true, |c| Some(c.throughput_bit_per_s)),
    real("Achieved", "", true, |c| c.achieved_fraction),
    real("In profile", "", true, |c| c.in_profile_fraction),
    real("Mean bucket", "B", true, |c| c.bucket_mean_bytes),
    real("Bucket s.d.", "B", false, |c| c.bucket_sd_bytes),
    real("Time full", "", false, |c| c.time_full),
    real("Time empty", "", false, |c| c.time_empty),
];

const FLOW: &[Measure<FlowSummary>] = &[
    real("Propagation RTT", "s", false, |f| Some(f.rtt_s)),
    real("Goodput", "bit/s", false, |f| Some(f.goodput_bit_per_s)),
    real("Packets delivered", "packets/s", false, |f| Some(f.throughput_packets_per_s)),
    real("Mean window", "packets", false, |f| f.window_mean_packets),
    real("Mean RTT", "s", false, |f| f.rtt_mean_s),
    real("Least RTT", "s", false, |f| f.rtt_min_s),
    real("Loss rate", "", false, |f| Some(f.loss_rate)),
    real("Mark rate", "", false, |f| Some(f.mark_rate)),
    whole("Retransmits", |f| Some(f.retransmits as f64)),
    whole("Timeouts", |f| Some(f.timeouts as f64)),
    real("Completion", "s", false, |f| f.completion_s),
];

/// Columns for `measures` and their cells, a row a thing.
pub(super) fn cells<T>(measures: &[Measure<T>], things: &[&T]) -> (Vec<Column>, Vec<Vec<String>>) {
    let mut columns = Vec::new();
    let mut rows = vec![Vec::new(); things.len()];
    for measure in measures {
        let values: Vec<Option<f64>> = things.iter().map(|t| (measure.of)(t)).collect();
        let (column, cells) = column(measure.name, measure.unit, measure.whole, &values);
        columns.push(column);
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    (columns, rows)
}

/// A column of numbers with one prefix, chosen for the largest of them.
pub(super) fn column(name: &str, unit: &str, whole: bool, values: &[Option<f64>]) -> (Column, Vec<String>) {
    let most = values.iter().flatten().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
    let prefix = Prefix::for_value(most, unit);
    let scaled = |v: &f64| *v / prefix.factor;
    let whole = whole || values.iter().flatten().map(scaled).all(|v| v == v.trunc());
    let cell = |v: &Option<f64>| v.as_ref().map_or_else(|| ABSENT.to_owned(), |v| printed(scaled(v), whole));
    (Column::numbers(name, format!("{}{unit}", prefix.symbol)), values.iter().map(cell).collect())
}

/// A column of means, each with half the width of its interval where it has a width: `0.951` plus or minus `0.012`.
pub(super) fn interval_column(
    name: &str,
    unit: &str,
    means: &[Option<f64>],
    halves: &[Option<f64>],
) -> (Column, Vec<String>) {
    let (column, plain) = column(name, unit, false, means);
    let most = means.iter().flatten().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
    let factor = Prefix::for_value(most, unit).factor;
    let cell = |((plain, mean), half): ((String, &Option<f64>), &Option<f64>)| match (mean, half) {
        (Some(mean), Some(half)) => plus_minus(mean / factor, half / factor),
        _ => plain,
    };
    (column, plain.into_iter().zip(means).zip(halves).map(cell).collect())
}

/// Differences are of rounding that are smaller than this share of what they are differences of.
const ROUNDING: f64 = 1e-11;

/// Numbers with their intervals in the prefix that `like` would have, such as differences in that of the values.
pub(super) fn in_unit_of(
    unit: &str,
    like: &[Option<f64>],
    means: &[Option<f64>],
    halves: &[Option<f64>],
) -> Vec<String> {
    let most = like.iter().flatten().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
    let factor = Prefix::for_value(most, unit).factor;
    // A difference of equal numbers is an error of rounding.
    let scaled = |value: &f64| if value.abs() < ROUNDING * most { 0.0 } else { value / factor };
    let cell = |(mean, half): (&Option<f64>, &Option<f64>)| match (mean, half) {
        (None, _) => ABSENT.to_owned(),
        (Some(mean), None) => printed(scaled(mean), false),
        (Some(mean), Some(half)) => plus_minus(scaled(mean), scaled(half)),
    };
    means.iter().zip(halves).map(cell).collect()
}

/// The half width with two digits, the mean with as many after the point. A number that does not vary stands alone: an interval
/// without a width would say that it is exact.
fn plus_minus(mean: f64, half: f64) -> String {
    if half == 0.0 || decimal_exponent(half, 2) < -8 {
        return printed(mean, mean == mean.trunc());
    }
    let decimals = (1 - decimal_exponent(half, 2)).max(0) as usize;
    format!("{} \u{b1} {}", fixed(mean, decimals), fixed(half, decimals))
}

fn printed(value: f64, whole: bool) -> String {
    if whole || value == 0.0 { fixed(value, 0) } else { digits(value, 4) }
}

/// With so few entities a table has one column an entity, which is narrow enough for a terminal.
const FEW: usize = 6;

fn entities<'a, T: 'a>(
    caption: &str,
    what: &str,
    measures: &[Measure<T>],
    things: impl Iterator<Item = (String, &'a T)>,
) -> TableView {
    let (names, things): (Vec<String>, Vec<&T>) = things.unzip();
    let (columns, rows) = cells(measures, &things);
    let mut view = TableView::new(caption, vec![Column::words(what)]);
    if names.len() <= FEW {
        view.columns.extend(names.into_iter().map(|n| Column::numbers(n, "")));
        for (i, column) in columns.into_iter().enumerate() {
            let unit = if column.unit.is_empty() { String::new() } else { format!(" [{}]", column.unit) };
            let cells: Vec<String> = rows.iter().map(|r| trimmed(&r[i]).to_owned()).collect();
            if cells.iter().any(|c| c != ABSENT) {
                view.rows.push(std::iter::once(format!("{}{unit}", column.name)).chain(cells).collect());
            }
        }
        return view;
    }
    view.columns.extend(columns);
    for (name, row) in names.into_iter().zip(rows) {
        view.rows.push(std::iter::once(name).chain(row).collect());
    }
    view.drop_empty_columns();
    view
}

/// A table of links.
pub fn link_table(caption: &str, measured: &Measured) -> TableView {
    entities(caption, "Link", LINK, measured.links.iter().map(|(n, l)| (n.clone(), l)))
}

/// A table of the queues of links that have several.
fn queue_table(caption: &str, measured: &Measured) -> TableView {
    let of_link = |(link, summary): (&String, _)| {
        let summary: &LinkSummary = summary;
        let queue = |(name, queue)| (format!("{link}: {name}"), queue);
        summary.queues.iter().map(queue).collect::<Vec<(String, &QueueSummary)>>()
    };
    entities(caption, "Queue", QUEUE, measured.links.iter().flat_map(of_link))
}

/// A table of groups.
pub fn group_table(caption: &str, measured: &Measured) -> TableView {
    entities(caption, "Group", GROUP, measured.groups.iter().map(|(n, g)| (n.clone(), g)))
}

/// A table of transfers by their size; without rows where all of each group are of one class.
fn size_table(caption: &str, measured: &Measured) -> TableView {
    let of_group = |(name, group): (&String, _)| {
        let group: &GroupSummary = group;
        let classes = group.transfers.iter().filter(|transfers| transfers.by_size.len() > 1).flat_map(|t| &t.by_size);
        classes
            .map(|(class, of)| (format!("{name}: {}", class_of_size(class)), of))
            .collect::<Vec<(String, &SizeClass)>>()
    };
    entities(caption, "Transfers", SIZE, measured.groups.iter().flat_map(of_group))
}

/// A class of size in words, with both of its ends: a transfer is of one class.
pub(super) fn class_of_size(name: &str) -> String {
    let size = |name: &str| name.strip_prefix("up_to_").map(|size| size.replace('_', " "));
    let before = SIZE_CLASSES.windows(2).find(|pair| pair[1].0 == name).and_then(|pair| size(pair[0].0));
    match (before, size(name)) {
        (Some(from), Some(to)) => format!("{from} to {to}"),
        _ => words(name),
    }
}

/// A table of customers.
pub fn customer_table(caption: &str, measured: &Measured) -> TableView {
    entities(caption, "Customer", CUSTOMER, measured.customers.iter().map(|(n, c)| (n.clone(), c)))
}

/// A table of flows, a row each.
pub fn flow_table(caption: &str, flows: &[FlowSummary]) -> TableView {
    entities(caption, "Flow", FLOW, flows.iter().map(|f| (format!("{} {}", f.group, f.index), f)))
}

/// Tables of the whole span and of each named window.
pub(super) fn tables(summary: &Summary) -> Vec<TableView> {
    let mut out = Vec::new();
    let spans = std::iter::once((None, &summary.whole)).chain(summary.windows.iter().map(|(n, m)| (Some(n), m)));
    for (window, measured) in spans {
        let tail = window.map_or_else(String::new, |n| format!(", window \u{201c}{n}\u{201d}"));
        if !measured.links.is_empty() {
            out.push(link_table(&format!("Links{tail}"), measured));
        }
        if measured.links.values().any(|link| !link.queues.is_empty()) {
            out.push(queue_table(&format!("Queues{tail}"), measured));
        }
        if !measured.groups.is_empty() {
            out.push(group_table(&format!("Groups of flows{tail}"), measured));
        }
        if measured.groups.values().any(|group| group.transfers.as_ref().is_some_and(|t| t.by_size.len() > 1)) {
            out.push(size_table(&format!("Transfers by size{tail}"), measured));
        }
        if !measured.customers.is_empty() {
            out.push(customer_table(&format!("Customers{tail}"), measured));
        }
    }
    out
}

impl Measure<Summary> {
    /// Fairness over the flows of several groups. One flow is as fair as any to itself.
    pub(super) const fn fairness() -> Self {
        real("Jain\u{2019}s index", "", true, |s| {
            let flows: u32 = compared(s).map(|(_, group)| group.count).sum();
            s.whole.fairness.as_ref().and_then(|f| f.jain).filter(|_| flows > 1)
        })
    }
}

/// The groups whose flows the fairness index compares: those whose connections have a window throughout, and none for each
/// arrival or page.
fn compared(summary: &Summary) -> impl Iterator<Item = (&String, &GroupSummary)> {
    let there = |group: &GroupSummary| group.jain.is_some() || group.window_mean_packets.is_some();
    summary.whole.groups.iter().filter(move |(_, group)| there(group))
}

/// Which flows the fairness index of these runs compares, in words: `all flows`, or those of some groups.
pub(super) fn flows_compared<'a>(summaries: impl Iterator<Item = &'a Summary>) -> String {
    let (mut all, mut named) = (true, Vec::new());
    for summary in summaries {
        all &= compared(summary).count() == summary.whole.groups.len();
        for (name, _) in compared(summary) {
            if !named.contains(&name.as_str()) {
                named.push(name.as_str());
            }
        }
    }
    match named.split_last() {
        Some((last, [])) if !all => format!("flows of {last}"),
        Some((last, others)) if !all => format!("flows of {} and {last}", others.join(", ")),
        _ => "all flows".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_size_has_both_ends() {
        let words: Vec<String> = SIZE_CLASSES.iter().map(|(name, _)| class_of_size(name)).collect();
        assert_eq!(words, ["Up to 10 kB", "10 kB to 100 kB", "100 kB to 1 MB", "1 MB to 10 MB", "Above 10 MB"]);
    }

    /// A group with arrivals has no index of its own and no window, and its flows are not among those compared.
    #[test]
    fn fairness_says_of_which_flows_it_is() {
        let summary = |groups: &[(&str, u32, bool)]| -> Summary {
            let group = |(name, count, lasts): &(&str, u32, bool)| {
                let window = if *lasts { r#""window_mean_packets": 9.0,"# } else { "" };
                format!(
                    r#""{name}": {{ "count": {count}, "goodput_bit_per_s": 1.0, "throughput_packets_per_s": 1.0, {window}
                        "loss_rate": 0.0, "mark_rate": 0.0, "retransmits": 0, "timeouts": 0 }}"#
                )
            };
            let groups: Vec<String> = groups.iter().map(group).collect();
            serde_json::from_str(&format!(
                r#"{{ "title": "t", "world": "packets", "seed": 1, "measured_s": 1.0, "links": {{}}, "groups": {{ {} }},
                     "fairness": {{ "jain": 0.5 }}, "engine": {{ "events": 1, "packets": 1 }} }}"#,
                groups.join(", ")
            ))
            .unwrap()
        };
        let said = |groups: &[(&str, u32, bool)]| {
            let summary = summary(groups);
            (flows_compared(std::iter::once(&summary)), (Measure::fairness().of)(&summary))
        };
        assert_eq!(said(&[("a", 1, true), ("b", 1, true)]), ("all flows".to_owned(), Some(0.5)));
        let three = [("a", 1, true), ("web", 50, false), ("b", 1, true), ("c", 2, true)];
        assert_eq!(said(&three), ("flows of a, b and c".to_owned(), Some(0.5)));
        assert_eq!(said(&[("a", 2, true), ("web", 50, false)]), ("flows of a".to_owned(), Some(0.5)));
        assert_eq!(said(&[("a", 1, true), ("web", 50, false)]).1, None, "one flow");
    }

    /// Half a width of zero says nothing about a number, and one of an error of rounding neither.
    #[test]
    fn a_number_that_does_not_vary_stands_alone() {
        let means = [Some(0.5), Some(0.5), Some(0.5), Some(3.0), None];
        let halves = [Some(0.012), Some(0.0), Some(1e-12), Some(0.0), None];
        let (_, cells) = interval_column("Utilization", "", &means, &halves);
        assert_eq!(cells, ["0.500 \u{b1} 0.012", "0.5000", "0.5000", "3", ABSENT]);
        // Differences in the unit of the values: a millisecond each.
        let cells = in_unit_of("s", &[Some(2e-3)], &[Some(0.0), Some(1e-3), Some(1e-3)], &[Some(0.0), Some(0.0), None]);
        assert_eq!(cells, ["0", "1", "1.000"]);
    }
}
