//! The same over the whole ranges that the registry gives parameters, whatever real paths have.

use penstock_law::aqm::price::{self, Price};
use penstock_law::aqm::{self, AQMS};
use penstock_law::cc::fast;
use penstock_law::cc::leadlag::{self, LeadLag};
use penstock_law::cc::{self, CONTROLLERS};
use penstock_law::law::find;
use penstock_law::{Law, Number, Parameter, Values};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Draw, PORT, Q, SENDER, Worst, both_of_fast, round_of_fast};

/// The range of a parameter in the registry.
fn range(parameters: &[Parameter], name: &str) -> (f64, f64) {
    let parameter = parameters.iter().find(|p| p.name == name).unwrap();
    (parameter.least, parameter.most)
}

/// A round of FAST over the whole ranges of its parameters, windows to ten million packets and round trips of a microsecond
/// to a hundred seconds: the same bound.
#[test]
fn a_round_of_fast_over_the_ranges_of_its_parameters() {
    let parameters = find(CONTROLLERS, "fast").unwrap().parameters;
    let [gamma, alpha, growth, qdelay] =
        ["gamma", "alpha", "start_growth", "start_qdelay"].map(|p| range(parameters, p));
    for set in [&[][..], &[("start_growth", 2.0)]] {
        let (mut fixed, mut real) = both_of_fast(set);
        let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(5));
        let mut worst = Worst::default();
        for i in 0..200_000 {
            fixed.alpha = if i % 16 == 0 { Q::of(alpha.0) } else { draw.log(1e-3, alpha.1) };
            fixed.gamma = draw.log(gamma.0, gamma.1);
            fixed.keep = Q::of(1.0) - fixed.gamma;
            let (window, base_rtt_s) = (draw.log(2.0, 1e7), draw.log(1e-6, 1.0));
            let mut rtt_s = base_rtt_s * draw.log(1.0, 100.0);
            let mut state = fast::State::new(window);
            if let Some(start) = &mut fixed.start {
                start.step = fixed.gamma * fixed.alpha;
                start.surge = Q::of(draw.between(growth.0, growth.1) - 1.0);
                start.qdelay_s = draw.log(qdelay.0, qdelay.1);
                state.known = if i % 3 == 0 { Q::of(0.0) } else { draw.log(2.0, 1e7) };
                // Half of them below the threshold.
                rtt_s = base_rtt_s + start.qdelay_s * Q::of(draw.between(0.0, 2.0));
            }
            round_of_fast(&mut worst, (&fixed, &mut real), state, base_rtt_s, rtt_s);
        }
        println!("fast, round, whole ranges, {set:?}: {:.2} of the bound", worst.0);
    }
}

/// A tick of the price over the whole ranges of its parameters. The packets of a period are rounded twice, by
/// `(target + 1)/2` units: few packets, as of a slow line or a short period, are known that much worse. The quotient and the
/// product with the period round once each.
#[test]
fn a_tick_of_price_over_the_ranges_of_its_parameters() {
    let entry = find(AQMS, "price").unwrap();
    let values = Values::defaults(entry.parameters);
    let mut fixed: Price<Q> = Price::compile(&values, &PORT).unwrap();
    let mut real: Price<f64> = Price::compile(&values, &PORT).unwrap();
    let of = |name| range(entry.parameters, name);
    let (target, period, phi) = (of("target"), of("period"), of("phi"));
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(6));
    let (mut price, mut probability) = (Worst::default(), Worst::default());
    for _ in 0..200_000 {
        (fixed.target, fixed.period) = (draw.log(target.0, target.1), draw.log(period.0, period.1));
        fixed.ln_phi = draw.log(libm::log(phi.0), libm::log(phi.1));
        (real.target, real.period, real.ln_phi) = (fixed.target.value(), fixed.period.value(), fixed.ln_phi.value());
        let before = price::State { price: draw.log(1e-6, 100.0), probability: Q::of(0.0) };
        let capacity = draw.log(1e6 / 12_000.0, 1e11 / 12_000.0);
        let arrived = capacity * fixed.period * draw.log(1e-3, 2.0);
        let mut got = before;
        fixed.on_event(&mut got, aqm::Event::Tick, &aqm::Observation { arrived, capacity, ..aqm::Observation::zero() });
        let mut truth = price::State { price: before.price.value(), probability: 0.0 };
        let seen =
            aqm::Observation { arrived: arrived.value(), capacity: capacity.value(), ..aqm::Observation::zero() };
        real.on_event(&mut truth, aqm::Event::Tick, &seen);
        let fitted = real.target * capacity.value() * real.period;
        // One part in a thousand for what is not linear in the rounding of a divisor of a few thousand units.
        let quotient = 1.001 * arrived.value() / fitted * (0.5 * real.target + 0.5) / fitted + 0.5;
        let allowed = quotient * real.period + 0.5;
        price.see("price", got.price, truth.price, allowed);
        // The price's error, its product with ln phi, and the exponential.
        probability.see("probability", got.probability, truth.probability, allowed * real.ln_phi + 1.5);
    }
    println!("price, tick, whole ranges: price {:.2}, probability {:.2} of the bounds", price.0, probability.0);
}

/// A tick of the lead-lag law over the whole ranges of alpha / M and K, gains a period up to one, and round trips of 100 us to
/// 10 s. Demand and load round once each, so that xi is within the gain and half a unit more; what the exponential is of is off
/// by that, by half a unit of the load times alpha / M, and by half a unit, and the exponential and its factor by 2.5 more.
#[test]
fn a_tick_of_leadlag_over_the_ranges_of_its_parameters() {
    let entry = find(CONTROLLERS, "leadlag").unwrap();
    let values = Values::defaults(entry.parameters);
    let mut fixed: LeadLag<Q> = LeadLag::compile(&values, &SENDER).unwrap();
    let mut real: LeadLag<f64> = LeadLag::compile(&values, &SENDER).unwrap();
    let of = |name| range(entry.parameters, name);
    let (alpha, m, weight) = (of("alpha"), of("M"), of("K"));
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(7));
    let (mut xi, mut target) = (Worst::default(), Worst::default());
    for _ in 0..200_000 {
        (fixed.step, fixed.weight) = (draw.log(1e-9, 1.0), draw.log(weight.0, weight.1));
        fixed.gain = draw.log(alpha.0 / m.1, alpha.1);
        (real.step, real.weight, real.gain) = (fixed.step.value(), fixed.weight.value(), fixed.gain.value());
        (real.least, real.most) = (fixed.least.value(), fixed.most.value());
        let before =
            leadlag::State { window: Q::of(1.0), target: draw.log(1e-6, 1e7), xi: Q::of(draw.between(-20.0, 16.0)) };
        let (price_s, base_rtt_s) = (draw.log(1e-6, 10.0), draw.log(1e-4, 10.0));
        let mut got = before;
        fixed.on_event(
            &mut got,
            cc::Event::Tick,
            &cc::Observation { rtt_s: base_rtt_s, base_rtt_s, price_s, ..cc::Observation::zero() },
        );
        let mut truth = leadlag::State { window: 1.0, target: before.target.value(), xi: before.xi.value() };
        let base_rtt = base_rtt_s.value();
        real.on_event(
            &mut truth,
            cc::Event::Tick,
            &cc::Observation {
                rtt_s: base_rtt,
                base_rtt_s: base_rtt,
                price_s: price_s.value(),
                ..cc::Observation::zero()
            },
        );
        let allowed = real.step + 0.5;
        xi.see("xi", got.xi, truth.xi, allowed + 0.01);
        let phase = allowed + 0.5 * real.gain + 0.5;
        target.see("target", got.target, truth.target, 1.001 * phase * truth.target + 2.5);
    }
    println!("leadlag, tick, whole ranges: xi {:.2}, target {:.2} of the bounds", xi.0, target.0);
}
