//! What classes of traffic were served, beside what they should have been.

use indexmap::IndexMap;
use penstock_scenario::fairness::{Want, max_min, weighted_index};
use penstock_scenario::model::Group;
use penstock_scenario::summary::ClassSummary;
use penstock_scenario::world::Rows;

use super::Span;

/// The classes of a span, and how fair it was to them.
pub(super) struct Classes {
    pub(super) each: IndexMap<String, ClassSummary>,
    /// Weighted fairness index over the span, and averaged over its samples.
    pub(super) index: Option<f64>,
    pub(super) index_mean: Option<f64>,
}

impl Span<'_> {
    pub(super) fn classes(&self, samples: &Rows) -> Classes {
        let names = self.scenario.class_names();
        let share = |name: &str| self.scenario.classes.get(name).and_then(|class| class.share);
        let rates: Vec<(f64, f64)> = (0..names.len()).map(|at| self.rates(at)).collect();
        let total: f64 = rates.iter().map(|(_, served)| served).sum();
        let wanted = self.max_min(&names, &rates);
        let index = |served: &[f64]| {
            let wanted = wanted.as_ref()?;
            weighted_index(served.iter().copied().zip(wanted.iter().copied()).filter(|(_, wanted)| *wanted > 0.0))
        };
        let samples = self.sampled(samples, names.len());
        let indices: Option<Vec<f64>> = samples.iter().map(|served| index(served)).collect();
        let class = |(at, name): (usize, &&str)| {
            let (offered, served) = rates[at];
            let ratios = samples.iter().map(|served| served[at] / (served.iter().sum::<f64>() - served[at]));
            let summary = ClassSummary {
                offered_bit_per_s: offered,
                served_bit_per_s: served,
                ratio: (total > served).then(|| served / (total - served)),
                reference: share(name).filter(|share| *share < 1.0).map(|share| share / (1.0 - share)),
                deviation: share(name).filter(|_| total > 0.0).map(|share| (served / total / share - 1.0).abs()),
                ratio_sd: sd(&ratios.collect::<Vec<f64>>()).filter(|sd| sd.is_finite()),
                max_min_bit_per_s: wanted.as_ref().map(|wanted| wanted[at]),
            };
            ((*name).to_owned(), summary)
        };
        Classes {
            each: names.iter().enumerate().map(class).collect(),
            index: index(&rates.iter().map(|(_, served)| *served).collect::<Vec<f64>>()),
            index_mean: indices.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64),
        }
    }

    /// What each class was served in each sample that lies in the span.
    fn sampled(&self, samples: &Rows, classes: usize) -> Vec<Vec<f64>> {
        if classes == 0 {
            return Vec::new();
        }
        let (a, b) = self.ends();
        let served = samples.values("served_bit_per_s").chunks(classes);
        let times = samples.times_s().chunks(classes).map(|times| times[0]);
        let from = a.at + self.scenario.sample;
        let inside = |(time, _): &(f64, _)| (from.seconds()..=b.at.seconds()).contains(time);
        times.zip(served).filter(inside).map(|(_, served)| served.to_vec()).collect()
    }

    /// The max-min share of each class of the narrowest link that data of all cross; see
    /// [`ClassSummary::max_min_bit_per_s`].
    fn max_min(&self, names: &[&str], rates: &[(f64, f64)]) -> Option<Vec<f64>> {
        let groups = || self.scenario.groups.values();
        let any = |class: &str, is: &dyn Fn(&Group) -> bool| {
            groups().any(|group| group.class.as_deref() == Some(class) && is(group))
        };
        let (a, b) = self.ends();
        let link = |(at, name): (usize, &String)| {
            let all = names.iter().all(|class| any(class, &|group| group.forward.contains(name)));
            let others = groups().any(|group| group.class.is_none() && group.forward.contains(name));
            let bits = self.engine.links[at].station.capacity_bits(a.at, b.at);
            all.then(|| (bits / self.seconds(), others))
        };
        let links = self.scenario.links.keys().enumerate().filter_map(link);
        let (capacity, others) = links.min_by(|x, y| x.0.total_cmp(&y.0))?;
        let weights = self.weights(names);
        if others || names.is_empty() || weights.iter().any(|weight| *weight <= 0.0) {
            return None;
        }
        let want = |((name, weight), (offered, _)): ((&&str, f64), &(f64, f64))| {
            let class = self.scenario.classes.get(*name);
            let greedy = any(name, &|group| self.is_greedy(group));
            Want {
                demand: if greedy { f64::INFINITY } else { *offered },
                floor: class.map_or(0.0, |class| class.floor.bit_per_s()),
                ceiling: class
                    .and_then(|class| class.ceiling)
                    .map_or(f64::INFINITY, penstock_law::quantity::Rate::bit_per_s),
                weight,
            }
        };
        let wants: Vec<Want> = names.iter().zip(weights).zip(rates).map(want).collect();
        Some(max_min(capacity, &wants))
    }

    /// Weights by share; classes without one divide the rest equally.
    fn weights(&self, names: &[&str]) -> Vec<f64> {
        let shares: Vec<Option<f64>> =
            names.iter().map(|name| self.scenario.classes.get(*name).and_then(|class| class.share)).collect();
        let given: f64 = shares.iter().flatten().sum();
        let others = shares.iter().filter(|share| share.is_none()).count() as f64;
        shares.iter().map(|share| share.unwrap_or((1.0 - given) / others)).collect()
    }

    /// Whether a group's flows answer congestion: what they sent is then not what they wanted.
    fn is_greedy(&self, group: &Group) -> bool {
        group.needs(self.scenario.packet).is_ok_and(|needs| needs.reliable)
    }
}

/// Standard deviation of two or more.
fn sd(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.len() > 1).then(|| (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt())
}
