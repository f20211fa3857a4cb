//! What counts as a packet of a law: bytes, whatever the datagrams; and what counts as in flight.

use std::time::{Duration, Instant};

use penstock_law::Registry;
use penstock_law::cc::{
    Context, Controller as Role, Delivery, DeliveryEvent, Event, Observation, Output, Requirements,
};
use penstock_law::law::{Entry, Law, Linearisation, Observables, build};
use penstock_law::numbers;
use penstock_law::parameter::Values;
use penstock_quinn::{Factory, Hosted, LawConfig};
use quinn_proto::congestion::Controller;

use crate::laboratory::moves::receives;
use crate::laboratory::{Line, makes};
use crate::sequences::estimate;

const RTT: Duration = Duration::from_millis(40);
const MTU: u64 = 1200;

/// A law that counts the details of its host.
#[derive(Debug)]
struct Details;

numbers! {
    /// The counts.
    struct Heard {
        /// Packets delivered.
        delivered: "packets" as "Packets delivered",
        /// Packets lost.
        lost: "packets" as "Packets lost",
        /// Restarts.
        restarts: "1" as "Restarts after idleness",
        /// Packets in flight when a packet left that was acknowledged.
        in_flight: "packets" as "Most packets in flight",
        /// Round-trip times.
        round_trips: "1" as "Round-trip times",
        /// Acknowledgements.
        limited: "1" as "Acknowledgements of a path limited by the window",
    }
}

impl Law<f64> for Details {
    type Role = Role;
    type State = Heard<f64>;

    fn compile(_: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }
    fn initial_state(&self) -> Heard<f64> {
        Heard { delivered: 0.0, lost: 0.0, restarts: 0.0, in_flight: 0.0, round_trips: 0.0, limited: 0.0 }
    }
    fn on_event(&self, _: &mut Heard<f64>, _: Event, _: &Observation<f64>) {}
    fn on_detail(&self, s: &mut Heard<f64>, delivery: &Delivery, _: &Observation<f64>) {
        match &delivery.event {
            DeliveryEvent::Ack(ack) => {
                s.delivered += f64::from(ack.packets);
                s.round_trips += f64::from(u8::from(ack.rtt.is_some()));
                s.limited += f64::from(u8::from(delivery.window_limited));
                s.in_flight = s.in_flight.max(ack.rate.map_or(0.0, |rate| rate.then.in_flight as f64));
            }
            DeliveryEvent::Lost(_) => s.lost += 1.0,
            DeliveryEvent::IdleRestart => s.restarts += 1.0,
            _ => {}
        }
    }
    fn output(&self, _: &Heard<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: 10.0, gap_s: 0.0 }
    }
    fn requirements(&self) -> Requirements {
        Requirements { delivery: true, ..Requirements::LEAST }
    }
}

static DETAILS: Entry<Role> = Entry {
    name: "details",
    title: "a law that counts",
    source: "none",
    colour: "#000000",
    parameters: &[],
    observables: Observables::of::<Details>(),
    linearisation: Linearisation::Unsupported("it counts"),
    real: &build::<f64, Details>,
    dual: None,
    fixed: None,
    kernel: None,
};

fn details() -> Factory {
    LawConfig::with_values(&DETAILS, Values::defaults(&[])).build().unwrap()
}

fn number(hosted: &Hosted, wanted: &str) -> f64 {
    hosted.state().into_iter().find(|(name, ..)| *name == wanted).unwrap().2
}

/// Whatever the size of datagrams and however few a frame acknowledges or a report loses, a law hears of as many packets as the bytes
/// fill, but for half a packet.
#[test]
fn a_law_counts_packets_in_proportion_to_bytes() {
    let rtt = estimate(RTT);
    for bytes in [40, 100, 700, 1199, 1200] {
        let mut now = Instant::now();
        let mut hosted = details().host(now, MTU as u16);
        for number in 0..1200 {
            hosted.window();
            hosted.on_sent(now, bytes, number);
            hosted.on_ack(now + RTT, now, bytes, false, &rtt);
            hosted.on_end_acks(now + RTT, 0, false, Some(number));
            now += RTT;
        }
        let delivered = number(&hosted, "delivered");
        assert!((delivered - bytes as f64).abs() <= 0.5, "{delivered} packets of {bytes} kB in 1200 datagrams");
        // A report of some losses is one lost packet at the least.
        for number in 0..120 {
            let left = now;
            for _ in 0..10 {
                hosted.window();
                now += Duration::from_micros(1);
                hosted.on_sent(now, bytes, 1200 + number);
            }
            now += RTT;
            hosted.on_congestion_event(now, left + Duration::from_micros(10), false, 10 * bytes);
        }
        let (lost, exact) = (number(&hosted, "lost"), (bytes as f64).max(120.0));
        assert!((lost - exact).abs() <= 0.5, "{lost} lost packets of {bytes} kB in 1200 datagrams");
    }
}

/// In slow start the window grows by the bytes that are acknowledged, of a law that follows each packet as of another.
#[test]
fn small_packets_raise_the_window_by_their_bytes() {
    let rtt = estimate(RTT);
    for name in ["newreno", "copa"] {
        let mut now = Instant::now();
        let factory = LawConfig::new(&Registry::standard(), name).unwrap().build().unwrap();
        let mut hosted = factory.host(now, MTU as u16);
        let first = hosted.window();
        for number in 0..520 {
            now += Duration::from_micros(100);
            hosted.window();
            hosted.on_sent(now, 100, number);
        }
        let begin = now.checked_sub(Duration::from_micros(100 * 519)).unwrap();
        for number in 0..520u32 {
            let left = begin + Duration::from_micros(100) * number;
            hosted.on_ack(left + RTT, left, 100, false, &rtt);
            hosted.on_end_acks(left + RTT, u64::from(519 - number) * 100, false, Some(number.into()));
        }
        let grown = hosted.window() - first;
        println!("{name}: {grown} B for 52000 B");
        assert!(grown <= 52_000 + MTU && (grown > 50_000 || name == "copa"), "{name}: {grown} B for 52000 B");
    }
}

/// A packet that holds ACK frames alone is not in flight (RFC 9002, section 2), is no transmission that a rate sample counts (the draft of
/// BBR), and does not end an idle time.
#[test]
fn packets_of_ack_frames_alone_are_not_in_flight() {
    let rtt = estimate(RTT);
    let mut now = Instant::now();
    let mut hosted = details().host(now, MTU as u16);
    let data = |hosted: &mut Hosted, now: Instant, number: u64| {
        // quinn asks for the window before a packet with data.
        hosted.window();
        hosted.on_sent(now, MTU, number);
        hosted.on_ack(now + RTT, now, MTU, true, &rtt);
        hosted.on_end_acks(now + RTT, 0, true, Some(number));
    };
    data(&mut hosted, now, 1);
    now += Duration::from_millis(100);
    for number in 0..500 {
        hosted.on_sent(now, 40, 2 + number);
        now += Duration::from_millis(1);
    }
    assert_eq!(number(&hosted, "restarts"), 0.0);
    data(&mut hosted, now, 600);
    assert_eq!(["restarts", "in_flight", "limited"].map(|name| number(&hosted, name)), [1.0, 1.0, 0.0]);
}

/// A loss probe looks like a packet of ACK frames when it leaves. Its acknowledgement has a round-trip time.
#[test]
fn a_probe_is_known_by_its_acknowledgement() {
    let rtt = estimate(RTT);
    let mut now = Instant::now();
    let mut hosted = details().host(now, MTU as u16);
    hosted.window();
    hosted.on_sent(now, MTU, 1);
    now += 2 * RTT;
    hosted.on_sent(now, 40, 2);
    hosted.on_ack(now + RTT, now, 40, true, &rtt);
    hosted.on_end_acks(now + RTT, MTU, true, Some(2));
    assert_eq!(number(&hosted, "round_trips"), 1.0);
}

/// The same in quinn: of an end that receives for five seconds, only the packets of the handshake are in flight.
#[test]
fn an_end_that_receives_has_nothing_in_flight() {
    let line = Line::new(20e6, RTT, 83.0);
    let sends = LawConfig::new(&Registry::standard(), "newreno").unwrap().build().unwrap();
    let hosted = receives(line, makes(sends), makes(details()), 5).into_any().downcast::<Hosted>().unwrap();
    println!("{:?}", hosted.state());
    assert!(number(&hosted, "restarts") <= 1.0, "{:?}", hosted.state());
}
