//! What asks for the transfers of a group, where that depends on what has come before.

use std::sync::Arc;

use penstock_law::quantity::{Rate, Time};

use super::Span;

/// What asks for a group's transfers.
#[derive(Debug, Clone, PartialEq)]
pub enum Application {
    /// A browser that loads pages.
    Page(Page),
    /// A player of video in chunks.
    Video(Video),
}

/// A web page: objects of the group's size, in rounds of which each begins when the one before is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// How many objects each round has.
    pub rounds: Arc<[u32]>,
    /// How many connections load it; each carries one object at a time.
    pub connections: u32,
    /// Whether one connection carries all objects of a round together.
    pub multiplexed: bool,
    /// How long after a page its client waits for the next; none where each client loads one.
    pub idle: Option<Span>,
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
