//! The request for an attachment, and the report of it.

use std::sync::Arc;

use penstock_law::Registry;

use super::error::Error;
use super::pins::Pins;

/// The request for an attachment.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The laws that may be attached: those with a kernel program.
    pub laws: &'a Arc<Registry>,
    /// The law.
    pub name: &'a str,
    /// The device or the sockets.
    pub place: Place<'a>,
    /// `law.KEY=VALUE` for a controller, `aqm.KEY=VALUE` for an AQM or a conditioner; other settings have their defaults.
    pub settings: &'a [String],
}

/// The point of a law's attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// At sockets, which select it by its name or have it by default.
    Sockets {
        /// The scope in which it becomes the default, if any.
        default: Option<Scope>,
        /// True if it writes a record an acknowledgement.
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
    /// The role of the law, in a word.
    pub kind: &'static str,
    /// The point of attachment, in a few words.
    pub place: String,
    /// Its pin.
    pub pin: String,
    /// Parameters and their values, as a scenario writes them.
    pub parameters: Vec<(String, String)>,
    /// Its counters.
    pub figures: Vec<Figure>,
    /// Further notes, a sentence each.
    pub notes: Vec<String>,
}

/// A number that an attachment reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, which ends in its unit where it has one, as Prometheus has it: `acks`, `nanoseconds_per_ack`.
    pub name: String,
    /// Its meaning, in a few words.
    pub what: String,
    /// True if it only grows.
    pub counter: bool,
    /// The number.
    pub value: f64,
}

/// The selection of attachments to detach.
#[derive(Debug, Clone, Copy, Default)]
pub struct Which<'a> {
    /// The law; every one unless given.
    pub name: Option<&'a str>,
    /// The device; all devices and sockets unless given.
    pub device: Option<&'a str>,
}

/// The attachments that were detached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detached {
    /// Pins that are gone.
    pub gone: Vec<String>,
    /// Further notes, a sentence each.
    pub notes: Vec<String>,
}

/// An attachment, or why the file with its name is none; nothing if it is gone meanwhile.
pub(super) fn or_stranger(pins: &Pins, pin: &str, told: Result<Attached, Error>) -> Option<Attached> {
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

pub(super) fn stranger(pins: &Pins, pin: &str, error: &Error) -> String {
    format!("{} is not the pin of a law that this version of Penstock attached: {error}", pins.path(pin).display())
}
