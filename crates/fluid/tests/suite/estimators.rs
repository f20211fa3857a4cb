//! Filters that estimators declare, against the response of the estimators that senders have: a sine goes in, packet by
//! packet, and what comes out is measured.

use crate::scenarios::cc;
use penstock_fluid::source::{Flows, Queue, Signal, Source};
use penstock_fluid::{Clocking, Complex, LoopModel};
use penstock_law::cc::{self, RttAverage};
use penstock_law::estimate::{AverageRtt, History, MarkEstimate, MarkRegister};
use penstock_law::quantity::Bytes;
use penstock_scenario::model::Chosen;

/// A source of one flow with 100 ms, and where it settles.
fn source(law: &Chosen<penstock_law::cc::Controller>, signal: Signal, marks: bool) -> (Source, f64, f64) {
    let mut source = Source::new(&Flows {
        name: "one".into(),
        count: 1,
        base_rtt_s: 0.1,
        cc: law,
        site: cc::Context { packet: Bytes(1000), initial_window: 100.0, initial_ssthresh: 1.0 },
        packets_per_ack: 1,
        queue_marks: marks,
        loss: 0.0,
        clocking: Some(Clocking::Paced),
        queue: Some(Queue { capacity: 2000.0, buffer: 1000.0 }),
    })
    .unwrap();
    let equilibrium = source.equilibrium(signal).unwrap();
    (source, equilibrium.rate, equilibrium.window)
}

/// The output of `estimator` over its input: a sine of `w` [rad/s], sampled every `every` [s], over whole periods
/// after as many to settle, and held in between.
fn measured(w: f64, every: f64, estimator: &mut dyn FnMut(f64, f64) -> f64) -> Complex {
    let period = 2.0 * core::f64::consts::PI / w;
    let periods = libm::ceil(f64::max(20.0, 5.0 / (w * every) / 6.0));
    let (from, to) = (periods * period, 2.0 * periods * period);
    let mut sum = Complex::ZERO;
    let mut now = 0.0;
    while now < to {
        let out = estimator(now, libm::cos(w * now));
        if now >= from {
            let s = Complex::axis(w);
            sum = sum + (-s * now).exp() * (s * every).hold() * (out * every);
        }
        now += every;
    }
    sum * (2.0 / (to - from))
}

/// The average of round trips, of FAST's weight and of TCP's: a corner at the weight times the rate of acknowledgements,
/// right to within the time of one. A sample counts at once, which is one such time before the declaration has it, and
/// holds until the next, which is half of one after.
#[test]
fn the_average_round_trip_answers_as_declared() {
    let signal = Signal { queueing_delay_s: 0.05, probability: 0.0 };
    for law in [cc("fast", &[("alpha", 50.0)]), cc("ccpd", &[]), cc("ccp", &[("rtt_weight", 0.01)])] {
        let by = {
            let site = cc::Context { packet: Bytes(1000), initial_window: 100.0, initial_ssthresh: 1.0 };
            let compiled = (law.law.real)(&law.values, &site).unwrap();
            compiled.requirements().average_rtt.unwrap()
        };
        let (mut source, rate, window) = source(&law, signal, false);
        let equilibrium = source.equilibrium(signal).unwrap();
        let response = source.linearise(&equilibrium, signal).unwrap();
        let RttAverage { over_window, most } = by;
        let corner = rate * f64::min(over_window / window, most);
        for share in [0.03, 0.3, 1.0] {
            let w = share * corner;
            let s = Complex::axis(w);
            let declared =
                response.parts(s, LoopModel::Estimators).of_delay / response.parts(s, LoopModel::Laws).of_delay;
            let mut average = AverageRtt::UNKNOWN;
            let is = measured(w, 1.0 / rate, &mut |_, x| average.take(&by, 0.15 + 0.01 * x, window) * 100.0);
            let off = (is - declared).abs();
            assert!(off < 1.05 * w / rate + 1e-3, "{}: {share} of its corner, {is:?} {declared:?}", law.law.name);
            let late = (is * (-s * (0.5 / rate)).exp() - declared).abs();
            assert!(late < 0.3 * w / rate + 1e-3, "{}: {share} of its corner, {late}", law.law.name);
        }
    }
}

/// The register of the last marks is their mean over the time of so many packets: marks come as the probability says,
/// spread evenly, so that no chance hides the response.
#[test]
fn the_register_of_marks_answers_as_declared() {
    let by = MarkEstimate { packets: 31, phi: 1000.0 };
    let law = cc("leadlag", &[]);
    let signal = Signal { queueing_delay_s: 0.0, probability: 0.3 };
    let (mut source, rate, _) = source(&law, signal, true);
    let equilibrium = source.equilibrium(signal).unwrap();
    let response = source.linearise(&equilibrium, signal).unwrap();
    for packets in [400.0, 100.0, 62.0, 40.0] {
        // A period of so many packets.
        let w = 2.0 * core::f64::consts::PI * rate / packets;
        let s = Complex::axis(w);
        let declared =
            response.parts(s, LoopModel::Estimators).of_probability / response.parts(s, LoopModel::Laws).of_probability;
        let (mut register, mut owed, mut sum, mut n) = (MarkRegister::default(), 0.0, Complex::ZERO, 0.0);
        let mut k = 0.0;
        // A golden-ratio phase for each period, so that the rounding to whole marks falls everywhere alike.
        while k < 1000.0 * packets {
            owed += 0.3 + 0.1 * libm::cos(w * k / rate);
            let marked = u32::from(owed >= 1.0);
            owed -= f64::from(marked);
            let share = f64::from(register.take(by.packets, 1, marked)) / f64::from(by.packets);
            if k >= 40.0 {
                sum = sum + (-s * (k / rate)).exp() * share;
                n += 1.0;
            }
            k += 1.0;
        }
        let is = sum * (2.0 / n / 0.1);
        // The newest mark counts at once, where the declaration has a mean over time: half a packet.
        let expected = declared * (s * (0.5 / rate)).exp();
        assert!((is - expected).abs() < 0.03, "{packets} packets a period: {is:?} {expected:?}");
    }
}

/// The packets committed a round trip ago: a delay of one, to within the time of an acknowledgement.
#[test]
fn the_look_back_answers_as_declared() {
    let (rtt_s, every) = (0.1, 1e-3);
    for w in [1.0, 10.0, 40.0] {
        let mut history = History::new();
        let is = measured(w, every, &mut |now, x| {
            let told = history.earlier(now, rtt_s).map_or(0.0, |(age_s, value)| {
                assert!(now < rtt_s || (rtt_s - 1e-9..rtt_s + 1.01 * every).contains(&age_s), "{now}: {age_s}");
                value
            });
            history.push(now, x);
            told
        });
        let declared = (Complex::axis(-w) * rtt_s).exp();
        assert!((is - declared).abs() < 2.0 * w * every + 1e-3, "{w}: {is:?} {declared:?}");
    }
}
