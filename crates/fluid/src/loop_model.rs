//! The parts of the loop that a loop gain includes.

use serde::Serialize;

/// The parts of the loop that are included. Each model adds to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopModel {
    /// The laws with the path's delays; periodic laws by their step map at `z = exp(sT)`, without holds.
    Laws,
    /// And the filters that estimators declare: the register of marks, the average round-trip time.
    Estimators,
    /// And sampling: the holds of periodic and per-round laws, and the packets their windows take to follow.
    Sampled,
}

impl LoopModel {
    /// All, from the least to the most that is counted.
    pub const ALL: [Self; 3] = [Self::Laws, Self::Estimators, Self::Sampled];

    /// The one whose verdict is the verdict: it leaves out the least.
    pub const DECISIVE: Self = Self::Sampled;

    /// The model of the loop in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Laws => "ideal measurement",
            Self::Estimators => "with filters",
            Self::Sampled => "sampled data",
        }
    }

    /// The included parts, as the end of a sentence.
    pub const fn counts(self) -> &'static str {
        match self {
            Self::Laws => {
                "laws and exact delays only; senders know true prices and round-trip times; a periodic law is a \
                 discrete map from step to step, and its output is not held in between"
            }
            Self::Estimators => {
                "adds the senders' estimators: of the average round-trip time, and of the price from the last marks"
            }
            Self::Sampled => {
                "adds sampling: a law that acts once per period or round trip holds its output in between, and the \
                 window changes with the packets"
            }
        }
    }

    /// Whether estimators' filters count.
    pub fn counts_estimators(self) -> bool {
        self >= Self::Estimators
    }

    /// Whether sampling and holds count.
    pub fn counts_sampling(self) -> bool {
        self >= Self::Sampled
    }
}
