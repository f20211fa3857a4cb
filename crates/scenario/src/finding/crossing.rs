//! The groups that cross each link, looked up once: a scenario may have a million groups and thousands of links.

use std::collections::BTreeSet;

use penstock_law::{aqm, cc};

use crate::model::{Group, Scenario};

/// The groups of a scenario by the links of their routes.
pub(super) struct Crossing<'a> {
    pub(super) scenario: &'a Scenario,
    /// Every group, in the order of the scenario.
    pub(super) flows: Vec<Flows<'a>>,
    /// The groups and classes that cross each link, in the order of the scenario's links.
    links: Vec<Over<'a>>,
    /// [`Scenario::class_names`].
    classes: Vec<&'a str>,
    /// Whether some flows have no class.
    free: bool,
}

/// A group and the requirements of its law; none where the law refuses its parameters.
#[derive(Clone, Copy)]
pub(super) struct Flows<'a> {
    pub(super) name: &'a String,
    pub(super) group: &'a Group,
    pub(super) needs: Option<cc::Requirements>,
}

/// The groups and classes that cross one link.
#[derive(Clone, Default)]
struct Over<'a> {
    /// The groups whose data cross it, as indices into the groups, in their order.
    data: Vec<usize>,
    /// The classes of the groups whose data or acknowledgements cross it.
    classes: BTreeSet<&'a str>,
}

impl<'a> Crossing<'a> {
    pub(super) fn of(scenario: &'a Scenario) -> Self {
        let flows = scenario.groups.iter().map(|(name, group)| {
            let needs = group.requirements(scenario.packet).ok();
            Flows { name, group, needs }
        });
        let mut links = vec![Over::default(); scenario.links.len()];
        for (at, group) in scenario.groups.values().enumerate() {
            for name in group.forward.iter().chain(&group.backward) {
                if let (Some(class), Some(link)) = (&group.class, scenario.links.get_index_of(name)) {
                    links[link].classes.insert(class);
                }
            }
            for link in group.forward.iter().filter_map(|name| scenario.links.get_index_of(name)) {
                // A route that comes back to a link counts once.
                if links[link].data.last() != Some(&at) {
                    links[link].data.push(at);
                }
            }
        }
        let free = scenario.groups.values().any(|group| group.class.is_none());
        Self { scenario, flows: flows.collect(), links, classes: scenario.class_names(), free }
    }

    /// The groups whose data cross the link, in the order of the scenario.
    pub(super) fn over(&self, link: &str) -> impl Iterator<Item = Flows<'a>> {
        self.at(link).data.iter().map(|at| self.flows[*at])
    }

    /// [`Scenario::site`].
    pub(super) fn site(&self, link: &str) -> aqm::Context {
        let crossed_by = &self.at(link).classes;
        self.scenario.site_among(link, &self.classes, self.free, |class| crossed_by.contains(class))
    }

    fn at(&self, link: &str) -> &Over<'a> {
        &self.links[self.scenario.links.get_index_of(link).expect("a link of the scenario")]
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::scenario;
    use super::*;

    /// The index says the same as a search of all groups, for routes that share links and for classes on the way back.
    #[test]
    fn the_index_is_a_search_of_all_groups() {
        let text = "links.a = { from = \"l\", to = \"m\", rate = \"9 Mbit/s\", delay = \"1 ms\", buffer = \"9 packets\" }\n\
                    links.b = { from = \"m\", to = \"r\", rate = \"9 Mbit/s\", delay = \"1 ms\", buffer = \"9 packets\" }\n\
                    links.back = { from = \"r\", to = \"l\", rate = \"9 Mbit/s\", delay = \"1 ms\", buffer = \"9 packets\" }\n\
                    classes.gold = { floor = \"1 Mbit/s\" }\n\
                    classes.tin = { ceiling = \"2 Mbit/s\" }\n\
                    flows.far = { from = \"l\", to = \"r\", rtt = \"20 ms\", class = \"gold\", cc = { law = \"cubic\" } }\n\
                    flows.near = { from = \"m\", to = \"r\", rtt = \"20 ms\", class = \"tin\", cc = { law = \"cubic\" } }\n\
                    flows.first = { from = \"l\", to = \"m\", rtt = \"20 ms\", cc = { law = \"cubic\" } }\n";
        let scenario = scenario(text);
        let crossing = Crossing::of(&scenario);
        for link in scenario.links.keys() {
            let searched = scenario.groups.iter().filter(|(_, group)| group.forward.contains(link));
            let searched: Vec<&String> = searched.map(|(name, _)| name).collect();
            let indexed: Vec<&String> = crossing.over(link).map(|flows| flows.name).collect();
            assert_eq!(indexed, searched, "{link}");
            assert_eq!(crossing.site(link), scenario.site(link), "{link}");
        }
    }
}
