//! Behaviour of senders and receivers besides the law.

use penstock_law::quantity::Time;

use super::{Remember, RttNoise};

/// A kind of host. Every value of [`Profile::options`] has a key of its own, which wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The senders of ns-2 and of the papers before 2010.
    Ns2,
    /// RFC 5681, 6298, 8985 and 9937, and the experimental RFC 3465, 3522 and 6928.
    Rfc,
    /// A current Linux kernel.
    Linux,
    /// A stack of QUIC (RFC 9002), as far as this format can describe it.
    Quic,
}

/// Which segments are sent again, and when recovery ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Selective acknowledgements (RFC 6675), by order of transmission as in RFC 9002.
    Sack,
    /// RFC 6582.
    NewReno,
    /// RFC 2581: fast recovery ends with the first acknowledgement of new data.
    Reno,
    /// By time: RACK-TLP (RFC 8985), with the parts in [`RackOptions`].
    Rack,
}

/// The parts of recovery by time, each of which can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RackOptions {
    /// Proportional rate reduction (RFC 9937).
    pub prr: bool,
    /// Tail loss probes (RFC 8985, section 7).
    pub tail_loss_probe: bool,
    /// Whether duplicate SACKs (RFC 2883) widen the reordering window.
    pub dsack: bool,
    /// Whether a congestion event is undone that turns out to have been none (RFC 3522).
    pub undo: bool,
}

impl RackOptions {
    /// All of it.
    pub const ALL: Self = Self { prr: true, tail_loss_probe: true, dsack: true, undo: true };
}

/// The quantity that the least retransmission timeout bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rto {
    /// The whole timeout (RFC 6298, rule 2.4).
    Rfc6298,
    /// The term added to the smoothed round trip, estimated as Linux does (`tcp_rtt_estimator` of `net/ipv4/tcp_input.c`).
    Linux,
    /// Four variations of the round trip in QUIC's probe timeout (RFC 9002, section 6.2.1: kGranularity), which declares nothing lost.
    Rfc9002,
}

/// Feedback of congestion marks by the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnEcho {
    /// Each acknowledgement lists which of its packets were marked.
    PerPacket,
    /// Every acknowledgement echoes from a mark until the sender sets CWR (RFC 3168).
    Classic,
    /// Every acknowledgement has a counter of marked packets (RFC 9768).
    Accurate,
}

/// Support of ECN by a receiver of which accurate feedback is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiverEcn {
    /// Accurate ECN (RFC 9768).
    Accurate,
    /// RFC 3168 only: the connection falls back to it.
    Classic,
}

/// When packets leave within the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// At the gap in the law's output; a law without one is clocked by acknowledgements.
    Law,
    /// Clocked by acknowledgements whatever the law's output.
    Off,
    /// A quarter faster than a window a smoothed round trip, in bursts (RFC 9002, section 7.7, and quinn): the law's gap makes the
    /// window less.
    Window,
}

/// Limits of a sender that a law paces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The window, and the gap where the law sets one.
    Window,
    /// The gap alone, from the moment on that the law sets one.
    Pace,
}

/// The numbers a law computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `f64`.
    Real,
    /// 64-bit fixed point with 32 binary digits: exactly the arithmetic of the kernel.
    Fixed,
}

/// Bottleneck that the law of a sender observes instead of estimates: multiples of the true values of the
/// slowest link on the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownBottleneck {
    /// The observed capacity over the true one.
    pub capacity: f64,
    /// The observed size of the buffer over the true one.
    pub buffer: f64,
}

/// Behaviour of senders and receivers besides the law.
#[derive(Debug, Clone, PartialEq)]
pub struct SenderOptions {
    /// The host that the other values are of, where the file has no key of theirs.
    pub profile: Profile,
    /// Window at the start [packets].
    pub initial_window: f64,
    /// Where slow start ends before the first congestion event [packets]; infinite if it does not.
    pub initial_ssthresh: f64,
    /// Packets in flight at most, whatever the law's window [packets]; infinite if the receiver takes all.
    pub receive_window: f64,
    /// Least retransmission timeout, or the least part of it (1 s in RFC 6298, 0.2 s in systems, 1 ms in RFC 9002).
    pub min_rto: Time,
    /// Which of these.
    pub rto: Rto,
    /// The clock of the timer, where it is coarse.
    pub tick: Option<Time>,
    /// Which segments are sent again.
    pub recovery: Recovery,
    /// The parts of recovery by time; all of them where recovery is another.
    pub rack: RackOptions,
    /// Packets an acknowledgement waits for: 1 or 2.
    pub delayed_ack: u32,
    /// Packets of a connection that are acknowledged one by one before acknowledgements wait.
    pub quick_acks: u32,
    /// How long an acknowledgement waits for a second packet.
    pub max_ack_delay: Time,
    /// Whether only the packet after a gap in the numbers of packets is acknowledged at once (RFC 9000, section 13.2.1), and not each
    /// one while a segment is missing (RFC 5681, section 4.2).
    pub ack_gap_once: bool,
    /// Feedback of marks, if the receiver supports it: see [`SenderOptions::echo`].
    pub ecn_echo: EcnEcho,
    /// Whether acknowledgements with accurate feedback have its option besides the field in the header.
    pub accecn_option: bool,
    /// Support of accurate feedback by the receiver.
    pub receiver_ecn: ReceiverEcn,
    /// Blocks of selective acknowledgements in an acknowledgement, at the most.
    pub sack_blocks: u32,
    /// Whether a connection opens with SYN and SYN-ACK.
    pub handshake: bool,
    /// When packets leave within the window.
    pub pacing: Pacing,
    /// Whether the window limits the packets in flight.
    pub limit: Limit,
    /// Packets that leave together, as segmentation offload sends them.
    pub burst: u32,
    /// Whether the first two duplicate acknowledgements each send a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// Errors of its round-trip samples: some are too long.
    pub rtt_noise: Option<RttNoise>,
    /// Bottleneck that the law observes instead of estimates.
    pub bottleneck: Option<KnownBottleneck>,
    /// Knowledge with which a transfer after the first begins.
    pub remember: Remember,
    /// The numbers the law computes with.
    pub arithmetic: Arithmetic,
}

impl SenderOptions {
    /// Feedback of marks after both ends have agreed (RFC 9768, section 3.1.1).
    pub fn echo(&self) -> EcnEcho {
        match (self.ecn_echo, self.receiver_ecn) {
            (EcnEcho::Accurate, ReceiverEcn::Classic) => EcnEcho::Classic,
            (echo, _) => echo,
        }
    }

    /// Whether acknowledgements are selective.
    pub fn selective(&self) -> bool {
        matches!(self.recovery, Recovery::Sack | Recovery::Rack)
    }
}

impl Default for SenderOptions {
    fn default() -> Self {
        Self {
            profile: Profile::Ns2,
            initial_window: 2.0,
            initial_ssthresh: f64::INFINITY,
            receive_window: f64::INFINITY,
            min_rto: Time(Time::PER_SECOND / 5),
            rto: Rto::Rfc6298,
            tick: None,
            recovery: Recovery::Sack,
            rack: RackOptions::ALL,
            delayed_ack: 1,
            quick_acks: 0,
            // The least that systems have, as Linux's `TCP_DELACK_MIN`; RFC 5681 allows 500 ms.
            max_ack_delay: Time(Time::PER_SECOND / 25),
            ack_gap_once: false,
            ecn_echo: EcnEcho::PerPacket,
            accecn_option: true,
            receiver_ecn: ReceiverEcn::Accurate,
            sack_blocks: 1,
            handshake: false,
            pacing: Pacing::Law,
            limit: Limit::Window,
            burst: 1,
            limited_transmit: false,
            rtt_noise: None,
            bottleneck: None,
            remember: Remember::Nothing,
            arithmetic: Arithmetic::Real,
        }
    }
}
