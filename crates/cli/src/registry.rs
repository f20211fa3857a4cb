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
        let registry = Box::leak(Box::new(Arc::new(with_quinns(registry)?)));
        Ok(Self { registry, own, code: Box::leak(Box::from(code)) })
    }
}

static LAWS: RwLock<Option<Laws>> = RwLock::new(None);

/// The same laws, and the controllers of quinn, whose names no other law may have.
#[cfg(all(target_os = "linux", feature = "quic"))]
fn with_quinns(registry: Registry) -> Result<Registry, Refused> {
    let why = "a controller of quinn has this name (`--generator quic`); choose another name";
    let mut quinns = penstock_linux::quinn::CONTROLLERS.iter();
    quinns.try_fold(registry, Registry::with).map_err(|clash| Refused { why: why.to_owned(), ..clash })
}

#[cfg(not(all(target_os = "linux", feature = "quic")))]
fn with_quinns(registry: Registry) -> Result<Registry, Refused> {
    Ok(registry)
}

/// Whether it is the name of a controller of quinn.
#[cfg(all(target_os = "linux", feature = "quic"))]
pub(crate) fn is_of_quinn(law: &str) -> bool {
    penstock_linux::quinn::CONTROLLERS.iter().any(|entry| entry.name == law)
}

#[cfg(not(all(target_os = "linux", feature = "quic")))]
pub(crate) fn is_of_quinn(_: &str) -> bool {
    false
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
/// A law has the name of a controller of quinn.
pub(crate) fn adopt(registry: Registry, code: &str) -> Result<(), Refused> {
    let laws = Laws::of(registry, code)?;
    *LAWS.write().unwrap_or_else(PoisonError::into_inner) = Some(laws);
    Ok(())
}

/// The same laws with those that every list here has besides, for documents that are read with other laws than those adopted.
///
/// # Errors
/// A law has the name of a controller of quinn.
pub(crate) fn complete(registry: Registry) -> Result<Arc<Registry>, Refused> {
    Ok(Arc::new(with_quinns(registry)?))
}

fn adopted() -> Laws {
    if let Some(laws) = *LAWS.read().unwrap_or_else(PoisonError::into_inner) {
        return laws;
    }
    let standard = || Laws::of(Registry::standard(), "").expect("no law of Penstock has a name of quinn's");
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
    fn a_name_of_quinns_is_refused() {
        static CLASHES: Entry<Controller> = Entry { name: "quinn-cubic", ..CONTROLLERS[0] };
        static ANOTHER: Entry<Controller> = Entry { name: "another-cubic", ..CONTROLLERS[0] };
        let with = |entry| with_quinns(Registry::standard().with(entry).unwrap());
        let refused = with(&CLASHES).unwrap_err().to_string();
        assert!(refused.contains("`quinn-cubic`") && refused.contains("choose another name"), "{refused}");
        assert!(with(&ANOTHER).unwrap().controller("quinn-cubic").is_some());
    }
}
