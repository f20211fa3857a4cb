use super::*;
use crate::aqm::Class;
use crate::aqm::bat::tests::{Draw, S, context, floor};
use crate::number::Dual;
use alloc::vec;
use alloc::vec::Vec;

const OF_SHARE: Class = Class { share: Some(0.3), ..Class::FREE };

fn values(settings: &[(&str, f64)]) -> Values {
    Values::of(ENTRY.parameters, settings)
}

fn clcc(settings: &[(&str, f64)]) -> Clcc<f64, Bat<f64>> {
    Clcc::compile(&values(settings), &context(vec![OF_SHARE, Class::FREE])).unwrap()
}

fn outer<N: Number>(beta: [f64; 3]) -> Outer<N> {
    Outer { beta: beta.map(N::of), thresholds: [0.1, 0.5].map(N::of), before: [N::of(0.0); 2] }
}

/// (4) by backward differences of (3): coefficients and results worked out by hand elsewhere.
#[test]
fn pid_coefficients_and_answers() {
    let pid = Pid::of(2.0, 4.0, 0.5, 1.0);
    assert_eq!((pid.b0, pid.b1, pid.b2), (3.5, -4.0, 1.0));
    let errors = [0.0, 0.0, 0.0, 1.0, 1.0, 0.5, -0.25, 0.0];
    let mut y = 0.0;
    let answers: Vec<f64> = errors
        .windows(3)
        .map(|e| {
            y += pid.change(e[2], e[1], e[0]);
            y
        })
        .collect();
    assert_eq!(answers, [0.0, 3.5, 3.0, 1.75, -0.125, 1.375]);
}

/// The decreases in units of the wanted one, over 60 steps on the plant of (1e), `r = r_ref D*/D`.
fn recursion(outer: &Outer<f64>, start: f64, reference: f64) -> Vec<f64> {
    let mut d = start;
    (0..60)
        .map(|_| {
            d = outer.step(d, [Outer::error(reference, reference / d), 0.0, 0.0]);
            d
        })
        .collect()
}
fn steps_to_stay(of: &[f64]) -> Option<usize> {
    (0..30).find(|k| of[*k..].iter().all(|d| (d - 1.0).abs() < 0.05)).map(|k| k + 1)
}

/// (6) with one gain is `D_k = 1 + (1 + beta)^k (D_0 - 1)` there, for every reference: linear, stable above -2.
#[test]
fn one_gain_converges_by_one_plus_beta() {
    for (beta, d5, d10, steps) in [
        (-0.1, 0.4686, 0.6862, Some(28)),
        (-0.25, 0.7864, 0.9493, Some(11)),
        (-0.5, 0.9719, 0.9991, Some(5)),
        (-1.0, 1.0, 1.0, Some(1)),
        (-1.5, 1.0281, 0.9991, Some(5)),
        (-2.1, 2.4495, -1.3344, None),
    ] {
        for reference in [0.15, 0.4, 9.0] {
            let d = recursion(&outer([beta; 3]), 0.1, reference);
            assert!((d[4] - d5).abs() < 1e-4 && (d[9] - d10).abs() < 1e-4, "{beta}: {d:?}");
            assert_eq!(steps_to_stay(&d), steps, "{beta}");
        }
    }
}

/// Three zones, from four starts.
#[test]
fn three_gains_converge_from_far() {
    for (start, expected, steps) in [
        (0.1, [0.5500, 0.7750, 0.9051, 0.9533, 0.9837], 10),
        (0.5, [0.7500, 0.8125, 0.9209, 0.9533, 0.9837], 10),
        (2.0, [1.5000, 1.3750, 1.1582, 1.0649, 1.0226], 13),
        (10.0, [5.5000, 3.2500, 1.4219, 1.1001, 1.0349], 17),
    ] {
        let d = recursion(&outer([-0.1, -0.25, -0.5]), start, 3.0 / 7.0);
        for (k, x) in [1, 2, 5, 10, 20].into_iter().zip(expected) {
            assert!((d[k - 1] - x).abs() < 1e-4, "{start}, step {k}: {}", d[k - 1]);
        }
        assert_eq!(steps_to_stay(&d), Some(steps), "{start}");
    }
}

/// The step map of the outer loop around a plant `r ~ D^-gamma`: its multiplier is `1 + beta gamma`, by the derivative of
/// the very step that is simulated. With one period of lag `z^2 - z - beta gamma = 0`, stable while |beta| gamma < 1.
#[test]
fn the_multiplier_is_one_plus_beta_gamma() {
    for gamma in [0.5, 0.85, 1.0, 1.43, 2.5, 10.0] {
        for beta in [-0.05, -0.1, -0.4, -0.9] {
            let d = Dual::seed(1.0);
            let reference = Dual::constant(0.4);
            let ratio = reference * (Dual::constant(-gamma) * d.ln()).exp();
            let outer = Outer::<Dual>::step(&outer([beta; 3]), d, [Outer::error(reference, ratio), d, d]);
            assert!((outer.slope - (1.0 + beta * gamma)).abs() < 1e-12, "{gamma} {beta}: {}", outer.slope);
        }
        // Just inside and just outside of the bound with lag, by the recursion itself.
        for (share, settles) in [(0.97, true), (1.03, false)] {
            let beta = -share / gamma;
            let loop_ = outer::<f64>([beta; 3]);
            let (mut before, mut d) = (1.0, 1.0 + 1e-9);
            for _ in 0..3000 {
                let ratio = libm::pow(before, -gamma);
                (before, d) = (d, loop_.step(d, [Outer::error(1.0, ratio), 0.0, 0.0]));
                if (d - 1.0).abs() > 1e-3 {
                    break;
                }
            }
            assert_eq!((d - 1.0).abs() < 1e-10, settles, "{gamma} {share}: {d}");
        }
    }
}

/// A second of ticks [Mbit/s]: what this class and all offered, and what they were served.
fn second(law: &Clcc<f64, Bat<f64>>, s: &mut State<f64>, (own, all): (f64, f64), (served, all_served): (f64, f64)) {
    let per_tick = |mbit: f64| mbit * 1e6 / 12_000.0 * 0.004;
    let observation = Observation {
        queue: 50.0,
        arrived: per_tick(own),
        capacity: S,
        departed: per_tick(served),
        all_arrived: per_tick(all),
        all_departed: per_tick(all_served),
        ..Observation::ZERO
    };
    for _ in 0..250 {
        law.on_event(s, Event::Tick, &observation);
    }
}

const START: f64 = 0.03125;

/// The bound (7) in units of the decrease at the start, for the loads of five experiments.
#[test]
fn the_decrease_is_bounded_by_what_all_offer() {
    for (own, others, times) in
        [(200.0, 88.0, 11.11), (30.0, 88.0, 27.12), (90.0, 72.0, 19.75), (120.0, 70.0, 16.84), (50.0, 75.0, 25.60)]
    {
        for bound in [1.0, 0.0] {
            let law = clcc(&[("bound", bound)]);
            let mut s = law.initial_state();
            for _ in 0..100 {
                second(&law, &mut s, (own, own + others), (60.0, 100.0));
            }
            let got = s.decrease / START;
            assert!(if bound > 0.0 { (got - times).abs() < 0.01 } else { got > 1e3 }, "{own}: {got}");
        }
    }
}

/// Below its share of the line, a class is left alone, or forgiven a tenth a second, or punished for it by the integral.
#[test]
fn preemption_holds_decays_or_does_not_exist() {
    for (rule, after_10) in [(0.0, 1.0), (1.0, 0.3487), (2.0, 0.0)] {
        let law = clcc(&[("preemption", rule)]);
        let mut s = law.initial_state();
        for _ in 0..10 {
            second(&law, &mut s, (15.0, 100.0), (15.0, 100.0));
        }
        let got = s.decrease / START;
        if rule < 2.0 {
            assert!((got - after_10).abs() < 1e-4, "{rule}: {got}");
        } else {
            // x = (3/7 - 3/17)/(3/7) = 0.588, in the last zone: a factor of 0.706 each second.
            assert!((got - libm::pow(1.0 - 0.5 * (1.0 - 7.0 / 17.0), 10.0)).abs() < 1e-9, "{got}");
        }
    }
}

/// With zero nothing more of the class is dropped while it offers too little and for one period of its return, which is
/// the objection of section IV-B; then the loop goes on from where it was.
#[test]
fn zero_forwards_all_until_a_period_after_the_return() {
    let law = clcc(&[("preemption", 3.0)]);
    let mut s = law.initial_state();
    second(&law, &mut s, (90.0, 160.0), (60.0, 100.0));
    let before = s.decrease;
    second(&law, &mut s, (15.0, 100.0), (15.0, 100.0));
    assert_eq!((s.decrease, s.kept), (0.0, before));
    let transmit = s.inner.transmit;
    second(&law, &mut s, (200.0, 260.0), (80.0, 100.0));
    assert_eq!(s.inner.transmit, transmit, "nothing is taken for a period of the whole load");
    assert!(s.decrease > before && s.decrease == s.kept, "{s:?}");
    let held = clcc(&[]);
    let mut t = held.initial_state();
    for load in [((90.0, 160.0), (60.0, 100.0)), ((15.0, 100.0), (15.0, 100.0)), ((200.0, 260.0), (80.0, 100.0))] {
        second(&held, &mut t, load.0, load.1);
    }
    assert_eq!(s.decrease, t.decrease, "as if it had been held");
}

/// Served 60 and 20 in turns of 100 ms: 40/60 over the second, and (60/40 + 20/80)/2 on the mean of its samples.
#[test]
fn the_ratio_is_of_sums_or_the_mean_of_samples() {
    for (rule, expected) in [(0.0, 40.0 / 60.0), (1.0, f64::midpoint(60.0 / 40.0, 20.0 / 80.0))] {
        let law = clcc(&[("ratio", rule)]);
        let mut s = law.initial_state();
        let per_tick = |mbit: f64| mbit * 1e6 / 12_000.0 * 0.004;
        for tick in 0..500 {
            let served = if tick / 25 % 2 == 0 { 60.0 } else { 20.0 };
            let observation = Observation {
                queue: 50.0,
                arrived: per_tick(90.0),
                capacity: S,
                departed: per_tick(served),
                all_arrived: per_tick(160.0),
                all_departed: per_tick(100.0),
                ..Observation::ZERO
            };
            law.on_event(&mut s, Event::Tick, &observation);
            if tick % 250 == 249 {
                assert!((s.ratio / expected - 1.0).abs() < 1e-9, "{rule}, {tick}: {} {expected}", s.ratio);
            }
        }
    }
}

/// The first step is at the end of the first period, by the sums until then, and none is between two.
#[test]
fn a_step_waits_for_its_period() {
    let law = clcc(&[]);
    let mut s = law.initial_state();
    let per_tick = |mbit: f64| mbit * 1e6 / 12_000.0 * 0.004;
    let observation = Observation {
        queue: 50.0,
        arrived: per_tick(90.0),
        capacity: S,
        departed: per_tick(60.0),
        all_arrived: per_tick(160.0),
        all_departed: per_tick(100.0),
        ..Observation::ZERO
    };
    let mut steps = Vec::new();
    for tick in 1..=600 {
        let before = s.decrease;
        law.on_event(&mut s, Event::Tick, &observation);
        if s.decrease != before {
            steps.push((tick, s.decrease / before));
        }
    }
    // 60/40 for 30/70: the last zone.
    let factor = 1.0 + 0.5 * (1.5 / (3.0 / 7.0) - 1.0);
    assert_eq!(steps.iter().map(|(tick, _)| *tick).collect::<Vec<u32>>(), [250, 500]);
    assert!(steps.iter().all(|(_, by)| (by / factor - 1.0).abs() < 1e-9), "{steps:?}");
}

/// A gain of -1 or beyond could make the factor of (6) zero or less, and one above zero would turn the loop round.
#[test]
fn gains_keep_the_decrease_above_zero() {
    for name in ["beta_near", "beta_between", "beta_far"] {
        let parameter = ENTRY.parameters.iter().find(|p| p.name == name).unwrap();
        for refused in [-1.0, -1.5, 0.1] {
            assert!(Values::defaults(ENTRY.parameters).set(parameter, refused).is_err(), "{name} = {refused}");
        }
        let law = clcc(&[(name, -0.999)]);
        assert!(law.steering.outer.step(1.0, [1.0, 0.0, 0.0]) > 0.0, "{name}");
    }
}

/// At the share itself the loop is closed; a floor above what is offered opens it.
#[test]
fn a_floor_above_the_offer_is_preemption_too() {
    let moved = |class: Class| {
        let law: Clcc<f64, Bat<f64>> = Clcc::compile(&values(&[]), &context(vec![class, Class::FREE])).unwrap();
        let mut s = law.initial_state();
        second(&law, &mut s, (31.0, 120.0), (31.0, 62.0));
        s.decrease != START
    };
    assert!(moved(OF_SHARE));
    assert!(!moved(Class { share: Some(0.3), ..floor(35) }));
}

/// Nothing served at all: no ratio, no step. Nothing served to others: one large step, bounded, and a number.
#[test]
fn an_idle_line_and_starved_others() {
    let law = clcc(&[("preemption", 2.0)]);
    let mut s = law.initial_state();
    second(&law, &mut s, (0.0, 0.0), (0.0, 0.0));
    assert_eq!((s.decrease, s.ratio), (START, 0.0), "even where nothing is preempted");
    let law = clcc(&[]);
    let mut s = law.initial_state();
    second(&law, &mut s, (90.0, 90.0), (90.0, 90.0));
    assert_eq!(s.ratio, 100.0 * 0.3 / (1.0 - 0.3));
    assert!((s.decrease / START - 100.0 / 90.0 / START).abs() < 1e-9, "at its bound: {}", s.decrease / START);
    second(&law, &mut s, (0.0, 0.0), (10.0, 20.0));
    assert!((s.decrease - 100.0 / 90.0).abs() < 1e-9, "nothing offered: preempted, and no bound of its own");
}

/// However long a class is served too little while it offers enough, its decrease keeps above the floor and recovers.
#[test]
fn the_decrease_never_reaches_zero() {
    let law = clcc(&[]);
    let mut s = law.initial_state();
    for _ in 0..500 {
        second(&law, &mut s, (90.0, 190.0), (1.0, 100.0));
    }
    assert!((s.decrease / START - 1e-3).abs() < 1e-12);
    for _ in 0..40 {
        second(&law, &mut s, (90.0, 190.0), (60.0, 100.0));
    }
    assert!(s.decrease > START);
}

/// The proportional and derivative parts of (4), over the decrease.
#[test]
fn weights_of_errors_before_count() {
    let law = clcc(&[("b1", 0.2), ("b2", -0.05)]);
    let mut s = law.initial_state();
    let error = |served: f64| Outer::error(3.0 / 7.0, served / (100.0 - served));
    let served = [40.0, 33.0, 28.0];
    let mut expected = START;
    let gains = [-0.5, -0.25, -0.1];
    for (k, x) in served.into_iter().enumerate() {
        second(&law, &mut s, (90.0, 160.0), (x, 100.0));
        let before = |n: usize| if k >= n { error(served[k - n]) } else { 0.0 };
        expected *= 1.0 + gains[k] * before(0) + 0.2 * before(1) - 0.05 * before(2);
        assert!((s.decrease / expected - 1.0).abs() < 1e-9, "{k}: {} {expected}", s.decrease);
    }
}

#[test]
fn what_cannot_be_steered_is_refused() {
    let why = |settings: &[(&str, f64)], classes: Vec<Class>| {
        either(&values(settings), &context(classes)).map(|_| ()).unwrap_err()
    };
    let share = |share: f64| Class { share: Some(share), ..Class::FREE };
    assert!(why(&[], vec![Class::FREE; 2]).contains("no class"));
    assert!(why(&[], vec![share(0.3), share(0.7)]).contains("every class"));
    assert!(why(&[], vec![share(0.0), Class::FREE]).contains("the `share` 0"));
    assert!(why(&[], vec![share(1.0), Class::FREE]).contains("the `share` 1"));
    assert!(why(&[], vec![Class { share: Some(0.3), ..floor(101) }, Class::FREE]).contains("add up"));
    assert!(why(&[("period", 0.0061)], vec![share(0.3), Class::FREE]).contains("whole multiple"));
    assert!(why(&[("edge_near", 0.6)], vec![share(0.3), Class::FREE]).contains("edge_far"));
    assert!(why(&[("inner", 1.0), ("gain", 0.5)], vec![share(0.3), Class::FREE]).contains("`gain`"));
    assert!(either(&values(&[("inner", 1.0)]), &context(vec![share(0.3), Class::FREE])).is_ok());
    assert!(why(&[("inner", 1.0), ("excess", 1.0)], vec![share(0.3), Class::FREE]).contains("`excess`"));
    assert!(why(&[("sample", 0.2)], vec![share(0.3), Class::FREE]).contains("`ratio = \"mean\"`"));
    assert!(why(&[("decay", 0.2)], vec![share(0.3), Class::FREE]).contains("`preemption = \"decay\"`"));
    assert!(why(&[("ratio", 1.0), ("sample", 0.3)], vec![share(0.3), Class::FREE]).contains("`period`"));
    assert!(
        why(&[("ratio", 1.0), ("sample", 0.1), ("interval", 0.008)], vec![share(0.3), Class::FREE])
            .contains("`sample`")
    );
    for (name, value) in [("preemption", 3.0), ("ratio", 1.0), ("excess", 1.0), ("inner", 1.0)] {
        let two = context(vec![share(0.3), Class::FREE]);
        let refused = in_kernel_arithmetic(&values(&[(name, value)]), &two).map(|_| ()).unwrap_err();
        assert!(refused.starts_with(&format!("`{name}`: the kernel implementation")), "{refused}");
    }
}

/// The whole of it over a queue and sources that do not respond: on either inner law each steered class gets its share,
/// of two classes and of three, far from what the inner law alone gives.
fn closed<A: Aimd<f64>>(law: &Clcc<f64, A>, offered_mbit: &[f64]) -> Vec<f64> {
    let mut draw = Draw(3);
    let mut states: Vec<State<f64>> = (0..offered_mbit.len()).map(|at| law.initial_state_of(at)).collect();
    let mut fifo = alloc::collections::VecDeque::new();
    let (mut credit, mut served) = (0.0, vec![0.0; offered_mbit.len()]);
    let (seconds, kept) = (80.0, 40.0);
    for step in 0..(seconds / 0.004) as u32 {
        let mut arrived = vec![0.0; offered_mbit.len()];
        for (class, mbit) in offered_mbit.iter().enumerate() {
            arrived[class] = libm::floor(mbit * 1e6 / 12_000.0 * 0.004 + draw.unit());
        }
        // Packets of the classes come in turns, each with its chance.
        let mut left = arrived.clone();
        while left.iter().any(|n| *n > 0.0) {
            for class in 0..left.len() {
                if left[class] > 0.0 {
                    left[class] -= 1.0;
                    if draw.unit() < states[class].inner.transmit && fifo.len() < 233 {
                        fifo.push_back(class);
                    }
                }
            }
        }
        credit = (credit + S * 0.004).min(fifo.len() as f64);
        let mut departed = vec![0.0; offered_mbit.len()];
        while credit >= 1.0 {
            departed[fifo.pop_front().unwrap()] += 1.0;
            credit -= 1.0;
        }
        let (all_arrived, all_departed) = (arrived.iter().sum(), departed.iter().sum());
        for (class, s) in states.iter_mut().enumerate() {
            let (arrived, departed) = (arrived[class], departed[class]);
            let queue = fifo.len() as f64;
            let observation =
                Observation { queue, arrived, capacity: S, departed, all_arrived, all_departed, ..Observation::ZERO };
            law.on_event(s, Event::Tick, &observation);
            if f64::from(step) * 0.004 >= kept {
                served[class] += departed * 12_000.0 / ((seconds - kept) * 1e6);
            }
        }
    }
    served
}

#[test]
fn shares_follow_on_either_law_and_with_more_classes() {
    let share = |share: f64| Class { share: Some(share), ..Class::FREE };
    let two = context(vec![share(0.3), Class::FREE]);
    let bat = closed(&Clcc::<f64, Bat<f64>>::compile(&values(&[]), &two).unwrap(), &[90.0, 80.0]);
    let aimd = closed(&Clcc::<f64, Plain<f64>>::compile(&values(&[("inner", 1.0)]), &two).unwrap(), &[90.0, 80.0]);
    for served in [bat, aimd] {
        assert!((served[0] / served[1] / (3.0 / 7.0) - 1.0).abs() < 0.05, "{served:?}");
    }
    let three = context(vec![share(0.2), share(0.1), Class::FREE]);
    let served = closed(&Clcc::<f64, Bat<f64>>::compile(&values(&[]), &three).unwrap(), &[90.0, 60.0, 80.0]);
    assert!((served[0] - 20.0).abs() < 1.0 && (served[1] - 10.0).abs() < 0.5, "{served:?}");
    // Without the outer loop the three would be near thirds.
    let open = closed(
        &Clcc::<f64, Bat<f64>>::compile(
            &values(&[("beta_near", 0.0), ("beta_between", 0.0), ("beta_far", 0.0)]),
            &three,
        )
        .unwrap(),
        &[90.0, 60.0, 80.0],
    );
    assert!(open.iter().all(|x| (x - 100.0 / 3.0).abs() < 1.5), "{open:?}");
}

/// The loop that the analysis is given is the one that is simulated: the same decreases, period by period.
#[test]
fn the_loop_alone_turns_as_the_whole_law_does() {
    let settings = [("b1", 0.2), ("b2", -0.05), ("preemption", 1.0)];
    let (whole, classes) = (clcc(&settings), context(vec![OF_SHARE, Class::FREE]));
    let alone = Turns::<Dual, Bat<Dual>>::compile(&values(&settings), &classes).unwrap();
    let (mut s, mut t) = (whole.initial_state(), alone.initial_state());
    let periods =
        [(90.0, 160.0, 40.0), (90.0, 160.0, 33.0), (15.0, 100.0, 15.0), (90.0, 1000.0, 99.0), (90.0, 95.0, 31.0)];
    for (own, all, served) in periods {
        second(&whole, &mut s, (own, all), (served, 100.0));
        let packets = |mbit: f64| Dual::of(mbit * 1e6 / 12_000.0);
        let observation = Observation {
            arrived: packets(own),
            capacity: Dual::of(S),
            departed: packets(served),
            all_arrived: packets(all),
            all_departed: packets(100.0),
            ..Observation::zero()
        };
        alone.on_event(&mut t, Event::Tick, &observation);
        assert!((t.decrease.value / s.decrease - 1.0).abs() < 1e-9, "{t:?} {s:?}");
        assert!((t.error.value - s.errors[0]).abs() < 1e-9 && (t.error_before.value - s.errors[1]).abs() < 1e-9);
    }
}
