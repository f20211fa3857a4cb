//! The token bucket: green while there are tokens for a whole packet, red otherwise.
//!
//! Source: RFC 2475, section 2.3.3.1 (meters) and 2.3.3.2 (markers); the marker of Tartarelli and Banchs, "Random Early
//! Marking", figure 1, and of most of the literature on assured forwarding. Two colours: red packets take no tokens.
//! Differs: RFC 2475 leaves the start open; here the bucket is full then.
//! Kernel implementation: `bpf/law/token-bucket.h`, held equal bit for bit by `vectors/token-bucket.txt`.

use alloc::boxed::Box;
use alloc::string::String;

use super::bucket::{BUCKET, Bucket, COMMITTED_RATE, contract};
use super::{Colour, Conditioner, Context, Event, Observation, Output, Requirements};
use crate::law::{Entry, Instances, Law, Linearisation, Observables, build};
use crate::number::{Fix, Number};
use crate::numbers;
use crate::parameter::Values;

pub(super) const ENTRY: Entry<Conditioner> = Entry {
    name: "token-bucket",
    title: "Token bucket: a packet is in profile while there are tokens, and out of profile otherwise",
    source: "RFC 2475, section 2.3.3; Tartarelli and Banchs, Random Early Marking, figure 1",
    colour: "#5b7f95",
    parameters: &[COMMITTED_RATE, BUCKET],
    observables: Observables::of::<TokenBucket<f64>>(),
    linearisation: Linearisation::Unsupported("the bucket's marking has no derivative where it overflows or is empty"),
    real: &build::<f64, TokenBucket<f64>>,
    dual: None,
    fixed: Some(&held),
    kernel: None,
};

/// In the kernel's arithmetic, as far as it reaches.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that every entry has")]
fn held(values: &Values, context: &Context) -> Result<Box<dyn Instances<Fix<32>, Conditioner>>, String> {
    TokenBucket::<f64>::compile(values, context)?.bucket.fits()?;
    build::<Fix<32>, TokenBucket<Fix<32>>>(values, context)
}

/// The law's compiled parameters.
#[derive(Debug)]
pub struct TokenBucket<N> {
    /// The committed bucket of the contract
    pub bucket: Bucket<N>,
    contract: Requirements,
}

numbers! {
    /// The state of a token bucket.
    pub struct State {
        /// Tokens left in the bucket after the last packet.
        tokens: "B" as "Tokens",
    }
    frozen {
        /// The time of that [s].
        at_s: N,
        /// The colour of the packet that arrived last.
        colour: Colour,
    }
}

impl<N: Number> Law<N> for TokenBucket<N> {
    type Role = Conditioner;
    type State = State<N>;

    fn compile(values: &Values, _: &Context) -> Result<Self, String> {
        Ok(Self { bucket: Bucket::committed(values), contract: contract(values) })
    }

    fn initial_state(&self) -> State<N> {
        State { tokens: self.bucket.depth, at_s: N::of(0.0), colour: Colour::Green }
    }

    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        match event {
            Event::Arrival { bytes } => {
                s.tokens = self.bucket.filled(s.tokens, observation.now_s - s.at_s);
                s.at_s = observation.now_s;
                s.colour = if self.bucket.has(s.tokens, bytes) { Colour::Green } else { Colour::Red };
            }
            Event::Coloured { bytes, colour: Colour::Green } => s.tokens = self.bucket.without(s.tokens, bytes),
            Event::Coloured { .. } => {}
        }
    }

    fn output(&self, s: &State<N>, observation: &Observation<N>) -> Output<N> {
        Output::certain(s.colour, self.bucket.filled(s.tokens, observation.now_s - s.at_s))
    }

    fn requirements(&self) -> Requirements {
        self.contract
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Bytes;

    /// Reference of the early marker, table 1g: 1 Mbit/s, 3000 B, full at the start.
    #[test]
    fn a_bucket_colours_as_the_reference_says() {
        let mut values = Values::defaults(ENTRY.parameters);
        values.set(&COMMITTED_RATE, 1e6).unwrap();
        values.set(&BUCKET, 3000.0).unwrap();
        let law = TokenBucket::<f64>::compile(&values, &Context { packet: Bytes(1000) }).unwrap();
        let mut s = law.initial_state();
        for (now_s, bytes, before, red, after) in [
            (0.0, 1000, 3000.0, 0.0, 2000.0),
            (0.0, 1000, 2000.0, 0.0, 1000.0),
            (0.0, 1000, 1000.0, 0.0, 0.0),
            (0.0, 1000, 0.0, 1.0, 0.0),
            (0.004, 1000, 500.0, 1.0, 500.0),
            (0.008, 1000, 1000.0, 0.0, 0.0),
            (0.0085, 500, 62.5, 1.0, 62.5),
            (0.1, 1500, 3000.0, 0.0, 1500.0),
        ] {
            let observation = Observation { now_s };
            law.on_event(&mut s, Event::Arrival { bytes }, &observation);
            let says = law.output(&s, &observation);
            assert!((says.level - before).abs() < 1e-6 && says.red == red, "{now_s} s: {says:?}");
            let colour = if red > 0.0 { Colour::Red } else { Colour::Green };
            law.on_event(&mut s, Event::Coloured { bytes, colour }, &observation);
            assert!((s.tokens - after).abs() < 1e-6, "{now_s} s: {}", s.tokens);
        }
    }

    /// One packet deep, a source of exactly the rate is never out of profile, for as long as anyone measures.
    #[test]
    fn a_source_at_its_contract_stays_in_profile() {
        for rate in [1e6, 1.5e6, 7e6, 9.7e6] {
            let mut values = Values::defaults(ENTRY.parameters);
            values.set(&COMMITTED_RATE, rate).unwrap();
            values.set(&BUCKET, 1000.0).unwrap();
            let law = TokenBucket::<f64>::compile(&values, &Context { packet: Bytes(1000) }).unwrap();
            let mut s = law.initial_state();
            for n in 0..1_000_000 {
                let observation = Observation { now_s: f64::from(n) * 8000.0 / rate };
                law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &observation);
                assert_eq!(law.output(&s, &observation).red, 0.0, "packet {n} at {rate} bit/s");
                law.on_event(&mut s, Event::Coloured { bytes: 1000, colour: Colour::Green }, &observation);
            }
        }
    }

    /// No bucket, or one smaller than the packet: nothing is in profile, however long the silence.
    #[test]
    fn a_packet_larger_than_the_bucket_is_out_of_profile() {
        for depth in [0.0, 999.0] {
            let mut values = Values::defaults(ENTRY.parameters);
            values.set(&COMMITTED_RATE, 1e9).unwrap();
            values.set(&BUCKET, depth).unwrap();
            let law = TokenBucket::<f64>::compile(&values, &Context { packet: Bytes(1000) }).unwrap();
            let mut s = law.initial_state();
            for now_s in [0.0, 1.0, 1e6] {
                law.on_event(&mut s, Event::Arrival { bytes: 1000 }, &Observation { now_s });
                assert_eq!(law.output(&s, &Observation { now_s }).red, 1.0, "{depth} B after {now_s} s");
            }
        }
    }
}
