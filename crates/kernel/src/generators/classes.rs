//! Vectors of the laws that treat classes of traffic apart.

use crate::kernel_laws::KernelLaw;
use penstock_law::{Fix, Number};

use super::writer::{Draw, File, padded, product, q};

const NO_FLOOR: i64 = -(1 << 32);
const NO_CEILING: i64 = i64::MAX;
const BAT: &str = "interval 1e-6 to 1 s; coarse, increase 1e-9 to 1; low, high 0 to 1e7 packets; gain 1e-6 to 1; rate 1 to 1e8 packets/s
     floor 0 to 1e8 packets/s, or -1 for none; ceiling 0 to 1e8 packets/s, or the largest number for none
     decrease 1e-9 to 1e6; transmit, excess 0 to 1; queue, queue_before 0 to 1e7 packets
     arrived 0 to 1e8 packets; offered is written and never read";

pub(super) fn bat(kernel_law: &'static KernelLaw) -> String {
    let mut file = File::new(kernel_law, "BAT of Pletka, Kind, Waldvogel and Mannel", BAT);
    let contracts = [[NO_FLOOR, NO_CEILING], [q(1000.0), NO_CEILING], [0, q(5000.0)], [q(1e8), q(1e8)]];
    for row in product(&[&[1e-6, 0.004, 1.0].map(q), &[1e-9, 0.0625, 1.0].map(q), &[q(1e-9), q(0.03125), q(1e6)]]) {
        for (at, [floor, ceiling]) in contracts.into_iter().enumerate() {
            let gain = [1e-6, 0.125, 1.0][at % 3];
            let rate = [8333.25, 1.0, 1e8][at % 3];
            let [low, high] = [[20.0, 100.0], [0.0, 0.0], [0.0, 1e7], [1e7, 1e7]][at].map(q);
            file.params(&[row[0], row[1], low, high, q(gain), q(rate), floor, ceiling, row[1], row[2]]);
            let transmits = [0, 1, q(0.5), q(1.0)];
            let queues = [[0, 0], [q(50.0), q(60.0)], [q(60.0), q(50.0)], [q(1e7), 0]];
            for (at, state) in product(&[&transmits, &[0, q(0.3), q(1.0)]]).iter().enumerate() {
                for (of, arrived) in [0, 1, q(16.0), q(33.5), q(1e8)].into_iter().enumerate() {
                    let [queue, before] = queues[(at + of) % 4];
                    file.vector("tick", &[state[0], 0, state[1], before], &[queue, arrived]);
                }
            }
        }
    }
    let mut draw = Draw::new(7);
    for _ in 0..1000 {
        let rate = draw.log(1.0, 1e8);
        let interval = draw.log(1e-6, 1.0);
        let (low, high) = (draw.log(1e-3, 1e4), draw.log(1.0, 1e4));
        let floor = if draw.lands(0.5) { NO_FLOOR } else { q(rate * draw.share()) };
        let ceiling = if draw.lands(0.5) { NO_CEILING } else { q(rate * draw.share()) };
        let [coarse, increase, decrease] = [draw.log(1e-9, 1.0), draw.log(1e-9, 1.0), draw.log(1e-9, 10.0)].map(q);
        let gain = q(draw.log(1e-6, 1.0));
        file.params(&[q(interval), coarse, q(low), q(low + high), gain, q(rate), floor, ceiling, increase, decrease]);
        for _ in 0..8 {
            let queue = draw.log(0.1, 2e4);
            let before = queue * draw.log(0.5, 2.0);
            let state = [draw.share(), rate * draw.share(), draw.share(), before].map(q);
            let arrived = rate * interval * draw.log(1e-3, 10.0);
            file.vector("tick", &state, &[q(queue), q(arrived)]);
        }
    }
    // A class of the paper's line that offers more than its share, before a queue of 24 ms.
    for _ in 0..100 {
        let rate = 1e8 / (8.0 * draw.of(&[1000.0, 1500.0]));
        let contract = draw.of(&contracts[..3]);
        let constants = [0.004, 0.0625, 0.0024 * rate, 0.012 * rate, 0.125, rate].map(q);
        file.params(&[&constants[..], &contract, &[0.0625, 0.03125].map(q)].concat());
        let mut state = padded(&[q(1.0), 0, 0, 0]);
        let (mut load, mut queue) = (draw.log(0.1, 2.5), 0.0);
        for _ in 0..60 {
            load = (load * draw.log(0.8, 1.25)).clamp(0.05, 3.0);
            let arrived = (load * rate * 0.004 + draw.share()).floor();
            queue = (queue + (Fix::<32>(state[0]).value() * arrived).floor() - rate * 0.004).clamp(0.0, 0.024 * rate);
            state = file.vector("tick", &state, &[q(queue), q(arrived)]);
        }
    }
    file.text
}

pub(super) fn clcc(kernel_law: &'static KernelLaw) -> String {
    let ranges = format!(
        "{BAT}
         beta_near, beta_between, beta_far -0.999 to 0; edge_near, edge_far 0 to 1e3; b1, b2 -10 to 10; period 1e-3 to 1e3 s
         left 0 to 1; least_others 0.02 to 1e3 packets/s; share 1e-3 to 0.999, reference share / (1 - share)
         most_ratio 100 times reference; least 1e-21 to 1; bound 0 or 1; preemption 0 (hold), 1 (decay) or 2 (none)
         steered 0 or 1; intervals 1 to 4294967295; the decrease also 1e-12 to the largest number; ratio 0 to 1e5
         error, error_before -100 to 1; sums 0 to 1e8 packets; since 0 to intervals - 1; capacity 0 to 1e8 packets/s"
    );
    let mut file = File::new(kernel_law, "CLCC of Pletka, Kind, Waldvogel and Mannel, around BAT", &ranges);
    let line = |rate: f64, floor: i64| {
        let constants = [0.004, 0.0625, 0.0024 * rate, 0.012 * rate, 0.125, rate].map(q);
        [&constants[..], &[floor, NO_CEILING], &[0.0625, 0.03125].map(q)].concat()
    };
    let held = |share: f64, least: f64| {
        let reference = share / (1.0 - share);
        [share, reference, 100.0 * reference, least].map(q)
    };
    let gains = [-0.1, -0.25, -0.5, 0.1, 0.5];
    let extremes = [[-0.999, -0.999, -0.999, 0.0, 0.0, 10.0, -10.0], [0.0, 0.0, 0.0, 1e3, 1e3, -10.0, 10.0]];
    let usual = [gains[0], gains[1], gains[2], gains[3], gains[4], 0.0, 0.0];
    let mut draw = Draw::new(8);
    // Every combination of gains, share and rules, at the last interval of a period.
    for row in product(&[&[0, 1, 2], &[0, 1], &[0, 1, 2], &[0, 1, 2]]) {
        let gains = [extremes[0], usual, extremes[1]][row[0] as usize].map(q);
        let share = [1e-3, 0.3, 0.999][row[3] as usize];
        let rate = 8333.25;
        let least_others = 1e4 / 12_000.0;
        let timing = [1.0, 0.9, least_others].map(q);
        for (steered, intervals) in [(1, 250), (0, 250), (1, 1)] {
            let rules = [row[1], row[2], steered, intervals];
            let floor = if row[0] == 1 { NO_FLOOR } else { q(1000.0) };
            file.params(&[&line(rate, floor)[..], &gains, &timing, &held(share, 3e-5), &rules].concat());
            let decreases = [q(1e-12), q(0.03125), q(1e6), i64::MAX];
            for (at, decrease) in decreases.into_iter().enumerate() {
                // Packets of a period: of the class, of all; served to the class, to all.
                let periods = [
                    [0.0, 0.0, 0.0, 0.0],
                    [2500.0, 9000.0, 0.0, 8333.0],
                    [2499.975, 9000.0, 2499.0, 8330.0],
                    [7500.0, 14_000.0, 4000.0, 8333.0],
                    [1e8, 1e8, 1e8, 1e8],
                ];
                for sums in periods.map(|sums| sums.map(q)) {
                    let [own, all, served, all_served] = sums;
                    let errors = draw.of(&[[0, 0], [q(1.0), q(-100.0)], [q(-0.1), q(0.5)]]);
                    let since = if at == 3 { draw.of(&[0, intervals / 2]) } else { intervals - 1 };
                    let state = [
                        q(0.5),
                        0,
                        q(0.3),
                        q(60.0),
                        decrease,
                        q(0.4),
                        errors[0],
                        errors[1],
                        own,
                        all,
                        served,
                        all_served,
                        since,
                    ];
                    let observation = [50.0, 16.0, draw.of(&[0.0, rate, 1e8]), 8.0, 40.0, 33.0].map(q);
                    file.vector("tick", &state, &observation);
                }
            }
        }
    }
    for _ in 0..1000 {
        let rate = draw.log(1.0, 1e6);
        let [near, far] = [draw.log(1e-3, 0.5), draw.log(1e-3, 1.0)];
        let gains = [-draw.share(), -draw.share(), -draw.share(), near, near + far];
        let weights = if draw.lands(0.5) { [0.0; 2] } else { [draw.between(-1.0, 1.0), draw.between(-1.0, 1.0)] };
        let (period, share) = (draw.log(0.01, 100.0), draw.between(0.01, 0.99));
        let timing = [period, draw.share(), rate * 1e-3].map(q);
        let rules = [i64::from(draw.lands(0.7)), draw.of(&[0, 1, 2]), i64::from(draw.lands(0.95)), 10];
        let floor = if draw.lands(0.7) { NO_FLOOR } else { q(rate * share * draw.share()) };
        let held = held(share, draw.log(1e-6, 1e-2));
        file.params(&[&line(rate, floor)[..], &gains.map(q), &weights.map(q), &timing, &held, &rules].concat());
        for _ in 0..6 {
            let all_served = rate * period * draw.log(0.1, 1.0);
            let served = all_served * draw.share();
            let own = served * draw.log(1.0, 10.0);
            let all = own + (all_served - served) * draw.log(1.0, 10.0);
            let tenth = [50.0, own / 10.0, rate, served / 10.0, all / 10.0, all_served / 10.0].map(q);
            let inner = [draw.share(), 0.0, draw.share(), 60.0].map(q);
            let outer =
                [draw.log(1e-4, 1.0), draw.log(1e-2, 10.0), draw.between(-3.0, 1.0), draw.between(-3.0, 1.0)].map(q);
            let sums = [own, all, served, all_served].map(|x| q(0.9 * x));
            let since = if draw.lands(0.8) { 9 } else { 4 };
            file.vector("tick", &[&inner[..], &outer, &sums, &[since]].concat(), &tenth);
        }
    }
    // The paper's class before a line of 100 Mbit/s, in periods of ten intervals.
    for _ in 0..100 {
        let rate = 1e8 / 12_000.0;
        let share = draw.of(&[0.3, 0.3, 0.2, 0.6]);
        let timing = [0.04, 0.9, 1e4 / 12_000.0].map(q);
        let rules = [1, draw.of(&[0, 1, 2]), 1, 10];
        file.params(&[&line(rate, NO_FLOOR)[..], &usual.map(q), &timing, &held(share, 3.125e-5), &rules].concat());
        let mut state = padded(&[q(1.0), 0, 0, 0, q(0.03125)]);
        let (mut load, mut queue) = (draw.log(0.1, 2.5), 0.0);
        for _ in 0..110 {
            load = (load * draw.log(0.9, 1.1)).clamp(0.05, 3.0);
            let arrived = (load * rate * 0.004 + draw.share()).floor();
            let others = (0.8 * rate * 0.004 + draw.share()).floor();
            let let_in = (Fix::<32>(state[0]).value() * arrived).floor();
            let served = f64::min(rate * 0.004, queue + let_in + others).floor();
            queue = (queue + let_in + others - served).clamp(0.0, 0.024 * rate);
            let departed = (served * let_in / (let_in + others)).floor();
            state = file.vector("tick", &state, &[queue, arrived, rate, departed, arrived + others, served].map(q));
        }
    }
    file.text
}
