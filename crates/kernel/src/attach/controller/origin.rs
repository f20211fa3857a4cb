//! The facts about an attached controller that the kernel does not know.

use std::fmt::Write as _;

use libbpf_rs::Link;

use super::figures::Figures;
use super::stack::{Below, Claim};
use crate::attach::attachment::Scope;
use crate::attach::error::Error;

/// The prefix of controllers' pins.
pub(super) const PREFIX: &str = "cc-";

/// Text in an attachment's `.rodata.origin`, a line each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) parameters: Vec<(String, String)>,
    /// Of which namespace it remembers the default, in words, and what.
    pub(super) claim: Option<(Scope, Claim)>,
    pub(super) traced: bool,
}

impl Origin {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.parameters {
            let _ = writeln!(text, "set {name} {value}");
        }
        if let Some((scope, Claim { namespace, layer, below })) = &self.claim {
            let scope = if *scope == Scope::System { "system" } else { "namespace" };
            let below: Vec<String> = below.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "default {scope} {namespace} {layer} {}", below.join(" "));
        }
        if self.traced {
            text.push_str("traced\n");
        }
        text
    }

    pub(super) fn read(text: &str) -> Self {
        let mut origin = Self::default();
        for line in text.lines() {
            let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
            match what {
                "set" => {
                    let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
                    origin.parameters.push((name.to_owned(), value.to_owned()));
                }
                "default" => origin.claim = Self::claim(rest),
                "traced" => origin.traced = true,
                _ => {}
            }
        }
        origin
    }

    fn claim(words: &str) -> Option<(Scope, Claim)> {
        let mut words = words.split_ascii_whitespace();
        let scope = if words.next()? == "system" { Scope::System } else { Scope::Namespace };
        let (namespace, layer) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((scope, Claim { namespace, layer, below: words.filter_map(Below::read).collect() }))
    }

    /// Of the programs behind a link.
    pub(super) fn of(link: &Link) -> Result<Self, Error> {
        let figures = Figures::of(link)?;
        Ok(Self::read(&figures.origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_an_attachment_comes_back() {
        let below = ["ccpd@1", "bbr"].map(|text| Below::read(text).unwrap()).to_vec();
        let origin = Origin {
            parameters: vec![("alpha".into(), "50 packets".into()), ("gamma".into(), "0.5".into())],
            claim: Some((Scope::System, Claim { namespace: 4_026_531_840, layer: 2, below })),
            traced: true,
        };
        assert_eq!(Origin::read(&origin.text()), origin);
        assert_eq!(Origin::read(""), Origin::default());
    }
}
