//! Routes: fewest links, then least delay, then the order of the file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use penstock_law::quantity::Time;

/// The part of a link that routes need. A link with an error elsewhere often has it, so that flows over it are read too.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    /// Zero where it could not be read: then no round trip is too short.
    pub(super) delay: Time,
}

/// The links of the shortest way from one node to another, by their index; none if there is no way.
///
/// Dijkstra's search. Of equally good ways it takes the one whose links come first in the file.
pub(super) fn shortest(links: &[Ends], from: &str, to: &str) -> Option<Vec<usize>> {
    let mut leaving: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, link) in links.iter().enumerate() {
        leaving.entry(&link.from).or_default().push(at);
    }
    let mut reached = BTreeSet::new();
    let mut agenda = BinaryHeap::from([Reverse((0usize, 0u64, Vec::new(), from))]);
    while let Some(Reverse((hops, delay, way, node))) = agenda.pop() {
        if node == to {
            return Some(way);
        }
        if !reached.insert(node) {
            continue;
        }
        for at in leaving.get(node).into_iter().flatten() {
            let link = &links[*at];
            if !reached.contains(link.to.as_str()) {
                let way = way.iter().copied().chain([*at]).collect();
                agenda.push(Reverse((hops + 1, delay.saturating_add(link.delay.0), way, &link.to)));
            }
        }
    }
    None
}
