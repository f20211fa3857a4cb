//! BBR, version 3, over a path that is worked out by hand: 1000 packets a second, 40 ms, an acknowledgement each millisecond.

use alloc::vec::Vec;

use super::*;
use crate::cc::RateSample;
use crate::quantity::Bytes;

const MS: u64 = 1_000_000_000;

fn law(set: &[(&str, f64)]) -> Bbr3 {
    let values = Values::of(ENTRY.parameters, set);
    let context = Context { packet: Bytes(1200), initial_window: 10.0, initial_ssthresh: f64::INFINITY };
    Bbr3::compile(&values, &context).unwrap()
}

/// The law, its state, and what was delivered and lost so far.
struct Path {
    law: Bbr3,
    s: State<f64>,
    now_ms: u64,
    delivered: u64,
    lost: u64,
    uniform: f64,
    window_limited: bool,
}

impl Path {
    fn new(set: &[(&str, f64)]) -> Self {
        let law = law(set);
        let s = law.initial_state();
        Self { law, s, now_ms: 0, delivered: 0, lost: 0, uniform: 0.0, window_limited: false }
    }

    fn tell(&mut self, event: DeliveryEvent, in_flight: u64) {
        let delivery = Delivery {
            event,
            now: Time(self.now_ms * MS),
            sent: self.delivered + self.lost + in_flight,
            delivered: self.delivered,
            lost: self.lost,
            in_flight,
            app_limited: false,
            window_limited: self.window_limited,
            uniform: self.uniform,
        };
        let seen = Observation { rtt_s: 0.04, base_rtt_s: 0.04, ..Observation::zero() };
        self.law.on_detail(&mut self.s, &delivery, &seen);
    }

    /// A packet is delivered each millisecond, at `rate` packets a second, after a round trip of 40 ms.
    fn ack(&mut self, rate: f64, in_flight: u64, app_limited: bool) {
        self.ack_with(1, rate, in_flight, app_limited, 0);
    }

    /// The same `after` milliseconds, with so many packets lost since the newest was sent.
    fn ack_with(&mut self, after: u64, rate: f64, in_flight: u64, app_limited: bool, lost: u64) {
        self.now_ms += after;
        let delivered = (rate * 0.04) as u64;
        self.delivered += 1;
        let then = Transmission {
            sent: Time(self.now_ms.saturating_sub(40) * MS),
            delivered: self.delivered.saturating_sub(40),
            lost: self.lost - lost,
            in_flight,
            app_limited,
        };
        let rate = Some(RateSample { delivered, interval: Time(40 * MS), then });
        let rtt = Some(Time(40 * MS));
        let ack = AckSample { packets: 1, marked: 0, lost: 0, in_flight_before: in_flight + 1, rtt, rate };
        self.tell(DeliveryEvent::Ack(ack), in_flight);
    }

    fn rounds(&mut self, rounds: u64, rate: f64, in_flight: u64) {
        (0..40 * rounds).for_each(|_| self.ack(rate, in_flight, false));
    }

    /// A packet is lost that left with so many in flight, itself included, and after which `lost` were lost, itself included.
    fn lose(&mut self, in_flight: u64, lost: u64, app_limited: bool) {
        self.lost += 1;
        let sent = Time(self.now_ms.saturating_sub(40) * MS);
        let then = Transmission {
            sent,
            delivered: self.delivered,
            lost: self.lost.saturating_sub(lost),
            in_flight,
            app_limited,
        };
        self.tell(DeliveryEvent::Lost(then), in_flight);
    }

    fn until(&mut self, phase: Phase, in_flight: u64) {
        let from = self.now_ms;
        while self.s.mode != phase {
            self.ack(1000.0, in_flight, false);
            assert!(self.now_ms < from + 10_000, "{phase:?} does not come, {:?} stays", self.s.mode);
        }
    }

    /// In ProbeBW_DOWN, with a bandwidth of 1000 packets a second.
    fn probing() -> Self {
        Self::probing_with(&[])
    }

    fn probing_with(set: &[(&str, f64)]) -> Self {
        let mut path = Self::new(set);
        path.rounds(5, 1000.0, 80);
        path.until(Phase::Down, 40);
        path
    }

    /// In ProbeBW_UP, a round trip after it began.
    fn up() -> Self {
        Self::up_with(&[])
    }

    fn up_with(set: &[(&str, f64)]) -> Self {
        let mut path = Self::probing_with(set);
        path.until(Phase::Up, 40);
        path.rounds(1, 1000.0, 45);
        assert_eq!(path.s.mode, Phase::Up);
        path
    }
}

/// One acknowledgement after 40 ms of 12,000 B: 2.77 x 12,000 / 0.04 = 831 kB/s, where the placeholder of a millisecond would
/// be 33 MB/s. While a flow is short of data that rate holds, because only more is taken.
#[test]
fn the_first_rate_is_that_of_the_first_round_trip() {
    let mut path = Path::new(&[]);
    assert!((path.s.pacing_rate * 1200.0 - 33.24e6).abs() < 1.0);
    path.ack_with(40, 25.0, 10, true, 0);
    assert!((path.s.pacing_rate * 1200.0 - 831e3).abs() < 1e-6, "{}", path.s.pacing_rate);
    (0..1000).for_each(|_| path.ack(25.0, 10, true));
    assert!((path.s.pacing_rate * 1200.0 - 831e3).abs() < 1e-6 && path.s.mode == Phase::Startup);
}

/// Three rounds in which the rate grows by less than a quarter; rounds short of data do not count, however many.
#[test]
fn startup_ends_on_a_plateau() {
    let mut path = Path::new(&[]);
    for rate in [250.0, 500.0, 1000.0] {
        path.rounds(1, rate, 80);
        assert_eq!(path.s.mode, Phase::Startup);
    }
    (0..4000).for_each(|_| path.ack(900.0, 80, true));
    assert_eq!((path.s.mode, path.s.pipe.count), (Phase::Startup, 0));
    let mut counts = Vec::new();
    while path.s.mode == Phase::Startup && counts.len() < 1000 {
        path.ack(1000.0, 80, false);
        counts.push(path.s.pipe.count);
    }
    counts.dedup();
    assert_eq!(counts, [1, 2, 3]);
    assert!(path.s.pipe.now && path.s.pipe.reached);
    assert_eq!((path.s.mode, path.s.pacing_gain), (Phase::Drain, 0.5));
    // No more than the bandwidth-delay product, which is more than three quanta of two.
    path.ack(1000.0, 41, false);
    assert_eq!(path.s.mode, Phase::Drain);
    path.ack(1000.0, 40, false);
    assert!(path.s.mode.is_probe_bw());
}

/// A round trip in fast recovery with 3 of 80 packets lost ends Startup only if they are in six ranges, and only if the round
/// trip is whole, also if the flow is short of data. If the losses were none, it goes on.
#[test]
fn losses_end_startup() {
    for (places, whole, ends) in [(6, true, true), (5, true, false), (6, false, false)] {
        let mut path = Path::new(&[]);
        (0..200).for_each(|_| path.ack(1000.0, 80, true));
        // Numbers of transmission two apart are two places.
        for place in 0..places {
            path.lose(80, 1, true);
            if place == 0 {
                path.tell(DeliveryEvent::RecoveryEntered, 80);
            }
            path.delivered += 1;
        }
        let acks = if whole { 45 } else { 30 };
        (0..acks).for_each(|_| path.ack_with(1, 900.0, 80, true, places));
        assert_eq!(path.s.pipe.reached, ends, "{places} {whole}");
        assert_eq!(path.s.pipe.now, ends);
        assert_eq!(path.s.mode == Phase::Startup, !ends);
        if ends {
            // The most that was delivered in a round, or the bandwidth-delay product.
            assert!((path.s.inflight_longterm - 40.0).abs() < 1e-9, "{}", path.s.inflight_longterm);
            path.tell(DeliveryEvent::RecoveryUndone, 80);
            assert_eq!((path.s.mode, path.s.pipe.reached), (Phase::Startup, false));
            assert!(path.s.long.bound.is_infinite());
        }
    }
}

/// Six packets in a row are one range.
#[test]
fn a_burst_of_losses_is_one_range() {
    let mut ranges = Ranges::default();
    for number in [5, 6, 7, 9, 10, 20] {
        ranges.lose(number);
    }
    assert_eq!(ranges.count, 3);
}

/// With more in flight than the bandwidth-delay product Drain ends by rounds: when more than three began since it did. Linux
/// has no such end.
#[test]
fn drain_ends_after_rounds() {
    for (preset, ends) in [(0.0, true), (1.0, false)] {
        let mut path = Path::new(&[("preset", preset)]);
        path.rounds(1, 1000.0, 80);
        path.until(Phase::Drain, 80);
        let (round, from) = (path.s.rounds.count, path.now_ms);
        while path.s.mode == Phase::Drain && path.now_ms < from + 1000 {
            path.ack(1000.0, 80, false);
        }
        if ends {
            // A round takes 40 ms here, and begins an acknowledgement after the last.
            assert_eq!((path.s.rounds.count - round, path.s.mode), (4, Phase::Down));
            assert!((120..=164).contains(&(path.now_ms - from)), "{}", path.now_ms - from);
        } else {
            assert_eq!(path.s.mode, Phase::Drain);
        }
    }
}

/// The gains of all phases: those of the draft, and where Linux has others.
#[test]
fn gains_are_those_of_the_table() {
    use Phase::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};
    let gains = |set: &[(&str, f64)]| {
        [Startup, Drain, Down, Cruise, Refill, Up, ProbeRtt].map(|p| p.gains(&law(set).constants))
    };
    let draft = [(2.77, 2.0), (0.5, 2.0), (0.9, 2.0), (1.0, 2.0), (1.0, 2.0), (1.25, 2.25), (1.0, 0.5)];
    assert_eq!(gains(&[]), draft);
    let linux = gains(&[("preset", 1.0)]);
    assert!((linux[1].0 - 0.3466).abs() < 1e-4 && (linux[2].0 - 0.91).abs() < 1e-12);
    assert_eq!(gains(&[("preset", 1.0), ("drain_gain", 0.5), ("down_gain", 0.9)]), draft);
}

/// The wait is uniform between 2 and 3 s, and independently of it the rounds begin at 0 or 1.
#[test]
fn the_wait_is_two_to_three_seconds_or_62_to_63_rounds() {
    let mut wait = Wait::default();
    let mut sums = [[0.0; 2]; 2];
    for at in 0..1000 {
        wait.pick(Time(0), (f64::from(at) + 0.5) / 1000.0, [2.0, 1.0]);
        assert!((2.0..3.0).contains(&wait.most_s));
        sums[wait.rounds as usize][0] += 1.0;
        sums[wait.rounds as usize][1] += wait.most_s;
    }
    for [count, sum] in sums {
        assert!(count == 500.0 && (sum / count - 2.5_f64).abs() < 1e-3);
    }
    wait.pick(Time(0), 0.25, [2.0, 1.0]);
    assert!(!wait.is_over(Time(2500 * MS), 63.0) && wait.is_over(Time(2501 * MS), 63.0));
    wait.rounds = 62;
    assert!(!wait.is_over(Time(0), 63.0) && wait.is_over(Time(0), 62.0));
}

/// A bandwidth-delay product of 40 packets: a probe each 40 or 39 round trips, which is 1.6 s and less than the 2 s of the clock.
#[test]
fn probes_come_as_often_as_reno_would_need() {
    let mut path = Path::probing_with(&[("probe_rtt_interval", 1e4)]);
    for (uniform, rounds) in [(0.1, 40), (0.6, 39)] {
        path.uniform = uniform;
        path.until(Phase::Up, 40);
        path.until(Phase::Down, 45);
        let from = path.s.rounds.count;
        path.until(Phase::Refill, 40);
        assert_eq!(path.s.rounds.count - from, rounds);
    }
}

/// A bandwidth-delay product of 160 packets: the clock, or 63 round trips of 40 ms, whichever is less. So a cycle takes 2 to 3 s.
#[test]
fn probes_of_a_long_path_come_by_the_clock() {
    for (uniform, wait_ms) in [(0.1, 2200), (0.4, 2520), (0.55, 2100), (0.9, 2480)] {
        let mut path = Path::new(&[("probe_rtt_interval", 1e4)]);
        path.uniform = uniform;
        path.rounds(5, 4000.0, 320);
        while path.s.mode != Phase::Down {
            path.ack(4000.0, 160, false);
        }
        let from = path.now_ms;
        while path.s.mode != Phase::Refill {
            path.ack(4000.0, 160, false);
            assert!(path.now_ms < 10_000);
        }
        assert!((wait_ms..=wait_ms + 2).contains(&(path.now_ms - from)), "{uniform}: {}", path.now_ms - from);
    }
}

/// (1 - 0.01)^137 x 2^2 = 1.01: one percent lost in each of 137 rounds, and two doublings, are the rate again.
#[test]
fn a_percent_of_losses_a_round_takes_a_percent() {
    let mut signals = Signals::default();
    let sample =
        |rate: f64, before: u64| Sample { rate, delivered: rate, before, in_flight: 40.0, lost: 0.0, limited: false };
    signals.lose(0);
    for round in 0..137_u64 {
        let rate = 0.99 * if round == 0 { 1.0 } else { signals.bandwidth };
        signals.take(Some(&sample(rate, round)), round + 1);
        assert!(signals.round_over);
        signals.adapt(false, 1.0, 1.0, 0.7);
        signals.advance(Some(&sample(0.0, round)));
        signals.lose(round + 1);
    }
    assert!((signals.bandwidth * 4.0 - 1.0094).abs() < 1e-3, "{}", signals.bandwidth * 4.0);
    // Where half is lost, no more than three tenths of the bound go in a round; where it probes, nothing does.
    let before = signals.bandwidth;
    signals.take(Some(&sample(0.0, 200)), 201);
    signals.adapt(false, 1.0, 1.0, 0.7);
    assert!((signals.bandwidth / before - 0.7).abs() < 1e-12);
    signals.lose(201);
    signals.take(Some(&sample(0.0, 300)), 301);
    signals.adapt(true, 1.0, 1.0, 0.7);
    assert!((signals.bandwidth / before - 0.7).abs() < 1e-12);
}

/// Losses cross 2 % at lost_prefix = (0.02 x before - lost before) / 0.98 of the packet: there they are 2 % of what is in flight.
#[test]
fn the_crossing_is_found_within_a_packet() {
    for in_flight in [2.0, 10.0, 52.0, 99.0] {
        let at = probing::in_flight_at_loss(in_flight, libm::floor(in_flight * 0.02) + 1.0, 0.02);
        let prefix = at - (in_flight - 1.0);
        let lost = libm::floor(in_flight * 0.02) + prefix;
        assert!((0.0..1.0).contains(&prefix) && (lost / at - 0.02).abs() < 1e-9, "{in_flight}: {at}");
    }
    assert_eq!(probing::in_flight_at_loss(100.0, 10.0, 0.02), 99.0, "others were too many before");
}

/// The bound grows by 1, 2, 4, 8 and 16 packets in the rounds of a probe.
#[test]
fn the_bound_grows_twice_as_fast_each_round() {
    let mut long = LongTerm::default();
    long.bound = 64.0;
    long.begin();
    long.steepen(64.0);
    for packets in [1.0, 2.0, 4.0, 8.0, 16.0] {
        let before = long.bound;
        // The next round begins with the acknowledgement after it.
        (0..64).for_each(|at| long.grow(1.0, 64.0, at == 63));
        assert_eq!(long.bound - before, packets);
    }
    assert_eq!(long.with_headroom(&law(&[]).constants), 0.85 * 95.0);
    long.bound = 4.5;
    assert_eq!(long.with_headroom(&law(&[]).constants), 4.0);
    (0..100).for_each(|_| long.steepen(64.0));
    assert_eq!(long.rounds, 30);
}

/// A probe ends after three rounds without growth, none of them short of data. If the long-term bound limits it, it goes on.
#[test]
fn a_probe_ends_on_a_plateau() {
    let mut path = Path::up_with(&[("probe_rtt_interval", 1e4)]);
    (0..40_000).for_each(|_| path.ack(900.0, 45, true));
    assert_eq!(path.s.mode, Phase::Up);
    path.rounds(4, 1000.0, 45);
    assert!(matches!(path.s.mode, Phase::Down | Phase::Cruise), "{:?}", path.s.mode);
    let mut bound = Path::up();
    bound.s.long.bound = 50.0;
    (bound.s.window, bound.window_limited) = (50.0, true);
    let mut most = 0;
    for _ in 0..200 {
        bound.ack(1000.0, 48, false);
        most = most.max(bound.s.pipe.count);
        assert_eq!(bound.s.mode, Phase::Up);
    }
    // In five round trips, of which four were whole: 1, 2, 4 and 8 packets, and some of 16.
    assert!((65.0..81.0).contains(&bound.s.long.bound) && most < 3, "{} {most}", bound.s.long.bound);
}

/// The second loss of 60 packets in flight is too much: the bound is the flight when losses crossed 2 %, the probe is over, and
/// later losses change nothing. Short of data, the probe ends, and the bound stays as it was.
#[test]
fn losses_end_a_probe() {
    for limited in [false, true] {
        let mut path = Path::up();
        path.s.window = 80.0;
        path.lose(59, 1, limited);
        assert_eq!(path.s.mode, Phase::Up);
        path.lose(60, 2, limited);
        assert_eq!(path.s.mode, Phase::Down);
        let bound = if limited { f64::INFINITY } else { 59.0 + (0.02 * 59.0 - 1.0) / 0.98 };
        assert!(path.s.long.bound == bound, "{} {bound}", path.s.long.bound);
        path.lose(20, 8, limited);
        assert!(path.s.long.bound == bound && path.s.probe.too_high);
    }
    // Not below 0.7 of what the model wants in flight.
    let mut path = Path::up();
    path.lose(10, 1, false);
    assert_eq!(path.s.long.bound, 28.0);
}

/// After a probe that was too high the next one ends as soon as the bound is reached; and if that was safe, the one after it
/// follows at once and goes on.
#[test]
fn a_probe_after_one_that_was_too_high_is_cautious() {
    for precaution in [1.0, 0.0] {
        let mut path = Path::probing_with(&[("precaution", precaution), ("probe_rtt_interval", 1e4)]);
        path.until(Phase::Up, 40);
        path.lose(60, 1, false);
        path.lose(60, 2, false);
        let bound = path.s.long.bound;
        path.until(Phase::Cruise, 30);
        path.until(Phase::Up, 40);
        path.ack(1000.0, bound as u64 - 2, false);
        assert_eq!(path.s.mode, Phase::Up);
        path.ack(1000.0, bound as u64 - 1, false);
        if precaution == 0.0 {
            assert_eq!(path.s.mode, Phase::Up);
            continue;
        }
        assert_eq!((path.s.mode, path.s.probe.precautionary), (Phase::Down, true));
        let from = path.now_ms;
        path.until(Phase::Refill, 40);
        assert!(path.now_ms - from <= 42, "{}", path.now_ms - from);
        path.until(Phase::Up, 40);
        path.rounds(1, 1000.0, bound as u64);
        assert_eq!(path.s.mode, Phase::Up);
    }
}

/// If the losses that ended a probe were none, it begins again, with the bounds and the window of before; another loss in between
/// changes nothing of that.
#[test]
fn a_probe_cut_short_for_nothing_begins_again() {
    for event in [DeliveryEvent::RecoveryUndone, DeliveryEvent::TimeoutUndone] {
        let mut path = Path::up();
        path.s.long.bound = 70.0;
        let window = path.s.window;
        for lost in 1..=4 {
            path.lose(40, lost, false);
        }
        if event == DeliveryEvent::TimeoutUndone {
            path.tell(DeliveryEvent::Timeout, 3);
            assert_eq!(path.s.window, 4.0);
        } else {
            path.tell(DeliveryEvent::RecoveryEntered, 36);
        }
        path.ack(500.0, 36, false);
        path.lose(40, 4, false);
        (0..60).for_each(|_| path.ack(500.0, 36, false));
        assert!(path.s.long.bound < 40.0 && path.s.signals.in_flight < 60.0, "{:?}", path.s);
        path.tell(event, 36);
        assert_eq!((path.s.mode, path.s.long.bound), (Phase::Refill, 70.0));
        assert!(path.s.signals.bandwidth.is_infinite() && path.s.window >= window);
    }
}

/// Five seconds without a smaller round trip: half a bandwidth-delay product in flight for 200 ms and a round trip. The
/// delivery meanwhile does not measure the bandwidth. Then the phase is CRUISE, with a window as before.
#[test]
fn probe_rtt_comes_every_five_seconds() {
    let mut path = Path::probing();
    let first = path.now_ms;
    while path.s.mode != Phase::ProbeRtt {
        path.ack(1000.0, if path.s.mode == Phase::Down { 40 } else { 45 }, false);
        assert!(path.now_ms < 6000 + first);
    }
    assert_eq!(path.now_ms, 5002);
    assert_eq!(path.s.window, 20.0);
    let (window, cycle) = (path.s.prior_window, path.s.cycle);
    path.ack(1000.0, 21, false);
    path.ack(1000.0, 20, false);
    let from = path.now_ms;
    while path.s.mode == Phase::ProbeRtt {
        path.ack(500.0, 20, false);
        assert!(path.now_ms < from + 1000);
    }
    assert!((200..=250).contains(&(path.now_ms - from)), "{}", path.now_ms - from);
    assert_eq!((path.s.mode, path.s.max_bandwidth), (Phase::Cruise, 1000.0));
    assert!(path.s.window >= window - 1.0, "{} {window}", path.s.window);
    // Packets that left while it was held back, and come later.
    (0..20).for_each(|_| path.ack(500.0, 20, false));
    assert_eq!((path.s.max_bandwidth, path.s.cycle), (1000.0, cycle));
    // Before the pipe is full it goes back to where it was.
    let mut startup = Path::new(&[]);
    (0..5100).for_each(|_| startup.ack(1000.0, 10, true));
    assert_eq!(startup.s.mode, Phase::ProbeRtt);
    (0..300).for_each(|_| startup.ack(1000.0, 10, true));
    assert_eq!(startup.s.mode, Phase::Startup);
}

/// A flow that begins at 30 s has no round trip that is old, and one that was idle needs no ProbeRTT.
#[test]
fn no_probe_rtt_where_none_is_due() {
    let mut late = Path::new(&[]);
    late.now_ms = 30_000;
    late.ack(1000.0, 10, false);
    assert_eq!(late.s.mode, Phase::Startup);
    let mut idle = Path::probing();
    idle.now_ms += 20_000;
    idle.s.pacing_rate = 1.0;
    idle.tell(DeliveryEvent::IdleRestart, 0);
    assert!((idle.s.pacing_rate - 990.0).abs() < 1e-6 && idle.s.idle_restart);
    idle.ack(1000.0, 4, true);
    assert!(idle.s.mode.is_probe_bw() && !idle.s.idle_restart);
}

/// The bandwidth lasts for the cycle in which it was measured and for the next.
#[test]
fn a_bandwidth_lasts_two_cycles() {
    let mut path = Path::probing();
    let cycle = path.s.cycle;
    while path.s.max_bandwidth > 600.0 {
        let in_flight = if path.s.mode == Phase::Up { 45 } else { 4 };
        path.ack(500.0, in_flight, false);
        assert!(path.now_ms < 60_000);
    }
    assert!((1..=2).contains(&(path.s.cycle - cycle)), "{}", path.s.cycle - cycle);
}

/// Ten packets that come together each 10 ms are nine more than the bandwidth brings, for ten rounds.
#[test]
fn the_window_has_room_for_what_comes_together() {
    let mut path = Path::probing();
    let expected = path.s.extra_acked;
    let bunch = |path: &mut Path| {
        path.now_ms += 10;
        path.delivered += 9;
        let then = Transmission {
            sent: Time((path.now_ms - 40) * MS),
            delivered: path.delivered - 40,
            lost: path.lost,
            in_flight: 60,
            app_limited: false,
        };
        path.delivered += 1;
        let rate = Some(RateSample { delivered: 40, interval: Time(40 * MS), then });
        let ack = AckSample { packets: 10, marked: 0, lost: 0, in_flight_before: 70, rtt: None, rate };
        path.tell(DeliveryEvent::Ack(ack), 60);
    };
    (0..100).for_each(|_| bunch(&mut path));
    assert!((path.s.extra_acked - 10.0).abs() < 1e-9, "{} {expected}", path.s.extra_acked);
    assert!((path.s.window - 90.0).abs() < 1e-9, "{}", path.s.window);
    let round = path.s.rounds.count;
    while path.s.extra_acked > 5.0 {
        path.ack_with(2, 1000.0, 60, false, 0);
        assert!(path.s.rounds.count < round + 20);
    }
    assert_eq!(path.s.rounds.count - round, 10);
}

/// A quantum is a millisecond's packets, two at least, and 64 KiB at most: 54 packets of 1200 B.
#[test]
fn a_quantum_is_a_millisecond_of_pacing() {
    let mut path = Path::new(&[]);
    for (mbit_per_s, packets) in [(1.0, 2), (20.0, 2), (48.0, 5), (1000.0, 54)] {
        path.s.pacing_rate = mbit_per_s * 1e6 / 9600.0;
        assert_eq!(path.law.timing(&path.s, &Observation::zero()).quantum, packets, "{mbit_per_s}");
    }
}
