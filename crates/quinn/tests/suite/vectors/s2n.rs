//! A controller of s2n-quic under the vectors. Its crate s2n-quic-core has the controllers, and needs no cryptography.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::bbr::{self, BbrCongestionController};
use s2n_quic_core::recovery::congestion_controller::{CongestionController, Publisher};
use s2n_quic_core::recovery::{CubicCongestionController, RttEstimator, cubic};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};

use super::driver::{Stack, differences};
use super::format::{Event, Kind};
use super::rfc::Rfc9438;
use super::sequences::{DATAGRAM, INITIAL, Line, Writer};
use super::{files, named, text};

/// Nobody hears the events.
struct Unheard;

impl Publisher for Unheard {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}
    fn on_delivery_rate_sampled(&mut self, _: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: num_rational::Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

/// Draws nothing.
struct Zero;

impl Generator for Zero {
    fn public_random_fill(&mut self, to: &mut [u8]) {
        to.fill(0);
    }
    fn private_random_fill(&mut self, to: &mut [u8]) {
        to.fill(0);
    }
}

struct OfS2n<C: CongestionController> {
    controller: C,
    rate: fn(&C) -> Option<f64>,
    rtt: RttEstimator,
    /// Whether the path is short of data when a datagram leaves.
    short_of_data: Rc<Cell<bool>>,
    packets: BTreeMap<u64, C::PacketInfo>,
}

fn at(us: u64) -> Timestamp {
    NoopClock.get_time() + Duration::from_micros(us)
}

impl OfS2n<CubicCongestionController> {
    fn cubic() -> Self {
        Self::new(CubicCongestionController::new(DATAGRAM as u16, cubic::ApplicationSettings::default()), |_| None)
    }
}

impl OfS2n<BbrCongestionController> {
    fn bbr() -> Self {
        let rate = |of: &BbrCongestionController| Some(8.0 * of.pacing_rate().as_bytes_per_second() as f64);
        Self::new(BbrCongestionController::new(DATAGRAM as u16, bbr::ApplicationSettings::default()), rate)
    }
}

impl<C: CongestionController> OfS2n<C> {
    fn new(controller: C, rate: fn(&C) -> Option<f64>) -> Self {
        Self { controller, rate, rtt: RttEstimator::default(), short_of_data: Rc::default(), packets: BTreeMap::new() }
    }

    fn datagrams(&self) -> f64 {
        f64::from(self.controller.congestion_window()) / DATAGRAM as f64
    }
}

impl<C: CongestionController> Stack for OfS2n<C> {
    fn sent(&mut self, at_us: u64, bytes: u64) {
        let short_of_data = Some(self.short_of_data.get());
        let info = self.controller.on_packet_sent(at(at_us), bytes as usize, short_of_data, &self.rtt, &mut Unheard);
        assert!(self.packets.insert(at_us, info).is_none(), "one datagram at a time");
    }
    /// The round-trip time comes first, as in s2n-quic.
    fn acked(&mut self, at_us: u64, sent_us: u64, bytes: u64, _: u64, _: u64, limited: bool) {
        assert!(!limited || self.short_of_data.get());
        let (now, sent) = (at(at_us), at(sent_us));
        let info = self.packets[&sent_us];
        let sample = Duration::from_micros(at_us - sent_us);
        self.rtt.update_rtt(Duration::ZERO, sample, now, true, PacketNumberSpace::ApplicationData);
        self.controller.on_rtt_update(sent, now, &self.rtt, &mut Unheard);
        self.controller.on_ack(sent, bytes as usize, info, &self.rtt, &mut Zero, now, &mut Unheard);
    }
    /// s2n-quic reports each lost datagram by itself.
    fn lost(&mut self, at_us: u64, sent_us: u64, bytes: u64, persistent: bool) {
        let datagrams = (bytes / DATAGRAM) as usize;
        let newest_first = self.packets.range(..=sent_us).rev().take(datagrams).map(|(_, info)| *info);
        let lost: Vec<_> = newest_first.collect();
        assert_eq!(lost.len(), datagrams);
        for (number, info) in lost.into_iter().rev().enumerate() {
            let (size, first) = (DATAGRAM as u32, number == 0);
            self.controller.on_packet_lost(size, info, persistent, first, &mut Zero, at(at_us), &mut Unheard);
        }
    }
    fn echo(&mut self, at_us: u64, _: u64) {
        self.controller.on_explicit_congestion(1, at(at_us), &mut Unheard);
    }
    fn outputs(&self) -> [Option<f64>; 3] {
        [Some(f64::from(self.controller.congestion_window())), None, (self.rate)(&self.controller)]
    }
}

/// The sequences of a file in which the controller is not within whole datagrams.
fn findings(name: &str, file: &str, make: &dyn Fn() -> Box<dyn Stack>) -> Vec<String> {
    let found = differences(file, "whole_datagrams", &mut |_, size, window| {
        assert_eq!((size, window), (DATAGRAM, INITIAL));
        make()
    });
    named(name, &found)
}

/// docs/validation/quic.md has the reasons.
#[test]
fn findings_on_cubic_of_s2n_quic() {
    let of = |name: &str, file: &str| findings(name, file, &|| Box::new(OfS2n::cubic()));
    let found = of("cubic.json", &text("cubic.json"));
    assert_eq!(found, ["the curve", "Reno's region", "fast convergence", "persistent congestion", "idleness"]);
    let hystart = of("hystart.json", &text("hystart.json"));
    assert_eq!(hystart, ["a rise", "a rise of less than 4 ms", "a rise that passes", "a loss"]);
    // The formulas of RFC 9438 with all time in t: neither the curve nor idleness differs.
    let all_time = files::cubic(&|| Box::new(Rfc9438::with_all_time(INITIAL)));
    assert_eq!(of("all time", &all_time.text()), ["Reno's region", "fast convergence", "persistent congestion"]);
}

const RTT_US: u64 = 100_000;

/// Sends a window of datagrams within half a round trip. The first `lost` of them are not acknowledged. Returns when that is over.
fn flight(stack: &mut OfS2n<CubicCongestionController>, begin_us: u64, datagrams: u64, lost: u64) -> u64 {
    let sent = |number: u64| begin_us + number * RTT_US / 2 / datagrams;
    (0..datagrams).for_each(|number| stack.sent(sent(number), DATAGRAM));
    for number in lost..datagrams {
        stack.acked(sent(number) + RTT_US, sent(number), DATAGRAM, 1, 0, stack.short_of_data.get());
    }
    begin_us + RTT_US * 3 / 2 + 1_000
}

/// So many flights of a window; the windows after them [datagrams], and when the last is over.
fn flights(stack: &mut OfS2n<CubicCongestionController>, mut begin_us: u64, count: usize) -> (Vec<f64>, u64) {
    let windows = (0..count).map(|_| {
        begin_us = flight(stack, begin_us, stack.datagrams() as u64, 0);
        stack.datagrams()
    });
    (windows.collect(), begin_us)
}

/// The first lost datagram sets the threshold to 0.7 of the window. Each other one counts as an event of a window of two.
#[test]
fn persistent_congestion_leaves_cubic_of_s2n_quic_a_threshold_of_16_datagrams() {
    let mut stack = OfS2n::cubic();
    let (windows, now) = flights(&mut stack, 0, 4);
    assert_eq!(windows, [20.0, 40.0, 80.0, 160.0]);
    flight(&mut stack, now, 160, 160);
    stack.lost(now + 600_000, now + 60_000, 160 * DATAGRAM, true);
    let (windows, _) = flights(&mut stack, now + 600_000, 5);
    assert_eq!(windows[..3], [4.0, 8.0, 16.0]);
    assert!(windows[4] < 19.0, "{windows:?}");
}

/// The last flight before a pause may be short of data: the pause counts as time all the same.
#[test]
fn a_minute_of_idleness_is_time_to_cubic_of_s2n_quic() {
    for short in [false, true] {
        let mut stack = OfS2n::cubic();
        let (_, begin) = flights(&mut stack, 0, 3);
        let now = flight(&mut stack, begin, 80, 1);
        stack.lost(now, begin, DATAGRAM, false);
        let (before, mut now) = flights(&mut stack, now, 8);
        if short {
            stack.short_of_data.set(true);
            now = flight(&mut stack, now, 5, 0);
            stack.short_of_data.set(false);
        }
        let (after, _) = flights(&mut stack, now + 60_000_000, 10);
        println!("{before:?} {after:?}");
        assert!(before[7] < 1.03 * before[6]);
        assert!(after.windows(2).all(|two| two[1] > 1.49 * two[0]), "{after:?}");
    }
}

/// A datagram of before the recovery that is declared lost after it: RFC 9002, section 7.3.2, has one reduction.
#[test]
fn a_late_loss_reduces_cubic_of_s2n_quic_again() {
    let mut stack = OfS2n::cubic();
    let (_, begin) = flights(&mut stack, 0, 2);
    let now = flight(&mut stack, begin, 40, 2);
    stack.lost(now, begin, DATAGRAM, false);
    let reduced = stack.datagrams();
    let now = flight(&mut stack, now, 20, 0);
    assert_eq!(stack.datagrams(), reduced);
    stack.lost(now, begin + RTT_US / 2 / 40, DATAGRAM, false);
    assert!((stack.datagrams() / reduced - 0.7).abs() < 1e-3);
}

/// Of the two versions Startup is nearly the same.
#[test]
fn findings_on_bbr_of_s2n_quic() {
    let found = findings("bbr3.json", &text("bbr3.json"), &|| Box::new(OfS2n::bbr()));
    assert_eq!(found, ["startup", "a loss in startup", "losses in startup", "persistent congestion"]);
}

/// A line that carries 4.8 Mbit/s, which is 20 datagrams in 40 ms. In Cruise the rate should be 0.99 of that, and the window, of two
/// bandwidth-delay products and a datagram, should not be in use.
#[test]
fn bbr_of_s2n_quic_estimates_more_than_a_line_carries() {
    let after = |echo: bool, lost: &[u64]| {
        let sequence = Writer::sequence("", "", "", 40_000, Box::new(OfS2n::bbr()), |w| {
            let mut line = Line::new(2_000);
            w.line(&mut line, 1_500_000, &[]);
            if echo {
                w.event(Kind::Echo, ((1_462_000, 0), 0), 1_462_000, 1);
            }
            w.line(&mut line, 350_000, lost);
        });
        let last = sequence.events.last().unwrap();
        let trip_us =
            sequence.events.iter().rev().find(|event| event.event == Kind::Acked).map(|of| of.at_us - of.sent_us);
        (last.cwnd_bytes / DATAGRAM as f64, last.pacing_bit_per_s.unwrap() / 4.8e6, trip_us.unwrap() as f64 * 1e-6)
    };
    let [undisturbed, echo, loss] = [after(false, &[]), after(true, &[]), after(false, &[820])];
    println!("undisturbed {undisturbed:?}, an echo {echo:?}, a loss {loss:?}");
    assert!((1.05..1.06).contains(&undisturbed.1) && undisturbed.2 > 0.08, "{undisturbed:?}");
    assert!((0.84..0.86).contains(&(echo.0 / undisturbed.0)) && echo.1 == undisturbed.1, "{echo:?}");
    assert!((0.985..0.995).contains(&loss.1), "{loss:?}");
}

/// A minute without data leaves window and rate as they were (draft-cardwell-iccrg-bbr-congestion-control-02, section 4.4.3). The least
/// round-trip time has expired then: a sender that knows that it was short of data goes on, and one that does not has a ProbeRTT first.
#[test]
fn a_minute_of_idleness_leaves_bbr_of_s2n_quic_its_model() {
    for short in [true, false] {
        let bbr = OfS2n::bbr();
        let short_of_data = Rc::clone(&bbr.short_of_data);
        let sequence = Writer::sequence("", "", "", 40_000, Box::new(bbr), |w| {
            let mut line = Line::new(2_000);
            w.line(&mut line, 1_500_000, &[]);
            short_of_data.set(short);
            w.line(&mut line, 2_500, &[]);
            short_of_data.set(false);
            w.rest(&mut line, 60_000_000);
            w.line(&mut line, 60_300_000, &[]);
        });
        let begin = sequence.events.iter().position(|event| event.at_us > 60_000_000).unwrap();
        let seen = |event: &Event| (event.cwnd_bytes / DATAGRAM as f64, event.pacing_bit_per_s.unwrap() / 4.8e6);
        let (before, after) = (seen(&sequence.events[begin - 1]), sequence.events[begin..].iter().map(seen));
        let after: Vec<_> = after.collect();
        let least = after.iter().map(|(window, _)| *window).fold(f64::INFINITY, f64::min);
        println!("short of data {short}: before {before:?}, then {:?}, the least window {least}", after[0]);
        assert_eq!(before, after[0]);
        assert_eq!(short, least > 40.0, "{least}");
    }
}
