//! What becomes of a packet on which a law has spoken. The coin is tossed here and nowhere else.

use penstock_law::aqm::Chance;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing happens to it.
    Pass,
    /// It is marked.
    Mark,
    /// It is dropped.
    Drop,
}

/// Tosses the coin, unless the law is certain that nothing happens. `marks` says that the law marks and that this
/// packet can be marked.
#[inline]
pub(crate) fn toss(chance: &Chance<f64>, marks: bool, coin: impl FnOnce() -> f64) -> Verdict {
    if chance.probability > 0.0 && coin() < chance.probability {
        if marks { Verdict::Mark } else { Verdict::Drop }
    } else {
        Verdict::Pass
    }
}
