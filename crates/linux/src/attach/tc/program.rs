//! The laws that have a tc program, and what each is told.
//!
//! One more is a file in `bpf/tc`, its name in `build.rs`, and an entry here; words stand in the order of the structures of
//! the law's twin.

use std::ops::Range;

use penstock_law::aqm::avq::Avq;
use penstock_law::aqm::price::Price;
use penstock_law::aqm::{self, AQMS};
use penstock_law::edge::EDGES;
use penstock_law::law::find;
use penstock_law::parameter::Unit;
use penstock_law::{Fix, Law, Number};
use penstock_scenario::model::Scenario;
use penstock_scenario::quantity::print_real;
use penstock_scenario::read::Document;

use crate::attach::{Error, settings};

/// A law as a tc program.
#[derive(Debug)]
pub(super) struct Program {
    /// The law's name; in C, with underscores, the function's too.
    pub(super) name: &'static str,
    /// The numbers over 2^32 that its state begins with, as figures: names with units, and what they are.
    pub(super) state: &'static [(&'static str, &'static str)],
    pub(super) object: &'static [u8],
    told: fn(&Scenario) -> Result<Told, String>,
}

/// What a program is told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// What stands behind the text in its `struct settings`: the place, and the law's parameters.
    pub(super) words: Vec<i64>,
    /// The words that its state begins with before the first packet; the rest is zero.
    pub(super) start: Vec<i64>,
    /// Names and values as a scenario writes them.
    pub(super) parameters: Vec<(String, String)>,
}

/// Every law with a tc program.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "price",
        state: &[("price_s", "the link's price"), ("probability", "probability of a mark")],
        object: include_bytes!(concat!(env!("OUT_DIR"), "/tc_price.bpf.o")),
        told: price,
    },
    Program {
        name: "avq",
        state: &[
            ("virtual_capacity_packets_per_s", "what serves the virtual queue"),
            ("virtual_queue_packets", "the virtual queue after the last packet"),
        ],
        object: include_bytes!(concat!(env!("OUT_DIR"), "/tc_avq.bpf.o")),
        told: avq,
    },
];

/// A program and what it is told.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub(super) program: &'static Program,
    pub(super) told: Told,
}

/// Where a scenario has what `--set` names, and how it is named there.
const KEYS: &[(&str, &str)] = &[("links.device.aqm.", "aqm."), ("links.device.", "link."), ("packet", "link.packet")];

impl Wanted {
    /// The law of that name with what `settings` say of it and of the line: `aqm.KEY=VALUE`, `link.rate=RATE`, and
    /// `link.packet=SIZE`, the mean packet with the header of the link layer.
    ///
    /// # Errors
    /// [`Error::Input`] with the words of the scenario reader.
    pub fn read(name: &str, settings: &[String]) -> Result<Self, Error> {
        let program = PROGRAMS.iter().find(|p| p.name == name).ok_or_else(|| Error::Input(unknown(name)))?;
        let text = format!(
            "format = 1\nduration = \"1 s\"\npacket = \"1514 B\"\n\
             links.device = {{ from = \"here\", to = \"there\", delay = \"0 s\", buffer = \"unlimited\", aqm = {{ law = \"{name}\" }} }}\n\
             flows.traffic = {{ from = \"here\", to = \"there\", rtt = \"1 ms\", cc = {{ law = \"newreno\" }} }}\n"
        );
        let scenario = scenario(&text, settings)?;
        let told = (program.told)(&scenario).map_err(Error::Input)?;
        Ok(Self { program, told })
    }

    /// `struct settings`.
    pub(super) fn settings(&self, version: u32) -> Result<Vec<u8>, Error> {
        let text: Vec<String> = self.told.parameters.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let mut text = text.join("\n").into_bytes();
        // One byte of it ends the text.
        if text.len() >= TEXT.len() {
            return Err(Error::Input(format!("parameters of {} B, where {} B have room", text.len(), TEXT.len() - 1)));
        }
        text.resize(TEXT.len(), 0);
        let words = self.told.words.iter().flat_map(|word| word.to_ne_bytes());
        Ok([0; 4].into_iter().chain(version.to_ne_bytes()).chain(text).chain(words).collect())
    }
}

/// Where `struct settings` has its version and its text.
pub(super) const VERSION: Range<usize> = 4..8;
pub(super) const TEXT: Range<usize> = 8..8 + 1024;

fn scenario(text: &str, settings: &[String]) -> Result<Scenario, Error> {
    let input = |error: &dyn ToString| {
        let said = KEYS.iter().fold(error.to_string(), |said, (theirs, ours)| said.replace(theirs, ours));
        Error::Input(said)
    };
    let mut document = Document::parse(text, "the law").map_err(|e| input(&e))?;
    for setting in settings {
        let wrong = || {
            let what = format!("--set {setting}: write it as in --set aqm.KEY=VALUE or --set link.rate=\"100 Mbit/s\"");
            Error::Input(what)
        };
        let (key, value) = setting.split_once('=').ok_or_else(wrong)?;
        let key = key.trim();
        let theirs = KEYS.iter().rev().find_map(|(theirs, ours)| Some(format!("{theirs}{}", key.strip_prefix(ours)?)));
        document.set(&theirs.ok_or_else(wrong)?, value.trim()).map_err(|e| input(&e))?;
    }
    let cells = document.cells().map_err(|e| input(&e))?;
    match <[_; 1]>::try_from(cells) {
        Ok([cell]) => Ok(cell.scenario),
        Err(_) => Err(Error::Input("a value, not a list of them".to_owned())),
    }
}

fn unknown(law: &str) -> String {
    let known: Vec<_> = PROGRAMS.iter().map(|program| format!("`{}`", program.name)).collect();
    let known = known.join(", ");
    if find(AQMS, law).is_some() || find(EDGES, law).is_some() {
        return format!("`{law}` has no tc program, which sees arrivals and no queue; those that have one are {known}");
    }
    format!("no law is named `{law}`; those with a tc program are {known}")
}

/// `struct line` of `bpf/tc/line.h`, and the law's parameters behind it.
fn line(site: &aqm::Site, period_s: f64, marks: bool, law: &[i64]) -> Vec<i64> {
    let mut bytes = Vec::new();
    bytes.extend((site.packet.0 as u32).to_ne_bytes());
    bytes.extend(u32::from(marks).to_ne_bytes());
    let packet_and_marks = i64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    let capacity = Fix::<32>::of(site.packets_per_s()).0;
    [&[capacity, (period_s * 1e9).round() as i64, packet_and_marks], law].concat()
}

fn queue(scenario: &Scenario, words: Vec<i64>, start: Vec<i64>) -> Told {
    let link = &scenario.links["device"];
    let mut parameters = vec![
        ("link.rate".to_owned(), print_real(link.rate.0 as f64, Unit::BitPerSecond)),
        ("link.packet".to_owned(), format!("{} B", scenario.packet.wire.0)),
    ];
    parameters.extend(settings::shown(&link.aqm).into_iter().map(|(key, value)| (format!("aqm.{key}"), value)));
    Told { words, start, parameters }
}

fn price(scenario: &Scenario) -> Result<Told, String> {
    let (values, site) = (&scenario.links["device"].aqm.values, scenario.site("device"));
    let law: Price<Fix<32>> = Law::compile(values, &site)?;
    let words = line(&site, values.number("period"), true, &[law.target.0, law.period.0, law.ln_phi.0]);
    Ok(queue(scenario, words, Vec::new()))
}

fn avq(scenario: &Scenario) -> Result<Told, String> {
    let (values, site) = (&scenario.links["device"].aqm.values, scenario.site("device"));
    let law: Avq<Fix<32>> = Law::compile(values, &site)?;
    if !law.bytes {
        return Err("`aqm.bytes = false` counts packets, and at a device many travel as one: leave it out".to_owned());
    }
    let words = [law.gamma.0, law.alpha.0, law.buffer.0, law.mean_packet.0, i64::from(law.bytes)];
    let start = law.start();
    let words = line(&site, 0.0, values.switch("ecn"), &words);
    Ok(queue(scenario, words, vec![start.virtual_capacity.0, start.virtual_queue.0]))
}
