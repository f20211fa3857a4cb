//! Laws driven by so many packets at once: the mean change of their state, integrated along the count of packets.
//!
//! It is here and not in a host, because only a law's own code can be compiled into the integrator: see
//! [`Instances::along`](crate::Instances::along).

use core::array;

/// Numbers of a law's state, at most. The longest has ten; the state is copied with every packet and had better be short.
pub const MOST: usize = 12;

/// The mean change of a state with one packet.
pub trait Change {
    /// At a state, and at a share of the way.
    fn packet<const N: usize>(&mut self, state: &[f64; N], share: f64) -> [f64; N];
}

/// Relative error of a step along the packets.
const TOLERANCE: f64 = 1e-6;

/// Integrates `state` over `packets` by the pair of Bogacki and Shampine (Applied Mathematics Letters 2, 1989), order
/// three with an error of order two, in steps as long as the change allows: one for a window that grows slowly, two or
/// three packets each for one that follows a target packet by packet. Near an equilibrium two evaluations do: one step of Heun's
/// method (order two, as the steps of time are), if Euler's is within the tolerance of it. And four do for one that only
/// decays, as a window that is within reach of its target.
///
/// # Panics
/// The state has more than [`MOST`] numbers.
pub fn drive(state: &mut [f64], packets: f64, change: &mut impl Change) {
    // Arrays of a known length stay in registers, which halves the time.
    macro_rules! sized {
        ($($n:literal)*) => {
            match state.len() {
                $($n => if let Ok(state) = state.try_into() { along::<$n>(state, packets, change) },)*
                0 => {}
                more => unreachable!("a law of {more} numbers"),
            }
        };
    }
    if packets > 0.0 {
        sized!(1 2 3 4 5 6 7 8 9 10 11 12);
    }
}

/// [`drive`], for a state of a known length; `packets` are more than zero.
pub(crate) fn along<const N: usize>(state: &mut [f64; N], packets: f64, change: &mut impl Change) {
    let mut done = 0.0;
    let mut h = packets;
    let mut first = change.packet(state, 0.0);
    if first == [0.0; N] && change.packet(state, 1.0) == [0.0; N] {
        return;
    }
    let straight: [f64; N] = array::from_fn(|i| state[i] + h * first[i]);
    let end = change.packet(&straight, 1.0);
    let bent: [f64; N] = array::from_fn(|i| 0.5 * h * (end[i] - first[i]));
    if (0..N).all(|i| bent[i].abs() <= scale(state[i], straight[i])) {
        let assigned = |i: usize| is_assigned(first[i], end[i], h);
        *state = array::from_fn(|i| if assigned(i) { state[i] + first[i] } else { straight[i] + bent[i] });
        return;
    }
    if let Some(decayed) = decay(state, packets, &first, change) {
        *state = decayed;
        return;
    }
    while done < packets {
        h = f64::min(h, packets - done);
        let share = |part: f64| (done + part * h) / packets;
        let second: [f64; N] = change.packet(&array::from_fn(|i| state[i] + 0.5 * h * first[i]), share(0.5));
        let third: [f64; N] = change.packet(&array::from_fn(|i| state[i] + 0.75 * h * second[i]), share(0.75));
        let next: [f64; N] =
            array::from_fn(|i| state[i] + (2.0 / 9.0 * h * first[i] + h / 3.0 * second[i] + 4.0 / 9.0 * h * third[i]));
        let last = change.packet(&next, share(1.0));
        let error = (0..N)
            .map(|i| {
                let e = h * (-5.0 / 72.0 * first[i] + second[i] / 12.0 + third[i] / 9.0 - last[i] / 8.0);
                e.abs() / scale(state[i], next[i])
            })
            .fold(0.0, f64::max);
        // A hundredth of a packet is followed whatever the error: a kink of the law lies there.
        if error <= 1.0 || h <= 0.01 {
            *state = next;
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

/// Whether each packet assigns a number the same value, `x' = value - x`: it has the value itself after the first packet. A mean
/// alone comes ever closer to it, and a comparison with the value, as of a window with a threshold, would never change.
fn is_assigned(first: f64, end: f64, h: f64) -> bool {
    first != 0.0 && (first - end - h * first).abs() <= TOLERANCE * h * first.abs()
}

/// The scale of the error of one between two values.
fn scale(a: f64, b: f64) -> f64 {
    TOLERANCE * (a.abs() + b.abs() + 1e-3)
}

/// Packets along the first change at which its decay is read.
const PROBE: f64 = 0.5;

/// A change that keeps its direction and decays in proportion to the way gone, `x' = first - lambda (x - state)`, has its
/// end in closed form, however many packets: if it does so up to there, within the tolerance. None where it does not.
fn decay<const N: usize>(
    state: &[f64; N],
    packets: f64,
    first: &[f64; N],
    change: &mut impl Change,
) -> Option<[f64; N]> {
    let h = f64::min(PROBE, packets);
    let beside: [f64; N] = change.packet(&array::from_fn(|i| state[i] + h * first[i]), h / packets);
    let (was, is) = first.iter().zip(beside).max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
    let lambda = (was - is) / (h * was);
    if lambda.is_nan() || lambda <= 0.0 {
        return None;
    }
    let gone = -libm::expm1(-lambda * packets);
    let end: [f64; N] = array::from_fn(|i| state[i] + gone / lambda * first[i]);
    let last = change.packet(&end, 1.0);
    let strays = |i: usize| packets * (last[i] - (1.0 - gone) * first[i]).abs() > scale(state[i], end[i]);
    (!(0..N).any(strays)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of each number by itself, and how often it was called.
    struct One(fn(f64, f64) -> f64, u32);

    impl Change for One {
        fn packet<const N: usize>(&mut self, state: &[f64; N], share: f64) -> [f64; N] {
            self.1 += 1;
            state.map(|x| (self.0)(x, share))
        }
    }

    fn one(change: fn(f64, f64) -> f64) -> One {
        One(change, 0)
    }

    /// A window that grows by 1/w a packet: `w^2` grows by two a packet. And one that follows a target by at most one a
    /// packet.
    #[test]
    fn so_many_packets_do_what_they_do_one_by_one() {
        let mut growing = [10.0];
        drive(&mut growing, 5000.0, &mut one(|w, _| 1.0 / w));
        assert!((growing[0] - libm::sqrt(10_100.0)).abs() < 1e-4, "{growing:?}");
        let mut following = [1.0];
        drive(&mut following, 60.0, &mut one(|w, _| (50.0 - w).clamp(-1.0, 1.0)));
        assert!((following[0] - 50.0).abs() < 1e-3, "{following:?}");
        let mut forced = [0.0];
        drive(&mut forced, 4.0, &mut one(|_, share| share));
        assert!((forced[0] - 2.0).abs() < 1e-9, "{forced:?}");
        // Within reach of its target a window decays towards it: `exp(-n)` after `n` packets, in four questions.
        let mut near = [49.5];
        let mut chase = one(|w, _| (50.0 - w).clamp(-1.0, 1.0));
        drive(&mut near, 7.0, &mut chase);
        assert!((near[0] - 50.0 + 0.5 * libm::exp(-7.0)).abs() < 1e-12 && chase.1 == 4, "{near:?} {}", chase.1);
        // A target that moves on meanwhile is none of that.
        let mut late = [49.5];
        drive(&mut late, 7.0, &mut one(|w, share| (50.0 + 7.0 * share - w).clamp(-1.0, 1.0)));
        assert!((late[0] - 56.0).abs() < 0.01, "{late:?}");
        // A value that each packet assigns is reached to the bit.
        let mut assigned = [1e9];
        for _ in 0..4 {
            drive(&mut assigned, 20.0, &mut one(|x, _| 0.1 - x));
        }
        assert_eq!(assigned, [0.1]);
        let mut several = [10.0; MOST];
        drive(&mut several, 5000.0, &mut one(|w, _| 1.0 / w));
        assert_eq!(several, [growing[0]; MOST]);
    }
}
