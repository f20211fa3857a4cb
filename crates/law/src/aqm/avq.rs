//! The adaptive virtual queue: the overflow of a virtual queue, served a little slower than the real one, marks packets.
//!
//! Source: Kunniyur and Srikant, "An Adaptive Virtual Queue (AVQ) Algorithm for Active Queue Management", 2001 (and
//! IEEE/ACM Transactions on Networking 12(2), 2004), the algorithm in pseudo-code.
//! Differs: where the paper is silent, the virtual capacity starts at 0.8 of the real one, as in ns-2.
//! Kernel implementation: `bpf/law/avq.h`, held equal bit for bit by `vectors/avq.txt`.

use alloc::string::String;

use super::{Aqm, Context, Decides, Event, Observation, Output, Requirements};
use crate::law::{Entry, Law, Linearisation, Observables, build};
use crate::number::{Fix, Number};
use crate::numbers;
use crate::parameter::{Parameter, Unit, Values};

pub(super) const ENTRY: Entry<Aqm> = Entry {
    name: "avq",
    title: "AVQ: marks packets that overflow a virtual queue, whose capacity adapts to the load",
    source: "Kunniyur and Srikant 2001, An Adaptive Virtual Queue (AVQ) Algorithm for Active Queue Management",
    colour: "#2e8b6f",
    parameters: &[
        Parameter::switch("ecn", false, "use ECN: mark ECN-capable packets, drop only the others", "RFC 3168"),
        Parameter::number("gamma", Unit::One, 0.98, [1e-3, 1.0], "wanted utilization", "the paper's simulations"),
        Parameter::number(
            "alpha",
            Unit::One,
            0.15,
            [0.0, 100.0],
            "rate of adaptation [1/s]",
            "the paper's simulations; ns-2's alpha_",
        ),
        Parameter::automatic(
            "buffer",
            Unit::Packets,
            "the larger of 100 packets and what the line carries in twice its own delay",
            [1.0, 1e9],
            "size of the virtual queue",
            "our choice: the paper uses the real buffer, which a law does not know",
        ),
        Parameter::number(
            "initial",
            Unit::One,
            0.8,
            [0.0, 1.0],
            "virtual capacity at the start, as a fraction of the real one",
            "ns-2",
        ),
        Parameter::switch(
            "bytes",
            true,
            "count packets by size in the virtual queue",
            "the paper's b is a number of bytes; off, every packet counts one",
        ),
    ],
    observables: Observables::of::<Avq<f64>>(),
    linearisation: Linearisation::Unsupported(
        "the marking rate of its virtual queue depends on the clustering of packets, not on their rate alone",
    ),
    real: &build::<f64, Avq<f64>>,
    dual: None,
    fixed: Some(&build::<Fix<32>, Avq<Fix<32>>>),
    kernel: None,
};

/// The law's compiled parameters.
#[derive(Debug)]
pub struct Avq<N> {
    ecn: bool,
    /// True: a packet counts by its size; false: every packet counts one
    pub bytes: bool,
    /// Wanted utilization
    pub gamma: N,
    /// Rate of adaptation [1/s]
    pub alpha: N,
    /// Size of the virtual queue [packets]
    pub buffer: N,
    initial: N,
    /// The mean packet [B]
    pub mean_packet: N,
    zero: N,
    one: N,
}

numbers! {
    /// The state of AVQ.
    pub struct State {
        /// The rate that serves the virtual queue, which AVQ adapts.
        virtual_capacity: "packets/s" as "Virtual capacity",
        /// Length of the virtual queue after the last arrival.
        virtual_queue: "packets" as "Virtual queue",
    }
    frozen {
        /// The time of that [s].
        last_s: N,
        /// True if the packet that arrived last is to be marked.
        overflowed: bool,
    }
}

impl<N: Number> Law<N> for Avq<N> {
    type Role = Aqm;
    type State = State<N>;

    fn compile(values: &Values, context: &Context) -> Result<Self, String> {
        let c = context.packets_per_s();
        let buffer = values.optional("buffer").unwrap_or_else(|| Number::max(100.0, 2.0 * context.delay.seconds() * c));
        Ok(Self {
            ecn: values.switch("ecn"),
            bytes: values.switch("bytes"),
            gamma: N::of(values.number("gamma")),
            alpha: N::of(values.number("alpha")),
            buffer: N::of(buffer),
            initial: N::of(values.number("initial") * c),
            mean_packet: N::of(context.packet.0 as f64),
            zero: N::of(0.0),
            one: N::of(1.0),
        })
    }

    fn initial_state(&self) -> State<N> {
        State { virtual_capacity: self.initial, virtual_queue: self.zero, last_s: self.zero, overflowed: false }
    }

    #[inline]
    fn on_event(&self, s: &mut State<N>, event: Event, observation: &Observation<N>) {
        let Event::Arrival { bytes, .. } = event else { return };
        let size = if self.bytes { N::count(bytes) / self.mean_packet } else { self.one };
        let gap = observation.now_s - s.last_s;
        s.last_s = observation.now_s;
        s.virtual_queue = (s.virtual_queue - s.virtual_capacity * gap).max(self.zero);
        s.overflowed = s.virtual_queue + size > self.buffer;
        if !s.overflowed {
            s.virtual_queue += size;
        }
        // dC~/dt = alpha (gamma C - lambda), each packet taking its part of lambda when it comes.
        let grown = s.virtual_capacity + self.alpha * (self.gamma * (observation.capacity * gap));
        s.virtual_capacity = (grown.min(observation.capacity) - self.alpha * size).max(self.zero);
    }

    #[inline]
    fn output(&self, s: &State<N>, _: &Observation<N>) -> Output<N> {
        Output { probability: if s.overflowed { self.one } else { self.zero }, price_s: self.zero }
    }

    fn requirements(&self) -> Requirements {
        Requirements { decides: Decides::OnArrival, marks: self.ecn, bytes: self.bytes, ..Requirements::LEAST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Bytes, Rate, Time};

    const C: f64 = 1250.0;

    fn avq() -> Avq<f64> {
        let context = Context {
            rate: Rate(10_000_000),
            delay: Time::from_seconds(0.02),
            packet: Bytes(1000),
            classes: alloc::vec::Vec::new(),
        };
        Avq::compile(&Values::defaults(ENTRY.parameters), &context).unwrap()
    }
    fn arrive(law: &Avq<f64>, s: &mut State<f64>, now_s: f64, bytes: u32) -> bool {
        let observation = Observation { capacity: C, now_s, ..Observation::zero() };
        law.on_event(s, Event::Arrival { bytes, idle: 0 }, &observation);
        law.output(s, &observation).probability > 0.0
    }

    /// The virtual capacity moves by `alpha (gamma C - lambda)` a second: at 0.9 C it gains 0.012 C a second, at 1.08 C
    /// it loses 0.015 C.
    #[test]
    fn the_virtual_capacity_integrates_what_the_load_leaves() {
        for (load, per_second) in [(0.9, 0.012), (1.08, -0.015)] {
            let law = avq();
            let mut s = law.initial_state();
            let packets = (5.0 * load * C).round();
            for i in 1..=packets as u32 {
                arrive(&law, &mut s, f64::from(i) / (load * C), 1000);
            }
            let expected = 0.8 + 5.0 * per_second;
            assert!((s.virtual_capacity / C - expected).abs() < 1e-3, "{load}: {}", s.virtual_capacity / C);
        }
    }

    /// The theorem of the paper: the virtual capacity settles where the load is gamma C. A sender that adds to its rate
    /// with each packet and cuts it with each mark brings it about; the mean load over a span T may miss gamma C by what
    /// the virtual capacity moved, C/(alpha T) at most.
    #[test]
    fn the_load_settles_at_gamma_of_the_capacity() {
        for cut in [0.9, 0.98] {
            let law = avq();
            let (mut s, mut now, mut rate) = (law.initial_state(), 0.0, 300.0);
            let (from, to, mut counted) = (100.0, 500.0, 0.0);
            let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
            while now < to {
                now += 1.0 / rate;
                rate = if arrive(&law, &mut s, now, 1000) { rate * cut } else { rate + 0.05 };
                if now >= from {
                    counted += 1.0;
                    (least, most) = (least.min(s.virtual_capacity), most.max(s.virtual_capacity));
                }
            }
            let load = counted / (to - from);
            assert!((load / C - 0.98).abs() < 1.0 / (0.15 * (to - from)), "{cut}: {}", load / C);
            // The bound holds because the capacity was adapting, not clipped.
            assert!(least > 0.0 && most < C, "{cut}: {least} {most}");
        }
    }

    /// The pseudo-code's `min`: however long nothing comes, the virtual line is never faster than the real one.
    #[test]
    fn the_virtual_capacity_is_at_most_the_real_one() {
        for idle_s in [1.0, 10.0, 3600.0] {
            let law = avq();
            let mut s = law.initial_state();
            arrive(&law, &mut s, idle_s, 1000);
            assert!(s.virtual_capacity <= C, "{idle_s}: {}", s.virtual_capacity);
        }
    }

    /// At a load above a virtual capacity that stands still, what the virtual queue cannot serve is marked.
    #[test]
    fn what_overflows_is_marked() {
        let law = Avq { alpha: 0.0, ..avq() };
        let mut s = law.initial_state();
        let mut marks = [0u32; 2];
        // 1250 packets/s into 1000 packets/s and 100 packets of room: full after 0.4 s, then one in five.
        for i in 1..=12_500_u32 {
            let now = f64::from(i) / C;
            marks[usize::from(now > 0.39)] += u32::from(arrive(&law, &mut s, now, 1000));
        }
        assert_eq!(marks[0], 0);
        assert!((f64::from(marks[1]) / (9.6 * C) - 0.2).abs() < 1e-3, "{marks:?}");
    }

    /// In bytes a packet of an eighth of the mean fills an eighth, and takes an eighth of the virtual capacity.
    #[test]
    fn in_bytes_small_packets_fill_little() {
        let overflow = |law: &Avq<f64>| {
            let mut s = law.initial_state();
            (0..3000).find(|_| arrive(law, &mut s, 0.0, 125))
        };
        assert_eq!(overflow(&avq()), Some(800));
        assert_eq!(overflow(&Avq { bytes: false, ..avq() }), Some(100));
        let taken = |bytes, size| {
            let law = Avq { bytes, ..avq() };
            let mut s = law.initial_state();
            arrive(&law, &mut s, 0.0, size);
            0.8 * C - s.virtual_capacity
        };
        assert!((taken(true, 125) - 0.15 / 8.0).abs() < 1e-9 && (taken(false, 125) - 0.15).abs() < 1e-9);
    }
}
