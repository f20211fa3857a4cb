//! System calls that no library wraps safely, each behind a safe function: the only unsafe code of this crate.
#![allow(unsafe_code, reason = "sched_setattr, capset and `ifreq` are unsafe; everything here is a thin wrapper")]

use std::io;

use nix::errno::Errno;

/// Has this thread scheduled by `SCHED_DEADLINE`: so much of each period [ns].
pub(crate) fn schedule_by_deadline(runtime: u64, period: u64) -> io::Result<()> {
    schedule(|attributes| {
        attributes.sched_policy = libc::SCHED_DEADLINE as u32;
        (attributes.sched_runtime, attributes.sched_deadline, attributes.sched_period) = (runtime, period, period);
    })
}

/// Has this thread scheduled by `SCHED_FIFO`, before those of lower priority.
pub(crate) fn schedule_first(priority: u32) -> io::Result<()> {
    schedule(|attributes| {
        attributes.sched_policy = libc::SCHED_FIFO as u32;
        attributes.sched_priority = priority;
    })
}

/// Has this thread scheduled by `SCHED_IDLE`, after all others.
pub(crate) fn schedule_last() -> io::Result<()> {
    schedule(|attributes| attributes.sched_policy = libc::SCHED_IDLE as u32)
}

fn schedule(set: impl FnOnce(&mut libc::sched_attr)) -> io::Result<()> {
    // SAFETY: all zeroes is a valid `sched_attr`, a structure of integers.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    set(&mut attributes);
    // SAFETY: zero is this thread; the kernel reads as many bytes as `size` says and keeps no pointer.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    Errno::result(result)?;
    Ok(())
}

/// Gives up every capability of this thread, and of its children, but those in `kept`; programs that it executes may inherit
/// those in `inherited`.
pub(crate) fn limit_capabilities(kept: u64, inherited: u64) -> io::Result<()> {
    // `struct __user_cap_header_struct` of linux/capability.h, version 3, and two of `struct __user_cap_data_struct`: effective,
    // permitted, inheritable, of capabilities below 32 and from there on.
    let mut header = [0x2008_0522_u32, 0];
    let mut sets = [[0_u32; 3]; 2];
    // SAFETY: the kernel reads and writes a header of two words and two times three of data, and keeps no pointer.
    unsafe {
        Errno::result(libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()))?;
        for (half, [effective, permitted, inheritable]) in sets.iter_mut().enumerate() {
            let of_half = |mask: u64| (mask >> (32 * half)) as u32;
            *permitted &= of_half(kept);
            (*effective, *inheritable) = (*permitted, *permitted & of_half(inherited));
        }
        Errno::result(libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()))?;
    }
    Ok(())
}

/// The argument of ioctl(2) about the device of this name (netdevice(7)): all but the name is zero. A name is at most 15 bytes; a
/// longer one is cut off.
pub fn request_about_device(name: &str) -> libc::ifreq {
    // SAFETY: all zeroes is a valid `ifreq`, a structure of integers and unions of them.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let most = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(most)) {
        *to = from as libc::c_char;
    }
    request
}
