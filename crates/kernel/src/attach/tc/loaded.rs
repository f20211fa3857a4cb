//! Programs that the kernel has taken, and their maps.

use libbpf_rs::{MapCore, MapFlags, MapHandle, Object, OpenObject, ProgramAttachType, ProgramMut};
use penstock_machine::Missing;

use super::books::Books;
use super::own;
use super::program::{LAW, STATE, TEXT, VERSION, Wanted};
use crate::attach::attachment::Direction;
use crate::attach::error::Error;
use crate::attach::{object, trail};
use crate::requirements;

/// The oldest kernel whose devices take links of programs.
const OLDEST: (u32, u32) = (6, 6);

/// Everything that keeps this machine from attaching programs to devices, or trying them; empty if nothing is known to.
pub fn missing() -> Vec<Missing> {
    requirements::missing_from(OLDEST, "the first with links at devices (tcx)")
}

/// The constants of a program, set before the verifier checks it: `place` of `bpf/tc/host.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Bytes of a packet before its IP header.
    pub(super) link_header: u32,
    /// True if clock and random draw come with each packet.
    pub(super) supplied: bool,
    /// The direction of its packets.
    pub(super) direction: Direction,
}

/// The purpose of loading a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Packets,
    /// The trail of a replay.
    Trail,
}

/// The only key of every map.
const ONLY: &[u8] = &0_u32.to_ne_bytes();

/// Loads a program and gives it its parameters.
pub(super) fn load(wanted: &Wanted, place: Place) -> Result<Object, Error> {
    load_from(wanted.program.object, wanted, place, Use::Packets)
}

/// The same of an object compiled otherwise.
pub(super) fn load_from(object: &[u8], wanted: &Wanted, place: Place, what_for: Use) -> Result<Object, Error> {
    let loaded = object::load(wanted.program.name, object, |open| {
        if let Some(fit) = &wanted.parameters.fit {
            own::fits(open, wanted.program.name, fit)?;
        }
        prepare(open, place, what_for)
    })?;
    tell(&map(&loaded, "settings")?, wanted)?;
    begin(&map(&loaded, "state")?, wanted)?;
    Ok(loaded)
}

fn prepare(open: &mut OpenObject, place: Place, what_for: Use) -> Result<(), Error> {
    let map = open.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".place"));
    let mut map = map.ok_or_else(|| lacks("a map `.rodata.place`"))?;
    let value = [place.link_header.to_ne_bytes(), u32::from(place.supplied).to_ne_bytes()].concat();
    map.set_initial_value(&value).map_err(|e| failed("take the constants of the program, `.rodata.place`", e))?;
    // Without a trail neither its map nor its program is of use.
    if let Some(mut trail) = open.maps_mut().find(|map| map.name() == trail::MAP) {
        let set = if what_for == Use::Trail {
            trail.set_max_entries(trail::STEPS as u32)
        } else {
            trail.set_autocreate(false)
        };
        set.map_err(|e| failed("take the map `trail`", e))?;
    }
    for mut program in open.progs_mut() {
        if program.section() == SYSCALL {
            program.set_autoload(what_for == Use::Trail);
            continue;
        }
        program.set_attach_type(match place.direction {
            Direction::Egress => ProgramAttachType::TcxEgress,
            Direction::Ingress => ProgramAttachType::TcxIngress,
        });
    }
    Ok(())
}

/// The section of the program of a trail.
const SYSCALL: &str = "syscall";

/// The program of an object for packets.
pub(super) fn program(object: &Object) -> Result<ProgramMut<'_>, Error> {
    // The functions of fx.h are no programs of their own.
    object.progs_mut().find(|program| program.section() != SYSCALL).ok_or_else(|| lacks("a program"))
}

/// A map of an object.
pub(super) fn map(object: &Object, name: &str) -> Result<MapHandle, Error> {
    let map = object.maps().find(|map| map.name() == name).ok_or_else(|| lacks(&format!("a map `{name}`")))?;
    MapHandle::try_from(&map).map_err(|e| failed(&format!("give the map `{name}`"), e))
}

/// Writes parameters, all at once.
pub(super) fn tell(settings: &MapHandle, wanted: &Wanted) -> Result<(), Error> {
    let before = value(settings, MapFlags::LOCK)?;
    let version = before.get(VERSION).map_or(0, |bytes| u32::from_ne_bytes(bytes.try_into().unwrap_or_default()));
    // What was never written has version zero.
    let bytes = wanted.settings(version.wrapping_add(1).max(1))?;
    if bytes.len() != settings.value_size() as usize {
        return Err(lacks("these parameters"));
    }
    settings.update(ONLY, &bytes, MapFlags::LOCK).map_err(|e| failed("take the parameters", e))
}

/// Writes the state before the first packet.
fn begin(state: &MapHandle, wanted: &Wanted) -> Result<(), Error> {
    let mut bytes: Vec<u8> = wanted.parameters.start.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.resize(state.value_size() as usize, 0);
    state.update(ONLY, &bytes, MapFlags::ANY).map_err(|e| failed("take the state", e))
}

/// The text of `struct settings` as it was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The name of a law that an entry brought.
    pub(super) law: Option<String>,
    /// Names and values of the parameters.
    pub(super) parameters: Vec<(String, String)>,
    /// The numbers of the state of a law that an entry brought, in the order of their words: name with unit, and meaning.
    pub(super) state: Vec<(String, String)>,
}

impl Written {
    pub(super) fn read(settings: &MapHandle) -> Result<Self, Error> {
        let bytes = value(settings, MapFlags::LOCK)?;
        let text = bytes.get(TEXT).unwrap_or_default();
        let text = String::from_utf8_lossy(text.split(|byte| *byte == 0).next().unwrap_or_default());
        let mut written = Self::default();
        for (key, what) in text.lines().filter_map(|line| line.split_once(" = ")) {
            match key.strip_prefix(STATE) {
                Some(name) => written.state.push((name.to_owned(), what.to_owned())),
                None if key == LAW => written.law = Some(what.to_owned()),
                None => written.parameters.push((key.to_owned(), what.to_owned())),
            }
        }
        Ok(written)
    }
}

/// The words of a state.
pub(super) fn state(map: &MapHandle) -> Result<Vec<i64>, Error> {
    let bytes = value(map, MapFlags::ANY)?;
    Ok(bytes.chunks_exact(8).map(|bytes| i64::from_ne_bytes(bytes.try_into().unwrap_or_default())).collect())
}

/// The books of all processors.
pub(super) fn books(map: &MapHandle) -> Result<Books, Error> {
    let processors = map.lookup_percpu(ONLY, MapFlags::ANY).map_err(|e| failed("give its books", e))?;
    Ok(Books::of(&processors.unwrap_or_default()))
}

fn value(map: &MapHandle, flags: MapFlags) -> Result<Vec<u8>, Error> {
    let value = map.lookup(ONLY, flags).map_err(|e| failed("give the value of a map", e))?;
    Ok(value.unwrap_or_default())
}

pub(super) fn failed(what: &str, source: libbpf_rs::Error) -> Error {
    Error::Kernel { what: format!("the kernel did not {what}"), source, verifier: String::new() }
}

/// An object that is not ours.
pub(super) fn lacks(what: &str) -> Error {
    Error::Input(format!("the program lacks {what}: it is of another version of penstock"))
}
