//! Theorems 2 and 4 of fast-aqm on random networks, by the argument principle on `det(I + L(s))`.

use core::f64::consts::FRAC_PI_2;

use penstock_fluid::margin::unstable_roots;
use penstock_fluid::theory::eta_max;
use penstock_fluid::theory::network::{Network, NetworkSource, has_full_row_rank};
use penstock_scenario::seed::{Seed, Stream};
use serde_json::json;

use super::{Answer, Formula, Given};

/// Number of unstable ones of `networks` random networks. `law` is `static` or `dynamic`; `alpha` is a share of pi/2 that
/// every source has at most, and for the dynamic law `eta` the share that z has of the bound of Proposition 3. Delays
/// span three decades, rates four, nu/kappa four; every link is a bottleneck. The same networks at every call.
pub(super) const NETWORKS: Formula =
    Formula { name: "random networks", keys: &["law", "networks", "alpha", "eta"], compute: random_networks };

fn random_networks(given: &Given<'_>) -> Result<Answer, String> {
    let dynamic = match given.text("law")? {
        "static" => false,
        "dynamic" => true,
        other => return Err(format!("law: `{other}` is not `static` or `dynamic`")),
    };
    let (count, share, eta) = (given.count("networks")?, given.number("alpha")?, given.number("eta")?);
    let mut stream = Seed(1).stream("papers/fast-aqm/networks");
    let (mut unstable, mut links, mut sources) = (0, 0, 0);
    for _ in 0..count {
        let network = random(&mut stream, dynamic, share, eta);
        links += network.capacities.len();
        sources += network.sources.len();
        let slowest_s = network.sources.iter().map(|s| s.rtt_s).fold(0.0, f64::max);
        let roots = unstable_roots(&|s| network.gain(s), slowest_s, network.reach_rad_per_s());
        let roots = roots.ok_or("the turns of a determinant do not add up")?;
        unstable += u32::from(roots > 0);
    }
    Ok(Answer::of(json!({ "networks": count, "unstable": unstable, "links": links, "sources": sources })))
}

fn below(stream: &mut Stream, n: usize) -> usize {
    ((stream.unit() * n as f64) as usize).min(n - 1)
}

fn decades(stream: &mut Stream, from: f64, decades: f64) -> f64 {
    from * libm::pow(10.0, decades * stream.unit())
}

/// Routing of full row rank over 1 to 4 links and 4 to 11 sources.
fn random(stream: &mut Stream, dynamic: bool, share: f64, eta_share: f64) -> Network {
    let (links, sources) = (1 + below(stream, 4), 4 + below(stream, 8));
    let routes = loop {
        let route = |stream: &mut Stream| {
            let path: Vec<usize> = (0..links).filter(|_| stream.unit() < 0.5).collect();
            if path.is_empty() { vec![below(stream, links)] } else { path }
        };
        let routes: Vec<Vec<usize>> = (0..sources).map(|_| route(stream)).collect();
        let row = |l: usize| routes.iter().map(|path| f64::from(u8::from(path.contains(&l)))).collect();
        if has_full_row_rank(&(0..links).map(row).collect::<Vec<Vec<f64>>>()) {
            break routes;
        }
    };
    // Theorem 4 has one alpha and one zero for all; Theorem 2 an alpha each.
    let common = stream.unit() * share * FRAC_PI_2;
    let rtts: Vec<f64> = routes.iter().map(|_| decades(stream, 0.001, 3.0)).collect();
    let zero = eta_share * eta_max(common) / rtts.iter().copied().fold(0.0, f64::max);
    let mut network = Network { capacities: vec![0.0; links], sources: Vec::new() };
    for (path, rtt_s) in routes.into_iter().zip(rtts) {
        let rate = decades(stream, 10.0, 4.0);
        let alpha = if dynamic { common } else { stream.unit() * share * FRAC_PI_2 };
        let lead_lag = dynamic.then(|| (zero, decades(stream, 0.1, 4.0)));
        let mut forward: Vec<f64> = path.iter().map(|_| stream.unit() * rtt_s).collect();
        forward.sort_unstable_by(f64::total_cmp);
        for l in &path {
            network.capacities[*l] += rate;
        }
        let bottlenecks = path.len() as f64;
        let path = path.into_iter().zip(forward).collect();
        network.sources.push(NetworkSource { rate, rtt_s, alpha, bottlenecks, lead_lag, path });
    }
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice the gain that Theorem 2 allows is too much for some networks: a count of zero is thus no artefact.
    #[test]
    fn beyond_the_theorem_some_networks_are_unstable() {
        let count = |share: &str| {
            let keys = [("law", "static"), ("networks", "20"), ("alpha", share), ("eta", "0")];
            let labels: Vec<(String, String)> = keys.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
            random_networks(&Given(&labels)).unwrap().numbers["unstable"].as_u64().unwrap()
        };
        assert_eq!(count("1"), 0);
        assert!(count("3") > 0);
    }
}
