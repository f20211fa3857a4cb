//! Laws of senders, as controllers of this kernel's TCP: `bpf/cc/*.bpf.c`, by struct_ops.
//!
//! A controller is registered under its law's name as long as its link has a pin. Other parameters replace it in one step of
//! the kernel's (`BPF_LINK_UPDATE`), which those connections follow that begin later. A run of a scenario registers its
//! own under a name of its own ([`Loaded`]), which goes with the process.

mod default;
mod figures;
mod origin;
mod own;
mod pinned;
mod stack;
mod steps;
mod trace;
mod words;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use libbpf_rs::{Link, MapCore, MapType, Object, OpenMapMut, OpenObject};
use penstock_law::cc::Controller;
use penstock_law::{Entry, KernelProgram, Registry};
use penstock_machine::Missing;
use penstock_scenario::model::Chosen;

use super::error::Error;
use super::trail::{self, Replayed};
use super::{object, settings};
use crate::requirements;
use crate::syscall;
pub use figures::{Capacity, Cost};
pub(super) use pinned::{attach, detach, status};
pub use trace::{Record, trace};
use words::ProgramParameters;

/// A law that is there for this kernel.
#[derive(Clone, Copy)]
struct Program {
    /// Its name in scenarios.
    law: &'static str,
    object: &'static [u8],
    /// The contents of `.rodata.law` in its object.
    words: By,
}

/// The code that compiles the parameters of a program.
#[derive(Clone, Copy)]
enum By {
    /// This crate.
    Us(fn(&Chosen<Controller>) -> Result<ProgramParameters, Error>),
    /// The entry that brings the program.
    Entry(&'static KernelProgram<Controller>),
}

impl Program {
    fn words(&self, chosen: &Chosen<Controller>) -> Result<ProgramParameters, Error> {
        match self.words {
            By::Us(words) => words(chosen),
            By::Entry(program) => own::words(chosen, program),
        }
    }
}

macro_rules! program {
    ($law:ident) => {
        Program {
            law: stringify!($law),
            object: include_bytes!(concat!(env!("OUT_DIR"), "/cc_", stringify!($law), ".bpf.z")),
            words: By::Us(words::$law),
        }
    };
}

const PROGRAMS: &[Program] = &[program!(fast), program!(leadlag), program!(ccpd), program!(copa), program!(prague)];

/// The oldest kernel that has links of struct_ops, and `cong_control` as it is here.
const OLDEST: (u32, u32) = (6, 10);
/// `TCP_CONG_NEEDS_ECN` of bpf/cc/tcp.h.
const NEEDS_ECN: u32 = 2;
/// The offsets of the name and the flags in `struct tcp_congestion_ops` of bpf/cc/tcp.h, and the size of the name with
/// a zero behind it.
const NAME_AT: usize = 40;
const FLAGS_AT: usize = 56;
const NAME_ROOM: usize = 16;
/// `HEADERS` of bpf/cc/host.h: which meaning sections, maps and calls of a program have.
const HEADERS: u64 = 1;
/// `BPF_F_LINK` of linux/bpf.h: struct_ops that are attached by a link, which alone can be pinned and replaced.
const LINKED: u32 = 1 << 13;
/// Sections of bpf/cc/host.h, and the one of the parameters.
const HABITS: &str = ".rodata.habits";
const ORIGIN: &str = ".rodata.origin";
const OF_LAW: &str = ".rodata.law";
/// The section of bpf/cc/controller.h in a program with LAW_DELIVERY.
const OF_DELIVERIES: &str = ".rodata.delivery";
/// Size of the buffer for records of a trace [B]: seconds of a gigabit.
const TRACE_ROOM: u32 = 1 << 22;

/// The wait for a name that another controller has, and the time between two checks of that [ms].
const LET_GO: u64 = 1000;
const LOOK: u64 = 20;

/// Laws of Penstock that can be attached to sockets.
pub fn names() -> Vec<&'static str> {
    PROGRAMS.iter().map(|program| program.law).collect()
}

/// True if a law can be attached to sockets: it brings a program, or Penstock has one.
pub fn has_program(law: &Entry<Controller>) -> bool {
    program(law).is_ok()
}

/// Has the kernel count how often programs run and how long, while the result lives.
///
/// # Errors
/// An error of the kernel.
pub fn count_run_times() -> io::Result<OwnedFd> {
    syscall::count_run_times()
}

/// Everything that keeps this machine from having controllers; empty if nothing is known to.
pub fn missing() -> Vec<Missing> {
    requirements::missing_from(OLDEST, "the first with controllers like these")
}

/// The missing part without which this process cannot attach controllers; the test loads one and registers it nowhere.
pub(super) fn refused() -> Option<Missing> {
    let program = &PROGRAMS[0];
    let chosen = settings::controller(&Arc::new(Registry::standard()), program.law, &[]).ok()?;
    match load(program, &chosen, Habits { paced: true, traced: false }, program.law, "") {
        Err(Error::Missing(missing)) => Some(missing),
        // The attachment reports everything else.
        _ => None,
    }
}

/// The settings of a controller's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// True if packets are spaced by the law's gap.
    pub paced: bool,
    /// True if it writes a record an acknowledgement.
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
    /// A missing part of the machine, parameters without a kernel implementation, and an error of the kernel.
    pub fn new(chosen: &Chosen<Controller>, habits: Habits, name: &str) -> Result<Self, Error> {
        Self::register(&program(chosen.law)?, chosen, habits, name, "")
    }

    fn register(
        program: &Program,
        chosen: &Chosen<Controller>,
        habits: Habits,
        name: &str,
        origin: &str,
    ) -> Result<Self, Error> {
        let mut object = load(program, chosen, habits, name, origin)?;
        let mut map = object.maps_mut().find(|map| map.map_type() == MapType::StructOps).expect("load has found it");
        let mut attached = map.attach_struct_ops();
        // One that was killed on its way here, or detached on an older kernel, keeps its name for some milliseconds.
        for _ in 0..LET_GO / LOOK {
            match &attached {
                Err(error) if error.kind() == libbpf_rs::ErrorKind::AlreadyExists => {
                    thread::sleep(Duration::from_millis(LOOK));
                }
                _ => break,
            }
            attached = map.attach_struct_ops();
        }
        let link = attached.map_err(|source| match source.kind() {
            libbpf_rs::ErrorKind::AlreadyExists => Error::Input(format!(
                "this kernel has a controller `{name}` already, which `linux detach` does not know: take it away first, or rename \
                 the law"
            )),
            _ => {
                Error::Kernel { what: format!("the kernel did not register `{name}`"), source, verifier: String::new() }
            }
        })?;
        Ok(Self { law: program.law, name: name.to_owned(), link, _object: object })
    }

    /// Its name in the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The law.
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// Its cost since the kernel counts that; none if it does not.
    pub fn cost(&self) -> Option<Cost> {
        figures::Figures::of(&self.link).ok()?.cost
    }

    /// The bottleneck's capacity by its packet pairs; none if it measures none, or has found none.
    pub fn capacity(&self) -> Option<Capacity> {
        figures::Figures::of(&self.link).ok()?.capacity
    }
}

/// Holds a program that an entry brings against the law in Rust: thousands of events under parameters from their whole ranges,
/// inside the running kernel and without a socket. None where the program cannot be replayed: it is not one over
/// bpf/cc/controller.h.
///
/// # Errors
/// A missing part of the machine, an object that does not fit, and an error of the kernel.
pub fn replay(law: &'static Entry<Controller>) -> Result<Option<Replayed>, Error> {
    let program = program(law)?;
    let habits = Habits { paced: false, traced: false };
    trail::follow(law, |chosen, _| {
        let parameters = match program.words(chosen) {
            Err(Error::Input(why)) => return Ok(trail::Program::Refused(why)),
            parameters => parameters?,
        };
        // Nothing is registered, so that the name is any.
        match load_for(Use::Trail, &program, chosen, habits, "replay", "") {
            Ok(object) if object.progs_mut().any(|program| program.name() == trail::PROGRAM) => {
                Ok(trail::Program::Loaded(object))
            }
            Ok(_) => Ok(trail::Program::WithoutTrail),
            Err(Error::Input(why)) if parameters.requirements.is_some_and(|words| words.is_err()) => {
                Ok(trail::Program::Refused(why))
            }
            Err(error) => Err(error),
        }
    })
}

/// A name that no other process has: 15 characters at most, so that a law's name is cut if need be. `number`
/// distinguishes those of this process.
pub fn own_name(law: &str, number: usize) -> String {
    let own = format!("_{}{}", std::process::id(), if number == 0 { String::new() } else { format!("_{number}") });
    format!("{}{own}", &law[..law.len().min((NAME_ROOM - 1).saturating_sub(own.len()))])
}

/// True if both ends must have a law: its receiver echoes marks packet by packet.
///
/// # Errors
/// A law, or parameters, that this kernel cannot have.
pub fn requires_ecn(chosen: &Chosen<Controller>) -> Result<bool, Error> {
    Ok(program(chosen.law)?.words(chosen)?.requires_ecn)
}

fn program(law: &Entry<Controller>) -> Result<Program, Error> {
    if let Some(own) = law.kernel {
        return Ok(Program { law: law.name, object: own.object, words: By::Entry(own) });
    }
    let found = PROGRAMS.iter().find(|program| program.law == law.name).copied();
    found.ok_or_else(|| Error::Input(format!("the law `{}` has no program for this kernel", law.name)))
}

/// Loads a program, not yet registered.
fn load(
    program: &Program,
    chosen: &Chosen<Controller>,
    habits: Habits,
    name: &str,
    origin: &str,
) -> Result<Object, Error> {
    load_for(Use::Sockets, program, chosen, habits, name, origin)
}

/// The purpose of loading a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Sockets,
    /// The trail of [`replay`].
    Trail,
}

fn load_for(
    what_for: Use,
    program: &Program,
    chosen: &Chosen<Controller>,
    habits: Habits,
    name: &str,
    origin: &str,
) -> Result<Object, Error> {
    let parameters = program.words(chosen)?;
    if let Some(missing) = missing().into_iter().next() {
        return Err(missing.into());
    }
    object::load(name, program.object, |open| {
        for mut program in open.progs_mut().filter(|program| program.section() == "syscall") {
            program.set_autoload(what_for == Use::Trail);
        }
        for mut map in open.maps_mut().filter(|map| map.name() == trail::MAP && what_for == Use::Trail) {
            map.set_max_entries(trail::STEPS as u32)
                .map_err(|_| object::unfit(program.law, "its map `trail` is not an array"))?;
        }
        write(open, program.law, &parameters, habits, origin)?;
        let mut map = struct_ops(open, program.law)?;
        if map.map_flags() & LINKED == 0 {
            return Err(object::unfit(
                program.law,
                "its struct_ops are in `.struct_ops`: write SEC(\".struct_ops.link\")",
            ));
        }
        if rename(&mut map, program.law, name, parameters.requires_ecn) {
            return Ok(());
        }
        let why =
            format!("its struct_ops are not `struct tcp_congestion_ops` of cc/tcp.h with the name \"{}\"", program.law);
        Err(object::unfit(program.law, &why))
    })
}

/// Writes the parameters of a program before it is loaded.
fn write(
    open: &mut OpenObject,
    law: &str,
    parameters: &ProgramParameters,
    habits: Habits,
    origin: &str,
) -> Result<(), Error> {
    let bytes = |words: &[i64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    let section = |name| format!("it has no section {name}, as cc/host.h has");
    let mut of_habits = find(open, HABITS).ok_or_else(|| object::unfit(law, &section(HABITS)))?;
    let compiled = of_habits.initial_value_mut().and_then(|value| value.get(16..24)?.try_into().ok());
    let headers = compiled.map_or(0, u64::from_ne_bytes);
    if headers != HEADERS {
        return Err(object::of_other_headers(law, headers, HEADERS));
    }
    fill(&mut of_habits, &bytes(&[i64::from(habits.paced), i64::from(habits.traced), HEADERS as i64]), false);
    let mut of_origin = find(open, ORIGIN).ok_or_else(|| object::unfit(law, &section(ORIGIN)))?;
    let room = of_origin.initial_value_mut().map_or(0, |value| value.len());
    if !fill(&mut of_origin, origin.as_bytes(), true) {
        let size = origin.len();
        return Err(Error::Input(format!(
            "the law `{law}` has too many parameters: their names and values take {size} B, and an attachment has {room} B for them"
        )));
    }
    // Of a law without parameters there is no section.
    let size = 8 * parameters.words.len();
    let of_law = find(open, OF_LAW);
    if of_law.is_none() && size > 0 {
        return Err(object::unfit(law, &section(OF_LAW)));
    }
    if let Some(mut map) = of_law
        && !fill(&mut map, &bytes(&parameters.words), false)
    {
        let room = map.initial_value_mut().map_or(0, |value| value.len());
        return Err(object::unfit(
            law,
            &format!("its section {OF_LAW} has {room} B, and the parameters of the law take {size} B"),
        ));
    }
    let hears_deliveries = find(open, OF_DELIVERIES).is_some();
    for mut map in open.maps_mut() {
        match (map.name().to_str().unwrap_or_default(), &parameters.requirements) {
            (".rodata.requirements", Some(words)) => {
                let words = words
                    .as_ref()
                    .map_err(|why| Error::Input(format!("the law `{law}` cannot run with these parameters: {why}")))?;
                if hears_deliveries != parameters.delivery {
                    return Err(object::unfit(
                        law,
                        if hears_deliveries {
                            "it defines LAW_DELIVERY, and the law requires no deliveries"
                        } else {
                            "it does not define LAW_DELIVERY, and the law requires deliveries"
                        },
                    ));
                }
                if !fill(&mut map, &bytes(words), false) {
                    return Err(object::unfit(
                        law,
                        "its .rodata.requirements is that of another version of cc/controller.h",
                    ));
                }
            }
            ("records", _) if habits.traced => {
                let enough = map.set_max_entries(TRACE_ROOM);
                enough.map_err(|_| object::unfit(law, "its map `records` is not that of cc/host.h"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn find<'a>(open: &'a mut OpenObject, name: &str) -> Option<OpenMapMut<'a>> {
    open.maps_mut().find(|map| map.name() == name)
}

/// The one map of struct_ops that a controller is.
fn struct_ops<'a>(open: &'a mut OpenObject, law: &str) -> Result<OpenMapMut<'a>, Error> {
    let mut found = open.maps_mut().filter(|map| map.map_type() == MapType::StructOps);
    match (found.next(), found.next()) {
        (Some(map), None) => Ok(map),
        (first, _) => {
            let what = if first.is_none() { "no struct_ops" } else { "several struct_ops" };
            Err(object::unfit(law, &format!("it has {what}, and a controller has exactly one")))
        }
    }
}

/// Writes a section; false if it has another size, or is too small.
fn fill(map: &mut OpenMapMut<'_>, bytes: &[u8], shorter: bool) -> bool {
    let Some(value) = map.initial_value_mut() else { return false };
    if value.len() < bytes.len() || (value.len() > bytes.len() && !shorter) {
        return false;
    }
    value[..bytes.len()].copy_from_slice(bytes);
    true
}

/// Gives struct_ops that are called like their law another name; whether they were, and it fits.
fn rename(map: &mut OpenMapMut<'_>, law: &str, name: &str, requires_ecn: bool) -> bool {
    let Some(value) = map.initial_value_mut() else { return false };
    if value.len() < FLAGS_AT + 4 || name.len() >= NAME_ROOM {
        return false;
    }
    let room = &mut value[NAME_AT..NAME_AT + NAME_ROOM];
    let is_law = room.split(|byte| *byte == 0).next() == law.as_bytes().get(..law.len().min(NAME_ROOM - 1));
    room.fill(0);
    room[..name.len()].copy_from_slice(name.as_bytes());
    if requires_ecn {
        value[FLAGS_AT] |= NEEDS_ECN as u8;
    }
    is_law
}

/// Has a link of struct_ops register another map, loaded and not yet registered, instead of its own, in one step of the
/// kernel's.
///
/// # Errors
/// A map of another name, or one that is not made for links.
pub fn replace(link: &Link, map: &libbpf_rs::Map<'_>) -> io::Result<()> {
    syscall::replace_struct_ops(link, map)
}
