//! Random sequences of what quinn may report, and of what it should not, through every law.

use std::any::Any;
use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use penstock_law::Registry;
use penstock_law::cc::{Context, Controller, Event, Observation, Output, Requirements};
use penstock_law::law::{Entry, Fields, Law, Linearisation, Observables, build};
use penstock_law::parameter::Values;
use penstock_quinn::{Factory, Hosted, LawConfig};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, Controller as _, ControllerFactory};

use crate::laboratory::moves::migration;
use crate::laboratory::{Line, PACKET, makes, run};

/// Keeps quinn's estimates of the round-trip time: only quinn makes them.
#[derive(Clone)]
struct Keeper {
    kept: Arc<Mutex<Vec<RttEstimator>>>,
    window: u64,
}

impl ControllerFactory for Keeper {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn congestion::Controller> {
        Box::new((*self).clone())
    }
}

impl congestion::Controller for Keeper {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        self.kept.lock().unwrap().push(*rtt);
    }
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 {
        self.window
    }
    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }
    fn initial_window(&self) -> u64 {
        self.window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn kept(line: Line, packets: u64) -> Vec<RttEstimator> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    run(line, &[Arc::new(Keeper { kept: Arc::clone(&kept), window: packets * PACKET as u64 })], 1, 2);
    let kept = kept.lock().unwrap();
    kept.clone()
}

fn estimates() -> Vec<RttEstimator> {
    // A window of more than the line and its buffer hold, so that round trips differ.
    let kept = kept(Line::new(2e6, Duration::from_millis(40), 20.0), 60);
    assert!(kept.len() > 100);
    kept
}

/// quinn's estimate on a path whose round-trip time is always the same.
pub(crate) fn estimate(rtt: Duration) -> RttEstimator {
    let last = *kept(Line::new(10e9, rtt, 100.0), 2).last().unwrap();
    assert!((last.get().as_secs_f64() / rtt.as_secs_f64() - 1.0).abs() < 0.002, "{:?}", last.get());
    last
}

/// Every controller of the registry that quinn can have, with some value for what has none.
pub(crate) fn factories() -> Vec<Factory> {
    let registry = Registry::standard();
    let entries = registry.laws::<Controller>().iter();
    entries.filter_map(|entry| LawConfig::new(&registry, entry.name).unwrap().build().ok()).collect()
}

/// Random numbers, by their state.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^ (z >> 27)
    }
    /// From zero to one.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }
    /// A span from nothing to half a year, by orders of magnitude.
    fn span(&mut self) -> Duration {
        let order = self.below(54);
        Duration::from_nanos(self.below(1 << order))
    }
}

/// Without a question for the window, which the adapter takes for the announcement of data.
fn check(hosted: &Hosted, mtu: u64, what: &str) {
    let window = hosted.metrics().congestion_window;
    assert!(window >= 2 * mtu && window < 1 << 50, "{what}: a window of {window} bytes");
}

/// Events of one controller, most of them in the order in which quinn has them, some in none. Returns how many packets the adapter takes
/// for packets of ACK frames alone: small ones before which nobody asked for the window.
fn sequence(factory: &Factory, estimates: &[RttEstimator], draws: &mut Draws) -> u64 {
    let begin = Instant::now();
    let (mut now, mut mtu) = (begin, 1200u64);
    let mut hosted = factory.host(now, mtu as u16);
    let mut sent: Vec<(Instant, u64, u64)> = Vec::new();
    let (mut number, mut largest) = (0, None);
    let (mut asked, mut beside) = (true, 0);
    let law = factory.law();
    for _ in 0..draws.below(60) {
        // Time stands still, goes on, and jumps; some seconds of a sequence of quinn are like the first two.
        match draws.below(10) {
            0..4 => now += Duration::from_micros(draws.below(50_000)),
            4 => now += draws.span(),
            _ => {}
        }
        let rtt = &estimates[draws.below(estimates.len() as u64) as usize];
        match draws.below(12) {
            0..4 => {
                let most = if draws.below(2) == 0 { mtu / 2 } else { 10 * mtu };
                let bytes = 1 + draws.below(most);
                number += 1;
                hosted.on_sent(now, bytes, number);
                beside += u64::from(!std::mem::take(&mut asked) && 2 * bytes < mtu);
                sent.push((now, bytes, number));
            }
            4..8 => {
                for _ in 0..draws.below(4) {
                    // What was sent, or what never was.
                    let known = !sent.is_empty() && draws.below(20) > 0;
                    let at = draws.below(sent.len().max(1) as u64) as usize;
                    let (left, bytes) = if known {
                        let (left, bytes, acknowledged) = sent.swap_remove(at);
                        largest = largest.max(Some(acknowledged));
                        (left, bytes)
                    } else {
                        (begin + draws.span().min(now - begin), draws.below(1 << 20))
                    };
                    hosted.on_ack(now, left, bytes, draws.below(4) == 0, rtt);
                }
                let in_flight = draws.below(2 * sent.iter().map(|(_, bytes, _)| bytes).sum::<u64>() + 1);
                // The largest that was ever acknowledged; in a frame in twenty none, and in another one that never was sent.
                let largest = match draws.below(20) {
                    0 => None,
                    1 => Some(draws.next()),
                    _ => largest,
                };
                hosted.on_end_acks(now, in_flight, draws.below(4) == 0, largest);
            }
            8 => {
                let left = sent.last().map_or(begin, |(left, ..)| *left);
                hosted.on_congestion_event(now, left, draws.below(8) == 0, draws.below(1 << 20));
            }
            9 => hosted.on_congestion_event(now, now, false, 0),
            10 => {
                mtu = 1200 + draws.below(65_535 - 1200);
                hosted.on_mtu_update(mtu as u16);
            }
            _ => {
                let copy = hosted.clone_box().into_any().downcast::<Hosted>().unwrap();
                assert_eq!((copy.window(), copy.state()), (hosted.window(), hosted.state()), "{law}");
                hosted = *copy;
                asked = true;
            }
        }
        check(&hosted, mtu, law);
        // quinn asks before each packet with data, and before none of ACK frames.
        if draws.below(2) == 0 {
            hosted.window();
            asked = true;
        }
    }
    assert_eq!(hosted.unsound(), 0, "{law}");
    beside
}

fn sequences(count: u64) {
    let (estimates, factories) = (estimates(), factories());
    let mut beside = 0;
    for number in 0..count {
        let factory = &factories[(number % factories.len() as u64) as usize];
        beside += sequence(factory, &estimates, &mut Draws(number));
    }
    println!("{beside} packets of ACK frames alone in {count} sequences");
    assert!(beside > count / 10, "{beside} packets of ACK frames alone in {count} sequences");
}

#[test]
fn no_sequence_of_events_is_too_much_for_a_law() {
    sequences(20_000);
}

/// A million of them for each law.
#[test]
#[ignore = "takes minutes; make nightly runs it"]
fn no_sequence_of_a_million_is_too_much_for_a_law() {
    sequences(1_000_000 * factories().len() as u64);
}

/// A copy goes on by itself: quinn copies the controller when a path gets another address.
#[test]
fn a_copy_goes_on_by_itself() {
    for factory in factories() {
        let begin = Instant::now();
        let mut one = factory.host(begin, 1200);
        let mut other = one.clone_box().into_any().downcast::<Hosted>().unwrap();
        let before = one.state();
        other.on_sent(begin, 12_000, 0);
        other.on_congestion_event(begin + Duration::from_millis(1), begin, true, 12_000);
        assert_eq!(one.state(), before, "{}", factory.law());
        one.on_sent(begin, 1200, 0);
    }
}

/// A connection whose peer moves: behind a NAT that gives another port the controller is copied and goes on, and at another address it
/// begins anew (RFC 9000, section 9.4). Data go on to flow.
#[test]
fn a_controller_moves_with_its_peer() {
    let line = Line::new(20e6, Duration::from_millis(40), 83.0);
    for name in ["newreno", "fast", "bbr3"] {
        for (to, same) in [(Ipv4Addr::LOCALHOST, true), (Ipv4Addr::new(127, 0, 0, 2), false)] {
            let factory = LawConfig::new(&Registry::standard(), name).unwrap().build().unwrap();
            let ([before, after], bytes) = migration(line, makes(factory), to, 2000);
            let [before, after] = [before, after].map(|one| one.into_any().downcast::<Hosted>().unwrap());
            let (had, has) = (before.window(), after.window());
            println!("{name} to {to}: {had} B to {has} B, {bytes} B in 0.5 s");
            assert!(had > 80_000 && bytes > 100_000, "{name}: {had} B, {bytes} B in 0.5 s");
            assert_eq!(has > had / 2, same, "{name} to {to}: {had} B to {has} B");
        }
    }
}

/// A law whose state is shared by its copies.
#[derive(Debug)]
struct Shared(Arc<()>);

#[derive(Debug, Clone)]
struct Share(#[expect(dead_code, reason = "it is counted")] Arc<()>);

impl Fields<f64> for Share {
    const NAMES: &'static [(&'static str, &'static str)] = &[];
    const WORDS: &'static [(&'static str, &'static str)] = &[];
    fn each(&mut self, _: &mut dyn FnMut(&mut f64)) {}
}

static STATES: LazyLock<Arc<()>> = LazyLock::new(Arc::default);

impl Law<f64> for Shared {
    type Role = Controller;
    type State = Share;

    fn compile(_: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self(Arc::clone(&STATES)))
    }
    fn initial_state(&self) -> Share {
        Share(Arc::clone(&self.0))
    }
    fn on_event(&self, _: &mut Share, _: Event, _: &Observation<f64>) {}
    fn output(&self, _: &Share, _: &Observation<f64>) -> Output<f64> {
        Output { window: 10.0, gap_s: 0.0 }
    }
    fn requirements(&self) -> Requirements {
        Requirements::LEAST
    }
}

static SHARED: Entry<Controller> = Entry {
    name: "shared",
    title: "a law whose states can be counted",
    source: "none",
    colour: "#000000",
    parameters: &[],
    observables: Observables::of::<Shared>(),
    linearisation: Linearisation::Unsupported("it has no numbers"),
    real: &build::<f64, Shared>,
    dual: None,
    fixed: None,
    kernel: None,
};

/// A NAT may change the port of a connection as often as it likes: the states of controllers that are gone are used again.
#[test]
fn copies_that_are_gone_leave_no_state() {
    let factory = LawConfig::with_values(&SHARED, Values::defaults(&[])).build().unwrap();
    let begin = Instant::now();
    let mut path: Box<dyn congestion::Controller> = Box::new(factory.host(begin, 1200));
    for _ in 0..1000 {
        // quinn keeps the path before until the new one is validated.
        path = path.clone_box();
    }
    let counted = Arc::strong_count(&STATES);
    assert!(counted < 8, "{counted} states and laws");
    let mut other = path.clone_box();
    other.on_sent(begin, 1200, 0);
    assert_eq!((path.window(), other.window()), (12_001, 12_001));
}
