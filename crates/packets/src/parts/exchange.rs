//! One engine that has all, for as long as somebody reads it: the first part's, with the links and flows of the others.

use std::mem::{swap, take};
use std::ops::Range;

use penstock_law::quantity::Time;
use penstock_scenario::model::Scenario;

use crate::engine::{Account, Engine};
use crate::flow::NONE;
use crate::packet::Packet;
use crate::partition::Partition;

/// The owners of links, groups and others.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Of each part.
    owned: Vec<Owned>,
    /// Flows of which packets may be lost in another part than their sender's.
    travel: Vec<Range<usize>>,
}

/// The possessions of a part, by their numbers in the lists of the engine.
#[derive(Debug, Default)]
struct Owned {
    links: Vec<usize>,
    /// Groups whose senders, and whose receivers, are here, and these groups' flows.
    groups: Vec<usize>,
    senders: Vec<Range<usize>>,
    receiving: Vec<usize>,
    receivers: Vec<Range<usize>>,
    sources: Vec<usize>,
    entries: Vec<usize>,
    clients: Vec<usize>,
    conditioners: Vec<usize>,
}

fn flows(engine: &Engine, group: usize) -> Range<usize> {
    let (first, end) = engine.groups[group].flows;
    first as usize..end as usize
}

impl Exchange {
    pub(super) fn of(scenario: &Scenario, cut: &Partition, engine: &Engine) -> Self {
        let owned = (0..cut.parts as u32).map(|part| Owned::of(cut, engine, part)).collect();
        let travels = |at: &usize| {
            let group = &scenario.groups[*at];
            let links =
                group.forward.iter().chain(&group.backward).filter_map(|link| scenario.links.get_index_of(link));
            let sender = cut.senders[*at];
            cut.receivers[*at] != sender || links.into_iter().any(|link| cut.links[link] != sender)
        };
        let travel = (0..engine.groups.len()).filter(travels).map(|group| flows(engine, group)).collect();
        Self { owned, travel }
    }

    /// Gives the first of these engines what the others have.
    pub(super) fn gather(&self, engines: &mut [&mut Engine]) {
        self.swap(engines);
        let Some((first, others)) = engines.split_first_mut() else { return };
        for other in others {
            for at in self.travel.iter().cloned().flatten() {
                first.flows[at].sent.lost += take(&mut other.flows[at].sent.lost);
            }
            for (all, part) in first.accounts.iter_mut().zip(&mut other.accounts) {
                let Account { sent, delivered } = take(part);
                all.sent += sent;
                all.delivered += delivered;
            }
        }
    }

    /// Gives everyone back what is theirs.
    pub(super) fn scatter(&self, engines: &mut [&mut Engine]) {
        self.swap(engines);
    }

    fn swap(&self, engines: &mut [&mut Engine]) {
        let Some((first, others)) = engines.split_first_mut() else { return };
        others.iter_mut().zip(&self.owned[1..]).for_each(|(other, owned)| owned.swap(first, other));
    }

    /// The engine of the whole run, after its last event; none where the order of transfers of two parts is not known.
    pub(super) fn join(&self, mut engines: Vec<Engine>, under_way: Vec<(u32, Packet)>) -> Option<Engine> {
        self.gather(&mut engines.iter_mut().collect::<Vec<_>>());
        let transfers = merge(engines.iter_mut().map(|engine| take(&mut engine.transfers)).collect(), |one| one.ended)?;
        let pages = merge(engines.iter_mut().map(|engine| take(&mut engine.pages)).collect(), |one| one.ended)?;
        let chunks = merge(engines.iter_mut().map(|engine| take(&mut engine.chunks)).collect(), |one| one.arrived)?;
        let mut engines = engines.into_iter();
        let mut all = engines.next()?;
        (all.transfers, all.pages, all.chunks) = (transfers, pages, chunks);
        for mut other in engines {
            all.events += other.events;
            all.crossed += other.crossed;
            for (line, packets) in other.lines.iter_mut().enumerate() {
                while !packets.packets.is_empty() {
                    all.lines[line].packets.push(packets.packets.pop());
                }
            }
        }
        for (line, packet) in under_way {
            all.lines[line as usize].packets.push(packet);
        }
        Some(all)
    }
}

/// One list of several in the order of time; none where two of one time are of different lists.
fn merge<T>(lists: Vec<Vec<T>>, time: impl Fn(&T) -> Time) -> Option<Vec<T>> {
    let numbered = lists.into_iter().enumerate().flat_map(|(part, list)| list.into_iter().map(move |one| (part, one)));
    let mut all: Vec<(usize, T)> = numbered.collect();
    all.sort_by_key(|(_, one)| time(one));
    let meet = |pair: &[(usize, T)]| pair[0].0 != pair[1].0 && time(&pair[0].1) == time(&pair[1].1);
    (!all.windows(2).any(meet)).then(|| all.into_iter().map(|(_, one)| one).collect())
}

impl Owned {
    fn of(cut: &Partition, engine: &Engine, part: u32) -> Self {
        let of = |parts: &[u32]| (0..parts.len()).filter(|at| parts[*at] == part).collect::<Vec<_>>();
        let (links, groups, receiving) = (of(&cut.links), of(&cut.senders), of(&cut.receivers));
        let senders: Vec<Range<usize>> = groups.iter().map(|group| flows(engine, *group)).collect();
        let own = || senders.iter().cloned().flatten().map(|at| &engine.flows[at]);
        let numbers = |numbers: &mut dyn Iterator<Item = u32>| {
            let mut numbers: Vec<usize> = numbers.filter(|at| *at != NONE).map(|at| at as usize).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let is_own =
            |client: &usize| cut.senders[engine.flows[engine.clients[*client].first as usize].group as usize] == part;
        Self {
            receivers: receiving.iter().map(|group| flows(engine, *group)).collect(),
            sources: numbers(&mut own().map(|flow| flow.source)),
            entries: numbers(&mut own().map(|flow| flow.entry)),
            clients: (0..engine.clients.len()).filter(is_own).collect(),
            conditioners: numbers(&mut groups.iter().map(|group| engine.groups[*group].conditioner)),
            links,
            groups,
            senders,
            receiving,
        }
    }

    fn swap(&self, a: &mut Engine, b: &mut Engine) {
        /// Exchanges elements of two lists, where they have such.
        fn each<T>(numbers: &[usize], a: &mut [T], b: &mut [T]) {
            let count = a.len();
            for at in numbers.iter().filter(|at| **at < count) {
                swap(&mut a[*at], &mut b[*at]);
            }
        }
        each(&self.links, &mut a.links, &mut b.links);
        each(&self.links, &mut a.counted.drops, &mut b.counted.drops);
        each(&self.groups, &mut a.groups, &mut b.groups);
        each(&self.groups, &mut a.supplies, &mut b.supplies);
        each(&self.receiving, &mut a.counted.delays, &mut b.counted.delays);
        each(&self.sources, &mut a.sources, &mut b.sources);
        each(&self.entries, &mut a.entries, &mut b.entries);
        each(&self.clients, &mut a.clients, &mut b.clients);
        each(&self.conditioners, &mut a.conditioners, &mut b.conditioners);
        for range in &self.senders {
            a.flows[range.clone()].swap_with_slice(&mut b.flows[range.clone()]);
        }
        for range in &self.receivers {
            a.receivers[range.clone()].swap_with_slice(&mut b.receivers[range.clone()]);
        }
    }
}
