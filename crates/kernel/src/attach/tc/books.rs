//! The fates of the packets that a tc program processed.

use std::ops::{Add, AddAssign};

use crate::attach::attachment::Figure;

/// A count of packets on the wire, and their bytes with the header of the link layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets as they are on the wire: of a super-packet, its segments.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Add for Count {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { packets: self.packets + o.packets, bytes: self.bytes + o.bytes }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

/// `struct books` of `bpf/tc/host.h`, over all processors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Books {
    /// Everything that arrived.
    pub arrived: Count,
    /// The number of its pieces: a super-packet is one.
    pub pieces: u64,
    /// Went on as it came, or in profile.
    pub passed: Count,
    /// CE was written on it, or the codepoint of red.
    pub marked: Count,
    /// The codepoint of yellow was.
    pub yellow: Count,
    /// Was chosen for a mark and had CE already.
    pub marked_before: Count,
    /// Is not IP: it is load, and goes on.
    pub not_ip: Count,
    /// Was chosen, and the kernel allowed no write to it.
    pub unwritable: Count,
    /// Came while the law was busy for too long, and went on without it.
    pub contended: Count,
    /// Was chosen for a mark, cannot carry one, and went on, as `not_ect` has it.
    pub passed_not_ect: Count,
    /// Was chosen for a mark, cannot carry one, and was dropped.
    pub dropped_not_ect: Count,
    /// Was dropped by a law that drops.
    pub dropped: Count,
    /// Did not fit a virtual queue, and was dropped.
    pub dropped_full: Count,
}

/// The number of counts after that of arrivals: `FATES`.
const FATES: usize = 11;
const WORDS: usize = 3 + 2 * FATES;
/// The size of `struct books`.
pub(super) const BYTES: u64 = 8 * WORDS as u64;

impl Books {
    /// The sum over the processors in the map.
    pub(super) fn of(processors: &[Vec<u8>]) -> Self {
        let mut books = Self::default();
        for bytes in processors {
            let mut words = [0; WORDS];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
            }
            books.arrived += Count { packets: words[0], bytes: words[1] };
            books.pieces += words[2];
            for (at, fate) in books.fates_mut().into_iter().enumerate() {
                *fate += Count { packets: words[3 + at], bytes: words[3 + FATES + at] };
            }
        }
        books
    }

    /// In the order of `enum fate`.
    fn fates_mut(&mut self) -> [&mut Count; FATES] {
        [
            &mut self.passed,
            &mut self.marked,
            &mut self.yellow,
            &mut self.marked_before,
            &mut self.not_ip,
            &mut self.unwritable,
            &mut self.contended,
            &mut self.passed_not_ect,
            &mut self.dropped_not_ect,
            &mut self.dropped,
            &mut self.dropped_full,
        ]
    }

    /// The packets booked under some end. Equal to [`Books::arrived`] whenever no packet is on its way through the program.
    pub fn ended(mut self) -> Count {
        self.fates_mut().into_iter().fold(Count::default(), |sum, count| sum + *count)
    }

    /// As figures.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let count = |name: &str, what: &str, value| Figure {
            name: name.to_owned(),
            what: what.to_owned(),
            counter: true,
            value: value as f64,
        };
        vec![
            count("packets_arrived", "packets on the wire", self.arrived.packets),
            count("bytes_arrived", "their bytes, with link-layer headers", self.arrived.bytes),
            count("pieces_arrived", "pieces that they came in", self.pieces),
            count("packets_passed", "went on as they came, or in profile", self.passed.packets),
            count("packets_marked", "marked here, or red", self.marked.packets),
            count("packets_yellow", "beyond the profile, within the excess", self.yellow.packets),
            count("packets_marked_before", "chosen, with CE already", self.marked_before.packets),
            count("packets_not_ip", "not IP: load that goes on", self.not_ip.packets),
            count("packets_unwritable", "chosen, but not writable", self.unwritable.packets),
            count("packets_contended", "went on while the law was busy", self.contended.packets),
            count(
                "packets_passed_not_ect",
                "passed without a mark, because they are not \
                                             ECN-capable",
                self.passed_not_ect.packets,
            ),
            count(
                "packets_dropped_not_ect",
                "dropped instead of marked, because they are not \
                                              ECN-capable",
                self.dropped_not_ect.packets,
            ),
            count("packets_dropped", "dropped by a law that drops", self.dropped.packets),
            count("packets_dropped_full", "dropped, for the virtual queue was full", self.dropped_full.packets),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_add_up_in_the_order_of_the_map() {
        let words = |of: u64| (0..WORDS as u64).flat_map(|at| (of + at).to_ne_bytes()).collect::<Vec<u8>>();
        let books = Books::of(&[words(0), words(100)]);
        assert_eq!((books.arrived, books.pieces), (Count { packets: 100, bytes: 102 }, 104));
        assert_eq!(books.passed, Count { packets: 106, bytes: 128 });
        assert_eq!(books.dropped, Count { packets: 124, bytes: 146 });
        assert_eq!(books.ended().packets, 11 * 116);
    }
}
