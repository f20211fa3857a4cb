//! Where else links and sources could settle.

use super::{LinkEquilibrium, Net, Other, kind};
use crate::source::{Signal, SourceEquilibrium};

/// Where else there is an equilibrium is looked for at so many signals to each side, each so many times the one before: thirty
/// times less and more.
const LOOKS: i32 = 18;
const APART: f64 = 1.21;

/// A class is started so many times above and below its equilibrium.
const AWAY: f64 = 8.0;

/// Classes whose laws are started elsewhere, at most: others of the same law differ from these by their round trip only.
const ASKED: usize = 64;

/// Other equilibria: demands that rise with a signal, so that a link is filled at several, and laws that settle at several rates.
pub(super) fn beside(
    net: &mut Net<'_>,
    begins: &[Option<f64>],
    state: &[LinkEquilibrium],
    equilibria: &[SourceEquilibrium],
    told: &[Signal],
) -> Vec<Other> {
    let mut found = Vec::new();
    for l in (0..state.len()).filter(|&l| state[l].binding) {
        let kind = kind(begins[l].is_some(), Some(&state[l]), net.links[l].capacity);
        let here = kind.coordinate(&state[l].equilibrium);
        let excess = |net: &mut Net<'_>, x: f64| -> Option<(f64, Signal)> {
            let (equilibrium, signal) = net.at(l, kind, x).ok().flatten()?;
            let mut signals: Vec<Signal> = state.iter().map(|r| r.signal).collect();
            signals[l] = signal;
            net.excess(l, &equilibrium, &signals).ok().map(|e| (e, signal))
        };
        for side in [-1, 1] {
            // The equilibrium itself has no side; the first look beside it has.
            let mut before: Option<(f64, f64)> = None;
            for k in 1..=LOOKS {
                let x = here + f64::from(side * k) * libm::log(APART);
                let Some((e, _)) = excess(net, x) else { break };
                if let Some((last, was)) = before
                    && (e > 0.0) != (was > 0.0)
                {
                    let (mut a, mut b) = (last, x);
                    for _ in 0..50 {
                        let middle = f64::midpoint(a, b);
                        match excess(net, middle) {
                            Some((m, _)) if (m > 0.0) == (was > 0.0) => a = middle,
                            _ => b = middle,
                        }
                    }
                    found.extend(excess(net, b).map(|(_, signal)| Other::Link(l, signal)));
                }
                before = Some((x, e));
            }
        }
    }
    for i in 0..equilibria.len().min(ASKED) {
        for away in [1.0 / AWAY, AWAY] {
            if let Some(rate) = net.sources[i].elsewhere(&equilibria[i], told[i], away) {
                found.push(Other::Class(i, rate));
            }
        }
    }
    found
}
