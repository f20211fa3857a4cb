//! Where customers enter: their conditioners and the coins of these.

use penstock_law::conditioner::Colour;
use penstock_law::quantity::Time;
use penstock_link::Conditioner;
use penstock_scenario::model::Scenario;
use penstock_scenario::seed::Coins;
use penstock_scenario::world::RunError;

use crate::packet::Packet;

/// A customer's entry.
pub(crate) struct CustomerConditioner {
    /// Its customer's name, and that of its law.
    name: String,
    law: &'static str,
    pub(crate) conditioner: Conditioner,
    /// Its index among the customers.
    pub(crate) customer: usize,
    coins: Coins,
}

impl CustomerConditioner {
    /// The output of its law that is no valid number, if there was one.
    pub(crate) fn fault(&self) -> Option<RunError> {
        let whose = format!("customers.{}.conditioner", self.name);
        self.conditioner.unsound().map(|(at, output)| RunError::Law {
            whose,
            law: self.law,
            at,
            output: output.to_owned(),
        })
    }

    /// The packet passes at `now`.
    pub(crate) fn colour(&mut self, packet: &mut Packet, now: u64, keys: &[u64]) {
        let coin = || self.coins.of(packet.identity(keys));
        let colour: Colour = self.conditioner.colour(Time(now), u32::from(packet.size), coin);
        packet.paint(colour);
    }
}

/// The entries of customers that have a conditioner.
pub(crate) fn conditioners(scenario: &Scenario) -> Result<Vec<CustomerConditioner>, RunError> {
    let conditioners =
        Conditioner::of_customers(scenario).map_err(|what| RunError::Refused { world: "packets", what: vec![what] })?;
    let of = |(customer, conditioner)| {
        let (name, each) = scenario.customers.get_index(customer).expect("a conditioner is a customer's");
        let law = each.conditioner.as_ref().map_or("none", |chosen| chosen.law.name);
        let coins = scenario.seed.coins(&format!("customers.{name}/conditioner"));
        CustomerConditioner { name: name.clone(), law, conditioner, customer, coins }
    };
    Ok(conditioners.into_iter().map(of).collect())
}

/// The entry that a group's packets pass; none if its customer has no conditioner.
pub(crate) fn conditioner_of(scenario: &Scenario, group: &str) -> Option<usize> {
    let conditioned = scenario.customers.values().filter(|customer| customer.conditioner.is_some());
    conditioned.enumerate().find(|(_, customer)| customer.flows.iter().any(|name| name == group)).map(|(at, _)| at)
}
