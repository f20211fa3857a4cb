//! System calls that no library wraps safely, each behind a safe function.
//!
//! With `native.rs`, which calls C, the only unsafe code of this crate.
#![allow(unsafe_code, reason = "ioctl, sched_setattr, TCP_INFO and fork are unsafe; everything here is a thin wrapper")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use libbpf_rs::{AsRawLibbpf, Link, Map, libbpf_sys};
use nix::errno::Errno;

/// Makes a TUN device of an open `/dev/net/tun`, in the network namespace of this thread: IP packets without link header,
/// each behind the ten bytes of [`Offload`](crate::path::wire::Offload). `offloads` are `TUN_F_*`.
pub(crate) fn make_tun(device: BorrowedFd<'_>, name: &str, offloads: u32) -> io::Result<()> {
    // SAFETY: all zeroes is a valid `ifreq`, a structure of integers and unions of them.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let most = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(most)) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    let bytes: libc::c_int = crate::path::wire::Offload::BYTES as libc::c_int;
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

/// What a device of this thread's network namespace is: one of `ARPHRD_*`.
pub(crate) fn kind_of_device(name: &str) -> io::Result<u16> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let any = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    // SAFETY: all zeroes is a valid `ifreq`, a structure of integers and unions of them.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let most = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(most)) {
        *to = from as libc::c_char;
    }
    // SAFETY: the descriptor is open; SIOCGIFHWADDR reads the name and writes a `sockaddr`, whose family is the kind.
    unsafe {
        Errno::result(libc::ioctl(any.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request))?;
        Ok(request.ifr_ifru.ifru_hwaddr.sa_family)
    }
}

/// How a thread is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// So much of each period, before everything else (`SCHED_DEADLINE`) [ns].
    Deadline { runtime: u64, period: u64 },
    /// Before every thread of lower and of no priority (`SCHED_FIFO`), 1 to 99.
    Fifo { priority: u32 },
}

impl Scheduling {
    /// Most of a processor, on a machine that has one.
    pub(crate) const MOST: Self = Self::Deadline { runtime: 800_000, period: 1_000_000 };
    /// Before all without a deadline.
    pub(crate) const FIRST: Self = Self::Fifo { priority: 50 };

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Deadline { .. } => "deadline",
            Self::Fifo { .. } => "fifo",
        }
    }
}

/// Has this thread scheduled so.
pub(crate) fn schedule(how: Scheduling) -> io::Result<()> {
    // SAFETY: all zeroes is a valid `sched_attr`, a structure of integers.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    match how {
        Scheduling::Deadline { runtime, period } => {
            attributes.sched_policy = libc::SCHED_DEADLINE as u32;
            (attributes.sched_runtime, attributes.sched_deadline, attributes.sched_period) = (runtime, period, period);
        }
        Scheduling::Fifo { priority } => {
            attributes.sched_policy = libc::SCHED_FIFO as u32;
            attributes.sched_priority = priority;
        }
    }
    // SAFETY: zero is this thread; the kernel reads as many bytes as `size` says and keeps no pointer.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    Errno::result(result)?;
    Ok(())
}

/// Bytes of `struct tcp_info` that are read: up to `tcpi_rehash` and what Linux 6.7 added.
const TCP_INFO_BYTES: usize = 248;

/// `TCP_INFO` of a socket, as bytes; an older kernel gives fewer, and the rest is zero.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<[u8; TCP_INFO_BYTES]> {
    let mut bytes = [0u8; TCP_INFO_BYTES];
    let mut size = TCP_INFO_BYTES as libc::socklen_t;
    let (fd, level, name) = (socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO);
    // SAFETY: the kernel writes at most `size` bytes, the size of the array, and the size it wrote.
    let result = unsafe { libc::getsockopt(fd, level, name, bytes.as_mut_ptr().cast(), &raw mut size) };
    Errno::result(result)?;
    Ok(bytes)
}

/// Sets an option of a socket that is an `int`.
pub(crate) fn set_option(socket: BorrowedFd<'_>, level: i32, name: i32, value: i32) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads one `int`.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) };
    Errno::result(result)?;
    Ok(())
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

/// Starts a program with this thread's namespaces, under a process that ends it and all that it has started when it ends,
/// or when this thread ends, however that happens.
///
/// That process is the first of a process namespace: when it is gone, the kernel kills all others in it.
pub(crate) fn spawn_bounded(command: &mut Command) -> io::Result<Child> {
    // Its writing end closes when this process ends, and here only when the child has been told of that.
    let (alive, held) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    let (alive, mine) = (alive.as_raw_fd(), held.as_raw_fd());
    // SAFETY: between fork and exec only system calls are made: no allocation, no lock. The descriptors are open there,
    // since those of the parent are.
    unsafe {
        command.pre_exec(move || first_of_namespace(alive, mine));
    }
    // This thread's children are in a process namespace of their own from now on; this thread itself is not.
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWPID)?;
    let child = command.spawn();
    drop(held);
    child
}

/// A copy of another process's descriptor.
pub(crate) fn copy_of_descriptor(process: u32, descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: system calls on integers; what they give is a new descriptor that nobody else has, or an error.
    unsafe {
        let process = Errno::result(libc::syscall(libc::SYS_pidfd_open, process, 0))?;
        let process = OwnedFd::from_raw_fd(process as RawFd);
        let copy = Errno::result(libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0))?;
        Ok(OwnedFd::from_raw_fd(copy as RawFd))
    }
}

/// From now on this process does not end by an interrupt from the terminal.
pub(crate) fn ignore_interrupts() -> io::Result<()> {
    for signal in [nix::sys::signal::Signal::SIGINT, nix::sys::signal::Signal::SIGQUIT] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { nix::sys::signal::signal(signal, nix::sys::signal::SigHandler::SigIgn) }?;
    }
    Ok(())
}

/// Runs in the child. Returns in a child of its own, which executes the program; waits for that one otherwise.
fn first_of_namespace(alive: libc::c_int, held: libc::c_int) -> io::Result<()> {
    // SAFETY: system calls on integers and on locals, in a process of one thread; `_exit` runs no destructors.
    unsafe {
        Errno::result(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        // Whether the parent had ended before that took effect: then nobody holds the other end but this copy.
        libc::close(held);
        let mut end = libc::pollfd { fd: alive, events: 0, revents: 0 };
        if libc::poll(&raw mut end, 1, 0) == 1 && end.revents & libc::POLLHUP != 0 {
            libc::_exit(1);
        }
        let program = Errno::result(libc::fork())?;
        if program == 0 {
            return Ok(());
        }
        // The pipe on which the standard library learns of a failed exec must not stay open here.
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
        let mut status = 0;
        loop {
            let ended = libc::waitpid(-1, &raw mut status, 0);
            if ended == program {
                let signal = libc::WIFSIGNALED(status).then(|| 128 + libc::WTERMSIG(status));
                libc::_exit(signal.unwrap_or(libc::WEXITSTATUS(status)));
            }
            if ended < 0 && Errno::last() != Errno::EINTR {
                libc::_exit(1);
            }
        }
    }
}

/// Has a link of struct_ops register another map, loaded and not yet registered, in the place of its own.
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
