//! Laws of queues and edges, as programs at a network device.

use super::pins::Pins;
use super::{Attached, Direction, Error, Which};

/// Laws that can be attached to a device.
pub fn names() -> Vec<&'static str> {
    Vec::new()
}

/// Attaches one of [`names`] to a device.
pub(super) fn attach(
    _pins: &Pins,
    _name: &str,
    device: &str,
    _direction: Option<Direction>,
    _settings: &[String],
) -> Result<Attached, Error> {
    Err(Error::Input(format!("no law can be attached to `{device}`")))
}

/// What is attached to devices.
#[expect(clippy::unnecessary_wraps, reason = "a kernel may have something to say")]
pub(super) fn status(_pins: &Pins) -> Result<Vec<Attached>, Error> {
    Ok(Vec::new())
}

/// Detaches what is asked for; the pins that are gone. The caller holds [`Pins::lock`].
#[expect(clippy::unnecessary_wraps, reason = "a kernel may have something to say")]
pub(super) fn detach(_pins: &Pins, _which: Which<'_>) -> Result<Vec<String>, Error> {
    Ok(Vec::new())
}
