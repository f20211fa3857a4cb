//! Vectors of the laws of queues.

use crate::kernel_laws::KernelLaw;

use super::writer::{Draw, File, padded, product, q};

pub(super) fn price(kernel_law: &'static KernelLaw) -> String {
    let mut file = File::new(
        kernel_law,
        "price marking of Paganini, Wang, Low and Doyle",
        "target 1e-3 to 1; period 1e-4 to 10 s; ln_phi of phi from 1.001 to 1e9; price 0 to 1e6 s; probability 0 to 1
         arrived 0 to 1e9 packets; capacity 1 to 1e9 packets/s, and zero
         price, arrived and capacity also the largest number",
    );
    let ln = |phi: f64| q(libm::log(phi));
    let (targets, periods) = ([1e-3, 0.95, 1.0].map(q), [1e-4, 0.005, 10.0].map(q));
    for params in product(&[&targets, &periods, &[ln(1.001), ln(1000.0), ln(1e9)]]) {
        file.params(&params);
        let prices = [0, 1, q(0.01), q(1e6), i64::MAX];
        let (arrived, capacity) = ([0, q(1.0), q(1e4), q(1e9), i64::MAX], [0, q(1.0), q(1e6), q(1e9), i64::MAX]);
        for row in product(&[&prices, &arrived, &capacity]) {
            file.vector("tick", &[row[0], 0], &row[1..]);
        }
    }
    let mut draw = Draw::new(3);
    for _ in 0..1100 {
        file.params(&[q(draw.log(1e-3, 1.0)), q(draw.log(1e-4, 10.0)), ln(1.0 + draw.log(1e-3, 1e9))]);
        for _ in 0..8 {
            let state = [if draw.lands(0.1) { 0 } else { q(draw.log(1e-6, 1e3)) }, q(draw.share())];
            let capacity = draw.log(1.0, 1e9);
            let arrived = if draw.lands(0.1) { 0.0 } else { capacity * draw.log(1e-5, 10.0) };
            file.vector("tick", &state, &[q(arrived), q(capacity)]);
        }
    }
    for _ in 0..100 {
        let period = draw.of(&[0.005, 0.005, 0.01, 0.1]);
        let target = draw.of(&[0.95, 0.95, 0.9, 0.98]);
        file.params(&[q(target), q(period), ln(draw.of(&[1000.0, 1000.0, 100.0, 1e6]))]);
        let capacity = draw.log(1e6, 1e11) / (8.0 * draw.of(&[1000.0, 1500.0]));
        let mut state = [0, 0];
        let mut load = target;
        for _ in 0..90 {
            load = (load + draw.between(-0.1, 0.1)).clamp(0.0, 2.0);
            // Arrivals are whole bytes in units of the mean packet.
            let arrived = (load * capacity * period * 1000.0).round() / 1000.0;
            [state[0], state[1], ..] = file.vector("tick", &state, &[q(arrived), q(capacity)]);
        }
    }
    file.text
}

pub(super) fn avq(kernel_law: &'static KernelLaw) -> String {
    let mut file = File::new(
        kernel_law,
        "the adaptive virtual queue of Kunniyur and Srikant",
        "gamma 1e-3 to 1; alpha 0 to 100 per s; buffer 1 to 1e9 packets; mean_packet 40 to 65535 B; by_size 0 or 1
         virtual_capacity 0 to 1e9 packets/s; virtual_queue 0 to 1e9 packets; last, now 0 to 1e9 s; overflowed 0 or 1
         bytes 0 to 4294967295; capacity 0 to 1e9 packets/s",
    );
    let sizes = [0, 1, 40, 1500, 65_535, (1 << 31) - 1, 1 << 31, i64::from(u32::MAX)];
    for params in product(&[&[1e-3, 0.98, 1.0].map(q), &[0.0, 0.15, 100.0].map(q), &[1.0, 100.0, 1e9].map(q)]) {
        for (mean_packet, by_size) in [(q(40.0), 1), (q(1500.0), 1), (q(65_535.0), 0)] {
            file.params(&[params[0], params[1], params[2], mean_packet, by_size]);
            let states = [[0, 0], [q(1.0), q(0.5)], [q(66_666.5), q(99.5)], [q(1e9), q(1e9)]];
            let spans = [[0, 0], [q(10.0), q(10.0)], [q(10.0), q(10.0) + 1], [q(7.0), q(7.000_012)], [0, q(1e9)]];
            for (at, ((state, span), capacity)) in states
                .iter()
                .flat_map(|s| spans.iter().map(move |t| (s, t)))
                .zip([0, q(1.0), q(83_333.25), q(1e9)].iter().cycle())
                .enumerate()
            {
                for (of, bytes) in [sizes[at % 8], 1500, 64].into_iter().enumerate() {
                    let overflowed = i64::from((at + of) % 2 == 1);
                    file.vector("arrival", &[state[0], state[1], span[0], overflowed], &[bytes, *capacity, span[1]]);
                }
            }
        }
    }
    let mut draw = Draw::new(4);
    for _ in 0..1100 {
        let (gamma, alpha) = (q(draw.log(1e-3, 1.0)), q(draw.log(1e-6, 100.0)));
        let buffer = draw.log(1.0, 1e6);
        let mean_packet = draw.log(40.0, 9000.0);
        file.params(&[gamma, alpha, q(buffer), q(mean_packet), i64::from(draw.lands(0.8))]);
        for _ in 0..8 {
            let capacity = draw.log(1.0, 1e9);
            let state = [capacity * draw.between(0.0, 1.0), buffer * draw.between(0.0, 1.0)].map(q);
            let last = draw.between(0.0, 1e6);
            let now = last + draw.log(1e-9, 1e6) / capacity;
            let bytes = draw.log(1.0, 65_536.0) as i64;
            let overflowed = i64::from(draw.lands(0.5));
            file.vector("arrival", &[state[0], state[1], q(last), overflowed], &[bytes, q(capacity), q(now)]);
        }
    }
    // A source whose rate wanders about the line's, in packets of two sizes.
    for _ in 0..100 {
        let mean_packet = draw.of(&[1000.0, 1500.0]);
        let capacity = draw.log(1e6, 1e11) / (8.0 * mean_packet);
        let buffer = draw.of(&[10.0, 100.0, 1000.0]);
        let alpha = draw.of(&[0.15, 0.15, 1.0]);
        file.params(&[q(draw.of(&[0.98, 0.98, 0.9])), q(alpha), q(buffer), q(mean_packet), 1]);
        let mut state = padded(&[q(0.8 * capacity), 0, 0, 0]);
        let (mut load, mut now) = (1.0, 0.0);
        for _ in 0..70 {
            load = (load + draw.between(-0.1, 0.1)).clamp(0.5, 2.0);
            now += -libm::log(1.0 - draw.share()) / (load * capacity);
            let bytes = if draw.lands(0.2) { 64 } else { mean_packet as i64 };
            // A clock of nanoseconds.
            let now_q32 = q((now * 1e9).round() / 1e9);
            state = file.vector("arrival", &state, &[bytes, q(capacity), now_q32]);
        }
    }
    file.text
}
