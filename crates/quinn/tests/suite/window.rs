//! The window that quinn gets of a law with a rate: the data of that rate in a smoothed round-trip time.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use penstock_law::Registry;
use penstock_quinn::{Factory, Hosted, LawConfig};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerFactory};

use crate::laboratory::{Line, PACKET, run};

/// The kept windows of a controller, in packets: that which quinn had, and that by quinn's estimate of the round-trip time.
type Windows = Arc<Mutex<Vec<(f64, f64)>>>;

struct Makes {
    factory: Factory,
    windows: Windows,
}

impl ControllerFactory for Makes {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Kept { hosted: self.factory.host(now, mtu), windows: Arc::clone(&self.windows), begins: false })
    }
}

struct Kept {
    hosted: Hosted,
    windows: Windows,
    /// The next report begins an acknowledgement: quinn's estimate has all samples before it.
    begins: bool,
}

impl congestion::Controller for Kept {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.hosted.on_sent(now, bytes, last);
    }
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        if std::mem::take(&mut self.begins) {
            let by_rate = rtt.get().as_secs_f64() / self.hosted.gap_s();
            let ours = self.hosted.window() as f64 / PACKET;
            self.windows.lock().unwrap().push((ours, self.hosted.law_window().min(by_rate).max(2.0)));
        }
        self.hosted.on_ack(now, sent, bytes, app_limited, rtt);
    }
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.hosted.on_end_acks(now, in_flight, app_limited, largest);
        self.begins = true;
    }
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.hosted.on_congestion_event(now, sent, persistent, lost);
    }
    fn on_mtu_update(&mut self, mtu: u16) {
        self.hosted.on_mtu_update(mtu);
    }
    fn window(&self) -> u64 {
        self.hosted.window()
    }
    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        unreachable!("the path stays")
    }
    fn initial_window(&self) -> u64 {
        self.hosted.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// quinn smooths a sample in after its controller has heard of the acknowledgement. The window has that sample too: BBR's window
/// for the packets that leave now is that of the round-trip time with which quinn paces them.
#[test]
fn the_window_has_the_newest_sample() {
    let windows = Windows::default();
    let factory = LawConfig::new(&Registry::standard(), "bbr3").unwrap().build().unwrap();
    // A queue of two round trips, which builds and drains.
    let line = Line::new(20e6, Duration::from_millis(40), 166.0);
    run(line, &[Arc::new(Makes { factory, windows: Arc::clone(&windows) })], 1, 8);
    let windows = windows.lock().unwrap();
    let most = windows.iter().map(|(ours, by_estimate)| (ours - by_estimate).abs()).fold(0.0, f64::max);
    println!("{} windows, at most {most:.3} packets apart", windows.len());
    assert!(windows.len() > 1000 && most < 0.1, "{} windows, {most} packets", windows.len());
}
