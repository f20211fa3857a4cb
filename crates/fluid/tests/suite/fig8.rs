//! Fig. 8 of fast-aqm in five stages, from one scenario: equilibria and gain margins.

use crate::scenarios::{FIG8, aqm, cc, fig8, off};
use penstock_fluid::margin::{Span, margins};
use penstock_fluid::theory::lead_lag;
use penstock_fluid::{Analysis, Complex, LoopModel, Options, Verdict, analyze};
use penstock_law::quantity::Time;

const MODELS: [(LoopModel, [f64; 5], [f64; 5]); 3] = [
    // By duals through the real update; by hand from (14).
    (LoopModel::Laws, [4.19, 4.98, 5.67, 5.62, 5.29], [4.20, 5.00, 5.69, 5.64, 5.31]),
    (LoopModel::Estimators, [3.99, 4.50, 4.77, 4.45, 3.93], [3.99, 4.50, 4.76, 4.43, 3.89]),
    (LoopModel::Sampled, [3.39, 3.84, 4.18, 4.07, 3.71], [3.38, 3.84, 4.17, 4.05, 3.67]),
];

fn stage(k: usize, period_s: f64) -> Analysis {
    let scenario = fig8(&cc("leadlag", &[("period", period_s)]), &aqm("price", &[("period", period_s / 2.0)]));
    let at = Some(Time::from_seconds(40.0 * k as f64 + 20.0));
    analyze(&scenario, &Options { at, ..Options::default() }).unwrap()
}

/// Reference 9.3: price, marking probability, rate, and the window of each group.
#[test]
fn every_stage_rests_where_the_utility_says() {
    let oracle = [
        (0.006_736_8, 0.045_47, 7421.8750),
        (0.013_473_7, 0.088_87, 3710.9375),
        (0.026_947_4, 0.169_85, 1855.4688),
        (0.053_894_7, 0.310_85, 927.7344),
        (0.107_789_5, 0.525_07, 463.8672),
    ];
    let mut flows = 0;
    for (k, (price, probability, rate)) in oracle.into_iter().enumerate() {
        flows += FIG8[k].0;
        let analysis = stage(k, 0.01);
        let link = analysis.bottleneck();
        assert_eq!((link.name.as_str(), link.aqm, link.capacity_packets_per_s), ("bottleneck", "price", 250_000.0));
        assert!((link.price_s.unwrap() - price).abs() < 6e-8, "{k}: {link:?}");
        assert!(off(link.price_s.unwrap(), 50.0 * f64::from(flows) / 237_500.0) < 1e-9);
        assert!((link.mark_probability - probability).abs() < 6e-6);
        assert!((link.utilization - 0.95).abs() < 1e-9 && link.queue_packets == 0.0);
        assert_eq!(analysis.classes.len(), k + 1);
        for (class, (count, rtt_s, _)) in analysis.classes.iter().zip(FIG8) {
            assert_eq!(class.count, count);
            assert!((class.rate_packets_per_s - rate).abs() < 6e-5, "{k}: {class:?}");
            assert!(off(class.window_packets, class.rate_packets_per_s * rtt_s) < 1e-9);
            assert!(off(class.price_s.unwrap(), link.price_s.unwrap()) < 1e-9);
        }
    }
    // The windows of the last stage, as printed.
    for (class, window) in stage(4, 0.01).classes.iter().zip([18.555, 37.109, 55.664, 74.219, 92.773]) {
        assert!((class.window_packets - window).abs() < 6e-4, "{class:?}");
    }
}

/// Gain margins by duals through the very update that is simulated, with nothing, then the mark register, then
/// sampling counted. The last column is up to 0.9 % lower than the figures it is held to, which leave out that a window
/// follows its target half a packet's time later.
#[test]
fn gain_margins_through_the_real_update() {
    for k in 0..5 {
        let analysis = stage(k, 0.01);
        assert_eq!(analysis.verdict, Verdict::Stable);
        for (model, by_duals, by_hand) in MODELS {
            let gain_margin = analysis.model(model).margins.gain_margin.unwrap();
            println!("stage {}: {model:?} {gain_margin:.4}", k + 1);
            assert!(off(gain_margin, by_duals[k]) < 0.01, "{k} {model:?}: {gain_margin}");
            assert!(off(gain_margin, by_hand[k]) < 0.012, "{k} {model:?}: {gain_margin}");
        }
        let named = ["group0", "group0", "group0", "group1", "group1"][k];
        assert_eq!(analysis.limiting_class.as_deref(), Some(named));
        // One packet to the cap of Fig. 3 is the nearest kink of the protocol.
        assert!(analysis.classes.iter().all(|c| off(c.nearest_kink.unwrap(), 1.0) < 1e-6));
    }
}

/// The hand reference: (14) summed over groups, and a pure delay of N/2 packets (19), and one of 7.5 ms.
fn by_hand(k: usize, model: LoopModel) -> f64 {
    let groups = &FIG8[..=k];
    let flows: f64 = groups.iter().map(|g| f64::from(g.0)).sum();
    let (price, rate) = (50.0 * flows / 237_500.0, 237_500.0 / flows);
    let lag_s = match model {
        LoopModel::Laws => 0.0,
        LoopModel::Estimators => 15.5 / rate,
        LoopModel::Sampled => 15.5 / rate + 0.0075,
    };
    let gain = |s: Complex| -> Complex {
        groups
            .iter()
            .map(|&(count, rtt_s, _)| {
                lead_lag(s, rtt_s, rtt_s / (0.37 * price), 0.64, 0.37) * (-s * lag_s).exp() * (f64::from(count) / flows)
            })
            .sum()
    };
    margins(&gain, Span { slowest_s: groups[k].1, fastest_s: 0.04 }).gain_margin.unwrap()
}

/// Why the two differ, laws alone: (20) integrates with the price of this period, which puts the zero and the pole half
/// a period ahead; the gain at high frequencies is `1 + (z + z kappa/nu) T/2` times (13), 0.3 to 0.6 % at 10 ms. With
/// shorter periods the difference goes away. With the register: (19) is a delay, an average also attenuates.
#[test]
fn the_hand_reference_is_the_limit_of_short_periods() {
    for k in 0..5 {
        for (model, _, printed) in MODELS {
            assert!((by_hand(k, model) - printed[k]).abs() < 0.0051, "{k} {model:?} {}", by_hand(k, model));
        }
        let hand = by_hand(k, LoopModel::Laws);
        let at = |period_s: f64| stage(k, period_s).model(LoopModel::Laws).margins.gain_margin.unwrap();
        let (ten, one) = (hand / at(0.01) - 1.0, hand / at(0.001) - 1.0);
        assert!(ten > 0.0031 && ten < 0.0064, "{k}: {ten}");
        assert!(one > 0.0 && (one / ten - 0.1).abs() < 0.02, "{k}: {one} {ten}");
        let estimated = stage(k, 0.001).model(LoopModel::Estimators).margins.gain_margin.unwrap();
        assert!(estimated > by_hand(k, LoopModel::Estimators), "an average is shorter than a delay of the same phase");
    }
}
