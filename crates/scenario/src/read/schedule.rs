//! Values that change over time: schedules of rates, and steps of parameters.

use penstock_law::quantity::Time;

use super::error::Reported;
use super::table::Item;
use crate::format::Table;
use crate::quantity::print_time;

/// The most steps of equal length that a parameter may take in a run; each is kept.
const MOST_STEPS: u64 = 100_000;

/// Reads `[["0 s", VALUE], ["5 s", VALUE], ...]`: the value at the start, and those after it.
pub(super) fn schedule<T>(
    item: &Item<'_>,
    read: impl Fn(&Item<'_>) -> Result<T, Reported>,
) -> Result<(T, Vec<(Time, T)>), Reported> {
    let remedy = "write pairs of a time and a value, as in `[[\"0 s\", \"100 Mbit/s\"], [\"30 s\", \"50 Mbit/s\"]]`";
    let entries = item.list(remedy)?.into_iter().map(|entry| {
        let Ok([at, value]) = <[Item<'_>; 2]>::try_from(entry.list(remedy)?) else {
            return Err(entry.is_not("a time and a value", remedy));
        };
        let (time, value) = (at.time(), read(&value));
        Ok((at, time?, value?))
    });
    let entries = item.errors.each(item.errors.count(), entries)?;
    let (mut first, mut rest, mut before) = (None, Vec::new(), Time::ZERO);
    for (at, time, value) in entries {
        if first.is_none() {
            if time != Time::ZERO {
                return Err(at.wrong(format!("the first value holds from {}", print_time(time)), "begin at `0 s`"));
            }
            first = Some(value);
        } else if time > before {
            rest.push((time, value));
        } else {
            return Err(at.wrong(
                format!("`{}` does not come after {}", at.shown(), print_time(before)),
                "write the times in order, each once",
            ));
        }
        before = time;
    }
    first.map(|first| (first, rest)).ok_or_else(|| item.wrong("a schedule without values", remedy))
}

/// Reads `{ every = TIME, steps = [VALUE, ...] }`, gone through again and again until `duration`: the value at the start,
/// and those after it. `table` has these two keys.
pub(super) fn steps<T: Copy>(
    item: &Item<'_>,
    table: &'static Table,
    duration: Time,
    read: impl Fn(&Item<'_>) -> Result<T, Reported>,
) -> Result<(T, Vec<(Time, T)>), Reported> {
    let remedy = "write `{ every = \"5 s\", steps = [...] }` with two values or more";
    let fields = item.clone().fields_among(table, |key| matches!(key, "every" | "steps"), remedy)?;
    let every = fields.need("every", remedy).and_then(|item| {
        let every = item.time()?;
        let least = Time(duration.0.div_ceil(MOST_STEPS).max(1));
        if every < least {
            return Err(item.wrong(
                format!("a step every `{}` makes more than {MOST_STEPS} steps", item.shown()),
                format!("write at least `{}`", print_time(least)),
            ));
        }
        Ok(every)
    });
    let list = fields.need("steps", remedy)?;
    let values = list.errors.each(list.errors.count(), list.list(remedy)?.iter().map(&read))?;
    if values.len() < 2 {
        return Err(list.wrong(format!("{} steps are no change", values.len()), remedy));
    }
    let every = every?;
    let times = (1..).map(|n: u64| Time(every.0.saturating_mul(n))).take_while(|time| *time < duration);
    let rest = times.zip(values.iter().cycle().skip(1)).map(|(time, value)| (time, *value)).collect();
    Ok((values[0], rest))
}
