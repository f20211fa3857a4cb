//! How senders and receivers behave besides the law.

use penstock_law::quantity::Time;

use super::{Remember, RttNoise};

/// A kind of host. Every value of [`Profile::options`] can be said otherwise by its own key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The senders of ns-2 and of the papers before 2010.
    Ns2,
    /// What the RFCs of the standards track recommend.
    Rfc,
    /// A current Linux kernel.
    Linux,
    /// A stack of QUIC (RFC 9002), as far as this format can say it.
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
    /// By time: RACK-TLP (RFC 8985), with the parts that [`RackOptions`] says.
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

/// What the least retransmission timeout bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rto {
    /// The whole timeout (RFC 6298, rule 2.4).
    Rfc6298,
    /// What is added to the smoothed round trip, estimated as Linux does (`tcp_rtt_estimator` of `net/ipv4/tcp_input.c`).
    Linux,
}

/// How the receiver tells of congestion marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnEcho {
    /// Each acknowledgement says which of its packets were marked.
    PerPacket,
    /// Every acknowledgement echoes from a mark until the sender says it has reduced its window (RFC 3168).
    Classic,
    /// Every acknowledgement has a counter of marked packets (RFC 9768).
    Accurate,
}

/// What a receiver understands of ECN, asked for accurate feedback.
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
    /// At the gap the law says; a law that says none is clocked by acknowledgements.
    Law,
    /// Clocked by acknowledgements whatever the law says.
    Off,
}

/// What limits a sender that a law paces.
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
    /// 64-bit fixed point with 32 binary digits: exactly what the kernel computes.
    Fixed,
}

/// What the law of a sender observes of its bottleneck in the place of estimates: multiples of the true values of the
/// slowest link on the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownBottleneck {
    /// The observed capacity over the true one.
    pub capacity: f64,
    /// The observed size of the buffer over the true one.
    pub buffer: f64,
}

/// How senders and receivers behave besides the law.
#[derive(Debug, Clone, PartialEq)]
pub struct SenderOptions {
    /// The host that the other values are of, where the file does not say otherwise.
    pub profile: Profile,
    /// Window at the start [packets].
    pub initial_window: f64,
    /// Where slow start ends before the first congestion event [packets]; infinite if it does not.
    pub initial_ssthresh: f64,
    /// Packets in flight at most, whatever the law says [packets]; infinite if the receiver takes all.
    pub receive_window: f64,
    /// Least retransmission timeout, or the least part of it (RFC 6298 says 1 s, systems 0.2 s).
    pub min_rto: Time,
    /// Which of the two.
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
    /// How marks are told, if the receiver knows how: see [`SenderOptions::echo`].
    pub ecn_echo: EcnEcho,
    /// Whether acknowledgements with accurate feedback have its option besides the field in the header.
    pub accecn_option: bool,
    /// Whether the receiver knows accurate feedback.
    pub receiver_ecn: ReceiverEcn,
    /// Blocks of selective acknowledgements in an acknowledgement, at the most.
    pub sack_blocks: u32,
    /// Whether a connection opens with a SYN and its answer.
    pub handshake: bool,
    /// When packets leave within the window.
    pub pacing: Pacing,
    /// Whether the window limits what is in flight.
    pub limit: Limit,
    /// Packets that leave together, as segmentation offload sends them.
    pub burst: u32,
    /// Whether the first two duplicate acknowledgements each send a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// Errors of its round-trip samples: some are too long.
    pub rtt_noise: Option<RttNoise>,
    /// What the law observes of its bottleneck in the place of estimates.
    pub bottleneck: Option<KnownBottleneck>,
    /// What a transfer after the first begins with.
    pub remember: Remember,
    /// The numbers the law computes with.
    pub arithmetic: Arithmetic,
}

impl SenderOptions {
    /// How marks are told, after both ends have agreed (RFC 9768, section 3.1.1).
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
