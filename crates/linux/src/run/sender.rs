//! The sending end: connects, keeps sockets full, and reads their state from the kernel.

use std::fs;
use std::io;
use std::iter::{Copied, Peekable};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::slice::Iter;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{MsgFlags, send};
use penstock_law::quantity::Time;
use penstock_machine::clock::Clock;

use penstock_scenario::model::Scenario;
use penstock_scenario::transfer::Transfer;

use super::generator::Generator;
use super::iperf3::Clients;
use super::plan::{FlowPlan, Source};
use super::receiver::Received;
use super::socket::{self, Ahead, Info};
use super::traffic::{Begin, Happening, Traffic};

/// Measurements of a flow of TCP, from the start of the run to a moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    /// User's data that the receiver has read, or acknowledged where it is another program [B].
    pub(super) received: u64,
    /// The window, integrated over time, and its square [packets s], [packets^2 s]; and its value now [packets].
    pub(super) window: f64,
    pub(super) window_squared: f64,
    pub(super) window_now: f64,
    pub(super) in_flight: u32,
    /// Smoothed round trips, each as often as packets were delivered since the one before; and how often that was.
    pub(super) rtt: f64,
    pub(super) rtts: f64,
    /// The smallest round trip since the start; never before there is one.
    pub(super) least_rtt: Option<Time>,
    pub(super) again: u64,
    pub(super) timeouts: u64,
    /// Time with data to send, the part of it that the receiver's window held it, and the part that its own buffer did.
    pub(super) busy: Time,
    pub(super) held_by_receiver: Time,
    pub(super) held_by_buffer: Time,
    /// When its first transfer was complete.
    pub(super) completed: Option<Time>,
    /// The kernel's last report of a connection that was established.
    pub(super) info: Info,
}

/// Every flow at a moment.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) at: Time,
    pub(super) flows: Vec<Told>,
}

/// Results of the sending end.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) boundaries: Vec<Reading>,
    pub(super) samples: Vec<Reading>,
    /// Transfers that were complete, in the order in which they ended.
    pub(super) transfers: Vec<Transfer>,
    /// Controllers that sockets had in effect, by flow; none where it never connected.
    pub(super) controllers: Vec<Option<String>>,
    /// Time that the sending end waited for a processor, where it is of this process.
    pub(super) late: Time,
    /// Connections that there still are: closing one resets it.
    pub(super) open: Vec<OwnedFd>,
}

/// State of the sending end.
pub(super) struct Sender<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) flows: &'a [FlowPlan],
    pub(super) generator: Generator,
    pub(super) clock: Clock,
    pub(super) boundaries: &'a [Time],
    pub(super) received: &'a Received,
    pub(super) stop: &'a AtomicBool,
    /// Set once every flow that has a size is complete.
    pub(super) complete: &'a AtomicBool,
}

/// When flows are read.
pub(super) struct Readings<'a> {
    boundaries: Peekable<Copied<Iter<'a, Time>>>,
    sample: Time,
    next_sample: Time,
}

impl<'a> Readings<'a> {
    pub(super) fn new(boundaries: &'a [Time], sample: Time) -> Self {
        Self { boundaries: boundaries.iter().copied().peekable(), sample, next_sample: sample }
    }

    /// Takes the samples due now; those of the remaining boundaries too, where the run is over.
    pub(super) fn take(&mut self, now: Time, over: bool, sent: &mut Sent, reading: impl Fn() -> Reading) {
        while self.boundaries.next_if(|boundary| *boundary <= now).is_some() {
            sent.boundaries.push(reading());
        }
        if now >= self.next_sample {
            self.next_sample = Time(now.0 - now.0 % self.sample.0) + self.sample;
            sent.samples.push(reading());
        }
        if over && self.boundaries.peek().is_some() {
            sent.boundaries.push(reading());
        }
    }

    /// When that is next.
    pub(super) fn next(&mut self) -> Time {
        self.boundaries.peek().copied().unwrap_or(Time::NEVER).min(self.next_sample)
    }
}

/// Written at once [B].
const CHUNK: usize = 1 << 18;
/// Interval of reading the kernel's state, and the longest time of reading one socket.
pub(super) const LOOK: Time = Time(5_000_000_000);
const LOOK_EACH: Time = Time(20_000_000);

#[derive(Debug)]
struct Flow {
    stage: Stage,
    /// Still to be written [B].
    left: u64,
    told: Told,
    /// Measurements when the connection began, which its kernel's counters count on from.
    before: Told,
    looked: Time,
    controller: Option<String>,
    /// The transfer under way, and when it began; its end, once it is complete.
    transfer: Option<(Begin, Time)>,
    ended: Option<Transfer>,
}

#[derive(Debug)]
enum Stage {
    /// Between transfers, or not TCP.
    Idle,
    /// Writes while there is space.
    Open(OwnedFd),
    /// Writes nothing for a while.
    Silent(OwnedFd),
    /// Another program writes.
    Watched(OwnedFd),
    /// All is written; waits for the receiver to have read it.
    Finishing(OwnedFd),
}

impl Stage {
    /// Its socket, where there is one.
    fn socket(self) -> Option<OwnedFd> {
        match self {
            Self::Open(socket) | Self::Silent(socket) | Self::Watched(socket) | Self::Finishing(socket) => Some(socket),
            Self::Idle => None,
        }
    }
}

/// The events for which a socket is polled.
const WRITES: EpollFlags = EpollFlags::EPOLLOUT.union(EpollFlags::EPOLLRDHUP);
const WAITS: EpollFlags = EpollFlags::EPOLLRDHUP;

impl Sender<'_> {
    /// Sends on the calling thread, which is in the senders' namespace, until `stop`.
    pub(super) fn send(&self) -> io::Result<Sent> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let mut flows: Vec<Flow> = self.flows.iter().map(|_| Flow::new()).collect();
        let mut traffic = Traffic::of(self.scenario, self.flows);
        let look = LOOK.max(Time(LOOK_EACH.0 * flows.len() as u64));
        let mut next_look = Time::ZERO;
        let mut readings = Readings::new(self.boundaries, self.scenario.sample);
        let mut sent = Sent::default();
        let mut sack = None;
        let chunk = vec![0; CHUNK];
        let own = self.generator == Generator::Own;
        self.clock.sleep_until_start();
        let mut clients = if own { None } else { Some(Clients::start(self.flows, self.clock.now())?) };
        let mut events = [EpollEvent::empty(); 64];
        loop {
            let now = self.clock.now();
            let over = self.stop.load(Ordering::Relaxed);
            while let Some(happening) = traffic.happened(now).filter(|_| !over) {
                // Other programs begin by themselves.
                if !own && matches!(happening, Happening::Begin(_)) {
                    continue;
                }
                self.happen(&epoll, &mut flows, &traffic, &mut sack, happening)?;
            }
            if now >= next_look || over {
                next_look = now + look;
                let begun = clients.as_mut().map(Clients::begun).transpose()?;
                for (at, socket) in begun.into_iter().flatten() {
                    flows[at as usize].watch(socket, now);
                }
                for (at, flow) in flows.iter_mut().enumerate() {
                    flow.look(now)?;
                    if own {
                        flow.told.received = self.received[at].load(Ordering::Relaxed);
                    }
                }
                self.look_for_the_end(flows.iter().map(|flow| &flow.told));
            }
            let reading = || Reading { at: self.clock.now(), flows: flows.iter().map(|flow| flow.told).collect() };
            readings.take(now, over, &mut sent, reading);
            if over {
                break;
            }
            let wait = next_look.min(readings.next()).min(traffic.next()).since(self.clock.now());
            let timeout = EpollTimeout::try_from(wait.0.div_ceil(1_000_000_000)).unwrap_or(EpollTimeout::from(5u8));
            let ready = match epoll.wait(&mut events, timeout) {
                Ok(ready) => ready,
                Err(Errno::EINTR) => 0,
                Err(error) => return Err(error.into()),
            };
            for event in &events[..ready] {
                let (at, now) = (event.data() as u32, self.clock.now());
                let flow = &mut flows[at as usize];
                flow.ready(&epoll, *event, &chunk, now)?;
                if let Some(transfer) = flow.ended.take() {
                    sent.transfers.push(transfer);
                    traffic.completed(at, now);
                }
            }
        }
        for flow in flows {
            sent.controllers.push(flow.controller);
            sent.open.extend(flow.stage.socket());
        }
        Ok(sent)
    }

    /// Whether every flow with a size is complete.
    pub(super) fn look_for_the_end<'a>(&self, told: impl Iterator<Item = &'a Told>) {
        let waits = |(told, plan): (&Told, &FlowPlan)| {
            let once = self.scenario.groups[plan.group].repeats.is_none();
            plan.source.is_reliable() && plan.bytes.is_some() && once && told.completed.is_none()
        };
        if !told.zip(self.flows).any(waits) {
            self.complete.store(true, Ordering::Relaxed);
        }
    }

    /// An event of a flow, by the scenario.
    fn happen(
        &self,
        epoll: &Epoll,
        flows: &mut [Flow],
        traffic: &Traffic,
        sack_now: &mut Option<bool>,
        happening: Happening,
    ) -> io::Result<()> {
        match happening {
            Happening::Begin(begin) => {
                let at = begin.flow;
                let plan = &self.flows[at as usize];
                let Source::Tcp { controller, sack } = &plan.source else { return Ok(()) };
                if *sack_now != Some(*sack) {
                    // The whole namespace's, but it counts when a connection begins.
                    fs::write("/proc/sys/net/ipv4/tcp_sack", if *sack { "1" } else { "0" })?;
                    *sack_now = Some(*sack);
                }
                let pauses = self.scenario.groups[plan.group].on_off.is_some();
                let socket =
                    socket::connecting(at, controller.name(), if pauses { Ahead::Little } else { Ahead::Much })?;
                let silent = traffic.silent(at);
                let wanted = if silent { WAITS } else { WRITES };
                epoll.add(&socket, EpollEvent::new(wanted, at.into()))?;
                flows[at as usize].begin(socket, begin, silent, self.clock.now())
            }
            Happening::Silent(at) => flows[at as usize].fall_silent(epoll, at.into()),
            Happening::Speaks(at) => flows[at as usize].speak(epoll, at.into()),
            Happening::Stop(at) => {
                let flow = &mut flows[at as usize];
                // What its stop cuts short is not complete.
                flow.transfer = None;
                flow.finish(epoll, at.into())
            }
        }
    }
}

impl Flow {
    fn new() -> Self {
        let (told, before) = (Told::default(), Told::default());
        let (looked, controller) = (Time::ZERO, None);
        Self { stage: Stage::Idle, left: 0, told, before, looked, controller, transfer: None, ended: None }
    }

    /// A connection for a transfer.
    fn begin(&mut self, socket: OwnedFd, begin: Begin, silent: bool, now: Time) -> io::Result<()> {
        self.controller = Some(socket::controller(&socket)?);
        self.left = begin.bytes.map_or(u64::MAX, |bytes| bytes.0);
        self.transfer = begin.bytes.is_some().then_some((begin, now));
        self.before = self.told;
        self.before.info = Info::default();
        self.looked = now;
        self.stage = if silent { Stage::Silent(socket) } else { Stage::Open(socket) };
        Ok(())
    }

    /// Another program has connected.
    fn watch(&mut self, socket: OwnedFd, now: Time) {
        self.looked = now;
        self.stage = Stage::Watched(socket);
    }

    fn fall_silent(&mut self, epoll: &Epoll, number: u64) -> io::Result<()> {
        if let Stage::Open(socket) = &self.stage {
            epoll.modify(socket, &mut EpollEvent::new(WAITS, number))?;
        }
        self.stage = match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Open(socket) => Stage::Silent(socket),
            other => other,
        };
        Ok(())
    }

    fn speak(&mut self, epoll: &Epoll, number: u64) -> io::Result<()> {
        if let Stage::Silent(socket) = &self.stage {
            epoll.modify(socket, &mut EpollEvent::new(WRITES, number))?;
        }
        self.stage = match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Silent(socket) => Stage::Open(socket),
            other => other,
        };
        Ok(())
    }

    /// An event of its socket.
    fn ready(&mut self, epoll: &Epoll, event: EpollEvent, chunk: &[u8], now: Time) -> io::Result<()> {
        match &self.stage {
            Stage::Open(socket) => {
                if event.events().intersects(EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP) {
                    socket::error(socket)?;
                }
                for _ in 0..4 {
                    let bytes = usize::try_from(self.left).unwrap_or(CHUNK).min(CHUNK);
                    let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
                    match send(socket.as_raw_fd(), &chunk[..bytes], flags) {
                        Ok(written) if self.left != u64::MAX => self.left -= written as u64,
                        Ok(_) => {}
                        Err(Errno::EAGAIN | Errno::EINTR) => return Ok(()),
                        Err(error) => return Err(error.into()),
                    }
                    if self.left == 0 {
                        return self.finish(epoll, event.data());
                    }
                }
            }
            // The receiver closes its end when it has read all of this one.
            Stage::Finishing(socket) => {
                if event.events().intersects(EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP) {
                    epoll.delete(socket.as_fd())?;
                    self.look(now)?;
                    self.told.window_now = 0.0;
                    self.stage = Stage::Idle;
                    if let Some((Begin { flow, number, arrived, bytes }, began)) = self.transfer.take() {
                        let bytes = bytes.unwrap_or_default();
                        self.told.completed.get_or_insert(now);
                        self.ended = Some(Transfer { flow, number, arrived, began, ended: now, bytes });
                    }
                }
            }
            Stage::Silent(socket) => {
                if event.events().intersects(EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP) {
                    socket::error(socket)?;
                }
            }
            Stage::Watched(_) | Stage::Idle => {}
        }
        Ok(())
    }

    fn finish(&mut self, epoll: &Epoll, number: u64) -> io::Result<()> {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Open(socket) | Stage::Silent(socket) => {
                socket::finish(&socket)?;
                epoll.modify(&socket, &mut EpollEvent::new(WAITS, number))?;
                Stage::Finishing(socket)
            }
            // Who writes to it hears of that, and ends.
            Stage::Watched(socket) => {
                socket::finish(&socket)?;
                Stage::Watched(socket)
            }
            other => other,
        };
        Ok(())
    }

    /// Reads the kernel's state. The last values hold until now.
    fn look(&mut self, now: Time) -> io::Result<()> {
        let (Stage::Open(socket) | Stage::Silent(socket) | Stage::Finishing(socket) | Stage::Watched(socket)) =
            &self.stage
        else {
            return Ok(());
        };
        let info = socket::info(socket)?;
        if matches!(self.stage, Stage::Watched(_)) {
            // Its program chooses when it likes to.
            self.controller = Some(socket::controller(socket)?);
        }
        let Self { told, before, looked, .. } = self;
        let seconds = now.since(*looked).seconds();
        *looked = now;
        told.window += told.window_now * seconds;
        told.window_squared += told.window_now * told.window_now * seconds;
        if !info.established {
            return Ok(());
        }
        // Of this connection, which `before` counted to when this was last asked.
        let packets = f64::from(info.delivered.wrapping_sub(before.info.delivered));
        before.info = info;
        told.rtt += info.rtt.seconds() * packets;
        told.rtts += packets;
        told.window_now = f64::from(info.window);
        told.in_flight = info.in_flight;
        if matches!(self.stage, Stage::Watched(_)) {
            told.received = info.acked;
        }
        let least = [told.least_rtt, (info.min_rtt != Time::NEVER).then_some(info.min_rtt)];
        told.least_rtt = least.into_iter().flatten().min();
        told.again = before.again + u64::from(info.again);
        told.timeouts = before.timeouts + u64::from(info.timeouts);
        told.busy = before.busy + info.busy;
        told.held_by_receiver = before.held_by_receiver + info.held_by_receiver;
        told.held_by_buffer = before.held_by_buffer + info.held_by_buffer;
        told.info = info;
        Ok(())
    }
}
