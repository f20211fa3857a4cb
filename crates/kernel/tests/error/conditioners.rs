//! The same of conditioners.

use penstock_law::conditioner::bucket::Bucket;
use penstock_law::conditioner::early_marking::{self, EarlyMarking};
use penstock_law::conditioner::srtcm::{self, SingleRate};
use penstock_law::conditioner::token_bucket::{self, TokenBucket};
use penstock_law::conditioner::trtcm::{self, TwoRate};
use penstock_law::conditioner::{self, CONDITIONERS, Colour};
use penstock_law::law::find;
use penstock_law::quantity::Bytes;
use penstock_law::{Law, Number, Values};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Draw, Q, UNIT, Worst, noise};

const EDGE: conditioner::Context = conditioner::Context { packet: Bytes(1500) };

/// A conditioner's values at that committed rate.
fn contract(name: &str, bit_per_s: f64) -> Values {
    let entry = find(CONDITIONERS, name).unwrap();
    let mut values = Values::defaults(entry.parameters);
    values.set(&entry.parameters[0], bit_per_s).unwrap();
    values
}

fn same(fixed: &mut Bucket<Q>, real: &mut Bucket<f64>, rate: Q, depth: Q) {
    (fixed.rate, fixed.depth) = (rate, depth);
    (real.rate, real.depth) = (rate.value(), depth.value());
}

/// A level after an arrival: within 1/2 unit, of one product, up to the largest rates and buckets (and what the flow over
/// is to the excess bucket: as near). A colour differs only where a level is as near to the packet's size.
#[test]
fn an_arrival_at_the_buckets() {
    let mut meters: (TokenBucket<Q>, SingleRate<Q>, TwoRate<Q>) = (
        TokenBucket::compile(&contract("token-bucket", 1e6), &EDGE).unwrap(),
        SingleRate::compile(&contract("srtcm", 1e6), &EDGE).unwrap(),
        TwoRate::compile(&contract("trtcm", 1e6), &EDGE).unwrap(),
    );
    let mut truths: (TokenBucket<f64>, SingleRate<f64>, TwoRate<f64>) = (
        TokenBucket::compile(&contract("token-bucket", 1e6), &EDGE).unwrap(),
        SingleRate::compile(&contract("srtcm", 1e6), &EDGE).unwrap(),
        TwoRate::compile(&contract("trtcm", 1e6), &EDGE).unwrap(),
    );
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(9));
    let (mut worst, mut colours) = (Worst::default(), [0u32; 3]);
    for _ in 0..100_000 {
        let [rate, second_rate] = [0; 2].map(|_| draw.log(1.0, 2e9));
        // Both together below 2^31 B, as the single rate marker asks; so an overflow is seen even where it saturates.
        let [depth, second_depth] = [0; 2].map(|_| draw.log(1.0, 1e9));
        same(&mut meters.0.bucket, &mut truths.0.bucket, rate, depth);
        same(&mut meters.1.committed, &mut truths.1.committed, rate, depth);
        same(&mut meters.1.excess, &mut truths.1.excess, Q::of(0.0), second_depth);
        same(&mut meters.2.committed, &mut truths.2.committed, rate, depth);
        same(&mut meters.2.peak, &mut truths.2.peak, second_rate, second_depth);
        let [tokens, second] = [depth * Q::of(draw.between(0.0, 1.0)), second_depth * Q::of(draw.between(0.0, 1.0))];
        let at_s = Q::of(draw.between(0.0, 1e3));
        let now_s = at_s + depth / rate * draw.log(1e-4, 2.0);
        let bytes = draw.log(1.0, 65_535.0).value() as u32;
        let (event, colour) = (conditioner::Event::Arrival { bytes }, Colour::Green);
        let (seen, plain) = (conditioner::Observation { now_s }, conditioner::Observation { now_s: now_s.value() });
        let own = noise(8.0 * (depth.value() + second_depth.value()));
        let mut near = |got: Q, truth: f64| {
            worst.see("level", got, truth, 0.5 + own);
            (truth - f64::from(bytes)).abs() < 2e-3
        };

        let mut got = token_bucket::State { tokens, at_s, colour };
        let mut truth = token_bucket::State { tokens: tokens.value(), at_s: at_s.value(), colour };
        meters.0.on_event(&mut got, event, &seen);
        truths.0.on_event(&mut truth, event, &plain);
        assert!(near(got.tokens, truth.tokens) || got.colour == truth.colour);

        let mut got = srtcm::State { tokens, excess_tokens: second, at_s, colour };
        let (tokens_b, excess_tokens) = (tokens.value(), second.value());
        let mut truth = srtcm::State { tokens: tokens_b, excess_tokens, at_s: at_s.value(), colour };
        meters.1.on_event(&mut got, event, &seen);
        truths.1.on_event(&mut truth, event, &plain);
        let close = [near(got.tokens, truth.tokens), near(got.excess_tokens, truth.excess_tokens)];
        assert!(close.contains(&true) || got.colour == truth.colour);
        colours[truth.colour as usize] += 1;

        let mut got = trtcm::State { tokens, peak_tokens: second, at_s, colour };
        let mut truth = trtcm::State { tokens: tokens_b, peak_tokens: excess_tokens, at_s: at_s.value(), colour };
        meters.2.on_event(&mut got, event, &seen);
        truths.2.on_event(&mut truth, event, &plain);
        let close = [near(got.tokens, truth.tokens), near(got.peak_tokens, truth.peak_tokens)];
        assert!(close.contains(&true) || got.colour == truth.colour);
    }
    assert!(colours.into_iter().all(|n| n > 1000), "{colours:?}");
    println!("buckets, arrival: {:.2} of the bound", worst.0);
}

/// The probability after an arrival, in units of 2^-62: within 1/2, and what a level off by half a unit of its own does by
/// k1. The gains of the customers of the paper, of 100 Mbit/s with ten flows, where a packet's distance moves the probability
/// by less than 2^-40, and of any others.
#[test]
fn an_arrival_at_the_early_marker() {
    const FINE: f64 = 1.0 / 4_611_686_018_427_387_904.0;
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(10));
    let (mut worst, mut refused) = (0.0, 0);
    for i in 0..100_000 {
        let bit_per_s = [1e6, 1e7, 1e8, draw.log(1e5, 1e9).value()][i % 4];
        let mut values = contract("early-marking", bit_per_s);
        let parameters = find(CONDITIONERS, "early-marking").unwrap().parameters;
        values.set(parameters.iter().find(|p| p.name == "least_flows").unwrap(), draw.log(5.0, 100.0).value()).unwrap();
        values.set(parameters.iter().find(|p| p.name == "largest_rtt").unwrap(), draw.log(0.01, 0.1).value()).unwrap();
        if find(CONDITIONERS, "early-marking").unwrap().fixed.unwrap()(&values, &EDGE).is_err() {
            refused += 1;
            continue;
        }
        let fixed: EarlyMarking<Q> = EarlyMarking::compile(&values, &EDGE).unwrap();
        let real: EarlyMarking<f64> = EarlyMarking::compile(&values, &EDGE).unwrap();
        let depth = fixed.bucket.depth;
        let (tokens, before) = (depth * Q::of(draw.between(0.0, 1.0)), depth * Q::of(draw.between(0.0, 1.0)));
        let at_s = Q::of(draw.between(0.0, 1e3));
        let now_s = at_s + draw.log(1e-5, 1e-3);
        let probability = Q::of(draw.between(0.0, 1.0) * 1_073_741_824.0);
        let mut got = early_marking::State { tokens, probability, level_before: before, at_s, conforms: true };
        fixed.on_event(&mut got, conditioner::Event::Arrival { bytes: 1000 }, &conditioner::Observation { now_s });
        // In f64 the level is the one that fixed point has, so that what is compared is the controller alone; and without
        // the probability before, beside which f64 would see nothing of the change.
        let [k1, k2] = [real.k1, real.k2].map(|k| libm::ldexp(k, -(real.places as i32)));
        let now = got.tokens.value();
        let reference = fixed.reference.value();
        let change = (k1 - k2) * (reference - before.value()) - k1 * (now - before.value());
        let moved = (got.probability.0 - probability.0) as f64 * FINE;
        if got.probability.0 > 0 && got.probability.0 < 1 << 62 {
            // k1 - k2 itself is a difference of two numbers of f64.
            let own = k1 * f64::EPSILON * depth.value() * 4.0;
            let error = (moved - change).abs();
            assert!(error <= 0.5 * FINE + own, "{bit_per_s}: {moved} {change}");
            worst = f64::max(worst, error / (0.5 * FINE + own));
        }
        let said = fixed.output(&got, &conditioner::Observation { now_s }).red.value();
        assert!((said - got.probability.0 as f64 * FINE).abs() <= 0.5 * UNIT + f64::EPSILON || !got.conforms);
    }
    // Windows of a tenth of a packet, and of thousands.
    assert!(refused < 10_000, "{refused}");
    println!("early-marking, arrival: {worst:.2} of the bound; {refused} contracts refused");
}

/// Contracts beyond fixed point are refused in words; those of the paper and its neighbourhood are not.
#[test]
fn contracts_beyond_the_kernels_arithmetic_are_refused() {
    let held = |name: &str, bit_per_s: f64| {
        let build = find(CONDITIONERS, name).unwrap().fixed.unwrap();
        build(&contract(name, bit_per_s), &EDGE).map(|_| ())
    };
    for name in ["token-bucket", "srtcm", "trtcm", "early-marking"] {
        assert_eq!(held(name, 1e8), Ok(()), "{name}");
        assert!(held(name, 2e10).unwrap_err().contains("17 Gbit/s"), "{name}");
    }
    let entry = find(CONDITIONERS, "srtcm").unwrap();
    let mut large = contract("srtcm", 1e10);
    large.set(&entry.parameters[1], 1.2e9).unwrap();
    assert!(entry.fixed.unwrap()(&large, &EDGE).map(|_| ()).unwrap_err().contains("together"));
    // Ten flows on 10 Gbit/s, windows of ten thousand packets: the design moves the probability by 1e-27 a packet.
    assert!(held("early-marking", 1e10).unwrap_err().contains("too weak"));
}
