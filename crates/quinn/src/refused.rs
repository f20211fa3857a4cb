//! What cannot be a controller of quinn, and why.

use penstock_law::cc::{Marks, Requirements};

/// Why there is no such controller.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The registry has no controller of that name.
    #[error("no controller is called `{name}`; there are {known}")]
    Unknown {
        /// What was given.
        name: String,
        /// The names of the registry.
        known: String,
    },
    /// The law has no such parameter, or the value is not one of it.
    #[error("`{law}`: {why}")]
    Parameter {
        /// The law.
        law: &'static str,
        /// What is wrong, and what would do.
        why: String,
    },
    /// The law uses something that quinn does not report.
    #[error("`{law}` requires {what}, which quinn does not have")]
    Unsupported {
        /// The law.
        law: &'static str,
        /// What it uses.
        what: &'static str,
    },
}

/// What a law uses that a controller of quinn cannot have.
pub(crate) fn unsupported(wanted: &Requirements) -> Option<&'static str> {
    match wanted.marks {
        Marks::Counted => return Some("the number of marked packets"),
        Marks::Price(_) => return Some("a mark for each packet"),
        Marks::Cut | Marks::Ignored => {}
    }
    if wanted.kernel {
        Some("the implementation in the Linux kernel")
    } else if !wanted.reliable {
        Some("datagrams without acknowledgements")
    } else if wanted.low_latency {
        Some("ECT(1)")
    } else if wanted.bottleneck.is_some() {
        Some("the times of acknowledgements of single packets, for packet pairs")
    } else if wanted.flight_size {
        Some("the data in flight at a loss")
    } else if wanted.fractions {
        Some("windows below two packets")
    } else {
        None
    }
}
