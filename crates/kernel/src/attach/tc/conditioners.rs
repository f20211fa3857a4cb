//! The parameters of conditioners, in the words of their C structures.

use penstock_law::conditioner::early_marking::EarlyMarking;
use penstock_law::conditioner::srtcm::SingleRate;
use penstock_law::conditioner::token_bucket::TokenBucket;
use penstock_law::conditioner::trtcm::TwoRate;
use penstock_law::conditioner::{self, Colour, Conditioner};
use penstock_law::{Fix, Law};
use penstock_scenario::model::Chosen;

use super::parameters::{ProgramParameters, Settings};
use crate::attach::settings;

fn conditioner(settings: &Settings) -> Result<(&Chosen<Conditioner>, conditioner::Context), String> {
    let scenario = &settings.scenario;
    let chosen = scenario.customers["all"].conditioner.as_ref().ok_or("no conditioner")?;
    let site = conditioner::Context { packet: scenario.packet.wire };
    // What the kernel's arithmetic does not reach is refused here.
    let fixed = chosen.law.fixed.ok_or("no arithmetic of the kernel's")?;
    fixed(&chosen.values, &site)?;
    Ok((chosen, site))
}

/// `struct ingress` of `bpf/tc/conditioner.h`, and the law's parameters behind it.
fn of_conditioner(
    chosen: &Chosen<Conditioner>,
    site: conditioner::Context,
    law: &[i64],
    start: Vec<i64>,
) -> ProgramParameters {
    let [green, yellow, red] = Colour::ALL.map(|colour| u32::from(colour.dscp()));
    let pair = |first: u32, second: u32| {
        i64::from_ne_bytes([first.to_ne_bytes(), second.to_ne_bytes()].concat().try_into().unwrap_or_default())
    };
    let mut parameters = vec![("link.packet".to_owned(), format!("{} B", site.packet.0))];
    parameters.extend(settings::shown(chosen).into_iter().map(|(key, value)| (format!("conditioner.{key}"), value)));
    ProgramParameters { words: [&[pair(green, yellow), pair(red, 0)], law].concat(), start, parameters, fit: None }
}

pub(super) fn token_bucket(settings: &Settings) -> Result<ProgramParameters, String> {
    let (chosen, site) = conditioner(settings)?;
    let law: TokenBucket<Fix<32>> = Law::compile(&chosen.values, &site)?;
    let (rate, depth) = (law.bucket.rate.0, law.bucket.depth.0);
    Ok(of_conditioner(chosen, site, &[rate, depth], vec![depth]))
}

pub(super) fn srtcm(settings: &Settings) -> Result<ProgramParameters, String> {
    let (chosen, site) = conditioner(settings)?;
    let law: SingleRate<Fix<32>> = Law::compile(&chosen.values, &site)?;
    let (rate, depth, excess) = (law.committed.rate.0, law.committed.depth.0, law.excess.depth.0);
    Ok(of_conditioner(chosen, site, &[rate, depth, excess], vec![depth, excess]))
}

pub(super) fn trtcm(settings: &Settings) -> Result<ProgramParameters, String> {
    let (chosen, site) = conditioner(settings)?;
    let law: TwoRate<Fix<32>> = Law::compile(&chosen.values, &site)?;
    let [committed, peak] = [&law.committed, &law.peak].map(|bucket| [bucket.rate.0, bucket.depth.0]);
    Ok(of_conditioner(chosen, site, &[committed, peak].concat(), vec![committed[1], peak[1]]))
}

pub(super) fn early_marking(settings: &Settings) -> Result<ProgramParameters, String> {
    let (chosen, site) = conditioner(settings)?;
    let law: EarlyMarking<Fix<32>> = Law::compile(&chosen.values, &site)?;
    let (rate, depth) = (law.bucket.rate.0, law.bucket.depth.0);
    let words = [rate, depth, law.reference.0, law.k1.0, law.k2.0, i64::from(law.places)];
    Ok(of_conditioner(chosen, site, &words, vec![depth, 0, depth]))
}
