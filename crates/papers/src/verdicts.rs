//! `verdicts.toml`: the recorded verdicts of the repository, and their comparison with a run.

use std::fmt::Write;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::extent::Extent;
use crate::paper::PaperError;
use crate::verdict::{JudgedClaim, Measured, Verdict};

/// A recorded verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The verdict of the claim.
    pub verdict: Verdict,
    /// The measured numbers, for people: they are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<String>,
    /// Number of joined seeds. Like the two below it is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<usize>,
    /// The share of draws of as many seeds in which the bound is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// The smallest change of the measure that would turn the verdict, as a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flips: Option<f64>,
}

/// Every recorded verdict of a paper, by claim.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdicts {
    format: u32,
    /// Of whole runs.
    #[serde(default)]
    full: IndexMap<String, Recorded>,
    /// Of short runs.
    #[serde(default)]
    short: IndexMap<String, Recorded>,
}

/// Comparison of a verdict with the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Comparison {
    /// The same.
    Same,
    /// Another one is on record.
    Differs,
    /// None is on record.
    New,
}

impl Verdicts {
    /// Reads `verdicts.toml`; `file` is how errors name it.
    ///
    /// # Errors
    /// Names the line and the error there.
    pub fn parse(text: &str, file: &str) -> Result<Self, PaperError> {
        let at = |offset, what| PaperError { file: file.into(), line: check::line(text, offset), what };
        let verdicts: Self =
            toml::from_str(text).map_err(|e| at(e.span().map_or(0, |s| s.start), check::unknown_key(e.message())))?;
        if verdicts.format != 1 {
            return Err(at(0, format!("format {} is not known; this version reads format 1", verdicts.format)));
        }
        Ok(verdicts)
    }

    /// The recorded verdict of a claim.
    pub fn of(&self, claim: &str, extent: Extent) -> Option<&Recorded> {
        match extent {
            Extent::Full => self.full.get(claim),
            Extent::Short => self.short.get(claim),
        }
    }

    /// The ids of all claims on record.
    pub fn claims(&self) -> impl Iterator<Item = &str> {
        self.full.keys().chain(self.short.keys()).map(String::as_str)
    }

    /// Comparison of a claim with the record. A claim without a recorded verdict differs from everything: a new
    /// claim cannot slip by.
    pub fn compare(&self, judged: &JudgedClaim, extent: Extent) -> Comparison {
        match self.of(&judged.id, extent) {
            Some(recorded) if recorded.verdict == judged.verdict => Comparison::Same,
            Some(_) => Comparison::Differs,
            None => Comparison::New,
        }
    }

    /// Records `claims` instead of their entries so far.
    pub fn record(&mut self, claims: &[JudgedClaim], extent: Extent) {
        let kept = match extent {
            Extent::Full => &mut self.full,
            Extent::Short => &mut self.short,
        };
        for judged in claims {
            let recorded = Recorded {
                verdict: judged.verdict,
                measured: in_words(judged),
                seeds: judged.seeds,
                chance: judged.chance,
                flips: judged.flips.map(|share| (share * 1e4).round() / 1e4),
            };
            kept.insert(judged.id.clone(), recorded);
        }
    }

    /// Forgets claims that are not among `known`, and puts the others in that order.
    pub fn keep(&mut self, known: &[&str]) {
        for kept in [&mut self.full, &mut self.short] {
            kept.retain(|id, _| known.contains(&id.as_str()));
            kept.sort_by_cached_key(|id, _| known.iter().position(|k| k == id));
        }
    }

    /// The text of `verdicts.toml` for the paper `key`.
    pub fn text(&self, key: &str) -> String {
        let mut text = format!(
            "# Written by `penstock paper {key} --record` (whole runs) and with `--short` (short runs). A verdict that\n\
             # differs from the one here ends `penstock paper` with status 1; the numbers are for people.\n\
             format = 1\n"
        );
        for (extent, kept) in [("full", &self.full), ("short", &self.short)] {
            for (id, recorded) in kept {
                let _ = write!(text, "\n[{extent}.{id:?}]\nverdict  = \"{}\"\n", recorded.verdict);
                if let Some(measured) = &recorded.measured {
                    let _ = writeln!(text, "measured = {measured:?}");
                }
                if let Some(seeds) = recorded.seeds {
                    let _ = writeln!(text, "seeds    = {seeds}");
                }
                if let Some(chance) = recorded.chance {
                    let _ = writeln!(text, "chance   = {chance:?}");
                }
                if let Some(flips) = recorded.flips {
                    let _ = writeln!(text, "flips    = {flips:?}");
                }
            }
        }
        text
    }
}

fn in_words(judged: &JudgedClaim) -> Option<String> {
    let word = |m: &Measured| {
        let at = if m.at.is_empty() { String::new() } else { format!("{}: ", m.at) };
        let against = m.against.map(|a| format!(" against {}", short(a))).unwrap_or_default();
        let fails = if m.keeps { "" } else { " (fails)" };
        format!("{at}{}{against}{fails}", short(m.value))
    };
    (!judged.measured.is_empty()).then(|| judged.measured.iter().map(word).collect::<Vec<_>>().join("; "))
}

/// Five digits: enough for a person to compare.
fn short(x: f64) -> String {
    let text = format!("{x:.4e}");
    text.parse::<f64>().map_or(text, |rounded| rounded.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_digits_are_kept() {
        assert_eq!(short(0.957_123_456), "0.95712");
        assert_eq!(short(4_962.512_3), "4962.5");
        assert_eq!(short(0.0), "0");
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let error = Verdicts::parse("format = 1\n\n[full.\"a\"]\nverdict = \"holds\"\nmesured = \"1\"\n", "v.toml");
        assert_eq!(error.unwrap_err().to_string(), "v.toml:5: unknown key `mesured`; did you mean `measured`?");
    }
}
