//! Controllers: the laws of senders.

mod acknowledged;
mod allegro;
mod bbr;
mod bbr3;
mod cbr;
pub mod ccp;
mod ccpd;
pub mod copa;
mod cubic;
mod dctcp;
mod delays;
mod delivery;
pub mod fast;
mod highspeed;
mod hystart;
mod illinois;
mod interval;
pub mod leadlag;
mod ledbat;
mod ledbat_pp;
mod nada;
mod newreno;
pub mod prague;
mod scalable;
mod search;
mod vegas;
mod vivace;
mod westwood;

pub use acknowledged::Acknowledged;
pub use delivery::{AckSample, Delivery, DeliveryEvent, RateSample, Spared, Timing, Transmission};

use crate::estimate::{BottleneckEstimate, MarkEstimate};
use crate::law::{Entry, Role};
use crate::number::Number;
use crate::numbers;
use crate::quantity::{Bytes, is_amount};

/// Every controller, in the order the docs show them.
// No constant: a crate that names one compiles every law again.
pub static CONTROLLERS: &[Entry<Controller>] = &[
    newreno::ENTRY,
    cubic::ENTRY,
    highspeed::ENTRY,
    scalable::ENTRY,
    vegas::ENTRY,
    dctcp::ENTRY,
    bbr::ENTRY,
    bbr3::ENTRY,
    fast::ENTRY,
    leadlag::ENTRY,
    ccp::ENTRY,
    ccpd::ENTRY,
    illinois::ENTRY,
    westwood::ENTRY,
    ledbat::ENTRY,
    ledbat_pp::ENTRY,
    copa::ENTRY,
    allegro::ENTRY,
    vivace::ENTRY,
    prague::ENTRY,
    nada::ENTRY,
    cbr::ENTRY,
];

/// The role of a sender's law: it decides window and pacing rate.
#[derive(Debug, Clone, Copy)]
pub struct Controller;

impl Role for Controller {
    type Observation<N: Number> = Observation<N>;
    type Event = Event;
    type Output<N: Number> = Output<N>;
    type Context = Context;
    type Requirements = Requirements;
    type Detail = Delivery;
    type Timing = Timing;
    type Packets = Acknowledged;
    const NOUN: &'static str = "controller";
}

/// The events of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// New data was acknowledged, outside loss recovery.
    Ack {
        /// Packets newly covered: 1, 2, or as many as 44 in the kernel [packets].
        packets: u32,
        /// Those among them whose acknowledgement carried a congestion echo [packets].
        marked: u32,
    },
    /// The law's period went by. Never before the first sample of the round-trip time.
    Tick,
    /// The host measured the end of a round. Never before the first sample of the round-trip time.
    Round,
    /// A congestion event: loss, or an echo where [`Marks::Congestion`]. The host lets at most one through in a round.
    Congestion,
    /// The retransmission timer expired.
    Timeout,
}

numbers! {
    /// The measurements of a sender's path. Data that were sent again are acknowledged without a sample (RFC 6298,
    /// section 3), so that acknowledgements, congestion events and timeouts may come before the first one.
    pub struct Observation {
        /// Average round-trip time by [`Requirements::average_rtt`]; the latest sample if that is not required. Zero before the
        /// first sample.
        rtt_s: "s",
        /// The smallest round-trip time so far. Zero before the first sample, unless a connection before knew it.
        base_rtt_s: "s",
        /// The sum of prices along the path, with [`Marks::Price`]; otherwise zero.
        price_s: "s",
        /// Time since the start of the run, with [`Requirements::now`]; otherwise zero.
        now_s: "s",
        /// Size of the bottleneck's buffer, with [`Requirements::bottleneck`]; zero until it is known.
        buffer: "packets",
        /// Packets in the bottleneck's buffer, with [`Requirements::bottleneck`]; zero until known.
        level: "packets",
        /// Packets in flight before the response to this event, with [`Requirements::bottleneck`]. With
        /// [`Requirements::flight_size`]: FlightSize at a loss (RFC 5681), which may exceed the window; zero at a mark, and if
        /// the host does not know it.
        in_flight: "packets",
        /// The sum, `earlier_s` seconds ago, of `level` and of the flow's packets that [`BottleneckEstimate::committed`] counts,
        /// with [`BottleneckEstimate::lookback`].
        earlier: "packets",
        /// Age of `earlier`; zero if `earlier` is not known.
        earlier_s: "s",
    }
}

impl<N: Number> Observation<N> {
    /// The observation before the first measurement: zero everywhere.
    pub fn zero() -> Self {
        let zero = N::of(0.0);
        Self {
            rtt_s: zero,
            base_rtt_s: zero,
            price_s: zero,
            now_s: zero,
            buffer: zero,
            level: zero,
            in_flight: zero,
            earlier: zero,
            earlier_s: zero,
        }
    }
}

numbers! {
    /// The output of a sender's law.
    pub struct Output {
        /// Packets in flight at most.
        window: "packets",
        /// Least time between two packets; zero leaves the spacing to the acknowledgements.
        gap_s: "s",
    }
}

/// The window of a law that limits its rate alone [packets]: more than any path holds, and the largest that fixed point has.
pub const NO_WINDOW: f64 = 2_147_483_647.0;

impl Output<f64> {
    /// True if a host can act on it: a finite number of packets and a finite span of time.
    #[inline]
    pub fn is_sound(&self) -> bool {
        is_amount(self.window) && is_amount(self.gap_s)
    }
}

/// The facts about a sender when its law is compiled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context {
    /// A data packet on the wire.
    pub packet: Bytes,
    /// The window a flow starts with [packets].
    pub initial_window: f64,
    /// The window at which slow start ends before the first congestion event [packets].
    pub initial_ssthresh: f64,
}

/// The requirements of a controller: the measurements that its host makes for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirements {
    /// The period of [`Event::Tick`] [s].
    pub tick_s: Option<f64>,
    /// The host's treatment of congestion echoes.
    pub marks: Marks,
    /// The average that [`Observation::rtt_s`] shall be.
    pub average_rtt: Option<RttAverage>,
    /// True if data are acknowledged and sent again when lost; if not, nothing comes back (UDP).
    pub reliable: bool,
    /// True if it requires [`Observation::now_s`].
    pub now: bool,
    /// True if its packets select the low-latency queue: ECT(1) (RFC 9331).
    pub low_latency: bool,
    /// The required measurements of the bottleneck. Round trips then count only where an acknowledgement covers new data,
    /// all of it sent once.
    pub bottleneck: Option<BottleneckEstimate>,
    /// True if each acknowledgement of a recovery, duplicate or partial, lets as many lost segments be sent again as it reports,
    /// whatever the window: a law that keeps its window through recovery would otherwise mend no more a round trip than fits
    /// into that window. In the packet simulator, where recovery is not by time, and in the kernel, its recovery then ends once the
    /// data sent before the loss are acknowledged, whatever is lost meanwhile: a kept window that does not fit would otherwise
    /// never end.
    pub retransmit_on_duplicates: bool,
    /// True if it is called for each packet, for recoveries and for rate samples, by
    /// [`Law::on_detail`](crate::law::Law::on_detail), and sets the times and the quantum of sending, by
    /// [`Law::timing`](crate::law::Law::timing). Its window then holds in recovery too: the host neither reduces it step by
    /// step nor brings it back. The host has a gap from the start.
    pub delivery: bool,
    /// With [`Requirements::delivery`]: the parts of it that the law does without.
    pub spared: Spared,
    /// True if a window below two packets is a rate: as many packets a round trip, one after the other. Of other laws at
    /// least one packet is in flight.
    pub fractions: bool,
    /// True if it requires [`Observation::in_flight`] with [`Event::Congestion`] and [`Event::Timeout`]: FlightSize of RFC 5681,
    /// half of which is the new ssthresh by equation (4). A flow that uses its window has a FlightSize of its window.
    pub flight_size: bool,
    /// True if it names a controller of the kernel: no other host may run it.
    pub kernel: bool,
}

impl Requirements {
    /// Its requirements of single packets, in words: only a world of packets has such a thing.
    pub fn of_packets(&self) -> Option<&'static str> {
        if self.delivery {
            Some("rate samples and the fate of each packet")
        } else if self.fractions {
            Some("windows below two packets as rates")
        } else {
            None
        }
    }

    /// The requirements of a reliable sender that reads nothing but acknowledgements and losses.
    pub const LEAST: Self = Self {
        tick_s: None,
        marks: Marks::Ignored,
        average_rtt: None,
        reliable: true,
        now: false,
        low_latency: false,
        bottleneck: None,
        retransmit_on_duplicates: false,
        delivery: false,
        spared: Spared::NOTHING,
        fractions: false,
        flight_size: false,
        kernel: false,
    };
}

/// The meaning of a congestion echo to a controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Marks {
    /// A congestion event, as loss is (RFC 3168).
    Congestion,
    /// A sample of the path's price, by this estimator; needs an echo per packet.
    Price(MarkEstimate),
    /// Counts in [`Event::Ack`], and nothing else (DCTCP); needs an echo per packet.
    Counted,
    /// Nothing.
    Ignored,
}

/// An exponential average of the round-trip time, one step a sample, with weight `min(over_window / window, most)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RttAverage {
    /// [packets]
    pub over_window: f64,
    /// The largest weight, in (0, 1].
    pub most: f64,
}

impl RttAverage {
    /// Each sample with the same weight, in (0, 1], under any window.
    pub fn weighing(weight: f64) -> Self {
        Self { over_window: f64::MAX, most: weight }
    }
}
