//! Vectors of proportional rate reduction, from the very file that the simulator has.

#[path = "../../../../packets/src/sender/data/prr.rs"]
#[expect(dead_code, reason = "the simulator uses the rest")]
mod prr;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::format::json;
use prr::Prr;

/// Reductions, and what each acknowledgement lets out.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct File {
    /// The version of this format: 1.
    format: u32,
    /// The algorithm.
    algorithm: String,
    /// The document that it follows.
    source: String,
    /// All numbers are exact.
    reductions: Vec<Reduction>,
}

/// One recovery.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Reduction {
    /// The purpose of the sequence.
    name: &'static str,
    /// Target of the window [datagrams].
    ssthresh: u32,
    /// RecoverFS: in flight when recovery began [datagrams].
    recover_fs: u32,
    acknowledgements: Vec<Acknowledgement>,
}

/// An acknowledgement. The packets that it allows leave at once.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Acknowledgement {
    /// DeliveredData [datagrams].
    delivered: u32,
    /// SafeACK: it moves the smallest unacknowledged number on and tells of no loss.
    safe: bool,
    /// In flight, after it and before anything is sent [datagrams].
    in_flight: u32,
    /// Datagrams that may leave [datagrams].
    sends: u32,
}

/// A flight of `flight` datagrams, of which those numbered in `lost` do not arrive; `together` at a time are acknowledged.
fn reduction(name: &'static str, ssthresh: u32, flight: u32, lost: &[u32], together: u32) -> Reduction {
    let mut prr = Prr::new(ssthresh, flight);
    let mut in_flight = flight - lost.len() as u32;
    let mut arrive: Vec<u32> = (0..flight).filter(|number| !lost.contains(number)).collect();
    // What was sent again, or anew, comes a round trip later: that is when recovery ends.
    arrive.reverse();
    let mut acknowledgements = Vec::new();
    while !arrive.is_empty() {
        let delivered = together.min(arrive.len() as u32);
        arrive.truncate(arrive.len() - delivered as usize);
        in_flight -= delivered;
        // The hole stays until what was sent again arrives, so that no acknowledgement moves the smallest number.
        let safe = false;
        prr.hear(delivered, safe, in_flight);
        let mut sends = 0;
        while prr.allows(in_flight + sends) {
            prr.sent();
            sends += 1;
        }
        acknowledgements.push(Acknowledgement { delivered, safe, in_flight, sends });
        in_flight += sends;
    }
    // The flight of the recovery itself: its first fills the hole.
    for _ in 0..in_flight.min(ssthresh) {
        in_flight -= 1;
        prr.hear(1, true, in_flight);
        let mut sends = 0;
        while prr.allows(in_flight + sends) {
            prr.sent();
            sends += 1;
        }
        acknowledgements.push(Acknowledgement { delivered: 1, safe: true, in_flight, sends });
        in_flight += sends;
    }
    Reduction { name, ssthresh, recover_fs: flight, acknowledgements }
}

pub(crate) fn file() -> File {
    let many: Vec<u32> = (0..16).collect();
    let reductions = vec![
        reduction("one loss, half the window", 10, 20, &[0], 1),
        reduction("one loss, 0.7 of the window", 14, 20, &[0], 1),
        reduction("two datagrams an acknowledgement", 14, 20, &[0], 2),
        reduction("a stretched acknowledgement", 10, 20, &[0], 10),
        reduction("sixteen losses of twenty: less in flight than the target", 10, 20, &many, 1),
        reduction("a large window", 700, 1000, &[0, 500], 1),
    ];
    File { format: 1, algorithm: "prr".to_owned(), source: "RFC 9937, section 6".to_owned(), reductions }
}

impl File {
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{{\n\"format\": {},\n\"algorithm\": {},\n\"source\": {},\n\"reductions\": [",
            self.format,
            json(&self.algorithm),
            json(&self.source)
        );
        for (number, reduction) in self.reductions.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(
                text,
                "{comma}\n{{\"name\": {}, \"ssthresh\": {}, \"recover_fs\": {},\n\"acknowledgements\": [",
                json(reduction.name),
                reduction.ssthresh,
                reduction.recover_fs
            )
            .unwrap();
            for (number, acknowledgement) in reduction.acknowledgements.iter().enumerate() {
                let comma = if number == 0 { "" } else { "," };
                write!(text, "{comma}\n {}", json(acknowledgement)).unwrap();
            }
            text += "\n]}";
        }
        text + "\n]}\n"
    }
}

/// RFC 9937, section 6: while more is in flight than the target, what has left is the target's share of what was delivered, rounded
/// up; below it no acknowledgement lets out more than it delivered and one, or goes beyond the target (the conservative and the
/// slow-start reduction bound). A recovery ends with the target in flight, unless
/// more was lost than the reduction has room for.
#[test]
fn reductions_keep_their_share() {
    for Reduction { name, ssthresh, recover_fs, acknowledgements } in file().reductions {
        let (mut delivered, mut out) = (0, 0);
        for (number, one) in acknowledgements.iter().enumerate() {
            delivered += one.delivered;
            out += one.sends;
            if one.in_flight > ssthresh {
                let share = (u64::from(delivered) * u64::from(ssthresh)).div_ceil(u64::from(recover_fs));
                // One goes out at once, whatever the share.
                assert_eq!(u64::from(out), share.max(1), "{name}: acknowledgement {number}");
            } else {
                assert!(one.in_flight + one.sends <= ssthresh.max(one.in_flight + 1), "{name}: {number}");
                let owed = delivered.saturating_sub(out - one.sends).max(one.delivered);
                assert!(one.sends <= owed + 1, "{name}: {number}: {} for {owed}", one.sends);
            }
        }
        // More losses than the reduction has room for leave less.
        if acknowledgements[0].in_flight >= ssthresh {
            let last = acknowledgements.last().unwrap();
            assert_eq!(last.in_flight + last.sends, ssthresh, "{name}");
        }
    }
}
