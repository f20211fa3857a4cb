//! Laws driven by so many packets at once: the mean change of their state, integrated along the count of packets.

use penstock_law::{Instances, Role};

/// Numbers of a law's state, at most. The longest has ten; what is copied with every packet had better be short.
const MOST: usize = 12;

/// The state of one instance, off the heap: it is taken out and put back millions of times.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    numbers: [f64; MOST],
    len: usize,
}

impl State {
    /// So many zeros.
    pub(super) fn zeros(len: usize) -> Self {
        assert!(len <= MOST, "a law of {len} numbers");
        Self { numbers: [0.0; MOST], len }
    }

    /// These numbers.
    pub(super) fn of(numbers: &[f64]) -> Self {
        let mut state = Self::zeros(numbers.len());
        state.copy_from_slice(numbers);
        state
    }
}

impl core::ops::Deref for State {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.numbers[..self.len]
    }
}

impl core::ops::DerefMut for State {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[..self.len]
    }
}

/// Relative error of a step along the packets.
const TOLERANCE: f64 = 1e-6;

/// Integrates `state` over `packets` by the pair of Bogacki and Shampine (Applied Mathematics Letters 2, 1989), order
/// three with an error of order two, in steps as long as the change allows: one for a window that grows slowly, two or
/// three packets each for one that follows a target packet by packet. Near a rest two evaluations do: one step of Heun's
/// method (order two, as the steps of time are), if Euler's is within the tolerance of it.
pub(super) fn drive(state: &mut [f64], packets: f64, change: Change<'_>) {
    if packets <= 0.0 || state.is_empty() {
        return;
    }
    let mut asked = |s: &[f64], share: f64| {
        let mut sum = State::zeros(s.len());
        change(s, share, &mut sum);
        sum
    };
    let mut done = 0.0;
    let mut h = packets;
    let mut first = asked(state, 0.0);
    if first.iter().all(|x| *x == 0.0) && asked(state, 1.0).iter().all(|x| *x == 0.0) {
        return;
    }
    let scale = |a: f64, b: f64| TOLERANCE * (a.abs() + b.abs() + 1e-3);
    let straight = along(state, [(h, &first)]);
    let end = asked(&straight, 1.0);
    let bent = |i: usize| 0.5 * h * (end[i] - first[i]);
    if (0..state.len()).all(|i| bent(i).abs() <= scale(state[i], straight[i])) {
        for (i, x) in state.iter_mut().enumerate() {
            *x = straight[i] + bent(i);
        }
        return;
    }
    while done < packets {
        h = f64::min(h, packets - done);
        let share = |part: f64| (done + part * h) / packets;
        let second = asked(&along(state, [(0.5 * h, &first)]), share(0.5));
        let third = asked(&along(state, [(0.75 * h, &second)]), share(0.75));
        let next = along(state, [(2.0 / 9.0 * h, &first), (h / 3.0, &second), (4.0 / 9.0 * h, &third)]);
        let last = asked(&next, share(1.0));
        let error = (0..state.len())
            .map(|i| {
                let e = h * (-5.0 / 72.0 * first[i] + second[i] / 12.0 + third[i] / 9.0 - last[i] / 8.0);
                e.abs() / scale(state[i], next[i])
            })
            .fold(0.0, f64::max);
        // A hundredth of a packet is followed whatever the error: a kink of the law lies there.
        if error <= 1.0 || h <= 0.01 {
            state.copy_from_slice(&next);
            done += h;
            if done >= packets {
                return;
            }
            first = last;
        }
        let grow = 0.9 * libm::cbrt(1.0 / f64::max(error, 1e-9));
        h = f64::max(h * grow.clamp(0.2, 5.0), 0.01);
    }
}

/// A state so much further along each of these changes.
fn along<const N: usize>(s: &[f64], parts: [(f64, &State); N]) -> State {
    let mut next = State::zeros(s.len());
    for (i, x) in next.iter_mut().enumerate() {
        *x = s[i] + parts.iter().map(|(h, k)| h * k[i]).sum::<f64>();
    }
    next
}

/// The numbers of an instance's state.
pub(super) fn state_of<R: Role>(law: &mut dyn Instances<f64, R>, at: usize) -> State {
    let mut state = State { numbers: [0.0; MOST], len: 0 };
    law.each(at, &mut |x| {
        state.numbers[state.len] = *x;
        state.len += 1;
    });
    state
}

/// Puts numbers into an instance's state.
pub(super) fn put<R: Role>(law: &mut dyn Instances<f64, R>, at: usize, state: &[f64]) {
    let mut i = 0;
    law.each(at, &mut |x| {
        *x = state[i];
        i += 1;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window that grows by 1/w a packet: `w^2` grows by two a packet. And one that follows a target by at most one a
    /// packet.
    #[test]
    fn so_many_packets_do_what_they_do_one_by_one() {
        let mut growing = [10.0];
        drive(&mut growing, 5000.0, &mut |s, _, sum| sum[0] = 1.0 / s[0]);
        assert!((growing[0] - libm::sqrt(10_100.0)).abs() < 1e-4, "{growing:?}");
        let mut following = [1.0];
        drive(&mut following, 60.0, &mut |s, _, sum| sum[0] = (50.0 - s[0]).clamp(-1.0, 1.0));
        assert!((following[0] - 50.0).abs() < 1e-3, "{following:?}");
        let mut forced = [0.0];
        drive(&mut forced, 4.0, &mut |_, share, sum| sum[0] = share);
        assert!((forced[0] - 2.0).abs() < 1e-9, "{forced:?}");
    }
}
