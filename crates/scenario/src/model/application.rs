//! Applications that request the transfers of a group, where these depend on earlier ones.

use std::sync::Arc;

use penstock_law::quantity::{Rate, Time};

/// The application that requests a group's transfers.
#[derive(Debug, Clone, PartialEq)]
pub enum Application {
    /// Browsers that load pages.
    Page(Page),
    /// Players of video in chunks.
    Video(Video),
}

/// A web page: objects of the group's size, in rounds of which each begins when the one before is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Number of objects in each round.
    pub rounds: Arc<[u32]>,
    /// Number of flows that load it.
    pub connections: u32,
    /// Whether a flow carries all objects of a round together; otherwise each carries one at a time.
    pub multiplexed: bool,
}

/// A video and its player.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// The rates that every chunk has, which grow; two at least.
    pub rates: Arc<[Rate]>,
    /// Playing time of a chunk.
    pub chunk: Time,
    /// Capacity of the player.
    pub buffer: Time,
    /// Up to this much the lowest rate.
    pub reservoir: Time,
    /// From the reservoir and this much on the highest.
    pub cushion: Time,
}
