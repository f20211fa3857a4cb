//! Programs that the kernel has taken, and their maps.

use libbpf_rs::{MapCore, MapFlags, MapHandle, Object, OpenObject, ProgramAttachType, ProgramMut};
use penstock_machine::Missing;

use super::books::Books;
use super::program::{Program, TEXT, VERSION, Wanted};
use crate::attach::attachment::Direction;
use crate::attach::error::Error;
use crate::attach::object;
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
    /// True if clock and coin come with each packet.
    pub(super) supplied: bool,
    /// The direction of its packets.
    pub(super) direction: Direction,
}

/// The only key of every map.
const ONLY: &[u8] = &0_u32.to_ne_bytes();

/// Loads a program and gives it its parameters.
pub(super) fn load(wanted: &Wanted, place: Place) -> Result<Object, Error> {
    load_from(wanted.program.object, wanted, place)
}

/// The same of an object compiled otherwise.
pub(super) fn load_from(object: &[u8], wanted: &Wanted, place: Place) -> Result<Object, Error> {
    let loaded = object::load(wanted.program.name, object, |open| prepare(open, place))?;
    tell(&map(&loaded, "settings")?, wanted)?;
    begin(&map(&loaded, "state")?, wanted)?;
    Ok(loaded)
}

fn prepare(open: &mut OpenObject, place: Place) -> Result<(), Error> {
    let map = open.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".place"));
    let mut map = map.ok_or_else(|| lacks("a map `.rodata.place`"))?;
    let value = [place.link_header.to_ne_bytes(), u32::from(place.supplied).to_ne_bytes()].concat();
    map.set_initial_value(&value).map_err(|e| failed("take the constants of the program, `.rodata.place`", e))?;
    for mut program in open.progs_mut() {
        program.set_attach_type(match place.direction {
            Direction::Egress => ProgramAttachType::TcxEgress,
            Direction::Ingress => ProgramAttachType::TcxIngress,
        });
    }
    Ok(())
}

/// The program of an object.
pub(super) fn program(object: &Object) -> Result<ProgramMut<'_>, Error> {
    // The functions of fx.h are no programs of their own.
    object.progs_mut().next().ok_or_else(|| lacks("a program"))
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

/// The parameters as they were written.
pub(super) fn parameters(settings: &MapHandle) -> Result<Vec<(String, String)>, Error> {
    let bytes = value(settings, MapFlags::LOCK)?;
    let text = bytes.get(TEXT).unwrap_or_default();
    let text = String::from_utf8_lossy(text.split(|byte| *byte == 0).next().unwrap_or_default());
    Ok(text.lines().filter_map(|line| line.split_once(" = ")).map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
}

/// The visible numbers of a state: the figures' names with the words over 2^32.
pub(super) fn observables(map: &MapHandle, program: &Program) -> Result<Vec<(&'static str, i64)>, Error> {
    let bytes = value(map, MapFlags::ANY)?;
    let words: Vec<_> =
        bytes.chunks_exact(8).map(|bytes| i64::from_ne_bytes(bytes.try_into().unwrap_or_default())).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    Ok(program.state.iter().map(|(at, name, _)| (*name, word(*at))).collect())
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
