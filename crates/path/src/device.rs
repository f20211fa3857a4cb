//! A TUN device: all packets that an end sends can be read from it, and the end receives those written to it.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::sys::uio::{readv, writev};

use super::burst::{Burst, MOST_SEGMENTS, Train};
use super::wire::Offload;
use crate::syscall::make_tun;

/// Its name, in a namespace where there is no other.
pub(crate) const NAME: &str = "penstock0";

/// The longest packet of IP [B].
const LONGEST: usize = 65_535;

/// A TUN device whose end is in some namespace.
#[derive(Debug)]
pub(crate) struct Device {
    file: File,
    buffer: Box<[u8]>,
}

/// A read of a device.
#[derive(Debug)]
pub(crate) enum Got {
    /// Nothing: there is nothing to read.
    Nothing,
    /// A packet, or several at once.
    Burst(Burst),
    /// Something that a router does not pass on.
    Flawed,
}

impl Device {
    /// A new one in the namespace of the calling thread, down and without addresses.
    ///
    /// # Errors
    /// An error of the kernel; `CAP_NET_ADMIN` is required.
    pub(crate) fn new() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        let offloads = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        make_tun(file.as_fd(), NAME, offloads)?;
        Ok(Self { file, buffer: vec![0; LONGEST + 1].into() })
    }

    /// To be polled.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// A packet that the end has sent, if any.
    ///
    /// # Errors
    /// Where the device is no longer there.
    pub(crate) fn read(&mut self) -> io::Result<Got> {
        let mut front = [0; Offload::BYTES];
        let mut into = [IoSliceMut::new(&mut front), IoSliceMut::new(&mut self.buffer)];
        let bytes = match readv(&self.file, &mut into) {
            Ok(bytes) => bytes,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(Got::Nothing),
            Err(error) => return Err(error.into()),
        };
        let packet = self.buffer.get(..bytes.saturating_sub(Offload::BYTES)).unwrap_or_default();
        Ok(Burst::new(Offload::read(front), packet).map_or(Got::Flawed, Got::Burst))
    }

    /// Hands packets to the end, whose network stack does its work before this returns. `bytes` gives those of a burst.
    ///
    /// # Errors
    /// Where the device did not take it.
    pub(crate) fn write<'a, K: Copy + PartialEq>(
        &self,
        train: &'a Train<K>,
        bytes: impl Fn(K) -> &'a [u8],
    ) -> Result<(), Errno> {
        let (offload, header, end) = train.finish();
        let front = offload.write();
        let parts = train.parts();
        // A train has no more parts than packets.
        let mut slices = [IoSlice::new(&[]); 2 + MOST_SEGMENTS as usize];
        slices[0] = IoSlice::new(&front);
        slices[1] = IoSlice::new(&header[..end]);
        for (slice, (burst, range)) in slices[2..].iter_mut().zip(parts) {
            *slice = IoSlice::new(&bytes(*burst)[range.clone()]);
        }
        writev(&self.file, &slices[..2 + parts.len()]).map(drop)
    }
}
