//! The thread between the two ends: reads what they send, lets the emulation decide, and hands over what is due.
//!
//! It sleeps in `ppoll` until shortly before something is due, and looks without sleeping from then on: the kernel wakes a
//! thread some 20 us after the moment it asked for, and later if the processor slept for long (`Lead`).

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::prctl;
use nix::sys::signal::SigSet;
use nix::sys::time::TimeSpec;
use penstock_law::quantity::{Rate, Time};
use penstock_link::{Conditioner, Counters, Passed as InProfile, Reading, Station};

use super::address;
use super::burst::{Burst, Coalescer};
use super::device::{Device, Got};
use super::emulation::{Emulation, Packet, Passed, Way};
use super::error::Lateness;
use crate::clock::{Clock, duration};
use crate::syscall::{Scheduling, schedule};

/// What a router is made of.
#[derive(Debug)]
pub(super) struct Router {
    pub(super) clock: Clock,
    pub(super) emulation: Emulation,
    /// Where packets that go there come from, and those that go back.
    pub(super) devices: [Device; 2],
    /// How much the links carry together: what decides how the thread is scheduled.
    pub(super) rate: Rate,
    /// When it reads everything, in order.
    pub(super) edges: Vec<Time>,
    /// When it reads counters: every so often.
    pub(super) sample: Time,
    /// When it ends, unless it is told before.
    pub(super) end: Time,
}

/// What was read at an edge.
#[derive(Debug, Clone)]
pub struct Edge {
    /// When.
    pub at: Time,
    /// Each link.
    pub links: Vec<Reading>,
    /// What the law of each link says of each class that it keeps apart.
    pub classes: Vec<Vec<Vec<(String, f64)>>>,
    /// Each conditioner.
    pub conditioners: Vec<InProfile>,
    /// Each flow.
    pub passed: Vec<Passed>,
}

/// What a law shows: name, unit, value.
pub type Observable = (&'static str, &'static str, f64);

/// Counters at a moment.
#[derive(Debug, Clone)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Of each link: counters, packets waiting, and what its law shows.
    pub links: Vec<(Counters, u64, Vec<Observable>)>,
    /// Of each link and class that its law keeps apart, what it shows.
    pub classes: Vec<Vec<Vec<Observable>>>,
    /// Of each conditioner: what passed, the level of its bucket [B], and what its law shows.
    pub conditioners: Vec<(InProfile, f64, Vec<Observable>)>,
    /// Of each flow.
    pub passed: Vec<Passed>,
}

impl Edge {
    fn read(at: Time, emulation: &mut Emulation) -> Self {
        Self {
            at,
            links: emulation.stations().map(|station| station.reading(at)).collect(),
            classes: emulation.stations().map(Station::said_of_classes).collect(),
            conditioners: emulation.conditioners().map(|conditioner| conditioner.read(at)).collect(),
            passed: emulation.passed(),
        }
    }
}

impl Sample {
    fn read(at: Time, emulation: &mut Emulation) -> Self {
        let classes = |station: &mut Station<Packet>| {
            (0..station.classes()).map(|class| station.class_observables(class)).collect()
        };
        let conditioner = |each: &mut Conditioner| (each.read(at), each.level(at), each.observables());
        Self {
            at,
            links: emulation.stations().map(|each| (each.read(at), each.waiting(at), each.observables())).collect(),
            classes: emulation.stations().map(classes).collect(),
            conditioners: emulation.conditioners().map(conditioner).collect(),
            passed: emulation.passed(),
        }
    }
}

/// What a path leaves behind.
#[derive(Debug)]
pub struct Outcome {
    /// How late packets were.
    pub lateness: Lateness,
    /// What was read at edges.
    pub edges: Vec<Edge>,
    /// What was read in between.
    pub samples: Vec<Sample>,
    /// The links, as they are at the end.
    pub emulation: Emulation,
    /// When it ended.
    pub end: Time,
    /// Packets for none of the flows, which went nowhere.
    pub strangers: u64,
    /// What a router does not pass on.
    pub flawed: u64,
    /// Packets that the receiving end did not take, for what they are.
    pub refused: u64,
    /// How the thread was scheduled.
    pub scheduling: String,
    /// Arrivals at links that are neither departed, dropped nor there: zero, or the path is broken.
    pub unaccounted: i64,
}

/// Reads of a device before due packets have their turn.
const READS: usize = 16;
/// From this rate on, with a packet there and one back every 80 us, the thread is hardly ever idle.
const BUSY: Rate = Rate(150_000_000);
/// Whoever wants it to end waits for so long at most.
const LONGEST_SLEEP: Time = Time(20_000_000_000);

impl Router {
    /// Runs until its end, or until `stop`. The devices are there for as long as somebody has them.
    pub(super) fn run(self, stop: &AtomicBool) -> io::Result<(Outcome, [Device; 2])> {
        let scheduling = scheduled();
        // Without it a sleep may end 50 us late.
        prctl::set_timerslack(1)?;
        let mut lead = Lead::at(self.rate);
        let mut work = Work {
            clock: self.clock,
            emulation: self.emulation,
            devices: self.devices,
            held: Held::default(),
            coalescers: Default::default(),
            leaving: Vec::new(),
            lateness: Lateness::default(),
            strangers: 0,
            flawed: 0,
            refused: 0,
            notes: Notes { edges: self.edges, sample: self.sample, next: self.sample, ..Notes::default() },
        };
        let mut looked = work.clock.now();
        let end = loop {
            let now = work.clock.now();
            work.lateness.looked_away(now.since(looked));
            looked = now;
            if now >= self.end || stop.load(Ordering::Relaxed) {
                break now;
            }
            work.advance(now);
            work.deliver();
            let mut idle = true;
            for way in Way::BOTH {
                idle &= !work.read(way)?;
            }
            if idle {
                let next = work.emulation.next().min(work.notes.next()).min(self.end);
                let wait = next.since(work.clock.now()).min(LONGEST_SLEEP);
                let sleep = wait.since(lead.before(wait));
                if sleep > Time::ZERO {
                    let until = work.clock.now() + sleep;
                    work.sleep(sleep)?;
                    // What a sleep takes beyond its end counts as not looking; one that a packet ends does not.
                    let now = work.clock.now();
                    lead.slept(wait, now.since(until));
                    looked = now.min(until.max(looked));
                }
            }
        };
        work.advance(end);
        work.notes.close(end, &mut work.emulation);
        let outcome = Outcome {
            unaccounted: work.emulation.unaccounted(end),
            lateness: work.lateness,
            edges: work.notes.taken_at_edges,
            samples: work.notes.samples,
            emulation: work.emulation,
            end,
            strangers: work.strangers,
            flawed: work.flawed,
            refused: work.refused,
            scheduling,
        };
        Ok((outcome, work.devices))
    }
}

/// How long before something is due the thread stops sleeping.
///
/// A sleep ends late by what the kernel and the processor take to wake: some 20 us after a short one, and several times that
/// where a processor that was idle for milliseconds went to sleep too. Looking in vain uses up what the scheduler allows, so
/// short sleeps have a fixed lead, and long ones, of which few fit into a second, the one that nearly all of the last ones needed.
#[derive(Debug)]
struct Lead {
    short: Time,
    long: Time,
}

impl Lead {
    /// From here on a sleep is a long one.
    const LONG: Time = Time(1_000_000_000);
    const LEAST: Time = Time(25_000_000);
    const MOST: Time = Time(400_000_000);
    /// Steps up over steps down, 20, is the number of sleeps of which one ends too late.
    const UP: Time = Time(10_000_000);
    const DOWN: Time = Time(500_000);

    fn at(rate: Rate) -> Self {
        Self { short: if rate < BUSY { Self::LEAST } else { Time(5_000_000) }, long: Self::LEAST }
    }

    /// What is due in `wait` is looked for so long before.
    fn before(&self, wait: Time) -> Time {
        if wait < Self::LONG { self.short } else { self.long }
    }

    /// The sleep before what was due in `wait` ended so late; zero if a packet ended it.
    fn slept(&mut self, wait: Time, late: Time) {
        if wait < Self::LONG || late == Time::ZERO {
            return;
        }
        let long = if late > self.long { self.long + Self::UP } else { self.long.since(Self::DOWN) };
        self.long = long.clamp(Self::LEAST, Self::MOST);
    }
}

struct Work {
    clock: Clock,
    emulation: Emulation,
    devices: [Device; 2],
    held: Held,
    coalescers: [Coalescer<u32>; 2],
    /// Bursts of packets that are being handed over.
    leaving: Vec<u32>,
    lateness: Lateness,
    strangers: u64,
    flawed: u64,
    refused: u64,
    notes: Notes,
}

impl Work {
    /// Lets everything happen up to `now`, and takes down what was to be on the way.
    fn advance(&mut self, now: Time) {
        self.notes.take(now, &mut self.emulation);
        self.emulation.advance(now);
    }

    /// Takes what an end has sent; whether there was anything.
    fn read(&mut self, way: Way) -> io::Result<bool> {
        for count in 0..READS {
            let burst = match self.devices[way as usize].read()? {
                Got::Nothing => return Ok(count > 0),
                Got::Flawed(_) => {
                    self.flawed += 1;
                    continue;
                }
                Got::Burst(burst) => burst,
            };
            let headers = *burst.headers();
            let flow = address::flow(way, headers.destination).filter(|flow| (*flow as usize) < self.emulation.flows());
            let Some(flow) = flow else {
                self.strangers += 1;
                continue;
            };
            let now = self.clock.now();
            self.advance(now);
            let segments = burst.segments();
            let packet = Packet {
                way,
                flow,
                markable: headers.markable(),
                low_latency: headers.low_latency(),
                data: headers.data(),
                ..Packet::default()
            };
            let sizes = (burst.size(0), burst.size(segments - 1));
            let number = self.held.put(burst, segments);
            for segment in 0..segments {
                let bytes = if segment + 1 == segments { sizes.1 } else { sizes.0 };
                self.emulation.offer(now, Packet { burst: number, segment, bytes, ..packet });
            }
            for packet in self.emulation.dropped() {
                self.held.release(packet.burst);
            }
        }
        Ok(true)
    }

    /// Hands over what is due.
    fn deliver(&mut self) {
        let Self { clock, emulation, devices, held, coalescers, leaving, lateness, refused, .. } = self;
        for packet in emulation.dropped() {
            held.release(packet.burst);
        }
        let mut write = |way: Way, train: &super::burst::Train<u32>| {
            let now = clock.now();
            for wanted in train.wanted() {
                lateness.handed(*wanted, now);
            }
            // What goes there comes from the first device and is handed to the second.
            match devices[1 - way as usize].write(train, |burst| held.bytes(burst)) {
                Ok(()) => {}
                Err(Errno::EINVAL) => *refused += u64::from(train.segments()),
                Err(_) => lateness.device_drops += u64::from(train.segments()),
            }
        };
        for exit in emulation.exits() {
            let Packet { burst, segment, marked, way, colour, .. } = exit.packet;
            let piece = held.burst(burst).piece(segment, marked, colour);
            coalescers[way as usize].push(piece, burst, exit.wanted, |train| write(way, train));
            leaving.push(burst);
        }
        for way in Way::BOTH {
            coalescers[way as usize].flush(|train| write(way, train));
        }
        for burst in leaving.drain(..) {
            held.release(burst);
        }
    }

    fn sleep(&self, span: Time) -> io::Result<()> {
        let mut fds = [0, 1].map(|at| PollFd::new(self.devices[at].fd(), PollFlags::POLLIN));
        match nix::poll::ppoll(&mut fds, Some(TimeSpec::from(duration(span))), Some(SigSet::empty())) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Bursts of which packets are under way.
#[derive(Debug, Default)]
struct Held {
    bursts: Vec<Option<(Burst, u16)>>,
    free: Vec<u32>,
}

impl Held {
    fn put(&mut self, burst: Burst, packets: u16) -> u32 {
        let held = Some((burst, packets));
        if let Some(number) = self.free.pop() {
            self.bursts[number as usize] = held;
            return number;
        }
        self.bursts.push(held);
        self.bursts.len() as u32 - 1
    }

    fn burst(&self, number: u32) -> &Burst {
        let (burst, _) = self.bursts[number as usize].as_ref().expect("a packet's burst is held while it is under way");
        burst
    }

    fn bytes(&self, number: u32) -> &[u8] {
        self.burst(number).bytes()
    }

    /// One of its packets is gone.
    fn release(&mut self, number: u32) {
        let place = &mut self.bursts[number as usize];
        if let Some((_, left)) = place {
            *left -= 1;
            if *left == 0 {
                *place = None;
                self.free.push(number);
            }
        }
    }
}

/// What is taken down, and when.
#[derive(Debug, Default)]
struct Notes {
    edges: Vec<Time>,
    /// Edges that have been read.
    read: usize,
    sample: Time,
    next: Time,
    taken_at_edges: Vec<Edge>,
    samples: Vec<Sample>,
}

impl Notes {
    fn next(&self) -> Time {
        let edge = self.edges.get(self.read).copied().unwrap_or(Time::NEVER);
        edge.min(self.next)
    }

    /// Reads a last time, where not all edges have come.
    fn close(&mut self, end: Time, emulation: &mut Emulation) {
        if self.read < self.edges.len() {
            self.taken_at_edges.push(Edge::read(end, emulation));
        }
    }

    /// Takes down what was to be up to `now`, as it was at its own moment.
    fn take(&mut self, now: Time, emulation: &mut Emulation) {
        while self.next() <= now {
            let at = self.next();
            emulation.advance(at);
            if at == self.next {
                self.next = at + self.sample;
                self.samples.push(Sample::read(at, emulation));
            }
            if self.edges.get(self.read) == Some(&at) {
                self.read += 1;
                self.taken_at_edges.push(Edge::read(at, emulation));
            }
        }
    }
}

/// Puts the thread in front of others, and says how.
///
/// Under `SCHED_FIFO` a thread that hardly sleeps is stopped for some 50 ms every second, in favour of those without priority, and
/// how much it sleeps depends on the packets of a run rather than on its rate; `SCHED_DEADLINE` leaves them a tenth of each
/// millisecond instead.
fn scheduled() -> String {
    let choices = [Scheduling::Deadline { runtime: 900_000, period: 1_000_000 }, Scheduling::Fifo { priority: 50 }];
    for choice in &choices {
        if schedule(*choice).is_ok() {
            return match choice {
                Scheduling::Deadline { .. } => "deadline",
                Scheduling::Fifo { .. } => "fifo",
            }
            .to_owned();
        }
    }
    "normal".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    #[test]
    fn long_sleeps_end_as_early_as_they_have_to() {
        let mut lead = Lead::at(Rate(100_000_000));
        let (short, long) = (us(500), us(10_000));
        assert_eq!((lead.before(short), lead.before(long)), (us(25), us(25)));
        for _ in 0..100 {
            lead.slept(short, us(200));
            lead.slept(long, us(110));
        }
        assert_eq!(lead.before(short), us(25), "of short ones there are many");
        assert!((us(100)..us(120)).contains(&lead.before(long)), "{lead:?}");
        for _ in 0..100 {
            lead.slept(long, Time::ZERO);
        }
        assert!(lead.before(long) > us(100), "a packet that ends a sleep says nothing of the kernel");
        for _ in 0..1000 {
            lead.slept(long, us(1));
        }
        assert_eq!(lead.before(long), us(25));
        for _ in 0..1000 {
            lead.slept(long, us(1_000_000));
        }
        assert_eq!(lead.before(long), us(400), "one who is kept from the processor does not spin for it");
    }
}
