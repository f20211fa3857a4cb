//! Where customers enter: their conditioners and the coins of these.

use penstock_law::edge::Colour;
use penstock_law::quantity::Time;
use penstock_link::Conditioner;
use penstock_scenario::model::Scenario;
use penstock_scenario::seed::Coins;
use penstock_scenario::world::RunError;

use crate::packet::Packet;

/// A customer's entry.
pub(crate) struct Edge {
    pub(crate) conditioner: Conditioner,
    /// Its place among the customers.
    pub(crate) customer: usize,
    coins: Coins,
}

impl Edge {
    /// The packet passes at `now`.
    pub(crate) fn colour(&mut self, packet: &mut Packet, now: u64, keys: &[u64]) {
        let coin = || self.coins.of(packet.identity(keys));
        let colour: Colour = self.conditioner.colour(Time(now), u32::from(packet.size), coin);
        packet.paint(colour);
    }
}

/// The entries of customers that have a conditioner.
pub(crate) fn edges(scenario: &Scenario) -> Result<Vec<Edge>, RunError> {
    let conditioners =
        Conditioner::of_customers(scenario).map_err(|what| RunError::Refused { world: "packets", what })?;
    let edge = |(customer, conditioner)| {
        let name: &String = scenario.customers.keys().nth(customer).expect("a conditioner is a customer's");
        Edge { conditioner, customer, coins: scenario.seed.coins(&format!("customers.{name}/conditioner")) }
    };
    Ok(conditioners.into_iter().map(edge).collect())
}

/// The entry that a group's packets pass; none if its customer has no conditioner.
pub(crate) fn edge_of(scenario: &Scenario, group: &str) -> Option<usize> {
    let conditioned = scenario.customers.values().filter(|customer| customer.conditioner.is_some());
    conditioned.enumerate().find(|(_, customer)| customer.flows.iter().any(|name| name == group)).map(|(at, _)| at)
}
