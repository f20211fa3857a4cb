//! The events to come: a wheel of buckets over intrusive entries, and a heap for those far off.
//!
//! Every entity (a line's head, a timer) is scheduled at most once, so an entry is three array slots and nothing is
//! allocated. A bucket's list is unsorted: its width is chosen so that it rarely holds more than one entry. Where it holds
//! many, as when many flows start at one moment, all but the first few of them wait in a heap of their own, the crowd.
//!
//! Where only a few entities are busy, one event, the earliest of those scheduled since its slot fell free, stays aside
//! and enters the wheel only where others come before it or in its bucket. The head of a line that all packets are on
//! never does.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Buckets at the least and at the most: a group of words, and as many groups as a word has bits.
const LEAST_BUCKETS: usize = GROUP;
const MOST_BUCKETS: usize = 64 * GROUP;
const GROUP: usize = 64 * 64;
const NONE: u32 = u32::MAX;

/// Buckets for each entity that is busy all the time. It comes next after as many buckets as there are such, on average: what is
/// beyond the wheel then goes through the heap, whose cost grows with their number.
const BUCKETS_EACH: usize = 8;

/// With so many busy entities or fewer, one of them is often next again.
const FEW: usize = 8;

/// A list of more entries is not looked through again: they go into the crowd.
const CROWDED: u32 = 32;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    time: u64,
    stamp: u32,
    next: u32,
}

/// An event that is neither in the wheel nor in the heap.
#[derive(Debug, Clone, Copy)]
struct Aside {
    time: u64,
    stamp: u32,
    entity: u32,
}

/// An event of the crowd. The greatest is the one that comes first, as a heap wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Crowded {
    time: u64,
    stamp: u32,
    entity: u32,
}

impl Ord for Crowded {
    fn cmp(&self, other: &Self) -> Ordering {
        // Stamps count on from each other, see `earlier`.
        other.time.cmp(&self.time).then((other.stamp.wrapping_sub(self.stamp) as i32).cmp(&0))
    }
}

impl PartialOrd for Crowded {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The schedule of a run.
#[derive(Debug)]
pub(crate) struct Agenda {
    entries: Vec<Entry>,
    /// The first entry of each bucket. Their number is a power of two.
    heads: Vec<u32>,
    /// Which buckets have entries, which words of that are not zero, and which words of that.
    bits: Vec<u64>,
    words: Vec<u64>,
    groups: u64,
    shift: u32,
    /// The bucket of the event that was taken last; nothing lies before it.
    cursor: u64,
    /// The first bucket of the wheel with entries; `u64::MAX` if there are none.
    first: u64,
    /// Whether it pays to have an event aside.
    few: bool,
    aside: Option<Aside>,
    /// More events of the bucket at the cursor. While there are any, that bucket's list has two entries or more, one of
    /// them not later than any of these.
    crowd: BinaryHeap<Crowded>,
    /// Entries of lists that were looked at to find the earliest.
    #[cfg(test)]
    looked_at: u64,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    far_bucket: u64,
    stamp: u32,
}

impl Agenda {
    /// An empty agenda for entities `0..entities`, of which so many are `busy` all the time, with buckets at least
    /// `width_ps` wide.
    pub(crate) fn new(entities: usize, busy: usize, width_ps: u64) -> Self {
        let buckets = (BUCKETS_EACH * busy).next_power_of_two().clamp(LEAST_BUCKETS, MOST_BUCKETS);
        Self {
            entries: vec![Entry { time: 0, stamp: 0, next: NONE }; entities],
            heads: vec![NONE; buckets],
            bits: vec![0; buckets / 64],
            words: vec![0; buckets / GROUP],
            groups: 0,
            shift: width_ps.clamp(1, 1 << 50).ilog2(),
            cursor: 0,
            first: u64::MAX,
            few: busy <= FEW,
            aside: None,
            crowd: BinaryHeap::new(),
            #[cfg(test)]
            looked_at: 0,
            far: BinaryHeap::new(),
            far_bucket: u64::MAX,
            stamp: 0,
        }
    }

    /// One more entity, with the next number.
    #[cold]
    pub(crate) fn extend(&mut self) {
        self.entries.push(Entry { time: 0, stamp: 0, next: NONE });
    }

    /// The next stamp: events of one time come in the order of their stamps.
    #[inline]
    pub(crate) fn stamp(&mut self) -> u32 {
        let given = self.stamp;
        self.stamp = given.wrapping_add(1);
        given
    }

    /// The stamp that is given next.
    #[inline]
    pub(crate) fn next_stamp(&self) -> u32 {
        self.stamp
    }

    /// Schedules an entity behind all that is stamped so far.
    #[inline]
    pub(crate) fn schedule_last(&mut self, entity: u32, time: u64) {
        let stamp = self.stamp();
        self.schedule(entity, time, stamp);
    }

    /// Schedules an entity, which must not be scheduled, not earlier than the event taken last.
    pub(crate) fn schedule(&mut self, entity: u32, time: u64, stamp: u32) {
        self.put(entity, time, stamp);
    }

    /// The same, for the one caller that every packet passes.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn put(&mut self, entity: u32, time: u64, stamp: u32) {
        debug_assert!(time >> self.shift >= self.cursor, "the past is over");
        if !self.few {
            return self.enter(Aside { time, stamp, entity });
        }
        let later = match self.aside {
            Some(aside) if aside.time <= time => Aside { time, stamp, entity },
            before => {
                self.aside = Some(Aside { time, stamp, entity });
                let Some(before) = before else { return };
                before
            }
        };
        self.enter(later);
    }

    /// Puts an event into the wheel or the heap.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    fn enter(&mut self, Aside { time, stamp, entity }: Aside) {
        let bucket = time >> self.shift;
        let entry = &mut self.entries[entity as usize];
        (entry.time, entry.stamp) = (time, stamp);
        if bucket - self.cursor < self.heads.len() as u64 {
            self.link(entity, bucket);
        } else {
            self.far.push(Reverse((time, entity)));
            self.far_bucket = self.far_bucket.min(bucket);
        }
    }

    /// The next event: its time and entity. Of equal times the one stamped first.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(u64, u32)> {
        self.take(u64::MAX).map(|(time, entity, _)| (time, entity))
    }

    /// The same with its stamp, if it is not later than `limit`. Where it is later, nothing before `limit` may be scheduled any
    /// more.
    #[expect(clippy::inline_always, reason = "measured: without a limit it is as short as if there were none")]
    #[inline(always)]
    pub(crate) fn take(&mut self, limit: u64) -> Option<(u64, u32, u32)> {
        if let Some(aside) = self.aside {
            let bucket = aside.time >> self.shift;
            let others = self.first.min(self.far_bucket);
            if bucket < others {
                if aside.time > limit {
                    return None;
                }
                self.aside = None;
                self.cursor = bucket;
                return Some((aside.time, aside.entity, aside.stamp));
            }
            if bucket == others {
                self.aside = None;
                self.enter(aside);
            }
        }
        if limit != u64::MAX && self.first.min(self.far_bucket) > limit >> self.shift {
            return None;
        }
        if self.far_bucket <= self.first {
            self.bring_near()?;
        }
        let bucket = self.first;
        self.cursor = bucket;
        let slot = self.slot(bucket);
        let head = self.heads[slot];
        let mut best = head;
        let e = self.entries[head as usize];
        let next = e.next;
        if next == NONE {
            if e.time > limit {
                return None;
            }
            self.heads[slot] = NONE;
            self.clear(slot);
            self.first = self.from(bucket);
            return Some((e.time, head, e.stamp));
        }
        // Find the earliest and the entry before it.
        let (mut best_before, mut best_entry, mut before, mut at) = (NONE, e, head, next);
        let mut others = 0;
        while at != NONE {
            let e = self.entries[at as usize];
            if (e.time, 0) < (best_entry.time, i32::from(earlier(e.stamp, best_entry.stamp))) {
                (best, best_before, best_entry) = (at, before, e);
            }
            (before, at) = (at, e.next);
            others += 1;
        }
        if best_entry.time > limit {
            return None;
        }
        if best_before == NONE {
            self.heads[slot] = best_entry.next;
        } else {
            self.entries[best_before as usize].next = best_entry.next;
        }
        #[cfg(test)]
        {
            self.looked_at += u64::from(others) + 1;
        }
        if others > CROWDED || !self.crowd.is_empty() {
            self.relieve(slot, others > CROWDED);
        }
        Some((best_entry.time, best, best_entry.stamp))
    }

    /// The first of the crowd replaces the event that has just left the list of the cursor's bucket; where that
    /// is `long`, all of it joins the crowd, and the first two come back.
    #[cold]
    #[inline(never)]
    fn relieve(&mut self, slot: usize, long: bool) {
        let mut places = 1;
        if long {
            let mut at = std::mem::replace(&mut self.heads[slot], NONE);
            while at != NONE {
                let Entry { time, stamp, next } = self.entries[at as usize];
                self.crowd.push(Crowded { time, stamp, entity: at });
                at = next;
            }
            places = 2;
        }
        for _ in 0..places {
            let Some(Crowded { entity, .. }) = self.crowd.pop() else { return };
            self.entries[entity as usize].next = self.heads[slot];
            self.heads[slot] = entity;
        }
    }

    /// The probable next two events of the wheel, for a caller that prefetches their data;
    /// `u32::MAX` where there is none within the next buckets.
    #[inline]
    pub(crate) fn ahead(&self) -> [u32; 2] {
        if self.first == u64::MAX {
            return [NONE; 2];
        }
        let slot = self.slot(self.first);
        let others = self.bits[slot / 64] & ((u64::MAX - 1) << (slot % 64));
        let second = if others == 0 { NONE } else { self.heads[slot / 64 * 64 + others.trailing_zeros() as usize] };
        [self.heads[slot], second]
    }

    #[inline]
    fn slot(&self, bucket: u64) -> usize {
        bucket as usize & (self.heads.len() - 1)
    }

    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    fn link(&mut self, entity: u32, bucket: u64) {
        let slot = self.slot(bucket);
        let head = &mut self.heads[slot];
        self.entries[entity as usize].next = *head;
        *head = entity;
        let bits = &mut self.bits[slot / 64];
        if *bits == 0 {
            let word = slot / 64;
            self.words[word / 64] |= 1 << (word % 64);
            self.groups |= 1 << (word / 64);
        }
        *bits |= 1 << (slot % 64);
        self.first = self.first.min(bucket);
    }

    fn clear(&mut self, slot: usize) {
        let word = slot / 64;
        self.bits[word] &= !(1 << (slot % 64));
        if self.bits[word] == 0 {
            let group = word / 64;
            self.words[group] &= !(1 << (word % 64));
            if self.words[group] == 0 {
                self.groups &= !(1 << group);
            }
        }
    }

    /// The first bucket with entries, from `bucket` on, which must be less than a turn behind the last one; `u64::MAX`
    /// if all are empty.
    #[inline]
    fn from(&self, bucket: u64) -> u64 {
        let slot = self.slot(bucket);
        let here = self.bits[slot / 64] & (u64::MAX << (slot % 64));
        if here != 0 {
            return bucket + u64::from(here.trailing_zeros()) - (slot % 64) as u64;
        }
        if let Some(next) = self.after(slot / 64) {
            return bucket + (next - slot) as u64;
        }
        if self.groups == 0 {
            return u64::MAX;
        }
        // Around the wheel.
        bucket + (self.heads.len() - slot + self.first_of(self.groups.trailing_zeros() as usize)) as u64
    }

    /// The first slot with entries in the words after that one.
    #[inline]
    fn after(&self, word: usize) -> Option<usize> {
        let (group, above) = (word / 64, |bit: usize| (u64::MAX << bit) << 1);
        let words = self.words[group] & above(word % 64);
        if words != 0 {
            return Some(self.first_in(group * 64 + words.trailing_zeros() as usize));
        }
        let groups = self.groups & above(group);
        (groups != 0).then(|| self.first_of(groups.trailing_zeros() as usize))
    }

    /// The first slot with entries of a group that has such, and of a word.
    fn first_of(&self, group: usize) -> usize {
        self.first_in(group * 64 + self.words[group].trailing_zeros() as usize)
    }

    fn first_in(&self, word: usize) -> usize {
        word * 64 + self.bits[word].trailing_zeros() as usize
    }

    /// Moves entries that are far off but not later than the wheel's first entry into the wheel.
    #[cold]
    fn bring_near(&mut self) -> Option<()> {
        if self.first == u64::MAX {
            // The wheel is empty, so it may start over where the heap does.
            let Reverse((time, _)) = self.far.peek()?;
            self.cursor = time >> self.shift;
        }
        let last = if self.first == u64::MAX { self.cursor } else { self.first };
        while let Some(Reverse((time, entity))) = self.far.peek().copied() {
            if time >> self.shift > last {
                break;
            }
            self.far.pop();
            self.link(entity, time >> self.shift);
        }
        self.far_bucket = self.far.peek().map_or(u64::MAX, |Reverse((time, _))| time >> self.shift);
        Some(())
    }
}

/// Whether stamp `a` was given before `b`, though the counter may have wrapped in between.
#[inline]
fn earlier(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Whole numbers below the one given, the same for the same `seed`.
    pub(crate) fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut x = seed;
        move |n| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % n
        }
    }

    /// Against a sorted set, with spans from within a bucket to far beyond the wheel, and ties.
    #[test]
    fn events_come_in_order_of_time_and_stamp() {
        let mut draw = draws(9);
        // The least number of buckets, four times that, and the most. A draw is of 31 bits: narrow buckets have spans far beyond all.
        let busy = [1, 200, 2000, 1_000_000];
        for (width, busy) in busy.into_iter().flat_map(|busy| [(1, busy), (10, busy), (1000, busy)]) {
            let mut agenda = Agenda::new(200, busy, width);
            let turn = width * agenda.heads.len() as u64;
            let mut truth = BTreeSet::new();
            let mut stamp = u32::MAX - 5000;
            let mut order = 0u64;
            let mut put = |agenda: &mut Agenda, truth: &mut BTreeSet<_>, entity: u32, time: u64| {
                agenda.schedule(entity, time, stamp);
                truth.insert((time, order, entity));
                stamp = stamp.wrapping_add(1);
                order += 1;
            };
            for entity in 0..200 {
                let time = draw(width * 10_000);
                put(&mut agenda, &mut truth, entity, time);
            }
            for _ in 0..50_000 {
                let (time, entity) = agenda.next().unwrap();
                let (t, _, e) = truth.pop_first().unwrap();
                assert_eq!((time, entity), (t, e));
                let span = match draw(4) {
                    0 => 0,
                    1 => draw(width * 2),
                    2 => draw(turn),
                    _ => draw(turn * 12),
                };
                put(&mut agenda, &mut truth, entity, time + span);
            }
        }
    }

    /// The same where hundreds of events share a moment or a bucket, with new ones among them.
    #[test]
    fn a_crowd_comes_in_order_too() {
        let mut draw = draws(5);
        for (width, moment) in [(1000, 1000), (1 << 20, 1 << 18), (1 << 20, 1 << 22), (1, 1 << 20)] {
            let mut agenda = Agenda::new(3000, 3000, width);
            let mut truth = BTreeSet::new();
            let mut stamp = u32::MAX - 100_000;
            let mut order = 0u64;
            let mut put = |agenda: &mut Agenda, truth: &mut BTreeSet<_>, entity: u32, time: u64| {
                agenda.schedule(entity, time, stamp);
                truth.insert((time, order, entity));
                stamp = stamp.wrapping_add(1);
                order += 1;
            };
            for entity in 0..3000 {
                let time = draw(4) * moment;
                put(&mut agenda, &mut truth, entity, time);
            }
            for _ in 0..200_000 {
                let (time, entity) = agenda.next().unwrap();
                let (t, _, e) = truth.pop_first().unwrap();
                assert_eq!((time, entity), (t, e));
                let next = match draw(8) {
                    0 => time,
                    1 => time + draw(width * 2),
                    2 => time + draw(width * 10_000),
                    _ => (time / moment + 1 + draw(3)) * moment,
                };
                put(&mut agenda, &mut truth, entity, next);
            }
        }
    }

    /// Work, not time: the entries examined are proportional to the events, however many of them share a moment.
    #[test]
    fn many_events_of_one_moment_cost_what_few_do() {
        let looks = |events: u32| {
            let mut agenda = Agenda::new(events as usize, events as usize, 1000);
            for entity in 0..events {
                agenda.schedule_last(entity, 5000);
            }
            for entity in 0..events {
                assert_eq!(agenda.next(), Some((5000, entity)));
                // Half of them come again at once, behind all others.
                if entity % 2 == 0 {
                    agenda.schedule_last(entity, 5000);
                }
            }
            for entity in (0..events).step_by(2) {
                assert_eq!(agenda.next(), Some((5000, entity)));
            }
            assert_eq!(agenda.next(), None);
            agenda.looked_at as f64 / f64::from(events)
        };
        let (few, many) = (looks(1000), looks(100_000));
        assert!(many < 2.0 * f64::from(CROWDED) && many < 1.1 * few, "{few} and {many} an event");
    }

    /// With a limit that goes up step by step, nothing comes after it, and all comes in the same order. An event that was taken
    /// may be put back, and comes again.
    #[test]
    fn no_event_comes_after_a_limit() {
        let mut draw = draws(3);
        for (width, busy) in [(1, 1), (1000, 1), (1 << 20, 1), (1, 200), (1000, 200), (1 << 20, 200)] {
            let mut agenda = Agenda::new(200, busy, width);
            let mut truth = BTreeSet::new();
            let (mut limit, mut taken) = (0, 0);
            for entity in 0..200 {
                let time = draw(width * 10_000);
                truth.insert((time, agenda.next_stamp(), entity));
                agenda.schedule_last(entity, time);
            }
            while taken < 20_000 {
                let Some((time, entity, stamp)) = agenda.take(limit) else {
                    assert!(truth.first().is_none_or(|(time, ..)| *time > limit));
                    limit += draw(width * 64) + u64::from(draw(4) == 0) * width * 3000;
                    continue;
                };
                assert!(time <= limit);
                if draw(8) == 0 {
                    agenda.put(entity, time, stamp);
                    continue;
                }
                assert_eq!(truth.pop_first(), Some((time, stamp, entity)));
                taken += 1;
                let span = [0, draw(width * 2), draw(width * 4096), draw(width * 50_000)][draw(4) as usize];
                // As one that comes from elsewhere at the limit schedules.
                let next = time.max(if draw(2) == 0 { limit } else { 0 }) + span;
                truth.insert((next, agenda.next_stamp(), entity));
                agenda.schedule_last(entity, next);
            }
        }
    }

    #[test]
    fn an_empty_agenda_has_nothing_next() {
        let mut agenda = Agenda::new(1, 1, 8);
        assert_eq!(agenda.next(), None);
        agenda.schedule(0, 1 << 60, 0);
        assert_eq!(agenda.next(), Some((1 << 60, 0)));
        assert_eq!(agenda.next(), None);
    }
}
