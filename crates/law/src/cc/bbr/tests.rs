//! BBR over a path that is worked out by hand: 1000 packets a second, 40 ms, an acknowledgement each millisecond.

use alloc::vec::Vec;

use super::*;
use crate::cc::{RateSample, Transmission};
use crate::quantity::Bytes;

const MS: u64 = 1_000_000_000;

fn law(set: &[(&str, f64)]) -> Bbr {
    let values = Values::of(ENTRY.parameters, set);
    let context = Context { packet: Bytes(1250), initial_window: 10.0, initial_ssthresh: f64::INFINITY };
    Bbr::compile(&values, &context).unwrap()
}

/// The law, its state, and what was delivered and lost so far.
struct Path {
    law: Bbr,
    s: State<f64>,
    now_ms: u64,
    delivered: u64,
    lost: u64,
    uniform: f64,
}

impl Path {
    fn new(set: &[(&str, f64)]) -> Self {
        let law = law(set);
        let s = law.initial_state();
        Self { law, s, now_ms: 0, delivered: 0, lost: 0, uniform: 0.0 }
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
            window_limited: false,
            uniform: self.uniform,
        };
        let seen = Observation { rtt_s: 0.04, base_rtt_s: 0.04, ..Observation::zero() };
        self.law.on_detail(&mut self.s, &delivery, &seen);
    }

    /// So many packets are delivered after `ms`, at `rate` packets a second, after a round trip of `rtt_ms`.
    fn ack(&mut self, (ms, packets): (u64, u64), (rate, rtt_ms): (f64, u64), in_flight: u64, app_limited: bool) {
        self.now_ms += ms;
        let delivered = (rate * rtt_ms as f64 / 1000.0) as u64;
        let then = Transmission {
            sent: Time(self.now_ms.saturating_sub(rtt_ms) * MS),
            delivered: self.delivered.saturating_sub(delivered),
            lost: self.lost,
            in_flight,
            app_limited,
        };
        let before = in_flight + packets;
        self.delivered += packets;
        let rate = Some(RateSample { delivered, interval: Time(rtt_ms * MS), then });
        let rtt = Some(Time(rtt_ms * MS));
        let ack = AckSample { packets: packets as u32, marked: 0, lost: 0, in_flight_before: before, rtt, rate };
        self.tell(DeliveryEvent::Ack(ack), in_flight);
    }

    /// Rounds of 40 ms at a rate, with so many in flight.
    fn rounds(&mut self, rounds: u64, rate: f64, in_flight: u64) {
        let packets = (rate / 1000.0) as u64;
        (0..40 * rounds).for_each(|_| self.ack((1, packets), (rate, 40), in_flight, false));
    }

    fn lose(&mut self, packets: u64) {
        for _ in 0..packets {
            self.lost += 1;
            let then = Transmission {
                sent: Time(self.now_ms.saturating_sub(40) * MS),
                delivered: self.delivered,
                lost: self.lost - 1,
                in_flight: 40,
                app_limited: false,
            };
            self.tell(DeliveryEvent::Lost(then), 40);
        }
    }

    fn probing() -> Self {
        let mut path = Self::new(&[]);
        path.rounds(2, 1000.0, 40);
        path.rounds(4, 1000.0, 80);
        path.rounds(1, 1000.0, 40);
        assert_eq!(path.s.mode, Mode::ProbeBw);
        path
    }
}

/// Linux: the first pacing rate is that of the initial window in a millisecond, and that in the first round trip as soon as
/// there is one, times 2.885, one percent below: 2.885 x 10 / 0.04 x 0.99 = 714 packets a second.
#[test]
fn the_first_rate_is_that_of_the_first_round_trip() {
    let mut path = Path::new(&[]);
    assert!((path.s.pacing_rate - 28_561.5).abs() < 0.1);
    path.ack((40, 1), (25.0, 40), 10, false);
    assert!((path.s.pacing_rate - 714.0375).abs() < 1e-6, "{}", path.s.pacing_rate);
}

/// Startup ends after three rounds in which the bandwidth grows by less than a quarter, and not by rounds that were short of
/// data; Drain paces at the inverse gain, until no more than a bandwidth-delay product and the quanta are in flight.
#[test]
fn startup_ends_when_the_bandwidth_has_not_grown_for_three_rounds() {
    let mut path = Path::new(&[]);
    for rate in [1000.0, 2000.0, 4000.0] {
        path.rounds(1, rate, 300);
        assert_eq!(path.s.mode, Mode::Startup);
    }
    // Short of data.
    (0..400).for_each(|_| path.ack((1, 4), (3900.0, 40), 300, true));
    assert_eq!((path.s.mode, path.s.full_count), (Mode::Startup, 0));
    let mut rounds = path.s.rounds;
    while path.s.mode == Mode::Startup {
        path.ack((1, 4), (4000.0, 40), 300, false);
    }
    rounds = path.s.rounds - rounds;
    assert!((3..=4).contains(&rounds), "{rounds}");
    assert_eq!(path.s.mode, Mode::Drain);
    assert!((path.s.pacing_gain * 2.885 - 1.0).abs() < 1e-9);
    assert!((path.s.pacing_rate - 3960.0 / 2.885).abs() < 1e-6, "{}", path.s.pacing_rate);
    // A bandwidth-delay product of 160, and three quanta of two.
    path.ack((1, 4), (4000.0, 40), 167, false);
    assert_eq!(path.s.mode, Mode::Drain);
    path.ack((1, 4), (4000.0, 40), 166, false);
    assert_eq!(path.s.mode, Mode::ProbeBw);
}

/// The eight phases: 5/4, 3/4 and six at 1, each of a round trip; what probes goes on until that much more is in flight, and
/// what drains ends as soon as the queue is gone. The cycle never begins where it drains, wherever the draw falls.
#[test]
fn the_cycle_has_eight_phases() {
    let mut path = Path::probing();
    let mut gains = Vec::new();
    let mut last = 99;
    for _ in 0..1000 {
        path.ack((1, 1), (1000.0, 40), if path.s.phase == 1 { 45 } else { 60 }, false);
        if path.s.phase != last {
            last = path.s.phase;
            gains.push((path.now_ms, path.s.pacing_gain));
        }
    }
    // The first phase began before the list does.
    let from = 1 + gains[1..].iter().position(|(_, gain)| *gain == 1.25).unwrap();
    let cycle: Vec<f64> = gains[from..from + 9].iter().map(|(_, gain)| *gain).collect();
    assert_eq!(cycle, [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
    // Longer than a round trip of 40 ms, in whole milliseconds; what drains had 45 in flight at once.
    let lasts: Vec<u64> = gains[from..from + 9].windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert_eq!(lasts, [41, 1, 41, 41, 41, 41, 41, 41]);
    // Not reached: 5/4 of 40 and the quanta, less one quantum.
    let mut short = Path::probing();
    while short.s.phase != 0 {
        short.ack((1, 1), (1000.0, 40), 40, false);
    }
    (0..200).for_each(|_| short.ack((1, 1), (1000.0, 40), 40, false));
    assert_eq!(short.s.phase, 0);
    for at in 0..100 {
        let mut start = Path::new(&[]);
        start.uniform = f64::from(at) / 100.0;
        start.rounds(2, 1000.0, 40);
        start.rounds(5, 1000.0, 80);
        while start.s.mode != Mode::ProbeBw {
            start.ack((1, 1), (1000.0, 40), 40, false);
        }
        assert_ne!(start.s.phase, 1, "{at}");
    }
}

/// The bandwidth is forgotten ten rounds after it was last met.
#[test]
fn a_bandwidth_lasts_ten_rounds() {
    let mut path = Path::probing();
    let rounds = path.s.rounds;
    while path.s.bandwidth > 600.0 {
        path.ack((1, 1), (500.0, 40), 40, false);
    }
    assert_eq!(path.s.rounds - rounds, 10);
}

/// A smallest round trip that is ten seconds old: four packets in flight for 200 ms and a round trip at least, then the window
/// is what it was. As small a one does not renew it; a smaller one does.
#[test]
fn probe_rtt_comes_every_ten_seconds() {
    let mut path = Path::probing();
    let (window, began) = (path.s.window, path.now_ms);
    while path.s.mode != Mode::ProbeRtt {
        path.ack((1, 1), (1000.0, 40), 60, false);
        assert!(path.now_ms < 11_000 + began);
    }
    assert!((10_000..=10_002).contains(&path.now_ms), "{}", path.now_ms);
    assert_eq!(path.s.window, 4.0);
    let window = window.max(path.s.prior_window);
    path.ack((1, 1), (1000.0, 40), 4, false);
    let from = path.now_ms;
    while path.s.mode == Mode::ProbeRtt {
        path.ack((10, 1), (100.0, 40), 4, false);
    }
    assert!((200..=250).contains(&(path.now_ms - from)), "{}", path.now_ms - from);
    assert!(path.s.window >= window - 1.0, "{} {window}", path.s.window);
    assert_eq!(path.s.mode, Mode::ProbeBw);
    // What was delivered meanwhile says nothing of the bandwidth, however long it takes until the next round.
    assert_eq!(path.s.bandwidth, 1000.0);
}

/// After idleness there is no need of ProbeRTT, and what is sent first is paced at the bandwidth.
#[test]
fn a_restart_from_idle_is_paced_at_the_bandwidth() {
    let mut path = Path::probing();
    path.now_ms += 20_000;
    path.s.pacing_rate = 1.0;
    path.tell(DeliveryEvent::IdleRestart, 0);
    assert!((path.s.pacing_rate - 990.0).abs() < 1e-6);
    path.ack((40, 1), (25.0, 40), 4, true);
    assert_eq!(path.s.mode, Mode::ProbeBw);
}

/// The first round of a recovery sends what is delivered; then the window is the law's, and after it what it was before.
#[test]
fn packets_are_conserved_in_the_first_round_of_recovery() {
    let mut path = Path::probing();
    let window = path.s.window;
    path.lose(3);
    path.tell(DeliveryEvent::RecoveryEntered, 37);
    path.ack((1, 1), (1000.0, 40), 36, false);
    assert_eq!((path.s.window, path.s.conservation), (37.0, true));
    path.ack((1, 2), (1000.0, 40), 34, false);
    assert_eq!(path.s.window, 37.0, "never less than that");
    (0..45).for_each(|_| path.ack((1, 1), (1000.0, 40), 36, false));
    assert!(!path.s.conservation);
    path.tell(DeliveryEvent::RecoveryLeft, 36);
    path.ack((1, 1), (1000.0, 40), 36, false);
    assert!(path.s.window >= window - 1.0 && path.s.window <= window + 2.0, "{} {window}", path.s.window);
    // After a timeout one packet, and more with each delivery.
    path.tell(DeliveryEvent::Timeout, 0);
    assert_eq!(path.s.window, 1.0);
    path.ack((40, 1), (25.0, 40), 0, false);
    assert_eq!(path.s.window, 4.0, "the least window");
    path.tell(DeliveryEvent::TimeoutUndone, 1);
    path.ack((1, 1), (1000.0, 40), 36, false);
    assert!(path.s.window >= window - 1.0, "{}", path.s.window);
}

/// A policer of 500 packets a second behind a line of 1000: half of what is sent is lost. Two intervals of four rounds agree,
/// and 500 is the bandwidth for 48 rounds, with a gain of one.
#[test]
fn two_intervals_with_the_same_losses_are_a_policer() {
    let mut path = Path::probing();
    let rounds = path.s.rounds;
    while !path.s.policer.holds {
        path.lose(1);
        path.ack((2, 1), (500.0, 40), 40, false);
        assert!(path.s.rounds - rounds < 20);
    }
    assert!((8..=11).contains(&(path.s.rounds - rounds)), "{}", path.s.rounds - rounds);
    assert!((path.s.policed_bandwidth - 500.0).abs() < 5.0, "{}", path.s.policed_bandwidth);
    let rounds = path.s.rounds;
    while path.s.policer.holds {
        assert_eq!(path.s.pacing_gain, 1.0);
        path.ack((2, 1), (500.0, 40), 20, false);
    }
    assert_eq!(path.s.rounds - rounds, 48);
    // Without the switch nothing of the kind, nor with a tenth lost.
    for (set, every) in [(&[("policer", 0.0)][..], 1), (&[], 10)] {
        let mut other = Path::new(set);
        for at in 0..2000 {
            if at % every == 0 {
                other.lose(1);
            }
            other.ack((2, 1), (500.0, 40), 40, false);
        }
        assert!(!other.s.policer.holds);
    }
}

/// Ten packets that come together each 10 ms are nine more than the bandwidth brings: the window includes them.
#[test]
fn the_window_has_room_for_what_comes_together() {
    let mut path = Path::probing();
    (0..200).for_each(|_| path.ack((1, 1), (1000.0, 40), 60, false));
    let even = path.s.window;
    (0..100).for_each(|_| path.ack((10, 10), (1000.0, 40), 60, false));
    let more = path.s.window - even;
    assert!((8.0..=12.0).contains(&more), "{more}");
}

/// The quantum: a millisecond's packets, two at least, and one below 1.2 Mbit/s.
#[test]
fn a_quantum_is_a_millisecond_of_pacing() {
    let mut path = Path::new(&[]);
    for (mbit_per_s, packets) in [(1.0, 1), (1.3, 2), (20.0, 2), (100.0, 9), (1000.0, 52)] {
        path.s.pacing_rate = mbit_per_s * 1e6 / 1e4;
        assert_eq!(path.law.timing(&path.s, &Observation::zero()).quantum, packets, "{mbit_per_s}");
    }
}
