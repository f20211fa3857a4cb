//! The disturbance response of a closed loop: from cross traffic at a queue to its delay and to the rate of its flows.
//!
//! Cross traffic responds to nothing, leaves behind the line, and is not dropped, so that it takes capacity from the flows. With
//! `S = (I + L)^-1` and the [`Loop`] that the margins are of, all that arrives at a queue responds by `S`, the flows alone by
//! `S - I` (the complementary sensitivity, with its sign), and the delay by `S` times the queue's integrator. No delay is
//! approximated. The unit of cross traffic is the link's capacity: the delay responds in seconds, the rate as a number.
//!
//! The response to a step is the first half period of the response to a square wave whose half period is so long that
//! the loop has settled in it: a series of odd harmonics, with the response at each of them as it is.

use core::cell::Cell;
use core::f64::consts::PI;

use serde::Serialize;

use crate::bottleneck::BottleneckResponse;
use crate::complex::Complex;
use crate::loop_model::LoopModel;
use crate::matrix::solve;
use crate::phase::turns_little;
use crate::response::Loop;

/// Points of a response over frequency, and of one over time.
const POINTS: u32 = 400;

/// Longest round trips in half a period of the square wave: at first, doubled until the loop settles in it, and at most. A
/// loop that is slower has no step response.
const FEW: f64 = 20.0;
const MANY: f64 = 4000.0;

/// The share of half a period in which the loop has to settle.
const USED: f64 = 0.9;

/// A step has settled when it stays within this share of its largest change.
const BAND: f64 = 0.05;

/// The shares of the largest change of the delay, and of the rate, that may be left then.
const LEFT: [f64; 2] = [2e-3, 2e-2];

/// Frequencies at which the peaks are searched, at most.
const MOST: usize = 100_000;

/// Peaks of about one height that are looked at.
const FIRST: usize = 8;

/// A static gain below this share of the largest gain is none.
const NOTHING: f64 = 1e-8;

/// Times of a step response for each that is kept.
const FINE: u32 = 5;

/// The share of the longest round trip over which a rate is averaged.
const WINDOW: f64 = 0.05;

/// The response to cross traffic at one queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disturbance {
    /// The link.
    pub link: String,
    /// The model of the loop.
    pub model: LoopModel,
    /// Queueing delay over the cross traffic's share of the capacity [s].
    pub delay_s: Gains,
    /// Rate of the flows at this link over that of the cross traffic; -1 gives way to all of it.
    pub rate: Gains,
    /// The part of each class of flows in the static gain of the rate, as it is sent.
    pub classes: Vec<ClassGain>,
    /// Gains over frequency.
    pub frequency: Vec<GainPoint>,
    /// The response over time to cross traffic that starts and stays. Absent where the loop is too slow to follow it in
    /// steps of its round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
}

/// Gains of a response.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gains {
    /// The change that is left when cross traffic has come to stay.
    pub static_gain: f64,
    /// The largest amplitude, over that of cross traffic which swings as a sine.
    pub peak_gain: f64,
    /// The frequency of that sine [rad/s]; zero where none is amplified more than cross traffic that stays.
    pub peak_rad_per_s: f64,
}

/// The part of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassGain {
    /// Its name.
    pub name: String,
    /// Its rate, all flows together, over that of cross traffic that stays.
    pub static_gain: f64,
}

/// Moduli at a frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GainPoint {
    /// Frequency [rad/s].
    pub frequency_rad_per_s: f64,
    /// Of the queueing delay [s].
    pub delay_s: f64,
    /// Of the rate of the flows.
    pub rate: f64,
}

/// The response to a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The largest change of the delay, over the cross traffic's share of the capacity [s].
    pub delay_peak_s: f64,
    /// Its time after the step [s].
    pub delay_peak_at_s: f64,
    /// The time from which the delay stays within 5 % of its largest change from its last value [s].
    pub delay_settled_at_s: f64,
    /// The response over time.
    pub points: Vec<StepPoint>,
}

/// The response to a step at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepPoint {
    /// Time after the step [s].
    pub time_s: f64,
    /// Change of the queueing delay [s].
    pub delay_s: f64,
    /// Change of the rate of the flows as it arrives at the link, averaged over a twentieth of the longest round trip.
    pub rate: f64,
}

/// The response of one link.
#[derive(Debug, Clone, Copy)]
struct Pair {
    delay: Complex,
    rate: Complex,
}

/// A frequency [rad/s] and the responses of all links there.
type Row = (f64, Vec<Pair>);

/// The responses of all links at a frequency; none at a pole of L.
type Take<'a> = &'a dyn Fn(f64) -> Option<Vec<Pair>>;

/// The response at each link of a stable loop; `names` are those of the links and of the classes, `roots` the rightmost
/// of its characteristic equation, and `watch` is called with the number of frequencies at which the loop was taken.
pub fn responses(
    closed: &Loop,
    (links, classes): (&[&str], &[&str]),
    roots: &[Complex],
    watch: &dyn Fn(u64),
) -> Vec<Disturbance> {
    let taken = Cell::new(0);
    let model = LoopModel::DECISIVE;
    let take = |w: f64| {
        taken.set(taken.get() + 1);
        watch(taken.get());
        pairs_at(closed, w, model)
    };
    let (slowest_s, fastest_s) = closed.span();
    let slowest_root = roots.iter().map(|root| root.abs()).fold(1.0 / slowest_s, f64::min);
    let still = static_gains(closed, f64::min(1e-6 / slowest_s, 1e-4 * slowest_root), model);
    let Some((still, of_classes)) = still else { return Vec::new() };
    let rows = follow(&take, 0.01 * slowest_root, (slowest_s, 30.0 / fastest_s));
    let plotted = plotted(&take, 0.03 * slowest_root, 30.0 / fastest_s);
    let (series, half_s) = settled(&take, &still, (slowest_s, closed.members.len()));
    let wave = |link: usize| Wave { series: &series, link, still: still[link], half_s, window_s: slowest_s * WINDOW };
    (0..links.len())
        .map(|l| {
            let of =
                |which: fn(&Pair) -> Complex| gains(&rows, &take, which(&still[l]).re, &|pairs| which(&pairs[l]).abs());
            let (delay_s, rate) = (of(|pair| pair.delay), of(|pair| pair.rate));
            let point = |(w, pairs): &Row| GainPoint {
                frequency_rad_per_s: *w,
                delay_s: pairs[l].delay.abs(),
                rate: pairs[l].rate.abs(),
            };
            Disturbance {
                link: links[l].to_owned(),
                model,
                step: wave(l).step(),
                delay_s,
                rate,
                classes: classes
                    .iter()
                    .zip(&of_classes)
                    .map(|(name, gains)| ClassGain { name: (*name).to_owned(), static_gain: gains[l] })
                    .collect(),
                frequency: plotted.iter().map(point).collect(),
            }
        })
        .collect()
}

/// `(I + L)^-1` at `s`; none at a pole of L.
fn sensitivity(closed: &Loop, s: Complex, model: LoopModel) -> Option<Vec<Vec<Complex>>> {
    let mut ahead = closed.matrix(s, model);
    let n = ahead.len();
    for (l, row) in ahead.iter_mut().enumerate() {
        row[l] = row[l] + Complex::ONE;
    }
    let unit = |i: usize| (0..n).map(|j| if i == j { Complex::ONE } else { Complex::ZERO }).collect();
    let inverse = solve(ahead, (0..n).map(unit).collect())?;
    inverse.iter().flatten().all(|x| x.is_finite()).then_some(inverse)
}

fn pairs(closed: &Loop, s: Complex, model: LoopModel, inverse: &[Vec<Complex>]) -> Vec<Pair> {
    let pair = |(l, link): (usize, &BottleneckResponse)| {
        let all = inverse[l][l];
        Pair { delay: link.at(s, model).0 * link.capacity() * all, rate: all - Complex::ONE }
    };
    closed.links.iter().enumerate().map(pair).collect()
}

fn pairs_at(closed: &Loop, w: f64, model: LoopModel) -> Option<Vec<Pair>> {
    let s = Complex::axis(w);
    Some(pairs(closed, s, model, &sensitivity(closed, s, model)?))
}

/// Responses to cross traffic that stays: the limit, taken at a frequency `w` so low that no part of the loop shows; and of
/// each class the part that it has in them, link by link.
fn static_gains(closed: &Loop, w: f64, model: LoopModel) -> Option<(Vec<Pair>, Vec<Vec<f64>>)> {
    let s = Complex::axis(w);
    let inverse = sensitivity(closed, s, model)?;
    let of_class = |member| {
        let sent = |link: usize| {
            let arrivals: Vec<Complex> = inverse.iter().map(|row| row[link]).collect();
            closed.sent(member, s, model, &arrivals).re
        };
        (0..closed.links.len()).map(sent).collect()
    };
    Some((pairs(closed, s, model, &inverse), closed.members.iter().map(of_class).collect()))
}

/// The responses along the frequencies from `start` [rad/s], dense enough that a resonance shows.
fn follow(take: Take<'_>, start: f64, (slowest_s, most): (f64, f64)) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut w = start;
    while w < most && rows.len() < MOST {
        if let Some(pairs) = take(w) {
            if let Some(last) = rows.last().cloned() {
                refine(take, &last, &(w, pairs.clone()), 12, &mut rows);
            }
            rows.push((w, pairs));
        }
        w += f64::min(0.03 * w, 0.3 / slowest_s);
    }
    rows
}

/// Adds rows between two neighbours where a response turns; the ends are left out. `1 + L` turns past a resonance, and the
/// responses with it.
fn refine(take: Take<'_>, a: &Row, b: &Row, depth: u32, rows: &mut Vec<Row>) {
    let near = |x: Complex, y: Complex| turns_little(x, y) || (x == Complex::ZERO && y == Complex::ZERO);
    let alike = a.1.iter().zip(&b.1).all(|(x, y)| near(x.delay, y.delay) && near(x.rate, y.rate));
    if depth == 0 || alike {
        return;
    }
    let w = f64::midpoint(a.0, b.0);
    let Some(pairs) = take(w) else { return };
    let middle = (w, pairs);
    refine(take, a, &middle, depth - 1, rows);
    rows.push(middle.clone());
    refine(take, &middle, b, depth - 1, rows);
}

/// Responses at frequencies spaced evenly by their logarithm.
fn plotted(take: Take<'_>, low: f64, high: f64) -> Vec<Row> {
    let ratio = libm::pow(high / low, 1.0 / f64::from(POINTS - 1));
    let at = |k: u32| low * libm::pow(ratio, f64::from(k));
    (0..POINTS).filter_map(|k| Some((at(k), take(at(k))?))).collect()
}

/// Static and peak gain of one response, by its modulus `size`.
fn gains(rows: &[Row], take: Take<'_>, still: f64, size: &dyn Fn(&[Pair]) -> f64) -> Gains {
    let sizes: Vec<f64> = rows.iter().map(|(_, pairs)| size(pairs)).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    // An integral leaves nothing, and its limit the last digits.
    let still = if still.abs() <= NOTHING * largest { 0.0 } else { still };
    let mut found = Gains { static_gain: still, peak_gain: still.abs(), peak_rad_per_s: 0.0 };
    // A loop of one round trip has many peaks of about one height: of those the first.
    let peaks = (1..sizes.len().max(2) - 1)
        .filter(|&k| sizes[k] > 0.98 * largest && sizes[k] >= sizes[k - 1] && sizes[k] >= sizes[k + 1]);
    for k in peaks.take(FIRST) {
        let (mut low, mut high) = (rows[k - 1].0, rows[k + 1].0);
        let at = |w: f64| take(w).map_or(0.0, |pairs| size(&pairs));
        for _ in 0..60 {
            let third = (high - low) / 3.0;
            if at(low + third) < at(high - third) {
                low += third;
            } else {
                high -= third;
            }
        }
        let w = f64::midpoint(low, high);
        if at(w) > found.peak_gain * (1.0 + 1e-6) {
            found = Gains { peak_gain: at(w), peak_rad_per_s: w, ..found };
        }
    }
    found
}

/// The responses at the odd harmonics of a square wave, and half its period [s], in which every link settles; or the longest
/// that is tried.
fn settled(take: Take<'_>, still: &[Pair], (slowest_s, classes): (f64, usize)) -> (Vec<Row>, f64) {
    let mut half_s = FEW * slowest_s;
    loop {
        let series = series(take, half_s, slowest_s, classes);
        let wave =
            |link: usize| Wave { series: &series, link, still: still[link], half_s, window_s: slowest_s * WINDOW };
        if half_s > 0.5 * MANY * slowest_s || (0..still.len()).all(|link| wave(link).settles()) {
            return (series, half_s);
        }
        half_s *= 2.0;
    }
}

/// The responses at the odd harmonics of a square wave of half a period `half_s`.
fn series(take: Take<'_>, half_s: f64, slowest_s: f64, classes: usize) -> Vec<Row> {
    let most = (4e6 / classes as f64).clamp(2000.0, 40_000.0);
    let harmonics = f64::clamp(100.0 * half_s / slowest_s, 2000.0, most) as u32;
    let at = |k: u32| PI / half_s * f64::from(2 * k + 1);
    // At a pole of L, of which both responses are limits, the frequency beside it does.
    (0..harmonics).filter_map(|k| Some((at(k), take(at(k)).or_else(|| take(at(k) * (1.0 + 1e-9)))?))).collect()
}

/// The response of a link to a square wave that is one in the first half of its period.
struct Wave<'a> {
    series: &'a [Row],
    link: usize,
    still: Pair,
    half_s: f64,
    /// The time over which a rate is averaged [s].
    window_s: f64,
}

impl Wave<'_> {
    fn delay_s(&self, t: f64) -> f64 {
        self.sum(t, &|_, pair| pair.delay, self.still.delay.re)
    }

    fn rate(&self, t: f64) -> f64 {
        let averaged = |w: f64, pair: &Pair| {
            let x = 0.5 * w * self.window_s;
            pair.rate * (libm::sin(x) / x)
        };
        self.sum(t, &averaged, self.still.rate.re)
    }

    fn sum(&self, t: f64, of: &dyn Fn(f64, &Pair) -> Complex, still: f64) -> f64 {
        // exp(jwt) of the odd harmonics, each two steps from the one before.
        let (mut turn, step) =
            (Complex::axis(PI / self.half_s * t).exp(), Complex::axis(2.0 * PI / self.half_s * t).exp());
        let mut sum = 0.5 * still;
        for (w, pairs) in self.series {
            sum += 2.0 / (w * self.half_s) * (of(*w, &pairs[self.link]) * turn).im;
            turn = turn * step;
        }
        sum
    }

    /// Whether delay and rate stay at their last values when the half period ends. The largest change of a rate is at least
    /// that of the cross traffic.
    fn settles(&self) -> bool {
        let largest = (1..=POINTS).map(|k| self.delay_s(self.time(k, POINTS)).abs()).fold(0.0, f64::max);
        let end_s = self.half_s - self.window_s;
        let left = |k: u32| USED * self.half_s + (end_s - USED * self.half_s) * f64::from(k) / 20.0;
        (0..=20).map(left).all(|t| {
            (self.delay_s(t) - self.still.delay.re).abs() <= LEFT[0] * largest
                && (self.rate(t) - self.still.rate.re).abs() <= LEFT[1]
        })
    }

    /// One of `of` times, evenly over the part of half a period that is used [s].
    fn time(&self, k: u32, of: u32) -> f64 {
        USED * self.half_s * f64::from(k) / f64::from(of)
    }

    /// The step response; none where the loop does not settle.
    fn step(&self) -> Option<Step> {
        if !self.settles() {
            return None;
        }
        let times = (0..=FINE * POINTS).map(|k| self.time(k, FINE * POINTS));
        let delays: Vec<(f64, f64)> = times.map(|t| (t, self.delay_s(t))).collect();
        let (delay_peak_at_s, delay_peak_s) = self.peak(&delays)?;
        let outside = |(_, delay): &(f64, f64)| (delay - self.still.delay.re).abs() > BAND * delay_peak_s.abs();
        let settled = delays.iter().rposition(outside).map_or(0, |k| usize::min(k + 1, delays.len() - 1));
        Some(Step {
            delay_peak_s,
            delay_peak_at_s,
            delay_settled_at_s: delays[settled].0,
            points: delays
                .iter()
                .step_by(FINE as usize)
                .map(|&(time_s, delay_s)| StepPoint { time_s, delay_s, rate: self.rate(time_s) })
                .collect(),
        })
    }

    /// The time of the largest change of the delay, and that; between the times of `delays`.
    fn peak(&self, delays: &[(f64, f64)]) -> Option<(f64, f64)> {
        let at = (0..delays.len()).max_by(|&a, &b| delays[a].1.abs().total_cmp(&delays[b].1.abs()))?;
        if delays[at].1 == 0.0 {
            return Some((0.0, 0.0));
        }
        let (mut low, mut high) = (delays[at.saturating_sub(1)].0, delays[usize::min(at + 1, delays.len() - 1)].0);
        for _ in 0..40 {
            let third = (high - low) / 3.0;
            if self.delay_s(low + third).abs() < self.delay_s(high - third).abs() {
                low += third;
            } else {
                high -= third;
            }
        }
        let t = f64::midpoint(low, high);
        Some((t, self.delay_s(t)))
    }
}
