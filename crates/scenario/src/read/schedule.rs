//! Values that change over time: schedules of rates, and steps of parameters.

use penstock_law::quantity::Time;

use super::error::ReadError;
use super::table::Item;
use crate::format;
use crate::quantity::print_time;

/// The most steps of equal length that a parameter may take in a run; each is kept.
const MOST_STEPS: u64 = 100_000;

/// Reads `[["0 s", VALUE], ["5 s", VALUE], ...]`: the value at the start, and those after it.
pub(super) fn schedule<T>(
    item: &Item<'_>,
    read: impl Fn(&Item<'_>) -> Result<T, ReadError>,
) -> Result<(T, Vec<(Time, T)>), ReadError> {
    let remedy = "write pairs of a time and a value, as in `[[\"0 s\", \"100 Mbit/s\"], [\"30 s\", \"50 Mbit/s\"]]`";
    let (mut first, mut rest, mut before) = (None, Vec::new(), Time::ZERO);
    for entry in item.list(remedy)? {
        let pair = entry.list(remedy)?;
        let [at, value] = pair.as_slice() else { return Err(entry.is_not("a time and a value", remedy)) };
        let (time, value) = (at.time()?, read(value)?);
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
/// and those after it.
pub(super) fn steps<T: Copy>(
    item: &Item<'_>,
    duration: Time,
    read: impl Fn(&Item<'_>) -> Result<T, ReadError>,
) -> Result<(T, Vec<(Time, T)>), ReadError> {
    let remedy = "write `{ every = \"5 s\", steps = [...] }` with two values or more";
    let fields = item.clone().fields(&format::STEPS, remedy)?;
    let every_item = fields.need("every", remedy)?;
    let every = every_item.time()?;
    let least = Time(duration.0.div_ceil(MOST_STEPS).max(1));
    if every < least {
        return Err(every_item.wrong(
            format!("a step every `{}` makes more than {MOST_STEPS} steps", every_item.shown()),
            format!("write at least `{}`", print_time(least)),
        ));
    }
    let list = fields.need("steps", remedy)?;
    let values = list.list(remedy)?.iter().map(&read).collect::<Result<Vec<T>, _>>()?;
    if values.len() < 2 {
        return Err(list.wrong(format!("{} steps are no change", values.len()), remedy));
    }
    let times = (1..).map(|n: u64| Time(every.0.saturating_mul(n))).take_while(|time| *time < duration);
    let rest = times.zip(values.iter().cycle().skip(1)).map(|(time, value)| (time, *value)).collect();
    Ok((values[0], rest))
}
