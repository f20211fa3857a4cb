//! A link's queue as fluid, with its law.

use penstock_law::aqm::{self, Decides, Event, Serve};
use penstock_law::conditioner::Colour;
use penstock_law::law::Linearisation;
use penstock_law::mean::{Change, drive};
use penstock_law::{Instances, Values};
use penstock_scenario::model::Chosen;

use super::arithmetic::{index, larger, number, smaller};
use super::conditioner::{GREEN, Shares};
use super::incoming::Arriving;
use super::state::{State, put, state_of};

/// A queue. Its history is kept whole: packets look up the queue at their arrival, the report its distribution.
pub(super) struct Queue {
    /// Capacity [packets/s].
    pub(super) capacity: f64,
    buffer: f64,
    law: Box<dyn Instances<f64, aqm::Aqm>>,
    /// The names of the law's state.
    pub(super) names: &'static [(&'static str, &'static str)],
    needs: aqm::Requirements,
    packet_bytes: u32,
    /// Probability of a loss on the line.
    pub(super) line_loss: f64,
    /// Step [s]; every history has a value at each multiple. And reciprocals of a second and a packet, since
    /// every packet's way uses them.
    step: f64,
    steps_a_second: f64,
    seconds_a_packet: f64,
    /// Packets waiting.
    pub(super) waiting: Vec<f64>,
    /// Mark (or drop) probability of the law, of green packets where it goes by colours.
    chance: Vec<f64>,
    /// That of yellow and of red ones; empty where it does not.
    coloured: Vec<[f64; 2]>,
    /// Green and yellow packets of the queue [packets].
    waiting_by: [f64; 2],
    /// Share of arrivals that overflowed the buffer.
    overflow: Vec<f64>,
    since_tick: f64,
    ticks: u64,
    /// Counted since the start [packets].
    pub(super) total: Counted,
    price_s: f64,
    has_price: bool,
    /// Time of the law's first output that is no number [s].
    pub(super) unsound_s: Option<f64>,
}

/// Counters of a queue [packets], and the integral of its price [s^2].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) arrived: f64,
    pub(super) served: f64,
    pub(super) dropped: f64,
    pub(super) marked: f64,
    pub(super) price: f64,
}

impl Queue {
    pub(super) fn new(
        name: &str,
        chosen: &Chosen<aqm::Aqm>,
        site: &aqm::Context,
        buffer: f64,
        line_loss: f64,
    ) -> Result<Self, String> {
        let law = build(chosen.law.name, chosen.law.real, &chosen.values, site)?;
        let needs = law.requirements();
        let what = match needs.decides {
            _ if needs.serve != Serve::Scheduler => Some("queues of its own"),
            _ if needs.classes => Some("separate classes"),
            _ if needs.colours && needs.marks => Some("marks by colour"),
            Decides::AtHead => Some("a decision at the head of the queue"),
            Decides::OnArrival | Decides::OnDeparture
                if matches!(chosen.law.linearisation, Linearisation::Unsupported(_)) && !needs.colours =>
            {
                Some("an update without a mean")
            }
            _ => None,
        };
        if let Some(what) = what {
            return Err(format!(
                "the link `{name}` has `{}`, a law with {what}, which fluid does not support",
                chosen.law.name
            ));
        }
        Ok(Self {
            capacity: site.packets_per_s(),
            buffer,
            names: law.names(),
            law,
            needs,
            packet_bytes: u32::try_from(site.packet.0).unwrap_or(u32::MAX),
            line_loss,
            step: 0.0,
            steps_a_second: 0.0,
            seconds_a_packet: 1.0 / site.packets_per_s(),
            waiting: Vec::new(),
            chance: Vec::new(),
            coloured: Vec::new(),
            waiting_by: [0.0; 2],
            overflow: Vec::new(),
            since_tick: 0.0,
            ticks: 0,
            total: Counted::default(),
            price_s: 0.0,
            has_price: false,
            unsound_s: None,
        })
    }

    /// Whether some packets end here: those of flows that take marks, or of others.
    pub(super) fn takes(&self, marked: bool) -> bool {
        let drops = self.needs.decides != Decides::Never && !(marked && self.needs.marks);
        drops || self.buffer.is_finite() || self.line_loss > 0.0
    }

    /// Size of its buffer [packets].
    pub(super) fn buffer(&self) -> f64 {
        self.buffer
    }

    /// Whether packets that can be marked are marked.
    pub(super) fn marks(&self) -> bool {
        self.needs.marks
    }

    /// The average price so far has a meaning.
    pub(super) fn has_price(&self) -> bool {
        self.has_price
    }

    /// Numbers of the law's state.
    pub(super) fn state(&mut self) -> State {
        state_of(self.law.as_mut(), 0)
    }

    /// Makes space for so many steps.
    pub(super) fn begin(&mut self, steps: usize, step: f64) {
        self.step = step;
        self.steps_a_second = 1.0 / step;
        // With a thousand links histories are most of the memory: only those are kept that are read.
        let kept = [true, self.needs.decides != Decides::Never, self.buffer.is_finite()];
        for (history, kept) in [&mut self.waiting, &mut self.chance, &mut self.overflow].into_iter().zip(kept) {
            history.reserve_exact(if kept { steps + 1 } else { 1 });
            history.push(0.0);
        }
        self.law.add();
        self.law.add();
        if self.needs.colours {
            let empty = aqm::Observation { capacity: self.capacity, ..aqm::Observation::zero() };
            let chances = self.chances_by_colour(&empty);
            self.chance[0] = chances[0];
            self.coloured.push([chances[1], chances[2]]);
        }
    }

    #[inline]
    fn at(&self, history: &[f64], t: f64) -> f64 {
        let x = t * self.steps_a_second;
        if x <= 0.0 {
            return history[0];
        }
        let k = index(x);
        // One comparison bounds both: most packets came before the last step.
        let (k, a, b) = if let Some(&[a, b]) = history.get(k..k.saturating_add(2)) {
            (k, a, b)
        } else {
            let last = history.len() - 1;
            (k.min(last), history[k.min(last)], history[(k + 1).min(last)])
        };
        a + smaller(x - number(k), 1.0) * (b - a)
    }

    /// Waiting time of a packet that arrives at `t` [s].
    pub(super) fn wait_s(&self, t: f64) -> f64 {
        self.at(&self.waiting, t) * self.seconds_a_packet
    }

    /// When a packet that arrives as that step ends leaves [s]: never before those that came earlier.
    fn leaves(&self, step: usize) -> f64 {
        self.left_by(step, self.waiting[step])
    }

    /// The same, where so many packets wait then.
    #[inline]
    fn left_by(&self, step: usize, waiting: f64) -> f64 {
        number(step) * self.step + waiting * self.seconds_a_packet
    }

    /// When the packet arrived that leaves at `t`; the last one, where nothing arrived for a while. The inverse of
    /// `a + wait_s(a)`, which is straight within a step.
    pub(super) fn entered(&self, t: f64) -> f64 {
        let last = self.waiting.len() - 1;
        if t <= 0.0 {
            return t - self.waiting[0] * self.seconds_a_packet;
        }
        // A packet that came at about `t` waits about as long as one that leaves then did; from there by strides.
        let newest = index(t * self.steps_a_second).min(last);
        let guess = (t - self.waiting[newest] * self.seconds_a_packet) * self.steps_a_second;
        let mut low = index(larger(guess, 0.0)).min(last);
        let (mut before, mut after) = match self.waiting.get(low..low + 2) {
            Some(&[a, b]) => (self.left_by(low, a), self.left_by(low + 1, b)),
            _ => (self.leaves(low), self.leaves((low + 1).min(last))),
        };
        if before > t || after <= t {
            low = self.search(t, low);
            if low == last {
                return t - self.waiting[last] * self.seconds_a_packet;
            }
            (before, after) = (self.leaves(low), self.leaves(low + 1));
        }
        // The first packet of a queue that was never empty leaves later than that.
        let share = larger((t - before) / (after - before), 0.0);
        (number(low) + share) * self.step
    }

    /// The last step at whose end a packet arrives that has left by `t`, from a guess on; the first one, where there is none.
    #[cold]
    fn search(&self, t: f64, guess: usize) -> usize {
        let last = self.waiting.len() - 1;
        let (mut low, mut high) = (guess, guess + 1);
        let mut stride = 1;
        if self.leaves(guess) <= t {
            while high <= last && self.leaves(high) <= t {
                low = high;
                stride *= 2;
                high = (high + stride).min(last + 1);
            }
        } else {
            (low, high) = (guess.saturating_sub(1), guess);
            while low > 0 && self.leaves(low) > t {
                high = low;
                stride *= 2;
                low = low.saturating_sub(stride);
            }
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.leaves(middle) <= t {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The probability that the law marks (or drops) a packet that arrives at `t`.
    #[inline]
    pub(super) fn chance(&self, t: f64) -> f64 {
        match self.needs.decides {
            Decides::Never => 0.0,
            Decides::OnDeparture => self.at(&self.chance, t + self.wait_s(t)),
            _ => self.at(&self.chance, t),
        }
    }

    /// The probability that the law marks (or drops) a packet that arrives at `t`, and that it finds no space or is lost.
    pub(super) fn chances(&self, t: f64) -> (f64, f64) {
        let chance = self.chance(t);
        let lost = if self.buffer.is_finite() { self.at(&self.overflow, t) } else { 0.0 };
        (chance, 1.0 - (1.0 - lost) * (1.0 - self.line_loss))
    }

    /// The probability that the law hits a packet that arrives at `t`, and those that one of each colour goes on: a hit is a drop unless
    /// the packet is `marked` instead.
    pub(super) fn keeps(&self, t: f64, marked: bool) -> (f64, Shares) {
        let (chance, lost) = self.chances(t);
        let dropped = if marked && self.marks() { [0.0; 3] } else { self.chances_of_colours(chance, t) };
        (chance, dropped.map(|dropped| (1.0 - lost) * (1.0 - dropped)))
    }

    /// The probabilities that the law drops a packet of each colour that arrives at `t`, `green` being that of green ones.
    fn chances_of_colours(&self, green: f64, t: f64) -> Shares {
        if self.coloured.is_empty() {
            return [green; 3];
        }
        let x = (t * self.steps_a_second).max(0.0);
        let k = index(x).min(self.coloured.len() - 1);
        let (a, b) = (self.coloured[k], self.coloured[(k + 1).min(self.coloured.len() - 1)]);
        let share = f64::min(x - number(k), 1.0);
        [green, a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]
    }

    /// The law's output for a packet of each colour that arrives now.
    fn chances_by_colour(&mut self, seen: &aqm::Observation<f64>) -> Shares {
        let state = state_of(self.law.as_mut(), 0);
        Colour::ALL.map(|colour| {
            let seen = aqm::Observation { colour, ..*seen };
            self.law.restart(1);
            put(self.law.as_mut(), 1, &state);
            self.law.on_event(1, Event::Arrival { bytes: self.packet_bytes, idle: 0 }, &seen);
            self.law.mean_output(1, &seen).probability
        })
    }

    fn output(&mut self, queue: f64) -> (f64, f64) {
        if self.needs.decides == Decides::Never {
            return (0.0, 0.0);
        }
        let seen = aqm::Observation { queue, arrived: 0.0, capacity: self.capacity, ..aqm::Observation::zero() };
        let said = self.law.mean_output(0, &seen);
        (said.probability, said.price_s)
    }

    /// One step, with its arrivals.
    pub(super) fn advance(&mut self, from: f64, to: f64, arriving: &Arriving) {
        let dt = to - from;
        let before = self.waiting[self.waiting.len() - 1];
        let chance = self.chance[self.chance.len() - 1];
        let by_colour = match self.coloured.last() {
            Some([yellow, red]) => [chance, *yellow, *red],
            None => [chance; 3],
        };
        let dropped = if self.needs.marks {
            arriving.droppable * chance
        } else {
            arriving.by_colour.iter().zip(by_colour).map(|(packets, chance)| packets * chance).sum()
        };
        let marked = if self.needs.marks { (arriving.packets - arriving.droppable) * chance } else { 0.0 };
        let entering = arriving.packets - dropped;
        // Straight within the step, so that where it touches zero or the brim is exact.
        let reached = before + entering - self.capacity * dt;
        let spilled = f64::max(reached - self.buffer, 0.0);
        let after = (reached - spilled).max(0.0);
        let served = before + entering - spilled - after;
        self.law_advance(arriving, from, to, before, after);
        let (probability, price_s) = if self.needs.colours {
            self.mix(
                before,
                arriving.by_colour,
                by_colour,
                if entering > 0.0 { 1.0 - spilled / entering } else { 1.0 },
                after,
            );
            let seen = self.port(after, Colour::Green);
            let chances = self.chances_by_colour(&seen);
            self.coloured.push([chances[1], chances[2]]);
            (chances[0], 0.0)
        } else {
            self.output(after)
        };
        if probability.is_nan() || price_s.is_nan() {
            self.unsound_s.get_or_insert(to);
        }
        self.has_price |= price_s > 0.0;
        self.total.price += 0.5 * (self.price_s + price_s) * dt;
        self.price_s = price_s;
        self.total.arrived += arriving.packets;
        self.total.served += served;
        self.total.dropped += dropped + spilled + served * self.line_loss;
        self.total.marked += marked;
        self.waiting.push(after);
        if self.needs.decides != Decides::Never {
            self.chance.push(probability);
        }
        if self.buffer.is_finite() {
            self.overflow.push(if entering > 0.0 { spilled / entering } else { 0.0 });
        }
    }

    /// The queue of each colour after a step: queue and arrivals leave in proportion.
    fn mix(&mut self, before: f64, incoming: Shares, chances: Shares, kept: f64, after: f64) {
        let enter: Vec<f64> =
            incoming.iter().zip(chances).map(|(packets, chance)| packets * (1.0 - chance) * kept).collect();
        let all = before + enter.iter().sum::<f64>();
        let left = if all > 0.0 { after / all } else { 0.0 };
        for (waiting, enter) in self.waiting_by.iter_mut().zip(enter) {
            *waiting = (*waiting + enter) * left;
        }
    }

    /// The observation of a law of colours.
    fn port(&self, queue: f64, colour: Colour) -> aqm::Observation<f64> {
        let [green, yellow] = self.waiting_by;
        aqm::Observation { queue, colour, green, yellow, capacity: self.capacity, ..aqm::Observation::zero() }
    }

    /// The law through the step: arrivals as a mean, ticks at their times.
    fn law_advance(&mut self, arriving: &Arriving, from: f64, to: f64, before: f64, after: f64) {
        if self.needs.decides == Decides::Never {
            return;
        }
        let dt = to - from;
        let mut done = 0.0;
        while let Some(period) = self.needs.tick_s {
            let next = (self.ticks + 1) as f64 * period;
            if next > to {
                break;
            }
            let share = f64::max((next - from) / dt, done);
            self.arrivals(arriving, done, share, before, after);
            self.since_tick += arriving.packets * (share - done);
            let queue = before + share * (after - before);
            let seen = aqm::Observation {
                queue,
                arrived: self.since_tick,
                capacity: self.capacity,
                ..aqm::Observation::zero()
            };
            self.law.on_event(0, Event::Tick, &seen);
            self.since_tick = 0.0;
            self.ticks += 1;
            done = share;
        }
        self.arrivals(arriving, done, 1.0, before, after);
        self.since_tick += arriving.packets * (1.0 - done);
    }

    fn arrivals(&mut self, arriving: &Arriving, from: f64, to: f64, before: f64, after: f64) {
        let packets = arriving.packets * (to - from);
        if self.needs.decides != Decides::OnArrival || packets <= 0.0 {
            return;
        }
        let mut state = state_of(self.law.as_mut(), 0);
        let colours =
            if self.needs.colours { arriving.by_colour.map(|packets| packets / arriving.packets) } else { GREEN };
        let seen = self.port(before, Colour::Green);
        // The queue at both ends of the share of the step.
        let ends = [from, to].map(|share| before + share * (after - before));
        let mut change = Arrivals { law: self.law.as_mut(), bytes: self.packet_bytes, colours, seen, ends };
        drive(&mut state, packets, &mut change);
        put(self.law.as_mut(), 0, &state);
    }
}

/// The effect of an arrival on the law, on average over colours and over whether the packet is hit.
struct Arrivals<'a> {
    law: &'a mut dyn Instances<f64, aqm::Aqm>,
    bytes: u32,
    colours: Shares,
    seen: aqm::Observation<f64>,
    /// Packets waiting at the beginning and at the end.
    ends: [f64; 2],
}

impl Change for Arrivals<'_> {
    fn packet<const N: usize>(&mut self, state: &[f64; N], share: f64) -> [f64; N] {
        let queue = self.ends[0] + share * (self.ends[1] - self.ends[0]);
        let mut sum = [0.0; N];
        for (part, colour) in self.colours.into_iter().zip(Colour::ALL).filter(|(part, _)| *part > 0.0) {
            let seen = aqm::Observation { queue, colour, ..self.seen };
            self.law.restart(1);
            put(self.law, 1, state);
            let hit = self.law.mean_output(1, &seen).probability;
            for (chance, event) in [(1.0, Event::Arrival { bytes: self.bytes, idle: 0 }), (hit, Event::Hit)] {
                let mut after = *state;
                self.law.after(1, &mut after, event, &seen);
                for ((sum, after), before) in sum.iter_mut().zip(after).zip(state) {
                    *sum += part * chance * (after - before);
                }
            }
        }
        sum
    }
}

fn build(
    name: &str,
    real: penstock_law::law::Build<f64, aqm::Aqm>,
    values: &Values,
    site: &aqm::Context,
) -> Result<Box<dyn Instances<f64, aqm::Aqm>>, String> {
    real(values, site).map_err(|message| format!("`{name}`: {message}"))
}

#[cfg(test)]
mod tests {
    use penstock_law::law::find;
    use penstock_law::quantity::{Bytes, Rate, Time};

    use super::*;

    /// A law at departure marks by its output as a packet leaves. A twentieth more than the line carries fills the queue by
    /// 50 ms a second: what entered after one second leaves 50 ms later, and is marked by the price of then.
    #[test]
    fn at_departure_a_packet_is_marked_by_the_price_as_it_leaves() {
        let law = find(aqm::AQMS, "price").unwrap();
        let chosen = Chosen { law, values: Values::defaults(law.parameters) };
        let site = aqm::Context { rate: Rate(8_000_000), delay: Time::ZERO, packet: Bytes(1000), classes: Vec::new() };
        let mut queue = Queue::new("l", &chosen, &site, f64::INFINITY, 0.0).unwrap();
        let (steps, step) = (2000, 0.001);
        queue.begin(steps, step);
        let mut prices = vec![0.0];
        for k in 0..steps {
            let mut arriving = Arriving::default();
            arriving.add([1050.0 * step, 0.0, 0.0], false);
            queue.advance(k as f64 * step, (k + 1) as f64 * step, &arriving);
            prices.push(queue.price_s);
        }
        let (chance, _) = queue.chances(1.0);
        let of_price = |price_s: f64| 1.0 - libm::pow(1000.0, -price_s);
        assert!((chance - of_price(prices[1050])).abs() < 1e-6, "{chance}");
        assert!(chance - of_price(prices[1000]) > 0.01, "the price rises: {chance}");
    }
}
