//! Ethernet frames for tests.
#![allow(unreachable_pub, missing_docs, dead_code)]

/// The ECN codepoints of RFC 3168, section 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    NotEct = 0,
    Ect1 = 1,
    Ect0 = 2,
    Ce = 3,
}

/// A frame, and where its IP header begins.
#[derive(Debug, Clone)]
pub struct Frame {
    pub bytes: Vec<u8>,
}

const LINK: usize = 14;

impl Frame {
    fn ethernet(kind: u16, bytes: usize) -> Self {
        let mut frame = vec![0; bytes];
        frame[12..14].copy_from_slice(&kind.to_be_bytes());
        Self { bytes: frame }
    }

    fn v4(protocol: u8, tos: u8, bytes: usize) -> Self {
        let mut frame = Self::ethernet(0x0800, bytes);
        let ip = &mut frame.bytes[LINK..];
        let total = (ip.len() as u16).to_be_bytes();
        ip[..20].copy_from_slice(&[
            0x45, tos, total[0], total[1], 0, 1, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        ]);
        let sum = !sum(&ip[..20]);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        frame
    }

    /// UDP over IPv4, that many bytes with the Ethernet header.
    pub fn udp(ecn: Ecn, bytes: usize) -> Self {
        Self::v4(17, ecn as u8, bytes)
    }

    /// TCP over IPv4 with a header of 32 bytes, as timestamps make it.
    pub fn tcp(ecn: Ecn, bytes: usize) -> Self {
        let mut frame = Self::v4(6, ecn as u8, bytes);
        frame.bytes[LINK + 20 + 12] = 8 << 4;
        frame
    }

    /// UDP over IPv6.
    pub fn udp6(ecn: Ecn, bytes: usize) -> Self {
        let mut frame = Self::ethernet(0x86dd, bytes);
        let ip = &mut frame.bytes[LINK..];
        let payload = (ip.len() as u16 - 40).to_be_bytes();
        ip[..8].copy_from_slice(&[0x60, (ecn as u8) << 4, 0, 0, payload[0], payload[1], 17, 64]);
        (ip[8], ip[24]) = (0xfd, 0xfd);
        frame
    }

    /// A question of ARP.
    pub fn arp() -> Self {
        Self::ethernet(0x0806, 60)
    }

    /// With another DSCP.
    pub fn with_dscp(mut self, dscp: u8) -> Self {
        let ip = &mut self.bytes[LINK..];
        ip[1] = dscp << 2 | ip[1] & 3;
        ip[10..12].fill(0);
        let sum = !sum(&ip[..20]);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        self
    }
}

fn sum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// TOS of IPv4, traffic class of IPv6.
pub fn tos(frame: &[u8]) -> u8 {
    let ip = &frame[LINK..];
    if ip[0] >> 4 == 4 { ip[1] } else { ip[0] << 4 | ip[1] >> 4 }
}

pub fn ecn(frame: &[u8]) -> Ecn {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(tos(frame) & 3)]
}

/// True if the header of an IPv4 packet has its checksum.
pub fn checksum_holds(frame: &[u8]) -> bool {
    sum(&frame[LINK..LINK + 20]) == 0xffff
}
