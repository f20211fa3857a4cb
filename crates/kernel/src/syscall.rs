//! System calls, and calls of libbpf, that no library wraps safely, each behind a safe function.
//!
//! With `native.rs`, which calls C, the only unsafe code of this crate.
#![allow(unsafe_code, reason = "ioctl, bpf and libbpf are unsafe; everything here is a thin wrapper")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use libbpf_rs::{AsRawLibbpf, Link, Map, libbpf_sys};
use nix::errno::Errno;
use penstock_machine::request_about_device;

/// The type of a device of this thread's network namespace: one of `ARPHRD_*`.
pub(crate) fn kind_of_device(name: &str) -> io::Result<u16> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let any = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut request = request_about_device(name);
    // SAFETY: the descriptor is open; SIOCGIFHWADDR reads the name and writes a `sockaddr`, whose family is the kind.
    unsafe {
        Errno::result(libc::ioctl(any.as_raw_fd(), libc::SIOCGIFHWADDR as libc::Ioctl, &raw mut request))?;
        Ok(request.ifr_ifru.ifru_hwaddr.sa_family)
    }
}

/// Attaches a program to a device of this thread's network namespace, behind those that are there, where it was opened for:
/// packets that leave, or that come in. It stays for as long as the link does.
pub(crate) fn attach_to_device(program: &libbpf_rs::Program<'_>, device: u32) -> libbpf_rs::Result<Link> {
    let program = program.as_libbpf_object().as_ptr();
    // SAFETY: the program is loaded, and outlives the call; without options libbpf takes the usual ones. It gives a link that
    // nobody else has, or none with the reason in `errno`.
    unsafe {
        let link = libbpf_sys::bpf_program__attach_tcx(program, device as libc::c_int, std::ptr::null());
        match std::ptr::NonNull::new(link) {
            Some(link) => Ok(Link::from_ptr(link)),
            None => Err(io::Error::last_os_error().into()),
        }
    }
}

/// Has a link of struct_ops register another map, loaded and not yet registered, instead of its own.
pub(crate) fn replace_struct_ops(link: &Link, map: &Map<'_>) -> io::Result<()> {
    // SAFETY: both are alive, and libbpf keeps neither pointer.
    let result =
        unsafe { libbpf_sys::bpf_link__update_map(link.as_libbpf_object().as_ptr(), map.as_libbpf_object().as_ptr()) };
    if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(()) }
}

/// `BPF_ENABLE_STATS` of linux/bpf.h.
const ENABLE_STATS: libc::c_int = 32;

/// Has the kernel count how often programs run and how long, while the result lives.
pub(crate) fn count_run_times() -> io::Result<OwnedFd> {
    const RUN_TIME: u32 = 0;
    // SAFETY: the kernel reads four bytes and keeps no pointer; what it returns is a new descriptor, or negative.
    unsafe {
        let kind = RUN_TIME;
        let fd = Errno::result(libc::syscall(libc::SYS_bpf, ENABLE_STATS, &raw const kind, size_of::<u32>()))?;
        Ok(OwnedFd::from_raw_fd(fd as libc::c_int))
    }
}

/// Makes a BPF file system and mounts it nowhere: whether this process may have one. A kernel that cannot make file systems
/// apart from mounting them is left alone.
pub(crate) fn make_bpf_file_system() -> io::Result<()> {
    /// `FSCONFIG_CMD_CREATE` of linux/mount.h.
    const CREATE: libc::c_uint = 6;
    let null = std::ptr::null::<libc::c_char>();
    // SAFETY: the kernel reads the name up to its zero and keeps no pointer; what it gives are new descriptors that nobody else
    // has, which are closed here.
    let made = unsafe {
        let owned = |fd| Errno::result(fd).map(|fd| OwnedFd::from_raw_fd(fd as RawFd));
        owned(libc::syscall(libc::SYS_fsopen, c"bpf".as_ptr(), 1)).and_then(|context| {
            let fd = context.as_raw_fd();
            Errno::result(libc::syscall(libc::SYS_fsconfig, fd, CREATE, null, null, 0))?;
            owned(libc::syscall(libc::SYS_fsmount, fd, 1, 0))
        })
    };
    match made {
        Ok(_) | Err(Errno::ENOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
