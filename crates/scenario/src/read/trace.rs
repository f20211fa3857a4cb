//! Recorded traces of a link's rate, in mahimahi's format.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use penstock_law::quantity::{Rate, Time};
use sha2::{Digest, Sha256};

use super::error::{ReadError, Reported};
use super::memory::Memory;
use super::table::Item;
use crate::format;
use crate::model::Trace;
use crate::quantity::{FASTEST, LONGEST};

/// What an opportunity is worth: mahimahi counts in Ethernet's largest packets [bit].
const OPPORTUNITY: u128 = 1500 * 8;
/// Picoseconds in a millisecond.
const MS: u64 = Time::PER_SECOND / 1000;
/// The most opportunities of a trace: four minutes at 1 Gbit/s.
const MOST: usize = 20_000_000;

/// How the text of a file is had, by its name as it stands in the scenario.
pub(super) type Loader = dyn Fn(&str) -> Result<String, String> + Send + Sync;

/// What a document has from outside: its traces, each read once for all cells of a sweep, and the memory there is.
pub(super) struct Traces<'a> {
    load: Option<&'a Loader>,
    memory: Memory,
    read: RefCell<BTreeMap<String, Result<Trace, Reported>>>,
}

impl<'a> Traces<'a> {
    pub(super) fn by(load: Option<&'a Loader>, memory: Memory) -> Self {
        Self { load, memory, read: RefCell::default() }
    }

    /// The memory that a cell may take.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Reads `{ trace = "file" }`.
    pub(super) fn trace(&self, item: &Item<'_>) -> Result<Trace, Reported> {
        let remedy = "name its file, as in `{ trace = \"cellular.trace\" }`";
        let fields = item.clone().fields(&format::TRACE, remedy)?;
        let named = fields.need("trace", remedy)?;
        let file = named.path(remedy)?;
        let wanted = fields.find("sha256").map(|item| Ok::<_, Reported>((hash(&item)?, item))).transpose()?;
        let found = self.read.borrow().get(file).cloned();
        let trace = found.unwrap_or_else(|| {
            let trace = self.load(&named, file);
            self.read.borrow_mut().insert(file.to_owned(), trace.clone());
            trace
        })?;
        if let Some((wanted, item)) = wanted
            && *wanted != *trace.sha256
        {
            return Err(item.wrong(
                format!("`{file}` is not the file that was meant: its SHA-256 is {}", trace.sha256),
                "put that file in its place, or leave `sha256` out",
            ));
        }
        Ok(trace)
    }

    fn load(&self, named: &Item<'_>, file: &str) -> Result<Trace, Reported> {
        let Some(load) = self.load else {
            return Err(named.wrong(
                format!("the trace `{file}` is a file, and no files are read here"),
                "write a schedule, or read the scenario where there are files, as the command `run` does",
            ));
        };
        let text = load(file).map_err(|why| {
            named.wrong(format!("the trace `{file}` cannot be read: {why}"), "name a file that can be")
        })?;
        let (opportunities, period) = parse(&text).map_err(|(line, found, remedy)| {
            let error = ReadError {
                file: Arc::from(file),
                line: Some(line),
                column: None,
                key: String::new(),
                context: Some(match named.line() {
                    Some(line) => format!("the trace of {} in {}:{line}", named.path, named.errors.file()),
                    None => format!("the trace of {} in {}", named.path, named.errors.file()),
                }),
                found,
                remedy: remedy.into(),
                excerpt: None,
            };
            named.errors.elsewhere(&named.node.origin, error)
        })?;
        let sha256 = Sha256::digest(&text).iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Ok(Trace { file: file.to_owned(), sha256, opportunities, period })
    }
}

/// A SHA-256 in hexadecimal digits.
fn hash<'a>(item: &Item<'a>) -> Result<&'a str, Reported> {
    let remedy = "write the 64 digits that `sha256sum` prints, in small letters";
    let text = item.text(remedy)?;
    if text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        Ok(text)
    } else {
        Err(item.is_not("a SHA-256", remedy))
    }
}

/// What is wrong with a trace: the line, what was found there, and what would do.
type Fault = (u32, String, &'static str);

/// Times and period of a trace.
fn parse(text: &str) -> Result<(Arc<[Time]>, Time), Fault> {
    let remedy = "write one whole number of milliseconds a line, none smaller than the one before";
    let mut times = Vec::new();
    let mut last = (1, Time::ZERO);
    for (line, number) in (1..).zip(text.trim_end().lines()) {
        let digits = number.trim();
        let ms: Option<u64> = if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None };
        let Some(time) = ms.and_then(|ms| ms.checked_mul(MS)).map(Time).filter(|time| *time <= LONGEST) else {
            return Err((line, format!("{} is not a time in milliseconds", described(digits)), remedy));
        };
        if time < last.1 {
            return Err((line, format!("`{digits}` is earlier than the line before"), remedy));
        }
        if times.len() == MOST {
            return Err((line, format!("more than {MOST} opportunities"), "write a shorter trace"));
        }
        times.push(time);
        last = (line, time);
    }
    let (line, period) = last;
    if period == Time::ZERO {
        let remedy = "end the trace with the time at which it begins again, above zero";
        return Err((line, "a trace that takes no time".into(), remedy));
    }
    if mean(times.len(), period) > u128::from(FASTEST.0) {
        return Err((line, "a trace of more than 100 Tbit/s".into(), "write fewer opportunities, or a longer period"));
    }
    Ok((times.into(), period))
}

/// A line of a trace as an error shows it. What does not look like a number is described and not printed: the file may be
/// any that this process can read, and its content nobody's business.
fn described(line: &str) -> String {
    let looks_like_a_number = line.bytes().all(|b| b.is_ascii_digit() || b"+-.,eE".contains(&b));
    match line.chars().count() {
        0 => "an empty line".into(),
        1..=24 if looks_like_a_number => format!("`{line}`"),
        length if looks_like_a_number => format!("a number of {length} digits"),
        length => format!("a text of {length} characters"),
    }
}

/// The mean rate of so many opportunities a period, at least one bit a second.
fn mean(opportunities: usize, period: Time) -> u128 {
    let bits = opportunities as u128 * OPPORTUNITY * u128::from(Time::PER_SECOND);
    (bits / u128::from(period.0.max(1))).max(1)
}

/// The mean rate of a trace.
pub(super) fn mean_rate(trace: &Trace) -> Rate {
    Rate(u64::try_from(mean(trace.opportunities.len(), trace.period)).unwrap_or(FASTEST.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve opportunities in 10 ms are 144 kbit in 10 ms.
    #[test]
    fn a_trace_is_times_and_a_period() {
        let text = "0\n1\n1\n1\n2\n3\n4\n5\n6\n7\n8\n10\n";
        let (times, period) = parse(text).unwrap();
        assert_eq!((times.len(), times[3], period), (12, Time(MS), Time(10 * MS)));
        assert_eq!(mean(times.len(), period), 14_400_000);
        assert_eq!(parse(&text.replace('\n', "\r\n")).unwrap(), (times, period));
    }

    #[test]
    fn what_is_not_a_trace_is_refused_by_line() {
        for (text, line) in [
            ("", 1),
            ("0\n", 1),
            ("5\n4\n", 2),
            ("1\n\n2\n", 2),
            ("1\n2.5\n", 2),
            ("-1\n", 1),
            ("1\n99999999999999999999\n", 2),
            ("1\n17280000001\n", 2),
            ("\0\u{1}", 1),
        ] {
            assert_eq!(parse(text).map_err(|e| e.0), Err(line), "{text:?}");
        }
    }
}
