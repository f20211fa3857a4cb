//! An acknowledgement of Prague.

use penstock_law::cc::prague::{Prague, Signs, State};
use penstock_law::cc::{CONTROLLERS, Event, Observation};
use penstock_law::law::find;
use penstock_law::{Law, Number, Values};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Draw, Q, SENDER, UNIT, Worst, noise};

/// In avoidance, with the virtual round trip, before the first reduction of its round.
fn state<N: Number>(numbers: [Q; 7], of: fn(Q) -> N) -> State<N> {
    let [window, alpha, smoothed_rtt, acked, marked, since_s, reduced_s] = numbers.map(of);
    State {
        window,
        ssthresh: of(Q::of(2.0)),
        alpha,
        smoothed_rtt,
        acked,
        marked,
        classic: N::of(0.0),
        met: true,
        reduced: false,
        rounds: N::of(1000.0),
        since_s,
        reduced_s,
        signs: Signs::START,
    }
}

/// alpha is within g / 2 + 1/2 units, since the share of marks is off by half a unit. A reduction multiplies the window by a factor
/// that is off by half a unit of its own and by half of alpha's error; what comes of growth is off by its share, over the window, by
/// one rounding, and by the window's error. The share is a quotient by the virtual round trip of a smoothed round trip that is off by
/// half a unit; its square is off by twice that, and half a unit. The smoothed round trip is within half a unit.
/// Rounds end differently only as near to their end.
#[test]
fn an_acknowledgement_of_prague() {
    let values = Values::defaults(find(CONTROLLERS, "prague").unwrap().parameters);
    let mut fixed: Prague<Q> = Prague::compile(&values, &SENDER).unwrap();
    let mut real: Prague<f64> = Prague::compile(&values, &SENDER).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(14));
    let (mut alpha_worst, mut window_worst, mut smoothed_worst) =
        (Worst::default(), Worst::default(), Worst::default());
    let (mut rounds, mut reductions, mut near) = (0, 0, 0);
    for i in 0..200_000u32 {
        (fixed.g, fixed.virtual_rtt_s) = (draw.log(1e-3, 1.0), draw.log(1e-3, 0.1));
        (real.g, real.virtual_rtt_s) = (fixed.g.value(), fixed.virtual_rtt_s.value());
        let smoothed = draw.log(1e-4, 0.2);
        let acked = Q::of(libm::floor(draw.log(1.0, 1e5).value()));
        let since = Q::of(draw.between(0.0, 1000.0));
        let numbers = [draw.log(4.0, 1e5), draw.log(1e-3, 1.0), smoothed, acked, Q::of(1.0), since, since];
        let (mut got, mut truth) = (state(numbers, |x| x), state(numbers, Q::value));
        let packets = 1 + i % 64;
        let marked = if i % 3 == 0 { packets / 2 } else { 0 };
        let event = Event::Ack { packets, marked };
        let now_s = since + Q::of(draw.between(0.0, 0.3));
        let rtt_s = smoothed * draw.log(0.8, 1.25);
        fixed.on_event(&mut got, event, &Observation { now_s, rtt_s, ..Observation::zero() });
        let plain = Observation { now_s: now_s.value(), rtt_s: rtt_s.value(), ..Observation::zero() };
        real.on_event(&mut truth, event, &plain);
        smoothed_worst.see("smoothed", got.smoothed_rtt, truth.smoothed_rtt, 0.5 + noise(1.0));
        // The end of a round trip, and what is scaled.
        let late = plain.now_s - since.value() - f64::max(real.virtual_rtt_s, truth.smoothed_rtt);
        let unlike = [truth.smoothed_rtt - real.virtual_rtt_s, truth.smoothed_rtt - 0.1];
        if (late.abs() / UNIT) < 1.0 + noise(4000.0) || unlike.iter().any(|x| x.abs() / UNIT < 1.5) {
            near += 1;
            continue;
        }
        let off = 0.5 * real.g + 0.5 + noise(2.0);
        alpha_worst.see("alpha", got.alpha, truth.alpha, off);
        let before = numbers[0].value();
        let cut = if truth.reduced { before * (0.5 + 0.5 * off) + 0.5 } else { 0.0 };
        let grown = f64::from(packets - marked) / (before / 2.0);
        let square = 2.0 * (0.5 + 0.5 / real.virtual_rtt_s) + 0.5;
        let allowed = cut * (1.0 + grown / (before / 2.0)) + square * grown + 1.0 + noise(8.0 * before);
        window_worst.see("window", got.window, truth.window, allowed);
        assert_eq!((got.reduced, got.rounds.value()), (truth.reduced, truth.rounds));
        rounds += u32::from(truth.rounds > 1000.0);
        reductions += u32::from(truth.reduced);
    }
    assert!(rounds > 50_000 && reductions > 50_000 && near < 100, "{rounds} {reductions} {near}");
    println!(
        "prague: alpha {:.2}, window {:.2}, smoothed {:.2} of the bounds",
        alpha_worst.0, window_worst.0, smoothed_worst.0
    );
}
