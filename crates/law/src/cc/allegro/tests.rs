//! PCC Allegro alone, with what intervals would have measured.

use alloc::vec::Vec;

use super::*;

fn law(set: &[(&str, f64)]) -> Allegro {
    compiled(set).unwrap()
}

fn compiled(set: &[(&str, f64)]) -> Result<Allegro, String> {
    let values = Values::of(ENTRY.parameters, set);
    let context = Context { packet: crate::quantity::Bytes(1250), initial_window: 10.0, initial_ssthresh: 1e9 };
    Allegro::compile(&values, &context)
}

/// A flow of 1000 packets/s and 40 ms in a phase.
fn state(law: &Allegro, phase: Phase) -> State<f64> {
    State { rate: 1000.0, pace: 1000.0, rtt_s: 0.04, phase, ..law.initial_state() }
}

/// The time at which every interval of these tests is known.
const LATER: Time = Time(2 * Time::PER_SECOND);

/// An interval of a second that lost so many of its packets, and has the results of all.
fn seen(rate: f64, lost: u32) -> Interval {
    let mut interval = Interval::begin(Time::ZERO, Time(Time::PER_SECOND), rate, 0);
    let packets = libm::round(rate) as u32;
    interval.end(Time(Time::PER_SECOND), u64::from(packets));
    interval.acked(Time::ZERO, packets - lost, None);
    for _ in 0..lost {
        interval.lost();
    }
    interval
}

/// Two pairs of trials at 1000 packets/s and `epsilon` on both sides, the larger rate first, then last, with these losses of up and down.
fn trials(law: &Allegro, s: &mut State<f64>, lost: [[u32; 2]; 2]) {
    let (up, down) = (1000.0 * (1.0 + s.epsilon), 1000.0 * (1.0 - s.epsilon));
    s.phase = Phase::Trials([true, false]);
    let [[a, b], [c, d]] = lost;
    s.intervals = [seen(up, a), seen(down, b), seen(down, d), seen(up, c)].map(Some);
    assert!(law.conclude(s, LATER));
}

/// The rate in percent of 1000 packets/s.
fn percent(s: &State<f64>) -> f64 {
    s.rate / 10.0
}

#[track_caller]
fn assert_near(is: f64, should: f64) {
    assert!((is - should).abs() < 1e-9 * should.abs().max(1.0), "{is}, not {should}");
}

/// Section 2.2 at a rate of 100: 100 / (1 + e^-5), 95 / 2 - 5, and 90 / (1 + e^5) - 10. The utility of a rate under losses at random is
/// that rate times a number, which is zero at a loss rate of 7.44 %: any more is worth nothing above it.
#[test]
fn the_utility_is_that_of_the_paper() {
    let law = law(&[]);
    for (loss, utility) in [(0.0, 99.330_714_907_571_5), (0.05, 42.5), (0.1, -9.397_643_416_814_4)] {
        assert_near(law.worth(100.0, loss), utility);
    }
    assert!(law.worth(200.0, 0.0743) > law.worth(100.0, 0.0743));
    assert!(law.worth(200.0, 0.0745) < law.worth(100.0, 0.0745));
}

/// The cliff: a loss of one more packet in a hundred takes 4 % of the utility at 1 %, and 31 % at 4 %.
#[test]
fn losses_count_little_far_below_the_threshold() {
    let law = law(&[]);
    let drop = |loss: f64| 1.0 - law.worth(1.0, loss + 0.01) / law.worth(1.0, loss);
    assert!(drop(0.0) < 0.04 && drop(0.01) < 0.06, "{} {}", drop(0.0), drop(0.01));
    assert!(drop(0.04) > 0.3, "{}", drop(0.04));
}

/// Theorems 1 and 2 of the paper: n flows that lose 1 - C / sum of the rates go to one rate, whose sum is between C and 20/19 C, if each
/// goes up by epsilon where that is worth more than down. Each rate stays within (1 + epsilon)^2 of the equilibrium, so two are within
/// the fourth power.
#[test]
fn flows_go_to_one_rate_and_fill_the_line() {
    let law = law(&[]);
    let epsilon = 0.01;
    for n in [1, 2, 5, 20] {
        let mut rates: Vec<f64> = (0..n).map(|i| if i == 0 { 90.0 } else { 0.1 * f64::from(i) }).collect();
        for _ in 0..20_000 {
            let sum: f64 = rates.iter().sum();
            let worth = |x: f64, new: f64| law.worth(new, Number::max(1.0 - 100.0 / (sum - x + new), 0.0));
            let up = |x: f64| worth(x, x * (1.0 + epsilon)) > worth(x, x * (1.0 - epsilon));
            rates = rates.iter().map(|x| x * if up(*x) { 1.0 + epsilon } else { 1.0 - epsilon }).collect();
        }
        let (least, most) = rates.iter().fold((f64::MAX, 0.0f64), |(a, b), x| (Number::min(a, *x), Number::max(b, *x)));
        let sum: f64 = rates.iter().sum();
        assert!(most / least < libm::pow((1.0 + epsilon) / (1.0 - epsilon), 2.0) * 1.0001, "{n}: {least} to {most}");
        assert!(sum > 100.0 * (1.0 - 2.0 * epsilon) && sum < 100.0 * 20.0 / 19.0 * (1.0 + 2.0 * epsilon), "{n}: {sum}");
    }
}

/// Section 3.2: the rate doubles with each interval, whose results come an interval later; once utility falls, the rate is the one
/// before, half of that whose utility fell.
#[test]
fn a_start_ends_at_the_rate_before_utility_fell() {
    let law = law(&[]);
    let mut s = state(&law, Phase::Start(None));
    s.rate = 8000.0;
    s.intervals = [Some(seen(1000.0, 0)), Some(seen(2000.0, 40)), Some(seen(4000.0, 2000)), None];
    assert!(law.conclude(&mut s, LATER) && law.conclude(&mut s, LATER));
    assert_eq!((s.rate, matches!(s.phase, Phase::Start(Some(_)))), (8000.0, true));
    assert!(law.conclude(&mut s, LATER));
    assert_eq!((s.rate, s.phase, s.intervals), (2000.0, Phase::Trials([true; 2]), [None; 4]));
    assert_eq!(s.epsilon, 0.01);
}

/// Section 3.2: only two pairs that agree move the rate. Each that do not widen the trials by 1 %, up to 5 %.
#[test]
fn two_pairs_that_agree_decide() {
    let law = law(&[]);
    let mut s = state(&law, Phase::Trials([true; 2]));
    let mut shares = Vec::new();
    for _ in 0..6 {
        shares.push(s.epsilon);
        trials(&law, &mut s, [[0, 0], [100, 0]]);
        assert_eq!(s.rate, 1000.0);
    }
    for (is, should) in shares.into_iter().zip([0.01, 0.02, 0.03, 0.04, 0.05, 0.05]) {
        assert_near(is, should);
    }
    // Up by the trials' 5 %, then the first step of 1 %.
    trials(&law, &mut s, [[0, 0], [0, 0]]);
    assert_near(percent(&s), 105.0 * 1.01);
    assert_eq!(s.epsilon, 0.01);
    // The other way.
    let mut s = state(&law, Phase::Trials([true; 2]));
    trials(&law, &mut s, [[100, 0], [100, 0]]);
    assert_near(percent(&s), 99.0 * 0.99);
}

/// Section 3.2: r_n = r_(n-1) (1 + n epsilon_min dir), until the utility falls; then the rate is r_(n-1), and trials are of 1 % again.
#[test]
fn steps_grow_until_utility_falls() {
    let law = law(&[]);
    for (up, steps) in [(true, [101.0, 103.02, 106.1106, 110.355_024]), (false, [99.0, 97.02, 94.1094, 90.345_024])] {
        let mut s = state(&law, Phase::Trials([true; 2]));
        law.adjust(&mut s, 1, up, -1e9);
        for step in steps {
            assert_near(percent(&s), step);
            // Down from losses, or up without.
            let lost = if up { 0 } else { libm::round(s.rate / 2.0) as u32 };
            s.intervals[0] = Some(seen(s.rate, lost));
            assert!(law.conclude(&mut s, LATER));
        }
        s.intervals[0] = Some(seen(s.rate, 900.min(libm::floor(s.rate) as u32)));
        assert!(law.conclude(&mut s, LATER));
        assert_near(percent(&s), steps[3]);
        assert_eq!((s.phase, s.epsilon), (Phase::Trials([true; 2]), 0.01));
    }
}

/// Section 3.1: from 1.7 to 2.2 round trips, by the draw, but ten packets at the least. The order of a pair is drawn too.
#[test]
fn intervals_last_as_drawn() {
    let law = law(&[]);
    for (uniform, round_trips, up) in
        [(0.0, 1.7, true), (0.25, 1.95, true), (0.75, 1.95, false), (0.999_999, 2.2, false)]
    {
        let mut s = state(&law, Phase::Trials([true; 2]));
        let d = delivery(Time(Time::PER_SECOND), uniform);
        law.begin(&mut s, &d);
        let first = s.intervals[0].unwrap();
        assert!((first.due.since(d.now).seconds() - round_trips * 0.04).abs() < 1e-5, "{uniform}: {first:?}");
        assert_near(first.rate, if up { 1010.0 } else { 990.0 });
        let mut s = state(&law, Phase::Trials([true; 2]));
        s.rate = 50.0;
        law.begin(&mut s, &d);
        let first = s.intervals[0].unwrap();
        assert!((first.due.since(d.now).seconds() - 10.0 / first.rate).abs() < 1e-9, "{uniform}: {first:?}");
    }
}

fn delivery(now: Time, uniform: f64) -> Delivery {
    Delivery {
        event: DeliveryEvent::Timer,
        now,
        sent: 0,
        delivered: 0,
        lost: 0,
        in_flight: 0,
        app_limited: false,
        window_limited: false,
        uniform,
    }
}

/// A flow that cannot send at its rate has the utility of what it sent, not of the rate: a rate without a bound would be worth most.
#[test]
fn a_rate_that_is_not_sent_is_worth_nothing_more() {
    let law = law(&[]);
    let mut interval = Interval::begin(Time::ZERO, Time(Time::PER_SECOND), 1e6, 0);
    interval.end(Time(Time::PER_SECOND), 1000);
    interval.acked(Time::ZERO, 1000, None);
    assert!(law.utility(&interval) < law.worth(1003.0, 0.0));
    assert_near(law.utility(&seen(1000.0, 10)), law.worth(1000.0, 0.01));
}

/// While nothing is delivered each lower rate is worth more. At the least rate that ends, though utility goes on growing as the path comes
/// back: else the flow would not rise with it.
#[test]
fn the_way_down_ends_at_the_least_rate() {
    let law = law(&[]);
    let mut s = state(&law, Phase::Trials([true; 2]));
    law.adjust(&mut s, 1, false, -1e9);
    let mut delivered = 0;
    while matches!(s.phase, Phase::Adjust { .. }) {
        let sent = libm::round(s.rate) as u32;
        delivered += u32::from(sent == 50);
        assert!(delivered < 3, "{s:?}");
        s.intervals[0] = Some(seen(s.rate, sent - delivered));
        assert!(law.conclude(&mut s, LATER));
    }
    assert_eq!((s.rate, s.phase), (2.0 / 0.04, Phase::Trials([true; 2])));
}

/// An interval in which the flow was short of data says nothing: the same again, and a start does not double.
#[test]
fn an_interval_short_of_data_is_left_out() {
    let law = law(&[]);
    let limited = || {
        let mut interval = Interval::begin(Time::ZERO, Time(Time::PER_SECOND), 1000.0, 0);
        interval.limit();
        interval.end(Time(Time::PER_SECOND), 1);
        interval.acked(Time::ZERO, 1, None);
        Some(interval)
    };
    let mut s = state(&law, Phase::Start(None));
    s.rate = 2000.0;
    s.intervals = [limited(), Some(seen(2000.0, 0)), None, None];
    assert!(law.conclude(&mut s, LATER));
    assert_eq!((s.rate, s.phase, s.intervals), (1000.0, Phase::Start(None), [None; 4]));
    let mut s = state(&law, Phase::Trials([true; 2]));
    s.intervals = [Some(seen(1010.0, 0)), Some(seen(990.0, 0)), limited(), Some(seen(990.0, 0))];
    assert!(law.conclude(&mut s, LATER));
    assert_eq!((s.rate, s.epsilon, s.intervals), (1000.0, 0.01, [None; 4]));
}

/// A timeout halves the rate, not below two packets a round trip, and before the first round trip it changes nothing.
#[test]
fn a_timeout_halves_the_rate() {
    let law = law(&[]);
    let d = Delivery { event: DeliveryEvent::Timeout, ..delivery(LATER, 0.5) };
    let mut s = law.initial_state();
    law.on_detail(&mut s, &d, &Observation::zero());
    assert_eq!(s, law.initial_state());
    let mut s = state(&law, Phase::Start(None));
    for rate in [500.0, 250.0, 125.0, 62.5, 50.0] {
        law.on_detail(&mut s, &d, &Observation::zero());
        assert_eq!(s.rate, rate);
        assert!(matches!(s.phase, Phase::Trials(_)));
    }
}

#[test]
fn bounds_that_cross_are_refused() {
    assert!(
        compiled(&[("epsilon_min", 0.06)])
            .unwrap_err()
            .contains("`epsilon_min` = 0.06 must not exceed `epsilon_max` = 0.05")
    );
    assert!(compiled(&[("interval_max", 1.0)]).unwrap_err().contains("interval_min"));
}
