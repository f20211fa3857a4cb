//! The verdict of a claim.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The verdict of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The bound is kept.
    #[serde(rename = "holds")]
    Holds,
    /// It is not.
    #[serde(rename = "fails")]
    Fails,
    /// The runs do not decide: other seeds would contradict too often, or a run was outside its error bounds.
    #[serde(rename = "undecided")]
    Undecided,
    /// Nothing that runs here decides.
    #[serde(rename = "not run here")]
    NotRunHere,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::NotRunHere => "not run here",
        })
    }
}

/// A claim with its verdict and its measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedClaim {
    /// The claim's id.
    pub id: String,
    /// The figure or table it was measured in.
    pub item: String,
    /// Where it stands in the paper.
    pub place: String,
    /// The paper's statement.
    pub statement: String,
    /// Whether the statement is the paper's wording.
    pub quoted: bool,
    /// Whether the test is ours.
    pub ours: bool,
    /// Whether the statement is ours: the paper does not make it.
    pub unstated: bool,
    /// The measure: a path in a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// The bound, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// Where the bound comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its verdict.
    pub verdict: Verdict,
    /// The numbers that were tested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measured>,
    /// Number of seeds behind it, where they are joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<usize>,
    /// The share of draws of as many seeds, with repetition, in which the bound is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// The smallest change that would turn the verdict: of one of the numbers or of all of them, as a share of the
    /// number or of the bound, whichever is larger. None where no change up to tenfold does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flips: Option<f64>,
    /// Why it was not run or is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A number that was tested.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Where: the cell in words.
    pub at: String,
    /// The number measured there.
    pub value: f64,
    /// The number compared with, where that is not the bound itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<f64>,
    /// Whether it keeps the bound.
    pub keeps: bool,
}
