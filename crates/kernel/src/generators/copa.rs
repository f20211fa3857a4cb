//! Vectors of Copa, and whole connections of it.

use crate::kernel_laws::copa::OPEN;
use crate::kernel_laws::{Call, KernelLaw};
use penstock_law::estimate::RecentMin;
use penstock_law::{Fix, Number};

use super::writer::{Draw, File, measured, padded, product, q};

const ONE: i64 = 1 << 32;
/// Events of a connection, by number.
const ACK: usize = 1;
const ROUND: usize = 2;
const CUT: usize = 3;
const TIMEOUT: usize = 4;

/// Compiled parameters: delta, the windows of the smallest round trip [s] and of the mode [round trips], the share, the mode.
fn params(delta: f64, windows: [f64; 2], nearly_empty: f64, competitive: bool) -> [i64; 5] {
    [q(delta), q(windows[0]), q(windows[1]), q(nearly_empty), i64::from(competitive)]
}

pub(super) fn vectors(kernel_law: &'static KernelLaw) -> String {
    let mut file = File::new(
        kernel_law,
        "Copa of Arun and Balakrishnan, by round trips of several times",
        "delta 1e-4 to 10; min_rtt_window 0.1 to 1e4 s, mode_window 1 to 100, for whole connections only; nearly_empty
         1e-3 to 1; competitive 0 or 1
         window 2 to 1e7 packets, and the largest number; velocity 1 to 1e6; the state's delta 1e-5 to 10
         min_rtt, standing, before, since as times and windows are; slow_start, competes, up, lost 0 or 1; steady 0 to 3
         least, half, low, high 1 us to 100 s, and zero: round trips; now 0 to 1e6 s; average 1 us to 100 s, and zero
         packets 0 to 4294967295; app_limited 0 or 1",
    );
    ends(&mut file);
    let mut draw = Draw::new(12);
    for _ in 0..600 {
        let windows = [draw.log(0.1, 1e4), draw.log(1.0, 100.0)];
        let (delta, competitive) = (draw.log(1e-4, 10.0), draw.lands(0.5));
        file.params(&params(delta, windows, draw.log(1e-3, 1.0), competitive));
        for _ in 0..9 {
            drawn(&mut file, &mut draw);
        }
    }
    for _ in 0..40 {
        flow(&mut file, &mut draw);
    }
    file.text
}

/// The ends of every range.
fn ends(file: &mut File) {
    let most = i64::MAX;
    let windows = [q(2.0), q(2.5), q(100.25), q(1e7), most];
    // The queue is the standing round trip less the smallest: none, a unit, and more.
    let rtts = [[0, 0], [q(1e-6), q(1e-6)], [q(0.04), q(0.04) + 1], [q(0.04), q(0.041)], [q(0.04), q(10.0)]];
    let packets = [0, 1, 2, 44, (1 << 31) - 1, 1 << 31, i64::from(u32::MAX)];
    let mut at = 0;
    for (delta, competitive) in [1e-4, 0.5, 10.0].iter().flat_map(|d| [false, true].map(|c| (*d, c))) {
        file.params(&params(delta, [0.1, 1.0], 0.1, competitive));
        let deltas = [q(1e-5), q(delta)];
        for row in product(&[&windows, &[ONE, q(3.5), q(1e6)], &deltas, &[0, 1], &[0, 1], &[0, 2, 3]]) {
            for [min_rtt, standing] in rtts {
                // Before the end of a round trip, at it, and after it; of these, and of packets, the next each time.
                let now = [0, q(1.0) + q(0.04) - 1, q(1.0) + q(0.04), q(1e6)][at % 4];
                let before = windows[at % 3];
                let flags = [row[3], i64::from(competitive), row[4], row[5], 0];
                let numbers = [row[0], row[1], row[2], min_rtt, standing, q(1.0), before];
                let state: Vec<i64> = numbers.into_iter().chain(flags).collect();
                let average = [0, q(0.04), q(100.0)][at / 4 % 3];
                let limited = i64::from(at % 5 == 0);
                file.vector("ack", &state, &[0, 0, 0, 0, now, average, packets[at % 7], limited]);
                at += 1;
            }
        }
        for row in product(&[&deltas, &[0, 1], &[0, 1]]) {
            let state = [q(100.25), ONE, row[0], q(0.04), q(0.041), 0, 0, 0, row[1], 1, 0, row[2]];
            for event in ["round", "cut", "timeout"] {
                file.vector(event, &state, &[]);
            }
        }
    }
    for (nearly_empty, competitive) in [1e-3, 0.1, 1.0].iter().flat_map(|n| [false, true].map(|c| (*n, c))) {
        file.params(&params(0.5, [1e4, 100.0], nearly_empty, competitive));
        let extremes = [0, q(1e-6), q(0.04), q(100.0)];
        for row in product(&[&extremes, &extremes, &extremes, &extremes, &[0, 1]]) {
            let state = [q(100.25), ONE, q(0.25), 0, 0, 0, 0, 0, row[4], 1, 0, 0];
            file.vector("see", &state, &row[..4]);
        }
    }
}

/// One vector of anything.
fn drawn(file: &mut File, draw: &mut Draw) {
    let flag = |draw: &mut Draw, p| i64::from(draw.lands(p));
    let (window, delta) = (draw.log(2.0, 1e5), draw.log(1e-4, 10.0));
    let min_rtt = draw.log(1e-6, 10.0);
    // About the target as often as elsewhere.
    let queue = if draw.lands(0.5) { min_rtt * draw.log(1e-3, 10.0) } else { min_rtt / (window * delta) };
    let since = draw.log(1e-3, 1e6);
    let numbers = [window, draw.log(1.0, 1e3), delta, min_rtt, min_rtt + queue * draw.between(0.9, 1.1), since];
    let mut state = numbers.map(q).to_vec();
    state.push(q(window * draw.between(0.9, 1.1)));
    let flags = [flag(draw, 0.2), flag(draw, 0.5), flag(draw, 0.5), draw.of(&[0, 1, 2, 3]), flag(draw, 0.3)];
    state.extend(flags);
    match draw.share() {
        0.0..0.1 => file.vector("round", &state, &[]),
        0.1..0.15 => file.vector("cut", &state, &[]),
        0.15..0.2 => file.vector("timeout", &state, &[]),
        0.2..0.4 => {
            let least = draw.log(1e-6, 10.0);
            let low = least * draw.between(1.0, 1.5);
            let seen = [least, least * draw.between(0.9, 2.0), low, low * draw.log(1.0, 10.0)];
            file.vector("see", &state, &seen.map(q))
        }
        _ => {
            let average = draw.log(1e-6, 10.0);
            let now = q(since) + q(average * draw.between(0.0, 2.0));
            let packets = if draw.lands(0.8) { draw.log(1.0, 65.0) } else { draw.log(1.0, 4e9) };
            file.vector("ack", &state, &[0, 0, 0, 0, now, q(average), packets as i64, flag(draw, 0.1)])
        }
    };
}

/// One flow over a line, alone or beside a queue of others.
fn flow(file: &mut File, draw: &mut Draw) {
    let competitive = draw.lands(0.5);
    let delta = draw.of(&[0.5, 0.5, 0.1, 1.0]);
    file.params(&params(delta, [10.0, 5.0], 0.1, competitive));
    let (rate, base) = (draw.log(1e6, 1e9) / 12_000.0, draw.of(&[0.002, 0.02, 0.04, 0.2]));
    let others = if draw.lands(0.3) { base * draw.between(0.1, 1.0) } else { 0.0 };
    let mut state = padded(&[q(10.0), ONE, q(delta), 0, 0, 0, 0, 1, 0, 1, 0, 0]);
    let mut half = RecentMin::<f64, 16>::nothing();
    let mut now_s = draw.between(0.0, 1e5);
    for _ in 0..60 {
        let window = Fix::<32>(state[0]).value();
        let rtt_s = f64::max(window / rate, base) + others;
        let standing = half.take(now_s, rtt_s, rtt_s / 2.0);
        state = file.vector("see", &state, &[base, standing, base + others, base + 2.0 * others].map(measured));
        // An acknowledgement in ten is one of these, which stands for all of them.
        let packets = (window / 10.0).ceil() as i64;
        state = file.vector("ack", &state, &[0, 0, 0, 0, measured(now_s), measured(rtt_s), packets, 0]);
        now_s += rtt_s / 10.0;
        match draw.share() {
            0.0..0.1 => state = file.vector("round", &state, &[]),
            0.1..0.12 => state = file.vector("cut", &state, &[]),
            0.12..0.125 => state = file.vector("timeout", &state, &[]),
            _ => {}
        }
    }
}

/// Forty connections of 1500 steps each: round trips that rise and fall with a queue, in both modes.
pub(super) fn connections() -> Vec<Call> {
    let mut draw = Draw::new(13);
    let mut calls = Vec::new();
    for _ in 0..40 {
        connection(&mut calls, &mut draw);
    }
    calls
}

fn connection(calls: &mut Vec<Call>, draw: &mut Draw) {
    let delta = draw.of(&[0.5, 0.5, 0.04, 1.0]);
    let windows = [draw.of(&[0.1, 1.0, 10.0]), draw.of(&[1.0, 5.0, 20.0])];
    let params = padded(&params(delta, windows, draw.of(&[0.01, 0.1, 0.5]), draw.lands(0.7)));
    let opened = padded(&[q(10.0), ONE, q(delta), 0, 0, 0, 0, 1, 0, 1, 0, 0]);
    calls.push(Call { event: OPEN, params, state: opened, observation: padded(&[]) });
    let base_s = draw.of(&[0.001, 0.01, 0.04, 0.2]);
    let (depth, floor) = (draw.log(1e-3, 1.0), draw.of(&[0.0, 0.0, 0.05, 0.5]));
    let (mut now_s, mut average_s, mut phase) = (draw.between(0.0, 1e5), base_s, 0.0);
    for _ in 1..1500 {
        now_s += base_s * draw.log(1e-3, 0.3);
        phase += draw.between(0.0, 0.1);
        let queue = base_s * depth * (floor + libm::sin(phase) * libm::sin(phase)) * draw.between(0.9, 1.1);
        let event = match draw.share() {
            0.0..0.002 => TIMEOUT,
            0.002..0.02 => CUT,
            0.02..0.1 => ROUND,
            _ => ACK,
        };
        let mut rtt = 0;
        if draw.lands(0.95) {
            let rtt_s = base_s + queue;
            average_s += 0.125 * (rtt_s - average_s);
            rtt = measured(rtt_s);
        }
        let (packets, limited) = (draw.of(&[0, 1, 1, 2, 2, 8, 44]), i64::from(draw.lands(0.05)));
        let observation = padded(&[rtt, 0, 0, 0, measured(now_s), q(average_s), packets, limited]);
        calls.push(Call { event, params, state: padded(&[]), observation });
    }
}
