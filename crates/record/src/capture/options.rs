//! The options that the ends of a connection negotiate, and the options of its packets.

use std::io;

use etherparse::TcpOptionElement::{self, Noop};
use etherparse::TcpOptions;
use penstock_law::cc::Marks;
use penstock_scenario::model::{EcnEcho, Group, Packet, ReceiverEcn};

/// RFC 9768, section 3.2.3: with the counter of ECT(0) first, and with that of ECT(1).
const ACCECN0: u8 = 172;
const ACCECN1: u8 = 174;
/// Options of a TCP header [B].
const MOST: usize = 40;

/// AE, CWR and ECE, which are the ACE field.
pub(super) const AE: u8 = 4;
pub(super) const CWR: u8 = 2;
pub(super) const ECE: u8 = 1;
/// Section 3.1.1: a SYN requests it by all three, and this is the reply to one that arrived as not-ECT.
pub(super) const ASKS: u8 = AE | CWR | ECE;
pub(super) const NOT_ECT: u8 = CWR;
/// Section 3.2.1: initial value of the field and the counters.
pub(super) const FIRST: u8 = 5;
pub(super) const FIRST_BYTES: [u32; 3] = [1, 0, 1];

/// The options that the handshake of a group's flows negotiates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behaviour {
    /// Whether acknowledgements are selective.
    pub(super) selective: bool,
    /// Whether packets have timestamps: four blocks leave them no space.
    pub(super) stamped: bool,
    /// The window that either end offers, without and with its scale.
    pub(super) plain: u16,
    pub(super) scaled: u16,
    pub(super) scale: u8,
    /// Accurate ECN: whether the sender requests it, the receiver agrees, its option is used, and ECT(1) comes first in it.
    pub(super) asks: bool,
    pub(super) agrees: bool,
    pub(super) counts: bool,
    pub(super) low_latency: bool,
    /// A full packet's payload, and its overhead on the wire [B].
    pub(super) payload: u32,
    pub(super) overhead: u32,
}

impl Behaviour {
    /// Of a group.
    pub(super) fn of(group: &Group, packet: Packet) -> Self {
        let own = group.packet(packet);
        let window = group.sender.receive_window * own.payload.0 as f64;
        let needs = group.requirements(packet).ok();
        let marked = needs.is_some_and(|needs| needs.marks != Marks::Ignored);
        let asks = marked && group.sender.ecn_echo == EcnEcho::Accurate;
        let agrees = asks && group.sender.receiver_ecn == ReceiverEcn::Accurate;
        Self {
            stamped: !group.sender.selective() || group.sender.sack_blocks < 4,
            asks,
            agrees,
            counts: agrees && group.sender.accecn_option,
            low_latency: needs.is_some_and(|needs| needs.low_latency),
            payload: own.payload.0 as u32,
            overhead: own.wire.0.saturating_sub(own.payload.0) as u32,
            ..Self::new(window, group.sender.selective())
        }
    }

    /// A window of so many bytes, rounded up to its unit (RFC 7323, section 2.2); 2^30 B at most.
    pub(super) fn new(window: f64, selective: bool) -> Self {
        // A cast of an infinite number is the largest there is.
        let bytes = (window.ceil() as u64).clamp(1, u64::from(u16::MAX) << 14);
        let said = |scale: u8| bytes.div_ceil(1 << scale);
        let scale = (0..14).find(|scale| u16::try_from(said(*scale)).is_ok()).unwrap_or(14);
        let field = |n: u64| u16::try_from(n).unwrap_or(u16::MAX);
        let (plain, scaled) = (field(bytes), field(said(scale)));
        let (stamped, asks, agrees, counts, low_latency) = (true, false, false, false, false);
        Self { selective, stamped, plain, scaled, scale, asks, agrees, counts, low_latency, payload: 0, overhead: 0 }
    }

    /// The options of a packet that opens no connection: timestamps, blocks, and the AccECN Option with as many counters as
    /// fit.
    pub(super) fn options(
        self,
        stamps: TcpOptionElement,
        blocks: &[(u32, u32)],
        counters: Option<[u32; 3]>,
    ) -> io::Result<TcpOptions> {
        let mut elements = if self.stamped { vec![Noop, Noop, stamps] } else { Vec::new() };
        if let Some((first, more)) = blocks.split_first().filter(|_| self.selective) {
            let mut others = [None; 3];
            for (place, block) in others.iter_mut().zip(more) {
                *place = Some(*block);
            }
            elements.extend([Noop, Noop, TcpOptionElement::SelectiveAcknowledgement(*first, others)]);
        }
        self.with_counters(&elements, counters)
    }

    /// These options, and the AccECN Option behind them.
    pub(super) fn with_counters(
        self,
        elements: &[TcpOptionElement],
        counters: Option<[u32; 3]>,
    ) -> io::Result<TcpOptions> {
        let options = TcpOptions::try_from_elements(elements).map_err(io::Error::other)?;
        let Some([ect0, ce, ect1]) = counters else { return Ok(options) };
        let mut bytes = options.as_slice().to_vec();
        let (kind, counters) = if self.low_latency { (ACCECN1, [ect1, ce, ect0]) } else { (ACCECN0, [ect0, ce, ect1]) };
        let fits = (MOST.saturating_sub(bytes.len() + 2) / 3).min(counters.len());
        if fits > 0 {
            bytes.extend([kind, 2 + 3 * fits as u8]);
            bytes.extend(counters[..fits].iter().flat_map(|counter| counter.to_be_bytes().into_iter().skip(1)));
        }
        TcpOptions::try_from_slice(&bytes).map_err(io::Error::other)
    }
}
