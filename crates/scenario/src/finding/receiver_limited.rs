//! Flows whose receivers limit them.

use super::kind::Kind;
use crate::model::Group;
use crate::summary::{Finding, GroupSummary};

pub(super) const KIND: Kind = Kind {
    id: "receiver-limited",
    meaning: "flows without a size had nine tenths of their receive window in flight on average; the window sets their \
              rate, and the law does not",
};

/// No flow has more in flight than the receive window, so a mean of nine tenths means that flows were at that limit or near
/// it for most of the time.
const HELD: f64 = 0.9;

/// The mean in flight is the rate times the mean round trip (Little's law), which holds for all flows of a group together:
/// round trips are sampled packet by packet.
pub(super) fn find(name: &str, group: &Group, measured: &GroupSummary) -> Option<Finding> {
    let window = group.sender.receive_window;
    if window.is_infinite() || group.transfers() || group.on_off.is_some() {
        return None;
    }
    let rtt_s = measured.rtt_mean_s?;
    let in_flight = measured.throughput_packets_per_s * rtt_s / f64::from(group.count);
    if in_flight < HELD * window {
        return None;
    }
    let text = format!(
        "a flow has {in_flight:.0} packets in flight on average, and its receive window allows {window}: the window sets the \
         rate, and `{}` does not; use `receive_window = \"unlimited\"`, or a window above the bandwidth-delay product and \
         the buffer together",
        group.cc.law.name
    );
    Some(KIND.found(format!("flows.{name}.sender.receive_window"), text))
}
