//! Estimators: pure filters that turn raw observations into what laws need.

mod clock;
mod marks;
mod rtt;

pub use clock::Clocked;
pub use marks::{MarkEstimate, MarkRegister, PriceTable};
pub use rtt::{AverageRtt, BaseRtt};
