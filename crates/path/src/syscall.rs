//! System calls that no library wraps safely, each behind a safe function: the only unsafe code of this crate.
#![allow(unsafe_code, reason = "ioctl, bind and getsockopt are unsafe; everything here is a thin wrapper")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use penstock_machine::request_about_device;

/// Makes a TUN device of an open `/dev/net/tun`, in the network namespace of this thread: IP packets without link header,
/// each behind the ten bytes of [`Offload`](crate::wire::Offload). `offloads` are `TUN_F_*`.
pub(crate) fn make_tun(device: BorrowedFd<'_>, name: &str, offloads: u32) -> io::Result<()> {
    let mut request = request_about_device(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    let bytes: libc::c_int = crate::wire::Offload::BYTES as libc::c_int;
    let fd = device.as_raw_fd();
    // SAFETY: the descriptor is open; TUNSETIFF reads and writes one `ifreq`, TUNSETVNETHDRSZ reads one `int`, and
    // TUNSETOFFLOAD takes its argument by value.
    unsafe {
        Errno::result(libc::ioctl(fd, libc::TUNSETIFF, &raw mut request))?;
        Errno::result(libc::ioctl(fd, libc::TUNSETVNETHDRSZ, &raw const bytes))?;
        Errno::result(libc::ioctl(fd, libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads)))?;
    }
    Ok(())
}

/// A socket that gets a copy of every packet of IP that a device of this thread's network namespace takes or gives.
pub(crate) fn packets_of_device(name: &str) -> io::Result<OwnedFd> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let number = nix::net::if_::if_nametoindex(name)?;
    // With no protocol it gets nothing before it is bound to a device.
    let packets = socket(AddressFamily::Packet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    // SAFETY: all zeroes is a valid `sockaddr_ll`, a structure of integers.
    let mut device: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    device.sll_family = libc::AF_PACKET as u16;
    device.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    device.sll_ifindex = number as i32;
    let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the kernel reads one `sockaddr_ll`.
    Errno::result(unsafe { libc::bind(packets.as_raw_fd(), (&raw const device).cast(), size) })?;
    Ok(packets)
}

/// Packets that found no space in such a socket, since the last call.
pub(crate) fn packet_losses(packets: BorrowedFd<'_>) -> io::Result<u32> {
    // `struct tpacket_stats`: packets, and drops.
    let mut counts = [0_u32; 2];
    let mut size = size_of_val(&counts) as libc::socklen_t;
    let (fd, level, name) = (packets.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS);
    // SAFETY: the kernel writes at most `size` bytes, the size of the array, and the size it wrote.
    Errno::result(unsafe { libc::getsockopt(fd, level, name, counts.as_mut_ptr().cast(), &raw mut size) })?;
    Ok(counts[1])
}
