//! Routes of flows through the links of a scenario.

use std::collections::BTreeMap;

use penstock_law::quantity::Time;
use penstock_scenario::model::{self, Scenario};
use penstock_scenario::world::RunError;

use super::refused;
use crate::engine::Hop;
use crate::partition::Partition;

/// Routes of flows, sharing lines where port and delay are the same, and the part that the line leads to.
#[derive(Default)]
pub(super) struct Routes {
    pub(super) hops: Vec<Hop>,
    /// Port and delay of each line.
    pub(super) lines: Vec<(u32, Time)>,
    /// The part that each line leads to; zero where there is one part.
    pub(super) lead_to: Vec<u32>,
    by_port_and_delay: BTreeMap<(u32, Time, u32), u32>,
    known: BTreeMap<(usize, Time), [(u32, u8); 2]>,
}

impl Routes {
    /// Where the hops of a flow's data and acknowledgements start, and how many there are.
    pub(super) fn of(
        &mut self,
        scenario: &Scenario,
        name: &str,
        group: &model::Group,
        rtt: Time,
        cut: Option<&Partition>,
    ) -> Result<[(u32, u8); 2], RunError> {
        let number = scenario.groups.get_index_of(name).unwrap_or(0);
        let key = (number, rtt);
        if let Some(route) = self.known.get(&key) {
            return Ok(*route);
        }
        let delay = |links: &[String]| Time(links.iter().map(|l| scenario.links[l].delay.0).sum());
        let links = delay(&group.forward) + delay(&group.backward);
        if links > rtt {
            return Err(refused(format!(
                "flows.{name}.rtt: {rtt} is less than {links}, the propagation delay of the links there and back"
            )));
        }
        let route = [
            self.hops(scenario, name, &group.forward, rtt - links, cut.map(|cut| (cut, cut.receivers[number])))?,
            self.hops(scenario, name, &group.backward, Time::ZERO, cut.map(|cut| (cut, cut.senders[number])))?,
        ];
        self.known.insert(key, route);
        Ok(route)
    }

    fn hops(
        &mut self,
        scenario: &Scenario,
        name: &str,
        links: &[String],
        private: Time,
        cut: Option<(&Partition, u32)>,
    ) -> Result<(u32, u8), RunError> {
        let first = self.hops.len() as u32;
        for (at, link) in links.iter().enumerate() {
            let port = scenario.links.get_index_of(link).expect("routes name links") as u32;
            let last = at + 1 == links.len();
            let delay = scenario.links[link].delay + if last { private } else { Time::ZERO };
            let next = links.get(at + 1).and_then(|link| scenario.links.get_index_of(link));
            let part = cut.map_or(0, |(cut, end)| next.map_or(end, |next| cut.links[next]));
            let (lines, lead_to) = (&mut self.lines, &mut self.lead_to);
            let line = *self.by_port_and_delay.entry((port, delay, part)).or_insert_with(|| {
                lines.push((port, delay));
                let line = lines.len() as u32 - 1;
                // Where packets come late, the line for them is the next.
                lines.extend(scenario.links[link].reorder.map(|reorder| (port, delay + reorder.by)));
                lead_to.resize(lines.len(), part);
                line
            });
            self.hops.push(Hop { port, line });
        }
        let hops = u8::try_from(links.len())
            .map_err(|_| refused(format!("flows.{name}: a route of {} links; 255 are the most", links.len())))?;
        Ok((first, hops))
    }
}
