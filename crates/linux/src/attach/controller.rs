//! Laws of senders, as controllers of this kernel's TCP.

use super::pins::Pins;
use super::{Attached, Error, Scope};

/// Laws that can be attached to sockets.
pub fn names() -> Vec<&'static str> {
    Vec::new()
}

/// Attaches one of [`names`].
pub(super) fn attach(
    _pins: &Pins,
    name: &str,
    _default: Option<Scope>,
    _trace: bool,
    _settings: &[String],
) -> Result<Attached, Error> {
    Err(Error::Input(format!("`{name}` cannot be attached")))
}

/// Controllers that are attached.
#[expect(clippy::unnecessary_wraps, reason = "a kernel may have something to say")]
pub(super) fn status(_pins: &Pins) -> Result<Vec<Attached>, Error> {
    Ok(Vec::new())
}

/// Detaches one controller or all; the pins that are gone. The caller holds [`Pins::lock`].
#[expect(clippy::unnecessary_wraps, reason = "a kernel may have something to say")]
pub(super) fn detach(_pins: &Pins, _name: Option<&str>) -> Result<Vec<String>, Error> {
    Ok(Vec::new())
}
