//! Vivace alone, with what an interval would have measured.

use super::*;

/// A packet of 1250 bytes is 0.01 Mbit.
const MBIT: f64 = 0.01;

fn law(set: &[(&str, f64)]) -> Vivace {
    let values = Values::of(ENTRY.parameters, set);
    let context = Context { packet: crate::quantity::Bytes(1250), initial_window: 10.0, initial_ssthresh: 1e9 };
    Vivace::compile(&values, &context).unwrap()
}

/// The equilibrium of a loss rate without a queue, where the derivative of x^t - c x L is zero: (t / (c L))^(1 / (1 - t)) Mbit/s.
fn equilibrium(loss: f64) -> f64 {
    libm::pow(0.9 / (11.35 * loss), 10.0)
}

/// Section 4.3: a step counts 1, 2, 3, 5, 7 times.
#[test]
fn steps_in_one_direction_are_amplified() {
    assert_eq!([1, 2, 3, 4, 5, 6].map(Vivace::amplifier), [1.0, 2.0, 3.0, 5.0, 7.0, 9.0]);
}

/// Section 4.3: the largest step is 5, 15, 25 % of the rate while each is beyond it, comes down to the smallest boundary that
/// allows a step, and is 5 % again once the direction is another.
#[test]
fn a_step_is_bounded_and_the_bound_follows() {
    let law = law(&[("theta", 1.0)]);
    let mut s = law.initial_state();
    let shares = [5.0, 15.0, 25.0];
    for share in shares {
        assert!((law.step(&mut s, 100.0, 1e6) - share).abs() < 1e-9);
    }
    // The fourth step in that direction: 5 times 2 Mbit/s, within 15 %.
    assert!((law.step(&mut s, 100.0, 2.0) - 10.0).abs() < 1e-9);
    assert_eq!(s.beyond, 1.0);
    assert!((law.step(&mut s, 100.0, -1e6) + 5.0).abs() < 1e-9);
    assert_eq!((s.steps, s.up), (1, false));
}

/// Equation (1) at 100 Mbit/s, with a share of losses and a slope: 63.1 - 900 * 100 * 0.02 - 11.35 * 100 * 0.05.
#[test]
fn the_utility_is_that_of_the_paper() {
    let law = law(&[]);
    for (slope, counts) in [(0.02, 1.0), (0.009, 0.0), (-0.5, 0.0)] {
        let mut interval = Interval::begin(Time::ZERO, Time(Time::PER_SECOND), 100.0 / MBIT, 0);
        for at in 0..100u64 {
            let sent = Time(at * 1_000_000_000);
            if at % 20 == 0 {
                interval.lost();
            } else {
                interval.acked(sent, 1, Some(Time::from_seconds(1.0 + slope * sent.seconds())));
            }
        }
        let expected = libm::pow(100.0, 0.9) - counts * 900.0 * 100.0 * slope - 11.35 * 100.0 * 0.05;
        assert!((law.utility(&interval) - expected).abs() < 1e-3, "{slope}: {}", law.utility(&interval));
    }
}

/// With the loss rate itself instead of an interval's count, the rate goes to the equilibrium from either side and stays:
/// 937, 100.6 and 0.92 Mbit/s at 4, 5 and 8 %, within 20 %.
#[test]
fn the_rate_goes_to_the_equilibrium() {
    let law = law(&[]);
    for (loss, published) in [(0.04, 937.0), (0.05, 100.6), (0.08, 0.92)] {
        assert!((equilibrium(loss) / published - 1.0).abs() < 0.01, "{loss}: {}", equilibrium(loss));
        for start in [0.5, 2.0] {
            let mut s = law.initial_state();
            let mut x = start * published;
            let worth = |x: f64| libm::pow(x, law.t) - law.c * x * loss;
            for _ in 0..200_000 {
                let (more, less) = (x * (1.0 + law.epsilon), x * (1.0 - law.epsilon));
                x += law.step(&mut s, x, (worth(more) - worth(less)) / (more - less));
            }
            assert!((x / published - 1.0).abs() < 0.2, "{loss} from {start}: {x}");
        }
    }
}
