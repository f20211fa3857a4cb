//! Laws in this kernel, on traffic of one's own: attached, reported, and detached again.
//!
//! An attachment is a link of the kernel's, and the link has a pin, a name in the BPF file system: it stays when the
//! process that made it ends. **There is one pin an attachment, and it is made when the attachment is complete**:
//! before it there is nothing that outlives the process, so that a kill at any moment leaves the old attachment or the
//! new one. Only the default controller is set after the pin. Everything else (programs, parameters, counters) is found
//! from the link.
//!
//! [`controller`] has the laws of senders, [`tc`] AQMs and conditioners, on a device. Their common code is in [`pins`] (names
//! of attachments), [`settings`] (parameters as in a scenario), [`object`] (loading, and the verifier's log) and `trail` (the
//! comparison of an own law's program with the law).

mod attachment;
pub mod controller;
mod error;
pub mod object;
pub mod pins;
pub mod settings;
pub mod tc;
mod trail;

use penstock_law::cc::Controller;
use penstock_machine::Missing;

pub use attachment::{Attached, Detached, Direction, Figure, Place, Request, Scope, Which};
pub use error::Error;
pub use trail::Replayed;

use crate::requirements;
use pins::Pins;

/// Attaches a law, or gives one that is attached there other parameters, and reports it.
///
/// # Errors
/// A wrong request, a missing part of the machine, and an error of the kernel. Nothing has changed then.
pub fn attach(pins: &Pins, request: &Request<'_>) -> Result<Attached, Error> {
    let wanted = request.name;
    let own = request.laws.laws::<Controller>().iter().filter(|law| law.kernel.is_some()).map(|law| law.name);
    let (mut controllers, programs) = (controller::names(), tc::names_of(request.laws));
    controllers.extend(own);
    match request.place {
        Place::Sockets { default, trace } if controllers.contains(&wanted) => {
            controller::attach(pins, request, default, trace)
        }
        Place::Device { name, direction } if programs.contains(&wanted) => tc::attach(pins, request, name, direction),
        Place::Device { .. } if controllers.contains(&wanted) => Err(Error::Input(format!(
            "`{wanted}` is a controller of TCP sockets, and belongs to no device: leave out --device"
        ))),
        Place::Sockets { .. } if programs.contains(&wanted) => {
            Err(Error::Input(format!("`{wanted}` acts at a device: name it with --device")))
        }
        _ => {
            let known: Vec<&str> = controllers.into_iter().chain(programs).collect();
            let known = known.join(", ");
            Err(Error::Input(match request.laws.role(wanted) {
                Some(role) if request.laws.is_added(wanted) => {
                    format!("`{wanted}` is {role} without a kernel program; laws that have one: {known}")
                }
                _ => format!("no law for this kernel is named `{wanted}`; there are {known}"),
            }))
        }
    }
}

/// The missing part without which this machine cannot attach laws; none if it can. It tries everything that changes nothing.
pub fn missing(pins: &Pins) -> Option<Missing> {
    let known = requirements::not_allowed_to_attach().into_iter().chain(controller::missing());
    known.chain(pins.missing()).next().or_else(controller::refused)
}

/// Everything that is attached, controllers first. A file among the pins that is none of ours is reported as such.
///
/// # Errors
/// Pins that this process cannot read, and an error of the kernel.
pub fn status(pins: &Pins) -> Result<Vec<Attached>, Error> {
    if let (false, Some(missing)) = (pins.names()?.is_empty(), requirements::not_allowed_to_attach()) {
        return Err(missing.into());
    }
    let mut attached = controller::status(pins)?;
    attached.extend(tc::status(pins)?);
    Ok(attached)
}

/// Detaches the given attachments. A file among the pins that is none of ours stays, and is reported.
///
/// # Errors
/// A law that is not attached, and an error of the kernel.
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
        return Err(Error::Input(format!("`{name}` is not attached{there}; `linux status` lists attached laws")));
    }
    Ok(detached)
}
