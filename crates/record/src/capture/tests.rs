use super::*;
use penstock_scenario::read::Document;

fn scenario(settings: &[(&str, &str)]) -> Scenario {
    let text = r#"
format = 1
duration = "1 s"
packet = { wire = "1000 B", payload = "960 B" }
[links.l]
from = "a"
to = "b"
rate = "8 Mbit/s"
delay = "10 ms"
buffer = "10 packets"
[flows.f]
from = "a"
to = "b"
count = 3
cc = { law = "newreno" }
"#;
    let mut document = Document::parse(text, "t.toml").unwrap();
    for (key, value) in settings {
        document.set(key, value).unwrap();
    }
    document.cells().unwrap().remove(0).scenario
}

fn data(flow: u32, segment: u64, size: u32) -> Sighting {
    let content = Content::Data { segment, cwr: false };
    Sighting { at: Time(0), end: End::Sender, flow, connection: 0, size, ecn: Ecn::NotEct, colour: None, content }
}

#[test]
fn a_window_is_said_with_the_least_scale_that_can_say_it() {
    for (bytes, field, scale) in [
        (1.0, 1, 0),
        (65_535.0, 65_535, 0),
        (65_536.0, 32_768, 1),
        (65_537.0, 32_769, 1),
        (960.0 * 1000.0, 60_000, 4),
        (f64::INFINITY, u16::MAX, 14),
    ] {
        let b = Behaviour::new(bytes, true);
        assert_eq!((b.scaled, b.scale), (field, scale), "{bytes}");
        assert!(f64::from(b.scaled) * f64::from(1 << b.scale) >= bytes.min(1e9));
    }
}

#[test]
fn every_flow_has_an_address_and_every_connection_a_pair_of_ports() {
    assert_eq!(address(0, End::Sender), [10, 0, 0, 1]);
    assert_eq!(address(MOST_FLOWS as u32 - 1, End::Sender), [10, 127, 255, 254]);
    assert_eq!(address(MOST_FLOWS as u32 - 1, End::Receiver), [10, 255, 255, 254]);
    assert_eq!(ports(0, End::Sender), (49_152, 40_000));
    assert_eq!(ports(16_383, End::Receiver), (40_000, 65_535));
    assert_eq!(ports(16_384, End::Sender), (49_152, 40_001));
    assert_eq!(ports(u32::MAX, End::Sender).0, 65_535);
}

#[test]
fn what_no_capture_can_hold_is_refused() {
    let refused = |settings: &[(&str, &str)]| {
        Capture::new(Vec::new(), &scenario(settings), End::Sender).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(&[]), "");
    assert!(refused(&[("packet", "{ wire = \"65535 B\", payload = \"65495 B\" }")]).contains("65535 B is too large"));
    let mut many = scenario(&[]);
    many.groups[0].count = 1 << 23;
    assert!(matches!(Capture::new(Vec::new(), &many, End::Sender), Err(CaptureError::TooManyFlows(8_388_608))));
}

#[test]
fn a_sighting_that_cannot_be_is_a_bug_by_name() {
    let mut capture = Capture::new(Vec::new(), &scenario(&[]), End::Sender).unwrap();
    assert!(capture.see(&data(2, 0, 1000)).is_ok());
    assert!(matches!(capture.see(&data(3, 0, 1000)), Err(CaptureError::UnknownFlow(3))));
    for size in [39, 1001] {
        assert!(matches!(capture.see(&data(0, 1, size)), Err(CaptureError::Misshapen { flow: 0, .. })), "{size}");
    }
    let datagram = Sighting { content: Content::Datagram { number: 0 }, ..data(0, 0, 27) };
    assert!(matches!(capture.see(&datagram), Err(CaptureError::Misshapen { .. })));
}

/// The byte behind the version of IPv4 is the codepoint of RFC 2597 and, in the last two bits, ECN: AF11, AF12, AF13, or
/// nothing where no conditioner has coloured.
#[test]
fn a_colour_is_its_codepoint_in_the_file() {
    let mut capture = Capture::new(Vec::new(), &scenario(&[]), End::Receiver).unwrap();
    let colours = [None, Some(Colour::Green), Some(Colour::Yellow), Some(Colour::Red)];
    for (segment, colour) in (0..).zip(colours) {
        let seen = Sighting { end: End::Receiver, colour, ecn: Ecn::Ect0, ..data(0, segment, 1000) };
        capture.see(&seen).unwrap();
    }
    let file = capture.finish().unwrap();
    let mut reader = pcap_file::pcapng::PcapNgReader::new(file.as_slice()).unwrap();
    let mut found = Vec::new();
    while let Some(block) = reader.next_block() {
        // Behind an Ethernet header of 14 bytes; of the data only, which are long.
        if let pcap_file::pcapng::Block::EnhancedPacket(packet) = block.unwrap()
            && u16::from_be_bytes([packet.data[16], packet.data[17]]) > 500
        {
            found.push((packet.data[15] >> 2, packet.data[15] & 3));
        }
    }
    assert_eq!(found, [(0, 2), (10, 2), (12, 2), (14, 2)]);
}

/// A disk with room for so many bytes.
struct Small(usize);

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.0);
        self.0 -= fits;
        if fits == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(fits) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_said_to_be_one() {
    let mut capture = Capture::new(Small(2000), &scenario(&[]), End::Sender).unwrap();
    let error = (0..100).find_map(|k| capture.see(&data(0, k, 1000)).err());
    assert!(matches!(error, Some(CaptureError::Write(e)) if e.kind() == io::ErrorKind::StorageFull));
}

/// A group's own packets: segment 3 of 460 B each begins at byte 1 + 1380, and 500 B are the most.
#[test]
fn sequence_numbers_go_by_the_packets_of_the_group() {
    let mut capture = Capture::new(Vec::new(), &scenario(&[("flows.f.packet", "500 B")]), End::Sender).unwrap();
    for segment in 0..4 {
        capture.see(&data(0, segment, 500)).unwrap();
    }
    assert!(matches!(capture.see(&data(0, 4, 501)), Err(CaptureError::Misshapen { .. })));
    let file = capture.finish().unwrap();
    let mut reader = pcap_file::pcapng::PcapNgReader::new(file.as_slice()).unwrap();
    let mut last = (0, 0);
    while let Some(block) = reader.next_block() {
        if let pcap_file::pcapng::Block::EnhancedPacket(packet) = block.unwrap() {
            let number = |at: usize| u32::from_be_bytes(packet.data[at..at + 4].try_into().unwrap());
            // The sequence number is behind Ethernet, IPv4 and the ports.
            last = (number(38), packet.original_len);
        }
    }
    // 12 B of timestamps besides.
    assert_eq!(last, (1381, 14 + 20 + 20 + 12 + 460));
}
