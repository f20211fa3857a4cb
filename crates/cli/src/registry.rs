//! The laws of this process.

use std::sync::{Arc, PoisonError, RwLock};

use penstock_law::Registry;

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
    fn of(registry: Registry, code: &str) -> Self {
        let own = registry.has_more_than_standard();
        let registry = Box::leak(Box::new(Arc::new(with_quinns(registry))));
        Self { registry, own, code: Box::leak(Box::from(code)) }
    }
}

static LAWS: RwLock<Option<Laws>> = RwLock::new(None);

/// The same laws, and names for the controllers of quinn.
#[cfg(all(target_os = "linux", feature = "quic"))]
fn with_quinns(registry: Registry) -> Registry {
    // A law of this program may have such a name: then it is that law's.
    penstock_linux::quinn::CONTROLLERS.iter().fold(registry, |laws, entry| laws.clone().with(entry).unwrap_or(laws))
}

#[cfg(not(all(target_os = "linux", feature = "quic")))]
fn with_quinns(registry: Registry) -> Registry {
    registry
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

/// Sets the laws. `code` identifies the code of those that a program in another language added: it is empty where the
/// program itself has all of them.
pub(crate) fn adopt(registry: Registry, code: &str) {
    *LAWS.write().unwrap_or_else(PoisonError::into_inner) = Some(Laws::of(registry, code));
}

fn adopted() -> Laws {
    if let Some(laws) = *LAWS.read().unwrap_or_else(PoisonError::into_inner) {
        return laws;
    }
    let standard = || Laws::of(Registry::standard(), "");
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
