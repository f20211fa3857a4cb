//! Vectors of Prague.

use crate::kernel_laws::KernelLaw;
use penstock_law::{Fix, Number};

use super::writer::{Draw, File, measured, padded, product, q};

const ONE: i64 = 1 << 32;

/// Compiled parameters: g, the virtual round trip [s], round trips until it holds, what a round trip begins with.
fn params(g: f64, virtual_rtt: f64, transition: f64, of_reductions: bool) -> [i64; 5] {
    [q(g), q(virtual_rtt), q(transition), q(2.0), i64::from(of_reductions)]
}

pub(super) fn vectors(kernel_law: &'static KernelLaw) -> String {
    let mut file = File::new(
        kernel_law,
        "TCP Prague, without the fallback for classic queues",
        "g 1e-6 to 1; virtual_rtt 1e-6 to 0.1 s; transition 0 to 1e9 round trips; least_window 2 packets; of_reductions 0 or 1
         window 1 to 1e7 packets, ssthresh 2 to 1e9, and the largest number; alpha 0 to 1; smoothed_rtt 1 us to 10 s, and zero
         acked, marked 0 to 1e7 packets; rounds 0 to 1e9; since 0 to 1e6 s, reduced_at too, and the least number
         met, reduced 0 or 1; now 0 to 1e6 s; rtt 1 us to 10 s, and zero; packets, marked 0 to 4294967295",
    );
    ends(&mut file);
    let mut draw = Draw::new(14);
    for _ in 0..960 {
        let transition = if draw.lands(0.5) { 0.0 } else { draw.log(1.0, 1e4).round() };
        file.params(&params(draw.log(1e-6, 1.0), draw.log(1e-6, 0.1), transition, draw.lands(0.5)));
        for _ in 0..9 {
            drawn(&mut file, &mut draw);
        }
    }
    for _ in 0..60 {
        flow(&mut file, &mut draw);
    }
    file.text
}

/// The ends of every range.
fn ends(file: &mut File) {
    let most = i64::MAX;
    let windows = [q(1.0), q(2.0), q(2.5), q(100.25), q(1e7), most];
    let packets = [0, 1, 2, 44, (1 << 31) - 1, 1 << 31, i64::from(u32::MAX)];
    let rtts = [0, q(1e-6), q(0.005), q(0.025), q(0.1), q(0.1) + 1, q(10.0)];
    let mut at = 0;
    for (g, virtual_rtt) in [1e-6, 0.0625, 1.0].iter().flat_map(|g| [1e-6, 0.025, 0.1].map(|v| (*g, v))) {
        for (transition, of_reductions) in [(0.0, false), (500.0, true), (1e9, false)] {
            file.params(&params(g, virtual_rtt, transition, of_reductions));
            for row in product(&[&windows, &[q(2.0), q(100.0), most], &[0, q(0.5), ONE], &[0, 1], &[0, 1]]) {
                // The next of each, every time, so that all pairs are seen.
                let smoothed = rtts[at % 7];
                let rounds = [0, q(499.0), q(500.0), q(1e9)][at % 4];
                let (acked, marked) = [(0, 0), (ONE, ONE), (q(100.0), q(3.0)), (q(1e7), 0)][at / 4 % 4];
                let since = q(1.0);
                let reduced_at = [i64::MIN, 0, q(1.0), q(1e6)][at / 7 % 4];
                let state =
                    [row[0], row[1], row[2], smoothed, acked, marked, rounds, since, reduced_at, row[3], row[4]];
                // Before the end of a round trip, at it, and after it.
                let now = [0, since + smoothed - 1, since + smoothed, q(1e6)][at / 3 % 4];
                let all = packets[at % 7];
                let hit = [0, all, all / 2, 1][at % 4];
                file.vector("ack", &state, &[now, rtts[at / 2 % 7], all, hit]);
                at += 1;
            }
        }
    }
    for row in product(&[&windows, &[q(2.0), most], &[0, ONE]]) {
        let state = [row[0], row[1], row[2], q(0.04), q(10.0), ONE, 0, 0, 0, 1, 0];
        file.vector("cut", &state, &[]);
        file.vector("timeout", &state, &[]);
    }
}

/// One vector of anything.
fn drawn(file: &mut File, draw: &mut Draw) {
    let window = draw.log(1.0, 1e5);
    let ssthresh = if draw.lands(0.7) { window * draw.between(0.1, 1.0) } else { window * draw.log(1.0, 1e4) };
    let smoothed = if draw.lands(0.05) { 0.0 } else { draw.log(1e-5, 1.0) };
    let acked = draw.log(1.0, 1e5).floor();
    let marked = (acked * draw.share() * draw.share()).floor();
    let since = draw.between(0.0, 1e4);
    let rounds = if draw.lands(0.5) { draw.log(1.0, 1e4).floor() } else { 0.0 };
    let numbers = [window, ssthresh, draw.log(1e-6, 1.0), smoothed, acked, marked, rounds, since];
    let reduced_at = since + smoothed * draw.between(-2.0, 1.0);
    let flags = [draw.lands(0.8), draw.lands(0.5)].map(i64::from);
    let state: Vec<i64> = numbers.into_iter().chain([reduced_at]).map(q).chain(flags).collect();
    match draw.share() {
        0.0..0.05 => file.vector("cut", &state, &[]),
        0.05..0.1 => file.vector("timeout", &state, &[]),
        _ => {
            let now = since + f64::max(smoothed, 0.01) * draw.between(0.0, 3.0);
            let packets = draw.log(1.0, 65.0) as i64;
            let hit = if draw.lands(0.5) { 0 } else { (packets as f64 * draw.share()).ceil() as i64 };
            let rtt = if draw.lands(0.05) { 0.0 } else { f64::max(smoothed, 1e-5) * draw.between(0.8, 1.5) };
            file.vector("ack", &state, &[q(now), q(rtt), packets, hit])
        }
    };
}

/// One flow over a queue that marks by a ramp of half a millisecond.
fn flow(file: &mut File, draw: &mut Draw) {
    file.params(&params(0.0625, 0.025, draw.of(&[0.0, 20.0, 500.0]), draw.lands(0.3)));
    let (rate, base) = (draw.log(1e7, 1e9) / 12_000.0, draw.of(&[0.001, 0.005, 0.02, 0.05]));
    let mut now_s = draw.between(0.0, 1e5);
    let opened = [q(10.0), i64::MAX, ONE, 0, 0, 0, 0, measured(now_s), i64::MIN, 0, 0];
    let mut state = padded(&opened);
    for _ in 0..100 {
        let window = Fix::<32>(state[0]).value();
        let queue_s = f64::max(window / rate - base, 0.0);
        let packets = draw.of(&[1, 1, 2, 2, 8, 44]);
        let hit = (0..packets).filter(|_| draw.lands(queue_s / 0.5e-3)).count() as i64;
        state = match draw.share() {
            0.0..0.003 => file.vector("timeout", &state, &[]),
            0.003..0.01 => file.vector("cut", &state, &[]),
            _ => file.vector("ack", &state, &[measured(now_s), measured(base + queue_s), packets, hit]),
        };
        now_s += (base + queue_s) * packets as f64 / f64::max(window, packets as f64);
    }
}
