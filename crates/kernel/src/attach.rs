//! Laws in this kernel, on traffic of one's own: attached, told of, and detached again.
//!
//! What is attached is a link of the kernel's, and the link has a pin, a name in the BPF file system: it stays when the
//! process that made it ends. **There is one pin an attachment, and it is made last**: before it there is nothing that
//! outlives the process, so that a kill at any moment leaves the old state or the new one. Everything else (programs,
//! parameters, counters) is found from the link.
//!
//! [`controller`] has the laws of senders, [`tc`] those of queues and edges, on a device. What they need in common is in
//! [`pins`] (names of attachments), [`settings`] (parameters as in a scenario) and [`object`] (loading, and what the verifier
//! said).

pub mod controller;
pub mod object;
pub mod pins;
pub mod settings;
pub mod tc;

use std::io;

use penstock_machine::Missing;

use crate::requirements;
use pins::Pins;

/// What to attach.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The law.
    pub name: &'a str,
    /// Where.
    pub place: Place<'a>,
    /// `law.KEY=VALUE` for a controller, `aqm.KEY=VALUE` for a law of a queue or an edge; what is not given is the default.
    pub settings: &'a [String],
}

/// Where a law acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// At sockets, which ask for it by its name or have it by default.
    Sockets {
        /// Where it becomes the default, if anywhere.
        default: Option<Scope>,
        /// Whether it writes a record an acknowledgement.
        trace: bool,
    },
    /// At a network device.
    Device {
        /// Its name.
        name: &'a str,
        /// For packets that leave or that come in; as the law has it unless given.
        direction: Option<Direction>,
    },
}

/// Whose default controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// That of the network namespace of this process.
    Namespace,
    /// That of the first namespace, which those made later begin with.
    System,
}

/// Which packets of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Those that leave.
    Egress,
    /// Those that come in.
    Ingress,
}

/// An attachment.
#[derive(Debug, Clone, PartialEq)]
pub struct Attached {
    /// The law.
    pub name: String,
    /// What kind of law, in a word.
    pub kind: &'static str,
    /// Where, in a few words.
    pub place: String,
    /// Its pin.
    pub pin: String,
    /// Parameters and their values, as a scenario writes them.
    pub parameters: Vec<(String, String)>,
    /// What it has counted.
    pub figures: Vec<Figure>,
    /// What is worth saying besides, a sentence each.
    pub notes: Vec<String>,
}

/// A number that an attachment tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, which ends in its unit where it has one, as Prometheus has it: `acks`, `nanoseconds_per_ack`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub what: &'static str,
    /// Whether it only grows.
    pub counter: bool,
    /// The number.
    pub value: f64,
}

/// Why something was not attached, told of or detached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name, a device or a parameter that is not there, or does not fit. Nothing has changed.
    #[error("{0}")]
    Input(String),
    /// The machine or the build lacks something.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The kernel refused a program.
    #[error("{what}: {source}{}", said(.verifier))]
    Kernel {
        /// What it did not do.
        what: String,
        /// Why.
        source: libbpf_rs::Error,
        /// What its verifier said, with the lines of our source; empty where it was not asked.
        verifier: String,
    },
    /// The kernel was expected to do something, and did not.
    #[error("cannot {what}: {source}")]
    System {
        /// What.
        what: String,
        /// Why.
        source: io::Error,
    },
}

fn said(verifier: &str) -> String {
    if verifier.is_empty() { String::new() } else { format!("\nthe verifier:\n{verifier}") }
}

/// For `map_err`: says what was being done.
pub(crate) fn while_trying(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let what = what.into();
    move |source| Error::System { what, source }
}

/// What to detach.
#[derive(Debug, Clone, Copy, Default)]
pub struct Which<'a> {
    /// The law; every one unless given.
    pub name: Option<&'a str>,
    /// The device; every place unless given.
    pub device: Option<&'a str>,
}

/// Attaches a law, or gives one that is attached there other parameters, and tells of it.
///
/// # Errors
/// What of the request is wrong, what the machine lacks, and what the kernel says. Nothing has changed then.
pub fn attach(pins: &Pins, request: &Request<'_>) -> Result<Attached, Error> {
    let (controllers, programs) = (controller::names(), tc::names());
    let wanted = request.name;
    match request.place {
        Place::Sockets { default, trace } if controllers.contains(&wanted) => {
            controller::attach(pins, wanted, default, trace, request.settings)
        }
        Place::Device { name, direction } if programs.contains(&wanted) => {
            tc::attach(pins, wanted, name, direction, request.settings)
        }
        Place::Device { .. } if controllers.contains(&wanted) => {
            Err(Error::Input(format!("`{wanted}` is a controller, and acts at sockets: leave out --device")))
        }
        Place::Sockets { .. } if programs.contains(&wanted) => {
            Err(Error::Input(format!("`{wanted}` acts at a device: name it with --device")))
        }
        _ => {
            let known: Vec<&str> = controllers.into_iter().chain(programs).collect();
            Err(Error::Input(format!("no law for this kernel is named `{wanted}`; there are {}", known.join(", "))))
        }
    }
}

/// What keeps this machine from attaching laws; none if nothing does. All of it is tried but what would change something.
pub fn missing(pins: &Pins) -> Option<Missing> {
    let known = requirements::not_allowed_to_attach().into_iter().chain(controller::missing());
    known.chain(pins.missing()).next().or_else(controller::refused)
}

/// Everything that is attached, controllers first. A file among the pins that is none of ours is told of as such.
///
/// # Errors
/// Where pins cannot be seen, and what the kernel says.
pub fn status(pins: &Pins) -> Result<Vec<Attached>, Error> {
    if let (false, Some(missing)) = (pins.names()?.is_empty(), requirements::not_allowed_to_attach()) {
        return Err(missing.into());
    }
    let mut attached = controller::status(pins)?;
    attached.extend(tc::status(pins)?);
    Ok(attached)
}

/// An attachment, or why the file with its name is none; nothing if it is gone meanwhile.
fn or_stranger(pins: &Pins, pin: &str, told: Result<Attached, Error>) -> Option<Attached> {
    match told {
        Ok(attached) => Some(attached),
        Err(_) if !pins.path(pin).exists() => None,
        Err(error) => Some(Attached {
            name: pin.to_owned(),
            kind: "unknown",
            place: "not known".to_owned(),
            pin: pins.path(pin).display().to_string(),
            parameters: Vec::new(),
            figures: Vec::new(),
            notes: vec![stranger(pins, pin, &error)],
        }),
    }
}

fn stranger(pins: &Pins, pin: &str, error: &Error) -> String {
    format!("{} is not an attachment of Penstock's, or not of this version: {error}", pins.path(pin).display())
}

/// What was detached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detached {
    /// Pins that are gone.
    pub gone: Vec<String>,
    /// What is worth saying besides, a sentence each.
    pub notes: Vec<String>,
}

/// Detaches what is asked for. A file among the pins that is none of ours stays, and is told of.
///
/// # Errors
/// A law that is not attached, and what the kernel says.
pub fn detach(pins: &Pins, which: Which<'_>) -> Result<Detached, Error> {
    let mut detached = Detached::default();
    if let (false, Some(missing)) = (pins.names()?.is_empty(), requirements::not_allowed_to_attach()) {
        return Err(missing.into());
    }
    // Of one that was killed an empty directory may be left, which goes with the lock.
    if let Some(_alone) = pins.lock()? {
        if which.device.is_none() {
            controller::detach(pins, which.name, &mut detached)?;
        }
        tc::detach(pins, which, &mut detached)?;
    }
    if let (true, Some(name)) = (detached.gone.is_empty(), which.name) {
        let there = which.device.map(|device| format!(" at {device}")).unwrap_or_default();
        return Err(Error::Input(format!(
            "`{name}` is not attached{there}; `penstock linux status` lists attached \
                                         laws"
        )));
    }
    Ok(detached)
}
