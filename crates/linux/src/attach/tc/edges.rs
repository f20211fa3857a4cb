//! What conditioners are told, in the words of their C structures.

use penstock_law::edge::early_marking::EarlyMarking;
use penstock_law::edge::token_bucket::TokenBucket;
use penstock_law::edge::{Colour, Edge, Site};
use penstock_law::{Fix, Law};
use penstock_scenario::model::{Chosen, Scenario};

use super::program::Told;
use crate::attach::settings;

fn conditioner(scenario: &Scenario) -> Result<(&Chosen<Edge>, Site), String> {
    let chosen = scenario.customers["all"].conditioner.as_ref().ok_or("no conditioner")?;
    let site = Site { packet: scenario.packet.wire };
    // What the kernel's arithmetic does not reach is refused here.
    let fixed = chosen.law.fixed.ok_or("no arithmetic of the kernel's")?;
    fixed(&chosen.values, &site)?;
    Ok((chosen, site))
}

/// `struct edge` of `bpf/tc/edge.h`, and the law's parameters behind it.
fn at_edge(scenario: &Scenario, chosen: &Chosen<Edge>, law: &[i64], start: Vec<i64>) -> Told {
    let codepoints = [Colour::Green, Colour::Red].map(|colour| u32::from(colour.dscp()).to_ne_bytes());
    let codepoints = i64::from_ne_bytes(codepoints.concat().try_into().unwrap_or_default());
    let mut parameters = vec![("link.packet".to_owned(), format!("{} B", scenario.packet.wire.0))];
    parameters.extend(settings::shown(chosen).into_iter().map(|(key, value)| (format!("conditioner.{key}"), value)));
    Told { words: [&[codepoints], law].concat(), start, parameters }
}

pub(super) fn token_bucket(scenario: &Scenario) -> Result<Told, String> {
    let (chosen, site) = conditioner(scenario)?;
    let law: TokenBucket<Fix<32>> = Law::compile(&chosen.values, &site)?;
    let (rate, depth) = (law.bucket.rate.0, law.bucket.depth.0);
    Ok(at_edge(scenario, chosen, &[rate, depth], vec![depth]))
}

pub(super) fn early_marking(scenario: &Scenario) -> Result<Told, String> {
    let (chosen, site) = conditioner(scenario)?;
    let law: EarlyMarking<Fix<32>> = Law::compile(&chosen.values, &site)?;
    let (rate, depth) = (law.bucket.rate.0, law.bucket.depth.0);
    let words = [rate, depth, law.reference.0, law.k1.0, law.k2.0, i64::from(law.places)];
    Ok(at_edge(scenario, chosen, &words, vec![depth, 0, depth]))
}
