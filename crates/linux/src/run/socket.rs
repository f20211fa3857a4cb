//! Sockets of the traffic, and the kernel's reports of them.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, Shutdown, SockFlag, SockType, SockaddrIn, bind, connect, getsockopt, listen,
    recv, setsockopt, shutdown, socket, sockopt,
};
use penstock_law::quantity::Time;
use penstock_path::address;
use penstock_path::packet::Direction;

use crate::syscall::{set_option, tcp_info};

/// Where receivers listen.
pub(super) const PORT: u16 = 5001;

/// Data that a sender has written ahead of those sent [B].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ahead {
    /// Enough to never run dry between two looks.
    Much = 1 << 18,
    /// Little, where it is to fall silent soon after its pause begins.
    Little = 1 << 14,
}

/// A socket of TCP that begins to connect to a flow's receiver, with its controller from the first packet on.
pub(super) fn connecting(flow: u32, controller: &str, ahead: Ahead) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&socket, sockopt::TcpCongestion, &controller.into())?;
    end_when_closed(&socket)?;
    set_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, ahead as i32)?;
    bind(socket.as_raw_fd(), &from(address::v4(Direction::Reverse, flow), 0))?;
    match connect(socket.as_raw_fd(), &from(address::v4(Direction::Forward, flow), PORT)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// Has a connection end as soon as its socket is closed, or as soon as this process ends, however it does. Otherwise the kernel
/// would go on trying to deliver the remainder for minutes, and keep the network namespace and the controller for that.
fn end_when_closed(socket: &OwnedFd) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 })?)
}

/// Whether a connection is over: both ends have sent a FIN, and received one.
pub(super) fn is_over(socket: &OwnedFd) -> io::Result<bool> {
    const CLOSED: u8 = 7;
    Ok(tcp_info(socket.as_fd())?[0] == CLOSED)
}

/// The controller that a socket has in effect.
pub(super) fn controller(socket: &OwnedFd) -> io::Result<String> {
    let name = getsockopt(socket, sockopt::TcpCongestion)?;
    Ok(name.to_string_lossy().trim_end_matches('\0').to_owned())
}

/// The error of a socket, if there was one.
pub(super) fn error(socket: &OwnedFd) -> io::Result<()> {
    match getsockopt(socket, sockopt::SocketError)? {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Nothing more will be sent.
pub(super) fn finish(socket: &OwnedFd) -> io::Result<()> {
    match shutdown(socket.as_raw_fd(), Shutdown::Write) {
        Ok(()) | Err(Errno::ENOTCONN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A socket on which all flows arrive.
pub(super) fn listening(flows: usize) -> io::Result<TcpListener> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&socket, sockopt::ReuseAddr, &true)?;
    // What it accepts inherits that.
    end_when_closed(&socket)?;
    bind(socket.as_raw_fd(), &from(Ipv4Addr::UNSPECIFIED, PORT))?;
    listen(&socket, Backlog::new(flows.clamp(1, 4096) as i32).unwrap_or(Backlog::MAXCONN))?;
    Ok(socket.into())
}

/// A socket of UDP. `Direction::Forward` is a receiver of every flow's datagrams, which nothing reads: arrivals are counted on the
/// path. `Direction::Reverse` is the sender of one.
pub(super) fn datagrams(end: Direction, flow: u32) -> io::Result<OwnedFd> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    if end == Direction::Forward {
        bind(socket.as_raw_fd(), &from(Ipv4Addr::UNSPECIFIED, PORT))?;
    } else {
        bind(socket.as_raw_fd(), &from(address::v4(Direction::Reverse, flow), 0))?;
        connect(socket.as_raw_fd(), &from(address::v4(Direction::Forward, flow), PORT))?;
    }
    Ok(socket)
}

/// Takes arrived bytes without copying them; how many, zero at the end, none where nothing is there.
pub(super) fn discard(socket: &OwnedFd, room: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(socket.as_raw_fd(), room, MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn from(address: Ipv4Addr, port: u16) -> SockaddrIn {
    SocketAddrV4::new(address, port).into()
}

/// `TCP_INFO` of a socket.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Info {
    /// Whether the handshake is over.
    pub(super) established: bool,
    /// Negotiated features.
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    pub(super) ecn: bool,
    /// [packets]
    pub(super) window: u32,
    /// Sent and not acknowledged [packets].
    pub(super) in_flight: u32,
    /// The smoothed round trip, and the smallest.
    pub(super) rtt: Time,
    pub(super) min_rtt: Time,
    /// Segments sent again, and retransmission timeouts.
    pub(super) again: u32,
    pub(super) timeouts: u16,
    /// User's data that were acknowledged, and the segment that began the connection [B].
    pub(super) acked: u64,
    /// Segments that were delivered.
    pub(super) delivered: u32,
    /// Payload of a full segment [B].
    pub(super) segment: u32,
    /// Time with data to send, the part of it that the receiver's window held it, and the part that its own buffer did.
    pub(super) busy: Time,
    pub(super) held_by_receiver: Time,
    pub(super) held_by_buffer: Time,
}

/// The kernel's report of a socket: `struct tcp_info` of linux/tcp.h, whose fields stay where they are.
pub(super) fn info(socket: &OwnedFd) -> io::Result<Info> {
    const ESTABLISHED: u8 = 1;
    const TIMESTAMPS: u8 = 1;
    const SACK: u8 = 2;
    const ECN: u8 = 8;
    let bytes = tcp_info(socket.as_fd())?;
    let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    let microseconds = |us: u64| Time(us.saturating_mul(1_000_000));
    let options = bytes[5];
    let least = word(148);
    Ok(Info {
        established: bytes[0] >= ESTABLISHED && bytes[0] != 2 && bytes[0] != 3,
        timestamps: options & TIMESTAMPS != 0,
        sack: options & SACK != 0,
        ecn: options & ECN != 0,
        window: word(80),
        in_flight: word(24),
        rtt: microseconds(word(68).into()),
        // All ones before there is a sample.
        min_rtt: if least == u32::MAX { Time::NEVER } else { microseconds(least.into()) },
        again: word(100),
        timeouts: u16::from_ne_bytes([bytes[240], bytes[241]]),
        acked: long(120),
        delivered: word(192),
        segment: word(16),
        busy: microseconds(long(168)),
        held_by_receiver: microseconds(long(176)),
        held_by_buffer: microseconds(long(184)),
    })
}
