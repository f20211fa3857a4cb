//! `packets.pcapng`: a capture as by tcpdump at one end of every flow, for Wireshark and its kin.
//!
//! A [`Capture`] is fed with the [`Sighting`]s of both ends, in the order of time, and writes those of one. Fields that a
//! simulated packet lacks are made up so that they are consistent, as the file's own comment states:
//!
//! - Flow `n`, counted from zero, is between 10.0.0.0 + n + 1 and 10.128.0.0 + n + 1; ports come from the number of the
//!   connection. A simulated network has no handshake, so SYN, SYN-ACK and ACK stand at the first sighting of a
//!   connection: they carry maximum segment size, window scale, SACK permitted, and ECN.
//! - Segment `k` begins at sequence number 1 + k times the payload of a packet, modulo 2^32. The payload is zeros; they
//!   count in lengths and checksums and are not stored.
//! - Headers are those of a Linux host: Ethernet 14 B, IPv4 20 B, TCP 20 B, timestamps (RFC 7323, in milliseconds) 12 B
//!   and 12 B for a block of selective acknowledgements (RFC 2018), 8 B for each further one, and up to 12 B for the
//!   AccECN Option (RFC 9768). Four blocks leave no space for timestamps. A frame is so much longer than the payload; the size
//!   that the simulated links see is the scenario's.
//! - A packet that a conditioner has coloured has AF11, AF12 or AF13 (RFC 2597), so that a capture at the senders, in
//!   front of every conditioner, has none.
//! - Datagrams are UDP (RFC 768), of the simulated size; the field `identification` counts them.
//!
//! Times are in nanoseconds since the beginning of the run, which readers show as 1 January 1970. A handshake takes one;
//! of connections that begin at the same instant each makes the next so much late.

mod connection;
mod options;

use std::io::{self, Write};
use std::time::Duration;

use etherparse::TcpOptionElement::{self, Noop};
use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptions, UdpHeader};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};
use penstock_law::conditioner::Colour;
use penstock_law::quantity::Time;

use self::connection::{Flow, Stamps};
use self::options::{AE, ASKS, Behaviour, CWR, ECE, FIRST, FIRST_BYTES, NOT_ECT};
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{Content, Ecn, End, Sighting};

/// The name of the file in a record.
pub const CAPTURE_FILE: &str = "packets.pcapng";

/// Flows that have an address each: half of 10.0.0.0/8 without its first and last.
const MOST_FLOWS: u64 = (1 << 23) - 2;
/// Ethernet, IPv4 and the longest TCP header: no packet has more that is stored.
const SNAPLEN: u32 = 14 + 20 + 60;
/// The most that an IPv4 packet holds besides IPv4's and the longest TCP header [B].
const MOST_PAYLOAD: u64 = 65_535 - 20 - 60;
/// Ports of the side that opens connections (RFC 6335, section 6: the dynamic ones).
const CLIENT_PORTS: u32 = 16_384;
/// Ports of the other side, from 40000 to the dynamic ones.
const SERVER_PORTS: u32 = 9_152;

/// Why a capture cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// There is no address for each flow.
    #[error("{0} flows are too many for a capture; a capture has at most {MOST_FLOWS} flows")]
    TooManyFlows(u64),
    /// No IPv4 packet is that large.
    #[error("a payload of {0} B is too large for a capture; a captured payload has at most {MOST_PAYLOAD} B")]
    TooLarge(u64),
    /// A world saw a flow that the scenario does not have: a bug of that world.
    #[error("the capture saw a packet of flow {0}, which the scenario does not have")]
    UnknownFlow(u32),
    /// A world saw a packet that no packet of the scenario is: a bug of that world.
    #[error("the capture saw a packet of {size} B of flow {flow}, but no packet of the scenario has that size")]
    Misshapen {
        /// The flow.
        flow: u32,
        /// The size on the wire [B].
        size: u32,
    },
    /// The file cannot be written to.
    #[error("the capture cannot be written")]
    Write(#[from] io::Error),
}

impl From<PcapError> for CaptureError {
    fn from(error: PcapError) -> Self {
        Self::Write(match error {
            PcapError::IoError(error) => error,
            other => io::Error::other(other),
        })
    }
}

/// A capture being written: to something buffered, for it writes each packet by itself.
pub struct Capture<W: Write> {
    out: PcapNgWriter<W>,
    end: End,
    /// For each group the number past its last flow, and how its ends behave.
    groups: Vec<(u32, Behaviour)>,
    flows: Vec<Flow>,
    /// As many as a packet's payload, for checksums.
    zeros: Vec<u8>,
    frame: Vec<u8>,
    /// Time of the last packet [ns].
    clock_ns: u64,
}

/// One TCP packet, but for its addresses.
struct Segment {
    from: End,
    ecn: Ecn,
    colour: Option<Colour>,
    seq: u32,
    ack: Option<u32>,
    syn: bool,
    /// AE, CWR and ECE.
    ace: u8,
    window: u16,
    payload: u32,
}

impl<W: Write> Capture<W> {
    /// Begins a capture at one end of every flow of `scenario`.
    ///
    /// # Errors
    /// Names the parts of the scenario that no capture can hold, or the reason why nothing can be written to `out`.
    pub fn new(out: W, scenario: &Scenario, end: End) -> Result<Self, CaptureError> {
        let count: u64 = scenario.groups.values().map(|group| u64::from(group.count)).sum();
        if count > MOST_FLOWS {
            return Err(CaptureError::TooManyFlows(count));
        }
        let (wire, payload) = (scenario.packet.wire.0, scenario.packet.payload.0);
        if wire.max(payload) > MOST_PAYLOAD {
            return Err(CaptureError::TooLarge(wire.max(payload)));
        }
        let mut past = 0;
        let groups = scenario.groups.values().map(|group| {
            past += group.count;
            (past, Behaviour::of(group, scenario.packet))
        });
        let mut out = PcapNgWriter::with_section_header(out, section())?;
        let name = match end {
            End::Sender => "senders",
            End::Receiver => "receivers",
        };
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: SNAPLEN,
            options: vec![
                InterfaceDescriptionOption::IfName(name.into()),
                InterfaceDescriptionOption::IfDescription(format!("all {name} of \"{}\"", scenario.title).into()),
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        };
        out.write_block(&interface.into_block())?;
        Ok(Self {
            out,
            end,
            groups: groups.collect(),
            flows: (0..count).map(|_| Flow::default()).collect(),
            zeros: vec![0; wire.max(payload) as usize],
            frame: Vec::with_capacity(SNAPLEN as usize),
            clock_ns: 0,
        })
    }

    /// Takes note of a packet, and writes it if it passed this capture's end.
    ///
    /// # Errors
    /// Names the reason why it cannot be written.
    pub fn see(&mut self, seen: &Sighting) -> Result<(), CaptureError> {
        let at = usize::try_from(seen.flow).unwrap_or(usize::MAX);
        let Some(flow) = self.flows.get_mut(at) else { return Err(CaptureError::UnknownFlow(seen.flow)) };
        let behaviour = self.groups[self.groups.partition_point(|(past, _)| *past <= seen.flow)].1;
        let now = milliseconds(seen.at);
        let misshapen = || CaptureError::Misshapen { flow: seen.flow, size: seen.size };
        match seen.content {
            Content::Datagram { number } => self.datagram(seen, number),
            Content::Data { segment, cwr } => {
                let length = seen.size.checked_sub(behaviour.overhead).filter(|length| *length <= behaviour.payload);
                let length = length.ok_or_else(misshapen)?;
                let (connection, new) = flow.connection(seen.connection, now);
                let stamps = match seen.end {
                    End::Sender => connection.data_sent(segment, behaviour.payload - length, now),
                    End::Receiver => connection.data_arrived(segment, now),
                };
                let seq = connection.sequence(segment, behaviour.payload);
                if new {
                    self.handshake(seen, behaviour, now)?;
                }
                let packet = Segment {
                    from: End::Sender,
                    ecn: seen.ecn,
                    colour: seen.colour,
                    seq,
                    ack: Some(1),
                    syn: false,
                    // Acknowledgements cannot be marked, so that this counter stays where it began.
                    ace: if behaviour.agrees { FIRST } else { u8::from(cwr) * CWR },
                    window: behaviour.scaled,
                    payload: length,
                };
                self.tcp(seen, &packet, behaviour.options(stamps.option(), &[], None)?)
            }
            Content::Ack { next, blocks, echo, accurate } => {
                let (connection, new) = flow.connection(seen.connection, now);
                let (_, past) = blocks[0].unwrap_or_default();
                let stamps = match seen.end {
                    End::Receiver => connection.ack_sent(next, past, now),
                    End::Sender => connection.ack_arrived(next, past, now),
                };
                let number = |segment: u64| connection.sequence(segment, behaviour.payload);
                let ack = number(next);
                let blocks: Vec<_> = blocks.iter().flatten().map(|(a, b)| (number(*a), number(*b))).collect();
                if new {
                    self.handshake(seen, behaviour, now)?;
                }
                let packet = Segment {
                    from: End::Receiver,
                    ecn: seen.ecn,
                    colour: seen.colour,
                    seq: 1,
                    ack: Some(ack),
                    syn: false,
                    ace: accurate.map_or(u8::from(echo) * ECE, |accurate| accurate.ace),
                    window: behaviour.scaled,
                    payload: 0,
                };
                let counters = accurate.and_then(|accurate| accurate.option);
                self.tcp(seen, &packet, behaviour.options(stamps.option(), &blocks, counters)?)
            }
        }
    }

    /// Ends the capture and returns its writer.
    ///
    /// # Errors
    /// Names the reason why the last of it cannot be written.
    pub fn finish(self) -> Result<W, CaptureError> {
        let mut out = self.out.into_inner();
        out.flush()?;
        Ok(out)
    }

    /// SYN, SYN-ACK and ACK, as RFC 9293 (figure 6), RFC 3168 (section 6.1.1) and RFC 9768 (section 3.1) have them.
    fn handshake(&mut self, seen: &Sighting, behaviour: Behaviour, now: u32) -> Result<(), CaptureError> {
        // Acknowledgements cannot be marked, so a connection is known to be capable of ECN by its first data packet.
        let ecn = matches!(seen.content, Content::Data { .. }) && seen.ecn != Ecn::NotEct;
        // Without options a segment could be longer by the timestamps (RFC 6691).
        let longer = if behaviour.stamped { 12 } else { 0 };
        let size = TcpOptionElement::MaximumSegmentSize(u16::try_from(behaviour.payload + longer).unwrap_or(u16::MAX));
        let scale = [Noop, TcpOptionElement::WindowScale(behaviour.scale)];
        let options = |stamps: Stamps| {
            let permitted = TcpOptionElement::SelectiveAcknowledgementPermitted;
            let second = match (behaviour.selective, behaviour.stamped) {
                (true, true) => vec![permitted, stamps.option()],
                (true, false) => vec![Noop, Noop, permitted],
                (false, _) => vec![Noop, Noop, stamps.option()],
            };
            [std::slice::from_ref(&size), &second, &scale].concat()
        };
        let segment = |from, seq, ack: Option<u32>, syn, window| Segment {
            from,
            ecn: Ecn::NotEct,
            colour: None,
            seq,
            ack,
            syn,
            // Every packet of the handshake is not-ECT.
            ace: match (syn, ack) {
                _ if !ecn => 0,
                (true, None) if behaviour.asks => ASKS,
                (true, None) => CWR | ECE,
                _ if behaviour.agrees => NOT_ECT,
                (true, Some(_)) => ECE,
                (false, _) => 0,
            },
            window,
            payload: 0,
        };
        let stamps = Stamps { own: now, echoed: now };
        let first = Stamps { echoed: 0, ..stamps };
        let here = &Sighting { end: self.end, ..*seen };
        let counters = (ecn && behaviour.counts).then_some(FIRST_BYTES);
        let asks = behaviour.with_counters(&options(first), None)?;
        self.tcp(here, &segment(End::Sender, 0, None, true, behaviour.plain), asks)?;
        let answers = behaviour.with_counters(&options(stamps), counters)?;
        self.tcp(here, &segment(End::Receiver, 0, Some(1), true, behaviour.plain), answers)?;
        // Wireshark takes what comes within the handshake's time after new data for a packet out of order, and within 3 ms
        // where the handshake takes no time. Nothing is out of order here, and much is sent again within 3 ms.
        self.clock_ns += 1;
        let third = segment(End::Sender, 1, Some(1), false, behaviour.scaled);
        self.tcp(here, &third, behaviour.options(stamps.option(), &[], counters)?)
    }

    fn tcp(&mut self, seen: &Sighting, segment: &Segment, options: TcpOptions) -> Result<(), CaptureError> {
        if seen.end != self.end {
            return Ok(());
        }
        let (source_port, destination_port) = ports(seen.connection, segment.from);
        let mut tcp = TcpHeader::new(source_port, destination_port, segment.seq, segment.window);
        tcp.syn = segment.syn;
        tcp.ack = segment.ack.is_some();
        tcp.acknowledgment_number = segment.ack.unwrap_or(0);
        let [ae, cwr, ece] = [AE, CWR, ECE].map(|flag| segment.ace & flag != 0);
        // RFC 9768, section 3.1.1: AE is the bit that was NS (RFC 3540).
        (tcp.ns, tcp.cwr, tcp.ece) = (ae, cwr, ece);
        tcp.options = options;
        let mut ip = internet(
            seen.flow,
            segment.from,
            (segment.ecn, segment.colour),
            IpNumber::TCP,
            tcp.header_len(),
            segment.payload,
        );
        // RFC 6864: what is never fragmented needs no identification.
        ip.dont_fragment = true;
        tcp.checksum =
            tcp.calc_checksum_ipv4(&ip, &self.zeros[..segment.payload as usize]).map_err(io::Error::other)?;
        self.begin(&ip)?;
        tcp.write(&mut self.frame)?;
        self.store(seen.at, segment.payload)
    }

    fn datagram(&mut self, seen: &Sighting, number: u64) -> Result<(), CaptureError> {
        if seen.end != self.end {
            return Ok(());
        }
        let length = (seen.size as usize).checked_sub(Ipv4Header::MIN_LEN + UdpHeader::LEN);
        let zeros = length.and_then(|length| self.zeros.get(..length));
        let Some(zeros) = zeros else {
            return Err(CaptureError::Misshapen { flow: seen.flow, size: seen.size });
        };
        let mut ip = internet(
            seen.flow,
            End::Sender,
            (seen.ecn, seen.colour),
            IpNumber::UDP,
            UdpHeader::LEN,
            zeros.len() as u32,
        );
        ip.identification = number as u16;
        let (source, destination) = ports(seen.connection, End::Sender);
        let udp = UdpHeader::with_ipv4_checksum(source, destination, &ip, zeros).map_err(io::Error::other)?;
        let payload = zeros.len() as u32;
        self.begin(&ip)?;
        udp.write(&mut self.frame)?;
        self.store(seen.at, payload)
    }

    /// Begins a frame with the headers below the transport's.
    fn begin(&mut self, ip: &Ipv4Header) -> Result<(), CaptureError> {
        self.frame.clear();
        // Locally administered, from the address.
        let hardware = |[a, b, c, d]: [u8; 4]| [2, 0, a, b, c, d];
        let ethernet = Ethernet2Header {
            source: hardware(ip.source),
            destination: hardware(ip.destination),
            ether_type: EtherType::IPV4,
        };
        ethernet.write(&mut self.frame)?;
        // Computes the header's checksum.
        ip.write(&mut self.frame)?;
        Ok(())
    }

    fn store(&mut self, at: Time, payload: u32) -> Result<(), CaptureError> {
        self.clock_ns = self.clock_ns.max(at.0 / (Time::PER_SECOND / 1_000_000_000));
        let packet = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(self.clock_ns),
            original_len: self.frame.len() as u32 + payload,
            data: self.frame.as_slice().into(),
            options: Vec::new(),
        };
        self.out.write_block(&packet.into_block())?;
        Ok(())
    }
}

impl Stamps {
    fn option(self) -> TcpOptionElement {
        TcpOptionElement::Timestamp(self.own, self.echoed)
    }
}

fn internet(
    flow: u32,
    from: End,
    (ecn, colour): (Ecn, Option<Colour>),
    protocol: IpNumber,
    header: usize,
    payload: u32,
) -> Ipv4Header {
    let other = if from == End::Sender { End::Receiver } else { End::Sender };
    Ipv4Header {
        // Six bits, which the codepoints of RFC 2597 are.
        dscp: colour.and_then(|colour| IpDscp::try_new(colour.dscp()).ok()).unwrap_or_default(),
        ecn: match ecn {
            Ecn::NotEct => IpEcn::NotEct,
            Ecn::Ect0 => IpEcn::Ect0,
            Ecn::Ect1 => IpEcn::Ect1,
            Ecn::Ce => IpEcn::CongestionExperienced,
        },
        // No more than 65535, which `new` saw to.
        total_len: (Ipv4Header::MIN_LEN + header) as u16 + payload as u16,
        time_to_live: 64,
        protocol,
        source: address(flow, from),
        destination: address(flow, other),
        ..Ipv4Header::default()
    }
}

fn section() -> SectionHeaderBlock<'static> {
    let comment = "A simulation, not a network. Times count from the beginning of the run. The handshake at the first \
                   packet of each connection was not simulated; addresses, ports and header fields that the simulation \
                   does not have were made up to be consistent. Payloads are zeros and are not stored.";
    SectionHeaderBlock {
        // The same bytes on every machine.
        endianness: Endianness::Little,
        options: vec![
            SectionHeaderOption::Comment(comment.into()),
            SectionHeaderOption::UserApplication(concat!("penstock ", env!("CARGO_PKG_VERSION")).into()),
        ],
        ..SectionHeaderBlock::default()
    }
}

/// The clock of RFC 7323's timestamps, which ticks every millisecond and wraps.
fn milliseconds(at: Time) -> u32 {
    (at.0 / (Time::PER_SECOND / 1000)) as u32
}

fn address(flow: u32, end: End) -> [u8; 4] {
    let half = match end {
        End::Sender => 0,
        End::Receiver => 128 << 16,
    };
    (10 << 24 | half | (flow + 1)).to_be_bytes()
}

/// Source and destination ports of packets from an end of a connection.
fn ports(connection: u32, from: End) -> (u16, u16) {
    let client = 49_152 + (connection % CLIENT_PORTS) as u16;
    let server = 40_000 + (connection / CLIENT_PORTS % SERVER_PORTS) as u16;
    match from {
        End::Sender => (client, server),
        End::Receiver => (server, client),
    }
}

#[cfg(test)]
mod tests;
