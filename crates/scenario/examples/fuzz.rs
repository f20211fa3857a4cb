//! Feeds the reader what nobody would write: `cargo run --release -p penstock-scenario --example fuzz -- SECONDS [SEED]
//! FILE...`.
//!
//! Each input is one of the files, changed in some places: pieces of text are cut out, doubled, swapped with those of
//! other files, or replaced by numbers, words and bytes that such readers stumble over. It must hold that the reader
//! never panics; that an error says on which line it is, and what would do; that what is accepted prints and reads back
//! as itself; and that no input takes long. The first input that breaks one of these is printed, and the status is 1.
//!
//! A round depends on the seed and its own number only, so that a failure can be had again. What `cargo fuzz` would do
//! better, to follow the branches of the reader, needs a nightly compiler.
#![allow(clippy::disallowed_types, reason = "a fuzzer's time is wall time")]

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use penstock_scenario::read::{Cell, Document, ReadError};
use penstock_scenario::seed::{Seed, Stream};
use penstock_scenario::write::print;

/// What an input may take. A sweep of 100,000 cells is the most that is allowed, and takes some seconds.
const LONGEST: Duration = Duration::from_secs(20);

/// Words of the format, and what readers stumble over.
const PIECES: &[&str] = &[
    "",
    "0",
    "-1",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "0x7f",
    "1_000",
    "99999999999999999999999999",
    "[]",
    "{}",
    "[[",
    "]]",
    "\"",
    "\"\"",
    "'''",
    "\n",
    "\r\n",
    "= ",
    ".",
    "..",
    "#",
    "\u{0}",
    "\u{feff}",
    "\u{663}",
    "true",
    "unlimited",
    "automatic",
    "1 bdp",
    "1e999999 s",
    "9999 h",
    "1 ps",
    "4800 h",
    "100 Tbit/s",
    "0 bit/s",
    "1 packet",
    "64 packets",
    "1 B",
    "1e12 /s",
    "{ every = \"1 ms\", steps = [\"1 bit/s\", \"1 Tbit/s\"] }",
    "[[\"0 s\", \"1 Mbit/s\"], [\"1 s\", \"0 bit/s\"]]",
    "{ trace = \"t\" }",
    "{ uniform = [\"0 s\", \"1 s\"] }",
    "{ exponential = \"1 s\" }",
    "{ pareto = { mean = \"1 s\", shape = 1.5 } }",
    "{ pareto = { mean = \"1 kB\", shape = 1.0000001 } }",
    "{ spread = [\"1 s\", \"0 s\"] }",
    "{ law = \"drr\", by = \"class\" }",
    "{ law = \"cbr\", rate = \"1 Gbit/s\" }",
    "{ law = \"red\" }",
    "{ count = 3 }",
    "duplex = true\n",
    "arrivals = { poisson = \"1 /s\" }\n",
    "idle = \"0 s\"\n",
    "size = \"1 B\"\n",
    "class = \"c\"\n",
    "[classes.c]\n",
    "[stop]\nwhen = \"transfers complete\"\n",
    "[sweep]\nseed = { count = 2 }\n",
    "[defaults.flows]\n",
    "[defaults.links]\n",
    "[links.x]\n",
    "[flows.\"x y\"]\n",
    "[customers.c]\nflows = [\"ftp\"]\n",
    "conditioner = { law = \"token-bucket\", committed_rate = \"1 Mbit/s\" }\n",
    "{ law = \"wred\" }",
];

/// What the reader did with an input.
fn read(text: &str) -> Result<Vec<Cell>, ReadError> {
    let trace = |file: &str| if file.len() > 3 { Err("no".to_owned()) } else { Ok("0\n1\n1\n7\n".to_owned()) };
    Document::parse_with(text, "fuzz.toml", trace)?.cells()
}

/// What is wrong with how the reader took an input.
fn fault(text: &str) -> Option<String> {
    let started = Instant::now();
    let Ok(result) = catch_unwind(|| read(text)) else { return Some("the reader panicked".into()) };
    if started.elapsed() > LONGEST {
        return Some(format!("the reader took {:?}", started.elapsed()));
    }
    match result {
        Err(error) if error.line.is_none() => Some(format!("an error without a line: {error}")),
        Err(error) if error.found.is_empty() || error.remedy.is_empty() => {
            Some(format!("an error without words: {error}"))
        }
        Err(_) => None,
        // The first and the last say enough of a sweep.
        Ok(cells) => cells.first().into_iter().chain(cells.last()).find_map(|cell| {
            catch_unwind(|| {
                let printed = print(&cell.scenario);
                match read(&printed) {
                    Err(error) => Some(format!("prints what cannot be read: {error}\n{printed}")),
                    Ok(again) if again.len() != 1 || again[0].id != cell.id || print(&again[0].scenario) != printed => {
                        Some(format!("reads back as another scenario:\n{printed}"))
                    }
                    Ok(again) if format!("{:?}", again[0].scenario) != format!("{:?}", cell.scenario) => {
                        Some(format!("prints the same and is not:\n{printed}"))
                    }
                    Ok(_) => None,
                }
            })
            .unwrap_or_else(|_| Some("reading what was printed panicked".into()))
        }),
    }
}

/// A draw below `n`.
fn below(stream: &mut Stream, n: usize) -> usize {
    (stream.bits() % n.max(1) as u64) as usize
}

/// The bounds of a token around a random place: a run of letters and digits, a quotation, or one character.
fn token(text: &[u8], stream: &mut Stream) -> (usize, usize) {
    let at = below(stream, text.len());
    let word = |b: u8| b.is_ascii_alphanumeric() || b"_-./ ".contains(&b);
    if text.is_empty() || !word(text[at]) {
        return (at, (at + 1).min(text.len()));
    }
    let from = text[..at].iter().rposition(|b| !word(*b)).map_or(0, |at| at + 1);
    let to = text[at..].iter().position(|b| !word(*b)).map_or(text.len(), |n| at + n);
    (from, to)
}

/// The bounds of a random line, with its end.
fn line(text: &[u8], stream: &mut Stream) -> (usize, usize) {
    let at = below(stream, text.len());
    let from = text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let to = text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| at + n + 1);
    (from, to)
}

/// One of the files, changed in one to six places.
fn mutate(files: &[Vec<u8>], stream: &mut Stream) -> String {
    let mut text = files[below(stream, files.len())].clone();
    for _ in 0..=below(stream, 6) {
        let other = &files[below(stream, files.len())];
        let piece = PIECES[below(stream, PIECES.len())].as_bytes();
        match below(stream, 10) {
            // A token becomes a word of the format, or a token of another file.
            0..=2 => {
                let (from, to) = token(&text, stream);
                text.splice(from..to, piece.iter().copied());
            }
            3 => {
                let ((from, to), (a, b)) = (token(&text, stream), token(other, stream));
                text.splice(from..to, other[a..b].iter().copied());
            }
            // A whole value.
            4 => {
                let (from, to) = line(&text, stream);
                if let Some(equals) = text[from..to].iter().position(|b| *b == b'=') {
                    let quoted = stream.lands(0.5);
                    let mark = if quoted { "\"" } else { "" };
                    let value = [b" ", mark.as_bytes(), piece, mark.as_bytes(), b"\n"].concat();
                    text.splice(from + equals + 1..to, value);
                }
            }
            // Lines go, come and change places.
            5 => {
                let (from, to) = line(&text, stream);
                text.drain(from..to);
            }
            6 => {
                let ((at, _), (a, b)) = (line(&text, stream), line(other, stream));
                text.splice(at..at, other[a..b].iter().copied());
            }
            7 => {
                let (at, _) = line(&text, stream);
                text.splice(at..at, piece.iter().copied());
            }
            // Bytes.
            8 => {
                let at = below(stream, text.len());
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << below(stream, 8);
                }
            }
            _ => {
                let end = below(stream, text.len() + 1);
                text.truncate(end);
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1).peekable();
    let (Some(seconds), seed) = (
        arguments.next().and_then(|s| s.parse().ok()),
        arguments.next_if(|s| s.parse::<u64>().is_ok()).and_then(|s| s.parse().ok()).unwrap_or(1u64),
    ) else {
        eprintln!("write: fuzz SECONDS [SEED] FILE...");
        return ExitCode::from(2);
    };
    let mut files = Vec::new();
    for path in arguments {
        match fs::read(&path) {
            Ok(bytes) => files.push(bytes),
            Err(error) => {
                eprintln!("cannot read {path}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    if files.is_empty() {
        eprintln!("name files to change, such as scenarios/*.toml");
        return ExitCode::from(2);
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut rounds, mut accepted) = (0u64, 0u64);
    while Instant::now() < end {
        let text = mutate(&files, &mut Seed(seed).stream(&format!("fuzz/{rounds}")));
        if let Some(fault) = fault(&text) {
            eprintln!("round {rounds} of seed {seed}: {fault}\n--- the input\n{text}");
            return ExitCode::FAILURE;
        }
        accepted += u64::from(read(&text).is_ok());
        rounds += 1;
    }
    println!("{rounds} inputs, of which {accepted} were scenarios; the reader held");
    ExitCode::SUCCESS
}
