//! Accurate ECN feedback (RFC 9768): the counters of a receiver, and the number of marks that its sender derives from them.

use crate::options::Counters;
use crate::packet::{CE, ECT, LOW, Packet};

/// Values of the ACE field.
const ACE: u64 = 8;
/// Values of a counter of bytes.
const BYTES: u32 = 1 << 24;

/// Counters of a receiver for a connection (section 3.2).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    /// Packets that arrived marked: r.cep, not yet modulo 8.
    pub(crate) packets: u64,
    bytes: Counters,
    /// The last packet was marked.
    marked: bool,
}

impl Counted {
    /// Section 3.2.1: the counters do not begin at zero, so that a field that somebody clears is noticed.
    pub(crate) const START: Self = Self { packets: 5, bytes: Counters { ect0: 1, ce: 0, ect1: 1 }, marked: false };

    /// A packet with so many bytes of data arrived. True if it is the first marked one after one that was not, which is
    /// acknowledged at once (section 3.2.2.5.1). The second of two marked ones also is, as every second packet.
    pub(crate) fn take(&mut self, packet: &Packet, payload: u32) -> bool {
        let Counters { ect0, ce, ect1 } = &mut self.bytes;
        let marked = packet.is(CE);
        self.packets += u64::from(marked);
        if marked {
            *ce = (*ce + payload) % BYTES;
        } else if packet.is(LOW) {
            *ect1 = (*ect1 + payload) % BYTES;
        } else if packet.is(ECT) {
            *ect0 = (*ect0 + payload) % BYTES;
        }
        let before = std::mem::replace(&mut self.marked, marked);
        marked && !before
    }

    /// The ACE field.
    pub(crate) fn ace(&self) -> u8 {
        (self.packets % ACE) as u8
    }

    /// The AccECN Option.
    pub(crate) fn counters(&self) -> Counters {
        self.bytes
    }
}

/// Number of marked packets known to a sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks {
    /// s.cep.
    pub(crate) packets: u64,
    /// s.ceb, and s.cep when that arrived.
    option: (u32, u64),
}

impl Marks {
    /// Initial values of both ends (section 3.2.1).
    pub(crate) const START: Self = Self { packets: 5, option: (0, 5) };

    /// An acknowledgement arrived, with this ACE field and perhaps the counter of marked bytes; it reports `newly` packets
    /// that arrived. Returns how many arrived marked and were not known to be. `full` is the data of a full packet [B].
    pub(crate) fn hear(&mut self, ace: u8, ceb: Option<u32>, newly: u64, full: u32) -> u64 {
        // Appendix A.1.
        let least = (u64::from(ace) + ACE - self.packets % ACE) % ACE;
        let more = if let Some(ceb) = ceb {
            // Appendix A.2.2 asks whether marked packets would be larger than a full one on average. All but a transfer's last
            // are full here, so the fewest packets that are not larger are the right number.
            let marked = (ceb + BYTES - self.option.0) % BYTES;
            let known = self.packets - self.option.1;
            let lacking = u64::from(marked.div_ceil(full.max(1))).saturating_sub(known + least);
            least + lacking.div_ceil(ACE) * ACE
        } else if newly < ACE {
            least
        } else {
            // Appendix A.2.1: the field may have wrapped, and the most marks that are likely are the safest guess.
            newly - (newly - least) % ACE
        };
        self.packets += more;
        if let Some(ceb) = ceb {
            self.option = (ceb, self.packets);
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver and its sender.
    struct Ends(Counted, Marks);

    impl Ends {
        fn new() -> Self {
            Self(Counted::START, Marks::START)
        }
        fn arrive(&mut self, marked: bool) -> bool {
            let flags = ECT | if marked { CE } else { 0 };
            self.0.take(&Packet { flags, ..Packet::default() }, 1000)
        }
        fn acknowledge(&mut self, newly: u64, option: bool) -> u64 {
            self.1.hear(self.0.ace(), option.then(|| self.0.counters().ce), newly, 1000)
        }
    }

    /// Section 3.2.1: r.cep begins at 5, r.e0b and r.e1b at 1, r.ceb at 0; each codepoint has its counter.
    #[test]
    fn counters_begin_as_the_rfc_has_them() {
        let mut counted = Counted::START;
        assert_eq!((counted.ace(), counted.counters()), (5, Counters { ect0: 1, ce: 0, ect1: 1 }));
        for (flags, payload) in [(ECT, 100), (ECT | LOW, 20), (ECT | LOW | CE, 3), (0, 5000)] {
            counted.take(&Packet { flags, ..Packet::default() }, payload);
        }
        assert_eq!((counted.ace(), counted.counters()), (6, Counters { ect0: 101, ce: 3, ect1: 21 }));
    }

    /// The first marked packet after others is acknowledged at once.
    #[test]
    fn a_change_to_marked_is_told_at_once() {
        let mut ends = Ends::new();
        let at_once = [false, true, true, false, false, true].map(|marked| ends.arrive(marked));
        assert_eq!(at_once, [false, true, false, false, false, true]);
    }

    /// Each acknowledgement covers few packets: the field of three bits is enough, over many wraps.
    #[test]
    fn the_field_wraps_and_nothing_is_lost() {
        for option in [false, true] {
            let mut ends = Ends::new();
            let mut heard = 0;
            for n in 0..10_000u32 {
                ends.arrive(n % 3 > 0);
                // Up to six in a row are lost.
                if n % 7 == 0 {
                    heard += ends.acknowledge(7, option);
                }
            }
            heard += ends.acknowledge(7, option);
            assert_eq!((heard, ends.1.packets), (6666, ends.0.packets));
        }
    }

    /// Appendix A.2.1: without the option, of 9 packets none or 8 may have been marked where the field stands still, and 8 is
    /// the safe guess; of 7 or fewer there is no doubt. With the option there never is.
    #[test]
    fn many_lost_acknowledgements_need_the_option() {
        for (arrived, marked, without) in
            [(7, 0, 0), (8, 0, 8), (9, 0, 8), (9, 1, 9), (9, 8, 8), (15, 2, 10), (30, 2, 26), (30, 20, 28)]
        {
            for option in [false, true] {
                let mut ends = Ends::new();
                (0..arrived).for_each(|n| _ = ends.arrive(n < marked));
                let told = ends.acknowledge(arrived, option);
                assert_eq!(told, if option { marked } else { without }, "{marked} of {arrived}, option {option}");
            }
        }
    }

    /// An acknowledgement without space for the option between two that have it: its marks are not counted twice.
    #[test]
    fn the_option_may_come_and_go() {
        let mut ends = Ends::new();
        let mut heard = 0;
        for n in 0..5000u32 {
            ends.arrive(n % 2 == 0);
            if n % 5 == 0 {
                heard += ends.acknowledge(5, n % 15 == 0);
            }
        }
        heard += ends.acknowledge(4, true);
        assert_eq!(heard, 2500);
        // The counter of bytes wraps after 16,777 packets of 1000 B.
        (0..20_000).for_each(|_| {
            ends.arrive(true);
            heard += ends.acknowledge(1, true);
        });
        assert_eq!(heard, 22_500);
    }

    /// The last segment of a transfer is short: rounding up counts it.
    #[test]
    fn a_short_segment_counts() {
        let mut ends = Ends::new();
        (0..9).for_each(|_| _ = ends.arrive(true));
        ends.0.take(&Packet { flags: ECT | CE, ..Packet::default() }, 1);
        assert_eq!(ends.acknowledge(10, true), 10);
    }
}
