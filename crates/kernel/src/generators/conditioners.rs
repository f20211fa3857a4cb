//! Vectors of the conditioners.

use crate::kernel_laws::{KernelLaw, MOST};
use penstock_law::conditioner::early_marking::{Aggregate, GainRule};

use super::writer::{Draw, File, padded, product, q};

const SEEN: &str = "bytes 0 to 4294967295; now 0 to 1e9 s; colour 0 (green), 1 (yellow), 2 (red)";
const PACKETS: [i64; 9] = [0, 1, 64, 1000, 1500, 65_535, (1 << 31) - 1, 1 << 31, u32::MAX as i64];
/// Before and now [s].
const SPANS: [[f64; 2]; 6] = [[0.0, 0.0], [5.0, 5.0], [7.0, 7.000_012], [7.0, 8.0], [0.0, 1e9], [8.0, 7.0]];

/// Token buckets, one or two: a state is their levels, the time of the last packet, and its colour.
struct Meter {
    buckets: usize,
    /// Rates [B/s] and depths [B] of its buckets as parameters.
    params: fn(&[[f64; 2]]) -> Vec<i64>,
}

/// Ends of every range, then draws, then packets of a source about the contract.
fn meter(file: &mut File, seed: u64, meter: &Meter) {
    let most = 2_147_483_647.5;
    let buckets = [[0.125, 0.0], [125_000.0, 1499.9985], [125_000.0, 1500.0], [most, most], [1e9, 1e8]];
    for pair in product(&[&[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4]]).iter().filter(|pair| meter.buckets == 2 || pair[1] == 0)
    {
        let chosen = [buckets[pair[0] as usize], buckets[pair[1] as usize]];
        file.params(&(meter.params)(&chosen[..meter.buckets]));
        for ([before, now], bytes) in SPANS.iter().flat_map(|span| PACKETS.map(|bytes| (span, bytes))) {
            for shares in [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]] {
                let levels: Vec<i64> =
                    chosen[..meter.buckets].iter().zip(shares).map(|([_, depth], share)| q(depth * share)).collect();
                let state = [&levels[..], &[q(*before), bytes % 2]].concat();
                file.vector("arrival", &state, &[bytes, q(*now), 0]);
                if before == now {
                    file.vector("coloured", &state, &[bytes, 0, [0, 1, 2][(shares[0] * 2.0) as usize]]);
                }
            }
        }
    }
    let mut draw = Draw::new(seed);
    for _ in 0..900 {
        let buckets = [0; 2].map(|_| [draw.log(1.0, 2e9), draw.log(1.0, 2e9)]);
        file.params(&(meter.params)(&buckets[..meter.buckets]));
        for _ in 0..8 {
            let levels = buckets.map(|[_, depth]| q(depth * draw.share()));
            let before = draw.between(0.0, 1e6);
            let state = [&levels[..meter.buckets], &[q(before), draw.of(&[0, 1])]].concat();
            let bytes = draw.log(1.0, 1e5) as i64;
            if draw.lands(0.3) {
                file.vector("coloured", &state, &[bytes, 0, draw.of(&[0, 1, 2])]);
            } else {
                let span = buckets[0][1] / buckets[0][0] * draw.log(1e-4, 10.0);
                file.vector("arrival", &state, &[bytes, q(before + span), 0]);
            }
        }
    }
    for _ in 0..100 {
        let rate = draw.log(1e5, 1e10) / 8.0;
        let buckets = [[rate, rate * draw.of(&[0.002, 0.02, 0.1])], [2.0 * rate, rate * draw.of(&[0.01, 0.1])]];
        file.params(&(meter.params)(&buckets[..meter.buckets]));
        let levels = buckets.map(|[_, depth]| q(depth));
        let mut state: [i64; MOST.state] = padded(&[&levels[..meter.buckets], &[0, 0]].concat());
        let load = draw.of(&[0.9, 1.0, 1.2, 2.5]);
        let mut now = 0.0;
        for _ in 0..60 {
            let bytes = draw.of(&[1500, 1500, 1500, 576, 64]);
            now += -libm::log(1.0 - draw.share()) * 1200.0 / (load * rate);
            // A clock of nanoseconds.
            state = file.vector("arrival", &state, &[bytes, q((now * 1e9).round() / 1e9), 0]);
            let colour = state[meter.buckets + 1];
            state = file.vector("coloured", &state, &[bytes, 0, colour]);
        }
    }
}

pub(super) fn token_bucket(kernel_law: &'static KernelLaw) -> String {
    let ranges = format!("rate 0.125 to 2^31 B/s; depth, tokens 0 to 2^31 B; at 0 to 1e9 s\n{SEEN}");
    let mut file = File::new(kernel_law, "the token bucket", &ranges);
    meter(&mut file, 9, &Meter { buckets: 1, params: |b| b[0].map(q).to_vec() });
    file.text
}

pub(super) fn srtcm(kernel_law: &'static KernelLaw) -> String {
    let ranges = format!(
        "rate 0.125 to 2^31 B/s; depth, excess_depth, tokens, excess_tokens 0 to 2^31 B; at 0 to 1e9 s\n{SEEN}"
    );
    let mut file = File::new(kernel_law, "the single rate three colour marker of RFC 2697", &ranges);
    meter(&mut file, 10, &Meter { buckets: 2, params: |b| [b[0][0], b[0][1], b[1][1]].map(q).to_vec() });
    file.text
}

pub(super) fn trtcm(kernel_law: &'static KernelLaw) -> String {
    let ranges = format!(
        "rate, peak_rate 0.125 to 2^31 B/s; depth, peak_depth, tokens, peak_tokens 0 to 2^31 B; at 0 to 1e9 s\n{SEEN}"
    );
    let mut file = File::new(kernel_law, "the two rate three colour marker of RFC 2698", &ranges);
    meter(&mut file, 11, &Meter { buckets: 2, params: |b| b.concat().into_iter().map(q).collect() });
    file.text
}

/// A gain a byte, as the law compiles it: times the power of two that makes it as large as fixed point holds.
fn gains([k1, k2]: [f64; 2]) -> [i64; 3] {
    let scale = (31 - libm::frexp(k1).1).clamp(30, 125);
    [q(libm::ldexp(k1, scale)), q(libm::ldexp(k2, scale)), i64::from(scale - 30)]
}

pub(super) fn early_marking(kernel_law: &'static KernelLaw) -> String {
    let ranges = format!(
        "rate 0.125 to 2^31 B/s; depth, reference, tokens, level_before 0 to 2^31 B; at 0 to 1e9 s
         k1, k2 times 2^(30 + places): of gains from 0 to 2 a byte, k1 at least k2; places 0 to 95
         probability 0 to 1; conforms 0 or 1\n{SEEN}"
    );
    let mut file = File::new(kernel_law, "the early marker of Tartarelli and Banchs", &ranges);
    let most = 2_147_483_647.5;
    let whole = 1i64 << 62;
    let buckets =
        [[0.125, 0.0, 0.0], [125_000.0, 12_500.0, 9375.0], [1.25e6, 125_000.0, 125_000.0], [most, most, most]];
    let gains_of =
        [[0.0, 0.0], [1.9999, 0.0], [1.9999, 1.9999], [6.58e-6, 6.57e-6], [1e-16, 1e-16 * (1.0 - 1e-8)], [1e-30, 0.0]];
    for (bucket, k) in buckets.iter().flat_map(|bucket| gains_of.map(|k| (bucket, k))) {
        file.params(&[&bucket.map(q)[..], &gains(k)].concat());
        let levels = [0.0, 0.5, 1.0].map(|share| q(bucket[1] * share));
        for (at, row) in product(&[&levels, &levels, &[0, 1, whole / 3, whole]]).iter().enumerate() {
            for of in 0..3 {
                let [before, now] = SPANS[(at + 2 * of) % 6];
                let bytes = PACKETS[(at + of) % 9];
                let state = [row[0], row[2], row[1], q(before), (at % 2) as i64];
                file.vector("arrival", &state, &[bytes, q(now), 0]);
            }
            file.vector("coloured", &[row[0], row[2], row[1], 0, 1], &[PACKETS[at % 9], 0, (at % 3) as i64]);
        }
    }
    let mut draw = Draw::new(12);
    for _ in 0..900 {
        let (rate, depth) = (draw.log(1.0, 2e9), draw.log(1.0, 2e9));
        let k1 = draw.log(1e-18, 1.0);
        let k2 = k1 * (1.0 - draw.log(1e-9, 1.0));
        file.params(&[&[rate, depth, depth * draw.share()].map(q)[..], &gains([k1, k2])].concat());
        for _ in 0..8 {
            let (tokens, before) = (depth * draw.share(), draw.between(0.0, 1e6));
            let probability = (draw.share() * 9_007_199_254_740_992.0) as i64 * 512;
            let state = [q(tokens), probability, q(depth * draw.share()), q(before), draw.of(&[0, 1])];
            let bytes = draw.log(1.0, 1e5) as i64;
            if draw.lands(0.1) {
                file.vector("coloured", &state, &[bytes, 0, draw.of(&[0, 2])]);
            } else {
                let span = depth / rate * draw.log(1e-4, 10.0);
                file.vector("arrival", &state, &[bytes, q(before + span), 0]);
            }
        }
    }
    // Customers by their designs, and random draws.
    for _ in 0..100 {
        let bit_per_s = draw.of(&[1e6, 1e7, 1e8, 1e9]);
        let flows = draw.of(&[10.0, 40.0]) * f64::max(1.0, bit_per_s / 1e7);
        let aggregate = Aggregate { packets_per_s: bit_per_s / 8000.0, flows, rtt_s: draw.of(&[0.02, 0.1]) };
        let k = aggregate.design(draw.of(&[GainRule::Loop, GainRule::Paper])).k.map(|k| k / 1000.0);
        let (rate, depth) = (bit_per_s / 8.0, bit_per_s / 80.0);
        file.params(&[&[rate, depth, 0.75 * depth].map(q)[..], &gains(k)].concat());
        let mut state: [i64; MOST.state] = padded(&[q(depth), 0, q(depth), 0, 1]);
        let load = draw.of(&[0.9, 1.0, 1.1, 1.5]);
        let mut now = 0.0;
        for _ in 0..50 {
            now += -libm::log(1.0 - draw.share()) * 1000.0 / (load * rate);
            state = file.vector("arrival", &state, &[1000, q((now * 1e9).round() / 1e9), 0]);
            let red = state[4] == 0 || draw.lands(state[1] as f64 / whole as f64);
            state = file.vector("coloured", &state, &[1000, 0, if red { 2 } else { 0 }]);
        }
    }
    file.text
}
