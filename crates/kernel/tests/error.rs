//! One step of each law in fixed point against the same step in `f64`, over what real paths have.
//!
//! Bounds are in units of the last place, 2^-32. Both start from the same numbers, so that what is measured is the
//! arithmetic of the step alone.

#[path = "error/conditioners.rs"]
mod conditioners;
#[path = "error/copa.rs"]
mod copa;
#[path = "error/prague.rs"]
mod prague;
#[path = "error/ranges.rs"]
mod ranges;

use penstock_law::aqm::avq::{self, Avq};
use penstock_law::aqm::bat::{self, Aimd, Alone, Bat};
use penstock_law::aqm::clcc::{self, Clcc, Preemption, Samples, Steered, Sums};
use penstock_law::aqm::price::{self, Price};
use penstock_law::aqm::{self, AQMS, Class};
use penstock_law::cc::ccp::{self, Control};
use penstock_law::cc::fast::{self, Fast};
use penstock_law::cc::leadlag::{self, LeadLag};
use penstock_law::cc::{self, CONTROLLERS};
use penstock_law::law::find;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Fix, Law, Number, Values};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const UNIT: f64 = 1.0 / 4_294_967_296.0;
const SENDER: cc::Context = cc::Context { packet: Bytes(1500), initial_window: 2.0, initial_ssthresh: 1e9 };
const PORT: aqm::Context =
    aqm::Context { rate: Rate(1_000_000_000), delay: Time::ZERO, packet: Bytes(1500), classes: Vec::new() };

type Q = Fix<32>;

struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (self.0.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0 * (most - least)
    }
    /// Uniform in the logarithm, and a number of fixed point.
    fn log(&mut self, least: f64, most: f64) -> Q {
        Q::of(libm::exp(self.between(libm::log(least), libm::log(most))))
    }
}

/// The largest error so far, as a part of the allowed one.
#[derive(Default)]
struct Worst(f64);

impl Worst {
    fn see(&mut self, what: &str, got: Q, truth: f64, allowed_units: f64) {
        let error = (got.value() - truth).abs() / UNIT;
        assert!(error <= allowed_units, "{what}: {error} units, where {allowed_units} are allowed");
        self.0 = self.0.max(error / allowed_units);
    }
}

/// FAST in both arithmetics with the parameters of `set`, and defaults otherwise.
fn both_of_fast(set: &[(&str, f64)]) -> (Fast<Q>, Fast<f64>) {
    let entry = find(CONTROLLERS, "fast").unwrap();
    let mut values = Values::defaults(entry.parameters);
    for (name, value) in set {
        values.set(entry.parameters.iter().find(|p| p.name == *name).unwrap(), *value).unwrap();
    }
    (Fast::compile(&values, &SENDER).unwrap(), Fast::compile(&values, &SENDER).unwrap())
}

/// A round of the law in fixed point beside one of `real`, which is given the same parameters. Without a start that
/// multiplies the window is within w/2 + 1.5 units. With it, what a round brings on an empty path rounds once, and what the
/// delay leaves of it once more, with a quotient that is off by half a unit: that times surge w, and 1 unit.
fn round_of_fast(
    worst: &mut Worst,
    (fixed, real): (&Fast<Q>, &mut Fast<f64>),
    state: fast::State<Q>,
    base_rtt_s: Q,
    rtt_s: Q,
) {
    (real.alpha, real.gamma, real.keep) = (fixed.alpha.value(), fixed.gamma.value(), fixed.keep.value());
    let mut allowed = 0.5 * state.window.value() + 1.5;
    if let (Some(fixed), Some(real)) = (&fixed.start, &mut real.start) {
        (real.step, real.surge, real.qdelay_s) = (fixed.step.value(), fixed.surge.value(), fixed.qdelay_s.value());
        allowed += 0.5 * real.surge * state.window.value() + 1.0;
    }
    let mut got = state;
    fixed.on_event(&mut got, cc::Event::Round, &cc::Observation { rtt_s, base_rtt_s, ..cc::Observation::zero() });
    let mut truth = fast::State {
        window: state.window.value(),
        before: state.before.value(),
        fits: state.fits.value(),
        known: state.known.value(),
    };
    let seen = cc::Observation { rtt_s: rtt_s.value(), base_rtt_s: base_rtt_s.value(), ..cc::Observation::zero() };
    real.on_event(&mut truth, cc::Event::Round, &seen);
    worst.see("window", got.window, truth.window, allowed);
    worst.see("fits", got.fits, truth.fits, 0.5 * state.before.value() + 0.5);
}

/// A window after a round: within w/2 + 1.5 units, that is, one part in 8.6e9 of the window and 3.5e-10 packets. The
/// ratio of round trips is off by half a unit and is multiplied by the window; three products round once more.
#[test]
fn a_round_of_fast() {
    let (mut fixed, mut real) = both_of_fast(&[]);
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(1));
    let mut worst = Worst::default();
    for _ in 0..200_000 {
        fixed.alpha = draw.log(1.0, 1000.0);
        fixed.gamma = draw.log(0.1, 1.0);
        fixed.keep = Q::of(1.0) - fixed.gamma;
        let (window, base_rtt_s) = (draw.log(2.0, 1e5), draw.log(1e-3, 1.0));
        let rtt_s = base_rtt_s * draw.log(1.0, 4.0);
        round_of_fast(&mut worst, (&fixed, &mut real), fast::State::new(window), base_rtt_s, rtt_s);
    }
    println!("fast, round: {:.2} of the bound", worst.0);
}

/// The same where the start multiplies: before the first loss, below what is known to fit, and beyond it.
#[test]
fn a_round_of_fast_that_multiplies() {
    let (mut fixed, mut real) = both_of_fast(&[("start_growth", 2.0)]);
    let (mut plain, _) = both_of_fast(&[]);
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(10));
    let (mut worst, mut multiplied) = (Worst::default(), 0);
    for i in 0..200_000 {
        fixed.alpha = draw.log(1.0, 1000.0);
        fixed.gamma = draw.log(0.1, 1.0);
        fixed.keep = Q::of(1.0) - fixed.gamma;
        let qdelay_s = draw.log(1e-5, 0.1);
        let start = fixed.start.as_mut().unwrap();
        (start.step, start.surge, start.qdelay_s) = (fixed.gamma * fixed.alpha, draw.log(0.01, 1.0), qdelay_s);
        let window = draw.log(2.0, 1e5);
        let known = if i % 3 == 0 { Q::of(0.0) } else { window * draw.log(0.5, 2.0) };
        let state = fast::State { window, before: window * draw.log(0.5, 1.0), fits: Q::of(0.0), known };
        let base_rtt_s = draw.log(1e-3, 1.0);
        let rtt_s = base_rtt_s + qdelay_s * Q::of(draw.between(0.0, 1.5));
        round_of_fast(&mut worst, (&fixed, &mut real), state, base_rtt_s, rtt_s);
        (plain.alpha, plain.gamma, plain.keep) = (fixed.alpha, fixed.gamma, fixed.keep);
        let after = |law: &Fast<Q>| {
            let mut state = state;
            law.on_event(
                &mut state,
                cc::Event::Round,
                &cc::Observation { rtt_s, base_rtt_s, ..cc::Observation::zero() },
            );
            state.window
        };
        multiplied += u32::from(after(&fixed) > after(&plain));
    }
    assert!((60_000..140_000).contains(&multiplied), "{multiplied} of 200000 multiplied");
    println!("fast, round that multiplies: {:.2} of the bound", worst.0);
}

/// After a tick, for both signals and forms. The price over the round trip and its part `fast` are off by 1/2 unit each and
/// what gain makes of it; by delay, `fast` has the logarithm of a ratio that is off by half a unit itself. The exponential
/// form: xi within 1 unit; the target within what xi and `fast` are off by, and one unit for the exponential, times itself.
/// The linearised form: theta is off by a unit and `fast`, and the target by that times itself.
#[test]
fn a_tick_of_leadlag() {
    for (signal, form) in
        [("ecn", "exponential"), ("ecn", "linearised"), ("delay", "exponential"), ("delay", "linearised")]
    {
        let (delay, linearised) = (signal == "delay", form == "linearised");
        let parameters = find(CONTROLLERS, "leadlag").unwrap().parameters;
        let mut values = Values::defaults(parameters);
        for (name, on) in [("signal", delay), ("form", linearised)] {
            let parameter = parameters.iter().find(|p| p.name == name).unwrap();
            values.set(parameter, f64::from(u8::from(on))).unwrap();
        }
        let mut fixed: LeadLag<Q> = LeadLag::compile(&values, &SENDER).unwrap();
        let mut real: LeadLag<f64> = LeadLag::compile(&values, &SENDER).unwrap();
        let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(2));
        let (mut xi, mut target) = (Worst::default(), Worst::default());
        for _ in 0..200_000 {
            (fixed.step, fixed.weight, fixed.gain) = (draw.log(1e-6, 0.1), draw.log(1e-3, 1e4), draw.log(1e-6, 1.57));
            (real.step, real.weight, real.gain) = (fixed.step.value(), fixed.weight.value(), fixed.gain.value());
            (real.least, real.most) = (fixed.least.value(), fixed.most.value());
            let size = draw.log(1.0, 1e5);
            let slow = if linearised { size.ln() + draw.log(1e-6, 0.5) } else { Q::of(draw.between(0.0, 12.0)) };
            let before = leadlag::State { window: Q::of(1.0), target: size, xi: slow };
            let (price_s, base_rtt_s) = (draw.log(1e-3, 0.6), draw.log(0.01, 1.0));
            let rtt_s = base_rtt_s * draw.log(1.0, 10.0);
            let mut got = before;
            fixed.on_event(
                &mut got,
                cc::Event::Tick,
                &cc::Observation { rtt_s, base_rtt_s, price_s, ..cc::Observation::zero() },
            );
            let mut truth = leadlag::State { window: 1.0, target: before.target.value(), xi: before.xi.value() };
            let (rtt, base_rtt, price) = (rtt_s.value(), base_rtt_s.value(), price_s.value());
            real.on_event(
                &mut truth,
                cc::Event::Tick,
                &cc::Observation { rtt_s: rtt, base_rtt_s: base_rtt, price_s: price, ..cc::Observation::zero() },
            );
            let fast = 0.5 + real.gain * if delay { 0.5 * rtt / base_rtt + 0.51 } else { 0.5 };
            if linearised {
                let theta = 0.5 + 0.5 * real.step + fast + 0.51 + noise(100.0);
                let allowed = theta * size.value() + 0.5 * real.step * size.value() + 1.5;
                target.see("target", got.target, truth.target, allowed);
                xi.see("xi", got.xi, truth.xi, allowed / truth.target + 0.52 + fast);
            } else {
                xi.see("xi", got.xi, truth.xi, 1.0);
                let allowed = (0.5 + real.step + fast + 0.5) * truth.target + 1.0 + noise(100.0 * truth.target);
                target.see("target", got.target, truth.target, allowed);
            }
        }
        println!("leadlag, tick, {signal}, {form}: xi {:.2}, target {:.2} of the bounds", xi.0, target.0);
    }
}

/// After an acknowledgement: nothing is rounded, and the window is exact.
#[test]
fn an_acknowledgement_of_leadlag() {
    let values = Values::defaults(find(CONTROLLERS, "leadlag").unwrap().parameters);
    let mut fixed: LeadLag<Q> = LeadLag::compile(&values, &SENDER).unwrap();
    let mut real: LeadLag<f64> = LeadLag::compile(&values, &SENDER).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(3));
    for i in 0..100_000 {
        fixed.cap = draw.log(0.01, 10.0);
        real.cap = fixed.cap.value();
        let before = leadlag::State { window: draw.log(1.0, 1e5), target: draw.log(1.0, 1e5), xi: Q::of(0.0) };
        let event = cc::Event::Ack { packets: 1 + i % 64, marked: 0 };
        let mut got = before;
        fixed.on_event(
            &mut got,
            event,
            &cc::Observation { rtt_s: Q::of(0.1), base_rtt_s: Q::of(0.1), ..cc::Observation::zero() },
        );
        let mut truth = leadlag::State { window: before.window.value(), target: before.target.value(), xi: 0.0 };
        real.on_event(&mut truth, event, &cc::Observation { rtt_s: 0.1, base_rtt_s: 0.1, ..cc::Observation::zero() });
        assert_eq!(got.window.value(), truth.window);
    }
}

/// After a tick, on lines of 10 Mbit/s to 100 Gbit/s: the price within 1 unit, its probability within ln phi + 1 units.
#[test]
fn a_tick_of_price() {
    let values = Values::defaults(find(AQMS, "price").unwrap().parameters);
    let mut fixed: Price<Q> = Price::compile(&values, &PORT).unwrap();
    let mut real: Price<f64> = Price::compile(&values, &PORT).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(4));
    let (mut price, mut probability) = (Worst::default(), Worst::default());
    for _ in 0..200_000 {
        (fixed.target, fixed.period) = (draw.log(0.8, 1.0), draw.log(0.005, 0.1));
        fixed.ln_phi = draw.log(libm::log(10.0), libm::log(1e6));
        (real.target, real.period, real.ln_phi) = (fixed.target.value(), fixed.period.value(), fixed.ln_phi.value());
        let before = price::State { price: draw.log(1e-4, 1.0), probability: Q::of(0.0) };
        let capacity = draw.log(1e7 / 12_000.0, 1e11 / 12_000.0);
        let arrived = capacity * fixed.period * draw.log(0.01, 2.0);
        let mut got = before;
        fixed.on_event(&mut got, aqm::Event::Tick, &aqm::Observation { arrived, capacity, ..aqm::Observation::zero() });
        let mut truth = price::State { price: before.price.value(), probability: 0.0 };
        let seen =
            aqm::Observation { arrived: arrived.value(), capacity: capacity.value(), ..aqm::Observation::zero() };
        real.on_event(&mut truth, aqm::Event::Tick, &seen);
        price.see("price", got.price, truth.price, 1.0);
        probability.see("probability", got.probability, truth.probability, real.ln_phi + 1.0);
    }
    println!("price, tick: price {:.2}, probability {:.2} of the bounds", price.0, probability.0);
}

/// The rounding error of one operation in `f64`, for results of that size, in units.
fn noise(size: f64) -> f64 {
    size.abs() * f64::EPSILON / UNIT
}

/// After an arrival, on lines of up to 10 million packets a second: the virtual queue within 1 unit, since a product and
/// the packet's size round once each; the virtual capacity within 1.5 alpha + 1 units, since what the gap brought and what
/// the packet takes are off by 1 and 1/2 units before alpha multiplies them. Marks differ only where the virtual queue is
/// that near to its brim.
#[test]
fn an_arrival_at_avq() {
    let values = Values::defaults(find(AQMS, "avq").unwrap().parameters);
    let mut fixed: Avq<Q> = Avq::compile(&values, &PORT).unwrap();
    let mut real: Avq<f64> = Avq::compile(&values, &PORT).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(5));
    let (mut queue, mut virtual_capacity, mut marks) = (Worst::default(), Worst::default(), [0u32; 2]);
    for i in 0..200_000 {
        (fixed.gamma, fixed.alpha) = (draw.log(1e-3, 1.0), draw.log(1e-6, 100.0));
        (fixed.buffer, fixed.mean_packet) = (draw.log(1.0, 1e5), draw.log(40.0, 9000.0));
        (real.gamma, real.alpha) = (fixed.gamma.value(), fixed.alpha.value());
        (real.buffer, real.mean_packet) = (fixed.buffer.value(), fixed.mean_packet.value());
        fixed.bytes = i % 5 > 0;
        real.bytes = fixed.bytes;
        let capacity = draw.log(1.0, 1e7);
        let last_s = Q::of(draw.between(0.0, 1000.0));
        let mut got = avq::State {
            virtual_capacity: capacity * Q::of(draw.between(0.0, 1.0)),
            virtual_queue: fixed.buffer * Q::of(draw.between(0.0, 1.0)),
            last_s,
            overflowed: false,
        };
        let mut truth = avq::State {
            virtual_capacity: got.virtual_capacity.value(),
            virtual_queue: got.virtual_queue.value(),
            last_s: last_s.value(),
            overflowed: false,
        };
        let now_s = last_s + draw.log(1e-3, 1e4) / capacity;
        let event = aqm::Event::Arrival { bytes: draw.log(1.0, 65_535.0).value() as u32, idle: 0 };
        fixed.on_event(&mut got, event, &aqm::Observation { capacity, now_s, ..aqm::Observation::zero() });
        let seen = aqm::Observation { capacity: capacity.value(), now_s: now_s.value(), ..aqm::Observation::zero() };
        real.on_event(&mut truth, event, &seen);
        if got.overflowed == truth.overflowed {
            let own = noise(truth.virtual_queue + 2e4);
            queue.see("virtual queue", got.virtual_queue, truth.virtual_queue, 1.0 + own);
        } else {
            let room = real.buffer - truth.virtual_queue.min(got.virtual_queue.value());
            let size =
                f64::from(if let aqm::Event::Arrival { bytes, .. } = event { bytes } else { 0 }) / real.mean_packet;
            let size = if real.bytes { size } else { 1.0 };
            assert!((room - size).abs() / UNIT < 2.0 + noise(2e5), "marks differ {room} from the brim, by {size}");
        }
        marks[usize::from(truth.overflowed)] += 1;
        let allowed = 1.5 * real.alpha + 1.0 + noise(4.0 * seen.capacity + real.alpha * 2e4);
        virtual_capacity.see("virtual capacity", got.virtual_capacity, truth.virtual_capacity, allowed);
    }
    assert!(marks.into_iter().all(|n| n > 10_000), "{marks:?}");
    println!("avq, arrival: queue {:.2}, capacity {:.2} of the bounds", queue.0, virtual_capacity.0);
}

/// A window after an acknowledgement, by (3). With a margin for the sum of its two terms, and D = 1 + kp + kappa: both
/// products and the quotient kappa round once, and so, solved for the window, does the last quotient. So it is within (1 +
/// (distance + window) / 2) / D + 1/2 units, where distance is how many packets the buffer's level moved; as printed,
/// within 1 + distance / 2.
#[test]
fn an_acknowledgement_of_ccpd() {
    let values = Values::defaults(find(CONTROLLERS, "ccpd").unwrap().parameters);
    let mut fixed: Control<Q, true> = Control::compile(&values, &SENDER).unwrap();
    let mut real: Control<f64, true> = Control::compile(&values, &SENDER).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(6));
    let mut worst = [Worst::default(), Worst::default()];
    for i in 0..200_000 {
        (fixed.kp, fixed.kd_s, fixed.implicit) = (draw.log(1e-3, 1e3), draw.log(1e-6, 10.0), i % 2 == 0);
        (real.kp, real.kd_s, real.implicit) = (fixed.kp.value(), fixed.kd_s.value(), fixed.implicit);
        let (window, ssthresh) = (draw.log(2.0, 1e5), draw.log(2.0, 1e5));
        let mut got = ccp::State { window, ssthresh, slow_start: false, recovers: i % 3 == 0 };
        let mut truth = ccp::State {
            window: window.value(),
            ssthresh: ssthresh.value(),
            slow_start: got.slow_start,
            recovers: got.recovers,
        };
        let buffer = draw.log(1.0, 1e5);
        let (level, earlier) = (buffer * draw.log(1e-4, 1.1), buffer * draw.log(1e-4, 1.1));
        let seen = cc::Observation {
            buffer,
            level,
            in_flight: draw.log(1.0, 1e5),
            earlier,
            earlier_s: draw.log(1e-3, 10.0),
            ..cc::Observation::zero()
        };
        let plain = cc::Observation {
            buffer: buffer.value(),
            level: level.value(),
            in_flight: seen.in_flight.value(),
            earlier: earlier.value(),
            earlier_s: seen.earlier_s.value(),
            ..cc::Observation::zero()
        };
        let event = if i % 5 == 0 { cc::Event::Congestion } else { cc::Event::Ack { packets: 1, marked: 0 } };
        fixed.on_event(&mut got, event, &seen);
        real.on_event(&mut truth, event, &plain);
        let committed = plain.level + if real.implicit { 0.0 } else { plain.in_flight };
        let kappa = real.kd_s / plain.earlier_s;
        let distance = plain.earlier + committed;
        let size = real.kp * (plain.buffer + committed) + kappa * distance;
        let allowed = if real.implicit {
            let d = 1.0 + real.kp + kappa;
            (1.0 + noise(4.0 * size) + f64::midpoint(distance, truth.window)) / d + 0.5
        } else {
            1.0 + noise(4.0 * size) + distance / 2.0
        };
        worst[i % 2].see("window", got.window, truth.window, allowed);
        assert_eq!((got.slow_start, got.recovers), (truth.slow_start, truth.recovers));
    }
    println!("ccpd: solved {:.2}, as printed {:.2} of the bounds", worst[0].0, worst[1].0);
}

fn bat_line<N: Number>(law: &mut Bat<N>, constants: [Q; 10], of: fn(Q) -> N) {
    let [interval, coarse, low, high, gain, rate, floor, ceiling, increase, decrease] = constants.map(of);
    (law.interval, law.coarse, law.low, law.high, law.gain, law.rate) = (interval, coarse, low, high, gain, rate);
    law.classes = vec![bat::Constants { floor, ceiling, increase, decrease }];
}

/// After an interval: what the class offers within 1/2 unit and the average of the signal too, since a quotient and a
/// product round once; the probability within 1 unit where it rises, and within 1.5 + decrease / rate units where it falls,
/// since what is offered is multiplied by the one and divided by the other. Decisions differ only where what is served is
/// as near to a contract.
#[test]
fn a_tick_of_bat() {
    let values = Values::defaults(find(AQMS, "bat").unwrap().parameters);
    let mut fixed: Alone<Bat<Q>> = Alone::compile(&values, &PORT).unwrap();
    let mut real: Alone<Bat<f64>> = Alone::compile(&values, &PORT).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(7));
    let (mut transmit, mut offered, mut excess) = (Worst::default(), Worst::default(), Worst::default());
    for i in 0..200_000 {
        let rate = draw.log(1.0, 1e5);
        let interval = draw.log(1e-3, 1.0);
        let floor = if i % 2 == 0 { Q::of(-1.0) } else { rate * draw.log(1e-3, 1.0) };
        let ceiling = if i % 3 == 0 { Q::of(f64::INFINITY) } else { rate * draw.log(1e-3, 1.0) };
        let (low, coarse) = (draw.log(0.1, 1e3), draw.log(1e-6, 1.0));
        let [increase, decrease, gain] = [draw.log(1e-6, 1.0), draw.log(1e-6, 1e3), draw.log(1e-6, 1.0)];
        let constants = [interval, coarse, low, low + low, gain, rate, floor, ceiling, increase, decrease];
        bat_line(&mut fixed.0, constants, |x| x);
        bat_line(&mut real.0, constants, Q::value);
        let [share, average] = [draw.log(1e-6, 1.0), draw.log(1e-6, 1.0)];
        let (queue, before) = (draw.log(0.1, 2e3), draw.log(0.1, 2e3));
        let zero = Q::of(0.0);
        let mut got = bat::State { transmit: share, offered: zero, excess: average, class: 0, queue: before };
        let mut truth = bat::State {
            transmit: share.value(),
            offered: 0.0,
            excess: average.value(),
            class: 0,
            queue: before.value(),
        };
        let arrived = rate * interval * draw.log(1e-3, 10.0);
        fixed.on_event(&mut got, aqm::Event::Tick, &aqm::Observation { queue, arrived, ..aqm::Observation::zero() });
        let seen = aqm::Observation { queue: queue.value(), arrived: arrived.value(), ..aqm::Observation::zero() };
        real.on_event(&mut truth, aqm::Event::Tick, &seen);
        offered.see("offered", got.offered, truth.offered, 0.5 + noise(truth.offered));
        excess.see("excess", got.excess, truth.excess, 0.5 + noise(1.0));
        let served = share.value() * truth.offered;
        let near = |contract: Q| (served - contract.value()).abs() / UNIT < 1.0 + noise(served);
        if !near(floor) && !near(ceiling) {
            let allowed = 1.5 + decrease.value() / rate.value() + noise(10.0 * decrease.value().max(1.0));
            transmit.see("transmit", got.transmit, truth.transmit, allowed);
        }
    }
    println!("bat: transmit {:.2}, offered {:.2}, excess {:.2} of the bounds", transmit.0, offered.0, excess.0);
}

/// After a period: served and others are off by half a unit; so the ratio, of others not below a packet a second, by (1 +
/// ratio) / 2 / others + 1/2 units, the error by that over the reference and 1/2, and the decrease by beta times that and
/// the rounding of three products, times itself, and 1/2. At a bound between two zones of beta nothing is claimed.
#[test]
fn a_period_of_clcc() {
    let share = Class { share: Some(0.5), ..Class::FREE };
    let site = aqm::Context { classes: vec![share, Class::FREE], ..PORT };
    let values = Values::defaults(find(AQMS, "clcc").unwrap().parameters);
    let mut fixed: Clcc<Q, Bat<Q>> = Clcc::compile(&values, &site).unwrap();
    let mut real: Clcc<f64, Bat<f64>> = Clcc::compile(&values, &site).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(8));
    let (mut ratio, mut decrease, mut moved) = (Worst::default(), Worst::default(), 0);
    for i in 0..100_000 {
        let rate = draw.log(100.0, 1e5);
        let zero = Q::of(0.0);
        let most = Q::of(f64::INFINITY);
        let [interval, coarse, low, high, gain] = [0.004, 0.0625, 1.0, 2.0, 0.125].map(Q::of);
        let constants = [interval, coarse, low, high, gain, rate, Q::of(-1.0), most, zero, zero];
        bat_line(&mut fixed.inner, constants, |x| x);
        bat_line(&mut real.inner, constants, Q::value);
        let beta = [-draw.log(1e-3, 0.999), -draw.log(1e-3, 0.999), -draw.log(1e-3, 0.999)];
        let before = [Q::of(draw.between(-1.0, 1.0)), Q::of(draw.between(-1.0, 1.0))];
        let near = draw.log(1e-3, 0.5);
        let (edges, period) = ([near, near + draw.log(1e-3, 1.0)], draw.log(0.01, 10.0));
        let part = draw.log(0.01, 0.9);
        let reference = part / (Q::of(1.0) - part);
        let most_ratio = Q::of(100.0) * reference;
        let own = Steered { share: part, reference, most_ratio, least: Q::of(3e-5), floor: zero };
        let f = |x: Q| x.value();
        let rule = [Preemption::Hold, Preemption::Decay, Preemption::None][i % 3];
        (fixed.steering.outer.beta, real.steering.outer.beta) = (beta, beta.map(f));
        (fixed.steering.outer.thresholds, real.steering.outer.thresholds) = (edges, edges.map(f));
        (fixed.steering.outer.before, real.steering.outer.before) = (before, before.map(f));
        (fixed.steering.period, real.steering.period) = (period, f(period));
        (fixed.steering.least_others, real.steering.least_others) = (Q::of(1.0), 1.0);
        (fixed.steering.preemption, real.steering.preemption) = (rule, rule);
        (fixed.steering.bound, real.steering.bound) = (i % 2 == 0, i % 2 == 0);
        fixed.steering.steered = vec![Some(own)];
        let plain = Steered {
            share: f(part),
            reference: f(reference),
            most_ratio: f(most_ratio),
            least: f(own.least),
            floor: 0.0,
        };
        real.steering.steered = vec![Some(plain)];
        (fixed.intervals, real.intervals) = (1, 1);
        let (start, errors) = (draw.log(1e-4, 1.0), [0; 2].map(|_| Q::of(draw.between(-3.0, 1.0))));
        let mut got = clcc::State {
            inner: bat::State::of(0),
            decrease: start,
            kept: start,
            ratio: zero,
            errors,
            since: 0,
            sums: Sums { arrived: zero, all_arrived: zero, departed: zero, all_departed: zero },
            samples: Samples::nothing(),
        };
        let mut truth = clcc::State {
            inner: bat::State::of(0),
            decrease: f(start),
            kept: f(start),
            ratio: 0.0,
            errors: errors.map(f),
            since: 0,
            sums: Sums { arrived: 0.0, all_arrived: 0.0, departed: 0.0, all_departed: 0.0 },
            samples: Samples::nothing(),
        };
        let all_departed = rate * period * draw.log(0.1, 1.0);
        let departed = all_departed * draw.log(1e-3, 0.99);
        let arrived = departed * draw.log(1.0, 10.0);
        let all_arrived = all_departed * draw.log(1.0, 10.0);
        let seen = aqm::Observation {
            capacity: rate,
            arrived,
            departed,
            all_arrived,
            all_departed,
            ..aqm::Observation::zero()
        };
        let plain = aqm::Observation {
            capacity: f(rate),
            arrived: f(arrived),
            departed: f(departed),
            all_arrived: f(all_arrived),
            all_departed: f(all_departed),
            ..aqm::Observation::zero()
        };
        fixed.on_event(&mut got, aqm::Event::Tick, &seen);
        real.on_event(&mut truth, aqm::Event::Tick, &plain);
        let others = f64::max(1.0, (plain.all_departed - plain.departed) / f(period));
        let ratio_off = f64::midpoint(1.0, truth.ratio) / others + 0.5 + noise(10.0 * truth.ratio);
        ratio.see("ratio", got.ratio, truth.ratio, ratio_off);
        let error_off = ratio_off / f(reference) + 0.5;
        let size = truth.errors[0].abs();
        let clear = edges.iter().all(|edge| (size - f(*edge)).abs() / UNIT > error_off + 1.0);
        if clear && (plain.arrived / f(period) / (f(rate) * f(part)) - 1.0).abs() > 1e-6 {
            let steepest = beta.iter().map(|beta| f(*beta).abs()).fold(0.0, f64::max);
            let allowed = f(start) * (steepest * error_off + 1.5) + 0.5 + noise(100.0);
            let bound = f(rate) / (plain.all_arrived / f(period));
            let allowed = if real.steering.bound { allowed + bound } else { allowed };
            decrease.see("decrease", got.decrease, truth.decrease, allowed);
            moved += usize::from(truth.decrease != f(start));
        }
    }
    assert!(moved > 50_000, "{moved}");
    assert_eq!(fixed.inner.interval_s(), real.inner.interval_s());
    println!("clcc: ratio {:.2}, decrease {:.2} of the bounds", ratio.0, decrease.0);
}
