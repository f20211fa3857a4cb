//! Penstock's congestion control laws as controllers of [quinn](https://docs.rs/quinn), the QUIC implementation.
//!
//! [`LawConfig`] is any law of a [`Registry`](penstock_law::Registry), with its parameters. The [`Factory`] that it builds is a
//! `quinn_proto::congestion::ControllerFactory`: it makes a controller for each path of each connection.
//!
//! ```
//! use std::sync::Arc;
//!
//! use penstock_law::Registry;
//! use penstock_quinn::LawConfig;
//!
//! let fast = LawConfig::new(&Registry::standard(), "fast")?.set("alpha", 20.0)?;
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(fast.build()?));
//! # Ok::<(), penstock_quinn::Refused>(())
//! ```
//!
//! # What quinn reports, and what it does not
//!
//! | A law may use | In quinn |
//! | --- | --- |
//! | acknowledged data | yes, by bytes; a law counts packets of the MTU at the path's start, and what is no whole packet is carried over |
//! | round-trip times | yes, from the newest ack-eliciting packet of an acknowledgement, with the receiver's delay |
//! | losses, persistent congestion | yes; persistent congestion is the law's timeout (RFC 9002, section 7.6) |
//! | ECN | an echo is a lost packet, once a round trip, whatever the law: quinn always sends ECT(0) (RFC 9002, section 7.1) |
//! | want of data | yes; a law that follows each packet hears of it, and of other laws no window or rate rises, but may fall (RFC 9002, section 7.8) |
//! | marks packet by packet, ECT(1) | no: such laws (`dctcp`, `prague`) are refused |
//! | rate samples, the fate of packets | yes; packets that left in one transmission have one time; losses come after their acknowledgement |
//! | timers and periods | at the next transmission or acknowledgement: a controller of quinn has no timer of its own |
//! | the end of a loss that was none | no: quinn does not detect spurious losses |
//!
//! quinn tells a controller of an acknowledgement, and then of the losses that it shows, and of an echo. The next call is that for the
//! window, which may change nothing. So a law hears of the acknowledgement first. The order of
//! [`DeliveryEvent`](penstock_law::cc::DeliveryEvent) is another than in other hosts: the acknowledgement, a recovery that ends, each packet
//! lost, a recovery that begins. The acknowledgement that ends a recovery completes the round trip of it (RFC 9002, section 7.3.2), so it
//! comes first. After persistent congestion there is none, and the end comes before the acknowledgement.
//!
//! An echo is answered as a lost packet is. `copa` in its default mode, and `vivace` at low loss rates, do not respond to either, and `bbr`
//! responds little. For these, use a socket without ECN.
//!
//! # What quinn takes
//!
//! quinn takes a window, and paces by itself, with 1.25 windows a smoothed round-trip time. A law may have a rate too. The
//! window that quinn gets is then at most the data of that rate in a smoothed round-trip time (Little's law), and two packets
//! at the least (RFC 9002, section 7.2), and before the first round-trip time the initial window. So the mean rate is the law's, and the spacing within a round trip is quinn's.
//!
//! A larger MTU leaves the window in bytes as it is (RFC 8899, section 3). After persistent congestion the window is two datagrams (RFC
//! 9002, section 7.6.2). That of a law that keeps a larger one grows from there as in slow start.
//!
//! quinn asks for the window before each packet with data except loss probes, which is how a small packet is known for one of ACK frames.
//! `Connection::stats` asks too: after a call, the next packet counts as one with data. quinn copies a controller when the
//! port of a peer's IPv4 address alone changes. It takes a new one for another address, and for each change of an IPv6 address or port.
//!
//! Laws have time in 64 bits of picoseconds, which are 213 days. A path that has lasted for 200 days begins afresh with its next packet,
//! as another path would.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "quinn gives the time; nothing here reads a clock")]

mod config;
mod draws;
mod flights;
mod host;
mod refused;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use config::{Factory, LawConfig};
pub use host::Hosted;
pub use refused::Refused;
