//! The sending end: connects, keeps sockets full, and asks the kernel how they are.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{MsgFlags, send};
use penstock_law::quantity::Time;

use super::plan::{FlowPlan, Source};
use super::receiver::Received;
use super::socket::{self, Info};
use crate::clock::Clock;

/// What is known of a flow of TCP, from the start of the run to a moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    /// User's data that the receiver has read [B].
    pub(super) received: u64,
    /// The window, integrated over time, and its square [packets s], [packets^2 s]; and what it is now [packets].
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
    /// When its transfer was complete.
    pub(super) completed: Option<Time>,
    pub(super) info: Info,
}

/// Every flow at a moment.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) at: Time,
    pub(super) flows: Vec<Told>,
}

/// What the sending end leaves behind.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) edges: Vec<Reading>,
    pub(super) samples: Vec<Reading>,
    /// Controllers that sockets had in effect, by flow; none where it never connected.
    pub(super) controllers: Vec<Option<String>>,
}

/// What the sending end goes by.
pub(super) struct Sender<'a> {
    pub(super) flows: &'a [FlowPlan],
    pub(super) clock: Clock,
    pub(super) edges: &'a [Time],
    pub(super) sample: Time,
    pub(super) received: &'a Received,
    pub(super) stop: &'a AtomicBool,
    /// Set once every flow that has a size is complete.
    pub(super) complete: &'a AtomicBool,
}

/// Written at once [B].
const CHUNK: usize = 1 << 18;
/// How often the kernel is asked, and how long asking one socket may take.
const LOOK: Time = Time(5_000_000_000);
const LOOK_EACH: Time = Time(20_000_000);

#[derive(Debug)]
struct Flow {
    stage: Stage,
    /// Still to be written [B].
    left: u64,
    told: Told,
    looked: Time,
    controller: Option<String>,
}

#[derive(Debug)]
enum Stage {
    /// Not yet begun, or not TCP.
    Idle,
    /// Writes while there is room.
    Open(OwnedFd),
    /// All is written; waits for the receiver to have read it.
    Finishing(OwnedFd),
    Done,
}

impl Sender<'_> {
    /// Sends on the calling thread, which is in the senders' namespace, until `stop`.
    pub(super) fn send(&self) -> io::Result<Sent> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let mut flows: Vec<Flow> = self.flows.iter().map(Flow::new).collect();
        let look = LOOK.max(Time(LOOK_EACH.0 * flows.len() as u64));
        let mut next_look = Time::ZERO;
        let (mut edges, mut next_sample) = (self.edges.iter().copied().peekable(), self.sample);
        let mut sent = Sent::default();
        let mut sack = None;
        let chunk = vec![0; CHUNK];
        self.clock.sleep_until_start();
        let mut events = [EpollEvent::empty(); 64];
        loop {
            let now = self.clock.now();
            let over = self.stop.load(Ordering::Relaxed);
            if now >= next_look || over {
                next_look = now + look;
                self.begin_and_stop(&epoll, &mut flows, &mut sack, now)?;
                for (at, flow) in flows.iter_mut().enumerate() {
                    flow.look(now)?;
                    flow.told.received = self.received[at].load(Ordering::Relaxed);
                }
                let waits = |(flow, plan): (&Flow, &FlowPlan)| {
                    let tcp = matches!(plan.source, Source::Tcp { .. });
                    tcp && plan.size.is_some() && flow.told.completed.is_none()
                };
                if !flows.iter().zip(self.flows).any(waits) {
                    self.complete.store(true, Ordering::Relaxed);
                }
            }
            let reading = || Reading { at: self.clock.now(), flows: flows.iter().map(|flow| flow.told).collect() };
            while edges.next_if(|edge| *edge <= now).is_some() {
                sent.edges.push(reading());
            }
            if now >= next_sample {
                next_sample = Time(now.0 - now.0 % self.sample.0) + self.sample;
                sent.samples.push(reading());
            }
            if over {
                if edges.peek().is_some() {
                    sent.edges.push(reading());
                }
                break;
            }
            let edge = edges.peek().copied().unwrap_or(Time::NEVER);
            let wait = next_look.min(next_sample).min(edge).since(self.clock.now());
            let timeout = EpollTimeout::try_from(wait.0.div_ceil(1_000_000_000)).unwrap_or(EpollTimeout::from(5u8));
            let ready = match epoll.wait(&mut events, timeout) {
                Ok(ready) => ready,
                Err(Errno::EINTR) => 0,
                Err(error) => return Err(error.into()),
            };
            for event in &events[..ready] {
                let flow = &mut flows[event.data() as usize];
                flow.ready(&epoll, *event, &chunk, self.clock.now())?;
            }
        }
        sent.controllers = flows.into_iter().map(|flow| flow.controller).collect();
        Ok(sent)
    }

    /// Connects flows whose time has come, and stops those whose time is over.
    fn begin_and_stop(
        &self,
        epoll: &Epoll,
        flows: &mut [Flow],
        sack_now: &mut Option<bool>,
        now: Time,
    ) -> io::Result<()> {
        for (at, (flow, plan)) in flows.iter_mut().zip(self.flows).enumerate() {
            let Source::Tcp { controller, sack } = &plan.source else { continue };
            if matches!(flow.stage, Stage::Idle) && now >= plan.start && now < plan.stop {
                if *sack_now != Some(*sack) {
                    // The whole namespace's, but it counts when a connection begins.
                    fs::write("/proc/sys/net/ipv4/tcp_sack", if *sack { "1" } else { "0" })?;
                    *sack_now = Some(*sack);
                }
                let socket = socket::connecting(at as u32, controller.name())?;
                flow.controller = Some(socket::controller(&socket)?);
                flow.looked = now;
                epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP, at as u64))?;
                flow.stage = Stage::Open(socket);
            } else if now >= plan.stop && matches!(flow.stage, Stage::Open(_)) {
                flow.finish(epoll, at as u64)?;
            }
        }
        Ok(())
    }
}

impl Flow {
    fn new(plan: &FlowPlan) -> Self {
        let left = plan.size.unwrap_or(u64::MAX);
        Self { stage: Stage::Idle, left, told: Told::default(), looked: Time::ZERO, controller: None }
    }

    /// Something has happened to its socket.
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
                    self.told.completed = Some(now);
                    self.told.window_now = 0.0;
                    self.stage = Stage::Done;
                }
            }
            Stage::Idle | Stage::Done => {}
        }
        Ok(())
    }

    fn finish(&mut self, epoll: &Epoll, number: u64) -> io::Result<()> {
        if let Stage::Open(socket) = std::mem::replace(&mut self.stage, Stage::Done) {
            socket::finish(&socket)?;
            epoll.modify(&socket, &mut EpollEvent::new(EpollFlags::EPOLLRDHUP, number))?;
            self.stage = Stage::Finishing(socket);
        }
        Ok(())
    }

    /// Asks the kernel. What it said last holds until now.
    fn look(&mut self, now: Time) -> io::Result<()> {
        let (Stage::Open(socket) | Stage::Finishing(socket)) = &self.stage else { return Ok(()) };
        let info = socket::info(socket)?;
        let told = &mut self.told;
        let seconds = now.since(self.looked).seconds();
        self.looked = now;
        told.window += told.window_now * seconds;
        told.window_squared += told.window_now * told.window_now * seconds;
        if !info.established {
            return Ok(());
        }
        let packets = f64::from(info.delivered.wrapping_sub(told.info.delivered));
        told.rtt += info.rtt.seconds() * packets;
        told.rtts += packets;
        told.window_now = f64::from(info.window);
        told.in_flight = info.in_flight;
        told.least_rtt = (info.min_rtt != Time::NEVER).then_some(info.min_rtt);
        told.again = u64::from(info.again);
        told.timeouts = u64::from(info.timeouts);
        told.info = info;
        Ok(())
    }
}
