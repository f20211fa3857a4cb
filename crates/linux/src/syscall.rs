//! System calls that no library wraps safely, each behind a safe function.
//!
//! The only unsafe code of this crate.
#![allow(unsafe_code, reason = "TCP_INFO and fork are unsafe; everything here is a thin wrapper")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use nix::errno::Errno;
use penstock_machine::capability::{CAP_NET_ADMIN, keep_capabilities, keep_capabilities_to_inherit};

use crate::account::Rights;

/// Bytes of `struct tcp_info` that are read: up to `tcpi_rehash` and the fields that Linux 6.7 added.
const TCP_INFO_BYTES: usize = 248;

/// `TCP_INFO` of a socket, as bytes; an older kernel gives fewer, and the others are zero.
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

/// A program that ends, with all that it has started, when this value or this process does, in any way.
///
/// It runs under the first process of a process namespace: when that is gone, the kernel kills all others in it.
#[derive(Debug)]
pub(crate) struct Bounded {
    child: Child,
    /// Closes with this process at the latest, and nobody else has it for longer than a fork takes.
    _held: OwnedFd,
}

impl Bounded {
    /// Starts a program with this thread's namespaces, and no more than those rights and the capabilities in `kept`. Whatever the thread
    /// starts later is in that process namespace, or fails if it is gone.
    pub(crate) fn spawn(command: &mut Command, rights: &Rights, kept: u64) -> io::Result<Self> {
        let (alive, held) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
        let (told, mine) = (alive.as_raw_fd(), held.as_raw_fd());
        let rights = rights.clone();
        // SAFETY: between fork and exec only system calls are made: no allocation, no lock. The descriptors are open there,
        // since those of the parent are.
        unsafe {
            command.pre_exec(move || first_of_namespace(told, mine));
            // After that, so that the first process stays who this one is, which may end it without any rights.
            command.pre_exec(move || limit_to(&rights, kept));
        }
        // This thread's children are in a process namespace of their own from now on; this thread itself is not.
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWPID)?;
        Ok(Self { child: command.spawn()?, _held: held })
    }

    /// The first process, as this process's namespace numbers it.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The exit status of the program, if it has ended; by a signal is 128 and its number, as in a shell.
    pub(crate) fn ended(&mut self) -> io::Result<Option<u8>> {
        let code = |status: ExitStatus| status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        let number = |code: Option<i32>| code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
        Ok(self.child.try_wait()?.map(code).map(number))
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has this process, which is about to execute a program, have those rights, the capabilities in `kept`, and no way to others.
fn limit_to(rights: &Rights, kept: u64) -> io::Result<()> {
    if *rights == Rights::All {
        return Ok(());
    }
    let is_kept = |capability: u32| kept >> capability & 1 == 1;
    // SAFETY: system calls on integers, and on a list that outlives the call.
    unsafe {
        for capability in (0..u64::BITS).filter(|capability| !is_kept(*capability)) {
            // Those that the kernel does not know it refuses. Who may drop none has nothing to gain by them either, below.
            libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0, 0, 0);
        }
        // Another user would have none; the program is executed without this setting.
        Errno::result(libc::prctl(libc::PR_SET_KEEPCAPS, libc::c_ulong::from(kept != 0), 0, 0, 0))?;
        // The library's functions of these names would have the other threads follow, of which there are none here.
        if let Rights::Other { user, group, groups } = rights {
            Errno::result(libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()))?;
            Errno::result(libc::syscall(libc::SYS_setresgid, *group, *group, *group))?;
            Errno::result(libc::syscall(libc::SYS_setresuid, *user, *user, *user))?;
        }
        keep_capabilities_to_inherit(kept)?;
        for capability in (0..u64::BITS).filter(|capability| is_kept(*capability)) {
            let (raise, capability) = (libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong, libc::c_ulong::from(capability));
            Errno::result(libc::prctl(libc::PR_CAP_AMBIENT, raise, capability, 0, 0))?;
        }
        Errno::result(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
    }
    Ok(())
}

/// By which a process writes in others' directories.
pub(crate) const MAY_WRITE: u64 = 1 << 1;
/// By which a process has its sockets use any controller of the kernel's, and changes the network namespace that it is in.
pub(crate) const MAY_CHOOSE_CONTROLLERS: u64 = 1 << CAP_NET_ADMIN;

/// Does something that looks into the processes of an account as that account: of a thread without the right to look into any
/// process, the kernel requires the same user and group. It keeps its other rights, and is itself again after that.
pub(crate) fn looking_as<T>(rights: &Rights, look: impl FnOnce() -> T) -> io::Result<T> {
    const SAME: u32 = u32::MAX;
    let Rights::Other { user, group, .. } = rights else { return Ok(look()) };
    let (own_user, own_group) = (nix::unistd::getuid().as_raw(), nix::unistd::getgid().as_raw());
    // What decides on descriptors are the real ones, and on what /proc shows those for files.
    // SAFETY: system calls on integers; each is this thread's alone, other than the library's functions of these names.
    let become_other = |user: u32, group: u32| unsafe {
        libc::syscall(libc::SYS_setfsuid, own_user);
        Errno::result(libc::syscall(libc::SYS_setresgid, group, SAME, SAME))?;
        Errno::result(libc::syscall(libc::SYS_setresuid, user, SAME, SAME))?;
        libc::syscall(libc::SYS_setfsgid, group);
        libc::syscall(libc::SYS_setfsuid, user);
        io::Result::Ok(())
    };
    become_other(*user, *group)?;
    let seen = look();
    become_other(own_user, own_group)?;
    Ok(seen)
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

/// Runs in the child. Returns in a child of its own, which executes the program; otherwise waits for that one, or for the
/// end of who started it.
///
/// That is the closing of a pipe, and not `PR_SET_PDEATHSIG`: who is killed before that takes effect would not be missed, and
/// there is no telling from in here, where the number of that parent is zero, nor by a look at the pipe, which closes later.
fn first_of_namespace(alive: libc::c_int, held: libc::c_int) -> io::Result<()> {
    // SAFETY: system calls on integers and on locals, in a process of one thread; `_exit` runs no destructors.
    unsafe {
        libc::close(held);
        let program = Errno::result(libc::fork())?;
        if program == 0 {
            return Ok(());
        }
        // It waits, and no more.
        let _ = keep_capabilities(0);
        // Neither the pipe on which the standard library learns of a failed exec nor another program's may stay open here.
        let (below, above) = (alive as libc::c_uint - 1, alive as libc::c_uint + 1);
        if below >= 3 {
            libc::syscall(libc::SYS_close_range, 3, below, 0);
        }
        libc::syscall(libc::SYS_close_range, above, libc::c_uint::MAX, 0);
        let mut ends: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut ends);
        libc::sigaddset(&raw mut ends, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const ends, std::ptr::null_mut());
        let ends = libc::signalfd(-1, &raw const ends, 0);
        if ends < 0 {
            libc::_exit(1);
        }
        loop {
            let mut status = 0;
            loop {
                let ended = libc::waitpid(-1, &raw mut status, libc::WNOHANG);
                if ended == program {
                    let signal = libc::WIFSIGNALED(status).then(|| 128 + libc::WTERMSIG(status));
                    libc::_exit(signal.unwrap_or(libc::WEXITSTATUS(status)));
                }
                if ended <= 0 {
                    break;
                }
            }
            let watch = |fd, events| libc::pollfd { fd, events, revents: 0 };
            let mut watched = [watch(alive, 0), watch(ends, libc::POLLIN)];
            let happened = libc::poll(watched.as_mut_ptr(), 2, -1);
            if watched[0].revents != 0 || (happened < 0 && Errno::last() != Errno::EINTR) {
                libc::_exit(1);
            }
            if watched[1].revents != 0 {
                let mut read: libc::signalfd_siginfo = std::mem::zeroed();
                libc::read(ends, (&raw mut read).cast(), size_of::<libc::signalfd_siginfo>());
            }
        }
    }
}
