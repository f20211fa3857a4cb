//! Which queue goes next.
//!
//! An order keeps lists of the queues that have packets. It is notified of their events and returns the next one; it
//! never touches a packet.

use penstock_law::quantity::Bytes;

use super::store::{List, NONE};

/// A queue: its packets, and its position in the order.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) list: List,
    /// Bytes that it may still send in this turn [B]. DRR++ lets it go below zero.
    deficit: i64,
    next: u32,
    active: bool,
}

impl Queue {
    pub(super) const EMPTY: Self = Self { list: List::EMPTY, deficit: 0, next: NONE, active: false };
}

/// Queues that take turns.
#[derive(Debug, Clone, Copy)]
struct Turns {
    head: u32,
    tail: u32,
}

impl Turns {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    fn push(&mut self, queues: &mut [Queue], at: u32) {
        queues[at as usize].next = NONE;
        if self.head == NONE {
            self.head = at;
        } else {
            queues[self.tail as usize].next = at;
        }
        self.tail = at;
    }

    fn pop(&mut self, queues: &[Queue]) -> u32 {
        let at = self.head;
        self.head = queues[at as usize].next;
        at
    }

    /// The first of the queues with the most bytes.
    fn longest(self, queues: &[Queue]) -> Option<u32> {
        let mut longest: Option<(u32, u64)> = None;
        let mut at = self.head;
        while at != NONE {
            let Queue { list, next, .. } = &queues[at as usize];
            if longest.is_none_or(|(_, bytes)| list.bytes > bytes) {
                longest = Some((at, list.bytes));
            }
            at = *next;
        }
        longest.map(|(at, _)| at)
    }
}

/// Which queue goes next.
#[derive(Debug)]
pub(super) enum Order {
    /// There is one queue.
    Fifo,
    /// Deficit round robin.
    Drr(Drr),
    /// Deficit round robin that lets a queue go first when it was empty.
    DrrPlus(DrrPlus),
    /// Two queues that share by weight: number 0 is the classic one, 1 the one for low latency.
    Weighted(Weighted),
}

/// Deficit round robin. Source: Shreedhar and Varghese, "Efficient Fair Queuing using Deficit Round Robin", 1995.
#[derive(Debug)]
pub(super) struct Drr {
    quantum: i64,
    turns: Turns,
    /// The first queue has been given its quantum for this turn.
    begun: bool,
}

/// DRR++. Source: RFC 8290, section 4.2.
#[derive(Debug)]
pub(super) struct DrrPlus {
    quantum: i64,
    new: Turns,
    old: Turns,
}

/// Weighted round robin by bytes, which keeps an account of the classic queue's claim.
#[derive(Debug)]
pub(super) struct Weighted {
    /// Share of the classic queue, in 2^-16.
    classic: i64,
    /// Claim of the classic queue for having been passed over [B / 2^16]; it goes first while this is above zero.
    claim: i64,
}

/// Names of the two coupled queues, by their numbers.
pub(crate) const QUEUES: [&str; 2] = ["classic", "low-latency"];
pub(super) const CLASSIC: u32 = 0;
pub(super) const LOW_LATENCY: u32 = 1;

impl Order {
    pub(super) fn drr(quantum: Bytes) -> Self {
        assert!(quantum.0 > 0, "a quantum is above zero");
        Self::Drr(Drr { quantum: quantum.0 as i64, turns: Turns::EMPTY, begun: false })
    }

    pub(super) fn drr_plus(quantum: Bytes) -> Self {
        assert!(quantum.0 > 0, "a quantum is above zero");
        Self::DrrPlus(DrrPlus { quantum: quantum.0 as i64, new: Turns::EMPTY, old: Turns::EMPTY })
    }

    pub(super) fn weighted(classic: f64) -> Self {
        assert!(classic > 0.0 && classic < 1.0, "a share between 0 and 1");
        Self::Weighted(Weighted { classic: ((classic * 65536.0).ceil() as i64).clamp(1, 65535), claim: 0 })
    }

    /// A packet has been added to a queue.
    #[inline]
    pub(super) fn added(&mut self, queues: &mut [Queue], at: u32) {
        let queue = &mut queues[at as usize];
        if queue.active {
            return;
        }
        match self {
            Self::Fifo | Self::Weighted(_) => {}
            Self::Drr(drr) => {
                (queue.active, queue.deficit) = (true, 0);
                drr.turns.push(queues, at);
            }
            Self::DrrPlus(plus) => {
                (queue.active, queue.deficit) = (true, plus.quantum);
                plus.new.push(queues, at);
            }
        }
    }

    /// The queue whose head goes next; none where no packet waits. `head` gives the size of a queue's first packet.
    #[inline]
    pub(super) fn next(&mut self, queues: &mut [Queue], head: impl Fn(&List) -> u32) -> Option<u32> {
        match self {
            Self::Fifo => (!queues[0].list.is_empty()).then_some(0),
            Self::Drr(drr) => drr.next(queues, head),
            Self::DrrPlus(plus) => plus.next(queues),
            Self::Weighted(weighted) => weighted.next(queues),
        }
    }

    /// The queue that [`Order::next`] gave has sent its head.
    #[inline]
    pub(super) fn sent(&mut self, queues: &mut [Queue], at: u32, bytes: u32) {
        match self {
            Self::Fifo => {}
            Self::Drr(drr) => {
                let queue = &mut queues[at as usize];
                queue.deficit -= i64::from(bytes);
                if queue.list.is_empty() {
                    drr.leave(queues);
                }
            }
            Self::DrrPlus(_) => queues[at as usize].deficit -= i64::from(bytes),
            Self::Weighted(weighted) => weighted.sent(queues, at, bytes),
        }
    }

    /// Where the longest queue pays when the buffer is full: which it is, by bytes. None where the one that arrives
    /// pays. The cost is that of looking at every queue that has packets.
    pub(super) fn longest(&self, queues: &[Queue]) -> Option<u32> {
        match self {
            Self::Fifo | Self::Weighted(_) => None,
            Self::Drr(drr) => drr.turns.longest(queues),
            Self::DrrPlus(plus) => {
                let both = plus.new.longest(queues).into_iter().chain(plus.old.longest(queues));
                both.reduce(|a, b| if queues[b as usize].list.bytes > queues[a as usize].list.bytes { b } else { a })
            }
        }
    }
}

impl Drr {
    fn next(&mut self, queues: &mut [Queue], head: impl Fn(&List) -> u32) -> Option<u32> {
        while self.turns.head != NONE {
            let at = self.turns.head;
            let queue = &mut queues[at as usize];
            if queue.list.is_empty() {
                // It lost its last packet to its law or to a full buffer.
                self.leave(queues);
                continue;
            }
            if !self.begun {
                queue.deficit += self.quantum;
                self.begun = true;
            }
            if i64::from(head(&queue.list)) <= queue.deficit {
                return Some(at);
            }
            self.begun = false;
            self.turns.pop(queues);
            self.turns.push(queues, at);
        }
        None
    }

    /// The first queue is empty, and forgoes the remainder of its turn.
    fn leave(&mut self, queues: &mut [Queue]) {
        let at = self.turns.pop(queues);
        queues[at as usize].active = false;
        self.begun = false;
    }
}

impl DrrPlus {
    fn next(&mut self, queues: &mut [Queue]) -> Option<u32> {
        loop {
            let is_new = self.new.head != NONE;
            let turns = if is_new { &mut self.new } else { &mut self.old };
            if turns.head == NONE {
                return None;
            }
            let at = turns.head;
            let queue = &mut queues[at as usize];
            if queue.deficit > 0 && !queue.list.is_empty() {
                return Some(at);
            }
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
            } else if !is_new {
                queue.active = false;
                turns.pop(queues);
                continue;
            }
            // A new queue that is empty becomes an old one, or it could starve the others by becoming new again and
            // again.
            turns.pop(queues);
            self.old.push(queues, at);
        }
    }
}

impl Weighted {
    fn next(&self, queues: &[Queue]) -> Option<u32> {
        let waits = |at: u32| !queues[at as usize].list.is_empty();
        match (waits(CLASSIC), waits(LOW_LATENCY)) {
            (false, false) => None,
            (true, true) => Some(if self.claim > 0 { CLASSIC } else { LOW_LATENCY }),
            (classic, _) => Some(if classic { CLASSIC } else { LOW_LATENCY }),
        }
    }

    fn sent(&mut self, queues: &[Queue], at: u32, bytes: u32) {
        let other = if at == CLASSIC { LOW_LATENCY } else { CLASSIC };
        if queues[other as usize].list.is_empty() {
            // Nobody was passed over.
            if queues[at as usize].list.is_empty() {
                self.claim = 0;
            }
        } else if at == CLASSIC {
            self.claim -= (65536 - self.classic) * i64::from(bytes);
        } else {
            self.claim += self.classic * i64::from(bytes);
        }
    }
}
