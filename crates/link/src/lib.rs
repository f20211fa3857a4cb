//! Hosts of queue laws and conditioners, and ways into the network: departure times, drops, marks, colours, idle time. Time and random draws are arguments.
//!
//! A queue in front of a line is a [`Port`] where the moment a packet departs is known when it arrives: one queue,
//! served first in, first out, that loses nothing once it has let it in. Everything else is [`Served`], which holds the
//! packets and chooses one whenever the line is free. The capacity of the line is a [`Service`]. A [`Station`]
//! is one of the two, or the second behind a policer, as a scenario's link has it. The packets world and
//! the emulated path of the Linux world drive the same ones, so that the simulated and the emulated queue are one
//! implementation.

mod account;
mod bursts;
mod conditioner;
mod delays;
mod entry;
mod histogram;
#[cfg(test)]
mod listener;
mod policer;
mod port;
mod ring;
mod served;
mod service;
mod station;
mod verdict;

pub use account::{Counters, Glance};
pub use bursts::Bursts;
pub use conditioner::{CUSTOMER_COLUMNS, Conditioner, Passed};
pub use delays::Delays;
pub use entry::Entry;
pub use histogram::{Extent, Histogram};
pub use policer::Policed;
pub use port::{Config, Offer, Port, Reason};
pub use ring::Ring;
pub use served::{
    Arrival, Departing, Offered, QUEUE_COLUMNS, QueueBook, QueueBooks, QueueCounters, Scheduler, Served, ServedConfig,
};
pub use service::Service;
pub use station::{Apart, Counts, LINK_COLUMNS, Station};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
