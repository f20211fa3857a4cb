//! A queue's law in the kernel's arithmetic, for a host that measures in `f64`.

use alloc::boxed::Box;

use super::{Chance, Event, Needs, Port, Queue};
use crate::law::Instances;
use crate::number::{Fix, Number};

/// What is measured is rounded once on its way in, what the law says goes out as it is; in between everything is what the
/// kernel computes.
pub struct InFixed(Box<dyn Instances<Fix<32>, Queue>>);

impl InFixed {
    /// The law, as its entry's fixed-point builder gives it.
    pub fn new(law: Box<dyn Instances<Fix<32>, Queue>>) -> Self {
        Self(law)
    }
}

fn rounded(seen: &Port<f64>) -> Port<Fix<32>> {
    Port {
        queue: Number::of(seen.queue),
        arrived: Number::of(seen.arrived),
        capacity: Number::of(seen.capacity),
        sojourn_s: Number::of(seen.sojourn_s),
        now_s: Number::of(seen.now_s),
        green: Number::of(seen.green),
        yellow: Number::of(seen.yellow),
        departed: Number::of(seen.departed),
        all_arrived: Number::of(seen.all_arrived),
        all_departed: Number::of(seen.all_departed),
        colour: seen.colour,
    }
}

fn said(chance: Chance<Fix<32>>) -> Chance<f64> {
    Chance { probability: chance.probability.value(), price_s: chance.price_s.value() }
}

impl Instances<f64, Queue> for InFixed {
    fn add(&mut self) -> usize {
        self.0.add()
    }
    fn restart(&mut self, at: usize) {
        self.0.restart(at);
    }
    fn on(&mut self, at: usize, event: Event, seen: &Port<f64>) -> Chance<f64> {
        said(self.0.on(at, event, &rounded(seen)))
    }
    fn says(&self, at: usize, seen: &Port<f64>) -> Chance<f64> {
        said(self.0.says(at, &rounded(seen)))
    }
    fn says_on_average(&self, at: usize, seen: &Port<f64>) -> Chance<f64> {
        said(self.0.says_on_average(at, &rounded(seen)))
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
    fn needs(&self) -> Needs {
        self.0.needs()
    }
}
