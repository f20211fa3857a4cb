//! Laws driven by so many packets at once: the mean change of their state, integrated along the count of packets.

use penstock_law::{Instances, Role};

/// The mean change of a state with one packet, at a share of the way.
pub(super) type Change<'a> = &'a mut dyn FnMut(&[f64], f64) -> Vec<f64>;

/// Relative error of a step along the packets.
const TOLERANCE: f64 = 1e-6;

/// Integrates `state` over `packets` by the pair of Bogacki and Shampine (Applied Mathematics Letters 2, 1989), order
/// three with an error of order two, in steps as long as the change allows: one for a window that grows slowly, two or
/// three packets each for one that follows a target packet by packet.
pub(super) fn drive(state: &mut [f64], packets: f64, change: Change<'_>) {
    if packets <= 0.0 || state.is_empty() {
        return;
    }
    let along = |s: &[f64], parts: &[(f64, &[f64])]| -> Vec<f64> {
        (0..s.len()).map(|i| s[i] + parts.iter().map(|(h, k)| h * k[i]).sum::<f64>()).collect()
    };
    let mut done = 0.0;
    let mut h = packets;
    let mut first = change(state, 0.0);
    if first.iter().all(|x| *x == 0.0) && change(state, 1.0).iter().all(|x| *x == 0.0) {
        return;
    }
    while done < packets {
        h = f64::min(h, packets - done);
        let share = |part: f64| (done + part * h) / packets;
        let second = change(&along(state, &[(0.5 * h, &first)]), share(0.5));
        let third = change(&along(state, &[(0.75 * h, &second)]), share(0.75));
        let next = along(state, &[(2.0 / 9.0 * h, &first), (h / 3.0, &second), (4.0 / 9.0 * h, &third)]);
        let last = change(&next, share(1.0));
        let error = (0..state.len())
            .map(|i| {
                let e = h * (-5.0 / 72.0 * first[i] + second[i] / 12.0 + third[i] / 9.0 - last[i] / 8.0);
                e.abs() / (TOLERANCE * (state[i].abs() + next[i].abs() + 1e-3))
            })
            .fold(0.0, f64::max);
        // A hundredth of a packet is followed whatever the error: a kink of the law lies there.
        if error <= 1.0 || h <= 0.01 {
            state.copy_from_slice(&next);
            done += h;
            first = last;
        }
        let grow = 0.9 * libm::cbrt(1.0 / f64::max(error, 1e-9));
        h = f64::max(h * grow.clamp(0.2, 5.0), 0.01);
    }
}

/// The numbers of an instance's state.
pub(super) fn state_of<R: Role>(law: &mut dyn Instances<f64, R>, at: usize) -> Vec<f64> {
    let mut state = Vec::new();
    law.each(at, &mut |x| state.push(*x));
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
        drive(&mut growing, 5000.0, &mut |s, _| vec![1.0 / s[0]]);
        assert!((growing[0] - libm::sqrt(10_100.0)).abs() < 1e-4, "{growing:?}");
        let mut following = [1.0];
        drive(&mut following, 60.0, &mut |s, _| vec![(50.0 - s[0]).clamp(-1.0, 1.0)]);
        assert!((following[0] - 50.0).abs() < 1e-3, "{following:?}");
        let mut forced = [0.0];
        drive(&mut forced, 4.0, &mut |_, share| vec![share]);
        assert!((forced[0] - 2.0).abs() < 1e-9, "{forced:?}");
    }
}
