//! The queue of a link, made as a scenario's link has it, and the summary of its books over a span.

use indexmap::IndexMap;
use penstock_law::aqm::{self, Aqm, Decides, InFixed, Serve};
use penstock_law::law::Instances;
use penstock_law::quantity::Time;
use penstock_scenario::model::{self, Arithmetic, By, Scenario};
use penstock_scenario::summary::LinkSummary;
use penstock_scenario::world::{Kind, column_name};

use crate::account::{Counters, Glance};
use crate::histogram::{Extent, Histogram};
use crate::policer::Policed;
use crate::port::{Config, Port};
use crate::served::order::QUEUES;
use crate::served::{QueueBook, QueueBooks, QueueCounters, Scheduler, Served, ServedConfig};
use crate::service::Service;

/// The queue of a link: where the departure of a packet is known when it arrives, it takes no event.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one a link; the port is on the path of every packet")]
pub enum Station<P> {
    /// One queue, served first in, first out.
    Port(Port),
    /// Everything else.
    Served(Box<Served<P>>),
    /// Everything behind a policer.
    Policed(Box<Policed<P>>),
}

/// Classification into queues, where there are several: the numbers of [`Arrival::queue_key`](crate::Arrival::queue_key).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    /// Flows.
    Flows,
    /// Classes of traffic.
    Classes,
    /// Flows, but those whose hashes are equal share one.
    Hashes,
}

impl Apart {
    /// The classification of a scenario's link, with a law of these requirements.
    fn of(link: &model::Link, needs: &aqm::Requirements) -> Self {
        match (needs.serve, link.scheduler) {
            (Serve::PerFlow { .. }, _) => Self::Hashes,
            (_, model::Scheduler::Drr { by: By::Class, .. }) => Self::Classes,
            _ if needs.classes => Self::Classes,
            _ => Self::Flows,
        }
    }
}

macro_rules! either {
    ($self:ident, $station:ident => $what:expr) => {
        match $self {
            Station::Port($station) => $what,
            Station::Served($station) => $what,
            Station::Policed($station) => $what,
        }
    };
}

impl<P: Copy> Station<P> {
    /// The empty queue of the link of that name, at time zero, and its classification. `memory` is the longest line
    /// behind it ([`Config::memory`]).
    ///
    /// # Errors
    /// Why the link's law cannot be made.
    ///
    /// # Panics
    /// If the scenario has no such link.
    pub fn of(scenario: &Scenario, name: &str, memory: Time) -> Result<(Self, Apart), String> {
        let link = &scenario.links[name];
        let site = scenario.site(name);
        let entry = link.aqm.law;
        let law: Box<dyn Instances<f64, Aqm>> = match (link.arithmetic, entry.fixed) {
            (Arithmetic::Real, _) => (entry.real)(&link.aqm.values, &site),
            (Arithmetic::Fixed, Some(fixed)) => {
                fixed(&link.aqm.values, &site).map(|law| Box::new(InFixed::new(law)) as _)
            }
            (Arithmetic::Fixed, None) => Err(format!("`{}` has no fixed-point form", entry.name)),
        }
        .map_err(|e| format!("links.{name}.aqm: {e}"))?;
        let needs = law.requirements();
        let (most_packets, most_bytes) = link.buffer.limits();
        let (packet, service) = (scenario.packet.wire, service(link));
        let scheduler = match link.scheduler {
            model::Scheduler::Fifo => Scheduler::Fifo,
            model::Scheduler::Drr { quantum, .. } => Scheduler::Drr { quantum },
        };
        let station = if scheduler == Scheduler::Fifo && Port::suits(&needs) && link.policer.is_none() {
            Self::Port(Port::new(Config { service, most_packets, most_bytes, packet, law, memory }))
        } else {
            let hash_seed = scenario.seed.stream(&format!("links.{name}/queues")).bits();
            let classes = site.classes.len() as u32;
            let books = books(scenario, name, needs.serve);
            let config =
                ServedConfig { service, most_packets, most_bytes, packet, law, scheduler, classes, hash_seed, books };
            let served = Served::new(config);
            match link.policer {
                None => Self::Served(Box::new(served)),
                Some(policer) => {
                    let policed = Policed::new(served, policer, packet);
                    Self::Policed(Box::new(policed.map_err(|e| format!("links.{name}.policer: {e}"))?))
                }
            }
        };
        Ok((station, Apart::of(link, &needs)))
    }

    /// Whether marks are drawn at the far end of the line, from the law's output when the packet left.
    pub fn marks_at_departure(&self) -> bool {
        matches!(self, Self::Port(port) if port.requirements().decides == Decides::OnDeparture)
    }

    /// Names of the single queues that have counters of their own; none where there is one queue.
    pub fn queue_names(&self) -> &[String] {
        match self {
            Self::Port(_) => &[],
            Self::Served(served) => served.book_names(),
            Self::Policed(policed) => policed.served().book_names(),
        }
    }

    /// Counters of those queues, from the start of the run.
    pub fn queue_counters(&self) -> Vec<QueueCounters> {
        match self {
            Self::Port(_) => Vec::new(),
            Self::Served(served) => served.book_counters().collect(),
            Self::Policed(policed) => policed.served().book_counters().collect(),
        }
    }

    /// The queues that hold its packets, where it does.
    #[inline]
    pub fn served(&mut self) -> Option<&mut Served<P>> {
        match self {
            Self::Port(_) => None,
            Self::Served(served) => Some(served),
            Self::Policed(policed) => Some(policed),
        }
    }

    /// Period of [`Station::tick`]; zero for never.
    pub fn period(&self) -> Time {
        either!(self, station => station.period())
    }

    /// A period of the law has passed.
    pub fn tick(&mut self, now: Time) {
        either!(self, station => station.tick(now));
    }

    /// So many packets arrive twice.
    pub fn duplicate(&mut self, packets: u64) {
        either!(self, station => station.duplicate(packets));
    }

    /// Counters up to `now`.
    pub fn read(&mut self, now: Time) -> Counters {
        either!(self, station => station.read(now))
    }

    /// From now on [`Station::glance`] returns waiting times, which costs time.
    pub fn watch(&mut self) {
        either!(self, station => station.watch());
    }

    /// Counters up to `now`, and the waiting times since the last call [ns]: those of packets that were accepted, or
    /// of those that started transmission, as in [`Counters::waits`].
    pub fn glance(&mut self, now: Time) -> (Glance, Extent) {
        either!(self, station => station.glance(now))
    }

    /// Packets that arrived, including those refused.
    pub fn arrivals(&self) -> u64 {
        either!(self, station => station.arrivals())
    }

    /// The books up to `now`; the most that waited starts anew.
    pub fn counts(&mut self, now: Time) -> Counts {
        let counters = self.read(now);
        let (by_waiting, by_wait) = either!(self, station => station.histograms());
        let (by_waiting, by_wait) = (by_waiting.clone(), by_wait.clone());
        let most_waiting = either!(self, station => station.most_waiting());
        let queues = match self {
            Self::Port(_) => Vec::new(),
            Self::Served(served) => served.books(),
            Self::Policed(policed) => policed.served().books(),
        };
        Counts { counters, by_waiting, by_wait, most_waiting, queues }
    }

    /// Packets that wait.
    pub fn waiting(&mut self, now: Time) -> u64 {
        match self {
            Self::Port(port) => port.waiting(now),
            Self::Served(served) => served.waiting(),
            Self::Policed(policed) => policed.waiting(),
        }
    }

    /// Names, units and values of the law's observables.
    pub fn observables(&mut self) -> Vec<(&'static str, &'static str, f64)> {
        either!(self, station => station.observables())
    }

    /// Number of classes that the law keeps apart; zero where it does not.
    pub fn classes(&self) -> u32 {
        match self {
            Self::Port(_) => 0,
            Self::Served(served) => served.classes(),
            Self::Policed(policed) => policed.classes(),
        }
    }

    /// Names, units and values of the law's observables of a class.
    pub fn class_observables(&mut self, class: u32) -> Vec<(&'static str, &'static str, f64)> {
        match self {
            Self::Port(_) => Vec::new(),
            Self::Served(served) => served.class_observables(class),
            Self::Policed(policed) => policed.class_observables(class),
        }
    }

    /// The observables of each class now, with their units in their names.
    pub fn observables_of_classes(&mut self) -> Vec<Vec<(String, f64)>> {
        let mut all = Vec::new();
        for class in 0..self.classes() {
            let observables = self.class_observables(class).into_iter();
            all.push(observables.map(|(name, unit, value)| (column_name(name, unit), value)).collect());
        }
        all
    }

    /// When the law first returned an output that is no number, and which, if it did: such a run has no result.
    pub fn unsound(&self) -> Option<(Time, &'static str)> {
        either!(self, station => station.unsound()).map(|at| (at, "a probability or a price of NaN"))
    }

    /// Whether the law has a price.
    pub fn has_price(&self) -> bool {
        either!(self, station => station.has_price())
    }

    /// Capacity of the line after `from` and up to `to` [bit].
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        either!(self, station => station.capacity_bits(from, to))
    }

    /// Summary of the link between two snapshots, but for `classes`. `most_waiting` is the most of the second and of all in between.
    pub fn summary(&self, before: &Counts, after: &Counts, most_waiting: u64) -> LinkSummary {
        let (a, b) = (&before.counters, &after.counters);
        let seconds = (b.at - a.at).seconds();
        let bits = (b.departed_bytes - a.departed_bytes) as f64 * 8.0;
        let mean = (b.waiting - a.waiting) as f64 * 1e-12 / seconds;
        let square = (b.waiting_squared - a.waiting_squared) as f64 * 1e-12 / seconds;
        let (waiting, wait) = (after.by_waiting.since(&before.by_waiting), after.by_wait.since(&before.by_wait));
        let accepted = (b.arrivals - b.drops) - (a.arrivals - a.drops);
        let most = most_waiting as f64;
        LinkSummary {
            utilization: bits / self.capacity_bits(a.at, b.at).max(1.0),
            throughput_bit_per_s: bits / seconds,
            queue_mean_packets: mean,
            queue_sd_packets: (square - mean * mean).max(0.0).sqrt(),
            // A bucket's middle may lie above the largest value in it.
            queue_p99_packets: waiting.quantile(0.99).unwrap_or(0.0).min(most),
            queue_max_packets: most,
            queueing_delay_mean_s: (accepted > 0).then(|| (b.waits - a.waits) as f64 * 1e-12 / accepted as f64),
            queueing_delay_p99_s: wait.quantile(0.99).map(|ns| ns * 1e-9),
            arrivals: b.arrivals - a.arrivals,
            departures: b.departures - a.departures,
            drops: b.drops + b.lost - a.drops - a.lost,
            duplicates: b.duplicated - a.duplicated,
            marks: b.marks - a.marks,
            price_mean: self.has_price().then(|| (b.price - a.price) / seconds),
            classes: IndexMap::new(),
            dynamics: None,
            queues: match self {
                Self::Port(_) => IndexMap::new(),
                Self::Served(served) => served.of_queues(&before.queues, &after.queues, seconds),
                Self::Policed(policed) => policed.served().of_queues(&before.queues, &after.queues, seconds),
            },
        }
    }

    /// A row of the series of links, as [`LINK_COLUMNS`] names it: packets between two counts, and the backlog at the
    /// later one.
    pub fn row(&self, before: &Counters, now: &Counters, waiting: u64) -> [f64; 6] {
        let seconds = (now.at - before.at).seconds();
        let bits = (now.departed_bytes - before.departed_bytes) as f64 * 8.0;
        [
            bits / self.capacity_bits(before.at, now.at).max(1.0),
            bits / seconds,
            waiting as f64,
            (now.waiting - before.waiting) as f64 * 1e-12 / seconds,
            (now.drops + now.lost - before.drops - before.lost) as f64 / seconds,
            (now.marks - before.marks) as f64 / seconds,
        ]
    }

    /// Arrivals that are neither departed, dropped nor there: zero, or this is broken.
    pub fn unaccounted(&mut self, now: Time) -> i64 {
        either!(self, station => station.unaccounted(now))
    }
}

/// The queues of a link that have books: both of two coupled queues, those of a scheduler by class, and those of flows together
/// for each group, be they of a scheduler by flow or queues that flows are hashed to. Which flows share one of those is left to
/// chance, so that each packet counts for its own group.
fn books(scenario: &Scenario, name: &str, serve: Serve) -> QueueBooks {
    let crosses = |group: &model::Group| group.forward.iter().chain(&group.backward).any(|link| link == name);
    let by_group =
        || scenario.groups.iter().map(|(name, group)| (name.clone(), group.count as usize, crosses(group))).collect();
    // Whose book each key has, and whether anything of it crosses this link.
    let owners: Vec<(String, usize, bool)> = match (serve, scenario.links[name].scheduler) {
        (Serve::Coupled { .. }, _) => return QueueBooks { names: QUEUES.map(str::to_owned).into(), of_key: None },
        (Serve::PerFlow { .. }, _) | (_, model::Scheduler::Drr { by: By::Flow, .. }) => by_group(),
        (_, model::Scheduler::Fifo) => return QueueBooks::default(),
        (_, model::Scheduler::Drr { by: By::Class, .. }) => {
            let declared = scenario.class_names();
            let crosses = |class: &str| {
                let class = Some(class).filter(|class| declared.contains(class));
                scenario.groups.values().any(|group| group.class.as_deref() == class && crosses(group))
            };
            scenario.queue_names().into_iter().map(|class| (class.clone(), 1, crosses(&class))).collect()
        }
    };
    let (mut names, mut of_key) = (Vec::new(), Vec::new());
    for (owner, keys, crosses) in owners {
        let place = if crosses { names.len() as u32 } else { u32::MAX };
        of_key.extend(std::iter::repeat_n(place, keys));
        names.extend(crosses.then_some(owner));
    }
    QueueBooks { names, of_key: Some(of_key) }
}

/// Capacity of a link's line.
fn service(link: &model::Link) -> Service {
    match &link.service {
        model::Service::Constant => Service::Constant(link.rate),
        changing @ (model::Service::Schedule(_) | model::Service::Rates(_)) => {
            let later = changing.changes().iter().copied();
            Service::Schedule(std::iter::once((Time::ZERO, link.rate)).chain(later).collect())
        }
        model::Service::Trace(trace) => {
            Service::Trace { opportunities: trace.opportunities.clone(), period: trace.period }
        }
    }
}

/// The books of a station at a moment.
#[derive(Debug, Clone)]
pub struct Counts {
    /// Counters.
    pub counters: Counters,
    /// Time with so many packets waiting.
    pub by_waiting: Histogram,
    /// Number of packets that waited so long [ns].
    pub by_wait: Histogram,
    /// Most packets that waited since the snapshot before.
    pub most_waiting: u64,
    /// Counters of single queues, where they have books.
    pub queues: Vec<QueueBook>,
}

/// Columns of the series of links, in this order: [`Station::row`].
pub const LINK_COLUMNS: [(&str, Kind); 6] = [
    ("utilization", Kind::Average),
    ("throughput_bit_per_s", Kind::Average),
    ("queue_packets", Kind::Instant),
    ("queue_mean_packets", Kind::Average),
    ("drops_per_s", Kind::Average),
    ("marks_per_s", Kind::Average),
];
