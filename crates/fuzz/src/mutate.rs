//! Mutations of a text that a scenario file could be.
//!
//! Pieces of text are cut out, doubled, swapped with those of other files, or replaced by numbers, words and bytes that
//! such readers stumble over. A mutation depends on its stream of random numbers only, so that a failure can be had again.

use penstock_scenario::seed::Stream;

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

/// One of the files, changed in one to six places. `files` must not be empty.
pub fn mutate(files: &[Vec<u8>], stream: &mut Stream) -> Vec<u8> {
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
    text
}
