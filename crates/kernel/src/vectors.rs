//! Vectors: the results that every implementation of a law must compute, as text for any language.
//!
//! `#` begins a line for people; one of them, `# N vectors`, has their number. A line `params ...` gives the compiled parameters of the
//! vectors below it. Any other line is a vector: an event, the state before, the observation, an arrow, and the state after. Numbers are
//! decimal integers; the file's header names them, in the words of [`KERNEL_LAWS`](crate::kernel_laws::KERNEL_LAWS).

use std::fmt;
use std::slice::Iter;

use crate::kernel_laws::{Call, KernelLaw, MOST};

/// One call and its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vector {
    /// Its line in the file, from 1.
    pub line: usize,
    /// Its input.
    pub call: Call,
    /// The state that must come out.
    pub after: [i64; MOST.state],
}

/// The vectors of one law.
#[derive(Debug, Clone)]
pub struct Vectors {
    /// The law.
    pub kernel_law: &'static KernelLaw,
    /// The file's name in messages.
    pub file: String,
    list: Vec<Vector>,
}

/// The reason why a text is not a list of vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {flaw}")]
pub struct VectorError {
    /// The file, as the reader called it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The flaw there.
    pub flaw: Flaw,
}

/// The flaw of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The first word is neither `params` nor an event of the law.
    #[error("`{found}` is no event of this law; its events are {known}")]
    Event {
        /// The word.
        found: String,
        /// The known words.
        known: String,
    },
    /// Too few or too many words.
    #[error("{found} words instead of these: {wanted}")]
    Words {
        /// Their number.
        found: usize,
        /// Their names.
        wanted: String,
    },
    /// Not a decimal integer of 64 bits, with sign.
    #[error("`{column}` is an integer of 64 bits, not `{found}`")]
    Integer {
        /// The name of the word.
        column: &'static str,
        /// The text found.
        found: String,
    },
    /// A count that has no 32 bits.
    #[error("`{column}` is a count from 0 to 4294967295, not {found}")]
    Count {
        /// The name of the word.
        column: &'static str,
        /// The text found.
        found: i64,
    },
    /// None at all.
    #[error("the file has no test vector")]
    Empty,
    /// Another number of them than in the header.
    #[error("the header promises {promised} vectors, and the file has {found}: use the whole file")]
    Cut {
        /// The number in the header.
        promised: usize,
        /// The number in the file.
        found: usize,
    },
    /// A vector before any parameters.
    #[error("a vector needs a line of `params` above it")]
    NoParams,
}

impl Vectors {
    /// Reads the vectors of `kernel implementation` from `text`; `file` is for messages.
    ///
    /// # Errors
    /// The first line that is not one, and a file that has none or not as many as its header promises.
    pub fn parse(kernel_law: &'static KernelLaw, file: &str, text: &str) -> Result<Self, VectorError> {
        let mut list = Vec::new();
        let (mut params, mut promised) = (None, None);
        let flawed = |line, flaw| VectorError { file: file.to_owned(), line, flaw };
        for (at, content) in text.lines().enumerate() {
            let line = at + 1;
            if content.is_empty() || content.starts_with('#') {
                let count = content.strip_prefix("# ").and_then(|text| text.strip_suffix(" vectors"));
                promised = count.and_then(|count| count.parse().ok()).or(promised);
                continue;
            }
            let parsed = if let Some(rest) = content.strip_prefix("params") {
                numbers(rest, &[Column::Words(kernel_law.words.params)]).map(|[words]| params = Some(words))
            } else {
                vector(kernel_law, line, params, content).map(|vector| list.push(vector))
            };
            parsed.map_err(|flaw| flawed(line, flaw))?;
        }
        let (line, found) = (text.lines().count().max(1), list.len());
        match promised {
            Some(promised) if promised != found => return Err(flawed(line, Flaw::Cut { promised, found })),
            _ if found == 0 => return Err(flawed(line, Flaw::Empty)),
            _ => {}
        }
        Ok(Self { kernel_law, file: file.to_owned(), list })
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if there is none, as of an event that no vector is of.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// They, in the order of the file.
    pub fn iter(&self) -> Iter<'_, Vector> {
        self.list.iter()
    }

    /// Those of one event.
    #[must_use]
    pub fn of_event(&self, event: &str) -> Self {
        let list = self.iter().filter(|vector| self.kernel_law.events[vector.call.event] == event).copied().collect();
        Self { kernel_law: self.kernel_law, file: self.file.clone(), list }
    }

    /// Compares outcomes, one a vector and in their order, with the required results.
    pub(crate) fn compare(&self, outcomes: impl IntoIterator<Item = [i64; MOST.state]>) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        for (vector, got) in self.list.iter().zip(outcomes) {
            for (word, column) in self.kernel_law.words.state.iter().enumerate() {
                if got[word] != vector.after[word] {
                    mismatches.push(Mismatch { line: vector.line, column, got: got[word], want: vector.after[word] });
                }
            }
        }
        mismatches
    }
}

impl<'a> IntoIterator for &'a Vectors {
    type Item = &'a Vector;
    type IntoIter = Iter<'a, Vector>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A word that came out wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// The vector's line.
    pub line: usize,
    /// The word's name.
    pub column: &'static str,
    /// The result.
    pub got: i64,
    /// The required result.
    pub want: i64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, got, want } = self;
        write!(f, "line {line}: {column}: got {got}, want {want}")
    }
}

#[derive(Clone, Copy)]
enum Column {
    Words(&'static [&'static str]),
    Arrow,
}

/// Words of a line, sorted into groups of eight; an arrow leaves its group empty.
fn numbers<const N: usize>(text: &str, columns: &[Column; N]) -> Result<[[i64; MOST.params]; N], Flaw> {
    let mut groups = [[0; MOST.params]; N];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let mut rest = words.iter();
    let mut complete = true;
    for (group, column) in groups.iter_mut().zip(columns) {
        match column {
            Column::Arrow => complete &= rest.next() == Some(&"->"),
            Column::Words(names) => {
                for (into, name) in group.iter_mut().zip(*names) {
                    let Some(word) = rest.next() else {
                        complete = false;
                        break;
                    };
                    *into = number(name, word)?;
                }
            }
        }
    }
    if complete && rest.next().is_none() {
        return Ok(groups);
    }
    let mut wanted = String::new();
    for column in columns {
        match column {
            Column::Words(names) => names.iter().for_each(|name| wanted.extend([name, " "])),
            Column::Arrow => wanted.push_str("-> "),
        }
    }
    Err(Flaw::Words { found: words.len(), wanted: wanted.trim_end().to_owned() })
}

fn number(column: &'static str, word: &str) -> Result<i64, Flaw> {
    let found: i64 = word.parse().map_err(|_| Flaw::Integer { column, found: word.to_owned() })?;
    if is_number(column) || u32::try_from(found).is_ok() { Ok(found) } else { Err(Flaw::Count { column, found }) }
}

/// True if a word is a number with digits behind the point, not a count.
pub fn is_number(column: &str) -> bool {
    column.ends_with("_q32") || column.ends_with("_q62")
}

fn vector(
    kernel_law: &KernelLaw,
    line: usize,
    params: Option<[i64; MOST.params]>,
    content: &str,
) -> Result<Vector, Flaw> {
    let (name, rest) = content.split_once(' ').unwrap_or((content, ""));
    let Some(event) = kernel_law.events.iter().position(|event| *event == name) else {
        return Err(Flaw::Event { found: name.to_owned(), known: kernel_law.events.join(", ") });
    };
    let state = Column::Words(kernel_law.words.state);
    let [before, observation, _, after] =
        numbers(rest, &[state, Column::Words(kernel_law.words.observation), Column::Arrow, state])?;
    let params = params.ok_or(Flaw::NoParams)?;
    let call = Call { event, params, state: first(before), observation: first(observation) };
    Ok(Vector { line, call, after: first(after) })
}

fn first<const N: usize>(words: [i64; MOST.params]) -> [i64; N] {
    std::array::from_fn(|at| words[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_laws::kernel_law;

    fn flaw_of(text: &str) -> String {
        Vectors::parse(kernel_law("leadlag").unwrap(), "leadlag.txt", text).unwrap_err().to_string()
    }

    #[test]
    fn a_vector_is_read_word_by_word() {
        let text = "# for people\nparams 1 2 3\n\ntick 0 8 5 -6 -> 17179869184 9\n";
        let vectors = Vectors::parse(kernel_law("price").unwrap(), "price.txt", text).unwrap();
        let mut call = Call { event: 0, ..Call::default() };
        call.params[..3].copy_from_slice(&[1, 2, 3]);
        call.state[1] = 8;
        call.observation[..2].copy_from_slice(&[5, -6]);
        let mut after = [0; MOST.state];
        after[..2].copy_from_slice(&[17_179_869_184, 9]);
        assert_eq!(vectors.list, [Vector { line: 4, call, after }]);
    }

    #[test]
    fn errors_name_file_line_and_what_would_do() {
        let params = "params 1 2 3 4 5 6 7 8\n";
        let said = [
            ("", "leadlag.txt:1: the file has no test vector"),
            ("params 1 2 3 4 5 6 7 8\n", "leadlag.txt:1: the file has no test vector"),
            (
                "# 2 vectors\nparams 1 2 3 4 5 6 7 8\ntick 1 2 3 4 5 6 7 -> 7 8 9\n",
                "leadlag.txt:3: the header promises 2 vectors, and the file has 1: use the whole file",
            ),
            ("tick 1 2 3 4 5 6 7 -> 7 8 9", "leadlag.txt:1: a vector needs a line of `params` above it"),
            (
                "tock",
                "leadlag.txt:1: `tock` is no event of this law; its events are tick, ack, cut, timeout, tick_delay, \
                 tick_linearised, tick_linearised_delay",
            ),
            (
                "params 1 2\n",
                "leadlag.txt:1: 2 words instead of these: step_q32 weight_q32 gain_q32 cap_q32 scale_q32 least_q32 \
                 most_q32 ln2_q32",
            ),
            ("params 1 2 x 4 5 6 7 8", "leadlag.txt:1: `gain_q32` is an integer of 64 bits, not `x`"),
            (
                "params 9223372036854775808 2 3 4 5 6 7 8",
                "leadlag.txt:1: `step_q32` is an integer of 64 bits, not `9223372036854775808`",
            ),
        ];
        for (text, want) in said {
            assert_eq!(flaw_of(text), want);
        }
        let columns =
            "window_q32 target_q32 xi_q32 price_q32 base_rtt_q32 packets rtt_q32 -> window_q32 target_q32 xi_q32";
        for (line, found) in [
            ("tick", 0),
            ("ack 1 2 3 4 5 6 7 8 9", 9),
            ("tick 1 2 3 4 5 6 7 -> 7 8", 10),
            ("cut 1 2 3 4 5 6 7 -> 7 8 9 1", 12),
        ] {
            // An arrow where a number belongs, or the other way round, is a matter of number and place of words.
            let want = format!("leadlag.txt:2: {found} words instead of these: {columns}");
            assert_eq!(flaw_of(&format!("{params}{line}")), want, "{line}");
        }
        assert_eq!(
            flaw_of(&format!("{params}ack 1 2 3 4 5 -1 7 -> 7 8 9")),
            "leadlag.txt:2: `packets` is a count from 0 to 4294967295, not -1"
        );
    }
}
