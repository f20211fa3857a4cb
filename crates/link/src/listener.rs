//! A law for tests: it remembers what its host told it, and says what the test wants.

use penstock_law::aqm::{Chance, Event, Needs, Port as Seen, Queue, Site};
use penstock_law::law::{Dense, Instances, Law};
use penstock_law::{Values, numbers};

/// What the law says after an event.
pub(crate) type Answer = fn(Event, &Seen<f64>) -> f64;

#[derive(Debug)]
struct Listener {
    needs: Needs,
    answer: Answer,
}

numbers! {
    /// What it heard last of each kind.
    struct Heard {
        queue: "packets",
        arrived: "packets",
        capacity: "packets/s",
        sojourn_s: "s",
        now_s: "s",
        probability: "1",
        hits: "1",
        price: "s",
        departed: "packets",
        all_arrived: "packets",
        all_departed: "packets",
    }
}

/// The law, with no instance added yet. Its price, after a tick, is what arrived before.
pub(crate) fn listener(needs: Needs, answer: Answer) -> Box<dyn Instances<f64, Queue>> {
    Box::new(Dense::new(Listener { needs, answer }))
}

impl Law<f64> for Listener {
    type Role = Queue;
    type State = Heard<f64>;

    fn compile(_: &Values, _: &Site) -> Result<Self, String> {
        Err("it has no parameters to compile".into())
    }
    fn start(&self) -> Heard<f64> {
        Heard {
            queue: 0.0,
            arrived: 0.0,
            capacity: 0.0,
            sojourn_s: 0.0,
            now_s: 0.0,
            probability: 0.0,
            hits: 0.0,
            price: 0.0,
            departed: 0.0,
            all_arrived: 0.0,
            all_departed: 0.0,
        }
    }
    fn on(&self, s: &mut Heard<f64>, event: Event, seen: &Seen<f64>) {
        if event == Event::Hit {
            s.hits += 1.0;
            return;
        }
        if event == Event::Tick {
            (s.arrived, s.price) = (seen.arrived, seen.arrived);
            (s.departed, s.all_arrived, s.all_departed) = (seen.departed, seen.all_arrived, seen.all_departed);
        }
        (s.queue, s.capacity, s.sojourn_s, s.now_s) = (seen.queue, seen.capacity, seen.sojourn_s, seen.now_s);
        s.probability = (self.answer)(event, seen);
    }
    fn says(&self, s: &Heard<f64>, _: &Seen<f64>) -> Chance<f64> {
        Chance { probability: s.probability, price_s: s.price }
    }
    fn needs(&self) -> Needs {
        self.needs
    }
}
