use super::*;
use crate::quantity::{Bytes, Rate, Time};
use alloc::vec;

const MBIT: u64 = 1_000_000;
/// Packets of 1500 B in a second of 100 Mbit/s.
pub(in crate::aqm) const S: f64 = 1e8 / 12_000.0;

pub(in crate::aqm) fn context(classes: Vec<Class>) -> Context {
    Context { rate: Rate(100 * MBIT), delay: Time::ZERO, packet: Bytes(1500), classes }
}

pub(in crate::aqm) fn floor(mbit_per_s: u64) -> Class {
    Class { floor: Rate(mbit_per_s * MBIT), ..Class::FREE }
}

fn bat(classes: Vec<Class>) -> Bat<f64> {
    Bat::compile(&Values::defaults(ENTRY.parameters), &context(classes)).unwrap()
}

/// Uniform draws.
pub(in crate::aqm) struct Draw(pub(in crate::aqm) u64);

impl Draw {
    pub(in crate::aqm) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }
}

/// Sources of constant rate into a queue of 200 packets that the line empties: what each is served [Mbit/s] and the mean
/// queue [packets] over 20 s. The plant of the reference behind the tables below.
pub(in crate::aqm) fn run<A: Aimd<f64>>(law: &A, offered_mbit: &[f64]) -> (Vec<f64>, f64) {
    let mut draw = Draw(1);
    let dt = law.interval_s();
    let mut states: Vec<State<f64>> = (0..offered_mbit.len()).map(State::of).collect();
    let (mut queue, mut waited, mut served) = (0.0_f64, 0.0, vec![0.0; offered_mbit.len()]);
    let steps = libm::round(20.0 / dt) as u32;
    for _ in 0..steps {
        let arrived: Vec<f64> =
            offered_mbit.iter().map(|mbit| libm::floor(mbit * 1e6 / 12_000.0 * dt + draw.unit())).collect();
        let mut let_in: Vec<f64> = arrived
            .iter()
            .zip(&states)
            .map(|(n, s)| (0..*n as u32).filter(|_| draw.unit() < s.transmit).count() as f64)
            .collect();
        let (all, room) = (let_in.iter().sum::<f64>(), 200.0 - queue + S * dt);
        if all > room {
            for n in &mut let_in {
                *n *= room / all;
            }
        }
        let all: f64 = let_in.iter().sum();
        queue = (queue + all - S * dt).max(0.0);
        waited += queue;
        let all_let_in = arrived.iter().zip(&states).map(|(n, s)| n * s.transmit).sum();
        for ((served, n), (s, arrived)) in served.iter_mut().zip(let_in).zip(states.iter_mut().zip(arrived)) {
            *served += n * 12_000.0 / 20e6;
            let observation =
                Observation { queue, arrived, capacity: S, all_arrived: arrived, all_let_in, ..Observation::ZERO };
            law.step(s, law.decrease(s.class), &observation);
        }
    }
    (served, waited / f64::from(steps))
}

fn index(served: &[f64], wanted: &[f64]) -> f64 {
    let shares: Vec<f64> = served.iter().zip(wanted).map(|(x, w)| x / w).collect();
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|q| q * q).sum::<f64>());
    sum * sum / (shares.len() as f64 * squares)
}

/// (1e): `f_i = S (C_i/D_i) / sum (C_j/D_j)`, whatever is offered. Rates and queues of a discrete run elsewhere, of the
/// same constants, are 50.05, 50.02 with a queue of 95; 24.48, 75.57 with 91; 33.52, 66.54 with 92.
#[test]
fn the_weight_of_a_class_is_increase_over_decrease() {
    for (increases, decreases, predicted, queue_there) in [
        ([1.0, 1.0], [1.0, 1.0], [50.0, 50.0], 95.0),
        ([1.0, 1.0], [3.0, 1.0], [25.0, 75.0], 91.0),
        ([0.5, 1.0], [1.0, 1.0], [100.0 / 3.0, 200.0 / 3.0], 92.0),
    ] {
        let mut law = bat(vec![Class::FREE; 2]);
        for (own, (increase, decrease)) in law.classes.iter_mut().zip(increases.into_iter().zip(decreases)) {
            own.increase *= increase;
            own.decrease *= decrease;
        }
        let (served, queue) = run(&law, &[100.0, 100.0]);
        assert!(served.iter().zip(predicted).all(|(x, p)| (x - p).abs() < 1.5), "{served:?}");
        assert!((queue - queue_there).abs() < 10.0, "{queue}");
    }
}

/// The offered rate does not matter to (1e) as long as it is more than the share; a class that offers less keeps its rate.
#[test]
fn equal_constants_give_max_min_shares() {
    let law = bat(vec![Class::FREE; 2]);
    for (offered, wanted) in
        [([300.0, 60.0], [50.0, 50.0]), ([300.0, 20.0], [80.0, 20.0]), ([30.0, 40.0], [30.0, 40.0])]
    {
        let (served, _) = run(&law, &offered);
        assert!(index(&served, &wanted) > 0.998, "{offered:?}: {served:?}");
    }
}

/// 250 % of the line in five equal parts: 20 Mbit/s each, and the queue about half of the buffer, as the abstract of
/// Bowen and others promises a low occupancy at that load.
#[test]
fn five_classes_at_250_percent_of_the_line() {
    let (served, queue) = run(&bat(vec![Class::FREE; 5]), &[50.0; 5]);
    assert!(served.iter().all(|x| (x - 20.0).abs() < 0.5), "{served:?}");
    assert!(queue < 130.0, "{queue}");
}

fn with(settings: &[(&str, f64)], classes: Vec<Class>) -> Result<Bat<f64>, String> {
    let values = Values::of(ENTRY.parameters, settings);
    Bat::compile(&values, &context(classes))
}

/// With the excess by rate, the classes of the test above share the threshold instead of the line, at any of its values
/// below the line, and the queue is that of the intervals that let in more than the line carries.
#[test]
fn the_excess_by_rate_shares_the_threshold_and_leaves_a_short_queue() {
    for (threshold, at_most) in [(0.8, 5.0), (0.9, 10.0), (0.95, 20.0)] {
        let law = with(&[("excess", 1.0), ("threshold", threshold)], vec![Class::FREE; 5]).unwrap();
        let (served, queue) = run(&law, &[50.0; 5]);
        let each = 100.0 * threshold / 5.0;
        assert!(served.iter().all(|x| (x / each - 1.0).abs() < 0.05), "{threshold}: {served:?}");
        assert!(queue < at_most, "{threshold}: {queue}");
    }
}

/// The sum of the admitted rates of all classes decides; the level of the queue and its slope do not count.
#[test]
fn the_excess_by_rate_is_of_what_is_let_in() {
    let law = with(&[("excess", 1.0), ("threshold", 0.9)], vec![Class::FREE]).unwrap();
    for (queue, before, let_in, excess) in
        [(150.0, 100.0, 0.85, true), (150.0, 200.0, 0.95, false), (0.0, 0.0, 0.95, false), (0.0, 0.0, 0.85, true)]
    {
        let mut s = State { queue: before, ..at(0.5) };
        law.step(&mut s, 0.03125, &Observation { all_let_in: of_line(let_in), ..observation(queue, of_line(1.0)) });
        assert_eq!(s.transmit > 0.5, excess, "{queue} {before} {let_in}: {s:?}");
    }
}

/// A level has no effect on the excess by rate, nor a threshold on that by queue, and the kernel has the queue only.
#[test]
fn settings_of_the_other_excess_are_refused() {
    let why = |settings: &[(&str, f64)]| with(settings, vec![Class::FREE]).unwrap_err();
    assert_eq!(why(&[("threshold", 0.9)]), "`threshold` has an effect with `excess = \"rate\"` only");
    assert_eq!(why(&[("excess", 1.0), ("low", 0.001)]), "`low` has an effect with `excess = \"queue\"` only");
    assert_eq!(why(&[("excess", 1.0), ("high", 0.02)]), "`high` has an effect with `excess = \"queue\"` only");
    let mut values = Values::defaults(ENTRY.parameters);
    let fixed = ENTRY.fixed.unwrap();
    assert!(fixed(&values, &context(vec![Class::FREE])).is_ok());
    values.set(&EXCESS, 1.0).unwrap();
    let refused = fixed(&values, &context(vec![Class::FREE])).map(|_| ()).unwrap_err();
    assert_eq!(refused, "`excess`: the kernel implementation has `queue` only");
}

/// Figure 1: two sources of 100 Mbit/s and their floors; the fairness index against 50/50, as tabulated from a discrete
/// run elsewhere. The increase in proportion to `S + f_min - sum f_min` gives the figure its slope; with equal
/// increases it would be flat but for the last column.
#[test]
fn the_surface_of_figure_1() {
    let table: [&[f64]; 6] = [
        &[1.000, 0.997, 0.988, 0.970, 0.941, 0.900],
        &[1.000, 0.996, 0.985, 0.961, 0.923],
        &[1.000, 0.995, 0.980, 0.945],
        &[1.000, 0.994, 0.964],
        &[1.000, 0.989],
        &[1.000],
    ];
    for (one, row) in (0u64..).zip(table) {
        for (more, expected) in (0u64..).zip(row) {
            let floors = [10 * one, 10 * (one + more)];
            let mut law = bat(floors.map(floor).to_vec());
            law.classes.iter_mut().for_each(|own| own.ceiling = S);
            let (served, _) = run(&law, &[100.0, 100.0]);
            let got = index(&served, &[50.0, 50.0]);
            assert!((got - expected).abs() < 0.012, "{floors:?}: {got:.3} for {expected}, {served:?}");
            law.classes.iter_mut().for_each(|own| own.increase = 0.0625);
            let flat = index(&run(&law, &[100.0, 100.0]).0, &[50.0, 50.0]);
            assert!(flat > if one + more == 5 { 0.96 } else { 0.998 }, "{floors:?}, equal increases: {flat}");
        }
    }
}

fn observation(queue: f64, arrived: f64) -> Observation<f64> {
    Observation { queue, arrived, capacity: S, ..Observation::ZERO }
}
fn at(transmit: f64) -> State<f64> {
    State { transmit, ..State::of(0) }
}
/// Arrivals of an interval that offer so much of the line.
fn of_line(share: f64) -> f64 {
    S * 0.004 * share
}

/// Below the floor up by w, above the ceiling down by w, whatever the queue.
#[test]
fn the_coarse_level_keeps_the_guaranteed_interval() {
    let class = Class { ceiling: Some(Rate(60 * MBIT)), ..floor(40) };
    let law = bat(vec![class, Class::FREE]);
    for (queue, arrived, expected) in [
        (200.0, of_line(0.5), 0.5 + 0.0625), // 25 Mbit/s, below 40, though the queue is full
        (0.0, of_line(1.5), 0.5 * (1.0 - 0.0625)), // 75 Mbit/s, above 60, though the queue is empty
        (0.0, of_line(1.0), 0.5 + 0.0625 * (1.0 + 0.4 - 0.4) * 0.125), // between, and the first bit of the average
        (200.0, of_line(1.0), 0.5 * (1.0 - 0.03125)),
    ] {
        let mut s = at(0.5);
        law.step(&mut s, law.decrease(0), &observation(queue, arrived));
        assert!((s.transmit - expected).abs() < 1e-12, "{queue} {arrived}: {}", s.transmit);
    }
}

/// A guarantee above what is offered is kept by letting everything in, for ever.
#[test]
fn a_floor_above_the_offer_lets_everything_in() {
    let law = bat(vec![floor(40), Class::FREE]);
    let mut s = at(0.1);
    for _ in 0..20 {
        law.step(&mut s, law.decrease(0), &observation(200.0, of_line(0.2)));
    }
    assert_eq!(s.transmit, 1.0);
}

/// No guarantee is not a guarantee of zero: an interval without arrivals leaves a slow class where it is.
#[test]
fn a_class_without_a_floor_is_not_pushed_by_silence() {
    let law = bat(vec![Class::FREE; 2]);
    let mut s = at(0.1);
    law.step(&mut s, law.decrease(0), &observation(200.0, 0.0));
    assert_eq!(s.transmit, 0.1, "busy: idle classes keep what they had");
    for _ in 0..200 {
        law.step(&mut s, law.decrease(0), &observation(0.0, 0.0));
    }
    assert_eq!(s.transmit, 1.0, "all idle: everything is let in");
}

/// A decrease of more than everything leaves nothing, and nothing is not the end.
#[test]
fn a_probability_of_zero_recovers() {
    let law = bat(vec![Class::FREE; 2]);
    let mut s = at(0.5);
    law.step(&mut s, 2.0, &observation(200.0, of_line(3.0)));
    assert_eq!(s.transmit, 0.0);
    law.step(&mut s, 2.0, &observation(10.0, of_line(3.0)));
    assert!(s.transmit > 0.0);
}

/// Available at or below `low`; soon available below `high` while the queue shrinks.
#[test]
fn excess_is_a_short_queue_or_one_that_shrinks() {
    let law = bat(vec![Class::FREE]);
    let mut s = at(0.5);
    for (queue, bit) in
        [(20.0, true), (20.1, false), (99.0, false), (98.0, true), (98.0, false), (100.0, false), (99.9, true)]
    {
        let before = s.excess;
        law.step(&mut s, 0.0, &observation(queue, 0.0));
        assert_eq!(s.excess > before, bit, "{queue}");
    }
}

#[test]
fn guarantees_beyond_the_line_are_refused() {
    let compiled = |floors: [u64; 2]| {
        Bat::<f64>::compile(&Values::defaults(ENTRY.parameters), &context(floors.map(floor).to_vec())).map(|_| ())
    };
    assert_eq!(compiled([60, 40]), Ok(()));
    let why = compiled([60, 41]).unwrap_err();
    assert!(why.contains("101000000 bit/s") && why.contains("100000000 bit/s"), "{why}");
}

/// Floors of the whole line overrule congestion: each class has its own to within half a coarse step, and the queue stands
/// at its limit, where it drops.
#[test]
fn floors_of_the_whole_line_fill_the_queue() {
    let (served, queue) = run(&bat([30, 70].map(floor).to_vec()), &[100.0, 100.0]);
    assert!((served[0] - 30.0).abs() < 3.125 && (served[1] - 70.0).abs() < 3.125, "{served:?}");
    let (_, room) = run(&bat([20, 60].map(floor).to_vec()), &[100.0, 100.0]);
    assert!(queue > 180.0 && room < 130.0, "{queue}, with room {room}");
}

/// A class below its floor recovers by the coarse step from a probability of zero, whatever the queue.
#[test]
fn below_a_floor_a_probability_of_zero_recovers_by_the_coarse_step() {
    let law = bat(vec![floor(40), Class::FREE]);
    let mut s = at(0.0);
    law.step(&mut s, law.decrease(0), &observation(200.0, of_line(1.0)));
    assert_eq!(s.transmit, 0.0625);
}

/// With floors of the whole line, each class's increase is in proportion to its floor (the patent's form).
#[test]
fn increases_are_what_the_floors_of_others_leave() {
    let law = bat([10, 20, 30].map(floor).to_vec());
    let increases: Vec<f64> = law.classes.iter().map(|own| own.increase / 0.0625).collect();
    assert!(increases.iter().zip([0.5, 0.6, 0.7]).all(|(x, y)| (x - y).abs() < 1e-12), "{increases:?}");
}

/// The other AQM: equal constants give equal probabilities, so that rates go by what is offered; a decrease twice as
/// large halves the probability.
#[test]
fn plain_aimd_gives_equal_probabilities() {
    use crate::aqm::aimd;
    let entry = &aimd::ENTRY;
    let mut values = Values::defaults(entry.parameters);
    let shares = |values: &Values| {
        let classes = vec![Class { share: Some(0.3), ..Class::FREE }, Class::FREE];
        let law = aimd::Plain::<f64>::compile(values, &context(classes)).unwrap();
        run(&law, &[240.0, 120.0]).0
    };
    let served = shares(&values);
    assert!((served[0] / served[1] - 2.0).abs() < 0.1 && (served[0] + served[1] - 100.0).abs() < 2.0, "{served:?}");
    values.set(entry.parameters.iter().find(|p| p.name == "correction").unwrap(), 4.0).unwrap();
    let served = shares(&values);
    // A quarter of the other's probability: 60 parts against 120.
    assert!((served[0] / served[1] - 0.5).abs() < 0.07, "{served:?}");
    assert!(
        aimd::Plain::<f64>::compile(&values, &context(vec![floor(10), Class::FREE]))
            .unwrap_err()
            .contains("does not keep rate floors or ceilings")
    );
}
