//! Vectors of the laws of senders.

use crate::kernel_laws::KernelLaw;
use penstock_law::estimate::{MarkEstimate, PriceTable};
use penstock_law::{Fix, Number};

use super::writer::{Draw, File, measured, padded, product, q};

pub(super) fn fast(kernel_law: &'static KernelLaw) -> String {
    let mut file = File::new(
        kernel_law,
        "FAST TCP's window control",
        "alpha 0 to 1e6 packets; gamma 1e-6 to 1; keep 1 - gamma; step gamma alpha
         surge 0, where the start does not multiply, to 1; qdelay 1 us to 10 s
         window 2 to 1e7 packets and the largest number; before, fits, known 0 to 1e7 packets and the largest number
         base_rtt, rtt 1 us to 100 s, and zero",
    );
    let most = i64::MAX;
    let windows = [q(2.0), q(2.5), q(100.25), q(1e6), q(1e7), most];
    for (alpha, gamma) in [0.0, 100.0, 1e6].iter().flat_map(|a| [1e-6, 0.5, 1.0].map(|g| (*a, g))) {
        file.params(&fast_params(alpha, gamma, None));
        let rtts = [0, q(1e-6), q(0.1), q(100.0)];
        for row in product(&[&windows, &rtts, &rtts]) {
            file.vector("round", &row[..1], &row[1..]);
        }
    }
    for window in windows.into_iter().chain([1, 3, q(4.0) - 1, q(4.0), q(4.0) + 1]) {
        file.vector("cut", &[window], &[]);
        file.vector("timeout", &[window], &[]);
    }
    let mut draw = Draw::new(1);
    for _ in 0..1300 {
        let gamma = draw.log(1e-6, 1.0);
        file.params(&fast_params(draw.log(1e-3, 1e6), gamma, None));
        for _ in 0..8 {
            let window = [q(draw.log(2.0, 1e7))];
            let base = draw.log(1e-6, 10.0);
            let rtt = base * draw.log(1.0, 10.0);
            match draw.share() {
                0.0..0.1 => file.vector("cut", &window, &[]),
                _ => file.vector("round", &window, &[q(base), q(rtt)]),
            };
        }
    }
    for _ in 0..100 {
        let gamma = draw.of(&[0.5, 0.5, 0.25, 1.0]);
        file.params(&fast_params(draw.of(&[10.0, 50.0, 100.0, 200.0]), gamma, None));
        let rate = draw.log(1e6, 1e10) / 12_000.0;
        let base = draw.of(&[0.001, 0.01, 0.04, 0.1, 0.18, 0.25]);
        let mut window = q(2.0);
        for _ in 0..90 {
            let rtt = f64::max(base, Fix::<32>(window).value() / rate) * draw.between(1.0, 1.05);
            let event = if draw.lands(0.02) { "cut" } else { "round" };
            let observation = if event == "cut" { [0, 0] } else { [measured(base), measured(rtt)] };
            [window, ..] = file.vector(event, &[window], &observation);
        }
    }
    fast_start(&mut file);
    file.text
}

/// Compiled parameters of FAST; `start` is how much a round adds on an empty path, over the window, and the delay from which
/// on it does not [s].
fn fast_params(alpha: f64, gamma: f64, start: Option<[f64; 2]>) -> [i64; 6] {
    let [step, surge, qdelay] = start.map_or([0.0; 3], |[surge, qdelay]| [gamma * alpha, surge, qdelay]);
    [alpha, gamma, 1.0 - gamma, step, surge, qdelay].map(q)
}

/// The start that multiplies: the ends of its ranges, draws about its threshold and about the window it knows, and runs
/// into buffers deep and shallow.
fn fast_start(file: &mut File) {
    let most = i64::MAX;
    let ends = [q(2.0), q(100.25), q(1e7), most];
    for (surge, qdelay) in [1e-6, 0.25, 1.0].iter().flat_map(|s| [1e-6, 500e-6, 10.0].map(|d| (*s, d))) {
        for (alpha, gamma) in [(0.0, 0.5), (100.0, 1e-6), (1e6, 1.0)] {
            file.params(&fast_params(alpha, gamma, Some([surge, qdelay])));
            // Below, at and above the threshold, by one unit; no delay, and less than none.
            let rtts = [0, q(0.1) - 1, q(0.1), q(0.1) + q(qdelay) / 2, q(0.1) + q(qdelay) - 1, q(0.1) + q(qdelay)];
            let knowns = [0, q(100.25) - 1, q(100.25), q(1e6), most];
            for row in product(&[&ends, &knowns, &rtts]) {
                file.vector("round", &[row[0], q(57.5), q(60.0), row[1]], &[q(0.1), row[2]]);
            }
        }
        for before in [0, q(2.0), q(1e7), most] {
            for rtts in [[0, 0], [q(0.1), 0], [q(0.1), q(0.1)], [q(0.1), q(0.25)], [q(100.0), q(1e-6)]] {
                file.vector("round", &[q(2.0), before, 0, 0], &rtts);
            }
        }
    }
    for row in product(&[&[1, q(2.0), q(4.0) + 1, q(1e7), most], &[0, q(57.5), most], &[0, q(60.0), most]]) {
        for known in [0, q(1e6)] {
            file.vector("cut", &[row[0], row[1], row[2], known], &[]);
            file.vector("timeout", &[row[0], row[1], row[2], known], &[]);
        }
    }
    let mut draw = Draw::new(11);
    for _ in 0..600 {
        let (alpha, gamma) = (draw.log(1e-3, 1e6), draw.log(1e-6, 1.0));
        let qdelay = draw.log(1e-6, 10.0);
        file.params(&fast_params(alpha, gamma, Some([draw.log(1e-3, 1.0), qdelay])));
        for _ in 0..8 {
            let window = draw.log(2.0, 1e7);
            let known = match draw.share() {
                0.0..0.3 => 0.0,
                0.3..0.8 => window * draw.between(0.5, 2.0),
                _ => draw.log(2.0, 1e7),
            };
            let state = [window, window * draw.between(0.5, 1.0), draw.log(2.0, 1e7), known].map(q);
            let base = draw.log(1e-6, 10.0);
            // Half of them below the threshold.
            let rtt = base + qdelay * draw.between(0.0, 2.0);
            match draw.share() {
                0.0..0.1 => file.vector("cut", &state, &[]),
                _ => file.vector("round", &state, &[q(base), q(rtt)]),
            };
        }
    }
    for _ in 0..100 {
        let (alpha, growth) = (draw.of(&[10.0, 50.0, 100.0, 200.0]), draw.of(&[1.05, 1.1, 1.25, 1.5, 2.0]));
        let (rate, base) = (draw.log(1e7, 1e10) / 12_000.0, draw.of(&[0.01, 0.04, 0.1, 0.18, 0.25]));
        let qdelay = draw.of(&[0.9, 0.5, 0.1]) * alpha / rate;
        file.params(&fast_params(alpha, draw.of(&[0.5, 0.5, 0.25]), Some([growth - 1.0, qdelay])));
        let buffer = draw.of(&[2.0, 2.0, 10.0, 1e6]) * alpha;
        let mut state = padded(&[q(10.0), 0, 0, 0]);
        for _ in 0..60 {
            let window = Fix::<32>(state[0]).value();
            let queue = window - rate * base;
            state = if queue > buffer || draw.lands(0.01) {
                file.vector("cut", &state, &[])
            } else if draw.lands(0.002) {
                file.vector("timeout", &state, &[])
            } else {
                let rtt = base + queue.max(0.0) / rate + 10e-6 * draw.share();
                file.vector("round", &state, &[measured(base), measured(rtt)])
            };
        }
    }
}

pub(super) fn leadlag(kernel_law: &'static KernelLaw) -> String {
    let mut file = File::new(
        kernel_law,
        "the lead-lag ECN protocol of Paganini, Wang, Low and Doyle",
        "step 0 to 16; weight 1e-6 to 1e6 packets; gain 1e-6 to 1.57; cap 1e-3 to 1e6 packets
         scale 1e-3 to 1e3 packets; least 1e-6, most 1e7 packets; ln2 0.693
         window 1 to 1e7 packets, and the largest number; target 1e-6 to 1e7 packets; xi -25 to 22, and the least number
         price 0 to 10 s; base_rtt, rtt 1 us to 10 s, and zero; packets 0 to 4294967295
         tick is by marks in the exponential form, tick_delay by delay; the linearised forms likewise",
    );
    let fixed = [q(1e-6), q(1e7), q(core::f64::consts::LN_2)];
    let params = |step: f64, weight: f64, gain: f64, cap: f64, scale: f64| {
        let free = [step, weight, gain, cap, scale].map(q);
        free.into_iter().chain(fixed).collect::<Vec<_>>()
    };
    let targets = [q(1e-6), q(1.0), q(1e7)];
    for (step, weight) in [0.0, 0.37 * 0.64 * 0.01, 16.0].iter().flat_map(|s| [1e-6, 50.0, 1e6].map(|w| (*s, w))) {
        for gain in [1e-6, 0.37, 1.57] {
            file.params(&params(step, weight, gain, 1.0, 1.0));
            let (xis, prices) = ([q(-25.0), 0, q(22.0)], [0, q(0.005), q(10.0)]);
            for row in product(&[&targets, &xis, &prices, &[0, q(1e-6), q(0.1), q(10.0)]]) {
                file.vector("tick", &[q(100.25), row[0], row[1]], &row[2..]);
            }
            // Of one packet and less too, where the linearised form has its floor.
            let rtts = [[0, 0], [q(1e-6), q(1e-6)], [q(0.1), q(10.0)], [q(10.0), q(1e-6)], [q(0.1), q(0.1) - 1]];
            for (row, [base_rtt, rtt]) in product(&[&targets, &xis]).iter().flat_map(|row| rtts.map(|r| (row, r))) {
                let state = [q(100.25), row[0], row[1]];
                file.vector("tick_delay", &state, &[0, base_rtt, 0, rtt]);
                file.vector("tick_linearised_delay", &state, &[0, base_rtt, 0, rtt]);
                file.vector("tick_linearised", &state, &[rtt, base_rtt]);
            }
        }
    }
    let windows = [q(1.0), q(1.0) + 1, q(100.25), q(1e7), i64::MAX];
    for cap in [1e-3, 1.0, 1e6] {
        file.params(&params(0.002_368, 50.0, 0.37, cap, 1.0));
        let counts = [0, 1, 2, 44, 65_536, (1 << 31) - 1, 1 << 31, i64::from(u32::MAX)];
        for row in product(&[&windows, &targets, &counts]) {
            file.vector("ack", &[row[0], row[1], q(4.6)], &[0, 0, row[2]]);
        }
    }
    for row in product(&[&windows, &targets, &[i64::MIN, q(-25.0), 0, q(22.0)]]) {
        file.vector("cut", &row, &[]);
        file.vector("timeout", &row, &[]);
    }
    let mut draw = Draw::new(2);
    for _ in 0..1100 {
        let (step, weight) = (draw.log(1e-9, 16.0), draw.log(1e-6, 1e6));
        let (gain, cap) = (draw.log(1e-6, 1.57), draw.log(1e-3, 1e6));
        let scale = if draw.lands(0.5) { 1.0 } else { draw.log(1e-3, 1e3) };
        file.params(&params(step, weight, gain, cap, scale));
        for _ in 0..8 {
            let state = [q(draw.log(1.0, 1e7)), q(draw.log(1e-6, 1e7)), q(draw.between(-25.0, 22.0))];
            match draw.share() {
                0.0..0.3 => {
                    let packets = if draw.lands(0.5) { draw.log(1.0, 65.0) } else { draw.log(1.0, 4e9) };
                    file.vector("ack", &state, &[0, 0, packets as i64])
                }
                0.3..0.4 => file.vector("cut", &state, &[]),
                0.4..0.7 => {
                    let base = draw.log(1e-6, 10.0);
                    let rtt = base * draw.log(1.0, 10.0);
                    // Near ln target, as the linearised form leaves it.
                    let xi = libm::log(Fix::<32>(state[1]).value()) + draw.between(-0.5, 0.5);
                    let near = [state[0], state[1], q(xi)];
                    match draw.of(&[0, 1, 2]) {
                        0 => file.vector("tick_delay", &state, &[0, q(base), 0, q(rtt)]),
                        1 => file.vector("tick_linearised", &near, &[q(base * draw.share()), q(base)]),
                        _ => file.vector("tick_linearised_delay", &near, &[0, q(base), 0, q(rtt)]),
                    }
                }
                _ => {
                    let price = if draw.lands(0.1) { 0.0 } else { draw.log(1e-6, 10.0) };
                    file.vector("tick", &state, &[q(price), q(draw.log(1e-6, 10.0))])
                }
            };
        }
    }
    for _ in 0..100 {
        let phi = draw.of(&[1000.0, 1000.0, 100.0, 1e6]);
        let table = PriceTable::<Fix<32>>::new(MarkEstimate { packets: 31, phi });
        let (alpha, bottlenecks) = (draw.of(&[0.37, 0.37, 0.2, 0.78]), draw.of(&[1.0, 1.0, 2.0]));
        let (taubar, period) = (draw.of(&[1.0, 1.0, 0.2]), draw.of(&[0.01, 0.01, 0.005]));
        let beta = alpha * 0.64 / (bottlenecks * taubar);
        let weight = draw.of(&[50.0, 50.0, 10.0, 200.0]);
        file.params(&params(beta * period, weight, alpha / bottlenecks, draw.of(&[1.0, 1.0, 2.0]), 1.0));
        let base = measured(draw.of(&[0.002, 0.04, 0.08, 0.12, 0.2]));
        let mut state = padded(&[q(1.0), q(1.0), 0]);
        let form = draw.of(&["tick", "tick", "tick_delay", "tick_linearised", "tick_linearised_delay"]);
        let mut marks = 0u32;
        for _ in 0..30 {
            for _ in 0..2 {
                marks = match draw.share() {
                    0.0..0.3 => (marks + 1).min(31),
                    0.3..0.6 => marks.saturating_sub(1),
                    _ => marks,
                };
                let packets = draw.of(&[1, 1, 2, 2, 8, 44]);
                state = file.vector("ack", &state, &[0, 0, packets]);
            }
            state = if draw.lands(0.02) {
                file.vector("cut", &state, &[])
            } else {
                let observation = if form.ends_with("delay") {
                    let base_s = Fix::<32>(base).value();
                    [0, base, 0, measured(base_s * draw.between(1.0, 1.5))]
                } else {
                    [table.price_s(marks).0, base, 0, 0]
                };
                file.vector(form, &state, &observation)
            };
        }
    }
    file.text
}

/// CCP, and CCPD where the kernel implementation has a derivative.
pub(super) fn ccp(kernel_law: &'static KernelLaw) -> String {
    let derivative = kernel_law.words.params.contains(&"kd_q32");
    let (what, ranges) = if derivative {
        (
            "CCPD, proportional and derivative in the free space of the bottleneck's buffer",
            "; kd 1e-7 to 1e3 s, and zero",
        )
    } else {
        ("CCP, proportional to the free space of the bottleneck's buffer", "")
    };
    let mut file = File::new(
        kernel_law,
        what,
        &format!(
            "kp 1e-3 to 1e3; implicit 0 or 1{ranges}
             window, ssthresh 1 to 1e9 packets, and the largest number; slow_start, recovers 0 or 1
             buffer, level, in_flight, earlier 0 to 1e7 packets; earlier_s 1 us to 100 s, and zero; packets 0 to 4294967295"
        ),
    );
    let params = |kp: i64, implicit: bool, kd: i64| {
        let all = [kp, i64::from(implicit), kd];
        all[..kernel_law.words.params.len()].to_vec()
    };
    let kds = if derivative { vec![0, q(1e-7), q(0.1), q(1e3)] } else { vec![0] };
    let windows = [q(1.0), q(2.0), q(100.25), i64::MAX];
    for row in product(&[&[q(1e-3), q(2.0), q(1e3)], &[0, 1], &kds]) {
        file.params(&params(row[0], row[1] == 1, row[2]));
        let pasts =
            if derivative { vec![[0, 0], [q(1e7), q(1e-6)], [q(150.5), q(0.2)], [0, q(100.0)]] } else { vec![[0; 2]] };
        let paths = product(&[&[0, q(400.0), q(1e7)], &[0, q(195.06), q(1e7)], &[0, q(700.0), q(1e7)]]);
        for (at, (path, past)) in paths.iter().flat_map(|path| pasts.iter().map(move |past| (path, past))).enumerate() {
            let observation = [path[0], path[1], path[2], past[0], past[1]];
            let window = windows[at % windows.len()];
            let all = [[0, 0], [0, 1], [1, 0], [1, 1]];
            for flags in if derivative { &all[at % 4..=at % 4] } else { &all } {
                for (ssthresh, packets) in [(q(2.0), 0), (i64::MAX, 1), (window, 44)] {
                    let observation = [&observation[..], &[packets]].concat();
                    file.vector("ack", &[window, ssthresh, flags[0], flags[1]], &observation);
                }
                file.vector("cut", &[window, q(64.0), flags[0], flags[1]], &observation);
            }
        }
    }
    for (window, ssthresh) in windows.into_iter().flat_map(|w| [q(2.0), i64::MAX].map(|s| (w, s))) {
        for packets in [0, 1, 2, 44, (1 << 31) - 1, 1 << 31, i64::from(u32::MAX)] {
            file.vector("ack", &[window, ssthresh, 1, 0], &[q(400.0), 0, q(1e7), 0, 0, packets]);
        }
        for flags in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            file.vector("timeout", &[window, ssthresh, flags[0], flags[1]], &[]);
        }
    }
    let mut draw = Draw::new(if derivative { 6 } else { 5 });
    for _ in 0..1000 {
        file.params(&params(q(draw.log(1e-3, 1e3)), draw.lands(0.7), q(draw.log(1e-7, 1e3))));
        for _ in 0..8 {
            let flag = |draw: &mut Draw, p| i64::from(draw.lands(p));
            let state = [q(draw.log(1.0, 1e6)), q(draw.log(2.0, 1e9)), flag(&mut draw, 0.3), flag(&mut draw, 0.3)];
            let buffer = draw.log(1.0, 1e6);
            let level = if draw.lands(0.1) { 0.0 } else { buffer * draw.log(1e-3, 1.1) };
            let in_flight = draw.log(1.0, 1e6);
            let (earlier, earlier_s) = (buffer * draw.log(1e-3, 1.1) + in_flight, draw.log(1e-6, 10.0));
            let mut observation = [q(buffer), q(level), q(in_flight), q(earlier), q(earlier_s), 0];
            if !derivative || draw.lands(0.1) {
                (observation[3], observation[4]) = (0, 0);
            }
            match draw.share() {
                0.0..0.1 => file.vector("timeout", &state, &[]),
                0.1..0.3 => file.vector("cut", &state, &observation),
                _ => {
                    observation[5] = draw.log(1.0, 100.0) as i64;
                    file.vector("ack", &state, &observation)
                }
            };
        }
    }
    // One flow behind a buffer: the estimates as acknowledgements bring them, with losses and timeouts.
    let vectors = if derivative { 50 } else { 110 };
    for _ in 0..100 {
        let kd = draw.of(&[100.0, 100.0, 1000.0]) * 1e-3;
        file.params(&params(q(draw.of(&[2.0, 4.0, 1.0])), draw.lands(0.8), q(kd)));
        let capacity = draw.log(1e7, 1e10) / 12_000.0;
        let base = draw.of(&[0.002, 0.02, 0.1, 0.19]);
        let buffer = draw.of(&[0.1, 0.5, 1.0]) * capacity * base;
        let mut state = padded(&[q(2.0), i64::MAX, 1, 0]);
        let mut committed = 0.0;
        for _ in 0..vectors {
            let window = Fix::<32>(state[0]).value();
            let level = (window - capacity * base).clamp(0.0, buffer) * draw.between(0.95, 1.0);
            let in_flight = window.min(capacity * base + buffer).floor();
            let observation =
                [q(buffer), q(level), q(in_flight), q(committed), measured(base * draw.between(0.5, 1.5)), 0];
            let observation =
                if derivative { observation } else { [observation[0], observation[1], observation[2], 0, 0, 0] };
            state = match draw.share() {
                0.0..0.01 => file.vector("timeout", &state, &[]),
                0.01..0.06 => file.vector("cut", &state, &observation),
                _ => {
                    let packets = draw.of(&[1, 1, 2, 2, 8, 44]);
                    file.vector("ack", &state, &[&observation[..5], &[packets]].concat())
                }
            };
            committed = level + in_flight;
        }
    }
    file.text
}
