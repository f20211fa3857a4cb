//! Estimators: pure filters that turn raw observations into the inputs of laws.

mod bottleneck;
mod clock;
mod marks;
mod recent;
mod rtt;
mod trains;
mod windowed;

pub use bottleneck::{BottleneckEstimate, Committed, History, Lookback, PacketPairs, buffer_level, buffer_size};
pub use clock::Clocked;
pub use marks::{MarkEstimate, MarkRegister, PriceTable};
pub use recent::RecentMin;
pub use rtt::{AverageRtt, BaseRtt, MostRtt};
pub use trains::{Pair, Trains};
pub use windowed::{WindowedMax, WindowedMin};
