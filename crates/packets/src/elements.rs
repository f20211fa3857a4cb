//! Elements of some lines beside loss and late packets. Their packets take a way of their own onto the line,
//! so that those of all other lines need no test.

use std::collections::{BTreeMap, VecDeque};

use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_link::Delays;
use penstock_scenario::model::Link;
use penstock_scenario::seed::Coins;

use crate::agenda::Agenda;
use crate::line::{APART, Line, push};
use crate::packet::{ACK, COPY, Packet};

/// The elements of a line.
#[derive(Debug, Clone)]
pub(crate) struct Elements {
    gathers: Option<Gathers>,
    behind: Behind,
}

/// The treatment of a packet that leaves, by the line.
#[derive(Debug, Clone)]
struct Behind {
    /// The delay of the link at the start [ps]: lines have it, with the delay private to flows.
    delay: u64,
    delays: Option<Delays>,
    /// The share of packets that arrive twice, and their coins.
    twice: Option<(f64, Coins)>,
    /// Copies of data packets.
    copies: u64,
    /// Where marks are drawn at the end of a line ([`APART`]): when the packets under way left the port, by line.
    departures: BTreeMap<u32, VecDeque<u64>>,
}

/// Packets that leave together.
#[derive(Debug, Clone)]
struct Gathers {
    time: u64,
    most: u64,
    rate: Option<Rate>,
    /// Those that wait.
    held: Vec<Leaving>,
    /// Until when the first of them waits.
    due: u64,
    /// When those before have left.
    free: u64,
    /// Its index on the agenda, and whether it is there.
    entity: u32,
    scheduled: bool,
}

/// A packet that leaves the port for the line of this number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaving {
    pub(crate) packet: Packet,
    pub(crate) departure: Time,
    pub(crate) line: u32,
}

/// Where a packet goes: keys of flows, lines and the agenda.
pub(crate) type Onward<'a> = (&'a [u64], &'a mut [Line], &'a mut Agenda);

impl Elements {
    /// Those of a link, with the coins of packets that arrive twice; none where it has none.
    pub(crate) fn of(link: &Link, twice: Coins) -> Option<Self> {
        let delays = Delays::of(link);
        let twice = (link.duplicate > 0.0).then_some((link.duplicate, twice));
        let gathers = link.aggregation.map(|gathers| Gathers {
            time: gathers.time.0,
            most: gathers.packets.unwrap_or(u64::MAX),
            rate: gathers.rate,
            held: Vec::new(),
            due: 0,
            free: 0,
            entity: 0,
            scheduled: false,
        });
        let any = delays.is_some() || twice.is_some() || gathers.is_some();
        let behind = Behind { delay: link.delay.0, delays, twice, copies: 0, departures: BTreeMap::new() };
        any.then_some(Self { gathers, behind })
    }

    /// Gives waiting packets the agenda entry that `make` returns, if there are such.
    pub(crate) fn wakes(&mut self, make: impl FnOnce() -> u32) {
        if let Some(gathers) = &mut self.gathers {
            gathers.entity = make();
        }
    }

    /// Copies of data packets that it has made: they were not sent, and are delivered or lost.
    pub(crate) fn copies(&self) -> u64 {
        self.behind.copies
    }

    /// Data packets that wait.
    pub(crate) fn held(&self) -> u64 {
        let held = self.gathers.iter().flat_map(|gathers| &gathers.held);
        held.filter(|leaving| !leaving.packet.is(ACK)).count() as u64
    }

    /// The most time that a packet may be under way beyond the line's delay.
    pub(crate) fn longer(link: &Link) -> Time {
        // What goes at a rate goes in the time in which it was gathered, or nearly.
        let gathered = link.aggregation.map_or(Time::ZERO, |gathers| gathers.time + gathers.time);
        Delays::longer(link) + gathered
    }

    /// A packet leaves the port. Returns how many packets arrive twice, of those that go on now.
    #[cold]
    #[inline(never)]
    pub(crate) fn carry(&mut self, leaving: Leaving, onward: Onward<'_>) -> u64 {
        let Self { gathers, behind } = self;
        let Some(gathers) = gathers else { return behind.go(&leaving, leaving.departure.0, onward) };
        let (keys, lines, agenda) = onward;
        let mut copies = 0;
        // The port says early when a packet will leave: those before wait for it no longer.
        if !gathers.held.is_empty() && leaving.departure.0 > gathers.due {
            copies += gathers.release(gathers.due, behind, (keys, &mut *lines, &mut *agenda));
        }
        if gathers.held.is_empty() {
            gathers.due = leaving.departure.0.saturating_add(gathers.time);
            if !gathers.scheduled {
                gathers.scheduled = true;
                agenda.schedule_last(gathers.entity, gathers.due);
            }
        }
        gathers.held.push(leaving);
        if gathers.held.len() as u64 >= gathers.most {
            copies += gathers.release(leaving.departure.0, behind, (keys, lines, agenda));
        }
        copies
    }

    /// Packets that wait may go, at their moment on the agenda. Returns how many arrive twice.
    pub(crate) fn wake(&mut self, now: u64, onward: Onward<'_>) -> u64 {
        self.gathers.as_mut().map_or(0, |gathers| gathers.wake(now, &mut self.behind, onward))
    }

    /// When the packet that comes out of the line of this number left the port.
    #[cold]
    pub(crate) fn departed(&mut self, number: u32) -> Time {
        Time(self.behind.departures.get_mut(&number).and_then(VecDeque::pop_front).unwrap_or_default())
    }
}

impl Gathers {
    /// Waiting packets go, at `now` at the earliest.
    fn release(&mut self, now: u64, behind: &mut Behind, (keys, lines, agenda): Onward<'_>) -> u64 {
        let mut copies = 0;
        for leaving in self.held.drain(..) {
            let bytes = Bytes(u64::from(leaving.packet.size));
            self.free = self.free.max(now).saturating_add(self.rate.map_or(0, |rate| rate.time_for(bytes).0));
            copies += behind.go(&leaving, self.free, (keys, &mut *lines, &mut *agenda));
        }
        copies
    }

    /// Its moment on the agenda has come, perhaps that of packets that have gone; an event is not taken off.
    fn wake(&mut self, now: u64, behind: &mut Behind, onward: Onward<'_>) -> u64 {
        self.scheduled = !self.held.is_empty() && now < self.due;
        if self.scheduled {
            onward.2.schedule_last(self.entity, self.due);
            return 0;
        }
        self.release(now, behind, onward)
    }
}

impl Behind {
    /// Puts a packet on its line at `out`. Returns one where it arrives twice.
    fn go(&mut self, leaving: &Leaving, out: u64, (keys, lines, agenda): Onward<'_>) -> u64 {
        let Leaving { mut packet, departure, line: number } = *leaving;
        let line = &mut lines[number as usize];
        packet.at = match &mut self.delays {
            Some(delays) => delays.pass(Time(out)).0.saturating_add(line.delay - self.delay),
            None => out.saturating_add(line.delay),
        };
        let copied = matches!(&self.twice, Some((share, coins)) if coins.of(packet.identity(keys)) < *share);
        for copy in 0..=u32::from(copied) {
            if copy > 0 && !packet.is(ACK) {
                packet.flags |= COPY;
            }
            if line.decides & APART != 0 {
                self.departures.entry(number).or_default().push_back(departure.0);
            }
            push(packet, number, line, agenda);
        }
        self.copies += u64::from(copied && !packet.is(ACK));
        u64::from(copied)
    }
}
