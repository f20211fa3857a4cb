//! Several bottlenecks: equilibria in closed form, the loop matrix against (12) of fast-aqm, and what has no answer.

use crate::scenarios::{aqm, cc, dumbbell, group, off};
use penstock_fluid::analysis::closed_loop;
use penstock_fluid::theory::network::{Network, NetworkSource};
use penstock_fluid::{Analysis, AnalysisError, Answer, Complex, LoopModel, Options, Verdict, analyze};
use penstock_law::quantity::{Rate, Time};
use penstock_scenario::model::{Group, Link, Scenario};

/// A chain of links, each with a rate [bit/s], of one propagation delay [s]; groups cross the links from one place to another.
fn chain(rates: &[f64], delay_s: f64, queue: &str, groups: Vec<(Group, std::ops::Range<usize>)>) -> Scenario {
    let law = aqm(queue, &[]);
    let mut scenario = dumbbell(rates[0], 1000, &law, Vec::new());
    let model: Link = scenario.links["bottleneck"].clone();
    scenario.links.clear();
    for (i, rate) in rates.iter().enumerate() {
        let link = Link { rate: Rate(*rate as u64), delay: Time::from_seconds(delay_s), ..model.clone() };
        scenario.links.insert(format!("link{i}"), link);
    }
    for (i, (group, path)) in groups.into_iter().enumerate() {
        let forward = path.map(|l| format!("link{l}")).collect();
        scenario.groups.insert(format!("group{i}"), Group { forward, backward: Vec::new(), ..group });
    }
    scenario
}

fn analysis(scenario: &Scenario) -> Analysis {
    analyze(scenario, &Options::default()).unwrap()
}

fn parking_lot(rates: [f64; 2], queue: &str, cc_: &dyn Fn() -> Group, counts: [u32; 3]) -> Scenario {
    let of = |count| Group { count, ..cc_() };
    let groups = vec![(of(counts[0]), 0..2), (of(counts[1]), 0..1), (of(counts[2]), 1..2)];
    chain(&rates, 0.01, queue, groups)
}

/// Proportional fairness on the parking lot: with `q = 7.5 alpha / c` on each of two equal links, a long flow gets a third
/// of what a link carries a pair, and half of what a short one does.
#[test]
fn fast_over_two_equal_links() {
    let fast = || group(1, 0.05, cc("fast", &[("alpha", 20.0)]));
    let a = analysis(&parking_lot([1e8; 2], "droptail", &fast, [5, 5, 5]));
    for link in &a.links {
        assert!(link.binding && off(link.queueing_delay_s, 7.5 * 20.0 / 12_500.0) < 1e-9, "{link:?}");
        assert!((link.utilization - 1.0).abs() < 1e-9);
    }
    for (class, share) in a.classes.iter().zip([1.0, 2.0, 2.0]) {
        assert!(off(class.rate_packets_per_s, share * 2500.0 / 3.0) < 1e-9, "{class:?}");
    }
    assert_eq!(a.verdict, Verdict::Stable);
    agrees(&a);
}

/// Rates and prices are those of the convex program, for weighted log utilities.
fn agrees(a: &Analysis) {
    let program = a.program.as_ref().expect("log utilities are known");
    println!("the program: rates {:.1e}, prices {:.1e}", program.rate_difference, program.price_difference);
    assert!(program.exponents.iter().all(|b| *b == 1.0), "{program:?}");
    assert!(program.rate_difference < 1e-6 && program.price_difference < 1e-6, "{program:?}");
}

/// Unequal links, K log x, `x = K / (p1 + p2)` for the long flows: both capacity equations to the last digits.
#[test]
fn leadlag_over_two_unequal_links() {
    let leadlag = || group(1, 0.1, cc("leadlag", &[("M", 2.0)]));
    let a = analysis(&parking_lot([1e9, 4e8], "price", &leadlag, [20, 30, 10]));
    let (p, q) = (a.links[0].price_s.unwrap(), a.links[1].price_s.unwrap());
    let long = 20.0 * 50.0 / (p + q);
    assert!(off(long + 30.0 * 50.0 / p, 0.95 * 125_000.0) < 1e-9, "{p} {q}");
    assert!(off(long + 10.0 * 50.0 / q, 0.95 * 50_000.0) < 1e-9, "{p} {q}");
    assert!(off(a.classes[0].price_s.unwrap(), p + q) < 1e-9, "marks combine to the sum of prices");
    agrees(&a);
    assert_eq!(a.verdict, Verdict::Stable);
}

/// A link that is never full says nothing, and the other is as if alone.
#[test]
fn a_link_that_limits_nobody_is_silent() {
    let leadlag = || group(1, 0.1, cc("leadlag", &[]));
    let two = analysis(&chain(&[1e9, 3e9], 0.01, "price", vec![(Group { count: 50, ..leadlag() }, 0..2)]));
    let one = analysis(&chain(&[1e9], 0.01, "price", vec![(Group { count: 50, ..leadlag() }, 0..1)]));
    assert!(two.links[0].binding && !two.links[1].binding, "{:?}", two.links);
    assert!(off(two.links[1].utilization, 0.95 / 3.0) < 1e-9);
    assert!(off(two.links[0].price_s.unwrap(), one.links[0].price_s.unwrap()) < 1e-9);
    let margin = |a: &Analysis| a.model(LoopModel::Sampled).margins.gain_margin.unwrap();
    assert!(off(margin(&two), margin(&one)) < 1e-9);
}

/// Two links that share no flow: two eigenloci, each that of its own link.
#[test]
fn links_that_share_no_flow_are_two_loops() {
    let leadlag = |rtt_s: f64| group(50, rtt_s, cc("leadlag", &[]));
    let both = analysis(&chain(&[1e9, 2e9], 0.01, "price", vec![(leadlag(0.05), 0..1), (leadlag(0.2), 1..2)]));
    let margin = |a: &Analysis| a.model(LoopModel::Sampled).margins.clone();
    let alone = [
        analysis(&chain(&[1e9], 0.01, "price", vec![(leadlag(0.05), 0..1)])),
        analysis(&chain(&[2e9], 0.01, "price", vec![(leadlag(0.2), 0..1)])),
    ];
    let least = alone.iter().map(|a| margin(a).gain_margin.unwrap()).fold(f64::INFINITY, f64::min);
    assert!(off(margin(&both).gain_margin.unwrap(), least) < 1e-6);
    let peak = alone.iter().map(|a| margin(a).sensitivity_peak).fold(0.0, f64::max);
    assert!(off(margin(&both).sensitivity_peak, peak) < 1e-6, "{} {peak}", margin(&both).sensitivity_peak);
    assert_eq!(both.model(LoopModel::Laws).nyquist.len(), 2);
}

/// The least singular value of a matrix of two rows, from its determinant and the sum of its squares.
fn least_singular(a: &[Vec<Complex>]) -> f64 {
    let determinant = (a[0][0] * a[1][1] - a[0][1] * a[1][0]).abs();
    let squares: f64 = a.iter().flatten().map(|entry| entry.abs() * entry.abs()).sum();
    let largest = f64::midpoint(squares, (squares * squares - 4.0 * determinant * determinant).max(0.0).sqrt()).sqrt();
    determinant / largest
}

/// ACK-clocked senders have poles on the axis. The peak of the sensitivity is that of a plain scan beside the poles, and never
/// below the inverse of the least distance of an eigenvalue.
#[test]
fn the_peak_of_the_sensitivity_of_two_links_with_an_ack_clock() {
    let fast = |count: u32, rtt_s: f64| group(count, rtt_s, cc("fast", &[("alpha", 20.0)]));
    let groups = vec![(fast(2, 0.1), 0..2), (fast(1, 0.06), 0..1), (fast(3, 0.08), 1..2)];
    let scenario = chain(&[1e7, 1.2e7], 0.01, "droptail", groups);
    let analysed = analysis(&scenario);
    let (closed, _) = closed_loop(&scenario, &Options::default(), &|_| ()).unwrap();
    for model in &analysed.models {
        let margins = &model.margins;
        let coarse = (0..20_000).map(|k| 0.1 * libm::pow(10.0, f64::from(k) / 4000.0));
        // A peak of a thousand is narrow.
        let fine = (0..4000).map(|k| margins.least_distance_rad_per_s + 1e-3 * f64::from(k - 2000));
        let singular = coarse.chain(fine).filter_map(|w| {
            let mut matrix = closed.matrix(Complex::axis(w), model.model);
            let trusted = matrix.iter().flatten().all(|entry| entry.abs() < 1e6);
            matrix[0][0] = matrix[0][0] + Complex::ONE;
            matrix[1][1] = matrix[1][1] + Complex::ONE;
            trusted.then(|| least_singular(&matrix))
        });
        let least = singular.fold(f64::INFINITY, f64::min);
        println!("{:?}: {} by a scan, {}", model.model, 1.0 / least, margins.sensitivity_peak);
        assert!(margins.sensitivity_peak * margins.least_distance >= 1.0 - 1e-9, "{margins:?}");
        assert!((0.999..1.05).contains(&(margins.sensitivity_peak * least)), "{margins:?} and {least}");
    }
}

/// The loop of a scenario is (12) with the compensator (13), entry by entry, and so are its margins, which see the
/// eigenvalues alone. The difference is that of the step map, and goes with the period.
#[test]
fn the_loop_matrix_is_equation_12() {
    let rtts = [0.12, 0.05, 0.2];
    let chained = |period: f64| {
        let of = |rtt_s: f64, count: u32| group(count, rtt_s, cc("leadlag", &[("M", 2.0), ("period", period)]));
        let groups = vec![(of(rtts[0], 40), 0..2), (of(rtts[1], 60), 0..1), (of(rtts[2], 30), 1..2)];
        let mut scenario = chain(&[1e9, 6e8], 0.01, "price", groups);
        for link in scenario.links.values_mut() {
            link.aqm = aqm("price", &[("period", period)]);
        }
        scenario
    };
    let with = |period: f64| analysis(&chained(period));
    let a = with(0.001);
    let mut network = Network { capacities: vec![0.95 * 125_000.0, 0.95 * 75_000.0], sources: Vec::new() };
    for (class, path) in a.classes.iter().zip([vec![(0, 0.0), (1, 0.01)], vec![(0, 0.0)], vec![(1, 0.0)]]) {
        // K log x: nu/kappa = M tau / (alpha q0).
        let nu_over_kappa = 2.0 * class.rtt_s / (0.37 * class.price_s.unwrap());
        network.sources.push(NetworkSource {
            rate: class.rate_packets_per_s * f64::from(class.count),
            rtt_s: class.rtt_s,
            alpha: 0.37,
            bottlenecks: 2.0,
            lead_lag: Some((0.64, nu_over_kappa)),
            path,
        });
    }
    let span = penstock_fluid::margin::Span { slowest_s: 0.2, fastest_s: 0.05 };
    let (hand, _) = penstock_fluid::margin::matrix_margins(&|s| network.gain(s), span);
    let difference =
        |a: &Analysis| a.model(LoopModel::Laws).margins.gain_margin.unwrap() / hand.gain_margin.unwrap() - 1.0;
    let (one, ten) = (difference(&a), difference(&with(0.01)));
    println!("gain margin by hand {:?}, by the laws {one:.2e} off at 1 ms, {ten:.2e} at 10 ms", hand.gain_margin);
    assert!(one.abs() < 1.5e-3 && (ten / one - 10.0).abs() < 1.0, "{one} {ten}");
    // The delay from one link to the next stands in the entries off the diagonal: turned round, it leaves all eigenvalues
    // as they are, and one of these entries a fifth of a radian and more off.
    let entries = |period: f64, w: f64| {
        let (closed, _) = closed_loop(&chained(period), &Options::default(), &|_| ()).unwrap();
        let (found, hand) = (closed.matrix(Complex::new(0.0, w), LoopModel::Laws), network.gain(Complex::new(0.0, w)));
        let off = |row: usize, column: usize| {
            let (found, hand) = (found[row][column], hand[row][column]);
            (found - hand).abs() / hand.abs()
        };
        [off(0, 0), off(0, 1), off(1, 0), off(1, 1)]
    };
    for w in [1.0, 5.0, 10.0, 20.0] {
        for (one, ten) in entries(0.001, w).into_iter().zip(entries(0.01, w)) {
            println!("an entry at {w} rad/s is {one:.2e} off at 1 ms, {ten:.2e} at 10 ms");
            assert!(one < 0.01 && (ten / one - 10.0).abs() < 1.0, "at {w} rad/s: {one} and {ten}");
        }
    }
    // And by the rightmost root of its equations.
    assert!(network.equations().rightmost(1).unwrap().roots[0].re < 0.0);
}

/// The same flows through two links of one rate: the sum of the prices is determined, their shares are not.
#[test]
fn a_rank_deficient_routing_is_said_not_solved() {
    let leadlag = || group(50, 0.1, cc("leadlag", &[("M", 2.0)]));
    let refused = analyze(&chain(&[1e9; 2], 0.01, "price", vec![(leadlag(), 0..2)]), &Options::default()).unwrap_err();
    let AnalysisError::RankDeficient { links, rank } = &refused else { panic!("{refused}") };
    assert_eq!((links.len(), *rank), (2, 1));
    assert!(refused.to_string().contains("prices are not determined"), "{refused}");
}

/// Marks of one link and drops of another are two signals.
#[test]
fn marks_and_drops_on_one_path_are_refused() {
    let newreno = group(50, 0.1, cc("newreno", &[("ecn", 1.0)]));
    let mut scenario = chain(&[1e9, 9e8], 0.01, "red", vec![(newreno, 0..2)]);
    scenario.links["link1"].aqm = aqm("red", &[("ecn", 1.0)]);
    let refused = analyze(&scenario, &Options::default()).unwrap_err().to_string();
    assert!(refused.contains("`link1`, which marks") && refused.contains("`link0`, which drops"), "{refused}");
}

/// Drops thin what arrives at the next link; both equations of the flow balance hold.
#[test]
fn what_is_dropped_does_not_arrive_at_the_next_link() {
    let newreno = |count: u32| group(count, 0.1, cc("newreno", &[]));
    let groups = vec![(newreno(20), 0..2), (newreno(20), 0..1), (newreno(20), 1..2)];
    let a = analysis(&chain(&[1e8, 8e7], 0.01, "red", groups));
    let p: Vec<f64> = a.links.iter().map(|l| l.mark_probability).collect();
    let x: Vec<f64> = a.classes.iter().map(|c| 20.0 * c.rate_packets_per_s).collect();
    assert!(a.links.iter().all(|l| l.binding));
    assert!(off((x[0] + x[1]) * (1.0 - p[0]), 12_500.0) < 1e-9, "{x:?} {p:?}");
    assert!(off((x[0] * (1.0 - p[0]) + x[2]) * (1.0 - p[1]), 10_000.0) < 1e-9, "{x:?} {p:?}");
    let path = 1.0 - (1.0 - p[0]) * (1.0 - p[1]);
    assert!(off(a.classes[0].drop_probability, path) < 1e-9);
}

/// The verdict alone is that of the whole analysis, with its margins to the bit: of one link and of two, with and without estimators,
/// sampled laws, clocks of acknowledgements, and parts without a common class.
#[test]
fn the_verdict_alone_is_that_of_the_analysis() {
    let one = |law: &str, queue: &str, set: &[(&str, f64)]| {
        let groups = vec![group(3, 0.05, cc(law, &[])), group(4, 0.12, cc(law, &[]))];
        dumbbell(30e6, 1000, &aqm(queue, set), groups)
    };
    let mut two = one("fast", "droptail", &[]);
    let second = two.links[0].clone();
    two.links.insert("second".into(), second);
    two.groups[1].forward = vec!["second".into()];
    let mut long = two.clone();
    long.groups[0].forward.push("second".into());
    let scenarios = [
        one("fast", "droptail", &[]),
        one("newreno", "pi", &[("ecn", 1.0)]),
        one("newreno", "red", &[("ecn", 1.0)]),
        one("leadlag", "price", &[]),
        two,
        long,
    ];
    let mut models = Vec::new();
    for scenario in scenarios {
        let whole = Answer::of(&scenario, &Options::default(), &|_| ()).unwrap();
        let (verdict, margins) = whole.verdict();
        let alone = Answer::verdict_of(&scenario, &Options::default(), &|_| ()).unwrap();
        assert_eq!(format!("{alone:?}"), format!("{:?}", (verdict, margins)), "{}", scenario.title);
        let Answer::Network(analysis) = whole else { panic!("no network") };
        models.push(analysis.models[2].margins == analysis.models[0].margins);
    }
    assert!(models.contains(&true) && models.contains(&false), "{models:?}");
}
