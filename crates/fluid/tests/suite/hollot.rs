//! The PI controller of Hollot, Misra, Towsley and Gong (2001) on TCP: the rule, its margins against an independent
//! computation (`oracles/hollot.py`), and the same plant from the laws themselves.

use crate::scenarios::{cc, off};
use penstock_fluid::margin::{Span, margins};
use penstock_fluid::source::{Flows, Signal, Source};
use penstock_fluid::theory::{PiRule, TcpPlant};
use penstock_fluid::{Clocking, Complex, LoopModel, Verdict};
use penstock_law::cc;
use penstock_law::quantity::Bytes;

const C: f64 = 3750.0;

/// Flows, round trip [s]; gain margin, phase crossover [rad/s], phase margin [degrees], gain crossover [rad/s].
#[expect(clippy::unreadable_literal, reason = "as they are printed")]
const ORACLE: [[f64; 6]; 6] = [
    [60.0, 0.246, 8.65176455, 3.49729101, 75.13540, 0.528785776],
    [60.0, 0.1, 70.7922844, 10.2448522, 92.82974, 0.0358993432],
    [120.0, 0.246, 20.378701, 3.8427519, 93.27204, 0.136469215],
    [200.0, 0.15, 145.14917, 7.85996492, 90.86040, 0.0108823978],
    [30.0, 0.246, 3.9395572, 3.29504854, 47.02958, 1.10881606],
    [20.0, 0.4, 0.792310026, 1.75884508, -9.48352, 2.06781038],
];

fn design() -> PiRule {
    PiRule::of(TcpPlant { flows: 60.0, capacity: C, rtt_s: 0.246 }, None)
}

/// The paper's figures for 60 flows, 246 ms: z = 0.53, K = 9.64e-6 (its crossover is rounded), a = 1.822e-5 and
/// b = 1.816e-5 at 170 Hz, the defaults of ns-2.
#[test]
fn the_rule_gives_the_papers_controller() {
    let rule = design();
    assert!((rule.zero - 0.53).abs() < 0.005 && off(rule.gain, 9.64e-6) < 0.02, "{rule:?}");
    let (a, b) = rule.difference(1.0 / 170.0);
    assert!(off(a, 1.822e-5) < 0.02 && off(b, 1.816e-5) < 0.02, "{a:e} {b:e}");
    assert!(off(a - b, rule.gain / 170.0) < 1e-9);
}

#[test]
fn margins_and_crossovers_for_several_loads() {
    for [flows, rtt_s, gain, w_180, phase, w_c] in ORACLE {
        let (rule, plant) = (design(), TcpPlant { flows, capacity: C, rtt_s });
        let m = margins(&|s| rule.at(s) * plant.at(s), Span { slowest_s: rtt_s, fastest_s: rtt_s });
        assert_eq!(m.verdict == Verdict::Stable, gain > 1.0, "{flows} {rtt_s}");
        assert!(off(m.gain_margin.unwrap(), gain) < 1e-6 && off(m.phase_crossover_rad_per_s.unwrap(), w_180) < 1e-6);
        assert!((m.phase_margin_deg.unwrap() - phase).abs() < 1e-5, "{m:?}");
        assert!(off(m.gain_crossover_rad_per_s.unwrap(), w_c) < 1e-6, "{m:?}");
    }
}

/// NewReno by duals through its own update, against the linearisation of Misra, Gong and Towsley as Hollot et al. have it:
/// `dw' = -(2N/(R^2 C)) dw - (R C^2/(2 N^2)) dp` for `w' = 1/R - p w^2/(2R)`. The law's own mean is
/// `w' = (1 - p)/R - p w^2/(2R)`: a marked packet does not grow the window. So the corner is the same, `p w/R`, and the
/// gain is `(w^2/2 + 1)/R` where the paper has `w^2/(2R)`.
#[test]
fn the_window_of_newreno_is_that_of_misra_gong_and_towsley() {
    let newreno = cc("newreno", &[("ecn", 1.0)]);
    for (rtt_s, p) in [(0.1, 1e-4), (0.246, 0.01), (1.0, 0.1)] {
        let mut source = Source::new(&Flows {
            name: "one".into(),
            count: 1,
            base_rtt_s: rtt_s,
            cc: &newreno,
            site: cc::Context { packet: Bytes(1000), initial_window: 10.0, initial_ssthresh: 1.0 },
            packets_per_ack: 1,
            queue_marks: true,
            loss: 0.0,
            clocking: Some(Clocking::Paced),
            queue: None,
        })
        .unwrap();
        let signal = Signal { queueing_delay_s: 0.0, probability: p };
        let equilibrium = source.equilibrium(signal).unwrap();
        let w = equilibrium.window;
        let response = source.linearise(&equilibrium, signal).unwrap();
        for frequency in [0.01, 1.0, 30.0] {
            let s = Complex::axis(frequency);
            let is = response.at(s, LoopModel::Laws).1;
            // The rate is the window over the round trip.
            let corner = p * w / rtt_s;
            let gain = (0.5 * w * w + 1.0) / rtt_s;
            let hand = Complex::real(-gain / rtt_s) / (s + Complex::real(corner));
            assert!((is - hand).abs() < 1e-9 * hand.abs(), "{rtt_s} {p}: {is:?} {hand:?}");
            let paper = Complex::real(-0.5 * w * w / rtt_s / rtt_s) / (s + Complex::real(corner));
            let difference = (is - paper).abs() / paper.abs();
            assert!((difference - 2.0 / (w * w)).abs() < 1e-9, "{difference}: the term that the paper leaves out");
        }
    }
}
