//! Routes of flows through the links of a scenario.

use std::collections::BTreeMap;

use penstock_law::quantity::Time;
use penstock_scenario::model::{self, Scenario};
use penstock_scenario::world::RunError;

use super::refused;
use crate::engine::Hop;

/// Routes of flows, sharing lines where port and delay are the same.
#[derive(Default)]
pub(super) struct Routes {
    pub(super) hops: Vec<Hop>,
    /// Port and delay of each line.
    pub(super) lines: Vec<(u32, Time)>,
    by_port_and_delay: BTreeMap<(u32, Time), u32>,
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
    ) -> Result<[(u32, u8); 2], RunError> {
        let key = (scenario.groups.get_index_of(name).unwrap_or(0), rtt);
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
            self.hops(scenario, name, &group.forward, rtt - links)?,
            self.hops(scenario, name, &group.backward, Time::ZERO)?,
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
    ) -> Result<(u32, u8), RunError> {
        let first = self.hops.len() as u32;
        for (at, link) in links.iter().enumerate() {
            let port = scenario.links.get_index_of(link).expect("routes name links") as u32;
            let last = at + 1 == links.len();
            let delay = scenario.links[link].delay + if last { private } else { Time::ZERO };
            let lines = &mut self.lines;
            let line = *self.by_port_and_delay.entry((port, delay)).or_insert_with(|| {
                lines.push((port, delay));
                let line = lines.len() as u32 - 1;
                // Where packets come late, the line for them is the next.
                lines.extend(scenario.links[link].reorder.map(|reorder| (port, delay + reorder.by)));
                line
            });
            self.hops.push(Hop { port, line });
        }
        let hops = u8::try_from(links.len())
            .map_err(|_| refused(format!("flows.{name}: a route of {} links; 255 are the most", links.len())))?;
        Ok((first, hops))
    }
}
