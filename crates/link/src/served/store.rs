//! Packets that wait, in one piece of memory, and the lists that they form.

use penstock_law::conditioner::Colour;
use penstock_law::quantity::Time;

/// No packet, and no queue.
pub(super) const NONE: u32 = u32::MAX;

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<P> {
    pub(super) packet: P,
    pub(super) arrival: Time,
    pub(super) bytes: u32,
    pub(super) markable: bool,
    pub(super) marked: bool,
    pub(super) low_latency: bool,
    pub(super) colour: Colour,
    /// Key of its queue when it came.
    pub(super) key: u32,
    /// Key of its book.
    pub(super) book_key: u32,
}

#[derive(Debug)]
struct Slot<P> {
    held: Held<P>,
    next: u32,
}

/// Where packets wait: a slot is used again when its packet has gone, so nothing is allocated once it has grown.
#[derive(Debug)]
pub(super) struct Store<P> {
    slots: Vec<Slot<P>>,
    free: u32,
}

/// A list of packets, first in, first out.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    head: u32,
    tail: u32,
    pub(super) packets: u32,
    pub(super) bytes: u64,
    /// Packets of these colours; the others are red.
    pub(super) green_and_yellow: [u32; 2],
}

impl List {
    pub(super) const EMPTY: Self = Self { head: NONE, tail: NONE, packets: 0, bytes: 0, green_and_yellow: [0; 2] };

    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }
}

impl<P: Copy> Store<P> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }

    /// Adds a packet at the tail.
    #[inline]
    pub(super) fn push(&mut self, list: &mut List, held: Held<P>) {
        let slot = Slot { held, next: NONE };
        let at = self.free;
        let at = if at == NONE {
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        } else {
            self.free = self.slots[at as usize].next;
            self.slots[at as usize] = slot;
            at
        };
        if list.is_empty() {
            list.head = at;
        } else {
            self.slots[list.tail as usize].next = at;
        }
        list.tail = at;
        list.packets += 1;
        list.bytes += u64::from(held.bytes);
        if let Some(count) = list.green_and_yellow.get_mut(held.colour as usize) {
            *count += 1;
        }
    }

    /// Takes the packet at the head.
    #[inline]
    pub(super) fn pop(&mut self, list: &mut List) -> Option<Held<P>> {
        if list.is_empty() {
            return None;
        }
        let at = list.head;
        let slot = &mut self.slots[at as usize];
        list.head = slot.next;
        slot.next = self.free;
        self.free = at;
        list.packets -= 1;
        list.bytes -= u64::from(slot.held.bytes);
        if let Some(count) = list.green_and_yellow.get_mut(slot.held.colour as usize) {
            *count -= 1;
        }
        Some(slot.held)
    }

    /// The packets of a list, in order.
    pub(super) fn iter(&self, list: &List) -> impl Iterator<Item = &P> {
        let mut at = list.head;
        (0..list.packets).map(move |_| {
            let slot = &self.slots[at as usize];
            at = slot.next;
            &slot.held.packet
        })
    }

    /// The packet at the head.
    #[inline]
    pub(super) fn head(&self, list: &List) -> Option<&Held<P>> {
        (!list.is_empty()).then(|| &self.slots[list.head as usize].held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn held(packet: u32) -> Held<u32> {
        Held {
            packet,
            arrival: Time(u64::from(packet)),
            bytes: packet,
            markable: false,
            marked: false,
            low_latency: false,
            colour: Colour::ALL[packet as usize % 3],
            key: 0,
            book_key: 0,
        }
    }

    /// Three lists in one store each keep their own order, bytes and colours, and slots are used again.
    #[test]
    fn lists_share_a_store_and_keep_their_order() {
        let mut store = Store::new();
        let mut lists = [List::EMPTY; 3];
        let mut models: [VecDeque<u32>; 3] = Default::default();
        let mut x = 1u32;
        for n in 0..10_000 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let which = (x >> 16) as usize % 3;
            if (x >> 24).is_multiple_of(2) && models.iter().map(VecDeque::len).sum::<usize>() < 50 {
                store.push(&mut lists[which], held(n));
                models[which].push_back(n);
            } else {
                assert_eq!(store.head(&lists[which]).map(|h| h.packet), models[which].front().copied());
                assert_eq!(store.pop(&mut lists[which]).map(|h| h.packet), models[which].pop_front());
            }
            assert_eq!(lists[which].bytes, models[which].iter().map(|b| u64::from(*b)).sum::<u64>());
            assert_eq!(lists[which].packets as usize, models[which].len());
            let of = |colour| models[which].iter().filter(|n| *n % 3 == colour).count() as u32;
            assert_eq!(lists[which].green_and_yellow, [of(0), of(1)]);
        }
        assert!(store.slots.len() <= 50, "{}", store.slots.len());
    }

    /// An engine's packet of 32 bytes takes at most 64 bytes while it waits.
    #[test]
    fn a_waiting_packet_is_small() {
        assert!(size_of::<Slot<[u64; 4]>>() <= 64, "{}", size_of::<Slot<[u64; 4]>>());
    }
}
