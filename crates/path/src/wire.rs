//! Headers of a packet that the path must know: its destination, whether it can be marked, and where its headers end.
//!
//! Pure functions on bytes. Nothing that a program can send makes them panic: what is not a packet is a [`Flaw`], and what
//! is one but not understood is passed on whole.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The header that stands in front of each packet on a TUN device with `IFF_VNET_HDR`: `struct virtio_net_hdr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offload {
    /// Whether the checksum from `sum_start` on is still to be computed: `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
    pub checksum_partial: bool,
    /// The kind of super-packet.
    pub kind: Kind,
    /// Whether a super-packet of TCP has CWR set: `VIRTIO_NET_HDR_GSO_ECN`.
    pub cwr: bool,
    /// Bytes of headers; a hint.
    pub header: u16,
    /// Payload of each segment but the last [B].
    pub segment: u16,
    /// Where the sum starts, and where in the bytes after it is to be put [B].
    pub sum: (u16, u16),
}

/// Kinds of super-packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A packet as it goes over the wire.
    #[default]
    Plain,
    /// Segments of TCP over IPv4.
    Tcp4,
    /// Segments of TCP over IPv6.
    Tcp6,
    /// An unrequested kind.
    Other(u8),
}

const CHECKSUM_PARTIAL: u8 = 1;
const ECN: u8 = 0x80;

impl Offload {
    /// Its size [B].
    pub const BYTES: usize = 10;

    /// As the device gave it.
    pub fn read(bytes: [u8; Self::BYTES]) -> Self {
        let [flags, kind, a, b, c, d, e, f, g, h] = bytes;
        let word = |a, b| u16::from_ne_bytes([a, b]);
        Self {
            checksum_partial: flags & CHECKSUM_PARTIAL != 0,
            kind: match kind & !ECN {
                0 => Kind::Plain,
                1 => Kind::Tcp4,
                4 => Kind::Tcp6,
                other => Kind::Other(other),
            },
            cwr: kind & ECN != 0,
            header: word(a, b),
            segment: word(c, d),
            sum: (word(e, f), word(g, h)),
        }
    }

    /// As the device takes it.
    pub fn write(self) -> [u8; Self::BYTES] {
        let kind = match self.kind {
            Kind::Plain => 0,
            Kind::Tcp4 => 1,
            Kind::Tcp6 => 4,
            Kind::Other(other) => other,
        };
        let [a, b] = self.header.to_ne_bytes();
        let [c, d] = self.segment.to_ne_bytes();
        let [e, f] = self.sum.0.to_ne_bytes();
        let [g, h] = self.sum.1.to_ne_bytes();
        let flags = if self.checksum_partial { CHECKSUM_PARTIAL } else { 0 };
        [flags, kind | if self.cwr { ECN } else { 0 }, a, b, c, d, e, f, g, h]
    }
}

/// Why bytes are not a packet that a router would pass on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Neither IPv4 nor IPv6.
    #[error("not an IP packet")]
    Version,
    /// It ends within its headers, or before its length.
    #[error("cut short")]
    Short,
    /// A length field has an impossible value.
    #[error("an impossible length")]
    Length,
    /// A super-packet that contradicts the device's header.
    #[error("the packet is not the super-packet that the device's header describes")]
    Offload,
}

/// Parsed headers of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headers {
    /// Where it comes from.
    pub source: IpAddr,
    /// Where it goes.
    pub destination: IpAddr,
    /// Its length [B]; bytes after it are not part of it.
    pub total: usize,
    /// The two bits of ECN.
    pub ecn: u8,
    /// Bytes of the IP header, extension headers left out.
    pub ip: usize,
    /// Content of the packet.
    pub content: Content,
}

/// Content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// TCP, not a fragment, whose header of so many bytes is whole.
    Tcp {
        /// Bytes of the TCP header.
        header: usize,
    },
    /// UDP, or its first fragment.
    Udp,
    /// Anything else: other protocols, fragments, and content hidden by an IPv6 extension header.
    Other,
}

impl Headers {
    /// Bytes up to the payload of TCP; up to the end of the IP header elsewhere.
    pub fn end(&self) -> usize {
        match self.content {
            Content::Tcp { header } => self.ip + header,
            Content::Udp | Content::Other => self.ip,
        }
    }

    /// Whether it carries user's data.
    pub fn data(&self) -> bool {
        match self.content {
            Content::Tcp { .. } => self.total > self.end(),
            Content::Udp => true,
            Content::Other => false,
        }
    }

    /// Whether it may be marked: ECT(0), ECT(1) or CE.
    pub fn markable(&self) -> bool {
        self.ecn != 0
    }

    /// Whether it requests low latency: ECT(1) or CE (RFC 9331).
    pub fn low_latency(&self) -> bool {
        self.ecn & 1 == 1
    }
}

pub(crate) const TCP: u8 = 6;
const UDP: u8 = 17;

/// Reads the headers of a packet.
///
/// # Errors
/// A packet that a router would not pass on.
pub fn parse(bytes: &[u8]) -> Result<Headers, Flaw> {
    match bytes.first().map(|byte| byte >> 4) {
        Some(4) => parse4(bytes),
        Some(6) => parse6(bytes),
        _ => Err(Flaw::Version),
    }
}

fn parse4(bytes: &[u8]) -> Result<Headers, Flaw> {
    let fixed: &[u8; 20] = bytes.first_chunk().ok_or(Flaw::Short)?;
    let ip = usize::from(fixed[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if ip < 20 || total < ip {
        return Err(Flaw::Length);
    }
    if total > bytes.len() {
        return Err(Flaw::Short);
    }
    // More fragments, or an offset: the transport header is not here, or its payload is not whole.
    let fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0;
    let address = |at: usize| IpAddr::V4(Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]));
    Ok(Headers {
        source: address(12),
        destination: address(16),
        total,
        ecn: fixed[1] & 3,
        ip,
        content: if fragment { Content::Other } else { content(fixed[9], &bytes[ip..total]) },
    })
}

fn parse6(bytes: &[u8]) -> Result<Headers, Flaw> {
    const IP: usize = 40;
    let fixed: &[u8; IP] = bytes.first_chunk().ok_or(Flaw::Short)?;
    let total = IP + usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    if total > bytes.len() {
        return Err(Flaw::Short);
    }
    let address = |at: usize| {
        let octets: [u8; 16] = fixed[at..at + 16].try_into().expect("sixteen of forty");
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    Ok(Headers {
        source: address(8),
        destination: address(24),
        total,
        ecn: fixed[1] >> 4 & 3,
        ip: IP,
        content: content(fixed[6], &bytes[IP..total]),
    })
}

fn content(protocol: u8, transport: &[u8]) -> Content {
    match protocol {
        TCP => match transport.get(12).map(|byte| usize::from(byte >> 4) * 4) {
            Some(header) if (20..=transport.len()).contains(&header) => Content::Tcp { header },
            _ => Content::Other,
        },
        UDP => Content::Udp,
        _ => Content::Other,
    }
}

/// Sets Congestion Experienced. `bytes` begins with the IP header that was parsed.
pub fn mark(bytes: &mut [u8]) {
    change_class(bytes, |class| class | 3);
}

/// Sets the field of ECN (RFC 3168), two bits, where it is another. `bytes` begins with the IP header that was parsed.
pub(crate) fn set_ecn(bytes: &mut [u8], ecn: u8) {
    let four = bytes.first().is_some_and(|byte| byte >> 4 == 4);
    let field = bytes.get(1).map(|byte| if four { byte & 3 } else { byte >> 4 & 3 });
    if field != Some(ecn) {
        change_class(bytes, |class| class & !3 | ecn);
    }
}

/// Sets the codepoint of differentiated services (RFC 2474), six bits, and leaves those of ECN. `bytes` begins with the IP
/// header that was parsed.
pub(crate) fn set_codepoint(bytes: &mut [u8], codepoint: u8) {
    change_class(bytes, |class| codepoint << 2 | class & 3);
}

/// Changes the octet of ECN and differentiated services, and with it IPv4's header checksum.
fn change_class(bytes: &mut [u8], change: impl Fn(u8) -> u8) {
    match bytes.first().map(|byte| byte >> 4) {
        Some(4) if bytes.len() >= 12 => {
            let before = u16::from_be_bytes([bytes[0], bytes[1]]);
            bytes[1] = change(bytes[1]);
            let after = u16::from_be_bytes([bytes[0], bytes[1]]);
            // RFC 1624, equation (3): HC' = ~(~HC + ~m + m').
            let sum = u16::from_be_bytes([bytes[10], bytes[11]]);
            let sum = !fold(u32::from(!sum) + u32::from(!before) + u32::from(after));
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        Some(6) if bytes.len() >= 2 => {
            let class = change(bytes[0] << 4 | bytes[1] >> 4);
            bytes[0] = 6 << 4 | class >> 4;
            bytes[1] = class << 4 | bytes[1] & 15;
        }
        _ => {}
    }
}

/// Carries added back in: the ones' complement sum of the words.
pub(crate) fn fold(mut sum: u32) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Words added up, a last odd byte as the upper half of one.
pub(crate) fn add(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<2>();
    let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    sum + rest.first().map_or(0, |byte| u32::from(*byte) << 8)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// TCP over IPv4 or IPv6 with valid sums, the way a sender without offloads makes it.
    pub(crate) fn tcp(six: bool, ecn: u8, sequence: u32, flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let header = 20 + options.len();
        let mut transport = vec![0; header];
        transport[0..4].copy_from_slice(&[0x12, 0x34, 0x56, 0x78]);
        transport[4..8].copy_from_slice(&sequence.to_be_bytes());
        transport[8..12].copy_from_slice(&77u32.to_be_bytes());
        transport[12] = (header as u8 / 4) << 4;
        transport[13] = flags;
        transport[14..16].copy_from_slice(&500u16.to_be_bytes());
        transport[20..].copy_from_slice(options);
        transport.extend_from_slice(payload);
        ip(six, ecn, TCP, &transport)
    }

    /// A packet of that protocol; the sum of TCP is filled in.
    pub(crate) fn ip(six: bool, ecn: u8, protocol: u8, transport: &[u8]) -> Vec<u8> {
        let length = transport.len() as u16;
        let mut bytes = if six {
            let mut fixed = vec![0x60, ecn << 4, 0, 9];
            fixed.extend(length.to_be_bytes());
            fixed.extend([protocol, 64]);
            fixed.extend([0xfd; 16]);
            fixed.extend([0xfe; 16]);
            fixed
        } else {
            let mut fixed = vec![0x45, ecn];
            fixed.extend((length + 20).to_be_bytes());
            fixed.extend([0, 42, 0x40, 0, 64, protocol, 0, 0, 10, 77, 0, 1, 10, 78, 0, 1]);
            let sum = !fold(add(&fixed));
            fixed[10..12].copy_from_slice(&sum.to_be_bytes());
            fixed
        };
        let at = bytes.len();
        bytes.extend_from_slice(transport);
        if protocol == TCP && transport.len() >= 20 {
            let sum = !tcp_sum(&bytes);
            bytes[at + 16..at + 18].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }

    /// The ones' complement sum over pseudo-header and segment: all ones where the checksum is right.
    pub(crate) fn tcp_sum(bytes: &[u8]) -> u16 {
        let (addresses, transport) = if bytes[0] >> 4 == 6 { (&bytes[8..40], 40) } else { (&bytes[12..20], 20) };
        let length = (bytes.len() - transport) as u32;
        fold(add(addresses) + u32::from(TCP) + length + add(&bytes[transport..]))
    }

    #[test]
    fn headers_of_tcp_udp_icmp_and_fragments() {
        for six in [false, true] {
            let at = if six { 40 } else { 20 };
            let headers = parse(&tcp(six, 2, 1, 0x10, &[1; 12], b"data")).unwrap();
            assert_eq!(
                (headers.content, headers.end(), headers.total),
                (Content::Tcp { header: 32 }, at + 32, at + 36)
            );
            assert!(headers.data() && headers.markable() && !headers.low_latency());
            assert!(!parse(&tcp(six, 0, 1, 0x10, &[], &[])).unwrap().data(), "an acknowledgement");
            let udp = parse(&ip(six, 1, UDP, &[0; 8])).unwrap();
            assert!(udp.content == Content::Udp && udp.data() && udp.low_latency());
            let icmp = parse(&ip(six, 0, if six { 58 } else { 1 }, &[8, 0, 0, 0])).unwrap();
            assert!(icmp.content == Content::Other && !icmp.data() && !icmp.markable());
        }
        let mut fragment = tcp(false, 0, 1, 0x10, &[], b"data");
        fragment[6] = 0x20;
        assert_eq!(parse(&fragment).unwrap().content, Content::Other);
        let extended = ip(true, 0, 44, &[0; 30]);
        assert_eq!(parse(&extended).unwrap().content, Content::Other, "a fragment header of IPv6");
    }

    #[test]
    fn what_is_no_packet_is_named() {
        let whole = tcp(false, 0, 1, 0x10, &[], b"data");
        assert_eq!(parse(&[]), Err(Flaw::Version));
        assert_eq!(parse(&[0x50; 40]), Err(Flaw::Version));
        assert_eq!(parse(&whole[..19]), Err(Flaw::Short));
        assert_eq!(parse(&whole[..43]), Err(Flaw::Short), "the length says 44");
        assert_eq!(parse(&[whole.as_slice(), &[0; 9]].concat()).unwrap().total, 44, "padding is not part of it");
        let mut wrong = whole.clone();
        wrong[0] = 0x44;
        assert_eq!(parse(&wrong), Err(Flaw::Length));
        let mut wrong = whole.clone();
        wrong[3] = 19;
        assert_eq!(parse(&wrong), Err(Flaw::Length));
        let mut wrong = whole;
        wrong[32] = 0xf0;
        assert_eq!(parse(&wrong).unwrap().content, Content::Other, "TCP's header goes beyond the packet");
    }

    /// Whatever the header, a mark leaves its sum as right as it was (RFC 1624), and changes nothing else.
    #[test]
    fn a_mark_keeps_the_header_sum() {
        for ecn in 0..4 {
            for last in 0..=255 {
                let mut bytes = ip(false, ecn, 1, &[last; 9]);
                bytes[4] = last;
                bytes[10..12].copy_from_slice(&[0, 0]);
                let sum = !fold(add(&bytes[..20]));
                bytes[10..12].copy_from_slice(&sum.to_be_bytes());
                let before = bytes.clone();
                mark(&mut bytes);
                assert_eq!(fold(add(&bytes[..20])), 0xffff, "{before:?}");
                assert_eq!(bytes[1] & 3, 3);
                assert_eq!(bytes[20..], before[20..]);
            }
            let mut six = tcp(true, ecn, 1, 0, &[], b"x");
            let before = parse(&six).unwrap();
            mark(&mut six);
            assert_eq!(parse(&six), Ok(Headers { ecn: 3, ..before }));
            assert_eq!(tcp_sum(&six), 0xffff);
        }
    }

    /// Any codepoint over any other: ECN, the header sum and the other bytes stay as right as they were.
    #[test]
    fn a_codepoint_leaves_the_rest_alone() {
        for (before, after) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
            for ecn in 0..4 {
                for six in [false, true] {
                    let mut bytes = tcp(six, ecn, 1, 0, &[], b"x");
                    set_codepoint(&mut bytes, before);
                    let mut headers = parse(&bytes).unwrap();
                    assert_eq!(headers.ecn, ecn);
                    // Any ECN field over any other, too.
                    headers.ecn = before % 4;
                    set_ecn(&mut bytes, before % 4);
                    set_codepoint(&mut bytes, after);
                    assert_eq!(parse(&bytes), Ok(headers));
                    let class = if six { bytes[0] << 4 | bytes[1] >> 4 } else { bytes[1] };
                    assert_eq!((class >> 2, tcp_sum(&bytes)), (after, 0xffff));
                    assert!(six && bytes[1..4] == [bytes[1] & 0xf0, 0, 9] || fold(add(&bytes[..20])) == 0xffff);
                }
            }
        }
    }

    #[test]
    fn the_offload_header_is_read_as_it_is_written() {
        for kind in 0..=255 {
            for flags in [0, CHECKSUM_PARTIAL] {
                let bytes = [flags, kind, 1, 2, 3, 4, 5, 6, 7, 8];
                assert_eq!(Offload::read(bytes).write(), bytes);
            }
        }
    }
}
