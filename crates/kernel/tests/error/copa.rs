//! An acknowledgement of Copa.

use penstock_law::cc::CONTROLLERS;
use penstock_law::cc::copa::{Acknowledged, Copa, State};
use penstock_law::estimate::RecentMin;
use penstock_law::law::find;
use penstock_law::{Law, Number, Values};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Draw, Q, SENDER, UNIT, Worst, noise};

/// Past slow start, in the third round trip of a direction.
fn state<N: Number>(numbers: [Q; 7], up: bool, of: fn(Q) -> N) -> State<N> {
    let [window, velocity, delta, min_rtt, standing, since_s, before] = numbers.map(of);
    State {
        window,
        velocity,
        delta,
        min_rtt,
        standing,
        slow_start: false,
        competes: false,
        up,
        steady: 2,
        since_s,
        before,
        lost: false,
        least: RecentMin::nothing(),
        half: RecentMin::nothing(),
        low: RecentMin::nothing(),
        high: RecentMin::nothing(),
    }
}

/// The window moves by v / (delta W) for a packet. The product delta W is off by half a unit, and the quotient by half a unit of
/// its own: the window is within 0.5 v / (delta W)^2 + 0.5 units. At the end of a round trip the velocity is within delta times that, and
/// half a unit, of delta W where that bounds it. Directions differ only where the rate is as near to the target as the rounding of two
/// products.
#[test]
fn an_acknowledgement_of_copa() {
    let values = Values::defaults(find(CONTROLLERS, "copa").unwrap().parameters);
    let fixed: Copa<Q> = Copa::compile(&values, &SENDER).unwrap();
    let real: Copa<f64> = Copa::compile(&values, &SENDER).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(12));
    let (mut window_worst, mut velocity_worst) = (Worst::default(), Worst::default());
    let (mut directions, mut turns, mut near) = ([0u32; 2], 0, 0);
    for i in 0..200_000u32 {
        let (delta, window, min_rtt) = (draw.log(1e-3, 10.0), draw.log(2.0, 1e5), draw.log(1e-3, 1.0));
        // A queue about the target's.
        let queue = min_rtt / (window * delta) * draw.log(0.1, 10.0);
        let standing = min_rtt + queue;
        let since = Q::of(draw.between(0.0, 1000.0));
        let before = window * draw.log(0.5, 2.0);
        let numbers = [window, draw.log(1.0, 1e3), delta, min_rtt, standing, since, before];
        let up = i % 2 == 0;
        let (mut got, mut truth) = (state(numbers, up, |x| x), state(numbers, up, Q::value));
        let now = since + standing * draw.log(0.5, 2.0);
        let packets = 1 + i % 64;
        let ack = Acknowledged { now_s: now, packets, rtt_s: None, average_s: standing, app_limited: false };
        fixed.on_ack(&mut got, &ack);
        let plain =
            Acknowledged { now_s: now.value(), packets, rtt_s: None, average_s: standing.value(), app_limited: false };
        real.on_ack(&mut truth, &plain);
        let [window, velocity, delta, .., before] = numbers.map(Q::value);
        let product = window * delta;
        let queue = standing.value() - min_rtt.value();
        // The direction, and whether the window went beyond that of before, within what rounding moves them by.
        let most = velocity * f64::from(packets) / (product - UNIT);
        let allowed = 0.5 * most / (product - UNIT) + 0.5 + noise(4.0 * (window + most));
        let rate = product * queue - standing.value();
        if rate.abs() / UNIT < 0.5 * queue + 1.0 + noise(4.0 * standing.value())
            || (truth.window - before).abs() / UNIT < allowed
        {
            near += 1;
            continue;
        }
        window_worst.see("window", got.window, truth.window, allowed);
        let allowed = allowed * delta + 0.5 + noise(4.0 * truth.velocity);
        velocity_worst.see("velocity", got.velocity, truth.velocity, allowed);
        assert_eq!((got.up, got.steady), (truth.up, truth.steady));
        directions[usize::from(truth.window > window)] += 1;
        turns += u32::from(truth.velocity != velocity);
    }
    assert!(
        directions.into_iter().all(|n| n > 50_000) && turns > 50_000 && near < 100,
        "{directions:?} {turns} {near}"
    );
    println!("copa: window {:.2}, velocity {:.2} of the bounds", window_worst.0, velocity_worst.0);
}
