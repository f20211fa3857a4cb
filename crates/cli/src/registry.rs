//! The laws of this process.

use std::sync::{Arc, OnceLock};

use penstock_law::Registry;

static LAWS: OnceLock<Laws> = OnceLock::new();

struct Laws {
    all: Arc<Registry>,
    own: bool,
}

impl Laws {
    fn of(registry: Registry) -> Self {
        let own = registry.has_more_than_standard();
        Self { all: Arc::new(with_quinns(registry)), own }
    }
}

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

/// Says which laws they are. Only the first call counts: a second one would come after everything has been said.
pub(crate) fn adopt(registry: Registry) {
    let _ = LAWS.set(Laws::of(registry));
}

/// The laws that scenarios may name.
pub(crate) fn laws() -> &'static Arc<Registry> {
    &known().all
}

/// Whether some of them are not of Penstock.
pub(crate) fn has_own() -> bool {
    known().own
}

fn known() -> &'static Laws {
    LAWS.get_or_init(|| Laws::of(Registry::standard()))
}
