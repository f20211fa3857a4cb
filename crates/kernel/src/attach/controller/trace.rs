//! Records of a controller, one an acknowledgement.

use std::time::Duration;

use libbpf_rs::RingBufferBuilder;
use penstock_machine::while_trying;

use super::super::error::Error;
use super::super::pins::Pins;
use super::figures::{Figures, map_of};
use super::origin::{Origin, PREFIX};

/// An acknowledgement and the output of the law: `struct record` of bpf/cc/host.h.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record {
    /// Its time, by the clock of the kernel's TCP [us].
    pub time_us: u64,
    /// Ports of the connection.
    pub local_port: u32,
    /// The other end's.
    pub remote_port: u32,
    /// Delivered since the connection began [packets].
    pub delivered: u32,
    /// In flight before the output [packets].
    pub in_flight: u32,
    /// Delivered by this acknowledgement [packets].
    pub acked: u32,
    /// Those of them that were marked [packets].
    pub marked: u32,
    /// The window that the law allows [packets].
    pub window: f64,
    /// The round-trip time in the law's observation [s].
    pub rtt_s: f64,
    /// The smallest round-trip time in it [s].
    pub base_rtt_s: f64,
    /// The third number in it: a price [s], or the capacity [packets/s]; of Copa the round trip of this acknowledgement [s], and
    /// zero where it has none.
    pub price_or_capacity: f64,
}

/// The interval between looks for records.
const LOOK: Duration = Duration::from_millis(5);

impl Record {
    const BYTES: usize = 64;

    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| {
            let mut long = [0; 8];
            long.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(long)
        };
        let number = |at: usize| long(at) as i64 as f64 / 4_294_967_296.0;
        Some(Self {
            time_us: long(0),
            local_port: word(8),
            remote_port: word(12),
            delivered: word(16),
            in_flight: word(20),
            acked: word(24),
            marked: word(28),
            window: number(32),
            rtt_s: number(40),
            base_rtt_s: number(48),
            price_or_capacity: number(56),
        })
    }
}

/// Hands over the records of an attached controller as they come, while `more` is true, which is called every
/// few milliseconds. Records that are not taken in time are lost.
///
/// # Errors
/// A controller that is not attached or writes none, and an error of the kernel.
pub fn trace(
    pins: &Pins,
    name: &str,
    mut each: impl FnMut(&Record),
    mut more: impl FnMut() -> bool,
) -> Result<(), Error> {
    let pin = format!("{PREFIX}{name}");
    if !pins.names()?.contains(&pin) {
        return Err(Error::Input(format!("`{name}` is not attached; `linux attach {name} --trace` attaches it")));
    }
    let figures = Figures::of(&pins.open(&pin)?)?;
    if !Origin::read(&figures.origin).traced {
        return Err(Error::Input(format!(
            "`{name}` is attached without a trace; `linux attach {name} --trace` turns the trace on"
        )));
    }
    let kernel = |source| Error::Kernel {
        what: "the kernel does not hand over records".to_owned(),
        source,
        verifier: String::new(),
    };
    let Some(map) = map_of(&figures.maps, "records") else {
        return Err(while_trying("find the records")(std::io::ErrorKind::NotFound.into()).into());
    };
    let mut hear = |bytes: &[u8]| {
        if let Some(record) = Record::read(bytes) {
            each(&record);
        }
        0
    };
    let mut ring = RingBufferBuilder::new();
    ring.add(&map, &mut hear).map_err(kernel)?;
    let ring = ring.build().map_err(kernel)?;
    while more() {
        ring.consume().map_err(kernel)?;
        std::thread::sleep(LOOK);
    }
    ring.consume().map_err(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_the_kernel_lays_it_out() {
        let mut bytes = [0; Record::BYTES];
        bytes[0] = 7;
        bytes[12] = 80;
        bytes[28] = 3;
        bytes[36] = 25;
        bytes[56..64].copy_from_slice(&(-1i64 << 31).to_ne_bytes());
        let record = Record::read(&bytes).unwrap();
        assert_eq!((record.time_us, record.remote_port, record.marked), (7, 80, 3));
        assert_eq!((record.window, record.price_or_capacity), (25.0, -0.5));
        assert_eq!(Record::read(&bytes[1..]), None);
    }
}
