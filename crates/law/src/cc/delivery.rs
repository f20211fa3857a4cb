//! The details for a law that requires [`Requirements::delivery`](super::Requirements::delivery): the fate of each
//! packet, and rate samples; and the output of such a law besides its window and gap.
//!
//! Source: draft-ietf-ccwg-bbr, section "Delivery Rate Samples", which was draft-cheng-iccrg-delivery-rate-estimation. Linux
//! has the same in `struct rate_sample`, for controllers with `cong_control`. Here a packet stands for its bytes.

use crate::quantity::Time;

/// An event of the packets of a flow, and the state of the flow.
///
/// Every transmission is delivered, lost or in flight: `sent = delivered + lost + in_flight`, at each event. The counts begin
/// with the connection. They may fall: a loss turns out to be none, or a tail loss probe replaces the packet that it repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delivery {
    /// The event.
    pub event: DeliveryEvent,
    /// Its time, since the start of the run.
    pub now: Time,
    /// Packets sent, those sent again included.
    pub sent: u64,
    /// Packets delivered, by cumulative or selective acknowledgements.
    pub delivered: u64,
    /// Packets lost, as far as the sender knows.
    pub lost: u64,
    /// Packets in flight.
    pub in_flight: u64,
    /// The flow was short of data, or its receiver of buffer, and packets of that time are still in flight.
    pub app_limited: bool,
    /// The window, and nothing else, held a packet back since the last acknowledgement.
    pub window_limited: bool,
    /// Uniform in [0, 1), drawn for this event, from a stream of the flow's own.
    pub uniform: f64,
}

/// The event.
///
/// An acknowledgement may be several events, in this order: the recovery that it undoes; each packet that is lost; a recovery
/// that is renewed; one that begins; one that ends; the acknowledgement. Events of [`Event`](super::Event) come as to every law. Of the same
/// acknowledgement, [`Event::Congestion`](super::Event::Congestion) comes before the recovery that it begins, and the others come last.
/// A recovery that begins as the last one ends is the same one to a law, as Linux's BBR sees it: the law hears that it is renewed, then
/// `Congestion`. After a timeout the law hears that the recovery begins.
/// In quinn, losses, a recovery that begins and one that ends come after the acknowledgement; the end after a timeout comes before;
/// no recovery is renewed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DeliveryEvent {
    /// An acknowledgement arrived, in recovery too.
    Ack(AckSample),
    /// A packet is lost, in recovery too.
    Lost(Transmission),
    /// Loss recovery began.
    RecoveryEntered,
    /// Loss recovery would be over, and the next one begins with the same acknowledgement.
    RecoveryRenewed,
    /// Loss recovery is over; the one after a timeout too.
    RecoveryLeft,
    /// The last recovery was spurious: the packets taken for lost had come late.
    RecoveryUndone,
    /// The retransmission timer expired. The packets that count as lost come before.
    Timeout,
    /// The last timeout was for nothing.
    TimeoutUndone,
    /// The time that the law named in [`Timing::timer`] has come.
    Timer,
    /// Data are sent after the flow was short of them, and nothing is in flight.
    IdleRestart,
}

/// An acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AckSample {
    /// Packets newly delivered.
    pub packets: u32,
    /// Those among them whose acknowledgement carried a congestion echo.
    pub marked: u32,
    /// Packets lost since the acknowledgement before.
    pub lost: u32,
    /// Packets in flight before it.
    pub in_flight_before: u64,
    /// The round trip that it measured.
    pub rtt: Option<Time>,
    /// The delivery rate, if it is valid: the interval is at least the smallest round trip.
    pub rate: Option<RateSample>,
}

/// Packets delivered in an interval.
///
/// The interval is the longer of two: that in which these packets were sent, and that in which they were acknowledged. So
/// acknowledgements that were held up, and come together, cannot make the rate larger than the rate of sending.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSample {
    /// Packets delivered within the interval.
    pub delivered: u64,
    /// The interval.
    pub interval: Time,
    /// The newest packet that the acknowledgement delivers, when it was sent.
    pub then: Transmission,
}

impl RateSample {
    /// The rate [packets/s].
    pub fn packets_per_s(&self) -> f64 {
        self.delivered as f64 / self.interval.seconds()
    }
}

/// The state of the flow when it sent a packet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transmission {
    /// The time of sending.
    pub sent: Time,
    /// Packets delivered by then.
    pub delivered: u64,
    /// Packets lost by then.
    pub lost: u64,
    /// Packets in flight then, this one included.
    pub in_flight: u64,
    /// See [`Delivery::app_limited`].
    pub app_limited: bool,
}

/// Parts of deliveries that a law does without. Its host may leave them out, since they cost time for each packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spared {
    /// True if it reads no [`AckSample::rate`] and no [`Transmission`] of a lost packet. The one may be none, and the numbers of the
    /// other zero.
    pub transmissions: bool,
    /// True if it reads no [`Delivery::uniform`], which may be zero.
    pub uniform: bool,
    /// True if [`Event::Ack`](super::Event::Ack) changes nothing of it. It may not come.
    pub acks: bool,
    /// True if its [`Timing`] is the default at any time. The host may not ask for it.
    pub timing: bool,
}

impl Spared {
    /// The host leaves out nothing.
    pub const NOTHING: Self = Self { transmissions: false, uniform: false, acks: false, timing: false };
}

/// The output of a law besides its window and gap, if it requires deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// So many packets may leave together, and the next so many gaps later: the send quantum [packets].
    pub quantum: u32,
    /// The time of the next [`DeliveryEvent::Timer`]. A time that is over comes at once; none never.
    pub timer: Option<Time>,
}

impl Default for Timing {
    /// One packet after the other, and no timer.
    fn default() -> Self {
        Self { quantum: 1, timer: None }
    }
}
