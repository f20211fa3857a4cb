use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::wire::tests::{ip, tcp, tcp_sum};

/// The bytes that a train hands to its device, behind the offload header.
fn handed(train: &Train<usize>, bursts: &[Burst]) -> (Offload, Vec<u8>) {
    let (offload, header, end) = train.finish();
    let mut bytes = header[..end].to_vec();
    for (burst, range) in train.parts() {
        bytes.extend_from_slice(&bursts[*burst].bytes()[range.clone()]);
    }
    (offload, bytes)
}

/// A packet as it would cross a wire: with TCP's sum computed.
fn on_the_wire(piece: &Piece, burst: &Burst) -> Vec<u8> {
    let mut bytes = [piece.header(), &burst.bytes()[piece.payload()]].concat();
    if piece.offload().checksum_partial {
        let (start, offset) = piece.offload().sum;
        let (start, place) = (usize::from(start), usize::from(start + offset));
        let sum = !fold(add(&bytes[start..]));
        bytes[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

/// A super-packet as a sender's kernel makes it.
fn superpacket(six: bool, ecn: u8, flags: u8, options: usize, segment: u16, payload: &[u8]) -> (Offload, Vec<u8>) {
    let mut bytes = tcp(six, ecn, u32::MAX - 3000, flags, &vec![1; options], payload);
    let at = if six { 40 } else { 20 };
    set_lengths(&mut bytes, at, at + 20 + options + payload.len());
    let kind = if six { Kind::Tcp6 } else { Kind::Tcp4 };
    let cwr = flags & CWR != 0;
    (Offload { checksum_partial: true, kind, cwr, header: 0, segment, sum: (at as u16, 16) }, bytes)
}

fn run<S: Strategy>(cases: u32, strategy: &S, check: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner.run(strategy, check).unwrap();
}

fn any_super() -> impl Strategy<Value = (Offload, Vec<u8>)> {
    (any::<bool>(), 0..4u8, any::<u8>(), 0..=10usize, 8..9000u16, prop::collection::vec(any::<u8>(), 1..20_000))
        .prop_map(|(six, ecn, flags, options, segment, payload)| {
            superpacket(six, ecn, flags & !(SYN | RST | URG), options * 4, segment, &payload)
        })
}

/// Segmentation by hand: each packet is one of its own with the sequence number moved on and a valid sum; IPv4's
/// identification counts; PSH and FIN are on the last and CWR on the first.
#[test]
fn a_super_packet_is_the_packets_that_a_sender_without_offload_sends() {
    run(2000, &any_super(), |(offload, bytes)| {
        let burst = Burst::new(offload, &bytes).unwrap();
        let headers = *burst.headers();
        let (at, end) = (headers.ip, headers.end());
        let flags = bytes[at + 13];
        let chunks: Vec<&[u8]> = bytes[end..].chunks(usize::from(offload.segment)).collect();
        prop_assert_eq!(chunks.len(), usize::from(burst.segments()));
        let mut sequence = u32::MAX - 3000;
        for (number, chunk) in chunks.iter().enumerate() {
            let mut own = flags;
            own &= if number == 0 { 0xff } else { !CWR };
            own &= if number + 1 == chunks.len() { 0xff } else { !(PSH | FIN) };
            let mut wanted = tcp(at == 40, headers.ecn, sequence, own, &vec![1; end - at - 20], chunk);
            if at == 20 {
                wanted[4..6].copy_from_slice(&(42 + number as u16).to_be_bytes());
                wanted[10..12].copy_from_slice(&[0, 0]);
                let sum = !fold(add(&wanted[..20]));
                wanted[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            let piece = burst.piece(number as u16, false, None);
            prop_assert_eq!(burst.size(number as u16) as usize, wanted.len());
            prop_assert_eq!(&on_the_wire(&piece, &burst), &wanted);
            prop_assert_eq!(tcp_sum(&wanted), 0xffff);
            sequence = sequence.wrapping_add(chunk.len() as u32);
        }
        Ok(())
    });
}

/// Packets put together and taken apart again are unchanged, packet by packet, byte by byte and in order, whatever was
/// lost or marked before.
#[test]
fn coalescing_changes_no_packet_and_marks_survive() {
    let strategy = (prop::collection::vec(any_super(), 1..4), any::<u64>());
    run(1500, &strategy, |(supers, seed)| {
        let bursts: Vec<Burst> = supers.iter().map(|(o, b)| Burst::new(*o, b).unwrap()).collect();
        let mut draw = seed | 1;
        let mut below = |n: u64| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draw >> 33) % n
        };
        let mut coalescer = Coalescer::default();
        let (mut sent, mut handed_over) = (Vec::new(), Vec::new());
        for (at, burst) in bursts.iter().enumerate() {
            for segment in 0..burst.segments() {
                if below(10) == 0 {
                    continue;
                }
                let piece = burst.piece(segment, below(20) == 0, None);
                sent.push(on_the_wire(&piece, burst));
                coalescer.push(piece, at, Time::ZERO, |train| handed_over.push(handed(train, &bursts)));
            }
        }
        coalescer.flush(|train| handed_over.push(handed(train, &bursts)));
        prop_assert!(handed_over.len() <= sent.len());
        let mut got = Vec::new();
        for (offload, bytes) in &handed_over {
            let burst = Burst::new(*offload, bytes).unwrap();
            got.extend((0..burst.segments()).map(|segment| on_the_wire(&burst.piece(segment, false, None), &burst)));
        }
        // Two super-packets may be of one connection, IPv4's and IPv6's never are: order holds within each.
        for six in [false, true] {
            let of = |list: &[Vec<u8>]| -> Vec<Vec<u8>> {
                list.iter().filter(|bytes| (bytes[0] >> 4 == 6) == six).cloned().collect()
            };
            prop_assert_eq!(of(&got), of(&sent));
        }
        Ok(())
    });
}

/// An undisturbed super-packet goes out as few, 44 packets each.
#[test]
fn what_is_undisturbed_goes_together() {
    let (offload, bytes) = superpacket(false, 2, 0x18, 12, 1000, &vec![7; 60_000]);
    let burst = Burst::new(offload, &bytes).unwrap();
    let mut coalescer = Coalescer::default();
    let mut sizes = Vec::new();
    for segment in 0..burst.segments() {
        coalescer.push(burst.piece(segment, false, None), 0, Time(1), |train| {
            sizes.push((train.segments(), train.wanted().len()));
        });
    }
    coalescer.flush(|train| sizes.push((train.segments(), train.wanted().len())));
    assert_eq!(sizes, [(44, 44), (16, 16)]);
}

/// A mark in the middle ends one super-packet and begins another: marked and unmarked packets do not mix.
#[test]
fn a_marked_packet_goes_alone() {
    let (offload, bytes) = superpacket(true, 2, 0x10, 0, 1000, &[7; 10_000]);
    let bursts = [Burst::new(offload, &bytes).unwrap()];
    let mut coalescer = Coalescer::default();
    let mut seen = Vec::new();
    let mut write = |train: &Train<usize>| {
        let (_, bytes) = handed(train, &bursts);
        seen.push((train.segments(), parse(&bytes).unwrap().ecn));
    };
    for segment in 0..10 {
        coalescer.push(bursts[0].piece(segment, segment == 4, None), 0, Time::ZERO, &mut write);
    }
    coalescer.flush(&mut write);
    assert_eq!(seen, [(4, 2), (1, 3), (5, 2)]);
}

/// Acknowledgements keep their place among the data of their connection; datagrams go as they come.
#[test]
fn what_cannot_be_coupled_goes_as_it_is() {
    let packets = [
        tcp(false, 0, 100, 0x10, &[], &[1; 500]),
        tcp(false, 0, 600, 0x10, &[], &[]),
        ip(false, 0, 17, &[3; 100]),
        ip(true, 0, 58, &[128, 0, 0, 0]),
    ];
    let bursts: Vec<Burst> = packets.iter().map(|bytes| Burst::new(Offload::default(), bytes).unwrap()).collect();
    let mut coalescer = Coalescer::default();
    let mut out = Vec::new();
    for (at, burst) in bursts.iter().enumerate() {
        coalescer.push(burst.piece(0, false, None), at, Time::ZERO, |train| out.push(handed(train, &bursts).1));
    }
    coalescer.flush(|train| out.push(handed(train, &bursts).1));
    assert_eq!(out, packets);
}

/// A packet joins the one before it only where their headers say the same: one with another codepoint, hop limit,
/// acknowledgement, window or option goes as it is.
#[test]
fn packets_whose_headers_differ_stay_apart() {
    for six in [false, true] {
        let (offload, bytes) = superpacket(six, 2, 0x10, 12, 500, &[7; 1000]);
        let segments = |changed: Option<usize>| {
            let mut other = bytes.clone();
            if let Some(place) = changed {
                other[place] ^= 0x40;
            }
            let bursts = [&bytes, &other].map(|bytes| Burst::new(offload, bytes).unwrap());
            let pieces = [0, 1].map(|at| bursts[at].piece(at as u16, false, None));
            let mut coalescer = Coalescer::default();
            let mut trains = Vec::new();
            let mut write = |train: &Train<usize>| trains.push((train.segments(), handed(train, &bursts)));
            for (at, piece) in pieces.into_iter().enumerate() {
                coalescer.push(piece, at, Time::ZERO, &mut write);
            }
            coalescer.flush(&mut write);
            let apart = trains.iter().flat_map(|(_, (offload, bytes))| {
                let burst = Burst::new(*offload, bytes).unwrap();
                (0..burst.segments()).map(|at| on_the_wire(&burst.piece(at, false, None), &burst)).collect::<Vec<_>>()
            });
            let sent = [0, 1].map(|at| on_the_wire(&pieces[at], &bursts[at]));
            assert_eq!(apart.collect::<Vec<_>>(), sent, "{changed:?}");
            trains.iter().map(|(segments, _)| *segments).collect::<Vec<_>>()
        };
        assert_eq!(segments(None), [2]);
        let at = if six { 40 } else { 20 };
        for place in [1, if six { 7 } else { 8 }, at + 11, at + 15, at + 23] {
            assert_eq!(segments(Some(place)), [1, 1], "byte {place}");
        }
    }
}

#[test]
fn a_super_packet_that_is_none_is_refused() {
    let (offload, bytes) = superpacket(false, 2, 0x10, 0, 1000, &[7; 3000]);
    let with = |change: fn(&mut Offload)| {
        let mut wrong = offload;
        change(&mut wrong);
        Burst::new(wrong, &bytes).unwrap_err()
    };
    assert_eq!(with(|o| o.kind = Kind::Tcp6), Flaw::Offload);
    assert_eq!(with(|o| o.kind = Kind::Other(5)), Flaw::Offload);
    assert_eq!(with(|o| o.segment = 0), Flaw::Offload);
    assert_eq!(with(|o| o.checksum_partial = false), Flaw::Offload);
    let none = Burst::new(offload, &tcp(false, 0, 1, 0x10, &[], &[]));
    assert_eq!(none.unwrap_err(), Flaw::Offload);
}

/// A million packets of noise, most of them with the beginnings of a header: none panics, and what is taken can be taken
/// apart, marked and handed over.
#[test]
fn a_million_random_packets_do_no_harm() {
    let mut draw = 1u64;
    let mut next = || {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        draw
    };
    let (mut taken, mut refused) = (0u32, 0u32);
    let mut coalescer = Coalescer::default();
    let mut bursts: Vec<Burst> = Vec::new();
    let mut bytes = Vec::new();
    for number in 0..1_000_000u32 {
        bytes.clear();
        let size = next() % if number % 100 == 0 { 3000 } else { 90 };
        bytes.extend((0..size.div_ceil(8)).flat_map(|_| next().to_le_bytes()));
        bytes.truncate(size as usize);
        let shape = next();
        if shape & 7 != 0 && size > 12 {
            let six = shape & 8 != 0;
            bytes[0] = if six { 0x60 } else { 0x45 + (shape >> 32 & 3) as u8 * u8::from(shape & 16 != 0) };
            let length = if six { size.saturating_sub(40) } else { size };
            let length = if shape & 0x60 == 0 { shape >> 40 } else { length } as u16;
            let place = if six { 4 } else { 2 };
            bytes[place..place + 2].copy_from_slice(&length.to_be_bytes());
            bytes[if six { 6 } else { 9 }] = [TCP, TCP, TCP, 17, 1, 58, 44, shape as u8][(shape >> 48 & 7) as usize];
            if shape & 0x180 != 0 && size > 33 {
                if !six {
                    bytes[6..8].copy_from_slice(&[0, 0]);
                }
                let header = if six { 52 } else { 32 };
                if size > header {
                    bytes[header as usize] = 0x50;
                }
            }
        }
        let mut offload = Offload::default();
        if shape & 0x600 == 0 {
            let raw: [u8; 8] = next().to_le_bytes();
            offload = Offload::read([raw[0], raw[1] & 0x85, raw[2], raw[3], raw[4], raw[5] & 7, raw[6], 0, raw[7], 0]);
        }
        match Burst::new(offload, &bytes) {
            Err(_) => refused += 1,
            Ok(burst) => {
                taken += 1;
                bursts.push(burst);
                let at = bursts.len() - 1;
                for segment in 0..bursts[at].segments() {
                    let piece = bursts[at].piece(segment, segment % 2 == 0, None);
                    assert!(piece.payload().end <= bursts[at].bytes().len());
                    coalescer.push(piece, at, Time::ZERO, |train| drop(handed(train, &bursts)));
                }
            }
        }
        if bursts.len() == 1000 {
            coalescer.flush(|train| drop(handed(train, &bursts)));
            bursts.clear();
        }
    }
    assert!(taken > 200_000 && refused > 200_000, "{taken} taken, {refused} refused");
}
