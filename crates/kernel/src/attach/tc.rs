//! AQMs and conditioners, as programs at a network device (tcx, since Linux 6.6).
//!
//! Such a program sees arriving packets and no queue, so that it fits laws of a virtual capacity or a virtual queue,
//! and conditioners. `program` has those there are; `trial` runs one on packets given by hand.
//!
//! An attachment is one link, which holds the program, which holds its maps. A pin of the link is all that is kept of it.

mod books;
mod conditioners;
mod loaded;
mod own;
mod parameters;
mod program;
mod queues;
mod steps;
mod trial;

use libbpf_rs::query::{LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{Link, MapCore, MapHandle, Object, ProgramHandle};
use nix::net::if_::{if_indextoname, if_nameindex, if_nametoindex};
use penstock_law::aqm::Aqm;
use penstock_law::{Entry, Registry};
use penstock_machine::while_trying;

pub use books::{Books, Count};
pub use loaded::missing;
pub use program::Wanted;
pub use trial::{Arrival, Trial, Verdict};

use super::attachment::{Attached, Detached, Direction, Figure, Request, Which, or_stranger, stranger};
use super::error::Error;
use super::pins::Pins;
use super::trail::{self, Replayed};
use crate::requirements;
use crate::syscall;
use loaded::{Place, Use, Written, failed};
use parameters::ProgramParameters;
use program::PROGRAMS;

/// Laws of Penstock that can be attached to a device.
pub fn names() -> Vec<&'static str> {
    PROGRAMS.iter().map(|program| program.name).collect()
}

/// The same of a registry: those of Penstock, then those that bring a program.
pub(super) fn names_of(laws: &Registry) -> Vec<&'static str> {
    program::names(laws)
}

/// Holds a program that an entry brings against the law in Rust: thousands of events under parameters from their whole ranges,
/// inside the running kernel and without a packet.
///
/// # Errors
/// A missing part of the machine, an object that does not fit, and an error of the kernel.
pub fn replay(law: &'static Entry<Aqm>) -> Result<Option<Replayed>, Error> {
    if let Some(missing) = missing().into_iter().next() {
        return Err(missing.into());
    }
    let place = Place { link_header: 14, supplied: true, direction: Direction::Egress };
    trail::follow(law, |chosen, context| {
        let own = match own::parameters(law, &chosen.values, context, None) {
            Err(Error::Input(why)) => return Ok(trail::Program::Refused(why)),
            own => own?,
        };
        let words = queues::own_words(&own, context);
        let parameters = ProgramParameters { words, start: own.start, parameters: Vec::new(), fit: Some(own.fit) };
        let wanted = Wanted::replayed(law, parameters);
        Ok(trail::Program::Loaded(loaded::load_from(wanted.program.object, &wanted, place, Use::Trail)?))
    })
}

/// Attaches one of [`names_of`] to a device of this thread's network namespace, or gives the one that is attached there other
/// parameters.
pub(super) fn attach(
    pins: &Pins,
    request: &Request<'_>,
    device: &str,
    direction: Option<Direction>,
) -> Result<Attached, Error> {
    let wanted = Wanted::of(request.laws, request.name, request.settings)?;
    let device = Device::named(device)?;
    if let Some(missing) = requirements::not_allowed_to_attach().into_iter().chain(missing()).next() {
        return Err(missing.into());
    }
    let pin = Pin { namespace: namespace()?, index: device.index, direction: direction.unwrap_or(Direction::Egress) };
    let object =
        loaded::load(&wanted, Place { link_header: device.link_header, supplied: false, direction: pin.direction })?;
    let _alone = pins.hold()?;
    put(pins, pin, &wanted, &object, &device.name)?;
    tell(pins, pin)
}

/// Puts a loaded program under its pin: instead of one that is there, or as a new link.
fn put(pins: &Pins, pin: Pin, wanted: &Wanted, object: &Object, device: &str) -> Result<(), Error> {
    let program = loaded::program(object)?;
    let path = pins.path(&pin.name());
    let there = if path.exists() { Some(pins.open(&pin.name())?).filter(is_live) } else { None };
    if let Some(mut link) = there {
        let there = program_of(&link)?;
        let ours = ProgramHandle::try_from(&program).map_err(|e| failed("report a program", e))?;
        if there.tag.0 == ours.tag() && *there.name.to_string_lossy() == *ours.name().to_string_lossy() {
            // The same program: what it has learned stays.
            return loaded::tell(&map_of(&there, "settings")?, wanted);
        }
        return link.update_prog(&program).map_err(|e| failed("put another program in its place", e));
    }
    let mut link = syscall::attach_to_device(&program, pin.index)
        .map_err(|e| failed(&format!("attach `{}` to {device}", wanted.program.name), e))?;
    // Of a device that is gone.
    if path.exists() {
        pins.remove(&pin.name())?;
    }
    link.pin(&path).map_err(|e| failed(&format!("pin {}", path.display()), e))
}

/// The attachments of devices.
pub(super) fn status(pins: &Pins) -> Result<Vec<Attached>, Error> {
    let names = pins.names()?;
    let programs = names.iter().filter_map(|name| Some((name, Pin::named(name)?)));
    Ok(programs.filter_map(|(name, pin)| or_stranger(pins, name, tell(pins, pin))).collect())
}

/// Detaches the given attachments. The caller holds [`Pins::lock`].
pub(super) fn detach(pins: &Pins, which: Which<'_>, detached: &mut Detached) -> Result<(), Error> {
    let here = namespace()?;
    let index = which.device.map(|name| Device::named(name).map(|device| device.index)).transpose()?;
    for pin in pins.names()?.iter().filter_map(|name| Pin::named(name)) {
        if index.is_some_and(|index| (pin.namespace, pin.index) != (here, index)) {
            continue;
        }
        let opened = pins.open(&pin.name()).and_then(|link| Ok((program_of(&link)?, link)));
        let (program, link) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                detached.notes.push(stranger(pins, &pin.name(), &error));
                continue;
            }
        };
        if which.name.is_some_and(|name| program.name.to_string_lossy() != name.replace('-', "_")) {
            continue;
        }
        // Without its name it ends with this process at the latest; from then on there is no way back.
        pins.remove(&pin.name())?;
        if is_live(&link) {
            link.detach().map_err(|e| failed("detach it", e))?;
        }
        detached.gone.push(pin.name());
    }
    Ok(())
}

/// A device of this thread's network namespace.
#[derive(Debug)]
struct Device {
    name: String,
    index: u32,
    /// Bytes of a packet before its IP header.
    link_header: u32,
}

impl Device {
    fn named(name: &str) -> Result<Self, Error> {
        let Ok(index) = if_nametoindex(name) else {
            let known = if_nameindex().map_err(|e| while_trying("list devices")(e.into()))?;
            let known: Vec<_> = known.iter().map(|one| one.name().to_string_lossy().into_owned()).collect();
            return Err(Error::Input(format!("there is no device `{name}` here; there are {}", known.join(", "))));
        };
        let kind = syscall::kind_of_device(name).map_err(while_trying(format!("tell what `{name}` is")))?;
        let link_header = match kind {
            libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => 14,
            // TUN and WireGuard, and tunnels of the kernel's own.
            libc::ARPHRD_NONE | libc::ARPHRD_PPP | libc::ARPHRD_TUNNEL | libc::ARPHRD_TUNNEL6 => 0,
            kind => {
                let what = format!(
                    "the device `{name}` has the type {kind} (ARPHRD_*); choose an Ethernet device, or one that carries IP alone"
                );
                return Err(Error::Input(what));
            }
        };
        Ok(Self { name: name.to_owned(), index, link_header })
    }
}

/// The name of an attachment. Devices are numbered in it: their names may have dots, which a pin's may not, and change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pin {
    /// The inode of the network namespace.
    namespace: u64,
    index: u32,
    direction: Direction,
}

impl Pin {
    fn name(&self) -> String {
        let direction = if self.direction == Direction::Egress { "egress" } else { "ingress" };
        format!("tc-{}-{}-{direction}", self.namespace, self.index)
    }

    fn named(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix("tc-")?.split('-');
        let pin = Self {
            namespace: parts.next()?.parse().ok()?,
            index: parts.next()?.parse().ok()?,
            direction: if name.ends_with("-egress") { Direction::Egress } else { Direction::Ingress },
        };
        (pin.name() == name).then_some(pin)
    }

    /// In a few words.
    fn place(&self) -> Result<String, Error> {
        let way = if self.direction == Direction::Egress { "packets that leave" } else { "packets that come in at" };
        if self.namespace != namespace()? {
            return Ok(format!("{way} device {} of network namespace {}", self.index, self.namespace));
        }
        let name = if_indextoname(self.index).ok();
        let name = name.map_or_else(
            || format!("device {}, which is gone", self.index),
            |name| name.to_string_lossy().into_owned(),
        );
        Ok(format!("{way} {name}"))
    }
}

/// The inode of this thread's network namespace.
fn namespace() -> Result<u64, Error> {
    use std::os::unix::fs::MetadataExt;
    let about = std::fs::metadata("/proc/thread-self/ns/net").map_err(while_trying("see the network namespace"))?;
    Ok(about.ino())
}

/// True if the device of a link is still there.
fn is_live(link: &Link) -> bool {
    link.info().is_ok_and(|info| matches!(info.info, LinkTypeInfo::Tcx(tcx) if tcx.ifindex != 0))
}

fn program_of(link: &Link) -> Result<ProgramInfo, Error> {
    let id = link.info().map_err(|e| failed("report a link", e))?.prog_id;
    let mut programs = ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true));
    programs.find(|program| program.id == id).ok_or_else(|| loaded::lacks("a program"))
}

fn map_of(program: &ProgramInfo, name: &str) -> Result<MapHandle, Error> {
    let maps = program.map_ids.iter().filter_map(|id| MapHandle::from_map_id(*id).ok());
    maps.into_iter().find(|map| map.name() == name).ok_or_else(|| loaded::lacks(&format!("a map `{name}`")))
}

/// Reports an attachment.
fn tell(pins: &Pins, pin: Pin) -> Result<Attached, Error> {
    let path = pins.path(&pin.name());
    let link = pins.open(&pin.name())?;
    let info = program_of(&link)?;
    let mut attached = Attached {
        name: info.name.to_string_lossy().replace('_', "-"),
        kind: "tc program",
        place: pin.place()?,
        pin: path.display().to_string(),
        parameters: Vec::new(),
        figures: Vec::new(),
        notes: Vec::new(),
    };
    if !is_live(&link) {
        attached.notes.push("the device is gone, and nothing passes here any more: detach it".to_owned());
    }
    // One of another version shall not keep others out of the list.
    if let Err(error) = read(&info, &mut attached) {
        attached.notes.push(error.to_string());
    }
    Ok(attached)
}

/// Reads the maps of a program.
fn read(info: &ProgramInfo, attached: &mut Attached) -> Result<(), Error> {
    let Written { law, parameters, state } = Written::read(&map_of(info, "settings")?)?;
    attached.parameters = parameters;
    attached.name = law.clone().unwrap_or(std::mem::take(&mut attached.name));
    attached.figures = loaded::books(&map_of(info, "books")?)?.figures();
    let words = loaded::state(&map_of(info, "state")?)?;
    let ours = PROGRAMS.iter().filter(|program| law.is_none() && program.name == attached.name);
    let ours = ours.flat_map(|program| program.state);
    let ours = ours.map(|(at, name, what)| (*at, (*name).to_owned(), (*what).to_owned()));
    let own = state.into_iter().enumerate().map(|(at, (name, what))| (at, name, what));
    for (at, name, what) in ours.chain(own) {
        let value = words.get(at).copied().unwrap_or_default() as f64 / 4_294_967_296.0;
        attached.figures.push(Figure { name, what, counter: false, value });
    }
    if info.run_cnt > 0 {
        let value = info.run_time_ns as f64 / info.run_cnt as f64;
        let what = "mean time for a piece, by the kernel's statistics [ns]".to_owned();
        attached.figures.push(Figure { name: "nanoseconds_per_piece".to_owned(), what, counter: false, value });
    }
    Ok(())
}
