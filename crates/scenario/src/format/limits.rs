//! The least and the most that numbers of the format may be.

use super::shape::Range;

/// The most flows a group may have.
pub(crate) const MOST_FLOWS: u64 = 10_000_000;
/// The most windows of a scenario: each has its own numbers of every link and flow, and its own part of the report.
pub(crate) const MOST_WINDOWS: usize = 1000;
/// The most packets a flow may start with: they are sent, and held in memory, at once.
pub(crate) const MOST_AT_ONCE: u64 = 1_000_000;
/// 2^31 - 1 packets are the most that every arithmetic can represent.
pub(crate) const MOST_WINDOW: u64 = 2_147_483_647;
/// Segmentation offload sends 64 KiB at most: 43 packets of 1500 B, 64 of 1 KiB.
pub(crate) const MOST_BURST: u64 = 64;
/// The most connections that a group with arrivals has by default.
pub(crate) const MOST_CONNECTIONS: u32 = 10_000;
/// The most objects of a round of a page, and the most rounds.
pub(crate) const MOST_OBJECTS: u64 = 100_000;
pub(crate) const MOST_ROUNDS: usize = 1000;
/// The most connections that load one page.
pub(crate) const MOST_CONNECTIONS_OF_A_BROWSER: u64 = 1000;
/// The blocks that 40 B of options hold (RFC 2018, section 3).
pub(crate) const MOST_BLOCKS: u64 = 4;
/// The most packets that are acknowledged one by one at the start of a connection.
pub(crate) const MOST_QUICK: u64 = 1_000_000;
/// The largest quantum of a scheduler: more in one turn than any buffer of a router holds.
pub(crate) const MOST_QUANTUM: u64 = 1_000_000_000;

/// The most seeds of a sweep.
pub(crate) const MOST_SEEDS: u64 = 10_000;

/// Loss on a line; at one nothing would ever arrive.
pub(crate) const LOSS: Range = Range { least: 0.0, above: false, most: 1.0, below: true };
/// Jitter of a gap between two packets, as a share of the law's gap; at one the gap could vanish.
pub(crate) const SPACING: Range = LOSS;
/// The probability of an event that occurs now and then; at zero it never would.
pub(crate) const CHANCE: Range = Range { least: 0.0, above: true, most: 1.0, below: false };
/// A share of arriving packets, none and all included.
pub(crate) const SHARE: Range = Range { least: 0.0, above: false, most: 1.0, below: false };
/// A multiple of a true value.
pub(crate) const MULTIPLE: Range = Range { least: 0.01, above: false, most: 100.0, below: false };
/// The mean length of a burst of losses, in packets.
pub(crate) const BURST: Range = Range { least: 1.0, above: false, most: 1e6, below: false };
/// The exponent of a Pareto distribution: at 1 and below its mean is infinite, far above it has no tail left.
pub(crate) const TAIL: Range = Range { least: 1.0, above: true, most: 1000.0, below: false };
