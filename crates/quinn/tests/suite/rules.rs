//! Rules of QUIC that hold for every law: echoes of congestion, want of data, the size of datagrams, persistent congestion.

use std::time::{Duration, Instant};

use penstock_law::Registry;
use penstock_law::cc::{
    Context, Controller as Role, Delivery, DeliveryEvent, Event, Observation, Output, Requirements,
};
use penstock_law::law::{Entry, Law, Linearisation, Observables, build};
use penstock_law::numbers;
use penstock_law::parameter::Values;
use penstock_quinn::{Factory, Hosted, LawConfig};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::Controller;

use crate::laboratory::{Line, makes, run};
use crate::sequences::{estimate, factories};

const RTT: Duration = Duration::from_millis(40);
const MTU: u64 = 1200;

/// A controller whose packets are all acknowledged a round trip after they left.
struct Path {
    hosted: Hosted,
    now: Instant,
    rtt: RttEstimator,
    sent: u64,
}

impl Path {
    fn new(factory: &Factory, rtt: RttEstimator) -> Self {
        let now = Instant::now();
        Self { hosted: factory.host(now, MTU as u16), now, rtt, sent: 0 }
    }

    /// So many packets leave; when the first did.
    fn send(&mut self, packets: u64, bytes: u64) -> Instant {
        for _ in 0..packets {
            self.sent += 1;
            self.hosted.on_sent(self.now, bytes, self.sent);
        }
        self.now
    }

    /// They are acknowledged by one frame.
    fn acknowledge(&mut self, left: Instant, packets: u64, bytes: u64, app_limited: bool) {
        for _ in 0..packets {
            self.hosted.on_ack(self.now, left, bytes, app_limited, &self.rtt);
        }
        self.hosted.on_end_acks(self.now, 0, app_limited, Some(self.sent));
    }

    /// A round trip of packets that fill the window; when they left.
    fn full(&mut self, bytes: u64) -> Instant {
        let packets = self.hosted.window() / bytes;
        let left = self.send(packets, bytes);
        self.now += RTT;
        self.acknowledge(left, packets, bytes, false);
        left
    }

    fn fulls(&mut self, count: u32) {
        for _ in 0..count {
            self.full(MTU);
        }
    }

    /// A packet with little data, and nothing else for a second.
    fn little(&mut self) {
        let left = self.send(1, 200);
        self.now += RTT;
        self.acknowledge(left, 1, 200, true);
        self.now = left + Duration::from_secs(1);
    }

    fn congestion(&mut self, left: Instant, persistent: bool, lost: u64) {
        self.hosted.on_congestion_event(self.now, left, persistent, lost);
    }
}

/// Laws that decide by events alone.
const OF_EVENTS: [&str; 10] =
    ["newreno", "cubic", "highspeed", "scalable", "vegas", "fast", "illinois", "westwood", "ledbat", "ledbat-pp"];

/// RFC 9002, section 7.1, and RFC 9000, section 13.4: quinn sends ECT(0), and an echo is a congestion event whatever the law.
#[test]
fn an_echo_reduces_the_window_as_a_loss_does() {
    let rtt = estimate(RTT);
    for name in OF_EVENTS {
        let factory = LawConfig::new(&Registry::standard(), name).unwrap().build().unwrap();
        let [echo, loss] = [0, MTU].map(|lost| {
            let mut path = Path::new(&factory, rtt);
            path.fulls(6);
            let left = path.full(MTU);
            let before = path.hosted.law_window();
            path.congestion(left, false, lost);
            let after = path.hosted.law_window();
            assert!(after < before, "{name}: {before} to {after} packets, {lost} B lost");
            after
        });
        assert_eq!(echo, loss, "{name}");
    }
}

/// Laws that do not respond to single losses. README.md and docs/quinn.md name them.
const WITHOUT_RESPONSE: [&str; 2] = ["copa", "vivace"];
/// Packets that leave in a round trip, at most.
const USED: u64 = 100;

/// The window of a path without a queue, and with a report in each of its last twenty round trips: of an echo, or of so many bytes lost
/// [bytes].
fn reported(factory: &Factory, rtt: RttEstimator, lost: Option<u64>) -> u64 {
    let mut path = Path::new(factory, rtt);
    path.fulls(6);
    for _ in 0..20 {
        let packets = (path.hosted.window() / MTU).min(USED);
        let left = path.send(packets, MTU);
        path.now += RTT;
        let gone = lost.unwrap_or(0);
        for _ in 0..packets - gone / MTU {
            path.hosted.on_ack(path.now, left, MTU, false, &path.rtt);
        }
        path.hosted.on_end_acks(path.now, gone, false, Some(path.sent));
        if let Some(lost) = lost {
            path.congestion(left, false, lost);
        }
        path.now += Duration::from_micros(10);
    }
    path.hosted.window()
}

/// An echo is to every law what a lost packet is. The laws without a response are known: their windows are not compared. One in each of twenty round trips brings the
/// window of every other law down to where it bounds the flow, or near.
#[test]
fn every_law_responds_to_echoes_as_to_losses() {
    let rtt = estimate(RTT);
    let mut without = Vec::new();
    for factory in factories() {
        let [none, echo, loss] = [None, Some(0), Some(MTU)].map(|lost| reported(&factory, rtt, lost));
        println!("{}: {none} B, with echoes {echo} B, with losses {loss} B", factory.law());
        let [by_echo, by_loss] = [echo, loss].map(|window| window < none && window < 2 * USED * MTU);
        assert_eq!(by_echo, by_loss, "{}: {none} B, {echo} B, {loss} B", factory.law());
        assert!(!by_echo || (echo as f64 / loss as f64 - 1.0).abs() < 0.15, "{}: {echo} B, {loss} B", factory.law());
        if !by_echo {
            without.push(factory.law());
        }
    }
    assert_eq!(without, WITHOUT_RESPONSE);
}

/// A law that counts the reports of its host.
#[derive(Debug)]
struct Counts;

numbers! {
    /// The counts.
    struct Reports {
        /// Packets lost.
        lost: "packets" as "Packets lost",
        /// Congestion events.
        congestions: "1" as "Congestion events",
        /// Recoveries.
        recoveries: "1" as "Recoveries",
        /// Packets in flight when the last lost packet left.
        in_flight: "packets" as "Packets in flight with the last lost packet",
        /// Lost packets that left while the path was short of data.
        limited: "packets" as "Lost packets of a path short of data",
    }
}

impl Law<f64> for Counts {
    type Role = Role;
    type State = Reports<f64>;

    fn compile(_: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> Reports<f64> {
        Reports { lost: 0.0, congestions: 0.0, recoveries: 0.0, in_flight: 0.0, limited: 0.0 }
    }
    fn on_event(&self, s: &mut Reports<f64>, event: Event, _: &Observation<f64>) {
        s.congestions += f64::from(u8::from(event == Event::Congestion));
    }
    fn on_detail(&self, s: &mut Reports<f64>, delivery: &Delivery, _: &Observation<f64>) {
        assert_eq!(delivery.sent, delivery.delivered + delivery.lost + delivery.in_flight);
        match &delivery.event {
            DeliveryEvent::Lost(then) => {
                s.lost += 1.0;
                s.in_flight = then.in_flight as f64;
                s.limited += f64::from(u8::from(then.app_limited));
            }
            DeliveryEvent::RecoveryEntered => s.recoveries += 1.0,
            _ => {}
        }
    }
    fn output(&self, _: &Reports<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: 10.0, gap_s: 0.0 }
    }
    fn requirements(&self) -> Requirements {
        Requirements { delivery: true, ..Requirements::LEAST }
    }
}

static COUNTS: Entry<Role> = Entry {
    name: "counts",
    title: "a law that counts",
    source: "none",
    colour: "#000000",
    parameters: &[],
    observables: Observables::of::<Counts>(),
    linearisation: Linearisation::Unsupported("it counts"),
    real: &build::<f64, Counts>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// A law that follows each packet hears of an echo as of one lost packet, once a round trip.
#[test]
fn an_echo_is_one_lost_packet_a_round_trip() {
    let factory = LawConfig::with_values(&COUNTS, Values::defaults(&[])).build().unwrap();
    let mut path = Path::new(&factory, estimate(RTT));
    let counts = |path: &Path| path.hosted.state().iter().map(|(.., number)| *number).collect::<Vec<_>>();
    let first = path.full(MTU);
    path.congestion(first, false, 0);
    assert_eq!(counts(&path), [1.0, 1.0, 1.0, 10.0, 0.0], "of the packet that was marked");
    path.congestion(first, false, 0);
    assert_eq!(counts(&path), [1.0, 1.0, 1.0, 10.0, 0.0], "in the same round trip");
    path.now += Duration::from_millis(1);
    let second = path.full(MTU);
    path.congestion(second, false, 0);
    assert_eq!(counts(&path), [2.0, 2.0, 2.0, 10.0, 0.0]);
    assert_eq!(factory.law(), "counts");
}

/// From the receiver's counts of ECN-CE to the window: a queue that marks is as short as one that drops, and nothing is lost.
#[test]
fn marks_of_codel_keep_the_queue_short() {
    let line = Line { codel: true, marks: true, ..Line::new(20e6, RTT, 833.0) };
    for name in ["newreno", "cubic", "fast", "westwood"] {
        let flow = || makes(LawConfig::new(&Registry::standard(), name).unwrap().build().unwrap());
        let marked = run(line, &[flow()], 5, 15);
        let dropped = run(Line { marks: false, ..line }, &[flow()], 5, 15);
        println!(
            "{name}: {:.1} packets and {} marks, {:.1} packets and {} drops",
            marked.queue, marked.marked, dropped.queue, dropped.flows[0].lost
        );
        assert!(marked.marked > 0 && marked.flows[0].lost == 0, "{name}: {marked:?}");
        assert!(marked.queue < 2.0 * dropped.queue + 5.0, "{name}: {marked:?}, {dropped:?}");
    }
}

/// BBR's own rule bounds its window by a gain of bandwidth-delay products, whatever the window's use: 2.89 in version 1, 2.25 in version 3.
fn growth(law: &str) -> f64 {
    match law {
        "bbr" => 2.89,
        "bbr3" => 2.25,
        _ => 1.0,
    }
}

/// Little data, a packet a second, does not make the window grow.
fn stays(factory: &Factory, mut path: Path, seconds: u32) {
    path.little();
    let before = path.hosted.window();
    for second in 0..seconds {
        path.little();
        let window = path.hosted.window();
        let most = before as f64 * growth(factory.law());
        assert!(window as f64 <= most, "{}: {before} to {window} B after {second} s", factory.law());
    }
}

/// RFC 9002, section 7.8: a window that is not used does not grow, for an hour.
#[test]
fn a_window_without_data_does_not_grow() {
    let rtt = estimate(RTT);
    for factory in factories() {
        stays(&factory, Path::new(&factory, rtt), 3600);
    }
}

/// The same after a flow that used its window.
#[test]
fn a_window_that_was_used_does_not_grow_without_data() {
    let rtt = estimate(RTT);
    for factory in factories() {
        let mut path = Path::new(&factory, rtt);
        path.fulls(5);
        stays(&factory, path, 600);
    }
}

/// RFC 8899, section 3: a larger PLPMTU leaves the window in bytes as it is. RFC 9002, section 7.2: two datagrams at the least.
#[test]
fn larger_datagrams_leave_the_window_in_bytes() {
    let rtt = estimate(RTT);
    for factory in factories() {
        let mut path = Path::new(&factory, rtt);
        path.fulls(5);
        let before = path.hosted.window();
        for mtu in [1452, 9000] {
            path.hosted.on_mtu_update(mtu);
            assert_eq!(path.hosted.window(), before.max(2 * u64::from(mtu) + 1), "{} at {mtu}", factory.law());
        }
        path.hosted.on_mtu_update(u16::MAX);
        assert!(path.hosted.window() >= 2 * u64::from(u16::MAX), "{}", factory.law());
    }
}

/// A law counts bytes in packets of one size, whatever the datagrams: in slow start each acknowledged byte adds one.
#[test]
fn larger_datagrams_count_as_many_packets_as_they_have_bytes() {
    let factory = LawConfig::new(&Registry::standard(), "newreno").unwrap().build().unwrap();
    let mut path = Path::new(&factory, estimate(RTT));
    path.hosted.on_mtu_update(6000);
    let mut before = path.hosted.window() - 1;
    for _ in 0..4 {
        path.full(6000);
        let window = path.hosted.window() - 1;
        assert_eq!(window, before + before / 6000 * 6000);
        before = window;
    }
    // Of 10 lost datagrams each is five packets.
    let mut path = Path::new(&LawConfig::with_values(&COUNTS, Values::defaults(&[])).build().unwrap(), estimate(RTT));
    path.hosted.on_mtu_update(6000);
    let left = path.send(10, 6000);
    path.now += RTT;
    path.congestion(left, false, 60_000);
    assert_eq!(path.hosted.state()[0].2, 50.0);
}

/// RFC 9002, section 7.6.2: the window MUST be the minimum window. Then it grows as in slow start at the most, where the law itself
/// did not reduce its window.
#[test]
fn persistent_congestion_leaves_the_minimum_window() {
    let rtt = estimate(RTT);
    for factory in factories() {
        let mut path = Path::new(&factory, rtt);
        path.fulls(6);
        let before = path.hosted.window();
        let left = path.send(20, MTU);
        path.now += Duration::from_secs(2);
        path.congestion(left, true, 10 * MTU);
        let law = factory.law();
        assert_eq!(path.hosted.window(), 2 * MTU + 1, "{law}, which had {before} B");
        assert_eq!(path.hosted.metrics().congestion_window, 2 * MTU, "{law}");
        // A flight of ten is still under way; a window that the law keeps comes back as its data are acknowledged.
        path.now += Duration::from_millis(1);
        path.full(MTU);
        let window = path.hosted.window();
        assert!(window <= 4 * MTU + 1, "{law}: {window} B after two packets");
        // The least rate of `nada` is less than two packets a round trip.
        assert!(window > 2 * MTU + 1 || law == "nada", "{law}: {window} B");
        if law == "vivace" {
            assert_eq!(window, 4 * MTU + 1, "{law}");
            path.fulls(12);
            let by_rate = rtt.get().as_secs_f64() / path.hosted.gap_s() * MTU as f64;
            assert!((path.hosted.window() as f64 / by_rate - 1.0).abs() < 0.01, "{by_rate}");
        }
    }
}

/// Before the first round-trip time a rate allows the initial window, of a law without a window too (RFC 9002, section 7.2).
#[test]
fn a_path_begins_with_the_initial_window() {
    for factory in factories() {
        let path = Path::new(&factory, estimate(RTT));
        let (law, window) = (factory.law(), path.hosted.window());
        assert!(window <= 10 * MTU + 1, "{law}: {window} B");
    }
}

/// All that is under way is lost: the window is not back at once, and it comes back as in slow start.
#[test]
fn after_persistent_congestion_the_window_doubles() {
    for factory in factories() {
        let mut path = Path::new(&factory, estimate(RTT));
        // A line of 20 packets a round trip: BBR is in Startup no more.
        for _ in 0..16 {
            let left = path.send(20, MTU);
            path.now += RTT;
            path.acknowledge(left, 20, MTU, false);
        }
        let lost = path.send(20, MTU);
        path.now += Duration::from_secs(1);
        let probe = path.send(1, MTU);
        path.now += RTT;
        path.hosted.on_ack(path.now, probe, MTU, false, &path.rtt);
        path.hosted.on_end_acks(path.now, 20 * MTU, false, Some(path.sent));
        path.congestion(lost, true, 20 * MTU);
        let law = factory.law();
        for datagrams in [4, 8, 16] {
            path.full(MTU);
            let window = path.hosted.window();
            assert!(window <= datagrams * MTU + 1, "{law}: {window} B where slow start has {datagrams} datagrams");
        }
        path.fulls(2);
        let window = path.hosted.window();
        assert!(window > 10 * MTU || !law.starts_with("bbr"), "{law}: {window} B");
    }
}

/// Numbers that no path has are no panic, and no wrap.
#[test]
fn counts_do_not_overflow() {
    let rtt = estimate(RTT);
    for factory in factories() {
        let mut path = Path::new(&factory, rtt);
        let left = path.send(2, u64::MAX);
        path.now += RTT;
        path.acknowledge(left, 2, u64::MAX, false);
        let window = path.hosted.window();
        assert!((2 * MTU..1 << 50).contains(&window), "{}: {window} B", factory.law());
        assert_eq!(path.hosted.unsound(), 0, "{}", factory.law());
    }
}
