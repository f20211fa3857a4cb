//! Controllers that a link keeps registered: attached, listed and detached, with the defaults of namespaces.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use libbpf_rs::{MapCore, MapType};
use penstock_machine::while_trying;

use super::default::{Given, Place};
use super::origin::{Origin, PREFIX};
use super::stack::{self, Attachments};
use super::{Habits, Loaded, NAME_ROOM, figures, load, missing, own, program, replace};
use crate::attach::attachment::{Attached, Detached, Request, Scope, or_stranger, stranger};
use crate::attach::error::Error;
use crate::attach::pins::Pins;
use crate::attach::settings;
use crate::requirements;

/// Controllers that are attached, by name, and where each has been made the default. Other files with such a pin are left out.
fn attachments(pins: &Pins) -> Result<BTreeMap<String, Origin>, Error> {
    let names = pins.names()?;
    let controllers = names.iter().filter_map(|pin| pin.strip_prefix(PREFIX));
    let origin = |name: &str| Origin::of(&pins.open(&format!("{PREFIX}{name}")).ok()?).ok();
    Ok(controllers.filter_map(|name| Some((name.to_owned(), origin(name)?))).collect())
}

fn claims(attachments: &BTreeMap<String, Origin>) -> Attachments {
    let claim = |origin: &Origin| origin.claim.clone().map(|(_, claim)| claim);
    attachments.iter().map(|(name, origin)| (name.clone(), claim(origin))).collect()
}

/// Attaches one of [`names`].
pub(in crate::attach) fn attach(
    pins: &Pins,
    request: &Request<'_>,
    scope: Option<Scope>,
    traced: bool,
) -> Result<Attached, Error> {
    let name = request.name;
    let chosen = settings::controller(request.laws, name, request.settings)?;
    let program = &program(chosen.law)?;
    own::fits_the_kernel(name, NAME_ROOM)?;
    program.words(&chosen)?;
    if let Some(missing) = requirements::not_allowed_to_attach().into_iter().chain(missing()).next() {
        return Err(missing.into());
    }
    let place = Place::of(scope.unwrap_or(Scope::Namespace))?;
    let _alone = pins.hold()?;
    let attachments = attachments(pins)?;
    let pin = format!("{PREFIX}{name}");
    let there = pins.names()?.contains(&pin);
    let before = if there { Some(pins.open(&pin)?) } else { None };
    let known = attachments.get(name).and_then(|origin| origin.claim.as_ref());
    if scope.is_some() && known.is_some_and(|(_, claim)| claim.layer > 0 && claim.namespace != place.namespace) {
        return Err(Error::Input(format!(
            "`{name}` is already the default controller of another network namespace: detach it there first"
        )));
    }
    let now = place.controller().map_err(while_trying("read the default controller"))?;
    let claim = stack::remember(&claims(&attachments), name, place.namespace, &now, scope.is_some());
    let kept = known.filter(|(_, known)| known.namespace == claim.namespace).map(|(scope, _)| *scope);
    let claim = (scope.or(kept).unwrap_or(Scope::Namespace), claim);
    let origin = Origin { parameters: settings::shown(&chosen), claim: Some(claim), traced };
    let habits = Habits { paced: true, traced };
    if let Some(link) = &before {
        let object = load(program, &chosen, habits, name, &origin.text())?;
        let map = object.maps().find(|map| map.map_type() == MapType::StructOps).expect("load has found it");
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
    if scope.is_some()
        && let Err(error) = place.make(name)
    {
        if before.is_none() {
            let _ = pins.remove(&pin);
        }
        return Err(while_trying(format!("make `{name}` the default controller"))(error).into());
    }
    if before.is_some() {
        // Where it is the default that is the controller of before, which the kernel goes on using.
        for place in Place::all_with(name) {
            let again = place.make(name);
            again.map_err(while_trying(format!("make `{name}` the default of a namespace again")))?;
        }
    }
    attached(pins, &pin)
}

fn attached(pins: &Pins, pin: &str) -> Result<Attached, Error> {
    let link = pins.open(pin)?;
    let figures = figures::Figures::of(&link)?;
    let origin = Origin::read(&figures.origin);
    let name = pin.strip_prefix(PREFIX).unwrap_or(pin).to_owned();
    let mut place = format!("sockets, as `{name}`");
    let mut notes = Vec::new();
    if let Some((scope, claim)) = &origin.claim {
        let whose = match scope {
            Scope::Namespace => format!("network namespace {}", claim.namespace),
            Scope::System => "the first network namespace, and of those made later".to_owned(),
        };
        match Place::with(claim.namespace).and_then(|place| place.controller().ok()) {
            Some(now) if now == name => {
                let before = claim.below.first().map_or("not known", |below| &below.name);
                let _ = write!(place, "; the default of {whose} (before: {before})");
            }
            _ if claim.layer == 0 => {}
            Some(now) => notes.push(format!("it was made the default of {whose}, and the default there is now {now}")),
            None => notes.push(format!("it was made the default of {whose}, and that namespace is gone")),
        }
    }
    if origin.traced {
        notes.push("it writes a record an acknowledgement".to_owned());
    }
    if figures.cost.is_none() {
        notes.push("the kernel counts its cost only while `sysctl kernel.bpf_stats_enabled` is 1".to_owned());
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

/// The report of every attached controller.
pub(in crate::attach) fn status(pins: &Pins) -> Result<Vec<Attached>, Error> {
    let names = pins.names()?;
    let controllers = names.iter().filter(|pin| pin.starts_with(PREFIX));
    Ok(controllers.filter_map(|pin| or_stranger(pins, pin, attached(pins, pin))).collect())
}

/// Detaches one controller or all. The caller holds [`Pins::lock`].
pub(in crate::attach) fn detach(pins: &Pins, name: Option<&str>, detached: &mut Detached) -> Result<(), Error> {
    let names = pins.names()?;
    for pin in names.iter().filter(|pin| pin.starts_with(PREFIX)) {
        let controller = &pin[PREFIX.len()..];
        if name.is_some_and(|name| name != controller) {
            continue;
        }
        let link = match pins.open(pin).and_then(|link| Origin::of(&link).map(|_| link)) {
            Ok(link) => link,
            Err(error) => {
                detached.notes.push(stranger(pins, pin, &error));
                continue;
            }
        };
        // First what still names it, then itself: killed between, it is attached and nobody's default.
        let attachments = attachments(pins)?;
        let own = attachments.get(controller).and_then(|origin| Some(origin.claim.as_ref()?.1.namespace));
        for place in Place::all_with(controller) {
            let below = stack::after(&claims(&attachments), controller, place.namespace);
            match place.make_one_of(&below) {
                Ok(Given::Back) => {}
                Ok(Given::Instead(other)) => detached.notes.push(format!(
                    "the default of network namespace {} before `{controller}` is unknown or gone: it is `{other}` now",
                    place.namespace
                )),
                Err(error) if own == Some(place.namespace) => {
                    return Err(while_trying(format!("restore the default controller that `{controller}` replaced"))(
                        error,
                    )
                    .into());
                }
                Err(error) => detached.notes.push(format!(
                    "network namespace {} keeps `{controller}` as its default ({error})",
                    place.namespace
                )),
            }
        }
        pins.remove(pin)?;
        // Without its pin it goes by itself, but some time later; its name may be wanted at once. Kernels before 6.11 cannot.
        let _ = link.detach();
        detached.gone.push(pin.clone());
    }
    Ok(())
}
