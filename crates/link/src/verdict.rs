//! The fate of a packet by a law's output. The random draw is made here and nowhere else.

use penstock_law::aqm::{self, Aqm, Event};
use penstock_law::law::Instances;

/// The fate of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It passes unchanged.
    Pass,
    /// It is marked.
    Mark,
    /// It is dropped.
    Drop,
    /// The law's output is no number: the packet passes, and the run has no result.
    Unsound,
}

/// The fate of a packet that was just reported to a law: the random draw is made, a hit is reported, and the law may overrule
/// a mark ([`aqm::Requirements::overrules_marks`]). `markable` is whether this packet can be marked.
#[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
#[inline(always)]
pub(crate) fn judge(
    law: &mut dyn Instances<f64, Aqm>,
    instance: usize,
    event: Event,
    seen: &aqm::Observation<f64>,
    markable: bool,
    coin: impl FnOnce() -> f64,
) -> Verdict {
    let says = law.on_event(instance, event, seen);
    if says.probability <= 0.0 {
        return Verdict::Pass;
    }
    let draw = coin();
    if draw < says.probability {
        return hit(law, instance, seen, markable, draw / says.probability);
    }
    if says.probability.is_nan() { Verdict::Unsound } else { Verdict::Pass }
}

/// `draw` is uniform in [0, 1) among hits.
#[cold]
fn hit(
    law: &mut dyn Instances<f64, Aqm>,
    instance: usize,
    seen: &aqm::Observation<f64>,
    markable: bool,
    draw: f64,
) -> Verdict {
    let aqm::Requirements { marks, overrules_marks, .. } = law.requirements();
    let instead = law.on_event(instance, Event::Hit, seen);
    if overrules_marks && instead.probability.is_nan() {
        return Verdict::Unsound;
    }
    let overruled = overrules_marks && draw < instead.probability;
    if marks && markable && !overruled { Verdict::Mark } else { Verdict::Drop }
}

/// Draws at random, unless the law is certain to pass it. `marks` means that the law marks and that this
/// packet can be marked.
#[inline]
pub(crate) fn toss(chance: &aqm::Output<f64>, marks: bool, coin: impl FnOnce() -> f64) -> Verdict {
    if chance.probability > 0.0 && coin() < chance.probability {
        if marks { Verdict::Mark } else { Verdict::Drop }
    } else {
        Verdict::Pass
    }
}
