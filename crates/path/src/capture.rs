//! The packets of an end, as tcpdump would write them there: those handed to the path and received from it, with the kernel's times.
//!
//! A sent packet is often one super-packet of many, which the path takes apart; received ones may be put together again. Of
//! each the headers are kept.

use std::fs::File;
use std::io::{self, BufWriter, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, PcapError};
use penstock_machine::capability::keep_capabilities;

use super::device::NAME;
use super::ends::End;
use crate::syscall::{packet_losses, packets_of_device};

/// A capture that is being written.
#[derive(Debug)]
pub struct Capture {
    stop: Arc<AtomicBool>,
    writer: JoinHandle<io::Result<Captured>>,
}

/// Counts of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captured {
    /// Packets that are in it.
    pub packets: u64,
    /// Packets that came faster than they could be written.
    pub missed: u64,
}

/// Of each packet so much at most [B]: the headers of IP and TCP with all options, and those of tunnels around them.
const SNAPLEN: usize = 160;
/// Bytes that may wait to be written [B].
const ROOM: usize = 1 << 24;
/// Interval at which it checks for its end.
const LOOK: u16 = 50;

impl Capture {
    /// Begins to write the packets of an end.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn begin(end: &End, file: File) -> io::Result<Self> {
        let packets = end.namespace.within(|| packets_of_device(NAME))?;
        setsockopt(&packets, sockopt::RcvBufForce, &ROOM).or_else(|_| setsockopt(&packets, sockopt::RcvBuf, &ROOM))?;
        setsockopt(&packets, sockopt::ReceiveTimestampns, &true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::Builder::new().name("penstock-pcap".to_owned());
        let writer = thread.spawn(move || {
            keep_capabilities(0)?;
            write(&packets, file, &told)
        })?;
        Ok(Self { stop, writer })
    }

    /// Ends it.
    ///
    /// # Errors
    /// Where packets could not be read, or the file not be written.
    pub fn end(self) -> io::Result<Captured> {
        self.stop.store(true, Ordering::Relaxed);
        self.writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

fn write(packets: &OwnedFd, file: File, stop: &AtomicBool) -> io::Result<Captured> {
    let mut pcap = PcapNgWriter::new(BufWriter::with_capacity(1 << 20, file)).map_err(io_error)?;
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: SNAPLEN as u32,
        options: vec![
            InterfaceDescriptionOption::IfName(NAME.into()),
            // Powers of ten: nanoseconds.
            InterfaceDescriptionOption::IfTsResol(9),
        ],
    };
    pcap.write_pcapng_block(interface).map_err(io_error)?;
    let (mut room, mut control) = ([0; SNAPLEN], nix::cmsg_space!(libc::timespec));
    let mut count = 0;
    loop {
        // What had come by then is written.
        let over = stop.load(Ordering::Relaxed);
        let mut ready = [PollFd::new(packets.as_fd(), PollFlags::POLLIN)];
        match poll(&mut ready, PollTimeout::from(LOOK)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        loop {
            let mut into = [IoSliceMut::new(&mut room)];
            // The whole length is told, however little there was room for.
            let flags = MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT;
            let got = match recvmsg::<()>(packets.as_raw_fd(), &mut into, Some(&mut control), flags) {
                Ok(got) => got,
                Err(Errno::EAGAIN) => break,
                // A device that is gone has no more to give.
                Err(Errno::EINTR | Errno::ENETDOWN) => continue,
                Err(error) => return Err(error.into()),
            };
            let stamp = got.cmsgs()?.find_map(|message| match message {
                ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time)),
                _ => None,
            });
            let whole = got.bytes;
            let packet = EnhancedPacketBlock {
                interface_id: 0,
                timestamp: stamp.unwrap_or_default(),
                original_len: whole as u32,
                data: room[..whole.min(SNAPLEN)].into(),
                options: Vec::new(),
            };
            pcap.write_block(&packet.into_block()).map_err(io_error)?;
            count += 1;
        }
        if over {
            break;
        }
    }
    io::Write::flush(pcap.get_mut())?;
    Ok(Captured { packets: count, missed: packet_losses(packets.as_fd())?.into() })
}
