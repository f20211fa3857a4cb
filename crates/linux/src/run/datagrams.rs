//! Sources that answer nothing: datagrams at a rate.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::socket::{MsgFlags, send};
use penstock_law::quantity::{Bytes, Rate, Time};

use super::plan::{FlowPlan, Source};
use super::socket;
use crate::clock::Clock;
use crate::path::emulation::Way;

/// One source.
struct Emitter {
    socket: OwnedFd,
    rates: Vec<(Time, Rate)>,
    next: Time,
    stop: Time,
    /// Still to be sent [packets].
    left: u64,
}

/// Headers of IP and UDP.
const HEADERS: u64 = 28;
/// Whoever wants it to end waits for so long at most.
const LONGEST_SLEEP: Time = Time(20_000_000_000);

/// Sends on the calling thread, which is in the senders' namespace, until `stop`. Gives how far behind it was then.
pub(super) fn emit(
    flows: &[FlowPlan],
    (wire, payload): (Bytes, Bytes),
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<Time> {
    let mut emitters = Vec::new();
    for (number, flow) in flows.iter().enumerate() {
        if let Source::Datagrams(rates) = &flow.source {
            let socket = socket::datagrams(Way::Back, number as u32)?;
            let left = flow.size.map_or(u64::MAX, |bytes| bytes.div_ceil(payload.0));
            emitters.push(Emitter { socket, rates: rates.clone(), next: flow.start, stop: flow.stop, left });
        }
    }
    prctl::set_timerslack(1)?;
    clock.sleep_until_start();
    let content = vec![0; wire.0.saturating_sub(HEADERS) as usize];
    while !stop.load(Ordering::Relaxed) {
        let Some(first) = emitters.iter_mut().filter(|e| e.left > 0 && e.next < e.stop).min_by_key(|e| e.next) else {
            clock.sleep_until(clock.now() + LONGEST_SLEEP);
            continue;
        };
        let now = clock.now();
        if first.next > now {
            clock.sleep_until(first.next.min(now + LONGEST_SLEEP));
            continue;
        }
        match send(first.socket.as_raw_fd(), &content, MsgFlags::empty()) {
            // Nobody listening yet is no matter for a source that answers nothing.
            Ok(_) | Err(Errno::ECONNREFUSED | Errno::EINTR | Errno::ENOBUFS) => {}
            Err(error) => return Err(error.into()),
        }
        first.left -= 1;
        let rate = first.rates.iter().rev().find(|(from, _)| *from <= first.next).map_or(Rate(1), |(_, rate)| *rate);
        first.next += rate.time_for(wire);
    }
    let now = clock.now();
    let due = emitters.iter().filter(|e| e.left > 0 && e.next < e.stop).map(|e| now.since(e.next));
    Ok(due.max().unwrap_or_default())
}
