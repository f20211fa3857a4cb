//! Shrinking: the smallest scenario that still shows a failure, by greedy steps in a fixed order.

mod spot;

use penstock_scenario::key;
use toml::Value;

use crate::draft::Draft;
use crate::objective::{Role, role};
pub(crate) use spot::Spot;

/// Candidates that are tried together: some may run in vain, and none depends on how many processors there are.
const TOGETHER: usize = 4;
/// The shortest part behind the warm-up [s]: a failure that shows only in less passes.
const LEAST_SCORED_S: f64 = 30.0;
/// The most rounds over all passes.
const MOST_ROUNDS: usize = 3;
/// The number of bisections of an amount.
const BISECTIONS: usize = 6;

/// The settings of a link or a group that can simply be taken away.
const EXTRAS: [&str; 13] = [
    "aqm",
    "policer",
    "loss_burst",
    "loss",
    "reorder",
    "aggregation",
    "duplicate",
    "jitter",
    "ack_jitter",
    "on_off",
    "access",
    "ecn",
    "scheduler",
];
/// The parts of an adversary: the weaker, the better.
const ADVERSARY: [&str; 8] =
    ["jitter", "ack_jitter", "aggregation", "loss", "reorder", "duplicate", "on_off", "policer"];

/// Shrinks a draft: `holds` returns for each candidate whether it still shows the failure.
///
/// # Errors
/// Those of `holds`.
pub fn shrink<E>(draft: Draft, holds: &mut impl FnMut(&[Draft]) -> Result<Vec<bool>, E>) -> Result<Draft, E> {
    // A shorter run first: all that follow cost less.
    let passes: [fn(&Draft) -> Vec<Draft>; 7] = [shorten, remove, merge_steps, flatten, fewer, round, normalise];
    let mut draft = draft;
    for _ in 0..MOST_ROUNDS {
        let before = draft.clone();
        for pass in passes {
            draft = fixed_point(draft, pass, holds)?;
        }
        draft = weaken(draft, holds)?;
        if draft == before {
            break;
        }
    }
    Ok(draft)
}

/// Takes the first candidate that holds, again and again, until none does.
fn fixed_point<E>(
    mut draft: Draft,
    pass: fn(&Draft) -> Vec<Draft>,
    holds: &mut impl FnMut(&[Draft]) -> Result<Vec<bool>, E>,
) -> Result<Draft, E> {
    // Candidates that failed are not tried again at once: what comes after the one that held is.
    let mut from = 0;
    loop {
        let mut candidates = pass(&draft);
        candidates.retain(|candidate| *candidate != draft);
        let mut accepted = None;
        while from < candidates.len() && accepted.is_none() {
            let to = (from + TOGETHER).min(candidates.len());
            let held = holds(&candidates[from..to])?.iter().position(|held| *held);
            accepted = held.map(|at| from + at);
            from = accepted.unwrap_or(to);
        }
        let Some(at) = accepted else { return Ok(draft) };
        draft = candidates.swap_remove(at);
    }
}

/// The keys of links and groups that can simply be taken away.
fn extras(draft: &Draft) -> Vec<String> {
    let mut keys = Vec::new();
    for table in ["links", "flows"] {
        for name in draft.names(table) {
            keys.extend(EXTRAS.iter().map(|extra| key::dotted(&[table.to_owned(), name.clone(), (*extra).to_owned()])));
        }
    }
    keys.retain(|key| draft.get(key).is_some());
    keys
}

/// The parts of an adversary in a draft: cross traffic, and extras of links and of other groups. Without it there is a plain path.
pub(crate) fn adversary(draft: &Draft) -> Vec<String> {
    let crossing: Vec<String> = draft.names("flows").into_iter().filter(|name| role(name) == Role::Cross).collect();
    let crossing: Vec<String> = crossing.iter().map(|name| key::dotted(&["flows".to_owned(), name.clone()])).collect();
    let of_cross = |key: &String| crossing.iter().any(|group| key.starts_with(&format!("{group}.")));
    let others: Vec<String> = extras(draft).into_iter().filter(|key| !of_cross(key)).collect();
    crossing.into_iter().chain(others).collect()
}

/// Whole things that are taken away: groups, links that only pass packets on, extras of links and groups, windows.
fn remove(draft: &Draft) -> Vec<Draft> {
    let without = |key: &str| {
        let mut candidate = draft.clone();
        candidate.remove(key);
        candidate
    };
    let groups = draft.names("flows");
    let tests = groups.iter().filter(|name| role(name) == Role::Test).count();
    let incumbents = groups.iter().filter(|name| role(name) == Role::Incumbent).count();
    let spare = |name: &&String| match role(name) {
        Role::Test => tests > 1,
        Role::Incumbent => incumbents > 1,
        Role::Cross => true,
    };
    let mut candidates: Vec<Draft> = Vec::new();
    let mut order: Vec<&String> = groups.iter().filter(spare).collect();
    order.sort_by_key(|name| role(name) != Role::Cross);
    candidates.extend(order.into_iter().map(|name| without(&format!("flows.{name}"))));
    candidates.extend(draft.names("links").iter().filter_map(|name| contract(draft, name)));
    candidates.extend(extras(draft).iter().map(|key| without(key)));
    candidates.extend(["windows", "dynamics"].into_iter().filter(|key| draft.get(key).is_some()).map(without));
    candidates
}

/// The draft without a link that is not the bottleneck: the two nodes that it joins become one.
fn contract(draft: &Draft, name: &str) -> Option<Draft> {
    if name == "bottleneck" || name.contains('/') || draft.names("links").len() < 2 {
        return None;
    }
    let end = |key: &str| draft.get(&format!("links.{name}.{key}"))?.as_str().map(str::to_owned);
    let (from, to) = (end("from")?, end("to")?);
    let mut candidate = draft.clone();
    candidate.remove(&format!("links.{name}"));
    for table in ["links", "flows"] {
        for other in candidate.names(table) {
            for end in ["from", "to"] {
                let key = format!("{table}.{other}.{end}");
                if candidate.get(&key).and_then(Value::as_str) == Some(&to) {
                    candidate.set(&key, Value::from(from.clone()));
                }
            }
        }
    }
    Some(candidate)
}

/// Shorter runs: the part after the warm-up by halves, then by a twentieth.
fn shorten(draft: &Draft) -> Vec<Draft> {
    let seconds = |key: &str| draft.get(key).and_then(Value::as_str).and_then(spot::seconds);
    let (Some(duration), warmup) = (seconds("duration"), seconds("warmup").unwrap_or(0.0)) else { return Vec::new() };
    let scored = duration - warmup;
    [0.5, 0.95]
        .into_iter()
        .map(|share| libm::ceil(scored * share))
        .filter(|shorter| *shorter >= LEAST_SCORED_S && *shorter < scored)
        .map(|shorter| draft.with("duration", Value::from(format!("{} s", warmup + shorter))))
        .collect()
}

/// Lists of steps, as pairs of a time and a value: their keys.
fn lists(draft: &Draft) -> Vec<(String, Vec<Value>)> {
    let is_pair = |value: &Value| value.as_array().is_some_and(|pair| pair.len() == 2);
    let found = draft.leaves().into_iter().filter_map(|(key, value)| match value {
        Value::Array(list) if list.len() > 1 && list.iter().all(is_pair) => Some((key, list)),
        _ => None,
    });
    found.collect()
}

/// Fewer steps: the first half of a list, then one less.
fn merge_steps(draft: &Draft) -> Vec<Draft> {
    let mut candidates = Vec::new();
    for (key, list) in lists(draft) {
        let mut with = |list: Vec<Value>| {
            candidates.push(draft.with(&key, Value::Array(list)));
        };
        if list.len() > 3 {
            with(list[..list.len() / 2].to_vec());
            with(list[..list.len() * 3 / 4].to_vec());
        }
        for at in 1..list.len().min(24) {
            let mut fewer = list.clone();
            fewer.remove(at);
            with(fewer);
        }
    }
    candidates
}

/// Constants instead of steps: each value that a list has.
fn flatten(draft: &Draft) -> Vec<Draft> {
    let mut candidates = Vec::new();
    for (key, list) in lists(draft) {
        let mut values: Vec<&Value> = list.iter().filter_map(|pair| pair.get(1)).collect();
        values.sort_by_key(ToString::to_string);
        values.dedup();
        for value in values.into_iter().take(6) {
            candidates.push(draft.with(&key, value.clone()));
        }
    }
    candidates
}

/// Fewer flows in a group: one, half of them, one less.
fn fewer(draft: &Draft) -> Vec<Draft> {
    let mut candidates = Vec::new();
    for name in draft.names("flows") {
        let key = format!("flows.{name}.count");
        let Some(count) = draft.get(&key).and_then(Value::as_integer).filter(|count| *count > 1) else { continue };
        for fewer in [1, count / 2, count - 1] {
            candidates.push(draft.with(&key, Value::Integer(fewer)));
        }
    }
    candidates
}

/// Rounder numbers: one significant digit, else two; of rates also 1, 2 or 5 as the only digit.
fn round(draft: &Draft) -> Vec<Draft> {
    // The size of a packet and the length of a run are no part of a failure.
    let kept = ["format", "seed", "title", "packet", "duration", "warmup"];
    let is_kept = |key: &str| kept.iter().any(|kept| key.split('.').next() == Some(kept));
    let spots = Spot::all(draft).into_iter().filter(|spot| !is_kept(spot.key()));
    let candidates = spots.flat_map(|spot| spot.rounder(draft));
    candidates.collect()
}

/// The rate and the round trips that most failures are given with, so that they can be compared.
fn normalise(draft: &Draft) -> Vec<Draft> {
    let mut candidates = Vec::new();
    for rate in ["100 Mbit/s", "10 Mbit/s"] {
        if draft.get("links.bottleneck.rate").is_some_and(Value::is_str) {
            candidates.push(draft.with("links.bottleneck.rate", Value::from(rate)));
        }
    }
    // Already there: the other rate would only come and go.
    if candidates.contains(draft) {
        candidates.clear();
    }
    for name in draft.names("flows") {
        let key = format!("flows.{name}.rtt");
        if draft.get(&key).is_some_and(Value::is_str) {
            candidates.push(draft.with(&key, Value::from("40 ms")));
        }
    }
    candidates
}

/// The least of each thing that an adversary does that still works, by bisection, in two significant digits.
fn weaken<E>(draft: Draft, holds: &mut impl FnMut(&[Draft]) -> Result<Vec<bool>, E>) -> Result<Draft, E> {
    let mut draft = draft;
    let parts = |key: &str| key::parts(key).unwrap_or_default();
    let is_adversary = |spot: &Spot| parts(spot.key()).iter().any(|part| ADVERSARY.contains(&part.as_str()));
    for spot in Spot::all(&draft).into_iter().filter(is_adversary) {
        let Some(mut works) = spot.amount(&draft).filter(|amount| *amount > 0.0) else { continue };
        let mut fails = 0.0;
        for _ in 0..BISECTIONS {
            let Some(candidate) = spot.with(&draft, f64::midpoint(works, fails), 2) else { break };
            if candidate == draft {
                break;
            }
            if holds(std::slice::from_ref(&candidate))? == [true] {
                works = spot.amount(&candidate).unwrap_or(works);
                draft = candidate;
            } else {
                fails = spot.amount(&candidate).unwrap_or(works);
            }
        }
    }
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAFT: &str = r#"
format = 1
duration = "190 s"
warmup = "10 s"
links.bottleneck = { from = "a", to = "b", rate = "87.3 Mbit/s", buffer = "3 bdp", aqm = { law = "codel" } }
links.last = { from = "b", to = "c", rate = "10 Gbit/s", delay = [["0 s", "1 ms"], ["1 s", "2 ms"], ["3 s", "3 ms"]] }
flows.test = { from = "a", to = "b", count = 6, rtt = "41.7 ms" }
flows.test-other = { from = "a", to = "c", rtt = "40 ms", jitter = { uniform = ["0 ms", "9.31 ms"] } }
flows.pulse = { from = "a", to = "b", on_off = { on = "150 ms", off = "850 ms" } }
"#;

    fn shrunk(holds: impl Fn(&Draft) -> bool) -> (Draft, usize) {
        let mut asked = 0;
        let mut check = |drafts: &[Draft]| {
            asked += drafts.len();
            Ok::<_, ()>(drafts.iter().map(&holds).collect())
        };
        let shrunk = shrink(Draft::parse(DRAFT).unwrap(), &mut check).unwrap();
        (shrunk, asked)
    }

    /// The parts that matter stay, at the least value that does, and all else goes.
    #[test]
    fn what_matters_stays() {
        let most = |draft: &Draft| {
            Spot::all(draft)
                .iter()
                .find(|spot| spot.key().contains("jitter.uniform") && spot.is_last())
                .and_then(|spot| spot.amount(draft))
        };
        let (draft, asked) =
            shrunk(|draft| most(draft).is_some_and(|ms| ms >= 3.0) && draft.get("flows.test").is_some());
        let text = draft.text();
        assert!(
            text.contains("uniform = [\"0 ms\", \"3") && !text.contains("pulse") && !text.contains("last"),
            "{text}"
        );
        assert!(text.contains("count = 1") && text.contains("100 Mbit/s") && !text.contains("codel"), "{text}");
        assert!(text.contains("to = \"b\"") && !text.contains("to = \"c\""), "{text}");
        assert!(text.contains("duration = \"40 s\"") || text.contains("duration = \"41 s\""), "{text}");
        assert!(asked < 200, "{asked}");
        // The same again changes nothing.
        let again = shrink(draft.clone(), &mut |drafts: &[Draft]| {
            Ok::<_, ()>(
                drafts.iter().map(|d| most(d).is_some_and(|ms| ms >= 3.0) && d.get("flows.test").is_some()).collect(),
            )
        });
        assert_eq!(again, Ok(draft));
    }

    #[test]
    fn what_cannot_shrink_stays_as_it_is() {
        let (draft, _) = shrunk(|_| false);
        assert_eq!(draft, Draft::parse(DRAFT).unwrap());
    }

    #[test]
    fn steps_become_few() {
        let kept = |draft: &Draft| draft.text().contains("[\"3 s\", \"3 ms\"]");
        let (draft, _) = shrunk(kept);
        assert!(draft.text().contains("delay = [[\"0 s\", \"1 ms\"], [\"3 s\", \"3 ms\"]]"), "{}", draft.text());
    }

    #[test]
    fn an_error_ends_it() {
        let mut check = |_: &[Draft]| Err::<Vec<bool>, _>("disk full");
        assert_eq!(shrink(Draft::parse(DRAFT).unwrap(), &mut check), Err("disk full"));
    }
}
