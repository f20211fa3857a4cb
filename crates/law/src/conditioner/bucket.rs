//! Buckets of tokens, one token a byte, and the parameters that every contract has.
//!
//! Kernel implementation: `bpf/law/bucket.h`.

use alloc::string::{String, ToString};

use crate::number::Number;
use crate::parameter::{Parameter, Unit, Values};

/// Less of a token than that is rounding of time or of a product, not debt: a source that sends at exactly its rate is
/// in profile, whatever the last bit of a level.
const ROUNDING_BYTES: f64 = 1e-3;

/// The default bucket lasts for so long at the committed rate [s].
const AUTOMATIC_S: f64 = 0.1;

/// The committed rate of the contract.
pub(super) const COMMITTED_RATE: Parameter = Parameter::required(
    "committed_rate",
    Unit::BitPerSecond,
    [1.0, 1e12],
    "committed rate of the contract, bits per second on the wire",
    "the customer's contract; CIR of RFC 2697, section 2",
);

/// The bucket of the committed rate.
pub(super) const BUCKET: Parameter = Parameter::automatic(
    "bucket",
    Unit::Bytes,
    "100 ms at the committed rate",
    [0.0, 1e12],
    "committed burst size: most bytes in profile at once; a larger packet is never in profile",
    "CBS of RFC 2697, section 2; by default one bandwidth-delay product of a round trip of 100 ms",
);

/// A bucket of tokens.
#[derive(Debug, Clone, Copy)]
pub struct Bucket<N> {
    /// Its fill rate [B/s].
    pub rate: N,
    /// Its size [B].
    pub depth: N,
    rounding: N,
    zero: N,
}

impl<N: Number> Bucket<N> {
    pub(super) fn new(bit_per_s: f64, depth_bytes: f64) -> Self {
        Self {
            rate: N::of(bit_per_s / 8.0),
            depth: N::of(depth_bytes),
            rounding: N::of(ROUNDING_BYTES),
            zero: N::of(0.0),
        }
    }

    /// The bucket of [`COMMITTED_RATE`] and [`BUCKET`].
    pub(super) fn committed(values: &Values) -> Self {
        Self::new(values.number(COMMITTED_RATE.name), committed_bytes(values))
    }

    /// Its level after a time, were it without a brim.
    pub(super) fn poured(&self, level: N, span_s: N) -> N {
        level + self.rate * span_s
    }

    /// Its level after a time.
    pub(super) fn filled(&self, level: N, span_s: N) -> N {
        self.poured(level, span_s).min(self.depth)
    }

    /// True if there are tokens for a packet.
    pub(super) fn has(&self, level: N, bytes: u32) -> bool {
        level + self.rounding >= N::count(bytes)
    }

    /// Its level after a packet that it has tokens for.
    pub(super) fn without(&self, level: N, bytes: u32) -> N {
        (level - N::count(bytes)).max(self.zero)
    }
}

impl Bucket<f64> {
    /// Checks that the kernel's arithmetic holds it: every level is exact to its rounding then.
    pub(super) fn fits(&self) -> Result<(), String> {
        if self.rate.max(self.depth) < 2_147_483_648.0 {
            return Ok(());
        }
        Err("rates from 2^31 B/s (17 Gbit/s) and buckets from 2^31 B are beyond the kernel's arithmetic".to_string())
    }
}

/// The depth of the bucket of the committed rate [B].
pub(super) fn committed_bytes(values: &Values) -> f64 {
    values.optional(BUCKET.name).unwrap_or(values.number(COMMITTED_RATE.name) / 8.0 * AUTOMATIC_S)
}

/// The contract of [`COMMITTED_RATE`] and [`BUCKET`], for the host's reports.
pub(super) fn contract(values: &Values) -> super::Requirements {
    super::Requirements {
        committed_bit_per_s: values.number(COMMITTED_RATE.name),
        bucket_bytes: committed_bytes(values),
    }
}
