//! Which of two events of one time comes first, where each was scheduled in another part of a run.
//!
//! One engine gives stamps as it schedules, so of two events of one time the one comes first that was scheduled first. Parts
//! count stamps of their own. But what schedules is an event too, its parent: of two events of one time with parents at different
//! times the one comes first whose parent does. Of two parents of one time the same question is asked again. It ends where two
//! parents are at different times, where two were scheduled in one part, whose stamps answer, or at the start of the run: what is
//! scheduled there has the same stamps in all parts.
//!
//! Each part remembers its last events. Where an answer would take more than it remembers, there is none.

use std::collections::VecDeque;

/// So many events are remembered of each part at the most: 16 MB.
const REMEMBERED: usize = 1 << 20;

/// An event, by the part that scheduled it and the stamp that it got there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) part: u32,
    pub(crate) stamp: u32,
}

/// An event that a part has processed, and the first stamp that it could give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Happened {
    /// The time, and in the lowest bits which part has scheduled it.
    when: u64,
    stamp: u32,
    first: u32,
}

// One is written for each event.
const _: () = assert!(size_of::<Happened>() == 16);

/// Bits of the number of a part.
const PART: u32 = 8;

/// A time from which on no event can be remembered [ps].
pub(crate) const LATEST: u64 = 1 << (u64::BITS - PART);

impl Happened {
    pub(crate) fn new(time: u64, event: Given, first: u32) -> Self {
        debug_assert!(time < LATEST && event.part < 1 << PART);
        Self { when: time << PART | u64::from(event.part), stamp: event.stamp, first }
    }

    fn time(self) -> u64 {
        self.when >> PART
    }

    fn event(self) -> Given {
        Given { part: self.when as u32 & ((1 << PART) - 1), stamp: self.stamp }
    }
}

/// The origin of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parent {
    /// The start of the run.
    Start,
    Event(Happened),
    /// One that is not remembered, at this time at the latest.
    Forgotten(u64),
}

/// The last events of a part.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Those of each span, none of them empty.
    spans: VecDeque<Vec<Happened>>,
    events: usize,
    /// The stamp that was to be given next after them.
    next: u32,
    /// There were others before them.
    forgets: bool,
    /// Lists for later spans.
    empty: Vec<Vec<Happened>>,
}

/// The last of these events that could give a stamp, `next` being the stamp that was to be given after them.
pub(crate) fn among(events: &[Happened], next: u32, stamp: u32) -> Option<Happened> {
    // Stamps go round: they are compared by their age.
    let age = next.wrapping_sub(stamp);
    let after = events.partition_point(|event| next.wrapping_sub(event.first) >= age);
    after.checked_sub(1).map(|at| events[at])
}

impl History {
    /// Takes the events of a span, after which `next` is the stamp to be given. Spans that ended before `since` need not be kept.
    pub(crate) fn append(&mut self, events: &mut Vec<Happened>, next: u32, since: u64) {
        self.next = next;
        if events.is_empty() {
            return;
        }
        self.events += events.len();
        let empty = self.empty.pop().unwrap_or_default();
        self.spans.push_back(std::mem::replace(events, empty));
        while self.spans.len() > 1
            && let Some(oldest) = self.spans.front()
            && (self.events > REMEMBERED || oldest.last().is_some_and(|last| last.time() < since))
            && let Some(mut oldest) = self.spans.pop_front()
        {
            self.events -= oldest.len();
            self.forgets = true;
            oldest.clear();
            self.empty.push(oldest);
        }
    }

    /// The origin of the event of a stamp of this part.
    pub(crate) fn parent(&self, stamp: u32) -> Parent {
        let age = self.next.wrapping_sub(stamp);
        let after = self.spans.partition_point(|span| self.next.wrapping_sub(span[0].first) >= age);
        let found = after.checked_sub(1).and_then(|at| among(&self.spans[at], self.next, stamp));
        match (found, self.spans.front()) {
            (Some(event), _) => Parent::Event(event),
            (None, Some(oldest)) if self.forgets => Parent::Forgotten(oldest[0].time()),
            (None, _) => Parent::Start,
        }
    }
}

/// Stamps go round: one engine takes events of one time in the order of their scheduling only if less than 2^31 stamps lie between
/// them. Here a part finds out where that is in doubt: where an event that was scheduled so many stamps ago, or nearly, and another one
/// are at one time.
#[derive(Debug, Default)]
pub(crate) struct Ages {
    /// How many stamps all parts together had given at some moments, and the next one of this part then.
    moments: VecDeque<(u64, u32)>,
    /// Events that this part stamped before this one are old.
    old: Option<u32>,
    /// The time of the last event, and whether that was old.
    last: (u64, bool),
}

/// An event is old for certain when so many stamps were given since, and not yet when this and a few moments less were.
const OLD: u64 = 1 << 30;
const MOMENT: u64 = 1 << 27;

impl Ages {
    /// All parts have given so many stamps, and this one gives `next` next.
    pub(crate) fn count(&mut self, all: u64, next: u32) {
        if all >= self.moments.back().map_or(0, |(then, _)| *then) + MOMENT {
            self.moments.push_back((all, next));
        }
        while let Some((then, stamp)) = self.moments.front().copied().filter(|(then, _)| all - then >= OLD) {
            debug_assert!(then <= all);
            self.old = Some(stamp);
            self.moments.pop_front();
        }
    }

    /// An event happens at `time`, when this part gives `next` next. Whether its order is in doubt; `stamp` is that of an event
    /// scheduled here.
    #[inline]
    pub(crate) fn is_in_doubt(&mut self, time: u64, stamp: Option<u32>, next: u32) -> bool {
        let Some(old) = self.old else { return false };
        let is_old = stamp.is_some_and(|stamp| next.wrapping_sub(stamp) > next.wrapping_sub(old));
        let (last, was_old) = std::mem::replace(&mut self.last, (time, is_old));
        last == time && (is_old || was_old)
    }
}

/// Whether event `a` comes before `b`, of two of one time; none where that is not remembered.
pub(crate) fn is_before(mut a: Given, mut b: Given, parent: impl Fn(Given) -> Parent) -> Option<bool> {
    loop {
        if a.part == b.part {
            return Some((a.stamp.wrapping_sub(b.stamp) as i32) < 0);
        }
        match (parent(a), parent(b)) {
            (Parent::Event(x), Parent::Event(y)) if x.time() == y.time() => (a, b) = (x.event(), y.event()),
            (Parent::Event(x), Parent::Event(y)) => return Some(x.time() < y.time()),
            (Parent::Start, Parent::Start) => return Some(a.stamp < b.stamp),
            (Parent::Start, Parent::Event(_)) => return Some(true),
            (Parent::Event(_), Parent::Start) => return Some(false),
            (Parent::Forgotten(latest), Parent::Event(y)) if latest < y.time() => return Some(true),
            (Parent::Event(x), Parent::Forgotten(latest)) if latest < x.time() => return Some(false),
            (Parent::Forgotten(_), _) | (_, Parent::Forgotten(_)) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stamps are 0 and 1 at the start, and events of two parts schedule one another.
    fn histories() -> [History; 2] {
        let of = |part: u32, events: &[(u64, u32, u32)], next| {
            let mut history = History::default();
            // Spans of two events and of one.
            for events in events.chunks(2) {
                let happened = |(time, stamp, first): &(u64, u32, u32)| {
                    Happened::new(*time, Given { part, stamp: *stamp }, *first)
                };
                history.append(&mut events.iter().map(happened).collect(), next, 0);
            }
            history
        };
        // Both begin with an event at time 5, scheduled at the start, and have one at 9 that this one scheduled.
        [of(0, &[(5, 0, 2), (7, 2, 3), (9, 3, 5)], 6), of(1, &[(5, 1, 2), (8, 2, 3), (9, 3, 5)], 6)]
    }

    fn first(a: (u32, u32), b: (u32, u32), histories: &[History; 2]) -> Option<bool> {
        let of = |(part, stamp)| Given { part, stamp };
        let parent = |event: Given| histories[event.part as usize].parent(event.stamp);
        assert_eq!(is_before(of(b), of(a), parent), is_before(of(a), of(b), parent).map(|before| !before));
        is_before(of(a), of(b), parent)
    }

    #[test]
    fn what_was_scheduled_first_comes_first() {
        let histories = histories();
        // In one part by stamps; both at the start; one at the start; parents at 7 and 8.
        assert_eq!(first((0, 2), (0, 4), &histories), Some(true));
        assert_eq!(first((1, 1), (0, 0), &histories), Some(false));
        assert_eq!(first((1, 1), (0, 2), &histories), Some(true));
        assert_eq!(first((0, 3), (1, 3), &histories), Some(true));
        // Parents at 9 in both, whose parents were at 7 and 8, and parents at 5 in both, which were scheduled at the start.
        assert_eq!(first((1, 5), (0, 5), &histories), Some(false));
        assert_eq!(first((0, 2), (1, 2), &histories), Some(true));
    }

    #[test]
    fn old_events_are_in_doubt_where_they_meet_others() {
        let mut ages = Ages::default();
        let mut next = u32::MAX - 5;
        for moment in 0..=8 {
            ages.count(moment * MOMENT, next);
            // Nothing is old yet.
            assert!(!ages.is_in_doubt(7, Some(0), next));
            next = next.wrapping_add(10);
        }
        ages.count(9 * MOMENT, next);
        // At the moment before the last eight this part's next stamp was that of the second.
        let (old, young) = ((u32::MAX - 5).wrapping_add(9), (u32::MAX - 5).wrapping_add(10));
        assert!(!ages.is_in_doubt(8, Some(old), next));
        assert!(ages.is_in_doubt(8, Some(young), next));
        assert!(!ages.is_in_doubt(8, None, next));
        assert!(ages.is_in_doubt(8, Some(old), next));
        assert!(!ages.is_in_doubt(9, Some(young), next));
        assert!(!ages.is_in_doubt(9, Some(young), next));
    }

    #[test]
    fn what_is_forgotten_was_before_what_is_not() {
        let mut histories = histories();
        // What is at 9 is kept, and what is at 5 and 7 is not.
        histories[0].append(&mut vec![Happened::new(10, Given { part: 0, stamp: 4 }, 6)], 6, 8);
        assert!(histories[0].forgets && histories[0].events == 2);
        assert_eq!(first((0, 2), (1, 2), &histories), None);
        histories[1].append(&mut vec![Happened::new(11, Given { part: 1, stamp: 5 }, 6)], 7, 0);
        assert_eq!(first((0, 3), (1, 6), &histories), Some(true));
        assert_eq!(first((0, 3), (1, 1), &histories), None);
    }
}
