//! A law for tests: it remembers the observations of its host, and its output is the test's.

use penstock_law::aqm::{self, Aqm, Event};
use penstock_law::law::{Dense, Instances, Law};
use penstock_law::{Values, numbers};

/// The law's output after an event.
pub(crate) type Answer = fn(Event, &aqm::Observation<f64>) -> f64;

#[derive(Debug)]
struct Listener {
    needs: aqm::Requirements,
    answer: Answer,
}

numbers! {
    /// The last observation of each kind.
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
        all_let_in: "packets",
    }
}

/// The law, with no instance added yet. Its price, after a tick, is the number of arrivals before.
pub(crate) fn listener(needs: aqm::Requirements, answer: Answer) -> Box<dyn Instances<f64, Aqm>> {
    Box::new(Dense::new(Listener { needs, answer }))
}

impl Law<f64> for Listener {
    type Role = Aqm;
    type State = Heard<f64>;

    fn compile(_: &Values, _: &aqm::Context) -> Result<Self, String> {
        Err("it has no parameters to compile".into())
    }
    fn initial_state(&self) -> Heard<f64> {
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
            all_let_in: 0.0,
        }
    }
    fn on_event(&self, s: &mut Heard<f64>, event: Event, seen: &aqm::Observation<f64>) {
        if event == Event::Hit {
            s.hits += 1.0;
            return;
        }
        if event == Event::Tick {
            (s.arrived, s.price) = (seen.arrived, seen.arrived);
            (s.departed, s.all_arrived, s.all_departed) = (seen.departed, seen.all_arrived, seen.all_departed);
            s.all_let_in = seen.all_let_in;
        }
        (s.queue, s.capacity, s.sojourn_s, s.now_s) = (seen.queue, seen.capacity, seen.sojourn_s, seen.now_s);
        s.probability = (self.answer)(event, seen);
    }
    fn output(&self, s: &Heard<f64>, _: &aqm::Observation<f64>) -> aqm::Output<f64> {
        aqm::Output { probability: s.probability, price_s: s.price }
    }
    fn requirements(&self) -> aqm::Requirements {
        self.needs
    }
}
