//! Delay lines: what enters first leaves first, after a fixed delay. Only the head of a line is scheduled.

use crate::packet::Packet;

/// A delay line.
#[derive(Debug)]
pub(crate) struct Line {
    /// The port whose far end this is.
    pub(crate) port: u32,
    /// From the port's near end to here [ps].
    pub(crate) delay: u64,
    /// Whether the port decides marks at departure, so that they are drawn here.
    pub(crate) marks: bool,
    ring: Vec<Packet>,
    head: usize,
    len: usize,
}

impl Line {
    pub(crate) fn new(port: u32, delay: u64, marks: bool) -> Self {
        Self { port, delay, marks, ring: vec![Packet::default(); 16], head: 0, len: 0 }
    }

    /// Puts a packet in; true if it is now the head.
    #[inline]
    pub(crate) fn push(&mut self, packet: Packet) -> bool {
        if self.len == self.ring.len() {
            self.grow();
        }
        let mask = self.ring.len() - 1;
        self.ring[(self.head + self.len) & mask] = packet;
        self.len += 1;
        self.len == 1
    }

    /// Takes the head out.
    #[inline]
    pub(crate) fn pop(&mut self) -> Packet {
        debug_assert!(self.len > 0, "only a line with a head is scheduled");
        let packet = self.ring[self.head];
        self.head = (self.head + 1) & (self.ring.len() - 1);
        self.len -= 1;
        packet
    }

    /// The head.
    #[inline]
    pub(crate) fn head(&self) -> Option<&Packet> {
        if self.len == 0 { None } else { Some(&self.ring[self.head]) }
    }

    /// Everything under way.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        (0..self.len).map(|i| &self.ring[(self.head + i) & (self.ring.len() - 1)])
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = Vec::with_capacity(self.ring.len() * 2);
        ring.extend(self.iter().copied());
        ring.resize(self.ring.len() * 2, Packet::default());
        (self.ring, self.head) = (ring, 0);
    }
}
