//! Super-packets: taken apart into the packets that would cross a wire, and put together again from those.
//!
//! A sender with segmentation offload hands over up to 64 kB at once; the path models every packet of them on its own, so
//! each may be lost, marked or delayed. Packets due together are handed to the receiver together again, as its network card
//! would (GRO), since the cost of a packet is mostly that of handing it over.

use std::ops::Range;

use penstock_law::conditioner::Colour;
use penstock_law::quantity::Time;

use super::wire::{Content, Flaw, Headers, Kind, Offload, TCP, add, fold, mark, parse, set_codepoint, set_ecn};

/// A read of a device: a packet, or a super-packet.
#[derive(Debug)]
pub struct Burst {
    offload: Offload,
    headers: Headers,
    segments: u16,
    bytes: Box<[u8]>,
}

/// The longest headers: 60 B of IPv4 and 60 B of TCP.
const LONGEST: usize = 120;
/// Segments in a super-packet at most, so that 1500 B each stay below 64 kB.
pub(super) const MOST_SEGMENTS: u16 = 44;
const MOST_BYTES: usize = 65_535;

const CWR: u8 = 0x80;
const URG: u8 = 0x20;
const PSH: u8 = 0x08;
const RST: u8 = 0x04;
const SYN: u8 = 0x02;
const FIN: u8 = 0x01;

/// One packet of a burst: its own headers, and where its payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    offload: Offload,
    content: Content,
    ip: usize,
    end: usize,
    header: [u8; LONGEST],
    payload: (u32, u32),
}

impl Burst {
    /// Takes a read of the device.
    ///
    /// # Errors
    /// A packet that a router would not pass on.
    pub fn new(offload: Offload, bytes: &[u8]) -> Result<Self, Flaw> {
        let headers = parse(bytes)?;
        let payload = headers.total - headers.end();
        let segments = match (offload.kind, headers.content) {
            (Kind::Plain, _) => 1,
            (Kind::Tcp4 | Kind::Tcp6, Content::Tcp { .. })
                if headers.source.is_ipv4() == (offload.kind == Kind::Tcp4)
                    && offload.checksum_partial
                    && offload.segment > 0
                    && payload > 0 =>
            {
                payload.div_ceil(usize::from(offload.segment)) as u16
            }
            _ => return Err(Flaw::Offload),
        };
        Ok(Self { offload, headers, segments, bytes: bytes[..headers.total].into() })
    }

    /// Its headers; of a super-packet, those of the whole.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Packets in it, at least one.
    pub fn segments(&self) -> u16 {
        self.segments
    }

    /// Size on the wire of a packet [B].
    pub fn size(&self, segment: u16) -> u32 {
        (self.headers.end() + self.payload(segment).len()) as u32
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn payload(&self, segment: u16) -> Range<usize> {
        let (first, last) = (self.headers.end(), self.bytes.len());
        if self.segments == 1 {
            return first..last;
        }
        let size = usize::from(self.offload.segment);
        let from = first + usize::from(segment) * size;
        from..last.min(from + size)
    }

    /// A packet of it, below [`Burst::segments`]: marked or as it was sent, coloured or with the codepoint it was sent with.
    pub fn piece(&self, segment: u16, marked: bool, colour: Option<Colour>) -> Piece {
        let (ip, end) = (self.headers.ip, self.headers.end());
        let mut header = [0; LONGEST];
        header[..end].copy_from_slice(&self.bytes[..end]);
        let payload = self.payload(segment);
        let mut offload = self.offload;
        if self.segments > 1 {
            offload = Offload { checksum_partial: true, sum: (ip as u16, 16), ..Offload::default() };
            let passed = u32::from(segment) * u32::from(self.offload.segment);
            add_to_sequence(&mut header[ip..], passed);
            add_to_identification(&mut header, segment);
            header[ip + 13] &= if segment > 0 { !CWR } else { 0xff };
            header[ip + 13] &= if segment + 1 < self.segments { !(PSH | FIN) } else { 0xff };
            set_lengths(&mut header, ip, end + payload.len());
        } else if offload.kind != Kind::Plain {
            // A super-packet of one is a packet.
            offload = Offload { checksum_partial: true, sum: (ip as u16, 16), ..Offload::default() };
        }
        if marked {
            mark(&mut header[..end]);
        }
        if let Some(colour) = colour {
            set_codepoint(&mut header[..end], colour.dscp());
        }
        let payload = (payload.start as u32, payload.end as u32);
        Piece { offload, content: self.headers.content, ip, end, header, payload }
    }
}

fn add_to_sequence(tcp: &mut [u8], bytes: u32) {
    let sequence = sequence(tcp).wrapping_add(bytes);
    tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
}

fn sequence(tcp: &[u8]) -> u32 {
    u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]])
}

fn identification(header: &[u8]) -> u16 {
    u16::from_be_bytes([header[4], header[5]])
}

fn add_to_identification(header: &mut [u8], segments: u16) {
    if header[0] >> 4 == 4 {
        let id = identification(header).wrapping_add(segments);
        header[4..6].copy_from_slice(&id.to_be_bytes());
    }
}

/// Writes the length of a packet of TCP, and the sums that go with it: IPv4's whole, TCP's of the pseudo-header only.
fn set_lengths(header: &mut [u8], ip: usize, total: usize) {
    let addresses = if header[0] >> 4 == 4 {
        header[2..4].copy_from_slice(&(total as u16).to_be_bytes());
        header[10..12].copy_from_slice(&[0, 0]);
        let sum = !fold(add(&header[..ip]));
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        &header[12..20]
    } else {
        header[4..6].copy_from_slice(&((total - ip) as u16).to_be_bytes());
        &header[8..40]
    };
    let sum = fold(add(addresses) + u32::from(TCP) + (total - ip) as u32);
    header[ip + 16..ip + 18].copy_from_slice(&sum.to_be_bytes());
}

impl Piece {
    /// Gives it this ECN field, two bits.
    pub(crate) fn set_ecn(&mut self, ecn: u8) {
        set_ecn(&mut self.header[..self.end], ecn);
    }

    /// Its headers.
    pub fn header(&self) -> &[u8] {
        &self.header[..self.end]
    }

    /// Where in its burst the payload is.
    pub fn payload(&self) -> Range<usize> {
        self.payload.0 as usize..self.payload.1 as usize
    }

    /// The header of the device in front of it.
    pub fn offload(&self) -> Offload {
        self.offload
    }

    fn flags(&self) -> u8 {
        self.header[self.ip + 13]
    }

    /// Whether others may follow it in one super-packet.
    fn couples(&self) -> bool {
        matches!(self.content, Content::Tcp { .. })
            && self.offload.checksum_partial
            && !self.payload().is_empty()
            && self.flags() & (CWR | URG | RST | SYN) == 0
    }

    /// Whether it is of the same connection and way.
    fn connection(&self) -> Option<(&[u8], &[u8])> {
        let addresses = if self.header[0] >> 4 == 4 { 12..20 } else { 8..40 };
        matches!(self.content, Content::Tcp { .. })
            .then(|| (&self.header[addresses], &self.header[self.ip..self.ip + 4]))
    }
}

/// Packets that become one super-packet; `K` distinguishes bursts.
#[derive(Debug)]
pub struct Train<K> {
    first: Piece,
    last_flags: u8,
    segments: u16,
    bytes: usize,
    /// The last packet was shorter than the first, so that nothing can follow.
    short: bool,
    load: Load<K>,
}

/// Where the payload of a train is, and when each of its packets is wanted.
#[derive(Debug)]
struct Load<K> {
    parts: Vec<(K, Range<usize>)>,
    wanted: Vec<Time>,
}

impl<K: Copy + PartialEq> Train<K> {
    /// Begins with a packet; `load` is of a train that has left.
    fn new(piece: Piece, burst: K, wanted: Time, load: Option<Load<K>>) -> Self {
        let mut load = load.unwrap_or_else(|| Load { parts: Vec::new(), wanted: Vec::new() });
        load.parts.clear();
        load.wanted.clear();
        load.parts.push((burst, piece.payload()));
        load.wanted.push(wanted);
        let flags = if matches!(piece.content, Content::Tcp { .. }) { piece.flags() } else { 0 };
        Self { first: piece, last_flags: flags, segments: 1, bytes: piece.payload().len(), short: false, load }
    }

    /// Appends a packet, if the result taken apart would be the same packets again.
    fn take(&mut self, piece: &Piece, burst: K, wanted: Time) -> bool {
        let (first, payload) = (&self.first, piece.payload());
        let segment = first.payload().len();
        let follows = self.segments < MOST_SEGMENTS
            && !self.short
            && self.last_flags & (PSH | FIN) == 0
            && first.couples()
            && piece.couples()
            && payload.len() <= segment
            && first.end + self.bytes + payload.len() <= MOST_BYTES
            && self.like(piece);
        if !follows {
            return false;
        }
        self.segments += 1;
        self.bytes += payload.len();
        self.short = payload.len() < segment;
        self.last_flags = piece.flags();
        self.load.wanted.push(wanted);
        match self.load.parts.last_mut() {
            Some((last, range)) if *last == burst && range.end == payload.start => range.end = payload.end,
            _ => self.load.parts.push((burst, payload)),
        }
        true
    }

    /// Whether headers are those of the next segment of the same super-packet.
    fn like(&self, piece: &Piece) -> bool {
        let (a, b, ip) = (&self.first.header, &piece.header, self.first.ip);
        let same = |range: Range<usize>| a[range.clone()] == b[range];
        let four = a[0] >> 4 == 4;
        let network = if four {
            same(0..2)
                && same(6..10)
                && same(12..ip)
                && identification(b) == identification(a).wrapping_add(self.segments)
        } else {
            same(0..4) && same(6..ip)
        };
        (ip, self.first.end) == (piece.ip, piece.end)
            && network
            && same(ip..ip + 4)
            && same(ip + 8..ip + 13)
            && (a[ip + 13] | PSH | FIN) == (b[ip + 13] | PSH | FIN)
            && same(ip + 14..ip + 16)
            && same(ip + 18..self.first.end)
            && sequence(&b[ip..]) == sequence(&a[ip..]).wrapping_add(self.bytes as u32)
    }

    /// Packets in it.
    pub fn segments(&self) -> u16 {
        self.segments
    }

    /// The bytes for the device: in front, the headers; the payloads are [`Train::parts`].
    pub fn finish(&self) -> (Offload, [u8; LONGEST], usize) {
        let Piece { offload, mut header, ip, end, .. } = self.first;
        if self.segments == 1 {
            return (offload, header, end);
        }
        header[ip + 13] = self.last_flags;
        set_lengths(&mut header, ip, end + self.bytes);
        let kind = if header[0] >> 4 == 4 { Kind::Tcp4 } else { Kind::Tcp6 };
        let segment = self.first.payload().len() as u16;
        (
            Offload { checksum_partial: true, kind, cwr: false, header: end as u16, segment, sum: (ip as u16, 16) },
            header,
            end,
        )
    }

    /// Where the payload is: bursts, and ranges of their bytes.
    pub fn parts(&self) -> &[(K, Range<usize>)] {
        &self.load.parts
    }

    /// When each of its packets should be handed over.
    pub fn wanted(&self) -> &[Time] {
        &self.load.wanted
    }
}

/// Puts packets together that are due together. Packets of one connection and way keep their order.
#[derive(Debug)]
pub struct Coalescer<K> {
    open: Vec<Train<K>>,
    spare: Vec<Load<K>>,
}

/// Super-packets that are open at a time: more connections than this at once share nothing anyway.
const MOST_OPEN: usize = 16;

impl<K> Default for Coalescer<K> {
    fn default() -> Self {
        Self { open: Vec::new(), spare: Vec::new() }
    }
}

impl<K: Copy + PartialEq> Coalescer<K> {
    /// A packet is due that is wanted then. `write` is given complete super-packets.
    pub fn push(&mut self, piece: Piece, burst: K, wanted: Time, mut write: impl FnMut(&Train<K>)) {
        let Some(connection) = piece.connection() else {
            // It may be a fragment of what an open train carries.
            if piece.content == Content::Other {
                self.flush(&mut write);
            }
            let train = Train::new(piece, burst, wanted, self.spare.pop());
            return self.leave(train, write);
        };
        if let Some(at) = self.open.iter().position(|train| train.first.connection() == Some(connection)) {
            if self.open[at].take(&piece, burst, wanted) {
                return;
            }
            let train = self.open.remove(at);
            self.leave(train, &mut write);
        }
        let train = Train::new(piece, burst, wanted, self.spare.pop());
        if !piece.couples() {
            return self.leave(train, write);
        }
        if self.open.len() == MOST_OPEN {
            let oldest = self.open.remove(0);
            self.leave(oldest, &mut write);
        }
        self.open.push(train);
    }

    /// Nothing more is due now.
    pub fn flush(&mut self, mut write: impl FnMut(&Train<K>)) {
        let mut open = std::mem::take(&mut self.open);
        for train in open.drain(..) {
            self.leave(train, &mut write);
        }
        self.open = open;
    }

    fn leave(&mut self, train: Train<K>, mut write: impl FnMut(&Train<K>)) {
        write(&train);
        self.spare.push(train.load);
    }
}

#[cfg(test)]
mod tests;
