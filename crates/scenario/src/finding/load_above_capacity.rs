//! Open-loop transfers that bring more than a link carries.

use penstock_law::quantity::Rate;

use super::crossing::Crossing;
use super::kind::Kind;
use crate::model::{Distribution, Group, Repeats, Scenario, Service, Size};
use crate::quantity::print_rate;
use crate::summary::Finding;

pub(super) const KIND: Kind = Kind {
    id: "load-above-capacity",
    meaning: "transfers that arrive by a Poisson process bring more than a link of their route carries: ever more of them are \
              under way, and means depend on the length of the run",
};

/// Mean size of a transfer [B].
fn mean_bytes(size: &Size) -> f64 {
    match size {
        Size::Each(bytes) | Size::Pareto { mean: bytes, .. } => bytes.0 as f64,
        Size::Measured(Distribution { points, .. }) => {
            let first = points.first().map_or(0.0, |(size, share)| size * share);
            first + points.windows(2).map(|w| (w[1].1 - w[0].1) * f64::midpoint(w[0].0, w[1].0)).sum::<f64>()
        }
    }
}

/// The mean load of a group's transfers, headers included [bit/s].
fn load(scenario: &Scenario, group: &Group) -> Option<f64> {
    let (Some(Repeats::Poisson(per_s)), Some(size)) = (group.repeats, &group.size) else { return None };
    // Who stops brings a burst, and no load that lasts.
    if group.stop.is_some() {
        return None;
    }
    let packet = group.packet(scenario.packet);
    let (mean, payload) = (mean_bytes(size), packet.payload.0 as f64);
    // Of drawn sizes at least so many: the last packet is seldom full.
    let packets = if let Size::Each(_) = size { (mean / payload).ceil() } else { (mean / payload).max(1.0) };
    Some(per_s * 8.0 * (mean + packets * (packet.wire.0 as f64 - payload)))
}

pub(super) fn find(crossing: &Crossing<'_>, link: &str) -> Option<Finding> {
    let scenario = crossing.scenario;
    let line = &scenario.links[link];
    if line.service != Service::Constant {
        return None;
    }
    let loads = crossing.over(link).filter_map(|flows| Some((flows.name, load(scenario, flows.group)?)));
    let loads: Vec<(&String, f64)> = loads.collect();
    let sum: f64 = loads.iter().map(|(_, load)| load).sum();
    let (largest, _) = loads.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if sum <= line.rate.0 as f64 {
        return None;
    }
    let text = format!(
        "transfers over links.{link} bring {} on average, and the link carries {}: ever more transfers are under way, and \
         mean completion times grow with the length of the run; use fewer arrivals, smaller transfers, or a faster link",
        print_rate(Rate(sum.round() as u64)),
        print_rate(line.rate)
    );
    Some(KIND.found(format!("flows.{largest}.arrivals"), text))
}

#[cfg(test)]
mod tests {
    use super::super::scene::{flows, found, link};

    /// 100 Mbit/s carry 80 transfers of 150 kB a second with their headers, and no 82. Loads of groups add up; other groups
    /// and other links do not count.
    #[test]
    fn more_than_a_link_carries_is_found() {
        let of = |more: &str| found(&(link("buffer = \"100 packets\"") + more));
        let web = |name: &str, size: &str, often: u32| {
            flows(
                name,
                &format!("cc = {{ law = \"newreno\" }}, size = {size}, arrivals = {{ poisson = \"{often} /s\" }}"),
            )
        };
        let [(id, subject, text)] = &of(&web("w", "\"150 kB\"", 82))[..] else { panic!("one finding") };
        assert_eq!((id.as_str(), subject.as_str()), ("load-above-capacity", "flows.w.arrivals"));
        assert!(text.contains("over links.b bring 101.") && text.contains("carries 100 Mbit/s"), "{text}");
        assert_eq!(of(&web("w", "\"150 kB\"", 80)), []);
        let both = of(&(web("a", "\"150 kB\"", 30) + &web("w", "{ pareto = { mean = \"150 kB\", shape = 1.2 } }", 52)));
        assert_eq!((both.len(), both[0].1.as_str()), (1, "flows.w.arrivals"), "{both:?}");
        // A transfer of 100 bytes has a header of 40 too.
        assert_eq!(of(&web("w", "\"100 B\"", 89_000)), []);
        assert_eq!(of(&web("w", "\"100 B\"", 90_000)).len(), 1);
        let stops = "stop = \"2 s\", cc = { law = \"newreno\" }, size = \"150 kB\", arrivals = { poisson = \"82 /s\" }";
        assert_eq!(of(&flows("w", stops)), []);
        assert_eq!(of(&flows("f", "count = 99, cc = { law = \"newreno\" }")), []);
        // Web search: 1138 packets of 1460 B on average.
        assert_eq!(of(&web("w", "{ distribution = \"web-search\" }", 7)), []);
        assert_eq!(of(&web("w", "{ distribution = \"web-search\" }", 8)).len(), 1);
    }
}
