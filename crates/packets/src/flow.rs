//! A flow's sending end, and the common part of a group's flows.

use penstock_law::cc::{Marks, Spared};
use penstock_law::quantity::{Time, is_amount};
use penstock_scenario::model::{EcnEcho, Remember, RttNoise};
use penstock_scenario::seed::{Coins, Stream};

use crate::engine::Hop;
use crate::feedback::{Carried, Feedback};
use crate::kind::{Kind, OfKind};
use crate::packet::{self, CWR, DUPLICATE, ECE, ECT, SACK};
use crate::receiver::{Habits, Reply};
use crate::sender::burst::Burst;
use crate::sender::data::{Data, Heard, since};
use crate::sender::pacer::{self, Pacer};
use crate::sender::sampler::Sampler;
use crate::sender::timer::Timer;
use crate::sender::window::{Allowed, Windows};

/// No such thing, among numbers of things.
pub(crate) const NONE: u32 = u32::MAX;

/// Progress of the opening of a flow's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It is open.
    Done,
    /// A SYN comes before the next data.
    Needed,
    /// A SYN is under way.
    Waiting,
}

/// The common part of the flows of a group.
pub(crate) struct Group {
    /// Its name, and that of its law.
    pub(crate) name: String,
    pub(crate) law: &'static str,
    pub(crate) kind: Kind,
    /// The group's first flow, and one past its last.
    pub(crate) flows: (u32, u32),
    pub(crate) windows: Windows,
    pub(crate) habits: Habits,
    /// Its acknowledgements carry options beyond a packet's own fields.
    pub(crate) options: bool,
    /// Its acknowledgements are selective.
    pub(crate) selective: bool,
    /// A latched echo that had a response is no new one before the receiver has a new segment. The hosts of the papers, without
    /// options, keep their recorded results: they respond again.
    pub(crate) latched: bool,
    pub(crate) marks: Marks,
    pub(crate) reliable: bool,
    pub(crate) paced: bool,
    /// Its window does not limit the packets in flight, once the law sets a gap.
    pub(crate) unlimited: bool,
    /// The share of its data packets that is lost behind their last link, and the coins; none where none is.
    pub(crate) loss: Option<(f64, Coins)>,
    /// The noise of its round-trip samples; none where they are true.
    pub(crate) noise: Option<Noise>,
    /// Its connections open with a handshake and are closed by the end of a transfer.
    pub(crate) handshake: bool,
    /// Its recovery is by time (RACK).
    pub(crate) by_time: bool,
    /// Its law requires samples of the bottleneck.
    pub(crate) probes: bool,
    /// Its law requires deliveries.
    pub(crate) delivery: bool,
    /// The parts of them that it does without.
    pub(crate) spared: Spared,
    /// A window below two packets is a rate.
    pub(crate) fractions: bool,
    /// It requires that duplicates mend.
    pub(crate) mends: bool,
    pub(crate) receive_window: f64,
    /// The same in whole segments.
    pub(crate) receive_segments: u64,
    /// The user's data in a full packet [B].
    pub(crate) payload: u64,
    /// Packets that leave together.
    pub(crate) burst: u32,
    /// When flows stop sending new data [ps].
    pub(crate) stop: u64,
    /// The law's period [ps]; zero without one.
    pub(crate) period: u64,
    /// Knowledge with which a transfer after the first begins.
    pub(crate) remember: Remember,
    /// Its class among all there are, the last one where it has none.
    pub(crate) class: u32,
    /// The accounts of its bytes: its class and its customer, where it has one.
    pub(crate) accounts: [u32; 2],
    /// The conditioner that its packets pass on their way to the first link, where there is one.
    pub(crate) conditioner: u32,
    /// Laws that take over later, the latest first.
    pub(crate) steps: Vec<(u64, Windows)>,
    /// When the next of them does [ps].
    pub(crate) next_step: u64,
}

/// Errors of the round-trip samples of a group's flows.
#[derive(Debug)]
pub(crate) struct Noise {
    pub(crate) noise: RttNoise,
    /// Of each flow.
    pub(crate) streams: Vec<Stream>,
}

impl Noise {
    /// A sample as the sender takes it.
    #[cold]
    pub(crate) fn heard(&mut self, flow: usize, rtt: Time) -> Time {
        let stream = &mut self.streams[flow];
        if stream.lands(self.noise.probability) {
            rtt + Time((stream.unit() * self.noise.upto.0 as f64) as u64)
        } else {
            rtt
        }
    }
}

/// Counters of a flow since the start of the run.
///
/// In the order of memory: fields of every packet come first.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Sent {
    /// Round trips, summed [ps], and how many.
    pub(crate) rtt: u128,
    pub(crate) rtts: u64,
    /// The smallest since it was last read [ps].
    pub(crate) least_rtt: u64,
    /// The window and its square, integrated over time [packets s].
    pub(crate) window: f64,
    pub(crate) window_squared: f64,
    /// Data packets sent.
    pub(crate) packets: u64,
    /// Those sent again.
    pub(crate) again: u64,
    /// Those refused or lost on the way.
    pub(crate) lost: u64,
    pub(crate) timeouts: u32,
    /// Recoveries that were undone.
    pub(crate) undone: u32,
    /// Congestion events, and the shares of the window that they left, summed.
    pub(crate) cuts: u64,
    pub(crate) left: f64,
    /// When the last segment of the first transfer was acknowledged [ps].
    pub(crate) completed: u64,
    /// By how much the last segments of transfers were short of full ones [B].
    pub(crate) short: u64,
}

/// The sending end of a flow.
///
/// In the order of memory: fields of every packet come first.
// As a line of the processor's cache is aligned, so that what is next to each other here comes together.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(crate) group: u32,
    /// Its index in the group.
    pub(crate) index: u32,
    /// Where its hops start in the list of hops, and how many there are; first data, then acknowledgements.
    pub(crate) route: [(u32, u8); 2],
    /// The first link of its data.
    pub(crate) out: Hop,
    pub(crate) flags: u8,
    /// Whether an event for a delayed acknowledgement is on the agenda.
    pub(crate) ack_timer: bool,
    /// Whether an event for the deadlines of recovery by time is on the agenda.
    pub(crate) clock_set: bool,
    /// Whether the newest acknowledgement had blocks.
    pub(crate) blocks_known: bool,
    /// Bytes on the wire of the last segment there is to send, and of every other.
    pub(crate) last_size: u16,
    pub(crate) size: u16,
    /// Its way into the network, where that takes time.
    pub(crate) entry: u32,
    /// Packets in flight at most.
    pub(crate) window: f64,
    /// Time of the last change of the window [ps].
    pub(crate) window_since: u64,
    /// A round trip ends when a transmission from this one on is acknowledged.
    pub(crate) round: u64,
    /// New data is sent until then [ps]; zero while it is silent.
    pub(crate) until: u64,
    pub(crate) data: Data,
    pub(crate) timer: Timer,
    pub(crate) burst: Burst,
    pub(crate) sent: Sent,
    pub(crate) start: u64,
    /// The first segment of this connection.
    pub(crate) first: u64,
    /// Which connection this is: transfers after the first may have a new one each.
    pub(crate) connection: u32,
    /// The way of its acknowledgements into the network, where that takes time; its transfers and pauses.
    pub(crate) ack_entry: u32,
    pub(crate) source: u32,
    /// The index of its delayed acknowledgements on the agenda, where it has such.
    pub(crate) ack: u32,
    /// When the one that is held back is due [ps].
    pub(crate) ack_due: u64,
    /// The index of the deadlines of recovery by time on the agenda, where it has such.
    pub(crate) clock: u32,
    /// When the last SYN was sent [ps].
    pub(crate) syn_sent: u64,
    /// The numbers of this connection's first and last SYN, and whether there was one.
    pub(crate) syn: (u32, u32),
    pub(crate) opening_again: bool,
    pub(crate) opening: Opening,
    /// Where its law requires deliveries.
    pub(crate) sampler: Option<Box<Sampler>>,
    /// Where its window paces it.
    pub(crate) pacer: Option<Box<Pacer>>,
    /// Its state for acknowledgements with options, where those have such.
    pub(crate) feedback: Option<Box<Feedback>>,
}

impl Group {
    /// Its recovery is by time (RACK).
    #[inline]
    pub(crate) fn by_time<K: OfKind>(&self) -> bool {
        K::TODAY || (K::OTHER && self.by_time)
    }

    /// Its law requires samples of the bottleneck.
    #[inline]
    pub(crate) fn probes<K: OfKind>(&self) -> bool {
        !K::TODAY && self.probes
    }
}

impl Flow {
    /// A new output of the law; false where it is no valid number.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    #[must_use]
    pub(crate) fn allow(&mut self, allowed: Allowed, paced: bool, now: u64) -> bool {
        // What is no number differs from every window.
        if self.window != allowed.window {
            if !is_amount(allowed.window) {
                return false;
            }
            self.integrate_window(now);
            self.window = allowed.window;
        }
        !paced || self.burst.space(allowed.gap_s)
    }

    /// The window that holds, where the law's gap is a window too.
    #[inline]
    pub(crate) fn limit(&self) -> f64 {
        if self.pacer.is_none() {
            return self.window;
        }
        pacer::limit(self.window, self.burst.gap_s(), self.timer.smoothed())
    }

    /// When the next packet may leave, if not now.
    #[inline]
    pub(crate) fn wait(&mut self, window: f64, now: u64) -> Option<u64> {
        match &mut self.pacer {
            Some(pacer) => pacer.wait(window, self.timer.smoothed(), now),
            None => self.burst.wait(now),
        }
    }

    /// When to look again, if the packet that waits leaves later than it seemed.
    #[inline]
    pub(crate) fn put_off(&self, now: u64) -> Option<u64> {
        self.pacer.as_ref().and_then(|pacer| pacer.put_off(now))
    }

    /// The limits of the flow where recovery is by time: during a reduction those of the reduction, whatever the law's output, and
    /// the law's output once it is over.
    #[inline]
    pub(crate) fn by_time(&mut self, allowed: Option<Allowed>) -> Option<Allowed> {
        let Some(rack) = self.data.rack().filter(|rack| rack.is_in_trouble()) else { return allowed };
        let gap_s = allowed.map_or(self.burst.gap_s(), |allowed| allowed.gap_s);
        match rack.shape(allowed.map(|allowed| allowed.window)) {
            Some(window) => Some(Allowed { window, gap_s }),
            None => allowed,
        }
    }

    /// The fields of an acknowledgement, in numbers that do not wrap.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    pub(crate) fn heard(&self, reply: &Reply) -> Heard {
        Heard {
            cumulative: packet::expand(self.data.una, reply.seq),
            tx: packet::expand(self.data.next_tx(), reply.tx),
            from: (reply.flags & SACK != 0).then(|| packet::expand(self.data.una, reply.from)),
            duplicate: reply.flags & DUPLICATE != 0,
        }
    }

    /// The round trip that an acknowledgement of transmission `tx`, sent at `sent`, measured: the true one is recorded; the timer and
    /// the law have the sender's estimate of it. The group is of kind `K`.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    pub(crate) fn round_trip<K: OfKind>(
        &mut self,
        group: &mut Group,
        tx: u64,
        sent: Option<u64>,
        now: u64,
    ) -> Option<Time> {
        let mut rtt = since(now, sent?);
        self.sent.rtt += u128::from(rtt.0);
        self.sent.rtts += 1;
        self.sent.least_rtt = self.sent.least_rtt.min(rtt.0);
        if K::OTHER
            && let Some(noise) = &mut group.noise
        {
            rtt = noise.heard(self.index as usize, rtt);
        }
        let mut adjusted = rtt.0;
        if K::OTHER
            && let Some(max_ack_delay) = self.timer.max_ack_delay()
            && let Some(rack) = self.data.rack()
        {
            adjusted = rack.without_delay(tx, adjusted, max_ack_delay);
        }
        self.timer.sample(now, adjusted, tx >= self.round);
        Some(rtt)
    }

    /// Packets that an acknowledgement reports as marked: all that it covers, or where it counts them so many.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    pub(crate) fn marked(&mut self, group: &Group, flags: u8, carried: Option<&Carried>, covered: u32) -> u32 {
        let all = if flags & ECE != 0 { u32::MAX } else { 0 };
        let Some(carried) = carried else { return all };
        let more = self.marks_heard(carried, covered, group.selective, group.payload as u32);
        if group.habits.echo == EcnEcho::Accurate { more } else { all }
    }

    /// Whether marks begin a congestion event: an echo of a packet sent after the last one does (RFC 3168: once a window).
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    pub(crate) fn cut_by<K: OfKind>(&mut self, group: &Group, heard: &Heard, marked: u32) -> bool {
        if marked == 0 {
            return false;
        }
        // As in Linux, no window is given back after a mark in a recovery, whatever the law makes of marks.
        if group.by_time::<K>()
            && let Some(rack) = self.data.rack()
        {
            rack.marked();
        }
        if group.marks != Marks::Congestion
            || heard.tx < self.data.event
            || ((!K::PLAIN || K::DETAILED) && group.latched && !self.data.is_new(heard.tx))
        {
            return false;
        }
        // By time, what a recovery or an earlier mark began is one reduction until it ends, as in Linux.
        let again = group.by_time::<K>() && self.data.in_recovery();
        self.data.cut();
        !again
    }

    /// Whether losses that were just reported are persistent congestion, which counts as a timeout.
    pub(crate) fn is_persistent(&mut self) -> bool {
        let persistent = self.timer.persistent().is_some_and(|span| self.data.is_persistent(span));
        self.sent.timeouts += u32::from(persistent);
        persistent
    }

    /// The window was reduced, for any reason: the next new segment carries CWR (RFC 3168, section 6.1.2). With
    /// accurate ECN that flag is a part of a counter.
    pub(crate) fn reduced(&mut self) {
        let accurate = self.feedback.as_ref().is_some_and(|feedback| feedback.marks.is_some());
        if self.flags & ECT != 0 && !accurate {
            self.flags |= CWR;
        }
    }

    /// Integrates the window up to `now`.
    #[inline]
    pub(crate) fn integrate_window(&mut self, now: u64) {
        let span = Time(now - self.window_since).seconds();
        self.window_since = now;
        let area = self.window * span;
        self.sent.window += area;
        self.sent.window_squared += self.window * area;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agenda;
    use crate::line::Line;
    use crate::measure::Told;
    use crate::receiver::Receiver;
    use crate::sender::estimation::Estimates;

    /// Memory of a flow besides its packets in flight, with a round trip, and so a line, of its own and a snapshot at
    /// each end of two spans: 2 KiB at the most. A law's state, the key of its coins and the overhead of allocators are well
    /// below the 256 bytes that are left for them.
    #[test]
    fn a_flow_takes_two_kibibytes_at_the_most() {
        let ends = size_of::<Flow>() + size_of::<Receiver>() + size_of::<Estimates<f64>>();
        let events = size_of::<Line>() + 3 * size_of::<agenda::Entry>();
        let readings = 4 * size_of::<Told>();
        println!("{ends} B at its ends, {events} B for what happens next, {readings} B of readings");
        assert!(ends + events + readings <= 2048 - 256, "{ends} + {events} + {readings}");
    }
}
