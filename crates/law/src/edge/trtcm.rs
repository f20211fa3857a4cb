//! The two rate three colour marker, colour-blind.
//!
//! Source: RFC 2698, section 3. What the peak bucket has no tokens for is red; what only the committed bucket has none
//! for is yellow, and takes from the peak bucket; green takes from both.
//! Twin: `bpf/law/trtcm.h`, held equal bit for bit by `vectors/trtcm.txt`.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::bucket::{BUCKET, Bucket, COMMITTED_RATE, contract};
use super::{Colour, Edge, Event, Gate, Needs, Profile, Site};
use crate::law::{Entry, Instances, Law, Linearises, Observables, build};
use crate::number::{Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Edge> = Entry {
    name: "trtcm",
    title: "Two rate three colour marker, colour-blind",
    source: "RFC 2698",
    colour: "#8c6d1f",
    parameters: &[
        COMMITTED_RATE,
        BUCKET,
        Parameter::automatic(
            "peak_rate",
            Unit::BitPerSecond,
            "twice `committed_rate`",
            [1.0, 1e12],
            "what may enter at most without being red, bits a second on the wire; at least `committed_rate`",
            "PIR of RFC 2698, section 2",
        ),
        Parameter::automatic(
            "peak_bucket",
            Unit::Bytes,
            "what the peak rate fills in 100 ms",
            [0.0, 1e12],
            "what may enter at once without being red",
            "PBS of RFC 2698, section 2",
        ),
    ],
    observables: Observables::of::<TwoRate<f64>>(),
    linearises: Linearises::No("buckets mark by overflowing and running dry, which has no derivative"),
    real: build::<f64, TwoRate<f64>>,
    dual: None,
    fixed: Some(held),
};

/// In the kernel's arithmetic, as far as it reaches.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that every entry has")]
fn held(values: &Values, site: &Site) -> Result<Box<dyn Instances<Fix<32>, Edge>>, String> {
    let law = TwoRate::<f64>::compile(values, site)?;
    law.committed.fits()?;
    law.peak.fits()?;
    build::<Fix<32>, TwoRate<Fix<32>>>(values, site)
}

/// The law's compiled parameters.
#[derive(Debug)]
pub struct TwoRate<N> {
    /// The bucket of the committed rate
    pub committed: Bucket<N>,
    /// The bucket of the peak rate
    pub peak: Bucket<N>,
    contract: Needs,
}

numbers! {
    /// What the marker remembers.
    pub struct State {
        /// Tokens left in the committed bucket after the last packet.
        tokens: "B" as "Tokens, committed bucket",
        /// Tokens left in the peak bucket after the last packet.
        peak_tokens: "B" as "Tokens, peak bucket",
    }
    frozen {
        /// When that was [s].
        at_s: N,
        /// What the packet that arrived last is.
        colour: Colour,
    }
}

impl<N: Number> Law<N> for TwoRate<N> {
    type Role = Edge;
    type State = State<N>;

    fn compile(values: &Values, _: &Site) -> Result<Self, String> {
        let committed = values.number(COMMITTED_RATE.name);
        let peak = values.optional("peak_rate").unwrap_or(2.0 * committed);
        if peak < committed {
            return Err(format!("`peak_rate` ({peak} bit/s) must be at least `committed_rate` ({committed} bit/s)"));
        }
        Ok(Self {
            committed: Bucket::committed(values),
            peak: Bucket::new(peak, values.optional("peak_bucket").unwrap_or(peak / 8.0 * 0.1)),
            contract: contract(values),
        })
    }

    fn start(&self) -> State<N> {
        State { tokens: self.committed.depth, peak_tokens: self.peak.depth, at_s: N::of(0.0), colour: Colour::Green }
    }

    fn on(&self, s: &mut State<N>, event: Event, seen: &Gate<N>) {
        match event {
            Event::Arrival { bytes } => {
                let span_s = seen.now_s - s.at_s;
                s.tokens = self.committed.filled(s.tokens, span_s);
                s.peak_tokens = self.peak.filled(s.peak_tokens, span_s);
                s.at_s = seen.now_s;
                s.colour = if !self.peak.has(s.peak_tokens, bytes) {
                    Colour::Red
                } else if !self.committed.has(s.tokens, bytes) {
                    Colour::Yellow
                } else {
                    Colour::Green
                };
            }
            Event::Coloured { colour: Colour::Red, .. } => {}
            Event::Coloured { bytes, colour } => {
                s.peak_tokens = self.peak.without(s.peak_tokens, bytes);
                if colour == Colour::Green {
                    s.tokens = self.committed.without(s.tokens, bytes);
                }
            }
        }
    }

    fn says(&self, s: &State<N>, seen: &Gate<N>) -> Profile<N> {
        Profile::certain(s.colour, self.committed.filled(s.tokens, seen.now_s - s.at_s))
    }

    fn needs(&self) -> Needs {
        self.contract
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Bytes;

    fn marker(settings: [f64; 4]) -> Result<TwoRate<f64>, String> {
        let mut values = Values::defaults(ENTRY.parameters);
        for (parameter, value) in ENTRY.parameters.iter().zip(settings) {
            values.set(parameter, value).unwrap();
        }
        TwoRate::compile(&values, &Site { packet: Bytes(1000) })
    }

    /// 8 and 16 Mbit/s are 1000 and 2000 B/ms.
    #[test]
    fn green_takes_from_both_buckets_and_yellow_from_one() {
        use Colour::{Green, Red, Yellow};
        let law = marker([8e6, 1000.0, 16e6, 3000.0]).unwrap();
        let mut s = law.start();
        for (now_ms, colour, tokens, peak) in [
            (0.0, Green, 0.0, 2000.0),
            (0.0, Yellow, 0.0, 1000.0),
            (0.0, Yellow, 0.0, 0.0),
            (0.0, Red, 0.0, 0.0),
            (0.25, Red, 250.0, 500.0),
            (0.5, Yellow, 500.0, 0.0),
            (1.0, Green, 0.0, 0.0),
            (9.0, Green, 0.0, 2000.0),
        ] {
            let seen = Gate { now_s: now_ms * 1e-3 };
            law.on(&mut s, Event::Arrival { bytes: 1000 }, &seen);
            assert_eq!(s.colour, colour, "{now_ms} ms");
            law.on(&mut s, Event::Coloured { bytes: 1000, colour }, &seen);
            assert!((s.tokens - tokens).abs() < 1e-6 && (s.peak_tokens - peak).abs() < 1e-6, "{now_ms} ms: {s:?}");
        }
    }

    #[test]
    fn a_peak_below_the_commitment_is_refused() {
        assert!(marker([8e6, 1000.0, 7e6, 3000.0]).unwrap_err().contains("at least"));
        assert!(marker([8e6, 1000.0, 8e6, 3000.0]).is_ok());
    }
}
