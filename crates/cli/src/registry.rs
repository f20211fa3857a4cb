//! The laws of this process.

use std::sync::{Arc, OnceLock};

use penstock_law::Registry;

static LAWS: OnceLock<Arc<Registry>> = OnceLock::new();

/// Says which laws they are. Only the first call counts: a second one would come after everything has been said.
pub(crate) fn adopt(registry: Registry) {
    let _ = LAWS.set(Arc::new(registry));
}

/// The laws that scenarios may name.
pub(crate) fn laws() -> &'static Arc<Registry> {
    LAWS.get_or_init(|| Arc::new(Registry::standard()))
}
