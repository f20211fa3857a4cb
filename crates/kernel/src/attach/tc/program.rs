//! The laws that have a tc program, and the parameters of each.
//!
//! One more is a file in `bpf/tc`, its name in `build.rs`, and an entry here; words stand in the order of the structures of
//! the law's kernel implementation.

use std::ops::Range;
use std::sync::Arc;

use penstock_law::aqm::Aqm;
use penstock_law::{Entry, Registry};
use penstock_scenario::read::{Document, ReadErrors};

use super::parameters::{NotEct, ProgramParameters, Settings};
use super::queues::{BAT, CLCC};
use super::{conditioners, queues};
use crate::attach::error::Error;
use crate::attach::settings::said;

/// A law as a tc program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    /// The law's name; in C, with underscores, the function's too.
    pub(super) name: &'static str,
    kind: &'static Kind,
    /// Numbers of its state over 2^32, as figures: which word, the name with its unit, and the meaning.
    pub(super) state: &'static [(usize, &'static str, &'static str)],
    pub(super) object: &'static [u8],
    parameters: By,
}

/// The code that compiles the parameters of a program.
#[derive(Debug, Clone, Copy)]
enum By {
    /// This crate.
    Us(fn(&Settings) -> Result<ProgramParameters, String>),
    /// The entry that brings the program.
    Entry(&'static Entry<Aqm>),
}

/// The parameters of laws of a kind, as a scenario.
#[derive(Debug)]
struct Kind {
    /// With `LAW` for the law's name.
    scenario: &'static str,
    /// The keys of `--set`: as it has them, and as the scenario has them.
    keys: &'static [(&'static str, &'static str)],
    example: &'static str,
}

const PACKET: (&str, &str) = ("link.packet", "packet");
const RATE: (&str, &str) = ("link.rate", "links.device.rate");
const AQM: (&str, &str) = ("aqm.", "links.device.aqm.");
/// Of the device, and so of no scenario.
const NOT_ECT: (&str, &str) = (NotEct::KEY, NotEct::KEY);

/// One state for everything that passes.
const QUEUE: &Kind = &Kind {
    scenario: r#"
format = 1
duration = "1 s"
packet = "1514 B"
links.device = { from = "here", to = "there", delay = "0 s", buffer = "unlimited", aqm = { law = "LAW" } }
flows.all = { from = "here", to = "there", rtt = "1 ms", cc = { law = "newreno" } }
"#,
    keys: &[RATE, PACKET, AQM, NOT_ECT],
    example: "link.rate=\"100 Mbit/s\"",
};

/// One state for TCP and one for everything else, and a virtual queue, by default of 24 ms of the line.
const CLASSES: &Kind = &Kind {
    scenario: r#"
format = 1
duration = "1 s"
packet = "1514 B"
links.device = { from = "here", to = "there", delay = "0 s", buffer = "1 bdp", aqm = { law = "LAW" } }
classes.tcp = { floor = "0 bit/s" }
classes.other = { floor = "0 bit/s" }
flows.tcp = { from = "here", to = "there", rtt = "24 ms", cc = { law = "newreno" }, class = "tcp" }
flows.other = { from = "here", to = "there", rtt = "24 ms", cc = { law = "cbr", rate = "1 kbit/s" }, class = "other" }
"#,
    keys: &[
        RATE,
        PACKET,
        ("link.buffer", "links.device.buffer"),
        AQM,
        ("classes.tcp.", "classes.tcp."),
        ("classes.other.", "classes.other."),
    ],
    example: "link.rate=\"100 Mbit/s\"",
};

/// A conditioner of everything that passes.
const EDGE: &Kind = &Kind {
    scenario: r#"
format = 1
duration = "1 s"
packet = "1514 B"
links.device = { from = "here", to = "there", rate = "1 Gbit/s", delay = "0 s", buffer = "unlimited" }
flows.all = { from = "here", to = "there", rtt = "1 ms", cc = { law = "newreno" } }
customers.all = { flows = ["all"], conditioner = { law = "LAW" } }
"#,
    keys: &[PACKET, ("conditioner.", "customers.all.conditioner.")],
    example: "conditioner.committed_rate=\"10 Mbit/s\"",
};

macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/tc_", $name, ".bpf.z"))
    };
}

/// Every law with a tc program.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "price",
        kind: QUEUE,
        state: &[(0, "price_s", "the link's price"), (1, "probability", "probability of a mark")],
        object: object!("price"),
        parameters: By::Us(queues::price),
    },
    Program {
        name: "avq",
        kind: QUEUE,
        state: &[
            (0, "virtual_capacity_packets_per_s", "what serves the virtual queue"),
            (1, "virtual_queue_packets", "the virtual queue after the last packet"),
        ],
        object: object!("avq"),
        parameters: By::Us(queues::avq),
    },
    Program {
        name: "bat",
        kind: CLASSES,
        state: &[
            (0, "tcp_transmit", "of TCP, probability of being let in"),
            (1, "tcp_offered_packets_per_s", "what TCP offers"),
            (2, "excess", "average of the excess bandwidth signal"),
            (BAT, "other_transmit", "of everything else, probability of being let in"),
            (BAT + 1, "other_offered_packets_per_s", "what everything else offers"),
        ],
        object: object!("bat"),
        parameters: By::Us(queues::bat),
    },
    Program {
        name: "clcc",
        kind: CLASSES,
        state: &[
            (0, "tcp_transmit", "of TCP, probability of being let in"),
            (1, "tcp_offered_packets_per_s", "what TCP offers"),
            (2, "excess", "average of the excess bandwidth signal"),
            (BAT, "tcp_decrease", "of TCP, the decrease in force"),
            (CLCC, "other_transmit", "of everything else, probability of being let in"),
            (CLCC + 1, "other_offered_packets_per_s", "what everything else offers"),
            (CLCC + BAT, "other_decrease", "of everything else, the decrease in force"),
            (CLCC + BAT + 1, "other_ratio", "what everything else is served over what TCP is, where it has a share"),
        ],
        object: object!("clcc"),
        parameters: By::Us(queues::clcc),
    },
    Program {
        name: "token-bucket",
        kind: EDGE,
        state: &[(0, "tokens_bytes", "tokens after the last packet")],
        object: object!("token_bucket"),
        parameters: By::Us(conditioners::token_bucket),
    },
    Program {
        name: "srtcm",
        kind: EDGE,
        state: &[
            (0, "tokens_bytes", "tokens of the committed bucket after the last packet"),
            (1, "excess_tokens_bytes", "those of the excess bucket"),
        ],
        object: object!("srtcm"),
        parameters: By::Us(conditioners::srtcm),
    },
    Program {
        name: "trtcm",
        kind: EDGE,
        state: &[
            (0, "tokens_bytes", "tokens of the committed bucket after the last packet"),
            (1, "peak_tokens_bytes", "those of the peak bucket"),
        ],
        object: object!("trtcm"),
        parameters: By::Us(conditioners::trtcm),
    },
    Program {
        name: "early-marking",
        kind: EDGE,
        state: &[
            (0, "tokens_bytes", "tokens after the last packet"),
            (2, "level_before_bytes", "tokens that the last packet found"),
        ],
        object: object!("early_marking"),
        parameters: By::Us(conditioners::early_marking),
    },
];

/// A program and its parameters.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub(super) program: Program,
    pub(super) parameters: ProgramParameters,
}

impl Wanted {
    /// The law of that name with `settings` for it and for the line: `aqm.KEY=VALUE`, `link.rate=RATE`, and
    /// `link.packet=SIZE`, the mean packet with the header of the link layer. Of BAT and CLCC also `classes.tcp.KEY` and
    /// `classes.other.KEY`, and `link.buffer`; of a conditioner `conditioner.KEY` instead of law and rate. Of laws that mark
    /// `not_ect=drop` or `not_ect=pass`: the treatment of packets that are chosen and cannot carry a mark.
    ///
    /// # Errors
    /// [`Error::Input`] with the words of the scenario reader.
    pub fn read(name: &str, settings: &[String]) -> Result<Self, Error> {
        Self::of(&Arc::new(Registry::standard()), name, settings)
    }

    /// The same of the laws of a registry: those of Penstock, and AQMs that bring a program.
    ///
    /// # Errors
    /// As [`Wanted::read`]; [`Error::Input`] too where a device lacks a requirement of the law, and [`Error::Missing`] where the
    /// build had no compiler for its program.
    pub fn of(laws: &Arc<Registry>, name: &str, settings: &[String]) -> Result<Self, Error> {
        let program = find(laws, name).ok_or_else(|| Error::Input(unknown(laws, name)))?;
        let settings = program.settings(laws, settings)?;
        let parameters = match program.parameters {
            By::Us(parameters) => parameters(&settings).map_err(Error::Input)?,
            By::Entry(law) => queues::own(law, &settings)?,
        };
        Ok(Self { program, parameters })
    }

    /// An AQM that brings a program, with parameters of a replay.
    pub(super) fn replayed(law: &'static Entry<Aqm>, parameters: ProgramParameters) -> Self {
        Self { program: brought(law), parameters }
    }

    /// `struct settings`.
    pub(super) fn settings(&self, version: u32) -> Result<Vec<u8>, Error> {
        let parameters = self.parameters.parameters.iter().map(|(key, value)| format!("{key} = {value}"));
        let mut text: Vec<String> = parameters.collect();
        if let By::Entry(law) = self.program.parameters {
            text.push(format!("{LAW} = {}", law.name));
            text.extend(self.program.own_state().iter().map(|(name, what)| format!("{STATE}{name} = {what}")));
        }
        let mut text = text.join("\n").into_bytes();
        // One byte of it ends the text.
        if text.len() >= TEXT.len() {
            return Err(Error::Input(format!(
                "the names and values of the parameters take {} B, and an attachment has {} B for them",
                text.len(),
                TEXT.len() - 1
            )));
        }
        text.resize(TEXT.len(), 0);
        let words = self.parameters.words.iter().flat_map(|word| word.to_ne_bytes());
        Ok([0; 4].into_iter().chain(version.to_ne_bytes()).chain(text).chain(words).collect())
    }
}

/// The offsets of the version and the text in `struct settings`.
pub(super) const VERSION: Range<usize> = 4..8;
pub(super) const TEXT: Range<usize> = 8..8 + 1024;
/// The key of the name of a law that an entry brings, and the beginning of that of a number of its state. Keys of parameters have a
/// dot, or are [`NotEct::KEY`].
pub(super) const LAW: &str = "law";
pub(super) const STATE: &str = "state: ";

/// The program of a law, if it has one.
fn find(laws: &Registry, name: &str) -> Option<Program> {
    let own = laws.aqm(name).filter(|law| law.kernel.is_some()).map(brought);
    own.or_else(|| PROGRAMS.iter().find(|program| program.name == name).copied())
}

/// Laws of a registry that can be attached to a device: those of Penstock, then those that bring a program.
pub(super) fn names(laws: &Registry) -> Vec<&'static str> {
    let own = laws.laws::<Aqm>().iter().filter(|law| law.kernel.is_some()).map(|law| law.name);
    PROGRAMS.iter().map(|program| program.name).chain(own).collect()
}

fn brought(law: &'static Entry<Aqm>) -> Program {
    let object = law.kernel.map_or(&[][..], |program| program.object);
    Program { name: law.name, kind: QUEUE, state: &[], object, parameters: By::Entry(law) }
}

impl Program {
    /// The numbers of the state of a law that an entry brings, in the order of their words: the name with its unit, as a figure
    /// has it, and its meaning.
    pub(super) fn own_state(&self) -> Vec<(String, String)> {
        let By::Entry(law) = self.parameters else { return Vec::new() };
        let numbers = law.observables.iter().map(|number| {
            let words = if number.words.is_empty() { number.name } else { number.words };
            if number.unit == "1" {
                return (number.name.to_owned(), words.to_owned());
            }
            let unit = number.unit.replace('/', "_per_").replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "");
            let named = number.name.strip_suffix(&format!("_{unit}")).unwrap_or(number.name);
            (format!("{named}_{unit}"), format!("{words} [{}]", number.unit))
        });
        numbers.collect()
    }

    /// Reads the command line's settings of a device.
    fn settings(&self, laws: &Arc<Registry>, settings: &[String]) -> Result<Settings, Error> {
        let Kind { scenario, keys, example } = *self.kind;
        let input = |errors: &ReadErrors| {
            let said = keys.iter().rev().fold(said(errors), |said, (ours, theirs)| said.replace(theirs, ours));
            Error::Input(said.replace("links.device.aqm", "aqm").replace("links.device", "link"))
        };
        let document = Document::parse(&scenario.replace("LAW", self.name), "the law").map_err(|e| input(&e))?;
        let mut document = document.with_laws(Arc::clone(laws));
        let mut not_ect = None;
        for setting in settings {
            let key = setting.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            let found = key.and_then(|(key, value)| {
                let key = keys.iter().find_map(|(ours, theirs)| {
                    let rest = key.strip_prefix(ours)?;
                    (rest.is_empty() != ours.ends_with('.')).then(|| format!("{theirs}{rest}"))
                });
                Some((key?, value))
            });
            let Some((key, value)) = found else {
                let known: Vec<_> = keys.iter().map(|(ours, _)| ours.trim_end_matches('.')).collect();
                let (name, known) = (self.name, known.join(", "));
                return Err(Error::Input(format!(
                    "--set {setting}: `{name}` at a device has the keys {known}; write it as in --set {example}"
                )));
            };
            if key == NotEct::KEY {
                not_ect = Some(NotEct::read(value).map_err(Error::Input)?);
                continue;
            }
            document.set(&key, value).map_err(|e| input(&e))?;
        }
        let cells = document.cells().map_err(|e| input(&e))?;
        match <[_; 1]>::try_from(cells) {
            Ok([cell]) => Ok(Settings { scenario: cell.scenario, not_ect }),
            Err(_) => Err(Error::Input("a value, not a list of them".to_owned())),
        }
    }
}

fn unknown(laws: &Registry, law: &str) -> String {
    let known: Vec<_> = names(laws).into_iter().map(|name| format!("`{name}`")).collect();
    let known = known.join(", ");
    if laws.is_added(law) {
        return format!("`{law}` has no kernel program; laws that have a tc program: {known}");
    }
    if laws.aqm(law).is_some() || laws.conditioner(law).is_some() {
        return format!(
            "`{law}` has no tc program, since such a program measures arrivals and no queue; laws that have one: {known}"
        );
    }
    format!("no law is named `{law}`; those with a tc program are {known}")
}
