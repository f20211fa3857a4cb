//! Reads `[dynamics]`.

use penstock_law::quantity::Time;

use super::error::Reported;
use super::flows;
use super::memory::Memory;
use super::table::{Fields, Item};
use crate::dynamics::{FlowRound, LinkRound};
use crate::format;
use crate::model::{Dynamics, Group, Packet};
use crate::quantity::print_time;

/// The most rounds a run may have.
const MOST_ROUNDS: u64 = 10_000_000;

/// Reads `[dynamics]`, where it stands.
pub(super) fn dynamics(
    fields: &Fields<'_>,
    groups: &[(String, Item<'_>, Group)],
    packet: Packet,
    duration: Time,
) -> Result<Option<Dynamics>, Reported> {
    let Some(item) = fields.find("dynamics") else { return Ok(None) };
    let own = item.clone().fields(&format::DYNAMICS, "write `round = \"40 ms\"`, or leave the table empty")?;
    let responds = |group: &&Group| group.requirements(packet).is_ok_and(|needs| needs.reliable);
    let longest =
        || groups.iter().map(|(_, _, group)| group).filter(responds).map(|group| flows::extremes(&group.rtt).1).max();
    let (place, round) = match own.find("round") {
        Some(place) => {
            let round = place.time_above_zero()?;
            (place, round)
        }
        None => match longest() {
            Some(round) if round > Time::ZERO => (item, round),
            Some(_) => return Err(item.wrong("the round is the longest round trip, which is 0 s", ROUND)),
            None => return Err(item.wrong("no group responds to congestion, so none has a round", ROUND)),
        },
    };
    if round > duration {
        let found = format!("a round of {} is longer than the run", print_time(round));
        return Err(place.wrong(found, format!("write at most the duration, {}", print_time(duration))));
    }
    if duration.0 / round.0 > MOST_ROUNDS {
        return Err(place.wrong(
            format!("a round of {} makes {} rounds in the run", print_time(round), duration.0 / round.0),
            format!("write at least `round = \"{}\"`", print_time(Time(duration.0.div_ceil(MOST_ROUNDS)))),
        ));
    }
    Ok(Some(Dynamics { round }))
}

/// Refuses samples that there is no memory for.
pub(super) fn affordable(
    fields: &Fields<'_>,
    dynamics: Dynamics,
    (links, groups): (usize, &[(String, Item<'_>, Group)]),
    duration: Time,
    most: &Memory,
) -> Result<(), Reported> {
    let rounds = duration.0 / dynamics.round.0;
    let flows: f64 = groups.iter().map(|(_, _, group)| f64::from(group.count)).sum();
    let memory = rounds as f64 * (links as f64 * size_of::<LinkRound>() as f64 + flows * size_of::<FlowRound>() as f64);
    if memory <= most.bytes() {
        return Ok(());
    }
    let item = fields.find("dynamics").unwrap_or_else(|| fields.item.clone());
    Err(item.wrong(
        format!("samples of {links} links and {flows} flows in {rounds} rounds take {}", most.told(memory, memory)),
        "write a larger `round`",
    ))
}

/// The remedy where no round follows from the flows.
const ROUND: &str = "write one, as in `round = \"40 ms\"`";
