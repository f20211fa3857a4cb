//! Laws of senders, as controllers of this kernel's TCP: `bpf/cc/*.bpf.c`, by struct_ops.
//!
//! A controller is registered under its law's name as long as its link has a pin. Other parameters replace it in one step of
//! the kernel's (`BPF_LINK_UPDATE`), which those connections follow that begin later. A run of a scenario registers its
//! own under a name of its own ([`Loaded`]), which goes with the process.

mod default;
mod figures;
mod trace;
mod words;

use std::fmt::Write as _;
use std::io;

use libbpf_rs::{Link, MapCore, MapHandle, Object};
use penstock_law::cc::Sender;
use penstock_scenario::model::Chosen;

use super::pins::Pins;
use super::{Attached, Error, Scope, object, settings, while_trying};
use crate::machine::{self, Missing};
use crate::syscall;
pub use figures::{Capacity, Cost};
pub use trace::{Record, trace};
use words::Words;

/// A law that is there for this kernel.
struct Program {
    /// Its name in scenarios, and that of its struct_ops map.
    law: &'static str,
    object: &'static [u8],
    /// What its object has in `.rodata.law`.
    words: fn(&Chosen<Sender>) -> Result<Words, Error>,
}

macro_rules! program {
    ($law:ident) => {
        Program {
            law: stringify!($law),
            object: include_bytes!(concat!(env!("OUT_DIR"), "/cc_", stringify!($law), ".bpf.o")),
            words: words::$law,
        }
    };
}

const PROGRAMS: &[Program] = &[program!(fast), program!(leadlag), program!(ccpd)];

/// The oldest kernel that has links of struct_ops, and `cong_control` as it is here.
const OLDEST: (u32, u32) = (6, 10);
/// What pins of controllers begin with.
const PREFIX: &str = "cc-";
/// `TCP_CONG_NEEDS_ECN` of bpf/cc/tcp.h.
const NEEDS_ECN: u32 = 2;
/// Where the name and the flags stand in `struct tcp_congestion_ops` of bpf/cc/tcp.h, and the room for the name with a
/// zero behind it.
const NAME_AT: usize = 40;
const FLAGS_AT: usize = 56;
const NAME_ROOM: usize = 16;
/// Room for records of a trace [B]: seconds of a gigabit.
const TRACE_ROOM: u32 = 1 << 22;

/// Laws that can be attached to sockets.
pub fn names() -> Vec<&'static str> {
    PROGRAMS.iter().map(|program| program.law).collect()
}

/// Everything that keeps this machine from having controllers; empty if nothing is known to.
pub fn missing() -> Vec<Missing> {
    machine::missing_from(OLDEST, "the first with controllers like these")
}

/// How a controller is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Whether packets are spaced by the law's gap.
    pub paced: bool,
    /// Whether it writes a record an acknowledgement.
    pub traced: bool,
}

/// A controller that is registered as long as this lives.
#[derive(Debug)]
pub struct Loaded {
    law: &'static str,
    name: String,
    link: Link,
    /// Its maps stay readable while it is held.
    _object: Object,
}

impl Loaded {
    /// Registers a law for this process alone, under a name such as [`own_name`] gives.
    ///
    /// # Errors
    /// What the machine lacks, what of the parameters has no twin, and what the kernel says.
    pub fn new(chosen: &Chosen<Sender>, habits: Habits, name: &str) -> Result<Self, Error> {
        Self::register(program(chosen.law.name)?, chosen, habits, name, "")
    }

    fn register(
        program: &Program,
        chosen: &Chosen<Sender>,
        habits: Habits,
        name: &str,
        origin: &str,
    ) -> Result<Self, Error> {
        let mut object = load(program, chosen, habits, name, origin)?;
        let mut map = object.maps_mut().find(|map| map.name() == program.law).expect("load has found it");
        let link = map.attach_struct_ops().map_err(|source| match source.kind() {
            libbpf_rs::ErrorKind::AlreadyExists => Error::Input(format!(
                "this kernel has a controller `{name}` already, which `penstock linux detach` does not know: take it away first"
            )),
            _ => Error::Kernel { what: format!("the kernel did not register `{name}`"), source, verifier: String::new() },
        })?;
        Ok(Self { law: program.law, name: name.to_owned(), link, _object: object })
    }

    /// What the kernel calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The law.
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// What it has cost since the kernel counts that; none where it does not.
    pub fn cost(&self) -> Option<Cost> {
        figures::Figures::of(&self.link).ok()?.cost
    }

    /// What its packet pairs say of the bottleneck; none where it looks for none, or has found none.
    pub fn capacity(&self) -> Option<Capacity> {
        figures::Figures::of(&self.link).ok()?.capacity
    }
}

/// A name that no other process has: 15 characters at most, so that a law's name is cut if need be. `number` tells those
/// of this process apart.
pub fn own_name(law: &str, number: usize) -> String {
    let own = format!("_{}{}", std::process::id(), if number == 0 { String::new() } else { format!("_{number}") });
    format!("{}{own}", &law[..law.len().min((NAME_ROOM - 1).saturating_sub(own.len()))])
}

/// Whether both ends must have a law: its receiver echoes marks packet by packet.
///
/// # Errors
/// A law, or parameters, that this kernel cannot have.
pub fn needs_ecn(chosen: &Chosen<Sender>) -> Result<bool, Error> {
    Ok((program(chosen.law.name)?.words)(chosen)?.needs_ecn)
}

fn program(law: &str) -> Result<&'static Program, Error> {
    let found = PROGRAMS.iter().find(|program| program.law == law);
    found.ok_or_else(|| Error::Input(format!("the law `{law}` has no program for this kernel")))
}

/// Loads a program, not yet registered.
fn load(program: &Program, chosen: &Chosen<Sender>, habits: Habits, name: &str, origin: &str) -> Result<Object, Error> {
    let words = (program.words)(chosen)?;
    if let Some(missing) = missing().into_iter().next() {
        return Err(missing.into());
    }
    let habit = [i64::from(habits.paced), i64::from(habits.traced)].map(i64::to_ne_bytes).concat();
    let law: Vec<u8> = words.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    object::load(name, program.object, |open| {
        let mut found = 0;
        for mut map in open.maps_mut() {
            let value = match map.name().to_str().unwrap_or_default() {
                ".rodata.law" => fill(&mut map, &law, false),
                ".rodata.habits" => fill(&mut map, &habit, false),
                ".rodata.origin" => fill(&mut map, origin.as_bytes(), true),
                "records" if habits.traced => map.set_max_entries(TRACE_ROOM).is_ok(),
                own if own == program.law => rename(&mut map, name, words.needs_ecn),
                _ => continue,
            };
            assert!(value, "{} is not what bpf/cc/{}.bpf.c has", map.name().display(), program.law);
            found += 1;
        }
        assert!(found >= 4, "bpf/cc/{}.bpf.c lacks a part of what it is told", program.law);
        Ok(())
    })
}

/// Writes a section; whether it has that size, or room for it.
fn fill(map: &mut libbpf_rs::OpenMapMut<'_>, bytes: &[u8], shorter: bool) -> bool {
    let Some(value) = map.initial_value_mut() else { return false };
    if value.len() < bytes.len() || (value.len() > bytes.len() && !shorter) {
        return false;
    }
    value[..bytes.len()].copy_from_slice(bytes);
    true
}

fn rename(map: &mut libbpf_rs::OpenMapMut<'_>, name: &str, needs_ecn: bool) -> bool {
    let Some(value) = map.initial_value_mut() else { return false };
    if value.len() < FLAGS_AT + 4 || name.len() >= NAME_ROOM {
        return false;
    }
    value[NAME_AT..NAME_AT + NAME_ROOM].fill(0);
    value[NAME_AT..NAME_AT + name.len()].copy_from_slice(name.as_bytes());
    if needs_ecn {
        value[FLAGS_AT] |= NEEDS_ECN as u8;
    }
    true
}

/// What is known of an attachment besides what the kernel knows: text in its `.rodata.origin`, a line each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Origin {
    parameters: Vec<(String, String)>,
    default: Option<default::Was>,
    traced: bool,
}

impl Origin {
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.parameters {
            let _ = writeln!(text, "set {name} {value}");
        }
        if let Some(was) = &self.default {
            let _ = writeln!(text, "default {} {} {}", was.word(), was.namespace, was.controller);
        }
        if self.traced {
            text.push_str("traced\n");
        }
        text
    }

    fn read(text: &str) -> Self {
        let mut origin = Self::default();
        for line in text.lines() {
            let mut words = line.splitn(4, ' ');
            match (words.next(), words.next(), words.next(), words.next()) {
                (Some("set"), Some(name), Some(value), rest) => {
                    let value = rest.map_or_else(|| value.to_owned(), |rest| format!("{value} {rest}"));
                    origin.parameters.push((name.to_owned(), value));
                }
                (Some("default"), Some(scope), Some(namespace), Some(controller)) => {
                    origin.default = default::Was::read(scope, namespace, controller);
                }
                (Some("traced"), ..) => origin.traced = true,
                _ => {}
            }
        }
        origin
    }

    /// Of the programs behind a link.
    fn of(link: &Link) -> Result<Self, Error> {
        let figures = figures::Figures::of(link)?;
        Ok(Self::read(&figures.origin))
    }
}

/// Attaches one of [`names`].
pub(super) fn attach(
    pins: &Pins,
    name: &str,
    scope: Option<Scope>,
    traced: bool,
    set: &[String],
) -> Result<Attached, Error> {
    let program = program(name)?;
    let chosen = settings::controller(name, set)?;
    (program.words)(&chosen)?;
    pins.prepare()?;
    let _alone = pins.lock()?;
    let pin = format!("{PREFIX}{name}");
    let there = pins.names()?.contains(&pin);
    let before = if there { Some(open(pins, &pin)?) } else { None };
    // A default that is ours already has somebody else's before it.
    let mut was = before.as_ref().map(Origin::of).transpose()?.and_then(|origin| origin.default);
    if let Some(scope) = scope {
        let now = default::Was::now(scope)?;
        if was.as_ref().is_some_and(|was| was.namespace != now.namespace) {
            let what = format!("`{name}` is the default of another namespace already: detach it first");
            return Err(Error::Input(what));
        }
        was = was.or(Some(now));
    }
    let origin = Origin { parameters: settings::shown(&chosen), default: was, traced };
    let habits = Habits { paced: true, traced };
    if let Some(link) = &before {
        let object = load(program, &chosen, habits, name, &origin.text())?;
        let map = object.maps().find(|map| map.name() == program.law).expect("load has found it");
        replace(link, &map).map_err(while_trying(format!("replace `{name}`")))?;
    } else {
        let mut loaded = Loaded::register(program, &chosen, habits, name, &origin.text())?;
        let path = pins.path(&pin);
        let pinned = loaded.link.pin(&path);
        pinned.map_err(|source| Error::Kernel {
            what: format!("the kernel did not make the pin {}", path.display()),
            source,
            verifier: String::new(),
        })?;
    }
    if let Some(was) = &origin.default {
        // Also where it is the default already: that is the controller of before, which the kernel goes on using.
        if let Err(error) = was.make(name) {
            if before.is_none() {
                let _ = pins.remove(&pin);
                pins.tidy();
            }
            return Err(error);
        }
    }
    told(pins, &pin)
}

/// Has a link of struct_ops register another map, loaded and not yet registered, in the place of its own, in one step of the
/// kernel's.
///
/// # Errors
/// A map of another name, or one that is not made for links.
pub fn replace(link: &Link, map: &libbpf_rs::Map<'_>) -> io::Result<()> {
    syscall::replace_struct_ops(link, map)
}

fn open(pins: &Pins, pin: &str) -> Result<Link, Error> {
    let path = pins.path(pin);
    let opened = Link::open(&path);
    opened.map_err(|source| Error::Kernel {
        what: format!("cannot open {}", path.display()),
        source,
        verifier: String::new(),
    })
}

fn told(pins: &Pins, pin: &str) -> Result<Attached, Error> {
    let link = open(pins, pin)?;
    let figures = figures::Figures::of(&link)?;
    let origin = Origin::read(&figures.origin);
    let name = pin.strip_prefix(PREFIX).unwrap_or(pin).to_owned();
    let mut place = format!("sockets, as `{name}`");
    let mut notes = Vec::new();
    if let Some(was) = &origin.default {
        match was.controller_now() {
            Some(now) if now == name => {
                let _ = write!(place, "; the default of {} (before: {})", was.place(), was.controller);
            }
            Some(now) => notes.push(format!("it was made the default of {}, which now is {now}", was.place())),
            None => notes.push(format!("it was made the default of {}, which is gone", was.place())),
        }
    }
    if origin.traced {
        notes.push("it writes a record an acknowledgement".to_owned());
    }
    if figures.cost.is_none() {
        notes.push("what it costs is counted while `sysctl kernel.bpf_stats_enabled` is 1".to_owned());
    }
    Ok(Attached {
        name,
        kind: "controller",
        place,
        pin: pins.path(pin).display().to_string(),
        parameters: origin.parameters,
        figures: figures.listed(),
        notes,
    })
}

/// Controllers that are attached.
pub(super) fn status(pins: &Pins) -> Result<Vec<Attached>, Error> {
    let names = pins.names()?;
    names.iter().filter(|pin| pin.starts_with(PREFIX)).map(|pin| told(pins, pin)).collect()
}

/// Detaches one controller or all; the pins that are gone. The caller holds [`Pins::lock`].
pub(super) fn detach(pins: &Pins, name: Option<&str>) -> Result<Vec<String>, Error> {
    let mut gone = Vec::new();
    for pin in pins.names()? {
        let Some(controller) = pin.strip_prefix(PREFIX) else { continue };
        if name.is_some_and(|name| name != controller) {
            continue;
        }
        // First what still names it, then itself: killed between, it is attached and nobody's default.
        if let Some(was) = Origin::of(&open(pins, &pin)?)?.default {
            was.restore(controller)?;
        }
        pins.remove(&pin)?;
        gone.push(pin);
    }
    Ok(gone)
}

/// The map with that name among those of an attachment.
fn map_of(ids: &[u32], name: &str) -> Option<MapHandle> {
    ids.iter().filter_map(|id| MapHandle::from_map_id(*id).ok()).find(|map| map.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_an_attachment_comes_back() {
        let origin = Origin {
            parameters: vec![("alpha".into(), "50 packets".into()), ("gamma".into(), "0.5".into())],
            default: default::Was::read("namespace", "4026531840", "bbr"),
            traced: true,
        };
        assert_eq!(Origin::read(&origin.text()), origin);
        assert!(origin.default.is_some());
        assert_eq!(Origin::read(""), Origin::default());
    }
}
