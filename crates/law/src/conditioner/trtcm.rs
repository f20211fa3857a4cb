//! The two rate three colour marker, colour-blind.
//!
//! Source: RFC 2698, section 3. A packet without tokens in the peak bucket is red; one without tokens in the committed
//! bucket only is yellow, and takes from the peak bucket; green takes from both.
//! Kernel implementation: `bpf/law/trtcm.h`, held equal bit for bit by `vectors/trtcm.txt`.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::bucket::{BUCKET, Bucket, COMMITTED_RATE, contract};
use super::{Colour, Conditioner, Context, Event, Observation, Output, Requirements};
use crate::law::{Entry, Instances, Law, Linearisation, Observables, build};
use crate::number::{Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Conditioner> = Entry {
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
            "peak rate: packets above it are red, bits per second on the wire; at least `committed_rate`",
            "PIR of RFC 2698, section 2",
        ),
        Parameter::automatic(
            "peak_bucket",
            Unit::Bytes,
            "100 ms at the peak rate",
            [0.0, 1e12],
            "peak burst size: most bytes at once without red",
            "PBS of RFC 2698, section 2",
        ),
    ],
    observables: Observables::of::<TwoRate<f64>>(),
    linearisation: Linearisation::Unsupported(
        "the buckets' marking has no derivative where they overflow or are \
         empty",
    ),
    real: &build::<f64, TwoRate<f64>>,
    dual: None,
    fixed: Some(&held),
    kernel: None,
};

/// In the kernel's arithmetic, as far as it reaches.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that every entry has")]
fn held(values: &Values, context: &Context) -> Result<Box<dyn Instances<Fix<32>, Conditioner>>, String> {
    let law = TwoRate::<f64>::compile(values, context)?;
    law.committed.fits()?;
    law.peak.fits()?;
    build::<Fix<32>, TwoRate<Fix<32>>>(values, context)
}

/// The law's compiled parameters.
#[derive(Debug)]
pub struct TwoRate<N> {
    /// The bucket of the committed rate
    pub committed: Bucket<N>,
    /// The bucket of the peak rate
    pub peak: Bucket<N>,
    contract: Requirements,
}

numbers! {
    /// The state of the marker.
    pub struct State {
        /// Tokens left in the committed bucket after the last packet.
        tokens: "B" as "Tokens, committed bucket",
        /// Tokens left in the peak bucket after the last packet.
        peak_tokens: "B" as "Tokens, peak bucket",
    }
    frozen {
        /// The time of that [s].
        at_s: N,
        /// The colour of the packet that arrived last.
        colour: Colour,
    }
}

impl<N: Number> Law<N> for TwoRate<N> {
    type Role = Conditioner;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
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

    fn initial_state(&self) -> State<N> {
        State { tokens: self.committed.depth, peak_tokens: self.peak.depth, at_s: N::of(0.0), colour: Colour::Green }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Arrival { bytes } => {
                let span_s = observation.now_s - s.at_s;
                s.tokens = self.committed.filled(s.tokens, span_s);
                s.peak_tokens = self.peak.filled(s.peak_tokens, span_s);
                s.at_s = observation.now_s;
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

    fn marker(settings: [f64; 4]) -> Result<TwoRate<f64>, String> {
        let mut values = Values::defaults(ENTRY.parameters);
        for (parameter, value) in ENTRY.parameters.iter().zip(settings) {
            values.set(parameter, value).unwrap();
        }
        TwoRate::compile(&values, &Context { packet: Bytes(1000) })
    }

    /// 8 and 16 Mbit/s are 1000 and 2000 B/ms.
    #[test]
    fn green_takes_from_both_buckets_and_yellow_from_one() {
        use Colour::{Green, Red, Yellow};
        let law = marker([8e6, 1000.0, 16e6, 3000.0]).unwrap();
        let mut s = law.initial_state();
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
            let observation = Observation { now_s: now_ms * 1e-3 };
            law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &observation);
            assert_eq!(s.colour, colour, "{now_ms} ms");
            law.on_event(&mut s, Event::Coloured { bytes: 1000, colour }, &observation);
            assert!((s.tokens - tokens).abs() < 1e-6 && (s.peak_tokens - peak).abs() < 1e-6, "{now_ms} ms: {s:?}");
        }
    }

    #[test]
    fn a_peak_below_the_commitment_is_refused() {
        assert!(marker([8e6, 1000.0, 7e6, 3000.0]).unwrap_err().contains("at least"));
        assert!(marker([8e6, 1000.0, 8e6, 3000.0]).is_ok());
    }
}
