//! A law near its equilibrium, as a frequency response.
//!
//! Events that come with packets are a drift, `dv/dt = rate (E - I) v + rate G u`. Periodic and per-round events keep
//! their step map, `v <- J v + B u`, read at `z = exp(sT)`, never the drift `(J - I)/T`, which would add a whole period
//! of lag. A law with both, such as a window that follows a target packet by packet, has the powers of `E` between two
//! steps, so that a window which reaches its target with the first acknowledgement has reached it.

use crate::complex::Complex;
use crate::matrix::{Matrix, identity, power, product, row_times, solve, solve_row, spectral_radius};

/// So many packets after a step are followed one by one; later ones in strides of this share of those before, which
/// keeps straight lines within 1e-3 of any exponential.
const SINGLE: f64 = 32.0;
const STRIDE: f64 = 1.0 / 16.0;

/// Most signals of a law: of a sender its round trip, marks, price and the packets committed before.
pub(crate) const SIGNALS: usize = 4;

/// The response to each signal.
pub(crate) type Answer = [Complex; SIGNALS];

/// Numbers of a law's state, signals that are held for its packets included, at most.
const MOST: usize = 32;

/// A linear time-invariant law: from deviations `u` of its observation to the deviation of its output.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    /// Packets a second that drive the law [1/s].
    rate: f64,
    /// Effect of one packet on the state: E.
    each: Matrix,
    /// Effect of the signals on the state with one packet: G.
    drive: Matrix,
    /// The periodic event, if the law has one.
    step: Option<Step>,
    /// Effect of the state on the output: C.
    output: Vec<f64>,
    /// Effect of the signals on the output at once: D.
    direct: Vec<f64>,
    /// Whether the law, left alone with constant signals, runs away.
    runs_away: bool,
}

#[derive(Debug, Clone)]
struct Step {
    period_s: f64,
    /// B.
    input: Matrix,
    /// J times the map between two steps: the state from just after one step to just after the next.
    turn: Matrix,
    /// The same with at least one packet in a period.
    followed: Matrix,
    /// The output when a period with at least one packet ends, as a function of the state after the step.
    settled: Vec<f64>,
    /// Times after the step [s] and the output then, as a function of the state after the step; the last holds on.
    rows: Vec<(f64, Vec<f64>)>,
}

/// Jacobians of a law's events and of its output, at its equilibrium; see [`Linear`].
#[derive(Debug, Clone)]
pub(crate) struct Jacobians {
    /// Packets a second that drive the law [1/s].
    pub(crate) rate: f64,
    /// E - I: the mean change of the state with one packet.
    pub(crate) change: Matrix,
    /// G.
    pub(crate) drive: Matrix,
    /// Period [s], J and B.
    pub(crate) step: Option<(f64, Matrix, Matrix)>,
    /// C.
    pub(crate) output: Vec<f64>,
    /// D.
    pub(crate) direct: Vec<f64>,
}

impl Linear {
    pub(crate) fn new(of: Jacobians) -> Self {
        let m = of.output.len();
        let mut each = identity(m);
        for (row, change) in each.iter_mut().zip(&of.change) {
            for (x, d) in row.iter_mut().zip(change) {
                *x += d;
            }
        }
        let (mut drive, mut output) = (of.drive, of.output);
        let mut step = of.step;
        if let Some((_, jump, input)) = &mut step
            && drive.iter().flatten().any(|g| *g != 0.0)
        {
            // Packets between two steps respond too: the signal of the step is held for them, as a state.
            hold_signals(&mut each, &mut drive, jump, input, &mut output);
        }
        let turn = step.as_ref().map(|(period_s, jump, _)| turn(jump, &each, of.rate * period_s));
        let runs_away = turn.as_ref().map_or_else(|| drifts_away(&each, of.rate), grows);
        // A threshold that the window is compared with only at a loss costs every frequency its rows and columns otherwise.
        let seen = observed(&output, &each, step.as_ref().map(|(_, jump, _)| jump));
        let rows = |matrix: &Matrix| -> Matrix { seen.iter().map(|i| matrix[*i].clone()).collect() };
        let square = |matrix: &Matrix| -> Matrix {
            seen.iter().map(|i| seen.iter().map(|j| matrix[*i][*j]).collect()).collect()
        };
        let output: Vec<f64> = seen.iter().map(|i| output[*i]).collect();
        let each = square(&each);
        let step = step.zip(turn).map(|((period_s, jump, input), turn)| {
            Step::new(period_s, &square(&jump), rows(&input), square(&turn), &each, of.rate, &output)
        });
        assert!(output.len() <= MOST && of.direct.len() <= SIGNALS, "a law of {} numbers", output.len());
        Self { rate: of.rate, drive: rows(&drive), each, step, output, direct: of.direct, runs_away }
    }

    /// The response to each signal at `s` [1/s], zero past the last signal. With `sampled`, a periodic law's output counts
    /// with its hold and with the packets it takes to follow; without, at its value when the period ends, as if packets
    /// were never so rare that a period saw none.
    pub(crate) fn response(&self, s: Complex, sampled: bool) -> Answer {
        // A loop gain is asked for a hundred thousand times: a law's few numbers are kept off the heap.
        match self.output.len() {
            0 => self.answered(None),
            1 => self.responded::<1>(s, sampled),
            2 => self.responded::<2>(s, sampled),
            3..=4 => self.responded::<4>(s, sampled),
            5..=8 => self.responded::<8>(s, sampled),
            9..=16 => self.responded::<16>(s, sampled),
            _ => self.responded::<MOST>(s, sampled),
        }
    }

    /// The same by elimination in arrays of `M`: the row `y` of `y (s I - F) = C` or, of a step, `y (I - J / z) = C`.
    fn responded<const M: usize>(&self, s: Complex, sampled: bool) -> Answer {
        let m = self.output.len();
        let mut left = [[Complex::ZERO; M]; M];
        let mut row = [Complex::ZERO; M];
        let (scale, on, drives) = match &self.step {
            None => {
                for (left, each) in left.iter_mut().zip(&self.each) {
                    for (x, e) in left.iter_mut().zip(each) {
                        *x = Complex::real(-self.rate * e);
                    }
                }
                for (x, c) in row.iter_mut().zip(&self.output) {
                    *x = Complex::real(*c);
                }
                (self.rate, s + Complex::real(self.rate), &self.drive)
            }
            Some(step) => {
                let back = (-s * step.period_s).exp();
                let turn = if sampled { &step.turn } else { &step.followed };
                for (left, turn) in left.iter_mut().zip(turn) {
                    for (x, t) in left.iter_mut().zip(turn) {
                        *x = -back * *t;
                    }
                }
                if sampled {
                    step.held(s, &mut row);
                } else {
                    for (x, c) in row.iter_mut().zip(&step.settled) {
                        *x = Complex::real(*c);
                    }
                }
                (1.0, Complex::ONE, &step.input)
            }
        };
        for (i, left) in left.iter_mut().enumerate().take(m) {
            left[i] = left[i] + on;
        }
        if !solve_row(&mut left, &mut row, m) {
            return [Complex::new(f64::INFINITY, 0.0); SIGNALS];
        }
        self.answered(Some((&row[..m], scale, drives)))
    }

    /// The immediate effect of the signals, and, through the state, `row` applied to their effect on it.
    fn answered(&self, through: Option<(&[Complex], f64, &Matrix)>) -> Answer {
        let mut answer = [Complex::ZERO; SIGNALS];
        for (k, (a, d)) in answer.iter_mut().zip(&self.direct).enumerate() {
            *a = Complex::real(*d);
            if let Some((row, scale, drives)) = through {
                *a = *a + row.iter().zip(drives).map(|(y, b)| *y * (scale * b[k])).sum();
            }
        }
        answer
    }

    /// Whether any part of it is sampled, so that its response is another with `sampled`.
    pub(crate) fn is_sampled(&self) -> bool {
        self.step.is_some()
    }

    /// Whether the law, left alone with constant signals, runs away; an integral is at the border and does not.
    pub(crate) fn runs_away(&self) -> bool {
        self.runs_away
    }
}

/// Whether the map of a step lets a state grow without end.
fn grows(map: &Matrix) -> bool {
    spectral_radius(map) > 1.0 + 1e-9
}

/// Whether a drift `rate (each - I)` does.
fn drifts_away(each: &Matrix, rate: f64) -> bool {
    if rate == 0.0 || each.is_empty() {
        return false;
    }
    // Cayley's map of the drift takes the left half plane into the unit circle.
    let n = each.len();
    let (mut minus, mut plus) = (identity(n), identity(n));
    for i in 0..n {
        for j in 0..n {
            let f = each[i][j] - if i == j { 1.0 } else { 0.0 };
            minus[i][j] -= f;
            plus[i][j] += f;
        }
    }
    solve(minus, plus).is_none_or(|map| grows(&map))
}

/// The effect of so many packets and a step on the state.
fn turn(jump: &Matrix, each: &Matrix, packets: f64) -> Matrix {
    if *each == identity(each.len()) { jump.clone() } else { product(jump, &power(each, packets)) }
}

/// The numbers of a state that the output depends on, now or later, through packets and steps.
fn observed(output: &[f64], each: &Matrix, jump: Option<&Matrix>) -> Vec<usize> {
    let mut seen: Vec<bool> = output.iter().map(|c| *c != 0.0).collect();
    loop {
        let reaches = |j: usize| {
            (0..seen.len()).any(|i| seen[i] && (each[i][j] != 0.0 || jump.is_some_and(|jump| jump[i][j] != 0.0)))
        };
        let more: Vec<bool> = (0..seen.len()).map(|j| seen[j] || reaches(j)).collect();
        if more == seen {
            return (0..seen.len()).filter(|j| seen[*j]).collect();
        }
        seen = more;
    }
}

impl Step {
    fn new(
        period_s: f64,
        jump: &Matrix,
        input: Matrix,
        turn: Matrix,
        each: &Matrix,
        rate: f64,
        output: &[f64],
    ) -> Self {
        let still = *each == identity(each.len());
        let packets = if still { 0.0 } else { rate * period_s };
        let mut rows = vec![(0.0, output.to_vec())];
        let mut passed = 0.0;
        while passed < packets {
            let stride = if passed < SINGLE { 1.0 } else { libm::floor(passed * STRIDE) };
            passed += stride;
            let next = row_times(&rows[rows.len() - 1].1, &power(each, stride));
            if next == rows[rows.len() - 1].1 {
                break;
            }
            rows.push((passed / rate, next));
        }
        let followed = if still { identity(each.len()) } else { power(each, f64::max(packets, 1.0)) };
        Self { period_s, input, turn, followed: product(jump, &followed), settled: row_times(output, &followed), rows }
    }

    /// The output's average over a period, weighed by `exp(-st)`, added to `sum`. The first packet after a step comes at
    /// any time within a packet's spacing, so that on average the output runs straight from one row to the next.
    fn held(&self, s: Complex, sum: &mut [Complex]) {
        for (k, (start, row)) in self.rows.iter().enumerate() {
            let left = self.period_s - start;
            if left <= 0.0 {
                break;
            }
            let weight = if *start == 0.0 { Complex::ONE } else { (-s * *start).exp() };
            let Some((end, next)) = self.rows.get(k + 1) else {
                let all = weight * (s * left).hold() * (left / self.period_s);
                sum.iter_mut().zip(row).for_each(|(x, c)| *x = *x + all * *c);
                break;
            };
            let span = f64::min(end - start, left);
            let flat = weight * (s * span).hold() * (span / self.period_s);
            let rise = weight * (s * span).ramp() * (span * span / (end - start) / self.period_s);
            for (x, (c, n)) in sum.iter_mut().zip(row.iter().zip(next)) {
                *x = *x + flat * *c + rise * (n - c);
            }
        }
    }
}

/// Appends the signals to the state, set at each step and held between.
fn hold_signals(each: &mut Matrix, drive: &mut Matrix, jump: &mut Matrix, input: &mut Matrix, output: &mut Vec<f64>) {
    let (m, k) = (each.len(), drive[0].len());
    for (row, g) in each.iter_mut().zip(drive.iter()) {
        row.extend_from_slice(g);
    }
    for row in jump.iter_mut() {
        row.extend(core::iter::repeat_n(0.0, k));
    }
    for i in 0..k {
        let unit = |n: usize, at: usize| (0..n).map(|j| if j == at { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        each.push(unit(m + k, m + i));
        jump.push(vec![0.0; m + k]);
        input.push(unit(k, i));
        drive.push(vec![0.0; k]);
        output.push(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn periodic(rate: f64, change: f64) -> Linear {
        // A window (0) that follows a target (1) with each packet; the target is set to the signal at each step.
        Linear::new(Jacobians {
            rate,
            change: vec![vec![change, -change], vec![0.0, 0.0]],
            drive: vec![vec![0.0], vec![0.0]],
            step: Some((0.01, vec![vec![1.0, 0.0], vec![0.0, 0.0]], vec![vec![0.0], vec![1.0]])),
            output: vec![1.0, 0.0],
            direct: vec![0.0],
        })
    }

    /// With a packet that closes the whole gap, the first of a period comes after half a spacing on average: the lag is
    /// half a period and half a spacing, and none without holds.
    #[test]
    fn a_window_that_jumps_to_its_target_lags_by_half_a_packet_and_half_a_period() {
        let w = 1.0;
        for rate in [500.0, 2000.0, 1e5] {
            let law = periodic(rate, -1.0);
            let lag = -law.response(Complex::axis(w), true)[0].arg() / w;
            assert!((lag - 0.005 - 0.5 / rate).abs() < 1e-6, "{rate}: {lag}");
            assert!(law.response(Complex::axis(w), false)[0].arg().abs() < 1e-12);
        }
    }

    /// Against brute force: the state through thousands of periods under a sine, the output projected on it; packets that
    /// follow the target, and packets that also respond to the signal of the last step.
    #[test]
    fn the_response_is_that_of_the_simulated_step_map() {
        let (period, rate, w) = (0.01, 250.0, 40.0);
        let (a, b, e) = (0.9, 0.3, 0.8);
        for g in [0.0, 0.07] {
            let law = Linear::new(Jacobians {
                rate,
                change: vec![vec![e - 1.0, 1.0 - e], vec![0.0, 0.0]],
                drive: vec![vec![g], vec![0.0]],
                step: Some((period, vec![vec![1.0, 0.0], vec![0.0, a]], vec![vec![0.0], vec![b]])),
                output: vec![1.0, 0.0],
                direct: vec![0.0],
            });
            // 2.5 packets a period, the first at a phase that drifts through all values.
            let (mut window, mut target, mut signal) = (0.0, 0.0, 0.0);
            let (mut next_step, mut next_packet) = (0.0, 0.000_317);
            let mut sum = Complex::ZERO;
            let (from, to) = (2.0 * core::f64::consts::PI, 42.0 * core::f64::consts::PI);
            let mut now = 0.0;
            while now < to {
                let end = f64::min(f64::min(next_step, next_packet), to);
                if end > from {
                    let start = f64::max(now, from);
                    // The integral of exp(-jwt) over the span, in closed form.
                    let s = Complex::axis(w);
                    sum = sum + (-s * start).exp() * (s * (end - start)).hold() * ((end - start) * window);
                }
                now = end;
                if now == next_step {
                    signal = libm::cos(w * now);
                    target = a * target + b * signal;
                    next_step += period;
                } else {
                    window += (1.0 - e) * (target - window) + g * signal;
                    next_packet += (1.0 / rate) * (1.0 + 1e-3 * core::f64::consts::SQRT_2);
                }
            }
            let measured = sum * (2.0 / (to - from));
            let expected = law.response(Complex::axis(w), true)[0];
            assert!((measured - expected).abs() < 5e-3 * expected.abs(), "{g}: {measured:?} {expected:?}");
        }
    }

    /// A drift alone is the usual low-pass.
    #[test]
    fn packets_alone_are_a_drift() {
        let law = Linear::new(Jacobians {
            rate: 1000.0,
            change: vec![vec![-0.002]],
            drive: vec![vec![0.002]],
            step: None,
            output: vec![1.0],
            direct: vec![0.0],
        });
        let at_corner = law.response(Complex::axis(2.0), true)[0];
        assert!((at_corner - Complex::new(0.5, -0.5)).abs() < 1e-12, "{at_corner:?}");
    }

    /// The output depends on a second number through steps alone; a third, which it does not depend on, changes no response, and
    /// is known to run away.
    #[test]
    fn a_number_that_the_output_does_not_depend_on_counts_only_where_it_runs_away() {
        let law = |third: bool, grown: f64| {
            let m = if third { 3 } else { 2 };
            let of = |rows: [[f64; 3]; 3]| rows[..m].iter().map(|row| row[..m].to_vec()).collect::<Matrix>();
            let column = |of: [f64; 3]| of[..m].iter().map(|x| vec![*x]).collect::<Matrix>();
            Linear::new(Jacobians {
                rate: 300.0,
                change: of([[-0.1, 0.0, 0.0], [0.0, 0.0, 0.0], [0.2, 0.1, 0.0]]),
                drive: column([0.0, 0.0, 0.0]),
                step: Some((0.02, of([[0.7, 0.3, 0.0], [0.0, 0.8, 0.0], [0.1, 0.4, grown]]), column([0.0, 0.25, 0.5]))),
                output: [1.0, 0.0, 0.0][..m].to_vec(),
                direct: vec![0.0],
            })
        };
        let small = law(false, 0.0);
        for grown in [0.5, 1.5] {
            let large = law(true, grown);
            assert_eq!((small.output.len(), large.output.len(), large.runs_away()), (2, 2, grown > 1.0));
            for w in [0.1, 7.0, 300.0] {
                for sampled in [false, true] {
                    let [of_large, of_small] = [&large, &small].map(|law| law.response(Complex::axis(w), sampled));
                    assert_eq!(of_large, of_small);
                    assert!(of_small[0].abs() > 1e-6, "{w} {of_small:?}");
                }
            }
        }
    }

    #[test]
    fn what_runs_away_alone_is_known() {
        let turn = |j: f64| {
            Linear::new(Jacobians {
                rate: 0.0,
                change: vec![vec![0.0]],
                drive: vec![vec![0.0]],
                step: Some((0.1, vec![vec![j]], vec![vec![1.0]])),
                output: vec![1.0],
                direct: vec![0.0],
            })
        };
        assert!(!turn(0.5).runs_away() && !turn(1.0).runs_away() && turn(1.01).runs_away() && turn(-1.2).runs_away());
    }
}
