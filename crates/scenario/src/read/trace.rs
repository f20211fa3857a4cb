//! Recorded traces: of a link's rate, in mahimahi's format or as times and rates, and of its delay.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use penstock_law::quantity::{Rate, Time};
use sha2::{Digest, Sha256};

use super::error::{ReadError, Reported};
use super::memory::Memory;
use super::table::Item;
use crate::format::{self, TraceFormat};
use crate::model::{Rates, Service, Trace};
use crate::quantity::{FASTEST, LONGEST};

/// The size of an opportunity: mahimahi counts in Ethernet's largest packets [bit].
const OPPORTUNITY: u128 = 1500 * 8;
/// Picoseconds in a millisecond.
const MS: u64 = Time::PER_SECOND / 1000;
/// The most opportunities of a trace: four minutes at 1 Gbit/s.
const MOST: usize = 20_000_000;

/// Lines of a time and a value.
struct Columns {
    /// The line that may be the first.
    heading: &'static str,
    /// The content of each line, and of all lines.
    line: &'static str,
    lines: &'static str,
    most: usize,
    remedy: &'static str,
}

const RATES: Columns = Columns {
    heading: "time,rate",
    line: "a time and a rate",
    lines: "rates",
    most: 1_000_000,
    remedy: "write a time in seconds and a rate in bit/s a line, as in `2.5,12000000`",
};

/// Each is kept in the record of a run, as steps are.
const DELAYS: Columns = Columns {
    heading: "time,delay",
    line: "a time and a delay",
    lines: "delays",
    most: 100_000,
    remedy: "write a time and a delay a line, both in seconds, as in `2.5,0.04`",
};

/// Loads the text of a file by its name as it stands in the scenario.
pub(super) type Loader = dyn Fn(&str) -> Result<String, String> + Send + Sync;

/// The content of a file: the rate at the start or the mean, its later course, and the file's hash.
type Read = (Rate, Service, String);

/// External files of a document: its traces and files of sizes, each read once for all cells of a sweep,
/// and the memory there is.
pub(super) struct Traces<'a> {
    load: Option<&'a Loader>,
    memory: Memory,
    /// By file, and whether it has times and rates.
    read: RefCell<BTreeMap<(String, bool), Result<Read, Reported>>>,
    texts: RefCell<BTreeMap<String, Result<String, String>>>,
}

impl<'a> Traces<'a> {
    pub(super) fn by(load: Option<&'a Loader>, memory: Memory) -> Self {
        Self { load, memory, read: RefCell::default(), texts: RefCell::default() }
    }

    /// The memory that a cell may take.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Reads `{ trace = "file" }`: the rate at the start or the mean, and how it goes on.
    pub(super) fn trace(&self, item: &Item<'_>) -> Result<(Rate, Service), Reported> {
        let remedy = "name its file, as in `{ trace = \"cellular.trace\" }`";
        let fields = item.clone().fields(&format::TRACE, remedy)?;
        let csv = fields.or("format", TraceFormat::Mahimahi, |item| item.choice())? == TraceFormat::Csv;
        let named = fields.need("trace", remedy)?;
        let file = named.path(remedy)?;
        let wanted = fields.find("sha256");
        let key = (file.to_owned(), csv);
        let found = self.read.borrow().get(&key).cloned();
        let (rate, service, sha256) = found.unwrap_or_else(|| {
            let read = self.load(&named, file, csv);
            self.read.borrow_mut().insert(key, read.clone());
            read
        })?;
        expect(wanted.as_ref(), file, &sha256)?;
        Ok((rate, service))
    }

    /// Reads `{ trace = "file" }` of a delay: the one at the start, and those after it.
    pub(super) fn delays(&self, item: &Item<'_>) -> Result<(Time, Vec<(Time, Time)>), Reported> {
        let remedy = "name its file, as in `{ trace = \"delays.csv\" }`";
        let fields = item.clone().fields_among(&format::DELAY, |key| matches!(key, "trace" | "sha256"), remedy)?;
        let (named, wanted) = (fields.need("trace", remedy)?, fields.find("sha256"));
        let file = named.path(remedy)?;
        let text = self.text(file).unwrap_or_else(|| Err("no files are read here".to_owned()));
        let text = text.map_err(|why| {
            named.wrong(format!("the trace `{file}` cannot be read: {why}"), "name a file that can be read")
        })?;
        let found = delays(&text).map_err(|fault| at_line(&named, file, "trace", fault))?;
        expect(wanted.as_ref(), file, &digest(&text))?;
        Ok(found)
    }

    /// The text of a file of sizes or delays, which is read once; none where no files are read.
    pub(super) fn text(&self, file: &str) -> Option<Result<String, String>> {
        let load = self.load?;
        Some(self.texts.borrow_mut().entry(file.to_owned()).or_insert_with(|| load(file)).clone())
    }

    fn load(&self, named: &Item<'_>, file: &str, csv: bool) -> Result<Read, Reported> {
        let Some(load) = self.load else {
            return Err(named.wrong(
                format!("the trace `{file}` is a file, and this program reads no files"),
                "write a schedule, or read the scenario where there are files, as the command `run` does",
            ));
        };
        let text = load(file).map_err(|why| {
            named.wrong(format!("the trace `{file}` cannot be read: {why}"), "name a file that can be read")
        })?;
        let wrong = |fault| at_line(named, file, "trace", fault);
        if csv {
            let (rate, changes) = rates(&text).map_err(wrong)?;
            let (file, sha256) = (file.to_owned(), digest(&text));
            return Ok((rate, Service::Rates(Rates { file, sha256: sha256.clone(), changes }), sha256));
        }
        let (opportunities, period) = parse(&text).map_err(wrong)?;
        let sha256 = digest(&text);
        let trace = Trace { file: file.to_owned(), sha256: sha256.clone(), opportunities, period };
        Ok((mean_rate(&trace), Service::Trace(trace), sha256))
    }
}

/// The SHA-256 of a file, 64 hexadecimal digits.
pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A SHA-256 in hexadecimal digits.
pub(super) fn hash<'a>(item: &Item<'a>) -> Result<&'a str, Reported> {
    let remedy = "write the 64 digits that `sha256sum` prints, in small letters";
    let text = item.text(remedy)?;
    if text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        Ok(text)
    } else {
        Err(item.is_not("a SHA-256", remedy))
    }
}

/// Refuses a file whose SHA-256 is not the one that the scenario gives.
pub(super) fn expect(wanted: Option<&Item<'_>>, file: &str, sha256: &str) -> Result<(), Reported> {
    let Some(item) = wanted else { return Ok(()) };
    if hash(item)? == sha256 {
        return Ok(());
    }
    Err(item.wrong(
        format!("`{file}` is not the file that was meant: its SHA-256 is {sha256}"),
        "put that file in its place, or leave `sha256` out",
    ))
}

/// The fault of a file: the line, the text found there, and the remedy.
pub(super) type Fault = (u32, String, &'static str);

/// An error in a line of the file that a scenario names, by the kind of the file.
pub(super) fn at_line(named: &Item<'_>, file: &str, what: &str, (line, found, remedy): Fault) -> Reported {
    let error = ReadError {
        file: Arc::from(file),
        line: Some(line),
        column: None,
        key: String::new(),
        context: Some(match named.line() {
            Some(line) => format!("the {what} of {} in {}:{line}", named.path, named.errors.file()),
            None => format!("the {what} of {} in {}", named.path, named.errors.file()),
        }),
        found,
        remedy: remedy.into(),
        excerpt: None,
    };
    named.errors.elsewhere(&named.node.origin, error)
}

/// Times and period of a trace.
///
/// All lines are checked before a time is kept: a file that is refused takes no memory besides its text.
fn parse(text: &str) -> Result<(Arc<[Time]>, Time), Fault> {
    let remedy = "write one whole number of milliseconds a line, none smaller than the one before";
    let text = text.trim_end();
    let (mut count, mut last) = (0, 0);
    let mut lines = Numbers::of(text);
    while let Some(ms) = lines.next() {
        let ms = match ms {
            Some(ms) if ms <= LONGEST.0 / MS => ms,
            _ => {
                return Err((
                    lines.line,
                    format!("{} is not a time in milliseconds", described(lines.found())),
                    remedy,
                ));
            }
        };
        if ms < last {
            return Err((lines.line, format!("`{}` is earlier than the line before", lines.found()), remedy));
        }
        if count == MOST {
            return Err((lines.line, format!("more than {MOST} opportunities"), "write a shorter trace"));
        }
        count += 1;
        last = ms;
    }
    let (line, period) = (lines.line.max(1), Time(last * MS));
    if period == Time::ZERO {
        let remedy = "end the trace with the time at which it begins again, above zero";
        return Err((line, "a trace that takes no time".into(), remedy));
    }
    if mean(count, period) > u128::from(FASTEST.0) {
        return Err((line, "a trace of more than 100 Tbit/s".into(), "write fewer opportunities, or a longer period"));
    }
    let mut times = Vec::with_capacity(count);
    times.extend(Numbers::of(text).flatten().map(|ms| Time(ms * MS)));
    Ok((times.into(), period))
}

/// The numbers of a text, one a line; none in a line that is no number below 10^18.
///
/// It goes byte by byte: a trace has up to 20 million lines, and a file that is none as many bytes as may be read.
struct Numbers<'a> {
    text: &'a str,
    /// Number of the line that was read last, and where it begins and ends.
    line: u32,
    from: usize,
    to: usize,
}

impl<'a> Numbers<'a> {
    const fn of(text: &'a str) -> Self {
        Self { text, line: 0, from: 0, to: 0 }
    }

    /// The line that was read last, without spaces around it.
    fn found(&self) -> &'a str {
        self.text[self.from..self.to].trim()
    }
}

impl Iterator for Numbers<'_> {
    type Item = Option<u64>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let mut at = if self.line == 0 { 0 } else { self.to + 1 };
        if at >= bytes.len() {
            return None;
        }
        self.from = at;
        self.line += 1;
        let mut number = 0u64;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            number = number.wrapping_mul(10).wrapping_add(u64::from(bytes[at] - b'0'));
            at += 1;
        }
        if (1..=18).contains(&(at - self.from)) && (at == bytes.len() || bytes[at] == b'\n') {
            self.to = at;
            return Some(Some(number));
        }
        // Spaces around a number, a line end of DOS, or no number.
        while at < bytes.len() && bytes[at] != b'\n' {
            at += 1;
        }
        self.to = at;
        let digits = self.found();
        let is_number = digits.bytes().all(|b| b.is_ascii_digit()) && digits.len() <= 18;
        Some(if is_number { digits.parse().ok() } else { None })
    }
}

/// The rate at each time after the start.
type Changes = Arc<[(Time, Rate)]>;

/// The line of the first value, that value, and those after it.
type Timed<T> = (u32, T, Vec<(Time, T)>);

/// The rate at the start, and at later times: lines of a time in seconds and a rate in bit/s.
fn rates(text: &str) -> Result<(Rate, Changes), Fault> {
    let rate = |bit_per_s: f64| (bit_per_s <= FASTEST.bit_per_s()).then(|| Rate(bit_per_s.round() as u64));
    let (line, first, rest) = columns(text, &RATES, rate)?;
    if first == Rate(0) {
        return Err((line, "a link that begins with an outage".into(), "write a first rate above zero"));
    }
    Ok((first, rest.into()))
}

/// The delay at the start, and at later times: lines of a time and a delay, both in seconds.
fn delays(text: &str) -> Result<(Time, Vec<(Time, Time)>), Fault> {
    let delay = |s: f64| (s <= LONGEST.seconds()).then(|| Time::from_seconds(s));
    let (_, first, rest) = columns(text, &DELAYS, delay)?;
    Ok((first, rest))
}

/// Lines of a time in seconds and a value. Times begin at zero and grow.
fn columns<T>(text: &str, columns: &Columns, value: impl Fn(f64) -> Option<T>) -> Result<Timed<T>, Fault> {
    let number = |field: &str| field.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    let (mut first, mut rest, mut before) = (None, Vec::new(), Time::ZERO);
    for (line, row) in (1..).zip(text.trim_end().lines()) {
        if line == 1 && row.trim() == columns.heading {
            continue;
        }
        let fields = row.split_once(',').and_then(|(time, value)| Some((number(time)?, number(value)?)));
        let fields = fields.filter(|(s, _)| *s <= LONGEST.seconds());
        let Some((time, value)) = fields.and_then(|(s, x)| Some((Time::from_seconds(s), value(x)?))) else {
            return Err((line, format!("{} is not {}", described(row.trim()), columns.line), columns.remedy));
        };
        if first.is_none() {
            if time != Time::ZERO {
                return Err((line, "the first time is not 0".into(), "begin at the time 0"));
            }
            first = Some((line, value));
            continue;
        }
        if time <= before {
            return Err((line, "a time that does not come after the line before".into(), "write times that grow"));
        }
        if rest.len() + 1 == columns.most {
            return Err((line, format!("more than {} {}", columns.most, columns.lines), "write a shorter trace"));
        }
        before = time;
        rest.push((time, value));
    }
    match first {
        Some((line, first)) => Ok((line, first, rest)),
        None => Err((1, format!("a trace without {}", columns.lines), columns.remedy)),
    }
}

/// A line of a trace as an error shows it. Text that does not look like a number is described and not printed: the file may be
/// any that this process can read, and its content nobody's business.
pub(super) fn described(line: &str) -> String {
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
fn mean_rate(trace: &Trace) -> Rate {
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

    #[test]
    fn rates_are_times_and_rates() {
        let read = |text: &str| rates(text).map(|(first, rest)| (first, rest.to_vec()));
        let rest = vec![(Time(MS / 2), Rate(0)), (Time(2500 * MS), Rate(1_234_568))];
        let text = "time,rate\n0,5e6\n0.0005,0\n2.5, 1234567.9\n";
        assert_eq!(read(text), Ok((Rate(5_000_000), rest.clone())));
        assert_eq!(read(&text.replace('\n', "\r\n").replace("time,rate\r\n", "")), Ok((Rate(5_000_000), rest)));
        for (text, line, says) in [
            ("", 1, "without rates"),
            ("time,rate\n", 1, "without rates"),
            ("seconds,rate\n0,1\n", 1, "a text of 12 characters"),
            ("1,5\n", 1, "the first time is not 0"),
            ("0,0\n", 1, "an outage"),
            ("0,5\n1,5\n1,6\n", 3, "does not come after"),
            ("0,5\n1\n", 2, "`1` is not a time and a rate"),
            ("0,5\n1,2,3\n", 2, "`1,2,3` is not"),
            ("0,5\n1,-2\n", 2, "`1,-2` is not"),
            ("0,nan\n", 1, "is not"),
            ("0,inf\n", 1, "is not"),
            ("0,1e15\n", 1, "`0,1e15` is not"),
            ("0,5\n1e9,5\n", 2, "`1e9,5` is not"),
        ] {
            let (at, found, _) = rates(text).unwrap_err();
            assert!(at == line && found.contains(says), "{text:?}: {at}: {found}");
        }
    }

    /// Both columns are seconds; zero is a delay.
    #[test]
    fn delays_are_times_and_delays() {
        let rest = vec![(Time(15_000 * MS), Time(40 * MS)), (Time(30_000 * MS), Time(0))];
        assert_eq!(delays("time,delay\n0,0.027\n15,0.04\n30,0\n"), Ok((Time(27 * MS), rest)));
        for (text, line, says) in [
            ("time,rate\n0,1\n", 1, "a text of 9 characters is not a time and a delay"),
            ("time,delay\n", 1, "without delays"),
            ("0,0.1\n1,-0.1\n", 2, "is not a time and a delay"),
            ("0,0.1\n1,1e9\n", 2, "is not a time and a delay"),
            ("0.5,0.1\n", 1, "the first time is not 0"),
            ("0,0.1\n0,0.2\n", 2, "does not come after"),
        ] {
            let (at, found, _) = delays(text).unwrap_err();
            assert!(at == line && found.contains(says), "{text:?}: {at}: {found}");
        }
    }
}
