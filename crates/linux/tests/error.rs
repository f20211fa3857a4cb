//! One step of each law in fixed point against the same step in `f64`, over what real paths have.
//!
//! Bounds are in units of the last place, 2^-32. Both start from the same numbers, so that what is measured is the
//! arithmetic of the step alone.

use penstock_law::aqm::avq::{self, Avq};
use penstock_law::aqm::price::{self, Price};
use penstock_law::aqm::{self, AQMS, Port};
use penstock_law::cc::ccp::{self, Control};
use penstock_law::cc::fast::{self, Fast};
use penstock_law::cc::leadlag::{self, LeadLag};
use penstock_law::cc::{self, CONTROLLERS, Path};
use penstock_law::law::find;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Fix, Law, Number, Values};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const UNIT: f64 = 1.0 / 4_294_967_296.0;
const SENDER: cc::Site = cc::Site { packet: Bytes(1500), initial_window: 2.0, initial_ssthresh: 1e9 };
const PORT: aqm::Site =
    aqm::Site { rate: Rate(1_000_000_000), delay: Time::ZERO, packet: Bytes(1500), classes: Vec::new() };

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

/// The largest error seen, as a part of what is allowed.
#[derive(Default)]
struct Worst(f64);

impl Worst {
    fn see(&mut self, what: &str, got: Q, truth: f64, allowed_units: f64) {
        let error = (got.value() - truth).abs() / UNIT;
        assert!(error <= allowed_units, "{what}: {error} units, where {allowed_units} are allowed");
        self.0 = self.0.max(error / allowed_units);
    }
}

/// A window after a round: within w/2 + 1.5 units, that is, one part in 8.6e9 of the window and 3.5e-10 packets. The
/// ratio of round trips is off by half a unit and is multiplied by the window; three products round once more.
#[test]
fn a_round_of_fast() {
    let values = Values::defaults(find(CONTROLLERS, "fast").unwrap().parameters);
    let mut fixed: Fast<Q> = Fast::compile(&values, &SENDER).unwrap();
    let mut real: Fast<f64> = Fast::compile(&values, &SENDER).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(1));
    let mut worst = Worst::default();
    for _ in 0..200_000 {
        fixed.alpha = draw.log(1.0, 1000.0);
        fixed.gamma = draw.log(0.1, 1.0);
        fixed.keep = Q::of(1.0) - fixed.gamma;
        (real.alpha, real.gamma, real.keep) = (fixed.alpha.value(), fixed.gamma.value(), fixed.keep.value());
        let (window, base_rtt_s) = (draw.log(2.0, 1e5), draw.log(1e-3, 1.0));
        let rtt_s = base_rtt_s * draw.log(1.0, 4.0);
        let mut got = fast::State { window };
        fixed.on(&mut got, cc::Event::Round, &Path { rtt_s, base_rtt_s, ..Path::unknown() });
        let mut truth = fast::State { window: window.value() };
        let seen = Path { rtt_s: rtt_s.value(), base_rtt_s: base_rtt_s.value(), ..Path::unknown() };
        real.on(&mut truth, cc::Event::Round, &seen);
        worst.see("window", got.window, truth.window, 0.5 * window.value() + 1.5);
    }
    println!("fast, round: {:.2} of the bound", worst.0);
}

/// After a tick: xi within 1 unit, the target within 2 units of its own size and 1 unit more.
#[test]
fn a_tick_of_leadlag() {
    let values = Values::defaults(find(CONTROLLERS, "leadlag").unwrap().parameters);
    let mut fixed: LeadLag<Q> = LeadLag::compile(&values, &SENDER).unwrap();
    let mut real: LeadLag<f64> = LeadLag::compile(&values, &SENDER).unwrap();
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(2));
    let (mut xi, mut target) = (Worst::default(), Worst::default());
    for _ in 0..200_000 {
        (fixed.step, fixed.weight, fixed.gain) = (draw.log(1e-4, 0.1), draw.log(1.0, 500.0), draw.log(0.1, 1.0));
        (real.step, real.weight, real.gain) = (fixed.step.value(), fixed.weight.value(), fixed.gain.value());
        (real.least, real.most) = (fixed.least.value(), fixed.most.value());
        let before =
            leadlag::State { window: Q::of(1.0), target: draw.log(1.0, 1e5), xi: Q::of(draw.between(0.0, 12.0)) };
        let (price_s, base_rtt_s) = (draw.log(1e-3, 0.6), draw.log(0.01, 1.0));
        let mut got = before;
        fixed.on(&mut got, cc::Event::Tick, &Path { rtt_s: base_rtt_s, base_rtt_s, price_s, ..Path::unknown() });
        let mut truth = leadlag::State { window: 1.0, target: before.target.value(), xi: before.xi.value() };
        let base_rtt = base_rtt_s.value();
        real.on(
            &mut truth,
            cc::Event::Tick,
            &Path { rtt_s: base_rtt, base_rtt_s: base_rtt, price_s: price_s.value(), ..Path::unknown() },
        );
        xi.see("xi", got.xi, truth.xi, 1.0);
        target.see("target", got.target, truth.target, 2.0 * truth.target + 1.0);
    }
    println!("leadlag, tick: xi {:.2}, target {:.2} of the bounds", xi.0, target.0);
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
        fixed.on(&mut got, event, &Path { rtt_s: Q::of(0.1), base_rtt_s: Q::of(0.1), ..Path::unknown() });
        let mut truth = leadlag::State { window: before.window.value(), target: before.target.value(), xi: 0.0 };
        real.on(&mut truth, event, &Path { rtt_s: 0.1, base_rtt_s: 0.1, ..Path::unknown() });
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
        fixed.on(&mut got, aqm::Event::Tick, &Port { arrived, capacity, ..Port::nothing() });
        let mut truth = price::State { price: before.price.value(), probability: 0.0 };
        let seen = Port { arrived: arrived.value(), capacity: capacity.value(), ..Port::nothing() };
        real.on(&mut truth, aqm::Event::Tick, &seen);
        price.see("price", got.price, truth.price, 1.0);
        probability.see("probability", got.probability, truth.probability, real.ln_phi + 1.0);
    }
    println!("price, tick: price {:.2}, probability {:.2} of the bounds", price.0, probability.0);
}

/// What one operation in `f64` may be off by, for results of that size, in units.
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
        fixed.on(&mut got, event, &Port { capacity, now_s, ..Port::nothing() });
        let seen = Port { capacity: capacity.value(), now_s: now_s.value(), ..Port::nothing() };
        real.on(&mut truth, event, &seen);
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

/// A window after an acknowledgement, by (3). With room for the sum of its two terms, and D = 1 + kp + kappa: both
/// products and the quotient kappa round once, and so, solved for the window, does the last quotient. So it is within
/// (1 + (distance + window) / 2) / D + 1/2 units, where distance is how many packets the buffer's level moved; as printed,
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
        let seen = Path {
            buffer,
            level,
            in_flight: draw.log(1.0, 1e5),
            earlier,
            earlier_s: draw.log(1e-3, 10.0),
            ..Path::unknown()
        };
        let plain = Path {
            buffer: buffer.value(),
            level: level.value(),
            in_flight: seen.in_flight.value(),
            earlier: earlier.value(),
            earlier_s: seen.earlier_s.value(),
            ..Path::unknown()
        };
        let event = if i % 5 == 0 { cc::Event::Cut } else { cc::Event::Ack { packets: 1, marked: 0 } };
        fixed.on(&mut got, event, &seen);
        real.on(&mut truth, event, &plain);
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
