//! The laws of this process.

use std::sync::{Arc, PoisonError, RwLock};

use penstock_law::Registry;
use penstock_law::registry::Refused;

/// The laws, and the identity of the code of those that are not part of the program.
#[derive(Clone, Copy)]
struct Laws {
    registry: &'static Arc<Registry>,
    /// Whether some of them are not of Penstock.
    own: bool,
    code: &'static str,
}

impl Laws {
    /// Entries live as long as the process, and so does the list of them: some bytes for each law that is added.
    fn of(registry: Registry, code: &str) -> Result<Self, Refused> {
        let own = registry.has_more_than_standard();
        let registry = Box::leak(Box::new(Arc::new(with_stacks(registry)?)));
        Ok(Self { registry, own, code: Box::leak(Box::from(code)) })
    }
}

static LAWS: RwLock<Option<Laws>> = RwLock::new(None);

/// The same laws, and the controllers of QUIC stacks, whose names no other law may have.
#[cfg(all(target_os = "linux", feature = "quic"))]
fn with_stacks(registry: Registry) -> Result<Registry, Refused> {
    let own = penstock_linux::quinn::CONTROLLERS.iter().map(|entry| (entry, "quinn"));
    let mut own = own.chain(penstock_linux::s2n::CONTROLLERS.iter().map(|entry| (entry, "s2n-quic")));
    own.try_fold(registry, |registry, (entry, stack)| {
        let why = format!("a controller of {stack} has this name (`--generator quic`); choose another name");
        registry.with(entry).map_err(|clash| Refused { why, ..clash })
    })
}

#[cfg(not(all(target_os = "linux", feature = "quic")))]
fn with_stacks(registry: Registry) -> Result<Registry, Refused> {
    Ok(registry)
}

/// The QUIC stack that a controller belongs to by its name.
#[cfg(all(target_os = "linux", feature = "quic"))]
pub(crate) fn stack(law: &str) -> Option<&'static str> {
    if penstock_linux::s2n::is_own(law) {
        return Some("s2n-quic");
    }
    penstock_linux::quinn::CONTROLLERS.iter().any(|entry| entry.name == law).then_some("quinn")
}

#[cfg(not(all(target_os = "linux", feature = "quic")))]
pub(crate) fn stack(_: &str) -> Option<&'static str> {
    None
}

/// The remedy where this program lacks the stack of a controller.
#[cfg(all(target_os = "linux", feature = "quic"))]
pub(crate) fn missing(law: &str) -> Option<&'static str> {
    penstock_linux::s2n::missing(law)
}

#[cfg(not(all(target_os = "linux", feature = "quic")))]
pub(crate) fn missing(_: &str) -> Option<&'static str> {
    None
}

/// Whether the packets world runs that controller of quinn.
#[cfg(all(target_os = "linux", feature = "quic"))]
pub(crate) fn is_simulated(law: &str) -> bool {
    penstock_linux::quinn::is_simulated(law)
}

#[cfg(not(all(target_os = "linux", feature = "quic")))]
pub(crate) fn is_simulated(_: &str) -> bool {
    false
}

/// Sets the laws. `code` identifies the code of those that a program in another language added: it is empty where the
/// program itself has all of them.
///
/// # Errors
/// A law has the name of a controller of a QUIC stack.
pub(crate) fn adopt(registry: Registry, code: &str) -> Result<(), Refused> {
    let laws = Laws::of(registry, code)?;
    *LAWS.write().unwrap_or_else(PoisonError::into_inner) = Some(laws);
    Ok(())
}

/// The same laws with those that every list here has besides, for documents that are read with other laws than those adopted.
///
/// # Errors
/// A law has the name of a controller of a QUIC stack.
pub(crate) fn complete(registry: Registry) -> Result<Arc<Registry>, Refused> {
    Ok(Arc::new(with_stacks(registry)?))
}

fn adopted() -> Laws {
    if let Some(laws) = *LAWS.read().unwrap_or_else(PoisonError::into_inner) {
        return laws;
    }
    let standard = || Laws::of(Registry::standard(), "").expect("no law of Penstock has a name of theirs");
    *LAWS.write().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(standard)
}

/// The laws that scenarios may name.
pub(crate) fn laws() -> &'static Arc<Registry> {
    adopted().registry
}

/// Whether some of them are not of Penstock.
pub(crate) fn has_own() -> bool {
    adopted().own
}

/// Identity of the code of laws that are not part of the program; empty where there are none.
pub(crate) fn code() -> &'static str {
    adopted().code
}

#[cfg(all(test, target_os = "linux", feature = "quic"))]
mod tests {
    use penstock_law::Entry;
    use penstock_law::cc::{CONTROLLERS, Controller};

    use super::*;

    #[test]
    fn a_name_of_a_stack_is_refused() {
        static CLASHES: [Entry<Controller>; 2] =
            [Entry { name: "quinn-cubic", ..CONTROLLERS[0] }, Entry { name: "s2n-cubic", ..CONTROLLERS[0] }];
        static ANOTHER: Entry<Controller> = Entry { name: "another-cubic", ..CONTROLLERS[0] };
        let with = |entry| with_stacks(Registry::standard().with(entry).unwrap());
        for (entry, stack) in CLASHES.iter().zip(["quinn", "s2n-quic"]) {
            let refused = with(entry).unwrap_err().to_string();
            assert!(refused.contains(&format!("`{}`: a controller of {stack} has", entry.name)), "{refused}");
            assert!(refused.contains("choose another name"), "{refused}");
            assert!(with(&ANOTHER).unwrap().controller(entry.name).is_some());
        }
    }
}
