//! The loop's gain with exact delays.
//!
//! `L(s) = Rf(s) K(s) Rb(s)^T C(s)` of fast-aqm (12), a row and a column a bottleneck: the sum over classes of what one
//! packet a second more at one link comes back as at another, one round trip later. No delay is approximated. Positive
//! gain with negative feedback: the critical point is -1.
//!
//! Figures through a law's own update differ a little from those of its paper's formulas. For Fig. 8 of fast-aqm, laws
//! alone: the difference equations (20), (21) have `1 + (z + z kappa/nu) T/2` times the high-frequency gain of (13), 0.3
//! to 0.6 % at a period of 10 ms (gain margin 5.29 for 5.31 in the last stage). With estimators: a register of N marks
//! is an average, which attenuates besides its delay of N/2 packets (19) (3.93 for 3.89). Sampled: a window follows its
//! target with the next acknowledgement, half a packet's time later on average (3.68; 3.71 without).

use crate::bottleneck::BottleneckResponse;
use crate::complex::Complex;
use crate::loop_model::LoopModel;
use crate::source::SourceResponse;

/// A class in a loop.
#[derive(Debug, Clone)]
pub struct Member {
    /// Number of flows.
    pub count: f64,
    /// Round-trip time [s].
    pub rtt_s: f64,
    /// Response of one of them.
    pub response: SourceResponse,
    /// The bottlenecks it crosses, in order.
    pub hops: Vec<Hop>,
}

/// A bottleneck on a class's path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hop {
    /// Which, in the order of [`Loop::links`].
    pub link: usize,
    /// From the sender to the link's queue [s]: tau^f of fast-aqm (1). Back it is the rest of the round trip, (3).
    pub forward_s: f64,
    /// The class's share of the link's load.
    pub share: f64,
    /// The share of a packet sent that enters the line: one, or less where queues on the way drop this class's packets.
    pub kept: f64,
    /// The change of the path's mark probability for a change of this link's: `prod (1 - P)` of the other links.
    pub heard: f64,
}

/// Bottlenecks with the classes that cross them, opened at the links' arrivals.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The links.
    pub links: Vec<BottleneckResponse>,
    /// The classes.
    pub members: Vec<Member>,
}

impl Loop {
    /// `L(s)`, opened at the links' arrivals: row and column in the order of the links.
    pub fn matrix(&self, s: Complex, model: LoopModel) -> Vec<Vec<Complex>> {
        let n = self.links.len();
        let mut sum = vec![vec![Complex::ZERO; n]; n];
        let said: Vec<(Complex, Complex)> = self.links.iter().map(|l| l.at(s, model)).collect();
        for member in &self.members {
            self.add(member, s, model, &said, &mut sum);
        }
        sum
    }

    /// The loop gain of one bottleneck at `s` [1/s], with the clock of acknowledgements closed inside: the effect of a queue on
    /// constant windows is no law's doing. With `K` for that effect, `1 + L = (1 + K) (1 + gain)`, and `1 + K`, a sum of
    /// `share / (1 - exp(-s tau))`, has a positive real part right of the axis: both have the same unstable roots. Of
    /// paced senders, and where no packet waits, the gain is `L`; else it lacks the poles of `L` at every multiple of
    /// every `2 pi / tau`.
    pub fn gain(&self, s: Complex, model: LoopModel) -> Complex {
        let said = self.links[0].at(s, model);
        let (mut law, mut clock) = (Complex::ZERO, Complex::ONE);
        for member in &self.members {
            for hop in &member.hops {
                let (l, k) = self.own(member, hop, s, model, said);
                (law, clock) = (law + l, clock + k);
            }
        }
        law / clock
    }

    /// `lambda_i(s)` of fast-aqm (14): the loop gain if every flow that a class meets on its path were of this class; of
    /// one bottleneck and paced senders the gain is the mean of these, weighed by shares of the load.
    pub fn lambda(&self, class: usize, s: Complex, model: LoopModel) -> Complex {
        let member = &self.members[class];
        let one = |hop: &Hop| {
            let (law, clock) = self.own(member, hop, s, model, self.links[hop.link].at(s, model));
            match self.links.len() {
                1 => law / (Complex::real(hop.share) + clock),
                _ => (law + clock) * (1.0 / hop.share),
            }
        };
        member.hops.iter().map(one).sum()
    }

    /// A class's part of the loop of one link alone: its law's, and its clock's.
    fn own(&self, m: &Member, at: &Hop, s: Complex, model: LoopModel, said: (Complex, Complex)) -> (Complex, Complex) {
        let parts = m.response.parts(s, model);
        let marks = (s * self.links[at.link].mark_skips_s).exp();
        let trip = (-s * m.rtt_s).exp() * -(m.count * at.kept);
        let law = parts.of_delay * said.0 + parts.of_probability * said.1 * marks * at.heard;
        (law * trip, parts.clock * said.0 * trip)
    }

    // From a link back to the sender and forth to the next takes tau^b + tau^f; to the same link one round trip.
    fn add(&self, m: &Member, s: Complex, model: LoopModel, said: &[(Complex, Complex)], sum: &mut [Vec<Complex>]) {
        for (from, answer) in self.answers(m, s, model, said) {
            for to in &m.hops {
                let trip = (-s * (m.rtt_s + (to.forward_s - from.forward_s))).exp();
                let cell = &mut sum[to.link][from.link];
                *cell = *cell - answer * trip * (m.count * to.kept);
            }
        }
    }

    /// Of each link on a class's path, the response of one flow's rate to the arrivals there, without the way back.
    fn answers<'a>(
        &'a self,
        m: &'a Member,
        s: Complex,
        model: LoopModel,
        said: &'a [(Complex, Complex)],
    ) -> impl Iterator<Item = (&'a Hop, Complex)> {
        let (of_delay, of_probability) = m.response.at(s, model);
        m.hops.iter().map(move |from| {
            let (delay, probability) = said[from.link];
            let marks = (s * self.links[from.link].mark_skips_s).exp();
            (from, of_delay * delay + of_probability * probability * marks * from.heard)
        })
    }

    /// The rate at which a class sends, all flows together, where the links' arrivals change by `arrivals`.
    pub(crate) fn sent(&self, m: &Member, s: Complex, model: LoopModel, arrivals: &[Complex]) -> Complex {
        let said: Vec<(Complex, Complex)> = self.links.iter().map(|l| l.at(s, model)).collect();
        let back = |(from, answer): (&Hop, Complex)| {
            answer * arrivals[from.link] * (-s * (m.rtt_s - from.forward_s)).exp() * m.count
        };
        self.answers(m, s, model, &said).map(back).sum()
    }

    /// The parts that hang together: links with a class in common, and for each part the indices of its classes among all.
    /// Between parts nothing comes back: the determinant of `I + L` is the product of theirs.
    pub fn parts(&self) -> Vec<(Vec<usize>, Self)> {
        // The least link that each is tied to.
        let mut least: Vec<usize> = (0..self.links.len()).collect();
        for member in &self.members {
            let tied: Vec<usize> = member.hops.iter().map(|hop| least[hop.link]).collect();
            let Some(first) = tied.iter().copied().min() else { continue };
            for l in least.iter_mut().filter(|l| tied.contains(l)) {
                *l = first;
            }
        }
        let mut firsts = least.clone();
        firsts.sort_unstable();
        firsts.dedup();
        let of = |first: &usize| {
            let links: Vec<usize> = (0..least.len()).filter(|l| least[*l] == *first).collect();
            let crosses = |m: &Member| m.hops.first().is_some_and(|hop| least[hop.link] == *first);
            let places: Vec<usize> = (0..self.members.len()).filter(|i| crosses(&self.members[*i])).collect();
            let members = places.iter().map(|i| {
                let mut member = self.members[*i].clone();
                for hop in &mut member.hops {
                    hop.link = links.iter().take_while(|l| **l < hop.link).count();
                }
                member
            });
            let part =
                Self { members: members.collect(), links: links.iter().map(|l| self.links[*l].clone()).collect() };
            (places, part)
        };
        firsts.iter().map(of).collect()
    }

    /// Whether a model counts anything here that the one before it does not.
    pub fn adds(&self, model: LoopModel) -> bool {
        match model {
            LoopModel::Laws => true,
            LoopModel::Estimators => self.members.iter().any(|m| m.response.has_estimators()),
            LoopModel::Sampled => {
                self.members.iter().any(|m| m.response.is_sampled())
                    || self.links.iter().any(BottleneckResponse::is_sampled)
            }
        }
    }

    /// The longest and the shortest round trip of the classes [s].
    pub fn span(&self) -> (f64, f64) {
        let trips = self.members.iter().map(|m| m.rtt_s);
        (trips.clone().fold(0.0, f64::max), trips.fold(f64::INFINITY, f64::min))
    }
}
