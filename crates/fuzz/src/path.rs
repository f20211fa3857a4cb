//! The input of the emulated path from its TUN devices: a virtio header, and behind it a packet or a super-packet.

use penstock_path::burst::{Burst, Coalescer};
use penstock_path::wire::{Offload, parse};

/// Any bytes are packets or are refused. The segments of a super-packet are its payload, without a byte more or less.
///
/// # Panics
/// If not.
pub fn check(data: &[u8]) {
    let Some((offload, bytes)) = data.split_first_chunk::<{ Offload::BYTES }>() else { return };
    let offload = Offload::read(*offload);
    let Ok(burst) = Burst::new(offload, bytes) else { return };
    let headers = *burst.headers();
    assert!(headers.end() <= headers.total && headers.total <= bytes.len(), "headers beyond the packet: {headers:?}");
    let mut payload = 0;
    for segment in 0..burst.segments() {
        let piece = burst.piece(segment, headers.markable(), None);
        payload += piece.payload().len();
        assert_eq!(burst.size(segment) as usize, piece.header().len() + piece.payload().len());
        let packet = [piece.header(), &burst.bytes()[piece.payload()]].concat();
        let again = parse(&packet).expect("a segment is a packet");
        assert_eq!(again.total, packet.len());
        assert!(!headers.markable() || again.ecn == 3, "a mark that is not on the packet");
    }
    assert_eq!(payload, headers.total - headers.end());
    together(&burst);
}

/// Pieces that are handed over together carry the same bytes as apart.
fn together(burst: &Burst) {
    let mut handed = 0;
    let mut coalescer = Coalescer::default();
    let mut pieces = 0;
    for segment in 0..burst.segments() {
        let piece = burst.piece(segment, false, None);
        pieces += piece.payload().len();
        coalescer.push(piece, 0, penstock_law::quantity::Time(0), |train| {
            handed += train.parts().iter().map(|(_, range)| range.len()).sum::<usize>();
        });
    }
    coalescer.flush(|train| handed += train.parts().iter().map(|(_, range)| range.len()).sum::<usize>());
    assert_eq!(handed, pieces, "bytes lost or doubled on the way");
}

/// A packet and a super-packet of TCP over IPv4, and a packet of UDP over IPv6.
pub fn seeds() -> Vec<Vec<u8>> {
    let ip4 = |total: u16| {
        let [a, b] = total.to_be_bytes();
        [0x45, 1, a, b, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2].to_vec()
    };
    let tcp = [&[0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0][..]].concat();
    let plain = [0; Offload::BYTES].to_vec();
    let mut split = plain.clone();
    (split[0], split[1]) = (1, 1);
    split[4..6].copy_from_slice(&100u16.to_ne_bytes());
    let ip6 = [&[0x60, 0x10, 0, 0, 0, 8, 17, 64][..], &[0xfd; 32], &[0; 8]].concat();
    vec![
        [plain.clone(), ip4(40), tcp.clone()].concat(),
        [split, ip4(40 + 250), tcp, vec![7; 250]].concat(),
        [plain, ip6].concat(),
    ]
}
