//! Laws that cannot be a controller of quinn, and the reasons.

use penstock_law::cc::{Marks, Requirements};

/// The reason why there is no such controller.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The registry has no controller of that name.
    #[error("no controller is called `{name}`; there are {known}")]
    Unknown {
        /// The given name.
        name: String,
        /// The names of the registry.
        known: String,
    },
    /// The law has no such parameter, or the value is not one of it.
    #[error("`{law}`: {why}")]
    Parameter {
        /// The law.
        law: &'static str,
        /// The reason, and the remedy.
        why: String,
    },
    /// The law uses something that quinn does not report.
    #[error("`{law}` requires {what}, which quinn does not have")]
    Unsupported {
        /// The law.
        law: &'static str,
        /// The requirement that it has.
        what: &'static str,
    },
}

/// A requirement of a law that a controller of quinn cannot meet.
pub(crate) fn unsupported(wanted: &Requirements) -> Option<&'static str> {
    match wanted.marks {
        Marks::Counted => return Some("the number of marked packets"),
        Marks::Price(_) => return Some("a mark for each packet"),
        Marks::Congestion | Marks::Ignored => {}
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
    } else if wanted.retransmit_on_duplicates {
        Some("retransmissions beyond the window")
    } else if wanted.fractions {
        Some("windows below two packets")
    } else {
        None
    }
}
