//! Applications that request transfers by earlier ones: pages, and video in chunks.

use penstock_law::cc;
use penstock_law::quantity::{Rate, Time};

use super::super::error::Reported;
use super::super::table::{Fields, Item};
use crate::format::{self, MOST_CONNECTIONS_OF_A_BROWSER, MOST_OBJECTS, MOST_ROUNDS};
use crate::model::{Application, Chosen, Page, Size, Video};
use crate::quantity::{print_rate, print_time};
use crate::sizes::RATES;

/// The application that requests a group's transfers, if there is one.
pub(super) fn application(fields: &Fields<'_>) -> Result<Option<Application>, Reported> {
    match (fields.find("page"), fields.find("video")) {
        (Some(_), Some(video)) => Err(video.wrong("a group of browsers and of players", "give each a group")),
        (Some(item), None) => page(&item).map(Application::Page).map(Some),
        (None, Some(item)) => video(&item).map(Application::Video).map(Some),
        (None, None) => Ok(None),
    }
}

/// Refuses keys that an application has no use for; `count` is that of the group.
pub(super) fn check(
    fields: &Fields<'_>,
    application: &Application,
    (cc, needs): (&Chosen<cc::Controller>, &cc::Requirements),
    (size, count): (Option<&Option<Size>>, Option<u32>),
) {
    let key = if matches!(application, Application::Page(_)) { "page" } else { "video" };
    let Some(item) = fields.find(key) else { return };
    if !needs.reliable {
        let what = format!(
            "the packets of the law `{}` are not acknowledged, so the end of an object or chunk is unknown",
            cc.law.name
        );
        item.wrong(what, "choose another law, or leave it out");
    }
    let others: &[&str] = if key == "page" { &["arrivals", "on_off"] } else { &["size", "arrivals", "idle", "on_off"] };
    let used = |other: &Item<'_>| other.as_text() != Some("unlimited");
    for other in others.iter().filter_map(|other| fields.find(other)).filter(used) {
        other.wrong(
            format!("`{key}` already sets when transfers begin and what they send"),
            "leave it out, or make a group of its own",
        );
    }
    let Application::Page(page) = application else { return };
    if size.is_some_and(Option::is_none) {
        item.wrong("the objects of a page without a size", "add a `size`, as in `size = \"20 kB\"`");
    }
    if let Some(count) = count.filter(|count| count % page.connections != 0) {
        let place = fields.find("count").unwrap_or(item);
        place.wrong(
            format!(
                "`count` is {count}, which is not a multiple of the {} connections of each browser",
                page.connections
            ),
            format!("write a multiple of {}, or leave `count` out for one browser", page.connections),
        );
    }
}

fn page(item: &Item<'_>) -> Result<Page, Reported> {
    let remedy = "write `{ rounds = [1, 20, 29] }`";
    let fields = item.clone().fields(&format::PAGE, remedy)?;
    let rounds = fields.need("rounds", remedy).and_then(|item| {
        let before = item.errors.count();
        let list = item.list(remedy)?;
        if list.is_empty() || list.len() > MOST_ROUNDS {
            return Err(item.wrong(
                format!("a page of {} rounds", list.len()),
                format!(
                    "write the number of objects in each round, for 1 to {MOST_ROUNDS} rounds, as in `[1, 20, 29]`"
                ),
            ));
        }
        item.errors.each(before, list.iter().map(|item| item.whole(1, MOST_OBJECTS).map(|n| n as u32)))
    });
    let multiplexed = fields.or("multiplexed", false, |item| item.switch());
    let together = matches!(multiplexed, Ok(true));
    let connections = match fields.find("connections") {
        Some(item) if together => Err(item
            .wrong("one connection carries a page that is multiplexed", "leave `connections` out, or `multiplexed`")),
        Some(item) => item.whole(1, MOST_CONNECTIONS_OF_A_BROWSER).map(|n| n as u32),
        // As browsers have had since 2008 for each server.
        None => Ok(if together { 1 } else { 6 }),
    };
    Ok(Page { rounds: rounds?.into(), multiplexed: multiplexed?, connections: connections? })
}

fn video(item: &Item<'_>) -> Result<Video, Reported> {
    let fields = item.clone().fields(&format::VIDEO, "write a table, as in `{ chunk = \"4 s\" }`, or `{}`")?;
    let rates = fields.find("rates").map_or_else(|| Ok(RATES.map(Rate).to_vec()), |item| rates(&item));
    let time = |key: &str, silent_s: u64| fields.or(key, Time(silent_s * Time::PER_SECOND), |item| item.time());
    let (chunk, buffer) = (time("chunk", 4), time("buffer", 240));
    let (reservoir, cushion) = (time("reservoir", 90), time("cushion", 126));
    let (rates, chunk, buffer, reservoir, cushion) = (rates?, chunk?, buffer?, reservoir?, cushion?);
    let place = |key: &str| fields.find(key).unwrap_or_else(|| item.clone());
    for (key, time) in [("chunk", chunk), ("cushion", cushion)] {
        if time == Time::ZERO {
            return Err(place(key).wrong(format!("a {key} of no time"), "write a time above zero"));
        }
    }
    if chunk > buffer {
        return Err(place("chunk").wrong(
            format!(
                "a chunk of {} does not fit into a buffer of {} of playing time",
                print_time(chunk),
                print_time(buffer)
            ),
            "write a shorter chunk, or a longer buffer",
        ));
    }
    if reservoir + cushion > buffer {
        return Err(place("cushion").wrong(
            format!(
                "the highest rate is chosen from {} on, and the buffer has {}",
                print_time(reservoir + cushion),
                print_time(buffer)
            ),
            "write a shorter reservoir or cushion, or a longer buffer",
        ));
    }
    Ok(Video { rates: rates.into(), chunk, buffer, reservoir, cushion })
}

/// Rates in rising order.
fn rates(item: &Item<'_>) -> Result<Vec<Rate>, Reported> {
    let remedy = "write two rates or more in rising order, as in `[\"1 Mbit/s\", \"4 Mbit/s\"]`";
    let before = item.errors.count();
    let list = item.list(remedy)?;
    let rates = item.errors.each(before, list.iter().map(Item::rate))?;
    if rates.len() < 2 || rates.len() > MOST_ROUNDS {
        return Err(item.wrong(format!("a video at {} rates", rates.len()), remedy));
    }
    if let Some(at) =
        (0..rates.len()).find(|at| rates[*at] <= at.checked_sub(1).map_or(Rate(0), |before| rates[before]))
    {
        let than = if at == 0 { "zero" } else { "the rate before it" };
        return Err(list[at].wrong(format!("the rate {} is not above {than}", print_rate(rates[at])), remedy));
    }
    Ok(rates)
}
