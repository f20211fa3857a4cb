//! Rules of nftables that replace source addresses by the machine's own, for as long as a socket is open.
//!
//! A table has an owner, the socket of netlink that made it (`NFT_TABLE_F_OWNER`, from kernel 5.12 on): nobody else changes it, and the
//! kernel removes it when that is closed, however its process ends. The messages are those of linux/netfilter/nf_tables.h.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, sendto, socket,
};

const NFTABLES: u16 = 10;
const NEW_TABLE: u16 = NFTABLES << 8;
const NEW_CHAIN: u16 = NFTABLES << 8 | 3;
const NEW_RULE: u16 = NFTABLES << 8 | 6;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
/// `NLMSG_ERROR`, which is also the kernel's message of success.
const ANSWER: u16 = 2;

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;
const NESTED: u16 = 0x8000;
const IPV4: u8 = 2;

/// Bytes of the headers of a message: netlink's, and netfilter's.
const HEADER: usize = 16;

/// In this thread's network namespace, gives packets that leave and whose source address begins with these octets the address of
/// the device that they leave by.
pub(super) fn sources(begin: &[u8]) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let rules = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkNetFilter)?;
    bind(rules.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
    sendto(rules.as_raw_fd(), &batch(&name(), begin), &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    // Three of them are asked to be acknowledged. What is wrong is told first.
    let (mut told, mut answer) = (0, [0; 4096]);
    while told < 3 {
        let bytes = recv(rules.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        told += answers(&answer[..bytes])?;
    }
    Ok(rules)
}

/// Another one in each process that there is.
fn name() -> String {
    format!("penstock-{}", std::process::id())
}

/// A table, a chain behind routing, and a rule in it.
fn batch(table: &str, begin: &[u8]) -> Vec<u8> {
    const OWNER: u32 = 2;
    const POST_ROUTING: u32 = 4;
    const OF_SOURCE_NAT: u32 = 100;
    let chain = "postrouting";
    let hook = [word(1, POST_ROUTING), word(2, OF_SOURCE_NAT)].concat();
    // The octets from the twelfth of the network header on, in the first register; equal to these; masquerade.
    let load = [word(1, 1), word(2, 1), word(3, 12), word(4, begin.len() as u32)].concat();
    let equal = [word(1, 1), word(2, 0), nest(3, &attribute(1, begin))].concat();
    let expressions = [expression("payload", &load), expression("cmp", &equal), expression("masq", &[])].concat();
    let asked = REQUEST | ACKNOWLEDGE | CREATE;
    [
        message(BATCH_BEGIN, REQUEST, 0, NFTABLES, &[]),
        message(NEW_TABLE, asked, IPV4, 0, &[text(1, table), word(2, OWNER)].concat()),
        message(NEW_CHAIN, asked, IPV4, 0, &[text(1, table), text(3, chain), nest(4, &hook), text(7, "nat")].concat()),
        message(NEW_RULE, asked | APPEND, IPV4, 0, &[text(1, table), text(2, chain), nest(4, &expressions)].concat()),
        message(BATCH_END, REQUEST, 0, NFTABLES, &[]),
    ]
    .concat()
}

fn message(kind: u16, flags: u16, family: u8, resource: u16, content: &[u8]) -> Vec<u8> {
    let length = (HEADER + 4 + content.len()) as u32;
    let mut bytes = Vec::new();
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    // Neither a number of the message nor one of the sender is asked for.
    bytes.extend([0; 8]);
    bytes.extend([family, 0]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(content);
    bytes
}

fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((4 + content.len() as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn word(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

fn text(kind: u16, text: &str) -> Vec<u8> {
    attribute(kind, &[text.as_bytes(), &[0]].concat())
}

fn nest(kind: u16, content: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, content)
}

fn expression(name: &str, content: &[u8]) -> Vec<u8> {
    nest(1, &[text(1, name), nest(2, content)].concat())
}

/// Number of messages acknowledged in the kernel's reply; or the error.
fn answers(mut said: &[u8]) -> io::Result<usize> {
    let (mut count, word) = (0, |bytes: &[u8]| u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    while said.len() >= HEADER + 4 {
        let kind = u16::from_ne_bytes([said[4], said[5]]);
        if kind == ANSWER {
            match word(&said[HEADER..]) as i32 {
                0 => count += 1,
                error => return Err(io::Error::from_raw_os_error(-error)),
            }
        }
        let length = (word(said) as usize).next_multiple_of(4).max(HEADER);
        said = said.get(length..).unwrap_or_default();
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_lengths_and_are_aligned() {
        let bytes = batch("penstock-1", &[10, 77]);
        let (mut at, mut kinds) = (0, Vec::new());
        while at < bytes.len() {
            let length = u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            kinds.push(u16::from_ne_bytes(bytes[at + 4..at + 6].try_into().unwrap()));
            assert!(length.is_multiple_of(4) && length >= HEADER + 4, "{length} at {at}");
            at += length;
        }
        assert_eq!((at, kinds), (bytes.len(), vec![BATCH_BEGIN, NEW_TABLE, NEW_CHAIN, NEW_RULE, BATCH_END]));
        assert_eq!(text(1, "cmp"), [8, 0, 1, 0, b'c', b'm', b'p', 0]);
        assert_eq!(attribute(1, &[10, 77]), [6, 0, 1, 0, 10, 77, 0, 0], "padding is not counted");
    }

    #[test]
    fn what_the_kernel_refuses_is_an_error() {
        let answer = |error: i32| {
            let mut bytes = message(ANSWER, 0, 0, 0, &[0; 16]);
            bytes[HEADER..HEADER + 4].copy_from_slice(&error.to_ne_bytes());
            bytes
        };
        assert_eq!(answers(&[answer(0), answer(0)].concat()).unwrap(), 2);
        let refused = answers(&[answer(0), answer(-libc::EOPNOTSUPP)].concat()).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EOPNOTSUPP));
        assert_eq!(answers(&[1, 2, 3]).unwrap(), 0);
    }
}
