//! Transfers that wait for a connection.

use super::kind::Kind;
use crate::summary::{Finding, Transfers};

pub(super) const KIND: Kind = Kind {
    id: "transfers-wait",
    meaning: "at least one transfer in a hundred waited for a connection, because a connection carries one at a time; \
         completion times include these waits",
};

/// Waiting transfers count as a finding from this share of the transfers on. With many connections a few wait now and
/// then, as in any queue.
const WAITED: f64 = 0.01;

pub(super) fn find(name: &str, count: u32, transfers: &Transfers) -> Option<Finding> {
    let waiting = transfers.waiting.unwrap_or(0);
    let (waited, all) = (transfers.waited? + waiting, transfers.completed + waiting);
    if waited == 0 || (waited as f64) < WAITED * all as f64 {
        return None;
    }
    let mean = match (transfers.wait_mean_s, transfers.completion_mean_s) {
        (Some(wait), Some(completion)) => {
            format!(" The mean wait is {wait:.3} s, a part of the mean completion time of {completion:.3} s.")
        }
        _ => String::new(),
    };
    let still = if waiting > 0 { format!(", {waiting} of them until the end of the run") } else { String::new() };
    let text = format!(
        "{waited} of {all} transfers waited for a connection{still}.{mean} A connection takes one transfer at a time, and \
         the group has `count = {count}`; a larger count lets transfers run in parallel"
    );
    Some(KIND.found(format!("flows.{name}.count"), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a hundredth on, those that never got a connection among them.
    #[test]
    fn transfers_that_wait_are_found() {
        let of = |completed: u64, waited: u64, waiting: u64| {
            let times = Some(3.84).filter(|_| completed > 0);
            let transfers = Transfers {
                completed,
                completion_mean_s: times,
                completion_p50_s: times,
                completion_p95_s: times,
                completion_p99_s: times,
                slowdown: None,
                by_size: indexmap::IndexMap::new(),
                waited: Some(waited),
                wait_mean_s: times.map(|s| s - 0.1),
                waiting: Some(waiting),
                under_way_mean: None,
            };
            find("web", 1, &transfers)
        };
        let finding = of(470, 468, 5).unwrap();
        assert_eq!((finding.id.as_str(), finding.subject.as_str()), ("transfers-wait", "flows.web.count"));
        assert!(
            finding.text.contains("473 of 475 transfers waited")
                && finding.text.contains("5 of them until the end of the run")
        );
        assert!(
            finding.text.contains("wait is 3.740 s, a part of the mean completion time of 3.840 s"),
            "{}",
            finding.text
        );
        assert!(of(0, 0, 3).is_some() && of(100, 1, 0).is_some());
        assert!(of(0, 0, 0).is_none() && of(101, 1, 0).is_none() && of(100, 0, 0).is_none());
    }
}
