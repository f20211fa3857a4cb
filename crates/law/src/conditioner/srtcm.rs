//! The single rate three colour marker, colour-blind.
//!
//! Source: RFC 2697, section 3. One rate fills the committed bucket, and its overflow fills the excess bucket: green
//! takes from the first, yellow from the second, red from none.
//! Kernel implementation: `bpf/law/srtcm.h`, held equal bit for bit by `vectors/srtcm.txt`.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::bucket::{BUCKET, Bucket, COMMITTED_RATE, committed_bytes, contract};
use super::{Colour, Conditioner, Context, Event, Observation, Output, Requirements};
use crate::law::{Entry, Instances, Law, Linearisation, Observables, build};
use crate::number::{Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Conditioner> = Entry {
    name: "srtcm",
    title: "Single rate three colour marker, colour-blind",
    source: "RFC 2697",
    colour: "#2e8b72",
    parameters: &[
        COMMITTED_RATE,
        BUCKET,
        Parameter::automatic(
            "excess_bucket",
            Unit::Bytes,
            "as large as `bucket`",
            [0.0, 1e12],
            "excess burst size: further bytes at once, coloured yellow",
            "EBS of RFC 2697, section 2",
        ),
    ],
    observables: Observables::of::<SingleRate<f64>>(),
    linearisation: Linearisation::Unsupported(
        "the buckets' marking has no derivative where they overflow or are \
         empty",
    ),
    real: &build::<f64, SingleRate<f64>>,
    dual: None,
    fixed: Some(&held),
    kernel: None,
};

/// In the kernel's arithmetic, as far as it reaches.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that every entry has")]
fn held(values: &Values, context: &Context) -> Result<Box<dyn Instances<Fix<32>, Conditioner>>, String> {
    let law = SingleRate::<f64>::compile(values, context)?;
    law.committed.fits()?;
    // A full committed bucket and all that may flow over are one number.
    if law.committed.depth + law.excess.depth >= 2_147_483_648.0 {
        return Err("buckets that hold 2^31 B or more together are beyond the kernel's arithmetic".into());
    }
    build::<Fix<32>, SingleRate<Fix<32>>>(values, context)
}

/// The law's compiled parameters.
#[derive(Debug)]
pub struct SingleRate<N> {
    /// The bucket of the committed rate
    pub committed: Bucket<N>,
    /// The bucket that its overflow fills
    pub excess: Bucket<N>,
    contract: Requirements,
}

numbers! {
    /// The state of the marker.
    pub struct State {
        /// Tokens left in the committed bucket after the last packet.
        tokens: "B" as "Tokens, committed bucket",
        /// Tokens left in the excess bucket after the last packet.
        excess_tokens: "B" as "Tokens, excess bucket",
    }
    frozen {
        /// The time of that [s].
        at_s: N,
        /// The colour of the packet that arrived last.
        colour: Colour,
    }
}

impl<N: Number> Law<N> for SingleRate<N> {
    type Role = Conditioner;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let committed = committed_bytes(values);
        let excess = values.optional("excess_bucket").unwrap_or(committed);
        // RFC 2697, section 2: "at least one of them is larger than 0", and should hold the largest packet.
        if committed.max(excess) <= 0.0 {
            return Err(format!(
                "one of `bucket` and `excess_bucket` must be above zero; a packet has {}",
                context.packet
            ));
        }
        Ok(Self { committed: Bucket::committed(values), excess: Bucket::new(0.0, excess), contract: contract(values) })
    }

    fn initial_state(&self) -> State<N> {
        State {
            tokens: self.committed.depth,
            excess_tokens: self.excess.depth,
            at_s: N::of(0.0),
            colour: Colour::Green,
        }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Arrival { bytes } => {
                let poured = self.committed.poured(s.tokens, observation.now_s - s.at_s);
                s.tokens = poured.min(self.committed.depth);
                s.excess_tokens = (s.excess_tokens + (poured - s.tokens)).min(self.excess.depth);
                s.at_s = observation.now_s;
                s.colour = if self.committed.has(s.tokens, bytes) {
                    Colour::Green
                } else if self.excess.has(s.excess_tokens, bytes) {
                    Colour::Yellow
                } else {
                    Colour::Red
                };
            }
            Event::Coloured { bytes, colour: Colour::Green } => s.tokens = self.committed.without(s.tokens, bytes),
            Event::Coloured { bytes, colour: Colour::Yellow } => {
                s.excess_tokens = self.excess.without(s.excess_tokens, bytes);
            }
            Event::Coloured { colour: Colour::Red, .. } => {}
        }
    }

    fn output(&self, s: &State<N>, observation: &Observation<N>) -> Output<N> {
        Output::certain(s.colour, self.committed.filled(s.tokens, observation.now_s - s.at_s))
    }

    fn requirements(&self) -> Requirements {
        self.contract
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Bytes;

    fn marker(settings: [f64; 3]) -> Result<SingleRate<f64>, String> {
        let mut values = Values::defaults(ENTRY.parameters);
        for (parameter, value) in ENTRY.parameters.iter().zip(settings) {
            values.set(parameter, value).unwrap();
        }
        SingleRate::compile(&values, &Context { packet: Bytes(1000) })
    }

    /// 8 Mbit/s are 1000 B/ms. A burst empties the committed bucket first and the excess bucket then; the excess bucket
    /// fills only once the committed one is full (RFC 2697, section 3).
    #[test]
    fn what_flows_over_fills_the_excess_bucket() {
        use Colour::{Green, Red, Yellow};
        let law = marker([8e6, 2000.0, 1000.0]).unwrap();
        let mut s = law.initial_state();
        for (now_ms, colour, tokens, excess) in [
            (0.0, Green, 1000.0, 1000.0),
            (0.0, Green, 0.0, 1000.0),
            (0.0, Yellow, 0.0, 0.0),
            (0.0, Red, 0.0, 0.0),
            (1.0, Green, 0.0, 0.0),
            (2.5, Green, 500.0, 0.0),
            (2.75, Red, 750.0, 0.0),
            (4.25, Green, 1000.0, 250.0),
            (10.0, Green, 1000.0, 1000.0),
        ] {
            let observation = Observation { now_s: now_ms * 1e-3 };
            law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &observation);
            assert_eq!(s.colour, colour, "{now_ms} ms");
            law.on_event(&mut s, Event::Coloured { bytes: 1000, colour }, &observation);
            assert!((s.tokens - tokens).abs() < 1e-6 && (s.excess_tokens - excess).abs() < 1e-6, "{now_ms} ms: {s:?}");
        }
    }

    #[test]
    fn a_marker_without_any_bucket_is_refused() {
        assert!(marker([8e6, 0.0, 0.0]).unwrap_err().contains("above zero"));
        assert!(marker([8e6, 0.0, 1.0]).is_ok() && marker([8e6, 1.0, 0.0]).is_ok());
    }
}
