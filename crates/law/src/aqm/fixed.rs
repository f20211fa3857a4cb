//! A queue's law in the kernel's arithmetic, for a host that measures in `f64`.

use alloc::boxed::Box;

use super::{Aqm, Event, Observation, Output, Requirements};
use crate::law::Instances;
use crate::number::{Fix, Number};

/// The observation is rounded once on its way in, and the output leaves as it is; in between everything is the kernel's
/// arithmetic.
pub struct InFixed(Box<dyn Instances<Fix<32>, Aqm>>);

impl InFixed {
    /// The law, as its entry's fixed-point builder gives it.
    pub fn new(law: Box<dyn Instances<Fix<32>, Aqm>>) -> Self {
        Self(law)
    }
}

fn rounded(observation: &Observation<f64>) -> Observation<Fix<32>> {
    Observation {
        queue: Number::of(observation.queue),
        arrived: Number::of(observation.arrived),
        capacity: Number::of(observation.capacity),
        sojourn_s: Number::of(observation.sojourn_s),
        now_s: Number::of(observation.now_s),
        green: Number::of(observation.green),
        yellow: Number::of(observation.yellow),
        departed: Number::of(observation.departed),
        all_arrived: Number::of(observation.all_arrived),
        all_departed: Number::of(observation.all_departed),
        all_let_in: Number::of(observation.all_let_in),
        colour: observation.colour,
    }
}

fn said(chance: Output<Fix<32>>) -> Output<f64> {
    Output { probability: chance.probability.value(), price_s: chance.price_s.value() }
}

impl Instances<f64, Aqm> for InFixed {
    fn add(&mut self) -> usize {
        self.0.add()
    }
    fn restart(&mut self, at: usize) {
        self.0.restart(at);
    }
    fn keep(&mut self, at: usize) {
        self.0.keep(at);
    }
    fn bring_back(&mut self, at: usize) {
        self.0.bring_back(at);
    }
    fn copy(&mut self, at: usize) -> usize {
        self.0.copy(at)
    }
    fn on_event(&mut self, at: usize, event: Event, observation: &Observation<f64>) -> Output<f64> {
        said(self.0.on_event(at, event, &rounded(observation)))
    }
    fn output(&self, at: usize, observation: &Observation<f64>) -> Output<f64> {
        said(self.0.output(at, &rounded(observation)))
    }
    fn mean_output(&self, at: usize, observation: &Observation<f64>) -> Output<f64> {
        said(self.0.mean_output(at, &rounded(observation)))
    }
    fn names(&self) -> &'static [(&'static str, &'static str)] {
        self.0.names()
    }
    fn each(&mut self, at: usize, f: &mut dyn FnMut(&mut f64)) {
        self.0.each(at, &mut |number| {
            let before = number.value();
            let mut after = before;
            f(&mut after);
            // What is only read keeps all its binary digits.
            if after.to_bits() != before.to_bits() {
                *number = Number::of(after);
            }
        });
    }
    fn requirements(&self) -> Requirements {
        self.0.requirements()
    }
}
