//! Runs that are measured before they have settled.

use penstock_law::quantity::Time;

use super::kind::Kind;
use super::samples;
use crate::model::{Group, Scenario, Service, Size};
use crate::quantity::print_time;
use crate::summary::Finding;
use crate::world::Table;

pub(super) const KIND: Kind = Kind {
    id: "warmup-short",
    meaning: "goodput or queue of the first half of the measured span differ from those of the second by more than a tenth \
              or a quarter, and by more than four standard deviations; means depend on the length of the run",
};

/// Pieces of each half, whose means measure how much the run varies by itself.
const PIECES: usize = 10;
/// The halves are to differ by more than so many standard deviations of the pieces of the second half. The difference of
/// two means of ten independent pieces has 0.45 of these: by chance fewer than one run in a thousand is found (Student's t
/// of 8.9 with nine degrees of freedom). Pieces that depend on each other vary as a whole, hence the margin.
const DEVIATIONS: f64 = 4.0;
/// And by more than this share of the second half's mean.
const GOODPUT: f64 = 0.1;
const QUEUE: f64 = 0.25;
/// A queue that differs by less does not matter [packets].
const LEAST_QUEUE: f64 = 5.0;

/// The largest difference between the halves, if there is one. Only runs that have nothing to change in the measured span are
/// compared: every flow starts at its beginning or before and goes on to its end, and no window takes the run apart.
pub(super) fn find(scenario: &Scenario, measured_s: f64, series: &[Table]) -> Option<Finding> {
    let from = scenario.warmup.seconds();
    let between = (from, from + measured_s);
    let latest = Time::from_seconds(from + measured_s / 10.0);
    let settles = |(name, group): (&String, &Group)| {
        let longest = group.rtts(name, scenario.seed).into_iter().max().unwrap_or_default();
        // What comes and goes by itself is seldom the same in both halves.
        let endless = !group.transfers() && group.on_off.is_none();
        let busy = group.repeats.is_some() && matches!(group.size, Some(Size::Each(_)));
        (endless || busy)
            && group.steps.is_empty()
            && group.stop.is_none()
            && group.starts(name, scenario.seed).into_iter().all(|start| start <= latest)
            && longest.seconds() * (2 * PIECES) as f64 <= measured_s
    };
    let steady = scenario.links.values().all(|link| link.service == Service::Constant && link.delays.is_empty());
    if scenario.stop.is_some() || !scenario.windows.is_empty() || !steady || !scenario.groups.iter().all(settles) {
        return None;
    }
    let endless = |group: &Group| !group.transfers() && group.on_off.is_none();
    if !scenario.groups.values().any(endless) {
        return None;
    }
    let mut most: Option<(f64, String)> = None;
    let mut judge = |values: &[(f64, f64)], share: f64, least: f64, said: &dyn Fn(f64, f64) -> String| {
        if let Some((first, second)) = differ(values, share, least) {
            let by = (first - second).abs() / first.max(second);
            if most.as_ref().is_none_or(|(most, _)| by > *most) {
                most = Some((by, said(first, second)));
            }
        }
    };
    for (name, _) in scenario.groups.iter().filter(|(_, group)| endless(group)) {
        let goodput = samples::of(series, ("groups", "group"), name, "goodput_bit_per_s", between);
        let said = |a: f64, b: f64| {
            format!(
                "the goodput of flows.{name} is {:.3} Mbit/s in the first half of the span and {:.3} in the second",
                a / 1e6,
                b / 1e6
            )
        };
        judge(&goodput, GOODPUT, 0.0, &said);
    }
    for name in scenario.links.keys() {
        let queue = samples::of(series, ("links", "link"), name, "queue_mean_packets", between);
        let said = |a: f64, b: f64| {
            format!(
                "the mean queue of links.{name} is {a:.1} packets in the first half of the span and {b:.1} in the second"
            )
        };
        judge(&queue, QUEUE, LEAST_QUEUE, &said);
    }
    let (_, what) = most?;
    let text = format!(
        "the run changes throughout the measured span: {what}; use a longer `warmup` (it is {}) and a longer `duration`",
        print_time(scenario.warmup)
    );
    Some(KIND.found("warmup".to_owned(), text))
}

/// The means of both halves, if they differ.
fn differ(values: &[(f64, f64)], share: f64, least: f64) -> Option<(f64, f64)> {
    let (first, second) = values.split_at(values.len() / 2);
    let piece = second.len() / PIECES;
    if piece < 2 {
        return None;
    }
    let mean = |values: &[(f64, f64)]| values.iter().map(|(_, value)| value).sum::<f64>() / values.len() as f64;
    // What is left over of the division belongs to the last piece.
    let pieces: Vec<f64> = (0..PIECES)
        .map(|at| if at + 1 == PIECES { &second[at * piece..] } else { &second[at * piece..(at + 1) * piece] })
        .map(mean)
        .collect();
    let (a, b) = (mean(first), mean(second));
    let centre = pieces.iter().sum::<f64>() / PIECES as f64;
    let variance = pieces.iter().map(|x| (x - centre) * (x - centre)).sum::<f64>() / (PIECES - 1) as f64;
    let by = (a - b).abs();
    (by > least && by > share * b.abs() && by > DEVIATIONS * variance.sqrt()).then_some((a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn halves(f: impl FnMut(usize) -> f64) -> bool {
        let values: Vec<(f64, f64)> = (0..400).map(|at| at as f64 / 10.0).zip((0..400).map(f)).collect();
        differ(&values, 0.1, 0.0).is_some()
    }

    /// A mean that settles with a time constant of a sixth of the span is found; noise, cycles and what settles within a
    /// hundredth are not.
    #[test]
    fn a_drift_is_found_and_noise_is_not() {
        assert!(halves(|at| 1.0 - libm::exp(-(at as f64) / 66.0)));
        assert!(halves(|at| if at < 200 { 0.5 } else { 1.0 }));
        assert!(!halves(|at| 1.0 - libm::exp(-(at as f64) / 4.0)));
        assert!(!halves(|_| 1.0) && !halves(|_| 0.0));
        for period in [7, 20, 33, 50, 100, 150] {
            assert!(!halves(|at| 0.5 + (at % period) as f64 / period as f64), "sawtooth of {period} samples");
        }
        // Noise that remembers twenty samples: no run in a thousand.
        let found = (0..1000).filter(|run| {
            let (mut stream, mut x) = (Seed(*run).stream("x"), 0.0);
            halves(|_| {
                x += (stream.unit() - 0.5 - x) / 20.0;
                1.0 + 3.0 * x
            })
        });
        let found = found.count();
        assert!(found <= 1, "{found} of 1000");
    }
}
