//! Addresses of flows: every flow has an address of its own at each end.
//!
//! So any program's traffic can be assigned, whatever its protocol and ports, and fragments too: a program on the path of a
//! flow talks to its address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::packet::Direction;

/// Flows at most: as many as the last two octets count.
pub const MOST_FLOWS: usize = 65_000;

/// The second octet of an address, or the fourth group, which reads the same.
const SENDERS: (u8, u16) = (77, 0x77);
const RECEIVERS: (u8, u16) = (78, 0x78);
/// Unique local addresses (RFC 4193).
const PREFIX: [u16; 3] = [0xfd50, 0x454e, 0x5354];

/// Where packets that go this way arrive: the receivers' address of a flow, counted from zero, or the senders'.
pub fn v4(towards: Direction, flow: u32) -> Ipv4Addr {
    let [_, _, a, b] = (flow + 1).to_be_bytes();
    Ipv4Addr::new(10, end(towards).0, a, b)
}

/// The same in IPv6.
pub fn v6(towards: Direction, flow: u32) -> Ipv6Addr {
    let [a, b, c] = PREFIX;
    Ipv6Addr::new(a, b, c, end(towards).1, 0, 0, 0, (flow + 1) as u16)
}

/// The flow that a packet with this destination belongs to, if it belongs to one.
pub fn flow(towards: Direction, destination: IpAddr) -> Option<u32> {
    let number = match destination {
        IpAddr::V4(address) => match address.octets() {
            [10, to, a, b] if to == end(towards).0 => u16::from_be_bytes([a, b]),
            _ => return None,
        },
        IpAddr::V6(address) => match address.segments() {
            [a, b, c, to, 0, 0, 0, number] if [a, b, c] == PREFIX && to == end(towards).1 => number,
            _ => return None,
        },
    };
    u32::from(number).checked_sub(1)
}

fn end(towards: Direction) -> (u8, u16) {
    match towards {
        Direction::Forward => RECEIVERS,
        Direction::Reverse => SENDERS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_its_flows_and_nobody_elses() {
        for number in [0, 1, 254, 255, 256, MOST_FLOWS as u32 - 1] {
            for direction in Direction::BOTH {
                let other = if direction == Direction::Forward { Direction::Reverse } else { Direction::Forward };
                for address in [IpAddr::V4(v4(direction, number)), IpAddr::V6(v6(direction, number))] {
                    assert_eq!(flow(direction, address), Some(number), "{address}");
                    assert_eq!(flow(other, address), None, "{address}");
                }
            }
        }
        for other in
            ["10.78.0.0", "10.79.0.1", "224.0.0.1", "ff02::2", "fd50:454e:5354:78::1:1", "fd50:454e:5354:79::1"]
        {
            assert_eq!(flow(Direction::Forward, other.parse().unwrap()), None, "{other}");
        }
        assert_eq!(v6(Direction::Forward, 0).to_string(), "fd50:454e:5354:78::1");
        assert_eq!(
            (v4(Direction::Forward, 0).to_string(), v4(Direction::Reverse, 299).to_string()),
            ("10.78.0.1".into(), "10.77.1.44".into())
        );
    }
}
