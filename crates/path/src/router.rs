//! The thread between the two ends: reads their packets, lets the emulation decide, and hands over due ones.
//!
//! It sleeps in `ppoll` until shortly before something is due, and looks without sleeping from then on: the kernel wakes a
//! thread some 20 us after the requested moment, and later if the processor slept for long (`Lead`).

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::prctl;
use nix::sys::signal::SigSet;
use nix::sys::time::TimeSpec;
use penstock_law::quantity::{Rate, Time};
use penstock_link::{Conditioner, Counters, Counts, Passed as InProfile, QueueCounters, Station};
use penstock_machine::capability::keep_capabilities;
use penstock_machine::clock::{Clock, duration};
use penstock_machine::stolen::stolen;

use super::address;
use super::arrivals::Arrivals;
use super::attention::{Lead, take_turn};
use super::awake::Awake;
use super::burst::{Burst, Coalescer};
use super::device::{Device, Got};
use super::emulation::{Emulation, Passed};
use super::error::Lateness;
use super::packet::{Direction, Packet};
use super::processors::Processors;
use super::wire::Headers;

/// Parts of a router.
#[derive(Debug)]
pub(super) struct Router {
    pub(super) clock: Clock,
    pub(super) emulation: Emulation,
    /// Whether each flow asks for low latency.
    pub(super) low_latency: Vec<bool>,
    /// Where packets that go there come from, and those that go back.
    pub(super) devices: [Device; 2],
    /// Rate of the fastest link: it decides how early the thread stops sleeping.
    pub(super) rate: Rate,
    /// Where it runs.
    pub(super) processors: Option<Processors>,
    /// Keeps processors from halting until it ends.
    pub(super) awake: Option<Awake>,
    /// Whether packets to an address that is no flow's go on behind the receiving end.
    pub(super) open: bool,
    /// When it reads everything, in order.
    pub(super) boundaries: Vec<Time>,
    /// When it reads counters: every so often.
    pub(super) sample: Time,
    /// Its end, unless it is stopped before.
    pub(super) end: Time,
}

/// The counters at a boundary of an interval of measurement.
#[derive(Debug, Clone)]
pub struct Boundary {
    /// When.
    pub at: Time,
    /// Each link.
    pub links: Vec<Counts>,
    /// The observables of the law of each link, by class.
    pub classes: Vec<Vec<Vec<(String, f64)>>>,
    /// Each conditioner.
    pub conditioners: Vec<InProfile>,
    /// Each flow.
    pub passed: Vec<Passed>,
}

/// An observable of a law: name, unit, value.
pub type Observable = (&'static str, &'static str, f64);

/// Counters at a moment.
#[derive(Debug, Clone)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Of each link: counters, packets waiting, and its law's observables.
    pub links: Vec<(Counters, u64, Vec<Observable>)>,
    /// Observables of each link and class that its law keeps apart.
    pub classes: Vec<Vec<Vec<Observable>>>,
    /// Counters of the single queues of each link.
    pub queues: Vec<Vec<QueueCounters>>,
    /// Of each conditioner: counters, the level of its bucket [B], and its law's observables.
    pub conditioners: Vec<(InProfile, f64, Vec<Observable>)>,
    /// Of each flow.
    pub passed: Vec<Passed>,
}

impl Boundary {
    fn read(at: Time, emulation: &mut Emulation) -> Self {
        Self {
            at,
            links: emulation.stations().map(|station| station.counts(at)).collect(),
            classes: emulation.stations().map(Station::observables_of_classes).collect(),
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
            queues: emulation.stations().map(|station| station.queue_counters()).collect(),
            conditioners: emulation.conditioners().map(conditioner).collect(),
            passed: emulation.passed(),
        }
    }
}

/// Results of a path.
#[derive(Debug)]
pub struct Outcome {
    /// Lateness of packets.
    pub lateness: Lateness,
    /// The counters at the boundaries of intervals of measurement.
    pub boundaries: Vec<Boundary>,
    /// Samples in between.
    pub samples: Vec<Sample>,
    /// The links, as they are at the end.
    pub emulation: Emulation,
    /// When it ended.
    pub end: Time,
    /// Packets for none of the flows, which went nowhere.
    pub strangers: u64,
    /// Packets that a router does not pass on.
    pub flawed: u64,
    /// Packets that the receiving end refused for their kind.
    pub refused: u64,
    /// Scheduling of the thread.
    pub scheduling: String,
    /// Processor time that a hypervisor took from this machine meanwhile; none where the kernel does not count it.
    pub stolen: Option<Duration>,
    /// Processors that were kept from halting to its end.
    pub awake: u64,
    /// Arrivals at links that are neither departed, dropped nor there: zero, or the path is broken.
    pub unaccounted: i64,
}

/// A caller that ends it waits for so long at most.
const LONGEST_SLEEP: Time = Time(20_000_000_000);

impl Router {
    /// Runs until its end, or until `stop`. The devices are there for as long as somebody has them.
    pub(super) fn run(self, stop: &AtomicBool) -> io::Result<(Outcome, [Device; 2])> {
        let (scheduling, mut ration) = take_turn(self.processors.as_ref())?;
        // Without it a sleep may end 50 us late.
        prctl::set_timerslack(1)?;
        // It has its devices, its processor and its turn. What it reads from now on others have written.
        keep_capabilities(0)?;
        let mut lead = Lead::at(self.rate);
        let mut work = Work {
            clock: self.clock,
            emulation: self.emulation,
            low_latency: self.low_latency,
            devices: self.devices,
            arrivals: Arrivals::at(self.rate),
            held: Held::default(),
            coalescers: Default::default(),
            leaving: Vec::new(),
            lateness: Lateness::default(),
            strangers: 0,
            flawed: 0,
            refused: 0,
            open: self.open,
            notes: Notes {
                boundaries: self.boundaries,
                sample: self.sample,
                next: self.sample,
                endless: self.end == Time::NEVER,
                ..Notes::default()
            },
        };
        let stolen_before = stolen();
        let mut looked = work.clock.now();
        // All that came up to then has been read, but for what was left for the next look.
        let mut since = looked;
        let end = loop {
            let now = work.clock.now();
            let gap = now.since(looked);
            work.lateness.looked_away(gap);
            if now >= self.end || stop.load(Ordering::Relaxed) {
                break now;
            }
            looked = now;
            work.read(gap)?;
            let idle = work.arrivals.is_empty();
            let now = work.clock.now();
            work.offer(since, now);
            work.advance(now);
            work.deliver();
            since = now;
            if let Some(rest) = ration.as_mut().and_then(|ration| ration.rest(now)) {
                thread::sleep(duration(rest));
                continue;
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
                    since = since.max(looked);
                }
            }
        };
        work.advance(end);
        work.notes.close(end, &mut work.emulation);
        let outcome = Outcome {
            unaccounted: work.emulation.unaccounted(end),
            lateness: work.lateness,
            boundaries: work.notes.taken_at_boundaries,
            samples: work.notes.samples,
            emulation: work.emulation,
            end,
            strangers: work.strangers,
            flawed: work.flawed,
            refused: work.refused,
            scheduling: scheduling.to_owned(),
            awake: self.awake.as_ref().map_or(0, Awake::processors),
            stolen: stolen().zip(stolen_before).map(|(after, before)| after.saturating_sub(before)),
        };
        Ok((outcome, work.devices))
    }
}

/// The ECN field with which a packet enters the path: ECT(1) for ECT(0) where its flow asks for low latency.
fn ecn_of(headers: &Headers, low_latency: bool) -> u8 {
    if low_latency && headers.ecn == 2 { 1 } else { headers.ecn }
}

struct Work {
    clock: Clock,
    emulation: Emulation,
    low_latency: Vec<bool>,
    devices: [Device; 2],
    arrivals: Arrivals<Burst>,
    held: Held,
    coalescers: [Coalescer<u32>; 2],
    /// Bursts of packets that are being handed over.
    leaving: Vec<u32>,
    lateness: Lateness,
    strangers: u64,
    flawed: u64,
    refused: u64,
    open: bool,
    notes: Notes,
}

impl Work {
    /// The flow that a packet belongs to, if it belongs to one.
    fn flow(&self, direction: Direction, headers: &Headers) -> Option<u32> {
        let there = |flow: &u32| (*flow as usize) < self.emulation.flows();
        let out = || {
            let own = address::flow(Direction::Reverse, headers.source)?;
            (self.open && direction == Direction::Forward && goes_on(headers.destination)).then_some(own)
        };
        address::flow(direction, headers.destination).filter(there).or_else(|| out().filter(there))
    }

    /// Processes all events up to `now`, and records the samples due on the way.
    fn advance(&mut self, now: Time) {
        self.notes.take(now, &mut self.emulation);
        self.emulation.advance(now);
    }

    /// Reads packets of the ends, in a look so long after the last one.
    fn read(&mut self, gap: Time) -> io::Result<()> {
        self.arrivals.begin();
        for direction in Direction::BOTH {
            // What is flawed is not kept, and does not hold up the rest for ever.
            let most = self.flawed + 1000;
            while self.flawed < most && !self.arrivals.enough(direction, gap) {
                match self.devices[direction as usize].read()? {
                    Got::Nothing => break,
                    Got::Flawed => self.flawed += 1,
                    Got::Burst(burst) => self.arrivals.push(direction, burst.bytes().len(), burst),
                }
            }
        }
        Ok(())
    }

    /// Offers the packets read to the links, as arrivals after `since` and up to `now`.
    fn offer(&mut self, since: Time, now: Time) {
        self.arrivals.spread(since, now);
        while let Some((at, direction, burst)) = self.arrivals.pop() {
            let mut headers = *burst.headers();
            let Some(flow) = self.flow(direction, &headers) else {
                self.strangers += 1;
                continue;
            };
            self.advance(at);
            let segments = burst.segments();
            let low_latency = self.low_latency.get(flow as usize).is_some_and(|flow| *flow);
            headers.ecn = ecn_of(&headers, direction == Direction::Forward && low_latency);
            let packet = Packet {
                direction,
                flow,
                ecn: headers.ecn,
                markable: headers.markable(),
                low_latency: headers.low_latency(),
                data: headers.data(),
                unseen: now.since(at),
                ..Packet::default()
            };
            let sizes = (burst.size(0), burst.size(segments - 1));
            let number = self.held.put(burst, segments);
            for segment in 0..segments {
                let bytes = if segment + 1 == segments { sizes.1 } else { sizes.0 };
                self.emulation.offer(at, Packet { burst: number, segment, bytes, ..packet });
            }
        }
    }

    /// Hands over due packets.
    fn deliver(&mut self) {
        let Self { clock, emulation, devices, held, coalescers, leaving, lateness, refused, .. } = self;
        for packet in emulation.dropped() {
            held.release(packet.burst);
        }
        let mut write = |direction: Direction, train: &super::burst::Train<u32>| {
            let now = clock.now();
            for wanted in train.wanted() {
                lateness.handed(*wanted, now);
            }
            // What goes there comes from the first device and is handed to the second.
            match devices[1 - direction as usize].write(train, |burst| held.bytes(burst)) {
                Ok(()) => {}
                Err(Errno::EINVAL) => *refused += u64::from(train.segments()),
                Err(_) => lateness.device_drops += u64::from(train.segments()),
            }
        };
        for exit in emulation.exits() {
            let Packet { burst, segment, ecn, marked, direction, colour, .. } = exit.packet;
            let mut piece = held.burst(burst).piece(segment, marked, colour);
            piece.set_ecn(ecn);
            coalescers[direction as usize].push(piece, burst, exit.wanted, |train| write(direction, train));
            leaving.push(burst);
        }
        for direction in Direction::BOTH {
            coalescers[direction as usize].flush(|train| write(direction, train));
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

/// Whether a router would pass on packets to this address.
fn goes_on(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(to) => !(to.is_multicast() || to.is_broadcast() || to.is_link_local() || to.is_unspecified()),
        IpAddr::V6(_) => false,
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

/// Samples of a path without an end, at most. An even number.
const MOST_SAMPLES: usize = 1 << 15;

/// Recorded samples, and their times.
#[derive(Debug, Default)]
struct Notes {
    boundaries: Vec<Time>,
    /// Boundaries that have been read.
    read: usize,
    sample: Time,
    next: Time,
    /// Whether the number of samples is unknown.
    endless: bool,
    taken_at_boundaries: Vec<Boundary>,
    samples: Vec<Sample>,
}

impl Notes {
    fn next(&self) -> Time {
        let boundary = self.boundaries.get(self.read).copied().unwrap_or(Time::NEVER);
        boundary.min(self.next)
    }

    /// Reads a last time, where not all boundaries have come.
    fn close(&mut self, end: Time, emulation: &mut Emulation) {
        if self.read < self.boundaries.len() {
            self.taken_at_boundaries.push(Boundary::read(end, emulation));
        }
    }

    /// Keeps every other sample, and takes half as many from now on. Counters count on, so that each still covers all since the one
    /// before.
    fn thin(&mut self) {
        let mut number = 0;
        self.samples.retain(|_| {
            number += 1;
            number % 2 == 0
        });
        self.sample = Time(self.sample.0 * 2);
        self.next = self.samples.last().map_or(Time::ZERO, |last| last.at) + self.sample;
    }

    /// Records the samples due up to `now`, each at its own moment.
    fn take(&mut self, now: Time, emulation: &mut Emulation) {
        while self.next() <= now {
            let at = self.next();
            emulation.advance(at);
            if at == self.next {
                self.next = at + self.sample;
                self.samples.push(Sample::read(at, emulation));
                if self.endless && self.samples.len() >= MOST_SAMPLES {
                    self.thin();
                }
            }
            if self.boundaries.get(self.read) == Some(&at) {
                self.read += 1;
                self.taken_at_boundaries.push(Boundary::read(at, emulation));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use penstock_scenario::read::Document;

    use super::*;

    /// Of a flow that asks for low latency ECT(0) becomes ECT(1); packets without ECN and marked ones stay as they are.
    #[test]
    fn low_latency_is_asked_for_by_ect_1() {
        let of = |ecn, low_latency| {
            ecn_of(&crate::wire::parse(&crate::wire::tests::tcp(false, ecn, 1, 0, &[], b"x")).unwrap(), low_latency)
        };
        assert_eq!([0, 1, 2, 3].map(|ecn| of(ecn, true)), [0, 1, 1, 3]);
        assert_eq!([0, 1, 2, 3].map(|ecn| of(ecn, false)), [0, 1, 2, 3]);
    }

    /// However long a path carries, the number of its samples has a bound, covers all of it, and is evenly spaced.
    #[test]
    fn a_path_without_an_end_thins_its_samples() {
        let text = r#"format = 1
            duration = "10 s"
            links.l = { from = "a", to = "b", rate = "8 Mbit/s", delay = "5 ms", buffer = "90 packets" }
            flows.f = { from = "a", to = "b", cc = { law = "newreno" } }"#;
        let cells = Document::parse(text, "test.toml").and_then(|document| document.cells()).unwrap();
        let mut emulation = Emulation::of(&cells[0].scenario).unwrap();
        let first = Time(1_000_000_000);
        let mut notes = Notes { sample: first, next: first, endless: true, ..Notes::default() };
        let count = 5 * MOST_SAMPLES as u64;
        notes.take(Time(first.0 * count), &mut emulation);
        let every = notes.sample.0;
        assert_eq!(every, 8 * first.0);
        assert_eq!(notes.samples.len() as u64, count / 8);
        assert!((1..).zip(&notes.samples).all(|(n, sample)| sample.at == Time(n * every)));
    }
}
