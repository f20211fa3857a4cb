//! Shares of flows, over time and against each other. Goodput counts user data when it arrives for the first time: data that wait
//! for a gap before it to be filled would come all at once otherwise, and its rate would seem to oscillate.

use penstock_law::quantity::Time;

use super::rounds::{FlowRound, WINDOW, windows};

/// Starvation: the largest goodput over the smallest; one of zero counts as `floor` of its flow, the goodput of one packet.
/// `(goodput, floor)` of each flow, in the same unit. None of fewer than two flows, or where nobody got anything.
pub fn starvation(flows: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut count, mut least, mut most) = (0, f64::INFINITY, 0.0f64);
    for (goodput, floor) in flows {
        count += 1;
        least = least.min(goodput.max(floor));
        most = most.max(goodput);
    }
    (count > 1 && most > 0.0 && least > 0.0).then(|| (most / least).max(1.0))
}

/// Oscillation: the coefficient of variation (standard deviation over mean) of a flow's goodput over successive windows of so
/// many rounds, averaged over flows. Flows with fewer than two windows, or without goodput, are left out; none if all are.
pub fn oscillation<'a>(flows: impl IntoIterator<Item = &'a [FlowRound]>, rounds: usize) -> Option<f64> {
    let of_flow = |flow: &[FlowRound]| {
        let goodput: Vec<f64> = flow.chunks_exact(rounds.max(1)).map(delivered).collect();
        let count = goodput.len() as f64;
        let mean = goodput.iter().sum::<f64>() / count;
        let variance = goodput.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
        (goodput.len() > 1 && mean > 0.0).then(|| variance.sqrt() / mean)
    };
    mean(flows.into_iter().filter_map(of_flow))
}

/// Start-up time of a flow: from its start to the end of the first round with 0.8 of its final goodput, which is the mean over
/// the second half of its rounds [s]. `offset` is the time from its start to the first round. None of fewer than [`WINDOW`]
/// rounds, or without goodput in the second half. (RFC 7928, section 2.2.)
pub fn startup_s(flow: &[FlowRound], round: Time, offset: Time) -> Option<f64> {
    let later = &flow[flow.len() / 2..];
    let last = delivered(later) / later.len() as f64;
    if flow.len() < WINDOW || last <= 0.0 {
        return None;
    }
    let reached = flow.iter().position(|round| f64::from(round.arrived_bytes) >= 0.8 * last)?;
    Some((offset + Time((reached as u64 + 1) * round.0)).seconds())
}

/// The most successive rounds without goodput.
pub fn longest_silence(flow: &[FlowRound]) -> usize {
    flow.split(|round| round.arrived_bytes > 0.0).map(<[FlowRound]>::len).max().unwrap_or(0)
}

/// Rounds until flows share fairly: the first round from which on, in [`WINDOW`] successive windows of [`WINDOW`]
/// rounds each, every flow gets the mean of all, within `tolerance` of it. `flows` have the same rounds. None of fewer
/// than two flows, and if they never do. (RFC 5166, section 2.3, has convergence to such a bound.)
pub fn fair_rounds(flows: &[&[FlowRound]], tolerance: f64) -> Option<usize> {
    if flows.len() < 2 {
        return None;
    }
    let got: Vec<Vec<f64>> =
        flows.iter().map(|flow| windows(flow, WINDOW, |round| f64::from(round.arrived_bytes))).collect();
    let count = got.iter().map(Vec::len).min()?;
    let fair: Vec<bool> = (0..count)
        .map(|at| {
            let share = got.iter().map(|flow| flow[at]).sum::<f64>() / got.len() as f64;
            share > 0.0 && got.iter().all(|flow| (flow[at] - share).abs() <= tolerance * share)
        })
        .collect();
    let last = (WINDOW - 1) * WINDOW;
    (0..count.saturating_sub(last)).find(|first| (0..WINDOW).all(|window| fair[first + window * WINDOW]))
}

/// The mean; none of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum) = (0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
    }
    (count > 0.0).then(|| sum / count)
}

fn delivered(rounds: &[FlowRound]) -> f64 {
    rounds.iter().map(|round| f64::from(round.arrived_bytes)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Time = Time(100_000_000_000);

    fn flow(delivered: impl IntoIterator<Item = f32>) -> Vec<FlowRound> {
        delivered.into_iter().map(|bytes| FlowRound { arrived_bytes: bytes, sent: 0, lost: 0 }).collect()
    }

    fn near(found: Option<f64>, wanted: f64) {
        assert!(found.is_some_and(|found| (found - wanted).abs() < 1e-9), "{found:?}, not {wanted}");
    }

    #[test]
    fn a_silence_has_no_goodput() {
        assert_eq!(longest_silence(&flow([0.0, 1.0, 0.0, 0.0, 2.0, 0.0])), 2);
        assert_eq!(
            (longest_silence(&flow([1.0; 3])), longest_silence(&flow([0.0; 3])), longest_silence(&[])),
            (0, 3, 0)
        );
    }

    #[test]
    fn starvation_is_finite() {
        near(starvation([(3.0, 0.1), (12.0, 0.1), (6.0, 0.1)]), 4.0);
        near(starvation([(0.0, 0.1), (12.0, 0.1)]), 120.0);
        assert_eq!(starvation([(12.0, 0.1)]), None);
        assert_eq!(starvation([(0.0, 0.1), (0.0, 0.1)]), None);
    }

    /// 2 and 6 in turn: a mean of 4 and a deviation of 2. Two at a time are equal.
    #[test]
    fn oscillation_depends_on_the_window() {
        let saw = flow([2.0, 6.0, 2.0, 6.0, 2.0, 6.0, 2.0, 6.0]);
        let even = flow([5.0; 8]);
        near(oscillation([&saw[..]], 1), 0.5);
        near(oscillation([&saw[..]], 2), 0.0);
        near(oscillation([&saw[..], &even[..]], 1), 0.25);
        near(oscillation([&saw[..], &flow([0.0; 8])[..]], 1), 0.5);
        assert_eq!(oscillation([&saw[..]], 5), None, "one window");
    }

    /// 1, 2, 4, 8, 16, then 10 for good: 0.8 of it is 8, in the fourth round.
    #[test]
    fn startup_ends_with_the_first_full_round() {
        let rounds = flow([1.0, 2.0, 4.0, 8.0, 16.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0]);
        near(startup_s(&rounds, ROUND, Time::ZERO), 0.4);
        near(startup_s(&rounds, ROUND, Time(30_000_000_000)), 0.43);
        assert_eq!(startup_s(&rounds[..9], ROUND, Time::ZERO), None);
        assert_eq!(startup_s(&flow([1.0; 5].into_iter().chain([0.0; 5])), ROUND, Time::ZERO), None);
    }

    /// One flow has all for 200 rounds, then both have the same: of a window of ten, as many tenths may be of the first kind as
    /// the tolerance has.
    #[test]
    fn fair_after_the_newcomer_has_its_share() {
        let old = flow([2.0; 200].into_iter().chain([1.0; 100]));
        let new = flow([0.0; 200].into_iter().chain([1.0; 100]));
        assert_eq!(fair_rounds(&[&old, &new], 0.09), Some(200));
        assert_eq!(fair_rounds(&[&old, &new], 0.1), Some(199));
        assert_eq!(fair_rounds(&[&old, &new], 0.2), Some(198));
        assert_eq!(fair_rounds(&[&old[..299], &new[..299]], 0.09), None, "nine windows");
        // Fair for 50 rounds is not for good.
        let lapse = |share: f32| flow([1.0; 50].into_iter().chain([share; 30]).chain([1.0; 120]));
        assert_eq!(fair_rounds(&[&lapse(2.0), &lapse(0.0)], 0.09), Some(80));
        assert_eq!(fair_rounds(&[&old], 0.1), None);
        assert_eq!(fair_rounds(&[&flow([0.0; 100]), &flow([0.0; 100])], 0.1), None, "nothing to share");
    }
}
