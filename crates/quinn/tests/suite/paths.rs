//! A new path starts afresh (RFC 9000, section 9.4): packets sent on the old path MUST NOT contribute. And a path that lasts.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use penstock_law::Registry;
use penstock_quinn::{Factory, Hosted, LawConfig};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::Controller;

use crate::laboratory::moves::{change_of_path, migration};
use crate::laboratory::{Line, makes};
use crate::sequences::{estimate, factories};

const RTT: Duration = Duration::from_millis(40);
const MTU: u64 = 1200;

fn law(name: &str) -> Factory {
    LawConfig::new(&Registry::standard(), name).unwrap().build().unwrap()
}

/// What quinn may still report of packets of the path before.
type Reports = fn(&mut Hosted, Instant, Instant, &RttEstimator);

const OF_OLD_PACKETS: [(&str, Reports); 4] = [
    ("acknowledgements", |hosted, now, left, rtt| {
        for _ in 0..5 {
            hosted.on_ack(now, left, MTU, false, rtt);
        }
        hosted.on_end_acks(now, 0, false, Some(5));
    }),
    ("an echo", |hosted, now, left, _| hosted.on_congestion_event(now, left, false, 0)),
    ("a loss", |hosted, now, left, _| hosted.on_congestion_event(now, left, false, MTU)),
    ("persistent congestion", |hosted, now, left, _| hosted.on_congestion_event(now, left, true, 10 * MTU)),
];

/// Packets that left before the controller began are none of its own, before and after its first one. A copy has those of its original.
#[test]
fn packets_of_the_path_before_do_not_contribute() {
    let rtt = estimate(RTT);
    for factory in factories() {
        for (what, report) in OF_OLD_PACKETS {
            let made = Instant::now() + Duration::from_secs(1);
            let left = made.checked_sub(Duration::from_millis(10)).unwrap();
            let mut hosted = factory.host(made, MTU as u16);
            let (state, window) = (hosted.state(), hosted.window());
            report(&mut hosted, made + Duration::from_millis(1), left, &rtt);
            assert_eq!((hosted.state(), hosted.window()), (state.clone(), window), "{}: {what}", factory.law());
            let sends = made + Duration::from_millis(2);
            hosted.on_sent(sends, MTU, 9);
            report(&mut hosted, sends + Duration::from_millis(1), left, &rtt);
            assert_eq!((hosted.state(), hosted.window()), (state, window), "{}: {what} later", factory.law());
        }
    }
    let begin = Instant::now();
    let mut hosted = law("newreno").host(begin, MTU as u16);
    hosted.on_sent(begin, MTU, 1);
    let mut copy = hosted.clone_box();
    let before = copy.window();
    copy.on_ack(begin + RTT, begin, MTU, false, &rtt);
    copy.on_end_acks(begin + RTT, 0, false, Some(1));
    assert_eq!(copy.window(), before + MTU);
}

/// The application says that its path is another. The first acknowledgement of the new controller's packets comes a round trip later.
#[test]
fn acknowledgements_of_the_old_path_do_not_raise_the_window_of_the_new_one() {
    let line = Line::new(20e6, RTT, 83.0);
    for name in ["newreno", "bbr3"] {
        for after_ms in [200, 2000] {
            let windows = change_of_path(line, makes(law(name)), after_ms);
            println!("{name} after {after_ms} ms: {windows:?}");
            assert!(windows[0] > 80_000, "{name} after {after_ms} ms: {windows:?}");
            assert_eq!(windows[1..5], [10 * MTU + 1; 4], "{name} after {after_ms} ms: {windows:?}");
            assert!(windows[11] > windows[1], "{name} after {after_ms} ms: {windows:?}");
        }
    }
}

/// CoDel marked packets of the path before, whose echoes come after the move.
#[test]
fn marks_of_the_old_path_do_not_end_slow_start_on_the_new_one() {
    let line = Line { codel: true, marks: true, ..Line::new(20e6, RTT, 833.0) };
    for after_ms in [600, 640, 880] {
        let factory = LawConfig::new(&Registry::standard(), "newreno").unwrap().build().unwrap();
        let ([_, after], _) = migration(line, makes(factory), Ipv4Addr::new(127, 0, 0, 2), after_ms);
        let after = after.into_any().downcast::<Hosted>().unwrap();
        let state = after.state();
        assert!(state[1].0 == "ssthresh" && state[1].2.is_infinite(), "after {after_ms} ms: {state:?}");
    }
}

/// The time of laws ends after 213 days. A path that lasts longer still measures, and its window still follows the law.
#[test]
fn a_path_lasts_longer_than_the_time_of_laws() {
    let [long, short] = [RTT, RTT / 2].map(|rtt| (rtt, estimate(rtt)));
    let mut hosted = law("copa").host(Instant::now(), MTU as u16);
    let begin = Instant::now();
    for (day, (rtt, estimate), restarts) in
        [(0, &long, true), (199, &long, false), (214, &short, true), (413, &short, false), (640, &long, true)]
    {
        let mut now = begin + Duration::from_secs(24 * 3600 * day);
        let mut grown = 0;
        for number in 0..10u64 {
            let before = hosted.window();
            hosted.on_sent(now, MTU, number);
            hosted.on_ack(now + *rtt, now, MTU, false, estimate);
            hosted.on_end_acks(now + *rtt, 0, false, Some(number));
            now += 2 * *rtt;
            grown += u64::from(hosted.window() > before);
        }
        let state = hosted.state();
        let (_, _, min_rtt_s) = state.iter().find(|(name, ..)| *name == "min_rtt").unwrap();
        println!("day {day}: {} B, {min_rtt_s} s", hosted.window());
        assert!((min_rtt_s / rtt.as_secs_f64() - 1.0).abs() < 1e-6, "day {day}: {state:?}");
        assert!(grown >= 8, "day {day}: {state:?}");
        // Slow start adds a packet each acknowledgement.
        assert_eq!(hosted.window() == 20 * MTU + 1, restarts, "day {day}: {state:?}");
    }
}
