//! Delay differential equations by the method of steps, with dense history.
//!
//! The classical Runge-Kutta method of order four; the past is a cubic through values and slopes at both ends of each
//! step, which keeps the order. A step is at most the shortest delay, so that nothing is extrapolated. Unknowns that may not fall
//! below zero are held there exactly: the moment at which one arrives ends a step, and so does the moment at which its
//! drift turns upward again. The order is lost for a while after a kink of the history, until the kink has passed the
//! longest delay a few times, unless the steps divide the delays.

/// Delay differential equations.
pub trait Delayed {
    /// Number of unknowns.
    fn size(&self) -> usize;
    /// The shortest delay that reads the past [s]; infinite where none does.
    fn shortest_delay_s(&self) -> f64;
    /// The derivative at `t` [s], given the unknowns then and all before.
    fn slope(&self, t: f64, now: &[f64], past: &Past<'_>, slope: &mut [f64]);
    /// Whether an unknown is kept at or above zero, as a queue or a price is.
    fn is_bounded(&self, _unknown: usize) -> bool {
        false
    }
}

/// The solution so far.
pub struct Past<'a> {
    path: &'a Path,
    before: &'a dyn Fn(usize, f64) -> f64,
}

impl Past<'_> {
    /// An unknown at a time before now [s].
    pub fn at(&self, unknown: usize, t: f64) -> f64 {
        if t <= self.path.times[0] { (self.before)(unknown, t) } else { self.path.at(unknown, t) }
    }
}

/// A solution, dense in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    size: usize,
    times: Vec<f64>,
    values: Vec<f64>,
    slopes: Vec<f64>,
    /// Slopes just after a step's end where they differ from those just before: at the ends of being held.
    after: Vec<f64>,
}

impl Path {
    /// The ends of the steps [s].
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The unknowns at the end of a step.
    pub fn state(&self, step: usize) -> &[f64] {
        &self.values[step * self.size..][..self.size]
    }

    /// An unknown at a time within the solution [s].
    pub fn at(&self, unknown: usize, t: f64) -> f64 {
        let k = self.times.partition_point(|at| *at <= t).clamp(1, self.times.len().max(2) - 1);
        let (a, b) = ((k - 1) * self.size + unknown, k * self.size + unknown);
        if self.times.len() == 1 {
            return self.values[unknown];
        }
        let h = self.times[k] - self.times[k - 1];
        let u = (t - self.times[k - 1]) / h;
        hermite(u, h, [self.values[a], self.after[a], self.values[b], self.slopes[b]])
    }
}

/// The cubic with these values and slopes at the ends of a step of length `h`, at a share `u` of it.
fn hermite(u: f64, h: f64, [a, slope_a, b, slope_b]: [f64; 4]) -> f64 {
    let v = 1.0 - u;
    v * v * (a * (1.0 + 2.0 * u) + h * u * slope_a) + u * u * (b * (1.0 + 2.0 * v) - h * v * slope_b)
}

/// Solves `system` from the history `before`, a function of the unknown and the time up to zero, until `end` [s] in steps
/// of at most `step` [s].
pub fn solve(system: &dyn Delayed, before: &dyn Fn(usize, f64) -> f64, end: f64, step: f64) -> Path {
    let n = system.size();
    let longest = f64::min(step, system.shortest_delay_s());
    let start: Vec<f64> = (0..n).map(|i| before(i, 0.0)).collect();
    let mut path = Path { size: n, times: vec![0.0], values: start.clone(), slopes: vec![0.0; n], after: vec![0.0; n] };
    let mut now = start;
    // Whether an unknown is held at zero.
    let mut held: Vec<bool> = vec![false; n];
    let raw = |t: f64, x: &[f64], path: &Path| {
        let mut slope = vec![0.0; n];
        system.slope(t, x, &Past { path, before }, &mut slope);
        slope
    };
    let free = |mut slope: Vec<f64>, held: &[bool]| {
        for (s, held) in slope.iter_mut().zip(held) {
            if *held {
                *s = 0.0;
            }
        }
        slope
    };
    let mut t = 0.0;
    let mut begin = raw(t, &now, &path);
    for i in 0..n {
        held[i] = system.is_bounded(i) && now[i] <= 0.0 && begin[i] < 0.0;
    }
    let mut first = free(begin.clone(), &held);
    path.slopes.clone_from(&first);
    path.after.clone_from(&first);
    // Whole steps from zero, so that no rounding adds up; an event is a step of its own between two of them.
    let steps = libm::ceil(end / longest - 1e-9);
    let regular = end / steps;
    let mut done = 0.0;
    while done < steps {
        let goal = if done + 1.0 >= steps { end } else { (done + 1.0) * regular };
        let mut h = goal - t;
        let (mut next, mut last_raw, mut last) = runge_kutta(t, h, &now, &first, &held, &raw, &free, &path);
        // The earliest event within the step, located on its cubics.
        let event = (0..n)
            .filter(|i| system.is_bounded(*i))
            .filter_map(|i| {
                let share = if held[i] {
                    (last_raw[i] > 0.0 && begin[i] < 0.0).then(|| begin[i] / (begin[i] - last_raw[i]))
                } else {
                    (next[i] < 0.0).then(|| falls(h, [now[i], first[i], next[i], last[i]]))
                };
                share.map(|share| (i, share))
            })
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let mut changed = None;
        if let Some((i, share)) = event {
            h = f64::max(h * share, 1e-12 * regular);
            (next, last_raw, last) = runge_kutta(t, h, &now, &first, &held, &raw, &free, &path);
            changed = Some(i);
        }
        for (_, x) in next.iter_mut().enumerate().filter(|(i, _)| system.is_bounded(*i)) {
            *x = f64::max(*x, 0.0);
        }
        t = if changed.is_some() && t + h < goal { t + h } else { goal };
        path.times.push(t);
        path.values.extend_from_slice(&next);
        path.slopes.extend_from_slice(&last);
        if let Some(i) = changed {
            held[i] = !held[i];
            if held[i] {
                next[i] = 0.0;
                let at = path.values.len() - n + i;
                path.values[at] = 0.0;
            }
        }
        begin = last_raw;
        first = free(begin.clone(), &held);
        path.after.extend_from_slice(&first);
        now = next;
        if t >= goal {
            done += 1.0;
        }
    }
    path
}

/// Where the cubic through a value above and a value below zero first falls to zero, as a share of the step.
fn falls(h: f64, ends: [f64; 4]) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if hermite(middle, h, ends) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

type Raw<'a> = &'a dyn Fn(f64, &[f64], &Path) -> Vec<f64>;
type Free<'a> = &'a dyn Fn(Vec<f64>, &[bool]) -> Vec<f64>;

/// One step: the unknowns at its end, and their slopes there, with and without those that are held.
#[allow(clippy::too_many_arguments, reason = "the step's own environment, used nowhere else")]
fn runge_kutta(
    t: f64,
    h: f64,
    now: &[f64],
    first: &[f64],
    held: &[bool],
    raw: Raw<'_>,
    free: Free<'_>,
    path: &Path,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let along =
        |slope: &[f64], share: f64| -> Vec<f64> { now.iter().zip(slope).map(|(x, s)| x + share * h * s).collect() };
    let second = free(raw(t + 0.5 * h, &along(first, 0.5), path), held);
    let third = free(raw(t + 0.5 * h, &along(&second, 0.5), path), held);
    let fourth = free(raw(t + h, &along(&third, 1.0), path), held);
    let next: Vec<f64> =
        (0..now.len()).map(|i| now[i] + h / 6.0 * (first[i] + 2.0 * (second[i] + third[i]) + fourth[i])).collect();
    let last = raw(t + h, &next, path);
    let freed = free(last.clone(), held);
    (next, last, freed)
}

impl Delayed for crate::retarded::Retarded {
    fn size(&self) -> usize {
        self.unknowns()
    }
    fn shortest_delay_s(&self) -> f64 {
        self.terms().map(|(_, _, delay_s, _)| delay_s).filter(|d| *d > 0.0).fold(f64::INFINITY, f64::min)
    }
    fn slope(&self, t: f64, now: &[f64], past: &Past<'_>, slope: &mut [f64]) {
        slope.fill(0.0);
        for (row, column, delay_s, gain) in self.terms() {
            slope[row] += gain * if delay_s > 0.0 { past.at(column, t - delay_s) } else { now[column] };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retarded::Retarded;

    fn scalar(gain: f64) -> Retarded {
        let mut system = Retarded::new(1);
        system.add(0, 0, 1.0, -gain);
        system
    }

    /// `x' = -x(t - 1)` from 1: a polynomial of degree k on `[k - 1, k]`, by the method of steps on paper:
    /// `x(t) = sum_j (-1)^j (t - j + 1)^j / j!`. The error falls with the fourth power of the step.
    #[test]
    fn the_order_is_four() {
        let exact = |t: f64| {
            let (mut sum, mut factorial) = (1.0, 1.0);
            let mut j = 1.0;
            while t - j + 1.0 > 0.0 {
                factorial *= j;
                let mut power = 1.0;
                for _ in 0..j as u32 {
                    power *= -(t - j + 1.0);
                }
                sum += power / factorial;
                j += 1.0;
            }
            sum
        };
        let error = |steps: f64| {
            let path = solve(&scalar(1.0), &|_, _| 1.0, 8.0, 1.0 / steps);
            (0..80).map(|k| f64::from(k) * 0.1).map(|t| (path.at(0, t) - exact(t)).abs()).fold(0.0, f64::max)
        };
        let errors = [4.0, 8.0, 16.0, 32.0].map(error);
        for pair in errors.windows(2) {
            let order = libm::log2(pair[0] / pair[1]);
            println!("order {order:.3}, error {:.1e}", pair[1]);
            assert!(order > 3.8 && order < 4.6, "{errors:?}");
        }
    }

    /// A queue that is filled and drained by turns, `q' = sin(2 pi t) - 1/2` held at zero: against its closed form.
    #[test]
    fn what_is_held_at_zero_leaves_it_when_its_drift_turns() {
        struct Queue;
        impl Delayed for Queue {
            fn size(&self) -> usize {
                1
            }
            fn shortest_delay_s(&self) -> f64 {
                f64::INFINITY
            }
            fn slope(&self, t: f64, _: &[f64], _: &Past<'_>, slope: &mut [f64]) {
                slope[0] = libm::sin(core::f64::consts::TAU * t) - 0.5;
            }
            fn is_bounded(&self, _: usize) -> bool {
                true
            }
        }
        let inflow = |t: f64| -libm::cos(core::f64::consts::TAU * t) / core::f64::consts::TAU - 0.5 * t;
        let error = |step: f64| {
            let path = solve(&Queue, &|_, _| 0.0, 3.0, step);
            let mut worst = 0.0_f64;
            for k in 0..300 {
                let t = f64::from(k) * 0.01;
                // It begins to fill at 1/12 of each turn, and is empty again before the next.
                let begins = libm::floor(t - 1.0 / 12.0) + 1.0 / 12.0;
                let exact = if begins < 0.0 { 0.0 } else { f64::max(inflow(t) - inflow(begins), 0.0) };
                worst = f64::max(worst, (path.at(0, t) - exact).abs());
            }
            assert!(path.times().iter().enumerate().all(|(k, _)| path.state(k)[0] >= 0.0));
            worst
        };
        let (coarse, fine) = (error(0.04), error(0.01));
        assert!(fine < 1e-6 && fine < coarse / 10.0, "{coarse} {fine}");
    }
}
