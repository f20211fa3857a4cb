//! What asks for the transfers of a group, where that depends on what has come before.

use std::sync::Arc;

use penstock_law::quantity::{Rate, Time};

/// What asks for a group's transfers.
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
    /// How many objects each round has.
    pub rounds: Arc<[u32]>,
    /// How many flows load it.
    pub connections: u32,
    /// Whether a flow carries all objects of a round together; otherwise each carries one at a time.
    pub multiplexed: bool,
}

/// A video and its player.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// The rates that every chunk has, which grow; two at least.
    pub rates: Arc<[Rate]>,
    /// How long a chunk plays.
    pub chunk: Time,
    /// How much the player holds.
    pub buffer: Time,
    /// Up to this much the lowest rate.
    pub reservoir: Time,
    /// From the reservoir and this much on the highest.
    pub cushion: Time,
}
