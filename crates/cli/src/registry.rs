//! The laws of this process.

use std::sync::{Arc, PoisonError, RwLock};

use penstock_law::Registry;

/// The laws, and what identifies the code of those that are not part of the program.
#[derive(Clone, Copy)]
struct Laws {
    registry: &'static Arc<Registry>,
    code: &'static str,
}

static LAWS: RwLock<Option<Laws>> = RwLock::new(None);

/// Says which laws they are. `code` identifies the code of those that a program in another language added: it is empty where the
/// program itself has all of them.
///
/// Entries live as long as the process, and so does the list of them: some bytes for each law that is added.
pub(crate) fn adopt(registry: Registry, code: &str) {
    let laws = Laws { registry: Box::leak(Box::new(Arc::new(registry))), code: Box::leak(Box::from(code)) };
    *LAWS.write().unwrap_or_else(PoisonError::into_inner) = Some(laws);
}

fn adopted() -> Laws {
    if let Some(laws) = *LAWS.read().unwrap_or_else(PoisonError::into_inner) {
        return laws;
    }
    let standard = || Laws { registry: Box::leak(Box::new(Arc::new(Registry::standard()))), code: "" };
    *LAWS.write().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(standard)
}

/// The laws that scenarios may name.
pub(crate) fn laws() -> &'static Arc<Registry> {
    adopted().registry
}

/// What identifies the code of laws that are not part of the program; empty where there are none.
pub(crate) fn code() -> &'static str {
    adopted().code
}
